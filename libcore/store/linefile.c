#include "store/linefile.h"

#include "base/claims.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "store/results.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

static const char *const names[TL_TABLES] = {[TL_TABLE_HISTORY] = "history.csv",
                                             [TL_TABLE_DEPARTURES] = "departures.csv",
                                             [TL_TABLE_BOUNDARY] = "boundary.csv",
                                             [TL_TABLE_CONSTRAINT] = "constraint.csv",
                                             [TL_TABLE_CELLS] = "cells.csv",
#define A(id, key, title, params, sections) [TL_TABLE_##id] = #key ".csv",
                                             TL_APPARATUSES(A)
#undef A
};

TlLineFile tl_linefile(int table) {
  return (TlLineFile){.name = names[table]};
}

bool tl_linefile_is(const char *name) {
  for (int t = 0; t < TL_TABLES; t++)
    if (strcmp(name, names[t]) == 0) return true;
  return false;
}

static TlStatus place(TlLineFile *t, const char *folder, const char *header) {
  tl_linefile_close(t);
  t->path = tl_path_join(folder, t->name);
  t->columns = 1;
  for (const char *c = header; *c; c++) t->columns += *c == ',';
  return t->path ? TL_OK : TL_ENOMEM;
}

static TlStatus cannot(const TlLineFile *t, const char *what) {
  return tl_fail(TL_EIO, "%s: cannot %s: %s", t->path, what, strerror(errno));
}

/* ---- lines in memory ---- */

static TlStatus add(TlLineText *lines, const char *text) {
  size_t length = strlen(text);
  TL_TRY(TL_RESERVE(lines->text, lines->capacity, lines->used + length + 1));
  memcpy(lines->text + lines->used, text, length + 1);
  lines->used += length;
  return TL_OK;
}

TlStatus tl_linetext_add(TlLineText *lines, const double *values, int count, const char *last) {
  char text[40];
  for (int i = 0; i < count; i++) {
    if (i) TL_TRY(add(lines, ","));
    tl_text_real(text, values[i]);
    TL_TRY(add(lines, isnan(values[i]) ? "" : text));
  }
  if (last) {
    TL_TRY(add(lines, ","));
    TL_TRY(add(lines, last));
  }
  return add(lines, "\n");
}

/* ---- the file ---- */

/* Writes the line that was made. */
static TlStatus put_line(TlLineFile *t) {
  long start = ftell(t->file);
  if (start >= 0 && fwrite(t->line.text, 1, t->line.used, t->file) == t->line.used) return TL_OK;
  TlStatus status = cannot(t, "write");
  if (start >= 0 && ftruncate(fileno(t->file), start) == 0 && fseek(t->file, start, SEEK_SET) == 0)
    return status;
  return tl_context(status, "part of a line may stand at the end of the table");
}

TlStatus tl_linefile_begin(TlLineFile *t, const char *folder, const char *header) {
  TL_TRY(place(t, folder, header));
  t->file = fopen(t->path, "wx"); /* what was there is gone by now; no link is followed */
  if (!t->file) return tl_fail_errno(t->path, "cannot create");
  setvbuf(t->file, NULL, _IONBF, 0);
  TL_TRY(add(&t->line, header));
  TL_TRY(add(&t->line, "\n"));
  TL_TRY(put_line(t));
  return tl_claim_made(t->path);
}

TlStatus tl_linefile_line(TlLineFile *t, const double *values, int count, const char *last) {
  if (!t->file || count + (last != NULL) != t->columns)
    return tl_fail(TL_EUSAGE, "%s: %d values for %d columns", t->path ? t->path : t->name, count,
                   t->columns);
  t->line.used = 0;
  TL_TRY(tl_linetext_add(&t->line, values, count, last));
  return put_line(t);
}

TlStatus tl_linefile_bytes(TlLineFile *t, bool sync, int64_t *bytes) {
  *bytes = 0;
  if (!t->file) return TL_OK;
  long at = ftell(t->file);
  if (at < 0 || (sync && fsync(fileno(t->file)) != 0)) return cannot(t, "write");
  *bytes = at;
  return TL_OK;
}

TlStatus tl_linefile_pass(TlLineFile *t, int64_t bytes) {
  return fseek(t->file, bytes, SEEK_CUR) == 0 ? TL_OK : cannot(t, "write");
}

TlStatus tl_linefile_cut(TlLineFile *t) {
  long end = ftell(t->file);
  return end >= 0 && ftruncate(fileno(t->file), end) == 0 ? TL_OK : cannot(t, "cut");
}

static TlStatus unfit(const TlLineFile *t, const char *what) {
  return tl_fail(TL_EINPUT, "%s: %s; start the study anew, with --overwrite", t->path, what);
}

TlStatus tl_linefile_resume(TlLineFile *t, const char *folder, const char *header, int64_t bytes) {
  char line[4096] = "";
  TL_TRY(place(t, folder, header));
  TL_TRY(tl_claim_replace(t->path)); /* a link may lead to a table that the run reads */
  t->file = fopen(t->path, "r+");
  if (!t->file) return tl_fail_errno(t->path, "cannot open");
  setvbuf(t->file, NULL, _IONBF, 0);
  if (!fgets(line, sizeof line, t->file) && ferror(t->file)) return cannot(t, "read");
  if (strncmp(line, header, strlen(header)) != 0 || line[strlen(header)] != '\n')
    return unfit(t, "has other columns than this program writes");
  long end = fseek(t->file, 0, SEEK_END) == 0 ? ftell(t->file) : -1;
  if (end < 0) return cannot(t, "read");
  if (end < bytes) return unfit(t, "is shorter than when the state was saved");
  if (fseek(t->file, bytes, SEEK_SET) != 0 || ftruncate(fileno(t->file), bytes) != 0)
    return cannot(t, "cut");
  return tl_claim_made(t->path);
}

void tl_linefile_close(TlLineFile *t) {
  if (t->file) fclose(t->file);
  tl_free(t->path);
  tl_free(t->line.text);
  *t = (TlLineFile){.name = t->name};
}
