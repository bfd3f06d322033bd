/* Things that travel between ranks: each rank lists what goes to whom, and takes in what comes.
 *
 * What they are, only their TlParcels know (model/record.h): ghosts, bodies that move to another
 * rank and bodies that are handed out at the start travel alike. What comes is taken in by rank, in
 * the order of the sender's list.
 *
 * Use: tl_exchange_clear; for each peer tl_exchange_peer, then tl_exchange_add for each thing; one of
 * the two tl_exchange_meet; tl_exchange_reserve, which alone asks for memory, so that ranks can agree
 * before they wait for each other; tl_exchange_pack; tl_exchange_post and tl_comm_wait;
 * tl_exchange_take.
 */
#ifndef TL_DIST_EXCHANGE_H
#define TL_DIST_EXCHANGE_H

#include "base/comm.h"
#include "model/record.h"

typedef struct TlPeer {
  int rank;
  int64_t out_first, out_count; /* in TlExchange.item */
  int64_t in_first, in_count;   /* of all that comes, once tl_exchange_meet has said it */
  int64_t out_bytes, in_bytes;
} TlPeer;

typedef struct TlExchange {
  TlComm *comm; /* borrowed */
  TlPeer *peer;
  size_t peers, peer_capacity;
  int64_t *item; /* numbers of what goes out, by peer */
  size_t items, item_capacity;
  int64_t *counts; /* of things and bytes, on their way */
  size_t counts_capacity;
  unsigned char *out, *in;
  size_t out_capacity, in_capacity;
  TlCommBatch batch;
} TlExchange;

void tl_exchange_free(TlExchange *exchange);

/* No peers, nothing listed; memory is kept. */
void tl_exchange_clear(TlExchange *exchange);
/* The next peer, by rising rank. */
TlStatus tl_exchange_peer(TlExchange *exchange, int rank);
/* Thing `index` goes to the last peer. */
TlStatus tl_exchange_add(TlExchange *exchange, const TlParcels *parcels, int64_t index);

/* How much comes from each peer. Who has a peer must be that one's peer too. */
TlStatus tl_exchange_meet(TlExchange *exchange);
/* The same when all ranks, this one too, are peers of all; in_count stays 0. Collective. */
TlStatus tl_exchange_meet_all(TlExchange *exchange);

/* Memory for messages with an element of this size a thing, or (0) with the things themselves. */
TlStatus tl_exchange_reserve(TlExchange *exchange, size_t size);
/* Fills `out` with the things. */
void tl_exchange_pack(TlExchange *exchange, const TlParcels *parcels);
/* Sends `out`, to be received in `in` (size as in tl_exchange_reserve); done after tl_comm_wait on
 * the batch. */
TlStatus tl_exchange_post(TlExchange *exchange, size_t size);
/* What came in `in`; *came: how many. */
TlStatus tl_exchange_take(TlExchange *exchange, const TlParcels *parcels, int64_t *came);

/* Bytes of all that goes out, and of all that comes. */
int64_t tl_exchange_out_bytes(const TlExchange *exchange);
int64_t tl_exchange_in_bytes(const TlExchange *exchange);

#endif
