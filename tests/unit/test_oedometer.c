/* The oedometer against closed forms: the confined modulus of a simple cubic packing, and K0 of a
 * packing whose contacts are inclined; what its section refuses, and a run that is resumed. */
#include "support/device.h"

#include <stdio.h>

#define HEAD                                                                                       \
  "time: {dt_s: 1.0e-5, duration_s: 0.5, frame_every_s: 0, history_every_s: 2.0e-3}\n"             \
  "gravity_m_s2: [0, 0, 0]\n"                                                                      \
  "shapes: [{name: ball, kind: sphere, diameter_m: 1.0e-2}]\n"                                     \
  "grains: {density_kg_m3: 2650}\n"                                                                \
  "solver: {method: penalty}\n"                                                                    \
  "penalty: {spread: deepest, normal_N_m: 1.0e+5}\n"                                               \
  "contact: {friction: 0, restitution: 0.5, boundary_friction: 0, damping_per_s: 1000}\n"
#define BALL "bodies: [{shape: ball, position_m: [0, 0, 0.005]}]\n"
#define REST "until_unbalanced: 1.0e-6, until_kinetic_fraction: 1.0e-9"
static const double RADIUS = 5e-3, STIFFNESS = 1e5; /* the base's and the platen's, too */

/* ---- running ---- */

typedef struct Ran {
  TlTable csv;
  int64_t stage_end[8]; /* rows of the summary */
  int stages;
} Ran;

static Ran run_test(const char *name, const char *text, int64_t stop_after) {
  Ran ran = {.csv = device_run("oedometer", name, text, stop_after)};
  for (int64_t i = 0; i < ran.csv.rows; i++)
    if (device_cell(&ran.csv, i, "stage_ends") == 1) ran.stage_end[ran.stages++] = i;
  return ran;
}

/* ---- the modulus ---- */

#define COLUMN(x, y)                                                                               \
  "- {shape: ball, position_m: [" x ", " y ", 0.005], count: 4, step_m: [0, 0, 0.01]}\n"
static const char cubic_study[] =
    HEAD "oedometer:\n"
         "  side_m: 0.02\n"
         "  height_m: 0.04\n"
         "  stages:\n"
         "  - {vertical_stress_Pa: 1.0e+3, ramp_s: 2.0e-3, " REST "}\n"
         "  - {vertical_stress_Pa: 1.0e+4, ramp_s: 2.0e-3, " REST "}\n"
         "  - {vertical_stress_Pa: 5.0e+3, ramp_s: 2.0e-3, " REST "}\n"
         "bodies:\n" COLUMN("-0.005", "-0.005") COLUMN("-0.005", "0.005") COLUMN("0.005", "-0.005")
             COLUMN("0.005", "0.005");

/* A column of n spheres between base and platen is n + 1 springs in a row: it shortens by
 * F (n + 1)/k, F = stress d^2. So M = d(stress)/d(strain) = k h0/((n + 1) d^2), loading and
 * unloading; nothing presses on the ring. */
START_TEST(a_simple_cubic_packing_has_its_confined_modulus) {
  const double d = 2 * RADIUS, stress[3] = {1e3, 1e4, 5e3};
  Ran ran = run_test("cubic", cubic_study, 0);
  const TlTable *t = &ran.csv;
  ck_assert_int_eq(ran.stages, 3);
  double h0 = device_cell(t, ran.stage_end[0], "height_m"), modulus = STIFFNESS * h0 / (5 * d * d);
  for (int s = 0; s < 3; s++) {
    int64_t row = ran.stage_end[s];
    double height = 4 * d - 5 * stress[s] * d * d / STIFFNESS;
    CK_NEAR(device_cell(t, row, "axial_stress_Pa"), stress[s], 1e-4 * stress[s]);
    CK_NEAR(device_cell(t, row, "base_stress_Pa"), stress[s], 1e-4 * stress[s]);
    CK_NEAR(device_cell(t, row, "height_m"), height, 1e-8);
    CK_NEAR(device_cell(t, row, "axial_strain"), 1 - height / h0, 1e-6);
    CK_NEAR(device_cell(t, row, "K0"), 0, 1e-9);
    CK_NEAR(device_cell(t, row, "void_ratio"), height * 6 / (M_PI * 4 * d) - 1, 1e-5);
    if (s > 0) CK_NEAR(device_cell(t, row, "constrained_modulus_Pa"), modulus, 1e-3 * modulus);
  }
  tl_table_free(&ran.csv);
}
END_TEST

/* Under gravity the platen presses as before, its weight included, here more than the load (53 Pa), and the
 * base bears the weight of the grains as well. */
START_TEST(the_platens_weight_is_a_part_of_the_load) {
  const double stress = 30, grains = 2650 * 10 * 16 * M_PI / 6 * 8 * pow(RADIUS, 3) / 4e-4;
  char *text = tl_strdup(cubic_study);
  memcpy(strstr(text, "[0, 0, 0]"), "[0,0,-10]", 9);
  memcpy(strstr(text, "1.0e+3, ramp"), "30,     ramp", 12);
  memcpy(strstr(text, "1.0e+4, ramp"), "30,     ramp", 12);
  memcpy(strstr(text, "5.0e+3, ramp"), "30,     ramp", 12);
  Ran ran = run_test("heavy", text, 0);
  int64_t row = ran.stage_end[0];
  CK_NEAR(device_cell(&ran.csv, row, "axial_stress_Pa"), stress, 1e-2 * stress);
  CK_NEAR(device_cell(&ran.csv, row, "base_stress_Pa"), stress + grains, 1e-2 * grains);
  tl_table_free(&ran.csv);
  tl_free(text);
}
END_TEST

/* The same bytes of the table from a run that was stopped just before a look and a line in its second stage. */
START_TEST(a_resumed_test_writes_the_same_table) {
  Ran whole = run_test("whole", cubic_study, 0), parts = run_test("parts", cubic_study, 1800);
  ck_assert_int_eq(whole.csv.rows, parts.csv.rows);
  for (int64_t i = 0; i < whole.csv.rows; i++)
    for (int c = 0; c < whole.csv.columns; c++)
      ck_assert_str_eq(tl_table_text(&whole.csv, i, c), tl_table_text(&parts.csv, i, c));
  tl_table_free(&whole.csv);
  tl_table_free(&parts.csv);
}
END_TEST

/* ---- K0 ---- */

/* Layers of four spheres in the corners and one in the middle by turns, corners below and above:
 * in units of the radius corner spheres lie d = 1.1 off the axis, so a layer is h = sqrt(4 - 2 d^2)
 * above the one before, and the ring's side is a = 2 d + 2. */
static const double CORNER = 1.1;

/* Without friction a middle sphere passes the load W on by four contacts below and four above, each
 * of which pushes its corner sphere towards each of two walls by W/4 d/h. So n middle layers press
 * on each wall by n W d/h: K0 = n W d/h/(a H)/(W/a^2) = n a d/(h H), H = 2 n h + 2. */
START_TEST(inclined_contacts_press_on_the_ring) {
  const double d = CORNER, h = sqrt(4 - 2 * d * d), a = 2 * d + 2, H = 4 * h + 2, r = RADIUS;
  char *text = tl_format(HEAD "oedometer:\n"
                              "  side_m: %.17g\n"
                              "  height_m: %.17g\n"
                              "  look_every_steps: 10\n"
                              "  stages:\n"
                              "  - {vertical_stress_Pa: 100, ramp_s: 2.0e-3, " REST "}\n"
                              "bodies:\n",
                         a * r, H * r);
  for (int layer = 0; layer < 5; layer++)
    for (int k = 0; k < (layer % 2 ? 1 : 4); k++) {
      double x = layer % 2 ? 0 : k % 2 ? d : -d, y = layer % 2 ? 0 : k / 2 ? d : -d;
      char *more = tl_format("%s- {shape: ball, position_m: [%.17g, %.17g, %.17g]}\n", text, x * r,
                             y * r, (1 + layer * h) * r);
      tl_free(text);
      text = more;
    }
  Ran ran = run_test("inclined", text, 0);
  ck_assert_int_eq(ran.stages, 1);
  CK_NEAR(device_cell(&ran.csv, ran.stage_end[0], "K0"), 2 * a * d / (h * H), 1e-3);
  tl_table_free(&ran.csv);
  tl_free(text);
}
END_TEST

/* ---- the end of a stage ---- */

/* With the conditions of rest open to all, the stress alone decides: a platen that moves a grain through
 * the air is no stage's end; it is when the base bears the stress, at the height of the one grain. */
static const char air_study[] =
    HEAD "oedometer:\n"
         "  side_m: 0.02\n"
         "  height_m: 0.021\n"
         "  stages:\n"
         "  - {vertical_stress_Pa: 1.0e+3, ramp_s: 2.0e-3, until_unbalanced: 1.0e+3, "
         "until_kinetic_fraction: 1.0e+3}\n"
         "bodies: [{shape: ball, position_m: [0, 0, 0.016]}]\n";

START_TEST(a_stage_ends_only_under_its_stress) {
  Ran ran = run_test("air", air_study, 0);
  ck_assert_int_eq(ran.stages, 1);
  int64_t row = ran.stage_end[0];
  CK_NEAR(device_cell(&ran.csv, row, "axial_stress_Pa"), 1e3, 500);
  CK_NEAR(device_cell(&ran.csv, row, "base_stress_Pa"), 1e3, 500);
  CK_NEAR(device_cell(&ran.csv, row, "height_m"), 0.01, 1e-4);
  tl_table_free(&ran.csv);
}
END_TEST

/* ---- the section ---- */

START_TEST(what_makes_no_sense_is_refused_at_its_key) {
  device_refused(HEAD BALL "oedometer: {stages: [{vertical_stress_Pa: 10}]}\n",
                 "oedometer.radius_m: give either radius_m");
  device_refused(HEAD BALL "oedometer: {radius_m: 1, side_m: 1}\n",
                 "oedometer.radius_m: give either radius_m");
  device_refused(HEAD BALL "oedometer: {radius_m: 1}\n", "oedometer.height_m: is missing");
  device_refused(HEAD BALL "oedometer: {radius_m: 1, height_m: 1}\n",
                 "oedometer.stages: are missing");
  device_refused(HEAD BALL "oedometer: {radius_m: 1, height_m: 1, stages: [{ramp_s: 1}]}\n",
                 "vertical_stress_Pa");
  device_refused(
      HEAD BALL "oedometer: {radius_m: 1, height_m: 1, stages: [{vertical_stress_Pa: 1, ramp_s: 2, "
                "most_s: 1}]}\n",
      "oedometer.stages.0.most_s: is less than");
  device_refused(HEAD BALL
                 "oedometer: {side_m: 1, height_m: 1, stages: [{vertical_stress_Pa: 10}]}\n"
                 "direct_shear: {length_m: 1, height_m: 1, normal_stress_Pa: 1, rate_m_s: 1, "
                 "until_displacement_m: 1, consolidate_s: 1}\n",
                 "direct_shear: a run has one apparatus");
}
END_TEST

/* ---- grains where none may be ---- */

static TlStatus open_study(TlRun *run, const char *name, const char *text, const TlTexts *sets) {
  char *study = tl_format("%s/%s.yaml", tl_test_folder(), name);
  CK_OK(tl_file_write(study, text, strlen(text), true));
  const TlRunOptions options = {.study = study, .sets = sets, .no_output = true};
  tl_par_set_threads(1);
  tl_log_set("test", TL_LOG_ERROR);
  TlStatus status = tl_run_open(run, NULL, &options);
  tl_free(study);
  return status;
}

START_TEST(grains_beyond_a_face_at_the_start_are_refused) {
  char *high = "oedometer.base_m=[0,0,0.007]", *low = tl_strdup(cubic_study);
  TlRun run;
  memcpy(strstr(low, "height_m: 0.04"), "height_m: 0.03", 14);
  CK_FAILS(open_study(&run, "low", low, NULL), TL_EINPUT,
           "low.yaml:10:3: oedometer.height_m: 4 of 16 grains lie at or beyond the face of the top "
           "platen");
  tl_run_close(&run);
  CK_FAILS(open_study(&run, "high", cubic_study, &(TlTexts){&high, 1}), TL_EUSAGE,
           "--set oedometer.base_m: 4 of 16 grains lie at or below the face of the base");
  tl_run_close(&run);
  tl_free(low);
}
END_TEST

/* One that is put above the platen leaves the run at the next look, and the void ratio. */
START_TEST(a_grain_that_gets_beyond_the_platen_leaves_the_run) {
  const double volume = M_PI / 6 * 8 * RADIUS * RADIUS * RADIUS;
  TlRun run;
  CK_OK(open_study(&run, "beyond", cubic_study, NULL));
  CK_OK(tl_run_begin(&run));
  CK_OK(tl_run_step(&run));
  run.state->dem.bodies.position[3].z = 0.06;
  for (int i = 0; i < 20; i++) CK_OK(tl_run_step(&run));
  ck_assert_int_eq(run.state->totals.outside, 1);
  const TlRecord *record = &run.model->apparatus->state;
  int seen = 0;
  for (int k = 0; k < record->count; k++) {
    const void *field = run.state->apparatus + record->field[k].offset;
    if (strcmp(record->field[k].name, "grains") == 0 && ++seen)
      ck_assert_int_eq(*(const int64_t *)field, 15);
    if (strcmp(record->field[k].name, "solid_m3") == 0 && ++seen)
      CK_NEAR(*(const double *)field, 15 * volume, 1e-12 * volume);
  }
  ck_assert_int_eq(seen, 2);
  tl_run_close(&run);
}
END_TEST

TL_TEST_MAIN("oedometer", the_platens_weight_is_a_part_of_the_load,
             a_stage_ends_only_under_its_stress, grains_beyond_a_face_at_the_start_are_refused,
             a_grain_that_gets_beyond_the_platen_leaves_the_run,
             a_simple_cubic_packing_has_its_confined_modulus, a_resumed_test_writes_the_same_table,
             inclined_contacts_press_on_the_ring, what_makes_no_sense_is_refused_at_its_key)
