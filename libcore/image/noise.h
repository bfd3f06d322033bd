/* Noise level of a grey stack without a reference; correlated noise and ring artefacts.
 *
 * At voxels of flat surroundings the residual of the mask [1 -2 1] x [1 -2 1] x [1 -2 1] is noise
 * alone: it vanishes on everything that is linear in any one axis (a plane edge along an axis, a
 * ramp, beam hardening), and its sd is sqrt(216) that of white noise (after Immerkaer 1996, in
 * 3-D). Flat is judged by the gradient between box means that share no voxel with the residual, so
 * the choice does not bias the estimate: the flattest third of each grey class (classes because
 * Poisson noise grows with the grey: the flattest third of all would be void). A class' sd is the
 * median absolute residual over 0.6745, classes join as the root of their mean variance. Sampled in
 * some hundred cubes spread over the region, read in bands of layers: the cost does not grow with
 * the stack.
 *
 * Correlated noise (a smoothed reconstruction) is underestimated by neighbours that share it. In
 * the same flat places the mask is compared with those that have [1 0 -1] along one axis, which
 * vanish on nearly as much: with white noise the variances go as 6 to 2, with correlation rho(d)
 * between voxels d apart along that axis as 6 f to 2 (1 - rho(2)), f = 1 - 4/3 rho(1) + rho(2)/3,
 * whatever the other axes are, if the correlation is a product over the axes. With that of a
 * Gaussian blur, rho(2) = rho(1)^4, their ratio f / (1 - rho(2)) gives rho(1) and f of each axis,
 * and sigma^2 is the mask's estimate over the product of the three f.
 */
#ifndef TL_IMAGE_NOISE_H
#define TL_IMAGE_NOISE_H

#include "image/roi.h"
#include "num/layers.h"

#include <stdbool.h>

typedef struct TlNoise {
  double sigma;   /* grey; never below level_step / sqrt(12). Of correlated noise: by [1 0 -2 0 1],
                     else by the narrow one */
  double narrow;  /* by the narrow mask, which is right for white noise */
  double darkest; /* narrow sd in the darkest and the brightest class (they differ for Poisson
                   * noise) */
  double brightest;
  double level_step; /* least distance of two grey levels that occur, 0 for continuous greys */
  double rho[3];     /* correlation of neighbours along x, y, z; 0 for white noise */
  bool correlated;   /* some rho is above TL_NOISE_CORRELATED */
  int64_t samples;
} TlNoise;

#define TL_NOISE_CORRELATED 0.12 /* white noise on sand scatters by some 0.03 */

/* Finite greys of any type. TL_EINPUT when the region is constant where it is looked at, or too
 * small or thin (9 voxels across) to judge. Deterministic. Memory: about 50 MB and 20 layers. */
TlStatus tl_noise_estimate_layers(const TlLayers *stack, const TlRoi *roi, TlNoise *noise);
TlStatus tl_noise_estimate(const TlVolume *grey, const TlRoi *roi, TlNoise *noise);

int64_t tl_noise_sample_bytes(void); /* of the samples, beside the layers */

/* Ring artefacts: circles about the axis of rotation, the same in every layer, left by single
 * cells of the detector.
 *
 * In up to 96 layers spread over the stack each voxel less the mean of its 9 x 9 surroundings in
 * the layer, cut at 3 sigma so that grains' edges weigh little, is averaged over the layers. That
 * map is averaged along circles of each whole radius, over two sets of alternating sectors of the
 * circle; less a running mean over the radius the profiles a(r), b(r) of the two sets are
 * independent noise when there are no rings, and agree where there is one:
 *   score = sum over r of u(r) v(r) / sqrt(number of r),   u = a / se(a), v = b / se(b), cut at 6,
 * se from the scatter of the sectors. Score is about standard normal without rings. The axis is
 * looked for within 6 voxels of the region's centre (the layer's where it is no cylinder); rings
 * are reported above TL_RINGS_SCORE, which allows for that search. */
typedef struct TlRings {
  bool found;
  double score;
  double amplitude; /* grey: root of the mean of a b, over all radii; 0 when there are none */
  double x, y;      /* the axis */
} TlRings;

#define TL_RINGS_SCORE 8.0

/* sigma: of the noise. A layer less than 32 voxels wide gives no finding. Memory: some layers. */
TlStatus tl_noise_rings(const TlLayers *stack, const TlRoi *roi, double sigma, TlRings *rings);

#endif
