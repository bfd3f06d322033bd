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
#include "image/source.h"

#include <stdbool.h>

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

/* Is there a phase between void and grain: water in the pores, fines, a coat on the grains?
 *
 * Across a blurred face between two phases the grey is g = void + gap Phi(x/s), so where it is u of
 * the way from void to grain its slope is gap phi(Phi^-1(u))/s, whatever the blur s. The profile is
 * the median slope over all voxels at u = 0.1, 0.2 ... 0.9, over phi(Phi^-1(u)): much the same at
 * all u where there are two phases. A third one that lies at u between them, be it a plateau or a
 * film of a voxel, makes the slope small there. So
 *   least = least of the profile at 0.3 to 0.6 over the largest at 0.1, 0.2, 0.7 and 0.8,
 * and below TL_THIRD_PHASE there is a third phase. Slopes are central differences of the greys
 * smoothed by half a voxel, of bands of 16 slices, twelve at most, spread over the stack. The
 * fraction of flat voxels with greys between was tried instead: contacts, noise that neighbours
 * share and coarse voxels make as many of them as films do. Not seen: a film thinner than the blur,
 * and anything in noise of a tenth of the gap (denoise first). docs/notebook/imaging.md has the
 * numbers.
 */

enum { TL_PROFILE = 9 };
#define TL_THIRD_PHASE 0.82
#define TL_PROFILE_NOISE 0.11 /* gaps a voxel */

typedef struct TlThirdPhase {
  bool looked; /* were there voxels enough at each u, and little noise? */
  bool found;
  double profile[TL_PROFILE]; /* largest 1 */
  double least, noise;
  double width; /* s of the steepest part, voxels */
  double place; /* u where the profile is least between 0.3 and 0.6 */
} TlThirdPhase;

/* level: greys of void and grain. The same bits for any thread count. */
TlStatus tl_third_phase(const TlSource *grey, const TlRoi *roi, const double level[2],
                        TlThirdPhase *third);

#endif
