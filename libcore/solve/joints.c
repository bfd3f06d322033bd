#include "solve/joints.h"

static const struct {
  TlPairKind kind;
  const TlJointKind *joint;
} joints[] = {
#define J(id, kind) {id, &kind},
    TL_JOINTS(J)
#undef J
};

size_t tl_joints_count(const TlPairState *pairs) {
  size_t count = 0;
  for (size_t k = 0; k < sizeof joints / sizeof *joints; k++)
    count += pairs->of[joints[k].kind].count;
  return count;
}

static TlJointControl control_of(const TlControls *c, TlPairKind kind, int64_t number,
                                 TlJointControl start) {
  for (size_t k = 0; c && k < c->joint_count; k++)
    if (c->joint[k].kind == kind && c->joint[k].number == number) return c->joint[k];
  return start;
}

TlJoint tl_joint_of(const TlPairState *pairs, const TlControls *controls, int64_t body) {
  size_t before = 0;
  for (size_t k = 0; k < sizeof joints / sizeof *joints; k++) {
    TlPairKind kind = joints[k].kind;
    const TlPairRows *rows = &pairs->of[kind];
    size_t count;
    const unsigned char *row = tl_pair_rows_find(rows, kind, body, -1, &count);
    if (row && count > 0) {
      const TlJointKind *joint = joints[k].joint;
      size_t place = (size_t)(row - (unsigned char *)rows->row) / tl_pair_record[kind].bytes;
      int64_t number = tl_pair_key(rows, kind, place).number;
      return (TlJoint){joint, row, before + place,
                       control_of(controls, kind, number, joint->start(row))};
    }
    before += rows->count;
  }
  return (TlJoint){0};
}
