#include "support/sand.h"
#include "support/tltest.h"

#include "base/log.h"
#include "base/par.h"
#include "image/binarize.h"
#include "image/nlm.h"
#include "image/noise.h"
#include "io/stack.h"

#include <stdbool.h>
#include <stdio.h>

static const TlRoi whole = {.kind = TL_ROI_ALL};

static TlBinarizeOptions options(TlBinarizeMethod method) {
  return (TlBinarizeOptions){
      .method = method,
      .hmrf = {.beta = 0.5, .void_weight = 1, .sd_floor = 0.075, .most_rounds = 10}};
}

static void make_sand(TlVolume *v, int64_t n, double sigma, uint64_t seed) {
  CK_OK(tl_volume_new(v, TL_F32, n, n, n));
  for (int64_t i = 0; i < tl_volume_count(v); i++) {
    double grey = sand_grey(i % n, i / n % n, i / n / n);
    v->f32[i] = (float)(grey + sand_noise(grey, sigma, seed, i));
  }
}

static bool truth(const TlVolume *v, int64_t i) {
  return sand_field(i % v->nx, i / v->nx % v->ny, i / v->nx / v->ny) > 0;
}

static double dice(const TlVolume *mask) {
  double both = 0, sum = 0;
  for (int64_t i = 0; i < tl_volume_count(mask); i++) {
    both += mask->u8[i] && truth(mask, i);
    sum += mask->u8[i] + truth(mask, i);
  }
  return 2 * both / sum;
}

static double dice_by(const TlVolume *v, TlBinarizeMethod method, TlBinarizeResult *r) {
  TlVolume mask;
  TlBinarizeOptions o = options(method);
  CK_OK(tl_binarize(v, &whole, &o, &mask, r));
  double d = dice(&mask);
  tl_volume_free(&mask);
  return d;
}

/* ---- thresholds ---- */

static void make_levels(TlVolume *v, const int *levels, const int *counts, int n) {
  int64_t total = 0, at = 0;
  for (int k = 0; k < n; k++) total += counts[k];
  CK_OK(tl_volume_new(v, TL_F32, total, 1, 1));
  for (int k = 0; k < n; k++)
    for (int c = 0; c < counts[k]; c++) v->f32[at++] = (float)levels[k];
}

START_TEST(otsu_has_the_least_within_class_variance) {
  static const int levels[] = {10, 13, 20, 33, 47, 52, 60}, counts[] = {5, 9, 4, 2, 3, 8, 6};
  TlVolume v;
  TlHistogram h;
  make_levels(&v, levels, counts, 7);
  CK_OK(tl_histogram_new(&v, &whole, &h));
  double least = INFINITY, at = 0;
  for (int cut = 10; cut < 60; cut++) { /* grain is > cut */
    double m[2][3] = {{0}};
    for (int k = 0; k < 7; k++)
      for (int p = 0; p < 3; p++) m[levels[k] > cut][p] += counts[k] * pow(levels[k], p);
    double within = m[0][2] - m[0][1] * m[0][1] / m[0][0] + m[1][2] - m[1][1] * m[1][1] / m[1][0];
    if (within < least - 1e-9) {
      least = within;
      at = cut;
    }
  }
  TlSplit s = tl_histogram_otsu(&h, INFINITY);
  TlSplit same = tl_histogram_split(&h, at + 0.5, INFINITY);
  CK_NEAR(s.share[0], same.share[0], 0);
  CK_NEAR(s.threshold, 40, 0); /* the middle of the gap between 33 and 47 */
  CK_NEAR(s.share[0] * s.sd[0] * s.sd[0] + s.share[1] * s.sd[1] * s.sd[1], least / 37, 1e-9);
  tl_histogram_free(&h);
  tl_volume_free(&v);
}
END_TEST

START_TEST(kmeans_threshold_is_midway_between_its_means) {
  TlVolume v;
  TlHistogram h;
  make_sand(&v, 40, 15, 3);
  CK_OK(tl_histogram_new(&v, &whole, &h));
  TlSplit s = tl_histogram_kmeans(&h, INFINITY);
  CK_NEAR(s.threshold, 0.5 * (s.mean[0] + s.mean[1]), 1e-9);
  TlSplit own = tl_histogram_split(&h, s.threshold, INFINITY);
  CK_NEAR(own.mean[0], s.mean[0], 1e-9);
  CK_NEAR(own.mean[1], s.mean[1], 1e-9);
  tl_histogram_free(&h);
  tl_volume_free(&v);
}
END_TEST

START_TEST(comb_histogram_of_few_levels_is_no_harder) {
  TlVolume v;
  TlBinarizeResult fine, comb;
  make_sand(&v, 48, 6, 4);
  double before = dice_by(&v, TL_BINARIZE_HMRF_EM, &fine);
  for (int64_t i = 0; i < tl_volume_count(&v); i++) v.f32[i] = 6 * rintf(v.f32[i] / 6); /* 43 */
  double after = dice_by(&v, TL_BINARIZE_HMRF_EM, &comb);
  CK_NEAR(after, before, 0.01);
  CK_NEAR(comb.split.threshold, fine.split.threshold, 6);
  tl_volume_free(&v);
}
END_TEST

/* ---- refusals ---- */

START_TEST(constant_and_single_phase_stacks_are_refused) {
  TlVolume v, mask;
  TlBinarizeResult r;
  for (int m = TL_BINARIZE_HMRF_EM; m <= TL_BINARIZE_KMEANS; m++) {
    TlBinarizeOptions o = options((TlBinarizeMethod)m);
    CK_OK(tl_volume_new(&v, TL_F32, 32, 32, 32));
    CK_FAILS(tl_binarize(&v, &whole, &o, &mask, &r), TL_EINPUT, "same grey");
    for (int64_t i = 0; i < tl_volume_count(&v); i++)
      v.f32[i] = (float)(90 + 6 * tl_random_normal(1, 2, (uint64_t)i));
    CK_FAILS(tl_binarize(&v, &whole, &o, &mask, &r), TL_EINPUT, "all void");
    tl_volume_free(&v);
  }
}
END_TEST

START_TEST(denoised_void_is_still_refused) {
  TlVolume v, quiet, mask;
  TlBinarizeResult r;
  TlBinarizeOptions o = options(TL_BINARIZE_HMRF_EM);
  CK_OK(tl_volume_new(&v, TL_F32, 32, 32, 32));
  for (int64_t i = 0; i < tl_volume_count(&v); i++)
    v.f32[i] = (float)(90 + 6 * tl_random_normal(1, 3, (uint64_t)i));
  TlNlmOptions nlm = {.sigma = 6, .h_factor = 0.5, .patch = 3, .search = 7};
  CK_OK(tl_nlm(&v, &whole, &nlm, &quiet));
  CK_FAILS(tl_binarize(&quiet, &whole, &o, &mask, &r), TL_EINPUT, "all void");
  for (int64_t i = 0; i < tl_volume_count(&v); i++) quiet.f32[i] = rintf(quiet.f32[i]);
  CK_FAILS(tl_binarize(&quiet, &whole, &o, &mask, &r), TL_EINPUT, "all void");
  tl_volume_free(&v);
  tl_volume_free(&quiet);
}
END_TEST

/* 2% of grain in noise is sand all the same. */
START_TEST(few_grains_are_not_refused) {
  TlVolume v, mask;
  TlBinarizeResult r;
  TlBinarizeOptions o = options(TL_BINARIZE_HMRF_EM);
  CK_OK(tl_volume_new(&v, TL_F32, 48, 48, 48));
  for (int64_t i = 0; i < tl_volume_count(&v); i++) {
    int64_t x = i % 48 - 20, y = i / 48 % 48 - 25, z = i / 2304 - 22;
    double grey = x * x + y * y + z * z < 64 ? 160 : 90;
    v.f32[i] = (float)(grey + sand_noise(grey, 12, 12, i));
  }
  CK_OK(tl_binarize(&v, &whole, &o, &mask, &r));
  CK_NEAR((double)r.grain_voxels, 2109, 60); /* lattice points in a ball of radius 8; 3% */
  tl_volume_free(&v);
  tl_volume_free(&mask);
}
END_TEST

START_TEST(threshold_that_leaves_a_phase_empty_is_refused) {
  TlVolume v, mask;
  TlBinarizeResult r;
  TlBinarizeOptions o = options(TL_BINARIZE_THRESHOLD);
  make_sand(&v, 16, 2, 5);
  o.threshold = 500;
  CK_FAILS(tl_binarize(&v, &whole, &o, &mask, &r), TL_EINPUT, "no grain");
  o.threshold = -500;
  CK_FAILS(tl_binarize(&v, &whole, &o, &mask, &r), TL_EINPUT, "no void");
  tl_volume_free(&v);
}
END_TEST

/* ---- HMRF-EM ---- */

START_TEST(hmrf_energy_never_rises_and_dice_is_not_below_otsu) {
  for (int k = 0; k < 3; k++) {
    static const double sigma[] = {4, 12, 25};
    TlVolume v;
    TlBinarizeResult r, unused;
    make_sand(&v, 48, sigma[k], 6);
    double otsu = dice_by(&v, TL_BINARIZE_OTSU, &unused);
    double hmrf = dice_by(&v, TL_BINARIZE_HMRF_EM, &r);
    ck_assert_int_ge(r.hmrf.rounds, 1);
    for (int round = 1; round <= r.hmrf.rounds; round++)
      ck_assert_double_le(r.hmrf.energy[round], r.hmrf.energy[round - 1]);
    ck_assert_msg(hmrf >= otsu, "sigma %g: HMRF %.4f, Otsu %.4f", sigma[k], hmrf, otsu);
    if (k == 2) ck_assert_double_gt(hmrf, otsu + 0.02); /* where neighbours must help */
    tl_volume_free(&v);
  }
}
END_TEST

START_TEST(hmrf_after_denoising_is_not_below_otsu) {
  TlVolume v, quiet;
  TlBinarizeResult r, unused;
  TlNlmOptions nlm = {.sigma = 14, .h_factor = 0.5, .patch = 5, .search = 9};
  make_sand(&v, 48, 15, 7);
  CK_OK(tl_nlm(&v, &whole, &nlm, &quiet));
  double otsu = dice_by(&quiet, TL_BINARIZE_OTSU, &unused);
  double hmrf = dice_by(&quiet, TL_BINARIZE_HMRF_EM, &r);
  ck_assert_msg(hmrf >= otsu, "HMRF %.4f, Otsu %.4f", hmrf, otsu);
  ck_assert_double_ge(r.hmrf.sd, 0.0749 * (r.hmrf.mean[1] - r.hmrf.mean[0]));
  tl_volume_free(&v);
  tl_volume_free(&quiet);
}
END_TEST

/* U of hmrf.h with global means and no neighbours is a sum over voxels that can be written down:
 * two grey levels, one cube of grain. */
START_TEST(hmrf_energy_of_two_levels_is_its_interface) {
  TlVolume v, mask;
  TlHmrfResult r;
  TlHmrfOptions o = {.beta = 0.7, .void_weight = 1, .sd_floor = 0.1, .most_rounds = 5};
  CK_OK(tl_volume_new(&v, TL_F32, 30, 30, 30));
  CK_OK(tl_volume_new(&mask, TL_U8, 30, 30, 30));
  for (int64_t i = 0; i < tl_volume_count(&v); i++) {
    int64_t x = i % 30, y = i / 30 % 30, z = i / 900;
    bool in = x >= 9 && x < 21 && y >= 9 && y < 21 && z >= 9 && z < 21;
    v.f32[i] = in ? 200 : 100;
    mask.u8[i] = in;
  }
  mask.u8[tl_volume_at(&mask, 9, 9, 9)] = 0; /* one voxel wrong at the start */
  CK_OK(tl_hmrf(&v, &whole, &o, &mask, &r));
  CK_NEAR(r.mean[0], 100, 0);
  CK_NEAR(r.mean[1], 200, 0);
  CK_NEAR(r.sd, 10, 1e-9);
  ck_assert_int_eq(r.moved, 1);
  double interface = 6 * 144 * 0.7;
  CK_NEAR(r.energy[r.rounds], interface, 1e-6);
  CK_NEAR(r.energy[0], interface + 100.0 * 100 / (2 * 10 * 10), 1e-6); /* 3 faces as before */
  tl_volume_free(&v);
  tl_volume_free(&mask);
}
END_TEST

START_TEST(void_weight_gives_voxels_to_void) {
  TlVolume v, mask;
  TlBinarizeResult light, heavy;
  TlBinarizeOptions o = options(TL_BINARIZE_HMRF_EM);
  make_sand(&v, 40, 12, 8);
  CK_OK(tl_binarize(&v, &whole, &o, &mask, &light));
  tl_volume_free(&mask);
  o.hmrf.void_weight = 2.5;
  CK_OK(tl_binarize(&v, &whole, &o, &mask, &heavy));
  ck_assert_double_gt(heavy.porosity, light.porosity + 0.005);
  tl_volume_free(&mask);
  tl_volume_free(&v);
}
END_TEST

START_TEST(mask_has_the_same_bits_for_any_threads) {
  TlVolume v, one, two;
  TlBinarizeResult r, s;
  TlBinarizeOptions o = options(TL_BINARIZE_HMRF_EM);
  int threads = tl_par_threads();
  make_sand(&v, 40, 15, 9);
  tl_par_set_threads(1);
  CK_OK(tl_binarize(&v, &whole, &o, &one, &r));
  tl_par_set_threads(3);
  CK_OK(tl_binarize(&v, &whole, &o, &two, &s));
  tl_par_set_threads(threads);
  ck_assert_mem_eq(one.u8, two.u8, (size_t)tl_volume_count(&v));
  ck_assert(r.hmrf.energy[r.hmrf.rounds] == s.hmrf.energy[s.hmrf.rounds]);
  tl_volume_free(&v);
  tl_volume_free(&one);
  tl_volume_free(&two);
}
END_TEST

START_TEST(dark_grains_are_the_negative) {
  TlVolume v, bright, dark;
  TlBinarizeResult r, s;
  TlBinarizeOptions o = options(TL_BINARIZE_HMRF_EM);
  make_sand(&v, 40, 10, 10);
  CK_OK(tl_binarize(&v, &whole, &o, &bright, &r));
  for (int64_t i = 0; i < tl_volume_count(&v); i++) v.f32[i] = 1000 - v.f32[i];
  o.invert = true;
  CK_OK(tl_binarize(&v, &whole, &o, &dark, &s));
  int64_t unequal = 0;
  for (int64_t i = 0; i < tl_volume_count(&v); i++) unequal += bright.u8[i] != dark.u8[i];
  ck_assert_int_le(unequal, 3); /* 1000 - grey rounds */
  CK_NEAR(s.split.threshold, 1000 - r.split.threshold, 0.05);
  CK_NEAR(s.hmrf.mean[1], 1000 - r.hmrf.mean[1], 0.01);
  tl_volume_free(&v);
  tl_volume_free(&bright);
  tl_volume_free(&dark);
}
END_TEST

START_TEST(greys_outside_the_region_do_not_matter) {
  TlVolume v, a, b;
  TlBinarizeResult r, s;
  TlRoi disc = {.kind = TL_ROI_CYLINDER, .x = 20, .y = 20, .r = 17, .nx = 40, .ny = 40};
  TlBinarizeOptions o = options(TL_BINARIZE_HMRF_EM);
  make_sand(&v, 40, 10, 11);
  CK_OK(tl_binarize(&v, &disc, &o, &a, &r));
  for (int64_t i = 0; i < tl_volume_count(&v); i++)
    if (!tl_roi_inside(&disc, i % 40, i / 40 % 40, 0)) v.f32[i] = i % 3 ? 4000 : -500;
  CK_OK(tl_binarize(&v, &disc, &o, &b, &s));
  ck_assert_mem_eq(a.u8, b.u8, (size_t)tl_volume_count(&v));
  CK_NEAR(r.porosity, s.porosity, 0);
  ck_assert_int_eq(a.u8[0], 0);
  tl_volume_free(&v);
  tl_volume_free(&a);
  tl_volume_free(&b);
}
END_TEST

START_TEST(small_islands_change_sides_and_cut_ones_stay) {
  TlVolume m;
  int64_t removed, filled;
  CK_OK(tl_volume_new(&m, TL_U8, 24, 20, 16));
  for (int64_t z = 4; z < 12; z++)
    for (int64_t y = 4; y < 16; y++)
      for (int64_t x = 4; x < 16; x++) m.u8[tl_volume_at(&m, x, y, z)] = 1;
  m.u8[tl_volume_at(&m, 9, 9, 8)] = 0;    /* a hole */
  m.u8[tl_volume_at(&m, 20, 10, 8)] = 1;  /* a speck */
  m.u8[tl_volume_at(&m, 23, 19, 15)] = 1; /* a speck in the corner: cut, maybe large */
  CK_OK(tl_islands_remove(&m, &whole, 5, &removed, &filled));
  ck_assert_int_eq(removed, 1);
  ck_assert_int_eq(filled, 1);
  int64_t grain = 0;
  for (int64_t i = 0; i < tl_volume_count(&m); i++) grain += m.u8[i];
  ck_assert_int_eq(grain, 8 * 12 * 12 + 1);
  tl_volume_free(&m);
}
END_TEST

/* Owner's phantom, when TALUS_PHANTOM names its folder. */
static void check_phantom(const char *folder, const char *level, double least) {
  char path[512];
  TlVolume labels, noisy, grey, quiet, mask;
  TlNoise noise;
  TlBinarizeResult r;
  TlBinarizeOptions o = options(TL_BINARIZE_HMRF_EM);
  snprintf(path, sizeof path, "%s/phantom_128_labels_u16.tif", folder);
  CK_OK(tl_stack_read(path, &(TlStackOptions){0}, NULL, &labels));
  snprintf(path, sizeof path, "%s/phantom_128_%s_u16.tif", folder, level);
  CK_OK(tl_stack_read(path, &(TlStackOptions){0}, NULL, &noisy));
  CK_OK(tl_volume_to_f32(&noisy, &grey));
  CK_OK(tl_noise_estimate(&grey, &whole, &noise));
  TlNlmOptions nlm = {.sigma = noise.sigma, .patch = 5, .search = 11};
  CK_OK(tl_nlm_choose_strength(&grey, &whole, &nlm, &nlm.h_factor));
  CK_OK(tl_nlm(&grey, &whole, &nlm, &quiet));
  CK_OK(tl_binarize(&quiet, &whole, &o, &mask, &r));
  double both = 0, sum = 0;
  for (int64_t i = 0; i < tl_volume_count(&mask); i++) {
    both += mask.u8[i] && labels.u16[i];
    sum += mask.u8[i] + (labels.u16[i] > 0);
  }
  ck_assert_double_ge(2 * both / sum, least);
  tl_volume_free(&labels);
  tl_volume_free(&noisy);
  tl_volume_free(&grey);
  tl_volume_free(&quiet);
  tl_volume_free(&mask);
}

START_TEST(chain_on_the_owners_phantom) {
  const char *folder = getenv("TALUS_PHANTOM");
  if (!folder) return;
  check_phantom(folder, "high", 0.984);
  check_phantom(folder, "low", 0.990);
}
END_TEST

TL_TEST_MAIN("binarize", otsu_has_the_least_within_class_variance,
             kmeans_threshold_is_midway_between_its_means,
             comb_histogram_of_few_levels_is_no_harder,
             constant_and_single_phase_stacks_are_refused, denoised_void_is_still_refused,
             few_grains_are_not_refused, threshold_that_leaves_a_phase_empty_is_refused,
             hmrf_energy_never_rises_and_dice_is_not_below_otsu,
             hmrf_after_denoising_is_not_below_otsu, hmrf_energy_of_two_levels_is_its_interface,
             void_weight_gives_voxels_to_void, mask_has_the_same_bits_for_any_threads,
             dark_grains_are_the_negative, greys_outside_the_region_do_not_matter,
             small_islands_change_sides_and_cut_ones_stay, chain_on_the_owners_phantom)
