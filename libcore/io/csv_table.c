#include "io/csv_table.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "io/column_names.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void tl_table_free(TlTable *t) {
  tl_free(t->path);
  tl_free(t->text);
  tl_free(t->name);
  tl_free(t->cell);
  tl_free(t->line);
  *t = (TlTable){0};
}

/* ---- cutting ---- */

/* Behind the quote that ends the quoted text here; NULL: there is none. */
static char *behind_quoted(char *text) {
  for (char *c = text + 1; *c; c++) {
    if (*c != '"') continue;
    if (c[1] != '"') return c + 1;
    c++; /* doubled: one of the text */
  }
  return NULL;
}

/* Where the cell that begins here ends: a separator, or the line's end. Separators in a cell that is
 * quoted as a whole are part of it. */
static char *end_of_cell(char *cell, char separator) {
  char *text = cell;
  while (*text != separator && isspace((unsigned char)*text)) text++;
  char *end = *text == '"' ? behind_quoted(text) : NULL;
  while (end && *end != separator && isspace((unsigned char)*end)) end++;
  if (end && (*end == separator || !*end)) return end;
  return cell + strcspn(cell, (const char[]){separator, 0});
}

/* A quoted text without its quotes, those in it once each. */
static char *unquoted(char *from, char *end) {
  char *to = from;
  for (const char *c = from + 1; c < end - 1; c++) {
    *to++ = *c;
    c += *c == '"';
  }
  *to = 0;
  return from;
}

/* Without blanks around it and without quotes. */
static char *plain_cell(char *cell) {
  cell = tl_text_trim(cell);
  char *end = cell + strlen(cell);
  return *cell == '"' && behind_quoted(cell) == end ? unquoted(cell, end) : cell;
}

static int cells_of(char *line, char separator) {
  int n = 1;
  for (line = end_of_cell(line, separator); *line; line = end_of_cell(line + 1, separator)) n++;
  return n;
}

/* The line, which is spoilt, into count cells. */
static void cut(char *line, char separator, char **cell, int count) {
  for (int c = 0; c < count; c++) {
    char *end = end_of_cell(line, separator), *next = *end ? end + 1 : end;
    *end = 0;
    cell[c] = plain_cell(line);
    line = next;
  }
}

/* A number with a decimal comma; other texts stay. */
static void point_for_comma(char *cell) {
  char *comma = strchr(cell, ',');
  if (cell[strspn(cell, "+-0123456789,eE")] || !comma || strchr(comma + 1, ',')) return;
  *comma = '.';
}

/* The next line with something in it, ended; NULL: none. *at moves behind it. */
static char *next_line(char **at, int64_t *number) {
  while (**at) {
    char *line = *at, *end = line + strcspn(line, "\n");
    *at = *end ? end + 1 : end;
    *end = 0;
    ++*number;
    const char *text = line + strspn(line, " \t\r");
    if (*text && *text != '#') return line; /* blanks before its first cell: that may be empty */
  }
  return NULL;
}

static int column_called(const TlTable *t, const char *name) {
  for (int c = 0; c < t->columns; c++)
    if (strcmp(t->name[c], name) == 0) return c;
  return -1;
}

/* Does it stand in the line outside of quotes? */
static bool separates(const char *line, char separator) {
  bool quoted = false;
  for (; *line && (quoted || *line != separator); line++) quoted ^= *line == '"';
  return *line != 0;
}

static TlStatus take_header(TlTable *t, char *line) {
  t->separator = ',';
  for (const char *other = ";\t"; !separates(line, t->separator) && *other; other++)
    if (separates(line, *other)) t->separator = *other;
  t->columns = cells_of(line, t->separator);
  TL_TRY(TL_NEW(t->name, (size_t)t->columns));
  cut(line, t->separator, t->name, t->columns);
  for (int c = 0; c < t->columns; c++) {
    if (!*t->name[c]) return tl_fail(TL_EINPUT, "%s: column %d has no name", t->path, c + 1);
    if (column_called(t, t->name[c]) < c)
      return tl_fail(TL_EINPUT, "%s: two columns are named %s", t->path, t->name[c]);
  }
  return TL_OK;
}

static TlStatus take_rows(TlTable *t, char *at, int64_t number) {
  size_t cells = 0, lines = 0, width = (size_t)t->columns;
  for (char *line; (line = next_line(&at, &number));) {
    int here = cells_of(line, t->separator);
    if (here != t->columns)
      return tl_fail(TL_EINPUT, "%s:%lld: %d cells; the header has %d", t->path, (long long)number,
                     here, t->columns);
    TL_TRY(TL_RESERVE(t->cell, cells, ((size_t)t->rows + 1) * width));
    TL_TRY(TL_RESERVE(t->line, lines, (size_t)t->rows + 1));
    char **cell = t->cell + (size_t)t->rows * width;
    cut(line, t->separator, cell, t->columns);
    for (int c = 0; t->separator != ',' && c < t->columns; c++) point_for_comma(cell[c]);
    t->line[t->rows++] = number;
  }
  return TL_OK;
}

static TlStatus take(TlTable *t) {
  char *at = tl_text_unmarked(t->text);
  int64_t number = 0;
  char *line = next_line(&at, &number);
  if (!line) return tl_fail(TL_EINPUT, "%s: empty; a header of column names is needed", t->path);
  TL_TRY(take_header(t, line));
  return take_rows(t, at, number);
}

static TlStatus read_table(const char *path, bool grows, TlTable *t) {
  size_t size;
  *t = (TlTable){.path = tl_strdup(path)};
  TlStatus status = t->path ? tl_file_read(path, &t->text, &size) : TL_ENOMEM;
  if (status == TL_OK && strlen(t->text) != size)
    status = tl_fail(TL_EINPUT, "%s: holds a NUL byte: not a text file", path);
  char *end = status == TL_OK && grows ? strrchr(t->text, '\n') : NULL;
  if (end) end[1] = 0;
  if (status == TL_OK) status = take(t);
  if (status != TL_OK) tl_table_free(t);
  return status;
}

TlStatus tl_table_read(const char *path, TlTable *table) {
  return read_table(path, false, table);
}

TlStatus tl_table_read_growing(const char *path, TlTable *table) {
  return read_table(path, true, table);
}

/* ---- cells ---- */

int tl_table_column(const TlTable *t, const char *name) {
  static const char *const renamed[][2] = {
#define N(earlier, now) {earlier, now},
      TL_COLUMN_NAMES(N)
#undef N
  };
  int c = column_called(t, name);
  for (size_t i = 0; c < 0 && i < sizeof renamed / sizeof *renamed; i++)
    for (int k = 0; c < 0 && k < 2; k++)
      if (strcmp(name, renamed[i][k]) == 0) c = column_called(t, renamed[i][1 - k]);
  return c;
}

static char *names_of(const TlTable *t) {
  char *all = tl_strdup(t->name[0]);
  for (int c = 1; c < t->columns && all; c++) {
    char *more = tl_format("%s, %s", all, t->name[c]);
    tl_free(all);
    all = more;
  }
  return all;
}

TlStatus tl_table_need(const TlTable *t, const char *name, int *column) {
  *column = tl_table_column(t, name);
  if (*column >= 0) return TL_OK;
  char *there = names_of(t);
  TlStatus status =
      there ? tl_fail(TL_EINPUT, "%s: no column %s; it has %s", t->path, name, there) : TL_ENOMEM;
  tl_free(there);
  return status;
}

const char *tl_table_text(const TlTable *t, int64_t row, int column) {
  return t->cell[(size_t)row * (size_t)t->columns + (size_t)column];
}

TlStatus tl_table_number(const TlTable *t, int64_t row, int column, double *value) {
  const char *text = tl_table_text(t, row, column);
  char *end;
  *value = NAN;
  if (!*text) return TL_OK;
  double x = strtod(text, &end);
  if (*end || isinf(x))
    return tl_fail(TL_EINPUT, "%s:%lld: %s is '%s', not a number", t->path, (long long)t->line[row],
                   t->name[column], text);
  *value = x;
  return TL_OK;
}
