/* What keeps a hostile catalog from doing more than being refused. */
#include "store/catalog_impl.h"

#include "base/log.h"
#include "base/mem.h"

#include <stdio.h>
#include <string.h>

/* ---- settings ---- */

static int took_too_long(void *context) {
  const TlCatalog *c = context;
  return tl_clock_process_cpu_s() - c->step_since_s > TL_CATALOG_SECONDS;
}

typedef struct Setting {
  int option, value;
} Setting;

static const Setting settings[] = {{SQLITE_DBCONFIG_DEFENSIVE, 1},
                                   {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
                                   {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
                                   {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
                                   {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0}};
static const Setting limits[] = {
    {SQLITE_LIMIT_LENGTH, 2 * TL_BLOB_PART_BYTES}, /* a part of a blob, a history */
    {SQLITE_LIMIT_SQL_LENGTH, 100000},
    {SQLITE_LIMIT_COLUMN, 100},
    {SQLITE_LIMIT_EXPR_DEPTH, 100},
    {SQLITE_LIMIT_COMPOUND_SELECT, 10},
    {SQLITE_LIMIT_VDBE_OP, 100000},
    {SQLITE_LIMIT_FUNCTION_ARG, 16},
    {SQLITE_LIMIT_ATTACHED, 0},
    {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000},
    {SQLITE_LIMIT_VARIABLE_NUMBER, 100},
    {SQLITE_LIMIT_TRIGGER_DEPTH, 10}, /* references that delete along count as triggers */
    {SQLITE_LIMIT_WORKER_THREADS, 0}};
enum { STEPS = 10000 }; /* of SQLite's machine between two looks at the clock */

TlStatus tl_catalog_guard(TlCatalog *c) {
  for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
    if (sqlite3_db_config(c->db, settings[i].option, settings[i].value, NULL) != SQLITE_OK)
      return tl_fail(TL_ELIB, "%s: this SQLite (%s) lacks a setting that catalogs need", c->path,
                     sqlite3_libversion());
  for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
    sqlite3_limit(c->db, limits[i].option, limits[i].value);
  sqlite3_progress_handler(c->db, STEPS, took_too_long, c);
  return tl_sql_exec(c, "PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0");
}

/* ---- the schema ---- */

typedef struct Object {
  char *type, *name, *table, *sql; /* as sqlite_master has them; sql "" for what SQLite makes */
} Object;
enum { MOST_OBJECTS = 64 };
typedef struct Schema {
  Object object[MOST_OBJECTS];
  int count;
} Schema;

static void free_schema(Schema *s) {
  for (int i = 0; i < s->count; i++) {
    tl_free(s->object[i].type);
    tl_free(s->object[i].name);
    tl_free(s->object[i].table);
    tl_free(s->object[i].sql);
  }
  s->count = 0;
}

static TlStatus read_schema(TlCatalog *c, Schema *s) {
  sqlite3_stmt *statement;
  int64_t last = INT64_MIN;
  TL_TRY(tl_sql_prepare(c, &statement,
                        "SELECT rowid, type, name, tbl_name, sql FROM sqlite_master"
                        " ORDER BY rowid"));
  TlStatus status;
  for (bool row; (status = tl_sql_next(c, statement, &row, &last)) == TL_OK && row;) {
    if (s->count == MOST_OBJECTS) {
      status = tl_fail(TL_EINPUT, "%s: has more tables than a catalog", c->path);
      break;
    }
    Object *o = &s->object[s->count++];
    *o = (Object){0};
    TL_TRY_GOTO(status, tl_sql_text(statement, 1, &o->type), done);
    TL_TRY_GOTO(status, tl_sql_text(statement, 2, &o->name), done);
    TL_TRY_GOTO(status, tl_sql_text(statement, 3, &o->table), done);
    TL_TRY_GOTO(status, tl_sql_text(statement, 4, &o->sql), done);
  }
done:
  sqlite3_finalize(statement);
  return status;
}

/* The schema as this program makes it, in memory; an older version lacks the column of version 4.
 */
static TlStatus own_schema(int64_t version, Schema *s) {
  TlCatalog own = {.path = "a new catalog"};
  int code = sqlite3_open_v2(":memory:", &own.db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
  TlStatus status = code == SQLITE_OK ? TL_OK : tl_sql_fail(&own, code, "making its schema");
  for (const char *const *sql = tl_catalog_schema_sql; status == TL_OK && *sql; sql++)
    if (version >= 4 || *sql != tl_catalog_schema_4) status = tl_sql_exec(&own, *sql);
  if (status == TL_OK) status = read_schema(&own, s);
  sqlite3_close(own.db);
  return status;
}

static const Object *find_object(const Schema *s, const char *name) {
  for (int i = 0; i < s->count; i++)
    if (strcmp(s->object[i].name, name) == 0) return &s->object[i];
  return NULL;
}

/* What ANALYZE leaves behind. */
static bool is_statistics(const char *name) {
  return strcmp(name, "sqlite_stat1") == 0 || strcmp(name, "sqlite_stat4") == 0;
}

static TlStatus compare(TlCatalog *c, int64_t version, const Schema *own, const Schema *there) {
  for (int i = 0; i < there->count; i++) {
    const Object *o = &there->object[i], *known = find_object(own, o->name);
    if (is_statistics(o->name)) continue;
    if (!known)
      return tl_fail(
          TL_EINPUT,
          "%s: holds the %s '%s', which is none of a Talus catalog's; remove it, or keep "
          "it in a database of its own",
          c->path, o->type, o->name);
    if (strcmp(o->type, known->type) != 0 || strcmp(o->table, known->table) != 0 ||
        strcmp(o->sql, known->sql) != 0)
      return tl_fail(TL_EINPUT,
                     "%s: its %s '%s' is not defined as in a Talus catalog; the file was changed "
                     "or is damaged: make it again or take a backup",
                     c->path, o->type, o->name);
  }
  for (int i = 0; i < own->count; i++) {
    const Object *o = &own->object[i];
    bool later = (version < 2 && strcmp(o->table, "terrain_class") == 0) ||
                 (version < 3 && strcmp(o->table, "avatar_check") == 0) ||
                 (version < 5 && strcmp(o->table, "terrain_filled") == 0);
    if (!later && !find_object(there, o->name))
      return tl_fail(TL_EINPUT,
                     "%s: lacks the %s '%s' of a Talus catalog; it is damaged: make it again or "
                     "take a backup",
                     c->path, o->type, o->name);
  }
  return TL_OK;
}

/* A column that is there before its version is announced does no harm. */
TlStatus tl_catalog_check_schema(TlCatalog *c) {
  Schema own = {.count = 0}, newest = {.count = 0}, there = {.count = 0};
  int64_t version;
  TL_TRY(tl_sql_int(c, "PRAGMA user_version", 0, &version));
  TlStatus status = own_schema(version, &own);
  if (status == TL_OK) status = own_schema(TL_CATALOG_SCHEMA, &newest);
  if (status == TL_OK) status = read_schema(c, &there);
  if (status == TL_OK && compare(c, version, &own, &there) != TL_OK)
    status = compare(c, version, &newest, &there);
  free_schema(&own);
  free_schema(&newest);
  free_schema(&there);
  return status;
}
