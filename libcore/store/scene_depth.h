/* The depth of a grain in the bodies that carry it: the terrain as its raster has it
 * (shape/terrain_depth.h), planes, and the walls of that time. The depth is that of the grain's
 * deepest surface node. Measures of stored runs and the solver's own summary both take it from
 * here. SI, world frame. */
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
static const double tl_deep_share = 0.02;

#endif
