#include "post/maps.h"

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "io/raster.h"
#include "num/quantile.h"
#include "post/blocks.h"
#include "post/run_caption.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const value_name[TL_CELL_VALUES] = {[TL_CELL_SPEED] = "speed_m_s",
                                                       [TL_CELL_ENERGY] = "energy_kJ",
                                                       [TL_CELL_TRANSLATIONAL] = "translational_kJ",
                                                       [TL_CELL_ROTATIONAL] = "rotational_kJ",
                                                       [TL_CELL_JUMP] = "jump_height_m"};

/* What they are, for a reader of the raster. */
static const struct {
  const char *text, *unit;
} value_about[TL_CELL_VALUES] = {
    [TL_CELL_SPEED] = {"speed of the mass centre", "m/s"},
    [TL_CELL_ENERGY] = {"kinetic energy", "kJ"},
    [TL_CELL_TRANSLATIONAL] = {"kinetic energy of the translation", "kJ"},
    [TL_CELL_ROTATIONAL] = {"kinetic energy of the rotation", "kJ"},
    [TL_CELL_JUMP] = {"height of the mass centre above the ground, upright", "m"}};

typedef struct Maps {
  const TlBlocks *blocks;
  TlTerrainGrid grid;
  TlBlockCell *entry;
  int64_t entries;
  size_t capacity;
  double largest_leg; /* in cells */
  char *caption;
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

/* Paths of the runs that have no cells.csv. */
static TlStatus walk_blocks(Maps *m) {
  TlStatus status = TL_OK;
  for (int64_t i = 0; status == TL_OK && i < m->blocks->count; i++)
    if (!m->blocks->every_step[m->blocks->block[i].run]) status = walk_block(m, i);
  return status;
}

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

TlStatus tl_maps_cells(const TlBlocks *blocks, const char *const *runs, TlBlockCell **entry,
                       int64_t *entries, double *largest_leg) {
  Maps m = {.blocks = blocks, .grid = tl_terrain_grid(&blocks->terrain)};
  TlStatus status = tl_blocks_read_cells(blocks, runs, &m.entry, &m.entries);
  m.capacity = (size_t)m.entries;
  if (status == TL_OK) status = walk_blocks(&m);
  if (status == TL_OK) merge(&m);
  if (status != TL_OK) TL_FREE(m.entry);
  *entry = m.entry;
  *entries = status == TL_OK ? m.entries : 0;
  *largest_leg = m.largest_leg;
  return status;
}

/* ---- rasters ---- */

TlStatus tl_maps_caption(const TlBlocks *blocks, const char *const *runs, char **text) {
  TlGrowingText all = {0};
  TlStatus status = TL_OK;
  for (int64_t i = 0; status == TL_OK && i < blocks->runs; i++) {
    char *line = NULL;
    status = tl_run_caption(runs[i], &line);
    if (status == TL_OK) status = tl_text_add(&all, "\n", line);
    if (status == TL_OK && !blocks->every_step[i])
      status = tl_text_add(&all, "; ", "of stored frames only, between which peaks are missed");
    tl_free(line);
  }
  if (status != TL_OK) TL_FREE(all.text);
  *text = all.text;
  return status;
}

TlStatus tl_maps_raster(const TlBlocks *blocks, const TlMapFile *f, double *value) {
  const TlTerrain *t = &blocks->terrain;
  TlTerrainGrid grid = tl_terrain_grid(t);
  char *about = f->caption ? tl_format("%s\n%s", f->meaning ? f->meaning : f->name, f->caption)
                           : tl_strdup(f->meaning ? f->meaning : f->name);
  TlRaster raster = {.nx = grid.nx,
                     .ny = grid.ny,
                     .cell_m = grid.cell_m,
                     .east_m = t->origin[0] + grid.x0_m,
                     .north_m = t->origin[1] + grid.y0_m,
                     .height_m = value,
                     .crs = t->crs,
                     .name = f->name,
                     .unit = f->unit,
                     .about = about,
                     .colour = f->colour,
                     .colours = f->colours};
  char *file = tl_format("%s.%s", f->name, f->extension);
  char *path = file ? tl_path_join(f->folder, file) : NULL;
  TlStatus status = path && about ? tl_raster_write(&raster, path, f->overwrite) : TL_ENOMEM;
  tl_free(about);
  tl_free(file);
  tl_free(path);
  return status;
}

static TlMapFile map_file(const Maps *m, const TlMapOptions *out, const char *name,
                          const char *unit, const char *meaning) {
  return (TlMapFile){.folder = out->folder,
                     .extension = out->extension,
                     .overwrite = out->overwrite,
                     .name = name,
                     .unit = unit,
                     .meaning = meaning,
                     .caption = m->caption};
}

static TlStatus write_map(const Maps *m, const TlMapOptions *out, const char *name,
                          const char *unit, const char *meaning, double *value) {
  TlMapFile file = map_file(m, out, name, unit, meaning);
  return tl_maps_raster(m->blocks, &file, value);
}

/* For readers of rasters that hold no words. */
static TlStatus write_caption(const Maps *m, const TlMapOptions *out) {
  char *path = tl_path_join(out->folder, "maps.txt");
  char *text = tl_format("%s\n", m->caption);
  TlStatus status =
      path && text ? tl_file_write(path, text, strlen(text), out->overwrite) : TL_ENOMEM;
  tl_free(path);
  tl_free(text);
  return status;
}

static double statistic(double *value, int64_t n, int which) {
  static const double quantile[] = {0.5, 0.9, 0.95, 0.99};
  double sum = 0;
  if (which == 0) return tl_quantile(value, n, 1);
  if (which > 1) return tl_quantile(value, n, quantile[which - 2]);
  for (int64_t i = 0; i < n; i++) sum += value[i];
  return sum / (double)n;
}

static TlStatus write_value(const Maps *m, const TlMapOptions *out, TlCellValue k, double *map,
                            double *scratch) {
  static const char *const name[] = {"max", "mean", "p50", "p90", "p95", "p99"};
  static const char *const what[] = {"largest",      "mean",         "median",
                                     "90% quantile", "95% quantile", "99% quantile"};
  TlStatus status = TL_OK;
  for (int s = 0; status == TL_OK && s < 6; s++) {
    for (int64_t i = 0; i < m->grid.nx * m->grid.ny; i++) map[i] = NAN;
    for (int64_t i = 0, n; i < m->entries; i += n) {
      for (n = 0; i + n < m->entries && m->entry[i + n].cell == m->entry[i].cell; n++)
        scratch[n] = m->entry[i + n].value[k];
      map[m->entry[i].cell] = statistic(scratch, n, s);
    }
    char *file = tl_format("%s_%s", value_name[k], name[s]);
    char *meaning =
        tl_format("%s: %s of the blocks that pass the cell, each with its largest value in it",
                  value_about[k].text, what[s]);
    status =
        file && meaning ? write_map(m, out, file, value_about[k].unit, meaning, map) : TL_ENOMEM;
    tl_free(file);
    tl_free(meaning);
  }
  return status;
}

static int falling(const void *one, const void *two) {
  double a = *(const double *)one, b = *(const double *)two;
  return (a < b) - (a > b);
}

/* The largest value in the cell of each release that passes, of the n entries of the cell; how many. */
static int64_t of_releases(const Maps *m, const TlBlockCell *entry, int64_t n, TlCellValue k,
                           double *value) {
  int64_t count = 0;
  for (int64_t i = 0; i < n; i++) {
    const TlBlock *b = m->blocks->block;
    bool more = i > 0 && tl_blocks_together(&b[entry[i - 1].block], &b[entry[i].block]);
    if (!more) value[count++] = entry[i].value[k];
    value[count - 1] = fmax(value[count - 1], entry[i].value[k]);
  }
  return count;
}

static int64_t of_cell(const Maps *m, int64_t first) {
  int64_t n = 1;
  while (first + n < m->entries && m->entry[first + n].cell == m->entry[first].cell) n++;
  return n;
}

/* The time in which so many releases come as the runs have. */
static double sampled_years(const Maps *m, const TlMapOptions *out) {
  return (double)m->blocks->releases / out->release_per_year;
}

/* Leaves the intensities in map. The energy that is exceeded less often than once in these years, of
 * releases that come as often as release_per_year says: of the n releases of which a block passes a cell
 * the (k + 1)th largest, k the most releases that are still fewer than one in that time. None where those
 * that pass are. Its Swiss intensity: 1 up to 30 kJ, 2 up to 300 kJ, 3 above. */
static TlStatus write_return(const Maps *m, const TlMapOptions *out, int years, double *map,
                             double *scratch) {
  double sampled = sampled_years(m, out), periods = sampled / years;
  int64_t k = (int64_t)fmin(fmax(0, ceil(periods * (1 - 1e-12)) - 1), 1e18);
  int64_t cells = m->grid.nx * m->grid.ny;
  char name[48], meaning[320], of[120];
  for (int64_t i = 0; i < cells; i++) map[i] = NAN;
  for (int64_t i = 0, n; i < m->entries; i += n) {
    n = of_cell(m, i);
    int64_t passed = of_releases(m, m->entry + i, n, TL_CELL_ENERGY, scratch);
    if (passed <= k) continue;
    qsort(scratch, (size_t)passed, sizeof *scratch, falling);
    map[m->entry[i].cell] = scratch[k];
  }
  snprintf(of, sizeof of, "%.6g releases a year, by the %lld releases of %.4g years%s",
           out->release_per_year, (long long)m->blocks->releases, sampled,
           periods < 1 ? ", the largest of which is too small for it" : "");
  snprintf(name, sizeof name, "energy_kJ_%dy", years);
  snprintf(meaning, sizeof meaning,
           "kinetic energy that is exceeded in the cell less often than once in %d years, of %s",
           years, of);
  TL_TRY(write_map(m, out, name, "kJ", meaning, map));
  for (int64_t i = 0; i < cells; i++)
    if (!isnan(map[i])) map[i] = map[i] > 300 ? 3 : map[i] > 30 ? 2 : 1;
  snprintf(name, sizeof name, "intensity_%dy", years);
  snprintf(
      meaning, sizeof meaning,
      "intensity of events of %d years: 1 weak, up to 30 kJ; 2 medium, up to 300 kJ; 3 strong; "
      "of %s",
      years, of);
  return write_map(m, out, name, "", meaning, map);
}

/* ---- danger ---- */

enum { PERIODS = 3, INTENSITIES = 3, RESIDUAL = 1, HIGH = 4 };
static const int years[PERIODS] = {30, 100, 300};
static const TlRasterColour danger_colour[] = {
    {RESIDUAL, 255, 252, 200}, {2, 250, 225, 70}, {3, 75, 135, 215}, {HIGH, 225, 55, 45}};
static const char *const danger_name[] = {"danger_cells_residual", "danger_cells_low_yellow",
                                          "danger_cells_medium_blue", "danger_cells_high_red"};

typedef struct Matrix {
  int level[INTENSITIES][PERIODS]; /* weak first */
} Matrix;

static TlStatus read_matrix(const char *text, Matrix *matrix) {
  static const char letters[] = "ybr";
  const char *at = text;
  for (int row = INTENSITIES - 1; row >= 0; row--) {
    for (int k = 0; k < PERIODS; k++) {
      const char *letter = *at ? strchr(letters, *at++) : NULL;
      if (!letter) goto wrong;
      matrix->level[row][k] = 2 + (int)(letter - letters);
    }
    if (*at != (row > 0 ? '/' : 0)) goto wrong;
    at += row > 0;
  }
  return TL_OK;
wrong:
  return tl_fail(
      TL_EUSAGE,
      "--danger=%s is no matrix: three letters each, r (red), b (blue) or y (yellow), for "
      "strong, medium and weak intensity, of events of up to 30, 100 and 300 years, as in "
      "rrr/bby/byy",
      text);
}

/* Cells that are passed, and more rarely than once in 300 years, are left at the residual level. */
static TlStatus write_danger(const Maps *m, const TlMapOptions *out, double *level,
                             TlFigures *figures) {
  double count[HIGH] = {0};
  for (int64_t i = 0; i < m->grid.nx * m->grid.ny; i++)
    if (!isnan(level[i])) count[(int)level[i] - RESIDUAL]++;
  for (int k = 0; k < HIGH; k++)
    TL_TRY(tl_figures_add(figures, danger_name[k], count[k], "", "post/maps.h"));
  char meaning[320];
  snprintf(meaning, sizeof meaning,
           "danger level of single cells by the matrix %s: 1 residual, 2 low (yellow), 3 medium "
           "(blue), 4 high (red); of %.6g releases a year, by %.4g years of them; the matrix was "
           "given for this map and was not compared with a guideline",
           out->danger, out->release_per_year, sampled_years(m, out));
  TlMapFile file = map_file(m, out, "danger", "", meaning);
  if (strcmp(out->extension, "tif") == 0) file.colour = danger_colour;
  file.colours = HIGH;
  return tl_maps_raster(m->blocks, &file, level);
}

/* As for quantiles of runouts, ten releases should lie beyond: they come in ten periods. */
static void warn_of_periods(const Maps *m, const TlMapOptions *out) {
  enum { BEYOND = 10 };
  double sampled = sampled_years(m, out);
  int longest = years[PERIODS - 1];
  if (sampled < longest)
    tl_log_warn("%lld releases, of which %.6g come a year, are those of %.4g years: maps of %d "
                "years%s hold the largest energies of the sample, which are too small, and cells "
                "that no block reached look safer than they are; %.0f releases make %d years, %.0f "
                "ten times as many",
                (long long)m->blocks->releases, out->release_per_year, sampled, longest,
                out->danger ? " and danger levels" : "", ceil(longest * out->release_per_year),
                longest, ceil(BEYOND * longest * out->release_per_year));
  else if (sampled < BEYOND * longest)
    tl_log_warn("%lld releases, of which %.6g come a year, are those of %.4g years: maps of %d "
                "years rest on fewer than %d of them in a cell; %.0f releases would do",
                (long long)m->blocks->releases, out->release_per_year, sampled, longest, BEYOND,
                ceil(BEYOND * longest * out->release_per_year));
}

static TlStatus write_periods(const Maps *m, const TlMapOptions *out, double *map, double *scratch,
                              TlFigures *figures) {
  int64_t cells = m->grid.nx * m->grid.ny;
  Matrix matrix;
  double *level = NULL;
  TlStatus status = TL_OK;
  if (out->danger) {
    TL_TRY(read_matrix(out->danger, &matrix));
    TL_TRY(TL_NEW(level, (size_t)cells));
    for (int64_t i = 0; i < cells; i++) level[i] = NAN;
    for (int64_t i = 0; i < m->entries; i++) level[m->entry[i].cell] = RESIDUAL;
  }
  TL_TRY_GOTO(
      status,
      tl_figures_add(figures, "map_years_of_releases", sampled_years(m, out), "a", "post/maps.h"),
      done);
  warn_of_periods(m, out);
  for (int k = 0; status == TL_OK && k < PERIODS; k++) {
    status = write_return(m, out, years[k], map, scratch);
    for (int64_t i = 0; level && status == TL_OK && i < cells; i++)
      if (!isnan(map[i])) level[i] = fmax(level[i], matrix.level[(int)map[i] - 1][k]);
  }
  if (status == TL_OK && level) status = write_danger(m, out, level, figures);
done:
  tl_free(level);
  return status;
}

/* ---- all maps ---- */

static TlStatus write_deposit(const Maps *m, const TlMapOptions *out, double *map, double *stops) {
  int64_t cells = m->grid.nx * m->grid.ny;
  double *count;
  TL_TRY(TL_NEW(count, (size_t)cells));
  *stops = 0;
  for (int64_t i = 0; i < cells; i++) map[i] = count[i] = 0;
  for (int64_t i = 0; i < m->blocks->count; i++) {
    const TlBlock *b = &m->blocks->block[i];
    TlVec3 end = m->blocks->moment[b->first + b->count - 1].place_m;
    int64_t cell = tl_terrain_grid_at(&m->grid, end.x, end.y);
    if (b->end == TL_FATE_LEFT || b->end == TL_FATE_UNRESOLVED || cell < 0) continue;
    count[cell]++;
    map[cell] += b->volume_m3;
    ++*stops;
  }
  TlStatus status = write_map(m, out, "deposit_count", "", "blocks in the last frame", count);
  tl_free(count);
  if (status == TL_OK)
    status = write_map(m, out, "deposit_volume_m3", "m3",
                       "solid volume of the blocks in the last frame", map);
  for (int64_t i = 0; i < cells; i++) map[i] /= m->grid.cell_m * m->grid.cell_m;
  return status == TL_OK
             ? write_map(m, out, "deposit_thickness_m", "m",
                         "solid volume of the blocks in the last frame over the area of the cell",
                         map)
             : status;
}

/* Cells without data that were filled; nothing where all were measured. Not known which: no raster. */
static TlStatus write_filled(const Maps *m, const TlMapOptions *out, double *map) {
  const TlTerrain *t = &m->blocks->terrain;
  int64_t n = t->refined > 1 ? t->refined : 1;
  if (!t->filled) return TL_OK;
  for (int64_t j = 0; j < m->grid.ny; j++)
    for (int64_t i = 0; i < m->grid.nx; i++)
      map[j * m->grid.nx + i] = t->filled[j * n * t->nx + i * n] ? 1 : NAN;
  return write_map(m, out, "filled_ground", "",
                   "1 where the elevation had no data and was filled in", map);
}

static TlStatus write_maps(const Maps *m, const TlMapOptions *out, double *map, double *scratch,
                           TlFigures *figures, double *stops) {
  int64_t cells = m->grid.nx * m->grid.ny;
  TL_TRY(tl_dir_make(out->folder));
  TL_TRY(write_caption(m, out));
  for (int64_t i = 0; i < cells; i++) map[i] = 0;
  for (int64_t i = 0; i < m->entries; i++) map[m->entry[i].cell] += 1;
  TL_TRY(write_map(m, out, "passages", "", "blocks whose mass centre passed the cell", map));
  for (int64_t i = 0; i < cells; i++) map[i] = 0;
  for (int64_t i = 0, n; i < m->entries; i += n) {
    n = of_cell(m, i);
    map[m->entry[i].cell] = (double)of_releases(m, m->entry + i, n, TL_CELL_ENERGY, scratch) /
                            (double)m->blocks->releases;
  }
  TL_TRY(write_map(m, out, "reach_probability", "",
                   "share of the releases of which a block passed the cell", map));
  TL_TRY(write_deposit(m, out, map, stops));
  TL_TRY(write_filled(m, out, map));
  for (int k = 0; k < TL_CELL_VALUES; k++)
    TL_TRY(write_value(m, out, (TlCellValue)k, map, scratch));
  return out->release_per_year > 0 ? write_periods(m, out, map, scratch, figures) : TL_OK;
}

static TlStatus report(const Maps *m, double stopped, TlFigures *figures) {
  double passed = 0;
  int64_t unresolved = 0;
  for (int64_t i = 0; i < m->blocks->count; i++)
    unresolved += m->blocks->block[i].end == TL_FATE_UNRESOLVED;
  for (int64_t i = 0; i < m->entries; i++)
    passed += i == 0 || m->entry[i].cell != m->entry[i - 1].cell;
  TL_TRY(tl_figures_add(figures, "map_blocks", (double)m->blocks->count, "", "post/maps.h"));
  TL_TRY(tl_figures_add(figures, "map_releases", (double)m->blocks->releases, "", "post/maps.h"));
  TL_TRY(tl_figures_add(figures, "map_blocks_in_last_frame", stopped, "", "post/maps.h"));
  TL_TRY(tl_figures_add(figures, "map_blocks_unresolved", (double)unresolved, "", "post/maps.h"));
  TL_TRY(tl_figures_add(figures, "map_blocks_stopped_on_filled",
                        tl_blocks_stopped_on_filled(m->blocks), "", "post/maps.h"));
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

TlStatus tl_maps_write(const TlBlocks *blocks, const char *const *runs, const TlMapOptions *options,
                       TlFigures *figures) {
  Maps m = {.blocks = blocks, .grid = tl_terrain_grid(&blocks->terrain)};
  double *map = NULL, *scratch = NULL, stops = 0;
  Matrix matrix;
  if (options->danger) TL_TRY(read_matrix(options->danger, &matrix));
  if (options->danger && !(options->release_per_year > 0))
    return tl_fail(
        TL_EINPUT,
        "danger levels want to know how often blocks come: give --release-per-year, or "
        "release.blocks_per_year (releases_per_year, where several start together) in the study, "
        "the same one in all runs");
  TlStatus status = tl_maps_cells(blocks, runs, &m.entry, &m.entries, &m.largest_leg);
  if (status == TL_OK) status = tl_maps_caption(blocks, runs, &m.caption);
  if (status == TL_OK) status = TL_NEW(map, (size_t)(m.grid.nx * m.grid.ny));
  if (status == TL_OK) status = TL_NEW(scratch, (size_t)blocks->count);
  if (status == TL_OK) status = write_maps(&m, options, map, scratch, figures, &stops);
  if (status == TL_OK) status = report(&m, stops, figures);
  tl_free(m.entry);
  tl_free(m.caption);
  tl_free(map);
  tl_free(scratch);
  return status;
}
