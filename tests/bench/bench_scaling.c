/* Cost of the contact search against the number of grains (216 to 20,480) and of nodes a grain (250
 * to 2560): fitted exponents and a plot.
 *
 * The settled heap of data/settled_512.csv, tiled side by side (the grains of a tile's border touch
 * a plane where its wall stood, so neither gaps nor overlaps arise). CPU of the search, one thread,
 * least of the steps after the first.
 */
#include "judge/judge.h"
#include "judge/scene.h"

#include "base/par.h"
#include "shape/superellipsoid.h"

#include <stdio.h>

enum { HEAP = 512 };
static const double PITCH = 0.0245;

typedef struct Heaps {
  int side, nx, ny, steps;
  int32_t nodes;
} Heaps;

/* us of CPU a grain in the search; *grains: how many. */
static double search_us(const Heaps *h, double *grains) {
  JudgeScene scene;
  TlAvatar grain;
  double width = h->side * PITCH, least = INFINITY;
  JUDGE_OK(tl_avatar_superellipsoid(0.010, 0.008, 0.007, 0.6, 0.8, 0.0007, h->nodes, &grain));
  TlQuat axes = grain.scan_rotation;
  judge_scene_open(&scene);
  scene.config.step_s = 1e-3;
  int64_t id = judge_scene_avatar(&scene, &grain);
  judge_scene_box(&scene, h->nx * width, h->ny * width);
  judge_scene_start(&scene);
  for (int tile = 0; tile < h->nx * h->ny; tile++)
    judge_scene_heap(&scene, id, axes, h->side * h->side * h->side,
                     tl_vec3(tile % h->nx * width, tile / h->nx * width, 0));
  *grains = (double)scene.bodies.owned;
  for (int i = 0; i <= h->steps; i++) {
    judge_scene_steps(&scene, 1);
    if (i > 0) least = fmin(least, 1e6 * scene.report.detect_cpu_s / *grains);
  }
  judge_note("%.0f grains of %d nodes: %.2f us a grain and step, %.0f lookups a grain.", *grains,
             h->nodes, least, (double)scene.report.lookups / *grains);
  judge_scene_close(&scene);
  return least;
}

static void against_grains(void) {
  static const Heaps size[] = {{6, 1, 1, 20, 800},
                               {8, 1, 1, 20, 800},
                               {8, 2, 2, 10, 800},
                               {8, 4, 4, 6, 800},
                               {8, 8, 5, 4, 800}};
  enum { SIZES = sizeof size / sizeof *size };
  double grains[SIZES], cost[SIZES];
  FILE *data = judge_data("grains.dat");
  for (int i = 0; i < SIZES; i++) {
    double us = search_us(&size[i], &grains[i]);
    cost[i] = us * grains[i];
    fprintf(data, "%.0f %g\n", grains[i], us);
  }
  fclose(data);
  judge_at_most(JUDGE_GOAL, "scaling_exponent_grains", judge_exponent(SIZES, grains, cost), "1",
                1.1);
}

static void against_nodes(void) {
  static const int32_t count[] = {250, 500, 1000, 1800, 2560};
  enum { SIZES = sizeof count / sizeof *count };
  double nodes[SIZES], cost[SIZES], grains;
  FILE *data = judge_data("nodes.dat");
  for (int i = 0; i < SIZES; i++) {
    Heaps h = {8, 1, 1, 20, count[i]};
    nodes[i] = count[i];
    cost[i] = search_us(&h, &grains);
    fprintf(data, "%.0f %g\n", nodes[i], cost[i]);
  }
  fclose(data);
  judge_at_most(JUDGE_GOAL, "scaling_exponent_nodes", judge_exponent(SIZES, nodes, cost), "1", 0.9);
}

int main(int argc, char **argv) {
  judge_open("scaling", argc, argv);
  tl_par_set_threads(1);
  against_grains();
  against_nodes();
  judge_gnuplot("search-cost",
                "set logscale xy\nset xlabel 'grains of 800 nodes; nodes of 512 grains'\n"
                "set ylabel 'CPU of the contact search a grain and step, us'\n"
                "plot 'grains.dat' with linespoints pt 7 title 'over grains', "
                "'nodes.dat' with linespoints pt 5 title 'over nodes a grain'");
  return judge_close();
}
