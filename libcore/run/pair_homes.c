#include "run/pair_homes.h"

#include "base/mem.h"
#include "dist/exchange.h"

#include <stdlib.h>
#include <string.h>

/* A row that goes to another rank. */
typedef struct Leaving {
  int rank, kind;
  int64_t at; /* of the kind */
} Leaving;

typedef struct Homes {
  TlPairState *pairs;
  Leaving *leaving;
  size_t count;
} Homes;

static int by_rank(const void *a, const void *b) {
  const Leaving *x = a, *y = b;
  if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
  if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
  return x->at < y->at ? -1 : x->at > y->at;
}

static size_t packed_bytes(int kind) {
  return sizeof(int64_t) + tl_record_packed_bytes(&tl_pair_record[kind], TL_SAVE);
}

static size_t size_of(const void *of, int64_t index) {
  return packed_bytes(((const Homes *)of)->leaving[index].kind);
}

static unsigned char *pack(const void *of, int64_t index, unsigned char *to) {
  const Homes *h = of;
  const Leaving *l = &h->leaving[index];
  int64_t kind = l->kind;
  memcpy(to, &kind, sizeof kind);
  return tl_record_pack(&tl_pair_record[kind], TL_SAVE, h->pairs->of[kind].row, l->at,
                        to + sizeof kind);
}

static TlStatus unpack(void *of, const unsigned char *from, size_t size, size_t *used) {
  Homes *h = of;
  int64_t kind = -1;
  if (size >= sizeof kind) memcpy(&kind, from, sizeof kind);
  if (kind < 0 || kind >= TL_PAIR_KINDS || size < packed_bytes((int)kind))
    return tl_fail(TL_EINPUT, "a row of a pair came in pieces from another rank");
  const TlRecord *record = &tl_pair_record[kind];
  unsigned char *row;
  *used = packed_bytes((int)kind);
  TL_TRY(TL_NEW(row, record->bytes));
  tl_record_unpack(record, TL_SAVE, row, 0, from + sizeof kind);
  TlStatus status = tl_pair_state_add(h->pairs, (TlPairKind)kind, row);
  tl_free(row);
  return status;
}

/* The last rank whose ids begin at or below this one: of ranks that begin alike the last has them. */
static int owner_of(const int64_t *begin, int ranks, int64_t id) {
  int low = 0, high = ranks;
  while (high - low > 1) {
    int mid = low + (high - low) / 2;
    if (begin[mid] <= id)
      low = mid;
    else
      high = mid;
  }
  return low;
}

static TlStatus list_leaving(Homes *h, const int64_t *begin, int ranks, int me) {
  size_t capacity = 0;
  for (int kind = 0; kind < TL_PAIR_KINDS; kind++)
    for (size_t at = 0; at < h->pairs->of[kind].count; at++) {
      TlPairKey key = tl_pair_key(&h->pairs->of[kind], (TlPairKind)kind, at);
      int owner = key.high < 0 ? me : owner_of(begin, ranks, key.high);
      if (owner == me) continue;
      TL_TRY(TL_RESERVE(h->leaving, capacity, h->count + 1));
      h->leaving[h->count++] = (Leaving){owner, kind, (int64_t)at};
    }
  if (h->count > 1) qsort(h->leaving, h->count, sizeof *h->leaving, by_rank);
  return TL_OK;
}

static TlStatus list_parcels(const Homes *h, TlExchange *x, const TlParcels *parcels, int ranks) {
  int64_t next = 0;
  for (int r = 0; r < ranks; r++) {
    TL_TRY(tl_exchange_peer(x, r));
    for (; next < (int64_t)h->count && h->leaving[next].rank == r; next++)
      TL_TRY(tl_exchange_add(x, parcels, next));
  }
  return TL_OK;
}

static TlStatus swap(TlExchange *x, const TlParcels *parcels) {
  int64_t came;
  TL_TRY(tl_exchange_meet_all(x));
  TL_TRY(tl_comm_agree(x->comm, tl_exchange_reserve(x, 0)));
  tl_exchange_pack(x, parcels);
  TL_TRY(tl_exchange_post(x, 0));
  TL_TRY(tl_comm_wait(x->comm, &x->batch));
  return tl_comm_agree(x->comm, tl_exchange_take(x, parcels, &came));
}

TlStatus tl_pair_homes(TlComm *comm, int64_t from, TlPairState *pairs) {
  int ranks = tl_comm_size(comm), me = tl_comm_rank(comm);
  int64_t *begin;
  Homes h = {.pairs = pairs};
  TlExchange x = {.comm = comm};
  TlParcels parcels = {.size = size_of, .pack = pack, .unpack = unpack, .of = &h};
  TL_TRY(tl_comm_agree(comm, TL_NEW(begin, (size_t)ranks)));
  TlStatus status = tl_comm_gather_all(comm, &from, begin, sizeof from);
  if (status == TL_OK) {
    status = list_leaving(&h, begin, ranks, me);
    if (status == TL_OK) status = list_parcels(&h, &x, &parcels, ranks);
    status = tl_comm_agree(comm, status);
  }
  if (status == TL_OK) status = swap(&x, &parcels);
  tl_exchange_free(&x);
  tl_free(h.leaving);
  tl_free(begin);
  return status;
}
