/* Beyond the ends of a line: half-sample mirroring, voxel -1 is voxel 0, n is n - 1. */
#ifndef TL_IMAGE_MIRROR_H
#define TL_IMAGE_MIRROR_H

#include <stdint.h>

/* Position i of the mirrored line of length n (period 2n). */
static inline int64_t tl_mirrored(int64_t i, int64_t n) {
  int64_t period = 2 * n;
  i %= period;
  if (i < 0) i += period;
  return i < n ? i : period - 1 - i;
}

#endif
