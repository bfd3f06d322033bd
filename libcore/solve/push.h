/* One impulse at one contact with friction: what all methods by impulses share (energy tracking in
 * both orders, its tail, sequential impulses).
 *
 * The impulse raises u_n by at most du, and spends at most `work` of stored energy. Inside the
 * Coulomb cone it sticks: P = K^-1 (du n - lag). Otherwise the contact slides, P = P_n (n + mu t),
 * and Coulomb's law says t = -u_t/|u_t|: friction opposes the sliding velocity, which turns while
 * the impulse acts (Darboux; Keller 1986). Here t opposes the velocity halfway through the impulse:
 * the error falls with the square of the increment. Where sliding ends before halfway and begins
 * anew, |t| < 1 and that velocity is zero. With `along_trial` t is that of the sticking impulse, as
 * Tang 2014 Eqs. 51-55 have it; the two agree where K carries no normal impulse into tangential
 * motion, as with spheres (Correction 4).
 */
#ifndef TL_SOLVE_PUSH_H
#define TL_SOLVE_PUSH_H

#include "num/vec.h"

#include <stdbool.h>

typedef struct TlPushPoint {
  TlVec3 n;
  const TlSym3 *k, *k_inverse; /* not read without friction */
  double knn, friction;        /* n.Kn */
  bool along_trial;
} TlPushPoint;

typedef struct TlPushTask {
  TlVec3 lag; /* u_t less the tangential velocity friction aims at */
  double un;
  double du;   /* most rise of u_n, > 0 */
  double work; /* energy to be released; INFINITY in compression */
} TlPushTask;

typedef struct TlPush {
  TlVec3 p;
  double pn, du; /* n.p, and the change of u_n it makes */
  bool all;      /* it uses up the energy to be released */
} TlPush;

/* du that releases energy w at effective compliance k: 1/2 (2 u_n + du) du/k = w. The second form
 * keeps its digits where w is small. */
static inline double tl_push_release(double un, double w, double k) {
  if (w == INFINITY) return w;
  double root = sqrt(un * un + 2 * w * k);
  return un > 0 ? 2 * w * k / (un + root) : root - un;
}

/* The same while sticking, where P_n = a du + b; negative: w does not pay for a stick. */
static inline double tl_push_release_sticking(const TlPushPoint *c, const TlPushTask *task) {
  if (task->work == INFINITY) return task->work;
  TlVec3 kn = tl_sym_vec(*c->k_inverse, c->n);
  double a = tl_dot(c->n, kn), b = -tl_dot(kn, task->lag);
  double m = 2 * a * task->un - b;
  return (-(2 * a * task->un + b) + sqrt(m * m + 8 * a * task->work)) / (2 * a);
}

/* Along n + mu t, where k = n.K(n + mu t). */
static inline TlPush tl_push_along(const TlPushPoint *c, const TlPushTask *task, TlVec3 t,
                                   double mu, double k) {
  double most = tl_push_release(task->un, task->work, k);
  TlPush push = {.du = tl_min(most, task->du), .all = most <= task->du};
  push.pn = push.du / k;
  push.p = tl_scale(push.pn, tl_axpy(c->n, mu, t));
  return push;
}

/* Where n.Kt < 0 a large mu would need an endless impulse: mu is cut so that
 * n.K(n + mu t) >= 0.1 n.Kn. */
static inline TlPush tl_push_sliding(const TlPushPoint *c, const TlPushTask *task, TlVec3 t,
                                     double *mu) {
  double knt = tl_dot(c->n, tl_sym_vec(*c->k, t));
  *mu = c->friction;
  if (knt < 0 && *mu > 0.9 * c->knn / -knt) *mu = 0.9 * c->knn / -knt;
  return tl_push_along(c, task, t, *mu, c->knn + *mu * knt);
}

/* The part of K across n: trace and determinant. */
typedef struct TlPushAcross {
  double trace, det;
} TlPushAcross;

/* The determinant is n.cof(K) n. */
static inline TlPushAcross tl_push_across(const TlPushPoint *c) {
  const TlSym3 *k = c->k;
  TlSym3 cofactors = {k->yy * k->zz - k->yz * k->yz, k->xx * k->zz - k->xz * k->xz,
                      k->xx * k->yy - k->xy * k->xy, k->xz * k->yz - k->xy * k->zz,
                      k->xy * k->yz - k->xz * k->yy, k->xy * k->xz - k->xx * k->yz};
  return (TlPushAcross){k->xx + k->yy + k->zz - c->knn, tl_dot(c->n, tl_sym_vec(cofactors, c->n))};
}

/* t of the unit disk with b + w K t = -s t across n, where s = 0 if |t| < 1. With x = s/w and the
 * adjugate of a symmetric 2x2 matrix, t = -((trace + x) b - K b)/(w (det + x trace + x^2)); 1/|t|
 * is concave in x, so that Newton's steps from x = 0 never pass the root. */
static inline TlVec3 tl_push_against(const TlPushPoint *c, TlPushAcross k, TlVec3 b, double w) {
  enum { STEPS = 4 };
  TlVec3 kb = tl_sym_vec(*c->k, b);
  TlVec3 adjoint = tl_axpy(tl_axpy(tl_scale(k.trace, b), -1, kb), tl_dot(c->n, kb), c->n);
  double b2 = tl_norm2(b), ab = tl_dot(adjoint, b), a2 = tl_norm2(adjoint), x = 0;
  if (!(b2 > 0)) return tl_vec3(0, 0, 0);
  for (int i = 0; i < STEPS; i++) {
    double top2 = a2 + x * (2 * ab + x * b2), det = k.det + x * (k.trace + x);
    double inverse = w * det / sqrt(top2); /* 1/|t| */
    double slope = inverse * ((k.trace + 2 * x) / det - (ab + x * b2) / top2);
    if (inverse >= 1 || !(slope > 0)) break;
    x += (1 - inverse) / slope;
  }
  TlVec3 along = tl_axpy(adjoint, x, b);
  double length = tl_norm(along), det = k.det + x * (k.trace + x);
  return tl_scale(-1 / (x > 0 ? length : fmax(length, w * det)), along);
}

/* t depends on P_n and P_n on t: from the trial's direction the first pass finds t but for the size
 * of the increment, the second but for its square, the third its cube. */
static inline TlPush tl_push_slide(const TlPushPoint *c, const TlPushTask *task, TlVec3 trial) {
  enum { PASSES = 3 };
  double mu;
  TlPush push = tl_push_sliding(c, task, trial, &mu);
  if (c->along_trial) return push;
  TlVec3 kn = tl_sym_vec(*c->k, c->n), kn_across = tl_axpy(kn, -c->knn, c->n);
  TlPushAcross across = tl_push_across(c);
  for (int i = 0; i < PASSES; i++) {
    double half = 0.5 * push.pn;
    TlVec3 t = tl_push_against(c, across, tl_axpy(task->lag, half, kn_across), half * mu);
    push = tl_push_sliding(c, task, t, &mu);
  }
  return push;
}

static inline TlPush tl_push(const TlPushPoint *c, const TlPushTask *task) {
  if (c->friction == 0) return tl_push_along(c, task, c->n, 0, c->knn);
  double most = tl_push_release_sticking(c, task), du = tl_min(most, task->du);
  TlPush stick = {.du = du, .all = most <= task->du};
  /* without energy for a stick the trial gives a direction only */
  stick.p =
      tl_sym_vec(*c->k_inverse, tl_axpy(tl_scale(-1, task->lag), du > 0 ? du : task->du, c->n));
  stick.pn = tl_dot(stick.p, c->n);
  TlVec3 pt = tl_axpy(stick.p, -stick.pn, c->n);
  double pt2 = tl_norm2(pt), most_pt = c->friction * stick.pn;
  /* no absolute value of P_n: a pulling impulse is no stick (Correction 4) */
  if (du > 0 && stick.pn > 0 && pt2 <= most_pt * most_pt) return stick;
  return tl_push_slide(c, task, pt2 > 0 ? tl_scale(1 / sqrt(pt2), pt) : pt);
}

#endif
