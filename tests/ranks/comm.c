/* base/comm.h without MPI: the ranks are coroutines of one thread (tests/ranks/ranks.h).
 *
 * A test that is linked with this file has no MPI in it. A rank runs until it has to wait for
 * another one; then the next rank runs. Nothing is left to chance and no core waits for another, so
 * four ranks cost the work of four ranks, where MPI on busy cores costs many times that.
 * Collectives are checked: ranks that call different ones, or wait for each other for ever, end the
 * program with a message that says where each of them is.
 */
#include "ranks/ranks.h"

#include "base/mem.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

enum { STACK_BYTES = 8 << 20 };

typedef struct Message {
  struct Message *next;
  int tag;
  size_t size;
  unsigned char bytes[];
} Message;

/* The collective that a rank is in: what it gives and where it takes the result. */
typedef struct Call {
  const char *name; /* NULL: in none */
  size_t size;      /* the same on all ranks */
  const void *in;
  void *out;
  int root;
} Call;

typedef struct World World;

struct TlComm {
  World *world;
  int rank;
  ucontext_t context;
  void *stack;
  bool ended, waits; /* waits: since it was last given the thread nothing came for it */
  bool talked;       /* a message went or came since it last waited for messages */
  Call call;
  double *least; /* between tl_comm_least_begin and _end */
  size_t least_capacity;
  TlCommCounters counters;
};

struct World {
  int size, running;
  TlRankBody body;
  void *argument;
  TlComm **rank;
  int arrived;
  int64_t meetings; /* collectives that are over */
  int64_t events;   /* what may let a waiting rank go on: messages sent, collectives, ends */
  Message **inbox;  /* [to * size + from] */
  ucontext_t caller;
};

/* ---- one thread, handed round ---- */

static void say_where(const World *w) {
  for (int r = 0; r < w->size; r++)
    fprintf(stderr, "  rank %d: %s\n", r,
            w->rank[r]->ended       ? "has ended"
            : w->rank[r]->call.name ? w->rank[r]->call.name
                                    : "waits for messages");
}

static void give_thread(TlComm *from, TlComm *to) {
  World *w = to->world;
  w->running = to->rank;
#ifdef __SANITIZE_ADDRESS__
  void *fake;
  __sanitizer_start_switch_fiber(from->ended ? NULL : &fake, to->stack, STACK_BYTES);
#endif
  swapcontext(&from->context, &to->context);
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_finish_switch_fiber(fake, NULL, NULL);
#endif
}

/* The next rank that has not ended; NULL: all have. */
static TlComm *next_rank(const TlComm *c) {
  const World *w = c->world;
  for (int k = 1; k <= w->size; k++) {
    TlComm *next = w->rank[(c->rank + k) % w->size];
    if (!next->ended) return next;
  }
  return NULL;
}

/* Let the others run until something has happened since `events`. */
static void wait_for_event(TlComm *c, int64_t events) {
  World *w = c->world;
  c->waits = true;
  while (w->events == events) {
    bool stuck = true;
    for (int r = 0; r < w->size; r++) stuck = stuck && (w->rank[r]->ended || w->rank[r]->waits);
    if (stuck) {
      fprintf(stderr, "the ranks wait for each other:\n");
      say_where(w);
      abort();
    }
    give_thread(c, next_rank(c));
  }
  c->waits = false;
}

static void happened(World *w) {
  w->events++;
  for (int r = 0; r < w->size; r++) w->rank[r]->waits = false;
}

static World *starting; /* makecontext passes ints only */

static void run_rank(void) {
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_finish_switch_fiber(NULL, NULL, NULL);
#endif
  World *w = starting;
  TlComm *c = w->rank[w->running];
  w->body(c, w->argument);
  c->ended = true;
  happened(w);
  TlComm *next = next_rank(c);
  if (next) give_thread(c, next);
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_start_switch_fiber(NULL, NULL, 0);
#endif
  setcontext(&w->caller);
}

void tl_ranks_run(int size, TlRankBody body, void *argument) {
  World w = {.size = size, .body = body, .argument = argument};
  starting = &w;
  w.rank = tl_calloc((size_t)size, sizeof(TlComm *));
  w.inbox = tl_calloc((size_t)(size * size), sizeof(Message *));
  for (int r = 0; r < size; r++) {
    TlComm *c = w.rank[r] = tl_calloc(1, sizeof *c);
    c->world = &w;
    c->rank = r;
    c->stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
#ifdef __SANITIZE_ADDRESS__
    ASAN_UNPOISON_MEMORY_REGION(c->stack, STACK_BYTES); /* another rank's may have lain there */
#endif
    getcontext(&c->context);
    c->context.uc_stack.ss_sp = c->stack;
    c->context.uc_stack.ss_size = STACK_BYTES;
    makecontext(&c->context, run_rank, 0);
  }
#ifdef __SANITIZE_ADDRESS__
  void *fake;
  __sanitizer_start_switch_fiber(&fake, w.rank[0]->stack, STACK_BYTES);
#endif
  swapcontext(&w.caller, &w.rank[0]->context);
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_finish_switch_fiber(fake, NULL, NULL);
#endif
  for (int r = 0; r < size; r++) {
    munmap(w.rank[r]->stack, STACK_BYTES);
    tl_free(w.rank[r]->least);
    tl_free(w.rank[r]);
  }
  tl_free(w.rank);
  tl_free(w.inbox);
}

/* ---- collectives ---- */

/* Wait until all ranks have come; the last one lets finish() do the work for all. */
static void meet(TlComm *c, Call call, void (*finish)(World *w)) {
  World *w = c->world;
  int64_t meeting = w->meetings;
  c->call = call;
  if (++w->arrived < w->size) {
    while (w->meetings == meeting) wait_for_event(c, w->events);
  } else {
    for (int r = 0; r < w->size; r++) {
      const Call *other = &w->rank[r]->call;
      if (strcmp(other->name, call.name) == 0 && other->size == call.size) continue;
      fprintf(stderr, "the ranks are in different collectives (%zu and %zu bytes):\n", other->size,
              call.size);
      say_where(w);
      abort();
    }
    finish(w);
    for (int r = 0; r < w->size; r++) w->rank[r]->call = (Call){0};
    w->arrived = 0;
    w->meetings++;
    happened(w);
  }
  c->counters.collectives++;
  c->counters.supersteps++;
  if ((int64_t)call.size > c->counters.largest_collective_bytes)
    c->counters.largest_collective_bytes = (int64_t)call.size;
}

static bool alone(const TlComm *c) {
  return tl_comm_size(c) == 1;
}

/* finish() of a reduction in place: rank 0's values become OP(rank 0's, rank r's), then all's. */
#define REDUCTION(what, type, OP)                                                                  \
  static void finish_##what(World *w) {                                                            \
    size_t size = w->rank[0]->call.size;                                                           \
    type *to = w->rank[0]->call.out;                                                               \
    for (int r = 1; r < w->size; r++) {                                                            \
      const type *from = w->rank[r]->call.out;                                                     \
      for (size_t i = 0; i < size / sizeof(type); i++) to[i] = OP(to[i], from[i]);                 \
    }                                                                                              \
    for (int r = 1; r < w->size; r++) memcpy(w->rank[r]->call.out, to, size);                      \
  }                                                                                                \
  TlStatus tl_comm_##what(TlComm *c, type *values, int count) {                                    \
    Call call = {.name = #what, .size = (size_t)count * sizeof(type), .out = values};              \
    if (!alone(c)) meet(c, call, finish_##what);                                                   \
    return TL_OK;                                                                                  \
  }
#define OR(a, b) ((a) | (b))
#define SUM(a, b) ((a) + (b))
#define WRAP(a, b) (int64_t)((uint64_t)(a) + (uint64_t)(b)) /* hashes are summed, too */
#define LEAST(a, b) ((b) < (a) ? (b) : (a))
#define MOST(a, b) ((b) > (a) ? (b) : (a))
REDUCTION(any_bits, uint64_t, OR)
REDUCTION(sum_int, int64_t, WRAP)
REDUCTION(most_int, int64_t, MOST)
REDUCTION(sum, double, SUM)
REDUCTION(least, double, LEAST)
REDUCTION(most, double, MOST)

TlStatus tl_comm_least_begin(TlComm *c, const double *values, int count) {
  if (alone(c)) return TL_OK;
  TL_TRY(TL_RESERVE(c->least, c->least_capacity, (size_t)count));
  if (count) memcpy(c->least, values, (size_t)count * sizeof *values);
  return TL_OK;
}
TlStatus tl_comm_least_end(TlComm *c, double *values, int count) {
  if (alone(c)) return TL_OK;
  TL_TRY(tl_comm_least(c, c->least, count));
  if (count) memcpy(values, c->least, (size_t)count * sizeof *values);
  return TL_OK;
}

static void finish_gather(World *w) {
  for (int to = 0; to < w->size; to++)
    for (int from = 0; from < w->size; from++) {
      const Call *give = &w->rank[from]->call;
      memcpy((unsigned char *)w->rank[to]->call.out + (size_t)from * give->size, give->in,
             give->size);
    }
}
TlStatus tl_comm_gather_all(TlComm *c, const void *mine, void *all, size_t size) {
  if (alone(c))
    memcpy(all, mine, size);
  else
    meet(c, (Call){.name = "gather_all", .size = size, .in = mine, .out = all}, finish_gather);
  return TL_OK;
}

static void finish_swap(World *w) {
  for (int to = 0; to < w->size; to++)
    for (int from = 0; from < w->size; from++)
      ((int64_t *)w->rank[to]->call.out)[from] = ((const int64_t *)w->rank[from]->call.in)[to];
}
TlStatus tl_comm_swap_counts(TlComm *c, const int64_t *to, int64_t *from) {
  if (alone(c))
    from[0] = to[0];
  else
    meet(c, (Call){.name = "swap_counts", .size = 8, .in = to, .out = from}, finish_swap);
  return TL_OK;
}

static void finish_broadcast(World *w) {
  const Call *root = &w->rank[w->rank[0]->call.root]->call;
  for (int r = 0; r < w->size; r++)
    if (w->rank[r]->call.out != root->out) memcpy(w->rank[r]->call.out, root->out, root->size);
}
TlStatus tl_comm_broadcast(TlComm *c, void *bytes, size_t size, int root) {
  Call call = {.name = "broadcast", .size = size, .out = bytes, .root = root};
  if (!alone(c)) meet(c, call, finish_broadcast);
  return TL_OK;
}

static void finish_nothing(World *w) {
  (void)w;
}
void tl_comm_barrier(TlComm *c) {
  if (!alone(c)) meet(c, (Call){.name = "barrier"}, finish_nothing);
}

/* All ranks share one thread, and with it the message of the last failure: each keeps its own. */
typedef struct Verdict {
  TlStatus status;
  char text[2000];
} Verdict;

TlStatus tl_comm_agree(TlComm *c, TlStatus status) {
  if (alone(c)) return status;
  Verdict mine = {.status = status}, *all = tl_calloc((size_t)c->world->size, sizeof *all);
  if (status != TL_OK) snprintf(mine.text, sizeof mine.text, "%s", tl_message());
  meet(c, (Call){.name = "agree", .size = sizeof mine, .in = &mine, .out = all}, finish_gather);
  for (int r = 0; status == TL_OK && r < c->world->size; r++) status = all[r].status;
  if (status != TL_OK)
    for (int r = 0; r < c->world->size; r++) {
      if (all[r].status == TL_OK) continue;
      status = r == 0 ? tl_fail(all[r].status, "%s", all[r].text)
                      : tl_fail(all[r].status, "rank %d: %s", r, all[r].text);
      break;
    }
  tl_free(all);
  return status;
}

/* ---- queries ---- */

TlStatus tl_comm_start(TlComm **comm, int *argc, char ***argv) {
  (void)argc;
  (void)argv;
  *comm = NULL;
  return TL_OK;
}
TlComm *tl_comm_world(void) {
  return NULL;
}
void tl_comm_stop(TlComm *comm) {
  (void)comm;
}
int tl_comm_rank(const TlComm *comm) {
  return comm ? comm->rank : 0;
}
int tl_comm_size(const TlComm *comm) {
  return comm ? comm->world->size : 1;
}
int tl_comm_node_size(const TlComm *comm) {
  return tl_comm_size(comm);
}
int tl_comm_node_rank(const TlComm *comm) {
  return tl_comm_rank(comm);
}
TlStatus tl_comm_gather_node(TlComm *c, const void *mine, void *all, size_t size) {
  return tl_comm_gather_all(c, mine, all, size);
}
TlCommCounters tl_comm_counters(const TlComm *comm) {
  return comm ? comm->counters : (TlCommCounters){0};
}

/* ---- point to point ---- */

typedef struct Request { /* of a message to come */
  int from, tag;
  void *bytes;
  size_t size;
} Request;

TlStatus tl_comm_send(TlComm *c, TlCommBatch *batch, int to, int tag, const void *bytes,
                      size_t size) {
  World *w = c->world;
  Message *m = tl_calloc(1, sizeof *m + size), **last = &w->inbox[to * w->size + c->rank];
  (void)batch;
  if (!m) return TL_ENOMEM;
  m->tag = tag;
  m->size = size;
  if (size) memcpy(m->bytes, bytes, size);
  while (*last) last = &(*last)->next;
  *last = m;
  c->talked |= size > 0;
  c->counters.messages += size > 0;
  c->counters.message_bytes += (int64_t)size;
  if ((int64_t)size > c->counters.largest_message_bytes)
    c->counters.largest_message_bytes = (int64_t)size;
  happened(w);
  return TL_OK;
}

TlStatus tl_comm_batch_reserve(TlCommBatch *batch, size_t count) {
  Request *requests = batch->requests;
  TL_TRY(TL_RESERVE(requests, batch->capacity, count));
  batch->requests = requests;
  return TL_OK;
}

TlStatus tl_comm_receive(TlComm *c, TlCommBatch *batch, int from, int tag, void *bytes,
                         size_t size) {
  (void)c;
  TL_TRY(tl_comm_batch_reserve(batch, batch->count + 1));
  ((Request *)batch->requests)[batch->count++] = (Request){from, tag, bytes, size};
  return TL_OK;
}

static bool take_message(TlComm *c, const Request *r) {
  Message **m = &c->world->inbox[c->rank * c->world->size + r->from];
  while (*m && (*m)->tag != r->tag) m = &(*m)->next;
  if (!*m) return false;
  Message *found = *m;
  if (found->size != r->size) {
    fprintf(stderr, "rank %d waits for %zu bytes of rank %d and gets %zu\n", c->rank, r->size,
            r->from, found->size);
    abort();
  }
  if (r->size) memcpy(r->bytes, found->bytes, r->size);
  *m = found->next;
  c->talked |= r->size > 0;
  c->counters.received_bytes += (int64_t)r->size;
  tl_free(found);
  return true;
}

TlStatus tl_comm_wait(TlComm *c, TlCommBatch *batch) {
  const Request *requests = batch->requests;
  for (size_t i = 0; i < batch->count; i++)
    while (!take_message(c, &requests[i])) wait_for_event(c, c->world->events);
  batch->count = 0;
  if (!c) return TL_OK;
  c->counters.supersteps += c->talked;
  c->talked = false;
  return TL_OK;
}

TlStatus tl_comm_receive_any(TlComm *c, int from, int tag, unsigned char **bytes, size_t *capacity,
                             size_t *size) {
  Message *m;
  for (;;) {
    int64_t events = c->world->events;
    m = c->world->inbox[c->rank * c->world->size + from];
    while (m && m->tag != tag) m = m->next;
    if (m) break;
    wait_for_event(c, events);
  }
  *size = m->size;
  TL_TRY(TL_RESERVE(*bytes, *capacity, *size + 1));
  Request request = {from, tag, *bytes, *size};
  take_message(c, &request);
  return TL_OK;
}

void tl_comm_batch_free(TlCommBatch *batch) {
  tl_free(batch->requests);
  *batch = (TlCommBatch){0};
}
