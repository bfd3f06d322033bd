/* Contact by places: where two grains come closest or overlap most, between their surfaces and not
 * between the nodes of one and the field of the other (docs/theory/places.md).
 *
 * A place is a local minimum of F(x) = phi_a(x) + phi_b(x) over points half-way between the two
 * surfaces. There the two gradients oppose each other, F is the gap along their common normal, and
 * for an overlap -F is the length of the least translation that parts the surfaces locally. Both
 * fields are splines (shape/spline.h) or closed forms, so F is smooth and Newton's method converges.
 *
 * A pair's memory (TlPlacePair) holds its places and what proves that there are no others:
 *   certificate  places were sought among all nodes, of the grain that has the finer ones, with a gap
 *                below a cutoff c. Since then no point of one grain has moved by more than
 *                w = |t - t0| + |R - R0| r seen from the other, so what was not found has a gap of
 *                c - L w or more, L the largest slope of the fields. While that is at least the
 *                margin, only the kept places are followed.
 *   skipping     a place whose gap was g at motion w_l has now at least g - L (w + w_l).
 *   small steps  while the places' second-order change stays below a tolerance, gaps follow the
 *                displacement along the normal and no field is evaluated.
 *   audit        each step a few of the nodes of the last search are tested in turn; one that lies
 *                deeper than every place's parabola allows starts a new search, which finds basins
 *                that opened between searches.
 * Two shapes that are both convex have one basin: one place, from the line of centres; from nodes only where
 * that descent fails.
 *
 * Frames: the caller's poses are of the world; memory is in the frame of a (metres, scaled), so that
 * it moves with it. The memory decides which places are known, to the search's tolerance: it is
 * state, and a run that resumes with the memory continues with the same bits. Nothing is allocated
 * where places are followed; a new search uses the thread's TlPoints. Thread safe: one memory, one
 * cache and one TlPoints a thread at a time. The order of the found places is that of their keys.
 *
 * Polyhedra, and unions of them, have no memory: their contacts (contact/facets.h) follow from the
 * poses alone. They include all corners of faces that bear on each other; smooth surfaces give one
 * place there, and nodes must add the others (flat).
 *
 * Not served (tl_places_serves): a cylinder in closed form, shapes with edges that are no polyhedra, and a
 * polyhedron against a curved surface (smooth_facets.h, ball_facets.h).
 */
#ifndef TL_CONTACT_PLACES_H
#define TL_CONTACT_PLACES_H

#include "contact/descent.h"
#include "contact/facets.h"
#include "contact/narrow.h"
#include "model/place_shape.h"
#include "model/shapes.h"

enum {
  TL_PLACES_MOST = 10, /* most of a pair */
  TL_PLACE_AUDIT = 48, /* most audited nodes of a pair */
  TL_PLACE_KEY = -16   /* keys of points that are places are below this */
};

/* Of a pair; frame of a. Starts zeroed. State: what the next step finds depends on it. */
typedef struct TlPlacePair {
  int32_t count, next_key, audit_next;
  bool made;
  double cutoff; /* of the last search */
  TlMat3 r0;     /* rotation from a to b, and a's centre in b's frame, then */
  TlVec3 t0;
  TlMat3 r1; /* the same when the places were last evaluated */
  TlVec3 t1;
  TlKeptPlace place[TL_PLACES_MOST];
} TlPlacePair;

/* What a pair's search need not make again. It follows from the pair's memory and poses alone, so it
 * may be dropped at any time, and is no state. Starts zeroed. */
typedef struct TlPlaceCache {
  const TlShape *shape[2]; /* of these */
  bool listed;             /* audited nodes belong to a search at these poses */
  TlMat3 r0;
  TlVec3 t0;
  int32_t audit_count;
  int32_t audit[TL_PLACE_AUDIT];
  TlFacetPair *facets; /* [parts of a * parts of b] owned */
} TlPlaceCache;
void tl_place_cache_free(TlPlaceCache *cache); /* NULL: nothing */

typedef struct TlPlaceQuery {
  const TlColliders *colliders;
  int64_t a, b;
  const TlMat3 *turn_a, *turn_b;
  double margin; /* places with a gap below it are wanted */
  /* Of these only places that lie no farther than `reach` or than `band` beyond the nearest (from 0
   * on), whichever is more; band 0: all below the margin. */
  double band, reach;
  double travel;    /* relative motion of a step, about: sets how far a search looks ahead */
  double tolerance; /* of the gap, as a fraction of the smaller radius; 0: 1e-4 */
  bool
      surface; /* polyhedra: pieces of their overlapping faces (facet_surface.h) in place of points */
} TlPlaceQuery;

/* The shapes have their place shapes (model/place_shape.h). */
/* Nothing is known; what is left of the array of places is not touched. */
static inline void tl_place_pair_clear(TlPlacePair *pair) {
  const TlMat3 none = {{{0}}};
  pair->count = pair->next_key = pair->audit_next = 0;
  pair->made = false;
  pair->cutoff = 0;
  pair->r0 = pair->r1 = none;
  pair->t0 = pair->t1 = tl_vec3(0, 0, 0);
}

bool tl_places_serves(const TlShape *a, const TlShape *b);
/* Do both consist of convex polyhedra? Then memory is not used. */
bool tl_places_polyhedra(const TlShape *a, const TlShape *b);
/* Appends the places to points: p half-way, n from b to a, gap, key < TL_PLACE_KEY. Counts
 * evaluations of fields in points->lookups and searches in points->lists. *cache: NULL at first, made
 * when it is needed; NULL cache: none is kept. flat: not NULL: becomes true where a place is so flat
 * that surfaces bear on each other beside it, too. */
TlStatus tl_places_query(TlPlacePair *pair, TlPlaceCache **cache, const TlPlaceQuery *query,
                         TlPoints *points, bool *flat);

#endif
