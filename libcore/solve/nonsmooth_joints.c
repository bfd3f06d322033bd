#include "solve/nonsmooth_joints.h"

#include <math.h>
#include <string.h>

/* ---- what there is ---- */

#define J(kind, ...) TL_##kind,
static const TlPairKind joint_kind[] = {TL_JOINT_STATES(J)};
#undef J
enum { JOINT_KINDS = sizeof joint_kind / sizeof *joint_kind };

/* How many there may be. */
static size_t joints_most(const TlBodies *b) {
  size_t count = 0;
  for (int k = 0; k < JOINT_KINDS; k++) count += b->pairs.of[joint_kind[k]].count;
  return count;
}

static bool unit(TlVec3 v) {
  return fabs(tl_norm(v) - 1) < 1e-9;
}

static TlStatus wrong(TlPairKind kind, const void *row, const char *why) {
  const TlPairKey *key = row;
  return tl_fail(TL_EUSAGE, "%s %lld of bodies %lld and %lld: %s", tl_pair_kind_name[kind],
                 (long long)key->number, (long long)key->low, (long long)key->high, why);
}

static TlStatus check_row(TlPairKind kind, const void *row) {
  const TlHinge *h = row;
  const TlSlider *s = row;
  const TlDistance *d = row;
  if (kind == TL_HINGES && !(unit(h->axis_low) && unit(h->axis_high)))
    return wrong(kind, row, "the length of an axis is not 1");
  if (kind == TL_SLIDERS && !unit(s->axis_high))
    return wrong(kind, row, "the length of its axis is not 1");
  if (kind == TL_DISTANCES && !(d->least >= 0 && d->least <= d->most && d->most > 0))
    return wrong(kind, row, "it wants 0 <= least <= most and most > 0");
  return TL_OK;
}

static void *row_at(const TlBodies *b, TlPairKind kind, size_t i) {
  return (unsigned char *)b->pairs.of[kind].row + i * tl_pair_record[kind].bytes;
}

/* The motor or limit of a joint; NULL: none. Both begin alike. */
static void *extra_of(const TlBodies *b, TlPairKind extra, TlPairKind kind, const TlPairKey *key) {
  bool turns = kind == TL_HINGES;
  if (kind != TL_HINGES && kind != TL_SLIDERS) return NULL;
  for (size_t i = 0; i < b->pairs.of[extra].count; i++) {
    const TlMotor *m = row_at(b, extra, i);
    const TlLimit *l = row_at(b, extra, i);
    int64_t joint = extra == TL_MOTORS ? m->joint : l->joint;
    int32_t of = extra == TL_MOTORS ? m->turns : l->turns;
    if (joint == key->number && (of != 0) == turns && m->low == key->low && m->high == key->high)
      return row_at(b, extra, i);
  }
  return NULL;
}

TlStatus tl_ns_joints_check(const TlBodies *b) {
  size_t moved[2] = {0, 0};
  for (int k = 0; k < JOINT_KINDS; k++)
    for (size_t i = 0; i < b->pairs.of[joint_kind[k]].count; i++) {
      const void *row = row_at(b, joint_kind[k], i);
      TL_TRY(check_row(joint_kind[k], row));
      moved[0] += extra_of(b, TL_MOTORS, joint_kind[k], row) != NULL;
      moved[1] += extra_of(b, TL_LIMITS, joint_kind[k], row) != NULL;
    }
  for (size_t i = 0; i < b->pairs.of[TL_LIMITS].count; i++) {
    const TlLimit *l = row_at(b, TL_LIMITS, i);
    if (!(l->least < l->most)) return wrong(TL_LIMITS, l, "least is not below most");
    if (l->turns && !(unit(l->mark_low) && unit(l->mark_high)))
      return wrong(TL_LIMITS, l, "the length of a mark is not 1");
  }
  if (moved[0] == b->pairs.of[TL_MOTORS].count && moved[1] == b->pairs.of[TL_LIMITS].count)
    return TL_OK;
  return tl_fail(TL_EUSAGE, "a motor or a limit names no hinge or slider of its pair of bodies, or "
                            "one that has another already");
}

/* ---- joints of the problem ---- */

static TlJointControl control_of(const TlControls *c, TlPairKind kind, const TlPairKey *key) {
  for (size_t k = 0; c && k < c->joint_count; k++)
    if (c->joint[k].kind == kind && c->joint[k].number == key->number) return c->joint[k];
  TlJointControl start = {.kind = kind, .number = key->number};
  if (kind == TL_SLIDERS) start.tilts = ((const TlSlider *)key)->tilts != 0;
  return start;
}

static void pose_of(const TlBodies *b, int32_t body, TlVec3 *x, TlQuat *turn) {
  *x = body >= 0 ? b->position[body] : (TlVec3){0, 0, 0};
  *turn = body >= 0 ? b->rotation[body] : (TlQuat){1, 0, 0, 0};
}

static TlNsFoundJoint found_joint(const TlBodies *b, const TlControls *controls, TlPairKind kind,
                                  void *row, int32_t one, int32_t two) {
  TlNsFoundJoint joint = {.a = one,
                          .b = two,
                          .origin = {.kind = kind, .control = control_of(controls, kind, row)},
                          .row = row,
                          .motor = extra_of(b, TL_MOTORS, kind, row),
                          .limit = extra_of(b, TL_LIMITS, kind, row)};
  TlNsOrigin *o = &joint.origin;
  memcpy(&o->row, row, tl_pair_record[kind].bytes);
  o->driven = joint.motor;
  o->limited = joint.limit;
  if (joint.motor) o->motor = *joint.motor;
  if (joint.limit) o->limit = *joint.limit;
  pose_of(b, one, &o->x[0], &o->turn[0]);
  pose_of(b, two, &o->x[1], &o->turn[1]);
  return joint;
}

TlStatus tl_ns_joints_find(const TlBodies *b, const double *inverse_mass,
                           const TlControls *controls, TlArena *arena, TlNsFoundJoint **joint,
                           int32_t *count) {
  size_t most = joints_most(b);
  *count = 0;
  *joint = tl_arena_push(arena, most + 1, sizeof **joint);
  int32_t *order;
  if (!*joint) return TL_ENOMEM;
  if (most == 0) return TL_OK;
  TL_TRY(tl_bodies_order(b, arena, &order));
  for (int k = 0; k < JOINT_KINDS; k++)
    for (size_t i = 0; i < b->pairs.of[joint_kind[k]].count; i++) {
      TlPairKind kind = joint_kind[k];
      void *row = row_at(b, kind, i);
      const TlPairKey *key = row;
      int32_t one = tl_bodies_find(b, order, key->low),
              two = key->high < 0 ? -1 : tl_bodies_find(b, order, key->high);
      if (one < 0 || (key->high >= 0 && two < 0))
        return wrong(kind, row, "one of the two is not there");
      if (inverse_mass[one] > 0 || (two >= 0 && inverse_mass[two] > 0))
        (*joint)[(*count)++] = found_joint(b, controls, kind, row, one, two);
    }
  return TL_OK;
}

/* ---- rows ---- */

/* A joint while its rows are made. */
typedef struct Maker {
  const TlNsProblem *q;
  TlNsOrigin *o;
  TlNsJoint *joint;
  TlVec3 ra, rb;        /* from the centres to the low anchor and to the high one */
  TlVec3 low, apart;    /* the low anchor, and where it is as seen from the high one */
  TlVec3 force, moment; /* impulses to start from */
  TlNsRow along;        /* of motor and limits */
  double travel;        /* along it */
  double h, upsilon;
  bool impact, warm;
} Maker;
static const TlVec3 axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};

/* Of a constraint that is violated by g. */
static double wanted(const Maker *m, const TlNsRow *row, double g) {
  double u = tl_nonsmooth_row_velocity(row, &m->q->body[m->joint->a], &m->q->body[m->joint->b]);
  return m->impact ? 0 : m->upsilon * (u - 4 * g / m->h);
}

/* Points stay together along e; arm_b: where the high body is asked. lambda: to start from. */
static void add_point(Maker *m, TlVec3 e, TlVec3 arm_b, double g, double lambda) {
  TlNsRow row = {.along = e,
                 .turn_a = tl_cross(m->ra, e),
                 .turn_b = tl_scale(-1, tl_cross(arm_b, e)),
                 .lambda = lambda};
  row.rhs = wanted(m, &row, g);
  m->joint->row[m->joint->rows++] = row;
}

/* No relative spin about t. */
static void add_turn(Maker *m, TlVec3 t, double g, double lambda) {
  TlNsRow row = {.turn_a = t, .turn_b = tl_scale(-1, t), .lambda = lambda};
  row.rhs = wanted(m, &row, g);
  m->joint->row[m->joint->rows++] = row;
}

static void across(TlVec3 n, TlVec3 t[2]) {
  t[0] = tl_across(n);
  t[1] = tl_cross(n, t[0]);
}

static TlVec3 turn_between(TlQuat low, TlQuat high) {
  TlQuat d = tl_quat_mul(low, tl_quat_conj(high));
  TlVec3 v = d.w < 0 ? tl_vec3(-d.x, -d.y, -d.z) : tl_vec3(d.x, d.y, d.z);
  double sine = tl_norm(v), angle = 2 * atan2(sine, fabs(d.w));
  return tl_scale(sine > 1e-12 ? angle / sine : 2, v);
}

/* A row that pushes one way: u >= -g/h where there is travel left, else the way back. */
static void add_stop(Maker *m, TlNsRow row, double g, double lambda) {
  row.rhs = g > 0 || m->impact ? -tl_max(g, 0) / m->h : wanted(m, &row, g);
  row.least = 0;
  row.most = INFINITY;
  row.lambda = tl_max(0, lambda);
  m->joint->row[m->joint->rows++] = row;
}

static TlNsRow reversed(TlNsRow row) {
  row.along = tl_scale(-1, row.along);
  row.turn_a = tl_scale(-1, row.turn_a);
  row.turn_b = tl_scale(-1, row.turn_b);
  return row;
}

/* Angle of the low body about the axis, from where the marks lie on each other. */
static double angle_of(const TlLimit *l, TlQuat low, TlQuat high, TlVec3 axis) {
  TlVec3 a = tl_quat_rotate(low, l->mark_low), b = tl_quat_rotate(high, l->mark_high);
  return atan2(tl_dot(axis, tl_cross(b, a)), tl_dot(b, a));
}

TlVec3 tl_ns_slider_axis(const TlNsOrigin *o) {
  return tl_quat_rotate(o->turn[1], o->row.slider.axis_high);
}

/* The two anchors stay in one place. */
static void add_ball(Maker *m) {
  for (int k = 0; k < 3; k++)
    add_point(m, axes[k], m->rb, tl_dot(axes[k], m->apart), tl_dot(axes[k], m->force));
}

static void add_weld(Maker *m) {
  const TlNsOrigin *o = m->o;
  TlVec3 off = turn_between(o->turn[0], tl_quat_mul(o->turn[1], o->row.weld.turn));
  add_ball(m);
  for (int k = 0; k < 3; k++)
    add_turn(m, axes[k], tl_dot(axes[k], off), tl_dot(axes[k], m->moment));
}

static void add_hinge(Maker *m) {
  TlNsOrigin *o = m->o;
  const TlHinge *hinge = &o->row.hinge;
  TlVec3 t[2];
  add_ball(m);
  o->axis = tl_quat_rotate(o->turn[1], hinge->axis_high);
  TlVec3 off = tl_cross(o->axis, tl_quat_rotate(o->turn[0], hinge->axis_low));
  across(o->axis, t);
  for (int k = 0; k < 2; k++) add_turn(m, t[k], tl_dot(t[k], off), tl_dot(t[k], m->moment));
  m->along = (TlNsRow){.turn_a = o->axis, .turn_b = tl_scale(-1, o->axis)};
  if (o->limited) m->travel = angle_of(&o->limit, o->turn[0], o->turn[1], o->axis);
}

static void add_slider(Maker *m) {
  TlNsOrigin *o = m->o;
  TlNsJoint *joint = m->joint;
  TlVec3 arm_b = tl_sub(m->low, o->centre[1]), t[2];
  o->axis = tl_ns_slider_axis(o);
  across(o->axis, t);
  for (int k = 0; k < 2; k++)
    add_point(m, t[k], arm_b, tl_dot(t[k], m->apart), tl_dot(t[k], m->force));
  TlVec3 off = turn_between(o->turn[0], tl_quat_mul(o->turn[1], o->row.slider.turn));
  add_turn(m, o->axis, tl_dot(o->axis, off), tl_dot(o->axis, m->moment));
  for (int k = 0; k < 2 && !o->control.tilts; k++)
    add_turn(m, t[k], tl_dot(t[k], off), tl_dot(t[k], m->moment));
  m->along = (TlNsRow){.along = o->axis,
                       .turn_a = tl_cross(m->ra, o->axis),
                       .turn_b = tl_scale(-1, tl_cross(arm_b, o->axis))};
  m->travel = tl_dot(o->axis, m->apart);
  if (!o->control.driven) return;
  joint->row[joint->rows] = m->along;
  joint->row[joint->rows].rhs = o->control.speed;
  joint->row[joint->rows++].lambda = tl_dot(o->axis, m->force);
}

/* A rod; a distance with play has stops. */
static void add_distance(Maker *m) {
  TlNsOrigin *o = m->o;
  const TlDistance *distance = &o->row.distance;
  m->travel = tl_norm(m->apart);
  o->axis = m->travel > 0 ? tl_scale(1 / m->travel, m->apart) : axes[2];
  m->along = (TlNsRow){.along = o->axis,
                       .turn_a = tl_cross(m->ra, o->axis),
                       .turn_b = tl_scale(-1, tl_cross(m->rb, o->axis))};
  if (distance->least == distance->most)
    add_point(m, o->axis, m->rb, m->travel - distance->least, tl_dot(o->axis, m->force));
}

/* impulse: along the motion's row, to start from. */
static void add_stops(Maker *m, double least, double most, double impulse) {
  m->o->limit_row = m->joint->rows;
  add_stop(m, m->along, m->travel - least, impulse);
  add_stop(m, reversed(m->along), most - m->travel, -impulse);
}

static void add_motor(Maker *m) {
  TlNsOrigin *o = m->o;
  TlNsRow *row = &m->joint->row[m->joint->rows];
  o->motor_row = m->joint->rows++;
  *row = m->along;
  row->rhs = o->motor.speed;
  row->most = m->impact ? 0 : o->motor.most * m->h;
  row->least = -row->most;
  row->lambda = m->warm ? tl_max(row->least, tl_min(row->most, o->motor.effort * m->h)) : 0;
}

/* What the joint bore in the last step; a rod bears no moment. */
static void take_last(Maker *m) {
  const TlNsOrigin *o = m->o;
  TlVec3 force = {0, 0, 0}, moment = {0, 0, 0};
  if (m->warm && o->kind == TL_WELDS) force = o->row.weld.force, moment = o->row.weld.moment;
  if (m->warm && o->kind == TL_HINGES) force = o->row.hinge.force, moment = o->row.hinge.moment;
  if (m->warm && o->kind == TL_SLIDERS) force = o->row.slider.force, moment = o->row.slider.moment;
  if (m->warm && o->kind == TL_DISTANCES) force = o->row.distance.force;
  m->force = tl_scale(m->h, force);
  m->moment = tl_scale(m->h, moment);
}

void tl_ns_joint_rows(const TlNsProblem *q, TlNsOrigin *o, TlNsJoint *joint, double h,
                      double damping, bool impact, bool warm) {
  const TlDistance *distance = &o->row.distance;
  TlVec3 to_low = tl_quat_rotate(o->turn[0], o->row.weld.anchor_low); /* all kinds begin alike */
  TlVec3 to_high = tl_quat_rotate(o->turn[1], o->row.weld.anchor_high);
  TlVec3 low = tl_add(o->x[0], to_low), high = tl_add(o->x[1], to_high);
  Maker m = {.q = q,
             .o = o,
             .joint = joint,
             .ra = tl_add(to_low, tl_sub(o->x[0], o->centre[0])),
             .rb = tl_add(to_high, tl_sub(o->x[1], o->centre[1])),
             .low = low,
             .apart = tl_sub(low, high),
             .h = h,
             .upsilon = 1 / (1 + 4 * damping),
             .impact = impact,
             .warm = warm};
  take_last(&m);
  joint->rows = 0;
  o->point = low;
  o->arm = m.ra;
  o->axis = (TlVec3){0, 0, 0};
  o->motor_row = o->limit_row = -1;
  if (o->kind == TL_WELDS) add_weld(&m);
  if (o->kind == TL_HINGES) add_hinge(&m);
  if (o->kind == TL_SLIDERS) add_slider(&m);
  if (o->kind == TL_DISTANCES) add_distance(&m);
  joint->equal = joint->rows;
  if (o->kind == TL_DISTANCES && distance->least < distance->most)
    add_stops(&m, distance->least, distance->most, tl_dot(o->axis, m.force));
  if (o->driven) add_motor(&m);
  if (o->limited) add_stops(&m, o->limit.least, o->limit.most, warm ? o->limit.effort * h : 0);
  tl_nonsmooth_prepare_joint(q, joint);
}

/* ---- results ---- */

/* Force and moment about the low anchor of rows [first, last). */
static void add_rows(const TlNsJoint *joint, int first, int last, TlVec3 arm, double per_s,
                     TlConstraintRow *sum) {
  for (int k = first; k < last; k++) {
    const TlNsRow *r = &joint->row[k];
    TlVec3 force = tl_scale(per_s * r->lambda, r->along);
    sum->force_N = tl_add(sum->force_N, force);
    sum->moment_N_m = tl_add(sum->moment_N_m,
                             tl_sub(tl_scale(per_s * r->lambda, r->turn_a), tl_cross(arm, force)));
  }
}

void tl_ns_joint_note_impact(TlNsOrigin *o, const TlNsJoint *joint, double h) {
  TlConstraintRow sum = {.kind = o->kind};
  add_rows(joint, 0, joint->rows, o->arm, 1 / h, &sum);
  o->blow_N = sum.force_N;
  o->blow_N_m = sum.moment_N_m;
}

static TlConstraintRow row_of(TlPairKind kind, TlPairKey key, const TlNsOrigin *o) {
  return (TlConstraintRow){.kind = kind, .key = key, .point_m = o->point};
}

TlNsReaction tl_ns_joint_note(const TlNsOrigin *o, const TlNsJoint *joint, double h) {
  TlNsReaction to = {.row[0] = row_of(o->kind, o->row.key, o)};
  double per_s = 1 / h;
  bool ends = o->kind == TL_DISTANCES;
  add_rows(joint, 0, ends ? joint->rows : joint->equal, o->arm, per_s, &to.row[0]);
  to.force = to.row[0].force_N;
  to.moment = to.row[0].moment_N_m;
  to.row[0].force_N = tl_add(to.force, o->blow_N);
  to.row[0].moment_N_m = tl_add(to.moment, o->blow_N_m);
  if (o->driven) {
    const TlPairKey key = {o->motor.low, o->motor.high, o->motor.number};
    to.motor_effort = per_s * joint->row[o->motor_row].lambda;
    to.row[1] = row_of(TL_MOTORS, key, o);
    add_rows(joint, o->motor_row, o->motor_row + 1, o->arm, per_s, &to.row[1]);
  }
  if (o->limited) {
    const TlPairKey key = {o->limit.low, o->limit.high, o->limit.number};
    to.limit_effort =
        per_s * (joint->row[o->limit_row].lambda - joint->row[o->limit_row + 1].lambda);
    to.row[2] = row_of(TL_LIMITS, key, o);
    add_rows(joint, o->limit_row, o->limit_row + 2, o->arm, per_s, &to.row[2]);
  }
  return to;
}

void tl_ns_joint_remember(const TlNsFoundJoint *joint) {
  const TlNsReaction *from = &joint->reaction;
  TlVec3 force = from->force, moment = from->moment;
  TlWeld *weld = joint->row;
  TlHinge *hinge = joint->row;
  TlSlider *slider = joint->row;
  TlDistance *distance = joint->row;
  TlPairKind kind = joint->origin.kind;
  if (kind == TL_WELDS) weld->force = force, weld->moment = moment;
  if (kind == TL_HINGES) hinge->force = force, hinge->moment = moment;
  if (kind == TL_SLIDERS) slider->force = force, slider->moment = moment;
  if (kind == TL_DISTANCES) distance->force = force, distance->moment = moment;
  if (joint->motor) joint->motor->effort = from->motor_effort;
  if (joint->limit) joint->limit->effort = from->limit_effort;
}
