/* Median filter over the cube of (2 radius + 1)^3 voxels (Tan 2022 2.2.2). */
#ifndef TL_IMAGE_MEDIAN_H
#define TL_IMAGE_MEDIAN_H

#include "image/roi.h"
#include "num/volume.h"

/* grey F32 -> out, a new F32 volume. Only voxels of the region inside the stack take part (near a
 * border the window has fewer); of an even number the lower median is taken, so that every value
 * occurs in the input. Outside is 0. Cost: a selection of the window a voxel, about
 * 10 (2 radius + 1)^3 operations. Bit-repeatable for any thread count. */
TlStatus tl_median(const TlVolume *grey, const TlRoi *roi, int radius, TlVolume *out);

#endif
