#include "io/tiff.h"

#include "base/mem.h"
#include "io/tiff_meta.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <tiffio.h>

/* Classic TIFF counts offsets in 32 bits; directories and incompressible strips need the rest. */
static const double CLASSIC_BYTES = 3.9e9;

typedef struct Writer {
  TIFF *handle;
  const char *name;
  char said[512]; /* libtiff's first error: TIFFClose itself returns nothing */
  TlVolume head;  /* size, type, voxel_m only */
  char *description;
  uint8_t *strip;
  int64_t z; /* pages written */
} Writer;

static int keep_error(TIFF *handle, void *user, const char *module, const char *format,
                      va_list args) {
  Writer *writer = user;
  (void)handle;
  (void)module;
  if (!writer->said[0]) vsnprintf(writer->said, sizeof writer->said, format, args);
  return 1;
}

/* libtiff knows where it stopped, errno why. */
static TlStatus write_fails(const Writer *writer) {
  const char *reason = errno ? strerror(errno) : "is the disk full?";
  return tl_fail(TL_EIO, "%s: cannot write: %s%s%s", writer->name, writer->said,
                 writer->said[0] ? ": " : "", reason);
}

static bool open_writer(Writer *writer, const char *file, bool big) {
  TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
  if (!options) return false;
  TIFFOpenOptionsSetErrorHandlerExtR(options, keep_error, writer);
  TIFFOpenOptionsSetWarningHandlerExtR(options, keep_error, writer);
  writer->handle = TIFFOpenExt(file, big ? "w8" : "w", options);
  TIFFOpenOptionsFree(options);
  return writer->handle != NULL;
}

static unsigned sample_format(TlVoxelType type) {
  switch (type) {
  case TL_I8:
  case TL_I16:
  case TL_I32:
    return SAMPLEFORMAT_INT;
  case TL_F32:
    return SAMPLEFORMAT_IEEEFP;
  default:
    return SAMPLEFORMAT_UINT;
  }
}

/* About 256 KiB a strip: small enough for a reader's cache, large enough to compress. */
static uint32_t strip_rows(const TlVolume *volume) {
  int64_t rows = 262144 / (volume->nx * (int64_t)tl_voxel_size(volume->type));
  if (rows < 1) rows = 1;
  return (uint32_t)(rows < volume->ny ? rows : volume->ny);
}

static bool set_tags(TIFF *t, const TlVolume *volume, int64_t z, const char *description) {
  unsigned bits = 8 * (unsigned)tl_voxel_size(volume->type);
  bool ok = TIFFSetField(t, TIFFTAG_IMAGEWIDTH, (uint32_t)volume->nx) &&
            TIFFSetField(t, TIFFTAG_IMAGELENGTH, (uint32_t)volume->ny) &&
            TIFFSetField(t, TIFFTAG_BITSPERSAMPLE, bits) &&
            TIFFSetField(t, TIFFTAG_SAMPLESPERPIXEL, 1) &&
            TIFFSetField(t, TIFFTAG_SAMPLEFORMAT, sample_format(volume->type)) &&
            TIFFSetField(t, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK) &&
            TIFFSetField(t, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG) &&
            TIFFSetField(t, TIFFTAG_ROWSPERSTRIP, strip_rows(volume)) &&
            TIFFSetField(t, TIFFTAG_COMPRESSION, COMPRESSION_ADOBE_DEFLATE) &&
            TIFFSetField(t, TIFFTAG_ZIPQUALITY, 4);
  /* ImageJ undoes the horizontal predictor for 8- and 16-bit integers only. */
  if (ok && bits <= 16) ok = TIFFSetField(t, TIFFTAG_PREDICTOR, PREDICTOR_HORIZONTAL);
  if (ok && volume->voxel_m[0] > 0 && volume->voxel_m[1] > 0)
    ok = TIFFSetField(t, TIFFTAG_RESOLUTIONUNIT, RESUNIT_NONE) &&
         TIFFSetField(t, TIFFTAG_XRESOLUTION, 1e-6 / volume->voxel_m[0]) &&
         TIFFSetField(t, TIFFTAG_YRESOLUTION, 1e-6 / volume->voxel_m[1]);
  if (ok && z == 0) ok = TIFFSetField(t, TIFFTAG_IMAGEDESCRIPTION, description);
  return ok;
}

/* libtiff's predictor works in the buffer it is given, so strips go through one of our own. */
static bool write_page(TIFF *t, const TlVolume *volume, const uint8_t *page, uint8_t *strip) {
  int64_t row = volume->nx * (int64_t)tl_voxel_size(volume->type), rows = strip_rows(volume);
  for (int64_t y = 0, i = 0; y < volume->ny; y += rows, i++) {
    int64_t count = volume->ny - y < rows ? volume->ny - y : rows;
    memcpy(strip, page + y * row, (size_t)(count * row));
    if (TIFFWriteEncodedStrip(t, (uint32_t)i, strip, (tmsize_t)(count * row)) < 0) return false;
  }
  return TIFFWriteDirectory(t);
}

static TlStatus append(void *self, int64_t count, const void *voxels) {
  Writer *w = self;
  size_t bytes = (size_t)(w->head.nx * w->head.ny) * tl_voxel_size(w->head.type);
  for (int64_t i = 0; i < count; i++, w->z++)
    if (!set_tags(w->handle, &w->head, w->z, w->description) ||
        !write_page(w->handle, &w->head, (const uint8_t *)voxels + (size_t)i * bytes, w->strip) ||
        w->said[0])
      return write_fails(w);
  return TL_OK;
}

static void drop(void *self) {
  Writer *w = self;
  if (w->handle) TIFFClose(w->handle);
  tl_free(w->description);
  tl_free(w->strip);
  tl_free(w);
}

static TlStatus finish(void *self) {
  Writer *w = self;
  TIFFClose(w->handle);
  w->handle = NULL;
  TlStatus status = w->said[0] ? write_fails(w) : TL_OK;
  drop(w);
  return status;
}

static TlStatus begin(Writer *w, const char *file, const char *history) {
  const TlVolume *head = &w->head;
  size_t row = (size_t)head->nx * tl_voxel_size(head->type);
  TL_TRY(tl_tiff_describe(head, history, &w->description));
  TL_TRY(TL_NEW(w->strip, row * strip_rows(head)));
  double bytes = (double)tl_volume_count(head) * (double)tl_voxel_size(head->type);
  bool big = bytes + 4096.0 * (double)head->nz + (double)strlen(w->description) > CLASSIC_BYTES;
  errno = 0;
  return open_writer(w, file, big) ? TL_OK : write_fails(w);
}

TlStatus tl_tiff_begin(const char *file, const char *name, const TlVolume *head,
                       const char *history, TlLayerSink *sink) {
  Writer *w;
  if (head->nx > UINT32_MAX || head->ny > UINT32_MAX)
    return tl_fail(TL_EUSAGE, "%s: slices too large for TIFF; write .h5", name);
  TL_TRY(TL_NEW(w, 1));
  w->name = name;
  w->head = tl_volume_head(head);
  TlStatus status = begin(w, file, history);
  if (status == TL_OK)
    *sink = (TlLayerSink){w, append, finish, drop};
  else
    drop(w);
  return status;
}
