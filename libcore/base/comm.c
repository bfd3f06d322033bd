#ifdef __SANITIZE_ADDRESS__
#define _GNU_SOURCE /* dl_iterate_phdr */
#include <dlfcn.h>
#include <link.h>
#include <sanitizer/lsan_interface.h>
#endif

#include "base/comm.h"

#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "base/log.h"
#include "base/mem.h"
#include "base/report.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* How long a failed rank waits for the others to end their stage too. */
#define PATIENCE_S 5.0
/* MPI counts are ints: longer messages go in pieces. */
#define PIECE_BYTES TL_COMM_ANY_BYTES

#ifdef __SANITIZE_ADDRESS__
/* Open MPI leaks a little while it starts, and later in modules that are unloaded before the leak
 * checker names them; kept loaded, tests/lsan.supp can tell their leaks from ours. */
static int keep_loaded(struct dl_phdr_info *info, size_t size, void *unused) {
  (void)size;
  (void)unused;
  if (strstr(info->dlpi_name, "mca_")) {
    void *handle = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
    if (handle) dlclose(handle);
  }
  return 0;
}
static void keep_modules(void) {
  dl_iterate_phdr(keep_loaded, NULL);
}
static void ignore_leaks(bool ignore) {
  if (ignore)
    __lsan_disable();
  else
    __lsan_enable();
}
#else
static void keep_modules(void) {}
static void ignore_leaks(bool ignore) {
  (void)ignore;
}
#endif

struct TlComm {
  MPI_Comm world, health; /* health: agreements only, so that they never meet a stage's calls */
  MPI_Comm node;          /* ranks of this machine */
  int rank, size, node_rank, node_size;
  double *scratch; /* size * scratch_count doubles of tl_comm_sum */
  size_t scratch_count;
  double *least; /* on its way between tl_comm_least_begin and _end */
  size_t least_capacity;
  MPI_Request least_request;
  bool talked; /* a message went or came since it last waited */
  TlCommCounters counters;
};

/* MPI starts once a process, so its handle may as well be found by all. */
static TlComm *world;

TlComm *tl_comm_world(void) {
  return world;
}

/* The tests' hook: so many ranks of this machine are taken for a machine of their own. */
static void split_node(TlComm *c) {
  const char *text = getenv("TALUS_NODE_RANKS");
  int ranks = text ? atoi(text) : 0, me;
  MPI_Comm whole = c->node;
  if (ranks < 1) return;
  MPI_Comm_rank(whole, &me);
  MPI_Comm_split(whole, me / ranks, me, &c->node);
  MPI_Comm_free(&whole);
}

static void meet_the_ranks(TlComm *c) {
  MPI_Comm_dup(MPI_COMM_WORLD, &c->world);
  MPI_Comm_dup(MPI_COMM_WORLD, &c->health);
  MPI_Comm_rank(c->world, &c->rank);
  MPI_Comm_size(c->world, &c->size);
  MPI_Comm_split_type(c->world, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &c->node);
  split_node(c);
  MPI_Comm_rank(c->node, &c->node_rank);
  MPI_Comm_size(c->node, &c->node_size);
}

/* Whether another program started this one, as mpirun and srun do. */
static bool was_launched(void) {
  static const char *const said[] = {"OMPI_COMM_WORLD_SIZE", "PMIX_NAMESPACE", "PMI_RANK",
                                     "PMI_FD"};
  for (size_t i = 0; i < sizeof said / sizeof *said; i++)
    if (getenv(said[i])) return true;
  return false;
}

TlStatus tl_comm_start(TlComm **comm, int *argc, char ***argv) {
  int provided;
  TL_TRY(TL_NEW(*comm, 1));
  TlComm *c = *comm;
  /* Where MPI itself waits (its start and end) a rank gives its core away, unless the user has said
   * otherwise; of itself Open MPI does so only where it was told of fewer slots than ranks. */
  setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0);
  /* A tool that runs alone needs no folder of Open MPI for its session. All runs of a user make theirs in
   * the same one, and where one ends as another starts, the second finds it gone and fails. */
  if (!was_launched()) setenv("OMPI_MCA_orte_create_session_dirs", "0", 0);
#ifdef __linux__
  prctl(PR_SET_TIMERSLACK, 1000UL); /* ns: sleeps of wait_for as short as they are asked for */
#endif
  ignore_leaks(true);
  int started = MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided);
  if (started == MPI_SUCCESS) meet_the_ranks(c);
  ignore_leaks(false);
  if (started != MPI_SUCCESS) return tl_fail(TL_ELIB, "MPI does not start");
  world = c;
  if (c->rank == 0) return TL_OK;
  if (!freopen("/dev/null", "w", stdout)) return tl_fail_errno("/dev/null", "cannot open");
  tl_log_mute(true);
  tl_report_discard();
  return TL_OK;
}

void tl_comm_stop(TlComm *comm) {
  if (!comm) return;
  MPI_Comm_free(&comm->world);
  MPI_Comm_free(&comm->health);
  MPI_Comm_free(&comm->node);
  keep_modules();
  MPI_Finalize();
  world = NULL;
  tl_free(comm->scratch);
  tl_free(comm->least);
  tl_free(comm);
}

int tl_comm_rank(const TlComm *comm) {
  return comm ? comm->rank : 0;
}
int tl_comm_size(const TlComm *comm) {
  return comm ? comm->size : 1;
}
int tl_comm_node_size(const TlComm *comm) {
  return comm ? comm->node_size : 1;
}
int tl_comm_node_rank(const TlComm *comm) {
  return comm ? comm->node_rank : 0;
}
TlCommCounters tl_comm_counters(const TlComm *comm) {
  return comm ? comm->counters : (TlCommCounters){0};
}

/* ---- waiting ---- */

/* A rank that waits longer than a message takes sleeps, ever longer, an eighth of what it has
 * waited: MPI's own calls poll without end, and where other work has the cores two ranks then hand
 * each other time slices of the scheduler, message by message; who sleeps is woken before those who
 * compute. Measured beside 20 other jobs on two cores, 40 steps of 140 grains: on two ranks 1.7 s,
 * and 2.9 s with calls that poll and yield; on four 2.7 s, and 5.7 s.
 */
typedef struct Waiting {
  double start; /* 0: it has not waited yet */
} Waiting;

static void wait_longer(Waiting *w) {
  static const double POLL_S = 5e-5, LONGEST_S = 5e-4;
  double now = tl_clock_s();
  if (w->start == 0) w->start = now;
  double waited = now - w->start, sleep_s = waited / 8 < LONGEST_S ? waited / 8 : LONGEST_S;
  if (waited < POLL_S) return;
  nanosleep(&(struct timespec){0, (long)(1e9 * sleep_s)}, NULL);
}

static void wait_for(MPI_Request *requests, int count) {
  Waiting w = {0};
  for (int done = 0;;) {
    MPI_Testall(count, requests, &done, MPI_STATUSES_IGNORE);
    if (done) return;
    wait_longer(&w);
  }
}

/* ---- leaving together ---- */

static void end_the_job(void) {
  tl_log_error("%s", tl_message());
  fflush(NULL);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

void tl_comm_abort(const TlComm *comm) {
  if (!comm || comm->size == 1) return;
  tl_log_mute(comm->rank == 0); /* its error was printed */
  end_the_job();
}

static void count_collective(TlComm *comm, size_t bytes) {
  comm->counters.collectives++;
  comm->counters.supersteps++;
  if ((int64_t)bytes > comm->counters.largest_collective_bytes)
    comm->counters.largest_collective_bytes = (int64_t)bytes;
}

/* The rank whose failure all tell, the lowest one, or the number of ranks when all are well. Ranks
 * that know of another's failure only (TL_EOTHER) come after those with a failure of their own. */
static int first_failing(TlComm *comm, TlStatus status) {
  int size = comm->size, mine = status == TL_OK       ? 2 * size
                                : status == TL_EOTHER ? size + comm->rank
                                                      : comm->rank;
  int first = mine, done = 0;
  MPI_Request request;
  MPI_Iallreduce(&mine, &first, 1, MPI_INT, MPI_MIN, comm->health, &request);
  if (status == TL_OK) {
    wait_for(&request, 1);
    return first < size ? first : first - size;
  }
  double start = tl_clock_s();
  for (;;) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done) return first < size ? first : first - size;
    if (tl_clock_s() - start > PATIENCE_S) {
      tl_log_mute(false);
      end_the_job();
    }
    usleep(1000);
  }
}

TlStatus tl_comm_agree(TlComm *comm, TlStatus status) {
  if (!comm || comm->size == 1) return status;
  count_collective(comm, sizeof(int));
  struct {
    int code;
    char text[2000];
  } verdict = {0};
  int first = first_failing(comm, status);
  if (first == comm->size) return TL_OK;
  if (first == comm->rank) {
    verdict.code = (int)status;
    snprintf(verdict.text, sizeof verdict.text, "%s", tl_message());
  }
  MPI_Request request;
  MPI_Ibcast(&verdict, (int)sizeof verdict, MPI_BYTE, first, comm->health, &request);
  wait_for(&request, 1);
  if (first == 0) return tl_fail((TlStatus)verdict.code, "%s", verdict.text);
  return tl_fail((TlStatus)verdict.code, "rank %d: %s", first, verdict.text);
}

/* ---- collectives ---- */

static TlStatus reduce(TlComm *comm, void *values, int count, MPI_Datatype type, MPI_Op op) {
  if (!comm || comm->size == 1) return TL_OK;
  count_collective(comm, 8 * (size_t)count);
  MPI_Request request;
  MPI_Iallreduce(MPI_IN_PLACE, values, count, type, op, comm->world, &request);
  wait_for(&request, 1);
  return TL_OK;
}

TlStatus tl_comm_any_bits(TlComm *comm, uint64_t *bits, int count) {
  return reduce(comm, bits, count, MPI_UINT64_T, MPI_BOR);
}
TlStatus tl_comm_sum_int(TlComm *comm, int64_t *values, int count) {
  return reduce(comm, values, count, MPI_INT64_T, MPI_SUM);
}
TlStatus tl_comm_most_int(TlComm *comm, int64_t *values, int count) {
  return reduce(comm, values, count, MPI_INT64_T, MPI_MAX);
}
TlStatus tl_comm_least(TlComm *comm, double *values, int count) {
  return reduce(comm, values, count, MPI_DOUBLE, MPI_MIN);
}
TlStatus tl_comm_most(TlComm *comm, double *values, int count) {
  return reduce(comm, values, count, MPI_DOUBLE, MPI_MAX);
}

TlStatus tl_comm_least_begin(TlComm *comm, const double *values, int count) {
  if (!comm || comm->size == 1) return TL_OK;
  TL_TRY(TL_RESERVE(comm->least, comm->least_capacity, (size_t)count));
  if (count) memcpy(comm->least, values, (size_t)count * sizeof *values);
  count_collective(comm, 8 * (size_t)count);
  MPI_Iallreduce(MPI_IN_PLACE, comm->least, count, MPI_DOUBLE, MPI_MIN, comm->world,
                 &comm->least_request);
  return TL_OK;
}

TlStatus tl_comm_least_end(TlComm *comm, double *values, int count) {
  if (!comm || comm->size == 1) return TL_OK;
  wait_for(&comm->least_request, 1);
  if (count) memcpy(values, comm->least, (size_t)count * sizeof *values);
  return TL_OK;
}

/* MPI's own sum may add in any order, and in another one on the next run. */
TlStatus tl_comm_sum(TlComm *comm, double *values, int count) {
  if (!comm || comm->size == 1) return TL_OK;
  size_t ranks = (size_t)comm->size, n = (size_t)count;
  TL_TRY(TL_RESERVE(comm->scratch, comm->scratch_count, ranks * n));
  TL_TRY(tl_comm_gather_all(comm, values, comm->scratch, n * sizeof *values));
  for (size_t i = 0; i < n; i++) {
    values[i] = comm->scratch[i];
    for (size_t r = 1; r < ranks; r++) values[i] += comm->scratch[r * n + i];
  }
  return TL_OK;
}

TlStatus tl_comm_gather_all(TlComm *comm, const void *mine, void *all, size_t size) {
  if (!comm || comm->size == 1) {
    memcpy(all, mine, size);
    return TL_OK;
  }
  count_collective(comm, size * (size_t)comm->size);
  MPI_Request request;
  MPI_Iallgather(mine, (int)size, MPI_BYTE, all, (int)size, MPI_BYTE, comm->world, &request);
  wait_for(&request, 1);
  return TL_OK;
}

TlStatus tl_comm_gather_node(TlComm *comm, const void *mine, void *all, size_t size) {
  if (!comm) {
    memcpy(all, mine, size);
    return TL_OK;
  }
  count_collective(comm, size * (size_t)comm->node_size);
  MPI_Allgather(mine, (int)size, MPI_BYTE, all, (int)size, MPI_BYTE, comm->node);
  return TL_OK;
}

TlStatus tl_comm_swap_counts(TlComm *comm, const int64_t *to, int64_t *from) {
  if (!comm || comm->size == 1) {
    from[0] = to[0];
    return TL_OK;
  }
  count_collective(comm, 8 * (size_t)comm->size);
  MPI_Request request;
  MPI_Ialltoall(to, 1, MPI_INT64_T, from, 1, MPI_INT64_T, comm->world, &request);
  wait_for(&request, 1);
  return TL_OK;
}

TlStatus tl_comm_broadcast(TlComm *comm, void *bytes, size_t size, int root) {
  if (!comm || comm->size == 1) return TL_OK;
  count_collective(comm, size);
  for (size_t done = 0; done < size; done += PIECE_BYTES) {
    size_t piece = size - done < PIECE_BYTES ? size - done : PIECE_BYTES;
    MPI_Request request;
    MPI_Ibcast((char *)bytes + done, (int)piece, MPI_BYTE, root, comm->world, &request);
    wait_for(&request, 1);
  }
  return TL_OK;
}

void tl_comm_barrier(TlComm *comm) {
  if (!comm || comm->size == 1) return;
  count_collective(comm, 0);
  MPI_Request request;
  MPI_Ibarrier(comm->world, &request);
  wait_for(&request, 1);
}

/* ---- point to point ---- */

TlStatus tl_comm_batch_reserve(TlCommBatch *batch, size_t count) {
  MPI_Request *requests = batch->requests;
  TL_TRY(TL_RESERVE(requests, batch->capacity, count));
  batch->requests = requests;
  return TL_OK;
}

static TlStatus one_more(TlCommBatch *batch, MPI_Request **request) {
  TL_TRY(tl_comm_batch_reserve(batch, batch->count + 1));
  *request = (MPI_Request *)batch->requests + batch->count++;
  return TL_OK;
}

static void count_message(TlComm *comm, size_t size) {
  comm->talked |= size > 0;
  comm->counters.messages += size > 0;
  comm->counters.message_bytes += (int64_t)size;
  if ((int64_t)size > comm->counters.largest_message_bytes)
    comm->counters.largest_message_bytes = (int64_t)size;
}

TlStatus tl_comm_send(TlComm *comm, TlCommBatch *batch, int to, int tag, const void *bytes,
                      size_t size) {
  count_message(comm, size);
  for (size_t done = 0; done < size; done += PIECE_BYTES) {
    MPI_Request *request;
    size_t piece = size - done < PIECE_BYTES ? size - done : PIECE_BYTES;
    TL_TRY(one_more(batch, &request));
    MPI_Isend((const char *)bytes + done, (int)piece, MPI_BYTE, to, tag, comm->world, request);
  }
  return TL_OK;
}

TlStatus tl_comm_receive(TlComm *comm, TlCommBatch *batch, int from, int tag, void *bytes,
                         size_t size) {
  comm->talked |= size > 0;
  comm->counters.received_bytes += (int64_t)size;
  for (size_t done = 0; done < size; done += PIECE_BYTES) {
    MPI_Request *request;
    size_t piece = size - done < PIECE_BYTES ? size - done : PIECE_BYTES;
    TL_TRY(one_more(batch, &request));
    MPI_Irecv((char *)bytes + done, (int)piece, MPI_BYTE, from, tag, comm->world, request);
  }
  return TL_OK;
}

TlStatus tl_comm_wait(TlComm *comm, TlCommBatch *batch) {
  wait_for(batch->requests, (int)batch->count);
  batch->count = 0;
  if (!comm) return TL_OK;
  comm->counters.supersteps += comm->talked;
  comm->talked = false;
  return TL_OK;
}

TlStatus tl_comm_receive_any(TlComm *comm, int from, int tag, unsigned char **bytes,
                             size_t *capacity, size_t *size) {
  MPI_Message message;
  MPI_Status status;
  MPI_Request request;
  int there = 0, count = 0;
  for (Waiting w = {0}; !there;) {
    MPI_Improbe(from, tag, comm->world, &there, &message, &status);
    if (!there) wait_longer(&w);
  }
  MPI_Get_count(&status, MPI_BYTE, &count);
  *size = (size_t)count;
  comm->talked |= count > 0;
  comm->counters.received_bytes += count;
  TL_TRY(TL_RESERVE(*bytes, *capacity, *size + 1));
  MPI_Imrecv(*bytes, count, MPI_BYTE, &message, &request);
  wait_for(&request, 1);
  return TL_OK;
}

void tl_comm_batch_free(TlCommBatch *batch) {
  tl_free(batch->requests);
  *batch = (TlCommBatch){0};
}
