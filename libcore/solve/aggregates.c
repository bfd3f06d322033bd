#include "solve/aggregates.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- what hangs together ---- */

static bool fixed(const TlBodies *b, int32_t i) {
  return b->flags[i] & TL_BODY_FROZEN;
}

int32_t tl_anchor_of(const TlBoundary *boundary, int32_t number) {
  return boundary[number].drive ? number : TL_ANCHOR_WORLD;
}

/* What prescribes the motion of a unit, or shares in it. */
typedef struct Hold {
  int32_t anchor;
  bool guided;
} Hold;

static bool is_free(Hold h) {
  return h.anchor == TL_ANCHOR_NONE && !h.guided;
}

/* May what is held so be one? *both: how it is held then. */
static bool agree(Hold one, Hold two, Hold *both) {
  *both = is_free(one) ? two : one;
  if (is_free(one) || is_free(two)) return true;
  return !one.guided && !two.guided && one.anchor == two.anchor;
}

static Hold hold_of(const TlUnits *u, int32_t root) {
  return (Hold){u->anchor[root], u->guided[root]};
}

/* A body's unit with an anchor, or two bodies' units; of merges, which never are of two anchors. */
static void hold_by(TlUnits *u, int32_t body, int32_t anchor) {
  int32_t root = tl_unit_root(u, body);
  Hold both;
  if (agree(hold_of(u, root), (Hold){anchor, false}, &both)) u->anchor[root] = both.anchor;
}

static void join(TlUnits *u, int32_t one, int32_t two) {
  const TlBodies *b = u->bodies;
  if (fixed(b, one)) {
    hold_by(u, two, TL_ANCHOR_WORLD);
    return;
  }
  if (fixed(b, two)) {
    hold_by(u, one, TL_ANCHOR_WORLD);
    return;
  }
  int32_t x = tl_unit_root(u, one), y = tl_unit_root(u, two);
  Hold both;
  if (!agree(hold_of(u, x), hold_of(u, y), &both)) return;
  if (b->id[y] < b->id[x]) {
    int32_t other = x;
    x = y;
    y = other;
  }
  u->unit[y] = x;
  u->anchor[x] = both.anchor;
  u->guided[x] = both.guided;
}

/* What the owner of a body tells of its unit. */
typedef struct UnitName {
  int64_t id, body;
  int32_t anchor, at; /* at: the body, here */
} UnitName;

static int by_unit(const void *one, const void *two) {
  const UnitName *a = one, *b = two;
  if (a->id != b->id) return a->id < b->id ? -1 : 1;
  return (a->body > b->body) - (a->body < b->body);
}

/* Ghosts of one unit hang together here, too. */
static TlStatus hear_units(TlUnits *u, TlArena *arena) {
  const TlBodies *b = u->bodies;
  UnitName *name = tl_arena_push(arena, (size_t)b->total + 1, sizeof *name);
  if (!name) return TL_ENOMEM;
  for (int64_t i = 0; i < b->owned; i++) {
    int32_t root = tl_unit_root(u, (int32_t)i);
    name[i] = (UnitName){b->id[root], b->id[i], u->anchor[root], 0};
  }
  TL_TRY(tl_sync_forward(u->sync, name, sizeof *name));
  for (int64_t i = 0; i < b->total; i++) name[i].at = (int32_t)i;
  UnitName *ghost = name + b->owned;
  size_t ghosts = (size_t)(b->total - b->owned);
  if (ghosts > 1) qsort(ghost, ghosts, sizeof *ghost, by_unit);
  for (size_t i = 0, first = 0; i < ghosts; i++) {
    if (ghost[i].id != ghost[first].id) first = i;
    int32_t at = ghost[first].at; /* that with the unit's id, where it is here */
    u->unit[ghost[i].at] = at;
    u->id[at] = ghost[i].id;
    u->anchor[at] = ghost[i].anchor;
  }
  return TL_OK;
}

TlStatus tl_units_find(const TlBodies *b, const TlBoundary *boundary, const bool *guided,
                       const TlSync *sync, TlArena *arena, TlUnits *u) {
  size_t n = (size_t)b->total;
  double *inverse_mass = tl_arena_push(arena, n + 1, sizeof *inverse_mass);
  TlSym3 *inverse_inertia = tl_arena_push(arena, n + 1, sizeof *inverse_inertia);
  *u = (TlUnits){.bodies = b,
                 .boundary = boundary,
                 .sync = sync,
                 .unit = tl_arena_push(arena, n + 1, sizeof *u->unit),
                 .id = tl_arena_push(arena, n + 1, sizeof *u->id),
                 .members = tl_arena_push(arena, n + 1, sizeof *u->members),
                 .anchor = tl_arena_push(arena, n + 1, sizeof *u->anchor),
                 .guided = tl_arena_push(arena, n + 1, sizeof *u->guided),
                 .lever = tl_arena_push(arena, n + 1, sizeof *u->lever),
                 .centre = tl_arena_push(arena, n + 1, sizeof *u->centre),
                 .mass = tl_arena_push(arena, n + 1, sizeof *u->mass),
                 .inertia = tl_arena_push(arena, n + 1, sizeof *u->inertia),
                 .dynamics = {.twist = tl_arena_push(arena, n + 1, sizeof(TlTwist)),
                              .inverse_mass = inverse_mass,
                              .inverse_inertia = inverse_inertia}};
  if (!inverse_mass || !inverse_inertia || !u->unit || !u->id || !u->members || !u->anchor ||
      !u->guided || !u->lever || !u->centre || !u->mass || !u->inertia || !u->dynamics.twist)
    return TL_ENOMEM;
  TL_TRY(tl_bodies_order(b, arena, &u->order));
  for (size_t i = 0; i < n; i++) {
    u->unit[i] = (int32_t)i;
    u->id[i] = b->id[i];
    u->anchor[i] = TL_ANCHOR_NONE;
    u->guided[i] = guided[i];
  }
  const TlMerge *merge = b->pairs.of[TL_MERGES].row;
  for (size_t k = 0; k < b->pairs.of[TL_MERGES].count; k++) {
    int32_t low = tl_bodies_find(u->bodies, u->order, merge[k].low);
    if (merge[k].high < 0)
      hold_by(u, low, tl_anchor_of(boundary, (int32_t)(-1 - merge[k].high)));
    else
      join(u, low, tl_bodies_find(u->bodies, u->order, merge[k].high));
  }
  return sync ? hear_units(u, arena) : TL_OK;
}

TlStatus tl_units_held(const TlBodies *b, TlArena *arena, const int32_t **held) {
  const TlPairRows *rows = &b->pairs.of[TL_MERGES];
  const TlMerge *merge = rows->row;
  size_t n = (size_t)b->total;
  int32_t *order;
  *held = NULL;
  if (rows->count == 0) return TL_OK;
  int32_t *of = tl_arena_push(arena, n + 1, sizeof *of);
  bool *merged = tl_arena_push(arena, n + 1, sizeof *merged);
  if (!of || !merged) return TL_ENOMEM;
  TL_TRY(tl_bodies_order(b, arena, &order));
  for (size_t i = 0; i < n; i++) {
    of[i] = (int32_t)i;
    merged[i] = false;
  }
  for (size_t k = 0; k < rows->count; k++) {
    if (merge[k].high < 0) continue;
    int32_t x = tl_bodies_find(b, order, merge[k].low), y = tl_bodies_find(b, order, merge[k].high);
    if (x < 0 || y < 0 || fixed(b, x) || fixed(b, y)) continue;
    merged[x] = merged[y] = true;
    while (of[x] != x) x = of[x];
    while (of[y] != y) y = of[y];
    of[x < y ? y : x] = x < y ? x : y;
  }
  for (size_t i = 0; i < n; i++) of[i] = of[of[i]]; /* lower ones come first: they are done */
  for (size_t i = 0; i < n; i++)
    if (!merged[i]) of[i] = -1;
  *held = of;
  return TL_OK;
}

/* ---- mass and motion ---- */

static TlSym3 about(TlVec3 r, double m) {
  double s = tl_norm2(r);
  return (TlSym3){m * (s - r.x * r.x), m * (s - r.y * r.y), m * (s - r.z * r.z),
                  -m * r.x * r.y,      -m * r.x * r.z,      -m * r.y * r.z};
}

TlTwist tl_anchor_motion(const TlUnits *u, int32_t anchor, TlVec3 x) {
  if (anchor < 0) return (TlTwist){.v = {0, 0, 0}};
  const TlBoundary *b = &u->boundary[anchor];
  TlVec3 none = {0, 0, 0};
  return (TlTwist){.v = tl_boundary_velocity(b, x), .w = b->place.absent ? none : b->place.w};
}

/* Of a unit, as its owner tells it. */
typedef struct UnitState {
  int64_t id;
  TlVec3 centre, v, w;
  double mass, inverse_mass;
  TlSym3 inertia, inverse_inertia;
  int32_t members, anchor;
  bool guided;
} UnitState;

static UnitState state_of(const TlUnits *u, int32_t unit) {
  const TlTwist *t = &u->dynamics.twist[unit];
  return (UnitState){.id = u->id[unit],
                     .centre = u->centre[unit],
                     .v = t->v,
                     .w = t->w,
                     .mass = u->mass[unit],
                     .inverse_mass = u->dynamics.inverse_mass[unit],
                     .inertia = u->inertia[unit],
                     .inverse_inertia = u->dynamics.inverse_inertia[unit],
                     .members = u->members[unit],
                     .anchor = u->anchor[unit],
                     .guided = u->guided[unit]};
}

static void set_state(TlUnits *u, int32_t unit, const UnitState *x) {
  u->id[unit] = x->id;
  u->centre[unit] = x->centre;
  u->dynamics.twist[unit] = (TlTwist){.v = x->v, .w = x->w};
  u->mass[unit] = x->mass;
  ((double *)u->dynamics.inverse_mass)[unit] = x->inverse_mass;
  u->inertia[unit] = x->inertia;
  ((TlSym3 *)u->dynamics.inverse_inertia)[unit] = x->inverse_inertia;
  u->members[unit] = x->members;
  u->anchor[unit] = x->anchor;
  u->guided[unit] = x->guided;
}

static void count_units(TlUnits *u) {
  const TlBodies *b = u->bodies;
  u->aggregates = u->merged = u->anchored = 0;
  for (int64_t i = 0; i < b->owned; i++) {
    if (!tl_unit_carries(u, (int32_t)i)) continue;
    int32_t unit = u->unit[i];
    u->merged++;
    u->anchored += u->anchor[unit] != TL_ANCHOR_NONE;
    u->aggregates += u->id[unit] == b->id[i];
  }
}

/* Ghosts get what their owners have. */
static TlStatus hear_states(TlUnits *u, TlArena *arena) {
  const TlBodies *b = u->bodies;
  UnitState *state = tl_arena_push(arena, (size_t)b->total + 1, sizeof *state);
  if (!state) return TL_ENOMEM;
  for (int64_t i = 0; i < b->owned; i++) state[i] = state_of(u, u->unit[i]);
  TL_TRY(tl_sync_forward(u->sync, state, sizeof *state));
  for (int64_t i = b->owned; i < b->total; i++) {
    if (u->unit[i] == i) set_state(u, (int32_t)i, &state[i]);
    u->lever[i] = tl_sub(b->position[i], state[i].centre);
  }
  return TL_OK;
}

TlStatus tl_units_settle(TlUnits *u, const TlTwist *twist, TlArena *arena) {
  const TlBodies *b = u->bodies;
  double *inverse_mass = (double *)u->dynamics.inverse_mass;
  TlSym3 *inverse_inertia = (TlSym3 *)u->dynamics.inverse_inertia;
  int64_t n = b->total;
  for (int64_t i = 0; i < n; i++) {
    u->members[i] = 0;
    u->mass[i] = inverse_mass[i] = 0;
    u->centre[i] = u->lever[i] = (TlVec3){0, 0, 0};
    u->inertia[i] = inverse_inertia[i] = (TlSym3){0};
    u->dynamics.twist[i] = (TlTwist){.v = {0, 0, 0}};
  }
  for (int64_t k = 0; k < n; k++) { /* the lowest id comes first */
    int32_t i = u->order[k];
    if (i >= b->owned) continue;
    int32_t unit = u->unit[i] = tl_unit_root(u, i);
    u->members[unit]++;
    u->mass[unit] += b->mass[i];
    u->centre[unit] = tl_axpy(u->centre[unit], b->mass[i], b->position[i]);
    u->dynamics.twist[unit].v = tl_axpy(u->dynamics.twist[unit].v, b->mass[i], twist[i].v);
  }
  for (int64_t i = 0; i < b->owned; i++) {
    if (u->members[i] == 0) continue;
    if (u->members[i] == 1 && u->anchor[i] == TL_ANCHOR_NONE) { /* to the bit as it is */
      u->centre[i] = b->position[i];
      u->dynamics.twist[i].v = twist[i].v;
      continue;
    }
    u->centre[i] = tl_scale(1 / u->mass[i], u->centre[i]);
    u->dynamics.twist[i].v = tl_scale(1 / u->mass[i], u->dynamics.twist[i].v);
  }
  for (int64_t k = 0; k < n; k++) {
    int32_t i = u->order[k], unit = u->unit[i];
    if (i >= b->owned) continue;
    TlSym3 own = tl_bodies_rotated(b, i, b->inertia[i]);
    TlVec3 r = u->lever[i] = tl_sub(b->position[i], u->centre[unit]);
    TlTwist *t = &u->dynamics.twist[unit];
    TlVec3 v = tl_sub(twist[i].v, t->v);
    u->inertia[unit] = tl_sym_add(u->inertia[unit], tl_sym_add(own, about(r, b->mass[i])));
    t->w = tl_add(t->w, tl_add(tl_sym_vec(own, twist[i].w), tl_scale(b->mass[i], tl_cross(r, v))));
  }
  for (int64_t i = 0; i < b->owned; i++) {
    if (u->members[i] == 0) continue;
    TlTwist *t = &u->dynamics.twist[i];
    bool anchored = u->anchor[i] != TL_ANCHOR_NONE;
    if (anchored) *t = tl_anchor_motion(u, u->anchor[i], u->centre[i]);
    if (anchored) continue;
    if (u->members[i] == 1) { /* to the bit as it is */
      inverse_mass[i] = b->inverse_mass[i];
      inverse_inertia[i] = tl_bodies_rotated(b, i, b->inverse_inertia[i]);
      *t = twist[i];
      continue;
    }
    inverse_mass[i] = 1 / u->mass[i];
    inverse_inertia[i] = tl_sym_inverse(u->inertia[i]);
    t->w = tl_sym_vec(inverse_inertia[i], t->w);
  }
  if (u->sync) TL_TRY(hear_states(u, arena));
  count_units(u);
  return TL_OK;
}

/* ---- units that become one ---- */

/* A couple, as all ranks hear it. */
typedef struct Said {
  int64_t low, high, one, two; /* one, two: ids of the units; two < 0: the anchor */
  int64_t anchor;
} Said;

/* All that ranks say: a head, couples, the units that these name. */
typedef struct Talk {
  Said *said;
  UnitState *unit; /* by ids, each once; the first of those that are one is its root */
  int32_t *root, saids, units;
} Talk;

static int by_bodies(const void *one, const void *two) {
  const Said *a = one, *b = two;
  if (a->low != b->low) return a->low < b->low ? -1 : 1;
  return (a->high > b->high) - (a->high < b->high);
}

static int by_id(const void *one, const void *two) {
  int64_t a = ((const UnitState *)one)->id, b = ((const UnitState *)two)->id;
  return (a > b) - (a < b);
}

static TlStatus say_mine(const TlUnits *u, const TlCouple *couple, int32_t count, TlArena *arena,
                         Talk *mine) {
  const TlBodies *b = u->bodies;
  bool *told = tl_arena_push(arena, (size_t)b->total + 1, sizeof *told);
  mine->said = tl_arena_push(arena, (size_t)count + 1, sizeof *mine->said);
  mine->unit = tl_arena_push(arena, 2 * (size_t)count + 1, sizeof *mine->unit);
  if (!told || !mine->said || !mine->unit) return TL_ENOMEM;
  memset(told, 0, (size_t)b->total + 1);
  for (int32_t k = 0; k < count; k++) {
    const TlCouple *c = &couple[k];
    int32_t end[2] = {u->unit[c->one], c->two < 0 ? -1 : u->unit[c->two]};
    if (!c->elsewhere)
      mine->said[mine->saids++] =
          (Said){c->low, c->high, u->id[end[0]], end[1] < 0 ? -1 : u->id[end[1]], c->anchor};
    for (int side = 0; side < 2; side++) {
      if (end[side] < 0 || end[side] >= b->owned || told[end[side]]) continue;
      told[end[side]] = true;
      mine->unit[mine->units++] = state_of(u, end[side]);
    }
  }
  return TL_OK;
}

/* What all say, in order. */
static TlStatus hear_all(const TlSync *sync, const Talk *mine, TlArena *arena, Talk *all) {
  const unsigned char *bytes;
  const size_t *at, *end;
  int64_t head[2] = {mine->saids, mine->units};
  size_t said = (size_t)mine->saids * sizeof *mine->said,
         units = (size_t)mine->units * sizeof *mine->unit, size = sizeof head + said + units;
  unsigned char *own = tl_arena_push(arena, size, 1);
  if (!own) return TL_ENOMEM;
  memcpy(own, head, sizeof head);
  memcpy(own + sizeof head, mine->said, said);
  memcpy(own + sizeof head + said, mine->unit, units);
  TL_TRY(sync->gather(sync->ctx, own, size, &bytes, &at, &end));
  for (int pass = 0; pass < 2; pass++) {
    int32_t saids = 0, states = 0;
    for (int r = 0; r < sync->ranks; r++) {
      const unsigned char *from = bytes + at[r] + sizeof head;
      memcpy(head, bytes + at[r], sizeof head);
      if (pass) {
        memcpy(all->said + saids, from, (size_t)head[0] * sizeof *all->said);
        memcpy(all->unit + states, from + (size_t)head[0] * sizeof *all->said,
               (size_t)head[1] * sizeof *all->unit);
      }
      saids += (int32_t)head[0];
      states += (int32_t)head[1];
    }
    all->saids = saids;
    all->units = states;
    if (pass) break;
    all->said = tl_arena_push(arena, (size_t)saids + 1, sizeof *all->said);
    all->unit = tl_arena_push(arena, (size_t)states + 1, sizeof *all->unit);
    if (!all->said || !all->unit) return TL_ENOMEM;
  }
  return TL_OK;
}

static int32_t unit_with(const Talk *t, int64_t id) {
  const UnitState wanted = {.id = id};
  const UnitState *at = bsearch(&wanted, t->unit, (size_t)t->units, sizeof wanted, by_id);
  return at ? (int32_t)(at - t->unit) : -1;
}

static int32_t root_in(const Talk *t, int32_t i) {
  while (t->root[i] != i) i = t->root[i];
  return i;
}

static Hold hold_in(const Talk *t, int32_t root) {
  return (Hold){t->unit[root].anchor, t->unit[root].guided};
}

static void hold_root(Talk *t, int32_t root, Hold hold) {
  t->unit[root].anchor = hold.anchor;
  t->unit[root].guided = hold.guided;
}

/* Anchors of roots follow. */
static void join_all(Talk *t) {
  for (int32_t i = 0; i < t->units; i++) t->root[i] = i;
  for (int32_t k = 0; k < t->saids; k++) {
    const Said *s = &t->said[k];
    int32_t one = unit_with(t, s->one), two = s->two < 0 ? one : unit_with(t, s->two);
    assert(one >= 0 && two >= 0); /* their owners found the pair, too */
    int32_t x = root_in(t, one), y = root_in(t, two), least = x < y ? x : y;
    Hold with = s->two < 0 ? (Hold){(int32_t)s->anchor, false} : hold_in(t, y), both;
    if ((s->two >= 0 && x == y) || !agree(hold_in(t, x), with, &both)) continue;
    t->root[x] = t->root[y] = least;
    hold_root(t, least, both);
  }
}

/* What roots are as wholes: from the units, by ids. */
static TlStatus make_wholes(const TlUnits *u, const Talk *t, TlArena *arena, UnitState **wholes) {
  UnitState *whole = *wholes = tl_arena_push(arena, (size_t)t->units + 1, sizeof *whole);
  if (!whole) return TL_ENOMEM;
  for (int32_t i = 0; i < t->units; i++) {
    whole[i] =
        (UnitState){.id = t->unit[i].id, .anchor = t->unit[i].anchor, .guided = t->unit[i].guided};
    const UnitState *x = &t->unit[i];
    UnitState *w = &whole[root_in(t, i)];
    w->members += x->members;
    w->mass += x->mass;
    w->centre = tl_axpy(w->centre, x->mass, x->centre);
    w->v = tl_axpy(w->v, x->mass, x->v);
  }
  for (int32_t i = 0; i < t->units; i++) {
    if (whole[i].members == 0) continue;
    whole[i].centre = tl_scale(1 / whole[i].mass, whole[i].centre);
    whole[i].v = tl_scale(1 / whole[i].mass, whole[i].v);
  }
  for (int32_t i = 0; i < t->units; i++) {
    const UnitState *x = &t->unit[i];
    UnitState *w = &whole[root_in(t, i)];
    TlVec3 r = tl_sub(x->centre, w->centre), v = tl_sub(x->v, w->v);
    w->inertia = tl_sym_add(w->inertia, tl_sym_add(x->inertia, about(r, x->mass)));
    w->w = tl_add(w->w, tl_add(tl_sym_vec(x->inertia, x->w), tl_scale(x->mass, tl_cross(r, v))));
  }
  for (int32_t i = 0; i < t->units; i++) {
    UnitState *w = &whole[i];
    if (w->members == 0) continue;
    if (w->anchor == TL_ANCHOR_NONE) {
      w->inverse_mass = 1 / w->mass;
      w->inverse_inertia = tl_sym_inverse(w->inertia);
      w->w = tl_sym_vec(w->inverse_inertia, w->w);
      continue;
    }
    TlTwist motion = tl_anchor_motion(u, w->anchor, w->centre);
    w->v = motion.v;
    w->w = motion.w;
  }
  return TL_OK;
}

/* Those of this rank's bodies, owned or not, whose units were joined, become part of the wholes. */
static TlStatus take_wholes(TlUnits *u, const Talk *t, const UnitState *whole, TlArena *arena) {
  const TlBodies *b = u->bodies;
  int32_t *root = tl_arena_push(arena, (size_t)b->total + 1, sizeof *root);
  int32_t *place = tl_arena_push(arena, (size_t)t->units + 1, sizeof *place);
  if (!root || !place) return TL_ENOMEM;
  for (int32_t i = 0; i < t->units; i++) place[i] = -1;
  for (int64_t i = 0; i < b->total; i++) {
    int32_t unit = u->unit[i], at = unit_with(t, u->id[unit]);
    root[i] = at < 0 ? -1 : root_in(t, at);
    /* as it was: nothing joined it, and no anchor */
    if (root[i] >= 0 && whole[root[i]].members == u->members[unit] &&
        whole[root[i]].anchor == u->anchor[unit])
      root[i] = -1;
  }
  for (int64_t k = 0; k < b->total; k++) {
    int32_t i = u->order[k];
    if (root[i] >= 0 && i < b->owned && place[root[i]] < 0) place[root[i]] = i;
  }
  for (int64_t k = 0; k < b->total; k++) {
    int32_t i = u->order[k];
    if (root[i] >= 0 && place[root[i]] < 0) place[root[i]] = i;
  }
  for (int64_t i = 0; i < b->total; i++)
    if (root[i] >= 0) u->members[i] = 0;
  for (int64_t i = 0; i < b->total; i++) {
    if (root[i] < 0) continue;
    const UnitState *w = &whole[root[i]];
    u->unit[i] = place[root[i]];
    if (u->unit[i] == i) set_state(u, (int32_t)i, w);
    u->lever[i] = tl_sub(b->position[i], w->centre);
  }
  return TL_OK;
}

TlStatus tl_units_join(TlUnits *u, TlCouple *couple, int32_t count, TlArena *arena, bool *any) {
  Talk mine = {NULL}, all = {NULL};
  UnitState *whole;
  TL_TRY(say_mine(u, couple, count, arena, &mine));
  if (u->sync)
    TL_TRY(hear_all(u->sync, &mine, arena, &all));
  else
    all = mine;
  *any = all.saids > 0;
  if (!*any) return TL_OK;
  qsort(all.said, (size_t)all.saids, sizeof *all.said, by_bodies);
  qsort(all.unit, (size_t)all.units, sizeof *all.unit, by_id);
  all.root = tl_arena_push(arena, (size_t)all.units + 1, sizeof *all.root);
  if (!all.root) return TL_ENOMEM;
  join_all(&all);
  TL_TRY(make_wholes(u, &all, arena, &whole));
  TL_TRY(take_wholes(u, &all, whole, arena));
  count_units(u);
  return TL_OK;
}

/* ---- contacts within ---- */

static bool one_unit(const TlUnits *u, int32_t a, int32_t b) {
  return u->id[u->unit[a]] == u->id[u->unit[b]];
}

bool tl_units_inner(const TlUnits *u, const TlContact *c) {
  if (c->b >= 0) {
    if (fixed(u->bodies, c->b)) return u->anchor[u->unit[c->a]] == TL_ANCHOR_WORLD;
    if (fixed(u->bodies, c->a)) return u->anchor[u->unit[c->b]] == TL_ANCHOR_WORLD;
    return one_unit(u, c->a, c->b);
  }
  int32_t anchor = u->anchor[u->unit[c->a]];
  return anchor != TL_ANCHOR_NONE && anchor == tl_anchor_of(u->boundary, c->boundary);
}

/* ---- bodies follow ---- */

static double energy_of(const TlBodies *b, int32_t i, TlVec3 v, TlVec3 w) {
  return 0.5 * (b->mass[i] * tl_norm2(v) +
                tl_dot(w, tl_sym_vec(tl_bodies_rotated(b, i, b->inertia[i]), w)));
}

void tl_units_take(const TlUnits *u, TlTwist *twist, TlVec3 fall, const TlHeld *held) {
  const TlBodies *b = u->bodies;
  for (int64_t k = 0; k < b->total; k++) {
    int32_t i = u->order[k];
    if (i >= b->owned || !tl_unit_carries(u, i)) continue;
    TlTwist next = tl_unit_twist(u, i), *now = &twist[i];
    TlVec3 change = tl_sub(next.v, now->v);
    double lost = energy_of(b, i, change, tl_sub(next.w, now->w));
    tl_exact_add(held->lost_J, lost);
    tl_exact_add(held->fallen_J, -b->mass[i] * tl_dot(fall, change));
    if (u->anchor[u->unit[i]] != TL_ANCHOR_NONE) {
      tl_held_impulse(held, tl_scale(b->mass[i], change));
      tl_exact_add(held->work_J,
                   energy_of(b, i, next.v, next.w) - energy_of(b, i, now->v, now->w) + lost);
    }
    now->v = next.v;
    now->w = next.w;
  }
}

/* Turn of a unit in a step, and its spin at the end: as of a body (motion.c), with the inverse inertia of
 * the start. */
static TlQuat turn_of(TlSym3 inverse, TlVec3 momentum, TlVec3 w, double h, TlVec3 *spin) {
  enum { ROUNDS = 30 };
  for (int round = 0; round < ROUNDS; round++) {
    TlVec3 before = w;
    TlQuat half = tl_quat_from_rotation(tl_scale(0.5 * h, w));
    w = tl_quat_rotate(half, tl_sym_vec(inverse, tl_quat_rotate(tl_quat_conj(half), momentum)));
    if (h * tl_norm(tl_sub(w, before)) <= 1e-14) break;
  }
  TlQuat turn = tl_quat_from_rotation(tl_scale(h, w));
  *spin = tl_quat_rotate(turn, tl_sym_vec(inverse, tl_quat_rotate(tl_quat_conj(turn), momentum)));
  return turn;
}

/* What a unit does in a step. */
typedef struct Move {
  TlQuat turn;
  TlVec3 centre, v, w; /* at its end */
} Move;

static Move move_of(const TlUnits *u, int32_t unit, double h) {
  const TlTwist *t = &u->dynamics.twist[unit];
  int32_t anchor = u->anchor[unit];
  Move m = {.turn = {1, 0, 0, 0}, .centre = u->centre[unit], .v = t->v, .w = t->w};
  if (anchor == TL_ANCHOR_NONE) {
    m.centre = tl_axpy(m.centre, h, t->v);
    m.turn = turn_of(u->dynamics.inverse_inertia[unit], tl_sym_vec(u->inertia[unit], t->w), t->w, h,
                     &m.w);
  } else if (anchor >= 0 && !u->boundary[anchor].place.absent) {
    const TlPlacement *p = &u->boundary[anchor].place;
    TlVec3 pivot = tl_add(p->pivot, p->displacement), arm = tl_sub(m.centre, pivot);
    if (tl_norm2(p->w) > 0) m.turn = tl_quat_from_rotation(tl_scale(h, p->w));
    arm = tl_quat_rotate(m.turn, arm);
    m.centre = tl_add(tl_axpy(pivot, h, p->v), arm);
    m.v = tl_add(p->v, tl_cross(p->w, arm));
  }
  return m;
}

static void turn_memory(const TlUnits *u, const Move *move, TlBodies *b) {
  TlContactForce *f = b->pairs.of[TL_FORCES].row;
  for (size_t k = 0; k < b->pairs.of[TL_FORCES].count; k++) {
    int32_t low = tl_bodies_find_owner(b, u->order, f[k].low),
            high = tl_bodies_find_owner(b, u->order, f[k].high);
    if (low < 0 || !tl_unit_carries(u, low)) continue;
    int32_t unit = u->unit[low], anchor = u->anchor[unit];
    if (f[k].high < 0 ? anchor != tl_anchor_of(u->boundary, (int32_t)(-1 - f[k].high))
                      : high < 0 || !one_unit(u, low, high))
      continue;
    f[k].force = tl_quat_rotate(move[unit].turn, f[k].force);
    f[k].moment = tl_quat_rotate(move[unit].turn, f[k].moment);
  }
}

TlStatus tl_units_move(const TlUnits *u, TlBodies *b, TlArena *arena, double h, TlVec3 gravity,
                       const TlHeld *held) {
  if (u->merged == 0) return TL_OK;
  Move *move = tl_arena_push(arena, (size_t)b->total, sizeof *move);
  if (!move) return TL_ENOMEM;
  for (int64_t i = 0; i < b->total; i++)
    if (u->members[i] > 0 && tl_unit_carries(u, (int32_t)i)) move[i] = move_of(u, (int32_t)i, h);
  for (int64_t k = 0; k < b->total; k++) {
    int32_t i = u->order[k];
    if (i >= b->owned || !tl_unit_carries(u, i)) continue;
    const Move *m = &move[u->unit[i]];
    TlVec3 arm = tl_quat_rotate(m->turn, u->lever[i]), v = tl_add(m->v, tl_cross(m->w, arm)),
           x = tl_add(m->centre, arm);
    if (u->anchor[u->unit[i]] != TL_ANCHOR_NONE) {
      TlVec3 before = tl_unit_twist(u, i).v;
      tl_held_impulse(held, tl_scale(b->mass[i], tl_sub(v, before)));
      tl_exact_add(held->work_J, 0.5 * b->mass[i] * (tl_norm2(v) - tl_norm2(before)));
      /* the weight's work on an arc, beyond that over the mean velocity (step_nonsmooth.c) */
      TlVec3 beyond = tl_axpy(tl_sub(x, b->position[i]), -h, tl_scale(0.5, tl_add(v, before)));
      tl_exact_add(held->work_J, -b->mass[i] * tl_dot(gravity, beyond));
    }
    b->position[i] = x;
    b->rotation[i] = tl_quat_unit(tl_quat_mul(m->turn, b->rotation[i]));
    b->velocity[i] = v;
    tl_bodies_set_spin(b, i, m->w);
  }
  turn_memory(u, move, b);
  return TL_OK;
}
