#include "post/maps.h"

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "io/raster.h"
#include "post/measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef enum Value { SPEED, ENERGY, TRANSLATIONAL, ROTATIONAL, JUMP, VALUES } Value;
static const char *const value_name[VALUES] = {"speed_m_s", "energy_kJ", "translational_kJ",
                                               "rotational_kJ", "jump_height_m"};

/* What a block has in a cell. */
typedef struct Entry {
  int64_t cell, block;
  double value[VALUES];
} Entry;

typedef struct Maps {
  TlTerrain terrain; /* of the first run; owned */
  bool has_terrain;
  Entry *entry;
  int64_t entries;
  size_t capacity;
  int64_t blocks;
  double *stopped, *solid_m3; /* [ny][nx] of the last frames */
  double largest_leg;         /* in cells */
} Maps;

/* A block in a frame. */
typedef struct Moment {
  int64_t id, block;
  double x, y, z, value[VALUES]; /* JUMP: in z until it is looked up */
  int64_t last;                  /* its newest entry; -1: none */
} Moment;

typedef struct Moments {
  Moment *item; /* by id */
  int64_t count;
} Moments;

/* ---- one run ---- */

static TlStatus same_terrain(const Maps *m, const TlTerrain *t, const char *folder) {
  const TlTerrain *a = &m->terrain;
  if (a->nx == t->nx && a->ny == t->ny && a->cell_m == t->cell_m && a->x0_m == t->x0_m &&
      a->y0_m == t->y0_m && memcmp(a->origin, t->origin, sizeof a->origin) == 0 &&
      memcmp(a->height_m, t->height_m, (size_t)(a->nx * a->ny) * sizeof *a->height_m) == 0)
    return TL_OK;
  return tl_fail(TL_EINPUT, "%s: has another terrain than the first run; maps are of one terrain",
                 folder);
}

static TlStatus moment_of(const TlScene *scene, const TlBodyRow *row, Moment *moment) {
  const TlAvatar *a = tl_scene_avatar(scene, row->avatar_id);
  double density;
  if (!a)
    return tl_fail(TL_EINPUT, "body %lld uses avatar %lld, which is not in run.h5",
                   (long long)row->id, (long long)row->avatar_id);
  if (row->body != row->id)
    return tl_fail(TL_EINPUT, "body %lld has several parts; maps are of bodies of one part",
                   (long long)row->body);
  TL_TRY(tl_scene_density(scene, row, &density));
  TlVec3 w = tl_mat_tvec(tl_quat_matrix(row->rotation), row->spin_rad_s), i = a->inertia_m5;
  double s3 = row->scale * row->scale * row->scale;
  double linear = 0.5 * density * a->volume_m3 * s3 * tl_norm2(row->velocity_m_s) / 1000;
  double turning = 0.5 * density * s3 * row->scale * row->scale *
                   (i.x * w.x * w.x + i.y * w.y * w.y + i.z * w.z * w.z) / 1000;
  *moment = (Moment){.id = row->id,
                     .block = -1,
                     .x = row->position_m.x,
                     .y = row->position_m.y,
                     .z = row->position_m.z,
                     .value = {[SPEED] = tl_norm(row->velocity_m_s),
                               [ENERGY] = linear + turning,
                               [TRANSLATIONAL] = linear,
                               [ROTATIONAL] = turning},
                     .last = -1};
  return TL_OK;
}

static Moment *find(const Moments *all, int64_t id) {
  int64_t low = 0, high = all->count;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (all->item[middle].id < id)
      low = middle + 1;
    else
      high = middle;
  }
  return low < all->count && all->item[low].id == id ? &all->item[low] : NULL;
}

/* Cell whose middle is the nearest sample; -1: off the raster. */
static int64_t cell_at(const TlTerrain *t, double x, double y) {
  double u = floor((x - t->x0_m) / t->cell_m + 0.5), v = floor((y - t->y0_m) / t->cell_m + 0.5);
  if (!(u >= 0 && v >= 0 && u < (double)t->nx && v < (double)t->ny)) return -1;
  return (int64_t)v * t->nx + (int64_t)u;
}

static TlStatus add(Maps *m, Moment *block, int64_t cell, const double value[VALUES]) {
  if (cell < 0) return TL_OK;
  if (block->last < 0 || m->entry[block->last].cell != cell) {
    TL_TRY(TL_RESERVE(m->entry, m->capacity, (size_t)m->entries + 1));
    m->entry[m->entries] = (Entry){.cell = cell, .block = block->block};
    block->last = m->entries++;
  }
  double *most = m->entry[block->last].value;
  for (int k = 0; k < VALUES; k++) most[k] = fmax(most[k], value[k]);
  return TL_OK;
}

/* The part t of the way from a to b, 0 to 1. */
static void between(const Maps *m, const Moment *a, const Moment *b, double t, double value[VALUES],
                    double at[2]) {
  double ground, z = a->z + t * (b->z - a->z);
  for (int k = 0; k < VALUES; k++) value[k] = a->value[k] + t * (b->value[k] - a->value[k]);
  at[0] = a->x + t * (b->x - a->x);
  at[1] = a->y + t * (b->y - a->y);
  value[JUMP] =
      tl_terrain_height(&m->terrain, at[0], at[1], &ground, NULL) ? fmax(0, z - ground) : 0;
}

/* Where the leg crosses the next border between cells behind t, along one axis. */
static double next_border(double from, double to, double t, int64_t *border) {
  if (from == to) return INFINITY;
  double at = ((double)*border - 0.5 - from) / (to - from);
  if (at <= t) {
    *border += to > from ? 1 : -1;
    at = ((double)*border - 0.5 - from) / (to - from);
  }
  return at;
}

/* From moment a to moment b, cell by cell; b takes over the block. */
static TlStatus walk(Maps *m, Moment *a, Moment *b) {
  const TlTerrain *g = &m->terrain;
  double u[2] = {(a->x - g->x0_m) / g->cell_m, (b->x - g->x0_m) / g->cell_m};
  double v[2] = {(a->y - g->y0_m) / g->cell_m, (b->y - g->y0_m) / g->cell_m};
  int64_t border_u = (int64_t)floor(u[0] + 0.5) + (u[1] > u[0]);
  int64_t border_v = (int64_t)floor(v[0] + 0.5) + (v[1] > v[0]);
  m->largest_leg = fmax(m->largest_leg, hypot(u[1] - u[0], v[1] - v[0]));
  for (double t = 0; t < 1;) {
    double next =
        fmin(1, fmin(next_border(u[0], u[1], t, &border_u), next_border(v[0], v[1], t, &border_v)));
    double value[VALUES], at[2];
    between(m, a, b, 0.5 * (t + next), value, at);
    int64_t cell = cell_at(g, at[0], at[1]);
    TL_TRY(add(m, a, cell, value));
    between(m, a, b, t, value, at);
    TL_TRY(add(m, a, cell, value));
    between(m, a, b, next, value, at);
    TL_TRY(add(m, a, cell, value));
    t = next;
  }
  b->block = a->block;
  b->last = a->last;
  return TL_OK;
}

static TlStatus begin_block(Maps *m, Moment *moment) {
  double value[VALUES], at[2];
  moment->block = m->blocks++;
  between(m, moment, moment, 0, value, at);
  return add(m, moment, cell_at(&m->terrain, at[0], at[1]), value);
}

static TlStatus take_frame(Maps *m, const TlScene *scene, const TlFrame *frame, Moments *was) {
  Moments is = {0};
  TlStatus status = TL_NEW(is.item, (size_t)frame->count);
  for (int64_t i = 0; status == TL_OK && i < frame->count; i++) {
    const TlBodyRow *row = &frame->rows[i];
    if (row->flags & TL_ROW_NO_GRAIN) continue;
    Moment *before = find(was, row->id), *now = &is.item[is.count];
    if (!before && (row->flags & TL_ROW_FROZEN)) continue;
    status = moment_of(scene, row, now);
    is.count++;
    if (status == TL_OK) status = before ? walk(m, before, now) : begin_block(m, now);
  }
  tl_free(was->item);
  *was = is;
  return status;
}

/* Where the blocks of the last frame lie. */
static TlStatus take_deposit(Maps *m, const TlScene *scene, const TlFrame *frame,
                             const Moments *last) {
  for (int64_t i = 0; i < frame->count; i++) {
    const TlBodyRow *row = &frame->rows[i];
    int64_t cell = cell_at(&m->terrain, row->position_m.x, row->position_m.y);
    if (cell < 0 || !find(last, row->id)) continue;
    m->stopped[cell] += 1;
    m->solid_m3[cell] +=
        tl_scene_avatar(scene, row->avatar_id)->volume_m3 * row->scale * row->scale * row->scale;
  }
  return TL_OK;
}

static TlStatus take_frames(Maps *m, const char *folder, const TlScene *scene, const int64_t *index,
                            int64_t count) {
  Moments moments = {0};
  TlStatus status = TL_OK;
  for (int64_t i = 0; status == TL_OK && i < count; i++) {
    TlFrame frame = {0};
    status = tl_results_read_frame(folder, index[i], &frame);
    if (status == TL_OK)
      status = tl_context(take_frame(m, scene, &frame, &moments), "%s: frame %lld", folder,
                          (long long)index[i]);
    if (status == TL_OK && i == count - 1) status = take_deposit(m, scene, &frame, &moments);
    tl_frame_free(&frame);
  }
  tl_free(moments.item);
  return status;
}

static TlStatus take_scene(Maps *m, const char *folder, TlScene *scene) {
  if (!scene->has_terrain)
    return tl_fail(TL_EINPUT, "%s: has no terrain; maps are rasters of a terrain", folder);
  if (m->has_terrain) return same_terrain(m, &scene->terrain, folder);
  m->terrain = scene->terrain; /* it is the maps' from here on */
  m->has_terrain = true;
  scene->has_terrain = false;
  scene->terrain = (TlTerrain){0};
  size_t cells = (size_t)(m->terrain.nx * m->terrain.ny);
  TL_TRY(TL_NEW(m->stopped, cells));
  return TL_NEW(m->solid_m3, cells);
}

static TlStatus take_run(Maps *m, const char *folder) {
  TlScene scene;
  int64_t *index, count;
  TL_TRY(tl_results_read_scene(folder, &scene));
  TlStatus status = take_scene(m, folder, &scene);
  if (status == TL_OK) status = tl_results_frames(folder, &index, &count);
  if (status == TL_OK) {
    status = take_frames(m, folder, &scene, index, count);
    tl_free(index);
  }
  tl_scene_free(&scene);
  return status;
}

/* ---- rasters ---- */

static int by_cell(const void *one, const void *two) {
  const Entry *a = one, *b = two;
  if (a->cell != b->cell) return (a->cell > b->cell) - (a->cell < b->cell);
  return (a->block > b->block) - (a->block < b->block);
}

/* One entry a block and cell, by cell. */
static void merge(Maps *m) {
  int64_t kept = 0;
  if (m->entries > 0) qsort(m->entry, (size_t)m->entries, sizeof *m->entry, by_cell);
  for (int64_t i = 0; i < m->entries; i++) {
    Entry *last = kept > 0 ? &m->entry[kept - 1] : NULL, *e = &m->entry[i];
    if (!last || last->cell != e->cell || last->block != e->block)
      m->entry[kept++] = *e;
    else
      for (int k = 0; k < VALUES; k++) last->value[k] = fmax(last->value[k], e->value[k]);
  }
  m->entries = kept;
}

typedef struct Out {
  const char *folder, *extension;
  bool overwrite;
} Out;

static TlStatus write_map(const Maps *m, const Out *out, const char *name, double *value) {
  const TlTerrain *t = &m->terrain;
  TlRaster raster = {.nx = t->nx,
                     .ny = t->ny,
                     .cell_m = t->cell_m,
                     .east_m = t->origin[0] + t->x0_m,
                     .north_m = t->origin[1] + t->y0_m,
                     .height_m = value,
                     .crs = t->crs};
  char *file = tl_format("%s.%s", name, out->extension);
  char *path = file ? tl_path_join(out->folder, file) : NULL;
  TlStatus status = path ? tl_raster_write(&raster, path, out->overwrite) : TL_ENOMEM;
  tl_free(file);
  tl_free(path);
  return status;
}

static double statistic(double *value, int64_t n, int which) {
  static const double quantile[] = {0.5, 0.9, 0.95, 0.99};
  double sum = 0;
  if (which == 0) return tl_measure_quantile(value, n, 1);
  if (which > 1) return tl_measure_quantile(value, n, quantile[which - 2]);
  for (int64_t i = 0; i < n; i++) sum += value[i];
  return sum / (double)n;
}

static TlStatus write_value(const Maps *m, const Out *out, Value k, double *map, double *scratch) {
  static const char *const name[] = {"max", "mean", "p50", "p90", "p95", "p99"};
  TlStatus status = TL_OK;
  for (int s = 0; status == TL_OK && s < 6; s++) {
    for (int64_t i = 0; i < m->terrain.nx * m->terrain.ny; i++) map[i] = NAN;
    for (int64_t i = 0, n; i < m->entries; i += n) {
      for (n = 0; i + n < m->entries && m->entry[i + n].cell == m->entry[i].cell; n++)
        scratch[n] = m->entry[i + n].value[k];
      map[m->entry[i].cell] = statistic(scratch, n, s);
    }
    char *file = tl_format("%s_%s", value_name[k], name[s]);
    status = file ? write_map(m, out, file, map) : TL_ENOMEM;
    tl_free(file);
  }
  return status;
}

static TlStatus write_maps(const Maps *m, const Out *out, double *map, double *scratch) {
  int64_t cells = m->terrain.nx * m->terrain.ny;
  TL_TRY(tl_dir_make(out->folder));
  for (int64_t i = 0; i < cells; i++) map[i] = 0;
  for (int64_t i = 0; i < m->entries; i++) map[m->entry[i].cell] += 1;
  TL_TRY(write_map(m, out, "passages", map));
  for (int64_t i = 0; i < cells; i++) map[i] /= m->blocks > 0 ? (double)m->blocks : 1;
  TL_TRY(write_map(m, out, "reach_probability", map));
  TL_TRY(write_map(m, out, "deposit_count", m->stopped));
  for (int64_t i = 0; i < cells; i++)
    map[i] = m->solid_m3[i] / (m->terrain.cell_m * m->terrain.cell_m);
  TL_TRY(write_map(m, out, "deposit_thickness_m", map));
  for (int k = 0; k < VALUES; k++) TL_TRY(write_value(m, out, (Value)k, map, scratch));
  return TL_OK;
}

static TlStatus report(const Maps *m, TlFigures *figures) {
  double passed = 0, stopped = 0;
  for (int64_t i = 0; i < m->entries; i++)
    passed += i == 0 || m->entry[i].cell != m->entry[i - 1].cell;
  for (int64_t i = 0; i < m->terrain.nx * m->terrain.ny; i++) stopped += m->stopped[i];
  TL_TRY(tl_figures_add(figures, "map_blocks", (double)m->blocks, "", "post/maps.h"));
  TL_TRY(tl_figures_add(figures, "map_blocks_in_last_frame", stopped, "", "post/maps.h"));
  TL_TRY(tl_figures_add(figures, "map_cells_passed", passed, "", "post/maps.h"));
  if (m->largest_leg > 1)
    tl_log_warn("between two frames a block moved by up to %.3g cells; what happens between frames "
                "is not in the maps: a smaller time.frame_every_s of the study shows it",
                m->largest_leg);
  return tl_figures_add(figures, "map_largest_step_of_cell", m->largest_leg, "", "post/maps.h");
}

TlStatus tl_maps_run(const char *const *runs, int64_t count, const char *folder,
                     const char *extension, bool overwrite, TlFigures *figures) {
  Maps m = {0};
  double *map = NULL, *scratch = NULL;
  TlStatus status = TL_OK;
  for (int64_t i = 0; status == TL_OK && i < count; i++) status = take_run(&m, runs[i]);
  if (status == TL_OK) merge(&m);
  if (status == TL_OK) status = TL_NEW(map, (size_t)(m.terrain.nx * m.terrain.ny));
  if (status == TL_OK) status = TL_NEW(scratch, (size_t)m.blocks);
  if (status == TL_OK) status = write_maps(&m, &(Out){folder, extension, overwrite}, map, scratch);
  if (status == TL_OK) status = report(&m, figures);
  tl_terrain_free(&m.terrain);
  tl_free(m.entry);
  tl_free(m.stopped);
  tl_free(m.solid_m3);
  tl_free(map);
  tl_free(scratch);
  return status;
}
