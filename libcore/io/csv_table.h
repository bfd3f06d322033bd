/* Reading tables: CSV with a header line of column names, cells by row and name.
 *
 * Commas separate the cells; where the header has semicolons or tabs and no comma, these do, and a comma in a
 * number is its decimal point, as spreadsheets write it in half of Europe. Blanks around a cell and quotes around
 * all of it are removed: between them separators are text, and a doubled quote is one. Blank lines and lines that begin with # are skipped; line ends of
 * either kind and a byte order mark are accepted. Every row has as many cells as the header.
 */
#ifndef TL_IO_CSV_TABLE_H
#define TL_IO_CSV_TABLE_H

#include "base/status.h"

#include <stdint.h>

typedef struct TlTable {
  char *path;    /* for messages, owned */
  char *text;    /* of the file, cut into cells, owned */
  char **name;   /* [columns] borrowed from text; the array is owned */
  char **cell;   /* [rows * columns] likewise */
  int64_t *line; /* [rows] of the file, from 1, owned */
  int columns;
  int64_t rows;
  char separator;
} TlTable;

/* TL_EINPUT: no header, a column without a name or named twice, a row of another length; the
 * message names the line. */
TlStatus tl_table_read(const char *path, TlTable *table);
/* The same of a table that a program still writes, or was killed over: a last line without a line
 * end is not whole yet and left out. */
TlStatus tl_table_read_growing(const char *path, TlTable *table);
void tl_table_free(TlTable *table);

/* Index of the column, by its name now or an earlier one (io/column_names.h); -1: none. */
int tl_table_column(const TlTable *table, const char *name);
/* TL_EINPUT: none; the message names the file, the column and those that are there. */
TlStatus tl_table_need(const TlTable *table, const char *name, int *column);
/* Borrowed; "" when empty. */
const char *tl_table_text(const TlTable *table, int64_t row, int column);
/* An empty cell or nan: NaN. TL_EINPUT: no number; the message names line and column. */
TlStatus tl_table_number(const TlTable *table, int64_t row, int column, double *value);

#endif
