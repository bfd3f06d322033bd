/* Of many points only those that lie farthest out in DIRECTIONS evenly spread ones are taken, for
 * a hull is quadratic, and put on a lattice of a hundred-thousandth of their extent. */
#include "shape/descriptors.h"

#include "base/mem.h"
#include "num/hull.h"

#include <math.h>

enum { DIRECTIONS = 1500 };
#define LATTICE 1e5 /* steps of the lattice over the extent: all that num/hull.h takes */

/* The points farthest out along the directions of a Fibonacci lattice are marked. */
static void take_outer(const float *points, int64_t count, uint8_t *taken) {
  for (int64_t k = 0; k < DIRECTIONS; k++) {
    double z = 1 - (2 * (double)k + 1) / DIRECTIONS, turn = 2.39996322972865332 * (double)k;
    float nx = (float)(sqrt(1 - z * z) * cos(turn)), ny = (float)(sqrt(1 - z * z) * sin(turn));
    float nz = (float)z, most = -INFINITY;
    int64_t best = 0;
    for (int64_t i = 0; i < count; i++) {
      float reach = nx * points[3 * i] + ny * points[3 * i + 1] + nz * points[3 * i + 2];
      if (reach > most) most = reach, best = i;
    }
    taken[best] = 1;
  }
}

static double extent(const float *points, int64_t count) {
  double most = 0;
  for (int64_t i = 0; i < 3 * count; i++)
    most = fmax(most, fabs((double)points[i] - (double)points[i % 3]));
  return 2 * most;
}

static TlStatus outer_hull(const float *points, int64_t count, double step, double *volume) {
  uint8_t *taken;
  TlPoint3 *place = NULL;
  size_t outer = 0;
  TL_TRY(TL_NEW(taken, (size_t)count));
  TlStatus status = TL_NEW(place, DIRECTIONS);
  if (status == TL_OK) take_outer(points, count, taken);
  for (int64_t i = 0; status == TL_OK && i < count; i++) {
    if (!taken[i]) continue;
    double p[3];
    for (int a = 0; a < 3; a++) p[a] = ((double)points[3 * i + a] - (double)points[a]) / step;
    place[outer++] =
        (TlPoint3){(int32_t)lround(p[0]), (int32_t)lround(p[1]), (int32_t)lround(p[2])};
  }
  if (status == TL_OK) status = tl_lattice_hull(place, outer, volume);
  tl_free(place);
  tl_free(taken);
  return status;
}

TlStatus tl_hull_volume(const float *points, int64_t count, double *volume) {
  *volume = 0;
  if (count < 4) return TL_OK;
  double step = extent(points, count) / LATTICE;
  if (!(step > 0)) return TL_OK;
  TL_TRY(outer_hull(points, count, step, volume));
  *volume *= step * step * step;
  return TL_OK;
}
