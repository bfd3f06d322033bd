/* Controls: what an apparatus, or a program that steps, sets from step to step. A step borrows them
 * and changes none; tl_step refuses values that make no sense. Alike on all ranks.
 *
 * New controls hold what the model says: its global damping, the pressures of its nets, no other
 * friction than that of its pair laws; joints are neither driven nor loaded.
 */
#ifndef TL_SOLVE_CONTROLS_H
#define TL_SOLVE_CONTROLS_H

#include "solve/model.h"

/* Friction between two materials in place of their law's. */
typedef struct TlFrictionControl {
  int32_t one, two;
  double friction;
} TlFrictionControl;

/* Drive or load of a joint of a body and the world (joints.h). */
typedef struct TlJointControl {
  TlPairKind kind;
  int64_t number; /* id of the constraint */
  bool driven;    /* at a speed; else pushed by a load */
  double speed;   /* along the axis (m/s), or about it (rad/s) */
  double load;    /* along the axis (N), or about it (N m) */
  bool tilts;     /* slider: free to tilt across its axis */
} TlJointControl;

typedef struct TlControls {
  double damping_per_s; /* global: xi of Tan 2024 Eqs. 47-49 */
  double *pressure_Pa;  /* [net_count], owned: on the triangles of each net of the model */
  int net_count;
  TlFrictionControl *friction; /* owned; no pair twice */
  size_t friction_count, friction_capacity;
  TlJointControl *joint; /* owned; no joint twice */
  size_t joint_count, joint_capacity;
} TlControls;

TlStatus tl_controls_new(TlControls *controls, const TlModel *model);
void tl_controls_free(TlControls *controls);

/* From the next step on; a second value for the same pair or joint takes the first one's place. */
TlStatus tl_controls_set_friction(TlControls *controls, int32_t one, int32_t two, double friction);
TlStatus tl_controls_set_joint(TlControls *controls, const TlJointControl *joint);

/* The friction between two materials that is in force. */
double tl_controls_friction(const TlControls *controls, const TlMaterials *materials, int32_t one,
                            int32_t two);

/* TL_EUSAGE names the value that makes no sense with this model. */
TlStatus tl_controls_check(const TlControls *controls, const TlModel *model);

#endif
