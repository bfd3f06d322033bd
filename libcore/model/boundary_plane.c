#include "model/boundary.h"

static bool plane_phi(const void *data, TlVec3 point, double *phi, TlVec3 *normal) {
  const TlBoundaryPlane *plane = data;
  *phi = tl_dot(tl_sub(point, plane->point), plane->normal);
  *normal = plane->normal;
  return true;
}

const TlBoundaryKind tl_boundary_plane = {
    .name = "plane", .phi = plane_phi, .lipschitz = 1, .exact = true, .has_outside = false};
