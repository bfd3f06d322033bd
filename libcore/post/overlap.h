/* Overlap of the grains of a stored run, by an oracle that shares nothing with the solver.
 *
 * The solver, its summary and the measure `largest_overlap` look through the nodes of a grain (but
 * of two balls), which see neither edges nor what lies between them. Here surfaces are held against surfaces:
 *   closed form      balls: the sum of the radii less the distance of the centres; a ball against a
 *                    polyhedron: its radius less the centre's exact distance.
 *   separating axes  boxes, tetrahedra, crosses (post/overlap_shape.h): the length of the shortest
 *                    translation that parts the two (post/overlap_convex.h). A cross is three boxes:
 *                    the depth is that of the deepest pair of boxes, which no translation that parts
 *                    the crosses can be shorter than.
 *   samples          all others: the deepest of dense samples of either surface in the other grain's
 *                    field (post/overlap_deepest.h), which is the distance that this point must go
 *                    to leave the other grain. For smooth surfaces and for a corner in a face it is
 *                    the translation that parts the two; where two edges cross it is less (0.71 of
 *                    it for the edges of two cubes at right angles).
 * Ground contacts: against planes, walls' parts and the bilinear patches of the terrain's raster
 * (post/overlap_ground.h). A pair touches when its overlap is above 0. Pairs of which neither side
 * can move (frozen, of a net, on a piston) are left out. Fractions are of the radius of the sphere of
 * equal volume, of a pair the smaller one. Errors: docs/theory/contact.md. Same bits for any number
 * of threads.
 */
#ifndef TL_POST_OVERLAP_H
#define TL_POST_OVERLAP_H

#include "post/figures.h"
#include "post/overlap_ground.h"

typedef struct TlOverlapRow {
  int64_t frame, first, second; /* ids; second < 0: boundary -1 - second, as contacts have it */
  double depth_m;               /* 0: only nodes say that the two touch */
  double fraction;
  double nodes_m; /* what the nodes alone say, 0: nothing */
  double radius_m;
  TlVec3 point_m, normal; /* unit, to the first; both 0 where depth_m is */
  TlOverlapTest test;
} TlOverlapRow;

typedef struct TlOverlapRows {
  TlOverlapRow *row; /* by frame, first and second; owned */
  int64_t count;
  size_t capacity;
} TlOverlapRows;

/* Adds the overlaps of a frame: pairs of grains, then grains in boundaries. shapes: of the scene
 * (tl_overlap_shapes). TL_EINPUT: a body's avatar is not in run.h5. */
TlStatus tl_overlap_frame(const TlScene *scene, const TlOverlapShape *shapes, const TlFrame *frame,
                          TlOverlapRows *rows);
/* The same for two bodies alone. */
TlStatus tl_overlap_pair(const TlOverlapBody *a, const TlOverlapBody *b, TlOverlapDepth *deepest,
                         TlOverlapTest *test);
/* row is borrowed. */
TlOverlapBody tl_overlap_body(const TlOverlapShape *shape, const TlBodyRow *row);
void tl_overlap_rows_free(TlOverlapRows *rows);

typedef struct TlOverlapSums {
  int64_t touching, over_1_percent, over_2_percent;
  double largest_m, median_m, p90_m, p99_m; /* quantiles over what touches; NaN: nothing does */
  double largest_fraction, median_fraction, p90_fraction, p99_fraction;
  int64_t first, second; /* with the largest fraction */
  /* by nodes alone */
  int64_t nodes_touching, nodes_over_1_percent, nodes_over_2_percent;
  double nodes_largest_m, nodes_largest_fraction;
} TlOverlapSums;

/* Over the rows of one frame, or of all (frame < 0); of pairs of grains or of ground contacts. */
TlStatus tl_overlap_sums(const TlOverlapRows *rows, int64_t frame, bool ground,
                         TlOverlapSums *sums);

/* talus-measure --overlap. frames: "last", "all" or a frame's number. overlap.csv (a line a pair)
 * and overlap_frames.csv (a line a frame) into the folder; figures over all those frames. TL_EUSAGE:
 * no such frame. */
TlStatus tl_overlap_run(const char *run, const TlScene *scene, const char *frames,
                        const char *folder, bool overwrite, TlFigures *figures);

#endif
