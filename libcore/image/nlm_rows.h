/* The inner loops of non-local means, on rows of one x offset (see nlm.h for the formulas).
 *
 * Greys come scaled so that squared differences may be rounded to whole numbers (nlm.c: scaled).
 * Whole numbers add to the same bits in any order: window sums can run along z and y for ever and
 * start anywhere, and tiles and threads leave no trace.
 */
#ifndef TL_IMAGE_NLM_ROWS_H
#define TL_IMAGE_NLM_ROWS_H

#include <stdbool.h>
#include <stdint.h>

enum { TL_NLM_MOST_PATCH = 15, TL_NLM_LANES = 8 }; /* rows are handled by whole LANES */

/* Squared differences at most this are whole numbers of 23 bits. */
#define TL_NLM_MOST_SQUARE 8388607.0F

typedef struct TlNlmWeight {
  int radius;
  int32_t most; /* patch sums above are taken as most */
  float slope;  /* exponent to base 2 per unit of patch sum; slope * most <= 126 */
} TlNlmWeight;

/* Rows of the two greys of a pair, in the plane that comes into the window and in the one that
 * leaves it; n floats each. */
typedef struct TlNlmPair {
  const float *p_in, *q_in, *p_out, *q_out;
} TlNlmPair;

typedef struct TlNlmWindow {
  float most_square;
  bool cut;      /* squares may be larger than most_square and are cut to it */
  int planes;    /* of a patch */
  int64_t plane; /* elements from plane to plane */
} TlNlmWindow;

/* The kernels, all of the same bits: multiply and add are fused on purpose, by instructions where
 * the processor has them (x86-64 since 2013, arm64), else by the C library, many times slower. */
typedef struct TlNlmKernels {
  /* column[i] = sum over the planes of square(p[i], q[i]), from plane p_in on, and
   * running[i] += column[i] - left[i]; square(a, b) = (a - b)^2, rounded. left does not overlap. */
  void (*column_start)(const TlNlmWindow *window, const TlNlmPair *pair, const int32_t *left,
                       int64_t n, int32_t *column, int32_t *running);
  /* column[i] += square(p_in[i], q_in[i]) - square(p_out[i], q_out[i]), and running as above. */
  void (*column_step)(const TlNlmWindow *window, const TlNlmPair *pair, const int32_t *left,
                      int64_t n, int32_t *column, int32_t *running);
  /* weights[i] = 2^-(slope clamp(sum of running[i .. i + 2 radius], 0, most)), i in [0, n). */
  void (*weights)(const TlNlmWeight *weight, const int32_t *running, int64_t n, float *weights);
  /* Over k = 0..count-1, in this order: s = sum of weights[k stride + i] grey[i + k], t = the sum
   * of these weights; sum[i] += s, total[i] += t. */
  void (*gather_ahead)(const float *weights, int64_t stride, int count, const float *grey,
                       int64_t n, float *sum, float *total);
  /* The same of weights[k stride + i - k] and grey[i - k]. */
  void (*gather_back)(const float *weights, int64_t stride, int count, const float *grey, int64_t n,
                      float *sum, float *total);
} TlNlmKernels;

const TlNlmKernels *tl_nlm_kernels(void);

/* weights[i] *= a[i] b[i] */
void tl_nlm_mask(const float *a, const float *b, int64_t n, float *weights);

#endif
