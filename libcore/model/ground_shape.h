/* What contact with a relief (contact/ground.h) asks of a gridded shape beyond its signed distance: a smooth
 * field, outward normals at its nodes, and which nodes are neighbours. Made once a shape, immutable, shared.
 * Body frame, unit scale, metres.
 */
#ifndef TL_MODEL_GROUND_SHAPE_H
#define TL_MODEL_GROUND_SHAPE_H

#include "shape/spline.h"

enum { TL_GROUND_NEIGHBOURS = 8 };

typedef struct TlGroundShape {
  TlSpline spline;
  TlVec3 *normal;                        /* [node_count] unit */
  int32_t (*near)[TL_GROUND_NEIGHBOURS]; /* [node_count] the nearest other nodes, -1: none */
  double deficit; /* a plane that touches the surface between nodes is no farther from one of them, about */
} TlGroundShape;

TlStatus tl_ground_shape_new(TlGroundShape **shape, const TlAvatar *avatar);
void tl_ground_shape_free(TlGroundShape *shape); /* NULL: nothing */

#endif
