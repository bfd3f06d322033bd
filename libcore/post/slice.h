/* A picture of one slice of a stack, so that every stage of the chain can be looked at.
 *
 * Grey volumes are stretched linearly between two grey levels; label volumes (U32, 0 = void) get a
 * colour by a hash of the label, so that neighbours differ and a label keeps its colour from stack
 * to stack. x runs to the right, y downwards (row 0 of the stack on top), each voxel `zoom` pixels.
 */
#ifndef TL_POST_SLICE_H
#define TL_POST_SLICE_H

#include "io/png_image.h"
#include "num/volume.h"

typedef struct TlSliceStyle {
  int64_t z;        /* slice index; < 0: the middle */
  int zoom;         /* pixels a voxel, >= 1 */
  double low, high; /* grey levels shown black and white; equal: 0.5% and 99.5% of the slice */
} TlSliceStyle;

/* Sets low and high to 0.5% and 99.5% of slice z, to draw another slice alike. */
TlStatus tl_slice_stretch(const TlVolume *volume, TlSliceStyle *style);
/* TL_EUSAGE when z is not in the stack. image: new, owned by the caller. */
TlStatus tl_slice_draw(const TlVolume *volume, const TlSliceStyle *style, TlImage *image);

#endif
