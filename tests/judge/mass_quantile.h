/* How far so large a fraction of the mass of some grains lies, at most. */
#ifndef TL_TESTS_JUDGE_MASS_QUANTILE_H
#define TL_TESTS_JUDGE_MASS_QUANTILE_H

#include <stdint.h>
#include <stdlib.h>

typedef struct JudgeMass {
  double at, mass;
} JudgeMass;

static inline int judge_by_place(const void *a, const void *b) {
  double x = ((const JudgeMass *)a)->at, y = ((const JudgeMass *)b)->at;
  return (x > y) - (x < y);
}

/* Sorts them. count: at least 1. */
static inline double judge_mass_quantile(JudgeMass *mass, int64_t count, double fraction) {
  double whole = 0, sum = 0;
  int64_t i = 0;
  qsort(mass, (size_t)count, sizeof *mass, judge_by_place);
  for (int64_t k = 0; k < count; k++) whole += mass[k].mass;
  while (i + 1 < count && (sum += mass[i].mass) < fraction * whole) i++;
  return mass[i].at;
}

#endif
