/* Contacts that outlive the step: the memory that starts the next one, and rows for measures. */
#include "model/ground_law.h"
#include "solve/sleep.h"
#include "solve/step_impulses.h"

#include <math.h>

/* ---- memory of contacts ---- */

TlVec3 tl_step_impulse(const TlContact *c) {
  return tl_add(c->impulse, tl_contact_rest(c));
}

static TlStatus keep_sleeping(const TlColliders *x, const TlContact *c, TlPairRows *rows) {
  TL_TRY(tl_pair_rows_reserve(rows, TL_SLEEPING, rows->count + 1));
  ((TlSleepingContact *)rows->row)[rows->count++] =
      (TlSleepingContact){.low = x->id[c->part_a],
                          .high = c->b >= 0 ? x->id[c->part_b] : -1 - c->boundary,
                          .number = c->key,
                          .impulse = tl_contact_rest(c),
                          .point = c->point,
                          .normal = c->n,
                          .gap = c->gap,
                          .size = c->size,
                          .friction = c->law->friction};
  return TL_OK;
}

TlStatus tl_step_remember(const TlFound *found, TlBodies *b) {
  TlPairRows *rows = &b->pairs.of[TL_IMPULSES];
  TL_TRY(tl_pair_rows_reserve(rows, TL_IMPULSES, (size_t)found->contacts));
  TlImpulse *impulse = rows->row;
  TlPairRows *sleeping = &b->pairs.of[TL_SLEEPING];
  size_t slept = sleeping->count;
  rows->count = 0;
  const TlColliders *x = &b->colliders;
  for (int64_t i = 0; i < x->total; i++) x->contacts[i] = 0;
  for (int32_t i = 0; i < found->contacts; i++) {
    const TlContact *c = &found->contact[i];
    if (tl_sleep_contact(b, c)) {
      TL_TRY(keep_sleeping(x, c, sleeping));
      continue;
    }
    if (c->rest.x > 0 || c->touched) {
      x->contacts[c->part_a]++;
      if (c->b >= 0) x->contacts[c->part_b]++;
    }
    if (!(c->rest.x > 0)) continue;
    impulse[rows->count++] = (TlImpulse){.low = x->id[c->part_a],
                                         .high = c->b >= 0 ? x->id[c->part_b] : -1 - c->boundary,
                                         .number = c->key,
                                         .impulse = tl_contact_rest(c)};
  }
  tl_pair_rows_sort(rows, TL_IMPULSES);
  if (sleeping->count > slept) tl_pair_rows_sort(sleeping, TL_SLEEPING);
  return TL_OK;
}

/* A body that a collision stopped short of the ground, by so much of its radius, is in its scar. */
static const double in_scar = 0.02;

/* The deepest scar since the body came down: what the normal impulse of the step stops is the
 * velocity with which it came. */
static void scar(TlBodies *b, int64_t i, const TlPairLaw *law, double impulse) {
  const TlColliders *c = &b->colliders;
  double volume = 0;
  if (!law) {
    b->scar_per_m[i] = 0;
    return;
  }
  for (int64_t k = b->first[i]; k < b->first[i] + tl_bodies_parts(b, i); k++)
    volume += c->scale[k] * c->scale[k] * c->scale[k] * c->shape[k]->volume_m3;
  double per_m = tl_scar_per_m(law, b->mass[i], volume, tl_max(0, impulse / b->mass[i]));
  b->scar_per_m[i] = tl_max(b->scar_per_m[i], per_m);
}

TlStatus tl_step_slip(TlStep *s) {
  TlBodies *b = &s->state->bodies;
  const TlFound *found = &s->work->found;
  double step_s = s->model->step_s;
  bool *slides = tl_arena_push(&s->work->arena, (size_t)b->owned, sizeof *slides);
  double *impulse = tl_arena_push(&s->work->arena, (size_t)b->owned, sizeof *impulse);
  const TlPairLaw **scars = tl_arena_push(&s->work->arena, (size_t)b->owned, sizeof(TlPairLaw *));
  if (!slides || !impulse || !scars) return TL_ENOMEM;
  for (int64_t i = 0; i < b->owned; i++) {
    slides[i] = false;
    impulse[i] = 0;
    scars[i] = NULL;
    b->drag[i] = 0;
  }
  for (int32_t k = 0; k < found->contacts; k++) {
    const TlContact *c = &found->contact[k];
    int32_t i = c->a;
    if (c->b >= 0 || i >= b->owned) continue;
    if (c->law->scar_modulus_Pa > 0 && c->gap < in_scar * b->radius[i]) scars[i] = c->law;
    if (!(c->rest.x > 0 || c->touched)) continue;
    b->drag[i] = tl_max(b->drag[i], c->law->drag_per_s);
    if (c->law->scar_modulus_Pa > 0) {
      impulse[i] += tl_dot(tl_step_impulse(c), c->n);
      scars[i] = c->law;
    }
    if (!(c->law->slip_friction > 0)) continue;
    b->slid_decay[i] =
        slides[i] ? tl_max(b->slid_decay[i], c->law->slip_decay_per_s) : c->law->slip_decay_per_s;
    slides[i] = true;
  }
  for (int64_t i = 0; i < b->owned; i++) {
    scar(b, i, scars[i], impulse[i]);
    if (slides[i])
      b->slid[i] += tl_norm(b->velocity[i]) * step_s;
    else if (b->slid[i] > 0)
      b->slid[i] *= exp(-b->slid_decay[i] * step_s);
  }
  return TL_OK;
}

TlStatus tl_step_rows_with(const TlModel *model, const TlBodies *b, const TlWorkspace *s,
                           const TlVec3 *beside, TlContactRow **rows, int64_t *count) {
  double per_s = 1 / model->step_s;
  const TlColliders *x = &b->colliders;
  TL_TRY(TL_NEW(*rows, (size_t)s->found.contacts + b->pairs.of[TL_SLEEPING].count));
  *count = 0;
  for (int32_t i = 0; i < s->found.contacts; i++) {
    const TlContact *c = &s->found.contact[i];
    if (c->a >= b->owned || !(c->rest.x > 0 || c->touched)) continue;
    if (tl_sleep_contact(b, c)) continue; /* among the rows that follow */
    TlVec3 impulse = tl_step_impulse(c);
    if (beside) impulse = tl_add(impulse, beside[i]);
    (*rows)[(*count)++] = (TlContactRow){.first = x->id[c->part_a],
                                         .second = c->b >= 0 ? x->id[c->part_b] : -1 - c->boundary,
                                         .point_m = c->point,
                                         .normal = c->n,
                                         .force_N = tl_scale(per_s, impulse),
                                         .gap_m = c->gap,
                                         .friction = c->law->friction};
  }
  return tl_sleep_rows(b, model->step_s, *rows, count);
}

TlStatus tl_step_impulse_rows(const TlModel *model, const TlBodies *b, const TlWorkspace *s,
                              TlContactRow **rows, int64_t *count) {
  return tl_step_rows_with(model, b, s, NULL, rows, count);
}
