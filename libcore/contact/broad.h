/* Broad phase: pairs of colliders whose reach spheres overlap and that are not parts of one body, by
 * hierarchical cells (one level for each factor 2 in size: the cost is linear in the number of
 * colliders for any size ratio, Krijgsman 2014).
 *
 * A TlBroad keeps its pairs over many steps (a Verlet list of colliders). They are made with reaches
 * that are a little larger, and made again only when a collider's reach and its displacement since
 * then no longer fit into the larger reach, or when the colliders themselves, their places in the
 * arrays, their bodies or what is frozen have changed. It is scratch memory, not part of the state.
 */
#ifndef TL_CONTACT_BROAD_H
#define TL_CONTACT_BROAD_H

#include "base/mem.h"
#include "model/bodies.h"

#include <stdbool.h>

typedef struct TlBodyPair {
  int32_t a, b; /* local indices; a has the lower id */
} TlBodyPair;

typedef struct TlBodyPairs {
  TlBodyPair *pair; /* owned, grows */
  size_t count, capacity;
} TlBodyPairs;

/* What a collider was when the pairs were made. */
typedef struct TlBroadBody {
  int64_t id;
  TlVec3 position;
  double reach; /* the larger one */
  int32_t body; /* place of its body */
  bool frozen;
} TlBroadBody;

typedef struct TlBroad {
  TlBodyPairs pairs; /* by (low id, high id) */
  TlBroadBody *body; /* [total] one a collider, owned */
  int32_t *rank;     /* [total] place of the collider among all in order of id, owned */
  int64_t owned, total;
  size_t capacity;
  TlBodyPairs *found; /* scratch, one a thread */
  int found_count;
  int64_t builds; /* counter */
} TlBroad;

void tl_broad_free(TlBroad *broad);
/* Bring the pairs up to date: all that tl_broad_pairs would give are among them. *built: they were
 * made anew. step_s: guesses how far bodies will go. Parallel; the order of the pairs depends on
 * ids alone. */
TlStatus tl_broad_update(TlBroad *broad, const TlBodies *bodies, double step_s, TlArena *scratch,
                         bool *built);

/* Pairs with a collider of an owned and one of a movable body, not the same, |x_a - x_b| < reach_a + reach_b, without a
 * memory. scratch: an arena of the step. By (low id, high id). */
TlStatus tl_broad_pairs(const TlBodies *bodies, TlArena *scratch, TlBodyPairs *pairs);

#endif
