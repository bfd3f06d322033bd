/* The surface of a grain for the report's 3-D playback, small enough to send thousands of them.
 *
 * Surface nets: phi, by the spline through the grain's grid (shape/spline.h), on whose surface the
 * solver's contacts lie, is sampled on a coarse grid; each cell whose corners differ in sign has one
 * vertex, put on phi = 0, and each grid edge whose ends differ in sign has a square of the four
 * vertices round it. What is stored is the signs of the grid points, a bit each, and the place of
 * each vertex in its cell, three bytes; the triangles follow from the signs, so no index is stored
 * and the browser makes them anew (report/mesh.js). Signs are mended until the surface is closed
 * and no vertex belongs to two sheets; vertices are then moved along their normals by one common
 * distance until the mesh has the grain's volume. Body frame, metres, unscaled.
 *
 * Square order and the choice of diagonals are part of the format: see tl_skin_mesh, which decodes.
 */
#ifndef TL_POST_REPORT_SKIN_H
#define TL_POST_REPORT_SKIN_H

#include "shape/mesh.h"

/* Vertices lie in [-1/2, 3/2) of their cell, in steps of 1/TL_SKIN_STEPS of its side. */
enum { TL_SKIN_STEPS = 64 };

typedef struct TlSkin {
  int32_t n[3]; /* grid points, x fastest */
  float cell_m;
  float origin_m[3]; /* of grid point (0, 0, 0) */
  uint8_t *bits;     /* grid point i is inside when bit i & 7 of byte i >> 3 is set; owned */
  int32_t vertices;
  uint8_t
      *place; /* [3 * vertices] steps from half a cell before the cell; cells x fastest; owned */
} TlSkin;

/* cells: along the grain's longest axis, 3 or more; flat grains get more, so that their least axis
 * has some. TL_EINPUT: the grain has no surface on that grid. */
TlStatus tl_skin_make(const TlAvatar *avatar, int32_t cells, TlSkin *skin);
/* The same on as few cells from `cells` on as bring the mesh's distance from the level set (rms over
 * its area, by the spline) to most_error of the radius of the sphere of equal volume, but no more
 * than `most`, and none that no longer help. error: what it came to. */
TlStatus tl_skin_make_within(const TlAvatar *avatar, int32_t cells, int32_t most, double most_error,
                             TlSkin *skin, double *error);
void tl_skin_free(TlSkin *skin);

/* The triangles that the browser draws. mesh: new, owned by the caller. */
TlStatus tl_skin_mesh(const TlSkin *skin, TlMesh *mesh);

#endif
