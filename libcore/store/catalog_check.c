/* Verdicts on the avatars: one row of numbers each. */
#include "store/catalog_impl.h"

#include "base/mem.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define CHECK_COLUMNS                                                                              \
  "gradient, node_cells, volume_gap, overlap_cells, overlap_share, agreement, elongation,"         \
  " flatness, sphericity, krumbein, convexity, roundness, inscribed"
enum { REALS = 14 }; /* and contact_width, which catalogs of schema 3 have not */

/* The real columns in the order of CHECK_COLUMNS; one list for writing and reading. */
static void reals_of(TlQuality *q, TlDescriptors *d, double *at[REALS]) {
  double *list[REALS] = {&q->gradient,      &q->node,      &q->volume,     &q->overlap_depth,
                         &q->overlap_share, &q->agreement, &d->elongation, &d->flatness,
                         &d->sphericity,    &d->krumbein,  &d->convexity,  &d->roundness,
                         &d->inscribed,     &q->contact};
  memcpy(at, list, sizeof list);
}

TlStatus tl_catalog_has_checks(TlCatalog *c, bool *there) {
  int64_t tables;
  TL_TRY(
      tl_sql_int(c, "SELECT count(*) FROM sqlite_master WHERE name = 'avatar_check'", 0, &tables));
  *there = tables > 0;
  return TL_OK;
}

TlStatus tl_catalog_has_contacts(TlCatalog *c, bool *there) {
  int64_t columns;
  TL_TRY(tl_sql_int(c,
                    "SELECT count(*) FROM pragma_table_info('avatar_check')"
                    " WHERE name = 'contact_width'",
                    0, &columns));
  *there = columns > 0;
  return TL_OK;
}

TlStatus tl_catalog_put_check(TlCatalog *c, int64_t id, const TlQuality *quality,
                              const TlDescriptors *descriptors) {
  sqlite3_stmt *s;
  TlQuality q = *quality;
  TlDescriptors d = *descriptors;
  double *real[REALS];
  TL_TRY(tl_sql_need_run(c));
  TL_TRY(tl_sql_prepare(c, &s,
                        "INSERT OR REPLACE INTO avatar_check (avatar_id, verdict, reason,"
                        " " CHECK_COLUMNS ", contact_width) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7,"
                        " ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)"));
  reals_of(&q, &d, real);
  sqlite3_bind_int64(s, 1, id);
  sqlite3_bind_text(s, 2, tl_verdict_name(q.verdict), -1, SQLITE_STATIC);
  sqlite3_bind_text(s, 3, q.reason, -1, SQLITE_STATIC);
  for (int i = 0; i < REALS; i++) sqlite3_bind_double(s, 4 + i, *real[i]); /* NaN binds as NULL */
  return tl_context(tl_sql_finish(c, s), "verdict on grain %lld", (long long)id);
}

static void read_check(sqlite3_stmt *s, TlQuality *q, TlDescriptors *d) {
  double *real[REALS];
  reals_of(q, d, real);
  const char *verdict = (const char *)sqlite3_column_text(s, 0);
  for (int v = 0; v < 3; v++)
    if (verdict && !strcmp(verdict, tl_verdict_name((TlVerdict)v))) q->verdict = (TlVerdict)v;
  const char *reason = (const char *)sqlite3_column_text(s, 1);
  snprintf(q->reason, sizeof q->reason, "%s", reason ? reason : "");
  for (int i = 0; i < REALS; i++)
    *real[i] = sqlite3_column_type(s, 2 + i) == SQLITE_NULL ? (double)NAN
                                                            : sqlite3_column_double(s, 2 + i);
}

TlStatus tl_catalog_get_check(TlCatalog *c, int64_t id, TlQuality *quality,
                              TlDescriptors *descriptors, bool *there) {
  sqlite3_stmt *s;
  TlGrainRow row;
  bool contacts;
  *quality = (TlQuality){0};
  *descriptors = (TlDescriptors){0};
  TL_TRY(tl_catalog_has_checks(c, there));
  if (!*there) return TL_OK;
  TL_TRY(tl_catalog_has_contacts(c, &contacts));
  TL_TRY(tl_sql_prepare(c, &s,
                        contacts ? "SELECT verdict, reason, " CHECK_COLUMNS
                                   ", contact_width FROM avatar_check WHERE avatar_id = ?"
                                 : "SELECT verdict, reason, " CHECK_COLUMNS
                                   ", NULL FROM avatar_check WHERE avatar_id = ?"));
  sqlite3_bind_int64(s, 1, id);
  TlStatus status = tl_sql_step(c, s, there);
  if (status == TL_OK && *there) read_check(s, quality, descriptors);
  sqlite3_finalize(s);
  TL_TRY(status);
  if (!*there) return TL_OK;
  TL_TRY(tl_catalog_grain(c, id, &row)); /* what the avatar's own row holds */
  descriptors->diameter_m = cbrt(6 * row.volume_m3 / M_PI);
  memcpy(descriptors->axes_m, row.axes_m, sizeof row.axes_m);
  return TL_OK;
}

TlStatus tl_catalog_count_verdicts(TlCatalog *c, const char *sample, int64_t count[3]) {
  TlGrainQuery all = {.sample = sample, .with_border = true, .with_rejected = true};
  bool there;
  TL_TRY(tl_catalog_count_grains(c, &all, &count[TL_GOOD]));
  count[TL_DOUBTFUL] = count[TL_REJECTED] = 0;
  TL_TRY(tl_catalog_has_checks(c, &there));
  for (int v = TL_DOUBTFUL; there && v <= TL_REJECTED; v++) {
    sqlite3_stmt *s;
    bool row = false;
    TL_TRY(tl_sql_prepare(c, &s,
                          "SELECT count(*) FROM avatar_check JOIN avatar ON id = avatar_id WHERE"
                          " verdict = ?1 AND (?2 IS NULL OR"
                          " sample_id = (SELECT id FROM sample WHERE name = ?2))"));
    sqlite3_bind_text(s, 1, tl_verdict_name((TlVerdict)v), -1, SQLITE_STATIC);
    if (sample) sqlite3_bind_text(s, 2, sample, -1, SQLITE_STATIC);
    TlStatus status = tl_sql_step(c, s, &row);
    if (status == TL_OK && row) count[v] = sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    TL_TRY(status);
    count[TL_GOOD] -= count[v];
  }
  return TL_OK;
}
