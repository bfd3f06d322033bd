/* The direct shear box against a closed form: a block slides on a block, shear force = mu N. And
 * what its section refuses. */
#include "support/device.h"

#define HEAD                                                                                       \
  "time: {dt_s: 2.0e-5, duration_s: 1, frame_every_s: 0, history_every_s: 2.0e-3}\n"               \
  "gravity_m_s2: [0, 0, 0]\n"                                                                      \
  "shapes: [{name: block, kind: box, size_m: [0.1, 0.1, 0.05]}]\n"                                 \
  "grains: {density_kg_m3: 2650}\n"                                                                \
  "solver: {method: penalty}\n"                                                                    \
  "penalty: {spread: traction, normal_Pa_m: 1.0e+10, normal_N_m: 1.0e+6}\n"                        \
  "contact: {friction: 0.4, restitution: 0.2, boundary_friction: 0, damping_per_s: 50}\n"          \
  "bodies:\n"                                                                                      \
  "- {shape: block, position_m: [0, 0, 0.025]}\n"                                                  \
  "- {shape: block, position_m: [0, 0, 0.075]}\n"
#define BOX                                                                                        \
  "direct_shear:\n"                                                                                \
  "  length_m: 0.1\n"                                                                              \
  "  height_m: 0.1\n"                                                                              \
  "  gap_m: 0.002\n"                                                                               \
  "  normal_stress_Pa: 1.0e+4\n"                                                                   \
  "  ramp_s: 0.01\n"                                                                               \
  "  consolidate_s: 0.03\n"                                                                        \
  "  until_displacement_m: 0.001\n"                                                                \
  "  damping_per_s: 1000\n"
static const double FRICTION = 0.4, STRESS = 1e4, AREA = 0.01, BEGINS = 0.03, RATE = 0.02,
                    DAMPING = 50, MASS = 2650 * 0.1 * 0.1 * 0.05;

/* The lower block goes with its half, the upper one is held. Sliding needs a displacement that
 * stretches the tangential springs to mu N, here some 1e-5 m; from then on the load cell bears mu N,
 * and the drive that and what global damping takes from the moving block: m v damping. */
static void slides(const TlTable *t, double sign) {
  int64_t last = t->rows - 1, seen = 0;
  for (int64_t i = 0; i <= last; i++) {
    double time = device_cell(t, i, "time_s"), moved = fabs(device_cell(t, i, "displacement_m"));
    CK_NEAR(moved, time < BEGINS ? 0 : RATE * (time - BEGINS), 1e-12);
    if (time < BEGINS + 0.01) continue;
    CK_NEAR(device_cell(t, i, "normal_stress_Pa"), STRESS, 1e-4 * STRESS);
    CK_NEAR(device_cell(t, i, "shear_stress_Pa"), sign * FRICTION * STRESS,
            1e-3 * FRICTION * STRESS);
    CK_NEAR(device_cell(t, i, "shear_force_N"), sign * FRICTION * STRESS * AREA, 0.04);
    CK_NEAR(device_cell(t, i, "drive_force_N") - device_cell(t, i, "shear_force_N"),
            sign * MASS * RATE * DAMPING, 0.02);
    CK_NEAR(device_cell(t, i, "stress_ratio"), sign * FRICTION, 1e-3 * FRICTION);
    CK_NEAR(device_cell(t, i, "dilation_m"), 0, 1e-6);
    seen++;
  }
  ck_assert_int_gt(seen, 10);
  CK_NEAR(device_cell(t, last, "displacement_m"), sign * 1e-3, 1e-12);
  CK_NEAR(device_cell(t, last, "shear_strain"), sign * 1e-2, 1e-5);
}

START_TEST(a_block_slides_on_a_block_with_friction_times_load) {
  TlTable t = device_run("direct_shear", "forwards", HEAD BOX "  rate_m_s: 0.02\n", 0);
  slides(&t, 1);
  tl_table_free(&t);
  t = device_run("direct_shear", "backwards", HEAD BOX "  rate_m_s: -0.02\n", 0);
  slides(&t, -1);
  tl_table_free(&t);
}
END_TEST

START_TEST(a_resumed_test_writes_the_same_table) {
  TlTable whole = device_run("direct_shear", "whole", HEAD BOX "  rate_m_s: 0.02\n", 0),
          parts = device_run("direct_shear", "parts", HEAD BOX "  rate_m_s: 0.02\n", 2500);
  ck_assert_int_eq(whole.rows, parts.rows);
  for (int64_t i = 0; i < whole.rows; i++)
    for (int c = 0; c < whole.columns; c++)
      ck_assert_str_eq(tl_table_text(&whole, i, c), tl_table_text(&parts, i, c));
  tl_table_free(&whole);
  tl_table_free(&parts);
}
END_TEST

START_TEST(a_platen_that_starts_amid_the_grains_is_refused) {
  char *study = tl_format("%s/amid.yaml", tl_test_folder()), *low = "direct_shear.height_m=0.06";
  const char *text = HEAD BOX "  rate_m_s: 0.02\n";
  TlRun run;
  CK_OK(tl_file_write(study, text, strlen(text), true));
  const TlTexts sets = {&low, 1};
  const TlRunOptions options = {.study = study, .sets = &sets, .no_output = true};
  tl_log_set("test", TL_LOG_ERROR);
  CK_FAILS(
      tl_run_open(&run, NULL, &options), TL_EUSAGE,
      "--set direct_shear.height_m: 1 of 2 grains lie at or beyond the face of the top platen");
  tl_run_close(&run);
  tl_free(study);
}
END_TEST

START_TEST(what_makes_no_sense_is_refused_at_its_key) {
  device_refused(HEAD "direct_shear: {height_m: 1}\n", "direct_shear.length_m: is missing");
  device_refused(HEAD "direct_shear: {length_m: 1}\n", "direct_shear.height_m: is missing");
  device_refused(HEAD BOX, "direct_shear.rate_m_s: is missing");
  device_refused(HEAD BOX "  rate_m_s: 1\n  plane_m: 0.2\n",
                 "direct_shear.plane_m: is no less than height_m");
  device_refused(HEAD BOX "  rate_m_s: 1\n  plane_m: 0.0995\n",
                 "direct_shear.gap_m: leaves nothing");
  device_refused(HEAD BOX "  rate_m_s: 1\n  wall_m: 1.0e-4\n", "direct_shear.wall_m: is less than");
  device_refused(HEAD "direct_shear: {length_m: 1, height_m: 1, normal_stress_Pa: 1, rate_m_s: 1, "
                      "until_displacement_m: 1}\n",
                 "direct_shear.consolidate_s: must be above 0");
  device_refused(HEAD
                 "direct_shear: {length_m: 1, height_m: 1, normal_stress_Pa: 1, rate_m_s: 1, "
                 "until_displacement_m: 1, consolidate_s: 1}\nwalls: []\ntriaxial: {radius_m: 1}\n",
                 "triaxial");
}
END_TEST

TL_TEST_MAIN("direct shear box", a_block_slides_on_a_block_with_friction_times_load,
             a_resumed_test_writes_the_same_table, a_platen_that_starts_amid_the_grains_is_refused,
             what_makes_no_sense_is_refused_at_its_key)
