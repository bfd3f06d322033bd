/* Delaunay cells of points in space, by Qhull (Barber et al. 1996).
 *
 * Points on one sphere (lattices) have more than one set of cells: one of them is taken, and its
 * flat cells, which fill nothing, are left out. The same points in the same order give the same
 * cells. Cost: 20 to 50 microseconds a point.
 */
#ifndef TL_NUM_DELAUNAY_H
#define TL_NUM_DELAUNAY_H

#include "base/status.h"
#include "num/vec.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct TlCell {
  int64_t corner[4]; /* indices of points; (1 - 0) x (2 - 0) . (3 - 0) > 0 */
} TlCell;

/* Fresh memory (tl_free). TL_EINPUT: fewer than five points, or points in (or next to) one plane;
 * TL_ELIB: Qhull failed. */
TlStatus tl_delaunay(const TlVec3 *point, int64_t count, TlCell **cell, int64_t *cells);

#endif
