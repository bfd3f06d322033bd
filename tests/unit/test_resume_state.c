/* Checkpoints whose digests are right and whose records no run could have written: a resumed run
 * refuses them, with the section and the record, instead of computing with them. */
#include "base/file.h"
#include "base/mem.h"
#include "fuzz/fuzz.h"
#include "fuzz/made.h"
#include "run/run.h"
#include "run/run_record.h"
#include "support/tltest.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define F(type, name, ...) type name;
typedef struct __attribute__((packed)) BodyRecord {
  TL_BODY_FIELDS(F)
} BodyRecord;

typedef struct __attribute__((packed)) ColliderRecord {
  TL_COLLIDER_FIELDS(F)
} ColliderRecord;

typedef struct __attribute__((packed)) RunRecord {
  TL_RUN_FIELDS(F)
} RunRecord;

typedef struct __attribute__((packed)) ImpulseRecord {
  TL_IMPULSE_FIELDS(TL_PAIR_MEMBER, ImpulseRecord)
} ImpulseRecord;
#undef F

typedef struct CutRecord {
  int64_t axis;
  double at;
} CutRecord;

typedef struct Change {
  const char *section;
  size_t at;
  bool real;
  int64_t integer;
  double number;
  const char *refusal; /* NULL: this is a state that a run may be in */
} Change;

#define INTEGER(section, record, at, field, value, text)                                           \
  { section, (at) * sizeof(record) + offsetof(record, field), false, value, 0, text }
#define REAL(section, record, at, field, value, text)                                              \
  { section, (at) * sizeof(record) + offsetof(record, field), true, 0, value, text }

static const Change changes[] = {
    REAL("bodies", BodyRecord, 2, position.z, 0.11, NULL),
    INTEGER("run", RunRecord, 0, grains, -1, "section 'run', record 0: its counts"),
    INTEGER("run", RunRecord, 0, poured, INT64_MAX, "section 'run', record 0: its counts"),
    INTEGER("run", RunRecord, 0, frames_kept, -5, "section 'run', record 0: its counts"),
    INTEGER("run", RunRecord, 0, steps, INT64_MIN, "section 'run', record 0: its counts"),
    INTEGER("run", RunRecord, 0, history_bytes_kept, -1, "section 'run', record 0: the size of"),
    INTEGER("bodies", BodyRecord, 1, id, 0, "section 'bodies', record 1: the order of the ids"),
    INTEGER("bodies", BodyRecord, 0, id, -7, "section 'bodies', record 0: the order of the ids"),
    REAL("bodies", BodyRecord, 1, rotation.w, 0.9, "section 'bodies', record 1: its rotation"),
    REAL("bodies", BodyRecord, 1, rotation.x, NAN, "section 'bodies', record 1: its rotation"),
    INTEGER("bodies", BodyRecord, 1, parts, -1, "section 'bodies', record 1: the number of its"),
    REAL("colliders", ColliderRecord, 1, scale, 0, "section 'colliders', record 1: its scale"),
    REAL("colliders", ColliderRecord, 1, scale, INFINITY, "'colliders', record 1: its scale"),
    REAL("colliders", ColliderRecord, 1, offset.y, NAN, "'colliders', record 1: its place in"),
    REAL("colliders", ColliderRecord, 1, turn.w, 0.9, "'colliders', record 1: its place in"),
    INTEGER("colliders", ColliderRecord, 1, id, -1, "section 'colliders', record 1: its id"),
    INTEGER("colliders", ColliderRecord, 1, id, 77, "record 1: its id, which a grain shares"),
    INTEGER("colliders", ColliderRecord, 1, body_id, 0, "section 'colliders', record 1: its body"),
    REAL("bodies", BodyRecord, 2, position.y, NAN, "section 'bodies', record 2: its place or"),
    REAL("bodies", BodyRecord, 2, position.y, 1e300, "section 'bodies', record 2: its place or"),
    REAL("bodies", BodyRecord, 2, velocity.x, -1e12, "section 'bodies', record 2: its place or"),
    REAL("bodies", BodyRecord, 2, momentum.z, NAN, "section 'bodies', record 2: its place or"),
    INTEGER("bodies", BodyRecord, 2, asleep, -1, "section 'bodies', record 2: its sleep"),
    REAL("impulses", ImpulseRecord, 0, impulse.x, NAN, "section 'impulses', record 0: its values"),
    REAL("impulses", ImpulseRecord, 0, impulse.z, INFINITY, "'impulses', record 0: its values"),
    INTEGER("impulses", ImpulseRecord, 0, low, -1, "section 'impulses', record 0: its ids"),
    INTEGER("cuts", CutRecord, 0, axis, 3, "section 'cuts', record 0: its axis"),
    INTEGER("cuts", CutRecord, 0, axis, INT64_C(1) << 32, "section 'cuts', record 0: its axis"),
    REAL("cuts", CutRecord, 0, at, NAN, "section 'cuts', record 0: its axis"),
};

static TlStatus resume(const char *study, const char *folder) {
  TlRun run;
  TlRunOptions options = {.study = study, .output = folder, .resume = true};
  TlStatus status = tl_run_open(&run, NULL, &options);
  tl_run_close(&run);
  return status;
}

START_TEST(records_that_no_run_wrote_are_refused) {
  char study[512], folder[512], saved[600], *bytes;
  size_t size;
  snprintf(study, sizeof study, "%s/balls.yaml", tl_test_folder());
  snprintf(folder, sizeof folder, "%s/balls.run", tl_test_folder());
  snprintf(saved, sizeof saved, "%s/checkpoint_000000000006.tck", folder);
  tl_made_run(study, folder);
  CK_OK(tl_file_read(saved, &bytes, &size));
  unsigned char *copy = tl_calloc(size, 1);
  ck_assert_ptr_nonnull(copy);
  snprintf(saved, sizeof saved, "%s/checkpoint_000000000006.tck", folder);
  for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
    const Change *c = &changes[i];
    memcpy(copy, bytes, size);
    unsigned char *records = tl_made_section(copy, size, c->section);
    ck_assert_ptr_nonnull(records);
    if (c->real)
      memcpy(records + c->at, &c->number, 8);
    else
      memcpy(records + c->at, &c->integer, 8);
    tl_made_mend_checkpoint(copy, size);
    CK_OK(tl_file_write(saved, (char *)copy, size, true));
    if (c->refusal)
      CK_FAILS(resume(study, folder), TL_EINPUT, c->refusal);
    else
      CK_OK(resume(study, folder));
  }
  tl_free(copy);
  tl_free(bytes);
}
END_TEST

TL_TEST_MAIN("resume_state", records_that_no_run_wrote_are_refused)
