/* Tables of columns: one TlColumn a column, in the order of the file. Header, lines and the pages of
 * the reference (docs/reference/columns.md) follow from it; a new column is one row.
 */
#ifndef TL_IO_COLUMNS_H
#define TL_IO_COLUMNS_H

/* row: what a line of the table is made from, a struct of the module that owns the table. */
typedef struct TlColumn {
  const char *name, *unit, *doc;        /* unit "": a pure number or a text */
  double (*get)(const void *row);       /* NaN: an empty field */
  const char *(*text)(const void *row); /* in place of get; the last column only */
} TlColumn;

typedef struct TlColumns {
  const char *title; /* what a line describes: "the run at one moment" */
  int format;        /* raised when a column is renamed or removed */
  const TlColumn *column;
  int count;
} TlColumns;

enum { TL_COLUMNS_MOST = 64 }; /* numbers in a line that tl_columns_fill makes */

/* A table of columns is a list L(C) of C(name, unit, doc, value), where value is an expression over
 * `row`, a pointer to the type Row of the file:
 *
 *   LIST(TL_COLUMN_GET) static const TlColumn columns[] = {LIST(TL_COLUMN_ROW)}; */
#define TL_COLUMN_GET(name, unit, doc, value)                                                      \
  static double column_##name(const void *of) {                                                    \
    const Row *row = of;                                                                           \
    return (double)(value);                                                                        \
  }
#define TL_COLUMN_ROW(name, unit, doc, value) {#name, unit, doc, column_##name, NULL},

/* "time_s,step,...", fresh memory; NULL: no memory. */
char *tl_columns_header(const TlColumns *columns);
/* The numbers of a line into value[TL_COLUMNS_MOST]; *text: the last column's text, NULL: none.
 * Returns how many numbers there are. */
int tl_columns_fill(const TlColumns *columns, const void *row, double *value, const char **text);
/* Rows of a table in Markdown, "| `time_s` | s | time |", fresh memory; NULL: no memory. */
char *tl_columns_text(const TlColumn *column, int count);

#endif
