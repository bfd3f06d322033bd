/* What overlapping surfaces bear where no patch serves (contact/patches.h): grains with hollows, polyhedra
 * against curved grains. For the penalty method's traction (docs/theory/penalty.md).
 *
 * The energy of a side, the surface S of one body inside the other, is U = k/2 of the integral of d^2 over S,
 * d = -phi of the other. It is summed over the elements of S (model/elements.h): U1 over their middles, U2
 * over the pieces that they are divided into; U = (1 - w) U2 + w U1, where w goes from 0 to 1 as the mean of
 * d^2 over that of d, by the middles, passes from the depth at which a few elements touch to twice that. Force
 * and moment are the derivative of U along the motion of the two bodies, w included, so that what a closed
 * loop gains or loses comes from jumps in phi's gradient alone.
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
