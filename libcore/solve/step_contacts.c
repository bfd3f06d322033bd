/* Contacts that outlive the step: the memory that starts the next one, and rows for measures. */
#include "solve/step_impulses.h"

/* ---- memory of contacts ---- */

static TlVec3 rest_impulse(const TlContact *c) {
  return tl_axpy(tl_axpy(tl_scale(c->rest.x, c->n), c->rest.y, c->t1), c->rest.z, c->t2);
}

TlVec3 tl_step_impulse(const TlContact *c) {
  return tl_add(c->impulse, rest_impulse(c));
}

TlStatus tl_step_remember(const TlFound *found, TlBodies *b) {
  TlPairRows *rows = &b->pairs.of[TL_IMPULSES];
  TL_TRY(tl_pair_rows_reserve(rows, TL_IMPULSES, (size_t)found->contacts));
  TlImpulse *impulse = rows->row;
  rows->count = 0;
  const TlColliders *x = &b->colliders;
  for (int64_t i = 0; i < x->total; i++) x->contacts[i] = 0;
  for (int32_t i = 0; i < found->contacts; i++) {
    const TlContact *c = &found->contact[i];
    if (c->rest.x > 0 || c->touched) {
      x->contacts[c->part_a]++;
      if (c->b >= 0) x->contacts[c->part_b]++;
    }
    if (!(c->rest.x > 0)) continue;
    impulse[rows->count++] = (TlImpulse){.low = x->id[c->part_a],
                                         .high = c->b >= 0 ? x->id[c->part_b] : -1 - c->boundary,
                                         .number = c->key,
                                         .impulse = rest_impulse(c)};
  }
  tl_pair_rows_sort(rows, TL_IMPULSES);
  return TL_OK;
}

TlStatus tl_step_impulse_rows(const TlModel *model, const TlBodies *b, const TlWorkspace *s,
                              TlContactRow **rows, int64_t *count) {
  double per_s = 1 / model->step_s;
  const TlColliders *x = &b->colliders;
  TL_TRY(TL_NEW(*rows, (size_t)s->found.contacts));
  *count = 0;
  for (int32_t i = 0; i < s->found.contacts; i++) {
    const TlContact *c = &s->found.contact[i];
    if (c->a >= b->owned || !(c->rest.x > 0 || c->touched)) continue;
    (*rows)[(*count)++] = (TlContactRow){.first = x->id[c->part_a],
                                         .second = c->b >= 0 ? x->id[c->part_b] : -1 - c->boundary,
                                         .point_m = c->point,
                                         .normal = c->n,
                                         .force_N = tl_scale(per_s, tl_step_impulse(c)),
                                         .gap_m = c->gap,
                                         .friction = c->law->friction};
  }
  return TL_OK;
}
