#include "image/histogram.h"

#include "base/mem.h"

#include <assert.h>
#include <math.h>

static const double SETTLED = 1e-10;     /* of the energy a round */
static const int64_t PEAK_WINDOWS = 200; /* of all bins: counts are smoothed over one */
static const double PEAK_HEIGHT = 0.02;  /* of the highest: peaks less clear do not count */

static double level(const TlHistogram *h, int64_t bin, double most) {
  return fmin(h->low + h->width * (double)bin, most);
}

/* log of pi_l N(y; mu_l, S_l / w_l). */
static double log_part(const TlMixture *m, int l, double y, bool weighted) {
  double w = weighted ? m->weight[l] : 1, d = (y - m->mean[l]) / m->sd[l];
  return log(m->fraction[l]) + 0.5 * log(w) - log(m->sd[l]) - 0.5 * w * d * d - 0.5 * log(2 * M_PI);
}

/* Posterior of each class; returns the log of the mixture's density. */
static double posterior(const TlMixture *m, double y, double q[TL_MIXTURE_MOST]) {
  double most = -INFINITY, sum = 0;
  for (int l = 0; l < m->classes; l++) {
    q[l] = log_part(m, l, y, true);
    most = fmax(most, q[l]);
  }
  for (int l = 0; l < m->classes; l++) sum += q[l] = exp(q[l] - most);
  for (int l = 0; l < m->classes; l++) q[l] /= sum;
  return most + log(sum);
}

typedef struct Sums {
  double n, y, square;
} Sums;

/* Sums of the posterior over the histogram; returns the energy a voxel of the present parameters.
 */
static double expect(const TlHistogram *h, const TlMixture *m, double most,
                     Sums sums[TL_MIXTURE_MOST]) {
  double energy = 0;
  for (int l = 0; l < m->classes; l++) sums[l] = (Sums){0};
  for (int64_t i = 0; i < h->bins; i++) {
    double q[TL_MIXTURE_MOST], y = level(h, i, most), n = (double)h->count[i];
    if (h->count[i] == 0) continue;
    energy -= n * posterior(m, y, q);
    for (int l = 0; l < m->classes; l++) {
      double d = y - m->mean[l];
      sums[l].n += n * q[l];
      sums[l].y += n * q[l] * d;
      sums[l].square += n * q[l] * d * d;
    }
  }
  return energy / (double)h->total;
}

static void maximise(const TlHistogram *h, const Sums sums[TL_MIXTURE_MOST], double least_sd,
                     TlMixture *m) {
  for (int l = 0; l < m->classes; l++) {
    if (sums[l].n < 1e-9 * (double)h->total) continue; /* a class that lost its voxels stays put */
    double shift = sums[l].y / sums[l].n;
    double variance = m->weight[l] * (sums[l].square / sums[l].n - shift * shift);
    m->fraction[l] = sums[l].n / (double)h->total;
    m->mean[l] += shift;
    m->sd[l] = sqrt(fmax(variance, m->weight[l] * least_sd * least_sd));
  }
}

/* Means at the most prominent peaks; false where there are fewer peaks than classes. A peak's
 * prominence is its height above the higher of the two valleys between it and higher counts. */
static bool start_at_peaks(const TlHistogram *h, const double *count, double most, double spread,
                           TlMixture *m) {
  double prominence[TL_MIXTURE_MOST] = {0}, highest = 0;
  int64_t last = 0;
  while (last + 1 < h->bins && h->low + h->width * (double)last < most) last++;
  for (int64_t i = 0; i <= last; i++) {
    double side[2] = {count[i], count[i]}, here;
    highest = fmax(highest, count[i]);
    if ((i > 0 && count[i - 1] >= count[i]) || (i < last && count[i + 1] > count[i])) continue;
    for (int k = 0; k < 2; k++) {
      int64_t step = k ? 1 : -1, j = i;
      while (j >= 0 && j <= last && count[j] <= count[i]) {
        side[k] = fmin(side[k], count[j]);
        j += step;
      }
      if (j < 0 || j > last) side[k] = 0; /* nothing higher on this side */
    }
    here = count[i] - fmax(side[0], side[1]);
    for (int l = 0; l < m->classes; l++) {
      if (here <= prominence[l]) continue;
      for (int k = m->classes - 1; k > l; k--) {
        prominence[k] = prominence[k - 1];
        m->mean[k] = m->mean[k - 1];
      }
      prominence[l] = here;
      m->mean[l] = level(h, i, most);
      break;
    }
  }
  if (!(prominence[m->classes - 1] > PEAK_HEIGHT * highest)) return false;
  for (int a = 0; a < m->classes; a++) /* weights are given by grey */
    for (int b = a + 1; b < m->classes; b++)
      if (m->mean[b] < m->mean[a]) {
        double darker = m->mean[b];
        m->mean[b] = m->mean[a], m->mean[a] = darker;
      }
  for (int l = 0; l < m->classes; l++) {
    double nearest = INFINITY;
    for (int k = 0; k < m->classes; k++)
      if (k != l) nearest = fmin(nearest, fabs(m->mean[k] - m->mean[l]));
    m->fraction[l] = 1.0 / m->classes;
    m->sd[l] = sqrt(m->weight[l]) * fmax(nearest / 6, spread);
  }
  return true;
}

/* Means at even quantiles, moved by k-means. */
static void start_at_quantiles(const TlHistogram *h, double most, double spread, TlMixture *m) {
  int64_t seen = 0;
  int k = 0;
  for (int64_t i = 0; i < h->bins; i++) {
    seen += h->count[i];
    while (k < m->classes && 2 * m->classes * seen >= (2 * k + 1) * h->total)
      m->mean[k++] = level(h, i, most);
  }
  for (int round = 0; round < 100; round++) {
    double n[TL_MIXTURE_MOST] = {0}, sum[TL_MIXTURE_MOST] = {0}, square[TL_MIXTURE_MOST] = {0};
    for (int64_t i = 0; i < h->bins; i++) {
      double y = level(h, i, most), c = (double)h->count[i];
      int best = 0;
      for (int l = 1; l < m->classes; l++)
        if (fabs(y - m->mean[l]) < fabs(y - m->mean[best])) best = l;
      n[best] += c;
      sum[best] += c * y;
      square[best] += c * y * y;
    }
    for (int l = 0; l < m->classes; l++) {
      m->fraction[l] = fmax(n[l] / (double)h->total, 1e-6);
      if (n[l] > 0) m->mean[l] = sum[l] / n[l];
      double variance = n[l] > 0 ? square[l] / n[l] - m->mean[l] * m->mean[l] : 0;
      m->sd[l] = sqrt(m->weight[l]) * sqrt(fmax(variance, spread * spread));
    }
  }
}

/* Where labels l and l + 1 are as likely, between their means; S as it is (2.39). */
static double border(const TlMixture *m, int l) {
  double low = m->mean[l], high = m->mean[l + 1];
  for (int k = 0; k < 60; k++) {
    double y = 0.5 * (low + high);
    if (log_part(m, l, y, false) > log_part(m, l + 1, y, false))
      low = y;
    else
      high = y;
  }
  return 0.5 * (low + high);
}

static void order(TlMixture *m) {
  for (int a = 0; a < m->classes; a++)
    for (int b = a + 1; b < m->classes; b++) {
      if (m->mean[a] <= m->mean[b]) continue;
      double t[4] = {m->mean[a], m->sd[a], m->fraction[a], m->weight[a]};
      m->mean[a] = m->mean[b], m->sd[a] = m->sd[b];
      m->fraction[a] = m->fraction[b], m->weight[a] = m->weight[b];
      m->mean[b] = t[0], m->sd[b] = t[1], m->fraction[b] = t[2], m->weight[b] = t[3];
    }
}

static int64_t levels_of(const TlHistogram *h, double most) {
  int64_t n = 0;
  for (int64_t i = 0; i < h->bins; i++)
    n += h->count[i] > 0 && h->low + h->width * (double)i <= most;
  return n;
}

static void descend(const TlHistogram *h, double most, double least_sd, TlMixture *m) {
  Sums sums[TL_MIXTURE_MOST];
  m->energy[0] = expect(h, m, most, sums);
  while (m->rounds < TL_MIXTURE_ROUNDS) {
    TlMixture before = *m;
    maximise(h, sums, least_sd, m);
    double now = expect(h, m, most, sums), last = before.energy[before.rounds];
    if (!(now <= last)) { /* rounding, at rest */
      *m = before;
      return;
    }
    m->energy[++m->rounds] = now;
    if (last - now <= SETTLED * fabs(now)) return;
  }
}

TlStatus tl_mixture_fit(const TlHistogram *h, int classes, const double *weights, double floor,
                        double most, TlMixture *m) {
  assert(classes >= TL_MIXTURE_LEAST && classes <= TL_MIXTURE_MOST && floor > 0);
  *m = (TlMixture){.classes = classes};
  for (int l = 0; l < classes; l++) m->weight[l] = weights ? weights[l] : 1;
  if (levels_of(h, most) < classes)
    return tl_fail(TL_EINPUT, "the greys have fewer levels than the %d phases asked for", classes);
  double least_sd = floor * tl_histogram_split(h, h->low + h->width, most).sd[1];
  least_sd = fmax(least_sd, 0.3 * h->width);
  TlMixture peaks = *m;
  double *count;
  start_at_quantiles(h, most, least_sd, m);
  descend(h, most, least_sd, m);
  TL_TRY(tl_histogram_smoothed(h, h->bins, h->bins / PEAK_WINDOWS / 2, &count));
  if (start_at_peaks(h, count, most, least_sd, &peaks)) {
    descend(h, most, least_sd, &peaks);
    if (peaks.energy[peaks.rounds] < m->energy[m->rounds]) *m = peaks;
  }
  tl_free(count);
  order(m);
  for (int l = 0; l + 1 < classes; l++) m->border[l] = border(m, l);
  return TL_OK;
}
