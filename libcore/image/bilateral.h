/* Bilateral filter in 3-D (Tan 2022 2.2.3; Tomasi and Manduchi 1998): a mean whose weights fall
 * with the distance of the voxels and with the difference of their greys,
 *   out(p) = sum_q w I(q) / sum_q w,
 *   w = exp(-|p-q|^2 / (2 sigma_space^2)) exp(-(I(p) - I(q))^2 / (2 sigma_grey^2)),
 * q in the cube of half width ceil(2.5 sigma_space) about p, inside the stack and the region.
 */
#ifndef TL_IMAGE_BILATERAL_H
#define TL_IMAGE_BILATERAL_H

#include "image/roi.h"
#include "num/volume.h"

/* Half width of the window, voxels. */
int tl_bilateral_reach(double sigma_space);

/* grey F32, finite -> out, a new F32 volume; outside the region 0. Cost: an exponential for each
 * voxel of the window. The same bits for any thread count, and for any part of the stack that
 * holds a voxel's window. */
TlStatus tl_bilateral(const TlVolume *grey, const TlRoi *roi, double sigma_space, double sigma_grey,
                      TlVolume *out);

#endif
