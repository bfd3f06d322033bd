/* How deep the ground reaches into grains of a tenth of a cell, of 0.4 and of 1.2 cells, that fall, roll and slide
 * on five rasters (tests/judge/ground.h): by the oracle of overlap, which knows the raster's own patches and 100
 * points a node, every quarter of a second. The old search, at nodes and in the band of distances, beside it. */
#include "judge/cases.h"
#include "judge/ground.h"
#include "judge/judge.h"
#include "judge/overlap.h"

#include "base/log.h"

#include <math.h>
#include <stdio.h>

typedef enum Kind { TENTH, MIDDLE, LARGE, PENALTY, BAND, KINDS } Kind;
enum { RUNS = KINDS * JUDGE_GROUNDS };

static const struct {
  const char *name, *sets;
  double fraction, duration_s;
} kinds[KINDS] = {
    {"radius 0.1 cell", "", 0.1, 3},
    {"radius 0.4 cell", "", 0.4, 3},
    {"radius 1.2 cells", "", 1.2, 3},
    {"radius 0.1 cell, penalty", "solver.method=penalty grains.shapes=[slab,egg,cross]", 0.1, 0.3},
    {"radius 0.1 cell, band", "terrain.contact=band", 0.1, 3},
};

typedef struct Outcome {
  double largest, nodes;
  int64_t touching, over;
} Outcome;

static void look(const TlRun *run, Outcome *o) {
  JudgeOverlap now = judge_overlap_of_run((TlRun *)(uintptr_t)run);
  o->largest = fmax(o->largest, now.ground.largest_fraction);
  o->nodes = fmax(o->nodes, now.ground.nodes_largest_fraction);
  o->touching += now.ground.touching;
  o->over += now.ground.over_2_percent;
}

typedef struct Watch {
  TlRun *run;
  Outcome *outcome;
  int64_t every;
} Watch;

static int watch(void *context) {
  Watch *w = context;
  if (w->run->state->totals.steps % w->every == 0) look(w->run, w->outcome);
  return 0;
}

static void run_case(int which, void *result, void *context) {
  const JudgeGround *g = &judge_ground[which % JUDGE_GROUNDS];
  Kind kind = (Kind)(which / JUDGE_GROUNDS);
  TlRun run;
  char sets[256];
  /* steps go with the square root of the size */
  double r = kinds[kind].fraction * g->cell_m, dt = (kind == PENALTY ? 4e-5 : 2.5e-3) * sqrt(r);
  (void)context;
  snprintf(sets, sizeof sets, "time.dt_s=%.17g time.duration_s=%.17g penalty.dt_s=%.17g %s", dt,
           kinds[kind].duration_s, dt, kinds[kind].sets);
  judge_ground_open(&run, g, kinds[kind].fraction,
                    kind == LARGE     ? 20
                    : kind == PENALTY ? 50
                                      : 100,
                    sets);
  Watch w = {&run, result, (int64_t)(kinds[kind].duration_s / 12 / dt)};
  run.options.stop = watch;
  run.options.stop_context = &w;
  JUDGE_OK(tl_run_go(&run));
  tl_run_close(&run);
}

int main(int argc, char **argv) {
  judge_open("terrain", argc, argv);
  tl_log_set("val_terrain", TL_LOG_WARN);
  judge_ground_catalog("val_terrain", argc, argv);
  JudgeCases cases = {RUNS, sizeof(Outcome), run_case, NULL, NULL};
  const Outcome *o = judge_cases(&cases);
  double largest[KINDS] = {0};
  for (int k = 0; k < KINDS; k++)
    for (int i = 0; i < JUDGE_GROUNDS; i++) {
      const Outcome *one = &o[k * JUDGE_GROUNDS + i];
      largest[k] = fmax(largest[k], one->largest);
      judge_note(
          "%s, %s: ground reaches %.2f%% of the radius deep at most, %.1f%% of %lld contacts "
          "over 2%%; nodes lie %.2f%% deep.",
          judge_ground[i].name, kinds[k].name, 100 * one->largest,
          100 * (double)one->over / fmax((double)one->touching, 1), (long long)one->touching,
          100 * one->nodes);
    }
  judge_at_most(JUDGE_CORRECT, "terrain_depth", largest[TENTH], "of the radius", 0.02);
  judge_at_most(JUDGE_GOAL, "terrain_depth_middle", largest[MIDDLE], "of the radius", 0.02);
  judge_at_most(JUDGE_GOAL, "terrain_depth_large", largest[LARGE], "of the radius", 0.02);
  judge_at_most(JUDGE_GOAL, "terrain_depth_penalty", largest[PENALTY], "of the radius", 0.02);
  return judge_close();
}
