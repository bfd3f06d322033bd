/* True signed distance on a grid, from any function whose zero set is the surface.
 *
 * Near the surface every grid point gets its closest point by a damped projected Newton search
 * (Chopp 2001's two steps, with a measured step length); far ones take over the closest points of
 * their neighbours by sweeping (Danielsson's vector propagation) and continue searching from there.
 * Grid units throughout: grid point (i, j, k) lies at (i, j, k), i fastest, phi < 0 inside.
 * A binary label's distance transform is off by 0.2 voxel whatever its resolution; this is good
 * to about 0.003 near a smooth surface (test_avatar.c holds the numbers).
 * Serial, and the same bits every time.
 */
#ifndef TL_SHAPE_REINIT_H
#define TL_SHAPE_REINIT_H

#include "base/status.h"
#include "num/vec.h"

#include <stdbool.h>
#include <stdint.h>

/* f(x) < 0 inside, and its gradient; need not be a distance, must be continuous. */
typedef double (*TlImplicit)(const void *context, TlVec3 x, TlVec3 *gradient);

typedef struct TlPhiGrid {
  int32_t nx, ny, nz;
  float *phi; /* nx*ny*nz, owned by whoever made it */
} TlPhiGrid;

static inline int64_t tl_grid_count(const TlPhiGrid *g) {
  return (int64_t)g->nx * g->ny * g->nz;
}
static inline int64_t tl_grid_at(const TlPhiGrid *g, int64_t i, int64_t j, int64_t k) {
  return (k * g->ny + j) * g->nx + i;
}

/* Of n points along an axis the one at i, or the end beyond which i lies. */
static inline int64_t tl_grid_clamp(int64_t i, int64_t n) {
  return i < 0 ? 0 : i >= n ? n - 1 : i;
}
/* Catmull-Rom weights of four equidistant values at t in [0, 1] between the middle ones. */
static inline void tl_cubic_weights(double t, double w[4]) {
  double t2 = t * t, t3 = t2 * t;
  w[0] = 0.5 * (-t + 2 * t2 - t3);
  w[1] = 0.5 * (2 - 5 * t2 + 3 * t3);
  w[2] = 0.5 * (t + 4 * t2 - 3 * t3);
  w[3] = 0.5 * (t3 - t2);
}
/* Tricubic (Catmull-Rom) value and gradient at x; outside the grid the nearest face's values. Exact
 * for quadratics; needs 64 values, about 0.1 us. gradient may be NULL. */
double tl_grid_cubic(const TlPhiGrid *grid, TlVec3 x, TlVec3 *gradient);

/* A grid seen from a rotated and shifted frame, as TlImplicit: f(y) = cubic(centre + R y). */
typedef struct TlGridView {
  const TlPhiGrid *grid;
  TlMat3 rotation;
  TlVec3 centre;
} TlGridView;
double tl_grid_view(const void *view, TlVec3 y, TlVec3 *gradient);

/* Closest point of f = 0 to x and the unit normal there; false when the search from x finds no
 * surface within reach (grid units). */
bool tl_closest_point(TlImplicit f, const void *context, TlVec3 x, double reach, TlVec3 *point,
                      TlVec3 *normal);

/* Fill out->phi (allocated by the caller) with the signed distance to f = 0. TL_EINPUT when no
 * surface crosses the grid. */
TlStatus tl_distance_fill(TlImplicit f, const void *context, TlPhiGrid *out);

/* The same from a grid's own zero set, in place, where it matters to sums over the surface: exact
 * within 2 cells of it, good to about 0.2 up to 5, cut at 6. quick: good to about 0.05 within 2
 * cells (the nearest crossing along the gradient), three times as fast, for starts. */
TlStatus tl_reinit(TlPhiGrid *grid);
TlStatus tl_reinit_quick(TlPhiGrid *grid);

/* Make phi < 0 one piece without closed pores: the largest 6-connected inside keeps its sign, other
 * pieces become outside, outside that does not reach the box's faces becomes inside. The numbers
 * dropped and filled, in pieces, may be NULL. */
TlStatus tl_grid_one_piece(TlPhiGrid *grid, int32_t *dropped, int32_t *filled);

#endif
