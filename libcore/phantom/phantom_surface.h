/* The visible surface of a packed grain, as points with normals: where its phi is the offset and
 * the least there is, and its part of the contact faces, where two grains' phi are equal. */
#ifndef TL_PHANTOM_PHANTOM_SURFACE_H
#define TL_PHANTOM_PHANTOM_SURFACE_H

#include "phantom/phantom_voxels.h"

#include <stdint.h>

typedef struct TlPhantomPoint {
  uint32_t label;
  float z, y, x;    /* index coordinates */
  float nz, ny, nx; /* outward, unit */
} TlPhantomPoint;

/* Appends points of the piece's surface, about so many a square voxel, spread by area (stratified:
 * same seed, same points), labelled label. points, count and capacity as TL_RESERVE has them. The
 * piece must not be cut by the stack. A point lies on the surface to 1e-3 voxel; those that are not
 * found that well (none to a few a thousand, at the edges of sharp contacts) are left out. */
TlStatus tl_phantom_surface(const TlPhantomField *field, int64_t piece, uint32_t label,
                            double density, uint64_t seed, TlPhantomPoint **points, size_t *count,
                            size_t *capacity);

/* < 0 inside the piece's part of space, about a distance near its surface. */
double tl_phantom_piece_field(const TlPhantomField *field, int64_t piece, TlVec3 p);

#endif
