#include "image/nlm_rows.h"

#include <math.h>

#define INLINE static inline __attribute__((always_inline))

typedef union Bits {
  float real;
  int32_t whole;
} Bits;

INLINE int64_t whole_lanes(int64_t n) {
  return n / TL_NLM_LANES * TL_NLM_LANES;
}

/* (a - b)^2 as a whole number on top of the bits of 2^23: adding 2^23 rounds to nearest, and the
 * offset falls out of differences. The cut compares bits, for floats >= 0 are ordered as they are,
 * and a float comparison, which may trap, would keep the loop from becoming a vector. */
enum { OFFSET = 0x4B000000 }; /* bits of 2^23 */

INLINE int32_t square(float a, float b) {
  Bits bits = {.real = fmaf(a - b, a - b, 8388608.0F)};
  return bits.whole;
}

INLINE int32_t cut_square(float a, float b, int32_t most_bits) {
  Bits bits = {.real = (a - b) * (a - b)};
  bits.whole = bits.whole < most_bits ? bits.whole : most_bits;
  bits.real += 8388608.0F;
  return bits.whole;
}

INLINE void column_start(const TlNlmWindow *window, const TlNlmPair *pair,
                         const int32_t *restrict left, int64_t n, int32_t *restrict column,
                         int32_t *restrict running) {
  const Bits most = {.real = window->most_square};
  n = whole_lanes(n);
  for (int64_t i = 0; i < n; i++) column[i] = 0;
  for (int k = 0; k < window->planes; k++) {
    const float *restrict a = pair->p_in + k * window->plane;
    const float *restrict b = pair->q_in + k * window->plane;
    if (window->cut)
      for (int64_t i = 0; i < n; i++) column[i] += cut_square(a[i], b[i], most.whole) - OFFSET;
    else
      for (int64_t i = 0; i < n; i++) column[i] += square(a[i], b[i]) - OFFSET;
  }
  for (int64_t i = 0; i < n; i++) running[i] += column[i] - left[i];
}

INLINE void column_step(const TlNlmWindow *window, const TlNlmPair *pair,
                        const int32_t *restrict left, int64_t n, int32_t *restrict column,
                        int32_t *restrict running) {
  const Bits most = {.real = window->most_square};
  const float *restrict a = pair->p_in, *restrict b = pair->q_in;
  const float *restrict c = pair->p_out, *restrict d = pair->q_out;
  n = whole_lanes(n);
  if (window->cut)
    for (int64_t i = 0; i < n; i++) {
      int32_t in = cut_square(a[i], b[i], most.whole), out = cut_square(c[i], d[i], most.whole);
      column[i] += in - out;
      running[i] += column[i] - left[i];
    }
  else
    for (int64_t i = 0; i < n; i++) {
      column[i] += square(a[i], b[i]) - square(c[i], d[i]);
      running[i] += column[i] - left[i];
    }
}

/* 2^-t for t = sum slope, 0 <= t <= 126: adding 1.5 2^23 rounds t to a whole number that stands in
 * the low bits, ready for the exponent; the rest |u| <= 1/2 goes by a polynomial with its error
 * spread evenly (relative 3e-6, none at u = 0: equal patches weigh 1). */
INLINE float power_of_half(float sum, float slope) {
  const float magic = 12582912.0F;
  Bits whole = {.real = fmaf(sum, slope, magic)};
  float u = fmaf(-sum, slope, whole.real - magic);
  float p = fmaf(0.00958287539F, u, 0.0559064825F);
  p = fmaf(p, u, 0.240240986F);
  p = fmaf(p, u, 0.693124187F);
  Bits power = {.real = fmaf(p, u, 1.0F)};
  power.whole -= (int32_t)((uint32_t)whole.whole << 23);
  return power.real;
}

/* The radius is a constant wherever it is common, so that the short loops unroll. */
INLINE void weigh(const TlNlmWeight *weight, int radius, const int32_t *restrict running, int64_t n,
                  float *restrict weights) {
  int32_t most = weight->most;
  float slope = weight->slope;
  for (int64_t i = 0; i < n; i++) {
    int32_t sum = running[i];
    for (int j = 1; j <= 2 * radius; j++) sum += running[i + j];
    sum = sum > 0 ? sum : 0;
    sum = sum < most ? sum : most;
    weights[i] = power_of_half((float)sum, slope);
  }
}

INLINE void weigh_any(const TlNlmWeight *weight, const int32_t *running, int64_t n,
                      float *weights) {
  if (weight->radius == 1)
    weigh(weight, 1, running, whole_lanes(n), weights);
  else if (weight->radius == 2)
    weigh(weight, 2, running, whole_lanes(n), weights);
  else
    weigh(weight, weight->radius, running, whole_lanes(n), weights);
}

/* Row k of the weights begins at weights + k stride, its greys at grey + k step. */
INLINE void gather(const float *restrict weights, int64_t stride, int count,
                   const float *restrict grey, int64_t step, int64_t n, float *restrict sum,
                   float *restrict total) {
  for (int64_t i = 0; i < n; i++) {
    float s = 0, t = 0;
    for (int k = 0; k < count; k++) {
      float w = weights[k * stride + i];
      s = fmaf(w, grey[k * step + i], s);
      t += w;
    }
    sum[i] += s;
    total[i] += t;
  }
}

INLINE void gather_any(const float *weights, int64_t stride, int count, const float *grey,
                       int64_t step, int64_t n, float *sum, float *total) {
  if (count == 11)
    gather(weights, stride, 11, grey, step, whole_lanes(n), sum, total);
  else
    gather(weights, stride, count, grey, step, whole_lanes(n), sum, total);
}

/* One set of kernels for a kind of processor. */
#define KERNELS(NAME, TARGET)                                                                      \
  TARGET static void column_start_##NAME(const TlNlmWindow *window, const TlNlmPair *pair,         \
                                         const int32_t *left, int64_t n, int32_t *column,          \
                                         int32_t *running) {                                       \
    column_start(window, pair, left, n, column, running);                                          \
  }                                                                                                \
  TARGET static void column_step_##NAME(const TlNlmWindow *window, const TlNlmPair *pair,          \
                                        const int32_t *left, int64_t n, int32_t *column,           \
                                        int32_t *running) {                                        \
    column_step(window, pair, left, n, column, running);                                           \
  }                                                                                                \
  TARGET static void weights_##NAME(const TlNlmWeight *weight, const int32_t *running, int64_t n,  \
                                    float *weights) {                                              \
    weigh_any(weight, running, n, weights);                                                        \
  }                                                                                                \
  TARGET static void gather_ahead_##NAME(const float *weights, int64_t stride, int count,          \
                                         const float *grey, int64_t n, float *sum, float *total) { \
    gather_any(weights, stride, count, grey, 1, n, sum, total);                                    \
  }                                                                                                \
  TARGET static void gather_back_##NAME(const float *weights, int64_t stride, int count,           \
                                        const float *grey, int64_t n, float *sum, float *total) {  \
    gather_any(weights, stride - 1, count, grey, -1, n, sum, total);                               \
  }                                                                                                \
  static const TlNlmKernels kernels_##NAME = {column_start_##NAME, column_step_##NAME,             \
                                              weights_##NAME, gather_ahead_##NAME,                 \
                                              gather_back_##NAME};

KERNELS(plain, )
#ifdef __x86_64__
KERNELS(avx2, __attribute__((target("avx2,fma"))))
KERNELS(avx512, __attribute__((target("avx512f,avx512vl,avx2,fma"))))
#endif

const TlNlmKernels *tl_nlm_kernels(void) {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl"))
    return &kernels_avx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return &kernels_avx2;
#endif
  return &kernels_plain;
}

void tl_nlm_mask(const float *restrict a, const float *restrict b, int64_t n,
                 float *restrict weights) {
  for (int64_t i = 0; i < n; i++) weights[i] *= a[i] * b[i];
}
