#include "model/bodies.h"

#include "base/mem.h"
#include "base/random.h"
#include "num/sort.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define F(...) TL_FIELD(TlBodies, __VA_ARGS__)
#define FRAME(...) TL_FIELD_FRAME(TlBodies, __VA_ARGS__)
static const TlRecordField body_fields[] = {TL_BODY_LIST(F, FRAME)};
#undef F
#undef FRAME
const TlRecord tl_body_record = TL_RECORD_OF_ARRAYS(
    "body", "A rigid body, as checkpoints and other ranks get it.", body_fields);

#define F(...) TL_FIELD(TlColliders, __VA_ARGS__)
#define FRAME(...) TL_FIELD_FRAME(TlColliders, __VA_ARGS__)
static const TlRecordField collider_fields[] = {TL_COLLIDER_LIST(F, FRAME)};
#undef F
#undef FRAME
const TlRecord tl_collider_record = TL_RECORD_OF_ARRAYS(
    "collider", "A part of a body that touches, as checkpoints and other ranks get it.",
    collider_fields);

#define FRAME(type, name, unit, attributes, meaning, member, column)                               \
  {column,                                                                                         \
   unit,                                                                                           \
   meaning,                                                                                        \
   TL_FIELD_KIND(type),                                                                            \
   TL_FRAME | ((attributes)&TL_LATER),                                                             \
   offsetof(TlBodyRow, member),                                                                    \
   column},
static const TlRecordField row_fields[] = {TL_FRAME_FIELDS(FRAME)};
#undef FRAME
const TlRecord tl_body_row_record = TL_RECORD(
    "body of a frame", "The columns of a frame, one row a collider.", TlBodyRow, row_fields);

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

static TlStatus check(const TlBodies *b, int64_t i) {
  const TlColliders *c = &b->colliders;
  bool sound = vec_finite(b->position[i]) && vec_finite(b->velocity[i]) &&
               vec_finite(b->momentum[i]) && is_unit(b->rotation[i]);
  for (int64_t k = b->first[i]; k < b->first[i] + tl_bodies_parts(b, i); k++) {
    sound = sound && c->scale[k] > 0 && isfinite(c->scale[k]);
    if (c->posed) sound = sound && vec_finite(c->offset[k]) && is_unit(c->turn[k]);
  }
  if (sound) return TL_OK;
  return tl_fail(TL_EINPUT,
                 "grain %lld: position, velocity, momentum and scale must be finite and the "
                 "rotation unit",
                 (long long)b->id[i]);
}

TlStatus tl_bodies_check(const TlBodies *bodies, int64_t first) {
  for (int64_t i = first; i < bodies->total; i++) TL_TRY(check(bodies, i));
  return TL_OK;
}

/* A body at the end, upright, the rest 0; its colliders are to follow. */
static TlStatus append_body(TlBodies *b) {
  TL_TRY(reserve(b, b->total + 1, b->colliders.total + 1));
  int64_t i = b->total++;
#define F(type, name, ...) memset((void *)&b->name[i], 0, sizeof(type));
  TL_BODY_FIELDS(F)
  TL_BODY_DERIVED(F)
#undef F
  b->rotation[i] = (TlQuat){1, 0, 0, 0};
  b->first[i] = b->colliders.total;
  return TL_OK;
}

/* The next collider of body i, which has its id and its number of parts. */
static TlStatus append_collider(TlBodies *b, int64_t i) {
  TlColliders *c = &b->colliders;
  TL_TRY(reserve_colliders(c, (size_t)c->total + 1));
  if (b->parts[i] > 0 && !c->posed) TL_TRY(give_poses(b));
  int64_t at = c->total++;
#define F(type, name, ...) memset((void *)&c->name[at], 0, sizeof(type));
  COLLIDER_OWN(F)
  if (c->posed) {
    COLLIDER_POSE(F)
    c->id[at] = b->id[i] + at - b->first[i];
    c->body_id[at] = b->id[i];
    c->turn[at] = (TlQuat){1, 0, 0, 0};
    c->rotation[at] = (TlQuat){1, 0, 0, 0};
  }
#undef F
  c->body[at] = (int32_t)i;
  c->scale[at] = 1;
  return TL_OK;
}

/* Those of the last body, which is owned or a ghost. */
static TlStatus append_colliders(TlBodies *b, bool ghost) {
  int64_t i = b->total - 1, parts = tl_bodies_parts(b, i);
  assert(ghost || b->owned == i);
  for (int64_t k = 0; k < parts; k++) TL_TRY(append_collider(b, i));
  if (ghost) return TL_OK;
  b->owned = b->total;
  b->colliders.owned = b->colliders.total;
  return TL_OK;
}

TlStatus tl_bodies_add(TlBodies *b, int64_t id, int32_t parts, int64_t *at) {
  TL_TRY(append_body(b));
  *at = b->total - 1;
  b->id[*at] = id;
  b->parts[*at] = parts;
  return append_colliders(b, false);
}

TlStatus tl_bodies_add_copy(TlBodies *b, const TlBodies *from, int64_t index) {
  int64_t i;
  const TlColliders *theirs = &from->colliders;
  TL_TRY(tl_bodies_add(b, from->id[index], from->parts[index], &i));
#define F(type, name, ...) b->name[i] = from->name[index];
  TL_BODY_FIELDS(F)
#undef F
  for (int64_t k = 0; k < tl_bodies_parts(b, i); k++) {
    int64_t at = b->first[i] + k, was = from->first[index] + k;
#define F(type, name, ...) b->colliders.name[at] = theirs->name[was];
    TL_COLLIDER_SHAPE_LIST(F, F)
    if (b->parts[i] > 0) {
      TL_COLLIDER_POSE_LIST(F, F)
    }
#undef F
  }
  return TL_OK;
}

void tl_bodies_drop_ghosts(TlBodies *bodies) {
  bodies->total = bodies->owned;
  bodies->colliders.total = bodies->colliders.owned;
}

void tl_bodies_clear(TlBodies *b) {
  b->owned = b->total = b->colliders.owned = b->colliders.total = 0;
  for (int k = 0; k < TL_PAIR_KINDS; k++) b->pairs.of[k].count = 0;
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

TlSym3 tl_collider_inertia(TlVec3 offset, TlQuat turn, double mass, TlVec3 inertia) {
  return tl_sym_add(tl_sym_rotated_diagonal(tl_quat_matrix(turn), inertia), shifted(mass, offset));
}

void tl_bodies_frame(TlBodies *b, int64_t i, TlVec3 spin, const double *mass,
                     const TlVec3 *inertia) {
  static const double ROUNDING = 1e-12; /* of the trace: products of inertia that are none */
  TlVec3 *offset = &b->colliders.offset[b->first[i]];
  TlQuat *turn = &b->colliders.turn[b->first[i]];
  TlVec3 moment = {0, 0, 0}, principal;
  TlSym3 sum = {0};
  TlMat3 axes;
  double all = 0, value[3];
  for (int k = 0; k < b->parts[i]; k++) {
    all += mass[k];
    moment = tl_axpy(moment, mass[k], offset[k]);
  }
  TlVec3 centre = tl_scale(1 / all, moment), arm = tl_quat_rotate(b->rotation[i], centre);
  for (int k = 0; k < b->parts[i]; k++) {
    offset[k] = tl_sub(offset[k], centre);
    sum = tl_sym_add(sum, tl_collider_inertia(offset[k], turn[k], mass[k], inertia[k]));
  }
  b->position[i] = tl_add(b->position[i], arm);
  principal = tl_vec3(sum.xx, sum.yy, sum.zz);
  double most = ROUNDING * (sum.xx + sum.yy + sum.zz);
  if (fabs(sum.xy) > most || fabs(sum.xz) > most || fabs(sum.yz) > most) {
    tl_sym_eigen(sum, value, &axes);
    principal = tl_vec3(value[0], value[1], value[2]);
    TlQuat own = tl_quat_from_matrix(axes), back = tl_quat_conj(own);
    b->rotation[i] = tl_quat_unit(tl_quat_mul(b->rotation[i], own));
    for (int k = 0; k < b->parts[i]; k++) {
      offset[k] = tl_quat_rotate(back, offset[k]);
      turn[k] = tl_quat_unit(tl_quat_mul(back, turn[k]));
    }
  }
  TlMat3 r = tl_quat_matrix(b->rotation[i]);
  TlVec3 w = tl_mat_tvec(r, spin);
  b->momentum[i] = tl_mat_vec(r, tl_vec3(principal.x * w.x, principal.y * w.y, principal.z * w.z));
}

/* ---- pairs ---- */

/* Ids of the owned bodies and colliders, sorted, for a search. */
typedef struct Ids {
  int64_t *id, count;
} Ids;

static TlStatus sort_ids(const int64_t *id, int64_t count, Ids *ids) {
  ids->count = count;
  TL_TRY(TL_NEW(ids->id, (size_t)count));
  if (count) memcpy(ids->id, id, (size_t)count * sizeof *ids->id);
  qsort(ids->id, (size_t)count, sizeof *ids->id, tl_by_int);
  return TL_OK;
}

static bool owns(const Ids *ids, int64_t id) {
  return bsearch(&id, ids->id, (size_t)ids->count, sizeof id, tl_by_int) != NULL;
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

/* ---- rows ---- */

typedef struct IdAt {
  int64_t id, at;
} IdAt;

static int64_t place_of(const IdAt *ids, int64_t count, int64_t id) {
  const IdAt *found = bsearch(&id, ids, (size_t)count, sizeof *ids, tl_by_int);
  return found ? found - ids : -1;
}

static int64_t root_of(const int64_t *parent, int64_t i) {
  while (parent[i] != i) i = parent[i];
  return i;
}

/* ids: of the owned bodies, ascending. */
static TlStatus find_aggregates(const TlBodies *b, const IdAt *ids, int64_t *aggregate) {
  const TlMerge *merge = b->pairs.of[TL_MERGES].row;
  int64_t n = b->owned, *parent; /* lowest places in ids, for the lowest ids */
  bool *merged;
  for (int64_t i = 0; i < n; i++) aggregate[i] = -1;
  if (b->pairs.of[TL_MERGES].count == 0) return TL_OK;
  TlStatus status = TL_NEW(parent, (size_t)n);
  if (status != TL_OK) return status;
  status = TL_NEW(merged, (size_t)n);
  for (int64_t i = 0; i < n; i++) parent[i] = i;
  for (size_t k = 0; status == TL_OK && k < b->pairs.of[TL_MERGES].count; k++) {
    int64_t low = place_of(ids, n, merge[k].low),
            high = merge[k].high < 0 ? -1 : place_of(ids, n, merge[k].high);
    if (low >= 0) merged[low] = true;
    if (high >= 0) merged[high] = true;
    if (low < 0 || high < 0) continue;
    int64_t x = root_of(parent, low), y = root_of(parent, high);
    parent[x < y ? y : x] = x < y ? x : y;
  }
  for (int64_t i = 0; status == TL_OK && i < n; i++)
    if (merged[i]) aggregate[ids[i].at] = ids[root_of(parent, i)].id;
  tl_free(parent);
  tl_free(merged);
  return status;
}

TlStatus tl_body_order(const TlBodies *b, TlBodyOrder *order) {
  const TlColliders *c = &b->colliders;
  IdAt *ids = NULL;
  int64_t at = 0;
  *order = (TlBodyOrder){.bodies = b};
  TlStatus status = TL_NEW(order->body, (size_t)b->owned);
  if (status == TL_OK) status = TL_NEW(order->collider, (size_t)c->owned);
  if (status == TL_OK) status = TL_NEW(order->aggregate, (size_t)b->owned);
  if (status == TL_OK) status = TL_NEW(ids, (size_t)b->owned);
  for (int64_t i = 0; status == TL_OK && i < b->owned; i++) ids[i] = (IdAt){b->id[i], i};
  if (status == TL_OK && b->owned) qsort(ids, (size_t)b->owned, sizeof *ids, tl_by_int);
  for (int64_t i = 0; status == TL_OK && i < b->owned; i++) {
    order->body[i] = ids[i].at;
    for (int64_t k = 0; k < tl_bodies_parts(b, ids[i].at); k++)
      order->collider[at++] = b->first[ids[i].at] + k;
  }
  if (status == TL_OK) status = find_aggregates(b, ids, order->aggregate);
  tl_free(ids);
  if (status != TL_OK) tl_body_order_free(order);
  return status;
}

void tl_body_order_free(TlBodyOrder *order) {
  tl_free(order->body);
  tl_free(order->collider);
  tl_free(order->aggregate);
  *order = (TlBodyOrder){0};
}

static void pack_bodies(const void *of, int64_t first, int64_t count, unsigned char *to) {
  const TlBodyOrder *order = of;
  for (int64_t i = first; i < first + count; i++)
    to = tl_record_pack(&tl_body_record, TL_SAVE, order->bodies, order->body[i], to);
}

TlRows tl_body_rows(const TlBodyOrder *order) {
  return (TlRows){.record = &tl_body_record,
                  .attributes = TL_SAVE,
                  .keys = 1,
                  .count = order->bodies->owned,
                  .pack = pack_bodies,
                  .of = order};
}

static void pack_colliders(const void *of, int64_t first, int64_t count, unsigned char *to) {
  const TlBodyOrder *order = of;
  for (int64_t i = first; i < first + count; i++)
    to = tl_record_pack(&tl_collider_record, TL_SAVE, &order->bodies->colliders, order->collider[i],
                        to);
}

TlRows tl_collider_rows(const TlBodyOrder *order) {
  return (TlRows){.record = &tl_collider_record,
                  .attributes = TL_SAVE,
                  .keys = 2,
                  .count = order->bodies->colliders.owned,
                  .pack = pack_colliders,
                  .of = order};
}

/* In the order of TL_FRAME_FIELDS. */
static unsigned char *pack_frame_row(const TlBodyOrder *order, int64_t at, unsigned char *to) {
  const TlBodies *b = order->bodies;
  const TlColliders *c = &b->colliders;
  int32_t i = c->body[at];
  int64_t aggregate = order->aggregate[i];
  TlVec3 velocity = tl_collider_velocity(b, at), spin = tl_bodies_spin(b, i);
#define PUT(value)                                                                                 \
  memcpy(to, &(value), sizeof(value));                                                             \
  to += sizeof(value);
#define FRAME(type, name, ...) PUT(c->name[at])
  TL_COLLIDER_LIST(TL_NO_COLUMN, FRAME)
  TL_COLLIDER_PLACE_LIST(TL_NO_COLUMN, FRAME)
#undef FRAME
#define FRAME(type, name, ...) PUT(name)
  TL_COLLIDER_COMPUTED_LIST(FRAME)
#undef FRAME
#define FRAME(type, name, ...) PUT(b->name[i])
  TL_BODY_LIST(TL_NO_COLUMN, FRAME)
#undef FRAME
#define FRAME(type, name, ...) PUT(c->name[at])
  TL_COLLIDER_DERIVED_LIST(TL_NO_COLUMN, FRAME)
#undef FRAME
#undef PUT
  return to;
}

static void pack_frame(const void *of, int64_t first, int64_t count, unsigned char *to) {
  const TlBodyOrder *order = of;
  for (int64_t i = first; i < first + count; i++)
    to = pack_frame_row(order, order->collider[i], to);
}

TlRows tl_frame_rows(const TlBodyOrder *order) {
  return (TlRows){.record = &tl_body_row_record,
                  .attributes = TL_FRAME,
                  .keys = 2,
                  .count = order->bodies->colliders.owned,
                  .pack = pack_frame,
                  .of = order};
}

TlStatus tl_bodies_load(TlBodies *b, const unsigned char *row) {
  TL_TRY(append_body(b));
  tl_record_unpack(&tl_body_record, TL_SAVE, b, b->total - 1, row);
  b->owned = b->total;
  return TL_OK;
}

TlStatus tl_bodies_load_collider(TlBodies *b, int64_t at, const unsigned char *row) {
  TlColliders *c = &b->colliders;
  if (c->total == 0 || c->body[c->total - 1] != at) b->first[at] = c->total;
  TL_TRY(append_collider(b, at));
  tl_record_unpack(&tl_collider_record, TL_SAVE, c, c->total - 1, row);
  c->owned = c->total;
  return TL_OK;
}

/* ---- messages ---- */

/* Attributes of the colliders' fields that go with a body's. */
static unsigned of_collider(int32_t parts, unsigned attributes) {
  return parts > 0 ? attributes : TL_GRAIN;
}

static size_t size_of(int32_t parts, unsigned attributes) {
  size_t one = tl_record_packed_bytes(&tl_collider_record, of_collider(parts, attributes));
  return tl_record_packed_bytes(&tl_body_record, attributes) +
         (size_t)(parts > 0 ? parts : 1) * one;
}

static unsigned char *pack_state(const TlBodies *b, int64_t i, unsigned attributes,
                                 unsigned char *to) {
  unsigned with = of_collider(b->parts[i], attributes);
  to = tl_record_pack(&tl_body_record, attributes, b, i, to);
  for (int64_t k = b->first[i]; k < b->first[i] + tl_bodies_parts(b, i); k++)
    to = tl_record_pack(&tl_collider_record, with, &b->colliders, k, to);
  return to;
}

/* Into the last body, which is empty. */
static TlStatus unpack_last(TlBodies *b, unsigned attributes, bool ghost, const unsigned char *from,
                            size_t size) {
  TlColliders *c = &b->colliders;
  int64_t i = b->total - 1;
  from = tl_record_unpack(&tl_body_record, attributes, b, i, from);
  int32_t parts = b->parts[i];
  if (parts < 0 || (size_t)parts > size || size < size_of(parts, attributes))
    return tl_fail(TL_EINPUT, "body %lld: its packed colliders are cut short (%zu bytes)",
                   (long long)b->id[i], size);
  TL_TRY(append_colliders(b, ghost));
  for (int64_t k = b->first[i]; k < c->total; k++) {
    from = tl_record_unpack(&tl_collider_record, of_collider(parts, attributes), c, k, from);
    if (!c->posed) continue;
    c->position[k] = b->position[i];
    c->rotation[k] = b->rotation[i];
    tl_collider_place(b, k, &c->position[k], &c->rotation[k]);
  }
  return check(b, i);
}

/* Appends an owned body or a ghost, or nothing. */
static TlStatus unpack_state(TlBodies *b, unsigned attributes, bool ghost,
                             const unsigned char *from, size_t size, size_t *used) {
  int64_t bodies = b->total, colliders = b->colliders.total;
  if (size < tl_record_packed_bytes(&tl_body_record, attributes))
    return tl_fail(TL_EINPUT, "a packed body is cut short (%zu bytes)", size);
  TL_TRY(append_body(b));
  TlStatus status = unpack_last(b, attributes, ghost, from, size);
  if (status == TL_OK) {
    *used = size_of(b->parts[bodies], attributes);
    return TL_OK;
  }
  b->total = bodies;
  b->colliders.total = colliders;
  if (ghost) return status;
  b->owned = bodies;
  b->colliders.owned = colliders;
  return status;
}

static size_t ghost_size(const void *of, int64_t i) {
  return size_of(((const TlBodies *)of)->parts[i], TL_HALO);
}
static unsigned char *pack_ghost(const void *of, int64_t i, unsigned char *to) {
  return pack_state(of, i, TL_HALO, to);
}
static TlStatus unpack_ghost(void *of, const unsigned char *from, size_t size, size_t *used) {
  return unpack_state(of, TL_HALO, true, from, size, used);
}

TlParcels tl_bodies_as_ghosts(TlBodies *bodies) {
  return (TlParcels){ghost_size, pack_ghost, unpack_ghost, NULL, bodies};
}

size_t tl_bodies_ghost_bytes(void) {
  return size_of(0, TL_HALO);
}

TlStatus tl_body_moves_list(TlBodyMoves *m, const int64_t *leaving, int64_t count) {
  const TlBodies *b = m->bodies;
  TlPairOf *body = NULL, *collider = NULL;
  int64_t colliders = 0, at = 0;
  tl_body_moves_free(m);
  m->leaving = leaving;
  for (int64_t i = 0; i < count; i++) colliders += tl_bodies_parts(b, leaving[i]);
  TlStatus status = TL_NEW(body, (size_t)count);
  if (status == TL_OK) status = TL_NEW(collider, (size_t)colliders);
  if (status == TL_OK) {
    for (int64_t i = 0; i < count; i++) {
      int64_t first = b->first[leaving[i]];
      body[i] = (TlPairOf){b->id[leaving[i]], i};
      for (int64_t k = first; k < first + tl_bodies_parts(b, leaving[i]); k++)
        collider[at++] = (TlPairOf){b->colliders.id[k], i};
    }
    if (count > 0) qsort(body, (size_t)count, sizeof *body, tl_by_int);
    if (at > 0) qsort(collider, (size_t)at, sizeof *collider, tl_by_int);
    status = tl_pair_lists_make(&m->rows, &b->pairs, count, &(TlPairsOf){body, count},
                                &(TlPairsOf){collider, at});
  }
  tl_free(body);
  tl_free(collider);
  return status;
}

void tl_body_moves_free(TlBodyMoves *m) {
  tl_pair_lists_free(&m->rows);
  m->leaving = NULL;
}

/* A body to own: its state, then its rows of pairs. */
static size_t own_size(const void *of, int64_t i) {
  const TlBodyMoves *m = of;
  return size_of(m->bodies->parts[m->leaving[i]], TL_SAVE) +
         tl_pair_state_packed_bytes(&m->rows, i);
}
static unsigned char *pack_own(const void *of, int64_t i, unsigned char *to) {
  const TlBodyMoves *m = of;
  to = pack_state(m->bodies, m->leaving[i], TL_SAVE, to);
  return tl_pair_state_pack(&m->bodies->pairs, &m->rows, i, to);
}

TlStatus tl_bodies_unpack(TlBodies *bodies, const unsigned char *from, size_t size, size_t *used) {
  size_t head = 0, rest;
  TL_TRY(unpack_state(bodies, TL_SAVE, false, from, size, &head));
  TL_TRY(tl_context(tl_pair_state_unpack(&bodies->pairs, from + head, size - head, &rest),
                    "grain %lld", (long long)bodies->id[bodies->total - 1]));
  *used = head + rest;
  return TL_OK;
}

static TlStatus unpack_own(void *of, const unsigned char *from, size_t size, size_t *used) {
  return tl_bodies_unpack(((TlBodyMoves *)of)->bodies, from, size, used);
}
static void sort_pairs(void *of) {
  tl_pair_state_sort(&((TlBodyMoves *)of)->bodies->pairs);
}

TlParcels tl_bodies_to_own(TlBodyMoves *moves) {
  return (TlParcels){own_size, pack_own, unpack_own, sort_pairs, moves};
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
  for (int64_t i = 0; i < bodies->owned; i++) /* a sum does not know their order */
    sum += tl_record_hash(&tl_body_record, bodies, i, 1);
  for (int64_t i = 0; i < bodies->colliders.owned; i++)
    sum += tl_record_hash(&tl_collider_record, &bodies->colliders, i, 2);
  for (int k = 0; k < TL_PAIR_KINDS; k++) {
    const TlPairRows *rows = &bodies->pairs.of[k];
    for (size_t i = 0; i < rows->count; i++)
      if (owns(&ids[k >= TL_FIRST_CONSTRAINT], tl_pair_key(rows, (TlPairKind)k, i).low))
        sum += tl_record_hash(&tl_pair_record[k], rows->row, (int64_t)i, 3 + (uint64_t)k);
  }
  tl_free(ids[0].id);
  tl_free(ids[1].id);
  *hash = sum;
  return TL_OK;
}

/* ---- bodies by id ---- */

typedef struct Place {
  int64_t id;
  int32_t index;
} Place;

static int by_id(const void *one, const void *two) {
  const Place *a = one, *b = two;
  return a->id < b->id ? -1 : a->id > b->id;
}

TlStatus tl_bodies_order(const TlBodies *b, TlArena *arena, int32_t **order) {
  size_t n = (size_t)b->total;
  bool ordered = true;
  *order = tl_arena_push(arena, n + 1, sizeof **order);
  if (!*order) return TL_ENOMEM;
  for (size_t i = 0; i < n; i++) {
    (*order)[i] = (int32_t)i;
    ordered &= i == 0 || b->id[i - 1] < b->id[i];
  }
  if (ordered) return TL_OK;
  Place *place = tl_arena_push(arena, n, sizeof *place);
  if (!place) return TL_ENOMEM;
  for (size_t i = 0; i < n; i++) place[i] = (Place){b->id[i], (int32_t)i};
  qsort(place, n, sizeof *place, by_id);
  for (size_t i = 0; i < n; i++) (*order)[i] = place[i].index;
  return TL_OK;
}

/* Place in the order behind all ids up to this one. */
static int64_t behind(const TlBodies *b, const int32_t *order, int64_t id) {
  /* ids without holes, as most are, tell their places */
  if (b->total > 0 && id >= b->id[order[0]] && id - b->id[order[0]] < b->total) {
    int64_t at = id - b->id[order[0]];
    if (b->id[order[at]] == id) return at + 1;
  }
  int64_t first = 0, last = b->total;
  while (first < last) {
    int64_t middle = first + (last - first) / 2;
    if (b->id[order[middle]] <= id)
      first = middle + 1;
    else
      last = middle;
  }
  return first;
}

int32_t tl_bodies_find(const TlBodies *b, const int32_t *order, int64_t id) {
  int64_t at = behind(b, order, id);
  return at > 0 && b->id[order[at - 1]] == id ? order[at - 1] : -1;
}

int32_t tl_bodies_find_owner(const TlBodies *b, const int32_t *order, int64_t id) {
  int64_t at = behind(b, order, id); /* a body's colliders are numbered from its own id on */
  if (at == 0) return -1;
  int32_t i = order[at - 1];
  return id < b->id[i] + tl_bodies_parts(b, i) ? i : -1;
}
