#include "num/quantile.h"

#include "num/sort.h"

#include <math.h>
#include <stdlib.h>

double tl_quantile_of_sorted(const double *sorted, int64_t n, double q) {
  if (n <= 0 || !(q >= 0 && q <= 1)) return NAN;
  double at = q * (double)(n - 1);
  int64_t i = (int64_t)at;
  if (i >= n - 1) return sorted[n - 1];
  return sorted[i] + (at - (double)i) * (sorted[i + 1] - sorted[i]);
}

double tl_quantile(double *values, int64_t n, double q) {
  if (n > 0) qsort(values, (size_t)n, sizeof *values, tl_by_real);
  return tl_quantile_of_sorted(values, n, q);
}
