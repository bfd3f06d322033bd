#include "solve/nearby.h"

#include "solve/islands.h"
#include "solve/sleep.h"

#include <math.h>

/* Travel of the fastest in a step over the smallest radius: below it neighbourhoods are not told apart. */
static const double SLOW = 0.02;

/* Pairs whose spheres of reach overlap, but for those of bodies that do not move. */
static TlStatus list_pairs(const TlStep *s, TlPair **pairs, int32_t *count) {
  const TlBodies *b = &s->state->bodies;
  const TlColliders *c = &b->colliders;
  const TlBodyPairs *all = &s->work->near.broad.pairs;
  *pairs = tl_arena_push(&s->work->arena, all->count + 1, sizeof **pairs);
  *count = 0;
  if (!*pairs) return TL_ENOMEM;
  for (size_t i = 0; i < all->count; i++) {
    int32_t x = all->pair[i].a, y = all->pair[i].b, one = c->body[x], two = c->body[y];
    double reach = c->reach[x] + c->reach[y];
    if (tl_sleep_still(b, one) && tl_sleep_still(b, two)) continue;
    if (!(tl_norm2(tl_sub(c->position[x], c->position[y])) < reach * reach)) continue;
    (*pairs)[(*count)++] =
        (TlPair){.low = c->id[x], .high = c->id[y], .a = one, .b = two, .elsewhere = x >= c->owned};
  }
  return TL_OK;
}

static TlStatus prepare(const TlStep *s, TlPair **pairs, int32_t *count, double **speed) {
  TlWorkspace *w = s->work;
  const TlBodies *b = &s->state->bodies;
  TL_TRY(tl_near_update(&w->near, b, s->model->boundary_count, s->model->step_s, &w->arena));
  TL_TRY(list_pairs(s, pairs, count));
  *speed = tl_arena_push(&w->arena, (size_t)b->total, sizeof **speed);
  if (!*speed) return TL_ENOMEM;
  for (int64_t i = 0; i < b->total; i++) (*speed)[i] = tl_step_reaching_speed(s, i);
  return TL_OK;
}

TlStatus tl_nearby_speeds(const TlStep *s, const double **nearby) {
  const TlBodies *b = &s->state->bodies;
  TlPair *pairs = NULL;
  TlIslands is;
  int32_t count = 0;
  double *speed = NULL;
  *nearby = NULL;
  if (s->work->speed_max * s->model->step_s <= SLOW * s->work->radius_least) return TL_OK;
  TL_TRY(tl_step_together(s->sync, prepare(s, &pairs, &count, &speed)));
  const TlDynamics masses = {.inverse_mass = b->inverse_mass};
  const TlMovers movers = tl_movers(b, &masses);
  TL_TRY(tl_islands_find(&movers, pairs, count, s->sync, &s->work->arena, &is));
  double *least = tl_arena_push(&s->work->arena, (size_t)is.count + 1, sizeof *least);
  double *shared = tl_arena_push(&s->work->arena, (size_t)is.shared + 1, sizeof *shared);
  TL_TRY(tl_step_together(s->sync, least && shared ? TL_OK : TL_ENOMEM));
  for (int32_t i = 0; i < is.count; i++) least[i] = 0;
  for (int32_t k = 0; k < is.shared; k++) shared[k] = 0;
  for (int64_t i = 0; i < b->total; i++) {
    int32_t island = is.of_body[i];
    if (island >= 0) least[island] = fmin(least[island], -speed[i]);
  }
  for (int32_t i = 0; i < is.count; i++) {
    int32_t k = is.island[i].number;
    if (k >= 0) shared[k] = fmin(shared[k], least[i]);
  }
  if (is.shared > 0) TL_TRY(tl_sync_least(s->sync, shared, is.shared));
  for (int64_t i = 0; i < b->total; i++) {
    int32_t island = is.of_body[i];
    if (island < 0) continue;
    int32_t k = is.island[island].number;
    speed[i] = -(k >= 0 ? shared[k] : least[island]);
  }
  *nearby = speed;
  return TL_OK;
}
