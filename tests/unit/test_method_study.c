/* One study file for two methods: penalty.dt_s is the step of the one, time.dt_s of the other. */
#include "support/tltest.h"

#include "base/file.h"
#include "base/mem.h"
#include "run/run.h"

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
    ck_assert_int_eq(run.totals.steps, steps[m]);
    ck_assert_double_eq_tol(run.setup.time.dt_s, 0.02 / (double)steps[m], 1e-12);
    ck_assert_double_eq_tol(run.bodies.velocity[0].z, -9.81 * 0.02, 0.01);
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
  ck_assert_double_eq(run.setup.time.dt_s, 1e-5);
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

TL_TEST_MAIN("studies for two methods", each_method_takes_its_own_step,
             without_it_the_step_is_the_studys, as_many_steps_would_be_another_time)
