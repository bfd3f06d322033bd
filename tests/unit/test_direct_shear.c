/* The direct shear box against a closed form: a block slides on a block, shear force = mu N. And
 * what its section refuses. */
#include "support/tltest.h"

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/par.h"
#include "io/csv_table.h"
#include "run/run.h"

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

static double cell(const TlTable *t, int64_t row, const char *name) {
  int column;
  double value;
  CK_OK(tl_table_need(t, name, &column));
  CK_OK(tl_table_number(t, row, column, &value));
  return value;
}

static int count_down(void *left) {
  return --*(int64_t *)left == 0 ? TL_WISH_STOP : 0;
}

static TlTable run_test(const char *name, const char *rate, int64_t stop_after) {
  char *study = tl_format("%s/%s.yaml", tl_test_folder(), name),
       *results = tl_format("%s/%s.run", tl_test_folder(), name),
       *table = tl_path_join(results, "direct_shear.csv"),
       *text = tl_format(HEAD BOX "  rate_m_s: %s\n", rate);
  TlRun run;
  TlTable csv;
  CK_OK(tl_file_write(study, text, strlen(text), true));
  TlRunOptions options = {.study = study, .output = results, .overwrite = true};
  tl_par_set_threads(1);
  tl_log_set("test", TL_LOG_ERROR);
  if (stop_after > 0) {
    options.stop = count_down;
    options.stop_context = &stop_after;
    CK_OK(tl_run_open(&run, NULL, &options));
    ck_assert_int_eq(tl_run_go(&run), TL_ELIMIT);
    tl_run_close(&run);
    options = (TlRunOptions){.study = study, .output = results, .resume = true};
  }
  CK_OK(tl_run_open(&run, NULL, &options));
  CK_OK(tl_run_go(&run));
  ck_assert(tl_apparatus_finished(&run));
  tl_run_close(&run);
  CK_OK(tl_table_read(table, &csv));
  tl_free(text);
  tl_free(study);
  tl_free(results);
  tl_free(table);
  return csv;
}

/* The lower block goes with its half, the upper one is held. Sliding needs a displacement that
 * stretches the tangential springs to mu N, here some 1e-5 m; from then on the load cell bears mu N,
 * and the drive that and what global damping takes from the moving block: m v damping. */
static void slides(const TlTable *t, double sign) {
  int64_t last = t->rows - 1, seen = 0;
  for (int64_t i = 0; i <= last; i++) {
    double time = cell(t, i, "time_s"), moved = fabs(cell(t, i, "displacement_m"));
    CK_NEAR(moved, time < BEGINS ? 0 : RATE * (time - BEGINS), 1e-12);
    if (time < BEGINS + 0.01) continue;
    CK_NEAR(cell(t, i, "normal_stress_Pa"), STRESS, 1e-4 * STRESS);
    CK_NEAR(cell(t, i, "shear_stress_Pa"), sign * FRICTION * STRESS, 1e-3 * FRICTION * STRESS);
    CK_NEAR(cell(t, i, "shear_force_N"), sign * FRICTION * STRESS * AREA, 0.04);
    CK_NEAR(cell(t, i, "drive_force_N") - cell(t, i, "shear_force_N"), sign * MASS * RATE * DAMPING,
            0.02);
    CK_NEAR(cell(t, i, "stress_ratio"), sign * FRICTION, 1e-3 * FRICTION);
    CK_NEAR(cell(t, i, "dilation_m"), 0, 1e-6);
    seen++;
  }
  ck_assert_int_gt(seen, 10);
  CK_NEAR(cell(t, last, "displacement_m"), sign * 1e-3, 1e-12);
  CK_NEAR(cell(t, last, "shear_strain"), sign * 1e-2, 1e-5);
}

START_TEST(a_block_slides_on_a_block_with_friction_times_load) {
  TlTable t = run_test("forwards", "0.02", 0);
  slides(&t, 1);
  tl_table_free(&t);
  t = run_test("backwards", "-0.02", 0);
  slides(&t, -1);
  tl_table_free(&t);
}
END_TEST

START_TEST(a_resumed_test_writes_the_same_table) {
  TlTable whole = run_test("whole", "0.02", 0), parts = run_test("parts", "0.02", 2500);
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

static void refused(const char *section, const char *message) {
  TlStudy study;
  TlSetup setup = {0};
  char *text = tl_format(HEAD "%s", section);
  TlStatus status = tl_study_parse(&study, "test.yaml", text, strlen(text));
  if (status == TL_OK) status = tl_setup_fill(&setup, &study);
  CK_FAILS(status, TL_EINPUT, message);
  tl_setup_free(&setup);
  tl_study_free(&study);
  tl_free(text);
}

START_TEST(what_makes_no_sense_is_refused_at_its_key) {
  refused("direct_shear: {height_m: 1}\n", "direct_shear.length_m: is missing");
  refused("direct_shear: {length_m: 1}\n", "direct_shear.height_m: is missing");
  refused(BOX, "direct_shear.rate_m_s: is missing");
  refused(BOX "  rate_m_s: 1\n  plane_m: 0.2\n", "direct_shear.plane_m: is no less than height_m");
  refused(BOX "  rate_m_s: 1\n  plane_m: 0.0995\n", "direct_shear.gap_m: leaves nothing");
  refused(BOX "  rate_m_s: 1\n  wall_m: 1.0e-4\n", "direct_shear.wall_m: is less than");
  refused("direct_shear: {length_m: 1, height_m: 1, normal_stress_Pa: 1, rate_m_s: 1, "
          "until_displacement_m: 1}\n",
          "direct_shear.consolidate_s: must be above 0");
  refused("direct_shear: {length_m: 1, height_m: 1, normal_stress_Pa: 1, rate_m_s: 1, "
          "until_displacement_m: 1, consolidate_s: 1}\nwalls: []\ntriaxial: {radius_m: 1}\n",
          "triaxial");
}
END_TEST

TL_TEST_MAIN("direct shear box", a_block_slides_on_a_block_with_friction_times_load,
             a_resumed_test_writes_the_same_table, a_platen_that_starts_amid_the_grains_is_refused,
             what_makes_no_sense_is_refused_at_its_key)
