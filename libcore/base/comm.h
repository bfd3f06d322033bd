/* Ranks of a parallel run. This is the only header behind which MPI stands.
 *
 * A TlComm is a set of ranks; NULL means one rank without MPI, and every function takes it. All
 * functions but the first block of queries and the point-to-point ones are collective: every rank
 * calls them, in the same order. Collectives carry a few values a rank, never bodies; a test checks
 * this by the counters (largest_collective_bytes).
 * Ranks return together: at the end of a stage each hands its status to tl_comm_agree and all get
 * the status and the message of the first (lowest) failing rank. MPI's own failures end the job.
 * Call from one thread.
 */
#ifndef TL_BASE_COMM_H
#define TL_BASE_COMM_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

typedef struct TlComm TlComm;

/* Starts MPI (also fine without mpirun: one rank). Ranks other than 0 stay silent from here on:
 * nothing on their log nor on their standard output. */
TlStatus tl_comm_start(TlComm **comm, int *argc, char ***argv);
/* The one that is started, or NULL. */
TlComm *tl_comm_world(void);
/* Ends MPI. When ranks are still inside a stage that failed elsewhere use tl_comm_agree first. */
void tl_comm_stop(TlComm *comm);
/* Ends all ranks with exit status 1, when this one failed where the others do not ask: they would
 * wait for it for ever. Does nothing on one rank. */
void tl_comm_abort(const TlComm *comm);

int tl_comm_rank(const TlComm *comm);
int tl_comm_size(const TlComm *comm);
/* Ranks that share this machine's memory and cores, and this one's number among them. The environment variable
 * TALUS_NODE_RANKS, a hook of tests, takes so many ranks of a machine for one machine. */
int tl_comm_node_size(const TlComm *comm);
int tl_comm_node_rank(const TlComm *comm);

typedef struct TlCommCounters {                           /* of this rank */
  int64_t messages, message_bytes, largest_message_bytes; /* sent */
  int64_t received_bytes;                                 /* of messages */
  int64_t collectives, largest_collective_bytes; /* largest buffer of a collective on this rank */
  int64_t
      supersteps; /* times it waited for others: collectives, and waits for messages to or from it */
} TlCommCounters;
TlCommCounters tl_comm_counters(const TlComm *comm);

/* The status of the lowest failing rank, with its message "rank N: ..." (no prefix on one rank or
 * when rank 0 failed); a rank that only knows that another one failed (TL_EOTHER) is asked last. A rank that failed while others hang inside a stage waits a few seconds for
 * them, then says its message and ends the job (exit 1): nothing waits for ever. */
TlStatus tl_comm_agree(TlComm *comm, TlStatus status);

/* Values over all ranks, in place, element by element. sum of doubles adds in rank order (the same
 * bits on every rank; it does depend on how many there are). */
TlStatus tl_comm_any_bits(TlComm *comm, uint64_t *bits, int count); /* or over the ranks */
TlStatus tl_comm_sum_int(TlComm *comm, int64_t *values, int count);
TlStatus tl_comm_most_int(TlComm *comm, int64_t *values, int count);
TlStatus tl_comm_sum(TlComm *comm, double *values, int count);
TlStatus tl_comm_least(TlComm *comm, double *values, int count);
TlStatus tl_comm_most(TlComm *comm, double *values, int count);
/* least in two calls, between which other messages may pass: values are copied, the result is had at
 * the end. One at a time, and no other collective in between. */
TlStatus tl_comm_least_begin(TlComm *comm, const double *values, int count);
TlStatus tl_comm_least_end(TlComm *comm, double *values, int count);
/* all[rank*size ...] = mine of that rank; size bytes a rank, small. */
TlStatus tl_comm_gather_all(TlComm *comm, const void *mine, void *all, size_t size);
/* The same among the ranks of this machine. */
TlStatus tl_comm_gather_node(TlComm *comm, const void *mine, void *all, size_t size);
/* Sends to[r] to rank r, which receives it in its from[this rank]: one number for each pair of
 * ranks. */
TlStatus tl_comm_swap_counts(TlComm *comm, const int64_t *to, int64_t *from);
TlStatus tl_comm_broadcast(TlComm *comm, void *bytes, size_t size, int root);
void tl_comm_barrier(TlComm *comm);

/* Point to point, split-phase: post any number, do other work, wait for all. Buffers stay untouched
 * until then. Messages of any size, which the receiver knows; of no bytes none goes. */
typedef struct TlCommBatch {
  void *requests; /* owned */
  size_t count, capacity;
} TlCommBatch;
/* Memory for count messages, so that posting as many cannot fail for want of memory. */
TlStatus tl_comm_batch_reserve(TlCommBatch *batch, size_t count);
TlStatus tl_comm_send(TlComm *comm, TlCommBatch *batch, int to, int tag, const void *bytes,
                      size_t size);
TlStatus tl_comm_receive(TlComm *comm, TlCommBatch *batch, int from, int tag, void *bytes,
                         size_t size);
TlStatus tl_comm_wait(TlComm *comm, TlCommBatch *batch);
#define TL_COMM_ANY_BYTES ((size_t)1 << 30)
/* Waits for the next message of this rank and tag, of a size that the receiver does not know: into *bytes,
 * which grows (TL_RESERVE). The sender must not send more than TL_COMM_ANY_BYTES. */
TlStatus tl_comm_receive_any(TlComm *comm, int from, int tag, unsigned char **bytes,
                             size_t *capacity, size_t *size);
void tl_comm_batch_free(TlCommBatch *batch);

#endif
