/* What the solver asks of the other ranks: a small table of hooks, filled by dist/. NULL in place
 * of a table means one rank. solve/ itself knows no MPI.
 *
 * Every hook of the second block is collective over all ranks, and the solver calls them in the same
 * order everywhere. They carry values of interface bodies or a few numbers, never an array over all
 * bodies. Those of the third block are messages to single ranks.
 */
#ifndef TL_SOLVE_SYNC_H
#define TL_SOLVE_SYNC_H

#include "base/status.h"
#include "num/vec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A cell of a sweep (solve/grids.h), by which it is decided which rank solves its pairs. */
typedef struct TlSweepCell {
  TlVec3 place;  /* whose owner solves it where cells have no cuts of their own */
  int64_t at[3]; /* its middle in the unit that came with TlSync.part_cells */
} TlSweepCell;

typedef struct TlSync {
  void *ctx;
  int rank, ranks;
  /* ---- who has what ---- */
  int (*rank_of)(void *ctx, int64_t body); /* that owns this local body, perhaps a ghost */
  int (*rank_at)(void *ctx, TlVec3 point); /* that owns this place */
  /* May a body of rank `from` lie within `margin` of a place that rank `to` owns? All ranks say the
   * same. */
  bool (*may_reach)(void *ctx, int from, int to, double margin);
  /* The same two of cells, where part_cells gives them cuts of their own; margin: about their middles. */
  int (*rank_of_cell)(void *ctx, const TlSweepCell *cell);
  bool (*may_reach_cell)(void *ctx, int from, int to, double margin);

  /* ---- collective ---- */
  /* field is an array over the local bodies (owned, then ghosts) of elements of this size: copies
   * the owner's value over the ghost's value on every rank that holds the ghost. */
  TlStatus (*forward)(void *ctx, void *field, size_t element_size);
  /* *flag becomes 1 on every rank when it is not 0 on any. */
  TlStatus (*any)(void *ctx, int *flag);
  /* Element by element the least / the sum over the ranks (sums in rank order). count is small. */
  TlStatus (*least)(void *ctx, double *values, int count);
  TlStatus (*sum)(void *ctx, double *values, int count);
  TlStatus (*sum_int)(void *ctx, int64_t *values, int count);
  /* least in two calls: what it was given is copied; one at a time. */
  TlStatus (*least_begin)(void *ctx, const double *values, int count);
  TlStatus (*least_end)(void *ctx, double *values, int count);
  /* A few bytes of each rank, as many as it likes, for all: rank r's begin at all + at[r] and end at
   * all + end[r]; valid until the next call. */
  TlStatus (*gather)(void *ctx, const void *mine, size_t bytes, const unsigned char **all,
                     const size_t **at, const size_t **end);

  /* To be called once a step with the cell of each pair that this rank found. Every few steps the ranks compare how many
   * pairs each of them solves, and where that is uneven, new cuts share the cells among them. *own: there are such cuts,
   * and rank_of_cell says in this step who solves a cell. unit: of TlSweepCell.at, m. Collective. */
  TlStatus (*part_cells)(void *ctx, double unit, const TlSweepCell *pair, int64_t count, bool *own);

  /* ---- messages ---- */
  /* Posted, and over when wait returns; buffers stay untouched until then. Messages between two ranks
   * arrive in the order in which they were sent. */
  TlStatus (*send)(void *ctx, int to, const void *bytes, size_t size);
  TlStatus (*receive)(void *ctx, int from, void *bytes, size_t size);
  TlStatus (*wait)(void *ctx);
  /* Waits for a message of any size up to TL_COMM_ANY_BYTES: into *bytes, which grows (TL_RESERVE). */
  TlStatus (*receive_any)(void *ctx, int from, unsigned char **bytes, size_t *capacity,
                          size_t *size);
} TlSync;

/* The same with NULL for one rank: do nothing and succeed. */
static inline TlStatus tl_sync_forward(const TlSync *sync, void *field, size_t size) {
  return sync ? sync->forward(sync->ctx, field, size) : TL_OK;
}
static inline TlStatus tl_sync_any(const TlSync *sync, int *flag) {
  return sync ? sync->any(sync->ctx, flag) : TL_OK;
}
static inline TlStatus tl_sync_least(const TlSync *sync, double *values, int count) {
  return sync ? sync->least(sync->ctx, values, count) : TL_OK;
}
static inline TlStatus tl_sync_sum(const TlSync *sync, double *values, int count) {
  return sync ? sync->sum(sync->ctx, values, count) : TL_OK;
}
static inline TlStatus tl_sync_sum_int(const TlSync *sync, int64_t *values, int count) {
  return sync ? sync->sum_int(sync->ctx, values, count) : TL_OK;
}
static inline TlStatus tl_sync_least_begin(const TlSync *sync, const double *values, int count) {
  return sync ? sync->least_begin(sync->ctx, values, count) : TL_OK;
}
static inline TlStatus tl_sync_least_end(const TlSync *sync, double *values, int count) {
  return sync ? sync->least_end(sync->ctx, values, count) : TL_OK;
}

#endif
