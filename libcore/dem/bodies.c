#include "dem/bodies.h"

#include "base/mem.h"
#include "base/random.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void tl_bodies_free(TlBodies *bodies) {
#define F(type, name, ...) tl_free((void *)(uintptr_t)bodies->name);
  TL_BODY_FIELDS(F)
  TL_BODY_DERIVED(F)
#undef F
  tl_free(bodies->history.touch);
  *bodies = (TlBodies){0};
}

TlStatus tl_bodies_reserve(TlBodies *bodies, int64_t count) {
  size_t need = (size_t)count;
  if (need <= bodies->capacity) return TL_OK;
  size_t capacity = bodies->capacity + bodies->capacity / 2 + 16;
  if (capacity < need) capacity = need;
#define F(type, name, ...)                                                                         \
  {                                                                                                \
    type *grown = tl_realloc(bodies->name, (size_t)bodies->total, capacity, sizeof(type));         \
    if (!grown) return TL_ENOMEM;                                                                  \
    bodies->name = grown;                                                                          \
  }
  TL_BODY_FIELDS(F)
  TL_BODY_DERIVED(F)
#undef F
  bodies->capacity = capacity;
  return TL_OK;
}

static bool vec_finite(TlVec3 v) {
  return isfinite(v.x) && isfinite(v.y) && isfinite(v.z);
}

static TlStatus check_state(const TlBodyState *s) {
  TlQuat q = s->rotation;
  double norm = q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z;
  if (!vec_finite(s->position) || !vec_finite(s->velocity) || !vec_finite(s->momentum) ||
      !(s->scale > 0) || !isfinite(s->scale) || !(fabs(norm - 1) < 1e-6))
    return tl_fail(TL_EINPUT,
                   "grain %lld: position, velocity, momentum and scale must be finite and the "
                   "rotation unit",
                   (long long)s->id);
  return TL_OK;
}

static TlStatus append(TlBodies *bodies, const TlBodyState *state) {
  TL_TRY(check_state(state));
  TL_TRY(tl_bodies_reserve(bodies, bodies->total + 1));
  int64_t i = bodies->total++;
#define F(type, name, ...) memset((void *)&bodies->name[i], 0, sizeof(type));
  TL_BODY_DERIVED(F)
#undef F
  tl_bodies_set(bodies, i, state);
  return TL_OK;
}

TlStatus tl_bodies_add(TlBodies *bodies, const TlBodyState *state) {
  assert(bodies->owned == bodies->total);
  TL_TRY(append(bodies, state));
  bodies->owned++;
  return TL_OK;
}

TlStatus tl_bodies_add_ghost(TlBodies *bodies, const TlBodyState *state) {
  return append(bodies, state);
}

void tl_bodies_drop_ghosts(TlBodies *bodies) {
  bodies->total = bodies->owned;
}

TlBodyState tl_bodies_get(const TlBodies *bodies, int64_t index) {
  TlBodyState state;
  memset(&state, 0, sizeof state); /* padding too: the bytes travel */
#define F(type, name, ...) state.name = bodies->name[index];
  TL_BODY_FIELDS(F)
#undef F
  return state;
}

void tl_bodies_set(TlBodies *bodies, int64_t index, const TlBodyState *state) {
#define F(type, name, ...) bodies->name[index] = state->name;
  TL_BODY_FIELDS(F)
#undef F
}

/* ---- history ---- */

#define F(...) TL_FIELD(TlTouch, __VA_ARGS__)
static const TlRecordField touch_fields[] = {TL_TOUCH_FIELDS(F)};
#undef F
const TlRecord tl_touch_record =
    TL_RECORD("touch", "What a contact point remembers for the next step.", TlTouch, touch_fields);

int tl_touch_order(const TlTouch *x, const TlTouch *y) {
  if (x->low != y->low) return x->low < y->low ? -1 : 1;
  if (x->high != y->high) return x->high < y->high ? -1 : 1;
  return x->key < y->key ? -1 : x->key > y->key;
}

static int compare_touch(const void *a, const void *b) {
  return tl_touch_order(a, b);
}

void tl_history_sort(TlHistory *history) {
  if (history->count == 0) return;
  qsort(history->touch, history->count, sizeof *history->touch, compare_touch);
  size_t kept = 1;
  for (size_t i = 1; i < history->count; i++)
    if (tl_touch_order(&history->touch[kept - 1], &history->touch[i]) != 0)
      history->touch[kept++] = history->touch[i];
  history->count = kept;
}

const TlTouch *tl_history_find(const TlHistory *history, int64_t low, int64_t high, size_t *count) {
  size_t first = 0, last = history->count;
  while (first < last) {
    size_t mid = first + (last - first) / 2;
    const TlTouch *t = &history->touch[mid];
    if (t->low < low || (t->low == low && t->high < high))
      first = mid + 1;
    else
      last = mid;
  }
  size_t n = 0;
  while (first + n < history->count && history->touch[first + n].low == low &&
         history->touch[first + n].high == high)
    n++;
  *count = n;
  return n ? &history->touch[first] : NULL;
}

static bool touches(const TlTouch *t, int64_t id) {
  return t->low == id || t->high == id;
}

static size_t count_touches(const TlHistory *history, int64_t id) {
  size_t n = 0;
  for (size_t i = 0; i < history->count; i++) n += touches(&history->touch[i], id) ? 1 : 0;
  return n;
}

static int compare_id(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return x < y ? -1 : x > y;
}

static TlStatus drop_foreign_touches(TlBodies *bodies) {
  int64_t *ids;
  TL_TRY(TL_NEW(ids, (size_t)bodies->owned));
  if (bodies->owned) memcpy(ids, bodies->id, (size_t)bodies->owned * sizeof *ids);
  qsort(ids, (size_t)bodies->owned, sizeof *ids, compare_id);
  TlHistory *h = &bodies->history;
  size_t kept = 0;
  for (size_t i = 0; i < h->count; i++) {
    const TlTouch *t = &h->touch[i];
    if (bsearch(&t->low, ids, (size_t)bodies->owned, sizeof *ids, compare_id) ||
        bsearch(&t->high, ids, (size_t)bodies->owned, sizeof *ids, compare_id))
      h->touch[kept++] = *t;
  }
  h->count = kept;
  tl_free(ids);
  return TL_OK;
}

TlStatus tl_bodies_keep(TlBodies *bodies, const unsigned char *keep) {
  assert(bodies->owned == bodies->total);
  int64_t kept = 0;
  for (int64_t i = 0; i < bodies->owned; i++) {
    if (!keep[i]) continue;
#define F(type, name, ...) bodies->name[kept] = bodies->name[i];
    TL_BODY_FIELDS(F)
    TL_BODY_DERIVED(F)
#undef F
    kept++;
  }
  bodies->owned = bodies->total = kept;
  return drop_foreign_touches(bodies);
}

/* A packed body: its state, the number of its touches, and these. */
static size_t state_bytes(void) {
  return tl_record_packed_bytes(&tl_body_record, TL_SAVE);
}
static size_t touch_bytes(void) {
  return tl_record_packed_bytes(&tl_touch_record, TL_SAVE);
}

size_t tl_bodies_packed_size(const TlBodies *bodies, int64_t index) {
  size_t n = count_touches(&bodies->history, bodies->id[index]);
  return state_bytes() + sizeof(int64_t) + n * touch_bytes();
}

void tl_bodies_pack(const TlBodies *bodies, int64_t index, unsigned char *to) {
  TlBodyState state = tl_bodies_get(bodies, index);
  int64_t n = (int64_t)count_touches(&bodies->history, state.id);
  to = tl_record_pack(&tl_body_record, TL_SAVE, &state, to);
  memcpy(to, &n, sizeof n);
  to += sizeof n;
  for (size_t i = 0; i < bodies->history.count; i++)
    if (touches(&bodies->history.touch[i], state.id))
      to = tl_record_pack(&tl_touch_record, TL_SAVE, &bodies->history.touch[i], to);
}

TlStatus tl_bodies_unpack(TlBodies *bodies, const unsigned char *from, size_t size, size_t *used) {
  TlBodyState state;
  int64_t n;
  size_t head = state_bytes() + sizeof n;
  if (size < head) return tl_fail(TL_EINPUT, "a packed grain is cut short (%zu bytes)", size);
  from = tl_record_unpack(&tl_body_record, TL_SAVE, &state, from);
  memcpy(&n, from, sizeof n);
  from += sizeof n;
  if (n < 0 || (size_t)n > (size - head) / touch_bytes())
    return tl_fail(TL_EINPUT, "grain %lld: packed touches are cut short", (long long)state.id);
  TL_TRY(tl_bodies_add(bodies, &state));
  TlHistory *h = &bodies->history;
  TL_TRY(TL_RESERVE(h->touch, h->capacity, h->count + (size_t)n));
  for (int64_t i = 0; i < n; i++)
    from = tl_record_unpack(&tl_touch_record, TL_SAVE, &h->touch[h->count++], from);
  *used = head + (size_t)n * touch_bytes();
  return TL_OK;
}

/* ---- spin ---- */

TlSym3 tl_bodies_rotated(const TlBodies *bodies, int64_t index, TlVec3 diagonal) {
  return tl_sym_rotated_diagonal(tl_quat_matrix(bodies->rotation[index]), diagonal);
}

static TlVec3 through_body(TlQuat q, TlVec3 diagonal, TlVec3 v) {
  TlMat3 r = tl_quat_matrix(q);
  TlVec3 b = tl_mat_tvec(r, v);
  return tl_mat_vec(r, tl_vec3(diagonal.x * b.x, diagonal.y * b.y, diagonal.z * b.z));
}

TlVec3 tl_bodies_spin(const TlBodies *b, int64_t i) {
  return through_body(b->rotation[i], b->inverse_inertia[i], b->momentum[i]);
}

void tl_bodies_set_spin(TlBodies *b, int64_t i, TlVec3 spin) {
  b->momentum[i] = through_body(b->rotation[i], b->inertia[i], spin);
}

/* ---- hash ---- */

TlStatus tl_bodies_hash(const TlBodies *bodies, uint64_t *hash) {
  uint64_t sum = 0;
  int64_t *ids;
  TL_TRY(TL_NEW(ids, (size_t)bodies->owned));
  for (int64_t i = 0; i < bodies->owned; i++) {
    TlBodyState state = tl_bodies_get(bodies, i);
    sum += tl_record_hash(&tl_body_record, &state, 1); /* a sum does not know their order */
    ids[i] = bodies->id[i];
  }
  qsort(ids, (size_t)bodies->owned, sizeof *ids, compare_id);
  for (size_t k = 0; k < bodies->history.count; k++) {
    const TlTouch *t = &bodies->history.touch[k];
    if (bsearch(&t->low, ids, (size_t)bodies->owned, sizeof *ids, compare_id))
      sum += tl_record_hash(&tl_touch_record, t, 2);
  }
  tl_free(ids);
  *hash = sum;
  return TL_OK;
}
