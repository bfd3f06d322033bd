/* Bodies that hang together by merges (the model reduction's aggregates, solve/aggregates.h) live on one rank,
 * whole: that which owns the place of the one with the lowest id. Then every pair of an aggregate's bodies is
 * found by its owner, who sums over its bodies in the order of their ids. Merges of the last step may reach
 * over ranks until bodies have moved.
 */
#ifndef TL_DIST_TOGETHER_H
#define TL_DIST_TOGETHER_H

#include "model/bodies.h"
#include "solve/sync.h"

/* place: of each owned body, where it counts as lying. lowest: of each that hangs together with others, the lowest
 * of their ids; what stands there of the rest stays. Either may be NULL. Collective: of what hangs together on one
 * rank nothing is said, of the rest the bodies in between. */
TlStatus tl_together(const TlSync *sync, const TlBodies *bodies, TlVec3 *place, int64_t *lowest);
/* Merges with bodies that have left go; gone: the ids of those that this rank owned. Collective; sync NULL: one
 * rank. */
TlStatus tl_together_forget(const TlSync *sync, TlBodies *bodies, const int64_t *gone,
                            size_t count);

#endif
