/* Rigid bodies and their colliders as structures of arrays: owned ones [0, owned), then ghosts
 * [owned, total).
 *
 * A body moves, its colliders touch (model/body_record.h, model/collider_record.h: the arrays, the
 * records that halo, migration and checkpoint carry, and the hash follow from these lists). The
 * colliders of a body follow each other by id, in the order of the bodies. Mass and moments of
 * inertia of a body are the sums over its colliders, sum of R I R^T + m (d^2 1 - d d^T), in the
 * body's frame, which lies at its centre of mass along its principal axes (tl_bodies_frame).
 *
 * A grain is a body with one collider that has its id and its pose. As long as all bodies are
 * grains, the colliders' ids, places and radii are the bodies' own arrays, and nothing is copied or
 * multiplied. The angular momentum L is carried instead of the
 * spin (Correction 13): without torque it keeps its bits while the body tumbles; spin = R I0^-1
 * R^T L. Derived fields are filled by tl_step_refresh (step.h).
 *
 * Contact memory and constraints (model/pair_state.h) belong to state, too. A rank holds the rows
 * of every pair with an owned body; tl_bodies_pack carries them along with the body.
 */
#ifndef TL_MODEL_BODIES_H
#define TL_MODEL_BODIES_H

#include "base/status.h"
#include "model/collider_record.h"
#include "model/pair_state.h"
#include "num/vec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  TL_BODY_OUTSIDE = 1, /* no terrain below the centre; set by the step, policy is the caller's */
  TL_BODY_FROZEN = 2,  /* fixed in space: infinite mass, joins no island */
  TL_BODY_EMBEDDED =
      8,           /* cannot be brought out of another (step_problems.c); policy is the caller's */
  TL_BODY_NET = 4, /* sphere of a net (membrane.h): bonded, no grain to measures */
  TL_BODY_UNRESOLVED =
      16,             /* was named: its collisions found no end for long (step_problems.c); stays */
  TL_BODY_GUIDED = 32 /* on a joint (joints.h): an apparatus, no grain to measures */
};

typedef struct TlColliders {
  int64_t owned, total;
  size_t capacity;
  bool posed; /* some body is no grain; else the arrays of the two pose lists are the bodies', or
                 (offset, turn) not there */
#define F(type, name, ...) type *name;
  TL_COLLIDER_FIELDS(F)
  TL_COLLIDER_DERIVED_LIST(F, F)
  TL_COLLIDER_PLACE_LIST(F, F)
#undef F
} TlColliders;

typedef struct TlBodies {
  int64_t owned, total;
  size_t capacity;
#define F(type, name, ...) type *name;
  TL_BODY_FIELDS(F)
  TL_BODY_DERIVED(F)
#undef F
  TlColliders colliders;
  TlPairState pairs;
} TlBodies;

void tl_bodies_free(TlBodies *bodies);
/* Memory for count bodies and as many colliders; keeps what is there. */
TlStatus tl_bodies_reserve(TlBodies *bodies, int64_t count);
/* A copy with memory of its own, derived fields and all; what `to` held is released. */
TlStatus tl_bodies_copy(TlBodies *to, const TlBodies *from);
/* Append an owned grain (only while there are no ghosts), or an owned body with its colliders,
 * which lie in its frame, ordered by id; body->parts: their number. Checks that the state is
 * finite; a rotation that is not unit is an error of ours. */
TlStatus tl_bodies_add(TlBodies *bodies, const TlGrainState *grain);
TlStatus tl_bodies_add_body(TlBodies *bodies, const TlBodyState *body,
                            const TlColliderState *colliders);
void tl_bodies_drop_ghosts(TlBodies *bodies);
TlBodyState tl_bodies_get(const TlBodies *bodies, int64_t index);
void tl_bodies_set(TlBodies *bodies, int64_t index, const TlBodyState *state);
TlColliderState tl_bodies_get_collider(const TlBodies *bodies, int64_t collider);
/* Take owned bodies out (keep[i] == 0), order kept; ghosts must have been dropped. Contact memory
 * of colliders and constraints of bodies that are no longer owned go too. */
TlStatus tl_bodies_keep(TlBodies *bodies, const unsigned char *keep);

/* A body from parts that are given in any frame of it: mass[k] and inertia[k] (principal, of the
 * collider's own frame), colliders[k].offset and turn in that frame. Moves offsets and turns to the
 * body's frame, *body (position and rotation: of the given frame) to its own, and fills
 * body->momentum, for this spin, and body->parts. Axes that are principal already stay. */
void tl_bodies_frame(TlBodyState *body, TlVec3 spin, TlColliderState *colliders, const double *mass,
                     const TlVec3 *inertia, int count);

/* Velocity of a collider's centre, world; needs the body's derived fields. */
TlVec3 tl_collider_velocity(const TlBodies *bodies, int64_t collider);
/* Of a collider about its body's centre, in the body's frame. inertia: principal, of its own. */
TlSym3 tl_collider_inertia(TlVec3 offset, TlQuat turn, double mass, TlVec3 inertia);

/* Number of colliders of body i, from bodies->first[i] on. */
static inline int64_t tl_bodies_parts(const TlBodies *bodies, int64_t i) {
  return bodies->parts[i] > 0 ? bodies->parts[i] : 1;
}
/* From a body's centre to its collider's, world. */
static inline TlVec3 tl_collider_arm(const TlBodies *bodies, int64_t collider) {
  const TlColliders *c = &bodies->colliders;
  if (!c->posed) return tl_vec3(0, 0, 0);
  return tl_sub(c->position[collider], bodies->position[c->body[collider]]);
}
/* In: a pose of its body; out: the collider's. */
void tl_collider_place(const TlBodies *bodies, int64_t collider, TlVec3 *position,
                       TlQuat *rotation);
/* The colliders' places follow their bodies' poses: to be called whenever these have changed. */
void tl_bodies_place_colliders(TlBodies *bodies);

/* A body and its colliders as bytes (host order; same machine type): their fields with one of the
 * attributes, of a grain's collider the shape alone. unpack appends an owned body, or a ghost.
 * *used: bytes taken from `from`. TL_EINPUT when they do not hold a body. */
size_t tl_bodies_state_size(const TlBodies *bodies, int64_t index, unsigned attributes);
unsigned char *tl_bodies_pack_state(const TlBodies *bodies, int64_t index, unsigned attributes,
                                    unsigned char *to);
TlStatus tl_bodies_unpack_state(TlBodies *bodies, unsigned attributes, bool ghost,
                                const unsigned char *from, size_t size, size_t *used);
/* Of a grain, without contact memory. */
size_t tl_bodies_grain_bytes(unsigned attributes);

/* Migration: state, contact memory and constraints of owned body i as bytes. Several unpacks may be
 * followed by one tl_pair_state_sort, which also drops the doubles that two ranks both knew. */
size_t tl_bodies_packed_size(const TlBodies *bodies, int64_t index);
void tl_bodies_pack(const TlBodies *bodies, int64_t index, unsigned char *to);
TlStatus tl_bodies_unpack(TlBodies *bodies, const unsigned char *from, size_t size, size_t *used);

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

/* Hash of the owned bodies' state, contact memory and constraints: the same for the same bits
 * whatever the order of the bodies and however they lie on ranks (add the ranks' values modulo
 * 2^64; rows of pairs are counted by the owner of the low id). */
TlStatus tl_bodies_hash(const TlBodies *bodies, uint64_t *hash);

#endif
