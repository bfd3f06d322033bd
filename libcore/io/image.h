/* Pictures of 8-bit RGB, written as PNG files or as JPEG in memory. libpng and libjpeg stand behind
 * this header. */
#ifndef TL_IO_IMAGE_H
#define TL_IO_IMAGE_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct TlImage {
  int width, height;
  uint8_t *rgb; /* row 0 on top, 3 bytes a pixel, owned */
} TlImage;

TlStatus tl_image_new(TlImage *image, int width, int height);
void tl_image_free(TlImage *image);
TlStatus tl_image_write_png(const TlImage *image, const char *path, bool overwrite);
/* As JPEG if the name ends in .jpg or .jpeg, else as PNG; a name that ends as another kind of picture
 * is refused, TL_EUSAGE, as tl_image_check_name does alone. */
TlStatus tl_image_write(const TlImage *image, const char *path, bool overwrite);
TlStatus tl_image_check_name(const char *path);
/* TL_EIO when the file is not a whole PNG: every chunk there and undamaged, and the end. For
 * pictures that another program has just written. */
TlStatus tl_png_check(const char *path);

/* The picture as JPEG, for pages: a tenth of a PNG's bytes for a rendered scene or a slice of a scan.
 * quality: 1 to 100. jpeg: fresh memory; the same bytes every time with one version of libjpeg. */
TlStatus tl_image_jpeg(const TlImage *image, int quality, uint8_t **jpeg, size_t *size);

#endif
