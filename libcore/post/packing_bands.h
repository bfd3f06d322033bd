/* The shear band of a packing written: which grains, where, and how fabric and forces differ inside
 * and outside of it (Tan 2022 sections 4.6.3, 4.6.4).
 *
 * rotations.csv  a line a grain: rotation and local strains since packing->first, and whether it is
 *                of the band of rotations, of strains, of either; local_strain.vtp: the same
 * band.csv       name, value, unit, source: the three planes, theories' inclinations, and for the
 *                best of the planes (bands.h) grains, contacts, fabric, forces inside and outside
 * fabric_band.csv, forces_band.csv  histograms with a column `inside`; only where a band was found
 * with plot band.png (side view along the band) and fabric_band.png
 */
#ifndef TL_POST_PACKING_BANDS_H
#define TL_POST_PACKING_BANDS_H

#include "post/band.h"
#include "post/packing_write.h"

/* figures: those of band.csv are added. best: the band that inside and outside are told by; not
 * found when there is none. */
TlStatus tl_packing_bands(const TlPackWriting *to, const TlPacking *packing, const TlRegion *region,
                          const TlPackingOptions *options, TlFigures *figures, TlBand *best);

#endif
