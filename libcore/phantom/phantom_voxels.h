/* From packed shapes to voxels: the owner of each sub-sample, grey, labels and moments. Internal to
 * the phantom (phantom.c); the model is described in phantom.h. */
#ifndef TL_PHANTOM_PHANTOM_VOXELS_H
#define TL_PHANTOM_PHANTOM_VOXELS_H

#include "num/volume.h"
#include "phantom/phantom_shape.h"

/* A grain or a periodic image of one that reaches into the stack. */
typedef struct TlPhantomPiece {
  const TlPhantomShape *shape;
  TlVec3 centre; /* index coordinates */
  TlMat3 rotation;
  float grey;
} TlPhantomPiece;

/* Sub-sample sums of a piece, in eighths of a voxel about origin: integers, so that threads may
 * add in any order and the sum has the same bits. */
typedef struct TlPhantomSums {
  int64_t count, border; /* border: sub-samples in the outermost voxels */
  int64_t x, y, z, xx, yy, zz, xy, xz, yz;
  int64_t origin[3]; /* voxels */
} TlPhantomSums;

typedef struct TlPhantomField {
  const TlPhantomPiece *pieces;
  int64_t piece_count;
  double offset;          /* solid where the least phi is below */
  double centre[2];       /* of the cylinder, index coordinates */
  double cylinder_radius; /* 0: none */
} TlPhantomField;

/* phi of a piece at count <= TL_PHANTOM_BATCH points given relative to its centre, stack axes. */
void tl_phantom_piece_phi(const TlPhantomPiece *piece, int count, const float *dx, const float *dy,
                          const float *dz, float *phi);

/* The offset that gives the solid fraction, by the voxel centres' least phi (histogram of 1/256
 * voxel); TL_ELIMIT when it would be beyond +-3 voxels. */
TlStatus tl_phantom_find_offset(TlPhantomField *field, const TlVolume *model, double fraction);

/* grey: F32, holds the background's level on entry; labels: U32, piece index + 1 on exit.
 * sums: piece_count, zeroed with origins set. */
TlStatus tl_phantom_fill(const TlPhantomField *field, TlVolume *grey, TlVolume *labels,
                         TlPhantomSums *sums);

#endif
