#include "solve/reduction.h"

#include "model/shapes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double APART_SHARE =
    1e-3; /* of the radius: a boundary that is farther takes nothing along */
static const double FACE_SHARE = 0.5; /* of the radius: least width of a face */

/* ---- what may merge ---- */

static const TlReduction *options_of(const TlReduce *d) {
  return &d->model->nonsmooth.reduction;
}

static int by_value(const void *one, const void *two) {
  int64_t a = *(const int64_t *)one, b = *(const int64_t *)two;
  return a < b ? -1 : a > b;
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
  qsort(*id, *count, sizeof **id, by_value);
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
    if (c->b >= 0 || c->gap > APART_SHARE * c->size) continue;
    held.key[held.count++] = (TlPairKey){.low = d->bodies->id[c->a], .high = -1 - c->boundary};
  }
  if (held.count > 1) qsort(held.key, held.count, sizeof *held.key, by_key);
  tl_pair_rows_keep(&d->bodies->pairs.of[TL_MERGES], TL_MERGES, holds, &held);
  return TL_OK;
}

/* Of contacts within units, which take their memory on. */
static void recall_moments(TlReduce *d) {
  const TlColliders *x = &d->bodies->colliders;
  for (int32_t i = 0; i < d->found->contacts; i++) {
    const TlContact *c = &d->found->contact[i];
    size_t count;
    if (!(c->rest.x > 0) || !tl_units_inner(&d->units, c)) continue;
    const TlContactForce *f =
        tl_pair_rows_find(&d->bodies->pairs.of[TL_FORCES], TL_FORCES, x->id[c->part_a],
                          c->b >= 0 ? x->id[c->part_b] : -1 - c->boundary, &count);
    for (size_t k = 0; k < count; k++)
      if (f[k].number == c->key) d->inner_moment[i] = tl_scale(d->model->step_s, f[k].moment);
  }
}

TlStatus tl_reduce_open(TlReduce *d, const TlBoundary *boundary, const TlTwist *start) {
  const TlBodies *b = d->bodies;
  size_t n = (size_t)b->total, count;
  int64_t *id;
  d->apart = tl_arena_push(d->arena, n + 1, sizeof *d->apart);
  d->marked = tl_arena_push(d->arena, n + 1, sizeof *d->marked);
  d->inner_moment =
      tl_arena_push(d->arena, (size_t)d->found->contacts + 1, sizeof *d->inner_moment);
  d->start = tl_arena_push(d->arena, n + 1, sizeof *d->start);
  if (!d->apart || !d->marked || !d->inner_moment || !d->start) return TL_ENOMEM;
  memcpy(d->start, start, n * sizeof *start);
  memset(d->marked, 0, n * sizeof *d->marked);
  memset(d->inner_moment, 0, (size_t)d->found->contacts * sizeof *d->inner_moment);
  TL_TRY(jointed(d, &id, &count));
  for (size_t i = 0; i < n; i++)
    d->apart[i] =
        in_sensor(d, (int64_t)i) || (count && bsearch(&b->id[i], id, count, sizeof *id, by_value));
  TL_TRY(drop_stale(d));
  TL_TRY(tl_units_find(b, boundary, d->arena, &d->units));
  tl_units_settle(&d->units, d->start);
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
    TlVec3 u = tl_sub(velocity_at(&d->start[c->a], c->ra),
                      c->b >= 0 ? velocity_at(&d->start[c->b], c->rb) : c->wall);
    double un = tl_dot(u, c->n), falls = carried_a ? 0 : 1;
    if (c->b >= 0 && !carried_b) falls -= 1;
    if (c->gap > 0 && !(un + falls * tl_dot(kick, c->n) < -c->gap / d->model->step_s)) continue;
    double ut = tl_norm(tl_axpy(u, -un, c->n));
    if (un >= -o->split_in_m_s && ut <= o->split_tangential_m_s) continue;
    mark(d, c->a, o->split_depth);
    mark(d, c->b, o->split_depth);
  }
}

/* ---- balance ---- */

/* Of a body that its contacts leave with these velocities at the end of the step: Servin 2015 Eq. 35 for
 * forces, over the mass and times the step; and for torques the velocity at the radius of gyration,
 * which has the energy of the turn that begins. A sphere turns by friction alone, and that the first
 * sees. */
static bool in_balance(const TlReduce *d, int64_t i, TlVec3 v, TlVec3 w) {
  const TlReduction *o = options_of(d);
  const TlBodies *b = d->bodies;
  double h = d->model->step_s, keep = 1 - d->damping_per_s * h;
  TlVec3 net = tl_axpy(v, -keep, d->start[i].v), turn = tl_axpy(w, -keep, d->start[i].w);
  TlVec3 weight = tl_scale(h, d->model->gravity_m_s2);
  double sizes = tl_norm(weight) + tl_norm(tl_sub(net, weight));
  if (tl_norm(net) > o->trial_force * sizes) return false;
  if (b->parts[i] == 0 && b->colliders.shape[b->first[i]]->closed == &tl_closed_sphere) return true;
  TlSym3 inertia = tl_bodies_rotated(b, i, b->inertia[i]);
  return sqrt(tl_dot(turn, tl_sym_vec(inertia, turn)) / b->mass[i]) <= o->trial_torque * sizes;
}

static bool tries(const TlReduce *d) {
  return options_of(d)->split == TL_SPLIT_TRIAL || options_of(d)->split == TL_SPLIT_BOTH;
}

/* ---- the solve in the background ---- */

static void take_memory(TlReduce *d, const TlNsRows *trial) {
  const TlNsProblem *q = &trial->problem;
  for (int32_t i = 0; i < q->patches; i++) {
    const TlNsPatch *p = &q->patch[i];
    TlContact *first = &d->found->contact[q->point[p->first].contact];
    if (!tl_units_inner(&d->units, first)) continue;
    TlVec3 shear = tl_axpy(tl_scale(p->lambda[0], p->t1), p->lambda[1], p->t2);
    double borne = 0;
    for (int32_t k = p->first; k < p->first + p->count; k++)
      borne += q->point[k].lambda - q->point[k].least;
    for (int32_t k = p->first; k < p->first + p->count; k++) {
      const TlNsPoint *x = &q->point[k];
      TlContact *c = &d->found->contact[x->contact];
      double part = borne > 0 ? (x->lambda - x->least) / borne : 0;
      tl_contact_want_tangents(c, trial->dynamics);
      c->rest = tl_vec3(x->lambda, part * tl_dot(shear, c->t1), part * tl_dot(shear, c->t2));
    }
    if (p->resist < 0) continue;
    const double *l = q->resist[p->resist].lambda;
    int32_t bears = p->first; /* forces are remembered, and with them their moments */
    while (bears + 1 < p->first + p->count && q->point[bears].lambda == 0) bears++;
    d->inner_moment[q->point[bears].contact] =
        tl_axpy(tl_axpy(tl_scale(l[0], p->n), l[1], p->t1), l[2], p->t2);
  }
}

static void mark_moving(TlReduce *d, const TlNsRows *trial) {
  const TlReduction *o = options_of(d);
  const TlNsProblem *q = &trial->problem;
  for (int32_t i = 0; i < q->patches; i++) {
    const TlNsPatch *p = &q->patch[i];
    const TlContact *c = &d->found->contact[q->point[p->first].contact];
    if (c->gap > 0) continue;
    TlTwist a = {.v = q->body[p->a].v, .w = q->body[p->a].w},
            b = {.v = q->body[p->b].v, .w = q->body[p->b].w};
    TlVec3 u = tl_sub(velocity_at(&a, p->ra), velocity_at(&b, p->rb));
    if (c->b < 0) u = tl_sub(u, c->wall);
    double un = tl_dot(u, p->n), ut = tl_norm(tl_axpy(u, -un, p->n));
    if (un >= -o->trial_in_m_s && un <= o->trial_out_m_s && ut <= o->trial_tangential_m_s) continue;
    mark(d, c->a, 1);
    mark(d, c->b, 1);
  }
}

void tl_reduce_by_trial(TlReduce *d, const TlNsRows *trial) {
  for (int64_t i = 0; i < d->bodies->total; i++) {
    const TlNsBody *body = &trial->problem.body[i];
    if (!in_balance(d, i, body->v, body->w)) mark(d, (int32_t)i, 1);
  }
  if (options_of(d)->trial_velocity) mark_moving(d, trial);
  take_memory(d, trial);
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
  spread_marks(d);
  for (int64_t i = 0; i < d->bodies->total; i++) d->splits += d->marked[i] > 0;
  if (d->splits > 0) {
    tl_pair_rows_keep(&d->bodies->pairs.of[TL_MERGES], TL_MERGES, unmarked, d);
    TL_TRY(tl_units_find(d->bodies, boundary, d->arena, &d->units));
    tl_units_settle(&d->units, d->start);
  }
  /* anchors may have changed their speed: what that gives is booked, not the bodies' start */
  TlTwist *start = tl_arena_push(d->arena, (size_t)d->bodies->total + 1, sizeof *start);
  if (!start) return TL_ENOMEM;
  memcpy(start, d->start, (size_t)d->bodies->total * sizeof *start);
  tl_units_take(&d->units, start, &d->held);
  return TL_OK;
}

/* ---- what anchors give ---- */

static bool anchored(const TlReduce *d, int32_t unit) {
  return unit < d->bodies->total && d->units.anchor[unit] != TL_ANCHOR_NONE;
}

void tl_reduce_hold(TlReduce *d, const TlNsRows *rows, bool impact) {
  const TlNsProblem *q = &rows->problem;
  TlHeld *h = &d->held;
  if (d->units.anchored == 0) return;
  for (int32_t i = 0; i < q->patches; i++) {
    const TlNsPatch *p = &q->patch[i];
    const TlNsBody *a = &q->body[p->a], *b = &q->body[p->b];
    if (!anchored(d, p->a) && !anchored(d, p->b)) continue;
    TlNsPush push = tl_nonsmooth_push(rows, i, impact);
    if (anchored(d, p->a)) {
      h->impulse = tl_sub(h->impulse, push.impulse);
      h->work -= tl_dot(push.impulse, a->v) + tl_dot(push.moment_a, a->w);
    }
    if (anchored(d, p->b)) {
      h->impulse = tl_add(h->impulse, push.impulse);
      h->work += tl_dot(push.impulse, b->v) + tl_dot(push.moment_b, b->w);
    }
  }
  for (int64_t k = 0; !impact && k < d->bodies->total; k++) {
    int32_t i = d->units.order[k];
    if (!anchored(d, d->units.unit[i])) continue;
    TlVec3 weight = tl_scale(d->model->step_s * d->bodies->mass[i], d->model->gravity_m_s2);
    h->impulse = tl_sub(h->impulse, weight);
    h->work -= tl_dot(weight, tl_unit_twist(&d->units, i).v);
  }
}

/* ---- merge ---- */

/* Do the points of a patch span a face? About a line that all of them lie on, a body turns while none of
 * them moves. */
static bool spans_face(const TlReduce *d, const TlNsProblem *q, const TlNsPatch *p) {
  const TlContact *c[TL_NS_POINTS];
  TlVec3 along = {0, 0, 0};
  int32_t from = 0;
  for (int32_t i = 0; i < p->count; i++) c[i] = &d->found->contact[q->point[p->first + i].contact];
  for (int32_t i = 0; i < p->count; i++)
    for (int32_t k = 0; k < i; k++) {
      TlVec3 side = tl_sub(c[i]->point, c[k]->point);
      if (tl_norm2(side) <= tl_norm2(along)) continue;
      along = side;
      from = k;
    }
  TlVec3 axis = tl_unit(along);
  for (int32_t i = 0; i < p->count; i++)
    if (tl_norm(tl_cross(axis, tl_sub(c[i]->point, c[from]->point))) > FACE_SHARE * c[i]->size)
      return true;
  return false;
}

/* Servin 2015 Eqs. 26-28. Where the points span a face, none of them may slide: then nothing rolls. */
static bool moves_as_one(const TlReduce *d, const TlNsProblem *q, const TlNsPatch *p) {
  const TlReduction *o = options_of(d);
  const TlUnits *units = &d->units;
  TlTwist a = {.v = q->body[p->a].v, .w = q->body[p->a].w},
          b = {.v = q->body[p->b].v, .w = q->body[p->b].w};
  TlVec3 spin = tl_sub(a.w, b.w);
  bool touches = false;
  for (int32_t k = p->first; k < p->first + p->count; k++) {
    const TlContact *c = &d->found->contact[q->point[k].contact];
    TlVec3 u = velocity_at(&a, tl_add(units->lever[c->a], c->ra));
    if (c->b < 0) {
      u = tl_sub(u, c->wall);
      spin = tl_sub(
          a.w, tl_anchor_motion(units, tl_anchor_of(units->boundary, c->boundary), c->point).w);
    } else {
      u = tl_sub(u, velocity_at(&b, tl_add(units->lever[c->b], c->rb)));
    }
    double un = tl_dot(u, c->n), ut = tl_norm(tl_axpy(u, -un, c->n));
    touches |= c->gap <= 0;
    if (un < -o->merge_in_m_s || un > o->merge_out_m_s || ut > o->merge_tangential_m_s)
      return false;
  }
  return touches && (tl_norm(spin) <= o->merge_rolling_rad_s || spans_face(d, q, p));
}

/* Two bodies, or a body and a boundary, that merge. */
typedef struct Couple {
  int64_t low, high; /* as a merge's key */
  int32_t a, b;      /* b < 0: -1 - the boundary */
} Couple;

static int by_ids(const void *one, const void *two) {
  const Couple *a = one, *b = two;
  if (a->low != b->low) return a->low < b->low ? -1 : 1;
  return a->high < b->high ? -1 : a->high > b->high;
}

static Couple couple_of(const TlBodies *b, const TlContact *c) {
  if (c->b < 0) return (Couple){b->id[c->a], -1 - c->boundary, c->a, -1 - c->boundary};
  bool swap = b->id[c->b] < b->id[c->a];
  int32_t low = swap ? c->b : c->a, high = swap ? c->a : c->b;
  return (Couple){b->id[low], b->id[high], low, high};
}

/* Boundaries without friction take nothing along. */
static bool may_hold(const TlReduce *d, const TlContact *c) {
  bool fixed = c->b < 0 || d->bodies->flags[c->b] & TL_BODY_FROZEN ||
               d->bodies->flags[c->a] & TL_BODY_FROZEN;
  if (fixed && !options_of(d)->boundaries) return false;
  if (d->apart[c->a] || (c->b >= 0 && d->apart[c->b])) return false;
  return !fixed || c->law->friction > 0;
}

static TlStatus find_couples(const TlReduce *d, const TlNsRows *rows, Couple **couple,
                             int32_t *count) {
  const TlNsProblem *q = &rows->problem;
  *couple = tl_arena_push(d->arena, (size_t)q->patches + 1, sizeof **couple);
  *count = 0;
  if (!*couple) return TL_ENOMEM;
  for (int32_t i = 0; i < q->patches; i++) {
    const TlNsPatch *p = &q->patch[i];
    const TlContact *c = &d->found->contact[q->point[p->first].contact];
    if (may_hold(d, c) && moves_as_one(d, q, p)) (*couple)[(*count)++] = couple_of(d->bodies, c);
  }
  if (*count > 1) qsort(*couple, (size_t)*count, sizeof **couple, by_ids);
  return TL_OK;
}

/* A merge for each contact within a unit: along them aggregates hang together. */
static TlStatus note_merges(TlReduce *d) {
  TlPairRows *rows = &d->bodies->pairs.of[TL_MERGES];
  for (int32_t i = 0; i < d->found->contacts; i++) {
    const TlContact *c = &d->found->contact[i];
    if (c->gap > 0 || !may_hold(d, c) || !tl_units_inner(&d->units, c)) continue;
    Couple one = couple_of(d->bodies, c);
    TL_TRY(tl_pair_state_add(&d->bodies->pairs, TL_MERGES, &(TlMerge){one.low, one.high, 0}));
  }
  tl_pair_rows_sort(rows, TL_MERGES);
  return TL_OK;
}

void tl_reduce_spread(const TlReduce *d, const TlNsRows *rows, TlTwist *after) {
  for (int64_t i = 0; i < d->bodies->total; i++) {
    const TlNsBody *unit = &rows->problem.body[d->units.unit[i]];
    bool carried = tl_unit_carries(&d->units, (int32_t)i);
    after[i] = (TlTwist){.v = unit->v, .w = unit->w};
    if (carried) after[i].v = tl_add(unit->v, tl_cross(unit->w, d->units.lever[i]));
  }
}

TlStatus tl_reduce_merge(TlReduce *d, const TlNsRows *rows, TlTwist *after) {
  const TlBodies *b = d->bodies;
  int64_t n = b->total;
  Couple *couple;
  int32_t couples = 0;
  bool *before = tl_arena_push(d->arena, (size_t)n + 1, sizeof *before);
  if (!before) return TL_ENOMEM;
  for (int64_t i = 0; i < n; i++) {
    before[i] = tl_unit_carries(&d->units, (int32_t)i);
    if (tries(d) && !before[i] && !d->apart[i] && b->inverse_mass[i] > 0)
      d->apart[i] = !in_balance(d, i, after[i].v, after[i].w);
  }
  if (d->time_s >= options_of(d)->from_s) TL_TRY(find_couples(d, rows, &couple, &couples));
  for (int32_t k = 0; k < couples; k++) {
    if (couple[k].b < 0)
      tl_units_anchor(&d->units, couple[k].a, tl_anchor_of(d->units.boundary, -1 - couple[k].b));
    else
      tl_units_join(&d->units, couple[k].a, couple[k].b);
  }
  tl_units_settle(&d->units, after);
  if (couples > 0) TL_TRY(note_merges(d));
  tl_units_take(&d->units, after, &d->held);
  for (int64_t i = 0; i < n; i++) d->merges += tl_unit_carries(&d->units, (int32_t)i) && !before[i];
  return TL_OK;
}
