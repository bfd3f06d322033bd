#include "run/handout.h"

#include "base/mem.h"
#include "dist/exchange.h"

enum { BLOCK = 512 };

typedef struct Hand {
  int64_t all;
  TlStatus (*make)(void *context, int64_t i, TlBodies *bodies);
  void *context;
  TlBodies block; /* rank 0: bodies on their way */
  TlBodyMoves moves;
  int64_t leaving[BLOCK];
  TlExchange exchange;
} Hand;

/* Rank 0: the block goes to the only peer. */
static TlStatus list_block(Hand *h) {
  TlParcels out = tl_bodies_to_own(&h->moves);
  for (int64_t i = 0; i < h->block.owned; i++) h->leaving[i] = i;
  TL_TRY(tl_body_moves_list(&h->moves, h->leaving, h->block.owned));
  for (int64_t i = 0; i < h->block.owned; i++) TL_TRY(tl_exchange_add(&h->exchange, &out, i));
  return TL_OK;
}

/* Memory for a block between rank 0 and another. Whoever has failed (status) still says how much would come, for
 * which hand_out has reserved memory: the other one waits for that. */
static TlStatus prepare(Hand *h, int other, TlStatus status) {
  TlExchange *x = &h->exchange;
  tl_exchange_clear(x);
  TL_TRY(tl_exchange_peer(x, other));
  if (other != 0 && status == TL_OK) status = list_block(h);
  TL_TRY(tl_exchange_meet(x));
  return status == TL_OK ? tl_exchange_reserve(x, 0) : status;
}

static TlStatus pass(Hand *h, TlBodies *bodies) {
  TlExchange *x = &h->exchange;
  TlBodyMoves arriving = {.bodies = bodies};
  TlParcels out = tl_bodies_to_own(&h->moves), in = tl_bodies_to_own(&arriving);
  int64_t came;
  tl_exchange_pack(x, &out);
  TL_TRY(tl_exchange_post(x, 0));
  TL_TRY(tl_comm_wait(x->comm, &x->batch));
  return tl_exchange_take(x, &in, &came);
}

/* All ranks agree before one waits for a block. */
static TlStatus hand_out(Hand *h, TlBodies *bodies) {
  TlExchange *x = &h->exchange;
  int me = tl_comm_rank(x->comm), ranks = tl_comm_size(x->comm);
  TlStatus status = TL_RESERVE(x->peer, x->peer_capacity, 1);
  if (status == TL_OK) status = TL_RESERVE(x->counts, x->counts_capacity, 4);
  if (status == TL_OK) status = tl_comm_batch_reserve(&x->batch, 2);
  TL_TRY(tl_comm_agree(x->comm, status));
  for (int r = 0; r < ranks; r++) {
    int64_t end = h->all * (r + 1) / ranks;
    for (int64_t first = h->all * r / ranks; first < end; first += BLOCK) {
      int64_t n = end - first < BLOCK ? end - first : BLOCK;
      TlBodies *to = r == 0 ? bodies : &h->block;
      tl_bodies_clear(&h->block);
      for (int64_t i = 0; me == 0 && status == TL_OK && i < n; i++)
        status = h->make(h->context, first + i, to);
      if (r == 0) continue;
      if (me == 0 || me == r) status = prepare(h, me == 0 ? r : 0, status);
      TL_TRY(tl_comm_agree(x->comm, status));
      if (me == 0 || me == r) status = pass(h, bodies);
    }
  }
  return status;
}

TlStatus tl_hand_out(TlComm *comm, int64_t count,
                     TlStatus (*make)(void *context, int64_t i, TlBodies *bodies), void *context,
                     TlBodies *bodies) {
  Hand h = {.all = count, .make = make, .context = context, .exchange = {.comm = comm}};
  h.moves.bodies = &h.block;
  TlStatus status = tl_comm_most_int(comm, &h.all, 1);
  if (status == TL_OK) status = hand_out(&h, bodies);
  tl_body_moves_free(&h.moves);
  tl_bodies_free(&h.block);
  tl_exchange_free(&h.exchange);
  return tl_comm_agree(comm, status);
}
