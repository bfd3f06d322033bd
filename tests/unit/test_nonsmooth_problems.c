/* Problems of one step, made by the method from 32 scenes, against a slow solver that shares nothing with
 * the fast one but the rows: accelerated projected gradients over all rows at once, in sparse form, to a
 * residual of 1e-8 of the velocity that gravity gives in a step. */

#include "support/problem.h"
#include "support/problem_file.h"
#include "support/problem_scene.h"
#include "support/slow_solver.h"
#include "support/tltest.h"

#include "base/file.h"
#include "run/step_problems.h"
#include "solve/islands.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double G = PROBLEM_G, R = PROBLEM_R;

/* ---- both ---- */

static double apart_of(const TlNsProblem *q, const TlNsBody *a, const TlNsBody *b) {
  double apart = 0;
  for (int32_t i = 0; i < q->bodies - 1; i++)
    apart = fmax(apart, tl_norm(tl_sub(a[i].v, b[i].v)) + R * tl_norm(tl_sub(a[i].w, b[i].w)));
  return apart;
}

/* moves: all slide over each other and spin about the vertical, each at speeds of its own up to this, m/s. */
static void compare(TlNsSolver solver, bool boxes, double friction, double moves, uint64_t seed,
                    int64_t *sum) {
  ProblemScene lab;
  Problem problem;
  Slow slow;
  CK_OK(problem_scene_small(&lab, boxes, friction, seed));
  for (int64_t i = 0; moves > 0 && i < lab.bodies.owned; i++) {
    double draw[3];
    for (int k = 0; k < 3; k++)
      draw[k] = 2 * tl_random_uniform(seed, 7, 3 * (uint64_t)i + (uint64_t)k) - 1;
    double fraction = moves * pow(0.1, (double)(i % 3));
    lab.bodies.velocity[i] = tl_scale(fraction, tl_vec3(draw[0], draw[1], 0));
    tl_bodies_set_spin(&lab.bodies, i, tl_vec3(0, 0, moves * draw[2] / R));
  }
  lab.solver->model->nonsmooth.solver = solver;
  CK_OK(problem_of(&problem, lab.solver, &lab.bodies));
  TlNsProblem *q = &problem.rows.problem;
  ck_assert_int_ge(q->patches, 4);
  CK_OK(slow_make(&slow, q, R));
  double fall = G * 1e-3, reached = slow_solve(&slow, 1e-8 * fall);
  ck_assert_msg(reached <= 1e-8 * fall, "the slow solver stops at %g of g h", reached / fall);
  TlNsBody *start;
  CK_OK(TL_NEW(start, (size_t)q->bodies));
  memcpy(start, q->body, (size_t)q->bodies * sizeof *start);
  int64_t iterations;
  CK_OK(problem_solve(&problem, 100000, 1e-10 * fall, &iterations));
  *sum += iterations;
  double *fast;
  CK_OK(TL_NEW(fast, (size_t)slow.rows + 1));
  slow_take(q, fast);
  TlNsBody *end;
  CK_OK(TL_NEW(end, (size_t)q->bodies));
  memcpy(end, q->body, (size_t)q->bodies * sizeof *end);
  memcpy(q->body, start, (size_t)q->bodies * sizeof *start);
  double left = slow_residual(&slow, fast);
  ck_assert_msg(left < 1e-6 * fall, "seed %llu, %s, friction %g: residual %g of g h",
                (unsigned long long)seed, boxes ? "boxes" : "spheres", friction, left / fall);
  slow_move(&slow, slow.lambda, false);
  double apart = apart_of(q, slow.body, end);
  /* residuals of 1e-8 and 1e-6, over the least eigenvalue of a pile of so few */
  ck_assert_msg(apart < 1e-4 * fall, "seed %llu, %s, friction %g: velocities %g of g h apart",
                (unsigned long long)seed, boxes ? "boxes" : "spheres", friction, apart / fall);
  tl_free(end);
  tl_free(fast);
  tl_free(start);
  slow_free(&slow);
  problem_free(&problem);
  problem_scene_free(&lab);
}

/* Steps beyond sweeps come to the same answers, with fewer iterations in all: of so few bodies somewhat fewer, of
 * heaps see bench_nonsmooth. */
static void compare_eight(bool boxes, double friction) {
  static const TlNsSolver solver[] = {TL_NS_SWEEPS, TL_NS_EXTRAPOLATED, TL_NS_GRADIENTS};
  int64_t in_order[3] = {0}, by_cells[3] = {0};
  for (uint64_t seed = 0; seed < 8; seed++)
    for (int k = 0; k < 3; k++) {
      compare(solver[k], boxes, friction, 0, seed, &in_order[k]);
      tl_islands_set_small(3); /* larger ones are swept cell by cell of four grids */
      compare(solver[k], boxes, friction, 0, seed, &by_cells[k]);
      tl_islands_set_small(0);
    }
  for (int k = 1; k < 3; k++)
    ck_assert_msg(
        in_order[k] < in_order[0] && by_cells[k] < by_cells[0],
        "%lld and by cells %lld iterations with steps beyond sweeps, %lld and %lld without",
        (long long)in_order[k], (long long)by_cells[k], (long long)in_order[0],
        (long long)by_cells[0]);
}

START_TEST(problems_of_spheres_without_friction) {
  compare_eight(false, 0);
}
END_TEST

START_TEST(problems_of_spheres_with_friction) {
  compare_eight(false, 0.5);
}
END_TEST

START_TEST(problems_of_patches_without_friction) {
  compare_eight(true, 0);
}
END_TEST

START_TEST(problems_of_patches_with_friction) {
  compare_eight(true, 0.5);
}
END_TEST

/* Faces that slide and twist at once, in all proportions. */
START_TEST(problems_of_patches_that_glide) {
  static const double moves[] = {0.003, 0.03, 0.3};
  int64_t sum = 0;
  for (uint64_t seed = 0; seed < 4; seed++)
    for (int k = 0; k < 3; k++) compare(TL_NS_EXTRAPOLATED, true, 0.5, moves[k], seed, &sum);
}
END_TEST

/* ---- problems as files ---- */

/* The least that a solver of such files needs: sweeps in the order of the file. */
static void sweep_all(const TlNsProblem *q, int sweeps) {
  TlNsRange range = {.last = q->patches};
  tl_nonsmooth_warm(q, &range);
  for (int k = 0; k < sweeps; k++) tl_nonsmooth_sweep(q, &range);
}

/* What is read is what was written, to the bit, and the slow solver and sweeps give one answer to it. */
static void keep(const char *path, bool boxes, double friction, uint64_t seed) {
  ProblemScene lab;
  Problem problem;
  TlNsProblem read, again;
  Slow slow;
  double fall = G * 1e-3;
  CK_OK(problem_scene_small(&lab, boxes, friction, seed));
  CK_OK(problem_of(&problem, lab.solver, &lab.bodies));
  const TlNsProblem *q = &problem.rows.problem;
  CK_OK(tl_step_problem_write(path, 7, 0.007, q));
  problem_read(path, &read);
  problem_read(path, &again);
  ck_assert(read.bodies == q->bodies && read.patches == q->patches && read.points == q->points &&
            read.resists == q->resists);
  CK_OK(slow_make(&slow, &again, R));
  double reached = slow_solve(&slow, 1e-8 * fall);
  ck_assert_msg(reached <= 1e-8 * fall, "the slow solver stops at %g of g h", reached / fall);
  sweep_all(&read, 20000);
  sweep_all(q, 20000);
  for (int32_t i = 0; i < q->bodies; i++)
    ck_assert(memcmp(&read.body[i].v, &q->body[i].v, 2 * sizeof(TlVec3)) == 0);
  slow_move(&slow, slow.lambda, false);
  double apart = apart_of(&read, slow.body, read.body);
  ck_assert_msg(apart < 1e-4 * fall, "%s: velocities %g of g h apart", path, apart / fall);
  slow_free(&slow);
  problem_lists_free(&read);
  problem_lists_free(&again);
  problem_free(&problem);
  problem_scene_free(&lab);
}

START_TEST(problems_are_kept_as_files) {
  int files = 0;
  for (int kind = 0; kind < 4; kind++)
    for (uint64_t seed = 0; seed < 8; seed++) {
      char path[600];
      snprintf(path, sizeof path, "%s/problem_%06d.h5", tl_test_folder(), ++files);
      keep(path, kind / 2, kind % 2 ? 0.5 : 0, seed);
    }
  ck_assert_int_ge(files, 30);
}
END_TEST

/* ---- patches that bear nothing ---- */

/* Sweeps that pass over idle patches end where sweeps that visit all of them do, to the bit; how many times one
 * was passed over. */
static int64_t sweep_both_ways(bool boxes, uint64_t seed) {
  enum { SWEEPS = 60 };
  ProblemScene lab[2];
  Problem problem[2];
  int64_t idle = 0;
  for (int all = 0; all < 2; all++) {
    CK_OK(problem_scene_make(&lab[all], boxes, 0.5, seed, 2, boxes ? 8 : 13, 30 + 15 * (int)seed));
    CK_OK(problem_of(&problem[all], lab[all].solver, &lab[all].bodies));
    TlNsProblem *q = &problem[all].rows.problem;
    TlNsRange range = {.last = q->patches};
    for (int32_t i = 0; i < q->bodies - 1; i++) /* some fly towards each other */
      q->body[i].v.x += 0.2 * tl_random_uniform(seed, 2, (uint64_t)i) - 0.1;
    for (int k = 0; k < SWEEPS; k++) {
      for (int32_t i = 0; i < q->patches; i++) {
        idle += !all && k > 0 && q->patch[i].idle_until > -INFINITY;
        if (all) q->patch[i].idle_until = -INFINITY;
      }
      tl_nonsmooth_sweep(q, &range);
    }
  }
  const TlNsProblem *one = &problem[0].rows.problem, *two = &problem[1].rows.problem;
  for (int32_t i = 0; i < one->bodies; i++) {
    ck_assert(memcmp(&one->body[i].v, &two->body[i].v, sizeof(TlVec3)) == 0);
    ck_assert(memcmp(&one->body[i].w, &two->body[i].w, sizeof(TlVec3)) == 0);
  }
  for (int32_t k = 0; k < one->points; k++) ck_assert(one->point[k].lambda == two->point[k].lambda);
  for (int all = 0; all < 2; all++) {
    problem_free(&problem[all]);
    problem_scene_free(&lab[all]);
  }
  return idle;
}

START_TEST(idle_patches_are_passed_over_without_a_change) {
  int64_t idle = 0;
  for (uint64_t seed = 0; seed < 6; seed++)
    idle += sweep_both_ways(false, seed) + sweep_both_ways(true, seed);
  ck_assert_int_ge(idle, 1000);
}
END_TEST

/* ---- faces whose load moves ---- */

/* A block of 1 kg bears at two points of a face, at its centre of force and 5 mm from it, with shear of this fraction of
 * what they can bear and a small moment about the normal. In one visit the far point lets go, so that nothing is left
 * to twist about: the shear stays what it was, up to what the point at the centre can bear. Gives that fraction. */
static double shear_left(double fraction, double moment) {
  enum { POINTS = 2 };
  const double far_m = 0.005;
  TlSym3 round = {100, 100, 100, 0, 0, 0};
  TlNsBody body[2] = {{.inverse_mass = 1, .inverse_inertia = round}, {.inverse_mass = 0}};
  TlVec3 n = {0, 0, 1}, down = {0, 0, -0.01};
  TlNsPoint point[POINTS] = {{.lambda = 1, .arm = 1e-18}, {.lambda = 0.01, .arm = far_m}};
  TlNsArm arm[POINTS];
  TlNsResist resist = {.spread = 1, .lambda = {moment, 0, 0}};
  TlNsPatch patch = {.b = 1,
                     .count = POINTS,
                     .n = n,
                     .t1 = {1, 0, 0},
                     .t2 = {0, 1, 0},
                     .ra = down,
                     .friction = 0.5,
                     .lambda = {fraction * 0.5, 0}};
  TlNsProblem q = {.body = body,
                   .patch = &patch,
                   .point = point,
                   .arm = arm,
                   .resist = &resist,
                   .bodies = 2,
                   .patches = 1,
                   .points = POINTS,
                   .resists = 1};
  TlNsRange range = {.last = 1};
  for (int k = 0; k < POINTS; k++) {
    TlVec3 r = {k * far_m, 0, down.z};
    arm[k] = (TlNsArm){.n = n, .ran = tl_cross(r, n)};
  }
  point[1].rhs = -1; /* a gap */
  tl_nonsmooth_prepare(&q, &patch);
  tl_nonsmooth_sweep(&q, &range);
  ck_assert(point[1].lambda == 0);
  ck_assert_double_le(fabs(resist.lambda[0]), 1e-17);
  return hypot(patch.lambda[0], patch.lambda[1]) / (0.5 * point[0].lambda);
}

START_TEST(a_face_that_bears_at_one_point_keeps_its_shear) {
  static const double fractions[] = {0.2, 0.5, 0.8, 0.98};
  for (int k = 0; k < 4; k++) {
    double without = shear_left(fractions[k], 0);
    ck_assert_double_eq_tol(without, fractions[k], 0.03);
    for (int sign = -1; sign < 2; sign += 2)
      ck_assert_double_eq_tol(shear_left(fractions[k], sign * 3e-9), without, 1e-3);
  }
}
END_TEST

TL_TEST_MAIN("nonsmooth problems", problems_of_spheres_without_friction,
             problems_of_spheres_with_friction, problems_of_patches_without_friction,
             problems_of_patches_with_friction, problems_of_patches_that_glide,
             problems_are_kept_as_files, idle_patches_are_passed_over_without_a_change,
             a_face_that_bears_at_one_point_keeps_its_shear)
