/* The solve of the nonsmooth method: CPU of an iteration over a contact, on a heap of spheres with
 * friction, without and with rolling resistance, and of boxes by patches; how many iterations a warm
 * start saves. */
#include "judge/judge.h"
#include "support/grain_state.h"
#include "support/materials.h"
#include "support/placed.h"
#include "support/problem.h"

#include "base/par.h"
#include "base/random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SPHERE = 1, BOX = 2, WIDE = 12, HIGH = 14, WINDOWS = 15 };
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

/* Layers of bodies that touch nearly, after some steps under gravity. */
static void make(Heap *h, bool boxes, double rolling, int steps) {
  static const double box[3] = {0.018, 0.017, 0.016};
  double side = WIDE * 2.02 * R;
  memset(h, 0, sizeof *h);
  tl_par_set_threads(1);
  h->config = tl_test_nonsmooth();
  h->config.step_s = 1e-3;
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
  for (int k = 0; k < WIDE * WIDE * HIGH; k++) {
    int i = k % WIDE, j = k / WIDE % WIDE, l = k / WIDE / WIDE;
    double u = tl_random_uniform(5, 1, 2 * (uint64_t)k),
           v = tl_random_uniform(5, 1, 2 * (uint64_t)k + 1);
    const TlGrainState body = {
        .id = k,
        .avatar_id = boxes ? BOX : SPHERE,
        .scale = 0.97 + 0.03 * u,
        .position = {R * (1.01 + 2.02 * i), R * (1.01 + 2.02 * j), R * (1.01 + 2.02 * l)},
        .rotation = boxes ? tl_quat_from_rotation(tl_vec3(0.05 * v, 0.05 * u, 0.05 * v))
                          : (TlQuat){1, 0, 0, 0}};
    JUDGE_OK(tl_test_add(&h->bodies, &body));
  }
  for (int k = 0; k < steps; k++) JUDGE_OK(stepper_step(h->solver, &h->bodies, NULL));
}

static void heap_free(Heap *h) {
  stepper_free(h->solver);
  tl_bodies_free(&h->bodies);
}

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

/* Median nanoseconds of an iteration over a patch. */
static double visit_ns(bool boxes, double rolling, int32_t *patches) {
  enum { SWEEPS = 20 };
  Heap h;
  Problem p;
  double ns[WINDOWS];
  make(&h, boxes, rolling, 150);
  JUDGE_OK(problem_of(&p, h.solver, &h.bodies));
  const TlNsProblem *q = &p.rows.problem;
  const TlNsRange all = {0, q->patches, 0, 0};
  TlNsCount count;
  tl_nonsmooth_warm(q, &all);
  for (int i = 0; i < WINDOWS; i++) {
    double cpu = judge_thread_cpu_s();
    tl_nonsmooth_solve(q, &all, (TlNsStop){SWEEPS, -1}, &count);
    ns[i] = 1e9 * (judge_thread_cpu_s() - cpu) / SWEEPS / q->patches;
  }
  *patches = q->patches;
  qsort(ns, WINDOWS, sizeof *ns, by_value);
  problem_free(&p);
  heap_free(&h);
  return ns[WINDOWS / 2];
}

/* Iterations to a residual of 1e-4 of g h, from nothing over from the last step's forces. */
static void warm_start(void) {
  Heap h;
  int64_t done[2] = {0, 0};
  make(&h, false, 0, 300);
  for (int warm = 0; warm < 2; warm++) {
    Problem p;
    JUDGE_OK(problem_of(&p, h.solver, &h.bodies));
    TlNsProblem *q = &p.rows.problem;
    const TlNsRange all = {0, q->patches, 0, 0};
    TlNsCount count;
    if (!warm)
      for (int32_t i = 0; i < q->points; i++) q->point[i].lambda = 0;
    if (!warm)
      for (int32_t i = 0; i < q->patches; i++) q->patch[i].lambda[0] = q->patch[i].lambda[1] = 0;
    tl_nonsmooth_warm(q, &all);
    tl_nonsmooth_solve(q, &all, (TlNsStop){20000, 1e-4 * 9.81e-3}, &count);
    done[warm] = count.iterations;
    problem_free(&p);
  }
  heap_free(&h);
  judge_at_least(JUDGE_GOAL, "nonsmooth_warm_gain", (double)done[0] / (double)done[1],
                 "iterations cold over warm", 5);
  judge_note("To a residual of 1e-4 of g h: %lld iterations cold, %lld warm.", (long long)done[0],
             (long long)done[1]);
}

int main(int argc, char **argv) {
  int32_t patches[3];
  judge_open("nonsmooth", argc, argv);
  double plain = visit_ns(false, 0, &patches[0]), rolling = visit_ns(false, 0.1, &patches[1]),
         box = visit_ns(true, 0, &patches[2]);
  judge_at_most(JUDGE_GOAL, "nonsmooth_contact_ns", plain, "ns a contact and iteration", 40);
  judge_at_most(JUDGE_GOAL, "nonsmooth_rolling_ns", rolling, "ns a contact and iteration", 60);
  judge_note("Heaps of %d bodies: %d contacts of spheres, %d with rolling resistance; of boxes %d "
             "patches at %.0f ns each.",
             WIDE * WIDE * HIGH, patches[0], patches[1], patches[2], box);
  warm_start();
  return judge_close();
}
