#include "dist/exchange.h"

#include "base/mem.h"

enum { TAG_COUNT = 1, TAG_THINGS = 2 };

void tl_exchange_free(TlExchange *x) {
  tl_free(x->peer);
  tl_free(x->item);
  tl_free(x->counts);
  tl_free(x->out);
  tl_free(x->in);
  tl_comm_batch_free(&x->batch);
  *x = (TlExchange){0};
}

/* ---- what goes to whom ---- */

void tl_exchange_clear(TlExchange *x) {
  x->peers = x->items = 0;
}

TlStatus tl_exchange_peer(TlExchange *x, int rank) {
  TL_TRY(TL_RESERVE(x->peer, x->peer_capacity, x->peers + 1));
  x->peer[x->peers++] = (TlPeer){.rank = rank, .out_first = (int64_t)x->items};
  return TL_OK;
}

TlStatus tl_exchange_add(TlExchange *x, const TlParcels *parcels, int64_t index) {
  TlPeer *p = &x->peer[x->peers - 1];
  TL_TRY(TL_RESERVE(x->item, x->item_capacity, x->items + 1));
  x->item[x->items++] = index;
  p->out_count++;
  p->out_bytes += (int64_t)parcels->size(parcels->of, index);
  return TL_OK;
}

/* ---- how much ---- */

TlStatus tl_exchange_meet(TlExchange *x) {
  TL_TRY(TL_RESERVE(x->counts, x->counts_capacity, 4 * x->peers));
  for (size_t k = 0; k < x->peers; k++) {
    const TlPeer *p = &x->peer[k];
    int64_t *theirs = &x->counts[4 * k], *mine = theirs + 2;
    mine[0] = p->out_count;
    mine[1] = p->out_bytes;
    TL_TRY(tl_comm_receive(x->comm, &x->batch, p->rank, TAG_COUNT, theirs, 2 * sizeof *theirs));
    TL_TRY(tl_comm_send(x->comm, &x->batch, p->rank, TAG_COUNT, mine, 2 * sizeof *mine));
  }
  TL_TRY(tl_comm_wait(x->comm, &x->batch));
  int64_t first = 0;
  for (size_t k = 0; k < x->peers; k++) {
    TlPeer *p = &x->peer[k];
    p->in_first = first;
    p->in_count = x->counts[4 * k];
    p->in_bytes = x->counts[4 * k + 1];
    first += p->in_count;
  }
  return TL_OK;
}

TlStatus tl_exchange_meet_all(TlExchange *x) {
  TL_TRY(tl_comm_agree(x->comm, TL_RESERVE(x->counts, x->counts_capacity, 2 * x->peers)));
  int64_t *to = x->counts, *from = x->counts + x->peers;
  for (size_t k = 0; k < x->peers; k++) to[k] = x->peer[k].out_bytes;
  TL_TRY(tl_comm_swap_counts(x->comm, to, from));
  for (size_t k = 0; k < x->peers; k++) x->peer[k].in_bytes = from[k];
  return TL_OK;
}

int64_t tl_exchange_out_bytes(const TlExchange *x) {
  int64_t bytes = 0;
  for (size_t k = 0; k < x->peers; k++) bytes += x->peer[k].out_bytes;
  return bytes;
}

int64_t tl_exchange_in_bytes(const TlExchange *x) {
  int64_t bytes = 0;
  for (size_t k = 0; k < x->peers; k++) bytes += x->peer[k].in_bytes;
  return bytes;
}

/* ---- messages ---- */

static size_t bytes_for(const TlPeer *p, size_t size) {
  return size ? (size_t)p->out_count * size : (size_t)p->out_bytes;
}
static size_t bytes_from(const TlPeer *p, size_t size) {
  return size ? (size_t)p->in_count * size : (size_t)p->in_bytes;
}

TlStatus tl_exchange_reserve(TlExchange *x, size_t size) {
  size_t out = 0, in = 0;
  for (size_t k = 0; k < x->peers; k++) {
    out += bytes_for(&x->peer[k], size);
    in += bytes_from(&x->peer[k], size);
  }
  TL_TRY(TL_RESERVE(x->out, x->out_capacity, out));
  return TL_RESERVE(x->in, x->in_capacity, in);
}

void tl_exchange_pack(TlExchange *x, const TlParcels *parcels) {
  unsigned char *to = x->out;
  for (size_t i = 0; i < x->items; i++) to = parcels->pack(parcels->of, x->item[i], to);
}

TlStatus tl_exchange_post(TlExchange *x, size_t size) {
  size_t in = 0, out = 0;
  for (size_t k = 0; k < x->peers; k++) {
    size_t bytes = bytes_from(&x->peer[k], size);
    TL_TRY(tl_comm_receive(x->comm, &x->batch, x->peer[k].rank, TAG_THINGS, x->in + in, bytes));
    in += bytes;
  }
  for (size_t k = 0; k < x->peers; k++) {
    size_t bytes = bytes_for(&x->peer[k], size);
    TL_TRY(tl_comm_send(x->comm, &x->batch, x->peer[k].rank, TAG_THINGS, x->out + out, bytes));
    out += bytes;
  }
  return TL_OK;
}

TlStatus tl_exchange_take(TlExchange *x, const TlParcels *parcels, int64_t *came) {
  size_t size = (size_t)tl_exchange_in_bytes(x), used;
  *came = 0;
  for (size_t at = 0; at < size; at += used, (*came)++)
    TL_TRY(parcels->unpack(parcels->of, x->in + at, size - at, &used));
  if (parcels->arrived) parcels->arrived(parcels->of);
  return TL_OK;
}
