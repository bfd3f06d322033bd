/* MetaImage and NRRD: the first byte says which. */
#include "fuzz/fuzz.h"

#include "base/mem.h"
#include "io/volume_header.h"

enum { MOST_BYTES = 1 << 24 };

TL_FUZZ(volume) {
  static const char *const names[] = {"a.mhd", "a.mha", "a.nrrd", "a.nhdr"};
  TlStackFiles files = {0};
  TlStackInfo info;
  TlLayers layers;
  if (size < 1) return;
  (void)tl_fuzz_file("v.raw", "0123456789abcdef0123456789abcdef0123456789abcdef", 48);
  const char *path = tl_fuzz_file(names[bytes[0] % 4], bytes + 1, size - 1);
  TlStatus status = tl_itk_layers(path, &files, &info, &layers);
  tl_fuzz_done(status);
  tl_stack_files_free(&files);
  if (status != TL_OK) return;
  int64_t layer = info.nx * info.ny * (int64_t)tl_voxel_size(info.type);
  char *voxels = layer < MOST_BYTES ? tl_calloc((size_t)layer, 1) : NULL;
  for (int64_t z = 0; voxels && z < info.nz && z < 20 && status == TL_OK; z++)
    tl_fuzz_done(status = tl_layers_read(&layers, z, 1, voxels));
  tl_free(voxels);
  tl_layers_close(&layers);
  tl_stack_info_free(&info);
}
