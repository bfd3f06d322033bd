#include "image/binarize.h"

#include "base/mem.h"
#include "image/gaussian.h"

#include <assert.h>
#include <math.h>

static const double BRIGHT_PART = 0.6; /* of the gap, above the grain mean: where greys are cut */

static double bright_cut(const TlHistogram *h) {
  TlSplit first = tl_histogram_otsu(h, INFINITY);
  return first.mean[1] + BRIGHT_PART * (first.mean[1] - first.mean[0]);
}

/* The least distance of two grey levels that occur; 0 for continuous greys. */
static double level_step(const TlHistogram *h) {
  int64_t last = -1, least = 0;
  for (int64_t i = 0; h->width == 1 && i < h->bins; i++) {
    if (h->count[i] == 0) continue;
    if (last >= 0 && (least == 0 || i - last < least)) least = i - last;
    last = i;
  }
  return (double)least;
}

/* Limits: see the measured cases in the header; half-way on a log scale between void and soil. */
static bool one_population(const TlShape *shape, double step) {
  if (shape->sd < 0.5 * step || shape->gaussian_distance < 0.02) return true;
  return shape->gaussian_distance < 0.06 && fabs(shape->skewness) < 0.5 && shape->kurtosis > 2.8;
}

/* The refusal of a stack with one phase only. */
static TlStatus check_two_phases(const TlVolume *grey, const TlRoi *roi, TlBinarizeResult *result) {
  TlVolume smooth;
  TlHistogram h = {0};
  TlShape shape = {0};
  TL_TRY(tl_histogram_new(grey, roi, &h));
  double step = level_step(&h);
  tl_histogram_free(&h);
  TL_TRY(tl_gaussian(grey, roi, 1, &smooth));
  TlStatus status = tl_histogram_new(&smooth, roi, &h);
  tl_volume_free(&smooth);
  if (status == TL_OK) shape = tl_histogram_shape(&h);
  tl_histogram_free(&h);
  if (status != TL_OK) return status;
  result->gaussian_distance = shape.gaussian_distance;
  if (!one_population(&shape, step)) return TL_OK;
  return tl_fail(TL_EINPUT,
                 "the greys are one population (sd %.3g, distance to a Gaussian %.4f, kurtosis "
                 "%.2f): the region is all void or all grain. If you know better, give "
                 "--method=threshold",
                 shape.sd, shape.gaussian_distance, shape.kurtosis);
}

static TlStatus find_split(const TlVolume *grey, const TlRoi *roi, const TlBinarizeOptions *o,
                           TlSplit *split) {
  TlHistogram h;
  TL_TRY(tl_histogram_new(grey, roi, &h));
  double most = bright_cut(&h);
  bool kmeans =
      o->method == TL_BINARIZE_KMEANS || (o->method == TL_BINARIZE_HMRF_EM && o->start_kmeans);
  if (o->method == TL_BINARIZE_THRESHOLD)
    *split = tl_histogram_split(&h, o->invert ? -o->threshold : o->threshold, INFINITY);
  else
    *split = kmeans ? tl_histogram_kmeans(&h, most) : tl_histogram_otsu(&h, most);
  tl_histogram_free(&h);
  if (split->share[0] > 0 && split->share[1] > 0) return TL_OK;
  return tl_fail(TL_EINPUT, "the threshold %g leaves no %s voxel", o->threshold,
                 split->share[0] > 0 ? "grain" : "void");
}

static TlStatus apply_threshold(const TlVolume *grey, const TlRoi *roi, double threshold,
                                TlVolume *mask) {
  TL_TRY(tl_volume_like(mask, grey, TL_U8));
#pragma omp parallel for
  for (int64_t z = 0; z < grey->nz; z++)
    for (int64_t y = 0; y < grey->ny; y++)
      for (int64_t x = 0; x < grey->nx; x++) {
        int64_t i = tl_volume_at(grey, x, y, z);
        mask->u8[i] = tl_roi_inside(roi, x, y, z) && (double)grey->f32[i] > threshold;
      }
  return TL_OK;
}

static void count_mask(const TlVolume *mask, const TlRoi *roi, TlBinarizeResult *result) {
  for (int64_t z = 0; z < mask->nz; z++)
    for (int64_t y = 0; y < mask->ny; y++)
      for (int64_t x = 0; x < mask->nx; x++) {
        if (!tl_roi_inside(roi, x, y, z)) continue;
        result->region_voxels++;
        result->grain_voxels += mask->u8[tl_volume_at(mask, x, y, z)];
      }
  result->porosity = 1 - (double)result->grain_voxels / (double)result->region_voxels;
}

static TlStatus classify(const TlVolume *grey, const TlRoi *roi, const TlBinarizeOptions *o,
                         TlVolume *mask, TlBinarizeResult *result) {
  if (o->method != TL_BINARIZE_THRESHOLD) TL_TRY(check_two_phases(grey, roi, result));
  TL_TRY(find_split(grey, roi, o, &result->split));
  TL_TRY(apply_threshold(grey, roi, result->split.threshold, mask));
  TlStatus status = TL_OK;
  if (o->method == TL_BINARIZE_HMRF_EM) status = tl_hmrf(grey, roi, &o->hmrf, mask, &result->hmrf);
  if (status == TL_OK && o->min_island > 0)
    status = tl_islands_remove(mask, roi, o->min_island, &result->islands_removed,
                               &result->holes_filled);
  if (status != TL_OK) tl_volume_free(mask);
  return status;
}

/* Dark grains: everything is done on negated greys and told in greys of the input. */
static TlStatus classify_negated(const TlVolume *grey, const TlRoi *roi, const TlBinarizeOptions *o,
                                 TlVolume *mask, TlBinarizeResult *result) {
  TlVolume negated;
  TL_TRY(tl_volume_like(&negated, grey, TL_F32));
  for (int64_t i = 0; i < tl_volume_count(grey); i++) negated.f32[i] = -grey->f32[i];
  TlStatus status = classify(&negated, roi, o, mask, result);
  tl_volume_free(&negated);
  result->split.threshold = -result->split.threshold;
  for (int k = 0; k < 2; k++) {
    result->split.mean[k] = -result->split.mean[k];
    result->hmrf.mean[k] = -result->hmrf.mean[k];
  }
  return status;
}

TlStatus tl_binarize(const TlVolume *grey, const TlRoi *roi, const TlBinarizeOptions *options,
                     TlVolume *mask, TlBinarizeResult *result) {
  assert(grey->type == TL_F32);
  *result = (TlBinarizeResult){0};
  if (options->invert)
    TL_TRY(classify_negated(grey, roi, options, mask, result));
  else
    TL_TRY(classify(grey, roi, options, mask, result));
  count_mask(mask, roi, result);
  return TL_OK;
}
