/* Signs in a grain's shape that its label is wrong: over-segmented or under-segmented.
 *
 * over: the widest contact with a neighbour as a disc of the same area, its diameter over that of
 * the ball of the grain's volume. Two halves of a grain give about 1, two grains that touch 0.2 to
 * 0.6: a large value suggests that grain and neighbour are one. under: volume of the convex hull
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

/* Of each grain the widest face that it shares with a neighbour, as part of the cross-section that
 * the smaller one of the two would have as a ball (the width of image/label.h): a grain cut through
 * its middle has 1.6, and so has its other half; 95% of true contacts that are wider than 0.3 stay
 * below 0.7. Pairs whose smaller one is cut by the border are left out, for its size is not known.
 * border, width: new arrays by label, count + 1 (border: tl_label_border; width 0: no such face).
 * at_once: layers read at a time. Memory: these and a record of each pair. TL_EINPUT for a label
 * beyond count. */
TlStatus tl_label_contacts(const TlLayers *labels, const TlRoi *roi, uint32_t count,
                           int64_t at_once, uint8_t **border, double **width);

#endif
