#include "post/region.h"

#include <assert.h>

double tl_region_volume(const TlRegion *r) {
  TlVec3 d = tl_sub(r->high, r->low);
  assert(r->slab == 0);
  if (r->whole_m3 > 0) return r->whole_m3;
  return r->round ? M_PI * r->radius_m * r->radius_m * tl_norm(r->axis) : d.x * d.y * d.z;
}

static double least(double a, double b, double c) {
  return fmin(a, fmin(b, c));
}

static double solid_depth(const TlRegion *r, TlVec3 p) {
  if (!r->round)
    return fmin(least(p.x - r->low.x, p.y - r->low.y, p.z - r->low.z),
                least(r->high.x - p.x, r->high.y - p.y, r->high.z - p.z));
  TlVec3 d = tl_sub(p, r->foot), e = tl_unit(r->axis);
  double along = tl_dot(d, e), out = tl_norm(tl_axpy(d, -along, e));
  return least(along, tl_norm(r->axis) - along, r->radius_m - out);
}

double tl_region_depth(const TlRegion *r, TlVec3 p) {
  double depth = solid_depth(r, p);
  if (r->slab == 0) return depth;
  double within = r->slab_half_m - fabs(tl_dot(r->slab_normal, tl_sub(p, r->slab_point)));
  return fmin(depth, r->slab > 0 ? within : -within);
}

/* Of the part [*t0, *t1] of a + t d, what has low <= x <= high in one coordinate. */
static void clip(double a, double d, double low, double high, double *t0, double *t1) {
  if (d == 0) {
    if (a < low || a > high) *t1 = *t0;
    return;
  }
  double in = (low - a) / d, out = (high - a) / d;
  *t0 = fmax(*t0, fmin(in, out));
  *t1 = fmin(*t1, fmax(in, out));
}

/* The same for |across| <= radius. */
static void clip_round(const TlRegion *r, TlVec3 e, TlVec3 from, TlVec3 segment, double *t0,
                       double *t1) {
  TlVec3 a = tl_axpy(from, -tl_dot(from, e), e), d = tl_axpy(segment, -tl_dot(segment, e), e);
  double A = tl_norm2(d), B = tl_dot(a, d), C = tl_norm2(a) - r->radius_m * r->radius_m;
  if (A == 0) {
    if (C > 0) *t1 = *t0;
    return;
  }
  double root = B * B - A * C;
  if (root <= 0) {
    *t1 = *t0;
    return;
  }
  *t0 = fmax(*t0, (-B - sqrt(root)) / A);
  *t1 = fmin(*t1, (-B + sqrt(root)) / A);
}

double tl_region_fraction(const TlRegion *r, TlVec3 from, TlVec3 to) {
  TlVec3 segment = tl_sub(to, from);
  double t0 = 0, t1 = 1;
  assert(r->slab == 0);
  if (tl_norm2(segment) == 0) return tl_region_depth(r, from) >= 0;
  if (r->round) {
    TlVec3 e = tl_unit(r->axis), at = tl_sub(from, r->foot);
    clip(tl_dot(at, e), tl_dot(segment, e), 0, tl_norm(r->axis), &t0, &t1);
    clip_round(r, e, at, segment, &t0, &t1);
  } else {
    clip(from.x, segment.x, r->low.x, r->high.x, &t0, &t1);
    clip(from.y, segment.y, r->low.y, r->high.y, &t0, &t1);
    clip(from.z, segment.z, r->low.z, r->high.z, &t0, &t1);
  }
  return t1 > t0 ? t1 - t0 : 0;
}
