/* What the solver asks of the other ranks: a small table of hooks, filled by dist/. NULL in place
 * of a table means one rank. solve/ itself knows no MPI.
 *
 * Every hook is collective over all ranks, and the solver calls them in the same order everywhere.
 * They carry values of interface bodies or a few scalars, never an array over all bodies.
 */
#ifndef TL_SOLVE_SYNC_H
#define TL_SOLVE_SYNC_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

typedef struct TlSync {
  void *ctx;
  /* field is an array over the local bodies (owned, then ghosts) of elements of this size: copies
   * the owner's value over the ghost's value on every rank that holds the ghost. */
  TlStatus (*forward)(void *ctx, void *field, size_t element_size);
  /* *flag becomes 1 on every rank when it is not 0 on any. */
  TlStatus (*any)(void *ctx, int *flag);
  /* Element by element the least / the sum over the ranks (sums in rank order). count is small. */
  TlStatus (*least)(void *ctx, double *values, int count);
  TlStatus (*sum)(void *ctx, double *values, int count);
  TlStatus (*sum_int)(void *ctx, int64_t *values, int count);
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

#endif
