/* Positions that a study gives: in the terrain's local frame, or in its CRS (crs: terrain).
 *
 * Local = CRS - the terrain's origin (shape/terrain.h), heights too. Everything after the study is
 * read works in the local frame, and so does the effective study, which says crs: local.
 */
#ifndef TL_RUN_PLACES_H
#define TL_RUN_PLACES_H

#include "run/setup.h"
#include "shape/terrain.h"

/* Brings all positions into the local frame: release.position_m (its height counts from the ground
 * and stays), low_m, high_m and polygon, bodies, planes, walls, nets. Not those that are no places
 * on the terrain: release.cut, release.position_m of from-run (a displacement), parts of bodies.
 *
 * TL_EINPUT at the key, with what to write: CRS coordinates where local ones are meant, local ones
 * or exchanged axes where CRS coordinates are meant (the place lies off the terrain, and on it when
 * read the other way), crs: terrain without a terrain or with an apparatus, a body off the terrain where there
 * is no other ground. A body that starts more than 100 m above the ground is warned of. terrain: NULL without one. */
TlStatus tl_places_settle(TlSetup *setup, const TlStudy *study, const TlTerrain *terrain);

/* Is local (x, y) on the terrain's raster? */
bool tl_places_on(const TlTerrain *terrain, double x, double y);

#endif
