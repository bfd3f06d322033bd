#include "store/catalog_impl.h"

#include "base/mem.h"

#include <string.h>

#define TERRAIN_COLUMNS                                                                            \
  "name, crs, nx, ny, holes_filled, bnx, bny, band_count, origin_x, origin_y, origin_z, cell_m,"   \
  " x0_m, y0_m, band_m, band_spacing_m, z0_m"
enum { FIRST_WHOLE = 2, WHOLES = 6, FIRST_REAL = 8, REALS = 9 };

static void numbers_of(TlTerrain *t, int64_t *whole[WHOLES], double *real[REALS]) {
  int64_t *wholes[WHOLES] = {&t->nx, &t->ny, &t->holes_filled, &t->bnx, &t->bny, &t->band_count};
  double *reals[REALS] = {&t->origin[0], &t->origin[1], &t->origin[2],      &t->cell_m, &t->x0_m,
                          &t->y0_m,      &t->band_m,    &t->band_spacing_m, &t->z0_m};
  memcpy(whole, wholes, sizeof wholes);
  memcpy(real, reals, sizeof reals);
}

static TlBlobKey blob_key(int64_t id, const char *kind) {
  return (TlBlobKey){"terrain_blob", "terrain_id", id, kind};
}

static TlStatus drop_terrain(TlCatalog *c, const char *name, bool replace) {
  sqlite3_stmt *s;
  TL_TRY(tl_sql_prepare(c, &s, "DELETE FROM terrain WHERE name = ?"));
  sqlite3_bind_text(s, 1, name, -1, SQLITE_STATIC);
  TL_TRY(tl_sql_finish(c, s));
  if (!replace && sqlite3_changes(c->db) > 0)
    return tl_fail(TL_EUSAGE,
                   "%s: terrain '%s' is already there; give --overwrite to replace it, "
                   "or another name",
                   c->path, name);
  return TL_OK;
}

static TlStatus insert_row(TlCatalog *c, const TlTerrain *terrain, int64_t *id) {
  sqlite3_stmt *s;
  TL_TRY(tl_sql_prepare(c, &s,
                        "INSERT INTO terrain (" TERRAIN_COLUMNS ", run_id) VALUES"
                        " (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
  TlTerrain copy = *terrain;
  int64_t *whole[WHOLES];
  double *real[REALS];
  numbers_of(&copy, whole, real);
  sqlite3_bind_text(s, 1, copy.name, -1, SQLITE_STATIC);
  sqlite3_bind_text(s, 2, copy.crs ? copy.crs : "", -1, SQLITE_STATIC);
  for (int i = 0; i < WHOLES; i++) sqlite3_bind_int64(s, 1 + FIRST_WHOLE + i, *whole[i]);
  for (int i = 0; i < REALS; i++) sqlite3_bind_double(s, 1 + FIRST_REAL + i, *real[i]);
  sqlite3_bind_int64(s, 1 + FIRST_REAL + REALS, c->run_id);
  TL_TRY(tl_sql_finish(c, s));
  *id = sqlite3_last_insert_rowid(c->db);
  return TL_OK;
}

static TlBlobKey class_key(int64_t id) {
  return (TlBlobKey){"terrain_class", "terrain_id", id, "class"};
}

static TlBlobKey filled_key(int64_t id) {
  return (TlBlobKey){"terrain_filled", "terrain_id", id, "filled"};
}

/* A value a sample from a table that catalogs of older schemas, open for reading, do not have; NULL:
 * there is none of this terrain. */
static TlStatus read_samples(TlCatalog *c, TlBlobKey key, const TlTerrain *t, size_t width,
                             void **values) {
  char sql[96];
  int64_t there = 0;
  *values = NULL;
  sqlite3_snprintf(sizeof sql, sql, "SELECT count(*) FROM sqlite_master WHERE name = '%s'",
                   key.table);
  TL_TRY(tl_sql_int(c, sql, 0, &there));
  sqlite3_snprintf(sizeof sql, sql, "SELECT count(*) FROM %s WHERE terrain_id = ?", key.table);
  if (there) TL_TRY(tl_sql_int(c, sql, t->id, &there));
  return there ? tl_blob_get(c, key, values, t->nx * t->ny, width) : TL_OK;
}

static TlStatus read_marks(TlCatalog *c, TlTerrain *t) {
  void *values;
  TL_TRY(read_samples(c, class_key(t->id), t, sizeof *t->class_id, &values));
  t->class_id = values;
  TL_TRY(read_samples(c, filled_key(t->id), t, sizeof *t->filled, &values));
  t->filled = values;
  return TL_OK;
}

static TlStatus insert_blobs(TlCatalog *c, int64_t id, const TlTerrain *t) {
  int64_t cells = t->nx * t->ny, columns = t->bnx * t->bny;
  TL_TRY(tl_blob_put(c, blob_key(id, "height"), t->height_m, cells, sizeof *t->height_m));
  TL_TRY(tl_blob_put(c, blob_key(id, "k_low"), t->k_low, columns, sizeof *t->k_low));
  TL_TRY(tl_blob_put(c, blob_key(id, "k_count"), t->k_count, columns, sizeof *t->k_count));
  TL_TRY(tl_blob_put(c, blob_key(id, "start"), t->start, columns, sizeof *t->start));
  TL_TRY(tl_blob_put(c, blob_key(id, "band_phi"), t->band_phi, t->band_count, sizeof *t->band_phi));
  if (t->class_id) TL_TRY(tl_blob_put(c, class_key(id), t->class_id, cells, sizeof *t->class_id));
  return t->filled ? tl_blob_put(c, filled_key(id), t->filled, cells, sizeof *t->filled) : TL_OK;
}

TlStatus tl_catalog_add_terrain(TlCatalog *c, const TlTerrain *terrain, bool replace, int64_t *id) {
  TL_TRY(tl_sql_need_run(c));
  if (!terrain->name || !terrain->name[0])
    return tl_fail(TL_EUSAGE, "%s: a terrain wants a name", c->path);
  int64_t cells, columns;
  TlStatus status = tl_terrain_check_numbers(terrain, &cells, &columns);
  if (status == TL_OK) status = tl_terrain_check_arrays(terrain);
  if (status == TL_OK) status = tl_sql_savepoint(c);
  if (status != TL_OK) return tl_context(status, "%s: terrain '%s'", c->path, terrain->name);
  status = drop_terrain(c, terrain->name, replace);
  if (status == TL_OK) status = insert_row(c, terrain, id);
  if (status == TL_OK) status = insert_blobs(c, *id, terrain);
  return tl_sql_release(c, status);
}

static TlStatus read_row(sqlite3_stmt *s, TlTerrain *t) {
  int64_t *whole[WHOLES];
  double *real[REALS];
  numbers_of(t, whole, real);
  for (int i = 0; i < WHOLES; i++) *whole[i] = sqlite3_column_int64(s, FIRST_WHOLE + i);
  for (int i = 0; i < REALS; i++) *real[i] = sqlite3_column_double(s, FIRST_REAL + i);
  t->id = sqlite3_column_int64(s, FIRST_REAL + REALS);
  TL_TRY(tl_sql_text(s, 0, &t->name));
  return tl_sql_text(s, 1, &t->crs);
}

static TlStatus find_terrain(TlCatalog *c, const char *name, TlTerrain *t) {
  sqlite3_stmt *s;
  TL_TRY(tl_sql_prepare(c, &s, "SELECT " TERRAIN_COLUMNS ", id FROM terrain WHERE name = ?"));
  sqlite3_bind_text(s, 1, name, -1, SQLITE_STATIC);
  bool row = false;
  TlStatus status = tl_sql_step(c, s, &row);
  if (status == TL_OK && row) status = read_row(s, t);
  if (status == TL_OK && !row)
    status = tl_fail(TL_EINPUT, "%s: there is no terrain '%s'; talus-catalog list shows which are",
                     c->path, name);
  sqlite3_finalize(s);
  return status;
}

static TlStatus read_blobs(TlCatalog *c, TlTerrain *t) {
  int64_t cells, columns;
  TL_TRY(tl_terrain_check_numbers(t, &cells, &columns));
  struct {
    const char *kind;
    int64_t count;
    size_t width;
    void *at;
  } part[] = {{"height", cells, sizeof *t->height_m, NULL},
              {"k_low", columns, sizeof *t->k_low, NULL},
              {"k_count", columns, sizeof *t->k_count, NULL},
              {"start", columns, sizeof *t->start, NULL},
              {"band_phi", t->band_count, sizeof *t->band_phi, NULL}};
  TlStatus status = TL_OK;
  for (int i = 0; i < 5 && status == TL_OK; i++)
    status =
        tl_blob_get(c, blob_key(t->id, part[i].kind), &part[i].at, part[i].count, part[i].width);
  t->height_m = part[0].at;
  t->k_low = part[1].at;
  t->k_count = part[2].at;
  t->start = part[3].at;
  t->band_phi = part[4].at;
  if (status == TL_OK) status = read_marks(c, t);
  return status == TL_OK ? tl_terrain_check_arrays(t) : status;
}

TlStatus tl_catalog_load_terrain(TlCatalog *c, const char *name, TlTerrain *terrain) {
  *terrain = (TlTerrain){0};
  TlStatus status = find_terrain(c, name, terrain);
  if (status == TL_OK)
    status = tl_context(read_blobs(c, terrain), "%s: terrain '%s'", c->path, name);
  if (status != TL_OK) tl_terrain_free(terrain);
  return status;
}

TlStatus tl_catalog_walk_terrains(TlCatalog *c,
                                  TlStatus (*visit)(void *context, const TlTerrainRow *row),
                                  void *context) {
  sqlite3_stmt *s;
  TL_TRY(tl_sql_prepare(c, &s,
                        "SELECT id, name, nx, ny, cell_m, band_m, band_spacing_m, crs, origin_x,"
                        " origin_y, origin_z, x0_m, y0_m, holes_filled FROM terrain ORDER BY id"));
  int64_t last = INT64_MIN;
  TlStatus status;
  for (bool more; (status = tl_sql_next(c, s, &more, &last)) == TL_OK && more;) {
    TlTerrainRow row = {.id = sqlite3_column_int64(s, 0),
                        .name = (const char *)sqlite3_column_text(s, 1),
                        .nx = sqlite3_column_int64(s, 2),
                        .ny = sqlite3_column_int64(s, 3),
                        .cell_m = sqlite3_column_double(s, 4),
                        .band_m = sqlite3_column_double(s, 5),
                        .band_spacing_m = sqlite3_column_double(s, 6),
                        .crs = (const char *)sqlite3_column_text(s, 7),
                        .origin = {sqlite3_column_double(s, 8), sqlite3_column_double(s, 9),
                                   sqlite3_column_double(s, 10)},
                        .x0_m = sqlite3_column_double(s, 11),
                        .y0_m = sqlite3_column_double(s, 12),
                        .holes_filled = sqlite3_column_int64(s, 13)};
    if ((status = visit(context, &row)) != TL_OK) break;
  }
  sqlite3_finalize(s);
  return status;
}
