/* Where a smooth grain comes closest to a boundary between its nodes (docs/theory/places.md).
 *
 * From each found node that lies lower than its found neighbours the lowest place of the surface beside
 * it is sought: the least of F(x) = phi of the grain + phi of the boundary, half-way between the two, as
 * for pairs (places.h), with the curvature of the grain's spline and a boundary that is taken as flat
 * within a step of the search. It needs no memory: what is found follows from the pose and the found
 * nodes. The key is that of the node with the lowest bit set.
 */
#ifndef TL_CONTACT_WALL_PLACES_H
#define TL_CONTACT_WALL_PLACES_H

#include "contact/narrow.h"
#include "model/shapes.h"

/* How much farther than wanted nodes must be sought, so that one is found beside each place; 0: the
 * shape is not served. */
double tl_wall_places_reach(const TlColliders *colliders, int64_t i, const TlBoundary *boundary);
bool tl_wall_places_serves(const TlShape *shape);
/* The flat end of a cylinder that a served grain lies over, with all of its surface that is within the margin of the
 * end's plane: then it meets nothing of the cylinder but that plane. False: there is no such end. */
bool tl_wall_end(const TlColliders *colliders, int64_t i, int64_t cylinder, const TlMat3 *turn,
                 const TlMat3 *turn_cylinder, double margin, TlBoundaryPlane *plane);
/* points->point[had] and on are the nodes that were found; the places are appended and
 * what is not below the margin is left out; nothing happens where the shape is not served. turn: rotation
 * matrix of the collider. alone: of a convex grain the deepest place alone, with one key
 * wherever it is. */
TlStatus tl_wall_places(const TlColliders *colliders, int64_t i, const TlMat3 *turn,
                        const TlBoundary *boundary, const TlWanted *wanted, bool alone, size_t had,
                        TlPoints *points);

#endif
