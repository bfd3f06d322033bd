/* One impact with friction by the equations of Darboux and Keller (Keller 1986), integrated over the
 * normal impulse p for itself: du/dp = K f, f = n - mu u_t/|u_t| while the contact slides; where
 * sliding has stopped, f holds it if |f_t| <= mu, and otherwise it slides on in the direction that
 * the push itself gives. Compression ends where u_n = 0; of the work it stored e^2 is given back.
 * Nothing here is the library's: not its vectors, nor its increments, nor its rule of sliding. For
 * the tests and for the validation, so without the test library.
 */
#ifndef TL_TESTS_SUPPORT_KELLER_H
#define TL_TESTS_SUPPORT_KELLER_H

#include <math.h>
#include <string.h>

/* In the frame of the contact: 0 along n, 1 and 2 across. */
typedef struct Keller {
  double k[3][3], mu, e;
  double u[3], impulse[3];
  double turned; /* angle by which the sliding velocity turned, in all */
} Keller;

static inline void keller_rate(const Keller *s, const double f[3], double rate[3]) {
  for (int i = 0; i < 3; i++) rate[i] = s->k[i][0] * f[0] + s->k[i][1] * f[1] + s->k[i][2] * f[2];
}

/* f at rest across n: true where friction holds the contact. */
static inline int keller_holds(const Keller *s, double f[3]) {
  double det = s->k[1][1] * s->k[2][2] - s->k[1][2] * s->k[1][2];
  f[0] = 1;
  f[1] = -(s->k[2][2] * s->k[1][0] - s->k[1][2] * s->k[2][0]) / det;
  f[2] = -(s->k[1][1] * s->k[2][0] - s->k[1][2] * s->k[1][0]) / det;
  return hypot(f[1], f[2]) <= s->mu;
}

/* The direction in which it begins to slide: friction -mu t makes the velocity along t. */
static inline void keller_start(const Keller *s, double f[3]) {
  enum { ANGLES = 100000 };
  double best = -INFINITY;
  for (int i = 0; i < ANGLES; i++) {
    double angle = 2 * acos(-1) * i / ANGLES, t[2] = {cos(angle), sin(angle)}, rate[3];
    double g[3] = {1, -s->mu * t[0], -s->mu * t[1]};
    keller_rate(s, g, rate);
    double along = (t[0] * rate[1] + t[1] * rate[2]) / hypot(rate[1], rate[2]);
    if (along <= best) continue;
    best = along;
    memcpy(f, g, sizeof g);
  }
}

static inline void keller_force(const Keller *s, const double u[3], double f[3]) {
  double speed = hypot(u[1], u[2]);
  f[0] = 1;
  f[1] = -s->mu * u[1] / speed;
  f[2] = -s->mu * u[2] / speed;
}

/* One step of dp by the midpoint. */
static inline void keller_step(Keller *s, double dp) {
  double f[3], rate[3], end[3];
  if (s->u[1] == 0 && s->u[2] == 0) {
    if (!keller_holds(s, f))
      keller_start(s, f);
    else { /* held: exactly zero it stays */
      keller_rate(s, f, rate);
      s->u[0] += dp * rate[0];
      for (int i = 0; i < 3; i++) s->impulse[i] += dp * f[i];
      return;
    }
  } else {
    double middle[3];
    keller_force(s, s->u, f);
    keller_rate(s, f, rate);
    for (int i = 0; i < 3; i++) middle[i] = s->u[i] + 0.5 * dp * rate[i];
    if (middle[1] * s->u[1] + middle[2] * s->u[2] > 0) keller_force(s, middle, f);
  }
  keller_rate(s, f, rate);
  for (int i = 0; i < 3; i++) end[i] = s->u[i] + dp * rate[i];
  int stops = end[1] * s->u[1] + end[2] * s->u[2] < 0;
  s->turned +=
      stops || (s->u[1] == 0 && s->u[2] == 0)
          ? 0
          : fabs(atan2(s->u[1] * end[2] - s->u[2] * end[1], s->u[1] * end[1] + s->u[2] * end[2]));
  for (int i = 0; i < 3; i++) {
    s->impulse[i] += dp * f[i];
    s->u[i] = stops && i > 0 ? 0 : end[i];
  }
}

/* From u with u_n < 0 to its end. Steps of dp end within one of them of the end of each phase, a
 * fraction 1/steps of the impulse; the last is cut. */
static inline void keller_impact(Keller *s, int steps) {
  double dp = -s->u[0] / (s->k[0][0] * steps), work = 0;
  while (s->u[0] < 0) {
    double before = s->u[0];
    keller_step(s, dp);
    work -= 0.5 * (before + s->u[0]) * dp;
  }
  work *= s->e * s->e;
  while (work > 0) {
    double before = s->u[0];
    keller_step(s, dp);
    work -= 0.5 * (before + s->u[0]) * dp;
  }
}

#endif
