#include "support/tltest.h"
#include "oracle/itk_oracles.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/par.h"
#include "base/random.h"
#include "itk/itk.h"

#include <stdio.h>

static void random_mask(TlVolume *mask, int64_t nx, int64_t ny, int64_t nz, double solid) {
  CK_OK(tl_volume_new(mask, TL_U8, nx, ny, nz));
  for (int64_t i = 0; i < tl_volume_count(mask); i++)
    mask->u8[i] = tl_random_uniform(7, 1, (uint64_t)i) < solid;
}

/* Squared distance of voxel i to the nearest void voxel, by looking at all of them. */
static int64_t nearest_void(const TlVolume *mask, int64_t i) {
  int64_t best = INT64_MAX, x = i % mask->nx, y = i / mask->nx % mask->ny,
          z = i / mask->nx / mask->ny;
  for (int64_t c = 0; c < mask->nz; c++)
    for (int64_t b = 0; b < mask->ny; b++)
      for (int64_t a = 0; a < mask->nx; a++) {
        if (mask->u8[tl_volume_at(mask, a, b, c)]) continue;
        int64_t d = (a - x) * (a - x) + (b - y) * (b - y) + (c - z) * (c - z);
        if (d < best) best = d;
      }
  return best;
}

START_TEST(distance_equals_brute_force) {
  const double solids[] = {0.5, 0.97, 0.9995};
  for (int k = 0; k < 3; k++) {
    TlVolume mask, distance;
    random_mask(&mask, 23, 17, 14, solids[k]);
    mask.u8[100] = 0; /* one void voxel at least, and a corner of void */
    for (int64_t i = 0; i < 8; i++) mask.u8[tl_volume_at(&mask, i & 1, i >> 1 & 1, i >> 2)] = 0;
    CK_OK(tl_itk_distance(&mask, &distance));
    ck_assert_int_eq(distance.type, TL_F32);
    for (int64_t i = 0; i < tl_volume_count(&mask); i++) {
      double exact = mask.u8[i] ? sqrt((double)nearest_void(&mask, i)) : 0;
      CK_NEAR(distance.f32[i], exact, 4e-6); /* one rounding to float below 64 */
    }
    tl_volume_free(&mask);
    tl_volume_free(&distance);
  }
}
END_TEST

START_TEST(distance_takes_any_mask_type_and_refuses_a_full_one) {
  TlVolume mask, distance;
  CK_OK(tl_volume_new(&mask, TL_U16, 5, 4, 3));
  for (int64_t i = 0; i < tl_volume_count(&mask); i++) mask.u16[i] = 700;
  CK_FAILS(tl_itk_distance(&mask, &distance), TL_EINPUT, "no void voxel");
  mask.u16[0] = 0;
  CK_OK(tl_itk_distance(&mask, &distance));
  CK_NEAR(distance.f32[tl_volume_at(&mask, 4, 3, 2)], sqrt(29.0), 1e-6);
  tl_volume_free(&distance);
  tl_volume_free(&mask);
}
END_TEST

/* Two balls of radius 9 whose centres lie 14 apart on x: they overlap by 4 voxels. */
enum { BALL_NX = 38, BALL_NY = 24, LEFT = 11, RIGHT = 25 };
static void two_balls(TlVolume *mask) {
  CK_OK(tl_volume_new(mask, TL_U8, BALL_NX, BALL_NY, BALL_NY));
  for (int64_t i = 0; i < tl_volume_count(mask); i++) {
    int64_t x = i % mask->nx, y = i / mask->nx % mask->ny - 11, z = i / mask->nx / mask->ny - 11;
    int64_t a = (x - LEFT) * (x - LEFT) + y * y + z * z,
            b = (x - RIGHT) * (x - RIGHT) + y * y + z * z;
    mask->u8[i] = a <= 81 || b <= 81;
  }
}

START_TEST(markers_are_one_a_ball) {
  TlVolume mask, distance, markers;
  uint32_t count;
  two_balls(&mask);
  CK_OK(tl_itk_distance(&mask, &distance));
  CK_OK(tl_itk_markers(&distance, 0.5, &markers, &count));
  ck_assert_uint_eq(count, 2);
  ck_assert_uint_eq(markers.u32[tl_volume_at(&mask, LEFT, 11, 11)], 1);
  ck_assert_uint_eq(markers.u32[tl_volume_at(&mask, RIGHT, 11, 11)], 2);
  tl_volume_free(&markers);
  /* The saddle lies at sqrt(81 - 49) = 5.7, the summits near 9.4: h = 5 melts both into one. */
  CK_OK(tl_itk_markers(&distance, 5, &markers, &count));
  ck_assert_uint_eq(count, 1);
  tl_volume_free(&markers);
  CK_OK(tl_itk_markers(&distance, 20, &markers, &count)); /* higher than all summits */
  ck_assert_uint_eq(count, 0);
  tl_volume_free(&markers);
  tl_volume_free(&distance);
  tl_volume_free(&mask);
}
END_TEST

START_TEST(markers_stay_inside_the_field) {
  TlVolume field, markers;
  uint32_t count;
  CK_OK(tl_volume_new(&field, TL_F32, 9, 8, 7));
  CK_OK(tl_itk_markers(&field, 0.5, &markers, &count)); /* flat: nothing */
  ck_assert_uint_eq(count, 0);
  tl_volume_free(&markers);
  field.f32[tl_volume_at(&field, 2, 2, 2)] = 3;
  field.f32[tl_volume_at(&field, 6, 6, 5)] = 2;
  field.f32[tl_volume_at(&field, 6, 1, 1)] = 0.4F; /* does not rise by h */
  CK_OK(tl_itk_markers(&field, 0.5, &markers, &count));
  ck_assert_uint_eq(count, 2);
  for (int64_t i = 0; i < tl_volume_count(&field); i++)
    ck_assert(markers.u32[i] == 0 || field.f32[i] >= 2);
  tl_volume_free(&markers);
  tl_volume_free(&field);
}
END_TEST

START_TEST(watershed_cuts_two_balls_at_the_middle) {
  TlVolume mask, distance, markers, labels;
  uint32_t count;
  two_balls(&mask);
  CK_OK(tl_itk_distance(&mask, &distance));
  CK_OK(tl_itk_markers(&distance, 0.5, &markers, &count));
  CK_OK(tl_itk_watershed(&distance, &markers, &mask, &labels));
  for (int64_t i = 0; i < tl_volume_count(&mask); i++) {
    int64_t x = i % mask.nx;
    ck_assert_msg((labels.u32[i] != 0) == (mask.u8[i] != 0), "voxel %lld", (long long)i);
    /* mid-plane x = 18; the plateau on it may go to either side */
    if (mask.u8[i] && x <= 16) ck_assert_uint_eq(labels.u32[i], 1);
    if (mask.u8[i] && x >= 20) ck_assert_uint_eq(labels.u32[i], 2);
  }
  tl_volume_free(&labels);
  tl_volume_free(&markers);
  tl_volume_free(&distance);
  tl_volume_free(&mask);
}
END_TEST

/* A low bar without a marker lies beside a marked one, void between them: the flood must not jump.
 */
START_TEST(watershed_does_not_cross_the_void) {
  TlVolume field, mask, markers, labels;
  CK_OK(tl_volume_new(&field, TL_F32, 12, 7, 3));
  CK_OK(tl_volume_like(&mask, &field, TL_U8));
  CK_OK(tl_volume_like(&markers, &field, TL_U32));
  for (int64_t x = 1; x < 11; x++)
    for (int64_t y = 1; y < 6; y += 2) {
      int64_t i = tl_volume_at(&field, x, y, 1);
      mask.u8[i] = 255;
      field.f32[i] = y == 3 ? 0 : 4; /* a field of 0 inside the mask is flooded, too */
    }
  markers.u32[tl_volume_at(&field, 1, 1, 1)] = 7;
  markers.u32[tl_volume_at(&field, 10, 3, 1)] = 9;
  markers.u32[tl_volume_at(&field, 0, 0, 0)] = 5; /* a marker in the void does not count */
  CK_OK(tl_itk_watershed(&field, &markers, &mask, &labels));
  for (int64_t i = 0; i < tl_volume_count(&field); i++) {
    int64_t y = i / field.nx % field.ny;
    uint32_t expected = !mask.u8[i] ? 0 : y == 1 ? 7 : y == 3 ? 9 : 0;
    ck_assert_uint_eq(labels.u32[i], expected);
  }
  tl_volume_free(&labels);
  tl_volume_free(&markers);
  tl_volume_free(&mask);
  tl_volume_free(&field);
}
END_TEST

START_TEST(watershed_passes_faces_not_edges) {
  TlVolume field, mask, markers, labels;
  CK_OK(tl_volume_new(&field, TL_F32, 5, 5, 3));
  CK_OK(tl_volume_like(&mask, &field, TL_U8));
  CK_OK(tl_volume_like(&markers, &field, TL_U32));
  int64_t a = tl_volume_at(&field, 1, 1, 1), b = tl_volume_at(&field, 1, 2, 1),
          c = tl_volume_at(&field, 2, 3, 1);
  mask.u8[a] = mask.u8[b] = mask.u8[c] = 1; /* b shares a face with a, c only an edge with b */
  field.f32[a] = 3;
  field.f32[b] = 2;
  field.f32[c] = 1;
  markers.u32[a] = 4;
  CK_OK(tl_itk_watershed(&field, &markers, &mask, &labels));
  ck_assert_uint_eq(labels.u32[b], 4);
  ck_assert_uint_eq(labels.u32[c], 0);
  tl_volume_free(&labels);
  tl_volume_free(&markers);
  tl_volume_free(&mask);
  tl_volume_free(&field);
}
END_TEST

START_TEST(watershed_refuses_volumes_that_do_not_fit) {
  TlVolume field, mask, markers, labels;
  CK_OK(tl_volume_new(&field, TL_F32, 4, 4, 4));
  CK_OK(tl_volume_new(&mask, TL_U8, 4, 4, 5));
  CK_OK(tl_volume_like(&markers, &field, TL_U32));
  CK_FAILS(tl_itk_watershed(&field, &markers, &mask, &labels), TL_EINPUT, "4 x 4 x 5");
  CK_FAILS(tl_itk_watershed(&markers, &markers, &mask, &labels), TL_EINPUT, "needs f32");
  tl_volume_free(&mask);
  CK_OK(tl_volume_like(&mask, &field, TL_U8));
  mask.u8[3] = 1;
  field.f32[3] = NAN;
  CK_FAILS(tl_itk_watershed(&field, &markers, &mask, &labels), TL_EINPUT, "not finite");
  tl_volume_free(&field);
  tl_volume_free(&mask);
  tl_volume_free(&markers);
}
END_TEST

/* The slow oracle: flood fill from each voxel in order. */
static uint32_t fill_components(const TlVolume *mask, bool full, uint32_t *out) {
  int64_t count = tl_volume_count(mask), top, *stack;
  uint32_t next = 0;
  ck_assert(TL_NEW(stack, (size_t)count) == TL_OK);
  for (int64_t start = 0; start < count; start++) {
    if (!mask->u8[start] || out[start]) continue;
    out[start] = ++next;
    stack[0] = start;
    top = 1;
    while (top) {
      int64_t i = stack[--top], x = i % mask->nx, y = i / mask->nx % mask->ny,
              z = i / mask->nx / mask->ny;
      for (int k = 0; k < 27; k++) {
        int64_t dx = k % 3 - 1, dy = k / 3 % 3 - 1, dz = k / 9 - 1;
        int64_t a = x + dx, b = y + dy, c = z + dz;
        if (!full && labs(dx) + labs(dy) + labs(dz) != 1) continue;
        if (a < 0 || b < 0 || c < 0 || a >= mask->nx || b >= mask->ny || c >= mask->nz) continue;
        int64_t j = tl_volume_at(mask, a, b, c);
        if (!mask->u8[j] || out[j]) continue;
        out[j] = next;
        stack[top++] = j;
      }
    }
  }
  tl_free(stack);
  return next;
}

START_TEST(components_equal_a_flood_fill) {
  TlVolume mask, labels, oracle;
  random_mask(&mask, 31, 22, 19, 0.2);
  for (int full = 0; full < 2; full++) {
    for (int threads = 1; threads < 5; threads++) {
      uint32_t count;
      tl_par_set_threads(threads);
      CK_OK(tl_itk_components(&mask, full ? 26 : 6, &labels, &count));
      CK_OK(tl_volume_like(&oracle, &mask, TL_U32));
      ck_assert_uint_eq(count, fill_components(&mask, full, oracle.u32));
      ck_assert(memcmp(labels.u32, oracle.u32, 4 * (size_t)tl_volume_count(&mask)) == 0);
      tl_volume_free(&labels);
      tl_volume_free(&oracle);
    }
  }
  tl_par_set_threads(0);
  uint32_t count;
  CK_FAILS(tl_itk_components(&mask, 18, &labels, &count), TL_EUSAGE, "6 or 26");
  tl_volume_free(&mask);
}
END_TEST

/* ---- files ---- */

static const char *at(char *path, const char *name) {
  snprintf(path, 256, "%s/%s", tl_test_folder(), name);
  return path;
}

static void write_file(const char *name, const void *bytes, size_t size) {
  char path[256];
  CK_OK(tl_file_write(at(path, name), bytes, size, true));
}

static void write_text(const char *name, const char *text) {
  write_file(name, text, strlen(text));
}

/* 2 x 3 x 4 voxels that count up in steps of 1000 (both bytes matter). */
static void write_counting_raw(const char *name, size_t voxels, bool big_endian) {
  uint8_t raw[48];
  for (size_t i = 0; i < voxels; i++) {
    int value = (int)(1000 * i) - 12000;
    raw[2 * i + big_endian] = (uint8_t)(value & 255);
    raw[2 * i + !big_endian] = (uint8_t)(value >> 8 & 255);
  }
  write_file(name, raw, 2 * voxels);
}

static void check_counting(const char *name) {
  char path[256];
  TlVolume v;
  CK_OK(tl_itk_read(at(path, name), 1e-3, &v));
  ck_assert(v.type == TL_I16 && v.nx == 2 && v.ny == 3 && v.nz == 4);
  for (int i = 0; i < 24; i++) ck_assert_int_eq(v.i16[i], 1000 * i - 12000);
  CK_NEAR(v.voxel_m[0], 0.5e-3, 1e-12);
  CK_NEAR(v.voxel_m[1], 0.25e-3, 1e-12);
  CK_NEAR(v.voxel_m[2], 2e-3, 1e-12);
  tl_volume_free(&v);
  CK_OK(tl_itk_read(path, 0, &v));
  ck_assert(v.voxel_m[0] == 0 && v.voxel_m[2] == 0); /* no unit, no size */
  tl_volume_free(&v);
}

#define META(bytes, order)                                                                         \
  "ObjectType = Image\nNDims = 3\nBinaryData = True\nBinaryDataByteOrderMSB = " order              \
  "\nElementSpacing = 0.5 0.25 2\nDimSize = 2 3 4\nElementType = MET_SHORT\nElementDataFile "      \
  "= " bytes "\n"
#define NRRD(bytes, order)                                                                         \
  "NRRD0004\ntype: short\ndimension: 3\nsizes: 2 3 4\nspacings: 0.5 0.25 2\nendian: " order        \
  "\nencoding: raw\ndata file: " bytes "\n"

START_TEST(meta_and_nrrd_are_read_in_both_byte_orders) {
  write_counting_raw("little.raw", 24, false);
  write_counting_raw("big.raw", 24, true);
  write_text("little.mhd", META("little.raw", "False"));
  write_text("big.mhd", META("big.raw", "True"));
  write_text("little.nhdr", NRRD("little.raw", "little"));
  write_text("big.nhdr", NRRD("big.raw", "big"));
  check_counting("little.mhd");
  check_counting("big.mhd");
  check_counting("little.nhdr");
  check_counting("big.nhdr");
}
END_TEST

START_TEST(doubles_of_meta_and_nrrd_become_floats) {
  double wide[24];
  char path[256];
  TlVolume v;
  for (int i = 0; i < 24; i++) wide[i] = i / 7.0 - 1;
  write_file("wide.raw", wide, sizeof wide);
  write_text("doubles.mhd", "ObjectType = Image\nNDims = 3\nDimSize = 2 3 4\nElementSize = 1 1 1\n"
                            "ElementType = MET_DOUBLE\nElementDataFile = wide.raw\n");
  write_text("doubles.nhdr", "NRRD0004\ntype: double\ndimension: 3\nsizes: 2 3 4\nencoding: raw\n"
                             "endian: little\ndata file: wide.raw\n");
  const char *const names[] = {"doubles.mhd", "doubles.nhdr"};
  for (int k = 0; k < 2; k++) {
    CK_OK(tl_itk_read(at(path, names[k]), 0, &v));
    ck_assert(v.type == TL_F32 && v.nx == 2 && v.ny == 3 && v.nz == 4);
    for (int i = 0; i < 24; i++) ck_assert(v.f32[i] == (float)wide[i]);
    tl_volume_free(&v);
  }
}
END_TEST

START_TEST(bad_meta_and_nrrd_are_refused_by_name) {
  char path[256];
  TlVolume v;
  write_counting_raw("short.raw", 17, false);
  write_text("short.mhd", META("short.raw", "False"));
  write_text("short.nhdr", NRRD("short.raw", "little"));
  write_text("gone.mhd", META("gone.raw", "False"));
  write_text("gone.nhdr", NRRD("gone.raw", "little"));
  write_text("prose.mhd", "Dear diary,\n");
  write_text("prose.nrrd", "Dear diary,\n");
  write_text("flat.nhdr", "NRRD0004\ntype: short\ndimension: 2\nsizes: 2 3\nencoding: raw\n"
                          "endian: little\ndata file: short.raw\n");
  write_text("wide.nhdr", "NRRD0004\ntype: int64\ndimension: 3\nsizes: 1 2 2\nencoding: raw\n"
                          "endian: little\ndata file: short.raw\n");
  CK_FAILS(tl_itk_read(at(path, "short.mhd"), 0, &v), TL_EINPUT, "short.mhd");
  CK_FAILS(tl_itk_read(at(path, "short.nhdr"), 0, &v), TL_EINPUT, "short.nhdr");
  CK_FAILS(tl_itk_read(at(path, "gone.mhd"), 0, &v), TL_EINPUT, "gone.mhd");
  CK_FAILS(tl_itk_read(at(path, "gone.nhdr"), 0, &v), TL_EINPUT, "gone.nhdr");
  CK_FAILS(tl_itk_read(at(path, "prose.mhd"), 0, &v), TL_EINPUT, "prose.mhd");
  CK_FAILS(tl_itk_read(at(path, "prose.nrrd"), 0, &v), TL_EINPUT, "prose.nrrd");
  CK_FAILS(tl_itk_read(at(path, "flat.nhdr"), 0, &v), TL_EINPUT, "three");
  CK_FAILS(tl_itk_read(at(path, "wide.nhdr"), 0, &v), TL_EINPUT, "voxels of type");
  CK_FAILS(tl_itk_read(at(path, "none.mhd"), 0, &v), TL_EIO, "none.mhd");
}
END_TEST

TL_TEST_MAIN("itk", distance_equals_brute_force,
             distance_takes_any_mask_type_and_refuses_a_full_one, markers_are_one_a_ball,
             markers_stay_inside_the_field, watershed_cuts_two_balls_at_the_middle,
             watershed_does_not_cross_the_void, watershed_passes_faces_not_edges,
             watershed_refuses_volumes_that_do_not_fit, components_equal_a_flood_fill,
             meta_and_nrrd_are_read_in_both_byte_orders, doubles_of_meta_and_nrrd_become_floats,
             bad_meta_and_nrrd_are_refused_by_name)
