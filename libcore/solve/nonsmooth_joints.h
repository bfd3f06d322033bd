/* Joints of the nonsmooth method: welds, hinges, sliders and distances of two bodies or of a body and
 * the world (model/pair_state.h), with their motors and limits, as rows of the problem of a step
 * (nonsmooth.h). The equations are in docs/theory/nonsmooth.md.
 *
 * The ranks that own the bodies of a joint find it; what its solver has to know, TlNsOrigin, and what it did,
 * TlNsReaction, travel between them as bytes (contact.h: TlLink).
 */
#ifndef TL_SOLVE_NONSMOOTH_JOINTS_H
#define TL_SOLVE_NONSMOOTH_JOINTS_H

#include "model/constraint_row.h"
#include "solve/controls.h"
#include "solve/nonsmooth.h"

/* A constraint that is a joint, by its kind; all begin with key and anchors. */
typedef union TlNsConstraint {
  TlPairKey key;
  TlWeld weld;
  TlHinge hinge;
  TlSlider slider;
  TlDistance distance;
} TlNsConstraint;

/* What a joint of the problem is made from, at the start of the step. */
typedef struct TlNsOrigin {
  TlPairKind kind;
  bool driven, limited; /* it has a motor; limits */
  TlNsConstraint row;
  TlMotor motor;
  TlLimit limit;
  TlJointControl control;
  TlVec3 x[2]; /* pose of the low body, and of the high one or the world */
  TlQuat turn[2];
  /* About which what moves there turns: the bodies' centres, or those of the aggregates that they are part of (filled by
   * tl_nonsmooth_rows). */
  TlVec3 centre[2];
  /* filled by tl_ns_joint_rows */
  TlVec3 point, axis;           /* of the low anchor; of the axis: world */
  TlVec3 arm;                   /* from centre[0] to that anchor */
  int32_t motor_row, limit_row; /* of the joint; the limits' two follow each other; < 0: none */
  TlVec3 blow_N, blow_N_m;      /* force and moment of the impact stage */
} TlNsOrigin;

/* What a joint did in a step. */
enum { TL_NS_JOINT_ROWS = 3 };
typedef struct TlNsReaction {
  TlVec3 force, moment; /* of the continuous stage, for the next one */
  double motor_effort, limit_effort;
  /* for measures, with the impact stage: of the joint, of its motor, of its limits; kind 0: none */
  TlConstraintRow row[TL_NS_JOINT_ROWS];
} TlNsReaction;

/* A joint with a body that this rank owns. */
typedef struct TlNsFoundJoint {
  int32_t a, b; /* bodies; b -1: the world */
  TlNsOrigin origin;
  TlNsReaction reaction;
  void *row;      /* in the bodies' constraints */
  TlMotor *motor; /* NULL: none */
  TlLimit *limit; /* NULL: none */
} TlNsFoundJoint;

#define J(kind, ...) TL_KIND_BIT(TL_##kind) |
enum {
  TL_NS_KINDS =
      TL_JOINT_STATES(J) TL_KIND_BIT(TL_MOTORS) | TL_KIND_BIT(TL_LIMITS) | TL_KIND_BIT(TL_MERGES)
};
#undef J

/* Joints of bodies of which one moves, in the order of kinds and keys, without their reactions. TL_EUSAGE
 * names a row that makes no sense. */
TlStatus tl_ns_joints_find(const TlBodies *bodies, const double *inverse_mass,
                           const TlControls *controls, TlArena *arena, TlNsFoundJoint **joint,
                           int32_t *count);
/* TL_EUSAGE names the first row that makes no sense. */
TlStatus tl_ns_joints_check(const TlBodies *bodies);

/* Axis of a slider, world frame. */
TlVec3 tl_ns_slider_axis(const TlNsOrigin *origin);
/* Rows of a joint for a stage, from the velocities that the problem's bodies have. damping: tau/h. */
void tl_ns_joint_rows(const TlNsProblem *problem, TlNsOrigin *origin, TlNsJoint *joint,
                      double step_s, double damping, bool impact, bool warm);
/* Note the impulses of the impact stage. */
void tl_ns_joint_note_impact(TlNsOrigin *origin, const TlNsJoint *joint, double step_s);
/* After both stages. */
TlNsReaction tl_ns_joint_note(const TlNsOrigin *origin, const TlNsJoint *joint, double step_s);
/* The reaction into the constraints, which the next step starts from. */
void tl_ns_joint_remember(const TlNsFoundJoint *joint);

#endif
