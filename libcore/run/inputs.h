/* Marks of what a run took from its catalog, by which a run that goes on sees that the catalog
 * still holds the same: a digest of the ground, and of each shape in use its number of nodes and
 * measures. */
#ifndef TL_RUN_INPUTS_H
#define TL_RUN_INPUTS_H

#include "run/run.h"

typedef struct TlShapeMark {
  int64_t id, nodes;
  double volume_m3, area_m2, radius_m;
  TlVec3 inertia_m5;
} TlShapeMark;
#define TL_SHAPE_MARK_LAYOUT                                                                       \
  "int64_t id; int64_t nodes; double volume_m3; double area_m2; double radius_m; TlVec3 "          \
  "inertia_m5; "

/* Lower-case SHA-256 of the terrain's heights; "" without a terrain. */
void tl_inputs_terrain(const TlRun *run, char hex[65]);
/* Marks of the shapes that this rank's bodies use, sorted by id, fresh memory. */
TlStatus tl_inputs_shapes(TlRun *run, TlShapeMark **marks, int64_t *count);

#endif
