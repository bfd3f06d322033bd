#include "solve/reduction.h"

#include "model/shapes.h"
#include "num/sort.h"
#include "solve/step_impulses.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double APART_FRACTION =
    1e-3; /* of the radius: a boundary that is farther takes nothing along */
static const double FACE_FRACTION = 0.5; /* of the radius: least width of a face */

/* ---- what may merge ---- */

static const TlReduction *options_of(const TlReduce *d) {
  return &d->model->nonsmooth.reduction;
}

/* Ids of bodies on joints, ascending. */
static TlStatus jointed(const TlReduce *d, int64_t **id, size_t *count) {
  const TlPairRows *of = d->bodies->pairs.of;
  size_t most = 0;
  for (int k = TL_FIRST_CONSTRAINT; k < TL_PAIR_KINDS; k++)
    if (k != TL_MERGES) most += 2 * of[k].count;
  *id = tl_arena_push(d->arena, most, sizeof **id);
  *count = 0;
  if (!*id) return TL_ENOMEM;
  for (int k = TL_FIRST_CONSTRAINT; k < TL_PAIR_KINDS; k++)
    for (size_t i = 0; k != TL_MERGES && i < of[k].count; i++) {
      TlPairKey key = tl_pair_key(&of[k], (TlPairKind)k, i);
      (*id)[(*count)++] = key.low;
      if (key.high >= 0) (*id)[(*count)++] = key.high;
    }
  qsort(*id, *count, sizeof **id, tl_by_int);
  return TL_OK;
}

static bool in_sensor(const TlReduce *d, int64_t i) {
  const TlReduction *o = options_of(d);
  TlVec3 x = d->bodies->position[i];
  double r = d->bodies->radius[i];
  for (int k = 0; k < o->sensors; k++) {
    const TlSensor *s = &o->sensor[k];
    if (x.x + r > s->low_m.x && x.x - r < s->high_m.x && x.y + r > s->low_m.y &&
        x.y - r < s->high_m.y && x.z + r > s->low_m.z && x.z - r < s->high_m.z)
      return true;
  }
  return false;
}

/* ---- merges whose reason is gone ---- */

typedef struct Held {
  TlPairKey *key; /* merges with boundaries that are still there, in order */
  size_t count;
} Held;

static int by_key(const void *one, const void *two) {
  return tl_pair_order(one, two);
}

static bool holds(const void *context, const TlPairKey *key) {
  const Held *h = context;
  return key->high >= 0 || bsearch(key, h->key, h->count, sizeof *key, by_key) != NULL;
}

/* A body keeps to a boundary while that is where it was. */
static TlStatus drop_stale(TlReduce *d) {
  Held held = {.key = tl_arena_push(d->arena, (size_t)d->found->contacts + 1, sizeof *held.key)};
  if (!held.key) return TL_ENOMEM;
  for (int32_t i = 0; i < d->found->contacts; i++) {
    const TlContact *c = &d->found->contact[i];
    if (c->b >= 0 || c->gap > APART_FRACTION * c->size) continue;
    held.key[held.count++] = (TlPairKey){.low = d->bodies->id[c->a], .high = -1 - c->boundary};
  }
  if (held.count > 1) qsort(held.key, held.count, sizeof *held.key, by_key);
  tl_pair_rows_keep(&d->bodies->pairs.of[TL_MERGES], TL_MERGES, holds, &held);
  return TL_OK;
}

/* Of contacts within units, which take their memory on. */
static void recall_moments(TlReduce *d) {
  const TlColliders *x = &d->bodies->colliders;
  size_t at = 0;
  for (int32_t i = 0; i < d->found->contacts; i++) {
    const TlContact *c = &d->found->contact[i];
    size_t count;
    if (!(c->rest.x > 0) || !tl_units_inner(&d->units, c)) continue;
    const TlContactForce *f =
        tl_pair_rows_next(&d->bodies->pairs.of[TL_FORCES], TL_FORCES, x->id[c->part_a],
                          c->b >= 0 ? x->id[c->part_b] : -1 - c->boundary, &at, &count);
    for (size_t k = 0; k < count; k++)
      if (f[k].number == c->key) d->inner_moment[i] = tl_scale(d->model->step_s, f[k].moment);
  }
}

void tl_reduce_forget(TlBodies *bodies) {
  for (int k = 0; k < TL_PAIR_KINDS; k++)
    if (tl_pair_kind_owner[k] == TL_OF_REDUCTION) bodies->pairs.of[k].count = 0;
}

TlStatus tl_reduce_open(TlReduce *d, const TlBoundary *boundary, const TlTwist *start) {
  const TlBodies *b = d->bodies;
  size_t n = (size_t)b->total, count;
  int64_t *id;
  d->apart = tl_arena_push(d->arena, n + 1, sizeof *d->apart);
  d->guided = tl_arena_push(d->arena, n + 1, sizeof *d->guided);
  d->marked = tl_arena_push(d->arena, n + 1, sizeof *d->marked);
  d->trial = tl_arena_push(d->arena, n + 1, sizeof *d->trial);
  d->inner_moment =
      tl_arena_push(d->arena, (size_t)d->found->contacts + 1, sizeof *d->inner_moment);
  d->start = tl_arena_push(d->arena, n + 1, sizeof *d->start);
  if (!d->apart || !d->guided || !d->marked || !d->trial || !d->inner_moment || !d->start)
    return TL_ENOMEM;
  memcpy(d->start, start, n * sizeof *start);
  memset(d->marked, 0, n * sizeof *d->marked);
  memset(d->trial, 0, n * sizeof *d->trial);
  memset(d->inner_moment, 0, (size_t)d->found->contacts * sizeof *d->inner_moment);
  TL_TRY(jointed(d, &id, &count));
  for (size_t i = 0; i < n; i++) {
    d->apart[i] = in_sensor(d, (int64_t)i);
    d->guided[i] = count && bsearch(&b->id[i], id, count, sizeof *id, tl_by_int);
  }
  TL_TRY(drop_stale(d));
  TL_TRY(tl_sync_forward(d->sync, d->guided,
                         sizeof *d->guided)); /* joints are their bodies' owners' */
  TL_TRY(tl_units_find(b, boundary, d->guided, d->sync, d->arena, &d->units));
  TL_TRY(tl_units_settle(&d->units, d->start, d->arena));
  recall_moments(d);
  return TL_OK;
}

/* ---- marks ---- */

static void mark(TlReduce *d, int32_t body, int depth) {
  if (body < 0 || !tl_unit_carries(&d->units, body)) return;
  if (d->marked[body] < depth) d->marked[body] = depth;
}

void tl_reduce_by_sensors(TlReduce *d) {
  for (int64_t i = 0; i < d->bodies->total; i++)
    if (d->apart[i]) mark(d, (int32_t)i, 1);
}

static TlVec3 velocity_at(const TlTwist *t, TlVec3 arm) {
  return tl_add(t->v, tl_cross(t->w, arm));
}

static TlVec3 relative_velocity(const TlTwist *twist, const TlContact *c) {
  return tl_sub(velocity_at(&twist[c->a], c->ra),
                c->b >= 0 ? velocity_at(&twist[c->b], c->rb) : c->wall);
}

/* A contact that will close within the step counts as the impact stage has it. */
void tl_reduce_by_contacts(TlReduce *d) {
  const TlReduction *o = options_of(d);
  TlVec3 kick = tl_scale(d->model->step_s, d->model->gravity_m_s2);
  for (int32_t i = 0; i < d->found->contacts; i++) {
    const TlContact *c = &d->found->contact[i];
    bool carried_a = tl_unit_carries(&d->units, c->a),
         carried_b = c->b >= 0 && tl_unit_carries(&d->units, c->b);
    if (!carried_a && !carried_b) continue;
    if (c->b >= 0 && tl_units_inner(&d->units, c)) continue;
    TlVec3 u = relative_velocity(d->start, c);
    double un = tl_dot(u, c->n), falls = carried_a ? 0 : 1;
    if (c->b >= 0 && !carried_b) falls -= 1;
    if (c->gap > 0 && !(un + falls * tl_dot(kick, c->n) < -c->gap / d->model->step_s)) continue;
    double ut = tl_norm(tl_axpy(u, -un, c->n));
    if (un >= -o->split_in_m_s && ut <= o->split_tangential_m_s) continue;
    mark(d, c->a, o->split_depth);
    mark(d, c->b, o->split_depth);
  }
}

/* Does nothing that the solve finds change how it moves? */
static bool is_anchored(const TlReduce *d, int32_t body) {
  return body < 0 || !(d->units.dynamics.inverse_mass[d->units.unit[body]] > 0);
}

/* A contact between what a belt carries and what stands is no row, since neither gives way: it would be run through. */
void tl_reduce_by_anchors(TlReduce *d) {
  static const double rounding = 1e-3; /* of the speed up to which bodies merge */
  double slow = rounding * options_of(d)->merge_in_m_s;
  for (int32_t i = 0; i < d->found->contacts; i++) {
    const TlContact *c = &d->found->contact[i];
    if (!is_anchored(d, c->a) || !is_anchored(d, c->b) || tl_units_inner(&d->units, c)) continue;
    TlTwist a = tl_unit_twist(&d->units, c->a);
    TlVec3 other = c->wall;
    if (c->b >= 0) {
      TlTwist b = tl_unit_twist(&d->units, c->b);
      other = velocity_at(&b, c->rb);
    }
    double un = tl_dot(tl_sub(velocity_at(&a, c->ra), other), c->n);
    if (un > -slow || !(un * d->model->step_s < -tl_max(c->gap, 0))) continue;
    mark(d, c->a, 1);
    mark(d, c->b, 1);
  }
}

/* ---- balance ---- */

/* Of a body that its contacts leave with these velocities at the end of the step. */
static TlLeftOver left_over(const TlReduce *d, int64_t i, TlVec3 v, TlVec3 w) {
  double h = d->model->step_s, keep = 1 - d->damping_per_s * h;
  TlVec3 weight = tl_scale(h, d->model->gravity_m_s2);
  TlLeftOver l = {tl_axpy(v, -keep, d->start[i].v), tl_axpy(w, -keep, d->start[i].w), 0};
  l.sizes = tl_norm(weight) + tl_norm(tl_sub(l.v, weight));
  return l;
}

static bool turns_by_friction_alone(const TlBodies *b, int64_t i) {
  return b->parts[i] == 0 && b->colliders.shape[b->first[i]]->closed == &tl_closed_sphere;
}

/* Servin 2015 Eq. 35 for forces, over the mass and times the step; and for torques the velocity at the radius of
 * gyration, which has the energy of the turn that begins. A sphere turns by friction alone, and that the first
 * sees. */
static bool is_small(const TlReduce *d, int64_t i, const TlLeftOver *l) {
  const TlReduction *o = options_of(d);
  const TlBodies *b = d->bodies;
  if (tl_norm(l->v) > o->trial_force * l->sizes) return false;
  if (turns_by_friction_alone(b, i)) return true;
  TlSym3 inertia = tl_bodies_rotated(b, i, b->inertia[i]);
  return sqrt(tl_dot(l->w, tl_sym_vec(inertia, l->w)) / b->mass[i]) <= o->trial_torque * l->sizes;
}

static bool in_balance(const TlReduce *d, int64_t i, TlVec3 v, TlVec3 w) {
  TlLeftOver l = left_over(d, i, v, w);
  return is_small(d, i, &l);
}

/* ---- bodies that stood ----
 *
 * A trial may leave something over of a body that its contacts bear: one that was split off for it, moved as before and
 * merged again has shown that. It stays merged while the trial leaves about the same over, and while no body that moves
 * for itself touches it: what held it may have been neighbours that were held. */

static const TlStanding *standing_row(const TlReduce *d, int64_t i) {
  const TlBodies *b = d->bodies;
  size_t count;
  return tl_pair_rows_find(&b->pairs.of[TL_STANDING], TL_STANDING, b->colliders.id[b->first[i]], -1,
                           &count);
}

static bool stands(const TlReduce *d, int64_t i, const TlLeftOver *l) {
  const TlBodies *b = d->bodies;
  const TlStanding *row = standing_row(d, i);
  if (!row) return false;
  double h = d->model->step_s;
  TlSym3 inverse = tl_bodies_rotated(b, i, b->inverse_inertia[i]);
  TlLeftOver more = {tl_axpy(l->v, -h * b->inverse_mass[i], row->force),
                     tl_axpy(l->w, -h, tl_sym_vec(inverse, row->moment)), l->sizes};
  return is_small(d, i, &more);
}

static TlStanding standing(const TlReduce *d, int64_t i) {
  const TlBodies *b = d->bodies;
  double per_s = 1 / d->model->step_s;
  TlSym3 inertia = tl_bodies_rotated(b, i, b->inertia[i]);
  return (TlStanding){.low = b->colliders.id[b->first[i]],
                      .high = -1,
                      .force = tl_scale(per_s * b->mass[i], d->trial[i].v),
                      .moment = tl_scale(per_s, tl_sym_vec(inertia, d->trial[i].w))};
}

/* stood: of the owned bodies, those that stay merged for that alone. */
static TlStatus mark_beside_loose(TlReduce *d, const bool *stood) {
  const TlBodies *b = d->bodies;
  bool *loose = tl_arena_push(d->arena, (size_t)b->total + 1, sizeof *loose);
  if (!loose) return TL_ENOMEM;
  for (int64_t i = 0; i < b->owned; i++)
    loose[i] = d->marked[i] || (!tl_unit_carries(&d->units, (int32_t)i) && b->inverse_mass[i] > 0);
  TL_TRY(tl_sync_forward(d->sync, loose, sizeof *loose));
  for (int32_t k = 0; k < d->found->contacts; k++) {
    const TlContact *c = &d->found->contact[k];
    if (c->b < 0 || c->gap > 0) continue;
    if (stood[c->a] && loose[c->b]) mark(d, c->a, 1);
    if (stood[c->b] && loose[c->a]) mark(d, c->b, 1);
  }
  return TL_OK;
}

/* carried: the bodies that moved with a unit in this step. */
static TlStatus note_standing(TlReduce *d, const bool *carried) {
  TlPairRows *rows = &d->bodies->pairs.of[TL_STANDING];
  size_t n = (size_t)d->bodies->owned, count = 0;
  TlStanding *next = tl_arena_push(d->arena, n + 1, sizeof *next);
  if (!next) return TL_ENOMEM;
  for (int64_t i = 0; i < (int64_t)n; i++) {
    if (!tl_unit_carries(&d->units, (int32_t)i)) continue;
    const TlStanding *row = carried[i] ? standing_row(d, i) : NULL;
    if (row)
      next[count++] = *row;
    else if (!carried[i] && d->marked[i] && d->trial[i].sizes > 0)
      next[count++] = standing(d, i);
  }
  TL_TRY(tl_pair_rows_reserve(rows, TL_STANDING, count));
  if (count) memcpy(rows->row, next, count * sizeof *next);
  rows->count = count;
  tl_pair_rows_sort(rows, TL_STANDING);
  return TL_OK;
}

static bool tries(const TlReduce *d) {
  return options_of(d)->split == TL_SPLIT_TRIAL || options_of(d)->split == TL_SPLIT_BOTH;
}

/* ---- the solve in the background ---- */

static int64_t high_of(const TlColliders *x, const TlContact *c) {
  return c->b >= 0 ? x->id[c->part_b] : -1 - c->boundary;
}

void tl_reduce_recall_trial(const TlReduce *d, const TlDynamics *dynamics) {
  const TlPairRows *rows = &d->bodies->pairs.of[TL_TRIALS];
  const TlColliders *x = &d->bodies->colliders;
  double h = d->model->step_s;
  size_t at = 0;
  for (int32_t i = 0; rows->count > 0 && i < d->found->contacts; i++) {
    TlContact *c = &d->found->contact[i];
    size_t count;
    if (tl_units_inner(&d->units, c)) continue;
    const TlTrialForce *f =
        tl_pair_rows_next(rows, TL_TRIALS, x->id[c->part_a], high_of(x, c), &at, &count);
    for (size_t k = 0; k < count; k++) {
      if (f[k].number != c->key) continue;
      tl_contact_want_tangents(c, dynamics);
      c->rest = tl_vec3(h * tl_max(0, tl_dot(f[k].force, c->n)), h * tl_dot(f[k].force, c->t1),
                        h * tl_dot(f[k].force, c->t2));
    }
  }
}

/* What the trial has of contacts within units; of the others what was known before, beside it. */
static TlStatus take_memory(TlReduce *d, const TlVec3 *known) {
  TlPairRows *rows = &d->bodies->pairs.of[TL_TRIALS];
  const TlColliders *x = &d->bodies->colliders;
  double per_s = 1 / d->model->step_s;
  TL_TRY(tl_pair_rows_reserve(rows, TL_TRIALS, (size_t)d->found->contacts));
  TlTrialForce *force = rows->row;
  rows->count = 0;
  for (int32_t i = 0; i < d->found->contacts; i++) {
    TlContact *c = &d->found->contact[i];
    if (tl_units_inner(&d->units, c)) {
      d->inner_moment[i] = c->moment;
      continue;
    }
    if (tl_norm2(c->rest) > 0)
      force[rows->count++] = (TlTrialForce){
          .low = x->id[c->part_a],
          .high = high_of(x, c),
          .number = c->key,
          .force = tl_scale(per_s, tl_axpy(tl_axpy(tl_scale(c->rest.x, c->n), c->rest.y, c->t1),
                                           c->rest.z, c->t2)),
          .moment = tl_scale(per_s, c->moment)};
    c->rest = known[i];
  }
  tl_pair_rows_sort(rows, TL_TRIALS);
  return TL_OK;
}

static void mark_moving(TlReduce *d, const TlTwist *after) {
  const TlReduction *o = options_of(d);
  for (int32_t i = 0; i < d->found->contacts; i++) {
    const TlContact *c = &d->found->contact[i];
    if (c->gap > 0) continue;
    TlVec3 u = relative_velocity(after, c);
    double un = tl_dot(u, c->n), ut = tl_norm(tl_axpy(u, -un, c->n));
    if (un >= -o->trial_in_m_s && un <= o->trial_out_m_s && ut <= o->trial_tangential_m_s) continue;
    mark(d, c->a, 1);
    mark(d, c->b, 1);
  }
}

TlStatus tl_reduce_by_trial(TlReduce *d, const TlNsRows *trial, const TlVec3 *known) {
  int64_t n = d->bodies->total;
  TlTwist *after = tl_arena_push(d->arena, (size_t)n + 1, sizeof *after);
  bool *stood = tl_arena_push(d->arena, (size_t)n + 1, sizeof *stood);
  if (!after || !stood) return TL_ENOMEM;
  memset(stood, 0, (size_t)n * sizeof *stood);
  for (int64_t i = 0; i < n; i++) {
    const TlNsBody *body = &trial->problem.body[i];
    after[i] = (TlTwist){.v = body->v, .w = body->w};
    if (i >= d->bodies->owned) continue;
    TlLeftOver l = left_over(d, i, body->v, body->w);
    if (is_small(d, i, &l)) continue;
    d->trial[i] = l;
    stood[i] = stands(d, i, &l);
    if (!stood[i]) mark(d, (int32_t)i, 1);
  }
  TL_TRY(mark_beside_loose(d, stood));
  if (options_of(d)->trial_velocity) {
    TL_TRY(tl_sync_forward(d->sync, after, sizeof *after));
    mark_moving(d, after);
  }
  TL_TRY(tl_nonsmooth_write_back(trial));
  return take_memory(d, known);
}

/* ---- split ---- */

/* Marks go on from body to body along merges, one depth less at each. */
static void spread_marks(TlReduce *d) {
  const TlPairRows *rows = &d->bodies->pairs.of[TL_MERGES];
  const TlMerge *merge = rows->row;
  for (int depth = options_of(d)->split_depth; depth > 1; depth--)
    for (size_t k = 0; k < rows->count; k++) {
      if (merge[k].high < 0) continue;
      int32_t low = tl_bodies_find(d->bodies, d->units.order, merge[k].low),
              high = tl_bodies_find(d->bodies, d->units.order, merge[k].high);
      if (d->marked[low] == depth) mark(d, high, depth - 1);
      if (d->marked[high] == depth) mark(d, low, depth - 1);
    }
}

static bool unmarked(const void *context, const TlPairKey *key) {
  const TlReduce *d = context;
  if (d->marked[tl_bodies_find(d->bodies, d->units.order, key->low)]) return false;
  return key->high < 0 || !d->marked[tl_bodies_find(d->bodies, d->units.order, key->high)];
}

TlStatus tl_reduce_split(TlReduce *d, const TlBoundary *boundary) {
  int any = 0;
  spread_marks(d);
  for (int64_t i = 0; i < d->bodies->owned; i++) d->splits += d->marked[i] > 0;
  any = d->splits > 0;
  TL_TRY(tl_sync_any(d->sync, &any));
  if (any) {
    tl_pair_rows_keep(&d->bodies->pairs.of[TL_MERGES], TL_MERGES, unmarked, d);
    TL_TRY(tl_units_find(d->bodies, boundary, d->guided, d->sync, d->arena, &d->units));
    TL_TRY(tl_units_settle(&d->units, d->start, d->arena));
  }
  /* anchors may have changed their speed: what that gives is booked, not the bodies' start */
  TlTwist *start = tl_arena_push(d->arena, (size_t)d->bodies->total + 1, sizeof *start);
  if (!start) return TL_ENOMEM;
  memcpy(start, d->start, (size_t)d->bodies->total * sizeof *start);
  tl_units_take(&d->units, start, tl_scale(0.5 * d->model->step_s, d->model->gravity_m_s2),
                &d->held);
  return TL_OK;
}

/* ---- what anchors give ---- */

static bool anchored(const TlReduce *d, int32_t body) {
  return body >= 0 && d->units.anchor[d->units.unit[body]] != TL_ANCHOR_NONE;
}

/* Work against contacts is that of walls, and booked with it. */
void tl_reduce_hold(TlReduce *d) {
  const TlBodies *b = d->bodies;
  for (int32_t i = 0; i < d->found->pairs; i++) {
    const TlPair *pair = &d->found->pair[i];
    for (int32_t k = pair->first; !pair->elsewhere && k < pair->first + pair->count; k++) {
      const TlContact *c = &d->found->contact[k];
      if (!c->touched || tl_units_inner(&d->units, c)) continue;
      TlVec3 impulse = tl_step_impulse(c);
      if (anchored(d, c->a)) tl_held_impulse(&d->held, tl_scale(-1, impulse));
      if (anchored(d, c->b)) tl_held_impulse(&d->held, impulse);
    }
  }
  for (int64_t i = 0; i < b->owned; i++) {
    if (!anchored(d, (int32_t)i)) continue;
    TlVec3 weight = tl_scale(d->model->step_s * b->mass[i], d->model->gravity_m_s2);
    tl_held_impulse(&d->held, tl_scale(-1, weight));
    tl_exact_add(d->held.work_J, -tl_dot(weight, tl_unit_twist(&d->units, (int32_t)i).v));
  }
}

/* ---- contacts within units ---- */

/* Bodies that move as one, but for fixed ones, which are of no unit. */
static bool one_unit(const TlReduce *d, int32_t a, int32_t b) {
  const TlUnits *u = &d->units;
  if ((d->bodies->flags[a] | d->bodies->flags[b]) & TL_BODY_FROZEN) return false;
  return u->id[u->unit[a]] == u->id[u->unit[b]];
}

TlStatus tl_reduce_parted(const TlReduce *d, bool **parted, bool *any) {
  *any = false;
  *parted = tl_arena_push(d->arena, (size_t)d->found->pairs + 1, sizeof **parted);
  if (!*parted) return TL_ENOMEM;
  for (int32_t i = 0; i < d->found->pairs; i++) {
    const TlPair *pair = &d->found->pair[i];
    (*parted)[i] = pair->kept && !one_unit(d, pair->a, pair->b);
    *any |= (*parted)[i];
  }
  return TL_OK;
}

TlStatus tl_reduce_found_again(TlReduce *d, const int32_t *from) {
  const TlVec3 *was = d->inner_moment, none = {0, 0, 0};
  size_t n = (size_t)d->found->contacts;
  d->inner_moment = tl_arena_push(d->arena, n + 1, sizeof *d->inner_moment);
  if (!d->inner_moment) return TL_ENOMEM;
  for (size_t i = 0; i < n; i++) d->inner_moment[i] = from[i] < 0 ? none : was[from[i]];
  return TL_OK;
}

/* Rows of a pair in the order of their numbers. */
static void add_inner(const TlReduce *d, const TlPair *pair, TlInnerContact *row) {
  const TlColliders *x = &d->bodies->colliders;
  TlQuat back = tl_quat_conj(x->rotation[pair->part_a]);
  for (int32_t k = 0; k < pair->count; k++) {
    const TlContact *c = &d->found->contact[pair->first + k];
    int32_t at = k;
    for (; at > 0 && row[at - 1].number > c->key; at--) row[at] = row[at - 1];
    TlVec3 arm = tl_sub(c->point, x->position[pair->part_a]);
    row[at] = (TlInnerContact){.low = pair->low,
                               .high = pair->high,
                               .number = c->key,
                               .point = tl_quat_rotate(back, arm),
                               .normal = tl_quat_rotate(back, c->n),
                               .gap = c->gap,
                               .band = pair->band,
                               .place = k};
  }
}

/* Pairs of the broad phase and those that were found among them come in one order, that of the rows. */
TlStatus tl_reduce_keep_contacts(TlReduce *d, const TlBodyPairs *near) {
  TlPairRows *rows = &d->bodies->pairs.of[TL_INNER];
  const TlColliders *x = &d->bodies->colliders;
  const TlFound *f = d->found;
  size_t count = 0, kept;
  int32_t at = 0;
  TlInnerContact *next =
      tl_arena_push(d->arena, (size_t)f->contacts + near->count + rows->count + 1, sizeof *next);
  if (!next) return TL_ENOMEM;
  for (size_t i = 0; d->units.merged > 0 && i < near->count; i++) {
    int32_t a = near->pair[i].a, b = near->pair[i].b;
    bool found = at < f->pairs && f->pair[at].part_a == a && f->pair[at].part_b == b;
    const TlPair *pair = found ? &f->pair[at++] : NULL;
    if ((!pair && f->clear[i] == 0) || !tl_detect_remembers(x->shape[a], x->shape[b]) ||
        !one_unit(d, x->body[a], x->body[b]))
      continue;
    const TlInnerContact *row = NULL;
    if (pair ? pair->kept : f->clear[i] < 0)
      row = tl_pair_rows_find(rows, TL_INNER, x->id[a], x->id[b], &kept);
    if (row) { /* to the bit */
      memcpy(&next[count], row, kept * sizeof *row);
      count += kept;
    } else if (pair) {
      add_inner(d, pair, &next[count]);
      count += (size_t)pair->count;
    } else if (f->clear[i] > 0) {
      next[count++] =
          (TlInnerContact){.low = x->id[a], .high = x->id[b], .gap = f->clear[i], .place = -1};
    }
  }
  TL_TRY(tl_pair_rows_reserve(rows, TL_INNER, count));
  if (count) memcpy(rows->row, next, count * sizeof *next);
  rows->count = count;
  return TL_OK;
}

/* ---- merge ---- */

/* Do the points of a patch span a face? About a line that all of them lie on, a body turns while none of
 * them moves. */
static bool spans_face(const TlContact *c, int32_t count) {
  TlVec3 along = {0, 0, 0};
  int32_t from = 0;
  for (int32_t i = 0; i < count; i++)
    for (int32_t k = 0; k < i; k++) {
      TlVec3 side = tl_sub(c[i].point, c[k].point);
      if (tl_norm2(side) <= tl_norm2(along)) continue;
      along = side;
      from = k;
    }
  TlVec3 axis = tl_unit(along);
  for (int32_t i = 0; i < count; i++)
    if (tl_norm(tl_cross(axis, tl_sub(c[i].point, c[from].point))) > FACE_FRACTION * c[i].size)
      return true;
  return false;
}

/* Servin 2015 Eqs. 26-28, of a patch. Where the points span a face, none of them may slide: then nothing rolls. */
static bool moves_as_one(const TlReduce *d, const TlTwist *after, const TlContact *c,
                         int32_t count) {
  const TlReduction *o = options_of(d);
  TlVec3 spin = tl_sub(after[c->a].w, c->b >= 0 ? after[c->b].w : c->wall_w);
  bool touches = false;
  for (int32_t k = 0; k < count; k++) {
    TlVec3 u = relative_velocity(after, &c[k]);
    double un = tl_dot(u, c[k].n), ut = tl_norm(tl_axpy(u, -un, c[k].n));
    touches |= c[k].gap <= 0;
    if (un < -o->merge_in_m_s || un > o->merge_out_m_s || ut > o->merge_tangential_m_s)
      return false;
  }
  return touches && (tl_norm(spin) <= o->merge_rolling_rad_s || spans_face(c, count));
}

static bool fixed(const TlReduce *d, int32_t body) {
  return d->bodies->flags[body] & TL_BODY_FROZEN;
}

static TlMerge merge_of(const TlBodies *b, const TlContact *c) {
  if (c->b < 0) return (TlMerge){b->id[c->a], -1 - c->boundary, 0};
  bool swap = b->id[c->b] < b->id[c->a];
  return (TlMerge){b->id[swap ? c->b : c->a], b->id[swap ? c->a : c->b], 0};
}

static TlCouple couple_of(const TlReduce *d, const TlContact *c, bool elsewhere) {
  TlMerge ids = merge_of(d->bodies, c);
  TlCouple couple = {ids.low, ids.high, c->a, c->b, TL_ANCHOR_WORLD, elsewhere};
  if (c->b < 0) couple.anchor = tl_anchor_of(d->units.boundary, c->boundary);
  if (c->b >= 0 && fixed(d, c->a)) couple.one = c->b;
  if (c->b >= 0 && (fixed(d, c->a) || fixed(d, c->b))) couple.two = -1;
  return couple;
}

/* Boundaries without friction take nothing along, nor do surfaces that run along a wall: a belt that stands would carry
 * what merged with it beyond its end. */
static bool may_hold(const TlReduce *d, const TlContact *c) {
  bool anchors = c->b < 0 || fixed(d, c->a) || fixed(d, c->b);
  if (anchors && !options_of(d)->boundaries) return false;
  if (d->apart[c->a] || (c->b >= 0 && d->apart[c->b])) return false;
  if (c->b < 0 && tl_boundary_runs(&d->units.boundary[c->boundary]) > 0) return false;
  return !anchors || c->law->friction > 0;
}

static bool moves(const TlReduce *d, int32_t body) {
  return body >= 0 && d->units.dynamics.inverse_mass[d->units.unit[body]] > 0;
}

static TlStatus find_couples(const TlReduce *d, const TlTwist *after, TlCouple **couple,
                             int32_t *count) {
  const TlFound *f = d->found;
  *couple = tl_arena_push(d->arena, (size_t)f->contacts + 1, sizeof **couple);
  *count = 0;
  if (!*couple) return TL_ENOMEM;
  for (int32_t i = 0; i < f->pairs; i++) {
    int32_t end = f->pair[i].first + f->pair[i].count, next;
    for (int32_t k = f->pair[i].first; k < end; k = next) {
      const TlContact *c = &f->contact[k];
      next = tl_nonsmooth_patch_end(f->contact, k, end);
      if (tl_units_inner(&d->units, c) || !(moves(d, c->a) || moves(d, c->b))) continue;
      int32_t points = next - k < TL_NS_POINTS ? next - k : TL_NS_POINTS;
      if (may_hold(d, c) && moves_as_one(d, after, c, points))
        (*couple)[(*count)++] = couple_of(d, c, f->pair[i].elsewhere);
    }
  }
  return TL_OK;
}

/* A merge for each contact within a unit: along them aggregates hang together. */
static TlStatus note_merges(TlReduce *d) {
  TlPairRows *rows = &d->bodies->pairs.of[TL_MERGES];
  for (int32_t i = 0; i < d->found->contacts; i++) {
    const TlContact *c = &d->found->contact[i];
    if (c->gap > 0 || !may_hold(d, c) || !tl_units_inner(&d->units, c)) continue;
    TlMerge one = merge_of(d->bodies, c);
    TL_TRY(tl_pair_state_add(&d->bodies->pairs, TL_MERGES, &one));
  }
  tl_pair_rows_sort(rows, TL_MERGES);
  return TL_OK;
}

void tl_reduce_spread(TlReduce *d, const TlNsRows *rows, TlTwist *after) {
  TlUnits *u = &d->units;
  for (int64_t i = 0; i < d->bodies->owned; i++) {
    const TlNsBody *body = &rows->problem.body[i];
    if (u->unit[i] == i && u->anchor[i] == TL_ANCHOR_NONE)
      u->dynamics.twist[i] = (TlTwist){.v = body->v, .w = body->w};
  }
  for (int64_t i = 0; i < d->bodies->owned; i++) {
    const TlTwist *unit = &u->dynamics.twist[u->unit[i]];
    after[i] = tl_unit_carries(u, (int32_t)i) ? tl_unit_twist(u, (int32_t)i)
                                              : (TlTwist){.v = unit->v, .w = unit->w};
  }
}

TlStatus tl_reduce_merge(TlReduce *d, TlTwist *after) {
  const TlBodies *b = d->bodies;
  TlCouple *couple = NULL;
  int32_t couples = 0;
  bool any;
  bool *before = tl_arena_push(d->arena, (size_t)b->total + 1, sizeof *before);
  if (!before) return TL_ENOMEM;
  for (int64_t i = 0; i < b->owned; i++) {
    before[i] = tl_unit_carries(&d->units, (int32_t)i);
    if (tries(d) && !before[i] && !d->apart[i] && b->inverse_mass[i] > 0)
      d->apart[i] = !in_balance(d, i, after[i].v, after[i].w);
  }
  if (tries(d)) TL_TRY(tl_sync_forward(d->sync, d->apart, sizeof *d->apart));
  TL_TRY(find_couples(d, after, &couple, &couples));
  TL_TRY(tl_units_join(&d->units, couple, couples, d->arena, &any));
  if (any) TL_TRY(note_merges(d));
  tl_units_take(&d->units, after, tl_scale(-0.5 * d->model->step_s, d->model->gravity_m_s2),
                &d->held);
  for (int64_t i = 0; i < b->owned; i++)
    d->merges += tl_unit_carries(&d->units, (int32_t)i) && !before[i];
  return tries(d) ? note_standing(d, before) : TL_OK;
}
