/* The contacts of a step in groups (groups.c), and the stages that solve the groups one after the
 * other (stages.c). */
#ifndef TL_SOLVE_STAGES_H
#define TL_SOLVE_STAGES_H

#include "base/mem.h"
#include "model/bodies.h"
#include "solve/contact.h"
#include "solve/etm.h"
#include "solve/islands.h"
#include "solve/methods.h"
#include "solve/rest.h"

/* Islands and groups of the pairs of a step (islands.h), in the order of their sweeps.
 *
 * A sweep over an island of at most TL_SMALL_ISLAND bodies visits its pairs in the order of a hash of
 * their ids; over a larger one cell by cell of four shifted grids (grids.h), and inside a cell in the
 * order of that hash. So the order follows from positions and ids, and does not depend on how the
 * bodies lie in memory or on ranks.
 */

struct TlShare;

typedef struct TlGroups {
  TlGroup *group; /* group 0 is the one that ranks solve together when `shared` */
  int32_t count;
  bool shared;     /* some large island lies on several ranks: group 0 runs in lockstep */
  int64_t largest; /* bodies in the largest island of which this rank holds a part */
  int64_t islands; /* that this rank is to count */
  int64_t bodies;  /* local ones */
  TlPair *pair;    /* of all groups, one after the other */
  TlContact *contact;
  int32_t contacts;
  const TlLink *link;      /* of the pairs that are links, those of guests too */
  struct TlShare *share;   /* with sync */
  TlPairList found;        /* what was given; on one rank it is `pair` and `contact` */
  TlIslands islands_found; /* what the groups were made from */
  int32_t *
      pair_ns; /* with sync, of `pair`: impulses (TlGroup), from which the caller makes what its solve takes */
  int32_t *found_ns; /* likewise of those that were found, after tl_groups_home */
  TlVec3 *solve_at;  /* with sync, of each owned body: where the solve of its pairs weighs */
} TlGroups;

/* Group and order the pairs. On one rank pairs and contacts are put into that order, with first and
 * count renewed; on several they stay, and what is solved here is copied. The bodies' velocities may
 * change until a stage begins. last: of this rank, by which cells are given to ranks (islands.h); may be NULL. All
 * memory from the arena. Collective when sync is set. */
TlStatus tl_groups_make(const TlBodies *bodies, const TlDynamics *dynamics, const TlPairList *found,
                        const TlSolveCost *last, const TlSync *sync, TlArena *arena,
                        TlGroups *groups);
/* The same of bodies or of units that take their place. Each group's pairs are a copy in its order; on
 * one rank contacts stay where they are. Joints and bonds may be among the pairs. */
TlStatus tl_groups_list(const TlMovers *movers, const TlPairList *found, const TlSync *sync,
                        TlArena *arena, TlGroups *groups);
/* After the stages: what the pairs that tl_groups_make was given have borne (`impulse`, `rest`,
 * `touched`, `stuck`), and what they took, wherever they were solved. Collective. */
TlStatus tl_groups_home(const TlGroups *groups, const TlDynamics *dynamics);

/* One solve of every group after the other. The group that ranks solve together runs first and in
 * lockstep; large groups use threads inside; the small ones share the threads among them. pair_ns: work
 * on a pair of a small group, about. */
TlStatus tl_groups_run(const TlGroups *groups, double pair_ns,
                       TlStatus (*run)(void *context, int32_t group), void *context);

/* Stages of a step by impulses. */

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

/* Velocities of the owned bodies in, and out; those of ghosts are stale afterwards. */
TlStatus tl_stage_run(TlStage *stage);
/* The position rule over all groups. pseudo: 0 at the start; ghosts have theirs in the end. */
TlStatus tl_stage_positions(const TlGroups *groups, const TlPositionLaw *law,
                            const TlDynamics *pseudo);

#endif
