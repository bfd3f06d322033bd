/* The points that stand for the slots of a search (narrow.h: tl_manifold), packed in lists of the
 * threads.
 *
 * Most slots are pairs that the broad phase keeps for later steps and that have no points now: space
 * for the most points of every slot was nine tenths of the memory of a loose pack. Which thread found
 * a slot's points changes where they lie, not what they are. A slot may be written again; then its new
 * points count, and the old ones stay in their list until tl_manifolds_start.
 */
#ifndef TL_CONTACT_MANIFOLDS_H
#define TL_CONTACT_MANIFOLDS_H

#include "base/mem.h"
#include "contact/narrow.h"

typedef struct TlManifoldList { /* of one thread */
  TlPoint *point;               /* owned, grows */
  size_t count, capacity;
} TlManifoldList;

typedef struct TlManifoldPlace { /* where the points of a slot lie */
  size_t first;
  int32_t thread, count;
} TlManifoldPlace;

typedef struct TlManifolds {
  TlManifoldList *list; /* [lists] owned */
  size_t lists;
  TlManifoldPlace *place; /* [slots] in the arena of tl_manifolds_start */
} TlManifolds;

void tl_manifolds_free(TlManifolds *manifolds);
/* No slot has points. For at most this many threads. Not while another thread is at it. */
TlStatus tl_manifolds_start(TlManifolds *manifolds, int threads, size_t slots, TlArena *arena);
/* *space: memory for TL_MANIFOLD_POINTS points in the list of this thread, for it to fill; the first
 * `count` of them become the slot's by tl_manifolds_keep. */
TlStatus tl_manifolds_reserve(TlManifolds *manifolds, int thread, TlPoint **space);
void tl_manifolds_keep(TlManifolds *manifolds, int thread, size_t slot, int count);

static inline int32_t tl_manifolds_count(const TlManifolds *m, size_t slot) {
  return m->place[slot].count;
}
/* The points of a slot that has some; valid until the next tl_manifolds_reserve. */
static inline const TlPoint *tl_manifolds_points(const TlManifolds *m, size_t slot) {
  const TlManifoldPlace *place = &m->place[slot];
  return m->list[place->thread].point + place->first;
}

#endif
