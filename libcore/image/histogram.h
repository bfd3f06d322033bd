/* Thresholds from the grey histogram: Otsu (Tan 2022 Eqs. 2.21-2.24; what is minimised there is
 * the within-class variance, Correction 29) and two-class k-means.
 *
 * The histogram keeps one bin a grey level where the greys are whole numbers (so a comb of few
 * levels is exact) and 16384 bins between least and greatest otherwise. */
#ifndef TL_IMAGE_HISTOGRAM_H
#define TL_IMAGE_HISTOGRAM_H

#include "image/source.h"

typedef struct TlHistogram {
  double low, width; /* bin i covers low + i width +- width/2 */
  int64_t bins, total;
  int64_t *count; /* owned */
} TlHistogram;

typedef struct TlSplit {
  double threshold; /* grain is above; half-way between the occurring levels on its two sides */
  double mean[2];   /* void, grain */
  double sd[2];
  double share[2]; /* of the voxels */
  double
      separability; /* between-class over total variance: 2/pi for one Gaussian, 1 for two spikes */
} TlSplit;

/* Histogram of the greys inside the region, read by slabs of `slab` slices (0: at once).
 * TL_EINPUT when the region is constant. */
TlStatus tl_histogram_source(const TlSource *grey, const TlRoi *roi, int64_t slab,
                             TlHistogram *histogram);
/* The same of a volume of any type. */
TlStatus tl_histogram_new(const TlVolume *grey, const TlRoi *roi, TlHistogram *histogram);
/* An empty histogram with the bins of another. */
TlStatus tl_histogram_like(const TlHistogram *model, TlHistogram *histogram);
/* Bin of a grey; greys off the ends go to the end bins. */
static inline int64_t tl_histogram_bin(const TlHistogram *h, double grey) {
  double at = (grey - h->low) / h->width + 0.5;
  return at < 0 ? 0 : at >= (double)h->bins ? h->bins - 1 : (int64_t)at;
}
/* Median of the counted greys, a bin's middle; NAN when there is none. */
double tl_histogram_median(const TlHistogram *histogram);
void tl_histogram_free(TlHistogram *histogram);

/* Greys above `most` count as `most` (bright minerals pull a threshold up; INFINITY: none). */
TlSplit tl_histogram_otsu(const TlHistogram *histogram, double most);
/* Lloyd's iteration from the mean of all. */
TlSplit tl_histogram_kmeans(const TlHistogram *histogram, double most);
/* Classes below and above a threshold given by hand; share[k] may be 0. */
TlSplit tl_histogram_split(const TlHistogram *histogram, double threshold, double most);

/* Fraction of the voxels below a grey; a bin counts by its part below. */
double tl_histogram_below(const TlHistogram *histogram, double grey);

/* Shape of the whole distribution. gaussian_distance: Kolmogorov distance to the Gaussian of the
 * same mean and sd: 0 for one Gaussian population, 0.06 for a uniform one, above 0.1 for two clear
 * phases. Kurtosis: 3 for a Gaussian, below for two phases of similar fractions, above for heavy tails. */
typedef struct TlShape {
  double sd, skewness, kurtosis, gaussian_distance;
} TlShape;
TlShape tl_histogram_shape(const TlHistogram *histogram);

/* The counts of the first `bins` bins, smoothed twice by running means over 2 half + 1 of them
 * (fewer at the ends). counts: new, the caller's. */
TlStatus tl_histogram_smoothed(const TlHistogram *histogram, int64_t bins, int64_t half,
                               double **counts);

#endif
