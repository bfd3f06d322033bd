/* Region of interest: where the specimen is in the scan.
 *
 * Scans are often a disc in a black or padded square, with a container's wall around the grains.
 * Every imaging stage works and estimates inside the region only; outside is 'not sample' (0).
 * --roi auto | none | cylinder:X,Y,R (voxels, axis along z) | FILE (a mask stack, > 0 inside).
 */
#ifndef TL_IMAGE_ROI_H
#define TL_IMAGE_ROI_H

#include "num/volume.h"

typedef enum TlRoiKind { TL_ROI_ALL = 0, TL_ROI_CYLINDER, TL_ROI_MASK } TlRoiKind;

typedef struct TlRoi {
  TlRoiKind kind;
  double x, y, r; /* cylinder, voxel index coordinates */
  uint8_t *mask;  /* kind MASK: nx*ny*nz, owned */
  int64_t nx, ny; /* of the volume it belongs to */
} TlRoi;

/* text as above; FILE is not read here: *is_file is set and the caller reads the mask and calls
 * tl_roi_from_mask. "auto" looks at the volume (see roi.c for the rule). */
TlStatus tl_roi_parse(const char *text, const TlVolume *volume, TlRoi *roi, int *is_file);
TlStatus tl_roi_from_mask(const TlVolume *mask, const TlVolume *volume, TlRoi *roi);
void tl_roi_free(TlRoi *roi);
/* One line saying what the region is: "cylinder x 250.0 y 249.5 r 240.2 voxels" / "whole stack". */
void tl_roi_describe(const TlRoi *roi, char *text, size_t size);

static inline int tl_roi_inside(const TlRoi *roi, int64_t x, int64_t y, int64_t z) {
  if (roi->kind == TL_ROI_ALL) return 1;
  if (roi->kind == TL_ROI_MASK) return roi->mask[(z * roi->ny + y) * roi->nx + x] != 0;
  double dx = (double)x - roi->x, dy = (double)y - roi->y;
  return dx * dx + dy * dy <= roi->r * roi->r;
}

#endif
