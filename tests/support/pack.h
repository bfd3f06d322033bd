/* Packs of closed-form spheres with all their contacts, grouped and coloured as in a step, for
 * tests and benches of the impulse methods alone. Contacts are found once; nothing moves.
 *
 * Jammed: a face-centred cubic block whose spheres all touch (12 neighbours), falling on a floor.
 * Loose: a cubic lattice, each sphere shifted and with a velocity of its own, neighbours within
 * reach (the radius is 1) taken as touching along the line of centres; 2.3: nearly all six of the
 * lattice, 2.1: every second one. */
#ifndef TL_TESTS_SUPPORT_PACK_H
#define TL_TESTS_SUPPORT_PACK_H

#include "base/random.h"
#include "dem/etm.h"
#include "dem/groups.h"

#include <math.h>
#include <string.h>

typedef struct Pack {
  TlArena arena;
  TlBodies bodies;
  TlTwist *twist, *start;
  double *inverse_mass;
  TlSym3 *inverse_inertia;
  TlContact *contact;
  TlPair *pair;
  TlGroups groups;
  int32_t pairs;
} Pack;

static inline TlDynamics pack_dynamics(const Pack *p) {
  return (TlDynamics){p->twist, p->inverse_mass, p->inverse_inertia};
}

static inline TlStatus pack_body(Pack *p, TlVec3 x) {
  TlBodyState s;
  memset(&s, 0, sizeof s);
  s.id = p->bodies.total;
  s.scale = 1;
  s.rotation = (TlQuat){1, 0, 0, 0};
  s.position = x;
  return tl_bodies_add(&p->bodies, &s);
}

static inline void pack_contact(Pack *p, int32_t a, int32_t b, TlVec3 n, double mu, double e) {
  TlDynamics d = pack_dynamics(p);
  TlContact *c = &p->contact[p->pairs];
  *c = (TlContact){.n = n, .a = a, .b = b, .friction = mu, .restitution = e};
  c->ra = tl_scale(-1, n); /* radius 1 */
  if (b >= 0) c->rb = n;
  tl_contact_prepare(c, &d);
  c->weight = 1 / (p->inverse_mass[a] + (b >= 0 ? p->inverse_mass[b] : 0));
  p->pair[p->pairs] =
      (TlPair){.low = a, .high = b >= 0 ? b : -1, .a = a, .b = b, .first = p->pairs, .count = 1};
  p->pairs++;
}

/* Contacts of centres within reach, and with the floor z = 0. Quadratic, once. */
static inline TlStatus pack_connect(Pack *p, double reach, double mu, double e) {
  int64_t n = p->bodies.total;
  for (int64_t i = 0; i < n; i++) {
    TlVec3 x = p->bodies.position[i];
    for (int64_t k = i + 1; k < n; k++) {
      TlVec3 r = tl_sub(x, p->bodies.position[k]);
      if (tl_norm2(r) < reach * reach) pack_contact(p, (int32_t)i, (int32_t)k, tl_unit(r), mu, e);
    }
    if (x.z < reach - 1) pack_contact(p, (int32_t)i, -1, tl_vec3(0, 0, 1), mu, e);
  }
  memcpy(p->start, p->twist, (size_t)n * sizeof *p->start);
  return tl_groups_make(&p->bodies, p->pair, p->pairs, p->contact, NULL, &p->arena, &p->groups);
}

static inline TlStatus pack_reserve(Pack *p) {
  size_t n = (size_t)p->bodies.total;
  p->twist = tl_arena_push(&p->arena, n, sizeof *p->twist);
  p->start = tl_arena_push(&p->arena, n, sizeof *p->start);
  p->inverse_mass = tl_arena_push(&p->arena, n, sizeof *p->inverse_mass);
  p->inverse_inertia = tl_arena_push(&p->arena, n, sizeof *p->inverse_inertia);
  p->contact = tl_arena_push(&p->arena, 8 * n, sizeof *p->contact);
  p->pair = tl_arena_push(&p->arena, 8 * n, sizeof *p->pair);
  if (!p->twist || !p->start || !p->inverse_mass || !p->inverse_inertia || !p->contact || !p->pair)
    return TL_ENOMEM;
  for (size_t i = 0; i < n; i++) {
    double inertia = 2.5;
    p->twist[i] = (TlTwist){.v = {0, 0, -1}};
    p->inverse_mass[i] = 1;
    p->inverse_inertia[i] = (TlSym3){.xx = inertia, .yy = inertia, .zz = inertia};
  }
  return TL_OK;
}

static inline TlStatus pack_jammed(Pack *p, int cells, double mu, double e) {
  static const double base[4][3] = {{0, 0, 0}, {1, 1, 0}, {1, 0, 1}, {0, 1, 1}};
  memset(p, 0, sizeof *p);
  double a = sqrt(2.0);
  for (int i = 0; i < cells * cells * cells; i++)
    for (int k = 0; k < 4; k++)
      TL_TRY(pack_body(p, tl_vec3(a * (2 * (i % cells) + base[k][0]),
                                  a * (2 * (i / cells % cells) + base[k][1]),
                                  1 + a * (2 * (i / cells / cells) + base[k][2]))));
  TL_TRY(pack_reserve(p));
  return pack_connect(p, 2.001, mu, e);
}

static inline TlStatus pack_loose(Pack *p, int side, double reach, double mu, double e) {
  memset(p, 0, sizeof *p);
  for (int i = 0; i < side * side * side; i++) {
    uint64_t s = 3 * (uint64_t)i;
    TlVec3 shift = {tl_random_uniform(5, 1, s) - 0.5, tl_random_uniform(5, 1, s + 1) - 0.5,
                    tl_random_uniform(5, 1, s + 2) - 0.5};
    TlVec3 at = tl_vec3(2.1 * (i % side), 2.1 * (i / side % side), 1 + 2.1 * (i / side / side));
    TL_TRY(pack_body(p, tl_axpy(at, 0.3, shift)));
  }
  TL_TRY(pack_reserve(p));
  for (int64_t i = 0; i < p->bodies.total; i++) {
    uint64_t s = 3 * (uint64_t)i;
    TlVec3 own = {tl_random_normal(5, 2, s), tl_random_normal(5, 2, s + 1),
                  tl_random_normal(5, 2, s + 2)};
    p->twist[i].v = tl_axpy(p->twist[i].v, 0.3, own);
  }
  return pack_connect(p, reach, mu, e);
}

static inline void pack_rewind(Pack *p) {
  memcpy(p->twist, p->start, (size_t)p->bodies.total * sizeof *p->twist);
}

static inline double pack_kinetic(const Pack *p) {
  double sum = 0;
  for (int64_t i = 0; i < p->bodies.total; i++)
    sum += 0.5 * tl_norm2(p->twist[i].v) + 0.2 * tl_norm2(p->twist[i].w);
  return sum;
}

/* Fastest approach left at a contact, m/s; 0: none. */
static inline double pack_approach(const Pack *p) {
  double most = 0;
  for (int32_t i = 0; i < p->pairs; i++)
    most = fmax(most, -tl_contact_un(&p->contact[i], p->twist));
  return most;
}

static inline void pack_free(Pack *p) {
  tl_arena_free(&p->arena);
  tl_bodies_free(&p->bodies);
}

#endif
