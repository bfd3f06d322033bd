/* The bilinear surface over a grid of heights, and exact distances to it.
 *
 * Coordinates are in cells: sample (i, j) lies at x = i, y = j, its height is height[j*nx + i]
 * times per_metre (1/cell), so that all three axes share the unit. Patch (i, j) spans samples
 * i..i+1, j..j+1 and is there when all four have heights; the surface is the union of the patches,
 * bounded by the outline where patches are missing. NaN marks no data.
 */
#ifndef TL_SHAPE_HEIGHTFIELD_H
#define TL_SHAPE_HEIGHTFIELD_H

#include "num/vec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct TlHeightfield {
  int64_t nx, ny;
  const float *height; /* metres, borrowed */
  double per_metre;    /* cells a metre */
} TlHeightfield;

/* z(u, v) = a + b u + c v + d u v over the unit square, in cells. */
typedef struct TlPatch {
  double a, b, c, d;
} TlPatch;

/* Patch (i, j); false where it is missing or outside the grid. */
bool tl_heightfield_patch(const TlHeightfield *field, int64_t i, int64_t j, TlPatch *patch);

/* The patch that holds (x, y) and the coordinates in it; on a shared edge or corner any patch that
 * is there will do, so that points on the outline still have ground. False: none. */
bool tl_heightfield_locate(const TlHeightfield *field, double x, double y, TlPatch *patch,
                           double *u, double *v);

/* Distance of (x, y, z), patch coordinates, to the patch, and the closest point (*u, *v): damped
 * Newton for an inner point, closed form on the four (straight) edges. Where the squared distance
 * may have several minima over the patch (|twist * depth| >= 1) Newton starts from five points. */
double tl_patch_distance(const TlPatch *patch, double x, double y, double z, double *u, double *v);

/* Unsigned distance of p to the surface, within reach; INFINITY when nothing is nearer. Patches are
 * skipped by their boxes, mean planes and hulls only when they cannot be nearer by more than 1e-7.
 */
double tl_heightfield_distance(const TlHeightfield *field, TlVec3 p, double reach);

/* Signed distance of p to the surface, > 0 above the ground, where that is below reach; from reach on
 * where it is no less; more than TL_SURFACE_DEEP cells below the ground straight above, that to the
 * ground's plane there. normal: unit, from the nearest point out of the ground; NULL: only whether phi is
 * below reach is asked, and what is below reach need not be the distance. Right to 1e-7. False: no
 * ground at p's (x, y). About 15 ns where the nearest point lies no farther than the border of the patch
 * at p. */
enum { TL_SURFACE_DEEP = 4 };
bool tl_heightfield_signed(const TlHeightfield *field, TlVec3 p, double reach, double *phi,
                           TlVec3 *normal);

/* The same for points next to each other, of any reach, to the bit. Where there is no ground phi is INFINITY and the
 * normal 0. */
void tl_heightfield_signed_many(const TlHeightfield *field, const TlVec3 *p, size_t count,
                                double *phi, TlVec3 *normal);

/* A local search, for those who know about where to look: from the surface point above or below
 * (*x, *y) down to a point from which no step along the surface comes nearer to p; returns its
 * distance and leaves its place in (*x, *y), right to about 1e-4 cells. INFINITY (and the place as
 * it was) where the search meets a missing patch. An upper bound of the distance, equal to it when
 * the start lies in the right basin. About 50 ns. */
double tl_heightfield_descend(const TlHeightfield *field, TlVec3 p, double *x, double *y);

/* The same for four points at once, to the bit: p[axis][lane], places and distances by lane. For
 * points next to each other; about 20 ns a point. */
enum { TL_HEIGHTFIELD_LANES = 4, TL_HEIGHTFIELD_STEPS = 12 /* at most, then the corner */ };
void tl_heightfield_descend_lanes(const TlHeightfield *field,
                                  const double p[3][TL_HEIGHTFIELD_LANES],
                                  double x[TL_HEIGHTFIELD_LANES], double y[TL_HEIGHTFIELD_LANES],
                                  double distance[TL_HEIGHTFIELD_LANES]);

#endif
