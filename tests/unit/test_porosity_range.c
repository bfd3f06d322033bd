#include "support/tltest.h"

#include "base/log.h"
#include "base/random.h"
#include "image/binarize.h"

__attribute__((constructor)) static void be_quiet(void) {
  tl_log_set("test", TL_LOG_ERROR);
}

/* Cubes of void about 60 and of grain about 160, and an even sprinkle of voxels between them. */
static void make(TlVolume *v, bool dark) {
  CK_OK(tl_volume_new(v, TL_U8, 40, 40, 40));
  for (int64_t i = 0; i < tl_volume_count(v); i++) {
    int64_t cube = i % 40 / 8 + i / 40 % 40 / 8 * 5 + i / 12800 * 25;
    double u = tl_random_uniform(1, 2, (uint64_t)i);
    double g = tl_random_uniform(1, 4, (uint64_t)cube) < 0.4 ? 60 : 160;
    g += 8 * tl_random_normal(1, 3, (uint64_t)i);
    if (u > 0.9) g = 40 + 140 * 10 * (u - 0.9);
    v->u8[i] = (uint8_t)(dark ? 255 - g : g);
  }
}

static TlBinarizeResult by(const TlVolume *v, TlBinarizeMethod method, double threshold,
                           bool dark) {
  TlBinarizeOptions o = {
      .method = method, .threshold = threshold, .invert = dark, .hmrf = TL_HMRF_DEFAULTS};
  const TlRoi whole = {.kind = TL_ROI_ALL};
  TlBinarizeResult r;
  TlVolume mask;
  CK_OK(tl_binarize(v, &whole, &o, &mask, &r));
  tl_volume_free(&mask);
  return r;
}

/* The range told with one threshold holds what the masks of the other ones really have. */
START_TEST(the_range_is_what_the_other_thresholds_give) {
  for (int dark = 0; dark < 2; dark++) {
    TlVolume v;
    make(&v, dark);
    TlBinarizeResult otsu = by(&v, TL_BINARIZE_OTSU, 0, dark),
                     means = by(&v, TL_BINARIZE_KMEANS, 0, dark);
    TlBinarizeResult low = by(&v, TL_BINARIZE_THRESHOLD, 80.5, dark),
                     high = by(&v, TL_BINARIZE_THRESHOLD, 150.5, dark);
    const TlBinarizeResult *given[] = {&low, &high};
    for (int k = 0; k < 2; k++) {
      const double *t = given[k]->threshold_range, *p = given[k]->porosity_range;
      double threshold = k ? 150.5 : 80.5;
      double least = fmin(threshold, fmin(otsu.split.threshold, means.split.threshold)),
             most = fmax(threshold, fmax(otsu.split.threshold, means.split.threshold)),
             void_most = fmax(given[k]->porosity, fmax(otsu.porosity, means.porosity));
      CK_NEAR(p[0], fmin(given[k]->porosity, fmin(otsu.porosity, means.porosity)), 1e-3);
      /* what lies between the two may be taken for a third phase, which widens the range towards
       * the grains' grey */
      bool third = given[k]->third.found;
      ck_assert(third && dark ? t[0] <= least + 1e-9 : fabs(t[0] - least) <= 1e-9);
      ck_assert(third && !dark ? t[1] >= most - 1e-9 : fabs(t[1] - most) <= 1e-9);
      ck_assert(third ? p[1] >= void_most - 1e-3 : fabs(p[1] - void_most) <= 1e-3);
      ck_assert(dark || p[1] - p[0] > 0.01);
    }
    tl_volume_free(&v);
  }
}
END_TEST

START_TEST(random_field_s_range_is_about_its_own_porosity) {
  TlVolume v;
  make(&v, false);
  TlBinarizeResult r = by(&v, TL_BINARIZE_HMRF_EM, 0, false);
  ck_assert(r.porosity_range[0] <= r.porosity && r.porosity <= r.porosity_range[1]);
  double half = 0.5 * (r.hmrf.mean[0] + r.hmrf.mean[1]);
  ck_assert(r.threshold_range[0] <= half && half <= r.threshold_range[1]);
  tl_volume_free(&v);
}
END_TEST

TL_TEST_MAIN("porosity_range", the_range_is_what_the_other_thresholds_give,
             random_field_s_range_is_about_its_own_porosity)
