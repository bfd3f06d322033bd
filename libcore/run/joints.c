#include "run/joints.h"

#include "base/mem.h"

#include <math.h>
#include <string.h>

/* Id of the body in place i of the list. */
static int64_t id_of(const TlSetup *s, int64_t first, int64_t i) {
  const TlBodySetup *b = s->bodies.items;
  for (int64_t k = 0; k < i; k++)
    first += b[k].count * (b[k].parts.count > 0 ? b[k].parts.count : 1);
  return first;
}

/* An end of a joint; id < 0: the world. */
typedef struct End {
  int64_t id;
  bool owned;
  TlVec3 x;
  TlQuat q;
} End;

/* An end on its way from its owner to all ranks: the bits of its pose. Zeros but there, so that a sum over the
 * ranks is the pose. */
typedef struct Pose {
  TlVec3 x;
  TlQuat q;
} Pose;
enum { POSE_WORDS = sizeof(Pose) / sizeof(int64_t) };

static End end_of(TlRun *run, int64_t first, const char *name, int64_t *pose) {
  const TlSetup *s = &run->model->setup;
  TlBodies *b = &run->state->dem.bodies;
  if (!name) return (End){.id = -1, .q = {1, 0, 0, 0}};
  End end = {.id = id_of(s, first, tl_bodies_index(&s->bodies, name))};
  for (int64_t i = 0; i < b->owned; i++) {
    if (b->id[i] != end.id) continue;
    const Pose at = {b->position[i], b->rotation[i]};
    b->flags[i] |= TL_BODY_GUIDED;
    end.owned = true;
    memcpy(pose, &at, sizeof at);
  }
  return end;
}

static void take_pose(End *end, const int64_t *pose) {
  Pose at;
  memcpy(&at, pose, sizeof at);
  if (end->id >= 0) *end = (End){end->id, end->owned, at.x, at.q};
}

static TlVec3 into(const End *end, TlVec3 v) {
  return tl_mat_tvec(tl_quat_matrix(end->q), v);
}

static TlVec3 anchor(const End *end, const double point_m[3]) {
  return into(end, tl_sub(tl_vec3_of(point_m), end->x));
}

/* The joint, and its motor and limits where it has them. The low end is the body, unless the other
 * has a lower id: then motor and limits turn round. */
static TlStatus add(TlRun *run, const TlJointSetup *j, int64_t number, End low, End high) {
  TlPairState *pairs = &run->state->dem.bodies.pairs;
  TlPairKind kind = tl_joint_kind(j);
  bool round = high.id >= 0 && high.id < low.id, ends = kind == TL_DISTANCES;
  const double *at_low = j->point_m, *at_high = ends ? j->other_point_m : j->point_m;
  if (round) {
    End end = low;
    low = high;
    high = end;
    const double *at = at_low;
    at_low = at_high;
    at_high = at;
  }
  TlVec3 a = anchor(&low, at_low), b = anchor(&high, at_high), axis = tl_unit(tl_vec3_of(j->axis)),
         mark = tl_across(axis);
  TlQuat turn = tl_quat_unit(tl_quat_mul(tl_quat_conj(high.q), low.q));
  double sign = round ? -1 : 1, rad = M_PI / 180;
  bool hinge = kind == TL_HINGES;
  double speed = sign * (hinge ? j->motor_rad_s : j->motor_m_s),
         most = hinge ? j->motor_most_N_m : j->motor_most_N;
  double from = hinge ? rad * j->least_deg : j->least_m, to = hinge ? rad * j->most_deg : j->most_m;
  if (kind == TL_WELDS) {
    const TlWeld row = {low.id, high.id, number, .anchor_low = a, .anchor_high = b, .turn = turn};
    return tl_pair_state_add(pairs, TL_WELDS, &row);
  }
  if (ends) {
    const TlDistance row = {low.id,           high.id,          number,
                            .anchor_low = a,  .anchor_high = b, .least = j->least_m,
                            .most = j->most_m};
    return tl_pair_state_add(pairs, TL_DISTANCES, &row);
  }
  if (hinge) {
    const TlHinge row = {low.id,
                         high.id,
                         number,
                         .anchor_low = a,
                         .anchor_high = b,
                         .axis_low = into(&low, axis),
                         .axis_high = into(&high, axis)};
    TL_TRY(tl_pair_state_add(pairs, TL_HINGES, &row));
  } else {
    const TlSlider row = {low.id,          high.id,          number,
                          .anchor_low = a, .anchor_high = b, .axis_high = into(&high, axis),
                          .turn = turn};
    TL_TRY(tl_pair_state_add(pairs, TL_SLIDERS, &row));
  }
  if (most > 0) {
    const TlMotor row = {low.id,         high.id,        number,      .joint = number,
                         .turns = hinge, .speed = speed, .most = most};
    TL_TRY(tl_pair_state_add(pairs, TL_MOTORS, &row));
  }
  if (from == 0 && to == 0) return TL_OK;
  const TlLimit row = {low.id,
                       high.id,
                       number,
                       .joint = number,
                       .turns = hinge,
                       .mark_low = into(&low, mark),
                       .mark_high = into(&high, mark),
                       .least = round ? -to : from,
                       .most = round ? -from : to};
  return tl_pair_state_add(pairs, TL_LIMITS, &row);
}

TlStatus tl_joints_make(TlRun *run, int64_t first) {
  const TlSetup *s = &run->model->setup;
  const TlJointSetup *joint = s->joints.items;
  size_t n = (size_t)s->joints.count;
  if (n == 0) return TL_OK;
  End *end = NULL;
  int64_t *pose = NULL;
  TlStatus status = TL_NEW(end, 2 * n);
  if (status == TL_OK) status = TL_NEW(pose, 2 * n * POSE_WORDS);
  TL_TRY_GOTO(status, tl_comm_agree(run->comm, status), done);
  for (size_t i = 0; i < 2 * n; i++)
    end[i] =
        end_of(run, first, i % 2 ? joint[i / 2].other : joint[i / 2].body, &pose[i * POSE_WORDS]);
  TL_TRY_GOTO(status, tl_comm_sum_int(run->comm, pose, (int)(2 * n * POSE_WORDS)), done);
  for (size_t i = 0; i < 2 * n; i++) take_pose(&end[i], &pose[i * POSE_WORDS]);
  for (size_t i = 0; status == TL_OK && i < n; i++) {
    End low = end[2 * i], high = end[2 * i + 1];
    /* an apparatus' piston is number 0 */
    if (low.owned || high.owned) status = add(run, &joint[i], 1 + (int64_t)i, low, high);
  }
  tl_pair_state_sort(&run->state->dem.bodies.pairs);
done:
  tl_free(end);
  tl_free(pose);
  return status;
}
