/* Non-local means in 3-D (Tan 2022 2.2.5, Eqs. 2.5-2.6, with the squared patch distance and h in
 * proportion to the noise).
 *
 *   out(p) = sum_q w(p,q) I(q) / sum_q w(p,q),   q in the search window of p, q = p included
 *   w(p,q) = exp(-max(d2(p,q) - 2 sigma^2, 0) / (2 h^2)) exp(-|p-q|^2 / (2 reach^2)),
 *   d2(p,q) = sum_t g(t) (I(p+t) - I(q+t))^2 / sum_t g(t),   g = 1 2 .. 2 1 along each axis
 *
 * h = h_factor sigma; g is the filter G_rho over the patch offsets t. Two patches that differ by
 * noise alone have a mean d2 of 2 sigma^2: that bias is taken off, or equal patches would get
 * different weights by chance. The second factor is no part of the paper's equation (reach 0 leaves
 * it out): at edges, where few patches match, near ones match best, which little noise lets one see
 * (docs/notebook/imaging.md). Patches reach over the stack's border by mirroring; candidates q lie
 * inside the stack and the region only, and so do the voxels written.
 *
 * Each pair is weighed once for both directions. Squared differences are rounded to whole numbers
 * of 23 bits, so that the window's running sums are exact: no drift, and the same bits for any
 * thread count, tile size and slab (halo: half of both widths), on any processor. Whole greys of 8
 * bits are not rounded at all; others to about a thousandth of the noise's variance or less.
 * Weights below 2^-30 count as 2^-30. Cost: about search^3 / 2 weights of 30 flops a voxel.
 */
#ifndef TL_IMAGE_NLM_H
#define TL_IMAGE_NLM_H

#include "image/roi.h"
#include "num/layers.h"

#include <stdbool.h>

typedef struct TlNlmOptions {
  double sigma;    /* noise standard deviation, grey; > 0 */
  double h_factor; /* h / sigma */
  double reach;    /* of the weights over the distance, voxels, >= 1; 0: no fall */
  int patch;       /* patch width, odd, 1 to 15 voxels */
  int search;      /* search window width, odd, 3 to 41 voxels */
  int tile[3];     /* voxels of a tile (x, y, z), 0: chosen; changes speed only */
  bool quiet;      /* no progress bar */
} TlNlmOptions;

/* grey F32, finite -> out, a new F32 volume (0 outside the region). Shows a progress bar. */
TlStatus tl_nlm(const TlVolume *grey, const TlRoi *roi, const TlNlmOptions *options, TlVolume *out);

/* The h_factor and reach, of TL_NLM_STRENGTHS, that leave the least error, judged without a
 * reference by Stein's unbiased risk estimate (Ramani 2008, Monte Carlo divergence)
 *   risk = mean (I - out)^2 - sigma^2 + 2 sigma^2 div,   div = mean b (out(I + e b) - out(I)) / e
 * on a few cubes of the region. The best h over sigma is no constant: little noise stands a strong
 * filter, much noise makes unlike grains look alike. Holds for white noise; h 0.5, no reach where
 * the region is too small for a cube. Those two of options are not looked at but set. Cost: that
 * of filtering about 2e6 voxels, whatever the stack's size. Deterministic. */
typedef struct TlNlmStrength {
  double h_factor, reach;
} TlNlmStrength;
#define TL_NLM_STRENGTHS                                                                           \
  {                                                                                                \
    {0.35, 0}, {0.42, 5}, {0.5, 4}, {0.6, 3.5}, {0.75, 3}, {0.9, 2.6}, {1.05, 2.4}, {              \
      1.3, 2.2                                                                                     \
    }                                                                                              \
  }
TlStatus tl_nlm_choose_strength_layers(const TlLayers *stack, const TlRoi *roi,
                                       TlNlmOptions *options);
TlStatus tl_nlm_choose_strength(const TlVolume *grey, const TlRoi *roi, TlNlmOptions *options);

/* Bytes that tl_nlm takes beside its input and output. */
int64_t tl_nlm_scratch_bytes(const TlVolume *grey, const TlNlmOptions *options, int threads);

#endif
