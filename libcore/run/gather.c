#include "run/gather.h"

#include "base/mem.h"

#include <string.h>

enum { TAG_GO = 13, TAG_BLOCK = 14, ALL_ROWS = 16384, LEAST_ROWS = 64, OUT_ROWS = 1024 };

/* One rank's records on their way: those of the block at hand, and how many follow. */
typedef struct Lane {
  unsigned char *block;
  int64_t at, held, next, count;
} Lane;

typedef struct Merge {
  const TlGather *gather;
  TlCommBatch batch;
  Lane *lane;
  int lanes;
  int64_t block_rows;
  unsigned char *out; /* rank 0: rows in order for `take`; above 0: the block at hand */
  int64_t out_rows;
  TlStatus taken;
} Merge;

static int64_t rows_of_block(int ranks) {
  int64_t rows = ALL_ROWS / ranks;
  return rows > LEAST_ROWS ? rows : LEAST_ROWS;
}

static int64_t least(int64_t a, int64_t b) {
  return a < b ? a : b;
}

/* ---- ranks above 0 ---- */

static TlStatus serve(Merge *m) {
  const TlGather *g = m->gather;
  int64_t go;
  for (int64_t first = 0; first < g->count; first += m->block_rows) {
    int64_t n = least(m->block_rows, g->count - first);
    g->fill(g->context, first, n, m->out);
    TL_TRY(tl_comm_receive(g->comm, &m->batch, 0, TAG_GO, &go, sizeof go));
    TL_TRY(tl_comm_wait(g->comm, &m->batch));
    TL_TRY(tl_comm_send(g->comm, &m->batch, 0, TAG_BLOCK, m->out, (size_t)n * g->record_bytes));
    TL_TRY(tl_comm_wait(g->comm, &m->batch));
  }
  return TL_OK;
}

/* ---- rank 0 ---- */

static TlStatus refill(Merge *m, int rank) {
  const TlGather *g = m->gather;
  Lane *lane = &m->lane[rank];
  int64_t n = least(m->block_rows, lane->count - lane->next), go = 1;
  lane->at = 0;
  lane->held = n;
  if (n == 0) return TL_OK;
  if (rank == 0) {
    g->fill(g->context, lane->next, n, lane->block);
  } else {
    TL_TRY(tl_comm_receive(g->comm, &m->batch, rank, TAG_BLOCK, lane->block,
                           (size_t)n * g->record_bytes));
    TL_TRY(tl_comm_send(g->comm, &m->batch, rank, TAG_GO, &go, sizeof go));
    TL_TRY(tl_comm_wait(g->comm, &m->batch));
  }
  lane->next += n;
  return TL_OK;
}

static const unsigned char *head_of(const Merge *m, int rank) {
  const Lane *lane = &m->lane[rank];
  return lane->at < lane->held ? lane->block + (size_t)lane->at * m->gather->record_bytes : NULL;
}

/* A look along the lanes a record: ranks are few beside records. */
static int first_lane(const Merge *m) {
  int first = -1;
  for (int r = 0; r < m->lanes; r++) {
    const unsigned char *head = head_of(m, r);
    if (head && (first < 0 || tl_rows_before(m->gather->keys, head, head_of(m, first)))) first = r;
  }
  return first;
}

static void hand_over(Merge *m) {
  if (m->taken == TL_OK && m->out_rows > 0)
    m->taken = m->gather->take(m->gather->context, m->out, m->out_rows);
  m->out_rows = 0;
}

static TlStatus merge(Merge *m) {
  size_t size = m->gather->record_bytes;
  for (int r = 0; r < m->lanes; r++) TL_TRY(refill(m, r));
  for (int r; (r = first_lane(m)) >= 0;) {
    memcpy(m->out + (size_t)m->out_rows * size, head_of(m, r), size);
    if (++m->out_rows == OUT_ROWS)
      hand_over(m); /* after a failure too: the others wait to be rid
                       of their blocks */
    if (++m->lane[r].at == m->lane[r].held) TL_TRY(refill(m, r));
  }
  hand_over(m);
  return m->taken;
}

/* All memory that the exchange takes, so that no rank fails amid it, where rank 0 would wait. */
static TlStatus reserve(Merge *m, const int64_t *counts) {
  size_t size = m->gather->record_bytes;
  TL_TRY(tl_comm_batch_reserve(&m->batch, 2));
  if (tl_comm_rank(m->gather->comm) != 0) return TL_NEW(m->out, (size_t)m->block_rows * size);
  TL_TRY(TL_NEW(m->lane, (size_t)m->lanes));
  TL_TRY(TL_NEW(m->out, OUT_ROWS * size));
  for (int r = 0; r < m->lanes; r++) {
    m->lane[r].count = counts[r];
    TL_TRY(TL_NEW(m->lane[r].block, (size_t)least(m->block_rows, counts[r]) * size));
  }
  return TL_OK;
}

static void free_merge(Merge *m) {
  for (int r = 0; m->lane && r < m->lanes; r++) tl_free(m->lane[r].block);
  tl_free(m->lane);
  tl_free(m->out);
  tl_comm_batch_free(&m->batch);
}

TlStatus tl_gather_sorted(const TlGather *g) {
  int64_t *counts;
  int ranks = tl_comm_size(g->comm);
  TL_TRY(tl_comm_agree(g->comm, TL_NEW(counts, (size_t)ranks)));
  TlStatus status = tl_comm_gather_all(g->comm, &g->count, counts, sizeof g->count);
  Merge m = {.gather = g, .lanes = ranks, .block_rows = rows_of_block(ranks)};
  if (status == TL_OK) status = reserve(&m, counts);
  status = tl_comm_agree(g->comm, status);
  if (status == TL_OK) status = tl_comm_rank(g->comm) == 0 ? merge(&m) : serve(&m);
  free_merge(&m);
  tl_free(counts);
  return status;
}

/* ---- rows ---- */

typedef struct Rows {
  const TlRows *rows;
  TlStatus (*take)(void *context, const unsigned char *records, int64_t count);
  void *context;
} Rows;

static void fill_rows(void *context, int64_t first, int64_t count, unsigned char *to) {
  const TlRows *rows = ((const Rows *)context)->rows;
  rows->pack(rows->of, first, count, to);
}

static TlStatus take_rows(void *context, const unsigned char *records, int64_t count) {
  const Rows *r = context;
  return r->take(r->context, records, count);
}

TlStatus tl_gather_rows(TlComm *comm, const TlRows *rows,
                        TlStatus (*take)(void *context, const unsigned char *records,
                                         int64_t count),
                        void *context) {
  Rows r = {rows, take, context};
  return tl_gather_sorted(&(TlGather){.comm = comm,
                                      .record_bytes = tl_rows_bytes(rows),
                                      .keys = rows->keys,
                                      .count = rows->count,
                                      .fill = fill_rows,
                                      .take = take_rows,
                                      .context = &r});
}
