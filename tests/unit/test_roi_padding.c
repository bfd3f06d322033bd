/* Constant padding of any shape: the region is what it leaves, and stacks without padding keep all
 * their voxels. */
#include "support/sand.h"
#include "support/tltest.h"

#include "base/log.h"
#include "base/mem.h"
#include "image/binarize.h"
#include "image/roi.h"

#include <stdbool.h>

__attribute__((constructor)) static void be_quiet(void) {
  tl_log_set("test", TL_LOG_ERROR);
}

enum { SIDE = 76, HIGH = 40 };

typedef bool (*Shape)(double x, double y, double z); /* from the middle, in parts of the side */

static bool disc(double x, double y, double z) {
  (void)z;
  return x * x + y * y < 0.46 * 0.46;
}
static bool turned_square(double x, double y, double z) {
  double u = 0.866 * x + 0.5 * y, v = 0.866 * y - 0.5 * x;
  (void)z;
  return fabs(u) < 0.36 && fabs(v) < 0.36;
}
static bool ellipse(double x, double y, double z) {
  (void)z;
  return x * x / (0.48 * 0.48) + y * y / (0.34 * 0.34) < 1;
}
static bool pentagon(double x, double y, double z) {
  (void)z;
  for (int k = 0; k < 5; k++)
    if (x * cos(1.2566 * k + 0.2) + y * sin(1.2566 * k + 0.2) > 0.38) return false;
  return true;
}
static bool corner_cut_off(double x, double y, double z) {
  (void)z;
  return x + y < 0.5;
}
static bool leaning_square(double x, double y, double z) {
  return turned_square(x + 0.15 * z, y, z);
}
static bool layers(double x, double y, double z) {
  (void)x, (void)y;
  return fabs(z) < 0.2;
}
static bool everything(double x, double y, double z) {
  (void)x, (void)y, (void)z;
  return true;
}

static bool inside(Shape shape, int64_t i) {
  const double middle = 0.5 * (SIDE - 1);
  double x = (double)(i % SIDE), y = (double)(i / SIDE % SIDE), z = (double)(i / SIDE / SIDE);
  return shape((x - middle) / SIDE, (y - middle) / SIDE, (z - 0.5 * (HIGH - 1)) / SIDE);
}

/* Sand with noise of 6, as 8 bits; clip: greys are stretched so that this and darker ones are 0. */
static void make(Shape shape, double clip, uint8_t outside, TlVolume *v) {
  CK_OK(tl_volume_new(v, TL_U8, SIDE, SIDE, HIGH));
  for (int64_t i = 0; i < tl_volume_count(v); i++) {
    double g = sand_grey(i % SIDE, i / SIDE % SIDE, i / SIDE / SIDE);
    g = (g + sand_noise(g, 6, 3, i) - clip) * 255 / (255 - clip);
    v->u8[i] = inside(shape, i) ? (uint8_t)fmin(fmax(rint(g), 0), 255) : outside;
  }
}

static TlRoi found(const TlVolume *v) {
  TlLayers layers_of_v;
  TlRoi roi;
  int file;
  tl_layers_of(v, &layers_of_v);
  CK_OK(tl_roi_parse("auto", &layers_of_v, &roi, &file));
  return roi;
}

static double dice(const TlVolume *v, const TlRoi *roi, Shape shape) {
  TlVolume mask;
  TlBinarizeResult r;
  TlBinarizeOptions o = {.method = TL_BINARIZE_HMRF_EM, .hmrf = TL_HMRF_DEFAULTS};
  double both = 0, sum = 0;
  CK_OK(tl_binarize(v, roi, &o, &mask, &r));
  for (int64_t i = 0; i < tl_volume_count(&mask); i++) {
    bool grain = inside(shape, i) && sand_field(i % SIDE, i / SIDE % SIDE, i / SIDE / SIDE) > 0;
    both += mask.u8[i] && grain;
    sum += mask.u8[i] + grain;
  }
  tl_volume_free(&mask);
  return 2 * both / sum;
}

/* No voxel of the specimen is lost (but for void beside the padding that has its value by chance),
 * and little of the padding is left in (tips narrower than 3 voxels). */
static void check_region(const TlRoi *roi, Shape shape) {
  int64_t lost = 0, left = 0, outside = 0;
  ck_assert_int_eq(roi->kind, TL_ROI_MASK);
  for (int64_t i = 0; i < (int64_t)SIDE * SIDE * HIGH; i++) {
    bool in = inside(shape, i);
    bool taken = tl_roi_inside(roi, i % SIDE, i / SIDE % SIDE, i / SIDE / SIDE);
    lost += in && !taken;
    left += !in && taken;
    outside += !in;
  }
  ck_assert_msg(lost < outside / 500 && left < outside / 200, "%lld lost, %lld left of %lld",
                (long long)lost, (long long)left, (long long)outside);
}

START_TEST(padding_of_any_shape_and_grey_is_left_out) {
  static const Shape shapes[] = {turned_square, ellipse,        pentagon,
                                 layers,        leaning_square, corner_cut_off};
  for (int k = 0; k < 12; k++) {
    TlVolume v;
    char text[160];
    uint8_t grey = k % 2 ? 37 : 0;
    make(shapes[k / 2], 0, grey, &v);
    TlRoi roi = found(&v);
    check_region(&roi, shapes[k / 2]);
    tl_roi_describe(&roi, text, sizeof text);
    ck_assert(
        strstr(text, grey ? "constant voxels of grey 37 at" : "constant voxels of grey 0 at"));
    tl_roi_free(&roi);
    tl_volume_free(&v);
  }
}
END_TEST

/* The disc's grains differ a little from the shapes': .002 between two discs. */
START_TEST(masks_are_as_good_as_a_disc_s) {
  static const Shape shapes[] = {turned_square, ellipse, pentagon};
  double best = 0;
  for (int k = -1; k < 3; k++) {
    Shape shape = k < 0 ? disc : shapes[k];
    TlVolume v;
    make(shape, 0, k == 1 ? 37 : 0, &v);
    TlRoi roi = found(&v);
    ck_assert_int_eq(roi.kind, k < 0 ? TL_ROI_CYLINDER : TL_ROI_MASK);
    double d = dice(&v, &roi, shape);
    ck_assert_msg(k < 0 || d > best - 0.005, "shape %d: Dice %.4f, the disc's %.4f", k, d, best);
    if (k < 0) best = d;
    tl_roi_free(&roi);
    tl_volume_free(&v);
  }
}
END_TEST

/* 8-bit scans are often stretched so that void is cut off at 0, as the padding is. */
START_TEST(padding_is_found_where_void_is_as_black) {
  TlVolume v;
  make(turned_square, 92, 0, &v);
  TlRoi roi = found(&v);
  int64_t lost = 0, in = 0;
  ck_assert_int_eq(roi.kind, TL_ROI_MASK);
  for (int64_t i = 0; i < tl_volume_count(&v); i++) {
    bool taken = tl_roi_inside(&roi, i % SIDE, i / SIDE % SIDE, i / SIDE / SIDE);
    in += inside(turned_square, i);
    lost += inside(turned_square, i) && !taken;
    ck_assert(!taken || inside(turned_square, i) || v.u8[i] == 0);
  }
  ck_assert_msg(lost < in / 50, "%lld of %lld lost", (long long)lost, (long long)in);
  tl_roi_free(&roi);
  tl_volume_free(&v);
}
END_TEST

static void check_whole(const TlVolume *v, const char *what) {
  TlRoi roi = found(v);
  ck_assert_msg(roi.kind == TL_ROI_ALL, "%s: a region of kind %d", what, roi.kind);
  tl_roi_free(&roi);
}

START_TEST(stacks_without_padding_keep_every_voxel) {
  TlVolume v;
  make(everything, 0, 0, &v);
  check_whole(&v, "sand");
  tl_volume_free(&v);
  make(everything, 110, 0, &v); /* all void is 0: pores at corners are constant */
  check_whole(&v, "black pores");
  for (int64_t i = 0; i < tl_volume_count(&v); i++)
    v.u8[i] = (uint8_t)(v.u8[i] > 60 ? 255 : v.u8[i]);
  check_whole(&v, "white grains");
  for (int64_t i = 0; i < tl_volume_count(&v); i++) v.u8[i] = v.u8[i] > 60;
  check_whole(&v, "a mask");
  tl_volume_free(&v);
}
END_TEST

/* Void around few grains is void, be it as constant as it may. */
START_TEST(constant_void_around_grains_is_no_padding) {
  TlVolume v, labels;
  CK_OK(tl_volume_new(&v, TL_U8, SIDE, SIDE, HIGH));
  CK_OK(tl_volume_new(&labels, TL_U32, SIDE, SIDE, HIGH));
  for (int64_t i = 0; i < tl_volume_count(&v); i++) {
    double x = fabs((double)(i % SIDE) - 38) - 14, y = (double)(i / SIDE % SIDE) - 38;
    double d = hypot(hypot(x, y), (double)(i / SIDE / SIDE) - 20);
    v.u8[i] = (uint8_t)rint(160 / (1 + exp(2 * (d - 15)))); /* two balls with blurred edges */
    labels.u32[i] = d < 15 ? (uint32_t)(i % 40) + 1 : 0;
  }
  check_whole(&v, "two balls");
  check_whole(&labels, "labels");
  for (int64_t i = 0; i < tl_volume_count(&v); i++) v.u8[i] = v.u8[i] > 80;
  check_whole(&v, "the mask of the balls");
  tl_volume_free(&v);
  tl_volume_free(&labels);
}
END_TEST

TL_TEST_MAIN("roi_padding", padding_of_any_shape_and_grey_is_left_out,
             masks_are_as_good_as_a_disc_s, padding_is_found_where_void_is_as_black,
             stacks_without_padding_keep_every_voxel, constant_void_around_grains_is_no_padding)
