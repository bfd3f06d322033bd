/* Mixture of 2 to 4 Gaussians on a grey histogram by weighted expectation-maximisation (Tan 2022
 * Eqs. 2.26-2.35), in logarithms. Phases are ordered by grey: void, then what is brighter.
 *
 * E (2.31): q_l ~ pi_l N(y; mu_l, S_l / w_l); M (2.33-2.35). With one weight a class the weights
 * cancel between 2.31 and 2.35 (S_l grows by w_l): they tell where the labels' borders lie, for the
 * labels (2.37-2.39) take S_l as it is. S_l is not let below (floor times the histogram's
 * spread)^2. The free energy -F falls in each round. There are two starts, k-means from even
 * quantiles and the histogram's most prominent peaks (where there are as many as classes); what
 * ends with the lower energy is taken. */
#ifndef TL_IMAGE_MIXTURE_H
#define TL_IMAGE_MIXTURE_H

#include "image/histogram.h"

enum { TL_MIXTURE_LEAST = 2, TL_MIXTURE_MOST = 4, TL_MIXTURE_ROUNDS = 200 };

typedef struct TlMixture {
  int classes;
  double weight[TL_MIXTURE_MOST];                    /* w_l as given */
  double mean[TL_MIXTURE_MOST], sd[TL_MIXTURE_MOST]; /* sd: square root of S_l */
  double share[TL_MIXTURE_MOST];                     /* pi_l */
  double border[TL_MIXTURE_MOST - 1]; /* grey where labels l and l + 1 are as likely (2.36) */
  int rounds;
  double energy[TL_MIXTURE_ROUNDS + 1]; /* -log likelihood a voxel; never rises */
} TlMixture;

/* weights: one a class, > 0, or NULL for 1; floor: e.g. 0.01. Greys above `most` count as `most`.
 * TL_EINPUT when the histogram has fewer levels than classes. */
TlStatus tl_mixture_fit(const TlHistogram *histogram, int classes, const double *weights,
                        double floor, double most, TlMixture *mixture);

#endif
