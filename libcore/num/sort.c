#include "num/sort.h"

#include <stdint.h>

int tl_by_real(const void *one, const void *other) {
  double a = *(const double *)one, b = *(const double *)other;
  return (a > b) - (a < b);
}

int tl_by_int(const void *one, const void *other) {
  int64_t a = *(const int64_t *)one, b = *(const int64_t *)other;
  return (a > b) - (a < b);
}

int tl_by_int32(const void *one, const void *other) {
  int32_t a = *(const int32_t *)one, b = *(const int32_t *)other;
  return (a > b) - (a < b);
}
