/* Contact by places: where two grains come closest or overlap most, between their surfaces and not
 * between the nodes of one and the field of the other (docs/theory/places.md).
 *
 * A place is a local minimum of F(x) = phi_a(x) + phi_b(x) over points half-way between the two
 * surfaces. There the two gradients oppose each other, F is the gap along their common normal, and
 * for an overlap -F is the length of the least translation that parts the surfaces locally. Both
 * fields are splines (shape/spline.h) or closed forms, so F is smooth and Newton's method converges.
 *
 * A pair's memory (TlPlacePair) holds its places and what proves that there are no others:
 *   certificate  places were sought among all nodes with a gap below a cutoff c. Since then no point
 *                of one grain has moved by more than w = |t - t0| + |R - R0| r seen from the other, so
 *                what was not found has a gap of c - L w or more, L the largest slope of the fields.
 *                While that is at least the margin, only the kept places are followed.
 *   skipping     a place whose gap was g at motion w_l has now at least g - L (w + w_l).
 *   small steps  while the places' second-order change stays below a tolerance, gaps follow the
 *                displacement along the normal and no field is evaluated.
 *   audit        each step a few of the nodes of the last search are tested in turn; one that lies
 *                deeper than every place's parabola allows starts a new search, which finds basins
 *                that opened between searches.
 * Two shapes that are both convex have one basin: one place, from the line of centres, no nodes.
 * Two convex polyhedra give the one place of their least translation, exactly (contact/facets.h).
 *
 * Frames: the caller's poses are of the world; memory is in the frame of a (metres, scaled), so that
 * it moves with it. The memory decides which places are known, to the search's tolerance: it is
 * state, and a run that resumes with the memory continues with the same bits. Nothing is allocated
 * where places are followed; a new search uses the thread's TlPoints. Thread safe: one memory and
 * one TlPoints a thread at a time. The order of the found places is that of their keys.
 *
 * Not served (tl_places_serves): a cylinder in closed form, and a polyhedron against anything but
 * another, since their edges no Newton step can find. Faces that bear on each other give one place:
 * nodes must add the others.
 */
#ifndef TL_CONTACT_PLACES_H
#define TL_CONTACT_PLACES_H

#include "contact/facets.h"
#include "contact/narrow.h"
#include "model/shapes.h"
#include "shape/spline.h"

enum {
  TL_PLACES = 10,      /* most of a pair */
  TL_PLACE_AUDIT = 48, /* most audited nodes of either grain */
  TL_PLACE_NEIGHBOURS = 8
};

/* What the search adds to a shape; made once, immutable, shared. */
typedef struct TlPlaceShape {
  const TlShape *shape; /* borrowed */
  TlSpline spline;      /* of an avatar */
  bool convex;     /* no node lies above the tangent plane of another by over 1e-3 of the radius */
  TlFacets facets; /* of a convex polyhedron; else none */
  double slope;    /* of phi, at most, in the grid; outside: sqrt(1 + slope^2) */
  double spacing;  /* mean distance of neighbouring nodes */
  int32_t (*near)[TL_PLACE_NEIGHBOURS]; /* [node_count] the nearest other nodes, -1: none; owned */
} TlPlaceShape;
TlStatus tl_place_shape_make(const TlShape *shape, TlPlaceShape *out);
void tl_place_shape_free(TlPlaceShape *shape);

/* A place in memory; frame of a, metres. */
typedef struct TlKeptPlace {
  TlVec3 x, n;        /* half-way between the surfaces; unit, from b to a */
  TlVec3 u, v;        /* across n when the curvature was taken */
  double bend[3];     /* uu, uv, vv of the second derivatives of F, 1/m, bounded */
  double travel;      /* since they were taken, m */
  double gap, motion; /* when it was last evaluated; of the pair then */
  bool last;          /* evaluated at r1, t1 */
  int32_t key;
} TlKeptPlace;

typedef struct TlPlacePair {
  int32_t count, next_key;
  bool made;
  double cutoff; /* of the last search */
  TlMat3 r0;     /* rotation from a to b, and a's centre in b's frame, then */
  TlVec3 t0;
  TlMat3 r1; /* the same when the places were last evaluated */
  TlVec3 t1;
  double sharpest, flattest; /* of the places: largest curvature, 1/m; largest radius, m */
  TlKeptPlace place[TL_PLACES];
  int32_t audit_count[2], audit_next;
  int32_t audit[2][TL_PLACE_AUDIT];
  TlFacetPair facets; /* of two polyhedra; then nothing else is used */
} TlPlacePair;

typedef struct TlPlaceQuery {
  const TlColliders *colliders;
  int64_t a, b;
  const TlMat3 *turn_a, *turn_b;
  const TlPlaceShape *shape_a, *shape_b; /* of their shapes */
  double margin;                         /* places with a gap below it are wanted */
  double way;       /* relative motion of a step, about: sets how far a search looks ahead */
  double tolerance; /* of the gap, as a fraction of the smaller radius; 0: 1e-4 */
} TlPlaceQuery;

bool tl_places_serves(const TlPlaceShape *a, const TlPlaceShape *b);
/* Appends the places to points: p half-way, n from b to a, gap, key = that of the place. Counts
 * evaluations of fields in points->lookups and searches in points->lists. */
TlStatus tl_places_query(TlPlacePair *pair, const TlPlaceQuery *query, TlPoints *points);

#endif
