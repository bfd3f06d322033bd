/* Rigid bodies as a structure of arrays: owned bodies [0, owned), then ghosts [owned, total).
 *
 * TL_BODY_FIELDS is the one list of state: it makes the arrays, the record TlBodyState that halo,
 * migration and checkpoint carry, and the hash. Frames: position and velocity of the centre of
 * mass, and the angular momentum L about it, in the world frame, SI; rotation body -> world. L is
 * carried instead of the spin (Correction 13): without torque it keeps its bits while the body
 * tumbles; spin = R I0^-1 R^T L. TL_BODY_DERIVED follows from state and shape and is filled by
 * tl_solver_refresh (step.h).
 *
 * Contact memory (TlTouch): the impulses that start the next step's resting solve belong to state
 * too. A rank holds the touches of every pair with an owned body; tl_bodies_pack carries them along
 * with the body.
 */
#ifndef TL_DEM_BODIES_H
#define TL_DEM_BODIES_H

#include "base/status.h"
#include "num/vec.h"

#include <stddef.h>
#include <stdint.h>

enum {
  TL_BODY_OUTSIDE = 1, /* no terrain below the centre; set by the step, policy is the caller's */
  TL_BODY_FROZEN = 2,  /* fixed in space: infinite mass, joins no island */
  TL_BODY_POOR = 8,    /* cannot be brought out of another (step_poor.c); policy is the caller's */
  TL_BODY_NET = 4,     /* sphere of a net (membrane.h): bonded, no grain to measures */
  TL_BODY_JAMMED = 16, /* was named: its collisions found no end for long (step_poor.c); stays */
  TL_BODY_GUIDED = 32  /* on a piston (guide.h): an apparatus, no grain to measures */
};

/* type, name */
#define TL_BODY_FIELDS(F)                                                                          \
  F(int64_t, id)        /* global, unique, >= 0 */                                                 \
  F(int64_t, avatar_id) /* key of the shape */                                                     \
  F(double, scale)      /* grain scale s: lengths s, mass s^3, inertia s^5 */                      \
  F(TlVec3, position)   /* m */                                                                    \
  F(TlQuat, rotation)   /* body -> world, unit */                                                  \
  F(TlVec3, velocity)   /* m/s */                                                                  \
  F(TlVec3, momentum)   /* angular momentum L about the centre, world, kg m2/s */                  \
  F(int32_t, flags)                                                                                \
  F(int32_t, strained) /* steps on end with an overlap over the solver's poor_share */             \
  F(int32_t, jammed)   /* steps on end in which ETM gave up a contact of it */                     \
  F(int32_t, material) /* number in the table of materials */

#define TL_BODY_DERIVED(F)                                                                         \
  F(const struct TlShape *, shape)                                                                 \
  F(double, mass)            /* kg */                                                              \
  F(double, inverse_mass)    /* 0 when frozen */                                                   \
  F(TlVec3, inertia)         /* principal moments, kg m2 */                                        \
  F(TlVec3, inverse_inertia) /* 0 when frozen */                                                   \
  F(double, radius)          /* of the sphere about the centre that holds the surface, m */        \
  F(double, reach)           /* radius + what the contact search adds this step, m (step.h) */     \
  F(double, halo)            /* ghosts are chosen this far out: reach, or half the longest bond */ \
  F(int32_t, contacts)       /* contact points with an impulse in the last step */

typedef struct TlBodyState {
#define F(type, name) type name;
  TL_BODY_FIELDS(F)
#undef F
} TlBodyState;

/* One remembered contact point: pair (low id, high id); high < 0 is boundary number -1 - high;
 * key names the node and the side it belongs to (contact.h). impulse: on the low id's body, world
 * frame, N s; of a net's bond (membrane.h) and in the penalty method its tangential displacement,
 * m, there across
 * `normal`, whose length is the tangential stiffness then, N/m (0 elsewhere). */
typedef struct TlTouch {
  int64_t low, high;
  int64_t key;
  TlVec3 impulse, normal;
} TlTouch;

typedef struct TlHistory {
  TlTouch *touch; /* sorted by (low, high, key), owned */
  size_t count, capacity;
} TlHistory;

typedef struct TlBodies {
  int64_t owned, total;
  size_t capacity;
#define F(type, name) type *name;
  TL_BODY_FIELDS(F)
  TL_BODY_DERIVED(F)
#undef F
  TlHistory history;
} TlBodies;

void tl_bodies_free(TlBodies *bodies);
/* Room for count bodies; keeps what is there. */
TlStatus tl_bodies_reserve(TlBodies *bodies, int64_t count);
/* Append an owned body (only while there are no ghosts) or a ghost. Checks that the state is
 * finite; a rotation that is not unit is an error of ours. */
TlStatus tl_bodies_add(TlBodies *bodies, const TlBodyState *state);
TlStatus tl_bodies_add_ghost(TlBodies *bodies, const TlBodyState *state);
void tl_bodies_drop_ghosts(TlBodies *bodies);
TlBodyState tl_bodies_get(const TlBodies *bodies, int64_t index);
void tl_bodies_set(TlBodies *bodies, int64_t index, const TlBodyState *state);
/* Take owned bodies out (keep[i] == 0), order kept; ghosts must have been dropped. Touches that no
 * longer have an owned body go too. */
TlStatus tl_bodies_keep(TlBodies *bodies, const unsigned char *keep);

/* Migration: state and touches of owned body i as bytes (host order; same machine type). unpack
 * appends an owned body and merges its touches; several unpacks may be followed by one
 * tl_history_sort, which also drops the doubles that two ranks both knew. */
size_t tl_bodies_packed_size(const TlBodies *bodies, int64_t index);
void tl_bodies_pack(const TlBodies *bodies, int64_t index, unsigned char *to);
/* *used: bytes taken from `from`. TL_EINPUT when they do not hold a body. */
TlStatus tl_bodies_unpack(TlBodies *bodies, const unsigned char *from, size_t size, size_t *used);
/* < 0, 0, > 0 by (low, high, key). */
int tl_touch_order(const TlTouch *one, const TlTouch *two);
void tl_history_sort(TlHistory *history);
/* The touches of pair (low, high): *count of them starting at the returned one. */
const TlTouch *tl_history_find(const TlHistory *history, int64_t low, int64_t high, size_t *count);

/* Angular velocity of body i, world, rad/s, and the way back; need the derived fields. */
TlVec3 tl_bodies_spin(const TlBodies *bodies, int64_t index);
void tl_bodies_set_spin(TlBodies *bodies, int64_t index, TlVec3 spin);
/* The same moment of inertia about any axis: the spin is L over it whatever the attitude. */
static inline int tl_bodies_round(const TlBodies *bodies, int64_t index) {
  TlVec3 i = bodies->inertia[index];
  return i.x == i.y && i.y == i.z;
}
/* R diag(d) R^T of body i. */
TlSym3 tl_bodies_rotated(const TlBodies *bodies, int64_t index, TlVec3 diagonal);

/* Hash of the owned bodies' state and touches: the same for the same bits whatever the order of
 * the bodies and however they lie on ranks (add the ranks' values modulo 2^64; touches are counted
 * by the owner of the low id). */
TlStatus tl_bodies_hash(const TlBodies *bodies, uint64_t *hash);

#endif
