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
  double fraction[2]; /* of the voxels */
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
/* Classes below and above a threshold given by hand; fraction[k] may be 0. */
TlSplit tl_histogram_split(const TlHistogram *histogram, double threshold, double most);

/* Fraction of the voxels below a grey; a bin counts by its part below. */
double tl_histogram_below(const TlHistogram *histogram, double grey);

/* Shape of the whole distribution. gaussian_distance: Kolmogorov distance to the Gaussian of the
 * same mean and sd: 0 for one Gaussian population, 0.06 for a uniform one, above 0.1 for two clear
 * phases. Kurtosis: 3 for a Gaussian, below for two phases of similar fractions, above for heavy
 * tails. */
typedef struct TlShape {
  double sd, skewness, kurtosis, gaussian_distance;
} TlShape;
TlShape tl_histogram_shape(const TlHistogram *histogram);

/* The counts of the first `bins` bins, smoothed twice by running means over 2 half + 1 of them
 * (fewer at the ends). counts: new, the caller's. */
TlStatus tl_histogram_smoothed(const TlHistogram *histogram, int64_t bins, int64_t half,
                               double **counts);

/* Mixture of 2 to 4 Gaussians on a grey histogram by weighted expectation-maximisation (Tan 2022
 * Eqs. 2.26-2.35), in logarithms. Phases are ordered by grey: void, then what is brighter.
 *
 * E (2.31): q_l ~ pi_l N(y; mu_l, S_l / w_l); M (2.33-2.35). With one weight a class the weights
 * cancel between 2.31 and 2.35 (S_l grows by w_l): they tell where the labels' borders lie, for the
 * labels (2.37-2.39) take S_l as it is. S_l is not let below (floor times the histogram's
 * spread)^2. The free energy -F falls in each round. There are two starts, k-means from even
 * quantiles and the histogram's most prominent peaks (where there are as many as classes); what
 * ends with the lower energy is taken. */

enum { TL_MIXTURE_LEAST = 2, TL_MIXTURE_MOST = 4, TL_MIXTURE_ROUNDS = 200 };

typedef struct TlMixture {
  int classes;
  double weight[TL_MIXTURE_MOST];                    /* w_l as given */
  double mean[TL_MIXTURE_MOST], sd[TL_MIXTURE_MOST]; /* sd: square root of S_l */
  double fraction[TL_MIXTURE_MOST];                  /* pi_l */
  double border[TL_MIXTURE_MOST - 1]; /* grey where labels l and l + 1 are as likely (2.36) */
  int rounds;
  double energy[TL_MIXTURE_ROUNDS + 1]; /* -log likelihood a voxel; never rises */
} TlMixture;

/* weights: one a class, > 0, or NULL for 1; floor: e.g. 0.01. Greys above `most` count as `most`.
 * TL_EINPUT when the histogram has fewer levels than classes. */
TlStatus tl_mixture_fit(const TlHistogram *histogram, int classes, const double *weights,
                        double floor, double most, TlMixture *mixture);

#endif
