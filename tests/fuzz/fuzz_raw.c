/* Voxels without a header: up to the first line break the text of --raw, then the voxels. */
#include "fuzz/fuzz.h"

#include "base/mem.h"
#include "io/raw_stack.h"

#include <string.h>

TL_FUZZ(raw) {
  char text[128] = "";
  TlStackInfo info;
  TlLayers layers;
  const uint8_t *end = size ? memchr(bytes, '\n', size) : NULL;
  size_t length = end ? (size_t)(end - bytes) : size;
  if (length >= sizeof text) return;
  memcpy(text, bytes, length);
  length += end != NULL;
  const char *path = tl_fuzz_file("a.raw", bytes + length, size - length);
  TlStatus status = tl_raw_layers(path, text, &info, &layers);
  tl_fuzz_done(status);
  if (status != TL_OK) return;
  char *voxels = tl_calloc((size_t)(info.nx * info.ny) * tl_voxel_size(info.type), 1);
  for (int64_t z = 0; voxels && z < info.nz && status == TL_OK; z++)
    tl_fuzz_done(status = tl_layers_read(&layers, z, 1, voxels));
  tl_free(voxels);
  tl_layers_close(&layers);
}
