#include "model/closed.h"
#include "shape/solids.h"

#include <math.h>

enum { NODES_WANTED = 300 };

static double cross_phi(const double *size, TlVec3 p, TlVec3 *gradient) {
  return tl_cross_phi(size[0], size[1], p, gradient);
}

/* Three bars less two of the cube that all share. */
static TlClosedMass cross_mass(const double *s) {
  double l = s[0], w = s[1], bar = l * w * w, cube = w * w * w;
  double moment = bar * (2 * w * w + 2 * (l * l + w * w)) / 12 - 2 * cube * 2 * w * w / 12;
  return (TlClosedMass){3 * bar - 2 * cube, 6 * (w * w + 2 * w * (l - w)),
                        tl_vec3(moment, moment, moment)};
}

static double cross_radius(const double *s) {
  return 0.5 * tl_norm(tl_vec3(s[0], s[1], s[1]));
}

static int32_t cross_nodes(const double *s, TlVec3 *out) {
  return tl_cross_nodes(s[0], s[1], sqrt(cross_mass(s).area_m2 / NODES_WANTED), out);
}

static int cross_parts(const double *s, TlFacets *out) {
  if (out) {
    out[0] = tl_facets_of_box(s[0], s[1], s[1]);
    out[1] = tl_facets_of_box(s[1], s[0], s[1]);
    out[2] = tl_facets_of_box(s[1], s[1], s[0]);
  }
  return 3;
}

static void cross_sizes(const TlFormula *f, double *size) {
  size[0] = f->length_m;
  size[1] = f->width_m;
}

const TlClosedKind tl_closed_cross = {.name = "cross",
                                      .size_count = 2,
                                      .size_name = {"length_m", "width_m"},
                                      .sizes = cross_sizes,
                                      .phi = cross_phi,
                                      .mass = cross_mass,
                                      .radius = cross_radius,
                                      .parts = cross_parts,
                                      .nodes = cross_nodes};
