#include "image/histogram.h"

#include "base/mem.h"

#include <math.h>
#include <stdbool.h>

enum { MOST_LEVELS = 65536, REAL_BINS = 16384 };

typedef struct Range {
  float low, high;
  bool whole;
} Range;

/* What one pass over the greys does with a row of the region's voxels. */
typedef void (*Visit)(void *context, const float *row, int64_t n);

static TlStatus visit_all(const TlSource *grey, const TlRoi *roi, int64_t slab, Visit visit,
                          void *context) {
  float *slices, *row;
  int64_t plane = grey->nx * grey->ny, deepest = slab > 0 && slab < grey->nz ? slab : grey->nz;
  TL_TRY(TL_NEW(slices, (size_t)(deepest * plane)));
  TlStatus status = TL_NEW(row, (size_t)grey->nx);
  for (int64_t k = 0; status == TL_OK && k < tl_slab_count(grey->nz, slab); k++) {
    TlSlab s = tl_slab(grey->nz, slab, 0, k);
    status = tl_source_read(grey, s.begin, s.end - s.begin, slices);
    for (int64_t i = 0; status == TL_OK && i < (s.end - s.begin) * grey->ny; i++) {
      const float *from = slices + i * grey->nx;
      int64_t n = 0, z = s.begin + i / grey->ny, y = i % grey->ny;
      for (int64_t x = 0; x < grey->nx; x++)
        if (tl_roi_inside(roi, x, y, z)) row[n++] = from[x];
      visit(context, row, n);
    }
  }
  tl_free(slices);
  tl_free(row);
  return status;
}

static void find_range(void *context, const float *row, int64_t n) {
  Range *range = context;
  for (int64_t x = 0; x < n; x++) {
    range->low = row[x] < range->low ? row[x] : range->low;
    range->high = row[x] > range->high ? row[x] : range->high;
    range->whole = range->whole && row[x] == rintf(row[x]);
  }
}

static void tally(void *context, const float *row, int64_t n) {
  TlHistogram *h = context;
  for (int64_t x = 0; x < n; x++) h->count[tl_histogram_bin(h, row[x])]++;
  h->total += n;
}

TlStatus tl_histogram_source(const TlSource *grey, const TlRoi *roi, int64_t slab, TlHistogram *h) {
  Range range = {INFINITY, -INFINITY, true};
  *h = (TlHistogram){0};
  TL_TRY(visit_all(grey, roi, slab, find_range, &range));
  if (range.high < range.low)
    return tl_fail(TL_EINPUT, "no voxel lies in the region: there is nothing to tell grain from "
                              "void by");
  if (!(range.high > range.low))
    return tl_fail(TL_EINPUT,
                   "every voxel of the region has the same grey (%g): there is nothing "
                   "to tell grain from void by",
                   grey->negated ? -(double)range.low : (double)range.low);
  double span = (double)range.high - (double)range.low;
  range.whole = range.whole && span < MOST_LEVELS;
  h->low = range.low;
  h->bins = range.whole ? (int64_t)span + 1 : REAL_BINS;
  h->width = range.whole ? 1 : span / (REAL_BINS - 1);
  TL_TRY(TL_NEW(h->count, (size_t)h->bins));
  TlStatus status = visit_all(grey, roi, slab, tally, h);
  if (status != TL_OK) tl_histogram_free(h);
  return status;
}

TlStatus tl_histogram_new(const TlVolume *grey, const TlRoi *roi, TlHistogram *h) {
  TlSource source = tl_source_volume(grey);
  return tl_histogram_source(&source, roi, 0, h);
}

TlStatus tl_histogram_like(const TlHistogram *model, TlHistogram *h) {
  *h = (TlHistogram){.low = model->low, .width = model->width, .bins = model->bins};
  return TL_NEW(h->count, (size_t)h->bins);
}

double tl_histogram_median(const TlHistogram *h) {
  int64_t below = 0;
  for (int64_t i = 0; i < h->bins; i++) {
    below += h->count[i];
    if (below > 0 && 2 * below >= h->total) return h->low + h->width * (double)i;
  }
  return NAN;
}

void tl_histogram_free(TlHistogram *histogram) {
  tl_free(histogram->count);
  *histogram = (TlHistogram){0};
}

static double level(const TlHistogram *h, int64_t bin, double most) {
  return fmin(h->low + h->width * (double)bin, most);
}

/* Moments 0, 1, 2 of bins [begin, end). */
static void moments(const TlHistogram *h, int64_t begin, int64_t end, double most, double m[3]) {
  m[0] = m[1] = m[2] = 0;
  for (int64_t i = begin; i < end; i++) {
    double n = (double)h->count[i], g = level(h, i, most);
    m[0] += n;
    m[1] += n * g;
    m[2] += n * g * g;
  }
}

/* The split with bins [0, cut) below. Empty bins around the cut belong to neither side: the
 * threshold lies in the middle of the gap. */
static TlSplit split_at(const TlHistogram *h, int64_t cut, double most) {
  TlSplit s = {0};
  double m[2][3], within = 0, mean = 0, square = 0, n = (double)h->total;
  moments(h, 0, cut, most, m[0]);
  moments(h, cut, h->bins, most, m[1]);
  for (int k = 0; k < 2; k++) {
    s.fraction[k] = m[k][0] / n;
    s.mean[k] = m[k][0] > 0 ? m[k][1] / m[k][0] : 0;
    double variance = m[k][0] > 0 ? fmax(m[k][2] / m[k][0] - s.mean[k] * s.mean[k], 0) : 0;
    s.sd[k] = sqrt(variance);
    within += s.fraction[k] * variance;
    mean += m[k][1] / n;
    square += m[k][2] / n;
  }
  double total = square - mean * mean;
  s.separability = total > 0 ? 1 - within / total : 0;
  int64_t below = cut - 1, above = cut;
  while (below > 0 && h->count[below] == 0) below--;
  while (above < h->bins - 1 && h->count[above] == 0) above++;
  s.threshold = h->low + h->width * 0.5 * (double)(below + above);
  return s;
}

TlSplit tl_histogram_split(const TlHistogram *h, double threshold, double most) {
  double cut = ceil((threshold - h->low) / h->width);
  TlSplit s = split_at(h, (int64_t)fmin(fmax(cut, 0), (double)h->bins), most);
  s.threshold = threshold;
  return s;
}

TlSplit tl_histogram_otsu(const TlHistogram *h, double most) {
  double all[3], n = 0, sum = 0, best = -1;
  int64_t cut = 1;
  moments(h, 0, h->bins, most, all);
  for (int64_t i = 0; i + 1 < h->bins; i++) {
    n += (double)h->count[i];
    sum += (double)h->count[i] * level(h, i, most);
    if (n <= 0 || n >= all[0]) continue;
    double gap = sum / n - (all[1] - sum) / (all[0] - n);
    double between = n * (all[0] - n) * gap * gap;
    if (between > best) {
      best = between;
      cut = i + 1;
    }
  }
  return split_at(h, cut, most);
}

TlSplit tl_histogram_kmeans(const TlHistogram *h, double most) {
  double all[3];
  moments(h, 0, h->bins, most, all);
  double threshold = all[1] / all[0], last = -INFINITY;
  TlSplit s = {0};
  for (int round = 0; round < 200 && threshold != last; round++) {
    double cut = ceil((threshold - h->low) / h->width);
    s = split_at(h, (int64_t)fmin(fmax(cut, 1), (double)h->bins - 1), most);
    last = threshold;
    threshold = 0.5 * (s.mean[0] + s.mean[1]);
  }
  s.threshold = threshold;
  return s;
}

TlShape tl_histogram_shape(const TlHistogram *h) {
  double m[3], n = (double)h->total, below = 0;
  moments(h, 0, h->bins, INFINITY, m);
  double mean = m[1] / n;
  TlShape s = {.sd = sqrt(fmax(m[2] / n - mean * mean, 0))};
  for (int64_t i = 0; s.sd > 0 && i < h->bins; i++) {
    double count = (double)h->count[i], d = (level(h, i, INFINITY) - mean) / s.sd;
    s.skewness += count * d * d * d / n;
    s.kurtosis += count * d * d * d * d / n;
    double middle = (below + 0.5 * count) / n; /* ties lie around their level */
    s.gaussian_distance = fmax(s.gaussian_distance, fabs(middle - 0.5 * erfc(-d / M_SQRT2)));
    below += count;
  }
  return s;
}

double tl_histogram_below(const TlHistogram *h, double grey) {
  double sum = 0, at = (grey - h->low) / h->width + 0.5; /* bins below */
  for (int64_t i = 0; i < h->bins && (double)i < at; i++)
    sum += (double)h->count[i] * fmin(1, at - (double)i);
  return h->total > 0 ? sum / (double)h->total : 0;
}

/* from and to differ. */
static void running_means(const double *from, int64_t n, int64_t half, double *to) {
  for (int64_t i = 0; i < n; i++) {
    int64_t low = i > half ? i - half : 0, high = i + half < n ? i + half : n - 1;
    double sum = 0;
    for (int64_t k = low; k <= high; k++) sum += from[k];
    to[i] = sum / (double)(high - low + 1);
  }
}

TlStatus tl_histogram_smoothed(const TlHistogram *h, int64_t bins, int64_t half, double **counts) {
  double *once;
  *counts = NULL;
  TL_TRY(TL_NEW(once, (size_t)bins));
  TlStatus status = TL_NEW(*counts, (size_t)bins);
  if (status == TL_OK) {
    for (int64_t i = 0; i < bins; i++) (*counts)[i] = (double)h->count[i];
    running_means(*counts, bins, half, once);
    running_means(once, bins, half, *counts);
  }
  tl_free(once);
  return status;
}
