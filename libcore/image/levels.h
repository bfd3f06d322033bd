/* Grey levels of void and grain away from every edge: the class means of the random field.
 *
 * A class' core is the class eroded by 2 voxels (less where grains are too thin for that): partial
 * volume and blur do not reach it. The level of a class is its core's median; beside it stands a
 * coarse grid of drift, the mean of core greys less the median in blocks of TL_SLAB_STEP^3 voxels,
 * smoothed over two blocks and shrunk to 0 where there is little core: cupping and a bias along z
 * are followed by it, single grains are not. Counts are integers and block sums belong to one slab
 * each, so the result has the same bits for any slab thickness and thread count. Cost: one pass.
 */
#ifndef TL_IMAGE_LEVELS_H
#define TL_IMAGE_LEVELS_H

#include "image/histogram.h"

enum { TL_CORE_EROSION = 2, TL_CLASS_OUTSIDE = 2 };

typedef struct TlLevels {
  double level[2]; /* medians of the cores: void, grain */
  int erosion[2];  /* voxels */
  int64_t core[2]; /* voxels of each core */
  int64_t gx, gy, gz;
  float *drift[2]; /* gz*gy*gx, grey at the blocks' centres less level; owned */
  /* Void level near the top less near the bottom of the stack (thirds along z), and in the outer
   * third of the radius (about the middle of the plane) less in the inner: 0 when not known. */
  double drift_z, drift_radial;
} TlLevels;

/* classes 0 / 1 / TL_CLASS_OUTSIDE of nz slices -> core (1 in the core of `which`, else 0); scratch
 * of the same size. Each step takes voxels with a 6-neighbour of the other class; the region's and
 * the slices' ends take none. */
void tl_core_find(const uint8_t *classes, int64_t nx, int64_t ny, int64_t nz, uint8_t which,
                  int steps, uint8_t *core, uint8_t *scratch);
/* Slices [low, high) of mask bit 0 as classes. */
void tl_classes_of(const TlVolume *mask, const TlRoi *roi, int64_t low, int64_t high,
                   uint8_t *classes);

/* mask U8: bit 0 is the class. bins: the histogram of the same greys. TL_EINPUT when a class is
 * empty. Free by tl_levels_free. Memory: 7 bytes a voxel of a slab. */
TlStatus tl_levels_find(const TlSource *grey, const TlRoi *roi, int64_t slab, const TlVolume *mask,
                        const TlHistogram *bins, TlLevels *levels);
void tl_levels_free(TlLevels *levels);
/* Level plus drift of a class along row (y, z): nx floats, the drift linear between blocks. */
void tl_levels_row(const TlLevels *levels, int which, int64_t nx, int64_t y, int64_t z, float *row);

#endif
