/* Fabric: how directions are spread (Tan 2022 Eqs. 4.5-4.10, mended).
 *
 * G = (1/N) sum n (x) n over unit vectors whose sign has no meaning; F = G - 1/3; F' = 15/2 F, so
 * that E(n) = (1 + n.F'n)/(4 pi) is the density of directions to second order (the dissertation's
 * 4.9 prints F there); anisotropy a = sqrt(3/2 F':F'), 0 for equal spread, 7.5 when all are one.
 * Directions: normals of contact points that lie in the region, between grains; branches, from
 * centre to centre of touching grains whose middle lies in it; long axes (of the least moment of
 * inertia, where it is 1% below the next: a sphere has none) of grains whose centres lie in it.
 */
#ifndef TL_POST_PACKING_FABRIC_H
#define TL_POST_PACKING_FABRIC_H

#include "post/packing.h"

typedef enum TlFabricKind {
  TL_FABRIC_NORMALS = 0,
  TL_FABRIC_BRANCHES,
  TL_FABRIC_LONG_AXES,
  TL_FABRIC_KINDS
} TlFabricKind;
extern const char *const tl_fabric_names[TL_FABRIC_KINDS];

/* Fresh memory (tl_free). */
TlStatus tl_fabric_directions(const TlPacking *packing, const TlRegion *region, TlFabricKind kind,
                              TlVec3 **direction, int64_t *count);

typedef struct TlFabric {
  int64_t count;
  TlSym3 tensor;     /* G */
  TlSym3 deviatoric; /* F' */
  double anisotropy; /* a */
  TlVec3 major;      /* where E is largest, unit */
} TlFabric;
/* Without directions: NaN. */
TlFabric tl_fabric_of(const TlVec3 *direction, int64_t count);

/* Spherical histogram of n and -n as one, over the half sphere z >= 0 in cells of equal solid
 * angle: bands of equal height in cos of the angle to z, from the equator up, in sectors of
 * azimuth atan2(y, x) from 0 to 2 pi. cell[band*TL_FABRIC_SECTORS + sector]: number. */
enum { TL_FABRIC_BANDS = 6, TL_FABRIC_SECTORS = 24 };
void tl_fabric_histogram(const TlVec3 *direction, int64_t count,
                         int64_t cell[TL_FABRIC_BANDS * TL_FABRIC_SECTORS]);

#endif
