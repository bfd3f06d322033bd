/* Packing of the phantom's grains: from random places, grown to full size while overlaps are
 * pushed apart (position-based, on the shapes themselves: surface nodes of one in phi of the
 * other, both ways, rigid translation and rotation), which ends in a random dense packing.
 *
 * Box: [0, size) in voxels, periodic in z always and in x, y unless a cylinder is given; then the
 * nodes stay within cylinder_radius of the axis through (size.x/2, size.y/2).
 * Jacobi sweeps read the old state only and add pair by pair in a fixed order: the same bits for
 * any thread count. Cost: about 0.1 ms a grain a hundred sweeps.
 */
#ifndef TL_PHANTOM_PHANTOM_PACK_H
#define TL_PHANTOM_PHANTOM_PACK_H

#include "base/status.h"
#include "num/vec.h"
#include "phantom/phantom_shape.h"

#include <stdint.h>

typedef struct TlPhantomPose {
  TlVec3 position; /* voxels */
  TlQuat rotation; /* body -> box */
} TlPhantomPose;

typedef struct TlPhantomBox {
  double size[3];
  double cylinder_radius; /* 0: periodic in x and y */
} TlPhantomBox;

/* poses: count, out. *deepest: largest overlap left, voxels (what the voxeliser then cuts). */
TlStatus tl_phantom_pack(const TlPhantomBox *box, const TlPhantomShape *shapes, int64_t count,
                         uint64_t seed, TlPhantomPose *poses, double *deepest);

#endif
