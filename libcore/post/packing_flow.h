/* How fast a packing deforms: inertia number (Tan 2022 Eq. 4.20).
 *
 * The velocity gradient L is that of the least-squares affine field v = v0 + L (x - x0) through the
 * velocities of the grains whose centres lie in the region; D = sym L without its trace; strain
 * rate = sqrt(2/3 D:D), which is the axial rate where the volume stays. Inertia number
 * I = rate * d * sqrt(rho/p), d the mean diameter of the grains, p the region's mean stress (the
 * dissertation takes the confining pressure). Under 1e-3 counts as quasi-static.
 */
#ifndef TL_POST_PACKING_FLOW_H
#define TL_POST_PACKING_FLOW_H

#include "post/packing.h"

typedef struct TlFlow {
  double rate_per_s, volume_rate_per_s; /* tr L > 0: the volume grows */
  double inertia;
} TlFlow;

/* NaN with fewer than four grains or all in a plane; inertia also where p <= 0. */
TlFlow tl_flow_of(const TlPacking *packing, const TlRegion *region);

#endif
