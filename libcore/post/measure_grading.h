/* Grading curve: fraction of the solid volume in grains no larger than a size (percent finer).
 * Two sizes: the diameter of the sphere of equal volume, and the intermediate principal axis b,
 * which stands for the square sieve a grain just passes. */
#ifndef TL_POST_MEASURE_GRADING_H
#define TL_POST_MEASURE_GRADING_H

#include "base/status.h"

#include <stdint.h>

typedef struct TlGrading {
  int64_t count;
  double *size_m; /* ascending, owned */
  double *finer;  /* fraction of the volume in grains up to this size, last one 1, owned */
} TlGrading;

/* size and volume: one a grain. TL_EINPUT for no grains. */
TlStatus tl_grading_make(const double *size_m, const double *volume_m3, int64_t count,
                         TlGrading *grading);
void tl_grading_free(TlGrading *grading);
/* The size below which this fraction of the volume lies (0.1: D10): linear in log size between
 * grains; the smallest grain's size below its own fraction. */
double tl_grading_size(const TlGrading *grading, double fraction);

#endif
