/* Stacks in HDF5 (serial library behind this header). Layout: docs/formats.md. */
#ifndef TL_IO_H5_STACK_H
#define TL_IO_H5_STACK_H

#include "io/stack_parts.h"

/* Read dataset (NULL: /stack, or the only 3-D dataset of a foreign file). 8-, 16-, 32-bit integers,
 * 32-bit floats, and the booleans of h5py (as u8). info->voxel_m from the attribute element_size_um
 * (z, y, x), info->history from /provenance. */
TlStatus tl_h5_stack_read(const char *path, const char *dataset, TlStackInfo *info,
                          TlVolume *volume);

/* Write to file (name: the product's name for messages). The caller renames. */
TlStatus tl_h5_stack_write(const char *file, const char *name, const TlVolume *volume,
                           const char *history);

#endif
