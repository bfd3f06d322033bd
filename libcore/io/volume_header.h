/* Headers of MetaImage (.mhd, .mha) and NRRD (.nrrd, .nhdr), read strictly.
 *
 * Such a header is text that states the size, type and spacing of a volume and where its voxels are. All that
 * is used is checked here: sizes and their product, the type, spacings finite and above 0, that the
 * voxels are inside the data file. Keys that are not used are stepped over; a key that is used and
 * comes twice is refused. Voxels that lie there plainly are read by io/raw_stack.h, others
 * (compressed, text, lists of files) by ITK (io/itk_stack.h).
 *
 * Voxel size: NRRD's `space directions` with `space units`, or `spacings` with `units`; MetaImage's
 * ElementSpacing (or ElementSize) with DistanceUnits (um, mm, cm). Without a unit it is unknown.
 */
#ifndef TL_IO_VOLUME_HEADER_H
#define TL_IO_VOLUME_HEADER_H

#include "io/stack_parts.h"

typedef struct TlVolumeHeader {
  TlStackInfo info;  /* voxel_m and voxel_from when the unit is known */
  double spacing[3]; /* as the file has it, 0 where it has none */
  char *data;        /* the file the voxels are in, owned */
  bool plain;        /* they lie in one run from offset on, in this byte order */
  int64_t offset;
  bool big_endian;
} TlVolumeHeader;

/* TL_EINPUT names the file and the line. header: to be released, also after a failure. */
TlStatus tl_volume_header_read(const char *path, TlVolumeHeader *header);
void tl_volume_header_free(TlVolumeHeader *header);

#endif
