/* The shear band of a packing by each of its criteria (Tan 2022 section 4.6.3): grains that turned
 * far, grains of large local deviatoric strain, and grains of which either holds, the
 * dissertation's own. Against packing->first; grains whose centres lie in the region now. */
#ifndef TL_POST_BANDS_H
#define TL_POST_BANDS_H

#include "post/band.h"
#include "post/packing_strain.h"

typedef enum TlBandKind {
  TL_BAND_ROTATION,
  TL_BAND_STRAIN,
  TL_BAND_JOINT,
  TL_BAND_KINDS
} TlBandKind;
extern const char *const tl_band_names[TL_BAND_KINDS];

typedef struct TlBands {
  double *angle_rad; /* [grain_count] NaN: outside the region, or not there before; owned */
  TlStrains strain;  /* NaN outside the region too; owned */
  TlBand band[TL_BAND_KINDS];
  unsigned char *in[TL_BAND_KINDS]; /* [grain_count] the band's grains; owned */
} TlBands;

TlStatus tl_bands_of(const TlPacking *packing, const TlRegion *region, TlBands *bands);
void tl_bands_free(TlBands *bands);
/* The joint one, else that of rotations, else that of strains; NULL: none was found. */
const TlBand *tl_bands_best(const TlBands *bands);
/* The region's part inside (1) or outside (-1) of the band, by its thickness. */
TlRegion tl_band_region(const TlBand *band, const TlRegion *region, int side);

#endif
