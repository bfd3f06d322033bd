/* TIFF and BigTIFF stacks (libtiff behind this header and tiff_meta.h).
 *
 * Reads 8-, 16- and 32-bit unsigned, signed and 32-bit float pages in either byte order, strips or
 * tiles, any compression libtiff knows, one sample a pixel; 1-bit pages as u8 of 0 and 1, 64-bit
 * float pages as f32; ImageJ's large stacks that keep one directory and raw pages after it.
 * MINISWHITE integers come out inverted (bright = large). All pages are looked at before a voxel is
 * read: size, type, and that their data lie inside the file. Fewer pages than ImageJ's description
 * promises are refused. Pages are counted from 1 in messages.
 * Values and voxel_m in the order x, y, z.
 */
#ifndef TL_IO_TIFF_H
#define TL_IO_TIFF_H

#include "io/stack_parts.h"

typedef struct TlTiff TlTiff;

/* Open and check every page. TL_EIO: cannot open; TL_EINPUT: damaged, or of a kind we do not read.
 * *tiff is NULL on failure. */
TlStatus tl_tiff_open(const char *path, TlTiff **tiff);
/* Borrowed, until tl_tiff_close. */
const TlStackInfo *tl_tiff_info(const TlTiff *tiff);
/* count pages from number z (the first is 0) into voxels (nx*ny*count of the type in info, x
 * fastest). Memory: nothing for strips, one tile for tiles. */
TlStatus tl_tiff_read(TlTiff *tiff, int64_t z, int64_t count, void *voxels);
void tl_tiff_close(TlTiff *tiff); /* NULL is fine */
/* Open as layers (head is left to the caller); info is the caller's. */
TlStatus tl_tiff_layers(const char *path, TlStackInfo *info, TlLayers *layers);

/* Begin a stack in file; name: the product's name for messages, borrowed until the end; head: its
 * size, type and voxel_m. Deflate; an ImageJ description with the voxel size when it is known, and
 * history (may be NULL) in it; BigTIFF when the voxels come near 4 GB. The caller renames. */
TlStatus tl_tiff_begin(const char *file, const char *name, const TlVolume *head,
                       const char *history, TlLayerSink *sink);

#endif
