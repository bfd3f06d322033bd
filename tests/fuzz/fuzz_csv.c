/* Tables, and all of their cells as numbers. */
#include "fuzz/fuzz.h"

#include "io/csv_table.h"

TL_FUZZ(csv) {
  TlTable table;
  double value;
  int column;
  TlStatus status = tl_table_read(tl_fuzz_file("a.csv", bytes, size), &table);
  tl_fuzz_done(status);
  if (status != TL_OK) return;
  for (int64_t row = 0; row < table.rows; row++)
    for (int c = 0; c < table.columns; c++) tl_fuzz_done(tl_table_number(&table, row, c, &value));
  tl_fuzz_done(tl_table_need(&table, "time_s", &column));
  tl_table_free(&table);
}
