#include "image/filters.h"

#include "base/mem.h"
#include "base/par.h"

#include <assert.h>
#include <math.h>

typedef struct Job {
  const TlVolume *grey;
  const TlRoi *roi;
  float *out, *space; /* space: weights of the distance, (2 reach + 1)^3 */
  int reach;
  float slope; /* of the grey's exponent */
} Job;

static int64_t least(int64_t a, int64_t b) {
  return a < b ? a : b;
}
static int64_t most(int64_t a, int64_t b) {
  return a > b ? a : b;
}

int tl_bilateral_reach(double sigma_space) {
  return (int)ceil(2.5 * sigma_space);
}

static float voxel(const Job *job, int64_t x, int64_t y, int64_t z) {
  const TlVolume *v = job->grey;
  int64_t r = job->reach, width = 2 * r + 1;
  float own = v->f32[tl_volume_at(v, x, y, z)];
  double sum = 0, total = 0;
  for (int64_t k = most(z - r, 0); k <= least(z + r, v->nz - 1); k++)
    for (int64_t j = most(y - r, 0); j <= least(y + r, v->ny - 1); j++) {
      const float *row = v->f32 + tl_volume_at(v, 0, j, k);
      const float *space = job->space + ((k - z + r) * width + j - y + r) * width + r - x;
      for (int64_t i = most(x - r, 0); i <= least(x + r, v->nx - 1); i++) {
        if (job->roi->kind != TL_ROI_ALL && !tl_roi_inside(job->roi, i, j, k)) continue;
        float d = row[i] - own;
        float w = space[i] * expf(job->slope * d * d);
        sum += (double)(w * row[i]);
        total += (double)w;
      }
    }
  return (float)(sum / total);
}

static TlStatus filter_rows(void *context, int64_t begin, int64_t end, int64_t block, int thread) {
  const Job *job = context;
  const TlVolume *v = job->grey;
  (void)block;
  (void)thread;
  for (int64_t row = begin; row < end; row++)
    for (int64_t x = 0; x < v->nx; x++)
      if (tl_roi_inside(job->roi, x, row % v->ny, row / v->ny))
        job->out[row * v->nx + x] = voxel(job, x, row % v->ny, row / v->ny);
  return TL_OK;
}

TlStatus tl_bilateral(const TlVolume *grey, const TlRoi *roi, double sigma_space, double sigma_grey,
                      TlVolume *out) {
  assert(grey->type == TL_F32 && sigma_space > 0 && sigma_grey > 0);
  Job job = {.grey = grey, .roi = roi, .reach = tl_bilateral_reach(sigma_space)};
  int64_t width = 2 * job.reach + 1;
  job.slope = (float)(-0.5 / (sigma_grey * sigma_grey));
  TL_TRY(tl_volume_like(out, grey, TL_F32));
  job.out = out->f32;
  TlStatus status = TL_NEW(job.space, (size_t)(width * width * width));
  for (int64_t i = 0; status == TL_OK && i < width * width * width; i++) {
    double dx = (double)(i % width - job.reach), dy = (double)(i / width % width - job.reach);
    double dz = (double)(i / width / width - job.reach);
    job.space[i] = (float)exp(-0.5 * (dx * dx + dy * dy + dz * dz) / (sigma_space * sigma_space));
  }
  if (status == TL_OK) status = tl_par_blocks(grey->ny * grey->nz, 16, filter_rows, &job);
  tl_free(job.space);
  if (status != TL_OK) tl_volume_free(out);
  return status;
}
