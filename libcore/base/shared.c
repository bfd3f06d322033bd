#include "base/shared.h"

#include "base/comm.h"
#include "base/log.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* The state of a block, or ONE and how many use it. */
enum { ABSENT = 0, MAKING = -1, REFUSED = -2, ONE = 1 };
enum { LEAST_ENTRIES = 1 << 10, MOST_ENTRIES = 1 << 20, PROBES = 256, ALIGNMENT = 4096 };

typedef struct Entry {
  _Atomic int64_t key; /* 0: none */
  _Atomic int64_t state;
  int64_t offset, bytes; /* its place, which it keeps; of its maker while it is made */
} Entry;

/* How the memory begins; entries follow, then blocks. */
typedef struct Head {
  _Atomic int64_t used;   /* places given, bytes */
  _Atomic int64_t held;   /* bytes of blocks that are there */
  _Atomic int64_t unused; /* blocks that are there and nobody uses */
  _Atomic bool full;      /* a block found no place */
} Head;

struct TlShared {
  int file;
  unsigned char *memory; /* mapped */
  size_t bytes;          /* of all of it; what is not used takes no memory */
  Head *head;
  Entry *entry;
  size_t entries; /* a power of two */
  int rank, ranks;
  int64_t made, taken;
};

static int64_t limit = -1;

void tl_shared_limit(int64_t bytes) {
  limit = bytes;
}

static size_t whole_pages(size_t bytes) {
  return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* ---- opening ---- */

static size_t front_bytes(size_t entries) {
  return whole_pages(sizeof(Head) + entries * sizeof(Entry));
}

/* Addresses for all blocks that the machine could hold. */
static size_t most_blocks_bytes(void) {
  int64_t machine = tl_mem_machine_bytes();
  size_t bytes = machine > 0 ? (size_t)machine : (size_t)1 << 36;
  return (limit >= 0 ? (size_t)limit : bytes) / ALIGNMENT * ALIGNMENT;
}

/* Pages are taken from the system before they are touched: a page that is not to be had would be a bus error. 0, or
 * an error number. */
static int take_pages(const TlShared *s, size_t offset, size_t bytes) {
  int error;
  do error = posix_fallocate(s->file, (off_t)offset, (off_t)bytes);
  while (error == EINTR);
  return error;
}

typedef struct Offer { /* what the first rank of the machine tells the others */
  bool good;
  char name[47];
  size_t bytes, entries;
} Offer;

static TlStatus make_file(TlShared *s, Offer *offer) {
  struct timespec now;
  struct rlimit most; /* of a file: past it a signal ends the program */
  size_t front = front_bytes(offer->entries);
  clock_gettime(CLOCK_REALTIME, &now);
  snprintf(offer->name, sizeof offer->name, "/talus-%ld-%lld%09ld", (long)getpid(),
           (long long)now.tv_sec, now.tv_nsec);
  s->file = shm_open(offer->name, O_RDWR | O_CREAT | O_EXCL, 0600);
  if (s->file < 0) return tl_fail_errno(offer->name, "cannot create shared memory");
  offer->good = true; /* there is a name to remove */
  offer->bytes = front + most_blocks_bytes();
  if (getrlimit(RLIMIT_FSIZE, &most) == 0 && most.rlim_cur < offer->bytes)
    offer->bytes = (size_t)most.rlim_cur / ALIGNMENT * ALIGNMENT;
  if (offer->bytes <= front) return tl_fail(TL_ENOMEM, "shared memory: none is allowed");
  if (ftruncate(s->file, (off_t)offer->bytes) != 0)
    return tl_fail_errno(offer->name, "cannot size shared memory");
  int error = take_pages(s, 0, front);
  return error ? tl_fail(TL_ENOMEM, "shared memory: %s", strerror(error)) : TL_OK;
}

static TlStatus map(TlShared *s, const Offer *offer) {
  s->bytes = offer->bytes;
  s->entries = offer->entries;
  if (s->file < 0) s->file = shm_open(offer->name, O_RDWR, 0);
  if (s->file < 0) return tl_fail_errno(offer->name, "cannot open shared memory");
  void *memory = mmap(NULL, s->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, s->file, 0);
  if (memory == MAP_FAILED) return tl_fail_errno(offer->name, "cannot map shared memory");
  s->memory = memory;
  s->head = memory;
  s->entry = (Entry *)(void *)(s->memory + sizeof(Head));
  return TL_OK;
}

/* Collective among the ranks of the machine, which all get it or all do not. */
static TlStatus open_here(TlShared *s, TlComm *comm, Offer *offers, int64_t blocks) {
  Offer mine = {.entries = LEAST_ENTRIES};
  TlStatus status = TL_OK;
  while (mine.entries < MOST_ENTRIES && mine.entries < 2 * (size_t)blocks) mine.entries *= 2;
  if (s->rank == 0) status = make_file(s, &mine);
  bool made = mine.good;
  mine.good = made && status == TL_OK;
  TlStatus sent = tl_comm_gather_node(comm, &mine, offers, sizeof mine);
  if (status == TL_OK) status = sent;
  Offer first = offers[0];
  if (status == TL_OK && !first.good) status = tl_fail(TL_EOTHER, "no shared memory");
  if (status == TL_OK) status = map(s, &first);
  mine.good = status == TL_OK;
  sent = tl_comm_gather_node(comm, &mine, offers, sizeof mine);
  if (made) shm_unlink(mine.name); /* it lives on while it is open */
  if (status == TL_OK) status = sent;
  for (int r = 0; status == TL_OK && r < s->ranks; r++)
    if (!offers[r].good) status = tl_fail(TL_EOTHER, "no shared memory");
  return status;
}

TlStatus tl_shared_open(TlShared **shared, TlComm *comm, int64_t blocks) {
  TlShared *s;
  Offer *offers;
  int ranks = tl_comm_node_size(comm);
  *shared = NULL;
  if (tl_comm_size(comm) == 1) return TL_OK;
  TlStatus status = TL_NEW(s, 1), had = TL_OK;
  TlStatus listed = TL_NEW(offers, (size_t)ranks);
  if (s) *s = (TlShared){.file = -1, .rank = tl_comm_node_rank(comm), .ranks = ranks};
  status = tl_comm_agree(comm, status == TL_OK ? listed : status);
  if (status == TL_OK && ranks > 1) had = open_here(s, comm, offers, blocks);
  tl_free(offers);
  if (status == TL_OK && had == TL_OK && ranks > 1)
    *shared = s;
  else
    tl_shared_close(s);
  TL_TRY(status);
  if (tl_comm_agree(comm, had) != TL_OK)
    tl_log_warn("%s: shapes are not shared among the ranks of a machine; each rank makes its own, "
                "which takes more memory",
                tl_message());
  return TL_OK;
}

void tl_shared_close(TlShared *s) {
  if (!s) return;
  if (s->memory) munmap(s->memory, s->bytes);
  if (s->file >= 0) close(s->file);
  tl_free(s);
}

TlStatus tl_shared_warn(TlShared *s, TlComm *comm, bool *warned) {
  if (*warned || tl_comm_size(comm) == 1) return TL_OK;
  int64_t held = s && atomic_load(&s->head->full) ? atomic_load(&s->head->held) : -1;
  TL_TRY(tl_comm_most_int(comm, &held, 1));
  if (held < 0) return TL_OK;
  *warned = true;
  tl_log_warn("shared memory of a machine is full after %.3g MB of shapes: the ranks there make "
              "further ones each for itself, which takes more memory; give /dev/shm more",
              1e-6 * (double)held);
  return TL_OK;
}

/* ---- blocks ---- */

/* Where the key is, or is put; NULL: there are too many. */
static Entry *find(const TlShared *s, int64_t id, int part) {
  int64_t key = 8 * id + part;
  size_t at = (size_t)(((uint64_t)key * 0x9E3779B97F4A7C15U) >> 20);
  for (int i = 0; i < PROBES; i++, at++) {
    Entry *e = &s->entry[at & (s->entries - 1)];
    int64_t there = atomic_load(&e->key);
    if (there == 0 && atomic_compare_exchange_strong(&e->key, &there, key)) return e;
    if (there == key) return e;
  }
  return NULL;
}

static void sleep_a_little(int *times) {
  long ns = *times < 10 ? 50000 : 500000;
  (*times)++;
  nanosleep(&(struct timespec){0, ns}, NULL);
}

TlSharedAnswer tl_shared_ask(TlShared *s, int64_t id, int part, bool wait, const void **block) {
  Entry *e = s ? find(s, id, part) : NULL;
  int times = 0;
  *block = NULL;
  if (s && !e) atomic_store(&s->head->full, true);
  if (!e) return TL_SHARED_OWN;
  for (;;) {
    int64_t state = atomic_load(&e->state);
    if (state == REFUSED) return TL_SHARED_OWN;
    if (state == MAKING && !wait) return TL_SHARED_BUSY;
    if (state == MAKING) {
      sleep_a_little(&times);
      continue;
    }
    int64_t then = state == ABSENT ? MAKING : state + 1;
    if (!atomic_compare_exchange_weak(&e->state, &state, then)) continue;
    if (then == MAKING) return TL_SHARED_MAKE;
    if (state == ONE) atomic_fetch_sub(&s->head->unused, 1);
    s->taken++;
    *block = s->memory + e->offset;
    return TL_SHARED_THERE;
  }
}

void *tl_shared_reserve(TlShared *s, int64_t id, int part, size_t bytes) {
  Entry *e = find(s, id, part);
  int64_t wanted = (int64_t)whole_pages(bytes), front = (int64_t)front_bytes(s->entries);
  if (e->bytes == 0) e->offset = front + atomic_fetch_add(&s->head->used, wanted);
  bool fits = (e->bytes == 0 || e->bytes == wanted) && e->offset + wanted <= (int64_t)s->bytes;
  if (e->bytes == 0) e->bytes = wanted;
  if (fits && take_pages(s, (size_t)e->offset, (size_t)wanted) == 0) return s->memory + e->offset;
  atomic_store(&s->head->full, true);
  atomic_store(&e->state, REFUSED);
  return NULL;
}

const void *tl_shared_publish(TlShared *s, int64_t id, int part) {
  Entry *e = find(s, id, part);
  atomic_fetch_add(&s->head->held, e->bytes);
  s->made++;
  atomic_store(&e->state, ONE + 1);
  return s->memory + e->offset;
}

void tl_shared_give_up(TlShared *s, int64_t id, int part) {
  atomic_store(&find(s, id, part)->state, ABSENT);
}

void tl_shared_release(TlShared *s, int64_t id, int part) {
  if (!s) return;
  if (atomic_fetch_sub(&find(s, id, part)->state, 1) == ONE + 1)
    atomic_fetch_add(&s->head->unused, 1);
}

void tl_shared_drop_unused(TlShared *s) {
  if (!s || atomic_load(&s->head->unused) <= 0) return;
  for (size_t i = 0; i < s->entries; i++) {
    Entry *e = &s->entry[i];
    int64_t state = ONE;
    if (!atomic_compare_exchange_strong(&e->state, &state, MAKING)) continue;
    atomic_fetch_sub(&s->head->unused, 1);
    atomic_fetch_sub(&s->head->held, e->bytes);
#ifdef MADV_REMOVE
    madvise(s->memory + e->offset, (size_t)e->bytes, MADV_REMOVE); /* else they stay in memory */
#endif
    atomic_store(&e->state, ABSENT);
  }
}

TlStatus tl_shared_get(TlShared *s, int64_t id, int part, bool wait, const TlSharedForm *form,
                       void *it, bool *there) {
  const void *block;
  TlSharedAnswer answer = tl_shared_ask(s, id, part, wait, &block);
  *there = answer != TL_SHARED_BUSY;
  if (answer == TL_SHARED_BUSY) return TL_OK;
  if (answer == TL_SHARED_OWN) return form->make(it);
  if (answer == TL_SHARED_MAKE) {
    TlStatus status = form->make(it);
    if (status != TL_OK) {
      tl_shared_give_up(s, id, part);
      return status;
    }
    TlFlat size = {.mode = TL_FLAT_MEASURE}, flat = {.mode = TL_FLAT_WRITE};
    form->lay_out(&size, it);
    flat.bytes = tl_shared_reserve(s, id, part, size.at);
    if (!flat.bytes) return TL_OK;
    form->lay_out(&flat, it);
    form->free(it);
    block = tl_shared_publish(s, id, part);
  }
  TlFlat flat = {.mode = TL_FLAT_READ, .bytes = (unsigned char *)(uintptr_t)block};
  form->lay_out(&flat, it);
  if (flat.status == TL_OK) return TL_OK;
  form->free(it);
  tl_shared_release(s, id, part);
  return flat.status;
}

int tl_shared_rank(const TlShared *s) {
  return s ? s->rank : 0;
}
int tl_shared_ranks(const TlShared *s) {
  return s ? s->ranks : 1;
}

TlSharedCounters tl_shared_counters(const TlShared *s) {
  if (!s) return (TlSharedCounters){0};
  return (TlSharedCounters){s->made, s->taken, atomic_load(&s->head->held)};
}
