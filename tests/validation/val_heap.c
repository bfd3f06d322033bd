/* A heap at rest stays: kinetic energy, mean height and overlap over the time after it has settled
 * (Bullet 3.24 creeps by 4.2% in 18 s). 64 grains watched for 4 s here, 512 for 20 s with --full.
 * Step 1 ms, no global damping, no sleeping. */
#include "judge/judge.h"
#include "judge/lsdrop.h"

#include <math.h>

int main(int argc, char **argv) {
  LsDrop d;
  judge_open("heap", argc, argv);
  int side = judge_full() ? 8 : 4, seconds = judge_full() ? 20 : 4;
  lsdrop_open(&d, side, 1e-3);
  lsdrop_run(&d, 2);
  double start = lsdrop_mean_height(&d), most = 0, away = 0;
  for (int i = 0; i < 4 * seconds; i++) {
    lsdrop_run(&d, 0.25);
    most = fmax(most, d.scene.report.kinetic_J / d.drop_J);
    away = fmax(away, fabs(lsdrop_mean_height(&d) / start - 1));
  }
  judge_at_most(JUDGE_GOAL, "heap_kinetic", most, "of the drop energy", 1e-6);
  judge_at_most(JUDGE_GOAL, "heap_creep", away, "of the mean height", 1e-3);
  judge_at_most(JUDGE_CORRECT, "heap_overlap", d.deepest, "of the radius", 0.02);
  judge_at_most(JUDGE_GOAL, "heap_weight", fabs(lsdrop_carried(&d) - 1), "1", 0.01);
  judge_note(
      "%d superellipsoids settle for 2 s and are watched for %d s; Bullet 3.24 creeps by 4.2%% "
      "in 18 s on this scene.",
      side * side * side, seconds);
  lsdrop_close(&d);
  return judge_close();
}
