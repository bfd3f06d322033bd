/* The inner loops of non-local means, on rows of floats (see nlm.h for the formulas). */
#ifndef TL_IMAGE_NLM_ROWS_H
#define TL_IMAGE_NLM_ROWS_H

#include <stdint.h>

enum { TL_NLM_MOST_PATCH = 15 };

/* out[i] = sum over k = -radius..radius of (a[i + k plane] - b[i + k plane])^2, i in [0, n). */
void tl_nlm_column_distance(const float *a, const float *b, int64_t plane, int radius, int64_t n,
                            float *out);

typedef struct TlNlmWeight {
  int radius;
  float slope, bias; /* exponent to base 2 = max(0, slope * patch sum - bias) */
} TlNlmWeight;

/* rows: 2 radius + 1 rows of `wide` column distances; columns: scratch of n + 2 radius floats or
 * more, of which `wide` are made; weights[i], i in [0, n): those with i + 2 radius < wide count. */
void tl_nlm_weights(const TlNlmWeight *weight, const float *const *rows, int64_t wide, int64_t n,
                    float *columns, float *weights);

/* sum[i] += weights[i] grey[i]; total[i] += weights[i] */
void tl_nlm_accumulate(const float *weights, const float *grey, int64_t n, float *sum,
                       float *total);

/* weights[i] *= a[i] b[i] */
void tl_nlm_mask(const float *a, const float *b, int64_t n, float *weights);

#endif
