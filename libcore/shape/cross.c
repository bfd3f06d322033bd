#include "shape/formula.h"
#include "shape/nodes.h"
#include "shape/solid.h"
#include "shape/solids.h"

#include <math.h>
#include <stdlib.h>

typedef struct Cross {
  double l, w; /* half length and half width of the bars */
} Cross;

/* From p to a rectangle with its edges along the axes: q is p seen from a corner, e the extents, 0 along
 * its normal. */
static TlVec3 from_rectangle(TlVec3 q, TlVec3 e) {
  return tl_vec3(q.x - fmin(fmax(q.x, 0), e.x), q.y - fmin(fmax(q.y, 0), e.y),
                 q.z - fmin(fmax(q.z, 0), e.z));
}

/* By symmetry the nearest surface point lies in p's octant: there each arm shows its end and two
 * sides. */
double tl_cross_phi(double length_m, double width_m, TlVec3 p, TlVec3 *gradient) {
  double l = length_m / 2, w = width_m / 2, best = INFINITY,
         x[3] = {fabs(p.x), fabs(p.y), fabs(p.z)};
  double away[3] = {0}, out[3] = {0}; /* from the nearest point; normal of its face */
  bool inside = false;
  for (int a = 0; a < 3; a++) { /* t along the arm */
    int b = (a + 1) % 3, c = (a + 2) % 3;
    double t = x[a], u = x[b], v = x[c];
    inside = inside || (t <= l && u <= w && v <= w);
    const TlVec3 offset[3] = {from_rectangle(tl_vec3(t - l, u, v), tl_vec3(0, w, w)),
                              from_rectangle(tl_vec3(t - w, u - w, v), tl_vec3(l - w, 0, w)),
                              from_rectangle(tl_vec3(t - w, u, v - w), tl_vec3(l - w, w, 0))};
    for (int k = 0; k < 3; k++) {
      double far = tl_norm2(offset[k]);
      if (far >= best) continue;
      best = far;
      away[a] = offset[k].x, away[b] = offset[k].y, away[c] = offset[k].z;
      out[a] = k == 0, out[b] = k == 1, out[c] = k == 2;
    }
  }
  best = sqrt(best);
  if (gradient) {
    double sign = inside ? -1 : 1;
    TlVec3 g = best > 0 ? tl_scale(sign / best, tl_vec3(away[0], away[1], away[2]))
                        : tl_vec3(out[0], out[1], out[2]);
    *gradient = tl_vec3(copysign(1, p.x) * g.x, copysign(1, p.y) * g.y, copysign(1, p.z) * g.z);
  }
  return inside ? -best : best;
}

static double distance(const void *solid, TlVec3 p) {
  const Cross *s = solid;
  return tl_cross_phi(2 * s->l, 2 * s->w, p, NULL);
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

static Lattice lattice_of(Cross s, double step) {
  Lattice lattice = {.k = (int)fmax(1, rint((s.l - s.w) / step)),
                     .m = (int)fmax(1, rint(2 * s.w / step)),
                     .cross = s};
  lattice.n = 2 * lattice.k + lattice.m;
  return lattice;
}

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

int32_t tl_cross_nodes(double length_m, double width_m, double step_m, TlVec3 *out) {
  Lattice s = lattice_of((Cross){length_m / 2, width_m / 2}, step_m);
  int32_t count = 0;
  int p[3];
  for (p[2] = 0; p[2] <= s.n; p[2]++)
    for (p[1] = 0; p[1] <= s.n; p[1]++)
      for (p[0] = 0; p[0] <= s.n; p[0]++) {
        if (!(area_at(&s, p) > 0)) continue;
        if (out)
          out[count] = tl_vec3(coordinate(&s, p[0]), coordinate(&s, p[1]), coordinate(&s, p[2]));
        count++;
      }
  return count;
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
  Lattice lattice = lattice_of(s, tl_solid_node_step(out, nodes));
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
