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
enum { TL_NLM_MOST_SQUARE = 8388607 };

typedef struct TlNlmWeight {
  int radius;
  int32_t most; /* patch sums above are taken as most */
  float slope;  /* exponent to base 2 per unit of patch sum; slope * most <= 100 */
} TlNlmWeight;

/* Rows of the two greys of a pair in planes of the patch; n floats each. */
typedef struct TlNlmPair {
  const float *p_in, *q_in;   /* of the plane radius ahead of the centre's */
  const float *p_out, *q_out; /* of the plane radius behind */
} TlNlmPair;

typedef struct TlNlmWindow {
  int radius;
  int32_t most_square;
  bool cut;      /* squares may be larger than most_square and are cut to it */
  int64_t plane; /* elements from plane to plane */
} TlNlmWindow;

/* Rows of whole numbers of one x offset. Windows weigh 1 at both ends and 2 between, that is, the
 * sum of two boxes of 2 radius elements, a step apart: one runs, and what it was before the step
 * is the other. With radius 0 there is no box and sum and total are the squares. */
typedef struct TlNlmSums {
  int32_t *column;     /* of this y: box over planes; kept from plane to plane */
  int32_t *sum;        /* of this y: window over planes */
  const int32_t *left; /* sum of the row 2 radius before this one, which leaves the box over y */
  int32_t *running;    /* box over rows of sum; kept from row to row */
  int32_t *total;      /* window over rows and planes */
} TlNlmSums;

/* The kernels, all of the same bits: multiply and add are fused on purpose, by instructions where
 * the processor has them (x86-64 since 2013, arm64), else by the C library, many times slower. */
typedef struct TlNlmKernels {
  /* Make column and sum from all planes, then step over the rows. */
  void (*column_start)(const TlNlmWindow *window, const TlNlmPair *pair, int64_t n,
                       const TlNlmSums *sums);
  /* Step column over the planes and make sum, then step over the rows. */
  void (*column_step)(const TlNlmWindow *window, const TlNlmPair *pair, int64_t n,
                      const TlNlmSums *sums);
  /* weights[i] = factor 2^-(slope clamp(sum of running[i .. i + 2 radius], 0, most)), i in [0, n).
   */
  void (*weights)(const TlNlmWeight *weight, float factor, const int32_t *totals, int64_t n,
                  float *weights);
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
