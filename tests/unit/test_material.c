/* Materials: laws of pairs in either order, what is derived from them, and contacts that follow the
 * law of their two materials. */
#include "support/stepper.h"
#include "support/materials.h"
#include "support/placed.h"
#include "support/tltest.h"

#include "model/material.h"

#include <math.h>

START_TEST(a_pair_has_one_law) {
  TlMaterials m;
  CK_OK(tl_materials_new(&m, 4));
  for (int32_t i = 0; i < 4; i++)
    for (int32_t j = 0; j <= i; j++)
      tl_materials_set(&m, i, j,
                       &(TlPairLaw){.friction = i + 0.1 * j,
                                    .restitution = 0.1 * j,
                                    .stiffness = {.normal_N_m = j == 0 ? 5 : 7}});
  CK_OK(tl_materials_finish(&m));
  for (int32_t i = 0; i < 4; i++)
    for (int32_t j = 0; j < 4; j++) {
      const TlPairLaw *law = &m.law[tl_pair_law(&m, i, j)];
      int32_t high = i > j ? i : j, low = i > j ? j : i;
      CK_NEAR(law->friction, high + 0.1 * low, 0);
      CK_NEAR(law->damping, tl_damping_of(0.1 * low), 0);
      ck_assert_int_eq(law->stiffness_kind == m.law[0].stiffness_kind, low == 0);
    }
  TlMaterials copy;
  CK_OK(tl_materials_copy(&copy, &m));
  tl_materials_set_friction(&copy, 1, 3, 0.25);
  CK_NEAR(copy.law[tl_pair_law(&copy, 3, 1)].friction, 0.25, 0);
  CK_NEAR(copy.law[tl_pair_law(&copy, 1, 3)].friction, 0.25, 0);
  CK_NEAR(m.law[tl_pair_law(&m, 1, 3)].friction, 3.1, 1e-15);
  tl_materials_free(&copy);
  tl_materials_free(&m);
}
END_TEST

START_TEST(values_out_of_range_are_named) {
  TlMaterials m;
  const struct {
    TlPairLaw law;
    const char *words;
  } cases[] = {{{.friction = -0.1}, "friction of materials 1 and 2 = -0.1"},
               {{.friction = NAN}, "friction of materials 1 and 2"},
               {{.restitution = 1.5}, "restitution of materials 1 and 2 = 1.5"},
               {{.tangential_restitution = 2}, "tangential_restitution of materials 1 and 2 = 2"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    CK_OK(tl_materials_new(&m, 3));
    tl_materials_set(&m, 1, 2, &cases[i].law);
    CK_FAILS(tl_materials_finish(&m), TL_EUSAGE, cases[i].words);
    tl_materials_free(&m);
  }
}
END_TEST

/* m x'' = -k x - 2 z sqrt(k m) x', from the first touch until the force is no push any more, by
 * small steps of an integrator of its own. */
static double returned(double damping) {
  double x = 0, v = -1, dt = 1e-6; /* k = m = 1; x < 0 inside */
  for (;;) {
    double force = -x - 2 * damping * v;
    if (x < 0 && force <= 0) return v;
    v += dt * force;
    x += dt * v;
    if (x > 0) return v;
  }
}

START_TEST(damping_returns_its_fraction_of_the_velocity) {
  for (double e = 0.2; e < 0.95; e += 0.25) CK_NEAR(returned(tl_damping_of(e)), e, 1e-4);
  CK_NEAR(tl_damping_of(1), 0, 0);
  CK_NEAR(tl_damping_of(0), 1, 0);
}
END_TEST

enum { BALL = -2, BOX = -3 };
static const TlVec3 NONE = {0, 0, 0};
static const double G = 9.81;

/* Three boxes of the three materials slide side by side on one plane: each by its own friction. */
START_TEST(each_box_slides_by_the_law_of_its_material) {
  const TlMethod methods[] = {TL_ETM_LEVEL, TL_ETM_PRIORITY, TL_SQM};
  const double side = 0.02, want[] = {0.3, 0.3, 0.6}; /* on the boundary */
  TlBoundaryPlane floor = {NONE, {0, 0, 1}};
  TlBoundary boundary = {.kind = &tl_boundary_plane, .data = &floor};
  for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
    TlSolverConfig c = tl_test_config();
    c.method = methods[k];
    c.step_s = 1e-3;
    TL_TEST_SET(&c, TL_TEST_GRAIN, friction, 0.9);
    TL_TEST_SET(&c, TL_TEST_BOUNDARY, friction, 0.3);
    TL_TEST_SET(&c, TL_TEST_BOUNDARY, restitution, 0);
    c.materials = tl_test_materials(&c, 0.6, 0);
    Stepper *solver;
    TlBodies bodies = {0};
    CK_OK(stepper_new(&solver, &c, (TlAvatarSource){0}, &boundary, 1, NULL));
    CK_OK(stepper_add_closed(solver, BOX, &tl_closed_box, (double[]){side, side, side}));
    for (int32_t i = 0; i < 3; i++) {
      tl_test_put(&bodies, BOX, tl_vec3(0, 0.05 * i, 0.5 * side), (TlQuat){1, 0, 0, 0},
                  tl_vec3(1, 0, 0));
      bodies.colliders.material[i] = i;
    }
    for (int step = 0; step < 100; step++) CK_OK(stepper_step(solver, &bodies, NULL));
    for (int i = 0; i < 3; i++) CK_NEAR(bodies.velocity[i].x, 1 - want[i] * G * 0.1, 3e-3);
    stepper_free(solver);
    tl_bodies_free(&bodies);
  }
}
END_TEST

/* A ball that is thrown along a plane slides until it rolls: for t < 2 v/(7 mu g) its velocity
 * falls by mu g t. */
START_TEST(each_ball_slides_by_the_law_of_its_material) {
  const double radius = 0.01, want[] = {0.1, 0.1, 0.3}, t = 0.05;
  TlBoundaryPlane floor = {NONE, {0, 0, 1}};
  TlBoundary boundary = {.kind = &tl_boundary_plane, .data = &floor};
  TlSolverConfig c = tl_test_config();
  c.method = TL_PENALTY;
  c.step_s = 1e-5;
  TL_TEST_SET(&c, TL_TEST_GRAIN, friction, 0.9);
  TL_TEST_SET(&c, TL_TEST_BOUNDARY, friction, 0.1);
  TL_TEST_SET(&c, TL_TEST_BOUNDARY, restitution, 0);
  c.penalty.spread = TL_SPREAD_DEEPEST;
  TL_TEST_SET(&c, TL_TEST_BOTH, stiffness.normal_N_m, 1e5);
  c.materials = tl_test_materials(&c, 0.3, 0);
  Stepper *solver;
  TlBodies bodies = {0};
  CK_OK(stepper_new(&solver, &c, (TlAvatarSource){0}, &boundary, 1, NULL));
  CK_OK(stepper_add_sphere(solver, BALL, radius));
  for (int32_t i = 0; i < 3; i++) {
    tl_test_put(&bodies, BALL, tl_vec3(0, 0.05 * i, radius), (TlQuat){1, 0, 0, 0},
                tl_vec3(1, 0, 0));
    bodies.colliders.material[i] = i;
  }
  for (int step = 0; step < 5000; step++) CK_OK(stepper_step(solver, &bodies, NULL));
  for (int i = 0; i < 3; i++) CK_NEAR(bodies.velocity[i].x, 1 - want[i] * G * t, 3e-3);
  stepper_free(solver);
  tl_bodies_free(&bodies);
}
END_TEST

START_TEST(a_material_that_is_not_there_is_refused) {
  TlSolverConfig c = tl_test_config();
  Stepper *solver;
  TlBodies bodies = {0};
  CK_OK(stepper_new(&solver, &c, (TlAvatarSource){0}, NULL, 0, NULL));
  CK_OK(stepper_add_sphere(solver, BALL, 0.01));
  tl_test_put(&bodies, BALL, NONE, (TlQuat){1, 0, 0, 0}, NONE);
  bodies.colliders.material[0] = 2;
  CK_FAILS(stepper_step(solver, &bodies, NULL), TL_EUSAGE, "there is no material 2");
  stepper_free(solver);
  tl_bodies_free(&bodies);
}
END_TEST

TL_TEST_MAIN("material", a_pair_has_one_law, values_out_of_range_are_named,
             damping_returns_its_fraction_of_the_velocity,
             each_box_slides_by_the_law_of_its_material,
             each_ball_slides_by_the_law_of_its_material, a_material_that_is_not_there_is_refused)
