/* ITK as an oracle for our own image processing: distance map, regional maxima, marker watershed
 * and smoothing filters. Linked into the tests and benches that include it, never into the library.
 * The caller owns what is returned; volumes as in num/volume.h. C++ exceptions become TL_ELIB,
 * volumes that do not fit each other or have the wrong type TL_EINPUT. */
#ifndef TL_TESTS_ITK_ORACLES_H
#define TL_TESTS_ITK_ORACLES_H

#ifdef __cplusplus
extern "C" {
#endif

#include "num/volume.h"

/* Euclidean distance (in voxels, anisotropy ignored) of each voxel to the nearest voxel of the
 * other phase, by Maurer's algorithm: positive inside the mask (> 0), 0 elsewhere. TL_EINPUT when
 * the mask has no void voxel. out: new F32. */
TlStatus tl_itk_distance(const TlVolume *mask, TlVolume *out);

/* h-maxima markers: regional maxima of the h-maxima transform of field (F32), labelled 1..count
 * (26 neighbours), 0 elsewhere; only where field > 0. A summit that does not rise by more than h
 * above the void (0) gets none: small grains need a small h. out: new U32. */
TlStatus tl_itk_markers(const TlVolume *field, double h, TlVolume *out, uint32_t *count);

/* Marker watershed of the landscape -field (F32) restricted to mask (U8): every mask voxel that can
 * be reached through faces inside the mask gets a marker's label, no watershed line; the others
 * stay 0, and so does a component without a marker. Markers in the void do not count. out: new U32.
 */
TlStatus tl_itk_watershed(const TlVolume *field, const TlVolume *markers, const TlVolume *mask,
                          TlVolume *out);

/* Filters of grey (F32), for comparison with our own (image/): borders as ITK has them, no region.
 * out: new F32. Gaussian: kernel of variance sigma^2, error 0.001 at most; median: cube of half
 * width radius; bilateral: sigmas over space (voxels) and grey, 100 steps of the range kernel;
 * diffusion: gradient anisotropic, kappa in grey a voxel, step and rounds as in image/filters.h.
 */
TlStatus tl_itk_gaussian(const TlVolume *grey, double sigma, TlVolume *out);
TlStatus tl_itk_median(const TlVolume *grey, int radius, TlVolume *out);
TlStatus tl_itk_bilateral(const TlVolume *grey, double sigma_space, double sigma_grey,
                          TlVolume *out);
TlStatus tl_itk_diffusion(const TlVolume *grey, double kappa, double step, int rounds,
                          TlVolume *out);

#ifdef __cplusplus
}
#endif

#endif
