/* Internals of the catalog, for store/catalog*.c only: the connection, statements with one function
 * that turns SQLite's codes into messages, and array blobs.
 *
 * A blob of an array is cut into parts of at most TL_BLOB_PART_BYTES raw bytes (SQLite holds a blob
 * under 1e9 bytes); each part is byte-shuffled (all first bytes of the elements, then all second
 * bytes, ...), compressed as one zstd frame, and carries the CRC-32 (IEEE, zlib's) of its raw
 * little-endian bytes. docs/reference/catalog.md states the layout for other readers.
 */
#ifndef TL_STORE_CATALOG_IMPL_H
#define TL_STORE_CATALOG_IMPL_H

#include "store/catalog.h"

#include <sqlite3.h>

enum {
  TL_CATALOG_APPLICATION = 0x54414C53, /* "TALS" */
  TL_BLOB_PART_BYTES = 64 << 20,
  /* Processor time of one step of a statement, of which the longest counts a million grains in
   * about a second; waiting for a disk or a lock does not count. */
  TL_CATALOG_SECONDS = 60
};

struct TlCatalog {
  sqlite3 *db;
  char *path;
  bool writable, running;
  bool made;      /* the file was not there, and nothing has been committed to it */
  int64_t run_id; /* of the session between begin and commit */
  double waiting_since_s;
  bool said_waiting;
  double step_since_s; /* processor time at which SQLite was last entered */
};

/* Before anything is read: SQLite's defences, limits of sizes, and a limit of processor time. A
 * catalog may come from anywhere. */
TlStatus tl_catalog_guard(TlCatalog *catalog);
/* TL_EINPUT unless the tables, indices and views are those of the file's schema, word for word, and
 * there is no trigger. */
TlStatus tl_catalog_check_schema(TlCatalog *catalog);

extern const char *const tl_catalog_schema_sql[]; /* statements, NULL at the end */
extern const char tl_catalog_schema_2[], tl_catalog_schema_3[], tl_catalog_schema_4[],
    tl_catalog_schema_5[];                      /* what each has over the last */
extern const char tl_catalog_with_provenance[]; /* WITH ... in front of a SELECT: the two views */

/* The status and message of the last SQLite failure on this connection. */
TlStatus tl_sql_fail(TlCatalog *catalog, int code, const char *doing);
TlStatus tl_sql_exec(TlCatalog *catalog, const char *sql);
TlStatus tl_sql_prepare(TlCatalog *catalog, sqlite3_stmt **statement, const char *sql);
/* *row: true while a row is there. */
TlStatus tl_sql_step(TlCatalog *catalog, sqlite3_stmt *statement, bool *row);
/* The same for rows whose first column rises from row to row, as ids do: TL_EINPUT when it does not
 * (pages that lead to one another give rows without end). *last: INT64_MIN before the first. */
TlStatus tl_sql_next(TlCatalog *catalog, sqlite3_stmt *statement, bool *row, int64_t *last);
/* Steps a statement that gives no row, and finalizes it whatever happens. */
TlStatus tl_sql_finish(TlCatalog *catalog, sqlite3_stmt *statement);
/* Column text copied to fresh memory; NULL gives "". */
TlStatus tl_sql_text(sqlite3_stmt *statement, int column, char **text);
/* One integer answer of a statement with up to one bound integer. */
TlStatus tl_sql_int(TlCatalog *catalog, const char *sql, int64_t bound, int64_t *value);
/* Every addition is whole or absent, inside the larger transaction. */
TlStatus tl_sql_savepoint(TlCatalog *catalog);
TlStatus tl_sql_release(TlCatalog *catalog, TlStatus status);
/* Fails when no session is open. */
TlStatus tl_sql_need_run(TlCatalog *catalog);

typedef struct TlBlobKey {
  const char *table; /* "avatar_blob" or "terrain_blob" */
  const char *owner; /* "avatar_id" or "terrain_id" */
  int64_t id;
  const char *kind; /* "phi", "node", ... */
} TlBlobKey;

TlStatus tl_blob_put(TlCatalog *catalog, TlBlobKey key, const void *values, int64_t count,
                     size_t width);
/* Fresh memory of exactly count elements; TL_EINPUT when a part is missing, damaged, of another
 * size or one too many. Memory grows with the parts that were found good. */
TlStatus tl_blob_get(TlCatalog *catalog, TlBlobKey key, void **values, int64_t count, size_t width);

/* Catalogs of schema 1 and 2 that are only read have no table of verdicts, those of schema 3 have
 * one without the column of contacts. */
TlStatus tl_catalog_has_checks(TlCatalog *catalog, bool *there);
TlStatus tl_catalog_has_contacts(TlCatalog *catalog, bool *there);

#endif
