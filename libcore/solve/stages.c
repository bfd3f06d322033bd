#include "solve/stages.h"

#include "base/par.h"

enum { LARGE_GROUP = 1000 }; /* pairs */
static const double POSITION_NS = 500;

static bool runs_alone(const TlGroup *g) {
  return g->sync || g->colour_start[g->colours] >= LARGE_GROUP;
}

static TlStatus run_small(void *context, int64_t begin, int64_t end, int64_t block, int thread) {
  TlStage *stage = context;
  (void)block;
  (void)thread;
  for (int64_t i = begin; i < end; i++)
    if (!runs_alone(&stage->groups->group[i])) TL_TRY(stage->run(stage, (int32_t)i));
  return TL_OK;
}

/* Pairs of small groups that others can take while one thread has the largest of them. */
static double shared_pairs(const TlGroups *groups) {
  int64_t sum = 0, most = 0;
  for (int32_t i = 0; i < groups->count; i++) {
    const TlGroup *g = &groups->group[i];
    if (runs_alone(g)) continue;
    int64_t pairs = g->colour_start[g->colours];
    sum += pairs;
    if (pairs > most) most = pairs;
  }
  return (double)(sum - most);
}

TlStatus tl_stage_run(TlStage *stage) {
  for (int32_t i = 0; i < stage->groups->count; i++)
    if (runs_alone(&stage->groups->group[i])) TL_TRY(stage->run(stage, i));
  return tl_par_loop(stage->groups->count, 4,
                     stage->pair_ns * shared_pairs(stage->groups) / (stage->groups->count + 1),
                     run_small, stage);
}

static TlStatus run_position(TlStage *stage, int32_t i) {
  return tl_position_solve(stage->position, &stage->groups->group[i], stage->dynamics);
}

TlStatus tl_stage_positions(const TlGroups *groups, const TlPositionLaw *law,
                            const TlDynamics *pseudo) {
  TlStage stage = {.groups = groups,
                   .dynamics = pseudo,
                   .run = run_position,
                   .pair_ns = POSITION_NS,
                   .position = law};
  return tl_stage_run(&stage);
}
