/* Narrow phase: nodes of one grain against the signed distance of another, or of a boundary, and
 * the few points that stand for them (Tan 2024 section 3.1; PHYSICS notes 15-16).
 *
 * A candidate is every node with phi < margin. Of a pair's candidates the manifold keeps clusters
 * of agreeing normals, and of each cluster the deepest point and up to three that span the widest
 * face; points remembered from the last step are preferred, so that a resting pair keeps its keys.
 */
#ifndef TL_DEM_NARROW_H
#define TL_DEM_NARROW_H

#include "dem/bodies.h"
#include "dem/boundary.h"

#include <stdbool.h>

enum {
  TL_MANIFOLD_POINTS = 8, /* most points of a pair */
  TL_CLUSTER_POINTS = 4
};

typedef struct TlPoint {
  TlVec3 p, n; /* world; n from b to a (from the boundary to the grain) */
  double gap;
  int64_t key; /* 2*node + side (contact.h) */
} TlPoint;

typedef struct TlPoints {
  TlPoint *point; /* owned, grows */
  size_t count, capacity;
  int64_t node_tests, lookups; /* counters, never reset here */
} TlPoints;

/* What is wanted: gap < margin, and no farther than band above the least gap (or above 0). least:
 * the least gap known so far, in and out (INFINITY at the start): what was found on one side saves
 * work on the other. */
typedef struct TlWanted {
  double margin, band, least;
} TlWanted;

/* All nodes of body `from` with a wanted phi of body `to` are appended; nodes that only a later,
 * deeper one rules out may stay in. side: 0 when `from` is a of the pair, 1 when it is b (normals
 * are turned to point from b to a). A shape without nodes gives the points that follow the contact.
 * With band = INFINITY exactly what testing every node finds. */
TlStatus tl_narrow_nodes(const TlBodies *bodies, int64_t from, int64_t to, int side,
                         TlWanted *wanted, TlPoints *points);
/* Can any node of the body be within margin of the boundary? One lookup. */
bool tl_narrow_near(const TlBodies *bodies, int64_t body, const TlBoundary *boundary,
                    double margin);
/* As tl_narrow_nodes, against a boundary. */
TlStatus tl_narrow_boundary(const TlBodies *bodies, int64_t body, const TlBoundary *boundary,
                            TlWanted *wanted, TlPoints *points);

/* Reduce candidates to at most TL_MANIFOLD_POINTS, written to kept; returns their number.
 * band: candidates farther than this above the least gap (or above 0) are left out.
 * spread: points nearer than this to kept ones add nothing. known: sorted touches of the pair. */
int tl_manifold(TlPoint *candidates, size_t count, double band, double spread, const TlTouch *known,
                size_t known_count, TlPoint *kept);

/* The deepest node of a body at a given pose against a boundary: phi, p, n; false: none within
 * margin. */
bool tl_narrow_deepest(const TlBodies *bodies, int64_t body, TlVec3 position, TlQuat rotation,
                       const TlBoundary *boundary, double margin, TlPoint *deepest);

#endif
