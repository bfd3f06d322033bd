/* Pictures as JPEG in memory, for pages (libjpeg behind this one header): a tenth of a PNG's bytes
 * for a rendered scene or a slice of a scan. */
#ifndef TL_IO_JPEG_IMAGE_H
#define TL_IO_JPEG_IMAGE_H

#include "io/png_image.h"

#include <stddef.h>

/* quality: 1 to 100. jpeg: fresh memory; the same bytes every time with one version of libjpeg. */
TlStatus tl_image_jpeg(const TlImage *image, int quality, uint8_t **jpeg, size_t *size);

#endif
