/* Region of interest: where the specimen is in the scan.
 *
 * Scans are often a disc in a black or padded square, with a container's wall around the grains.
 * Every imaging stage works and estimates inside the region only; outside is 'not sample' (0).
 * --roi auto | none | cylinder:X,Y,R (voxels, axis along z) | FILE (a mask stack, > 0 inside).
 * auto: the cylinder that the stack records (talus-volume mask-cylinder), else a disc that is
 * looked for, or what constant padding of any other shape leaves (TlRoiPadding). */
#ifndef TL_IMAGE_ROI_H
#define TL_IMAGE_ROI_H

#include "num/layers.h"

#include <stdbool.h>

typedef enum TlRoiKind { TL_ROI_ALL = 0, TL_ROI_CYLINDER, TL_ROI_MASK } TlRoiKind;

typedef struct TlRoi {
  TlRoiKind kind;
  double x, y, r;  /* cylinder, voxel index coordinates */
  uint8_t *bits;   /* kind MASK: bit i % 8 of byte i / 8 for voxel i, owned */
  int64_t nx, ny;  /* of the volume it belongs to */
  int64_t first_z; /* z of the layer asked for as 0: a slab's region (image/slabs.h) */
  int64_t
      padding; /* kind MASK: so many constant voxels were left out by `auto`; 0: a mask stack's */
  double grey; /* their value */
} TlRoi;

/* text as above; FILE is not read here: *is_file is set and the caller opens the mask and calls
 * tl_roi_from_mask. "auto" looks at the stack (see roi.c for the rule): two layers at a time, and
 * all of it where a corner is constant. */
TlStatus tl_roi_parse(const char *text, const TlLayers *stack, TlRoi *roi, int *is_file);
/* Memory: a bit a voxel and 16 layers of the mask. head: of the stack. */
TlStatus tl_roi_from_mask(const TlLayers *mask, const TlVolume *head, TlRoi *roi);
void tl_roi_free(TlRoi *roi);
/* One line saying what the region is: "cylinder x 250.0 y 249.5 r 240.2 voxels" / "whole stack". */
void tl_roi_describe(const TlRoi *roi, char *text, size_t size);

static inline int tl_roi_inside(const TlRoi *roi, int64_t x, int64_t y, int64_t z) {
  if (roi->kind == TL_ROI_ALL) return 1;
  if (roi->kind == TL_ROI_MASK) {
    int64_t i = ((z + roi->first_z) * roi->ny + y) * roi->nx + x;
    return roi->bits[i >> 3] >> (i & 7) & 1;
  }
  double dx = (double)x - roi->x, dy = (double)y - roi->y;
  return dx * dx + dy * dy <= roi->r * roi->r;
}
/* Does one of the six voxels across the faces of this one lie outside the region? They have to lie in
 * the stack. */
static inline bool tl_roi_beside_outside(const TlRoi *roi, int64_t x, int64_t y, int64_t z) {
  if (roi->kind == TL_ROI_ALL) return false;
  return !(tl_roi_inside(roi, x - 1, y, z) && tl_roi_inside(roi, x + 1, y, z) &&
           tl_roi_inside(roi, x, y - 1, z) && tl_roi_inside(roi, x, y + 1, z) &&
           tl_roi_inside(roi, x, y, z - 1) && tl_roi_inside(roi, x, y, z + 1));
}
/* What reaches this voxel is cut: it lies on a face of the stack, of whose head the size is read, or
 * beside the outside. */
static inline bool tl_roi_cuts(const TlRoi *roi, const TlVolume *head, int64_t x, int64_t y,
                               int64_t z) {
  return x == 0 || y == 0 || z == 0 || x == head->nx - 1 || y == head->ny - 1 ||
         z == head->nz - 1 || tl_roi_beside_outside(roi, x, y, z);
}

/* What a reconstruction knows nothing of: constant voxels connected to the stack's border, whatever
 * shape they leave for the field of view (a rotated square, a polygon, an ellipse; above,
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

typedef struct TlRoiPadding {
  uint8_t *inside; /* bit i % 8 of byte i / 8 for voxel i; owned; NULL: no padding */
  int64_t voxels;  /* of padding */
  double grey;     /* its value, that of the first corner which is padding */
} TlRoiPadding;

/* inside: the caller's, tl_free. */
TlStatus tl_roi_find_padding(const TlLayers *stack, TlRoiPadding *padding);

#endif
