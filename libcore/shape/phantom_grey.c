#include "shape/phantom_grey.h"

#include "base/mem.h"
#include "shape/phantom.h"

#include <math.h>
#include <stdlib.h>

static double poisson_small(TlRandom *random, double mean) {
  double limit = exp(-mean), product = tl_random_next(random);
  int n = 0;
  for (; product > limit; n++) product *= tl_random_next(random);
  return n;
}

/* Hormann 1993, "The transformed rejection method for generating Poisson random variables". */
double tl_phantom_poisson(TlRandom *random, double mean) {
  if (mean <= 0) return 0;
  if (mean < 10) return poisson_small(random, mean);
  double b = 0.931 + 2.53 * sqrt(mean), a = -0.059 + 0.02483 * b;
  double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4), v_r = 0.9277 - 3.6224 / (b - 2);
  for (;;) {
    double u = tl_random_next(random) - 0.5, v = tl_random_next(random);
    double us = 0.5 - fabs(u), k = floor((2 * a / us + b) * u + mean + 0.43);
    if (us >= 0.07 && v <= v_r) return k;
    if (k < 0 || (us < 0.013 && v > us)) continue;
    int sign;
    double log_density = k * log(mean) - mean - lgamma_r(k + 1, &sign);
    if (log(v * inverse_alpha / (a / (us * us) + b)) <= log_density) return k;
  }
}

/* ---- blur ---- */

enum { KERNEL_MAX = 64 };

typedef struct Kernel {
  int half;
  float weight[2 * KERNEL_MAX + 1];
} Kernel;

static Kernel gaussian(double sigma) {
  Kernel k = {(int)ceil(4 * sigma), {0}};
  double sum = 0, w[2 * KERNEL_MAX + 1];
  for (int i = -k.half; i <= k.half; i++)
    sum += w[i + k.half] = exp(-0.5 * i * i / (sigma * sigma));
  for (int i = 0; i <= 2 * k.half; i++) k.weight[i] = (float)(w[i] / sum);
  return k;
}

/* One line of n values, stride apart, through line (n + 2 half floats of scratch). */
static void blur_line(float *data, int64_t n, int64_t stride, const Kernel *k, float *line) {
  for (int64_t i = -k->half; i < n + k->half; i++) {
    int64_t at = i < 0 ? 0 : i >= n ? n - 1 : i;
    line[i + k->half] = data[at * stride];
  }
  for (int64_t i = 0; i < n; i++) {
    float sum = 0;
    for (int j = 0; j <= 2 * k->half; j++) sum += k->weight[j] * line[i + j];
    data[i * stride] = sum;
  }
}

static int64_t longest_side(const TlVolume *v) {
  int64_t n = v->nx > v->ny ? v->nx : v->ny;
  return n > v->nz ? n : v->nz;
}

TlStatus tl_phantom_blur(TlVolume *grey, double sigma) {
  if (sigma <= 0) return TL_OK;
  if (4 * sigma > KERNEL_MAX)
    return tl_fail(TL_EUSAGE, "blur of %g voxels is too wide; at most %d", sigma, KERNEL_MAX / 4);
  Kernel k = gaussian(sigma);
  const int64_t nx = grey->nx, ny = grey->ny, nz = grey->nz;
  size_t length = (size_t)(longest_side(grey) + 2 * k.half);
  bool failed = false;
#pragma omp parallel
  {
    float *line = malloc(length * sizeof *line);
    if (!line) {
#pragma omp atomic write
      failed = true;
    }
#pragma omp for
    for (int64_t z = 0; z < nz; z++) {
      float *slice = grey->f32 + z * ny * nx;
      for (int64_t y = 0; line && y < ny; y++) blur_line(slice + y * nx, nx, 1, &k, line);
      for (int64_t x = 0; line && x < nx; x++) blur_line(slice + x, ny, nx, &k, line);
    }
#pragma omp for
    for (int64_t i = 0; i < nx * ny; i++)
      if (line) blur_line(grey->f32 + i, nz, nx * ny, &k, line);
    free(line);
  }
  return failed ? tl_fail(TL_ENOMEM, "out of memory for the lines of the blur") : TL_OK;
}

/* ---- noise ---- */

/* Half of the variance at the grain level is Poisson's (gain: grey levels a count), half Gauss. */
static double noisy(double g, double sd, TlRandom *random) {
  double gain = 0.5 * sd * sd / TL_PHANTOM_SOLID;
  double counted = gain * tl_phantom_poisson(random, g / gain);
  return counted + sd * 0.7071067811865476 * tl_random_normal(random->seed, ~random->stream, 0);
}

TlStatus tl_phantom_noise(const TlVolume *grey, double noise_sd, uint64_t seed, TlVolume *out) {
  TL_TRY(tl_volume_like(out, grey, TL_U16));
  const int64_t count = tl_volume_count(grey);
#pragma omp parallel for
  for (int64_t i = 0; i < count; i++) {
    double g = (double)grey->f32[i];
    TlRandom random = {seed ^ 0x6e6f697365u, (uint64_t)i, 0};
    if (noise_sd > 0) g = noisy(g, noise_sd, &random);
    double units = floor(TL_PHANTOM_UNITS_A_GREY * g + 0.5);
    out->u16[i] = (uint16_t)(units < 0 ? 0 : units > 65535 ? 65535 : units);
  }
  return TL_OK;
}
