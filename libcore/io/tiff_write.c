#include "io/tiff.h"

#include "base/log.h"
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
static bool write_page(TIFF *t, const TlVolume *volume, int64_t z, uint8_t *strip) {
  int64_t row = volume->nx * (int64_t)tl_voxel_size(volume->type), rows = strip_rows(volume);
  const uint8_t *page = (const uint8_t *)volume->data + z * volume->ny * row;
  for (int64_t y = 0, i = 0; y < volume->ny; y += rows, i++) {
    int64_t count = volume->ny - y < rows ? volume->ny - y : rows;
    memcpy(strip, page + y * row, (size_t)(count * row));
    if (TIFFWriteEncodedStrip(t, (uint32_t)i, strip, (tmsize_t)(count * row)) < 0) return false;
  }
  return TIFFWriteDirectory(t);
}

static TlStatus write_pages(Writer *writer, const TlVolume *volume, const char *description) {
  size_t row = (size_t)volume->nx * tl_voxel_size(volume->type);
  uint8_t *strip;
  TL_TRY(TL_NEW(strip, row * strip_rows(volume)));
  TlProgress progress = tl_progress_start("writing", volume->nz);
  TlStatus status = TL_OK;
  for (int64_t z = 0; z < volume->nz && status == TL_OK; z++) {
    if (!set_tags(writer->handle, volume, z, description) ||
        !write_page(writer->handle, volume, z, strip) || writer->said[0])
      status = write_fails(writer);
    tl_progress(&progress, z + 1);
  }
  tl_progress_end(&progress);
  tl_free(strip);
  return status;
}

static TlStatus write_described(const char *file, const char *name, const TlVolume *volume,
                                const char *description) {
  double bytes = (double)tl_volume_count(volume) * (double)tl_voxel_size(volume->type);
  bool big = bytes + 4096.0 * (double)volume->nz + (double)strlen(description) > CLASSIC_BYTES;
  Writer writer = {.name = name};
  errno = 0;
  if (!open_writer(&writer, file, big)) return write_fails(&writer);
  TlStatus status = write_pages(&writer, volume, description);
  TIFFClose(writer.handle);
  if (status == TL_OK && writer.said[0]) status = write_fails(&writer);
  return status;
}

TlStatus tl_tiff_write(const char *file, const char *name, const TlVolume *volume,
                       const char *history) {
  char *description;
  if (volume->nx > UINT32_MAX || volume->ny > UINT32_MAX)
    return tl_fail(TL_EUSAGE, "%s: slices too large for TIFF; write .h5", name);
  TL_TRY(tl_tiff_describe(volume->nz, volume->voxel_m, history, &description));
  TlStatus status = write_described(file, name, volume, description);
  tl_free(description);
  return status;
}
