/* The tables of a packing beside packing.csv: what their writers share, and those of the shear band.
 */
#ifndef TL_POST_PACKING_WRITE_H
#define TL_POST_PACKING_WRITE_H

#include "io/csv.h"
#include "num/vec.h"
#include "post/band.h"

typedef struct TlPackWriting {
  const char *folder;
  bool overwrite;
} TlPackWriting;

TlStatus tl_pack_begin(const TlPackWriting *to, const char *name, const char *header, TlCsv *csv);
/* Commit, or with a failure abort; gives status back. */
TlStatus tl_pack_finish(TlCsv *csv, TlStatus status);

/* Columns of a spherical histogram's table (packing_fabric.h), and its rows for one set of
 * directions, with `lead` values in front of each. */
#define TL_PACK_CELL_COLUMNS "kind,cos_low,cos_high,azimuth_low_deg,azimuth_high_deg,count,density"
TlStatus tl_pack_put_cells(TlCsv *csv, const double *lead, int leads, int kind,
                           const TlVec3 *direction, int64_t count);

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

/* figures: those of band.csv are added. best: the band that inside and outside are told by; not
 * found when there is none. */
TlStatus tl_packing_bands(const TlPackWriting *to, const TlPacking *packing, const TlRegion *region,
                          const TlPackingOptions *options, TlFigures *figures, TlBand *best);

#endif
