/* Reading and writing voxel volumes of any format; the stages use only this header.
 *
 * Formats by what is there: multi-page TIFF / BigTIFF, a folder of slices, a glob or a template
 * like s_%04d.tif (natural order), .h5 (layout in docs/reference/formats.md; FILE.h5:/name picks a
 * dataset of a foreign file), .mhd/.mha/.nrrd/.nhdr (voxel_m where they say a unit, else 0). By
 * extension on output: .h5 (chunked, compressed, with provenance) or .tif (BigTIFF when near 4 GB).
 * Voxel size: voxel_um argument > OME > ImageJ > TIFF resolution > 0 (unknown).
 * Output is written to a temporary name and renamed when whole.
 */
#ifndef TL_IO_STACK_H
#define TL_IO_STACK_H

#include "base/provenance.h"
#include "num/layers.h"

#include <stdbool.h>

typedef struct TlStackOptions {
  double voxel_um[3]; /* 0: as the file states; > 0: this value wins (the log says so when they
                       * differ) */
  bool allow_gaps;    /* folder: numbers may be missing */
  const char *raw;    /* the file has no header: "NZ,NY,NX,TYPE,ENDIAN[,OFFSET]" (io/raw_stack.h) */
} TlStackOptions;

/* Open a stack to read it by layers (num/layers.h): sizes and types of all its parts are looked at,
 * no voxel yet. Records it as an input of the run (provenance may be NULL). Compressed MetaImage
 * and NRRD are read whole here. tl_layers_close ends it. */
TlStatus tl_stack_open(const char *path, const TlStackOptions *options, TlProvenance *provenance,
                       TlLayers *layers);
/* Begin a stack of head's size, type, voxel_m and history, to be written by layers; as
 * tl_stack_write otherwise. The file appears under its name when the sink is finished. */
TlStatus tl_stack_begin(const char *path, const TlVolume *head, const TlProvenance *provenance,
                        bool overwrite, TlLayerSink *sink);

/* Read a whole stack; records it as an input of the run (provenance may be NULL). Names of files
 * and slices are in every message. */
TlStatus tl_stack_read(const char *path, const TlStackOptions *options, TlProvenance *provenance,
                       TlVolume *volume);
/* Before the work: is path a name we can write (.h5, .tif), its folder there, the file not yet?
 * TL_EUSAGE or TL_EIO as tl_stack_write would give after it. */
TlStatus tl_stack_check_output(const char *path, bool overwrite);
/* Write. The file also holds the volume's history plus this run's record (when provenance is
 * given). */
TlStatus tl_stack_write(const char *path, const TlVolume *volume, const TlProvenance *provenance,
                        bool overwrite);
/* "X" or "X,Y,Z" in micrometres (what --voxel-size-um takes) -> voxel_um in the order x, y, z. NULL
 * or "" gives 0 (as the file says). TL_EUSAGE unless all numbers are positive. */
TlStatus tl_stack_parse_voxel_um(const char *text, double voxel_um[3]);
/* TL_EINPUT telling to give --voxel-size-um when the size is unknown. */
TlStatus tl_stack_need_voxel_size(const char *path, const TlVolume *volume);

#endif
