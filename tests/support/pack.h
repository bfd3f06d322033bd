/* Packs of closed-form spheres with all their contacts, grouped and coloured as in a step, for
 * tests and benches of the impulse methods alone. Contacts are found once; nothing moves.
 *
 * Jammed: a face-centred cubic block whose spheres all touch (12 neighbours), falling on a floor.
 * Loose: solid fraction 0.555, just above that of the loosest stable packing of rough spheres
 * (0.550 +- 0.001: Jerkins et al. 2008, PRL 101, 018301, abstract): centres at random in a cube,
 * moved apart until none overlap; the nearest pairs touch, 2.3 a sphere: 4.6 neighbours each
 * (spheres that just jam have about six without friction, falling to four as it grows: Silbert
 * 2010, arXiv 1108.0012, abstract). Both numbers are our choice within these. All fall together on
 * a floor.
 * Shaken: a cubic lattice, each sphere shifted and with a velocity of its own, neighbours within
 * reach (the radius is 1) taken as touching along the line of centres; 2.3: nearly all six of the
 * lattice, 2.1: every second one.
 */
#ifndef TL_TESTS_SUPPORT_PACK_H
#define TL_TESTS_SUPPORT_PACK_H

#include "base/random.h"
#include "solve/etm.h"
#include "solve/stages.h"
#include "support/grain_state.h"

#include <math.h>
#include <string.h>

typedef struct Pack {
  TlArena arena;
  TlBodies bodies;
  TlTwist *twist, *start;
  double *inverse_mass;
  TlSym3 *inverse_inertia;
  TlPairLaw *law; /* of all contacts; [1]: the same without friction, which nobody has yet */
  TlContact *contact;
  TlPair *pair;
  TlGroups groups;
  int32_t pairs;
} Pack;

static inline TlDynamics pack_dynamics(const Pack *p) {
  return (TlDynamics){p->twist, p->inverse_mass, p->inverse_inertia};
}

static inline TlStatus pack_body(Pack *p, TlVec3 x) {
  TlGrainState s;
  memset(&s, 0, sizeof s);
  s.id = p->bodies.total;
  s.scale = 1;
  s.rotation = (TlQuat){1, 0, 0, 0};
  s.position = x;
  return tl_test_add(&p->bodies, &s);
}

static inline void pack_contact(Pack *p, int32_t a, int32_t b, TlVec3 n) {
  TlDynamics d = pack_dynamics(p);
  TlContact *c = &p->contact[p->pairs];
  *c = (TlContact){.n = n, .a = a, .b = b, .law = p->law};
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
  p->law[0] = (TlPairLaw){.friction = mu, .restitution = e};
  p->law[1] = (TlPairLaw){.restitution = e};
  for (int64_t i = 0; i < n; i++) {
    TlVec3 x = p->bodies.position[i];
    for (int64_t k = i + 1; k < n; k++) {
      TlVec3 r = tl_sub(x, p->bodies.position[k]);
      if (tl_norm2(r) < reach * reach) pack_contact(p, (int32_t)i, (int32_t)k, tl_unit(r));
    }
    if (x.z < reach - 1) pack_contact(p, (int32_t)i, -1, tl_vec3(0, 0, 1));
  }
  memcpy(p->start, p->twist, (size_t)n * sizeof *p->start);
  TlDynamics d = pack_dynamics(p);
  const TlPairList found = {.pair = p->pair, .count = p->pairs, .contact = p->contact};
  return tl_groups_make(&p->bodies, &d, &found, NULL, NULL, &p->arena, &p->groups);
}

static inline TlStatus pack_reserve(Pack *p) {
  size_t n = (size_t)p->bodies.total;
  p->twist = tl_arena_push(&p->arena, n, sizeof *p->twist);
  p->start = tl_arena_push(&p->arena, n, sizeof *p->start);
  p->inverse_mass = tl_arena_push(&p->arena, n, sizeof *p->inverse_mass);
  p->inverse_inertia = tl_arena_push(&p->arena, n, sizeof *p->inverse_inertia);
  p->law = tl_arena_push(&p->arena, 2, sizeof *p->law);
  p->contact = tl_arena_push(&p->arena, 8 * n, sizeof *p->contact);
  p->pair = tl_arena_push(&p->arena, 8 * n, sizeof *p->pair);
  if (!p->twist || !p->start || !p->inverse_mass || !p->inverse_inertia || !p->law || !p->contact ||
      !p->pair)
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

static inline TlStatus pack_shaken(Pack *p, int side, double reach, double mu, double e) {
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

/* ---- the random loose packing ---- */

#define PACK_SOLID 0.555
#define PACK_TOUCHES 2.3 /* a sphere */

typedef struct PackNear {
  int32_t i, k;
} PackNear;

/* Pairs of centres within reach; quadratic. Space for 16 a sphere. */
static inline int64_t pack_near(const TlVec3 *x, int32_t n, double reach, PackNear *near) {
  int64_t count = 0;
  for (int32_t i = 0; i < n; i++)
    for (int32_t k = i + 1; k < n; k++)
      if (fabs(x[i].z - x[k].z) < reach && tl_norm2(tl_sub(x[i], x[k])) < reach * reach &&
          count < 16 * (int64_t)n)
        near[count++] = (PackNear){i, k};
  return count;
}

static inline double pack_clamp(double x, double side) {
  return fmin(fmax(x, 1), side - 1);
}

/* One pass of moving apart; returns the deepest overlap it met. */
static inline double pack_part(TlVec3 *x, int32_t n, double side, const PackNear *near,
                               int64_t count) {
  double most = 0;
  for (int64_t j = 0; j < count; j++) {
    TlVec3 *a = &x[near[j].i], *b = &x[near[j].k], r = tl_sub(*a, *b);
    double overlap = 2 - tl_norm(r);
    if (overlap <= 0) continue;
    most = fmax(most, overlap);
    *a = tl_axpy(*a, 0.5 * overlap, tl_unit(r));
    *b = tl_axpy(*b, -0.5 * overlap, tl_unit(r));
  }
  for (int32_t i = 0; i < n; i++)
    x[i] = tl_vec3(pack_clamp(x[i].x, side), pack_clamp(x[i].y, side), pack_clamp(x[i].z, side));
  return most;
}

/* The gap + 2 that the wanted number of pairs lie within. */
static inline double pack_reach(const TlVec3 *x, int32_t n, PackNear *near) {
  double low = 1.9, high = 2.6;
  for (int k = 0; k < 24; k++) {
    double middle = 0.5 * (low + high);
    if ((double)pack_near(x, n, middle, near) < PACK_TOUCHES * n)
      low = middle;
    else
      high = middle;
  }
  return high;
}

static inline TlStatus pack_loose(Pack *p, int32_t spheres, double mu, double e) {
  double side = cbrt(spheres * 4.0 / 3 * 3.14159265358979 / PACK_SOLID);
  memset(p, 0, sizeof *p);
  TlVec3 *x = tl_arena_push(&p->arena, (size_t)spheres, sizeof *x);
  PackNear *near = tl_arena_push(&p->arena, 16 * (size_t)spheres, sizeof *near);
  if (!x || !near) return TL_ENOMEM;
  for (int32_t i = 0; i < spheres; i++) {
    uint64_t s = 3 * (uint64_t)i;
    x[i] = tl_vec3(pack_clamp(side * tl_random_uniform(6, 1, s), side),
                   pack_clamp(side * tl_random_uniform(6, 1, s + 1), side),
                   pack_clamp(side * tl_random_uniform(6, 1, s + 2), side));
  }
  double most = 2;
  for (int round = 0; round < 60 && most > 1e-3; round++) {
    int64_t count = pack_near(x, spheres, 2.4, near);
    for (int k = 0; k < 20; k++) most = pack_part(x, spheres, side, near, count);
  }
  if (most > 1e-3) return tl_fail(TL_ELIMIT, "the spheres still overlap by %g", most);
  for (int32_t i = 0; i < spheres; i++) TL_TRY(pack_body(p, x[i]));
  double reach = pack_reach(x, spheres, near);
  TL_TRY(pack_reserve(p));
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
