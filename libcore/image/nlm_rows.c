#include "image/nlm_rows.h"

#include "base/lanes.h"

#define INLINE static inline __attribute__((always_inline))

/* The radius is a constant wherever it is common, so that the short loops unroll. */
INLINE void column_distance(const float *restrict a, const float *restrict b, int64_t plane,
                            int radius, int64_t n, float *restrict out) {
  for (int64_t i = 0; i < n; i++) {
    float sum = 0;
    for (int k = -radius; k <= radius; k++) {
      float d = a[i + k * plane] - b[i + k * plane];
      sum += d * d;
    }
    out[i] = sum;
  }
}

TL_LANES_CLONES
void tl_nlm_column_distance(const float *a, const float *b, int64_t plane, int radius, int64_t n,
                            float *out) {
  switch (radius) {
  case 1:
    column_distance(a, b, plane, 1, n, out);
    break;
  case 2:
    column_distance(a, b, plane, 2, n, out);
    break;
  default:
    column_distance(a, b, plane, radius, n, out);
  }
}

typedef union Bits {
  float real;
  int32_t whole;
} Bits;

/* t cut to [0, 126], by integers: floats of one sign are ordered as their bits are, and a float
 * comparison, which may trap, would keep the loop from becoming a vector. */
INLINE float clamp_exponent(float t) {
  Bits bits = {.real = t};
  const Bits most = {.real = 126};
  bits.whole = bits.whole > 0 ? bits.whole : 0;
  bits.whole = bits.whole < most.whole ? bits.whole : most.whole;
  return bits.real;
}

/* 2^-t for 0 <= t <= 126: exponent bits and a polynomial of exp on |u| <= ln2/2, degree 5 with the
 * sixth term folded in by Chebyshev economisation; relative error below 2e-7. */
INLINE float power_of_half(float t) {
  const float ln2 = 0.693147180559945f, a2 = 0.120113253f; /* (ln2/2)^2 */
  const float c0 = 1.0f + a2 * a2 * a2 / 23040.0f, c2 = 0.5f - a2 * a2 / 1280.0f,
              c4 = 1.0f / 24.0f + a2 / 480.0f;
  int32_t whole = (int32_t)(t + 0.5f);
  float u = ((float)whole - t) * ln2;
  float p = 1.0f / 120.0f;
  p = p * u + c4;
  p = p * u + 1.0f / 6.0f;
  p = p * u + c2;
  p = p * u + 1.0f;
  p = p * u + c0;
  Bits power = {.whole = (127 - whole) << 23};
  return p * power.real;
}

INLINE void weigh(const TlNlmWeight *weight, int radius, const float *const *rows, int64_t wide,
                  int64_t n, float *restrict columns, float *restrict weights) {
  const float *row[TL_NLM_MOST_PATCH];
  float slope = weight->slope, bias = weight->bias;
  for (int j = 0; j <= 2 * radius; j++) row[j] = rows[j];
  for (int64_t i = 0; i < wide; i++) {
    float sum = row[0][i];
    for (int j = 1; j <= 2 * radius; j++) sum += row[j][i];
    columns[i] = sum;
  }
  for (int64_t i = 0; i < n; i++) {
    float sum = columns[i];
    for (int j = 1; j <= 2 * radius; j++) sum += columns[i + j];
    weights[i] = power_of_half(clamp_exponent(sum * slope - bias));
  }
}

TL_LANES_CLONES
void tl_nlm_weights(const TlNlmWeight *weight, const float *const *rows, int64_t wide, int64_t n,
                    float *columns, float *weights) {
  switch (weight->radius) {
  case 1:
    weigh(weight, 1, rows, wide, n, columns, weights);
    break;
  case 2:
    weigh(weight, 2, rows, wide, n, columns, weights);
    break;
  default:
    weigh(weight, weight->radius, rows, wide, n, columns, weights);
  }
}

TL_LANES_CLONES
void tl_nlm_accumulate(const float *restrict weights, const float *restrict grey, int64_t n,
                       float *restrict sum, float *restrict total) {
  for (int64_t i = 0; i < n; i++) {
    sum[i] += weights[i] * grey[i];
    total[i] += weights[i];
  }
}

TL_LANES_CLONES
void tl_nlm_mask(const float *restrict a, const float *restrict b, int64_t n,
                 float *restrict weights) {
  for (int64_t i = 0; i < n; i++) weights[i] *= a[i] * b[i];
}
