/* What a step costs as it becomes longer: the outflow of 160 grains (config/validation/outflow.yaml) from
 * its start to 0.82 s, at 4, 16, 64 and 128 times the shortest step of Tan 2024 (0.00125 sqrt(d50/g)); and the same
 * of stones with hollows (outflow-stones.yaml), which have several places a pair.
 *
 * CPU of one thread, mean over all steps of a run; ratios, so that the machine matters little. The mound
 * of each run is said, too: a cheap step that ends elsewhere is worth nothing.
 */
#include "judge/judge.h"

#include "base/par.h"
#include "run/history.h"
#include "run/run.h"

#include <math.h>
#include <stdio.h>

enum { RUNS = 4 };
static const int multiple[RUNS] = {4, 16, 64, 128};
typedef struct Scene {
  const char *name, *study, *figure;
} Scene;
static const Scene scene[] = {
    {"grains", "config/validation/outflow.yaml", "longstep_64_over_4"},
    {"stones", "config/validation/outflow-stones.yaml", "longstep_64_over_4_stones"}};
static const double D50 = 0.01, G = 9.81;

typedef struct Cost {
  double step_s, front_m, centre_m;
} Cost;

static Cost run_at(const Scene *s, int times) {
  char set[64], *sets[1] = {set};
  TlTexts list = {sets, 1};
  TlRun run;
  TlMeasure m;
  snprintf(set, sizeof set, "time.dt_s=%.17g", 0.00125 * times * sqrt(D50 / G));
  TlRunOptions options = {.study = s->study, .sets = &list, .no_output = true};
  JUDGE_OK(tl_run_open(&run, NULL, &options));
  double start = judge_thread_cpu_s();
  JUDGE_OK(tl_run_go(&run));
  double cpu_s = judge_thread_cpu_s() - start;
  JUDGE_OK(tl_history_measure(&run, &m));
  Cost c = {cpu_s / (double)run.state->totals.steps, m.front, m.centre.z};
  judge_note(
      "%s, %d times the shortest step: %.2f ms CPU a step, %.1f CPU-s in all; in the end the "
      "farthest grain is at %.0f mm, the mass centre at %.1f mm, the deepest overlap that "
      "the search saw in any step is %.1f%% of the radius.",
      s->name, times, 1e3 * c.step_s, cpu_s, 1e3 * c.front_m, 1e3 * c.centre_m,
      100 * fmax(run.state->totals.overlap_share, run.state->totals.boundary_overlap_share));
  tl_run_close(&run);
  return c;
}

int main(int argc, char **argv) {
  judge_open("longstep", argc, argv);
  tl_par_set_threads(1);
  for (int i = 0; i < 2; i++) {
    Cost cost[RUNS];
    for (int k = 0; k < RUNS; k++) cost[k] = run_at(&scene[i], multiple[k]);
    judge_at_most(JUDGE_GOAL, scene[i].figure, cost[2].step_s / cost[0].step_s,
                  "cost of a step over that of 4 times", 1.5);
  }
  return judge_close();
}
