#include "shape/heightfield.h"

#include <math.h>

bool tl_heightfield_patch(const TlHeightfield *f, int64_t i, int64_t j, TlPatch *patch) {
  if (i < 0 || j < 0 || i >= f->nx - 1 || j >= f->ny - 1) return false;
  const float *h = f->height + j * f->nx + i;
  double h00 = h[0], h10 = h[1], h01 = h[f->nx], h11 = h[f->nx + 1];
  *patch = (TlPatch){f->per_metre * h00, f->per_metre * (h10 - h00), f->per_metre * (h01 - h00),
                     f->per_metre * ((h11 - h01) - (h10 - h00))};
  return !isnan(patch->d);
}

bool tl_heightfield_locate(const TlHeightfield *f, double x, double y, TlPatch *patch, double *u,
                           double *v) {
  if (!(x >= 0 && y >= 0 && x <= (double)(f->nx - 1) && y <= (double)(f->ny - 1))) return false;
  int64_t i = (int64_t)x, j = (int64_t)y;
  for (int side = 0; side < 4; side++) { /* 0: the usual patch; others only on its lower edges */
    int left = side & 1, below = side >> 1;
    if ((left && x != (double)i) || (below && y != (double)j)) continue;
    if (!tl_heightfield_patch(f, i - left, j - below, patch)) continue;
    *u = x - (double)(i - left);
    *v = y - (double)(j - below);
    return true;
  }
  return false;
}

static double clamp01(double t) {
  return t < 0 ? 0 : t > 1 ? 1 : t;
}

/* Squared distance of (t, 0, z) + off to the segment (s, 0, z0 + dz s), 0 <= s <= 1. */
static double segment2(double t, double off, double z, double z0, double dz) {
  double s = clamp01((t + (z - z0) * dz) / (1 + dz * dz));
  double e = z0 + dz * s - z;
  return (s - t) * (s - t) + off * off + e * e;
}

static double edges2(const TlPatch *p, double x, double y, double z) {
  double best = segment2(x, y, z, p->a, p->b);
  best = fmin(best, segment2(x, y - 1, z, p->a + p->c, p->b + p->d));
  best = fmin(best, segment2(y, x, z, p->a, p->c));
  return fmin(best, segment2(y, x - 1, z, p->a + p->b, p->c + p->d));
}

static double squared(const TlPatch *p, double x, double y, double z, double u, double v) {
  double e = p->a + p->b * u + p->c * v + p->d * u * v - z;
  return (u - x) * (u - x) + (v - y) * (v - y) + e * e;
}

/* One Newton step for (u, v); Gauss-Newton where the Hessian is not safely positive. */
static void newton_step(const TlPatch *p, double x, double y, double z, double u, double v,
                        double *du, double *dv) {
  double zu = p->b + p->d * v, zv = p->c + p->d * u;
  double e = p->a + p->b * u + zv * v - z;
  double gu = u - x + e * zu, gv = v - y + e * zv;
  double huu = 1 + zu * zu, hvv = 1 + zv * zv, huv = zu * zv + e * p->d;
  double det = huu * hvv - huv * huv;
  if (det < 0.05 * (1 + zu * zu + zv * zv)) {
    huv = zu * zv;
    det = 1 + zu * zu + zv * zv;
  }
  *du = (huv * gv - hvv * gu) / det;
  *dv = (huv * gu - huu * gv) / det;
}

/* Follows Newton from (u, v) in place; true when it ends in the open patch. What leaves a margin of
 * half a cell has its minimum on an edge. */
static bool newton(const TlPatch *p, double x, double y, double z, double *u, double *v) {
  double f = squared(p, x, y, z, *u, *v);
  for (int iteration = 0; iteration < 30; iteration++) {
    double du, dv, t = 1, g;
    newton_step(p, x, y, z, *u, *v, &du, &dv);
    while ((g = squared(p, x, y, z, *u + t * du, *v + t * dv)) > f && t > 1e-3) t *= 0.5;
    if (g > f) break;
    *u += t * du;
    *v += t * dv;
    f = g;
    if (*u < -0.5 || *v < -0.5 || *u > 1.5 || *v > 1.5) return false;
    if (fabs(du) + fabs(dv) < 1e-7) break; /* quadratic: the error left is its square */
  }
  return *u > 0 && *v > 0 && *u < 1 && *v < 1;
}

static double largest_residual(const TlPatch *p, double z) {
  double low = fmin(fmin(p->a, p->a + p->b), fmin(p->a + p->c, p->a + p->b + p->c + p->d));
  double high = fmax(fmax(p->a, p->a + p->b), fmax(p->a + p->c, p->a + p->b + p->c + p->d));
  return fmax(fabs(low - z), fabs(high - z));
}

double tl_patch_distance(const TlPatch *p, double x, double y, double z) {
  double gx = p->b + 0.5 * p->d, gy = p->c + 0.5 * p->d;
  double w = z - (p->a - 0.25 * p->d + gx * x + gy * y); /* above the mean plane */
  double n2 = 1 + gx * gx + gy * gy;
  double u = clamp01(x + w * gx / n2), v = clamp01(y + w * gy / n2);
  bool inside = newton(p, x, y, z, &u, &v);
  /* (1+zu^2)(1+zv^2) >= (1+|zu zv|)^2, so the Hessian is positive while |twist * residual| < 1. */
  bool convex = fabs(p->d) * largest_residual(p, z) < 1;
  if (inside && convex) return sqrt(squared(p, x, y, z, u, v));
  double best = edges2(p, x, y, z);
  if (inside) best = fmin(best, squared(p, x, y, z, u, v));
  for (int start = 0; start < (convex ? 1 : 5); start++) {
    static const double us[5] = {0.5, 0.1, 0.9, 0.1, 0.9}, vs[5] = {0.5, 0.1, 0.1, 0.9, 0.9};
    u = us[start];
    v = vs[start];
    if (newton(p, x, y, z, &u, &v)) best = fmin(best, squared(p, x, y, z, u, v));
  }
  return sqrt(best);
}

/* A lower bound of the distance, at the price of a few sums: the patch's box, and its mean plane,
 * from which a twisted patch departs by at most |d|/4. */
static double patch_bound(const TlPatch *p, double x, double y, double z) {
  double low = fmin(fmin(p->a, p->a + p->b), fmin(p->a + p->c, p->a + p->b + p->c + p->d));
  double high = fmax(fmax(p->a, p->a + p->b), fmax(p->a + p->c, p->a + p->b + p->c + p->d));
  double dx = fmax(fmax(-x, x - 1), 0), dy = fmax(fmax(-y, y - 1), 0);
  double dz = fmax(fmax(low - z, z - high), 0);
  double gx = p->b + 0.5 * p->d, gy = p->c + 0.5 * p->d;
  double w = z - (p->a - 0.25 * p->d + gx * x + gy * y);
  double plane = (fabs(w) - 0.25 * fabs(p->d)) / sqrt(1 + gx * gx + gy * gy);
  return fmax(plane, sqrt(dx * dx + dy * dy + dz * dz));
}

/* Where the closest point probably lies: the foot on the plane of the patch under p. */
static void foot_patch(const TlHeightfield *f, TlVec3 p, int64_t *i, int64_t *j) {
  TlPatch patch;
  double u, v, x = p.x, y = p.y;
  if (tl_heightfield_locate(f, x, y, &patch, &u, &v)) {
    double gx = patch.b + patch.d * v, gy = patch.c + patch.d * u;
    double w = p.z - (patch.a + patch.b * u + gy * v);
    double t = w / (1 + gx * gx + gy * gy);
    x += t * gx;
    y += t * gy;
  }
  *i = (int64_t)floor(x);
  *j = (int64_t)floor(y);
}

double tl_heightfield_distance(const TlHeightfield *f, TlVec3 p, double reach) {
  TlPatch patch;
  int64_t fi, fj;
  double best = reach;
  foot_patch(f, p, &fi, &fj);
  if (tl_heightfield_patch(f, fi, fj, &patch))
    best = fmin(best, tl_patch_distance(&patch, p.x - (double)fi, p.y - (double)fj, p.z));
  int64_t j0 = (int64_t)floor(p.y - best), j1 = (int64_t)floor(p.y + best);
  int64_t i0 = (int64_t)floor(p.x - best), i1 = (int64_t)floor(p.x + best);
  for (int64_t j = j0; j <= j1; j++)
    for (int64_t i = i0; i <= i1; i++) {
      if ((i == fi && j == fj) || !tl_heightfield_patch(f, i, j, &patch)) continue;
      double x = p.x - (double)i, y = p.y - (double)j;
      if (patch_bound(&patch, x, y, p.z) > best - 1e-7) continue;
      best = fmin(best, tl_patch_distance(&patch, x, y, p.z));
    }
  return best < reach ? best : INFINITY;
}
