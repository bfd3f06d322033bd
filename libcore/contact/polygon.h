/* A convex polygon in a plane of space, cut by planes (Sutherland and Hodgman 1974), for the contacts of
 * polyhedra (facets.h, facet_surface.h).
 *
 * Each of its lines has a name, a small number of the caller's, which a cut keeps: a corner or a side is
 * known by names from step to step however many corners come and go. Values are left out where there are
 * none yet: a polygon is not zeroed before it is filled. Thread safe.
 */
#ifndef TL_CONTACT_POLYGON_H
#define TL_CONTACT_POLYGON_H

#include "model/facets.h"

enum { TL_POLYGON_MOST = TL_FACET_LOOP + TL_FACET_PLANES + 2 }; /* corners */

typedef struct TlPolygon {
  int count;
  TlVec3 corner[TL_POLYGON_MOST];
  int16_t after[TL_POLYGON_MOST]; /* name of the line from the corner to the next */
} TlPolygon;

/* What of it lies where n . x <= d; line: the name of the cut. `out` is another polygon. */
static inline void tl_polygon_cut(const TlPolygon *in, TlVec3 n, double d, int line,
                                  TlPolygon *out) {
  out->count = 0;
  if (in->count == 0) return;
  double first = tl_dot(n, in->corner[0]) - d, here = first;
  for (int i = 0; i < in->count; i++) {
    int next = i + 1 < in->count ? i + 1 : 0;
    double there = next ? tl_dot(n, in->corner[next]) - d : first;
    if (out->count + 2 > TL_POLYGON_MOST) return; /* more corners than the planes can give it */
    if (here <= 0) {
      out->corner[out->count] = in->corner[i];
      out->after[out->count++] = in->after[i];
    }
    if ((here <= 0) != (there <= 0)) {
      out->corner[out->count] =
          tl_axpy(in->corner[i], here / (here - there), tl_sub(in->corner[next], in->corner[i]));
      out->after[out->count++] = here <= 0 ? (int16_t)line : in->after[i];
    }
    here = there;
  }
}

#endif
