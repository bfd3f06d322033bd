#include "post/packing_measures.h"

#include "base/mem.h"

#include <stdlib.h>

/* Bodies stand under the index of the grain that stands for them (tl_pack_body). */
static void sum_up(const TlPacking *p, const TlRegion *region, const int64_t *points,
                   const int64_t *neighbours, TlCoordination *out) {
  int64_t n = 0, none = 0, one = 0, all_points = 0, all = 0;
  for (int64_t i = 0; i < p->grain_count; i++) {
    if (tl_pack_body(p->grain, i) != i || !tl_packing_body_in(p, region, i)) continue;
    n++;
    none += neighbours[i] == 0;
    one += neighbours[i] == 1;
    all += neighbours[i];
    all_points += points[i];
  }
  int64_t bear = n - none - one;
  out->bodies = n;
  out->points = n ? (double)all_points / (double)n : NAN;
  out->neighbours = n ? (double)all / (double)n : NAN;
  out->mechanical = bear ? (double)(all - one) / (double)bear : NAN;
  out->rattlers = n ? (double)(none + one) / (double)n : NAN;
}

typedef struct Pair {
  int64_t a, b; /* bodies, or b < 0: a boundary */
} Pair;

static int compare(const void *x, const void *y) {
  const Pair *p = x, *q = y;
  if (p->a != q->a) return p->a < q->a ? -1 : 1;
  return (p->b > q->b) - (p->b < q->b);
}

/* Two bodies are neighbours once, however many of their parts touch. */
static TlStatus count_neighbours(const TlPacking *p, int64_t *neighbours) {
  Pair *pair;
  TL_TRY(TL_NEW(pair, (size_t)p->pair_count));
  for (int64_t k = 0; k < p->pair_count; k++) {
    int64_t a = tl_pack_body(p->grain, p->pair[k].a), b = p->pair[k].b;
    if (b >= 0) b = tl_pack_body(p->grain, b);
    pair[k] = b >= 0 && b < a ? (Pair){b, a} : (Pair){a, b};
  }
  if (p->pair_count) qsort(pair, (size_t)p->pair_count, sizeof *pair, compare);
  for (int64_t k = 0; k < p->pair_count; k++) {
    if (k && compare(&pair[k - 1], &pair[k]) == 0) continue;
    neighbours[pair[k].a]++;
    if (pair[k].b >= 0) neighbours[pair[k].b]++;
  }
  tl_free(pair);
  return TL_OK;
}

TlStatus tl_coordination(const TlPacking *p, const TlRegion *region, TlCoordination *out) {
  int64_t *points = NULL, *neighbours = NULL;
  *out = (TlCoordination){0};
  TlStatus status = TL_NEW(points, (size_t)p->grain_count);
  if (status == TL_OK) status = TL_NEW(neighbours, (size_t)p->grain_count);
  for (int64_t i = 0; status == TL_OK && i < p->contact_count; i++) {
    points[tl_pack_body(p->grain, p->contact[i].a)]++;
    if (p->contact[i].b >= 0) points[tl_pack_body(p->grain, p->contact[i].b)]++;
  }
  if (status == TL_OK) status = count_neighbours(p, neighbours);
  if (status == TL_OK) sum_up(p, region, points, neighbours, out);
  tl_free(points);
  tl_free(neighbours);
  return status;
}

typedef TlCoordination Row;

static TlStatus measure(const TlPacking *p, const TlRegion *region, void *row) {
  return tl_coordination(p, region, row);
}

#define COLUMNS(C)                                                                                 \
  C(contacts_per_grain, "", "contact points a body; a body of several parts counts once",          \
    row->points)                                                                                   \
  C(neighbours_per_grain, "", "bodies and boundaries that a body touches", row->neighbours)        \
  C(mechanical_coordination, "", "neighbours of the bodies that have two or more",                 \
    row->mechanical)                                                                               \
  C(rattler_share, "", "fraction of the bodies that have fewer", row->rattlers)
TL_PACK_MEASURE(coordination, COLUMNS);
