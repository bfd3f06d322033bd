/* Joints of the nonsmooth method against closed forms: pendulum, slider-crank, motors, limits. */

#include "support/stepper.h"
#include "support/materials.h"
#include "support/mechanism.h"
#include "support/placed.h"
#include "support/tltest.h"

#include "base/par.h"
#include "run/energy_balance.h"
#include "solve/step.h"

#include <math.h>
#include <string.h>

enum { BALL = 1, ROD = 2, CRANK = 3, SLIDE = 4 };
static const double R = 0.02, G = 9.81;
static const TlQuat UPRIGHT = {1, 0, 0, 0};
static const TlVec3 NONE = {0, 0, 0};

typedef struct Lab {
  TlSolverConfig config;
  Stepper *solver;
  TlBodies bodies;
  TlStepReport report;
} Lab;

static void lab_open(Lab *lab, double h) {
  memset(lab, 0, sizeof *lab);
  tl_par_set_threads(1);
  lab->config = tl_test_nonsmooth();
  lab->config.step_s = h;
  lab->config.gravity_m_s2 = tl_vec3(0, 0, -G);
  lab->config.density_kg_m3 = 2600;
  lab->config.nonsmooth.tolerance = 1e-10;
  lab->config.nonsmooth.iterations = 5000;
  TL_TEST_SET(&lab->config, TL_TEST_BOTH, stiffness.young_Pa, 1e8);
}

static void lab_start(Lab *lab) {
  const double rod[3] = {ROD_M, 0.01, 0.01}, crank[3] = {CRANK_M, 0.01, 0.01},
               slide[3] = {0.03, 0.03, 0.03};
  CK_OK(stepper_new(&lab->solver, &lab->config, (TlAvatarSource){0}, NULL, 0, NULL));
  CK_OK(stepper_add_sphere(lab->solver, BALL, R));
  CK_OK(stepper_add_closed(lab->solver, ROD, &tl_closed_box, rod));
  CK_OK(stepper_add_closed(lab->solver, CRANK, &tl_closed_box, crank));
  CK_OK(stepper_add_closed(lab->solver, SLIDE, &tl_closed_box, slide));
}

static void lab_close(Lab *lab) {
  stepper_free(lab->solver);
  tl_bodies_free(&lab->bodies);
}

static void step(Lab *lab) {
  CK_OK(stepper_step(lab->solver, &lab->bodies, &lab->report));
}

static void put(Lab *lab, int64_t shape, TlVec3 x, TlQuat q) {
  tl_test_put(&lab->bodies, shape, x, q, NONE);
}

static void add(Lab *lab, TlPairKind kind, const void *row) {
  CK_OK(mechanism_add(&lab->bodies, kind, row));
}

static void hang(Lab *lab, double l, double angle) {
  CK_OK(mechanism_hang(&lab->bodies, BALL, l, angle));
}

static double angle_of(const Lab *lab) {
  return mechanism_angle(&lab->bodies);
}

START_TEST(pendulum_keeps_its_period) {
  Lab lab;
  double l = 0.5, a = 0.1, due = mechanism_period(l, R, G, a), h = due / 200, period;
  lab_open(&lab, h);
  lab_start(&lab);
  hang(&lab, l, a);
  CK_OK(mechanism_time(lab.solver, &lab.bodies, h, 4100, &period));
  CK_NEAR(period / due, 1, 1e-3);
  lab_close(&lab);
}
END_TEST

/* Each of many pairs of balls that touch is welded, and what is joined does not touch. */
START_TEST(what_is_joined_does_not_touch) {
  enum { PAIRS = 300 };
  Lab lab;
  lab_open(&lab, 1e-3);
  lab.config.nonsmooth.iterations = lab.config.nonsmooth.impact_iterations = 5;
  lab_start(&lab);
  for (int i = 0; i < PAIRS; i++) {
    put(&lab, BALL, tl_vec3(i, 0, 1), UPRIGHT);
    put(&lab, BALL, tl_vec3(i, 0, 1 + 2 * R), UPRIGHT);
    const TlWeld weld = {.low = 2 * i,
                         .high = 2 * i + 1,
                         .number = i,
                         .anchor_low = {0, 0, R},
                         .anchor_high = {0, 0, -R},
                         .turn = UPRIGHT};
    if (i != PAIRS / 2) CK_OK(tl_pair_state_add(&lab.bodies.pairs, TL_WELDS, &weld));
  }
  lab.bodies.velocity[PAIRS + 1].z = -0.1; /* the pair without a weld closes */
  CK_OK(stepper_refresh(lab.solver, &lab.bodies));
  step(&lab);
  ck_assert_int_eq(lab.report.touching, 1);
  lab_close(&lab);
}
END_TEST

/* Over 1e5 steps of a swing of 1 rad the anchors stay together and the swing loses little
 * (Correction 27b). */
START_TEST(joint_does_not_drift) {
  TL_NOT_SANITIZED();
  Lab lab;
  double l = 0.5, most = 0, late = 0, swing = 0;
  lab_open(&lab, mechanism_period(l, R, G, 0) / 200);
  lab_start(&lab);
  hang(&lab, l, 1);
  for (int k = 0; k < 100000; k++) {
    step(&lab);
    double anchor = mechanism_drift(&lab.bodies, l);
    most = fmax(most, anchor);
    if (k >= 99000) {
      late = fmax(late, anchor);
      swing = fmax(swing, fabs(angle_of(&lab)));
    }
  }
  /* it lags by a h^2/(4 Upsilon) where the arm takes up the acceleration a = 2 g (1 - cos 1) */
  double bound = 0.5 * 2 * G * (1 - cos(1)) * lab.config.step_s * lab.config.step_s;
  ck_assert_msg(most < bound && late < 1.01 * most, "off by %g, late %g, bound %g", most, late,
                bound);
  ck_assert_msg(swing > 0.99 && swing < 1.01, "it swings by %g", swing);
  lab_close(&lab);
}
END_TEST

/* A crank turned by a motor, a rod, and what slides along x. */
START_TEST(slider_crank_goes_as_it_must) {
  TL_NOT_SANITIZED();
  Lab lab;
  double spin = 2 * M_PI, h = 1.0 / 400, worst = 0, angle;
  lab_open(&lab, h);
  lab.config.gravity_m_s2 = NONE;
  lab_start(&lab);
  CK_OK(mechanism_crank(&lab.bodies, CRANK, ROD, SLIDE, spin));
  for (int k = 0; k < 1200; k++) {
    step(&lab);
    double error = mechanism_crank_error(&lab.bodies, &angle);
    if (k > 20) worst = fmax(worst, fabs(error));
  }
  ck_assert_msg(worst < 1e-3, "off by %g", worst);
  CK_NEAR(angle, 0, 1e-2); /* three turns */
  lab_close(&lab);
}
END_TEST

/* The force of a hinge that holds a resting pendulum is its weight; a weld bears a moment, too. */
START_TEST(forces_of_joints_are_reported) {
  for (int weld = 0; weld < 2; weld++) {
    Lab lab;
    lab_open(&lab, 1e-3);
    lab_start(&lab);
    put(&lab, BALL, tl_vec3(weld ? 0.2 : 0, 0, weld ? 0 : -0.2), UPRIGHT);
    if (weld)
      add(&lab, TL_WELDS,
          &(TlWeld){
              .low = 0, .high = -1, .number = 3, .anchor_low = {-0.2, 0, 0}, .turn = UPRIGHT});
    else
      add(&lab, TL_HINGES,
          &(TlHinge){.low = 0,
                     .high = -1,
                     .number = 3,
                     .anchor_low = {0, 0, 0.2},
                     .axis_low = {0, 1, 0},
                     .axis_high = {0, 1, 0}});
    for (int k = 0; k < 200; k++) step(&lab);
    TlConstraintRow *row;
    int64_t rows;
    CK_OK(tl_step_constraints(lab.solver->work, &row, &rows));
    double weight = lab.bodies.mass[0] * G;
    ck_assert_int_eq(rows, 1);
    ck_assert_int_eq(row[0].kind, weld ? TL_WELDS : TL_HINGES);
    CK_NEAR(row[0].force_N.z / weight, 1, 1e-6);
    if (weld) CK_NEAR(row[0].moment_N_m.y / (-0.2 * weight), 1, 1e-6);
    ck_assert(tl_norm(lab.bodies.velocity[0]) < 1e-9);
    tl_free(row);
    lab_close(&lab);
  }
}
END_TEST

/* Two balls on a rope: it goes slack, and does not stretch. */
START_TEST(distance_is_kept_within_its_limits) {
  Lab lab;
  double most = 0;
  lab_open(&lab, 1e-3);
  lab_start(&lab);
  put(&lab, BALL, tl_vec3(0, 0, 1), UPRIGHT);
  lab.bodies.flags[0] |= TL_BODY_FROZEN;
  put(&lab, BALL, tl_vec3(0.3, 0, 1), UPRIGHT);
  add(&lab, TL_DISTANCES, &(TlDistance){.low = 0, .high = 1, .number = 1, .least = 0, .most = 0.5});
  for (int k = 0; k < 3000; k++) {
    step(&lab);
    most = fmax(most, tl_norm(tl_sub(lab.bodies.position[1], lab.bodies.position[0])));
  }
  ck_assert_msg(most > 0.499 && most < 0.505, "%g", most);
  lab_close(&lab);
}
END_TEST

/* A pendulum that carries a ball on a rope strikes a post, again and again: what it loses is booked, at any step. */
START_TEST(energy_of_joints_is_booked) {
  for (int k = 0; k < 4; k++) {
    Lab lab;
    TlEnergyBalance e = {0};
    double h = k % 2 ? 2.5e-4 : 1e-3;
    lab_open(&lab, h);
    lab.config.damping_per_s = k < 2 ? 0 : 0.5;
    TL_TEST_SET(&lab.config, TL_TEST_BOTH, restitution, 0.5);
    TL_TEST_SET(&lab.config, TL_TEST_BOTH, friction, 0.3);
    lab_start(&lab);
    hang(&lab, 0.5, 1);
    put(&lab, BALL, tl_vec3(0, 0.3 * R, -0.5), UPRIGHT);
    lab.bodies.flags[1] |= TL_BODY_FROZEN;
    put(&lab, BALL, tl_add(lab.bodies.position[0], tl_vec3(0, 0, -0.05)), UPRIGHT);
    add(&lab, TL_DISTANCES, &(TlDistance){.low = 0, .high = 2, .number = 1, .most = 0.08});
    for (int n = 0; n < (int)(1.5 / h); n++) {
      step(&lab);
      tl_energy_balance_add(&e, &lab.report);
    }
    double lost = e.friction_J + e.viscous_J + e.impact_J + e.drag_J;
    ck_assert(e.friction_J > 0 && e.impact_J > 0 && (k < 2 || e.drag_J > 0));
    ck_assert_msg(fabs(e.error_J) < 1e-11 * lost, "%g s: %g of %g J", h, e.error_J, lost);
    lab_close(&lab);
  }
}
END_TEST

/* A pendulum that falls against a limit of its hinge rests there; one driven by a motor that is too
 * weak does not rise. */
START_TEST(limits_and_motors_have_bounds) {
  Lab lab;
  double l = 0.3;
  lab_open(&lab, 1e-3);
  lab_start(&lab);
  hang(&lab, l, 1.2);
  add(&lab, TL_LIMITS,
      &(TlLimit){.low = 0,
                 .high = -1,
                 .number = 2,
                 .joint = 7,
                 .turns = 1,
                 .mark_low = {0, 0, -1},
                 .mark_high = {0, 0, -1},
                 .least = 0.5,
                 .most = 2});
  for (int k = 0; k < 3000; k++) step(&lab);
  CK_NEAR(angle_of(&lab), 0.5, 1e-3);
  double weight = lab.bodies.mass[0] * G;
  CK_NEAR(((TlLimit *)lab.bodies.pairs.of[TL_LIMITS].row)->effort / (weight * l * sin(0.5)), 1,
          1e-3);
  lab_close(&lab);

  lab_open(&lab, 1e-3);
  lab_start(&lab);
  hang(&lab, l, 0);
  add(&lab, TL_MOTORS,
      &(TlMotor){.low = 0,
                 .high = -1,
                 .number = 2,
                 .joint = 7,
                 .turns = 1,
                 .speed = 0.2,
                 .most = 0.5 * weight * l});
  for (int k = 0; k < 20000; k++) step(&lab);
  /* about where weight and motor balance: it comes there at 0.2 rad/s and swings by that over
   * sqrt(g cos/l), 0.037 rad */
  CK_NEAR(sin(angle_of(&lab)), 0.5, 0.04);
  lab_close(&lab);
}
END_TEST

/* A body 1 m up that goes up and down alone, on a slider of number 4; its weight, N. */
static double put_upright_slider(Lab *lab) {
  put(lab, SLIDE, tl_vec3(0, 0, 1), UPRIGHT);
  lab->bodies.rotation[0] = UPRIGHT;
  add(lab, TL_SLIDERS,
      &(TlSlider){.low = 0,
                  .high = -1,
                  .number = 4,
                  .anchor_high = {0, 0, 1},
                  .axis_high = {0, 0, 1},
                  .turn = UPRIGHT});
  CK_OK(stepper_refresh(lab->solver, &lab->bodies));
  return lab->bodies.mass[0] * G;
}

/* A slider driven by a control carries its load; a load pushes it. */
START_TEST(controls_drive_sliders) {
  for (int driven = 0; driven < 2; driven++) {
    Lab lab;
    lab_open(&lab, 1e-3);
    lab_start(&lab);
    double weight = put_upright_slider(&lab);
    TlJointControl c = {
        .kind = TL_SLIDERS, .number = 4, .driven = driven, .speed = 0.1, .load = 2 * weight};
    CK_OK(tl_controls_set_joint(&lab.solver->controls, &c));
    for (int k = 0; k < 100; k++) step(&lab);
    CK_NEAR(lab.bodies.velocity[0].z, driven ? 0.1 : 0.1 * G, 1e-9);
    lab_close(&lab);
  }
}
END_TEST

static void by_springs(Lab *lab, double h) {
  lab->config = tl_test_config();
  lab->config.method = TL_PENALTY;
  lab->config.step_s = h;
  lab->config.gravity_m_s2 = tl_vec3(0, 0, -G);
  lab->config.density_kg_m3 = 2600;
  lab->config.search.sides = TL_SIDES_LOWER;
  lab->config.penalty.spread = TL_SPREAD_DEEPEST;
  TL_TEST_SET(&lab->config, TL_TEST_BOTH, stiffness.normal_N_m, 1e4);
}

/* A piston that bears its weight is then driven upwards: the drive's work is the weight's, and nothing is missing. */
START_TEST(a_drive_that_lifts_books_the_weight_s_work) {
  for (int springs = 0; springs < 2; springs++) {
    Lab lab;
    TlEnergyBalance energy = {0};
    double h = springs ? 1e-4 : 1e-3;
    lab_open(&lab, h);
    if (springs) by_springs(&lab, h);
    lab_start(&lab);
    double weight = put_upright_slider(&lab);
    lab.bodies.flags[0] |= TL_BODY_GUIDED;
    for (int drives = 0; drives < 2; drives++) {
      TlJointControl c = {.kind = TL_SLIDERS, .number = 4, .load = weight};
      if (drives)
        c = (TlJointControl){.kind = TL_SLIDERS, .number = 4, .driven = true, .speed = 0.1};
      CK_OK(tl_controls_set_joint(&lab.solver->controls, &c));
      for (int k = 0; k < (int)(0.5 / h); k++) {
        step(&lab);
        tl_energy_balance_add(&energy, &lab.report);
      }
    }
    double lifted = weight * (lab.bodies.position[0].z - 1);
    CK_NEAR(lab.bodies.position[0].z, 1.05, 2e-4);
    CK_NEAR(energy.wall_J / lifted, 1, 0.02);
    CK_NEAR(energy.error_J / lifted, 0, springs ? 0.02 : 1e-11);
    lab_close(&lab);
  }
}
END_TEST

START_TEST(joints_that_make_no_sense_are_refused) {
  Lab lab;
  lab_open(&lab, 1e-3);
  lab_start(&lab);
  put(&lab, BALL, NONE, UPRIGHT);
  add(&lab, TL_HINGES,
      &(TlHinge){.low = 0, .high = -1, .number = 3, .axis_low = {0, 2, 0}, .axis_high = {0, 1, 0}});
  CK_FAILS(stepper_step(lab.solver, &lab.bodies, NULL), TL_EUSAGE, "axis");
  lab.bodies.pairs.of[TL_HINGES].count = 0;
  add(&lab, TL_MOTORS, &(TlMotor){.low = 0, .high = -1, .number = 2, .joint = 9, .turns = 1});
  CK_FAILS(stepper_step(lab.solver, &lab.bodies, NULL), TL_EUSAGE, "motor");
  lab_close(&lab);
}
END_TEST

TL_TEST_MAIN("joints", pendulum_keeps_its_period, joint_does_not_drift,
             what_is_joined_does_not_touch, slider_crank_goes_as_it_must,
             forces_of_joints_are_reported, distance_is_kept_within_its_limits,
             energy_of_joints_is_booked, limits_and_motors_have_bounds, controls_drive_sliders,
             a_drive_that_lifts_books_the_weight_s_work, joints_that_make_no_sense_are_refused)
