/* A pair of coupled dictionaries for super-resolution, as plain data: training makes it and
 * applying uses it (image/superres.h), a file keeps it (io/h5_dictionary.h).
 *
 * A window is the 9 x 9 fine voxels about a patch of 5 x 5, row by row, of the interpolated stack.
 * low codes what `analysis` makes of a window, high says with the same code what the interpolation
 * misses in the patch (Tan 2022 2.3.2: D_l and D_h).
 */
#ifndef TL_NUM_DICTIONARY_H
#define TL_NUM_DICTIONARY_H

#include "base/status.h"

#include <stdint.h>

enum {
  TL_PATCH = 5,     /* width of a patch, fine voxels */
  TL_PATCH_RIM = 2, /* the features look that far beyond it */
  TL_WINDOW = TL_PATCH + 2 * TL_PATCH_RIM,
  TL_PATCH_VOXELS = TL_PATCH * TL_PATCH,
  TL_WINDOW_VOXELS = TL_WINDOW * TL_WINDOW,
  TL_DICTIONARY_DIMS = 32 /* at most */
};

typedef struct TlDictionary {
  int factor;            /* fine voxels along the edge of a coarse one */
  int dims;              /* features kept, 1 to TL_DICTIONARY_DIMS */
  int codes;             /* atoms a patch is coded with, at most */
  int64_t atoms;         /* multiple of 16 */
  int64_t pairs;         /* trained on */
  double tolerance;      /* root mean square of a feature's residual at which coding stops, grey */
  double noise_gain;     /* rms of a feature for white noise of sd 1 in the coarse stack */
  double noise_grey;     /* sd of the noise that the training's coarse stack was given */
  double proportions[3]; /* voxel sizes of the source over its x; 0: it had none */
  float *analysis;       /* dims x TL_WINDOW_VOXELS. Owned, as the next ones */
  float *low;            /* atoms x dims, unit rows */
  float *high;           /* atoms x TL_PATCH_VOXELS, grey */
  char *history;         /* provenance JSON array, may be NULL */
} TlDictionary;

/* Zeroed arrays for d's dims and atoms. */
TlStatus tl_dictionary_alloc(TlDictionary *d);
void tl_dictionary_free(TlDictionary *d);
/* Sizes and numbers as they must be, low's rows of length 1 (1e-4)? TL_EINPUT saying what is not.
 */
TlStatus tl_dictionary_check(const TlDictionary *d);

#endif
