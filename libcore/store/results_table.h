/* A table that grows while its run goes on: a CSV file under its own name in the results folder, a
 * line at a time, which a run that goes on cuts back to where its state was saved. */
#ifndef TL_STORE_RESULTS_TABLE_H
#define TL_STORE_RESULTS_TABLE_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct TlTable { /* zeroed, with a name: not begun */
  const char *name;
  char *path;
  FILE *file;
  int columns;
} TlTable;

/* Number `table` of results.h, not begun. */
TlTable tl_table(int table);
bool tl_table_is(const char *name);
TlStatus tl_table_begin(TlTable *table, const char *folder, const char *header);
/* text (NULL: none) is the last column. */
TlStatus tl_table_line(TlTable *table, const double *values, int count, const char *text);
TlStatus tl_table_bytes(TlTable *table, bool sync, int64_t *bytes);
/* TL_EINPUT when it is not there, has other columns, or is shorter than `bytes`. */
TlStatus tl_table_resume(TlTable *table, const char *folder, const char *header, int64_t bytes);
void tl_table_close(TlTable *table);

#endif
