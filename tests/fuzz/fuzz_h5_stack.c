/* HDF5 stacks: opened, and read by layers as far as they go. */
#include "fuzz/fuzz.h"

#include "base/mem.h"
#include "io/h5_stack.h"

enum { MOST_BYTES = 1 << 24 };

TL_FUZZ(h5_stack) {
  TlStackInfo info;
  TlLayers layers;
  TlStatus status = tl_h5_layers(tl_fuzz_file("a.h5", bytes, size), NULL, &info, &layers);
  tl_fuzz_done(status);
  if (status != TL_OK) return;
  int64_t layer = info.nx * info.ny * (int64_t)tl_voxel_size(info.type);
  char *voxels = layer < MOST_BYTES ? tl_calloc((size_t)layer, 1) : NULL;
  for (int64_t z = 0; voxels && z < info.nz && z < 20 && status == TL_OK; z++)
    tl_fuzz_done(status = tl_layers_read(&layers, z, 1, voxels));
  tl_free(voxels);
  tl_layers_close(&layers);
  tl_stack_info_free(&info);
}
