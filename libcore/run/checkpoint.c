#include "run/checkpoint.h"

#include "base/digest.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "num/sort.h"
#include "run/inputs.h"
#include "run/pair_homes.h"
#include "run/portion.h"
#include "run/run_record.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const int64_t MOST_COUNT = INT64_C(1) << 50; /* of grains, steps, frames: above any */
static const double MOST_METRES = 1e9;              /* of a place; of a speed a second */

/* ---- records ---- */

/* Layouts as the sections give them. */
static const char *layout_of(const TlRecord *record, char text[TL_CHECKPOINT_LAYOUT]) {
  tl_record_layout(record, TL_SAVE, text, TL_CHECKPOINT_LAYOUT);
  return text;
}
static int64_t bytes_of(const TlRecord *record) {
  return (int64_t)tl_record_packed_bytes(record, TL_SAVE);
}

static const char cut_layout[] = "int64_t axis; double at; ";
typedef struct CutRecord {
  int64_t axis;
  double at;
} CutRecord;

/* ---- saving ---- */

typedef struct Saver {
  TlRun *run;
  bool hurry;
  TlCheckpointWriter *writer; /* rank 0 only */
  TlSharedFile file;
  TlBodyOrder order; /* of the owned bodies */
  int64_t *id;       /* theirs, ascending */
  int64_t *part_id;  /* ids of the owned colliders, ascending */
} Saver;

static TlStatus save_text(Saver *s, const char *name, const char *text) {
  int64_t size = (int64_t)strlen(text);
  if (!s->writer) return TL_OK;
  TL_TRY(tl_checkpoint_section(s->writer, name, "text", 1, size));
  return tl_checkpoint_rows(s->writer, text, size);
}

static TlStatus save_study(Saver *s) {
  return save_text(s, "study", s->run->model->effective);
}
static TlStatus save_study_path(Saver *s) {
  return save_text(s, "study_path", s->run->study_path);
}
static TlStatus save_catalog_path(Saver *s) {
  return save_text(s, "catalog_path", s->run->catalog_path ? s->run->catalog_path : "");
}

static TlStatus save_terrain(Saver *s) {
  char hex[65];
  TL_TRY(tl_inputs_terrain(s->run, hex));
  return save_text(s, "terrain", hex);
}

static TlStatus save_tables(Saver *s) {
  char hex[65];
  TL_TRY(tl_inputs_tables(s->run, hex));
  return save_text(s, "wall_tables", hex);
}

/* A section whose one record is on rank 0. */
static TlStatus save_record(Saver *s, const TlRecord *record, const void *row) {
  char layout[TL_CHECKPOINT_LAYOUT];
  unsigned char *packed;
  if (!s->writer) return TL_OK;
  TL_TRY(TL_NEW(packed, (size_t)bytes_of(record)));
  tl_record_pack(record, TL_SAVE, row, 0, packed);
  TlStatus status = tl_checkpoint_section(s->writer, record->name, layout_of(record, layout),
                                          (size_t)bytes_of(record), 1);
  if (status == TL_OK) status = tl_checkpoint_rows(s->writer, packed, 1);
  tl_free(packed);
  return status;
}

static TlStatus save_run(Saver *s) {
  const TlRun *run = s->run;
  TlRunRecord record;
  double cpu_s = run->state->totals.cpu_s;
  TlDeparted all, *departed = &all;
  TL_TRY(tl_comm_sum(run->comm, &cpu_s, 1));
  TL_TRY(tl_departed_gather(run, departed));
#define F(type, name, unit, attributes, meaning, place) record.name = place;
  TL_RUN_FIELDS(F)
#undef F
  record.cpu_s = cpu_s;
  record.wall_s = tl_clock_s() - run->started_s;
  return save_record(s, &tl_run_record, &record);
}

static TlStatus save_apparatus(Saver *s) {
  const TlApparatus *a = s->run->model->apparatus;
  return a ? save_record(s, &a->state, s->run->state->apparatus) : TL_OK;
}

/* A file whose digests are right may still have been made by something else than a run. */
static TlStatus no_state(const TlRun *run, const char *section, int64_t record, const char *what) {
  return tl_fail(TL_EINPUT, "%s: section '%s', record %lld: %s; it is no state of this study",
                 tl_checkpoint_path(run->checkpoint), section, (long long)record, what);
}

static TlStatus save_cuts(Saver *s) {
  const TlDomain *d = &s->run->dist->domain;
  if (!s->writer) return TL_OK;
  TL_TRY(tl_checkpoint_section(s->writer, "cuts", cut_layout, sizeof(CutRecord), d->ranks));
  for (int i = 0; i < d->ranks; i++) {
    CutRecord cut = {d->cut[i].axis, d->cut[i].at};
    TL_TRY(tl_checkpoint_rows(s->writer, &cut, 1));
  }
  return TL_OK;
}

/* Rows of a section that lie on all ranks, on their way to those that write them. */
typedef struct Sharing {
  Saver *saver;
  TlPortion part;
  size_t bytes;           /* of a record */
  int64_t place;          /* of the section's records in the file */
  unsigned char *digests; /* of the blocks of one rank */
  TlDigest *digest;
  TlCommBatch batch;
} Sharing;

enum { TAG_DIGESTS = 20 };

static int64_t blocks_of(const Sharing *h, int writer) {
  int64_t rows = tl_portion_first(&h->part, writer + 1) - tl_portion_first(&h->part, writer);
  return (rows + TL_CHECKPOINT_BLOCK - 1) / TL_CHECKPOINT_BLOCK;
}

static TlStatus write_block(Sharing *h, int64_t first, const unsigned char *rows, int64_t count) {
  size_t size = (size_t)count * h->bytes;
  const TlOutPart *file;
  if (h->saver->writer) return tl_checkpoint_rows(h->saver->writer, rows, count);
  TL_TRY(tl_shared_file_part(&h->saver->file, &file));
  TL_TRY(tl_outpart_put(file, h->place + (h->part.first + first) * (int64_t)h->bytes, rows, size));
  tl_digest_restart(h->digest);
  tl_digest_add(h->digest, rows, size);
  return tl_digest_value(h->digest, h->digests + first / TL_CHECKPOINT_BLOCK * TL_DIGEST_BYTES);
}

/* Memory is asked for here, where ranks can still leave together. */
static TlStatus write_part(Sharing *h) {
  const TlRows *rows = &h->part.rows;
  int64_t blocks = 0, block = TL_CHECKPOINT_BLOCK;
  unsigned char *packed;
  for (int r = 0; r < h->part.writers; r++)
    blocks = blocks_of(h, r) > blocks ? blocks_of(h, r) : blocks;
  TL_TRY(TL_NEW(h->digests, (size_t)blocks * TL_DIGEST_BYTES));
  TL_TRY(tl_digest_new(&h->digest));
  TL_TRY(tl_comm_batch_reserve(&h->batch, 1));
  TL_TRY(TL_NEW(packed, (size_t)(rows->count < block ? rows->count : block) * h->bytes));
  TlStatus status = TL_OK;
  for (int64_t first = 0; status == TL_OK && first < rows->count; first += block) {
    int64_t n = rows->count - first < block ? rows->count - first : block;
    rows->pack(rows->of, first, n, packed);
    status = write_block(h, first, packed, n);
  }
  tl_free(packed);
  return status;
}

static TlStatus pass_digests(Sharing *h) {
  TlComm *comm = h->saver->run->comm;
  int me = tl_comm_rank(comm);
  TlStatus status = TL_OK;
  for (int r = 1; r < h->part.writers; r++) {
    size_t bytes = (size_t)blocks_of(h, r) * TL_DIGEST_BYTES;
    if (r == me) TL_TRY(tl_comm_send(comm, &h->batch, 0, TAG_DIGESTS, h->digests, bytes));
    if (me == 0) TL_TRY(tl_comm_receive(comm, &h->batch, r, TAG_DIGESTS, h->digests, bytes));
    TL_TRY(tl_comm_wait(comm, &h->batch));
    if (me == 0 && status == TL_OK)
      status =
          tl_checkpoint_leave(h->saver->writer, h->digests,
                              tl_portion_first(&h->part, r + 1) - tl_portion_first(&h->part, r));
  }
  return status;
}

static TlStatus begin_section(Sharing *h, const char *name, const TlRecord *record) {
  char layout[TL_CHECKPOINT_LAYOUT];
  TlCheckpointWriter *writer = h->saver->writer;
  if (!writer) return TL_OK;
  TL_TRY(tl_checkpoint_section(writer, name, layout_of(record, layout), h->bytes, h->part.all));
  return tl_checkpoint_place(writer, &h->place);
}

/* A section whose rows lie on all ranks, each rank's in order. */
static TlStatus save_rows(Saver *s, const char *name, const TlRows *rows) {
  TlComm *comm = s->run->comm;
  Sharing h = {.saver = s, .bytes = (size_t)bytes_of(rows->record)};
  TL_TRY(tl_portion_take(comm, rows, TL_CHECKPOINT_BLOCK, &h.part));
  TlStatus status = tl_comm_agree(comm, begin_section(&h, name, rows->record));
  bool together = h.part.writers > 1;
  if (status == TL_OK && together) {
    status = tl_shared_file_tell(comm, s->writer ? tl_checkpoint_file(s->writer) : NULL, !s->hurry,
                                 &s->file);
    if (status == TL_OK) status = tl_comm_broadcast(comm, &h.place, sizeof h.place, 0);
  }
  if (status == TL_OK && h.part.all > 0) status = tl_comm_agree(comm, write_part(&h));
  if (status == TL_OK && together) status = pass_digests(&h);
  tl_portion_free(&h.part);
  tl_free(h.digests);
  tl_digest_free(h.digest);
  tl_comm_batch_free(&h.batch);
  return status;
}

/* What is not in cells.csv yet. */
static TlStatus save_cells(Saver *s) {
  TlCellRow *row = NULL;
  const TlCells *cells = &s->run->cells;
  if (!cells->wanted) return TL_OK;
  TlStatus status = tl_comm_agree(s->run->comm, tl_cells_sorted(cells, &row));
  TlRows rows = tl_cell_rows(row, cells->count);
  if (status == TL_OK) status = save_rows(s, "cells", &rows);
  tl_free(row);
  return status;
}

static TlStatus save_bodies(Saver *s) {
  TlRows rows = tl_body_rows(&s->order);
  return save_rows(s, "bodies", &rows);
}

static TlStatus save_colliders(Saver *s) {
  TlRows rows = tl_collider_rows(&s->order);
  return save_rows(s, "colliders", &rows);
}

/* The rows of one kind whose lower id is owned here, by their places. */
typedef struct PairRows {
  const TlRecord *record;
  const TlPairRows *all;
  int64_t *at;
} PairRows;

static void pack_pairs(const void *of, int64_t first, int64_t count, unsigned char *to) {
  const PairRows *p = of;
  for (int64_t i = first; i < first + count; i++)
    to = tl_record_pack(p->record, TL_SAVE, p->all->row, p->at[i], to);
}

static TlStatus list_pairs(Saver *s, TlPairKind kind, PairRows *p, int64_t *count) {
  const TlBodies *b = &s->run->state->dem.bodies;
  bool bodies = kind >= TL_FIRST_CONSTRAINT;
  const int64_t *id = bodies ? s->id : s->part_id;
  size_t owned = (size_t)(bodies ? b->owned : b->colliders.owned);
  *p = (PairRows){.record = &tl_pair_record[kind], .all = &b->pairs.of[kind]};
  TL_TRY(TL_NEW(p->at, p->all->count));
  for (size_t k = 0; k < p->all->count; k++) {
    TlPairKey key = tl_pair_key(p->all, kind, k);
    if (bsearch(&key.low, id, owned, sizeof *id, tl_by_int)) p->at[(*count)++] = (int64_t)k;
  }
  return TL_OK;
}

/* A section for each kind of contact memory and constraint, named after its record. */
static TlStatus save_pairs(Saver *s) {
  TlStatus status = TL_OK;
  for (int k = 0; status == TL_OK && k < TL_PAIR_KINDS; k++) {
    PairRows pairs;
    TlRows rows = {.record = &tl_pair_record[k], .attributes = TL_SAVE, .keys = 3};
    status = tl_comm_agree(s->run->comm, list_pairs(s, (TlPairKind)k, &pairs, &rows.count));
    rows.pack = pack_pairs;
    rows.of = &pairs;
    if (status == TL_OK) status = save_rows(s, rows.record->name, &rows);
    tl_free(pairs.at);
  }
  return status;
}

static void pack_marks(const void *of, int64_t first, int64_t count, unsigned char *to) {
  for (int64_t i = first; i < first + count; i++)
    to = tl_record_pack(&tl_shape_mark_record, TL_SAVE, of, i, to);
}

/* A shape that is used on several ranks stands there as often. */
static TlStatus save_shapes(Saver *s) {
  TlShapeMark *marks = NULL;
  TlRows rows = {.record = &tl_shape_mark_record, .attributes = TL_SAVE, .keys = 1};
  TlStatus status = tl_inputs_shapes(s->run, &marks, &rows.count);
  status = tl_comm_agree(s->run->comm, status);
  rows.pack = pack_marks;
  rows.of = marks;
  if (status == TL_OK) status = save_rows(s, "shapes", &rows);
  tl_free(marks);
  return status;
}

/* ---- resuming: sections ---- */

/* Records in blocks, as they lie in the file. */
enum { BLOCK = 1024 };
typedef struct Records {
  TlRun *run;
  const char *section;
  const TlRecord *record;
  int64_t first, end;
  /* row: of the record's struct; where the fields are arrays, as it is packed */
  TlStatus (*take)(void *context, int64_t number, const void *row);
  void *context;
} Records;

static TlStatus find_records(const TlRun *run, const char *section, const TlRecord *record,
                             int64_t *count) {
  char layout[TL_CHECKPOINT_LAYOUT];
  return tl_checkpoint_find(run->checkpoint, section, layout_of(record, layout),
                            (size_t)bytes_of(record), count);
}

/* Of a section that was found. */
static TlStatus load_records(const Records *of) {
  unsigned char *block = NULL, *row = NULL;
  TlStatus status = TL_NEW(block, BLOCK * (size_t)bytes_of(of->record));
  if (status == TL_OK) status = TL_NEW(row, of->record->bytes);
  for (int64_t first = of->first; status == TL_OK && first < of->end; first += BLOCK) {
    int64_t n = of->end - first < BLOCK ? of->end - first : BLOCK;
    const unsigned char *from = block;
    status = tl_checkpoint_read(of->run->checkpoint, of->section, first, n, block);
    for (int64_t i = 0; status == TL_OK && i < n; i++) {
      const unsigned char *packed = from + i * bytes_of(of->record);
      if (of->record->bytes > 0) tl_record_unpack(of->record, TL_SAVE, row, 0, packed);
      status = of->take(of->context, first + i, of->record->bytes > 0 ? row : packed);
    }
  }
  tl_free(block);
  tl_free(row);
  return status;
}

static TlStatus take_run(void *context, int64_t number, const void *row) {
  TlRun *run = context;
  const TlRunRecord *record = row;
  TlDeparted *departed = &run->state->departed;
  (void)number;
#define F(type, name, unit, attributes, meaning, place) place = record->name;
  TL_RUN_FIELDS(F)
#undef F
  return TL_OK;
}

static TlStatus load_run(TlRun *run) {
  int64_t count;
  TL_TRY(find_records(run, "run", &tl_run_record, &count));
  if (count != 1) return no_state(run, "run", 0, "one record is wanted");
  TL_TRY(load_records(&(Records){run, "run", &tl_run_record, 0, 1, take_run, run}));
  if (tl_comm_rank(run->comm) != 0) { /* sums over the ranks, of which the first has them all */
    run->state->totals.cpu_s = 0;
    run->state->departed = (TlDeparted){.front_m = run->state->departed.front_m};
  }
  const TlRunTotals *t = &run->state->totals;
  const int64_t counts[] = {run->state->grains, run->state->poured, run->output.kept_frames,
                            t->steps,           t->frames,          t->outside,
                            t->embedded,        t->unresolved,      t->sunk};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
    if (counts[i] < 0 || counts[i] > MOST_COUNT) return no_state(run, "run", 0, "its counts");
  for (int k = 0; k < TL_TABLES; k++)
    if (run->output.kept_bytes.table[k] < 0) return no_state(run, "run", 0, "the size of a table");
  return TL_OK;
}

static TlStatus take_apparatus(void *context, int64_t number, const void *row) {
  TlRun *run = context;
  const TlApparatus *a = run->model->apparatus;
  memcpy(run->state->apparatus, row, a->state.bytes);
  return tl_record_finite(&a->state, row, 0) && a->state_is_sound(run)
             ? TL_OK
             : no_state(run, a->state.name, number, "its numbers");
}

static TlStatus load_apparatus(TlRun *run) {
  const TlApparatus *a = run->model->apparatus;
  int64_t count;
  if (!a) return TL_OK;
  TL_TRY(find_records(run, a->state.name, &a->state, &count));
  if (count != 1) return no_state(run, a->state.name, 0, "one record is wanted");
  return load_records(&(Records){run, a->state.name, &a->state, 0, 1, take_apparatus, run});
}

/* What tl_bodies_load takes for granted, and the order that the touches are found by. */
static TlStatus check_body(const TlRun *run, int64_t record, const TlBodies *b, int64_t i) {
  TlQuat q = b->rotation[i];
  double n2 = q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z;
  if (b->id[i] <= (i > 0 ? b->id[i - 1] : -1))
    return no_state(run, "bodies", record, "the order of the ids");
  if (b->parts[i] < 0) return no_state(run, "bodies", record, "the number of its colliders");
  if (!(fabs(n2 - 1) < 1e-6)) return no_state(run, "bodies", record, "its rotation");
  if (!(tl_norm(b->position[i]) < MOST_METRES) || !(tl_norm(b->velocity[i]) < MOST_METRES) ||
      !isfinite(tl_norm(b->momentum[i])))
    return no_state(run, "bodies", record, "its place or motion");
  if (b->asleep[i] < 0 || b->quiet[i] < 0) return no_state(run, "bodies", record, "its sleep");
  return TL_OK;
}

static TlStatus check_collider(const TlRun *run, int64_t record, const TlColliders *c) {
  TlQuat q = c->turn[0];
  double n2 = q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z;
  if (c->id[0] < 0) return no_state(run, "colliders", record, "its id");
  if (!(c->scale[0] > 0 && isfinite(c->scale[0])))
    return no_state(run, "colliders", record, "its scale");
  if (!(fabs(n2 - 1) < 1e-6) || !(tl_norm(c->offset[0]) < MOST_METRES))
    return no_state(run, "colliders", record, "its place in its body");
  return TL_OK;
}

typedef struct Loading {
  TlRun *run;
  TlBodies one;      /* with one collider: the one at hand, to be looked at */
  int64_t at, parts; /* the body whose colliders come now, and how many have come */
  int64_t before;    /* the last one's id */
} Loading;

static TlStatus take_body(void *context, int64_t number, const void *row) {
  const Loading *l = context;
  TlBodies *b = &l->run->state->dem.bodies;
  TL_TRY(tl_bodies_load(b, row));
  return check_body(l->run, number, b, b->owned - 1);
}

/* They come by their bodies' ids, of all ranks. */
static TlStatus take_collider(void *context, int64_t number, const void *row) {
  Loading *l = context;
  TlRun *run = l->run;
  TlBodies *b = &run->state->dem.bodies;
  TlColliders *c = &l->one.colliders;
  tl_record_unpack(&tl_collider_record, TL_SAVE, c, 0, row);
  TL_TRY(check_collider(run, number, c));
  if (b->owned == 0 || c->body_id[0] < b->id[0] || c->body_id[0] > b->id[b->owned - 1])
    return TL_OK;
  if (l->at == b->owned || c->body_id[0] != b->id[l->at])
    return no_state(run, "colliders", number, "its body");
  if (b->parts[l->at] == 0 && c->id[0] != b->id[l->at])
    return no_state(run, "colliders", number, "its id, which a grain shares");
  if (l->parts > 0 && c->id[0] <= l->before)
    return no_state(run, "colliders", number, "the order of the ids");
  TL_TRY(tl_bodies_load_collider(b, l->at, row));
  l->before = c->id[0];
  if (++l->parts < tl_bodies_parts(b, l->at)) return TL_OK;
  l->parts = 0;
  l->at++;
  return TL_OK;
}

/* The first record whose leading number is not below this one: records lie in the order of theirs. */
static TlStatus find_first(const TlRun *run, const char *section, const TlRecord *record,
                           int64_t all, int64_t number, int64_t *at) {
  unsigned char *row;
  int64_t low = 0, high = all, there = 0;
  TL_TRY(TL_NEW(row, (size_t)bytes_of(record)));
  TlStatus status = TL_OK;
  while (status == TL_OK && low < high) {
    int64_t mid = low + (high - low) / 2;
    status = tl_checkpoint_read(run->checkpoint, section, mid, 1, row);
    memcpy(&there, row, sizeof there);
    if (there < number)
      low = mid + 1;
    else
      high = mid;
  }
  tl_free(row);
  *at = low;
  return status;
}

/* Those of the bodies that are here. The first and the last rank also look at what lies beyond. */
static TlStatus load_colliders(Loading *l, int64_t all) {
  TlRun *run = l->run;
  const TlBodies *b = &run->state->dem.bodies;
  int rank = tl_comm_rank(run->comm);
  int64_t first = 0, end = all;
  if (b->owned == 0 && rank > 0) return TL_OK;
  const TlRecord *record = &tl_collider_record;
  if (rank > 0) TL_TRY(find_first(run, "colliders", record, all, b->id[0], &first));
  if (rank + 1 < tl_comm_size(run->comm) && b->owned > 0)
    TL_TRY(find_first(run, "colliders", record, all, b->id[b->owned - 1] + 1, &end));
  TL_TRY(load_records(&(Records){run, "colliders", record, first, end, take_collider, l}));
  return l->at < b->owned ? no_state(run, "colliders", end, "their number") : TL_OK;
}

/* Rank r begins with the r-th part of the bodies by id; migration brings them home. */
static TlStatus load_bodies(TlRun *run) {
  int64_t all, colliders, ranks = tl_comm_size(run->comm), rank = tl_comm_rank(run->comm);
  TL_TRY(find_records(run, "bodies", &tl_body_record, &all));
  if (all > MOST_COUNT) return no_state(run, "bodies", 0, "their number");
  TL_TRY(find_records(run, "colliders", &tl_collider_record, &colliders));
  int64_t first = all * rank / ranks, end = all * (rank + 1) / ranks;
  Loading l = {.run = run};
  int64_t only;
  TlStatus status = tl_bodies_reserve(&run->state->dem.bodies, end - first);
  if (status == TL_OK) status = tl_bodies_add(&l.one, 0, 1, &only);
  if (status == TL_OK)
    status = load_records(&(Records){run, "bodies", &tl_body_record, first, end, take_body, &l});
  if (status == TL_OK) status = load_colliders(&l, colliders);
  tl_bodies_free(&l.one);
  return status;
}

static bool is_in(const int64_t *ids, int64_t count, int64_t id) {
  return id >= 0 && bsearch(&id, ids, (size_t)count, sizeof id, tl_by_int) != NULL;
}

typedef struct LoadingPairs {
  TlRun *run;
  TlPairKind kind;
  const int64_t *id; /* of the bodies or colliders that are here, ascending */
  int64_t ids;
  int64_t from, to; /* the low ids whose rows come are from .. to-1 */
} LoadingPairs;

static TlStatus take_pair(void *context, int64_t number, const void *row) {
  const LoadingPairs *l = context;
  TlRun *run = l->run;
  const TlRecord *record = &tl_pair_record[l->kind];
  TlPairKey key;
  memcpy(&key, row, sizeof key);
  if (key.low < 0 || (key.high >= 0 && key.high <= key.low))
    return no_state(run, record->name, number, "its ids");
  if (key.low < l->from || key.low >= l->to)
    return no_state(run, record->name, number, "the order of its ids");
  if (!tl_record_finite(record, row, 0)) return no_state(run, record->name, number, "its values");
  if (!is_in(l->id, l->ids, key.low) && !is_in(l->id, l->ids, key.high)) return TL_OK;
  return tl_pair_state_add(&run->state->dem.bodies.pairs, l->kind, row);
}

static TlStatus sorted_ids(const int64_t *id, int64_t count, int64_t **sorted) {
  TL_TRY(TL_NEW(*sorted, (size_t)count));
  if (count) memcpy(*sorted, id, (size_t)count * sizeof *id);
  qsort(*sorted, (size_t)count, sizeof *id, tl_by_int);
  return TL_OK;
}

/* The ids that this rank's part of the bodies begins with, and that of the next one. */
static TlStatus id_range(const TlRun *run, int64_t *from, int64_t *to) {
  int64_t all, ranks = tl_comm_size(run->comm), rank = tl_comm_rank(run->comm);
  unsigned char *row;
  *from = INT64_MIN;
  *to = INT64_MAX;
  TL_TRY(find_records(run, "bodies", &tl_body_record, &all));
  TL_TRY(TL_NEW(row, (size_t)bytes_of(&tl_body_record)));
  TlStatus status = TL_OK;
  for (int64_t r = rank; status == TL_OK && r <= rank + 1; r++) {
    int64_t number = all * r / ranks;
    if (r == 0 || number == all) continue;
    status = tl_checkpoint_read(run->checkpoint, "bodies", number, 1, row);
    memcpy(r == rank ? from : to, row, sizeof *from);
  }
  if (all * rank / ranks == all && rank > 0) *from = INT64_MAX; /* no bodies are left for it */
  tl_free(row);
  return status;
}

/* Rows of the low ids between from and to. */
static TlStatus read_pairs(TlRun *run, const int64_t *parts, int64_t from, int64_t to) {
  const TlBodies *b = &run->state->dem.bodies;
  for (int k = 0; k < TL_PAIR_KINDS; k++) {
    LoadingPairs loading = {run, (TlPairKind)k, parts, b->colliders.owned, from, to};
    if (k >= TL_FIRST_CONSTRAINT) { /* the bodies lie in the order of their ids */
      loading.id = b->id;
      loading.ids = b->owned;
    }
    const TlRecord *record = &tl_pair_record[k];
    int64_t all, first = 0, end;
    TL_TRY(find_records(run, record->name, record, &all));
    end = all;
    if (from > INT64_MIN) TL_TRY(find_first(run, record->name, record, all, from, &first));
    if (to < INT64_MAX) TL_TRY(find_first(run, record->name, record, all, to, &end));
    TL_TRY(load_records(&(Records){run, record->name, record, first, end, take_pair, &loading}));
  }
  return TL_OK;
}

/* Collective. Each rank reads the rows whose low id is its own and sends those whose high id is another
 * rank's there. Where colliders' ids lie outside the ids of their rank's bodies, each reads them all. */
static TlStatus load_pairs(TlRun *run) {
  TlBodies *b = &run->state->dem.bodies;
  int64_t *parts, from = 0, to = 0, astray = 0;
  TlStatus status = sorted_ids(b->colliders.id, b->colliders.owned, &parts);
  if (status == TL_OK) status = id_range(run, &from, &to);
  for (int64_t i = 0; status == TL_OK && i < b->colliders.owned; i++)
    astray += parts[i] < from || parts[i] >= to;
  status = tl_comm_agree(run->comm, status);
  if (status == TL_OK) status = tl_comm_sum_int(run->comm, &astray, 1);
  if (status == TL_OK) {
    status =
        astray ? read_pairs(run, parts, INT64_MIN, INT64_MAX) : read_pairs(run, parts, from, to);
    status = tl_comm_agree(run->comm, status);
  }
  if (status == TL_OK && !astray && tl_comm_size(run->comm) > 1)
    status = tl_pair_homes(run->comm, from, &b->pairs);
  tl_free(parts);
  tl_pair_state_sort(&b->pairs);
  return status;
}

/* Whether a digest is the one that the checkpoint holds under this name. */
static TlStatus same_digest(const TlRun *run, const char *name, const char *now, bool *same) {
  char then[65] = "";
  int64_t size;
  TL_TRY(tl_checkpoint_find(run->checkpoint, name, "text", 1, &size));
  if (size < (int64_t)sizeof then) TL_TRY(tl_checkpoint_read(run->checkpoint, name, 0, size, then));
  *same = strcmp(now, then) == 0;
  return TL_OK;
}

static TlStatus check_tables(TlRun *run) {
  const TlWallSetup *w = run->model->setup.walls.items;
  char now[65], key[48] = "walls";
  bool same;
  TL_TRY(tl_inputs_tables(run, now));
  TL_TRY(same_digest(run, "wall_tables", now, &same));
  if (same) return TL_OK;
  for (int64_t i = run->model->setup.walls.count - 1; i >= 0; i--)
    if (w[i].table) snprintf(key, sizeof key, "walls.%lld.table", (long long)i);
  return tl_study_fail(&run->model->study, TL_EINPUT, key,
                       "the walls' tables are not those that %s began with",
                       tl_checkpoint_path(run->checkpoint));
}

static TlStatus check_terrain(TlRun *run) {
  char now[65];
  bool same;
  TL_TRY(tl_inputs_terrain(run, now));
  TL_TRY(same_digest(run, "terrain", now, &same));
  if (same) return TL_OK;
  return tl_study_fail(&run->model->study, TL_EINPUT, "terrain.name",
                       "the catalog's terrain is not the one that %s began with",
                       tl_checkpoint_path(run->checkpoint));
}

/* Each rank takes a part: they are largest values, which any rank may add to. */
static TlStatus load_cells(TlRun *run) {
  TlCells *c = &run->cells;
  int64_t count, cells = c->grid.nx * c->grid.ny;
  int me = tl_comm_rank(run->comm), ranks = tl_comm_size(run->comm);
  if (!c->wanted) return TL_OK;
  TL_TRY(find_records(run, "cells", &tl_cell_row_record, &count));
  for (int64_t i = count * me / ranks; i < count * (me + 1) / ranks; i++) {
    TlCellRow row;
    TL_TRY(tl_checkpoint_read(run->checkpoint, "cells", i, 1, &row));
    if (row.cell < 0 || row.cell >= cells) return no_state(run, "cells", i, "its cell");
    row.rank = me;
    TL_TRY(tl_cells_add(c, &row));
  }
  return TL_OK;
}

static TlStatus load_cuts(TlRun *run) {
  int64_t count;
  TlDomain *d = &run->dist->domain;
  TL_TRY(tl_checkpoint_find(run->checkpoint, "cuts", cut_layout, sizeof(CutRecord), &count));
  if (count != tl_comm_size(run->comm)) return TL_OK;
  tl_domain_free(d);
  TL_TRY(TL_NEW(d->cut, (size_t)count));
  d->ranks = (int)count;
  for (int i = 0; i < d->ranks; i++) {
    CutRecord cut;
    TL_TRY(tl_checkpoint_read(run->checkpoint, "cuts", i, 1, &cut));
    if (cut.axis < 0 || cut.axis > 2 || isnan(cut.at)) return no_state(run, "cuts", i, "its axis");
    d->cut[i] = (TlCut){(int)cut.axis, cut.at};
  }
  return TL_OK;
}

/* ---- the table ---- */

typedef struct Section {
  const char *name;
  TlStatus (*save)(Saver *saver); /* collective */
  TlStatus (*load)(TlRun *run);   /* each rank for itself; NULL: elsewhere */
} Section;

/* Loaded in this order. */
static const Section sections[] = {
    {"study", save_study, NULL},
    {"study_path", save_study_path, NULL},
    {"catalog_path", save_catalog_path, NULL},
    {"terrain", save_terrain, check_terrain},
    {"wall_tables", save_tables, check_tables},
    {"run", save_run, load_run},
    {NULL, save_apparatus, load_apparatus}, /* named after the device */
    {"cuts", save_cuts, load_cuts},
    {"cells", save_cells, load_cells},
    {"bodies", save_bodies, NULL},
    {"colliders", save_colliders, load_bodies},
    {NULL, save_pairs, NULL},      /* sections named after tl_pair_record; load_pairs */
    {"shapes", save_shapes, NULL}, /* tl_resume_shapes */
};
enum { SECTIONS = sizeof sections / sizeof *sections };

/* ---- saving: all of it ---- */

static TlStatus sort_ids(Saver *s) {
  const TlBodies *b = &s->run->state->dem.bodies;
  TL_TRY(tl_body_order(b, &s->order));
  TL_TRY(sorted_ids(b->id, b->owned, &s->id));
  return sorted_ids(b->colliders.id, b->colliders.owned, &s->part_id);
}

static TlStatus start_saver(Saver *s) {
  TlRun *run = s->run;
  TL_TRY(sort_ids(s));
  if (tl_comm_rank(run->comm) != 0) return TL_OK;
  /* What the checkpoint says is kept must be there; in a hurry all goes to the disk at the end, and
   * the older checkpoints stay until it has. */
  if (!s->hurry) TL_TRY(tl_output_sync(&run->output));
  return tl_checkpoint_create(&s->writer, run->folder, run->state->totals.steps);
}

static TlStatus commit(Saver *s) {
  TlCheckpointWriter *writer = s->writer;
  if (!writer) return TL_OK;
  s->writer = NULL;
  return tl_checkpoint_commit(writer, !s->hurry);
}

/* The older ones stay until the new one is on the disk, what each rank wrote of it. */
static TlStatus finish_saver(Saver *s) {
  TlRun *run = s->run;
  TL_TRY(tl_comm_agree(run->comm, tl_shared_file_close(&s->file)));
  TL_TRY(tl_comm_agree(run->comm, commit(s)));
  if (s->hurry) TL_TRY(tl_comm_agree(run->comm, tl_disk_sync(run->folder)));
  TlStatus status = TL_OK;
  if (tl_comm_rank(run->comm) == 0)
    status = tl_checkpoint_prune(run->folder, -1, run->model->setup.checkpoint.keep);
  return tl_comm_agree(run->comm, status);
}

TlStatus tl_run_save(TlRun *run, bool hurry) {
  Saver s = {.run = run, .hurry = hurry};
  double start = tl_clock_s();
  tl_bodies_drop_ghosts(&run->state->dem.bodies);
  TlStatus status = tl_comm_agree(run->comm, start_saver(&s));
  for (int i = 0; status == TL_OK && i < SECTIONS; i++)
    status = tl_comm_agree(run->comm, sections[i].save(&s));
  if (status == TL_OK) status = finish_saver(&s);
  TL_CLEAN_UP(tl_shared_file_close(&s.file));
  tl_checkpoint_abort(s.writer);
  tl_body_order_free(&s.order);
  tl_free(s.id);
  tl_free(s.part_id);
  run->saved_s = tl_clock_s();
  if (status == TL_OK)
    tl_log_debug("step %lld: state saved in %.2f s", (long long)run->state->totals.steps,
                 run->saved_s - start);
  return status;
}

/* ---- resuming ---- */

/* Sections that this program does not know hold state that it would lose. */
static TlStatus check_known(const TlCheckpoint *c) {
  const char *name;
  for (int i = 0; (name = tl_checkpoint_name(c, i)); i++) {
    bool known = false;
    for (int k = 0; k < SECTIONS; k++)
      known |= sections[k].name && strcmp(name, sections[k].name) == 0;
    for (int k = 0; k < TL_PAIR_KINDS; k++) known |= strcmp(name, tl_pair_record[k].name) == 0;
    for (int k = 0; k < TL_APPARATUS_COUNT; k++)
      known |= strcmp(name, tl_apparatus(k)->state.name) == 0;
    if (!known)
      return tl_fail(TL_EINPUT,
                     "%s: section '%s' is not known to this program; resume with the one "
                     "that wrote it",
                     tl_checkpoint_path(c), name);
  }
  return TL_OK;
}

static int64_t first_block(const TlRun *run, int64_t blocks, int rank) {
  return blocks * rank / tl_comm_size(run->comm);
}

/* The ranks' digests follow those that rank 0 has. */
static TlStatus gather_digests(TlRun *run, int64_t blocks, unsigned char *digests,
                               TlCommBatch *batch) {
  int me = tl_comm_rank(run->comm), ranks = tl_comm_size(run->comm);
  if (ranks == 1) return TL_OK; /* perhaps without MPI */
  for (int r = 1; r < ranks; r++) {
    int64_t first = first_block(run, blocks, r);
    size_t size = (size_t)(first_block(run, blocks, r + 1) - first) * TL_DIGEST_BYTES;
    if (size == 0) continue;
    if (me == r) TL_TRY(tl_comm_send(run->comm, batch, 0, TAG_DIGESTS, digests, size));
    if (me == 0)
      TL_TRY(tl_comm_receive(run->comm, batch, r, TAG_DIGESTS, digests + first * TL_DIGEST_BYTES,
                             size));
  }
  return tl_comm_wait(run->comm, batch);
}

/* Collective. Each rank reads a part of the checkpoint for its digests; rank 0 holds those of all
 * parts, 32 bytes for 1,024 records. */
static TlStatus verify(TlRun *run) {
  TlCheckpoint *c = run->checkpoint;
  TlCommBatch batch = {0};
  unsigned char *digests;
  int me = tl_comm_rank(run->comm);
  int64_t blocks = tl_checkpoint_blocks(c), first = first_block(run, blocks, me),
          count = first_block(run, blocks, me + 1) - first;
  TlStatus status = TL_NEW(digests, (size_t)(me == 0 ? blocks : count) * TL_DIGEST_BYTES);
  if (status == TL_OK) status = tl_comm_batch_reserve(&batch, (size_t)tl_comm_size(run->comm));
  if (status == TL_OK) status = tl_checkpoint_digest(c, first, count, digests);
  status = tl_comm_agree(run->comm, status);
  if (status == TL_OK) {
    status = gather_digests(run, blocks, digests, &batch);
    if (status == TL_OK && me == 0) status = tl_checkpoint_verify(c, digests);
    status = tl_comm_agree(run->comm, status);
  }
  tl_comm_batch_free(&batch);
  tl_free(digests);
  return status;
}

/* Collective. On failure run->checkpoint stays NULL. */
static TlStatus open_whole(TlRun *run, int64_t step) {
  TlStatus status = tl_checkpoint_open(&run->checkpoint, run->folder, step, false);
  status = tl_comm_agree(run->comm, status);
  if (status == TL_OK) status = verify(run);
  if (status == TL_OK) return TL_OK;
  tl_checkpoint_close(run->checkpoint);
  run->checkpoint = NULL;
  return status;
}

/* Collective. The newest whole one of those that rank 0 has listed. */
static TlStatus open_newest(TlRun *run, const int64_t *steps, int64_t count) {
  TL_TRY(tl_comm_most_int(run->comm, &count, 1));
  for (int64_t i = 0; i < count; i++) {
    int64_t step = steps ? steps[i] : -1;
    TL_TRY(tl_comm_most_int(run->comm, &step, 1));
    TlStatus status = open_whole(run, step);
    if (status != TL_EINPUT) return status;
    tl_log_warn("%s; it is skipped", tl_message());
  }
  return tl_fail(TL_EINPUT,
                 "%s: holds no whole checkpoint to resume from; start the study anew, with "
                 "--overwrite",
                 run->folder);
}

TlStatus tl_resume_find(TlRun *run) {
  int64_t *steps = NULL, count = 0;
  TlStatus status = TL_OK;
  if (tl_comm_rank(run->comm) == 0 && access(run->folder, F_OK) != 0)
    status = tl_fail(TL_EINPUT,
                     "%s: there is no such folder of results, and so no run to resume: name it, "
                     "--resume FOLDER, or start the run without --resume",
                     run->folder);
  else if (tl_comm_rank(run->comm) == 0)
    status = tl_checkpoint_list(run->folder, &steps, &count);
  status = tl_comm_agree(run->comm, status);
  if (status == TL_OK) status = open_newest(run, steps, count);
  tl_free(steps);
  if (status == TL_OK) status = check_known(run->checkpoint);
  return tl_comm_agree(run->comm, status);
}

static TlStatus read_text(const TlCheckpoint *c, const char *name, char **text) {
  int64_t size;
  TL_TRY(tl_checkpoint_find(c, name, "text", 1, &size));
  TL_TRY(TL_NEW(*text, (size_t)size + 1));
  TlStatus status = tl_checkpoint_read((TlCheckpoint *)(uintptr_t)c, name, 0, size, *text);
  if (status != TL_OK) TL_FREE(*text);
  return status;
}

/* Paths count from where the study lay; the catalog is where it was. */
TlStatus tl_resume_study(TlRun *run) {
  char *text;
  const TlCheckpoint *c = run->checkpoint;
  TL_TRY(read_text(c, "study_path", &run->study_path));
  TL_TRY(read_text(c, "catalog_path", &run->catalog_path));
  TL_TRY(read_text(c, "study", &text));
  TlStatus status = tl_study_parse(&run->model->study, tl_checkpoint_path(c), text, strlen(text));
  tl_free(text);
  return status;
}

/* The saved study with the defaults of this program, as the effective study is written. */
static TlStatus saved_effective(const TlRun *run, char **effective) {
  TlStudy study = {0};
  TlSetup setup = {0};
  char *text;
  TL_TRY(read_text(run->checkpoint, "study", &text));
  TlStatus status = tl_study_parse(&study, tl_checkpoint_path(run->checkpoint), text, strlen(text));
  if (status == TL_OK) status = tl_setup_fill(&setup, &study);
  if (status == TL_OK) status = tl_study_write(&tl_setup_schema, &setup, effective);
  tl_setup_free(&setup);
  tl_study_free(&study);
  tl_free(text);
  return status;
}

static TlStatus same_study(TlRun *run) {
  char *saved = NULL;
  TlYamlNode was = {0}, is = {0};
  TlStudyChange d = {.found = false};
  TlStatus status = saved_effective(run, &saved);
  if (status == TL_OK) status = tl_yaml_parse("saved study", saved, strlen(saved), &was);
  if (status == TL_OK)
    status = tl_yaml_parse("study", run->model->effective, strlen(run->model->effective), &is);
  if (status == TL_OK) tl_study_change(&was, &is, &d);
  if (d.found)
    status = tl_study_fail(&run->model->study, TL_EINPUT, d.path,
                           "was %s when %s was written and is %s now; a run resumes with the study "
                           "it began with (only time.duration_s or time.steps may grow)",
                           d.was, tl_checkpoint_path(run->checkpoint), d.is);
  tl_yaml_free(&was);
  tl_yaml_free(&is);
  tl_free(saved);
  return status;
}

TlStatus tl_resume_check(TlRun *run) {
  TL_TRY(same_study(run));
  TL_TRY(load_run(run));
  if (tl_setup_steps(&run->model->setup) >= run->state->totals.steps) return TL_OK;
  return tl_study_fail(&run->model->study, TL_EINPUT,
                       run->model->setup.time.steps > 0 ? "time.steps" : "time.duration_s",
                       "ends with step %lld, and %s is of step %lld already",
                       (long long)tl_setup_steps(&run->model->setup),
                       tl_checkpoint_path(run->checkpoint), (long long)run->state->totals.steps);
}

static TlStatus load_sections(TlRun *run) {
  for (int i = 0; i < SECTIONS; i++)
    if (sections[i].load) TL_TRY(sections[i].load(run));
  return TL_OK;
}

static TlStatus same_shape(const TlRun *run, const TlShapeMark *was, const TlShapeMark *is) {
  if (memcmp(was, is, sizeof *is) == 0) return TL_OK;
  return tl_fail(TL_EINPUT,
                 "%s: grain %lld of the catalog is not the one that %s began with (volume %.9g m3 "
                 "and %lld nodes now, %.9g m3 and %lld then)",
                 run->options.study, (long long)is->id, tl_checkpoint_path(run->checkpoint),
                 is->volume_m3, (long long)is->nodes, was->volume_m3, (long long)was->nodes);
}

TlStatus tl_resume_shapes(TlRun *run) {
  TlShapeMark *marks, was;
  int64_t count, all;
  TL_TRY(find_records(run, "shapes", &tl_shape_mark_record, &all));
  TlStatus status = tl_inputs_shapes(run, &marks, &count);
  for (int64_t i = 0; status == TL_OK && i < all; i++) {
    status = tl_checkpoint_read(run->checkpoint, "shapes", i, 1, &was);
    const TlShapeMark *is =
        status == TL_OK ? bsearch(&was.id, marks, (size_t)count, sizeof *marks, tl_by_int) : NULL;
    if (is) status = same_shape(run, &was, is);
  }
  tl_free(marks);
  return status;
}

TlStatus tl_resume_state(TlRun *run) {
  TL_TRY(tl_comm_agree(run->comm, load_sections(run)));
  TL_TRY(load_pairs(run));
  if (run->dist->domain.ranks != tl_comm_size(run->comm))
    TL_TRY(tl_dist_cut(run->dist, &run->state->dem.bodies));
  TL_TRY(tl_dist_migrate(run->dist, &run->state->dem.bodies, NULL));
  int64_t there = 0;
  for (int64_t i = 0; i < run->state->dem.bodies.owned; i++)
    if (!(run->state->dem.bodies.flags[i] & TL_BODY_NO_GRAIN))
      there += tl_bodies_parts(&run->state->dem.bodies, i);
  TL_TRY(tl_comm_sum_int(run->comm, &there, 1));
  tl_log_info("resuming from %s: step %lld, %lld of %lld grains",
              tl_checkpoint_path(run->checkpoint), (long long)run->state->totals.steps,
              (long long)there, (long long)tl_run_grains(run));
  return TL_OK;
}
