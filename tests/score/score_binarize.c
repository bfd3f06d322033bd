/* Grain or void against the true mask: after denoising and on the noisy stacks themselves, HMRF-EM
 * beside Otsu's threshold on the same greys. */
#include "judge/judge.h"
#include "score/score.h"

#include <math.h>

typedef struct Goal {
  const char *figure;
  double dice[2]; /* low, high */
} Goal;

typedef struct Result {
  double dice, porosity, otsu;
} Result;

/* stack: U16 units, the input of the mask; freed, as the mask is. */
static Result judge_mask(const ScorePhantom *p, TlVolume *stack, TlVolume *mask) {
  TlVolume grey, split;
  JUDGE_OK(score_grey(stack, &grey));
  JUDGE_OK(score_threshold(&grey, score_otsu(&grey), &split));
  Result r = {score_dice(mask, &p->labels), score_porosity_error(mask, &p->labels),
              score_dice(&split, &p->labels)};
  tl_volume_free(&grey);
  tl_volume_free(&split);
  tl_volume_free(stack);
  tl_volume_free(mask);
  return r;
}

static void say(const ScorePhantom *p, const char *input, int noise, const Result *r, double goal) {
  char figure[3][64];
  snprintf(figure[0], 64, "binarize_dice%s", input);
  snprintf(figure[1], 64, "binarize_porosity_error%s", input);
  snprintf(figure[2], 64, "binarize_gain_on_otsu%s", input);
  double allowed = 1 - (1 - goal) * score_surface_factor(p);
  judge_at_least(JUDGE_GOAL, score_noise_figure(p, figure[0], noise), r->dice, "1", allowed);
  judge_between(JUDGE_GOAL, score_noise_figure(p, figure[1], noise), r->porosity, "points", -0.2,
                0.2);
  judge_at_least(JUDGE_GOAL, score_noise_figure(p, figure[2], noise), r->dice - r->otsu, "1", 0);
}

static void score_one(const ScorePhantom *p, int noise) {
  static const double goal[2] = {0.991, 0.985}, goal_noisy[2] = {0.987, 0.975};
  TlVolume stack, mask;
  score_denoised(p, noise, &stack);
  score_mask(p, noise, &mask);
  Result r = judge_mask(p, &stack, &mask);
  say(p, "", noise, &r, goal[noise]);

  const char *path = judge_path("noisy_mask.tif");
  score_tool("talus-binarize '%s' -o '%s' --overwrite",
             score_stack_path(p, score_noise_name(noise)), path);
  score_read(score_stack_path(p, score_noise_name(noise)), TL_U16, &stack);
  score_read(path, TL_U8, &mask);
  r = judge_mask(p, &stack, &mask);
  say(p, "_noisy", noise, &r, goal_noisy[noise]);
}

/* What a threshold can reach at all: Otsu's on the stack without noise. */
static double ceiling(const ScorePhantom *p) {
  TlVolume grey, mask;
  JUDGE_OK(score_grey(&p->clean, &grey));
  JUDGE_OK(score_threshold(&grey, score_otsu(&grey), &mask));
  double dice = score_dice(&mask, &p->labels);
  tl_volume_free(&grey);
  tl_volume_free(&mask);
  return dice;
}

int main(int argc, char **argv) {
  judge_open("binarize", argc, argv);
  for (ScorePhantom p = {0}; score_next(&p);) {
    for (int noise = 0; noise < 2; noise++) score_one(&p, noise);
    judge_note(
        "Otsu's threshold on the %s phantom without noise: Dice %.4f; allowed 1 - Dice times "
        "%.3f for its surface.",
        *p.suffix ? p.suffix + 1 : "first", ceiling(&p), score_surface_factor(&p));
  }
  return judge_close();
}
