/* Types and functions of the readers behind stack.h; only files of libcore/io include this. */
#ifndef TL_IO_STACK_PARTS_H
#define TL_IO_STACK_PARTS_H

#include "base/provenance.h"
#include "num/layers.h"

#include <stdbool.h>

/* The description of a stack in its file, known before the voxels are read. */
typedef struct TlStackInfo {
  int64_t nx, ny, nz;
  TlVoxelType type;
  int bits; /* of a voxel as it is stored, where type is wider or narrower: 1 to 4 (a byte each
               here), 64 (a float here); 0: as type says */
  double voxel_m[3];      /* x, y, z; each may be unknown (0) by itself, as in plain TIFF */
  double cylinder[3];     /* as in TlVolume */
  const char *voxel_from; /* "OME", "ImageJ" ... for messages; static text, NULL when unknown */
  char *history;          /* provenance found in the file, owned, may be NULL */
} TlStackInfo;

void tl_stack_info_free(TlStackInfo *info);

/* Files that a stack's voxels lie in. Starts zeroed. */
typedef struct TlStackFiles {
  char **paths; /* owned */
  size_t count, capacity;
} TlStackFiles;

/* Takes path over, also when it fails. NULL: TL_ENOMEM. */
TlStatus tl_stack_files_add(TlStackFiles *files, char *path);
/* All of them are read: claims them (base/claims.h) so that no output replaces one, and with
 * provenance (may be NULL) records them as inputs, too. */
TlStatus tl_stack_files_read(const TlStackFiles *files, TlProvenance *provenance);
void tl_stack_files_free(TlStackFiles *files);

/* "u16", "1-bit": how the voxels are stored, for messages. Borrowed until the fourth call after. */
const char *tl_stack_stored_name(const TlStackInfo *info);
/* Bytes of a voxel in a file of plain voxels. */
size_t tl_stack_stored_size(const TlStackInfo *info);

/* TL_ENOMEM when the stack as a whole is larger than this machine's memory. */
TlStatus tl_stack_check_memory(const char *path, const TlStackInfo *info);

/* Metres of one length unit by its name ("um", "micron", "mm", "inch" ...; mu in any of the usual
 * encodings); 0 when the name is none of them. */
double tl_stack_unit_m(const char *name, size_t length);

#endif
