#include "io/picture.h"

#include "base/file.h"
#include "base/mem.h"

#include <png.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

typedef struct Png {
  char *path;
  TlStackInfo info;
  FILE *file;
  png_structp png;
  png_infop head;
  char said[200]; /* what libpng reported */
} Png;

/* libpng reports by a long jump to where setjmp was called last. */
static void keep_error(png_structp png, png_const_charp message) {
  Png *p = png_get_error_ptr(png);
  snprintf(p->said, sizeof p->said, "%s", message);
  png_longjmp(png, 1);
}
static void drop_warning(png_structp png, png_const_charp message) {
  (void)png, (void)message;
}

static void end_reading(Png *p) {
  if (p->png) png_destroy_read_struct(&p->png, &p->head, NULL);
  if (p->file) fclose(p->file);
  p->file = NULL;
}

static TlStatus damaged(const Png *p) {
  return tl_fail(TL_EINPUT, "%s: a damaged PNG, cut short perhaps: %s", p->path, p->said);
}

/* Up to the pixels. */
static TlStatus begin_reading(Png *p) {
  p->said[0] = 0;
  p->file = fopen(p->path, "rb");
  if (!p->file) return tl_fail_errno(p->path, "cannot open");
  p->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, p, keep_error, drop_warning);
  if (p->png) p->head = png_create_info_struct(p->png);
  if (!p->head) return TL_ENOMEM;
  if (setjmp(png_jmpbuf(p->png))) return damaged(p);
  png_init_io(p->png, p->file);
  png_read_info(p->png, p->head);
  return TL_OK;
}

static TlStatus check_kind(Png *p) {
  int colour = png_get_color_type(p->png, p->head), bits = png_get_bit_depth(p->png, p->head);
  const char *what = colour == PNG_COLOR_TYPE_GRAY_ALPHA ? "grey with transparency"
                     : colour == PNG_COLOR_TYPE_PALETTE  ? "a palette of colours"
                     : colour & PNG_COLOR_MASK_COLOR     ? "colour"
                                                         : NULL;
  if (what)
    return tl_fail(TL_EINPUT,
                   "%s: holds %s, not one grey value a pixel; save it as 8- or 16-bit grey without "
                   "transparency (ImageMagick: convert in.png -colorspace gray -alpha off out.png)",
                   p->path, what);
  p->info.nx = png_get_image_width(p->png, p->head);
  p->info.ny = png_get_image_height(p->png, p->head);
  p->info.nz = 1;
  p->info.type = bits == 16 ? TL_U16 : TL_U8;
  p->info.bits = bits < 8 ? bits : 0;
  return TL_OK;
}

/* Deflate gives at most 1032 bytes from one: a size that the file cannot hold is found before
 * memory is asked for. */
static TlStatus check_promise(const Png *p) {
  int64_t bytes;
  TL_TRY(tl_file_size(p->path, &bytes));
  double pixels = (double)p->info.nx * (double)p->info.ny;
  double promised = pixels * png_get_bit_depth(p->png, p->head) / 8;
  if (promised <= 1040.0 * (double)bytes) return TL_OK;
  return tl_fail(TL_EINPUT, "%s: %lld x %lld pixels cannot lie in %lld bytes; a damaged PNG",
                 p->path, (long long)p->info.nx, (long long)p->info.ny, (long long)bytes);
}

static TlStatus look(Png *p) {
  TlStatus status = begin_reading(p);
  if (status == TL_OK) status = check_kind(p);
  if (status == TL_OK) status = check_promise(p);
  end_reading(p);
  return status;
}

/* rows: of the slice. */
static TlStatus read_rows(Png *p, png_bytepp rows) {
  if (setjmp(png_jmpbuf(p->png))) return damaged(p);
  const uint16_t one = 1;
  png_set_packing(p->png);                               /* 1, 2, 4 bits: a byte each */
  if (*(const uint8_t *)&one == 1) png_set_swap(p->png); /* files hold the high byte first */
  (void)png_set_interlace_handling(p->png);
  png_read_update_info(p->png, p->head);
  png_read_image(p->png, rows);
  png_read_end(p->png, NULL);
  return TL_OK;
}

static TlStatus read_slice(Png *p, uint8_t *voxels) {
  const TlStackInfo first = p->info;
  png_bytepp rows = NULL;
  TL_TRY(TL_NEW(rows, (size_t)p->info.ny));
  for (int64_t y = 0; y < p->info.ny; y++)
    rows[y] = voxels + (size_t)(y * p->info.nx) * tl_voxel_size(p->info.type);
  TlStatus status = begin_reading(p);
  if (status == TL_OK) status = check_kind(p);
  if (status == TL_OK &&
      (p->info.nx != first.nx || p->info.ny != first.ny || p->info.type != first.type))
    status = tl_fail(TL_EINPUT, "%s: has changed while it was read", p->path);
  if (status == TL_OK) status = read_rows(p, rows);
  end_reading(p);
  tl_free(rows);
  return status;
}

static TlStatus read_layers(void *self, int64_t z, int64_t count, void *voxels) {
  (void)z; /* there is one slice */
  return count > 0 ? read_slice(self, voxels) : TL_OK;
}

static void close_layers(void *self) {
  Png *p = self;
  tl_free(p->path);
  tl_free(p);
}

TlStatus tl_png_layers(const char *path, TlStackInfo *info, TlLayers *layers) {
  Png *p;
  TL_TRY(TL_NEW(p, 1));
  *layers = (TlLayers){.self = p, .read = read_layers, .close = close_layers};
  p->path = tl_strdup(path);
  TlStatus status = p->path ? look(p) : TL_ENOMEM;
  *info = p->info;
  if (status != TL_OK) tl_layers_close(layers);
  return status;
}
