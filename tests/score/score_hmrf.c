/* HMRF-EM under other conditions than the table's: never below Otsu on the same greys, over
 * phantoms of many sizes, noises and blurs, noisy and denoised; and the dissertation's own studies
 * (Tan 2022, Figs. 2.7, 2.9): energy against rounds from two starts, the weight of void (Fig. 2.6:
 * score_label.c). Phantoms are made here (phantom/phantom.h), small. */
#include "judge/judge.h"

#include "base/log.h"
#include "image/binarize.h"
#include "image/nlm.h"
#include "image/noise.h"
#include "phantom/phantom.h"

#include <math.h>

enum { SIDE = 72, CASES = 6 };

static const TlRoi whole = {.kind = TL_ROI_ALL};

typedef struct Case {
  const char *name;
  double d50, solid, noise, blur;
  uint64_t seed;
} Case;

static const Case cases[CASES] = {
    {"plain", 24, 0.60, 6, 0.7, 131},  {"noisy", 24, 0.60, 20, 0.7, 132},
    {"sharp", 20, 0.55, 4, 0.0, 134},  {"blurred", 24, 0.60, 8, 1.2, 135},
    {"loose", 28, 0.45, 12, 0.7, 136}, {"loud", 30, 0.55, 30, 0.5, 137}};

typedef struct Sand {
  TlVolume grey, quiet; /* F32, as made and denoised */
  TlVolume truth;       /* U32 labels */
} Sand;

static void sand_make(const Case *c, bool denoise, Sand *sand) {
  TlPhantomOptions o = tl_phantom_defaults();
  TlPhantom phantom;
  *sand = (Sand){0};
  o.nx = o.ny = o.nz = SIDE;
  o.d50_voxels = c->d50;
  o.solid_fraction = c->solid;
  o.noise_sd = c->noise;
  o.blur_sigma = c->blur;
  o.seed = c->seed;
  JUDGE_OK(tl_phantom_make(&o, &phantom));
  JUDGE_OK(tl_volume_to_f32(&phantom.stack, &sand->grey));
  sand->truth = phantom.labels;
  phantom.labels = (TlVolume){0};
  tl_phantom_free(&phantom);
  if (!denoise) return;
  TlNoise noise;
  JUDGE_OK(tl_noise_estimate(&sand->grey, &whole, &noise));
  TlNlmOptions nlm = {.sigma = noise.sigma, .h_factor = 0.45, .patch = 5, .search = 9};
  JUDGE_OK(tl_nlm(&sand->grey, &whole, &nlm, &sand->quiet));
}

static void sand_free(Sand *sand) {
  tl_volume_free(&sand->grey);
  tl_volume_free(&sand->quiet);
  tl_volume_free(&sand->truth);
}

static double dice(const TlVolume *mask, const TlVolume *truth) {
  double both = 0, sum = 0;
  for (int64_t i = 0; i < tl_volume_count(mask); i++) {
    both += mask->u8[i] && truth->u32[i];
    sum += mask->u8[i] + (truth->u32[i] > 0);
  }
  return 2 * both / sum;
}

static TlBinarizeOptions options(TlBinarizeMethod method) {
  return (TlBinarizeOptions){.method = method, .hmrf = TL_HMRF_DEFAULTS};
}

/* ---- never below Otsu ---- */

static double gain(const TlVolume *grey, const TlVolume *truth, const char *what) {
  TlVolume mask;
  TlBinarizeResult r;
  double d[2];
  for (int m = 0; m < 2; m++) {
    TlBinarizeOptions o = options(m ? TL_BINARIZE_OTSU : TL_BINARIZE_HMRF_EM);
    JUDGE_OK(tl_binarize(grey, &whole, &o, &mask, &r));
    d[m] = dice(&mask, truth);
    tl_volume_free(&mask);
  }
  fprintf(stderr, "%s: HMRF-EM %.4f, Otsu %.4f\n", what, d[0], d[1]);
  return d[0] - d[1];
}

static void against_otsu(void) {
  double least = INFINITY, least_quiet = INFINITY;
  const char *where = "", *where_quiet = "";
  for (int k = 0; k < CASES; k++) {
    Sand sand;
    char text[64];
    sand_make(&cases[k], true, &sand);
    snprintf(text, sizeof text, "%s, as made", cases[k].name);
    double g = gain(&sand.grey, &sand.truth, text);
    snprintf(text, sizeof text, "%s, denoised", cases[k].name);
    double q = gain(&sand.quiet, &sand.truth, text);
    if (g < least) least = g, where = cases[k].name;
    if (q < least_quiet) least_quiet = q, where_quiet = cases[k].name;
    sand_free(&sand);
  }
  judge_at_least(JUDGE_GOAL, "hmrf_least_gain_noisy", least, "Dice", 0);
  judge_at_least(JUDGE_GOAL, "hmrf_least_gain_denoised", least_quiet, "Dice", 0);
  judge_note(
      "Least gain in Dice on Otsu over %d phantoms of %d^3: noisy on '%s', denoised on '%s'.",
      (int)CASES, (int)SIDE, where, where_quiet);
}

/* ---- Fig. 2.7 ---- */

static void two_starts(const Sand *sand) {
  TlVolume mask[2];
  TlBinarizeResult r[2];
  FILE *file = judge_data("energy.csv");
  double rise = 0;
  for (int k = 0; k < 2; k++) {
    TlBinarizeOptions o = options(TL_BINARIZE_HMRF_EM);
    o.start_kmeans = k == 1;
    JUDGE_OK(tl_binarize(&sand->grey, &whole, &o, &mask[k], &r[k]));
    const TlHmrfResult *h = &r[k].hmrf;
    for (int n = 0; n <= h->rounds; n++) {
      fprintf(file, "%d %.9g\n", n, h->energy[n]);
      if (n > 0) rise = fmax(rise, h->energy[n] - h->energy[n - 1]);
    }
    fprintf(file, "\n\n");
  }
  fclose(file);
  int64_t unequal = 0, count = tl_volume_count(&mask[0]);
  for (int64_t i = 0; i < count; i++) unequal += mask[0].u8[i] != mask[1].u8[i];
  judge_at_most(JUDGE_CORRECT, "hmrf_energy_rise", rise, "1", 0);
  judge_at_most(JUDGE_GOAL, "hmrf_starts_unequal", (double)unequal / (double)count, "1", 1e-3);
  for (int k = 0; k < 2; k++) tl_volume_free(&mask[k]);
  judge_gnuplot("hmrf_energy",
                "set xlabel 'round'\nset ylabel 'energy'\nset key top right\nset xtics 1\n"
                "plot 'energy.csv' index 0 with linespoints lw 2 pt 7 ps 2 title 'start: Otsu', "
                "'' index 1 with linespoints lw 2 pt 6 ps 3 title 'start: k-means'\n");
}

/* ---- Fig. 2.9 ---- */

static void write_slice(const char *name, const TlVolume *v) {
  FILE *file = judge_data(name);
  for (int64_t y = 0; y < v->ny; y++, fputc('\n', file))
    for (int64_t x = 0; x < v->nx; x++)
      fprintf(file, "%g ", tl_volume_value(v, tl_volume_at(v, x, y, v->nz / 2)));
  fclose(file);
}

static void void_weights(const Sand *sand) {
  static const double weight[] = {0.5, 1, 2.5, 5};
  double last = 0, least_step = INFINITY;
  write_slice("grey.txt", &sand->grey);
  for (int k = 0; k < 4; k++) {
    TlVolume mask;
    TlBinarizeResult r;
    char name[32];
    TlBinarizeOptions o = options(TL_BINARIZE_HMRF_EM);
    o.hmrf.void_weight = weight[k];
    JUDGE_OK(tl_binarize(&sand->grey, &whole, &o, &mask, &r));
    if (k > 0) least_step = fmin(least_step, r.porosity - last);
    last = r.porosity;
    snprintf(name, sizeof name, "weight%d.txt", k);
    write_slice(name, &mask);
    judge_note("Weight of void %g: porosity %.4f, f cut at %.3f.", weight[k], r.porosity,
               r.hmrf.cut);
    tl_volume_free(&mask);
  }
  judge_at_least(JUDGE_GOAL, "hmrf_porosity_step_with_weight", least_step, "1", 0);
  judge_gnuplot("hmrf_void_weight",
                "unset colorbox\nunset tics\nset size ratio 1\nset palette gray\n"
                "set autoscale noextend\nset yrange [*:*] reverse\n"
                "set multiplot layout 2,3\nset title 'scan'\n"
                "plot 'grey.txt' matrix with image notitle\n"
                "set title 'w = 0.5'\nplot 'weight0.txt' matrix with image notitle\n"
                "set title 'w = 1'\nplot 'weight1.txt' matrix with image notitle\n"
                "set title 'w = 2.5'\nplot 'weight2.txt' matrix with image notitle\n"
                "set title 'w = 5'\nplot 'weight3.txt' matrix with image notitle\n"
                "unset multiplot\n");
}

int main(int argc, char **argv) {
  judge_open("hmrf", argc, argv);
  tl_log_set("hmrf", TL_LOG_ERROR);
  tl_progress_mode(TL_PROGRESS_OFF);
  against_otsu();
  Sand sand;
  sand_make(&cases[1], true, &sand);
  two_starts(&sand);
  void_weights(&sand);
  sand_free(&sand);
  return judge_close();
}
