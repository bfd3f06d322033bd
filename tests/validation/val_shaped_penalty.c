/* Cubes, crosses and stones with hollows by penalty forces, the tangential stiffness as large as the
 * normal one, held against the impulses (judge/agreement.h). A pile of 230 to 400 of them takes an
 * hour or more by penalty: one seed of the angle, two of the run-out, in the full edition alone.
 *
 * Corners and edges sink in until springs bear them, and the stack with them by 3% of its height: the wall goes when
 * that is over.
 */
#include "judge/agreement.h"
#include "judge/judge.h"

#include "base/log.h"

int main(int argc, char **argv) {
  judge_open("shaped_penalty", argc, argv);
  tl_log_set("val_shaped_penalty", TL_LOG_WARN);
  Agreement agreement = {.study = "shaped_penalty", .edition = &repose_small, .held_s = 0.15};
  for (int s = REPOSE_CUBE; s < REPOSE_SHAPES; s++) {
    agreement.seeds[s][AGREE_IMPULSES] = AGREE_SEEDS;
    agreement.seeds[s][AGREE_RIGID] = 1;
  }
  if (judge_full())
    agreement_judge(&agreement);
  else
    judge_note("Not run in the small edition; the rows are of the full one.");
  return judge_close();
}
