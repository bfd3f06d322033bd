#include "contact/place_memory.h"

#include "base/mem.h"

#include <stdlib.h>

void tl_place_memory_free(TlPlaceMemory *memory) {
  for (size_t t = 0; t < memory->tallies; t++) {
    tl_free(memory->tally[t].places.row);
    tl_free(memory->tally[t].searches.row);
    tl_free(memory->tally[t].note);
  }
  tl_free(memory->tally);
  *memory = (TlPlaceMemory){0};
}

TlStatus tl_place_memory_start(TlPlaceMemory *memory, int threads) {
  if (memory->tallies < (size_t)threads) {
    tl_place_memory_free(memory);
    TL_TRY(TL_NEW(memory->tally, (size_t)threads));
    memory->tallies = (size_t)threads;
  }
  for (size_t t = 0; t < memory->tallies; t++) {
    TlPlaceTally *tally = &memory->tally[t];
    tally->places.count = tally->searches.count = tally->notes = 0;
  }
  return TL_OK;
}

static TlMat3 matrix_of(TlVec3 x, TlVec3 y, TlVec3 z) {
  return (TlMat3){{{x.x, x.y, x.z}, {y.x, y.y, y.z}, {z.x, z.y, z.z}}};
}

static TlVec3 row_of(const TlMat3 *m, int i) {
  return tl_vec3(m->m[i][0], m->m[i][1], m->m[i][2]);
}

void tl_place_recall(const TlPairState *pairs, int64_t low, int64_t high, TlPlacePair *pair) {
  size_t count;
  tl_place_pair_clear(pair);
  const TlPlaceSearchRow *s =
      tl_pair_rows_find(&pairs->of[TL_PLACE_SEARCHES], TL_PLACE_SEARCHES, low, high, &count);
  if (!s) return;
  pair->next_key = s->next_key;
  pair->audit_next = s->audit_next;
  pair->made = s->made;
  pair->cutoff = s->cutoff;
  pair->r0 = matrix_of(s->search_x, s->search_y, s->search_z);
  pair->t0 = s->search_t;
  pair->r1 = matrix_of(s->last_x, s->last_y, s->last_z);
  pair->t1 = s->last_t;
  const TlPlaceRow *row = tl_pair_rows_find(&pairs->of[TL_PLACES], TL_PLACES, low, high, &count);
  for (size_t i = 0; row && i < count && i < TL_PLACES_MOST; i++, row++)
    pair->place[pair->count++] = (TlKeptPlace){.x = row->x,
                                               .n = row->n,
                                               .u = row->u,
                                               .v = row->v,
                                               .bend = {row->bend_uu, row->bend_uv, row->bend_vv},
                                               .travel = row->travel,
                                               .gap = row->gap,
                                               .motion = row->motion,
                                               .last = row->last,
                                               .key = (int32_t)row->number};
}

TlStatus tl_place_note(TlPlaceTally *tally, int64_t slot, int64_t low, int64_t high,
                       const TlPlacePair *pair) {
  if (!pair->made && pair->count == 0) return TL_OK; /* nothing is known */
  TlPairRows *places = &tally->places, *searches = &tally->searches;
  TL_TRY(TL_RESERVE(tally->note, tally->capacity, tally->notes + 1));
  TL_TRY(tl_pair_rows_reserve(searches, TL_PLACE_SEARCHES, searches->count + 1));
  TL_TRY(tl_pair_rows_reserve(places, TL_PLACES, places->count + (size_t)pair->count));
  tally->note[tally->notes++] = (TlPlaceNote){slot, places->count, pair->count};
  ((TlPlaceSearchRow *)searches->row)[searches->count++] =
      (TlPlaceSearchRow){.low = low,
                         .high = high,
                         .cutoff = pair->cutoff,
                         .search_x = row_of(&pair->r0, 0),
                         .search_y = row_of(&pair->r0, 1),
                         .search_z = row_of(&pair->r0, 2),
                         .search_t = pair->t0,
                         .last_x = row_of(&pair->r1, 0),
                         .last_y = row_of(&pair->r1, 1),
                         .last_z = row_of(&pair->r1, 2),
                         .last_t = pair->t1,
                         .next_key = pair->next_key,
                         .audit_next = pair->audit_next,
                         .made = pair->made};
  for (int32_t i = 0; i < pair->count; i++) {
    const TlKeptPlace *k = &pair->place[i];
    ((TlPlaceRow *)places->row)[places->count++] = (TlPlaceRow){.low = low,
                                                                .high = high,
                                                                .number = k->key,
                                                                .x = k->x,
                                                                .n = k->n,
                                                                .u = k->u,
                                                                .v = k->v,
                                                                .bend_uu = k->bend[0],
                                                                .bend_uv = k->bend[1],
                                                                .bend_vv = k->bend[2],
                                                                .travel = k->travel,
                                                                .gap = k->gap,
                                                                .motion = k->motion,
                                                                .last = k->last};
  }
  return TL_OK;
}

static void swap(TlPairRows *a, TlPairRows *b) {
  TlPairRows t = *a;
  *a = *b;
  *b = t;
}

/* Each list is in order: the lowest slot of all comes next. The state's rows of the last step were all
 * recalled by now, so the new ones take their place. */
TlStatus tl_place_commit(TlPlaceMemory *memory, TlPairState *pairs) {
  size_t places = 0, searches = 0, *next;
  TlPairRows *to_places = &pairs->of[TL_PLACES], *to_searches = &pairs->of[TL_PLACE_SEARCHES];
  if (memory->tallies == 1 || memory->tally[1].notes == 0) { /* one list is the order itself */
    bool alone = true;
    for (size_t t = 1; t < memory->tallies; t++) alone = alone && memory->tally[t].notes == 0;
    if (alone) {
      swap(&pairs->of[TL_PLACES], &memory->tally[0].places);
      swap(&pairs->of[TL_PLACE_SEARCHES], &memory->tally[0].searches);
      return TL_OK;
    }
  }
  for (size_t t = 0; t < memory->tallies; t++) {
    places += memory->tally[t].places.count;
    searches += memory->tally[t].searches.count;
  }
  TL_TRY(tl_pair_rows_reserve(to_places, TL_PLACES, places));
  TL_TRY(tl_pair_rows_reserve(to_searches, TL_PLACE_SEARCHES, searches));
  TL_TRY(TL_NEW(next, memory->tallies));
  to_places->count = to_searches->count = 0;
  while (to_searches->count < searches) {
    size_t best = memory->tallies;
    for (size_t t = 0; t < memory->tallies; t++) {
      const TlPlaceTally *one = &memory->tally[t];
      if (next[t] == one->notes) continue;
      if (best == memory->tallies ||
          one->note[next[t]].slot < memory->tally[best].note[next[best]].slot)
        best = t;
    }
    const TlPlaceTally *from = &memory->tally[best];
    const TlPlaceNote *note = &from->note[next[best]];
    ((TlPlaceSearchRow *)to_searches->row)[to_searches->count++] =
        ((const TlPlaceSearchRow *)from->searches.row)[next[best]++];
    for (int32_t i = 0; i < note->count; i++)
      ((TlPlaceRow *)to_places->row)[to_places->count++] =
          ((const TlPlaceRow *)from->places.row)[note->first + (size_t)i];
  }
  tl_free(next);
  return TL_OK;
}
