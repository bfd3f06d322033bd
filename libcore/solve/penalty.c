#include "solve/penalty.h"

#include "base/mem.h"
#include "solve/contact.h"
#include "solve/force_lanes.h"
#include "model/shapes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What the points of a contact share. */
typedef struct Pair {
  const TlPenaltyContact *contact;
  const TlNormalLaw *law;
  TlLawPoint point; /* area filled point by point */
  double mass;      /* reduced */
  double slopes;    /* sum over the points */
  double damping;   /* c of the pair over its slopes: c_k = damping * slope_k */
  double shear_damping;
} Pair;

static inline Pair pair_of(const TlPenaltyContact *p) {
  const TlPenaltyBody *a = &p->body[p->a], *b = p->b >= 0 ? &p->body[p->b] : NULL;
  double inverse = a->inverse_mass, sum = 1, product = a->radius;
  if (b) {
    inverse += b->inverse_mass;
    sum = a->radius + b->radius;
    product *= b->radius;
  }
  double both = 1 / (inverse * sum); /* one division for two */
  return (Pair){.contact = p,
                .law = tl_law(p->penalty->law),
                .point = {.stiffness = &p->law->stiffness, .radius_m = product * inverse * both},
                .mass = sum * both};
}

/* The collider that a point is a node of. */
static int32_t whose(const TlPenaltyContact *p, const TlPoint *point) {
  return point->key & 1 && p->b >= 0 ? p->b : p->a;
}

/* Of the surface that a point stands for; 0: a point. Both grains' nodes bear half each. */
static double area_of(const TlPenaltyContact *p, const TlPoint *point) {
  if (p->penalty->spread != TL_SPREAD_TRACTION) return 0;
  if (point->area_m2 > 0) return point->area_m2;
  int32_t body = whose(p, point);
  const TlShape *shape = p->colliders->shape[body];
  if (!shape->avatar) return 0;
  double scale = p->colliders->scale[body], fraction = p->b >= 0 ? 0.5 : 1;
  return fraction * scale * scale * (double)shape->avatar->node_area_m2[point->key >> 1];
}

/* What a point for a piece of surface bears over one whose surface is all at its depth.
 * steep: what the depth grows by, over the displacement along the normal. */
typedef struct Piece {
  double force, slope, energy, steep;
} Piece;

static inline Piece piece_of(const TlPenaltyContact *p, const TlPoint *point) {
  if (p->penalty->spread != TL_SPREAD_TRACTION) return (Piece){1, 1, 1, 1};
  double steep = 1 + point->steeper;
  if (!(point->filled > 0)) return (Piece){steep, steep * steep, 1, steep};
  return (Piece){steep * point->filled, steep * steep, point->filled2, steep};
}

/* The area of a piece swells and shrinks with each tremble of the contact, and a spring whose stiffness
 * followed it would lose some of its force every time, so that heaps would creep. It keeps the largest
 * stiffness that it had. */
static inline double shear_of(const TlPoint *point, double shear, const TlSpring *known) {
  return known && point->filled > 0 ? tl_max(shear, known->stiffness) : shear;
}

/* The depth at which a contact bears. */
static inline double capped(const TlPenaltyContact *p, double depth) {
  double fraction = p->penalty->most_share;
  if (fraction <= 0) return depth;
  double size = p->body[p->a].radius;
  if (p->b >= 0) size = tl_min(size, p->body[p->b].radius);
  return tl_min(depth, fraction * size);
}

/* Touching points to the front, in order of key: sums must not depend on how they were found. */
static int by_key(const void *one, const void *two) {
  const TlPoint *a = one, *b = two;
  return a->key < b->key ? -1 : a->key > b->key;
}

/* They come nearly sorted: rising, or falling as those of polyhedra's faces do. Few moves put them in order. */
static void sort_points(TlPoint *point, size_t count) {
  enum { MOST_MOVES = 8 /* a point */ };
  size_t moves = 0;
  if (count > 1 && point[0].key > point[count - 1].key)
    for (size_t i = 0, j = count - 1; i < j; i++, j--) {
      TlPoint other = point[i];
      point[i] = point[j];
      point[j] = other;
    }
  for (size_t i = 1; i < count; i++) {
    size_t to = i;
    while (to > 0 && point[to - 1].key > point[i].key) to--;
    if (to == i) continue;
    moves += i - to;
    if (moves > MOST_MOVES * count) {
      qsort(point, count, sizeof *point, by_key);
      return;
    }
    TlPoint moved = point[i];
    memmove(&point[to + 1], &point[to], (i - to) * sizeof *point);
    point[to] = moved;
  }
}

/* A corner that a polyhedron has beside its nodes stands for no surface. */
static bool is_bare(const TlPenaltyContact *p, const TlPoint *point) {
  if (p->penalty->spread != TL_SPREAD_TRACTION || point->area_m2 > 0) return false;
  const TlAvatar *avatar = p->colliders->shape[whose(p, point)]->avatar;
  return avatar && point->key >> 1 >= avatar->node_count;
}

static size_t touching(const TlPenaltyContact *p, TlPoints *points) {
  size_t count = 0;
  for (size_t i = 0; i < points->count; i++) {
    if (!(points->point[i].gap < 0) || is_bare(p, &points->point[i])) continue;
    if (count < i) points->point[count] = points->point[i];
    count++;
  }
  if (p->penalty->spread == TL_SPREAD_DEEPEST && count > 1) {
    for (size_t i = 1; i < count; i++)
      if (tl_point_deeper(&points->point[i], &points->point[0]))
        points->point[0] = points->point[i];
    return 1;
  }
  sort_points(points->point, count);
  return count;
}

/* From the sums over the points of their slopes and tangential stiffnesses. */
static inline void set_damping(Pair *pair, double slopes, double shears) {
  if (!(slopes > 0)) return;
  double factor = 2 * pair->contact->law->damping * pair->law->damping_factor;
  pair->damping = factor * sqrt(pair->mass / slopes);
  pair->shear_damping = factor * sqrt(pair->mass * shears) / slopes;
}

static TlStatus reserve(TlPairRows *springs, size_t count) {
  return tl_pair_rows_reserve(springs, TL_SPRINGS, springs->count + count);
}

static inline void remember(TlPairRows *springs, TlSpring spring) {
  ((TlSpring *)springs->row)[springs->count++] = spring;
}

static inline void finish(const TlPoint *first, TlPenaltyForce *out) {
  bool bears = out->normal_N > 0; /* else all of them are about to open */
  out->point = bears ? tl_scale(1 / out->normal_N, out->point) : first->p;
  out->normal = bears ? tl_unit(out->normal) : first->n;
}

/* Of the point with this key in the last step; NULL: none. */
static const TlSpring *known_spring(const TlPenaltyContact *p, int64_t key) {
  for (size_t i = 0; i < p->known_count; i++)
    if (p->known[i].number == key) return &p->known[i];
  return NULL;
}

/* Most contacts are of one point: as below, but in registers. */
TlStatus tl_penalty_force_one(const TlPenaltyContact *p, const TlPoint *point, TlPairRows *springs,
                              TlPenaltyForce *out) {
  static const TlVec3 none = {0, 0, 0};
  TL_TRY(reserve(springs, 1));
  Pair pair = pair_of(p);
  const TlPenaltyBody *a = &p->body[p->a], *b = p->b >= 0 ? &p->body[p->b] : NULL;
  TlLawPoint at = pair.point;
  at.area_m2 = area_of(p, point);
  double depth = -point->gap, bearing = capped(p, depth), dt = p->step_s;
  TlLawValues law = tl_law_at(pair.law, &at, bearing);
  Piece piece = piece_of(p, point);
  law.force *= piece.force;
  law.slope *= piece.slope;
  law.energy *= piece.energy;
  double factor = 2 * p->law->damping * pair.law->damping_factor;
  int64_t key = p->penalty->spread == TL_SPREAD_DEEPEST ? 0 : point->key;
  const TlSpring *known = known_spring(p, key);
  law.shear = shear_of(point, law.shear, known);
  TlVec3 ra = tl_sub(point->p, a->x), rb = b ? tl_sub(point->p, b->x) : none;
  TlVec3 wall = !b && p->wall ? p->wall_velocity(p->wall, point->p, point->n) : none;
  TlForceInput input = {.n = point->n,
                        .arm_a = ra,
                        .arm_b = rb,
                        .va = a->v,
                        .wa = a->w,
                        .vb = b ? b->v : wall,
                        .wb = b ? b->w : none,
                        .s = known ? known->displacement : none,
                        .stiff_n = known ? tl_spring_vector(known) : none,
                        .force = law.force,
                        .slope = law.slope,
                        .energy = law.energy,
                        .shear = law.shear,
                        .twist = point->twist_m,
                        .beyond = piece.steep > 0 ? (depth - bearing) / piece.steep : 0,
                        .normal_damping = factor * sqrt(pair.mass * law.slope),
                        .tangential_damping = factor * sqrt(pair.mass * law.shear)};
#define F(value) input.law.value = p->law->value;
  TL_FORCE_VALUES(F)
#undef F
  TlForceOutput done = tl_force_point(&input, dt);
  *out = (TlPenaltyForce){.force = done.force,
                          .torque_a = done.torque_a,
                          .torque_b = done.torque_b,
                          .points = 1,
                          .sliding = (int)done.sliding,
                          .capped = bearing < depth,
                          .depth_m = depth,
                          .normal_N = done.normal_N,
                          .point = point->p,
                          .normal = point->n,
                          .elastic_J = done.elastic_J,
                          .slip_J = done.slip_J,
                          .wall_work_J = dt * tl_dot(wall, done.force),
                          .viscous = done.viscous,
                          .viscous_torque_a = done.viscous_torque_a,
                          .viscous_torque_b = done.viscous_torque_b,
                          .wall_viscous_J = dt * tl_dot(wall, done.viscous),
                          .stiffness_a = {done.stiff, done.stiff * tl_norm2(ra)},
                          .stiffness_b = {b ? done.stiff : 0, done.stiff * tl_norm2(rb)}};
  if (p->law->friction == 0) return TL_OK;
  remember(springs, (TlSpring){.low = p->colliders->id[p->a],
                               .high = b ? p->colliders->id[p->b] : -1 - p->boundary,
                               .number = key,
                               .displacement = done.s,
                               .normal = point->n,
                               .stiffness = law.shear});
  return TL_OK;
}

/* ---- of several points, in lanes ---- */

static inline void put(TlLane x[3], int k, TlVec3 v) {
  x[0][k] = v.x;
  x[1][k] = v.y;
  x[2][k] = v.z;
}
static inline TlVec3 lane(const TlLane x[3], int k) {
  return tl_vec3(x[0][k], x[1][k], x[2][k]);
}

static void find_law(const Pair *pair, const TlPoint *point, int count, TlForceLanes *l) {
  for (int k = 0; k < count; k++) {
    const TlPoint *at = &point[k];
    l->area[k] = area_of(pair->contact, at);
    l->radius[k] = pair->point.radius_m;
    l->depth[k] = -at->gap;
    l->bearing[k] = capped(pair->contact, -at->gap);
  }
  l->count = count;
  tl_force_lanes_law(pair->law, pair->point.stiffness, l);
  for (int k = 0; k < count; k++) {
    Piece piece = piece_of(pair->contact, &point[k]);
    l->normal_force[k] *= piece.force;
    l->slope[k] *= piece.slope;
    l->energy[k] *= piece.energy;
    l->beyond[k] = piece.steep > 0 ? (l->depth[k] - l->bearing[k]) / piece.steep : 0;
  }
}

/* Springs and points are both sorted by key. */
static const TlSpring *next_known(const TlPenaltyContact *p, size_t *from, int64_t key) {
  while (*from < p->known_count && p->known[*from].number < key) ++*from;
  return *from < p->known_count && p->known[*from].number == key ? &p->known[*from] : NULL;
}

static void fill(const Pair *pair, const TlPoint *point, int count, size_t *known,
                 TlForceLanes *l) {
  static const TlVec3 none = {0, 0, 0};
  const TlPenaltyContact *p = pair->contact;
  const TlPenaltyBody *a = &p->body[p->a], *b = p->b >= 0 ? &p->body[p->b] : NULL;
  for (int k = 0; k < count; k++) {
    const TlPoint *at = &point[k];
    const TlSpring *spring = next_known(p, known, at->key);
    TlVec3 vb = b ? b->v : p->wall ? p->wall_velocity(p->wall, at->p, at->n) : none;
    put(l->n, k, at->n);
    put(l->arm_a, k, tl_sub(at->p, a->x));
    put(l->arm_b, k, b ? tl_sub(at->p, b->x) : none);
    put(l->va, k, a->v);
    put(l->wa, k, a->w);
    put(l->vb, k, vb);
    put(l->wb, k, b ? b->w : none);
    put(l->s, k, spring ? spring->displacement : none);
    put(l->stiff_n, k, spring ? tl_spring_vector(spring) : none);
    l->shear[k] = shear_of(at, l->shear[k], spring);
    l->twist[k] = at->twist_m;
    l->law[k] = p->law;
    l->normal_damping[k] = pair->damping * l->slope[k];
    l->tangential_damping[k] = pair->shear_damping * l->slope[k];
  }
}

static void add_lane(const TlPenaltyContact *p, const TlPoint *point, const TlForceLanes *l, int k,
                     TlPenaltyForce *out) {
  TlVec3 force = lane(l->force, k), viscous = lane(l->viscous, k);
  double fn = l->normal_N[k], stiff = l->stiff[k];
  out->normal_N += fn;
  out->point = tl_axpy(out->point, fn, point->p); /* over the sum when all are there */
  out->normal = tl_axpy(out->normal, fn, point->n);
  out->force = tl_add(out->force, force);
  out->torque_a = tl_add(out->torque_a, lane(l->torque_a, k));
  out->torque_b = tl_add(out->torque_b, lane(l->torque_b, k));
  out->stiffness_a[0] += stiff;
  out->stiffness_a[1] += stiff * tl_norm2(lane(l->arm_a, k));
  out->stiffness_b[0] += p->b >= 0 ? stiff : 0;
  out->stiffness_b[1] += l->stiff_b[k];
  out->viscous = tl_add(out->viscous, viscous);
  out->viscous_torque_a = tl_add(out->viscous_torque_a, lane(l->viscous_torque_a, k));
  out->viscous_torque_b = tl_add(out->viscous_torque_b, lane(l->viscous_torque_b, k));
  if (p->wall) {
    out->wall_work_J += p->step_s * tl_dot(lane(l->vb, k), force);
    out->wall_viscous_J += p->step_s * tl_dot(lane(l->vb, k), viscous);
  }
  out->elastic_J += l->elastic[k];
  out->slip_J += l->slip[k];
  out->sliding += (int)l->sliding[k];
  out->points++;
  out->capped += l->bearing[k] < l->depth[k];
  out->depth_m = tl_max(out->depth_m, l->depth[k]);
}

static void add_spring(const TlPenaltyContact *p, const TlPoint *point, const TlForceLanes *l,
                       int k, TlPairRows *springs) {
  remember(springs, (TlSpring){.low = p->colliders->id[p->a],
                               .high = p->b >= 0 ? p->colliders->id[p->b] : -1 - p->boundary,
                               .number = point->key,
                               .displacement = lane(l->s_end, k),
                               .normal = point->n,
                               .stiffness = l->shear[k]});
}

static int few(size_t left) {
  return left < TL_FORCE_LANES ? (int)left : TL_FORCE_LANES;
}

static void force_many(Pair *pair, const TlPoint *point, size_t count, TlPairRows *springs,
                       TlPenaltyForce *out) {
  const TlPenaltyContact *p = pair->contact;
  TlForceLanes *l = p->lanes;
  double slopes = 0, shears = 0;
  size_t known = 0;
  for (size_t first = 0; first < count; first += TL_FORCE_LANES) {
    find_law(pair, point + first, few(count - first), l);
    for (int k = 0; k < l->count; k++) {
      slopes += l->slope[k];
      shears += l->shear[k];
    }
  }
  set_damping(pair, slopes, shears);
  for (size_t first = 0; first < count; first += TL_FORCE_LANES) {
    const TlPoint *from = point + first;
    if (count > TL_FORCE_LANES) find_law(pair, from, few(count - first), l);
    fill(pair, from, l->count, &known, l);
    tl_force_lanes_bear(l, p->step_s);
    for (int k = 0; k < l->count; k++) add_lane(p, &from[k], l, k, out);
    for (int k = 0; k < l->count && p->law->friction != 0; k++)
      add_spring(p, &from[k], l, k, springs);
  }
  l->count = 0;
}

TlStatus tl_penalty_force(const TlPenaltyContact *p, TlPoints *points, TlPairRows *springs,
                          TlPenaltyForce *out) {
  size_t count = touching(p, points);
  if (count == 1) return tl_penalty_force_one(p, points->point, springs, out);
  *out = (TlPenaltyForce){0};
  if (count == 0) return TL_OK;
  TL_TRY(reserve(springs, count));
  Pair pair = pair_of(p);
  force_many(&pair, points->point, count, springs, out);
  finish(points->point, out);
  return TL_OK;
}
