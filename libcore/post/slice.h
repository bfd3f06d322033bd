/* Pictures of slices of a stack, to look at every stage of the chain: one slice, and a preview.
 *
 * Grey volumes are stretched linearly between two grey levels; label volumes (U32, 0 = void) get a
 * colour by a hash of the label, so that neighbours differ and a label keeps its colour from stack
 * to stack. x runs to the right, y downwards (row 0 of the stack on top), each voxel `zoom` pixels.
 */
#ifndef TL_POST_SLICE_H
#define TL_POST_SLICE_H

#include "io/image.h"
#include "num/layers.h"
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

/* What a stage did to a stack, in one picture: the three middle slices before, after, and what
 * changed. Rows: xy (y down), xz and yz (z down). The third column is after - before (grey: none;
 * darker: less) for stacks of one type, else the slice before with the borders of the mask or the
 * labels after in colour. Greys are stretched alike before and after, by what is before. */

/* Both of one size (TL_EINPUT else). Reads every layer of both once; slices wider than 600 voxels
 * are thinned, those of small stacks drawn with a whole number of pixels a voxel so that the widest
 * comes near to `wanted` pixels (0: one pixel). image: new, owned by the caller. */
TlStatus tl_preview_draw(const TlLayers *before, const TlLayers *after, int wanted, TlImage *image);

#endif
