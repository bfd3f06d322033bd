#define _GNU_SOURCE /* sched_getaffinity and its sets of any size */

#include "base/par.h"

#include "base/mem.h"

#include <math.h>
#include <omp.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double WORTH_NS = 5e4;

/* ---- how many threads ---- */

/* Some 30 to 150 us. GNU's default is 300,000, several milliseconds: with more threads and other
 * work than cores each end of a parallel loop then costs a time slice. Measured on two busy cores:
 * 40 s with two threads, 5.4 s with one, and 2.3 to 5 s with two that spin 1,000 to 10,000 times.
 */
#define SPIN_COUNT "2000"

static char reason[160] = "the runtime's default";

TlCpuSet tl_par_cpus(void) {
  TlCpuSet set = {{0}};
  cpu_set_t cpus[TL_CPU_BYTES / sizeof(cpu_set_t)];
  bool known = sched_getaffinity(0, sizeof cpus, cpus) == 0;
  for (int cpu = 0; cpu < 8 * TL_CPU_BYTES; cpu++)
    if (known ? CPU_ISSET_S((size_t)cpu, sizeof cpus, cpus) : cpu < omp_get_num_procs())
      set.byte[cpu / 8] |= (unsigned char)(1 << cpu % 8);
  return set;
}

static bool has(const TlCpuSet *set, int cpu) {
  return set->byte[cpu / 8] >> cpu % 8 & 1;
}

static bool shares_a_cpu(const TlCpuSet *a, const TlCpuSet *b) {
  for (int i = 0; i < TL_CPU_BYTES; i++)
    if (a->byte[i] & b->byte[i]) return true;
  return false;
}

/* The one or two numbers that a file begins with; false: it does not ("max 100000"). */
static bool read_numbers(const char *path, double *first, double *second) {
  FILE *f = fopen(path, "r");
  if (!f) return false;
  int read = second ? fscanf(f, "%lf %lf", first, second) : fscanf(f, "%lf", first);
  fclose(f);
  return read == (second ? 2 : 1);
}

/* Of one group: version 2 has "quota period" in one file, version 1 two files. */
static double quota_of(const char *folder) {
  char path[2200];
  double quota, period;
  snprintf(path, sizeof path, "%s/cpu.max", folder);
  if (!read_numbers(path, &quota, &period)) {
    snprintf(path, sizeof path, "%s/cpu.cfs_quota_us", folder);
    if (!read_numbers(path, &quota, NULL)) return INFINITY;
    snprintf(path, sizeof path, "%s/cpu.cfs_period_us", folder);
    if (!read_numbers(path, &period, NULL)) return INFINITY;
  }
  return quota > 0 && period > 0 ? quota / period : INFINITY;
}

/* The least of the group and all that it lies in. In a container the path may begin above what is
 * mounted there; then the mount itself is the container's group. */
static double least_quota(const char *mount, const char *group) {
  char folder[2100];
  double least = quota_of(mount);
  int length = snprintf(folder, sizeof folder, "%s%s", mount, group);
  if (length < 0 || length >= (int)sizeof folder || strstr(group, "..")) return least;
  for (size_t root = strlen(mount); strlen(folder) > root; *strrchr(folder, '/') = 0)
    least = fmin(least, quota_of(folder));
  return least;
}

double tl_par_quota(const char *file, const char *mount) {
  static const char *const v1[] = {"cpu,cpuacct", "cpuacct,cpu", "cpu"};
  static const char *const v2[] = {"", "/unified"};
  char line[1200], at[1024];
  double least = INFINITY;
  FILE *f = fopen(file, "r");
  if (!f) return least;
  while (fgets(line, sizeof line, f)) {
    line[strcspn(line, "\n")] = 0;
    char *list = strchr(line, ':'), *group = list ? strchr(list + 1, ':') : NULL;
    if (!group) continue;
    *group++ = 0;
    list++;
    for (size_t i = 0; *list == 0 && i < sizeof v2 / sizeof *v2; i++) {
      snprintf(at, sizeof at, "%s%s", mount, v2[i]);
      least = fmin(least, least_quota(at, group));
    }
    for (size_t i = 0; i < sizeof v1 / sizeof *v1; i++) {
      if (strcmp(list, v1[i]) != 0) continue;
      for (size_t k = 0; k < sizeof v1 / sizeof *v1; k++) { /* mounted under any of these names */
        snprintf(at, sizeof at, "%s/%s", mount, v1[k]);
        least = fmin(least, least_quota(at, group));
      }
    }
  }
  fclose(f);
  return least;
}

int tl_par_fair_threads(const TlCpuSet *process, int count, int me, double quota) {
  double cpus = 0;
  for (int cpu = 0; cpu < 8 * TL_CPU_BYTES; cpu++) {
    int sharers = 0;
    if (!has(&process[me], cpu)) continue;
    for (int p = 0; p < count; p++) sharers += has(&process[p], cpu);
    cpus += 1.0 / sharers;
  }
  int threads = (int)(cpus + 1e-9);
  if (quota < INFINITY) {
    int allowed = (int)ceil(quota - 1e-9) / count;
    if (allowed < threads) threads = allowed;
  }
  return threads > 1 ? threads : 1;
}

/* As the runtime began: what OMP_NUM_THREADS says, where it is set. */
static int threads_at_start(void) {
  static int threads;
  if (threads == 0) threads = omp_get_max_threads();
  return threads;
}

void tl_par_set_fair_threads(const TlCpuSet *process, int count, int me) {
  int at_start = threads_at_start();
  if (getenv("OMP_NUM_THREADS")) {
    omp_set_num_threads(at_start);
    snprintf(reason, sizeof reason, "as OMP_NUM_THREADS says");
    return;
  }
  int cpus = 0, sharing = 0, machine = (int)sysconf(_SC_NPROCESSORS_ONLN);
  for (int cpu = 0; cpu < 8 * TL_CPU_BYTES; cpu++) cpus += has(&process[me], cpu);
  for (int p = 0; p < count; p++) sharing += shares_a_cpu(&process[me], &process[p]);
  double quota = tl_par_quota("/proc/self/cgroup", "/sys/fs/cgroup");
  int threads = tl_par_fair_threads(process, count, me, quota);
  omp_set_num_threads(threads);
  int n = snprintf(reason, sizeof reason,
                   cpus < machine ? "%d of the machine's %d CPUs by CPU affinity"
                                  : "%d of the machine's %d CPUs",
                   cpus, machine);
  if (quota < INFINITY)
    n += snprintf(reason + n, sizeof reason - (size_t)n, ", a control group's quota of %.3g CPUs",
                  quota);
  if (sharing > 1) snprintf(reason + n, sizeof reason - (size_t)n, ", shared by %d ranks", sharing);
}

void tl_par_start(char **argv) {
  static bool started;
  char path[4096];
  if (started) return;
  started = true;
#ifndef __clang__ /* LLVM's runtime gives cores away by itself when there are too few */
  if (!getenv("GOMP_SPINCOUNT") && !getenv("OMP_WAIT_POLICY")) {
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length > 0 && setenv("GOMP_SPINCOUNT", SPIN_COUNT, 1) == 0) {
      path[length] = 0;
      execv(path, argv); /* comes back only when that cannot be done; then threads spin longer */
    }
  }
#endif
  tl_par_set_threads(0);
}

void tl_par_set_threads(int threads) {
  TlCpuSet mine = tl_par_cpus();
  if (threads <= 0) {
    tl_par_set_fair_threads(&mine, 1, 0);
    return;
  }
  threads_at_start();
  omp_set_num_threads(threads);
  snprintf(reason, sizeof reason, "as asked for");
}

int tl_par_threads(void) {
  return omp_get_max_threads();
}

const char *tl_par_reason(void) {
  return reason;
}

/* ---- loops ---- */

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

void tl_par_stay(void) {
  if (omp_in_parallel()) omp_set_num_threads(1); /* of this thread's own task */
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
  bool may_continue = me == 0 || !t->chain->caller_only;
  uint64_t closed = may_continue ? 0 : DUE, state, after;
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
