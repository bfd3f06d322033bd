/* A heap of irregular grains at rest stays: kinetic energy, mean height and overlap over the time
 * after it has settled (Bullet 3.24 creeps by 4.2% in 18 s on its own scene). 100 grains of eight
 * shapes watched for 5 s here, 500 for 20 s with --full. Step 1 ms, no global damping, no sleeping,
 * no resistance to rolling. */
#include "judge/judge.h"
#include "judge/lsdrop.h"

#include <math.h>

int main(int argc, char **argv) {
  LsDrop d;
  judge_open("heap", argc, argv);
  bool full = judge_full();
  int side = full ? 8 : 4, grains = full ? 500 : 100, seconds = full ? 20 : 5;
  lsdrop_open_scanned(&d, side, grains, 1e-3);
  lsdrop_run(&d, full ? 4 : 2);
  double start = lsdrop_mean_height(&d), most = 0, away = 0, settling = d.cpu_s;
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
      "%d grains of eight irregular shapes (rounded, angular, elongated, concave; 800 "
      "nodes, 10 to 14 mm) settle for %d s, %.1f CPU-s, and are watched for %d s, %.2f CPU-s "
      "a second; Bullet 3.24 creeps by 4.2%% in 18 s on lsdrop.",
      grains, full ? 4 : 2, settling, seconds, (d.cpu_s - settling) / seconds);
  lsdrop_close(&d);
  return judge_close();
}
