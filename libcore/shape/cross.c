#include "shape/formula.h"
#include "shape/nodes.h"
#include "shape/solid.h"
#include "shape/solids.h"

#include <math.h>
#include <stdlib.h>

typedef struct Cross {
  double l, w; /* half length and half width of the bars */
} Cross;

/* Distance to a rectangle with its edges along the axes: q is p seen from a corner, e the extents,
 * 0 along its normal. */
static double rectangle(TlVec3 q, TlVec3 e) {
  double x = q.x - fmin(fmax(q.x, 0), e.x), y = q.y - fmin(fmax(q.y, 0), e.y),
         z = q.z - fmin(fmax(q.z, 0), e.z);
  return x * x + y * y + z * z;
}

/* By symmetry the nearest surface point lies in p's octant: there each arm shows its end and two
 * sides. */
static double distance(const void *solid, TlVec3 p) {
  const Cross *s = solid;
  double l = s->l, w = s->w, best = INFINITY, x[3] = {fabs(p.x), fabs(p.y), fabs(p.z)};
  bool inside = false;
  for (int a = 0; a < 3; a++) { /* t along the arm */
    double t = x[a], u = x[(a + 1) % 3], v = x[(a + 2) % 3];
    inside = inside || (t <= l && u <= w && v <= w);
    best = fmin(best, rectangle(tl_vec3(t - l, u, v), tl_vec3(0, w, w)));
    best = fmin(best, rectangle(tl_vec3(t - w, u - w, v), tl_vec3(l - w, 0, w)));
    best = fmin(best, rectangle(tl_vec3(t - w, u, v - w), tl_vec3(l - w, w, 0)));
  }
  return inside ? -sqrt(best) : sqrt(best);
}

/* Three bars less two of the cube that all share. */
static void mass(const Cross *s, TlAvatar *out) {
  double l = s->l, w = s->w, bar = 8 * l * w * w, cube = 8 * w * w * w;
  double along = bar * 2 * w * w / 3, across = bar * (l * l + w * w) / 3;
  double moment = along + 2 * across - 2 * cube * 2 * w * w / 3;
  out->volume_m3 = 3 * bar - 2 * cube;
  out->area_m2 = 6 * (4 * w * w + 4 * 2 * w * (l - w));
  out->inertia_m5 = tl_vec3(moment, moment, moment);
  out->scan_rotation = (TlQuat){1, 0, 0, 0};
}

/* ---- nodes: a lattice of k cells along an arm and m across it ---- */

typedef struct Lattice {
  int k, m, n; /* n = 2 k + m cells an axis */
  Cross cross;
} Lattice;

static double coordinate(const Lattice *s, int i) {
  double l = s->cross.l, w = s->cross.w;
  if (i <= s->k) return -l + (l - w) * i / s->k;
  if (i <= s->k + s->m) return -w + 2 * w * (i - s->k) / s->m;
  return w + (l - w) * (i - s->k - s->m) / s->k;
}

/* Does cell (i, j, l) of the lattice lie in the cross: at most one index beyond the middle. */
static bool filled(const Lattice *s, const int c[3]) {
  int beyond = 0;
  for (int a = 0; a < 3; a++) {
    if (c[a] < 0 || c[a] >= s->n) return false;
    beyond += c[a] < s->k || c[a] >= s->k + s->m;
  }
  return beyond <= 1;
}

/* A quarter of each facet about the lattice point that parts a filled cell from an empty one. */
static double area_at(const Lattice *s, const int p[3]) {
  double area = 0;
  for (int a = 0; a < 3; a++)
    for (int q = 0; q < 4; q++) {
      int b = (a + 1) % 3, c = (a + 2) % 3, low[3], high[3];
      low[b] = high[b] = p[b] - (q & 1);
      low[c] = high[c] = p[c] - (q >> 1);
      low[a] = p[a] - 1;
      high[a] = p[a];
      if (filled(s, low) == filled(s, high)) continue;
      area += 0.25 * (coordinate(s, low[b] + 1) - coordinate(s, low[b])) *
              (coordinate(s, low[c] + 1) - coordinate(s, low[c]));
    }
  return area;
}

static TlStatus place(const Lattice *s, TlAvatar *out) {
  int64_t most = 6 * (int64_t)(s->m + 1) * (s->m + 1) + 24 * (int64_t)s->k * (s->m + 1);
  int p[3];
  TL_TRY(tl_solid_reserve_nodes(out, most));
  for (p[2] = 0; p[2] <= s->n; p[2]++)
    for (p[1] = 0; p[1] <= s->n; p[1]++)
      for (p[0] = 0; p[0] <= s->n; p[0]++) {
        double area = area_at(s, p);
        if (!(area > 0)) continue;
        TL_TRY(tl_solid_node(
            out, tl_vec3(coordinate(s, p[0]), coordinate(s, p[1]), coordinate(s, p[2])), area));
      }
  return tl_nodes_extents(out);
}

static TlStatus build(Cross s, double spacing, int32_t nodes, TlAvatar *out) {
  TlVec3 half = tl_vec3(s.l, s.l, s.l);
  mass(&s, out);
  TL_TRY(tl_solid_grid(tl_scale(-1, half), half, spacing, out));
  TL_TRY(tl_solid_fill(distance, &s, out));
  double step = tl_solid_node_step(out, nodes);
  Lattice lattice = {.k = (int)fmax(1, rint((s.l - s.w) / step)),
                     .m = (int)fmax(1, rint(2 * s.w / step)),
                     .cross = s};
  lattice.n = 2 * lattice.k + lattice.m;
  return place(&lattice, out);
}

TlStatus tl_avatar_cross(double length, double width, double spacing, int32_t nodes,
                         TlAvatar *out) {
  *out = (TlAvatar){0};
  if (!(length > width))
    return tl_fail(TL_EUSAGE, "a cross of length %g m and width %g m: it must be longer than wide",
                   length, width);
  TL_TRY(tl_solid_check(width / 2, length / 2, spacing, nodes));
  TlStatus status = build((Cross){length / 2, width / 2}, spacing, nodes, out);
  if (status != TL_OK) tl_avatar_free(out);
  return status;
}

TlStatus tl_formula_cross(const TlFormula *f, double spacing, TlAvatar *out) {
  return tl_avatar_cross(f->length_m, f->width_m, spacing, f->nodes, out);
}
