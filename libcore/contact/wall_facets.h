/* A polyhedron, or a union of convex ones, at a wall that is a box or a cylinder: what its nodes do not see
 * (docs/theory/places.md). Nothing is kept from step to step.
 *
 *   box       where a body is beside an edge of it, faces and edges of both as for pairs (facets.h), in place
 *             of nodes; over the middle of a face nodes see all
 *   cylinder  beside its nodes, the places along the body's edges that lie deepest, or come closest: the
 *             distance to a cylinder is convex, so that each edge has one
 */
#ifndef TL_CONTACT_WALL_FACETS_H
#define TL_CONTACT_WALL_FACETS_H

#include "contact/narrow.h"
#include "model/shapes.h"

/* Frame of a wall that is a box or a cylinder, as it stands in this step. */
typedef struct TlWallFrame {
  TlVec3 centre;
  TlMat3 turn;
} TlWallFrame;
TlWallFrame tl_wall_frame(const TlBoundary *boundary);
/* Does a ball about the centre lie over the middle of one face of a box: beyond no more than one pair of faces, and
 * within all others? */
bool tl_wall_over_face(const TlBoundary *boundary, TlVec3 centre, double radius);

typedef enum TlWallFacets {
  TL_WALL_FACETS_NONE,   /* nodes see all that touches */
  TL_WALL_FACETS_MORE,   /* beside nodes */
  TL_WALL_FACETS_INSTEAD /* of nodes */
} TlWallFacets;

/* For points below the margin. */
TlWallFacets tl_wall_facets_of(const TlColliders *colliders, int64_t i, const TlBoundary *boundary,
                               double margin);
/* Append them; turn: rotation matrix of the collider. Keys are below TL_PLACE_KEY. */
TlStatus tl_wall_facets(const TlColliders *colliders, int64_t i, const TlMat3 *turn,
                        const TlBoundary *boundary, double margin, TlPoints *points);

#endif
