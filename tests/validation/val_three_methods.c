/* Three methods, one truth: spheres, cubes, crosses and stones with hollows by impulses and by the
 * nonsmooth method, spheres also by penalty forces (judge/agreement.h). Shaped grains by penalty
 * take hours a pile of the full edition's size: study shaped_penalty.
 *
 * The small edition has spheres and stones, some 400 in a pile, so a method that is off by less than its
 * seeds scatter is not found there. The full edition has 1,012 to 1,760 grains in a box that is wider.
 */
#include "judge/agreement.h"
#include "judge/judge.h"

#include "base/log.h"

int main(int argc, char **argv) {
  judge_open("three_methods", argc, argv);
  tl_log_set("val_three_methods", TL_LOG_WARN);
  Agreement agreement = {.study = "three_methods",
                         .edition = judge_full() ? &repose_wide : &repose_small};
  for (int s = 0; s < REPOSE_SHAPES; s++) {
    if (!judge_full() && (s == REPOSE_CUBE || s == REPOSE_CROSS)) continue;
    agreement.seeds[s][AGREE_IMPULSES] = agreement.seeds[s][AGREE_NONSMOOTH] = AGREE_SEEDS;
    if (s != REPOSE_SPHERE) continue;
    agreement.seeds[s][AGREE_PENALTY] = agreement.seeds[s][AGREE_RIGID] = AGREE_SEEDS;
  }
  agreement_judge(&agreement);
  return judge_close();
}
