/* A quadratic B-spline through the signed distances of an avatar's grid: one smooth field for value,
 * gradient and curvature (docs/theory/places.md).
 *
 * The spline takes the grid's values at the grid points and has a continuous gradient, where the
 * trilinear phi (shape/avatar.h) has jumps of its gradient at every face of a cell and cuts each
 * curved cell's surface by up to h^2/8 times its curvature. In smooth parts the value is right to
 * order h^3, the gradient to h^2 and the second derivatives to h (the spline's are constant along
 * each axis within a cell about a grid point).
 *
 * Body frame, unit scale, metres, phi < 0 inside. Outside the grid's box the distance to the box is
 * added to phi at its nearest point, as for the trilinear phi. Coefficients and sums are float32:
 * near the surface they are no larger than a few spacings, so rounding adds about 1e-7 spacings.
 * Immutable once made; the same bits on every machine (no fused operations).
 */
#ifndef TL_SHAPE_SPLINE_H
#define TL_SHAPE_SPLINE_H

#include "shape/avatar.h"

typedef struct TlSpline {
  int32_t nx, ny, nz; /* grid points */
  double spacing_m;
  TlVec3 origin_m;
  float *coefficient; /* (nx+2)(ny+2)(nz+2), x fastest, one layer more on every side; owned */
  double error_m;     /* bound of |spline - phi| near the surface, see tl_spline_make */
  double slope_max;   /* largest |gradient| outside the grain, within the grid */
} TlSpline;

/* error_m: from the third and fourth differences of the grid along each axis within two spacings of
 * the surface, sum over the axes of  sqrt(3)/216 |d3| + 1/4 |d4|. The first term is the error of the
 * cubic part, the second covers what is rougher: it holds for a crease of phi at any place between
 * grid points (test_spline), and is of higher order where phi is smooth. It is a bound of what
 * interpolation adds; the error of the grid's own values comes on top.
 * The grid needs three points along each axis (TL_EINPUT). Serial. */
TlStatus tl_spline_make(const TlAvatar *avatar, TlSpline *out);
void tl_spline_free(TlSpline *spline);

/* phi at p with its gradient and second derivatives (either may be NULL), in one evaluation of 27
 * coefficients. Outside the box the second derivatives are those at its nearest point. */
double tl_spline_phi(const TlSpline *spline, TlVec3 p, TlVec3 *gradient, TlSym3 *hessian);
/* The same at many places, without second derivatives. */
void tl_spline_many(const TlSpline *spline, const TlVec3 *p, size_t count, double *phi,
                    TlVec3 *gradient);

#endif
