/* Measures of a packing in a region that are one function each, beside their columns in packing.csv
 * (post/packing.h): solid fraction, coordination, rate of deformation, balance of forces. */
#ifndef TL_POST_PACKING_MEASURES_H
#define TL_POST_PACKING_MEASURES_H

#include "post/packing.h"

/* ---- packing_void.c ---- */

/* Solid fraction and void ratio of a region.
 *
 * Solid volume: volumes of the grains, of one that the region's border cuts the fraction of its inner
 * grid points that lie inside, each standing for a cell (a cap of a quarter of a sphere's diameter,
 * 48 points across: 1%). Overlaps count twice. Solid fraction = solid/V, void
 * ratio e = (V - solid)/solid.
 */

double tl_void_solid_m3(const TlPacking *packing, const TlRegion *region);

/* ---- packing_coordination.c ---- */

/* Coordination of the grains whose centres lie in a region.
 *
 * Contact points a grain Z = sum N_c/N (Tan 2022 Eq. 4.23: a pair may touch in several points);
 * neighbours a grain, grains and boundaries, however many points; mechanical coordination number
 * (Thornton 2000) Z_m = (sum of neighbours - N1)/(N - N0 - N1), N0 and N1 the grains with none and
 * one: those without carry nothing. Rattlers: (N0 + N1)/N.
 */

typedef struct TlCoordination {
  int64_t bodies; /* a grain is a body; one of several parts counts once */
  double points, neighbours, mechanical, rattlers; /* NaN without grains */
} TlCoordination;

TlStatus tl_coordination(const TlPacking *packing, const TlRegion *region, TlCoordination *out);

/* ---- packing_flow.c ---- */

/* How fast a packing deforms: inertia number (Tan 2022 Eq. 4.20).
 *
 * The velocity gradient L is that of the least-squares affine field v = v0 + L (x - x0) through the
 * velocities of the grains whose centres lie in the region; D = sym L without its trace; strain
 * rate = sqrt(2/3 D:D), which is the axial rate where the volume stays. Inertia number
 * I = rate * d * sqrt(rho/p), d the mean diameter of the grains, p the region's mean stress (the
 * dissertation takes the confining pressure). Under 1e-3 counts as quasi-static.
 */

typedef struct TlFlow {
  double rate_per_s, volume_rate_per_s; /* tr L > 0: the volume grows */
  double inertia;
} TlFlow;

/* NaN with fewer than four grains or all in a plane; inertia also where p <= 0. */
TlFlow tl_flow_of(const TlPacking *packing, const TlRegion *region);

/* ---- packing_balance.c ---- */

/* How far a packing is from equilibrium: unbalanced force.
 *
 * Mean over the moving grains in the region of |sum of contact forces + weight|, over the mean size
 * of the forces at contact points of those grains. 0 at rest; about 1 in free flight with touches.
 */

/* NaN without contacts. */
TlStatus tl_balance(const TlPacking *packing, const TlRegion *region, double *unbalanced);

#endif
