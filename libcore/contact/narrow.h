/* Narrow phase: nodes of one collider (a grain, or a part of a body) against the signed distance of another, or of
 * a boundary, and the few points that stand for them (Tan 2024 section 3.1; Corrections 15-16).
 *
 * A candidate is every node with phi < margin. Of a pair's candidates the manifold keeps clusters
 * of agreeing normals, and of each cluster the deepest point and up to three that span the widest
 * face; points remembered from the last step, which carried load, are preferred and stay.
 */
#ifndef TL_CONTACT_NARROW_H
#define TL_CONTACT_NARROW_H

#include "contact/listed.h"
#include "model/bodies.h"
#include "model/boundary.h"

#include <stdbool.h>

enum {
  TL_MANIFOLD_POINTS = 12, /* most points of a pair */
  TL_CLUSTER_POINTS = 6,   /* of a cluster: those of its face, and what else carried load */
  TL_FACE_POINTS = 4
};

typedef struct TlPoint {
  TlVec3 p, n; /* world; n from b to a (from the boundary to the grain) */
  double gap;
  int64_t key;    /* 2*node + side (contact.h) */
  double area_m2; /* of the grain's surface that a point between nodes stands for; 0: its node's */
  double steeper; /* length of the gradient of the other body's phi there, less 1: 0 where phi is a
                     true distance */
  double twist_m; /* moment on a about n, beside that of the force at p, over the force */
  double filled, filled2; /* of a point for a piece of surface: its mean depth, and the mean of the
                             depth's square, over the deepest and its square; 0: the same depth all over */
} TlPoint;

/* A node and what the other body's field said there. */
typedef struct TlNodeHit {
  TlVec3 p, slope; /* of the node, and the gradient at it; body frames at unit scale */
  double gap;
  int32_t node;
} TlNodeHit;

/* What a field says at listed points: scratch of the integrals over surfaces (tractions.h). */
typedef struct TlAsked {
  TlVec3 *x, *gradient; /* where they are in the field's frame, and its gradient there */
  double *phi;
  size_t x_capacity, gradient_capacity, phi_capacity;
} TlAsked;

typedef struct TlPoints {
  TlPoint *point; /* owned, grows */
  size_t count, capacity;
  int64_t pairs, node_tests, lookups, lists; /* counters, never reset here; lists: made anew */
  int64_t first_lists; /* of these, of pairs that had none before; never reset */
  TlNodeHit *hit;      /* scratch of the near search (near.h) */
  size_t hit_capacity;
  int32_t *queue; /* and for its walk down a tree */
  size_t queue_capacity;
  TlAsked asked;
  TlListing listing;
  TlListed listed; /* elements that no list is kept of */
} TlPoints;

/* What a search is charged, by which ranks are balanced (search.h): its look-ups since `before`, or none where
 * it made the first list of nodes of a pair. Such lists are made in the first step, and of bodies that have
 * just come to this rank; charged to them, that would draw the next cut to where the last one lay. */
typedef struct TlPointsBefore {
  int64_t lookups, first_lists;
} TlPointsBefore;
static inline TlPointsBefore tl_points_before(const TlPoints *points) {
  return (TlPointsBefore){points->lookups, points->first_lists};
}
static inline int32_t tl_points_charge(const TlPoints *points, TlPointsBefore before) {
  return points->first_lists == before.first_lists ? (int32_t)(points->lookups - before.lookups)
                                                   : 0;
}
/* No point of a surface is farther from a node, in node spacings. */
static const double TL_NODE_COVER = 0.75;

void tl_points_free(TlPoints *points);
/* TL_EINPUT when gap or normal is not a number: further on max(gap, 0) would make it a touch.
 * Searches compare gaps so that NaN is never passed over. */
TlStatus tl_points_add(TlPoints *points, TlPoint point);
TlStatus tl_gap_check(double gap, int32_t node);

/* What is wanted: gap < margin, and either gap < reach or no farther than band above the least gap
 * (or above 0). least: the least gap known so far, in and out (INFINITY at the start): what was
 * found on one side saves work on the other. */
typedef struct TlWanted {
  double margin, band, least, reach;
} TlWanted;

static inline double tl_wanted_limit(const TlWanted *w) {
  double limit = (w->least > 0 ? w->least : 0) + w->band;
  if (limit < w->reach) limit = w->reach;
  return limit < w->margin ? limit : w->margin;
}

/* Of nodes, where places up to `reach` deeper than the nodes beside them are wanted. Without a band all
 * places below the margin are, whatever the nearest node's gap. */
static inline TlWanted tl_wanted_beside(const TlWanted *w, double reach) {
  TlWanted nodes = *w;
  nodes.margin += reach;
  if (!(nodes.band > 0)) nodes.band = nodes.margin;
  return nodes;
}

/* Body frame of `from` at unit scale -> body frame of `to` at unit scale: q = m p + t. */
typedef struct TlNodeMap {
  TlMat3 m;
  TlVec3 t;
  double ratio; /* scale_from/scale_to */
} TlNodeMap;

static inline TlVec3 tl_node_mapped(const TlNodeMap *map, TlVec3 p) {
  return tl_add(tl_mat_vec(map->m, p), map->t);
}
/* |R - R0|: with singular values s, s, 0 it is the Frobenius norm over sqrt 2. */
static inline double tl_turned_by(const TlMat3 *r, const TlMat3 *r0) {
  double sum = 0;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      double d = r->m[i][j] - r0->m[i][j];
      sum += d * d;
    }
  return sqrt(0.5 * sum) * (1 + 1e-9) + 1e-15;
}
/* Nodes of collider `from` against phi of collider `to`. From here on "body" in a name, and a frame
 * or place of it, is the collider's: which body it is part of does not matter here. */
typedef struct TlNarrowSide {
  const TlColliders *colliders;
  int64_t from, to;
  const TlMat3 *turn_from, *turn_to; /* rotation matrices of the two */
  TlNodeMap map;
  int side; /* 0 when `from` is a of the pair, 1 when it is b */
} TlNarrowSide;
/* Both sides of a pair, and the rotation from a's frame to b's. */
void tl_narrow_sides(const TlColliders *colliders, int64_t a, int64_t b, const TlMat3 *turn_a,
                     const TlMat3 *turn_b, TlMat3 *a_to_b, TlNarrowSide side[2]);
enum { TL_NODE_FEW = 8 }; /* no leaf of a tree has more */
/* phi (unit scale of `to`) and gradients (may be NULL) at a few nodes of `from`. */
void tl_narrow_phi(const TlNarrowSide *side, const TlVec3 *p, int32_t count, double *phi,
                   TlVec3 *gradient);
/* Append those with a gap below the limit as contact points. */
TlStatus tl_narrow_append(const TlNarrowSide *side, const TlNodeHit *hit, size_t count,
                          double limit, TlPoints *points);

/* All nodes of body `from` with a wanted phi of body `to` are appended; nodes that only a later,
 * deeper one rules out may stay in. side: 0 when `from` is a of the pair, 1 when it is b (normals
 * are turned to point from b to a). A shape without nodes gives the points that follow the contact.
 * With band = INFINITY exactly what testing every node finds. */
TlStatus tl_narrow_nodes(const TlColliders *colliders, int64_t from, int64_t to, int side,
                         TlWanted *wanted, TlPoints *points);
/* The same through the tree of spheres for a shape with nodes, at the relative pose of a side's map. */
TlStatus tl_narrow_tree(const TlNarrowSide *side, TlWanted *wanted, TlPoints *points);
typedef TlStatus (*TlNarrowSearch)(const TlColliders *, int64_t from, int64_t to, int side,
                                   TlWanted *, TlPoints *);
/* The same by testing every node: the oracle. */
TlStatus tl_narrow_all_nodes(const TlColliders *colliders, int64_t from, int64_t to, int side,
                             TlWanted *wanted, TlPoints *points);
/* A sphere whose radius is over what the other body's grid knows of its distance (closed_sphere.c)
 * seeks its point from that body's nodes: */
bool tl_narrow_seeks(const TlColliders *colliders, int64_t sphere, int64_t to);
/* May the sphere's centre lie inside that body, where no node need be near? */
static inline bool tl_narrow_holds(const TlColliders *colliders, int64_t sphere, int64_t to) {
  TlVec3 d = tl_sub(colliders->position[sphere], colliders->position[to]);
  return tl_norm2(d) < colliders->radius[to] * colliders->radius[to];
}
/* What is wanted of those nodes, so that the sphere finds what is wanted of it. */
TlWanted tl_narrow_starts(const TlColliders *colliders, int64_t to, const TlWanted *wanted);
/* What nodes of `to` said of the sphere is points->point[had] and on (keys: 2 * node + any side);
 * in their place the sphere's own point, if it is wanted. turn_to: of `to`. */
TlStatus tl_narrow_seek(const TlColliders *colliders, int64_t sphere, int64_t to,
                        const TlMat3 *turn_to, int side, size_t had, TlWanted *wanted,
                        TlPoints *points);
/* One lookup at a centre often tells that the search of a pair would append nothing; false: it may.
 * A sphere against any other body: */
bool tl_narrow_sphere_apart(const TlColliders *colliders, int64_t sphere, int64_t to,
                            const TlMat3 *turn_to, const TlWanted *wanted);
/* What such a pair's lookups will read, into the cache: about the sphere's centre and where it is
 * likely to touch. */
void tl_narrow_sphere_fetch(const TlColliders *colliders, int64_t sphere, int64_t to,
                            const TlMat3 *turn_to);
/* Any body against a closed form, by its bounding sphere: */
bool tl_narrow_closed_apart(const TlColliders *colliders, int64_t body, int64_t closed,
                            const TlMat3 *turn_closed, const TlWanted *wanted);
/* Can any node of the body be within margin of the boundary? One lookup. */
bool tl_narrow_near(const TlColliders *colliders, int64_t body, const TlBoundary *boundary,
                    double margin);
/* A pose as the boundary search needs it, and a node there. */
typedef struct TlPose {
  TlVec3 x;
  TlMat3 r;
  double scale;
} TlPose;
static inline TlVec3 tl_posed(const TlPose *pose, TlVec3 p) {
  return tl_add(pose->x, tl_mat_vec(pose->r, tl_scale(pose->scale, p)));
}
/* As tl_narrow_nodes, against a boundary. */
TlStatus tl_narrow_boundary(const TlColliders *colliders, int64_t body, const TlBoundary *boundary,
                            TlWanted *wanted, TlPoints *points);

/* Of nodes alone, at a pose. */
TlStatus tl_narrow_boundary_nodes(const struct TlShape *nodes, const TlPose *pose,
                                  const TlBoundary *boundary, TlWanted *wanted, TlPoints *points);
TlStatus tl_narrow_boundary_all(const TlColliders *colliders, int64_t body,
                                const TlBoundary *boundary, TlWanted *wanted, TlPoints *points);

/* Does a point lie deeper than the deepest so far (ties: the lower key)? */
static inline bool tl_point_deeper(const TlPoint *point, const TlPoint *deepest) {
  return point->gap < deepest->gap || (point->gap == deepest->gap && point->key < deepest->key);
}

/* Is node point[at] lower than the neighbours of it that are listed? near: numbers of `most` neighbours, -1: none;
 * rank: of a node its place in `point`, -1: not there. */
static inline bool tl_node_lower(const TlPoint *point, size_t at, const int32_t *near, int most,
                                 const int32_t *rank) {
  for (int k = 0; k < most; k++)
    if (near[k] >= 0 && rank[near[k]] >= 0 && tl_point_deeper(&point[rank[near[k]]], &point[at]))
      return false;
  return true;
}

/* Reduce candidates to at most TL_MANIFOLD_POINTS, written to kept; returns their number.
 * band: candidates this far above the least gap (or above 0) or farther are left out, so that what
 * is kept does not depend on which of them a search happened to bring along.
 * spread: points nearer than this to kept ones add nothing. known: remembered points of the pair,
 * sorted. */
int tl_manifold(TlPoint *candidates, size_t count, double band, double spread,
                const TlImpulse *known, size_t known_count, TlPoint *kept);

/* The deepest node of a body at a given pose against a boundary: phi, p, n; false: none within
 * margin. */
bool tl_narrow_deepest(const TlColliders *colliders, int64_t body, TlVec3 position, TlQuat rotation,
                       const TlBoundary *boundary, double margin, TlPoint *deepest);

#endif
