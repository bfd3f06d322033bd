#include "post/departures.h"

#include "base/file.h"
#include "base/mem.h"
#include "io/csv_table.h"

#include <stdlib.h>
#include <string.h>

enum { STEP, ID, AVATAR, SCALE, X, Y, Z, REMOVED, NUMBERS };
static const char *const columns[NUMBERS] = {"step", "id",  "avatar_id", "scale",
                                             "x_m",  "y_m", "z_m",       "removed"};

static TlStatus take_rows(const TlTable *t, TlDepartures *d) {
  int column[NUMBERS], reason;
  for (int c = 0; c < NUMBERS; c++) TL_TRY(tl_table_need(t, columns[c], &column[c]));
  TL_TRY(tl_table_need(t, "reason", &reason));
  int material = tl_table_column(t, "material"); /* older versions have none */
  TL_TRY(TL_NEW(d->row, (size_t)t->rows));
  for (int64_t i = 0; i < t->rows; i++) {
    double x[NUMBERS], of = 0;
    if (material >= 0) TL_TRY(tl_table_number(t, i, material, &of));
    for (int c = 0; c < NUMBERS; c++) TL_TRY(tl_table_number(t, i, column[c], &x[c]));
    d->row[d->count++] =
        (TlDeparture){.step = (int64_t)x[STEP],
                      .id = (int64_t)x[ID],
                      .avatar_id = (int64_t)x[AVATAR],
                      .material = (int32_t)of,
                      .scale = x[SCALE],
                      .position_m = tl_vec3(x[X], x[Y], x[Z]),
                      .outside = strncmp(tl_table_text(t, i, reason), "left", 4) == 0,
                      .removed = x[REMOVED] != 0};
  }
  return TL_OK;
}

TlStatus tl_departures_read(const char *folder, TlDepartures *departures) {
  *departures = (TlDepartures){0};
  TlTable table = {0};
  char *path = tl_path_join(folder, "departures.csv");
  if (!path) return TL_ENOMEM;
  departures->there = tl_file_exists(path);
  TlStatus status = departures->there ? tl_table_read_growing(path, &table) : TL_OK;
  if (status == TL_OK && departures->there) status = take_rows(&table, departures);
  tl_table_free(&table);
  tl_free(path);
  if (status != TL_OK) tl_departures_free(departures);
  return status;
}

void tl_departures_free(TlDepartures *departures) {
  tl_free(departures->row);
  *departures = (TlDepartures){0};
}

int64_t tl_departures_until(const TlDepartures *d, int64_t step) {
  int64_t n = 0;
  while (n < d->count && d->row[n].step <= step) n++;
  return n;
}

static int rising(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

/* "3, 17, 20 and 5 more (RUN/departures.csv)" of sorted ids; NULL: memory is out. */
static char *list_of(const int64_t *id, int64_t n, const char *folder) {
  enum { NAMED = 20 };
  char *text = tl_strdup("");
  for (int64_t i = 0; text && i < n && i <= NAMED; i++) {
    char *longer = i < NAMED ? tl_format("%s%s%lld", text, i ? ", " : "", (long long)id[i])
                             : tl_format("%s and %lld more (%s/departures.csv)", text,
                                         (long long)(n - i), folder);
    tl_free(text);
    text = longer;
  }
  return text;
}

TlStatus tl_departures_report(const TlDepartures *d, int64_t count, const char *folder,
                              TlReport *report) {
  int64_t *id;
  TL_TRY(TL_NEW(id, (size_t)count));
  TlStatus status = TL_OK;
  for (int outside = 1; status == TL_OK && outside >= 0; outside--) {
    int64_t n = 0;
    for (int64_t i = 0; i < count; i++)
      if (d->row[i].outside == outside) id[n++] = d->row[i].id;
    qsort(id, (size_t)n, sizeof *id, rising);
    char *text = n ? list_of(id, n, folder) : NULL;
    if (n)
      status =
          text ? tl_report_text(report, outside ? "grains_outside_ids" : "grains_dropped_ids", text)
               : TL_ENOMEM;
    tl_free(text);
  }
  tl_free(id);
  return status;
}
