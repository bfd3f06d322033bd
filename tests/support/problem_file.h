/* Reads a problem of a step from the file that the program wrote of it (run/step_problems.h), ready to be solved. */
#ifndef TL_TESTS_PROBLEM_FILE_H
#define TL_TESTS_PROBLEM_FILE_H

#include "base/mem.h"
#include "solve/nonsmooth_record.h"
#include "store/results_h5.h"
#include "support/tltest.h"

static inline void *problem_rows_read(const TlH5File *f, const TlRecord *record, int32_t *count) {
  TlH5Column column[TL_H5_RECORD_COLUMNS];
  int columns = tl_h5_record_columns(record, false, column);
  int64_t n;
  hid_t group = H5Gopen2(f->id, record->name, H5P_DEFAULT);
  CK_OK(tl_h5_array_rows(f, group, column[0].name, &n));
  char *rows = tl_calloc((size_t)n + 1, record->bytes);
  ck_assert_ptr_nonnull(rows);
  if (n > 0) CK_OK(tl_h5_columns_read(f, group, column, columns, rows, record->bytes, n));
  H5Gclose(group);
  *count = (int32_t)n;
  return rows;
}

static inline void problem_read(const char *path, TlNsProblem *q) {
  TlH5File f;
  int32_t arms;
  CK_OK(tl_h5_open(&f, path));
  *q = (TlNsProblem){0};
  q->body = problem_rows_read(&f, &tl_ns_record[TL_NS_BODIES], &q->bodies);
  q->patch = problem_rows_read(&f, &tl_ns_record[TL_NS_PATCHES], &q->patches);
  q->point = problem_rows_read(&f, &tl_ns_record[TL_NS_NORMALS], &q->points);
  q->arm = problem_rows_read(&f, &tl_ns_record[TL_NS_ARMS], &arms);
  q->resist = problem_rows_read(&f, &tl_ns_record[TL_NS_RESISTS], &q->resists);
  q->bond = problem_rows_read(&f, &tl_ns_record[TL_NS_BONDS], &q->bonds);
  CK_OK(tl_h5_close(&f));
  for (int32_t i = 0; i < q->patches; i++) tl_nonsmooth_prepare(q, &q->patch[i]);
  for (int32_t i = 0; i < q->bonds; i++) {
    q->bond[i].inverse_t = q->bond[i].inverse_t > 0 ? 1 : 0;
    tl_nonsmooth_prepare_bond(q, &q->bond[i]);
  }
}

static inline void problem_lists_free(TlNsProblem *q) {
  tl_free(q->body);
  tl_free(q->patch);
  tl_free(q->point);
  tl_free(q->arm);
  tl_free(q->resist);
  tl_free(q->bond);
}

#endif
