/* Joints of a body and the world, as the penalty method solves them: what a kick would give the free
 * body, as the joint lets it be. One kind is one file (joint_X.c) and one row of TL_JOINTS; its
 * record is a list of model/pair_state.h, its load or drive a control (controls.h).
 *
 * A body on a joint has TL_BODY_GUIDED among its flags. Joints of two bodies, and all joints of the nonsmooth
 * method, are solved by solve/nonsmooth_joints.h.
 */
#ifndef TL_SOLVE_JOINTS_H
#define TL_SOLVE_JOINTS_H

#include "solve/contact.h"
#include "solve/controls.h"

#define TL_JOINTS(J) J(TL_SLIDERS, tl_joint_slider)

/* row: a struct of the kind (model/pair_state.h). */
typedef struct TlJointKind {
  /* TL_EUSAGE names the value of the row that makes no sense. */
  TlStatus (*check)(const void *row);
  /* What holds where nobody controls the joint. */
  TlJointControl (*start)(const void *row);
  /* free: the twist that a kick would give the free body, but for the load. push: speed that a newton
   * gives in the kick, s/kg. */
  TlTwist (*twist)(const void *row, const TlJointControl *control, TlTwist free, double push);
  /* Work that the joint does on the body in a step: contact force on the body, speeds before and
   * after. */
  double (*work)(const void *row, const TlJointControl *control, TlVec3 contact_N, TlVec3 before,
                 TlVec3 after, double step_s);
  /* Its anchor on the body, from the body's centre, in the body's frame. */
  TlVec3 (*anchor)(const void *row);
  /* The part of the contact force that its load or drive bears. */
  double (*borne_N)(const void *row, TlVec3 contact_N);
} TlJointKind;

#define J(id, kind) extern const TlJointKind kind;
TL_JOINTS(J)
#undef J
/* Their kinds of constraints, for a method's `solves`. */
#define J(id, kind) | TL_KIND_BIT(id)
enum { TL_JOINT_KINDS = 0 TL_JOINTS(J) };
#undef J

/* The joint of a body and the world, with the control that is in force. */
typedef struct TlJoint {
  const TlJointKind *kind; /* NULL: none */
  const void *row;
  size_t place; /* among all joints of the table's kinds */
  TlJointControl control;
} TlJoint;
/* Rows of the table's kinds. */
size_t tl_joints_count(const TlPairState *pairs);
/* The first of the table's kinds that the body has. controls may be NULL. */
TlJoint tl_joint_of(const TlPairState *pairs, const TlControls *controls, int64_t body);

#endif
