/* Runs of studies with a laboratory device, for what its table says. */
#ifndef TL_TESTS_SUPPORT_DEVICE_H
#define TL_TESTS_SUPPORT_DEVICE_H

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/par.h"
#include "io/csv_table.h"
#include "run/run.h"
#include "support/tltest.h"

static inline double device_cell(const TlTable *t, int64_t row, const char *name) {
  int column;
  double value;
  CK_OK(tl_table_need(t, name, &column));
  CK_OK(tl_table_number(t, row, column, &value));
  return value;
}

static inline int device_count_down(void *left) {
  return --*(int64_t *)left == 0 ? TL_WISH_STOP : 0;
}

/* The table of the device from a whole run of the study; stop_after > 0: a run that is stopped when it
 * has been asked so often, and resumed. */
static inline TlTable device_run(const char *device, const char *name, const char *text,
                                 int64_t stop_after) {
  char *study = tl_format("%s/%s.yaml", tl_test_folder(), name),
       *results = tl_format("%s/%s.run", tl_test_folder(), name),
       *table = tl_format("%s/%s.csv", results, device);
  TlRun run;
  TlTable csv;
  CK_OK(tl_file_write(study, text, strlen(text), true));
  TlRunOptions options = {.study = study, .output = results, .overwrite = true};
  tl_par_set_threads(1);
  tl_log_set("test", TL_LOG_ERROR);
  if (stop_after > 0) {
    options.stop = device_count_down;
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
  tl_free(study);
  tl_free(results);
  tl_free(table);
  return csv;
}

/* text: the study's. */
static inline void device_refused(const char *text, const char *message) {
  TlStudy study;
  TlSetup setup = {0};
  TlStatus status = tl_study_parse(&study, "test.yaml", text, strlen(text));
  if (status == TL_OK) status = tl_setup_fill(&setup, &study);
  CK_FAILS(status, TL_EINPUT, message);
  tl_setup_free(&setup);
  tl_study_free(&study);
}

#endif
