/* Grains that are convex polyhedra: faces, corners and edges, and the exact gap of two of them
 * followed from step to step (docs/theory/places.md).
 *
 * Neither nodes nor a smooth field see where two sharp edges cross. A box in closed form gives its
 * faces; for an avatar they are read from its grid: nodes where the field's second derivatives
 * vanish, gathered by normal and distance, and the corners and edges in which those planes meet. An
 * avatar is taken for a polyhedron only if every node lies on one of its planes, or within half a
 * cell of an edge: a rounding below that cannot be told from the grid's own.
 *
 * Gap: the largest separation along the normals of faces and of pairs of edges whose arcs of normals
 * cross (separating axes; Gregorius 2013). An overlap is exact: -gap is the length of the least
 * translation that parts the two. Apart it is a lower bound of the distance, 0 where they touch.
 *
 * From step to step only candidates are evaluated. When they were listed the gap was g. Since then no
 * point of one grain has moved by more than w seen from the other, so a face whose separation was
 * below g - 2 w, and edges farther from each other than |g| + 2 w, cannot give the gap. Candidates are
 * listed anew when w reaches the skin. Which candidates are listed never shows in the gap but for
 * rounding. Metres; frames as said; nothing is allocated but in tl_facets_make. Thread safe.
 */
#ifndef TL_CONTACT_FACETS_H
#define TL_CONTACT_FACETS_H

#include "model/shapes.h"
#include "shape/spline.h"

enum {
  TL_FACET_PLANES = 32,
  TL_FACET_CORNERS = 60,
  TL_FACET_EDGES = 90,
  TL_FACET_FACES_KEPT = 24, /* candidates of a pair: a face with a corner of the other grain */
  TL_FACET_EDGES_KEPT = 24
};

typedef struct TlFacetEdge {
  int32_t face[2], corner[2];
} TlFacetEdge;

typedef struct TlFacets {                        /* body frame, unit scale */
  int32_t plane_count, corner_count, edge_count; /* 0 planes: not a convex polyhedron */
  TlVec3 normal[TL_FACET_PLANES];                /* outward, unit */
  double distance[TL_FACET_PLANES];              /* normal . x = distance on the plane */
  TlVec3 corner[TL_FACET_CORNERS];
  TlFacetEdge edge[TL_FACET_EDGES];
} TlFacets;
/* spline: of an avatar's grid, else NULL. */
TlFacets tl_facets_of(const TlShape *shape, const TlSpline *spline);

typedef struct TlFacetPair { /* memory of a pair: state */
  bool made;
  int32_t face_count, edge_count;
  TlMat3 r0; /* when the candidates were listed */
  TlVec3 t0;
  double skin;
  struct {
    int16_t side, face, corner; /* side: whose face, 0: a */
  } face[TL_FACET_FACES_KEPT];
  struct {
    int16_t a, b;
  } edge[TL_FACET_EDGES_KEPT];
} TlFacetPair;

typedef struct TlFacetQuery {
  const TlFacets *facets[2];
  double scale[2];
  TlMat3 r; /* b's point of a's point x is r x + t */
  TlVec3 t;
  double motion; /* w: no point moved by more since pair->r0, pair->t0 (0 when it is not made) */
  double skin;   /* of new candidates */
} TlFacetQuery;

typedef struct TlFacetContact { /* frame of a */
  TlVec3 x, n;                  /* half-way between the surfaces; unit, from b to a */
  double gap;
  int32_t key; /* of the face and corner, or of the two edges */
} TlFacetContact;
/* *listed: were the candidates listed anew? */
TlFacetContact tl_facets_gap(TlFacetPair *pair, const TlFacetQuery *query, bool *listed);

#endif
