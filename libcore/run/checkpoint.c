#include "run/checkpoint.h"

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "run/gather.h"
#include "run/inputs.h"
#include "run/study_change.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int64_t MOST_COUNT = INT64_C(1) << 50; /* of grains, steps, frames: above any */
static const double MOST_METRES = 1e9;              /* of a place; of a speed a second */

/* ---- records ---- */

#define F(type, name) #type " " #name "; "
static const char body_layout[] = TL_BODY_FIELDS(F);
#undef F
#define F(type, name) +sizeof(type)
enum { BODY_BYTES = 0 TL_BODY_FIELDS(F) };
#undef F

/* Field after field without padding; the id comes first, for the order. */
static void pack_body(const TlBodyState *state, unsigned char *to) {
#define F(type, name) memcpy(to, &state->name, sizeof(type)), to += sizeof(type);
  TL_BODY_FIELDS(F)
#undef F
}
static void unpack_body(TlBodyState *state, const unsigned char *from) {
  memset(state, 0, sizeof *state);
#define F(type, name) memcpy(&state->name, from, sizeof(type)), from += sizeof(type);
  TL_BODY_FIELDS(F)
#undef F
}

static const char touch_layout[] =
    "int64_t low; int64_t high; int64_t key; TlVec3 impulse; TlVec3 normal; ";
static_assert(sizeof(TlTouch) == 3 * 8 + 6 * 8, "touch_layout says what a touch is");

static const char cut_layout[] = "int64_t axis; double at; ";
typedef struct CutRecord {
  int64_t axis;
  double at;
} CutRecord;

/* What a run counts and remembers beside its bodies: type, name, where it is. */
#define RUN_FIELDS(F)                                                                              \
  F(int64_t, grains, run->grains)                                                                  \
  F(int64_t, poured, run->poured)                                                                  \
  F(double, lifted_m, run->lifted_m)                                                               \
  F(TlVec3, start_centre_m, run->start_centre)                                                     \
  F(int64_t, frames_kept, run->output.kept_frames)                                                 \
  F(int64_t, history_bytes_kept, run->output.kept_bytes[TL_TABLE_HISTORY])                         \
  F(int64_t, triaxial_bytes_kept, run->output.kept_bytes[TL_TABLE_TRIAXIAL])                       \
  F(int64_t, departures_bytes_kept, run->output.kept_bytes[TL_TABLE_DEPARTURES])                   \
  F(TlDeparted, departed, run->departed)                                                           \
  F(TlStandstill, standstill, run->still)                                                          \
  F(int64_t, steps, run->totals.steps)                                                             \
  F(int64_t, frames, run->totals.frames)                                                           \
  F(int64_t, outside, run->totals.outside)                                                         \
  F(int64_t, poor, run->totals.poor)                                                               \
  F(int64_t, jammed, run->totals.jammed)                                                           \
  F(double, wall_s, run->totals.wall_s)                                                            \
  F(double, cpu_s, run->totals.cpu_s)                                                              \
  F(double, overlap_share, run->totals.overlap_share)                                              \
  F(double, overlap_m, run->totals.overlap_m)                                                      \
  F(double, boundary_overlap_share, run->totals.boundary_overlap_share)                            \
  F(double, boundary_overlap_m, run->totals.boundary_overlap_m)                                    \
  F(double, travel_share, run->totals.travel_share)                                                \
  F(double, kinetic_start_J, run->totals.kinetic_start_J)                                          \
  F(double, potential_start_J, run->totals.potential_start_J)                                      \
  F(double, kinetic_J, run->totals.kinetic_J)                                                      \
  F(double, potential_J, run->totals.potential_J)                                                  \
  F(double, wall_work_J, run->totals.wall_work_J)                                                  \
  F(double, friction_J, run->totals.ledger.friction_J)                                             \
  F(double, viscous_J, run->totals.ledger.viscous_J)                                               \
  F(double, drag_J, run->totals.ledger.drag_J)                                                     \
  F(double, ledger_wall_J, run->totals.ledger.wall_J)                                              \
  F(double, ledger_start_J, run->totals.ledger.start_J)                                            \
  F(double, ledger_defect_J, run->totals.ledger.defect_J)                                          \
  F(double, ledger_net_J, run->totals.ledger.net_J)                                                \
  F(double, ledger_net_damping_J, run->totals.ledger.net_damping_J)                                \
  F(double, ledger_pressure_J, run->totals.ledger.pressure_J)                                      \
  F(double, ledger_kinetic_J, run->totals.ledger.kinetic_J)                                        \
  F(double, ledger_potential_J, run->totals.ledger.potential_J)                                    \
  F(double, ledger_elastic_J, run->totals.ledger.elastic_J)                                        \
  F(int64_t, ledger_moving, run->totals.ledger.moving)                                             \
  F(int64_t, zero_finishes, run->totals.zero_finishes)                                             \
  F(int64_t, unfinished, run->totals.unfinished)                                                   \
  F(int64_t, rest_unfinished, run->totals.rest_unfinished)                                         \
  F(int64_t, impulses, run->totals.impulses)                                                       \
  F(int64_t, last_contacts, run->totals.last.contacts)                                             \
  F(int64_t, last_islands, run->totals.last.islands)                                               \
  F(double, last_overlap_share, run->totals.last.overlap_share)                                    \
  F(double, last_boundary_overlap_share, run->totals.last.boundary_overlap_share)
#define F(type, name, place) type name;
typedef struct RunRecord {
  RUN_FIELDS(F)
} RunRecord;
#undef F
/* The layout as one number for each field is long: the names alone, each 8 bytes or a vector. */
#define F(type, name, place) #name " "
static const char run_names[] = RUN_FIELDS(F);
#undef F

static uint64_t names_mark(void) { /* FNV-1a of the names, for the layout's text */
  uint64_t h = 0xcbf29ce484222325u;
  for (const char *c = run_names; *c; c++) h = (h ^ (unsigned char)*c) * 0x100000001b3u;
  return h;
}

static void run_layout(char text[TL_CHECKPOINT_LAYOUT]) {
  snprintf(text, TL_CHECKPOINT_LAYOUT, "totals of a run, names %016llx",
           (unsigned long long)names_mark());
}

/* ---- saving ---- */

typedef struct Saver {
  TlRun *run;
  bool hurry;
  TlCheckpointWriter *writer; /* rank 0 only */
  int64_t *order;             /* owned bodies by id */
  const TlTouch **touch;      /* of pairs whose lower id is owned here, in order */
  int64_t touches;
  const TlShapeMark *marks; /* of the section at hand */
} Saver;

static TlStatus save_text(Saver *s, const char *name, const char *text) {
  int64_t size = (int64_t)strlen(text);
  if (!s->writer) return TL_OK;
  TL_TRY(tl_checkpoint_section(s->writer, name, "text", 1, size));
  return tl_checkpoint_rows(s->writer, text, size);
}

static TlStatus save_study(Saver *s) {
  return save_text(s, "study", s->run->effective);
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

static TlStatus save_run(Saver *s) {
  char layout[TL_CHECKPOINT_LAYOUT];
  const TlRun *run = s->run;
  RunRecord record;
  double cpu_s = run->totals.cpu_s;
  TlDeparted departed;
  TL_TRY(tl_comm_sum(run->comm, &cpu_s, 1));
  TL_TRY(tl_departed_gather(run, &departed));
  if (!s->writer) return TL_OK;
#define F(type, name, place) record.name = place;
  RUN_FIELDS(F)
#undef F
  record.cpu_s = cpu_s;
  record.departed = departed;
  record.wall_s = tl_clock_s() - run->started_s;
  run_layout(layout);
  TL_TRY(tl_checkpoint_section(s->writer, "run", layout, sizeof record, 1));
  return tl_checkpoint_rows(s->writer, &record, 1);
}

#define F(type, name) #name " "
static const char triaxial_layout[] = TL_TRIAXIAL_FIELDS(F);
#undef F
static_assert(sizeof triaxial_layout <= TL_CHECKPOINT_LAYOUT, "fits");

/* One record, or none. */
static TlStatus save_triaxial(Saver *s) {
  int64_t count = tl_triaxial_there(s->run);
  if (!s->writer) return TL_OK;
  TL_TRY(tl_checkpoint_section(s->writer, "triaxial", triaxial_layout, sizeof(TlTriaxial), count));
  return tl_checkpoint_rows(s->writer, &s->run->triaxial, count);
}

/* A file whose digests are right may still have been made by something else than a run. */
static TlStatus no_state(const TlRun *run, const char *section, int64_t record, const char *what) {
  return tl_fail(TL_EINPUT, "%s: section '%s', record %lld: %s; it is no state of this study",
                 tl_checkpoint_path(run->checkpoint), section, (long long)record, what);
}

/* One record where the study has a cell, else none. */
static TlStatus load_triaxial(TlRun *run) {
  int64_t count;
  TlTriaxial *t = &run->triaxial;
  TL_TRY(
      tl_checkpoint_find(run->checkpoint, "triaxial", triaxial_layout, sizeof(TlTriaxial), &count));
  if (count != tl_triaxial_there(run)) return no_state(run, "triaxial", 0, "their number");
  if (count == 0) return TL_OK;
  TL_TRY(tl_checkpoint_read(run->checkpoint, "triaxial", 0, 1, t));
  if (t->stage < 0 || t->stage > run->setup.triaxial.stages.count || t->begun < 0 ||
      t->relaxed < 0 || t->grains < 0 || t->look_steps < 0 || t->line_steps < 0 ||
      !isfinite(t->from_Pa + t->pressure_Pa + t->height_m + t->volume_m3 + t->membrane_m3) ||
      !isfinite(t->solid_m3 + t->tilt_rad + t->start_height_m + t->start_volume_m3 + t->look_N) ||
      !isfinite(t->line_N + t->line_base_N))
    return no_state(run, "triaxial", 0, "its numbers");
  return TL_OK;
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

static TlStatus take_rows(void *context, const unsigned char *records, int64_t count) {
  return tl_checkpoint_rows(((Saver *)context)->writer, records, count);
}

/* A section whose records lie on all ranks. */
static TlStatus save_spread(Saver *s, const char *name, const char *layout, const TlGather *g) {
  int64_t all = g->count;
  TL_TRY(tl_comm_sum_int(g->comm, &all, 1));
  TlStatus status = TL_OK;
  if (s->writer) status = tl_checkpoint_section(s->writer, name, layout, g->record_bytes, all);
  TL_TRY(tl_comm_agree(g->comm, status));
  return tl_gather_sorted(g);
}

static void fill_bodies(void *context, int64_t first, int64_t count, unsigned char *to) {
  const Saver *s = context;
  for (int64_t i = 0; i < count; i++) {
    TlBodyState state = tl_bodies_get(&s->run->bodies, s->order[first + i]);
    pack_body(&state, to + (size_t)i * BODY_BYTES);
  }
}

static TlStatus save_bodies(Saver *s) {
  TlGather g = {.comm = s->run->comm,
                .record_bytes = BODY_BYTES,
                .keys = 1,
                .count = s->run->bodies.owned,
                .fill = fill_bodies,
                .take = take_rows,
                .context = s};
  return save_spread(s, "bodies", body_layout, &g);
}

static void fill_touches(void *context, int64_t first, int64_t count, unsigned char *to) {
  const Saver *s = context;
  for (int64_t i = 0; i < count; i++)
    memcpy(to + (size_t)i * sizeof(TlTouch), s->touch[first + i], sizeof(TlTouch));
}

static TlStatus save_touches(Saver *s) {
  TlGather g = {.comm = s->run->comm,
                .record_bytes = sizeof(TlTouch),
                .keys = 3,
                .count = s->touches,
                .fill = fill_touches,
                .take = take_rows,
                .context = s};
  return save_spread(s, "touches", touch_layout, &g);
}

static void fill_shape_marks(void *context, int64_t first, int64_t count, unsigned char *to) {
  memcpy(to, ((const Saver *)context)->marks + first, (size_t)count * sizeof(TlShapeMark));
}

/* A shape that is used on several ranks stands there as often. */
static TlStatus save_shapes(Saver *s) {
  TlShapeMark *marks = NULL;
  int64_t count = 0;
  TlStatus status = tl_inputs_shapes(s->run, &marks, &count);
  status = tl_comm_agree(s->run->comm, status);
  s->marks = marks;
  TlGather g = {.comm = s->run->comm,
                .record_bytes = sizeof(TlShapeMark),
                .keys = 1,
                .count = count,
                .fill = fill_shape_marks,
                .take = take_rows,
                .context = s};
  if (status == TL_OK) status = save_spread(s, "shapes", TL_SHAPE_MARK_LAYOUT, &g);
  tl_free(marks);
  return status;
}

/* ---- resuming: sections ---- */

static TlStatus load_run(TlRun *run) {
  char layout[TL_CHECKPOINT_LAYOUT];
  RunRecord record;
  int64_t count;
  run_layout(layout);
  TL_TRY(tl_checkpoint_find(run->checkpoint, "run", layout, sizeof record, &count));
  if (count != 1) return no_state(run, "run", 0, "one record is wanted");
  TL_TRY(tl_checkpoint_read(run->checkpoint, "run", 0, 1, &record));
#define F(type, name, place) place = record.name;
  RUN_FIELDS(F)
#undef F
  if (tl_comm_rank(run->comm) != 0) { /* sums over the ranks, of which the first has them all */
    run->totals.cpu_s = 0;
    run->departed = (TlDeparted){.front_m = run->departed.front_m};
  }
  const TlRunTotals *t = &run->totals;
  const int64_t counts[] = {run->grains, run->poured, run->output.kept_frames,
                            t->steps,    t->frames,   t->outside,
                            t->poor,     t->jammed};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
    if (counts[i] < 0 || counts[i] > MOST_COUNT) return no_state(run, "run", 0, "its counts");
  for (int k = 0; k < TL_TABLES; k++)
    if (run->output.kept_bytes[k] < 0) return no_state(run, "run", 0, "the size of a table");
  return TL_OK;
}

/* What tl_bodies_add takes for granted, and the order that the touches are found by. */
static TlStatus check_body(const TlRun *run, int64_t record, const TlBodyState *s, int64_t before) {
  TlQuat q = s->rotation;
  double n2 = q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z;
  if (s->id <= before) return no_state(run, "bodies", record, "the order of the ids");
  if (!(fabs(n2 - 1) < 1e-6)) return no_state(run, "bodies", record, "its rotation");
  if (!(s->scale > 0 && isfinite(s->scale))) return no_state(run, "bodies", record, "its scale");
  if (!(tl_norm(s->position) < MOST_METRES) || !(tl_norm(s->velocity) < MOST_METRES) ||
      !isfinite(tl_norm(s->momentum)))
    return no_state(run, "bodies", record, "its place or motion");
  return TL_OK;
}

enum { BLOCK = 1024 };

/* Rank r begins with the r-th part of the bodies by id; migration brings them home. */
static TlStatus load_bodies(TlRun *run) {
  int64_t all, ranks = tl_comm_size(run->comm), rank = tl_comm_rank(run->comm);
  unsigned char *block;
  TL_TRY(tl_checkpoint_find(run->checkpoint, "bodies", body_layout, BODY_BYTES, &all));
  if (all > MOST_COUNT) return no_state(run, "bodies", 0, "their number");
  int64_t first = all * rank / ranks, end = all * (rank + 1) / ranks, before = -1;
  TL_TRY(TL_NEW(block, BLOCK * BODY_BYTES));
  TlStatus status = tl_bodies_reserve(&run->bodies, end - first);
  while (status == TL_OK && first < end) {
    int64_t n = end - first < BLOCK ? end - first : BLOCK;
    status = tl_checkpoint_read(run->checkpoint, "bodies", first, n, block);
    for (int64_t i = 0; status == TL_OK && i < n; i++) {
      TlBodyState state;
      unpack_body(&state, block + (size_t)i * BODY_BYTES);
      status = check_body(run, first + i, &state, before);
      if (status == TL_OK) status = tl_bodies_add(&run->bodies, &state);
      before = state.id;
    }
    first += n;
  }
  tl_free(block);
  return status;
}

static int compare_id(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return x < y ? -1 : x > y;
}

static bool is_here(const TlBodies *b, int64_t id) { /* the bodies lie in the order of their ids */
  return id >= 0 && bsearch(&id, b->id, (size_t)b->owned, sizeof id, compare_id) != NULL;
}

static TlStatus load_touches(TlRun *run) {
  int64_t all;
  TlTouch *block;
  TlHistory *h = &run->bodies.history;
  TL_TRY(tl_checkpoint_find(run->checkpoint, "touches", touch_layout, sizeof *block, &all));
  TlStatus status = TL_NEW(block, BLOCK);
  for (int64_t first = 0; status == TL_OK && first < all; first += BLOCK) {
    int64_t n = all - first < BLOCK ? all - first : BLOCK;
    status = tl_checkpoint_read(run->checkpoint, "touches", first, n, block);
    if (status == TL_OK) status = TL_RESERVE(h->touch, h->capacity, h->count + (size_t)n);
    for (int64_t i = 0; status == TL_OK && i < n; i++)
      if (!isfinite(tl_norm(block[i].impulse)) || !isfinite(tl_norm(block[i].normal)))
        status = no_state(run, "touches", first + i, "its impulse");
    for (int64_t i = 0; status == TL_OK && i < n; i++)
      if (is_here(&run->bodies, block[i].low) || is_here(&run->bodies, block[i].high))
        h->touch[h->count++] = block[i];
  }
  tl_free(block);
  tl_history_sort(h);
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
  const TlWallSetup *w = run->setup.walls.items;
  char now[65], key[48] = "walls";
  bool same;
  TL_TRY(tl_inputs_tables(run, now));
  TL_TRY(same_digest(run, "wall_tables", now, &same));
  if (same) return TL_OK;
  for (int64_t i = run->setup.walls.count - 1; i >= 0; i--)
    if (w[i].table) snprintf(key, sizeof key, "walls.%lld.table", (long long)i);
  return tl_study_fail(&run->study, TL_EINPUT, key,
                       "the walls' tables are not those that %s began with",
                       tl_checkpoint_path(run->checkpoint));
}

static TlStatus check_terrain(TlRun *run) {
  char now[65];
  bool same;
  TL_TRY(tl_inputs_terrain(run, now));
  TL_TRY(same_digest(run, "terrain", now, &same));
  if (same) return TL_OK;
  return tl_study_fail(&run->study, TL_EINPUT, "terrain.name",
                       "the catalog's terrain is not the one that %s began with",
                       tl_checkpoint_path(run->checkpoint));
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
  TlStatus (*load)(TlRun *run);   /* each rank for itself; NULL: read before (tl_resume_study) */
} Section;

/* Loaded in this order. */
static const Section sections[] = {
    {"study", save_study, NULL},
    {"study_path", save_study_path, NULL},
    {"catalog_path", save_catalog_path, NULL},
    {"terrain", save_terrain, check_terrain},
    {"wall_tables", save_tables, check_tables},
    {"run", save_run, load_run},
    {"triaxial", save_triaxial, load_triaxial},
    {"cuts", save_cuts, load_cuts},
    {"bodies", save_bodies, load_bodies},
    {"touches", save_touches, load_touches},
    {"shapes", save_shapes, NULL}, /* tl_resume_shapes */
};
enum { SECTIONS = sizeof sections / sizeof *sections };

/* ---- saving: all of it ---- */

typedef struct IdAt {
  int64_t id, at;
} IdAt;

static TlStatus sort_bodies(Saver *s) {
  const TlBodies *b = &s->run->bodies;
  IdAt *pairs;
  TL_TRY(TL_NEW(s->order, (size_t)b->owned));
  TL_TRY(TL_NEW(pairs, (size_t)b->owned));
  for (int64_t i = 0; i < b->owned; i++) pairs[i] = (IdAt){b->id[i], i};
  if (b->owned) qsort(pairs, (size_t)b->owned, sizeof *pairs, compare_id);
  TlStatus status = TL_NEW(s->touch, b->history.count);
  for (size_t k = 0; status == TL_OK && k < b->history.count; k++) {
    const TlTouch *t = &b->history.touch[k];
    if (bsearch(&t->low, pairs, (size_t)b->owned, sizeof *pairs, compare_id))
      s->touch[s->touches++] = t;
  }
  for (int64_t i = 0; i < b->owned; i++) s->order[i] = pairs[i].at;
  tl_free(pairs);
  return status;
}

static TlStatus start_saver(Saver *s) {
  TlRun *run = s->run;
  TL_TRY(sort_bodies(s));
  if (tl_comm_rank(run->comm) != 0) return TL_OK;
  /* What the checkpoint says is kept must be there; in a hurry all goes to the disk at the end, and
   * the older checkpoints stay until it has. */
  if (!s->hurry) TL_TRY(tl_output_sync(&run->output));
  return tl_checkpoint_create(&s->writer, run->folder, run->totals.steps);
}

static TlStatus finish_saver(Saver *s) {
  TlCheckpointWriter *writer = s->writer;
  if (!writer) return TL_OK;
  s->writer = NULL;
  TL_TRY(tl_checkpoint_commit(writer, !s->hurry));
  if (s->hurry) TL_TRY(tl_disk_sync(s->run->folder));
  return tl_checkpoint_prune(s->run->folder, -1, s->run->setup.checkpoint.keep);
}

TlStatus tl_run_save(TlRun *run, bool hurry) {
  Saver s = {.run = run, .hurry = hurry};
  double start = tl_clock_s();
  tl_bodies_drop_ghosts(&run->bodies);
  TlStatus status = tl_comm_agree(run->comm, start_saver(&s));
  for (int i = 0; status == TL_OK && i < SECTIONS; i++)
    status = tl_comm_agree(run->comm, sections[i].save(&s));
  if (status == TL_OK) status = tl_comm_agree(run->comm, finish_saver(&s));
  tl_checkpoint_abort(s.writer);
  tl_free(s.order);
  tl_free(s.touch);
  run->saved_s = tl_clock_s();
  if (status == TL_OK)
    tl_log_debug("step %lld: state saved in %.2f s", (long long)run->totals.steps,
                 run->saved_s - start);
  return status;
}

/* ---- resuming ---- */

/* Sections that this program does not know hold state that it would lose. */
static TlStatus check_known(const TlCheckpoint *c) {
  const char *name;
  for (int i = 0; (name = tl_checkpoint_name(c, i)); i++) {
    bool known = false;
    for (int k = 0; k < SECTIONS; k++) known |= strcmp(name, sections[k].name) == 0;
    if (!known)
      return tl_fail(TL_EINPUT,
                     "%s: section '%s' is not known to this program; resume with the one "
                     "that wrote it",
                     tl_checkpoint_path(c), name);
  }
  return TL_OK;
}

/* Rank 0: step of the newest whole one. */
static TlStatus newest(TlRun *run, int64_t *step) {
  int64_t *steps, count;
  TlCheckpoint *c = NULL;
  TlStatus status = tl_checkpoint_list(run->folder, &steps, &count);
  *step = -1;
  for (int64_t i = 0; status == TL_OK && *step < 0 && i < count; i++) {
    status = tl_checkpoint_open(&c, run->folder, steps[i], true);
    if (status == TL_OK) *step = steps[i];
    if (status != TL_EINPUT) continue;
    tl_log_warn("%s; it is skipped", tl_message());
    status = TL_OK;
  }
  tl_checkpoint_close(c);
  tl_free(steps);
  if (status == TL_OK && *step < 0)
    return tl_fail(TL_EINPUT,
                   "%s: holds no whole checkpoint to resume from; start the study anew, with "
                   "--overwrite",
                   run->folder);
  return status;
}

TlStatus tl_resume_find(TlRun *run) {
  int64_t step = -1;
  TlStatus status = tl_comm_rank(run->comm) == 0 ? newest(run, &step) : TL_OK;
  TL_TRY(tl_comm_agree(run->comm, status));
  TL_TRY(tl_comm_most_int(run->comm, &step, 1));
  status = tl_checkpoint_open(&run->checkpoint, run->folder, step, false);
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
  TlStatus status = tl_study_parse(&run->study, tl_checkpoint_path(c), text, strlen(text));
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
  if (status == TL_OK) status = tl_yaml_parse("study", run->effective, strlen(run->effective), &is);
  if (status == TL_OK) tl_study_change(&was, &is, &d);
  if (d.found)
    status = tl_study_fail(&run->study, TL_EINPUT, d.path,
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
  if (tl_setup_steps(&run->setup) >= run->totals.steps) return TL_OK;
  return tl_study_fail(
      &run->study, TL_EINPUT, run->setup.time.steps > 0 ? "time.steps" : "time.duration_s",
      "ends with step %lld, and %s is of step %lld already", (long long)tl_setup_steps(&run->setup),
      tl_checkpoint_path(run->checkpoint), (long long)run->totals.steps);
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
  TL_TRY(tl_checkpoint_find(run->checkpoint, "shapes", TL_SHAPE_MARK_LAYOUT, sizeof was, &all));
  TlStatus status = tl_inputs_shapes(run, &marks, &count);
  for (int64_t i = 0; status == TL_OK && i < all; i++) {
    status = tl_checkpoint_read(run->checkpoint, "shapes", i, 1, &was);
    const TlShapeMark *is =
        status == TL_OK ? bsearch(&was.id, marks, (size_t)count, sizeof *marks, compare_id) : NULL;
    if (is) status = same_shape(run, &was, is);
  }
  tl_free(marks);
  return status;
}

TlStatus tl_resume_state(TlRun *run) {
  TL_TRY(tl_comm_agree(run->comm, load_sections(run)));
  if (run->dist->domain.ranks != tl_comm_size(run->comm))
    TL_TRY(tl_dist_cut(run->dist, &run->bodies));
  TL_TRY(tl_dist_migrate(run->dist, &run->bodies, NULL));
  int64_t there = 0;
  for (int64_t i = 0; i < run->bodies.owned; i++)
    there += !(run->bodies.flags[i] & (TL_BODY_NET | TL_BODY_GUIDED));
  TL_TRY(tl_comm_sum_int(run->comm, &there, 1));
  tl_log_info("resuming from %s: step %lld, %lld of %lld grains",
              tl_checkpoint_path(run->checkpoint), (long long)run->totals.steps, (long long)there,
              (long long)run->grains);
  return TL_OK;
}
