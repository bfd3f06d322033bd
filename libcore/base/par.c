#include "base/par.h"

#include "base/mem.h"

#include <omp.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static const double WORTH_NS = 5e4;

void tl_par_set_threads(int threads) {
  omp_set_num_threads(threads > 0 ? threads : omp_get_num_procs());
}

int tl_par_threads(void) {
  return omp_get_max_threads();
}

/* The first block that failed. */
typedef struct Failure {
  int64_t block;
  TlStatus status;
  char text[2048];
} Failure;

static void note_failure(Failure *failure, int64_t block, TlStatus status) {
  if (block >= failure->block) return;
  failure->block = block;
  failure->status = status;
  snprintf(failure->text, sizeof failure->text, "%s", tl_message());
}

static TlStatus run(int64_t n, int64_t block, bool team, TlParBody body, void *context) {
  int64_t blocks = (n + block - 1) / block;
  Failure failure = {.block = INT64_MAX, .status = TL_OK};
  if (team && blocks > 1) {
#pragma omp parallel for schedule(dynamic, 1)
    for (int64_t b = 0; b < blocks; b++) {
      int64_t end = (b + 1) * block < n ? (b + 1) * block : n;
      TlStatus status = body(context, b * block, end, b, omp_get_thread_num());
      if (status == TL_OK) continue;
#pragma omp critical(tl_par_failure)
      note_failure(&failure, b, status);
    }
  } else { /* no region: one of one thread costs half a microsecond, too */
    for (int64_t b = 0; b < blocks; b++) {
      int64_t end = (b + 1) * block < n ? (b + 1) * block : n;
      TlStatus status = body(context, b * block, end, b, 0);
      if (status != TL_OK) note_failure(&failure, b, status);
    }
  }
  return failure.status == TL_OK ? TL_OK : tl_fail(failure.status, "%s", failure.text);
}

TlStatus tl_par_blocks(int64_t n, int64_t block, TlParBody body, void *context) {
  return run(n, block, tl_par_threads() > 1, body, context);
}

bool tl_par_pays(int64_t n, double each_ns) {
  return (double)n * each_ns >= WORTH_NS && tl_par_threads() > 1 && !omp_in_parallel();
}

TlStatus tl_par_loop(int64_t n, int64_t block, double each_ns, TlParBody body, void *context) {
  return run(n, block, tl_par_pays(n, each_ns), body, context);
}

/* ---- chains of loops ---- */

enum { LINE = 64, SPINS = 2000 }; /* some 50 us */

/* Blocks taken of a thread's part: from its start in the lower half, from its end in the upper one.
 * One addition takes a block, as long as it finds fewer taken than there are. The owner comes from
 * one side, the others from the other. */
typedef struct Taken {
  _Alignas(LINE) atomic_uint_least64_t count;
} Taken;
static const uint64_t FROM_START = 1, FROM_END = (uint64_t)1 << 32;

/* The loop at hand: how many threads are in it (lower half), whether more may come, its number. The
 * last one to leave finds every block taken and, all others having left, done: it closes the loop
 * and sets up the next. */
static const uint64_t OPEN = (uint64_t)1 << 32, DUE = (uint64_t)1 << 33, OVER = (uint64_t)1 << 34,
                      NUMBER = (uint64_t)1 << 35;

typedef struct Team {
  _Alignas(LINE) atomic_uint_least64_t state;
  _Alignas(LINE) int64_t blocks;
  uint64_t number; /* of the loop at hand: a multiple of NUMBER */
  const TlParChain *chain;
  int threads; /* parts; a thread the runtime did not give leaves its part to the others */
  Taken taken[];
} Team;

static void pause_once(int waited) {
  if (waited > SPINS) {
    sched_yield();
    return;
  }
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

static void open_next(Team *t) {
  t->blocks = t->chain->next(t->chain->context);
  t->number += NUMBER;
  for (int i = 0; i < t->threads; i++)
    atomic_store_explicit(&t->taken[i].count, 0, memory_order_relaxed);
  atomic_store_explicit(&t->state, t->number | (t->blocks > 0 ? OPEN : OVER), memory_order_release);
}

/* Waits for an open loop other than `last`, where nothing is left for this thread; false: the chain
 * is over. */
static bool enter(Team *t, int me, uint64_t *last) {
  for (int waited = 0;; waited += waited <= SPINS) {
    uint64_t state = atomic_load_explicit(&t->state, memory_order_acquire);
    if (state & OVER) return false;
    if ((state & OPEN) && state / NUMBER != *last / NUMBER) {
      if (!atomic_compare_exchange_weak_explicit(&t->state, &state, state + 1, memory_order_acquire,
                                                 memory_order_relaxed))
        continue;
      *last = state;
      return true;
    }
    if ((state & DUE) && me == 0)
      open_next(t);
    else
      pause_once(waited);
  }
}

static void leave(Team *t, int me) {
  bool may_go_on = me == 0 || !t->chain->caller_only;
  uint64_t closed = may_go_on ? 0 : DUE, state, after;
  state = atomic_load_explicit(&t->state, memory_order_relaxed);
  do after = state % OPEN > 1 ? state - 1 : closed;
  while (!atomic_compare_exchange_weak_explicit(&t->state, &state, after, memory_order_acq_rel,
                                                memory_order_relaxed));
  if (after == 0) open_next(t);
}

/* Blocks [begin, end), from one side, until nothing is left. */
static void do_part(const Team *t, Taken *taken, uint64_t side, int64_t begin, int64_t end,
                    int me) {
  for (;;) {
    uint64_t before = atomic_fetch_add_explicit(&taken->count, side, memory_order_relaxed);
    int64_t from_start = (int64_t)(before % FROM_END), from_end = (int64_t)(before / FROM_END);
    if (from_start + from_end >= end - begin) return;
    t->chain->body(t->chain->context, side == FROM_START ? begin + from_start : end - 1 - from_end,
                   me);
  }
}

/* Neighbours, 0 and 1, 2 and 3, work towards each other, and the first to be done helps the other:
 * where they meet moves little from loop to loop. */
static void do_loop(Team *t, int me) {
  for (int i = 0, tried = 0; tried < t->threads; i++) {
    int part = me ^ i;
    if (part >= t->threads) continue;
    bool helps = i > 0, odd = part & 1;
    do_part(t, &t->taken[part], helps == odd ? FROM_START : FROM_END, t->blocks * part / t->threads,
            t->blocks * (part + 1) / t->threads, me);
    tried++;
  }
}

static void do_alone(const TlParChain *chain) {
  for (int64_t blocks; (blocks = chain->next(chain->context)) > 0;)
    for (int64_t b = 0; b < blocks; b++) chain->body(chain->context, b, 0);
}

TlStatus tl_par_chain(const TlParChain *chain, bool team) {
  if (!team) {
    do_alone(chain);
    return TL_OK;
  }
  int threads = tl_par_threads();
  Team *t = tl_calloc(1, sizeof *t + (size_t)threads * sizeof *t->taken);
  if (!t) return TL_ENOMEM;
  t->chain = chain;
  t->threads = threads;
  open_next(t);
#pragma omp parallel num_threads(threads)
  {
    int me = omp_get_thread_num();
    uint64_t last = 0;
    while (enter(t, me, &last)) {
      do_loop(t, me);
      leave(t, me);
    }
  }
  tl_free(t);
  return TL_OK;
}
