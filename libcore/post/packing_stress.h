/* Stress of a packing, compression positive (Tan 2022 Eqs. 4.1-4.2, 4.11-4.13, mended: the vector
 * goes from the grain's centre, the sign is turned).
 *
 * sigma = -(1/V) sum over contact points and the one or two grains g at each of
 *   s sym(f_g (x) (x_c - x_g)),  f_g the force on g,
 * s the fraction of the leg from the grain's centre to the point that lies in the region, V its volume
 * with its voids. For pairs of grains inside it is (1/V) sum f_i (x) (x_i - x_j), at boundaries the
 * legs end at the wall. Clipping the legs makes it the mean of the stress carried along them, so a
 * region may cut grains. Weight and inertia of the grains are no part of it. Pa.
 */
#ifndef TL_POST_PACKING_STRESS_H
#define TL_POST_PACKING_STRESS_H

#include "post/packing.h"

typedef struct TlStress {
  double principal_Pa[3]; /* sigma 1 >= 2 >= 3 */
  TlVec3 major;           /* direction of sigma 1, unit, sign without meaning */
  double mean_Pa;         /* p = tr sigma/3 */
  double deviatoric_Pa;   /* q = sqrt(3/2 s:s), s = sigma - p 1 */
  double friction_deg;    /* asin((s1 - s3)/(s1 + s3)); NaN when s1 + s3 <= 0 or s3 < 0 */
} TlStress;

TlSym3 tl_stress_region(const TlPacking *packing, const TlRegion *region);
/* Of each grain, over its own volume; sigma[grain_count]. */
void tl_stress_grains(const TlPacking *packing, TlSym3 *sigma);
TlStress tl_stress_of(TlSym3 sigma);

#endif
