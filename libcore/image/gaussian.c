#include "image/filters.h"

#include "base/mem.h"
#include "base/par.h"
#include "base/lanes.h"

#include <assert.h>
#include <stdbool.h>
#include <fftw3.h>
#include <math.h>

/* Lines are filtered LANES at a time, interleaved, so that the inner loop is a vector whatever the
 * axis is. */
enum { LANES = 16 };

typedef struct Pass {
  int64_t n;                    /* length of a line */
  int reach;                    /* kernel half width */
  double *kernel;               /* reach + 1 weights, from the centre out; sums to 1 */
  float *transfer;              /* cosine transform of the kernel over 2n, n values; NULL: direct */
  fftwf_plan forward, backward; /* of one line */
} Pass;

static TlStatus make_kernel(Pass *pass, double sigma) {
  pass->reach = (int)ceil(4 * sigma);
  TL_TRY(TL_NEW(pass->kernel, (size_t)pass->reach + 1));
  double sum = 0;
  for (int j = 0; j <= pass->reach; j++) {
    pass->kernel[j] = exp(-0.5 * j * j / (sigma * sigma));
    sum += j ? 2 * pass->kernel[j] : pass->kernel[j];
  }
  for (int j = 0; j <= pass->reach; j++) pass->kernel[j] /= sum;
  return TL_OK;
}

/* The transfer function also carries FFTW's 1/(2n). Plans are made by ESTIMATE: a measured plan may
 * differ from run to run and with it the last bits. */
static TlStatus make_transfer(Pass *pass) {
  int64_t n = pass->n;
  TL_TRY(TL_NEW(pass->transfer, (size_t)n));
  for (int64_t k = 0; k < n; k++) {
    double sum = pass->kernel[0];
    for (int j = 1; j <= pass->reach; j++)
      sum += 2 * pass->kernel[j] * cos(M_PI * (double)k * j / (double)n);
    pass->transfer[k] = (float)(sum / (2.0 * (double)n));
  }
  float *line;
  TL_TRY(TL_NEW(line, (size_t)n));
  unsigned flags = FFTW_ESTIMATE | FFTW_UNALIGNED;
  pass->forward = fftwf_plan_r2r_1d((int)n, line, line, FFTW_REDFT10, flags);
  pass->backward = fftwf_plan_r2r_1d((int)n, line, line, FFTW_REDFT01, flags);
  tl_free(line);
  if (!pass->forward || !pass->backward)
    return tl_fail(TL_ELIB, "FFTW has no plan for %lld", (long long)n);
  return TL_OK;
}

static void pass_free(Pass *pass) {
  if (pass->forward) fftwf_destroy_plan(pass->forward);
  if (pass->backward) fftwf_destroy_plan(pass->backward);
  tl_free(pass->kernel);
  tl_free(pass->transfer);
}

static TlStatus pass_make(Pass *pass, int64_t n, double sigma, TlGaussianWay way) {
  *pass = (Pass){.n = n};
  TL_TRY(make_kernel(pass, sigma));
  bool direct =
      way == TL_GAUSSIAN_DIRECT || (way == TL_GAUSSIAN_AUTO && sigma <= TL_GAUSSIAN_DIRECT_MAX);
  return direct ? TL_OK : make_transfer(pass);
}

/* lines: (n + 2 reach) x LANES with the interior filled; out: n x LANES. */
TL_LANES_CLONES
static void convolve_lanes(const double *kernel, int reach, int64_t n, const float *lines,
                           float *out) {
  for (int64_t i = 0; i < n; i++) {
    const float *centre = lines + (i + reach) * LANES;
    float sum[LANES];
    for (int l = 0; l < LANES; l++) sum[l] = (float)kernel[0] * centre[l];
    for (int j = 1; j <= reach; j++) {
      float weight = (float)kernel[j];
      const float *left = centre - j * LANES, *right = centre + j * LANES;
      for (int l = 0; l < LANES; l++) sum[l] += weight * (left[l] + right[l]);
    }
    for (int l = 0; l < LANES; l++) out[i * LANES + l] = sum[l];
  }
}

static void filter_direct(const Pass *pass, float *lines, float *out) {
  int64_t n = pass->n, reach = pass->reach;
  for (int64_t j = 1; j <= reach; j++) {
    const float *left = lines + (reach + tl_mirrored(-j, n)) * LANES;
    const float *right = lines + (reach + tl_mirrored(n - 1 + j, n)) * LANES;
    for (int l = 0; l < LANES; l++) {
      lines[(reach - j) * LANES + l] = left[l];
      lines[(reach + n - 1 + j) * LANES + l] = right[l];
    }
  }
  convolve_lanes(pass->kernel, pass->reach, n, lines, out);
}

static void filter_cosine(const Pass *pass, const float *lines, float *line, float *out) {
  for (int l = 0; l < LANES; l++) {
    for (int64_t i = 0; i < pass->n; i++) line[i] = lines[(i + pass->reach) * LANES + l];
    fftwf_execute_r2r(pass->forward, line, line);
    for (int64_t i = 0; i < pass->n; i++) line[i] *= pass->transfer[i];
    fftwf_execute_r2r(pass->backward, line, line);
    for (int64_t i = 0; i < pass->n; i++) out[i * LANES + l] = line[i];
  }
}

typedef struct Axis {
  float *data;
  const Pass *pass;
  float *scratch; /* a part for each thread */
  size_t scratch_each;
  int64_t stride;       /* between neighbours on a line */
  int64_t lane_stride;  /* between neighbouring lines of a bundle */
  int64_t lanes;        /* lines side by side in a plane */
  int64_t plane_stride; /* between planes */
} Axis;

/* Filter the lines [begin, end) of all, LANES at a time; a bundle never crosses a plane. */
static TlStatus filter_bundles(void *context, int64_t begin, int64_t end, int64_t block,
                               int thread) {
  const Axis *axis = context;
  const Pass *pass = axis->pass;
  (void)block;
  int64_t bundles = (axis->lanes + LANES - 1) / LANES, n = pass->n;
  float *lines = axis->scratch + (size_t)thread * axis->scratch_each;
  float *out = lines + (n + 2 * pass->reach) * LANES, *line = out + n * LANES;
  for (int64_t b = begin; b < end; b++) {
    int64_t first = b % bundles * LANES;
    int count = (int)(axis->lanes - first < LANES ? axis->lanes - first : LANES);
    float *base = axis->data + b / bundles * axis->plane_stride + first * axis->lane_stride;
    for (int64_t i = 0; i < n; i++)
      for (int l = 0; l < count; l++)
        lines[(i + pass->reach) * LANES + l] = base[i * axis->stride + l * axis->lane_stride];
    if (pass->transfer)
      filter_cosine(pass, lines, line, out);
    else
      filter_direct(pass, lines, out);
    for (int64_t i = 0; i < n; i++)
      for (int l = 0; l < count; l++)
        base[i * axis->stride + l * axis->lane_stride] = out[i * LANES + l];
  }
  return TL_OK;
}

static TlStatus filter_axis(Axis *axis, int64_t planes) {
  const Pass *pass = axis->pass;
  axis->scratch_each = (size_t)((2 * pass->n + 2 * pass->reach) * LANES + pass->n);
  TL_TRY(TL_NEW(axis->scratch, axis->scratch_each * (size_t)tl_par_threads()));
  int64_t bundles = (axis->lanes + LANES - 1) / LANES;
  TlStatus status = tl_par_blocks(planes * bundles, 8, filter_bundles, axis);
  tl_free(axis->scratch);
  return status;
}

TlStatus tl_gaussian_floats(float *data, int64_t nx, int64_t ny, int64_t nz, const double sigma[3],
                            TlGaussianWay way) {
  int64_t n[3] = {nx, ny, nz};
  Axis axes[3] = {{.stride = 1, .lane_stride = nx, .lanes = ny, .plane_stride = nx * ny},
                  {.stride = nx, .lane_stride = 1, .lanes = nx, .plane_stride = nx * ny},
                  {.stride = nx * ny, .lane_stride = 1, .lanes = nx * ny, .plane_stride = 0}};
  for (int a = 0; a < 3; a++) {
    if (!(sigma[a] > 0) || n[a] == 1) continue;
    Pass pass;
    /* Along z always directly when left to choose: a slab then gives the whole stack's bits. */
    TlGaussianWay own = a == 2 && way == TL_GAUSSIAN_AUTO ? TL_GAUSSIAN_DIRECT : way;
    TlStatus status = pass_make(&pass, n[a], sigma[a], own);
    axes[a].data = data;
    axes[a].pass = &pass;
    if (status == TL_OK) status = filter_axis(&axes[a], a == 2 ? 1 : nz);
    pass_free(&pass);
    if (status != TL_OK) return status;
  }
  return TL_OK;
}

/* out = G*(I m) in place already; divide by G*(m). */
static TlStatus normalise(const TlRoi *roi, const double sigma[3], TlVolume *out) {
  TlVolume weight;
  TL_TRY(tl_volume_like(&weight, out, TL_F32));
#pragma omp parallel for
  for (int64_t z = 0; z < out->nz; z++)
    for (int64_t y = 0; y < out->ny; y++)
      for (int64_t x = 0; x < out->nx; x++)
        weight.f32[tl_volume_at(out, x, y, z)] = tl_roi_inside(roi, x, y, z) ? 1 : 0;
  TlStatus status =
      tl_gaussian_floats(weight.f32, out->nx, out->ny, out->nz, sigma, TL_GAUSSIAN_AUTO);
  if (status == TL_OK) {
#pragma omp parallel for
    for (int64_t z = 0; z < out->nz; z++)
      for (int64_t y = 0; y < out->ny; y++)
        for (int64_t x = 0; x < out->nx; x++) {
          int64_t i = tl_volume_at(out, x, y, z);
          out->f32[i] = tl_roi_inside(roi, x, y, z) ? out->f32[i] / weight.f32[i] : 0;
        }
  }
  tl_volume_free(&weight);
  return status;
}

TlStatus tl_gaussian(const TlVolume *grey, const TlRoi *roi, double sigma_voxels, TlVolume *out) {
  assert(grey->type == TL_F32);
  double sigma[3] = {sigma_voxels, sigma_voxels, sigma_voxels};
  TL_TRY(tl_volume_like(out, grey, TL_F32));
  bool all = roi->kind == TL_ROI_ALL;
#pragma omp parallel for
  for (int64_t z = 0; z < grey->nz; z++)
    for (int64_t y = 0; y < grey->ny; y++)
      for (int64_t x = 0; x < grey->nx; x++) {
        int64_t i = tl_volume_at(grey, x, y, z);
        out->f32[i] = all || tl_roi_inside(roi, x, y, z) ? grey->f32[i] : 0;
      }
  TlStatus status =
      tl_gaussian_floats(out->f32, out->nx, out->ny, out->nz, sigma, TL_GAUSSIAN_AUTO);
  if (status == TL_OK && !all) status = normalise(roi, sigma, out);
  if (status != TL_OK) tl_volume_free(out);
  return status;
}
