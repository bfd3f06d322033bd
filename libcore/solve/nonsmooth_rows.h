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
#include "solve/membrane.h"
#include "solve/model.h"
#include "solve/nonsmooth_joints.h"

typedef struct TlNsIsland {
  TlNsRange range;
  int iterations;   /* by the rule */
  double force_m_s; /* velocity that the forces give in a step: the residual's measure */
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
  TlArena *arena;
  /* filled by tl_nonsmooth_rows */
  TlNsProblem problem;
  TlNsOrigin *origin;       /* of each joint */
  const TlNetBond **bonded; /* of each bond of the problem */
  TlNsIsland *island;
  int32_t islands;
  int64_t largest; /* bodies of an island, at most */
  double *impact; /* [3 * patches + points] impulses of the impact stage: of each patch along t1 and
                      t2 and about n, and of each point */
} TlNsRows;

/* Patches by islands, without right-hand sides. All memory from the arena. */
TlStatus tl_nonsmooth_rows(TlNsRows *rows);

/* Rows of an island for the impact stage, from the velocities that the problem's bodies have; false:
 * nothing impacts. */
bool tl_nonsmooth_impact_rows(const TlNsRows *rows, TlNsIsland *island);
/* Note the impulses of that stage. */
void tl_nonsmooth_note_impact(const TlNsRows *rows, const TlNsIsland *island);
/* Rows for the continuous stage; velocities are those before forces act. warm: start from the forces of
 * the last step. */
void tl_nonsmooth_force_rows(const TlNsRows *rows, TlNsIsland *island, bool warm);

/* Gravity, loads on joints and global damping (Tan 2024 Eqs. 47-49); gives what the damping takes. */
double tl_nonsmooth_kick(const TlNsRows *rows);

/* All that a patch does in a stage: impulse on its first body, moments of it about both bodies' centres. */
typedef struct TlNsPush {
  TlVec3 impulse, moment_a, moment_b;
} TlNsPush;
TlNsPush tl_nonsmooth_push(const TlNsRows *rows, int32_t patch, bool impact);

/* Impulses of both stages into the contacts: `rest` and `impulse` (contact.h). */
void tl_nonsmooth_write_back(const TlNsRows *rows);
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
/* Elastic energy of a point. */
double tl_nonsmooth_energy(TlMapping law, double stiffness, double depth_m);

#endif
