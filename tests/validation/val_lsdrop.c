/* lsdrop (the peers' scene): grains let go from the lattice come to rest, and stay apart. 64 grains
 * here, 216 and 512 with --full. Step 1 ms, no global damping. */
#include "judge/judge.h"
#include "judge/lsdrop.h"

#include <math.h>
#include <stdio.h>

static void drop(int side) {
  LsDrop d;
  char name[64];
  int grains = side * side * side;
  lsdrop_open(&d, side, 1e-3);
  lsdrop_run(&d, 2);
  snprintf(name, sizeof name, "lsdrop_%d_kinetic", grains);
  judge_at_most(JUDGE_GOAL, name, d.scene.report.kinetic_J / d.drop_J, "of the drop energy", 1e-6);
  snprintf(name, sizeof name, "lsdrop_%d_overlap", grains);
  judge_at_most(JUDGE_CORRECT, name, 1e3 * d.deepest_m, "mm", 0.1);
  snprintf(name, sizeof name, "lsdrop_%d_weight", grains);
  judge_at_most(JUDGE_GOAL, name, fabs(lsdrop_carried(&d) - 1), "1", 0.01);
  judge_note("%d grains, 1 ms: %.2f CPU-s a simulated second over the first two; deepest overlap "
             "of any step %.3f mm.",
             grains, d.cpu_s / d.time_s, 1e3 * d.deepest_m);
  lsdrop_close(&d);
}

int main(int argc, char **argv) {
  judge_open("lsdrop", argc, argv);
  drop(4);
  if (judge_full()) drop(6), drop(8);
  return judge_close();
}
