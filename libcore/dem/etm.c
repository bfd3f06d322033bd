#include "dem/etm.h"

#include <math.h>

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

/* The impulse that raises u_n by du and stops the tangential velocity (Tang 2014 Eq. 50). */
static TlVec3 sticking_impulse(const TlContact *c, const Split *s, double du) {
  return tl_sym_vec(c->k_inverse, tl_axpy(tl_scale(-1, s->ut), du, c->n));
}

/* No absolute value of P_n: a pulling impulse is no stick (PHYSICS note 4). */
static bool in_cone(const TlContact *c, TlVec3 p, double *pn, TlVec3 *pt) {
  *pn = tl_dot(p, c->n);
  *pt = tl_axpy(p, -*pn, c->n);
  return *pn > 0 && tl_norm2(*pt) <= c->friction * c->friction * *pn * *pn;
}

/* Direction n + mu t of a sliding impulse along the trial's tangential part. Where n.Kt < 0 a large
 * mu would need an endless impulse: mu is cut so that n.K(n + mu t) >= 0.1 n.Kn. */
static TlVec3 sliding_direction(const TlContact *c, TlVec3 pt) {
  TlVec3 t = tl_unit(pt);
  double knt = tl_dot(c->n, tl_sym_vec(c->k, t)), mu = c->friction;
  if (knt < 0 && mu > 0.9 * c->knn / -knt) mu = 0.9 * c->knn / -knt;
  return tl_axpy(c->n, mu, t);
}

static double commit(TlContact *c, const TlDynamics *d, TlVec3 p, double pn, double un, double du) {
  tl_contact_apply(c, d, p);
  c->impulse = tl_add(c->impulse, p);
  c->touched = true;
  c->work -= 0.5 * (2 * un + du) * pn; /* Tang 2014 Eq. 64: negative work of approach is stored */
  return pn;
}

double tl_etm_compress(TlContact *c, const TlDynamics *d, double du) {
  Split s = split_velocity(c, d->twist);
  TlVec3 p, pt;
  double pn;
  if (c->friction == 0) {
    pn = du / c->knn;
    return commit(c, d, tl_scale(pn, c->n), pn, s.un, du);
  }
  p = sticking_impulse(c, &s, du);
  if (!in_cone(c, p, &pn, &pt)) {
    TlVec3 direction = sliding_direction(c, pt);
    pn = du / tl_dot(c->n, tl_sym_vec(c->k, direction));
    p = tl_scale(pn, direction);
  }
  return commit(c, d, p, pn, s.un, du);
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
  double a = tl_dot(c->n, kn), b = -tl_dot(kn, s->ut);
  double m = 2 * a * s->un - b;
  return (-(2 * a * s->un + b) + sqrt(m * m + 8 * a * w)) / (2 * a);
}

static bool finish(TlContact *c, bool all, double keep) {
  if (all) c->work = keep;
  return all;
}

bool tl_etm_release(TlContact *c, const TlDynamics *d, double keep, double du_step) {
  double w = c->work - keep;
  if (!(w > 0)) return true;
  Split s = split_velocity(c, d->twist);
  TlVec3 p, pt = {0, 0, 0};
  double pn;
  if (c->friction > 0) {
    double most = sticking_release_step(c, &s, w), du = most < du_step ? most : du_step;
    p = sticking_impulse(c, &s, du > 0 ? du : du_step);
    if (in_cone(c, p, &pn, &pt) && du > 0) {
      commit(c, d, p, pn, s.un, du);
      return finish(c, most <= du_step, keep);
    }
  }
  TlVec3 direction = c->friction > 0 ? sliding_direction(c, pt) : c->n;
  double k = c->friction > 0 ? tl_dot(c->n, tl_sym_vec(c->k, direction)) : c->knn;
  double most = release_step(s.un, w, k), du = most < du_step ? most : du_step;
  pn = du / k;
  commit(c, d, tl_scale(pn, direction), pn, s.un, du);
  return finish(c, most <= du_step, keep);
}

bool tl_etm_enters(TlContact *c, const TlEtmLaw *law, const TlTwist *twist, double un) {
  if (c->in) return true;
  bool hit = twist[c->a].hit > 0 || (c->b >= 0 && twist[c->b].hit > 0);
  double slack = hit ? law->tolerance_m_s : law->entry_m_s;
  c->in = un < -c->allowed_speed - slack;
  return c->in;
}

double tl_etm_restitute(TlContact *c, const TlEtmLaw *law, bool zero, TlEtmCount *count) {
  double e = zero || -c->start < law->threshold_m_s ? 0 : c->restitution;
  if (c->work > 0) count->stored_J += c->work;
  c->work = c->work > 0 ? e * e * c->work : 0;
  count->released_J += c->work;
  return c->work;
}

void tl_etm_reset(const TlGroup *g) {
  int32_t pairs = g->colour_start[g->colours];
  for (int32_t i = 0; i < pairs; i++) {
    const TlPair *pair = &g->pair[g->order[i]];
    for (int32_t k = 0; k < pair->count; k++) {
      TlContact *c = &g->contact[pair->first + k];
      c->in = c->touched = false;
      c->impulse = (TlVec3){0, 0, 0};
      c->work = c->start = 0;
    }
  }
}
