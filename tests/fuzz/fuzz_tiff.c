/* TIFF stacks. */
#include "fuzz/fuzz.h"

#include "base/mem.h"
#include "io/tiff.h"

enum { MOST_BYTES = 1 << 24 };

TL_FUZZ(tiff) {
  TlTiff *tiff;
  TlStatus status = tl_tiff_open(tl_fuzz_file("a.tif", bytes, size), &tiff);
  tl_fuzz_done(status);
  if (status != TL_OK) return;
  const TlStackInfo *info = tl_tiff_info(tiff);
  int64_t page = info->nx * info->ny * (int64_t)tl_voxel_size(info->type);
  char *voxels = page < MOST_BYTES ? tl_calloc((size_t)page, 1) : NULL;
  for (int64_t z = 0; voxels && z < info->nz && z < 20 && status == TL_OK; z++)
    tl_fuzz_done(status = tl_tiff_read(tiff, z, 1, voxels));
  tl_free(voxels);
  tl_tiff_close(tiff);
}
