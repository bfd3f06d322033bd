#include "image/noise.h"

#include "base/mem.h"
#include "image/select.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

enum { CUBE = 12, REACH = 4, MOST_CUBES = 1200, CLASSES = 8, LEVELS = 65536 };

typedef struct Sample {
  float level, slope, residual;
} Sample;

typedef struct Sampler {
  const TlVolume *grey;
  const TlRoi *roi;
  Sample *samples;
  size_t count, capacity;
} Sampler;

/* Mean of the 3 x 3 x 3 box around voxel i. */
static float box_mean(const float *a, int64_t row, int64_t plane) {
  float sum = 0;
  for (int64_t k = -plane; k <= plane; k += plane)
    for (int64_t j = -row; j <= row; j += row) sum += a[k + j - 1] + a[k + j] + a[k + j + 1];
  return sum / 27;
}

static float residual(const float *a, int64_t row, int64_t plane) {
  static const float weight[3] = {1, -2, 1};
  float sum = 0;
  for (int k = 0; k < 3; k++)
    for (int j = 0; j < 3; j++) {
      const float *line = a + (k - 1) * plane + (j - 1) * row;
      sum += weight[k] * weight[j] * (line[-1] - 2 * line[0] + line[1]);
    }
  return sum;
}

static bool surroundings_inside(const TlRoi *roi, int64_t x, int64_t y, int64_t z) {
  if (roi->kind == TL_ROI_ALL) return true;
  for (int64_t d = -REACH; d <= REACH; d += REACH)
    if (!tl_roi_inside(roi, x + d, y, z) || !tl_roi_inside(roi, x, y + d, z) ||
        !tl_roi_inside(roi, x, y, z + d))
      return false;
  return true;
}

static void sample_voxel(Sampler *s, int64_t x, int64_t y, int64_t z) {
  const TlVolume *v = s->grey;
  int64_t row = v->nx, plane = v->nx * v->ny, step[3] = {1, row, plane};
  const float *a = v->f32 + tl_volume_at(v, x, y, z);
  if (!surroundings_inside(s->roi, x, y, z)) return;
  float slope = 0, level = 0;
  for (int k = 0; k < 3; k++) {
    float ahead = box_mean(a + 3 * step[k], row, plane);
    float behind = box_mean(a - 3 * step[k], row, plane);
    slope += (ahead - behind) * (ahead - behind);
    level += ahead + behind;
  }
  s->samples[s->count++] = (Sample){level / 6, slope, residual(a, row, plane)};
}

/* Cubes on an even grid with at most MOST_CUBES of them. */
static TlStatus take_samples(Sampler *s) {
  int64_t n[3] = {s->grey->nx, s->grey->ny, s->grey->nz}, usable[3], cubes[3];
  double all = 1;
  for (int a = 0; a < 3; a++) {
    usable[a] = n[a] - 2 * REACH;
    if (usable[a] < 1)
      return tl_fail(TL_EINPUT,
                     "a stack of %lld x %lld x %lld voxels is too thin to estimate the noise "
                     "(%d wanted); give --sigma-noise",
                     (long long)n[0], (long long)n[1], (long long)n[2], 2 * REACH + 1);
    cubes[a] = (usable[a] + CUBE - 1) / CUBE;
    all *= (double)cubes[a];
  }
  double thin = all > MOST_CUBES ? cbrt(MOST_CUBES / all) : 1;
  for (int a = 0; a < 3; a++) {
    int64_t most = (int64_t)((double)cubes[a] * thin);
    cubes[a] = most > 1 ? most : 1;
  }
  s->capacity = (size_t)(cubes[0] * cubes[1] * cubes[2]) * CUBE * CUBE * CUBE;
  TL_TRY(TL_NEW(s->samples, s->capacity));
  for (int64_t c = 0; c < cubes[0] * cubes[1] * cubes[2]; c++) {
    int64_t at[3] = {c % cubes[0], c / cubes[0] % cubes[1], c / cubes[0] / cubes[1]}, begin[3],
            end[3];
    for (int a = 0; a < 3; a++) {
      int64_t next = REACH + usable[a] * (at[a] + 1) / cubes[a];
      begin[a] = REACH + usable[a] * at[a] / cubes[a];
      end[a] = begin[a] + CUBE < next ? begin[a] + CUBE : next;
    }
    for (int64_t z = begin[2]; z < end[2]; z++)
      for (int64_t y = begin[1]; y < end[1]; y++)
        for (int64_t x = begin[0]; x < end[0]; x++) sample_voxel(s, x, y, z);
  }
  return TL_OK;
}

/* Median with the ties of quantised data spread evenly over their step. */
static double spread_median(float *a, int64_t n, double step) {
  float middle = tl_select(a, n, n / 2);
  int64_t below = 0, equal = 0;
  for (int64_t i = 0; i < n; i++) {
    below += a[i] < middle;
    equal += a[i] == middle;
  }
  double within = ((double)n / 2 - (double)below) / (double)equal;
  if (step <= 0) return middle;
  return middle > 0 ? middle + step * (within - 0.5) : 0.5 * step * within;
}

/* sd of the noise in one grey class of samples. scratch: count floats. */
static double class_sd(const Sample *samples, int64_t count, double step, float *scratch) {
  for (int64_t i = 0; i < count; i++) scratch[i] = samples[i].slope;
  float flat = tl_select(scratch, count, count / 3);
  int64_t kept = 0;
  for (int64_t i = 0; i < count; i++)
    if (samples[i].slope <= flat) scratch[kept++] = fabsf(samples[i].residual);
  return spread_median(scratch, kept, step) / 0.674489750196082 / sqrt(216.0);
}

static int by_level(const void *a, const void *b) {
  float p = ((const Sample *)a)->level, q = ((const Sample *)b)->level;
  return p < q ? -1 : p > q;
}

/* The least step between grey levels when all samples are whole numbers; 0 otherwise. */
static TlStatus find_step(const Sampler *s, double *step, bool *constant) {
  const TlVolume *v = s->grey;
  int64_t count = tl_volume_count(v), stride = count / 4000000 + 1;
  uint8_t *seen;
  float low = INFINITY, high = -INFINITY;
  TL_TRY(TL_NEW(seen, 2 * LEVELS));
  bool whole = true;
  for (int64_t i = 0; i < count; i += stride) {
    float g = v->f32[i];
    if (!tl_roi_inside(s->roi, i % v->nx, i / v->nx % v->ny, i / v->nx / v->ny)) continue;
    low = g < low ? g : low;
    high = g > high ? g : high;
    whole = whole && g == rintf(g) && g >= -LEVELS && g < LEVELS;
    if (whole) seen[(int)g + LEVELS] = 1;
  }
  int last = -1, least = 0;
  for (int i = 0; i < 2 * LEVELS; i++) {
    if (!seen[i]) continue;
    if (last >= 0 && (least == 0 || i - last < least)) least = i - last;
    last = i;
  }
  tl_free(seen);
  *step = whole ? least : 0;
  *constant = !(high > low);
  return TL_OK;
}

static TlStatus judge(Sampler *s, TlNoise *noise) {
  float *scratch;
  double variance = 0;
  if (s->count < 500)
    return tl_fail(TL_EINPUT, "only %lld voxels to estimate the noise from; give --sigma-noise",
                   (long long)s->count);
  TL_TRY(TL_NEW(scratch, s->count));
  qsort(s->samples, s->count, sizeof *s->samples, by_level);
  int64_t count = (int64_t)s->count;
  for (int c = 0; c < CLASSES; c++) {
    int64_t begin = count * c / CLASSES, end = count * (c + 1) / CLASSES;
    double sd = class_sd(s->samples + begin, end - begin, noise->level_step, scratch);
    if (c == 0) noise->darkest = sd;
    noise->brightest = sd;
    variance += sd * sd * (double)(end - begin);
  }
  tl_free(scratch);
  double least = noise->level_step / sqrt(12.0);
  noise->sigma = fmax(sqrt(variance / (double)count), least);
  noise->samples = count;
  return TL_OK;
}

TlStatus tl_noise_estimate(const TlVolume *grey, const TlRoi *roi, TlNoise *noise) {
  assert(grey->type == TL_F32);
  Sampler s = {.grey = grey, .roi = roi};
  bool constant;
  *noise = (TlNoise){0};
  TL_TRY(find_step(&s, &noise->level_step, &constant));
  if (constant)
    return tl_fail(TL_EINPUT, "every voxel of the region has the same grey: the stack is empty");
  TlStatus status = take_samples(&s);
  if (status == TL_OK) status = judge(&s, noise);
  tl_free(s.samples);
  return status;
}
