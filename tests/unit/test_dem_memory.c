/* What a step keeps from the last one, and what is the same for every body of a kind: the list of
 * neighbours, impulses of contact points that are gone, global damping, walls that turn for a time,
 * random attitudes. */
#include "support/stepper.h"
#include "support/materials.h"
#include "support/placed.h"
#include "support/tltest.h"

#include "base/mem.h"
#include "base/par.h"
#include "base/random.h"
#include "contact/broad.h"
#include "solve/detect.h"
#include "solve/motion.h"
#include "solve/step.h"
#include "run/assembly_kinds.h"
#include "shape/drive.h"

#include <stdio.h>

enum { BALL = 1 };
static const double R = 0.01;
static const TlQuat UPRIGHT = {1, 0, 0, 0};
static const TlVec3 NONE = {0, 0, 0};

/* ---- the list of neighbours ---- */

/* Balls that fly through each other, all as fast: in no step a pair within reach is missing in the
 * list, which is kept for many steps. */
START_TEST(the_list_of_neighbours_never_misses_one) {
  enum { BALLS = 60, STEPS = 800 };
  TlShapes shapes = {0};
  TlBodies b = {0};
  TlBroad broad = {0};
  TlArena arena = {0};
  TlRandom r = {5, 0, 0};
  TlVec3 velocity[BALLS];
  bool built;
  tl_par_set_threads(1);
  CK_OK(tl_shapes_add_closed(&shapes, BALL, &tl_closed_sphere, &R));
  for (int64_t i = 0; i < BALLS; i++) {
    TlVec3 x = {0.1 * tl_random_next(&r), 0.1 * tl_random_next(&r), 0.1 * tl_random_next(&r)};
    tl_test_place(
        &b, &shapes,
        (TlGrainState){.id = i, .avatar_id = BALL, .scale = 1, .position = x, .rotation = UPRIGHT},
        1e-4);
    velocity[i] = tl_unit(
        tl_vec3(tl_random_next_normal(&r), tl_random_next_normal(&r), tl_random_next_normal(&r)));
  }
  for (int step = 0; step < STEPS; step++) {
    tl_arena_reset(&arena);
    CK_OK(tl_broad_update(&broad, &b, 1e-6, &arena, &built));
    for (int32_t i = 0; i < BALLS; i++)
      for (int32_t j = i + 1; j < BALLS; j++) {
        if (tl_norm(tl_sub(b.position[i], b.position[j])) >=
            b.colliders.reach[i] + b.colliders.reach[j])
          continue;
        size_t k = 0;
        while (k < broad.pairs.count && (broad.pairs.pair[k].a != i || broad.pairs.pair[k].b != j))
          k++;
        ck_assert_msg(k < broad.pairs.count, "step %d: %d and %d touch unseen", step, i, j);
      }
    for (int64_t i = 0; i < BALLS; i++) b.position[i] = tl_axpy(b.position[i], 5e-5, velocity[i]);
  }
  ck_assert_msg(broad.builds > 10 && broad.builds < STEPS / 2, "%d lists", (int)broad.builds);
  tl_broad_free(&broad);
  tl_bodies_free(&b);
  tl_shapes_free(&shapes);
  tl_arena_free(&arena);
}
END_TEST

/* ---- impulses of the last step ---- */

/* A ball on a plane, whose point has the key that the memory says or another: its impulse starts
 * where the last step ended, cut at what friction bears; nothing is lost when the key has changed.
 * A point that does not touch yet takes over nothing. */
START_TEST(a_new_point_takes_over_from_those_that_are_gone) {
  const TlVec3 J = {0.1, -0.2, 1}, slipping = {3, -4, 1};
  enum { KEY = 0 }; /* of a closed form's point */
  const double friction = 0.5;
  struct {
    double gap;
    int64_t other; /* added to the point's own key; 0: it is the point's */
    TlVec3 impulse, want;
  } cases[] = {{0, 0, J, J},
               {0, 2, J, J},
               {0, 2, slipping, {0.3, -0.4, 1}}, /* 5 N s across are cut to 0.5 */
               {1e-3, 0, J, J},                  /* its own, however far it is */
               {1e-3, 2, J, NONE}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
    for (int twice = 0; twice < 2; twice++) {
      TlShapes shapes = {0};
      TlBodies b = {0};
      TlArena arena = {0};
      TlNear near = {0};
      TlPoints points = {0};
      TlManifolds manifolds = {0};
      TlTwist twist = {.v = {0, 0, -1}};
      TlSym3 inertia = {1, 1, 1, 0, 0, 0};
      double mass = 1;
      TlSolverConfig config = tl_test_config();
      TlBoundaryPlane plane = {NONE, {0, 0, 1}};
      TlBoundary boundary = {.kind = &tl_boundary_plane, .data = &plane};
      TlFound found;
      tl_par_set_threads(1);
      config.step_s = 1e-3;
      TL_TEST_SET(&config, TL_TEST_BOUNDARY, friction, friction);
      CK_OK(tl_shapes_add_closed(&shapes, BALL, &tl_closed_sphere, &R));
      tl_test_place(&b, &shapes,
                    (TlGrainState){.avatar_id = BALL,
                                   .scale = 1,
                                   .position = {0, 0, R + cases[k].gap},
                                   .rotation = UPRIGHT},
                    2e-3);
      /* in one point, or in two halves that are both gone */
      TlImpulse touch = {
          .low = 0, .high = -1, .number = KEY + cases[k].other, .impulse = cases[k].impulse};
      if (twice && cases[k].other) touch.impulse = tl_scale(0.5, touch.impulse);
      CK_OK(tl_pair_state_add(&b.pairs, TL_IMPULSES, &touch));
      touch.number += 2;
      if (twice && cases[k].other) CK_OK(tl_pair_state_add(&b.pairs, TL_IMPULSES, &touch));
      TlDetect detect = {.options = &config.search,
                         .step_s = config.step_s,
                         .gravity_m_s2 = tl_norm(config.gravity_m_s2),
                         .weighted = true,
                         .materials = tl_test_materials(&config, 0, 0),
                         .boundary = &boundary,
                         .boundary_count = 1,
                         .speed_max = 1,
                         .arena = &arena,
                         .near = &near,
                         .points = &points,
                         .manifolds = &manifolds};
      TlDynamics dynamics = {&twist, &mass, &inertia};
      CK_OK(tl_detect(&detect, &b, &dynamics, &found));
      ck_assert_int_eq(found.contacts, 1);
      const TlContact *c = found.contact;
      ck_assert_int_eq(c->key, KEY);
      TlVec3 rest = tl_axpy(tl_scale(c->rest.x, c->n), c->rest.y, c->t1);
      rest = tl_axpy(rest, c->rest.z, c->t2);
      ck_assert_msg(tl_norm(tl_sub(rest, cases[k].want)) < 1e-12, "case %zu: %g %g %g", k, rest.x,
                    rest.y, rest.z);
      tl_near_free(&near);
      tl_manifolds_free(&manifolds);
      tl_free(points.point);
      tl_bodies_free(&b);
      tl_shapes_free(&shapes);
      tl_arena_free(&arena);
    }
}
END_TEST

/* ---- global damping ---- */

/* In free flight velocity and spin fall by the same factor each step: 1 - xi dt by impulses (Tan
 * 2024 Eqs. 47-49), (1 - xi dt/2)/(1 + xi dt/2) with springs, whose first step is half a kick. */
START_TEST(global_damping_takes_velocity_and_spin_alike) {
  enum { STEPS = 50 };
  const double xi = 30, dt = 1e-3;
  const double keep[] = {1 - xi * dt, (1 - 0.5 * xi * dt) / (1 + 0.5 * xi * dt)},
               first[] = {keep[0], (1 - 0.25 * xi * dt) / (1 + 0.25 * xi * dt)};
  const TlMethod method[] = {tl_test_config().method, TL_PENALTY};
  for (int m = 0; m < 2; m++) {
    TlSolverConfig c = tl_test_config();
    Stepper *solver;
    TlBodies b = {0};
    TlStepReport report;
    tl_par_set_threads(1);
    c.method = method[m];
    c.step_s = dt;
    c.gravity_m_s2 = NONE;
    c.damping_per_s = xi;
    c.penalty.spread = TL_SPREAD_DEEPEST;
    c.nonsmooth = tl_test_nonsmooth().nonsmooth;
    TL_TEST_SET(&c, TL_TEST_BOTH, stiffness.normal_N_m, 100);
    TL_TEST_SET(&c, TL_TEST_BOTH, stiffness.young_Pa, 1e6);
    CK_OK(stepper_new(&solver, &c, (TlAvatarSource){0}, NULL, 0, NULL));
    CK_OK(stepper_add_sphere(solver, BALL, R));
    tl_test_put(&b, BALL, NONE, UPRIGHT, tl_vec3(1, 2, -3));
    CK_OK(stepper_refresh(solver, &b));
    tl_bodies_set_spin(&b, 0, tl_vec3(20, -5, 10));
    for (int step = 0; step < STEPS; step++) CK_OK(stepper_step(solver, &b, &report));
    double left = first[m] * pow(keep[m], STEPS - 1);
    TlVec3 spin = tl_bodies_spin(&b, 0);
    CK_NEAR(b.velocity[0].x, 1 * left, 1e-12);
    CK_NEAR(b.velocity[0].y, 2 * left, 1e-12);
    CK_NEAR(b.velocity[0].z, -3 * left, 1e-12);
    CK_NEAR(spin.x, 20 * left, 1e-11);
    CK_NEAR(spin.y, -5 * left, 1e-11);
    CK_NEAR(spin.z, 10 * left, 1e-11);
    stepper_free(solver);
    tl_bodies_free(&b);
  }
}
END_TEST

/* ---- attitudes ---- */

/* A ball's attitude after a step is the turn by spin times dt, to the last digit: small turns by
 * their series, large ones by sine and cosine. */
START_TEST(a_ball_turns_by_spin_times_time) {
  static const double angle[] = {1e-9, 1e-3, 0.03, 0.0999, 0.1001, 1, 3};
  for (int k = 0; k < 7; k++) {
    TlBodies b = {0};
    const double dt = 1e-3;
    TlVec3 axis = tl_unit(tl_vec3(2, -1, 3));
    tl_test_put(&b, BALL, NONE, UPRIGHT, NONE);
    b.inertia[0] = tl_vec3(0.25, 0.25, 0.25);
    b.inverse_inertia[0] = tl_vec3(4, 4, 4);
    b.momentum[0] = tl_scale(0.25 * angle[k] / dt, axis);
    tl_motion_turn(&b, 0, dt);
    TlQuat q = b.rotation[0];
    double s = sin(0.5 * angle[k]);
    CK_NEAR(q.w, cos(0.5 * angle[k]), 3e-16);
    CK_NEAR(q.x, s * axis.x, 3e-16);
    CK_NEAR(q.y, s * axis.y, 3e-16);
    CK_NEAR(q.z, s * axis.z, 3e-16);
    tl_bodies_free(&b);
  }
}
END_TEST

/* ---- walls that move for a time ---- */

static void placed(const TlDrive *d, int64_t during, bool gone, double part, double acted) {
  const double dt = 0.1;
  TlPlacement p = tl_drive_place(d, during, during, dt);
  TlMat3 turn = tl_quat_matrix(tl_quat_from_rotation(tl_scale(acted, d->spin_rad_s)));
  ck_assert_int_eq(p.absent, gone);
  CK_NEAR(tl_norm(tl_sub(p.w, tl_scale(part, d->spin_rad_s))), 0, 1e-12);
  CK_NEAR(tl_norm(tl_sub(p.v, tl_scale(part, d->velocity_m_s))), 0, 1e-12);
  CK_NEAR(tl_norm(tl_sub(p.displacement, tl_scale(acted, d->velocity_m_s))), 0, 1e-12);
  CK_NEAR(tl_norm(tl_sub(p.pivot, d->pivot_m)), 0, 0);
  for (int k = 0; k < 9; k++) CK_NEAR(p.turn.m[k / 3][k % 3], turn.m[k / 3][k % 3], 1e-12);
}

/* Velocity and spin act from 0.25 s until 0.65 s, steps of 0.1 s: none before, half of the step
 * that holds the start, all between, half of that with the end, none after; it stays where it came.
 */
START_TEST(a_driven_wall_moves_in_its_time_only) {
  const TlDrive d = {.from_s = 0.25,
                     .until_s = 0.65,
                     .velocity_m_s = {1, -2, 0.5},
                     .pivot_m = {3, 2, 1},
                     .spin_rad_s = {0, 2, -1}};
  placed(&d, 0, true, 0, 0);
  placed(&d, 1, true, 0, 0);
  placed(&d, 2, true, 0.5, 0);
  placed(&d, 3, false, 1, 0.05);
  placed(&d, 5, false, 1, 0.25);
  placed(&d, 6, false, 0.5, 0.35);
  placed(&d, 7, true, 0, 0.4);
  placed(&d, 9, true, 0, 0.4);
}
END_TEST

/* ---- random attitudes ---- */

/* Turned at random each body axis points anywhere: means of its coordinates vanish, of their
 * squares are 1/3, within five standard deviations of the mean of so many. */
START_TEST(random_turns_point_everywhere) {
  enum { TURNS = 4000 };
  double first[9] = {0}, second[9] = {0}, half = 0, quarter = 0;
  for (int i = 0; i < TURNS; i++) {
    TlQuat q = tl_random_turn(3, 7, (uint64_t)i);
    TlMat3 m = tl_quat_matrix(q);
    CK_NEAR(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z, 1, 1e-12);
    for (int k = 0; k < 9; k++) {
      double v = m.m[k / 3][k % 3];
      first[k] += v / TURNS;
      second[k] += v * v / TURNS;
    }
    half += (q.w * q.x > 0) / (double)TURNS;
    quarter += (q.y * q.z > 0 && q.w * q.y > 0) / (double)TURNS;
  }
  for (int k = 0; k < 9; k++) {
    CK_NEAR(first[k], 0, 5 * sqrt(1.0 / 3 / TURNS));
    CK_NEAR(second[k], 1.0 / 3, 5 * sqrt(4.0 / 45 / TURNS));
  }
  CK_NEAR(half, 0.5, 5 * sqrt(0.25 / TURNS));
  CK_NEAR(quarter, 0.25, 5 * sqrt(0.1875 / TURNS));
}
END_TEST

/* ---- kinds of memory and constraints ---- */

/* A method keeps its own kind of contact memory and drops the others; it refuses every constraint that
 * it does not solve by its name. */
START_TEST(a_method_keeps_its_own_memory_and_refuses_what_it_cannot_solve) {
  for (int m = 0; m < TL_METHOD_COUNT; m++) {
    TlSolverConfig c = tl_test_config();
    Stepper *solver;
    TlBodies b = {0};
    TlImpulse impulse = {.low = 0, .high = 1, .number = 4, .impulse = {1, 2, 3}};
    TlSpring spring = {.low = 0, .high = 1, .stiffness = 1, .normal = {0, 0, 1}};
    c.method = (TlMethod)m;
    c.step_s = 1e-5;
    c.gravity_m_s2 = NONE;
    c.penalty.spread = TL_SPREAD_DEEPEST;
    c.nonsmooth = tl_test_nonsmooth().nonsmooth;
    TL_TEST_SET(&c, TL_TEST_BOTH, stiffness.normal_N_m, 100);
    TL_TEST_SET(&c, TL_TEST_BOTH, stiffness.young_Pa, 1e6);
    CK_OK(stepper_new(&solver, &c, (TlAvatarSource){0}, NULL, 0, NULL));
    CK_OK(stepper_add_sphere(solver, BALL, R));
    tl_test_put(&b, BALL, NONE, UPRIGHT, NONE);
    tl_test_put(&b, BALL, tl_vec3(5 * R, 0, 0), UPRIGHT, NONE);
    CK_OK(tl_pair_state_add(&b.pairs, TL_IMPULSES, &impulse));
    CK_OK(tl_pair_state_add(&b.pairs, TL_SPRINGS, &spring));
    CK_OK(stepper_step(solver, &b, NULL));
    ck_assert_uint_eq(b.pairs.of[TL_IMPULSES].count, 0); /* apart: of its own kind none is left */
    ck_assert_uint_eq(b.pairs.of[TL_SPRINGS].count, 0);
    for (int k = TL_FIRST_CONSTRAINT; k < TL_PAIR_KINDS; k++) {
      if (tl_method(c.method)->solves & TL_KIND_BIT(k)) continue;
      char want[64];
      unsigned char row[256] = {0};
      TlPairKey key = {0, 1, 77};
      memcpy(row, &key, sizeof key);
      CK_OK(tl_pair_state_add(&b.pairs, (TlPairKind)k, row));
      snprintf(want, sizeof want, "'%s' (number 77", tl_pair_kind_name[k]);
      CK_FAILS(stepper_step(solver, &b, NULL), TL_EUSAGE, want);
      CK_FAILS(stepper_check(solver, &b), TL_EUSAGE, want);
      CK_FAILS(stepper_check(solver, &b), TL_EUSAGE, tl_method_name(c.method));
      b.pairs.of[k].count = 0;
      CK_OK(stepper_step(solver, &b, NULL));
    }
    tl_bodies_free(&b);
    stepper_free(solver);
  }
}
END_TEST

TL_TEST_MAIN("dem memory", the_list_of_neighbours_never_misses_one,
             a_new_point_takes_over_from_those_that_are_gone,
             global_damping_takes_velocity_and_spin_alike, a_ball_turns_by_spin_times_time,
             a_driven_wall_moves_in_its_time_only, random_turns_point_everywhere,
             a_method_keeps_its_own_memory_and_refuses_what_it_cannot_solve)
