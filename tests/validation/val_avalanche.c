/* Avalanches on a 25 degree slope: level and 3 degree run-out, and against a single and a double
 * net (Tan 2024, 6.3, Figs. 13-15; Tan 2022, 5.6.3). */
#include "validation/pictures.h"

#include "base/provenance.h"
#include "post/measure.h"
#include "run/run.h"
#include "shape/terrain_build.h"

#include <math.h>
#include <string.h>

/* ---- terrain ---- */

static const double RAD = 0.017453292519943295;
enum { CELL = 1, ROOM = 8 }; /* m: of the raster; over which the slope bends */

typedef struct Ground {
  int nx, ny;
  double foot; /* x where the slope ends */
} Ground;

static Ground ground_of(void) {
  return judge_full() ? (Ground){.nx = 200, .ny = 110, .foot = 80}
                      : (Ground){.nx = 100, .ny = 43, .foot = 40};
}

/* 25 degrees down to the foot, then `runout_deg`; a shallow channel that opens towards the foot. */
static void heights(const Ground *g, double runout_deg, double *height) {
  double level = 100;
  for (int i = 0; i < g->nx; i++) {
    double x = i * CELL, part = fmin(1, fmax(0, (x - g->foot + ROOM) / ROOM));
    double channel = 0.02 * fmin(1, fmax(0, (g->foot - x) / 15));
    for (int j = 0; j < g->ny; j++) {
      double y = j * CELL - 0.5 * (g->ny - 1) * CELL;
      height[j * g->nx + i] = level + channel * y * y;
    }
    level -= CELL * tan(RAD * ((1 - part) * 25 + part * runout_deg));
  }
}

static void add_terrain(TlCatalog *catalog, const char *name, double runout_deg) {
  Ground g = ground_of();
  double *height;
  TlTerrain terrain = {0};
  int64_t id;
  JUDGE_OK(TL_NEW(height, (size_t)(g.nx * g.ny)));
  heights(&g, runout_deg, height);
  TlTerrainSource source = {name, "", g.nx, g.ny, CELL, 0, 0, height};
  TlTerrainOptions options = {.band_cells = 4, .refine = 1};
  JUDGE_OK(tl_terrain_build(&terrain, &source, &options));
  JUDGE_OK(tl_catalog_add_terrain(catalog, &terrain, false, &id));
  tl_terrain_free(&terrain);
  tl_free(height);
}

static void make_catalog(const char *path, int argc, char **argv) {
  TlCatalog *catalog;
  TlProvenance p;
  remove(path);
  tl_provenance_begin(&p, "val_avalanche", argc, argv);
  JUDGE_OK(tl_catalog_open(&catalog, path, TL_CATALOG_CREATE));
  JUDGE_OK(tl_catalog_begin(catalog, &p, NULL));
  add_terrain(catalog, "flat", 0);
  add_terrain(catalog, "tilted", 3);
  JUDGE_OK(tl_catalog_commit(catalog));
  tl_catalog_close(catalog);
  tl_provenance_free(&p);
}

/* Height of the ground at the net's foot in the run's frame. */
static double foot_height(const char *path, double x, double y) {
  TlCatalog *catalog;
  TlTerrain terrain;
  double z = 0;
  JUDGE_OK(tl_catalog_open(&catalog, path, TL_CATALOG_READ));
  JUDGE_OK(tl_catalog_load_terrain(catalog, "flat", &terrain));
  if (!tl_terrain_height(&terrain, x, y, &z, NULL))
    judge_ok(tl_fail(TL_EINPUT, "no ground"), "net");
  tl_terrain_free(&terrain);
  tl_catalog_close(catalog);
  return z;
}

/* ---- the four ---- */

typedef struct Outcome {
  double overlap, front, length, height, behind; /* behind: share of the mass before the net's x */
  double kinetic_share, small_m, cpu_step_s;     /* small_m: mean diameter beyond the net */
  double held_m;                                 /* mean diameter behind it */
  int64_t grains, bonds, spheres, outside;
} Outcome;

static double net_x(void) {
  return judge_full() ? 92 : 50;
}

static void look(const TlRun *run, Outcome *o) {
  TlScene scene;
  TlMeasure m;
  TlMeasureOptions options = {0};
  JUDGE_OK(tl_results_read_scene(run->folder, &scene));
  JUDGE_OK(tl_measure_run(run->folder, &scene, &options, &m));
  double all = 0, behind = 0, small = 0, held = 0;
  int64_t passed = 0;
  for (int64_t i = 0; i < m.grain_count; i++) {
    double d = 2 * m.grain[i].radius_m, mass = d * d * d;
    bool stays = m.grain[i].position_m.x < net_x();
    all += mass;
    if (stays) behind += mass;
    passed += !stays;
    *(stays ? &held : &small) += d;
  }
  o->front = m.frame[m.frame_count - 1].front_m;
  o->length = m.deposit.length_m;
  o->height = m.deposit.height_p99_m;
  o->behind = behind / all;
  o->small_m = passed ? small / (double)passed : 0;
  o->held_m = m.grain_count > passed ? held / (double)(m.grain_count - passed) : 0;
  o->grains = m.grain_count;
  tl_measure_free(&m);
  tl_scene_free(&scene);
}

static Outcome run_one(TlComm *comm, const char *study, const char *name, const char *const *sets,
                       int count, const char *picture) {
  TlRun run;
  TlTexts list = {(char **)(uintptr_t)sets, count};
  Outcome o = {0};
  TlRunOptions options = {.study = study,
                          .sets = &list,
                          .catalog = judge_path("terrain.sqlite"),
                          .output = judge_path(name),
                          .overwrite = true};
  JUDGE_OK(tl_run_open(&run, comm, &options));
  JUDGE_OK(tl_run_go(&run));
  const TlRunTotals *t = &run.totals;
  look(&run, &o);
  o.overlap = fmax(t->overlap_share, t->boundary_overlap_share);
  o.kinetic_share = t->kinetic_J / (t->potential_start_J - t->potential_J);
  o.cpu_step_s = t->cpu_s / (double)t->steps;
  o.bonds = t->last.net_bonds;
  o.spheres = tl_nets_spheres(&run.nets);
  o.outside = t->outside;
  judge_note(
      "%s: front %.1f m from the first mass centre, deposit %.1f m long and %.2f m high (99th "
      "percentile); %.1f%% of the mass before x = %g m; kinetic energy at the end %.2g of what "
      "was lost in height; %lld left the terrain; deepest overlap %.2f%% of a radius (ground "
      "%.2f%%); %.3f CPU-s a step.",
      name, o.front, o.length, o.height, 100 * o.behind, net_x(), o.kinetic_share,
      (long long)o.outside, 100 * t->overlap_share, 100 * t->boundary_overlap_share, o.cpu_step_s);
  double share = 1;
  Gallery g = {.folder = run.folder, .colour = TL_COLOUR_SIZE, .width = 720, .height = 480};
  pictures(&g, 1, &share, &picture);
  if (count && run.nets.count) {
    share = 0.6;
    char middle[64];
    snprintf(middle, sizeof middle, "%.*s_mid.png", (int)(strrchr(picture, '.') - picture),
             picture);
    const char *one = middle;
    pictures(&g, 1, &share, &one);
  }
  tl_run_close(&run);
  return o;
}

static void judge_all(TlComm *comm) {
  char corner[64];
  double z = foot_height(judge_path("terrain.sqlite"), net_x(), judge_full() ? 55 : 21);
  snprintf(corner, sizeof corner, "nets.0.corner_m=[%g,%g,%.9g]", net_x(),
           judge_full() ? 33.0 : 9.0, z + 0.25);
  enum { FULL = 6 };
  static const char *const size[FULL] = {"time.steps=20000",           "release.sizes.0.count=2000",
                                         "release.depth_m=10",         "release.low_m=[3,33,-100]",
                                         "release.high_m=[39,76,100]", "time.frame_every_s=1"};
  const char *sets[FULL + 4];
  int full = judge_full() ? FULL : 0;
  for (int k = 0; k < full; k++) sets[k] = size[k];
  sets[full] = "terrain.name=flat";
  Outcome flat = run_one(comm, "config/validation/avalanche.yaml", "flat", sets, full + 1,
                         "avalanche_flat.png");
  sets[full] = "terrain.name=tilted";
  Outcome tilted = run_one(comm, "config/validation/avalanche.yaml", "tilted", sets, full + 1,
                           "avalanche_tilted.png");
  sets[full] = corner;
  sets[full + 1] = judge_full() ? "nets.0.along_m=[0,44,0]" : "nets.0.along_m=[0,24,0]";
  sets[full + 2] = "nets.0.layers=1";
  Outcome single = run_one(comm, "config/validation/avalanche_net.yaml", "single", sets, full + 3,
                           "avalanche_single.png");
  sets[full + 2] = "nets.0.layers=2";
  Outcome twice = run_one(comm, "config/validation/avalanche_net.yaml", "double", sets, full + 3,
                          "avalanche_double.png");
  double overlap = fmax(fmax(flat.overlap, tilted.overlap), fmax(single.overlap, twice.overlap));
  judge_at_most(JUDGE_CORRECT, "avalanche_overlap_share", overlap, "", 0.02);
  judge_at_least(JUDGE_GOAL, "avalanche_tilted_over_flat_front", tilted.front / flat.front, "", 1);
  judge_at_least(JUDGE_GOAL, "avalanche_held_single", single.behind - flat.behind, "", 0.1);
  judge_at_least(JUDGE_GOAL, "avalanche_held_double", twice.behind - single.behind, "", 0);
  judge_at_most(JUDGE_GOAL, "avalanche_passed_over_held_diameter", single.small_m / single.held_m,
                "", 1);
  judge_paper("avalanche_flat_cpu_s", 20000 * flat.cpu_step_s, 7200, "s/20000 steps",
              "Tan 2024, section 6.3 (number of grains not given)");
  judge_paper("avalanche_net_cpu_s", 20000 * single.cpu_step_s, 18000, "s/20000 steps",
              "Tan 2024, section 6.3 (number of grains not given)");
  judge_note(
      "%lld grains of mass ratio 30. The single net of %lld spheres kept %.1f%% of the mass "
      "that passes x = %g m without it; mean diameter %.2f m beyond it, %.2f m behind it; %lld "
      "of its bonds hold. The double net kept %.1f%%.",
      (long long)flat.grains, (long long)single.spheres,
      100 * (single.behind - flat.behind) / (1 - flat.behind), net_x(), single.small_m,
      single.held_m, (long long)single.bonds,
      100 * (twice.behind - flat.behind) / (1 - flat.behind));
}

int main(int argc, char **argv) {
  TlComm *comm;
  judge_open("avalanche", argc, argv);
  JUDGE_OK(tl_comm_start(&comm, &argc, &argv));
  make_catalog(judge_path("terrain.sqlite"), argc, argv);
  judge_all(comm);
  int status = judge_close();
  tl_comm_stop(comm);
  return status;
}
