/* Grains flow out of a container and come to rest, at steps of 1 to 16 (Tan 2024, section 6.2, Fig.
 * 12, Table 2; Tan 2022, Figs. 5.13 and 5.14).
 *
 * The paper's lengths are pixels and its gravity is not told. Its steps of 2.5e-4 to 4e-3 s are
 * taken as 0.00125 to 0.02 of sqrt(d50/g); R_n, mu, damping over sqrt(d50/g) and the ratio of
 * masses are the paper's. Starts, runs and what is measured: judge/outflow.h. Compared is how the
 * mound changes with the step, the mean of the seeds against that of the smallest step, and CPU a
 * step.
 */
#include "judge/calibrate.h"
#include "judge/outflow.h"
#include "validation/outflow_pictures.h"

#include "base/log.h"
#include "base/par.h"

#include <math.h>
#include <stdio.h>

enum { STEPS = 5 };
static const double D50 = 0.01, G = 9.81;
/* of the smallest of the paper's steps, 0.00125 sqrt(d50/g) */
static const int multiple[STEPS] = {1, 2, 4, 8, 16};
/* Table 2: CPU minutes of 8 s */
static const double paper_minutes[STEPS] = {265, 132, 72, 42, 42};

static double step_s(int k) {
  return 0.00125 * multiple[k] * sqrt(D50 / G);
}

static int first_step(void) { /* of multiple */
  return judge_full() ? 0 : 2;
}

static OutflowMound flow_out(const OutflowEdition *e, int k, int seed, OutflowIslands *islands) {
  char set[64], name[16];
  snprintf(set, sizeof set, "time.dt_s=%.17g", step_s(k));
  snprintf(name, sizeof name, "step%d", multiple[k]);
  return outflow_run(e, set, name, seed, islands);
}

/* ---- what is said ---- */

static void say(int k, const OutflowMean *mean, const OutflowMound *mound) {
  static const char *const cost[STEPS] = {"outflow_cpu_step_1", "outflow_cpu_step_2",
                                          "outflow_cpu_step_4", "outflow_cpu_step_8",
                                          "outflow_cpu_step_16"};
  static const char *const gain[STEPS] = {"", "outflow_gain_2", "outflow_gain_4", "outflow_gain_8",
                                          "outflow_gain_16"};
  const OutflowMean *m = &mean[k], *first = &mean[first_step()];
  double paper = paper_minutes[k] * 60 / (8 / (2.5e-4 * multiple[k]));
  judge_note(
      "Step %d (%.2g s): spread %.1f mm (seeds' deviation %.1f), height %.1f mm (%.1f); "
      "kinetic energy left %.1g of the drop's; of %.2f ms CPU a step %.2f are contact search, "
      "%.2f impacts, %.2f rest, %.2f others.",
      multiple[k], step_s(k), 1e3 * m->spread_m, 1e3 * m->spread_sd, 1e3 * m->height_m,
      1e3 * m->height_sd, m->kinetic_fraction, 1e3 * m->cpu_step_s, 1e3 * m->part_s[0],
      1e3 * m->part_s[1], 1e3 * m->part_s[2], 1e3 * m->part_s[3]);
  judge_paper(cost[k], m->cpu_step_s * 1600 / (double)mound->grains, paper, "s",
              judge_full() ? "Tan 2024, Table 2" : "Tan 2024, Table 2; ours per grain, times 1600");
  if (k > first_step())
    judge_paper(gain[k], first->cpu_step_s * multiple[k] / (m->cpu_step_s * multiple[first_step()]),
                paper_minutes[first_step()] / paper_minutes[k], "of the smallest step's CPU",
                "Tan 2024, Table 2");
}

static void plot_parts(const OutflowMean *mean) {
  FILE *file = judge_data("parts.dat");
  for (int k = first_step(); k < STEPS; k++) {
    const double *p = mean[k].part_s;
    fprintf(file, "%d %g %g %g %g\n", multiple[k], 1e3 * p[0], 1e3 * p[1], 1e3 * p[2], 1e3 * p[3]);
  }
  fclose(file);
  judge_gnuplot(judge_full() ? "outflow_full_parts" : "outflow_parts",
                "set style data histogram; set style histogram rowstacked; set style fill solid\n"
                "set boxwidth 0.6; set xlabel 'step over the smallest of Tan 2024'\n"
                "set ylabel 'ms CPU a step'; set yrange [0:*]; set key outside right\n"
                "plot 'parts.dat' using 2:xtic(1) title 'contact search', '' using 3 title "
                "'impacts', '' using 4 title 'rest', '' using 5 title 'others'\n");
}

static void plot_islands(const OutflowIslands *islands) {
  FILE *file = judge_data("islands.dat");
  for (int k = first_step(); k < STEPS; k++) {
    fprintf(file, "\"step %d\"\n", multiple[k]);
    for (int i = 0; i < OUTFLOW_BINS; i++) {
      double n = (double)islands[k].count[i];
      if (n > 0)
        fprintf(file, "%g %g\n", islands[k].contacts[i] / n, 1e6 * islands[k].time_s[i] / n);
    }
    fprintf(file, "\n\n");
  }
  fclose(file);
  judge_gnuplot(judge_full() ? "outflow_full_islands" : "outflow_islands",
                "set logscale xy; set xlabel 'contacts of the island'; set key left top\n"
                "set ylabel 'CPU of its impacts a step, microseconds'\n"
                "set grid; stats 'islands.dat' using 1 nooutput\n"
                "plot for [i=0:STATS_blocks-2] 'islands.dat' index i using 1:2 with linespoints "
                "pointtype 7 title columnheader(1) noenhanced\n");
}

static void picture(int k, const char *first, const char *last) {
  static const double fraction[] = {0, 1};
  char run[16], name[2][48];
  const char *names[] = {name[0], name[1]}, *full = judge_full() ? "full_" : "";
  snprintf(run, sizeof run, "step%d", multiple[k]);
  snprintf(name[0], sizeof name[0], "outflow_%s%s.png", full, first ? first : last);
  snprintf(name[1], sizeof name[1], "outflow_%s%s.png", full, last);
  outflow_pictures(run, first ? 2 : 1, first ? fraction : fraction + 1, names);
}

int main(int argc, char **argv) {
  static OutflowMound mound[STEPS][OUTFLOW_SEEDS];
  static OutflowIslands islands[STEPS];
  OutflowMean mean[STEPS];
  double spread = 0, height = 0, dearest_s = 0;
  JudgeOverlap worst = {0};
  judge_open("outflow", argc, argv);
  tl_log_set("val_outflow", TL_LOG_WARN);
  tl_par_set_threads(1); /* CPU a step, and a trace that only one thread may write */
  const OutflowEdition *e = outflow_edition();
  for (int s = 0; s < e->seeds; s++) worst = judge_overlap_worse(worst, outflow_settle(e, s + 1));
  for (int k = first_step(); k < STEPS; k++) {
    for (int s = 0; s < e->seeds; s++) {
      mound[k][s] = flow_out(e, k, s + 1, &islands[k]);
      worst = judge_overlap_worse(worst, mound[k][s].worst);
    }
    mean[k] = outflow_mean(mound[k], e->seeds);
    spread = fmax(spread, fabs(mean[k].spread_m / mean[first_step()].spread_m - 1));
    height = fmax(height, fabs(mean[k].height_m / mean[first_step()].height_m - 1));
    dearest_s = fmax(dearest_s, mean[k].cpu_step_s);
    say(k, mean, mound[k]);
  }
  judge_at_most(JUDGE_GOAL, "outflow_spread_change", 100 * spread, "%", 5);
  judge_at_most(JUDGE_GOAL, "outflow_height_change", 100 * height, "%", 5);
  judge_worst_overlap("outflow_worst_overlap", &worst);
  if (judge_full()) /* over the whole run, at the step that is dearest */
    judge_at_most(JUDGE_GOAL, "outflow_mean_step", dearest_s / judge_machine_factor(), "s", 0.012);
  JudgeOverlap truth = mound[first_step()][0].truth;
  for (int k = first_step(); k < STEPS; k++) truth = judge_overlap_worse(truth, mound[k][0].truth);
  judge_true_overlap("outflow_true_overlap", &truth);
  plot_parts(mean);
  plot_islands(islands);
  picture(first_step(), "start", "mound_small_step");
  picture(STEPS - 1, NULL, "mound_large_step");
  return judge_close();
}
