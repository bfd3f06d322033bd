/* The whole step against closed forms. */
#include "support/stepper.h"
#include "support/materials.h"
#include "support/placed.h"
#include "support/tltest.h"

#include "base/par.h"
#include "base/random.h"
#include "base/mem.h"
#include "solve/step.h"
#include "solve/workspace.h"
#include "shape/superellipsoid.h"
#include "shape/terrain_build.h"

enum { SPHERE = 1, CUBE = 2, GRAIN = 3, FINE_SPHERE = 4 };
static const double G = 9.81;

typedef struct Lab {
  TlAvatar avatar[5];
  TlSolverConfig config;
  TlBoundaryPlane plane[6];
  TlBoundary boundary[6];
  int planes;
  Stepper *solver;
  TlBodies bodies;
  TlStepReport report;
} Lab;

static const TlAvatar *get_avatar(void *ctx, int64_t id) {
  Lab *lab = ctx;
  if (id >= CUBE && id <= FINE_SPHERE && lab->avatar[id].phi) return &lab->avatar[id];
  tl_fail(TL_EINPUT, "avatar %lld is not in the catalog", (long long)id);
  return NULL;
}

static int lab_threads = 1; /* small scenes: waking a second thread costs more than it gives */

static void lab_open(Lab *lab) {
  memset(lab, 0, sizeof *lab);
  tl_par_set_threads(lab_threads);
  lab->config = tl_test_config();
}

static void lab_plane(Lab *lab, TlVec3 point, TlVec3 normal) {
  int i = lab->planes++;
  lab->plane[i] = (TlBoundaryPlane){point, tl_unit(normal)};
  lab->boundary[i] = (TlBoundary){&tl_boundary_plane, &lab->plane[i]};
}

static void lab_start(Lab *lab) {
  CK_OK(stepper_new(&lab->solver, &lab->config, (TlAvatarSource){lab, get_avatar}, lab->boundary,
                    lab->planes, NULL));
  CK_OK(stepper_add_sphere(lab->solver, SPHERE, 0.01));
}

static void lab_close(Lab *lab) {
  stepper_free(lab->solver);
  tl_bodies_free(&lab->bodies);
  for (int i = 0; i < 5; i++) tl_avatar_free(&lab->avatar[i]);
}

static void run(Lab *lab, int steps) {
  for (int i = 0; i < steps; i++) CK_OK(stepper_step(lab->solver, &lab->bodies, &lab->report));
}

static const TlQuat UPRIGHT = {1, 0, 0, 0};
static const TlVec3 NONE = {0, 0, 0};

START_TEST(free_fall_is_the_symplectic_closed_form) {
  Lab lab;
  lab_open(&lab);
  lab_start(&lab);
  tl_test_put(&lab.bodies, SPHERE, tl_vec3(1, 2, 3), UPRIGHT, tl_vec3(2, 0, 1));
  run(&lab, 1000);
  double t = 1, dt = 1e-3; /* z = z0 + v t - g t (t + dt)/2: 1000 roundings of 1e-15 */
  CK_NEAR(lab.bodies.position[0].z, 3 + t - 0.5 * G * t * (t + dt), 1e-11);
  CK_NEAR(lab.bodies.position[0].x, 3, 1e-11);
  lab_close(&lab);
}
END_TEST

/* Height of the n-th bounce: h e^(2n). The time of impact is known to dt, so the drop height to
 * v dt; relative error of h about 2 v dt/h + g dt/v a bounce. */
START_TEST(bounce_heights_fall_by_e_squared) {
  Lab lab;
  lab_open(&lab);
  lab.config.step_s = 2e-4;
  TL_TEST_SET(&lab.config, TL_TEST_BOUNDARY, restitution, 0.8);
  lab_plane(&lab, NONE, tl_vec3(0, 0, 1));
  lab_start(&lab);
  double h = 1, r = 0.01, top = 0, last = -1;
  tl_test_put(&lab.bodies, SPHERE, tl_vec3(0, 0, h + r), UPRIGHT, NONE);
  int bounces = 0;
  for (int i = 0; i < 13000 && bounces < 4; i++) {
    run(&lab, 1);
    double z = lab.bodies.position[0].z - r, v = lab.bodies.velocity[0].z;
    if (last < 0 && v > 0) top = 0; /* the start of a flight */
    if (z > top) top = z;
    if (last > 0 && v <= 0) {
      bounces++;
      double want = h * pow(0.8, 2 * bounces);
      CK_NEAR(top / want, 1, 0.01);
    }
    last = v;
  }
  ck_assert_int_eq(bounces, 4);
  lab_close(&lab);
}
END_TEST

static void block_on_slope(Lab *lab, double angle, double mu) {
  lab_open(lab);
  TL_TEST_SET(&lab->config, TL_TEST_BOUNDARY, friction, mu);
  TlVec3 n = {sin(angle), 0, cos(angle)};
  lab_plane(lab, NONE, n);
  CK_OK(tl_avatar_box(0.02, 0.02, 0.02, 0.002, 400, &lab->avatar[CUBE]));
  lab_start(lab);
  tl_test_put(&lab->bodies, CUBE, tl_scale(0.02, n), tl_quat_from_rotation(tl_vec3(0, angle, 0)),
              NONE);
}

START_TEST(a_block_slides_down_an_incline_by_energy_balance) {
  const double mus[3] = {0, 0.2, 0.4};
  for (int i = 0; i < 3; i++) {
    Lab lab;
    double angle = 0.6;
    block_on_slope(&lab, angle, mus[i]);
    TlVec3 start = lab.bodies.position[0];
    run(&lab, 500);
    double s = tl_norm(tl_sub(lab.bodies.position[0], start));
    double v2 = tl_norm2(lab.bodies.velocity[0]);
    CK_NEAR(v2 / (2 * G * s * (sin(angle) - mus[i] * cos(angle))), 1, 0.01);
    ck_assert(s > 0.25);
    CK_NEAR(tl_norm(tl_bodies_spin(&lab.bodies, 0)), 0, 1e-3);
    lab_close(&lab);
  }
}
END_TEST

START_TEST(a_block_rests_where_friction_exceeds_the_slope) {
  Lab lab;
  block_on_slope(&lab, 0.6, 0.75); /* tan 0.6 = 0.684 */
  TlVec3 start = lab.bodies.position[0];
  run(&lab, 1000);
  ck_assert(tl_norm(lab.bodies.velocity[0]) < 1e-4);
  CK_NEAR(tl_norm(tl_sub(lab.bodies.position[0], start)), 0, 1e-4);
  lab_close(&lab);
}
END_TEST

START_TEST(the_ground_carries_the_weight_of_a_resting_block) {
  Lab lab;
  block_on_slope(&lab, 0.3, 0.75);
  run(&lab, 500);
  TlContactRow *rows;
  int64_t count;
  CK_OK(stepper_contacts(lab.solver, &lab.bodies, &rows, &count));
  TlVec3 sum = NONE;
  for (int64_t i = 0; i < count; i++) {
    ck_assert(rows[i].first == lab.bodies.id[0] && rows[i].second < 0);
    sum = tl_add(sum, rows[i].force_N);
  }
  double weight = lab.bodies.mass[0] * G;
  CK_NEAR(sum.z / weight, 1, 1e-3); /* the resting solve stops at 1e-3 g dt */
  CK_NEAR(sum.x / weight, 0, 1e-3);
  tl_free(rows);
  lab_close(&lab);
}
END_TEST

START_TEST(a_sliding_sphere_comes_to_roll_at_five_sevenths) {
  Lab lab;
  lab_open(&lab);
  TL_TEST_SET(&lab.config, TL_TEST_BOUNDARY, friction, 0.3);
  lab_plane(&lab, NONE, tl_vec3(0, 0, 1));
  lab_start(&lab);
  tl_test_put(&lab.bodies, SPHERE, tl_vec3(0, 0, 0.01), UPRIGHT, tl_vec3(1, 0, 0));
  double end = 2 / (7 * 0.3 * G); /* u = u0 - mu g t until then */
  run(&lab, (int)(0.5 * end / 1e-3));
  CK_NEAR(lab.bodies.velocity[0].x, 1 - 0.3 * G * 1e-3 * (int)(0.5 * end / 1e-3), 1e-6);
  run(&lab, 100);
  CK_NEAR(lab.bodies.velocity[0].x, 5.0 / 7, 1e-6);
  CK_NEAR(tl_bodies_spin(&lab.bodies, 0).y, 5.0 / 7 / 0.01, 1e-4);
  lab_close(&lab);
}
END_TEST

/* It rocks from node to node: what each blow takes along the ground is mu times what it gives up.
 * Directions of slip differ by the spin's share of 10 m/s; 4 to 10% were lost where the end-of-step
 * correction pushed without friction. */
START_TEST(a_grain_that_rocks_as_it_slides_keeps_its_friction) {
  for (int trial = 0; trial < 4; trial++) {
    Lab lab;
    lab_open(&lab);
    double mu = 0.2, step = lab.config.step_s = 4e-3;
    TL_TEST_SET(&lab.config, TL_TEST_BOUNDARY, friction, mu);
    lab_plane(&lab, NONE, tl_vec3(0, 0, 1));
    CK_OK(tl_avatar_superellipsoid(0.65, 0.55, 0.3, 0.5, 0.8, 0.04, 200, &lab.avatar[GRAIN]));
    lab_start(&lab);
    TlQuat turned = tl_quat_from_rotation(tl_vec3(0.2 * trial, 0.1 * trial, 0));
    tl_test_put(&lab.bodies, GRAIN, tl_vec3(0, 0, 0.6), turned, tl_vec3(10, 0, 0));
    run(&lab, 1000);
    TlVec3 v = lab.bodies.velocity[0];
    ck_assert(v.x > 1 && fabs(v.y) < 0.1);
    CK_NEAR((10 - v.x) / (mu * (1000 * step * G + v.z)), 1, 0.02);
    lab_close(&lab);
  }
}
END_TEST

START_TEST(a_free_top_keeps_its_angular_momentum_and_its_energy) {
  Lab lab;
  double error[2];
  for (int k = 0; k < 2; k++) {
    lab_open(&lab);
    lab.config.gravity_m_s2 = NONE;
    lab.config.step_s = k ? 2.5e-3 : 5e-3;
    CK_OK(tl_avatar_superellipsoid(0.02, 0.013, 0.01, 1, 1, 0.002, 200, &lab.avatar[GRAIN]));
    lab_start(&lab);
    tl_test_put(&lab.bodies, GRAIN, NONE, UPRIGHT, NONE);
    CK_OK(stepper_refresh(lab.solver, &lab.bodies));
    tl_bodies_set_spin(&lab.bodies, 0, tl_vec3(1, 10, 1)); /* near the unstable middle axis */
    TlVec3 l = lab.bodies.momentum[0];
    double e0 = 0.5 * tl_dot(l, tl_bodies_spin(&lab.bodies, 0));
    run(&lab, k ? 800 : 400);
    ck_assert(memcmp(&l, &lab.bodies.momentum[0], sizeof l) == 0);
    error[k] = fabs(0.5 * tl_dot(l, tl_bodies_spin(&lab.bodies, 0)) / e0 - 1);
    lab_close(&lab);
  }
  ck_assert_msg(error[0] < 2e-3, "energy error %g", error[0]);
  ck_assert_msg(error[1] < 0.5 * error[0], "no second order: %g, %g", error[0], error[1]);
}
END_TEST

/* Euler's equations in the body's frame, of unit time. */
static TlVec3 euler_rate(TlVec3 i, TlVec3 w) {
  return tl_vec3((i.y - i.z) / i.x * w.y * w.z, (i.z - i.x) / i.y * w.z * w.x,
                 (i.x - i.y) / i.z * w.x * w.y);
}

static TlVec3 euler_step(TlVec3 i, TlVec3 w, double dt) {
  TlVec3 a = euler_rate(i, w), b = euler_rate(i, tl_axpy(w, 0.5 * dt, a)),
         c = euler_rate(i, tl_axpy(w, 0.5 * dt, b)), d = euler_rate(i, tl_axpy(w, dt, c));
  return tl_axpy(w, dt / 6, tl_add(tl_add(a, d), tl_scale(2, tl_add(b, c))));
}

/* Each time the spin about the middle axis passes zero the body has turned over. */
typedef struct Flips {
  double last, first_s, last_s;
  int count;
} Flips;

static void flips_see(Flips *f, double y, double time_s, double dt) {
  if (f->last * y < 0) {
    f->last_s = time_s - dt * y / (y - f->last);
    if (f->count++ == 0) f->first_s = f->last_s;
  }
  f->last = y;
}

static double flips_period(const Flips *f) {
  return (f->last_s - f->first_s) / (f->count - 1);
}

/* A brick about its middle axis at 0.1 rad a step, which turns over again and again. */
START_TEST(a_tumbling_brick_keeps_its_energy_and_its_period_for_long) {
  enum { BRICK = 7, STEPS = 100000, PARTS = 10 };
  static const double size[3] = {0.02, 0.03, 0.05};
  Lab lab;
  lab_open(&lab);
  lab.config.gravity_m_s2 = NONE;
  lab.config.step_s = 5e-3;
  lab_start(&lab);
  CK_OK(stepper_add_closed(lab.solver, BRICK, &tl_closed_box, size));
  tl_test_put(&lab.bodies, BRICK, NONE, UPRIGHT, NONE);
  CK_OK(stepper_refresh(lab.solver, &lab.bodies));
  TlVec3 w = tl_vec3(0.5, 20, 1), inertia = lab.bodies.inertia[0];
  tl_bodies_set_spin(&lab.bodies, 0, w);
  TlVec3 l = lab.bodies.momentum[0];
  double e0 = 0.5 * tl_dot(l, w), worst = 0, dt = lab.config.step_s;
  Flips seen = {0}, want = {0};
  for (int k = 0; k < STEPS; k++) {
    run(&lab, 1);
    TlVec3 spin = tl_bodies_spin(&lab.bodies, 0);
    worst = fmax(worst, fabs(0.5 * tl_dot(l, spin) / e0 - 1));
    flips_see(&seen, tl_mat_tvec(tl_quat_matrix(lab.bodies.rotation[0]), spin).y, (k + 1) * dt, dt);
    for (int part = 0; part < PARTS; part++) w = euler_step(inertia, w, dt / PARTS);
    flips_see(&want, w.y, (k + 1) * dt, dt);
  }
  ck_assert(memcmp(&l, &lab.bodies.momentum[0], sizeof l) == 0);
  ck_assert_int_gt(want.count, 100);
  ck_assert_msg(worst < 1e-3, "energy off by %g", worst);
  CK_NEAR(flips_period(&seen) / flips_period(&want), 1, 0.01);
  lab_close(&lab);
}
END_TEST

START_TEST(two_spheres_in_flight_exchange_momentum_by_e) {
  Lab lab;
  lab_open(&lab);
  lab.config.gravity_m_s2 = NONE;
  TL_TEST_SET(&lab.config, TL_TEST_GRAIN, restitution, 0.6);
  lab_start(&lab);
  tl_test_put(&lab.bodies, SPHERE, tl_vec3(0, 0, 0), UPRIGHT, tl_vec3(1, 0, 0));
  tl_test_put(&lab.bodies, SPHERE, tl_vec3(0.1, 0, 0), UPRIGHT, tl_vec3(-1, 0, 0));
  run(&lab, 200);
  CK_NEAR(lab.bodies.velocity[1].x - lab.bodies.velocity[0].x, 1.2, 1e-9);
  CK_NEAR(lab.bodies.velocity[1].x + lab.bodies.velocity[0].x, 0, 1e-12);
  lab_close(&lab);
}
END_TEST

/* Every rank and thread count must give these bits; here the threads. */
static void heap(Lab *lab, int count, int steps, double dt, double damping, double *drop_J,
                 double *peak) {
  lab_open(lab);
  lab->config.damping_per_s = damping;
  lab->config.step_s = dt;
  TL_TEST_SET(&lab->config, TL_TEST_BOTH, restitution, 0.3);
  double w = 0.045;
  lab_plane(lab, NONE, tl_vec3(0, 0, 1));
  lab_plane(lab, tl_vec3(-w, 0, 0), tl_vec3(1, 0, 0));
  lab_plane(lab, tl_vec3(w, 0, 0), tl_vec3(-1, 0, 0));
  lab_plane(lab, tl_vec3(0, -w, 0), tl_vec3(0, 1, 0));
  lab_plane(lab, tl_vec3(0, w, 0), tl_vec3(0, -1, 0));
  CK_OK(tl_avatar_superellipsoid(0.01, 0.008, 0.007, 0.7, 0.8, 0.001, 300, &lab->avatar[GRAIN]));
  lab_start(lab);
  TlRandom x = {21, 0, 0};
  for (int i = 0; i < count; i++) {
    TlQuat q = tl_quat_unit((TlQuat){tl_random_next_normal(&x), tl_random_next_normal(&x),
                                     tl_random_next_normal(&x), tl_random_next_normal(&x)});
    double s = 0.022;
    tl_test_put(&lab->bodies, GRAIN,
                tl_vec3((i % 4 - 1.5) * s, (i / 4 % 4 - 1.5) * s, (i / 16 + 0.6) * s), q, NONE);
  }
  CK_OK(stepper_refresh(lab->solver, &lab->bodies));
  *drop_J = *peak = 0;
  for (int i = 0; i < count; i++) *drop_J += lab->bodies.mass[i] * G * lab->bodies.position[i].z;
  for (int i = 0; i < steps; i++) {
    run(lab, 1);
    *peak = fmax(*peak, fmax(lab->report.overlap_share, lab->report.boundary_overlap_share));
  }
}

/* Smooth grains roll and rock on each other without loss: global damping (Tan 2024 Eq. 47) of
 * xi = 1/s takes that, 1e-6 of the drop energy is left after ln(1e6)/(2 xi) at the latest, and for the
 * 100 steps after. */
START_TEST(a_heap_of_superellipsoids_comes_to_rest_without_overlap) {
  Lab lab;
  double drop, peak;
  heap(&lab, 60, 0, 2e-3, 1, &drop, &peak);
  int quiet = 0;
  const int latest = (int)(log(1e6) / 2 / 2e-3) + 100;
  for (int i = 0; i < latest && quiet < 50; i++) {
    run(&lab, 1);
    peak = fmax(peak, fmax(lab.report.overlap_share, lab.report.boundary_overlap_share));
    quiet = lab.report.kinetic_J < 1e-6 * drop ? quiet + 1 : 0;
  }
  ck_assert_msg(quiet == 50, "kinetic energy %g of %g", lab.report.kinetic_J, drop);
  ck_assert_msg(lab.report.overlap_share < 0.01, "overlap %g", lab.report.overlap_share);
  ck_assert_msg(lab.report.boundary_overlap_share < 0.01, "wall overlap %g",
                lab.report.boundary_overlap_share);
  ck_assert_msg(peak < 0.0055, "peak overlap %g", peak);
  lab_close(&lab);
}
END_TEST

/* Grains of one kind thrown down into a bin of five planes. */
static void throw_down(Lab *lab, TlVec3 gravity, double e, double dt, double speed) {
  lab_open(lab);
  lab->config.gravity_m_s2 = gravity;
  lab->config.step_s = dt;
  TL_TEST_SET(&lab->config, TL_TEST_BOTH, restitution, e);
  double pitch = 0.031, w = 3 * pitch;
  lab_plane(lab, NONE, tl_vec3(0, 0, 1));
  lab_plane(lab, NONE, tl_vec3(1, 0, 0));
  lab_plane(lab, tl_vec3(w, 0, 0), tl_vec3(-1, 0, 0));
  lab_plane(lab, NONE, tl_vec3(0, 1, 0));
  lab_plane(lab, tl_vec3(0, w, 0), tl_vec3(0, -1, 0));
  lab_start(lab);
  TlRandom x = {7, 0, 0};
  for (int i = 0; i < 27; i++) {
    TlQuat q = tl_quat_unit((TlQuat){tl_random_next_normal(&x), tl_random_next_normal(&x),
                                     tl_random_next_normal(&x), tl_random_next_normal(&x)});
    TlVec3 at = {(i % 3 + 0.5) * pitch, (i / 3 % 3 + 0.5) * pitch, (i / 9 + 0.5) * pitch};
    tl_test_put(&lab->bodies, GRAIN, at, q, tl_vec3(0.3 * i / 27, 0, -speed));
  }
}

/* Long grains at 2 m/s and 2 ms turn by 0.2-0.8 in a step: without the second look at the end poses
 * they end up to 10% of their radius inside each other. Bound: five slops. */
START_TEST(grains_thrown_together_at_large_steps_end_apart) {
  Lab lab;
  throw_down(&lab, tl_vec3(0, 0, -G), 0.3, 2e-3, 2);
  CK_OK(tl_avatar_box(0.012, 0.006, 0.004, 1e-3, 300, &lab.avatar[GRAIN]));
  double deepest = 0;
  int64_t rechecks = 0;
  for (int i = 0; i < 60; i++) {
    run(&lab, 1);
    deepest = fmax(deepest, fmax(lab.report.overlap_share, lab.report.boundary_overlap_share));
    rechecks += lab.report.rechecks;
  }
  ck_assert_msg(deepest < 0.0055, "deepest overlap %g of the radius", deepest);
  ck_assert(rechecks > 0);
  lab_close(&lab);
}
END_TEST

/* No gravity, no loss but in contacts, cubes (whose spin energy the move keeps): no stage of the
 * step may add energy. */
START_TEST(kinetic_energy_never_rises_in_a_step) {
  const double es[3] = {1, 0.5, 0};
  for (int k = 0; k < 3; k++) {
    Lab lab;
    throw_down(&lab, NONE, es[k], 2e-3, 2);
    CK_OK(tl_avatar_box(0.008, 0.008, 0.008, 1e-3, 300, &lab.avatar[CUBE]));
    for (int64_t i = 0; i < lab.bodies.total; i++) lab.bodies.colliders.avatar_id[i] = CUBE;
    CK_OK(stepper_refresh(lab.solver, &lab.bodies));
    double last = 0, first;
    for (int64_t i = 0; i < lab.bodies.total; i++)
      last += 0.5 * lab.bodies.mass[i] * tl_norm2(lab.bodies.velocity[i]);
    first = last;
    for (int i = 0; i < 60; i++) {
      run(&lab, 1);
      ck_assert_msg(lab.report.kinetic_J <= last * (1 + 1e-12), "e %g, step %d: %.17g -> %.17g",
                    es[k], i, last, lab.report.kinetic_J);
      last = lab.report.kinetic_J;
    }
    ck_assert(last < first); /* something happened: friction takes some even at e = 1 */
    lab_close(&lab);
  }
}
END_TEST

START_TEST(the_step_gives_the_same_bits_for_one_two_and_three_threads) {
  uint64_t hash[3];
  for (int threads = 1; threads <= 3; threads++) {
    Lab lab;
    double drop, peak;
    lab_threads = threads;
    heap(&lab, 60, 80, 2e-3, 0, &drop, &peak);
    CK_OK(tl_bodies_hash(&lab.bodies, &hash[threads - 1]));
    lab_close(&lab);
  }
  lab_threads = 1;
  ck_assert(hash[0] == hash[1]);
  ck_assert(hash[0] == hash[2]);
}
END_TEST

/* A valley with a 5 m band and grains of 1 m at 60 m/s: 0.12 m a step of 2e-3 s, 0.3 m with spin.
 */
static void make_valley(TlTerrain *terrain) {
  enum { N = 48 };
  static double z[N * N];
  for (int j = 0; j < N; j++)
    for (int i = 0; i < N; i++) {
      double a = 0.5 * i, b = 0.5 * j; /* features of 5 m on a cell of 2.5 m: 2 cells are 5 m */
      z[j * N + i] = 0.02 * (a - 12) * (a - 12) * 5 - 1.5 * b + 2 * sin(0.9 * a) * cos(0.7 * b);
    }
  TlTerrainSource source = {
      .name = "valley", .crs = "", .nx = N, .ny = N, .cell_m = 2.5, .height_m = z};
  TlTerrainOptions options = {.band_cells = 2, .refine = 1};
  memset(terrain, 0, sizeof *terrain);
  CK_OK(tl_terrain_build(terrain, &source, &options));
}

START_TEST(a_grain_at_sixty_metres_a_second_is_caught_by_the_ground) {
  TlTerrain terrain;
  make_valley(&terrain);
  for (int trial = 0; trial < 6; trial++) {
    Lab lab;
    lab_open(&lab);
    lab.config.step_s = 2e-3;
    lab.boundary[0] = (TlBoundary){&tl_boundary_terrain, &terrain};
    lab.planes = 1;
    CK_OK(tl_avatar_superellipsoid(1.0, 0.6, 0.5, 0.8, 0.9, 0.08, 300, &lab.avatar[GRAIN]));
    lab_start(&lab);
    TlVec3 x = {60, 60, 40}, v[6] = {{0, 0, -60},  {0, 30, -52}, {-40, 0, -45},
                                     {59, 0, -10}, {0, 0, -60},  {30, -30, -42}};
    tl_test_put(&lab.bodies, GRAIN, x, tl_quat_from_rotation(tl_vec3(trial, 1, 2)), v[trial]);
    CK_OK(stepper_refresh(lab.solver, &lab.bodies));
    if (trial > 3) tl_bodies_set_spin(&lab.bodies, 0, tl_vec3(60, 0, 40));
    double deepest = 0;
    int64_t impulses = 0;
    for (int i = 0; i < 800; i++) {
      run(&lab, 1);
      impulses += lab.report.impulses;
      if (lab.bodies.flags[0] & TL_BODY_OUTSIDE) break;
      deepest = fmax(deepest, lab.report.boundary_overlap_share);
    }
    ck_assert_msg(deepest < 0.02, "trial %d: %g of the radius under the ground", trial, deepest);
    ck_assert(impulses > 0);
    lab_close(&lab);
  }
  tl_terrain_free(&terrain);
}
END_TEST

START_TEST(a_grain_over_no_ground_is_flagged) {
  TlTerrain terrain;
  make_valley(&terrain);
  Lab lab;
  lab_open(&lab);
  lab.boundary[0] = (TlBoundary){&tl_boundary_terrain, &terrain};
  lab.planes = 1;
  lab_start(&lab);
  tl_test_put(&lab.bodies, SPHERE, tl_vec3(60, 60, 80), UPRIGHT, NONE);
  tl_test_put(&lab.bodies, SPHERE, tl_vec3(-60, 60, 80), UPRIGHT, NONE);
  run(&lab, 1);
  ck_assert(lab.bodies.flags[0] == 0 && lab.bodies.flags[1] == TL_BODY_OUTSIDE);
  ck_assert_int_eq((int)lab.report.outside, 1);
  lab_close(&lab);
  tl_terrain_free(&terrain);
}
END_TEST

/* ---- embedded grains (Tan 2022 5.4.4) ---- */

START_TEST(a_grain_inside_another_is_named_at_once) {
  Lab lab;
  lab_open(&lab);
  lab_start(&lab);
  tl_test_put(&lab.bodies, SPHERE, tl_vec3(1, 0, 0), UPRIGHT, NONE);
  tl_test_put(&lab.bodies, SPHERE, NONE, UPRIGHT, NONE);
  int64_t small = tl_test_put(&lab.bodies, SPHERE, tl_vec3(0.004, 0, 0), UPRIGHT, NONE), count;
  lab.bodies.colliders.scale[small] = 0.3; /* 3 mm about a point 6 mm under the other's surface */
  run(&lab, 1);
  const TlProblemRow *row = stepper_problems(lab.solver, &count);
  ck_assert_int_eq(count, 1);
  ck_assert(lab.report.embedded == 1 && row->grain == small && row->other == 1 && row->inside);
  ck_assert(lab.bodies.flags[small] & TL_BODY_EMBEDDED && lab.bodies.flags[1] == 0);
  CK_NEAR(row->overlap_m, 0.009, 1e-12);
  lab_close(&lab);
}
END_TEST

/* A sphere of 20 mm between fixed planes 15 mm apart: no way out. */
START_TEST(a_wedged_grain_is_named_after_the_steps_asked_for) {
  Lab lab;
  lab_open(&lab);
  lab.config.impulses.problem_steps = 30;
  lab_plane(&lab, NONE, tl_vec3(0, 0, 1));
  lab_plane(&lab, tl_vec3(0, 0, 0.015), tl_vec3(0, 0, -1));
  lab_start(&lab);
  tl_test_put(&lab.bodies, SPHERE, tl_vec3(0, 0, 0.0075), UPRIGHT, NONE);
  run(&lab, 29);
  ck_assert(lab.report.embedded == 0 && lab.bodies.strained[0] == 29);
  run(&lab, 1);
  int64_t count;
  const TlProblemRow *row = stepper_problems(lab.solver, &count);
  ck_assert(count == 1 && row->other < 0 && row->steps == 30 && !row->inside);
  lab_close(&lab);
}
END_TEST

START_TEST(a_deep_overlap_that_is_undone_is_not_embedded) {
  Lab lab;
  lab_open(&lab);
  lab_start(&lab);
  tl_test_put(&lab.bodies, SPHERE, NONE, UPRIGHT, NONE);
  tl_test_put(&lab.bodies, SPHERE, tl_vec3(0.013, 0, 0), UPRIGHT, NONE); /* 70% of the radius */
  int64_t embedded = 0;
  for (int i = 0; i < 60; i++) {
    run(&lab, 1);
    embedded += lab.report.embedded;
  }
  ck_assert(embedded == 0 && lab.bodies.strained[0] == 0);
  ck_assert(lab.report.overlap_share < 0.01);
  lab_close(&lab);
}
END_TEST

/* A sphere of 20 mm between walls 22 mm apart that close at 20 mm/s, 0.02 mm a step: from step 50
 * on no velocity satisfies both, and ETM finds no end. It is named long before the overlap is. */
START_TEST(a_ball_between_closing_walls_is_named_and_does_not_stall) {
  const TlDrive drive[2] = {{.velocity_m_s = {0.01, 0, 0}}, {.velocity_m_s = {-0.01, 0, 0}}};
  Lab lab;
  lab_open(&lab);
  lab.config.step_s = 1e-3;
  lab.config.impulses.problem_steps = 20;
  lab.config.gravity_m_s2 = NONE;
  lab_plane(&lab, tl_vec3(-0.0105, 0, 0), tl_vec3(1, 0, 0));
  lab_plane(&lab, tl_vec3(0.0105, 0, 0), tl_vec3(-1, 0, 0));
  for (int i = 0; i < 2; i++) lab.boundary[i].drive = &drive[i];
  lab_start(&lab);
  tl_test_put(&lab.bodies, SPHERE, NONE, UPRIGHT, NONE);
  int64_t count, named = 0, most = 0;
  int first = 0;
  for (int step = 1; step <= 120; step++) {
    run(&lab, 1);
    named += lab.report.unresolved;
    most = lab.report.impulses > most ? lab.report.impulses : most;
    if (!lab.report.unresolved) continue;
    first = step;
    const TlProblemRow *row = stepper_problems(lab.solver, &count);
    ck_assert(count == 1 && row->unresolved && row->grain == 0 && row->other < 0 &&
              row->steps == 20);
    ck_assert(row->fraction < 0.1 && tl_norm(row->position_m) < 0.001);
  }
  ck_assert_int_eq(named, 1);
  ck_assert_int_ge(first, 69);
  ck_assert_int_le(first, 72);
  ck_assert(lab.bodies.flags[0] & TL_BODY_UNRESOLVED);
  ck_assert_int_gt(lab.bodies.unresolved[0], 60);
  /* one round: K levels and 64 visits, each of 16 K impulses a point at most */
  int64_t k = lab.config.impulses.increments;
  ck_assert(most > 0 && most <= (k + 64) * 16 * k * 2);
  lab_close(&lab);
}
END_TEST

START_TEST(a_velocity_that_is_not_finite_stops_with_grain_and_step) {
  Lab lab;
  lab_open(&lab);
  lab_start(&lab);
  tl_test_put(&lab.bodies, SPHERE, NONE, UPRIGHT, NONE);
  tl_test_put(&lab.bodies, SPHERE, tl_vec3(1, 0, 0), UPRIGHT, NONE);
  run(&lab, 3);
  lab.bodies.velocity[1].y = NAN;
  CK_FAILS(stepper_step(lab.solver, &lab.bodies, NULL), TL_ELIMIT, "grain 1");
  CK_FAILS(stepper_step(lab.solver, &lab.bodies, NULL), TL_ELIMIT, "step 5");
  lab_close(&lab);
}
END_TEST

START_TEST(a_pose_that_is_not_finite_stops_with_grain_and_step) {
  Lab lab;
  lab_open(&lab);
  lab_start(&lab);
  tl_test_put(&lab.bodies, SPHERE, NONE, UPRIGHT, NONE);
  tl_test_put(&lab.bodies, SPHERE, tl_vec3(1, 0, 0), UPRIGHT, NONE);
  run(&lab, 3);
  lab.bodies.position[1].x = NAN;
  CK_FAILS(stepper_step(lab.solver, &lab.bodies, NULL), TL_ELIMIT, "grain 1");
  CK_FAILS(stepper_step(lab.solver, &lab.bodies, NULL), TL_ELIMIT, "step 4");
  lab_close(&lab);
}
END_TEST

/* Distances that went bad in the middle of a face: NaN is no gap of 0, whichever way nodes are
 * searched. */
static void meet_not_a_number(TlSearch search) {
  Lab lab;
  lab_open(&lab);
  lab.config.search.how = search;
  lab.config.search.edges = TL_EDGES_NODES;
  CK_OK(tl_avatar_box(0.01, 0.01, 0.01, 1e-3, 200, &lab.avatar[CUBE]));
  lab_start(&lab);
  tl_test_put(&lab.bodies, CUBE, NONE, UPRIGHT, NONE);
  tl_test_put(&lab.bodies, CUBE, tl_vec3(0.0199, 0, 0), UPRIGHT, NONE);
  run(&lab, 3);
  TlAvatar *a = &lab.avatar[CUBE];
  for (int32_t i = 0; i < a->nx; i++) /* a row through the middle of two faces */
    a->phi[(a->nz / 2 * a->ny + a->ny / 2) * a->nx + i] = (float)NAN;
  CK_FAILS(stepper_step(lab.solver, &lab.bodies, NULL), TL_EINPUT, "grains 0 and 1");
  CK_FAILS(stepper_step(lab.solver, &lab.bodies, NULL), TL_EINPUT, "step 4");
  CK_FAILS(stepper_step(lab.solver, &lab.bodies, NULL), TL_EINPUT, "not a number");
  lab_close(&lab);
}

START_TEST(a_gap_that_is_not_a_number_stops_with_both_grains_and_the_step) {
  meet_not_a_number(TL_SEARCH_NEAR);
  meet_not_a_number(TL_SEARCH_TREE);
  meet_not_a_number(TL_SEARCH_ALL);
}
END_TEST

START_TEST(a_value_out_of_range_is_a_usage_error) {
  TlSolverConfig c = tl_test_config();
  Stepper *s = NULL;
  TL_TEST_SET(&c, TL_TEST_GRAIN, restitution, 1.5);
  CK_FAILS(stepper_new(&s, &c, (TlAvatarSource){0}, NULL, 0, NULL), TL_EUSAGE, "restitution");
  c = tl_test_config();
  c.step_s = NAN;
  CK_FAILS(stepper_new(&s, &c, (TlAvatarSource){0}, NULL, 0, NULL), TL_EUSAGE, "time step");
}
END_TEST

/* Two grains side by side, a fifth of a radius apart, and a stone of 30 m/s: what is sought of the two,
 * and what is found, depends on whether the stone can reach them, not on how fast it is. */
static TlStepReport beside_a_stone(double stone_z, int *between) {
  Lab lab;
  lab_open(&lab);
  lab_plane(&lab, NONE, tl_vec3(0, 0, 1));
  CK_OK(tl_avatar_superellipsoid(0.010, 0.009, 0.008, 0.8, 0.9, 0.0008, 400, &lab.avatar[GRAIN]));
  lab_start(&lab);
  for (int k = 0; k < 2; k++)
    tl_test_put(&lab.bodies, GRAIN, tl_vec3(0.022 * k, 0, 0.008), lab.avatar[GRAIN].scan_rotation,
                NONE);
  if (stone_z > 0)
    tl_test_put(&lab.bodies, SPHERE, tl_vec3(0.011, 0, stone_z), UPRIGHT, tl_vec3(0, 0, 30));
  run(&lab, 1);
  *between = 0;
  const TlFound *found = &lab.solver->work->found;
  for (int32_t i = 0; i < found->pairs; i++)
    if (found->pair[i].a == 0 && found->pair[i].b == 1) *between += found->pair[i].count;
  TlStepReport report = lab.report;
  lab_close(&lab);
  return report;
}

START_TEST(a_fast_stone_far_away_widens_no_margin) {
  int between[3];
  TlStepReport alone = beside_a_stone(0, &between[0]), far = beside_a_stone(5, &between[1]);
  beside_a_stone(0.05, &between[2]);
  ck_assert_int_eq(far.lookups, alone.lookups);
  ck_assert_int_eq(far.node_tests, alone.node_tests);
  ck_assert_int_eq(far.contacts, alone.contacts);
  ck_assert_int_eq(far.islands, alone.islands);
  ck_assert_int_eq(between[0] + between[1], 0);
  ck_assert_int_gt(between[2], 0); /* from there a blow could come */
}
END_TEST

TL_TEST_MAIN("dem step", free_fall_is_the_symplectic_closed_form, bounce_heights_fall_by_e_squared,
             a_block_slides_down_an_incline_by_energy_balance,
             a_block_rests_where_friction_exceeds_the_slope,
             the_ground_carries_the_weight_of_a_resting_block,
             a_sliding_sphere_comes_to_roll_at_five_sevenths,
             a_grain_that_rocks_as_it_slides_keeps_its_friction,
             a_free_top_keeps_its_angular_momentum_and_its_energy,
             a_tumbling_brick_keeps_its_energy_and_its_period_for_long,
             two_spheres_in_flight_exchange_momentum_by_e,
             a_heap_of_superellipsoids_comes_to_rest_without_overlap,
             grains_thrown_together_at_large_steps_end_apart, kinetic_energy_never_rises_in_a_step,
             the_step_gives_the_same_bits_for_one_two_and_three_threads,
             a_grain_at_sixty_metres_a_second_is_caught_by_the_ground,
             a_grain_over_no_ground_is_flagged, a_grain_inside_another_is_named_at_once,
             a_wedged_grain_is_named_after_the_steps_asked_for,
             a_deep_overlap_that_is_undone_is_not_embedded,
             a_ball_between_closing_walls_is_named_and_does_not_stall,
             a_velocity_that_is_not_finite_stops_with_grain_and_step,
             a_pose_that_is_not_finite_stops_with_grain_and_step,
             a_gap_that_is_not_a_number_stops_with_both_grains_and_the_step,
             a_value_out_of_range_is_a_usage_error, a_fast_stone_far_away_widens_no_margin)
