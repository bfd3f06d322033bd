#include "post/blocks.h"

#include "base/file.h"
#include "base/mem.h"
#include "io/csv_table.h"
#include "post/departures.h"
#include "post/ensemble_scene.h"
#include "post/measure.h"
#include "shape/moving.h"
#include "store/results.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A body in a frame: sums over its parts, then its values. */
typedef struct Seen {
  int64_t id;
  double mass_kg, volume_m3, radius_m, turning_J, parts_J;
  TlVec3 place_m, velocity_m_s, spin_rad_s; /* the first two times mass, while summing */
  bool frozen, no_grain;
} Seen;

typedef struct Moment {
  int64_t block;
  TlBlockMoment at;
} Moment;

/* What grows while the frames go by. */
typedef struct Reading {
  TlBlocks *blocks;
  size_t block_capacity, moment_capacity;
  Moment *moment;
  int64_t moments, run, first_block; /* the last two of the run that is read */
  bool has_terrain;
} Reading;

/* ---- bodies of a frame ---- */

static int by_body(const void *one, const void *two) {
  const TlBodyRow *a = *(TlBodyRow *const *)one, *b = *(TlBodyRow *const *)two;
  if (a->body != b->body) return a->body < b->body ? -1 : 1;
  return (a->id > b->id) - (a->id < b->id);
}

static TlStatus add_part(const TlScene *scene, const TlBodyRow *row, Seen *body) {
  const TlAvatar *a = tl_scene_avatar(scene, row->avatar_id);
  double density;
  if (!a)
    return tl_fail(TL_EINPUT, "body %lld uses avatar %lld, which is not in run.h5",
                   (long long)row->id, (long long)row->avatar_id);
  TL_TRY(tl_scene_density(scene, row, &density));
  double s3 = row->scale * row->scale * row->scale, mass = density * a->volume_m3 * s3;
  double translational, rotational;
  TL_TRY(tl_measure_kinetic(scene, row, &translational, &rotational));
  body->mass_kg += mass;
  body->volume_m3 += a->volume_m3 * s3;
  body->place_m = tl_axpy(body->place_m, mass, row->position_m);
  body->velocity_m_s = tl_axpy(body->velocity_m_s, mass, row->velocity_m_s);
  body->spin_rad_s = row->spin_rad_s;
  body->parts_J += translational;
  body->turning_J += rotational;
  body->frozen = row->flags & TL_ROW_FROZEN;
  body->no_grain |= (row->flags & TL_ROW_NO_GRAIN) != 0;
  return TL_OK;
}

/* One body a run of rows with its id; what the parts' centres turn about the body's is rotation. */
static TlStatus sum_parts(const TlScene *scene, TlBodyRow *const *row, int64_t count, Seen *body) {
  *body = (Seen){.id = row[0]->body};
  for (int64_t i = 0; i < count; i++) TL_TRY(add_part(scene, row[i], body));
  body->place_m = tl_scale(1 / body->mass_kg, body->place_m);
  body->velocity_m_s = tl_scale(1 / body->mass_kg, body->velocity_m_s);
  if (count > 1)
    body->turning_J += fmax(0, body->parts_J - 0.5 * body->mass_kg * tl_norm2(body->velocity_m_s));
  for (int64_t i = 0; i < count; i++) {
    double reach = row[i]->scale * tl_scene_avatar(scene, row[i]->avatar_id)->radius_m;
    body->radius_m =
        fmax(body->radius_m, tl_norm(tl_sub(row[i]->position_m, body->place_m)) + reach);
  }
  return TL_OK;
}

static TlStatus bodies_of(const TlScene *scene, TlFrame *frame, Seen **bodies, int64_t *count) {
  TlBodyRow **row;
  *count = 0;
  TL_TRY(TL_NEW(row, (size_t)frame->count));
  TlStatus status = TL_NEW(*bodies, (size_t)frame->count);
  for (int64_t i = 0; i < frame->count; i++) row[i] = &frame->rows[i];
  if (frame->count > 0) qsort(row, (size_t)frame->count, sizeof *row, by_body);
  for (int64_t i = 0, n; status == TL_OK && i < frame->count; i += n) {
    for (n = 1; i + n < frame->count && row[i + n]->body == row[i]->body; n++)
      ;
    status = sum_parts(scene, row + i, n, &(*bodies)[(*count)++]);
  }
  tl_free(row);
  return status;
}

/* ---- frames ---- */

/* Of the blocks [low, high) of one run the first whose id is not below this one; high: none. */
static int64_t find_block(const TlBlocks *b, int64_t low, int64_t high, int64_t id) {
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (b->block[middle].id < id)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Blocks stay in the order of their ids; most come in that order, with the first frame. */
static TlStatus insert_block(Reading *r, int64_t at, const Seen *body) {
  TlBlocks *b = r->blocks;
  TL_TRY(TL_RESERVE(b->block, r->block_capacity, (size_t)b->count + 1));
  if (at < b->count) {
    memmove(b->block + at + 1, b->block + at, (size_t)(b->count - at) * sizeof *b->block);
    for (int64_t i = 0; i < r->moments; i++) r->moment[i].block += r->moment[i].block >= at;
  }
  b->block[at] = (TlBlock){.run = r->run,
                           .id = body->id,
                           .mass_kg = body->mass_kg,
                           .volume_m3 = body->volume_m3,
                           .radius_m = body->radius_m,
                           .end = TL_FATE_LEFT};
  b->count++;
  return TL_OK;
}

static TlStatus add_moment(Reading *r, int64_t block, const TlBlockMoment *at) {
  TL_TRY(TL_RESERVE(r->moment, r->moment_capacity, (size_t)r->moments + 1));
  r->blocks->block[block].last = r->moments;
  r->moment[r->moments++] = (Moment){block, *at};
  return TL_OK;
}

static TlBlockMoment moment_of(const TlScene *scene, const Seen *body, double time_s) {
  const double *g = scene->gravity_m_s2;
  double d = cbrt(6 * body->volume_m3 / acos(-1));
  return (TlBlockMoment){.time_s = time_s,
                         .place_m = body->place_m,
                         .speed_m_s = tl_norm(body->velocity_m_s),
                         .translational_kJ =
                             0.5 * body->mass_kg * tl_norm2(body->velocity_m_s) / 1000,
                         .rotational_kJ = body->turning_J / 1000,
                         .moves = tl_pace(body->velocity_m_s, body->spin_rad_s, d,
                                          tl_norm(tl_vec3(g[0], g[1], g[2]))) > tl_moving_pace};
}

static TlStatus take_bodies(Reading *r, const TlScene *scene, const Seen *body, int64_t count,
                            double time_s, bool last) {
  for (int64_t i = 0; i < count; i++) {
    if (body[i].no_grain) continue;
    int64_t at = find_block(r->blocks, r->first_block, r->blocks->count, body[i].id);
    bool known = at < r->blocks->count && r->blocks->block[at].id == body[i].id;
    if (!known && body[i].frozen) continue;
    if (!known) TL_TRY(insert_block(r, at, &body[i]));
    TlBlockMoment moment = moment_of(scene, &body[i], time_s);
    r->blocks->block[at].frozen = body[i].frozen;
    if (last) r->blocks->block[at].end = moment.moves ? TL_FATE_MOVING : TL_FATE_STOPPED;
    TL_TRY(add_moment(r, at, &moment));
  }
  return TL_OK;
}

static TlStatus take_frame(Reading *r, const TlScene *scene, TlFrame *frame, bool last) {
  Seen *body = NULL;
  int64_t count;
  TlStatus status = bodies_of(scene, frame, &body, &count);
  if (status == TL_OK) status = take_bodies(r, scene, body, count, frame->time_s, last);
  tl_free(body);
  return status;
}

static TlStatus take_frames(Reading *r, const char *folder, const TlScene *scene) {
  int64_t *index, count;
  TL_TRY(tl_results_frames(folder, &index, &count));
  TlStatus status = TL_OK;
  for (int64_t i = 0; status == TL_OK && i < count; i++) {
    TlFrame frame = {0};
    status = tl_results_read_frame(folder, index[i], &frame);
    if (status == TL_OK)
      status = tl_context(take_frame(r, scene, &frame, i == count - 1), "%s: frame %lld", folder,
                          (long long)index[i]);
    tl_frame_free(&frame);
  }
  tl_free(index);
  return status;
}

/* A block that was taken out stands where it left. Lines of an earlier life of the run, which was
 * continued from before them, do not count: its block is still there, and not frozen. */
static TlStatus depart(Reading *r, const TlDeparture *d, double step_s) {
  int64_t at = find_block(r->blocks, r->first_block, r->blocks->count, d->id);
  if (at == r->blocks->count || r->blocks->block[at].id != d->id) return TL_OK;
  TlBlock *block = &r->blocks->block[at];
  if (d->removed ? block->end != TL_FATE_LEFT : !block->frozen) return TL_OK;
  block->end = tl_departure_unresolved(d) ? TL_FATE_UNRESOLVED : TL_FATE_LEFT;
  if (!d->removed) return TL_OK;
  TlBlockMoment last = r->moment[block->last].at;
  last.place_m = d->position_m;
  last.time_s = fmax(last.time_s, (double)d->step * step_s);
  return add_moment(r, at, &last);
}

static TlStatus take_departures(Reading *r, const char *folder, const TlScene *scene) {
  TlDepartures all;
  TL_TRY(tl_departures_read(folder, &all));
  TlStatus status = TL_OK;
  for (int64_t i = 0; status == TL_OK && i < all.count; i++)
    status = depart(r, &all.row[i], scene->step_s);
  tl_departures_free(&all);
  return status;
}

/* ---- runs ---- */

static TlStatus take_terrain(Reading *r, const char *folder, TlScene *scene) {
  TlTerrain *a = &r->blocks->terrain, *t = &scene->terrain;
  if (!scene->has_terrain)
    return tl_fail(TL_EINPUT, "%s: has no terrain; maps, trajectories and fences want one", folder);
  if (!r->has_terrain) {
    *a = *t;
    *t = (TlTerrain){0};
    r->has_terrain = true;
    scene->has_terrain = false;
    return TL_OK;
  }
  TlTerrainGrid g = tl_terrain_grid(a), h = tl_terrain_grid(t);
  bool same = g.nx == h.nx && g.ny == h.ny && fabs(g.cell_m - h.cell_m) < 1e-9 * g.cell_m &&
              g.x0_m == h.x0_m && g.y0_m == h.y0_m &&
              memcmp(a->origin, t->origin, sizeof a->origin) == 0;
  bool rough = a->refined > 0 && t->refined > 0; /* each seed has heights of its own */
  if (same && (rough || (a->nx == t->nx && a->ny == t->ny &&
                         memcmp(a->height_m, t->height_m,
                                (size_t)(a->nx * a->ny) * sizeof *a->height_m) == 0)))
    return TL_OK;
  return tl_fail(TL_EINPUT,
                 "%s: has another terrain than the first run; runs of one terrain count "
                 "together",
                 folder);
}

static char *cells_path(const char *folder) {
  return tl_path_join(folder, "cells.csv");
}

/* All blocks of an ensemble are in its first frame, so they are as many as it has. */
static void number_releases(const Reading *r, int64_t together) {
  TlBlocks *b = r->blocks;
  for (int64_t i = r->first_block; i < b->count; i++)
    b->block[i].release = (i - r->first_block) / together;
  if (b->count > r->first_block) b->releases += b->block[b->count - 1].release + 1;
}

static TlStatus take_run(Reading *r, const char *folder) {
  TlScene scene;
  char *path = cells_path(folder);
  if (!path) return TL_ENOMEM;
  r->blocks->every_step[r->run] = tl_file_exists(path);
  tl_free(path);
  TL_TRY(tl_results_read_scene(folder, &scene));
  double per_year = tl_scene_number(&scene, "release", "releases_per_year");
  int64_t together = tl_scene_blocks_together(&scene);
  if (!(per_year > 0)) per_year = tl_scene_number(&scene, "release", "blocks_per_year");
  if (r->run == 0) r->blocks->releases_per_year = per_year;
  if (r->run == 0)
    r->blocks->gravity_m_s2 =
        tl_norm(tl_vec3(scene.gravity_m_s2[0], scene.gravity_m_s2[1], scene.gravity_m_s2[2]));
  if (per_year != r->blocks->releases_per_year) r->blocks->releases_per_year = 0;
  r->first_block = r->blocks->count;
  TlStatus status = take_terrain(r, folder, &scene);
  if (status == TL_OK) status = take_frames(r, folder, &scene);
  if (status == TL_OK) status = take_departures(r, folder, &scene);
  if (status == TL_OK) number_releases(r, together);
  r->blocks->run_end[r->run] = r->blocks->count;
  tl_scene_free(&scene);
  r->run++;
  return status;
}

/* Moments block by block; each block's are in order already. */
static TlStatus sort_moments(Reading *r) {
  TlBlocks *b = r->blocks;
  TL_TRY(TL_NEW(b->moment, (size_t)r->moments));
  for (int64_t i = 0; i < r->moments; i++) b->block[r->moment[i].block].count++;
  for (int64_t i = 1; i < b->count; i++)
    b->block[i].first = b->block[i - 1].first + b->block[i - 1].count;
  for (int64_t i = 0; i < b->count; i++) b->block[i].count = 0;
  for (int64_t i = 0; i < r->moments; i++) {
    TlBlock *block = &b->block[r->moment[i].block];
    b->moment[block->first + block->count++] = r->moment[i].at;
  }
  return TL_OK;
}

/* Those that stopped, as run/ensemble.c judges them: what is frozen did not come to rest. */
static void judge_stopped(TlBlocks *b) {
  for (int64_t i = 0; i < b->count; i++) {
    TlBlock *block = &b->block[i];
    const TlBlockMoment *at = b->moment + block->first;
    if (block->end != TL_FATE_STOPPED) continue;
    if (block->frozen)
      block->end = TL_FATE_UNRESOLVED;
    else if (tl_never_started(at[0].place_m, at[block->count - 1].place_m, block->volume_m3))
      block->end = TL_FATE_NOT_STARTED;
  }
}

TlStatus tl_blocks_read(const char *const *runs, int64_t count, TlBlocks *blocks) {
  Reading r = {.blocks = blocks};
  *blocks = (TlBlocks){.runs = count};
  TlStatus status = TL_NEW(blocks->every_step, (size_t)count);
  if (status == TL_OK) status = TL_NEW(blocks->run_end, (size_t)count);
  for (int64_t i = 0; status == TL_OK && i < count; i++) status = take_run(&r, runs[i]);
  if (status == TL_OK) status = sort_moments(&r);
  if (status == TL_OK) judge_stopped(blocks);
  tl_free(r.moment);
  return status;
}

void tl_blocks_free(TlBlocks *blocks) {
  tl_terrain_free(&blocks->terrain);
  tl_free(blocks->block);
  tl_free(blocks->moment);
  tl_free(blocks->every_step);
  tl_free(blocks->run_end);
  *blocks = (TlBlocks){0};
}

/* ---- cells ---- */

enum { EAST, NORTH, NUMBERS = 2 + TL_CELL_VALUES, FIRSTS = 4 };
static const char *const cell_columns[NUMBERS] = {[EAST] = "east_m",
                                                  [NORTH] = "north_m",
                                                  [2 + TL_CELL_SPEED] = "speed_m_s",
                                                  [2 + TL_CELL_ENERGY] = "energy_kJ",
                                                  [2 + TL_CELL_TRANSLATIONAL] = "translational_kJ",
                                                  [2 + TL_CELL_ROTATIONAL] = "rotational_kJ",
                                                  [2 + TL_CELL_JUMP] = "jump_height_m"};

static const char *const first_columns[FIRSTS] = {"first_time_s", "first_east_m", "first_north_m",
                                                  "first_height_m"};

/* Blocks [first, end) are those of the run. */
static TlStatus take_cells(const TlBlocks *b, const TlTable *t, int64_t first, int64_t end,
                           TlBlockCell *cell, int64_t *count) {
  int column[NUMBERS], id_column, first_column[FIRSTS];
  bool firsts = tl_table_column(t, first_columns[0]) >= 0; /* not in runs of older versions */
  TlTerrainGrid grid = tl_terrain_grid(&b->terrain);
  TL_TRY(tl_table_need(t, "id", &id_column));
  for (int k = 0; k < NUMBERS; k++) TL_TRY(tl_table_need(t, cell_columns[k], &column[k]));
  for (int k = 0; firsts && k < FIRSTS; k++)
    TL_TRY(tl_table_need(t, first_columns[k], &first_column[k]));
  int64_t at = first;
  for (int64_t i = 0; i < t->rows; i++) {
    double x[NUMBERS], id, in[FIRSTS] = {NAN};
    TL_TRY(tl_table_number(t, i, id_column, &id));
    for (int k = 0; k < NUMBERS; k++) TL_TRY(tl_table_number(t, i, column[k], &x[k]));
    for (int k = 0; firsts && k < FIRSTS; k++)
      TL_TRY(tl_table_number(t, i, first_column[k], &in[k]));
    if (at == end || (double)b->block[at].id != id) { /* rows come in the order of the ids */
      int64_t low = first, high = end;
      while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if ((double)b->block[middle].id < id)
          low = middle + 1;
        else
          high = middle;
      }
      at = low;
    }
    if (at == end || (double)b->block[at].id != id) continue; /* came and left between two frames */
    TlBlockCell *c = &cell[*count];
    *c =
        (TlBlockCell){.cell = tl_terrain_grid_at(&grid, x[EAST] - b->terrain.origin[0],
                                                 x[NORTH] - b->terrain.origin[1]),
                      .block = at,
                      .time_s = in[0],
                      .place_m = tl_vec3(in[1] - b->terrain.origin[0], in[2] - b->terrain.origin[1],
                                         in[3] - b->terrain.origin[2])};
    memcpy(c->value, x + 2, sizeof c->value);
    bool sound = c->cell >= 0 && (!firsts || isfinite(in[0] + in[1] + in[2] + in[3]));
    for (int k = 0; k < TL_CELL_VALUES; k++) sound = sound && isfinite(c->value[k]);
    if (!sound)
      return tl_fail(TL_EINPUT, "%s:%lld: is no cell of this terrain with all its values", t->path,
                     (long long)t->line[i]);
    (*count)++;
  }
  return TL_OK;
}

TlStatus tl_blocks_read_cells(const TlBlocks *b, const char *const *runs, TlBlockCell **cell,
                              int64_t *count) {
  size_t capacity = 0;
  TlStatus status = TL_OK;
  *cell = NULL;
  *count = 0;
  for (int64_t run = 0, first = 0, end; status == TL_OK && run < b->runs; run++, first = end) {
    for (end = first; end < b->count && b->block[end].run == run; end++)
      ;
    TlTable table = {0};
    char *path = b->every_step[run] ? cells_path(runs[run]) : NULL;
    if (!b->every_step[run]) continue;
    status = path ? tl_table_read_growing(path, &table) : TL_ENOMEM;
    if (status == TL_OK) status = TL_RESERVE(*cell, capacity, (size_t)(*count + table.rows));
    if (status == TL_OK) status = take_cells(b, &table, first, end, *cell, count);
    tl_table_free(&table);
    tl_free(path);
  }
  if (status != TL_OK) TL_FREE(*cell);
  return status;
}

/* ---- paths ---- */

static int by_block(const void *one, const void *two) {
  const TlBlockCell *a = *(TlBlockCell *const *)one, *b = *(TlBlockCell *const *)two;
  if (a->block != b->block) return a->block < b->block ? -1 : 1;
  if (a->time_s != b->time_s) return a->time_s < b->time_s ? -1 : 1;
  return (a->cell > b->cell) - (a->cell < b->cell);
}

/* Frames and entries of one block, by time; what is no later than a frame by a millionth of the way to the next is that
 * frame. */
static int64_t merge_path(const TlBlockMoment *frame, int64_t frames, TlBlockCell *const *entry,
                          int64_t entries, TlBlockMoment *path) {
  int64_t n = 0, k = 0;
  for (int64_t i = 0; i < frames; i++) {
    double from = i > 0 ? frame[i - 1].time_s : frame[i].time_s, span = frame[i].time_s - from;
    for (; k < entries && entry[k]->time_s < frame[i].time_s - 1e-6 * span; k++) {
      if (i == 0 || entry[k]->time_s <= from + 1e-6 * span) continue;
      TlBlockMoment at =
          tl_block_between(&frame[i - 1], &frame[i], (entry[k]->time_s - from) / span);
      at.place_m = entry[k]->place_m;
      at.time_s = entry[k]->time_s;
      path[n++] = at;
    }
    path[n++] = frame[i];
  }
  return n;
}

TlStatus tl_blocks_paths(const TlBlocks *b, const TlBlockCell *cell, int64_t count,
                         TlBlockPaths *paths) {
  const TlBlockCell **entry = NULL;
  int64_t entries = 0, moments = 0, n = 0;
  *paths = (TlBlockPaths){0};
  for (int64_t i = 0; i < b->count; i++) moments += b->block[i].count;
  TlStatus status = TL_NEW(entry, (size_t)count);
  if (status == TL_OK) status = TL_NEW(paths->first, (size_t)(b->count + 1));
  if (status == TL_OK) status = TL_NEW(paths->moment, (size_t)(moments + count));
  if (status == TL_OK) {
    for (int64_t i = 0; i < count; i++)
      if (!isnan(cell[i].time_s)) entry[entries++] = &cell[i];
    if (entries > 0) qsort(entry, (size_t)entries, sizeof *entry, by_block);
    for (int64_t i = 0, at = 0, end; i < b->count; i++, at = end) {
      for (end = at; end < entries && entry[end]->block == i; end++)
        ;
      paths->first[i] = n;
      n += merge_path(b->moment + b->block[i].first, b->block[i].count,
                      (TlBlockCell *const *)entry + at, end - at, paths->moment + n);
    }
    paths->first[b->count] = n;
  }
  tl_free(entry);
  if (status != TL_OK) tl_block_paths_free(paths);
  return status;
}

void tl_block_paths_free(TlBlockPaths *paths) {
  tl_free(paths->first);
  tl_free(paths->moment);
  *paths = (TlBlockPaths){0};
}

/* ---- values ---- */

TlBlockMoment tl_block_between(const TlBlockMoment *a, const TlBlockMoment *b, double t) {
  return (TlBlockMoment){
      .time_s = a->time_s + t * (b->time_s - a->time_s),
      .place_m = tl_axpy(a->place_m, t, tl_sub(b->place_m, a->place_m)),
      .speed_m_s = a->speed_m_s + t * (b->speed_m_s - a->speed_m_s),
      .translational_kJ = a->translational_kJ + t * (b->translational_kJ - a->translational_kJ),
      .rotational_kJ = a->rotational_kJ + t * (b->rotational_kJ - a->rotational_kJ),
      .moves = a->moves || b->moves};
}

/* ---- the same blocks in two runs: they have the same numbers, too ---- */

static bool same_place(const TlBlockMoment *a, const TlBlockMoment *b) {
  return a->place_m.x == b->place_m.x && a->place_m.y == b->place_m.y &&
         a->place_m.z == b->place_m.z;
}

/* The same size, start, and place at the last time that both have a moment of. */
static bool same_path(const TlBlocks *all, const TlBlock *a, const TlBlock *b) {
  const TlBlockMoment *x = all->moment + a->first, *y = all->moment + b->first;
  int64_t last = (a->count < b->count ? a->count : b->count) - 1;
  while (last > 0 && x[last].time_s != y[last].time_s) last--; /* runs end between frames */
  return a->volume_m3 == b->volume_m3 && same_place(x, y) && same_place(x + last, y + last);
}

static bool has_path_of(const TlBlocks *all, int64_t run, const TlBlock *b) {
  int64_t end = all->run_end[run], first = run > 0 ? all->run_end[run - 1] : 0;
  int64_t at = find_block(all, first, end, b->id);
  return at < end && all->block[at].id == b->id && same_path(all, &all->block[at], b);
}

int64_t tl_blocks_twice(const TlBlocks *all, int64_t *other) {
  int64_t count = 0;
  for (int64_t i = 0; i < all->count; i++) {
    const TlBlock *b = &all->block[i];
    int64_t run = 0;
    while (run < b->run && !has_path_of(all, run, b)) run++;
    if (run < b->run && count++ == 0) *other = b->run;
  }
  return count;
}

bool tl_blocks_together(const TlBlock *one, const TlBlock *other) {
  return one->run == other->run && one->release == other->release;
}

TlGroundFilled tl_block_on_filled(const TlBlocks *blocks, const TlBlock *b) {
  TlVec3 end = blocks->moment[b->first + b->count - 1].place_m;
  return b->end == TL_FATE_LEFT ? TL_GROUND_MEASURED
                                : tl_terrain_filled(&blocks->terrain, end.x, end.y);
}

double tl_blocks_stopped_on_filled(const TlBlocks *blocks) {
  double count = 0;
  for (int64_t i = 0; i < blocks->count; i++)
    if (blocks->block[i].end == TL_FATE_STOPPED || blocks->block[i].end == TL_FATE_NOT_STARTED)
      count += tl_ground_filled_number(tl_block_on_filled(blocks, &blocks->block[i]));
  return count;
}

double tl_block_jump(const TlBlocks *blocks, TlVec3 place_m) {
  double ground;
  if (!tl_terrain_height(&blocks->terrain, place_m.x, place_m.y, &ground, NULL)) return 0;
  return fmax(0, place_m.z - ground);
}
