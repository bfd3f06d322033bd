#include "store/catalog_impl.h"

#include "base/mem.h"

#include <string.h>

/* The reading of SQLite's primary codes: what it means here and what to do about it. */
TlStatus tl_sql_fail(TlCatalog *c, int code, const char *doing) {
  const char *said = c->db ? sqlite3_errmsg(c->db) : sqlite3_errstr(code);
  int number = c->db ? sqlite3_system_errno(c->db) : 0;
  if (code == SQLITE_READONLY_DBMOVED)
    return tl_fail(TL_EIO,
                   "%s: another process removed or renamed it meanwhile, nothing of this run was "
                   "kept; run again",
                   c->path);
  switch (code & 0xff) {
  case SQLITE_NOTADB:
    return tl_fail(TL_EINPUT, "%s: is not a Talus catalog (not an SQLite file)", c->path);
  case SQLITE_FULL:
    return tl_fail(TL_EIO,
                   "%s: the disk is full; nothing of this run was kept: free space and run again",
                   c->path);
  case SQLITE_CORRUPT:
    return tl_fail(TL_EINPUT, "%s: the catalog is damaged (%s); make it again or take a backup",
                   c->path, said);
  case SQLITE_CANTOPEN:
  case SQLITE_READONLY:
  case SQLITE_PERM:
    return tl_fail(TL_EIO, "%s: cannot open or write (%s%s%s); the file and its folder must be %s",
                   c->path, said, number ? ": " : "", number ? strerror(number) : "",
                   c->writable ? "writable" : "readable");
  case SQLITE_BUSY:
  case SQLITE_LOCKED:
    return tl_fail(TL_EIO, "%s: another process kept it locked too long; run again when it is done",
                   c->path);
  case SQLITE_NOMEM:
    return tl_fail(TL_ENOMEM, "%s: out of memory in SQLite while %s", c->path, doing);
  case SQLITE_IOERR:
    return tl_fail(TL_EIO, "%s: %s while %s%s%s", c->path, said, doing, number ? ": " : "",
                   number ? strerror(number) : "");
  case SQLITE_TOOBIG:
    return tl_fail(TL_EINPUT, "%s: a value is too large for SQLite while %s", c->path, doing);
  case SQLITE_ERROR:
  case SQLITE_CONSTRAINT:
  case SQLITE_MISMATCH:
    return tl_fail(TL_EINPUT, "%s: %s while %s", c->path, said, doing);
  default:
    return tl_fail(TL_ELIB, "%s: SQLite: %s (code %d) while %s", c->path, said, code, doing);
  }
}

TlStatus tl_sql_exec(TlCatalog *c, const char *sql) {
  int code = sqlite3_exec(c->db, sql, NULL, NULL, NULL);
  return code == SQLITE_OK ? TL_OK : tl_sql_fail(c, code, "working on its tables");
}

TlStatus tl_sql_prepare(TlCatalog *c, sqlite3_stmt **statement, const char *sql) {
  *statement = NULL;
  int code = sqlite3_prepare_v2(c->db, sql, -1, statement, NULL);
  return code == SQLITE_OK ? TL_OK : tl_sql_fail(c, code, "reading its tables");
}

TlStatus tl_sql_step(TlCatalog *c, sqlite3_stmt *statement, bool *row) {
  int code = sqlite3_step(statement);
  *row = code == SQLITE_ROW;
  return code == SQLITE_ROW || code == SQLITE_DONE ? TL_OK : tl_sql_fail(c, code, "using its rows");
}

TlStatus tl_sql_finish(TlCatalog *c, sqlite3_stmt *statement) {
  bool row = false;
  TlStatus status = tl_sql_step(c, statement, &row);
  sqlite3_finalize(statement);
  return status;
}

TlStatus tl_sql_text(sqlite3_stmt *statement, int column, char **text) {
  const char *value = (const char *)sqlite3_column_text(statement, column);
  *text = tl_strdup(value ? value : "");
  return *text ? TL_OK : TL_ENOMEM;
}

TlStatus tl_sql_int(TlCatalog *c, const char *sql, int64_t bound, int64_t *value) {
  sqlite3_stmt *statement;
  TL_TRY(tl_sql_prepare(c, &statement, sql));
  if (sqlite3_bind_parameter_count(statement) > 0) sqlite3_bind_int64(statement, 1, bound);
  bool row = false;
  TlStatus status = tl_sql_step(c, statement, &row);
  if (status == TL_OK) *value = row ? sqlite3_column_int64(statement, 0) : 0;
  sqlite3_finalize(statement);
  return status;
}

TlStatus tl_sql_savepoint(TlCatalog *c) {
  return tl_sql_exec(c, "SAVEPOINT addition");
}

TlStatus tl_sql_release(TlCatalog *c, TlStatus status) {
  if (status == TL_OK) return tl_sql_exec(c, "RELEASE addition");
  /* SQLite drops the whole transaction on a full disk; then there is no savepoint to go back to and
   * commit says so. The first failure's message stays. */
  sqlite3_exec(c->db, "ROLLBACK TO addition; RELEASE addition", NULL, NULL, NULL);
  return status;
}

TlStatus tl_sql_need_run(TlCatalog *c) {
  if (c->running) return TL_OK;
  return tl_fail(TL_EUSAGE, "%s: nothing can be added before tl_catalog_begin", c->path);
}
