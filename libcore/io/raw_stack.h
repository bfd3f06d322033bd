/* Headerless voxels: a file that holds nothing but nz*ny*nx voxels, x fastest. */
#ifndef TL_IO_RAW_STACK_H
#define TL_IO_RAW_STACK_H

#include "io/stack_parts.h"

/* spec: "NZ,NY,NX,TYPE,ENDIAN[,OFFSET]": TYPE u8 i8 u16 i16 u32 i32 f32, or f64 (read as
 * f32), ENDIAN little or big, OFFSET the bytes before the first voxel. TL_EUSAGE when it is not so;
 * TL_EINPUT when the file has not exactly that many bytes (the sizes are wrong then, or the type).
 * Voxel size unknown. */
TlStatus tl_raw_layers(const char *path, const char *spec, TlStackInfo *info, TlLayers *layers);

/* The same for voxels that another header describes: of info's size and type, from offset on, in a
 * file that holds at least these (checked by the caller). */
TlStatus tl_raw_layers_at(const char *path, const TlStackInfo *info, bool big_endian,
                          int64_t offset, TlLayers *layers);

/* Turn the bytes of each of count voxels round; size: bytes of one. */
void tl_swap_bytes(uint8_t *bytes, int64_t count, size_t size);

#endif
