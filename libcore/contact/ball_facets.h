/* A sphere against a polyhedron, or a union of convex ones (model/facets.h), exactly: the nearest point
 * of each convex part to the sphere's centre. In the inner corner of a cross a sphere touches two or
 * three parts, and each of them pushes. Nothing is kept from step to step.
 */
#ifndef TL_CONTACT_BALL_FACETS_H
#define TL_CONTACT_BALL_FACETS_H

#include "contact/narrow.h"
#include "model/facets.h"
#include "model/shapes.h"

/* Of a convex polyhedron to x, which lies in its frame; *n: unit, from there to x, of a point within out of
 * the nearest face. Their distance, < 0 within. */
double tl_facets_nearest(const TlFacets *facets, TlVec3 x, TlVec3 *nearest, TlVec3 *n);

/* A point of part k of a union that lies in another part, or on the surface of one before it (nearer than
 * `near`), is none of the union's surface. */
bool tl_facets_covered(const TlFacets *part, int parts, int k, TlVec3 point, double near);

/* Is one of the pair a sphere in closed form and the other a polyhedron? */
bool tl_ball_facets_serves(const TlShape *a, const TlShape *b);
/* Points of the pair with gaps below the margin: one for each part, but for those within another part.
 * turn_a, turn_b: of the colliders. Keys are below TL_PLACE_KEY, one a part. */
TlStatus tl_ball_facets(const TlColliders *colliders, int64_t a, int64_t b, const TlMat3 *turn_a,
                        const TlMat3 *turn_b, double margin, TlPoints *points);

#endif
