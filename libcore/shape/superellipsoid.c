#include "shape/superellipsoid.h"

#include "shape/build.h"
#include "shape/formula.h"
#include "shape/solid.h"

#include <math.h>
#include <stdlib.h>

typedef struct Super {
  double a, b, c, ee, en;
  TlMat3 to_shape; /* body -> given axes, a permutation */
  double spacing;
  TlVec3 shift; /* grid units: body = spacing (y + shift) */
} Super;

/* ---- the gauge function: 1 on the surface, grows linearly along each ray ---- */

static double power(double base, double exponent) {
  return base > 0 ? pow(base, exponent) : 0;
}

/* gauge(x) = (q^(ee/en) + |z/c|^(2/en))^(en/2), q = |x/a|^(2/ee) + |y/b|^(2/ee); gradient too. */
static double gauge(const Super *s, TlVec3 x, TlVec3 *gradient) {
  double u = fabs(x.x) / s->a, v = fabs(x.y) / s->b, w = fabs(x.z) / s->c;
  double p = 2 / s->ee, r = 2 / s->en;
  double scale = fmax(u, fmax(v, w)); /* homogeneous: scale first, or 0.1 overflows the powers */
  if (!(scale > 0)) {
    *gradient = tl_vec3(0, 0, 0);
    return 0;
  }
  u /= scale, v /= scale, w /= scale;
  double up = power(u, p), vp = power(v, p), q = up + vp, m = power(q, s->ee / s->en);
  double f = m + power(w, r), g = pow(f, s->en / 2);
  double outer = g / f; /* dg/df * 2/en */
  double inner = q > 0 ? outer * m / q : 0;
  double gu = u > 0 ? inner * up / u : 0, gv = v > 0 ? inner * vp / v : 0;
  double gw = w > 0 ? outer * power(w, r) / w : 0;
  *gradient = tl_vec3(copysign(gu / s->a, x.x), copysign(gv / s->b, x.y), copysign(gw / s->c, x.z));
  return g * scale;
}

/* In grid units about the grid's point (0,0,0). */
static double super_phi(const void *context, TlVec3 y, TlVec3 *gradient) {
  const Super *s = context;
  TlVec3 body = tl_scale(s->spacing, tl_add(y, s->shift)), g;
  double size = fmin(s->a, fmin(s->b, s->c)) / s->spacing;
  double f = size * (gauge(s, tl_mat_vec(s->to_shape, body), &g) - 1);
  *gradient = tl_mat_tvec(s->to_shape, tl_scale(size * s->spacing, g));
  return f;
}

/* ---- closed forms ---- */

static double beta(double x, double y) {
  return exp(lgamma(x) + lgamma(y) - lgamma(x + y));
}

static void closed_mass(const Super *s, double *volume, double moments[3]) {
  double a = s->a, b = s->b, c = s->c, ee = s->ee, en = s->en, k = 0.5 * a * b * c * ee * en;
  *volume = 2 * a * b * c * ee * en * beta(en / 2 + 1, en) * beta(ee / 2, ee / 2);
  double side = beta(1.5 * ee, 0.5 * ee) * beta(0.5 * en, 2 * en + 1);
  double top = 4 * c * c * beta(0.5 * ee, 0.5 * ee + 1) * beta(1.5 * en, en + 1);
  moments[0] = k * (b * b * side + top);
  moments[1] = k * (a * a * side + top);
  moments[2] = k * (a * a + b * b) * side;
}

/* Surface = int r^2 / (n . u) over directions u; midpoint rule on one octant. */
static double area_of(const Super *s) {
  enum { N = 200 };
  double sum = 0;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      double z = (i + 0.5) / N, angle = (j + 0.5) / N * M_PI / 2, r = sqrt(1 - z * z);
      TlVec3 u = tl_vec3(r * cos(angle), r * sin(angle), z), g;
      double f = gauge(s, u, &g);
      sum += tl_norm(g) / (f * f * f); /* r = 1/f, n.u = f/|g| */
    }
  return 8 * sum * (M_PI / 2) / ((double)N * N);
}

/* Permutation, proper, that sorts the moments ascending; ties keep their order. */
static void sort_axes(double moments[3], TlMat3 *to_shape) {
  int order[3] = {0, 1, 2};
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2 - i; j++)
      if (moments[order[j]] > moments[order[j + 1]] * (1 + 1e-12)) {
        int swap = order[j];
        order[j] = order[j + 1];
        order[j + 1] = swap;
      }
  double sorted[3];
  *to_shape = (TlMat3){{{0}}};
  for (int k = 0; k < 3; k++) {
    sorted[k] = moments[order[k]];
    to_shape->m[order[k]][k] = 1;
  }
  bool odd = (order[0] > order[1]) ^ (order[0] > order[2]) ^ (order[1] > order[2]);
  if (odd) /* the bodies are symmetric: turning one axis round changes nothing */
    for (int k = 0; k < 3; k++) to_shape->m[k][2] = -to_shape->m[k][2];
  for (int k = 0; k < 3; k++) moments[k] = sorted[k];
}

static void note_pose(TlAvatar *out, double moments[3], TlMat3 *to_shape) {
  sort_axes(moments, to_shape);
  out->inertia_m5 = tl_vec3(moments[0], moments[1], moments[2]);
  out->scan_rotation = tl_quat_from_matrix(*to_shape);
}

/* Half extents along the body's axes. */
static TlVec3 body_half(TlMat3 to_shape, TlVec3 half) {
  TlVec3 b = tl_mat_tvec(to_shape, half);
  return tl_vec3(fabs(b.x), fabs(b.y), fabs(b.z));
}

/* ---- superellipsoid ---- */

static TlStatus super_build(Super *s, int32_t nodes, TlAvatar *out) {
  double moments[3];
  closed_mass(s, &out->volume_m3, moments);
  out->area_m2 = area_of(s);
  note_pose(out, moments, &s->to_shape);
  TlVec3 half = body_half(s->to_shape, tl_vec3(s->a, s->b, s->c));
  TL_TRY(tl_solid_grid(tl_scale(-1, half), half, s->spacing, out));
  TlPhiGrid grid = {out->nx, out->ny, out->nz, out->phi};
  s->shift = tl_scale(1 / s->spacing, out->origin_m);
  TL_TRY(tl_distance_fill(super_phi, s, &grid));
  int64_t count = tl_grid_count(&grid);
  for (int64_t i = 0; i < count; i++) grid.phi[i] = (float)(grid.phi[i] * s->spacing);
  s->shift = tl_vec3(0, 0, 0);
  TlNodeOptions options = {.count = nodes};
  return tl_avatar_finish(out, &options, super_phi, s);
}

TlStatus tl_avatar_superellipsoid(double a, double b, double c, double eps_e, double eps_n,
                                  double spacing_m, int32_t node_count, TlAvatar *out) {
  *out = (TlAvatar){0};
  TL_TRY(tl_solid_check(fmin(a, fmin(b, c)), fmax(a, fmax(b, c)), spacing_m, node_count));
  if (!(eps_e >= 0.1 && eps_e <= 2 && eps_n >= 0.1 && eps_n <= 2))
    return tl_fail(TL_EUSAGE, "exponents %g, %g: they must lie between 0.1 and 2", eps_e, eps_n);
  Super s = {.a = a, .b = b, .c = c, .ee = eps_e, .en = eps_n, .spacing = spacing_m};
  TlStatus status = super_build(&s, node_count, out);
  if (status != TL_OK) tl_avatar_free(out);
  return status;
}

TlStatus tl_avatar_sphere(double radius, double spacing_m, int32_t node_count, TlAvatar *out) {
  return tl_avatar_superellipsoid(radius, radius, radius, 1, 1, spacing_m, node_count, out);
}

/* ---- box ---- */

static double box_distance(const void *solid, TlVec3 p) {
  const TlVec3 *half = solid;
  double x = fabs(p.x) - half->x, y = fabs(p.y) - half->y, z = fabs(p.z) - half->z;
  double inside = fmin(0, fmax(x, fmax(y, z)));
  return inside + tl_norm(tl_vec3(fmax(x, 0), fmax(y, 0), fmax(z, 0)));
}

static int64_t lattice_count(const int64_t n[3]) { /* points on the surface of n cells an axis */
  return (n[0] + 1) * (n[1] + 1) * (n[2] + 1) - (n[0] - 1) * (n[1] - 1) * (n[2] - 1);
}

static void lattice_cells(TlVec3 half, double step, int64_t n[3]) {
  double e[3] = {half.x, half.y, half.z};
  for (int k = 0; k < 3; k++) n[k] = (int64_t)fmax(1, rint(2 * e[k] / step));
}

/* Cells an axis whose surface lattice comes nearest to count. */
static void lattice_fit(TlVec3 half, double count, int64_t n[3]) {
  double area = 8 * (half.x * half.y + half.y * half.z + half.z * half.x), best = INFINITY;
  double guess = sqrt(area / count);
  for (int i = -100; i <= 100; i++) {
    int64_t trial[3];
    lattice_cells(half, guess * exp(0.007 * i), trial);
    double miss = fabs((double)lattice_count(trial) - count);
    if (miss >= best) continue;
    best = miss;
    for (int k = 0; k < 3; k++) n[k] = trial[k];
  }
}

/* Area of lattice node (i,j,k): a cell's area of each face it lies on, halved at each border. */
static double lattice_area(const int64_t n[3], const double d[3], const int64_t p[3]) {
  double area = 0;
  for (int a = 0; a < 3; a++) {
    if (p[a] != 0 && p[a] != n[a]) continue;
    int b = (a + 1) % 3, c = (a + 2) % 3;
    double part = d[b] * d[c];
    if (p[b] == 0 || p[b] == n[b]) part *= 0.5;
    if (p[c] == 0 || p[c] == n[c]) part *= 0.5;
    area += part;
  }
  return area;
}

static TlStatus box_nodes(TlVec3 half, int32_t count, TlAvatar *a) {
  int64_t n[3] = {1, 1, 1}, p[3];
  double e[3] = {half.x, half.y, half.z}, d[3];
  double step = tl_solid_node_step(a, count);
  lattice_fit(half, a->area_m2 / (step * step), n);
  for (int k = 0; k < 3; k++) d[k] = 2 * e[k] / (double)n[k];
  int64_t total = lattice_count(n);
  TL_TRY(tl_solid_reserve_nodes(a, total));
  for (p[2] = 0; p[2] <= n[2]; p[2]++)
    for (p[1] = 0; p[1] <= n[1]; p[1]++)
      for (p[0] = 0; p[0] <= n[0]; p[0]++) {
        double area = lattice_area(n, d, p);
        if (area == 0) continue;
        TlVec3 x = tl_vec3((double)p[0] * d[0] - e[0], (double)p[1] * d[1] - e[1],
                           (double)p[2] * d[2] - e[2]);
        TL_TRY(tl_solid_node(a, x, area));
      }
  return tl_nodes_extents(a);
}

static TlStatus box_build(TlVec3 given, double spacing, int32_t nodes, TlAvatar *out) {
  double v = 8 * given.x * given.y * given.z;
  double moments[3] = {v / 3 * (given.y * given.y + given.z * given.z),
                       v / 3 * (given.x * given.x + given.z * given.z),
                       v / 3 * (given.x * given.x + given.y * given.y)};
  TlMat3 to_shape;
  out->volume_m3 = v;
  out->area_m2 = 8 * (given.x * given.y + given.y * given.z + given.z * given.x);
  note_pose(out, moments, &to_shape);
  TlVec3 half = body_half(to_shape, given);
  TL_TRY(tl_solid_grid(tl_scale(-1, half), half, spacing, out));
  TL_TRY(tl_solid_fill(box_distance, &half, out));
  return box_nodes(half, nodes, out);
}

TlStatus tl_avatar_box(double hx, double hy, double hz, double spacing_m, int32_t node_count,
                       TlAvatar *out) {
  *out = (TlAvatar){0};
  TL_TRY(tl_solid_check(fmin(hx, fmin(hy, hz)), fmax(hx, fmax(hy, hz)), spacing_m, node_count));
  TlStatus status = box_build(tl_vec3(hx, hy, hz), spacing_m, node_count, out);
  if (status != TL_OK) tl_avatar_free(out);
  return status;
}

/* ---- as formulas of a study ---- */

TlStatus tl_formula_sphere(const TlFormula *f, double spacing, TlAvatar *out) {
  return tl_avatar_sphere(f->diameter_m / 2, spacing, f->nodes, out);
}

TlStatus tl_formula_box(const TlFormula *f, double spacing, TlAvatar *out) {
  return tl_avatar_box(f->size_m[0] / 2, f->size_m[1] / 2, f->size_m[2] / 2, spacing, f->nodes,
                       out);
}

TlStatus tl_formula_superellipsoid(const TlFormula *f, double spacing, TlAvatar *out) {
  return tl_avatar_superellipsoid(f->size_m[0] / 2, f->size_m[1] / 2, f->size_m[2] / 2,
                                  f->exponent_e, f->exponent_n, spacing, f->nodes, out);
}
