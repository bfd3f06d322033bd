/* Marks of what a run took from its catalog, by which a run that continues sees that the catalog
 * still holds the same: digests of the ground and of the walls' tables, and of each shape in use
 * its number of nodes and measures. */
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

/* Lower-case SHA-256 of the terrain's heights, with its classes when it has them; "" without a
 * terrain. */
TlStatus tl_inputs_terrain(const TlRun *run, char hex[65]);
/* SHA-256 of the rows of all walls' tables; "" when no wall follows one. */
TlStatus tl_inputs_tables(const TlRun *run, char hex[65]);
/* Marks of the shapes that this rank's bodies use, sorted by id, fresh memory. */
TlStatus tl_inputs_shapes(TlRun *run, TlShapeMark **marks, int64_t *count);

#endif
