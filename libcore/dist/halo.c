#include "dist/halo.h"

#include "base/mem.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { TAG_COUNT = 1, TAG_FIELD = 2 };

TlStatus tl_halo_new(TlHalo *halo, TlComm *comm) {
  *halo = (TlHalo){.comm = comm};
  return TL_NEW(halo->boxes, 6 * (size_t)tl_comm_size(comm));
}

void tl_halo_free(TlHalo *halo) {
  tl_free(halo->neighbour);
  tl_free(halo->send);
  tl_free(halo->out);
  tl_free(halo->in);
  tl_free(halo->boxes);
  tl_comm_batch_free(&halo->batch);
  *halo = (TlHalo){0};
}

/* ---- who needs what ---- */

static TlStatus share_boxes(TlHalo *halo, const TlBodies *b) {
  double mine[6] = {INFINITY, INFINITY, INFINITY, -INFINITY, -INFINITY, -INFINITY};
  for (int64_t i = 0; i < b->owned; i++) {
    double x[3] = {b->position[i].x, b->position[i].y, b->position[i].z}, r = b->halo[i];
    for (int a = 0; a < 3; a++) {
      mine[a] = fmin(mine[a], x[a] - r);
      mine[3 + a] = fmax(mine[3 + a], x[a] + r);
    }
  }
  return tl_comm_gather_all(halo->comm, mine, halo->boxes, sizeof mine);
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
  const double *box = &halo->boxes[6 * n->rank];
  n->send_start = (int64_t)halo->send_count;
  for (int64_t i = 0; i < bodies->owned; i++) {
    if (!reaches(bodies->position[i], bodies->halo[i], box)) continue;
    TL_TRY(TL_RESERVE(halo->send, halo->send_capacity, halo->send_count + 1));
    halo->send[halo->send_count++] = i;
  }
  n->send_count = (int64_t)halo->send_count - n->send_start;
  return TL_OK;
}

/* Boxes meet both ways or not at all, so neighbours agree on being neighbours. */
static TlStatus list_neighbours(TlHalo *halo, const TlBodies *bodies) {
  int me = tl_comm_rank(halo->comm), ranks = tl_comm_size(halo->comm);
  halo->count = halo->send_count = 0;
  for (int r = 0; r < ranks; r++) {
    if (r == me || !boxes_meet(&halo->boxes[6 * me], &halo->boxes[6 * r])) continue;
    TL_TRY(TL_RESERVE(halo->neighbour, halo->capacity, halo->count + 1));
    TlNeighbour *n = &halo->neighbour[halo->count++];
    *n = (TlNeighbour){.rank = r};
    TL_TRY(list_sends(halo, bodies, n));
  }
  return TL_OK;
}

static TlStatus swap_counts(TlHalo *halo, int64_t owned) {
  for (size_t k = 0; k < halo->count; k++) {
    TlNeighbour *n = &halo->neighbour[k];
    TL_TRY(tl_comm_receive(halo->comm, &halo->batch, n->rank, TAG_COUNT, &n->ghost_count, 8));
    TL_TRY(tl_comm_send(halo->comm, &halo->batch, n->rank, TAG_COUNT, &n->send_count, 8));
  }
  TL_TRY(tl_comm_wait(halo->comm, &halo->batch));
  halo->ghosts = 0;
  for (size_t k = 0; k < halo->count; k++) {
    halo->neighbour[k].ghost_start = owned + halo->ghosts;
    halo->ghosts += halo->neighbour[k].ghost_count;
  }
  return TL_OK;
}

/* ---- values ---- */

static TlStatus room(TlHalo *halo, size_t size) {
  TL_TRY(TL_RESERVE(halo->out, halo->out_capacity, halo->send_count * size));
  return TL_RESERVE(halo->in, halo->in_capacity, (size_t)halo->ghosts * size);
}

static TlStatus post(TlHalo *halo, size_t size) {
  size_t at = 0;
  for (size_t k = 0; k < halo->count; k++) {
    const TlNeighbour *n = &halo->neighbour[k];
    size_t bytes = (size_t)n->ghost_count * size;
    TL_TRY(tl_comm_receive(halo->comm, &halo->batch, n->rank, TAG_FIELD, halo->in + at, bytes));
    at += bytes;
  }
  for (size_t k = 0; k < halo->count; k++) {
    const TlNeighbour *n = &halo->neighbour[k];
    TL_TRY(tl_comm_send(halo->comm, &halo->batch, n->rank, TAG_FIELD,
                        halo->out + (size_t)n->send_start * size, (size_t)n->send_count * size));
  }
  return TL_OK;
}

TlStatus tl_halo_forward_begin(TlHalo *halo, const void *field, size_t size) {
  const unsigned char *from = field;
  TL_TRY(room(halo, size));
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
  return tl_record_packed_bytes(&tl_body_record, TL_HALO);
}

static TlStatus send_states(TlHalo *halo, const TlBodies *bodies) {
  unsigned char *to = halo->out;
  for (size_t i = 0; i < halo->send_count; i++) {
    TlBodyState state = tl_bodies_get(bodies, halo->send[i]);
    to = tl_record_pack(&tl_body_record, TL_HALO, &state, to);
  }
  TL_TRY(post(halo, tl_halo_body_bytes()));
  return tl_comm_wait(halo->comm, &halo->batch);
}

static TlStatus take_ghosts(TlHalo *halo, TlBodies *bodies) {
  TL_TRY(tl_bodies_reserve(bodies, bodies->owned + halo->ghosts));
  const unsigned char *from = halo->in;
  for (int64_t g = 0; g < halo->ghosts; g++) {
    TlBodyState state;
    from = tl_record_unpack(&tl_body_record, TL_HALO, &state, from);
    TL_TRY(tl_bodies_add_ghost(bodies, &state));
  }
  return TL_OK;
}

TlStatus tl_halo_build(TlHalo *halo, TlBodies *bodies) {
  tl_bodies_drop_ghosts(bodies);
  if (tl_comm_size(halo->comm) == 1) return TL_OK;
  TL_TRY(share_boxes(halo, bodies));
  TL_TRY(tl_comm_agree(halo->comm, list_neighbours(halo, bodies)));
  TL_TRY(swap_counts(halo, bodies->owned));
  TL_TRY(tl_comm_agree(halo->comm, room(halo, tl_halo_body_bytes())));
  TL_TRY(send_states(halo, bodies));
  return tl_comm_agree(halo->comm, take_ghosts(halo, bodies));
}
