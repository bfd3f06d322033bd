/* Descriptors of a grain's form and roundness, each by its formula and source.
 *
 *   diameter     d = (6 V/pi)^(1/3)                                         sphere of equal volume
 *   axes         a >= b >= c: extents along the principal axes of inertia
 *   elongation   b/a, flatness c/b                                           Zingg 1935
 *   sphericity   pi^(1/3) (6 V)^(2/3) / A, A from phi                        Wadell 1932
 *   krumbein     (b c/a^2)^(1/3), the intercept sphericity                   Krumbein 1941
 *   convexity    V / V(convex hull), both of the triangles of phi = 0; 1 at most
 *   roundness    sum g(k) dA / A, g = 1 for |k| <= 1/r, else 1/(r |k|)       Hayakawa, Oguchi 2005
 *                k the larger principal curvature, r the largest inscribed sphere's radius (the
 *                depth of phi): 1 for a sphere, towards 0 for sharp corners and edges
 *   inscribed    2 r/d
 * Area by marching cubes of a mask would be 8% too large at any resolution; that of phi is not.
 * Lengths in metres; all else without unit. Curvature is measured over about two cells: corners
 * sharper than that count as that.
 */
#ifndef TL_SHAPE_DESCRIPTORS_H
#define TL_SHAPE_DESCRIPTORS_H

#include "shape/avatar.h"

typedef struct TlDescriptors {
  double diameter_m, axes_m[3];
  double elongation, flatness, sphericity, krumbein, convexity, roundness, inscribed;
} TlDescriptors;

/* TL_ENOMEM only, for an avatar that tl_avatar_check lets pass. About 30 ms for 28 cells across. */
TlStatus tl_descriptors(const TlAvatar *avatar, TlDescriptors *descriptors);

/* Volume of the convex hull of count points (x, y, z each), up to 0.4% too small where it is round
 * (it is that of the points farthest out in 1500 directions); 0 when they lie in a plane along the
 * axes, under 1e-5 of the extent cubed when it is another. */
TlStatus tl_hull_volume(const float *points, int64_t count, double *volume);

#endif
