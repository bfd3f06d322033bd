/* The nonsmooth method against closed forms: contacts, friction, rolling, adhesion, columns. */
#include "judge/judge.h"
#include "judge/scene.h"
#include "support/materials.h"

#include "base/mem.h"

#include <math.h>
#include <stdio.h>

static const double PI = 3.141592653589793, R = 0.01, RHO = 2600, G = 9.81;
static const TlQuat UPRIGHT = {1, 0, 0, 0};
enum { BALL = 1000, BLOCK = 1001 };
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
  JUDGE_OK(stepper_add_closed(s->solver, BLOCK, &tl_closed_box, BLOCK_M));
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
                1e-3);
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
                1e-3);
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
                1e-5);
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
                1e-4);
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

int main(int argc, char **argv) {
  judge_open("nonsmooth", argc, argv);
  pressed();
  rebounds();
  columns();
  sliding();
  rolling();
  adhesion();
  return judge_close();
}
