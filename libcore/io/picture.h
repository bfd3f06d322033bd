/* Files that hold slices as pictures, one row of a table each: TIFF (io/tiff.h), PNG
 * (below). A stack is one of them or a folder of them (io/stack_slices.h). */
#ifndef TL_IO_PICTURE_H
#define TL_IO_PICTURE_H

#include "io/stack_parts.h"

enum { TL_PICTURE_HEAD = 8, TL_PICTURE_KINDS = 2 };

/* "TIFF", "PNG"; kind: 0 to TL_PICTURE_KINDS - 1. */
const char *tl_picture_kind(int kind);
/* The kind by the end of a file's name, or by the first bytes of its content (zeros where it is
 * shorter); -1: none. */
int tl_picture_by_name(const char *name);
int tl_picture_by_content(const unsigned char head[TL_PICTURE_HEAD]);
/* Open by content as layers (head is left to the caller); info is the caller's. What is no picture
 * is left to the first kind to refuse. */
TlStatus tl_picture_layers(const char *path, TlStackInfo *info, TlLayers *layers);

/* One grey PNG as a slice of a stack (libpng behind this header).
 *
 * Reads grey of 1, 2, 4 or 8 bits as u8 and of 16 bits as u16, values as stored, interlaced or
 * not. Colour, a palette or transparency is refused with a remedy: the grey is never
 * guessed. A PNG's pixels per metre are its size in print, so the voxel size stays unknown.
 */

/* Open as layers of a stack with one slice (head is left to the caller); info is the caller's. The
 * header is checked here, the pixels when they are read. TL_EIO: cannot open; TL_EINPUT: damaged,
 * or of a kind we do not read. */
TlStatus tl_png_layers(const char *path, TlStackInfo *info, TlLayers *layers);

#endif
