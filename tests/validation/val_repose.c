/* Angle of repose of spheres, cubes and crosses against friction (Tang 2014, section 7.4, Figs. 13
 * to 15): they settle in a box, the right wall goes, a line is fitted in each of eight strips.
 *
 * Tang tells no numbers of grains, sizes or frictions. The floor ends where the right wall stood,
 * so what flows over it falls away and the slope that stays runs from the back wall to the edge;
 * the box is filled to about 0.9 of the floor's length, which has room for a slope of 40 degrees.
 * Each case runs for several seeds. The cases run side by side as processes of one thread.
 */
#include "validation/flow.h"

#include "base/log.h"
#include "base/par.h"
#include "post/measure_repose.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SHAPES = 3, FRICTIONS = 4, SEEDS = 2, CASES = SHAPES * FRICTIONS * SEEDS, WORKERS = 4 };
static const char *const shape[SHAPES] = {"sphere", "cube", "cross"};
static const double friction[FRICTIONS] = {0, 0.2, 0.4, 0.6};
static const double DIAMETER = 0.02, G = 9.81;

typedef struct Edition {
  double length, width, height, open_s, duration_s; /* of the box; height: of the drawn grains */
  int64_t grains;
} Edition;

static const Edition small = {0.09, 0.055, 0.55, 0.7, 1.6, 60};
static const Edition full = {0.26, 0.13, 1.3, 1.5, 5, 1000};

typedef struct Case {
  TlRepose repose;
  double overlap, speed_m_s, cpu_s; /* speed: root mean square of the grains left on the floor */
} Case;

typedef struct Angle { /* over the strips of all seeds */
  double mean_deg, least_deg, most_deg, error_deg, overlap, speed_m_s, cpu_s;
} Angle;

typedef struct Shared {
  atomic_int next;
  Case result[CASES];
} Shared;

static double speed_on(const TlFrame *frame, const Edition *e) {
  double squares = 0, count = 0;
  for (int64_t i = 0; i < frame->count; i++) {
    const TlBodyRow *row = &frame->rows[i];
    if (row->position_m.z < 0 || row->position_m.x > e->length) continue;
    squares += tl_dot(row->velocity_m_s, row->velocity_m_s);
    count++;
  }
  return count > 0 ? sqrt(squares / count) : 0;
}

static void measure(const char *folder, const Edition *e, Case *result) {
  TlScene scene;
  TlFrame frame;
  int64_t *index, count;
  TlReposeOptions floor = {.x1_m = e->length, .y1_m = e->width};
  JUDGE_OK(tl_results_read_scene(folder, &scene));
  JUDGE_OK(tl_results_frames(folder, &index, &count));
  JUDGE_OK(tl_results_read_frame(folder, index[count - 1], &frame));
  JUDGE_OK(tl_measure_repose(&scene, &frame, &floor, &result->repose));
  result->speed_m_s = speed_on(&frame, e);
  tl_frame_free(&frame);
  tl_scene_free(&scene);
  tl_free(index);
}

static void pile(const Edition *e, int s, int m, int seed, Case *result) {
  enum { SETS = 12 };
  char text[SETS][96], folder[64];
  const char *sets[SETS];
  int n = 0;
  Flow flow;
  snprintf(text[n++], sizeof *text, "grains.shapes=[%s]", shape[s]);
  snprintf(text[n++], sizeof *text, "contact.friction=%g", friction[m]);
  snprintf(text[n++], sizeof *text, "contact.boundary_friction=%g", friction[m]);
  snprintf(text[n++], sizeof *text, "time.duration_s=%g", e->duration_s);
  snprintf(text[n++], sizeof *text, "release.count=%lld", (long long)e->grains);
  snprintf(text[n++], sizeof *text, "release.high_m=[%g, %g, %g]", e->length, e->width, e->height);
  snprintf(text[n++], sizeof *text, "walls.0.point_m=[%g, %g, -0.05]", e->length / 2 - 0.05,
           e->width / 2);
  snprintf(text[n++], sizeof *text, "walls.0.size_m=[%g, %g, 0.1]", e->length + 0.1,
           e->width + 0.2);
  snprintf(text[n++], sizeof *text, "walls.3.point_m=[0, %g, 0]", e->width);
  snprintf(text[n++], sizeof *text, "walls.4.point_m=[%g, 0, 0]", e->length);
  snprintf(text[n++], sizeof *text, "walls.4.until_s=%g", e->open_s);
  snprintf(text[n++], sizeof *text, "seed=%d", seed);
  for (int i = 0; i < SETS; i++) sets[i] = text[i];
  snprintf(folder, sizeof folder, "%s_%g_%d.run", shape[s], friction[m], seed);
  double start = judge_cpu_s();
  flow_run(&flow, "repose", sets, SETS, judge_path(folder), 0, 0);
  result->overlap = flow_overlap(&flow);
  tl_run_close(&flow.run);
  measure(judge_path(folder), e, result);
  result->cpu_s = judge_cpu_s() - start;
  fprintf(stderr, "%s: %.1f deg (%.1f to %.1f), overlap %.3g, %.3g m/s, %.1f s CPU\n", folder,
          result->repose.mean_deg, result->repose.least_deg, result->repose.most_deg,
          result->overlap, result->speed_m_s, result->cpu_s);
}

/* Takes cases until none is left; crosses, which take longest, come first. */
static void work(const Edition *e, Shared *shared) {
  tl_par_set_threads(1);
  for (int k = shared->next++; k < CASES; k = shared->next++) {
    int i = CASES - 1 - k;
    pile(e, i / (FRICTIONS * SEEDS), i / SEEDS % FRICTIONS, i % SEEDS + 1, &shared->result[i]);
  }
}

static Shared *run_cases(const Edition *e) {
  Shared *shared =
      mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  bool whole = shared != MAP_FAILED;
  for (int w = 0; whole && w < WORKERS; w++) {
    pid_t child = fork();
    if (child == 0) {
      work(e, shared);
      _exit(0);
    }
    whole = child > 0;
  }
  for (int status; wait(&status) > 0;) whole = whole && status == 0;
  JUDGE_OK(whole ? TL_OK : tl_fail(TL_EIO, "a process of the cases failed"));
  return shared;
}

/* Strips are narrower than a grain; the error of the mean counts one for each diameter of width. */
static Angle angle_of(const Edition *e, const Case *c) {
  Angle a = {.least_deg = INFINITY, .most_deg = -INFINITY};
  double squares = 0;
  for (int i = 0; i < SEEDS; i++) {
    const TlRepose *r = &c[i].repose;
    a.mean_deg += r->mean_deg / SEEDS;
    squares += (r->sd_deg * r->sd_deg + r->mean_deg * r->mean_deg) / SEEDS;
    a.least_deg = fmin(a.least_deg, r->least_deg);
    a.most_deg = fmax(a.most_deg, r->most_deg);
    a.overlap = fmax(a.overlap, c[i].overlap);
    a.speed_m_s = fmax(a.speed_m_s, c[i].speed_m_s);
    a.cpu_s += c[i].cpu_s;
  }
  double strips = SEEDS * e->width / DIAMETER;
  a.error_deg = sqrt(fmax(0, squares - a.mean_deg * a.mean_deg) / strips);
  return a;
}

static void plot(Angle a[SHAPES][FRICTIONS]) {
  FILE *file = judge_data("repose.dat");
  for (int s = 0; s < SHAPES; s++) {
    for (int m = 0; m < FRICTIONS; m++)
      fprintf(file, "%g %g %g %g\n", friction[m], a[s][m].mean_deg, a[s][m].least_deg,
              a[s][m].most_deg);
    fprintf(file, "\n\n");
  }
  fclose(file);
  judge_gnuplot("repose", "set xlabel 'friction'; set ylabel 'angle of repose, degrees'\n"
                          "set title 'mean, least and largest slope of the strips of two seeds'\n"
                          "set key left top; set xrange [-0.05:0.65]; set xtics 0.2\n"
                          "plot for [i=0:2] 'repose.dat' index i using "
                          "($1+0.008*(i-1)):2:3:4 with yerrorlines lw 2 pt 7 title "
                          "word('spheres cubes crosses', i+1)\n");
}

/* From no friction to the most, less two standard errors; and the least step between neighbouring
 * frictions, plus one standard error of the difference. */
static void judge_rise(Angle a[SHAPES][FRICTIONS]) {
  static const char *const rise[SHAPES] = {"repose_rise_sphere", "repose_rise_cube",
                                           "repose_rise_cross"};
  static const char *const step[SHAPES] = {"repose_step_sphere", "repose_step_cube",
                                           "repose_step_cross"};
  for (int s = 0; s < SHAPES; s++) {
    const Angle *first = a[s], *last = &a[s][FRICTIONS - 1];
    double least = INFINITY;
    for (int m = 1; m < FRICTIONS; m++)
      least = fmin(least, a[s][m].mean_deg - a[s][m - 1].mean_deg +
                              hypot(a[s][m].error_deg, a[s][m - 1].error_deg));
    judge_at_least(JUDGE_GOAL, rise[s],
                   last->mean_deg - first->mean_deg - 2 * hypot(first->error_deg, last->error_deg),
                   "deg", 0);
    judge_at_least(JUDGE_GOAL, step[s], least, "deg", 0);
  }
}

static void judge_order(Angle a[SHAPES][FRICTIONS]) {
  static const char *const figure[2][2] = {
      {"repose_cube_over_sphere_0.4", "repose_cross_over_cube_0.4"},
      {"repose_cube_over_sphere_0.6", "repose_cross_over_cube_0.6"}};
  for (int m = 2; m < FRICTIONS; m++)
    for (int s = 1; s < SHAPES; s++)
      judge_at_least(JUDGE_GOAL, figure[m - 2][s - 1], a[s][m].mean_deg - a[s - 1][m].mean_deg,
                     "deg", 0);
}

/* Tang's text gives how far the strips' largest and least slopes lie from their mean, no angles. */
static void compare(Angle a[SHAPES][FRICTIONS]) {
  static const double tang[SHAPES] = {0.8, 3.17, 12.89};
  static const char *const figure[SHAPES] = {"repose_spread_sphere", "repose_spread_cube",
                                             "repose_spread_cross"};
  for (int s = 0; s < SHAPES; s++) {
    double most = 0;
    for (int m = 0; m < FRICTIONS; m++)
      most = fmax(most, 0.5 * (a[s][m].most_deg - a[s][m].least_deg));
    judge_paper(figure[s], most, tang[s], "deg", "Tang 2014, 7.4, largest");
  }
}

int main(int argc, char **argv) {
  static Angle a[SHAPES][FRICTIONS];
  judge_open("repose", argc, argv);
  tl_log_set("val_repose", TL_LOG_WARN);
  const Edition *e = judge_full() ? &full : &small;
  const Shared *shared = run_cases(e);
  double overlap = 0, cpu_s = 0;
  for (int s = 0; s < SHAPES; s++)
    for (int m = 0; m < FRICTIONS; m++) {
      Angle *at = &a[s][m];
      *at = angle_of(e, &shared->result[(s * FRICTIONS + m) * SEEDS]);
      overlap = fmax(overlap, at->overlap);
      cpu_s += at->cpu_s;
      judge_note("%s, friction %g: %.1f +- %.1f degrees, strips from %.1f to %.1f; what is left "
                 "on the floor moves at %.2g of sqrt(g d).",
                 shape[s], friction[m], at->mean_deg, at->error_deg, at->least_deg, at->most_deg,
                 at->speed_m_s / sqrt(G * DIAMETER));
    }
  judge_note("%lld grains a case, %d seeds, %.0f s CPU in all.", (long long)e->grains, SEEDS,
             cpu_s);
  judge_rise(a);
  judge_order(a);
  judge_at_most(JUDGE_CORRECT, "repose_overlap", overlap, "of the radius", 0.02);
  compare(a);
  plot(a);
  return judge_close();
}
