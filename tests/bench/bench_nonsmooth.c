/* The solve of the nonsmooth method: CPU of an iteration over a contact, on a heap of spheres with
 * friction, without and with rolling resistance, and of boxes by patches; how many iterations a warm
 * start and steps beyond sweeps save; what the cells of a large island cost, and what threads gain; steps of
 * spheres and of the peers' grains beside theirs. */
#include "judge/calibrate.h"
#include "judge/judge.h"
#include "judge/lsdrop.h"
#include "judge/overlap.h"
#include "num/sort.h"
#include "support/grain_state.h"
#include "support/materials.h"
#include "support/placed.h"
#include "support/problem.h"

#include "base/log.h"
#include "base/par.h"
#include "base/random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SPHERE = 1, BOX = 2, WIDE = 12, HIGH = 14, LARGE_WIDE = 22, LARGE_HIGH = 21, WINDOWS = 15 };
static const double R = 0.01;

typedef struct Heap {
  TlSolverConfig config;
  TlBoundaryPlane plane[5];
  TlBoundary boundary[5];
  Stepper *solver;
  TlBodies bodies;
} Heap;

static void wall(Heap *h, int i, TlVec3 point, TlVec3 normal) {
  h->plane[i] = (TlBoundaryPlane){point, normal};
  h->boundary[i] = (TlBoundary){.kind = &tl_boundary_plane, .data = &h->plane[i]};
}

enum Kind { SPHERES, BOXES, PILE, LARGE };

/* Layers of bodies that touch nearly, after some steps under gravity; a pile's bodies are of several sizes
 * and lie askew, so that it settles into one island. A large one has 10,164. */
static void make(Heap *h, enum Kind kind, double rolling, int steps) {
  static const double box[3] = {0.018, 0.017, 0.016};
  int wide = kind == LARGE ? LARGE_WIDE : WIDE, high = kind == LARGE ? LARGE_HIGH : HIGH;
  bool pile = kind >= PILE;
  double side = wide * 2.02 * R;
  memset(h, 0, sizeof *h);
  tl_par_set_threads(1);
  h->config = tl_test_nonsmooth();
  h->config.step_s = kind == LARGE ? 5e-3 : 1e-3;
  h->config.gravity_m_s2 = tl_vec3(0, 0, -9.81);
  h->config.nonsmooth.iterations = 50;
  TL_TEST_SET(&h->config, TL_TEST_BOTH, friction, 0.5);
  TL_TEST_SET(&h->config, TL_TEST_BOTH, restitution, 0);
  TL_TEST_SET(&h->config, TL_TEST_BOTH, rolling, rolling);
  TL_TEST_SET(&h->config, TL_TEST_BOTH, stiffness.young_Pa, 1e7);
  wall(h, 0, tl_vec3(0, 0, 0), tl_vec3(0, 0, 1));
  wall(h, 1, tl_vec3(0, 0, 0), tl_vec3(1, 0, 0));
  wall(h, 2, tl_vec3(side, 0, 0), tl_vec3(-1, 0, 0));
  wall(h, 3, tl_vec3(0, 0, 0), tl_vec3(0, 1, 0));
  wall(h, 4, tl_vec3(0, side, 0), tl_vec3(0, -1, 0));
  JUDGE_OK(stepper_new(&h->solver, &h->config, (TlAvatarSource){0}, h->boundary, 5, NULL));
  JUDGE_OK(stepper_add_sphere(h->solver, SPHERE, R));
  JUDGE_OK(stepper_add_closed(h->solver, BOX, &tl_closed_box, box));
  for (int k = 0; k < wide * wide * high; k++) {
    int i = k % wide, j = k / wide % wide, l = k / wide / wide;
    double u = tl_random_uniform(5, 1, 2 * (uint64_t)k),
           v = tl_random_uniform(5, 1, 2 * (uint64_t)k + 1), askew = pile ? 0.3 * (1 - u) : 0;
    const TlGrainState body = {
        .id = k,
        .avatar_id = kind == BOXES ? BOX : SPHERE,
        .scale = pile ? 0.7 + 0.3 * u : 0.97 + 0.03 * u,
        .position = {R * (1.01 + 2.02 * i + askew * v), R * (1.01 + 2.02 * j - askew * v),
                     R * (1.01 + 2.02 * l)},
        .rotation = kind == BOXES ? tl_quat_from_rotation(tl_vec3(0.05 * v, 0.05 * u, 0.05 * v))
                                  : (TlQuat){1, 0, 0, 0}};
    JUDGE_OK(tl_test_add(&h->bodies, &body));
  }
  for (int k = 0; k < steps; k++) JUDGE_OK(stepper_step(h->solver, &h->bodies, NULL));
}

static void heap_free(Heap *h) {
  stepper_free(h->solver);
  tl_bodies_free(&h->bodies);
}

/* Median nanoseconds of an iteration over a patch. */
static double visit_ns(TlNsSolver solver, enum Kind kind, double rolling, int32_t *patches) {
  enum { SWEEPS = 20 };
  Heap h;
  Problem p;
  double ns[WINDOWS];
  make(&h, kind, rolling, 150);
  h.solver->model->nonsmooth.solver = solver;
  JUDGE_OK(problem_of(&p, h.solver, &h.bodies));
  const TlNsProblem *q = &p.rows.problem;
  int64_t most = 0;
  for (int i = 0; i < WINDOWS; i++) {
    double cpu = judge_thread_cpu_s();
    JUDGE_OK(problem_solve(&p, SWEEPS, -1, &most));
    ns[i] = 1e9 * (judge_thread_cpu_s() - cpu) / SWEEPS / q->patches;
  }
  *patches = q->patches;
  qsort(ns, WINDOWS, sizeof *ns, tl_by_real);
  problem_free(&p);
  heap_free(&h);
  return ns[WINDOWS / 2];
}

/* Iterations to a residual of 1e-4 of g h, from nothing or from the last step's forces. */
static int64_t iterations(Heap *h, TlNsSolver solver, bool warm) {
  Problem p;
  h->solver->model->nonsmooth.solver = solver;
  h->solver->model->nonsmooth.warm = warm;
  JUDGE_OK(problem_of(&p, h->solver, &h->bodies));
  int64_t most = 0;
  JUDGE_OK(problem_solve(&p, 20000, 1e-4 * 9.81e-3, &most));
  problem_free(&p);
  return most;
}

static void starts(void) {
  Heap h;
  int64_t cold[3], warm[3];
  make(&h, SPHERES, 0, 300);
  for (int k = 0; k < 3; k++) {
    cold[k] = iterations(&h, (TlNsSolver)k, false);
    warm[k] = iterations(&h, (TlNsSolver)k, true);
  }
  heap_free(&h);
  judge_at_least(JUDGE_GOAL, "nonsmooth_warm_gain",
                 (double)cold[TL_NS_SWEEPS] / (double)warm[TL_NS_SWEEPS],
                 "iterations cold over warm", 5);
  judge_at_least(JUDGE_GOAL, "nonsmooth_gradients_gain",
                 (double)cold[TL_NS_SWEEPS] / (double)cold[TL_NS_GRADIENTS],
                 "iterations by sweeps over those by conjugate gradients, cold", 2);
  judge_note(
      "To a residual of 1e-4 of g h: %lld iterations cold, %lld warm; with steps beyond every "
      "fourth sweep %lld cold, %lld warm; beyond each %lld cold, %lld warm.",
      (long long)cold[TL_NS_SWEEPS], (long long)warm[TL_NS_SWEEPS],
      (long long)cold[TL_NS_EXTRAPOLATED], (long long)warm[TL_NS_EXTRAPOLATED],
      (long long)cold[TL_NS_GRADIENTS], (long long)warm[TL_NS_GRADIENTS]);
}

/* Seconds of 50 sweeps over a pile, the least of several windows. */
static double wall_s(const Heap *h, int threads) {
  Problem p;
  double least = INFINITY;
  int64_t most;
  JUDGE_OK(problem_of(&p, h->solver, (TlBodies *)&h->bodies));
  tl_par_set_threads(threads);
  for (int i = 0; i < WINDOWS; i++) {
    double start = tl_clock_s();
    JUDGE_OK(problem_solve(&p, 50, -1, &most));
    least = fmin(least, tl_clock_s() - start);
  }
  tl_par_set_threads(1);
  problem_free(&p);
  return least;
}

/* A pile that is one island: cell by cell, as it is solved, beside all patches in one order from below; and
 * by two threads. */
static void pile(void) {
  enum { ALL = 1 << 30 };
  Heap h;
  Problem p;
  make(&h, PILE, 0, 400);
  int64_t cold = iterations(&h, TL_NS_SWEEPS, false), warm = iterations(&h, TL_NS_SWEEPS, true),
          beyond = iterations(&h, TL_NS_EXTRAPOLATED, false),
          beyond_warm = iterations(&h, TL_NS_EXTRAPOLATED, true);
  tl_islands_set_small(ALL);
  int64_t cold_one = iterations(&h, TL_NS_SWEEPS, false),
          warm_one = iterations(&h, TL_NS_SWEEPS, true);
  h.solver->model->nonsmooth.solver = TL_NS_EXTRAPOLATED;
  tl_islands_set_small(0);
  double one = wall_s(&h, 1), two = wall_s(&h, 2);
  JUDGE_OK(problem_of(&p, h.solver, &h.bodies));
  judge_at_most(JUDGE_GOAL, "nonsmooth_cells_iterations", (double)cold / (double)cold_one,
                "iterations by cells over those in one order, cold", 1.05);
  judge_at_least(JUDGE_GOAL, "nonsmooth_threads_speedup", one / two,
                 "time by one thread over that by two", 1.5);
  judge_note(
      "A pile of %lld spheres in one island, %d contacts: %lld iterations cold and %lld warm "
      "by cells, %lld and %lld in one order from below, to a residual of 1e-4 of g h; with steps "
      "beyond sweeps %lld and %lld. 50 sweeps take %.1f ms by one thread and %.1f ms by two.",
      (long long)p.rows.groups.largest, p.rows.problem.patches, (long long)cold, (long long)warm,
      (long long)cold_one, (long long)warm_one, (long long)beyond, (long long)beyond_warm,
      1e3 * one, 1e3 * two);
  problem_free(&p);
  heap_free(&h);
}

/* ---- spheres at equal physical time ---- */

/* Of 10,000 settled spheres, recorded: LIGGGHTS 3.8.0, Hertz with history, 151 ns a sphere and step of 1e-5 s. */
static const double LIGGGHTS_MS = 1e-6 * 151 / 1e-5;

/* A pile that has settled: steps of 5 ms, the rule for an overlap of 1%, to a residual of 1e-4 of g h. */
static void spheres(void) {
  enum { STEPS = 40 };
  Heap h;
  TlStepReport r = {0};
  double sweeps = 0, contacts = 0;
  make(&h, LARGE, 0, 100);
  h.solver->model->nonsmooth.iterations = 200;
  double cpu = judge_thread_cpu_s();
  for (int k = 0; k < STEPS; k++) {
    JUDGE_OK(stepper_step(h.solver, &h.bodies, &r));
    sweeps += (double)r.rest_sweeps / STEPS;
    contacts += (double)r.visits;
  }
  cpu = judge_thread_cpu_s() - cpu;
  double second = STEPS * h.config.step_s, number = (double)h.bodies.owned;
  judge_paper("nonsmooth_spheres_ms", 1e3 * cpu / second / number,
              LIGGGHTS_MS * judge_machine_factor(), "ms CPU a sphere and simulated second",
              "LIGGGHTS 3.8.0, recorded");
  judge_note(
      "%.0f settled spheres in steps of 5 ms: %.0f ms CPU a step, %.0f iterations, deepest overlap "
      "%.2f%% of a radius; %.3g contacts solved a second.",
      number, 1e3 * cpu / STEPS, sweeps, 100 * fmax(r.overlap_share, r.boundary_overlap_share),
      contacts / cpu);
  heap_free(&h);
}

/* ---- the peers' drop ---- */

typedef struct Phase { /* a tenth of a second before its end */
  const char *name;
  double end_s,
      siconos_ms; /* CPU a step, recorded: Siconos 4.4.0, hulls of 42 points, 1000 iterations, 1e-4 */
} Phase;

typedef struct Drop {
  double ms[3], sweeps[3],
      residual[3]; /* CPU a step; mean most iterations of an island; most, over g h */
} Drop;

enum { PHASES = 3, DROPS = 3 };

static void phase(LsDrop *d, const Phase *p, Drop *drop, int k) {
  enum { STEPS = 20 };
  lsdrop_run(d, p->end_s - STEPS * d->scene.config.step_s - d->time_s);
  double cpu_s = d->cpu_s;
  for (int i = 0; i < STEPS; i++) {
    const TlStepReport *r = &d->scene.report;
    lsdrop_run(d, d->scene.config.step_s);
    drop->sweeps[k] += (double)r->rest_sweeps / (STEPS * DROPS);
    drop->residual[k] =
        fmax(drop->residual[k], r->rest_residual_m_s / (9.81 * d->scene.config.step_s));
  }
  drop->ms[k] += 1e3 * (d->cpu_s - cpu_s) / (STEPS * DROPS);
}

/* 216 grains of the peers' drop scene at their step: cost of a step while they strike, settle and rest. The mean of
 * drops from several poses: how many grains of a heap rock on when it has come to rest is chance. */
static void peers_drop(void) {
  static const Phase phases[PHASES] = {
      {"impact", 0.2, 1617}, {"settling", 0.4, 461}, {"rest", 0.6, 162}};
  Drop drop = {0};
  double factor = judge_machine_factor(), deepest = 0, last = 0, kinetic = 0, truth = 0;
  for (int turn = 0; turn < DROPS; turn++) {
    LsDrop d;
    lsdrop_open(&d, 6,
                (LsMethod){.step_s = 5e-3, .young_Pa = 1e8, .iterations = 1000, .turn = turn});
    for (int k = 0; k < PHASES; k++) phase(&d, &phases[k], &drop, k);
    deepest = fmax(deepest, d.worst.fraction);
    lsdrop_run(&d, 0.4);
    const TlStepReport *r = &d.scene.report;
    JudgeOverlap overlap = judge_overlap_of_scene(&d.scene);
    truth = fmax(truth, overlap.largest_fraction);
    last = fmax(last, fmax(r->overlap_share, r->boundary_overlap_share));
    kinetic = fmax(kinetic, r->kinetic_J / d.drop_J);
    lsdrop_close(&d);
  }
  for (int k = 0; k < PHASES; k++) {
    char name[64];
    snprintf(name, sizeof name, "nonsmooth_drop_%s", phases[k].name);
    judge_at_most(JUDGE_GOAL, name, drop.ms[k] / factor / phases[k].siconos_ms,
                  "of Siconos' recorded CPU time a step, mean of three drops", 0.1);
    judge_note("216 grains, %s: %.1f ms CPU a step, %.0f iterations, residual %.1g of g h.",
               phases[k].name, drop.ms[k], drop.sweeps[k], drop.residual[k]);
  }
  judge_at_most(JUDGE_GOAL, "nonsmooth_drop_true_overlap", truth, "of the radius, at 1 s", 0.01);
  judge_note(
      "The deepest overlap of any step of the three drops is %.2f%% of the radius, at 1 s %.2f%%; "
      "kinetic energy is then at most %.1g of the drop's.",
      100 * deepest, 100 * last, kinetic);
}

int main(int argc, char **argv) {
  int32_t patches[3];
  judge_open("nonsmooth", argc, argv);
  double plain = visit_ns(TL_NS_EXTRAPOLATED, SPHERES, 0, &patches[0]),
         rolling = visit_ns(TL_NS_EXTRAPOLATED, SPHERES, 0.1, &patches[1]),
         box = visit_ns(TL_NS_EXTRAPOLATED, BOXES, 0, &patches[2]),
         gradients = visit_ns(TL_NS_GRADIENTS, SPHERES, 0, &patches[0]);
  judge_at_most(JUDGE_GOAL, "nonsmooth_contact_ns", plain, "ns a contact and iteration", 40);
  judge_at_most(JUDGE_GOAL, "nonsmooth_rolling_ns", rolling, "ns a contact and iteration", 60);
  judge_note("Heaps of %d bodies: %d contacts of spheres, %d with rolling resistance; of boxes %d "
             "patches at %.0f ns each. By conjugate gradients a contact of spheres takes %.0f ns.",
             WIDE * WIDE * HIGH, patches[0], patches[1], patches[2], box, gradients);
  starts();
  pile();
  spheres();
  peers_drop();
  return judge_close();
}
