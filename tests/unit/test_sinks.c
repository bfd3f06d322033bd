/* Sinks: what falls into them leaves the run, is counted and weighed, and leaves the energy balance as it was. */
#include "support/tltest.h"

#include "base/file.h"
#include "base/mem.h"
#include "run/history.h"
#include "run/run.h"
#include "run/sinks.h"

#include <math.h>

static const double G = 9.81, DIAMETER_M = 0.04;

static TlStatus open_study(TlRun *run, const char *text) {
  char *path = tl_path_join(tl_test_folder(), "sinks.yaml");
  TlRunOptions options = {.study = path, .no_output = true};
  CK_OK(tl_file_write(path, text, strlen(text), true));
  TlStatus status = tl_run_open(run, NULL, &options);
  tl_free(path);
  return status;
}

static void refused(const char *text, const char *message) {
  TlRun run;
  CK_FAILS(open_study(&run, text), TL_EINPUT, message);
  tl_run_close(&run);
}

/* ---- a column of balls over a hole ---- */

enum { BALLS = 6 };
static double start_m(int64_t ball) {
  return 0.3 + 0.15 * (double)ball;
}

/* Balls of the column whose centres, falling freely, are below 0 at this time. */
static int64_t fallen(double time_s, double gravity) {
  int64_t count = 0;
  while (count < BALLS && 0.5 * gravity * time_s * time_s > start_m(count)) count++;
  return count;
}

/* Two blocks leave a hole between them, below which the sink lies. A ball rests on each block, as deep over the sink's
 * plane as the blocks are high: only what falls through the hole comes there. */
static const char hole[] =
    "shapes: [{name: ball, diameter_m: 0.04}]\n"
    "bodies:\n"
    "- {shape: ball, position_m: [0, 0, 0.3], count: 6, step_m: [0, 0, 0.15]}\n"
    "- {shape: ball, position_m: [0.2, 0, 0.1199]}\n"
    "- {shape: ball, position_m: [-0.2, 0, 0.1199]}\n"
    "walls:\n"
    "- {kind: box, size_m: [0.3, 0.3, 0.1], point_m: [0.2, 0, 0.05]}\n"
    "- {kind: box, size_m: [0.3, 0.3, 0.1], point_m: [-0.2, 0, 0.05]}\n";

typedef struct Method {
  const char *name, *keys;
  double step_s;
  double heavier; /* penalty.mass_scale; gravity is smaller by as much */
} Method;

static const Method methods[] = {
    {"nonsmooth", "solver: {method: nonsmooth}\nnonsmooth: {young_Pa: 1.0e+7}\n", 1e-3, 1},
    {"etm-level", "solver: {method: etm-level}\n", 1e-3, 1},
    {"sqm", "solver: {method: sqm}\n", 1e-3, 1},
    {"smm", "solver: {method: smm}\n", 1e-3, 1},
    {"penalty", "solver: {method: penalty}\npenalty: {spread: deepest, normal_N_m: 1.0e+4}\n", 1e-4,
     1},
    {"penalty with four times the mass",
     "solver: {method: penalty}\n"
     "penalty: {spread: deepest, normal_N_m: 1.0e+4, mass_scale: 4}\n",
     2e-4, 4},
};

/* As many are taken as free fall says, to a step, first those that were lowest; the sums are of what was taken, and
 * masses those of the grains whatever they are moved with. */
static void count_falls(const char *sink, const Method *method) {
  TlRun run;
  TlMeasure m;
  double gravity = G / method->heavier, step_s = method->step_s,
         duration_s = 0.5 * sqrt(method->heavier);
  char *text =
      tl_format("%s%s%stime: {dt_s: %g, duration_s: 2}\n", hole, sink, method->keys, step_s);
  CK_OK(open_study(&run, text));
  CK_OK(tl_run_begin(&run));
  double ball_kg = 2650 * M_PI / 6 * DIAMETER_M * DIAMETER_M * DIAMETER_M;
  for (int64_t step = 1; step <= llround(duration_s / step_s); step++) {
    CK_OK(tl_run_step(&run));
    int64_t sunk = run.state->totals.sunk, least = fallen((double)(step - 1) * step_s, gravity),
            most = fallen((double)(step + 1) * step_s, gravity);
    ck_assert_msg(sunk >= least && sunk <= most, "%s, step %lld: %lld taken, not %lld to %lld",
                  method->name, (long long)step, (long long)sunk, (long long)least,
                  (long long)most);
    CK_OK(tl_history_measure(&run, &m));
    ck_assert_int_eq(m.grains, BALLS + 2 - sunk);
    ck_assert_double_eq_tol(m.sunk, (double)sunk * ball_kg, 1e-9);
    const TlBodies *b = &run.state->dem.bodies;
    for (int64_t i = 0; i < b->owned; i++) ck_assert_int_ge(b->id[i], sunk);
  }
  ck_assert_int_eq(run.state->totals.sunk, BALLS);
  ck_assert_int_eq(run.state->totals.outside, 0);
  tl_run_close(&run);
  tl_free(text);
}

START_TEST(grains_that_fall_through_a_hole_are_counted_in_order) {
  ck_assert_int_eq(fallen(0.5, G), BALLS); /* the highest falls 1.05 m in 0.463 s */
  for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
    count_falls("sinks: [{kind: plane, normal: [0, 0, 2]}]\n", &methods[i]);
}
END_TEST

/* The same height by a box on its edge, which is 0.2 m high at the ball's path: no ball falls through within a step. */
START_TEST(a_turned_box_takes_what_comes_into_it) {
  count_falls("sinks: [{kind: box, point_m: [0, 0, -0.14142135623730950], size_m: [0.2, 1, 0.2], "
              "rotation_deg: [0, 45, 0]}]\n",
              &methods[0]);
  TlSetup s = {0};
  TlSinkSetup sink[] = {{.kind = TL_SINK_BOX, .point_m = {1, 2, 3}, .size_m = {0.4, 0.2, 0.2}},
                        {.kind = TL_SINK_PLANE, .point_m = {0, 5, 0}, .normal = {0, -1, 0}}};
  s.sinks = (TlStudyList){.items = sink, .count = 2};
  ck_assert_int_eq(tl_sink_at(&s, tl_vec3(1.19, 2.09, 2.91)), 0);
  ck_assert_int_eq(tl_sink_at(&s, tl_vec3(1.21, 2, 3)), -1);
  ck_assert_int_eq(tl_sink_at(&s, tl_vec3(1, 2.11, 3)), -1);
  ck_assert_int_eq(tl_sink_at(&s, tl_vec3(1, 2, 2.89)), -1);
  ck_assert_int_eq(tl_sink_at(&s, tl_vec3(0, 5.01, 0)), 1);
  sink[0].rotation_deg[2] = 90;
  ck_assert_int_eq(tl_sink_at(&s, tl_vec3(1.19, 2, 3)), -1);
  ck_assert_int_eq(tl_sink_at(&s, tl_vec3(1, 2.19, 3)), 0);
}
END_TEST

/* ---- what stays ---- */

/* A fixed body, one on a hinge and one welded to it stay in the sink; a body of two parts is two grains. */
START_TEST(bodies_that_are_fixed_or_on_joints_stay) {
  TlRun run;
  CK_OK(open_study(&run, "time: {dt_s: 1.0e-3, duration_s: 1}\n"
                         "shapes: [{name: ball, diameter_m: 0.04}]\n"
                         "bodies:\n"
                         "- {shape: ball, position_m: [0, 0, -0.1], fixed: yes}\n"
                         "- {name: gate, shape: ball, position_m: [0.2, 0, -0.1]}\n"
                         "- {name: weight, shape: ball, position_m: [0.3, 0, -0.1]}\n"
                         "- {position_m: [0.5, 0, -0.1], parts: [{shape: ball}, {shape: ball, "
                         "position_m: [0.03, 0, 0]}]}\n"
                         "- {shape: ball, position_m: [0.7, 0, 0.1]}\n"
                         "joints:\n"
                         "- {kind: hinge, body: gate, point_m: [0.2, 0, 0], axis: [0, 1, 0]}\n"
                         "- {kind: weld, body: weight, other: gate, point_m: [0.25, 0, -0.1]}\n"
                         "sinks: [{kind: plane}]\n"
                         "solver: {method: nonsmooth}\nnonsmooth: {young_Pa: 1.0e+7}\n"));
  CK_OK(tl_run_begin(&run));
  CK_OK(tl_run_step(&run));
  ck_assert_int_eq(run.state->totals.sunk, 2);
  ck_assert_int_eq(run.state->dem.bodies.owned, 4);
  for (int k = 0; k < 200; k++) CK_OK(tl_run_step(&run));
  ck_assert_int_eq(run.state->totals.sunk, 3);
  ck_assert_int_eq(run.state->dem.bodies.owned, 3);
  for (int64_t i = 0; i < 3; i++) ck_assert_double_lt(run.state->dem.bodies.position[i].z, 0);
  tl_run_close(&run);
}
END_TEST

/* ---- the energy balance ---- */

/* A large ball falls into the sink, and in the next step a small one is poured, so that the number of bodies does not
 * tell. What is missing in the balance stays that of free fall in steps, g h/2 times the momentum of what falls: 0.2% of
 * the large ball's energy. */
static void exchange(const char *keys, double step_s) {
  TlRun run;
  char *text =
      tl_format("time: {dt_s: %g, duration_s: 1}\n"
                "shapes: [{name: ball, diameter_m: 0.02}, {name: large, diameter_m: 0.06}]\n"
                "bodies: [{shape: large, position_m: [1, 0, 0.4]}]\ngrains: {shapes: [ball]}\n"
                "release: {assembly: poured, low_m: [0, 0, 0.5], high_m: [0.021, 0.021, 0.521], "
                "rate_per_s: 10, count: 9}\n"
                "sinks: [{kind: plane, point_m: [0, 0, %.17g]}]\n%s",
                step_s, 0.4 - 0.5 * G * 0.01, keys); /* after 0.1 s */
  CK_OK(open_study(&run, text));
  CK_OK(tl_run_begin(&run));
  double most = 0, large_J = 2650 * M_PI / 6 * 2.16e-4 * G * 0.4;
  for (int64_t step = 1; step <= llround(0.2 / step_s); step++) {
    CK_OK(tl_run_step(&run));
    most = fmax(most, fabs(run.state->totals.balance.error_J));
    if (step == llround(0.1 / step_s))
      ck_assert(run.state->totals.sunk == 1 && run.state->poured == 0);
    if (step == llround(0.1 / step_s) + 1) ck_assert_int_eq(run.state->poured, 1);
  }
  ck_assert_msg(most > 0 && most <= 0.002 * large_J, "%g of the large ball's %g J are missing",
                most / large_J, large_J);
  tl_run_close(&run);
  tl_free(text);
}

START_TEST(the_energy_balance_loses_nothing_with_them) {
  exchange(methods[4].keys, methods[4].step_s);
  exchange(methods[0].keys, methods[0].step_s);
}
END_TEST

/* ---- bad input ---- */

#define BALL                                                                                       \
  "time: {dt_s: 1.0e-3, duration_s: 1}\nshapes: [{name: ball, diameter_m: 0.04}]\nbodies: "        \
  "[{shape: ball, position_m: [0, 0, 1]}]\n"

START_TEST(a_sink_that_makes_no_sense_is_refused_in_its_place) {
  refused(BALL "sinks:\n- {kind: plane, normal: [0, 0, 0]}\n",
          "sinks.yaml:5:17: sinks.0.normal: is the zero vector");
  refused(BALL "sinks:\n- {kind: plane}\n- {kind: box, size_m: [1, 0, 1]}\n",
          "sinks.yaml:6:15: sinks.1.size_m: a box wants three positive sides");
  refused(BALL "sinks: [{kind: box}]\n", "sinks.0.size_m: a box wants three positive sides");
  refused(BALL "sinks: [{kind: plane, size_m: [1, 1, 1]}]\n", "sinks.0.size_m: only a box has it");
  refused(BALL "sinks: [{kind: plane, rotation_deg: [0, 9, 0]}]\n",
          "sinks.0.rotation_deg: only a box has it");
  refused(BALL "sinks:\n- {kind: box, low_m: [0, 0, 0], high_m: [1, 1, 1]}\n",
          "sinks.0.low_m: no such key here; an item of 'sinks' has kind, point_m, normal, size_m, "
          "rotation_deg");
  refused(BALL "sinks: [{kind: hole}]\n", "'hole' is not one of plane|box");
  refused(BALL "sinks: [{point_m: [0, 0, 0]}]\n", "sinks.0.kind: is missing");
  /* grains would fall for ever beside a sink overhead */
  refused(BALL "sinks: [{kind: plane, normal: [0, 0, -1], point_m: [0, 0, 9]}]\n", "gravity_m_s2");
}
END_TEST

TL_TEST_MAIN("sinks", grains_that_fall_through_a_hole_are_counted_in_order,
             a_turned_box_takes_what_comes_into_it, bodies_that_are_fixed_or_on_joints_stay,
             the_energy_balance_loses_nothing_with_them,
             a_sink_that_makes_no_sense_is_refused_in_its_place)
