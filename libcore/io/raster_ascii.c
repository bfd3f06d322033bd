#include "io/raster.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { WORD = 64 };

typedef struct Reader {
  FILE *file;
  const char *path;
  char word[WORD];
} Reader;

/* The next word; false at the end of the file. A longer word is cut, and then is no number. */
static bool next_word(Reader *r) {
  int c, length = 0;
  while ((c = getc_unlocked(r->file)) != EOF && isspace(c))
    ;
  for (; c != EOF && !isspace(c); c = getc_unlocked(r->file))
    if (length < WORD - 1) r->word[length++] = (char)c;
  r->word[length] = 0;
  return length > 0;
}

static bool is_number(const char *word, double *value) {
  char *end;
  *value = strtod(word, &end);
  return end != word && *end == 0;
}

typedef enum Key { NCOLS, NROWS, XCORNER, YCORNER, XCENTER, YCENTER, CELL, DX, DY, VOID, KEYS } Key;

static Key key_of(const char *word) {
  static const char *const names[KEYS] = {"ncols",     "nrows",       "xllcorner", "yllcorner",
                                          "xllcenter", "yllcenter",   "cellsize",  "dx",
                                          "dy",        "nodata_value"};
  for (int i = 0; i < KEYS; i++)
    if (strcasecmp(word, names[i]) == 0) return (Key)i;
  return KEYS;
}

static TlStatus read_keys(Reader *r, double values[KEYS], bool seen[KEYS]) {
  double number;
  while (next_word(r)) {
    if (is_number(r->word, &number)) return TL_OK; /* the first height */
    Key key = key_of(r->word);
    if (key == KEYS)
      return tl_fail(TL_EINPUT,
                     "%s: '%s' is no header key of an Esri ASCII grid (ncols, nrows, xllcorner or "
                     "xllcenter, yllcorner or yllcenter, cellsize, NODATA_value)",
                     r->path, r->word);
    char name[WORD];
    snprintf(name, sizeof name, "%s", r->word);
    if (seen[key]) return tl_fail(TL_EINPUT, "%s: header key '%s' is there twice", r->path, name);
    if (!next_word(r) || !is_number(r->word, &values[key]) ||
        (key != VOID && !isfinite(values[key])))
      return tl_fail(TL_EINPUT, "%s: header key '%s' wants a number, not '%s'", r->path, name,
                     r->word);
    seen[key] = true;
  }
  return TL_OK; /* no heights: told as a short file */
}

static TlStatus fill_header(const char *path, const double v[KEYS], const bool seen[KEYS],
                            TlAsciiHeader *h) {
  const char *missing = !seen[NCOLS]                             ? "ncols"
                        : !seen[NROWS]                           ? "nrows"
                        : !seen[XCORNER] && !seen[XCENTER]       ? "xllcorner or xllcenter"
                        : !seen[YCORNER] && !seen[YCENTER]       ? "yllcorner or yllcenter"
                        : !seen[CELL] && !(seen[DX] && seen[DY]) ? "cellsize"
                                                                 : NULL;
  if (missing) return tl_fail(TL_EINPUT, "%s: the header lacks %s", path, missing);
  if (!(v[NCOLS] >= 1 && v[NCOLS] < 1e9 && v[NROWS] >= 1 && v[NROWS] < 1e9))
    return tl_fail(TL_EINPUT, "%s: %g columns and %g rows make no raster", path, v[NCOLS],
                   v[NROWS]);
  h->columns = (int64_t)v[NCOLS];
  h->rows = (int64_t)v[NROWS];
  h->cell_x = seen[CELL] ? v[CELL] : v[DX];
  h->cell_y = seen[CELL] ? v[CELL] : v[DY];
  h->corner_x = seen[XCORNER] ? v[XCORNER] : v[XCENTER] - 0.5 * h->cell_x;
  h->corner_y = seen[YCORNER] ? v[YCORNER] : v[YCENTER] - 0.5 * h->cell_y;
  h->has_no_data = seen[VOID];
  return TL_OK;
}

/* The first height is already in r->word ("" when there is none). */
static TlStatus check_values(Reader *r, const TlAsciiHeader *h) {
  int64_t want = h->columns * h->rows, n = 0;
  double value;
  for (bool more = r->word[0] != 0; more; more = next_word(r), n++) {
    if (n >= want)
      return tl_fail(TL_EINPUT,
                     "%s: more values than the header's %" PRId64 " columns x %" PRId64
                     " rows; the header or the file is damaged",
                     r->path, h->columns, h->rows);
    if (!is_number(r->word, &value))
      return tl_fail(TL_EINPUT, "%s: row %" PRId64 ", column %" PRId64 ": '%s' is not a number",
                     r->path, n / h->columns + 1, n % h->columns + 1, r->word);
  }
  if (n < want)
    return tl_fail(TL_EINPUT,
                   "%s: the file ends in row %" PRId64 " of %" PRId64 ": %" PRId64 " of %" PRId64
                   " values are there; it is cut short",
                   r->path, n / h->columns + 1, h->rows, n, want);
  return TL_OK;
}

TlStatus tl_raster_check_ascii(const char *path, TlAsciiHeader *header) {
  Reader r = {.path = path, .file = fopen(path, "r")};
  if (!r.file) return tl_fail_errno(path, "cannot open");
  double values[KEYS] = {0};
  bool seen[KEYS] = {false};
  TlStatus status = read_keys(&r, values, seen);
  if (status == TL_OK) status = fill_header(path, values, seen, header);
  if (status == TL_OK) status = check_values(&r, header);
  if (status == TL_OK && ferror(r.file)) status = tl_fail_errno(path, "cannot read");
  fclose(r.file);
  return status;
}
