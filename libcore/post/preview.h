/* What a stage did to a stack, in one picture: the three middle slices before, after, and what
 * changed. Rows: xy (y down), xz and yz (z down). The third column is after - before (grey: none;
 * darker: less) for stacks of one type, else the slice before with the borders of the mask or the
 * labels after in colour. Greys are stretched alike before and after, by what is before. */
#ifndef TL_POST_PREVIEW_H
#define TL_POST_PREVIEW_H

#include "io/png_image.h"
#include "num/layers.h"

/* Both of one size (TL_EINPUT else). Reads every layer of both once; slices wider than 600 voxels
 * are thinned. image: new, owned by the caller. */
TlStatus tl_preview_draw(const TlLayers *before, const TlLayers *after, TlImage *image);

#endif
