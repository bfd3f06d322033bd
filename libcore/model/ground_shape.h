/* What contact with a relief (contact/ground.h) asks of a shape with nodes beyond its signed distance: the
 * nodes for a pass over all of them; and of a gridded one a smooth field, outward normals at its nodes, and
 * which nodes are neighbours. Made once a shape, immutable, shared. Body frame, unit scale, metres.
 */
#ifndef TL_MODEL_GROUND_SHAPE_H
#define TL_MODEL_GROUND_SHAPE_H

#include "shape/spline.h"

enum { TL_GROUND_NEIGHBOURS = 8, TL_GROUND_BLOCK = 16 };

struct TlShape;

typedef struct TlGroundShape {
  int32_t count;                         /* of the arrays: whole blocks, the last node repeated */
  float *x, *y, *z;                      /* [count] in the order of the shape's node_index, owned */
  TlSpline spline;                       /* of a grid; else none */
  TlVec3 *normal;                        /* [node_count] unit, by number, of a grid; owned */
  int32_t (*near)[TL_GROUND_NEIGHBOURS]; /* [node_count] the nearest other nodes, -1: none; owned */
  double
      deficit; /* a plane that touches the surface between nodes is no farther from one of them, about */
} TlGroundShape;

/* Of a shape that is complete but for this. */
TlStatus tl_ground_shape_new(TlGroundShape **ground, const struct TlShape *shape);
void tl_ground_shape_free(TlGroundShape *ground); /* NULL: nothing */

#endif
