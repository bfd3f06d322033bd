#include "judge/ground.h"

#include "judge/judge.h"

#include "base/mem.h"
#include "base/provenance.h"
#include "base/random.h"
#include "phantom/valley.h"
#include "shape/terrain_build.h"
#include "store/catalog.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { N = 160, VALLEYS = 3, MOST_SETS = 16 };
static const double CELL_M = 5;

const JudgeGround judge_ground[JUDGE_GROUNDS] = {{"valley-1", 1, 30, 100},
                                                 {"valley-2", 1, 30, 100},
                                                 {"valley-3", 1, 30, 100},
                                                 {"ridges", 5, 200, 600},
                                                 {"terraces", 5, 200, 600}};

static void add(TlCatalog *catalog, const char *name, int64_t nx, int64_t ny, double cell_m,
                const double *z) {
  TlTerrain terrain = {0};
  int64_t id;
  TlTerrainSource source = {name, "", nx, ny, cell_m, 0, 0, z};
  TlTerrainOptions options = {.band_cells = 3, .refine = 1};
  JUDGE_OK(tl_terrain_build(&terrain, &source, &options));
  JUDGE_OK(tl_catalog_add_terrain(catalog, &terrain, false, &id));
  tl_terrain_free(&terrain);
}

static void add_valley(TlCatalog *catalog, int which) {
  TlValleyOptions options = tl_valley_defaults();
  TlValley valley;
  options.seed = 1 + (uint64_t)which;
  JUDGE_OK(tl_valley_make(&options, &valley));
  add(catalog, judge_ground[which].name, valley.nx, valley.ny, valley.cell_m, valley.height_m);
  tl_valley_free(&valley);
}

/* Sharp crests and furrows on a slope, rough from sample to sample; no data in a corner. */
static double ridge(int i, int j, TlRandom *r) {
  double a = fabs(sin(0.31 * i + 0.11 * j)), b = fabs(sin(0.17 * i - 0.29 * j));
  double z = CELL_M * (0.5 * i + 3 * a + 2 * b + 0.5 * (tl_random_next(r) - 0.5));
  return i + j < 25 ? NAN : z;
}

/* Steps of three cells, each from one sample to the next, with rough treads. */
static double terrace(int i, int j, TlRandom *r) {
  double along = i + 4 * sin(0.2 * j);
  return CELL_M * (3 * floor(along / 9) + 0.02 * along + 0.3 * (tl_random_next(r) - 0.5));
}

void judge_ground_catalog(const char *program, int argc, char **argv) {
  TlCatalog *catalog;
  TlProvenance p;
  double *z;
  const char *path = judge_path("ground.tals");
  remove(path);
  tl_provenance_begin(&p, program, argc, argv);
  JUDGE_OK(tl_catalog_open(&catalog, path, TL_CATALOG_CREATE));
  JUDGE_OK(tl_catalog_begin(catalog, &p, NULL));
  for (int k = 0; k < VALLEYS; k++) add_valley(catalog, k);
  JUDGE_OK(TL_NEW(z, (size_t)N * N));
  for (int which = VALLEYS; which < JUDGE_GROUNDS; which++) {
    TlRandom r = {.seed = 17, .stream = (uint64_t)which};
    for (int j = 0; j < N; j++)
      for (int i = 0; i < N; i++)
        z[j * N + i] = which == VALLEYS ? ridge(i, j, &r) : terrace(i, j, &r);
    add(catalog, judge_ground[which].name, N, N, CELL_M, z);
  }
  tl_free(z);
  JUDGE_OK(tl_catalog_commit(catalog));
  tl_catalog_close(catalog);
  tl_provenance_free(&p);
}

static TlComm *world(void) {
  static TlComm *comm;
  int argc = 0;
  char **argv = NULL;
  if (!comm) JUDGE_OK(tl_comm_start(&comm, &argc, &argv));
  return comm;
}

void judge_ground_open(TlRun *run, const JudgeGround *g, double fraction, int count,
                       const char *sets) {
  char text[1024], *items[MOST_SETS];
  TlTexts list = {items, 0};
  double r = fraction * g->cell_m;
  snprintf(text, sizeof text,
           "grains.grain_scale=%.17g terrain.name=%s release.low_m=[%g,%g,0] "
           "release.high_m=[%g,%g,0] release.count=%d release.clearance_m=%.17g %s",
           r, g->name, g->low_m, g->low_m, g->high_m, g->high_m, count, 0.1 * r, sets);
  for (char *at = strtok(text, " "); at && list.count < MOST_SETS; at = strtok(NULL, " "))
    items[list.count++] = at;
  TlRunOptions options = {.study = "config/validation/terrain.yaml",
                          .catalog = judge_path("ground.tals"),
                          .sets = &list,
                          .no_output = true};
  JUDGE_OK(tl_run_open(run, world(), &options));
  run->options.sets = NULL; /* ours */
}
