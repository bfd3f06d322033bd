#include "dist/halo.h"

#include "base/mem.h"
#include "num/sort.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

TlStatus tl_halo_new(TlHalo *halo, TlComm *comm) {
  *halo = (TlHalo){.exchange = {.comm = comm}};
  return TL_NEW(halo->boxes, TL_HALO_BOX * (size_t)tl_comm_size(comm));
}

void tl_halo_free(TlHalo *halo) {
  tl_exchange_free(&halo->exchange);
  tl_free(halo->boxes);
  tl_free(halo->wanted);
  *halo = (TlHalo){0};
}

/* ---- who needs what ---- */

static bool has_id(const int64_t *ids, size_t count, int64_t id) {
  return count > 0 && bsearch(&id, ids, count, sizeof id, tl_by_int) != NULL;
}

static const double *box_of(const TlHalo *halo, int rank) {
  return &halo->boxes[TL_HALO_BOX * rank];
}
void tl_halo_box(const TlHalo *halo, int rank, double box[6]) {
  memcpy(box, box_of(halo, rank), 6 * sizeof *box);
}
static const int64_t *wanted_by(const TlHalo *halo, int rank, size_t *count) {
  *count = (size_t)box_of(halo, rank)[6];
  return halo->wanted + (size_t)rank * halo->wanted_most;
}

static int64_t constraints(const TlBodies *b) {
  int64_t count = 0;
  for (int k = TL_BONDS + 1; k < TL_PAIR_KINDS; k++) count += (int64_t)b->pairs.of[k].count;
  return count;
}

/* Ids at the other ends of this rank's constraints but bonds, ascending, in fresh memory. */
static TlStatus list_wanted(const TlBodies *b, int64_t **wanted, size_t *count) {
  int64_t *own, all = constraints(b);
  *count = 0;
  *wanted = NULL;
  if (all == 0) return TL_OK;
  TL_TRY(TL_NEW(*wanted, (size_t)all));
  TL_TRY(TL_NEW(own, (size_t)b->owned));
  if (b->owned) memcpy(own, b->id, (size_t)b->owned * sizeof *own);
  qsort(own, (size_t)b->owned, sizeof *own, tl_by_int);
  for (int k = TL_BONDS + 1; k < TL_PAIR_KINDS; k++)
    for (size_t i = 0; i < b->pairs.of[k].count; i++) {
      TlPairKey key = tl_pair_key(&b->pairs.of[k], (TlPairKind)k, i);
      bool low = has_id(own, (size_t)b->owned, key.low);
      bool high = key.high < 0 || has_id(own, (size_t)b->owned, key.high);
      if (low != high) (*wanted)[(*count)++] = low ? key.high : key.low;
    }
  tl_free(own);
  qsort(*wanted, *count, sizeof **wanted, tl_by_int);
  size_t kept = 0;
  for (size_t i = 0; i < *count; i++)
    if (kept == 0 || (*wanted)[kept - 1] != (*wanted)[i]) (*wanted)[kept++] = (*wanted)[i];
  *count = kept;
  return TL_OK;
}

static TlStatus share_boxes(TlHalo *halo, const TlBodies *b, size_t wanted) {
  double mine[TL_HALO_BOX] = {INFINITY,  INFINITY,  INFINITY,      -INFINITY,
                              -INFINITY, -INFINITY, (double)wanted};
  for (int64_t i = 0; i < b->owned; i++) {
    double x[3] = {b->position[i].x, b->position[i].y, b->position[i].z}, r = b->halo[i];
    for (int a = 0; a < 3; a++) {
      mine[a] = fmin(mine[a], x[a] - r);
      mine[3 + a] = fmax(mine[3 + a], x[a] + r);
    }
  }
  return tl_comm_gather_all(halo->exchange.comm, mine, halo->boxes, sizeof mine);
}

/* Every rank's list; nothing where none wants any. */
static TlStatus share_wanted(TlHalo *halo, const int64_t *mine, size_t count) {
  size_t ranks = (size_t)tl_comm_size(halo->exchange.comm), most = 0;
  int64_t *padded = NULL;
  for (size_t r = 0; r < ranks; r++) most = (size_t)fmax((double)most, box_of(halo, (int)r)[6]);
  halo->wanted_most = most;
  if (most == 0) return TL_OK;
  TlStatus status = TL_RESERVE(halo->wanted, halo->wanted_capacity, most * ranks);
  if (status == TL_OK) status = TL_NEW(padded, most);
  status = tl_comm_agree(halo->exchange.comm, status);
  if (status == TL_OK && count) memcpy(padded, mine, count * sizeof *mine);
  if (status == TL_OK)
    status = tl_comm_gather_all(halo->exchange.comm, padded, halo->wanted, most * sizeof *padded);
  tl_free(padded);
  return status;
}

static bool boxes_meet(const double *a, const double *b) {
  for (int k = 0; k < 3; k++)
    if (!(a[k] <= b[3 + k] && b[k] <= a[3 + k])) return false;
  return true;
}

/* The relative slack outweighs the rounding of box and distance: a ghost too many costs nothing. */
static bool reaches(TlVec3 p, double reach, const double *box) {
  double x[3] = {p.x, p.y, p.z}, d2 = 0;
  for (int k = 0; k < 3; k++) {
    double out = fmax(fmax(box[k] - x[k], x[k] - box[3 + k]), 0);
    d2 += out * out;
  }
  return d2 <= reach * reach * (1 + 1e-9);
}

static TlStatus list_sends(TlHalo *halo, TlBodies *bodies, int rank) {
  const double *box = box_of(halo, rank);
  TlParcels ghosts = tl_bodies_as_ghosts(bodies);
  size_t wanted;
  const int64_t *ids = wanted_by(halo, rank, &wanted);
  TL_TRY(tl_exchange_peer(&halo->exchange, rank));
  for (int64_t i = 0; i < bodies->owned; i++)
    if (reaches(bodies->position[i], bodies->halo[i], box) || has_id(ids, wanted, bodies->id[i]))
      TL_TRY(tl_exchange_add(&halo->exchange, &ghosts, i));
  return TL_OK;
}

/* Does the rank want a body that is owned here? */
static bool is_wanted(const TlHalo *halo, const TlBodies *bodies, int rank) {
  size_t wanted;
  const int64_t *ids = wanted_by(halo, rank, &wanted);
  for (int64_t i = 0; wanted > 0 && i < bodies->owned; i++)
    if (has_id(ids, wanted, bodies->id[i])) return true;
  return false;
}

/* Boxes meet both ways or not at all, and a constraint lies on both ranks, so neighbours agree on
 * being neighbours. */
static TlStatus list_neighbours(TlHalo *halo, TlBodies *bodies) {
  TlComm *comm = halo->exchange.comm;
  int me = tl_comm_rank(comm), ranks = tl_comm_size(comm);
  tl_exchange_clear(&halo->exchange);
  for (int r = 0; r < ranks; r++) {
    if (r == me) continue;
    if (!boxes_meet(box_of(halo, me), box_of(halo, r)) && !is_wanted(halo, bodies, r)) continue;
    TL_TRY(list_sends(halo, bodies, r));
  }
  return TL_OK;
}

/* ---- values ---- */

TlStatus tl_halo_forward_begin(TlHalo *halo, const void *field, size_t size) {
  TlExchange *x = &halo->exchange;
  const unsigned char *from = field;
  TL_TRY(tl_exchange_reserve(x, size));
  for (size_t i = 0; i < x->items; i++)
    memcpy(x->out + i * size, from + (size_t)x->item[i] * size, size);
  return tl_exchange_post(x, size);
}

TlStatus tl_halo_forward_end(TlHalo *halo, int64_t owned, void *field, size_t size) {
  TlExchange *x = &halo->exchange;
  TL_TRY(tl_comm_wait(x->comm, &x->batch));
  if (halo->ghosts)
    memcpy((unsigned char *)field + (size_t)owned * size, x->in, (size_t)halo->ghosts * size);
  return TL_OK;
}

TlStatus tl_halo_build(TlHalo *halo, TlBodies *bodies) {
  TlExchange *x = &halo->exchange;
  tl_bodies_drop_ghosts(bodies);
  if (tl_comm_size(x->comm) == 1) return TL_OK;
  TlParcels ghosts = tl_bodies_as_ghosts(bodies);
  int64_t *wanted;
  size_t count;
  TlStatus status = list_wanted(bodies, &wanted, &count);
  TlStatus shared = share_boxes(halo, bodies, count);
  if (shared == TL_OK) shared = share_wanted(halo, wanted, count);
  tl_free(wanted);
  TL_TRY(shared);
  if (status == TL_OK) status = list_neighbours(halo, bodies);
  TL_TRY(tl_comm_agree(x->comm, status));
  TL_TRY(tl_exchange_meet(x));
  TL_TRY(tl_comm_agree(x->comm, tl_exchange_reserve(x, 0)));
  tl_exchange_pack(x, &ghosts);
  TL_TRY(tl_exchange_post(x, 0));
  TL_TRY(tl_comm_wait(x->comm, &x->batch));
  return tl_comm_agree(x->comm, tl_exchange_take(x, &ghosts, &halo->ghosts));
}
