/* A pipe of some thickness: a rectangle turned about the axis, exact distance outside and in. */
#include "model/boundary.h"

#include <math.h>

static bool ring_phi(const void *data, TlVec3 point, double *phi, TlVec3 *normal) {
  const TlBoundaryRing *g = data;
  TlVec3 r = tl_sub(point, g->centre);
  double z = tl_dot(r, g->axis);
  TlVec3 across = tl_axpy(r, -z, g->axis), radial = tl_unit(across);
  double half = 0.5 * g->thickness_m, u = tl_norm(across) - (g->radius_m + half);
  double side = fabs(u) - half, end = fabs(z) - 0.5 * g->length_m;
  double out_side = fmax(side, 0), out_end = fmax(end, 0), far = hypot(out_side, out_end);
  double part_side = far > 0 ? out_side / far : side > end,
         part_end = far > 0 ? out_end / far : !(side > end);
  if (tl_norm2(radial) == 0)
    radial = tl_unit(tl_cross(g->axis, tl_vec3(g->axis.z, g->axis.x, -g->axis.y)));
  *phi = far > 0 ? far : fmax(side, end);
  *normal =
      tl_add(tl_scale(copysign(part_side, u), radial), tl_scale(copysign(part_end, z), g->axis));
  return true;
}

const TlBoundaryKind tl_boundary_ring = {.name = "ring",
                                         .phi = ring_phi,
                                         .lipschitz = 1,
                                         .exact = true,
                                         .edged = true,
                                         .has_outside = false};
