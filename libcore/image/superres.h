/* Super-resolution by sparse codes in coupled dictionaries (Tan 2022 2.3.2, after Yang et al.
 * 2010), in 3-D.
 *
 * The coarse stack is interpolated so that its box means come back (image/superres_base.h). In each
 * plane of fine voxels normal to x, y and z the patches' features are coded with few atoms of the
 * low dictionary (image/superres_codes.h), down to the error that the noise explains; the same code
 * with the high dictionary predicts what the interpolation misses. Patches that overlap are
 * averaged, so are the three directions: no direction is special, slices do not band. Last, the
 * result is projected on the volumes whose box means are the coarse stack (back-projection): greys
 * keep their calibration, and if the truth is such a volume its distance can only fall.
 *
 * Of a noisy stack it cannot be such a volume: interpolation that keeps the means brings the noise
 * back, amplified. Then non-local means (image/nlm.h) go first, at the strength that Stein's risk
 * chooses, and the means kept are those of the denoised stack.
 *
 * Works by slabs of coarse layers. Each voxel is summed in one order wherever slabs begin and
 * whatever the threads do: the same bits. Cost: about 0.75 patches (factor 2) a fine voxel, each
 * 81 dims + atoms dims multiply-adds where it is not flat.
 */
#ifndef TL_IMAGE_SUPERRES_H
#define TL_IMAGE_SUPERRES_H

#include "image/nlm.h"
#include "image/roi.h"
#include "num/dictionary.h"
#include "num/layers.h"
#include "num/volume.h"

#include <stdbool.h>

/* Widths of the non-local means, voxels: a dictionary is trained for what they leave. */
enum { TL_SUPERRES_PATCH = 5, TL_SUPERRES_SEARCH = 11 };

typedef struct TlSuperresOptions {
  double sigma;     /* noise of what is coded, grey: patches are coded no closer than it allows */
  TlNlmOptions nlm; /* before all else; its sigma 0: not denoised */
  int planes;       /* bit k: planes normal to axis k; 0: all three */
  bool quiet;       /* no progress bar */
} TlSuperresOptions;

typedef struct TlSuperresPlan {
  int64_t slabs, layers; /* coarse layers of a slab without halo */
  int64_t halo;          /* more on both sides */
  int64_t bytes;         /* held at once, at most */
} TlSuperresPlan;

/* sd of white noise in a coarse stack, grey: by the mask of image/noise.h, but where grains are a
 * few voxels across nothing is flat as that asks for. Here places are flat by their own 27 voxels
 * (superres_noise.c): the flattest tenth (at most 2000) of the darkest and of the brightest
 * quarter, up to 400,000 samples in bands of three layers. Correlated noise is underestimated.
 * TL_EINPUT when there are too few places; deterministic. */
TlStatus tl_superres_noise(const TlLayers *stack, const TlRoi *roi, double *sigma);
/* What is done about noise of sigma (>= 0), into options->sigma and ->nlm: with `denoise`
 * non-local means, their strength chosen on the stack, and codes as close as a quarter of the noise
 * allows; else codes as close as it allows. */
TlStatus tl_superres_settle(const TlLayers *stack, const TlRoi *roi, double sigma, bool denoise,
                            TlSuperresOptions *options);
/* Is noise of sigma worth denoising: is its part in a feature above a fifth of the tolerance? */
bool tl_superres_noisy(const TlDictionary *dictionary, double sigma);

/* denoise: it may be. head: of the coarse stack. memory: bytes allowed, 0: one slab. TL_EUSAGE
 * saying what is needed.
 */
TlStatus tl_superres_plan(const TlVolume *head, const TlDictionary *dictionary, bool denoise,
                          int64_t memory, TlSuperresPlan *plan);
/* Is the dictionary one for voxels of these proportions (1%)? Unknown ones pass. TL_EINPUT. */
TlStatus tl_superres_fits(const TlVolume *head, const TlDictionary *dictionary);

/* Figures of the result, before it is rounded to the sink's type; inside the region. */
typedef struct TlSuperresResult {
  double coarse_mean, coarse_min, coarse_max;
  double mean, min, max;
  double change_rms; /* against the interpolation alone (of the denoised stack, if it was) */
  double coded;      /* fraction of the patches that were not flat */
} TlSuperresResult;

/* stack -> sink, whose head is tl_upsample_head(stack), of `type` as tl_grey_store takes it. roi:
 * of the coarse stack; 0 outside. Shows a progress bar. The caller ends the sink. */
TlStatus tl_superres_run(const TlDictionary *dictionary, const TlSuperresOptions *options,
                         const TlSuperresPlan *plan, const TlLayers *stack, const TlRoi *roi,
                         TlVoxelType type, const TlLayerSink *sink, TlSuperresResult *result);
/* The whole of a volume in memory: coarse F32 -> fine, a new F32 volume. */
TlStatus tl_superres(const TlDictionary *dictionary, const TlSuperresOptions *options,
                     const TlVolume *coarse, TlVolume *fine);

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
                           TlDictionary *dictionary, TlTrained *result);

#endif
