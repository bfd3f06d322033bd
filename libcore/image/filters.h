/* Filters of grey stacks in 3-D, by which noise is removed and fields are smoothed: Gaussian, median,
 * bilateral and anisotropic diffusion. Greys are F32, lengths are in voxels. A voxel outside the
 * region (image/roi.h) takes no part and becomes 0. Products are new volumes that the caller frees;
 * the bits are the same for any number of threads. TL_ENOMEM when memory is out. */
#ifndef TL_IMAGE_FILTERS_H
#define TL_IMAGE_FILTERS_H

#include "image/roi.h"
#include "num/volume.h"

#include <stdint.h>

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

/* Median filter over the cube of (2 radius + 1)^3 voxels (Tan 2022 2.2.2). */

/* grey F32 -> out, a new F32 volume. Only voxels of the region inside the stack take part (near a
 * border the window has fewer); of an even number the lower median is taken, so that every value
 * occurs in the input. Outside is 0. Cost: a selection of the window a voxel, about
 * 10 (2 radius + 1)^3 operations. Bit-repeatable for any thread count. */
TlStatus tl_median(const TlVolume *grey, const TlRoi *roi, int radius, TlVolume *out);

/* Bilateral filter in 3-D (Tan 2022 2.2.3; Tomasi and Manduchi 1998): a mean whose weights fall
 * with the distance of the voxels and with the difference of their greys,
 *   out(p) = sum_q w I(q) / sum_q w,
 *   w = exp(-|p-q|^2 / (2 sigma_space^2)) exp(-(I(p) - I(q))^2 / (2 sigma_grey^2)),
 * q in the cube of half width ceil(2.5 sigma_space) about p, inside the stack and the region.
 */

/* Half width of the window, voxels. */
int tl_bilateral_reach(double sigma_space);

/* grey F32, finite -> out, a new F32 volume; outside the region 0. Cost: an exponential for each
 * voxel of the window. The same bits for any thread count, and for any part of the stack that
 * holds a voxel's window. */
TlStatus tl_bilateral(const TlVolume *grey, const TlRoi *roi, double sigma_space, double sigma_grey,
                      TlVolume *out);

/* Anisotropic diffusion in 3-D (Tan 2022 2.2.4; Perona and Malik 1990): grey flows as heat does,
 * but hardly over steep slopes,
 *   I <- I + step sum over the three axes a of (c+ (I(p+a) - I(p)) - c- (I(p) - I(p-a))),
 *   c+ = exp(-|grad I|^2 / (2 kappa^2)) half-way from p to p+a,
 * with |grad I| there of the difference along a and, along the others, the mean of the central
 * differences at both ends (the scheme of ITK's gradient diffusion, kappa its conductance). No
 * flow over the stack's border or out of the region. Stable for step < 1/6.
 */

/* grey F32, finite -> out, a new F32 volume, after `rounds` steps; outside the region 0. kappa in
 * grey a voxel. A voxel's value depends on those within `rounds` voxels along each axis. The same
 * bits for any thread count. Memory: one volume beside out. */
TlStatus tl_diffusion(const TlVolume *grey, const TlRoi *roi, double kappa, double step, int rounds,
                      TlVolume *out);

/* Beyond the ends of a line: half-sample mirroring, voxel -1 is voxel 0, n is n - 1. */

/* Position i of the mirrored line of length n (period 2n). */
static inline int64_t tl_mirrored(int64_t i, int64_t n) {
  int64_t period = 2 * n;
  i %= period;
  if (i < 0) i += period;
  return i < n ? i : period - 1 - i;
}

#endif
