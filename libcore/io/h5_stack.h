/* Stacks in HDF5 (serial library behind this header). Layout: docs/reference/formats.md. */
#ifndef TL_IO_H5_STACK_H
#define TL_IO_H5_STACK_H

#include "io/stack_parts.h"

/* Open dataset (NULL: /stack, or the only 3-D dataset of a foreign file). 8-, 16-, 32-bit integers,
 * 32-bit floats, and the booleans of h5py (as u8). info->voxel_m from the attribute element_size_um
 * (z, y, x), info->history from /provenance; info is the caller's, layers->head is left to it. */
TlStatus tl_h5_layers(const char *path, const char *dataset, TlStackInfo *info, TlLayers *layers);

/* Begin a stack in file (name: the product's name for messages, borrowed until the end; head: its
 * size, type and voxel_m). Up to one row of chunks (16 layers) is kept in memory. The caller
 * renames. */
TlStatus tl_h5_begin(const char *file, const char *name, const TlVolume *head, const char *history,
                     TlLayerSink *sink);

#endif
