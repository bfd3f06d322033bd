/* The penalty step: settled level-set heaps beside YADE's step on the same states at equal
 * stiffness of a pair, the first authors' grain-steps a second, Hertz spheres with history beside
 * LAMMPS, what a membrane's contacts cost, two threads against one.
 *
 * CPU of whole steps, forces, motion, memory and report; medians of windows of steps.
 */
#include "judge/calibrate.h"
#include "num/sort.h"
#include "support/materials.h"
#include "judge/judge.h"
#include "judge/scene.h"
#include "support/grain_state.h"

#include "base/mem.h"
#include "base/par.h"
#include "shape/superellipsoid.h"
#include "solve/law.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_WINDOWS = 64 };
static const double PITCH = 0.0245;                     /* of the heaps' boxes: data/README.md */
static const double PAIR_N_m = 1e4, HEAP_STEP_S = 8e-5; /* kn of a pair: the peers' script */
/* Traction: the stiffest that may step so far. A pair of which one node touches is then softer than
 * PAIR_N_m (a node stands for 1.4 mm2), so that more do. */
static const double SURFACE_Pa_m = 1.7e8;

/* Median CPU microseconds a grain and step. */
static double cpu_us(JudgeScene *scene, int windows, int steps) {
  double us[MOST_WINDOWS];
  for (int i = 0; i < windows; i++) {
    double cpu = judge_cpu_s();
    judge_scene_steps(scene, steps);
    us[i] = 1e6 * (judge_cpu_s() - cpu) / steps / (double)scene->bodies.owned;
  }
  qsort(us, (size_t)windows, sizeof *us, tl_by_real);
  return us[windows / 2];
}

static int law(const char *name) {
  for (int i = 0; i < tl_law_count(); i++)
    if (strcmp(tl_law(i)->name, name) == 0) return i;
  judge_ok(tl_fail(TL_EUSAGE, "no law %s", name), "law");
  return -1;
}

static void penalty_scene(JudgeScene *scene, const char *normal_law, double step_s) {
  judge_scene_open(scene);
  TlSolverConfig *c = &scene->config;
  c->method = TL_PENALTY;
  c->step_s = step_s;
  TL_TEST_SET(c, TL_TEST_BOTH, friction, 0.5);
  TL_TEST_SET(c, TL_TEST_BOTH, restitution, 0.3);
  c->density_kg_m3 = 2650;
  c->penalty.law = law(normal_law);
  TL_TEST_SET(c, TL_TEST_BOTH, stiffness.tangential_ratio, 0.7);
}

/* ---- settled heaps ---- */

typedef struct Spread {
  const char *name;
  TlSpread spread;
  TlSides sides;
} Spread;

static const Spread spreads[] = {{"deepest", TL_SPREAD_DEEPEST, TL_SIDES_BOTH},
                                 {"nodes", TL_SPREAD_NODES, TL_SIDES_LOWER},
                                 {"traction", TL_SPREAD_TRACTION, TL_SIDES_BOTH}};
enum { SPREADS = sizeof spreads / sizeof *spreads };

/* stiffness: of a point (N/m), with traction of a square metre. */
static void damped_heap(JudgeScene *scene, int side, int32_t nodes, const Spread *spread,
                        double stiffness, double damping_per_s) {
  TlAvatar grain;
  JUDGE_OK(tl_avatar_superellipsoid(0.010, 0.008, 0.007, 0.6, 0.8, 0.0007, nodes, &grain));
  TlQuat axes = grain.scan_rotation; /* body axes go with ascending moments */
  penalty_scene(scene, "linear", HEAP_STEP_S);
  TlPenalty *p = &scene->config.penalty;
  scene->config.search.sides = spread->sides;
  scene->config.damping_per_s = damping_per_s;
  p->spread = spread->spread;
  TL_TEST_SET(&scene->config, TL_TEST_BOTH, stiffness.normal_N_m, stiffness);
  TL_TEST_SET(&scene->config, TL_TEST_BOTH, stiffness.normal_Pa_m, stiffness);
  int64_t id = judge_scene_avatar(scene, &grain);
  judge_scene_box(scene, side * PITCH, side * PITCH);
  judge_scene_start(scene);
  judge_scene_heap(scene, id, axes, side * side * side, tl_vec3(0, 0, 0));
}

static void heap(JudgeScene *scene, int side, int32_t nodes, const Spread *spread,
                 double stiffness) {
  damped_heap(scene, side, nodes, spread, stiffness, 0);
}

/* Elastic energy of 64 grains some 0.05 s after they were let go. */
static double held_J(const Spread *spread, double stiffness) {
  JudgeScene scene;
  heap(&scene, 4, 800, spread, stiffness);
  judge_scene_steps(&scene, (int)(0.048 / HEAP_STEP_S));
  double held = scene.report.elastic_J;
  judge_scene_close(&scene);
  return held;
}

/* Under one load a softer contact holds more energy, F^2/2k: the stiffness of a node at which the
 * heap holds as much as with one point of PAIR_N_m a pair. */
static double stiffness_of(const Spread *spread) {
  if (spread->spread == TL_SPREAD_DEEPEST) return PAIR_N_m;
  if (spread->spread == TL_SPREAD_TRACTION) return SURFACE_Pa_m;
  double wanted = held_J(&spreads[0], PAIR_N_m), stiffness = 0.4 * PAIR_N_m;
  for (int i = 0; i < 3; i++) stiffness *= held_J(spread, stiffness) / wanted;
  return stiffness;
}

static void heaps(void) {
  static const struct {
    int side;
    double yade_us;
  } size[] = {{4, 89.5}, {6, 156}, {8, 170}};
  for (int k = 0; k < SPREADS; k++) {
    double stiffness = stiffness_of(&spreads[k]);
    for (int i = 0; i < 3; i++) {
      JudgeScene scene;
      char name[80];
      int count = size[i].side * size[i].side * size[i].side;
      heap(&scene, size[i].side, 800, &spreads[k], stiffness);
      judge_scene_steps(&scene, 200);
      double us = cpu_us(&scene, 11, 10), ratio = size[i].yade_us * judge_machine_factor() / us;
      const TlStepReport *r = &scene.report;
      snprintf(name, sizeof name, "penalty_yade_%s_%d", spreads[k].name, count);
      bool like = spreads[k].spread != TL_SPREAD_TRACTION; /* softer, ten times the points */
      judge_at_least(JUDGE_GOAL, name, ratio, "1", like ? 30 : 10);
      judge_note("%d grains, %s: %.2f us CPU a grain and step (YADE %.1f, recorded), %.1f pairs, "
                 "%.1f contacts and %.1f points a grain, %.0f lookups, %.2f lists made anew; "
                 "search and forces %.0f%% of the step; %g %s.",
                 count, spreads[k].name, us, size[i].yade_us, (double)r->pairs / count,
                 (double)r->contacts / count, (double)r->touching / count,
                 (double)r->lookups / count, (double)r->node_lists / count,
                 100 * r->detect_s / (r->detect_s + r->other_s), stiffness,
                 spreads[k].spread == TL_SPREAD_TRACTION ? "Pa/m" : "N/m a point");
      judge_scene_close(&scene);
    }
  }
}

/* 42,684 grains of 279 nodes, 1,000 steps in 56,683 s: 753 grain-steps a second, one rank. */
static void authors(void) {
  JudgeScene scene;
  heap(&scene, 8, 279, &spreads[1], PAIR_N_m);
  judge_scene_steps(&scene, 200);
  double us = cpu_us(&scene, 11, 10);
  judge_at_least(JUDGE_GOAL, "penalty_authors_279_nodes", 1e6 / us / 753 * judge_machine_factor(),
                 "1", 20);
  judge_note(
      "512 settled grains of 279 nodes, each touching node of the lower id bearing, as theirs: "
      "%.0f grain-steps a second, %.1f points a grain; theirs 753, recorded on other cores.",
      1e6 / us, (double)scene.report.touching / (double)scene.bodies.owned);
  judge_scene_close(&scene);
}

/* ---- spheres ---- */

enum { SPHERE = 1, NX = 20, NY = 20, NZ = 25 };

static const double SPHERE_RADIUS_M = 0.005, LATTICE_M = 0.0108;

static void spheres_scene(JudgeScene *scene, double step_s) {
  penalty_scene(scene, "hertz", step_s);
  TlPenalty *p = &scene->config.penalty;
  scene->config.search.sides = TL_SIDES_LOWER;
  p->spread = TL_SPREAD_DEEPEST;
  TL_TEST_SET(&scene->config, TL_TEST_BOTH, stiffness.young_Pa, 5e6);
  TL_TEST_SET(&scene->config, TL_TEST_BOTH, stiffness.poisson, 0.3);
  judge_scene_box(scene, NX * LATTICE_M, NY * LATTICE_M);
  judge_scene_start(scene);
  JUDGE_OK(stepper_add_sphere(scene->solver, SPHERE, SPHERE_RADIUS_M));
}

/* The peers' packing: a jittered lattice falls for 0.3 s; at the peers' own step that would be
 * 30,000 steps, so it settles at five times that, and only then goes on at theirs. */
static void spheres(JudgeScene *scene) {
  JudgeScene falling;
  TlRandom random = {1, 0, 0};
  spheres_scene(&falling, 5e-5);
  for (int k = 0; k < NZ; k++)
    for (int j = 0; j < NY; j++)
      for (int i = 0; i < NX; i++) {
        TlVec3 x = tl_vec3(i + 0.5, j + 0.5, k + 0.5), jitter;
        jitter.x = 2 * tl_random_next(&random) - 1;
        jitter.y = 2 * tl_random_next(&random) - 1;
        jitter.z = 2 * tl_random_next(&random) - 1;
        judge_scene_put(&falling, SPHERE, 1, tl_axpy(tl_scale(LATTICE_M, x), 3e-4, jitter),
                        (TlQuat){1, 0, 0, 0}, tl_vec3(0, 0, 0));
      }
  judge_scene_steps(&falling, 6000);
  spheres_scene(scene, 1e-5);
  scene->bodies = falling.bodies;
  memset(&falling.bodies, 0, sizeof falling.bodies);
  scene->solver->steps = 1;
  judge_scene_close(&falling);
}

static void against_spheres(void) {
  JudgeScene scene;
  spheres(&scene);
  judge_scene_steps(&scene, 200);
  double us = cpu_us(&scene, 11, 50), factor = judge_machine_factor();
  const TlStepReport *r = &scene.report;
  double n = (double)scene.bodies.owned;
  judge_at_most(JUDGE_GOAL, "penalty_spheres", 1e3 * us / factor, "ns a particle and step", 150);
  judge_note("10,000 Hertz spheres with history: %.0f ns a particle and step as measured (LAMMPS "
             "149, recorded on a newer core; the machine's factor is %.2f), %.2f contacts and %.2f "
             "tested pairs a sphere, kinetic energy %.2g J.",
             1e3 * us, factor, (double)r->contacts / n, (double)r->pairs / n, r->kinetic_J);
  judge_scene_close(&scene);
}

/* ---- a membrane ---- */

enum { TUBE_COLUMNS = 96, TUBE_ROWS = 16 };
static const double COLUMN_M = 0.075;

static TlNet tube(double radius_m, double pressure_Pa) {
  const double middle = 4 * PITCH;
  TlNet net = {.first_id = 512,
               .shape_id = 99,
               .rows = TUBE_ROWS,
               .columns = TUBE_COLUMNS,
               .layers = 1,
               .tube_radius_m = COLUMN_M + 0.0035,
               .corner = {middle, middle, 0.0025},
               .along = {1, 0, 0},
               .across = {0, 0, 1},
               .radius_m = radius_m,
               .mass_kg = 6.5e-5,
               .normal_N_m = 200,
               .tangential_N_m = 0,
               .damping = 0.05,
               .stretch_most = 1,
               .clamped = TL_NET_FIRST_ROW | TL_NET_LAST_ROW,
               .pressure_Pa = pressure_Pa};
  net.spacing_m = tl_net_tube_spacing(net.tube_radius_m, net.columns);
  return net;
}

/* The grains of the heap in a round column of it, and a tube of a net's spheres round them. */
static void in_tube(JudgeScene *scene, const TlNet *net) {
  static unsigned char keep[512];
  const double middle = 4 * PITCH;
  damped_heap(scene, 8, 800, &spreads[0], PAIR_N_m, 200);
  for (int64_t i = 0; i < scene->bodies.owned; i++) {
    TlVec3 x = scene->bodies.position[i];
    keep[i] = hypot(x.x - middle, x.y - middle) < COLUMN_M - 0.0135;
  }
  JUDGE_OK(tl_bodies_keep(&scene->bodies, keep));
  JUDGE_OK(stepper_set_nets(scene->solver, net, 1));
  JUDGE_OK(tl_net_add(net, &scene->bodies, 0, tl_net_spheres(net)));
  tl_pair_state_sort(&scene->bodies.pairs);
}

/* Bodies and contact memory of another scene. */
static void copy_state(JudgeScene *to, const JudgeScene *from) {
  for (int64_t i = 0; i < from->bodies.owned; i++) {
    TlGrainState state = tl_test_grain_state(&from->bodies, i);
    tl_test_set_grain(&to->bodies, i, &state);
  }
  for (int k = 0; k < TL_PAIR_KINDS; k++) {
    const TlPairRows *old = &from->bodies.pairs.of[k];
    TlPairRows *rows = &to->bodies.pairs.of[k];
    JUDGE_OK(tl_pair_rows_reserve(rows, (TlPairKind)k, old->count));
    if (old->count) memcpy(rows->row, old->row, old->count * tl_pair_record[k].bytes);
    rows->count = old->count;
  }
  to->solver->steps = from->solver->steps;
}

/* Two copies of one state, the net's spheres in one of them too small to touch and without the
 * pressure that they bear: all else is the same. */
static void membrane(void) {
  enum { WINDOWS = 11 };
  JudgeScene scene[2];
  double us[2][WINDOWS], fraction[WINDOWS];
  const TlNet net[2] = {tube(0.0025, 1000), tube(0.00025, 0)};
  for (int k = 0; k < 2; k++) in_tube(&scene[k], &net[k]);
  judge_scene_steps(&scene[0], 1000);
  copy_state(&scene[1], &scene[0]);
  for (int k = 0; k < 2; k++) judge_scene_steps(&scene[k], 20);
  for (int i = 0; i < WINDOWS; i++)
    for (int k = 0; k < 2; k++) us[k][i] = cpu_us(&scene[k], 1, 20);
  /* of neighbouring windows: the machine's pace drifts from second to second */
  for (int i = 0; i < WINDOWS; i++) fraction[i] = 1 - us[1][i] / us[0][i];
  qsort(fraction, WINDOWS, sizeof *fraction, tl_by_real);
  for (int k = 0; k < 2; k++) qsort(us[k], WINDOWS, sizeof us[k][0], tl_by_real);
  const TlStepReport *on = &scene[0].report, *off = &scene[1].report;
  double n = (double)scene[0].bodies.owned, spheres = TUBE_ROWS * TUBE_COLUMNS;
  double with = us[0][WINDOWS / 2], without = us[1][WINDOWS / 2];
  judge_at_most(JUDGE_GOAL, "penalty_membrane_share", fraction[WINDOWS / 2], "of a step", 0.2);
  judge_note("A tube of %.0f spheres round %.0f grains of 800 nodes at 1 kPa: %.0f us CPU a step, "
             "%.0f us with spheres too small to touch; %lld contacts and %lld lookups a step, "
             "without them %lld and %lld.",
             spheres, n - spheres, with * n, without * n, (long long)on->contacts,
             (long long)on->lookups, (long long)off->contacts, (long long)off->lookups);
  for (int k = 0; k < 2; k++) judge_scene_close(&scene[k]);
}

/* ---- two threads ---- */

/* Least wall clock of a window, of one thread and of two by turns. */
static void threads(JudgeScene scene[2], const char *name, int steps) {
  char row[80];
  double wall[2] = {HUGE_VAL, HUGE_VAL};
  for (int i = 0; i < 40; i++)
    for (int k = 0; k < 2; k++) {
      tl_par_set_threads(k + 1);
      double start = judge_wall_s();
      judge_scene_steps(&scene[k], steps);
      wall[k] = fmin(wall[k], judge_wall_s() - start);
    }
  tl_par_set_threads(1);
  snprintf(row, sizeof row, "penalty_threads_%s", name);
  judge_at_least(JUDGE_GOAL, row, wall[0] / wall[1], "1", 1.8);
  snprintf(row, sizeof row, "penalty_threads_%s_same_bits", name);
  judge_at_least(JUDGE_CORRECT, row, judge_scene_hash(&scene[0]) == judge_scene_hash(&scene[1]),
                 "1", 1);
  judge_note("%s: %.3f ms of the wall a step with one thread, %.3f ms with two.", name,
             1e3 * wall[0] / steps, 1e3 * wall[1] / steps);
}

static void two_threads(void) {
  JudgeScene scene[2];
  for (int k = 0; k < 2; k++) {
    heap(&scene[k], 8, 800, &spreads[0], PAIR_N_m);
    judge_scene_steps(&scene[k], 100);
  }
  threads(scene, "grains", 40);
  for (int k = 0; k < 2; k++) judge_scene_close(&scene[k]);
}

int main(int argc, char **argv) {
  judge_open("penalty", argc, argv);
  tl_par_set_threads(1);
  heaps();
  authors();
  membrane();
  two_threads();
  against_spheres();
  return judge_close();
}
