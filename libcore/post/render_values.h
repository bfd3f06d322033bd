/* The motion of grains between two frames, for pictures: a value for each row of the later frame.
 *
 * Rotation: band.h, degrees, 0 to 180. Strain: deviatoric local strain, packing_strain.h. Frames
 * need no contacts. NaN: bodies of nets and platens, grains that the earlier frame does not have,
 * strains without a cell.
 */
#ifndef TL_POST_RENDER_VALUES_H
#define TL_POST_RENDER_VALUES_H

#include "store/results.h"

typedef enum TlValueKind { TL_VALUE_ROTATION, TL_VALUE_STRAIN } TlValueKind;

/* value: [now->count], fresh memory. */
TlStatus tl_values_since(const TlScene *scene, TlValueKind kind, const TlFrame *before,
                         const TlFrame *now, double **value);

/* What 98 of a hundred of the numbers stay below, so that one spinning grain does not hide the
 * rest; 0: no numbers. NaN are passed over. One of the numbers, not tl_quantile's place on
 * the line to the next one, which may be that grain's. */
TlStatus tl_values_end(const double *value, int64_t count, double *end);

/* Normal, horizontal and unit, of the vertical plane in which the shear band between the frames is
 * seen from its side (the best of bands.h). TL_EINPUT: no band was found. */
TlStatus tl_values_band_view(const TlScene *scene, const TlFrame *before, const TlFrame *now,
                             TlVec3 *normal);

#endif
