/* Grains that are convex polyhedra, or unions of such: faces, corners and edges of each part
 * (docs/theory/places.md).
 *
 * Neither nodes nor a smooth field see where two sharp edges cross. A closed form gives its faces; for
 * an avatar they are read from its grid: nodes where the field's second derivatives vanish, gathered by
 * normal and distance, and the corners and edges in which those planes meet. An avatar is taken for a
 * polyhedron only if every node lies on one of its planes, or within half a cell of an edge: a rounding
 * below that cannot be told from the grid's own. Body frame, unit scale, metres.
 */
#ifndef TL_MODEL_FACETS_H
#define TL_MODEL_FACETS_H

#include "num/vec.h"
#include "shape/avatar.h"

enum {
  TL_FACET_PLANES = 32,
  TL_FACET_CORNERS = 60,
  TL_FACET_EDGES = 90,
  TL_FACET_LOOP = 16, /* most corners of a face */
  TL_FACET_PARTS = 3  /* most convex parts of a shape */
};

typedef struct TlFacetEdge {
  int32_t face[2], corner[2];
} TlFacetEdge;

typedef struct TlFacets {
  int32_t plane_count, corner_count, edge_count; /* 0 planes: not a convex polyhedron */
  TlVec3 normal[TL_FACET_PLANES];                /* outward, unit */
  double distance[TL_FACET_PLANES];              /* normal . x = distance on the plane */
  TlVec3 corner[TL_FACET_CORNERS];
  TlFacetEdge edge[TL_FACET_EDGES];
  int16_t loop_count[TL_FACET_PLANES]; /* corners of each face, one after the other round it, */
  int16_t loop[TL_FACET_PLANES][TL_FACET_LOOP];   /* anticlockwise seen from outside */
  int16_t beside[TL_FACET_PLANES][TL_FACET_LOOP]; /* edge from that corner to the next */
} TlFacets;

/* Read from a grid; no planes: it is no polyhedron. */
TlFacets tl_facets_of_grid(const TlAvatar *avatar);
/* A box about the origin with these sides along the axes. */
TlFacets tl_facets_of_box(double x, double y, double z);

#endif
