#include "support/tltest.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/par.h"
#include "base/random.h"
#include "image/superres.h"
#include "image/superres_base.h"
#include "image/superres_codes.h"
#include "image/superres_planes.h"
#include "io/h5_dictionary.h"
#include "num/linear.h"

#include <stdio.h>

__attribute__((constructor)) static void be_quiet(void) {
  tl_log_set("test", TL_LOG_ERROR);
}

static const TlRoi whole = {.kind = TL_ROI_ALL};

/* Blurred balls: edges of all directions. */
static void make(TlVolume *v, int64_t nx, int64_t ny, int64_t nz, uint64_t seed) {
  CK_OK(tl_volume_new(v, TL_F32, nx, ny, nz));
  for (int64_t i = 0; i < tl_volume_count(v); i++) {
    double best = 1e9, x = (double)(i % nx), y = (double)(i / nx % ny), z = (double)(i / nx / ny);
    for (uint64_t b = 0; b < 12; b++) {
      double cx = (double)nx * tl_random_uniform(seed, b, 0), r;
      double cy = (double)ny * tl_random_uniform(seed, b, 1);
      double cz = (double)nz * tl_random_uniform(seed, b, 2);
      r = 5 + 5 * tl_random_uniform(seed, b, 3);
      best = fmin(best, sqrt((x - cx) * (x - cx) + (y - cy) * (y - cy) + (z - cz) * (z - cz)) - r);
    }
    v->f32[i] = (float)(125 - 35 * tanh(best / 0.9));
  }
}

static void train_small(int factor, TlDictionary *d, TlTrained *result) {
  TlVolume fine;
  TlTraining t = {.factor = factor,
                  .atoms = 64,
                  .pairs = 1500,
                  .codes = 3,
                  .rounds = 3,
                  .tolerance = 0.1,
                  .seed = 5};
  make(&fine, 48, 48, 48, 1);
  CK_OK(tl_superres_train(&fine, &whole, &t, d, result));
  tl_volume_free(&fine);
}

/* Layers that do not fill a cube of the factor are left out: the same dictionary without them. */
START_TEST(training_leaves_out_what_fills_no_cube) {
  TlVolume fine, cut;
  TlTraining t = {
      .factor = 3, .atoms = 16, .pairs = 300, .codes = 2, .rounds = 1, .tolerance = 0.1};
  TlDictionary d, e;
  TlTrained result;
  make(&fine, 31, 32, 35, 1);
  CK_OK(tl_volume_new(&cut, TL_F32, 30, 30, 33));
  for (int64_t i = 0; i < tl_volume_count(&cut); i++)
    cut.f32[i] = fine.f32[tl_volume_at(&fine, i % 30, i / 30 % 30, i / 900)];
  CK_OK(tl_superres_train(&fine, &whole, &t, &d, &result));
  CK_OK(tl_superres_train(&cut, &whole, &t, &e, &result));
  ck_assert(d.atoms == e.atoms);
  ck_assert(!memcmp(d.high, e.high, (size_t)d.atoms * TL_PATCH_VOXELS * sizeof(float)));
  tl_dictionary_free(&d), tl_dictionary_free(&e);
  tl_volume_free(&fine), tl_volume_free(&cut);
}
END_TEST

static double rms(const TlVolume *a, const TlVolume *b) {
  double sum = 0;
  for (int64_t i = 0; i < tl_volume_count(a); i++) {
    double d = (double)a->f32[i] - (double)b->f32[i];
    sum += d * d;
  }
  return sqrt(sum / (double)tl_volume_count(a));
}

START_TEST(box_means_of_the_interpolation_are_the_stack) {
  for (int factor = 2; factor <= 4; factor++) {
    TlVolume c, fine, back;
    TlUpsampler u;
    CK_OK(tl_volume_new(&c, TL_F32, 11, 3, 7));
    c.voxel_m[0] = c.voxel_m[1] = 4e-6, c.voxel_m[2] = 8e-6;
    for (int64_t i = 0; i < tl_volume_count(&c); i++)
      c.f32[i] = (float)(100 * tl_random_uniform(1, 1, (uint64_t)i));
    tl_upsampler(factor, &u);
    CK_OK(tl_upsample(&u, &c, &fine));
    ck_assert(fine.nx == 11 * factor && fine.nz == 7 * factor);
    CK_NEAR(fine.voxel_m[2], 8e-6 / factor, 1e-20);
    CK_OK(tl_box_means(&fine, factor, &back));
    CK_NEAR(rms(&back, &c), 0, 0.1); /* the inverse is cut off 8 voxels out */
    tl_box_project(&fine, &c, factor);
    tl_volume_free(&back);
    CK_OK(tl_box_means(&fine, factor, &back));
    CK_NEAR(rms(&back, &c), 0, 2e-5); /* float's rounding at 100 */
    tl_volume_free(&back), tl_volume_free(&fine), tl_volume_free(&c);
  }
}
END_TEST

/* The fast features of windows against plain sums in the same order: the same bits. */
START_TEST(features_are_plain_sums) {
  enum { DIMS = 23, COUNT = 7, ROW = 31, ROWS = 14 };
  float analysis[DIMS * TL_WINDOW_VOXELS], plane[ROW * ROWS], y[COUNT * DIMS], *table;
  const float *at[COUNT];
  for (int i = 0; i < DIMS * TL_WINDOW_VOXELS; i++)
    analysis[i] = (float)tl_random_normal(6, 0, (uint64_t)i);
  for (int i = 0; i < ROW * ROWS; i++) plane[i] = (float)tl_random_normal(6, 1, (uint64_t)i);
  for (int i = 0; i < COUNT; i++) at[i] = plane + 3 * i + (i % 5) * ROW;
  CK_OK(TL_NEW(table, TL_WINDOW_VOXELS * TL_DICTIONARY_DIMS));
  tl_windows_table(analysis, DIMS, table);
  tl_windows_analyse(table, DIMS, at, COUNT, ROW, y);
  for (int i = 0; i < COUNT; i++)
    for (int k = 0; k < DIMS; k++) {
      float sum = 0;
      for (int w = 0; w < TL_WINDOW_VOXELS; w++)
        sum += analysis[k * TL_WINDOW_VOXELS + w] * at[i][w / TL_WINDOW * ROW + w % TL_WINDOW];
      ck_assert(y[i * DIMS + k] == sum);
    }
  tl_free(table);
}
END_TEST

START_TEST(codes_are_least_squares_on_greedy_supports) {
  enum { ATOMS = 48, DIMS = 9, COUNT = 37, MOST = 4 };
  float low[ATOMS * DIMS], y[COUNT * DIMS], *scratch;
  TlCoder coder;
  TlCode codes[COUNT];
  for (int a = 0; a < ATOMS; a++) {
    double n = 0;
    for (int k = 0; k < DIMS; k++) {
      low[a * DIMS + k] = (float)tl_random_normal(2, (uint64_t)a, (uint64_t)k);
      n += (double)low[a * DIMS + k] * (double)low[a * DIMS + k];
    }
    for (int k = 0; k < DIMS; k++) low[a * DIMS + k] /= (float)sqrt(n);
  }
  for (int i = 0; i < COUNT * DIMS; i++) y[i] = (float)tl_random_normal(3, 0, (uint64_t)i);
  CK_OK(tl_coder_make(ATOMS, DIMS, MOST, low, &coder));
  CK_OK(TL_NEW(scratch, (size_t)tl_coder_scratch(&coder)));
  tl_coder_code(&coder, y, COUNT, 0.5, scratch, codes);
  for (int i = 0; i < COUNT; i++) {
    double left[DIMS], sum = 0;
    TlCode alone;
    for (int k = 0; k < DIMS; k++) left[k] = (double)y[i * DIMS + k];
    for (int n = 0; n < codes[i].used; n++) { /* each atom was the greatest at its turn */
      double g[MOST * MOST], w[MOST], most = 0, taken = 0;
      for (int a = 0; a < ATOMS; a++) {
        double dot = 0;
        for (int k = 0; k < DIMS; k++) dot += left[k] * (double)low[a * DIMS + k];
        most = fmax(most, fabs(dot));
        if (a == codes[i].atom[n]) taken = fabs(dot);
      }
      CK_NEAR(taken, most, 1e-5);
      for (int p = 0; p <= n; p++) {
        w[p] = 0;
        for (int k = 0; k < DIMS; k++)
          w[p] += (double)low[codes[i].atom[p] * DIMS + k] * (double)y[i * DIMS + k];
        for (int q = 0; q <= n; q++) {
          g[p * (n + 1) + q] = 0;
          for (int k = 0; k < DIMS; k++)
            g[p * (n + 1) + q] +=
                (double)low[codes[i].atom[p] * DIMS + k] * (double)low[codes[i].atom[q] * DIMS + k];
        }
      }
      CK_OK(tl_linear_solve(n + 1, g, 1, w));
      for (int k = 0; k < DIMS; k++) {
        left[k] = (double)y[i * DIMS + k];
        for (int p = 0; p <= n; p++) left[k] -= w[p] * (double)low[codes[i].atom[p] * DIMS + k];
      }
      if (n == codes[i].used - 1)
        for (int p = 0; p <= n; p++) CK_NEAR((double)codes[i].weight[p], w[p], 1e-4);
    }
    for (int k = 0; k < DIMS; k++) sum += left[k] * left[k];
    ck_assert(codes[i].used == MOST || sum <= 0.5 + 1e-5);
    tl_coder_code(&coder, y + i * DIMS, 1, 0.5, scratch, &alone); /* whatever it is coded with */
    ck_assert_int_eq(alone.used, codes[i].used);
    ck_assert(!memcmp(alone.weight, codes[i].weight, (size_t)alone.used * sizeof(float)));
  }
  tl_free(scratch);
  tl_coder_free(&coder);
}
END_TEST

START_TEST(the_dual_meets_kkt_and_plain_descent) {
  enum { N = 6, ROWS = 5, COUNT = 60 };
  double z[N * COUNT], x[ROWS * COUNT], zz[N * N], zx[N * ROWS], l[N] = {0}, d[N * ROWS];
  double plain[N * ROWS] = {0};
  for (int i = 0; i < N * COUNT; i++) z[i] = tl_random_normal(4, 0, (uint64_t)i);
  for (int i = 0; i < ROWS * COUNT; i++)
    x[i] = (i % COUNT < 30 ? 4 : 0.1) * tl_random_normal(4, 1, (uint64_t)i) +
           (i < COUNT ? 2 * z[i] : 0.1 * z[i % COUNT + COUNT]);
  tl_linear_product(false, true, N, N, COUNT, z, z, zz);
  tl_linear_product(false, true, N, ROWS, COUNT, z, x, zx);
  TlDual dual = {.atoms = N, .rows = ROWS, .zz = zz, .zx = zx, .multiplier = l, .dictionary = d};
  CK_OK(tl_dual_solve(&dual));
  CK_NEAR(dual.violation, 0, 1e-5);
  int held = 0, loose = 0;
  for (int i = 0; i < N; i++) {
    double n = 0;
    for (int r = 0; r < ROWS; r++) n += d[i * ROWS + r] * d[i * ROWS + r];
    ck_assert(n <= 1 + 1e-5 && l[i] >= 0);
    if (n < 1 - 1e-4) {
      CK_NEAR(l[i], 0, 1e-6);
      loose++;
    } else {
      held++;
    }
  }
  ck_assert(held > 0 && loose > 0);        /* both kinds are tried */
  for (int step = 0; step < 20000; step++) /* projected gradient, an independent way */
    for (int i = 0; i < N; i++) {
      double n = 0;
      for (int r = 0; r < ROWS; r++) {
        double g = -zx[i * ROWS + r];
        for (int j = 0; j < N; j++) g += zz[i * N + j] * plain[j * ROWS + r];
        plain[i * ROWS + r] -= g / 400;
        n += plain[i * ROWS + r] * plain[i * ROWS + r];
      }
      for (int r = 0; r < ROWS && n > 1; r++) plain[i * ROWS + r] /= sqrt(n);
    }
  for (int i = 0; i < N * ROWS; i++) CK_NEAR(d[i], plain[i], 1e-4);
}
END_TEST

/* By the plan's slabs; kept: a new volume of the size of model. */
static void run_kept(const TlDictionary *d, const TlSuperresOptions *options,
                     const TlSuperresPlan *plan, const TlLayers *stack, const TlRoi *roi,
                     const TlVolume *model, TlVolume *kept, TlSuperresResult *result) {
  CK_OK(tl_volume_like(kept, model, TL_F32));
  TlVolumeSink into = {.volume = kept};
  TlLayerSink sink = tl_sink_of(&into);
  CK_OK(tl_sink_end(&sink, tl_superres_run(d, options, plan, stack, roi, TL_F32, &sink, result)));
}

START_TEST(better_than_interpolation_means_kept_slabs_and_threads_same_bits) {
  TlDictionary d;
  TlTrained result;
  TlSuperresResult t;
  TlVolume fine, coarse, base, out, back, kept;
  TlUpsampler u;
  TlLayers stack;
  TlSuperresOptions options = {.quiet = true};
  train_small(2, &d, &result);
  ck_assert(result.fresh_left < result.fresh_missed && result.last < result.first);
  make(&fine, 40, 36, 44, 9);
  CK_OK(tl_box_means(&fine, 2, &coarse));
  coarse.voxel_m[0] = coarse.voxel_m[1] = 1e-6, coarse.voxel_m[2] = 2e-6;
  tl_upsampler(2, &u);
  CK_OK(tl_upsample(&u, &coarse, &base));
  tl_par_set_threads(1);
  CK_OK(tl_superres(&d, &options, &coarse, &out));
  ck_assert(out.voxel_m[2] == 1e-6 && out.nz == 44);
  ck_assert_msg(rms(&out, &fine) < 0.9 * rms(&base, &fine), "%g, interpolated %g", rms(&out, &fine),
                rms(&base, &fine));
  CK_OK(tl_box_means(&out, 2, &back));
  CK_NEAR(rms(&back, &coarse), 0, 2e-5);
  tl_layers_of(&coarse, &stack);
  for (int threads = 1; threads <= 2; threads++) {
    TlSuperresPlan plan = {.slabs = 8, .layers = 3, .halo = 11};
    tl_par_set_threads(threads);
    run_kept(&d, &options, &plan, &stack, &whole, &out, &kept, &t);
    ck_assert(!memcmp(kept.f32, out.f32, (size_t)tl_volume_count(&out) * sizeof(float)));
    CK_NEAR(t.mean, t.coarse_mean, 1e-4);
    tl_volume_free(&kept);
  }
  d.proportions[0] = d.proportions[1] = d.proportions[2] = 1;
  CK_FAILS(tl_superres_fits(&coarse, &d), TL_EINPUT, "proportions");
  d.proportions[2] = 2;
  CK_OK(tl_superres_fits(&coarse, &d));
  CK_FAILS(tl_superres_plan(&coarse, &d, false, 1000, &(TlSuperresPlan){0}), TL_EUSAGE, "too few");
  tl_layers_close(&stack);
  tl_volume_free(&fine), tl_volume_free(&coarse), tl_volume_free(&base);
  tl_volume_free(&out), tl_volume_free(&back);
  tl_dictionary_free(&d);
}
END_TEST

/* With three fine voxels to a coarse one the first patch does not begin a multiple of the factor
 * before the stack, as it does with two. */
START_TEST(slabs_of_a_stack_three_times_finer_are_the_same_bits) {
  TlDictionary d;
  TlTrained trained;
  TlSuperresResult result;
  TlVolume fine, coarse, out, kept;
  TlLayers stack;
  TlSuperresPlan plan;
  TlSuperresOptions options = {.quiet = true};
  train_small(3, &d, &trained);
  make(&fine, 30, 24, 27, 9);
  CK_OK(tl_box_means(&fine, 3, &coarse));
  CK_OK(tl_superres(&d, &options, &coarse, &out));
  tl_layers_of(&coarse, &stack);
  CK_OK(tl_superres_plan(&coarse, &d, false, 0, &plan));
  plan.layers = 2, plan.slabs = 5;
  run_kept(&d, &options, &plan, &stack, &whole, &out, &kept, &result);
  ck_assert(!memcmp(kept.f32, out.f32, (size_t)tl_volume_count(&out) * sizeof(float)));
  tl_layers_close(&stack);
  tl_volume_free(&fine), tl_volume_free(&coarse), tl_volume_free(&out), tl_volume_free(&kept);
  tl_dictionary_free(&d);
}
END_TEST

START_TEST(change_is_told_of_what_is_inside) {
  TlDictionary d;
  TlTrained trained;
  TlSuperresResult result;
  TlVolume fine, coarse, base, out, kept;
  TlUpsampler u;
  TlLayers stack;
  TlSuperresOptions options = {.quiet = true};
  TlSuperresPlan plan = {.slabs = 3, .layers = 8, .halo = 11};
  TlRoi thin = {.kind = TL_ROI_CYLINDER, .x = 7, .y = 11, .r = 4};
  double sum = 0, count = 0;
  train_small(2, &d, &trained);
  make(&fine, 40, 36, 44, 9);
  CK_OK(tl_box_means(&fine, 2, &coarse));
  tl_upsampler(2, &u);
  CK_OK(tl_upsample(&u, &coarse, &base));
  CK_OK(tl_superres(&d, &options, &coarse, &out));
  for (int64_t i = 0; i < tl_volume_count(&out); i++) {
    double c = (double)out.f32[i] - (double)base.f32[i];
    if (!tl_roi_inside(&thin, i % 40 / 2, i / 40 % 36 / 2, i / (40 * 36) / 2)) continue;
    sum += c * c, count++;
  }
  tl_layers_of(&coarse, &stack);
  run_kept(&d, &options, &plan, &stack, &thin, &out, &kept, &result);
  CK_NEAR(result.change_rms, sqrt(sum / count), 1e-9);
  tl_volume_free(&kept);
  tl_layers_close(&stack);
  tl_volume_free(&fine), tl_volume_free(&coarse), tl_volume_free(&base), tl_volume_free(&out);
  tl_dictionary_free(&d);
}
END_TEST

/* Noise is found (also that there is none), and taken out; slabs of the denoised are the whole. */
START_TEST(noise_is_found_and_taken_out) {
  TlDictionary d;
  TlTrained trained;
  TlSuperresResult result;
  TlVolume fine, coarse, lanczos, raw, out, kept;
  TlUpsampler u;
  TlLayers stack;
  double found;
  train_small(2, &d, &trained);
  make(&fine, 48, 48, 52, 9);
  CK_OK(tl_box_means(&fine, 2, &coarse));
  tl_layers_of(&coarse, &stack);
  CK_OK(tl_superres_noise(&stack, &whole, &found));
  ck_assert_msg(!tl_superres_noisy(&d, found), "%g grey of noise in none", found);
  for (int64_t i = 0; i < tl_volume_count(&coarse); i++)
    coarse.f32[i] += (float)(6 * tl_random_normal(8, 1, (uint64_t)i));
  CK_OK(tl_superres_noise(&stack, &whole, &found));
  CK_NEAR(found, 6, 1); /* two classes of 440: 3%, and little is flat between the balls */
  ck_assert(tl_superres_noisy(&d, found));
  tl_upsampler_lanczos(2, &u);
  CK_OK(tl_upsample(&u, &coarse, &lanczos));
  TlSuperresOptions options = {.quiet = true};
  CK_OK(tl_superres_settle(&stack, &whole, found, false, &options));
  CK_OK(tl_superres(&d, &options, &coarse, &raw));
  options.nlm = (TlNlmOptions){
      .sigma = found, .h_factor = 0.9, .reach = 2.6, .patch = 5, .search = 11, .quiet = true};
  CK_OK(tl_superres(&d, &options, &coarse, &out));
  ck_assert_msg(
      rms(&out, &fine) < 0.8 * rms(&lanczos, &fine) && rms(&out, &fine) < 0.8 * rms(&raw, &fine),
      "%g, not denoised %g, Lanczos %g", rms(&out, &fine), rms(&raw, &fine), rms(&lanczos, &fine));
  TlSuperresPlan plan;
  CK_OK(tl_superres_plan(&coarse, &d, true, 0, &plan));
  plan.layers = 13, plan.slabs = 2;
  run_kept(&d, &options, &plan, &stack, &whole, &out, &kept, &result);
  ck_assert(!memcmp(kept.f32, out.f32, (size_t)tl_volume_count(&out) * sizeof(float)));
  CK_NEAR(result.mean, result.coarse_mean, 0.5);
  tl_volume_free(&kept);
  tl_layers_close(&stack);
  tl_volume_free(&fine), tl_volume_free(&coarse), tl_volume_free(&lanczos);
  tl_volume_free(&raw), tl_volume_free(&out);
  tl_dictionary_free(&d);
}
END_TEST

START_TEST(interpolated_by_slabs_are_the_same_bits) {
  enum { LAYERS = 33 };
  TlVolume coarse, whole_one;
  TlLayers stack, view;
  TlUpsampler u;
  float layer[2 * 10 * 6];
  make(&coarse, 5, 3, LAYERS, 3);
  tl_upsampler(2, &u);
  CK_OK(tl_upsample(&u, &coarse, &whole_one));
  tl_layers_of(&coarse, &stack);
  for (int64_t layers = 1; layers < 2 * LAYERS; layers += 6) {
    CK_OK(tl_upsample_layers(&u, &stack, layers, &view));
    ck_assert(view.head.nz == 2 * LAYERS && view.head.nx == 10);
    for (int64_t z = 0; z + 1 < view.head.nz; z += 3) {
      CK_OK(tl_layers_read(&view, z, 2, layer));
      ck_assert(!memcmp(layer, whole_one.f32 + z * 60, sizeof layer));
    }
    tl_layers_close(&view);
  }
  tl_layers_close(&stack);
  tl_volume_free(&coarse), tl_volume_free(&whole_one);
}
END_TEST

START_TEST(a_file_keeps_the_dictionary_and_sees_damage) {
  TlDictionary d, e;
  TlTrained result;
  char path[600];
  train_small(2, &d, &result);
  snprintf(path, sizeof path, "%s/d.h5", tl_test_folder());
  CK_OK(tl_dictionary_write(path, &d, NULL, false));
  CK_FAILS(tl_dictionary_write(path, &d, NULL, false), TL_EUSAGE, "d.h5");
  CK_OK(tl_dictionary_read(path, NULL, &e));
  ck_assert(e.atoms == d.atoms && e.dims == d.dims && e.tolerance == d.tolerance);
  ck_assert(!memcmp(e.high, d.high, (size_t)d.atoms * TL_PATCH_VOXELS * sizeof(float)));
  FILE *f = fopen(path, "r+b");
  ck_assert(f && fseek(f, -2000, SEEK_END) == 0);
  ck_assert(fwrite("damaged", 1, 7, f) == 7 && fclose(f) == 0);
  tl_dictionary_free(&e);
  CK_FAILS(tl_dictionary_read(path, NULL, &e), TL_EINPUT, "d.h5");
  CK_FAILS(tl_dictionary_read("none.h5", NULL, &e), TL_EIO, "none.h5");
  tl_dictionary_free(&d);
}
END_TEST

TL_TEST_MAIN("superres", training_leaves_out_what_fills_no_cube,
             box_means_of_the_interpolation_are_the_stack, features_are_plain_sums,
             codes_are_least_squares_on_greedy_supports, the_dual_meets_kkt_and_plain_descent,
             better_than_interpolation_means_kept_slabs_and_threads_same_bits,
             slabs_of_a_stack_three_times_finer_are_the_same_bits, noise_is_found_and_taken_out,
             change_is_told_of_what_is_inside, interpolated_by_slabs_are_the_same_bits,
             a_file_keeps_the_dictionary_and_sees_damage)
