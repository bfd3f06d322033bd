/* Catalogs whose rows were changed: the bytes are SQL that a valid catalog is changed by. */
#include "fuzz/fuzz.h"

#include "base/file.h"
#include "fuzz/catalog_use.h"
#include "fuzz/made.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

/* Statements that take long to change the catalog are no test of reading it. */
static int count_down(void *left) {
  return --*(int *)left < 0;
}

static int only_catalog(void *none, int action, const char *a, const char *b, const char *c,
                        const char *d) {
  (void)none;
  (void)a;
  (void)b;
  (void)c;
  (void)d;
  return action == SQLITE_ATTACH || action == SQLITE_DETACH ? SQLITE_DENY : SQLITE_OK;
}

TL_FUZZ(catalog_rows) {
  static char *made;
  static size_t made_size;
  char sql[4096];
  sqlite3 *db;
  int left = 200;
  if (size >= sizeof sql) return;
  if (!made) {
    tl_made_catalog(tl_fuzz_path("made.tals"));
    tl_fuzz_must(tl_file_read(tl_fuzz_path("made.tals"), &made, &made_size));
    sqlite3_soft_heap_limit64((int64_t)64 << 20);
  }
  memcpy(sql, bytes, size);
  sql[size] = 0;
  const char *path = tl_fuzz_file("c.tals", made, made_size);
  if (sqlite3_open(path, &db) != SQLITE_OK) abort();
  sqlite3_progress_handler(db, 1000, count_down, &left);
  sqlite3_set_authorizer(db, only_catalog, NULL);
  sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 1 << 20);
  (void)sqlite3_exec(db, "PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY", NULL, NULL,
                     NULL);
  (void)sqlite3_exec(db, sql, NULL, NULL, NULL);
  sqlite3_close(db);
  tl_catalog_use(path);
}
