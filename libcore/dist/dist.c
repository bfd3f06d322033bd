#include "dist/dist.h"

#include "base/log.h"
#include "base/mem.h"

#include <math.h>
#include <string.h>

enum { TAG_SOLVER = 4, SAID_BYTES = 256 };
enum { LOOK_EVERY = 20 };
static const double IMBALANCE = 1.15;
static const double SAME_UNIT = 0.1; /* relative: of cells that keep their cuts */

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

static TlStatus sync_least_begin(void *ctx, const double *values, int count) {
  return tl_comm_least_begin(((TlDist *)ctx)->comm, values, count);
}
static TlStatus sync_least_end(void *ctx, double *values, int count) {
  return tl_comm_least_end(((TlDist *)ctx)->comm, values, count);
}

static int sync_rank_of(void *ctx, int64_t body) {
  const TlDist *dist = ctx;
  const TlExchange *ghosts = &dist->halo.exchange;
  for (size_t k = 0; k < ghosts->peers; k++) {
    const TlPeer *n = &ghosts->peer[k];
    int64_t first = dist->owned + n->in_first;
    if (body >= first && body < first + n->in_count) return n->rank;
  }
  return tl_comm_rank(dist->comm);
}
static int sync_rank_at(void *ctx, TlVec3 point) {
  return tl_domain_owner(&((TlDist *)ctx)->domain, point);
}
static bool reaches(const TlDist *dist, int from, const double region[6], double margin) {
  double bodies[6];
  tl_halo_box(&dist->halo, from, bodies);
  for (int k = 0; k < 3; k++)
    if (!(bodies[k] - margin <= region[3 + k] && region[k] <= bodies[3 + k] + margin)) return false;
  return true;
}
static bool sync_may_reach(void *ctx, int from, int to, double margin) {
  const TlDist *dist = ctx;
  double region[6];
  tl_domain_region(&dist->domain, to, region);
  return reaches(dist, from, region, margin);
}

/* ---- cells with cuts of their own ---- */

static int sync_rank_of_cell(void *ctx, const TlSweepCell *cell) {
  return tl_cell_cuts_owner(&((TlDist *)ctx)->cells.cuts, cell);
}
static bool sync_may_reach_cell(void *ctx, int from, int to, double margin) {
  const TlDist *dist = ctx;
  double region[6], unit = dist->cells.unit_now_m;
  tl_cell_cuts_region(&dist->cells.cuts, to, region);
  for (int a = 0; a < 3; a++) { /* middles are rounded to whole units */
    region[a] = (region[a] - 0.5) * unit;
    region[3 + a] = (region[3 + a] + 0.5) * unit;
  }
  return reaches(dist, from, region, margin);
}

/* Of the loads of all ranks; load: [ranks] what this one has found of them, changed. Collective. */
static TlStatus worst_over_mean(TlComm *comm, int64_t *load, double *ratio) {
  int ranks = tl_comm_size(comm);
  int64_t most = 0;
  double sum = 0;
  TL_TRY(tl_comm_sum_int(comm, load, ranks));
  for (int r = 0; r < ranks; r++) {
    if (load[r] > most) most = load[r];
    sum += (double)load[r];
  }
  *ratio = sum > 0 ? (double)most * ranks / sum : 1;
  return TL_OK;
}

static bool has_cuts(const TlDistCells *c) {
  return c->cuts.domain.ranks > 0;
}

static TlStatus pairs_over_mean(TlDist *dist, const TlSweepCell *pair, int64_t count,
                                double *ratio) {
  int64_t *load = NULL;
  TlStatus status = TL_NEW(load, (size_t)tl_comm_size(dist->comm));
  status = tl_comm_agree(dist->comm, status);
  for (int64_t i = 0; status == TL_OK && i < count; i++)
    load[has_cuts(&dist->cells) ? tl_cell_cuts_owner(&dist->cells.cuts, &pair[i])
                                : tl_domain_owner(&dist->domain, pair[i].place)]++;
  if (status == TL_OK) status = worst_over_mean(dist->comm, load, ratio);
  tl_free(load);
  return status;
}

/* The same on all ranks, for units are. */
static bool outdated(const TlDist *dist, double unit) {
  const TlDistCells *c = &dist->cells;
  return c->with != dist->counters.cuts || fabs(unit - c->unit_m) > SAME_UNIT * c->unit_m;
}

static TlStatus sync_part_cells(void *ctx, double unit, const TlSweepCell *pair, int64_t count,
                                bool *own) {
  TlDist *dist = ctx;
  TlDistCells *c = &dist->cells;
  double ratio = 1;
  if (outdated(dist, unit)) {
    tl_cell_cuts_free(&c->cuts);
    *c = (TlDistCells){.unit_m = unit, .with = dist->counters.cuts};
  }
  c->unit_now_m = unit;
  if (c->steps++ % dist->look_every == 0) TL_TRY(pairs_over_mean(dist, pair, count, &ratio));
  if (ratio > dist->imbalance) {
    tl_log_debug("the rank with most pairs of a sweep has %.2f times the mean; cells are cut anew",
                 ratio);
    c->unit_m = unit;
    TL_TRY(tl_cell_cuts_make(&c->cuts, dist->comm, &dist->domain, pair, count));
    dist->counters.cell_cuts++;
  }
  *own = has_cuts(c);
  return TL_OK;
}

/* In one collective where all fit into the bytes that the last time asked for. */
static TlStatus sync_gather(void *ctx, const void *mine, size_t bytes, const unsigned char **all,
                            const size_t **at, const size_t **end) {
  TlDist *dist = ctx;
  size_t ranks = (size_t)tl_comm_size(dist->comm), most = 0, head = sizeof(uint64_t);
  if (!dist->said_at) TL_TRY(TL_NEW(dist->said_at, ranks));
  if (!dist->said_end) TL_TRY(TL_NEW(dist->said_end, ranks));
  if (dist->said_bytes == 0) dist->said_bytes = SAID_BYTES;
  for (;;) {
    size_t size = head + dist->said_bytes;
    uint64_t said = bytes;
    TL_TRY(TL_RESERVE(dist->saying, dist->saying_capacity, size));
    TL_TRY(TL_RESERVE(dist->said, dist->said_capacity, size * ranks));
    memset(dist->saying, 0, size);
    memcpy(dist->saying, &said, head);
    memcpy(dist->saying + head, mine, bytes < dist->said_bytes ? bytes : dist->said_bytes);
    TL_TRY(tl_comm_gather_all(dist->comm, dist->saying, dist->said, size));
    for (size_t r = 0; r < ranks; r++) {
      memcpy(&said, dist->said + r * size, head);
      dist->said_at[r] = r * size + head;
      dist->said_end[r] = dist->said_at[r] + (size_t)said;
      if (said > most) most = (size_t)said;
    }
    if (most <= dist->said_bytes) break;
    dist->said_bytes = most + most / 8; /* the same on all ranks */
  }
  *all = dist->said;
  *at = dist->said_at;
  *end = dist->said_end;
  return TL_OK;
}

static TlStatus sync_send(void *ctx, int to, const void *bytes, size_t size) {
  TlDist *dist = ctx;
  return tl_comm_send(dist->comm, &dist->batch, to, TAG_SOLVER, bytes, size);
}
static TlStatus sync_receive(void *ctx, int from, void *bytes, size_t size) {
  TlDist *dist = ctx;
  return tl_comm_receive(dist->comm, &dist->batch, from, TAG_SOLVER, bytes, size);
}
static TlStatus sync_wait(void *ctx) {
  TlDist *dist = ctx;
  return tl_comm_wait(dist->comm, &dist->batch);
}
static TlStatus sync_receive_any(void *ctx, int from, unsigned char **bytes, size_t *capacity,
                                 size_t *size) {
  return tl_comm_receive_any(((TlDist *)ctx)->comm, from, TAG_SOLVER, bytes, capacity, size);
}

TlStatus tl_dist_new(TlDist **dist, TlComm *comm) {
  TL_TRY(TL_NEW(*dist, 1));
  TlDist *d = *dist;
  d->comm = d->moves.comm = comm;
  d->look_every = LOOK_EVERY;
  d->imbalance = IMBALANCE;
  d->sync = (TlSync){.ctx = d,
                     .rank = tl_comm_rank(comm),
                     .ranks = tl_comm_size(comm),
                     .rank_of = sync_rank_of,
                     .rank_at = sync_rank_at,
                     .may_reach = sync_may_reach,
                     .rank_of_cell = sync_rank_of_cell,
                     .may_reach_cell = sync_may_reach_cell,
                     .part_cells = sync_part_cells,
                     .forward = sync_forward,
                     .any = sync_any,
                     .least = sync_least,
                     .sum = sync_sum,
                     .sum_int = sync_sum_int,
                     .least_begin = sync_least_begin,
                     .least_end = sync_least_end,
                     .gather = sync_gather,
                     .send = sync_send,
                     .receive = sync_receive,
                     .wait = sync_wait,
                     .receive_any = sync_receive_any};
  return tl_halo_new(&d->halo, comm);
}

void tl_dist_free(TlDist *dist) {
  if (!dist) return;
  tl_domain_free(&dist->domain);
  tl_cell_cuts_free(&dist->cells.cuts);
  tl_halo_free(&dist->halo);
  tl_exchange_free(&dist->moves);
  tl_free(dist->said);
  tl_free(dist->said_at);
  tl_free(dist->said_end);
  tl_free(dist->saying);
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
  at_least(&c->largest_array, dist->halo.exchange.item_capacity);
  at_least(&c->largest_array, dist->halo.exchange.in_capacity / tl_bodies_ghost_bytes());
  at_least(&c->largest_array, dist->halo.exchange.out_capacity / tl_bodies_ghost_bytes());
  at_least(&c->neighbours, dist->halo.exchange.peers);
}

/* A buffer that held so many bodies, with their contact memory, in so many bytes. */
static void count_buffer(TlDist *dist, size_t capacity, int64_t bodies, int64_t bytes) {
  if (bytes > 0) at_least(&dist->counters.largest_array, capacity / (size_t)(bytes / bodies));
}

TlDistCounters tl_dist_counters(const TlDist *dist) {
  TlDistCounters counters = dist->counters;
  counters.comm = tl_comm_counters(dist->comm);
  return counters;
}

/* ---- cuts ---- */

static TlStatus list_weights(const TlBodies *b, TlWeight **weight, int64_t *count) {
  *count = 0;
  TL_TRY(TL_NEW(*weight, 2 * (size_t)b->owned));
  for (int64_t i = 0; i < b->owned; i++) {
    (*weight)[(*count)++] = (TlWeight){b->position[i], 1 + b->work[i], TL_WEIGHT_BODY};
    if (b->solve_work[i] > 0)
      (*weight)[(*count)++] = (TlWeight){b->solve_at[i], b->solve_work[i], TL_WEIGHT_SOLVE};
  }
  return TL_OK;
}

TlStatus tl_dist_cut(TlDist *dist, const TlBodies *bodies) {
  TlWeight *weight;
  int64_t count;
  TlStatus status = tl_comm_agree(dist->comm, list_weights(bodies, &weight, &count));
  if (status == TL_OK) status = tl_domain_cut(&dist->domain, dist->comm, weight, count);
  tl_free(weight);
  dist->counters.cuts++;
  return status;
}

TlStatus tl_dist_imbalance(TlDist *dist, const TlBodies *bodies, double *ratio) {
  TlWeight *weight;
  int64_t *load = NULL, count;
  TlStatus status = list_weights(bodies, &weight, &count);
  if (status == TL_OK) status = TL_NEW(load, (size_t)tl_comm_size(dist->comm));
  status = tl_comm_agree(dist->comm, status);
  for (int64_t k = 0; status == TL_OK && k < count; k++)
    load[tl_domain_owner(&dist->domain, weight[k].at)] += weight[k].weight;
  if (status == TL_OK) status = worst_over_mean(dist->comm, load, ratio);
  tl_free(weight);
  tl_free(load);
  return status;
}

/* ---- migration ---- */

typedef struct Move {
  int32_t *owner;      /* of each owned body */
  unsigned char *keep; /* of each owned body */
  int64_t *leaving;    /* owned bodies that leave, by their new owner, then in their order */
  int64_t *next;       /* place in that list of each rank's next one */
  TlVec3 *place;       /* of each owned body */
  int64_t count;       /* of them */
  TlBodyMoves bodies;
} Move;

static TlStatus plan(TlDist *dist, const TlBodies *bodies, Move *m) {
  TlExchange *x = &dist->moves;
  TlParcels parcels = tl_bodies_to_own(&m->bodies);
  int me = tl_comm_rank(dist->comm), ranks = tl_comm_size(dist->comm);
  TL_TRY(TL_NEW(m->owner, (size_t)bodies->owned));
  TL_TRY(TL_NEW(m->keep, (size_t)bodies->owned));
  TL_TRY(TL_NEW(m->leaving, (size_t)bodies->owned));
  TL_TRY(TL_NEW(m->next, (size_t)ranks + 1));
  for (int64_t i = 0; i < bodies->owned; i++) {
    m->owner[i] = tl_domain_owner(&dist->domain, m->place ? m->place[i] : bodies->position[i]);
    m->keep[i] = m->owner[i] == me;
    if (!m->keep[i]) m->next[m->owner[i] + 1]++;
  }
  for (int r = 0; r < ranks; r++) m->next[r + 1] += m->next[r];
  m->count = m->next[ranks];
  for (int64_t i = 0; i < bodies->owned; i++)
    if (!m->keep[i]) m->leaving[m->next[m->owner[i]]++] = i;
  TL_TRY(tl_body_moves_list(&m->bodies, m->leaving, m->count));
  tl_exchange_clear(x);
  for (int64_t r = 0, k = 0; r < ranks; r++) {
    TL_TRY(tl_exchange_peer(x, (int)r));
    for (; k < m->next[r]; k++) TL_TRY(tl_exchange_add(x, &parcels, k));
  }
  return TL_OK;
}

static TlStatus migrate(TlDist *dist, TlBodies *bodies, Move *m) {
  TlExchange *x = &dist->moves;
  TlParcels parcels = tl_bodies_to_own(&m->bodies);
  int64_t came;
  if (dist->together) {
    TL_TRY(tl_comm_agree(dist->comm, TL_NEW(m->place, (size_t)bodies->owned)));
    TL_TRY(tl_comm_agree(dist->comm, tl_together(&dist->sync, bodies, m->place, NULL)));
  }
  TL_TRY(tl_comm_agree(dist->comm, plan(dist, bodies, m)));
  int64_t leaving = m->count, mine = m->count;
  TL_TRY(tl_comm_sum_int(dist->comm, &leaving, 1));
  dist->counters.moved += mine;
  m->count = leaving;
  if (leaving == 0) return TL_OK;
  TL_TRY(tl_exchange_meet_all(x));
  TlStatus status = tl_exchange_reserve(x, 0);
  if (status == TL_OK) {
    tl_exchange_pack(x, &parcels);
    status = tl_bodies_keep(bodies, m->keep);
  }
  TL_TRY(tl_comm_agree(dist->comm, status));
  count_buffer(dist, x->out_capacity, mine, tl_exchange_out_bytes(x));
  TL_TRY(tl_exchange_post(x, 0));
  TL_TRY(tl_comm_wait(dist->comm, &x->batch));
  status = tl_exchange_take(x, &parcels, &came);
  if (status == TL_OK) count_buffer(dist, x->in_capacity, came, tl_exchange_in_bytes(x));
  return tl_comm_agree(dist->comm, status);
}

TlStatus tl_dist_migrate(TlDist *dist, TlBodies *bodies, int64_t *moved) {
  Move m = {.bodies = {.bodies = bodies}};
  TlStatus status = TL_OK;
  tl_bodies_drop_ghosts(bodies);
  if (tl_comm_size(dist->comm) > 1) status = migrate(dist, bodies, &m);
  if (moved) *moved = m.count;
  count_bodies(dist, bodies);
  tl_free(m.owner);
  tl_free(m.keep);
  tl_free(m.leaving);
  tl_free(m.next);
  tl_free(m.place);
  tl_body_moves_free(&m.bodies);
  return status;
}

TlStatus tl_dist_halo(TlDist *dist, TlBodies *bodies) {
  TL_TRY(tl_halo_build(&dist->halo, bodies));
  dist->owned = bodies->owned;
  count_bodies(dist, bodies);
  return TL_OK;
}
