/* Contact between nodes: where two grains come closest, or overlap most, on their surfaces proper
 * (`edges: refine`).
 *
 * Nodes alone miss a contact that falls between them: two edges that cross, two smooth caps. From
 * the least nodes of a pair the closest place of the two surfaces is sought and joins the node
 * points as a point of its own, with the gap and normal of least translation.
 *
 * The grains are thought apart by s along the pair's normal n, so that every lookup lies outside
 * both, where the gradient of a distance is defined at edges too, and F(x) = phi_a(x - s n) +
 * phi_b(x) is lowered over x, kept half-way between the surfaces. For convex grains F is convex; at
 * its least value both gradients oppose, n = grad phi_b, and the gap is F - s
 * (docs/theory/contact.md). A point is believed only when it lies inside both grains (or half-way
 * in the gap). What is found depends on the pair's points under the limit alone: not on how they
 * were searched for, nor on ranks or threads.
 */
#ifndef TL_CONTACT_EDGES_H
#define TL_CONTACT_EDGES_H

#include "contact/narrow.h"

/* How much farther than the margin nodes of the pair must be sought, so that one is at hand where
 * the surfaces themselves come within it; 0: the pair is exact without. */
double tl_edges_reach(const TlColliders *colliders, int64_t a, int64_t b);

/* points: all node points of the pair with a gap under wanted->margin + tl_edges_reach and within
 * wanted->band of the least; more do no harm. Leaves those under the margin and appends at most
 * TL_EDGE_POINTS more, keys < 0: -2 - k, k the main direction of the normal in a's frame. */
enum { TL_EDGE_POINTS = 2 };
TlStatus tl_edges_refine(const TlColliders *colliders, int64_t a, int64_t b, const TlMat3 *turn_a,
                         const TlMat3 *turn_b, const TlWanted *wanted, TlPoints *points);

#endif
