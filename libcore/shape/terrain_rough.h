/* Roughness below the cells of a raster: a terrain of smaller cells with a random height at each of
 * its samples. A smooth raster lets blocks slide or roll where real ground stops or throws them. */
#ifndef TL_SHAPE_TERRAIN_ROUGH_H
#define TL_SHAPE_TERRAIN_ROUGH_H

#include "shape/terrain.h"

/* Cells become cell/n, n the least whole number that makes them at most spacing_m; heights between
 * the samples are bilinear, and each sample is moved up or down by a normal deviate of standard
 * deviation height_m, of the seed and its number. Classes are those of the nearest sample. The band
 * is made anew. TL_EINPUT: more than 2e8 samples. */
TlStatus tl_terrain_roughen(TlTerrain *terrain, double height_m, double spacing_m, uint64_t seed);

#endif
