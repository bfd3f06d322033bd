#include "solve/queue.h"

#include "num/sort.h"

#include <stdlib.h>

static void put(TlQueue *q, int32_t place, int32_t entry) {
  q->heap[place] = entry;
  q->slot[entry] = place;
}

static void sift_up(TlQueue *q, int32_t place) {
  int32_t entry = q->heap[place];
  for (int32_t parent; place > 0; place = parent) {
    parent = (place - 1) / 2;
    if (!(q->key[entry] < q->key[q->heap[parent]])) break;
    put(q, place, q->heap[parent]);
  }
  put(q, place, entry);
}

static void sift_down(TlQueue *q, int32_t place) {
  int32_t entry = q->heap[place];
  for (int32_t child; (child = 2 * place + 1) < q->count; place = child) {
    if (child + 1 < q->count && q->key[q->heap[child + 1]] < q->key[q->heap[child]]) child++;
    if (!(q->key[q->heap[child]] < q->key[entry])) break;
    put(q, place, q->heap[child]);
  }
  put(q, place, entry);
}

void tl_queue_build(TlQueue *q) {
  if (!q->is_heap) return;
  for (int32_t i = 0; i < q->count; i++) put(q, i, i);
  for (int32_t i = q->count / 2; i-- > 0;) sift_down(q, i);
}

void tl_queue_set(TlQueue *q, int32_t entry, double key) {
  double old = q->key[entry];
  q->key[entry] = key;
  if (!q->is_heap || key == old) return;
  if (key < old)
    sift_up(q, q->slot[entry]);
  else
    sift_down(q, q->slot[entry]);
}

/* Four strands, so that the comparisons overlap (and become vector code). */
static double scan(const double *key, int32_t count) {
  double least[4] = {0, 0, 0, 0};
  int32_t i = 0;
  for (; i + 4 <= count; i += 4)
    for (int k = 0; k < 4; k++) least[k] = key[i + k] < least[k] ? key[i + k] : least[k];
  for (; i < count; i++) least[0] = key[i] < least[0] ? key[i] : least[0];
  for (int k = 1; k < 4; k++) least[0] = least[k] < least[0] ? least[k] : least[0];
  return least[0];
}

/* Keys are <= 0. */
double tl_queue_least(const TlQueue *q) {
  if (q->count == 0) return 0;
  return q->is_heap ? q->key[q->heap[0]] : scan(q->key, q->count);
}

/* Those under the bound form the top of the heap: walk it, the list itself being the queue. */
static int32_t walk_top(TlQueue *q, double bound) {
  int32_t count = 0;
  if (q->key[q->heap[0]] <= bound) q->found[count++] = 0;
  for (int32_t i = 0; i < count; i++)
    for (int32_t child = 2 * q->found[i] + 1; child < q->count && child <= 2 * q->found[i] + 2;
         child++)
      if (q->key[q->heap[child]] <= bound) q->found[count++] = child;
  for (int32_t i = 0; i < count; i++) q->found[i] = q->heap[q->found[i]];
  if (count > 1) qsort(q->found, (size_t)count, sizeof *q->found, tl_by_int32);
  return count;
}

int32_t tl_queue_under(TlQueue *q, double bound) {
  int32_t count = 0;
  if (q->count == 0) return 0;
  if (q->is_heap) return walk_top(q, bound);
  for (int32_t i = 0; i < q->count; i++)
    if (q->key[i] <= bound) q->found[count++] = i;
  return count;
}
