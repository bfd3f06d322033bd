/* A shape's surface as quadrilaterals of nine points each, over which the penalty method's traction is integrated
 * where no patch serves (contact/tractions.h). Made once a shape, immutable, shared. Body frame, unit scale, metres.
 *
 * An avatar's spline (of a shape with edges that its grid cannot hold, the grid itself) is looked at on a grid of
 * some eight cells a radius. Each cell that the surface crosses has one corner, and each edge of the grid that it
 * cuts has one element, between the corners of the four cells about it (surface nets, Gibson 1998). Corners are
 * evened out along the surface, and an element whose quadratic would leave it by more than 3e-4 of the radius is
 * divided, twice at most. Polyhedra have their faces, divided finer towards edges, less what lies inside another part.
 *
 * The points of an element lie on the surface: its corners, the middles of its sides and its own. What is known at
 * them is a quadratic in u and w, each from 0 to 1, between them. Each element belongs to the node that is nearest
 * to its middle.
 */
#ifndef TL_MODEL_ELEMENTS_H
#define TL_MODEL_ELEMENTS_H

#include "base/status.h"
#include "num/vec.h"

#include <stdbool.h>
#include <stdint.h>

struct TlShape;

enum { TL_ELEMENT_POINTS = 9, TL_ELEMENT_MIDDLE = 4 /* the one in its middle */ };
/* A quadratic through nine values is nowhere larger than this times the largest of them. */
static const double TL_ELEMENT_MOST = 1.5625;
/* An element is summed at so many places along u and w, (k + 1/2) / TL_ELEMENT_ACROSS. */
enum { TL_ELEMENT_ACROSS = 8 };

typedef struct TlElement {
  int32_t point[TL_ELEMENT_POINTS]; /* u/2 + 3 w/2 is at u, w */
  int32_t node;
  float radius_m;   /* no point of it is farther from its middle */
  uint64_t bare;    /* bit k of byte j: no other part covers the place k along u, j along w */
  float stretch[4]; /* area over that of u and w, at (0, 0), (1, 0), (0, 1), (1, 1) */
} TlElement;

typedef struct TlElements {
  float (*point)[3];       /* [point_count] owned */
  TlElement *element;      /* [count] by node, owned */
  struct TlShape *middles; /* as its nodes, owned */
  int32_t count, point_count;
  double size_m;  /* radius of the sphere of equal volume */
  double area_m2; /* of all elements */
  double reach_m; /* largest radius_m */
  bool borrowed;  /* the arrays are another's (model/shape_shared.h) */
} TlElements;

static inline TlVec3 tl_element_point(const TlElements *e, int32_t point) {
  const float *p = e->point[point];
  return tl_vec3(p[0], p[1], p[2]);
}
static inline double tl_element_place(int k) {
  return (k + 0.5) / TL_ELEMENT_ACROSS;
}

/* Weights of three values at 0, 1/2 and 1 for the quadratic through them at u, and for its slope. */
static inline void tl_element_weights(double u, double w[3]) {
  w[0] = (1 - u) * (1 - 2 * u);
  w[1] = 4 * u * (1 - u);
  w[2] = u * (2 * u - 1);
}
static inline void tl_element_slopes(double u, double w[3]) {
  w[0] = 4 * u - 3;
  w[1] = 4 - 8 * u;
  w[2] = 4 * u - 1;
}

/* Of a shape with nodes that has its place shape. */
TlStatus tl_elements_new(TlElements **elements, const struct TlShape *shape);
void tl_elements_free(TlElements *elements); /* NULL: nothing */

#endif
