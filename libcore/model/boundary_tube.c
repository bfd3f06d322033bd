#include "model/boundary.h"

static bool tube_phi(const void *data, TlVec3 point, double *phi, TlVec3 *normal) {
  const TlBoundaryTube *t = data;
  TlVec3 r = tl_sub(point, t->point), across = tl_axpy(r, -tl_dot(r, t->axis), t->axis);
  double rho = tl_norm(across);
  *phi = t->radius_m - rho;
  /* on the axis all directions are as near: any across it */
  TlVec3 away = rho > 0 ? across : tl_cross(t->axis, tl_vec3(t->axis.z, t->axis.x, -t->axis.y));
  *normal = tl_scale(-1, tl_unit(away));
  return true;
}

const TlBoundaryKind tl_boundary_tube = {
    .name = "tube", .phi = tube_phi, .lipschitz = 1, .exact = true, .has_outside = false};
