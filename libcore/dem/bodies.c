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
  tl_pair_state_free(&bodies->pairs);
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

TlStatus tl_bodies_copy(TlBodies *to, const TlBodies *from) {
  TlBodies copy = {0};
  TlStatus status = tl_bodies_reserve(&copy, from->total);
  if (status == TL_OK) status = tl_pair_state_copy(&copy.pairs, &from->pairs);
  if (status != TL_OK) {
    tl_bodies_free(&copy);
    return status;
  }
  copy.owned = from->owned;
  copy.total = from->total;
#define F(type, name, ...)                                                                         \
  if (from->total)                                                                                 \
    memcpy((void *)(uintptr_t)copy.name, from->name, (size_t)from->total * sizeof(type));
  TL_BODY_FIELDS(F)
  TL_BODY_DERIVED(F)
#undef F
  tl_bodies_free(to);
  *to = copy;
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

/* ---- pairs ---- */

static int compare_id(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return x < y ? -1 : x > y;
}

/* Ids of the owned bodies, sorted, for a search. */
typedef struct Ids {
  int64_t *id, count;
} Ids;

static TlStatus sort_ids(const TlBodies *bodies, Ids *ids) {
  ids->count = bodies->owned;
  TL_TRY(TL_NEW(ids->id, (size_t)ids->count));
  if (ids->count) memcpy(ids->id, bodies->id, (size_t)ids->count * sizeof *ids->id);
  qsort(ids->id, (size_t)ids->count, sizeof *ids->id, compare_id);
  return TL_OK;
}

static bool owns(const Ids *ids, int64_t id) {
  return bsearch(&id, ids->id, (size_t)ids->count, sizeof id, compare_id) != NULL;
}

static bool is_ours(const void *context, const TlPairKey *key) {
  return owns(context, key->low) || owns(context, key->high);
}

static TlStatus drop_foreign_pairs(TlBodies *bodies) {
  Ids ids;
  TL_TRY(sort_ids(bodies, &ids));
  for (int k = 0; k < TL_PAIR_KINDS; k++)
    tl_pair_rows_keep(&bodies->pairs.of[k], (TlPairKind)k, is_ours, &ids);
  tl_free(ids.id);
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
  return drop_foreign_pairs(bodies);
}

/* A packed body: its state, then its rows of pairs. */
size_t tl_bodies_packed_size(const TlBodies *bodies, int64_t index) {
  return tl_record_packed_bytes(&tl_body_record, TL_SAVE) +
         tl_pair_state_packed_bytes(&bodies->pairs, bodies->id[index]);
}

void tl_bodies_pack(const TlBodies *bodies, int64_t index, unsigned char *to) {
  TlBodyState state = tl_bodies_get(bodies, index);
  to = tl_record_pack(&tl_body_record, TL_SAVE, &state, to);
  tl_pair_state_pack(&bodies->pairs, state.id, to);
}

TlStatus tl_bodies_unpack(TlBodies *bodies, const unsigned char *from, size_t size, size_t *used) {
  TlBodyState state;
  size_t head = tl_record_packed_bytes(&tl_body_record, TL_SAVE), rest;
  if (size < head) return tl_fail(TL_EINPUT, "a packed grain is cut short (%zu bytes)", size);
  from = tl_record_unpack(&tl_body_record, TL_SAVE, &state, from);
  TL_TRY(tl_bodies_add(bodies, &state));
  TL_TRY(tl_context(tl_pair_state_unpack(&bodies->pairs, from, size - head, &rest), "grain %lld",
                    (long long)state.id));
  *used = head + rest;
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
  Ids ids;
  TL_TRY(sort_ids(bodies, &ids));
  for (int64_t i = 0; i < bodies->owned; i++) {
    TlBodyState state = tl_bodies_get(bodies, i);
    sum += tl_record_hash(&tl_body_record, &state, 1); /* a sum does not know their order */
  }
  for (int k = 0; k < TL_PAIR_KINDS; k++) {
    const TlPairRows *rows = &bodies->pairs.of[k];
    const unsigned char *row = rows->row;
    for (size_t i = 0; i < rows->count; i++, row += tl_pair_record[k].bytes)
      if (owns(&ids, tl_pair_key(rows, (TlPairKind)k, i).low))
        sum += tl_record_hash(&tl_pair_record[k], row, 2 + (uint64_t)k);
  }
  tl_free(ids.id);
  *hash = sum;
  return TL_OK;
}
