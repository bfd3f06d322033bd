#include "image/binarize.h"

#include "base/mem.h"
#include "itk/itk.h"

#include <assert.h>

/* Sizes of components; those on a border count as endless. */
static void measure(const TlVolume *components, const TlRoi *roi, int64_t *size) {
  for (int64_t i = 0; i < tl_volume_count(components); i++) {
    uint32_t label = components->u32[i];
    int64_t x = i % components->nx, y = i / components->nx % components->ny;
    int64_t z = i / components->nx / components->ny;
    if (label == 0 || size[label] == INT64_MAX) continue;
    size[label] = tl_roi_cuts(roi, components, x, y, z) ? INT64_MAX : size[label] + 1;
  }
}

/* Turn small components of `phase` voxels over to the other phase. */
static TlStatus turn_small(TlVolume *mask, const TlRoi *roi, uint8_t phase, int64_t min_voxels,
                           int64_t *turned) {
  TlVolume is_phase, components = {0};
  uint32_t count = 0;
  int64_t *size = NULL;
  TL_TRY(tl_volume_like(&is_phase, mask, TL_U8));
  for (int64_t i = 0; i < tl_volume_count(mask); i++) {
    int64_t x = i % mask->nx, y = i / mask->nx % mask->ny, z = i / mask->nx / mask->ny;
    is_phase.u8[i] = mask->u8[i] == phase && tl_roi_inside(roi, x, y, z);
  }
  TlStatus status = tl_itk_components(&is_phase, 6, &components, &count);
  if (status == TL_OK) status = TL_NEW(size, (size_t)count + 1);
  if (status == TL_OK) {
    measure(&components, roi, size);
    for (int64_t i = 0; i < tl_volume_count(mask); i++)
      if (components.u32[i] && size[components.u32[i]] < min_voxels) mask->u8[i] = 1 - phase;
    for (uint32_t c = 1; c <= count; c++) *turned += size[c] < min_voxels;
  }
  tl_free(size);
  tl_volume_free(&components);
  tl_volume_free(&is_phase);
  return status;
}

TlStatus tl_islands_remove(TlVolume *mask, const TlRoi *roi, int64_t min_voxels, int64_t *removed,
                           int64_t *filled) {
  assert(mask->type == TL_U8);
  *removed = *filled = 0;
  TL_TRY(turn_small(mask, roi, 1, min_voxels, removed));
  return turn_small(mask, roi, 0, min_voxels, filled);
}
