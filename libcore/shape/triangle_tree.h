/* Signed distance to the closed surface of a body, exactly: the nearest point of its triangles
 * through a tree of boxes, the sign by the angle-weighted normal of the face, edge or vertex that
 * holds it (Baerentzen and Aanaes 2005: right everywhere for a closed surface without
 * self-intersection). Negative inside. Unit: that of the triangles.
 */
#ifndef TL_SHAPE_TRIANGLE_TREE_H
#define TL_SHAPE_TRIANGLE_TREE_H

#include "num/triangles.h"

typedef struct TlTriangleTree {
  const TlTriangles *mesh; /* borrowed */
  struct TlTriangleBox *box;
  int64_t boxes;
  int32_t *order;        /* triangles, leaf by leaf */
  TlVec3 *vertex_normal; /* sum of the facets' normals, by angle */
  TlVec3 *edge_normal;   /* sum of the two facets' normals; of the edge that begins at corner c */
} TlTriangleTree;

/* mesh: checked by tl_triangles_make_body. */
TlStatus tl_triangle_tree_make(TlTriangleTree *tree, const TlTriangles *mesh);
void tl_triangle_tree_free(TlTriangleTree *tree);
/* nearest: the point of the surface; may be NULL. */
double tl_triangle_tree_distance(const TlTriangleTree *tree, TlVec3 p, TlVec3 *nearest);
/* How often the surface goes round p (van Oosterom and Strackee 1983): 1 inside, 0 outside, other
 * where the surface passes through itself. All triangles are visited. */
double tl_triangles_winding(const TlTriangles *mesh, TlVec3 p);

#endif
