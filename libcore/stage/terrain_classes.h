/* Classes of the ground, a whole number at each sample of a terrain: of a raster, of polygons, or of both. For
 * stage/terrain.c only. */
#ifndef TL_STAGE_TERRAIN_CLASSES_H
#define TL_STAGE_TERRAIN_CLASSES_H

#include "shape/terrain.h"
#include "stage/grains.h"
#include "stage/stage.h"

/* terrain->class_id: of the polygons that hold the sample that which stands last in the file, else the class of the
 * nearest cell of the raster, else o->class_default. Samples without ground keep 0. Reports how many samples lie in
 * polygons of several classes, and warns of the first of them.
 * TL_EINPUT: ground without a class, no whole number, a raster of another CRS, polygons without the field. */
TlStatus tl_terrain_classes(const TlStageCall *call, const TlTerrainStage *o, TlTerrain *terrain);

#endif
