#include "fuzz/made.h"

#include "base/digest.h"
#include "base/file.h"
#include "base/mem.h"
#include "fuzz/fuzz.h"
#include "run/run.h"
#include "shape/superellipsoid.h"
#include "shape/terrain_build.h"
#include "support/grains.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

static TlStatus grain(int i, TlAvatar *a) {
  (void)i;
  TL_TRY(tl_avatar_superellipsoid(1.2e-3, 1.1e-3, 1.05e-3, 1, 1, 5e-4, 20, a));
  a->label = 3;
  return TL_OK;
}

void tl_made_avatar(TlAvatar *avatar) {
  tl_fuzz_must(grain(0, avatar));
}

void tl_made_terrain(TlTerrain *terrain) {
  double height[12];
  for (int k = 0; k < 12; k++) height[k] = 5 - 0.3 * (k % 4);
  TlTerrainSource source = {"slope", "", 4, 3, 1, 0, 0, height};
  TlTerrainOptions options = {.band_cells = 2, .refine = 1};
  tl_fuzz_must(tl_terrain_build(terrain, &source, &options));
}

void tl_made_catalog(const char *path) {
  TlTerrain terrain = {0};
  sqlite3 *db;
  tl_made_terrain(&terrain);
  tl_fuzz_must(tl_test_catalog(path, 1, grain, &terrain));
  tl_terrain_free(&terrain);
  if (sqlite3_open(path, &db) != SQLITE_OK ||
      sqlite3_exec(db, "PRAGMA page_size = 512; VACUUM", NULL, NULL, NULL) != SQLITE_OK)
    abort();
  sqlite3_close(db);
}

const char tl_made_study[] =
    "shapes: [{name: ball, kind: sphere, diameter_m: 0.02}]\n"
    "bodies:\n"
    "  - {shape: ball, position_m: [0, 0, 0.0099]}\n"
    "  - {shape: ball, position_m: [0.001, 0, 0.0298], velocity_m_s: [0, 0, -0.1]}\n"
    "  - {shape: ball, position_m: [0.1, 0, 0.1]}\n"
    "planes: [{point_m: [0, 0, 0], normal: [0, 0, 1]}]\n"
    "time: {dt_s: 1.0e-3, steps: 6}\n"
    "checkpoint: {every_steps: 3}\n";

void tl_made_run(const char *study_path, const char *folder) {
  TlRun run;
  tl_fuzz_must(tl_file_write(study_path, tl_made_study, strlen(tl_made_study), true));
  TlRunOptions options = {.study = study_path, .output = folder, .overwrite = true};
  tl_fuzz_must(tl_run_open(&run, NULL, &options));
  tl_fuzz_must(tl_run_go(&run));
  tl_run_close(&run);
}

enum { HEAD = 24, SECTION = TL_CHECKPOINT_NAME + TL_CHECKPOINT_LAYOUT + 16 };

/* The section that begins at `at`: bytes of its records, or -1 when its head makes no sense. */
static int64_t section_bytes(const unsigned char *bytes, size_t size, size_t at) {
  uint64_t record_bytes, records;
  if (size < SECTION || at > size - SECTION) return -1;
  memcpy(&record_bytes, bytes + at + SECTION - 16, 8);
  memcpy(&records, bytes + at + SECTION - 8, 8);
  size_t left = size - at - SECTION;
  if (record_bytes > left || records > left || left < TL_DIGEST_BYTES ||
      record_bytes * records > left - TL_DIGEST_BYTES)
    return -1;
  return (int64_t)(record_bytes * records);
}

unsigned char *tl_made_section(unsigned char *bytes, size_t size, const char *name) {
  int64_t length;
  for (size_t at = HEAD; (length = section_bytes(bytes, size, at)) >= 0;
       at += SECTION + (size_t)length + TL_DIGEST_BYTES)
    if (strncmp((char *)bytes + at, name, TL_CHECKPOINT_NAME) == 0) return bytes + at + SECTION;
  return NULL;
}

void tl_made_mend_checkpoint(unsigned char *bytes, size_t size) {
  int64_t length;
  TlDigest *digest, *block;
  if (tl_digest_new(&digest) != TL_OK || tl_digest_new(&block) != TL_OK) abort();
  for (size_t at = HEAD; (length = section_bytes(bytes, size, at)) >= 0;
       at += SECTION + (size_t)length + TL_DIGEST_BYTES) {
    uint64_t record_bytes;
    memcpy(&record_bytes, bytes + at + SECTION - 16, sizeof record_bytes);
    size_t left = (size_t)length, most = (size_t)record_bytes * TL_CHECKPOINT_BLOCK;
    tl_digest_restart(digest);
    tl_digest_add(digest, bytes, HEAD);
    tl_digest_add(digest, bytes + at, SECTION);
    for (const unsigned char *from = bytes + at + SECTION; left > 0;) {
      unsigned char value[TL_DIGEST_BYTES];
      size_t n = left < most ? left : most;
      tl_digest_restart(block);
      tl_digest_add(block, from, n);
      tl_fuzz_must(tl_digest_value(block, value));
      tl_digest_add(digest, value, sizeof value);
      from += n;
      left -= n;
    }
    tl_fuzz_must(tl_digest_value(digest, bytes + at + SECTION + length));
  }
  tl_digest_free(digest);
  tl_digest_free(block);
}
