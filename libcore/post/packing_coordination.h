/* Coordination of the grains whose centres lie in a region.
 *
 * Contact points a grain Z = sum N_c/N (Tan 2022 Eq. 4.23: a pair may touch in several points);
 * neighbours a grain, grains and boundaries, however many points; mechanical coordination number
 * (Thornton 2000) Z_m = (sum of neighbours - N1)/(N - N0 - N1), N0 and N1 the grains with none and
 * one: those without carry nothing. Rattlers: (N0 + N1)/N.
 */
#ifndef TL_POST_PACKING_COORDINATION_H
#define TL_POST_PACKING_COORDINATION_H

#include "post/packing.h"

typedef struct TlCoordination {
  int64_t grains;
  double points, neighbours, mechanical, rattlers; /* NaN without grains */
} TlCoordination;

TlStatus tl_coordination(const TlPacking *packing, const TlRegion *region, TlCoordination *out);

#endif
