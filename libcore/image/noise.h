/* Noise level of a grey stack, without a reference.
 *
 * At voxels of flat surroundings the residual of the mask [1 -2 1] x [1 -2 1] x [1 -2 1] is noise
 * alone: it vanishes on everything that is linear in any one axis (a plane edge along an axis, a
 * ramp, beam hardening), and its sd is sqrt(216) that of white noise (after Immerkaer 1996, in
 * 3-D). Flat is judged by the gradient between box means that share no voxel with the residual, so
 * the choice does not bias what is measured: the flattest third of each grey class (classes because
 * Poisson noise grows with the grey: the flattest third of all would be void). A class' sd is the
 * median absolute residual over 0.6745, classes join as the root of their mean variance. Sampled in
 * at most some thousand cubes spread over the region: the cost does not grow with the stack.
 * Noise that is correlated between neighbours (a smoothed reconstruction) is underestimated.
 */
#ifndef TL_IMAGE_NOISE_H
#define TL_IMAGE_NOISE_H

#include "image/roi.h"
#include "num/volume.h"

typedef struct TlNoise {
  double sigma;   /* grey; never below level_step / sqrt(12) */
  double darkest; /* sd in the darkest and the brightest class (they differ for Poisson noise) */
  double brightest;
  double level_step; /* least distance of two grey levels that occur, 0 for continuous greys */
  int64_t samples;
} TlNoise;

/* grey F32, finite. TL_EINPUT when the region is constant, or too small or thin (9 voxels across)
 * to judge. Deterministic. */
TlStatus tl_noise_estimate(const TlVolume *grey, const TlRoi *roi, TlNoise *noise);

#endif
