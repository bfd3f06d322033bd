/* Labels against the true ones: from the noisy stacks through the chain, and from the true mask. */
#include "judge/judge.h"
#include "score/score.h"

#include <math.h>

static void say(const ScorePhantom *p, const char *of, TlVolume *labels, double ari) {
  ScoreLabels s;
  char figure[4][64];
  JUDGE_OK(score_labels(p, labels, &s));
  snprintf(figure[0], 64, "label_unmatched_%s", of);
  snprintf(figure[1], 64, "label_splits_%s", of);
  snprintf(figure[2], 64, "label_merges_%s", of);
  snprintf(figure[3], 64, "label_ari_%s", of);
  judge_at_most(JUDGE_GOAL, score_name(p, figure[0]), (double)(s.wanted - s.matched), "grains", 0);
  judge_at_most(JUDGE_GOAL, score_name(p, figure[1]), (double)s.splits, "grains", 0);
  judge_at_most(JUDGE_GOAL, score_name(p, figure[2]), (double)s.merges, "grains", 0);
  judge_at_least(JUDGE_GOAL, score_name(p, figure[3]), s.ari, "1",
                 1 - (1 - ari) * score_surface_factor(p));
  if (*of == 'm')
    judge_note("The %s phantom has %lld grains of %d voxels or more.",
               *p->suffix ? p->suffix + 1 : "first", (long long)s.wanted, SCORE_LEAST_VOXELS);
  score_labels_free(&s);
  tl_volume_free(labels);
}

static void from_true_mask(const ScorePhantom *p, TlVolume *labels) {
  TlVolume mask;
  char in[1200];
  snprintf(in, sizeof in, "%s", judge_path("true_mask.tif"));
  JUDGE_OK(tl_volume_like(&mask, &p->labels, TL_U8));
  for (int64_t i = 0; i < tl_volume_count(&mask); i++) mask.u8[i] = p->labels.u32[i] > 0;
  score_write(in, &mask);
  tl_volume_free(&mask);
  const char *out = judge_path("true_mask_labels.tif");
  score_tool("talus-label '%s' -o '%s' --overwrite", in, out);
  score_read(out, TL_U32, labels);
}

/* The goal of ARI is the high noise's; what a peer reached on the true mask is the mask's. */
int main(int argc, char **argv) {
  judge_open("label", argc, argv);
  for (ScorePhantom p = {0}; score_next(&p);) {
    TlVolume labels;
    for (int noise = 0; noise < 2; noise++) {
      score_labelled(&p, noise, &labels);
      say(&p, score_noise_name(noise), &labels, 0.945);
    }
    from_true_mask(&p, &labels);
    say(&p, "mask", &labels, 0.996);
  }
  return judge_close();
}
