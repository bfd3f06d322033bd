/* Tschamut 2014: 80 releases of three blocks on a meadow, with measured places of release and stop.
 * Each block runs alone. What is not measured was named before the first run and is not tuned:
 * ground `medium`, roughness of 0.15 mean block diameters (6 cm) every 0.5 m, random attitudes, and
 * blocks with the measured mass and box in the shape of a truncated octahedron, which fills half of
 * its box. The public raster goes on beyond the last stops with a slope of 25 degrees that is not
 * there; ground lower than that of the lowest stop is levelled. */
#include "judge/blocks.h"
#include "judge/cases.h"
#include "judge/judge.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/provenance.h"
#include "base/random.h"
#include "io/csv_table.h"
#include "io/raster.h"
#include "num/vec.h"
#include "shape/moving.h"
#include "shape/terrain_build.h"
#include "store/catalog.h"
#include "talus.h"

#include <math.h>
#include <string.h>

enum {
  BLOCKS = 3,
  SETTINGS = 4,
  RELEASES = 80,
  MOST_ATTITUDES = 4,
  MOST = RELEASES * MOST_ATTITUDES
};
static const double STEP_S = 2e-3, MOST_S = 40, STARTED_M = 5, QUIET_S = 1;

typedef struct Block {
  const char *number;
  double mass_kg, size_m[3];
} Block;
static const Block blocks[BLOCKS] = {
    {"1", 69, {0.37, 0.32, 0.37}}, {"2", 79, {0.50, 0.30, 0.39}}, {"4", 40, {0.46, 0.30, 0.20}}};

typedef struct Setting {
  const char *ground;
  double roughness_m;
} Setting;
static const Setting settings[SETTINGS] = {
    {"medium", 0.06}, {"medium", 0}, {"medium-soft", 0.06}, {"medium-hard", 0.06}};

typedef enum End { STOPPED, LEFT, MOVING, ENDS } End;

typedef struct Paths {
  int count, end[ENDS], false_toe;
  double runout_m[MOST];
} Paths;

typedef struct Site {
  TlTable table; /* of releases and stops */
  double origin[3], lowest_m;
  TlTerrain terrain;
  const char *folder;
} Site;

static double cell(const Site *s, int64_t row, const char *name) {
  int column;
  double value;
  JUDGE_OK(tl_table_need(&s->table, name, &column));
  JUDGE_OK(tl_table_number(&s->table, row, column, &value));
  return value;
}

/* ---- files of the study ---- */

/* In a process of its own: what reads foreign files for it must not be shared by the cases. */
static void make_catalog(int which, void *result, void *context) {
  const Site *s = context;
  TlProvenance p;
  TlRaster r = {0};
  TlCatalog *catalog;
  TlTerrain terrain = {0};
  int64_t id;
  (void)which, (void)result;
  JUDGE_OK(tl_raster_read(&r, "data/tschamut_2014.asc", &(TlRasterOptions){.metres = true}));
  for (int64_t k = 0; k < r.nx * r.ny; k++) r.height_m[k] = fmax(r.height_m[k], s->lowest_m);
  TlTerrainSource source = {"tschamut", "", r.nx, r.ny, r.cell_m, r.east_m, r.north_m, r.height_m};
  JUDGE_OK(tl_terrain_build(&terrain, &source, &(TlTerrainOptions){.band_cells = 3, .refine = 1}));
  remove(judge_path("tschamut.tals"));
  JUDGE_OK(tl_catalog_open(&catalog, judge_path("tschamut.tals"), TL_CATALOG_CREATE));
  tl_provenance_begin(&p, "val_tschamut", 1, (char *[]){"val_tschamut", NULL});
  JUDGE_OK(tl_catalog_begin(catalog, &p, NULL));
  JUDGE_OK(tl_catalog_add_terrain(catalog, &terrain, false, &id));
  JUDGE_OK(tl_catalog_commit(catalog));
  tl_catalog_close(catalog);
  tl_provenance_free(&p);
  tl_terrain_free(&terrain);
  tl_raster_free(&r);
}

static void load_terrain(Site *s) {
  TlCatalog *catalog;
  JUDGE_OK(tl_catalog_open(&catalog, judge_path("tschamut.tals"), TL_CATALOG_READ));
  JUDGE_OK(tl_catalog_load_terrain(catalog, "tschamut", &s->terrain));
  tl_catalog_close(catalog);
  memcpy(s->origin, s->terrain.origin, sizeof s->origin);
}

/* ---- runs ---- */

static TalusModel *open_model(const Site *s, const Setting *how, const Block *b, uint64_t seed) {
  char text[1400];
  TalusModel *model;
  double box = b->size_m[0] * b->size_m[1] * b->size_m[2];
  snprintf(text, sizeof text,
           "catalog: tschamut.tals\nseed: %llu\noutside: remove\n"
           "time: {dt_s: %g, duration_s: %g}\n"
           "shapes: [{name: block, kind: mesh, file: block-%s.obj, unit: m}]\n"
           "grains: {density_kg_m3: %.17g}\n"
           "bodies: [{shape: block, position_m: [50, 100, 0], above_ground_m: 1}]\n"
           "terrain: {name: tschamut, ground: %s, roughness_m: %g}\n",
           (unsigned long long)seed, STEP_S, MOST_S, b->number, b->mass_kg / (0.5 * box),
           how->ground, how->roughness_m);
  char *name = tl_path_join(s->folder, "study.yaml");
  if (!name || talus_model_open_text(&model, name, text, NULL, 0) != TALUS_OK)
    JUDGE_OK(tl_fail(TL_EINPUT, "%s", talus_message()));
  tl_free(name);
  return model;
}

/* Until it is at rest, has left, or time is over. */
static End run_block(TalusState *state, TalusWorkspace *work, double size_m, double end[3]) {
  enum { EVERY = 20 };
  double quiet = 0;
  while (talus_state_time_s(state) < MOST_S && quiet < QUIET_S) {
    if (talus_step(state, work, EVERY) != TALUS_OK)
      JUDGE_OK(tl_fail(TL_ELIMIT, "%s", talus_message()));
    if (talus_state_count(state) == 0) return LEFT;
    const double *v = talus_state_velocities_m_s(state), *w = talus_state_spins_rad_s(state);
    double pace = tl_pace(tl_vec3(v[0], v[1], v[2]), tl_vec3(w[0], w[1], w[2]), size_m, 9.81);
    quiet = pace > tl_moving_pace ? 0 : quiet + EVERY * STEP_S;
    memcpy(end, talus_state_positions_m(state), 3 * sizeof *end);
  }
  return quiet < QUIET_S ? MOVING : STOPPED;
}

static void release(const Site *s, const Block *b, TalusState *start, TalusWorkspace *work,
                    int64_t row, TlRandom *x, Paths *paths) {
  TalusState *state;
  double reach = 0.5 * sqrt(b->size_m[0] * b->size_m[0] + b->size_m[1] * b->size_m[1] +
                            b->size_m[2] * b->size_m[2]);
  double at[3] = {cell(s, row, "release_x_m") - s->origin[0],
                  cell(s, row, "release_y_m") - s->origin[1], 0},
         end[3] = {at[0], at[1], at[2]};
  double velocity[3] = {cell(s, row, "velocity_x_m_s"), cell(s, row, "velocity_y_m_s"),
                        cell(s, row, "velocity_z_m_s")};
  TlQuat q = judge_attitude(x);
  double turn[4] = {q.w, q.x, q.y, q.z}, still[3] = {0, 0, 0};
  if (!tl_terrain_height(&s->terrain, at[0], at[1], &at[2], NULL))
    JUDGE_OK(tl_fail(TL_EINPUT, "a release without ground"));
  at[2] += reach + 0.15;
  if (talus_state_clone(&state, start) != TALUS_OK ||
      talus_state_set_body(state, talus_state_ids(state)[0], at, turn, velocity, still) != TALUS_OK)
    JUDGE_OK(tl_fail(TL_EINPUT, "%s", talus_message()));
  paths->end[run_block(state, work, 2 * reach, end)]++;
  double ground;
  if (tl_terrain_height(&s->terrain, end[0], end[1], &ground, NULL))
    paths->false_toe += ground + s->origin[2] < s->lowest_m + 0.01;
  paths->runout_m[paths->count++] = hypot(end[0] - at[0], end[1] - at[1]);
  talus_state_free(state);
}

/* Case: a setting and a block. */
static void run_case(int which, void *result, void *context) {
  Site own = *(const Site *)context, *s = &own;
  const Setting *how = &settings[which / BLOCKS];
  const Block *b = &blocks[which % BLOCKS];
  Paths *paths = result;
  int number, attitudes = judge_full() ? MOST_ATTITUDES : 1;
  JUDGE_OK(tl_table_need(&s->table, "block", &number));
  load_terrain(s);
  for (int k = 0; k < attitudes; k++) {
    TlRandom x = {2014 + (uint64_t)k, (uint64_t)(which % BLOCKS), 0};
    TalusModel *model = open_model(s, how, b, 1 + (uint64_t)k);
    TalusState *start;
    TalusWorkspace *work;
    if (talus_state_new(&start, model) != TALUS_OK || talus_workspace_new(&work, model) != TALUS_OK)
      JUDGE_OK(tl_fail(TL_EINPUT, "%s", talus_message()));
    for (int64_t i = 0; i < s->table.rows; i++)
      if (strcmp(tl_table_text(&s->table, i, number), b->number) == 0)
        release(s, b, start, work, i, &x, paths);
    talus_workspace_free(work);
    talus_state_free(start);
    talus_model_free(model);
  }
  tl_terrain_free(&own.terrain);
}

/* ---- figures ---- */

typedef struct Spread {
  double mean, deviation;
  int count, never;
} Spread;

/* Of those that started. */
static Spread spread_of(const Paths *paths, int count) {
  Spread s = {0};
  double sum = 0, squares = 0;
  for (int i = 0; i < count; i++)
    for (int k = 0; k < paths[i].count; k++) {
      double x = paths[i].runout_m[k];
      if (x < STARTED_M) {
        s.never++;
        continue;
      }
      s.count++;
      sum += x;
      squares += x * x;
    }
  s.mean = sum / s.count;
  s.deviation = sqrt((squares - sum * sum / s.count) / (s.count - 1));
  return s;
}

int main(int argc, char **argv) {
  judge_open("tschamut", argc, argv);
  Site site = {.lowest_m = INFINITY, .folder = judge_dir()};
  Paths measured = {0};
  JUDGE_OK(tl_table_read("data/tschamut_2014.csv", &site.table));
  for (int64_t i = 0; i < site.table.rows; i++) {
    site.lowest_m = fmin(site.lowest_m, cell(&site, i, "stop_ground_m"));
    measured.runout_m[measured.count++] = cell(&site, i, "runout_m");
  }
  Spread truth = spread_of(&measured, 1);
  judge_cases(&(JudgeCases){1, sizeof(int), make_catalog, &site, NULL});
  for (int b = 0; b < BLOCKS; b++) {
    char name[32];
    snprintf(name, sizeof name, "block-%s.obj", blocks[b].number);
    judge_write_octahedron(judge_path(name), blocks[b].size_m);
  }
  talus_set_quiet(1);
  const Paths *paths =
      judge_cases(&(JudgeCases){SETTINGS * BLOCKS, sizeof(Paths), run_case, &site, NULL});
  for (int k = 0; k < SETTINGS; k++) {
    const Paths *w = paths + k * BLOCKS;
    Spread s = spread_of(w, BLOCKS);
    int end[ENDS] = {0}, toe = 0;
    for (int b = 0; b < BLOCKS; b++) {
      toe += w[b].false_toe;
      for (int e = 0; e < ENDS; e++) end[e] += w[b].end[e];
    }
    judge_note(
        "Ground %s, roughness %g m: runout %.1f m, deviation %.1f m (measured %.1f and %.1f); "
        "by block %.1f, %.1f, %.1f m; of %d blocks %d never started, %d stopped, %d left the "
        "raster, %d still moved after %g s, %d ended on levelled ground.",
        settings[k].ground, settings[k].roughness_m, s.mean, s.deviation, truth.mean,
        truth.deviation, spread_of(w, 1).mean, spread_of(w + 1, 1).mean, spread_of(w + 2, 1).mean,
        s.count + s.never, s.never, end[STOPPED], end[LEFT], end[MOVING], MOST_S, toe);
    if (k > 0) continue;
    judge_at_most(JUDGE_GOAL, "tschamut_mean_error", 100 * fabs(s.mean / truth.mean - 1), "%", 10);
    judge_at_most(JUDGE_GOAL, "tschamut_deviation_error",
                  100 * fabs(s.deviation / truth.deviation - 1), "%", 25);
  }
  tl_table_free(&site.table);
  return judge_close();
}
