/* Fast marching on a grid stored in columns: distances from given values outwards, both sides.
 *
 * Solves |grad phi| = 1 (Sethian 1996) by upwind differences of second order where two upwind
 * values are known, of first order elsewhere (Sethian 1999, the "high accuracy" scheme), accepting
 * points in order of distance from a heap. Linear phi is reproduced to rounding. The grid: column c
 * = j*nx + i holds the points k_low <= k < k_low + k_count at phi[start + k - k_low]; spacing 1 on
 * all axes. Points k >= k_zero of a column are above the surface (phi >= 0), the others below (phi
 * <= 0).
 *
 * state: TL_MARCH_GIVEN points hold exact signed values and stay as they are: all points next to
 * the surface must be given. On return points within limit hold their signed distance; the rest
 * stay TL_MARCH_FAR and their phi is +-infinity or an upper bound. The two sides never read each
 * other's results, so they run on two threads, and the result has the same bits for any thread
 * count. Cost O(n log front); memory 12 bytes a front point. Errors: TL_ENOMEM; TL_EINPUT for more
 * than 2^32 - 1 columns.
 */
#ifndef TL_SHAPE_FASTMARCH_H
#define TL_SHAPE_FASTMARCH_H

#include "base/status.h"

#include <stdint.h>

typedef struct TlColumn {
  int64_t start;
  int32_t k_low, k_count, k_zero;
} TlColumn;

typedef struct TlColumns {
  int64_t nx, ny;
  TlColumn *column; /* [ny][nx] */
} TlColumns;

enum { TL_MARCH_FAR = 0, TL_MARCH_GIVEN, TL_MARCH_ABOVE, TL_MARCH_BELOW };

TlStatus tl_fastmarch(const TlColumns *columns, float *phi, uint8_t *state, double limit);

#endif
