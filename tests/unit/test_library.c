/* The public library: many states of one model are as many runs of their own. */
#include "support/tltest.h"

#include "../../include/talus.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { STATES = 1000, STEPS = 12 };

/* Three blocks just above a floor and each other; they meet within the steps. */
static const char scene[] =
    "time: {dt_s: 1.0e-3, duration_s: 1}\n"
    "shapes: [{name: block, kind: box, size_m: [0.03, 0.02, 0.01]}, {name: ball, diameter_m: "
    "0.02}]\n"
    "bodies:\n- {shape: block, position_m: [0, 0, 0.0101]}\n"
    "- {shape: ball, position_m: [0.002, 0, 0.035], velocity_m_s: [0, 0, -1]}\n"
    "- {shape: block, position_m: [0, 0.001, 0.062], velocity_m_s: [0, 0, -1.5]}\n"
    "planes: [{point_m: [0, 0, 0], normal: [0, 0, 1]}]\n"
    "walls: [{kind: plane, point_m: [0, 0, -0.001], normal: [0, 0, 1], velocity_m_s: [0, 0, "
    "0.2]}]\n";

#define TALUS(call) ck_assert_msg((call) == TALUS_OK, "%s", talus_message())

static TalusModel *open_scene(void) {
  TalusModel *model;
  TALUS(talus_model_open_text(&model, "scene", scene, NULL, 0));
  return model;
}

/* Another throw of the topmost block for each number. */
static void start(TalusState *state, int number) {
  double turn = 0.001 * number;
  const double velocity[3] = {0.3 * sin(turn), 0.1, -1.5}, spin[3] = {turn, 5, -3 * turn};
  const double rotation[4] = {cos(turn), 0.3 * sin(turn), sin(turn), 0.1};
  TALUS(talus_state_set_body(state, 2, NULL, rotation, velocity, spin));
}

static uint64_t hash_of(const TalusState *state) {
  uint64_t hash;
  TALUS(talus_state_hash(state, &hash));
  return hash;
}

/* A model, a state and a workspace of its own. */
static uint64_t run_alone(int number) {
  TalusModel *model = open_scene();
  TalusWorkspace *work;
  TalusState *state;
  TALUS(talus_workspace_new(&work, model));
  TALUS(talus_state_new(&state, model));
  start(state, number);
  TALUS(talus_step(state, work, STEPS));
  uint64_t hash = hash_of(state);
  talus_state_free(state);
  talus_workspace_free(work);
  talus_model_free(model);
  return hash;
}

START_TEST(a_thousand_states_of_one_model_are_a_thousand_runs) {
  static TalusState *state[STATES];
  TalusModel *model = open_scene();
  TalusWorkspace *work;
  talus_set_threads(1);
  TALUS(talus_workspace_new(&work, model));
  for (int k = 0; k < STATES; k++) {
    TALUS(talus_state_new(&state[k], model));
    start(state[k], k);
  }
  /* in two parts, all states between: nothing of one may be left in the workspace for the next */
  for (int part = 0; part < 2; part++)
    for (int k = 0; k < STATES; k++) TALUS(talus_step(state[k], work, STEPS / 2));
  uint64_t first = hash_of(state[0]);
  int others = 0;
  for (int k = 0; k < STATES; k++) {
    uint64_t hash = hash_of(state[k]);
    others += hash != first;
    ck_assert_msg(hash == run_alone(k), "state %d is not what it is alone", k);
    ck_assert_int_eq(talus_state_steps(state[k]), STEPS);
    talus_state_free(state[k]);
  }
  ck_assert_int_eq(others, STATES - 1);
  talus_workspace_free(work);
  talus_model_free(model);
}
END_TEST

START_TEST(a_clone_goes_its_own_way) {
  TalusModel *model = open_scene();
  TalusWorkspace *work;
  TalusState *one, *two;
  TalusReport report;
  TALUS(talus_workspace_new(&work, model));
  TALUS(talus_state_new(&one, model));
  TALUS(talus_step(one, work, STEPS));
  talus_last_report(work, &report);
  ck_assert_int_gt(report.contacts, 0);
  TALUS(talus_state_clone(&two, one));
  uint64_t then = hash_of(one);
  ck_assert(hash_of(two) == then);
  TALUS(talus_step(two, work, STEPS));
  ck_assert(hash_of(one) == then && hash_of(two) != then);
  TALUS(talus_step(one, work, STEPS));
  ck_assert(hash_of(one) == hash_of(two));
  talus_state_free(one);
  talus_state_free(two);
  talus_workspace_free(work);
  talus_model_free(model);
}
END_TEST

/* Each from its own formula: 1/2 m v^2 + 1/2 w I w of a ball, m g z of all. */
START_TEST(views_show_the_state) {
  static const char fall[] = "time: {dt_s: 1.0e-3, duration_s: 1}\nfree_fall: yes\n"
                             "shapes: [{name: ball, diameter_m: 0.2}]\n"
                             "bodies: [{shape: ball, position_m: [1, 2, 3]}]\n"
                             "grains: {density_kg_m3: 2500}\n";
  const double velocity[3] = {1, 0, 0}, spin[3] = {0, 6, 8}, turned[4] = {0, 0, 2, 0};
  const double mass = 2500 * 4 * acos(-1) / 3 * 1e-3, dt = 1e-3;
  TalusModel *model;
  TalusWorkspace *work;
  TalusState *s;
  double kinetic, potential;
  TALUS(talus_model_open_text(&model, "fall", fall, NULL, 0));
  TALUS(talus_workspace_new(&work, model));
  TALUS(talus_state_new(&s, model));
  TALUS(talus_state_set_body(s, 0, NULL, turned, velocity, spin));
  ck_assert(talus_state_count(s) == 1 && talus_state_ids(s)[0] == 0);
  CK_NEAR(talus_state_rotations(s)[2], 1, 1e-15);
  CK_NEAR(talus_state_spins_rad_s(s)[2], 8, 1e-14);
  TALUS(talus_state_energy(s, &kinetic, &potential));
  CK_NEAR(kinetic, 0.5 * mass * (1 + 0.4 * 0.01 * 100), 1e-12 * mass);
  CK_NEAR(potential, mass * 9.81 * 3, 1e-12 * mass * 30);
  TALUS(talus_step(s, work, 100));
  CK_NEAR(talus_state_time_s(s), 0.1, 1e-15);
  CK_NEAR(talus_state_positions_m(s)[0], 1.1, 1e-13);
  CK_NEAR(talus_state_positions_m(s)[2], 3 - 9.81 * dt * dt * 100 * 101 / 2, 1e-13);
  CK_NEAR(talus_state_velocities_m_s(s)[2], -0.981, 1e-13);
  talus_state_free(s);
  talus_workspace_free(work);
  talus_model_free(model);
}
END_TEST

TL_TEST_MAIN("library", a_thousand_states_of_one_model_are_a_thousand_runs,
             a_clone_goes_its_own_way, views_show_the_state)
