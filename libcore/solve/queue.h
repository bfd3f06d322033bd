/* The least of many keys that change one by one: a scan of the bare keys while they are few (up to
 * some 800 that is faster than mending a heap after each impulse), an indexed binary heap above.
 * Both give the same answers. Memory is the caller's (arena or heap), `count` entries each.
 */
#ifndef TL_SOLVE_QUEUE_H
#define TL_SOLVE_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

enum { TL_QUEUE_HEAP_FROM = 800 };

typedef struct TlQueue {
  double *key;
  int32_t *heap, *slot; /* entry at each place of the heap, place of each entry */
  int32_t *found;       /* what tl_queue_under found */
  int32_t count;
  bool is_heap;
} TlQueue;

/* After key[0 .. count) was written as a whole. */
void tl_queue_build(TlQueue *queue);
void tl_queue_set(TlQueue *queue, int32_t entry, double key);
double tl_queue_least(const TlQueue *queue);
/* Entries with key <= bound into found, ascending; returns how many. */
int32_t tl_queue_under(TlQueue *queue, double bound);

#endif
