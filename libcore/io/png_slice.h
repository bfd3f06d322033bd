/* One grey PNG as a slice of a stack (libpng behind this header).
 *
 * Reads grey of 1, 2, 4 or 8 bits as u8 and of 16 bits as u16, values as stored, interlaced or
 * not. Colour, a palette or transparency is refused with a remedy: the grey is never
 * guessed. A PNG's pixels per metre are its size in print, so the voxel size stays unknown.
 */
#ifndef TL_IO_PNG_SLICE_H
#define TL_IO_PNG_SLICE_H

#include "io/stack_parts.h"

/* Open as layers of a stack with one slice (head is left to the caller); info is the caller's. The
 * header is checked here, the pixels when they are read. TL_EIO: cannot open; TL_EINPUT: damaged,
 * or of a kind we do not read. */
TlStatus tl_png_layers(const char *path, TlStackInfo *info, TlLayers *layers);

#endif
