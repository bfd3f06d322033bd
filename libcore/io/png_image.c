#include "io/png_image.h"

#include "base/file.h"
#include "base/mem.h"

#include <png.h>
#include <stdio.h>
#include <string.h>

TlStatus tl_image_new(TlImage *image, int width, int height) {
  *image = (TlImage){0};
  if (width < 1 || height < 1 || width > 65535 || height > 65535)
    return tl_fail(TL_EUSAGE, "a picture of %d x %d pixels; each side is 1 to 65535", width,
                   height);
  TL_TRY(TL_NEW(image->rgb, 3 * (size_t)width * (size_t)height));
  image->width = width;
  image->height = height;
  return TL_OK;
}

void tl_image_free(TlImage *image) {
  tl_free(image->rgb);
  *image = (TlImage){0};
}

TlStatus tl_image_write_png(const TlImage *image, const char *path, bool overwrite) {
  TlOutFile out;
  TL_TRY(tl_outfile_begin(&out, path, overwrite));
  png_image png;
  memset(&png, 0, sizeof png);
  png.version = PNG_IMAGE_VERSION;
  png.width = (png_uint_32)image->width;
  png.height = (png_uint_32)image->height;
  png.format = PNG_FORMAT_RGB;
  TlStatus status;
  if (png_image_write_to_file(&png, out.temp, 0, image->rgb, 0, NULL))
    status = tl_outfile_commit(&out);
  else
    status = tl_fail(TL_EIO, "%s: cannot write the picture: %s", path, png.message);
  tl_outfile_abort(&out);
  return status;
}
