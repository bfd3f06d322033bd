/* Volume of the convex hull of points with whole coordinates: exact, by adding one point at a time
 * (each sees the faces it lies strictly outside of; these go, and new ones close the rim they
 * leave). Points in a line or plane, as grids are full of, need no special care, for all signs are
 * those of whole numbers. Cost: points times faces; a labelled grain 30 voxels across has some 3000
 * and 300: 1 ms.
 */
#ifndef TL_NUM_HULL_H
#define TL_NUM_HULL_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

typedef struct TlPoint3 {
  int32_t x, y, z; /* |coordinate differences| up to 100,000: all products fit 64 bits */
} TlPoint3;

/* *volume: 0 when all points lie in a plane. The order of points is changed. */
TlStatus tl_lattice_hull(TlPoint3 *points, size_t count, double *volume);

#endif
