#include "support/tltest.h"

#include "base/mem.h"
#include "base/random.h"
#include "image/label.h"
#include "num/volume.h"

#include <stdbool.h>

static const TlRoi whole = {.kind = TL_ROI_ALL};
static const TlLabelOptions usual = {
    .sigma = 0.7, .h_voxels = 0.15, .h_relative = 0.04, .min_voxels = 30};

static void ball(TlVolume *m, double x, double y, double z, double r) {
  for (int64_t i = 0; i < tl_volume_count(m); i++) {
    double dx = (double)(i % m->nx) - x, dy = (double)(i / m->nx % m->ny) - y;
    double dz = (double)(i / m->nx / m->ny) - z;
    if (dx * dx + dy * dy + dz * dz <= r * r) m->u8[i] = 1;
  }
}

static uint32_t at(const TlVolume *labels, int64_t x, int64_t y, int64_t z) {
  return labels->u32[tl_volume_at(labels, x, y, z)];
}

START_TEST(touching_balls_of_sizes_1_to_5_are_one_label_each) {
  TlVolume m, labels;
  TlLabelResult r;
  CK_OK(tl_volume_new(&m, TL_U8, 70, 60, 56));
  ball(&m, 25, 30, 28, 20.3);
  ball(&m, 48.5, 30, 28, 4.1); /* overlaps the large one by 0.9 */
  ball(&m, 25, 30, 52.2, 4.3);
  ball(&m, 58, 34, 30, 6.7);
  CK_OK(tl_label(&m, &whole, &usual, &labels, &r));
  ck_assert_uint_eq(r.grains, 4);
  ck_assert_int_eq(r.unreached, 0);
  ck_assert(at(&labels, 25, 30, 28) != at(&labels, 48, 30, 28));
  ck_assert(at(&labels, 25, 30, 28) != at(&labels, 25, 30, 52));
  ck_assert(at(&labels, 58, 34, 30) != at(&labels, 48, 30, 28));
  ck_assert(at(&labels, 25, 30, 28) == at(&labels, 10, 30, 28));
  tl_volume_free(&m);
  tl_volume_free(&labels);
}
END_TEST

/* A long ellipsoid's distance map is a ridge with false peaks of a fraction of a voxel. */
START_TEST(elongated_grain_stays_whole) {
  TlVolume m, labels;
  TlLabelResult r;
  CK_OK(tl_volume_new(&m, TL_U8, 90, 40, 40));
  for (int64_t i = 0; i < tl_volume_count(&m); i++) {
    double x = (double)(i % 90) - 44.3, y = (double)(i / 90 % 40) - 19.7;
    double z = (double)(i / 3600) - 20.2, u = 0.96 * x + 0.28 * y, v = -0.28 * x + 0.96 * y;
    m.u8[i] = u * u / 1600 + v * v / 121 + z * z / 100 <= 1;
  }
  CK_OK(tl_label(&m, &whole, &usual, &labels, &r));
  ck_assert_uint_eq(r.grains, 1);
  ck_assert_int_eq(r.border, 0);
  CK_NEAR(r.median_diameter, 2 * cbrt(40.0 * 11 * 10), 0.2);
  tl_volume_free(&m);
  tl_volume_free(&labels);
}
END_TEST

START_TEST(numbers_follow_the_first_voxel) {
  TlVolume labels;
  uint32_t count, dropped;
  int64_t voxels;
  CK_OK(tl_volume_new(&labels, TL_U32, 6, 2, 1));
  memcpy(labels.u32, (uint32_t[]){0, 9, 9, 4, 4, 7, 70000, 70000, 9, 0, 4, 4}, 12 * 4);
  CK_OK(tl_label_canonical(&labels, 2, &count, &dropped, &voxels));
  ck_assert_uint_eq(count, 3);
  ck_assert_uint_eq(dropped, 1);
  ck_assert_int_eq(voxels, 1);
  ck_assert_mem_eq(labels.u32, ((uint32_t[]){0, 1, 1, 2, 2, 0, 3, 3, 1, 0, 2, 2}), 12 * 4);
  tl_volume_free(&labels);
}
END_TEST

START_TEST(every_mask_voxel_is_in_a_grain_or_counted) {
  TlVolume m, labels;
  TlLabelResult r;
  TlLabelOptions o = usual;
  o.min_voxels = 200;
  CK_OK(tl_volume_new(&m, TL_U8, 60, 50, 40));
  for (int k = 0; k < 40; k++)
    ball(&m, 60 * tl_random_uniform(1, 0, (uint64_t)k), 50 * tl_random_uniform(1, 1, (uint64_t)k),
         40 * tl_random_uniform(1, 2, (uint64_t)k), 2 + 6 * tl_random_uniform(1, 3, (uint64_t)k));
  CK_OK(tl_label(&m, &whole, &o, &labels, &r));
  int64_t mask = 0, labelled = 0;
  uint32_t next = 1;
  for (int64_t i = 0; i < tl_volume_count(&m); i++) {
    mask += m.u8[i];
    labelled += labels.u32[i] > 0;
    ck_assert(!labels.u32[i] || m.u8[i]);
    ck_assert_uint_le(labels.u32[i], next); /* canonical */
    if (labels.u32[i] == next) next++;
  }
  ck_assert_uint_eq(next, r.grains + 1);
  ck_assert_int_eq(labelled, r.grain_voxels);
  ck_assert_int_eq(mask, labelled + r.dropped_voxels + r.unreached);
  tl_volume_free(&m);
  tl_volume_free(&labels);
}
END_TEST

START_TEST(cut_grains_are_flagged_at_stack_and_region) {
  TlVolume m, labels;
  TlLabelResult r;
  uint8_t *flags;
  TlRoi disc = {.kind = TL_ROI_CYLINDER, .x = 30, .y = 30, .r = 24, .nx = 60, .ny = 60};
  CK_OK(tl_volume_new(&m, TL_U8, 60, 60, 40));
  ball(&m, 30, 30, 20, 8); /* whole */
  ball(&m, 30, 12, 20, 8); /* cut by the disc at y = 6 */
  ball(&m, 30, 47, 3, 6);  /* cut by the face z = 0 */
  CK_OK(tl_label(&m, &disc, &usual, &labels, &r));
  ck_assert_uint_eq(r.grains, 3);
  ck_assert_uint_eq(r.border, 2);
  CK_OK(tl_label_border(&labels, &disc, &flags, r.grains));
  ck_assert_int_eq(flags[at(&labels, 30, 30, 20)], 0);
  ck_assert_int_eq(flags[at(&labels, 30, 12, 20)], 1);
  ck_assert_int_eq(flags[at(&labels, 30, 47, 3)], 1);
  tl_free(flags);
  CK_OK(tl_label_border(&labels, &whole, &flags, r.grains));
  ck_assert_int_eq(flags[at(&labels, 30, 12, 20)], 0); /* without the region it looks whole */
  tl_free(flags);
  tl_volume_free(&m);
  tl_volume_free(&labels);
}
END_TEST

START_TEST(mask_of_any_type_counts_above_zero) {
  TlVolume m, f, a, b;
  TlLabelResult r;
  CK_OK(tl_volume_new(&m, TL_U8, 30, 30, 30));
  ball(&m, 14, 15, 14, 9);
  CK_OK(tl_volume_new(&f, TL_F32, 30, 30, 30));
  for (int64_t i = 0; i < tl_volume_count(&m); i++) f.f32[i] = m.u8[i] ? 0.25F : -1;
  CK_OK(tl_label(&m, &whole, &usual, &a, &r));
  CK_OK(tl_label(&f, &whole, &usual, &b, &r));
  ck_assert_mem_eq(a.u32, b.u32, (size_t)tl_volume_count(&m) * 4);
  tl_volume_free(&m);
  tl_volume_free(&f);
  tl_volume_free(&a);
  tl_volume_free(&b);
}
END_TEST

START_TEST(mask_without_grain_or_void_is_refused) {
  TlVolume m, labels;
  TlLabelResult r;
  TlLabelOptions o = usual;
  CK_OK(tl_volume_new(&m, TL_U8, 20, 20, 20));
  CK_FAILS(tl_label(&m, &whole, &o, &labels, &r), TL_EINPUT, "all void");
  ball(&m, 10, 10, 10, 4);
  o.min_voxels = 5000;
  CK_FAILS(tl_label(&m, &whole, &o, &labels, &r), TL_EINPUT, "--min-voxels");
  memset(m.u8, 1, 8000);
  CK_FAILS(tl_label(&m, &whole, &o, &labels, &r), TL_EINPUT, "all grain");
  tl_volume_free(&m);
}
END_TEST

TL_TEST_MAIN("label", touching_balls_of_sizes_1_to_5_are_one_label_each,
             elongated_grain_stays_whole, numbers_follow_the_first_voxel,
             every_mask_voxel_is_in_a_grain_or_counted, cut_grains_are_flagged_at_stack_and_region,
             mask_of_any_type_counts_above_zero, mask_without_grain_or_void_is_refused)
