#include "post/overlap_terrain.h"

#include <math.h>

/* z = a + b u + c v + d u v over the unit square, all in cells. */
typedef struct Patch {
  double a, b, c, d;
} Patch;

static double height(const TlTerrain *t, int64_t i, int64_t j) {
  if (i < 0 || j < 0 || i >= t->nx || j >= t->ny) return NAN;
  return (double)t->height_m[j * t->nx + i] / t->cell_m;
}

/* False: a sample is missing. */
static bool patch_at(const TlTerrain *t, int64_t i, int64_t j, Patch *p) {
  double z00 = height(t, i, j), z10 = height(t, i + 1, j), z01 = height(t, i, j + 1),
         z11 = height(t, i + 1, j + 1);
  *p = (Patch){z00, z10 - z00, z01 - z00, z11 - z10 - z01 + z00};
  return isfinite(z00 + z10 + z01 + z11);
}

static TlVec3 in_metres(const TlTerrain *t, TlVec3 p) {
  return tl_vec3(t->x0_m + p.x * t->cell_m, t->y0_m + p.y * t->cell_m, p.z * t->cell_m);
}

/* Points on a shared side belong to either patch, so that the outline of the raster has ground. */
bool tl_overlap_ground_height(const TlTerrain *t, double x, double y, double *z) {
  TlVec3 p = tl_terrain_in_cells(t, tl_vec3(x, y, 0));
  double i = floor(p.x), j = floor(p.y);
  if (!(fabs(i) < 1e15 && fabs(j) < 1e15)) return false;
  for (int k = 0; k < 4; k++) {
    int64_t pi = (int64_t)i - (k & 1), pj = (int64_t)j - (k >> 1);
    double u = p.x - (double)pi, v = p.y - (double)pj;
    Patch q;
    if (u > 1 || v > 1 || !patch_at(t, pi, pj, &q)) continue;
    *z = t->cell_m * (q.a + q.b * u + q.c * v + q.d * u * v);
    return true;
  }
  return false;
}

/* ---- the nearest point of a patch ---- */

/* Least squared distance of p to the line v = const of the patch, 0 <= *u <= 1. */
static double on_line(const Patch *q, TlVec3 p, double v, double *u) {
  double base = q->a + q->c * v, slope = q->b + q->d * v;
  double at = (p.x + slope * (p.z - base)) / (1 + slope * slope);
  *u = fmin(fmax(at, 0), 1);
  TlVec3 d = tl_vec3(*u - p.x, v - p.y, base + slope * *u - p.z);
  return tl_norm2(d);
}

static double patch_distance2(const Patch *q, TlVec3 p, double *u, double *v) {
  enum { PLACES = 16, STEPS = 45 };
  const double golden = 0.6180339887498949;
  double value[PLACES + 1], best = INFINITY, x;
  for (int i = 0; i <= PLACES; i++) {
    value[i] = on_line(q, p, (double)i / PLACES, &x);
    if (value[i] < best) best = value[i], *u = x, *v = (double)i / PLACES;
  }
  for (int i = 0; i <= PLACES; i++) {
    bool lowest = (i == 0 || value[i] <= value[i - 1]) && (i == PLACES || value[i] <= value[i + 1]);
    if (!lowest) continue;
    double low = fmax(i - 1, 0) / PLACES, high = fmin(i + 1, PLACES) / PLACES;
    for (int k = 0; k < STEPS; k++) {
      double left = high - golden * (high - low), right = low + golden * (high - low);
      if (on_line(q, p, left, &x) < on_line(q, p, right, &x))
        high = right;
      else
        low = left;
    }
    double middle = 0.5 * (low + high), least = on_line(q, p, middle, &x);
    if (least < best) best = least, *u = x, *v = middle;
  }
  return best;
}

/* Patches whose places in x and y lie within `reach` of p, all in cells. */
typedef struct Window {
  int64_t i0, i1, j0, j1;
} Window;

static int64_t whole(double x, int64_t most) {
  return (int64_t)fmin(fmax(floor(x), 0), (double)most);
}

static Window window_of(const TlTerrain *t, TlVec3 p, double reach) {
  return (Window){whole(p.x - reach, t->nx - 2), whole(p.x + reach, t->nx - 2),
                  whole(p.y - reach, t->ny - 2), whole(p.y + reach, t->ny - 2)};
}

static double beyond(double x, double low, double high) {
  return fmax(0, fmax(low - x, x - high));
}

double tl_overlap_ground_distance(const TlTerrain *t, TlVec3 point, double reach_m,
                                  TlVec3 *nearest) {
  TlVec3 p = tl_terrain_in_cells(t, point);
  double reach = reach_m / t->cell_m, best = reach * reach;
  bool found = false;
  Window w = window_of(t, p, reach);
  for (int64_t j = w.j0; j <= w.j1; j++)
    for (int64_t i = w.i0; i <= w.i1; i++) {
      Patch q;
      double u = 0, v = 0;
      if (!patch_at(t, i, j, &q)) continue;
      /* a bilinear patch lies between the least and the largest height of its corners */
      double z[4] = {q.a, q.a + q.b, q.a + q.c, q.a + q.b + q.c + q.d};
      TlVec3 out =
          tl_vec3(beyond(p.x, (double)i, (double)(i + 1)), beyond(p.y, (double)j, (double)(j + 1)),
                  beyond(p.z, fmin(fmin(z[0], z[1]), fmin(z[2], z[3])),
                         fmax(fmax(z[0], z[1]), fmax(z[2], z[3]))));
      if (tl_norm2(out) >= best) continue;
      TlVec3 seen = tl_vec3(p.x - (double)i, p.y - (double)j, p.z);
      double d = patch_distance2(&q, seen, &u, &v);
      if (d >= best) continue;
      best = d;
      found = true;
      *nearest = in_metres(
          t, tl_vec3((double)i + u, (double)j + v, q.a + q.b * u + q.c * v + q.d * u * v));
    }
  return found ? t->cell_m * sqrt(best) : INFINITY;
}

/* Steepest slope of the patches within `reach` of p: the slope of a patch is largest at a corner. */
static double steepest(const TlTerrain *t, TlVec3 p, double reach) {
  double most = 0;
  Window w = window_of(t, p, reach);
  for (int64_t j = w.j0; j <= w.j1; j++)
    for (int64_t i = w.i0; i <= w.i1; i++) {
      Patch q;
      if (!patch_at(t, i, j, &q)) continue;
      double x = fmax(fabs(q.b), fabs(q.b + q.d)), y = fmax(fabs(q.c), fabs(q.c + q.d));
      most = fmax(most, hypot(x, y));
    }
  return most;
}

/* Above the ground within `reach`, a point with the height g over ground no steeper than k is
 * farther than g / sqrt(1 + k^2) from it. */
static double phi_of_terrain(const void *context, TlVec3 p, double reach, TlVec3 *normal) {
  const TlTerrain *t = context;
  TlVec3 nearest;
  double z;
  if (!tl_overlap_ground_height(t, p.x, p.y, &z)) return INFINITY;
  double above = p.z - z;
  if (above >= 0) {
    if (above == 0 || reach <= 0) return above;
    double k = steepest(t, tl_terrain_in_cells(t, p), reach / t->cell_m);
    return fmin(reach, above / sqrt(1 + k * k));
  }
  if (above >= reach) return above; /* it cannot be deeper than the ground above it is near */
  double depth = tl_overlap_ground_distance(t, p, -above, &nearest);
  if (!(depth < -above)) depth = -above, nearest = tl_vec3(p.x, p.y, z);
  if (normal) *normal = tl_unit(tl_sub(nearest, p));
  return -depth;
}

TlOverlapAgainst tl_overlap_against_terrain(const TlTerrain *terrain) {
  return (TlOverlapAgainst){terrain, phi_of_terrain};
}

/* ---- creases ---- */

static void crease(const TlTerrain *t, const TlOverlapBody *body, int64_t i, int64_t j,
                   bool along_x, TlOverlapDepth *deepest) {
  Patch q;
  int64_t i1 = along_x ? i + 1 : i, j1 = along_x ? j : j + 1;
  bool one = patch_at(t, i, j, &q);
  bool two = patch_at(t, along_x ? i : i - 1, along_x ? j - 1 : j, &q);
  if (!one && !two) return; /* no patch beside the line: it is no ground */
  tl_overlap_line(body, in_metres(t, tl_vec3((double)i, (double)j, height(t, i, j))),
                  in_metres(t, tl_vec3((double)i1, (double)j1, height(t, i1, j1))), deepest);
}

void tl_overlap_creases(const TlTerrain *t, const TlOverlapBody *body, TlOverlapDepth *deepest) {
  TlVec3 p = tl_terrain_in_cells(t, body->row->position_m);
  double r = body->radius_m / t->cell_m;
  int64_t i0 = whole(p.x - r, t->nx - 1), i1 = whole(p.x + r, t->nx - 1),
          j0 = whole(p.y - r, t->ny - 1), j1 = whole(p.y + r, t->ny - 1);
  for (int64_t j = j0; j <= j1; j++)
    for (int64_t i = i0; i <= i1; i++) {
      crease(t, body, i, j, true, deepest);
      crease(t, body, i, j, false, deepest);
    }
}
