/* Order statistics: what so many of a number of values stay below. */
#ifndef TL_NUM_QUANTILE_H
#define TL_NUM_QUANTILE_H

#include <stdint.h>

/* The k-th smallest (k from 0) of n > k values; the array is reordered (Hoare's selection, median of
 * three). No NaN. */
static inline float tl_select(float *a, int64_t n, int64_t k) {
  int64_t low = 0, high = n - 1;
  while (high > low) {
    float p = a[low], q = a[low + (high - low) / 2], r = a[high];
    float pivot = p < q ? (q < r ? q : p < r ? r : p) : (p < r ? p : q < r ? r : q);
    int64_t i = low, j = high;
    while (i <= j) {
      while (a[i] < pivot) i++;
      while (a[j] > pivot) j--;
      if (i <= j) {
        float t = a[i];
        a[i++] = a[j];
        a[j--] = t;
      }
    }
    if (k <= j)
      high = j;
    else if (k >= i)
      low = i;
    else
      break;
  }
  return a[k];
}

/* Value below which the fraction q of n sorted values lies (linear between order statistics). NaN:
 * n is 0, or q is outside [0, 1]. */
double tl_quantile_of_sorted(const double *sorted, int64_t n, double q);
/* The same of values in any order, which are sorted in place. */
double tl_quantile(double *values, int64_t n, double q);

#endif
