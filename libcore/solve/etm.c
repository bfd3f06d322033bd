#include "solve/etm.h"

#include "model/ground_law.h"
#include "solve/push.h"

#include <math.h>

/* Velocities at the contact as an impulse finds them. */
typedef struct Split {
  TlVec3 u, ut;
  double un;
} Split;

static Split split_velocity(const TlContact *c, const TlTwist *twist) {
  Split s;
  s.u = tl_contact_velocity(c, twist);
  s.un = tl_dot(c->n, s.u);
  s.ut = tl_axpy(s.u, -s.un, c->n);
  return s;
}

/* Work of the push's tangential part: > 0 where it adds energy. */
static double tangential_work(const TlContact *c, const Split *s, const TlPush *push) {
  TlVec3 pt = tl_axpy(push->p, -push->pn, c->n);
  return tl_dot(pt, tl_axpy(s->u, 0.5, tl_sym_vec(c->k, push->p)));
}

/* Friction gives back no more than it took at this contact in this round, to rounding. */
static bool affordable(const TlContact *c, const Split *s, const TlPush *push) {
  double slack =
      1e-12 * tl_norm(tl_axpy(push->p, -push->pn, c->n)) * (tl_norm(s->ut) + tl_norm(c->aim));
  return tangential_work(c, s, push) <= c->friction_work + slack;
}

static void commit(TlContact *c, const TlDynamics *d, const Split *s, const TlPush *push) {
  if (c->law->tangential_restitution > 0) c->friction_work -= tangential_work(c, s, push);
  tl_contact_apply(c, d, push->p);
  c->impulse = tl_add(c->impulse, push->p);
  c->touched = true;
  /* Tang 2014 Eq. 64: negative work of approach is stored */
  c->work -= 0.5 * (2 * s->un + push->du) * push->pn;
}

static TlPush give(const TlEtmLaw *law, TlContact *c, const TlDynamics *d, double du, double work) {
  tl_contact_want_matrix(c, d);
  Split s = split_velocity(c, d->twist);
  TlPushPoint point = {.n = c->n,
                       .k = &c->k,
                       .k_inverse = &c->k_inverse,
                       .knn = c->knn,
                       .friction = c->law->friction,
                       .along_trial = law->friction_along_trial};
  TlPushTask task = {.lag = tl_sub(s.ut, c->aim), .un = s.un, .du = du, .work = work};
  TlPush push = tl_push(&point, &task);
  if (c->law->tangential_restitution > 0 && !affordable(c, &s, &push)) {
    task.lag = s.ut;
    push = tl_push(&point, &task);
  }
  commit(c, d, &s, &push);
  return push;
}

double tl_etm_compress(const TlEtmLaw *law, TlContact *c, const TlDynamics *d, double du) {
  return give(law, c, d, du, INFINITY).pn;
}

bool tl_etm_release(const TlEtmLaw *law, TlContact *c, const TlDynamics *d, double keep,
                    double du_step) {
  double w = c->work - keep;
  if (!(w > 0)) return true;
  bool all = give(law, c, d, du_step, w).all;
  if (all) c->work = keep;
  return all;
}

/* ---- points without friction at once ---- */

/* Impulses p_i, the velocities they find and the changes they make together. */
typedef struct Joint {
  double p[TL_ETM_TOGETHER], un[TL_ETM_TOGETHER], change[TL_ETM_TOGETHER];
} Joint;

static void apply_joint(TlContact **c, int count, const TlDynamics *d, const Joint *joint,
                        double fraction) {
  for (int i = 0; i < count; i++)
    tl_contact_apply(c[i], d, tl_scale(fraction * joint->p[i], c[i]->n));
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

/* From what was tried to `fraction` of it, into the books. */
static void settle_joint(TlContact **c, int count, const TlDynamics *d, const Joint *joint,
                         double fraction) {
  apply_joint(c, count, d, joint, fraction - 1);
  for (int i = 0; i < count; i++) {
    double p = fraction * joint->p[i];
    c[i]->impulse = tl_axpy(c[i]->impulse, p, c[i]->n);
    c[i]->touched = true;
    c[i]->work -= 0.5 * (2 * joint->un[i] + fraction * joint->change[i]) * p;
  }
}

bool tl_etm_compress_together(TlContact **c, int count, const TlDynamics *d, const double *du) {
  Joint joint;
  if (!try_joint(c, count, d, du, &joint)) return false;
  double fraction = INFINITY;
  for (int i = 0; i < count; i++) fraction = fmin(fraction, du[i] / joint.change[i]);
  settle_joint(c, count, d, &joint, fraction);
  return true;
}

bool tl_etm_release_together(TlContact **c, int count, const TlDynamics *d, const double *du_step) {
  Joint joint;
  if (!try_joint(c, count, d, du_step, &joint)) return false;
  double fraction = INFINITY;
  int spent = -1; /* whose W is used up by the fraction */
  for (int i = 0; i < count; i++) {
    /* fraction p (u_n + fraction change/2) = W, as tl_push_release */
    double most =
        tl_push_release(joint.un[i], c[i]->work, joint.change[i] / joint.p[i]) / joint.change[i];
    double step = du_step[i] / joint.change[i];
    if (most < fraction) spent = i;
    fraction = fmin(fraction, most);
    if (step < fraction) spent = -1;
    fraction = fmin(fraction, step);
  }
  settle_joint(c, count, d, &joint, fraction);
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
  double e = zero || -c->start < law->threshold_m_s ? 0 : tl_restitution_at(c->law, -c->start);
  if (c->work > 0) count->stored_J += c->work;
  c->work = c->work > 0 ? e * e * c->work : 0;
  count->released_J += c->work;
  return c->work;
}

void tl_etm_reset(const TlGroup *g) {
  for (int32_t i = 0; i < g->pairs; i++) {
    TlPair *pair = &g->pair[i];
    g->memo[i] = (TlPairMemo){.hits_a = -1};
    pair->stuck = false;
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
  const TlPair *pair = &g->pair[at];
  for (int32_t k = pair->first; k < pair->first + pair->count; k++) {
    const TlContact *c = &g->contact[k];
    if (c->in && tl_contact_un(c, twist) < -law->tolerance_m_s) return true;
  }
  return false;
}

void tl_etm_mark_stuck(const TlEtmLaw *law, const TlGroup *g, const TlTwist *twist,
                       const double *open) {
  for (int32_t i = 0; i < g->pairs; i++) {
    if (open && !(open[g->pair[i].island] < 0)) continue;
    if (tl_etm_approaches(law, g, i, twist)) g->pair[i].stuck = true;
  }
}
