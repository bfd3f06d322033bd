#include "model/bodies.h"

#include "base/mem.h"
#include "base/random.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define COLLIDER_OWN(F) TL_COLLIDER_SHAPE_LIST(F, F) TL_COLLIDER_DERIVED_LIST(F, F)
#define COLLIDER_POSE(F) TL_COLLIDER_POSE_LIST(F, F) TL_COLLIDER_PLACE_LIST(F, F)

void tl_bodies_free(TlBodies *bodies) {
  TlColliders *c = &bodies->colliders;
#define F(type, name, ...) tl_free((void *)(uintptr_t)c->name);
  COLLIDER_OWN(F)
  if (c->posed) {
    COLLIDER_POSE(F)
  }
#undef F
#define F(type, name, ...) tl_free((void *)(uintptr_t)bodies->name);
  TL_BODY_FIELDS(F)
  TL_BODY_DERIVED(F)
#undef F
  tl_pair_state_free(&bodies->pairs);
  *bodies = (TlBodies){0};
}

/* ---- memory ---- */

static size_t grown(size_t capacity, size_t need) {
  size_t more = capacity + capacity / 2 + 16;
  return more < need ? need : more;
}

#define GROW(of, type, name)                                                                       \
  {                                                                                                \
    type *more = tl_realloc((of)->name, (size_t)(of)->total, capacity, sizeof(type));              \
    if (!more) return TL_ENOMEM;                                                                   \
    (of)->name = more;                                                                             \
  }

static TlStatus reserve_bodies(TlBodies *b, size_t need) {
  if (need <= b->capacity) return TL_OK;
  size_t capacity = grown(b->capacity, need);
#define F(type, name, ...) GROW(b, type, name)
  TL_BODY_FIELDS(F)
  TL_BODY_DERIVED(F)
#undef F
  b->capacity = capacity;
  return TL_OK;
}

static TlStatus reserve_colliders(TlColliders *c, size_t need) {
  if (need <= c->capacity) return TL_OK;
  size_t capacity = grown(c->capacity, need);
#define F(type, name, ...) GROW(c, type, name)
  COLLIDER_OWN(F)
  if (c->posed) {
    COLLIDER_POSE(F)
  }
#undef F
  c->capacity = capacity;
  return TL_OK;
}

static TlStatus reserve(TlBodies *b, int64_t bodies, int64_t colliders) {
  TlColliders *c = &b->colliders;
  TlStatus status = reserve_bodies(b, (size_t)bodies);
  if (!c->posed) { /* also after a failure: arrays may have moved */
    c->id = c->body_id = b->id;
    c->position = b->position;
    c->rotation = b->rotation;
    c->radius = b->radius;
  }
  return status == TL_OK ? reserve_colliders(c, (size_t)colliders) : status;
}

TlStatus tl_bodies_reserve(TlBodies *bodies, int64_t count) {
  return reserve(bodies, count, count);
}

/* The first body comes that is no grain: the colliders get arrays of their own. */
static TlStatus give_poses(TlBodies *b) {
  TlColliders *c = &b->colliders, own = *c;
  TlStatus status = TL_OK;
#define F(type, name, ...)                                                                         \
  own.name = NULL;                                                                                 \
  if (status == TL_OK) status = TL_NEW(own.name, c->capacity);
  COLLIDER_POSE(F)
#undef F
  if (status != TL_OK) {
#define F(type, name, ...) tl_free(own.name);
    COLLIDER_POSE(F)
#undef F
    return status;
  }
  for (int64_t i = 0; i < c->total; i++) {
    own.id[i] = own.body_id[i] = b->id[i];
    own.turn[i] = (TlQuat){1, 0, 0, 0};
    own.position[i] = b->position[i];
    own.rotation[i] = b->rotation[i];
    own.radius[i] = b->radius[i];
  }
  own.posed = true;
  *c = own;
  return TL_OK;
}

TlStatus tl_bodies_copy(TlBodies *to, const TlBodies *from) {
  TlBodies copy = {0};
  TlColliders *c = &copy.colliders;
  TlStatus status = reserve(&copy, from->total, from->colliders.total);
  if (status == TL_OK && from->colliders.posed) status = give_poses(&copy);
  if (status == TL_OK) status = tl_pair_state_copy(&copy.pairs, &from->pairs);
  if (status != TL_OK) {
    tl_bodies_free(&copy);
    return status;
  }
  copy.owned = from->owned;
  copy.total = from->total;
  c->owned = from->colliders.owned;
  c->total = from->colliders.total;
#define COPY(to, from, type, name)                                                                 \
  if ((from)->total)                                                                               \
    memcpy((void *)(uintptr_t)(to)->name, (from)->name, (size_t)(from)->total * sizeof(type));
#define F(type, name, ...) COPY(&copy, from, type, name)
  TL_BODY_FIELDS(F)
  TL_BODY_DERIVED(F)
#undef F
#define F(type, name, ...) COPY(c, &from->colliders, type, name)
  COLLIDER_OWN(F)
  if (c->posed) {
    COLLIDER_POSE(F)
  }
#undef F
  tl_bodies_free(to);
  *to = copy;
  return TL_OK;
}

/* ---- adding ---- */

static bool vec_finite(TlVec3 v) {
  return isfinite(v.x) && isfinite(v.y) && isfinite(v.z);
}
static bool is_unit(TlQuat q) {
  return fabs(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z - 1) < 1e-6;
}

static TlStatus check_state(const TlBodyState *s, const TlColliderState *part, int64_t count) {
  bool sound = vec_finite(s->position) && vec_finite(s->velocity) && vec_finite(s->momentum) &&
               is_unit(s->rotation);
  for (int64_t k = 0; k < count; k++)
    sound = sound && part[k].scale > 0 && isfinite(part[k].scale) && vec_finite(part[k].offset) &&
            is_unit(part[k].turn);
  if (sound) return TL_OK;
  return tl_fail(TL_EINPUT,
                 "grain %lld: position, velocity, momentum and scale must be finite and the "
                 "rotation unit",
                 (long long)s->id);
}

static TlStatus append(TlBodies *b, const TlBodyState *state, const TlColliderState *part,
                       bool ghost) {
  TlColliders *c = &b->colliders;
  int64_t count = state->parts > 0 ? state->parts : 1;
  assert(ghost || b->owned == b->total);
  TL_TRY(check_state(state, part, count));
  TL_TRY(reserve(b, b->total + 1, c->total + count));
  if (state->parts > 0 && !c->posed) TL_TRY(give_poses(b));
  int64_t i = b->total++;
#define F(type, name, ...) memset((void *)&b->name[i], 0, sizeof(type));
  TL_BODY_DERIVED(F)
#undef F
  tl_bodies_set(b, i, state);
  b->first[i] = c->total;
  for (int64_t k = 0; k < count; k++) {
    int64_t at = c->total++;
#define F(type, name, ...) memset((void *)&c->name[at], 0, sizeof(type));
    TL_COLLIDER_DERIVED_LIST(F, F)
#undef F
#define F(type, name, ...) c->name[at] = part[k].name;
    TL_COLLIDER_SHAPE_LIST(F, F)
    c->body[at] = (int32_t)i;
    if (!c->posed) continue;
    TL_COLLIDER_POSE_LIST(F, F)
#undef F
    c->body_id[at] = state->id;
    c->radius[at] = 0;
    c->position[at] = state->position;
    c->rotation[at] = state->rotation;
    if (state->parts > 0) tl_collider_place(b, at, &c->position[at], &c->rotation[at]);
  }
  if (ghost) return TL_OK;
  b->owned = b->total;
  c->owned = c->total;
  return TL_OK;
}

TlStatus tl_bodies_add(TlBodies *bodies, const TlGrainState *grain) {
  TlBodyState body;
  TlColliderState part = {.id = grain->id, .body_id = grain->id, .turn = {1, 0, 0, 0}};
#define F(type, name, ...) body.name = grain->name;
  TL_BODY_FIELDS(F)
#undef F
#define F(type, name, ...) part.name = grain->name;
  TL_COLLIDER_SHAPE_LIST(F, F)
#undef F
  body.parts = 0;
  return append(bodies, &body, &part, false);
}

TlStatus tl_bodies_add_body(TlBodies *bodies, const TlBodyState *body,
                            const TlColliderState *colliders) {
  assert(body->parts > 0);
  return append(bodies, body, colliders, false);
}

void tl_bodies_drop_ghosts(TlBodies *bodies) {
  bodies->total = bodies->owned;
  bodies->colliders.total = bodies->colliders.owned;
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

TlColliderState tl_bodies_get_collider(const TlBodies *bodies, int64_t at) {
  const TlColliders *c = &bodies->colliders;
  TlColliderState state;
  memset(&state, 0, sizeof state);
#define F(type, name, ...) state.name = c->name[at];
  TL_COLLIDER_SHAPE_LIST(F, F)
  if (c->posed) {
    TL_COLLIDER_POSE_LIST(F, F)
  } else {
    state.id = state.body_id = c->id[at];
    state.turn = (TlQuat){1, 0, 0, 0};
  }
#undef F
  return state;
}

/* ---- places of colliders ---- */

void tl_collider_place(const TlBodies *bodies, int64_t at, TlVec3 *position, TlQuat *rotation) {
  const TlColliders *c = &bodies->colliders;
  if (!c->posed || bodies->parts[c->body[at]] == 0) return;
  *position = tl_add(*position, tl_quat_rotate(*rotation, c->offset[at]));
  *rotation = tl_quat_unit(tl_quat_mul(*rotation, c->turn[at]));
}

void tl_bodies_place_colliders(TlBodies *b) {
  TlColliders *c = &b->colliders;
  if (!c->posed) return;
  for (int64_t i = 0; i < c->total; i++) {
    c->position[i] = b->position[c->body[i]];
    c->rotation[i] = b->rotation[c->body[i]];
    tl_collider_place(b, i, &c->position[i], &c->rotation[i]);
  }
}

/* m (d^2 1 - d d^T) */
static TlSym3 shifted(double m, TlVec3 d) {
  return (TlSym3){m * (d.y * d.y + d.z * d.z),
                  m * (d.x * d.x + d.z * d.z),
                  m * (d.x * d.x + d.y * d.y),
                  -m * d.x * d.y,
                  -m * d.x * d.z,
                  -m * d.y * d.z};
}

static TlSym3 sum_of(TlSym3 a, TlSym3 b) {
  return (TlSym3){a.xx + b.xx, a.yy + b.yy, a.zz + b.zz, a.xy + b.xy, a.xz + b.xz, a.yz + b.yz};
}

TlSym3 tl_collider_inertia(TlVec3 offset, TlQuat turn, double mass, TlVec3 inertia) {
  return sum_of(tl_sym_rotated_diagonal(tl_quat_matrix(turn), inertia), shifted(mass, offset));
}

void tl_bodies_frame(TlBodyState *body, TlVec3 spin, TlColliderState *part, const double *mass,
                     const TlVec3 *inertia, int count) {
  static const double ROUNDING = 1e-12; /* of the trace: products of inertia that are none */
  TlVec3 moment = {0, 0, 0}, principal;
  TlSym3 sum = {0};
  TlMat3 axes;
  double all = 0, value[3];
  for (int k = 0; k < count; k++) {
    all += mass[k];
    moment = tl_axpy(moment, mass[k], part[k].offset);
  }
  TlVec3 centre = tl_scale(1 / all, moment), arm = tl_quat_rotate(body->rotation, centre);
  for (int k = 0; k < count; k++) {
    part[k].offset = tl_sub(part[k].offset, centre);
    sum = sum_of(sum, tl_collider_inertia(part[k].offset, part[k].turn, mass[k], inertia[k]));
  }
  body->position = tl_add(body->position, arm);
  body->parts = count;
  principal = tl_vec3(sum.xx, sum.yy, sum.zz);
  double most = ROUNDING * (sum.xx + sum.yy + sum.zz);
  if (fabs(sum.xy) > most || fabs(sum.xz) > most || fabs(sum.yz) > most) {
    tl_sym_eigen(sum, value, &axes);
    principal = tl_vec3(value[0], value[1], value[2]);
    TlQuat turn = tl_quat_from_matrix(axes), back = tl_quat_conj(turn);
    body->rotation = tl_quat_unit(tl_quat_mul(body->rotation, turn));
    for (int k = 0; k < count; k++) {
      part[k].offset = tl_quat_rotate(back, part[k].offset);
      part[k].turn = tl_quat_unit(tl_quat_mul(back, part[k].turn));
    }
  }
  TlMat3 r = tl_quat_matrix(body->rotation);
  TlVec3 w = tl_mat_tvec(r, spin);
  body->momentum = tl_mat_vec(r, tl_vec3(principal.x * w.x, principal.y * w.y, principal.z * w.z));
}

/* ---- pairs ---- */

static int compare_id(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return x < y ? -1 : x > y;
}

/* Ids of the owned bodies and colliders, sorted, for a search. */
typedef struct Ids {
  int64_t *id, count;
} Ids;

static TlStatus sort_ids(const int64_t *id, int64_t count, Ids *ids) {
  ids->count = count;
  TL_TRY(TL_NEW(ids->id, (size_t)count));
  if (count) memcpy(ids->id, id, (size_t)count * sizeof *ids->id);
  qsort(ids->id, (size_t)count, sizeof *ids->id, compare_id);
  return TL_OK;
}

static bool owns(const Ids *ids, int64_t id) {
  return bsearch(&id, ids->id, (size_t)ids->count, sizeof id, compare_id) != NULL;
}

static bool is_ours(const void *context, const TlPairKey *key) {
  return owns(context, key->low) || owns(context, key->high);
}

/* What keys of a kind name: colliders in contact memory, bodies in constraints. */
static TlStatus sort_both(const TlBodies *b, Ids ids[2]) {
  ids[0] = ids[1] = (Ids){0};
  TL_TRY(sort_ids(b->colliders.id, b->colliders.owned, &ids[0]));
  TlStatus status = sort_ids(b->id, b->owned, &ids[1]);
  if (status != TL_OK) tl_free(ids[0].id);
  return status;
}

static TlStatus drop_foreign_pairs(TlBodies *bodies) {
  Ids ids[2];
  TL_TRY(sort_both(bodies, ids));
  for (int k = 0; k < TL_PAIR_KINDS; k++)
    tl_pair_rows_keep(&bodies->pairs.of[k], (TlPairKind)k, is_ours, &ids[k >= TL_FIRST_CONSTRAINT]);
  tl_free(ids[0].id);
  tl_free(ids[1].id);
  return TL_OK;
}

TlStatus tl_bodies_keep(TlBodies *bodies, const unsigned char *keep) {
  TlColliders *c = &bodies->colliders;
  assert(bodies->owned == bodies->total);
  int64_t kept = 0, kept_parts = 0;
  for (int64_t i = 0; i < bodies->owned; i++) {
    if (!keep[i]) continue;
    int64_t from = bodies->first[i], parts = tl_bodies_parts(bodies, i);
#define F(type, name, ...) bodies->name[kept] = bodies->name[i];
    TL_BODY_FIELDS(F)
    TL_BODY_DERIVED(F)
#undef F
    bodies->first[kept] = kept_parts;
    for (int64_t k = from; k < from + parts; k++, kept_parts++) {
#define F(type, name, ...) c->name[kept_parts] = c->name[k];
      COLLIDER_OWN(F)
      if (c->posed) {
        COLLIDER_POSE(F)
      }
#undef F
      c->body[kept_parts] = (int32_t)kept;
    }
    kept++;
  }
  bodies->owned = bodies->total = kept;
  c->owned = c->total = kept_parts;
  return drop_foreign_pairs(bodies);
}

/* ---- bytes ---- */

/* Attributes of the colliders' fields that go with a body's. */
static unsigned of_collider(int32_t parts, unsigned attributes) {
  return parts > 0 ? attributes : TL_GRAIN;
}

static size_t size_of(int32_t parts, unsigned attributes) {
  size_t one = tl_record_packed_bytes(&tl_collider_record, of_collider(parts, attributes));
  return tl_record_packed_bytes(&tl_body_record, attributes) +
         (size_t)(parts > 0 ? parts : 1) * one;
}

size_t tl_bodies_grain_bytes(unsigned attributes) {
  return size_of(0, attributes);
}

size_t tl_bodies_state_size(const TlBodies *bodies, int64_t index, unsigned attributes) {
  return size_of(bodies->parts[index], attributes);
}

unsigned char *tl_bodies_pack_state(const TlBodies *bodies, int64_t index, unsigned attributes,
                                    unsigned char *to) {
  TlBodyState state = tl_bodies_get(bodies, index);
  to = tl_record_pack(&tl_body_record, attributes, &state, to);
  for (int64_t k = 0; k < tl_bodies_parts(bodies, index); k++) {
    TlColliderState part = tl_bodies_get_collider(bodies, bodies->first[index] + k);
    to = tl_record_pack(&tl_collider_record, of_collider(state.parts, attributes), &part, to);
  }
  return to;
}

TlStatus tl_bodies_unpack_state(TlBodies *bodies, unsigned attributes, bool ghost,
                                const unsigned char *from, size_t size, size_t *used) {
  TlBodyState state;
  TlColliderState one, *part = &one;
  size_t head = tl_record_packed_bytes(&tl_body_record, attributes);
  if (size < head) return tl_fail(TL_EINPUT, "a packed body is cut short (%zu bytes)", size);
  from = tl_record_unpack(&tl_body_record, attributes, &state, from);
  if (state.parts < 0 || (size_t)state.parts > size || size < size_of(state.parts, attributes))
    return tl_fail(TL_EINPUT, "body %lld: its packed colliders are cut short (%zu bytes)",
                   (long long)state.id, size);
  if (state.parts > 1) TL_TRY(TL_NEW(part, (size_t)state.parts));
  for (int64_t k = 0; k < (state.parts > 0 ? state.parts : 1); k++)
    from =
        tl_record_unpack(&tl_collider_record, of_collider(state.parts, attributes), &part[k], from);
  if (state.parts == 0) {
    one.id = one.body_id = state.id;
    one.turn = (TlQuat){1, 0, 0, 0};
  }
  TlStatus status = append(bodies, &state, part, ghost);
  if (part != &one) tl_free(part);
  *used = size_of(state.parts, attributes);
  return status;
}

/* A packed body: its state, then its rows of pairs. */
size_t tl_bodies_packed_size(const TlBodies *bodies, int64_t index) {
  return tl_bodies_state_size(bodies, index, TL_SAVE) +
         tl_pair_state_packed_bytes(&bodies->pairs, bodies->id[index],
                                    bodies->colliders.id + bodies->first[index],
                                    tl_bodies_parts(bodies, index));
}

void tl_bodies_pack(const TlBodies *bodies, int64_t index, unsigned char *to) {
  to = tl_bodies_pack_state(bodies, index, TL_SAVE, to);
  tl_pair_state_pack(&bodies->pairs, bodies->id[index], bodies->colliders.id + bodies->first[index],
                     tl_bodies_parts(bodies, index), to);
}

TlStatus tl_bodies_unpack(TlBodies *bodies, const unsigned char *from, size_t size, size_t *used) {
  size_t head, rest;
  TL_TRY(tl_bodies_unpack_state(bodies, TL_SAVE, false, from, size, &head));
  TL_TRY(tl_context(tl_pair_state_unpack(&bodies->pairs, from + head, size - head, &rest),
                    "grain %lld", (long long)bodies->id[bodies->total - 1]));
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

TlVec3 tl_collider_velocity(const TlBodies *b, int64_t collider) {
  int32_t i = b->colliders.body[collider];
  if (b->parts[i] == 0) return b->velocity[i];
  return tl_add(b->velocity[i], tl_cross(tl_bodies_spin(b, i), tl_collider_arm(b, collider)));
}

/* ---- hash ---- */

TlStatus tl_bodies_hash(const TlBodies *bodies, uint64_t *hash) {
  uint64_t sum = 0;
  Ids ids[2];
  TL_TRY(sort_both(bodies, ids));
  for (int64_t i = 0; i < bodies->owned; i++) {
    TlBodyState state = tl_bodies_get(bodies, i);
    sum += tl_record_hash(&tl_body_record, &state, 1); /* a sum does not know their order */
  }
  for (int64_t i = 0; i < bodies->colliders.owned; i++) {
    TlColliderState state = tl_bodies_get_collider(bodies, i);
    sum += tl_record_hash(&tl_collider_record, &state, 2);
  }
  for (int k = 0; k < TL_PAIR_KINDS; k++) {
    const TlPairRows *rows = &bodies->pairs.of[k];
    const unsigned char *row = rows->row;
    for (size_t i = 0; i < rows->count; i++, row += tl_pair_record[k].bytes)
      if (owns(&ids[k >= TL_FIRST_CONSTRAINT], tl_pair_key(rows, (TlPairKind)k, i).low))
        sum += tl_record_hash(&tl_pair_record[k], row, 3 + (uint64_t)k);
  }
  tl_free(ids[0].id);
  tl_free(ids[1].id);
  *hash = sum;
  return TL_OK;
}
