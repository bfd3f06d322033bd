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
 * offset falls out of differences. The cut compares bits, which are ordered as the floats are that
 * they stand for: a float comparison, which may trap, would keep the loop from becoming a vector.
 */
enum { OFFSET = 0x4B000000 }; /* bits of 2^23 */

INLINE int32_t square(float a, float b, bool cut, int32_t most) {
  Bits bits = {.real = fmaf(a - b, a - b, 8388608.0F)};
  return cut && bits.whole > most ? most : bits.whole;
}

INLINE void step_rows(const TlNlmSums *sums, int64_t n) {
  const int32_t *restrict sum = sums->sum, *restrict left = sums->left;
  int32_t *restrict running = sums->running, *restrict total = sums->total;
  for (int64_t i = 0; i < n; i++) {
    int32_t before = running[i];
    running[i] = before + (sum[i] - left[i]);
    total[i] = before + running[i];
  }
}

/* Not the hot one: the first plane of a sweep. */
INLINE void column_start(const TlNlmWindow *window, const TlNlmPair *pair, int64_t n,
                         const TlNlmSums *sums) {
  int32_t most = OFFSET + window->most_square, *restrict column = sums->column;
  int32_t *restrict sum = sums->sum;
  int r = window->radius;
  n = whole_lanes(n);
  for (int64_t i = 0; i < n; i++) column[i] = sum[i] = 0;
  for (int k = -r; k <= r; k++) {
    const float *restrict a = pair->p_in + (k - r) * window->plane;
    const float *restrict b = pair->q_in + (k - r) * window->plane;
    int32_t inner = k > -r, twice = inner + (k < r || r == 0);
    for (int64_t i = 0; i < n; i++) {
      int32_t d = square(a[i], b[i], true, most) - OFFSET;
      column[i] += inner * d;
      sum[i] += twice * d;
    }
  }
  if (r > 0) {
    step_rows(sums, n);
    return;
  }
  for (int64_t i = 0; i < n; i++) sums->total[i] = 2 * sums->running[i] + sum[i];
}

INLINE void column_step(const TlNlmWindow *window, bool cut, const TlNlmPair *pair, int64_t n,
                        const TlNlmSums *sums) {
  int32_t most = OFFSET + window->most_square;
  const float *restrict a = pair->p_in, *restrict b = pair->q_in;
  const float *restrict c = pair->p_out, *restrict d = pair->q_out;
  const int32_t *restrict left = sums->left;
  int32_t *restrict column = sums->column, *restrict sum = sums->sum;
  int32_t *restrict running = sums->running, *restrict total = sums->total;
  n = whole_lanes(n);
  for (int64_t i = 0; i < n; i++) {
    int32_t old = column[i], before = running[i];
    int32_t next = old + (square(a[i], b[i], cut, most) - square(c[i], d[i], cut, most));
    int32_t after = before + (old + next - left[i]);
    column[i] = next;
    sum[i] = old + next;
    running[i] = after;
    total[i] = before + after;
  }
}

INLINE void column_step_any(const TlNlmWindow *window, const TlNlmPair *pair, int64_t n,
                            const TlNlmSums *sums) {
  if (window->cut)
    column_step(window, true, pair, n, sums);
  else
    column_step(window, false, pair, n, sums);
}

/* factor 2^-t for t = sum slope, 0 <= t <= 126, 2^-24 <= factor <= 1: adding 1.5 2^23 rounds t to a
 * whole number that stands in the low bits, ready for the exponent; the rest |u| <= 1/2 goes by a
 * polynomial with its error spread evenly (relative 3e-6, none at u = 0). */
INLINE float power_of_half(float sum, float slope, float factor) {
  const float magic = 12582912.0F;
  Bits whole = {.real = fmaf(sum, slope, magic)};
  float u = fmaf(-sum, slope, whole.real - magic);
  float p = fmaf(0.00958287539F * factor, u, 0.0559064825F * factor);
  p = fmaf(p, u, 0.240240986F * factor);
  p = fmaf(p, u, 0.693124187F * factor);
  Bits power = {.real = fmaf(p, u, factor)};
  power.whole -= (int32_t)((uint32_t)whole.whole << 23);
  return power.real;
}

/* The radius is a constant wherever it is common, so that the short loops unroll. */
INLINE void weigh(const TlNlmWeight *weight, int radius, float factor,
                  const int32_t *restrict totals, int64_t n, float *restrict weights) {
  int32_t most = weight->most;
  float slope = weight->slope;
  for (int64_t i = 0; i < n; i++) {
    int32_t inner = 0, sum = totals[i];
    for (int j = 1; j < 2 * radius; j++) inner += totals[i + j];
    if (radius > 0) sum += totals[i + 2 * radius] + 2 * inner;
    sum = sum > 0 ? sum : 0;
    sum = sum < most ? sum : most;
    weights[i] = power_of_half((float)sum, slope, factor);
  }
}

INLINE void weigh_any(const TlNlmWeight *weight, float factor, const int32_t *totals, int64_t n,
                      float *weights) {
  if (weight->radius == 1)
    weigh(weight, 1, factor, totals, whole_lanes(n), weights);
  else if (weight->radius == 2)
    weigh(weight, 2, factor, totals, whole_lanes(n), weights);
  else
    weigh(weight, weight->radius, factor, totals, whole_lanes(n), weights);
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
                                         int64_t n, const TlNlmSums *sums) {                       \
    column_start(window, pair, n, sums);                                                           \
  }                                                                                                \
  TARGET static void column_step_##NAME(const TlNlmWindow *window, const TlNlmPair *pair,          \
                                        int64_t n, const TlNlmSums *sums) {                        \
    column_step_any(window, pair, n, sums);                                                        \
  }                                                                                                \
  TARGET static void weights_##NAME(const TlNlmWeight *weight, float factor,                       \
                                    const int32_t *totals, int64_t n, float *weights) {            \
    weigh_any(weight, factor, totals, n, weights);                                                 \
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
