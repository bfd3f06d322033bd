/* Bonds of nets by the nonsmooth method: steps far beyond the one that the springs themselves allow,
 * against closed forms and against springs stepped with small steps. */
#include "support/materials.h"
#include "support/placed.h"
#include "support/net_rig.h"
#include "support/tltest.h"

#include <math.h>

enum { BALL = 1 };

static NetRig rig_of(TlSolverConfig config, int rows, int columns) {
  TL_TEST_SET(&config, TL_TEST_BOTH, restitution, 0);
  TL_TEST_SET(&config, TL_TEST_BOTH, stiffness.young_Pa, 1e7);
  TL_TEST_SET(&config, TL_TEST_BOTH, stiffness.normal_N_m, 1e4);
  NetRig rig = net_rig(config, rows, columns, 1);
  rig.net.normal_N_m = 2000;
  rig.net.tangential_N_m = 500;
  return rig;
}

/* Forces of the bonds on a sphere, by the rows that measures get. */
static TlVec3 bonds_on(const NetRig *rig, const TlConstraintRow *row, int64_t rows, int64_t i) {
  TlVec3 sum = {0, 0, 0};
  for (int64_t k = 0; k < rows; k++) {
    if (row[k].key.low == rig->bodies.id[i]) sum = tl_add(sum, row[k].force_N);
    if (row[k].key.high == rig->bodies.id[i]) sum = tl_sub(sum, row[k].force_N);
  }
  return sum;
}

/* Hung from its first row a net comes to rest where its springs bear it, whatever the step. */
START_TEST(a_hanging_net_is_borne_by_its_springs_at_any_step) {
  for (int which = 0; which < 3; which++) {
    NetRig rig = rig_of(tl_test_nonsmooth(), 5, 4);
    double stable = tl_net_stable_step(&rig.net);
    rig.config.step_s = stable * (which == 0 ? 0.5 : which == 1 ? 5 : 50);
    rig.config.gravity_m_s2 = (TlVec3){0, -9.81, 0};
    rig.config.damping_per_s = 20;
    rig.net.across = (TlVec3){0, -1, 0};
    rig.net.along = (TlVec3){1, 0, 0};
    rig.net.clamped = TL_NET_FIRST_ROW;
    rig.config.nonsmooth.tolerance = 1e-10;
    net_rig_start(&rig);
    tl_workspace_keep_bonds(rig.solver->work, true);
    net_rig_run(&rig, (int64_t)(3 / rig.config.step_s));
    TlConstraintRow *row;
    int64_t rows;
    CK_OK(tl_step_constraints(rig.solver->work, &row, &rows));
    ck_assert_int_eq(rows, rig.report.net_bonds - 3); /* those of the clamped row bear nothing */
    double weight = rig.net.mass_kg * 9.81;
    for (int64_t i = 0; i < rig.bodies.owned; i++) {
      if (rig.bodies.flags[i] & TL_BODY_FROZEN) continue;
      TlVec3 f = bonds_on(&rig, row, rows, i);
      CK_NEAR(tl_norm(tl_sub(f, tl_vec3(0, weight, 0))) / weight, 0, 1e-5);
    }
    for (int64_t k = 0; k < rows; k++) { /* the springs' own law, where the spheres lie */
      size_t count;
      const TlBond *bond = tl_pair_rows_find(&rig.bodies.pairs.of[TL_BONDS], TL_BONDS,
                                             row[k].key.low, row[k].key.high, &count);
      TlVec3 d = tl_sub(rig.bodies.position[row[k].key.low - rig.net.first_id],
                        rig.bodies.position[row[k].key.high - rig.net.first_id]);
      TlVec3 f = tl_scale(-rig.net.normal_N_m * (tl_norm(d) - bond->length), tl_unit(d));
      f = tl_axpy(f, -rig.net.tangential_N_m, bond->displacement);
      CK_NEAR(tl_norm(tl_sub(f, row[k].force_N)) / weight, 0, 1e-5);
    }
    tl_free(row);
    net_rig_close(&rig);
  }
}
END_TEST

/* Nothing but bonds acts: both momenta stay, and no step makes energy. */
START_TEST(a_free_net_keeps_its_momenta_and_gains_no_energy) {
  for (int k = 0; k < 2; k++) {
    NetRig rig = rig_of(tl_test_nonsmooth(), 5, 6);
    rig.config.step_s = tl_net_stable_step(&rig.net) * (k ? 20 : 1);
    net_rig_start(&rig);
    net_rig_shake(&rig, 0.05, 1);
    TlVec3 p0 = {0, 0, 0}, l0 = {0, 0, 0}, p1 = p0, l1 = p0;
    double size_p = 0, size_l = 0, start = 0, most = 0, energy = 0;
    for (int step = 0; step <= 400; step++) {
      p1 = l1 = (TlVec3){0, 0, 0};
      for (int64_t i = 0; i < rig.bodies.owned; i++) {
        const TlBodies *b = &rig.bodies;
        TlVec3 p = tl_scale(b->mass[i], b->velocity[i]);
        p1 = tl_add(p1, p);
        l1 = tl_add(l1, tl_add(b->momentum[i], tl_cross(b->position[i], p)));
        size_p += step == 0 ? tl_norm(p) : 0;
        size_l += step == 0 ? tl_norm(b->momentum[i]) + tl_norm(tl_cross(b->position[i], p)) : 0;
      }
      if (step == 0) p0 = p1, l0 = l1;
      net_rig_run(&rig, 1);
      energy = rig.report.kinetic_J + rig.report.net_elastic_J;
      if (step == 0) start = energy;
      most = fmax(most, energy);
    }
    CK_NEAR(tl_norm(tl_sub(p1, p0)) / size_p, 0, 1e-12);
    CK_NEAR(tl_norm(tl_sub(l1, l0)) / size_l, 0, 1e-12);
    ck_assert_msg(most <= 1.001 * start, "energy grew by %g", most / start - 1);
    ck_assert_msg(energy < 0.6 * start, "of the energy %g is left", energy / start);
    net_rig_close(&rig);
  }
}
END_TEST

/* A clamped net is hit at one sphere: where all are after 20 ms. */
static void swing(NetRig *rig, double step, TlVec3 *at) {
  rig->config.step_s = step;
  rig->net.clamped = TL_NET_ALL_SIDES;
  net_rig_start(rig);
  rig->bodies.velocity[3 * 7 + 3] = tl_vec3(0.02, 0.01, 0.1);
  net_rig_run(rig, (int64_t)floor(0.02 / step + 0.5));
  for (int64_t i = 0; i < rig->bodies.owned; i++) at[i] = rig->bodies.position[i];
  net_rig_close(rig);
}

/* Springs stepped with steps of a fiftieth give the truth. */
START_TEST(smaller_steps_come_to_the_motion_of_the_springs) {
  TL_NOT_SANITIZED();
  enum { SPHERES = 49 };
  static TlVec3 truth[SPHERES], at[SPHERES];
  NetRig rig = rig_of(tl_test_config(), 7, 7);
  swing(&rig, 2e-7, truth);
  double error[3];
  for (int k = 0; k < 3; k++) {
    rig = rig_of(tl_test_nonsmooth(), 7, 7);
    rig.config.nonsmooth.tolerance = 1e-9;
    swing(&rig, 16e-6 / (1 << k), at);
    error[k] = 0;
    for (int i = 0; i < SPHERES; i++) error[k] = fmax(error[k], tl_norm(tl_sub(at[i], truth[i])));
  }
  for (int k = 0; k < 2; k++) {
    double ratio = error[k] / error[k + 1];
    ck_assert_msg(ratio > 1.7 && ratio < 2.4, "errors %g %g %g m", error[0], error[1], error[2]);
  }
}
END_TEST

/* A ball falls on a net: the books close, and it comes to rest with its weight on the bonds. */
START_TEST(a_ball_is_caught_and_the_energy_is_booked) {
  double error[2];
  for (int k = 0; k < 2; k++) {
    NetRig rig = rig_of(tl_test_nonsmooth(), 7, 7);
    rig.config.gravity_m_s2 = (TlVec3){0, 0, -9.81};
    rig.config.step_s = k ? 1e-4 : 2e-4;
    rig.net.clamped = TL_NET_ALL_SIDES;
    rig.config.damping_per_s = 20;
    rig.net.damping = 0.1;
    net_rig_start(&rig);
    CK_OK(stepper_add_sphere(rig.solver, BALL, 0.03));
    TlVec3 middle = rig.bodies.position[3 * 7 + 3];
    tl_test_put(&rig.bodies, BALL, tl_add(middle, tl_vec3(0, 0, 0.045)), (TlQuat){1, 0, 0, 0},
                (TlVec3){0, 0, 0});
    CK_OK(stepper_refresh(rig.solver, &rig.bodies));
    net_rig_run(&rig, k ? 1500 : 750); /* fallen, caught, thrown up again */
    double fallen = rig.bodies.mass[49] * 9.81 * 0.02;
    error[k] = fabs(rig.balance.error_J) / fallen;
    net_rig_run(&rig, k ? 11000 : 5500);
    CK_NEAR(tl_norm(rig.bodies.velocity[49]), 0, 2e-3);
    ck_assert_double_gt(rig.balance.net_J, 0);
    net_rig_close(&rig);
  }
  ck_assert_msg(error[0] < 1e-11 && error[1] < 1e-11, "errors %g and %g", error[0], error[1]);
}
END_TEST

START_TEST(nets_and_model_reduction_are_refused_together) {
  NetRig rig = rig_of(tl_test_nonsmooth(), 3, 3);
  rig.config.nonsmooth.reduction.split = TL_SPLIT_CONTACT;
  CK_OK(stepper_new(&rig.solver, &rig.config, (TlAvatarSource){0}, NULL, 0, NULL));
  CK_FAILS(stepper_set_nets(rig.solver, &rig.net, 1), TL_EUSAGE, "reduction.split");
  net_rig_close(&rig);
}
END_TEST

TL_TEST_MAIN("nonsmooth bonds", a_hanging_net_is_borne_by_its_springs_at_any_step,
             a_free_net_keeps_its_momenta_and_gains_no_energy,
             smaller_steps_come_to_the_motion_of_the_springs,
             a_ball_is_caught_and_the_energy_is_booked,
             nets_and_model_reduction_are_refused_together)
