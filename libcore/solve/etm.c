#include "solve/etm.h"

#include <math.h>

/* Velocities at the contact as an impulse finds them. */
typedef struct Split {
  TlVec3 u, ut;
  double un;
  TlVec3 lag; /* u_t less the tangential velocity friction aims at */
} Split;

/* An impulse before it is given. */
typedef struct Push {
  TlVec3 p;
  double pn, du; /* n.p, and the change of u_n it makes */
  bool all;      /* it uses up the energy to be released */
} Push;

static Split split_velocity(const TlContact *c, const TlTwist *twist, TlVec3 aim) {
  Split s;
  s.u = tl_contact_velocity(c, twist);
  s.un = tl_dot(c->n, s.u);
  s.ut = tl_axpy(s.u, -s.un, c->n);
  s.lag = tl_sub(s.ut, aim);
  return s;
}

/* The impulse that raises u_n by du and brings the tangential velocity to its aim (Tang 2014
 * Eq. 50, where the aim is 0). */
static TlVec3 sticking_impulse(const TlContact *c, const Split *s, double du) {
  return tl_sym_vec(c->k_inverse, tl_axpy(tl_scale(-1, s->lag), du, c->n));
}

/* No absolute value of P_n: a pulling impulse is no stick (Correction 4). */
static bool in_cone(const TlContact *c, TlVec3 p, double *pn, TlVec3 *pt) {
  *pn = tl_dot(p, c->n);
  *pt = tl_axpy(p, -*pn, c->n);
  return *pn > 0 && tl_norm2(*pt) <= c->law->friction * c->law->friction * *pn * *pn;
}

/* Direction n + mu t of a sliding impulse along the trial's tangential part. Where n.Kt < 0 a large
 * mu would need an endless impulse: mu is cut so that n.K(n + mu t) >= 0.1 n.Kn. */
static TlVec3 sliding_direction(const TlContact *c, TlVec3 pt) {
  TlVec3 t = tl_unit(pt);
  double knt = tl_dot(c->n, tl_sym_vec(c->k, t)), mu = c->law->friction;
  if (knt < 0 && mu > 0.9 * c->knn / -knt) mu = 0.9 * c->knn / -knt;
  return tl_axpy(c->n, mu, t);
}

/* Work of the push's tangential part: > 0 where it adds energy. */
static double tangential_work(const TlContact *c, const Split *s, const Push *push) {
  TlVec3 pt = tl_axpy(push->p, -push->pn, c->n);
  return tl_dot(pt, tl_axpy(s->u, 0.5, tl_sym_vec(c->k, push->p)));
}

/* Friction gives back no more than it took at this contact in this round, to rounding. */
static bool affordable(const TlContact *c, const Split *s, const Push *push) {
  double slack =
      1e-12 * tl_norm(tl_axpy(push->p, -push->pn, c->n)) * (tl_norm(s->ut) + tl_norm(c->aim));
  return tangential_work(c, s, push) <= c->friction_work + slack;
}

static void commit(TlContact *c, const TlDynamics *d, const Split *s, const Push *push) {
  if (c->law->tangential_restitution > 0) c->friction_work -= tangential_work(c, s, push);
  tl_contact_apply(c, d, push->p);
  c->impulse = tl_add(c->impulse, push->p);
  c->touched = true;
  /* Tang 2014 Eq. 64: negative work of approach is stored */
  c->work -= 0.5 * (2 * s->un + push->du) * push->pn;
}

static Push compressing(const TlContact *c, const Split *s, double du) {
  Push push = {.du = du};
  TlVec3 pt;
  if (c->law->friction == 0) {
    push.pn = du / c->knn;
    push.p = tl_scale(push.pn, c->n);
    return push;
  }
  push.p = sticking_impulse(c, s, du);
  if (in_cone(c, push.p, &push.pn, &pt)) return push;
  TlVec3 direction = sliding_direction(c, pt);
  push.pn = du / tl_dot(c->n, tl_sym_vec(c->k, direction));
  push.p = tl_scale(push.pn, direction);
  return push;
}

double tl_etm_compress(TlContact *c, const TlDynamics *d, double du) {
  tl_contact_want_matrix(c, d);
  Split s = split_velocity(c, d->twist, c->aim);
  Push push = compressing(c, &s, du);
  if (c->law->tangential_restitution > 0 && !affordable(c, &s, &push)) {
    s.lag = s.ut;
    push = compressing(c, &s, du);
  }
  commit(c, d, &s, &push);
  return push.pn;
}

/* du of releasing energy w at effective compliance k: 1/2 (2 u_n + du) du/k = w. The second form
 * keeps its digits where w is small. */
static double release_step(double un, double w, double k) {
  double root = sqrt(un * un + 2 * w * k);
  return un > 0 ? 2 * w * k / (un + root) : root - un;
}

/* The same while sticking, where P_n = a du + b; negative: w does not pay for a stick. */
static double sticking_release_step(const TlContact *c, const Split *s, double w) {
  TlVec3 kn = tl_sym_vec(c->k_inverse, c->n);
  double a = tl_dot(c->n, kn), b = -tl_dot(kn, s->lag);
  double m = 2 * a * s->un - b;
  return (-(2 * a * s->un + b) + sqrt(m * m + 8 * a * w)) / (2 * a);
}

static Push releasing(const TlContact *c, const Split *s, double w, double du_step) {
  Push push;
  TlVec3 pt = {0, 0, 0};
  if (c->law->friction > 0) {
    double most = sticking_release_step(c, s, w), du = most < du_step ? most : du_step;
    push.p = sticking_impulse(c, s, du > 0 ? du : du_step);
    push.du = du;
    push.all = most <= du_step;
    if (in_cone(c, push.p, &push.pn, &pt) && du > 0) return push;
  }
  TlVec3 direction = c->law->friction > 0 ? sliding_direction(c, pt) : c->n;
  double k = c->law->friction > 0 ? tl_dot(c->n, tl_sym_vec(c->k, direction)) : c->knn;
  double most = release_step(s->un, w, k);
  push.du = most < du_step ? most : du_step;
  push.all = most <= du_step;
  push.pn = push.du / k;
  push.p = tl_scale(push.pn, direction);
  return push;
}

bool tl_etm_release(TlContact *c, const TlDynamics *d, double keep, double du_step) {
  double w = c->work - keep;
  if (!(w > 0)) return true;
  tl_contact_want_matrix(c, d);
  Split s = split_velocity(c, d->twist, c->aim);
  Push push = releasing(c, &s, w, du_step);
  if (c->law->tangential_restitution > 0 && !affordable(c, &s, &push)) {
    s.lag = s.ut;
    push = releasing(c, &s, w, du_step);
  }
  commit(c, d, &s, &push);
  if (push.all) c->work = keep;
  return push.all;
}

/* ---- points without friction at once ---- */

/* Impulses p_i, the velocities they find and the changes they make together. */
typedef struct Joint {
  double p[TL_ETM_TOGETHER], un[TL_ETM_TOGETHER], change[TL_ETM_TOGETHER];
} Joint;

static void apply_joint(TlContact **c, int count, const TlDynamics *d, const Joint *joint,
                        double share) {
  for (int i = 0; i < count; i++) tl_contact_apply(c[i], d, tl_scale(share * joint->p[i], c[i]->n));
}

/* Give p_i = du_i/(n.Kn)_i and look what it does; false (and taken back) when one of them loses. */
static bool try_joint(TlContact **c, int count, const TlDynamics *d, const double *du,
                      Joint *joint) {
  bool good = count <= TL_ETM_TOGETHER;
  for (int i = 0; i < count && good; i++) {
    joint->un[i] = tl_contact_un(c[i], d->twist);
    joint->p[i] = du[i] / c[i]->knn;
  }
  if (!good) return false;
  apply_joint(c, count, d, joint, 1);
  for (int i = 0; i < count; i++) {
    joint->change[i] = tl_contact_un(c[i], d->twist) - joint->un[i];
    good &= joint->change[i] > 0.01 * du[i];
  }
  if (!good) apply_joint(c, count, d, joint, -1);
  return good;
}

/* From what was tried to `share` of it, into the books. */
static void settle_joint(TlContact **c, int count, const TlDynamics *d, const Joint *joint,
                         double share) {
  apply_joint(c, count, d, joint, share - 1);
  for (int i = 0; i < count; i++) {
    double p = share * joint->p[i];
    c[i]->impulse = tl_axpy(c[i]->impulse, p, c[i]->n);
    c[i]->touched = true;
    c[i]->work -= 0.5 * (2 * joint->un[i] + share * joint->change[i]) * p;
  }
}

bool tl_etm_compress_together(TlContact **c, int count, const TlDynamics *d, const double *du) {
  Joint joint;
  if (!try_joint(c, count, d, du, &joint)) return false;
  double share = INFINITY;
  for (int i = 0; i < count; i++) share = fmin(share, du[i] / joint.change[i]);
  settle_joint(c, count, d, &joint, share);
  return true;
}

bool tl_etm_release_together(TlContact **c, int count, const TlDynamics *d, const double *du_step) {
  Joint joint;
  if (!try_joint(c, count, d, du_step, &joint)) return false;
  double share = INFINITY;
  int spent = -1; /* whose W is used up by the share */
  for (int i = 0; i < count; i++) {
    /* share p (u_n + share change/2) = W, as release_step */
    double most =
        release_step(joint.un[i], c[i]->work, joint.change[i] / joint.p[i]) / joint.change[i];
    double step = du_step[i] / joint.change[i];
    if (most < share) spent = i;
    share = fmin(share, most);
    if (step < share) spent = -1;
    share = fmin(share, step);
  }
  settle_joint(c, count, d, &joint, share);
  if (spent >= 0) c[spent]->work = 0;
  return true;
}

void tl_etm_begin(TlContact *c, const TlTwist *twist, double un) {
  if (c->law->tangential_restitution > 0 && c->start == 0) {
    TlVec3 u = tl_contact_velocity(c, twist);
    c->aim = tl_scale(-c->law->tangential_restitution, tl_axpy(u, -tl_dot(u, c->n), c->n));
    c->friction_work = 0;
  }
  if (un < c->start) c->start = un;
}

bool tl_etm_enters(TlContact *c, const TlEtmLaw *law, const TlTwist *twist, double un) {
  if (c->in) return true;
  bool hit = twist[c->a].hit > 0 || (c->b >= 0 && twist[c->b].hit > 0);
  double slack = hit ? law->tolerance_m_s : law->entry_m_s;
  c->in = un < -c->allowed_speed - slack;
  return c->in;
}

double tl_etm_restitute(TlContact *c, const TlEtmLaw *law, bool zero, TlEtmCount *count) {
  double e = zero || -c->start < law->threshold_m_s ? 0 : c->law->restitution;
  if (c->work > 0) count->stored_J += c->work;
  c->work = c->work > 0 ? e * e * c->work : 0;
  count->released_J += c->work;
  return c->work;
}

void tl_etm_reset(const TlGroup *g) {
  int32_t pairs = g->colour_start[g->colours];
  for (int32_t i = 0; i < pairs; i++) {
    const TlPair *pair = &g->pair[g->order[i]];
    g->memo[i] = (TlPairMemo){.hits_a = -1};
    for (int32_t k = 0; k < pair->count; k++) {
      TlContact *c = &g->contact[pair->first + k];
      c->in = c->touched = false;
      c->impulse = (TlVec3){0, 0, 0};
      c->work = c->start = c->friction_work = 0;
      c->aim = (TlVec3){0, 0, 0};
    }
  }
}

bool tl_etm_approaches(const TlEtmLaw *law, const TlGroup *g, int32_t at, const TlTwist *twist) {
  const TlPair *pair = &g->pair[g->order[at]];
  for (int32_t k = pair->first; k < pair->first + pair->count; k++) {
    const TlContact *c = &g->contact[k];
    if (c->in && tl_contact_un(c, twist) < -law->tolerance_m_s) return true;
  }
  return false;
}

void tl_etm_mark_stuck(const TlEtmLaw *law, const TlGroup *g, const TlTwist *twist,
                       const double *open, TlEtmCount *count) {
  for (int32_t i = 0; i < g->colour_start[g->colours]; i++) {
    if (open && !(open[g->pair[g->order[i]].island] < 0)) continue;
    if (tl_etm_approaches(law, g, i, twist)) g->memo[i].stuck = count->stuck = true;
  }
}
