/* A level net with a corner at the origin, without gravity, in a stepper of its own. */
#ifndef TL_TESTS_NET_RIG_H
#define TL_TESTS_NET_RIG_H

#include "support/stepper.h"
#include "support/tltest.h"

#include "base/par.h"
#include "base/random.h"
#include "run/energy_balance.h"
#include "solve/step.h"

typedef struct NetRig {
  TlSolverConfig config;
  TlNet net;
  Stepper *solver;
  TlBodies bodies;
  TlStepReport report;
  TlEnergyBalance balance; /* of methods that have one */
} NetRig;

/* Change what shall be otherwise, then net_rig_start. One thread. */
static inline NetRig net_rig(TlSolverConfig config, int rows, int columns, int layers) {
  NetRig rig = {.config = config};
  rig.config.gravity_m_s2 = (TlVec3){0, 0, 0};
  rig.config.step_s = 1e-4;
  rig.net = (TlNet){.first_id = 100,
                    .shape_id = -7,
                    .rows = rows,
                    .columns = columns,
                    .layers = layers,
                    .along = {1, 0, 0},
                    .across = {0, 1, 0},
                    .radius_m = 0.01,
                    .spacing_m = 0.04,
                    .layer_gap_m = 0.025,
                    .mass_kg = 0.002,
                    .normal_N_m = 50,
                    .tangential_N_m = 20,
                    .stretch_most = 1};
  tl_par_set_threads(1);
  return rig;
}

static inline void net_rig_start(NetRig *rig) {
  CK_OK(stepper_new(&rig->solver, &rig->config, (TlAvatarSource){0}, NULL, 0, NULL));
  CK_OK(stepper_set_nets(rig->solver, &rig->net, 1));
  CK_OK(tl_net_add(&rig->net, &rig->bodies, 0, tl_net_spheres(&rig->net)));
  tl_pair_state_sort(&rig->bodies.pairs);
  CK_OK(stepper_refresh(rig->solver, &rig->bodies));
}

static inline void net_rig_close(NetRig *rig) {
  stepper_free(rig->solver);
  tl_bodies_free(&rig->bodies);
}

static inline void net_rig_run(NetRig *rig, int64_t steps) {
  for (int64_t i = 0; i < steps; i++) {
    CK_OK(stepper_step(rig->solver, &rig->bodies, &rig->report));
    tl_energy_balance_add(&rig->balance, &rig->report);
  }
}

static inline TlVec3 net_rig_noise(TlRandom *x, double size) {
  double a = tl_random_next_normal(x), b = tl_random_next_normal(x), c = tl_random_next_normal(x);
  return tl_vec3(size * a, size * b, size * c);
}

/* Random velocities and spins of all bodies. */
static inline void net_rig_shake(NetRig *rig, double speed, double spin) {
  TlRandom x = {5, 0, 0};
  for (int64_t i = 0; i < rig->bodies.owned; i++) {
    rig->bodies.velocity[i] = net_rig_noise(&x, speed);
    tl_bodies_set_spin(&rig->bodies, i, net_rig_noise(&x, spin));
  }
}

#endif
