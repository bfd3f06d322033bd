/* Joints of the nonsmooth method: welds, hinges, sliders and distances of two bodies or of a body and
 * the world (model/pair_state.h), with their motors and limits, as rows of the problem of a step
 * (nonsmooth.h). The equations are in docs/theory/nonsmooth.md.
 */
#ifndef TL_SOLVE_NONSMOOTH_JOINTS_H
#define TL_SOLVE_NONSMOOTH_JOINTS_H

#include "model/constraint_row.h"
#include "solve/controls.h"
#include "solve/nonsmooth.h"

/* What a joint of the problem was made from. */
typedef struct TlNsOrigin {
  TlPairKind kind;
  void *row;      /* of that kind, in the bodies' constraints */
  TlMotor *motor; /* NULL: none */
  TlLimit *limit; /* NULL: none */
  TlJointControl control;
  TlVec3 point, axis;           /* of the low anchor; of the axis: world */
  TlVec3 arm;                   /* from the low body's centre to that anchor */
  int32_t motor_row, limit_row; /* of the joint; the limits' two follow each other; < 0: none */
  TlVec3 blow_N, blow_N_m;      /* force and moment of the impact stage */
} TlNsOrigin;

#define J(kind, ...) TL_KIND_BIT(TL_##kind) |
enum {
  TL_NS_KINDS =
      TL_JOINT_STATES(J) TL_KIND_BIT(TL_MOTORS) | TL_KIND_BIT(TL_LIMITS) | TL_KIND_BIT(TL_MERGES)
};
#undef J

/* Joints of bodies of which one moves. world: index of the fixed body that stands for it, behind all
 * others. TL_EUSAGE names a row that makes no sense. */
TlStatus tl_ns_joints_find(const TlBodies *bodies, const double *inverse_mass,
                           const TlControls *controls, int32_t world, TlArena *arena,
                           TlNsProblem *problem, TlNsOrigin **origin);
/* How many there may be. */
size_t tl_ns_joints_most(const TlBodies *bodies);
/* TL_EUSAGE names the first row that makes no sense. */
TlStatus tl_ns_joints_check(const TlBodies *bodies);

/* Rows of a joint for a stage, from the velocities that the problem's bodies have. damping: tau/h. */
void tl_ns_joint_rows(const TlNsProblem *problem, const TlBodies *bodies, TlNsOrigin *origin,
                      TlNsJoint *joint, double step_s, double damping, bool impact, bool warm);
/* Note the impulses of the impact stage. */
void tl_ns_joint_note_impact(TlNsOrigin *origin, const TlNsJoint *joint, double step_s);
/* The impulses of the continuous stage over the step: forces into the constraints and, where `to` is given, rows for
 * measures (one of the joint, which has those of the impact stage, too, one of its motor, one of its
 * limit); their number. */
int tl_ns_joint_note(const TlNsOrigin *origin, const TlNsJoint *joint, double step_s,
                     TlConstraintRow *to);

#endif
