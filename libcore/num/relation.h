/* How one series of numbers goes with another, whatever the law between them: by ranks.
 * Spearman's coefficient is the correlation of the ranks, equal values having the mean of their
 * ranks: 1, the larger x the larger y; -1, the larger x the smaller y. */
#ifndef TL_NUM_RELATION_H
#define TL_NUM_RELATION_H

#include "base/status.h"

#include <stdint.h>

typedef struct TlRelation {
  double correlation;     /* NaN: fewer than 3 pairs, or all values of one series are equal */
  double lowest, highest; /* medians of y over the quarter of the pairs (rounded down) with the
                             smallest x, and the largest; NaN: fewer than 4 pairs */
} TlRelation;

/* Finite numbers. Equal x count in the order in which they come. */
TlStatus tl_relation(const double *x, const double *y, int64_t n, TlRelation *relation);
/* Two standard deviations of the coefficient of series that have nothing to do with each other,
 * 2/sqrt(n - 1); NaN below 3 pairs. */
double tl_relation_by_chance(int64_t n);

#endif
