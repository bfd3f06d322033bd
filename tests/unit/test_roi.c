#include "support/tltest.h"

#include <stdbool.h>

#include "base/log.h"
#include "base/random.h"
#include "image/roi.h"
#include "image/source.h"
#include "num/volume.h"

static const TlLayers *of(const TlVolume *v) {
  static TlLayers layers;
  tl_layers_of(v, &layers);
  return &layers;
}

/* Blobs of about 9 voxels: a smooth random field cut at 0, so that about half is grain. */
static double sand(int64_t x, int64_t y, int64_t z) {
  double u = 0.35 * (double)x, v = 0.35 * (double)y, w = 0.35 * (double)z;
  double f = sin(u + 1.3 * sin(0.7 * v)) + sin(1.1 * v + 1.7 * sin(0.6 * w)) +
             sin(0.9 * w + 1.5 * sin(0.8 * u));
  return f > 0 ? 160 : 90;
}

typedef struct Scene {
  double x, y, r, wall; /* wall thickness, 0: none; r <= 0: sand everywhere */
  double noise, outside;
} Scene;

static void make(TlVolume *v, const Scene *s) {
  CK_OK(tl_volume_new(v, TL_U8, 110, 100, 40));
  for (int64_t z = 0; z < v->nz; z++)
    for (int64_t y = 0; y < v->ny; y++)
      for (int64_t x = 0; x < v->nx; x++) {
        int64_t i = tl_volume_at(v, x, y, z);
        double d = hypot((double)x - s->x, (double)y - s->y), g = sand(x, y, z);
        bool air = s->r > 0 && d > s->r + s->wall;
        if (s->r > 0 && d > s->r) g = air ? s->outside : 220;
        if (!air || s->outside > 0) g += s->noise * tl_random_normal(5, 0, (uint64_t)i);
        v->u8[i] = (uint8_t)fmin(fmax(rint(g), 0), 255);
      }
}

static TlRoi found(const Scene *s) {
  TlVolume v;
  TlRoi roi;
  int file;
  make(&v, s);
  CK_OK(tl_roi_parse("auto", of(&v), &roi, &file));
  ck_assert_int_eq(file, 0);
  tl_volume_free(&v);
  return roi;
}

START_TEST(sand_that_fills_the_square_is_the_whole_stack) {
  TlRoi roi = found(&(Scene){.noise = 12});
  ck_assert_int_eq(roi.kind, TL_ROI_ALL);
}
END_TEST

START_TEST(disc_in_black_is_found_within_a_voxel) {
  TlRoi roi = found(&(Scene){.x = 56.3, .y = 47.8, .r = 41, .noise = 12});
  ck_assert_int_eq(roi.kind, TL_ROI_CYLINDER);
  CK_NEAR(roi.x, 56.3, 1);
  CK_NEAR(roi.y, 47.8, 1);
  CK_NEAR(roi.r, 41, 1);
}
END_TEST

START_TEST(bright_wall_and_noisy_air_stay_outside) {
  TlRoi roi = found(&(Scene){.x = 54, .y = 50, .r = 38, .wall = 6, .noise = 12, .outside = 40});
  ck_assert_int_eq(roi.kind, TL_ROI_CYLINDER);
  CK_NEAR(roi.x, 54, 1);
  CK_NEAR(roi.y, 50, 1);
  CK_NEAR(roi.r, 38, 1); /* the wall begins at 38 and ends at 44 */
}
END_TEST

START_TEST(disc_cut_by_the_square_is_found) {
  TlRoi roi = found(&(Scene){.x = 55, .y = 50, .r = 56, .noise = 8});
  ck_assert_int_eq(roi.kind, TL_ROI_CYLINDER);
  CK_NEAR(roi.r, 56, 1.5);
}
END_TEST

START_TEST(rectangle_in_black_is_no_disc_but_what_is_not_black) {
  TlVolume v;
  TlRoi roi;
  int file;
  make(&v, &(Scene){.noise = 8});
  for (int64_t i = 0; i < tl_volume_count(&v); i++) {
    int64_t x = i % v.nx, y = i / v.nx % v.ny;
    if (x < 12 || x >= 98 || y < 12 || y >= 88) v.u8[i] = 0;
  }
  tl_log_set("test", TL_LOG_ERROR);
  CK_OK(tl_roi_parse("auto", of(&v), &roi, &file));
  ck_assert_int_eq(roi.kind, TL_ROI_MASK);
  ck_assert_int_eq(roi.padding, (110 * 100 - 86 * 76) * 40);
  ck_assert(tl_roi_inside(&roi, 12, 12, 0) && !tl_roi_inside(&roi, 11, 50, 39));
  tl_roi_free(&roi);
  for (int64_t i = 0; i < tl_volume_count(&v);
       i++) /* air: not constant, so not known for padding */
    if (v.u8[i] == 0) v.u8[i] = (uint8_t)rint(40 + 8 * tl_random_normal(9, 0, (uint64_t)i));
  CK_OK(tl_roi_parse("auto", of(&v), &roi, &file));
  ck_assert_int_eq(roi.kind, TL_ROI_ALL);
  tl_volume_free(&v);
}
END_TEST

START_TEST(text_forms_are_read_strictly) {
  TlVolume v;
  TlRoi roi;
  int file;
  char text[80];
  CK_OK(tl_volume_new(&v, TL_U8, 20, 30, 4));
  CK_OK(tl_roi_parse("cylinder:10,12.5,8", of(&v), &roi, &file));
  tl_roi_describe(&roi, text, sizeof text);
  ck_assert_str_eq(text, "cylinder x 10.0 y 12.5 r 8.0 voxels");
  ck_assert(tl_roi_inside(&roi, 10, 20, 3) && !tl_roi_inside(&roi, 10, 21, 3));
  CK_FAILS(tl_roi_parse("cylinder:10,12.5", of(&v), &roi, &file), TL_EUSAGE, "cylinder:X,Y,R");
  CK_FAILS(tl_roi_parse("cylinder:1,2,3x", of(&v), &roi, &file), TL_EUSAGE, "cylinder:X,Y,R");
  CK_FAILS(tl_roi_parse("cylinder:1,2,-3", of(&v), &roi, &file), TL_EUSAGE, "radius");
  CK_FAILS(tl_roi_parse("cylinder:90,90,5", of(&v), &roi, &file), TL_EUSAGE, "outside");
  CK_OK(tl_roi_parse("none", of(&v), &roi, &file));
  memcpy(v.cylinder, (double[]){-3, 5, 4}, sizeof v.cylinder); /* the stack's own */
  CK_OK(tl_roi_parse("auto", of(&v), &roi, &file));
  ck_assert(roi.kind == TL_ROI_CYLINDER && roi.x == -3 && roi.r == 4);
  v.cylinder[2] = 2;
  CK_FAILS(tl_roi_parse("auto", of(&v), &roi, &file), TL_EINPUT, "outside its slices");
  CK_OK(tl_roi_parse("none", of(&v), &roi, &file));
  ck_assert_int_eq(roi.kind, TL_ROI_ALL);
  CK_OK(tl_roi_parse("mask.tif", of(&v), &roi, &file));
  ck_assert_int_eq(file, 1);
  tl_volume_free(&v);
}
END_TEST

START_TEST(mask_must_fit_and_hold_something) {
  TlVolume v, m;
  TlRoi roi;
  CK_OK(tl_volume_new(&v, TL_U8, 5, 6, 7));
  CK_OK(tl_volume_new(&m, TL_U16, 5, 6, 7));
  CK_FAILS(tl_roi_from_mask(of(&m), &v, &roi), TL_EINPUT, "0 everywhere");
  m.u16[tl_volume_at(&m, 1, 2, 3)] = 400;
  CK_OK(tl_roi_from_mask(of(&m), &v, &roi));
  ck_assert(tl_roi_inside(&roi, 1, 2, 3) && !tl_roi_inside(&roi, 1, 2, 4));
  tl_roi_free(&roi);
  m.nz = 6;
  CK_FAILS(tl_roi_from_mask(of(&m), &v, &roi), TL_EINPUT, "must be equal");
  tl_volume_free(&m);
  tl_volume_free(&v);
}
END_TEST

/* The layers of a slab have the region that they have in the stack. */
START_TEST(part_of_a_mask_is_the_mask_there) {
  enum { NX = 5, NY = 7, NZ = 11 };
  TlVolume m;
  TlRoi roi, part;
  TlRandom r = {17, 0, 0};
  CK_OK(tl_volume_new(&m, TL_U8, NX, NY, NZ));
  for (int64_t i = 0; i < tl_volume_count(&m); i++) m.u8[i] = tl_random_next(&r) < 0.5;
  CK_OK(tl_roi_from_mask(of(&m), &m, &roi));
  for (int64_t z = 0; z < NZ; z++) {
    int64_t layers = NZ - z < 3 ? NZ - z : 3;
    CK_OK(tl_roi_part(&roi, z, layers, &part));
    for (int64_t i = 0; i < NX * NY * layers; i++)
      ck_assert_int_eq(tl_roi_inside(&part, i % NX, i / NX % NY, i / NX / NY),
                       m.u8[NX * NY * z + i]);
    tl_roi_free(&part);
  }
  tl_roi_free(&roi);
  tl_volume_free(&m);
}
END_TEST

TL_TEST_MAIN("roi", sand_that_fills_the_square_is_the_whole_stack,
             disc_in_black_is_found_within_a_voxel, bright_wall_and_noisy_air_stay_outside,
             disc_cut_by_the_square_is_found, rectangle_in_black_is_no_disc_but_what_is_not_black,
             text_forms_are_read_strictly, mask_must_fit_and_hold_something,
             part_of_a_mask_is_the_mask_there)
