/* Headers of MetaImage (.mhd, .mha) and NRRD (.nrrd, .nhdr), read strictly.
 *
 * Such a header is text that states the size, type and spacing of a volume and where its voxels
 * are. All that is used is checked here: sizes and their product, the type, spacings finite and
 * above 0, that the voxels are inside the data file. Keys that are not used are stepped over; a key
 * that is used and comes twice is refused. Voxels that lie there plainly are read by
 * io/raw_stack.h, others (compressed, text, lists of files) by ITK (tl_itk_layers).
 *
 * Voxel size: NRRD's `space directions` with `space units`, or `spacings` with `units`; MetaImage's
 * ElementSpacing (or ElementSize) with DistanceUnits (um, mm, cm). Without a unit it is unknown.
 * Directions of axes (NRRD's `space directions`, MetaImage's TransformMatrix) move no voxel: the
 * log says so where they are flipped or exchanged.
 */
#ifndef TL_IO_VOLUME_HEADER_H
#define TL_IO_VOLUME_HEADER_H

#include "base/status.h"
#include "io/stack_parts.h"

typedef struct TlVolumeHeader {
  TlStackInfo info;  /* voxel_m and voxel_from when the unit is known */
  double spacing[3]; /* as the file has it, 0 where it has none */
  int axis[3]; /* 1, 2, 3: the scanner's x, y, z that x, y, z of the voxels run along (nearest),
                * below 0: against it; 0: not said */
  char *data;  /* the file the voxels are in, owned */
  bool plain;  /* they lie in one run from offset on, in this byte order */
  int64_t offset;
  bool big_endian;
  TlStackFiles files; /* all files beside the header that its voxels lie in, where they are there */
} TlVolumeHeader;

/* TL_EINPUT names the file and the line. header: to be released, also after a failure. */
TlStatus tl_volume_header_read(const char *path, TlVolumeHeader *header);
void tl_volume_header_free(TlVolumeHeader *header);

/* MetaImage and NRRD as layers. The header is read strictly first (above); voxels that
 * lie plainly in a file are read from there, layer by layer; what is compressed, text or a list of
 * files is read whole by ITK in a process of its own (base/sandbox.h). */

/* files, zeroed: out, those beside the header; claimed as read (base/claims.h) before they are
 * opened. The caller's, as info and layers are. */
TlStatus tl_itk_layers(const char *path, TlStackFiles *files, TlStackInfo *info, TlLayers *layers);

/* The files that the value of a header's key for data stands for: one name, a numbered name
 * ("slice%03d.raw 1 200 1") or LIST with one name a line in `lines` (spoilt), relative to the
 * header's folder. Those that are not there are left out: whoever opens them says so. */
TlStatus tl_header_files_find(const char *header, const char *value, char *lines,
                              TlStackFiles *files);

#endif
