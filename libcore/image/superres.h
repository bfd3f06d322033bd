/* Super-resolution by sparse codes in coupled dictionaries (Tan 2022 2.3.2, after Yang et al.
 * 2010), in 3-D.
 *
 * The coarse stack is interpolated so that its box means come back (image/superres_base.h). In each
 * plane of fine voxels normal to x, y and z the patches' features are coded with few atoms of the
 * low dictionary (image/superres_codes.h), down to the error that the noise explains; the same code
 * with the high dictionary says what the interpolation misses. Patches that overlap are averaged,
 * so are the three directions: no direction is special, slices do not band. Last, the result is
 * projected on the volumes whose box means are the coarse stack (back-projection): greys keep their
 * calibration, and if the truth is such a volume its distance can only fall.
 *
 * Works by slabs of coarse layers. Each voxel is summed in one order wherever slabs begin and
 * whatever the threads do: the same bits. Cost: about 0.75 patches (factor 2) a fine voxel, each
 * 81 dims + atoms dims multiply-adds where it is not flat.
 */
#ifndef TL_IMAGE_SUPERRES_H
#define TL_IMAGE_SUPERRES_H

#include "image/roi.h"
#include "num/dictionary.h"
#include "num/layers.h"

#include <stdbool.h>

typedef struct TlSuperresOptions {
  double sigma; /* noise of the coarse stack, grey: patches are coded no closer than it allows */
  int planes;   /* bit k: planes normal to axis k; 0: all three */
  bool quiet;   /* no progress bar */
} TlSuperresOptions;

typedef struct TlSuperresPlan {
  int64_t slabs, layers; /* coarse layers of a slab without halo */
  int64_t halo;          /* more on both sides */
  int64_t bytes;         /* held at once, at most */
} TlSuperresPlan;

/* head: of the coarse stack. memory: bytes allowed, 0: one slab. TL_EUSAGE saying what is needed.
 */
TlStatus tl_superres_plan(const TlVolume *head, const TlDictionary *dictionary, int64_t memory,
                          TlSuperresPlan *plan);
/* Is the dictionary one for voxels of these proportions (1%)? Unknown ones pass. TL_EINPUT. */
TlStatus tl_superres_fits(const TlVolume *head, const TlDictionary *dictionary);

/* What is said of the result, before it is rounded to the sink's type; inside the region. */
typedef struct TlSuperresTold {
  double coarse_mean, coarse_min, coarse_max;
  double mean, min, max;
  double change_rms; /* against the interpolation alone */
  double coded;      /* share of the patches that were not flat */
} TlSuperresTold;

/* stack -> sink, whose head is tl_upsample_head(stack), of `type` as tl_grey_store takes it. roi:
 * of the coarse stack; 0 outside. Shows a progress bar. The caller ends the sink. */
TlStatus tl_superres_run(const TlDictionary *dictionary, const TlSuperresOptions *options,
                         const TlSuperresPlan *plan, const TlLayers *stack, const TlRoi *roi,
                         TlVoxelType type, const TlLayerSink *sink, TlSuperresTold *told);
/* The whole of a volume in memory: coarse F32 -> fine, a new F32 volume. */
TlStatus tl_superres(const TlDictionary *dictionary, const TlSuperresOptions *options,
                     const TlVolume *coarse, TlVolume *fine);

#endif
