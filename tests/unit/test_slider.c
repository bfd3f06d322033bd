/* A body on a slider: a platen on its piston, under a load, driven, tilting, holding a membrane's row. */
#include "support/stepper.h"
#include "support/materials.h"
#include "support/placed.h"
#include "support/tltest.h"

#include "base/mem.h"
#include "base/par.h"
#include "solve/step.h"

enum { BALL = 1, PLATEN = 2, NET_SHAPE = -7, TOP = 0, COLUMNS = 20 };
static const double R = 0.01, THICK = 0.01, K = 1e5;
static const TlQuat UPRIGHT = {1, 0, 0, 0};
static const TlVec3 NONE = {0, 0, 0};

typedef struct Cell {
  TlSolverConfig config;
  TlBoundaryPlane floor;
  TlBoundary boundary;
  TlSlider slider;
  TlJointControl piston;
  TlNet net;
  Stepper *solver;
  TlBodies bodies;
  TlStepReport report;
} Cell;

/* A platen of radius 5 R whose under side lies on balls of radius R on a floor. */
static void cell_open(Cell *cell) {
  memset(cell, 0, sizeof *cell);
  tl_par_set_threads(1);
  TlSolverConfig c = tl_test_config();
  c.method = TL_PENALTY;
  c.step_s = 2.5e-5;
  c.gravity_m_s2 = NONE;
  c.density_kg_m3 = 2600;
  TL_TEST_SET(&c, TL_TEST_BOTH, friction, 0.5);
  TL_TEST_SET(&c, TL_TEST_BOTH, restitution, 0.3);
  c.search.sides = TL_SIDES_LOWER;
  c.penalty.spread = TL_SPREAD_DEEPEST;
  TL_TEST_SET(&c, TL_TEST_BOTH, stiffness.normal_N_m, K);
  cell->config = c;
  cell->floor = (TlBoundaryPlane){NONE, {0, 0, 1}};
  cell->boundary = (TlBoundary){.kind = &tl_boundary_plane, .data = &cell->floor};
  cell->slider = (TlSlider){.low = TOP, .high = -1, .axis_high = {0, 0, 1}};
  cell->piston = (TlJointControl){.kind = TL_SLIDERS};
}

static void cell_start(Cell *cell) {
  const double size[] = {5 * R, THICK};
  CK_OK(stepper_new(&cell->solver, &cell->config, (TlAvatarSource){0}, &cell->boundary, 1, NULL));
  CK_OK(stepper_add_sphere(cell->solver, BALL, R));
  CK_OK(stepper_add_closed(cell->solver, PLATEN, &tl_closed_cylinder, size));
  CK_OK(tl_controls_set_joint(&cell->solver->controls, &cell->piston));
  tl_test_put(&cell->bodies, PLATEN, tl_vec3(0, 0, 2 * R + 0.5 * THICK), UPRIGHT, NONE);
  cell->bodies.flags[TOP] |= TL_BODY_GUIDED;
  CK_OK(tl_pair_state_add(&cell->bodies.pairs, TL_SLIDERS, &cell->slider));
}

static void run(Cell *cell, int steps) {
  for (int i = 0; i < steps; i++) CK_OK(stepper_step(cell->solver, &cell->bodies, &cell->report));
}

static void cell_close(Cell *cell) {
  stepper_free(cell->solver);
  tl_bodies_free(&cell->bodies);
}

static void three_balls(Cell *cell) {
  for (int k = 0; k < 3; k++) {
    double a = 2 * M_PI * k / 3 + 0.4;
    tl_test_put(&cell->bodies, BALL, tl_vec3(3 * R * cos(a), 3 * R * sin(a), R), UPRIGHT, NONE);
  }
}

/* Each ball bears a third between two springs. */
START_TEST(a_load_is_borne_by_what_lies_beneath) {
  Cell cell;
  cell_open(&cell);
  cell.piston.load = -30;
  cell.piston.tilts = true;
  cell.config.damping_per_s = 100;
  cell_start(&cell);
  three_balls(&cell);
  run(&cell, 16000);
  CK_NEAR(cell.bodies.position[TOP].z, 2 * R + 0.5 * THICK - 2 * 10 / K, 1e-8);
  CK_NEAR(cell.bodies.position[1].z, R - 10 / K, 1e-8);
  CK_NEAR(cell.bodies.position[TOP].x, 0, 0);
  CK_NEAR(cell.bodies.position[TOP].y, 0, 0);
  ck_assert_double_lt(tl_norm(cell.bodies.velocity[TOP]), 1e-7);
  CK_NEAR(cell.report.contact_N, 6 * 10, 1e-3);
  cell_close(&cell);
}
END_TEST

/* Driven by 0.1 mm: half of it into each spring; the piston's work is what springs hold and damping
 * took. */
START_TEST(a_driven_platen_presses_as_far_as_it_goes) {
  Cell cell;
  double work = 0, lost = 0;
  cell_open(&cell);
  cell.piston.driven = true;
  cell.piston.speed = -1e-3;
  cell_start(&cell);
  three_balls(&cell);
  for (int i = 0; i < 4000; i++) {
    run(&cell, 1);
    work += cell.report.wall_work_J;
    lost += cell.report.viscous_J + cell.report.slip_J + cell.report.drag_J;
  }
  double half = 0.5 * 1e-3 * 4000 * cell.config.step_s;
  CK_NEAR(cell.bodies.position[TOP].z, 2 * R + 0.5 * THICK - 2 * half, 1e-7);
  CK_NEAR(cell.bodies.position[2].z, R - half, 1e-7);
  CK_NEAR(work / (6 * 0.5 * K * half * half + lost), 1, 0.01);
  ck_assert_double_gt(work, 0);
  cell_close(&cell);
}
END_TEST

/* One ball off the axis: the platen leans away from it about the line across, does not spin about
 * the piston, and stays on it; without leave to tilt it stays level. */
START_TEST(a_platen_tilts_about_its_axis_only) {
  for (int tilts = 0; tilts < 2; tilts++) {
    Cell cell;
    cell_open(&cell);
    cell.piston.driven = true;
    cell.piston.speed = -0.02;
    cell.piston.tilts = tilts;
    cell_start(&cell);
    tl_test_put(&cell.bodies, BALL, tl_vec3(3 * R, R, R), UPRIGHT, NONE);
    run(&cell, 2000);
    TlVec3 up = tl_quat_rotate(cell.bodies.rotation[TOP], tl_vec3(0, 0, 1));
    TlVec3 spin = tl_bodies_spin(&cell.bodies, TOP);
    CK_NEAR(cell.bodies.position[TOP].x, 0, 0);
    CK_NEAR(cell.bodies.position[TOP].z, 2 * R + 0.5 * THICK - 0.02 * 2000 * cell.config.step_s,
            1e-12);
    CK_NEAR(spin.z, 0, 1e-6);
    if (tilts) {
      ck_assert_double_lt(up.x, -0.01); /* its side with the ball stays high */
      CK_NEAR(up.y / up.x, 1.0 / 3, 0.02);
    } else {
      CK_NEAR(up.z, 1, 0);
    }
    cell_close(&cell);
  }
}
END_TEST

/* A tube whose last row the platen carries; its spheres follow the bodies that are there. */
static void carry_a_tube(Cell *cell) {
  cell->net = (TlNet){.first_id = 100,
                      .shape_id = NET_SHAPE,
                      .rows = 4,
                      .columns = COLUMNS,
                      .layers = 2,
                      .tube_radius_m = 0.06,
                      .spacing_m = tl_net_tube_spacing(0.06, COLUMNS),
                      .along = {1, 0, 0},
                      .across = {0, 0, 1},
                      .radius_m = 0.004,
                      .layer_gap_m = 0.008,
                      .mass_kg = 1e-3,
                      .normal_N_m = 50,
                      .tangential_N_m = 20,
                      .stretch_most = 3,
                      .clamped = TL_NET_FIRST_ROW,
                      .held = true,
                      .hold = {TOP, tl_vec3(0, 0, 2 * R + 0.5 * THICK), UPRIGHT}};
  CK_OK(stepper_set_nets(cell->solver, &cell->net, 1));
  CK_OK(tl_net_add(&cell->net, &cell->bodies, 0, tl_net_spheres(&cell->net)));
  tl_pair_state_sort(&cell->bodies.pairs);
}

/* It keeps its place in the platen, whatever that does. */
START_TEST(a_membrane_s_row_goes_with_its_platen) {
  Cell cell;
  cell_open(&cell);
  cell.piston.driven = true;
  cell.piston.speed = 0.05;
  cell.piston.tilts = true;
  cell_start(&cell);
  carry_a_tube(&cell);
  CK_OK(stepper_refresh(cell.solver, &cell.bodies));
  tl_bodies_set_spin(&cell.bodies, TOP, tl_vec3(1, -2, 0));
  run(&cell, 2000);
  TlVec3 up = tl_quat_rotate(cell.bodies.rotation[TOP], tl_vec3(0, 0, 1));
  ck_assert_double_lt(up.z, 0.9999);
  for (int64_t i = 0; i < tl_net_spheres(&cell.net); i++) {
    TlVec3 start = tl_net_point(&cell.net, i);
    int64_t at = 1 + i, row = i / COLUMNS % 4;
    TlVec3 arm = tl_sub(start, cell.net.hold.position);
    TlVec3 there =
        tl_add(cell.bodies.position[TOP], tl_quat_rotate(cell.bodies.rotation[TOP], arm));
    double off = tl_norm(tl_sub(cell.bodies.position[at], there));
    if (row == 3) CK_NEAR(off, 0, 1e-15);
    if (row == 0) CK_NEAR(tl_norm(tl_sub(cell.bodies.position[at], start)), 0, 0);
    if (row == 1 || row == 2) ck_assert_double_gt(off, 1e-4);
  }
  cell_close(&cell);
}
END_TEST

/* A ball at rest put against a sphere of the tube's end: from the carried row it has the spring's
 * and the dashpot's force of the platen's motion, from the clamped one none. */
START_TEST(friction_sees_the_velocity_of_a_carried_row) {
  enum { PLACE = 5, DEEP_UM = 100 };
  const double deep = 1e-6 * DEEP_UM;
  for (int row = 0; row < 4; row += 3) {
    Cell cell;
    TlContactRow *rows;
    int64_t count;
    cell_open(&cell);
    cell.piston.driven = true;
    cell.piston.speed = 0.05;
    cell_start(&cell);
    int64_t ball = tl_test_put(&cell.bodies, BALL, tl_vec3(0, 0, 1), UPRIGHT, NONE);
    carry_a_tube(&cell);
    run(&cell, 20);
    TlVec3 v = {0, 0, row ? cell.piston.speed : 0};
    TlVec3 x = cell.bodies.position[2 + COLUMNS * row + PLACE];
    TlVec3 out = tl_unit(tl_vec3(x.x, x.y, 0));
    cell.bodies.position[ball] = tl_axpy(x, deep - R - cell.net.radius_m, out);
    run(&cell, 1);
    double travel = cell.config.step_s,
           shear = K * tl_test_grain(&cell.config)->stiffness.tangential_ratio;
    double dashpot = 2 * tl_damping_of(0.3) * sqrt(cell.bodies.mass[ball] * shear);
    TlVec3 want = tl_axpy(tl_scale(-K * deep, out), travel * shear + dashpot, v);
    CK_OK(stepper_contacts(cell.solver, &cell.bodies, &rows, &count));
    ck_assert_int_eq(count, row ? 1 : 2); /* the lower one is on the floor, too */
    ck_assert_int_eq(rows->second, 100 + COLUMNS * row + PLACE);
    CK_NEAR(tl_norm(tl_sub(rows->force_N, want)) / (K * deep), 0, 1e-9);
    if (row) ck_assert_double_gt(want.z, 0.05 * K * deep);
    tl_free(rows);
    cell_close(&cell);
  }
}
END_TEST

START_TEST(sliders_that_make_no_sense_are_refused) {
  Cell cell;
  cell_open(&cell);
  cell.slider.axis_high = tl_vec3(0, 0, 2);
  cell_start(&cell);
  CK_FAILS(stepper_step(cell.solver, &cell.bodies, NULL), TL_EUSAGE, "length of its axis");
  cell_close(&cell);
  cell_open(&cell);
  cell.piston.load = NAN;
  cell_start(&cell);
  CK_FAILS(stepper_step(cell.solver, &cell.bodies, NULL), TL_EUSAGE, "slider 0: its load");
  cell_close(&cell);
  cell_open(&cell);
  cell_start(&cell);
  cell.bodies.pairs.of[TL_SLIDERS].count = 0;
  CK_FAILS(stepper_step(cell.solver, &cell.bodies, NULL), TL_EUSAGE, "on a joint");
  cell_close(&cell);
}
END_TEST

/* By impulses rigid balls bear the load, each a third, and both ends of each as much; nothing yields, and
 * the platen stays on its piston and level. */
START_TEST(by_impulses_a_load_is_borne_by_what_lies_beneath) {
  Cell cell;
  cell_open(&cell);
  cell.config.method = tl_test_config().method;
  cell.config.step_s = 1e-3;
  cell.config.gravity_m_s2 = tl_vec3(0, 0, -9.81);
  cell.piston.load = -30;
  cell_start(&cell);
  three_balls(&cell);
  run(&cell, 300);
  double weight = 9.81 * cell.bodies.mass[TOP], balls = 3 * 9.81 * cell.bodies.mass[1];
  CK_NEAR(cell.bodies.position[TOP].z, 2 * R + 0.5 * THICK, 2e-3 * R);
  CK_NEAR(cell.bodies.position[TOP].x, 0, 0);
  CK_NEAR(cell.bodies.position[TOP].y, 0, 0);
  ck_assert_double_lt(tl_norm(tl_bodies_spin(&cell.bodies, TOP)), 1e-12);
  CK_NEAR(cell.report.guide_N / (30 + weight), 1, 2e-3);
  CK_NEAR(cell.report.boundary_N / (30 + weight + balls), 1, 2e-3);
  cell_close(&cell);
}
END_TEST

/* Alone, under a load along an axis that is askew, pushed beside it: F/m along the axis and nothing else.
 * Driven: as driven, to rounding, whatever falls on it; with the weight of what lies on it. */
START_TEST(by_impulses_a_platen_goes_as_it_is_pushed_or_driven) {
  Cell cell;
  cell_open(&cell);
  cell.config.method = tl_test_config().method;
  cell.config.step_s = 1e-3;
  cell.slider.axis_high = tl_vec3(0.6, 0, 0.8);
  cell.piston.load = 3;
  cell_start(&cell);
  cell.bodies.velocity[TOP] = tl_vec3(0.1, 0.2, -0.3);
  run(&cell, 100);
  TlVec3 v = cell.bodies.velocity[TOP];
  double along = 0.6 * 0.1 - 0.8 * 0.3 + 3 * 0.1 / cell.bodies.mass[TOP];
  CK_NEAR(tl_norm(tl_sub(v, tl_scale(along, cell.slider.axis_high))), 0, 1e-12 * along);
  cell_close(&cell);
  for (int tilts = 0; tilts < 2; tilts++) {
    cell_open(&cell);
    cell.config.method = tl_test_config().method;
    cell.config.step_s = 1e-3;
    cell.config.gravity_m_s2 = tl_vec3(0, 0, -9.81);
    cell.piston.driven = true;
    cell.piston.speed = 0.05;
    cell.piston.tilts = tilts;
    cell_start(&cell);
    tl_test_put(&cell.bodies, BALL, tl_vec3(0, 0, 3.5 * R + THICK), UPRIGHT, NONE);
    double start = cell.bodies.position[TOP].z;
    run(&cell, 400);
    CK_NEAR(cell.bodies.position[TOP].z, start + 0.05 * 0.4, 1e-12);
    CK_NEAR(cell.report.guide_N / (9.81 * cell.bodies.mass[1]), -1, 0.01);
    CK_NEAR(cell.bodies.position[1].z - cell.bodies.position[TOP].z, 0.5 * THICK + R, 2e-3 * R);
    cell_close(&cell);
  }
}
END_TEST

/* Without a control it slides freely: under gravity it falls along its axis and nowhere else. */
START_TEST(a_slider_without_a_control_is_free_along_its_axis) {
  Cell cell;
  cell_open(&cell);
  cell.config.gravity_m_s2 = tl_vec3(3, 0, -4);
  cell.config.damping_per_s = 0;
  cell.slider.axis_high = tl_vec3(0.6, 0, 0.8); /* g along it: 1.8 - 3.2 */
  cell_start(&cell);
  cell.solver->controls.joint_count = 0;
  cell.bodies.position[TOP].z += 1;
  TlVec3 from = cell.bodies.position[TOP];
  run(&cell, 100);
  /* the first kick is half as long: v = a dt (n - 1/2) after n steps, x = a dt^2 n^2/2 */
  double travel = -1.4 * cell.config.step_s * cell.config.step_s * 100 * 100 / 2;
  TlVec3 gone = tl_sub(cell.bodies.position[TOP], from);
  CK_NEAR(tl_norm(tl_axpy(gone, -travel, cell.slider.axis_high)), 0, 1e-12 * fabs(travel) + 1e-15);
  cell_close(&cell);
}
END_TEST

/* ---- force and moment of the piston ---- */

/* The platen's only constraint. */
static TlConstraintRow piston_of(const Cell *cell) {
  TlConstraintRow *rows;
  int64_t count;
  CK_OK(tl_step_constraints(cell->solver->work, &rows, &count));
  ck_assert_int_eq(count, 1);
  TlConstraintRow row = rows[0];
  tl_free(rows);
  ck_assert_int_eq(row.kind, TL_SLIDERS);
  ck_assert_int_eq(row.key.low, TOP);
  ck_assert_int_eq(row.key.high, -1);
  return row;
}

/* Held at speed 0 a piston carries the weight of its platen from the first step on, to the last
 * digits; from an anchor off the centre it sees that weight's moment. Pressed, it bears its load. */
START_TEST(a_piston_carries_its_platen) {
  const TlVec3 gravity = {1, -2, -9}, anchor = {0.02, -0.01, 0.03};
  for (int driven = 0; driven < 2; driven++) {
    Cell cell;
    cell_open(&cell);
    cell.config.gravity_m_s2 = gravity;
    cell.config.damping_per_s = 50;
    cell.slider.anchor_low = anchor;
    cell.piston.driven = driven;
    cell.piston.load = -7;
    cell_start(&cell);
    cell.bodies.position[TOP].z += 1;
    TlVec3 centre = cell.bodies.position[TOP];
    for (int step = 0; step < 3; step++) {
      run(&cell, 1);
      TlVec3 weight = tl_scale(cell.bodies.mass[TOP], gravity), force = tl_scale(-1, weight);
      if (!driven) force.z = cell.piston.load;
      TlConstraintRow row = piston_of(&cell);
      double scale = tl_norm(weight);
      CK_NEAR(tl_norm(tl_sub(row.force_N, force)), 0, 1e-12 * scale);
      CK_NEAR(tl_norm(tl_add(row.moment_N_m, tl_cross(anchor, force))), 0, 1e-13 * scale);
      if (driven) CK_NEAR(tl_norm(tl_sub(row.point_m, tl_add(centre, anchor))), 0, 1e-15);
    }
    cell_close(&cell);
  }
}
END_TEST

/* A ball at rest on a platen, off its axis: the piston carries both weights, and the moment of the
 * ball's about the platen's centre. */
START_TEST(a_piston_carries_what_rests_on_its_platen) {
  const double x = 2 * R, y = -R, g = 9.81;
  Cell cell;
  cell_open(&cell);
  cell.config.gravity_m_s2 = tl_vec3(0, 0, -g);
  cell.config.damping_per_s = 200;
  cell.piston.driven = true;
  cell_start(&cell);
  cell.bodies.position[TOP].z = 1;
  int64_t ball = tl_test_put(&cell.bodies, BALL, tl_vec3(x, y, 1 + 0.5 * THICK + R), UPRIGHT, NONE);
  run(&cell, 12000);
  double weight = cell.bodies.mass[ball] * g;
  TlConstraintRow row = piston_of(&cell);
  ck_assert_double_lt(tl_norm(cell.bodies.velocity[ball]), 1e-9);
  CK_NEAR(row.force_N.z, cell.bodies.mass[TOP] * g + weight, 1e-6 * weight);
  CK_NEAR(hypot(row.force_N.x, row.force_N.y), 0, 1e-6 * weight);
  /* against (x, y, .) x (0, 0, -weight) = weight (-y, x, 0) */
  CK_NEAR(row.moment_N_m.x, weight * y, 1e-5 * weight * R);
  CK_NEAR(row.moment_N_m.y, -weight * x, 1e-5 * weight * R);
  CK_NEAR(row.moment_N_m.z, 0, 1e-5 * weight * R);
  cell_close(&cell);
}
END_TEST

/* What tilts freely has no moment across its axis, and is not turned about it. */
START_TEST(a_tilting_platen_has_no_moment_across_its_axis) {
  Cell cell;
  cell_open(&cell);
  cell.piston.driven = true;
  cell.piston.speed = -0.02;
  cell.piston.tilts = true;
  cell_start(&cell);
  int64_t ball = tl_test_put(&cell.bodies, BALL, tl_vec3(3 * R, R, R), UPRIGHT, NONE);
  cell.bodies.velocity[ball].x = 0.3; /* so that friction turns the platen about its axis */
  cell.bodies.velocity[ball].y = 0.5;
  run(&cell, 100);
  TlConstraintRow row = piston_of(&cell);
  ck_assert_double_gt(fabs(row.force_N.z), 0.1);
  ck_assert_double_gt(fabs(row.moment_N_m.z), 1e-4 * R);
  CK_NEAR(hypot(row.moment_N_m.x, row.moment_N_m.y), 0, 1e-2 * fabs(row.moment_N_m.z));
  cell_close(&cell);
}
END_TEST

TL_TEST_MAIN("slider", a_piston_carries_its_platen, a_piston_carries_what_rests_on_its_platen,
             a_tilting_platen_has_no_moment_across_its_axis, a_load_is_borne_by_what_lies_beneath,
             a_driven_platen_presses_as_far_as_it_goes, a_platen_tilts_about_its_axis_only,
             a_membrane_s_row_goes_with_its_platen, friction_sees_the_velocity_of_a_carried_row,
             sliders_that_make_no_sense_are_refused,
             by_impulses_a_load_is_borne_by_what_lies_beneath,
             by_impulses_a_platen_goes_as_it_is_pushed_or_driven,
             a_slider_without_a_control_is_free_along_its_axis)
