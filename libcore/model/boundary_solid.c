#include "model/boundary.h"

static bool solid_phi(const void *data, TlVec3 point, double *phi, TlVec3 *normal) {
  const TlBoundarySolid *s = data;
  TlVec3 gradient, p = tl_mat_tvec(s->turn, tl_sub(point, s->centre));
  *phi = s->kind->phi(s->size, p, &gradient);
  *normal = tl_mat_vec(s->turn, gradient);
  return true;
}

const TlBoundaryKind tl_boundary_solid = {.name = "solid",
                                          .phi = solid_phi,
                                          .lipschitz = 1,
                                          .exact = true,
                                          .edged = true,
                                          .has_outside = false};
