#include "post/fences.h"

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "io/csv.h"
#include "io/vector.h"
#include "num/quantile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef enum Value { ENERGY, SPEED, HEIGHT, VALUES } Value;

typedef struct Passage {
  int64_t fence, block;
  TlBlockMoment at; /* of the crossing with the largest energy */
  double value[VALUES];
} Passage;

typedef struct Fences {
  const TlBlocks *blocks;
  const char *const *runs;
  double gravity_m_s2;
  TlBlockPaths path;
  TlBlockCell *cell; /* sorted by block and cell, one of each; their largest values */
  int64_t cells;
  TlVector line;
  double *height_m; /* [features]; NaN: not given */
  int name_field;   /* -1: none */
  Passage *passage;
  int64_t passages;
  size_t capacity;
} Fences;

/* ---- reading ---- */

static int field_named(const TlVector *v, const char *name) {
  for (int64_t k = 0; k < v->fields; k++)
    if (strcasecmp(v->field[k], name) == 0) return (int)k;
  return -1;
}

static TlStatus read_fences(Fences *f, const char *source) {
  TlVector *v = &f->line;
  const char *crs = f->blocks->terrain.crs;
  TL_TRY(tl_vector_read(source, TL_VECTOR_LINES, crs ? crs : "", v));
  TL_TRY(TL_NEW(f->height_m, (size_t)v->features));
  f->name_field = field_named(v, "name");
  int k = field_named(v, "height_m");
  for (int64_t i = 0; i < v->features; i++) {
    const char *text = k >= 0 ? v->value[i * v->fields + k] : NULL;
    f->height_m[i] = NAN;
    if (!text) continue;
    char *end;
    f->height_m[i] = strtod(text, &end);
    if (*end || !(f->height_m[i] > 0) || isinf(f->height_m[i]))
      return tl_fail(TL_EINPUT, "%s: feature %lld: height_m is '%s'; metres above 0 are wanted",
                     source, (long long)v->id[i], text);
  }
  return TL_OK;
}

/* Looked at every half a cell. */
static void length_of(const Fences *f, const TlVectorPart *part, double *over, double *all) {
  const TlTerrain *t = &f->blocks->terrain;
  const double *xy = f->line.east_north + 2 * part->first;
  for (int64_t k = 1; k < part->count; k++) {
    const double *p = xy + 2 * (k - 1), *q = xy + 2 * k;
    double length = hypot(q[0] - p[0], q[1] - p[1]), z;
    int64_t pieces = (int64_t)fmin(1e6, ceil(length / (0.5 * t->cell_m)));
    for (int64_t i = 0; i < pieces; i++) {
      double at = ((double)i + 0.5) / (double)pieces;
      *all += length / (double)pieces;
      if (tl_terrain_height(t, p[0] + at * (q[0] - p[0]) - t->origin[0],
                            p[1] + at * (q[1] - p[1]) - t->origin[1], &z, NULL))
        *over += length / (double)pieces;
    }
  }
}

/* Nothing that ends at the terrain's border passes a fence beyond it: that is no sign of safety. */
static void warn_of_ends(const Fences *f) {
  for (int64_t fence = 0; fence < f->line.features; fence++) {
    double over = 0, all = 0;
    const char *name =
        f->name_field >= 0 ? f->line.value[fence * f->line.fields + f->name_field] : NULL;
    for (int64_t k = 0; k < f->line.parts; k++)
      if (f->line.part[k].feature == fence) length_of(f, &f->line.part[k], &over, &all);
    if (all - over >
        f->blocks->terrain.cell_m) /* fences often end at the raster's edge, half a cell outside */
      tl_log_warn("fence %lld%s%s%s: %.0f of its %.0f m lie off the terrain, where no block is "
                  "followed",
                  (long long)f->line.id[fence], name ? " (" : "", name ? name : "", name ? ")" : "",
                  all - over, all);
  }
}

/* ---- what every step says ---- */

static int by_block_and_cell(const void *one, const void *two) {
  const TlBlockCell *a = one, *b = two;
  if (a->block != b->block) return a->block < b->block ? -1 : 1;
  return (a->cell > b->cell) - (a->cell < b->cell);
}

static TlStatus read_cells(Fences *f) {
  int64_t kept = 0;
  TL_TRY(tl_blocks_read_cells(f->blocks, f->runs, &f->cell, &f->cells));
  TL_TRY(tl_blocks_paths(f->blocks, f->cell, f->cells, &f->path));
  if (f->cells > 0) qsort(f->cell, (size_t)f->cells, sizeof *f->cell, by_block_and_cell);
  for (int64_t i = 0; i < f->cells; i++) {
    TlBlockCell *last = kept > 0 ? &f->cell[kept - 1] : NULL;
    if (!last || by_block_and_cell(last, &f->cell[i]) != 0)
      f->cell[kept++] = f->cell[i];
    else
      for (int k = 0; k < TL_CELL_VALUES; k++)
        last->value[k] = fmax(last->value[k], f->cell[i].value[k]);
  }
  f->cells = kept;
  return TL_OK;
}

/* The block in the cell of this place; NULL: no step ended there, or the run has no cells.csv. */
static const TlBlockCell *cell_at(const Fences *f, int64_t block, TlVec3 place) {
  TlTerrainGrid grid = tl_terrain_grid(&f->blocks->terrain);
  TlBlockCell key = {.block = block, .cell = tl_terrain_grid_at(&grid, place.x, place.y)};
  if (f->cells == 0 || key.cell < 0) return NULL;
  return bsearch(&key, f->cell, (size_t)f->cells, sizeof *f->cell, by_block_and_cell);
}

/* ---- crossings ---- */

/* Where leg a-b crosses the segment p-q, as a part of the leg from 0 to 1; negative: it does not. A
 * leg that ends on the line crosses it, one that begins there does not, so that none counts twice. */
static double crossing(const double a[2], const double b[2], const double *p, const double *q) {
  double d[2] = {b[0] - a[0], b[1] - a[1]}, e[2] = {q[0] - p[0], q[1] - p[1]};
  double w[2] = {p[0] - a[0], p[1] - a[1]}, cross = d[0] * e[1] - d[1] * e[0];
  if (cross == 0) return -1;
  double t = (w[0] * e[1] - w[1] * e[0]) / cross, s = (w[0] * d[1] - w[1] * d[0]) / cross;
  return t > 0 && t <= 1 && s >= 0 && s <= 1 ? t : -1;
}

/* Seven digits are those of cells.csv. */
static bool same(double a, double b) {
  return fabs(a - b) <= 1e-6 * fabs(b);
}

/* The crossing `at` on the leg from `from` to `until`. */
static void values_of(const Fences *f, int64_t block, const TlBlockMoment *from,
                      const TlBlockMoment *until, const TlBlockMoment *at, double value[VALUES]) {
  const TlBlockCell *cell = cell_at(f, block, at->place_m);
  if (!cell) cell = cell_at(f, block, from->place_m); /* it cut the corner of a cell in one step */
  double before = at->time_s - from->time_s, behind = until->time_s - at->time_s;
  double jump = tl_block_jump(f->blocks, at->place_m),
         arc = 0.5 * f->gravity_m_s2 * before * behind;
  value[ENERGY] = at->translational_kJ + at->rotational_kJ;
  value[SPEED] = at->speed_m_s;
  if (cell) {
    if (!same(value[ENERGY], cell->value[TL_CELL_ENERGY]))
      value[ENERGY] = cell->value[TL_CELL_ENERGY];
    if (!same(value[SPEED], cell->value[TL_CELL_SPEED])) value[SPEED] = cell->value[TL_CELL_SPEED];
    double highest = cell->value[TL_CELL_JUMP];
    jump = same(jump, highest) ? jump : fmin(jump + arc, highest);
  }
  value[HEIGHT] = jump + f->blocks->block[block].radius_m;
}

static TlStatus pass(Fences *f, int64_t fence, int64_t block, const TlBlockMoment *at,
                     const double value[VALUES]) {
  Passage *p = f->passages > 0 ? &f->passage[f->passages - 1] : NULL;
  if (!p || p->fence != fence || p->block != block) {
    TL_TRY(TL_RESERVE(f->passage, f->capacity, (size_t)f->passages + 1));
    p = &f->passage[f->passages++];
    *p = (Passage){.fence = fence, .block = block, .at = *at};
  } else if (value[ENERGY] > p->value[ENERGY]) {
    p->at = *at;
  }
  for (int k = 0; k < VALUES; k++) p->value[k] = fmax(p->value[k], value[k]);
  return TL_OK;
}

static TlStatus cross_part(Fences *f, const TlVectorPart *part, int64_t block) {
  const TlBlockMoment *at = f->path.moment + f->path.first[block];
  int64_t count = f->path.first[block + 1] - f->path.first[block];
  const double *origin = f->blocks->terrain.origin, *xy = f->line.east_north + 2 * part->first;
  for (int64_t i = 1; i < count; i++) {
    double from[2] = {at[i - 1].place_m.x + origin[0], at[i - 1].place_m.y + origin[1]};
    double to[2] = {at[i].place_m.x + origin[0], at[i].place_m.y + origin[1]};
    for (int64_t k = 1; k < part->count; k++) {
      double t = crossing(from, to, xy + 2 * (k - 1), xy + 2 * k), value[VALUES];
      if (t < 0) continue;
      TlBlockMoment there = tl_block_between(&at[i - 1], &at[i], t);
      values_of(f, block, &at[i - 1], &at[i], &there, value);
      TL_TRY(pass(f, part->feature, block, &there, value));
    }
  }
  return TL_OK;
}

/* Fence by fence, and of a fence block by block. */
static TlStatus find_passages(Fences *f) {
  for (int64_t fence = 0; fence < f->line.features; fence++)
    for (int64_t block = 0; block < f->blocks->count; block++)
      for (int64_t k = 0; k < f->line.parts; k++)
        if (f->line.part[k].feature == fence) TL_TRY(cross_part(f, &f->line.part[k], block));
  return TL_OK;
}

/* ---- tables ---- */

static void put_name(const Fences *f, TlCsv *csv, int64_t fence) {
  const char *name =
      f->name_field >= 0 ? f->line.value[fence * f->line.fields + f->name_field] : NULL;
  char number[32];
  snprintf(number, sizeof number, "%lld", (long long)f->line.id[fence]);
  tl_csv_put_text(csv->file, name ? name : number);
}

static void put_real(TlCsv *csv, double value) {
  char text[40];
  tl_csv_real(text, value);
  fprintf(csv->file, ",%s", text);
}

static void put_fence(const Fences *f, TlCsv *csv, int64_t fence, int64_t first, int64_t count,
                      double *scratch) {
  static const double quantile[] = {0.5, 0.9, 0.95, 0.99, 1};
  const TlBlock *block = f->blocks->block;
  double height = f->height_m[fence], above = isnan(height) ? NAN : 0, releases = 0;
  for (int64_t i = 0; i < count; i++) {
    const Passage *p = &f->passage[first + i];
    above += p->value[HEIGHT] > height;
    releases += i == 0 || !tl_blocks_together(&block[p[-1].block], &block[p->block]);
  }
  put_name(f, csv, fence);
  put_real(csv, height);
  put_real(csv, (double)count);
  put_real(csv, f->blocks->count > 0 ? (double)count / (double)f->blocks->count : NAN);
  put_real(csv, above);
  for (int k = 0; k < VALUES; k++) {
    double sum = 0;
    for (int64_t i = 0; i < count; i++) sum += scratch[i] = f->passage[first + i].value[k];
    put_real(csv, count > 0 ? sum / (double)count : NAN);
    for (int q = 0; q < 5; q++)
      put_real(csv, count > 0 ? tl_quantile(scratch, count, quantile[q]) : NAN);
  }
  put_real(csv, releases);
  put_real(csv, f->blocks->releases > 0 ? releases / (double)f->blocks->releases : NAN);
  fputc('\n', csv->file);
}

static TlStatus put_fences(const Fences *f, TlCsv *csv) {
  double *scratch;
  TL_TRY(TL_NEW(scratch, (size_t)f->blocks->count));
  for (int64_t fence = 0, first = 0, n; fence < f->line.features; fence++, first += n) {
    for (n = 0; first + n < f->passages && f->passage[first + n].fence == fence; n++)
      ;
    put_fence(f, csv, fence, first, n, scratch);
  }
  tl_free(scratch);
  return TL_OK;
}

static TlStatus put_passages(const Fences *f, TlCsv *csv) {
  const double *origin = f->blocks->terrain.origin;
  for (int64_t i = 0; i < f->passages; i++) {
    const Passage *p = &f->passage[i];
    const TlBlock *b = &f->blocks->block[p->block];
    put_name(f, csv, p->fence);
    fputc(',', csv->file);
    tl_csv_put_text(csv->file, f->runs[b->run]);
    fprintf(csv->file, ",%lld", (long long)b->id);
    put_real(csv, p->at.time_s);
    put_real(csv, p->at.place_m.x + origin[0]);
    put_real(csv, p->at.place_m.y + origin[1]);
    put_real(csv, p->at.place_m.z + origin[2]);
    put_real(csv, b->mass_kg);
    for (int k = 0; k < VALUES; k++) put_real(csv, p->value[k]);
    fprintf(csv->file, ",%lld", (long long)b->release);
    fputc('\n', csv->file);
  }
  return TL_OK;
}

typedef struct Out {
  const char *folder;
  bool overwrite;
} Out;

static TlStatus write_table(const Fences *f, const Out *out, const char *name, const char *header,
                            TlStatus (*put)(const Fences *, TlCsv *)) {
  char *path = tl_path_join(out->folder, name);
  TlCsv csv;
  TlStatus status = path ? tl_csv_begin(&csv, path, out->overwrite, header) : TL_ENOMEM;
  if (status == TL_OK) {
    status = put(f, &csv);
    if (status == TL_OK)
      status = tl_csv_commit(&csv);
    else
      tl_csv_abort(&csv);
  }
  tl_free(path);
  return status;
}

static TlStatus write_tables(const Fences *f, const Out *out) {
  TL_TRY(tl_dir_make(out->folder));
  TL_TRY(write_table(f, out, "fences.csv",
                     "name,height_m,blocks,blocks_share,blocks_above,"
                     "energy_kJ_mean,energy_kJ_p50,energy_kJ_p90,energy_kJ_p95,energy_kJ_p99,"
                     "energy_kJ_max,speed_m_s_mean,speed_m_s_p50,speed_m_s_p90,speed_m_s_p95,"
                     "speed_m_s_p99,speed_m_s_max,height_needed_m_mean,height_needed_m_p50,"
                     "height_needed_m_p90,height_needed_m_p95,height_needed_m_p99,"
                     "height_needed_m_max,releases,releases_share",
                     put_fences));
  return write_table(f, out, "passages.csv",
                     "fence,run,id,time_s,east_m,north_m,height_m,mass_kg,energy_kJ,speed_m_s,"
                     "height_needed_m,release",
                     put_passages);
}

static void warn_of_frames(const Fences *f) {
  int64_t frames = 0;
  for (int64_t i = 0; i < f->blocks->runs; i++) frames += !f->blocks->every_step[i];
  if (frames > 0)
    tl_log_warn(
        "%lld of %lld runs have no cells.csv (terrain.cells: no, or a run of an older "
        "version): what passes their fences is of the frames, between which paths are straight and "
        "peaks are missed",
        (long long)frames, (long long)f->blocks->runs);
}

TlStatus tl_fences_write(const TlBlocks *blocks, const char *const *runs, const char *source,
                         const char *folder, bool overwrite, TlFigures *figures) {
  Fences f = {.blocks = blocks, .runs = runs, .gravity_m_s2 = blocks->gravity_m_s2};
  TlStatus status = read_fences(&f, source);
  if (status == TL_OK) status = read_cells(&f);
  if (status == TL_OK) status = find_passages(&f);
  if (status == TL_OK) status = write_tables(&f, &(Out){folder, overwrite});
  if (status == TL_OK) warn_of_frames(&f);
  if (status == TL_OK) warn_of_ends(&f);
  if (status == TL_OK)
    status = tl_figures_add(figures, "fences", (double)f.line.features, "", "post/fences.h");
  if (status == TL_OK)
    status = tl_figures_add(figures, "fence_passages", (double)f.passages, "", "post/fences.h");
  tl_vector_free(&f.line);
  tl_block_paths_free(&f.path);
  tl_free(f.cell);
  tl_free(f.height_m);
  tl_free(f.passage);
  return status;
}
