/* Threads. The only header that uses OpenMP's runtime; loops may use `#pragma omp` themselves.
 *
 * tl_par_blocks cuts [0, n) into fixed blocks (their borders depend on n and block only, never on
 * the thread count) and runs body on each. A sum stores one value for each block and adds them in
 * block order: the result then has the same bits for any thread count.
 */
#ifndef TL_BASE_PAR_H
#define TL_BASE_PAR_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

/* ---- how many threads ---- */

/* Call first in main, before MPI starts; later calls do nothing. Sets the default number of threads
 * of a process that has the machine to itself, and sees to it that OpenMP's threads wait for each
 * other without holding a core that other work wants: GNU's runtime reads how long to spin when it
 * is loaded, so unless GOMP_SPINCOUNT or OMP_WAIT_POLICY is set already, the program is started
 * once more, in the same process, with GOMP_SPINCOUNT set. */
void tl_par_start(char **argv);

/* CPUs by their numbers: bit n % 8 of byte n / 8. */
enum { TL_CPU_BYTES = 1024 };
typedef struct TlCpuSet {
  unsigned char byte[TL_CPU_BYTES];
} TlCpuSet;
/* The CPUs that this process may run on (its affinity). */
TlCpuSet tl_par_cpus(void);
/* CPU time per time that the control groups of this process allow (cgroup v1 and v2); INFINITY:
 * no quota. `file` lists the groups and `mount` is where they are mounted: "/proc/self/cgroup" and
 * "/sys/fs/cgroup" but in tests. */
double tl_par_quota(const char *file, const char *mount);
/* Threads of process `me` of `count` that share this machine, with these affinities: its part of
 * each CPU that it may run on, and of the quota (a started CPU counts), 1 at least. */
int tl_par_fair_threads(const TlCpuSet *process, int count, int me, double quota);
/* The same with the quota of this process, as the number of threads from here on; but
 * OMP_NUM_THREADS counts where it is set. */
void tl_par_set_fair_threads(const TlCpuSet *process, int count, int me);

void tl_par_set_threads(int threads); /* <= 0: as tl_par_start does */
int tl_par_threads(void);
/* Where that number comes from, for people: "1 of the machine's 2 CPUs by CPU affinity". */
const char *tl_par_reason(void);

/* body(context, begin, end, block, thread). The first failing block (lowest index) decides the
 * status and its message; the others still run. */
typedef TlStatus (*TlParBody)(void *context, int64_t begin, int64_t end, int64_t block, int thread);
TlStatus tl_par_blocks(int64_t n, int64_t block, TlParBody body, void *context);

/* Inside a body of tl_par_blocks that is work enough for its thread: loops that it opens stay on it,
 * until the body's own loop is over. */
void tl_par_stay(void);

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
 * last lies in its cache) and continues with the last ones of the others. Who does a block is left
 * to chance: within a loop, no block may read what another one writes. */
typedef struct TlParChain {
  int64_t (*next)(void *context);
  void (*body)(void *context, int64_t block, int thread);
  void *context;
  bool caller_only; /* only the calling thread may call next: it talks to other ranks, may fail */
} TlParChain;
/* team: by tl_par_threads() threads, else by this one. TL_ENOMEM. */
TlStatus tl_par_chain(const TlParChain *chain, bool team);

#endif
