/* Frames, tables of lines and checkpoints by many ranks: each writes a part of its own, the files have the bytes of one
 * rank's, and by counts no rank sees more than its part: a gather through rank 0 would show here.
 *
 * The ranks are coroutines (tests/ranks/ranks.h). TALUS_WRITERS_VERBOSE=1 says what the ranks sent and
 * received. */
#include "ranks/ranks.h"
#include "support/tltest.h"

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/par.h"
#include "base/random.h"
#include "run/checkpoint.h"
#include "run/lines.h"
#include "run/output.h"
#include "store/checkpoint.h"

#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>

enum { MOST_RANKS = 8 };

static char *in_folder(const char *name, int ranks) {
  return tl_format("%s/%s%d", tl_test_folder(), name, ranks);
}

/* ---- parts ---- */

/* Rows of three numbers, each of some rank, which has them in order. */
typedef struct Keyed {
  int64_t key[3];
} Keyed;

enum { KEYED_ROWS = 2000 };
typedef struct Deck {
  Keyed row[KEYED_ROWS];
  int64_t count, block;
  int keys;
  uint64_t seed;
  bool one_rank_has_all;
  Keyed out[KEYED_ROWS]; /* as the ranks had them in the end */
  int64_t placed;
} Deck;

#define FIELDS(F)                                                                                  \
  F(Keyed, int64_t, key[0], "", TL_SAVE, "")                                                       \
  F(Keyed, int64_t, key[1], "", TL_SAVE, "") F(Keyed, int64_t, key[2], "", TL_SAVE, "")
static const TlRecordField keyed_fields[] = {FIELDS(TL_FIELD)};
static const TlRecord keyed = TL_RECORD("keyed", "Numbers.", Keyed, keyed_fields);

static int compare_keys(const void *a, const void *b) {
  const Keyed *x = a, *y = b;
  for (int k = 0; k < 3; k++)
    if (x->key[k] != y->key[k]) return x->key[k] < y->key[k] ? -1 : 1;
  return 0;
}

static void pack_keyed(const void *of, int64_t first, int64_t count, unsigned char *to) {
  if (count) memcpy(to, (const Keyed *)of + first, (size_t)count * sizeof(Keyed));
}

static void deal(TlComm *comm, void *context) {
  Deck *deck = context;
  Keyed *mine, *got;
  TlPortion part;
  int me = tl_comm_rank(comm), ranks = tl_comm_size(comm);
  int64_t n = 0;
  CK_OK(TL_NEW(mine, KEYED_ROWS));
  for (int64_t i = 0; i < deck->count; i++) {
    int owner = (int)(tl_random_bits(deck->seed, 1, (uint64_t)i) % (uint64_t)ranks);
    if ((deck->one_rank_has_all ? ranks - 1 : owner) == me) mine[n++] = deck->row[i];
  }
  TlRows rows = {.record = &keyed,
                 .attributes = TL_SAVE,
                 .keys = deck->keys,
                 .count = n,
                 .pack = pack_keyed,
                 .of = mine};
  CK_OK(tl_portion_take(comm, &rows, deck->block, &part));
  ck_assert_int_eq(part.all, deck->count);
  if (part.rows.count > 0) {
    int64_t even = (deck->count + ranks - 1) / ranks;
    ck_assert_int_lt(me, part.writers);
    ck_assert_int_eq(part.first, tl_portion_first(&part, me));
    ck_assert_int_eq(part.first + part.rows.count, tl_portion_first(&part, me + 1));
    ck_assert_int_lt(part.rows.count, even + deck->block);
    ck_assert_int_eq(part.first % deck->block, 0);
  }
  CK_OK(TL_NEW(got, (size_t)part.rows.count + 1));
  part.rows.pack(part.rows.of, 0, part.rows.count, (unsigned char *)got);
  memcpy(deck->out + part.first, got, (size_t)part.rows.count * sizeof *got);
  deck->placed += part.rows.count;
  tl_portion_free(&part);
  tl_free(mine);
  tl_free(got);
}

/* A number of the kind: close together, all alike, few, of any size. */
static int64_t draw_key(uint64_t seed, uint64_t kind, int64_t i) {
  uint64_t bits = tl_random_bits(seed, kind, (uint64_t)i);
  switch ((seed / 7 + kind) % 5) {
  case 0:
    return i * 3 - 100;
  case 1:
    return 7;
  case 2:
    return (int64_t)(bits % 5) - 2;
  case 3:
    return (int64_t)(bits % 1000) + (bits % 2 ? INT64_C(1) << 40 : 0);
  default:
    return (int64_t)bits;
  }
}

START_TEST(parts_are_the_sorted_rows) {
  static Deck deck;
  for (uint64_t seed = 0; seed < (uint64_t)TL_SIZE(120, 20); seed++) {
    deck = (Deck){.seed = seed, .keys = 1 + (int)(seed % 3), .one_rank_has_all = seed % 11 == 5};
    deck.count = seed % 9 == 4 ? (int64_t)(seed % 4) : 1 + (int64_t)(seed * 997 % KEYED_ROWS);
    deck.block = 1 + (int64_t)(seed * 31 % 100);
    for (int64_t i = 0; i < deck.count; i++)
      for (int k = 0; k < deck.keys; k++) deck.row[i].key[k] = draw_key(seed, (uint64_t)k, i);
    qsort(deck.row, (size_t)deck.count, sizeof *deck.row, compare_keys);
    for (int ranks = 1; ranks <= MOST_RANKS; ranks += 1 + (int)(seed % 3)) {
      deck.placed = 0;
      memset(deck.out, 0xff, sizeof deck.out);
      tl_ranks_run(ranks, deal, &deck);
      ck_assert_int_eq(deck.placed, deck.count);
      ck_assert_msg(memcmp(deck.out, deck.row, (size_t)deck.count * sizeof *deck.row) == 0,
                    "seed %d: the rows of %d ranks are not in order", (int)seed, ranks);
    }
  }
}
END_TEST

/* ---- frames ---- */

typedef struct Made { /* a frame, and what its making took */
  int64_t bodies, contacts;
  const char *folder;
  rlim_t least_place_refused; /* 0: none */
  TlStatus status[MOST_RANKS];
  char message[MOST_RANKS][400];
  TlCommCounters counters[MOST_RANKS];
} Made;

static double real(uint64_t stream, int64_t i) {
  return tl_random_normal(5, stream, (uint64_t)i);
}

static TlBodyRow body(int64_t i) {
  return (TlBodyRow){.body = 3 * i,
                     .id = 3 * i,
                     .avatar_id = i % 4,
                     .scale = 1,
                     .position_m = {real(1, i), real(2, i), real(3, i)},
                     .rotation = {1, 0, 0, 0},
                     .velocity_m_s = {real(4, i), 0, 0},
                     .contacts = (int32_t)(i % 7),
                     .aggregate = -1};
}

static TlContactRow contact(int64_t i) {
  return (TlContactRow){.first = i / 5,
                        .second = i / 5 + 1 + i % 5,
                        .point_m = {real(5, i), 0, real(6, i)},
                        .gap_m = -1e-6 * (double)(i % 100)};
}

/* The rows of one rank, by their numbers among all. */
typedef struct Own {
  int64_t *row;
  int64_t count;
} Own;

static Own own_rows(TlComm *comm, int64_t all) {
  Own own = {0};
  uint64_t ranks = (uint64_t)tl_comm_size(comm), me = (uint64_t)tl_comm_rank(comm);
  CK_OK(TL_NEW(own.row, (size_t)all + 1));
  for (int64_t i = 0; i < all; i++)
    if (tl_random_bits(9, 1, (uint64_t)i) % ranks == me) own.row[own.count++] = i;
  return own;
}

static void pack_bodies(const void *of, int64_t first, int64_t count, unsigned char *to) {
  for (int64_t k = first; k < first + count; k++) {
    TlBodyRow row = body(((const Own *)of)->row[k]);
    to = tl_record_pack(&tl_body_row_record, TL_FRAME, &row, 0, to);
  }
}

enum { HEAD = 3 };
static void pack_contacts(const void *of, int64_t first, int64_t count, unsigned char *to) {
  for (int64_t k = first; k < first + count; k++) {
    TlContactRow row = contact(((const Own *)of)->row[k]);
    const int64_t key[HEAD] = {row.first, row.second, 0};
    memcpy(to, key, sizeof key);
    to = tl_record_pack(&tl_contact_row_record, TL_FRAME, &row, 0, to + sizeof key);
  }
}

static void refuse_from(rlim_t place) {
  struct rlimit limit;
  getrlimit(RLIMIT_FSIZE, &limit);
  limit.rlim_cur = place ? place : limit.rlim_max;
  setrlimit(RLIMIT_FSIZE, &limit);
}

static void make_frame(TlComm *comm, void *context) {
  Made *made = context;
  int me = tl_comm_rank(comm);
  TlOutput output = {.comm = comm, .frames = 4};
  TlScene scene = {.study = (char *)(uintptr_t) "a: 1\n",
                   .title = (char *)(uintptr_t) "",
                   .provenance = (char *)(uintptr_t) "[]",
                   .grain_scale = 1};
  if (me == 0) {
    CK_OK(tl_results_create(&output.writer, made->folder, &scene, true));
    CK_OK(tl_results_scene_done(output.writer));
    if (made->least_place_refused) refuse_from(made->least_place_refused);
  }
  Own bodies = own_rows(comm, made->bodies), contacts = own_rows(comm, made->contacts);
  const TlFrameRows tables[] = {{&tl_frame_bodies,
                                 {.record = &tl_body_row_record,
                                  .attributes = TL_FRAME,
                                  .keys = 2,
                                  .count = bodies.count,
                                  .pack = pack_bodies,
                                  .of = &bodies}},
                                {&tl_frame_contacts,
                                 {.record = &tl_contact_row_record,
                                  .attributes = TL_FRAME,
                                  .head = HEAD * sizeof(int64_t),
                                  .keys = HEAD,
                                  .count = contacts.count,
                                  .pack = pack_contacts,
                                  .of = &contacts}}};
  TlCommCounters before = tl_comm_counters(comm);
  made->status[me] = tl_output_frame(&output, tables, 2, 40, 0.5);
  snprintf(made->message[me], sizeof made->message[me], "%s", tl_message());
  TlCommCounters *c = &made->counters[me];
  *c = tl_comm_counters(comm);
  c->message_bytes -= before.message_bytes;
  c->received_bytes -= before.received_bytes;
  if (me == 0) refuse_from(0);
  tl_output_close(&output);
  tl_free(bodies.row);
  tl_free(contacts.row);
}

static void same_file(const char *one, const char *many, const char *name) {
  char *a, *b, *path_a = tl_path_join(one, name), *path_b = tl_path_join(many, name);
  size_t size_a, size_b;
  CK_OK(tl_file_read(path_a, &a, &size_a));
  CK_OK(tl_file_read(path_b, &b, &size_b));
  ck_assert_msg(size_a == size_b && memcmp(a, b, size_a) == 0, "%s is another file", path_b);
  tl_free(a);
  tl_free(b);
  tl_free(path_a);
  tl_free(path_b);
}

static void say(const char *what, int ranks, int rank, const TlCommCounters *c) {
  if (getenv("TALUS_WRITERS_VERBOSE"))
    fprintf(stderr, "%s, rank %d of %d: %lld bytes sent, %lld received\n", what, rank, ranks,
            (long long)c->message_bytes, (long long)c->received_bytes);
}

START_TEST(a_frame_by_many_ranks_is_that_of_one) {
  static Made made;
  char *one = in_folder("frame", 1);
  static const int64_t sizes[][2] = {{0, 0}, {900, 4097}, {9000, 36000}};
  tl_par_set_threads(1);
  for (int k = 0; k < 3; k++)
    for (int ranks = 1; ranks <= MOST_RANKS; ranks++) {
      char *folder = in_folder("frame", ranks);
      made = (Made){.bodies = sizes[k][0], .contacts = sizes[k][1], .folder = folder};
      tl_ranks_run(ranks, make_frame, &made);
      for (int r = 0; r < ranks; r++) ck_assert_msg(made.status[r] == TL_OK, "%s", made.message[r]);
      same_file(one, folder, "frame_000004.h5");
      tl_free(folder);
    }
  TlFrame frame;
  TlFrameContacts contacts;
  CK_OK(tl_results_read_frame(one, 4, &frame));
  CK_OK(tl_results_read_contacts(one, 4, &contacts));
  ck_assert(frame.count == 9000 && contacts.count == 36000);
  for (int64_t i = 0; i < frame.count; i++) {
    TlBodyRow row = body(i);
    ck_assert_mem_eq(&frame.rows[i], &row, sizeof row);
  }
  for (int64_t i = 0; i < contacts.count; i++) {
    TlContactRow row = contact(i);
    ck_assert_mem_eq(&contacts.rows[i], &row, sizeof row);
  }
  tl_frame_free(&frame);
  tl_frame_contacts_free(&contacts);
  tl_free(one);
}
END_TEST

/* A rank receives its part of the rows, and sends away what it has of others' parts. Rank 0 hears and says
 * a number for each chunk besides, some hundredth of it. */
START_TEST(bytes_of_a_frame_fall_with_the_ranks) {
  static Made made;
  int64_t rows = (int64_t)MOST_RANKS * TL_FRAME_BLOCK;
  double all = (double)rows * (double)(tl_record_packed_bytes(&tl_body_row_record, TL_FRAME) +
                                       tl_record_packed_bytes(&tl_contact_row_record, TL_FRAME) +
                                       HEAD * sizeof(int64_t));
  tl_par_set_threads(1);
  for (int ranks = 2; ranks <= MOST_RANKS; ranks *= 2) {
    char *folder = in_folder("bytes", ranks);
    made = (Made){.bodies = rows, .contacts = rows, .folder = folder};
    tl_ranks_run(ranks, make_frame, &made);
    for (int r = 0; r < ranks; r++) {
      const TlCommCounters *c = &made.counters[r];
      double part = all / ranks;
      say("frame", ranks, r, c);
      ck_assert_msg((double)c->received_bytes < 1.1 * part,
                    "rank %d of %d receives %.3f of its part", r, ranks,
                    (double)c->received_bytes / part);
      ck_assert_msg((double)c->message_bytes < 1.1 * part, "rank %d of %d sends %.3f of its part",
                    r, ranks, (double)c->message_bytes / part);
      ck_assert_msg((double)c->received_bytes > 0.3 * part, "rank %d of %d takes no part", r,
                    ranks);
    }
    tl_free(folder);
  }
}
END_TEST

/* Bytes behind a place in the file are refused, as by a full disk: the first that fail are of some
 * rank above 0, or rank 0's own. All ranks learn of it, and nothing is left. */
START_TEST(what_one_rank_cannot_write_ends_it_for_all) {
  static Made made;
  int others = 0;
  enum { RANKS = 4 };
  char *folder = in_folder("full", RANKS);
  tl_par_set_threads(1);
  signal(SIGXFSZ, SIG_IGN);
  for (rlim_t place = 1000; place < 4000000; place += 150000) {
    made =
        (Made){.bodies = 9000, .contacts = 30000, .folder = folder, .least_place_refused = place};
    tl_ranks_run(RANKS, make_frame, &made);
    if (made.status[0] == TL_OK) break;
    for (int r = 0; r < RANKS; r++) {
      ck_assert_int_eq(made.status[r], TL_EIO);
      ck_assert_str_eq(made.message[r], made.message[0]);
    }
    ck_assert_msg(strstr(made.message[0], "frame_000004.h5: cannot write: File too large"), "%s",
                  made.message[0]);
    others += strncmp(made.message[0], "rank ", 5) == 0;
    ck_assert_int_eq(tl_test_temporaries(folder), 0);
    char *frame = tl_path_join(folder, "frame_000004.h5");
    ck_assert(!tl_file_exists(frame));
    tl_free(frame);
  }
  ck_assert_int_ge(others, 2);
  tl_free(folder);
}
END_TEST

/* ---- tables of lines ---- */

#define COLUMNS(C)                                                                                 \
  C(first, "", "a number", row->key[0])                                                            \
  C(second, "", "another", row->key[1]) C(sum, "", "of the third of rows alike", row->key[2])
typedef Keyed Row;
COLUMNS(TL_COLUMN_GET)
static const TlColumn columns[] = {COLUMNS(TL_COLUMN_ROW)};
static const TlColumns line_columns = {"numbers", 1, columns, sizeof columns / sizeof *columns};

typedef struct Table {
  int64_t rows;
  const char *folder;
  rlim_t most_bytes; /* of the file; 0: any */
  TlStatus status[MOST_RANKS];
  char message[MOST_RANKS][400];
  TlCommCounters counters[MOST_RANKS];
} Table;

typedef struct Lines {
  TlLines lines;
  Keyed held;
  bool holds;
} Lines;

/* One line of all rows with the same two numbers. */
static TlStatus take_lines(void *context, const unsigned char *records, int64_t count) {
  Lines *w = context;
  for (int64_t i = 0; i < count; i++) {
    Keyed row;
    memcpy(&row, records + (size_t)i * sizeof row, sizeof row);
    if (w->holds && row.key[0] == w->held.key[0] && row.key[1] == w->held.key[1]) {
      w->held.key[2] += row.key[2];
      continue;
    }
    if (w->holds) TL_TRY(tl_lines_put(&w->lines, &w->held));
    w->held = row;
    w->holds = true;
  }
  return count == 0 && w->holds ? tl_lines_put(&w->lines, &w->held) : TL_OK;
}

/* Row i of all: three or four follow each other that make one line, hardly ever of one rank. */
static Keyed line_row(int64_t i) {
  return (Keyed){{i / 700, i / (3 + i / 700 % 2), i % 1000}};
}

static void write_table(TlComm *comm, void *context) {
  Table *table = context;
  int me = tl_comm_rank(comm);
  TlOutput output = {.comm = comm};
  TlScene scene = {.study = (char *)(uintptr_t) "a: 1\n",
                   .title = (char *)(uintptr_t) "",
                   .provenance = (char *)(uintptr_t) "[]",
                   .grain_scale = 1};
  Keyed *mine, last = {{-1, -1, -1}};
  if (me == 0) CK_OK(tl_results_create(&output.writer, table->folder, &scene, true));
  CK_OK(tl_output_header(&output, TL_TABLE_CELLS, &line_columns));
  Own own = own_rows(comm, table->rows);
  CK_OK(TL_NEW(mine, (size_t)own.count + 1));
  for (int64_t k = 0; k < own.count; k++) mine[k] = line_row(own.row[k]);
  TlRows rows = tl_line_rows(sizeof *mine, 2, own.count, pack_keyed, mine);
  TlCommCounters before = tl_comm_counters(comm);
  if (me == 0) refuse_from(table->most_bytes);
  for (int k = 0; k < 2 && table->status[me] == TL_OK; k++) {
    Lines w = {.lines = {comm, &output, TL_TABLE_CELLS, &line_columns}};
    table->status[me] = tl_lines_write(&w.lines, &rows, take_lines, &w);
    snprintf(table->message[me], sizeof table->message[me], "%s", tl_message());
  }
  if (me == 0) refuse_from(0);
  TlCommCounters *c = &table->counters[me];
  *c = tl_comm_counters(comm);
  c->message_bytes -= before.message_bytes;
  c->received_bytes -= before.received_bytes;
  CK_OK(tl_output_row(&output, TL_TABLE_CELLS, &line_columns, &last));
  tl_output_close(&output);
  tl_free(own.row);
  tl_free(mine);
}

static int64_t lines_of(const char *folder) {
  char *path = tl_path_join(folder, "cells.csv"), *text;
  size_t size;
  int64_t lines = 0;
  CK_OK(tl_file_read(path, &text, &size));
  for (size_t i = 0; i < size; i++) {
    ck_assert_int_ne(text[i], 0); /* a hole */
    lines += text[i] == '\n';
  }
  ck_assert_str_eq(text + size - 9, "-1,-1,-1\n");
  tl_free(text);
  tl_free(path);
  return lines;
}

START_TEST(a_table_by_many_ranks_is_that_of_one) {
  static Table table;
  static const int64_t sizes[] = {0, 5, 1025, 40000};
  tl_par_set_threads(1);
  for (int k = 0; k < 4; k++)
    for (int ranks = 1; ranks <= MOST_RANKS; ranks++) {
      char *one = in_folder("table", 10 * k + 1), *folder = in_folder("table", 10 * k + ranks);
      int64_t lines = 0;
      for (int64_t i = 0; i < sizes[k]; i++)
        lines += i == 0 || line_row(i).key[0] != line_row(i - 1).key[0] ||
                 line_row(i).key[1] != line_row(i - 1).key[1];
      table = (Table){.rows = sizes[k], .folder = folder};
      tl_ranks_run(ranks, write_table, &table);
      for (int r = 0; r < ranks; r++) {
        ck_assert_msg(table.status[r] == TL_OK, "%s", table.message[r]);
        double part = 2.0 * (double)sizes[k] * sizeof(Keyed) / ranks;
        say("table", ranks, r, &table.counters[r]);
        if (sizes[k] > 30000)
          ck_assert_msg((double)table.counters[r].received_bytes < 1.1 * part,
                        "rank %d of %d receives %.3f of its part", r, ranks,
                        (double)table.counters[r].received_bytes / part);
      }
      ck_assert_int_eq(lines_of(folder), 2 + 2 * lines);
      same_file(one, folder, "cells.csv");
      tl_free(one);
      tl_free(folder);
    }
}
END_TEST

/* What a rank above 0 cannot write: all learn of it, and the table ends behind what rank 0 wrote. */
START_TEST(lines_that_one_rank_cannot_write_are_absent) {
  static Table table;
  enum { RANKS = 4, STEP = 30000 };
  int others = 0;
  signal(SIGXFSZ, SIG_IGN);
  for (int k = 1;; k++) {
    rlim_t most = (rlim_t)k * STEP;
    char *folder = in_folder("short", k);
    table = (Table){.rows = 30000, .folder = folder, .most_bytes = most};
    tl_ranks_run(RANKS, write_table, &table);
    (void)lines_of(folder);
    tl_free(folder);
    if (table.status[0] == TL_OK) break;
    for (int r = 0; r < RANKS; r++) {
      ck_assert_int_eq(table.status[r], TL_EIO);
      ck_assert_str_eq(table.message[r], table.message[0]);
    }
    others += strncmp(table.message[0], "rank ", 5) == 0;
    ck_assert_msg(strstr(table.message[0], "cells.csv: cannot write: File too large"), "%s",
                  table.message[0]);
    ck_assert_ptr_null(strstr(table.message[0], "not kept"));
  }
  ck_assert_int_ge(others, 3);
}
END_TEST

/* ---- checkpoints ---- */

static const char grains[] =
    "time: {dt_s: 1.0e-4, steps: 1}\nfree_fall: yes\n"
    "shapes: [{name: ball, diameter_m: 2.0e-3}]\n"
    "grains: {shapes: [ball]}\n"
    "release: {assembly: lattice, low_m: [0, 0, 0], high_m: [0.045, 0.045, %s], spacing: 1.1}\n";

typedef struct Saved {
  const char *study, *folder;
  rlim_t least_place_refused;
  int64_t bodies;
  uint64_t hash;
  TlStatus status[MOST_RANKS];
  char message[MOST_RANKS][400];
  TlCommCounters counters[MOST_RANKS];
} Saved;

static void save(TlComm *comm, void *context) {
  Saved *saved = context;
  TlRun run;
  int me = tl_comm_rank(comm);
  TlRunOptions options = {.study = saved->study, .output = saved->folder, .overwrite = true};
  uint64_t hash;
  CK_OK(tl_run_open(&run, comm, &options));
  CK_OK(tl_run_begin_output(&run));
  CK_OK(tl_run_hash(&run, &hash));
  if (me == 0 && saved->least_place_refused) refuse_from(saved->least_place_refused);
  TlCommCounters before = tl_comm_counters(comm);
  saved->status[me] = tl_run_save(&run, false);
  snprintf(saved->message[me], sizeof saved->message[me], "%s", tl_message());
  saved->counters[me] = tl_comm_counters(comm);
  saved->counters[me].message_bytes -= before.message_bytes;
  saved->counters[me].received_bytes -= before.received_bytes;
  if (me == 0) refuse_from(0);
  if (me == 0) saved->bodies = run.state->grains;
  if (me == 0) saved->hash = hash;
  tl_run_close(&run);
}

static void resume(TlComm *comm, void *context) {
  Saved *saved = context;
  TlRun run;
  uint64_t hash;
  TlRunOptions options = {.study = saved->folder, .resume = true};
  CK_OK(tl_run_open(&run, comm, &options));
  CK_OK(tl_run_hash(&run, &hash));
  ck_assert_uint_eq(hash, saved->hash);
  tl_run_close(&run);
}

static char *write_study(const char *height_m) {
  char *path = tl_path_join(tl_test_folder(), "grains.yaml"), *text = tl_format(grains, height_m);
  tl_log_set("test", TL_LOG_ERROR);
  tl_par_set_threads(1);
  CK_OK(tl_file_write(path, text, strlen(text), true));
  tl_free(text);
  return path;
}

START_TEST(bytes_of_a_checkpoint_fall_with_the_ranks) {
  static Saved saved;
  char *study = write_study(getenv("TALUS_SANITIZED") ? "0.05" : "0.09");
  TlCheckpoint *checkpoint;
  for (int ranks = 1; ranks <= MOST_RANKS; ranks *= 2) {
    char *folder = in_folder("saved", ranks);
    saved = (Saved){.study = study, .folder = folder};
    tl_ranks_run(ranks, save, &saved);
    double part = (double)saved.bodies / ranks *
                  (double)(tl_record_packed_bytes(&tl_body_record, TL_SAVE) +
                           tl_record_packed_bytes(&tl_collider_record, TL_SAVE));
    ck_assert_int_ge(saved.bodies, ranks * 1024);
    for (int r = 0; r < ranks; r++) {
      const TlCommCounters *c = &saved.counters[r];
      ck_assert_msg(saved.status[r] == TL_OK, "%s", saved.message[r]);
      say("checkpoint", ranks, r, c);
      ck_assert_msg((double)c->received_bytes < 1.3 * part,
                    "rank %d of %d receives %.3f of its part", r, ranks,
                    (double)c->received_bytes / part);
    }
    CK_OK(tl_checkpoint_open(&checkpoint, folder, 0, true));
    tl_checkpoint_close(checkpoint);
    tl_ranks_run(1, resume, &saved);
    tl_ranks_run(3, resume, &saved);
    tl_free(folder);
  }
  tl_free(study);
}
END_TEST

START_TEST(a_checkpoint_that_one_rank_cannot_write_is_absent) {
  static Saved saved;
  int others = 0;
  int64_t *steps, count;
  enum { RANKS = 4 };
  char *study = write_study("0.02"), *folder = in_folder("refused", RANKS);
  signal(SIGXFSZ, SIG_IGN);
  for (rlim_t place = 200000; place < 3000000; place += 200000) {
    saved = (Saved){.study = study, .folder = folder, .least_place_refused = place};
    tl_ranks_run(RANKS, save, &saved);
    if (saved.status[0] == TL_OK) break;
    for (int r = 0; r < RANKS; r++) ck_assert_int_eq(saved.status[r], TL_EIO);
    ck_assert_msg(strstr(saved.message[0], "checkpoint_000000000000.tck: cannot write"), "%s",
                  saved.message[0]);
    others += strncmp(saved.message[0], "rank ", 5) == 0;
    CK_OK(tl_checkpoint_list(folder, &steps, &count));
    ck_assert_int_eq(count, 0);
    tl_free(steps);
    ck_assert_int_eq(tl_test_temporaries(folder), 0);
  }
  ck_assert_int_ge(others, 2);
  ck_assert_msg(saved.status[0] == TL_OK, "%s", saved.message[0]);
  tl_free(study);
  tl_free(folder);
}
END_TEST

TL_TEST_MAIN("writers", parts_are_the_sorted_rows, a_frame_by_many_ranks_is_that_of_one,
             bytes_of_a_frame_fall_with_the_ranks, what_one_rank_cannot_write_ends_it_for_all,
             bytes_of_a_checkpoint_fall_with_the_ranks, a_table_by_many_ranks_is_that_of_one,
             lines_that_one_rank_cannot_write_are_absent,
             a_checkpoint_that_one_rank_cannot_write_is_absent)
