/* Tables of a frame from arrays of their rows' structs. */
#ifndef TL_TESTS_SUPPORT_FRAME_ROWS_H
#define TL_TESTS_SUPPORT_FRAME_ROWS_H

#include "base/mem.h"
#include "store/results.h"

static inline TlStatus tl_test_put_rows(TlResultsWriter *w, const TlRecord *record,
                                        const void *rows, int64_t count) {
  size_t stride = tl_record_packed_bytes(record, TL_FRAME);
  unsigned char *packed;
  TL_TRY(TL_NEW(packed, (size_t)count * stride));
  for (int64_t i = 0; i < count; i++)
    tl_record_pack(record, TL_FRAME, rows, i, packed + (size_t)i * stride);
  TlStatus status = tl_results_frame_rows(w, packed, stride, count);
  tl_free(packed);
  return status;
}

/* A frame with so many bodies, which are to follow. */
static inline TlStatus tl_test_frame(TlResultsWriter *w, int64_t index, int64_t step, double time_s,
                                     int64_t bodies) {
  TL_TRY(tl_results_frame_begin(w, index, step, time_s));
  return tl_results_frame_table(w, &tl_frame_bodies, &tl_body_row_record, bodies);
}
static inline TlStatus tl_test_put_bodies(TlResultsWriter *w, const TlBodyRow *rows,
                                          int64_t count) {
  return tl_test_put_rows(w, &tl_body_row_record, rows, count);
}
static inline TlStatus tl_test_put_contacts(TlResultsWriter *w, const TlContactRow *rows,
                                            int64_t count) {
  return tl_test_put_rows(w, &tl_contact_row_record, rows, count);
}

#endif
