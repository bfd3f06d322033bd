/* 8-bit RGB pictures as PNG (libpng behind this one header). */
#ifndef TL_IO_PNG_IMAGE_H
#define TL_IO_PNG_IMAGE_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct TlImage {
  int width, height;
  uint8_t *rgb; /* row 0 on top, 3 bytes a pixel, owned */
} TlImage;

TlStatus tl_image_new(TlImage *image, int width, int height);
void tl_image_free(TlImage *image);
TlStatus tl_image_write_png(const TlImage *image, const char *path, bool overwrite);
/* TL_EIO when the file is not a whole PNG: every chunk there and undamaged, and the end. For
 * pictures that another program has just written. */
TlStatus tl_png_check(const char *path);

#endif
