/* A third phase between void and grain: told in wet phantoms, not in dry ones, and the range of the
 * porosity holds the true one. Stacks of little noise, as denoising leaves them; what denoised
 * stacks of all sorts give stands in docs/notebook/imaging.md. */
#include "support/tltest.h"

#include "base/log.h"
#include "image/binarize.h"
#include "phantom/phantom.h"

#include <stdbool.h>

__attribute__((constructor)) static void be_quiet(void) {
  tl_log_set("test", TL_LOG_ERROR);
  tl_progress_mode(TL_PROGRESS_OFF);
}

static const TlRoi whole = {.kind = TL_ROI_ALL};

typedef struct Specimen {
  TlPhantomShapes shapes;
  double d50, noise, blur;
  TlPhantomWater water;
  double saturation, grey;
} Specimen;

static void make(const Specimen *s, uint64_t seed, TlPhantom *p) {
  TlPhantomOptions o = tl_phantom_defaults();
  o.nx = o.ny = o.nz = 60;
  o.seed = seed;
  o.size_ratio = 2;
  o.d50_voxels = s->d50;
  o.shapes = s->shapes;
  o.noise_sd = s->noise;
  o.blur_sigma = s->blur;
  o.water = s->water;
  o.water_saturation = s->saturation;
  o.water_grey = s->grey;
  CK_OK(tl_phantom_make(&o, p));
}

/* porosity: the true one, by voxels. */
static void look(const TlPhantom *p, TlBinarizeMethod method, TlBinarizeResult *r,
                 double *porosity) {
  TlVolume mask;
  TlBinarizeOptions options = {.method = method, .hmrf = TL_HMRF_DEFAULTS};
  CK_OK(tl_binarize(&p->stack, &whole, &options, &mask, r));
  int64_t grain = 0;
  for (int64_t i = 0; i < tl_volume_count(&p->labels); i++) grain += p->labels.u32[i] > 0;
  *porosity = 1 - (double)grain / (double)tl_volume_count(&p->labels);
  tl_volume_free(&mask);
}

START_TEST(water_is_told_and_the_range_holds_the_true_porosity) {
  static const Specimen wet[] = {
      {TL_SHAPES_MIXED, 16, 2, 0.7, TL_WATER_MENISCI, 0.5, 122},
      {TL_SHAPES_FACETED, 20, 3, 0.7, TL_WATER_MENISCI, 0.4, 130},
      {TL_SHAPES_ROUNDED, 16, 3, 1.0, TL_WATER_FILMS, 0.5, 130},
  };
  /* by both methods; menisci and films under the sanitizers */
  TlPhantom p;
  for (int k = 0; k < 6; k++) {
    TlBinarizeResult r;
    double porosity;
    if (k / 2 == 1 && TL_SIZE(0, 1)) continue;
    if (k % 2 == 0) make(&wet[k / 2], (uint64_t)(803 + k / 2), &p);
    look(&p, k % 2 == 0 ? TL_BINARIZE_HMRF_EM : TL_BINARIZE_OTSU, &r, &porosity);
    if (k % 2 == 1) tl_phantom_free(&p);
    ck_assert_msg(r.third.looked && r.third.found, "case %d: least %g", k, r.third.least);
    ck_assert_msg(porosity - r.porosity > 0.06, "case %d: two phases are good enough", k);
    ck_assert_msg(r.porosity_range[0] <= porosity && porosity <= r.porosity_range[1],
                  "case %d: %g is not in %g to %g", k, porosity, r.porosity_range[0],
                  r.porosity_range[1]);
    ck_assert(r.third_grey > 200 * 105 && r.third_grey < 200 * 145);
  }
}
END_TEST

START_TEST(dry_stacks_have_no_third_phase) {
  static const Specimen dry[] = {
      {TL_SHAPES_MIXED, 16, 2, 0.7, TL_WATER_NONE, 0.5, 0},
      {TL_SHAPES_FACETED, 14, 3, 0.7, TL_WATER_NONE, 0.5, 0},
      {TL_SHAPES_ROUNDED, 20, 3, 1.2, TL_WATER_NONE, 0.5, 0},
      {TL_SHAPES_CONCAVE, 20, 5, 0.5, TL_WATER_NONE, 0.5, 0},
  };
  for (int k = 0; k < TL_SIZE(4, 1); k++) {
    TlPhantom p;
    TlBinarizeResult r;
    double porosity;
    make(&dry[k], (uint64_t)(810 + k), &p);
    look(&p, TL_BINARIZE_HMRF_EM, &r, &porosity);
    tl_phantom_free(&p);
    ck_assert_msg(r.third.looked && !r.third.found, "case %d: least %g", k, r.third.least);
    ck_assert(r.third_grey == 0);
    CK_NEAR(r.porosity, porosity, 0.01);
    ck_assert(r.porosity_range[1] - r.porosity_range[0] < 0.03);
  }
}
END_TEST

/* Noise brings flat voxels to all greys between: nothing is said then. */
START_TEST(noise_keeps_from_looking) {
  static const Specimen noisy = {TL_SHAPES_MIXED, 16, 20, 0.7, TL_WATER_NONE, 0.5, 0};
  TlBinarizeResult r;
  double porosity;
  TlPhantom p;
  make(&noisy, 820, &p);
  look(&p, TL_BINARIZE_OTSU, &r, &porosity);
  tl_phantom_free(&p);
  ck_assert(!r.third.looked && !r.third.found && r.third.noise > TL_PROFILE_NOISE);
}
END_TEST

/* An edge between two phases of Gaussian blur has a flat profile whatever the blur; one with a
 * plateau half-way has a gap there. Slopes along all axes count. */
START_TEST(profile_is_that_of_the_edge) {
  static const double blur[] = {1, 1.6, 2.5};
  for (int k = 0; k < 6; k++) {
    TlVolume v;
    TlThirdPhase t;
    double s = blur[k % 3], film = k < 3 ? 0 : 3 * s, level[2] = {50, 90};
    CK_OK(tl_volume_new(&v, TL_F32, 48, 48, 48));
    for (int64_t i = 0; i < tl_volume_count(&v); i++) {
      double x = (double)(i % 48) - 24, y = (double)(i / 48 % 48) - 24, z = (double)(i / 2304) - 24;
      double d = (x + 1.618 * y + 2.236 * z) / 2.936; /* no lattice plane */
      double u = 0.5 * erfc(-d / s / sqrt(2));
      if (film > 0) u = 0.5 * (u + 0.5 * erfc(-(d - film) / s / sqrt(2)));
      v.f32[i] = (float)(level[0] + u * (level[1] - level[0]));
    }
    TlSource source = tl_source_volume(&v);
    CK_OK(tl_third_phase(&source, &whole, level, &t));
    ck_assert(t.looked && t.found == (k > 2));
    for (int b = 0; b < TL_PROFILE && k < 3; b++)
      ck_assert_msg(t.profile[b] > 0.9, "blur %g: %g at %d", s, t.profile[b], b + 1);
    if (k > 2) CK_NEAR(t.place, 0.5, 1e-9);
    /* By the closed form 0.41; smoothing by half a voxel makes 0.51 of it at blur 1. */
    if (k > 2) ck_assert_msg(t.least < 0.6, "%g", t.least);
    tl_volume_free(&v);
  }
}
END_TEST

TL_TEST_MAIN("third_phase", profile_is_that_of_the_edge,
             water_is_told_and_the_range_holds_the_true_porosity, dry_stacks_have_no_third_phase,
             noise_keeps_from_looking)
