/* Interpolation that keeps box means: the first and the last step of super-resolution.
 *
 * The coarse stack is Y = S H X (Tan 2022 Eq. 2.7): here H S is the mean over cubes of factor^3
 * voxels, as a detector with larger cells sees it. Lanczos' interpolation L (three lobes) does not
 * give Y back under it; iterated back-projection X += L (Y - S H X) converges to
 *   U = L (S H L)^-1,   S H U = 1,
 * which is separable, so one pass of U along each axis is that limit. Along a line S H L is a
 * symmetric filter; its inverse falls by a factor of about 6 a voxel and is cut TL_UPSAMPLE_REACH
 * voxels out. Beyond the ends lines are mirrored half a voxel out, under which U stays exact.
 * Fine voxel i of a line lies at (i + 0.5) / factor - 0.5 of the coarse one.
 */
#ifndef TL_IMAGE_SUPERRES_BASE_H
#define TL_IMAGE_SUPERRES_BASE_H

#include "num/layers.h"

enum {
  TL_UPSAMPLE_REACH = 8, /* coarse voxels to both sides */
  TL_UPSAMPLE_TAPS = 2 * TL_UPSAMPLE_REACH + 1,
  TL_UPSAMPLE_MOST = 4 /* factor */
};

typedef struct TlUpsampler {
  int factor;
  /* fine voxel f of coarse voxel c is the sum over j of tap[f][j] of voxel c + j - reach */
  float tap[TL_UPSAMPLE_MOST][TL_UPSAMPLE_TAPS];
} TlUpsampler;

/* factor: 2 to 4. */
void tl_upsampler(int factor, TlUpsampler *u);
/* Lanczos' weights alone, L above: same form. For comparison. */
void tl_upsampler_lanczos(int factor, TlUpsampler *u);

/* coarse F32 -> fine, a new F32 volume factor times larger along each axis, with its voxel_m and
 * cylinder (history is not copied). Same bits for any thread count. */
TlStatus tl_upsample(const TlUpsampler *u, const TlVolume *coarse, TlVolume *fine);
/* A stack as it would be interpolated whole, the same bits, made when it is read: `layers` coarse
 * ones at once with their halo (TL_UPSAMPLE_REACH), F32, the last ones kept. For readers that go
 * along z. coarse: borrowed until close. */
TlStatus tl_upsample_layers(const TlUpsampler *u, const TlLayers *coarse, int64_t layers,
                            TlLayers *fine);
/* Size, voxel_m and cylinder of a stack factor times finer. */
TlVolume tl_upsample_head(const TlVolume *coarse, int factor);
/* fine F32 -> coarse, a new F32 volume of the means over factor^3 voxels (S H), as tl_cut_coarse
 * (image/cut.h) makes them of a stack. */
TlStatus tl_box_means(const TlVolume *fine, int factor, TlVolume *coarse);
/* Back-projection: the nearest fine volume, in the sum of squares, whose means are coarse. In
 * place; exact but for rounding. */
void tl_box_project(TlVolume *fine, const TlVolume *coarse, int factor);

#endif
