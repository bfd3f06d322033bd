/* What overlapping surfaces bear where no patch serves (contact/patches.h): grains with hollows, polyhedra
 * against curved grains. For the penalty method's traction (docs/theory/penalty.md).
 *
 * The energy of a side, the surface S of one body inside the other, is U = k/2 of the integral of d^2 over S,
 * d = -phi of the other. An element of S (model/elements.h) asks phi at its nine points; between them phi is the
 * quadratic through these values, and d^2 is summed at 64 places of it. So U is a function of the values alone,
 * and force and moment, its derivative along the motion of the two bodies, are a sum over the points of weights
 * times phi's gradient there: what a closed loop gains or loses comes from jumps in that gradient alone.
 * In a polyhedron phi is asked at the 64 places themselves, as the nearest of its planes. Where the grid of one of
 * the two rounds an edge within a cell the quadratic gives way to straight lines, and the spline to the grid.
 *
 * Each node gathers the elements that are nearer to it than to others: one contact point, under the node's
 * key, with the area that touches, the force and the line on which it acts.
 */
#ifndef TL_CONTACT_TRACTIONS_H
#define TL_CONTACT_TRACTIONS_H

#include "contact/near.h"

/* Both shapes have elements. */
bool tl_tractions_serve(const TlShape *a, const TlShape *b);
/* Appends the contact points of a pair. finer: of the finer surface alone, whose points see the other's, at half the
 * price; faces of polyhedra are summed beside the other's all the same. lists: of elements, kept over steps; NULL:
 * every element is looked at (the oracle; the same bits). */
TlStatus tl_tractions_of_pair(const TlNearQuery *query, bool finer, TlNearPair **lists,
                              TlPoints *points);
/* Of a body at a wall that is no relief; travel: relative motion of a step; all: every element is looked at;
 * list: NULL: none is kept, the tree is walked. */
TlStatus tl_tractions_at_wall(const TlColliders *colliders, int64_t body, const TlMat3 *turn,
                              const TlBoundary *boundary, double travel, bool all,
                              TlNearWall **list, TlPoints *points);

#endif
