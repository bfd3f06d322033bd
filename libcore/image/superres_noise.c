/* The noise of a coarse stack (superres.h): grains may be a few voxels across, so flat is judged
 * within the 3 x 3 x 3 voxels of the mask itself. Of their energy about their mean the part that is
 * not the mask's is orthogonal to it: for white noise the two are independent, and choosing places
 * by the one does not bias the other. */
#include "base/mem.h"
#include "image/superres.h"
#include "num/quantile.h"

#include <math.h>

enum {
  MOST_BANDS = 64,
  MOST_SAMPLES = 400000,
  LEAST_SAMPLES = 400,
  PARTS = 4,
  FLAT = 10,
  MOST_FLAT = 2000
};

typedef struct Sample {
  float level, bend, residual; /* mean; energy of the rest; the mask's answer */
} Sample;

typedef struct Samples {
  Sample *sample;
  int64_t count;
} Samples;

static Sample look(const TlVolume *band, int64_t at) {
  static const float second[3] = {1, -2, 1};
  int64_t row = band->nx, plane = row * band->ny;
  float middle = band->f32[at], residual = 0;
  double sum = 0, squares = 0;
  for (int k = 0; k < 3; k++)
    for (int j = 0; j < 3; j++)
      for (int i = 0; i < 3; i++) {
        float v = band->f32[at + (k - 1) * plane + (j - 1) * row + i - 1] - middle;
        residual += second[k] * second[j] * second[i] * v;
        sum += (double)v;
        squares += (double)v * (double)v;
      }
  double mask = (double)residual * (double)residual / 216;
  return (Sample){.level = (float)((double)middle + sum / 27),
                  .bend = (float)(squares - sum * sum / 27 - mask),
                  .residual = fabsf(residual)};
}

static bool all_inside(const TlRoi *roi, int64_t x, int64_t y, int64_t z) {
  if (roi->kind == TL_ROI_ALL) return true;
  for (int c = 0; c < 8; c++)
    if (!tl_roi_inside(roi, x + (c & 1 ? 1 : -1), y + (c & 2 ? 1 : -1), z + (c & 4 ? 1 : -1)))
      return false;
  return true;
}

/* Layers z - 1 to z + 1; every step-th of their places. */
static TlStatus sample_layer(const TlLayers *stack, const TlRoi *roi, int64_t z, int64_t step,
                             Samples *s) {
  int64_t nx = stack->head.nx, ny = stack->head.ny, places = (nx - 2) * (ny - 2);
  TlVolume band;
  TL_TRY(tl_layers_grey(stack, z - 1, 3, &band));
  for (int64_t i = 0; i < places; i += step) {
    int64_t x = 1 + i % (nx - 2), y = 1 + i / (nx - 2);
    if (all_inside(roi, x, y, z)) s->sample[s->count++] = look(&band, tl_volume_at(&band, x, y, 1));
  }
  tl_volume_free(&band);
  return TL_OK;
}

static TlStatus take_samples(const TlLayers *stack, const TlRoi *roi, Samples *s) {
  const TlVolume *head = &stack->head;
  int64_t nz = head->nz - 2, bands = nz < MOST_BANDS ? nz : MOST_BANDS;
  int64_t places = (head->nx - 2) * (head->ny - 2), each = MOST_SAMPLES / MOST_BANDS;
  if (head->nx < 3 || head->ny < 3 || nz < 1)
    return tl_fail(TL_EINPUT,
                   "a stack of %lld x %lld x %lld voxels is too thin to estimate the "
                   "noise; give --sigma-noise",
                   (long long)head->nx, (long long)head->ny, (long long)head->nz);
  int64_t step = (places + each - 1) / each;
  TL_TRY(TL_NEW(s->sample, (size_t)(bands * ((places + step - 1) / step))));
  for (int64_t b = 0; b < bands; b++) TL_TRY(sample_layer(stack, roi, 1 + nz * b / bands, step, s));
  return s->count >= LEAST_SAMPLES
             ? TL_OK
             : tl_fail(TL_EINPUT, "only %lld voxels to estimate the noise from; give --sigma-noise",
                       (long long)s->count);
}

/* Variance of the noise in the quarter of the samples with the lowest (sign 1) or highest (-1)
 * grey. scratch: count floats. */
static double of_quarter(const Samples *s, float sign, float *scratch) {
  int64_t kept = 0, n = 0;
  for (int64_t i = 0; i < s->count; i++) scratch[i] = sign * s->sample[i].level;
  float level = tl_select(scratch, s->count, s->count / PARTS);
  for (int64_t i = 0; i < s->count; i++)
    if (sign * s->sample[i].level <= level) scratch[kept++] = s->sample[i].bend;
  int64_t wanted = kept / FLAT < MOST_FLAT ? kept / FLAT : MOST_FLAT;
  float flat = tl_select(scratch, kept, wanted);
  for (int64_t i = 0; i < s->count; i++)
    if (sign * s->sample[i].level <= level && s->sample[i].bend <= flat)
      scratch[n++] = s->sample[i].residual;
  double sd = (double)tl_select(scratch, n, n / 2) / 0.674489750196082;
  return sd * sd / 216;
}

TlStatus tl_superres_noise(const TlLayers *stack, const TlRoi *roi, double *sigma) {
  Samples s = {0};
  float *scratch = NULL;
  TlStatus status = take_samples(stack, roi, &s);
  if (status == TL_OK) status = TL_NEW(scratch, (size_t)s.count);
  if (status == TL_OK)
    *sigma = sqrt((of_quarter(&s, 1, scratch) + of_quarter(&s, -1, scratch)) / 2);
  tl_free(s.sample);
  tl_free(scratch);
  return status;
}
