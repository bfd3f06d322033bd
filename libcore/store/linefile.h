/* A table that grows during a run: a CSV file in the results folder to which lines are added. A run
 * that resumes cuts it back to the line at which its state was saved. */
#ifndef TL_STORE_LINEFILE_H
#define TL_STORE_LINEFILE_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Lines in memory. */
typedef struct TlLineText { /* zeroed: none */
  char *text;               /* owned */
  size_t used, capacity;
} TlLineText;
/* One more; text (NULL: none) is the last column, and a value that is not a number an empty field. */
TlStatus tl_linetext_add(TlLineText *lines, const double *values, int count, const char *text);

typedef struct TlLineFile { /* zeroed, with a name: not begun */
  const char *name;
  char *path;
  FILE *file; /* without a buffer: what could not be written is not written later */
  int columns;
  TlLineText line; /* the one being made */
} TlLineFile;

/* Number `table` of results.h, not begun. */
TlLineFile tl_linefile(int table);
bool tl_linefile_is(const char *name);
TlStatus tl_linefile_begin(TlLineFile *table, const char *folder, const char *header);
/* text (NULL: none) is the last column. A line is written whole or cut off again. */
TlStatus tl_linefile_line(TlLineFile *table, const double *values, int count, const char *text);
TlStatus tl_linefile_bytes(TlLineFile *table, bool sync, int64_t *bytes);
/* Other processes have written so many bytes behind the last line; or what they wrote is to go. */
TlStatus tl_linefile_pass(TlLineFile *table, int64_t bytes);
TlStatus tl_linefile_cut(TlLineFile *table);
/* TL_EINPUT when it is not there, has other columns, or is shorter than `bytes`; TL_EUSAGE when it
 * is an input of this process (base/claims.h). Nothing is cut then. */
TlStatus tl_linefile_resume(TlLineFile *table, const char *folder, const char *header,
                            int64_t bytes);
void tl_linefile_close(TlLineFile *table);

#endif
