/* Non-local means in 3-D (Tan 2022 2.2.5, Eqs. 2.5-2.6, with the squared patch distance and h in
 * proportion to the noise: PHYSICS note 29).
 *
 *   out(p) = sum_q w(p,q) I(q) / sum_q w(p,q),   q in the search window of p, q = p included
 *   w(p,q) = exp(-max(d2(p,q) - 2 sigma^2, 0) / (2 h^2)),  h = h_factor sigma
 *   d2(p,q) = mean over the patch offsets t of (I(p+t) - I(q+t))^2   (unit filter for G_rho)
 *
 * Two patches that differ by noise alone have a mean d2 of 2 sigma^2: that bias is taken off, or
 * equal patches would get different weights by chance. Patches reach over the stack's border by
 * mirroring; candidates q lie inside the stack and the region only, and so do the voxels written.
 *
 * Each pair is weighed once for both directions. Patch sums are direct sums in a fixed order (no
 * running sum, so nothing drifts): the same bits for any thread count and any tile size.
 * Cost: about search^3 / 2 weights of 4 patch + 30 flops a voxel.
 */
#ifndef TL_IMAGE_NLM_H
#define TL_IMAGE_NLM_H

#include "image/roi.h"
#include "num/volume.h"

#include <stdbool.h>

typedef struct TlNlmOptions {
  double sigma;    /* noise standard deviation, grey; > 0 */
  double h_factor; /* h / sigma */
  int patch;       /* patch width, odd, 1 to 15 voxels */
  int search;      /* search window width, odd, 3 to 41 voxels */
  int tile[3];     /* voxels of a tile (x, y, z), 0: chosen; changes speed only */
  bool quiet;      /* no progress bar */
} TlNlmOptions;

/* grey F32, finite -> out, a new F32 volume (0 outside the region). Shows a progress bar. */
TlStatus tl_nlm(const TlVolume *grey, const TlRoi *roi, const TlNlmOptions *options, TlVolume *out);

/* The h_factor, of TL_NLM_STRENGTHS, that leaves the least error, judged without a reference by
 * Stein's unbiased risk estimate (Ramani 2008, Monte Carlo divergence)
 *   risk = mean (I - out)^2 - sigma^2 + 2 sigma^2 div,   div = mean b (out(I + e b) - out(I)) / e
 * on a few cubes of the region. The best h over sigma is no constant: little noise stands a strong
 * filter, much noise makes unlike grains look alike. Holds for white noise; 0.5 where the region is
 * too small for a cube. options->h_factor is not looked at. Cost: that of filtering about 1.3e6
 * voxels, whatever the stack's size. Deterministic. */
#define TL_NLM_STRENGTHS                                                                           \
  { 0.35, 0.45, 0.6, 0.8, 1.0 }
TlStatus tl_nlm_choose_strength(const TlVolume *grey, const TlRoi *roi, const TlNlmOptions *options,
                                double *h_factor);

/* Bytes that tl_nlm takes beside its input and output. */
int64_t tl_nlm_scratch_bytes(const TlVolume *grey, const TlNlmOptions *options, int threads);

#endif
