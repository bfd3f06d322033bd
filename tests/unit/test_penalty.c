/* The penalty method against closed forms. */

#include "support/stepper.h"
#include "support/materials.h"
#include "support/placed.h"
#include "support/tltest.h"

#include "base/mem.h"
#include "base/par.h"
#include "base/random.h"
#include "solve/force_lanes.h"
#include "solve/step.h"
#include "shape/superellipsoid.h"

enum { SPHERE = 1, FINE = 2 };
static const double R = 0.01, RHO = 2600;
static const TlQuat UPRIGHT = {1, 0, 0, 0};
static const TlVec3 NONE = {0, 0, 0};

typedef struct Lab {
  TlSolverConfig config;
  TlBoundaryPlane plane[2];
  TlBoundary boundary[2];
  int planes;
  TlAvatar fine;
  Stepper *solver;
  TlBodies bodies;
  TlStepReport report;
} Lab;

static const TlAvatar *get_avatar(void *ctx, int64_t id) {
  Lab *lab = ctx;
  return id == FINE ? &lab->fine : NULL;
}

static double law_of(const char *name) {
  for (int i = 0; i < tl_law_count(); i++)
    if (strcmp(tl_law(i)->name, name) == 0) return i;
  ck_abort_msg("no law %s", name);
  return -1;
}

static void lab_open(Lab *lab, const char *law) {
  memset(lab, 0, sizeof *lab);
  tl_par_set_threads(1);
  TlSolverConfig c = tl_test_config();
  c.method = TL_PENALTY;
  c.gravity_m_s2 = NONE;
  c.density_kg_m3 = RHO;
  TL_TEST_SET(&c, TL_TEST_BOTH, friction, 0);
  TL_TEST_SET(&c, TL_TEST_BOTH, restitution, 1);
  c.search.sides = TL_SIDES_LOWER;
  c.penalty.law = (int)law_of(law);
  c.penalty.spread = TL_SPREAD_DEEPEST;
  TL_TEST_SET(&c, TL_TEST_BOTH, stiffness.normal_N_m, 1e5);
  TL_TEST_SET(&c, TL_TEST_BOTH, stiffness.young_Pa, 1e8);
  lab->config = c;
}

static void lab_plane(Lab *lab, TlVec3 point, TlVec3 normal) {
  int i = lab->planes++;
  lab->plane[i] = (TlBoundaryPlane){point, tl_unit(normal)};
  lab->boundary[i] = (TlBoundary){.kind = &tl_boundary_plane, .data = &lab->plane[i]};
}

static void lab_start(Lab *lab) {
  CK_OK(stepper_new(&lab->solver, &lab->config, (TlAvatarSource){lab, get_avatar}, lab->boundary,
                    lab->planes, NULL));
  CK_OK(stepper_add_sphere(lab->solver, SPHERE, R));
}

static void lab_close(Lab *lab) {
  stepper_free(lab->solver);
  tl_bodies_free(&lab->bodies);
  tl_avatar_free(&lab->fine);
}

static void step(Lab *lab) {
  CK_OK(stepper_step(lab->solver, &lab->bodies, &lab->report));
}

static double mass(void) {
  return 4.0 / 3 * M_PI * R * R * R * RHO;
}

/* Two equal spheres at 2 v: how long they touch, the largest force, what is left of the speed. */
typedef struct Blow {
  double time, force, rebound, balance_error, lost; /* the last two: of the energy at the start */
} Blow;

static Blow blow(const char *law, double restitution, double dt, double v) {
  Lab lab;
  Blow b = {0};
  lab_open(&lab, law);
  lab.config.step_s = dt;
  TL_TEST_SET(&lab.config, TL_TEST_GRAIN, restitution, restitution);
  lab_start(&lab);
  tl_test_put(&lab.bodies, SPHERE, tl_vec3(0, 0, 0), UPRIGHT, tl_vec3(v, 0, 0));
  tl_test_put(&lab.bodies, SPHERE, tl_vec3(2 * R, 0, 0), UPRIGHT, tl_vec3(-v, 0, 0));
  double lost = 0, start = mass() * v * v;
  for (int i = 0; i < 100000; i++) {
    step(&lab);
    if (i > 3 && lab.report.touching == 0) break;
    b.time += dt;
    b.force = fmax(b.force, lab.report.contact_N);
    double now = lab.report.kinetic_J + lab.report.elastic_J + lost + 0.5 * lab.report.viscous_J;
    b.balance_error = fmax(b.balance_error, fabs(now - start) / start);
    lost += lab.report.viscous_J;
  }
  b.lost = lost / start;
  b.rebound = -lab.bodies.velocity[0].x / v;
  lab_close(&lab);
  return b;
}

/* Half a period of the reduced mass m/2 on k: pi sqrt(m/(2k)); F = 2 v sqrt(k m/2). */
START_TEST(linear_contact_lasts_half_a_period) {
  double k = 1e5, m = 0.5 * mass(), time = M_PI * sqrt(m / k), v = 0.1;
  Blow b = blow("linear", 1, time / 1000, v);
  CK_NEAR(b.time / time, 1, 3e-3);
  CK_NEAR(b.force / (2 * v * sqrt(k * m)), 1, 1e-4);
  CK_NEAR(b.rebound, 1, 1e-3);
  ck_assert_msg(b.balance_error < 1e-3, "energy off by %g", b.balance_error);
}
END_TEST

/* Hertz: delta = (5 m* u^2/(4 K))^(2/5), K = 4/3 E* sqrt(r*); T = 2.94327 delta/u; F = K delta^1.5
 * (Johnson 1985, 11.4). */
START_TEST(hertz_contact_has_its_time_and_force) {
  double nu = 0.25, k = 4.0 / 3 * 1e8 / (2 * (1 - nu * nu)) * sqrt(0.5 * R), m = 0.5 * mass();
  double v = 0.1, u = 2 * v, deep = pow(1.25 * m * u * u / k, 0.4), time = 2.943275 * deep / u;
  Blow b = blow("hertz", 1, time / 2000, v);
  CK_NEAR(b.time / time, 1, 3e-3);
  CK_NEAR(b.force / (k * pow(deep, 1.5)), 1, 5e-4);
  CK_NEAR(b.rebound, 1, 1e-3);
  ck_assert_msg(b.balance_error < 1e-3, "energy off by %g", b.balance_error);
}
END_TEST

/* The dashpot gives back the fraction asked for, under Hertz nearly. */
START_TEST(restitution_is_the_coefficient) {
  static const char *const law[2] = {"linear", "hertz"};
  double time = M_PI * sqrt(0.5 * mass() / 1e5);
  for (int i = 0; i < 2; i++)
    for (int k = 0; k < 3; k++) {
      double e = 0.9 - 0.3 * k;
      Blow b = blow(law[i], e, time / 1000, 0.1);
      CK_NEAR(b.rebound, e, i ? 0.02 : 2e-3);
      ck_assert_msg(b.balance_error < 1e-5, "%s, e %g: energy off by %g", law[i], e,
                    b.balance_error);
    }
}
END_TEST

/* Dashpots take 1 - e^2 of the energy, e as it is seen, in steps as long as the solver lets them be
 * (booked with the velocity before the kick: 14% too much), and by the square of the step. */
START_TEST(dashpots_take_what_is_missing) {
  static const char *const law[2] = {"linear", "hertz"};
  for (int i = 0; i < 2; i++)
    for (int fine = 1; fine <= 4; fine *= 4) {
      Blow b = blow(law[i], 0.1, 3e-5 / fine, 0.1);
      ck_assert_double_gt(b.lost, 0.97);
      CK_NEAR(b.lost / (1 - b.rebound * b.rebound), 1, 1e-3 / (fine * fine));
    }
}
END_TEST

/* A plane that strikes a ball at rest: its work is the ball's energy and what the dashpot took. */
START_TEST(a_moving_wall_s_dashpots_are_booked) {
  Lab lab;
  TlDrive drive = {.velocity_m_s = {0, 0, 0.1}};
  double lost = 0, work = 0;
  lab_open(&lab, "linear");
  lab.config.step_s = 3e-5;
  TL_TEST_SET(&lab.config, TL_TEST_BOUNDARY, restitution, 0.1);
  lab_plane(&lab, NONE, tl_vec3(0, 0, 1));
  lab.boundary[0].drive = &drive;
  lab_start(&lab);
  tl_test_put(&lab.bodies, SPHERE, tl_vec3(0, 0, 1.01 * R), UPRIGHT, NONE);
  for (int i = 0; i < 200; i++) {
    step(&lab);
    lost += lab.report.viscous_J;
    work += lab.report.wall_work_J;
  }
  ck_assert_int_eq(lab.report.touching, 0);
  ck_assert_double_gt(lost, 0.4 * work);
  CK_NEAR((lab.report.kinetic_J + lost) / work, 1, 1e-3);
  lab_close(&lab);
}
END_TEST

/* On a plate at vx, vz = -w: slides all through while vx is large enough, vx' = vx - mu (1 + e) w,
 * spin 5/2 mu (1 + e) w/R; both from the impulses alone. */
START_TEST(a_sphere_slides_over_a_plate_by_coulomb) {
  Lab lab;
  lab_open(&lab, "linear");
  TL_TEST_SET(&lab.config, TL_TEST_BOUNDARY, friction, 0.3);
  lab.config.step_s = M_PI * sqrt(mass() / 1e5) / 2000;
  lab_plane(&lab, NONE, tl_vec3(0, 0, 1));
  lab_start(&lab);
  double vx = 0.5, vz = 0.1;
  tl_test_put(&lab.bodies, SPHERE, tl_vec3(0, 0, R), UPRIGHT, tl_vec3(vx, 0, -vz));
  for (int i = 0; i < 4000; i++) step(&lab);
  TlVec3 w = tl_bodies_spin(&lab.bodies, 0), v = lab.bodies.velocity[0];
  CK_NEAR(v.z, vz, 1e-4);
  CK_NEAR(v.x, vx - 0.3 * 2 * vz, 2e-4);
  CK_NEAR(w.y * R, 2.5 * 0.3 * 2 * vz, 5e-4);
  lab_close(&lab);
}
END_TEST

/* Under friction, off centre: momentum and angular momentum are those of the start, and what the
 * springs, slip and dashpots took is what is missing. */
START_TEST(oblique_blows_keep_momentum_and_the_energy_balance) {
  for (int h = 0; h < 2; h++) {
    Lab lab;
    lab_open(&lab, h ? "hertz" : "linear");
    TL_TEST_SET(&lab.config, TL_TEST_GRAIN, friction, 0.4);
    TL_TEST_SET(&lab.config, TL_TEST_GRAIN, restitution, 0.8);
    lab.config.step_s = 2e-7;
    lab_start(&lab);
    tl_test_put(&lab.bodies, SPHERE, tl_vec3(0, 0, 0), UPRIGHT, tl_vec3(0.3, 0.1, 0));
    tl_test_put(&lab.bodies, SPHERE, tl_vec3(1.6 * R, 1.2 * R, 0), UPRIGHT, tl_vec3(-0.3, 0, 0.05));
    double lost = 0, start = 0.5 * mass() * (0.3 * 0.3 + 0.1 * 0.1 + 0.3 * 0.3 + 0.05 * 0.05);
    double worst = 0;
    TlVec3 l0 = tl_scale(mass(), tl_cross(lab.bodies.position[1], lab.bodies.velocity[1]));
    for (int i = 0; i < 20000; i++) {
      step(&lab);
      double now = lab.report.kinetic_J + lab.report.elastic_J + lost;
      worst = fmax(worst, fabs(now - start) / start);
      lost += lab.report.slip_J + lab.report.viscous_J;
    }
    ck_assert_int_eq(lab.report.touching, 0);
    TlVec3 p = NONE, l = NONE;
    for (int i = 0; i < 2; i++) {
      p = tl_axpy(p, mass(), lab.bodies.velocity[i]);
      l = tl_add(tl_axpy(l, mass(), tl_cross(lab.bodies.position[i], lab.bodies.velocity[i])),
                 lab.bodies.momentum[i]);
    }
    CK_NEAR(tl_norm(tl_sub(p, tl_vec3(0, 0.1 * mass(), 0.05 * mass()))) / mass(), 0, 1e-13);
    CK_NEAR(tl_norm(tl_sub(l, l0)) / tl_norm(l0), 0, 1e-11);
    ck_assert_msg(lost > 0.1 * start && worst < 3e-3, "lost %g, energy balance off by %g",
                  lost / start, worst);
    lab_close(&lab);
  }
}
END_TEST

/* The k-th sphere from the top bears k m g. */
START_TEST(a_column_bears_its_weight) {
  enum { SPHERES = 6 };
  Lab lab;
  lab_open(&lab, "linear");
  lab.config.gravity_m_s2 = tl_vec3(0, 0, -9.81);
  TL_TEST_SET(&lab.config, TL_TEST_BOTH, restitution, 0.3);
  lab.config.step_s = 2e-5;
  lab_plane(&lab, NONE, tl_vec3(0, 0, 1));
  lab_start(&lab);
  for (int k = 0; k < SPHERES; k++)
    tl_test_put(&lab.bodies, SPHERE, tl_vec3(0, 0, (2 * k + 1) * R), UPRIGHT, NONE);
  for (int i = 0; i < 20000; i++) step(&lab);
  double weight = mass() * 9.81;
  for (int k = 0; k < SPHERES; k++) {
    double below = k ? lab.bodies.position[k - 1].z : -R;
    double force = 1e5 * (2 * R - (lab.bodies.position[k].z - below));
    CK_NEAR(force / ((SPHERES - k) * weight), 1, 1e-4);
  }
  ck_assert_msg(lab.report.resultant_N < 1e-4 * weight, "%g", lab.report.resultant_N / weight);
  lab_close(&lab);
}
END_TEST

/* Spheres of radius 1 m pressed 0.05 m into a plate that bears kn = 1e8 Pa/m: kn pi R d^2, by nodes
 * with the R of these (the grid's surface lies a little inside the sphere). Eight orientations: rms
 * error, and the mean force by the law of nodes. */
enum { TURNS = 8 };
static double plate_force(int32_t nodes, TlSpread spread, TlEdges edges, double *mean) {
  Lab lab;
  TlContactRow *rows;
  int64_t count;
  lab_open(&lab, "linear");
  lab.config.penalty.spread = spread;
  lab.config.search.edges = edges;
  lab.config.search.sides = spread == TL_SPREAD_NODES ? TL_SIDES_LOWER : TL_SIDES_BOTH;
  TL_TEST_SET(&lab.config, TL_TEST_BOTH, stiffness,
              (TlStiffness){.normal_N_m = 1e6, .normal_Pa_m = 1e8});
  lab.config.step_s = 1e-6;
  lab_plane(&lab, NONE, tl_vec3(0, 0, 1));
  CK_OK(tl_avatar_sphere(1, 0.05, nodes, &lab.fine));
  double radius = 0, error = 0;
  for (int32_t k = 0; k < lab.fine.node_count; k++) {
    const float *p = &lab.fine.node_m[3 * k];
    radius += tl_norm(tl_vec3((double)p[0], (double)p[1], (double)p[2])) / lab.fine.node_count;
  }
  if (edges == TL_EDGES_PLACES) radius = 1;
  lab_start(&lab);
  for (int k = 0; k < TURNS; k++)
    tl_test_put(&lab.bodies, FINE, tl_vec3(3 * k, 0, 0.95),
                tl_quat_from_rotation(tl_vec3(0.7 * k, 1.1 * k, 0.3 * k)), NONE);
  step(&lab);
  CK_OK(stepper_contacts(lab.solver, &lab.bodies, &rows, &count));
  ck_assert_int_eq(count, TURNS);
  *mean = 0;
  for (int k = 0; k < TURNS; k++) {
    double force = rows[k].force_N.z;
    double want = 1e8 * M_PI * radius * (radius - 0.95) * (radius - 0.95);
    CK_NEAR(rows[k].normal.z, 1, 1e-12);
    error += (force / want - 1) * (force / want - 1) / TURNS;
    *mean += force / TURNS;
  }
  tl_free(rows);
  lab_close(&lab);
  return sqrt(error);
}

START_TEST(traction_converges_where_force_a_node_grows) {
  static const int32_t nodes[3] = {800, 1600, 3200};
  double error[3], force[3], unused;
  for (int i = 0; i < 3; i++) {
    error[i] = plate_force(nodes[i], TL_SPREAD_TRACTION, TL_EDGES_NODES, &unused);
    plate_force(nodes[i], TL_SPREAD_NODES, TL_EDGES_PLACES, &force[i]);
  }
  double surface = plate_force(100, TL_SPREAD_TRACTION, TL_EDGES_PLACES, &unused);
  /* 5% deep: the curvature of F is that half-way between the surfaces, 2.6% above the sphere's */
  ck_assert_msg(surface < 0.05, "by surfaces: error %g", surface);
  ck_assert_msg(error[0] < 0.02 && error[2] < 0.6 * error[0], "errors %g, %g, %g", error[0],
                error[1], error[2]);
  ck_assert_msg(force[1] > 1.7 * force[0] && force[2] > 1.7 * force[1], "forces %g, %g, %g",
                force[0], force[1], force[2]);
}
END_TEST

/* A step that the stiffness does not allow is refused, with the grain and the number. */
START_TEST(a_step_too_long_is_refused) {
  Lab lab;
  lab_open(&lab, "linear");
  lab.config.step_s = 1e-3;
  lab_start(&lab);
  tl_test_put(&lab.bodies, SPHERE, NONE, UPRIGHT, NONE);
  CK_FAILS(stepper_step(lab.solver, &lab.bodies, &lab.report), TL_EUSAGE, "grain 0");
  lab_close(&lab);
}
END_TEST

/* Euler's equations of a free body in its own frame, by Runge-Kutta: the oracle. */
static TlVec3 free_rate(TlVec3 i, TlVec3 w) {
  return tl_vec3((i.y - i.z) * w.y * w.z / i.x, (i.z - i.x) * w.z * w.x / i.y,
                 (i.x - i.y) * w.x * w.y / i.z);
}
static TlVec3 free_spin(TlVec3 inertia, TlVec3 w, double time, int steps) {
  double dt = time / steps;
  for (int k = 0; k < steps; k++) {
    TlVec3 a = free_rate(inertia, w), b = free_rate(inertia, tl_axpy(w, 0.5 * dt, a)),
           c = free_rate(inertia, tl_axpy(w, 0.5 * dt, b)),
           d = free_rate(inertia, tl_axpy(w, dt, c));
    w = tl_axpy(w, dt / 6, tl_add(tl_add(a, d), tl_scale(2, tl_add(b, c))));
  }
  return w;
}

/* 1e5 steps of a triaxial body near its middle axis, where it tumbles: its angular momentum keeps
 * its bits, spin and attitude give it back, the energy does not drift, and the spin in the body is
 * that of Euler's equations within the phase error of second order, t w (w dt)^2 / 12. */
START_TEST(a_free_triaxial_body_keeps_momentum_and_energy) {
  enum { BRICK = 3, STEPS = 100000 };
  static const double size[3] = {0.02, 0.03, 0.05};
  Lab lab;
  lab_open(&lab, "linear");
  lab.config.step_s = 1e-4;
  TL_TEST_SET(&lab.config, TL_TEST_BOTH, stiffness.normal_N_m, 1e4);
  lab_start(&lab);
  CK_OK(stepper_add_closed(lab.solver, BRICK, &tl_closed_box, size));
  tl_test_put(&lab.bodies, BRICK, NONE, UPRIGHT, NONE);
  CK_OK(stepper_refresh(lab.solver, &lab.bodies));
  TlVec3 w0 = tl_vec3(0.5, 20, 1), inertia = lab.bodies.inertia[0];
  tl_bodies_set_spin(&lab.bodies, 0, w0);
  TlVec3 l0 = lab.bodies.momentum[0];
  double e0 = 0.5 * tl_dot(w0, l0), worst = 0;
  for (int i = 0; i < STEPS; i++) {
    step(&lab);
    worst = fmax(worst, fabs(0.5 * tl_dot(tl_bodies_spin(&lab.bodies, 0), l0) / e0 - 1));
  }
  ck_assert(memcmp(&l0, &lab.bodies.momentum[0], sizeof l0) == 0);
  TlMat3 turn = tl_quat_matrix(lab.bodies.rotation[0]);
  TlVec3 spin = tl_mat_tvec(turn, tl_bodies_spin(&lab.bodies, 0));
  TlVec3 back =
      tl_mat_vec(turn, tl_vec3(inertia.x * spin.x, inertia.y * spin.y, inertia.z * spin.z));
  CK_NEAR(tl_norm(tl_sub(back, l0)) / tl_norm(l0), 0, 1e-13);
  TlVec3 want = free_spin(inertia, w0, STEPS * lab.config.step_s, 4 * STEPS);
  double phase = STEPS * lab.config.step_s * 20 * (20 * 1e-4) * (20 * 1e-4) / 12;
  ck_assert_msg(worst < 1e-6, "energy off by %g", worst);
  ck_assert_msg(tl_norm(tl_sub(spin, want)) / 20 < 10 * phase, "off by %g, %g wanted",
                tl_norm(tl_sub(spin, want)) / 20, phase);
  lab_close(&lab);
}
END_TEST

/* A heap of balls and fine grains under friction; enough pairs for threads to share. */
static void heap_hash(int threads, uint64_t *hash) {
  enum { SIDE = 6, STEPS = 60 };
  Lab lab;
  lab_open(&lab, "linear");
  lab.config.penalty.spread = TL_SPREAD_TRACTION;
  lab.config.search.sides = TL_SIDES_BOTH;
  TL_TEST_SET(&lab.config, TL_TEST_BOTH, stiffness.normal_Pa_m, 1e8);
  TL_TEST_SET(&lab.config, TL_TEST_BOTH, friction, 0.4);
  TL_TEST_SET(&lab.config, TL_TEST_BOTH, restitution, 0.6);
  lab.config.step_s = 3e-5;
  lab.config.gravity_m_s2 = tl_vec3(0, 0, -9.81);
  lab_plane(&lab, NONE, tl_vec3(0, 0, 1));
  CK_OK(tl_avatar_sphere(R, R / 8, 200, &lab.fine));
  lab_start(&lab);
  tl_par_set_threads(threads);
  for (int k = 0; k < SIDE * SIDE * SIDE; k++) {
    int x = k % SIDE, y = k / SIDE % SIDE, z = k / SIDE / SIDE;
    tl_test_put(&lab.bodies, k % 3 ? SPHERE : FINE,
                tl_vec3((1.97 * x + 0.05 * y) * R, (1.97 * y + 0.1 * z) * R, (2 * z + 1) * R),
                tl_quat_from_rotation(tl_vec3(k, 2 * k, -k)), tl_vec3(0.01 * (k % 5), 0, -0.2));
  }
  for (int i = 0; i < STEPS; i++) step(&lab);
  ck_assert(lab.report.sliding > 0 && lab.report.touching > lab.report.sliding);
  CK_OK(tl_bodies_hash(&lab.bodies, hash));
  tl_par_set_threads(1);
  lab_close(&lab);
}

START_TEST(one_and_two_threads_give_the_same_bits) {
  uint64_t hash[2];
  for (int i = 0; i < 2; i++) heap_hash(i + 1, &hash[i]);
  ck_assert(hash[0] == hash[1]);
}
END_TEST

/* ---- fast and slow ---- */

/* A sphere and another one, or a plane; what they had touched with. */
typedef struct Meeting {
  TlPenaltyBody body[2];
  TlSpring known;
  double friction, damping, cap;
  bool wall;
} Meeting;

static TlVec3 some(TlRandom *random, double size) {
  double x = tl_random_next_normal(random), y = tl_random_next_normal(random);
  return tl_scale(size, tl_vec3(x, y, tl_random_next_normal(random)));
}

static Meeting meeting(TlRandom *random, int number) {
  Meeting m = {.wall = number % 4 == 3, .friction = number % 5 == 4 ? 0 : 0.4};
  m.damping = number % 3 * 0.3;
  double radius[2] = {0.01, number % 2 ? 0.01 : 0.004}, depth = number % 7 ? 1e-5 : 1e-3;
  TlVec3 n = tl_unit(some(random, 1)), x = some(random, 1);
  for (int i = 0; i < 2; i++)
    m.body[i] = (TlPenaltyBody){.x = x,
                                .v = some(random, 0.1),
                                .w = some(random, 10),
                                .radius = radius[i],
                                .inverse_mass = 1 / (RHO * radius[i] * radius[i] * radius[i]),
                                .curvature = 1 / radius[i]};
  if (m.wall) m.body[1] = (TlPenaltyBody){.x = x};
  m.body[0].x = tl_axpy(x, radius[0] + m.body[1].radius - depth, n);
  m.cap = number % 6 ? 0 : 0.02;
  TlVec3 before = tl_unit(tl_add(n, some(random, 1e-3))); /* it was turned since */
  if (number % 11 == 0) before = tl_scale(-1, n);
  TlVec3 s = some(random, 1e-5);
  if (number % 8) m.known.displacement = tl_axpy(s, -tl_dot(s, before), before);
  if (number % 8) m.known.normal = before;
  if (number % 8) m.known.stiffness = 2e3 * (1 + number % 2);
  return m;
}

static void put_lane(TlLane lane[3], int k, TlVec3 v) {
  lane[0][k] = v.x;
  lane[1][k] = v.y;
  lane[2][k] = v.z;
}

static void to_lane(const Meeting *m, TlForceLanes *l, int k) {
  const TlPenaltyBody *a = &m->body[0], *b = &m->body[1];
  put_lane(l->d, k, tl_sub(a->x, b->x));
  put_lane(l->va, k, a->v);
  put_lane(l->wa, k, a->w);
  put_lane(l->vb, k, b->v);
  put_lane(l->wb, k, b->w);
  l->radius_a[k] = a->radius;
  l->radius_b[k] = b->radius;
  l->curvature[k] = a->curvature + b->curvature;
  l->inverse_mass[k] = a->inverse_mass + b->inverse_mass;
  double size = m->wall ? a->radius : fmin(a->radius, b->radius);
  l->cap[k] = m->cap > 0 ? m->cap * size : INFINITY;
  static TlPairLaw law[TL_FORCE_LANES];
  law[k] = (TlPairLaw){.friction = m->friction, .damping = m->damping};
  l->law[k] = &law[k];
  put_lane(l->s, k, m->known.displacement);
  put_lane(l->stiff_n, k, tl_spring_vector(&m->known));
}

static void near_vec(TlVec3 want, const TlLane lane[3], int k, double scale) {
  TlVec3 got = tl_vec3(lane[0][k], lane[1][k], lane[2][k]);
  double off = tl_norm(tl_sub(got, want)), size = fmax(tl_norm(want), scale);
  ck_assert_msg(off <= 1e-9 * size, "lane %d: off by %g of %g", k, off, size);
}

/* The slow one: the point as the search's own formula has it, and tl_penalty_force_one. */
static void same_as_one(const Meeting *m, int law, const TlForceLanes *l, int k) {
  TlBodies bodies = {0};
  TlPenalty penalty = {.law = law, .spread = TL_SPREAD_DEEPEST, .most_share = m->cap};
  TlPairLaw pair = {
      .friction = m->friction,
      .damping = m->damping,
      .stiffness = {.normal_N_m = 1e5, .young_Pa = 1e8, .poisson = 0.25, .tangential_ratio = 0.3}};
  tl_test_put(&bodies, SPHERE, NONE, UPRIGHT, NONE);
  tl_test_put(&bodies, SPHERE, NONE, UPRIGHT, NONE);
  const TlPenaltyBody *a = &m->body[0];
  TlVec3 d = tl_sub(a->x, m->body[1].x), n = tl_unit(d);
  TlPoint point = {
      .p = tl_axpy(a->x, -a->radius, n), .n = n, .gap = tl_norm(d) - m->body[1].radius - a->radius};
  TlPenaltyContact contact = {.colliders = &bodies.colliders,
                              .body = m->body,
                              .penalty = &penalty,
                              .b = m->wall ? -1 : 1,
                              .law = &pair,
                              .step_s = 1e-5,
                              .known = &m->known,
                              .known_count = 1};
  TlPairState pairs = {0};
  TlPenaltyForce p;
  CK_OK(tl_penalty_force_one(&contact, &point, &pairs.of[TL_SPRINGS], &p));
  double force = tl_norm(p.force), work = p.elastic_J + fabs(p.slip_J);
  near_vec(p.force, l->force, k, 0);
  near_vec(p.torque_a, l->torque_a, k, force * a->radius);
  if (!m->wall) near_vec(p.torque_b, l->torque_b, k, force * a->radius);
  near_vec(p.normal, l->n, k, 0);
  CK_NEAR(l->depth[k], p.depth_m, 1e-14);
  CK_NEAR(l->elastic[k] / p.elastic_J, 1, 1e-9);
  CK_NEAR(l->slip[k] / work, p.slip_J / work, 1e-9);
  double viscous = tl_norm(p.viscous), turn = fmax(force, viscous) * a->radius;
  near_vec(p.viscous, l->viscous, k, 1e-3 * force);
  near_vec(p.viscous_torque_a, l->viscous_torque_a, k, turn);
  if (!m->wall) near_vec(p.viscous_torque_b, l->viscous_torque_b, k, turn);
  CK_NEAR(l->stiff_a[k] / p.stiffness_a[1], 1, 1e-9);
  if (!m->wall) CK_NEAR(l->stiff_b[k] / p.stiffness_b[1], 1, 1e-9);
  CK_NEAR(l->size[k], force, 1e-9 * force);
  ck_assert_int_eq((int)l->sliding[k], p.sliding);
  const TlSpring *spring = tl_springs(&pairs);
  ck_assert_int_eq((int)pairs.of[TL_SPRINGS].count, m->friction > 0);
  if (m->friction > 0) near_vec(spring->displacement, l->s_end, k, 1e-7);
  if (m->friction > 0) near_vec(spring->normal, l->n, k, 0);
  if (m->friction > 0) CK_NEAR(l->shear[k] / spring->stiffness, 1, 1e-9);
  tl_pair_state_free(&pairs);
  tl_bodies_free(&bodies);
}

START_TEST(lanes_bear_as_one_contact_does) {
  TlRandom random = {7, 1, 0};
  int sliding = 0;
  for (int law = 0; law < tl_law_count(); law++)
    for (int round = 0; round < 40; round++) {
      static TlForceLanes lanes; /* zeroed */
      Meeting m[TL_FORCE_LANES];
      TlStiffness stiffness = {
          .normal_N_m = 1e5, .young_Pa = 1e8, .poisson = 0.25, .tangential_ratio = 0.3};
      lanes.count = 1 + round % TL_FORCE_LANES;
      for (int k = 0; k < lanes.count; k++) {
        m[k] = meeting(&random, 32 * round + k);
        to_lane(&m[k], &lanes, k);
      }
      tl_force_lanes(tl_law(law), &stiffness, 1e-5, &lanes);
      for (int k = 0; k < lanes.count; k++) {
        same_as_one(&m[k], law, &lanes, k);
        sliding += (int)lanes.sliding[k];
      }
    }
  ck_assert_msg(sliding > 100 && sliding < 1300, "%d slide", sliding);
}
END_TEST

/* ---- several points of a pair ---- */

static TlVec3 moving(const void *wall, TlVec3 point, TlVec3 normal) {
  const TlVec3 *v = wall;
  (void)normal;
  return tl_axpy(*v, 3, tl_cross(tl_vec3(0, 0, 1), point));
}

enum { MANY = 70 }; /* more than all lanes */
typedef struct Crowd {
  Meeting pair;
  TlPoint point[MANY]; /* by key */
  TlSpring known[MANY];
  int points, knowns;
} Crowd;

static Crowd crowd(TlRandom *random, int number) {
  Crowd c = {.pair = meeting(random, number), .points = 2 + number * 17 % (MANY - 1)};
  for (int k = 0; k < c.points; k++) {
    TlVec3 n = tl_unit(tl_add(tl_vec3(0.3, -0.4, 0.8), some(random, 0.1)));
    c.point[k] =
        (TlPoint){.p = tl_add(c.pair.body[0].x, some(random, 0.005)),
                  .n = n,
                  .gap = -1e-4 * tl_random_next(random),
                  .key = (3 * k + number % 3) * (c.pair.wall ? 2 : 1), /* of a wall: even */
                  .steeper = k % 17 ? 0.2 * (tl_random_next(random) - 0.5) : -1};
    if ((k + number) % 3 == 0) continue;
    TlVec3 before = tl_unit(tl_add(n, some(random, 1e-3))), s = some(random, 1e-5);
    c.known[c.knowns++] = (TlSpring){.number = c.point[k].key,
                                     .displacement = tl_axpy(s, -tl_dot(s, before), before),
                                     .normal = before,
                                     .stiffness = 3e4};
  }
  return c;
}

static void add_one(TlPenaltyForce *sum, const TlPenaltyForce *p) {
  sum->force = tl_add(sum->force, p->force);
  sum->torque_a = tl_add(sum->torque_a, p->torque_a);
  sum->torque_b = tl_add(sum->torque_b, p->torque_b);
  sum->viscous = tl_add(sum->viscous, p->viscous);
  sum->viscous_torque_a = tl_add(sum->viscous_torque_a, p->viscous_torque_a);
  sum->viscous_torque_b = tl_add(sum->viscous_torque_b, p->viscous_torque_b);
  sum->point = tl_axpy(sum->point, p->normal_N, p->point);
  sum->normal = tl_axpy(sum->normal, p->normal_N, p->normal);
  sum->normal_N += p->normal_N;
  sum->elastic_J += p->elastic_J;
  sum->slip_J += p->slip_J;
  sum->wall_work_J += p->wall_work_J;
  sum->wall_viscous_J += p->wall_viscous_J;
  for (int k = 0; k < 2; k++) {
    sum->stiffness_a[k] += p->stiffness_a[k];
    sum->stiffness_b[k] += p->stiffness_b[k];
  }
  sum->points += p->points;
  sum->sliding += p->sliding;
  sum->capped += p->capped;
  sum->depth_m = fmax(sum->depth_m, p->depth_m);
}

static void near_sum(TlVec3 got, TlVec3 want, double size) {
  double off = tl_norm(tl_sub(got, want));
  ck_assert_msg(off <= 1e-11 * size, "off by %g of %g", off, size);
}

/* scale: of the force. */
static void same_sum(const TlPenaltyForce *got, const TlPenaltyForce *want, double scale) {
  double arm = 0.01, work = want->elastic_J + fabs(want->slip_J), travel = 1e-5;
  near_sum(got->force, want->force, scale);
  near_sum(got->torque_a, want->torque_a, scale * arm);
  near_sum(got->torque_b, want->torque_b, scale * arm);
  near_sum(got->viscous, want->viscous, scale);
  near_sum(got->viscous_torque_a, want->viscous_torque_a, scale * arm);
  near_sum(got->viscous_torque_b, want->viscous_torque_b, scale * arm);
  if (want->normal_N > 0) {
    near_sum(got->point, tl_scale(1 / want->normal_N, want->point), tl_norm(got->point));
    near_sum(got->normal, tl_unit(want->normal), 1);
  }
  CK_NEAR(got->normal_N, want->normal_N, 1e-11 * scale);
  CK_NEAR(got->elastic_J / work, want->elastic_J / work, 1e-11);
  CK_NEAR(got->slip_J / work, want->slip_J / work, 1e-11);
  CK_NEAR(got->wall_work_J, want->wall_work_J, 1e-11 * scale * travel);
  CK_NEAR(got->wall_viscous_J, want->wall_viscous_J, 1e-11 * scale * travel);
  for (int k = 0; k < 2; k++) {
    CK_NEAR(got->stiffness_a[k] / want->stiffness_a[k], 1, 1e-11);
    CK_NEAR(got->stiffness_b[k], want->stiffness_b[k], 1e-11 * want->stiffness_a[k]);
  }
  ck_assert_int_eq(got->points, want->points);
  ck_assert_int_eq(got->sliding, want->sliding);
  ck_assert_int_eq(got->capped, want->capped);
  CK_NEAR(got->depth_m, want->depth_m, 0);
}

static void same_springs(const TlPairState *fast, const TlPairState *slow) {
  const TlSpring *one = tl_springs(fast), *two = tl_springs(slow);
  const TlPairRows *rows = &fast->of[TL_SPRINGS];
  ck_assert_uint_eq(rows->count, slow->of[TL_SPRINGS].count);
  for (size_t k = 0; k < rows->count; k++) {
    TlPairKey key = tl_pair_key(&slow->of[TL_SPRINGS], TL_SPRINGS, k);
    TlPairKey other = tl_pair_key(rows, TL_SPRINGS, k);
    ck_assert_int_eq(tl_pair_order(&key, &other), 0);
    near_sum(one[k].displacement, two[k].displacement, 1e-5);
    near_sum(one[k].normal, two[k].normal, 1);
    CK_NEAR(one[k].stiffness, two[k].stiffness, 1e-9 * 3e4);
  }
}

/* In any order and among others that are apart. */
static void shuffle(const Crowd *c, int number, TlPoints *points) {
  static const int step[] = {71, 73, 79}; /* primes above MANY */
  for (int k = 0; k < c->points; k++) {
    TlPoint apart = c->point[k];
    apart.gap = 1e-6;
    if (k % 4 == 0) CK_OK(tl_points_add(points, apart));
    CK_OK(tl_points_add(points, c->point[(k * step[number % 3] + number) % c->points]));
  }
}

/* In lanes, and one by one, each with its share of the pair's damping: c of the pair over its
 * slopes, which are all equal here, times the point's. */
START_TEST(points_of_a_pair_bear_as_one_by_one) {
  TlRandom random = {17, 1, 0};
  static TlForceLanes lanes; /* zeroed */
  int sliding = 0, all = 0, caps = 0;
  TlBodies bodies = {0};
  static const TlShape closed = {0}; /* nodes of no area, as those of closed forms */
  for (int64_t i = 0; i < 2; i++) {
    tl_test_put(&bodies, SPHERE, NONE, UPRIGHT, NONE);
    bodies.colliders.shape[i] = &closed;
  }
  for (int number = 0; number < 400; number++) {
    Crowd c = crowd(&random, number);
    TlPenalty penalty = {.law = (int)law_of("linear"),
                         .spread = number % 2 ? TL_SPREAD_TRACTION : TL_SPREAD_NODES,
                         .most_share = number % 6 ? 0 : 0.004};
    TlPairLaw pair = {.friction = c.pair.friction,
                      /* of a pair it is shared by the slopes, which the gradients make unequal */
                      .damping = penalty.spread == TL_SPREAD_TRACTION ? 0 : c.pair.damping,
                      .stiffness = {.normal_N_m = 1e5, .tangential_ratio = 0.3}};
    TlVec3 drift = tl_vec3(0.01, 0.02, -0.05);
    TlPenaltyContact contact = {.colliders = &bodies.colliders,
                                .body = c.pair.body,
                                .penalty = &penalty,
                                .b = c.pair.wall ? -1 : 1,
                                .wall_velocity = moving,
                                .wall = c.pair.wall && number % 8 == 3 ? &drift : NULL,
                                .law = &pair,
                                .step_s = 1e-5,
                                .known = c.known,
                                .known_count = (size_t)c.knowns,
                                .lanes = &lanes};
    TlPairState fast = {0}, slow = {0};
    TlPoints points = {0};
    TlPenaltyForce got, want = {0}, one;
    shuffle(&c, number, &points);
    CK_OK(tl_penalty_force(&contact, &points, &fast.of[TL_SPRINGS], &got));
    pair.damping /= sqrt(c.points);
    for (int k = 0; k < c.points; k++) {
      CK_OK(tl_penalty_force_one(&contact, &c.point[k], &slow.of[TL_SPRINGS], &one));
      add_one(&want, &one);
    }
    same_sum(&got, &want, 10 * c.points);
    same_springs(&fast, &slow);
    sliding += got.sliding;
    caps += got.capped;
    all += got.points;
    tl_points_free(&points);
    tl_pair_state_free(&fast);
    tl_pair_state_free(&slow);
  }
  ck_assert_msg(10 * sliding > all && 10 * sliding < 9 * all, "%d of %d slide", sliding, all);
  ck_assert_int_gt(caps, 100);
  tl_bodies_free(&bodies);
}
END_TEST

/* What the search finds between spheres, and at a plane, is the point that lanes take. */
START_TEST(the_search_finds_the_same_point) {
  Lab lab;
  TlRandom random = {8, 1, 0};
  TlPoints points = {0};
  lab_open(&lab, "linear");
  lab_plane(&lab, NONE, tl_vec3(0.6, 0, 0.8));
  lab_start(&lab);
  for (int i = 0; i < 100; i++) {
    TlVec3 n = tl_unit(some(&random, 1)), x = some(&random, 0.1);
    TlQuat turn = tl_quat_from_rotation(some(&random, 2));
    tl_test_put(&lab.bodies, SPHERE, x, turn, NONE);
    tl_test_put(&lab.bodies, SPHERE, tl_axpy(x, -1.99 * R, n), turn, NONE);
  }
  CK_OK(stepper_refresh(lab.solver, &lab.bodies));
  for (int i = 0; i < 200; i += 2) {
    TlWanted wanted = {1, 1, INFINITY, 1};
    const TlVec3 *x = &lab.bodies.position[i];
    TlVec3 n = tl_unit(tl_sub(x[0], x[1]));
    points.count = 0;
    CK_OK(tl_narrow_nodes(&lab.bodies.colliders, i, i + 1, 0, &wanted, &points));
    ck_assert_int_eq((int)points.count, 1);
    CK_NEAR(points.point[0].gap, -0.01 * R, 1e-15);
    CK_NEAR(tl_norm(tl_sub(points.point[0].n, n)), 0, 1e-12);
    CK_NEAR(tl_norm(tl_sub(points.point[0].p, tl_axpy(x[0], -R, n))), 0, 1e-14);
    wanted = (TlWanted){1, 1, INFINITY, 1};
    points.count = 0;
    CK_OK(tl_narrow_boundary(&lab.bodies.colliders, i, &lab.boundary[0], &wanted, &points));
    double phi = 0.6 * x[0].x + 0.8 * x[0].z;
    CK_NEAR(points.point[0].gap, phi - R, 1e-14);
    CK_NEAR(tl_norm(tl_sub(points.point[0].p, tl_axpy(x[0], -R, tl_vec3(0.6, 0, 0.8)))), 0, 1e-14);
  }
  tl_points_free(&points);
  lab_close(&lab);
}
END_TEST

/* The rows of spheres' contacts, which are found again after the step, are where the spheres were
 * when the step found them; forces are the springs'. */
START_TEST(rows_are_of_the_step_that_was) {
  Lab lab;
  TlRandom random = {9, 1, 0};
  TlContactRow *rows;
  int64_t count;
  TlVec3 x[20], plane = tl_vec3(0, 0.6, 0.8);
  lab_open(&lab, "linear");
  lab.config.step_s = 2e-5;
  TL_TEST_SET(&lab.config, TL_TEST_BOUNDARY, stiffness.normal_N_m, 2e5);
  lab_plane(&lab, NONE, plane);
  lab_start(&lab);
  for (int i = 0; i < 20; i += 2) {
    x[i] = tl_axpy(tl_vec3(0.1 * i, 0, 0), 0.98 * R, plane); /* on the plane, the other on it */
    x[i + 1] = tl_axpy(x[i], 1.95 * R, tl_unit(tl_add(plane, some(&random, 0.5))));
    for (int k = 0; k < 2; k++)
      tl_test_put(&lab.bodies, SPHERE, x[i + k], UPRIGHT, some(&random, 1));
  }
  step(&lab);
  CK_OK(stepper_contacts(lab.solver, &lab.bodies, &rows, &count));
  ck_assert_int_eq(count, 20);
  for (int64_t k = 0; k < count; k++) {
    const TlContactRow *r = &rows[k];
    TlVec3 n = r->second < 0 ? plane : tl_unit(tl_sub(x[r->first], x[r->second]));
    double gap = r->second < 0 ? -0.02 * R : -0.05 * R, stiffness = r->second < 0 ? 2e5 : 1e5;
    ck_assert_double_gt(tl_norm(tl_sub(lab.bodies.position[r->first], x[r->first])), 1e-6);
    CK_NEAR(tl_norm(tl_sub(r->normal, n)), 0, 1e-13);
    CK_NEAR(r->gap_m, gap, 1e-16);
    CK_NEAR(tl_norm(tl_sub(r->point_m, tl_axpy(x[r->first], -R, n))), 0, 1e-15);
    CK_NEAR(tl_norm(tl_axpy(r->force_N, stiffness * gap, n)), 0, 1e-12 / 2e-5);
  }
  tl_free(rows);
  lab_close(&lab);
}
END_TEST

/* Balls in a corner, some steps after they were let go. boundary_young_Pa is nothing to the linear
 * law. */
static void corner(Lab *lab, double boundary_young_Pa) {
  TlRandom random = {10, 1, 0};
  lab_open(lab, "linear");
  TL_TEST_SET(&lab->config, TL_TEST_BOTH, friction, 0.4);
  TL_TEST_SET(&lab->config, TL_TEST_BOTH, restitution, 0.3);
  lab->config.gravity_m_s2 = tl_vec3(-5, -5, -8);
  lab->config.step_s = 3e-5;
  TL_TEST_SET(&lab->config, TL_TEST_BOUNDARY, stiffness.young_Pa, boundary_young_Pa);
  lab_plane(lab, NONE, tl_vec3(0, 0, 1));
  lab_plane(lab, NONE, tl_vec3(1, 1, 0));
  lab_start(lab);
  for (int i = 0; i < 64; i++) {
    TlVec3 at = {i % 4 + i / 4 % 4 + 1.0, i / 4 % 4 - i % 4, i / 16 + 0.5};
    TlVec3 x = {1.39 * R * at.x, 1.39 * R * at.y, 1.99 * R * at.z};
    tl_test_put(&lab->bodies, SPHERE, x, UPRIGHT, some(&random, 0.05));
  }
  for (int i = 0; i < 15; i++) step(lab);
}

/* Contacts with walls as stiff as grains wait in the grains' lanes, others in lanes of their own.
 */
START_TEST(lanes_may_be_shared_with_walls) {
  Lab one, two;
  corner(&one, 1e8);
  corner(&two, 2e8);
  size_t n = (size_t)one.bodies.total, touches = one.bodies.pairs.of[TL_SPRINGS].count;
  ck_assert_uint_gt(touches, 64);
  ck_assert_uint_eq(touches, two.bodies.pairs.of[TL_SPRINGS].count);
  ck_assert_mem_eq(one.bodies.position, two.bodies.position, n * sizeof *one.bodies.position);
  ck_assert_mem_eq(one.bodies.momentum, two.bodies.momentum, n * sizeof *one.bodies.momentum);
  ck_assert_mem_eq(tl_springs(&one.bodies.pairs), tl_springs(&two.bodies.pairs),
                   touches * sizeof(TlSpring));
  ck_assert_double_gt(one.report.slip_J, 0);
  ck_assert_double_eq(one.report.slip_J, two.report.slip_J);
  ck_assert_double_eq(one.report.viscous_J, two.report.viscous_J);
  lab_close(&one);
  lab_close(&two);
}
END_TEST

TL_TEST_MAIN("penalty", points_of_a_pair_bear_as_one_by_one, lanes_may_be_shared_with_walls,
             rows_are_of_the_step_that_was, lanes_bear_as_one_contact_does,
             the_search_finds_the_same_point, a_free_triaxial_body_keeps_momentum_and_energy,
             one_and_two_threads_give_the_same_bits, linear_contact_lasts_half_a_period,
             hertz_contact_has_its_time_and_force, restitution_is_the_coefficient,
             dashpots_take_what_is_missing, a_moving_wall_s_dashpots_are_booked,
             a_sphere_slides_over_a_plate_by_coulomb,
             oblique_blows_keep_momentum_and_the_energy_balance, a_column_bears_its_weight,
             traction_converges_where_force_a_node_grows, a_step_too_long_is_refused)
