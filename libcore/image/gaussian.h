/* Gaussian smoothing, separable, with mirrored borders (Tan 2022 Eqs. 2.1-2.2).
 *
 * The kernel is the sampled Gaussian cut at 4 sigma and normalised to sum 1. Short kernels are
 * summed directly; from TL_GAUSSIAN_DIRECT_MAX voxels of sigma each line is multiplied by the
 * kernel's transfer function in FFTW's cosine transform, whose half-sample symmetry is exactly the
 * mirror: both ways are the same filter and agree to rounding (1e-6 of the grey range).
 * Left to choose, z is always summed directly, so that a slab with a halo of ceil(4 sigma) layers
 * has the bits of the whole stack. Cost: direct 6 (8 sigma + 1) flops a voxel, transform about 15
 * log2(n). Threads over lines; the same bits for any thread count.
 */
#ifndef TL_IMAGE_GAUSSIAN_H
#define TL_IMAGE_GAUSSIAN_H

#include "image/roi.h"
#include "num/volume.h"

#define TL_GAUSSIAN_DIRECT_MAX 6.0 /* voxels; about where the two meet, docs/performance.md */

typedef enum TlGaussianWay {
  TL_GAUSSIAN_AUTO = 0,
  TL_GAUSSIAN_DIRECT,
  TL_GAUSSIAN_COSINE
} TlGaussianWay;

/* In place on nz*ny*nx floats (z, y, x; x fastest); sigma in voxels per axis (x, y, z), 0 leaves an
 * axis alone. */
TlStatus tl_gaussian_floats(float *data, int64_t nx, int64_t ny, int64_t nz, const double sigma[3],
                            TlGaussianWay way);

/* grey F32 -> out, a new F32 volume. Where the region does not fill the stack the smoothing is the
 * normalised convolution G*(I m) / G*(m) of the region's indicator m: no grey from outside comes
 * in; outside is 0. */
TlStatus tl_gaussian(const TlVolume *grey, const TlRoi *roi, double sigma_voxels, TlVolume *out);

#endif
