#include "image/filters.h"

#include "base/mem.h"
#include "base/par.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>

typedef struct Job {
  const TlRoi *roi;
  const TlVolume *shape;
  const float *from;
  float *to;
  float slope, step;
} Job;

typedef struct Site {
  const Job *job;
  int64_t at[3], stride[3];
  const float *own;
  bool inner; /* every neighbour is there */
} Site;

static bool is_there(const Job *job, const int64_t at[3]) {
  const TlVolume *v = job->shape;
  return at[0] >= 0 && at[0] < v->nx && at[1] >= 0 && at[1] < v->ny && at[2] >= 0 &&
         at[2] < v->nz && tl_roi_inside(job->roi, at[0], at[1], at[2]);
}

/* a steps along axis i and b along axis j; where that is not there, the step along j is left out,
 * then the one along i. */
static inline float near(const Site *s, int i, int a, int j, int b) {
  if (s->inner) return s->own[a * s->stride[i] + b * s->stride[j]];
  const TlVolume *v = s->job->shape;
  int64_t at[3] = {s->at[0], s->at[1], s->at[2]};
  at[i] += a;
  if (!is_there(s->job, at)) at[i] -= a;
  at[j] += b;
  if (!is_there(s->job, at)) at[j] -= b;
  return s->job->from[tl_volume_at(v, at[0], at[1], at[2])];
}

static float voxel(const Job *job, int64_t x, int64_t y, int64_t z) {
  const TlVolume *v = job->shape;
  Site s = {job, {x, y, z}, {1, v->nx, v->nx * v->ny}, job->from + tl_volume_at(v, x, y, z)};
  s.inner = job->roi->kind == TL_ROI_ALL && x > 0 && y > 0 && z > 0 && x < v->nx - 1 &&
            y < v->ny - 1 && z < v->nz - 1;
  float own = s.own[0], delta = 0, central[3];
  for (int i = 0; i < 3; i++) central[i] = (near(&s, i, 1, i, 0) - near(&s, i, -1, i, 0)) / 2;
  for (int i = 0; i < 3; i++) {
    float ahead = near(&s, i, 1, i, 0) - own, behind = own - near(&s, i, -1, i, 0);
    float across_ahead = 0, across_behind = 0;
    for (int j = 0; j < 3; j++) {
      if (j == i) continue;
      float next = (near(&s, i, 1, j, 1) - near(&s, i, 1, j, -1)) / 2;
      float last = (near(&s, i, -1, j, 1) - near(&s, i, -1, j, -1)) / 2;
      across_ahead += 0.25F * (central[j] + next) * (central[j] + next);
      across_behind += 0.25F * (central[j] + last) * (central[j] + last);
    }
    delta += ahead * expf(job->slope * (ahead * ahead + across_ahead)) -
             behind * expf(job->slope * (behind * behind + across_behind));
  }
  return own + job->step * delta;
}

static TlStatus filter_rows(void *context, int64_t begin, int64_t end, int64_t block, int thread) {
  const Job *job = context;
  const TlVolume *v = job->shape;
  (void)block;
  (void)thread;
  for (int64_t row = begin; row < end; row++)
    for (int64_t x = 0; x < v->nx; x++)
      if (tl_roi_inside(job->roi, x, row % v->ny, row / v->ny))
        job->to[row * v->nx + x] = voxel(job, x, row % v->ny, row / v->ny);
  return TL_OK;
}

TlStatus tl_diffusion(const TlVolume *grey, const TlRoi *roi, double kappa, double step, int rounds,
                      TlVolume *out) {
  assert(grey->type == TL_F32 && kappa > 0 && step > 0 && step < 1.0 / 6 && rounds >= 1);
  Job job = {.roi = roi, .shape = grey, .slope = (float)(-0.5 / (kappa * kappa))};
  TlVolume other;
  job.step = (float)step;
  TL_TRY(tl_volume_like(out, grey, TL_F32));
  TlStatus status = tl_volume_like(&other, grey, TL_F32);
  if (status != TL_OK) {
    tl_volume_free(out);
    return status;
  }
  for (int k = 0; k < rounds && status == TL_OK; k++) {
    bool last_in_out = (rounds - k) % 2 == 1;
    job.from = k == 0 ? grey->f32 : last_in_out ? other.f32 : out->f32;
    job.to = last_in_out ? out->f32 : other.f32;
    status = tl_par_blocks(grey->ny * grey->nz, 16, filter_rows, &job);
  }
  tl_volume_free(&other);
  if (status != TL_OK) tl_volume_free(out);
  return status;
}
