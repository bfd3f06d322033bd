/* What overlapping surfaces bear as surfaces: pieces of an overlap between the nodes, for the penalty
 * method's traction (docs/theory/penalty.md).
 *
 * Each piece dA of a touching surface bears a traction of k times its depth. Where two smooth
 * surfaces overlap, the depth over the plane across their common normal is the parabola
 * -F(s) = d - s.H.s/2 about the place of the largest depth d (places.h). It touches over the area
 * 2 pi d/sqrt(det H), its mean depth is d/2, its mean square d^2/3; the energy is
 * U = k pi d^3/(3 sqrt(det H)). A patch is this integral as one contact point.
 *
 * F is looked at where the place is and on a hexagon about it. d and H, hence U, are functions of these
 * seven values alone, and the force is the derivative of that U along the motion of the two bodies,
 * the change of H included: without that a closed loop of sliding and rolling would make or take
 * work. It is one force at p, and a moment about its line (twist_m).
 *
 * Polyhedra: exact integrals over their faces, facet_surface.h.
 */
#ifndef TL_CONTACT_PATCHES_H
#define TL_CONTACT_PATCHES_H

#include "contact/places.h"

/* Points from `first` on are places of a pair of convex avatars (tl_places_query), of which there is one at
 * most: it becomes a patch, or is dropped where nothing overlaps. */
void tl_patches_of_pair(const TlPlaceQuery *query, size_t first, TlPoints *points);
/* The same of the place of a convex avatar at a boundary (tl_wall_places). */
void tl_patches_at_wall(const TlColliders *colliders, int64_t i, const TlMat3 *turn,
                        const TlBoundary *boundary, size_t first, TlPoints *points);

#endif
