/* What a reconstruction knows nothing of: constant voxels connected to the stack's border, whatever
 * shape they leave for the field of view (a rotated square, a polygon, an ellipse; image/roi.h,
 * `auto`).
 *
 * A corner of the stack is padding when the cube in it holds one value only. Padding is all voxels
 * of these values that are connected to such a corner through voxels whose 26 neighbours are of
 * them, too (so that single voxels of the same grey at the rim join nothing), and the neighbours of
 * those. It is taken for padding only if what it leaves is a field of view and not the grains:
 *   - its value is rare inside (under 5% of the voxels there); or it takes a tenth of the stack and
 *     three quarters of the columns that it reaches, as no grain and no pore at a corner does;
 *   - under 2% of it lies between voxels inside along x and along y: pores do, a frame does not;
 *   - what is left fills a quarter of the stack, and three quarters of the columns (along z) that
 * it reaches: a field of view is much the same at every height, grains are not;
 *   - the stack has more than 8 values and is no stack of labels (32-bit integers): the void of a
 *     mask is no padding.
 * Memory: two bits a voxel and 16 layers. The stack is read twice, three times where padding is
 * found.
 */
#ifndef TL_IMAGE_ROI_PADDING_H
#define TL_IMAGE_ROI_PADDING_H

#include "image/roi.h"

#include <stdbool.h>

typedef struct TlRoiPadding {
  uint8_t *inside; /* bit i % 8 of byte i / 8 for voxel i; owned; NULL: no padding */
  int64_t voxels;  /* of padding */
  double grey;     /* its value, that of the first corner which is padding */
} TlRoiPadding;

/* inside: the caller's, tl_free. */
TlStatus tl_roi_find_padding(const TlLayers *stack, TlRoiPadding *padding);

#endif
