/* From a closed mesh to an avatar.
 *
 * Volume, centre of mass and inertia are those of the polyhedron, exactly (divergence theorem over
 * the tetrahedra of each facet and one point; second moments after Tonon 2004); the body frame lies
 * on its principal axes (the mesh's own axes where moments are equal to rounding); phi is the exact
 * signed distance (triangle_tree.h) on the grid; area is that of the facets. Nodes: the mesh's
 * sharp vertices and points along its sharp edges (where facets turn by more than sharp_deg) first,
 * then surface points, each farthest from those there are; brought onto the trilinear zero set,
 * which rounds edges within a cell. The pose is that of the mesh in its own coordinates: mesh point
 * = scan_centroid_m + R(scan_rotation) body point, so grains of one scene keep their places.
 */
#ifndef TL_SHAPE_FROM_MESH_H
#define TL_SHAPE_FROM_MESH_H

#include "num/triangles.h"
#include "shape/avatar.h"

typedef struct TlFromMesh {
  double spacing_m; /* of the grid; 0: a thirtieth of the diameter */
  int32_t nodes;    /* 0: spaced a tenth of the diameter */
  double sharp_deg; /* 0: 30 */
} TlFromMesh;

typedef struct TlPolyhedron {
  double volume;
  TlVec3 centroid;
  TlSym3 inertia; /* about the centroid, unit density */
} TlPolyhedron;
TlPolyhedron tl_polyhedron(const TlTriangles *mesh);

/* mesh: in metres, checked by tl_triangles_make_body; it is moved into the body frame. TL_EINPUT
 * when the surface passes through itself (winding numbers at some hundred points do not agree with
 * the signs), TL_EUSAGE when spacing or nodes make no sense for its size. Same bits for any
 * threads. */
TlStatus tl_avatar_from_mesh(TlTriangles *mesh, const TlFromMesh *options, TlAvatar *out);

#endif
