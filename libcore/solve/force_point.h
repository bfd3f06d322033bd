/* The forces of one contact point of the penalty method (formulas: penalty.h), written once: for a
 * point alone (penalty.c) and, without branches, for the lanes that the compiler works on several
 * at a time (force_lanes.c). The same bits in both.
 *
 * A further value of a pair law (rolling resistance, ...) is a row of TL_PAIR_FIELDS
 * (model/material.h), one of TL_FORCE_VALUES and what tl_force_point makes of it.
 */
#ifndef TL_SOLVE_FORCE_POINT_H
#define TL_SOLVE_FORCE_POINT_H

#include "solve/spring.h"
#include "model/material.h"

/* The values of a pair law that are read here or where its damping is made (numbers). */
#define TL_FORCE_VALUES(F)                                                                         \
  F(friction)                                                                                      \
  F(damping)

#define F(value) double value;
typedef struct TlForceValues {
  TL_FORCE_VALUES(F)
} TlForceValues;
#undef F

typedef struct TlForceInput {
  TlVec3 n, arm_a, arm_b; /* arms: from the centres to the point */
  TlVec3 va, wa, vb, wb;  /* of a standing or driven wall wb is 0 */
  TlVec3 s, stiff_n;      /* the spring of the last step: displacement, and its normal times
                                       its stiffness; 0 without */
  double force, slope, energy, shear; /* of the normal law at the depth that bears */
  double twist;  /* moment on a about n beside those of the arms, over the normal force, m */
  double beyond; /* depth past the cap: the force stays, its work grows */
  double normal_damping, tangential_damping; /* N s/m */
  TlForceValues law;
} TlForceInput;

typedef struct TlForceOutput {
  TlVec3 force, torque_a, torque_b; /* force on a, -force on b; torques about their centres */
  TlVec3 s;                         /* the spring's displacement at the end of the step */
  TlVec3 viscous, viscous_torque_a, viscous_torque_b; /* of them the dashpots' */
  double normal_N, stiff, elastic_J, slip_J;
  double sliding; /* 1: at Coulomb's limit; else 0 */
} TlForceOutput;

static inline TlForceOutput tl_force_point(const TlForceInput *p, double dt) {
  TlForceOutput done;
  TlVec3 n = p->n;
  TlVec3 u =
      tl_sub(tl_add(p->va, tl_cross(p->wa, p->arm_a)), tl_add(p->vb, tl_cross(p->wb, p->arm_b)));
  double un = tl_dot(u, n), slope = p->slope, shear = p->shear;
  double fn = p->force - p->normal_damping * un;
  fn = fn > 0 ? fn : 0;
  TlVec3 ut = tl_axpy(u, -un, n);
  /* The spring as the last step left it, turned to where the contact is now, with the stiffness of
   * now: one that grows keeps the force, one that falls the displacement; either takes energy and
   * neither makes any (Thornton 2013). A new spring is not stretched. */
  double before = tl_norm(p->stiff_n);
  TlVec3 n0 = tl_scale(1 / (before > 0 ? before : 1), p->stiff_n);
  double half = 0.25 * dt * tl_dot(tl_add(p->wa, p->wb), n);
  TlVec3 s = tl_spring_turned(p->s, n0, n, half);
  double ratio = before / (shear > 0 ? shear : 1);
  ratio = before < shear ? ratio : shear > 0 ? 1 : 0;
  double lost = 0.5 * tl_norm2(s) * (before - shear * ratio * ratio);
  TlVec3 start = tl_scale(ratio, s), trial = tl_axpy(start, dt, ut);
  /* Coulomb: the spring grows by the displacement of the step; where it is more than friction bears
   * it slips, and there is no dashpot. Slip takes the mean force of the step's two ends times the
   * displacement. */
  TlVec3 f = tl_scale(-shear, trial), g = tl_scale(-p->tangential_damping, ut);
  double most = p->law.friction * fn, square = tl_norm2(f), over = square - most * most;
  double cut = most / sqrt(square > 0 ? square : 1);
  cut = over > 0 ? cut : 1;
  done.s = tl_scale(cut, trial);
  done.slip_J = lost + 0.5 * shear * tl_dot(tl_add(start, done.s), tl_sub(trial, done.s));
  done.sliding = over > 0 ? 1 : 0;
  /* the largest fraction of the dashpot's force that stays in the cone with the spring's in it */
  double gg = tl_norm2(g), fg = tl_dot(f, g), root = fg * fg - gg * over;
  double part = (sqrt(root > 0 ? root : 0) - fg) / (gg > 0 ? gg : 1);
  part = part > 0 ? part : 0;
  part = part < 1 ? part : 1;
  part = gg + 2 * fg + over <= 0 ? 1 : part;
  part = over > 0 ? 0 : part;
  done.force = tl_axpy(tl_axpy(tl_scale(cut, f), part, g), fn, n);
  /* where tension is cut, what the spring would give goes with the dashpot */
  done.viscous = tl_axpy(tl_scale(part, g), fn - p->force, n);
  double twist = p->twist * fn, damped = p->twist * (fn - p->force);
  done.torque_a = tl_axpy(tl_cross(p->arm_a, done.force), twist, n);
  done.torque_b = tl_axpy(tl_cross(done.force, p->arm_b), -twist, n);
  done.viscous_torque_a = tl_axpy(tl_cross(p->arm_a, done.viscous), damped, n);
  done.viscous_torque_b = tl_axpy(tl_cross(done.viscous, p->arm_b), -damped, n);
  done.normal_N = fn;
  done.stiff = slope > shear ? slope : shear;
  done.elastic_J = p->energy + p->force * p->beyond + 0.5 * shear * tl_norm2(done.s);
  return done;
}

#endif
