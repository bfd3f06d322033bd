/* Order statistics of float arrays (Hoare's selection, median of three). */
#ifndef TL_IMAGE_SELECT_H
#define TL_IMAGE_SELECT_H

#include <stdint.h>

/* The k-th smallest (k from 0) of n > k values; the array is reordered. No NaN. */
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

#endif
