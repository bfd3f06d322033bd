/* One study file for two methods: penalty.dt_s is the step of the one, time.dt_s of the other. */
#include "support/tltest.h"

#include "base/file.h"
#include "base/mem.h"
#include "run/run.h"

#include <math.h>

static const char ball[] =
    "free_fall: yes\nshapes: [{name: ball, kind: sphere, diameter_m: 0.02}]\n"
    "bodies: [{shape: ball, position_m: [0, 0, 0.05]}]\n";

static TlStatus open_study(TlRun *run, const char *text, char *set) {
  char *whole = tl_format("%s%s", text, ball), *path = tl_path_join(tl_test_folder(), "both.yaml");
  TlTexts sets = {&set, 1};
  TlRunOptions options = {.study = path, .sets = &sets, .no_output = true};
  CK_OK(tl_file_write(path, whole, strlen(whole), true));
  TlStatus status = tl_run_open(run, NULL, &options);
  run->options.sets = NULL;
  tl_free(whole);
  tl_free(path);
  return status;
}

static const char both[] = "time: {dt_s: 1.0e-3, duration_s: 0.02}\n"
                           "penalty: {spread: deepest, normal_N_m: 1.0e+4, dt_s: 1.0e-5}\n";

START_TEST(each_method_takes_its_own_step) {
  char *method[] = {"solver.method=etm-level", "solver.method=penalty"};
  const int64_t steps[] = {20, 2000};
  for (int m = 0; m < 2; m++) {
    TlRun run;
    CK_OK(open_study(&run, both, method[m]));
    CK_OK(tl_run_go(&run));
    ck_assert_int_eq(run.state->totals.steps, steps[m]);
    ck_assert_double_eq_tol(run.model->setup.time.dt_s, 0.02 / (double)steps[m], 1e-12);
    ck_assert_double_eq_tol(run.state->dem.bodies.velocity[0].z, -9.81 * 0.02, 0.01);
    tl_run_close(&run);
  }
}
END_TEST

START_TEST(without_it_the_step_is_the_studys) {
  TlRun run;
  CK_OK(open_study(&run,
                   "time: {dt_s: 1.0e-5, duration_s: 0.01}\n"
                   "penalty: {spread: deepest, normal_N_m: 1.0e+4}\n",
                   "solver.method=penalty"));
  ck_assert_double_eq(run.model->setup.time.dt_s, 1e-5);
  tl_run_close(&run);
}
END_TEST

START_TEST(as_many_steps_would_be_another_time) {
  const char *text = "time: {dt_s: 1.0e-3, steps: 20}\n"
                     "penalty: {spread: deepest, normal_N_m: 1.0e+4, dt_s: 1.0e-5}\n";
  TlRun run;
  CK_FAILS(open_study(&run, text, "solver.method=penalty"), TL_EINPUT, "penalty.dt_s");
  tl_run_close(&run);
  CK_OK(open_study(&run, text, "solver.method=etm-level"));
  tl_run_close(&run);
}
END_TEST

/* The solver would refuse these without a place; its rows are the study's. */
START_TEST(what_the_solver_refuses_the_study_refuses_in_its_place) {
  static const struct {
    const char *key, *values, *words;
  } cases[] = {
      {"solver: {slop: ", "0.3}",
       "both.yaml:2:16: solver.slop: 0.3 is out of range; allowed: 0 to 0.1"},
      {"solver: {similar: ", "0.8}",
       "both.yaml:2:19: solver.similar: 0.8 is out of range; allowed: 0 to 0.5"},
      {"solver: {rest_sweeps: ", "500000}",
       "both.yaml:2:23: solver.rest_sweeps: 500000 is out of range"},
      {"solver: {position_sweeps: ", "500000}",
       "both.yaml:2:27: solver.position_sweeps: 500000 is out of range"},
      {"solver: {max_rounds: ", "0}", "both.yaml:2:22: solver.max_rounds: 0 is out of range"},
      {"unresolved: {overlap_share: ", "50}",
       "both.yaml:2:29: unresolved.overlap_share: 50 is out of range"},
      {"nonsmooth: {iterations: ", "automatic}",
       "both.yaml:2:25: nonsmooth.iterations: 'automatic' is not a whole number, nor 'auto'"},
      {"nonsmooth: {impact_iterations: ", "-3}",
       "both.yaml:2:32: nonsmooth.impact_iterations: -3 is out of range"},
      /* one key against another, told by the method: at its section */
      {"solver: {method: penalty, sides: lower, edges: refine}\n",
       "penalty: {spread: nodes, normal_N_m: 1.0e+4}", "both.yaml:2:1: solver: edges refine"},
      {"solver: {method: penalty}\ncontact: {tangential_restitution: 0.5}\n",
       "penalty: {spread: deepest, normal_N_m: 1.0e+4}",
       "both.yaml:2:1: solver: tangential restitution is of impulses"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    TlRun run;
    char *text =
        tl_format("time: {dt_s: 1.0e-5, duration_s: 0.01}\n%s%s\n", cases[i].key, cases[i].values);
    CK_FAILS(open_study(&run, text, "seed=1"), TL_EINPUT, cases[i].words);
    tl_run_close(&run);
    tl_free(text);
  }
}
END_TEST

/* ---- joints ---- */

/* A joint of the bodies `low` and `high`, or of `low` and the world, in line 6. */
static void joint_fails(const char *method, const char *joint, const char *words) {
  TlRun run;
  char *path = tl_path_join(tl_test_folder(), "joints.yaml");
  char *text = tl_format("time: {dt_s: 1.0e-4, duration_s: 0.01}\nfree_fall: yes\n"
                         "shapes: [{name: ball, kind: sphere, diameter_m: 0.02}]\n"
                         "bodies: [{name: low, shape: ball, position_m: [0, 0, 0]}, {name: high, "
                         "shape: ball, position_m: "
                         "[0, 0, 0.05]}]\njoints:\n- {%s}\n"
                         "solver: {method: %s}\nnonsmooth: {young_Pa: 1.0e+7}\n"
                         "penalty: {spread: deepest, normal_N_m: 1.0e+3}\n",
                         joint, method);
  TlRunOptions options = {.study = path, .no_output = true};
  CK_OK(tl_file_write(path, text, strlen(text), true));
  TlStatus status = tl_run_open(&run, NULL, &options);
  if (words)
    CK_FAILS(status, TL_EINPUT, words);
  else
    CK_OK(status);
  tl_run_close(&run);
  tl_free(text);
  tl_free(path);
}

START_TEST(a_motor_without_a_force_is_refused) {
#define HINGE "kind: hinge, body: low, other: high, axis: [0, 1, 0], point_m: [0, 0, 0]"
#define SLIDER "kind: slider, body: low, axis: [0, 0, 1]"
  joint_fails("nonsmooth", HINGE ", motor_rad_s: 2",
              "joints.yaml:6:78: joints.0.motor_rad_s: a motor without a moment does nothing: "
              "motor_most_N_m is missing");
  joint_fails("nonsmooth", SLIDER ", motor_m_s: -1",
              "joints.0.motor_m_s: a motor without a force does nothing: motor_most_N is missing");
  joint_fails("nonsmooth", HINGE ", motor_rad_s: 2, motor_most_N_m: 1", NULL);
  joint_fails("nonsmooth", "kind: hinge, body: low, axis: [0, 1, 0]",
              "joints.0.axis: a hinge wants a point_m, too");
  joint_fails("nonsmooth", HINGE ", motor_most_N_m: 1", NULL); /* a brake */
}
END_TEST

START_TEST(limits_that_leave_out_the_start_are_refused) {
#define DISTANCE                                                                                   \
  "kind: distance, body: low, other: high, point_m: [0, 0, 0.01], other_point_m: [0, 0, 0.04]"
  joint_fails("nonsmooth", HINGE ", least_deg: 10, most_deg: 30",
              "joints.yaml:6:78: joints.0.least_deg: the limits of 10 to 30 deg leave out the "
              "start, where the angle is 0");
  joint_fails("nonsmooth", HINGE ", least_deg: -30, most_deg: -10",
              "joints.0.most_deg: the limits");
  joint_fails("nonsmooth", HINGE ", least_deg: -30, most_deg: 0", NULL);
  joint_fails("nonsmooth", SLIDER ", least_m: 0.1, most_m: 0.2",
              "joints.0.least_m: the limits of 0.1 to 0.2 m leave out the start, where the "
              "displacement is 0");
  joint_fails("nonsmooth", DISTANCE ", most_m: 0.02",
              "joints.0.most_m: the limits of 0 to 0.02 m leave out the start, where point_m and "
              "other_point_m are 0.03 m apart");
  joint_fails("nonsmooth", DISTANCE ", least_m: 0.05, most_m: 0.06",
              "joints.0.least_m: the limits");
  joint_fails("nonsmooth", DISTANCE ", least_m: 0.0301, most_m: 0.0301", NULL); /* rounded */
}
END_TEST

START_TEST(keys_that_a_kind_of_joint_has_no_use_for_are_refused) {
  joint_fails("nonsmooth", DISTANCE ", most_m: 0.04, axis: [0, 0, 1]",
              "joints.0.axis: this kind of joint has no use for it");
  joint_fails("nonsmooth", "kind: weld, body: low, other: high, axis: [0, 0, 1]",
              "joints.0.axis: this kind of joint has no use for it");
  joint_fails("nonsmooth", HINGE ", motor_m_s: 1",
              "joints.0.motor_m_s: this kind of joint has no use for it");
}
END_TEST

START_TEST(joints_that_the_method_does_not_solve_are_refused_by_name) {
  joint_fails(
      "penalty", "kind: weld, body: low, other: high",
      "joints.yaml:6:4: joints.0.kind: the method penalty does not solve a weld of the body "
      "'low' and the body 'high': solver.method: nonsmooth does");
  joint_fails("etm-level", "kind: hinge, body: low, axis: [0, 1, 0], point_m: [0, 0, 0]",
              "joints.0.kind: the method etm-level does not solve a hinge of the body 'low' and "
              "the world: solver.method: nonsmooth does");
  joint_fails("etm-level", SLIDER, NULL); /* held to the world */
  joint_fails("penalty", SLIDER ", motor_most_N: 1",
              "joints.0.motor_most_N: the method penalty does not solve a motor on a joint");
}
END_TEST

static void study_fails(const char *text, char *set, const char *words) {
  TlRun run;
  TlStatus status = open_study(&run, text, set);
  if (status == TL_OK) status = tl_run_go(&run);
  CK_FAILS(status, TL_EINPUT, words);
  tl_run_close(&run);
}

#define NONSMOOTH                                                                                  \
  "time: {dt_s: 1.0e-4, duration_s: 0.01}\nsolver: {method: nonsmooth}\n"                          \
  "nonsmooth: {young_Pa: 1.0e+7}\n"

START_TEST(a_stiffness_that_is_missing_says_what_the_other_is_of) {
#define METHOD(name) "time: {dt_s: 1.0e-4, duration_s: 0.01}\nsolver: {method: " name "}\n"
  study_fails(METHOD("nonsmooth") "nonsmooth: {normal_N_m: 1.0e+4}\n", "seed=1",
              "both.yaml:3:1: nonsmooth.young_Pa: is needed for law hertz; normal_N_m is of law: "
              "linear");
  study_fails(METHOD("nonsmooth") "nonsmooth: {law: linear, young_Pa: 1.0e+7}\n", "seed=1",
              "nonsmooth.normal_N_m: is needed for law linear; young_Pa is of law: hertz");
  study_fails(
      METHOD("penalty") "penalty: {normal_N_m: 1.0e+4}\n", "seed=1",
      "penalty.normal_Pa_m: is needed for law linear with spread traction; normal_N_m is of "
      "law: linear with spread: deepest");
  /* what the command line leaves out is not what it says */
  study_fails(METHOD("penalty"), "penalty.normal_N_m=1.0e+4",
              "both.yaml: penalty.normal_Pa_m: is needed for law linear with spread traction");
}
END_TEST

START_TEST(a_reduction_that_makes_no_sense_is_refused_in_its_place) {
  study_fails(NONSMOOTH "reduction: {split: contact, merge_in_m_s: 0.2}\n", "seed=1",
              "both.yaml:4:29: reduction.merge_in_m_s: 0.2 m/s is above split_in_m_s, 0.15 m/s");
  study_fails(
      NONSMOOTH "reduction: {split: both, split_tangential_m_s: 1.0e-3}\n", "seed=1",
      "reduction.merge_tangential_m_s: 0.0025 m/s is above split_tangential_m_s, 0.001 m/s");
  TlRun run; /* nothing is split by contacts */
  CK_OK(open_study(&run, NONSMOOTH "reduction: {split: trial, merge_in_m_s: 0.2}\n", "seed=1"));
  tl_run_close(&run);
}
END_TEST

START_TEST(problems_with_joints_are_refused_at_the_start) {
  TlRun run;
  char *path = tl_path_join(tl_test_folder(), "problems.yaml");
  static const char text[] = "time: {dt_s: 1.0e-4, duration_s: 0.01}\nfree_fall: yes\n"
                             "shapes: [{name: ball, kind: sphere, diameter_m: 0.02}]\n"
                             "bodies: [{name: low, shape: ball, position_m: [0, 0, 0]}]\n"
                             "joints: [{kind: weld, body: low}]\nsolver: {method: nonsmooth}\n"
                             "nonsmooth: {young_Pa: 1.0e+7, problems_every_s: 0.001}\n";
  TlRunOptions options = {.study = path, .no_output = true};
  CK_OK(tl_file_write(path, text, strlen(text), true));
  CK_FAILS(tl_run_open(&run, NULL, &options), TL_EINPUT,
           "problems.yaml:7:31: nonsmooth.problems_every_s: a problem with joints cannot be "
           "written to a file: set it to 0");
  tl_run_close(&run);
  tl_free(path);
}
END_TEST

START_TEST(a_net_is_not_reduced) {
  study_fails(NONSMOOTH "reduction: {split: contact}\n"
                        "nets: [{corner_m: [0, 0, -0.5], along_m: [1, 0, 0], across_m: [0, 1, 0], "
                        "spacing_m: 0.2, radius_m: 0.01, stiffness_N_m: 100}]\n",
              "seed=1", "both.yaml:4:13: reduction.split: no scene with nets or a membrane");
}
END_TEST

/* A box and another shape over a plane, by traction alone. */
static TlStatus run_box_beside(TlRun *run, const char *shape) {
  char *path = tl_path_join(tl_test_folder(), "box.yaml");
  char *text = tl_format(
      "time: {dt_s: 1.0e-6, duration_s: 1.0e-5}\nsolver: {method: penalty}\n"
      "penalty: {spread: traction, normal_Pa_m: 1.0e+7}\nplanes: [{point_m: [0, 0, 0], normal: [0, "
      "0, 1]}]\n"
      "shapes: [{name: box, kind: box, size_m: [0.02, 0.02, 0.02]}, {name: other, %s}]\n"
      "bodies: [{shape: box, position_m: [0, 0, 0.05]}, {shape: other, position_m: [0.05, 0, "
      "0.05]}]\n",
      shape);
  TlRunOptions options = {.study = path, .no_output = true};
  CK_OK(tl_file_write(path, text, strlen(text), true));
  TlStatus status = tl_run_open(run, NULL, &options);
  if (status == TL_OK) status = tl_run_go(run);
  tl_free(text);
  tl_free(path);
  return status;
}

START_TEST(boxes_among_grids_need_no_stiffness_of_a_point) {
  TlRun run;
  CK_OK(run_box_beside(
      &run, "kind: superellipsoid, size_m: [0.02, 0.02, 0.02], exponent_e: 0.8, exponent_n: 0.8"));
  tl_run_close(&run);
  CK_FAILS(run_box_beside(&run, "kind: sphere, diameter_m: 0.02"), TL_EINPUT, "normal_N_m");
  tl_run_close(&run);
}
END_TEST

/* Of bodies, known when they are there. */
START_TEST(what_the_penalty_method_refuses_of_bodies_has_its_place) {
  static const struct {
    const char *penalty, *words;
  } cases[] = {
      {"{spread: traction, normal_Pa_m: 1.0e+7}",
       "both.yaml:3:1: penalty.normal_N_m: is needed, too: grain 0 is solved in closed form"},
      {"{spread: deepest, normal_N_m: 1.0e+9, dt_s: 1.0e-4}",
       "both.yaml:3:48: penalty.dt_s: a time step of 0.0001 s is above the "},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char *text = tl_format("time: {dt_s: 1.0e-4, duration_s: 0.01}\nsolver: {method: penalty}\n"
                           "penalty: %s\n",
                           cases[i].penalty);
    study_fails(text, "seed=1", cases[i].words);
    tl_free(text);
  }
}
END_TEST

/* Its density then was beyond what the solver took, up to a million. */
START_TEST(a_large_mass_scale_is_taken) {
  TlRun run;
  CK_OK(open_study(&run,
                   "time: {dt_s: 1.0e-5, duration_s: 0.01}\n"
                   "penalty: {spread: deepest, normal_N_m: 1.0e+4, mass_scale: 1.0e+6}\n",
                   "solver.method=penalty"));
  CK_NEAR(run.state->dem.bodies.mass[0], 2650e6 * M_PI / 6 * 0.02 * 0.02 * 0.02, 1e-6);
  tl_run_close(&run);
}
END_TEST

TL_TEST_MAIN("studies for two methods", what_the_solver_refuses_the_study_refuses_in_its_place,
             a_motor_without_a_force_is_refused, limits_that_leave_out_the_start_are_refused,
             keys_that_a_kind_of_joint_has_no_use_for_are_refused,
             joints_that_the_method_does_not_solve_are_refused_by_name,
             what_the_penalty_method_refuses_of_bodies_has_its_place,
             boxes_among_grids_need_no_stiffness_of_a_point, a_net_is_not_reduced,
             a_stiffness_that_is_missing_says_what_the_other_is_of,
             a_reduction_that_makes_no_sense_is_refused_in_its_place,
             problems_with_joints_are_refused_at_the_start, a_large_mass_scale_is_taken,
             each_method_takes_its_own_step, without_it_the_step_is_the_studys,
             as_many_steps_would_be_another_time)
