/* Broad phase: pairs of bodies whose reach spheres overlap, by hierarchical cells (one level a
 * factor 2 of size: linear in the number of bodies for any size ratio, Krijgsman 2014). */
#ifndef TL_DEM_BROAD_H
#define TL_DEM_BROAD_H

#include "base/mem.h"
#include "dem/bodies.h"

typedef struct TlBodyPair {
  int32_t a, b; /* local indices; a has the lower id */
} TlBodyPair;

typedef struct TlBodyPairs {
  TlBodyPair *pair; /* owned, grows */
  size_t count, capacity;
} TlBodyPairs;

/* Pairs with at least one owned and one movable body, |x_a - x_b| < reach_a + reach_b. scratch: an
 * arena of the step. Order depends on the order of the bodies only. */
TlStatus tl_broad_pairs(const TlBodies *bodies, TlArena *scratch, TlBodyPairs *pairs);

#endif
