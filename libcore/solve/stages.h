/* Stages of a step by impulses: one solve of every group of contacts after the other. The group that
 * other ranks share runs first and in lockstep; large groups use threads inside; the small ones
 * share the threads among them.
 */
#ifndef TL_SOLVE_STAGES_H
#define TL_SOLVE_STAGES_H

#include "solve/etm.h"
#include "solve/groups.h"
#include "solve/methods.h"
#include "solve/rest.h"

/* Of one group. */
typedef struct TlStageCounts {
  TlEtmCount etm;
  TlRestCount rest;
} TlStageCounts;

typedef struct TlStage {
  const TlGroups *groups;
  const TlDynamics *dynamics;
  TlStatus (*run)(struct TlStage *stage, int32_t group);
  double pair_ns;        /* work on a pair of a small group, about */
  TlStageCounts *counts; /* one a group */
  /* what the stage solves with */
  TlCollisionSolve collide;
  TlEtmLaw etm;
  TlRestLaw rest;
  const TlPositionLaw *position;
} TlStage;

TlStatus tl_stage_run(TlStage *stage);
/* The position rule over all groups. */
TlStatus tl_stage_positions(const TlGroups *groups, const TlPositionLaw *law,
                            const TlDynamics *pseudo);

#endif
