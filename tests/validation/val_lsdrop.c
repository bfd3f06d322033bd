/* lsdrop (the peers' scene): grains let go from the lattice come to rest, and stay apart; 64 grains
 * here, 216 and 512 with --full. And heaps of 64 and 216, with --full of 512, too, that have come to
 * rest in another program (data/settled_*.csv) stay. As stored these lie up to half a millimetre inside each other,
 * and without forces; that is undone first, until a second goes by at rest, then one is watched.
 * Step 1 ms, heaps of 512 stored grains 2 ms; no global damping. The drop of 64 and the stored
 * heaps by penalty, too. */
#include "judge/judge.h"
#include "judge/lsdrop.h"
#include "judge/overlap.h"

#include <math.h>
#include <stdio.h>

static const LsMethod impulses = {.step_s = 1e-3}, longer = {.step_s = 2e-3},
                      penalty = {.step_s = 1.1e-5, .normal_Pa_m = 1e11};
/* For heaps at rest: weights alone press, grains touch by less than 0.5% of their surface; 2/omega
 * of their contacts is 0.2 ms. */
static const LsMethod soft = {.step_s = 8e-5, .normal_Pa_m = 7.5e9, .touching_share = 0.005};

/* mark: of the method, in the rows' names. */
static void drop(int side, const LsMethod *method, const char *mark) {
  LsDrop d;
  char name[64];
  int grains = side * side * side;
  lsdrop_open(&d, side, *method);
  lsdrop_run(&d, 2);
  snprintf(name, sizeof name, "lsdrop_%d_%skinetic", grains, mark);
  judge_at_most(JUDGE_GOAL, name, d.scene.report.kinetic_J / d.drop_J, "of the drop energy", 1e-6);
  snprintf(name, sizeof name, "lsdrop_%d_%sworst_overlap", grains, mark);
  JudgeOverlap worst = judge_deepest_of_scene(&d.worst, &d.scene),
               truth = judge_overlap_of_scene(&d.scene);
  judge_at_most(JUDGE_CORRECT, name, 1e3 * worst.largest_m, "mm", 0.1);
  snprintf(name, sizeof name, "lsdrop_%d_%strue_overlap", grains, mark);
  judge_true_overlap(name, &truth);
  snprintf(name, sizeof name, "lsdrop_%d_%sweight", grains, mark);
  judge_at_most(JUDGE_GOAL, name, fabs(lsdrop_carried(&d) - 1), "1", 0.01);
  judge_note("%s, %d grains, %g ms: %.2f CPU-s a simulated second over the first two; deepest "
             "overlap of any step as the solver sees it %.3f mm; the middle of mass %.2f mm high.",
             *mark ? "Penalty" : "Impulses", grains, 1e3 * method->step_s, d.cpu_s / d.time_s,
             1e3 * d.deepest_m, 1e3 * lsdrop_mean_height(&d));
  lsdrop_close(&d);
}

/* mark: as above. */
static void stay(int side, const LsMethod *method, const char *mark) {
  LsDrop d;
  char name[64];
  int grains = side * side * side;
  lsdrop_open_settled(&d, side, *method);
  double stored = lsdrop_mean_height(&d);
  bool settled = lsdrop_settle(&d, (LsRest){1e-6, 1e-4}, 5);
  double overlap = d.deepest_m, time = d.time_s, settling = d.cpu_s;
  double swelling = lsdrop_mean_height(&d) / stored - 1;
  judge_deepest_free(&d.worst);
  LsRest rest = lsdrop_watch(&d, 1);
  snprintf(name, sizeof name, "lsdrop_settled_%d_%skinetic", grains, mark);
  judge_at_most(JUDGE_GOAL, name, rest.kinetic, "of the drop energy", 1e-6);
  snprintf(name, sizeof name, "lsdrop_settled_%d_%screep", grains, mark);
  judge_at_most(JUDGE_GOAL, name, rest.creep, "of the mean height", 1e-3);
  snprintf(name, sizeof name, "lsdrop_settled_%d_%sworst_overlap", grains, mark);
  JudgeOverlap worst = judge_deepest_of_scene(&d.worst, &d.scene);
  judge_at_most(JUDGE_CORRECT, name, 1e3 * worst.largest_m, "mm", 0.1);
  judge_note("%s, %d settled grains, stored %.2f mm deep in each other: the mean height changes by "
             "%.2g of itself, %s after %.0f s; %.2f CPU-s a second at rest.",
             *mark ? "Penalty" : "Impulses", grains, 1e3 * overlap, swelling,
             settled ? "at rest" : "not at rest", time, d.cpu_s - settling);
  lsdrop_close(&d);
}

int main(int argc, char **argv) {
  judge_open("lsdrop", argc, argv);
  drop(4, &impulses, "");
  drop(4, &penalty, "penalty_");
  if (judge_full()) drop(6, &impulses, ""), drop(8, &impulses, "");
  for (int side = 4; side <= (judge_full() ? 8 : 6); side += 2) {
    stay(side, side < 8 ? &impulses : &longer, "");
    stay(side, &soft, "penalty_");
  }
  return judge_close();
}
