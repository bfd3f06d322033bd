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
 * others of its kind (force_lanes.h); all others go through the contact search.
 */
#ifndef TL_SOLVE_CONTACT_FORCES_H
#define TL_SOLVE_CONTACT_FORCES_H

#include "solve/penalty.h"
#include "solve/force_lanes.h"
#include "contact/search.h"
#include "solve/step.h"
#include "num/exact.h"

/* A contact at the place of its slot, as the collider of the higher id reads it: a cache line. */
typedef struct TlForceSlot {
  TlVec3 force, torque_b; /* force on a */
  float stiffness_b[2];
  int32_t points; /* 0: apart in this step */
  int32_t lane;   /* of spheres: its place is found again when it is asked for */
} TlForceSlot;
/* And for measures, of all but those. */
typedef struct TlForcePlace {
  TlVec3 point, normal;
  double depth_m;
  const TlPairLaw *law;
} TlForcePlace;

/* The dashpots' part of it, which only the energy balance asks for. */
typedef struct TlForceViscous {
  float force[3], torque_b[3]; /* force on a */
} TlForceViscous;

/* What a collider has of its boundaries and of colliders of higher id. */
typedef struct TlForceSum {
  TlVec3 force, torque;
  TlVec3 viscous, viscous_torque; /* of them the dashpots' */
  double stiffness[2];
  /* as in the report (step.h) */
  double elastic_J, slip_J, wall_J, contact_N, boundary_N;
  double wall_viscous_J; /* of wall_J the dashpots' */
  int64_t contacts;      /* as frames hold them: a row each, whatever number of points bears it */
} TlForceSum;

/* Of one thread. */
typedef struct TlForceTally {
  TlPairRows springs;
  TlForceLanes lanes; /* waiting contacts of spheres */
  TlSlot lane_slot[TL_FORCE_LANES];
  const TlPairLaw *lane_law; /* of the last that came; all are of its stiffness */
  double overlap_m, overlap_share, boundary_overlap_m, boundary_overlap_share;
  int64_t contacts, touching, sliding, capped;
} TlForceTally;

/* Kept over steps. */
typedef struct TlForcePlan {
  int64_t builds, total, owned; /* of the pairs it was made from; total < 0: none */
  TlArena arena;
  bool balls;         /* nothing but spheres: no search reads lists or grids */
  int32_t *order;     /* [total] colliders by id */
  int64_t *low;       /* [total + 1] by place in `order`: its first pair as the lower id */
  int64_t *high;      /* [total + 1] by collider: its first in high_slot */
  int32_t *high_slot; /* pairs as the higher id, ascending */
  int64_t *wall;      /* [total + 1] by place in `order`: its first in wall_boundary */
  int32_t *wall_boundary;
} TlForcePlan;

/* Of the workspace. */
typedef struct TlForceWorkspace {
  TlForcePlan plan;
  TlForceTally *tally; /* one a thread */
  size_t tally_count;
  TlPairRows next;     /* the springs that are being written */
  TlForceSlot *slot;   /* of the last step, in the workspace's arena: pairs, then boundaries */
  TlForcePlace *place; /* likewise, where there are points */
  TlForceViscous *viscous;
  int64_t pairs, slots;
  const TlBodyPair *pair;
  const TlPenaltyBody *body; /* as they were in the step */
  const TlBoundary *boundary;
  const TlMaterials *materials;
} TlForceWorkspace;
void tl_force_workspace_free(TlForceWorkspace *work);

typedef struct TlForceStep {
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
  TlForceWorkspace *work;
  TlBodies *bodies;
  int64_t *half_lookups;        /* as of TlDetect; NULL: none */
  const TlColliders *colliders; /* of the bodies */
  /* filled by tl_contact_forces, in the arena */
  TlPenaltyBody *body; /* [total] one a collider */
  TlForceSum *low;     /* [total] */
  TlScan scan;
  int32_t *lookups; /* of each slot, with half_lookups */
  struct TlForceBlock *block;
} TlForceStep;

/* Forces of all contacts; the bodies' springs become this step's. */
TlStatus tl_contact_forces(TlForceStep *step);
/* The contacts of the last step (step.h). */
TlStatus tl_contact_forces_rows(const TlForceWorkspace *work, const TlColliders *colliders,
                                double step_s, TlContactRow **rows, int64_t *count);
/* The sum of a body's contacts, about its centre, which also notes the number of each collider's
 * points; of a collider's, about its own. */
TlForceSum tl_contact_forces_of_body(const TlForceStep *step, int64_t body);
TlForceSum tl_contact_forces_of_collider(const TlForceStep *step, int64_t collider);

#endif
