#include "io/tiff.h"

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "io/raw_stack.h"
#include "io/tiff_meta.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <tiffio.h>

struct TlTiff {
  TIFF *handle;
  char *path;
  char said[512]; /* the first error libtiff reported since the last reset */
  int64_t bytes;  /* of the file */
  TlStackInfo info;
  bool raw; /* ImageJ: one directory, the other pages behind the first without one */
  uint64_t raw_offset;
  uint64_t *page; /* where each page's directory lies: going there costs no walk from the first */
  size_t page_capacity;
};

typedef struct Page {
  uint32_t width, height;
  TlVoxelType type;
  int bits; /* as in TlStackInfo: 1 or 64; 0: as type says */
  bool invert;
} Page;

/* libtiff's errors become part of our message; 1 keeps it from printing them itself. */
static int keep_error(TIFF *handle, void *user, const char *module, const char *format,
                      va_list args) {
  TlTiff *tiff = user;
  (void)handle;
  (void)module;
  if (!tiff->said[0]) vsnprintf(tiff->said, sizeof tiff->said, format, args);
  return 1;
}

static int drop_warning(TIFF *handle, void *user, const char *module, const char *format,
                        va_list args) {
  (void)handle;
  (void)user;
  (void)module;
  (void)format;
  (void)args;
  return 1;
}

static TlStatus open_handle(const char *path, TlTiff *tiff) {
  TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
  if (!options) return tl_fail(TL_ENOMEM, "%s: out of memory in libtiff", path);
  TIFFOpenOptionsSetErrorHandlerExtR(options, keep_error, tiff);
  TIFFOpenOptionsSetWarningHandlerExtR(options, drop_warning, tiff);
  /* "m": no mapping, for a file cut short while mapped kills the process with SIGBUS. */
  tiff->handle = TIFFOpenExt(path, "rm", options);
  TIFFOpenOptionsFree(options);
  if (tiff->handle) return TL_OK;
  return tl_fail(TL_EINPUT,
                 "%s: page 1 cannot be read; the file is empty, cut short or damaged%s%s", path,
                 tiff->said[0] ? ": " : "", tiff->said);
}

static TlStatus page_fails(const TlTiff *tiff, int64_t page, const char *what) {
  return tl_fail(TL_EINPUT, "%s: page %lld: %s%s%s", tiff->path, (long long)page, what,
                 tiff->said[0] ? ": " : "", tiff->said);
}

/* ---- the kind of a page ---- */

/* 1 bit becomes a byte, 0 or 1; 64-bit floats become 32-bit ones. */
static bool voxel_type_of(unsigned bits, unsigned format, Page *kind) {
  static const struct {
    unsigned bits, format;
    TlVoxelType type;
  } known[] = {{1, SAMPLEFORMAT_UINT, TL_U8},    {1, SAMPLEFORMAT_VOID, TL_U8},
               {8, SAMPLEFORMAT_UINT, TL_U8},    {8, SAMPLEFORMAT_VOID, TL_U8},
               {8, SAMPLEFORMAT_INT, TL_I8},     {16, SAMPLEFORMAT_UINT, TL_U16},
               {16, SAMPLEFORMAT_VOID, TL_U16},  {16, SAMPLEFORMAT_INT, TL_I16},
               {32, SAMPLEFORMAT_UINT, TL_U32},  {32, SAMPLEFORMAT_VOID, TL_U32},
               {32, SAMPLEFORMAT_INT, TL_I32},   {32, SAMPLEFORMAT_IEEEFP, TL_F32},
               {64, SAMPLEFORMAT_IEEEFP, TL_F32}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    if (known[i].bits != bits || known[i].format != format) continue;
    kind->type = known[i].type;
    kind->bits = bits == 1 || bits == 64 ? (int)bits : 0;
    return true;
  }
  return false;
}

static TlStatus check_colour(const TlTiff *tiff, int64_t page, uint16_t *photometric) {
  uint16_t samples = 1;
  *photometric = PHOTOMETRIC_MINISBLACK;
  TIFFGetFieldDefaulted(tiff->handle, TIFFTAG_SAMPLESPERPIXEL, &samples);
  TIFFGetField(tiff->handle, TIFFTAG_PHOTOMETRIC, photometric);
  if (samples != 1)
    return tl_fail(TL_EINPUT,
                   "%s: page %lld: %u values a pixel%s; convert it to grey (one value) first",
                   tiff->path, (long long)page, samples,
                   *photometric == PHOTOMETRIC_RGB ? " (RGB colour)" : "");
  if (*photometric != PHOTOMETRIC_MINISBLACK && *photometric != PHOTOMETRIC_MINISWHITE &&
      *photometric != PHOTOMETRIC_PALETTE) /* a palette's indices: labels */
    return tl_fail(TL_EINPUT,
                   "%s: page %lld: colour model %u is not grey; convert it to grey first",
                   tiff->path, (long long)page, *photometric);
  return TL_OK;
}

static TlStatus page_kind(TlTiff *tiff, int64_t page, Page *kind) {
  uint16_t bits = 1, format = SAMPLEFORMAT_UINT, photometric;
  uint32_t depth = 1;
  *kind = (Page){0};
  TIFFGetField(tiff->handle, TIFFTAG_IMAGEWIDTH, &kind->width);
  TIFFGetField(tiff->handle, TIFFTAG_IMAGELENGTH, &kind->height);
  TIFFGetFieldDefaulted(tiff->handle, TIFFTAG_BITSPERSAMPLE, &bits);
  TIFFGetFieldDefaulted(tiff->handle, TIFFTAG_SAMPLEFORMAT, &format);
  TIFFGetFieldDefaulted(tiff->handle, TIFFTAG_IMAGEDEPTH, &depth);
  if (kind->width == 0 || kind->height == 0) return page_fails(tiff, page, "is empty");
  if (depth != 1) return page_fails(tiff, page, "is itself a volume (ImageDepth), not a slice");
  TL_TRY(check_colour(tiff, page, &photometric));
  if (!voxel_type_of(bits, format, kind))
    return tl_fail(TL_EINPUT,
                   "%s: page %lld: %u-bit %s pixels; save it as 8-, 16- or 32-bit integers or "
                   "32-bit float",
                   tiff->path, (long long)page, bits,
                   format == SAMPLEFORMAT_IEEEFP ? "float"
                   : format == SAMPLEFORMAT_INT  ? "signed"
                   : format == SAMPLEFORMAT_UINT ? "unsigned"
                                                 : "complex");
  kind->invert = photometric == PHOTOMETRIC_MINISWHITE && kind->type != TL_F32;
  return TL_OK;
}

/* ---- where the data lie ---- */

/* Every strip or tile must lie inside the file and may not promise more than any compression
 * gives (ZSTD: 128 KiB from 4 bytes): a cut file is found before memory is asked for. */
static TlStatus check_extents(TlTiff *tiff, int64_t page) {
  bool tiled = TIFFIsTiled(tiff->handle);
  uint32_t pieces = tiled ? TIFFNumberOfTiles(tiff->handle) : TIFFNumberOfStrips(tiff->handle);
  uint64_t decoded = tiled ? TIFFTileSize64(tiff->handle) : TIFFStripSize64(tiff->handle);
  uint64_t file = (uint64_t)tiff->bytes;
  if (pieces == 0 || decoded == 0) return page_fails(tiff, page, "has no data");
  for (uint32_t i = 0; i < pieces; i++) {
    int failed = 0;
    uint64_t offset = TIFFGetStrileOffsetWithErr(tiff->handle, i, &failed);
    uint64_t count = failed ? 0 : TIFFGetStrileByteCountWithErr(tiff->handle, i, &failed);
    if (failed || offset == 0 || count == 0) return page_fails(tiff, page, "has missing data");
    if (offset > file || count > file - offset)
      return page_fails(tiff, page, "its data end beyond the file: cut short?");
    if (decoded / 40000 > count + 64) return page_fails(tiff, page, "its size cannot be true");
  }
  return TL_OK;
}

static TlStatus same_kind(const TlTiff *tiff, int64_t page, const Page *kind) {
  const TlStackInfo *info = &tiff->info;
  if (kind->width != info->nx || kind->height != info->ny)
    return tl_fail(TL_EINPUT,
                   "%s: page %lld is %u x %u pixels, page 1 is %lld x %lld; all slices of a stack "
                   "must have one size",
                   tiff->path, (long long)page, kind->width, kind->height, (long long)info->nx,
                   (long long)info->ny);
  if (kind->type != info->type || kind->bits != info->bits)
    return tl_fail(TL_EINPUT,
                   "%s: page %lld has %s pixels, page 1 has %s; all slices of a stack "
                   "must have one type",
                   tiff->path, (long long)page,
                   tl_stack_stored_name(&(TlStackInfo){.type = kind->type, .bits = kind->bits}),
                   tl_stack_stored_name(info));
  return TL_OK;
}

/* All pages, along the chain of their directories. libtiff distinguishes the last directory from a
 * broken chain only when it is asked before. */
static TlStatus check_pages(TlTiff *tiff) {
  bool more = true;
  for (int64_t page = 1; more; page++) {
    Page kind;
    TL_TRY(TL_RESERVE(tiff->page, tiff->page_capacity, (size_t)page));
    tiff->page[page - 1] = TIFFCurrentDirOffset(tiff->handle);
    TL_TRY(page_kind(tiff, page, &kind));
    if (page == 1) {
      tiff->info.nx = kind.width;
      tiff->info.ny = kind.height;
      tiff->info.type = kind.type;
      tiff->info.bits = kind.bits;
    }
    TL_TRY(same_kind(tiff, page, &kind));
    TL_TRY(check_extents(tiff, page));
    more = !TIFFLastDirectory(tiff->handle);
    tiff->said[0] = 0;
    if (more && !TIFFReadDirectory(tiff->handle))
      return page_fails(tiff, page + 1, "cannot be read; the file is cut short or damaged");
    tiff->info.nz = page;
  }
  return TL_OK;
}

/* ---- first page's description ---- */

/* One directory, images=N: the other pages lie behind the first one's data, uncompressed. */
static TlStatus look_behind(TlTiff *tiff, const TlTiffMeta *meta) {
  uint16_t compression = COMPRESSION_NONE;
  TIFFGetFieldDefaulted(tiff->handle, TIFFTAG_COMPRESSION, &compression);
  if (!meta->imagej || meta->images <= tiff->info.nz) return TL_OK;
  if (tiff->info.nz > 1)
    return tl_fail(TL_EINPUT,
                   "%s: holds %lld pages, and ImageJ's description promises %lld: the file is cut "
                   "short, or pages were taken out of it; get the whole file, or save these pages "
                   "as a stack of their own",
                   tiff->path, (long long)tiff->info.nz, (long long)meta->images);
  if (compression != COMPRESSION_NONE || TIFFIsTiled(tiff->handle) || tiff->info.bits) {
    tl_log_warn("%s: the description promises %lld images, the file holds one", tiff->path,
                (long long)meta->images);
    return TL_OK;
  }
  int64_t page = tiff->info.nx * tiff->info.ny * (int64_t)tl_voxel_size(tiff->info.type);
  tiff->raw_offset = TIFFGetStrileOffset(tiff->handle, 0);
  int64_t whole = (tiff->bytes - (int64_t)tiff->raw_offset) / page;
  if (whole < meta->images)
    return tl_fail(TL_EINPUT,
                   "%s: page %lld: missing; ImageJ's description promises %lld: the "
                   "file is cut short",
                   tiff->path, (long long)whole + 1, (long long)meta->images);
  tiff->raw = true;
  tiff->info.nz = meta->images;
  return TL_OK;
}

/* Resolution and description of the first page. */
static TlStatus describe_stack(TlTiff *tiff) {
  TlTiffMeta meta;
  float x = 0, y = 0;
  const char *description = NULL;
  uint16_t unit = RESUNIT_NONE; /* the standard's default is inch: a guess, so not taken */
  if (!TIFFSetDirectory(tiff->handle, 0)) return page_fails(tiff, 1, "cannot be read again");
  TIFFGetField(tiff->handle, TIFFTAG_XRESOLUTION, &x);
  TIFFGetField(tiff->handle, TIFFTAG_YRESOLUTION, &y);
  TIFFGetField(tiff->handle, TIFFTAG_IMAGEDESCRIPTION, &description);
  TIFFGetField(tiff->handle, TIFFTAG_RESOLUTIONUNIT, &unit);
  double unit_m = unit == RESUNIT_INCH ? 0.0254 : unit == RESUNIT_CENTIMETER ? 0.01 : 0;
  TlStatus status = tl_tiff_meta(description, (double[2]){x, y}, unit_m, &meta);
  if (status == TL_OK && (meta.channels > 1 || (meta.slices > 1 && meta.frames > 1)))
    status = tl_fail(TL_EINPUT,
                     "%s: holds %lld channels, %lld slices, %lld times; save one channel and one "
                     "time as a stack of its own",
                     tiff->path, (long long)meta.channels, (long long)meta.slices,
                     (long long)meta.frames);
  if (status == TL_OK) status = look_behind(tiff, &meta);
  memcpy(tiff->info.voxel_m, meta.voxel_m, sizeof meta.voxel_m);
  memcpy(tiff->info.cylinder, meta.cylinder, sizeof meta.cylinder);
  tiff->info.voxel_from = meta.voxel_from;
  tiff->info.history = meta.history;
  return status;
}

static TlStatus open_checked(const char *path, TlTiff *tiff) {
  tiff->path = tl_strdup(path);
  if (!tiff->path) return TL_ENOMEM;
  TL_TRY(tl_file_size(path, &tiff->bytes));
  TL_TRY(open_handle(path, tiff));
  TL_TRY(check_pages(tiff));
  if (tiff->info.bits == 64)
    tl_log_info("%s: 64-bit floats are read as 32-bit ones (7 digits)", path);
  return describe_stack(tiff);
}

TlStatus tl_tiff_open(const char *path, TlTiff **out) {
  TlTiff *tiff;
  *out = NULL;
  TL_TRY(TL_NEW(tiff, 1));
  TlStatus status = open_checked(path, tiff);
  if (status == TL_OK)
    *out = tiff;
  else
    tl_tiff_close(tiff);
  return status;
}

const TlStackInfo *tl_tiff_info(const TlTiff *tiff) {
  return &tiff->info;
}

void tl_tiff_close(TlTiff *tiff) {
  if (!tiff) return;
  if (tiff->handle) TIFFClose(tiff->handle);
  tl_stack_info_free(&tiff->info);
  tl_free(tiff->path);
  tl_free(tiff->page);
  tl_free(tiff);
}

/* ---- voxels ---- */

/* Stored voxels that are wider or narrower than their type, one row. */
static void widen(const TlStackInfo *info, const uint8_t *stored, int64_t count, uint8_t *voxels) {
  for (int64_t i = 0; i < count && info->bits == 1; i++)
    voxels[i] = (uint8_t)(stored[i >> 3] >> (7 - (i & 7)) & 1);
  for (int64_t i = 0; i < count && info->bits == 64; i++) {
    double value;
    memcpy(&value, stored + 8 * i, 8);
    float single = (float)value;
    memcpy(voxels + 4 * i, &single, 4);
  }
}

/* A piece (strip or tile) as the file has it: rows of stored_row bytes. Its first columns of each
 * row go into voxels, whose rows lie row bytes apart. */
static void place_piece(const TlStackInfo *info, const uint8_t *piece, int64_t stored_row,
                        int64_t columns, int64_t rows, uint8_t *voxels, int64_t row) {
  for (int64_t j = 0; j < rows; j++, piece += stored_row, voxels += row)
    if (info->bits)
      widen(info, piece, columns, voxels);
    else
      memcpy(voxels, piece, (size_t)columns * tl_voxel_size(info->type));
}

static int64_t stored_bytes(const TlStackInfo *info, int64_t columns) {
  if (info->bits) return (columns * info->bits + 7) / 8;
  return columns * (int64_t)tl_voxel_size(info->type);
}

static TlStatus read_strips(TlTiff *tiff, int64_t page, uint8_t *slice) {
  const TlStackInfo *info = &tiff->info;
  int64_t row = info->nx * (int64_t)tl_voxel_size(info->type),
          stored = stored_bytes(info, info->nx);
  uint32_t rows = 0, strips = TIFFNumberOfStrips(tiff->handle);
  uint8_t *strip = NULL; /* stays so where voxels are stored as they are held */
  TIFFGetFieldDefaulted(tiff->handle, TIFFTAG_ROWSPERSTRIP, &rows);
  if (info->bits)
    TL_TRY(tl_context(TL_NEW(strip, (size_t)(stored * (info->ny < rows ? info->ny : rows))),
                      "%s: page %lld", tiff->path, (long long)page));
  TlStatus status = TL_OK;
  for (uint32_t i = 0; i < strips && status == TL_OK; i++) {
    int64_t first = (int64_t)i * rows, count = info->ny - first < rows ? info->ny - first : rows;
    if (count <= 0) break;
    tmsize_t bytes = (tmsize_t)(count * stored);
    uint8_t *to = slice + first * row;
    if (TIFFReadEncodedStrip(tiff->handle, i, strip ? strip : to, bytes) != bytes)
      status = page_fails(tiff, page, "its data are damaged");
    else if (strip)
      place_piece(info, strip, stored, info->nx, count, to, row);
  }
  tl_free(strip);
  return status;
}

static TlStatus read_tiles(TlTiff *tiff, int64_t page, uint8_t *slice) {
  const TlStackInfo *info = &tiff->info;
  int64_t size = (int64_t)tl_voxel_size(info->type);
  tmsize_t bytes = TIFFTileSize(tiff->handle);
  uint32_t width = 0, height = 0;
  uint8_t *tile;
  TIFFGetField(tiff->handle, TIFFTAG_TILEWIDTH, &width);
  TIFFGetField(tiff->handle, TIFFTAG_TILELENGTH, &height);
  int64_t stored = stored_bytes(info, width);
  if (width == 0 || height == 0 || bytes != stored * height)
    return page_fails(tiff, page, "has tiles of an impossible size");
  TL_TRY(tl_context(TL_NEW(tile, (size_t)bytes), "%s: page %lld", tiff->path, (long long)page));
  TlStatus status = TL_OK;
  uint32_t index = 0;
  for (int64_t y = 0; y < info->ny && status == TL_OK; y += height)
    for (int64_t x = 0; x < info->nx && status == TL_OK; x += width) {
      if (TIFFReadEncodedTile(tiff->handle, index++, tile, bytes) != bytes)
        status = page_fails(tiff, page, "its data are damaged");
      int64_t columns = info->nx - x < width ? info->nx - x : width;
      int64_t rows = info->ny - y < height ? info->ny - y : height;
      place_piece(info, tile, stored, columns, rows, slice + (y * info->nx + x) * size,
                  info->nx * size);
    }
  tl_free(tile);
  return status;
}

/* White is zero: all stored bits turned over, which is max - v unsigned and -1 - v signed. */
static void invert(const TlStackInfo *info, uint8_t *bytes, int64_t count) {
  uint8_t turned = info->bits == 1 ? 1 : 0xFF;
  for (int64_t i = 0; i < count; i++) bytes[i] ^= turned;
}

/* The kind of each page is checked again, for the file may have changed. */
static TlStatus read_pages(TlTiff *tiff, int64_t z, int64_t count, uint8_t *voxels,
                           int64_t slice_bytes) {
  for (int64_t i = 0; i < count; i++) {
    int64_t page = z + i + 1;
    uint8_t *slice = voxels + i * slice_bytes;
    Page kind;
    tiff->said[0] = 0;
    if (!TIFFSetSubDirectory(tiff->handle, tiff->page[page - 1]))
      return page_fails(tiff, page, "cannot be read again");
    TL_TRY(page_kind(tiff, page, &kind));
    TL_TRY(same_kind(tiff, page, &kind));
    TL_TRY(TIFFIsTiled(tiff->handle) ? read_tiles(tiff, page, slice)
                                     : read_strips(tiff, page, slice));
    if (kind.invert) invert(&tiff->info, slice, slice_bytes);
  }
  return TL_OK;
}

static TlStatus read_raw(TlTiff *tiff, int64_t skip, uint8_t *voxels, int64_t bytes) {
  size_t size = tl_voxel_size(tiff->info.type);
  Page kind;
  TL_TRY(page_kind(tiff, 1, &kind));
  FILE *file = fopen(tiff->path, "rb");
  if (!file) return tl_fail_errno(tiff->path, "cannot open");
  errno = EIO;
  bool read = fseeko(file, (off_t)tiff->raw_offset + skip, SEEK_SET) == 0 &&
              fread(voxels, 1, (size_t)bytes, file) == (size_t)bytes;
  TlStatus status = read ? TL_OK : tl_fail_errno(tiff->path, "cannot read the pages");
  fclose(file);
  if (read && size > 1 && TIFFIsByteSwapped(tiff->handle))
    tl_swap_bytes(voxels, bytes / (int64_t)size, size);
  if (read && kind.invert) invert(&tiff->info, voxels, bytes);
  return status;
}

TlStatus tl_tiff_read(TlTiff *tiff, int64_t z, int64_t count, void *voxels) {
  const TlStackInfo *info = &tiff->info;
  int64_t slice = info->nx * info->ny * (int64_t)tl_voxel_size(info->type);
  assert(z >= 0 && count >= 0 && z + count <= info->nz);
  tiff->said[0] = 0;
  return tiff->raw ? read_raw(tiff, z * slice, voxels, slice * count)
                   : read_pages(tiff, z, count, voxels, slice);
}

/* ---- as layers ---- */

static TlStatus read_layers(void *self, int64_t z, int64_t count, void *voxels) {
  return tl_tiff_read(self, z, count, voxels);
}

static void close_layers(void *self) {
  tl_tiff_close(self);
}

TlStatus tl_tiff_layers(const char *path, TlStackInfo *info, TlLayers *layers) {
  TlTiff *tiff;
  TL_TRY(tl_tiff_open(path, &tiff));
  *info = tiff->info;
  tiff->info.history = NULL; /* handed over */
  *layers = (TlLayers){.self = tiff, .read = read_layers, .close = close_layers};
  return TL_OK;
}
