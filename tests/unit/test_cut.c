#include "support/tltest.h"

#include "base/log.h"
#include "base/random.h"
#include "image/cut.h"

#include <math.h>
#include <stdlib.h>

__attribute__((constructor)) static void be_quiet(void) {
  tl_log_set("test", TL_LOG_ERROR);
}

/* A product kept in memory. */
typedef struct Kept {
  TlVolume v;
  TlVolumeSink into;
} Kept;

static TlLayerSink sink_to(Kept *k, const TlVolume *head) {
  CK_OK(tl_volume_like(&k->v, head, head->type));
  k->into = (TlVolumeSink){.volume = &k->v};
  return tl_sink_of(&k->into);
}

static void make(TlVolume *v, TlVoxelType type, int64_t nx, int64_t ny, int64_t nz) {
  CK_OK(tl_volume_new(v, type, nx, ny, nz));
  for (int64_t i = 0; i < tl_volume_count(v); i++) {
    double u = tl_random_uniform(7, type, (uint64_t)i);
    if (type == TL_U8) v->u8[i] = (uint8_t)(250 * u);
    if (type == TL_I16) v->i16[i] = (int16_t)(4000 * u - 2000);
    if (type == TL_U16) v->u16[i] = (uint16_t)(4000 * u);
    if (type == TL_F32) v->f32[i] = (float)u;
  }
  v->voxel_m[0] = v->voxel_m[1] = 2e-6;
  v->voxel_m[2] = 3e-6;
}

START_TEST(a_box_is_cut_out_with_its_place) {
  TlVolume v, cut;
  TlLayers stack;
  Kept kept;
  make(&v, TL_I16, 9, 8, 7);
  v.cylinder[0] = 4;
  v.cylinder[1] = 5;
  v.cylinder[2] = 3;
  tl_layers_of(&v, &stack);
  const int64_t low[3] = {2, 3, 4}, size[3] = {5, 4, 3};
  CK_OK(tl_cut_crop_head(&stack.head, low, size, &cut));
  ck_assert(cut.nx == 5 && cut.ny == 4 && cut.nz == 3 && cut.voxel_m[2] == 3e-6);
  ck_assert(cut.cylinder[0] == 2 && cut.cylinder[1] == 2 && cut.cylinder[2] == 3);
  TlLayerSink sink = sink_to(&kept, &cut);
  CK_OK(tl_sink_end(&sink, tl_cut_crop(&stack, low, &cut, &sink)));
  for (int64_t i = 0; i < tl_volume_count(&cut); i++)
    ck_assert_int_eq(kept.v.i16[i], v.i16[tl_volume_at(&v, 2 + i % 5, 3 + i / 5 % 4, 4 + i / 20)]);
  CK_FAILS(tl_cut_crop_head(&stack.head, low, (int64_t[3]){5, 6, 3}, &cut), TL_EUSAGE, "along y");
  CK_FAILS(tl_cut_crop_head(&stack.head, (int64_t[3]){-1, 0, 0}, size, &cut), TL_EUSAGE, "along x");
  CK_FAILS(tl_cut_crop_head(&stack.head, low, (int64_t[3]){5, 4, INT64_MAX}, &cut), TL_EUSAGE,
           "along z");
  tl_volume_free(&kept.v);
  tl_volume_free(&v);
}
END_TEST

START_TEST(coarser_voxels_are_means_of_cubes) {
  static const TlVoxelType types[] = {TL_U8, TL_I16, TL_F32};
  for (int t = 0; t < 3; t++) {
    TlVolume v, coarse;
    TlLayers stack;
    Kept kept;
    make(&v, types[t], 10, 8, 11); /* 1, 2 and 2 left over */
    tl_layers_of(&v, &stack);
    CK_OK(tl_cut_coarse_head(&stack.head, 3, &coarse));
    ck_assert(coarse.nx == 3 && coarse.ny == 2 && coarse.nz == 3);
    CK_NEAR(coarse.voxel_m[2], 9e-6, 1e-20);
    TlLayerSink sink = sink_to(&kept, &coarse);
    CK_OK(tl_sink_end(&sink, tl_cut_coarse(&stack, 3, &coarse, &sink)));
    for (int64_t i = 0; i < tl_volume_count(&coarse); i++) {
      double sum = 0;
      for (int64_t k = 0; k < 27; k++)
        sum += tl_volume_value(
            &v, tl_volume_at(&v, i % 3 * 3 + k % 3, i / 3 % 2 * 3 + k / 3 % 3, i / 6 * 3 + k / 9));
      CK_NEAR(tl_volume_value(&kept.v, i), sum / 27, types[t] == TL_F32 ? 1e-7 : 0.5);
    }
    tl_volume_free(&kept.v);
    tl_volume_free(&v);
  }
}
END_TEST

START_TEST(labels_are_not_averaged) {
  TlVolume head = {.nx = 4, .ny = 4, .nz = 4, .type = TL_U32}, coarse;
  CK_FAILS(tl_cut_coarse_head(&head, 2, &coarse), TL_EUSAGE, "labels");
  head.type = TL_U8;
  CK_FAILS(tl_cut_coarse_head(&head, 5, &coarse), TL_EUSAGE, "coarser 5 times");
}
END_TEST

/* The centre of a disc stays where it is in metres. */
START_TEST(the_cylinder_keeps_its_place) {
  TlVolume head = {.nx = 40, .ny = 40, .nz = 40, .type = TL_U8, .cylinder = {19.5, 10, 8}}, coarse;
  for (int k = 0; k < 3; k++) head.voxel_m[k] = 1e-6;
  CK_OK(tl_cut_coarse_head(&head, 4, &coarse));
  for (int k = 0; k < 2; k++) /* the first coarse voxel's centre lies at 1.5 fine ones */
    CK_NEAR(coarse.cylinder[k] * 4 + 1.5, head.cylinder[k], 1e-12);
  CK_NEAR(coarse.cylinder[2], 2, 1e-12);
}
END_TEST

START_TEST(outside_the_cylinder_is_nothing_and_later_stages_know) {
  TlVolume v;
  TlLayers stack;
  TlRoi roi, again;
  Kept kept;
  int64_t outside;
  int is_file;
  make(&v, TL_U8, 30, 28, 5);
  for (int64_t i = 0; i < tl_volume_count(&v); i++) v.u8[i] |= 1;
  tl_layers_of(&v, &stack);
  CK_OK(tl_roi_parse("cylinder:14,13.5,9", &stack, &roi, &is_file));
  TlVolume head = tl_cut_mask_head(&stack.head, &roi);
  TlLayerSink sink = sink_to(&kept, &head);
  CK_OK(tl_sink_end(&sink, tl_cut_mask(&stack, &roi, &sink, &outside)));
  int64_t blank = 0;
  for (int64_t i = 0; i < tl_volume_count(&v); i++) {
    bool in = hypot((double)(i % 30) - 14, (double)(i / 30 % 28) - 13.5) <= 9;
    ck_assert_int_eq(kept.v.u8[i], in ? v.u8[i] : 0);
    blank += !in;
  }
  ck_assert_int_eq(blank, outside);
  tl_layers_of(&kept.v, &stack); /* its head tells the cylinder */
  CK_OK(tl_roi_parse("auto", &stack, &again, &is_file));
  ck_assert(again.kind == TL_ROI_CYLINDER && again.x == 14 && again.y == 13.5 && again.r == 9);
  tl_volume_free(&kept.v);
  tl_volume_free(&v);
}
END_TEST

START_TEST(levels_are_counted_inside_the_region) {
  TlVolume v;
  TlLayers stack;
  TlCutLevels levels;
  TlRoi roi;
  int is_file;
  make(&v, TL_U16, 40, 30, 21);
  for (int64_t i = 0; i < tl_volume_count(&v); i++)
    v.u16[i] = (uint16_t)(v.u16[i] / 4 * 4); /* comb */
  tl_layers_of(&v, &stack);
  CK_OK(tl_roi_parse("cylinder:20,15,10", &stack, &roi, &is_file));
  CK_OK(tl_cut_levels(&stack, &roi, &levels));
  int64_t want[65536] = {0}, inside = 0;
  for (int64_t i = 0; i < tl_volume_count(&v); i++)
    if (hypot((double)(i % 40) - 20, (double)(i / 40 % 30) - 15) <= 10) {
      want[v.u16[i]]++;
      inside++;
    }
  ck_assert(levels.bins == 65536 && levels.low == 0 && levels.width == 1);
  ck_assert(memcmp(levels.count, want, sizeof want) == 0);
  ck_assert_int_eq(levels.voxels, inside);
  ck_assert_int_eq(levels.bits, 12);
  ck_assert(levels.comb > 0.74 && levels.comb < 0.78);
  tl_cut_levels_free(&levels);
  tl_volume_free(&v);
}
END_TEST

START_TEST(reals_that_are_no_numbers_are_left_out_and_counted) {
  TlVolume v;
  TlLayers stack;
  TlCutLevels levels;
  TlRoi all = {.kind = TL_ROI_ALL};
  make(&v, TL_F32, 12, 11, 10);
  v.f32[5] = NAN;
  v.f32[77] = INFINITY;
  tl_layers_of(&v, &stack);
  CK_OK(tl_cut_levels(&stack, &all, &levels));
  int64_t sum = 0;
  for (int64_t i = 0; i < levels.bins; i++) sum += levels.count[i];
  ck_assert(levels.not_finite == 2 && levels.voxels == 12 * 11 * 10 - 2 && sum == levels.voxels);
  ck_assert(levels.min >= 0 && levels.max < 1 && levels.bits == 0);
  tl_cut_levels_free(&levels);
  for (int64_t i = 0; i < tl_volume_count(&v); i++) v.f32[i] = NAN;
  CK_FAILS(tl_cut_levels(&stack, &all, &levels), TL_EINPUT, "no voxel");
  tl_volume_free(&v);
}
END_TEST

TL_TEST_MAIN("cut", a_box_is_cut_out_with_its_place, coarser_voxels_are_means_of_cubes,
             labels_are_not_averaged, the_cylinder_keeps_its_place,
             outside_the_cylinder_is_nothing_and_later_stages_know,
             levels_are_counted_inside_the_region,
             reals_that_are_no_numbers_are_left_out_and_counted)
