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
#include "num/exact.h"
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
  /* of the nonsmooth method (nonsmooth_rows.h) */
  double reduced_radius; /* of the two colliders */
  double pull;           /* normal impulse of the last step where the contact adheres, N s */
  TlVec3 moment; /* impulse against rolling and twisting: of the last step, then of this one */
  TlVec3 wall_w; /* spin of the boundary */
  bool resists;  /* rolling and twisting */
  bool
      keeps_force; /* of a trial: its force starts from that of the last step, not from its overlap */
} TlContact;

typedef struct TlPair {
  int64_t low, high;      /* ids of the colliders; high = -1 with boundaries */
  int32_t a, b;           /* bodies */
  int32_t part_a, part_b; /* colliders; with boundaries the first that touches */
  int32_t first, count;   /* contacts */
  int32_t island;         /* within its group */
  int32_t
      link; /* from 1: the joint or bond that it stands for, without contacts (TlLink); 0: none */
  bool elsewhere; /* another rank owns the lower id: the pair is that one's to count */
  bool kept;      /* its contacts are TL_INNER rows: it was not searched */
  double band;    /* points farther above the nearest were left out */
  bool
      stuck; /* it approached still when the rounds or sweeps allowed were over (step_problems.c) */
  int64_t
      tag; /* of a joint or bond: tells the links of one pair of bodies apart, > 0; 0: contacts */
} TlPair;

/* A joint or bond: what the rank that solves it has to know, and what it gives back. Bytes that mean
 * something to the caller alone, multiples of 8; on several ranks they travel as they are. */
typedef struct TlLink {
  void *load, *result;
  int32_t load_bytes, result_bytes;
} TlLink;

/* Pairs that are to be solved, as they were found on a rank. Borrowed. */
typedef struct TlPairList {
  TlPair *pair;
  int32_t count;
  TlContact *contact; /* theirs */
  const TlLink *link; /* of joints and bonds among them: link[pair.link - 1] */
  int32_t links;
} TlPairList;

/* Scratch of the sweeps: bytes a contact for what they read of it, and for what steps beyond sweeps compare (rest.c);
 * doubles an island for these steps (beyond.h). */
enum { TL_SWEEP_BYTES = 192, TL_COMPARE_BYTES = 48, TL_BEYOND_VALUES = 5 };

/* What a sweep may leave alone: nothing changes at a pair while neither body is hit and its level
 * has not come. Scratch of ETM. */
typedef struct TlPairMemo {
  double hits_a, hits_b; /* of its bodies when it was last left at rest; -1: never */
  double least; /* least key left there, <= 0: no need to look before the level passes it */
  double work;  /* most W at a point; after restitution of a round */
  double stored, released;
} TlPairMemo;

struct TlShare;

/* Contacts that are solved together: one island, or all large islands that several ranks solve (then
 * share is set and every rank calls in lockstep, even with nothing in its group).
 *
 * A sweep visits the pairs in their order. They lie in cells, and the cells in phases (grids.h):
 * cells of one phase share no movable body, so any number of threads and ranks may have one each.
 * A small island is one cell. */
typedef struct TlGroup {
  TlContact *contact;
  TlPair *pair; /* [pairs] in the order of a sweep */
  int32_t pairs, islands;
  const int32_t *cell_start;  /* [cells + 1] first pair of each cell */
  const int32_t *phase_start; /* [phases + 1] first cell of each phase */
  int32_t phases;
  bool large;            /* its stop tests are few and read late (rest.c), on one rank, too */
  TlPairMemo *memo;      /* one a pair */
  double *scratch;       /* 3 * islands */
  void *sweep_scratch;   /* TL_SWEEP_BYTES bytes for each of `contact` (rest.c) */
  void *compare_scratch; /* TL_COMPARE_BYTES likewise */
  double *product;       /* [3 * pairs] likewise */
  double *beyond;        /* [TL_BEYOND_VALUES * islands] (beyond.c) */
  TlExact *beyond_exact; /* [3 * islands] of large groups, else NULL */
  int32_t *impulses;     /* [pairs] of collisions, counted up; NULL: nobody asks, as on one rank */
  /* with share only: */
  const struct TlShare *share;
  const int32_t *body_island; /* island of each local body (-1: none) */
  const bool *counts_here;    /* [islands] in sums over the ranks it is this one's to count */
} TlGroup;

static inline void tl_group_count_impulses(const TlGroup *group, int32_t pair, int64_t impulses) {
  if (impulses > 0 && group->impulses) group->impulses[pair] += (int32_t)impulses;
}

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

/* The impulse `rest` on a, world frame. */
static inline TlVec3 tl_contact_rest(const TlContact *c) {
  return tl_axpy(tl_axpy(tl_scale(c->rest.x, c->n), c->rest.y, c->t1), c->rest.z, c->t2);
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

/* value[island] becomes the least over the whole island, also where other ranks hold parts of it.
 * Collective when share is set. */
TlStatus tl_group_least(const TlGroup *group, double *value);
/* The same in two calls, between which others go on. */
TlStatus tl_group_least_begin(const TlGroup *group, const double *value);
TlStatus tl_group_least_end(const TlGroup *group, double *value);
/* Is *flag not 0 on any rank of the group? Collective when share is set. */
TlStatus tl_group_any(const TlGroup *group, int *flag);
/* Velocities (an array of TlTwist over the bodies) as the last sweep left them, for all pairs of this
 * rank: while sweeps go on, a body's velocity is where the next sweep needs it first. Collective when
 * share is set. */
TlStatus tl_group_share(const TlGroup *group, TlTwist *twist);

/* Islands with value < 0 that are this rank's to count: summed over the ranks each counts once. */
int64_t tl_group_count(const TlGroup *group, const double *value);

#endif
