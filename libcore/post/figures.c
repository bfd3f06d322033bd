#include "post/figures.h"

#include "base/mem.h"
#include "io/csv.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

TlStatus tl_figures_add(TlFigures *f, const char *name, double value, const char *unit,
                        const char *source) {
  TL_TRY(TL_RESERVE(f->item, f->capacity, (size_t)f->count + 1));
  TlFigure *to = &f->item[f->count++];
  *to = (TlFigure){.value = value, .unit = unit, .source = source};
  int used = snprintf(to->name, sizeof to->name, "%s", name);
  assert(used < (int)sizeof to->name);
  (void)used;
  return TL_OK;
}

bool tl_figures_has(const TlFigures *f, const char *name) {
  for (int64_t i = 0; i < f->count; i++)
    if (strcmp(f->item[i].name, name) == 0) return true;
  return false;
}

double tl_figures_get(const TlFigures *f, const char *name) {
  for (int64_t i = 0; i < f->count; i++)
    if (strcmp(f->item[i].name, name) == 0) return f->item[i].value;
  return NAN;
}

void tl_figures_free(TlFigures *f) {
  tl_free(f->item);
  *f = (TlFigures){0};
}

/* Sources hold commas at times: quoted. */
TlStatus tl_figures_write(const TlFigures *f, const char *path, bool overwrite) {
  TlOutFile out;
  TL_TRY(tl_outfile_begin(&out, path, overwrite));
  FILE *to = fopen(out.temp, "w");
  bool good = to && fprintf(to, "name,value,unit,source\n") > 0;
  for (int64_t i = 0; i < f->count && good; i++) {
    char value[40];
    tl_csv_real(value, f->item[i].value);
    good = fprintf(to, "%s,%s,%s,\"%s\"\n", f->item[i].name, value, f->item[i].unit,
                   f->item[i].source) > 0;
  }
  if (to && fclose(to) != 0) good = false;
  TlStatus status = good ? TL_OK : tl_fail_errno(path, "cannot write");
  if (status == TL_OK) status = tl_outfile_commit(&out);
  tl_outfile_abort(&out);
  return status;
}
