/* The deepest point of a grain's surface inside something else, by dense samples.
 *
 * Samples: seeds on a cubic lattice in the cells that the surface crosses, at least
 * TL_OVERLAP_DENSER a node, each brought onto phi = 0 of the grain's own field
 * (post/overlap_shape.h). Cells, and parts of cells, that cannot hold a deeper point by the slopes of
 * the fields are skipped; about the deepest sample ever finer lattices follow down to a 64th of the
 * samples' distance. World frame, SI.
 */
#ifndef TL_POST_OVERLAP_DEEPEST_H
#define TL_POST_OVERLAP_DEEPEST_H

#include "post/overlap_shape.h"

/* What a grain is held against. */
typedef struct TlOverlapAgainst {
  const void *context;
  /* Signed distance of p to its surface, < 0 inside, and the unit normal out of it (may be NULL).
   * Exact where it is below `reach` and negative; elsewhere a lower bound, or anything from `reach`
   * on where the distance is no less. */
  double (*phi)(const void *context, TlVec3 p, double reach, TlVec3 *normal);
} TlOverlapAgainst;

typedef struct TlOverlapDepth {
  double depth_m; /* 0: none */
  TlVec3 point_m, normal;
} TlOverlapDepth;

/* The deeper of the two. */
static inline void tl_overlap_take(TlOverlapDepth *deepest, double depth, TlVec3 point,
                                   TlVec3 normal) {
  if (depth > deepest->depth_m) *deepest = (TlOverlapDepth){depth, point, normal};
}

/* Signed distance to a grain: context a TlOverlapBody. */
TlOverlapAgainst tl_overlap_against_body(const TlOverlapBody *body);

/* Replaces *deepest where a sample of the body lies deeper. */
TlStatus tl_overlap_deepest(const TlOverlapBody *body, const TlOverlapAgainst *against,
                            TlOverlapDepth *deepest);

/* The same for the line from a to b inside the body: an edge of a wall or a crease of the ground
 * that reaches into the grain between its samples. The normal points out of the line's owner, that
 * is into the body. */
void tl_overlap_line(const TlOverlapBody *body, TlVec3 a, TlVec3 b, TlOverlapDepth *deepest);

#endif
