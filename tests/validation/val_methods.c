/* One study file, two methods: config/validation/impact.yaml, heap.yaml and outflow.yaml by
 * impulses and by springs, solver.method alone changed (penalty's own step is penalty.dt_s of the
 * same file). What they give, how far apart it is and what either costs, beside Tan 2024, Table 2
 * (penalty's CPU over the impulses': 15.1 at their shortest step, 95.2 at 16 times it, the file's).
 */
#include "judge/cases.h"
#include "judge/judge.h"
#include "judge/outflow.h"
#include "judge/overlap.h"
#include "judge/study.h"
#include "validation/outflow_pictures.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/par.h"

#include <math.h>
#include <string.h>

enum { METHODS = 2, HEAPS = 6, SHORTER = 2 };
static const char *const method[METHODS] = {"etm-level", "penalty"};
static const char *const set[METHODS] = {"solver.method=etm-level", "solver.method=penalty"};

static double apart(double impulse, double penalty) {
  return 100 * fabs(penalty / impulse - 1);
}

/* ---- a sphere on a plane ---- */

typedef struct Hit {
  double straight, oblique, cpu_s; /* m/s: back up, along the plane after 1 */
} Hit;

static Hit hit(int m) {
  TlRun run;
  judge_study_open(&run, "impact", "%s", set[m]);
  judge_study_go(&run, NULL, NULL);
  Hit h = {run.state->dem.bodies.velocity[judge_study_body(&run, 0)].z,
           run.state->dem.bodies.velocity[judge_study_body(&run, 1)].x, run.state->totals.cpu_s};
  tl_run_close(&run);
  return h;
}

static void impact(void) {
  Hit h[METHODS] = {hit(0), hit(1)};
  judge_both("methods_impact_rebound",
             &(JudgeBoth){h[0].straight, h[1].straight, h[0].cpu_s, h[1].cpu_s, 0}, "m/s", "");
  judge_both("methods_impact_sliding",
             &(JudgeBoth){h[0].oblique, h[1].oblique, h[0].cpu_s, h[1].cpu_s, 0}, "m/s", "");
  judge_at_most(JUDGE_CORRECT, "methods_impact_difference",
                fmax(apart(h[0].straight, h[1].straight), apart(h[0].oblique, h[1].oblique)), "%",
                0.5);
}

/* ---- a heap ---- */

typedef struct Heap {
  double height_m, carried, kinetic,
      cpu_s;                 /* mean of centres; over the weight; over the energy of the drop */
  JudgeOverlap worst, truth; /* of any step, at the end */
} Heap;

/* Vertical force of the boundaries over the weight. */
static double carried(const TlRun *run) {
  const TlBodies *b = &run->state->dem.bodies;
  TlContactRow *rows;
  int64_t count;
  double up = 0, weight = 0;
  JUDGE_OK(tl_step_contacts(run->model->dem, &run->state->dem, run->work, &rows, &count));
  for (int64_t i = 0; i < count; i++)
    if (rows[i].second < 0) up += rows[i].force_N.z;
  for (int64_t i = 0; i < b->owned; i++) weight += b->mass[i] * 9.81;
  tl_free(rows);
  return up / weight;
}

static void watch_heap(TlRun *run, void *deepest) {
  judge_deepest_look_at_run(deepest, run);
}

static Heap heap_of(int m, int seed) {
  TlRun run;
  judge_study_open(&run, "heap", "%s seed=%d", set[m], seed);
  JudgeDeepest deepest = {0};
  judge_study_go(&run, watch_heap, &deepest);
  const TlRunTotals *t = &run.state->totals;
  Heap h = {.carried = carried(&run),
            .kinetic = t->kinetic_J / (t->potential_start_J - t->potential_J),
            .cpu_s = t->cpu_s,
            .worst = judge_deepest_of_run(&deepest, &run),
            .truth = judge_overlap_of_run(&run)};
  for (int64_t i = 0; i < run.state->dem.bodies.owned; i++)
    h.height_m += run.state->dem.bodies.position[i].z / (double)run.state->dem.bodies.owned;
  tl_run_close(&run);
  return h;
}

static void heap(void) {
  Heap mean[METHODS] = {{0}};
  double kinetic = 0, off[METHODS] = {0, 0}, difference = 0, scatter = 0;
  double each[HEAPS];
  for (int s = 0; s < HEAPS; s++) {
    Heap h[METHODS];
    for (int m = 0; m < METHODS; m++) {
      h[m] = heap_of(m, s + 1);
      mean[m].height_m += h[m].height_m / HEAPS;
      mean[m].cpu_s += h[m].cpu_s / HEAPS;
      mean[m].worst = judge_overlap_worse(mean[m].worst, h[m].worst);
      mean[m].truth = judge_overlap_worse(mean[m].truth, h[m].truth);
      off[m] = fmax(off[m], fabs(h[m].carried - 1));
      kinetic = fmax(kinetic, h[m].kinetic);
    }
    each[s] = 100 * (h[1].height_m / h[0].height_m - 1);
    difference += each[s] / HEAPS;
  }
  for (int s = 0; s < HEAPS; s++) scatter += pow(each[s] - difference, 2) / (HEAPS - 1);
  judge_both(
      "methods_heap_height",
      &(JudgeBoth){1e3 * mean[0].height_m, 1e3 * mean[1].height_m, mean[0].cpu_s, mean[1].cpu_s, 0},
      "mm", "");
  judge_at_most(JUDGE_GOAL, "methods_heap_difference", apart(mean[0].height_m, mean[1].height_m),
                "%", 5);
  judge_at_most(JUDGE_GOAL, "methods_heap_kinetic", kinetic, "of the drop's energy", 1e-4);
  judge_at_most(JUDGE_GOAL, "methods_heap_weight", fmax(off[0], off[1]), "1", 0.01);
  judge_worst_overlap("methods_heap_worst_overlap", &mean[0].worst);
  judge_true_overlap("methods_heap_true_overlap", &mean[0].truth);
  judge_true_overlap("methods_heap_penalty_true_overlap", &mean[1].truth);
  judge_note("Heap: mean height of the centres of 80 grains, %d seeds; one seed's two heaps are "
             "%.1f%% apart (deviation), deepest overlap %.2f%% by impulses, %.2f%% by penalty.",
             HEAPS, sqrt(scatter), 100 * mean[0].worst.largest_fraction,
             100 * mean[1].worst.largest_fraction);
}

/* ---- outflow ---- */

static const int shorter[SHORTER] = {4, 8}; /* times the paper's shortest step; the file's: 16 */
static const double paper_shorter[SHORTER] = {55.6, 95.2}, paper_file = 95.2;

typedef struct Outflow {
  OutflowMound by[METHODS], shorter[SHORTER];
  JudgeOverlap settled;
} Outflow;

static void run_seed(int which, void *result, void *context) {
  const OutflowEdition *e = context;
  Outflow *o = result;
  o->settled = outflow_settle(e, which + 1);
  for (int m = 0; m < METHODS; m++) o->by[m] = outflow_run(e, set[m], method[m], which + 1, NULL);
  for (int k = 0; which == 0 && k < SHORTER; k++) {
    char step[64], name[32];
    snprintf(step, sizeof step, "time.dt_s=%.17g", 6.386e-4 * shorter[k] / 16);
    snprintf(name, sizeof name, "step%d", shorter[k]);
    o->shorter[k] = outflow_run(e, step, name, 1, NULL);
  }
}

static void say_costs(const Outflow *o, const OutflowMean *by) {
  for (int k = 0; k < SHORTER; k++) {
    char figure[48];
    snprintf(figure, sizeof figure, "methods_outflow_cpu_ratio_%d", shorter[k]);
    judge_paper(figure, o[0].by[1].cpu_s / o[0].shorter[k].cpu_s, paper_shorter[k],
                "penalty over impulses", "Tan 2024, Table 2");
  }
  judge_paper("methods_outflow_cpu_ratio_16", by[1].cpu_s / by[0].cpu_s, paper_file,
              "penalty over impulses", "Tan 2024, Table 2");
  judge_paper("methods_outflow_cpu_step_ratio", by[1].cpu_step_s / by[0].cpu_step_s,
              4000.0 / 32000 / (42.0 / 2000), "penalty over impulses, a step", "Tan 2024, Table 2");
}

static void outflow(const OutflowEdition *e, const Outflow *o) {
  OutflowMound mound[METHODS][OUTFLOW_SEEDS];
  OutflowMean by[METHODS];
  double balance_error = 0;
  for (int m = 0; m < METHODS; m++) {
    for (int s = 0; s < e->seeds; s++) {
      mound[m][s] = o[s].by[m];
      balance_error = fmax(balance_error, mound[m][s].balance_error);
    }
    by[m] = outflow_mean(mound[m], e->seeds);
    judge_note(
        "Outflow by %s: spread %.1f mm (seeds' deviation %.1f), height %.1f mm (%.1f); kinetic "
        "energy left %.1g of the drop's; deepest overlap %.2f%% of a radius; %.3g ms CPU a "
        "step, %.3g s in all.",
        method[m], 1e3 * by[m].spread_m, 1e3 * by[m].spread_sd, 1e3 * by[m].height_m,
        1e3 * by[m].height_sd, by[m].kinetic_fraction, 100 * by[m].worst.largest_fraction,
        1e3 * by[m].cpu_step_s, by[m].cpu_s);
  }
  JudgeBoth spread = {1e3 * by[0].spread_m, 1e3 * by[1].spread_m, by[0].cpu_s, by[1].cpu_s,
                      paper_file};
  JudgeBoth height = spread;
  height.impulse = 1e3 * by[0].height_m;
  height.penalty = 1e3 * by[1].height_m;
  judge_both("methods_outflow_spread", &spread, "mm", "Tan 2024, Table 2");
  judge_both("methods_outflow_height", &height, "mm", "Tan 2024, Table 2");
  judge_at_most(JUDGE_GOAL, "methods_outflow_spread_difference",
                apart(spread.impulse, spread.penalty), "%", 5);
  judge_at_most(JUDGE_GOAL, "methods_outflow_height_difference",
                apart(height.impulse, height.penalty), "%", 5);
  judge_at_most(JUDGE_CORRECT, "methods_outflow_energy_defect", balance_error,
                "of the drop's energy", 0.01);
  say_costs(o, by);
}

int main(int argc, char **argv) {
  judge_open("methods", argc, argv);
  tl_log_set("val_methods", TL_LOG_WARN);
  OutflowEdition e = *outflow_edition();
  const Outflow *o = judge_cases(&(JudgeCases){e.seeds, sizeof(Outflow), run_seed, &e, NULL});
  tl_par_set_threads(1);
  impact();
  heap();
  outflow(&e, o);
  for (int m = 0; m < METHODS; m++) {
    static const double last[] = {1};
    static const char *const name[METHODS] = {"methods_outflow_impulses.png",
                                              "methods_outflow_penalty.png"},
                             *const full[METHODS] = {"methods_full_impulses.png",
                                                     "methods_full_penalty.png"};
    outflow_pictures(method[m], 1, last, judge_full() ? &full[m] : &name[m]);
  }
  return judge_close();
}
