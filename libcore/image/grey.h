/* Grey levels between the float that the filters work in and the type that is stored. */
#ifndef TL_IMAGE_GREY_H
#define TL_IMAGE_GREY_H

#include "num/volume.h"

/* grey F32 -> out, a new volume of type (U8, I8, U16, I16: rounded to nearest, ties to even, and
 * cut to the type's range; any other type gives F32). Size, voxel_m and history go along. */
TlStatus tl_grey_store(const TlVolume *grey, TlVoxelType type, TlVolume *out);

#endif
