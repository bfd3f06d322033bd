/* Anisotropic diffusion in 3-D (Tan 2022 2.2.4; Perona and Malik 1990): grey flows as heat does,
 * but hardly over steep slopes,
 *   I <- I + step sum over the three axes a of (c+ (I(p+a) - I(p)) - c- (I(p) - I(p-a))),
 *   c+ = exp(-|grad I|^2 / (2 kappa^2)) half-way from p to p+a,
 * with |grad I| there of the difference along a and, along the others, the mean of the central
 * differences at both ends (the scheme of ITK's gradient diffusion, kappa its conductance). No
 * flow over the stack's border or out of the region. Stable for step < 1/6.
 */
#ifndef TL_IMAGE_DIFFUSION_H
#define TL_IMAGE_DIFFUSION_H

#include "image/roi.h"
#include "num/volume.h"

/* grey F32, finite -> out, a new F32 volume, after `rounds` steps; outside the region 0. kappa in
 * grey a voxel. A voxel's value depends on those within `rounds` voxels along each axis. The same
 * bits for any thread count. Memory: one volume beside out. */
TlStatus tl_diffusion(const TlVolume *grey, const TlRoi *roi, double kappa, double step, int rounds,
                      TlVolume *out);

#endif
