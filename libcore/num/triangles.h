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
void tl_triangles_box(const TlTriangles *mesh, TlVec3 *low, TlVec3 *high);

static inline TlVec3 tl_triangles_corner(const TlTriangles *m, int64_t t, int k) {
  return m->vertex[m->corner[3 * t + k]];
}

#endif
