#include "phantom/phantom_grey.h"

#include "base/mem.h"
#include "base/par.h"
#include "phantom/phantom.h"

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
  bool periodic;
  float weight[2 * KERNEL_MAX + 1];
} Kernel;

static Kernel gaussian(double sigma) {
  Kernel k = {(int)ceil(4 * sigma), false, {0}};
  double sum = 0, w[2 * KERNEL_MAX + 1];
  for (int i = -k.half; i <= k.half; i++)
    sum += w[i + k.half] = exp(-0.5 * i * i / (sigma * sigma));
  for (int i = 0; i <= 2 * k.half; i++) k.weight[i] = (float)(w[i] / sum);
  return k;
}

/* Which of n voxels stands at i beyond the line's ends. */
static int64_t beyond(int64_t i, int64_t n, bool periodic) {
  if (periodic) return (i % n + n) % n;
  return i < 0 ? 0 : i >= n ? n - 1 : i;
}

/* One line of n values, stride apart, through line (n + 2 half floats of scratch). */
static void blur_line(float *data, int64_t n, int64_t stride, const Kernel *k, float *line) {
  for (int64_t i = -k->half; i < n + k->half; i++)
    line[i + k->half] = data[beyond(i, n, k->periodic) * stride];
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

TlStatus tl_phantom_blur(TlVolume *grey, double sigma, bool periodic) {
  if (sigma <= 0) return TL_OK;
  if (4 * sigma > KERNEL_MAX)
    return tl_fail(TL_EUSAGE, "blur of %g voxels is too wide; at most %d", sigma, KERNEL_MAX / 4);
  Kernel k = gaussian(sigma);
  k.periodic = periodic;
  const int64_t nx = grey->nx, ny = grey->ny, nz = grey->nz;
  size_t length = (size_t)(longest_side(grey) + 2 * k.half);
  bool failed = false;
#pragma omp parallel
  {
    float *line = tl_calloc(length, sizeof *line);
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
    tl_free(line);
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

/* Variance that smoothing along one axis leaves at voxel at of n, where edge voxels are repeated:
 * the sum of the squares of what each voxel's weights add up to. */
static double left_of_variance(const Kernel *k, int64_t at, int64_t n) {
  double sum = 0, edge[2] = {0, 0};
  for (int i = -k->half; i <= k->half; i++) {
    double w = (double)k->weight[i + k->half];
    int64_t from = at + i;
    if (from <= 0)
      edge[0] += w;
    else if (from >= n - 1)
      edge[1] += w;
    else
      sum += w * w;
  }
  return n == 1 ? 1 : sum + edge[0] * edge[0] + edge[1] * edge[1];
}

/* Smooths the noise and gives every voxel its sd back, those at the stack's sides too. */
static TlStatus correlate(TlVolume *noise, double sigma) {
  const int64_t n[3] = {noise->nx, noise->ny, noise->nz};
  Kernel k = gaussian(sigma);
  float *scale[3] = {NULL, NULL, NULL};
  TlStatus status = tl_phantom_blur(noise, sigma, false);
  for (int a = 0; a < 3 && status == TL_OK; a++) {
    status = TL_NEW(scale[a], (size_t)n[a]);
    for (int64_t i = 0; i < n[a] && status == TL_OK; i++)
      scale[a][i] = (float)(1 / sqrt(left_of_variance(&k, i, n[a])));
  }
  for (int64_t i = 0; status == TL_OK && i < n[0] * n[1] * n[2]; i++)
    noise->f32[i] *= scale[0][i % n[0]] * scale[1][i / n[0] % n[1]] * scale[2][i / (n[0] * n[1])];
  for (int a = 0; a < 3; a++) tl_free(scale[a]);
  return status;
}

/* ---- the noise of a reconstruction ---- */

/* The ramp filter with its window in space, at whole bins (Kak and Slaney 1988, 3.3; Hann's window
 * is the mean over three neighbours with weights 1 2 1), up to the common factor. */
static double ramp(int64_t n) {
  if (n == 0) return 0.25;
  return n % 2 ? -1 / (M_PI * M_PI * (double)(n * n)) : 0;
}
static double filter_weight(TlPhantomFilter filter, int64_t n) {
  if (filter == TL_FILTER_HANN) return 0.5 * ramp(n) + 0.25 * (ramp(n - 1) + ramp(n + 1));
  return -2 / (M_PI * M_PI * (4 * (double)(n * n) - 1));
}

typedef struct Projections {
  int64_t angles, bins, reach; /* bins of a filtered projection; reach of the filter on each side */
  double *weight;              /* reach + 1, from the middle out */
  double sd;                   /* of a back-projected voxel */
  uint64_t seed;
  TlVolume *noise;
} Projections;

static TlStatus plan_projections(TlPhantomFilter filter, uint64_t seed, TlVolume *noise,
                                 Projections *p) {
  const int64_t side = noise->nx > noise->ny ? noise->nx : noise->ny;
  *p = (Projections){.angles = (int64_t)ceil(0.5 * M_PI * (double)side), /* as sampling asks */
                     .bins = (int64_t)ceil(hypot((double)noise->nx, (double)noise->ny)) + 3,
                     .reach = 32,
                     .seed = seed,
                     .noise = noise};
  TL_TRY(TL_NEW(p->weight, (size_t)p->reach + 2));
  double same = 0, next = 0; /* sums of squares, of products of neighbours */
  for (int64_t n = 0; n <= p->reach; n++) p->weight[n] = filter_weight(filter, n);
  for (int64_t n = -p->reach; n <= p->reach; n++) {
    double here = p->weight[llabs(n)];
    same += here * here;
    next += n < p->reach ? here * p->weight[llabs(n + 1)] : 0;
  }
  /* Linear interpolation between bins, its place in them even in 0..1: (1-t)^2 + t^2 and 2 t (1-t)
   * have the means 2/3 and 1/3. */
  p->sd = sqrt((double)p->angles * (2 * same + next) / 3);
  return TL_OK;
}

static TlStatus back_project(void *context, int64_t begin, int64_t end, int64_t block, int thread) {
  const Projections *p = context;
  TlVolume *v = p->noise;
  double *white, *filtered = NULL;
  (void)block, (void)thread;
  TL_TRY(TL_NEW(white, (size_t)(p->bins + 2 * p->reach)));
  TlStatus status = TL_NEW(filtered, (size_t)p->bins);
  for (int64_t z = begin; z < end && status == TL_OK; z++)
    for (int64_t a = 0; a < p->angles; a++) {
      uint64_t stream = tl_random_mix((uint64_t)(z * p->angles + a) ^ 0x70726f6au);
      for (int64_t i = 0; i < p->bins + 2 * p->reach; i++)
        white[i] = tl_random_normal(p->seed, stream, (uint64_t)i);
      for (int64_t i = 0; i < p->bins; i++) {
        filtered[i] = p->weight[0] * white[i + p->reach];
        for (int64_t n = 1; n <= p->reach; n++)
          filtered[i] += p->weight[n] * (white[i + p->reach - n] + white[i + p->reach + n]);
      }
      double angle = M_PI * (double)a / (double)p->angles, dx = cos(angle), dy = sin(angle);
      for (int64_t y = 0; y < v->ny; y++) {
        double start = ((double)y - 0.5 * (double)(v->ny - 1)) * dy -
                       0.5 * (double)(v->nx - 1) * dx + 0.5 * (double)(p->bins - 1);
        float *row = v->f32 + (z * v->ny + y) * v->nx;
        for (int64_t x = 0; x < v->nx; x++) {
          double at = start + (double)x * dx;
          int64_t bin = (int64_t)at;
          double t = at - (double)bin;
          row[x] += (float)(((1 - t) * filtered[bin] + t * filtered[bin + 1]) / p->sd);
        }
      }
    }
  tl_free(white);
  tl_free(filtered);
  return status;
}

/* Noise of sd 1 in every voxel; noise: zeroed. */
static TlStatus reconstruct_noise(TlPhantomFilter filter, uint64_t seed, TlVolume *noise) {
  Projections p;
  TL_TRY(plan_projections(filter, seed, noise, &p));
  TlStatus status = tl_par_blocks(noise->nz, 1, back_project, &p);
  tl_free(p.weight);
  return status;
}

/* ---- faults ---- */

static double ring(double sd, uint64_t seed, int64_t z, double r) {
  const double half = 0.7071067811865476;
  double value[2], part = r - floor(r);
  for (int k = 0; k < 2; k++) {
    uint64_t at = (uint64_t)floor(r) + (uint64_t)k;
    value[k] =
        tl_random_normal(seed, 0x4149, at) + tl_random_normal(seed, 0x414a + (uint64_t)z, at);
  }
  return sd * half * ((1 - part) * value[0] + part * value[1]);
}

static double fault(const TlVolume *v, const TlPhantomFaults *f, uint64_t seed, int64_t i) {
  int64_t x = i % v->nx, y = i / v->nx % v->ny, z = i / (v->nx * v->ny);
  double r = hypot((double)x - 0.5 * (double)(v->nx - 1), (double)y - 0.5 * (double)(v->ny - 1));
  double radius = 0.5 * (double)(v->nx < v->ny ? v->nx : v->ny), sum = 0;
  if (f->rings_grey > 0) sum += ring(f->rings_grey, seed, z, r);
  sum += f->cupping_grey * (r * r / (radius * radius) - 1);
  if (v->nz > 1) sum += f->bias_z_grey * ((double)z / (double)(v->nz - 1) - 0.5);
  return sum;
}

static float noise_at(double g, double noise_sd, uint64_t seed, int64_t i) {
  TlRandom random = {seed ^ 0x6e6f697365u, (uint64_t)i, 0};
  return noise_sd > 0 ? (float)(noisy(g, noise_sd, &random) - g) : 0;
}

static uint16_t units_of(double grey) {
  double units = floor(TL_PHANTOM_UNITS_A_GREY * grey + 0.5);
  return (uint16_t)(units < 0 ? 0 : units > 65535 ? 65535 : units);
}

static TlStatus add_noise(const TlVolume *grey, const TlPhantomFaults *f, double noise_sd,
                          uint64_t seed, TlVolume *noise) {
  const int64_t count = tl_volume_count(grey);
  double correlation = f->noise_correlation_voxels;
  TL_TRY(tl_volume_like(noise, grey, TL_F32));
  if (f->noise_filter) {
    if (noise_sd > 0) TL_TRY(reconstruct_noise(f->noise_filter, seed, noise));
    for (int64_t i = 0; i < count; i++)
      noise->f32[i] *=
          (float)(noise_sd * sqrt(0.5 * ((double)grey->f32[i] / TL_PHANTOM_SOLID + 1)));
    return TL_OK;
  }
#pragma omp parallel for
  for (int64_t i = 0; i < count; i++)
    noise->f32[i] = noise_at((double)grey->f32[i], noise_sd, seed, i);
  return correlation > 0 ? correlate(noise, correlation) : TL_OK;
}

TlStatus tl_phantom_noise(const TlVolume *grey, const TlPhantomFaults *faults, double noise_sd,
                          uint64_t seed, TlVolume *out) {
  const TlPhantomFaults none = {0};
  const TlPhantomFaults *f = faults ? faults : &none;
  TlVolume noise = {0};
  TL_TRY(tl_volume_like(out, grey, TL_U16));
  TlStatus status = add_noise(grey, f, noise_sd, seed, &noise);
  const int64_t count = status == TL_OK ? tl_volume_count(grey) : 0;
#pragma omp parallel for
  for (int64_t i = 0; i < count; i++)
    out->u16[i] = units_of((double)grey->f32[i] + (double)noise.f32[i] + fault(grey, f, seed, i));
  tl_volume_free(&noise);
  if (status != TL_OK) tl_volume_free(out);
  return status;
}

void tl_phantom_noise_tiled(const TlVolume *grey, const TlVolume *head,
                            const TlPhantomFaults *faults, double noise_sd, uint64_t seed,
                            int64_t z, int64_t count, uint16_t *out) {
  const int64_t area = head->nx * head->ny, first = z * area;
#pragma omp parallel for
  for (int64_t i = 0; i < count * area; i++) {
    int64_t at = first + i;
    int64_t in = tl_volume_at(grey, at % head->nx % grey->nx, at / head->nx % head->ny % grey->ny,
                              at / area % grey->nz);
    double g = (double)grey->f32[in];
    g += (double)noise_at(g, noise_sd, seed, at) + fault(head, faults, seed, at);
    out[i] = units_of(g);
  }
}

/* ---- specks ---- */

/* Part of the voxel at (dx, dy, dz) from the ball's centre that lies in it, by 4^3 points. */
static double ball_part(double dx, double dy, double dz, double radius) {
  int inside = 0;
  for (int s = 0; s < 64; s++) {
    double x = dx + (2 * (s % 4) - 3) * 0.125, y = dy + (2 * (s / 4 % 4) - 3) * 0.125,
           z = dz + (2 * (s / 16) - 3) * 0.125;
    inside += x * x + y * y + z * z <= radius * radius;
  }
  return inside / 64.0;
}

static void put_speck(TlVolume *grey, const TlVolume *labels, double level, const double c[3]) {
  for (int k = 0; k < 125; k++) {
    int64_t x = (int64_t)c[0] + k % 5 - 2, y = (int64_t)c[1] + k / 5 % 5 - 2,
            z = (int64_t)c[2] + k / 25 - 2;
    if (x < 0 || y < 0 || z < 0 || x >= grey->nx || y >= grey->ny || z >= grey->nz) continue;
    int64_t at = tl_volume_at(grey, x, y, z);
    if (!labels->u32[at]) continue;
    double part = ball_part((double)x - c[0], (double)y - c[1], (double)z - c[2], 1.5);
    grey->f32[at] += (float)(part * (level - (double)grey->f32[at]));
  }
}

void tl_phantom_specks(TlVolume *grey, const TlVolume *labels, double fraction, double level,
                       uint64_t seed) {
  TlRandom random = {seed, 0x5bec, 0};
  double solid = 0;
  for (int64_t i = 0; i < tl_volume_count(labels); i++) solid += labels->u32[i] > 0;
  int64_t wanted = (int64_t)(fraction * solid / (0.5235987755982988 * 27));
  for (int64_t put = 0, tries = 0; put < wanted && tries < 100 * wanted; tries++) {
    double c[3] = {(double)grey->nx * tl_random_next(&random),
                   (double)grey->ny * tl_random_next(&random),
                   (double)grey->nz * tl_random_next(&random)};
    if (!labels->u32[tl_volume_at(labels, (int64_t)c[0], (int64_t)c[1], (int64_t)c[2])]) continue;
    put_speck(grey, labels, level, c);
    put++;
  }
}
