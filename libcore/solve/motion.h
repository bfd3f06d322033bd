/* Start and end of a step: twists from the state, and the state from twists.
 *
 * Symplectic Euler for the centre (Tan 2024 Eqs. 40-41, with the velocities all impulses left).
 * Rotation, of all methods: L is carried (Correction 13); the attitude moves by the spin at mid-step,
 *   q_half = exp(omega(q_half, L) dt/2) q,  q' = exp(omega(q_half, L) dt) q,
 * iterated until the step's turn changes by less than 1e-14 rad: predictor and correctors of Tan
 * 2022 3.3.5 (Correction 12) on L, which needs no gyroscopic term. The step is the same backwards,
 * and the energy of a free top does not drift. Tan 2024 Eqs. 42-43 add rotation vectors and drop the
 * gyroscopic term. Pseudo-velocities are added to both moves.
 */
#ifndef TL_SOLVE_MOTION_H
#define TL_SOLVE_MOTION_H

#include "base/mem.h"
#include "model/bodies.h"
#include "model/boundary.h"
#include "solve/contact.h"

typedef struct TlMotion {
  TlDynamics real, pseudo;
  TlVec3 *start_spin;
  const bool *carried; /* bodies that have been moved already; NULL: none */
} TlMotion;

/* Twists of owned bodies and ghosts; all memory from the arena. */
TlStatus tl_motion_start(const TlBodies *bodies, TlArena *arena, TlMotion *motion);

/* TL_ELIMIT names the first body whose pose is not finite, and the step. */
TlStatus tl_motion_check_poses(const TlBodies *bodies, int64_t step);

/* TL_ELIMIT names the first body whose velocity is not finite, and the step. */
TlStatus tl_motion_check_twists(const TlBodies *bodies, const TlMotion *motion, int64_t step);

/* Move the owned bodies and write their velocity and L; what a pseudo-velocity lifts against gravity is
 * taken from the body's kinetic energy; flag those outside. TL_ELIMIT names body
 * and step when a velocity is not finite (nothing is moved then). */
TlStatus tl_motion_finish(TlBodies *bodies, const TlMotion *motion, const TlBoundary *boundary,
                          int boundary_count, TlVec3 gravity_m_s2, double step_s, int64_t step);

/* One body's attitude over a step with its momentum as it is, centred. */
void tl_motion_turn(TlBodies *bodies, int64_t index, double step_s);
/* TL_BODY_OUTSIDE as its position says. */
void tl_motion_flag_outside(TlBodies *bodies, int64_t index, const TlBoundary *boundary, int count);

/* Move the owned bodies by the pseudo-velocities alone; they pay for a lift, likewise. */
void tl_motion_nudge(TlBodies *bodies, const TlDynamics *pseudo, TlVec3 gravity_m_s2,
                     double step_s);

#endif
