/* lsdrop, 512 grains let go from the lattice: CPU time a simulated second, one thread, step 2 ms
 * (at which the scene rests as at 1 ms and the overlap stays under 0.1 mm). */
#include "judge/calibrate.h"
#include "judge/judge.h"
#include "judge/lsdrop.h"

#include "base/par.h"

int main(int argc, char **argv) {
  LsDrop d;
  judge_open("lsdrop", argc, argv);
  tl_par_set_threads(1);
  lsdrop_open(&d, 8, (LsMethod){.step_s = 2e-3});
  lsdrop_run(&d, 0.3);
  double impact = d.cpu_s;
  lsdrop_run(&d, 1.2);
  double factor = judge_machine_factor();
  judge_at_most(JUDGE_GOAL, "lsdrop_512_speed", d.cpu_s / d.time_s / factor, "CPU-s a simulated s",
                10);
  judge_at_most(JUDGE_GOAL, "lsdrop_512_kinetic", d.scene.report.kinetic_J / d.drop_J,
                "of the drop energy", 1e-6);
  JudgeOverlap worst = judge_deepest_of_scene(&d.worst, &d.scene);
  judge_at_most(JUDGE_CORRECT, "lsdrop_512_worst_overlap", 1e3 * worst.largest_m, "mm", 0.1);
  judge_note("As measured the fall and impact (0.3 s) take %.1f CPU-s, settling and rest (1.2 s) "
             "%.1f; the machine's factor is %.2f. YADE needs 1,091 CPU-s a simulated second, "
             "Bullet (hulls, "
             "creeping) 2.6 to 10.6.",
             impact, d.cpu_s - impact, factor);
  lsdrop_close(&d);
  return judge_close();
}
