/* Between rank 0 and the others: records of all ranks in the order of their keys go to rank 0, and
 * bodies that rank 0 alone knows go to the ranks in equal parts. Both in blocks of bounded size.
 *
 * Each rank has its own records in ascending order; rank 0 merges them, holding one block a rank
 * and never all: its memory grows with the ranks, not with the records.
 */
#ifndef TL_RUN_GATHER_H
#define TL_RUN_GATHER_H

#include "base/comm.h"
#include "model/bodies.h"

#include <stdbool.h>

typedef struct TlGather {
  TlComm *comm;
  size_t record_bytes;
  int keys; /* a record begins with so many int64_t, by which it is ordered; no two are equal */
  int64_t count; /* of this rank */
  /* This rank's records [first, first + count) */
  void (*fill)(void *context, int64_t first, int64_t count, unsigned char *to);
  /* Rank 0: the next records in order. After a failure it is called no more. */
  TlStatus (*take)(void *context, const unsigned char *records, int64_t count);
  void *context;
} TlGather;

/* Collective; not agreed upon: the caller does (tl_comm_agree). */
TlStatus tl_gather_sorted(const TlGather *gather);

/* The same of rows (model/record.h), which come packed with what stands before their fields. */
TlStatus tl_gather_rows(TlComm *comm, const TlRows *rows,
                        TlStatus (*take)(void *context, const unsigned char *records,
                                         int64_t count),
                        void *context);

/* Collective. count and make are asked on rank 0 only, which appends body i of count; each rank gets
 * its part of them as owned bodies, in order (handout.c). */
TlStatus tl_hand_out(TlComm *comm, int64_t count,
                     TlStatus (*make)(void *context, int64_t i, TlBodies *bodies), void *context,
                     TlBodies *bodies);

#endif
