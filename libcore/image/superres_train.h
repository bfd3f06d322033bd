/* Training of coupled dictionaries (Tan 2022 2.3.2-2.3.4, Eqs. 2.8-2.19).
 *
 * The fine stack is reduced by box means, with noise and non-local means where the pairs are to be
 * of noisy scans, and interpolated again (image/superres_base.h). A pair is a patch of what the
 * interpolation misses (high) and the features of the window about it (low: differences and second
 * differences, 100 numbers, reduced to those of their principal components that hold 99.9% of their
 * variance). Pairs come from planes of all three directions.
 *
 *   1. joint: X = [high ; low], both parts at unit mean energy; start from random pairs; then
 *      alternate codes Z (Batch-OMP, Eq. 2.10) and D by the Lagrange dual (Eqs. 2.13-2.19); atoms
 *      that nothing uses are taken anew from the pairs coded worst;
 *   2. coupling: apply knows the low part only. All pairs are coded with the low dictionary alone,
 *      and the high one is what those codes predict best, min |H - D_h Z|^2 + ridge (Zeyde 2010).
 *
 * Deterministic in seed, for any thread count.
 */
#ifndef TL_IMAGE_SUPERRES_TRAIN_H
#define TL_IMAGE_SUPERRES_TRAIN_H

#include "image/roi.h"
#include "num/dictionary.h"
#include "num/volume.h"

#include <stdbool.h>

typedef struct TlTraining {
  int factor;
  int64_t atoms; /* multiple of 16 */
  int64_t pairs; /* for the joint dictionary; coupling takes up to TL_TRAINING_MORE times more */
  int codes, rounds; /* atoms a code; alternations */
  double noise_grey; /* added to the coarse stack, then taken out by non-local means; 0: none */
  double tolerance;  /* as the dictionary's, over the rms of the pairs' features */
  uint64_t seed;
} TlTraining;

enum { TL_TRAINING_MORE = 6 };

typedef struct TlTrained {
  int64_t pairs, coupling_pairs;
  int dims;
  int64_t renewed;     /* atoms taken anew, in all rounds */
  double first, last;  /* rms of X - D Z over that of X, in the first and the last round */
  double missed, left; /* rms of the high patches, and after their prediction; grey */
  double fresh_missed, fresh_left; /* the same on pairs not trained on */
} TlTrained;

/* fine F32 in memory, roi its region (pairs come from windows whose corners lie inside).
 * TL_EINPUT when it is too small or too flat for the pairs. */
TlStatus tl_superres_train(const TlVolume *fine, const TlRoi *roi, const TlTraining *training,
                           TlDictionary *dictionary, TlTrained *told);

#endif
