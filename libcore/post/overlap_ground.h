/* How deep a grain lies in what holds it, by the oracle of overlap: the terrain's own raster, planes
 * and the parts of walls, where they are in a frame. SI, world frame. */
#ifndef TL_POST_OVERLAP_GROUND_H
#define TL_POST_OVERLAP_GROUND_H

#include "post/overlap_deepest.h"

/* How a depth was found. */
typedef enum TlOverlapTest {
  TL_OVERLAP_CLOSED = 0, /* in closed form: a ball */
  TL_OVERLAP_AXES,       /* exact polyhedra: separating axes; vertices against planes and tubes */
  TL_OVERLAP_SAMPLES     /* dense samples of the surfaces */
} TlOverlapTest;
extern const char *const tl_overlap_test_name[];

/* Boundaries are counted as contacts name them (store/results.h): terrain, planes, walls' parts. */
int64_t tl_overlap_boundaries(const TlScene *scene);
/* Into *deepest, which is replaced where the body lies deeper in boundary b. place: of each of the
 * scene's parts (tl_scene_place). A ball is measured against terrain that lies below its centre. */
TlStatus tl_overlap_boundary(const TlScene *scene, const TlPlacement *place, int64_t b,
                             const TlOverlapBody *body, TlOverlapDepth *deepest,
                             TlOverlapTest *test);
/* What the body's nodes alone say: the deepest of them in boundary b; 0: none. */
double tl_overlap_boundary_nodes(const TlScene *scene, const TlPlacement *place, int64_t b,
                                 const TlOverlapBody *body);

#endif
