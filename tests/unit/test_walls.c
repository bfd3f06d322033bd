/* Walls of every kind: their distances, and grains on walls that move, vanish and have friction. */
#include "support/stepper.h"
#include "support/materials.h"
#include "support/placed.h"
#include "support/tltest.h"

#include "base/par.h"
#include "base/random.h"
#include "run/energy_balance.h"
#include "solve/step.h"

enum { BOX = 1, SPHERE = 2, MOST_WALLS = 4 };
static const double G = 9.81, PI = 3.14159265358979323846, R = 0.01, SIDE = 0.02;
static const TlQuat UPRIGHT = {1, 0, 0, 0};
static const TlVec3 NONE = {0, 0, 0};

/* ---- distances ---- */

static TlVec3 random_point(TlRandom *r, double half) {
  return tl_vec3(half * (2 * tl_random_next(r) - 1), half * (2 * tl_random_next(r) - 1),
                 half * (2 * tl_random_next(r) - 1));
}

/* Least distance over a fine polygon of a pipe's half section, turned by the point's own angle. */
static double pipe_oracle(const TlBoundaryRing *g, double rho, double z) {
  const double a = g->radius_m, b = a + g->thickness_m, h = 0.5 * g->length_m;
  const double corner[5][2] = {{a, -h}, {b, -h}, {b, h}, {a, h}, {a, -h}};
  double least = INFINITY;
  for (int i = 0; i < 4; i++) {
    double dx = corner[i + 1][0] - corner[i][0], dz = corner[i + 1][1] - corner[i][1];
    double t = ((rho - corner[i][0]) * dx + (z - corner[i][1]) * dz) / (dx * dx + dz * dz);
    t = fmin(fmax(t, 0), 1);
    least = fmin(least, hypot(rho - corner[i][0] - t * dx, z - corner[i][1] - t * dz));
  }
  return rho > a && rho < b && fabs(z) < h ? -least : least;
}

START_TEST(pipes_and_tubes_are_as_far_as_their_section_says) {
  TlRandom r = {61, 0, 0};
  TlVec3 axis = tl_unit(tl_vec3(1, 2, -2)), centre = {0.3, -0.2, 0.1};
  TlBoundaryRing ring = {centre, axis, 0.2, 0.3, 0.05};
  TlBoundaryTube tube = {centre, axis, 0.2};
  for (int i = 0; i < 20000; i++) {
    TlVec3 d = random_point(&r, 0.4), n;
    double z = tl_dot(d, axis), rho = tl_norm(tl_axpy(d, -z, axis)), phi;
    ck_assert(tl_boundary_ring.phi(&ring, tl_add(centre, d), &phi, &n));
    CK_NEAR(phi, pipe_oracle(&ring, rho, z), 1e-14);
    CK_NEAR(tl_norm(n), 1, 1e-13);
    double on;
    TlVec3 unused;
    tl_boundary_ring.phi(&ring, tl_axpy(tl_add(centre, d), -phi, n), &on, &unused);
    CK_NEAR(on, 0, 1e-14);
    ck_assert(tl_boundary_tube.phi(&tube, tl_add(centre, d), &phi, &n));
    CK_NEAR(phi, 0.2 - rho, 1e-14);
    CK_NEAR(tl_dot(n, d), -rho, 1e-12);
  }
}
END_TEST

START_TEST(a_turned_box_is_the_box_seen_from_its_axes) {
  TlRandom r = {62, 0, 0};
  TlMat3 turn = tl_quat_matrix(tl_quat_from_rotation(tl_vec3(0.3, -0.8, 0.5)));
  TlBoundarySolid s = {&tl_closed_box, {0.2, 0.3, 0.4}, {1, 2, 3}, turn};
  for (int i = 0; i < 2000; i++) {
    TlVec3 p = random_point(&r, 0.4), n, g;
    double phi;
    ck_assert(tl_boundary_solid.phi(&s, tl_add(s.centre, tl_mat_vec(turn, p)), &phi, &n));
    CK_NEAR(phi, tl_closed_box.phi(s.size, p, &g), 1e-14);
    CK_NEAR(tl_norm(tl_sub(n, tl_mat_vec(turn, g))), 0, 1e-6); /* ties may turn within rounding */
  }
}
END_TEST

/* ---- in motion ---- */

typedef struct Lab {
  TlSolverConfig config;
  TlBoundaryPlane plane;
  TlBoundary wall[MOST_WALLS];
  int walls;
  Stepper *solver;
  TlBodies bodies;
  TlStepReport report;
  double wall_work;
} Lab;

static void lab_open(Lab *lab) {
  memset(lab, 0, sizeof *lab);
  tl_par_set_threads(1);
  lab->config = tl_test_config();
  lab->plane = (TlBoundaryPlane){NONE, tl_vec3(0, 0, 1)};
}

static TlBoundary *add_wall(Lab *lab, const TlBoundaryKind *kind, const void *data,
                            const TlDrive *drive) {
  lab->wall[lab->walls] = (TlBoundary){.kind = kind, .data = data, .drive = drive};
  return &lab->wall[lab->walls++];
}

static void lab_start(Lab *lab) {
  const double size[3] = {SIDE, SIDE, SIDE};
  CK_OK(stepper_new(&lab->solver, &lab->config, (TlAvatarSource){0}, lab->wall, lab->walls, NULL));
  CK_OK(stepper_add_closed(lab->solver, BOX, &tl_closed_box, size));
  CK_OK(stepper_add_closed(lab->solver, SPHERE, &tl_closed_sphere, &R));
}

static void lab_close(Lab *lab) {
  stepper_free(lab->solver);
  tl_bodies_free(&lab->bodies);
}

static void run(Lab *lab, int steps) {
  for (int i = 0; i < steps; i++) {
    CK_OK(stepper_step(lab->solver, &lab->bodies, &lab->report));
    lab->wall_work += lab->report.wall_work_J;
  }
}

/* A grain rides on a piston: work = m (g h + v^2/2) from the first contact on. The first step is
 * inelastic (the threshold), so that what the blow at the start costs is m v^2/2 more. */
START_TEST(a_piston_lifts_a_grain_and_its_work_is_booked) {
  Lab lab;
  double v = 0.1;
  TlDrive drive = {.velocity_m_s = {0, 0, v}};
  lab_open(&lab);
  TL_TEST_SET(&lab.config, TL_TEST_BOUNDARY, restitution, 0);
  add_wall(&lab, &tl_boundary_plane, &lab.plane, &drive);
  lab_start(&lab);
  tl_test_put(&lab.bodies, BOX, tl_vec3(0, 0, 0.5 * SIDE), UPRIGHT, NONE);
  run(&lab, 1000);
  double m = lab.bodies.mass[0], h = lab.bodies.position[0].z - 0.5 * SIDE;
  CK_NEAR(h, v * 1, 2e-3 * SIDE);
  CK_NEAR(lab.bodies.velocity[0].z, v, 1e-5);
  CK_NEAR(lab.wall_work, m * (G * v * 1 + v * v), 1e-3 * m * G * v);
  CK_NEAR(tl_norm(tl_bodies_spin(&lab.bodies, 0)), 0, 1e-4);
  lab_close(&lab);
}
END_TEST

/* e = 1: the relative velocity turns round, v' = 2 V - v, and the work is what energy was won. */
START_TEST(a_racket_returns_a_ball) {
  Lab lab;
  double racket = 1.5, ball = -2;
  TlDrive drive = {.velocity_m_s = {0, 0, racket}};
  lab_open(&lab);
  lab.config.gravity_m_s2 = NONE;
  TL_TEST_SET(&lab.config, TL_TEST_BOUNDARY, restitution, 1);
  lab.config.impulses.impact_threshold_m_s = 0;
  add_wall(&lab, &tl_boundary_plane, &lab.plane, &drive);
  lab_start(&lab);
  tl_test_put(&lab.bodies, SPHERE, tl_vec3(0, 0, 0.2), UPRIGHT, tl_vec3(0.3, 0, ball));
  TL_TEST_SET(&lab.config, TL_TEST_BOUNDARY, friction, 0);
  run(&lab, 200);
  double after = lab.bodies.velocity[0].z, m = lab.bodies.mass[0];
  CK_NEAR(after, 2 * racket - ball, 1e-9);
  double won = lab.report.kinetic_J - 0.5 * m * (ball * ball + 0.3 * 0.3);
  /* friction at the blow turned some sliding into spin and heat, none of it the racket's work */
  CK_NEAR(lab.wall_work, 0.5 * m * (after * after - ball * ball), 1e-9 * won);
  lab_close(&lab);
}
END_TEST

/* Free fall from the step at which the floor is no longer there. */
START_TEST(a_wall_that_vanishes_lets_the_grain_go) {
  Lab lab;
  double dt = 1e-3;
  TlDrive drive = {.until_s = 0.1};
  lab_open(&lab);
  add_wall(&lab, &tl_boundary_plane, &lab.plane, &drive);
  lab_start(&lab);
  tl_test_put(&lab.bodies, BOX, tl_vec3(0, 0, 0.5 * SIDE), UPRIGHT, NONE);
  run(&lab, 100);
  double z = lab.bodies.position[0].z, v = lab.bodies.velocity[0].z;
  CK_NEAR(z, 0.5 * SIDE, 1e-5);
  run(&lab, 100);
  CK_NEAR(lab.bodies.position[0].z, z + 0.1 * v - 0.5 * G * 0.1 * (0.1 + dt), 1e-12);
  ck_assert(lab.report.contacts == 0);
  lab_close(&lab);
}
END_TEST

START_TEST(a_wall_that_appears_catches_what_falls) {
  Lab lab;
  TlDrive drive = {.from_s = 0.05};
  lab_open(&lab);
  add_wall(&lab, &tl_boundary_plane, &lab.plane, &drive);
  lab_start(&lab);
  tl_test_put(&lab.bodies, SPHERE, tl_vec3(0, 0, 0.1), UPRIGHT, NONE);
  run(&lab, 1500);
  CK_NEAR(lab.bodies.position[0].z, R, 1e-4);
  lab_close(&lab);
}
END_TEST

/* A belt: v = mu g t until V; the belt's work is m V^2, half of it heat. */
START_TEST(a_belt_carries_a_box_off) {
  Lab lab;
  double belt = 0.5, mu = 0.4;
  TlDrive drive = {.velocity_m_s = {belt, 0, 0}};
  lab_open(&lab);
  TL_TEST_SET(&lab.config, TL_TEST_BOUNDARY, friction, mu);
  add_wall(&lab, &tl_boundary_plane, &lab.plane, &drive);
  lab_start(&lab);
  tl_test_put(&lab.bodies, BOX, tl_vec3(0, 0, 0.5 * SIDE), UPRIGHT, NONE);
  run(&lab, 60);
  CK_NEAR(lab.bodies.velocity[0].x, mu * G * 0.06, 1e-3 * belt);
  run(&lab, 200);
  double m = lab.bodies.mass[0];
  CK_NEAR(lab.bodies.velocity[0].x, belt, 1e-5);
  CK_NEAR(lab.bodies.velocity[0].z, 0, 1e-4);
  CK_NEAR(lab.wall_work, m * belt * belt, 2e-3 * m * belt * belt);
  lab_close(&lab);
}
END_TEST

/* The surface of a belt that ends runs along each of its faces; on those across it stands still, and over an edge it has
 * what lies along the rounding. It turns and travels with the wall. */
START_TEST(the_surface_of_a_belt_runs_along_its_faces) {
  TlDrive drive = {.surface_m_s = {0.5, 0, 0}, .from_s = 1, .until_s = 4};
  TlBoundary b = {.kind = &tl_boundary_solid, .drive = &drive};
  TlVec3 edge = tl_unit(tl_vec3(1, 0, 1)), at = {0.1, 0.2, 0.3};
  for (int k = 0; k < 2; k++) {
    if (k) drive.velocity_m_s = tl_vec3(0, 0, 2), drive.spin_rad_s = tl_vec3(0, 0, 0.5 * PI);
    b.place = tl_drive_place(&drive, 2000, 2000, 1e-3); /* a quarter turn */
    TlVec3 along = k ? tl_vec3(0, 0.5, 0) : tl_vec3(0.5, 0, 0), rigid = NONE;
    if (k) rigid = tl_boundary_velocity(&b, at);
    TlVec3 side = tl_scale(2, along), rounding = tl_mat_vec(b.place.turn, edge), v;
    v = tl_sub(tl_boundary_surface_velocity(&b, at, tl_vec3(0, 0, 1)), rigid);
    CK_NEAR(tl_norm(tl_sub(v, along)), 0, 1e-14);
    v = tl_sub(tl_boundary_surface_velocity(&b, at, side), rigid);
    CK_NEAR(tl_norm(v), 0, 1e-14);
    v = tl_sub(tl_boundary_surface_velocity(&b, at, rounding), rigid);
    CK_NEAR(tl_dot(v, rounding), 0, 1e-14);
    CK_NEAR(tl_norm(v), 0.5 * sqrt(0.5), 1e-14);
    CK_NEAR(tl_boundary_runs(&b), 0.5, 1e-14);
    ck_assert(tl_boundary_moves(&b));
  }
  b.place = tl_drive_place(&drive, 5000, 5000, 1e-3); /* gone */
  ck_assert(!tl_boundary_moves(&b) && tl_boundary_runs(&b) == 0);
}
END_TEST

typedef enum Method { IMPULSES, CONSTRAINTS, SPRINGS, METHODS } Method;

static void lab_open_by(Lab *lab, Method method) {
  lab_open(lab);
  if (method == CONSTRAINTS) {
    lab->config = tl_test_nonsmooth();
    TL_TEST_SET(&lab->config, TL_TEST_BOTH, stiffness.young_Pa, 1e7);
  }
  if (method == SPRINGS) {
    lab->config.method = TL_PENALTY;
    lab->config.penalty.spread = TL_SPREAD_TRACTION;
    TL_TEST_SET(&lab->config, TL_TEST_BOTH, stiffness.normal_N_m, 1e4);
    TL_TEST_SET(&lab->config, TL_TEST_BOTH, stiffness.normal_Pa_m, 1e9);
  }
  lab->config.step_s = method == SPRINGS ? 2e-5 : 1e-3;
  lab->config.gravity_m_s2 = tl_vec3(0, 0, -G);
  TL_TEST_SET(&lab->config, TL_TEST_BOTH, restitution, 0);
}

/* A belt that ends, by each method: v = mu g t until V, the belt's work is m V^2, half of it heat; at the belt's end the
 * box tips over the edge, which it does in a small part of its length at this speed, and flies off with V. */
START_TEST(a_box_rides_to_the_end_of_a_belt_and_flies_off) {
  const double belt = 1, mu = 0.4, length = 0.5, from = -0.22;
  for (Method method = IMPULSES; method < METHODS; method++) {
    Lab lab;
    TlEnergyBalance energy = {0};
    TlBoundarySolid solid = {
        &tl_closed_box, {length, 0.1, 0.05}, {0, 0, -0.025}, tl_quat_matrix(UPRIGHT)};
    TlDrive drive = {.surface_m_s = {belt, 0, 0.3}}; /* what points out of the face does nothing */
    lab_open_by(&lab, method);
    TL_TEST_SET(&lab.config, TL_TEST_BOUNDARY, friction, mu);
    add_wall(&lab, &tl_boundary_solid, &solid, &drive);
    lab_start(&lab);
    int64_t box = tl_test_put(&lab.bodies, BOX, tl_vec3(from, 0, 0.5 * SIDE), UPRIGHT, NONE);
    TlVec3 *x = &lab.bodies.position[box], *v = &lab.bodies.velocity[box];
    double h = lab.config.step_s, t = 0, work = 0;
    double reached = belt / (mu * G), end = reached + (0.5 * length - from) / belt - 0.5 * reached;
    const double until[] = {0.6 * reached, reached + 0.1, end - 0.03, end + 0.1, end + 0.15};
    for (int k = 0; k < 5; k++) {
      int steps = (int)((until[k] - t) / h);
      for (int n = 0; n < steps; n++) {
        run(&lab, 1);
        tl_energy_balance_add(&energy, &lab.report);
      }
      t += steps * h;
      double m = lab.bodies.mass[box], gained = m * belt * belt;
      if (k == 0) CK_NEAR(v->x, mu * G * t, 2e-3 * belt);
      if (k == 1 || k == 2) {
        CK_NEAR(v->x, belt, 1e-5);
        CK_NEAR(v->z, 0, 1e-4);
        CK_NEAR(x->x, from + belt * (t - 0.5 * reached), 2e-3 * length);
        CK_NEAR(lab.wall_work, gained, 2e-3 * gained);
      }
      if (k == 2 && method != IMPULSES) {
        CK_NEAR(energy.friction_J, 0.5 * gained, 2e-3 * gained);
        CK_NEAR(energy.wall_J, 0.5 * m * tl_norm2(*v) + energy.friction_J, 1e-3 * gained);
        CK_NEAR(energy.error_J, 0, 1e-3 * gained);
      }
      if (k >= 3) {
        ck_assert_int_eq(lab.report.contacts, 0);
        CK_NEAR(v->x, belt, 0.03 * belt);
        CK_NEAR(v->y, 0, 1e-4);
        ck_assert(x->x > 0.5 * length + 0.9 * belt * (t - end));
        ck_assert(0.5 * SIDE - x->z > 0.7 * 0.5 * G * (t - end) * (t - end));
      }
      if (k == 4) ck_assert(lab.wall_work == work);
      work = lab.wall_work;
    }
    lab_close(&lab);
  }
}
END_TEST

/* A box in a turning drum slides where the drum's slope right below its centre is mu, and stays
 * there; from the foot it is carried to that angle and swings about it, friction being the same at
 * any speed. The drum's power is mu N times its speed. */
START_TEST(a_turning_drum_carries_a_box_up_to_the_angle_of_friction) {
  double radius = 0.5, mu = 0.5, spin = 1, alpha = atan(mu);
  double far = sqrt(radius * radius - 0.25 * SIDE * SIDE) - 0.5 * SIDE;
  double angle = asin(radius / far * sin(alpha));
  for (int k = 0; k < 2; k++) {
    Lab lab;
    TlBoundaryTube drum = {NONE, {0, 1, 0}, radius};
    TlDrive drive = {.spin_rad_s = {0, -spin, 0}};
    double start = k ? 0 : angle, most = 0, off = 0;
    lab_open(&lab);
    TL_TEST_SET(&lab.config, TL_TEST_BOUNDARY, friction, mu);
    add_wall(&lab, &tl_boundary_tube, &drum, &drive);
    lab_start(&lab);
    tl_test_put(&lab.bodies, BOX, tl_vec3(far * sin(start), 0, -far * cos(start)), UPRIGHT, NONE);
    lab.bodies.rotation[0] = tl_quat_from_rotation(tl_vec3(0, -start, 0));
    for (int i = 0; i < 1000; i++) {
      run(&lab, 1);
      double at = atan2(lab.bodies.position[0].x, -lab.bodies.position[0].z);
      most = fmax(most, at);
      off = fmax(off, fabs(at - angle));
    }
    double m = lab.bodies.mass[0], power = m * G * sin(alpha) * spin * radius;
    if (k == 0) CK_NEAR(off, 0, 2e-3);
    if (k == 0) CK_NEAR(lab.wall_work / power, 1, 2e-3);
    if (k == 1) ck_assert(most > angle && most < 2 * angle);
    ck_assert(lab.report.boundary_overlap_share < 5e-3);
    lab_close(&lab);
  }
}
END_TEST

enum { ROWS = 2001, ROWS_A_PERIOD = 400 };
static double table_time[ROWS];
static TlVec3 table_displacement[ROWS];

/* a sin(w t) along a direction, rows closer than the steps. */
static TlDrive shaken(TlVec3 direction, double acceleration, double w) {
  for (int i = 0; i < ROWS; i++) {
    table_time[i] = i * 2 * PI / w / ROWS_A_PERIOD;
    table_displacement[i] = tl_scale(acceleration / (w * w) * sin(w * table_time[i]), direction);
  }
  return (TlDrive){.rows = ROWS, .time_s = table_time, .displacement_m = table_displacement};
}

/* Below g a box stays on a table shaken up and down; below mu g on one shaken sideways; above it
 * slides behind. */
START_TEST(a_shaken_table_keeps_what_its_acceleration_lets_it_keep) {
  const struct {
    TlVec3 direction;
    double acceleration, mu;
    bool stays;
  } cases[3] = {
      {{0, 0, 1}, 0.7, 0.5, true}, {{1, 0, 0}, 0.4, 0.5, true}, {{1, 0, 0}, 0.9, 0.2, false}};
  for (int c = 0; c < 3; c++) {
    Lab lab;
    double w = 20, most = 0;
    TlDrive drive = shaken(cases[c].direction, cases[c].acceleration * G, w);
    lab_open(&lab);
    TL_TEST_SET(&lab.config, TL_TEST_BOUNDARY, friction, cases[c].mu);
    TL_TEST_SET(&lab.config, TL_TEST_BOUNDARY, restitution, 0);
    add_wall(&lab, &tl_boundary_plane, &lab.plane, &drive);
    lab_start(&lab);
    /* already moving with the table: its start from rest is a blow that friction may not hold */
    TlVec3 start = tl_drive_place(&drive, 0, 0, lab.config.step_s).v;
    tl_test_put(&lab.bodies, BOX, tl_vec3(0, 0, 0.5 * SIDE), UPRIGHT, start);
    for (int i = 1; i <= 1000; i++) {
      run(&lab, 1);
      TlVec3 moved = tl_drive_place(&drive, i, i, lab.config.step_s).displacement;
      TlVec3 off = tl_sub(tl_sub(lab.bodies.position[0], tl_vec3(0, 0, 0.5 * SIDE)), moved);
      most = fmax(most, tl_norm(off));
    }
    /* held within 1% of the side */
    if (cases[c].stays) ck_assert_msg(most < 0.01 * SIDE, "case %d: off by %g m", c, most);
    if (!cases[c].stays) ck_assert_msg(most > 5e-3, "case %d: off by %g m only", c, most);
    lab_close(&lab);
  }
}
END_TEST

START_TEST(a_surface_has_its_own_friction) {
  const double mus[2] = {0.1, 0.6};
  for (int k = 0; k < 2; k++) {
    Lab lab;
    TlSurface surface = {.material = TL_TEST_MATERIAL};
    lab_open(&lab);
    TL_TEST_SET(&lab.config, TL_TEST_BOUNDARY, friction, 0.3);
    lab.config.materials = tl_test_materials(&lab.config, mus[k], 0);
    add_wall(&lab, &tl_boundary_plane, &lab.plane, NULL)->surface = &surface;
    lab_start(&lab);
    tl_test_put(&lab.bodies, BOX, tl_vec3(0, 0, 0.5 * SIDE), UPRIGHT, tl_vec3(1, 0, 0));
    run(&lab, 100);
    CK_NEAR(lab.bodies.velocity[0].x, 1 - mus[k] * G * 0.1, 2e-3);
    lab_close(&lab);
  }
}
END_TEST

START_TEST(a_surface_out_of_range_is_refused) {
  Lab lab;
  TlSurface surface = {.material = 2};
  lab_open(&lab);
  add_wall(&lab, &tl_boundary_plane, &lab.plane, NULL)->surface = &surface;
  CK_FAILS(stepper_new(&lab.solver, &lab.config, (TlAvatarSource){0}, lab.wall, lab.walls, NULL),
           TL_EUSAGE, "there is no material 2");
  lab.config.materials = tl_test_materials(&lab.config, 0.3, 1.5);
  CK_FAILS(stepper_new(&lab.solver, &lab.config, (TlAvatarSource){0}, lab.wall, lab.walls, NULL),
           TL_EUSAGE, "restitution of materials 0 and 2 = 1.5");
}
END_TEST

/* A second solver set to the step continues with the same bits: walls are a function of time. */
START_TEST(a_restart_finds_the_walls_where_they_were) {
  Lab lab;
  uint64_t whole, parts;
  TlDrive drive = {.velocity_m_s = {0.1, 0, 0.03}, .spin_rad_s = {0.1, 0.2, 0.3}, .until_s = 0.4};
  TlBoundarySolid table = {
      &tl_closed_box, {0.5, 0.5, 0.1}, {0, 0, -0.05}, {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}};
  for (int part = 0; part < 2; part++) {
    lab_open(&lab);
    add_wall(&lab, &tl_boundary_solid, &table, &drive);
    lab_start(&lab);
    tl_test_put(&lab.bodies, BOX, tl_vec3(0, 0, 0.5 * SIDE), UPRIGHT, NONE);
    tl_test_put(&lab.bodies, SPHERE, tl_vec3(0.05, 0, R), UPRIGHT, NONE);
    run(&lab, 150);
    if (part) {
      stepper_free(lab.solver);
      lab_start(&lab);
      lab.solver->steps = 150;
    }
    run(&lab, 350);
    CK_OK(tl_bodies_hash(&lab.bodies, part ? &parts : &whole));
    lab_close(&lab);
  }
  ck_assert(whole == parts);
}
END_TEST

/* A low wall of finite height: what comes below its top is held, what comes above flies on. */
START_TEST(a_low_wall_holds_what_does_not_fly_over_it) {
  Lab lab;
  TlBoundarySolid wall = {
      &tl_closed_box, {0.02, 1, 0.1}, {0.21, 0, 0.05}, {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}};
  lab_open(&lab);
  add_wall(&lab, &tl_boundary_plane, &lab.plane, NULL);
  add_wall(&lab, &tl_boundary_solid, &wall, NULL);
  lab_start(&lab);
  tl_test_put(&lab.bodies, SPHERE, tl_vec3(0, 0, R), UPRIGHT, tl_vec3(1, 0, 0));
  tl_test_put(&lab.bodies, BOX, tl_vec3(0, 0.1, 0.2), UPRIGHT, tl_vec3(2, 0, 0));
  tl_test_put(&lab.bodies, SPHERE, tl_vec3(0.205, -0.1, 0.15), UPRIGHT,
              NONE); /* falls on the wall's top, off its middle */
  run(&lab, 1500);
  ck_assert(lab.bodies.position[0].x < 0.2 - R + 1e-4);
  ck_assert(lab.bodies.position[1].x > 0.22 + 0.5 * SIDE);
  for (int i = 0; i < 3; i++) ck_assert(lab.bodies.position[i].z > R - 1e-4);
  ck_assert(lab.report.boundary_overlap_m < 1e-4);
  lab_close(&lab);
}
END_TEST

TL_TEST_MAIN("walls", pipes_and_tubes_are_as_far_as_their_section_says,
             a_turned_box_is_the_box_seen_from_its_axes,
             a_piston_lifts_a_grain_and_its_work_is_booked, a_racket_returns_a_ball,
             a_wall_that_vanishes_lets_the_grain_go, a_wall_that_appears_catches_what_falls,
             a_belt_carries_a_box_off, the_surface_of_a_belt_runs_along_its_faces,
             a_box_rides_to_the_end_of_a_belt_and_flies_off,
             a_turning_drum_carries_a_box_up_to_the_angle_of_friction,
             a_shaken_table_keeps_what_its_acceleration_lets_it_keep,
             a_surface_has_its_own_friction, a_surface_out_of_range_is_refused,
             a_restart_finds_the_walls_where_they_were, a_low_wall_holds_what_does_not_fly_over_it)
