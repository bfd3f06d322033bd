/* Convex polyhedra with few faces: the exact depth of two of them and the exact distance of a point.
 *
 * The depth is the length of the shortest translation that parts the two: the least overlap of their
 * projections over all face normals and all cross products of an edge of one with an edge of the
 * other (separating axes; Gottschalk, Lin and Manocha 1996). For convex bodies no shorter
 * translation exists, so nothing is approximated but the last bits. Any frame, any unit.
 */
#ifndef TL_POST_OVERLAP_CONVEX_H
#define TL_POST_OVERLAP_CONVEX_H

#include "num/vec.h"

enum { TL_CONVEX_VERTICES = 8, TL_CONVEX_FACES = 6, TL_CONVEX_CORNERS = 4, TL_CONVEX_EDGES = 12 };

typedef struct TlConvex {
  int vertices, faces, corners, edges, directions; /* corners: of each face */
  TlVec3 vertex[TL_CONVEX_VERTICES];
  int face[TL_CONVEX_FACES][TL_CONVEX_CORNERS]; /* vertices, anticlockwise seen from outside */
  TlVec3 normal[TL_CONVEX_FACES];               /* outward, unit */
  int edge[TL_CONVEX_EDGES][2];
  TlVec3 direction[TL_CONVEX_FACES]; /* of the edges, no two parallel, unit */
} TlConvex;

TlConvex tl_convex_box(TlVec3 half); /* about the origin, along the axes */
/* Vertices at (1,1,1), (1,-1,-1), (-1,1,-1), (-1,-1,1) times edge / sqrt 8. */
TlConvex tl_convex_tetrahedron(double edge);
/* Of scale * turn * x + shift. turn: a rotation. */
TlConvex tl_convex_placed(const TlConvex *convex, double scale, TlMat3 turn, TlVec3 shift);

/* 0: they do not overlap. normal: unit, the direction in which the shortest translation moves a;
 * point: the mean of the ends of all edges inside the other body. Both are set only for a depth
 * above 0. */
double tl_convex_depth(const TlConvex *a, const TlConvex *b, TlVec3 *normal, TlVec3 *point);

/* Signed distance of p, < 0 inside, with its gradient (may be NULL), which is a unit vector. */
double tl_convex_distance(const TlConvex *convex, TlVec3 p, TlVec3 *gradient);

#endif
