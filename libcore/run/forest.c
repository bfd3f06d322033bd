#include "run/forest.h"

#include "base/random.h"
#include "run/run.h"

#include <math.h>

enum { STREAM = 0x73746d73, MOST_IN_SQUARE = 1000 };

double tl_stem_energy_kJ(double diameter_m) {
  return 38.7 * pow(100 * diameter_m, 2.31) / 1000;
}

bool tl_forest_stands(const TlSetup *s) {
  const TlClassSetup *class = s->terrain.classes.items;
  bool stands = s->terrain.forest.stems_per_ha > 0;
  for (int64_t i = 0; i < s->terrain.classes.count; i++)
    stands = stands || class[i].stems_per_ha > 0;
  return stands;
}

static TlForest forest_at(const TlRun *run, double x, double y) {
  const TlTerrainSetup *t = &run->model->setup.terrain;
  const TlClassSetup *class = t->classes.items;
  TlForest f = t->forest;
  int32_t id = t->classes.count > 0 ? tl_terrain_class(&run->model->terrain, x, y) : -1;
  for (int64_t i = 0; i < t->classes.count; i++)
    if (class[i].id == id && class[i].stems_per_ha >= 0) f.stems_per_ha = class[i].stems_per_ha;
  if (!(f.stem_energy_kJ > 0)) f.stem_energy_kJ = tl_stem_energy_kJ(f.stem_diameter_m);
  return f;
}

/* Number of stems in a square, by inversion: u uniform. */
static int stems_in(double expected, double u) {
  double p = exp(-expected), sum = p;
  int n = 0;
  while (u >= sum && n < MOST_IN_SQUARE) {
    p *= expected / ++n;
    sum += p;
  }
  return n;
}

/* Stems of the square (i, j) that a mass centre, which goes from a to b in plan, comes within reach
 * of. */
static int hits_in(const TlRun *run, const TlForest *f, int64_t i, int64_t j, const double a[2],
                   const double b[2], double reach) {
  const double side = TL_FOREST_SQUARE_M;
  uint64_t seed = (uint64_t)run->model->setup.seed,
           square = tl_random_mix((uint64_t)i * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)j);
  int hits = 0, stems = stems_in(f->stems_per_ha * side * side / 1e4,
                                 tl_random_uniform(seed, STREAM, square));
  for (int k = 0; k < stems; k++) {
    double x = side * ((double)i + tl_random_uniform(seed, STREAM + 1 + 2 * (uint64_t)k, square)),
           y = side * ((double)j + tl_random_uniform(seed, STREAM + 2 + 2 * (uint64_t)k, square));
    hits += hypot(b[0] - x, b[1] - y) < reach && hypot(a[0] - x, a[1] - y) >= reach;
  }
  return hits;
}

static int hits_of(const TlRun *run, int64_t body, const TlForest *f) {
  const TlBodies *b = &run->state->dem.bodies;
  TlVec3 x = b->position[body];
  double dt = run->model->setup.time.dt_s, to[2] = {x.x, x.y},
         from[2] = {x.x - dt * b->velocity[body].x, x.y - dt * b->velocity[body].y};
  double reach = 0.5 * f->stem_diameter_m + cbrt(3 * tl_run_volume(run, body) / (4 * M_PI));
  int64_t low[2], high[2];
  int hits = 0;
  for (int k = 0; k < 2; k++) {
    low[k] = (int64_t)floor((to[k] - reach) / TL_FOREST_SQUARE_M);
    high[k] = (int64_t)floor((to[k] + reach) / TL_FOREST_SQUARE_M);
  }
  for (int64_t j = low[1]; j <= high[1]; j++)
    for (int64_t i = low[0]; i <= high[0]; i++) hits += hits_in(run, f, i, j, from, to, reach);
  return hits;
}

void tl_forest_hit(TlRun *run) {
  TlBodies *b = &run->state->dem.bodies;
  double ground;
  if (!run->model->has_terrain || !tl_forest_stands(&run->model->setup)) return;
  for (int64_t i = 0; i < b->owned; i++) {
    if (b->flags[i] & (TL_BODY_FROZEN | TL_BODY_NET | TL_BODY_GUIDED)) continue;
    TlVec3 x = b->position[i];
    TlForest f = forest_at(run, x.x, x.y);
    if (!(f.stems_per_ha > 0) ||
        !tl_terrain_height(&run->model->terrain, x.x, x.y, &ground, NULL) ||
        x.z - ground > f.stem_height_m)
      continue;
    int hits = hits_of(run, i, &f);
    if (hits == 0) continue;
    double energy = 0.5 * b->mass[i] * tl_norm2(b->velocity[i]);
    double left = fmax(0, energy - hits * 1000 * f.stem_energy_kJ);
    b->velocity[i] = tl_scale(energy > 0 ? sqrt(left / energy) : 0, b->velocity[i]);
  }
}
