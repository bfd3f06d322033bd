/* What the contact search by places (contact/places.h) knows of a shape beyond its signed distance: a
 * smooth field, whether it is convex, the neighbours of its nodes, the faces of a polyhedron. Made once a
 * shape, immutable, shared. Body frame, unit scale, metres.
 */
#ifndef TL_MODEL_PLACE_SHAPE_H
#define TL_MODEL_PLACE_SHAPE_H

#include "model/facets.h"
#include "shape/spline.h"

#include <stdbool.h>

enum { TL_PLACE_NEIGHBOURS = 8 };

struct TlShape;

typedef struct TlPlaceShape {
  TlSpline spline; /* of an avatar */
  bool convex;     /* no node lies above the tangent plane of another by over 2e-3 of the radius */
  bool sharp;     /* it has edges that the grid rounds within a cell or two, and is no polyhedron */
  double slope;   /* of phi, at most, in the grid; outside: sqrt(1 + slope^2) */
  double spacing; /* mean distance of neighbouring nodes; 0: it has none */
  int32_t (*near)[TL_PLACE_NEIGHBOURS]; /* [node_count] the nearest other nodes, -1: none; owned */
  TlFacets *part; /* convex polyhedra whose union the shape is, owned; NULL: a smooth surface */
  int part_count;
  struct TlElements *elements; /* owned; NULL: nobody integrates over it (model/elements.h) */
} TlPlaceShape;

/* Of a shape; of an avatar's all but the neighbours of nodes, which need the tree of these. */
TlStatus tl_place_shape_new(TlPlaceShape **place, const struct TlShape *shape);
TlStatus tl_place_shape_finish(TlPlaceShape *place, const struct TlShape *shape);
void tl_place_shape_free(TlPlaceShape *place); /* NULL: nothing */

#endif
