#include "model/closed.h"

#include <math.h>

enum { NODES_WANTED = 200 };

/* Inside and on edges the gradient is that of the nearest face, of tied ones z before y before x:
 * boxes stacked flush then meet by their tops. */
static TlVec3 box_gradient(TlVec3 p, TlVec3 q) {
  TlVec3 out = {fmax(q.x, 0), fmax(q.y, 0), fmax(q.z, 0)};
  double far = tl_norm(out);
  TlVec3 g = far > 0                    ? tl_scale(1 / far, out)
             : q.z >= q.x && q.z >= q.y ? tl_vec3(0, 0, 1)
             : q.y >= q.x               ? tl_vec3(0, 1, 0)
                                        : tl_vec3(1, 0, 0);
  return tl_vec3(copysign(g.x, p.x), copysign(g.y, p.y), copysign(g.z, p.z));
}

static double box_phi(const double *size, TlVec3 p, TlVec3 *gradient) {
  TlVec3 q = {fabs(p.x) - 0.5 * size[0], fabs(p.y) - 0.5 * size[1], fabs(p.z) - 0.5 * size[2]};
  if (gradient) *gradient = box_gradient(p, q);
  double inside = fmax(q.x, fmax(q.y, q.z));
  return inside <= 0 ? inside : tl_norm(tl_vec3(fmax(q.x, 0), fmax(q.y, 0), fmax(q.z, 0)));
}

static TlClosedMass box_mass(const double *s) {
  double volume = s[0] * s[1] * s[2], x = s[0] * s[0], y = s[1] * s[1], z = s[2] * s[2];
  return (TlClosedMass){volume, 2 * (s[0] * s[1] + s[1] * s[2] + s[2] * s[0]),
                        tl_scale(volume / 12, tl_vec3(y + z, x + z, x + y))};
}

static double box_radius(const double *s) {
  return 0.5 * tl_norm(tl_vec3(s[0], s[1], s[2]));
}

static int32_t intervals(double side, double spacing) {
  double n = floor(side / spacing + 0.5);
  return n > 1 ? (int32_t)n : 1;
}

/* A lattice on the surface, corners and edges in it, about NODES_WANTED nodes. */
static int32_t box_nodes(const double *s, TlVec3 *out) {
  double spacing = sqrt(box_mass(s).area_m2 / NODES_WANTED);
  int32_t n[3], count = 0;
  for (int a = 0; a < 3; a++) n[a] = intervals(s[a], spacing);
  for (int32_t k = 0; k <= n[2]; k++)
    for (int32_t j = 0; j <= n[1]; j++)
      for (int32_t i = 0; i <= n[0]; i++) {
        bool face = i == 0 || j == 0 || k == 0 || i == n[0] || j == n[1] || k == n[2];
        if (!face) continue;
        if (out)
          out[count] = tl_vec3(s[0] * ((double)i / n[0] - 0.5), s[1] * ((double)j / n[1] - 0.5),
                               s[2] * ((double)k / n[2] - 0.5));
        count++;
      }
  return count;
}

static int box_parts(const double *s, TlFacets *out) {
  if (out) *out = tl_facets_of_box(s[0], s[1], s[2]);
  return 1;
}

static void box_sizes(const TlFormula *f, double *size) {
  for (int k = 0; k < 3; k++) size[k] = f->size_m[k];
}

const TlClosedKind tl_closed_box = {.name = "box",
                                    .size_count = 3,
                                    .size_name = {"side_x_m", "side_y_m", "side_z_m"},
                                    .sizes = box_sizes,
                                    .phi = box_phi,
                                    .mass = box_mass,
                                    .radius = box_radius,
                                    .parts = box_parts,
                                    .nodes = box_nodes};
