#include "store/catalog_impl.h"

#include "base/mem.h"

#include <string.h>

static TlStatus drop_sample(TlCatalog *c, const char *name, bool replace) {
  sqlite3_stmt *s;
  TL_TRY(tl_sql_prepare(c, &s, "DELETE FROM sample WHERE name = ?"));
  sqlite3_bind_text(s, 1, name, -1, SQLITE_STATIC);
  TL_TRY(tl_sql_finish(c, s));
  if (!replace && sqlite3_changes(c->db) > 0)
    return tl_fail(TL_EUSAGE,
                   "%s: sample '%s' is already there; replace it (--overwrite; of talus-catalog "
                   "import --replace), or take another name",
                   c->path, name);
  return TL_OK;
}

static TlStatus insert_sample(TlCatalog *c, const char *name, const double voxel_m[3],
                              int64_t *id) {
  sqlite3_stmt *s;
  TL_TRY(tl_sql_prepare(c, &s,
                        "INSERT INTO sample (name, run_id, voxel_x_m, voxel_y_m, voxel_z_m)"
                        " VALUES (?, ?, ?, ?, ?)"));
  sqlite3_bind_text(s, 1, name, -1, SQLITE_STATIC);
  sqlite3_bind_int64(s, 2, c->run_id);
  for (int i = 0; i < 3; i++) sqlite3_bind_double(s, 3 + i, voxel_m[i]);
  TL_TRY(tl_sql_finish(c, s));
  *id = sqlite3_last_insert_rowid(c->db);
  return TL_OK;
}

TlStatus tl_catalog_sample(TlCatalog *c, const char *sample, bool replace, const double voxel_m[3],
                           int64_t *sample_id) {
  TL_TRY(tl_sql_need_run(c));
  TL_TRY(tl_sql_savepoint(c));
  TlStatus status = drop_sample(c, sample, replace);
  if (status == TL_OK) status = insert_sample(c, sample, voxel_m, sample_id);
  return tl_sql_release(c, status);
}

TlStatus tl_catalog_remove_sample(TlCatalog *c, const char *sample, int64_t *avatars) {
  TL_TRY(tl_sql_need_run(c));
  TL_TRY(
      tl_catalog_count_grains(c, &(TlGrainQuery){.sample = sample, .with_border = true}, avatars));
  return drop_sample(c, sample, true);
}

/* ---- an avatar: one row of numbers, three blobs ---- */

#define AVATAR_COLUMNS                                                                             \
  "id, sample_id, label, border, nx, ny, nz, node_count, spacing_m, origin_x_m, origin_y_m,"       \
  " origin_z_m, phi_error_m, gradient_max, volume_m3, area_m2, inertia_1_m5, inertia_2_m5,"        \
  " inertia_3_m5, radius_m, scan_x_m, scan_y_m, scan_z_m, scan_qw, scan_qx, scan_qy, scan_qz,"     \
  " axis_a_m, axis_b_m, axis_c_m"
enum { FIRST_REAL = 8, REALS = 22 };

/* The real columns in the order of AVATAR_COLUMNS; one list for writing and reading. */
static void reals_of(TlAvatar *a, double *at[REALS]) {
  double *list[REALS] = {
      &a->spacing_m,         &a->origin_m.x,        &a->origin_m.y,        &a->origin_m.z,
      &a->phi_error_m,       &a->gradient_max,      &a->volume_m3,         &a->area_m2,
      &a->inertia_m5.x,      &a->inertia_m5.y,      &a->inertia_m5.z,      &a->radius_m,
      &a->scan_centroid_m.x, &a->scan_centroid_m.y, &a->scan_centroid_m.z, &a->scan_rotation.w,
      &a->scan_rotation.x,   &a->scan_rotation.y,   &a->scan_rotation.z,   &a->axes_m[0],
      &a->axes_m[1],         &a->axes_m[2]};
  memcpy(at, list, sizeof list);
}

static TlStatus insert_row(TlCatalog *c, int64_t sample_id, const TlAvatar *avatar, int64_t *id) {
  sqlite3_stmt *s;
  TL_TRY(tl_sql_prepare(c, &s,
                        "INSERT INTO avatar (run_id, " AVATAR_COLUMNS ") VALUES (?1, NULL, ?3, ?4,"
                        " ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19,"
                        " ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30, ?31)"));
  TlAvatar copy = *avatar;
  double *real[REALS];
  reals_of(&copy, real);
  const int64_t whole[] = {sample_id, copy.label, copy.border,    copy.nx,
                           copy.ny,   copy.nz,    copy.node_count};
  sqlite3_bind_int64(s, 1, c->run_id);
  for (int i = 0; i < 7; i++) sqlite3_bind_int64(s, 3 + i, whole[i]);
  for (int i = 0; i < REALS; i++) sqlite3_bind_double(s, 2 + FIRST_REAL + i, *real[i]);
  TL_TRY(tl_sql_finish(c, s));
  *id = sqlite3_last_insert_rowid(c->db);
  return TL_OK;
}

static TlBlobKey blob_key(int64_t id, const char *kind) {
  return (TlBlobKey){"avatar_blob", "avatar_id", id, kind};
}

static TlStatus insert_blobs(TlCatalog *c, int64_t id, const TlAvatar *a) {
  int64_t points = (int64_t)a->nx * a->ny * a->nz;
  TL_TRY(tl_blob_put(c, blob_key(id, "phi"), a->phi, points, sizeof *a->phi));
  TL_TRY(tl_blob_put(c, blob_key(id, "node"), a->node_m, 3 * (int64_t)a->node_count,
                     sizeof *a->node_m));
  return tl_blob_put(c, blob_key(id, "node_area"), a->node_area_m2, a->node_count,
                     sizeof *a->node_area_m2);
}

TlStatus tl_catalog_add_avatar(TlCatalog *c, int64_t sample_id, const TlAvatar *avatar,
                               int64_t *id) {
  TL_TRY(tl_sql_need_run(c));
  TL_TRY(tl_context(tl_avatar_check(avatar), "%s: grain of label %u is refused", c->path,
                    avatar->label));
  TL_TRY(tl_sql_savepoint(c));
  TlStatus status = insert_row(c, sample_id, avatar, id);
  if (status == TL_OK) status = insert_blobs(c, *id, avatar);
  return tl_sql_release(c, tl_context(status, "grain of label %u", avatar->label));
}

/* A whole number of the row that fits 32 bits. */
static bool read_whole(sqlite3_stmt *s, int column, int32_t *value) {
  int64_t x = sqlite3_column_int64(s, column);
  *value = (int32_t)x;
  return x >= 0 && x <= INT32_MAX;
}

/* The numbers of a row, which make sense by themselves; TL_EINPUT names the grain. */
static TlStatus read_row(TlCatalog *c, sqlite3_stmt *s, TlAvatar *a, int64_t *sample_id) {
  double *real[REALS];
  int64_t points, label = sqlite3_column_int64(s, 2);
  reals_of(a, real);
  a->id = sqlite3_column_int64(s, 0);
  *sample_id = sqlite3_column_int64(s, 1);
  a->label = (uint32_t)label;
  a->border = sqlite3_column_int64(s, 3) != 0;
  bool whole = label >= 0 && label <= UINT32_MAX;
  whole = read_whole(s, 4, &a->nx) && whole;
  whole = read_whole(s, 5, &a->ny) && whole;
  whole = read_whole(s, 6, &a->nz) && whole;
  whole = read_whole(s, 7, &a->node_count) && whole;
  for (int i = 0; i < REALS; i++) *real[i] = sqlite3_column_double(s, FIRST_REAL + i);
  TlStatus status = whole
                        ? tl_avatar_check_numbers(a, &points)
                        : tl_fail(TL_EINPUT, "its label, grid size or node count is out of range");
  return tl_context(status, "%s: grain %lld", c->path, (long long)a->id);
}

/* The row of one grain; arrays stay NULL. */
static TlStatus find_avatar(TlCatalog *c, int64_t id, TlAvatar *a, int64_t *sample_id) {
  sqlite3_stmt *s;
  TL_TRY(tl_sql_prepare(c, &s, "SELECT " AVATAR_COLUMNS " FROM avatar WHERE id = ?"));
  sqlite3_bind_int64(s, 1, id);
  bool row = false;
  TlStatus status = tl_sql_step(c, s, &row);
  if (status == TL_OK && row) status = read_row(c, s, a, sample_id);
  if (status == TL_OK && !row)
    status = tl_fail(TL_EINPUT, "%s: there is no grain %lld; talus-catalog list shows which are",
                     c->path, (long long)id);
  sqlite3_finalize(s);
  return status;
}

static TlStatus read_blobs(TlCatalog *c, TlAvatar *a) {
  void *phi = NULL, *node = NULL, *area = NULL;
  int64_t points, nodes = a->node_count;
  TL_TRY(tl_avatar_check_numbers(a, &points));
  TlStatus status = tl_blob_get(c, blob_key(a->id, "phi"), &phi, points, sizeof *a->phi);
  if (status == TL_OK)
    status = tl_blob_get(c, blob_key(a->id, "node"), &node, 3 * nodes, sizeof *a->node_m);
  if (status == TL_OK)
    status = tl_blob_get(c, blob_key(a->id, "node_area"), &area, nodes, sizeof *a->node_area_m2);
  a->phi = phi;
  a->node_m = node;
  a->node_area_m2 = area;
  return status;
}

TlStatus tl_catalog_load_avatar(TlCatalog *c, int64_t id, TlAvatar *avatar) {
  int64_t sample_id;
  *avatar = (TlAvatar){0};
  TL_TRY(find_avatar(c, id, avatar, &sample_id));
  TlStatus status = read_blobs(c, avatar);
  if (status == TL_OK) status = tl_avatar_check(avatar);
  if (status != TL_OK) tl_avatar_free(avatar);
  return tl_context(status, "%s: grain %lld", c->path, (long long)id);
}

/* ---- rows without grids ---- */

static TlGrainRow row_of(const TlAvatar *a, int64_t sample_id) {
  TlGrainRow row = {.id = a->id,
                    .sample_id = sample_id,
                    .label = a->label,
                    .border = a->border,
                    .volume_m3 = a->volume_m3,
                    .area_m2 = a->area_m2,
                    .radius_m = a->radius_m,
                    .spacing_m = a->spacing_m,
                    .inertia_m5 = a->inertia_m5,
                    .scan_centroid_m = a->scan_centroid_m,
                    .scan_rotation = a->scan_rotation,
                    .node_count = a->node_count};
  memcpy(row.axes_m, a->axes_m, sizeof row.axes_m);
  return row;
}

TlStatus tl_catalog_grain(TlCatalog *c, int64_t id, TlGrainRow *row) {
  TlAvatar avatar = {0};
  int64_t sample_id;
  TL_TRY(find_avatar(c, id, &avatar, &sample_id));
  *row = row_of(&avatar, sample_id);
  return TL_OK;
}

/* ?1 sample or NULL, ?2 border too, ?3 and ?4 volume bounds, ?5 limit or -1, ?6 offset. */
#define GRAINS_WHERE                                                                               \
  " FROM avatar WHERE (?1 IS NULL OR sample_id = (SELECT id FROM sample WHERE name = ?1))"         \
  " AND (?2 OR border = 0) AND volume_m3 >= ?3 AND volume_m3 <= ?4%s"
/* Only where the catalog has verdicts. */
#define NOT_REJECTED                                                                               \
  " AND id NOT IN (SELECT avatar_id FROM avatar_check WHERE verdict = 'rejected')"

static double sphere_volume(double diameter) {
  return M_PI / 6 * diameter * diameter * diameter;
}

static TlStatus check_sample(TlCatalog *c, const char *sample) {
  if (!sample) return TL_OK;
  sqlite3_stmt *s;
  TL_TRY(tl_sql_prepare(c, &s, "SELECT id FROM sample WHERE name = ?"));
  sqlite3_bind_text(s, 1, sample, -1, SQLITE_STATIC);
  bool row = false;
  TlStatus status = tl_sql_step(c, s, &row);
  sqlite3_finalize(s);
  if (status == TL_OK && !row)
    return tl_fail(TL_EINPUT, "%s: there is no sample '%s'; talus-catalog list shows which are",
                   c->path, sample);
  return status;
}

static TlStatus prepare_query(TlCatalog *c, sqlite3_stmt **s, const char *sql,
                              const TlGrainQuery *q) {
  TL_TRY(check_sample(c, q->sample));
  bool there = false;
  if (!q->with_rejected) TL_TRY(tl_catalog_has_checks(c, &there));
  char *full = tl_format(sql, there ? NOT_REJECTED : "");
  if (!full) return TL_ENOMEM;
  TlStatus status = tl_sql_prepare(c, s, full);
  tl_free(full);
  TL_TRY(status);
  if (q->sample) sqlite3_bind_text(*s, 1, q->sample, -1, SQLITE_STATIC);
  sqlite3_bind_int(*s, 2, q->with_border);
  sqlite3_bind_double(*s, 3, sphere_volume(q->least_diameter_m));
  sqlite3_bind_double(*s, 4, q->most_diameter_m > 0 ? sphere_volume(q->most_diameter_m) : 1e300);
  sqlite3_bind_int64(*s, 5, q->limit > 0 ? q->limit : -1);
  sqlite3_bind_int64(*s, 6, q->offset);
  return TL_OK;
}

TlStatus tl_catalog_count_grains(TlCatalog *c, const TlGrainQuery *query, int64_t *count) {
  sqlite3_stmt *s;
  *count = 0;
  TL_TRY(prepare_query(c, &s, "SELECT count(*) FROM (SELECT id" GRAINS_WHERE " LIMIT ?5 OFFSET ?6)",
                       query));
  bool row = false;
  TlStatus status = tl_sql_step(c, s, &row);
  if (status == TL_OK && row) *count = sqlite3_column_int64(s, 0);
  sqlite3_finalize(s);
  return status;
}

TlStatus tl_catalog_walk_grains(TlCatalog *c, const TlGrainQuery *query,
                                TlStatus (*visit)(void *context, const TlGrainRow *row),
                                void *context) {
  sqlite3_stmt *s;
  TL_TRY(prepare_query(
      c, &s, "SELECT " AVATAR_COLUMNS GRAINS_WHERE " ORDER BY id LIMIT ?5 OFFSET ?6", query));
  int64_t last = INT64_MIN;
  TlStatus status;
  for (bool more; (status = tl_sql_next(c, s, &more, &last)) == TL_OK && more;) {
    TlAvatar avatar = {0};
    int64_t sample_id;
    if ((status = read_row(c, s, &avatar, &sample_id)) != TL_OK) break;
    TlGrainRow row = row_of(&avatar, sample_id);
    if ((status = visit(context, &row)) != TL_OK) break;
  }
  sqlite3_finalize(s);
  return status;
}

TlStatus tl_catalog_walk_samples(TlCatalog *c,
                                 TlStatus (*visit)(void *context, const TlSampleRow *row),
                                 void *context) {
  sqlite3_stmt *s;
  TL_TRY(tl_sql_prepare(c, &s,
                        "SELECT id, name, voxel_x_m, voxel_y_m, voxel_z_m,"
                        " (SELECT count(*) FROM avatar WHERE sample_id = sample.id),"
                        " (SELECT count(*) FROM avatar WHERE sample_id = sample.id AND border = 1)"
                        " FROM sample ORDER BY id"));
  int64_t last = INT64_MIN;
  TlStatus status;
  for (bool more; (status = tl_sql_next(c, s, &more, &last)) == TL_OK && more;) {
    TlSampleRow row = {.id = sqlite3_column_int64(s, 0),
                       .name = (const char *)sqlite3_column_text(s, 1),
                       .grains = sqlite3_column_int64(s, 5),
                       .border_grains = sqlite3_column_int64(s, 6)};
    for (int i = 0; i < 3; i++) row.voxel_m[i] = sqlite3_column_double(s, 2 + i);
    if ((status = visit(context, &row)) != TL_OK) break;
  }
  sqlite3_finalize(s);
  return status;
}
