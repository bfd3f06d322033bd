/* The depth of a grain in the ground, measured against the elevation raster itself.
 *
 * The ground is the union of the bilinear patches between the raster's samples (heightfield.h). The
 * depth of a point that lies below the ground at its own (x, y) is its distance to the nearest
 * point of that surface, not the vertical distance; the depth of a grain is that of its deepest
 * surface node. Nothing here looks at the band in which the solver interpolates distances
 * (tl_terrain_phi): on rough ground that interpolation rounds creases off by up to a third of a
 * cell, which is more than a grain that is smaller than a cell. Metres, the terrain's local frame.
 * What lies between nodes is not seen: a ridge of the ground that reaches into a grain between two
 * of its nodes counts for nothing. A ball lies as deep as its centre is nearer to the surface than its radius.
 */
#ifndef TL_SHAPE_TERRAIN_DEPTH_H
#define TL_SHAPE_TERRAIN_DEPTH_H

#include "shape/avatar.h"
#include "shape/terrain.h"

/* Depth of a point; 0 for a point on or above the ground, and for one whose depth is at most
 * `least` (a search for the deepest point needs no more); NAN where the raster has no ground at the
 * point's (x, y). The distance is right to 1e-7 cells. */
double tl_terrain_depth(const TlTerrain *terrain, TlVec3 point, double least);

typedef struct TlSunk {
  double depth_m;        /* of the deepest node; 0: none lies below the ground */
  int64_t nodes, judged; /* of the grain; those with ground at their (x, y). 0 judged: no measure */
} TlSunk;

/* An avatar, scaled and turned, with its centre of mass at `centre`. */
TlSunk tl_terrain_sunk(const TlTerrain *terrain, const TlAvatar *avatar, double scale,
                       TlVec3 centre, TlQuat rotation);

#endif
