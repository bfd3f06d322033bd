#include "num/relation.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>

typedef struct Ranked {
  double value;
  int64_t of; /* place in its series */
} Ranked;

static int by_value(const void *a, const void *b) {
  const Ranked *x = a, *y = b;
  if (x->value != y->value) return x->value < y->value ? -1 : 1;
  return (x->of > y->of) - (x->of < y->of);
}

static void sort(const double *value, int64_t n, Ranked *sorted) {
  for (int64_t i = 0; i < n; i++) sorted[i] = (Ranked){value[i], i};
  if (n > 0) qsort(sorted, (size_t)n, sizeof *sorted, by_value);
}

/* From 0. */
static void ranks_of(const Ranked *sorted, int64_t n, double *rank) {
  for (int64_t i = 0, end; i < n; i = end) {
    for (end = i + 1; end < n && sorted[end].value == sorted[i].value;) end++;
    for (int64_t k = i; k < end; k++) rank[sorted[k].of] = 0.5 * (double)(i + end - 1);
  }
}

static double correlation(const double *a, const double *b, int64_t n) {
  double middle = 0.5 * (double)(n - 1), aa = 0, bb = 0, ab = 0;
  for (int64_t i = 0; i < n; i++) {
    double x = a[i] - middle, y = b[i] - middle;
    aa += x * x;
    bb += y * y;
    ab += x * y;
  }
  return n > 2 && aa > 0 && bb > 0 ? ab / sqrt(aa * bb) : NAN;
}

/* Of y over the pairs that these say. */
static double median(const Ranked *of, int64_t n, const double *y, Ranked *scratch) {
  if (n == 0) return NAN;
  for (int64_t i = 0; i < n; i++) scratch[i] = (Ranked){y[of[i].of], i};
  qsort(scratch, (size_t)n, sizeof *scratch, by_value);
  return 0.5 * (scratch[(n - 1) / 2].value + scratch[n / 2].value);
}

TlStatus tl_relation(const double *x, const double *y, int64_t n, TlRelation *r) {
  Ranked *sorted;
  double *rank = NULL;
  TL_TRY(TL_NEW(sorted, 2 * (size_t)n));
  TlStatus status = TL_NEW(rank, 2 * (size_t)n);
  if (status == TL_OK) {
    Ranked *scratch = sorted + n;
    int64_t quarter = n / 4;
    sort(y, n, sorted);
    ranks_of(sorted, n, rank + n);
    sort(x, n, sorted);
    ranks_of(sorted, n, rank);
    r->correlation = correlation(rank, rank + n, n);
    r->lowest = median(sorted, quarter, y, scratch);
    r->highest = median(sorted + n - quarter, quarter, y, scratch);
  }
  tl_free(sorted);
  tl_free(rank);
  return status;
}

double tl_relation_by_chance(int64_t n) {
  return n > 2 ? 2 / sqrt((double)(n - 1)) : NAN;
}
