/* Contact points and what solvers need of them.
 *
 * A pair joins a collider of body a (the lower id) and one of body b, or all colliders of body a
 * and all boundaries that they touch (b < 0). Two bodies with several colliders may have several
 * pairs; solvers see the bodies only.
 * Its points carry a normal n (unit, from b to a, so that an impulse +n on a separates), the point
 * p in the arms ra = p - x_a and rb = p - x_b (one point in both, or angular momentum is lost:
 * Correction 16), and the gap (< 0: overlap). Relative velocity u = u_a - u_b at p, u_n = n.u, <
 * 0 when approaching (Tan 2024 Eqs. 7-13). Collision matrix K = (1/m_a + 1/m_b) 1 - (ra~ I_a^-1 ra~
 * + rb~ I_b^-1 rb~),   du = K P. All world frame, SI.
 */
#ifndef TL_SOLVE_CONTACT_H
#define TL_SOLVE_CONTACT_H

#include "solve/sync.h"
#include "model/material.h"
#include "num/vec.h"

#include <stdbool.h>
#include <stdint.h>

/* Velocity and spin of a body while a step is being solved. hit: how many impulses reached it in
 * this step; a double so that one array travels between ranks. v_lost, w_lost: what rounding took
 * (Kahan): equal increments round the same way, and 500 of them would cost 1e-13 of the energy. */
typedef struct TlTwist {
  TlVec3 v, w;
  double hit;
  TlVec3 v_lost, w_lost;
} TlTwist;

/* What impulses act on: arrays over the local bodies. Fixed bodies have inverse mass 0. */
typedef struct TlDynamics {
  TlTwist *twist;
  const double *inverse_mass;
  const TlSym3 *inverse_inertia; /* world frame */
} TlDynamics;

typedef struct TlContact {
  /* read in every sweep; together, so that a pair passed over costs two or three cache lines */
  TlVec3 n, ran, rbn;   /* n, ra x n, rb x n */
  double wall_n;        /* n.wall */
  double allowed_speed; /* max(gap, 0)/dt: approach that only closes the gap */
  double weight;        /* of the ETM key: m_a m_b/(m_a + m_b), or 1 */
  int32_t a, b;         /* local body indices; b < 0: boundary */
  double work;          /* elastic energy W held by the contact */
  double start;         /* u_n when this round first lifted it; 0 before */
  double step;          /* du of its last impulse of compression, before it was cut to -u_n */
  bool in, touched;     /* takes part in ETM; has had an ETM impulse in this step */
  bool pulls;           /* its impulse may become negative (smm.c) */
  /* read when an impulse is made */
  double knn;           /* n.Kn */
  TlVec3 ra, rb;        /* arms */
  TlSym3 k, k_inverse;  /* collision matrix; tl_contact_want_matrix first */
  const TlPairLaw *law; /* of the pair's materials; borrowed for the step */
  TlVec3 wall;          /* velocity of the boundary at the point; 0 between grains */
  TlVec3 impulse;       /* ETM impulse on a, world */
  /* read now and then */
  TlVec3 aim;           /* -e_t u_t at the start of the round: what friction aims at */
  double friction_work; /* energy friction took here in the round; booked where e_t > 0 */
  double gap;
  TlVec3 point;           /* world */
  TlVec3 t1, t2;          /* tangents of the resting solve; tl_contact_want_tangents first */
  double t11, t12, t22;   /* inverse of K in (t1, t2) */
  double slide;           /* 1 over K's largest eigenvalue there */
  TlVec3 rest;            /* resting impulse along n, t1, t2 */
  double size;            /* smaller radius of the two: scale of slop and overlap */
  int32_t part_a, part_b; /* the colliders of a and b; b < 0: boundary */
  int32_t boundary;       /* which, or -1 */
  int64_t key;            /* node and side: 2*node + (0: node of a, 1: node of b) */
} TlContact;

typedef struct TlPair {
  int64_t low, high;      /* ids of the colliders; high = -1 with boundaries */
  int32_t a, b;           /* bodies */
  int32_t part_a, part_b; /* colliders; with boundaries the first that touches */
  int32_t first, count;   /* contacts */
  int32_t island;         /* within its group */
  int32_t colour;
  bool elsewhere; /* another rank owns the lower id: it counts what happens here in sums */
} TlPair;

enum { TL_SWEEP_ROOM = 192 }; /* bytes a contact for what sweeps read of it */

/* What a sweep may leave alone: nothing changes at a pair while neither body is hit and its level
 * has not come. Scratch of ETM. */
typedef struct TlPairMemo {
  double hits_a, hits_b; /* of its bodies when it was last left at rest; -1: never */
  double least; /* least key left there, <= 0: no need to look before the level passes it */
  double work;  /* most W at a point; after restitution of a round */
  double stored, released;
  bool stuck; /* approached still when the rounds or sweeps allowed were over (step_problems.c) */
} TlPairMemo;

/* Contacts that are solved together: one island, or all islands that other ranks share (then sync
 * is set and every rank calls in lockstep, even with nothing in its group). Pairs of one colour
 * share no movable body. */
typedef struct TlGroup {
  TlContact *contact;
  const TlPair *pair;
  const int32_t *order;        /* pair indices, sorted by colour */
  const int32_t *colour_start; /* [colours + 1], into order */
  int32_t colours, islands;
  TlPairMemo *memo; /* one a pair, in the order's order */
  const TlSync *sync;
  /* with sync only: island of each local body (-1: none), room for one value a body, and whether
   * this rank is the one that counts an island in sums over the ranks */
  const int32_t *body_island;
  bool *counts_here; /* [islands] */
  double *body_value;
  int64_t body_count;
  double *scratch;  /* 2 * islands */
  void *sweep_room; /* TL_SWEEP_ROOM bytes for each of `contact` (rest.c) */
} TlGroup;

/* Fill ran, rbn, wall_n and knn from n, ra, rb, wall, a, b and the bodies' masses. K and what the
 * resting solve needs of the tangents wait until an impulse asks for them: most points of a pair
 * never have one. */
void tl_contact_prepare(TlContact *contact, const TlDynamics *dynamics);
void tl_contact_fill_matrix(TlContact *contact, const TlDynamics *dynamics);
void tl_contact_fill_tangents(TlContact *contact, const TlDynamics *dynamics);

/* k and k_inverse from here on. */
static inline void tl_contact_want_matrix(TlContact *c, const TlDynamics *d) {
  if (c->k.xx == 0) tl_contact_fill_matrix(c, d);
}
/* t1 to slide from here on. */
static inline void tl_contact_want_tangents(TlContact *c, const TlDynamics *d) {
  if (c->slide == 0) tl_contact_fill_tangents(c, d);
}

/* Relative velocity at the contact, and its normal part. */
static inline TlVec3 tl_contact_velocity(const TlContact *c, const TlTwist *twist) {
  const TlTwist *a = &twist[c->a];
  TlVec3 u = tl_add(a->v, tl_cross(a->w, c->ra));
  if (c->b < 0) return tl_sub(u, c->wall);
  const TlTwist *b = &twist[c->b];
  return tl_sub(u, tl_add(b->v, tl_cross(b->w, c->rb)));
}
static inline double tl_contact_un(const TlContact *c, const TlTwist *twist) {
  const TlTwist *a = &twist[c->a];
  double un = tl_dot(c->n, a->v) + tl_dot(c->ran, a->w);
  if (c->b < 0) return un - c->wall_n;
  const TlTwist *b = &twist[c->b];
  return un - tl_dot(c->n, b->v) - tl_dot(c->rbn, b->w);
}

/* Impulse P on a and -P on b at the contact point. */
void tl_contact_apply(const TlContact *contact, const TlDynamics *dynamics, TlVec3 impulse);

/* value[island] becomes the least over the whole island, also where other ranks hold parts of it:
 * minima are handed from owner to ghost until nothing changes. Collective when sync is set. */
TlStatus tl_group_least(const TlGroup *group, double *value);

/* Islands with value < 0 that are this rank's to count: summed over the ranks each counts once. */
int64_t tl_group_count(const TlGroup *group, const double *value);

#endif
