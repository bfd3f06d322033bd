/* Resting contacts, the position rule and rigid walls: what follows ETM and gravity in a step.
 *
 * Rest: projected Gauss-Seidel with e = 0, warm-started:
 *   l_n <- max(0, l_n - (u_n + max(gap, 0)/dt)/n.Kn), then both tangential rows together: the
 *   exact 2x2 solution where it sticks, else a step against u projected on the disc |l_t| <= mu
 * l_n. Position rule (split impulse): frictionless, pseudo-velocities that move positions only:
 *   n.(v + v_p) >= rate (depth - slop)/dt where the overlap is deeper than slop, else >= -(gap +
 * slop)/dt. Walls (Tan 2024 4.1): with x' = x + v dt, at the deepest node P = (-phi(x')/dt)/(n.Kn)
 * n, repeated; overlap that is there already is left to the position rule, so no energy is gained.
 */
#ifndef TL_SOLVE_REST_H
#define TL_SOLVE_REST_H

#include "model/bodies.h"
#include "model/boundary.h"
#include "solve/contact.h"

typedef struct TlRestLaw {
  double tolerance_m_s; /* stop when a sweep changed no velocity by more */
  int sweeps;
  bool extrapolates; /* with steps beyond sweeps (beyond.h) */
} TlRestLaw;

typedef struct TlRestCount {
  int64_t sweeps; /* most of an island */
  int64_t unfinished;
  double residual_m_s;
} TlRestCount;

/* Uses and updates contact->rest. Collective when the group has sync. */
TlStatus tl_rest_solve(const TlRestLaw *law, const TlGroup *group, const TlDynamics *dynamics,
                       TlRestCount *count);

typedef struct TlPositionLaw {
  double rate, slop, step_s;
  int sweeps;
  bool extrapolates;      /* with steps beyond sweeps (beyond.h) */
  double opens_at;        /* slops: islands that owe less are left alone; 0: POSITION_TOLERANCE */
  const TlDynamics *real; /* the velocities that the step ends with; NULL: none */
} TlPositionLaw;

/* pseudo: dynamics whose twists are the pseudo-velocities (0 at the start). */
TlStatus tl_position_solve(const TlPositionLaw *law, const TlGroup *group,
                           const TlDynamics *pseudo);

typedef struct TlWallsStep {
  const TlBoundary *start, *end; /* [count] the boundaries at the step's start and at its end */
  int count;
  double step_s, slop;
  const TlMaterials *materials;
} TlWallsStep;

/* Keep the owned, movable bodies out of the boundaries at the end of the step. Changes twists of
 * owned bodies only; the caller forwards. near: this step's node lists, or NULL. work[i]: what
 * moving boundaries did on owned body i, J. */
struct TlNear;
void tl_walls_correct(const TlBodies *bodies, const struct TlNear *near, const TlWallsStep *step,
                      const TlDynamics *dynamics, double *work);

#endif
