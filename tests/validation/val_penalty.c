/* The penalty method against closed forms. Studies that go by impulses as well are judged by both
 * in their own programs. */
#include "judge/judge.h"
#include "support/loop.h"
#include "support/materials.h"
#include "judge/pyramid.h"
#include "judge/scene.h"
#include "shape/superellipsoid.h"
#include "solve/law.h"

#include "base/mem.h"

#include <math.h>
#include <string.h>

static const double PI = 3.14159265358979323846, R = 0.01, DENSITY = 2600;
static const TlQuat UPRIGHT = {1, 0, 0, 0};
enum { BALL = 100, BRICK = 101 };

static double ball_mass(void) {
  return 4.0 / 3 * PI * R * R * R * DENSITY;
}

static int law_of(const char *name) {
  for (int i = 0; i < tl_law_count(); i++)
    if (strcmp(tl_law(i)->name, name) == 0) return i;
  judge_ok(tl_fail(TL_EUSAGE, "no law %s", name), "law_of");
  return -1;
}

/* No gravity, no friction, nothing lost; k = 1e5 N/m or E = 1e8 Pa at the deepest point. */
static void open_scene(JudgeScene *s, const char *law, double step_s) {
  judge_scene_open(s);
  TlSolverConfig *c = &s->config;
  c->method = TL_PENALTY;
  c->gravity_m_s2 = tl_vec3(0, 0, 0);
  c->density_kg_m3 = DENSITY;
  TL_TEST_SET(c, TL_TEST_BOTH, friction, 0);
  TL_TEST_SET(c, TL_TEST_BOTH, restitution, 1);
  c->search.sides = TL_SIDES_LOWER;
  c->step_s = step_s;
  c->penalty.law = law_of(law);
  c->penalty.spread = TL_SPREAD_DEEPEST;
  TL_TEST_SET(c, TL_TEST_BOTH, stiffness.normal_N_m, 1e5);
  TL_TEST_SET(c, TL_TEST_BOTH, stiffness.young_Pa, 1e8);
}

/* ---- two spheres ---- */

typedef struct Blow {
  double time, force;
} Blow;

static Blow blow(const char *law, double dt, double v) {
  JudgeScene s;
  Blow b = {0};
  open_scene(&s, law, dt);
  judge_scene_start(&s);
  JUDGE_OK(stepper_add_sphere(s.solver, BALL, R));
  judge_scene_put(&s, BALL, 1, tl_vec3(0, 0, 0), UPRIGHT, tl_vec3(v, 0, 0));
  judge_scene_put(&s, BALL, 1, tl_vec3(2 * R, 0, 0), UPRIGHT, tl_vec3(-v, 0, 0));
  for (int i = 0; i < 100000; i++) {
    judge_scene_steps(&s, 1);
    if (i > 3 && s.report.touching == 0) break;
    b.time += dt;
    b.force = fmax(b.force, s.report.contact_N);
  }
  judge_scene_close(&s);
  return b;
}

/* m reduced. Linear: pi sqrt(m/k), u sqrt(k m). Hertz: delta = (5 m u^2/(4 K))^(2/5), K = 4/3 E*
 * sqrt(r*), T = 2.943275 delta/u, K delta^1.5 (Johnson 1985, 11.4). */
static void blows(void) {
  double v = 0.1, u = 2 * v, m = 0.5 * ball_mass(), k = 1e5, time = PI * sqrt(m / k);
  Blow linear = blow("linear", time / 1237.3, v);
  judge_at_most(JUDGE_CORRECT, "penalty_linear_period_error", fabs(linear.time / time - 1),
                "of pi sqrt(m/k)", 5e-3);
  judge_at_most(JUDGE_CORRECT, "penalty_linear_force_error",
                fabs(linear.force / (u * sqrt(k * m)) - 1), "of u sqrt(k m)", 5e-3);
  double nu = 0.25, hertz = 4.0 / 3 * 1e8 / (2 * (1 - nu * nu)) * sqrt(0.5 * R);
  double deep = pow(1.25 * m * u * u / hertz, 0.4);
  time = 2.943275 * deep / u;
  Blow curved = blow("hertz", time / 1237.3, v);
  judge_at_most(JUDGE_CORRECT, "penalty_hertz_period_error", fabs(curved.time / time - 1), "of T",
                5e-3);
  judge_at_most(JUDGE_CORRECT, "penalty_hertz_force_error",
                fabs(curved.force / (hertz * pow(deep, 1.5)) - 1), "of K delta^1.5", 5e-3);
  judge_note(
      "Two equal spheres, 1237.3 steps a contact: linear %.4g s and %.4g N, Hertz %.4g s and "
      "%.4g N.",
      linear.time, linear.force, curved.time, curved.force);
}

/* ---- closed loops ---- */

enum { LOOPS = 200, ROUGH_LOOPS = 40 }; /* elements without lists are dear */

/* Median and 90% quantile of the work around the loops. */
static void loop_rows(const char *what, TlAvatar *grain, int loops, double median_goal,
                      double high_goal) {
  static const char *const mark[] = {"", "_nodes"};
  double work[LOOP_HOWS][LOOPS];
  char name[64];
  JUDGE_OK(loop_works(grain, loops, (double *[]){work[0], work[1], work[2]}));
  tl_avatar_free(grain);
  for (int how = LOOP_SURFACE; how <= LOOP_NODES; how++) {
    snprintf(name, sizeof name, "penalty_loop_work_%s%s", what, mark[how]);
    judge_at_most(JUDGE_GOAL, name, work[how][loops / 2], "of the elastic energy", median_goal);
    snprintf(name, sizeof name, "penalty_loop_work_%s%s_90", what, mark[how]);
    judge_at_most(JUDGE_GOAL, name, work[how][9 * loops / 10], "of the elastic energy", high_goal);
  }
  judge_note("%d closed loops, %s, by nodes with the direction of the gradient alone: %.2g in the "
             "median, %.2g at the 90%% quantile.",
             loops, what, work[LOOP_UNIT][loops / 2], work[LOOP_UNIT][9 * loops / 10]);
}

/* Goals: the best that was measured elsewhere for the raw gradient, 0.005 and 0.04% (superellipsoid),
 * 0.004 and 0.17% (cube). Over all its shapes that prototype had 0.005 to 0.04%, at worst 0.26%: the goals
 * of a grain like those of scans, with hollows, whose surface bears by elements. Set before its first run. */
static void loops(void) {
  TlAvatar grain;
  JUDGE_OK(tl_avatar_superellipsoid(0.012, 0.010, 0.008, 0.6, 0.8, 0.001, 300, &grain));
  loop_rows("superellipsoid", &grain, LOOPS, 5e-5, 4e-4);
  JUDGE_OK(tl_avatar_box(0.010, 0.010, 0.010, 0.001, 300, &grain));
  loop_rows("box", &grain, LOOPS, 4e-5, 1.7e-3);
  judge_grain(TL_GRAIN_CONCAVE, 0.012, 24, 800, 7, &grain);
  loop_rows("rough", &grain, ROUGH_LOOPS, 4e-4, 2.6e-3);
}

/* ---- a column ---- */

static void column(void) {
  enum { BALLS = 10 };
  JudgeScene s;
  open_scene(&s, "linear", 2e-5);
  s.config.gravity_m_s2 = tl_vec3(0, 0, -9.81);
  TL_TEST_SET(&s.config, TL_TEST_BOTH, restitution, 0.2);
  judge_scene_plane(&s, tl_vec3(0, 0, 0), tl_vec3(0, 0, 1));
  judge_scene_start(&s);
  JUDGE_OK(stepper_add_sphere(s.solver, BALL, R));
  for (int k = 0; k < BALLS; k++)
    judge_scene_put(&s, BALL, 1, tl_vec3(0, 0, (2 * k + 1) * R), UPRIGHT, tl_vec3(0, 0, 0));
  judge_scene_steps(&s, 100000);
  TlContactRow *rows;
  int64_t count;
  double worst = 0;
  JUDGE_OK(stepper_contacts(s.solver, &s.bodies, &rows, &count));
  for (int64_t i = 0; i < count;
       i++) { /* of the lower ball, from above; of the floor, from below */
    int64_t below = rows[i].second < 0 ? -1 : rows[i].first;
    double want = (double)(BALLS - 1 - below) * ball_mass() * 9.81;
    worst = fmax(worst, fabs(fabs(rows[i].force_N.z) / want - 1));
  }
  tl_free(rows);
  judge_between(JUDGE_CORRECT, "penalty_column_contacts", (double)count, "contacts", BALLS, BALLS);
  judge_at_most(JUDGE_CORRECT, "penalty_column_force_error", worst, "of k m g", 1e-9);
  judge_scene_close(&s);
}

/* ---- a sphere of nodes on a plate ---- */

enum { TURNS = 8 };

typedef struct Plate {
  double mean, rms; /* force, N; error of one, of kn pi R d^2 */
} Plate;

/* R that of the nodes, d a fraction of it from them: their surface lies a little inside the sphere's. By
 * places R is the sphere's own. */
static Plate plate(int32_t nodes, TlSpread spread, TlEdges edges, double fraction) {
  JudgeScene s;
  TlAvatar ball;
  Plate p = {0};
  open_scene(&s, "linear", 1e-6);
  s.config.penalty.spread = spread;
  s.config.search.edges = edges;
  s.config.search.sides = spread == TL_SPREAD_NODES ? TL_SIDES_LOWER : TL_SIDES_BOTH;
  TL_TEST_SET(&s.config, TL_TEST_BOTH, stiffness,
              (TlStiffness){.normal_N_m = 1e6, .normal_Pa_m = 1e8});
  JUDGE_OK(tl_avatar_sphere(1, 0.05, nodes, &ball));
  double radius = 0;
  for (int32_t k = 0; k < ball.node_count; k++) {
    const float *x = &ball.node_m[3 * k];
    radius += tl_norm(tl_vec3((double)x[0], (double)x[1], (double)x[2])) / ball.node_count;
  }
  if (edges == TL_EDGES_PLACES) radius = 1;
  int64_t id = judge_scene_avatar(&s, &ball);
  judge_scene_plane(&s, tl_vec3(0, 0, 0), tl_vec3(0, 0, 1));
  judge_scene_start(&s);
  for (int k = 0; k < TURNS; k++)
    judge_scene_put(&s, id, 1, tl_vec3(3 * k, 0, (1 - fraction) * radius),
                    tl_quat_from_rotation(tl_vec3(0.7 * k, 1.1 * k, 0.3 * k)), tl_vec3(0, 0, 0));
  judge_scene_steps(&s, 1);
  TlContactRow *rows;
  int64_t count;
  double want = 1e8 * PI * radius * fraction * fraction * radius * radius;
  JUDGE_OK(stepper_contacts(s.solver, &s.bodies, &rows, &count));
  for (int64_t i = 0; i < count; i++) {
    double force = rows[i].force_N.z;
    p.mean += force / TURNS;
    p.rms += (force / want - 1) * (force / want - 1) / TURNS;
  }
  p.rms = sqrt(p.rms);
  p.mean *= 1 / (radius * radius * radius); /* as at 1 m */
  tl_free(rows);
  judge_scene_close(&s);
  return p;
}

static void plates(void) {
  static const int32_t nodes[3] = {800, 1600, 3200};
  Plate surface[3], points[3];
  for (int i = 0; i < 3; i++) {
    surface[i] = plate(nodes[i], TL_SPREAD_TRACTION, TL_EDGES_NODES, 0.05);
    points[i] = plate(nodes[i], TL_SPREAD_NODES, TL_EDGES_NODES, 0.05);
  }
  Plate patch = plate(100, TL_SPREAD_TRACTION, TL_EDGES_PLACES, 0.005);
  double want = 1e8 * PI * 0.0025;
  judge_at_most(JUDGE_GOAL, "penalty_plate_800_error", fabs(surface[0].mean / want - 1),
                "of 7.854e5 N", 0.01);
  judge_at_most(JUDGE_GOAL, "penalty_plate_3200_error", fabs(surface[2].mean / want - 1),
                "of 7.854e5 N", 0.01);
  judge_at_most(JUDGE_GOAL, "penalty_plate_patch_error", patch.rms, "of kn pi R d^2", 0.01);
  judge_at_most(JUDGE_CORRECT, "penalty_plate_scatter_ratio", surface[2].rms / surface[0].rms,
                "3200 over 800 nodes", 1);
  judge_at_least(JUDGE_CORRECT, "penalty_plate_node_law_ratio", points[2].mean / points[0].mean,
                 "3200 over 800 nodes", 3);
  judge_note("Over the surface, 100 nodes and 0.5%% deep: rms error of one orientation of eight "
             "%.2g.",
             patch.rms);
  for (int i = 0; i < 3; i++)
    judge_note(
        "%d nodes: traction %.4g N, rms error of one orientation of eight %.2g; force a node "
        "(1e6 N/m) %.3g N.",
        (int)nodes[i], surface[i].mean, surface[i].rms, points[i].mean);
}

/* ---- a free body ---- */

static void spinning(void) {
  enum { STEPS = 100000 };
  static const double size[3] = {0.02, 0.03, 0.05};
  JudgeScene s;
  open_scene(&s, "linear", 1e-4);
  TL_TEST_SET(&s.config, TL_TEST_BOTH, stiffness.normal_N_m, 1e4);
  judge_scene_start(&s);
  JUDGE_OK(stepper_add_closed(s.solver, BRICK, &tl_closed_box, size));
  judge_scene_put(&s, BRICK, 1, tl_vec3(0, 0, 0), UPRIGHT, tl_vec3(0, 0, 0));
  JUDGE_OK(stepper_refresh(s.solver, &s.bodies));
  tl_bodies_set_spin(&s.bodies, 0, tl_vec3(0.5, 20, 1));
  TlVec3 start = s.bodies.momentum[0], inertia = s.bodies.inertia[0];
  double energy = 0.5 * tl_dot(tl_bodies_spin(&s.bodies, 0), start), worst = 0, lost = 0;
  for (int i = 0; i < STEPS; i++) {
    judge_scene_steps(&s, 1);
    TlVec3 w = tl_bodies_spin(&s.bodies, 0);
    TlVec3 back = tl_sym_vec(tl_bodies_rotated(&s.bodies, 0, inertia), w);
    worst = fmax(worst, tl_norm(tl_sub(back, start)) / tl_norm(start));
    lost = fmax(lost, fabs(0.5 * tl_dot(w, start) / energy - 1));
  }
  judge_at_most(JUDGE_CORRECT, "penalty_spin_momentum_error", worst, "of L", 1e-12);
  judge_at_most(JUDGE_CORRECT, "penalty_spin_energy_error", lost, "of the energy", 1e-6);
  judge_note(
      "A brick of 20, 30 and 50 mm turns about its middle axis at 20 rad/s, 1e5 steps of 1e-4 "
      "s: I w at each step against the start.");
  judge_scene_close(&s);
}

int main(int argc, char **argv) {
  judge_open("penalty", argc, argv);
  blows();
  loops();
  column();
  plates();
  spinning();
  judge_at_most(JUDGE_CORRECT, "penalty_pyramid_error",
                fabs(pyramid_least_friction("penalty") - (sqrt(3) - sqrt(2))), "friction", 0.001);
  return judge_close();
}
