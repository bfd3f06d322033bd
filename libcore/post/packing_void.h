/* Solid fraction and void ratio of a region.
 *
 * Solid volume: volumes of the grains, of one that the region's border cuts the share of its inner
 * grid points that lie inside, each standing for a cell (a cap of a quarter of a sphere's diameter,
 * 48 points across: 1%). Overlaps count twice. Solid fraction = solid/V, void
 * ratio e = (V - solid)/solid.
 */
#ifndef TL_POST_PACKING_VOID_H
#define TL_POST_PACKING_VOID_H

#include "post/packing.h"

double tl_void_solid_m3(const TlPacking *packing, const TlRegion *region);

#endif
