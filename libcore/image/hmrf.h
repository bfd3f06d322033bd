/* Binarization by a hidden Markov random field with a weighted Gaussian mixture, fitted by
 * expectation-maximisation (Tan 2022 2.4, Eqs. 2.25-2.41), made robust to denoised input.
 *
 * Energy minimised over the labels x (0 void, 1 grain), voxels of the region only:
 *   U = sum_i [ (y_i - mu_x)^2 / (2 S_x) + ln(S_x)/2 ] + beta sum_(i,j) [x_i != x_j]   (2.39-2.41)
 * over pairs of 6-neighbours (the factor 1/2 of 2.41 is in beta). Departures from the textbook,
 * each because strong denoising narrows the classes until every partial-volume voxel goes to grain:
 *   - means come from each class' core (eroded by `core_erosion` voxels), not from its edge voxels:
 *     void by the core's median, grain by the core's grey smoothed by sigma 2 voxels (the half
 * level is local: minerals differ in brightness);
 *   - one common variance S for both classes, from the cores' median absolute deviation but not
 *     below sd_floor times the grey gap, set once;
 *   - a grey beyond a class mean counts as that mean (bright minerals are grain, however bright).
 * Weight of the void class (2.29-2.35): by 2.35 a weight w multiplies the void's variance, by 2.39
 * that variance is used as it is: w > 1 broadens void and gives it more voxels.
 * Labels move by iterated conditional modes in checkerboard order (even voxels, then odd): U never
 * rises and the result does not depend on the thread count. A round is ICM until it rests, then new
 * means (the M step); means that would raise U are not taken and end the rounds.
 */
#ifndef TL_IMAGE_HMRF_H
#define TL_IMAGE_HMRF_H

#include "image/roi.h"
#include "num/volume.h"

enum { TL_HMRF_MOST_ROUNDS = 50 };

typedef struct TlHmrfOptions {
  double beta;        /* cost of an unequal pair of neighbours, > 0 */
  double void_weight; /* w, > 0; 1: none */
  double sd_floor;    /* least class sd over the gap of the means, e.g. 0.075 */
  int most_rounds;    /* 1 to TL_HMRF_MOST_ROUNDS */
} TlHmrfOptions;

typedef struct TlHmrfResult {
  double mean[2];   /* void; grain (median of its core) */
  double sd;        /* of both classes, before the void weight */
  int core_erosion; /* 2, or less when grains are too thin for a core of that depth */
  int rounds;
  double energy[TL_HMRF_MOST_ROUNDS + 1]; /* start, then after each round; never rises */
  int64_t moved;                          /* voxels whose label differs from the start */
} TlHmrfResult;

/* mask: U8 start labels in, result out (0 / 1; 0 outside the region). grey: F32. TL_EINPUT when one
 * class is empty. Cost: a few passes a round; memory 9 bytes a voxel beside grey and mask. */
TlStatus tl_hmrf(const TlVolume *grey, const TlRoi *roi, const TlHmrfOptions *options,
                 TlVolume *mask, TlHmrfResult *result);

#endif
