/* The contacts of a step in groups (groups.c), and the stages that solve the groups one after the
 * other (stages.c). */
#ifndef TL_SOLVE_STAGES_H
#define TL_SOLVE_STAGES_H

#include "base/mem.h"
#include "model/bodies.h"
#include "solve/contact.h"
#include "solve/etm.h"
#include "solve/methods.h"
#include "solve/rest.h"

/* Islands, colours and groups of the pairs of a step.
 *
 * Islands by union-find over movable bodies (fixed ones join nothing: Correction 10). Colours:
 * greedy in the order of a hash of the pair's ids, each pair taking the least colour free at both
 * bodies. Across ranks the same colours come from rounds in which a pair is coloured when it is the
 * first uncoloured one at both its bodies (Jones, Plassmann 1993). Boundary pairs have a colour of
 * their own, the last.
 */

typedef struct TlGroups {
  TlGroup *group; /* group 0 is the one shared with other ranks when `shared` */
  int32_t count;
  bool shared;     /* some rank has an island with ghosts: group 0 runs in lockstep */
  int64_t largest; /* bodies in the largest local island */
  int64_t islands; /* islands that end on this rank, plus shared ones whose least id it owns */
} TlGroups;

/* Colour the pairs (pair->colour) and sort them into groups; pairs and contacts are put into that
 * order, with first and count renewed. All memory from the arena.
 * Collective when sync is set. TL_ELIMIT when a body has more pairs than there are colours. */
TlStatus tl_groups_make(const TlBodies *bodies, TlPair *pairs, int32_t pair_count,
                        TlContact *contacts, const TlSync *sync, TlArena *arena, TlGroups *groups);

/* Stages of a step by impulses: one solve of every group of contacts after the other. The group that
 * other ranks share runs first and in lockstep; large groups use threads inside; the small ones
 * share the threads among them.
 */

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
