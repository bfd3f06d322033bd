/* Threads. The only header that says OpenMP's runtime; loops may use `#pragma omp` themselves.
 *
 * tl_par_blocks cuts [0, n) into fixed blocks (their borders depend on n and block only, never on
 * the thread count) and runs body on each. Whoever sums stores one value a block and adds them in
 * block order: the result then has the same bits for any thread count.
 */
#ifndef TL_BASE_PAR_H
#define TL_BASE_PAR_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

void tl_par_set_threads(int threads); /* <= 0: all the machine offers */
int tl_par_threads(void);

/* body(context, begin, end, block, thread). The first failing block (lowest index) decides the
 * status and its message; the others still run. */
typedef TlStatus (*TlParBody)(void *context, int64_t begin, int64_t end, int64_t block, int thread);
TlStatus tl_par_blocks(int64_t n, int64_t block, TlParBody body, void *context);

/* Is a loop over n items, about each_ns nanoseconds of work each, worth a team? To open one and to
 * meet at its end costs 2 to 10 us while its threads still spin, 50 to 100 us once they sleep or
 * other work has their cores: below some 50 us one thread is as fast and leaves the others alone.
 * No inside a team, and no with one thread. Says when, never how: results do not depend on it. */
bool tl_par_pays(int64_t n, double each_ns);
/* tl_par_blocks where that pays; else this thread does the blocks, as thread 0. */
TlStatus tl_par_loop(int64_t n, int64_t block, double each_ns, TlParBody body, void *context);

/* Many short loops one after the other, each needing all of the one before.
 *
 * `next` sets up a loop in the context and returns its blocks (under 2^31); 0: that was all. `body`
 * does one block. next is called by one thread at a time, when all blocks of the loop before are
 * done, and sees what they wrote; bodies see what it wrote. No barrier: a loop is over when its
 * blocks are, and a thread that lost its core between two blocks is not waited for. So a chain
 * costs some 0.3 us a loop on idle cores, and no more than its work on busy ones, where a barrier
 * takes a time slice of the scheduler each.
 *
 * Each thread begins with a part of the blocks that is the same in every loop (what it touched
 * last lies in its cache) and goes on with the last ones of the others. Who does a block is left to
 * chance: within a loop, no block may read what another one writes. */
typedef struct TlParChain {
  int64_t (*next)(void *context);
  void (*body)(void *context, int64_t block, int thread);
  void *context;
  bool caller_only; /* only the calling thread may call next: it talks to other ranks, may fail */
} TlParChain;
/* team: by tl_par_threads() threads, else by this one. TL_ENOMEM. */
TlStatus tl_par_chain(const TlParChain *chain, bool team);

#endif
