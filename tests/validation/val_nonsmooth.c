/* The nonsmooth method against closed forms: contacts, friction, rolling, adhesion, columns, joints; and against a slow
 * solver. */
#include "judge/judge.h"
#include "judge/scene.h"
#include "judge/squeeze.h"
#include "support/materials.h"
#include "support/mechanism.h"
#include "support/problem.h"
#include "support/problem_scene.h"
#include "support/slow_solver.h"

#include "base/mem.h"
#include "shape/superellipsoid.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double PI = 3.141592653589793, R = 0.01, RHO = 2600, G = 9.81;
static const TlQuat UPRIGHT = {1, 0, 0, 0};
enum { BALL = 1000, BLOCK = 1001, CRANK = 1002, ROD = 1003, CUBE = 1004 };
static const double BLOCK_M[3] = {0.02, 0.014, 0.01};

static void open_scene(JudgeScene *s, double h, double young_Pa) {
  judge_scene_open(s);
  s->config = tl_test_nonsmooth();
  s->config.step_s = h;
  s->config.gravity_m_s2 = tl_vec3(0, 0, -G);
  s->config.density_kg_m3 = RHO;
  TL_TEST_SET(&s->config, TL_TEST_BOTH, friction, 0);
  TL_TEST_SET(&s->config, TL_TEST_BOTH, restitution, 0);
  TL_TEST_SET(&s->config, TL_TEST_BOTH, stiffness.young_Pa, young_Pa);
}

static void start_scene(JudgeScene *s) {
  judge_scene_start(s);
  JUDGE_OK(stepper_add_sphere(s->solver, BALL, R));
  const double crank[3] = {CRANK_M, 0.01, 0.01}, rod[3] = {ROD_M, 0.01, 0.01};
  const double cube[3] = {1.4 * R, 1.4 * R, 1.4 * R};
  JUDGE_OK(stepper_add_closed(s->solver, CUBE, &tl_closed_box, cube));
  JUDGE_OK(stepper_add_closed(s->solver, BLOCK, &tl_closed_box, BLOCK_M));
  JUDGE_OK(stepper_add_closed(s->solver, CRANK, &tl_closed_box, crank));
  JUDGE_OK(stepper_add_closed(s->solver, ROD, &tl_closed_box, rod));
}

static double ball_kg(void) {
  return 4.0 / 3 * PI * R * R * R * RHO;
}

/* k of a ball on a plane. */
static double hertz(double young_Pa) {
  const double nu = 0.25;
  return 4.0 / 3 * young_Pa / (2 * (1 - nu * nu)) * sqrt(R);
}

static TlVec3 slope_gravity(double slope) {
  double angle = atan(slope);
  return tl_vec3(G * sin(angle), 0, -G * cos(angle));
}

/* ---- normal force ---- */

/* A ball under ten times its weight: the overlap that Hertz gives. */
static void pressed(void) {
  const double steps[] = {1e-5, 1e-4, 1e-3, 1e-2};
  double worst = 0;
  for (int i = 0; i < 4; i++) {
    JudgeScene s;
    open_scene(&s, steps[i], 1e7);
    s.config.gravity_m_s2 = tl_vec3(0, 0, -10 * G);
    judge_scene_plane(&s, tl_vec3(0, 0, 0), tl_vec3(0, 0, 1));
    start_scene(&s);
    judge_scene_put(&s, BALL, 1, tl_vec3(0, 0, R), UPRIGHT, tl_vec3(0, 0, 0));
    judge_scene_steps(&s, steps[i] < 5e-5 ? 50000 : 5000);
    double due = pow(10 * ball_kg() * G / hertz(1e7), 2.0 / 3);
    worst = fmax(worst, fabs((R - s.bodies.position[0].z) / due - 1));
    judge_scene_close(&s);
  }
  judge_at_most(JUDGE_CORRECT, "nonsmooth_hertz_error", worst, "of the overlap", 1e-3);
}

static double rebound(double h) {
  JudgeScene s;
  double before = 0, after = 0;
  open_scene(&s, h, 1e7);
  TL_TEST_SET(&s.config, TL_TEST_BOTH, restitution, 0.8);
  judge_scene_plane(&s, tl_vec3(0, 0, 0), tl_vec3(0, 0, 1));
  start_scene(&s);
  judge_scene_put(&s, BALL, 1, tl_vec3(0, 0, R + 0.1), UPRIGHT, tl_vec3(0, 0, 0));
  while (!(after > 0)) {
    before = s.bodies.velocity[0].z;
    judge_scene_steps(&s, 1);
    after = s.bodies.velocity[0].z;
  }
  judge_scene_close(&s);
  return (after + G * h) / -before;
}

static void rebounds(void) {
  const double steps[] = {1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3};
  double worst = 0;
  for (int i = 0; i < 6; i++) worst = fmax(worst, fabs(rebound(steps[i]) / 0.8 - 1));
  judge_at_most(JUDGE_CORRECT, "nonsmooth_rebound_error", worst, "of e, steps of 0.1 to 5 ms",
                1e-9);
}

/* ---- a column ---- */

enum { COLUMN = 50 };

/* Largest overlap over eps d, from balls that just touch; the force on the ground at the end. */
static double column(bool warm, int steps, double *force) {
  JudgeScene s;
  double most = 0;
  open_scene(&s, 1e-3, 1e9);
  s.config.nonsmooth.warm = warm;
  s.config.nonsmooth.tolerance = 0;
  judge_scene_plane(&s, tl_vec3(0, 0, 0), tl_vec3(0, 0, 1));
  start_scene(&s);
  for (int k = 0; k < COLUMN; k++)
    judge_scene_put(&s, BALL, 1, tl_vec3(0, 0, (2 * k + 1) * R), UPRIGHT, tl_vec3(0, 0, 0));
  for (int k = 0; k < steps; k++) {
    judge_scene_steps(&s, 1);
    most = fmax(most, fmax(s.report.overlap_m, s.report.boundary_overlap_m));
  }
  TlContactRow *rows;
  int64_t count;
  JUDGE_OK(stepper_contacts(s.solver, &s.bodies, &rows, &count));
  *force = 0;
  for (int64_t i = 0; i < count; i++)
    if (rows[i].second < 0) *force += rows[i].force_N.z / (COLUMN * ball_kg() * G);
  tl_free(rows);
  judge_scene_close(&s);
  return most / (0.01 * 2 * R);
}

static void columns(void) {
  double force, cold_force, warm = column(true, 5000, &force),
                            cold = column(false, 2000, &cold_force);
  judge_at_most(JUDGE_CORRECT, "nonsmooth_column_overlap_warm", warm, "of eps d", 1);
  judge_at_most(JUDGE_CORRECT, "nonsmooth_column_overlap_cold", cold, "of eps d", 1);
  judge_at_most(JUDGE_CORRECT, "nonsmooth_column_force_error", fabs(force - 1), "of the weight",
                1e-9); /* at rest */
  judge_note("%d balls on end by the rule's iterations: warm %.3g of eps d at most, cold %.3g; the "
             "lowest bears %.5f and %.5f of the weight.",
             COLUMN, warm, cold, force, cold_force);
}

/* ---- friction and rolling ---- */

static void sliding(void) {
  JudgeScene s;
  double mu = 0.4, slope = 0.6, h = 1e-3, angle = atan(slope);
  open_scene(&s, h, 1e8);
  s.config.gravity_m_s2 = slope_gravity(slope);
  TL_TEST_SET(&s.config, TL_TEST_BOTH, friction, mu);
  judge_scene_plane(&s, tl_vec3(0, 0, 0), tl_vec3(0, 0, 1));
  start_scene(&s);
  judge_scene_put(&s, BLOCK, 1, tl_vec3(0, 0, 0.5 * BLOCK_M[2]), UPRIGHT, tl_vec3(0, 0, 0));
  judge_scene_steps(&s, 1000);
  double due = G * (sin(angle) - mu * cos(angle)) * 1000 * h;
  judge_at_most(JUDGE_CORRECT, "nonsmooth_sliding_error", fabs(s.bodies.velocity[0].x / due - 1),
                "of the speed", 1e-3);
  judge_scene_close(&s);
}

/* Speed after 2 s. */
static double incline(double slope) {
  JudgeScene s;
  open_scene(&s, 1e-3, 1e10);
  s.config.gravity_m_s2 = slope_gravity(slope);
  TL_TEST_SET(&s.config, TL_TEST_BOTH, friction, 0.8);
  TL_TEST_SET(&s.config, TL_TEST_BOTH, rolling, 0.2);
  judge_scene_plane(&s, tl_vec3(0, 0, 0), tl_vec3(0, 0, 1));
  start_scene(&s);
  judge_scene_put(&s, BALL, 1, tl_vec3(0, 0, R), UPRIGHT, tl_vec3(0, 0, 0));
  judge_scene_steps(&s, 2000);
  double v = s.bodies.velocity[0].x;
  judge_scene_close(&s);
  return v;
}

static void rolling(void) {
  double angle = atan(0.201), due = 5.0 / 7 * G * (sin(angle) - 0.2 * cos(angle)) * 2;
  judge_at_most(JUDGE_CORRECT, "nonsmooth_incline_rests", fabs(incline(0.199)), "m/s at 0.199",
                1e-12); /* a step of gravity is 1e-2 m/s: rounding */
  judge_between(JUDGE_CORRECT, "nonsmooth_incline_rolls", incline(0.201) / due,
                "of 5/7 g (sin - mu_r cos) t at 0.201", 0.95, 1.05);

  JudgeScene s;
  double mu_r = 0.02, v = 0.5, h = 1e-4, t = 0.2, deep = pow(ball_kg() * G / hertz(1e10), 2.0 / 3);
  open_scene(&s, h, 1e10);
  TL_TEST_SET(&s.config, TL_TEST_BOTH, friction, 0.8);
  TL_TEST_SET(&s.config, TL_TEST_BOTH, rolling, mu_r);
  judge_scene_plane(&s, tl_vec3(0, 0, 0), tl_vec3(0, 0, 1));
  start_scene(&s);
  judge_scene_put(&s, BALL, 1, tl_vec3(0, 0, R - deep), UPRIGHT, tl_vec3(v, 0, 0));
  JUDGE_OK(stepper_refresh(s.solver, &s.bodies));
  tl_bodies_set_spin(&s.bodies, 0, tl_vec3(0, v / R, 0));
  judge_scene_steps(&s, (int)(t / h + 0.5));
  double w = tl_bodies_spin(&s.bodies, 0).y;
  judge_at_most(JUDGE_CORRECT, "nonsmooth_rolling_decay_error",
                fabs(w / (v / R - 5 * mu_r * G * t / (7 * R)) - 1), "of w0 - 5 mu_r g t/(7 r)",
                1e-9);
  judge_scene_close(&s);
}

/* ---- adhesion ---- */

/* A ball under a ceiling, at rest where the contact holds its weight: how far it is after 2 s. */
static double hanging(double weights) {
  JudgeScene s;
  double overlap = 2e-4, pulled = pow(ball_kg() * G / hertz(1e7), 2.0 / 3);
  open_scene(&s, 1e-3, 1e7);
  TL_TEST_SET(&s.config, TL_TEST_BOTH, adhesion_N, ball_kg() * G / weights);
  TL_TEST_SET(&s.config, TL_TEST_BOTH, adhesive_overlap_m, overlap);
  judge_scene_plane(&s, tl_vec3(0, 0, 0), tl_vec3(0, 0, -1));
  start_scene(&s);
  judge_scene_put(&s, BALL, 1, tl_vec3(0, 0, -R + overlap - pulled), UPRIGHT, tl_vec3(0, 0, 0));
  judge_scene_steps(&s, 2000);
  double gap = -R - s.bodies.position[0].z;
  judge_scene_close(&s);
  return gap;
}

static void adhesion(void) {
  judge_at_most(JUDGE_CORRECT, "nonsmooth_adhesion_holds", hanging(0.99), "m gap at 0.99", 0);
  judge_at_least(JUDGE_CORRECT, "nonsmooth_adhesion_lets_go", hanging(1.01), "m gap at 1.01", R);
}

/* ---- contact forces ---- */

/* 216 balls squeezed between six smooth walls by their own places, with friction: the worst of the three normal
 * stresses that contacts give, sum of f (x - x_c) over the volume (Love), over those that the walls bear, less 1. */
static double love(int iterations) {
  enum { WIDE = 6 };
  JudgeScene s;
  TlRandom random = {.seed = 21};
  double most = 0, pitch = 1.96 * R, side = WIDE * pitch;
  open_scene(&s, 1e-3, 1e7);
  TL_TEST_SET(&s.config, TL_TEST_GRAIN, friction, 0.3);
  s.config.gravity_m_s2 = tl_vec3(0, 0, 0);
  s.config.nonsmooth.iterations = iterations;
  s.config.nonsmooth.tolerance = 0;
  judge_scene_box(&s, side, side);
  judge_scene_plane(&s, tl_vec3(0, 0, side), tl_vec3(0, 0, -1));
  start_scene(&s);
  for (int k = 0; k < WIDE * WIDE * WIDE; k++) {
    double off[3];
    for (int i = 0; i < 3; i++) off[i] = 0.004 * R * (tl_random_next(&random) - 0.5);
    judge_scene_put(&s, BALL, 1 - 0.03 * tl_random_next(&random),
                    tl_vec3(pitch * (0.5 + k % WIDE) + off[0],
                            pitch * (0.5 + k / WIDE % WIDE) + off[1],
                            pitch * (0.5 + k / WIDE / WIDE) + off[2]),
                    UPRIGHT, tl_vec3(0, 0, 0));
  }
  judge_scene_steps(&s, 500);
  SqueezeStress stress;
  squeeze_stress(&s, tl_vec3(0.5 * side, 0.5 * side, 0.5 * side), 0.5 * side, &stress);
  for (int k = 0; k < 3; k++) most = fmax(most, fabs(stress.love[k][k] / stress.pressed[k] - 1));
  judge_scene_close(&s);
  return most;
}

/* 64 grains between walls that close on them, smooth or as rough as this: all components of the two stresses, the whole
 * traction of a wall counted, and the asymmetry of the contacts' stress. avatar 0: superellipsoids. */
static void squeezed(const char *name, int64_t avatar, double pitch_m, double wall_friction) {
  bool cubes = avatar == CUBE; /* whose edges are soft */
  Squeeze squeeze = {4, pitch_m, 3e3, 0.05, 0.3, wall_friction, 1200, 300};
  if (cubes) squeeze = (Squeeze){4, pitch_m, 1e4, 0.08, 0.3, wall_friction, 2500, 500};
  const char *walls = wall_friction > 0 ? "rough" : "smooth";
  JudgeScene s;
  SqueezeStress stress;
  char figure[80];
  open_scene(&s, 1e-3, cubes ? 2e9 : 3e8);
  s.config.damping_per_s = 5;
  squeeze_walls(&s, &squeeze);
  if (avatar == 0) {
    TlAvatar grain;
    JUDGE_OK(tl_avatar_superellipsoid(0.010, 0.008, 0.007, 0.6, 0.8, 0.0007, 400, &grain));
    avatar = judge_scene_avatar(&s, &grain);
  }
  start_scene(&s);
  squeeze_run(&s, avatar, &squeeze, &stress);
  snprintf(figure, sizeof figure, "nonsmooth_love_%s_%s_error", name, walls);
  judge_at_most(JUDGE_CORRECT, figure, squeeze_error(&stress),
                "of the walls' stress, all components", 0.005);
  if (cubes) {
    snprintf(figure, sizeof figure, "nonsmooth_love_%s_%s_asymmetry", name, walls);
    judge_at_most(JUDGE_CORRECT, figure, squeeze_asymmetry(&stress), "of the mean pressure", 0.005);
  }
  double pressed = 0, shown = stress.pressed[0] + stress.pressed[1] + stress.pressed[2];
  for (int k = 0; k < 3; k++) pressed = fmax(pressed, fabs(stress.love[k][k] - stress.pressed[k]));
  judge_note(
      "%s between %s walls: %.2g of the mean contact force is the mean resultant on a grain; "
      "from the walls' normal forces alone a stress would be off by %.2g%%; without the "
      "resultants the stresses differ by %.2g%%; overlap %.2g%% of the radius at most.",
      name, walls, stress.unbalanced, 300 * pressed / fabs(shown),
      100 * squeeze_still_error(&stress),
      100 * fmax(s.report.overlap_share, s.report.boundary_overlap_share));
  judge_scene_close(&s);
}

static void stresses(void) {
  judge_at_most(JUDGE_CORRECT, "nonsmooth_love_error", love(20),
                "of the walls' stress, 20 iterations a step", 0.005);
  squeezed("balls", BALL, 2.1 * R, 0.5);
  squeezed("cubes", CUBE, 2.45 * R, 0);
  squeezed("cubes", CUBE, 2.45 * R, 0.5);
  squeezed("superellipsoids", 0, 2.6 * R, 0);
  squeezed("superellipsoids", 0, 2.6 * R, 0.5);
}

/* ---- joints ---- */

static void open_joints(JudgeScene *s, double h) {
  open_scene(s, h, 1e8);
  s->config.nonsmooth.tolerance = 1e-10;
  s->config.nonsmooth.iterations = 5000;
}

static void pendulum(void) {
  JudgeScene s;
  double l = 0.5, a = 0.1, due = mechanism_period(l, R, G, a), h = due / 200, period = NAN;
  open_joints(&s, h);
  start_scene(&s);
  JUDGE_OK(mechanism_hang(&s.bodies, BALL, l, a));
  JUDGE_OK(mechanism_time(s.solver, &s.bodies, h, 4100, &period));
  judge_at_most(JUDGE_CORRECT, "nonsmooth_pendulum_error", fabs(period / due - 1),
                "of the period, 0.1 rad at T/200", 1e-3);
  judge_scene_close(&s);
}

/* A swing of 1 rad. An anchor lags by a h^2/(4 Upsilon) where the arm takes up the acceleration a = 2 g (1 - cos 1)
 * (Correction 27b): bounded by 0.5 a h^2, and the last swings no worse than the first. */
static void drift(void) {
  JudgeScene s;
  double l = 0.5, h = mechanism_period(l, R, G, 0) / 200, most = 0, late = 0;
  open_joints(&s, h);
  start_scene(&s);
  JUDGE_OK(mechanism_hang(&s.bodies, BALL, l, 1));
  for (int k = 0; k < 100000; k++) {
    judge_scene_steps(&s, 1);
    double off = mechanism_drift(&s.bodies, l);
    if (k < 1000) most = fmax(most, off);
    if (k >= 99000) late = fmax(late, off);
  }
  judge_at_most(JUDGE_CORRECT, "nonsmooth_joint_lag", most / (G * (1 - cos(1)) * h * h),
                "of a h^2/2 of the arm's end", 1);
  judge_at_most(JUDGE_CORRECT, "nonsmooth_joint_drift", late / most,
                "of the first 1,000 steps' lag, 99,000 steps later", 1.01);
  judge_scene_close(&s);
}

static void slider_crank(void) {
  JudgeScene s;
  double worst = 0, angle;
  open_joints(&s, 1.0 / 400);
  s.config.gravity_m_s2 = tl_vec3(0, 0, 0);
  start_scene(&s);
  JUDGE_OK(mechanism_crank(&s.bodies, CRANK, ROD, BLOCK, 2 * PI));
  for (int k = 0; k < 1200; k++) {
    judge_scene_steps(&s, 1);
    double error = mechanism_crank_error(&s.bodies, &angle);
    if (k > 20) worst = fmax(worst, fabs(error));
  }
  judge_at_most(JUDGE_CORRECT, "nonsmooth_slider_crank_error", worst, "of the slide's place, T/400",
                1e-3);
  judge_scene_close(&s);
}

/* ---- problems of one step ---- */

enum { KINDS = 4, SMALL_PROBLEMS = 8 };
static const char *const kind_name[KINDS] = {"spheres, no friction", "spheres",
                                             "boxes, no friction", "boxes"};
static bool boxes_of(int kind) {
  return kind >= 2;
}
static double friction_of(int kind) {
  return kind % 2 ? 0.5 : 0;
}

/* Residual that the fast solver leaves, as the slow one sees it, and by how much their velocities differ, over g h. */
static void against_slow(int kind, uint64_t seed, double worst[3]) {
  ProblemScene scene;
  Problem problem;
  Slow slow;
  TlNsBody *start;
  double *fast, fall = G * 1e-3;
  int64_t iterations;
  JUDGE_OK(problem_scene_small(&scene, boxes_of(kind), friction_of(kind), seed));
  JUDGE_OK(problem_of(&problem, scene.solver, &scene.bodies));
  TlNsProblem *q = &problem.rows.problem;
  JUDGE_OK(slow_make(&slow, q, PROBLEM_R));
  worst[0] = fmax(worst[0], slow_solve(&slow, 1e-8 * fall) / fall);
  JUDGE_OK(TL_NEW(start, (size_t)q->bodies));
  JUDGE_OK(TL_NEW(fast, (size_t)slow.rows + 1));
  memcpy(start, q->body, (size_t)q->bodies * sizeof *start);
  JUDGE_OK(problem_solve(&problem, 100000, 1e-10 * fall, &iterations));
  slow_take(q, fast);
  for (int32_t i = 0; i < q->bodies; i++) { /* start: velocities of the fast solver from here on */
    TlNsBody end = q->body[i];
    q->body[i] = start[i];
    start[i] = end;
  }
  worst[1] = fmax(worst[1], slow_residual(&slow, fast) / fall);
  slow_move(&slow, slow.lambda, false);
  for (int32_t i = 0; i < q->bodies - 1; i++)
    worst[2] = fmax(worst[2], (tl_norm(tl_sub(slow.body[i].v, start[i].v)) +
                               PROBLEM_R * tl_norm(tl_sub(slow.body[i].w, start[i].w))) /
                                  fall);
  tl_free(start);
  tl_free(fast);
  slow_free(&slow);
  problem_free(&problem);
  problem_scene_free(&scene);
}

/* Contacts of the problem after 0.15 s, and iterations from nothing to 1e-4 of g h, without and with steps beyond
 * sweeps. */
static void iterations_of(int kind, int wide, int high, FILE *data) {
  ProblemScene scene;
  int64_t contacts = 0, iterations[2];
  JUDGE_OK(problem_scene_make(&scene, boxes_of(kind), friction_of(kind), 1, wide,
                              wide * wide * high, 150));
  scene.solver->model->nonsmooth.warm = false;
  for (int beyond = 0; beyond < 2; beyond++) {
    Problem problem;
    scene.solver->model->nonsmooth.solver = beyond ? TL_NS_EXTRAPOLATED : TL_NS_SWEEPS;
    JUDGE_OK(problem_of(&problem, scene.solver, &scene.bodies));
    JUDGE_OK(problem_solve(&problem, 100000, 1e-4 * G * 1e-3, &iterations[beyond]));
    contacts = problem.rows.problem.patches;
    problem_free(&problem);
  }
  fprintf(data, "%lld %lld %lld\n", (long long)contacts, (long long)iterations[0],
          (long long)iterations[1]);
  problem_scene_free(&scene);
}

static void problems(void) {
  static const int size[][2] = {{2, 2}, {2, 3}, {2, 4}, {3, 3}, {3, 4},
                                {4, 4}, {5, 5}, {6, 6}, {8, 8}};
  double worst[3] = {0};
  char script[2400] = "set key outside top center maxcols 2; set logscale xy; set xrange [5:3000]\n"
                      "set xlabel 'contacts, or patches of boxes'\n"
                      "set ylabel 'iterations to a residual of 1e-4 g h, from nothing'\nplot ";
  FILE *data = judge_data("nonsmooth_iterations.dat");
  for (int kind = 0; kind < KINDS; kind++) {
    for (uint64_t seed = 0; seed < SMALL_PROBLEMS; seed++) against_slow(kind, seed, worst);
    for (size_t k = 0; k < sizeof size / sizeof *size; k++)
      iterations_of(kind, size[k][0], size[k][1], data);
    fprintf(data, "\n\n");
    size_t used = strlen(script);
    snprintf(
        script + used, sizeof script - used,
        "'nonsmooth_iterations.dat' index %d using 1:2 with linespoints dt 2 pt %d lc %d title "
        "'%s, sweeps', '' index %d using 1:3 with linespoints lw 2 pt %d lc %d title "
        "'%s, steps beyond them'%s",
        kind, 4 + 2 * kind, kind + 1, kind_name[kind], kind, 5 + 2 * kind, kind + 1,
        kind_name[kind], kind + 1 < KINDS ? ", " : "\n");
  }
  fclose(data);
  judge_at_most(JUDGE_CORRECT, "nonsmooth_problems_slow", worst[0],
                "of g h: residual of the slow solver, 32 problems", 1e-8);
  judge_at_most(JUDGE_CORRECT, "nonsmooth_problems_residual", worst[1],
                "of g h: residual of the fast solver", 1e-6);
  judge_at_most(JUDGE_CORRECT, "nonsmooth_problems_apart", worst[2], "of g h: velocities by both",
                1e-4);
  judge_gnuplot("nonsmooth_iterations", script);
}

int main(int argc, char **argv) {
  judge_open("nonsmooth", argc, argv);
  pressed();
  rebounds();
  columns();
  sliding();
  rolling();
  adhesion();
  stresses();
  pendulum();
  drift();
  slider_crank();
  problems();
  return judge_close();
}
