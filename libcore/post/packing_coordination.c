#include "post/packing_measures.h"

#include "base/mem.h"

static void sum_up(const TlPacking *p, const TlRegion *region, const int64_t *points,
                   const int64_t *neighbours, TlCoordination *out) {
  int64_t n = 0, none = 0, one = 0, all_points = 0, all = 0;
  for (int64_t i = 0; i < p->grain_count; i++) {
    if (!tl_packing_in(p, region, i)) continue;
    n++;
    none += neighbours[i] == 0;
    one += neighbours[i] == 1;
    all += neighbours[i];
    all_points += points[i];
  }
  int64_t bear = n - none - one;
  out->grains = n;
  out->points = n ? (double)all_points / (double)n : NAN;
  out->neighbours = n ? (double)all / (double)n : NAN;
  out->mechanical = bear ? (double)(all - one) / (double)bear : NAN;
  out->rattlers = n ? (double)(none + one) / (double)n : NAN;
}

TlStatus tl_coordination(const TlPacking *p, const TlRegion *region, TlCoordination *out) {
  int64_t *points = NULL, *neighbours = NULL;
  *out = (TlCoordination){0};
  TlStatus status = TL_NEW(points, (size_t)p->grain_count);
  if (status == TL_OK) status = TL_NEW(neighbours, (size_t)p->grain_count);
  for (int64_t i = 0; status == TL_OK && i < p->contact_count; i++) {
    points[p->contact[i].a]++;
    if (p->contact[i].b >= 0) points[p->contact[i].b]++;
  }
  for (int64_t k = 0; status == TL_OK && k < p->pair_count; k++) {
    neighbours[p->pair[k].a]++;
    if (p->pair[k].b >= 0) neighbours[p->pair[k].b]++;
  }
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
  C(contacts_per_grain, "", "contact points a grain", row->points)                                 \
  C(neighbours_per_grain, "", "grains and boundaries that a grain touches", row->neighbours)       \
  C(mechanical_coordination, "", "neighbours of the grains that have two or more",                 \
    row->mechanical)                                                                               \
  C(rattler_share, "", "fraction of the grains that have fewer", row->rattlers)
TL_PACK_MEASURE(coordination, COLUMNS);
