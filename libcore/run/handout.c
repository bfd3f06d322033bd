#include "run/handout.h"

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

/* One block goes from rank 0 to this rank, or from it to another. */
static TlStatus pass(Hand *h, int other, int64_t count, TlBodies *bodies) {
  TlExchange *x = &h->exchange;
  TlBodyMoves arriving = {.bodies = bodies};
  TlParcels out = tl_bodies_to_own(&h->moves), in = tl_bodies_to_own(&arriving);
  int64_t came;
  for (int64_t i = 0; i < count; i++) h->leaving[i] = i;
  TL_TRY(tl_body_moves_list(&h->moves, h->leaving, count));
  tl_exchange_clear(x);
  TL_TRY(tl_exchange_peer(x, other));
  for (int64_t i = 0; i < count; i++) TL_TRY(tl_exchange_add(x, &out, i));
  TL_TRY(tl_exchange_meet(x));
  TL_TRY(tl_exchange_reserve(x, 0));
  tl_exchange_pack(x, &out);
  TL_TRY(tl_exchange_post(x, 0));
  TL_TRY(tl_comm_wait(x->comm, &x->batch));
  return tl_exchange_take(x, &in, &came);
}

static TlStatus hand_out(Hand *h, TlBodies *bodies) {
  TlComm *comm = h->exchange.comm;
  int me = tl_comm_rank(comm), ranks = tl_comm_size(comm);
  for (int r = 0; r < ranks; r++) {
    int64_t end = h->all * (r + 1) / ranks;
    for (int64_t first = h->all * r / ranks; first < end; first += BLOCK) {
      int64_t n = end - first < BLOCK ? end - first : BLOCK;
      TlBodies *to = r == 0 ? bodies : &h->block;
      if (me != 0 && me != r) continue;
      tl_bodies_clear(&h->block);
      for (int64_t i = 0; me == 0 && i < n; i++) TL_TRY(h->make(h->context, first + i, to));
      if (r != 0) TL_TRY(pass(h, me == 0 ? r : 0, h->block.owned, bodies));
    }
  }
  return TL_OK;
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
