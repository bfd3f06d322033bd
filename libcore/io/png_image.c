#include "io/image.h"

#include "base/file.h"
#include "base/mem.h"

#include <png.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

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

/* What a name ends in, without the dot; "" without one. */
static const char *ending(const char *path) {
  const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
  return dot ? dot + 1 : "";
}

static bool is_jpeg(const char *path) {
  return strcasecmp(ending(path), "jpg") == 0 || strcasecmp(ending(path), "jpeg") == 0;
}

TlStatus tl_image_check_name(const char *path) {
  static const char *const others[] = {"tif", "tiff", "gif", "bmp", "webp", "ppm",
                                       "pgm", "svg",  "pdf", "eps", "ps",   "heic"};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (strcasecmp(ending(path), others[i]) == 0)
      return tl_fail(TL_EUSAGE,
                     "%s: pictures are written as PNG or JPEG: a name that ends in .png or .jpg is "
                     "wanted",
                     path);
  return TL_OK;
}

TlStatus tl_image_write(const TlImage *image, const char *path, bool overwrite) {
  enum { QUALITY = 92 };
  uint8_t *jpeg;
  size_t size;
  TL_TRY(tl_image_check_name(path));
  if (!is_jpeg(path)) return tl_image_write_png(image, path, overwrite);
  TL_TRY(tl_image_jpeg(image, QUALITY, &jpeg, &size));
  TlStatus status = tl_file_write(path, jpeg, size, overwrite);
  tl_free(jpeg);
  return status;
}

/* The chunk that ends every PNG. */
static const unsigned char png_end[12] = {0, 0, 0, 0, 'I', 'E', 'N', 'D', 0xae, 0x42, 0x60, 0x82};

static bool has_end(const char *path) {
  unsigned char last[sizeof png_end];
  FILE *file = fopen(path, "rb");
  if (!file) return false;
  bool read = fseek(file, -(long)sizeof last, SEEK_END) == 0 &&
              fread(last, 1, sizeof last, file) == sizeof last;
  fclose(file);
  return read && memcmp(last, png_end, sizeof last) == 0;
}

TlStatus tl_png_check(const char *path) {
  png_image png;
  memset(&png, 0, sizeof png);
  png.version = PNG_IMAGE_VERSION;
  if (!has_end(path))
    return tl_fail(TL_EIO, "the picture that was written is not whole; is the disk full?");
  if (!png_image_begin_read_from_file(&png, path))
    return tl_fail(TL_EIO, "the picture that was written is damaged: %s", png.message);
  png.format = PNG_FORMAT_RGB;
  uint8_t *rgb;
  TlStatus status = TL_NEW(rgb, PNG_IMAGE_SIZE(png));
  png_color white = {255, 255, 255};
  if (status == TL_OK && !png_image_finish_read(&png, &white, rgb, 0, NULL))
    status = tl_fail(TL_EIO, "the picture that was written is damaged: %s", png.message);
  png_image_free(&png);
  tl_free(rgb);
  return status;
}
