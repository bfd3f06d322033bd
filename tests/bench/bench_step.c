/* Cost of the whole step against the number of grains and of nodes a grain; two threads against
 * one.
 *
 * The state is the settled heap of data/settled_512.csv (superellipsoids of 800 nodes,
 * data/README), tiled side by side in the plane: the grains at a tile's border touch the plane
 * where its wall stood from either side, so that neither gaps nor overlaps arise. CPU time of the
 * process.
 */
#include "judge/judge.h"
#include "support/materials.h"
#include "judge/scene.h"

#include "base/par.h"
#include "shape/superellipsoid.h"

#include <stdio.h>

enum { HEAP = 512, WARM_STEPS = 10, STEPS = 10 };
static const double PITCH = 0.0245, STEP_S = 1e-3;

typedef struct Pose {
  TlVec3 x;
  TlQuat q;
} Pose;

static void read_heap(int count, Pose pose[HEAP]) {
  char path[64];
  snprintf(path, sizeof path, "data/settled_%d.csv", count);
  FILE *file = fopen(path, "r");
  int n = 0;
  for (; file && n < count; n++) {
    Pose *p = &pose[n];
    if (fscanf(file, "%lf %lf %lf %lf %lf %lf %lf", &p->x.x, &p->x.y, &p->x.z, &p->q.w, &p->q.x,
               &p->q.y, &p->q.z) != 7)
      break;
    p->q = tl_quat_unit(p->q);
  }
  if (file) fclose(file);
  judge_ok(n == count ? TL_OK : tl_fail(TL_EIO, "%s: only %d poses", path, n), "the heap");
}

/* nx by ny heaps of side^3 grains with so many nodes. */
static void heaps(JudgeScene *scene, int side, int nx, int ny, int32_t nodes) {
  static Pose pose[HEAP];
  TlAvatar grain;
  int count = side * side * side;
  double width = side * PITCH;
  read_heap(count, pose);
  JUDGE_OK(tl_avatar_superellipsoid(0.010, 0.008, 0.007, 0.6, 0.8, 0.0007, nodes, &grain));
  TlQuat axes = grain.scan_rotation; /* body axes go with ascending moments */
  judge_scene_open(scene);
  scene->config.step_s = STEP_S;
  TL_TEST_SET(&scene->config, TL_TEST_BOTH, friction, 0.5);
  int64_t id = judge_scene_avatar(scene, &grain);
  judge_scene_box(scene, nx * width, ny * width);
  judge_scene_start(scene);
  for (int i = 0; i < nx * ny * count; i++) {
    const Pose *p = &pose[i % count];
    int tile = i / count;
    TlVec3 at = tl_add(p->x, tl_vec3(tile % nx * width, tile / nx * width, 0));
    judge_scene_put(scene, id, 1, at, tl_quat_mul(p->q, axes), tl_vec3(0, 0, 0));
  }
  JUDGE_OK(stepper_refresh(scene->solver, &scene->bodies));
}

typedef struct Cost {
  double cpu_s, wall_s, detect, etm, rest; /* a step; the parts as fractions of the wall time */
  double overlap;                          /* deepest, of the radius */
  double contacts;
} Cost;

/* After the same number of steps at every size: the heap was made by another code, whose overlaps
 * the first step takes away, and at the tiles' borders the walls are gone, so that grains begin to
 * move and from about the tenth step on meet. */
static Cost time_steps(JudgeScene *scene, int steps) {
  Cost c = {0};
  judge_scene_steps(scene, WARM_STEPS);
  double cpu = judge_cpu_s(), wall = judge_wall_s();
  for (int i = 0; i < steps; i++) {
    judge_scene_steps(scene, 1);
    const TlStepReport *r = &scene->report;
    c.detect += r->detect_s;
    c.etm += r->etm_s;
    c.rest += r->rest_s;
    c.overlap = fmax(c.overlap, fmax(r->overlap_share, r->boundary_overlap_share));
  }
  wall = judge_wall_s() - wall;
  c.cpu_s = (judge_cpu_s() - cpu) / steps;
  c.wall_s = wall / steps;
  c.detect /= wall;
  c.etm /= wall;
  c.rest /= wall;
  c.contacts = (double)scene->report.contacts;
  return c;
}

static void against_grains(void) {
  static const struct {
    int side, nx, ny, steps;
  } size[] = {{6, 1, 1, 10}, {8, 1, 1, 10}, {8, 2, 2, 10}, {8, 4, 4, 4}, {8, 8, 5, 3}};
  enum { SIZES = sizeof size / sizeof *size };
  double grains[SIZES], cost[SIZES];
  FILE *data = judge_data("grains.dat");
  for (int i = 0; i < SIZES; i++) {
    JudgeScene scene;
    heaps(&scene, size[i].side, size[i].nx, size[i].ny, 800);
    Cost c = time_steps(&scene, size[i].steps);
    grains[i] = (double)scene.bodies.owned;
    cost[i] = c.cpu_s;
    fprintf(data, "%.0f %g\n", grains[i], 1e6 * c.cpu_s / grains[i]);
    judge_note("%.0f grains of 800 nodes: %.1f us CPU a grain and step (search %.0f%%, impacts "
               "%.0f%%, rest %.0f%%), %.1f contacts a grain.",
               grains[i], 1e6 * c.cpu_s / grains[i], 100 * c.detect, 100 * c.etm, 100 * c.rest,
               c.contacts / grains[i]);
    judge_scene_close(&scene);
  }
  fclose(data);
  judge_at_most(JUDGE_GOAL, "step_exponent_grains", judge_exponent(SIZES, grains, cost), "1", 1.1);
}

static void against_nodes(void) {
  static const int32_t count[] = {200, 400, 800, 1600, 3200};
  enum { SIZES = sizeof count / sizeof *count };
  double nodes[SIZES], cost[SIZES];
  FILE *data = judge_data("nodes.dat");
  for (int i = 0; i < SIZES; i++) {
    JudgeScene scene;
    heaps(&scene, 8, 1, 1, count[i]);
    nodes[i] = count[i];
    cost[i] = time_steps(&scene, STEPS).cpu_s;
    fprintf(data, "%.0f %g\n", nodes[i], 1e6 * cost[i] / HEAP);
    judge_scene_close(&scene);
  }
  fclose(data);
  judge_at_most(JUDGE_GOAL, "step_exponent_nodes", judge_exponent(SIZES, nodes, cost), "1", 1);
}

static void threads(void) {
  Cost cost[2];
  uint64_t hash[2];
  for (int n = 1; n <= 2; n++) {
    JudgeScene scene;
    tl_par_set_threads(n);
    heaps(&scene, 8, 2, 2, 800);
    cost[n - 1] = time_steps(&scene, STEPS);
    hash[n - 1] = judge_scene_hash(&scene);
    judge_scene_close(&scene);
  }
  tl_par_set_threads(1);
  judge_at_least(JUDGE_CORRECT, "step_threads_same_bits", hash[0] == hash[1], "1", 1);
  judge_at_least(JUDGE_GOAL, "step_speedup_2_threads", cost[0].wall_s / cost[1].wall_s, "1", 1.7);
  judge_note("Two threads: %.1f ms wall and %.1f ms CPU a step of 2048 grains, one thread %.1f and "
             "%.1f. On a machine with other work the wall times say little.",
             1e3 * cost[1].wall_s, 1e3 * cost[1].cpu_s, 1e3 * cost[0].wall_s, 1e3 * cost[0].cpu_s);
}

int main(int argc, char **argv) {
  judge_open("step", argc, argv);
  tl_par_set_threads(1);
  against_grains();
  against_nodes();
  threads();
  judge_gnuplot("step-cost",
                "set logscale xy\nset xlabel 'grains of 800 nodes; nodes of 512 grains'\n"
                "set ylabel 'CPU a grain and step, us'\n"
                "plot 'grains.dat' with linespoints pt 7 title 'over grains', "
                "'nodes.dat' with linespoints pt 5 title 'over nodes a grain'");
  return judge_close();
}
