/* --preview: the three mid-slices of a stack before and after a stage and their difference, in one
 * picture. Fed layer by layer (TlLayerSeen of image/slabs.h), so it works with slabs. */
#ifndef TL_TOOLS_PREVIEW_H
#define TL_TOOLS_PREVIEW_H

#include "base/mem.h"
#include "image/select.h"
#include "io/png_image.h"

#include <math.h>
#include <string.h>

typedef struct Preview {
  int64_t nx, ny, nz;
  float *slices[2][3]; /* before, after; z = nz/2 (ny rows of nx), y = ny/2 (nz rows of nx), x =
                          nx/2 (nz rows of ny) */
} Preview;

static inline void preview_free(Preview *p) {
  for (int k = 0; k < 6; k++) tl_free(p->slices[k / 3][k % 3]);
}

static inline void preview_size(const Preview *p, int slice, int64_t *columns, int64_t *rows) {
  *columns = slice == 2 ? p->ny : p->nx;
  *rows = slice == 0 ? p->ny : p->nz;
}

static inline TlStatus preview_new(Preview *p, int64_t nx, int64_t ny, int64_t nz) {
  *p = (Preview){.nx = nx, .ny = ny, .nz = nz};
  for (int k = 0; k < 6; k++) {
    int64_t columns, rows;
    preview_size(p, k % 3, &columns, &rows);
    TL_TRY(TL_NEW(p->slices[k / 3][k % 3], (size_t)(columns * rows)));
  }
  return TL_OK;
}

static inline void preview_see(void *context, int64_t z, const float *before, const float *after) {
  Preview *p = context;
  const float *layer[2] = {before, after};
  for (int s = 0; s < 2; s++) {
    if (z == p->nz / 2) memcpy(p->slices[s][0], layer[s], (size_t)(p->nx * p->ny) * sizeof(float));
    memcpy(p->slices[s][1] + z * p->nx, layer[s] + p->ny / 2 * p->nx,
           (size_t)p->nx * sizeof(float));
    for (int64_t y = 0; y < p->ny; y++)
      p->slices[s][2][z * p->ny + y] = layer[s][y * p->nx + p->nx / 2];
  }
}

static inline uint8_t preview_shade(float value, float black, float white) {
  float t = 255 * (value - black) / (white - black);
  return (uint8_t)(t > 0 ? (t < 255 ? t + 0.5F : 255) : 0);
}

/* Grey between the 0.5th and 99.5th hundredth of the mid-layer before; differences (before less
 * after) as mid-grey at 0, full black and white at four times their rms. */
static inline TlStatus preview_write(const Preview *p, const char *path, bool overwrite) {
  int64_t count = p->nx * p->ny, width = 0, height = 0;
  float *copy, black, white;
  double square = 0;
  TL_TRY(TL_NEW(copy, (size_t)count));
  memcpy(copy, p->slices[0][0], (size_t)count * sizeof(float));
  black = tl_select(copy, count, count / 200);
  white = tl_select(copy, count, count - 1 - count / 200);
  if (!(white > black)) white = black + 1;
  tl_free(copy);
  for (int64_t i = 0; i < count; i++) {
    double d = (double)p->slices[0][0][i] - (double)p->slices[1][0][i];
    square += d * d;
  }
  float most = fmaxf((float)(4 * sqrt(square / (double)count)), 1e-6F * (white - black));
  for (int s = 0; s < 3; s++) {
    int64_t columns, rows;
    preview_size(p, s, &columns, &rows);
    width = columns > width ? columns : width;
    height += rows + 4;
  }
  TlImage image;
  TL_TRY(tl_image_new(&image, (int)(3 * (width + 4)), (int)height));
  for (int64_t s = 0, top = 0; s < 3; s++) {
    int64_t columns, rows;
    preview_size(p, (int)s, &columns, &rows);
    for (int64_t i = 0; i < columns * rows; i++) {
      float before = p->slices[0][s][i], after = p->slices[1][s][i];
      uint8_t shade[3] = {preview_shade(before, black, white), preview_shade(after, black, white),
                          preview_shade(before - after, -most, most)};
      for (int k = 0; k < 3; k++) {
        int64_t at = (top + i / columns) * image.width + k * (width + 4) + i % columns;
        memset(image.rgb + 3 * at, shade[k], 3);
      }
    }
    top += rows + 4;
  }
  TlStatus status = tl_image_write_png(&image, path, overwrite);
  tl_image_free(&image);
  return status;
}

#endif
