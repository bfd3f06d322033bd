#include "post/departures.h"

#include "base/file.h"
#include "base/mem.h"
#include "io/csv_table.h"
#include "num/sort.h"

#include <stdlib.h>

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
    if (tl_leaving_of(tl_table_text(t, i, reason)) == TL_STAYS)
      return tl_fail(TL_EINPUT, "%s:%lld: reason '%s' is none that this version knows", t->path,
                     (long long)t->line[i], tl_table_text(t, i, reason));
    d->row[d->count++] = (TlDeparture){.step = (int64_t)x[STEP],
                                       .id = (int64_t)x[ID],
                                       .avatar_id = (int64_t)x[AVATAR],
                                       .material = (int32_t)of,
                                       .scale = x[SCALE],
                                       .position_m = tl_vec3(x[X], x[Y], x[Z]),
                                       .reason = tl_leaving_of(tl_table_text(t, i, reason)),
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

typedef enum Group { OUTSIDE, IN_SINKS, DROPPED, GROUPS } Group;
static const char *const group_keys[GROUPS] = {"grains_outside_ids", "grains_in_sinks_ids",
                                               "grains_dropped_ids"};

static Group group_of(const TlDeparture *d) {
  if (tl_departure_outside(d)) return OUTSIDE;
  return tl_departure_unresolved(d) ? DROPPED : IN_SINKS;
}

/* id: space for one of each row. */
static TlStatus report_group(const TlDepartures *d, int64_t count, Group group, const char *folder,
                             int64_t *id, TlReport *report) {
  int64_t n = 0;
  for (int64_t i = 0; i < count; i++)
    if (group_of(&d->row[i]) == group) id[n++] = d->row[i].id;
  if (n == 0) return TL_OK;
  qsort(id, (size_t)n, sizeof *id, tl_by_int);
  char *text = list_of(id, n, folder);
  TlStatus status = text ? tl_report_text(report, group_keys[group], text) : TL_ENOMEM;
  tl_free(text);
  return status;
}

TlStatus tl_departures_report(const TlDepartures *d, int64_t count, const char *folder,
                              TlReport *report) {
  int64_t *id;
  TL_TRY(TL_NEW(id, (size_t)count));
  TlStatus status = TL_OK;
  for (int group = 0; status == TL_OK && group < GROUPS; group++)
    status = report_group(d, count, (Group)group, folder, id, report);
  tl_free(id);
  return status;
}
