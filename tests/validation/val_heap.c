/* A heap of irregular grains at rest stays: kinetic energy, mean height and overlap over the time
 * after it has settled (Bullet 3.24 creeps by 4.2% in 18 s on its own scene). 100 grains of eight
 * shapes watched for 5 s here, 500 for 20 s with --full. The watch begins after a second in which
 * the kinetic energy kept to the goal and the mean height fell no faster than would use up the goal
 * in 20 s; a heap that takes longer than MOST_SETTLING is watched as it is. By impulses with a step
 * of 1 ms, and by penalty; no global damping, no sleeping, no resistance to rolling. */
#include "judge/judge.h"
#include "judge/lsdrop.h"
#include "judge/overlap.h"

#include <math.h>
#include <stdio.h>

static const double KINETIC = 1e-6, CREEP = 1e-3, MOST_SETTLING = 10; /* goals; s */

/* Surfaces so stiff that the fall presses grains less than 2% of their radius into each other: the
 * hardest blow of 500 grains 1.95% by the oracle. They touch by less than an eighth of a per cent of
 * their surface, and 2/omega of their contacts stays above 20 us. */
static const LsMethod impulses = {.step_s = 1e-3};
static const LsMethod penalty = {
    .step_s = 1.9e-5, .normal_Pa_m = 2.4e11, .touching_share = 0.00125};

typedef struct Heap {
  int side, grains, seconds;
} Heap;

/* mark: of the method, in the rows' names. Returns the mean height. */
static double heap(const Heap *h, const LsMethod *method, const char *mark) {
  LsDrop d;
  char name[64];
  lsdrop_open_scanned(&d, h->side, h->grains, *method);
  bool settled = lsdrop_settle(&d, (LsRest){KINETIC, CREEP / 20}, MOST_SETTLING);
  double settling = d.cpu_s, settling_s = d.time_s;
  LsRest rest = lsdrop_watch(&d, h->seconds);
  snprintf(name, sizeof name, "heap_%skinetic", mark);
  judge_at_most(JUDGE_GOAL, name, rest.kinetic, "of the drop energy", KINETIC);
  snprintf(name, sizeof name, "heap_%screep", mark);
  judge_at_most(JUDGE_GOAL, name, rest.creep, "of the mean height", CREEP);
  snprintf(name, sizeof name, "heap_%sworst_overlap", mark);
  JudgeOverlap worst = judge_deepest_of_scene(&d.worst, &d.scene),
               truth = judge_overlap_of_scene(&d.scene);
  judge_worst_overlap(name, &worst);
  snprintf(name, sizeof name, "heap_%strue_overlap", mark);
  judge_true_overlap(name, &truth);
  snprintf(name, sizeof name, "heap_%sweight", mark);
  judge_at_most(JUDGE_GOAL, name, fabs(lsdrop_carried(&d) - 1), "1", 0.01);
  judge_note("%s: %d grains of eight irregular shapes (rounded, angular, elongated, concave; 800 "
             "nodes, 10 to 14 mm) %s after %.0f s, %.1f CPU-s, and are watched for %d s, %.2f "
             "CPU-s a second, while the mean height changes by %.2g of itself a second.",
             *mark ? "Penalty" : "Impulses", h->grains, settled ? "are at rest" : "are not at rest",
             settling_s, settling, h->seconds, (d.cpu_s - settling) / h->seconds,
             rest.creep / h->seconds);
  double height = lsdrop_mean_height(&d);
  lsdrop_close(&d);
  return height;
}

int main(int argc, char **argv) {
  judge_open("heap", argc, argv);
  Heap h = judge_full() ? (Heap){8, 500, 20} : (Heap){4, 100, 5};
  double first = heap(&h, &impulses, ""), second = heap(&h, &penalty, "penalty_");
  judge_at_most(JUDGE_GOAL, "heap_penalty_height_difference", 100 * fabs(second / first - 1), "%",
                5);
  judge_note("Bullet 3.24 creeps by 4.2%% in 18 s on lsdrop.");
  return judge_close();
}
