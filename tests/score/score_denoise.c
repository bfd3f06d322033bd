/* Denoising against the clean stacks: non-local means as the tool runs it, the noise it finds, and
 * the other filters beside it, each at the best of a few settings (told by the truth, which no user
 * has). Pictures: what each filter leaves, and what it takes away (Tan 2022, Fig. 2.1). */
#include "judge/judge.h"
#include "score/score.h"

#include "image/filters.h"
#include "image/nlm.h"
#include "image/noise.h"
#include "io/image.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const TlRoi whole = {.kind = TL_ROI_ALL};

/* ---- the noise ---- */

static void judge_noise(const ScorePhantom *p, int noise, const TlVolume *grey, double truth) {
  TlNoise n;
  TlRings rings;
  TlLayers layers;
  tl_layers_of(grey, &layers);
  JUDGE_OK(tl_noise_estimate(grey, &whole, &n));
  JUDGE_OK(tl_noise_rings(&layers, &whole, n.sigma, &rings));
  judge_between(JUDGE_GOAL, score_noise_figure(p, "denoise_sigma_ratio", noise), n.sigma / truth,
                "1", 0.95, 1.05);
  judge_at_most(JUDGE_CORRECT, score_noise_figure(p, "denoise_false_alarms", noise),
                n.correlated + rings.found, "1", 0);
  judge_note("%s noise%s: sigma found %.3f, true %.3f grey; correlation of neighbours %.3f %.3f "
             "%.3f (said above %.2f), score of rings %.1f (said above %.0f).",
             noise ? "High" : "Low", p->suffix, n.sigma, truth, n.rho[0], n.rho[1], n.rho[2],
             TL_NOISE_CORRELATED, rings.score, TL_RINGS_SCORE);
}

/* Stacks that have what is to be said. */
static void judge_alarms(void) {
  static const struct {
    const char *figure, *options;
    bool rings;
  } cases[] = {{"denoise_correlated_said", "--noise-correlation-voxels=0.6", false},
               {"denoise_rings_said", "--rings-grey=2", true}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    const char *path = judge_path("fault.tif");
    TlVolume stack, grey;
    TlNoise n;
    TlRings rings;
    TlLayers layers;
    score_tool("talus-phantom --seed=11 --noise=8 --size=112,112,96 %s -o '%s' --overwrite",
               cases[k].options, path);
    score_read(path, TL_U16, &stack);
    JUDGE_OK(score_grey(&stack, &grey));
    tl_layers_of(&grey, &layers);
    JUDGE_OK(tl_noise_estimate(&grey, &whole, &n));
    JUDGE_OK(tl_noise_rings(&layers, &whole, n.sigma, &rings));
    bool right = n.correlated == !cases[k].rings && rings.found == cases[k].rings;
    judge_at_least(JUDGE_CORRECT, cases[k].figure, right, "1", 1);
    judge_note("talus-phantom %s: neighbours' correlation %.2f %.2f %.2f, rings' score %.1f.",
               cases[k].options, n.rho[0], n.rho[1], n.rho[2], rings.score);
    tl_volume_free(&stack);
    tl_volume_free(&grey);
  }
}

/* ---- the filters side by side ---- */

enum { GAUSSIAN, MEDIAN, BILATERAL, DIFFUSION, NLM, FILTERS };

static const char *const filter_name[FILTERS] = {"gaussian", "median", "bilateral", "diffusion",
                                                 "nlm"};

/* setting: sigma in voxels; radius; sigma over the greys over the noise's; rounds; unused. */
static const double settings[FILTERS][3] = {
    {0.5, 0.7, 0.9}, {1, 1, 1}, {2, 3, 4}, {5, 10, 20}, {0, 0, 0}};

static TlStatus run(int filter, double setting, const TlVolume *grey, double sigma, TlVolume *out) {
  TlNlmOptions o = {.sigma = sigma, .patch = 5, .search = 11, .quiet = true};
  switch (filter) {
  case GAUSSIAN:
    return tl_gaussian(grey, &whole, setting, out);
  case MEDIAN:
    return tl_median(grey, &whole, (int)setting, out);
  case BILATERAL:
    return tl_bilateral(grey, &whole, 1, setting * sigma, out);
  case DIFFUSION:
    return tl_diffusion(grey, &whole, sigma, 0.125, (int)setting, out);
  default:
    TL_TRY(tl_nlm_choose_strength(grey, &whole, &o));
    return tl_nlm(grey, &whole, &o, out);
  }
}

/* Two panels of the middle layer in a row of the picture: what is left, what was taken away (mid-
 * grey: nothing; 3 sigma to black and white). */
static void draw(TlImage *image, int row, const TlVolume *before, const TlVolume *after,
                 double sigma) {
  int64_t nx = before->nx, ny = before->ny, at = tl_volume_at(before, 0, 0, before->nz / 2);
  for (int64_t i = 0; i < nx * ny; i++) {
    double left = (double)after->f32[at + i], taken = (double)before->f32[at + i] - left;
    double shade[2] = {255 * (left - 60) / 140, 127.5 + 127.5 * taken / (3 * sigma)};
    for (int k = 0; k < 2; k++) {
      int64_t y = row * (ny + 4) + i / nx, x = k * (nx + 4) + i % nx;
      memset(image->rgb + 3 * (y * image->width + x), (int)fmin(fmax(shade[k], 0), 255), 3);
    }
  }
}

static void compare(const ScorePhantom *p, int noise, const TlVolume *grey, const TlVolume *clean,
                    double sigma) {
  TlImage image;
  double best[FILTERS];
  char table[400] = "";
  JUDGE_OK(tl_image_new(&image, (int)(2 * grey->nx + 8), (int)(FILTERS * (grey->ny + 4))));
  for (int f = 0; f < FILTERS; f++) {
    TlVolume kept = {0};
    double chosen = 0;
    best[f] = -INFINITY;
    for (int k = 0; k < 3; k++) {
      TlVolume out;
      if (k > 0 && settings[f][k] == settings[f][k - 1]) break;
      JUDGE_OK(run(f, settings[f][k], grey, sigma, &out));
      double psnr = score_psnr(&out, clean);
      if (psnr > best[f]) {
        tl_volume_free(&kept);
        kept = out;
        best[f] = psnr, chosen = settings[f][k];
      } else {
        tl_volume_free(&out);
      }
    }
    draw(&image, f, grey, &kept, sigma);
    tl_volume_free(&kept);
    size_t end = strlen(table);
    snprintf(table + end, sizeof table - end, "%s%s %.2f (%g)", f ? ", " : "", filter_name[f],
             best[f], chosen);
  }
  char name[64];
  snprintf(name, sizeof name, "denoise_filters_%s.png", score_noise_name(noise));
  JUDGE_OK(tl_image_write_png(&image, judge_path(name), true));
  tl_image_free(&image);
  double other = fmax(fmax(best[GAUSSIAN], best[MEDIAN]), fmax(best[BILATERAL], best[DIFFUSION]));
  judge_at_least(JUDGE_GOAL, score_noise_figure(p, "denoise_nlm_gain", noise), best[NLM] - other,
                 "dB", 0);
  judge_note("%s noise, PSNR in dB, noisy %.2f (best setting in brackets): %s. Top to bottom in "
             "pictures/%s: what is left, what was taken away.",
             noise ? "High" : "Low", score_psnr(grey, clean), table, name);
}

/* Errors lie at the surface: a phantom with more of it may have as much more error. */
static void score_one(const ScorePhantom *p, int noise) {
  static const double goal[2] = {45.9, 38.7};
  TlVolume stack, out, grey, clean;
  JUDGE_OK(score_grey(score_noisy(p, noise), &grey));
  JUDGE_OK(score_grey(&p->clean, &clean));
  double truth = score_rms_difference(&grey, &clean);
  judge_noise(p, noise, &grey, truth);
  score_denoised(p, noise, &stack);
  JUDGE_OK(score_grey(&stack, &out));
  judge_at_least(JUDGE_GOAL, score_noise_figure(p, "denoise_nlm_psnr", noise),
                 score_psnr(&out, &clean), "dB", goal[noise] - 10 * log10(score_surface_factor(p)));
  if (!*p->suffix) compare(p, noise, &grey, &clean, truth);
  tl_volume_free(&stack);
  tl_volume_free(&out);
  tl_volume_free(&grey);
  tl_volume_free(&clean);
}

int main(int argc, char **argv) {
  judge_open("denoise", argc, argv);
  judge_alarms();
  for (ScorePhantom p = {0}; score_next(&p);)
    for (int noise = 0; noise < 2; noise++) score_one(&p, noise);
  return judge_close();
}
