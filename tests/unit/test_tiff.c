#include "support/tltest.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/random.h"
#include "io/tiff.h"
#include "io/tiff_meta.h"

#include <stdio.h>
#include <tiffio.h>
#include <unistd.h>

/* ---- a writer of every kind of page; odd sizes leave part strips and part tiles ---- */

typedef struct Kind {
  TlVoxelType type;
  bool tiles, big_endian, big_tiff, separate, white;
  uint16_t compression;
  uint32_t width, height, pages;
  const char *description;
} Kind;

static const Kind plain = {
    .type = TL_U16, .compression = COMPRESSION_NONE, .width = 37, .height = 29, .pages = 3};

/* All bits of a voxel from its place, so that lost, swapped or shifted bytes show. */
static void true_voxels(const Kind *kind, uint8_t *voxels) {
  size_t size = tl_voxel_size(kind->type);
  size_t bytes = (size_t)kind->width * kind->height * kind->pages * size;
  for (size_t i = 0; i < bytes; i++) voxels[i] = (uint8_t)tl_random_bits(11, kind->type, i);
  for (size_t i = 0; kind->type == TL_F32 && i < bytes / 4; i++) {
    float value = (float)(tl_random_uniform(5, 5, i) - 0.5) * 1e6F;
    if (i == 17) value = NAN; /* the reader passes on what is there */
    memcpy(voxels + 4 * i, &value, 4);
  }
}

static unsigned format_of(TlVoxelType type) {
  if (type == TL_F32) return SAMPLEFORMAT_IEEEFP;
  return type == TL_I8 || type == TL_I16 || type == TL_I32 ? SAMPLEFORMAT_INT : SAMPLEFORMAT_UINT;
}

static void set_tags(TIFF *t, const Kind *kind) {
  TIFFSetField(t, TIFFTAG_IMAGEWIDTH, kind->width);
  TIFFSetField(t, TIFFTAG_IMAGELENGTH, kind->height);
  TIFFSetField(t, TIFFTAG_BITSPERSAMPLE, 8 * (int)tl_voxel_size(kind->type));
  TIFFSetField(t, TIFFTAG_SAMPLESPERPIXEL, 1);
  TIFFSetField(t, TIFFTAG_SAMPLEFORMAT, format_of(kind->type));
  TIFFSetField(t, TIFFTAG_PHOTOMETRIC,
               kind->white ? PHOTOMETRIC_MINISWHITE : PHOTOMETRIC_MINISBLACK);
  TIFFSetField(t, TIFFTAG_PLANARCONFIG,
               kind->separate ? PLANARCONFIG_SEPARATE : PLANARCONFIG_CONTIG);
  TIFFSetField(t, TIFFTAG_COMPRESSION, kind->compression);
  if (kind->description) TIFFSetField(t, TIFFTAG_IMAGEDESCRIPTION, kind->description);
}

static void write_strips(TIFF *t, const Kind *kind, const uint8_t *page) {
  enum { ROWS = 8 };
  size_t row = kind->width * tl_voxel_size(kind->type);
  TIFFSetField(t, TIFFTAG_ROWSPERSTRIP, ROWS);
  for (uint32_t y = 0; y < kind->height; y += ROWS) {
    uint32_t rows = kind->height - y < ROWS ? kind->height - y : ROWS;
    uint8_t *copy = malloc(rows * row); /* libtiff swaps bytes in place */
    memcpy(copy, page + y * row, rows * row);
    ck_assert(TIFFWriteEncodedStrip(t, y / ROWS, copy, (tmsize_t)(rows * row)) > 0);
    free(copy);
  }
}

static void write_tiles(TIFF *t, const Kind *kind, const uint8_t *page) {
  enum { SIDE = 16 };
  size_t size = tl_voxel_size(kind->type);
  uint8_t tile[SIDE * SIDE * 4];
  uint32_t index = 0;
  TIFFSetField(t, TIFFTAG_TILEWIDTH, SIDE);
  TIFFSetField(t, TIFFTAG_TILELENGTH, SIDE);
  for (uint32_t y = 0; y < kind->height; y += SIDE)
    for (uint32_t x = 0; x < kind->width; x += SIDE) {
      memset(tile, 0xAB, sizeof tile); /* what lies beyond the page must not show */
      for (uint32_t j = 0; j < SIDE && y + j < kind->height; j++) {
        uint32_t n = kind->width - x < SIDE ? kind->width - x : SIDE;
        memcpy(tile + j * SIDE * size, page + ((size_t)(y + j) * kind->width + x) * size, n * size);
      }
      ck_assert(TIFFWriteEncodedTile(t, index++, tile, (tmsize_t)(SIDE * SIDE * size)) > 0);
    }
}

static const char *at(const char *name) {
  static char path[256];
  snprintf(path, sizeof path, "%s/%s", tl_test_folder(), name);
  return path;
}

/* Without the sync of tl_file_write, and not over an old file, which ext4 syncs: thousands of
 * files.
 */
static void spill(const char *path, const void *bytes, size_t size) {
  remove(path);
  FILE *file = fopen(path, "wb");
  ck_assert(file && fwrite(bytes, 1, size, file) == size && fclose(file) == 0);
}

static void write_kind(const char *path, const Kind *kind, const uint8_t *voxels) {
  char mode[8];
  size_t page = (size_t)kind->width * kind->height * tl_voxel_size(kind->type);
  snprintf(mode, sizeof mode, "w%c%s", kind->big_endian ? 'b' : 'l', kind->big_tiff ? "8" : "");
  TIFF *t = TIFFOpen(path, mode);
  ck_assert(t != NULL);
  for (uint32_t z = 0; z < kind->pages; z++) {
    set_tags(t, kind);
    (kind->tiles ? write_tiles : write_strips)(t, kind, voxels + z * page);
    ck_assert(TIFFWriteDirectory(t));
  }
  TIFFClose(t);
}

static size_t bytes_of(const Kind *kind) {
  return (size_t)kind->width * kind->height * kind->pages * tl_voxel_size(kind->type);
}

/* Read path and compare with what was written. */
static void check_kind(const char *path, const Kind *kind, const uint8_t *voxels) {
  TlTiff *tiff;
  CK_OK(tl_tiff_open(path, &tiff));
  const TlStackInfo *info = tl_tiff_info(tiff);
  ck_assert(info->nx == kind->width && info->ny == kind->height && info->nz == kind->pages);
  ck_assert_int_eq(info->type, kind->type);
  uint8_t *got = malloc(bytes_of(kind));
  memset(got, 0x55, bytes_of(kind));
  CK_OK(tl_tiff_read(tiff, 0, tl_tiff_info(tiff)->nz, got));
  ck_assert_msg(memcmp(got, voxels, bytes_of(kind)) == 0,
                "type %s tiles %d MM %d Big %d compression %d", tl_voxel_name(kind->type),
                kind->tiles, kind->big_endian, kind->big_tiff, kind->compression);
  free(got);
  tl_tiff_close(tiff);
}

static const uint16_t compressions[] = {COMPRESSION_NONE, COMPRESSION_LZW,
                                        COMPRESSION_ADOBE_DEFLATE, COMPRESSION_ZSTD};

START_TEST(every_type_layout_order_and_compression_is_read_exactly) {
  for (int i = 0; i < 7 * 2 * 4 * 2 * 2; i++) {
    Kind kind = plain;
    kind.type = (TlVoxelType)(i % 7);
    kind.tiles = i / 7 % 2;
    kind.compression = compressions[i / 14 % 4];
    kind.big_endian = i / 56 % 2;
    kind.big_tiff = i / 112;
    uint8_t *voxels = malloc(bytes_of(&kind));
    true_voxels(&kind, voxels);
    write_kind(at("kind.tif"), &kind, voxels);
    check_kind(at("kind.tif"), &kind, voxels);
    free(voxels);
  }
}
END_TEST

START_TEST(separate_planes_are_read) {
  Kind kind = plain;
  kind.separate = true;
  uint8_t *voxels = malloc(bytes_of(&kind));
  true_voxels(&kind, voxels);
  write_kind(at("planes.tif"), &kind, voxels);
  check_kind(at("planes.tif"), &kind, voxels);
  free(voxels);
}
END_TEST

START_TEST(white_is_zero_comes_out_bright_is_large) {
  const TlVoxelType types[] = {TL_U8, TL_U16, TL_I16, TL_F32};
  for (int k = 0; k < 4; k++) {
    Kind kind = plain;
    kind.type = types[k];
    kind.white = true;
    kind.big_endian = k % 2;
    uint8_t *voxels = malloc(bytes_of(&kind));
    true_voxels(&kind, voxels);
    write_kind(at("white.tif"), &kind, voxels);
    for (size_t i = 0; i < bytes_of(&kind) / tl_voxel_size(kind.type); i++) {
      if (kind.type == TL_U8) voxels[i] = (uint8_t)(255 - voxels[i]);
      if (kind.type == TL_U16)
        ((uint16_t *)voxels)[i] = (uint16_t)(65535 - ((uint16_t *)voxels)[i]);
      if (kind.type == TL_I16) ((int16_t *)voxels)[i] = (int16_t)(-1 - ((int16_t *)voxels)[i]);
    }
    check_kind(at("white.tif"), &kind, voxels);
    free(voxels);
  }
}
END_TEST

/* ---- ImageJ's large stacks: one directory, pages behind it, written byte by byte ---- */

typedef struct Bytes {
  uint8_t data[20000];
  size_t used;
  bool big_endian;
} Bytes;

static void put(Bytes *b, uint64_t value, int size) {
  for (int k = 0; k < size; k++) {
    int shift = 8 * (b->big_endian ? size - 1 - k : k);
    b->data[b->used++] = (uint8_t)(value >> shift);
  }
}

static void put_entry(Bytes *b, unsigned tag, unsigned type, uint32_t count, uint32_t value) {
  put(b, tag, 2);
  put(b, type, 2);
  put(b, count, 4);
  bool narrow = type == 3; /* a SHORT sits in the first two of four bytes */
  put(b, value, narrow ? 2 : 4);
  if (narrow) put(b, 0, 2);
}

enum { IJ_W = 11, IJ_H = 7, IJ_PAGES = 4, IJ_TEXT = 200, IJ_DATA = 512 };

static void imagej_file(Bytes *b, bool big_endian, const char *description) {
  *b = (Bytes){.big_endian = big_endian};
  put(b, big_endian ? 0x4d4d : 0x4949, 2);
  put(b, 42, 2);
  put(b, 8, 4);
  put(b, 9, 2);
  put_entry(b, 256, 4, 1, IJ_W);
  put_entry(b, 257, 4, 1, IJ_H);
  put_entry(b, 258, 3, 1, 16);
  put_entry(b, 259, 3, 1, 1);
  put_entry(b, 262, 3, 1, 1);
  put_entry(b, 270, 2, (uint32_t)strlen(description) + 1, IJ_TEXT);
  put_entry(b, 273, 4, 1, IJ_DATA);
  put_entry(b, 278, 4, 1, IJ_H);
  put_entry(b, 279, 4, 1, 2 * IJ_W * IJ_H);
  put(b, 0, 4);
  memcpy(b->data + IJ_TEXT, description, strlen(description) + 1);
  b->used = IJ_DATA;
  for (int i = 0; i < IJ_W * IJ_H * IJ_PAGES; i++) put(b, (uint64_t)(7 * i + 300), 2);
}

START_TEST(imagej_pages_behind_one_directory_are_read) {
  for (int order = 0; order < 2; order++) {
    Bytes *b = malloc(sizeof *b);
    TlTiff *tiff;
    uint16_t voxels[IJ_W * IJ_H * IJ_PAGES];
    imagej_file(b, order, "ImageJ=1.53t\nimages=4\nslices=4\nloop=false\n");
    spill(at("ij.tif"), b->data, b->used);
    CK_OK(tl_tiff_open(at("ij.tif"), &tiff));
    ck_assert_int_eq(tl_tiff_info(tiff)->nz, IJ_PAGES);
    CK_OK(tl_tiff_read(tiff, 0, tl_tiff_info(tiff)->nz, voxels));
    for (int i = 0; i < IJ_W * IJ_H * IJ_PAGES; i++) ck_assert_int_eq(voxels[i], 7 * i + 300);
    tl_tiff_close(tiff);
    /* one byte short: page 4 is not whole */
    spill(at("ij.tif"), b->data, b->used - 1);
    CK_FAILS(tl_tiff_open(at("ij.tif"), &tiff), TL_EINPUT, "page 4");
    free(b);
  }
}
END_TEST

/* 520 pages of 8 MiB, all holes but the last voxel: the offset no longer fits into 32 bits. */
START_TEST(imagej_stacks_over_4_GiB_are_read_to_the_end) {
  enum { SIDE_LARGE = 2048, PAGES = 520 };
  const int64_t page = (int64_t)SIDE_LARGE * SIDE_LARGE * 2;
  for (int order = 0; order < 2; order++) {
    Bytes b = {.big_endian = order};
    const char *text = "ImageJ=1.53t\nimages=520\nslices=520\nloop=false\n";
    uint16_t *last;
    TlTiff *tiff;
    put(&b, order ? 0x4d4d : 0x4949, 2);
    put(&b, 42, 2);
    put(&b, 8, 4);
    put(&b, 9, 2);
    put_entry(&b, 256, 4, 1, SIDE_LARGE);
    put_entry(&b, 257, 4, 1, SIDE_LARGE);
    put_entry(&b, 258, 3, 1, 16);
    put_entry(&b, 259, 3, 1, 1);
    put_entry(&b, 262, 3, 1, 1);
    put_entry(&b, 270, 2, (uint32_t)strlen(text) + 1, IJ_TEXT);
    put_entry(&b, 273, 4, 1, IJ_DATA);
    put_entry(&b, 278, 4, 1, SIDE_LARGE);
    put_entry(&b, 279, 4, 1, (uint32_t)page);
    put(&b, 0, 4);
    memcpy(b.data + IJ_TEXT, text, strlen(text) + 1);
    spill(at("large.tif"), b.data, IJ_DATA);
    ck_assert(truncate(at("large.tif"), IJ_DATA + PAGES * page) == 0);
    FILE *f = fopen(at("large.tif"), "r+b");
    uint8_t end[2] = {order ? 0x12 : 0x34, order ? 0x34 : 0x12};
    ck_assert(f && fseeko(f, -2, SEEK_END) == 0 && fwrite(end, 1, 2, f) == 2 && fclose(f) == 0);
    CK_OK(tl_tiff_open(at("large.tif"), &tiff));
    ck_assert_int_eq(tl_tiff_info(tiff)->nz, PAGES);
    last = malloc((size_t)page);
    CK_OK(tl_tiff_read(tiff, PAGES - 1, 1, last));
    ck_assert(last[0] == 0 && last[page / 2 - 1] == 0x1234);
    free(last);
    tl_tiff_close(tiff);
    ck_assert(truncate(at("large.tif"), IJ_DATA + PAGES * page - 1) == 0);
    CK_FAILS(tl_tiff_open(at("large.tif"), &tiff), TL_EINPUT, "page 520");
    ck_assert(unlink(at("large.tif")) == 0);
  }
}
END_TEST

START_TEST(data_beyond_the_end_are_told_before_memory_is_taken) {
  Bytes *b = malloc(sizeof *b);
  TlTiff *tiff;
  imagej_file(b, false, "a scan");
  spill(at("beyond.tif"), b->data, IJ_DATA + 2 * IJ_W * IJ_H - 1);
  CK_FAILS(tl_tiff_open(at("beyond.tif"), &tiff), TL_EINPUT,
           "page 1: its data end beyond the file");
  b->data[10 + 9] = 0x10; /* a width of 2^20: the strip cannot hold that */
  b->data[10 + 8] = 0;
  spill(at("beyond.tif"), b->data, b->used);
  CK_FAILS(tl_tiff_open(at("beyond.tif"), &tiff), TL_EINPUT, "beyond.tif");
  free(b);
}
END_TEST

/* Pages that each have a directory. */
START_TEST(fewer_pages_than_imagej_promises_are_refused) {
  static const struct {
    const char *description;
    bool whole;
  } cases[] = {{"ImageJ=1.53t\nimages=20\nslices=20\nunit=um\nspacing=2\n", false},
               {"ImageJ=1.53t\nimages=4\nframes=4\n", false},
               {"ImageJ=1.53t\nimages=3\nslices=3\n", true},
               {"ImageJ=1.53t\nimages=3\nframes=3\n", true},
               {"ImageJ=1.53t\nimages=2\nslices=2\n", true}, /* more is not less */
               {"ImageJ=1.53t\nunit=um\n", true},
               {"images=20\n", true}}; /* not ImageJ's */
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (int packed = 0; packed < 2; packed++) {
      Kind kind = plain;
      TlTiff *tiff;
      kind.description = cases[i].description;
      if (packed) kind.compression = COMPRESSION_ZSTD;
      uint8_t *voxels = malloc(bytes_of(&kind));
      true_voxels(&kind, voxels);
      write_kind(at("fewer.tif"), &kind, voxels);
      free(voxels);
      if (cases[i].whole) {
        CK_OK(tl_tiff_open(at("fewer.tif"), &tiff));
        ck_assert_int_eq(tl_tiff_info(tiff)->nz, kind.pages);
        tl_tiff_close(tiff);
      } else {
        CK_FAILS(tl_tiff_open(at("fewer.tif"), &tiff), TL_EINPUT,
                 "fewer.tif: holds 3 pages, and ImageJ's description promises");
      }
    }
}
END_TEST

START_TEST(hyperstacks_are_refused) {
  Bytes *b = malloc(sizeof *b);
  TlTiff *tiff;
  imagej_file(b, true, "ImageJ=1.53t\nimages=4\nchannels=2\nslices=2\n");
  spill(at("hyper.tif"), b->data, b->used);
  CK_FAILS(tl_tiff_open(at("hyper.tif"), &tiff), TL_EINPUT, "2 channels");
  /* slices that ImageJ took for times are a stack all the same */
  imagej_file(b, true, "ImageJ=1.53t\nimages=4\nframes=4\n");
  spill(at("hyper.tif"), b->data, b->used);
  CK_OK(tl_tiff_open(at("hyper.tif"), &tiff));
  ck_assert_int_eq(tl_tiff_info(tiff)->nz, 4);
  tl_tiff_close(tiff);
  free(b);
}
END_TEST

/* ---- damage ---- */

/* Either an error that names the file, or the very voxels of the whole one. */
static bool read_damaged(const char *path, const Kind *kind, const uint8_t *voxels) {
  TlTiff *tiff;
  TlStatus status = tl_tiff_open(path, &tiff);
  if (status == TL_OK) {
    const TlStackInfo *info = tl_tiff_info(tiff);
    ck_assert(info->nz == kind->pages && info->nx == kind->width && info->ny == kind->height);
    uint8_t *got = calloc(1, bytes_of(kind));
    status = tl_tiff_read(tiff, 0, tl_tiff_info(tiff)->nz, got);
    if (status == TL_OK) ck_assert(memcmp(got, voxels, bytes_of(kind)) == 0);
    free(got);
    tl_tiff_close(tiff);
  }
  if (status != TL_OK) ck_assert_msg(strstr(tl_message(), path) != NULL, "%s", tl_message());
  return status == TL_OK;
}

START_TEST(a_file_cut_anywhere_is_an_error_and_never_a_shorter_stack) {
  for (int variant = 0; variant < 8; variant++) {
    Kind kind = plain;
    kind.type = TL_U8;
    kind.compression = compressions[variant % 4];
    kind.tiles = variant % 2;
    kind.big_endian = variant / 2 % 2;
    kind.big_tiff = variant / 4;
    uint8_t *voxels = malloc(bytes_of(&kind));
    char *file;
    size_t size;
    true_voxels(&kind, voxels);
    write_kind(at("whole.tif"), &kind, voxels);
    CK_OK(tl_file_read(at("whole.tif"), &file, &size));
    for (size_t cut = 0; cut < size; cut += 13) {
      spill(at("cut.tif"), file, cut);
      ck_assert_msg(!read_damaged(at("cut.tif"), &kind, voxels), "cut at %zu of %zu", cut, size);
    }
    tl_free(file);
    free(voxels);
  }
}
END_TEST

/* Nothing to compare: the point is that no byte makes us crash or read beyond our memory (the
 * sanitized build looks). */
START_TEST(a_flipped_byte_never_crashes) {
  Kind kind = plain;
  char *file, keep;
  size_t size;
  kind.compression = COMPRESSION_ZSTD;
  kind.tiles = true;
  kind.description = "ImageJ=1.53t\nimages=3\nslices=3\nunit=um\nspacing=2\n";
  uint8_t *voxels = malloc(bytes_of(&kind));
  true_voxels(&kind, voxels);
  write_kind(at("whole.tif"), &kind, voxels);
  CK_OK(tl_file_read(at("whole.tif"), &file, &size));
  for (uint64_t i = 0; i < 1500; i++) {
    size_t where = tl_random_bits(1, 1, i) % size;
    TlTiff *tiff;
    keep = file[where];
    file[where] = (char)tl_random_bits(1, 2, i);
    spill(at("flip.tif"), file, size);
    if (tl_tiff_open(at("flip.tif"), &tiff) == TL_OK) {
      const TlStackInfo *info = tl_tiff_info(tiff);
      TlVolume volume;
      if (tl_volume_new(&volume, info->type, info->nx, info->ny, info->nz) == TL_OK)
        (void)tl_tiff_read(tiff, 0, tl_tiff_info(tiff)->nz, volume.data);
      tl_volume_free(&volume);
      tl_tiff_close(tiff);
    }
    file[where] = keep;
  }
  tl_free(file);
  free(voxels);
}
END_TEST

START_TEST(an_empty_file_or_one_without_pages_is_refused) {
  TlTiff *tiff;
  spill(at("empty.tif"), "", 0);
  CK_FAILS(tl_tiff_open(at("empty.tif"), &tiff), TL_EINPUT, "empty.tif");
  spill(at("none.tif"), "II*\0\0\0\0\0", 8);
  CK_FAILS(tl_tiff_open(at("none.tif"), &tiff), TL_EINPUT, "page 1");
  CK_FAILS(tl_tiff_open(at("missing.tif"), &tiff), TL_EIO, "missing.tif");
}
END_TEST

/* A directory chain that bites its tail must end with an error, not run for ever. */
START_TEST(a_loop_of_directories_is_refused) {
  Kind kind = plain;
  char *file;
  size_t size;
  TlTiff *tiff;
  kind.type = TL_U8;
  kind.pages = 1;
  uint8_t *voxels = malloc(bytes_of(&kind));
  true_voxels(&kind, voxels);
  write_kind(at("loop.tif"), &kind, voxels);
  CK_OK(tl_file_read(at("loop.tif"), &file, &size));
  uint32_t ifd, next;
  uint16_t entries;
  memcpy(&ifd, file + 4, 4);
  memcpy(&entries, file + ifd, 2);
  next = ifd + 2 + 12U * entries;
  memcpy(file + next, &ifd, 4); /* the next directory is this one */
  spill(at("loop.tif"), file, size);
  CK_FAILS(tl_tiff_open(at("loop.tif"), &tiff), TL_EINPUT, "page 2");
  tl_free(file);
  free(voxels);
}
END_TEST

/* ---- pages that do not belong in a stack ---- */

static void write_two(const char *path, const Kind *a, const Kind *b) {
  TIFF *t = TIFFOpen(path, "w");
  const Kind *both[2] = {a, b};
  for (int i = 0; i < 2; i++) {
    uint8_t *voxels = calloc(1, bytes_of(both[i]));
    set_tags(t, both[i]);
    write_strips(t, both[i], voxels);
    TIFFWriteDirectory(t);
    free(voxels);
  }
  TIFFClose(t);
}

START_TEST(pages_of_another_size_or_type_are_refused_by_number) {
  Kind a = plain, b = plain;
  TlTiff *tiff;
  b.height = 30;
  write_two(at("mixed.tif"), &a, &b);
  CK_FAILS(tl_tiff_open(at("mixed.tif"), &tiff), TL_EINPUT, "page 2 is 37 x 30");
  b = plain;
  b.type = TL_I16;
  write_two(at("mixed.tif"), &a, &b);
  CK_FAILS(tl_tiff_open(at("mixed.tif"), &tiff), TL_EINPUT, "page 2 has i16");
}
END_TEST

static void write_odd(const char *path, unsigned bits, unsigned samples, unsigned format) {
  TIFF *t = TIFFOpen(path, "w");
  uint8_t row[256] = {0};
  TIFFSetField(t, TIFFTAG_IMAGEWIDTH, 8);
  TIFFSetField(t, TIFFTAG_IMAGELENGTH, 2);
  TIFFSetField(t, TIFFTAG_BITSPERSAMPLE, bits);
  TIFFSetField(t, TIFFTAG_SAMPLESPERPIXEL, samples);
  TIFFSetField(t, TIFFTAG_SAMPLEFORMAT, format);
  TIFFSetField(t, TIFFTAG_PHOTOMETRIC, samples == 3 ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK);
  for (uint32_t y = 0; y < 2; y++) TIFFWriteScanline(t, row, y, 0);
  TIFFClose(t);
}

START_TEST(colour_and_odd_depths_are_refused_in_words) {
  TlTiff *tiff;
  write_odd(at("odd.tif"), 8, 3, SAMPLEFORMAT_UINT);
  CK_FAILS(tl_tiff_open(at("odd.tif"), &tiff), TL_EINPUT, "RGB");
  write_odd(at("odd.tif"), 8, 2, SAMPLEFORMAT_UINT);
  CK_FAILS(tl_tiff_open(at("odd.tif"), &tiff), TL_EINPUT, "2 values a pixel");
  write_odd(at("odd.tif"), 4, 1, SAMPLEFORMAT_UINT);
  CK_FAILS(tl_tiff_open(at("odd.tif"), &tiff), TL_EINPUT, "4-bit unsigned");
  write_odd(at("odd.tif"), 12, 1, SAMPLEFORMAT_UINT);
  CK_FAILS(tl_tiff_open(at("odd.tif"), &tiff), TL_EINPUT, "12-bit unsigned");
  write_odd(at("odd.tif"), 64, 1, SAMPLEFORMAT_UINT);
  CK_FAILS(tl_tiff_open(at("odd.tif"), &tiff), TL_EINPUT, "64-bit unsigned");
  write_odd(at("odd.tif"), 16, 1, SAMPLEFORMAT_IEEEFP);
  CK_FAILS(tl_tiff_open(at("odd.tif"), &tiff), TL_EINPUT, "16-bit float");
}
END_TEST

/* ---- what the description says ---- */

static void check_size(const char *text, double per, double tag_unit_m, double x, double z) {
  TlTiffMeta meta;
  CK_OK(tl_tiff_meta(text, (double[2]){per, per}, tag_unit_m, &meta));
  ck_assert_msg(fabs(meta.voxel_m[0] - x) <= 1e-12 * x && meta.voxel_m[1] == meta.voxel_m[0],
                "x = %g, not %g: %s", meta.voxel_m[0], x, text);
  ck_assert_msg(fabs(meta.voxel_m[2] - z) <= 1e-12 * z, "z = %g, not %g: %s", meta.voxel_m[2], z,
                text);
  tl_free(meta.history);
}

#define IJ(lines) "ImageJ=1.53t\nimages=4\nslices=4\n" lines

START_TEST(imagej_voxel_size_is_understood_in_all_spellings) {
  check_size(IJ("unit=um\nspacing=2.5\n"), 0.2, 0, 5e-6, 2.5e-6);
  check_size(IJ("unit=micron\nspacing=5\n"), 0.2, 0, 5e-6, 5e-6);
  check_size(IJ("unit=\\u00B5m\nspacing=5\n"), 0.2, 0, 5e-6, 5e-6);
  check_size(IJ("unit=\xc2\xb5m\nspacing=5\n"), 0.2, 0, 5e-6, 5e-6);
  check_size(IJ("unit=\xb5m\nspacing=5\n"), 0.2, 0, 5e-6, 5e-6);
  check_size(IJ("unit=mm\nspacing=0.005\r\n"), 200, 0, 5e-6, 5e-6);
  check_size(IJ("unit=nm\nspacing=-500\n"), 1e-3, 0, 1e-6, 0.5e-6); /* stacks read upwards */
  check_size(IJ("spacing=0.0005\n"), 2000, 0.01, 5e-6, 5e-6);       /* unit in the tag: cm */
  check_size(IJ("unit=um\n"), 1, 0, 1e-6, 1e-6);                    /* 1 is left out by ImageJ */
  check_size(IJ("unit=um\n"), 0.2, 0, 5e-6, 0);                     /* not said for z */
  check_size(IJ("unit=pixel\nspacing=2\n"), 1, 0, 0, 0);
  check_size(IJ("spacing=2\n"), 1, 0, 0, 0);
  check_size(IJ("unit=um\nspacing=wide\n"), 0.2, 0, 5e-6, 0);
  check_size(IJ("unit=um\nspacing=2\n"), 0, 0, 0, 0); /* no resolution tags */
}
END_TEST

START_TEST(our_digits_hold_until_another_tool_changes_the_size) {
  check_size(IJ("unit=um\nspacing=5.3\ntalus_voxel_um=5.3,5.3,5.3\n"), 1 / 5.3F, 0, 5.3e-6, 5.3e-6);
  check_size(IJ("unit=um\nspacing=6\ntalus_voxel_um=5,5,5\n"), 0.2, 0, 5e-6, 6e-6);
}
END_TEST

#define OME(attributes)                                                                            \
  "<?xml version=\"1.0\"?><OME xmlns=\"http://www.openmicroscopy.org/x\">"                         \
  "<Image><Pixels ID=\"P:0\" " attributes "><Channel/></Pixels></Image></OME>"

START_TEST(ome_voxel_size_is_understood) {
  check_size(OME("PhysicalSizeX=\"5\" PhysicalSizeY=\"5\" PhysicalSizeZ=\"2.5\""), 0, 0, 5e-6,
             2.5e-6);
  check_size(OME("PhysicalSizeX=\"5\" PhysicalSizeXUnit=\"nm\" PhysicalSizeY='5' "
                 "PhysicalSizeYUnit='nm' PhysicalSizeZ=\"0.001\" PhysicalSizeZUnit=\"mm\""),
             0, 0, 5e-9, 1e-6);
  check_size(OME("PhysicalSizeX=\"5\" PhysicalSizeXUnit=\"\xc2\xb5m\" PhysicalSizeY=\"5\" "
                 "PhysicalSizeYUnit=\"&#181;m\" PhysicalSizeZ=\"5\""),
             0, 0, 5e-6, 5e-6);
  check_size(OME("PhysicalSizeX=\"5\" PhysicalSizeY=\"5\""), 0, 0, 5e-6, 0);
  check_size(OME("SizeX=\"5\""), 2000, 0.01, 5e-6, 0); /* falls to the tags: x and y only */
  check_size("<OME><Pixels PhysicalSizeX=\"5", 0, 0, 0, 0);
}
END_TEST

START_TEST(resolution_tags_alone_give_no_slice_spacing) {
  check_size(NULL, 2000, 0.01, 5e-6, 0);
  check_size("a scan", 25.4, 0.0254, 1e-3, 0);
  check_size("a scan", 25.4, 0, 0, 0);
}
END_TEST

TL_TEST_MAIN("tiff", every_type_layout_order_and_compression_is_read_exactly,
             separate_planes_are_read, white_is_zero_comes_out_bright_is_large,
             imagej_pages_behind_one_directory_are_read,
             imagej_stacks_over_4_GiB_are_read_to_the_end,
             data_beyond_the_end_are_told_before_memory_is_taken,
             fewer_pages_than_imagej_promises_are_refused, hyperstacks_are_refused,
             a_file_cut_anywhere_is_an_error_and_never_a_shorter_stack,
             a_flipped_byte_never_crashes, an_empty_file_or_one_without_pages_is_refused,
             a_loop_of_directories_is_refused, pages_of_another_size_or_type_are_refused_by_number,
             colour_and_odd_depths_are_refused_in_words,
             imagej_voxel_size_is_understood_in_all_spellings,
             our_digits_hold_until_another_tool_changes_the_size, ome_voxel_size_is_understood,
             resolution_tags_alone_give_no_slice_spacing)
