/* A surface of triangles, and the check that it bounds a body.
 *
 * Vertices are in the unit of the caller; triangles counter-clockwise seen from outside. A body's
 * surface is closed (each edge has two triangles, in opposite directions), in one piece, meets
 * itself in no vertex, and holds a positive volume.
 */
#ifndef TL_NUM_TRIANGLES_H
#define TL_NUM_TRIANGLES_H

#include "base/status.h"
#include "num/vec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct TlTriangles {
  TlVec3 *vertex;  /* owned */
  int32_t *corner; /* three vertex numbers a triangle, owned */
  int64_t vertices, triangles;
  size_t vertex_capacity, corner_capacity;
} TlTriangles;

void tl_triangles_free(TlTriangles *mesh);
TlStatus tl_triangles_add_vertex(TlTriangles *mesh, TlVec3 p);
TlStatus tl_triangles_add(TlTriangles *mesh, int64_t a, int64_t b, int64_t c);

typedef struct TlTrianglesReport {
  int64_t welded;    /* vertices that had the coordinates of another */
  int64_t collapsed; /* triangles with two corners in one place, taken out */
  int64_t flat;      /* triangles without area that stay: three places in a line */
  bool turned;       /* all facets pointed inwards and were turned */
} TlTrianglesReport;

/* Weld vertices of exactly the same coordinates, take out what collapsed and who is not used, and
 * check that the surface bounds a body; facets that all point inwards are turned. TL_EINPUT says
 * what is wrong and where: not finite, empty, open edge, edge of more than two triangles, facets
 * that do not agree which side is out, several pieces, a vertex where the surface touches itself.
 */
TlStatus tl_triangles_make_body(TlTriangles *mesh, TlTrianglesReport *report);

/* By the divergence theorem: positive when the facets point outwards. */
double tl_triangles_volume(const TlTriangles *mesh);
double tl_triangles_area(const TlTriangles *mesh);
double tl_triangles_area_of(const TlTriangles *mesh, int64_t triangle);
void tl_triangles_box(const TlTriangles *mesh, TlVec3 *low, TlVec3 *high);

static inline TlVec3 tl_triangles_corner(const TlTriangles *m, int64_t t, int k) {
  return m->vertex[m->corner[3 * t + k]];
}

typedef enum TlTrianglePart { TL_ON_FACE, TL_ON_EDGE, TL_ON_VERTEX } TlTrianglePart;

typedef struct TlTrianglePoint {
  TlVec3 p;
  TlVec3 from; /* x less it, to rounding of the distance and not of the places */
  TlTrianglePart part;
  int k; /* the edge begins at corner k, the vertex is corner k */
} TlTrianglePoint;

/* The point of triangle abc nearest to x (Ericson 2005, section 5.1.5: Voronoi regions of its
 * features). */
static inline TlTrianglePoint tl_triangle_nearest(TlVec3 x, TlVec3 a, TlVec3 b, TlVec3 c) {
  TlVec3 ab = tl_sub(b, a), ac = tl_sub(c, a), ax = tl_sub(x, a), bx = tl_sub(x, b),
         cx = tl_sub(x, c);
  double d1 = tl_dot(ab, ax), d2 = tl_dot(ac, ax), d3 = tl_dot(ab, bx), d4 = tl_dot(ac, bx),
         d5 = tl_dot(ab, cx), d6 = tl_dot(ac, cx);
  double va = d3 * d6 - d5 * d4, vb = d5 * d2 - d1 * d6, vc = d1 * d4 - d3 * d2;
  if (d1 <= 0 && d2 <= 0) return (TlTrianglePoint){a, ax, TL_ON_VERTEX, 0};
  if (d3 >= 0 && d4 <= d3) return (TlTrianglePoint){b, bx, TL_ON_VERTEX, 1};
  if (d6 >= 0 && d5 <= d6) return (TlTrianglePoint){c, cx, TL_ON_VERTEX, 2};
  if (vc <= 0 && d1 >= 0 && d3 <= 0) {
    double t = d1 / (d1 - d3);
    return (TlTrianglePoint){tl_axpy(a, t, ab), tl_axpy(ax, -t, ab), TL_ON_EDGE, 0};
  }
  if (vb <= 0 && d2 >= 0 && d6 <= 0) {
    double t = d2 / (d2 - d6);
    return (TlTrianglePoint){tl_axpy(a, t, ac), tl_axpy(ax, -t, ac), TL_ON_EDGE, 2};
  }
  if (va <= 0 && d4 >= d3 && d5 >= d6) {
    double t = (d4 - d3) / (d4 - d3 + d5 - d6);
    TlVec3 bc = tl_sub(c, b);
    return (TlTrianglePoint){tl_axpy(b, t, bc), tl_axpy(bx, -t, bc), TL_ON_EDGE, 1};
  }
  double s = 1 / (va + vb + vc);
  return (TlTrianglePoint){tl_axpy(tl_axpy(a, vb * s, ab), vc * s, ac),
                           tl_axpy(tl_axpy(ax, -vb * s, ab), -vc * s, ac), TL_ON_FACE, 0};
}

#endif
