#include "contact/manifolds.h"

#include "base/mem.h"

#include <string.h>

void tl_manifolds_free(TlManifolds *m) {
  for (size_t t = 0; t < m->lists; t++) tl_free(m->list[t].point);
  tl_free(m->list);
  *m = (TlManifolds){0};
}

TlStatus tl_manifolds_start(TlManifolds *m, int threads, size_t slots, TlArena *arena) {
  if (m->lists < (size_t)threads) {
    tl_manifolds_free(m);
    TL_TRY(TL_NEW(m->list, (size_t)threads));
    m->lists = (size_t)threads;
  }
  for (size_t t = 0; t < m->lists; t++) m->list[t].count = 0;
  m->place = tl_arena_push(arena, slots, sizeof *m->place);
  if (!m->place) return TL_ENOMEM;
  memset(m->place, 0, slots * sizeof *m->place);
  return TL_OK;
}

TlStatus tl_manifolds_reserve(TlManifolds *m, int thread, TlPoint **space) {
  TlManifoldList *list = &m->list[thread];
  TL_TRY(TL_RESERVE(list->point, list->capacity, list->count + TL_MANIFOLD_POINTS));
  *space = list->point + list->count;
  return TL_OK;
}

void tl_manifolds_keep(TlManifolds *m, int thread, size_t slot, int count) {
  TlManifoldList *list = &m->list[thread];
  m->place[slot] = (TlManifoldPlace){list->count, thread, count};
  list->count += (size_t)count;
}
