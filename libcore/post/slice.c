#include "post/slice.h"

#include "base/mem.h"
#include "base/random.h"
#include "num/sort.h"

#include <stdlib.h>

/* Grey levels to stretch between, from the slice itself. */
static TlStatus stretch(const TlVolume *volume, int64_t first, int64_t count, double *low,
                        double *high) {
  double *sorted;
  TL_TRY(TL_NEW(sorted, (size_t)count));
  for (int64_t i = 0; i < count; i++) sorted[i] = tl_volume_value(volume, first + i);
  qsort(sorted, (size_t)count, sizeof *sorted, tl_by_real);
  *low = sorted[(int64_t)(0.005 * (double)count)];
  *high = sorted[(int64_t)(0.995 * (double)(count - 1))];
  if (*high <= *low) { /* a mask with few voxels of one phase, or a flat slice */
    *low = sorted[0];
    *high = sorted[count - 1] > sorted[0] ? sorted[count - 1] : sorted[0] + 1;
  }
  tl_free(sorted);
  return TL_OK;
}

static void label_colour(uint32_t label, uint8_t rgb[3]) {
  uint64_t bits = tl_random_bits(17, 0, label);
  for (int k = 0; k < 3; k++) rgb[k] = label ? (uint8_t)(70 + (bits >> (16 * k)) % 180) : 15;
}

static void voxel_colour(const TlVolume *volume, int64_t index, double low, double high,
                         uint8_t rgb[3]) {
  if (volume->type == TL_U32) {
    label_colour(volume->u32[index], rgb);
    return;
  }
  double t = (tl_volume_value(volume, index) - low) / (high - low);
  uint8_t grey = (uint8_t)(t <= 0 ? 0 : t >= 1 ? 255 : 255 * t + 0.5);
  rgb[0] = rgb[1] = rgb[2] = grey;
}

TlStatus tl_slice_stretch(const TlVolume *volume, TlSliceStyle *style) {
  int64_t z = style->z < 0 ? volume->nz / 2 : style->z, slice = volume->nx * volume->ny;
  return stretch(volume, z * slice, slice, &style->low, &style->high);
}

TlStatus tl_slice_draw(const TlVolume *volume, const TlSliceStyle *style, TlImage *image) {
  int64_t z = style->z < 0 ? volume->nz / 2 : style->z;
  if (z >= volume->nz)
    return tl_fail(TL_EUSAGE, "slice %lld is not in the stack: it has 0 to %lld", (long long)z,
                   (long long)(volume->nz - 1));
  if (volume->nx * style->zoom > 32768 || volume->ny * style->zoom > 32768)
    return tl_fail(TL_EUSAGE, "the picture would be over 32768 pixels wide; use a smaller zoom");
  double low = style->low, high = style->high;
  int64_t first = tl_volume_at(volume, 0, 0, z);
  if (low == high) TL_TRY(stretch(volume, first, volume->nx * volume->ny, &low, &high));
  TL_TRY(tl_image_new(image, (int)volume->nx * style->zoom, (int)volume->ny * style->zoom));
  for (int row = 0; row < image->height; row++)
    for (int column = 0; column < image->width; column++)
      voxel_colour(volume, first + row / style->zoom * volume->nx + column / style->zoom, low, high,
                   image->rgb + 3 * ((int64_t)row * image->width + column));
  return TL_OK;
}
