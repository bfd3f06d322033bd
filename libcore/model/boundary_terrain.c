#include "model/boundary.h"

static bool terrain_phi(const void *data, TlVec3 point, double *phi, TlVec3 *normal) {
  return tl_terrain_phi(data, point, phi, normal) != TL_TERRAIN_OUTSIDE;
}

static bool terrain_within(const void *data, TlVec3 point, double reach, double *phi,
                           TlVec3 *normal) {
  return tl_terrain_surface(data, point, reach, phi, normal);
}

static void terrain_many(const void *data, const TlVec3 *point, size_t count, double *phi,
                         TlVec3 *normal) {
  tl_terrain_surface_many(data, point, count, phi, normal);
}

static TlRelief terrain_relief(const void *data) {
  const TlTerrain *t = data;
  return (TlRelief){{t->nx, t->ny, t->height_m, 1 / t->cell_m}, t->cell_m, t->x0_m, t->y0_m};
}

static int32_t terrain_class(const void *data, TlVec3 point) {
  return tl_terrain_class(data, point.x, point.y);
}

/* The distance to the patches is a true one. */
const TlBoundaryKind tl_boundary_terrain = {.name = "terrain",
                                            .phi = terrain_phi,
                                            .within = terrain_within,
                                            .many = terrain_many,
                                            .lipschitz = 1,
                                            .relief = terrain_relief,
                                            .has_outside = true,
                                            .class_at = terrain_class};

/* Trilinear interpolation of the band: a cell's gradient can pass 1 by some percent near ridges; 1.25
 * covers a cell whose axis differences are each off by a quarter. */
const TlBoundaryKind tl_boundary_terrain_band = {.name = "terrain-band",
                                                 .phi = terrain_phi,
                                                 .lipschitz = 1.25,
                                                 .has_outside = true,
                                                 .class_at = terrain_class};
