/* Convex hull and Delaunay cells of points in space. */
#ifndef TL_NUM_HULL_H
#define TL_NUM_HULL_H

#include "base/status.h"
#include "num/vec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Volume of the convex hull of points with whole coordinates: exact, by adding one point at a time
 * (each sees the faces it lies strictly outside of; these go, and new ones close the rim they
 * leave). Points in a line or plane, as grids are full of, need no special care, for all signs are
 * those of whole numbers. Cost: points times faces; a labelled grain 30 voxels across has some 3000
 * and 300: 1 ms.
 */

typedef struct TlPoint3 {
  int32_t x, y, z; /* |coordinate differences| up to 100,000: all products fit 64 bits */
} TlPoint3;

/* *volume: 0 when all points lie in a plane. The order of points is changed. */
TlStatus tl_lattice_hull(TlPoint3 *points, size_t count, double *volume);

/* Delaunay cells of points in space, by Qhull (Barber et al. 1996).
 *
 * Points on one sphere (lattices) have more than one set of cells: one of them is taken, and its
 * flat cells, which fill nothing, are left out. The same points in the same order give the same
 * cells. Cost: 20 to 50 microseconds a point.
 */

typedef struct TlCell {
  int64_t corner[4]; /* indices of points; (1 - 0) x (2 - 0) . (3 - 0) > 0 */
} TlCell;

/* Fresh memory (tl_free). TL_EINPUT: fewer than five points, or points in (or next to) one plane;
 * TL_ELIB: Qhull failed. */
TlStatus tl_delaunay(const TlVec3 *point, int64_t count, TlCell **cell, int64_t *cells);

#endif
