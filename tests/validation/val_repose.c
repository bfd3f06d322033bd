/* Angle of repose of spheres, cubes and crosses against friction (Tang 2014, section 7.4, Figs. 13
 * to 15): they settle in a box, the right wall goes, a line is fitted in each of eight strips.
 *
 * Tang's numbers of grains are not told beyond the pictures; the floor of the small edition is 8 x
 * 4 lattice cells of spheres. --full takes 1000 grains on a floor twice as wide and more frictions.
 */
#include "validation/flow.h"

#include "base/log.h"
#include "post/measure_repose.h"

#include <math.h>
#include <stdio.h>

enum { SHAPES = 3, MOST = 6 };
static const char *const shape[SHAPES] = {"sphere", "cube", "cross"};
static const double OPEN_S = 0.5;

typedef struct Edition {
  double friction[MOST], length, width, height, duration_s;
  int frictions;
  int64_t grains;
} Edition;

static const Edition small = {{0, 0.15, 0.6}, 0.1136, 0.0855, 0.45, 1.8, 3, 110};
static const Edition full = {{0, 0.2, 0.4, 0.6, 0.8, 1}, 0.284, 0.171, 1.1, 4, 6, 1200};

typedef struct Result {
  TlRepose repose;
  double overlap, kinetic_J, cpu_s;
} Result;

static TlRepose fit(const char *folder, const Edition *e) {
  TlScene scene;
  TlFrame frame;
  TlRepose repose;
  int64_t *index, count;
  JUDGE_OK(tl_results_read_scene(folder, &scene));
  JUDGE_OK(tl_results_frames(folder, &index, &count));
  JUDGE_OK(tl_results_read_frame(folder, index[count - 1], &frame));
  JUDGE_OK(tl_measure_repose(&scene, &frame,
                             &(TlReposeOptions){.x1_m = e->length, .y1_m = e->width}, &repose));
  tl_frame_free(&frame);
  tl_scene_free(&scene);
  tl_free(index);
  return repose;
}

static Result pile(const Edition *e, const char *name, double mu, int seed) {
  enum { SETS = 9 };
  char text[SETS][96], folder[64];
  const char *sets[SETS];
  Flow flow;
  snprintf(text[0], sizeof text[0], "grains.shapes=[%s]", name);
  snprintf(text[1], sizeof text[1], "contact.friction=%g", mu);
  snprintf(text[2], sizeof text[2], "contact.boundary_friction=%g", mu);
  snprintf(text[3], sizeof text[3], "time.duration_s=%g", e->duration_s);
  snprintf(text[4], sizeof text[4], "release.count=%lld", (long long)e->grains);
  snprintf(text[5], sizeof text[5], "release.high_m=[%g, %g, %g]", e->length, e->width, e->height);
  snprintf(text[6], sizeof text[6], "planes.3.point_m=[0, %g, 0]", e->width);
  snprintf(text[7], sizeof text[7], "planes.4.point_m=[%g, 0, 0]", e->length);
  snprintf(text[8], sizeof text[8], "seed=%d", seed);
  for (int i = 0; i < SETS; i++) sets[i] = text[i];
  snprintf(folder, sizeof folder, "%s_%g.run", name, mu);
  double start = judge_cpu_s();
  flow_run(&flow, "repose", sets, SETS, judge_path(folder), OPEN_S, 1);
  Result r = {.overlap = flow_overlap(&flow), .kinetic_J = flow.run.totals.kinetic_J};
  tl_run_close(&flow.run);
  r.repose = fit(judge_path(folder), e);
  r.cpu_s = judge_cpu_s() - start;
  fprintf(stderr, "%s, friction %g: %.1f deg (%.1f to %.1f), overlap %.3g, %.1f s CPU\n", name, mu,
          r.repose.mean_deg, r.repose.least_deg, r.repose.most_deg, r.overlap, r.cpu_s);
  return r;
}

/* Spheres are cheap: the mean of several seeds, with the least and largest strip of all. */
static Result piles(const Edition *e, int s, double mu) {
  int seeds = s == 0 && !judge_full() ? 2 : 1;
  Result sum = pile(e, shape[s], mu, 1);
  for (int seed = 2; seed <= seeds; seed++) {
    Result r = pile(e, shape[s], mu, seed);
    sum.repose.mean_deg += r.repose.mean_deg;
    sum.repose.least_deg = fmin(sum.repose.least_deg, r.repose.least_deg);
    sum.repose.most_deg = fmax(sum.repose.most_deg, r.repose.most_deg);
    sum.overlap = fmax(sum.overlap, r.overlap);
  }
  sum.repose.mean_deg /= seeds;
  return sum;
}

static void plot(const Edition *e, Result r[SHAPES][MOST]) {
  FILE *file = judge_data("repose.dat");
  for (int s = 0; s < SHAPES; s++) {
    for (int m = 0; m < e->frictions; m++)
      fprintf(file, "%g %g %g %g\n", e->friction[m], r[s][m].repose.mean_deg,
              r[s][m].repose.least_deg, r[s][m].repose.most_deg);
    fprintf(file, "\n\n");
  }
  fclose(file);
  judge_gnuplot("repose", "set xlabel 'friction'; set ylabel 'angle of repose, degrees'\n"
                          "set key left top; set xrange [-0.05:1.05]; set yrange [0:*]\n"
                          "plot for [i=0:2] 'repose.dat' index i using "
                          "($1+0.008*(i-1)):2:3:4 with yerrorlines lw 2 title "
                          "word('spheres cubes crosses', i+1)\n");
}

/* Tang's text gives how far the strips' largest and least slopes lie from their mean, no angles. */
static void compare(const Edition *e, Result r[SHAPES][MOST]) {
  static const double tang[SHAPES] = {0.8, 3.17, 12.89};
  static const char *const figure[SHAPES] = {"repose_spread_sphere", "repose_spread_cube",
                                             "repose_spread_cross"};
  for (int s = 0; s < SHAPES; s++) {
    double most = 0;
    for (int m = 0; m < e->frictions; m++)
      most = fmax(most, 0.5 * (r[s][m].repose.most_deg - r[s][m].repose.least_deg));
    judge_paper(figure[s], most, tang[s], "deg", "Tang 2014, 7.4, largest");
  }
}

int main(int argc, char **argv) {
  static Result r[SHAPES][MOST];
  static const char *const rise[SHAPES] = {"repose_rise_sphere", "repose_rise_cube",
                                           "repose_rise_cross"};
  judge_open("repose", argc, argv);
  tl_log_set("val_repose", TL_LOG_WARN);
  const Edition *e = judge_full() ? &full : &small;
  double overlap = 0;
  int last = e->frictions - 1;
  for (int s = 0; s < SHAPES; s++)
    for (int m = 0; m < e->frictions; m++) {
      r[s][m] = piles(e, s, e->friction[m]);
      overlap = fmax(overlap, r[s][m].overlap);
    }
  for (int s = 0; s < SHAPES; s++) {
    double least = INFINITY;
    for (int m = 1; m < e->frictions; m++)
      least = fmin(least, r[s][m].repose.mean_deg - r[s][m - 1].repose.mean_deg);
    judge_at_least(JUDGE_GOAL, rise[s], least, "deg", 0);
    for (int m = 0; m < e->frictions; m++)
      judge_note("%ss, friction %g: %.1f degrees, strips from %.1f to %.1f.", shape[s],
                 e->friction[m], r[s][m].repose.mean_deg, r[s][m].repose.least_deg,
                 r[s][m].repose.most_deg);
  }
  judge_at_least(JUDGE_GOAL, "repose_cube_over_sphere",
                 r[1][last].repose.mean_deg - r[0][last].repose.mean_deg, "deg", 0);
  judge_at_least(JUDGE_GOAL, "repose_cross_over_cube",
                 r[2][last].repose.mean_deg - r[1][last].repose.mean_deg, "deg", 0);
  judge_at_most(JUDGE_CORRECT, "repose_overlap", overlap, "", 0.02);
  compare(e, r);
  plot(e, r);
  return judge_close();
}
