/* Kinetic energy of a group of contacts from what a trace of the impulses sees: velocities and
 * inverse inertias. Fixed bodies hold none. */
#ifndef TL_TESTS_ENERGY_H
#define TL_TESTS_ENERGY_H

#include "solve/contact.h"

static inline double judge_body_kinetic(const TlDynamics *d, int32_t i) {
  if (d->inverse_mass[i] == 0) return 0;
  const TlTwist *t = &d->twist[i];
  return 0.5 * tl_norm2(t->v) / d->inverse_mass[i] +
         0.5 * tl_dot(t->w, tl_sym_vec(tl_sym_inverse(d->inverse_inertia[i]), t->w));
}

/* Of all local bodies. */
static inline double judge_kinetic(const TlDynamics *d, int64_t bodies) {
  double sum = 0;
  for (int64_t i = 0; i < bodies; i++) sum += judge_body_kinetic(d, (int32_t)i);
  return sum;
}

static inline double judge_elastic(const TlGroup *g) {
  double sum = 0;
  for (int32_t i = 0; i < g->pairs; i++) {
    const TlPair *p = &g->pair[i];
    for (int32_t k = 0; k < p->count; k++) sum += g->contact[p->first + k].work;
  }
  return sum;
}

#endif
