#include "shape/spline.h"

#include "base/lanes.h"
#include "base/mem.h"

#include <math.h>
#include <string.h>

typedef float F4 __attribute__((vector_size(16)));
#pragma GCC diagnostic ignored "-Wpsabi" /* all that passes vectors is inlined */
#define INLINE static inline __attribute__((always_inline))

static const double CUBIC = 0.00801875373874480, /* sqrt(3)/216 */
    CREASE = 0.25;

/* ---- from values to coefficients ---- */

/* A line of n values at f[0], f[stride], ... becomes coefficients with (c[i-1] + 6 c[i] + c[i+1]) / 8
 * = f[i], and one more is put before and behind it. At the ends the third difference is 0, so that
 * quadratics are reproduced: then c[0] - c[1] = f[0] - f[1]. work: [2 n]. */
static void filter_line(double *f, int64_t stride, int32_t n, double *work) {
  double *upper = work, *c = work + n;
  int32_t last = n - 1;
  for (int32_t i = 1; i < last; i++) { /* Thomas, rows 1 .. n-2 */
    double right = 8 * f[i * stride], diagonal = 6, below = i > 1 ? 1 : 0, above = 1;
    if (i == 1) diagonal += 1, right -= f[0] - f[stride];
    if (i == last - 1) {
      diagonal += 1;
      above = 0;
      right -= f[last * stride] - f[(last - 1) * stride];
    }
    double pivot = diagonal - (i > 1 ? below * upper[i - 1] : 0);
    upper[i] = above / pivot;
    c[i] = (right - (i > 1 ? below * c[i - 1] : 0)) / pivot;
  }
  for (int32_t i = last - 2; i > 0; i--) c[i] -= upper[i] * c[i + 1];
  c[0] = c[1] + f[0] - f[stride];
  c[last] = c[last - 1] + f[last * stride] - f[(last - 1) * stride];
  for (int32_t i = 0; i < n; i++) f[i * stride] = c[i];
  f[-stride] = 3 * (c[0] - c[1]) + c[2];
  f[n * stride] = 3 * (c[last] - c[last - 1]) + c[last - 2];
}

/* Error of the spline about grid point (i, j, k), by the differences of the grid along an axis. */
static double line_error(const float *phi, int64_t stride, int32_t i, int32_t n) {
  if (n < 5) return INFINITY;
  int32_t m = i < 2 ? 2 : i > n - 3 ? n - 3 : i;
  const float *p = phi + (m - i) * stride;
  double a = p[-2 * stride], b = p[-stride], c = p[0], d = p[stride], e = p[2 * stride];
  double third = fmax(fabs(d - 3 * c + 3 * b - a), fabs(e - 3 * d + 3 * c - b));
  return CUBIC * third + CREASE * fabs(a - 4 * b + 6 * c - 4 * d + e);
}

static void measure(const TlAvatar *a, TlSpline *s) {
  double h = a->spacing_m, error = 0, steepest = 0;
  int64_t row = a->nx, plane = row * a->ny;
  for (int32_t k = 0; k < a->nz; k++)
    for (int32_t j = 0; j < a->ny; j++)
      for (int32_t i = 0; i < a->nx; i++) {
        const float *phi = &a->phi[k * plane + j * row + i];
        if ((double)*phi < -2 * h) continue;
        if ((double)*phi < 2 * h)
          error = fmax(error, line_error(phi, 1, i, a->nx) + line_error(phi, row, j, a->ny) +
                                  line_error(phi, plane, k, a->nz));
        for (int corner = 0; corner < 2;
             corner++) { /* the grid point, and the middle of its cell */
          TlVec3 g, p = tl_axpy(a->origin_m, h,
                                tl_vec3(i + 0.5 * corner, j + 0.5 * corner, k + 0.5 * corner));
          if (corner && (i == a->nx - 1 || j == a->ny - 1 || k == a->nz - 1)) continue;
          tl_spline_phi(s, p, &g, NULL);
          steepest = fmax(steepest, tl_norm(g));
        }
      }
  s->error_m = error;
  s->slope_max = 1.02 * steepest; /* between the places asked it may be a little more */
}

TlStatus tl_spline_make(const TlAvatar *a, TlSpline *out) {
  int32_t n[3] = {a->nx, a->ny, a->nz}, most = 0;
  *out = (TlSpline){a->nx, a->ny, a->nz, a->spacing_m, a->origin_m, NULL, 0, 0};
  for (int axis = 0; axis < 3; axis++) {
    if (n[axis] < 3)
      return tl_fail(TL_EINPUT,
                     "a grid of %d x %d x %d points is too small for a spline, which needs three "
                     "along each axis: build the avatar with a finer grid",
                     (int)n[0], (int)n[1], (int)n[2]);
    if (n[axis] > most) most = n[axis];
  }
  int64_t row = n[0] + 2, plane = row * (n[1] + 2), all = plane * (n[2] + 2);
  double *value, *work;
  TL_TRY(TL_NEW(value, (size_t)all));
  TlStatus status = TL_NEW(work, 2 * (size_t)most);
  if (status == TL_OK)
    status = TL_NEW(out->coefficient, (size_t)all + 4); /* four are read at once */
  if (status != TL_OK) {
    tl_free(work);
    tl_free(value);
    return status;
  }
  double *first = value + plane + row + 1; /* grid point (0, 0, 0) */
  for (int32_t k = 0; k < n[2]; k++)
    for (int32_t j = 0; j < n[1]; j++)
      for (int32_t i = 0; i < n[0]; i++)
        first[k * plane + j * row + i] = a->phi[((int64_t)k * n[1] + j) * n[0] + i];
  for (int32_t k = 0; k < n[2]; k++)
    for (int32_t j = 0; j < n[1]; j++) filter_line(first + k * plane + j * row, 1, n[0], work);
  for (int32_t k = 0; k < n[2]; k++)
    for (int32_t i = -1; i <= n[0]; i++) filter_line(first + k * plane + i, row, n[1], work);
  for (int32_t j = -1; j <= n[1]; j++)
    for (int32_t i = -1; i <= n[0]; i++) filter_line(first + j * row + i, plane, n[2], work);
  for (int64_t i = 0; i < all; i++) out->coefficient[i] = (float)value[i];
  tl_free(work);
  tl_free(value);
  measure(a, out);
  return TL_OK;
}

void tl_spline_free(TlSpline *spline) {
  tl_free(spline->coefficient);
  *spline = (TlSpline){0};
}

/* ---- evaluation ---- */

/* Where a coordinate lies: the nearest grid point, and the weights of it and its neighbours. */
typedef struct Along {
  int32_t point;
  float w[3], d[3]; /* of the value and of the derivative */
  double out;       /* beyond the grid, in spacings */
} Along;

INLINE Along along(double s, int32_t n) {
  double c = s < 0 ? 0 : s > n - 1 ? n - 1 : s;
  Along a = {.point = (int32_t)(c + 0.5), .out = s - c};
  float t = (float)(c - a.point), low = 0.5F - t, high = 0.5F + t;
  a.w[0] = 0.5F * low * low, a.w[1] = 0.75F - t * t, a.w[2] = 0.5F * high * high;
  a.d[0] = -low, a.d[1] = -2 * t, a.d[2] = high;
  return a;
}

INLINE float dot(F4 a, F4 b) {
  F4 p = a * b;
  return p[0] + p[1] + p[2];
}

INLINE F4 weighted(F4 a, F4 b, F4 c, const float w[3]) {
  return w[0] * a + w[1] * b + w[2] * c;
}

INLINE double phi_at(const TlSpline *s, TlVec3 p, TlVec3 *gradient, TlSym3 *hessian) {
  const double inverse = 1 / s->spacing_m;
  Along x = along((p.x - s->origin_m.x) * inverse, s->nx),
        y = along((p.y - s->origin_m.y) * inverse, s->ny),
        z = along((p.z - s->origin_m.z) * inverse, s->nz);
  const int64_t row = s->nx + 2, plane = row * (s->ny + 2);
  const float *c = s->coefficient + z.point * plane + y.point * row + x.point;
  const F4 wx = {x.w[0], x.w[1], x.w[2], 0}, dx = {x.d[0], x.d[1], x.d[2], 0};
  static const float bend[3] = {1, -2, 1};
  F4 value[3], slope[3], curve[3]; /* along y, in each of three planes; each a row of x */
  for (int k = 0; k < 3; k++) {
    F4 r[3];
    for (int j = 0; j < 3; j++) memcpy(&r[j], c + k * plane + j * row, sizeof r[j]);
    value[k] = weighted(r[0], r[1], r[2], y.w);
    slope[k] = weighted(r[0], r[1], r[2], y.d);
    if (hessian) curve[k] = r[0] - 2 * r[1] + r[2];
  }
  F4 v = weighted(value[0], value[1], value[2], z.w);
  double out2 = x.out * x.out + y.out * y.out + z.out * z.out, out = out2 > 0 ? sqrt(out2) : 0;
  F4 along_y = weighted(slope[0], slope[1], slope[2], z.w),
     along_z = weighted(value[0], value[1], value[2], z.d);
  if (gradient) {
    *gradient = tl_vec3(x.out == 0 ? inverse * (double)dot(v, dx) : x.out / out,
                        y.out == 0 ? inverse * (double)dot(along_y, wx) : y.out / out,
                        z.out == 0 ? inverse * (double)dot(along_z, wx) : z.out / out);
  }
  if (hessian) {
    const F4 bx = {1, -2, 1, 0};
    double i2 = inverse * inverse;
    F4 yy = weighted(curve[0], curve[1], curve[2], z.w),
       yz = weighted(slope[0], slope[1], slope[2], z.d),
       zz = weighted(value[0], value[1], value[2], bend);
    *hessian = (TlSym3){.xx = i2 * (double)dot(v, bx),
                        .yy = i2 * (double)dot(yy, wx),
                        .zz = i2 * (double)dot(zz, wx),
                        .xy = i2 * (double)dot(along_y, dx),
                        .xz = i2 * (double)dot(along_z, dx),
                        .yz = i2 * (double)dot(yz, wx)};
  }
  return (double)dot(v, wx) + out * s->spacing_m;
}

TL_LANES_CLONES double tl_spline_phi(const TlSpline *s, TlVec3 p, TlVec3 *gradient,
                                     TlSym3 *hessian) {
  return phi_at(s, p, gradient, hessian);
}

/* Point by point: four abreast in vectors of sixteen numbers take three times as long with AVX2, where GCC 12 puts such
 * vectors together on the stack (docs/notebook/places.md). */
TL_LANES_CLONES void tl_spline_many(const TlSpline *s, const TlVec3 *p, size_t count, double *phi,
                                    TlVec3 *gradient) {
  for (size_t i = 0; i < count; i++) phi[i] = phi_at(s, p[i], &gradient[i], NULL);
}
