/* Blocks of memory that the ranks of a machine hold in common: one of them makes a block, all of them read it.
 *
 * A block has a key of two numbers, what it is of (id) and which part of that it is (1 to 7). It is made when it is
 * first asked for, never changes afterwards, and may go when nobody uses it any more. Who wants one asks:
 * - TL_SHARED_THERE: read it; give it back by tl_shared_release;
 * - TL_SHARED_MAKE: it is this rank's to make: tl_shared_reserve, fill it, tl_shared_publish; or, where it cannot be
 *   made, tl_shared_give_up, and the next that asks will try;
 * - TL_SHARED_BUSY: another rank makes it now; only of those who do not wait;
 * - TL_SHARED_OWN: there is no common memory for it: make one for this rank alone.
 * Nobody sends messages for it: a block's state is an atomic number in the memory itself. Who waits sleeps until the
 * maker is done, so a rank makes one block at a time and asks for no other meanwhile.
 *
 * TlShared NULL: nothing is shared, and every function takes it. Call from one thread.
 */
#ifndef TL_BASE_SHARED_H
#define TL_BASE_SHARED_H

#include "base/flat.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct TlComm;

typedef struct TlShared TlShared;

typedef enum TlSharedAnswer {
  TL_SHARED_THERE,
  TL_SHARED_MAKE,
  TL_SHARED_BUSY,
  TL_SHARED_OWN
} TlSharedAnswer;

/* Collective. Memory for about so many blocks. *shared NULL where a rank is alone on its machine; where the memory
 * cannot be had, too, and rank 0 warns of it. */
TlStatus tl_shared_open(TlShared **shared, struct TlComm *comm, int64_t blocks);
/* Local. Whatever this rank has not given back is no longer to be read. */
void tl_shared_close(TlShared *shared);
/* Collective, for all ranks of comm, those without it too: rank 0 warns, once, when a block found no place. */
TlStatus tl_shared_warn(TlShared *shared, struct TlComm *comm, bool *warned);

TlSharedAnswer tl_shared_ask(TlShared *shared, int64_t id, int part, bool wait, const void **block);
/* Memory of a block that is this rank's to make, on a page of its own; NULL: there is no more, and each rank makes its
 * own of it. */
void *tl_shared_reserve(TlShared *shared, int64_t id, int part, size_t bytes);
/* The block is whole; it counts as asked for. */
const void *tl_shared_publish(TlShared *shared, int64_t id, int part);
void tl_shared_give_up(TlShared *shared, int64_t id, int part);
void tl_shared_release(TlShared *shared, int64_t id, int part);
/* Gives back to the system the memory of blocks that nobody uses. */
void tl_shared_drop_unused(TlShared *shared);

/* What has its arrays in a block: how it is made for one rank alone, how they lie in the block (base/flat.h), how it is
 * freed. Where it is read lay_out notes that its arrays are borrowed, so that they stay when it is freed. */
typedef struct TlSharedForm {
  TlStatus (*make)(void *it);
  void (*lay_out)(TlFlat *flat, void *it);
  void (*free)(void *it);
} TlSharedForm;
/* All of the above in turn: `it` with its arrays in common memory, or of this rank alone where there is none for it.
 * *there: false when another rank makes it now; only without wait. What is borrowed is given back by
 * tl_shared_release. */
TlStatus tl_shared_get(TlShared *shared, int64_t id, int part, bool wait, const TlSharedForm *form,
                       void *it, bool *there);

/* This rank's number among the ranks that share, and how many they are: for dividing work. */
int tl_shared_rank(const TlShared *shared);
int tl_shared_ranks(const TlShared *shared);

typedef struct TlSharedCounters {
  int64_t made, taken; /* blocks that this rank made; that it found made by others */
  int64_t held_bytes;  /* in common now */
} TlSharedCounters;
TlSharedCounters tl_shared_counters(const TlShared *shared);

/* Test hook: of what is opened from now on blocks take so many bytes at most; 0: it cannot be opened; < 0: what the
 * machine has. */
void tl_shared_limit(int64_t bytes);

#endif
