#include "store/catalog_impl.h"

#include "base/claims.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { BUSY_NAP_MS = 50 };
/* Two stages of one pipeline may write the same catalog: the second waits for the first. */
static const double BUSY_TALK_S = 2, BUSY_LIMIT_S = 600;

static int wait_for_lock(void *context, int tries) {
  TlCatalog *c = context;
  if (tries == 0) {
    c->waiting_since_s = tl_clock_s();
    c->said_waiting = false;
  }
  double waited = tl_clock_s() - c->waiting_since_s;
  if (waited > BUSY_LIMIT_S) return 0;
  if (waited > BUSY_TALK_S && !c->said_waiting) {
    c->said_waiting = true;
    tl_log_info("%s: waiting for another process that writes to it", c->path);
  }
  sqlite3_sleep(BUSY_NAP_MS);
  return 1;
}

static TlStatus wrong_kind(TlCatalog *c, int64_t application, int64_t schema) {
  if (application != TL_CATALOG_APPLICATION)
    return tl_fail(TL_EINPUT,
                   "%s: is an SQLite file, but not a Talus catalog (application_id 0x%08llX, "
                   "not 0x%08X)",
                   c->path, (unsigned long long)application & 0xffffffffu, TL_CATALOG_APPLICATION);
  return tl_fail(TL_EINPUT,
                 "%s: is a catalog of schema version %lld, this Talus works with version %d; %s",
                 c->path, (long long)schema, TL_CATALOG_SCHEMA,
                 schema > TL_CATALOG_SCHEMA
                     ? "use the newer Talus that made it"
                     : "make it again from its stacks, or export with the Talus that made it");
}

/* Application and schema in one place; both zero with no table at all: a new file. */
static TlStatus check_kind(TlCatalog *c, bool *fresh) {
  int64_t application, schema, tables;
  TL_TRY(tl_sql_int(c, "PRAGMA application_id", 0, &application));
  TL_TRY(tl_sql_int(c, "PRAGMA user_version", 0, &schema));
  TL_TRY(tl_sql_int(c, "SELECT EXISTS (SELECT 1 FROM sqlite_master)", 0, &tables));
  *fresh = application == 0 && schema == 0 && tables == 0;
  if (*fresh ||
      (application == TL_CATALOG_APPLICATION && schema >= 1 && schema <= TL_CATALOG_SCHEMA))
    return TL_OK;
  return wrong_kind(c, application, schema);
}

static TlStatus make_tables(TlCatalog *c) {
  for (const char *const *sql = tl_catalog_schema_sql; *sql; sql++) TL_TRY(tl_sql_exec(c, *sql));
  char marks[96];
  sqlite3_snprintf(sizeof marks, marks, "PRAGMA application_id = %d; PRAGMA user_version = %d",
                   TL_CATALOG_APPLICATION, TL_CATALOG_SCHEMA);
  return tl_sql_exec(c, marks);
}

/* Looks again inside the transaction: two processes may create the same catalog at once. */
static TlStatus create_schema(TlCatalog *c) {
  bool fresh;
  TL_TRY(tl_sql_exec(c, "BEGIN IMMEDIATE"));
  TlStatus status = check_kind(c, &fresh);
  if (status == TL_OK && fresh) status = make_tables(c);
  if (status == TL_OK) status = tl_sql_exec(c, "COMMIT");
  if (status != TL_OK) sqlite3_exec(c->db, "ROLLBACK", NULL, NULL, NULL);
  return status;
}

/* An older catalog lacks tables or a column; it is read as it is. Looks again inside the
 * transaction. What stands in it says nothing of its filled samples but their number. */
static TlStatus upgrade(TlCatalog *c) {
  int64_t schema;
  TL_TRY(tl_sql_int(c, "PRAGMA user_version", 0, &schema));
  if (schema >= TL_CATALOG_SCHEMA) return TL_OK;
  TL_TRY(tl_sql_exec(c, "BEGIN IMMEDIATE"));
  TlStatus status = tl_sql_int(c, "PRAGMA user_version", 0, &schema);
  if (status == TL_OK && schema < TL_CATALOG_SCHEMA) {
    status = tl_sql_exec(c, tl_catalog_schema_2); /* nothing where the table is there */
    if (status == TL_OK) status = tl_sql_exec(c, tl_catalog_schema_3);
    bool contacts = true;
    if (status == TL_OK) status = tl_catalog_has_contacts(c, &contacts);
    if (status == TL_OK && !contacts) status = tl_sql_exec(c, tl_catalog_schema_4);
    if (status == TL_OK) status = tl_sql_exec(c, tl_catalog_schema_5);
    if (status == TL_OK) status = tl_sql_exec(c, "PRAGMA user_version = 5");
    if (status == TL_OK)
      tl_log_info("%s: schema %lld is brought to 5 (classes and filled samples of terrains, "
                  "verdicts on grains and their contacts)",
                  c->path, (long long)schema);
  }
  if (status == TL_OK) status = tl_sql_exec(c, "COMMIT");
  if (status != TL_OK) sqlite3_exec(c->db, "ROLLBACK", NULL, NULL, NULL);
  return status;
}

/* Readers open for writing too where they may: only so can they roll back what a killed writer
 * left. They are kept from writing by query_only. */
static TlStatus set_up(TlCatalog *c) {
  sqlite3_extended_result_codes(c->db, 1);
  sqlite3_busy_handler(c->db, wait_for_lock, c);
  TL_TRY(tl_catalog_guard(c));
  TL_TRY(tl_sql_exec(c, "PRAGMA foreign_keys = ON"));
  if (!c->writable) return tl_sql_exec(c, "PRAGMA query_only = ON");
  if (sqlite3_db_readonly(c->db, "main") != 1) return TL_OK;
  return tl_fail(TL_EIO, "%s: cannot be written: the file is write-protected", c->path);
}

static TlStatus connect_to(TlCatalog *c, TlCatalogMode mode) {
  int flags = SQLITE_OPEN_READWRITE | (mode == TL_CATALOG_CREATE ? SQLITE_OPEN_CREATE : 0);
  int code = sqlite3_open_v2(c->path, &c->db, flags, NULL);
  if (code != SQLITE_OK) return tl_sql_fail(c, code, "opening it");
  TL_TRY(set_up(c));
  bool fresh;
  TL_TRY(check_kind(c, &fresh));
  if (!fresh) TL_TRY(tl_catalog_check_schema(c));
  if (!fresh) return c->writable ? upgrade(c) : TL_OK;
  if (mode == TL_CATALOG_CREATE) {
    TL_TRY(tl_claim_replace(c->path)); /* an empty file, which may be an input */
    return create_schema(c);
  }
  return tl_fail(TL_EINPUT,
                 "%s: is an empty file, not a catalog; run talus-avatars or talus-topo to fill one",
                 c->path);
}

TlStatus tl_catalog_open(TlCatalog **catalog, const char *path, TlCatalogMode mode) {
  *catalog = NULL;
  if (mode != TL_CATALOG_CREATE && !tl_file_exists(path))
    return tl_fail(TL_EIO, "%s: no such catalog; talus-avatars and talus-topo make one", path);
  if (mode == TL_CATALOG_READ) TL_TRY(tl_claim_read(path));
  TlCatalog *c;
  TL_TRY(TL_NEW(c, 1));
  c->writable = mode != TL_CATALOG_READ;
  c->made = mode == TL_CATALOG_CREATE && !tl_file_exists(path);
  c->path = tl_strdup(path);
  TlStatus status = c->path ? connect_to(c, mode) : TL_ENOMEM;
  if (status == TL_OK) {
    *catalog = c;
    return TL_OK;
  }
  tl_catalog_close(c);
  return status;
}

static TlStatus unlink_empty(TlCatalog *c) {
  int64_t tables = 0, runs = 0;
  TL_TRY(tl_sql_int(c, "SELECT count(*) FROM sqlite_master WHERE name = 'run'", 0, &tables));
  if (tables > 0) TL_TRY(tl_sql_int(c, "SELECT count(*) FROM run", 0, &runs));
  if (runs == 0) unlink(c->path);
  return TL_OK;
}

/* Removes the file that this process began when no process has stored a run in it. The lock keeps
 * writers out meanwhile; one that has waited for it is told by SQLite that the file is gone. */
static void remove_empty(TlCatalog *c) {
  sqlite3_busy_handler(c->db, NULL, NULL); /* who writes at this moment has it */
  if (sqlite3_exec(c->db, "BEGIN EXCLUSIVE", NULL, NULL, NULL) != SQLITE_OK) return;
  TL_CLEAN_UP(unlink_empty(c)); /* why the catalog is closed without a run stays the message */
  sqlite3_exec(c->db, "ROLLBACK", NULL, NULL, NULL);
}

void tl_catalog_close(TlCatalog *c) {
  if (!c) return;
  if (c->running) sqlite3_exec(c->db, "ROLLBACK", NULL, NULL, NULL);
  if (c->made && c->db) remove_empty(c);
  sqlite3_close(c->db);
  tl_free(c->path);
  tl_free(c);
}

static TlStatus check_sqlite(TlCatalog *c) {
  sqlite3_stmt *statement;
  bool row = false;
  TL_TRY(tl_sql_prepare(c, &statement, "PRAGMA quick_check(1)"));
  TlStatus status = tl_sql_step(c, statement, &row);
  const char *said = status == TL_OK && row ? (const char *)sqlite3_column_text(statement, 0) : "";
  if (status == TL_OK && strcmp(said, "ok") != 0)
    status =
        tl_fail(TL_EINPUT, "%s: is damaged: %s; make it again or take a backup", c->path, said);
  sqlite3_finalize(statement);
  if (status != TL_OK) return status;
  int64_t broken;
  TL_TRY(tl_sql_int(c, "SELECT count(*) FROM pragma_foreign_key_check", 0, &broken));
  if (broken)
    return tl_fail(TL_EINPUT, "%s: %lld rows refer to rows that are not there", c->path,
                   (long long)broken);
  return TL_OK;
}

/* The loads hold all that is told of a grain or terrain against its arrays. */
static TlStatus check_avatar(TlCatalog *c, int64_t id) {
  TlAvatar avatar = {0};
  TlStatus status = tl_catalog_load_avatar(c, id, &avatar);
  tl_avatar_free(&avatar);
  return status;
}

static TlStatus check_terrain(TlCatalog *c, const char *name) {
  TlTerrain terrain = {0};
  TlStatus status = tl_catalog_load_terrain(c, name, &terrain);
  tl_terrain_free(&terrain);
  return status;
}

static TlStatus check_rows(TlCatalog *c, const char *sql, bool grains, int64_t *count) {
  sqlite3_stmt *statement;
  int64_t last = INT64_MIN;
  *count = 0;
  TL_TRY(tl_sql_prepare(c, &statement, sql));
  TlStatus status;
  for (bool row; (status = tl_sql_next(c, statement, &row, &last)) == TL_OK && row; ++*count) {
    const char *name = (const char *)sqlite3_column_text(statement, 1);
    status = grains ? check_avatar(c, last) : check_terrain(c, name ? name : "");
    if (status != TL_OK) break;
  }
  sqlite3_finalize(statement);
  return status;
}

/* Voxel sizes are lengths, or 0 for grains that come from no scan. */
static TlStatus check_sample(void *context, const TlSampleRow *row) {
  const TlCatalog *c = context;
  for (int k = 0; k < 3; k++)
    if (!(row->voxel_m[k] >= 0 && isfinite(row->voxel_m[k])))
      return tl_fail(TL_EINPUT, "%s: sample %lld: a voxel of %g m", c->path, (long long)row->id,
                     row->voxel_m[k]);
  return TL_OK;
}

TlStatus tl_catalog_verify(TlCatalog *c, int64_t *avatars, int64_t *terrains) {
  *avatars = *terrains = 0;
  TL_TRY(check_sqlite(c));
  TL_TRY(tl_catalog_walk_samples(c, check_sample, c));
  TL_TRY(check_rows(c, "SELECT id, '' FROM avatar ORDER BY id", true, avatars));
  return check_rows(c, "SELECT id, name FROM terrain ORDER BY id", false, terrains);
}
