#include "solve/nonsmooth.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

/* ---- preparation ---- */

/* (r x d) through the body's inverse inertia. */
static TlVec3 turned(const TlNsBody *body, TlVec3 r, TlVec3 d) {
  return tl_sym_vec(body->inverse_inertia, tl_cross(r, d));
}

/* e.K d of the pair at the patch's centre of force. */
static double coupled(const TlNsBody *a, const TlNsBody *b, const TlNsPatch *p, TlVec3 d,
                      TlVec3 e) {
  return (a->inverse_mass + b->inverse_mass) * tl_dot(d, e) +
         tl_dot(tl_cross(p->ra, e), turned(a, p->ra, d)) +
         tl_dot(tl_cross(p->rb, e), turned(b, p->rb, d));
}

void tl_nonsmooth_prepare(const TlNsProblem *q, TlNsPatch *p) {
  const TlNsBody *a = &q->body[p->a], *b = &q->body[p->b];
  p->idle_until = -INFINITY;
  bool all = q->slack_m_s > 0; /* its friction may have to wait, too */
  p->arm_a = all ? tl_norm(p->ra) : tl_norm(tl_cross(p->ra, p->n));
  p->arm_b = all ? tl_norm(p->rb) : tl_norm(tl_cross(p->rb, p->n));
  p->kn1 = coupled(a, b, p, p->n, p->t1);
  p->kn2 = coupled(a, b, p, p->n, p->t2);
  double k11 = coupled(a, b, p, p->t1, p->t1), k12 = coupled(a, b, p, p->t1, p->t2),
         k22 = coupled(a, b, p, p->t2, p->t2);
  double between = k11 - k22;
  p->stiff = 0.5 * (k11 + k22 + sqrt(between * between + 4 * k12 * k12));
  p->slide = 1 / p->stiff;
  if (p->count == 1) {
    TlNsPoint *x = &q->point[p->first];
    x->stiff = coupled(a, b, p, p->n, p->n) + x->sigma;
    x->inverse = 1 / x->stiff;
  }
  for (int32_t k = p->first; p->count > 1 && k < p->first + p->count; k++) {
    TlNsArm *m = &q->arm[k];
    p->arm_a = tl_max(p->arm_a, tl_norm(m->ran));
    p->arm_b = tl_max(p->arm_b, tl_norm(m->rbn));
    m->turn_a = tl_sym_vec(a->inverse_inertia, m->ran);
    m->turn_b = tl_sym_vec(b->inverse_inertia, m->rbn);
    q->point[k].stiff = a->inverse_mass + b->inverse_mass + tl_dot(m->ran, m->turn_a) +
                        tl_dot(m->rbn, m->turn_b) + q->point[k].sigma;
    q->point[k].inverse = 1 / q->point[k].stiff;
  }
  if (p->resist < 0) return;
  TlNsResist *r = &q->resist[p->resist];
  const TlSym3 *i = &a->inverse_inertia, *j = &b->inverse_inertia;
  TlSym3 sum = {i->xx + j->xx, i->yy + j->yy, i->zz + j->zz,
                i->xy + j->xy, i->xz + j->xz, i->yz + j->yz};
  TlVec3 s1 = tl_sym_vec(sum, p->t1), s2 = tl_sym_vec(sum, p->t2);
  k11 = tl_dot(p->t1, s1), k12 = tl_dot(p->t2, s1), k22 = tl_dot(p->t2, s2), between = k11 - k22;
  r->rolling_stiff = 0.5 * (k11 + k22 + sqrt(between * between + 4 * k12 * k12));
  r->twisting_stiff = tl_dot(p->n, tl_sym_vec(sum, p->n));
  r->rolling_step = 1 / r->rolling_stiff;
  r->twisting_step = 1 / r->twisting_stiff;
}

double tl_nonsmooth_row_velocity(const TlNsRow *r, const TlNsBody *a, const TlNsBody *b) {
  return tl_dot(r->along, tl_sub(a->v, b->v)) + tl_dot(r->turn_a, a->w) + tl_dot(r->turn_b, b->w);
}

/* Inverse of a symmetric positive definite matrix of n rows, by Gauss and Jordan. */
static void invert(int n, double m[TL_NS_EQUAL][TL_NS_EQUAL]) {
  for (int k = 0; k < n; k++) {
    double pivot = 1 / m[k][k];
    m[k][k] = 1;
    for (int j = 0; j < n; j++) m[k][j] *= pivot;
    for (int i = 0; i < n; i++) {
      if (i == k) continue;
      double factor = m[i][k];
      m[i][k] = 0;
      for (int j = 0; j < n; j++) m[i][j] -= factor * m[k][j];
    }
  }
}

void tl_nonsmooth_prepare_joint(const TlNsProblem *q, TlNsJoint *joint) {
  const TlNsBody *a = &q->body[joint->a], *b = &q->body[joint->b];
  double mass = a->inverse_mass + b->inverse_mass;
  for (int k = 0; k < joint->rows; k++) {
    TlNsRow *r = &joint->row[k];
    r->spin_a = tl_sym_vec(a->inverse_inertia, r->turn_a);
    r->spin_b = tl_sym_vec(b->inverse_inertia, r->turn_b);
    r->inverse = 1 / (mass * tl_norm2(r->along) + tl_dot(r->turn_a, r->spin_a) +
                      tl_dot(r->turn_b, r->spin_b) + r->sigma);
  }
  for (int i = 0; i < joint->equal; i++)
    for (int j = 0; j < joint->equal; j++) {
      const TlNsRow *r = &joint->row[i], *s = &joint->row[j];
      joint->inverse[i][j] = mass * tl_dot(r->along, s->along) + tl_dot(r->turn_a, s->spin_a) +
                             tl_dot(r->turn_b, s->spin_b) + (i == j ? r->sigma : 0);
    }
  invert(joint->equal, joint->inverse);
}

static inline TlVec3 bond_velocity(const TlNsBond *bond, const TlNsBody *a, const TlNsBody *b) {
  return tl_axpy(tl_sub(a->v, b->v), -bond->half, tl_cross(tl_add(a->w, b->w), bond->n));
}

TlVec3 tl_nonsmooth_bond_velocity(const TlNsBond *bond, const TlNsBody *a, const TlNsBody *b) {
  return bond_velocity(bond, a, b);
}

/* inverse_t comes as 1 where there are rows across. */
void tl_nonsmooth_prepare_bond(const TlNsProblem *q, TlNsBond *bond) {
  const TlNsBody *a = &q->body[bond->a], *b = &q->body[bond->b];
  double mass = a->inverse_mass + b->inverse_mass;
  double turns =
      bond->half * bond->half * (a->inverse_inertia.xx + b->inverse_inertia.xx); /* spheres */
  bond->inverse_n = 1 / (mass + bond->sigma_n);
  if (bond->inverse_t > 0) bond->inverse_t = 1 / (mass + turns + bond->sigma_t);
}

/* ---- iterations ---- */

enum { AHEAD = 3 }; /* patches */

/* Two bodies while a patch is visited. Fixed ones are shared by islands: never written, a copy takes
 * their place. */
typedef struct Couple {
  TlNsBody *a, *b;
  TlNsBody fixed;
} Couple;

static inline TlNsBody *taken(const TlNsProblem *q, int32_t i, Couple *c) {
  TlNsBody *body = &q->body[i];
  if (body->inverse_mass > 0) return body;
  c->fixed = *body;
  return &c->fixed;
}

/* One of the two moves. */
static inline void load(const TlNsProblem *q, int32_t a, int32_t b, Couple *c) {
  c->a = taken(q, a, c);
  c->b = taken(q, b, c);
}

static inline TlVec3 relative(const TlNsPatch *p, const Couple *c) {
  return tl_sub(tl_add(c->a->v, tl_cross(c->a->w, p->ra)),
                tl_add(c->b->v, tl_cross(c->b->w, p->rb)));
}

/* No less than its length. */
static inline double size_of(TlVec3 x) {
  return fabs(x.x) + fabs(x.y) + fabs(x.z);
}

static inline void change_v(TlNsBody *b, double factor, TlVec3 x) {
  b->v = tl_axpy(b->v, factor, x);
  b->moved += fabs(factor) * size_of(x);
}

static inline void change_w(TlNsBody *b, double factor, TlVec3 x) {
  b->w = tl_axpy(b->w, factor, x);
  b->turned += fabs(factor) * size_of(x);
}

static inline void push(const TlNsPatch *p, Couple *c, TlVec3 impulse) {
  change_v(c->a, c->a->inverse_mass, impulse);
  change_w(c->a, 1, tl_sym_vec(c->a->inverse_inertia, tl_cross(p->ra, impulse)));
  change_v(c->b, -c->b->inverse_mass, impulse);
  change_w(c->b, -1, tl_sym_vec(c->b->inverse_inertia, tl_cross(p->rb, impulse)));
}

static inline void push_arm(const TlNsArm *m, Couple *c, double impulse) {
  change_v(c->a, impulse * c->a->inverse_mass, m->n);
  change_w(c->a, impulse, m->turn_a);
  change_v(c->b, -impulse * c->b->inverse_mass, m->n);
  change_w(c->b, -impulse, m->turn_b);
}

static inline void spin(Couple *c, TlVec3 moment) {
  change_w(c->a, 1, tl_sym_vec(c->a->inverse_inertia, moment));
  change_w(c->b, -1, tl_sym_vec(c->b->inverse_inertia, moment));
}

/* Change of a normal impulse where the relative velocity is un. */
static inline double normal_change(TlNsPoint *x, double un) {
  double next = tl_max(x->least, x->lambda + (x->rhs - un - x->sigma * x->lambda) * x->inverse);
  double change = next - x->lambda;
  x->lambda = next;
  return change;
}

static inline void bound_disc(double most, double l[2]) {
  double size2 = l[0] * l[0] + l[1] * l[1];
  if (!(size2 > most * most)) return;
  double keep = most / sqrt(size2);
  l[0] *= keep;
  l[1] *= keep;
}

/* Changes of velocities are handed on as their squares: roots and divisions are most of a visit's time.
 *
 * A step against the sliding velocity with one scalar, projected on the disc: its fixed point is
 * opposite to it (Correction 24). Where the exact impulse that stops the sliding was taken while it lay
 * in the disc, islands of boxes went round between sticking and sliding for ever, at 5e-6 of g h. */
static inline double friction_change(TlNsPatch *p, double u1, double u2, double most, double *d1,
                                     double *d2) {
  double l[2] = {p->lambda[0] - p->slide * u1, p->lambda[1] - p->slide * u2};
  bound_disc(most, l);
  *d1 = l[0] - p->lambda[0];
  *d2 = l[1] - p->lambda[1];
  p->lambda[0] = l[0];
  p->lambda[1] = l[1];
  return (*d1 * *d1 + *d2 * *d2) * p->stiff * p->stiff;
}

static inline double squared(double x) {
  return x * x;
}

/* most, twist: bounds of rolling, and of twisting where that is not the friction of a face (face_change). The change of a
 * spin counts by the velocity that it is at the end of the arm. */
static double resist_change(const TlNsPatch *p, TlNsResist *r, Couple *c, double most,
                            double twist) {
  TlVec3 w = tl_sub(c->a->w, c->b->w), moment = {0, 0, 0};
  double change2 = 0;
  if (r->twisting > 0 && !(r->spread > 0)) {
    double l = r->lambda[0] - r->twisting_step * (tl_dot(w, p->n) - r->wall[0]);
    l = tl_max(-twist, tl_min(twist, l));
    double d = l - r->lambda[0];
    moment = tl_scale(d, p->n);
    r->lambda[0] = l;
    change2 = squared(d * r->twisting_stiff);
  }
  if (r->rolling > 0) {
    double l[2] = {r->lambda[1] - r->rolling_step * (tl_dot(w, p->t1) - r->wall[1]),
                   r->lambda[2] - r->rolling_step * (tl_dot(w, p->t2) - r->wall[2])};
    bound_disc(most, l);
    double d1 = l[0] - r->lambda[1], d2 = l[1] - r->lambda[2];
    moment = tl_axpy(tl_axpy(moment, d1, p->t1), d2, p->t2);
    r->lambda[1] = l[0];
    r->lambda[2] = l[1];
    change2 = tl_max(change2, (d1 * d1 + d2 * d2) * squared(r->rolling_stiff));
  }
  spin(c, moment);
  return change2 * tl_norm2(p->ra);
}

/* Largest friction of a face across, and its largest moment about the normal over that: an arm. */
typedef struct Face {
  double most, arm;
} Face;

static inline bool is_face(const TlNsProblem *q, const TlNsPatch *p) {
  return p->resist >= 0 && q->resist[p->resist].spread > 0;
}

/* spread: normal impulses times their distances from the centre of force. */
static inline Face face_of(const TlNsPatch *p, const TlNsResist *r, double borne, double spread) {
  if (!(borne > 0)) return (Face){0, 0};
  return (Face){p->friction * borne, spread / borne + r->twisting / p->friction};
}

/* The nearest impulses across, l, and about the normal, turn (the moment over the arm), that a face can bear: within
 * two thirds of the most from the double cone |l| + |turn| <= most/3. */
static inline void bound_face(const Face *f, double l[2], double *turn) {
  double cone = TL_NS_CONE * f->most, ball = f->most - cone;
  double size = sqrt(l[0] * l[0] + l[1] * l[1]), spun = fabs(*turn);
  double over = 0.5 * (size + spun - cone);
  if (over <= 0) return;
  double to_l = tl_max(0, tl_min(cone, size - over)),
         to_turn = tl_max(0, tl_min(cone, spun - over));
  double far_l = size - to_l, far_turn = spun - to_turn, far2 = far_l * far_l + far_turn * far_turn;
  if (far2 <= ball * ball) return;
  double back = ball / sqrt(far2), keep = size > 0 ? (to_l + back * far_l) / size : 0;
  l[0] *= keep;
  l[1] *= keep;
  *turn *= spun > 0 ? (to_turn + back * far_turn) / spun : 0;
}

/* A moment over the arm, cut to what a face can bear beside the impulses l across. The moment may be of a time when the
 * arm was longer: over an arm that has shrunk to nothing it would be of any size, and bound_face would leave no l. */
static inline double turn_beside(const Face *f, const double l[2], double moment) {
  double cone = TL_NS_CONE * f->most, ball = f->most - cone, corner = sqrt(0.5) * ball;
  double size = sqrt(l[0] * l[0] + l[1] * l[1]), most = 0;
  if (!(f->arm > 0)) return 0;
  if (size <= corner)
    most = cone + sqrt(ball * ball - size * size);
  else if (size <= cone + corner)
    most = cone + 2 * corner - size;
  else if (size < f->most)
    most = sqrt(ball * ball - squared(size - cone));
  return tl_max(-most, tl_min(most, moment / f->arm));
}

/* A step of friction and twist together: as friction_change, with the moment over the arm as a third impulse
 * and the spin times the arm as its velocity. */
static double face_change(TlNsPatch *p, TlNsResist *r, Couple *c, const Face *f) {
  TlVec3 u = relative(p, c);
  double spin_n = tl_dot(tl_sub(c->a->w, c->b->w), p->n) - r->wall[0];
  double turn_stiff = f->arm * f->arm * r->twisting_stiff;
  double step = turn_stiff > p->stiff ? 1 / turn_stiff : p->slide;
  double l[2] = {p->lambda[0] - step * (tl_dot(p->t1, u) - p->wall[1]),
                 p->lambda[1] - step * (tl_dot(p->t2, u) - p->wall[2])};
  double turn = turn_beside(f, p->lambda, r->lambda[0]) - step * f->arm * spin_n;
  bound_face(f, l, &turn);
  double d1 = l[0] - p->lambda[0], d2 = l[1] - p->lambda[1], d3 = f->arm * turn - r->lambda[0];
  p->lambda[0] = l[0];
  p->lambda[1] = l[1];
  r->lambda[0] = f->arm * turn;
  push(p, c, tl_axpy(tl_scale(d1, p->t1), d2, p->t2));
  spin(c, tl_scale(d3, p->n));
  return tl_max((d1 * d1 + d2 * d2) * squared(p->stiff),
                squared(d3 * r->twisting_stiff) * tl_norm2(p->ra));
}

/* ---- patches that bear nothing ---- */

static const double LEAST_SLACK =
    1e-9; /* m/s: a thousandth of it is far above what rounding may do */

static inline double gone(const TlNsPatch *p, const TlNsBody *a, const TlNsBody *b) {
  return a->moved + b->moved + p->arm_a * a->turned + p->arm_b * b->turned;
}

static inline bool is_idle(const TlNsPatch *p, const TlNsBody *a, const TlNsBody *b) {
  return gone(p, a, b) < p->idle_until;
}

/* The patch has no impulse, and least `slack` is left until a normal row has. */
static inline void let_idle(TlNsPatch *p, const Couple *c, double slack) {
  if (slack > LEAST_SLACK) p->idle_until = gone(p, c->a, c->b) + 0.999 * slack;
}

/* The patch bears, and its visit changed velocities by so little, squared. */
static inline void let_wait(const TlNsProblem *q, TlNsPatch *p, const Couple *c, double change2) {
  if (change2 < q->slack_m_s * q->slack_m_s) p->idle_until = gone(p, c->a, c->b) + q->slack_m_s;
}

static inline bool turns_nothing(const TlNsProblem *q, const TlNsPatch *p) {
  if (p->resist < 0) return true;
  const double *l = q->resist[p->resist].lambda;
  return l[0] == 0 && l[1] == 0 && l[2] == 0;
}

/* One point: the velocity is asked for once and both kinds of rows push together. Largest change,
 * squared. */
static inline double visit_one(const TlNsProblem *q, TlNsPatch *p, Couple *c) {
  TlNsPoint *x = &q->point[p->first];
  TlVec3 u = relative(p, c);
  double un = tl_dot(p->n, u) - p->wall[0], dn = normal_change(x, un);
  if (x->lambda == 0 && dn == 0 && x->least == 0 && p->lambda[0] == 0 && p->lambda[1] == 0 &&
      turns_nothing(q, p)) {
    let_idle(p, c, un - x->rhs);
    return 0;
  }
  double change = squared(dn * x->stiff), d1 = 0, d2 = 0, borne = x->lambda - x->least;
  double most = p->friction * borne;
  if (most > 0 || p->lambda[0] != 0 || p->lambda[1] != 0) {
    double u1 = tl_dot(p->t1, u) - p->wall[1] + p->kn1 * dn;
    double u2 = tl_dot(p->t2, u) - p->wall[2] + p->kn2 * dn;
    change = tl_max(change, friction_change(p, u1, u2, most, &d1, &d2));
  }
  push(p, c, tl_axpy(tl_axpy(tl_scale(dn, p->n), d1, p->t1), d2, p->t2));
  if (p->resist >= 0) {
    TlNsResist *r = &q->resist[p->resist];
    change = tl_max(change, resist_change(p, r, c, r->rolling * borne, r->twisting * borne));
  }
  let_wait(q, p, c, change);
  return change;
}

static double visit_patch(const TlNsProblem *q, TlNsPatch *p, Couple *c) {
  double change = 0, borne = 0, spread = 0, slack = INFINITY;
  bool idle = p->lambda[0] == 0 && p->lambda[1] == 0 && turns_nothing(q, p);
  for (int32_t k = p->first; k < p->first + p->count; k++) {
    TlNsPoint *x = &q->point[k];
    const TlNsArm *m = &q->arm[k];
    double un = tl_dot(m->n, tl_sub(c->a->v, c->b->v)) + tl_dot(m->ran, c->a->w) -
                tl_dot(m->rbn, c->b->w) - m->wall_n;
    double dn = normal_change(x, un);
    if (dn != 0) push_arm(m, c, dn);
    idle = idle && dn == 0 && x->lambda == 0 && x->least == 0;
    slack = tl_min(slack, un - x->rhs);
    change = tl_max(change, squared(dn * x->stiff));
    borne += x->lambda - x->least;
    spread += (x->lambda - x->least) * x->arm;
  }
  if (idle) {
    let_idle(p, c, slack);
    return 0;
  }
  double most = p->friction * borne, d1, d2;
  if (is_face(q, p)) {
    TlNsResist *r = &q->resist[p->resist];
    Face f = face_of(p, r, borne, spread);
    change = tl_max(change, face_change(p, r, c, &f));
  } else if (most > 0 || p->lambda[0] != 0 || p->lambda[1] != 0) {
    TlVec3 u = relative(p, c);
    double u1 = tl_dot(p->t1, u) - p->wall[1], u2 = tl_dot(p->t2, u) - p->wall[2];
    change = tl_max(change, friction_change(p, u1, u2, most, &d1, &d2));
    push(p, c, tl_axpy(tl_scale(d1, p->t1), d2, p->t2));
  }
  if (p->resist >= 0) {
    TlNsResist *r = &q->resist[p->resist];
    change = tl_max(change, resist_change(p, r, c, r->rolling * borne, r->twisting * borne));
  }
  let_wait(q, p, c, change);
  return change;
}

static void push_row(const TlNsRow *r, Couple *c, double impulse) {
  change_v(c->a, impulse * c->a->inverse_mass, r->along);
  change_w(c->a, impulse, r->spin_a);
  change_v(c->b, -impulse * c->b->inverse_mass, r->along);
  change_w(c->b, impulse, r->spin_b);
}

/* A row that turns only counts by the spin times a length, as resist_change has it: by the radius of
 * gyration of the lighter body, about. Squared. */
static double row_change(const TlNsRow *r, double impulse, const Couple *c) {
  double mass = c->a->inverse_mass + c->b->inverse_mass;
  bool turns = !(tl_norm2(r->along) > 0);
  return impulse * impulse * (turns ? mass / r->inverse : 1 / (r->inverse * r->inverse));
}

static double visit_joint(TlNsJoint *joint, Couple *c) {
  double owed[TL_NS_EQUAL], change = 0;
  for (int k = 0; k < joint->equal; k++) {
    const TlNsRow *r = &joint->row[k];
    owed[k] = r->rhs - tl_nonsmooth_row_velocity(r, c->a, c->b) - r->sigma * r->lambda;
  }
  for (int k = 0; k < joint->equal; k++) {
    TlNsRow *r = &joint->row[k];
    double d = 0;
    for (int j = 0; j < joint->equal; j++) d += joint->inverse[k][j] * owed[j];
    r->lambda += d;
    push_row(r, c, d);
    change = tl_max(change, row_change(r, d, c));
  }
  for (int k = joint->equal; k < joint->rows; k++) {
    TlNsRow *r = &joint->row[k];
    double u = tl_nonsmooth_row_velocity(r, c->a, c->b);
    double next = r->lambda + (r->rhs - u - r->sigma * r->lambda) * r->inverse;
    next = tl_max(r->least, tl_min(r->most, next));
    double d = next - r->lambda;
    r->lambda = next;
    push_row(r, c, d);
    change = tl_max(change, row_change(r, d, c));
  }
  return change;
}

static inline void push_bond(const TlNsBond *bond, Couple *c, TlVec3 impulse) {
  TlVec3 turn = tl_scale(-bond->half, tl_cross(bond->n, impulse)); /* the same on both */
  change_v(c->a, c->a->inverse_mass, impulse);
  change_v(c->b, -c->b->inverse_mass, impulse);
  change_w(c->a, c->a->inverse_inertia.xx, turn);
  change_w(c->b, c->b->inverse_inertia.xx, turn);
}

/* Largest change of a velocity, squared. */
static inline double visit_bond(TlNsBond *bond, Couple *c) {
  TlVec3 owed = tl_sub(bond->rhs, bond_velocity(bond, c->a, c->b));
  double along = tl_dot(bond->lambda, bond->n), owed_n = tl_dot(owed, bond->n);
  TlVec3 owed_t = tl_axpy(owed, -owed_n, bond->n);
  TlVec3 across = tl_axpy(bond->lambda, -along, bond->n);
  double normal = (owed_n - bond->sigma_n * along) * bond->inverse_n;
  TlVec3 change_t = tl_scale(bond->inverse_t, tl_axpy(owed_t, -bond->sigma_t, across));
  TlVec3 change = tl_axpy(change_t, normal, bond->n);
  bond->lambda = tl_add(bond->lambda, change);
  push_bond(bond, c, change);
  double most = squared(normal / bond->inverse_n);
  if (bond->inverse_t > 0) most = tl_max(most, tl_norm2(change_t) / squared(bond->inverse_t));
  return most;
}

/* ---- impulses as lists ---- */

static void push_patch(const TlNsProblem *q, const TlNsPatch *p, const double *normal,
                       const double *shear, const double *turn, Couple *c) {
  if (p->count > 1)
    for (int32_t k = 0; k < p->count; k++) push_arm(&q->arm[p->first + k], c, normal[k]);
  double one = p->count > 1 ? 0 : normal[0];
  push(p, c, tl_axpy(tl_axpy(tl_scale(one, p->n), shear[0], p->t1), shear[1], p->t2));
  if (p->resist >= 0)
    spin(c, tl_axpy(tl_axpy(tl_scale(turn[0], p->n), turn[1], p->t1), turn[2], p->t2));
}

void tl_nonsmooth_warm(const TlNsProblem *q, const TlNsRange *range) {
  Couple c;
  for (int32_t i = range->first_joint; i < range->last_joint; i++) {
    const TlNsJoint *joint = &q->joint[i];
    load(q, joint->a, joint->b, &c);
    for (int k = 0; k < joint->rows; k++) push_row(&joint->row[k], &c, joint->row[k].lambda);
  }
  for (int32_t i = range->first_bond; i < range->last_bond; i++) {
    const TlNsBond *bond = &q->bond[i];
    load(q, bond->a, bond->b, &c);
    push_bond(bond, &c, bond->lambda);
  }
  for (int32_t i = range->first; i < range->last; i++) {
    const TlNsPatch *p = &q->patch[i];
    double normal[TL_NS_POINTS];
    for (int32_t k = 0; k < p->count; k++) normal[k] = q->point[p->first + k].lambda;
    load(q, p->a, p->b, &c);
    push_patch(q, p, normal, p->lambda, p->resist >= 0 ? q->resist[p->resist].lambda : NULL, &c);
  }
}

double tl_nonsmooth_sweep(const TlNsProblem *q, const TlNsRange *range) {
  double most = 0;
  Couple c;
  for (int32_t i = range->first_joint; i < range->last_joint; i++) {
    TlNsJoint *joint = &q->joint[i];
    load(q, joint->a, joint->b, &c);
    most = tl_max(most, visit_joint(joint, &c));
  }
  for (int32_t i = range->first_bond; i < range->last_bond; i++) {
    TlNsBond *bond = &q->bond[i];
    load(q, bond->a, bond->b, &c);
    most = tl_max(most, visit_bond(bond, &c));
  }
  for (int32_t i = range->first; i < range->last; i++) {
    TlNsPatch *p = &q->patch[i];
    const TlNsPatch *soon = &q->patch[i + AHEAD < range->last ? i + AHEAD : i];
    __builtin_prefetch(&q->body[soon->a]);
    __builtin_prefetch(&q->body[soon->b]);
    if (is_idle(p, &q->body[p->a], &q->body[p->b])) continue;
    load(q, p->a, p->b, &c);
    most = tl_max(most, p->count == 1 ? visit_one(q, p, &c) : visit_patch(q, p, &c));
  }
  return most;
}

/* ---- beyond sweeps ---- */

void tl_nonsmooth_note(const TlNsProblem *q, const TlNsRange *range) {
  const TlNsImpulses *b = &q->before;
  for (int32_t i = range->first_joint; i < range->last_joint; i++)
    for (int k = 0; k < q->joint[i].rows; k++) b->joint[i][k] = q->joint[i].row[k].lambda;
  for (int32_t i = range->first_bond; i < range->last_bond; i++) b->bond[i] = q->bond[i].lambda;
  for (int32_t i = range->first; i < range->last; i++) {
    const TlNsPatch *p = &q->patch[i];
    for (int32_t k = p->first; k < p->first + p->count; k++) b->point[k] = q->point[k].lambda;
    for (int k = 0; k < 2; k++) b->patch[i][k] = p->lambda[k];
    for (int k = 0; p->resist >= 0 && k < 3; k++)
      b->resist[p->resist][k] = q->resist[p->resist].lambda[k];
  }
}

/* One row: its impulse before and after, and what it changed by in the sweep before, which this one replaces. */
static inline void compare(double before, double after, double stiff, double *last,
                           TlNsChange *sum) {
  double change = after - before;
  sum->square += stiff * change * change;
  sum->with_last += stiff * change * *last;
  *last = change;
}

static void compare_bond(const TlNsBond *bond, TlVec3 before, TlVec3 *last, TlNsChange *sum) {
  TlVec3 change = tl_sub(bond->lambda, before);
  double along = tl_dot(change, bond->n), along_last = tl_dot(*last, bond->n);
  sum->square += squared(along) / bond->inverse_n;
  sum->with_last += along * along_last / bond->inverse_n;
  if (bond->inverse_t > 0) {
    sum->square += (tl_norm2(change) - squared(along)) / bond->inverse_t;
    sum->with_last += (tl_dot(change, *last) - along * along_last) / bond->inverse_t;
  }
  *last = change;
}

/* Sums of its own, which stay in registers: half of the time of a comparison. */
static TlNsChange compare_patches(const TlNsProblem *q, int32_t first, int32_t last) {
  const TlNsImpulses *b = &q->before, *l = &q->last;
  TlNsChange normal = {0, 0}, other = {0, 0};
  for (int32_t i = first; i < last; i++) {
    const TlNsPatch *p = &q->patch[i];
    for (int32_t k = p->first; k < p->first + p->count; k++)
      compare(b->point[k], q->point[k].lambda, q->point[k].stiff, &l->point[k], &normal);
    for (int k = 0; k < 2; k++)
      compare(b->patch[i][k], p->lambda[k], p->stiff, &l->patch[i][k], &other);
    if (p->resist < 0) continue;
    const TlNsResist *r = &q->resist[p->resist];
    for (int k = 0; k < 3; k++)
      compare(b->resist[p->resist][k], r->lambda[k], k == 0 ? r->twisting_stiff : r->rolling_stiff,
              &l->resist[p->resist][k], &other);
  }
  return (TlNsChange){normal.square + other.square, normal.with_last + other.with_last};
}

TlNsChange tl_nonsmooth_compare(const TlNsProblem *q, const TlNsRange *range) {
  const TlNsImpulses *b = &q->before, *l = &q->last;
  TlNsChange sum = compare_patches(q, range->first, range->last);
  for (int32_t i = range->first_joint; i < range->last_joint; i++)
    for (int k = 0; k < q->joint[i].rows; k++) {
      const TlNsRow *r = &q->joint[i].row[k];
      compare(b->joint[i][k], r->lambda, 1 / r->inverse, &l->joint[i][k], &sum);
    }
  for (int32_t i = range->first_bond; i < range->last_bond; i++)
    compare_bond(&q->bond[i], b->bond[i], &l->bond[i], &sum);
  return sum;
}

/* How a step goes beyond a sweep. */
typedef struct Beyond {
  const TlNsProblem *q;
  double beta;
  bool again;
} Beyond;

/* Of one row: where it would be. */
static inline double wanted(const Beyond *y, double lambda, double last, const double *more) {
  return lambda + y->beta * (last + (y->again ? *more : 0));
}

/* The row goes there; gives by how much. more: where that is kept; NULL: nowhere. */
static inline double go(double *lambda, double to, double *more) {
  double by = to - *lambda;
  *lambda = to;
  if (more) *more = by;
  return by;
}

/* Where a list keeps the row; NULL: there is no list. */
static inline double *kept(double *list, int32_t at) {
  return list ? &list[at] : NULL;
}
static inline double *kept2(double (*list)[2], int32_t at, int k) {
  return list ? &list[at][k] : NULL;
}
static inline double *kept3(double (*list)[3], int32_t at, int k) {
  return list ? &list[at][k] : NULL;
}

static void patch_further(const Beyond *y, TlNsPatch *p, int32_t at) {
  const TlNsProblem *q = y->q;
  const TlNsImpulses *l = &q->last, *m = &q->more;
  double normal[TL_NS_POINTS], shear[2], to[2], to_turn = 0, turn[3] = {0, 0, 0}, borne = 0,
                                                spread = 0;
  bool moved = false;
  for (int32_t k = 0; k < p->count; k++) {
    int32_t i = p->first + k;
    TlNsPoint *x = &q->point[i];
    double next = wanted(y, x->lambda, l->point[i], kept(m->point, i));
    if (x->lambda <= x->least) next = x->lambda; /* a contact that bears nothing begins in sweeps */
    normal[k] = go(&x->lambda, tl_max(next, x->least), kept(m->point, i));
    borne += x->lambda - x->least;
    spread += (x->lambda - x->least) * x->arm;
    moved |= normal[k] != 0;
  }
  for (int k = 0; k < 2; k++)
    to[k] = wanted(y, p->lambda[k], l->patch[at][k], kept2(m->patch, at, k));
  Face f = {p->friction * borne, 0};
  if (is_face(q, p)) {
    const TlNsResist *r = &q->resist[p->resist];
    double next = wanted(y, r->lambda[0], l->resist[p->resist][0], kept3(m->resist, p->resist, 0));
    f = face_of(p, r, borne, spread);
    to_turn = turn_beside(&f, to, next);
    bound_face(&f, to, &to_turn);
  } else {
    bound_disc(f.most, to);
  }
  for (int k = 0; k < 2; k++) {
    shear[k] = go(&p->lambda[k], to[k], kept2(m->patch, at, k));
    moved |= shear[k] != 0;
  }
  for (int k = 0; p->resist >= 0 && k < 3; k++) {
    double *lambda = &q->resist[p->resist].lambda[k], *more = kept3(m->resist, p->resist, k);
    double next = k == 0 && is_face(q, p) ? f.arm * to_turn
                                          : wanted(y, *lambda, l->resist[p->resist][k], more);
    turn[k] = go(lambda, next, more);
    moved |= turn[k] != 0;
  }
  if (!moved) return;
  Couple c;
  load(q, p->a, p->b, &c);
  push_patch(q, p, normal, shear, turn, &c);
  p->idle_until = -INFINITY; /* it may bear again by this alone */
}

void tl_nonsmooth_further(const TlNsProblem *q, const TlNsRange *range, double beta, bool again) {
  const Beyond y = {q, beta, again};
  const TlNsImpulses *l = &q->last, *m = &q->more;
  Couple c;
  for (int32_t i = range->first_joint; i < range->last_joint; i++) {
    TlNsJoint *joint = &q->joint[i];
    load(q, joint->a, joint->b, &c);
    for (int k = 0; k < joint->rows; k++) {
      double *lambda = &joint->row[k].lambda, *more = m->joint ? &m->joint[i][k] : NULL;
      push_row(&joint->row[k], &c, go(lambda, wanted(&y, *lambda, l->joint[i][k], more), more));
    }
  }
  for (int32_t i = range->first_bond; i < range->last_bond; i++) {
    TlNsBond *bond = &q->bond[i];
    TlVec3 change = again ? tl_add(l->bond[i], m->bond[i]) : l->bond[i];
    TlVec3 by = tl_scale(beta, change);
    bond->lambda = tl_add(bond->lambda, by);
    if (m->bond) m->bond[i] = by;
    load(q, bond->a, bond->b, &c);
    push_bond(bond, &c, by);
  }
  for (int32_t i = range->first; i < range->last; i++) patch_further(&y, &q->patch[i], i);
}
