/* The nonsmooth method against closed forms. */

#include "support/stepper.h"
#include "support/materials.h"
#include "support/placed.h"
#include "support/tltest.h"

#include "base/par.h"
#include "solve/islands.h"
#include "solve/nonsmooth_rows.h"
#include "base/random.h"
#include "run/energy_balance.h"
#include "solve/step.h"

#include <math.h>
#include <string.h>

enum { SPHERE = 1, BOX = 2, SMALL = 3 };
static const double R = 0.01, RHO = 2600, G = 9.81;
static const TlQuat UPRIGHT = {1, 0, 0, 0};
static const TlVec3 NONE = {0, 0, 0};

typedef struct Lab {
  TlSolverConfig config;
  TlBoundaryPlane plane[6];
  TlBoundary boundary[6];
  int planes;
  Stepper *solver;
  TlBodies bodies;
  TlStepReport report;
} Lab;

static void lab_open(Lab *lab) {
  memset(lab, 0, sizeof *lab);
  tl_par_set_threads(1);
  TlSolverConfig c = tl_test_nonsmooth();
  c.step_s = 1e-3;
  c.gravity_m_s2 = tl_vec3(0, 0, -G);
  c.density_kg_m3 = RHO;
  TL_TEST_SET(&c, TL_TEST_BOTH, friction, 0);
  TL_TEST_SET(&c, TL_TEST_BOTH, restitution, 0);
  TL_TEST_SET(&c, TL_TEST_BOTH, stiffness.young_Pa, 1e7);
  TL_TEST_SET(&c, TL_TEST_BOTH, stiffness.normal_N_m, 1e4);
  lab->config = c;
}

static void lab_plane(Lab *lab, TlVec3 point, TlVec3 normal) {
  int i = lab->planes++;
  lab->plane[i] = (TlBoundaryPlane){point, tl_unit(normal)};
  lab->boundary[i] = (TlBoundary){.kind = &tl_boundary_plane, .data = &lab->plane[i]};
}

static void lab_start(Lab *lab) {
  static const double box[3] = {0.01, 0.02, 0.006};
  CK_OK(stepper_new(&lab->solver, &lab->config, (TlAvatarSource){0}, lab->boundary, lab->planes,
                    NULL));
  CK_OK(stepper_add_sphere(lab->solver, SPHERE, R));
  CK_OK(stepper_add_sphere(lab->solver, SMALL, 0.5 * R));
  CK_OK(stepper_add_closed(lab->solver, BOX, &tl_closed_box, box));
}

static void lab_close(Lab *lab) {
  stepper_free(lab->solver);
  tl_bodies_free(&lab->bodies);
}

static void step(Lab *lab) {
  CK_OK(stepper_step(lab->solver, &lab->bodies, &lab->report));
}

static void put(Lab *lab, int64_t shape, TlVec3 x, TlVec3 v) {
  tl_test_put(&lab->bodies, shape, x, UPRIGHT, v);
}

static double mass(void) {
  return 4.0 / 3 * M_PI * R * R * R * RHO;
}

static double star(const Lab *lab) { /* E* */
  const TlStiffness *k = &tl_test_boundary(&lab->config)->stiffness;
  return k->young_Pa / (2 * (1 - k->poisson * k->poisson));
}

/* ---- normal force ---- */

/* F = 4/3 E* sqrt(R) delta^1.5: the weight of a sphere, whatever the step. */
START_TEST(sphere_on_a_plane_follows_hertz) {
  const double steps[] = {1e-5, 1e-4, 1e-3, 1e-2};
  for (int i = 0; i < 4; i++) {
    Lab lab;
    lab_open(&lab);
    lab.config.step_s = steps[i];
    lab_plane(&lab, NONE, tl_vec3(0, 0, 1));
    lab_start(&lab);
    put(&lab, SPHERE, tl_vec3(0, 0, R), NONE);
    double due = pow(mass() * G / (4.0 / 3 * star(&lab) * sqrt(R)), 2.0 / 3);
    int count = steps[i] < 5e-5 ? 40000 : 4000;
    for (int k = 0; k < count; k++) step(&lab);
    CK_NEAR((R - lab.bodies.position[0].z) / due, 1, 1e-3);
    TlContactRow *row;
    int64_t rows;
    CK_OK(stepper_contacts(lab.solver, &lab.bodies, &row, &rows));
    ck_assert_int_eq(rows, 1);
    CK_NEAR(row[0].force_N.z / (mass() * G), 1, 1e-3);
    CK_NEAR(row[0].gap_m / -due, 1, 1e-3);
    tl_free(row);
    lab_close(&lab);
  }
}
END_TEST

START_TEST(linear_mapping_is_a_spring) {
  Lab lab;
  lab_open(&lab);
  lab.config.nonsmooth.law = TL_MAP_LINEAR;
  lab_plane(&lab, NONE, tl_vec3(0, 0, 1));
  lab_start(&lab);
  put(&lab, SPHERE, tl_vec3(0, 0, R), NONE);
  for (int k = 0; k < 4000; k++) step(&lab);
  CK_NEAR((R - lab.bodies.position[0].z) / (mass() * G / 1e4), 1, 1e-6);
  lab_close(&lab);
}
END_TEST

/* Newton's law: the velocity after the step of the impact is e times the one before, less gravity's. half_m_s: speed at
 * which restitution has fallen to half; 0: at none. */
static double rebound(double h, double e, double half_m_s) {
  Lab lab;
  lab_open(&lab);
  lab.config.step_s = h;
  TL_TEST_SET(&lab.config, TL_TEST_BOTH, restitution, e);
  TL_TEST_SET(&lab.config, TL_TEST_BOTH, restitution_half_m_s, half_m_s);
  TL_TEST_SET(&lab.config, TL_TEST_BOTH, restitution_power, 1);
  lab_plane(&lab, NONE, tl_vec3(0, 0, 1));
  lab_start(&lab);
  put(&lab, SPHERE, tl_vec3(0, 0, 0.1 + R), NONE);
  double before = 0, after = 0;
  for (int k = 0; k < 1000000; k++) {
    before = lab.bodies.velocity[0].z;
    step(&lab);
    after = lab.bodies.velocity[0].z;
    if (after > 0) break;
  }
  lab_close(&lab);
  return (after + h * G) / -before;
}

START_TEST(rebound_is_the_restitution_at_any_step) {
  const double steps[] = {1e-4, 5e-4, 1e-3, 2e-3, 5e-3};
  for (int i = 0; i < 5; i++) CK_NEAR(rebound(steps[i], 0.8, 0), 0.8, 1e-9);
  for (int i = 0; i < 5; i++) CK_NEAR(rebound(steps[i], 1, 0), 1, 1e-9);
  double speed = sqrt(2 * G * 0.1);
  CK_NEAR(rebound(1e-5, 0.8, 2), 0.8 / (1 + speed / 2), 1e-4);
}
END_TEST

/* ---- friction, rolling ---- */

/* Where a sphere strikes, what closes slowly beside it goes on as it would have: compliance takes it, not the blow. */
START_TEST(a_blow_leaves_slow_contacts_alone) {
  double along[2];
  for (int struck = 0; struck < 2; struck++) {
    Lab lab;
    lab_open(&lab);
    lab.config.gravity_m_s2 = NONE;
    lab.config.nonsmooth.impact_threshold_m_s = 0.1;
    lab_start(&lab);
    TlVec3 second = {2 * R - 1e-5, 0, 0};
    put(&lab, SPHERE, NONE, tl_vec3(0.02, 0, 0));
    put(&lab, SPHERE, second, NONE);
    if (struck) put(&lab, SPHERE, tl_add(second, tl_vec3(0, 2 * R, 0)), tl_vec3(0, -1, 0));
    step(&lab);
    along[struck] = lab.bodies.velocity[0].x;
    CK_NEAR(lab.bodies.velocity[0].x + lab.bodies.velocity[1].x, 0.02, 1e-12);
    CK_NEAR(lab.bodies.velocity[1].y, struck ? -0.5 : 0, 1e-3);
    lab_close(&lab);
  }
  CK_NEAR(along[1], along[0], 1e-9);
  ck_assert_msg(fabs(along[0] - 0.01) > 1e-4, "%g: as a blow would have it", along[0]);
}
END_TEST

/* A box slides down at g (sin - mu cos), and stays where mu is more than the slope. */
START_TEST(box_slides_by_coulomb) {
  for (int stays = 0; stays < 2; stays++) {
    Lab lab;
    double mu = 0.3, slope = stays ? 0.29 : 0.5, angle = atan(slope), h = 1e-3;
    lab_open(&lab);
    TL_TEST_SET(&lab.config, TL_TEST_BOTH, friction, mu);
    lab.config.gravity_m_s2 = tl_vec3(G * sin(angle), 0, -G * cos(angle));
    lab_plane(&lab, NONE, tl_vec3(0, 0, 1));
    lab_start(&lab);
    put(&lab, BOX, tl_vec3(0, 0, 0.003), NONE);
    for (int k = 0; k < 1000; k++) step(&lab);
    TlVec3 v = lab.bodies.velocity[0], w = tl_bodies_spin(&lab.bodies, 0);
    double due = stays ? 0 : G * (sin(angle) - mu * cos(angle)) * 1000 * h;
    ck_assert_msg(fabs(v.x - due) < 1e-3 * (stays ? 0.1 : due), "%g for %g", v.x, due);
    ck_assert_msg(fabs(v.y) + tl_norm(w) < 1e-6, "it turns: %g %g", v.y, tl_norm(w));
    lab_close(&lab);
  }
}
END_TEST

/* A sphere on a slope of 0.2 -+ 0.001 with mu_r = 0.2. */
START_TEST(rolling_resistance_holds_a_sphere) {
  for (int rolls = 0; rolls < 2; rolls++) {
    Lab lab;
    double slope = rolls ? 0.201 : 0.199, angle = atan(slope);
    lab_open(&lab);
    TL_TEST_SET(&lab.config, TL_TEST_BOTH, friction, 0.8);
    TL_TEST_SET(&lab.config, TL_TEST_BOTH, rolling, 0.2);
    TL_TEST_SET(&lab.config, TL_TEST_BOTH, stiffness.young_Pa, 1e10);
    lab.config.gravity_m_s2 = tl_vec3(G * sin(angle), 0, -G * cos(angle));
    lab_plane(&lab, NONE, tl_vec3(0, 0, 1));
    lab_start(&lab);
    put(&lab, SPHERE, tl_vec3(0, 0, R), NONE);
    for (int k = 0; k < 2000; k++) step(&lab);
    double v = lab.bodies.velocity[0].x, due = 5.0 / 7 * G * (sin(angle) - 0.2 * cos(angle)) * 2;
    if (rolls)
      CK_NEAR(v / due, 1, 2e-2);
    else
      ck_assert_msg(fabs(v) < 1e-5, "it rolls at %g m/s", v);
    lab_close(&lab);
  }
}
END_TEST

/* w0 - 5 mu_r g t/(7 r) (Correction 27). */
START_TEST(rolling_decays) {
  Lab lab;
  double mu_r = 0.02, v = 0.5, h = 1e-4, t = 0.2;
  lab_open(&lab);
  lab.config.step_s = h;
  TL_TEST_SET(&lab.config, TL_TEST_BOTH, friction, 0.8);
  TL_TEST_SET(&lab.config, TL_TEST_BOTH, rolling, mu_r);
  TL_TEST_SET(&lab.config, TL_TEST_BOTH, stiffness.young_Pa, 1e10);
  lab_plane(&lab, NONE, tl_vec3(0, 0, 1));
  lab_start(&lab);
  double deep = pow(mass() * G / (4.0 / 3 * star(&lab) * sqrt(R)), 2.0 / 3);
  put(&lab, SPHERE, tl_vec3(0, 0, R - deep), tl_vec3(v, 0, 0));
  CK_OK(stepper_refresh(lab.solver, &lab.bodies));
  tl_bodies_set_spin(&lab.bodies, 0, tl_vec3(0, v / R, 0));
  for (int k = 0; k < (int)(t / h + 0.5); k++) step(&lab);
  double w = tl_bodies_spin(&lab.bodies, 0).y, due = v / R - 5 * mu_r * G * t / (7 * R);
  CK_NEAR(w / due, 1, 1e-4);
  lab_close(&lab);
}
END_TEST

/* ---- adhesion ---- */

/* A sphere under a ceiling: the contact holds 0.99 of its adhesion and lets go at 1.01. */
START_TEST(adhesion_holds_its_force) {
  for (int falls = 0; falls < 2; falls++) {
    Lab lab;
    lab_open(&lab);
    double weight = mass() * G, pull = weight / (falls ? 1.01 : 0.99), overlap = 2e-4;
    double pulled = pow(weight / (4.0 / 3 * star(&lab) * sqrt(R)), 2.0 / 3); /* at rest */
    TL_TEST_SET(&lab.config, TL_TEST_BOTH, adhesion_N, pull);
    TL_TEST_SET(&lab.config, TL_TEST_BOTH, adhesive_overlap_m, overlap);
    lab_plane(&lab, NONE, tl_vec3(0, 0, -1));
    lab_start(&lab);
    put(&lab, SPHERE, tl_vec3(0, 0, -R + overlap - pulled), NONE);
    for (int k = 0; k < 2000; k++) step(&lab);
    double gap = -R - lab.bodies.position[0].z;
    if (falls)
      ck_assert_msg(gap > 0.01, "it hangs at %g", gap);
    else
      ck_assert_msg(gap < 0 && fabs(lab.bodies.velocity[0].z) < 1e-6, "gap %g, %g m/s", gap,
                    lab.bodies.velocity[0].z);
    lab_close(&lab);
  }
}
END_TEST

START_TEST(adhesion_that_cannot_hold_is_refused) {
  Lab lab;
  lab_open(&lab);
  TL_TEST_SET(&lab.config, TL_TEST_BOTH, adhesion_N, 1e3);
  TL_TEST_SET(&lab.config, TL_TEST_BOTH, adhesive_overlap_m, 1e-6);
  lab_start(&lab);
  put(&lab, SPHERE, NONE, NONE);
  ck_assert_int_eq(stepper_step(lab.solver, &lab.bodies, NULL), TL_EUSAGE);
  ck_assert(strstr(tl_message(), "adhesive_overlap_m") != NULL);
  lab_close(&lab);
}
END_TEST

/* dU/d(delta) is the force that a contact bears at rest, and U = 0 where it opens; k delta_a^1.5 is 2.5 or 0.9 of
 * what it holds. */
START_TEST(energy_of_a_contact_is_the_work_of_its_force) {
  const double k = 3e7, reach = 2e-5, eps = 1e-10;
  for (int i = 0; i < 6; i++) {
    bool hertz = i < 3;
    TlMapping law = hertz ? TL_MAP_HERTZ : TL_MAP_LINEAR;
    double most = hertz ? k * pow(reach, 1.5) : k * reach,
           pull = i % 3 == 0 ? 0 : most / (i % 3 == 1 ? 2.5 : 0.9), from = pull > 0 ? reach : 0;
    CK_NEAR(tl_nonsmooth_energy(law, k, 1e-16, pull, reach) / (most * reach), 0, 1e-9);
    ck_assert(tl_nonsmooth_energy(law, k, 0, pull, reach) == 0);
    for (int n = 1; n <= 200; n++) {
      double depth = 4 * reach * n / 200.5, x = depth - from, size = fabs(x),
             force = tl_max(-pull, k * x * (hertz ? sqrt(size) : 1));
      double rise = tl_nonsmooth_energy(law, k, depth + eps, pull, reach) -
                    tl_nonsmooth_energy(law, k, depth - eps, pull, reach);
      ck_assert_msg(fabs(rise / (2 * eps) - force) < 2e-5 * most, "%d: %g for %g N at %g m", i,
                    rise / (2 * eps), force, depth);
    }
  }
}
END_TEST

/* A sphere falls on a plane and comes to rest, without impacts. Adhesion pulls it in; damping takes what that gives,
 * too. */
static TlEnergyBalance come_to_rest(bool linear, double pull) {
  TlEnergyBalance e = {0};
  Lab lab;
  lab_open(&lab);
  lab.config.step_s = 2e-5;
  lab.config.nonsmooth.impact_threshold_m_s = 1; /* contacts take all */
  if (linear) lab.config.nonsmooth.law = TL_MAP_LINEAR;
  TL_TEST_SET(&lab.config, TL_TEST_BOTH, adhesion_N, pull);
  TL_TEST_SET(&lab.config, TL_TEST_BOTH, adhesive_overlap_m, pull > 0 ? 1e-4 : 0);
  lab_plane(&lab, NONE, tl_vec3(0, 0, 1));
  lab_start(&lab);
  put(&lab, SPHERE, tl_vec3(0, 0, R + 2e-5), NONE);
  for (int k = 0; k < 12000; k++) {
    step(&lab);
    tl_energy_balance_add(&e, &lab.report);
  }
  lab_close(&lab);
  return e;
}

START_TEST(adhesion_loses_by_damping_what_it_gains) {
  for (int linear = 0; linear < 2; linear++) {
    TlEnergyBalance bare = come_to_rest(linear, 0), stuck = come_to_rest(linear, 0.1);
    ck_assert_msg(bare.viscous_J > 0 && stuck.viscous_J > bare.viscous_J, "%g and %g J",
                  bare.viscous_J, stuck.viscous_J);
    ck_assert_msg(fabs(stuck.error_J) / stuck.viscous_J < 1.2 * fabs(bare.error_J) / bare.viscous_J,
                  "%g of %g, %g of %g J", stuck.error_J, stuck.viscous_J, bare.error_J,
                  bare.viscous_J);
  }
}
END_TEST

/* ---- stacks ---- */

/* 50 spheres on end: the overlap stays within eps of a diameter at the rule's iterations; the lowest
 * one bears all. */
static void column(bool warm, int steps, double *overlap, double *force) {
  enum { COUNT = 50 };
  Lab lab;
  lab_open(&lab);
  lab.config.step_s = 1e-3;
  lab.config.nonsmooth.warm = warm;
  lab.config.nonsmooth.tolerance = 0;
  TL_TEST_SET(&lab.config, TL_TEST_BOTH, stiffness.young_Pa, 1e9);
  lab_plane(&lab, NONE, tl_vec3(0, 0, 1));
  lab_start(&lab);
  for (int k = 0; k < COUNT; k++) put(&lab, SPHERE, tl_vec3(0, 0, (2 * k + 1) * R), NONE);
  *overlap = 0;
  for (int k = 0; k < steps; k++) {
    step(&lab);
    *overlap = fmax(*overlap, fmax(lab.report.overlap_m, lab.report.boundary_overlap_m));
  }
  TlContactRow *row;
  int64_t rows;
  CK_OK(stepper_contacts(lab.solver, &lab.bodies, &row, &rows));
  *force = 0;
  for (int64_t i = 0; i < rows; i++)
    if (row[i].second < 0) *force += row[i].force_N.z / (COUNT * mass() * G);
  tl_free(row);
  lab_close(&lab);
}

START_TEST(column_stands) {
  TL_NOT_SANITIZED();
  double overlap, force;
  column(true, 2000, &overlap, &force);
  ck_assert_msg(overlap < 0.01 * 2 * R, "overlap %g eps, warm", overlap / (0.02 * R));
  CK_NEAR(force, 1, 1e-3);
  column(false, 1000, &overlap, &force);
  ck_assert_msg(overlap < 0.01 * 2 * R, "overlap %g eps, cold", overlap / (0.02 * R));
  CK_NEAR(force, 1, 2e-2);
}
END_TEST

/* A box dropped on its face comes to rest on it. */
START_TEST(box_rests_flat) {
  Lab lab;
  lab_open(&lab);
  TL_TEST_SET(&lab.config, TL_TEST_BOTH, friction, 0.5);
  lab_plane(&lab, NONE, tl_vec3(0, 0, 1));
  lab_start(&lab);
  put(&lab, BOX, tl_vec3(0, 0, 0.0035), NONE);
  for (int k = 0; k < 2000; k++) step(&lab);
  TlVec3 x = lab.bodies.position[0], v = lab.bodies.velocity[0];
  /* a solve ends when it changes no velocity by more than this */
  double least = lab.config.nonsmooth.tolerance * G * lab.config.step_s;
  ck_assert_msg(tl_norm(v) + R * tl_norm(tl_bodies_spin(&lab.bodies, 0)) < least,
                "it moves at %g m/s", tl_norm(v));
  /* four points share the compliance of one */
  double deep =
      pow(lab.bodies.mass[0] * G / (4.0 / 3 * star(&lab) * sqrt(lab.bodies.radius[0])), 2.0 / 3);
  CK_NEAR((0.003 - x.z) / deep, 1, 1e-3);
  ck_assert_msg(fabs(x.x) + fabs(x.y) < 1e-5, "it lies at %g %g", x.x, x.y);
  TlContactRow *row;
  int64_t rows;
  CK_OK(stepper_contacts(lab.solver, &lab.bodies, &row, &rows));
  double force = 0;
  for (int64_t i = 0; i < rows; i++) force += row[i].force_N.z;
  ck_assert_int_ge(rows, 3);
  CK_NEAR(force / (lab.bodies.mass[0] * G), 1, 1e-6);
  tl_free(row);
  lab_close(&lab);
}
END_TEST

/* ---- a heap ---- */

static void heap_of(Lab *lab, int count, double h) {
  lab_open(lab);
  lab->config.step_s = h;
  TL_TEST_SET(&lab->config, TL_TEST_BOTH, friction, 0.5);
  TL_TEST_SET(&lab->config, TL_TEST_BOTH, restitution, 0.2);
  TL_TEST_SET(&lab->config, TL_TEST_BOTH, rolling, 0.05); /* a sphere rolls for ever without */
  TL_TEST_SET(&lab->config, TL_TEST_BOTH, twisting, 0.05);
  TL_TEST_SET(&lab->config, TL_TEST_BOTH, stiffness.young_Pa, 1e8);
  lab_plane(lab, NONE, tl_vec3(0, 0, 1));
  lab_plane(lab, tl_vec3(-3 * R, 0, 0), tl_vec3(1, 0, 0));
  lab_plane(lab, tl_vec3(3 * R, 0, 0), tl_vec3(-1, 0, 0));
  lab_plane(lab, tl_vec3(0, -3 * R, 0), tl_vec3(0, 1, 0));
  lab_plane(lab, tl_vec3(0, 3 * R, 0), tl_vec3(0, -1, 0));
  lab_start(lab);
  for (int k = 0; k < count; k++) {
    double x = tl_random_uniform(7, 1, 3 * (uint64_t)k),
           y = tl_random_uniform(7, 1, 3 * (uint64_t)k + 1);
    put(lab, k % 3 == 0 ? SMALL : SPHERE,
        tl_vec3(R * (1.2 * (2 * (k % 2) - 1) + 0.2 * x),
                R * (1.2 * (2 * (k / 2 % 2) - 1) + 0.2 * y), R * (1.5 + 2.2 * (k / 4))),
        NONE);
  }
}

/* A box that turns on its face is braked by friction at the face's corners: the forces that its contacts show have the
 * torque which takes its angular momentum, no force across in the sum, and none is more than 2 mu of its point's load. */
START_TEST(contacts_of_a_face_show_its_twist) {
  Lab lab;
  lab_open(&lab);
  TL_TEST_SET(&lab.config, TL_TEST_BOTH, friction, 0.4);
  lab_plane(&lab, NONE, tl_vec3(0, 0, 1));
  lab_start(&lab);
  put(&lab, BOX, tl_vec3(0, 0, 0.003), NONE);
  for (int k = 0; k < 300; k++) step(&lab);
  CK_OK(stepper_refresh(lab.solver, &lab.bodies));
  tl_bodies_set_spin(&lab.bodies, 0, tl_vec3(0, 0, 40));
  double before = lab.bodies.momentum[0].z;
  step(&lab);
  double due = (lab.bodies.momentum[0].z - before) / lab.config.step_s;
  TlContactRow *row;
  int64_t rows;
  TlVec3 torque = NONE, force = NONE;
  CK_OK(stepper_contacts(lab.solver, &lab.bodies, &row, &rows));
  ck_assert_int_ge(rows, 3);
  for (int64_t i = 0; i < rows; i++) {
    TlVec3 f = row[i].force_N;
    torque = tl_add(torque, tl_cross(tl_sub(row[i].point_m, lab.bodies.position[0]), f));
    force = tl_add(force, f);
    ck_assert_double_le(hypot(f.x, f.y), 2 * 0.4 * f.z * (1 + 1e-9));
  }
  double weight = lab.bodies.mass[0] * G;
  ck_assert_msg(due < -0.1 * 0.4 * weight * 0.01, "the friction's torque is %g N m", due);
  CK_NEAR(torque.z / due, 1, 1e-6);
  ck_assert_msg(hypot(force.x, force.y) < 1e-4 * weight, "%g %g N across", force.x, force.y);
  CK_NEAR(force.z / weight, 1, 1e-2);
  tl_free(row);
  lab_close(&lab);
}
END_TEST

START_TEST(heap_of_spheres_rests) {
  TL_NOT_SANITIZED();
  Lab lab;
  heap_of(&lab, 60, 1e-3);
  double most = 0;
  for (int k = 0; k < 4000; k++) {
    step(&lab);
    most = fmax(most, lab.report.overlap_share);
  }
  double lifted = 0;
  for (int64_t i = 0; i < lab.bodies.owned; i++)
    lifted += lab.bodies.mass[i] * G * lab.bodies.position[i].z;
  ck_assert_msg(lab.report.kinetic_J < 1e-9 * lifted, "kinetic energy %g of %g J",
                lab.report.kinetic_J, lifted);
  ck_assert_msg(most < 0.05, "overlap %g", most);
  lab_close(&lab);
}
END_TEST

/* What is lost is booked, at any step. */
static double balance_error(double h, double *lost) {
  Lab lab;
  TlEnergyBalance e = {0};
  heap_of(&lab, 40, h);
  for (int k = 0; k < (int)(0.5 / h); k++) {
    step(&lab);
    tl_energy_balance_add(&e, &lab.report);
  }
  *lost = e.friction_J + e.viscous_J + e.impact_J;
  ck_assert(e.friction_J > 0 && e.impact_J > 0 && e.viscous_J > -0.01 * *lost);
  lab_close(&lab);
  return fabs(e.error_J);
}

START_TEST(energy_is_booked) {
  double lost, coarse = balance_error(1e-3, &lost) / lost,
               fine = balance_error(2.5e-4, &lost) / lost;
  ck_assert_msg(coarse < 1e-11 && fine < 1e-11, "%g at 1 ms, %g at 0.25 ms", coarse, fine);
}
END_TEST

/* A ball comes to rest from a fall in which it gains little more than gravity gives in a step, and from far higher. What
 * it lost is what it fell through, less what its contact holds. */
START_TEST(a_ball_loses_what_it_fell_through) {
  for (int k = 0; k < 12; k++) {
    double h = k % 2 ? 2.5e-4 : 1e-3, height = (double[]){1e-4, 2e-3, 5e-2}[k / 2 % 3];
    Lab lab;
    TlEnergyBalance e = {0};
    lab_open(&lab);
    lab.config.step_s = h;
    TL_TEST_SET(&lab.config, TL_TEST_BOTH, restitution, k < 6 ? 0 : 0.6);
    lab_plane(&lab, NONE, tl_vec3(0, 0, 1));
    lab_start(&lab);
    put(&lab, SPHERE, tl_vec3(0, 0, R + height), NONE);
    for (int n = 0; n < (int)(1.2 / h); n++) {
      step(&lab);
      tl_energy_balance_add(&e, &lab.report);
    }
    double fallen = mass() * G * (R + height - lab.bodies.position[0].z);
    ck_assert_double_le(lab.report.kinetic_J, 1e-20 * fallen);
    ck_assert_msg(fabs(e.error_J) < 1e-9 * fallen, "%g m at %g s: %g of %g J", height, h, e.error_J,
                  fallen);
    CK_NEAR((e.impact_J + e.viscous_J + e.elastic_J) / fallen, 1, 1e-9);
    ck_assert(e.impact_J >= 0 && e.viscous_J > 0);
    lab_close(&lab);
  }
}
END_TEST

/* Balls and boxes that stick, roll, slide, are damped and strike a floor that rises and a wall that turns. What a step
 * misses is of the rotation of bodies that are not round, of second order. */
static double mixed_error(double h) {
  static const TlDrive rises = {.velocity_m_s = {0.1, 0.05, 0.03}},
                       turns = {.spin_rad_s = {2, 0, 0}};
  Lab lab;
  TlEnergyBalance e = {0};
  lab_open(&lab);
  lab.config.step_s = h;
  lab.config.damping_per_s = 2;
  TL_TEST_SET(&lab.config, TL_TEST_BOTH, friction, 0.5);
  TL_TEST_SET(&lab.config, TL_TEST_BOTH, restitution, 0.4);
  TL_TEST_SET(&lab.config, TL_TEST_BOTH, rolling, 0.1);
  TL_TEST_SET(&lab.config, TL_TEST_BOTH, twisting, 0.1);
  TL_TEST_SET(&lab.config, TL_TEST_BOTH, adhesion_N, 0.01);
  TL_TEST_SET(&lab.config, TL_TEST_BOTH, adhesive_overlap_m, 1e-4);
  lab_plane(&lab, NONE, tl_vec3(0.1, 0, 1));
  lab_plane(&lab, tl_vec3(3 * R, 0, 0), tl_vec3(-1, 0, 0));
  lab.boundary[0].drive = &rises;
  lab.boundary[1].drive = &turns;
  lab_start(&lab);
  for (int k = 0; k < 6; k++)
    put(&lab, k % 2 ? BOX : SPHERE, tl_vec3(0.3 * R * k, 0.2 * R * k, 3 * R * (k + 1)),
        tl_vec3(0.3, 0, 0));
  CK_OK(stepper_refresh(lab.solver, &lab.bodies));
  for (int k = 1; k < 6; k += 2) tl_bodies_set_spin(&lab.bodies, k, tl_vec3(10, 3 * k, 20));
  for (int k = 0; k < (int)(0.4 / h); k++) {
    step(&lab);
    tl_energy_balance_add(&e, &lab.report);
  }
  double lost = e.friction_J + e.viscous_J + e.impact_J + e.drag_J;
  ck_assert(e.friction_J > 0 && e.impact_J > 0 && e.drag_J > 0 && e.wall_J != 0);
  lab_close(&lab);
  return fabs(e.error_J) / lost;
}

START_TEST(energy_of_shaped_grains_is_booked) {
  double coarse = mixed_error(1e-3), fine = mixed_error(2.5e-4);
  ck_assert_msg(coarse < 1e-5 && fine < 0.4 * coarse, "%g at 1 ms, %g at 0.25 ms", coarse, fine);
}
END_TEST

/* The same bits by one thread and by several, also of an island that threads sweep together. */
START_TEST(threads_change_no_bit) {
  static const TlNsSolver solver[] = {TL_NS_EXTRAPOLATED, TL_NS_SWEEPS, TL_NS_GRADIENTS};
  for (int k = 0; k < 6; k++) {
    uint64_t hash[2];
    tl_islands_set_small(k % 2 ? 8 : 0);
    for (int i = 0; i < 2; i++) {
      Lab lab;
      heap_of(&lab, k % 2 ? 100 : 40, 1e-3);
      lab.solver->model->nonsmooth.solver = solver[k / 2];
      tl_par_set_threads(1 + 2 * i);
      for (int n = 0; n < (k % 2 ? 250 : 100); n++) step(&lab);
      ck_assert(k % 2 == 0 || lab.report.largest_island > 60);
      CK_OK(tl_bodies_hash(&lab.bodies, &hash[i]));
      lab_close(&lab);
    }
    ck_assert_msg(hash[0] == hash[1], "case %d", k);
  }
  tl_islands_set_small(0);
}
END_TEST

TL_TEST_MAIN("nonsmooth", sphere_on_a_plane_follows_hertz, linear_mapping_is_a_spring,
             rebound_is_the_restitution_at_any_step, a_blow_leaves_slow_contacts_alone,
             box_slides_by_coulomb, rolling_resistance_holds_a_sphere, rolling_decays,
             adhesion_holds_its_force, adhesion_that_cannot_hold_is_refused,
             energy_of_a_contact_is_the_work_of_its_force, adhesion_loses_by_damping_what_it_gains,
             column_stands, box_rests_flat, contacts_of_a_face_show_its_twist,
             heap_of_spheres_rests, energy_is_booked, a_ball_loses_what_it_fell_through,
             energy_of_shaped_grains_is_booked, threads_change_no_bit)
