/* The files that hold the voxels of a MetaImage or NRRD header. */
#ifndef TL_IO_HEADER_FILES_H
#define TL_IO_HEADER_FILES_H

#include "base/status.h"

/* Claims them as read (base/claims.h): ITK opens them itself and does not tell their names. Single
 * names, lists and numbered names ("slice%03d.raw 1 200 1") are known, in a folder of the header's
 * unless absolute. What cannot be understood is left to ITK. */
TlStatus tl_header_claim_files(const char *path);

#endif
