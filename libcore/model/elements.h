/* A shape's surface as curved quadrilaterals, over which the penalty method's traction is integrated where no
 * patch serves (contact/tractions.h). Made once a shape, immutable, shared. Body frame, unit scale, metres.
 *
 * An avatar's spline is looked at on a grid of some fifteen cells a radius. Each cell that the surface crosses has
 * one corner, and each edge of the grid that it cuts has one element, between the corners of the four cells about
 * it (surface nets, Gibson 1998). Corners are evened out along the surface, and an element that would leave it by
 * more than 1e-4 of the radius in its middle is divided, twice at most. Polyhedra have their faces, divided, less
 * what lies inside another part.
 *
 * With corners v and unit normals n there, at bilinear weights b of u and w in [0, 1],
 *   x = p + 1/2 sum b_i ((v_i - p).n_i) n_i,  p = sum b_i v_i,
 * which is exact for a surface of second order. Each belongs to the node that is nearest to it.
 */
#ifndef TL_MODEL_ELEMENTS_H
#define TL_MODEL_ELEMENTS_H

#include "base/status.h"
#include "num/vec.h"

#include <stdint.h>

struct TlShape;

typedef struct TlElement {
  int32_t corner[4];
  int32_t node;
  float normal[3]; /* at its middle, u = w = 1/2 */
  float area_m2;
  float radius_m; /* no point of it is farther from its middle, */
  float rise_m;   /* nor farther beyond the plane across the normal there */
} TlElement;

typedef struct TlElements {
  float (*corner)[6];      /* [corner_count] place and outward unit normal; owned */
  TlElement *element;      /* [count] by node, owned */
  struct TlShape *middles; /* as its nodes, owned */
  int32_t count, corner_count;
  double size_m;  /* radius of the sphere of equal volume */
  double area_m2; /* of an element, in the mean */
  double reach_m; /* largest radius_m */
  /* Bounds of the second derivatives of an avatar's spline, 1/m, within block_m of the places of a block of its
   * grid; owned, NULL: of a polyhedron, of which nothing is said. */
  float *bend;
  int32_t blocks[3];
  double block_m;
  TlVec3 origin_m;
  double bend_most; /* of them near the surface */
} TlElements;

/* Second derivatives of the field within block_m of x; outside its grid those at the nearest place of it. */
static inline double tl_elements_bend(const TlElements *e, TlVec3 x) {
  const double at[3] = {x.x - e->origin_m.x, x.y - e->origin_m.y, x.z - e->origin_m.z};
  int64_t place[3];
  for (int k = 0; k < 3; k++) {
    int64_t i = (int64_t)(at[k] / e->block_m);
    place[k] = i < 0 ? 0 : i > e->blocks[k] - 1 ? e->blocks[k] - 1 : i;
  }
  return (double)e->bend[(place[2] * e->blocks[1] + place[1]) * e->blocks[0] + place[0]];
}

/* Of a shape with nodes that has its place shape. */
TlStatus tl_elements_new(TlElements **elements, const struct TlShape *shape);
void tl_elements_free(TlElements *elements); /* NULL: nothing */

/* An element in some frame, and a point of it. */
typedef struct TlCurved {
  TlVec3 v[4], n[4];
} TlCurved;

static inline TlVec3 tl_curved_point(const TlCurved *c, double u, double w) {
  const double b[4] = {(1 - u) * (1 - w), u * (1 - w), u * w, (1 - u) * w};
  TlVec3 p = tl_scale(b[0], c->v[0]);
  for (int k = 1; k < 4; k++) p = tl_axpy(p, b[k], c->v[k]);
  TlVec3 x = p;
  for (int k = 0; k < 4; k++)
    x = tl_axpy(x, 0.5 * b[k] * tl_dot(tl_sub(c->v[k], p), c->n[k]), c->n[k]);
  return x;
}

/* Of the flat element: its area over that of u and w there. */
static inline double tl_curved_stretch(const TlCurved *c, double u, double w) {
  TlVec3 along = tl_axpy(tl_scale(1 - w, tl_sub(c->v[1], c->v[0])), w, tl_sub(c->v[2], c->v[3]));
  TlVec3 across = tl_axpy(tl_scale(1 - u, tl_sub(c->v[3], c->v[0])), u, tl_sub(c->v[2], c->v[1]));
  return tl_norm(tl_cross(along, across));
}

#endif
