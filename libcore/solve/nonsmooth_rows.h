/* From the contacts of a step to the problem of a step (nonsmooth.h), and back.
 *
 * A patch is what the search found of two colliders, or of a collider and a boundary, with one normal
 * (narrow.h: a cluster): its deepest point and up to three that span its face. Its compliance is
 * shared by the points that overlap.
 */
#ifndef TL_SOLVE_NONSMOOTH_ROWS_H
#define TL_SOLVE_NONSMOOTH_ROWS_H

#include "solve/aggregates.h"
#include "solve/detect.h"
#include "solve/model.h"
#include "solve/nonsmooth_bonds.h"
#include "solve/nonsmooth_joints.h"
#include "solve/stages.h"

#include "num/exact.h"

typedef struct TlNsIsland {
  int iterations; /* by the rule */
  /* The residual's measure: the velocity that the forces give in a step, or the fastest impact's. */
  double force_m_s;
  double threshold_m_s; /* of the impact stage: the lowest of the contacts that impact */
  bool impacts;
} TlNsIsland;

enum { TL_NS_IMPACTS = 5 };

typedef struct TlNsRows {
  const TlModel *model;
  const TlMaterials *materials;
  const TlBodies *bodies;
  const TlBoundary *boundary;
  const TlFound *found;
  const TlDynamics *dynamics; /* twists at the start of the step */
  const TlControls *controls;
  const TlNetLoad *net;    /* pressure on the spheres of nets; NULL: there are none */
  const TlNetBond *listed; /* [bonds] the nets' bonds that hold */
  int32_t bonds;
  const TlUnits *units; /* what is moved as one: contacts within are left out; NULL: each body */
  /* A trial of these (reduction.h): moments of the last one (TL_TRIALS) come before those of the last step, and
   * contacts within units that are far from touching, four times a fall from rest in a step, are left out. */
  const TlUnits *tried;
  const TlSync *sync; /* NULL: one rank */
  const TlSolveCost
      *last; /* of the last steps, by which ranks share cells (islands.h); NULL: by their places */
  TlArena *arena;
  /* filled by tl_nonsmooth_links; without it there are none */
  TlNsFoundJoint *joint; /* [joints] */
  TlNsSheetBond *sheet;  /* [bonds] */
  TlVec3 *sheet_lambda;  /* [bonds] impulses of the step, after tl_nonsmooth_write_back */
  TlLink *link;          /* [links] of the joints, then of the bonds */
  int32_t joints, links;
  /* filled by tl_nonsmooth_rows */
  TlGroups groups;                /* of the pairs of contacts, joints and bonds */
  TlContact *between;             /* those that were found, as of units; without units the same */
  TlContact *contact;             /* of the groups: on one rank these */
  const TlDynamics *dynamics_all; /* of the bodies, and of guests of other ranks */
  TlNsProblem problem;
  TlNsOrigin **origin;          /* of each joint of the problem */
  TlNsReaction **reaction;      /* likewise, for tl_nonsmooth_write_back */
  const TlNsSheetBond **bonded; /* of each bond of the problem */
  TlVec3 **bond_lambda;         /* likewise */
  TlNsRange *range;             /* by groups and their cells; a cell may hold several islands */
  int32_t *range_at;            /* [pairs of all groups + 1] where a cell begins: its first range */
  int32_t *group_range;         /* [groups + 1] their first ranges */
  int32_t ranges;
  TlNsIsland *island;    /* by groups */
  int32_t *first_island; /* [groups + 1] */
  double *change;        /* [ranges] of a sweep (nonsmooth_solve.c) */
  double *product;       /* [3 * ranges] likewise; of steps beyond sweeps only */
  int32_t islands;
  double *impact; /* [5 * patches + points] impulses of the impact stage: of each patch along t1 and
                      t2 and about n, t1 and t2, and of each point */
} TlNsRows;

/* Where the patch that contact `first` of a pair begins ends, `end` at the latest. Its first TL_NS_POINTS bear. */
int32_t tl_nonsmooth_patch_end(const TlContact *contact, int32_t first, int32_t end);

/* Joints and bonds with a body that this rank owns. TL_EUSAGE names a joint that makes no sense. Local. */
TlStatus tl_nonsmooth_links(TlNsRows *rows);
/* Patches by islands and cells, without right-hand sides. All memory from the arena. This and what
 * follows is collective with sync, where it gives a status. */
TlStatus tl_nonsmooth_rows(TlNsRows *rows);

/* The owners' velocities to all ranks that solve rows of their bodies; and back, first. */
TlStatus tl_nonsmooth_scatter(const TlNsRows *rows);
TlStatus tl_nonsmooth_collect(const TlNsRows *rows);

/* Rows for the impact stage, from the velocities that the problem's bodies have; *any: some island is
 * hit, on any rank. */
TlStatus tl_nonsmooth_impact_rows(const TlNsRows *rows, bool *any);
/* Note the impulses of that stage. */
TlStatus tl_nonsmooth_note_impact(const TlNsRows *rows);
/* Rows for the continuous stage; velocities are those before forces act. warm: start from the forces of
 * the last step. */
TlStatus tl_nonsmooth_force_rows(const TlNsRows *rows, bool warm);

/* Gravity, loads on joints, pressure on nets and global damping (Tan 2024 Eqs. 47-49). */
TlStatus tl_nonsmooth_kick(const TlNsRows *rows);
/* Is it a body of a problem that nothing moves, but perhaps a holder of its net carries? */
static inline bool tl_nonsmooth_fixed(const TlNsRows *rows, int32_t body) {
  return body < rows->problem.bodies - 1 && rows->problem.body[body].inverse_mass == 0;
}

/* All that a patch does in a stage: impulse on its first body, moments of it about both bodies' centres. */
typedef struct TlNsPush {
  TlVec3 impulse, moment_a, moment_b;
} TlNsPush;
TlNsPush tl_nonsmooth_push(const TlNsRows *rows, int32_t patch, bool impact);

/* Impulses of both stages into the contacts that were found: `rest`, `impulse` and `moment` (contact.h); and
 * what joints and bonds did into those that were found. */
TlStatus tl_nonsmooth_write_back(const TlNsRows *rows);
/* The forces of this step become the bodies' contact memory. inner_moment: of contacts within units, which
 * keep their `rest` (NULL: without units). */
TlStatus tl_nonsmooth_remember(const TlNsRows *rows, const TlVec3 *inner_moment, TlBodies *bodies);
/* The memory as impulses over a step of this length, which the contact search starts from. */
TlStatus tl_nonsmooth_recall(const TlBodies *bodies, double step_s, TlArena *arena,
                             TlPairRows *impulses);

/* Reduced radius of two bodies that touch; radius_b 0: a flat boundary. */
static inline double tl_reduced_radius(double radius_a, double radius_b) {
  return radius_b > 0 ? radius_a * radius_b / (radius_a + radius_b) : radius_a;
}
/* k of F = k delta^(3/2), N/m^1.5, or of F = k delta, N/m. */
double tl_nonsmooth_stiffness(TlMapping law, const TlStiffness *stiffness, double radius_m);
/* Elastic energy of a point, 0 where it opens: the work of F, with depth_m - reach_m for delta and F >= -pull_N
 * where it adheres (pull_N > 0). It is below 0 where what adheres would have to be torn apart. */
double tl_nonsmooth_energy(TlMapping law, double stiffness, double depth_m, double pull_N,
                           double reach_m);

#endif
