#include "image/noise.h"

#include "base/mem.h"
#include "num/quantile.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

enum { CUBE = 12, REACH = 4, MOST_CUBES = 700, CLASSES = 8, LEVELS = 65536 };

typedef struct Sample {
  float level, slope, residual;
  float axis[3]; /* of the masks with [1 0 -1] along one axis */
} Sample;

/* Layers of the stack in memory, in which one row of cubes is sampled. */
typedef struct Sampler {
  const TlLayers *stack;
  const TlRoi *roi;
  TlVolume band; /* F32 */
  int64_t band_z;
  Sample *samples;
  size_t count, capacity;
  uint8_t *seen; /* grey levels that occur, while all are whole */
  bool whole;
  float low, high;
} Sampler;

/* Mean of the 3 x 3 x 3 box around voxel i. */
static float box_mean(const float *a, int64_t row, int64_t plane) {
  float sum = 0;
  for (int64_t k = -plane; k <= plane; k += plane)
    for (int64_t j = -row; j <= row; j += row) sum += a[k + j - 1] + a[k + j] + a[k + j + 1];
  return sum / 27;
}

/* The masks at once: of each line along x its second and its first difference, then across. */
static void residuals(const float *a, int64_t row, int64_t plane, Sample *s) {
  static const float second[3] = {1, -2, 1}, first[3] = {1, 0, -1};
  s->residual = s->axis[0] = s->axis[1] = s->axis[2] = 0;
  for (int k = 0; k < 3; k++)
    for (int j = 0; j < 3; j++) {
      const float *line = a + (k - 1) * plane + (j - 1) * row;
      float bend = line[-1] - 2 * line[0] + line[1], slope = line[-1] - line[1];
      s->residual += second[k] * second[j] * bend;
      s->axis[0] += second[k] * second[j] * slope;
      s->axis[1] += second[k] * first[j] * bend;
      s->axis[2] += first[k] * second[j] * bend;
    }
}

static bool surroundings_inside(const TlRoi *roi, int64_t x, int64_t y, int64_t z) {
  if (roi->kind == TL_ROI_ALL) return true;
  for (int64_t d = -REACH; d <= REACH; d += REACH)
    if (!tl_roi_inside(roi, x + d, y, z) || !tl_roi_inside(roi, x, y + d, z) ||
        !tl_roi_inside(roi, x, y, z + d))
      return false;
  return true;
}

/* x, y, z in the stack. */
static void sample_voxel(Sampler *s, int64_t x, int64_t y, int64_t z) {
  const TlVolume *v = &s->band;
  int64_t row = v->nx, plane = v->nx * v->ny, step[3] = {1, row, plane};
  const float *a = v->f32 + tl_volume_at(v, x, y, z - s->band_z);
  if (!surroundings_inside(s->roi, x, y, z)) return;
  Sample *sample = &s->samples[s->count++];
  float slope = 0, level = 0;
  for (int k = 0; k < 3; k++) {
    float ahead = box_mean(a + 3 * step[k], row, plane);
    float behind = box_mean(a - 3 * step[k], row, plane);
    slope += (ahead - behind) * (ahead - behind);
    level += ahead + behind;
  }
  sample->level = level / 6;
  sample->slope = slope;
  residuals(a, row, plane, sample);
}

static void note_level(Sampler *s, float g) {
  s->low = g < s->low ? g : s->low;
  s->high = g > s->high ? g : s->high;
  s->whole = s->whole && g == rintf(g) && g >= -LEVELS && g < LEVELS;
  if (s->whole) s->seen[(int)g + LEVELS] = 1;
}

/* Part k of count of n voxels, at most CUBE of them. */
static void part_of(int64_t n, int64_t k, int64_t count, int64_t *begin, int64_t *end) {
  int64_t next = REACH + n * (k + 1) / count;
  *begin = REACH + n * k / count;
  *end = *begin + CUBE < next ? *begin + CUBE : next;
}

static TlStatus load_band(Sampler *s, int64_t begin, int64_t end) {
  tl_volume_free(&s->band);
  s->band_z = begin;
  return tl_layers_grey(s->stack, begin, end - begin, &s->band);
}

/* What is wrong with the voxels themselves comes first. */
static TlStatus too_thin(Sampler *s, const int64_t n[3]) {
  TL_TRY(load_band(s, 0, n[2] < 2 * REACH + 1 ? n[2] : 2 * REACH + 1));
  return tl_fail(TL_EINPUT,
                 "a stack of %lld x %lld x %lld voxels is too thin to estimate the noise "
                 "(%d wanted); give --sigma-noise",
                 (long long)n[0], (long long)n[1], (long long)n[2], 2 * REACH + 1);
}

/* Cubes on an even grid with at most MOST_CUBES of them, a row of layers at a time. */
static TlStatus take_samples(Sampler *s) {
  int64_t n[3] = {s->stack->head.nx, s->stack->head.ny, s->stack->head.nz}, usable[3], cubes[3];
  double all = 1;
  for (int a = 0; a < 3; a++) {
    usable[a] = n[a] - 2 * REACH;
    if (usable[a] < 1) return too_thin(s, n);
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
  for (int64_t c = 0; c < cubes[2]; c++) {
    int64_t begin[3], end[3];
    part_of(usable[2], c, cubes[2], &begin[2], &end[2]);
    TL_TRY(load_band(s, begin[2] - REACH, end[2] + REACH));
    for (int64_t i = 0; i < tl_volume_count(&s->band); i++)
      if (tl_roi_inside(s->roi, i % n[0], i / n[0] % n[1], s->band_z + i / n[0] / n[1]))
        note_level(s, s->band.f32[i]);
    for (int64_t k = 0; k < cubes[0] * cubes[1]; k++) {
      part_of(usable[0], k % cubes[0], cubes[0], &begin[0], &end[0]);
      part_of(usable[1], k / cubes[0], cubes[1], &begin[1], &end[1]);
      for (int64_t z = begin[2]; z < end[2]; z++)
        for (int64_t y = begin[1]; y < end[1]; y++)
          for (int64_t x = begin[0]; x < end[0]; x++) sample_voxel(s, x, y, z);
    }
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

/* What one grey class says: variances of the noise by the mask and by those with a first
 * difference along an axis. */
typedef struct Class {
  double narrow, axis[3];
} Class;

static double median_square(float *a, int64_t n, double step, double gain) {
  double sd = spread_median(a, n, step) / 0.674489750196082;
  return sd * sd / gain;
}

/* scratch: count floats. */
static void judge_class(const Sample *samples, int64_t count, double step, float *scratch,
                        Class *c) {
  for (int64_t i = 0; i < count; i++) scratch[i] = samples[i].slope;
  float flat = tl_select(scratch, count, count / 3);
  int64_t kept = 0;
  for (int64_t i = 0; i < count; i++)
    if (samples[i].slope <= flat) scratch[kept++] = fabsf(samples[i].residual);
  c->narrow = median_square(scratch, kept, step, 216);
  for (int axis = 0; axis < 3; axis++) {
    kept = 0;
    for (int64_t i = 0; i < count; i++)
      if (samples[i].slope <= flat) scratch[kept++] = fabsf(samples[i].axis[axis]);
    c->axis[axis] = median_square(scratch, kept, step, 72);
  }
}

/* f(rho) of the header and its ratio to 1 - rho(2), for a Gaussian blur. */
static double fraction_left(double rho) {
  return 1 - 4 * rho / 3 + rho * rho * rho * rho / 3;
}

/* rho with fraction_left(rho) / (1 - rho^4) = ratio; the left side falls with rho. */
static double correlation_of(double ratio) {
  double low = 0, high = 0.95;
  if (!(ratio < 1)) return 0;
  for (int k = 0; k < 50; k++) {
    double rho = (low + high) / 2;
    if (fraction_left(rho) / (1 - rho * rho * rho * rho) > ratio)
      low = rho;
    else
      high = rho;
  }
  return low;
}

static int by_level(const void *a, const void *b) {
  float p = ((const Sample *)a)->level, q = ((const Sample *)b)->level;
  return p < q ? -1 : p > q;
}

/* The least step between grey levels when all are whole numbers; 0 otherwise. */
static double least_step(const Sampler *s) {
  int last = -1, least = 0;
  for (int i = 0; i < 2 * LEVELS && s->whole; i++) {
    if (!s->seen[i]) continue;
    if (last >= 0 && (least == 0 || i - last < least)) least = i - last;
    last = i;
  }
  return least;
}

static TlStatus judge(Sampler *s, TlNoise *noise) {
  float *scratch;
  Class all = {0};
  if (!(s->high > s->low))
    return tl_fail(TL_EINPUT, "every voxel of the region has the same grey: the stack is empty");
  if (s->count < 500)
    return tl_fail(TL_EINPUT, "only %lld voxels to estimate the noise from; give --sigma-noise",
                   (long long)s->count);
  TL_TRY(TL_NEW(scratch, s->count));
  noise->level_step = least_step(s);
  qsort(s->samples, s->count, sizeof *s->samples, by_level);
  int64_t count = (int64_t)s->count;
  for (int k = 0; k < CLASSES; k++) {
    int64_t begin = count * k / CLASSES, end = count * (k + 1) / CLASSES;
    double fraction = (double)(end - begin) / (double)count;
    Class c;
    judge_class(s->samples + begin, end - begin, noise->level_step, scratch, &c);
    if (k == 0) noise->darkest = sqrt(c.narrow);
    noise->brightest = sqrt(c.narrow);
    all.narrow += fraction * c.narrow;
    for (int axis = 0; axis < 3; axis++) all.axis[axis] += fraction * c.axis[axis];
  }
  tl_free(scratch);
  double least = noise->level_step / sqrt(12.0), left = 1;
  for (int axis = 0; axis < 3; axis++) {
    /* Noise below the steps of the greys is their rounding, which says nothing of neighbours. */
    bool resolved = all.axis[axis] > noise->level_step * noise->level_step / 4;
    noise->rho[axis] = resolved ? correlation_of(all.narrow / all.axis[axis]) : 0;
    noise->correlated = noise->correlated || noise->rho[axis] > TL_NOISE_CORRELATED;
    left *= fraction_left(noise->rho[axis]);
  }
  noise->narrow = fmax(sqrt(all.narrow), least);
  noise->sigma = noise->correlated ? fmax(sqrt(all.narrow / left), least) : noise->narrow;
  noise->samples = count;
  return TL_OK;
}

int64_t tl_noise_sample_bytes(void) {
  return (int64_t)MOST_CUBES * CUBE * CUBE * CUBE * (int64_t)(2 * sizeof(Sample) + sizeof(float));
}

TlStatus tl_noise_estimate_layers(const TlLayers *stack, const TlRoi *roi, TlNoise *noise) {
  Sampler s = {.stack = stack, .roi = roi, .whole = true, .low = INFINITY, .high = -INFINITY};
  *noise = (TlNoise){0};
  TL_TRY(TL_NEW(s.seen, 2 * LEVELS));
  TlStatus status = take_samples(&s);
  if (status == TL_OK) status = judge(&s, noise);
  tl_volume_free(&s.band);
  tl_free(s.samples);
  tl_free(s.seen);
  return status;
}

TlStatus tl_noise_estimate(const TlVolume *grey, const TlRoi *roi, TlNoise *noise) {
  TlLayers layers;
  tl_layers_of(grey, &layers);
  return tl_noise_estimate_layers(&layers, roi, noise);
}
