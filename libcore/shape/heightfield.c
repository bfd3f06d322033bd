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

static inline double clamp01(double t) {
  return t < 0 ? 0 : t > 1 ? 1 : t;
}
/* fmin and fmax are calls without -ffinite-math-only; nothing here is NaN. */
static inline double least(double a, double b) {
  return a < b ? a : b;
}
static inline double most(double a, double b) {
  return a > b ? a : b;
}

static inline double squared(const TlPatch *p, double x, double y, double z, double u, double v) {
  double e = p->a + p->b * u + p->c * v + p->d * u * v - z;
  return (u - x) * (u - x) + (v - y) * (v - y) + e * e;
}

/* The parameter of the point nearest to (t, z) on the line z0 + dz s over 0 <= s <= 1. */
static inline double nearest_on_edge(double t, double z, double z0, double dz) {
  return clamp01((t + (z - z0) * dz) / (1 + dz * dz));
}

/* The best of the four edges: squared distance, and where. */
static double edges2(const TlPatch *p, double x, double y, double z, double *u, double *v) {
  const double us[4] = {nearest_on_edge(x, z, p->a, p->b),
                        nearest_on_edge(x, z, p->a + p->c, p->b + p->d), 0, 1};
  const double vs[4] = {0, 1, nearest_on_edge(y, z, p->a, p->c),
                        nearest_on_edge(y, z, p->a + p->b, p->c + p->d)};
  double best = INFINITY;
  for (int m = 0; m < 4; m++) {
    double f = squared(p, x, y, z, us[m], vs[m]);
    if (f >= best) continue;
    best = f;
    *u = us[m];
    *v = vs[m];
  }
  return best;
}

/* At the best edge point of a convex problem: does the squared distance grow inwards too? */
static bool edge_is_best(const TlPatch *p, double x, double y, double z, double u, double v) {
  double zu = p->b + p->d * v, zv = p->c + p->d * u;
  double e = p->a + p->b * u + zv * v - z;
  double gu = u - x + e * zu, gv = v - y + e * zv;
  return !((u == 0 && gu < 0) || (u == 1 && gu > 0) || (v == 0 && gv < 0) || (v == 1 && gv > 0));
}

/* One Newton step for (u, v); Gauss-Newton where the Hessian is not safely positive. */
static inline void newton_step(const TlPatch *p, double x, double y, double z, double u, double v,
                               double *du, double *dv) {
  double zu = p->b + p->d * v, zv = p->c + p->d * u;
  double e = p->a + p->b * u + zv * v - z;
  double gu = u - x + e * zu, gv = v - y + e * zv;
  double huu = 1 + zu * zu, hvv = 1 + zv * zv, huv = zu * zv + e * p->d;
  double det = huu * hvv - huv * huv, gauss = 1 + zu * zu + zv * zv;
  if (det < 0.05 * gauss) {
    huv = zu * zv;
    det = gauss;
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
    /* Quadratic: the place is off by the square of this step, the distance by that squared. */
    if (t == 1 && fabs(du) + fabs(dv) < 1e-4) break;
  }
  return *u > 0 && *v > 0 && *u < 1 && *v < 1;
}

static inline void extent(const TlPatch *p, double *low, double *high) {
  double z10 = p->a + p->b, z01 = p->a + p->c, z11 = z10 + p->c + p->d;
  *low = least(least(p->a, z10), least(z01, z11));
  *high = most(most(p->a, z10), most(z01, z11));
}

/* Several minima may be: Newton from five points, and the edges. */
static double rough_distance(const TlPatch *p, double x, double y, double z, double *u, double *v) {
  static const double us[5] = {0.5, 0.1, 0.9, 0.1, 0.9}, vs[5] = {0.5, 0.1, 0.1, 0.9, 0.9};
  double best = edges2(p, x, y, z, u, v);
  for (int start = 0; start < 5; start++) {
    double a = us[start], b = vs[start], f;
    if (!newton(p, x, y, z, &a, &b) || (f = squared(p, x, y, z, a, b)) >= best) continue;
    best = f;
    *u = a;
    *v = b;
  }
  return sqrt(best);
}

double tl_patch_distance(const TlPatch *p, double x, double y, double z, double *u, double *v) {
  double low, high;
  extent(p, &low, &high);
  /* (1+zu^2)(1+zv^2) >= (1+|zu zv|)^2, so the Hessian is positive while |twist * residual| < 1. */
  if (fabs(p->d) * most(fabs(low - z), fabs(high - z)) >= 1)
    return rough_distance(p, x, y, z, u, v);
  double gx = p->b + 0.5 * p->d, gy = p->c + 0.5 * p->d;
  double w = z - (p->a - 0.25 * p->d + gx * x + gy * y); /* above the mean plane */
  double n2 = 1 + gx * gx + gy * gy;
  *u = clamp01(x + w * gx / n2);
  *v = clamp01(y + w * gy / n2);
  if (newton(p, x, y, z, u, v)) return sqrt(squared(p, x, y, z, *u, *v));
  double best = edges2(p, x, y, z, u, v);
  if (edge_is_best(p, x, y, z, *u, *v)) return sqrt(best);
  return rough_distance(p, x, y, z, u, v); /* Newton had left the patch on its way */
}

/* ---- over the whole field ---- */

typedef struct Search {
  TlVec3 p;
  double best, at_x, at_y; /* nearest so far, and where */
} Search;

/* Can the patch at (i, j) be nearer than the best so far by more than a whisker? Three bounds, the
 * cheap ones first: box; mean plane, from which a twisted patch departs by at most |d|/4; and hull:
 * the patch lies in the hull of its corners, so a plane touching the ball of radius `best`, square
 * to the way to the patch's point nearest to the best point, with all corners beyond it, keeps it
 * out. */
static bool may_be_nearer(const Search *s, const TlPatch *p, int64_t i, int64_t j) {
  double x = s->p.x - (double)i, y = s->p.y - (double)j, z = s->p.z, best = s->best - 1e-7;
  double low, high;
  extent(p, &low, &high);
  double dx = most(most(-x, x - 1), 0), dy = most(most(-y, y - 1), 0);
  double dz = most(most(low - z, z - high), 0);
  if (best <= 0 || dx * dx + dy * dy + dz * dz >= best * best) return false;
  double gx = p->b + 0.5 * p->d, gy = p->c + 0.5 * p->d;
  double w = fabs(z - (p->a - 0.25 * p->d + gx * x + gy * y)) - 0.25 * fabs(p->d);
  if (w > 0 && w * w >= best * best * (1 + gx * gx + gy * gy)) return false;
  double u = clamp01(s->at_x - (double)i), v = clamp01(s->at_y - (double)j);
  double nx = x - u, ny = y - v, nz = z - (p->a + p->b * u + p->c * v + p->d * u * v);
  double length2 = nx * nx + ny * ny + nz * nz;
  if (length2 < best * best) return true;
  double c00 = x * nx + y * ny + (z - p->a) * nz, c10 = c00 - nx - p->b * nz;
  double c01 = c00 - ny - p->c * nz, c11 = c10 + c01 - c00 - p->d * nz;
  double corner = least(least(c00, c10), least(c01, c11));
  return !(corner > 0 && corner * corner >= best * best * length2);
}

static void try_patch(Search *s, const TlPatch *p, int64_t i, int64_t j) {
  double u, v, d = tl_patch_distance(p, s->p.x - (double)i, s->p.y - (double)j, s->p.z, &u, &v);
  if (d >= s->best) return;
  s->best = d;
  s->at_x = (double)i + u;
  s->at_y = (double)j + v;
}

/* Where the closest point probably lies: the foot on the plane of the patch under p. */
static void find_foot(const TlHeightfield *f, Search *s) {
  TlPatch patch;
  double u, v;
  s->at_x = s->p.x;
  s->at_y = s->p.y;
  if (!tl_heightfield_locate(f, s->p.x, s->p.y, &patch, &u, &v)) return;
  double gx = patch.b + patch.d * v, gy = patch.c + patch.d * u;
  double w = s->p.z - (patch.a + patch.b * u + gy * v);
  double t = w / (1 + gx * gx + gy * gy);
  s->at_x += t * gx;
  s->at_y += t * gy;
}

/* Squared distance of x to the interval i..i+1. */
static inline double gap2(double x, int64_t i) {
  double d = most(most((double)i - x, x - (double)i - 1), 0);
  return d * d;
}

/* The nearest point within reach into s->at; false: none. */
static bool nearest(const TlHeightfield *f, TlVec3 p, double reach, Search *s) {
  *s = (Search){.p = p, .best = reach};
  TlPatch patch;
  find_foot(f, s);
  int64_t fi = (int64_t)floor(s->at_x), fj = (int64_t)floor(s->at_y);
  if (tl_heightfield_patch(f, fi, fj, &patch)) try_patch(s, &patch, fi, fj);
  /* No patch lies outside the grid, however far the point or its reach does. */
  int64_t j0 = (int64_t)most(floor(p.y - s->best), 0), i0 = (int64_t)most(floor(p.x - s->best), 0);
  int64_t j1 = (int64_t)least(floor(p.y + s->best), (double)(f->ny - 2));
  int64_t i1 = (int64_t)least(floor(p.x + s->best), (double)(f->nx - 2));
  for (int64_t j = j0; j <= j1; j++)
    for (int64_t i = i0; i <= i1; i++)
      if (gap2(p.x, i) + gap2(p.y, j) < s->best * s->best && (i != fi || j != fj) &&
          tl_heightfield_patch(f, i, j, &patch) && may_be_nearer(s, &patch, i, j))
        try_patch(s, &patch, i, j);
  return s->best < reach;
}

double tl_heightfield_distance(const TlHeightfield *f, TlVec3 p, double reach) {
  Search s;
  return nearest(f, p, reach, &s) ? s.best : INFINITY;
}

/* ---- signed ---- */

static TlVec3 upward(const TlPatch *p, double u, double v) {
  double zu = p->b + p->d * v, zv = p->c + p->d * u, inverse = 1 / sqrt(1 + zu * zu + zv * zv);
  return tl_vec3(-zu * inverse, -zv * inverse, inverse);
}

bool tl_heightfield_signed(const TlHeightfield *f, TlVec3 p, double reach, double *phi,
                           TlVec3 *normal) {
  enum { ROUNDS = 4 };
  TlPatch patch;
  double u, v;
  *phi = INFINITY;
  if (!tl_heightfield_locate(f, p.x, p.y, &patch, &u, &v)) return false;
  double zu = patch.b + patch.d * v, zv = patch.c + patch.d * u;
  double e = p.z - (patch.a + patch.b * u + zv * v), w = 1 / (1 + zu * zu + zv * zv);
  if (!normal && e < reach) return *phi = e, true; /* no distance is larger than the vertical one */
  double side = e < 0 ? -1 : 1, border = least(least(u, 1 - u), least(v, 1 - v));
  /* A foot no farther than the patch's border: no other patch is as near. */
  if (fabs(e) * sqrt(w) <= border && fabs(patch.d * e) < 0.5) {
    double x = u + e * zu * w, y = v + e * zv * w;
    for (int i = 0; i < ROUNDS && patch.d != 0; i++) {
      double du, dv;
      newton_step(&patch, u, v, p.z, x, y, &du, &dv);
      x += du;
      y += dv;
      if (fabs(du) + fabs(dv) < 1e-3) break; /* quadratic: the distance is right to 1e-12 */
    }
    double d = sqrt(squared(&patch, u, v, p.z, x, y));
    if (d <= border) {
      *phi = side * d;
      if (normal) *normal = upward(&patch, x, y);
      return true;
    }
  }
  Search s;
  double far = fabs(e); /* the ground straight above or below is a point of it */
  if (normal) *normal = upward(&patch, u, v);
  if (e < -TL_SURFACE_DEEP) return *phi = e * sqrt(w), true;
  if (e >= 0 && reach < far) {
    *phi = reach;
    if (!(reach > 0) || !nearest(f, p, reach, &s)) return true;
  } else if (!nearest(f, p, far, &s)) {
    *phi = e;
    return true;
  }
  *phi = side * s.best;
  if (!normal) return true;
  if (!tl_heightfield_locate(f, s.at_x, s.at_y, &patch, &u, &v)) return true;
  TlVec3 foot = tl_vec3(s.at_x, s.at_y, patch.a + patch.b * u + patch.c * v + patch.d * u * v);
  bool inside = u > 0 && v > 0 && u < 1 && v < 1;
  *normal =
      inside || !(s.best > 1e-9) ? upward(&patch, u, v) : tl_unit(tl_scale(side, tl_sub(p, foot)));
  return true;
}

/* ---- local search ---- */

typedef struct Descent {
  const TlHeightfield *field;
  TlVec3 p;
  double x, y; /* the foot */
  int64_t i, j;
  TlPatch patch; /* that holds it */
} Descent;

static inline bool enter(Descent *d, int64_t i, int64_t j) {
  d->i = i;
  d->j = j;
  return tl_heightfield_patch(d->field, i, j, &d->patch);
}

static inline int64_t cell_under(double x, int64_t patches) {
  int64_t i = (int64_t)floor(x);
  return i < 0 ? 0 : i >= patches ? patches - 1 : i;
}

static double foot_distance(const Descent *d) {
  double x = (double)d->i, y = (double)d->j;
  return sqrt(squared(&d->patch, d->p.x - x, d->p.y - y, d->p.z, d->x - x, d->y - y));
}

/* The foot sits on a crease or a corner: the patches about it, exactly. */
static double around_foot(Descent *d) {
  double best = INFINITY, x = d->x, y = d->y;
  int64_t i0 = (int64_t)floor(x - 0.5), j0 = (int64_t)floor(y - 0.5);
  for (int64_t j = j0; j <= j0 + 1; j++)
    for (int64_t i = i0; i <= i0 + 1; i++) {
      double u, v, f;
      if (!enter(d, i, j)) continue;
      f = tl_patch_distance(&d->patch, d->p.x - (double)i, d->p.y - (double)j, d->p.z, &u, &v);
      if (f >= best) continue;
      best = f;
      d->x = (double)i + u;
      d->y = (double)j + v;
    }
  return best;
}

double tl_heightfield_descend(const TlHeightfield *field, TlVec3 p, double *x, double *y) {
  Descent d = {.field = field, .p = p, .x = *x, .y = *y};
  int64_t nx = field->nx - 1, ny = field->ny - 1, before_i = -1, before_j = -1;
  if (!enter(&d, cell_under(d.x, nx), cell_under(d.y, ny))) return INFINITY;
  double f = INFINITY;
  bool lost = false;
  int iteration = 0;
  for (; iteration < TL_HEIGHTFIELD_STEPS; iteration++) {
    double du, dv;
    newton_step(&d.patch, p.x - (double)d.i, p.y - (double)d.j, p.z, d.x - (double)d.i,
                d.y - (double)d.j, &du, &dv);
    double length2 = du * du + dv * dv, cut = length2 > 1 ? 1 / sqrt(length2) : 1;
    d.x += cut * du;
    d.y += cut * dv;
    int64_t i = cell_under(d.x, nx), j = cell_under(d.y, ny);
    if (i == d.i && j == d.j) {
      if (length2 > 1e-4) continue; /* quadratic: the next place is within 1e-4 */
      f = foot_distance(&d);
      break;
    }
    if (i == before_i && j == before_j) { /* to and fro over a crease */
      f = around_foot(&d);
      break;
    }
    before_i = d.i;
    before_j = d.j;
    if (!(lost = !enter(&d, i, j))) continue;
    break;
  }
  if (iteration == TL_HEIGHTFIELD_STEPS) f = around_foot(&d); /* in circles about a corner */
  if (lost || !(d.x >= 0 && d.y >= 0 && d.x <= (double)nx && d.y <= (double)ny)) f = INFINITY;
  if (f < INFINITY) {
    *x = d.x;
    *y = d.y;
  }
  return f;
}
