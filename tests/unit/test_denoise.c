#include "support/sand.h"
#include "support/tltest.h"
#include "oracle/itk_oracles.h"

#include "base/log.h"
#include "base/par.h"
#include "image/filters.h"
#include "image/slabs.h"
#include "image/nlm.h"
#include "image/noise.h"
#include "io/stack.h"

#include <stdbool.h>
#include <stdio.h>

static const TlRoi whole = {.kind = TL_ROI_ALL};

static void make_sand(TlVolume *v, int64_t nx, int64_t ny, int64_t nz, double sigma) {
  CK_OK(tl_volume_new(v, TL_F32, nx, ny, nz));
  for (int64_t i = 0; i < tl_volume_count(v); i++) {
    double grey = sand_grey(i % nx, i / nx % ny, i / nx / ny);
    v->f32[i] = (float)(grey + (sigma > 0 ? sand_noise(grey, sigma, 11, i) : 0));
  }
}

static double rms_difference(const TlVolume *a, const TlVolume *b) {
  double sum = 0;
  for (int64_t i = 0; i < tl_volume_count(a); i++) {
    double d = tl_volume_value(a, i) - tl_volume_value(b, i);
    sum += d * d;
  }
  return sqrt(sum / (double)tl_volume_count(a));
}

static double largest_difference(const TlVolume *a, const TlVolume *b) {
  double most = 0;
  for (int64_t i = 0; i < tl_volume_count(a); i++)
    most = fmax(most, fabs((double)a->f32[i] - (double)b->f32[i]));
  return most;
}

static int64_t mirror(int64_t i, int64_t n) {
  while (i < 0 || i >= n) i = i < 0 ? -1 - i : 2 * n - 1 - i;
  return i;
}

/* ---- gaussian ---- */

static double gaussian_oracle(const TlVolume *v, int64_t x, int64_t y, int64_t z, double sigma) {
  int reach = (int)ceil(4 * sigma);
  double sum = 0, total = 0;
  for (int k = -reach; k <= reach; k++)
    for (int j = -reach; j <= reach; j++)
      for (int i = -reach; i <= reach; i++) {
        double w = exp(-0.5 * (i * i + j * j + k * k) / (sigma * sigma));
        total += w;
        sum += w * (double)v->f32[tl_volume_at(v, mirror(x + i, v->nx), mirror(y + j, v->ny),
                                               mirror(z + k, v->nz))];
      }
  return sum / total;
}

START_TEST(gaussian_is_the_direct_triple_sum) {
  TlVolume v, g;
  make_sand(&v, 23, 19, 17, 10);
  CK_OK(tl_gaussian(&v, &whole, 1.3, &g));
  for (int64_t i = 0; i < tl_volume_count(&v); i += 97) {
    int64_t x = i % 23, y = i / 23 % 19, z = i / 23 / 19;
    CK_NEAR((double)g.f32[i], gaussian_oracle(&v, x, y, z, 1.3), 2e-4); /* 1e-6 of the range */
  }
  tl_volume_free(&v);
  tl_volume_free(&g);
}
END_TEST

START_TEST(gaussian_by_cosine_transform_is_the_direct_one) {
  double sigma[3] = {2, 5, 9}; /* the last reaches over the whole axis and back */
  TlVolume a, b;
  make_sand(&a, 37, 50, 21, 10);
  make_sand(&b, 37, 50, 21, 10);
  CK_OK(tl_gaussian_floats(a.f32, 37, 50, 21, sigma, TL_GAUSSIAN_DIRECT));
  CK_OK(tl_gaussian_floats(b.f32, 37, 50, 21, sigma, TL_GAUSSIAN_COSINE));
  CK_NEAR(largest_difference(&a, &b), 0, 5e-4);
  tl_volume_free(&a);
  tl_volume_free(&b);
}
END_TEST

START_TEST(gaussian_takes_nothing_from_outside_the_region) {
  TlVolume v, g;
  TlRoi disc = {.kind = TL_ROI_CYLINDER, .x = 15, .y = 14, .r = 11, .nx = 31, .ny = 29};
  CK_OK(tl_volume_new(&v, TL_F32, 31, 29, 12));
  for (int64_t i = 0; i < tl_volume_count(&v); i++)
    v.f32[i] = tl_roi_inside(&disc, i % 31, i / 31 % 29, 0) ? 77 : 1e6F;
  CK_OK(tl_gaussian(&v, &disc, 2, &g));
  for (int64_t i = 0; i < tl_volume_count(&v); i++)
    CK_NEAR((double)g.f32[i], tl_roi_inside(&disc, i % 31, i / 31 % 29, 0) ? 77 : 0, 1e-3);
  tl_volume_free(&v);
  tl_volume_free(&g);
}
END_TEST

/* ---- median ---- */

static int by_value(const void *a, const void *b) {
  float p = *(const float *)a, q = *(const float *)b;
  return p < q ? -1 : p > q;
}

static float median_oracle(const TlVolume *v, const TlRoi *roi, int64_t x, int64_t y, int64_t z) {
  float window[125];
  size_t n = 0;
  for (int64_t k = z - 2; k <= z + 2; k++)
    for (int64_t j = y - 2; j <= y + 2; j++)
      for (int64_t i = x - 2; i <= x + 2; i++)
        if (i >= 0 && j >= 0 && k >= 0 && i < v->nx && j < v->ny && k < v->nz &&
            tl_roi_inside(roi, i, j, k))
          window[n++] = v->f32[tl_volume_at(v, i, j, k)];
  qsort(window, n, sizeof *window, by_value);
  return window[(n - 1) / 2];
}

START_TEST(median_is_the_sorted_window) {
  TlVolume v, m;
  TlRoi disc = {.kind = TL_ROI_CYLINDER, .x = 9, .y = 8, .r = 7.5, .nx = 19, .ny = 17};
  make_sand(&v, 19, 17, 13, 10);
  CK_OK(tl_median(&v, &disc, 2, &m));
  for (int64_t i = 0; i < tl_volume_count(&v); i++) {
    int64_t x = i % 19, y = i / 19 % 17, z = i / 19 / 17;
    float want = tl_roi_inside(&disc, x, y, z) ? median_oracle(&v, &disc, x, y, z) : 0;
    ck_assert(m.f32[i] == want);
  }
  tl_volume_free(&v);
  tl_volume_free(&m);
}
END_TEST

/* ---- noise ---- */

/* 5%: the estimate's own scatter is under 1% with these 4e5 voxels; the rest is the edge and the
 * texture that the flat places still hold. */
static void check_noise(double sigma, bool round_to_whole) {
  TlVolume v, clean;
  TlNoise noise;
  make_sand(&clean, 80, 80, 64, 0);
  make_sand(&v, 80, 80, 64, sigma);
  double truth = rms_difference(&v, &clean);
  for (int64_t i = 0; round_to_whole && i < tl_volume_count(&v); i++) v.f32[i] = rintf(v.f32[i]);
  CK_OK(tl_noise_estimate(&v, &whole, &noise));
  CK_NEAR(noise.sigma / truth, 1, 0.05);
  ck_assert(noise.darkest < noise.brightest);
  tl_volume_free(&v);
  tl_volume_free(&clean);
}

START_TEST(noise_of_textured_sand_is_found_within_5_percent) {
  TL_NOT_SANITIZED();
  check_noise(4, false);
  check_noise(20, false);
  check_noise(4, true);
}
END_TEST

START_TEST(noise_is_judged_inside_the_region_only) {
  TlVolume v;
  TlNoise all, disc;
  TlRoi roi = {.kind = TL_ROI_CYLINDER, .x = 40, .y = 40, .r = 34, .nx = 80, .ny = 80};
  make_sand(&v, 80, 80, 40, 10);
  for (int64_t i = 0; i < tl_volume_count(&v); i++)
    if (!tl_roi_inside(&roi, i % 80, i / 80 % 80, 0)) v.f32[i] = 0;
  CK_OK(tl_noise_estimate(&v, &roi, &disc));
  CK_OK(tl_noise_estimate(&v, &whole, &all));
  CK_NEAR(disc.sigma, 9.3, 0.6); /* rms over void and grain of sd 10 at the grain level */
  ck_assert(all.sigma < 0.9 * disc.sigma);
  tl_volume_free(&v);
}
END_TEST

START_TEST(comb_histogram_has_at_least_its_rounding_noise) {
  TlVolume v;
  TlNoise noise;
  make_sand(&v, 40, 40, 40, 0);
  for (int64_t i = 0; i < tl_volume_count(&v); i++) v.f32[i] = 6 * rintf(v.f32[i] / 6);
  CK_OK(tl_noise_estimate(&v, &whole, &noise));
  CK_NEAR(noise.level_step, 6, 0);
  ck_assert(noise.sigma >= 6 / sqrt(12.0) * 0.999);
  tl_volume_free(&v);
}
END_TEST

START_TEST(noise_of_a_constant_or_thin_stack_is_refused) {
  TlVolume v;
  TlNoise noise;
  CK_OK(tl_volume_new(&v, TL_F32, 20, 20, 20));
  CK_FAILS(tl_noise_estimate(&v, &whole, &noise), TL_EINPUT, "same grey");
  v.f32[5] = 3;
  v.nz = 4;
  CK_FAILS(tl_noise_estimate(&v, &whole, &noise), TL_EINPUT, "too thin");
  tl_volume_free(&v);
}
END_TEST

/* ---- non-local means ---- */

static int patch_weight(int k, int radius) {
  return k == -radius || k == radius ? 1 : 2;
}

static double patch_distance(const TlVolume *v, const int64_t p[3], const int64_t q[3],
                             int radius) {
  double sum = 0, total = 0;
  for (int k = -radius; k <= radius; k++)
    for (int j = -radius; j <= radius; j++)
      for (int i = -radius; i <= radius; i++) {
        double a = v->f32[tl_volume_at(v, mirror(p[0] + i, v->nx), mirror(p[1] + j, v->ny),
                                       mirror(p[2] + k, v->nz))];
        double b = v->f32[tl_volume_at(v, mirror(q[0] + i, v->nx), mirror(q[1] + j, v->ny),
                                       mirror(q[2] + k, v->nz))];
        int g = patch_weight(i, radius) * patch_weight(j, radius) * patch_weight(k, radius);
        sum += g * (a - b) * (a - b);
        total += g;
      }
  return sum / total;
}

static double nlm_oracle(const TlVolume *v, const TlRoi *roi, const TlNlmOptions *o,
                         const int64_t p[3]) {
  double sum = 0, total = 0, h = o->h_factor * o->sigma;
  int64_t s = o->search / 2;
  for (int64_t k = p[2] - s; k <= p[2] + s; k++)
    for (int64_t j = p[1] - s; j <= p[1] + s; j++)
      for (int64_t i = p[0] - s; i <= p[0] + s; i++) {
        if (i < 0 || j < 0 || k < 0 || i >= v->nx || j >= v->ny || k >= v->nz) continue;
        if (!tl_roi_inside(roi, i, j, k)) continue;
        double d2 = patch_distance(v, p, (int64_t[3]){i, j, k}, o->patch / 2);
        double w = exp(-fmax(d2 - 2 * o->sigma * o->sigma, 0) / (2 * h * h));
        double away =
            pow((double)(i - p[0]), 2) + pow((double)(j - p[1]), 2) + pow((double)(k - p[2]), 2);
        if (o->reach > 0) w *= exp(-away / (2 * o->reach * o->reach));
        sum += w * (double)v->f32[tl_volume_at(v, i, j, k)];
        total += w;
      }
  return sum / total;
}

/* bright: a voxel so bright that its squares must be cut. */
static void check_nlm(const TlRoi *roi, int patch, int search, double reach, float bright) {
  TlVolume v, out;
  TlNlmOptions o = {.sigma = 10, .h_factor = 0.6, .reach = reach, .patch = patch, .search = search};
  make_sand(&v, 22, 18, 15, 10);
  v.f32[tl_volume_at(&v, 11, 9, 7)] += bright;
  CK_OK(tl_nlm(&v, roi, &o, &out));
  for (int64_t i = 0; i < tl_volume_count(&v); i += 61) {
    int64_t p[3] = {i % 22, i / 22 % 18, i / 22 / 18};
    double want = tl_roi_inside(roi, p[0], p[1], p[2]) ? nlm_oracle(&v, roi, &o, p) : 0;
    CK_NEAR((double)out.f32[i], want,
            patch > 5 ? 1e-2 : 1e-3); /* squares of wide patches get fewer bits */
  }
  tl_volume_free(&v);
  tl_volume_free(&out);
}

START_TEST(nlm_is_the_direct_sum) {
  TlRoi disc = {.kind = TL_ROI_CYLINDER, .x = 11, .y = 9, .r = 7.6, .nx = 22, .ny = 18};
  check_nlm(&whole, 5, 11, 0, 0);
  check_nlm(&whole, 3, 7, 2.5, 0);
  check_nlm(&whole, 1, 5, 0, 0);
  check_nlm(&whole, 7, 5, 0, 0);
  check_nlm(&disc, 5, 9, 1.5, 0);
  check_nlm(&whole, 5, 7, 0, 1e6F);
}
END_TEST

START_TEST(nlm_has_the_same_bits_for_any_threads_and_tiles) {
  TlVolume v, first, other;
  TlNlmOptions o = {.sigma = 10, .h_factor = 0.6, .patch = 5, .search = 9};
  static const int tiles[][3] = {{64, 64, 64}, {7, 9, 5}, {17, 16, 40}, {33, 3, 11}};
  int threads = tl_par_threads();
  make_sand(&v, 45, 30, 26, 10);
  v.f32[tl_volume_at(&v, 20, 20, 3)] = 5000; /* some tiles cut squares, others need not */
  CK_OK(tl_nlm(&v, &whole, &o, &first));
  for (int k = 0; k < 4; k++) {
    for (int a = 0; a < 3; a++) o.tile[a] = tiles[k][a];
    tl_par_set_threads(1 + k % 3);
    CK_OK(tl_nlm(&v, &whole, &o, &other));
    ck_assert_mem_eq(first.data, other.data, (size_t)tl_volume_count(&v) * sizeof(float));
    tl_volume_free(&other);
  }
  tl_par_set_threads(threads);
  tl_volume_free(&v);
  tl_volume_free(&first);
}
END_TEST

/* This sand is harder than most (grains of 9 voxels, texture of a third of the noise), yet the
 * error over all voxels, edges included, must fall to less than half, which no Gaussian does. */
START_TEST(nlm_takes_noise_where_a_gaussian_takes_edges) {
  TlVolume clean, v, out;
  TlNlmOptions o = {.sigma = 9.3, .h_factor = 0.5, .patch = 5, .search = 11};
  make_sand(&clean, 48, 48, 48, 0);
  make_sand(&v, 48, 48, 48, 10);
  CK_OK(tl_nlm(&v, &whole, &o, &out));
  double noisy = rms_difference(&v, &clean), best = noisy;
  CK_NEAR(rms_difference(&out, &clean) / noisy, 0.4, 0.1);
  for (double sigma = 0.3; sigma < 1.2; sigma += 0.1) {
    TlVolume blurred;
    CK_OK(tl_gaussian(&v, &whole, sigma, &blurred));
    best = fmin(best, rms_difference(&blurred, &clean));
    tl_volume_free(&blurred);
  }
  ck_assert_double_gt(best, 1.2 * rms_difference(&out, &clean));
  tl_volume_free(&clean);
  tl_volume_free(&v);
  tl_volume_free(&out);
}
END_TEST

/* The strength chosen blindly must leave at most 5% more error than the best one of the list, which
 * only the clean sand can tell; and the choice must follow the noise. */
START_TEST(strength_is_chosen_as_if_the_truth_were_known) {
  TL_NOT_SANITIZED();
  static const TlNlmStrength strengths[] = TL_NLM_STRENGTHS;
  static const double sigmas[] = {2.5, 25};
  double chosen[2];
  for (int k = 0; k < 2; k++) {
    TlVolume clean, v, out;
    TlNlmOptions o = {.patch = 3, .search = 7, .quiet = true};
    make_sand(&clean, 44, 44, 44, 0);
    make_sand(&v, 44, 44, 44, sigmas[k]);
    o.sigma = rms_difference(&v, &clean);
    CK_OK(tl_nlm_choose_strength(&v, &whole, &o));
    chosen[k] = o.h_factor;
    double best = INFINITY, own = INFINITY;
    for (size_t i = 0; i < sizeof strengths / sizeof *strengths; i++) {
      o.h_factor = strengths[i].h_factor;
      o.reach = strengths[i].reach;
      CK_OK(tl_nlm(&v, &whole, &o, &out));
      double error = rms_difference(&out, &clean);
      best = fmin(best, error);
      if (strengths[i].h_factor == chosen[k]) own = error;
      tl_volume_free(&out);
    }
    ck_assert_double_le(own, 1.05 * best);
    tl_volume_free(&clean);
    tl_volume_free(&v);
  }
  ck_assert_double_ne(chosen[0], chosen[1]);
}
END_TEST

/* ---- slabs: every filter in pieces has the bits of the whole ---- */

typedef struct Piece {
  int method;
  TlNlmOptions nlm;
} Piece;

static TlStatus filter_piece(const void *context, const TlVolume *grey, const TlRoi *roi,
                             TlVolume *out) {
  const Piece *p = context;
  switch (p->method) {
  case 0:
    return tl_nlm(grey, roi, &p->nlm, out);
  case 1:
    return tl_gaussian(grey, roi, 1.2, out);
  case 2:
    return tl_gaussian(grey, roi, 7, out); /* wide: x and y by the cosine transform */
  case 3:
    return tl_median(grey, roi, 2, out);
  case 4:
    return tl_bilateral(grey, roi, 1.1, 30, out);
  default:
    return tl_diffusion(grey, roi, 20, 0.1, 4, out);
  }
}

static void check_slabs(const TlVolume *v, const TlRoi *roi, int method, int64_t halo) {
  TlVolume at_once, pieces;
  TlLayers layers;
  Piece piece = {method, {.sigma = 10, .h_factor = 0.6, .reach = 2, .patch = 5, .search = 9}};
  piece.nlm.quiet = true;
  CK_OK(filter_piece(&piece, v, roi, &at_once));
  CK_OK(tl_volume_like(&pieces, v, TL_F32));
  tl_layers_of(v, &layers);
  for (int64_t each = 3; each < v->nz; each += TL_SIZE(8, 24)) {
    TlSlabPlan plan = {.slabs = 9, .layers = each, .halo = halo};
    TlSlabRun run = {.filter = filter_piece, .context = &piece, .type = TL_F32};
    TlVolumeSink into = {.volume = &pieces};
    TlLayerSink sink = tl_sink_of(&into);
    CK_OK(tl_sink_end(&sink, tl_slabs_run(&plan, &run, &layers, roi, &sink)));
    ck_assert_mem_eq(at_once.data, pieces.data, (size_t)tl_volume_count(v) * sizeof(float));
  }
  tl_volume_free(&at_once);
  tl_volume_free(&pieces);
}

START_TEST(slabs_have_the_bits_of_the_whole) {
  static const int64_t halo[] = {6, 5, 28, 2, 3, 4};
  TlVolume v, mask;
  TlLayers layers;
  TlRoi disc = {.kind = TL_ROI_CYLINDER, .x = 12, .y = 10, .r = 9.3, .nx = 26, .ny = 22}, ball;
  make_sand(&v, 26, 22, 31, 10);
  CK_OK(tl_volume_like(&mask, &v, TL_U8));
  for (int64_t i = 0; i < tl_volume_count(&v); i++) {
    double x = (double)(i % 26) - 12, y = (double)(i / 26 % 22) - 10, z = (double)(i / 572) - 14;
    mask.u8[i] = x * x + y * y + z * z < 150;
  }
  tl_layers_of(&mask, &layers);
  CK_OK(tl_roi_from_mask(&layers, &v, &ball));
  for (int method = 0; method < 6; method++) {
    check_slabs(&v, &whole, method, halo[method]);
    check_slabs(&v, &disc, method, halo[method]);
    check_slabs(&v, &ball, method, halo[method]);
  }
  tl_roi_free(&ball);
  tl_volume_free(&mask);
  tl_volume_free(&v);
}
END_TEST

START_TEST(slabs_fit_the_memory_or_say_what_is_needed) {
  TlVolume head = {.nx = 1000, .ny = 1000, .nz = 500, .type = TL_U16};
  TlSlabPlan plan;
  CK_OK(tl_slabs_plan(&head, 7, 4, 50000000, 0, &plan));
  ck_assert(plan.slabs == 1 && plan.layers == 500 && plan.filtered == 500);
  CK_OK(tl_slabs_plan(&head, 7, 4, 50000000, 1000000000, &plan));
  ck_assert(plan.slabs > 1 && plan.layers * plan.slabs >= 500);
  ck_assert_int_le(plan.bytes, 1000000000);
  ck_assert_int_gt(plan.filtered, 500);
  CK_FAILS(tl_slabs_plan(&head, 7, 4, 50000000, 100000000, &plan), TL_EUSAGE, "takes 2");
}
END_TEST

/* ---- bilateral, diffusion ---- */

START_TEST(bilateral_is_the_direct_sum) {
  TlVolume v, b;
  TlRoi disc = {.kind = TL_ROI_CYLINDER, .x = 9, .y = 8, .r = 6.5, .nx = 19, .ny = 17};
  make_sand(&v, 19, 17, 13, 10);
  CK_OK(tl_bilateral(&v, &disc, 1, 25, &b));
  for (int64_t i = 0; i < tl_volume_count(&v); i += 7) {
    int64_t x = i % 19, y = i / 19 % 17, z = i / 19 / 17;
    double sum = 0, total = 0;
    for (int64_t q = 0; q < tl_volume_count(&v); q++) {
      int64_t qx = q % 19, qy = q / 19 % 17, qz = q / 19 / 17;
      if (llabs(qx - x) > 3 || llabs(qy - y) > 3 || llabs(qz - z) > 3) continue;
      if (!tl_roi_inside(&disc, qx, qy, qz)) continue;
      double away = pow((double)(qx - x), 2) + pow((double)(qy - y), 2) + pow((double)(qz - z), 2);
      double d = (double)v.f32[q] - (double)v.f32[i];
      double w = exp(-away / 2 - d * d / (2 * 25 * 25));
      sum += w * (double)v.f32[q];
      total += w;
    }
    CK_NEAR((double)b.f32[i], tl_roi_inside(&disc, x, y, z) ? sum / total : 0, 1e-4);
  }
  tl_volume_free(&v);
  tl_volume_free(&b);
}
END_TEST

/* What flows out of one voxel flows into its neighbour: the sum stays; and a flat slope is heat
 * conduction, which spreads a point's variance by 2 step a round along each axis. */
START_TEST(diffusion_keeps_the_grey_and_spreads_like_heat) {
  TlVolume v, d;
  double before = 0, after = 0, spread = 0;
  make_sand(&v, 20, 18, 16, 10);
  CK_OK(tl_diffusion(&v, &whole, 15, 0.15, 7, &d));
  for (int64_t i = 0; i < tl_volume_count(&v); i++) {
    before += (double)v.f32[i];
    after += (double)d.f32[i];
  }
  CK_NEAR(after / before, 1, 1e-6);
  tl_volume_free(&v);
  tl_volume_free(&d);
  CK_OK(tl_volume_new(&v, TL_F32, 21, 21, 21));
  v.f32[tl_volume_at(&v, 10, 10, 10)] = 1;
  CK_OK(tl_diffusion(&v, &whole, 1e4, 0.15, 6, &d));
  for (int64_t i = 0; i < tl_volume_count(&v); i++)
    spread += (double)d.f32[i] * pow((double)(i % 21) - 10, 2);
  CK_NEAR(spread, 6 * 2 * 0.15, 1e-5);
  tl_volume_free(&v);
  tl_volume_free(&d);
}
END_TEST

/* Without the margin, where ITK repeats the border's voxels. */
static double inner_rms_difference(const TlVolume *a, const TlVolume *b, int64_t margin) {
  double sum = 0, n = 0;
  for (int64_t z = margin; z < a->nz - margin; z++)
    for (int64_t y = margin; y < a->ny - margin; y++)
      for (int64_t x = margin; x < a->nx - margin; x++, n++) {
        int64_t i = tl_volume_at(a, x, y, z);
        sum += pow((double)a->f32[i] - (double)b->f32[i], 2);
      }
  return sqrt(sum / n);
}

/* ITK's own: another rounding (1e-3 grey), a Gaussian cut elsewhere, a range kernel in 100 steps.
 */
START_TEST(filters_agree_with_itk) {
  TlVolume v, ours, theirs;
  make_sand(&v, 24, 20, 18, 10);
  CK_OK(tl_diffusion(&v, &whole, 25, 0.0625, 5, &ours));
  CK_OK(tl_itk_diffusion(&v, 25, 0.0625, 5, &theirs));
  CK_NEAR(largest_difference(&ours, &theirs), 0, 2e-3);
  tl_volume_free(&ours);
  tl_volume_free(&theirs);
  CK_OK(tl_bilateral(&v, &whole, 1, 30, &ours));
  CK_OK(tl_itk_bilateral(&v, 1, 30, &theirs));
  CK_NEAR(inner_rms_difference(&ours, &theirs, 3), 0, 0.2);
  tl_volume_free(&ours);
  tl_volume_free(&theirs);
  CK_OK(tl_gaussian(&v, &whole, 1.4, &ours));
  CK_OK(tl_itk_gaussian(&v, 1.4, &theirs)); /* samples of another, discrete kernel */
  CK_NEAR(inner_rms_difference(&ours, &theirs, 6), 0, 0.3);
  tl_volume_free(&ours);
  tl_volume_free(&theirs);
  CK_OK(tl_median(&v, &whole, 1, &ours));
  CK_OK(tl_itk_median(&v, 1, &theirs));
  CK_NEAR(inner_rms_difference(&ours, &theirs, 1), 0, 0);
  tl_volume_free(&ours);
  tl_volume_free(&theirs);
  tl_volume_free(&v);
}
END_TEST

/* ---- correlated noise, rings ---- */

/* Noise smoothed over `width` voxels and brought back to sd 10, on the sand. */
static void correlated_sand(TlVolume *v, double width) {
  TlVolume noise;
  double square = 0;
  make_sand(v, 80, 80, 64, 0);
  CK_OK(tl_volume_like(&noise, v, TL_F32));
  int64_t n = tl_volume_count(v);
  for (int64_t i = 0; i < n; i++) noise.f32[i] = (float)tl_random_normal(5, 3, (uint64_t)i);
  CK_OK(tl_gaussian_floats(noise.f32, 80, 80, 64, (double[3]){width, width, width},
                           TL_GAUSSIAN_DIRECT));
  for (int64_t i = 0; i < n; i++) square += (double)noise.f32[i] * (double)noise.f32[i];
  for (int64_t i = 0; i < n; i++) v->f32[i] += 10 * noise.f32[i] / (float)sqrt(square / (double)n);
  tl_volume_free(&noise);
}

START_TEST(correlated_noise_is_said_and_its_level_still_found) {
  TL_NOT_SANITIZED();
  static const double widths[] = {0.5, 0.7};
  for (int k = 0; k < 2; k++) {
    TlVolume v;
    TlNoise noise;
    correlated_sand(&v, widths[k]);
    CK_OK(tl_noise_estimate(&v, &whole, &noise));
    ck_assert(noise.correlated);
    ck_assert_double_lt(noise.narrow, 8.5); /* what neighbours alone say */
    CK_NEAR(noise.sigma / 10, 1, 0.15);     /* the sand's own texture and edges come in */
    tl_volume_free(&v);
  }
}
END_TEST

START_TEST(white_noise_is_not_taken_for_correlated) {
  TL_NOT_SANITIZED();
  static const double sigmas[] = {6, 10, 20};
  for (int k = 0; k < 3; k++) {
    TlVolume v;
    TlNoise noise;
    make_sand(&v, 80, 80, 64, sigmas[k]);
    CK_OK(tl_noise_estimate(&v, &whole, &noise));
    ck_assert(!noise.correlated);
    tl_volume_free(&v);
  }
}
END_TEST

/* Rings of random strength a radius about (x, y), the same in every layer. */
static void add_rings(TlVolume *v, double x, double y, double rms) {
  for (int64_t i = 0; i < tl_volume_count(v); i++) {
    double dx = (double)(i % v->nx) - x, dy = (double)(i / v->nx % v->ny) - y;
    int64_t r = (int64_t)(sqrt(dx * dx + dy * dy) + 0.5);
    v->f32[i] += (float)(rms * tl_random_normal(9, 1, (uint64_t)r));
  }
}

START_TEST(rings_are_found_with_their_axis_and_strength) {
  TlVolume v;
  TlRings rings;
  TlLayers layers;
  make_sand(&v, 96, 90, 48, 10);
  add_rings(&v, 45.5, 47, 2.5); /* a quarter of the noise; the middle is 47.5, 44.5 */
  tl_layers_of(&v, &layers);
  CK_OK(tl_noise_rings(&layers, &whole, 9.3, &rings));
  ck_assert(rings.found);
  CK_NEAR(rings.x, 45.5, 0.6);
  CK_NEAR(rings.y, 47, 0.6);
  CK_NEAR(rings.amplitude / 2.5, 1, 0.3);
  /* beyond the corners the radius says nothing; of a far axis no rings are seen */
  TlRings far;
  TlRoi disc = {.kind = TL_ROI_CYLINDER, .x = 47.5, .y = 44.5, .r = 200, .nx = 96, .ny = 90};
  CK_OK(tl_noise_rings(&layers, &disc, 9.3, &rings));
  ck_assert(rings.score > 0);
  disc.r = 1e300;
  CK_OK(tl_noise_rings(&layers, &disc, 9.3, &far));
  ck_assert(far.x == rings.x && far.y == rings.y && far.score == rings.score);
  disc.x = -1e12, disc.r = 2e12;
  CK_OK(tl_noise_rings(&layers, &disc, 9.3, &far));
  ck_assert(!far.found);
  tl_volume_free(&v);
}
END_TEST

/* No alarm: white noise alone, sand, sand in a disc, over several noises. */
START_TEST(no_rings_are_seen_where_there_are_none) {
  TL_NOT_SANITIZED();
  TlRoi disc = {.kind = TL_ROI_CYLINDER, .x = 47, .y = 44, .r = 42, .nx = 96, .ny = 90};
  for (uint64_t seed = 1; seed <= 6; seed++) {
    TlVolume v;
    TlRings rings;
    TlLayers layers;
    make_sand(&v, 96, 90, 24, 0);
    for (int64_t i = 0; i < tl_volume_count(&v); i++) {
      double grey = seed % 2 ? (double)v.f32[i] : 100;
      v.f32[i] = (float)(grey + 10 * tl_random_normal(seed, 2, (uint64_t)i));
    }
    tl_layers_of(&v, &layers);
    CK_OK(tl_noise_rings(&layers, seed % 3 ? &whole : &disc, 10, &rings));
    ck_assert_msg(!rings.found, "seed %d: score %g", (int)seed, rings.score);
    tl_volume_free(&v);
  }
}
END_TEST

START_TEST(stored_greys_are_rounded_and_cut_to_the_type) {
  TlVolume g, s;
  CK_OK(tl_volume_new(&g, TL_F32, 4, 1, 1));
  memcpy(g.f32, (float[]){-3, 2.5F, 254.6F, 300}, 4 * sizeof(float));
  CK_OK(tl_grey_store(&g, TL_U8, &s));
  ck_assert(s.u8[0] == 0 && s.u8[1] == 2 && s.u8[2] == 255 && s.u8[3] == 255);
  tl_volume_free(&s);
  CK_OK(tl_grey_store(&g, TL_I16, &s));
  ck_assert(s.i16[0] == -3 && s.i16[3] == 300);
  tl_volume_free(&s);
  tl_volume_free(&g);
}
END_TEST

/* Owner's phantom, when TALUS_PHANTOM names its folder: PSNR with peak 255, grey = uint16 / 200. */
static double phantom_psnr(const char *folder, const char *level) {
  char path[512];
  TlVolume clean, noisy, grey, out, back;
  TlNoise noise;
  snprintf(path, sizeof path, "%s/phantom_128_clean_u16.tif", folder);
  CK_OK(tl_stack_read(path, &(TlStackOptions){0}, NULL, &clean));
  snprintf(path, sizeof path, "%s/phantom_128_%s_u16.tif", folder, level);
  CK_OK(tl_stack_read(path, &(TlStackOptions){0}, NULL, &noisy));
  CK_OK(tl_volume_to_f32(&noisy, &grey));
  CK_OK(tl_noise_estimate(&grey, &whole, &noise));
  CK_NEAR(noise.sigma / rms_difference(&noisy, &clean), 1, 0.05);
  TlNlmOptions o = {.sigma = noise.sigma, .patch = 5, .search = 11};
  CK_OK(tl_nlm_choose_strength(&grey, &whole, &o));
  CK_OK(tl_nlm(&grey, &whole, &o, &out));
  CK_OK(tl_grey_store(&out, TL_U16, &back));
  double psnr = 20 * log10(255 * 200 / rms_difference(&back, &clean));
  tl_volume_free(&clean);
  tl_volume_free(&noisy);
  tl_volume_free(&grey);
  tl_volume_free(&out);
  tl_volume_free(&back);
  return psnr;
}

START_TEST(nlm_on_the_owners_phantom) {
  const char *folder = getenv("TALUS_PHANTOM");
  if (!folder) return;
  ck_assert_double_ge(phantom_psnr(folder, "high"), 38);
  ck_assert_double_ge(phantom_psnr(folder, "low"), 44);
}
END_TEST

TL_TEST_MAIN("denoise", gaussian_is_the_direct_triple_sum,
             gaussian_by_cosine_transform_is_the_direct_one,
             gaussian_takes_nothing_from_outside_the_region, median_is_the_sorted_window,
             noise_of_textured_sand_is_found_within_5_percent,
             noise_is_judged_inside_the_region_only, comb_histogram_has_at_least_its_rounding_noise,
             noise_of_a_constant_or_thin_stack_is_refused, nlm_is_the_direct_sum,
             nlm_has_the_same_bits_for_any_threads_and_tiles,
             nlm_takes_noise_where_a_gaussian_takes_edges,
             strength_is_chosen_as_if_the_truth_were_known, slabs_have_the_bits_of_the_whole,
             slabs_fit_the_memory_or_say_what_is_needed, bilateral_is_the_direct_sum,
             diffusion_keeps_the_grey_and_spreads_like_heat, filters_agree_with_itk,
             correlated_noise_is_said_and_its_level_still_found,
             white_noise_is_not_taken_for_correlated, rings_are_found_with_their_axis_and_strength,
             no_rings_are_seen_where_there_are_none, stored_greys_are_rounded_and_cut_to_the_type,
             nlm_on_the_owners_phantom)
