/* The report of tests with a device: how they ended, their figures and curves, by the lines of their tables. */
#include "support/tltest.h"
#include "support/frame_rows.h"

#include "base/file.h"
#include "base/mem.h"
#include "post/report_run.h"
#include "shape/superellipsoid.h"

#include <stdio.h>

/* What the page says of a run of one ball with a study and a device's table beside its frames, which end at 0.5 s
 * of 2 s; fresh memory. */
static TlHtml device_page(const char *study, const char *table, const char *text) {
  static int pages;
  char name[40];
  snprintf(name, sizeof name, "device_%d", pages++);
  char *whole = tl_format("time: {dt_s: 0.001, duration_s: 2, history_every_s: 0.1}\n%s", study),
       *folder = tl_path_join(tl_test_folder(), name), *path = tl_path_join(folder, table);
  TlAvatar ball;
  TlResultsWriter *w;
  CK_OK(tl_avatar_sphere(0.01, 0.002, 50, &ball));
  ball.id = 1;
  const TlScene scene = {.study = whole,
                         .grain_scale = 1,
                         .density_kg_m3 = 2650,
                         .step_s = 1e-3,
                         .avatar_count = 1,
                         .avatars = &ball};
  CK_OK(tl_results_create(&w, folder, &scene, false));
  CK_OK(tl_results_add_avatar(w, &ball));
  CK_OK(tl_results_scene_done(w));
  for (int f = 0; f < 2; f++) {
    const TlBodyRow row = {
        .id = 1, .avatar_id = 1, .scale = 1, .rotation = {1, 0, 0, 0}, .velocity_m_s = {1, 0, 0}};
    CK_OK(tl_test_frame(w, f, 500 * f, 0.5 * f, 1));
    CK_OK(tl_test_put_bodies(w, &row, 1));
    CK_OK(tl_results_frame_end(w));
  }
  tl_results_close(w);
  CK_OK(tl_file_write(path, text, strlen(text), true));
  TlHtml page = {0};
  TlReportRun run;
  int64_t warnings = 0;
  CK_OK(tl_report_run_open(folder, tl_strdup(name), &run));
  CK_OK(tl_report_run_warnings(&run, &page, &warnings));
  tl_report_run_figures(&page, &run, 1);
  CK_OK(tl_report_run_plots(&page, &run, 1, NULL));
  tl_report_run_close(&run);
  tl_free(whole);
  tl_free(path);
  tl_free(folder);
  tl_avatar_free(&ball);
  return page;
}

static void check_said(TlHtml page, const char *said, const char *not_said) {
  ck_assert_msg(!said || strstr(page.text, said), "the page does not say: %s", said);
  ck_assert_msg(!not_said || !strstr(page.text, not_said), "the page says: %s", not_said);
  tl_html_free(&page);
}

#define STAGES                                                                                     \
  "oedometer:\n  stages:\n"                                                                        \
  "  - {vertical_stress_Pa: 1.0e+3, ramp_s: 0.1, until_unbalanced: 0.01, until_kinetic_fraction: " \
  "0.01, least_s: 0, most_s: 0.2}\n"                                                               \
  "  - {vertical_stress_Pa: 1.0e+4, ramp_s: 0.1, until_unbalanced: 0.01, until_kinetic_fraction: " \
  "0.01, least_s: 0, most_s: 0.3}\n"
#define OEDOMETER                                                                                  \
  "time_s,stage,stage_ends,axial_strain,void_ratio,axial_stress_Pa,K0,constrained_modulus_Pa,"     \
  "unbalanced_force,kinetic_energy_J,elastic_J\n0,1,0,0,0.9,0,,,0,0,0\n"

START_TEST(an_oedometer_test_that_ended_is_complete) {
  static const char at_rest[] = "0.15,1,1,0,0.8,1000,0.41,,0.005,1e-6,1e-3\n",
                    late[] = "0.2,1,1,0,0.8,1000,0.41,,0.48,1e-6,1e-3\n",
                    ended[] = "0.4,2,1,0.01,0.78,10000,0.42,9.0e5,0.001,1e-6,1e-2\n",
                    amid[] = "0.3,2,0,0.01,0.78,10000,0.42,9.0e5,0.02,1e-6,1e-2\n";
  const struct {
    const char *one, *two, *said, *not_said;
  } cases[] = {{at_rest, ended, NULL, "not complete"},
               {at_rest, ended, NULL, "ended by its most_s"},
               {at_rest, ended, NULL, "Not at rest"},
               {at_rest, ended,
                "<td class=\"n\">0.78</td><td class=\"n\">0.42</td><td "
                "class=\"n\">0.9</td><td>at rest</td>",
                "by most_s"},
               {late, ended, "<td class=\"n\">none</td><td>by most_s</td>", NULL},
               {at_rest, ended, "void ratio of the seated specimen</th><td class=\"n\">0.8<", NULL},
               {at_rest, ended, ">Compression curve</text>", NULL},
               {at_rest, ended, ">Lateral stress at rest</text>", NULL},
               {late, ended, "Stage 1 of 2 was ended by its most_s", "not complete"},
               {at_rest, amid, "in stage 2 of 2: unbalanced force 0.02, wanted below 0.01",
                "ended by its most_s"},
               {at_rest, "0.3,2", "in stage 2 of 2: it has not begun", "table of the test"},
               {at_rest, "0.3,2\n", "The table of the test cannot be read", "not complete"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char *text = tl_format(OEDOMETER "%s%s", cases[i].one, cases[i].two);
    check_said(device_page(STAGES, "oedometer.csv", text), cases[i].said, cases[i].not_said);
    tl_free(text);
  }
}
END_TEST

START_TEST(a_direct_shear_test_ends_at_its_displacement) {
  static const char study[] = "direct_shear: {until_displacement_m: 0.003}\n",
                    head[] = "time_s,displacement_m,shear_stress_Pa,normal_stress_Pa,stress_ratio,"
                             "dilation_m,height_m,void_ratio,unbalanced_force\n"
                             "0,0,0,0,,0,0.07,5,0\n0.1,0,500,9900,0.05,0,0.0175,1.1,0.01\n"
                             "0.2,-0.0014,-6100,10000,-0.61,1e-5,0.01751,1.11,0.01\n";
  char *ended = tl_format("%s0.3,-0.0028,-5600,10000,-0.56,2e-5,0.01752,1.12,0.01\n", head);
  check_said(device_page(study, "direct_shear.csv", ended), NULL, "not complete");
  check_said(device_page(study, "direct_shear.csv", ended),
             "peak shear stress</th><td class=\"n\">6.1</td><td>kPa", "by most_s");
  check_said(device_page(study, "direct_shear.csv", ended),
             "displacement there</th><td class=\"n\">1.4</td><td>mm", NULL);
  check_said(device_page(study, "direct_shear.csv", ended), ">Height</text>", NULL);
  check_said(device_page(study, "direct_shear.csv", head),
             "in shear: displacement 0.0014 m, wanted 0.003 m", NULL);
  tl_free(ended);
}
END_TEST

/* A line of triaxial.csv: all its columns are 1 but these. */
static void add_line(TlHtml *to, double time, int stage, double strain, double void_ratio,
                     double unbalanced, const char *kind) {
  for (int c = 0; c < TL_TX_READ; c++)
    tl_html(to, "%g,",
            c == TL_TX_TIME           ? time
            : c == TL_TX_STAGE        ? stage
            : c == TL_TX_AXIAL_STRAIN ? strain
            : c == TL_TX_VOID         ? void_ratio
            : c == TL_TX_UNBALANCED   ? unbalanced
            : c == TL_TX_KINETIC      ? 1e-6
                                      : 1);
  tl_html(to, "%s\n", kind);
}

START_TEST(a_triaxial_test_that_was_stopped_or_failed_says_so) {
  const struct {
    double wanted, until, time, unbalanced;
    int lines;
    const char *said, *not_said;
  } cases[] = {
      {0, 0.04, 0.1, 0.005, 4, NULL, "not complete"},
      {0, 0.04, 0.1, 0.005, 4, NULL, "ended by its most_s"},
      {0, 0.045, 0.1, 0.005, 4, NULL, "not complete"}, /* by the line that would follow */
      {0, 0.06, 0.1, 0.005, 4, "in stage 2 of 2 (shear): axial strain 0.04, wanted 0.06",
       "ended by its most_s"},
      {0, 0.04, 0.2, 0.05, 4, "Stage 1 of 2 (consolidate) was ended by its most_s", "not complete"},
      {0.5, 0.04, 0.1, 0.005, 0, "(consolidate): void ratio 0.6, wanted 0.5",
       "ended by its most_s"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    TlHtml text = {0};
    char *of = tl_format("triaxial:\n  stages:\n"
                         "  - {kind: consolidate, ramp_s: 0.05, until_unbalanced: 0.01, "
                         "until_kinetic_share: 0.01, void_ratio: %g, least_s: 0, most_s: 0.2}\n"
                         "  - {kind: shear, rate_per_s: 0.1, ramp_s: 0, until_strain: %g, "
                         "until_deviatoric_Pa: -1e+15, least_s: 0, most_s: 0}\n",
                         cases[i].wanted, cases[i].until);
    for (int c = 0; c < TL_TX_READ; c++) tl_html(&text, "%s,", tl_tx_name[c]);
    tl_html(&text, "kind\n");
    add_line(&text, 0, 1, 0, 0.6, 1, "consolidate");
    add_line(&text, cases[i].time, 1, 0, 0.6, cases[i].unbalanced, "consolidate");
    for (int k = 1; k <= cases[i].lines; k++)
      add_line(&text, cases[i].time + 0.1 * k, 2, 0.01 * k, 0.6, 0.005, "shear");
    check_said(device_page(of, "triaxial.csv", text.text), cases[i].said, cases[i].not_said);
    tl_html_free(&text);
    tl_free(of);
  }
}
END_TEST

TL_TEST_MAIN("report_device", an_oedometer_test_that_ended_is_complete,
             a_direct_shear_test_ends_at_its_displacement,
             a_triaxial_test_that_was_stopped_or_failed_says_so)
