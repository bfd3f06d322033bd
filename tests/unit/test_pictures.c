/* Pictures as stacks: files written by other programs (their bytes below), and folders of PNG. */
#include "support/tltest.h"

#include "base/log.h"
#include "base/mem.h"
#include "io/stack.h"

#include <png.h>
#include <stdio.h>
#include <sys/stat.h>

__attribute__((constructor)) static void be_quiet(void) {
  tl_log_set("test", TL_LOG_ERROR);
}

/* Written by Pillow 9.4 (png_*, tiff_bits, tiff_bits_fax) and tifffile 2023.2.3 (the others) from
 *   grey 8: (7 x + 31 y) % 256, grey 16: 257 x + 4099 y, bits: (x x + 3 y) % 3 == 0, on 11 x 5
 *   doubles: 0.1 x - y / 3, on 5 x 3 and again negated, and big-endian in tiles on 11 x 5 */
static const uint8_t png_grey_8[] = {
    137, 80, 78,  71,  13,  10,  26,  10, 0,   0, 0,   13,  73, 72,  68,  82,  0,  0,  0,
    11,  0,  0,   0,   5,   8,   0,   0,  0,   0, 182, 205, 73, 138, 0,   0,   0,  19, 73,
    68,  65, 84,  120, 218, 99,  100, 96, 135, 3, 70,  121, 4,  155, 133, 8,   54, 0,  56,
    41,  1,  233, 36,  142, 253, 46,  0,  0,   0, 0,   73,  69, 78,  68,  174, 66, 96, 130};
static const uint8_t png_grey_16[] = {
    137, 80,  78,  71, 13,  10,  26, 10,  0, 0,   0,   13,  73,  72,  68,  82, 0,  0,  0,  11,
    0,   0,   0,   5,  16,  0,   0,  0,   0, 230, 93,  149, 201, 0,   0,   0,  21, 73, 68, 65,
    84,  120, 218, 99, 100, 96,  96, 196, 6, 4,   152, 177, 137, 178, 80,  67, 24, 0,  42, 54,
    0,   191, 122, 57, 142, 218, 0,  0,   0, 0,   73,  69,  78,  68,  174, 66, 96, 130};
static const uint8_t png_bits[] = {
    137, 80,  78,  71,  13,  10,  26,  10, 0,   0,   0,   13,  73,  72, 68,  82, 0,  0,
    0,   11,  0,   0,   0,   5,   1,   0,  0,   0,   0,   187, 221, 43, 251, 0,  0,  0,
    15,  73,  68,  65,  84,  120, 218, 99, 158, 244, 157, 137, 129, 1,  142, 0,  20, 255,
    1,   149, 149, 219, 194, 161, 0,   0,  0,   0,   73,  69,  78,  68, 174, 66, 96, 130};
static const uint8_t png_rgb[] = {
    137, 80,  78,  71,  13,  10, 26,  10,  0,   0,   0,   13, 73, 72,  68,  82,  0,
    0,   0,   11,  0,   0,   0,  5,   8,   2,   0,   0,   0,  28, 196, 129, 1,   0,
    0,   0,   24,  73,  68,  65, 84,  120, 218, 99,  100, 96, 96, 96,  199, 11,  24,
    229, 229, 229, 241, 171, 96, 161, 139, 10,  0,   212, 50, 5,  157, 172, 236, 80,
    20,  0,   0,   0,   0,   73, 69,  78,  68,  174, 66,  96, 130};
static const uint8_t png_alpha[] = {
    137, 80,  78,  71,  13,  10, 26,  10,  0, 0,  0,   13,  73,  72, 68,  82,  0,  0,  0,  11,
    0,   0,   0,   5,   8,   4,  0,   0,   0, 57, 175, 222, 221, 0,  0,   0,   22, 73, 68, 65,
    84,  120, 218, 99,  100, 96, 96,  199, 2, 24, 229, 229, 177, 9,  179, 80,  67, 24, 0,  212,
    40,  3,   195, 201, 11,  91, 170, 0,   0, 0,  0,   73,  69,  78, 68,  174, 66, 96, 130};
static const uint8_t png_palette[] = {
    137, 80,  78,  71,  13,  10,  26,  10,  0,   0,   0,   13,  73, 72,  68, 82, 0,  0,  0,  11,
    0,   0,   0,   5,   1,   3,   0,   0,   0,   169, 104, 132, 21, 0,   0,  0,  6,  80, 76, 84,
    69,  138, 138, 138, 55,  55,  55,  106, 96,  134, 51,  0,   0,  0,   22, 73, 68, 65, 84, 120,
    218, 99,  248, 255, 128, 225, 255, 1,   134, 31,  12,  12,  13, 12,  64, 0,  0,  54, 22, 5,
    23,  145, 64,  124, 132, 0,   0,   0,   0,   73,  69,  78,  68, 174, 66, 96, 130};
static const uint8_t tiff_bits[] = {
    73, 73, 42, 0, 8, 0, 0, 0, 8, 0, 0,  1, 4, 0, 1,   0,  0,   0,  11,  0,  0,   0,  1,   1,
    4,  0,  1,  0, 0, 0, 5, 0, 0, 0, 3,  1, 3, 0, 1,   0,  0,   0,  1,   0,  0,   0,  6,   1,
    3,  0,  1,  0, 0, 0, 1, 0, 0, 0, 17, 1, 4, 0, 1,   0,  0,   0,  110, 0,  0,   0,  22,  1,
    4,  0,  1,  0, 0, 0, 5, 0, 0, 0, 23, 1, 4, 0, 1,   0,  0,   0,  10,  0,  0,   0,  28,  1,
    3,  0,  1,  0, 0, 0, 1, 0, 0, 0, 0,  0, 0, 0, 146, 64, 146, 64, 146, 64, 146, 64, 146, 64};
static const uint8_t tiff_bits_fax[] = {
    73, 73, 42, 0, 22, 0,  0, 0, 38, 168, 186, 46, 130, 95, 255, 255, 255, 255, 0, 16, 1, 0, 9,
    0,  0,  1,  3, 0,  1,  0, 0, 0,  11,  0,   0,  0,   1,  1,   3,   0,   1,   0, 0,  0, 5, 0,
    0,  0,  2,  1, 3,  0,  1, 0, 0,  0,   1,   0,  0,   0,  3,   1,   3,   0,   1, 0,  0, 0, 4,
    0,  0,  0,  6, 1,  3,  0, 1, 0,  0,   0,   1,  0,   0,  0,   17,  1,   4,   0, 1,  0, 0, 0,
    8,  0,  0,  0, 22, 1,  3, 0, 1,  0,   0,   0,  5,   0,  0,   0,   23,  1,   4, 0,  1, 0, 0,
    0,  13, 0,  0, 0,  28, 1, 3, 0,  1,   0,   0,  0,   1,  0,   0,   0,   0,   0, 0,  0};
static const uint8_t tiff_doubles[] = {
    73,  73,  42,  0,   8,   0,   0,   0,   14,  0,   0,   1,   4,   0,   1,   0,   0,   0,   5,
    0,   0,   0,   1,   1,   4,   0,   1,   0,   0,   0,   3,   0,   0,   0,   2,   1,   3,   0,
    1,   0,   0,   0,   64,  0,   0,   0,   3,   1,   3,   0,   1,   0,   0,   0,   1,   0,   0,
    0,   6,   1,   3,   0,   1,   0,   0,   0,   1,   0,   0,   0,   17,  1,   4,   0,   1,   0,
    0,   0,   224, 0,   0,   0,   21,  1,   3,   0,   1,   0,   0,   0,   1,   0,   0,   0,   22,
    1,   4,   0,   1,   0,   0,   0,   3,   0,   0,   0,   23,  1,   4,   0,   1,   0,   0,   0,
    120, 0,   0,   0,   26,  1,   5,   0,   1,   0,   0,   0,   182, 0,   0,   0,   27,  1,   5,
    0,   1,   0,   0,   0,   190, 0,   0,   0,   40,  1,   3,   0,   1,   0,   0,   0,   1,   0,
    0,   0,   49,  1,   2,   0,   12,  0,   0,   0,   198, 0,   0,   0,   83,  1,   3,   0,   1,
    0,   0,   0,   3,   0,   0,   0,   208, 1,   0,   0,   1,   0,   0,   0,   1,   0,   0,   0,
    1,   0,   0,   0,   1,   0,   0,   0,   116, 105, 102, 102, 102, 105, 108, 101, 46,  112, 121,
    0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,
    0,   0,   0,   0,   154, 153, 153, 153, 153, 153, 185, 63,  154, 153, 153, 153, 153, 153, 201,
    63,  52,  51,  51,  51,  51,  51,  211, 63,  154, 153, 153, 153, 153, 153, 217, 63,  85,  85,
    85,  85,  85,  85,  213, 191, 221, 221, 221, 221, 221, 221, 205, 191, 16,  17,  17,  17,  17,
    17,  193, 191, 8,   17,  17,  17,  17,  17,  161, 191, 20,  17,  17,  17,  17,  17,  177, 63,
    85,  85,  85,  85,  85,  85,  229, 191, 34,  34,  34,  34,  34,  34,  226, 191, 221, 221, 221,
    221, 221, 221, 221, 191, 118, 119, 119, 119, 119, 119, 215, 191, 16,  17,  17,  17,  17,  17,
    209, 191, 0,   0,   0,   0,   0,   0,   0,   128, 154, 153, 153, 153, 153, 153, 185, 191, 154,
    153, 153, 153, 153, 153, 201, 191, 52,  51,  51,  51,  51,  51,  211, 191, 154, 153, 153, 153,
    153, 153, 217, 191, 85,  85,  85,  85,  85,  85,  213, 63,  221, 221, 221, 221, 221, 221, 205,
    63,  16,  17,  17,  17,  17,  17,  193, 63,  8,   17,  17,  17,  17,  17,  161, 63,  20,  17,
    17,  17,  17,  17,  177, 191, 85,  85,  85,  85,  85,  85,  229, 63,  34,  34,  34,  34,  34,
    34,  226, 63,  221, 221, 221, 221, 221, 221, 221, 63,  118, 119, 119, 119, 119, 119, 215, 63,
    16,  17,  17,  17,  17,  17,  209, 63,  13,  0,   0,   1,   4,   0,   1,   0,   0,   0,   5,
    0,   0,   0,   1,   1,   4,   0,   1,   0,   0,   0,   3,   0,   0,   0,   2,   1,   3,   0,
    1,   0,   0,   0,   64,  0,   0,   0,   3,   1,   3,   0,   1,   0,   0,   0,   1,   0,   0,
    0,   6,   1,   3,   0,   1,   0,   0,   0,   1,   0,   0,   0,   17,  1,   4,   0,   1,   0,
    0,   0,   88,  1,   0,   0,   21,  1,   3,   0,   1,   0,   0,   0,   1,   0,   0,   0,   22,
    1,   4,   0,   1,   0,   0,   0,   3,   0,   0,   0,   23,  1,   4,   0,   1,   0,   0,   0,
    120, 0,   0,   0,   26,  1,   5,   0,   1,   0,   0,   0,   114, 2,   0,   0,   27,  1,   5,
    0,   1,   0,   0,   0,   122, 2,   0,   0,   40,  1,   3,   0,   1,   0,   0,   0,   1,   0,
    0,   0,   83,  1,   3,   0,   1,   0,   0,   0,   3,   0,   0,   0,   0,   0,   0,   0,   1,
    0,   0,   0,   1,   0,   0,   0,   1,   0,   0,   0,   1,   0,   0,   0};
static const uint8_t tiff_doubles_big[] = {
    77,  77,  0,   42,  0,   0,   0,   8,   0,   15,  1,   0,   0,   4,   0,   0,   0,   1,   0,
    0,   0,   11,  1,   1,   0,   4,   0,   0,   0,   1,   0,   0,   0,   5,   1,   2,   0,   3,
    0,   0,   0,   1,   0,   64,  0,   0,   1,   3,   0,   3,   0,   0,   0,   1,   0,   8,   0,
    0,   1,   6,   0,   3,   0,   0,   0,   1,   0,   1,   0,   0,   1,   21,  0,   3,   0,   0,
    0,   1,   0,   1,   0,   0,   1,   26,  0,   5,   0,   0,   0,   1,   0,   0,   0,   194, 1,
    27,  0,   5,   0,   0,   0,   1,   0,   0,   0,   202, 1,   40,  0,   3,   0,   0,   0,   1,
    0,   1,   0,   0,   1,   49,  0,   2,   0,   0,   0,   12,  0,   0,   0,   210, 1,   66,  0,
    4,   0,   0,   0,   1,   0,   0,   0,   16,  1,   67,  0,   4,   0,   0,   0,   1,   0,   0,
    0,   16,  1,   68,  0,   4,   0,   0,   0,   1,   0,   0,   0,   224, 1,   69,  0,   4,   0,
    0,   0,   1,   0,   0,   0,   246, 1,   83,  0,   3,   0,   0,   0,   1,   0,   3,   0,   0,
    0,   0,   0,   0,   0,   0,   0,   1,   0,   0,   0,   1,   0,   0,   0,   1,   0,   0,   0,
    1,   116, 105, 102, 102, 102, 105, 108, 101, 46,  112, 121, 0,   0,   0,   120, 156, 237, 145,
    49,  78,  2,   81,  16,  134, 183, 164, 148, 224, 1,   12,  71,  96,  233, 167, 208, 35,  172,
    28,  1,   110, 160, 225, 6,   28,  1,   232, 108, 237, 182, 4,   139, 63,  91,  88,  108, 2,
    197, 198, 108, 8,   49,  27,  22,  20,  136, 70,  147, 141, 196, 222, 188, 153, 255, 0,   110,
    67,  245, 190, 102, 50,  239, 205, 188, 249, 223, 63,  65,  96,  200, 108, 226, 152, 74,  202,
    248, 18,  58,  186, 178, 102, 94,  178, 238, 141, 231, 135, 190, 99,  32,  31,  188, 255, 90,
    56,  150, 82,  5,   181, 64,  126, 171, 96,  89,  40,  72,  154, 142, 11,  60,  104, 108, 72,
    172, 241, 82,  158, 181, 172, 39,  153, 230, 45,  89,  221, 59,  134, 98,  109, 27,  217, 181,
    21,  217, 91,  221, 191, 231, 239, 57,  159, 253, 40,  168, 195, 222, 191, 67,  70,  61,  54,
    63,  66,  76,  93,  166, 239, 74,  18,  234, 51,  253, 165, 228, 53,  231, 211, 47,  208, 63,
    208, 79,  152, 191, 125, 152, 223, 33,  74,  214, 217, 62,  198, 176, 253, 116, 144, 50,  183,
    253, 141, 107, 153, 239, 222, 251, 229, 255, 79,  79,  10,  126, 232, 67,  53,  82,  240, 77,
    63,  62,  31,  21,  28,  233, 203, 251, 141, 227, 26,  91,  250, 243, 170, 237, 115, 238, 51,
    170, 171, 195, 227, 241, 120, 60,  231, 229, 15,  126, 185, 195, 95};
static const uint8_t tiff_bits_white[] = {
    73,  73, 42, 0,   8,  0,   0,   0,   12,  0,   0,   1,   4,   0,   1,  0,   0,   0, 11, 0,  0,
    0,   1,  1,  4,   0,  1,   0,   0,   0,   5,   0,   0,   0,   3,   1,  3,   0,   1, 0,  0,  0,
    1,   0,  0,  0,   6,  1,   3,   0,   1,   0,   0,   0,   0,   0,   0,  0,   17,  1, 4,  0,  1,
    0,   0,  0,  192, 0,  0,   0,   21,  1,   3,   0,   1,   0,   0,   0,  1,   0,   0, 0,  22, 1,
    4,   0,  1,  0,   0,  0,   5,   0,   0,   0,   23,  1,   4,   0,   1,  0,   0,   0, 10, 0,  0,
    0,   26, 1,  5,   0,  1,   0,   0,   0,   158, 0,   0,   0,   27,  1,  5,   0,   1, 0,  0,  0,
    166, 0,  0,  0,   40, 1,   3,   0,   1,   0,   0,   0,   1,   0,   0,  0,   49,  1, 2,  0,  12,
    0,   0,  0,  174, 0,  0,   0,   0,   0,   0,   0,   1,   0,   0,   0,  1,   0,   0, 0,  1,  0,
    0,   0,  1,  0,   0,  0,   116, 105, 102, 102, 102, 105, 108, 101, 46, 112, 121, 0, 0,  0,  0,
    0,   0,  0,  146, 64, 146, 64,  146, 64,  146, 64,  146, 64};

enum { WIDE = 11, HIGH = 5 };

static const char *at(const char *name) {
  static char path[4][256];
  static int turn;
  turn = (turn + 1) % 4;
  snprintf(path[turn], sizeof path[turn], "%s/%s", tl_test_folder(), name);
  return path[turn];
}

static const char *spill(const char *name, const uint8_t *bytes, size_t size) {
  const char *path = at(name);
  FILE *file = fopen(path, "wb");
  ck_assert(file && fwrite(bytes, 1, size, file) == size && fclose(file) == 0);
  return path;
}
#define SPILL(name, bytes) spill(name, bytes, sizeof bytes)

static double grey_8(int64_t x, int64_t y) {
  return (double)((7 * x + 31 * y) % 256);
}
static double grey_16(int64_t x, int64_t y) {
  return (double)(257 * x + 4099 * y);
}
static double bit(int64_t x, int64_t y) {
  return (x * x + 3 * y) % 3 == 0;
}
static double turned_bit(int64_t x, int64_t y) {
  return 1 - bit(x, y);
}
static double real(int64_t x, int64_t y) {
  return (double)(float)(0.1 * (double)x - (double)y / 3);
}

static void check(const char *path, TlVoxelType type, const int64_t size[3],
                  double (*value)(int64_t x, int64_t y)) {
  TlVolume v;
  CK_OK(tl_stack_read(path, NULL, NULL, &v));
  ck_assert_int_eq(v.type, type);
  ck_assert(v.nx == size[0] && v.ny == size[1] && v.nz == size[2]);
  for (int64_t i = 0; i < tl_volume_count(&v); i++) {
    int64_t x = i % v.nx, y = i / v.nx % v.ny, z = i / (v.nx * v.ny);
    double want = z % 2 ? -value(x, y) : value(x, y), got = tl_volume_value(&v, i);
    ck_assert_msg(got == want, "%s: %.9g at %d, %d, %d, not %.9g", path, got, (int)x, (int)y,
                  (int)z, want);
  }
  ck_assert(v.voxel_m[0] == 0);
  tl_volume_free(&v);
}

static const int64_t flat[3] = {WIDE, HIGH, 1};

START_TEST(grey_pngs_of_another_program_are_read_exactly) {
  check(SPILL("a.png", png_grey_8), TL_U8, flat, grey_8);
  check(SPILL("b.png", png_grey_16), TL_U16, flat, grey_16);
  check(SPILL("c.png", png_bits), TL_U8, flat, bit);
  check(SPILL("no_extension", png_grey_8), TL_U8, flat, grey_8); /* by content, not by name */
}
END_TEST

START_TEST(colour_pngs_are_refused_with_what_to_do) {
  TlVolume v;
  CK_FAILS(tl_stack_read(SPILL("d.png", png_rgb), NULL, NULL, &v), TL_EINPUT,
           "d.png: holds colour");
  CK_FAILS(tl_stack_read(SPILL("e.png", png_alpha), NULL, NULL, &v), TL_EINPUT, "transparency");
  CK_FAILS(tl_stack_read(SPILL("f.png", png_palette), NULL, NULL, &v), TL_EINPUT,
           "a palette of colours, not one grey value a pixel; save it as 8- or 16-bit grey");
}
END_TEST

START_TEST(bits_of_another_program_are_a_mask) {
  check(SPILL("a.tif", tiff_bits), TL_U8, flat, bit);
  check(SPILL("b.tif", tiff_bits_fax), TL_U8, flat, bit);
  check(SPILL("c.tif", tiff_bits_white), TL_U8, flat, turned_bit); /* white is zero */
}
END_TEST

START_TEST(doubles_of_another_program_are_read_as_floats) {
  check(SPILL("a.tif", tiff_doubles), TL_F32, (const int64_t[]){5, 3, 2}, real);
  check(SPILL("b.tif", tiff_doubles_big), TL_F32, flat, real);
}
END_TEST

START_TEST(a_folder_of_pngs_is_a_stack) {
  mkdir(at("pngs"), 0777);
  for (int z = 8; z < 11; z++) { /* s_9 before s_10 */
    char name[32];
    snprintf(name, sizeof name, "pngs/s_%d.png", z);
    SPILL(name, png_grey_16);
  }
  TlLayers layers;
  uint16_t one[WIDE * HIGH];
  CK_OK(tl_stack_open(at("pngs"), NULL, NULL, &layers));
  ck_assert(layers.head.nz == 3 && layers.head.type == TL_U16);
  CK_OK(tl_layers_read(&layers, 2, 1, one));
  ck_assert_int_eq(one[2 * WIDE + 3], 257 * 3 + 4099 * 2);
  tl_layers_close(&layers);
  CK_OK(tl_stack_open(at("pngs/s_%d.png"), NULL, NULL, &layers));
  ck_assert(layers.head.nz == 3);
  tl_layers_close(&layers);
  SPILL("pngs/s_11.png", png_grey_8);
  CK_FAILS(tl_stack_open(at("pngs"), NULL, NULL, &layers), TL_EINPUT,
           "s_11.png: u8 pixels, but s_8.png has u16");
  SPILL("pngs/s_11.png", png_rgb);
  CK_FAILS(tl_stack_open(at("pngs"), NULL, NULL, &layers), TL_EINPUT, "s_11.png: holds colour");
  remove(at("pngs/s_11.png"));
  SPILL("pngs/s_1.tif", tiff_bits); /* the one TIFF is the stack then, with a warning */
  CK_OK(tl_stack_open(at("pngs"), NULL, NULL, &layers));
  ck_assert(layers.head.nz == 1 && layers.head.type == TL_U8);
  tl_layers_close(&layers);
}
END_TEST

START_TEST(bits_and_bytes_are_not_mixed_in_one_stack) {
  TlLayers layers;
  mkdir(at("mixed"), 0777);
  SPILL("mixed/m_1.png", png_bits);
  SPILL("mixed/m_2.png", png_grey_8);
  CK_FAILS(tl_stack_open(at("mixed"), NULL, NULL, &layers), TL_EINPUT,
           "m_2.png: u8 pixels, but m_1.png has 1-bit");
}
END_TEST

/* By libpng, for Pillow writes none. */
START_TEST(interlaced_pngs_are_read) {
  FILE *file = fopen(at("i.png"), "wb");
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
  png_infop info = png_create_info_struct(png);
  uint8_t voxels[HIGH][WIDE], *rows[HIGH];
  for (int y = 0; y < HIGH; y++) {
    rows[y] = voxels[y];
    for (int x = 0; x < WIDE; x++) voxels[y][x] = (uint8_t)grey_8(x, y);
  }
  png_init_io(png, file);
  png_set_IHDR(png, info, WIDE, HIGH, 8, PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_ADAM7, 0, 0);
  png_write_info(png, info);
  png_write_image(png, rows);
  png_write_end(png, info);
  png_destroy_write_struct(&png, &info);
  ck_assert(fclose(file) == 0);
  check(at("i.png"), TL_U8, flat, grey_8);
}
END_TEST

/* Cut anywhere, and with any byte changed: an error that names the file, or the same picture (a
 * byte that says nothing about it); never another one. */
START_TEST(damaged_pngs_are_errors_by_name) {
  for (size_t size = 0; size < sizeof png_grey_8; size++) {
    TlVolume v;
    TlStatus status = tl_stack_read(spill("cut.png", png_grey_8, size), NULL, NULL, &v);
    ck_assert_msg(status != TL_OK, "read with %zu bytes of %zu", size, sizeof png_grey_8);
    ck_assert_msg(strstr(tl_message(), "cut.png") != NULL, "%s", tl_message());
  }
  for (size_t i = 0; i < sizeof png_grey_8; i++) {
    uint8_t bytes[sizeof png_grey_8];
    memcpy(bytes, png_grey_8, sizeof bytes);
    bytes[i] ^= 0x5a;
    const char *path = SPILL("flipped.png", bytes);
    TlVolume v;
    TlStatus status = tl_stack_read(path, NULL, NULL, &v);
    if (status != TL_OK) continue;
    tl_volume_free(&v);
    check(path, TL_U8, flat, grey_8);
  }
}
END_TEST

START_TEST(a_size_that_the_file_cannot_hold_is_told_before_memory_is_taken) {
  uint8_t bytes[sizeof png_grey_8];
  TlVolume v;
  memcpy(bytes, png_grey_8, sizeof bytes);
  bytes[17] = bytes[21] = 1; /* 65,547 x 65,541 */
  /* of the header's 17 bytes */
  const uint8_t crc[4] = {225, 194, 5, 123};
  memcpy(bytes + 29, crc, 4);
  CK_FAILS(tl_stack_read(SPILL("huge.png", bytes), NULL, NULL, &v), TL_EINPUT,
           "65547 x 65541 pixels cannot lie in 76 bytes");
}
END_TEST

START_TEST(raw_doubles_are_read_as_floats) {
  double wide[24];
  TlVolume v;
  for (int i = 0; i < 24; i++) wide[i] = i / 7.0 - 1;
  spill("doubles.raw", (const uint8_t *)wide, sizeof wide);
  TlStackOptions options = {.raw = "4,3,2,f64,little"};
  CK_OK(tl_stack_read(at("doubles.raw"), &options, NULL, &v));
  ck_assert(v.type == TL_F32 && v.nx == 2 && v.ny == 3 && v.nz == 4);
  for (int i = 0; i < 24; i++) ck_assert(v.f32[i] == (float)wide[i]);
  tl_volume_free(&v);
  options.raw = "4,3,2,f32,little";
  CK_FAILS(tl_stack_read(at("doubles.raw"), &options, NULL, &v), TL_EINPUT, "192 bytes");
}
END_TEST

TL_TEST_MAIN("pictures", grey_pngs_of_another_program_are_read_exactly,
             colour_pngs_are_refused_with_what_to_do, bits_of_another_program_are_a_mask,
             doubles_of_another_program_are_read_as_floats, a_folder_of_pngs_is_a_stack,
             bits_and_bytes_are_not_mixed_in_one_stack, interlaced_pngs_are_read,
             damaged_pngs_are_errors_by_name,
             a_size_that_the_file_cannot_hold_is_told_before_memory_is_taken,
             raw_doubles_are_read_as_floats)
