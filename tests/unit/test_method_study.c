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
             a_large_mass_scale_is_taken, each_method_takes_its_own_step,
             without_it_the_step_is_the_studys, as_many_steps_would_be_another_time)
