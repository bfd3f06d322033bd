#include "io/csv.h"

#include "base/text.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void tl_csv_real(char text[40], double value) {
  text[0] = 0;
  if (!isnan(value)) tl_text_real(text, value);
}

bool tl_csv_put_text(FILE *to, const char *text) {
  char shown[TL_TEXT_SHOWN];
  bool whole = fputc('"', to) != EOF;
  while (*text) {
    text = tl_text_shown(text, shown);
    whole = fputs(strcmp(shown, "\"") == 0 ? "\"\"" : shown, to) != EOF && whole;
  }
  return fputc('"', to) != EOF && whole;
}

TlStatus tl_csv_begin(TlCsv *csv, const char *path, bool overwrite, const char *header) {
  *csv = (TlCsv){.columns = 1};
  for (const char *c = header; *c; c++) csv->columns += *c == ',';
  TL_TRY(tl_outfile_begin(&csv->out, path, overwrite));
  csv->file = fopen(csv->out.temp, "w");
  if (csv->file && fprintf(csv->file, "%s\n", header) > 0) return TL_OK;
  TlStatus status = tl_fail_errno(path, "cannot write");
  tl_csv_abort(csv);
  return status;
}

TlStatus tl_csv_row(TlCsv *csv, const double *values, int count) {
  assert(count == csv->columns);
  for (int i = 0; i < count; i++) {
    char text[40];
    tl_csv_real(text, values[i]);
    if (fprintf(csv->file, "%s%s", text, i == count - 1 ? "\n" : ",") < 0)
      return tl_fail_errno(csv->out.path, "cannot write");
  }
  return TL_OK;
}

TlStatus tl_csv_commit(TlCsv *csv) {
  TlStatus status = TL_OK;
  bool lost = ferror(csv->file) != 0; /* of which fclose says nothing */
  lost = fclose(csv->file) != 0 || lost;
  csv->file = NULL;
  if (lost) status = tl_fail_errno(csv->out.path, "cannot write");
  if (status == TL_OK) return tl_outfile_commit(&csv->out);
  tl_csv_abort(csv);
  return status;
}

void tl_csv_abort(TlCsv *csv) {
  if (csv->file) fclose(csv->file);
  csv->file = NULL;
  tl_outfile_abort(&csv->out);
}
