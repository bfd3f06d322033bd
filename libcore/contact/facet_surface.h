/* What two overlapping polyhedra bear as surfaces, exactly: the traction of the penalty method
 * (docs/theory/penalty.md) over their faces, as it would be with nodes without end.
 *
 * Each grain's faces are cut to what lies inside the other one, and that to the pieces over which one and
 * the same of its planes is nearest. There the depth is linear, and mean, mean square and centre of
 * pressure have closed forms. A piece is a contact point for each of its sides and one at its centre of
 * pressure, along that plane's normal, so that it resists being turned about it; one that bears next to
 * nothing is the latter alone. The pieces of each grain count for half. The energy is continuous in the
 * poses, and the force is its derivative.
 *
 * Convex polyhedra, frames and units as in facets.h; a union is its parts. Thread safe.
 */
#ifndef TL_CONTACT_FACET_SURFACE_H
#define TL_CONTACT_FACET_SURFACE_H

#include "contact/facets.h"
#include "contact/narrow.h"

/* Where the points go: frame of a to the world; their keys are `key` and below, each by piece. depth:
 * of the whole contact, as its gap says; the points are booked at it, or deeper. */
typedef struct TlFacetFrame {
  TlVec3 centre;
  TlMat3 turn;
  int64_t key;
  double depth;
} TlFacetFrame;

enum {
  TL_FACET_LINES = TL_FACET_LOOP + 2 * TL_FACET_PLANES, /* names of the sides of a piece */
  /* keys that the pieces of a pair, or of a part at a wall, take */
  TL_FACET_PIECES = 2 * TL_FACET_PLANES * TL_FACET_PLANES * TL_FACET_LINES
};

/* Appended. Of q facets, scale, r and t are read. */
TlStatus tl_facet_surface(const TlFacetQuery *q, const TlFacetFrame *frame, TlPoints *points);

/* Of a polyhedron below a plane, both in the world: phi(x) = n . x - d. All of its faces count in full. */
TlStatus tl_facet_surface_at_plane(const TlFacets *facets, double scale, TlVec3 n, double d,
                                   const TlFacetFrame *frame, TlPoints *points);

#endif
