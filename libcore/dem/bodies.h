/* Rigid bodies as a structure of arrays: owned bodies [0, owned), then ghosts [owned, total).
 *
 * model/body_record.h lists the fields: the arrays, the record TlBodyState that halo, migration and
 * checkpoint carry, and the hash follow from it. The angular momentum L is carried instead of the
 * spin (Correction 13): without torque it keeps its bits while the body tumbles; spin = R I0^-1
 * R^T L. Derived fields are filled by tl_step_refresh (step.h).
 *
 * Contact memory and constraints (model/pair_state.h) belong to state, too. A rank holds the rows
 * of every pair with an owned body; tl_bodies_pack carries them along with the body.
 */
#ifndef TL_DEM_BODIES_H
#define TL_DEM_BODIES_H

#include "base/status.h"
#include "model/body_record.h"
#include "model/pair_state.h"
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

typedef struct TlBodies {
  int64_t owned, total;
  size_t capacity;
#define F(type, name, ...) type *name;
  TL_BODY_FIELDS(F)
  TL_BODY_DERIVED(F)
#undef F
  TlPairState pairs;
} TlBodies;

void tl_bodies_free(TlBodies *bodies);
/* Room for count bodies; keeps what is there. */
TlStatus tl_bodies_reserve(TlBodies *bodies, int64_t count);
/* A copy with memory of its own, derived fields and all; what `to` held is released. */
TlStatus tl_bodies_copy(TlBodies *to, const TlBodies *from);
/* Append an owned body (only while there are no ghosts) or a ghost. Checks that the state is
 * finite; a rotation that is not unit is an error of ours. */
TlStatus tl_bodies_add(TlBodies *bodies, const TlBodyState *state);
TlStatus tl_bodies_add_ghost(TlBodies *bodies, const TlBodyState *state);
void tl_bodies_drop_ghosts(TlBodies *bodies);
TlBodyState tl_bodies_get(const TlBodies *bodies, int64_t index);
void tl_bodies_set(TlBodies *bodies, int64_t index, const TlBodyState *state);
/* Take owned bodies out (keep[i] == 0), order kept; ghosts must have been dropped. Contact memory
 * and constraints that no longer have an owned body go too. */
TlStatus tl_bodies_keep(TlBodies *bodies, const unsigned char *keep);

/* Migration: state, contact memory and constraints of owned body i as bytes (host order; same
 * machine type). unpack appends an owned body and its rows; several unpacks may be followed by one
 * tl_pair_state_sort, which also drops the doubles that two ranks both knew. */
size_t tl_bodies_packed_size(const TlBodies *bodies, int64_t index);
void tl_bodies_pack(const TlBodies *bodies, int64_t index, unsigned char *to);
/* *used: bytes taken from `from`. TL_EINPUT when they do not hold a body. */
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
