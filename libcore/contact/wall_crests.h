/* A grain at the edges of a wall: a smooth one on a grid at edges and corners of a box; that and a polyhedron at the rims
 * of a cylinder or a pipe. Nodes of the grain seldom lie there, and beside an edge no face of the wall is nearest to it
 * (docs/theory/places.md). Polyhedra at the edges of a box: wall_facets.h.
 *
 * No memory: what is found follows from the pose alone.
 */
#ifndef TL_CONTACT_WALL_CRESTS_H
#define TL_CONTACT_WALL_CRESTS_H

#include "contact/narrow.h"

/* points->point[had] and on are nodes and places of faces: of a smooth grain those that lie beside a place on an edge and
 * are no deeper are left out. Appends the places on edges with a gap below the margin; keys are below TL_PLACE_KEY.
 * Nothing happens where the shape is none of these or the wall has no edges. turn: rotation matrix of the collider. */
TlStatus tl_wall_crests(const TlColliders *colliders, int64_t i, const TlMat3 *turn,
                        const TlBoundary *boundary, double margin, size_t had, TlPoints *points);

#endif
