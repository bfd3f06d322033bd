/* What a grain's shape says about its label: too much parted, or too little.
 *
 * over: the widest contact with a neighbour as a disc of the same area, its diameter over that of
 * the ball of the grain's volume. Two halves of a grain give about 1, two grains that touch 0.2 to
 * 0.6: a large value says that grain and neighbour may be one. under: volume of the convex hull
 * over that of the grain, both of the voxels' boxes. Two grains under one label have a waist: 1.2
 * and more, where single ones have 1.0 to 1.15 (voxel steps included); concave grains have it too.
 * They are hints to look at, in whatever order the user likes, and nothing is changed by them.
 * The contact's area is that of its voxel faces, sqrt(Ax^2 + Ay^2 + Az^2), right for plane
 * contacts. Lengths are physical with anisotropic voxels. The stack comes by layers; memory: rows
 * of the grains in hand and a record of each pair.
 */
#ifndef TL_IMAGE_LABEL_QUALITY_H
#define TL_IMAGE_LABEL_QUALITY_H

#include "image/roi.h"

typedef struct TlLabelQuality {
  int64_t voxels;
  double diameter;    /* of the ball of the same volume, in edges of the cube of a voxel's volume */
  double over, under; /* see above; over is 0 without neighbours */
  uint32_t neighbour; /* of the widest contact; 0: none */
  uint32_t neighbours; /* labels that share faces with it */
  uint8_t border;      /* cut by the stack's or the region's border */
} TlLabelQuality;

/* labels: U32 layers with labels 1..count -> quality, new array of count + 1 by label. TL_EINPUT
 * for a label beyond count. */
TlStatus tl_label_quality(const TlLayers *labels, const TlRoi *roi, uint32_t count,
                          TlLabelQuality **quality);

#endif
