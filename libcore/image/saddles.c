#include "image/saddles.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

struct TlSaddleTable {
  TlSaddle *saddle;
  size_t count, capacity;
  uint32_t *slot; /* index + 1 into saddle; 0: free */
  size_t slots;   /* a power of two, at least twice the count */
  size_t last;    /* index + 1 met last: neighbours along a row mostly share their pair */
};

int tl_saddle_order(const void *left, const void *right) {
  const TlSaddle *a = left, *b = right;
  if (a->level != b->level) return a->level > b->level ? -1 : 1;
  if (a->low != b->low) return a->low < b->low ? -1 : 1;
  return a->other < b->other ? -1 : a->other > b->other;
}

TlStatus tl_saddles_open(TlSaddleTable **table) {
  TL_TRY(TL_NEW(*table, 1));
  (*table)->slots = 1024;
  return TL_NEW((*table)->slot, (*table)->slots);
}

void tl_saddles_free(TlSaddleTable *t) {
  if (!t) return;
  tl_free(t->saddle);
  tl_free(t->slot);
  tl_free(t);
}

/* The slot of this pair: its own or the free one where it belongs. */
static size_t slot_of(const TlSaddleTable *t, uint32_t a, uint32_t b) {
  uint64_t key = ((uint64_t)a << 32 | b) * UINT64_C(0x9E3779B97F4A7C15);
  size_t at = (size_t)(key >> 20) & (t->slots - 1);
  while (t->slot[at]) {
    const TlSaddle *s = &t->saddle[t->slot[at] - 1];
    if (s->a == a && s->b == b) break;
    at = (at + 1) & (t->slots - 1);
  }
  return at;
}

static TlStatus grow(TlSaddleTable *t) {
  uint32_t *old = t->slot;
  t->slots *= 2;
  if (TL_NEW(t->slot, t->slots) != TL_OK) {
    t->slot = old;
    t->slots /= 2;
    return TL_ENOMEM;
  }
  tl_free(old);
  for (size_t i = 0; i < t->count; i++)
    t->slot[slot_of(t, t->saddle[i].a, t->saddle[i].b)] = (uint32_t)i + 1;
  return TL_OK;
}

static TlStatus place(TlSaddleTable *t, uint32_t a, uint32_t b, TlSaddle **found) {
  const TlSaddle *last = t->last ? &t->saddle[t->last - 1] : NULL;
  if (!last || last->a != a || last->b != b) {
    if (2 * (t->count + 1) > t->slots) TL_TRY(grow(t));
    size_t at = slot_of(t, a, b);
    if (t->slot[at] == 0) {
      TL_TRY(TL_RESERVE(t->saddle, t->capacity, t->count + 1));
      t->saddle[t->count] = (TlSaddle){.a = a, .b = b, .level = -1, .low = -1};
      t->slot[at] = (uint32_t)++t->count;
    }
    t->last = t->slot[at];
  }
  *found = &t->saddle[t->last - 1];
  return TL_OK;
}

static void take_higher(TlSaddle *best, const TlSaddle *other) {
  if (best->low >= 0 && tl_saddle_order(other, best) >= 0) return;
  best->level = other->level;
  best->low = other->low;
  best->other = other->other;
}

TlStatus tl_saddles_meet(TlSaddleTable *t, uint32_t a, uint32_t b, int64_t p, float fp, int64_t q,
                         float fq, int axis, int32_t dip) {
  int p_is_low = fp < fq || (fp == fq && p > q);
  TlSaddle here = {.a = a < b ? a : b,
                   .b = a < b ? b : a,
                   .level = p_is_low ? fp : fq,
                   .low = p_is_low ? p : q,
                   .other = p_is_low ? q : p};
  TlSaddle *best;
  TL_TRY(place(t, here.a, here.b, &best));
  if (axis >= 0) best->faces[axis]++;
  if (axis >= 0 && dip >= 0) {
    best->inner++;
    best->dip += (uint32_t)dip;
  }
  take_higher(best, &here);
  return TL_OK;
}

static void add_shared(TlSaddle *to, const TlSaddle *from) {
  for (int k = 0; k < 3; k++) to->faces[k] += from->faces[k];
  to->dip += from->dip;
  to->inner += from->inner;
}

TlStatus tl_saddles_add(TlSaddleTable *t, uint32_t a, uint32_t b, const TlSaddle *pass) {
  TlSaddle *best;
  TL_TRY(place(t, a < b ? a : b, a < b ? b : a, &best));
  add_shared(best, pass);
  take_higher(best, pass);
  return TL_OK;
}

size_t tl_saddles_count(const TlSaddleTable *t) {
  return t->count;
}

const TlSaddle *tl_saddles_all(const TlSaddleTable *t) {
  return t->saddle;
}

void tl_saddles_clear(TlSaddleTable *t) {
  memset(t->slot, 0, t->slots * sizeof *t->slot);
  t->count = t->last = 0;
}

static int by_pair(const void *left, const void *right) {
  const TlSaddle *a = left, *b = right;
  if (a->a != b->a) return a->a < b->a ? -1 : 1;
  if (a->b != b->b) return a->b < b->b ? -1 : 1;
  return tl_saddle_order(a, b);
}

void tl_saddles_merge(TlSaddle *saddle, size_t *count) {
  size_t kept = 0, merged = 0;
  for (size_t i = 0; i < *count; i++) {
    TlSaddle s = saddle[i];
    if (s.a == s.b) continue;
    s.a = saddle[i].a < saddle[i].b ? saddle[i].a : saddle[i].b;
    s.b = saddle[i].a < saddle[i].b ? saddle[i].b : saddle[i].a;
    saddle[kept++] = s;
  }
  if (kept > 1) qsort(saddle, kept, sizeof *saddle, by_pair);
  for (size_t i = 0; i < kept; i++) {
    TlSaddle *last = merged ? &saddle[merged - 1] : NULL;
    if (!last || last->a != saddle[i].a || last->b != saddle[i].b) {
      saddle[merged++] = saddle[i];
      continue;
    }
    add_shared(last, &saddle[i]);
  }
  *count = merged;
}
