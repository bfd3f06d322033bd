#include "post/maps.h"

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "io/raster.h"
#include "post/blocks.h"
#include "post/measure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const value_name[TL_CELL_VALUES] = {[TL_CELL_SPEED] = "speed_m_s",
                                                       [TL_CELL_ENERGY] = "energy_kJ",
                                                       [TL_CELL_TRANSLATIONAL] = "translational_kJ",
                                                       [TL_CELL_ROTATIONAL] = "rotational_kJ",
                                                       [TL_CELL_JUMP] = "jump_height_m"};

typedef struct Maps {
  const TlBlocks *blocks;
  TlTerrainGrid grid;
  TlBlockCell *entry;
  int64_t entries;
  size_t capacity;
  double *stopped, *solid_m3; /* [ny][nx] of the last frames */
  double largest_leg;         /* in cells */
} Maps;

/* A block on its path. */
typedef struct Walk {
  Maps *maps;
  int64_t block, last; /* its newest entry; -1: none */
} Walk;

/* ---- paths ---- */

static TlStatus add(Walk *w, int64_t cell, const TlBlockMoment *at) {
  Maps *m = w->maps;
  if (cell < 0) return TL_OK;
  if (w->last < 0 || m->entry[w->last].cell != cell) {
    TL_TRY(TL_RESERVE(m->entry, m->capacity, (size_t)m->entries + 1));
    m->entry[m->entries] = (TlBlockCell){.cell = cell, .block = w->block};
    w->last = m->entries++;
  }
  double *most = m->entry[w->last].value;
  double value[TL_CELL_VALUES] = {[TL_CELL_SPEED] = at->speed_m_s,
                                  [TL_CELL_ENERGY] = at->translational_kJ + at->rotational_kJ,
                                  [TL_CELL_TRANSLATIONAL] = at->translational_kJ,
                                  [TL_CELL_ROTATIONAL] = at->rotational_kJ,
                                  [TL_CELL_JUMP] = tl_block_jump(m->blocks, at->place_m)};
  for (int k = 0; k < TL_CELL_VALUES; k++) most[k] = fmax(most[k], value[k]);
  return TL_OK;
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

/* From moment a to moment b, cell by cell. */
static TlStatus walk_leg(Walk *w, const TlBlockMoment *a, const TlBlockMoment *b) {
  const TlTerrainGrid *g = &w->maps->grid;
  double u[2] = {(a->place_m.x - g->x0_m) / g->cell_m, (b->place_m.x - g->x0_m) / g->cell_m};
  double v[2] = {(a->place_m.y - g->y0_m) / g->cell_m, (b->place_m.y - g->y0_m) / g->cell_m};
  int64_t border_u = (int64_t)floor(u[0] + 0.5) + (u[1] > u[0]);
  int64_t border_v = (int64_t)floor(v[0] + 0.5) + (v[1] > v[0]);
  w->maps->largest_leg = fmax(w->maps->largest_leg, hypot(u[1] - u[0], v[1] - v[0]));
  for (double t = 0; t < 1;) {
    double next =
        fmin(1, fmin(next_border(u[0], u[1], t, &border_u), next_border(v[0], v[1], t, &border_v)));
    TlBlockMoment at[3] = {tl_block_between(a, b, 0.5 * (t + next)), tl_block_between(a, b, t),
                           tl_block_between(a, b, next)};
    int64_t cell = tl_terrain_grid_at(g, at[0].place_m.x, at[0].place_m.y);
    for (int k = 0; k < 3; k++) TL_TRY(add(w, cell, &at[k]));
    t = next;
  }
  return TL_OK;
}

static TlStatus walk_block(Maps *m, int64_t index) {
  const TlBlock *b = &m->blocks->block[index];
  const TlBlockMoment *at = m->blocks->moment + b->first;
  Walk w = {m, index, -1};
  TL_TRY(add(&w, tl_terrain_grid_at(&m->grid, at->place_m.x, at->place_m.y), at));
  for (int64_t i = 1; i < b->count; i++) TL_TRY(walk_leg(&w, &at[i - 1], &at[i]));
  return TL_OK;
}

static void add_deposit(Maps *m, const TlBlock *b) {
  TlVec3 end = m->blocks->moment[b->first + b->count - 1].place_m;
  int64_t cell = tl_terrain_grid_at(&m->grid, end.x, end.y);
  if (b->end == TL_BLOCK_LEFT || cell < 0) return;
  m->stopped[cell] += 1;
  m->solid_m3[cell] += b->volume_m3;
}

/* Ways of the runs that have no cells.csv, and the deposits of all. */
static TlStatus walk_blocks(Maps *m) {
  TlStatus status = TL_OK;
  for (int64_t i = 0; status == TL_OK && i < m->blocks->count; i++) {
    const TlBlock *b = &m->blocks->block[i];
    if (!m->blocks->every_step[b->run]) status = walk_block(m, i);
    add_deposit(m, b);
  }
  return status;
}

/* ---- rasters ---- */

static int by_cell(const void *one, const void *two) {
  const TlBlockCell *a = one, *b = two;
  if (a->cell != b->cell) return (a->cell > b->cell) - (a->cell < b->cell);
  return (a->block > b->block) - (a->block < b->block);
}

/* One entry a block and cell, by cell. */
static void merge(Maps *m) {
  int64_t kept = 0;
  if (m->entries > 0) qsort(m->entry, (size_t)m->entries, sizeof *m->entry, by_cell);
  for (int64_t i = 0; i < m->entries; i++) {
    TlBlockCell *last = kept > 0 ? &m->entry[kept - 1] : NULL, *e = &m->entry[i];
    if (!last || last->cell != e->cell || last->block != e->block)
      m->entry[kept++] = *e;
    else
      for (int k = 0; k < TL_CELL_VALUES; k++) last->value[k] = fmax(last->value[k], e->value[k]);
  }
  m->entries = kept;
}

typedef struct Out {
  const char *folder, *extension;
  bool overwrite;
  double release_per_year;
} Out;

static TlStatus write_map(const Maps *m, const Out *out, const char *name, double *value) {
  const TlTerrain *t = &m->blocks->terrain;
  TlRaster raster = {.nx = m->grid.nx,
                     .ny = m->grid.ny,
                     .cell_m = m->grid.cell_m,
                     .east_m = t->origin[0] + m->grid.x0_m,
                     .north_m = t->origin[1] + m->grid.y0_m,
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

static TlStatus write_value(const Maps *m, const Out *out, TlCellValue k, double *map,
                            double *scratch) {
  static const char *const name[] = {"max", "mean", "p50", "p90", "p95", "p99"};
  TlStatus status = TL_OK;
  for (int s = 0; status == TL_OK && s < 6; s++) {
    for (int64_t i = 0; i < m->grid.nx * m->grid.ny; i++) map[i] = NAN;
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

static int falling(const void *one, const void *two) {
  double a = *(const double *)one, b = *(const double *)two;
  return (a < b) - (a > b);
}

/* The energy that is exceeded less often than once in these years, of blocks that come as often as
 * release_per_year says: of the n blocks of a cell the (k + 1)th largest, where k of all blocks are
 * as many as come in that time. None where passages are rarer. Its Swiss intensity: 1 up to 30 kJ, 2
 * up to 300 kJ, 3 above. */
static TlStatus write_return(const Maps *m, const Out *out, int years, double *map,
                             double *scratch) {
  double blocks = (double)m->blocks->count / (out->release_per_year * years);
  int64_t k = (int64_t)fmin(floor(blocks * (1 + 1e-12)), 1e18);
  int64_t cells = m->grid.nx * m->grid.ny;
  char name[48];
  for (int64_t i = 0; i < cells; i++) map[i] = NAN;
  for (int64_t i = 0, n; i < m->entries; i += n) {
    for (n = 0; i + n < m->entries && m->entry[i + n].cell == m->entry[i].cell; n++)
      scratch[n] = m->entry[i + n].value[TL_CELL_ENERGY];
    if (n <= k) continue;
    qsort(scratch, (size_t)n, sizeof *scratch, falling);
    map[m->entry[i].cell] = scratch[k];
  }
  snprintf(name, sizeof name, "energy_kJ_%dy", years);
  TL_TRY(write_map(m, out, name, map));
  for (int64_t i = 0; i < cells; i++)
    if (!isnan(map[i])) map[i] = map[i] > 300 ? 3 : map[i] > 30 ? 2 : 1;
  snprintf(name, sizeof name, "intensity_%dy", years);
  return write_map(m, out, name, map);
}

static TlStatus write_maps(const Maps *m, const Out *out, double *map, double *scratch) {
  int64_t cells = m->grid.nx * m->grid.ny;
  TL_TRY(tl_dir_make(out->folder));
  for (int64_t i = 0; i < cells; i++) map[i] = 0;
  for (int64_t i = 0; i < m->entries; i++) map[m->entry[i].cell] += 1;
  TL_TRY(write_map(m, out, "passages", map));
  for (int64_t i = 0; i < cells; i++) map[i] /= m->blocks->count > 0 ? (double)m->blocks->count : 1;
  TL_TRY(write_map(m, out, "reach_probability", map));
  TL_TRY(write_map(m, out, "deposit_count", m->stopped));
  TL_TRY(write_map(m, out, "deposit_volume_m3", m->solid_m3));
  for (int64_t i = 0; i < cells; i++) map[i] = m->solid_m3[i] / (m->grid.cell_m * m->grid.cell_m);
  TL_TRY(write_map(m, out, "deposit_thickness_m", map));
  for (int k = 0; k < TL_CELL_VALUES; k++)
    TL_TRY(write_value(m, out, (TlCellValue)k, map, scratch));
  static const int years[] = {30, 100, 300};
  for (int i = 0; i < 3 && out->release_per_year > 0; i++)
    TL_TRY(write_return(m, out, years[i], map, scratch));
  return TL_OK;
}

static TlStatus report(const Maps *m, TlFigures *figures) {
  double passed = 0, stopped = 0;
  for (int64_t i = 0; i < m->entries; i++)
    passed += i == 0 || m->entry[i].cell != m->entry[i - 1].cell;
  for (int64_t i = 0; i < m->grid.nx * m->grid.ny; i++) stopped += m->stopped[i];
  TL_TRY(tl_figures_add(figures, "map_blocks", (double)m->blocks->count, "", "post/maps.h"));
  TL_TRY(tl_figures_add(figures, "map_blocks_in_last_frame", stopped, "", "post/maps.h"));
  TL_TRY(tl_figures_add(figures, "map_cells_passed", passed, "", "post/maps.h"));
  int64_t frames_only = 0;
  for (int64_t i = 0; i < m->blocks->runs; i++) frames_only += !m->blocks->every_step[i];
  if (m->largest_leg > 1)
    tl_log_warn("%lld of %lld runs have no cells.csv (terrain.cells: no, or a run of an older "
                "version): their maps are of the frames, between which a block moved by up to %.3g "
                "cells",
                (long long)frames_only, (long long)m->blocks->runs, m->largest_leg);
  TL_TRY(
      tl_figures_add(figures, "map_runs_of_frames_only", (double)frames_only, "", "post/maps.h"));
  return tl_figures_add(figures, "map_largest_step_of_cell", m->largest_leg, "", "post/maps.h");
}

TlStatus tl_maps_write(const TlBlocks *blocks, const char *const *runs, const char *folder,
                       const char *extension, bool overwrite, double release_per_year,
                       TlFigures *figures) {
  Maps m = {.blocks = blocks, .grid = tl_terrain_grid(&blocks->terrain)};
  double *map = NULL, *scratch = NULL;
  size_t cells = (size_t)(m.grid.nx * m.grid.ny);
  TlStatus status = TL_NEW(m.stopped, cells);
  if (status == TL_OK) status = TL_NEW(m.solid_m3, cells);
  if (status == TL_OK) status = tl_blocks_read_cells(blocks, runs, &m.entry, &m.entries);
  m.capacity = (size_t)m.entries;
  if (status == TL_OK) status = walk_blocks(&m);
  if (status == TL_OK) merge(&m);
  if (status == TL_OK) status = TL_NEW(map, cells);
  if (status == TL_OK) status = TL_NEW(scratch, (size_t)blocks->count);
  if (status == TL_OK)
    status = write_maps(&m, &(Out){folder, extension, overwrite, release_per_year}, map, scratch);
  if (status == TL_OK) status = report(&m, figures);
  tl_free(m.entry);
  tl_free(m.stopped);
  tl_free(m.solid_m3);
  tl_free(map);
  tl_free(scratch);
  return status;
}
