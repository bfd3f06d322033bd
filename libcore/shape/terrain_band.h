/* The narrow band of a terrain whose heights are set (called by tl_terrain_build). */
#ifndef TL_SHAPE_TERRAIN_BAND_H
#define TL_SHAPE_TERRAIN_BAND_H

#include "shape/terrain.h"

/* Fills the band's fields of terrain: spacing cell/refine, half width band_cells cells. */
TlStatus tl_terrain_band(TlTerrain *terrain, double band_cells, int refine);

#endif
