/* One label a grain: distance map, markers, watershed (Tan 2022 2.4.6 uses the same chain).
 *
 *   d = distance of each grain voxel to the void (voxels), smoothed by a Gaussian of `sigma`;
 *   a peak of d is a grain of its own when it rises above the saddle to any higher peak by more
 *   than h_voxels + h_relative d, integrated along the rise:
 *       integral from saddle to peak of dd / (h_voxels + h_relative d) > 1.
 * So small grains are kept apart by an absolute rise (mask steps make false peaks of a fraction of
 * a voxel) and large ones by a relative rise (a 5 times larger grain has 5 times larger false
 * peaks): sizes of 1:5 need both. It is the h-maxima transform, h = 1, of
 *   f(d) = ln(1 + h_relative d / h_voxels) / h_relative.
 * Markers then grow over the mask by watershed of -f. The flooding stands behind this header only.
 *
 * Labels are canonical: a grain's number is the order of its first voxel in z, y, x order, from 1.
 * The result does not depend on the thread count. Volumes: num/volume.h; voxels are taken as cubes
 * (anisotropy ignored).
 */
#ifndef TL_IMAGE_LABEL_H
#define TL_IMAGE_LABEL_H

#include "image/roi.h"
#include "num/volume.h"

typedef struct TlLabelOptions {
  double sigma;       /* smoothing of the distance map, voxels; 0: none */
  double h_voxels;    /* > 0 */
  double h_relative;  /* >= 0 */
  int64_t min_voxels; /* smaller grains are dropped (become void) */
} TlLabelOptions;

typedef struct TlLabelResult {
  uint32_t grains;  /* labels 1..grains in the product */
  uint32_t dropped; /* grains under min_voxels */
  int64_t dropped_voxels;
  int64_t grain_voxels;   /* labelled voxels */
  int64_t unreached;      /* mask voxels in specks too thin for a marker */
  uint32_t border;        /* grains that touch the stack's or the region's border */
  double median_diameter; /* of the volume-equivalent spheres, voxels; whole grains only where
                             there are any */
} TlLabelResult;

/* mask: any type, > 0 is grain -> labels, a new U32 volume (0 void). TL_EINPUT when the region
 * holds no grain voxel, or no voxel else, or when every grain is dropped. */
TlStatus tl_label(const TlVolume *mask, const TlRoi *roi, const TlLabelOptions *options,
                  TlVolume *labels, TlLabelResult *result);

/* flags: new array of count + 1; flags[g] = 1 when grain g has a voxel on a face of the stack or
 * next to a voxel outside the region: it is cut there and its shape is not whole. Owner: caller. */
TlStatus tl_label_border(const TlVolume *labels, const TlRoi *roi, uint8_t **flags, uint32_t count);

/* Renumber U32 labels by first voxel, dropping (to 0) labels with fewer than min_voxels; *count is
 * the number left; *dropped and *dropped_voxels may be NULL. */
TlStatus tl_label_canonical(TlVolume *labels, int64_t min_voxels, uint32_t *count,
                            uint32_t *dropped, int64_t *dropped_voxels);

#endif
