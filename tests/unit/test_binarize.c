#include "support/sand.h"
#include "support/tltest.h"

#include "base/log.h"
#include "base/par.h"
#include "image/binarize.h"
#include "image/hmrf_field.h"
#include "image/nlm.h"
#include "image/noise.h"
#include "io/stack.h"

#include <stdbool.h>
#include <stdio.h>

static const TlRoi whole = {.kind = TL_ROI_ALL};

static TlBinarizeOptions options(TlBinarizeMethod method) {
  return (TlBinarizeOptions){.method = method, .hmrf = TL_HMRF_DEFAULTS};
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
  CK_NEAR(s.fraction[0], same.fraction[0], 0);
  CK_NEAR(s.threshold, 40, 0); /* the middle of the gap between 33 and 47 */
  CK_NEAR(s.fraction[0] * s.sd[0] * s.sd[0] + s.fraction[1] * s.sd[1] * s.sd[1], least / 37, 1e-9);
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

START_TEST(empty_region_is_named) {
  TlVolume v, mask;
  TlBinarizeResult r;
  TlBinarizeOptions o = options(TL_BINARIZE_OTSU);
  TlRoi off = {.kind = TL_ROI_CYLINDER, .x = -20, .y = -20, .r = 5, .nx = 8, .ny = 8};
  CK_OK(tl_volume_new(&v, TL_F32, 8, 8, 8));
  CK_FAILS(tl_binarize(&v, &off, &o, &mask, &r), TL_EINPUT, "no voxel lies in the region");
  tl_volume_free(&v);
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
  TL_NOT_SANITIZED();
  TlVolume v, quiet;
  TlBinarizeResult r, unused;
  TlNlmOptions nlm = {.sigma = 14, .patch = 5, .search = 9};
  make_sand(&v, 48, 15, 7);
  CK_OK(tl_nlm_choose_strength(&v, &whole, &nlm)); /* as the tool does */
  CK_OK(tl_nlm(&v, &whole, &nlm, &quiet));
  double otsu = dice_by(&quiet, TL_BINARIZE_OTSU, &unused);
  double hmrf = dice_by(&quiet, TL_BINARIZE_HMRF_EM, &r);
  ck_assert_msg(hmrf >= otsu, "HMRF %.4f, Otsu %.4f", hmrf, otsu);
  ck_assert_double_ge(r.hmrf.sd, 0.0199 * (r.hmrf.mean[1] - r.hmrf.mean[0]));
  tl_volume_free(&v);
  tl_volume_free(&quiet);
}
END_TEST

/* tl_hmrf on a volume from labels `mask`, whole stack. */
static void hmrf(const TlVolume *v, const TlHmrfOptions *o, int64_t slab, TlVolume *mask,
                 TlHmrfResult *r) {
  TlSource source = tl_source_volume(v);
  TlHistogram bins;
  CK_OK(tl_histogram_new(v, &whole, &bins));
  CK_OK(tl_hmrf(&source, &whole, o, slab, &bins, mask, r));
  tl_histogram_free(&bins);
}

static void start_by_threshold(const TlVolume *v, float threshold, TlVolume *mask) {
  CK_OK(tl_volume_like(mask, v, TL_U8));
  for (int64_t i = 0; i < tl_volume_count(v); i++) mask->u8[i] = v->f32[i] > threshold;
}

/* Two grey levels, one cube of grain: before the first sweep f is 0 or 1 and U is its faces. */
START_TEST(hmrf_energy_of_two_levels_is_its_interface) {
  TlVolume v, mask;
  TlHmrfResult r;
  TlHmrfOptions o = TL_HMRF_DEFAULTS;
  o.beta = 0.7;
  o.sd_floor = 0.1;
  o.deblur = 0;
  CK_OK(tl_volume_new(&v, TL_F32, 30, 30, 30));
  CK_OK(tl_volume_new(&mask, TL_U8, 30, 30, 30));
  for (int64_t i = 0; i < tl_volume_count(&v); i++) {
    int64_t x = i % 30, y = i / 30 % 30, z = i / 900;
    bool in = x >= 9 && x < 21 && y >= 9 && y < 21 && z >= 9 && z < 21;
    v.f32[i] = in ? 200 : 100;
    mask.u8[i] = in;
  }
  mask.u8[tl_volume_at(&mask, 9, 9, 9)] = 0; /* one voxel wrong at the start */
  hmrf(&v, &o, 0, &mask, &r);
  CK_NEAR(r.mean[0], 100, 0);
  CK_NEAR(r.mean[1], 200, 0);
  CK_NEAR(r.sd, 10, 1e-9);
  ck_assert_int_eq(r.moved, 1);
  CK_NEAR(r.energy[0], 6 * 144 * 0.7 * (1 - 0.5 * o.delta), 1e-3);
  ck_assert_double_lt(r.energy[r.rounds], r.energy[0]);
  ck_assert_int_eq(mask.u8[tl_volume_at(&mask, 9, 9, 9)], 1);
  tl_volume_free(&v);
  tl_volume_free(&mask);
}
END_TEST

START_TEST(hmrf_energy_falls_with_each_sweep) {
  TL_NOT_SANITIZED();
  static const int neighbours[] = {6, 26};
  for (int k = 0; k < 2; k++) {
    TlVolume v;
    double last = INFINITY;
    make_sand(&v, 32, 20, 21);
    v.voxel_m[0] = v.voxel_m[1] = 1e-5; /* anisotropic: the weights differ */
    v.voxel_m[2] = 2e-5;
    for (int sweeps = 1; sweeps <= 12; sweeps++) {
      TlVolume mask;
      TlHmrfResult r;
      TlHmrfOptions o = TL_HMRF_DEFAULTS;
      o.neighbours = neighbours[k];
      o.sweeps = sweeps;
      o.most_rounds = 1;
      start_by_threshold(&v, 125, &mask);
      hmrf(&v, &o, 0, &mask, &r);
      if (sweeps == 1) ck_assert_double_lt(r.energy[1], r.energy[0]);
      ck_assert_msg(r.energy[1] < last, "%d neighbours, sweep %d: %.10g after %.10g", neighbours[k],
                    sweeps, r.energy[1], last);
      last = r.energy[1];
      tl_volume_free(&mask);
    }
    tl_volume_free(&v);
  }
}
END_TEST

/* ---- the field against slow twins ---- */

enum { SMALL = 10, SMALL_COUNT = SMALL * SMALL * SMALL };

/* A noisy ball on the scale void 0, grain 1 with levels given: the field alone, without EM. */
static void make_field(TlField *f, const TlStencil *s, double sd, uint64_t seed) {
  static float grey[SMALL_COUNT], low[SMALL_COUNT], high[SMALL_COUNT], work[2][SMALL_COUNT];
  static uint8_t classes[SMALL_COUNT];
  CK_OK(tl_field_new(f, SMALL, SMALL, SMALL, SMALL));
  for (int k = 0; k < 2; k++) f->work[k] = work[k];
  for (int i = 0; i < SMALL_COUNT; i++) {
    double x = i % SMALL - 4.2, y = i / SMALL % SMALL - 4.7, z = i / SMALL / SMALL - 4.4;
    double level = 90 + (x * x + y * y + z * z < 12 ? 70 : 0);
    grey[i] = (float)(level + 70 * sd * tl_random_normal(seed, 5, (uint64_t)i));
    low[i] = 90;
    high[i] = i % SMALL < 5 ? 160 : 180; /* two minerals */
    classes[i] = i % 97 == 0 ? 2 : 0;
  }
  tl_field_add(f, SMALL, grey, low, high, classes, 70 * sd);
  tl_field_sharpen(f, s, 0, SMALL);
}

static void sweep_whole(TlField *f, const TlStencil *s) {
  static const TlReach none = {0, 0, 0}, all = {SMALL, SMALL, SMALL};
  tl_field_sweep(f, s, &none, &all);
}

static double field_energy(TlField *f, const TlStencil *s) {
  double by_slice[SMALL], sum = 0;
  tl_field_energy(f, s, 0, SMALL, by_slice);
  for (int z = 0; z < SMALL; z++) sum += by_slice[z];
  return sum;
}

/* The header's U written down in doubles, and its derivative by one voxel. */
static double twin_energy(const TlField *f, const TlStencil *s, const double *label, int only,
                          double *slope) {
  double sum = 0;
  *slope = 0;
  for (int i = only < 0 ? 0 : only; i < (only < 0 ? SMALL_COUNT : only + 1); i++) {
    int x = i % SMALL, y = i / SMALL % SMALL, z = i / SMALL / SMALL;
    if (label[i] < 0) continue;
    sum += 0.5 * pow(label[i] - f->u[i], 2) * f->data[i];
    *slope += (label[i] - f->u[i]) * f->data[i];
    for (int k = 0; k < s->count; k++) {
      int ox = x + s->dx[k], oy = y + s->dy[k], oz = z + s->dz[k];
      if (ox < 0 || oy < 0 || oz < 0 || ox >= SMALL || oy >= SMALL || oz >= SMALL) continue;
      double other = label[(oz * SMALL + oy) * SMALL + ox], d = label[i] - other, a = fabs(d);
      if (other < 0) continue;
      sum += 0.5 * s->weight[k] * (a < s->delta ? a * a / (2 * s->delta) : a - s->delta / 2);
      *slope += s->weight[k] * (a < s->delta ? d / s->delta : d > 0 ? 1 : -1);
    }
  }
  return sum;
}

/* Each voxel in turn to the zero of U's derivative by bisection, until nothing moves. */
static double twin_minimum(const TlField *f, const TlStencil *s, double *label) {
  double slope, most = 1;
  for (int i = 0; i < SMALL_COUNT; i++)
    label[i] = (double)tl_field_row(f, i / SMALL % SMALL, i / SMALL / SMALL)[i % SMALL];
  for (int round = 0; round < 500 && most > 1e-7; round++) {
    most = 0;
    for (int i = 0; i < SMALL_COUNT; i++) {
      double low = 0, high = 1, before = label[i];
      if (before < 0) continue;
      for (int k = 0; k < 40; k++) {
        label[i] = 0.5 * (low + high);
        twin_energy(f, s, label, i, &slope);
        *(slope > 0 ? &high : &low) = label[i];
      }
      most = fmax(most, fabs(label[i] - before));
    }
  }
  return twin_energy(f, s, label, -1, &slope);
}

START_TEST(field_reaches_the_minimum_of_its_slow_twin) {
  static const double voxel_m[3] = {1e-5, 1.2e-5, 2e-5};
  static double label[SMALL_COUNT];
  for (int k = 0; k < 2; k++) {
    TlField f;
    TlStencil s;
    double slope;
    tl_stencil_make(&s, voxel_m, k ? 26 : 6, 2, 0.3, 0);
    make_field(&f, &s, 0.3, 31);
    for (int i = 0; i < SMALL_COUNT; i++)
      label[i] = (double)tl_field_row(&f, i / SMALL % SMALL, i / SMALL / SMALL)[i % SMALL];
    CK_NEAR(field_energy(&f, &s) / twin_energy(&f, &s, label, -1, &slope), 1, 1e-6);
    double least = twin_minimum(&f, &s, label);
    for (int n = 0; n < 100; n++) sweep_whole(&f, &s);
    CK_NEAR(field_energy(&f, &s) / least, 1, 1e-5);
    for (int i = 0; i < SMALL_COUNT; i++)
      CK_NEAR((double)tl_field_row(&f, i / SMALL % SMALL, i / SMALL / SMALL)[i % SMALL], label[i],
              2e-3);
    tl_field_free(&f);
  }
}
END_TEST

/* The blur by its definition, one axis after the other (back: the transpose), in doubles: with a
 * neighbour in the region a voxel exchanges blur[axis] of the difference. */
static void twin_blur(const TlStencil *s, const double *label, bool back, double *v) {
  static double before[SMALL_COUNT];
  static const int step[3] = {1, SMALL, SMALL * SMALL};
  for (int k = 0; k < 3; k++) {
    int a = back ? 2 - k : k;
    memcpy(before, v, sizeof before);
    for (int i = 0; i < SMALL_COUNT; i++) {
      int at = i / step[a] % SMALL;
      if (label[i] < 0) continue;
      if (at > 0 && label[i - step[a]] >= 0)
        v[i] += (double)s->blur[a] * (before[i - step[a]] - before[i]);
      if (at < SMALL - 1 && label[i + step[a]] >= 0)
        v[i] += (double)s->blur[a] * (before[i + step[a]] - before[i]);
    }
  }
}

static void labels_of(const TlField *f, double *label) {
  for (int i = 0; i < SMALL_COUNT; i++)
    label[i] = (double)tl_field_row(f, i / SMALL % SMALL, i / SMALL / SMALL)[i % SMALL];
}

/* U with blur and its derivatives, from the one without. */
static double twin_blurred(const TlField *f, const TlStencil *s, const double *label,
                           double *slopes) {
  static double seen[SMALL_COUNT], force[SMALL_COUNT];
  double slope, sum = twin_energy(f, s, label, -1, &slope);
  for (int i = 0; i < SMALL_COUNT; i++) seen[i] = sqrt((double)f->data[i]) * label[i];
  twin_blur(s, label, false, seen);
  for (int i = 0; i < SMALL_COUNT; i++) {
    double d = (double)f->data[i], u = (double)f->u[i];
    force[i] = label[i] < 0 ? 0 : seen[i] - sqrt(d) * u;
    if (label[i] >= 0) sum += 0.5 * (force[i] * force[i] - d * pow(label[i] - u, 2));
  }
  twin_blur(s, label, true, force);
  for (int i = 0; i < SMALL_COUNT; i++) {
    twin_energy(f, s, label, i, &slope);
    double d = (double)f->data[i];
    slopes[i] = slope - (label[i] - (double)f->u[i]) * d + sqrt(d) * force[i];
  }
  return sum;
}

/* U is convex: where no voxel can fall by moving, it is least. */
START_TEST(blurred_field_falls_to_the_least_energy_of_its_slow_twin) {
  static const double voxel_m[3] = {1e-5, 1.2e-5, 2e-5};
  static double label[SMALL_COUNT], slopes[SMALL_COUNT];
  for (int k = 0; k < 2; k++) {
    TlField f;
    TlStencil s;
    tl_stencil_make(&s, voxel_m, k ? 26 : 6, 1, 0.3, 0.2);
    ck_assert_float_eq(s.blur[0], 0.25F); /* 0.2 (24^(1/3) / 10)^2 is more: the most */
    CK_NEAR((double)s.blur[2], 0.2 * pow(2.4, 2.0 / 3) / 4, 1e-6);
    make_field(&f, &s, 0.3, 33);
    labels_of(&f, label);
    double last = field_energy(&f, &s);
    CK_NEAR(last / twin_blurred(&f, &s, label, slopes), 1, 1e-6);
    for (int n = 0; n < 1500; n++) {
      sweep_whole(&f, &s);
      double now = n % 50 && n > 50 ? last : field_energy(&f, &s);
      ck_assert_msg(now <= last * (1 + 1e-7), "sweep %d: %.9g after %.9g", n, now, last);
      last = now;
    }
    labels_of(&f, label);
    CK_NEAR(last / twin_blurred(&f, &s, label, slopes), 1, 1e-6);
    for (int i = 0; i < SMALL_COUNT; i++) {
      if (label[i] < 0) continue;
      if (label[i] > 0) ck_assert_double_le(slopes[i], 0.02); /* data alone: up to 11 */
      if (label[i] < 1) ck_assert_double_ge(slopes[i], -0.02);
    }
    tl_field_free(&f);
  }
}
END_TEST

/* Weights fall as 1 / distance and add up to 6 beta, whatever the voxel's shape. */
START_TEST(neighbours_weigh_by_physical_distance) {
  static const double voxel_m[3] = {1e-5, 2e-5, 4e-5};
  for (int k = 0; k < 2; k++) {
    TlStencil s;
    double sum = 0, first = 0;
    tl_stencil_make(&s, voxel_m, k ? 26 : 6, 1.5, 0.3, 0);
    ck_assert_int_eq(s.count, k ? 26 : 6);
    for (int n = 0; n < s.count; n++) {
      double d = sqrt(pow(s.dx[n] * voxel_m[0], 2) + pow(s.dy[n] * voxel_m[1], 2) +
                      pow(s.dz[n] * voxel_m[2], 2));
      sum += (double)s.weight[n];
      if (n == 0) first = (double)s.weight[0] * d;
      CK_NEAR((double)s.weight[n] * d / first, 1, 1e-5);
    }
    CK_NEAR(sum, 9, 1e-5);
  }
}
END_TEST

/* ---- the graph cut: exact least energy of the two-class field ---- */

enum { SOURCE = SMALL_COUNT, SINK, NODES, MOST_ARCS = 2 * (NODES + 16 * SMALL_COUNT) };

typedef struct Graph {
  int head[NODES], next[MOST_ARCS], to[MOST_ARCS], arcs, depth[NODES], at[NODES];
  double capacity[MOST_ARCS];
} Graph;

static void arc(Graph *g, int from, int to, double capacity, double back) {
  int ends[2] = {from, to};
  double capacities[2] = {capacity, back};
  for (int k = 0; k < 2; k++) {
    g->to[g->arcs] = ends[1 - k];
    g->capacity[g->arcs] = capacities[k];
    g->next[g->arcs] = g->head[ends[k]];
    g->head[ends[k]] = g->arcs++;
  }
}

static bool layers(Graph *g) {
  static int queue[NODES];
  int n = 0;
  for (int i = 0; i < NODES; i++) g->depth[i] = -1;
  g->depth[SOURCE] = 0;
  queue[n++] = SOURCE;
  for (int k = 0; k < n; k++)
    for (int a = g->head[queue[k]]; a >= 0; a = g->next[a])
      if (g->capacity[a] > 1e-9 && g->depth[g->to[a]] < 0) {
        g->depth[g->to[a]] = g->depth[queue[k]] + 1;
        queue[n++] = g->to[a];
      }
  return g->depth[SINK] >= 0;
}

static double push(Graph *g, int node, double most) {
  if (node == SINK) return most;
  for (; g->at[node] >= 0; g->at[node] = g->next[g->at[node]]) {
    int a = g->at[node];
    if (g->capacity[a] <= 1e-9 || g->depth[g->to[a]] != g->depth[node] + 1) continue;
    double sent = push(g, g->to[a], fmin(most, g->capacity[a]));
    if (sent <= 0) continue;
    g->capacity[a] -= sent;
    g->capacity[a ^ 1] += sent;
    return sent;
  }
  return 0;
}

/* Least of sum_i (x_i - u_i)^2 data/2 + sum w [x_i != x_j] over labels 0 / 1, and the labels. */
static void graph_cut(const TlField *f, const TlStencil *s, uint8_t *label) {
  static Graph g;
  g.arcs = 0;
  for (int i = 0; i < NODES; i++) g.head[i] = -1;
  for (int i = 0; i < SMALL_COUNT; i++) {
    int x = i % SMALL, y = i / SMALL % SMALL, z = i / SMALL / SMALL;
    if (tl_field_row(f, y, z)[x] < 0) continue;
    double cost = 0.5 * (1 - 2 * (double)f->u[i]) * (double)f->data[i]; /* of 1 less that of 0 */
    arc(&g, SOURCE, i, cost < 0 ? -cost : 0, 0);
    arc(&g, i, SINK, cost > 0 ? cost : 0, 0);
    for (int k = 0; k < s->count; k++) {
      int ox = x + s->dx[k], oy = y + s->dy[k], oz = z + s->dz[k];
      int other = (oz * SMALL + oy) * SMALL + ox;
      if (other < i || ox < 0 || oy < 0 || oz < 0 || ox >= SMALL || oy >= SMALL || oz >= SMALL)
        continue;
      if (tl_field_row(f, oy, oz)[ox] < 0) continue;
      arc(&g, i, other, (double)s->weight[k], (double)s->weight[k]);
    }
  }
  while (layers(&g)) {
    for (int i = 0; i < NODES; i++) g.at[i] = g.head[i];
    while (push(&g, SOURCE, INFINITY) > 0) continue;
  }
  for (int i = 0; i < SMALL_COUNT; i++) label[i] = g.depth[i] >= 0; /* the source's side is 1 */
}

static double two_class_energy(const TlField *f, const TlStencil *s, const uint8_t *label) {
  double sum = 0;
  for (int i = 0; i < SMALL_COUNT; i++) {
    int x = i % SMALL, y = i / SMALL % SMALL, z = i / SMALL / SMALL;
    if (tl_field_row(f, y, z)[x] < 0) continue;
    sum += 0.5 * pow(label[i] - (double)f->u[i], 2) * (double)f->data[i];
    for (int k = 0; k < s->count; k++) {
      int ox = x + s->dx[k], oy = y + s->dy[k], oz = z + s->dz[k];
      if (ox < 0 || oy < 0 || oz < 0 || ox >= SMALL || oy >= SMALL || oz >= SMALL) continue;
      if (tl_field_row(f, oy, oz)[ox] < 0) continue;
      sum += 0.5 * (double)s->weight[k] * (label[(oz * SMALL + oy) * SMALL + ox] != label[i]);
    }
  }
  return sum;
}

/* With whole steps only (delta -> 0) the field cut at 1/2 is the graph cut: at delta 0.01 up to a
 * few voxels whose flip costs less than what the rounded-off kink of H gives. */
START_TEST(field_without_partial_volume_is_the_graph_cut) {
  TL_NOT_SANITIZED();
  static const double voxel_m[3] = {0, 0, 0};
  static uint8_t cut[SMALL_COUNT], ours[SMALL_COUNT];
  for (uint64_t seed = 41; seed < 45; seed++) {
    TlField f;
    TlStencil s;
    tl_stencil_make(&s, voxel_m, seed % 2 ? 6 : 26, 1.5, 0.01, 0);
    make_field(&f, &s, 0.35, seed);
    graph_cut(&f, &s, cut);
    for (int n = 0; n < 3000; n++) sweep_whole(&f, &s);
    int unequal = 0, grain = 0;
    for (int i = 0; i < SMALL_COUNT; i++) {
      ours[i] = tl_field_row(&f, i / SMALL % SMALL, i / SMALL / SMALL)[i % SMALL] > 0.5F;
      unequal += ours[i] != cut[i] && i % 97 != 0;
      grain += cut[i];
    }
    ck_assert_int_gt(grain, 50);
    double least = two_class_energy(&f, &s, cut), reached = two_class_energy(&f, &s, ours);
    ck_assert_double_ge(reached, least - 1e-6);
    ck_assert_msg(reached <= 1.005 * least && unequal <= 5, "%d unequal, %.6g over %.6g", unequal,
                  reached, least);
    tl_field_free(&f);
  }
}
END_TEST

/* ---- slabs ---- */

START_TEST(mask_has_the_same_bits_for_any_slab) {
  TL_NOT_SANITIZED();
  static const double sigma[] = {2, 20};
  for (int k = 0; k < 2; k++) {
    TlVolume v;
    TlBinarizeOptions o = options(TL_BINARIZE_HMRF_EM);
    CK_OK(tl_volume_new(&v, TL_U16, 29, 27, 75));
    for (int64_t i = 0; i < tl_volume_count(&v); i++) {
      double grey = sand_grey(i % 29, i / 29 % 27, i / 29 / 27);
      if (k == 0 && i / 29 / 27 < 30) grey = fmax(grey, 123); /* water, for --phases=3 */
      v.u16[i] = (uint16_t)(200 * (grey + sand_noise(grey, sigma[k], 51, i)));
    }
    TlRoi disc = {.kind = TL_ROI_CYLINDER, .x = 14, .y = 13, .r = 13, .nx = 29, .ny = 27};
    for (int method = TL_BINARIZE_HMRF_EM; method <= TL_BINARIZE_OTSU; method++) {
      TlVolume one, many;
      TlBinarizeResult r, s;
      o.method = (TlBinarizeMethod)method;
      o.phases = k == 0 ? 3 : 2;
      o.slab = 80;
      CK_OK(tl_binarize(&v, &disc, &o, &one, &r));
      for (o.slab = 16; o.slab < 80; o.slab += 16) {
        CK_OK(tl_binarize(&v, &disc, &o, &many, &s));
        ck_assert_mem_eq(one.u8, many.u8, (size_t)tl_volume_count(&v));
        ck_assert_mem_eq(&r.hmrf, &s.hmrf, sizeof r.hmrf);
        ck_assert_mem_eq(&r.mixture, &s.mixture, sizeof r.mixture);
        tl_volume_free(&many);
      }
      tl_volume_free(&one);
    }
    tl_volume_free(&v);
  }
}
END_TEST

/* Few slices at a time, all sweeps under way at once, against the whole stack swept sweep by
 * sweep: the same mask and energies; too little memory is said. */
START_TEST(memory_lets_fewer_slices_in_and_changes_nothing_else) {
  static const int neighbours[] = {6, 26};
  for (int k = 0; k < 2; k++) {
    TlVolume v, one, many;
    TlBinarizeResult r, s;
    TlBinarizeOptions o = options(TL_BINARIZE_HMRF_EM);
    CK_OK(tl_volume_new(&v, TL_F32, 21, 20, 60));
    for (int64_t i = 0; i < tl_volume_count(&v); i++) {
      double grey = sand_grey(i % 21, i / 21 % 20, i / 420);
      v.f32[i] = (float)(grey + sand_noise(grey, k ? 2 : 8, 52, i));
    }
    o.hmrf.neighbours = neighbours[k];
    o.slab = 96;
    CK_OK(tl_binarize(&v, &whole, &o, &one, &r));
    for (int64_t slices = TL_HMRF_LEAST_SLICES; slices < 40; slices += slices) {
      o.hmrf.most_bytes = tl_hmrf_bytes(21, 20, 60, slices + k, r.hmrf.sweeps);
      CK_OK(tl_binarize(&v, &whole, &o, &many, &s));
      ck_assert_mem_eq(one.u8, many.u8, (size_t)tl_volume_count(&v));
      ck_assert_mem_eq(&r.hmrf, &s.hmrf, sizeof r.hmrf);
      tl_volume_free(&many);
    }
    o.hmrf.most_bytes = tl_hmrf_bytes(21, 20, 60, TL_HMRF_LEAST_SLICES, r.hmrf.sweeps) - 1;
    if (k == 0) CK_FAILS(tl_binarize(&v, &whole, &o, &many, &s), TL_EUSAGE, "fewest slices");
    tl_volume_free(&one);
    tl_volume_free(&v);
  }
}
END_TEST

START_TEST(plan_keeps_within_its_memory) {
  TlBinarizeOptions o = options(TL_BINARIZE_HMRF_EM);
  CK_OK(tl_binarize_plan(1024, 1024, 1024, 2600LL << 20, &o));
  ck_assert_int_eq(o.slab % TL_SLAB_STEP, 0);
  ck_assert_int_le(tl_binarize_bytes(1024, 1024, 1024, &o, TL_HMRF_QUIET_SWEEPS), 2600LL << 20);
  CK_FAILS(tl_binarize_plan(1024, 1024, 1024, 1 << 20, &o), TL_EUSAGE, "thinnest slabs");
  /* Whatever slabs were asked for, a plan goes as low as the thinnest, and no lower. */
  o = options(TL_BINARIZE_OTSU);
  o.slab = TL_SLAB_STEP;
  int64_t least = tl_binarize_bytes(1024, 1024, 1024, &o, TL_HMRF_QUIET_SWEEPS);
  o.slab = 6 * TL_SLAB_STEP;
  CK_OK(tl_binarize_plan(1024, 1024, 1024, least, &o));
  ck_assert_int_eq(o.slab, TL_SLAB_STEP);
  CK_FAILS(tl_binarize_plan(1024, 1024, 1024, least - 1, &o), TL_EUSAGE, "thinnest slabs");
}
END_TEST

/* ---- drift and phases ---- */

START_TEST(slow_drift_is_followed_and_told) {
  TlVolume v;
  TlBinarizeResult r, otsu, flat;
  make_sand(&v, 64, 6, 61);
  double before = dice_by(&v, TL_BINARIZE_HMRF_EM, &flat);
  for (int64_t i = 0; i < tl_volume_count(&v); i++) { /* 30 of the gap of 70 along z */
    double z = (double)(i / 64 / 64);
    v.f32[i] += (float)(30 * (z / 63 - 0.5));
  }
  double by_otsu = dice_by(&v, TL_BINARIZE_OTSU, &otsu);
  double after = dice_by(&v, TL_BINARIZE_HMRF_EM, &r);
  CK_NEAR(after, before, 0.004);
  ck_assert_double_gt(after, by_otsu);
  CK_NEAR(flat.hmrf.drift_z, 0, 1);
  CK_NEAR(r.hmrf.drift_z, 20, 4); /* upper third less lower third: 2/3 of it, by whole blocks */
  tl_volume_free(&v);
}
END_TEST

/* The middle axis 24 darker than the rim, of a gap of 70, both phases alike. */
START_TEST(cupping_is_followed_and_told) {
  enum { N = 96, Z = 24 };
  TlVolume v;
  TlBinarizeResult r, otsu, flat;
  CK_OK(tl_volume_new(&v, TL_F32, N, N, Z));
  for (int64_t i = 0; i < tl_volume_count(&v); i++) {
    double grey = sand_grey(i % N, i / N % N, i / N / N);
    v.f32[i] = (float)(grey + sand_noise(grey, 6, 62, i));
  }
  double before = dice_by(&v, TL_BINARIZE_HMRF_EM, &flat);
  for (int64_t i = 0; i < tl_volume_count(&v); i++) {
    double x = (double)(i % N) - 0.5 * (N - 1), y = (double)(i / N % N) - 0.5 * (N - 1);
    v.f32[i] += (float)(24 * (x * x + y * y) / (0.25 * N * N));
  }
  double by_otsu = dice_by(&v, TL_BINARIZE_OTSU, &otsu);
  double after = dice_by(&v, TL_BINARIZE_HMRF_EM, &r);
  CK_NEAR(after, before, 0.006);
  ck_assert_double_gt(after, by_otsu + 0.01);
  CK_NEAR(flat.hmrf.drift_radial, 0, 1);
  /* 24 r^2: 1.3 in the inner third of the radius, 17.3 in the outer, a little more in the corners
   */
  CK_NEAR(r.hmrf.drift_radial, 16, 3);
  tl_volume_free(&v);
}
END_TEST

/* Balls on a lattice, edges one voxel wide: depth below the surface; is it one of the eighth? */
enum { BALLS = 64, BALL_CELL = 16 };
static double ball_depth(int64_t i, bool *eighth) {
  const int64_t x = i % BALLS, y = i / BALLS % BALLS, z = i / BALLS / BALLS;
  double dx = (double)(x % BALL_CELL) - 7.6, dy = (double)(y % BALL_CELL) - 7.3;
  double dz = (double)(z % BALL_CELL) - 7.9;
  *eighth = x / BALL_CELL % 2 == 0 && y / BALL_CELL % 2 == 0 && z / BALL_CELL % 2 == 0;
  return 6.5 - sqrt(dx * dx + dy * dy + dz * dz);
}

/* Voxels told wrongly, over the true ones, of plain grains and of the opaque ones; void 90, grains
 * 160, one in eight opaque, noise 6. */
static bool balls_told(double opaque, int phases, double wrong[2]) {
  TlVolume v, mask;
  TlBinarizeResult r;
  TlBinarizeOptions o = options(TL_BINARIZE_HMRF_EM);
  if (phases == 3) o.phases = 3, o.solid_from = 2; /* all but the darkest is grain */
  bool is;
  CK_OK(tl_volume_new(&v, TL_F32, BALLS, BALLS, BALLS));
  for (int64_t i = 0; i < tl_volume_count(&v); i++) {
    double part = fmin(1, fmax(0, ball_depth(i, &is) + 0.5));
    double clean = 90 + part * ((is ? opaque : 160) - 90);
    v.f32[i] = (float)(clean + 6 * tl_random_normal(91, 3, (uint64_t)i));
  }
  CK_OK(tl_binarize(&v, &whole, &o, &mask, &r));
  double bad[2] = {0}, balls[2] = {0};
  for (int64_t i = 0; i < tl_volume_count(&v); i++) {
    bool grain = ball_depth(i, &is) > 0;
    bad[is] += mask.u8[i] != grain;
    balls[is] += grain;
  }
  for (int k = 0; k < 2; k++) wrong[k] = bad[k] / balls[k];
  tl_volume_free(&v);
  tl_volume_free(&mask);
  return r.hides_grains;
}

/* 3% of a ball's voxels: the surface 0.065 voxel off, near what noise of 0.09 of the gap does. */
START_TEST(opaque_grains_are_grain_and_leave_the_others_alone) {
  double none[2], some[2], bright[2], lost[2];
  ck_assert(!balls_told(160, 2, none));
  ck_assert(!balls_told(300, 2, some));   /* three gaps over the void */
  ck_assert(!balls_told(600, 3, bright)); /* Otsu's start would take the bright ones alone: */
  ck_assert(balls_told(600, 2, lost));    /* which is said */
  ck_assert_double_gt(lost[0], 0.9);
  for (int k = 0; k < 2; k++) {
    ck_assert_msg(none[k] < 0.03, "%g", none[k]);
    ck_assert_msg(some[k] < none[k] + 0.01, "%g, %g without opaque ones", some[k], none[k]);
    ck_assert_msg(bright[k] < none[k] + 0.02, "%g, %g without opaque ones", bright[k], none[k]);
  }
}
END_TEST

START_TEST(mixture_finds_what_a_histogram_was_made_of) {
  static const double mean[] = {60, 110, 170}, sd[] = {8, 12, 9}, fraction[] = {0.4, 0.15, 0.45};
  TlVolume v;
  TlHistogram h;
  TlMixture m;
  CK_OK(tl_volume_new(&v, TL_F32, 60, 60, 60));
  for (int64_t i = 0; i < tl_volume_count(&v); i++) {
    double part = (double)i / (double)tl_volume_count(&v);
    int l = part < fraction[0] ? 0 : part < fraction[0] + fraction[1] ? 1 : 2;
    v.f32[i] = rintf((float)(mean[l] + sd[l] * tl_random_normal(71, 3, (uint64_t)i)));
  }
  CK_OK(tl_histogram_new(&v, &whole, &h));
  CK_OK(tl_mixture_fit(&h, 3, NULL, 0.01, INFINITY, &m));
  for (int l = 0; l < 3; l++) {
    CK_NEAR(m.mean[l], mean[l], 1); /* 5 standard errors of the least class, with its overlap */
    CK_NEAR(m.sd[l], sd[l], 0.7);
    CK_NEAR(m.fraction[l], fraction[l], 0.01);
  }
  for (int k = 1; k <= m.rounds; k++) ck_assert_double_le(m.energy[k], m.energy[k - 1]);
  TlMixture heavy;
  double weights[] = {2.5, 1, 1}; /* void reaches further */
  CK_OK(tl_mixture_fit(&h, 3, weights, 0.01, INFINITY, &heavy));
  ck_assert_double_gt(heavy.border[0], m.border[0]);
  CK_NEAR(heavy.sd[0], sqrt(2.5) * m.sd[0], 0.3); /* 2.35 */
  tl_histogram_free(&h);
  tl_volume_free(&v);
}
END_TEST

/* Balls of mineral in void, the void's lower half filled by a mid-grey phase: told apart, grain is
 * found at half level against what is beside it. */
START_TEST(third_phase_is_told_and_kept_out_of_the_grains) {
  enum { N = 64 };
  TlVolume v, mask, truth_mask;
  TlBinarizeResult r;
  TlBinarizeOptions o = options(TL_BINARIZE_HMRF_EM);
  CK_OK(tl_volume_new(&v, TL_F32, N, N, N));
  CK_OK(tl_volume_new(&truth_mask, TL_U8, N, N, N));
  for (int64_t i = 0; i < tl_volume_count(&v); i++) {
    int64_t x = i % N % 16 - 8, y = i / N % N % 16 - 8, z = i / N / N % 16 - 8;
    bool ball = x * x + y * y + z * z < 36;
    double grey = ball ? 170 : i / N / N < N / 2 ? 120 : 70;
    truth_mask.u8[i] = ball;
    v.f32[i] = (float)(grey + 4 * tl_random_normal(81, 3, (uint64_t)i));
  }
  o.phases = o.solid_from = 3;
  CK_OK(tl_binarize(&v, &whole, &o, &mask, &r));
  ck_assert_int_eq(r.mixture.classes, 3);
  CK_NEAR(r.mixture.mean[0], 70, 3);
  CK_NEAR(r.mixture.mean[1], 120, 4);
  CK_NEAR(r.mixture.mean[2], 170, 4);
  int64_t wrong = 0, grain = 0;
  for (int64_t i = 0; i < tl_volume_count(&v); i++) {
    wrong += mask.u8[i] != truth_mask.u8[i];
    grain += truth_mask.u8[i];
  }
  ck_assert_msg(wrong < grain / 50, "%lld of %lld", (long long)wrong, (long long)grain);
  tl_volume_free(&v);
  tl_volume_free(&mask);
  tl_volume_free(&truth_mask);
}
END_TEST

/* One slice has no slope across it; of two, no voxel has neighbours on both sides. */
START_TEST(phases_of_thin_stacks) {
  enum { N = 96 };
  TlBinarizeOptions o = options(TL_BINARIZE_HMRF_EM);
  o.phases = o.solid_from = 3;
  for (int64_t nz = 1; nz <= 2; nz++) {
    TlVolume v, mask;
    TlBinarizeResult r;
    CK_OK(tl_volume_new(&v, TL_F32, N, N, nz));
    for (int64_t i = 0; i < tl_volume_count(&v); i++) {
      int64_t x = i % N % 24 - 12, y = i / N % N % 24 - 12;
      double grey = x * x + y * y < 64 ? 170 : i % N < N / 2 ? 120 : 70;
      v.f32[i] = (float)(grey + 4 * tl_random_normal(83, 3, (uint64_t)i));
    }
    if (nz == 2) {
      CK_FAILS(tl_binarize(&v, &whole, &o, &mask, &r), TL_EINPUT, "too thin to tell 3 phases");
    } else {
      CK_OK(tl_binarize(&v, &whole, &o, &mask, &r));
      const double want[3] = {70, 120, 170};
      for (int l = 0; l < 3; l++) CK_NEAR(r.mixture.mean[l], want[l], 4);
      tl_volume_free(&mask);
    }
    tl_volume_free(&v);
  }
}
END_TEST

/* Three Gaussians fit any two phases: a third one that has no peak of its own is refused, and so is
 * one that would leave out the grains because few bright ones are the third peak. */
START_TEST(phases_without_a_peak_are_refused) {
  TlVolume v, mask;
  TlBinarizeResult r;
  TlBinarizeOptions o = options(TL_BINARIZE_HMRF_EM);
  o.phases = o.solid_from = 3;
  make_sand(&v, 48, 4, 82);
  CK_FAILS(tl_binarize(&v, &whole, &o, &mask, &r), TL_EINPUT, "give --phases=2");
  for (int64_t i = 0; i < tl_volume_count(&v); i++) /* eight of 64 cubes of 12 voxels */
    if (truth(&v, i) && i % 48 / 12 % 2 && i / 48 % 48 / 12 % 2 && i / 48 / 48 / 12 % 2)
      v.f32[i] += 80;
  CK_FAILS(tl_binarize(&v, &whole, &o, &mask, &r), TL_EINPUT, "would leave out the grains");
  o.solid_from = 2; /* all but the darkest is grain */
  CK_OK(tl_binarize(&v, &whole, &o, &mask, &r));
  ck_assert_double_gt(dice(&mask), 0.95);
  tl_volume_free(&mask);
  tl_volume_free(&v);
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
  TL_NOT_SANITIZED();
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
  CK_OK(tl_nlm_choose_strength(&grey, &whole, &nlm));
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
  check_phantom(folder, "high", 0.985);
  check_phantom(folder, "low", 0.991);
}
END_TEST

TL_TEST_MAIN("binarize", otsu_has_the_least_within_class_variance,
             kmeans_threshold_is_midway_between_its_means,
             comb_histogram_of_few_levels_is_no_harder,
             constant_and_single_phase_stacks_are_refused, empty_region_is_named,
             denoised_void_is_still_refused, few_grains_are_not_refused,
             threshold_that_leaves_a_phase_empty_is_refused,
             hmrf_energy_never_rises_and_dice_is_not_below_otsu,
             hmrf_after_denoising_is_not_below_otsu, hmrf_energy_of_two_levels_is_its_interface,
             hmrf_energy_falls_with_each_sweep, field_reaches_the_minimum_of_its_slow_twin,
             blurred_field_falls_to_the_least_energy_of_its_slow_twin,
             neighbours_weigh_by_physical_distance, field_without_partial_volume_is_the_graph_cut,
             mask_has_the_same_bits_for_any_slab,
             memory_lets_fewer_slices_in_and_changes_nothing_else, plan_keeps_within_its_memory,
             slow_drift_is_followed_and_told, cupping_is_followed_and_told,
             opaque_grains_are_grain_and_leave_the_others_alone,
             mixture_finds_what_a_histogram_was_made_of,
             third_phase_is_told_and_kept_out_of_the_grains, phases_of_thin_stacks,
             phases_without_a_peak_are_refused, void_weight_gives_voxels_to_void,
             mask_has_the_same_bits_for_any_threads, dark_grains_are_the_negative,
             greys_outside_the_region_do_not_matter, small_islands_change_sides_and_cut_ones_stay,
             chain_on_the_owners_phantom)
