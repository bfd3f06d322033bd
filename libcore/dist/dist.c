#include "dist/dist.h"

#include "base/mem.h"

#include <string.h>

enum { TAG_MOVE = 3 };

/* ---- the solver's hooks ---- */

static TlStatus sync_forward(void *ctx, void *field, size_t size) {
  TlDist *dist = ctx;
  TL_TRY(tl_halo_forward_begin(&dist->halo, field, size));
  return tl_halo_forward_end(&dist->halo, dist->owned, field, size);
}
static TlStatus sync_any(void *ctx, int *flag) {
  int64_t any = *flag != 0;
  TL_TRY(tl_comm_most_int(((TlDist *)ctx)->comm, &any, 1));
  *flag = (int)any;
  return TL_OK;
}
static TlStatus sync_least(void *ctx, double *values, int count) {
  return tl_comm_least(((TlDist *)ctx)->comm, values, count);
}
static TlStatus sync_sum_int(void *ctx, int64_t *values, int count) {
  return tl_comm_sum_int(((TlDist *)ctx)->comm, values, count);
}
static TlStatus sync_sum(void *ctx, double *values, int count) {
  return tl_comm_sum(((TlDist *)ctx)->comm, values, count);
}

TlStatus tl_dist_new(TlDist **dist, TlComm *comm) {
  TL_TRY(TL_NEW(*dist, 1));
  TlDist *d = *dist;
  d->comm = comm;
  d->sync = (TlSync){d, sync_forward, sync_any, sync_least, sync_sum, sync_sum_int};
  return tl_halo_new(&d->halo, comm);
}

void tl_dist_free(TlDist *dist) {
  if (!dist) return;
  tl_domain_free(&dist->domain);
  tl_halo_free(&dist->halo);
  tl_free(dist->out);
  tl_free(dist->in);
  tl_comm_batch_free(&dist->batch);
  tl_free(dist);
}

const TlSync *tl_dist_sync(const TlDist *dist) {
  return tl_comm_size(dist->comm) > 1 ? &dist->sync : NULL;
}

/* ---- counters ---- */

static void at_least(int64_t *largest, size_t value) {
  if ((int64_t)value > *largest) *largest = (int64_t)value;
}

static void count_bodies(TlDist *dist, const TlBodies *bodies) {
  TlDistCounters *c = &dist->counters;
  at_least(&c->owned, (size_t)bodies->owned);
  at_least(&c->ghosts, (size_t)(bodies->total - bodies->owned));
  at_least(&c->largest_array, bodies->capacity);
  at_least(&c->largest_array, dist->halo.send_capacity);
  at_least(&c->largest_array, dist->halo.in_capacity / tl_halo_body_bytes());
  at_least(&c->largest_array, dist->halo.out_capacity / tl_halo_body_bytes());
  at_least(&c->neighbours, dist->halo.count);
}

/* A buffer that held so many bodies, with their contact memory, in so many bytes. */
static void count_buffer(TlDist *dist, size_t capacity, int64_t bodies, size_t bytes) {
  if (bytes > 0) at_least(&dist->counters.largest_array, capacity / (bytes / (size_t)bodies));
}

TlDistCounters tl_dist_counters(const TlDist *dist) {
  TlDistCounters counters = dist->counters;
  counters.comm = tl_comm_counters(dist->comm);
  return counters;
}

/* ---- cuts ---- */

TlStatus tl_dist_cut(TlDist *dist, const TlBodies *bodies) {
  int64_t *weight;
  TlStatus status = TL_NEW(weight, (size_t)bodies->owned);
  for (int64_t i = 0; status == TL_OK && i < bodies->owned; i++)
    for (int64_t k = bodies->first[i]; k < bodies->first[i] + tl_bodies_parts(bodies, i); k++)
      weight[i] += 1 + bodies->colliders.contacts[k];
  status = tl_comm_agree(dist->comm, status);
  if (status == TL_OK)
    status = tl_domain_cut(&dist->domain, dist->comm, bodies->position, weight, bodies->owned);
  tl_free(weight);
  dist->counters.cuts++;
  return status;
}

TlStatus tl_dist_imbalance(TlDist *dist, const TlBodies *bodies, double *ratio) {
  int64_t most = bodies->owned, sum = bodies->owned;
  TL_TRY(tl_comm_most_int(dist->comm, &most, 1));
  TL_TRY(tl_comm_sum_int(dist->comm, &sum, 1));
  *ratio = sum ? (double)most * tl_comm_size(dist->comm) / (double)sum : 1;
  return TL_OK;
}

/* ---- migration ---- */

typedef struct Move {
  int32_t *owner;      /* of each owned body */
  unsigned char *keep; /* of each owned body */
  int64_t *to, *from;  /* bytes for and from each rank */
  size_t *at;          /* where rank r's bytes start in out, then in in */
  int64_t leaving;
} Move;

static TlStatus plan(TlDist *dist, const TlBodies *bodies, Move *m) {
  size_t ranks = (size_t)tl_comm_size(dist->comm);
  int me = tl_comm_rank(dist->comm);
  TL_TRY(TL_NEW(m->owner, (size_t)bodies->owned));
  TL_TRY(TL_NEW(m->keep, (size_t)bodies->owned));
  TL_TRY(TL_NEW(m->to, ranks));
  TL_TRY(TL_NEW(m->from, ranks));
  TL_TRY(TL_NEW(m->at, ranks + 1));
  for (int64_t i = 0; i < bodies->owned; i++) {
    m->owner[i] = tl_domain_owner(&dist->domain, bodies->position[i]);
    m->keep[i] = m->owner[i] == me;
    if (m->keep[i]) continue;
    m->to[m->owner[i]] += (int64_t)tl_bodies_packed_size(bodies, i);
    m->leaving++;
  }
  return TL_OK;
}

static size_t starts(size_t *at, const int64_t *bytes, int ranks) {
  at[0] = 0;
  for (int r = 0; r < ranks; r++) at[r + 1] = at[r] + (size_t)bytes[r];
  return at[ranks];
}

static TlStatus pack(TlDist *dist, TlBodies *bodies, Move *m) {
  size_t bytes = starts(m->at, m->to, tl_comm_size(dist->comm));
  int64_t packed = 0;
  TL_TRY(TL_RESERVE(dist->out, dist->out_capacity, bytes));
  for (int64_t i = 0; i < bodies->owned; i++) {
    if (m->keep[i]) continue;
    tl_bodies_pack(bodies, i, dist->out + m->at[m->owner[i]]);
    m->at[m->owner[i]] += tl_bodies_packed_size(bodies, i);
    packed++;
  }
  count_buffer(dist, dist->out_capacity, packed, bytes);
  bytes = starts(m->at, m->from, tl_comm_size(dist->comm));
  TL_TRY(TL_RESERVE(dist->in, dist->in_capacity, bytes));
  return tl_bodies_keep(bodies, m->keep);
}

static TlStatus swap_bytes(TlDist *dist, const Move *m) {
  size_t in = 0, out = 0;
  for (int r = 0; r < tl_comm_size(dist->comm); r++) {
    size_t from = (size_t)m->from[r], to = (size_t)m->to[r];
    TL_TRY(tl_comm_receive(dist->comm, &dist->batch, r, TAG_MOVE, dist->in + in, from));
    TL_TRY(tl_comm_send(dist->comm, &dist->batch, r, TAG_MOVE, dist->out + out, to));
    in += from;
    out += to;
  }
  return tl_comm_wait(dist->comm, &dist->batch);
}

static TlStatus unpack(TlDist *dist, TlBodies *bodies, const Move *m) {
  size_t size = 0, at = 0, used;
  int64_t came = 0;
  for (int r = 0; r < tl_comm_size(dist->comm); r++) size += (size_t)m->from[r];
  for (; at < size; at += used, came++)
    TL_TRY(tl_bodies_unpack(bodies, dist->in + at, size - at, &used));
  count_buffer(dist, dist->in_capacity, came, size);
  tl_pair_state_sort(&bodies->pairs);
  return TL_OK;
}

static TlStatus migrate(TlDist *dist, TlBodies *bodies, Move *m) {
  TL_TRY(tl_comm_agree(dist->comm, plan(dist, bodies, m)));
  int64_t leaving = m->leaving;
  TL_TRY(tl_comm_sum_int(dist->comm, &leaving, 1));
  dist->counters.moved += m->leaving;
  m->leaving = leaving;
  if (leaving == 0) return TL_OK;
  TL_TRY(tl_comm_swap_counts(dist->comm, m->to, m->from));
  TL_TRY(tl_comm_agree(dist->comm, pack(dist, bodies, m)));
  TL_TRY(swap_bytes(dist, m));
  return tl_comm_agree(dist->comm, unpack(dist, bodies, m));
}

TlStatus tl_dist_migrate(TlDist *dist, TlBodies *bodies, int64_t *moved) {
  Move m = {0};
  TlStatus status = TL_OK;
  tl_bodies_drop_ghosts(bodies);
  if (tl_comm_size(dist->comm) > 1) status = migrate(dist, bodies, &m);
  if (moved) *moved = m.leaving;
  count_bodies(dist, bodies);
  tl_free(m.owner);
  tl_free(m.keep);
  tl_free(m.to);
  tl_free(m.from);
  tl_free(m.at);
  return status;
}

TlStatus tl_dist_halo(TlDist *dist, TlBodies *bodies) {
  TL_TRY(tl_halo_build(&dist->halo, bodies));
  dist->owned = bodies->owned;
  count_bodies(dist, bodies);
  return TL_OK;
}
