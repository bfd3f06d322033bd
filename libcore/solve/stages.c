#include "solve/stages.h"

#include "base/par.h"
#include "solve/share.h"

#include <string.h>

enum { LARGE_GROUP = 1000 }; /* pairs */
static const double POSITION_NS = 500;

static bool runs_alone(const TlGroup *g) {
  return g->share || g->pairs >= LARGE_GROUP;
}

typedef struct Running {
  const TlGroups *groups;
  TlStatus (*run)(void *context, int32_t group);
  void *context;
} Running;

static TlStatus run_small(void *context, int64_t begin, int64_t end, int64_t block, int thread) {
  const Running *r = context;
  (void)block;
  (void)thread;
  for (int64_t i = begin; i < end; i++)
    if (!runs_alone(&r->groups->group[i])) TL_TRY(r->run(r->context, (int32_t)i));
  return TL_OK;
}

/* Pairs of small groups that others can take while one thread has the largest of them. */
static double shared_pairs(const TlGroups *groups) {
  int64_t sum = 0, most = 0;
  for (int32_t i = 0; i < groups->count; i++) {
    const TlGroup *g = &groups->group[i];
    if (runs_alone(g)) continue;
    int64_t pairs = g->pairs;
    sum += pairs;
    if (pairs > most) most = pairs;
  }
  return (double)(sum - most);
}

TlStatus tl_groups_run(const TlGroups *groups, double pair_ns,
                       TlStatus (*run)(void *context, int32_t group), void *context) {
  Running running = {groups, run, context};
  for (int32_t i = 0; i < groups->count; i++)
    if (runs_alone(&groups->group[i])) TL_TRY(run(context, i));
  return tl_par_loop(groups->count, 4, pair_ns * shared_pairs(groups) / (groups->count + 1),
                     run_small, &running);
}

static TlStatus run_one(void *context, int32_t group) {
  TlStage *stage = context;
  return stage->run(stage, group);
}

static TlStatus run_groups(TlStage *stage) {
  return tl_groups_run(stage->groups, stage->pair_ns, run_one, stage);
}

/* ---- over ranks: arrays over the local bodies and the guests ---- */

/* The owners' velocities for all that use them. */
static TlStatus take_twists(const TlGroups *groups, const TlDynamics *from, TlTwist *to) {
  size_t n = (size_t)tl_share_bodies(groups->share), local = (size_t)groups->bodies;
  memcpy(to, from->twist, local * sizeof *to);
  memset(to + local, 0, (n - local) * sizeof *to);
  return tl_share_scatter(groups->share, to, sizeof *to);
}

static TlStatus give_twists(const TlGroups *groups, TlTwist *from, const TlDynamics *to) {
  TL_TRY(tl_share_collect(groups->share, from, sizeof *from));
  memcpy(to->twist, from, (size_t)groups->bodies * sizeof *from);
  return TL_OK;
}

TlStatus tl_stage_run(TlStage *stage) {
  if (!stage->groups->share) return run_groups(stage);
  const TlDynamics *local = stage->dynamics, *all = tl_share_dynamics(stage->groups->share);
  TL_TRY(take_twists(stage->groups, local, all->twist));
  stage->dynamics = all;
  TlStatus status = run_groups(stage);
  stage->dynamics = local;
  return status == TL_OK ? give_twists(stage->groups, all->twist, local) : status;
}

static TlStatus run_position(TlStage *stage, int32_t i) {
  return tl_position_solve(stage->position, &stage->groups->group[i], stage->dynamics);
}

TlStatus tl_stage_positions(const TlGroups *groups, const TlPositionLaw *law,
                            const TlDynamics *pseudo) {
  TlPositionLaw all_law = *law;
  TlDynamics all, real;
  TlStage stage = {.groups = groups,
                   .dynamics = pseudo,
                   .run = run_position,
                   .pair_ns = POSITION_NS,
                   .position = &all_law};
  if (!groups->share) return run_groups(&stage);
  all = *tl_share_dynamics(groups->share);
  stage.dynamics = &all;
  memset(all.twist, 0, (size_t)tl_share_bodies(groups->share) * sizeof *all.twist);
  if (law->real) {
    real = all;
    real.twist = tl_share_twists(groups->share);
    TL_TRY(take_twists(groups, law->real, real.twist));
    all_law.real = &real;
  }
  TL_TRY(run_groups(&stage));
  TL_TRY(give_twists(groups, all.twist, pseudo));
  return tl_sync_forward(tl_share_sync(groups->share), pseudo->twist, sizeof *pseudo->twist);
}
