#include "image/filters.h"

#include "base/mem.h"
#include "base/par.h"
#include "num/quantile.h"

#include <assert.h>
#include <stdbool.h>

typedef struct Job {
  const TlVolume *grey;
  const TlRoi *roi;
  int radius;
  float *out, *windows;
} Job;

static int64_t least(int64_t a, int64_t b) {
  return a < b ? a : b;
}
static int64_t most(int64_t a, int64_t b) {
  return a > b ? a : b;
}

static int64_t gather(const Job *job, int64_t x, int64_t y, int64_t z, float *window) {
  const TlVolume *v = job->grey;
  int64_t r = job->radius, count = 0;
  bool all = job->roi->kind == TL_ROI_ALL;
  int64_t x0 = most(x - r, 0), x1 = least(x + r, v->nx - 1);
  for (int64_t k = most(z - r, 0); k <= least(z + r, v->nz - 1); k++)
    for (int64_t j = most(y - r, 0); j <= least(y + r, v->ny - 1); j++) {
      const float *row = v->f32 + tl_volume_at(v, 0, j, k);
      for (int64_t i = x0; i <= x1; i++)
        if (all || tl_roi_inside(job->roi, i, j, k)) window[count++] = row[i];
    }
  return count;
}

static TlStatus filter_rows(void *context, int64_t begin, int64_t end, int64_t block, int thread) {
  const Job *job = context;
  const TlVolume *v = job->grey;
  int64_t width = 2 * job->radius + 1;
  float *window = job->windows + thread * width * width * width;
  (void)block;
  for (int64_t row = begin; row < end; row++)
    for (int64_t x = 0; x < v->nx; x++) {
      int64_t y = row % v->ny, z = row / v->ny;
      if (!tl_roi_inside(job->roi, x, y, z)) continue;
      int64_t count = gather(job, x, y, z, window);
      job->out[row * v->nx + x] = tl_select(window, count, (count - 1) / 2);
    }
  return TL_OK;
}

TlStatus tl_median(const TlVolume *grey, const TlRoi *roi, int radius, TlVolume *out) {
  assert(grey->type == TL_F32 && radius >= 1);
  size_t width = 2 * (size_t)radius + 1;
  Job job = {.grey = grey, .roi = roi, .radius = radius};
  TL_TRY(tl_volume_like(out, grey, TL_F32));
  job.out = out->f32;
  TlStatus status = TL_NEW(job.windows, width * width * width * (size_t)tl_par_threads());
  if (status == TL_OK) status = tl_par_blocks(grey->ny * grey->nz, 16, filter_rows, &job);
  tl_free(job.windows);
  if (status != TL_OK) tl_volume_free(out);
  return status;
}
