#include "solve/sleep.h"

#include "base/random.h"
#include "num/sort.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool may_sleep(const TlModel *m) {
  return tl_method(m->method)->sleeps && m->impulses.sleep_speed > 0;
}

/* ---- who is who ---- */

static bool is_among(const int64_t *list, size_t count, int64_t id) {
  return bsearch(&id, list, count, sizeof id, tl_by_int) != NULL;
}

/* Colliders of this rank by their ids. */
typedef struct ById {
  int64_t id;
  int32_t at;
} ById;

static TlStatus order_colliders(const TlColliders *c, ById **order) {
  TL_TRY(TL_NEW(*order, (size_t)c->total + 1));
  for (int64_t k = 0; k < c->total; k++) (*order)[k] = (ById){c->id[k], (int32_t)k};
  qsort(*order, (size_t)c->total, sizeof **order, tl_by_int);
  return TL_OK;
}

/* -1: it is not here. */
static int32_t find_collider(const TlColliders *c, const ById *order, int64_t id) {
  const ById *at = bsearch(&id, order, (size_t)c->total, sizeof *order, tl_by_int);
  return at ? at->at : -1;
}

/* ---- waking ---- */

/* Rows of pairs that sleep no more go back to where the step looks for them. A sleeping row is of one
 * island, or of an island and what is fixed: one end tells. */
typedef struct Waking {
  const TlColliders *colliders;
  const TlBodies *bodies;
  const ById *order;
} Waking;

static bool still_sleeps(const void *context, const TlPairKey *key) {
  const Waking *w = context;
  const int64_t ends[2] = {key->low, key->high};
  for (int k = 0; k < 2; k++) {
    int32_t at = ends[k] < 0 ? -1 : find_collider(w->colliders, w->order, ends[k]);
    if (at >= 0 && w->bodies->asleep[w->colliders->body[at]] != 0) return true;
  }
  return false;
}

/* Rows of a kind that `wanted` does not want go to another kind, whose rows begin with the same
 * fields. */
static TlStatus move_rows(TlPairState *pairs, TlPairKind from, TlPairKind to,
                          bool (*wanted)(const void *context, const TlPairKey *key),
                          const void *context) {
  TlPairRows *rows = &pairs->of[from], *other = &pairs->of[to];
  size_t bytes = tl_pair_record[to].bytes, kept = 0, size = tl_pair_record[from].bytes;
  TL_TRY(tl_pair_rows_reserve(other, to, other->count + rows->count));
  for (size_t i = 0; i < rows->count; i++) {
    TlPairKey key = tl_pair_key(rows, from, i);
    unsigned char *row = (unsigned char *)rows->row + i * size;
    if (wanted(context, &key)) {
      if (kept < i) memcpy((unsigned char *)rows->row + kept * size, row, size);
      kept++;
      continue;
    }
    memcpy((unsigned char *)other->row + other->count++ * bytes, row, bytes);
  }
  if (kept < rows->count) tl_pair_rows_sort(other, to);
  rows->count = kept;
  return TL_OK;
}

_Static_assert(offsetof(TlSleepingContact, impulse) == offsetof(TlImpulse, impulse),
               "a sleeping contact begins as an impulse");
_Static_assert(sizeof(TlSleepingPlace) == sizeof(TlPlaceRow), "the same fields");
_Static_assert(sizeof(TlSleepingSearch) == sizeof(TlPlaceSearchRow), "the same fields");

static TlStatus restore_rows(TlBodies *b) {
  ById *order;
  TL_TRY(order_colliders(&b->colliders, &order));
  Waking w = {&b->colliders, b, order};
  TlStatus status = move_rows(&b->pairs, TL_SLEEPING, TL_IMPULSES, still_sleeps, &w);
  if (status == TL_OK)
    status = move_rows(&b->pairs, TL_SLEEPING_PLACES, TL_PLACES, still_sleeps, &w);
  if (status == TL_OK)
    status = move_rows(&b->pairs, TL_SLEEPING_SEARCHES, TL_PLACE_SEARCHES, still_sleeps, &w);
  tl_free(order);
  return status;
}

static void wake(TlBodies *b, int64_t i) {
  b->asleep[i] = 0;
  b->quiet[i] = 0;
}

TlStatus tl_sleep_wake_all(TlBodies *b) {
  for (int64_t i = 0; i < b->total; i++) wake(b, i);
  return restore_rows(b);
}

static uint64_t mix(uint64_t key, double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return tl_random_mix((key ^ bits) + 0x9e3779b97f4a7c15u);
}

/* What a body at rest relies on. */
static int64_t key_of(const TlStep *s) {
  const TlModel *m = s->model;
  const TlImpulseOptions *o = &m->impulses;
  const TlMaterials *laws = s->materials;
  const double values[] = {
      m->gravity_m_s2.x, m->gravity_m_s2.y, m->gravity_m_s2.z,  m->step_s, m->method,
      m->search.edges,   m->search.sides,   m->search.surface,  o->rest,   o->rest_tolerance,
      o->rest_sweeps,    o->position_rate,  o->position_sweeps, o->slop,   o->sleep_speed,
      o->sleep_after,    m->boundary_count};
  uint64_t key = 1;
  for (size_t i = 0; i < sizeof values / sizeof *values; i++) key = mix(key, values[i]);
  for (int32_t i = 0; i < laws->count * laws->count; i++) {
#define F(name, ...) key = mix(key, laws->law[i].name);
    TL_CONTACT_FIELDS(F)
#undef F
  }
  for (int32_t i = 0; laws->material && i < laws->count; i++)
    key = mix(key, laws->material[i].density_kg_m3);
  for (int i = 0; i < m->boundary_count; i++)
    key = mix(key, s->work->boundary[i].drive && s->work->boundary[i].place.absent);
  return (int64_t)(key >> 1) + 1;
}

TlStatus tl_sleep_begin(const TlStep *s) {
  TlState *state = s->state;
  int64_t key = may_sleep(s->model) ? key_of(s) : 0, was = state->sleep_key;
  state->sleep_key = key;
  bool some = was != 0 || state->bodies.pairs.of[TL_SLEEPING].count > 0;
  if (!some || (key == was && key != 0)) return TL_OK;
  s->work->awake = true;
  return tl_sleep_wake_all(&state->bodies);
}

bool tl_sleep_whole(const TlStep *s) {
  bool moves = s->work->awake || s->model->net_count > 0 || !may_sleep(s->model);
  for (int k = 0; k < s->model->boundary_count; k++)
    moves |= tl_boundary_moves(&s->work->boundary[k]);
  return !moves;
}

TlStatus tl_sleep_mark(const TlStep *s, const unsigned char **still) {
  const TlBodies *b = &s->state->bodies;
  const TlColliders *c = &b->colliders;
  *still = NULL;
  if (!may_sleep(s->model)) return TL_OK;
  unsigned char *mark = tl_arena_push(&s->work->arena, (size_t)c->total, 1);
  if (!mark) return TL_ENOMEM;
  for (int64_t k = 0; k < c->total; k++) mark[k] = tl_sleep_still(b, c->body[k]);
  *still = mark;
  return TL_OK;
}

/* Islands to wake, by what their bodies have as `asleep`: those of all ranks, in order. */
static TlStatus gather(const TlSync *sync, TlArena *arena, int64_t **list, size_t *count) {
  const unsigned char *all;
  const size_t *from, *end;
  size_t n = 0;
  int some = *count > 0;
  TL_TRY(tl_sync_any(sync, &some));
  if (!some || !sync) return TL_OK;
  TL_TRY(sync->gather(sync->ctx, *list, *count * sizeof **list, &all, &from, &end));
  for (int r = 0; r < sync->ranks; r++) n += (end[r] - from[r]) / sizeof **list;
  *list = tl_arena_push(arena, n + 1, sizeof **list);
  if (!*list) return TL_ENOMEM;
  *count = 0;
  for (int r = 0; r < sync->ranks; r++) {
    memcpy(*list + *count, all + from[r], end[r] - from[r]);
    *count += (end[r] - from[r]) / sizeof **list;
  }
  return TL_OK;
}

TlStatus tl_sleep_wake_touched(const TlStep *s, bool *woke) {
  TlBodies *b = &s->state->bodies;
  const TlFound *found = &s->work->found;
  size_t n = 0;
  *woke = false;
  if (!may_sleep(s->model)) return TL_OK;
  int64_t *list =
      tl_arena_push(&s->work->arena, (size_t)b->total + 2 * (size_t)found->pairs + 1, sizeof *list);
  TL_TRY(tl_step_together(s->sync, list ? TL_OK : TL_ENOMEM));
  for (int64_t i = 0; i < b->total; i++)
    if (tl_sleep_kicked(b, i)) list[n++] = b->asleep[i];
  for (int32_t i = 0; i < found->pairs; i++) {
    const TlPair *p = &found->pair[i];
    if (b->asleep[p->a]) list[n++] = b->asleep[p->a];
    if (p->b >= 0 && b->asleep[p->b]) list[n++] = b->asleep[p->b];
  }
  TL_TRY(gather(s->sync, &s->work->arena, &list, &n));
  if (n == 0) return TL_OK;
  *woke = true;
  qsort(list, n, sizeof *list, tl_by_int);
  for (int64_t i = 0; i < b->total; i++)
    if (b->asleep[i] && is_among(list, n, b->asleep[i])) wake(b, i);
  return tl_step_together(s->sync, restore_rows(b));
}

/* ---- falling asleep ---- */

TlStatus tl_sleep_note(const TlStep *s, TlSleepPoses *poses) {
  const TlBodies *b = &s->state->bodies;
  size_t n = (size_t)b->owned;
  *poses = (TlSleepPoses){NULL, NULL};
  if (!may_sleep(s->model)) return TL_OK;
  TlVec3 *position = tl_arena_push(&s->work->arena, n, sizeof *position);
  TlQuat *rotation = tl_arena_push(&s->work->arena, n, sizeof *rotation);
  if (!position || !rotation) return TL_ENOMEM;
  if (n) memcpy(position, b->position, n * sizeof *position);
  if (n) memcpy(rotation, b->rotation, n * sizeof *rotation);
  *poses = (TlSleepPoses){position, rotation};
  return TL_OK;
}

/* |R - R0| is no more than twice |q - q0|. */
static bool at_rest(const TlStep *s, const TlSleepPoses *was, int64_t i) {
  enum {
    RESTLESS =
        TL_BODY_NET | TL_BODY_GUIDED | TL_BODY_OUTSIDE | TL_BODY_EMBEDDED | TL_BODY_UNRESOLVED
  };
  const TlModel *m = s->model;
  const TlBodies *b = &s->state->bodies;
  TlQuat q = b->rotation[i], o = was->rotation[i];
  double most = m->impulses.sleep_speed * tl_norm(m->gravity_m_s2) * m->step_s;
  double w = q.w - o.w, x = q.x - o.x, y = q.y - o.y, z = q.z - o.z;
  double travel = tl_norm(tl_sub(b->position[i], was->position[i])) +
                  2 * sqrt(w * w + x * x + y * y + z * z) * b->radius[i];
  bool trouble = b->flags[i] & RESTLESS || b->strained[i] > 0 || b->unresolved[i] > 0;
  return !trouble && !(b->slid[i] > 0) && travel <= most * m->step_s && tl_step_speed(b, i) <= most;
}

static void count_quiet(const TlStep *s, const TlIslands *islands, const TlSleepPoses *was) {
  TlBodies *b = &s->state->bodies;
  const TlFound *found = &s->work->found;
  for (int64_t i = 0; i < b->owned; i++) {
    if (b->asleep[i]) continue;
    bool rests = islands->of_body[i] >= 0 && at_rest(s, was, i);
    if (!rests)
      b->quiet[i] = 0;
    else if (b->quiet[i] < INT32_MAX)
      b->quiet[i]++;
  }
  for (int32_t i = 0; i < found->contacts; i++) {
    const TlContact *c = &found->contact[i];
    if (c->b < 0 && c->a < b->owned && tl_norm2(c->wall) > 0) b->quiet[c->a] = 0;
  }
}

static bool long_enough(const TlStep *s, int64_t i) {
  const TlModel *m = s->model;
  const TlBodies *b = &s->state->bodies;
  double fall = sqrt(b->radius[i] / tl_norm(m->gravity_m_s2));
  return b->quiet[i] > 0 && b->quiet[i] * m->step_s >= m->impulses.sleep_after * fall;
}

/* Of each island of this rank's: 0 when all its bodies rest, else -1; and their lowest id, in
 * `islands` more elements. */
static TlStatus judge(const TlStep *s, const TlIslands *is, double **verdict) {
  const TlBodies *b = &s->state->bodies;
  TlArena *arena = &s->work->arena;
  size_t n = (size_t)is->count, all = (size_t)is->shared;
  double *mine = tl_arena_push(arena, 2 * n + 1, sizeof *mine);
  double *shared = tl_arena_push(arena, 2 * all + 1, sizeof *shared);
  TL_TRY(tl_step_together(s->sync, mine && shared ? TL_OK : TL_ENOMEM));
  for (size_t i = 0; i < n; i++) {
    mine[i] = 0;
    mine[n + i] = INFINITY;
  }
  for (int64_t i = 0; i < b->owned; i++) {
    int32_t island = is->of_body[i];
    if (island < 0) continue;
    if (!long_enough(s, i)) mine[island] = -1;
    mine[n + (size_t)island] = fmin(mine[n + (size_t)island], (double)b->id[i]);
  }
  for (size_t k = 0; k < all; k++) {
    shared[k] = 0;
    shared[all + k] = INFINITY;
  }
  for (size_t i = 0; i < n; i++) {
    int32_t k = is->island[i].number;
    if (k < 0) continue;
    shared[k] = fmin(shared[k], mine[i]);
    shared[all + (size_t)k] = fmin(shared[all + (size_t)k], mine[n + i]);
  }
  if (all > 0) TL_TRY(tl_sync_least(s->sync, shared, (int)(2 * all)));
  for (size_t i = 0; i < n; i++) {
    int32_t k = is->island[i].number;
    if (k < 0) continue;
    mine[i] = shared[k];
    mine[n + i] = shared[all + (size_t)k];
  }
  *verdict = mine;
  return TL_OK;
}

TlStatus tl_sleep_fall(TlStep *s, const TlIslands *is, const TlSleepPoses *was) {
  TlBodies *b = &s->state->bodies;
  double *verdict;
  if (!may_sleep(s->model)) return TL_OK;
  count_quiet(s, is, was);
  TL_TRY(judge(s, is, &verdict));
  for (int64_t i = 0; i < b->total; i++) {
    int32_t island = is->of_body[i];
    if (island < 0 || verdict[island] < 0) continue;
    if (i < b->owned)
      tl_exact_add(&s->sums.sleep_J, 0.5 * b->mass[i] * tl_norm2(b->velocity[i]) +
                                         0.5 * tl_dot(tl_bodies_spin(b, i), b->momentum[i]));
    b->asleep[i] = 1 + (int64_t)verdict[is->count + island];
    b->quiet[i] = 0;
    b->velocity[i] = b->momentum[i] = (TlVec3){0, 0, 0};
  }
  return TL_OK;
}

static bool is_awake(const void *context, const TlPairKey *key) {
  size_t count;
  return !tl_pair_rows_find(context, TL_SLEEPING, key->low, key->high, &count);
}

TlStatus tl_sleep_keep_places(TlPairState *pairs) {
  const TlPairRows *sleeping = &pairs->of[TL_SLEEPING];
  TL_TRY(move_rows(pairs, TL_PLACES, TL_SLEEPING_PLACES, is_awake, sleeping));
  return move_rows(pairs, TL_PLACE_SEARCHES, TL_SLEEPING_SEARCHES, is_awake, sleeping);
}

/* ---- what is told of them ---- */

/* The numbers of contacts of each collider, and the sums, are of the rows and of how bodies lie in
 * memory: made anew when either has changed. */
static uint64_t stamp_of(const TlBodies *b) {
  uint64_t stamp = b->pairs.of[TL_SLEEPING].count;
  for (int64_t i = 0; i < b->total; i++)
    stamp = stamp * 0x9e3779b97f4a7c15u + (uint64_t)(b->id[i] + b->asleep[i]);
  return stamp * 0x9e3779b97f4a7c15u + (uint64_t)b->owned;
}

static void count_row(TlAsleep *a, const TlBodies *b, const ById *order,
                      const TlSleepingContact *c) {
  const TlColliders *x = &b->colliders;
  int32_t low = find_collider(x, order, c->low);
  int32_t high = c->high < 0 ? -1 : find_collider(x, order, c->high);
  if (low >= 0) a->contacts_of[low]++;
  if (high >= 0) a->contacts_of[high]++;
  if (low < 0 || low >= x->owned) return; /* its owner tells */
  double *depth = c->high < 0 ? &a->boundary_overlap_m : &a->overlap_m,
         *most_of_radius = c->high < 0 ? &a->boundary_overlap_share : &a->overlap_share;
  *depth = fmax(*depth, -c->gap);
  *most_of_radius = fmax(*most_of_radius, -c->gap / c->size);
  a->contacts++;
}

TlStatus tl_sleep_contacts(const TlStep *s) {
  TlBodies *b = &s->state->bodies;
  TlColliders *x = &b->colliders;
  TlAsleep *a = &s->work->asleep;
  ById *order;
  if (!may_sleep(s->model)) return TL_OK;
  uint64_t stamp = stamp_of(b);
  if (!a->known || a->stamp != stamp) {
    *a = (TlAsleep){.contacts_of = a->contacts_of, .capacity = a->capacity};
    TL_TRY(TL_RESERVE(a->contacts_of, a->capacity, (size_t)x->total));
    TL_TRY(order_colliders(x, &order));
    for (int64_t k = 0; k < x->total; k++) a->contacts_of[k] = 0;
    for (size_t i = 0; i < b->pairs.of[TL_SLEEPING].count; i++)
      count_row(a, b, order, &tl_sleeping(&b->pairs)[i]);
    for (int64_t i = 0; i < b->owned; i++) a->bodies += b->asleep[i] != 0;
    tl_free(order);
    a->stamp = stamp;
    a->known = true;
  }
  for (int64_t k = 0; k < x->total; k++) x->contacts[k] += a->contacts_of[k];
  return TL_OK;
}

void tl_sleep_report(const TlStep *s, TlStepReport *r) {
  const TlAsleep *a = &s->work->asleep;
  if (!a->known) return;
  r->asleep = a->bodies;
  r->contacts += a->contacts;
  r->overlap_m = fmax(r->overlap_m, a->overlap_m);
  r->overlap_share = fmax(r->overlap_share, a->overlap_share);
  r->boundary_overlap_m = fmax(r->boundary_overlap_m, a->boundary_overlap_m);
  r->boundary_overlap_share = fmax(r->boundary_overlap_share, a->boundary_overlap_share);
}

TlStatus tl_sleep_rows(const TlBodies *b, double step_s, TlContactRow *rows, int64_t *count) {
  const TlColliders *x = &b->colliders;
  const TlPairRows *sleeping = &b->pairs.of[TL_SLEEPING];
  ById *order;
  if (sleeping->count == 0) return TL_OK;
  TL_TRY(order_colliders(x, &order));
  for (size_t i = 0; i < sleeping->count; i++) {
    const TlSleepingContact *c = &tl_sleeping(&b->pairs)[i];
    int32_t low = find_collider(x, order, c->low);
    if (low < 0 || low >= x->owned) continue;
    rows[(*count)++] = (TlContactRow){.first = c->low,
                                      .second = c->high,
                                      .point_m = c->point,
                                      .normal = c->normal,
                                      .force_N = tl_scale(1 / step_s, c->impulse),
                                      .gap_m = c->gap,
                                      .friction = c->friction};
  }
  tl_free(order);
  return TL_OK;
}
