/* The places of pairs (places.h) as rows of the state: read from those of the last step, written for the
 * next one.
 *
 * A scan over pairs recalls what a pair knew from the rows that the state holds, and notes what it knows
 * now in lists of its threads, by the slot of the pair. When all are done the lists become the state's
 * rows, in the order of slots, which is that of ids. A pair that is not noted is forgotten. Whoever asks
 * between two scans (a second look at moved grains) recalls and notes nothing.
 */
#ifndef TL_CONTACT_PLACE_MEMORY_H
#define TL_CONTACT_PLACE_MEMORY_H

#include "contact/places.h"
#include "model/pair_state.h"

typedef struct TlPlaceNote { /* what a slot left in its thread's lists */
  int64_t slot;
  size_t first; /* of its places */
  int32_t count;
} TlPlaceNote;

typedef struct TlPlaceTally { /* of one thread; one search a note */
  TlPairRows places, searches;
  TlPlaceNote *note;
  size_t notes, capacity;
} TlPlaceTally;

typedef struct TlPlaceMemory {
  TlPlaceTally *tally; /* [tallies] owned */
  size_t tallies;
} TlPlaceMemory;
void tl_place_memory_free(TlPlaceMemory *memory);

/* Before a scan: empties the lists of this many threads. */
TlStatus tl_place_memory_start(TlPlaceMemory *memory, int threads);
/* Of a pair of collider ids; zeroed where nothing is known. */
void tl_place_recall(const TlPairState *pairs, int64_t low, int64_t high, TlPlacePair *pair);
/* The slots of one thread come in ascending order. */
TlStatus tl_place_note(TlPlaceTally *tally, int64_t slot, int64_t low, int64_t high,
                       const TlPlacePair *pair);
/* After a scan: what was noted becomes the state's, in the order of slots. */
TlStatus tl_place_commit(TlPlaceMemory *memory, TlPairState *pairs);

#endif
