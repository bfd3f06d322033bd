#include "dist/halo.h"

#include "base/mem.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { TAG_COUNT = 1, TAG_FIELD = 2 };

TlStatus tl_halo_new(TlHalo *halo, TlComm *comm) {
  *halo = (TlHalo){.comm = comm};
  return TL_NEW(halo->boxes, TL_HALO_BOX * (size_t)tl_comm_size(comm));
}

void tl_halo_free(TlHalo *halo) {
  tl_free(halo->neighbour);
  tl_free(halo->send);
  tl_free(halo->out);
  tl_free(halo->in);
  tl_free(halo->boxes);
  tl_free(halo->wanted);
  tl_free(halo->counts);
  tl_comm_batch_free(&halo->batch);
  *halo = (TlHalo){0};
}

/* ---- who needs what ---- */

static int by_id(const void *one, const void *two) {
  int64_t a = *(const int64_t *)one, b = *(const int64_t *)two;
  return (a > b) - (a < b);
}

static bool has_id(const int64_t *ids, size_t count, int64_t id) {
  return count > 0 && bsearch(&id, ids, count, sizeof id, by_id) != NULL;
}

static const double *box_of(const TlHalo *halo, int rank) {
  return &halo->boxes[TL_HALO_BOX * rank];
}
void tl_halo_box(const TlHalo *halo, int rank, double box[6]) {
  memcpy(box, box_of(halo, rank), 6 * sizeof *box);
}
static const int64_t *wanted_by(const TlHalo *halo, int rank, size_t *count) {
  *count = (size_t)box_of(halo, rank)[6];
  return halo->wanted + (size_t)rank * halo->wanted_room;
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
  qsort(own, (size_t)b->owned, sizeof *own, by_id);
  for (int k = TL_BONDS + 1; k < TL_PAIR_KINDS; k++)
    for (size_t i = 0; i < b->pairs.of[k].count; i++) {
      TlPairKey key = tl_pair_key(&b->pairs.of[k], (TlPairKind)k, i);
      bool low = has_id(own, (size_t)b->owned, key.low);
      bool high = key.high < 0 || has_id(own, (size_t)b->owned, key.high);
      if (low != high) (*wanted)[(*count)++] = low ? key.high : key.low;
    }
  tl_free(own);
  qsort(*wanted, *count, sizeof **wanted, by_id);
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
  return tl_comm_gather_all(halo->comm, mine, halo->boxes, sizeof mine);
}

/* Every rank's list; nothing where none wants any. */
static TlStatus share_wanted(TlHalo *halo, const int64_t *mine, size_t count) {
  size_t ranks = (size_t)tl_comm_size(halo->comm), most = 0;
  int64_t *padded = NULL;
  for (size_t r = 0; r < ranks; r++) most = (size_t)fmax((double)most, box_of(halo, (int)r)[6]);
  halo->wanted_room = most;
  if (most == 0) return TL_OK;
  TlStatus status = TL_RESERVE(halo->wanted, halo->wanted_capacity, most * ranks);
  if (status == TL_OK) status = TL_NEW(padded, most);
  status = tl_comm_agree(halo->comm, status);
  if (status == TL_OK && count) memcpy(padded, mine, count * sizeof *mine);
  if (status == TL_OK)
    status = tl_comm_gather_all(halo->comm, padded, halo->wanted, most * sizeof *padded);
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

static TlStatus list_sends(TlHalo *halo, const TlBodies *bodies, TlNeighbour *n) {
  const double *box = box_of(halo, n->rank);
  size_t wanted;
  const int64_t *ids = wanted_by(halo, n->rank, &wanted);
  n->send_start = (int64_t)halo->send_count;
  for (int64_t i = 0; i < bodies->owned; i++) {
    if (!reaches(bodies->position[i], bodies->halo[i], box) && !has_id(ids, wanted, bodies->id[i]))
      continue;
    TL_TRY(TL_RESERVE(halo->send, halo->send_capacity, halo->send_count + 1));
    halo->send[halo->send_count++] = i;
    n->send_bytes += (int64_t)tl_bodies_state_size(bodies, i, TL_HALO);
  }
  n->send_count = (int64_t)halo->send_count - n->send_start;
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
static TlStatus list_neighbours(TlHalo *halo, const TlBodies *bodies) {
  int me = tl_comm_rank(halo->comm), ranks = tl_comm_size(halo->comm);
  halo->count = halo->send_count = 0;
  for (int r = 0; r < ranks; r++) {
    if (r == me) continue;
    if (!boxes_meet(box_of(halo, me), box_of(halo, r)) && !is_wanted(halo, bodies, r)) continue;
    TL_TRY(TL_RESERVE(halo->neighbour, halo->capacity, halo->count + 1));
    TlNeighbour *n = &halo->neighbour[halo->count++];
    *n = (TlNeighbour){.rank = r};
    TL_TRY(list_sends(halo, bodies, n));
  }
  return TL_RESERVE(halo->counts, halo->counts_capacity, 4 * halo->count);
}

static TlStatus swap_counts(TlHalo *halo, int64_t owned) {
  for (size_t k = 0; k < halo->count; k++) {
    TlNeighbour *n = &halo->neighbour[k];
    int64_t *theirs = &halo->counts[4 * k], *mine = theirs + 2;
    mine[0] = n->send_count;
    mine[1] = n->send_bytes;
    TL_TRY(tl_comm_receive(halo->comm, &halo->batch, n->rank, TAG_COUNT, theirs, 16));
    TL_TRY(tl_comm_send(halo->comm, &halo->batch, n->rank, TAG_COUNT, mine, 16));
  }
  TL_TRY(tl_comm_wait(halo->comm, &halo->batch));
  halo->ghosts = 0;
  for (size_t k = 0; k < halo->count; k++) {
    halo->neighbour[k].ghost_count = halo->counts[4 * k];
    halo->neighbour[k].ghost_bytes = halo->counts[4 * k + 1];
    halo->neighbour[k].ghost_start = owned + halo->ghosts;
    halo->ghosts += halo->neighbour[k].ghost_count;
  }
  return TL_OK;
}

/* ---- values ---- */

/* Bytes for and from a neighbour: of an element of this size a body, or (0) the bodies' states. */
static size_t bytes_for(const TlNeighbour *n, size_t size) {
  return size ? (size_t)n->send_count * size : (size_t)n->send_bytes;
}
static size_t bytes_from(const TlNeighbour *n, size_t size) {
  return size ? (size_t)n->ghost_count * size : (size_t)n->ghost_bytes;
}

static TlStatus reserve(TlHalo *halo, size_t size) {
  size_t out = 0, in = 0;
  for (size_t k = 0; k < halo->count; k++) {
    out += bytes_for(&halo->neighbour[k], size);
    in += bytes_from(&halo->neighbour[k], size);
  }
  TL_TRY(TL_RESERVE(halo->out, halo->out_capacity, out));
  return TL_RESERVE(halo->in, halo->in_capacity, in);
}

static TlStatus post(TlHalo *halo, size_t size) {
  size_t at = 0;
  for (size_t k = 0; k < halo->count; k++) {
    const TlNeighbour *n = &halo->neighbour[k];
    size_t bytes = bytes_from(n, size);
    TL_TRY(tl_comm_receive(halo->comm, &halo->batch, n->rank, TAG_FIELD, halo->in + at, bytes));
    at += bytes;
  }
  at = 0;
  for (size_t k = 0; k < halo->count; k++) {
    const TlNeighbour *n = &halo->neighbour[k];
    size_t bytes = bytes_for(n, size);
    TL_TRY(tl_comm_send(halo->comm, &halo->batch, n->rank, TAG_FIELD, halo->out + at, bytes));
    at += bytes;
  }
  return TL_OK;
}

TlStatus tl_halo_forward_begin(TlHalo *halo, const void *field, size_t size) {
  const unsigned char *from = field;
  TL_TRY(reserve(halo, size));
  for (size_t i = 0; i < halo->send_count; i++)
    memcpy(halo->out + i * size, from + (size_t)halo->send[i] * size, size);
  return post(halo, size);
}

TlStatus tl_halo_forward_end(TlHalo *halo, int64_t owned, void *field, size_t size) {
  TL_TRY(tl_comm_wait(halo->comm, &halo->batch));
  if (halo->ghosts)
    memcpy((unsigned char *)field + (size_t)owned * size, halo->in, (size_t)halo->ghosts * size);
  return TL_OK;
}

size_t tl_halo_body_bytes(void) {
  return tl_bodies_grain_bytes(TL_HALO);
}

static TlStatus send_states(TlHalo *halo, const TlBodies *bodies) {
  unsigned char *to = halo->out;
  for (size_t i = 0; i < halo->send_count; i++)
    to = tl_bodies_pack_state(bodies, halo->send[i], TL_HALO, to);
  TL_TRY(post(halo, 0));
  return tl_comm_wait(halo->comm, &halo->batch);
}

static TlStatus take_ghosts(TlHalo *halo, TlBodies *bodies) {
  TL_TRY(tl_bodies_reserve(bodies, bodies->owned + halo->ghosts));
  const unsigned char *from = halo->in;
  size_t left = 0, used;
  for (size_t k = 0; k < halo->count; k++) left += (size_t)halo->neighbour[k].ghost_bytes;
  for (int64_t g = 0; g < halo->ghosts; g++, from += used, left -= used)
    TL_TRY(tl_bodies_unpack_state(bodies, TL_HALO, true, from, left, &used));
  return TL_OK;
}

TlStatus tl_halo_build(TlHalo *halo, TlBodies *bodies) {
  tl_bodies_drop_ghosts(bodies);
  if (tl_comm_size(halo->comm) == 1) return TL_OK;
  int64_t *wanted;
  size_t count;
  TlStatus status = list_wanted(bodies, &wanted, &count);
  TlStatus shared = share_boxes(halo, bodies, count);
  if (shared == TL_OK) shared = share_wanted(halo, wanted, count);
  tl_free(wanted);
  TL_TRY(shared);
  if (status == TL_OK) status = list_neighbours(halo, bodies);
  TL_TRY(tl_comm_agree(halo->comm, status));
  TL_TRY(swap_counts(halo, bodies->owned));
  TL_TRY(tl_comm_agree(halo->comm, reserve(halo, 0)));
  TL_TRY(send_states(halo, bodies));
  return tl_comm_agree(halo->comm, take_ghosts(halo, bodies));
}
