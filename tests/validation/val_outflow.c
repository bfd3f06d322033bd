/* Grains flow out of a container and come to rest, at steps of 1 to 16 (Tan 2024, section 6.2, Fig.
 * 12, Table 2; Tan 2022, Figs. 5.13 and 5.14).
 *
 * The paper's lengths are pixels and its gravity is not told. Its steps of 2.5e-4 to 4e-3 s are
 * taken as 0.00125 to 0.02 of sqrt(d50/g); R_n, mu, damping over sqrt(d50/g) and the ratio of
 * masses are the paper's. The grains of a seed settle once in the container
 * (config/validation/outflow.yaml until its walls go); their places are written as bodies into
 * start_seedN.yaml, from which every step starts, so that only the outflow differs. Both files run
 * with talus-solve.
 *
 * Compared is how the mound changes with the step, the mean of the seeds against that of the
 * smallest step, and CPU a step. To be the less moved by single grains, spread and height are taken
 * over points: the nodes of all grains. Spread: radius about the container's axis that holds 95% of
 * the mass, each grain's laid evenly on its nodes. Height: 99th percentile of the nodes' heights.
 */
#include "validation/pictures.h"

#include "base/file.h"
#include "base/log.h"
#include "base/par.h"
#include "dem/contact.h"
#include "dem/methods.h"
#include "dem/shapes.h"
#include "post/measure.h"
#include "run/run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 5, SEEDS = 6, BINS = 16, PARTS = 4 };
static const double D50 = 0.01, G = 9.81;
/* of the smallest of the paper's steps, 0.00125 sqrt(d50/g) */
static const int multiple[STEPS] = {1, 2, 4, 8, 16};
/* Table 2: CPU minutes of 8 s */
static const double paper_minutes[STEPS] = {265, 132, 72, 42, 42};

typedef struct Edition {
  int first, seeds; /* of multiple */
  double out_s;     /* from when the walls go */
  int set_count;
  const char *sets[20]; /* of the container's study */
} Edition;
static const Edition small = {.first = 2, .seeds = 6, .out_s = 0.5};
static const Edition full = {
    .first = 0,
    .seeds = 1,
    .out_s = 1.2,
    .set_count = 19,
    .sets = {"release.count=1600", "release.low_m=[-0.052,-0.052,0]",
             "release.high_m=[0.052,0.052,0.29]", "shapes.0.nodes=2561", "shapes.0.spacing_m=4e-4",
             "shapes.1.nodes=2561", "shapes.1.spacing_m=4e-4", "shapes.2.nodes=2561",
             "shapes.2.spacing_m=4e-4", "shapes.3.nodes=2561", "shapes.3.spacing_m=4e-4",
             "walls.0.point_m=[-0.052,0,0]", "walls.0.until_s=0.5", "walls.1.point_m=[0.052,0,0]",
             "walls.1.until_s=0.5", "walls.2.point_m=[0,-0.052,0]", "walls.2.until_s=0.5",
             "walls.3.point_m=[0,0.052,0]", "walls.3.until_s=0.5"}};

/* Time of the ETM over islands, by number of contacts: bin i holds 2^i to 2^(i+1) - 1. */
typedef struct Islands {
  double start_s, time_s[BINS], contacts[BINS];
  int64_t count[BINS];
} Islands;

typedef struct Mound {
  double spread_m, height_m, overlap, kinetic_share, cpu_step_s, part_s[PARTS];
  int64_t grains;
} Mound;

static double step_s(int k) {
  return 0.00125 * multiple[k] * sqrt(D50 / G);
}

/* ---- the container ---- */

/* A section of the study that the start has not: what it is drawn from, and its walls. */
static bool dropped(const char *line) {
  static const char *const keys[] = {"grains:", "release:", "walls:"};
  for (int i = 0; i < 3; i++)
    if (strncmp(line, keys[i], strlen(keys[i])) == 0) return true;
  return false;
}

static void copy_study(FILE *out, const char *path) {
  char line[512];
  bool drop = false;
  FILE *in = fopen(path, "r");
  if (!in) judge_ok(tl_fail(TL_EIO, "cannot read %s", path), "copy_study");
  while (fgets(line, sizeof line, in)) {
    if (!strchr(" -#\n", line[0])) drop = dropped(line);
    if (!drop && line[0] != '#') fputs(line, out);
  }
  fclose(in);
}

/* Axis times angle, degrees. */
static TlVec3 turn_of(TlQuat q) {
  TlVec3 v = tl_vec3(q.x, q.y, q.z);
  double sine = tl_norm(v), angle = 2 * atan2(sine, q.w);
  return tl_scale(sine > 0 ? angle / sine * 180 / 3.14159265358979323846 : 0, v);
}

static void write_body(FILE *out, const TlRun *run, int64_t i) {
  const TlBodies *b = &run->bodies;
  const TlShapeSetup *shapes = run->setup.shapes.items;
  int64_t shape = -1 - b->avatar_id[i];
  TlQuat scan = tl_study_shapes_row(&run->shapes, shape).scan_rotation;
  TlVec3 x = b->position[i], turn = turn_of(tl_quat_mul(b->rotation[i], tl_quat_conj(scan)));
  fprintf(out,
          "- {shape: %s, position_m: [%.17g, %.17g, %.17g], turn_deg: [%.17g, %.17g, %.17g], "
          "scale: %.17g}\n",
          shapes[shape].name, x.x, x.y, x.z, turn.x, turn.y, turn.z, b->scale[i]);
}

/* Settle the grains of a seed, each step's start; the deepest overlap is returned. */
static double settle(const Edition *e, int seed) {
  const char *study = "config/validation/outflow.yaml";
  char name[64], text[2][64], *sets[24];
  TlRun run;
  TlTexts list = {sets, 0};
  for (; list.count < e->set_count; list.count++)
    sets[list.count] = (char *)(uintptr_t)e->sets[list.count];
  snprintf(text[0], sizeof *text, "seed=%d", seed);
  snprintf(text[1], sizeof *text, "time.duration_s=%g", judge_full() ? 0.5 : 0.32);
  for (int i = 0; i < 2; i++) sets[list.count++] = text[i];
  TlRunOptions options = {.study = study, .sets = &list, .no_output = true};
  JUDGE_OK(tl_run_open(&run, NULL, &options));
  JUDGE_OK(tl_run_go(&run));
  snprintf(name, sizeof name, "start_seed%d.yaml", seed);
  FILE *out = judge_data(name);
  copy_study(out, study);
  fprintf(out, "bodies:\n");
  for (int64_t i = 0; i < run.bodies.owned; i++) write_body(out, &run, i);
  if (fclose(out)) judge_ok(tl_fail(TL_EIO, "cannot write %s", name), "settle");
  double overlap = fmax(run.totals.overlap_share, run.totals.boundary_overlap_share);
  tl_run_close(&run);
  return overlap;
}

/* ---- out of it ---- */

static void note(void *context, TlTracePhase phase, const TlGroup *g, const TlDynamics *d) {
  Islands *islands = context;
  (void)d;
  if (phase == TL_TRACE_START) islands->start_s = judge_thread_cpu_s();
  if (phase != TL_TRACE_END) return;
  double took = judge_thread_cpu_s() - islands->start_s;
  int64_t contacts = 0;
  for (int32_t i = 0; i < g->colour_start[g->colours]; i++) contacts += g->pair[g->order[i]].count;
  int bin = contacts > 0 ? (int)fmin(log2((double)contacts), BINS - 1) : 0;
  islands->time_s[bin] += took;
  islands->contacts[bin] += (double)contacts;
  islands->count[bin]++;
}

typedef struct Watch {
  const TlRun *run;
  double *part_s; /* sums */
} Watch;

static int watch_step(void *context) {
  Watch *w = context;
  const TlStepReport *r = &w->run->totals.last;
  const double part[PARTS] = {r->detect_s, r->etm_s, r->rest_s, r->other_s};
  for (int p = 0; p < PARTS; p++) w->part_s[p] += part[p];
  return 0;
}

typedef struct Point {
  double radius, mass;
} Point;

static int by_radius(const void *a, const void *b) {
  double x = ((const Point *)a)->radius, y = ((const Point *)b)->radius;
  return (x > y) - (x < y);
}

static double radius_of_mass(Point *point, int64_t n, double share) {
  double whole = 0, sum = 0;
  int64_t i = 0;
  qsort(point, (size_t)n, sizeof *point, by_radius);
  for (int64_t k = 0; k < n; k++) whole += point[k].mass;
  while (i + 1 < n && (sum += point[i].mass) < share * whole) i++;
  return point[i].radius;
}

static void measure(const TlBodies *b, Mound *mound) {
  int64_t count = 0, n = 0;
  Point *point;
  double *height;
  for (int64_t i = 0; i < b->owned; i++) count += b->shape[i]->node_count;
  JUDGE_OK(TL_NEW(point, (size_t)count));
  JUDGE_OK(TL_NEW(height, (size_t)count));
  for (int64_t i = 0; i < b->owned; i++) {
    TlMat3 r = tl_quat_matrix(b->rotation[i]);
    int32_t nodes = b->shape[i]->node_count;
    for (int32_t k = 0; k < nodes; k++, n++) {
      TlVec3 p = tl_mat_vec(r, tl_shape_node(b->shape[i], k));
      p = tl_axpy(b->position[i], b->scale[i], p);
      height[n] = p.z;
      point[n] = (Point){hypot(p.x, p.y), b->mass[i] / nodes};
    }
  }
  mound->spread_m = radius_of_mass(point, n, 0.95);
  mound->height_m = tl_measure_quantile(height, n, 0.99);
  tl_free(point);
  tl_free(height);
}

static const char *folder_of(int k, int seed) {
  static char name[64];
  snprintf(name, sizeof name, "step%d_seed%d.run", multiple[k], seed);
  return judge_path(name);
}

/* What a run's steps took, kept beside it: one that had ended and is gone on from makes no step. */
typedef struct Times {
  double part_s[PARTS]; /* sums */
  Islands islands;
} Times;

static void keep_times(Times *times, int k, int seed) {
  char name[64];
  double sum = 0;
  for (int p = 0; p < PARTS; p++) sum += times->part_s[p];
  snprintf(name, sizeof name, "times_step%d_seed%d.bin", multiple[k], seed);
  FILE *file = fopen(judge_path(name), sum > 0 ? "wb" : "rb");
  bool good = file && (sum > 0 ? fwrite(times, sizeof *times, 1, file)
                               : fread(times, sizeof *times, 1, file)) == 1;
  if (file && fclose(file)) good = false;
  if (!good) judge_ok(tl_fail(TL_EIO, "cannot keep %s", name), "keep_times");
}

static void add_islands(Islands *sum, const Islands *one) {
  for (int i = 0; i < BINS; i++) {
    sum->time_s[i] += one->time_s[i];
    sum->contacts[i] += one->contacts[i];
    sum->count[i] += one->count[i];
  }
}

/* The papers' size takes hours: a run that was ended goes on from its checkpoint. */
static TlStatus open_run(TlRun *run, TlRunOptions *options) {
  char *newest = tl_path_join(options->output, "history.csv");
  options->resume = judge_full() && tl_file_exists(newest);
  tl_free(newest);
  options->overwrite = !options->resume;
  return tl_run_open(run, NULL, options);
}

/* The parts are told by the wall clock, which other work on the machine stretches: CPU a step,
 * divided as they are. */
static void share_cpu(Mound *m, const Times *times) {
  double sum = 0;
  for (int p = 0; p < PARTS; p++) sum += times->part_s[p];
  for (int p = 0; p < PARTS; p++) m->part_s[p] = m->cpu_step_s * times->part_s[p] / sum;
}

static Mound flow_out(const Edition *e, int k, int seed, Islands *islands) {
  char text[2][64], name[64], *sets[24] = {text[0], text[1]};
  TlTexts list = {sets, 2};
  TlRun run;
  Mound mound = {0};
  Times times = {0};
  Watch watch = {&run, times.part_s};
  TlCollisionTrace trace = {&times.islands, note, .ends_only = true};
  snprintf(text[0], sizeof *text, "time.dt_s=%.17g", step_s(k));
  snprintf(text[1], sizeof *text, "time.duration_s=%g", e->out_s);
  snprintf(name, sizeof name, "start_seed%d.yaml", seed);
  for (int i = 0; i < e->set_count; i++)
    if (strncmp(e->sets[i], "shapes.", 7) == 0) sets[list.count++] = (char *)(uintptr_t)e->sets[i];
  TlRunOptions options = {.study = judge_path(name),
                          .sets = &list,
                          .output = folder_of(k, seed),
                          .stop = watch_step,
                          .stop_context = &watch};
  JUDGE_OK(open_run(&run, &options));
  tl_solver_trace(run.solver, &trace);
  JUDGE_OK(tl_run_go(&run));
  const TlRunTotals *t = &run.totals;
  mound.grains = run.bodies.owned;
  mound.cpu_step_s = t->cpu_s / (double)t->steps;
  keep_times(&times, k, seed);
  share_cpu(&mound, &times);
  add_islands(islands, &times.islands);
  mound.overlap = fmax(t->overlap_share, t->boundary_overlap_share);
  mound.kinetic_share = t->kinetic_J / (t->potential_start_J - t->potential_J);
  JUDGE_OK(tl_solver_refresh(run.solver, &run.bodies)); /* a finished run made no step */
  measure(&run.bodies, &mound);
  tl_run_close(&run);
  fprintf(stderr,
          "step %d, seed %d: spread %.4f m, height %.4f m, overlap %.3g, moving %.2g, %.3g s a "
          "step\n",
          multiple[k], seed, mound.spread_m, mound.height_m, mound.overlap, mound.kinetic_share,
          mound.cpu_step_s);
  return mound;
}

/* ---- what is said ---- */

typedef struct Mean {
  double spread_m, height_m, spread_sd, height_sd, kinetic_share, cpu_step_s, part_s[PARTS];
} Mean;

static Mean mean_of(const Mound *m, int count) {
  Mean r = {0};
  for (int i = 0; i < count; i++) {
    r.spread_m += m[i].spread_m / count;
    r.height_m += m[i].height_m / count;
    r.kinetic_share += m[i].kinetic_share / count;
    r.cpu_step_s += m[i].cpu_step_s / count;
    for (int p = 0; p < PARTS; p++) r.part_s[p] += m[i].part_s[p] / count;
  }
  for (int i = 0; i < count; i++) {
    r.spread_sd += pow(m[i].spread_m - r.spread_m, 2) / fmax(count - 1, 1);
    r.height_sd += pow(m[i].height_m - r.height_m, 2) / fmax(count - 1, 1);
  }
  r.spread_sd = sqrt(r.spread_sd);
  r.height_sd = sqrt(r.height_sd);
  return r;
}

static void say(const Edition *e, int k, const Mean *mean, const Mound *mound) {
  static const char *const cost[STEPS] = {"outflow_cpu_step_1", "outflow_cpu_step_2",
                                          "outflow_cpu_step_4", "outflow_cpu_step_8",
                                          "outflow_cpu_step_16"};
  static const char *const gain[STEPS] = {"", "outflow_gain_2", "outflow_gain_4", "outflow_gain_8",
                                          "outflow_gain_16"};
  const Mean *m = &mean[k], *first = &mean[e->first];
  double paper = paper_minutes[k] * 60 / (8 / (2.5e-4 * multiple[k]));
  judge_note(
      "Step %d (%.2g s): spread %.1f mm (seeds' deviation %.1f), height %.1f mm (%.1f); "
      "kinetic energy left %.1g of the drop's; of %.2f ms CPU a step %.2f are contact search, "
      "%.2f impacts, %.2f rest, %.2f others.",
      multiple[k], step_s(k), 1e3 * m->spread_m, 1e3 * m->spread_sd, 1e3 * m->height_m,
      1e3 * m->height_sd, m->kinetic_share, 1e3 * m->cpu_step_s, 1e3 * m->part_s[0],
      1e3 * m->part_s[1], 1e3 * m->part_s[2], 1e3 * m->part_s[3]);
  judge_paper(cost[k], m->cpu_step_s * 1600 / (double)mound->grains, paper, "s",
              judge_full() ? "Tan 2024, Table 2" : "Tan 2024, Table 2; ours per grain, times 1600");
  if (k > e->first)
    judge_paper(gain[k], first->cpu_step_s * multiple[k] / (m->cpu_step_s * multiple[e->first]),
                paper_minutes[e->first] / paper_minutes[k], "of the smallest step's CPU",
                "Tan 2024, Table 2");
}

static void plot_parts(const Edition *e, const Mean *mean) {
  FILE *file = judge_data("parts.dat");
  for (int k = e->first; k < STEPS; k++) {
    const double *p = mean[k].part_s;
    fprintf(file, "%d %g %g %g %g\n", multiple[k], 1e3 * p[0], 1e3 * p[1], 1e3 * p[2], 1e3 * p[3]);
  }
  fclose(file);
  judge_gnuplot("outflow_parts",
                "set style data histogram; set style histogram rowstacked; set style fill solid\n"
                "set boxwidth 0.6; set xlabel 'step over the smallest of Tan 2024'\n"
                "set ylabel 'ms CPU a step'; set yrange [0:*]; set key outside right\n"
                "plot 'parts.dat' using 2:xtic(1) title 'contact search', '' using 3 title "
                "'impacts', '' using 4 title 'rest', '' using 5 title 'others'\n");
}

static void plot_islands(const Edition *e, const Islands *islands) {
  FILE *file = judge_data("islands.dat");
  for (int k = e->first; k < STEPS; k++) {
    fprintf(file, "\"step %d\"\n", multiple[k]);
    for (int i = 0; i < BINS; i++) {
      double n = (double)islands[k].count[i];
      if (n > 0)
        fprintf(file, "%g %g\n", islands[k].contacts[i] / n, 1e6 * islands[k].time_s[i] / n);
    }
    fprintf(file, "\n\n");
  }
  fclose(file);
  judge_gnuplot("outflow_islands",
                "set logscale xy; set xlabel 'contacts of the island'; set key left top\n"
                "set ylabel 'CPU of its impacts a step, microseconds'\n"
                "set grid; stats 'islands.dat' using 1 nooutput\n"
                "plot for [i=0:STATS_blocks-2] 'islands.dat' index i using 1:2 with linespoints "
                "pointtype 7 title columnheader(1) noenhanced\n");
}

static void picture(int k, const char *first, const char *last) {
  static const double share[] = {0, 1};
  Gallery g = {.folder = folder_of(k, 1),
               .from = {0.0, -0.23, 0.12},
               .at = {0, 0, 0.015},
               .colour = TL_COLOUR_ID,
               .width = 600,
               .height = 400};
  const char *names[] = {first ? first : last, last};
  pictures(&g, first ? 2 : 1, first ? share : share + 1, names);
}

int main(int argc, char **argv) {
  static Mound mound[STEPS][SEEDS];
  static Islands islands[STEPS];
  Mean mean[STEPS];
  double spread = 0, height = 0, overlap = 0;
  judge_open("outflow", argc, argv);
  tl_log_set("val_outflow", TL_LOG_WARN);
  tl_par_set_threads(1); /* CPU a step, and a trace that only one thread may write */
  const Edition *e = judge_full() ? &full : &small;
  for (int s = 0; s < e->seeds; s++) overlap = fmax(overlap, settle(e, s + 1));
  for (int k = e->first; k < STEPS; k++) {
    for (int s = 0; s < e->seeds; s++) {
      mound[k][s] = flow_out(e, k, s + 1, &islands[k]);
      overlap = fmax(overlap, mound[k][s].overlap);
    }
    mean[k] = mean_of(mound[k], e->seeds);
    spread = fmax(spread, fabs(mean[k].spread_m / mean[e->first].spread_m - 1));
    height = fmax(height, fabs(mean[k].height_m / mean[e->first].height_m - 1));
    say(e, k, mean, mound[k]);
  }
  judge_at_most(JUDGE_GOAL, "outflow_spread_change", 100 * spread, "%", 5);
  judge_at_most(JUDGE_GOAL, "outflow_height_change", 100 * height, "%", 5);
  judge_at_most(JUDGE_CORRECT, "outflow_deepest_overlap", overlap, "", 0.02);
  plot_parts(e, mean);
  plot_islands(e, islands);
  picture(e->first, "outflow_start.png", "outflow_mound_small_step.png");
  picture(STEPS - 1, NULL, "outflow_mound_large_step.png");
  return judge_close();
}
