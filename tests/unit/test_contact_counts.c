/* What a frame says of a grain's contacts is what its table of contacts holds: by impulses, by penalty over surfaces and at
 * nodes, and by the nonsmooth method. */
#include "support/tltest.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/par.h"
#include "run/run.h"
#include "store/results.h"

#define SCENE                                                                                      \
  "time: {duration_s: 0.06, dt_s: %s, frame_every_s: 0.06}\n"                                      \
  "solver: {method: %s}\n"                                                                         \
  "penalty: {dt_s: 1.0e-4, normal_N_m: 1.0e4, normal_Pa_m: 1.0e7, boundary_normal_Pa_m: 3.0e7, "   \
  "spread: %s}\n"                                                                                  \
  "nonsmooth: {young_Pa: 1.0e8}\n"                                                                 \
  "frames: {contacts: yes}\n"                                                                      \
  "shapes:\n"                                                                                      \
  "- {name: ball, diameter_m: 0.02}\n"                                                             \
  "- {name: block, kind: box, size_m: [0.02, 0.02, 0.02], gridded: yes, nodes: 152}\n"             \
  "bodies:\n"                                                                                      \
  "- {shape: block, position_m: [0, 0, 0.01]}\n"                                                   \
  "- {shape: block, position_m: [0.002, 0.001, 0.03]}\n"                                           \
  "- {shape: ball, position_m: [0.0205, 0, 0.01]}\n"                                               \
  "- {shape: ball, position_m: [0.001, 0.002, 0.05]}\n"                                            \
  "planes: [{point_m: [0, 0, 0], normal: [0, 0, 1]}]\n"

static const char *const ways[][3] = {{"etm-level", "1.0e-3", "traction"},
                                      {"penalty", "1.0e-3", "traction"},
                                      {"penalty", "1.0e-3", "nodes"},
                                      {"nonsmooth", "1.0e-3", "traction"}};

static void counts_agree(const char *const way[3]) {
  char *study = tl_path_join(tl_test_folder(), "counts.yaml"),
       *folder = tl_path_join(tl_test_folder(), "counts");
  char *text = tl_format(SCENE, way[1], way[0], way[2]);
  CK_OK(tl_file_write(study, text, strlen(text), true));
  TlRun run;
  TlRunOptions options = {.study = study, .output = folder, .overwrite = true};
  tl_par_set_threads(1);
  CK_OK(tl_run_open(&run, NULL, &options));
  CK_OK(tl_run_go(&run));
  tl_run_close(&run);
  TlFrame frame;
  TlFrameContacts contacts;
  CK_OK(tl_results_read_frame(folder, 1, &frame));
  CK_OK(tl_results_read_contacts(folder, 1, &contacts));
  ck_assert_int_eq(frame.count, 4);
  ck_assert_int_gt(contacts.count, 2);
  for (int64_t i = 0; i < frame.count; i++) {
    int rows = 0;
    for (int64_t k = 0; k < contacts.count; k++)
      rows +=
          contacts.rows[k].first == frame.rows[i].id || contacts.rows[k].second == frame.rows[i].id;
    ck_assert_msg(frame.rows[i].contacts == rows, "%s, %s: grain %d has %d contacts, and %d rows",
                  way[0], way[2], (int)i, frame.rows[i].contacts, rows);
  }
  tl_frame_free(&frame);
  tl_frame_contacts_free(&contacts);
  tl_free(text);
  tl_free(study);
  tl_free(folder);
}

START_TEST(contacts_of_a_grain_are_rows_of_the_table) {
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) counts_agree(ways[i]);
}
END_TEST

TL_TEST_MAIN("contact_counts", contacts_of_a_grain_are_rows_of_the_table)
