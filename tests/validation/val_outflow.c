/* Grains flow out of a container and come to rest, at steps of 1 to 16 (Tan 2024, section 6.2, Fig.
 * 12, Table 2; Tan 2022, Figs. 5.13 and 5.14).
 *
 * The paper's lengths are pixels and its gravity is not told. Its steps of 2.5e-4 to 4e-3 s are
 * taken as 0.00125 to 0.02 of sqrt(d50/g), of which 8 s are then the time a mound takes to come to
 * rest; R_n, mu, damping over sqrt(d50/g) and the ratio of masses are the paper's. What is compared
 * is how the mound changes with the step (spread: radius of 95% of the mass; height: 99th
 * percentile of the grains' tops), the mean of the seeds against that of the smallest step, and CPU
 * a step. */
#include "validation/flow.h"

#include "base/log.h"
#include "post/measure.h"

#include <math.h>
#include <stdio.h>

enum { STEPS = 5, SEEDS = 3 };
static const double D50 = 0.01, G = 9.81;
/* of the smallest of the paper's steps, 0.00125 sqrt(d50/g) */
static const int multiple[STEPS] = {1, 2, 4, 8, 16};
/* Table 2: CPU minutes of 8 s */
static const double paper_minutes[STEPS] = {265, 132, 72, 42, 42};

typedef struct Edition {
  int first, seeds; /* of multiple */
  int64_t grains;
  double half, height, open_s, duration_s; /* of the container */
  int nodes;
} Edition;
static const Edition small = {2, 3, 60, 0.028, 0.08, 0.25, 0.65, 160};
static const Edition full = {0, 1, 1600, 0.0725, 0.22, 0.5, 2.5, 2560};

typedef struct Mound {
  double spread_m, height_m, overlap, cpu_step_s, part_s[4];
  int64_t steps;
} Mound;

static double step_s(int k) {
  return 0.00125 * multiple[k] * sqrt(D50 / G);
}

static const char *folder_of(int k, int seed) {
  static char name[64];
  snprintf(name, sizeof name, "step%d_seed%d.run", multiple[k], seed);
  return judge_path(name);
}

static void measure(const char *folder, Mound *mound) {
  TlScene scene;
  TlMeasure m;
  JUDGE_OK(tl_results_read_scene(folder, &scene));
  JUDGE_OK(tl_measure_run(folder, &scene, &(TlMeasureOptions){0}, &m));
  mound->spread_m = m.deposit.radius_95_m;
  mound->height_m = m.deposit.height_p99_m;
  tl_measure_free(&m);
  tl_scene_free(&scene);
}

static Mound flow_out(const Edition *e, int k, int seed) {
  enum { SETS = 13 };
  static const char *const walls[4] = {"-%g, 0, 0", "%g, 0, 0", "0, -%g, 0", "0, %g, 0"};
  char text[SETS][96], at[64];
  const char *sets[SETS];
  int n = 0;
  Flow flow;
  snprintf(text[n++], sizeof *text, "time.dt_s=%.17g", step_s(k));
  snprintf(text[n++], sizeof *text, "time.duration_s=%g", e->duration_s);
  snprintf(text[n++], sizeof *text, "seed=%d", seed);
  snprintf(text[n++], sizeof *text, "release.count=%lld", (long long)e->grains);
  snprintf(text[n++], sizeof *text, "release.low_m=[-%g, -%g, 0]", e->half, e->half);
  snprintf(text[n++], sizeof *text, "release.high_m=[%g, %g, %g]", e->half, e->half, e->height);
  for (int w = 0; w < 4; w++) {
    snprintf(at, sizeof at, walls[w], e->half);
    snprintf(text[n++], sizeof *text, "planes.%d.point_m=[%s]", w + 1, at);
  }
  for (int s = 0; s < 3; s++) snprintf(text[n++], sizeof *text, "shapes.%d.nodes=%d", s, e->nodes);
  for (int i = 0; i < SETS; i++) sets[i] = text[i];
  flow_run(&flow, "outflow", sets, SETS, folder_of(k, seed), e->open_s, 4);
  const TlRunTotals *t = &flow.run.totals;
  double steps = (double)t->steps;
  Mound mound = {.overlap = flow_overlap(&flow),
                 .cpu_step_s = t->cpu_s / steps,
                 .part_s = {flow.detect_s / steps, flow.etm_s / steps, flow.rest_s / steps,
                            flow.other_s / steps},
                 .steps = t->steps};
  tl_run_close(&flow.run);
  measure(folder_of(k, seed), &mound);
  fprintf(stderr, "step %d, seed %d: spread %.4f m, height %.4f m, overlap %.3g, %.3g s a step\n",
          multiple[k], seed, mound.spread_m, mound.height_m, mound.overlap, mound.cpu_step_s);
  return mound;
}

typedef struct Mean {
  double spread_m, height_m, spread_sd, height_sd, cpu_step_s, part_s[4];
} Mean;

static Mean mean_of(const Mound *m, int count) {
  Mean r = {0};
  for (int i = 0; i < count; i++) {
    r.spread_m += m[i].spread_m / count;
    r.height_m += m[i].height_m / count;
    r.cpu_step_s += m[i].cpu_step_s / count;
    for (int p = 0; p < 4; p++) r.part_s[p] += m[i].part_s[p] / count;
  }
  for (int i = 0; i < count; i++) {
    r.spread_sd += pow(m[i].spread_m - r.spread_m, 2) / count;
    r.height_sd += pow(m[i].height_m - r.height_m, 2) / count;
  }
  r.spread_sd = sqrt(r.spread_sd);
  r.height_sd = sqrt(r.height_sd);
  return r;
}

static void say(const Edition *e, int k, const Mean *m) {
  static const char *const figure[STEPS] = {"outflow_cpu_step_1", "outflow_cpu_step_2",
                                            "outflow_cpu_step_4", "outflow_cpu_step_8",
                                            "outflow_cpu_step_16"};
  double paper = paper_minutes[k] * 60 / (8 / (2.5e-4 * multiple[k]));
  judge_note("Step %d (%.2g s): spread %.1f mm (%.1f over the seeds), height %.1f mm (%.1f); %.2f "
             "ms CPU a step, of the wall clock %.2f search, %.2f impacts, %.2f rest, %.2f others.",
             multiple[k], step_s(k), 1e3 * m->spread_m, 1e3 * m->spread_sd, 1e3 * m->height_m,
             1e3 * m->height_sd, 1e3 * m->cpu_step_s, 1e3 * m->part_s[0], 1e3 * m->part_s[1],
             1e3 * m->part_s[2], 1e3 * m->part_s[3]);
  judge_paper(figure[k], 1e3 * m->cpu_step_s * 1600 / (double)e->grains, 1e3 * paper, "ms",
              judge_full() ? "Tan 2024, Table 2, 1600 grains of 2561 nodes"
                           : "Tan 2024, Table 2, 1600 grains of 2561 nodes; ours times 1600 over "
                             "its grains, fewer nodes");
}

static void plot(const Edition *e, const Mean mean[STEPS]) {
  FILE *file = judge_data("parts.dat");
  for (int k = e->first; k < STEPS; k++)
    fprintf(file, "%d %g %g %g %g\n", multiple[k], 1e3 * mean[k].part_s[0], 1e3 * mean[k].part_s[1],
            1e3 * mean[k].part_s[2], 1e3 * mean[k].part_s[3]);
  fclose(file);
  judge_gnuplot("outflow_parts",
                "set style data histogram; set style histogram rowstacked; set style fill solid\n"
                "set boxwidth 0.6; set xlabel 'step over the smallest'; set ylabel 'ms a step'\n"
                "plot 'parts.dat' using 2:xtic(1) title 'contact search', '' using 3 title "
                "'impacts', '' using 4 title 'rest', '' using 5 title 'others'\n");
  judge_gnuplot("outflow_islands",
                "set datafile separator ','; set xlabel 'grains in the largest island'\n"
                "set ylabel 'ms CPU a step'; set key left top\n"
                "plot 'step16_seed1.run/history.csv' every ::1 using 'largest_island':(1e3*column("
                "'cpu_s')) title 'step 16', 'step8_seed1.run/history.csv' every ::1 using "
                "'largest_island':(1e3*column('cpu_s')) title 'step 8'\n");
}

int main(int argc, char **argv) {
  static Mound mound[STEPS][SEEDS];
  Mean mean[STEPS];
  double spread = 0, height = 0, overlap = 0;
  judge_open("outflow", argc, argv);
  tl_log_set("val_outflow", TL_LOG_WARN);
  const Edition *e = judge_full() ? &full : &small;
  for (int k = e->first; k < STEPS; k++) {
    for (int s = 0; s < e->seeds; s++) {
      mound[k][s] = flow_out(e, k, s + 1);
      overlap = fmax(overlap, mound[k][s].overlap);
    }
    mean[k] = mean_of(mound[k], e->seeds);
    spread = fmax(spread, fabs(mean[k].spread_m / mean[e->first].spread_m - 1));
    height = fmax(height, fabs(mean[k].height_m / mean[e->first].height_m - 1));
    say(e, k, &mean[k]);
  }
  judge_at_most(JUDGE_GOAL, "outflow_spread_change", 100 * spread, "%", 5);
  judge_at_most(JUDGE_GOAL, "outflow_height_change", 100 * height, "%", 5);
  judge_at_most(JUDGE_CORRECT, "outflow_deepest_overlap", overlap, "", 0.02);
  plot(e, mean);
  return judge_close();
}
