#include "model/boundary.h"

static bool terrain_phi(const void *data, TlVec3 point, double *phi, TlVec3 *normal) {
  return tl_terrain_phi(data, point, phi, normal) != TL_TERRAIN_OUTSIDE;
}

static int32_t terrain_class(const void *data, TlVec3 point) {
  return tl_terrain_class(data, point.x, point.y);
}

/* Trilinear interpolation of a marched distance: a cell's gradient can pass 1 by some percent near
 * ridges; 1.25 covers a cell whose axis differences are each off by a quarter. */
const TlBoundaryKind tl_boundary_terrain = {.name = "terrain",
                                            .phi = terrain_phi,
                                            .lipschitz = 1.25,
                                            .has_outside = true,
                                            .class_at = terrain_class};
