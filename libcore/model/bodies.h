/* Rigid bodies and their colliders as structures of arrays: owned ones [0, owned), then ghosts
 * [owned, total).
 *
 * A body moves, its colliders touch (model/body_record.h: the arrays, the bytes that messages,
 * checkpoints and frames hold, and the hash follow from these lists). Between the study and a frame a
 * body has no other form: whoever makes one writes into the arrays, and what leaves them is packed
 * rows. The colliders of a body follow each other by id, in the order of the bodies. Mass and moments of
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
 * of every pair with an owned body; tl_bodies_to_own carries them along with the body.
 */
#ifndef TL_MODEL_BODIES_H
#define TL_MODEL_BODIES_H

#include "base/mem.h"
#include "base/status.h"
#include "model/body_record.h"
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
      16, /* was named: its collisions found no end for long (step_problems.c); stays */
  TL_BODY_GUIDED = 32, /* on a joint (joints.h): an apparatus, no grain to measures */
  TL_BODY_FIXED =
      64, /* placed as fixed by the study, and frozen: what grains lie on, none of them */
  TL_BODY_NO_GRAIN = TL_BODY_NET | TL_BODY_GUIDED | TL_BODY_FIXED
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
/* Append an owned body, only while there are no ghosts: a grain (parts 0), or a body with so many
 * colliders, whose ids are id, id + 1, ... It lies at the origin, upright and at rest, of scale 1, and
 * everything else is 0; what is otherwise the caller writes into the arrays, the body's at *at, its
 * colliders' from bodies->first[*at] on. */
TlStatus tl_bodies_add(TlBodies *bodies, int64_t id, int32_t parts, int64_t *at);
/* Append an owned copy of a body. */
TlStatus tl_bodies_add_copy(TlBodies *bodies, const TlBodies *from, int64_t index);
/* Of bodies from `first` on: TL_EINPUT when state is not finite, a scale not above 0, a rotation not
 * unit. For whoever made them. */
TlStatus tl_bodies_check(const TlBodies *bodies, int64_t first);
void tl_bodies_drop_ghosts(TlBodies *bodies);
/* No bodies, contact memory and constraints; keeps the memory. */
void tl_bodies_clear(TlBodies *bodies);
/* Take owned bodies out (keep[i] == 0), order kept; ghosts must have been dropped. Contact memory
 * of colliders and constraints of bodies that are no longer owned go too. */
TlStatus tl_bodies_keep(TlBodies *bodies, const unsigned char *keep);

/* Body i, whose colliders' offsets and turns are given in any frame, becomes one in its own frame:
 * mass[k] and inertia[k] (principal, of the collider's own frame) of its colliders; position and
 * rotation are the given frame's before and the body's afterwards. Fills the momentum, for this spin.
 * Axes that are principal already stay. */
void tl_bodies_frame(TlBodies *bodies, int64_t i, TlVec3 spin, const double *mass,
                     const TlVec3 *inertia);

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

/* ---- rows and bytes (host order; same machine type) ---- */

extern const TlRecord tl_body_record, tl_collider_record; /* of the arrays */

/* The owned bodies in the order of their ids, and their colliders in that of their bodies' ids and
 * their own: nothing of it depends on ranks. Valid while the bodies stay as they are. */
typedef struct TlBodyOrder {
  const TlBodies *bodies; /* borrowed */
  int64_t *body, *collider;
  int64_t *
      aggregate; /* of each body: lowest id of those that hang together by merges; -1: it has none */
} TlBodyOrder;
TlStatus tl_body_order(const TlBodies *bodies, TlBodyOrder *order);
void tl_body_order_free(TlBodyOrder *order);
/* For checkpoints: of tl_body_record and tl_collider_record. */
TlRows tl_body_rows(const TlBodyOrder *order);
TlRows tl_collider_rows(const TlBodyOrder *order);
/* For frames, one row a collider: of tl_body_row_record. Need the derived fields. */
TlRows tl_frame_rows(const TlBodyOrder *order);
/* A checkpoint's rows back: append an owned body; then, body by body and in order, its colliders.
 * `at`: of the body. The caller has checked what it says. */
TlStatus tl_bodies_load(TlBodies *bodies, const unsigned char *row);
TlStatus tl_bodies_load_collider(TlBodies *bodies, int64_t at, const unsigned char *row);

/* Bodies that leave or come: those that leave are known by their places in the list. Starts zeroed but for
 * `bodies`. */
typedef struct TlBodyMoves {
  TlBodies *bodies;       /* borrowed */
  const int64_t *leaving; /* borrowed: owned bodies */
  TlPairLists rows;       /* of each of these */
} TlBodyMoves;
/* `count` bodies are to leave; valid while bodies and rows stay as they are. */
TlStatus tl_body_moves_list(TlBodyMoves *moves, const int64_t *leaving, int64_t count);
void tl_body_moves_free(TlBodyMoves *moves);

/* What other ranks get of bodies. As ghosts: state and colliders, of a grain's collider the shape
 * alone; they are appended behind the owned ones. As bodies to own: their contact memory and
 * constraints, too; of rows that two ranks both knew the doubles go. A grain as a ghost has so many
 * bytes. */
TlParcels tl_bodies_as_ghosts(TlBodies *bodies);
TlParcels tl_bodies_to_own(TlBodyMoves *moves);
size_t tl_bodies_ghost_bytes(void);
/* A body to own by hand; tl_pair_state_sort is to follow the last one. */
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

/* Local bodies by ascending id, in the arena; and the body with this id among them, -1: there is none. */
TlStatus tl_bodies_order(const TlBodies *bodies, TlArena *arena, int32_t **order);
int32_t tl_bodies_find(const TlBodies *bodies, const int32_t *order, int64_t id);
/* The body that the collider with this id is part of, likewise. */
int32_t tl_bodies_find_owner(const TlBodies *bodies, const int32_t *order, int64_t collider_id);

#endif
