/* How normal forces are spread over the pairs of touching grains (points of a pair taken together)
 * whose grains' middle lies in a region; boundaries left out.
 *
 * f = F_n/<F_n>. Strong: f > 1, weak: the others (Radjai et al. 1996). By maximum likelihood: the
 * strong ones as exp(-beta (f - 1)), beta = 1/<f - 1>; the weak ones as f^alpha on 0 < f <= 1,
 * alpha = -1 - 1/<ln f>. Sliding: sum of the points' |F_t| >= 0.99 mu times that of their F_n, so
 * that all of them are at the bound (to 1%, what the solver's sweeps leave).
 */
#ifndef TL_POST_PACKING_FORCES_H
#define TL_POST_PACKING_FORCES_H

#include "post/packing.h"

typedef struct TlForces {
  int64_t pairs, strong;
  double mean_N;                       /* <F_n> */
  double strong_fraction;              /* of the pairs */
  double beta, alpha;                  /* NaN: no such pairs */
  double sliding;                      /* fraction of all pairs */
  double sliding_strong, sliding_weak; /* of the strong, of the weak */
} TlForces;

TlForces tl_forces_of(const TlPacking *packing, const TlRegion *region);

/* Density of f over bins of TL_FORCES_BIN from 0: count/(pairs * bin); the last bin also holds what
 * is beyond. */
enum { TL_FORCES_BINS = 48 };
#define TL_FORCES_BIN 0.125
void tl_forces_histogram(const TlPacking *packing, const TlRegion *region,
                         int64_t count[TL_FORCES_BINS]);

bool tl_pair_slides(const TlPackPair *pair);
/* Between grains, and its middle in the region? */
bool tl_pair_in(const TlPacking *packing, const TlRegion *region, const TlPackPair *pair);

#endif
