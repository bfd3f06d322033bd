/* Triangles of phi = 0 by marching tetrahedra (six a cell around its long diagonal, Kuhn's
 * division, so that neighbours fit): closed, outward, vertices shared, no case table and none of
 * marching cubes' ambiguous faces. Chosen over marching cubes for that; it makes about twice the
 * triangles. Vertices lie on cell edges and diagonals where phi is linear between grid points.
 * Index order and units as the grid's: vertices in the avatar's body frame, metres.
 */
#ifndef TL_SHAPE_MESH_H
#define TL_SHAPE_MESH_H

#include "shape/avatar.h"

typedef struct TlMesh {
  size_t vertex_count, triangle_count;
  float *vertex_m;   /* x, y, z of vertex i at 3i.., owned */
  int32_t *triangle; /* three vertices each, counter-clockwise seen from outside, owned */
  size_t vertex_capacity, triangle_capacity;
} TlMesh;

/* Surface of an avatar; same bits every time; about 60 ns a grid point. */
TlStatus tl_mesh_from_avatar(const TlAvatar *avatar, TlMesh *mesh);
void tl_mesh_free(TlMesh *mesh);
/* Area, and volume by the divergence theorem, of the triangles. */
double tl_mesh_area(const TlMesh *mesh);
double tl_mesh_volume(const TlMesh *mesh);

static inline TlVec3 tl_mesh_vertex(const TlMesh *m, int32_t i) {
  return tl_vec3(m->vertex_m[3 * (size_t)i], m->vertex_m[3 * (size_t)i + 1],
                 m->vertex_m[3 * (size_t)i + 2]);
}

#endif
