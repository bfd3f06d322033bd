/* What overlapping surfaces bear where no patch serves (contact/patches.h): grains with hollows, polyhedra
 * against curved grains. For the penalty method's traction (docs/theory/penalty.md).
 *
 * The energy of a side, the surface S of one body inside the other, is U = k/2 of the integral of d^2 over S,
 * d = -phi of the other. It is summed over the elements of S (model/elements.h), over their quarters, over the
 * quarters of these and so on, until enough parts of a level touch for their sum to do. U is a mean of the sums of
 * these levels; their shares follow smoothly from the number of touching parts, (sum of d)^2 over the sum of d^2.
 * Force and moment are the derivative of U along the motion of the two bodies, that of the shares included, so
 * that what a closed loop gains or loses comes from jumps in phi's gradient alone.
 *
 * Each node gathers the elements that are nearer to it than to others: one contact point, under the node's
 * key, with the area that touches, the force and the line on which it acts.
 */
#ifndef TL_CONTACT_TRACTIONS_H
#define TL_CONTACT_TRACTIONS_H

#include "contact/near.h"

/* Both shapes have elements. */
bool tl_tractions_serve(const TlShape *a, const TlShape *b);
/* Appends the contact points of a pair. lists: of the middles of elements, kept over steps; NULL: every
 * element is looked at (the oracle; the same bits). */
TlStatus tl_tractions_of_pair(const TlNearQuery *query, TlNearPair **lists, TlPoints *points);
/* Of a body at a wall that is no relief; way: relative motion of a step; list: NULL: none is kept. */
TlStatus tl_tractions_at_wall(const TlColliders *colliders, int64_t body, const TlMat3 *turn,
                              const TlBoundary *boundary, double way, TlNearWall **list,
                              TlPoints *points);

#endif
