#include "solve/aggregates.h"

#include <math.h>
#include <string.h>

/* ---- what hangs together ---- */

static bool fixed(const TlBodies *b, int32_t i) {
  return b->flags[i] & TL_BODY_FROZEN;
}

int32_t tl_anchor_of(const TlBoundary *boundary, int32_t number) {
  return boundary[number].drive ? number : TL_ANCHOR_WORLD;
}

static bool agree(int32_t one, int32_t two) {
  return one == TL_ANCHOR_NONE || two == TL_ANCHOR_NONE || one == two;
}

bool tl_units_anchor(TlUnits *u, int32_t body, int32_t anchor) {
  int32_t root = tl_unit_root(u, body);
  if (!agree(u->anchor[root], anchor)) return false;
  u->anchor[root] = anchor;
  return true;
}

bool tl_units_join(TlUnits *u, int32_t one, int32_t two) {
  const TlBodies *b = u->bodies;
  if (fixed(b, one)) return tl_units_anchor(u, two, TL_ANCHOR_WORLD);
  if (fixed(b, two)) return tl_units_anchor(u, one, TL_ANCHOR_WORLD);
  int32_t x = tl_unit_root(u, one), y = tl_unit_root(u, two);
  if (!agree(u->anchor[x], u->anchor[y])) return false;
  int32_t anchor = u->anchor[x] == TL_ANCHOR_NONE ? u->anchor[y] : u->anchor[x];
  if (b->id[y] < b->id[x]) {
    int32_t other = x;
    x = y;
    y = other;
  }
  u->unit[y] = x;
  u->anchor[x] = anchor;
  return true;
}

TlStatus tl_units_find(const TlBodies *b, const TlBoundary *boundary, TlArena *arena, TlUnits *u) {
  size_t n = (size_t)b->total;
  double *inverse_mass = tl_arena_push(arena, n + 1, sizeof *inverse_mass);
  TlSym3 *inverse_inertia = tl_arena_push(arena, n + 1, sizeof *inverse_inertia);
  *u = (TlUnits){.bodies = b,
                 .boundary = boundary,
                 .unit = tl_arena_push(arena, n + 1, sizeof *u->unit),
                 .members = tl_arena_push(arena, n + 1, sizeof *u->members),
                 .anchor = tl_arena_push(arena, n + 1, sizeof *u->anchor),
                 .lever = tl_arena_push(arena, n + 1, sizeof *u->lever),
                 .centre = tl_arena_push(arena, n + 1, sizeof *u->centre),
                 .mass = tl_arena_push(arena, n + 1, sizeof *u->mass),
                 .inertia = tl_arena_push(arena, n + 1, sizeof *u->inertia),
                 .dynamics = {.twist = tl_arena_push(arena, n + 1, sizeof(TlTwist)),
                              .inverse_mass = inverse_mass,
                              .inverse_inertia = inverse_inertia}};
  if (!inverse_mass || !inverse_inertia || !u->unit || !u->members || !u->anchor || !u->lever ||
      !u->centre || !u->mass || !u->inertia || !u->dynamics.twist)
    return TL_ENOMEM;
  TL_TRY(tl_bodies_order(b, arena, &u->order));
  for (size_t i = 0; i < n; i++) {
    u->unit[i] = (int32_t)i;
    u->anchor[i] = TL_ANCHOR_NONE;
  }
  const TlMerge *merge = b->pairs.of[TL_MERGES].row;
  for (size_t k = 0; k < b->pairs.of[TL_MERGES].count; k++) {
    int32_t low = tl_bodies_find(u->bodies, u->order, merge[k].low);
    if (merge[k].high < 0)
      tl_units_anchor(u, low, tl_anchor_of(boundary, (int32_t)(-1 - merge[k].high)));
    else
      tl_units_join(u, low, tl_bodies_find(u->bodies, u->order, merge[k].high));
  }
  return TL_OK;
}

/* ---- mass and motion ---- */

static TlSym3 sum_of(TlSym3 a, TlSym3 b) {
  return (TlSym3){a.xx + b.xx, a.yy + b.yy, a.zz + b.zz, a.xy + b.xy, a.xz + b.xz, a.yz + b.yz};
}

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

void tl_units_settle(TlUnits *u, const TlTwist *twist) {
  const TlBodies *b = u->bodies;
  double *inverse_mass = (double *)u->dynamics.inverse_mass;
  TlSym3 *inverse_inertia = (TlSym3 *)u->dynamics.inverse_inertia;
  int64_t n = b->total;
  u->aggregates = u->merged = u->anchored = 0;
  for (int64_t i = 0; i < n; i++) {
    u->members[i] = 0;
    u->mass[i] = inverse_mass[i] = 0;
    u->centre[i] = u->lever[i] = (TlVec3){0, 0, 0};
    u->inertia[i] = inverse_inertia[i] = (TlSym3){0};
    u->dynamics.twist[i] = (TlTwist){.v = {0, 0, 0}};
  }
  for (int64_t k = 0; k < n; k++) { /* the lowest id comes first */
    int32_t i = u->order[k], unit = u->unit[i] = tl_unit_root(u, i);
    u->members[unit]++;
    u->mass[unit] += b->mass[i];
    u->centre[unit] = tl_axpy(u->centre[unit], b->mass[i], b->position[i]);
    u->dynamics.twist[unit].v = tl_axpy(u->dynamics.twist[unit].v, b->mass[i], twist[i].v);
  }
  for (int64_t i = 0; i < n; i++) {
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
    TlSym3 own = tl_bodies_rotated(b, i, b->inertia[i]);
    TlVec3 r = u->lever[i] = tl_sub(b->position[i], u->centre[unit]);
    TlTwist *t = &u->dynamics.twist[unit];
    TlVec3 v = tl_sub(twist[i].v, t->v);
    u->inertia[unit] = sum_of(u->inertia[unit], sum_of(own, about(r, b->mass[i])));
    t->w = tl_add(t->w, tl_add(tl_sym_vec(own, twist[i].w), tl_scale(b->mass[i], tl_cross(r, v))));
  }
  for (int64_t i = 0; i < n; i++) {
    if (u->members[i] == 0) continue;
    TlTwist *t = &u->dynamics.twist[i];
    bool anchored = u->anchor[i] != TL_ANCHOR_NONE;
    if (anchored) *t = tl_anchor_motion(u, u->anchor[i], u->centre[i]);
    u->anchored += anchored ? u->members[i] : 0;
    if (anchored || u->members[i] > 1) {
      u->aggregates++;
      u->merged += u->members[i];
    }
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
}

bool tl_units_inner(const TlUnits *u, const TlContact *c) {
  if (c->b >= 0) {
    if (fixed(u->bodies, c->b)) return u->anchor[u->unit[c->a]] == TL_ANCHOR_WORLD;
    if (fixed(u->bodies, c->a)) return u->anchor[u->unit[c->b]] == TL_ANCHOR_WORLD;
    return u->unit[c->a] == u->unit[c->b];
  }
  int32_t anchor = u->anchor[u->unit[c->a]];
  return anchor != TL_ANCHOR_NONE && anchor == tl_anchor_of(u->boundary, c->boundary);
}

/* ---- bodies follow ---- */

static double energy_of(const TlBodies *b, int32_t i, TlVec3 v, TlVec3 w) {
  return 0.5 * (b->mass[i] * tl_norm2(v) +
                tl_dot(w, tl_sym_vec(tl_bodies_rotated(b, i, b->inertia[i]), w)));
}

void tl_units_take(const TlUnits *u, TlTwist *twist, TlHeld *held) {
  const TlBodies *b = u->bodies;
  for (int64_t k = 0; k < b->total; k++) {
    int32_t i = u->order[k];
    if (!tl_unit_carries(u, i)) continue;
    TlTwist next = tl_unit_twist(u, i), *now = &twist[i];
    TlVec3 change = tl_sub(next.v, now->v);
    double lost = energy_of(b, i, change, tl_sub(next.w, now->w));
    held->lost += lost;
    if (u->anchor[u->unit[i]] != TL_ANCHOR_NONE) {
      held->impulse = tl_axpy(held->impulse, b->mass[i], change);
      held->work += energy_of(b, i, next.v, next.w) - energy_of(b, i, now->v, now->w) + lost;
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
                      : high < 0 || u->unit[high] != unit)
      continue;
    f[k].force = tl_quat_rotate(move[unit].turn, f[k].force);
    f[k].moment = tl_quat_rotate(move[unit].turn, f[k].moment);
  }
}

TlStatus tl_units_move(const TlUnits *u, TlBodies *b, TlArena *arena, double h, TlHeld *held) {
  if (u->merged == 0) return TL_OK;
  Move *move = tl_arena_push(arena, (size_t)b->total, sizeof *move);
  if (!move) return TL_ENOMEM;
  for (int64_t i = 0; i < b->total; i++)
    if (u->members[i] > 0 && tl_unit_carries(u, (int32_t)i)) move[i] = move_of(u, (int32_t)i, h);
  for (int64_t k = 0; k < b->total; k++) {
    int32_t i = u->order[k];
    if (!tl_unit_carries(u, i)) continue;
    const Move *m = &move[u->unit[i]];
    TlVec3 arm = tl_quat_rotate(m->turn, u->lever[i]), v = tl_add(m->v, tl_cross(m->w, arm));
    if (u->anchor[u->unit[i]] != TL_ANCHOR_NONE) {
      TlVec3 before = tl_unit_twist(u, i).v;
      held->impulse = tl_axpy(held->impulse, b->mass[i], tl_sub(v, before));
      held->work += 0.5 * b->mass[i] * (tl_norm2(v) - tl_norm2(before));
    }
    b->position[i] = tl_add(m->centre, arm);
    b->rotation[i] = tl_quat_unit(tl_quat_mul(m->turn, b->rotation[i]));
    b->velocity[i] = v;
    tl_bodies_set_spin(b, i, m->w);
  }
  turn_memory(u, move, b);
  return TL_OK;
}
