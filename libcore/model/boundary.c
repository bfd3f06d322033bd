#include "model/boundary.h"

#include <math.h>
#include <string.h>

static const TlBoundaryKind *const boundary_kinds[] = {
    &tl_boundary_plane, &tl_boundary_solid,   &tl_boundary_tube,
    &tl_boundary_ring,  &tl_boundary_terrain, &tl_boundary_terrain_band};

const TlBoundaryKind *tl_boundary_kind(const char *name) {
  for (size_t i = 0; i < sizeof boundary_kinds / sizeof *boundary_kinds; i++)
    if (strcmp(boundary_kinds[i]->name, name) == 0) return boundary_kinds[i];
  return NULL;
}

bool tl_boundary_driven_within(const TlBoundary *b, TlVec3 point, double reach, double *phi,
                               TlVec3 *normal) {
  if (b->place.absent) {
    *phi = INFINITY;
    if (normal) *normal = tl_vec3(0, 0, 1);
    return true;
  }
  TlVec3 n, p = tl_placed_back(&b->place, point);
  bool there = b->kind->within && reach < INFINITY
                   ? b->kind->within(b->data, p, reach, phi, normal ? &n : NULL)
                   : b->kind->phi(b->data, p, phi, &n);
  if (there && normal) *normal = tl_mat_vec(b->place.turn, n);
  return there;
}

bool tl_boundary_driven_phi(const TlBoundary *b, TlVec3 point, double *phi, TlVec3 *normal) {
  return tl_boundary_driven_within(b, point, INFINITY, phi, normal);
}

static int32_t material_of_class(const TlSurface *s, int32_t class_id) {
  int32_t first = 0, last = s->classes;
  while (first < last) {
    int32_t mid = first + (last - first) / 2;
    if (s->class_id[mid] < class_id)
      first = mid + 1;
    else
      last = mid;
  }
  bool listed = first < s->classes && s->class_id[first] == class_id;
  return listed ? s->class_material[first] : s->material;
}

int32_t tl_boundary_material(const TlBoundary *b, TlVec3 point) {
  if (!b->surface) return TL_MATERIAL_BOUNDARY;
  if (b->surface->classes == 0 || !b->kind->class_at) return b->surface->material;
  TlVec3 p = b->drive ? tl_placed_back(&b->place, point) : point;
  return material_of_class(b->surface, b->kind->class_at(b->data, p));
}
