#include "post/packing_forces.h"

static const double NEAR = 0.99;

bool tl_pair_slides(const TlPackPair *pair) {
  return pair->tangent_N >= NEAR * pair->friction * pair->normal_N;
}

bool tl_pair_in(const TlPacking *p, const TlRegion *region, const TlPackPair *pair) {
  if (pair->b < 0) return false;
  TlVec3 sum = tl_add(p->grain[pair->a].centre_m, p->grain[pair->b].centre_m);
  return tl_region_depth(region, tl_scale(0.5, sum)) >= 0;
}

static double fraction(int64_t part, int64_t all) {
  return all ? (double)part / (double)all : NAN;
}

static double mean_force(const TlPacking *p, const TlRegion *region, int64_t *pairs) {
  double sum = 0;
  *pairs = 0;
  for (int64_t k = 0; k < p->pair_count; k++) {
    if (!tl_pair_in(p, region, &p->pair[k])) continue;
    sum += p->pair[k].normal_N;
    ++*pairs;
  }
  return *pairs ? sum / (double)*pairs : NAN;
}

TlForces tl_forces_of(const TlPacking *p, const TlRegion *region) {
  TlForces f = {0};
  int64_t weak = 0, slide_strong = 0, slide_weak = 0;
  double beyond = 0, logs = 0;
  f.mean_N = mean_force(p, region, &f.pairs);
  for (int64_t k = 0; k < p->pair_count; k++) {
    const TlPackPair *pair = &p->pair[k];
    if (!tl_pair_in(p, region, pair)) continue;
    double x = pair->normal_N / f.mean_N;
    bool slides = tl_pair_slides(pair);
    if (x > 1) {
      f.strong++;
      beyond += x - 1;
      slide_strong += slides;
    } else if (x > 0) {
      weak++;
      logs += log(x);
      slide_weak += slides;
    }
  }
  f.strong_fraction = fraction(f.strong, f.pairs);
  f.beta = f.strong ? (double)f.strong / beyond : NAN;
  f.alpha = logs < 0 ? -1 - (double)weak / logs : NAN;
  f.sliding = fraction(slide_strong + slide_weak, f.pairs);
  f.sliding_strong = fraction(slide_strong, f.strong);
  f.sliding_weak = fraction(slide_weak, weak);
  return f;
}

void tl_forces_histogram(const TlPacking *p, const TlRegion *region,
                         int64_t count[TL_FORCES_BINS]) {
  int64_t pairs;
  double mean = mean_force(p, region, &pairs);
  for (int i = 0; i < TL_FORCES_BINS; i++) count[i] = 0;
  for (int64_t k = 0; k < p->pair_count; k++) {
    if (!tl_pair_in(p, region, &p->pair[k])) continue;
    double at = fmax(0, p->pair[k].normal_N / mean / TL_FORCES_BIN);
    count[at < TL_FORCES_BINS ? (int)at : TL_FORCES_BINS - 1]++;
  }
}

typedef TlForces Row;

static TlStatus measure(const TlPacking *p, const TlRegion *region, void *row) {
  *(Row *)row = tl_forces_of(p, region);
  return TL_OK;
}

#define COLUMNS(C)                                                                                 \
  C(pairs, "", "pairs of touching grains", row->pairs)                                             \
  C(mean_normal_force_N, "N", "mean normal force of the pairs", row->mean_N)                       \
  C(strong_share, "", "fraction of the pairs whose normal force is above the mean",                \
    row->strong_fraction)                                                                          \
  C(strong_exponent, "", "beta of exp(-beta f) above the mean, f the force over the mean",         \
    row->beta)                                                                                     \
  C(weak_exponent, "", "alpha of f^alpha below the mean", row->alpha)                              \
  C(sliding_share, "", "fraction of the pairs that slide", row->sliding)                           \
  C(sliding_share_strong, "", "the same of the strong pairs", row->sliding_strong)                 \
  C(sliding_share_weak, "", "the same of the weak pairs", row->sliding_weak)
TL_PACK_MEASURE(forces, COLUMNS);
