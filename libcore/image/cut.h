/* Parts, coarser copies and grey levels of a stack, by layers, so that the stack may be larger than
 * memory.
 *
 * The products' heads (size, voxel_m, cylinder) are known before the sink is opened; values keep
 * their type. head->history is not touched.
 */
#ifndef TL_IMAGE_CUT_H
#define TL_IMAGE_CUT_H

#include "image/roi.h"
#include "num/layers.h"

/* The box of size voxels from low on (x, y, z). TL_EUSAGE when it does not lie in the stack. */
TlStatus tl_cut_crop_head(const TlVolume *head, const int64_t low[3], const int64_t size[3],
                          TlVolume *cut);
TlStatus tl_cut_crop(const TlLayers *stack, const int64_t low[3], const TlVolume *cut,
                     const TlLayerSink *sink);

/* 0 outside the region, which becomes the head's cylinder when it is one. */
TlVolume tl_cut_mask_head(const TlVolume *head, const TlRoi *roi);
TlStatus tl_cut_mask(const TlLayers *stack, const TlRoi *roi, const TlLayerSink *sink,
                     int64_t *outside);

/* Means over cubes of factor^3 voxels, integers rounded to the nearest (halves up); what is left
 * over at the far ends is dropped. Not for labels: TL_EUSAGE for u32. */
TlStatus tl_cut_coarse_head(const TlVolume *head, int factor, TlVolume *coarse);
TlStatus tl_cut_coarse(const TlLayers *stack, int factor, const TlVolume *coarse,
                       const TlLayerSink *sink);

/* The mean of the cube of factor^3 voxels that is voxel x, y, z of the coarser stack; any type. */
double tl_cut_cube_mean(const TlVolume *fine, int factor, int64_t x, int64_t y, int64_t z);

/* Grey levels inside a region. 8- and 16-bit integers: a bin a level (low: the type's least);
 * others: 4096 bins between least and greatest, not-finite voxels left out and counted. */
typedef struct TlCutLevels {
  double low, width; /* bin i covers low + i width to low + (i + 1) width; width 1: level low + i */
  int64_t bins;
  int64_t *count; /* owned */
  int64_t voxels, not_finite;
  double min, max;
  int64_t used; /* bins that hold something */
  double comb;  /* fraction of the levels between the 1% and 99% points that hold nothing; integers
                 */
  int bits;     /* integers >= 0: bits that the greatest value needs; else 0 */
  int64_t at_ends; /* voxels at the type's least or greatest value; integers: cut off there? */
} TlCutLevels;
TlStatus tl_cut_levels(const TlLayers *stack, const TlRoi *roi, TlCutLevels *levels);
void tl_cut_levels_free(TlCutLevels *levels);

#endif
