#include "contact/listed.h"

#include "base/mem.h"

#include <stdbool.h>
#include <string.h>

void tl_listed_free(TlListed *listed) {
  tl_free(listed->element);
  tl_free(listed->point);
  tl_free(listed->by_number);
  *listed = (TlListed){0};
}

/* The places of an element's points, new ones behind the others. */
static void list_points(TlListed *l, const int32_t point[TL_ELEMENT_POINTS], int32_t *at,
                        TlListedElement *out) {
  for (int k = 0; k < TL_ELEMENT_POINTS; k++) {
    if (at[point[k]] == 0) at[point[k]] = ++l->point_count;
    out->point[k] = at[point[k]] - 1;
  }
  out->points = l->point_count;
}

/* From where the surface has them, if they fit; none is in the listing any more. */
static void copy_points(TlListed *l, const TlElements *elements, const int32_t *number,
                        int32_t count, bool fits, int32_t *at) {
  for (int32_t i = 0; i < count; i++)
    for (int k = 0; k < TL_ELEMENT_POINTS; k++) {
      int32_t point = elements->element[number[i]].point[k], place = at[point] - 1;
      if (place < 0) continue;
      if (fits) memcpy(l->point[place], elements->point[point], sizeof *l->point);
      at[point] = 0;
    }
}

TlStatus tl_listed_make(TlListed *l, const TlElements *elements, const int32_t *number,
                        int32_t count, TlListing *listing) {
  size_t had = listing->capacity;
  l->count = l->point_count = 0;
  TL_TRY(TL_RESERVE(listing->at, listing->capacity, (size_t)elements->point_count));
  if (listing->capacity > had)
    memset(listing->at + had, 0, (listing->capacity - had) * sizeof *listing->at);
  TL_TRY(TL_RESERVE(l->element, l->element_capacity, (size_t)count));
  TL_TRY(TL_RESERVE(l->by_number, l->order_capacity, (size_t)count));
  for (int32_t i = 0; i < count; i++) __builtin_prefetch(&elements->element[number[i]]);
  for (int32_t i = 0; i < count; i++) {
    const TlElement *e = &elements->element[number[i]];
    TlListedElement *out = &l->element[i];
    *out = (TlListedElement){.number = number[i], .node = e->node, .bare = e->bare};
    memcpy(out->stretch, e->stretch, sizeof out->stretch);
    list_points(l, e->point, listing->at, out);
  }
  TlStatus status = TL_RESERVE(l->point, l->point_capacity, (size_t)l->point_count);
  copy_points(l, elements, number, count, status == TL_OK, listing->at);
  if (status != TL_OK) return status;
  l->count = count;
  return TL_OK;
}

/* Shell's sort with Ciura's gaps: there are some tens. */
void tl_listed_sort(TlListed *l) {
  static const int32_t gaps[] = {701, 301, 132, 57, 23, 10, 4, 1};
  int32_t *order = l->by_number;
  for (int32_t i = 0; i < l->count; i++) order[i] = i;
  for (size_t k = 0; k < sizeof gaps / sizeof *gaps; k++)
    for (int32_t gap = gaps[k], i = gap; i < l->count; i++) {
      int32_t moved = order[i], to = i, number = l->element[moved].number;
      for (; to >= gap && l->element[order[to - gap]].number > number; to -= gap)
        order[to] = order[to - gap];
      order[to] = moved;
    }
}
