#include "store/catalog_impl.h"

#include "base/file.h"
#include "base/mem.h"

#include <string.h>

/* Runs: records of base/provenance.h taken apart by SQLite's own JSON functions. A run of a history
 * is found again by the digest of its text and stored once; a session is always a run of its own,
 * even when two of them look the same to the second. */

static TlStatus bind_and_finish(TlCatalog *c, const char *sql, int64_t run, const char *text) {
  sqlite3_stmt *statement;
  TL_TRY(tl_sql_prepare(c, &statement, sql));
  sqlite3_bind_int64(statement, 1, run);
  sqlite3_bind_text(statement, 2, text, -1, SQLITE_STATIC);
  return tl_sql_finish(c, statement);
}

static TlStatus find_run(TlCatalog *c, const char *digest, int64_t *id) {
  sqlite3_stmt *statement;
  TL_TRY(tl_sql_prepare(c, &statement, "SELECT id FROM run WHERE digest = ?"));
  sqlite3_bind_text(statement, 1, digest, -1, SQLITE_STATIC);
  bool row = false;
  TlStatus status = tl_sql_step(c, statement, &row);
  *id = status == TL_OK && row ? sqlite3_column_int64(statement, 0) : 0;
  sqlite3_finalize(statement);
  return status;
}

/* seed stays text: a 64-bit seed may be above SQLite's largest integer. */
static const char insert_run[] =
    "INSERT INTO run (digest, record, tool, version, commit_id, build, argv, host, start_utc,"
    " end_utc, threads, ranks, seed, peak_memory_bytes)"
    " SELECT ?1, ?2, json_extract(?2, '$.tool'), json_extract(?2, '$.version'),"
    " json_extract(?2, '$.commit'), json_extract(?2, '$.build'), json_extract(?2, '$.argv'),"
    " json_extract(?2, '$.host'), json_extract(?2, '$.start'), json_extract(?2, '$.end'),"
    " json_extract(?2, '$.threads'), json_extract(?2, '$.ranks'), ?2 -> '$.seed',"
    " json_extract(?2, '$.peak_memory_bytes')";

static const char insert_inputs[] =
    "INSERT INTO run_input SELECT ?1, key, json_extract(value, '$.path'),"
    " json_extract(value, '$.size_bytes'), json_extract(value, '$.sha256')"
    " FROM json_each(?2, '$.inputs')";

static const char insert_parameters[] =
    "INSERT INTO run_parameter SELECT ?1, row_number() OVER (ORDER BY id) - 1, key,"
    " CAST(value AS TEXT) FROM json_each(?2, '$.parameters')";

static TlStatus insert_record(TlCatalog *c, const char *digest, const char *record, int64_t *id) {
  sqlite3_stmt *statement;
  TL_TRY(tl_sql_prepare(c, &statement, insert_run));
  sqlite3_bind_text(statement, 1, digest, -1, SQLITE_STATIC);
  sqlite3_bind_text(statement, 2, record, -1, SQLITE_STATIC);
  TL_TRY(tl_sql_finish(c, statement));
  *id = sqlite3_last_insert_rowid(c->db);
  TL_TRY(bind_and_finish(c, insert_inputs, *id, record));
  return bind_and_finish(c, insert_parameters, *id, record);
}

/* Stores a record of a history unless it is there; its row in *id. */
static TlStatus store_past_run(TlCatalog *c, const char *record, int64_t *id) {
  char digest[65];
  TL_TRY(tl_sha256(record, strlen(record), digest));
  TL_TRY(find_run(c, digest, id));
  return *id ? TL_OK : insert_record(c, digest, record, id);
}

static TlStatus add_ancestor(TlCatalog *c, int64_t position, int64_t ancestor) {
  sqlite3_stmt *statement;
  TL_TRY(tl_sql_prepare(
      c, &statement, "INSERT INTO run_history (run_id, position, ancestor_id) VALUES (?, ?, ?)"));
  sqlite3_bind_int64(statement, 1, c->run_id);
  sqlite3_bind_int64(statement, 2, position);
  sqlite3_bind_int64(statement, 3, ancestor);
  return tl_sql_finish(c, statement);
}

/* The runs of history, oldest first, become ancestors 0 .. *count-1 of this session's run. */
static TlStatus store_history(TlCatalog *c, const char *history, int64_t *count) {
  *count = 0;
  if (!history || !history[0]) return TL_OK;
  sqlite3_stmt *statement;
  TL_TRY(tl_sql_prepare(c, &statement, "SELECT value FROM json_each(?) ORDER BY key"));
  sqlite3_bind_text(statement, 1, history, -1, SQLITE_STATIC);
  bool row = false;
  TlStatus status;
  while ((status = tl_sql_step(c, statement, &row)) == TL_OK && row) {
    char *record;
    int64_t id = 0;
    TL_TRY_GOTO(status, tl_sql_text(statement, 0, &record), done);
    status = store_past_run(c, record, &id);
    tl_free(record);
    if (status == TL_OK) status = add_ancestor(c, *count, id);
    if (status != TL_OK) break;
    ++*count;
  }
done:
  sqlite3_finalize(statement);
  return tl_context(status, "the history that came with the input (a JSON array of runs)");
}

static TlStatus store_session(TlCatalog *c, const TlProvenance *provenance, const char *history) {
  char *record;
  int64_t ancestors;
  TL_TRY(tl_provenance_record(provenance, &record));
  TlStatus status = insert_record(c, "", record, &c->run_id); /* complete_run sets the digest */
  tl_free(record);
  if (status != TL_OK) return status;
  TL_TRY(store_history(c, history, &ancestors));
  return add_ancestor(c, ancestors, c->run_id);
}

TlStatus tl_catalog_begin(TlCatalog *c, const TlProvenance *provenance, const char *history) {
  if (c->running) return tl_fail(TL_EUSAGE, "%s: a session is already open", c->path);
  if (!c->writable) return tl_fail(TL_EUSAGE, "%s: was opened for reading only", c->path);
  TL_TRY(tl_sql_exec(c, "BEGIN IMMEDIATE"));
  TlStatus status = store_session(c, provenance, history);
  c->running = status == TL_OK;
  if (status != TL_OK) sqlite3_exec(c->db, "ROLLBACK", NULL, NULL, NULL);
  return status;
}

/* The record was taken at begin; what is known only now goes in: end and peak memory. */
static TlStatus complete_run(TlCatalog *c) {
  sqlite3_stmt *statement;
  char *record = NULL, digest[65];
  bool row = false;
  TL_TRY(tl_sql_prepare(c, &statement,
                        "SELECT json_set(record, '$.end', strftime('%Y-%m-%dT%H:%M:%SZ', 'now'),"
                        " '$.peak_memory_bytes', ?2) FROM run WHERE id = ?1"));
  sqlite3_bind_int64(statement, 1, c->run_id);
  sqlite3_bind_int64(statement, 2, tl_mem_peak_bytes());
  TlStatus status = tl_sql_step(c, statement, &row);
  if (status == TL_OK) status = tl_sql_text(statement, 0, &record);
  sqlite3_finalize(statement);
  if (status == TL_OK) status = tl_sha256(record, strlen(record), digest);
  if (status == TL_OK)
    status = tl_sql_prepare(c, &statement,
                            "UPDATE run SET record = ?2, digest = ?3, end_utc = json_extract(?2,"
                            " '$.end'), peak_memory_bytes = json_extract(?2,"
                            " '$.peak_memory_bytes') WHERE id = ?1");
  if (status == TL_OK) {
    sqlite3_bind_int64(statement, 1, c->run_id);
    sqlite3_bind_text(statement, 2, record, -1, SQLITE_STATIC);
    sqlite3_bind_text(statement, 3, digest, -1, SQLITE_STATIC);
    status = tl_sql_finish(c, statement);
  }
  tl_free(record);
  return status;
}

TlStatus tl_catalog_commit(TlCatalog *c) {
  TL_TRY(tl_sql_need_run(c));
  TlStatus status = TL_OK;
  if (sqlite3_get_autocommit(c->db))
    status = tl_fail(TL_EIO,
                     "%s: SQLite gave the transaction up after a failed write; nothing of "
                     "this run was kept",
                     c->path);
  if (status == TL_OK) status = complete_run(c);
  if (status == TL_OK) status = tl_sql_exec(c, "COMMIT");
  if (status != TL_OK) sqlite3_exec(c->db, "ROLLBACK", NULL, NULL, NULL);
  if (status == TL_OK) c->made = false;
  c->running = false;
  c->run_id = 0;
  return status;
}

TlStatus tl_catalog_history(TlCatalog *c, char **json) {
  *json = NULL;
  sqlite3_stmt *statement;
  TL_TRY(tl_sql_prepare(c, &statement,
                        "SELECT json_group_array(json(record)) FROM"
                        " (SELECT record FROM run ORDER BY id)"));
  bool row = false;
  TlStatus status = tl_sql_step(c, statement, &row);
  if (status == TL_OK) status = tl_sql_text(statement, 0, json);
  sqlite3_finalize(statement);
  return status;
}

TlStatus tl_catalog_walk_provenance(TlCatalog *c, int64_t grain,
                                    TlStatus (*visit)(void *context, const TlRunRow *row),
                                    void *context) {
  sqlite3_stmt *s;
  char *sql = tl_format("%sSELECT step, tool, version, commit_id, command, host, start_utc,"
                        " end_utc, inputs, parameters FROM grain_provenance WHERE grain = ?",
                        tl_catalog_with_provenance);
  if (!sql) return TL_ENOMEM;
  TlStatus status = tl_sql_prepare(c, &s, sql);
  tl_free(sql);
  TL_TRY(status);
  sqlite3_bind_int64(s, 1, grain);
  int64_t last = INT64_MIN;
  for (bool row; (status = tl_sql_next(c, s, &row, &last)) == TL_OK && row;) {
    const char *text[10];
    for (int i = 1; i < 10; i++) {
      text[i] = (const char *)sqlite3_column_text(s, i);
      if (!text[i]) text[i] = "";
    }
    TlRunRow run = {sqlite3_column_int64(s, 0),
                    text[1],
                    text[2],
                    text[3],
                    text[4],
                    text[5],
                    text[6],
                    text[7],
                    text[8],
                    text[9]};
    if ((status = visit(context, &run)) != TL_OK) break;
  }
  sqlite3_finalize(s);
  return status;
}
