/* Bodies and contacts set up by hand for a solve by impulses (solve/etm.h), without a contact search. */
#ifndef TL_TESTS_SUPPORT_IMPULSE_RIG_H
#define TL_TESTS_SUPPORT_IMPULSE_RIG_H

#include "solve/etm.h"
#include "support/tltest.h"

#include <string.h>

enum { RIG_MOST = 64 };

typedef TlStatus (*RigSolve)(const TlEtmLaw *, const TlGroup *, const TlDynamics *, TlEtmCount *);

typedef struct Rig {
  TlTwist twist[RIG_MOST], start[RIG_MOST]; /* start: before the last solve */
  double inverse_mass[RIG_MOST];
  TlSym3 inverse_inertia[RIG_MOST], inertia[RIG_MOST];
  TlVec3 at[RIG_MOST];
  int bodies;
  TlContact contact[RIG_MOST];
  TlPairLaw pair_law[RIG_MOST]; /* of each contact, that points to it: a rig stays where it is */
  TlPair pair[RIG_MOST];
  int32_t cell_start[2], phase_start[2];
  double scratch[3];
  TlPairMemo memo[RIG_MOST];
  int pairs, contacts;
  TlEtmLaw law;
  TlEtmCount count;
} Rig;

/* mass 0: nothing moves it. */
static inline int rig_add_body(Rig *r, TlVec3 at, double mass, TlVec3 moments, TlQuat q, TlVec3 v,
                               TlVec3 w) {
  int i = r->bodies++;
  TlMat3 m = tl_quat_matrix(q);
  r->at[i] = at;
  r->twist[i] = (TlTwist){.v = v, .w = w};
  r->inverse_mass[i] = mass > 0 ? 1 / mass : 0;
  if (mass > 0) {
    r->inertia[i] = tl_sym_rotated_diagonal(m, moments);
    r->inverse_inertia[i] =
        tl_sym_rotated_diagonal(m, tl_vec3(1 / moments.x, 1 / moments.y, 1 / moments.z));
  }
  return i;
}

static inline int rig_add_sphere(Rig *r, TlVec3 at, double mass, double radius, TlVec3 v,
                                 TlVec3 w) {
  double i = 0.4 * mass * radius * radius;
  return rig_add_body(r, at, mass, tl_vec3(i, i, i), (TlQuat){1, 0, 0, 0}, v, w);
}

static inline TlDynamics rig_dynamics(Rig *r) {
  return (TlDynamics){r->twist, r->inverse_mass, r->inverse_inertia};
}

/* With the ground where b is -1. */
static inline TlContact *rig_add_contact(Rig *r, int a, int b, TlVec3 point, TlVec3 n, double mu,
                                         double e) {
  TlContact *c = &r->contact[r->contacts];
  TlDynamics d = rig_dynamics(r);
  TlPairLaw *law = &r->pair_law[r->contacts];
  *law = (TlPairLaw){.friction = mu, .restitution = e};
  *c = (TlContact){.n = n, .a = a, .b = b, .law = law};
  c->ra = tl_sub(point, r->at[a]);
  if (b >= 0) c->rb = tl_sub(point, r->at[b]);
  tl_contact_prepare(c, &d);
  c->weight = 1;
  TlPair *last = r->pairs ? &r->pair[r->pairs - 1] : NULL;
  if (last && last->a == a && last->b == b) { /* points of one pair follow each other */
    last->count++;
  } else {
    r->pair[r->pairs] =
        (TlPair){.low = a, .high = b, .a = a, .b = b, .first = r->contacts, .count = 1};
    r->pairs++;
  }
  r->contacts++;
  return c;
}

static inline void rig_solve(Rig *r, RigSolve method) {
  TlDynamics d = rig_dynamics(r);
  r->cell_start[1] = r->pairs;
  r->phase_start[1] = 1;
  TlGroup g = {.contact = r->contact,
               .pair = r->pair,
               .pairs = r->pairs,
               .cell_start = r->cell_start,
               .phase_start = r->phase_start,
               .phases = 1,
               .islands = 1,
               .memo = r->memo,
               .scratch = r->scratch};
  memcpy(r->start, r->twist, sizeof r->start);
  CK_OK(method(&r->law, &g, &d, &r->count));
}

static inline double rig_kinetic(const Rig *r, const TlTwist *twist) {
  double sum = 0;
  for (int i = 0; i < r->bodies; i++) {
    if (r->inverse_mass[i] == 0) continue;
    sum += 0.5 * tl_norm2(twist[i].v) / r->inverse_mass[i];
    sum += 0.5 * tl_dot(twist[i].w, tl_sym_vec(r->inertia[i], twist[i].w));
  }
  return sum;
}

#endif
