#include "run/gather.h"

#include "base/mem.h"

enum { BLOCK = 512, TAG_BODIES = 21 };

typedef struct Hand {
  TlComm *comm;
  int64_t all;
  TlGrainState (*state)(void *context, int64_t i);
  void *context;
  TlGrainState *block;
} Hand;

static TlStatus send(TlComm *comm, int to, int tag, const void *data, size_t size) {
  TlCommBatch batch = {0};
  TlStatus status = tl_comm_send(comm, &batch, to, tag, data, size);
  if (status == TL_OK) status = tl_comm_wait(comm, &batch);
  tl_comm_batch_free(&batch);
  return status;
}

static TlStatus receive(TlComm *comm, int from, int tag, void *data, size_t size) {
  TlCommBatch batch = {0};
  TlStatus status = tl_comm_receive(comm, &batch, from, tag, data, size);
  if (status == TL_OK) status = tl_comm_wait(comm, &batch);
  tl_comm_batch_free(&batch);
  return status;
}

/* Each rank knows how many bodies are its own. */
static TlStatus hand_out(const Hand *h, TlBodies *bodies) {
  int me = tl_comm_rank(h->comm), ranks = tl_comm_size(h->comm);
  for (int r = 0; r < ranks; r++) {
    int64_t end = h->all * (r + 1) / ranks;
    if (me != 0 && me != r) continue;
    for (int64_t first = h->all * r / ranks; first < end; first += BLOCK) {
      int64_t n = end - first < BLOCK ? end - first : BLOCK;
      if (me == 0)
        for (int64_t i = 0; i < n; i++) h->block[i] = h->state(h->context, first + i);
      if (me == 0 && r != 0)
        TL_TRY(send(h->comm, r, TAG_BODIES, h->block, (size_t)n * sizeof *h->block));
      else if (me != 0)
        TL_TRY(receive(h->comm, 0, TAG_BODIES, h->block, (size_t)n * sizeof *h->block));
      for (int64_t i = 0; me == r && i < n; i++) TL_TRY(tl_bodies_add(bodies, &h->block[i]));
    }
  }
  return TL_OK;
}

TlStatus tl_hand_out(TlComm *comm, int64_t count, TlGrainState (*state)(void *context, int64_t i),
                     void *context, TlBodies *bodies) {
  Hand h = {.comm = comm, .all = count, .state = state, .context = context};
  TL_TRY(tl_comm_agree(comm, TL_NEW(h.block, BLOCK)));
  TlStatus status = tl_comm_most_int(comm, &h.all, 1);
  if (status == TL_OK) status = hand_out(&h, bodies);
  tl_free(h.block);
  return tl_comm_agree(comm, status);
}
