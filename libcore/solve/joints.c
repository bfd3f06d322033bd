#include "solve/joints.h"

static const struct {
  TlPairKind kind;
  const TlJointKind *joint;
} joints[] = {
#define J(id, kind) {id, &kind},
    TL_JOINTS(J)
#undef J
};

bool tl_joints_any(const TlPairState *pairs) {
  for (size_t k = 0; k < sizeof joints / sizeof *joints; k++)
    if (pairs->of[joints[k].kind].count > 0) return true;
  return false;
}

static TlJointControl control_of(const TlControls *c, TlPairKind kind, int64_t number,
                                 TlJointControl start) {
  for (size_t k = 0; c && k < c->joint_count; k++)
    if (c->joint[k].kind == kind && c->joint[k].number == number) return c->joint[k];
  return start;
}

TlJoint tl_joint_of(const TlPairState *pairs, const TlControls *controls, int64_t body) {
  for (size_t k = 0; k < sizeof joints / sizeof *joints; k++) {
    TlPairKind kind = joints[k].kind;
    size_t count;
    const void *row = tl_pair_rows_find(&pairs->of[kind], kind, body, -1, &count);
    if (!row || count == 0) continue;
    const TlJointKind *joint = joints[k].joint;
    int64_t number = ((const TlPairKey *)row)->number;
    return (TlJoint){joint, row, control_of(controls, kind, number, joint->start(row))};
  }
  return (TlJoint){0};
}
