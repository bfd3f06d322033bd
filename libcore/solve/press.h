/* All contacts of a step of the penalty method: points found, forces from them (penalty.h), summed
 * for each collider and from these for each body, and the springs that the next step remembers.
 *
 * The loop goes over the colliders in order of id, each with the boundaries it is at, the last one
 * first, and the colliders of higher id: the order of the contact memory, which is so read and
 * written from end to end and never searched nor sorted. A collider's sums are those of its own loop
 * and then those with lower ids, in order of ids: the same bits for any number of threads and ranks.
 * Forces and torques are taken about the colliders' centres, whose velocities are v + w x d with d
 * from the body's centre; a body's torque is the sum of its colliders' and of d x F.
 *
 * A plan (who may meet whom) is made anew with the broad phase's pairs only (broad.h). Where two
 * spheres meet, or a sphere and a standing boundary with a true distance, the contact waits for
 * others of its kind (press_lanes.h); all others go through the contact search.
 */
#ifndef TL_SOLVE_PRESS_H
#define TL_SOLVE_PRESS_H

#include "solve/penalty.h"
#include "solve/press_lanes.h"
#include "contact/search.h"
#include "solve/step.h"
#include "num/exact.h"

/* A contact at the place of its slot, as the collider of the higher id reads it: a cache line. */
typedef struct TlPressSlot {
  TlVec3 force, torque_b; /* force on a */
  float stiffness_b[2];
  int32_t points; /* 0: apart in this step */
  int32_t lane;   /* of spheres: its place is found again when it is asked for */
} TlPressSlot;
/* And for measures, of all but those. */
typedef struct TlPressPlace {
  TlVec3 point, normal;
  double depth_m;
  const TlPairLaw *law;
} TlPressPlace;

/* The dashpots' part of it, which only the energy balance asks for. */
typedef struct TlPressViscous {
  float force[3], torque_b[3]; /* force on a */
} TlPressViscous;

/* What a collider has of its boundaries and of colliders of higher id. */
typedef struct TlPressLow {
  TlVec3 force, torque;
  TlVec3 viscous, viscous_torque; /* of them the dashpots' */
  double stiffness[2];
  /* as in the report (step.h) */
  double elastic_J, slip_J, wall_J, contact_N, boundary_N;
  double wall_viscous_J; /* of wall_J the dashpots' */
  int64_t points;
} TlPressLow;

/* Of one thread. */
typedef struct TlPressTally {
  TlPairRows springs;
  TlPressLanes lanes; /* waiting contacts of spheres */
  TlSlot lane_slot[TL_PRESS_LANES];
  const TlPairLaw *lane_law; /* of the last that came; all are of its stiffness */
  double overlap_m, overlap_share, boundary_overlap_m, boundary_overlap_share;
  int64_t contacts, touching, sliding, capped;
} TlPressTally;

/* Kept over steps. */
typedef struct TlPressPlan {
  int64_t builds, total, owned; /* of the pairs it was made from; total < 0: none */
  TlArena arena;
  bool balls;         /* nothing but spheres: no search reads lists or grids */
  int32_t *order;     /* [total] colliders by id */
  int64_t *low;       /* [total + 1] by place in `order`: its first pair as the lower id */
  int64_t *high;      /* [total + 1] by collider: its first in high_slot */
  int32_t *high_slot; /* pairs as the higher id, ascending */
  int64_t *wall;      /* [total + 1] by place in `order`: its first in wall_boundary */
  int32_t *wall_boundary;
} TlPressPlan;

/* Of the workspace. */
typedef struct TlPressWork {
  TlPressPlan plan;
  TlPressTally *tally; /* one a thread */
  size_t tally_count;
  TlPairRows next;     /* the springs that are being written */
  TlPressSlot *slot;   /* of the last step, in the workspace's arena: pairs, then boundaries */
  TlPressPlace *place; /* likewise, where there are points */
  TlPressViscous *viscous;
  int64_t pairs, slots;
  const TlBodyPair *pair;
  const TlPressBody *body; /* as they were pressed */
  const TlBoundary *boundary;
  const TlMaterials *materials;
} TlPressWork;
void tl_press_work_free(TlPressWork *work);

typedef struct TlPressStep {
  const TlPenalty *penalty;
  const TlSearchOptions *search;
  double step_s;
  const TlBoundary *boundary;
  int boundary_count;
  const TlMaterials *materials;
  TlNear *near;
  TlPoints *points;
  TlPlaceMemory *places; /* takes what pairs know of their places; NULL: the search has none */
  TlArena *arena;
  TlPressWork *work;
  TlBodies *bodies;
  int64_t *half_lookups;        /* as of TlDetect; NULL: none */
  const TlColliders *colliders; /* of the bodies */
  /* filled by tl_press_all, in the arena */
  TlPressBody *body; /* [total] one a collider */
  TlPressLow *low;   /* [total] */
  TlScan scan;
  int32_t *lookups; /* of each slot, with half_lookups */
  struct TlPressBlock *block;
} TlPressStep;

/* Forces of all contacts; the bodies' springs become this step's. */
TlStatus tl_press_all(TlPressStep *step);
/* The contacts of the last step (step.h). */
TlStatus tl_press_rows(const TlPressWork *work, const TlColliders *colliders, double step_s,
                       TlContactRow **rows, int64_t *count);
/* The sum of a body's contacts, about its centre, which also notes the number of each collider's
 * points; of a collider's, about its own. */
TlPressLow tl_press_sum_body(const TlPressStep *step, int64_t body);
TlPressLow tl_press_sum(const TlPressStep *step, int64_t collider);

#endif
