/* The depth of a grain in the bodies that carry it: the terrain as its raster has it
 * (shape/terrain_depth.h), planes, and the walls of that time. The depth is that of the grain's
 * deepest surface node; of a ball it is its radius less the distance of its centre. Measures of
 * stored runs and the solver's own summary both take it from here. SI, world frame. */
#ifndef TL_STORE_SCENE_DEPTH_H
#define TL_STORE_SCENE_DEPTH_H

#include "store/results.h"

typedef struct TlGrainDepth {
  double depth_m; /* 0: no node lies below anything */
  bool judged;    /* false: there is a terrain, and none of the nodes has ground at its (x, y) */
} TlGrainDepth;

/* place: of each of the scene's parts of walls (tl_scene_place). */
TlGrainDepth tl_scene_grain_depth(const TlScene *scene, const TlPlacement *place,
                                  const TlAvatar *avatar, const TlBodyRow *row);

/* Fraction of a grain's radius (of the sphere of its volume) beyond which measures count its depth
 * as too deep. */
static const double tl_deep_fraction = 0.02;

/* How deep grains lie, over all that were added: what summaries, reports and captions say. Zero is
 * empty. */
typedef struct TlDepths {
  double depth_m, fraction; /* the largest, and the largest over the radius of its grain */
  int64_t deepest;          /* number of the latter; meaningless where fraction is 0 */
  int64_t deep;             /* deeper than tl_deep_fraction */
  int64_t unjudged;         /* with no node over the terrain */
} TlDepths;
void tl_depths_add(TlDepths *depths, int64_t grain, double radius_m, TlGrainDepth depth);
/* Of the frame's grains that are not frozen; 0 where the scene has nothing to lie in. TL_EINPUT: an
 * avatar is missing. */
TlStatus tl_scene_depths(const TlScene *scene, const TlFrame *frame, TlDepths *depths);

#endif
