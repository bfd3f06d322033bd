/* Model reduction of the nonsmooth method: what merging and splitting keep, aggregates against a body with
 * parts, what splits them. */

#include "support/materials.h"
#include "support/placed.h"
#include "support/stepper.h"
#include "support/tltest.h"

#include "base/par.h"
#include "base/random.h"
#include "run/energy_balance.h"
#include "shape/formula.h"
#include "solve/step.h"

#include <math.h>
#include <string.h>

enum { SPHERE = 1, CUBE, BRICK, BLOCK, PLANK };
static const double R = 0.01, RHO = 2600, G = 9.81;
static const double CUBE_M[3] = {0.02, 0.02, 0.02}, BRICK_M[3] = {0.02, 0.016, 0.012},
                    PLANK_M[3] = {0.04, 0.02, 0.02};
static const TlQuat UPRIGHT = {1, 0, 0, 0};
static const TlVec3 NONE = {0, 0, 0};

typedef struct Lab {
  TlSolverConfig config;
  TlBoundaryPlane plane[6];
  TlBoundary boundary[6];
  TlDrive drive[6];
  int planes;
  Stepper *solver;
  TlBodies bodies;
  TlStepReport report;
  TlEnergyBalance energy;
  TlAvatar block; /* on a grid; a test makes it */
} Lab;

static const TlAvatar *get_avatar(void *ctx, int64_t id) {
  Lab *lab = ctx;
  if (id == BLOCK && lab->block.phi) return &lab->block;
  tl_fail(TL_EINPUT, "there is no avatar %lld", (long long)id);
  return NULL;
}

/* Everything in touch merges, and nothing splits, unless a test says otherwise. */
static void lab_open(Lab *lab) {
  memset(lab, 0, sizeof *lab);
  tl_par_set_threads(1);
  TlSolverConfig c = tl_test_nonsmooth();
  TlReductionSetup setup;
  CK_OK(tl_params_defaults(tl_reduction_params, TL_REDUCTION_PARAMS, &setup));
  memset(&setup.sensors, 0, sizeof setup.sensors);
  c.nonsmooth.reduction = tl_reduction_of(&setup);
  c.nonsmooth.reduction.split = TL_SPLIT_SENSORS;
  c.step_s = 1e-3;
  c.gravity_m_s2 = tl_vec3(0, 0, -G);
  c.density_kg_m3 = RHO;
  TL_TEST_SET(&c, TL_TEST_BOTH, friction, 0.5);
  TL_TEST_SET(&c, TL_TEST_BOTH, restitution, 0);
  TL_TEST_SET(&c, TL_TEST_BOTH, stiffness.young_Pa, 1e7);
  lab->config = c;
}

static void merge_all(Lab *lab) {
  TlReduction *o = &lab->config.nonsmooth.reduction;
  o->merge_in_m_s = o->merge_out_m_s = o->merge_tangential_m_s = o->merge_rolling_rad_s = 1e3;
}

static int lab_plane(Lab *lab, TlVec3 point, TlVec3 normal) {
  int i = lab->planes++;
  lab->plane[i] = (TlBoundaryPlane){point, tl_unit(normal)};
  lab->boundary[i] = (TlBoundary){.kind = &tl_boundary_plane, .data = &lab->plane[i]};
  return i;
}

static void lab_belt(Lab *lab, TlVec3 velocity) {
  int i = lab_plane(lab, NONE, tl_vec3(0, 0, 1));
  lab->drive[i] = (TlDrive){.velocity_m_s = velocity};
  lab->boundary[i].drive = &lab->drive[i];
}

static void lab_start(Lab *lab) {
  CK_OK(stepper_new(&lab->solver, &lab->config, (TlAvatarSource){lab, get_avatar}, lab->boundary,
                    lab->planes, NULL));
  CK_OK(stepper_add_sphere(lab->solver, SPHERE, R));
  CK_OK(stepper_add_closed(lab->solver, CUBE, &tl_closed_box, CUBE_M));
  CK_OK(stepper_add_closed(lab->solver, BRICK, &tl_closed_box, BRICK_M));
}

static void lab_close(Lab *lab) {
  stepper_free(lab->solver);
  tl_bodies_free(&lab->bodies);
  tl_avatar_free(&lab->block);
}

static void step(Lab *lab) {
  CK_OK(stepper_step(lab->solver, &lab->bodies, &lab->report));
  tl_energy_balance_add(&lab->energy, &lab->report);
}

static int64_t put_shape(Lab *lab, int64_t shape, TlVec3 x, TlVec3 v) {
  return tl_test_put(&lab->bodies, shape, x, UPRIGHT, v);
}

static int64_t put(Lab *lab, TlVec3 x, TlVec3 v) {
  return put_shape(lab, SPHERE, x, v);
}

static int64_t put_fixed(Lab *lab, int64_t shape, TlVec3 x) {
  int64_t i = put_shape(lab, shape, x, NONE);
  lab->bodies.flags[i] |= TL_BODY_FROZEN;
  return i;
}

static double mass(void) {
  return 4.0 / 3 * M_PI * R * R * R * RHO;
}

/* Mass, momentum and angular momentum about the origin. */
typedef struct Sum {
  double mass;
  TlVec3 linear, angular;
} Sum;

static Sum sum_of(const TlBodies *b) {
  Sum s = {0, NONE, NONE};
  for (int64_t i = 0; i < b->owned; i++) {
    TlVec3 p = tl_scale(b->mass[i], b->velocity[i]);
    s.mass += b->mass[i];
    s.linear = tl_add(s.linear, p);
    s.angular = tl_add(s.angular, tl_add(b->momentum[i], tl_cross(b->position[i], p)));
  }
  return s;
}

static double apart(TlVec3 a, TlVec3 b) {
  return tl_norm(tl_sub(a, b));
}

/* Two cubes side by side along x as one body. */
static int64_t put_plank(Lab *lab, TlVec3 x, TlVec3 v) {
  TlBodies *b = &lab->bodies;
  double m = 8 * R * R * R * RHO, masses[2] = {m, m}, one = m * 4 * R * R / 6;
  TlVec3 inertia[2] = {{one, one, one}, {one, one, one}};
  int64_t i;
  CK_OK(tl_bodies_add(b, b->colliders.total, 2, &i));
  for (int k = 0; k < 2; k++) {
    int64_t at = b->first[i] + k;
    b->colliders.avatar_id[at] = CUBE;
    b->colliders.scale[at] = 1;
    b->colliders.offset[at] = tl_vec3(2 * R * k - R, 0, 0);
  }
  b->position[i] = x;
  b->velocity[i] = v;
  tl_bodies_frame(b, i, NONE, masses, inertia);
  return i;
}

static double kinetic_of(const TlBodies *b) {
  double sum = 0;
  for (int64_t i = 0; i < b->owned; i++)
    sum += 0.5 *
           (b->mass[i] * tl_norm2(b->velocity[i]) + tl_dot(tl_bodies_spin(b, i), b->momentum[i]));
  return sum;
}

/* A clump of two by two and more in touch, each with a velocity of its own. side: the sides of the shape, or
 * its diameter; lap: of that, how much they overlap. */
static void put_clump(Lab *lab, int64_t shape, const double side[3], double lap, int count,
                      double speed, uint64_t seed) {
  for (int k = 0; k < count; k++) {
    uint64_t n = 3 * (uint64_t)k;
    TlVec3 v = {tl_random_uniform(seed, 1, n) - 0.5, tl_random_uniform(seed, 1, n + 1) - 0.5,
                tl_random_uniform(seed, 1, n + 2) - 0.5};
    TlVec3 x = {side[0] * (k % 2), side[1] * (k / 2 % 2), side[2] * (k / 4)};
    x = tl_scale(1 - lap, x);
    v = tl_scale(speed, v);
    if (shape == PLANK)
      put_plank(lab, x, v);
    else
      put_shape(lab, shape, x, v);
  }
}

/* ---- what is kept ---- */

/* Bodies with motions of their own merge in one step, spin as one, and are split by a sensor. */
static void merge_and_split(int64_t shape, const double side[3]) {
  Lab lab;
  lab_open(&lab);
  merge_all(&lab);
  lab.config.gravity_m_s2 = NONE;
  lab.config.nonsmooth.reduction.sensors = 1;
  lab.config.nonsmooth.reduction.sensor[0] =
      (TlSensor){tl_vec3(-1, -1, 1), tl_vec3(1, 1, 2)}; /* far above */
  lab_start(&lab);
  put_clump(&lab, shape, side, 0.005, 12, 1, 3);
  CK_OK(stepper_refresh(lab.solver, &lab.bodies));
  Sum start = sum_of(&lab.bodies);
  double size = start.mass * 0.5, arm = 0.1;
  for (int k = 0; k < 200; k++) {
    step(&lab);
    Sum now = sum_of(&lab.bodies);
    ck_assert(now.mass == start.mass);
    ck_assert_double_le(apart(now.linear, start.linear), 1e-13 * size);
    ck_assert_double_le(apart(now.angular, start.angular), 1e-13 * size * arm);
    if (k == 0) ck_assert_int_eq(lab.report.merges, 12);
    ck_assert_int_eq(lab.report.aggregates, 1);
    ck_assert_int_eq(lab.report.merged, 12);
    ck_assert_int_eq(lab.report.units, 1);
  }
  ck_assert_int_eq((int)lab.report.islands, 0); /* no contact is left to be solved */
  ck_assert(lab.energy.merge_J > 0);
  /* velocities are those of a rigid body: no two bodies part */
  for (int64_t i = 1; i < 12; i++) {
    TlVec3 d = tl_sub(lab.bodies.position[i], lab.bodies.position[0]),
           u = tl_sub(lab.bodies.velocity[i], lab.bodies.velocity[0]);
    ck_assert_double_le(fabs(tl_dot(d, u)), 1e-14);
  }
  /* the sensor comes to lie about them, and they part */
  TlModel *model = lab.solver->model;
  model->nonsmooth.reduction.sensor[0] = (TlSensor){tl_vec3(-9, -9, -9), tl_vec3(9, 9, 9)};
  step(&lab);
  ck_assert_int_eq(lab.report.splits, 12);
  ck_assert_int_eq(lab.report.merged, 0);
  for (int k = 0; k < 50; k++) {
    step(&lab);
    Sum now = sum_of(&lab.bodies);
    ck_assert_double_le(apart(now.linear, start.linear), 1e-13 * size);
    ck_assert_double_le(apart(now.angular, start.angular), 1e-12 * size * arm);
  }
  lab_close(&lab);
}

START_TEST(merging_and_splitting_keep_momentum) {
  merge_and_split(SPHERE, (double[]){2 * R, 2 * R, 2 * R});
  merge_and_split(CUBE, CUBE_M);
  merge_and_split(BRICK, BRICK_M);
  merge_and_split(PLANK, PLANK_M);
}
END_TEST

/* Bricks that touch just, so that contacts store nothing: what is lost of the motion is booked to the joule,
 * and over merges and splits the balance closes. */
START_TEST(what_merging_takes_of_shaped_grains_is_booked) {
  Lab lab;
  lab_open(&lab);
  merge_all(&lab);
  lab.config.gravity_m_s2 = NONE;
  lab.config.nonsmooth.reduction.sensors = 1;
  lab.config.nonsmooth.reduction.sensor[0] = (TlSensor){tl_vec3(-1, -1, 1), tl_vec3(1, 1, 2)};
  lab_start(&lab);
  put_clump(&lab, BRICK, BRICK_M, 1e-9, 12, 1, 5);
  CK_OK(stepper_refresh(lab.solver, &lab.bodies));
  for (int64_t i = 0; i < 12; i++)
    tl_bodies_set_spin(&lab.bodies, i, tl_vec3(3 - (double)i, 2, 0.5 * (double)i));
  double start = kinetic_of(&lab.bodies);
  for (int k = 0; k < 20; k++) step(&lab);
  ck_assert_int_eq(lab.report.merged, 12);
  const TlEnergyBalance *e = &lab.energy;
  CK_NEAR((e->merge_J + e->friction_J + e->impact_J + e->viscous_J) /
              (start - kinetic_of(&lab.bodies)),
          1, 1e-6);
  ck_assert_double_ge(e->merge_J, 0.1 * start);
  ck_assert_double_le(fabs(e->error_J), 1e-6 * start);
  lab_close(&lab);
}
END_TEST

/* The aggregate's mass, momentum and inertia by Servin 2015 Eqs. 6-10 with Correction 26, and the energy
 * that is lost by its definition. */
START_TEST(merging_has_the_motion_of_the_whole) {
  Lab lab;
  lab_open(&lab);
  merge_all(&lab);
  lab.config.gravity_m_s2 = NONE;
  TL_TEST_SET(&lab.config, TL_TEST_BOTH, friction, 0);
  lab_start(&lab);
  /* two spheres that spin and slide along each other's surface, and touch just */
  double gap = 1e-9 * R, w = 7;
  put(&lab, tl_vec3(0, 0, 0), tl_vec3(0, 0.3, 0));
  put(&lab, tl_vec3(2 * R - gap, 0, 0), tl_vec3(0, -0.3, 0));
  CK_OK(stepper_refresh(lab.solver, &lab.bodies));
  for (int i = 0; i < 2; i++) tl_bodies_set_spin(&lab.bodies, i, tl_vec3(0, 0, w));
  step(&lab);
  double m = mass(), i_one = 0.4 * m * R * R, r = R;
  double inertia = 2 * (i_one + m * r * r), momentum = 2 * (i_one * w - m * r * 0.3);
  double spin = momentum / inertia;
  for (int i = 0; i < 2; i++) CK_NEAR(tl_bodies_spin(&lab.bodies, i).z / spin, 1, 1e-6);
  double before = 2 * 0.5 * (m * 0.09 + i_one * w * w), after = 0.5 * inertia * spin * spin;
  CK_NEAR((lab.energy.merge_J + lab.energy.friction_J + lab.energy.impact_J) / (before - after), 1,
          1e-6);
  lab_close(&lab);
}
END_TEST

/* ---- against a body with parts ---- */

/* The slow twin: twelve spheres as one body with twelve colliders, which finds nothing to merge with. Both tumble, fall
 * and strike a plane. */
START_TEST(an_aggregate_moves_as_a_body_with_parts) {
  enum { COUNT = 12 };
  Lab twin[2];
  for (int one = 0; one < 2; one++) {
    Lab *lab = &twin[one];
    lab_open(lab);
    merge_all(lab);
    lab->config.nonsmooth.reduction.boundaries = false;
    lab->config.nonsmooth.iterations = lab->config.nonsmooth.impact_iterations = 2000;
    lab->config.nonsmooth.tolerance = 0;
    lab_plane(lab, NONE, tl_vec3(0, 0, 1));
    lab_start(lab);
    TlVec3 spin = {20, 3, -11}, v = {0.2, 0.1, 0};
    int64_t body = -1;
    if (one) CK_OK(tl_bodies_add(&lab->bodies, 0, COUNT, &body));
    TlVec3 place[COUNT], centre = NONE, inertia[COUNT];
    double masses[COUNT];
    for (int k = 0; k < COUNT; k++) {
      place[k] = tl_vec3(1.999 * R * (k % 2), 1.999 * R * (k / 2 % 3), 1.999 * R * (k / 6));
      if (k == 11) place[k] = tl_vec3(1.999 * R * 2, 0, 0);
      centre = tl_axpy(centre, 1.0 / COUNT, place[k]);
    }
    TlVec3 lift = {0, 0, 0.15};
    for (int k = 0; k < COUNT; k++) {
      TlVec3 arm = tl_sub(place[k], centre);
      if (!one) {
        put(lab, tl_add(place[k], lift), tl_add(v, tl_cross(spin, arm)));
        continue;
      }
      TlColliders *c = &lab->bodies.colliders;
      int64_t at = lab->bodies.first[body] + k;
      c->avatar_id[at] = SPHERE;
      c->scale[at] = 1;
      c->offset[at] = place[k];
      masses[k] = mass();
      double i_one = 0.4 * mass() * R * R;
      inertia[k] = tl_vec3(i_one, i_one, i_one);
    }
    if (one) {
      lab->bodies.position[body] = lift;
      lab->bodies.velocity[body] = v;
      tl_bodies_frame(&lab->bodies, body, spin, masses, inertia);
    } else {
      CK_OK(stepper_refresh(lab->solver, &lab->bodies));
      for (int k = 0; k < COUNT; k++) tl_bodies_set_spin(&lab->bodies, k, spin);
    }
  }
  double most = 0;
  bool struck = false;
  for (int k = 0; k < 400; k++) {
    step(&twin[0]);
    step(&twin[1]);
    if (k == 0) ck_assert_int_eq(twin[0].report.merged, COUNT);
    ck_assert_int_eq(twin[1].report.merged, 0);
    struck |= twin[1].report.boundary_overlap_m > 0;
    for (int i = 0; i < COUNT; i++)
      most = fmax(most, apart(twin[0].bodies.position[i], twin[1].bodies.colliders.position[i]));
    /* a tumbling body's impacts spread what rounding began with */
    ck_assert_double_le(most, (struck ? 1e-8 : 1e-10) * R);
  }
  ck_assert(struck);
  lab_close(&twin[0]);
  lab_close(&twin[1]);
}
END_TEST

/* ---- anchors ---- */

/* Spheres on a belt come to its speed, merge with it, and ride on: their momentum is the belt's gift, through
 * contacts or as booked. */
START_TEST(a_belt_takes_along_and_books_its_impulse) {
  Lab lab;
  lab_open(&lab);
  lab_belt(&lab, tl_vec3(0.3, 0, 0));
  TL_TEST_SET(&lab.config, TL_TEST_BOTH, rolling, 0.2);
  lab_start(&lab);
  for (int k = 0; k < 4; k++) put(&lab, tl_vec3(1.999 * R * k, 0, R), NONE);
  double total = 4 * mass();
  for (int k = 0; k < 600; k++) {
    TlVec3 before = k ? sum_of(&lab.bodies).linear : NONE;
    step(&lab);
    TlVec3 change = tl_sub(sum_of(&lab.bodies).linear, before),
           booked = {lab.report.anchor_x_N_s, lab.report.anchor_y_N_s, lab.report.anchor_z_N_s};
    if (lab.report.merged == 4 && lab.report.merges == 0) { /* nothing is left to be solved */
      TlVec3 due = tl_scale(-total * lab.config.step_s, lab.config.gravity_m_s2);
      ck_assert_double_le(apart(tl_add(change, due), booked), 1e-14 * total);
    }
  }
  ck_assert_int_eq(lab.report.merged, 4);
  ck_assert_int_eq(lab.report.units, 0);
  for (int k = 0; k < 4; k++)
    ck_assert_double_le(apart(lab.bodies.velocity[k], tl_vec3(0.3, 0, 0)), 1e-13);
  double scale = 0.5 * total * 0.09;
  ck_assert_double_le(fabs(lab.energy.error_J), 1e-11 * scale);
  lab_close(&lab);
}
END_TEST

/* The surface of a box runs as a belt: cubes on it merge with each other, and not with the belt, at whose end the
 * aggregate falls. */
START_TEST(a_belt_that_ends_holds_nothing) {
  static const TlBoundarySolid solid = {
      &tl_closed_box, {0.3, 0.1, 0.02}, {0, 0, -0.01}, {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}};
  Lab lab;
  lab_open(&lab);
  lab_belt(&lab, NONE);
  lab.boundary[0].kind = &tl_boundary_solid;
  lab.boundary[0].data = &solid;
  lab.drive[0].surface_m_s = tl_vec3(0.5, 0, 0);
  lab_start(&lab);
  for (int k = 0; k < 2; k++)
    put_shape(&lab, CUBE, tl_vec3(0, 0.999 * k * CUBE_M[1], 0.5 * CUBE_M[2]), NONE);
  for (int k = 0; k < 150; k++) {
    step(&lab);
    ck_assert_int_ge(lab.report.units, 1);
  }
  ck_assert_int_eq(lab.report.merged, 2);
  ck_assert_int_eq(lab.report.aggregates, 1);
  for (int k = 0; k < 2; k++) CK_NEAR(lab.bodies.velocity[k].x, 0.5, 1e-3);
  double total = 2 * lab.bodies.mass[0];
  CK_NEAR(lab.energy.wall_J / (total * 0.25), 1, 0.01);
  for (int k = 0; k < 300; k++) step(&lab);
  for (int k = 0; k < 2; k++) {
    ck_assert_double_le(lab.bodies.position[k].z, -0.02);
    ck_assert_double_ge(lab.bodies.velocity[k].x, 0.4);
  }
  ck_assert_double_le(fabs(lab.energy.error_J), 1e-6 * total * 0.25);
  lab_close(&lab);
}
END_TEST

/* A floor that tilts lifts the cubes that it carries along an arc: its work is what they rise by. */
START_TEST(a_floor_that_tilts_books_what_it_lifts) {
  Lab lab;
  lab_open(&lab);
  lab_belt(&lab, NONE);
  lab.drive[0].spin_rad_s = tl_vec3(-0.6, 0, 0);
  merge_all(&lab);
  lab_start(&lab);
  for (int k = 0; k < 2; k++)
    put_shape(&lab, CUBE, tl_vec3(0, -0.1, (1 + 1.999 * k) * 0.5 * CUBE_M[2]), NONE);
  double start = 0, end = 0;
  for (int k = 0; k < 2; k++) start += lab.bodies.position[k].z;
  for (int k = 0; k < 500; k++) step(&lab);
  for (int k = 0; k < 2; k++) end += lab.bodies.position[k].z;
  ck_assert_int_eq(lab.report.merged, 2);
  double lifted = lab.bodies.mass[0] * G * (end - start), turn = 0.6 * 500 * lab.config.step_s;
  CK_NEAR(end / (2 * 0.1 * sin(turn) + start * cos(turn)), 1, 1e-3);
  CK_NEAR(lab.energy.wall_J / lifted, 1, 0.02);
  ck_assert_double_le(fabs(lab.energy.error_J), 1e-9 * lifted);
  lab_close(&lab);
}
END_TEST

/* What a belt carries against a wall stops there: between the two nothing gives way, so that no row would hold it. */
START_TEST(what_a_belt_carries_stops_at_a_wall) {
  static const TlSplit splits[] = {TL_SPLIT_SENSORS, TL_SPLIT_CONTACT, TL_SPLIT_BOTH};
  for (int k = 0; k < 3; k++) {
    Lab lab;
    lab_open(&lab);
    lab.config.nonsmooth.reduction.split = splits[k];
    lab_belt(&lab, tl_vec3(0.1, 0, 0));
    lab_plane(&lab, tl_vec3(0.04, 0, 0), tl_vec3(-1, 0, 0));
    lab_start(&lab);
    put_shape(&lab, CUBE, tl_vec3(0, 0, 0.999 * R), NONE);
    int64_t carried = 0;
    for (int i = 0; i < 600; i++) {
      step(&lab);
      carried += lab.report.merged;
    }
    ck_assert_int_gt(carried, 100);
    CK_NEAR(lab.bodies.position[0].x, 0.03, 0.01 * R);
    lab_close(&lab);
  }
}
END_TEST

/* ---- splitting ---- */

/* A heap at rest, merged with the ground. */
static void put_heap(Lab *lab) {
  for (int k = 0; k < 9; k++)
    put(lab, tl_vec3(1.999 * R * (k % 3), 1.999 * R * (k / 3), 0.9995 * R), NONE);
  for (int k = 0; k < 4; k++)
    put(lab, tl_vec3(1.999 * R * (0.5 + k % 2), 1.999 * R * (0.5 + k / 2), R * (1 + 1.4135)), NONE);
}

/* The heap on a rough plane. boundaries: it merges with the plane, too. */
static void open_heap(Lab *lab, TlSplit split, bool boundaries) {
  lab_open(lab);
  lab->config.nonsmooth.reduction.split = split;
  lab->config.nonsmooth.reduction.boundaries = boundaries;
  TL_TEST_SET(&lab->config, TL_TEST_BOTH, rolling, 0.2);
  lab_plane(lab, NONE, tl_vec3(0, 0, 1));
  lab_start(lab);
  put_heap(lab);
}

/* Upward force of the boundaries, N. */
static double borne_by_ground(const Lab *lab) {
  TlContactRow *row;
  int64_t rows;
  double borne = 0;
  CK_OK(stepper_contacts(lab->solver, &lab->bodies, &row, &rows));
  for (int64_t k = 0; k < rows; k++) borne += row[k].second < 0 ? row[k].force_N.z : 0;
  tl_free(row);
  return borne;
}

START_TEST(a_blow_splits_an_aggregate) {
  Lab lab;
  open_heap(&lab, TL_SPLIT_CONTACT, true);
  for (int k = 0; k < 300; k++) step(&lab);
  ck_assert_int_eq(lab.report.merged, 13);
  ck_assert_int_eq(lab.report.splits, 0);
  TlVec3 before = lab.bodies.position[9];
  /* contacts within keep the force that was last known, before the heap had settled */
  CK_NEAR(borne_by_ground(&lab) / (13 * mass() * G), 1, 0.2);
  TlBodyOrder order; /* what frames hold of it: all on the ground hang together */
  CK_OK(tl_body_order(&lab.bodies, &order));
  for (int k = 0; k < 13; k++) ck_assert_int_eq(order.aggregate[k], 0);
  tl_body_order_free(&order);
  /* one from the side splits what it strikes and what that touches */
  put(&lab, tl_vec3(-6 * R, 1.999 * R * 0.5, R * 4), tl_vec3(2, 0, -0.2));
  int64_t splits = 0, most = 0;
  for (int k = 0; k < 300; k++) {
    step(&lab);
    splits += lab.report.splits;
    if (lab.report.splits > most) most = lab.report.splits;
  }
  ck_assert_int_gt(splits, 0);
  ck_assert_int_ge(most, 1 + 4); /* the struck one has four below and others beside it */
  ck_assert_double_ge(apart(before, lab.bodies.position[9]), 1e-4 * R);
  double scale = 14 * mass() * G * R;
  ck_assert_double_le(fabs(lab.energy.error_J), 1e-9 * scale);
  lab_close(&lab);
}
END_TEST

/* Spheres in a row on a shelf that goes away: only the trial notices. */
static int64_t without_a_shelf(TlSplit split) {
  Lab lab;
  lab_open(&lab);
  lab.config.nonsmooth.reduction.split = split;
  lab.config.nonsmooth.reduction.boundaries = false;
  int shelf = lab_plane(&lab, NONE, tl_vec3(0, 0, 1));
  lab_plane(&lab, tl_vec3(-0.999 * R, 0, 0), tl_vec3(1, 0, 0));
  lab.drive[shelf] = (TlDrive){.until_s = 0.3};
  lab.boundary[shelf].drive = &lab.drive[shelf];
  lab_start(&lab);
  for (int k = 0; k < 4; k++) put(&lab, tl_vec3(1.999 * R * k, 0, 0.999 * R), NONE);
  for (int k = 0; k < 300; k++) step(&lab);
  ck_assert_int_eq(lab.report.merged, 4);
  int64_t splits = 0;
  for (int k = 0; k < 20; k++) {
    step(&lab);
    splits += lab.report.splits;
  }
  lab_close(&lab);
  return splits;
}

START_TEST(only_a_trial_notices_lost_support) {
  ck_assert_int_eq(without_a_shelf(TL_SPLIT_CONTACT), 0);
  ck_assert_int_gt(without_a_shelf(TL_SPLIT_TRIAL), 0);
}
END_TEST

/* A cube on a slope of friction 0.5, held by a stop that goes away when the two have merged: how far it
 * slides in 0.3 s. */
static double down_a_slope(double degrees, double trial_force) {
  Lab lab;
  lab_open(&lab);
  lab.config.nonsmooth.reduction.split = TL_SPLIT_TRIAL;
  lab.config.nonsmooth.reduction.trial_force = trial_force;
  double tilt = degrees * M_PI / 180;
  lab.config.gravity_m_s2 = tl_vec3(G * sin(tilt), 0, -G * cos(tilt));
  lab_plane(&lab, NONE, tl_vec3(0, 0, 1));
  int stop = lab_plane(&lab, tl_vec3(R, 0, 0), tl_vec3(-1, 0, 0));
  lab.drive[stop] = (TlDrive){.until_s = 0.1};
  lab.boundary[stop].drive = &lab.drive[stop];
  lab_start(&lab);
  int64_t cube = put_shape(&lab, CUBE, tl_vec3(0, 0, R), NONE);
  for (int k = 0; k < 90; k++) step(&lab);
  ck_assert_int_eq(lab.report.merged, 1);
  for (int k = 0; k < 310; k++) step(&lab);
  double distance = lab.bodies.position[cube].x;
  lab_close(&lab);
  return distance;
}

/* At 35 degrees the net force is 0.09 of weight and contact forces: it slides 72 mm from rest, and stands at the
 * threshold of the paper. */
START_TEST(a_cube_that_loses_its_stop_slides) {
  TlReductionSetup setup;
  CK_OK(tl_params_defaults(tl_reduction_params, TL_REDUCTION_PARAMS, &setup));
  double distance = 0.5 * G * (sin(35 * M_PI / 180) - 0.5 * cos(35 * M_PI / 180)) * 0.3 * 0.3;
  ck_assert_double_eq_tol(down_a_slope(35, setup.trial_force), distance, 0.05 * distance);
  ck_assert_double_le(down_a_slope(35, 0.15), 0.01 * R);
  ck_assert_double_le(down_a_slope(20, setup.trial_force), 0.01 * R);
}
END_TEST

/* ---- balance of torques ---- */

/* A cube lies on a ledge, its centre `beyond` of its side past the edge, and on a plane without friction that
 * goes away when it has merged with the ledge. Its centre's height after a while. */
static double on_a_ledge(double beyond, TlSplit split, double trial_torque) {
  Lab lab;
  lab_open(&lab);
  TlReduction *o = &lab.config.nonsmooth.reduction;
  o->split = split;
  o->trial_force = 0.15;
  o->trial_torque = trial_torque;
  TL_TEST_SET(&lab.config, TL_TEST_BOUNDARY, friction, 0);
  int shelf = lab_plane(&lab, NONE, tl_vec3(0, 0, 1));
  lab.drive[shelf] = (TlDrive){.until_s = 0.1};
  lab.boundary[shelf].drive = &lab.drive[shelf];
  lab_start(&lab);
  put_fixed(&lab, CUBE, tl_vec3(0, 0, -R));
  int64_t cube = put_shape(&lab, CUBE, tl_vec3(R + 2 * R * beyond, 0, R), NONE);
  for (int k = 0; k < 90; k++) step(&lab);
  ck_assert_int_eq(lab.report.merged, split == TL_SPLIT_OFF ? 0 : 1);
  for (int k = 0; k < 310; k++) step(&lab);
  double height = lab.bodies.position[cube].z;
  lab_close(&lab);
  return height;
}

/* At 0.15 of its side the net force on a cube that tips is 0.10 of its weight and the ledge's force, which
 * Servin's threshold keeps; the turn's speed is 0.075 of them at the radius of gyration. */
START_TEST(a_cube_past_the_edge_tips_by_its_torque) {
  double off = 1e3, on = 0.05;
  ck_assert_double_le(on_a_ledge(0.15, TL_SPLIT_OFF, on), -R);
  ck_assert_double_ge(on_a_ledge(0.15, TL_SPLIT_TRIAL, off), 0.99 * R);
  ck_assert_double_le(on_a_ledge(0.15, TL_SPLIT_TRIAL, on), -R);
  ck_assert_double_ge(on_a_ledge(-0.15, TL_SPLIT_TRIAL, on), 0.99 * R);
}
END_TEST

/* A block on its edge touches by points of one line, more than two where they carried load. They stand still
 * while it turns about them: it shall not be taken for at rest. */
START_TEST(a_block_that_turns_about_its_edge_is_not_at_rest) {
  for (int turns = 0; turns < 2; turns++) {
    Lab lab;
    lab_open(&lab);
    lab.config.nonsmooth.reduction.merge_in_m_s = 1; /* it sinks in */
    lab_plane(&lab, NONE, tl_vec3(0, 0, 1));
    TlFormula cube = {.kind = TL_FORMULA_BOX, .size_m = {2 * R, 2 * R, 2 * R}, .nodes = 600};
    CK_OK(tl_formula_avatar_as_given(&cube, &lab.block));
    lab_start(&lab);
    double w = turns ? 2 : 0.1, height = sqrt(2.0) * R * (1 - 1e-4);
    int64_t i =
        tl_test_put(&lab.bodies, BLOCK, tl_vec3(0, 0, height),
                    tl_quat_from_rotation(tl_vec3(0, M_PI / 4, 0)), tl_vec3(w * height, 0, 0));
    CK_OK(stepper_refresh(lab.solver, &lab.bodies));
    tl_bodies_set_spin(&lab.bodies, i, tl_vec3(0, w, 0));
    for (int k = 0; k < lab.block.node_count; k++) {
      TlContactForce one = {.low = 0, .high = -1, .number = 2 * k, .force = {0, 0, 1e-3}};
      CK_OK(tl_pair_state_add(&lab.bodies.pairs, TL_FORCES, &one));
    }
    step(&lab);
    TlContactRow *row;
    int64_t rows;
    CK_OK(stepper_contacts(lab.solver, &lab.bodies, &row, &rows));
    tl_free(row);
    ck_assert_int_ge(rows, 3);
    ck_assert_int_eq(lab.report.merged, turns ? 0 : 1);
    lab_close(&lab);
  }
}
END_TEST

/* A heap of balls and cubes that falls into a box, without reduction and with one that begins when some lie. */
START_TEST(until_reduction_begins_a_run_is_as_without_it) {
  enum { COUNT = 18, STEPS = 300 };
  const TlSplit split[] = {TL_SPLIT_CONTACT, TL_SPLIT_BOTH};
  for (size_t s = 0; s < sizeof split / sizeof *split; s++) {
    Lab lab[2];
    for (int k = 0; k < 2; k++) {
      lab_open(&lab[k]);
      lab[k].config.nonsmooth.reduction.split = k ? split[s] : TL_SPLIT_OFF;
      lab[k].config.nonsmooth.reduction.from_s = 1e-3 * STEPS;
      lab_plane(&lab[k], NONE, tl_vec3(0, 0, 1));
      lab_plane(&lab[k], NONE, tl_vec3(1, 0, 0));
      lab_plane(&lab[k], NONE, tl_vec3(0, 1, 0));
      lab_plane(&lab[k], tl_vec3(5 * R, 5 * R, 0), tl_vec3(-1, 0, 0));
      lab_plane(&lab[k], tl_vec3(5 * R, 5 * R, 0), tl_vec3(0, -1, 0));
      lab_start(&lab[k]);
      for (int i = 0; i < COUNT; i++)
        put_shape(&lab[k], i % 3 ? SPHERE : CUBE,
                  tl_vec3(R * (1.2 + 2.3 * (i % 2)), R * (1.2 + 2.3 * (i / 2 % 2)),
                          R * (1.1 + 2.2 * floor(0.25 * i))),
                  tl_vec3(0.1 * (i % 3 - 1), 0.05 * (i % 5 - 2), -0.3));
    }
    for (int n = 0; n < STEPS; n++) {
      for (int k = 0; k < 2; k++) step(&lab[k]);
      ck_assert_int_eq(lab[1].report.merged, 0);
      for (int i = 0; i < COUNT; i++) {
        ck_assert_mem_eq(&lab[0].bodies.position[i], &lab[1].bodies.position[i], sizeof(TlVec3));
        ck_assert_mem_eq(&lab[0].bodies.velocity[i], &lab[1].bodies.velocity[i], sizeof(TlVec3));
        ck_assert_mem_eq(&lab[0].bodies.momentum[i], &lab[1].bodies.momentum[i], sizeof(TlVec3));
      }
    }
    int64_t merged = 0;
    for (int n = 0; n < 50; n++) {
      step(&lab[1]);
      merged = lab[1].report.merged > merged ? lab[1].report.merged : merged;
    }
    ck_assert_int_gt(merged, 0);
    lab_close(&lab[0]);
    lab_close(&lab[1]);
  }
}
END_TEST

/* ---- contact memory ---- */

/* A column of bricks under its weight, merged, which takes nothing of what its contacts store, and then split:
 * with the forces that it had within, few iterations hold it. Travel of the topmost within the next steps. */
static double fall_after_a_split(int64_t shape, bool forget) {
  enum { COUNT = 8 };
  Lab lab;
  lab_open(&lab);
  lab.config.nonsmooth.iterations = lab.config.nonsmooth.impact_iterations = 10;
  lab.config.nonsmooth.tolerance = 0;
  lab.config.nonsmooth.solver = TL_NS_SWEEPS; /* with steps beyond them ten find the forces anew */
  lab.config.nonsmooth.reduction.from_s = 1;
  lab.config.nonsmooth.reduction.sensors = 1;
  lab.config.nonsmooth.reduction.sensor[0] = (TlSensor){tl_vec3(-1, -1, 1), tl_vec3(1, 1, 2)};
  lab_plane(&lab, NONE, tl_vec3(0, 0, 1));
  lab_start(&lab);
  for (int k = 0; k < COUNT; k++)
    if (shape == PLANK)
      put_plank(&lab, tl_vec3(0, 0, PLANK_M[2] * (k + 0.5)), NONE);
    else
      put_shape(&lab, shape, tl_vec3(0, 0, BRICK_M[2] * (k + 0.5)), NONE);
  for (int k = 0; k < 1000; k++) step(&lab);
  double stored = lab.report.elastic_J;
  ck_assert_int_eq(lab.report.merged, 0);
  for (int k = 0; k < 300; k++) step(&lab);
  ck_assert_int_eq(lab.report.merged, COUNT);
  CK_NEAR(lab.report.elastic_J / stored, 1, 1e-3);
  double height = lab.bodies.position[COUNT - 1].z;
  lab.solver->model->nonsmooth.reduction.sensor[0] =
      (TlSensor){tl_vec3(-9, -9, -9), tl_vec3(9, 9, 9)};
  if (forget) lab.bodies.pairs.of[TL_FORCES].count = 0;
  double moved = 0;
  for (int k = 0; k < 50; k++) {
    step(&lab);
    ck_assert_int_eq(lab.report.merged, 0);
    moved = fmax(moved, fabs(lab.bodies.position[COUNT - 1].z - height));
  }
  lab_close(&lab);
  return moved;
}

START_TEST(a_stack_that_is_split_stands_by_what_it_remembers) {
  const int64_t shape[] = {BRICK, PLANK};
  for (int k = 0; k < 2; k++) {
    double with = fall_after_a_split(shape[k], false), without = fall_after_a_split(shape[k], true);
    ck_assert_double_le(with, 1e-6 * R);
    ck_assert_double_ge(without, 5e-5 * R); /* or the test would tell nothing */
  }
}
END_TEST

/* What the contact memory has of two bodies, on the lower one. */
static TlVec3 remembered(const TlBodies *b, int64_t low, int64_t high) {
  const TlColliders *c = &b->colliders;
  TlVec3 sum = NONE;
  for (int64_t i = b->first[low]; i < b->first[low] + tl_bodies_parts(b, low); i++)
    for (int64_t k = b->first[high]; k < b->first[high] + tl_bodies_parts(b, high); k++) {
      size_t count;
      const TlContactForce *f =
          tl_pair_rows_find(&b->pairs.of[TL_FORCES], TL_FORCES, c->id[i], c->id[k], &count);
      for (size_t j = 0; j < count; j++) sum = tl_add(sum, f[j].force);
    }
  return sum;
}

/* A free stack merges and tumbles on: the forces that contacts within remember turn with it. */
START_TEST(what_is_remembered_within_turns_along) {
  for (int planks = 0; planks < 2; planks++) {
    enum { COUNT = 4 };
    TlVec3 force[COUNT];
    Lab lab;
    lab_open(&lab);
    merge_all(&lab);
    lab.config.gravity_m_s2 = NONE;
    lab_start(&lab);
    for (int k = 0; k < COUNT; k++) {
      TlVec3 x = {0.3 * R * k, 0.2 * R * k, 0.995 * (planks ? PLANK_M[2] : BRICK_M[2]) * k};
      TlVec3 v = {0.4 * k, 0.1 * k * k, 0};
      if (planks)
        put_plank(&lab, x, v);
      else
        put_shape(&lab, BRICK, x, v);
    }
    CK_OK(stepper_refresh(lab.solver, &lab.bodies));
    step(&lab);
    ck_assert_int_eq(lab.report.merged, COUNT);
    TlQuat start = lab.bodies.rotation[0];
    for (int k = 1; k < COUNT; k++) {
      force[k] = remembered(&lab.bodies, k - 1, k);
      ck_assert_double_ge(tl_norm(force[k]), 1e-3);
    }
    for (int k = 0; k < 150; k++) step(&lab);
    TlQuat turn = tl_quat_mul(lab.bodies.rotation[0], tl_quat_conj(start));
    ck_assert_double_le(fabs(turn.w), 0.9);
    for (int k = 1; k < COUNT; k++)
      ck_assert_double_le(apart(remembered(&lab.bodies, k - 1, k), tl_quat_rotate(turn, force[k])),
                          1e-12 * tl_norm(force[k]));
    lab_close(&lab);
  }
}
END_TEST

/* ---- bodies on joints ---- */

/* ---- bodies on joints ---- */

/* Two cubes side by side, the first one on a joint, that merged before the start; or both as one body: the slow twin.
 * Gives the first body. */
static int64_t put_pair(Lab *lab, bool one, TlVec3 x) {
  if (one) return put_plank(lab, x, NONE);
  int64_t first = put_shape(lab, CUBE, tl_sub(x, tl_vec3(R, 0, 0)), NONE);
  int64_t other = put_shape(lab, CUBE, tl_add(x, tl_vec3(R, 0, 0)), NONE);
  TlMerge merge = {.low = first, .high = other};
  CK_OK(tl_pair_state_add(&lab->bodies.pairs, TL_MERGES, &merge));
  return first;
}

/* Where a point of the world lies in a body's frame. */
static TlVec3 seen_from(const Lab *lab, int64_t body, TlVec3 x) {
  return tl_quat_rotate(tl_quat_conj(lab->bodies.rotation[body]),
                        tl_sub(x, lab->bodies.position[body]));
}

static TlVec3 middle_of_pair(const Lab *lab, bool one, int64_t body) {
  const TlVec3 *x = lab->bodies.position;
  return one ? x[body] : tl_scale(0.5, tl_add(x[body], x[body + 1]));
}

/* On a hinge beside them they swing as one, and the hinge bears the same. */
START_TEST(what_merged_with_a_pendulum_swings_along) {
  TlVec3 pivot = {-3 * R, 0, 0}, along = {0, 1, 0}, middle[2], force[2];
  for (int one = 0; one < 2; one++) {
    Lab lab;
    lab_open(&lab);
    merge_all(&lab);
    lab_start(&lab);
    int64_t body = put_pair(&lab, one, NONE);
    TlHinge hinge = {.low = body,
                     .high = -1,
                     .number = 1,
                     .anchor_low = seen_from(&lab, body, pivot),
                     .anchor_high = pivot,
                     .axis_low = tl_quat_rotate(tl_quat_conj(lab.bodies.rotation[body]), along),
                     .axis_high = along};
    CK_OK(tl_pair_state_add(&lab.bodies.pairs, TL_HINGES, &hinge));
    CK_OK(stepper_refresh(lab.solver, &lab.bodies));
    for (int k = 0; k < 200; k++) step(&lab);
    ck_assert_int_eq(lab.report.merged, one ? 0 : 2);
    middle[one] = middle_of_pair(&lab, one, body);
    force[one] = ((TlHinge *)lab.bodies.pairs.of[TL_HINGES].row)->force;
    ck_assert_double_ge(apart(middle[one], NONE), 3 * R); /* it has swung */
    lab_close(&lab);
  }
  ck_assert_double_le(apart(middle[0], middle[1]), 1e-9 * R);
  ck_assert_double_le(apart(force[0], force[1]), 1e-6 * tl_norm(force[1]));
}
END_TEST

/* A load on a slider that may tilt acts at the centre of the body on it, beside that of the aggregate: what it does as
 * work is what both have gained. */
START_TEST(a_load_on_a_slider_pushes_what_merged_with_it) {
  Lab lab;
  lab_open(&lab);
  merge_all(&lab);
  lab.config.gravity_m_s2 = NONE;
  lab_start(&lab);
  int64_t body = put_pair(&lab, false, NONE);
  TlVec3 at = lab.bodies.position[body];
  TlSlider slider = {.low = body,
                     .high = -1,
                     .number = 4,
                     .anchor_high = at,
                     .axis_high = {0, 0, 1},
                     .turn = UPRIGHT,
                     .tilts = 1};
  CK_OK(tl_pair_state_add(&lab.bodies.pairs, TL_SLIDERS, &slider));
  CK_OK(stepper_refresh(lab.solver, &lab.bodies));
  double mass = lab.bodies.mass[body], load = 2 * mass * G;
  TlJointControl control = {.kind = TL_SLIDERS, .number = 4, .tilts = true, .load = load};
  CK_OK(tl_controls_set_joint(&lab.solver->controls, &control));
  for (int k = 0; k < 10; k++) step(&lab);
  ck_assert_int_eq(lab.report.merged, 2);
  /* at first: F/(2 m) and F R/I of both, I of two cubes about the axis across their line */
  double inertia = 2 * (mass * 4 * R * R / 6 + mass * R * R), t = 10 * lab.config.step_s;
  CK_NEAR(tl_bodies_spin(&lab.bodies, body).y / (load * R / inertia * t), 1, 0.02);
  TlVec3 v = tl_scale(0.5, tl_add(lab.bodies.velocity[body], lab.bodies.velocity[body + 1]));
  CK_NEAR(v.z / (load / (2 * mass) * t), 1, 0.02);
  ck_assert_double_le(fabs(lab.energy.error_J), 1e-3 * mass * tl_norm2(v));
  lab_close(&lab);
}
END_TEST

/* No aggregate has two bodies on joints, or one and an anchor. */
START_TEST(what_is_held_twice_stays_apart) {
  Lab lab;
  lab_open(&lab);
  merge_all(&lab);
  lab_plane(&lab, NONE, tl_vec3(0, 0, 1));
  lab_start(&lab);
  for (int k = 0; k < 4; k++) put(&lab, tl_vec3(1.999 * R * k, 0, 0.9995 * R), NONE);
  int64_t door[2];
  for (int k = 0; k < 2; k++) {
    TlVec3 at = {1.999 * R * 3.5 + R, 0, (k ? 3 : 1) * R}; /* one on the other */
    door[k] = put_shape(&lab, CUBE, at, NONE);
    TlWeld weld = {.low = door[k], .high = -1, .number = 1 + k, .anchor_high = at, .turn = UPRIGHT};
    CK_OK(tl_pair_state_add(&lab.bodies.pairs, TL_WELDS, &weld));
  }
  int64_t rider = put(&lab, tl_vec3(1.999 * R * 3.5 + R, 0, 4.9995 * R), NONE);
  for (int k = 0; k < 100; k++) step(&lab);
  ck_assert_int_eq(lab.report.merged, 4 + 2); /* those on the plane; the rider and the upper cube */
  ck_assert_double_le(apart(lab.bodies.position[door[0]], lab.bodies.position[door[1]]), 2.001 * R);
  ck_assert_double_ge(lab.bodies.position[rider].z, 4.99 * R);
  lab_close(&lab);
}
END_TEST

/* A heap under its weight is found in balance by the trial: it stays merged. */
START_TEST(a_heap_at_rest_stays_merged) {
  Lab lab;
  open_heap(&lab, TL_SPLIT_TRIAL, true);
  for (int k = 0; k < 500; k++) step(&lab);
  int64_t splits = 0;
  for (int k = 0; k < 500; k++) {
    step(&lab);
    splits += lab.report.splits;
  }
  ck_assert_int_eq(lab.report.merged, 13);
  ck_assert_int_le(splits, 0);
  lab_close(&lab);
}
END_TEST

/* Grains that become softer stand for bodies that merged in motion: their forces do not follow from their overlaps. */
START_TEST(an_aggregate_bears_what_it_bore_whatever_its_overlaps_say) {
  Lab lab;
  open_heap(&lab, TL_SPLIT_TRIAL, true);
  for (int k = 0; k < 500; k++) step(&lab);
  ck_assert_int_eq(lab.report.merged, 13);
  TlMaterials *m = &lab.solver->model->materials;
  for (int32_t k = 0; k < m->count * m->count; k++) m->law[k].stiffness.young_Pa *= 0.7;
  for (int k = 0; k < 200; k++) {
    step(&lab);
    ck_assert_int_eq(lab.report.splits, 0);
  }
  CK_NEAR(borne_by_ground(&lab) / (13 * mass() * G), 1, 0.01);
  lab_close(&lab);
}
END_TEST

/* ---- contacts within aggregates ---- */

/* The slow twin forgets what is kept of contacts within, so that they are searched in each step. */
static void forget_inner(Lab *lab) {
  lab->bodies.pairs.of[TL_INNER].count = 0;
}

/* A clump that merges in its first step, tumbles, falls and strikes a plane, which a sensor below splits. */
static void open_tumbler(Lab *lab, int64_t shape, const double side[3], bool sensor) {
  lab_open(lab);
  merge_all(lab);
  lab->config.nonsmooth.reduction.boundaries = false;
  if (sensor) {
    lab->config.nonsmooth.reduction.sensors = 1;
    lab->config.nonsmooth.reduction.sensor[0] = (TlSensor){tl_vec3(-9, -9, -9), tl_vec3(9, 9, 0.1)};
  }
  lab_plane(lab, NONE, tl_vec3(0, 0, 1));
  lab_start(lab);
  put_clump(lab, shape, side, 0.01, 12, 0.5, 11);
  for (int64_t i = 0; i < lab->bodies.owned; i++) { /* askew, so that no two points lie as deep */
    uint64_t n = 3 * (uint64_t)i;
    TlVec3 turn = {tl_random_uniform(7, 1, n) - 0.5, tl_random_uniform(7, 1, n + 1) - 0.5,
                   tl_random_uniform(7, 1, n + 2) - 0.5};
    lab->bodies.rotation[i] = tl_quat_from_rotation(tl_scale(0.02, turn));
    lab->bodies.position[i] = tl_add(lab->bodies.position[i], tl_vec3(0, 0, 0.2));
  }
  CK_OK(stepper_refresh(lab->solver, &lab->bodies));
}

static double apart_most(const Lab *one, const Lab *two) {
  double most = 0;
  for (int64_t i = 0; i < one->bodies.owned; i++)
    most = fmax(most, apart(one->bodies.position[i], two->bodies.position[i]));
  return most;
}

/* Kept contacts bear nothing as long as the aggregate holds: the motion is the same to the bit, and nothing is
 * searched but the plane. Split by the sensor, both have the same contacts, but for points that are farther than a
 * search looks now and bear nothing. Where points lie as deep, rounding decides which four of a face bear: of 18 clumps,
 * six draws of three kinds, 12 ended within 1e-14 of a radius, and the others within 6e-5. */
static void keep_contacts(int64_t shape, const double side[3]) {
  Lab twin[2];
  int64_t tested[2] = {0, 0}, parted = 0;
  for (int one = 0; one < 2; one++) open_tumbler(&twin[one], shape, side, true);
  for (int k = 0; k < 260; k++) {
    for (int one = 0; one < 2; one++) {
      if (one) forget_inner(&twin[one]);
      step(&twin[one]);
      if (k > 0 && parted == 0) tested[one] += twin[one].report.pairs;
    }
    if (k == 0) ck_assert_uint_gt(twin[0].bodies.pairs.of[TL_INNER].count, 12);
    parted = twin[0].report.splits;
    ck_assert_int_eq(twin[1].report.splits, parted);
    if (parted > 0) break;
    ck_assert(apart_most(&twin[0], &twin[1]) == 0);
    ck_assert_double_le(fabs(twin[0].report.overlap_m - twin[1].report.overlap_m), 1e-12 * R);
  }
  ck_assert_int_ge(twin[0].report.contacts, twin[1].report.contacts);
  ck_assert_int_le(twin[0].report.contacts, twin[1].report.contacts + 4);
  ck_assert_double_le(apart_most(&twin[0], &twin[1]), 2e-4 * R);
  ck_assert_int_gt(parted, 0);
  ck_assert_int_le(4 * tested[0], tested[1]);
  for (int one = 0; one < 2; one++) lab_close(&twin[one]);
}

START_TEST(contacts_within_an_aggregate_are_kept) {
  keep_contacts(CUBE, CUBE_M);
  keep_contacts(BRICK, BRICK_M);
  keep_contacts(PLANK, PLANK_M);
}
END_TEST

/* What is kept is state: a copy of the bodies goes on to the bit, over the split. */
START_TEST(a_copy_continues_with_the_contacts_that_were_kept) {
  Lab lab, copy;
  open_tumbler(&lab, BRICK, BRICK_M, true);
  for (int k = 0; k < 60; k++) step(&lab);
  ck_assert_int_eq(lab.report.merged, 12);
  copy = lab;
  memset(&copy.bodies, 0, sizeof copy.bodies);
  CK_OK(tl_bodies_copy(&copy.bodies, &lab.bodies));
  lab_start(&copy);
  copy.solver->steps = lab.solver->steps;
  int64_t splits = 0;
  for (int k = 0; k < 120; k++) {
    step(&lab);
    step(&copy);
    splits += lab.report.splits;
    for (int64_t i = 0; i < 12; i++) {
      ck_assert(apart(lab.bodies.position[i], copy.bodies.position[i]) == 0);
      ck_assert(apart(lab.bodies.velocity[i], copy.bodies.velocity[i]) == 0);
    }
  }
  ck_assert_int_gt(splits, 0);
  lab_close(&copy);
  lab_close(&lab);
}
END_TEST

/* An aggregate that merged slowly and spins fast when it is split: a search has more points then than when it
 * merged, and they are found. */
START_TEST(a_split_finds_contacts_again) {
  Lab twin[2];
  for (int one = 0; one < 2; one++) {
    Lab *lab = &twin[one];
    lab_open(lab);
    merge_all(lab);
    lab->config.gravity_m_s2 = NONE;
    lab->config.nonsmooth.reduction.sensors = 1;
    lab->config.nonsmooth.reduction.sensor[0] = (TlSensor){tl_vec3(-1, -1, 1), tl_vec3(1, 1, 2)};
    lab_start(lab);
    put_clump(lab, BRICK, BRICK_M, 0.005, 4, 0, 1);
    step(lab);
    ck_assert_int_eq(lab->report.merged, 4);
    Sum sum = sum_of(&lab->bodies);
    TlVec3 centre = NONE, spin = {0, 0, 60};
    for (int64_t i = 0; i < 4; i++)
      centre = tl_axpy(centre, lab->bodies.mass[i] / sum.mass, lab->bodies.position[i]);
    for (int64_t i = 0; i < 4; i++) {
      lab->bodies.velocity[i] = tl_cross(spin, tl_sub(lab->bodies.position[i], centre));
      tl_bodies_set_spin(&lab->bodies, i, spin);
    }
    step(lab);
    ck_assert_int_eq(lab->report.merged, 4);
    lab->solver->model->nonsmooth.reduction.sensor[0] =
        (TlSensor){tl_vec3(-9, -9, -9), tl_vec3(9, 9, 9)};
    if (one) forget_inner(lab);
    step(lab);
    ck_assert_int_eq(lab->report.splits, 4);
  }
  ck_assert_int_eq(twin[0].report.contacts, twin[1].report.contacts);
  ck_assert_double_le(apart_most(&twin[0], &twin[1]), 1e-12 * R);
  for (int one = 0; one < 2; one++) lab_close(&twin[one]);
}
END_TEST

/* ---- memory of the trial ---- */

/* Visits of the trials of the last steps of a heap at rest that its ground, which holds nothing, bears. forget: the
 * trial starts each time from the forces that the ground gives the heap as a whole. */
static int64_t trials_at_rest(bool forget) {
  Lab lab;
  open_heap(&lab, TL_SPLIT_TRIAL, false);
  int64_t visits = 0;
  for (int k = 0; k < 500; k++) {
    if (forget) lab.bodies.pairs.of[TL_TRIALS].count = lab.bodies.pairs.of[TL_STANDING].count = 0;
    step(&lab);
    if (k >= 450) visits += lab.report.trial_visits;
  }
  ck_assert_int_eq(lab.report.merged, 13);
  lab_close(&lab);
  return visits;
}

START_TEST(a_trial_continues_from_its_own_forces) {
  int64_t kept = trials_at_rest(false), forgotten = trials_at_rest(true);
  ck_assert_msg(10 * kept <= forgotten, "%lld visits, and %lld without its memory", (long long)kept,
                (long long)forgotten);
}
END_TEST

/* ---- bodies that stood ---- */

typedef struct Stood {
  int64_t splits;    /* in a hundred steps at rest */
  double distance_m; /* of the grain on top in half a second on a slope */
} Stood;

/* A trial of one iteration that starts from nothing leaves something over of all that stand. forget: nothing is
 * remembered of that. Then gravity turns, as if the ground became a slope on which they cannot stay. */
static Stood heap_of_a_forgetful_trial(bool forget) {
  Lab lab;
  Stood stood = {0, 0};
  open_heap(&lab, TL_SPLIT_TRIAL, false);
  for (int k = 0; k < 500; k++) step(&lab);
  ck_assert_int_eq(lab.report.merged, 13);
  lab.solver->model->nonsmooth.reduction.trial_iterations = 1;
  for (int k = 0; k < 600; k++) {
    TlPairRows *of = lab.bodies.pairs.of;
    of[TL_TRIALS].count = of[TL_FORCES].count = 0;
    if (forget) of[TL_STANDING].count = 0;
    step(&lab);
    if (k < 100) stood.splits += lab.report.splits;
    if (k != 99) continue;
    ck_assert_int_eq(lab.report.merged, 13);
    lab.solver->model->gravity_m_s2 = tl_vec3(G * sin(0.5), 0, -G * cos(0.5));
    stood.distance_m = -lab.bodies.position[9].x;
  }
  stood.distance_m += lab.bodies.position[9].x;
  lab_close(&lab);
  return stood;
}

START_TEST(a_body_that_stood_is_split_for_more_only) {
  Stood kept = heap_of_a_forgetful_trial(false), forgotten = heap_of_a_forgetful_trial(true);
  ck_assert_int_eq(kept.splits, 13); /* once each */
  ck_assert_int_eq(forgotten.splits, 100 * 13);
  ck_assert_double_ge(kept.distance_m, 10 * R);
  CK_NEAR(kept.distance_m / forgotten.distance_m, 1, 1e-3);
}
END_TEST

/* One grain of such a heap moves for itself, for it lies in a sensor: those that it touches are split in each step,
 * for what held them may have been that it was held. The others stay merged. */
START_TEST(a_body_beside_one_that_moves_is_asked_anew) {
  Lab lab;
  open_heap(&lab, TL_SPLIT_TRIAL, false);
  for (int k = 0; k < 500; k++) step(&lab);
  TlReduction *o = &lab.solver->model->nonsmooth.reduction;
  o->trial_iterations = 1;
  for (int k = 0; k < 120; k++) {
    TlPairRows *of = lab.bodies.pairs.of;
    of[TL_TRIALS].count = of[TL_FORCES].count = 0;
    if (k == 50) {
      TlVec3 x = lab.bodies.position[9];
      o->sensors = 1;
      o->sensor[0] = (TlSensor){tl_vec3(x.x - 0.1 * R, x.y - 0.1 * R, x.z + 0.9 * R),
                                tl_vec3(x.x + 0.1 * R, x.y + 0.1 * R, x.z + 2 * R)};
    }
    step(&lab);
    if (k < 10 || (k >= 50 && k < 60))
      continue; /* all are split once; the heap takes up the change */
    if (k < 50)
      ck_assert_int_eq(lab.report.splits, 0);
    else /* four below it, and at most two beside it */
      ck_assert(lab.report.splits >= 4 && lab.report.splits <= 6);
  }
  lab_close(&lab);
}
END_TEST

TL_TEST_MAIN("reduction", merging_and_splitting_keep_momentum, merging_has_the_motion_of_the_whole,
             an_aggregate_moves_as_a_body_with_parts, a_belt_takes_along_and_books_its_impulse,
             a_floor_that_tilts_books_what_it_lifts, a_belt_that_ends_holds_nothing,
             what_a_belt_carries_stops_at_a_wall, what_merging_takes_of_shaped_grains_is_booked,
             a_cube_past_the_edge_tips_by_its_torque,
             a_block_that_turns_about_its_edge_is_not_at_rest,
             until_reduction_begins_a_run_is_as_without_it,
             a_stack_that_is_split_stands_by_what_it_remembers,
             what_is_remembered_within_turns_along, what_merged_with_a_pendulum_swings_along,
             a_load_on_a_slider_pushes_what_merged_with_it, what_is_held_twice_stays_apart,
             a_blow_splits_an_aggregate, only_a_trial_notices_lost_support,
             a_cube_that_loses_its_stop_slides, a_heap_at_rest_stays_merged,
             an_aggregate_bears_what_it_bore_whatever_its_overlaps_say,
             contacts_within_an_aggregate_are_kept,
             a_copy_continues_with_the_contacts_that_were_kept, a_split_finds_contacts_again,
             a_trial_continues_from_its_own_forces, a_body_that_stood_is_split_for_more_only,
             a_body_beside_one_that_moves_is_asked_anew)
