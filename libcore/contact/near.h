/* Node lists that outlive a step (Verlet lists), for pairs of avatars, for avatars under a sphere
 * that seeks its point from them (narrow.h), and for avatars at boundaries.
 *
 * A list holds the nodes whose gap was below a cutoff when it was made. Seen from the other body, no
 * node has moved since then by more than d = |t - t0| + |R - R0| r, with t0 and R0 the relative
 * position and rotation at that time. So a node that is not listed has a gap of at least cutoff - L d,
 * L the largest slope of phi. While that bound is above the gap that is asked for, only the listed
 * nodes are tested; while the least gap is that far above the margin, none is. Otherwise the list is
 * made again through the tree of spheres.
 *
 * The result is always the set of nodes that testing every node finds (test_contact), whether a list
 * is new, old or missing. The lists are therefore not part of the state: they do not migrate with a
 * body, and they may be dropped at any time. Spheres in closed form have no lists, since one look-up
 * serves them, except against a grid that does not know its distance as far out as their centres.
 *
 * Skin (how far the cutoff lies above the gap that is asked for): 0.44 sqrt(v D), v the relative
 * displacement in a step, within bounds; the best of those measured.
 */
#ifndef TL_CONTACT_NEAR_H
#define TL_CONTACT_NEAR_H

#include "contact/broad.h"
#include "contact/narrow.h"
#include "contact/places.h"

typedef struct TlNearPair TlNearPair; /* lists of a pair of avatars, either side's nodes */
typedef struct TlNearWall TlNearWall; /* list of an avatar at a boundary */

/* Path length and rotation of a collider, summed over the steps since the broad phase made its pairs. */
typedef struct TlNearPath {
  TlVec3 x;
  TlQuat q;
  double gone, turned;
} TlNearPath;

typedef struct TlNear {
  TlBroad broad;
  TlNearPath *path; /* [broad.total] */
  size_t path_capacity;
  size_t pair_count;
  int64_t *low, *high; /* [pair_count] ids of broad.pairs, sorted */
  TlNearPair **pair;   /* [pair_count], NULL until it is needed */
  int64_t body_count;
  int boundary_count;
  int64_t *id;       /* [body_count] ids, ascending */
  TlNearWall **wall; /* [body_count * boundary_count] by the body's rank, NULL until needed */
} TlNear;            /* "body": a collider, wherever it is part of */

void tl_near_free(TlNear *near);
void tl_near_pair_free(TlNearPair *pair); /* NULL: nothing */
void tl_near_wall_free(TlNearWall *wall);
/* Bring broad.pairs and the places for lists up to date; lists of pairs and bodies that are still
 * there are kept. */
TlStatus tl_near_update(TlNear *near, const TlBodies *bodies, int boundary_count, double step_s,
                        TlArena *scratch);
/* Where the lists of a pair belong; NULL: it is not among the pairs. */
TlNearPair **tl_near_find(const TlNear *near, int64_t low, int64_t high);
/* Where the list of body (local index) at a boundary belongs. */
TlNearWall **tl_near_wall(const TlNear *near, int64_t body, int boundary);

/* The two colliders of a pair, avatars both, or an avatar and a sphere, in this order. turn: their
 * rotation matrices. both: nodes of b too. travel: their relative displacement in a step, estimated.
 * band, reach: a list that has to be made serves at least these (TlWanted). */
struct TlNearElements;
typedef struct TlNearQuery {
  const TlColliders *colliders;
  int64_t a, b;
  const TlMat3 *turn_a, *turn_b;
  bool both;
  double travel, size, band, reach;
  const TlNear *near;                    /* brought up to date at these poses; NULL: not so */
  const struct TlNearElements *elements; /* NULL: of their nodes; else of their elements */
  double above; /* what touches has a node with a gap below this (0 but where a sphere seeks) */
} TlNearQuery;

/* True if the gap of the pair's last query minus the relative displacement proves that no node has
 * a gap below 0 (below `above` where a sphere seeks its point); false: one may have. For pair
 * `number` of the broad phase, with the bodies as tl_near_update left them: a few loads, where
 * tl_near_points needs the poses to say the same. Only where no body reaches beyond its radius
 * (forces, no contacts to come). */
bool tl_near_clear(const TlNear *near, const TlColliders *colliders, size_t number);

/* Brings the lists of pair `number` of the broad phase into the cache; changes nothing. First the
 * pair itself, then, when that has come, its nodes. */
void tl_near_fetch_pair(const TlNear *near, size_t number);
void tl_near_fetch_nodes(const TlNear *near, size_t number);

/* How far above what is wanted a search looks so that it serves later steps too: travel, relative motion of
 * a step; size, the smaller radius. */
double tl_near_skin(double travel, double size);

/* Where the search by places keeps what it need not make again of a pair (places.h). */
TlStatus tl_near_place_cache(TlNearPair **pair, TlPlaceCache ***cache);

/* Append the wanted nodes, as tl_narrow_nodes(a, b, 0) and, with both, tl_narrow_nodes(b, a, 1). */
TlStatus tl_near_points(TlNearPair **pair, const TlNearQuery *query, TlWanted *wanted,
                        TlPoints *points);

/* Lists of the elements of two surfaces (model/elements.h). Elements that may touch have middles with a gap below
 * `reach`; `judge` gives of some of body a (side 0) or b, whose numbers are hit->node and whose middles have a gap of
 * hit->gap or more, hit->gap: no point of it has a smaller one; what has none below `cutoff` may be left out. World
 * metres. slope: no gap changes by more a metre that the two move. */
typedef struct TlNearElements {
  double reach, slope;
  TlStatus (*judge)(const void *context, int side, double cutoff, TlNodeHit *hit, size_t *count,
                    TlPoints *points);
  const void *context;
  bool only[2]; /* elements of the other side are not asked for */
} TlNearElements;
/* The elements of a and of b that may touch at the present pose; the pair owns what is listed. */
TlStatus tl_near_elements(TlNearPair **pair, const TlNearQuery *query, TlPoints *points,
                          TlListedPart found[2]);

/* As tl_narrow_boundary for an avatar. */
TlStatus tl_near_boundary(TlNearWall **wall, const TlColliders *colliders, int64_t body,
                          const TlMat3 *turn, const TlBoundary *boundary, double travel,
                          TlWanted *wanted, TlPoints *points);
/* The elements of a body that may touch a boundary, as above; judge is asked for side 0. */
TlStatus tl_near_boundary_elements(TlNearWall **wall, const TlColliders *colliders, int64_t body,
                                   const TlMat3 *turn, const TlBoundary *boundary, double travel,
                                   const TlNearElements *elements, TlPoints *points,
                                   TlListedPart *found);
/* For a search without lists (ground.h): notes that no node has a gap below `least` at this pose; and tells
 * whether what was noted, or a list, proves that none has one below margin now. */
TlStatus tl_near_note_apart(TlNearWall **wall, const TlColliders *colliders, int64_t body,
                            const TlMat3 *turn, double least);
bool tl_near_apart(const TlNearWall *wall, const TlColliders *colliders, int64_t body,
                   const TlMat3 *turn, const TlBoundary *boundary, double margin);
/* As tl_narrow_deepest; wall may be NULL or stale (then the tree is walked). */
bool tl_near_deepest(const TlNearWall *wall, const TlColliders *colliders, int64_t body,
                     TlVec3 position, TlQuat rotation, const TlBoundary *boundary, double margin,
                     TlPoint *deepest);

#endif
