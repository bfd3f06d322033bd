/* Pairs for training: windows of the interpolated stack, and the detail it misses
 * (tl_superres_train). */
#ifndef TL_IMAGE_SUPERRES_PAIRS_H
#define TL_IMAGE_SUPERRES_PAIRS_H

#include "image/roi.h"
#include "image/superres_planes.h"

typedef struct TlPairs {
  int64_t count;
  float *window; /* count x TL_WINDOW_VOXELS. Owned */
  float *high;   /* count x TL_PATCH_VOXELS. Owned */
} TlPairs;

/* Draws `wanted` pairs that are not flat (features above a tenth of the mean square of a sample's)
 * from random places, stream by stream the same; may end with fewer after 40 wanted draws. */
TlStatus tl_pairs_draw(const TlVolume *fine, const TlVolume *base, const TlRoi *roi, int factor,
                       int64_t wanted, uint64_t seed, uint64_t stream, TlPairs *pairs);
void tl_pairs_free(TlPairs *pairs);
/* The features of each, count x TL_WINDOW_FEATURES. */
TlStatus tl_pairs_features(const TlPairs *pairs, double **features);

#endif
