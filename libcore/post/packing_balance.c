#include "post/packing_balance.h"

#include "base/mem.h"

TlStatus tl_balance(const TlPacking *p, const TlRegion *region, double *unbalanced) {
  TlVec3 *sum;
  int64_t grains = 0, points = 0;
  double left = 0, size = 0;
  TL_TRY(TL_NEW(sum, (size_t)p->grain_count));
  for (int64_t i = 0; i < p->grain_count; i++)
    sum[i] = tl_scale(p->grain[i].mass_kg, p->gravity_m_s2);
  for (int64_t i = 0; i < p->contact_count; i++) {
    const TlPackContact *c = &p->contact[i];
    sum[c->a] = tl_add(sum[c->a], c->force_N);
    if (c->b >= 0) sum[c->b] = tl_sub(sum[c->b], c->force_N);
    if (!tl_packing_in(p, region, c->a) && (c->b < 0 || !tl_packing_in(p, region, c->b))) continue;
    size += tl_norm(c->force_N);
    points++;
  }
  for (int64_t i = 0; i < p->grain_count; i++) {
    if (p->grain[i].fixed || !tl_packing_in(p, region, i)) continue;
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
