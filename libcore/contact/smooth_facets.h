/* A smooth grain on a grid against a polyhedron, or a union of convex ones (model/facets.h): what lies between
 * the nodes of the one and the corners of the other.
 *
 *   faces  where the grain is nearest to the plane of a face, or lies deepest below it: a descent
 *          (contact/descent.h) from each of its nodes that is lower than its neighbours. A place counts if
 *          its foot lies in the face;
 *   edges  where phi of the grain is least along an edge (contact/crests.h).
 * Corners are nodes of the polyhedron. Where one of these hands over to the next their gaps and normals agree,
 * so a grain rolls smoothly over an edge.
 *
 * No memory: what is found depends on the pose, and on the pair's node points under the limit, alone.
 */
#ifndef TL_CONTACT_SMOOTH_FACETS_H
#define TL_CONTACT_SMOOTH_FACETS_H

#include "contact/narrow.h"
#include "model/facets.h"
#include "model/shapes.h"

/* Is one of the pair a smooth grain on a grid and the other a polyhedron? */
bool tl_smooth_facets_serves(const TlShape *a, const TlShape *b);
/* points: all node points of the pair with a gap under wanted->margin + tl_edges_reach (contact/edges.h) that
 * are wanted; more do no harm. Leaves those under the margin and appends the places; keys are below
 * TL_PLACE_KEY. */
TlStatus tl_smooth_facets(const TlColliders *colliders, int64_t a, int64_t b, const TlMat3 *turn_a,
                          const TlMat3 *turn_b, const TlWanted *wanted, TlPoints *points);

/* A smooth grain on a grid beside the edges and corners of a convex polyhedron that is no collider, with all corners
 * within the radius about its centre: appends what these say, below the margin; n from there to the grain. */
TlStatus tl_smooth_facets_beside(const TlColliders *colliders, int64_t i, const TlMat3 *turn,
                                 const TlFacets *solid, TlVec3 centre, const TlMat3 *turn_solid,
                                 double radius, double margin, TlPoints *points);

#endif
