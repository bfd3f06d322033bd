/* The contact search that all methods share: which pairs of colliders, and which of them at which
 * boundaries, may touch, and the points of each (narrow.h), at their places of the moment.
 *
 * A slot is a pair of colliders, or a collider and a boundary: first all pairs by (low id, high
 * id), then the others by collider and boundary. What is wanted of a slot (TlMargin) and what becomes of its
 * points is the caller's; `take` runs in parallel, once for each slot that was looked at, and may
 * change the points.
 */
#ifndef TL_CONTACT_SEARCH_H
#define TL_CONTACT_SEARCH_H

#include "contact/near.h"
#include "contact/place_memory.h"

typedef enum TlSides {
  TL_SIDES_BOTH = 0, /* nodes of either grain against the other's phi */
  TL_SIDES_LOWER     /* nodes of the lower id only, as in Tan 2024 */
} TlSides;

typedef enum TlEdges {
  TL_EDGES_NODES = 0, /* contact points are nodes */
  TL_EDGES_PLACES, /* where the surfaces come closest (places.h); pairs that this does not serve, as
                         by `refine`. Shapes must have been added for it (TlShapes.places) */
  TL_EDGES_REFINE  /* nodes and the closest places between them (edges.h) */
} TlEdges;

typedef enum TlSearch {
  TL_SEARCH_NEAR = 0, /* node lists kept over steps */
  TL_SEARCH_TREE,     /* each step through the tree of spheres */
  TL_SEARCH_ALL       /* every node: the oracle; the same state, bit for bit */
} TlSearch;

typedef struct TlSearchOptions {
  TlSides sides;
  TlEdges edges;
  TlSearch how;
  /* With places: each point stands for a piece of surface, of convex smooth grains (patches.h) and of
   * polyhedra; others by nodes, which stand for theirs, unless by `elements`. */
  bool surface;
  bool elements; /* with `surface`: pairs that these do not serve by the elements of their surfaces
                    (tractions.h), if the shapes were added for it (TlShapes.surface) */
  bool finer;    /* and of two such surfaces by the finer one's alone */
} TlSearchOptions;

/* As TlWanted, and: size, the smaller radius; travel, the estimated relative displacement in a step. Metres. */
typedef struct TlMargin {
  double margin, band, reach, size, travel;
} TlMargin;

typedef struct TlSlot {
  int64_t number;
  int32_t a, b; /* colliders, a has the lower id; b < 0: a boundary */
  int32_t boundary;
  TlMargin margin;
} TlSlot;

typedef struct TlScan {
  const TlSearchOptions *options;
  double step_s; /* bodies move by their velocity times this until the next search, about */
  const TlBoundary *boundary;
  int boundary_count;
  TlArena *arena;
  TlNear *near;     /* lists that outlive the step */
  TlPoints *points; /* scratch, one a thread */
  TlPlaceMemory
      *places; /* takes what pairs know of their places; the caller commits it. NULL: none */
  const TlBodies *bodies;
  /* [colliders] 1: it does not move. Two such need no search, nor does one at a boundary that does not
   * move either. NULL: all may. */
  const unsigned char *still;
  void *context;
  TlMargin (*pair_margin)(const void *context, int64_t a, int64_t b);
  TlMargin (*wall_margin)(const void *context, int64_t collider, const TlBoundary *wall);
  TlStatus (*take)(void *context, const TlSlot *slot, TlPoints *points, int thread);
  /* *known: the caller knows the points of this pair of colliders, which is then not searched; in parallel, once for
   * each pair that would be. NULL: it knows none. What the pair knew of its places stays. */
  TlStatus (*recall)(void *context, const TlSlot *slot, int thread, bool *known);
  bool charged; /* look-ups of each slot are noted */
  /* filled by tl_scan_start; in the arena */
  TlMat3 *turn; /* rotation matrix of each collider */
  const TlBodyPairs *pairs;
  int64_t slots;
  const int32_t *near_body, *near_boundary; /* of the slots after the pairs */
  int32_t *lookups; /* [slots] of each, for tl_scan_charge; where `charged` */
} TlScan;

/* Turns and pairs only; and the points of one of the pairs, or of a collider at a boundary (slot: a, b,
 * boundary), into `points` (emptied first), for a caller whose loops are its own. pair_margin and
 * wall_margin must serve. */
TlStatus tl_scan_prepare(TlScan *scan);
TlStatus tl_scan_pair_points(const TlScan *scan, TlSlot *slot, TlPoints *points);
TlStatus tl_scan_wall_points(const TlScan *scan, TlSlot *slot, TlPoints *points);
/* Everything up to `slots`; wall_margin must serve. */
TlStatus tl_scan_start(TlScan *scan);
/* All slots; errors name the grains. */
TlStatus tl_scan_run(TlScan *scan);
/* Look-ups of a search that was charged (tl_points_charge), in halves: each body of a pair gets one for each. */
void tl_scan_charge(const TlScan *scan, int64_t *half_lookups);
/* The colliders and the boundary of a slot. */
TlSlot tl_scan_slot(const TlScan *scan, int64_t number);

/* Are places of such a pair sought from nodes near it, and so only where there are some? */
bool tl_scan_between_nodes(const TlSearchOptions *options, const TlShape *a, const TlShape *b);

/* Points of one pair of colliders, or of one at boundary number k, at the present poses, closer
 * than margin: appended. band, reach: a list that has to be made serves at least these. memory: read for
 * what the pair knew of its places, NULL: nothing; what is found is not noted. */
TlStatus tl_scan_pair(const TlSearchOptions *options, TlNear *near, const TlPairState *memory,
                      const TlColliders *colliders, int64_t a, int64_t b, const TlMargin *margin,
                      TlPoints *points);
TlStatus tl_scan_boundary(const TlSearchOptions *options, TlNear *near,
                          const TlColliders *colliders, int64_t collider, int32_t k,
                          const TlBoundary *boundary, double travel, double margin,
                          TlPoints *points);

#endif
