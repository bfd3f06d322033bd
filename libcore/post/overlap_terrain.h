/* The raster's own ground for the oracle of overlap: the union of the bilinear patches between its
 * samples, without the band of distances that the solver looks into and without that band's builder
 * (shape/heightfield.h). Metres, the terrain's local frame. */
#ifndef TL_POST_OVERLAP_TERRAIN_H
#define TL_POST_OVERLAP_TERRAIN_H

#include "post/overlap_deepest.h"

/* Distance of p to the nearest patch, and the point there; INFINITY when none is nearer than
 * `reach`. The square of the distance is a parabola along each straight line v = const of a patch,
 * with its least value in closed form; over v it is searched at 16 places and then by golden
 * sections: right to about 1e-8 of a cell. */
double tl_overlap_ground_distance(const TlTerrain *terrain, TlVec3 p, double reach,
                                  TlVec3 *nearest);
/* Context a TlTerrain. */
TlOverlapAgainst tl_overlap_against_terrain(const TlTerrain *terrain);
/* The straight lines between neighbouring samples of the raster inside the body. */
void tl_overlap_creases(const TlTerrain *terrain, const TlOverlapBody *body,
                        TlOverlapDepth *deepest);
/* Is there ground at (x, y)? Then *z is its height. */
bool tl_overlap_ground_height(const TlTerrain *terrain, double x, double y, double *z);

#endif
