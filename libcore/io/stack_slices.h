/* A stack kept as one picture (io/picture.h) a slice: a folder, a glob, or a printf template such
 * as s_%04d.tif. */
#ifndef TL_IO_STACK_SLICES_H
#define TL_IO_STACK_SLICES_H

#include "io/stack_parts.h"

/* Is path a folder, or a pattern (and not the name of a file)? */
bool tl_slices_is(const char *path);
/* Find and order the slices. TL_EINPUT when there are none, when the names do not differ by a
 * number alone, when two have the same number, or numbers are missing and allow_gaps is false. Natural order:
 * s_9.tif before s_10.tif. */
TlStatus tl_slices_find(const char *path, bool allow_gaps, TlStackFiles *list);
/* Open them as layers: each must be one page of the first one's size and type, looked at before a
 * voxel is read. info: of the first slice, with nz the number of slices; the caller's, as
 * layers->head is. list must last as long as the layers. */
TlStatus tl_slices_layers(const TlStackFiles *list, TlStackInfo *info, TlLayers *layers);

#endif
