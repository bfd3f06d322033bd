#include "post/packing_measures.h"

#include "base/mem.h"

TlStatus tl_balance(const TlPacking *p, const TlRegion *region, double *unbalanced) {
  TlVec3 *sum;
  int64_t grains = 0, points = 0;
  double left = 0, size = 0;
  TL_TRY(TL_NEW(sum, (size_t)p->grain_count));
  for (int64_t i = 0; i < p->grain_count; i++) { /* of each body, at the grain that stands for it */
    int64_t body = tl_pack_body(p->grain, i);
    sum[body] = tl_axpy(sum[body], p->grain[i].mass_kg, p->gravity_m_s2);
  }
  for (int64_t i = 0; i < p->contact_count; i++) {
    const TlPackContact *c = &p->contact[i];
    int64_t a = tl_pack_body(p->grain, c->a), b = c->b < 0 ? -1 : tl_pack_body(p->grain, c->b);
    sum[a] = tl_add(sum[a], c->force_N);
    if (b >= 0) sum[b] = tl_sub(sum[b], c->force_N);
    if (!tl_packing_in(p, region, c->a) && (c->b < 0 || !tl_packing_in(p, region, c->b))) continue;
    size += tl_norm(c->force_N);
    points++;
  }
  for (int64_t i = 0; i < p->grain_count; i++) {
    if (p->grain[i].fixed || tl_pack_body(p->grain, i) != i || !tl_packing_in(p, region, i))
      continue;
    left += tl_norm(sum[i]);
    grains++;
  }
  tl_free(sum);
  *unbalanced = grains && size > 0 ? left / (double)grains / (size / (double)points) : NAN;
  return TL_OK;
}

typedef struct Row {
  double unbalanced;
} Row;

static TlStatus measure(const TlPacking *p, const TlRegion *region, void *row) {
  return tl_balance(p, region, &((Row *)row)->unbalanced);
}

#define COLUMNS(C)                                                                                 \
  C(unbalanced_force, "",                                                                          \
    "mean over moving grains of |contact forces + weight| over the mean force of their points",    \
    row->unbalanced)
TL_PACK_MEASURE(balance, COLUMNS);
