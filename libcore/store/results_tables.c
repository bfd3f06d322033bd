#include "store/results_tables.h"

#include "base/outfile.h"
#include "store/results_h5.h"

enum { FORMAT = 1 };

static TlStatus write_table(const TlH5File *f, const TlTable *t) {
  TlH5Column column[TL_H5_RECORD_COLUMNS];
  hid_t dataset[TL_H5_RECORD_COLUMNS];
  int columns = tl_h5_record_columns(t->record, false, column);
  hid_t group = H5Gcreate2(f->id, t->record->name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  if (group < 0) return tl_h5_fail(f, t->record->name);
  TlStatus status = tl_h5_columns_create(f, group, column, columns, t->count, 0, dataset);
  if (status == TL_OK) {
    if (t->count > 0)
      status =
          tl_h5_columns_write(f, column, columns, dataset, 0, t->rows, t->record->bytes, t->count);
    tl_h5_columns_close(columns, dataset);
  }
  H5Gclose(group);
  return status;
}

static TlStatus write_all(const TlH5File *f, const char *format, int64_t step, double time_s,
                          const TlTable *tables, int count) {
  TL_TRY(tl_h5_set_format(f, format, FORMAT));
  TL_TRY(tl_h5_set_int(f, f->id, "step", step));
  TL_TRY(tl_h5_set_real(f, f->id, "time_s", &time_s, 1));
  for (int i = 0; i < count; i++) TL_TRY(write_table(f, &tables[i]));
  return TL_OK;
}

TlStatus tl_results_write_tables(const char *path, const char *format, int64_t step, double time_s,
                                 const TlTable *tables, int count) {
  TlOutFile out;
  TlH5File file;
  TL_TRY(tl_outfile_begin(&out, path, true));
  TlStatus status = tl_h5_create(&file, out.temp, out.path);
  if (status == TL_OK) {
    status = write_all(&file, format, step, time_s, tables, count);
    TlStatus closed = tl_h5_close(&file);
    if (status == TL_OK) status = closed;
  }
  if (status == TL_OK) return tl_outfile_commit(&out);
  tl_outfile_abort(&out);
  return status;
}
