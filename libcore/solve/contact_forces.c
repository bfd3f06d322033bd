#include "solve/contact_forces.h"

#include "base/par.h"
#include "model/shapes.h"

#include <math.h>
#include <string.h>

enum { AHEAD = 12, SOON = 2 };                                 /* bodies */
static const double BODY_NS = 500, COPY_NS = 20, FILL_NS = 20; /* work on a body, about */

/* Bodies: enough blocks for threads to share evenly, not so many that few lanes are filled. */
static int64_t block_of(int64_t bodies) {
  int64_t block = bodies / 64;
  return block < 8 ? 8 : block > 256 ? 256 : block;
}

struct TlForceBlock { /* of the loop over bodies: where its springs are */
  int thread;
  size_t first, count, place;
};

void tl_force_workspace_free(TlForceWorkspace *work) {
  tl_arena_free(&work->plan.arena);
  for (size_t i = 0; i < work->tally_count; i++) tl_free(work->tally[i].springs.row);
  tl_free(work->tally);
  tl_free(work->next.row);
  *work = (TlForceWorkspace){0};
}

/* ---- the plan ---- */

static void order_pairs(const TlBroad *broad, TlForcePlan *p) {
  const TlBodyPairs *pairs = &broad->pairs;
  for (int64_t i = 0; i < p->total; i++) p->order[broad->rank[i]] = (int32_t)i;
  memset(p->high, 0, ((size_t)p->total + 1) * sizeof *p->high);
  int64_t at = 0, count = (int64_t)pairs->count;
  for (int64_t r = 0; r <= p->total; r++) {
    p->low[r] = at;
    while (r < p->total && at < count && pairs->pair[at].a == p->order[r]) at++;
  }
  for (int64_t k = 0; k < count; k++) p->high[pairs->pair[k].b + 1]++;
  for (int64_t i = 0; i < p->total; i++) p->high[i + 1] += p->high[i];
  for (int64_t k = 0; k < count; k++) p->high_slot[p->high[pairs->pair[k].b]++] = (int32_t)k;
  for (int64_t i = p->total; i > 0; i--) p->high[i] = p->high[i - 1];
  p->high[0] = 0;
}

/* While the list of pairs holds, no body moves farther than its reach there exceeds its own. */
static bool may_meet(const TlForceStep *s, int64_t i, const TlBoundary *wall) {
  double slack = s->near->broad.body[i].reach - s->colliders->reach[i];
  return wall->drive ||
         tl_narrow_near(s->colliders, i, wall, wall->kind->lipschitz * slack * (1 + 1e-9));
}

static void list_walls(const TlForceStep *s, TlForcePlan *p) {
  int64_t count = 0;
  for (int64_t r = 0; r < p->total; r++) {
    int64_t i = p->order[r];
    p->wall[r] = count;
    if (i >= p->owned || s->bodies->flags[s->colliders->body[i]] & TL_BODY_FROZEN) continue;
    for (int32_t k = 0; k < s->boundary_count; k++)
      if (may_meet(s, i, &s->boundary[k])) p->wall_boundary[count++] = k;
  }
  p->wall[p->total] = count;
}

static TlStatus make_plan(const TlForceStep *s) {
  TlForcePlan *p = &s->work->plan;
  const TlBroad *broad = &s->near->broad;
  size_t n = (size_t)s->colliders->total;
  if (p->order && p->builds == broad->builds) return TL_OK;
  tl_arena_reset(&p->arena);
  p->total = s->colliders->total;
  p->owned = s->colliders->owned;
  p->order = tl_arena_push(&p->arena, n, sizeof *p->order);
  p->low = tl_arena_push(&p->arena, n + 1, sizeof *p->low);
  p->high = tl_arena_push(&p->arena, n + 1, sizeof *p->high);
  p->wall = tl_arena_push(&p->arena, n + 1, sizeof *p->wall);
  p->high_slot = tl_arena_push(&p->arena, broad->pairs.count, sizeof *p->high_slot);
  size_t walls = (size_t)p->owned * (size_t)s->boundary_count;
  p->wall_boundary = tl_arena_push(&p->arena, walls, sizeof *p->wall_boundary);
  if (!p->order || !p->low || !p->high || !p->wall || !p->high_slot || !p->wall_boundary) {
    p->order = NULL;
    return TL_ENOMEM;
  }
  order_pairs(broad, p);
  list_walls(s, p);
  p->balls = true;
  for (int64_t i = 0; i < p->total; i++)
    p->balls = p->balls && s->colliders->shape[i]->closed == &tl_closed_sphere;
  p->builds = broad->builds;
  return TL_OK;
}

/* ---- laws of pairs ---- */

static inline const TlPairLaw *law_of(const TlMaterials *m, int32_t one, int32_t two) {
  return &m->law[tl_pair_law(m, one, two)];
}

static const TlPairLaw *pair_law(const TlForceStep *s, int32_t a, int32_t b) {
  return law_of(s->materials, s->body[a].material, s->body[b].material);
}

/* A boundary's classes are asked at one point: the first. */
static const TlPairLaw *wall_law(const TlForceStep *s, int32_t a, int32_t k, TlVec3 point) {
  return law_of(s->materials, s->body[a].material, tl_boundary_material(&s->boundary[k], point));
}

/* ---- what contacts ask of a collider ---- */

static TlStatus fill_colliders(void *context, int64_t begin, int64_t end, int64_t block,
                               int thread) {
  const TlForceStep *s = context;
  const TlBodies *b = s->bodies;
  const TlColliders *c = s->colliders;
  (void)block;
  (void)thread;
  for (int64_t i = begin; i < end; i++) {
    int32_t k = c->body[i];
    TlVec3 inverse = b->inverse_inertia[k], l = b->momentum[k], w = tl_scale(inverse.x, l);
    TlVec3 v = b->velocity[k]; /* of a frozen one: that of a row that is carried */
    if (!tl_bodies_round(b, k)) {
      TlMat3 own = b->parts[k] ? tl_quat_matrix(b->rotation[k]) : s->scan.turn[i];
      TlVec3 in = tl_mat_tvec(own, l);
      w = tl_mat_vec(own, tl_vec3(inverse.x * in.x, inverse.y * in.y, inverse.z * in.z));
    }
    if (b->parts[k]) v = tl_add(v, tl_cross(w, tl_collider_arm(b, i)));
    s->body[i] = (TlPenaltyBody){.x = c->position[i],
                                 .v = v,
                                 .w = w,
                                 .radius = c->radius[i],
                                 .inverse_mass = b->inverse_mass[k],
                                 .curvature = 1 / c->radius[i],
                                 .id = c->id[i],
                                 .ball = c->shape[i]->closed == &tl_closed_sphere,
                                 .material = c->material[i]};
  }
  return TL_OK;
}

/* Only what touches: no contact is speculative. */
static TlMargin touching_margin(const TlForceStep *s, double size, double speed) {
  return (TlMargin){.size = size, .travel = speed * s->step_s};
}
static TlMargin pair_margin(const void *context, int64_t i, int64_t j) {
  const TlForceStep *s = context;
  const TlPenaltyBody *a = &s->body[i], *b = &s->body[j];
  double spins = tl_norm(a->w) * a->radius + tl_norm(b->w) * b->radius;
  return touching_margin(s, tl_min(a->radius, b->radius), tl_norm(tl_sub(a->v, b->v)) + spins);
}
static TlMargin wall_margin(const void *context, int64_t i, const TlBoundary *wall) {
  const TlForceStep *s = context;
  const TlPenaltyBody *a = &s->body[i];
  TlVec3 v = tl_sub(a->v, tl_boundary_velocity(wall, a->x));
  return touching_margin(s, a->radius, tl_norm(v) + tl_norm(a->w) * a->radius);
}

static TlVec3 wall_velocity(const void *wall, TlVec3 point, TlVec3 n) {
  return tl_boundary_surface_velocity(wall, point, n);
}

/* ---- contacts, one by one ---- */

typedef struct Walk { /* through the springs of the last step, and the bonds */
  const TlPairState *old;
  size_t spring, bond;
  TlPairRows *fresh;
} Walk;

typedef struct Low { /* the body whose loop it is */
  const TlForceStep *step;
  TlForceTally *tally;
  TlPoints *points;
  Walk walk;
  int32_t a;
} Low;

static inline void count_contact(const Low *l, const TlSlot *at, double depth, int points,
                                 int sliding, int capped) {
  TlForceTally *t = l->tally;
  if (at->a >= l->step->colliders->owned) return; /* the owner of the lower id counts it */
  double size = l->step->body[at->a].radius;
  if (at->b >= 0) size = tl_min(size, l->step->body[at->b].radius);
  double *most = at->b < 0 ? &t->boundary_overlap_m : &t->overlap_m,
         *most_of_radius = at->b < 0 ? &t->boundary_overlap_share : &t->overlap_share;
  *most = tl_max(*most, depth);
  if (depth > *most_of_radius * size) *most_of_radius = depth / size;
  t->contacts++;
  t->touching += points;
  t->sliding += sliding;
  t->capped += capped;
}

static inline void put(float x[3], TlVec3 v) {
  x[0] = (float)v.x;
  x[1] = (float)v.y;
  x[2] = (float)v.z;
}
static inline TlVec3 got(const float x[3]) {
  return tl_vec3((double)x[0], (double)x[1], (double)x[2]);
}

/* Both bodies are given the same rounded force: in a common motion it does no work. */
static inline void add_viscous(TlForceSum *sum, const TlForceViscous *v, TlVec3 torque_a) {
  sum->viscous = tl_add(sum->viscous, got(v->force));
  sum->viscous_torque = tl_add(sum->viscous_torque, torque_a);
}

static void add_contact(const Low *l, const TlPenaltyForce *p, const TlSlot *at,
                        const TlPairLaw *law) {
  TlForceSum *sum = &l->step->low[at->a];
  TlForceWorkspace *work = l->step->work;
  work->slot[at->number] =
      (TlForceSlot){.force = p->force,
                    .torque_b = p->torque_b,
                    .stiffness_b = {(float)p->stiffness_b[0], (float)p->stiffness_b[1]},
                    .points = p->points};
  work->place[at->number] = (TlForcePlace){p->point, p->normal, p->depth_m, law};
  sum->force = tl_add(sum->force, p->force);
  sum->torque = tl_add(sum->torque, p->torque_a);
  for (int k = 0; k < 2; k++) sum->stiffness[k] += p->stiffness_a[k];
  sum->contacts++;
  sum->elastic_J += p->elastic_J;
  sum->slip_J += p->slip_J;
  sum->wall_J += p->wall_work_J;
  sum->wall_viscous_J += p->wall_viscous_J;
  TlForceViscous *viscous = &work->viscous[at->number];
  put(viscous->force, p->viscous);
  put(viscous->torque_b, p->viscous_torque_b);
  add_viscous(sum, viscous, p->viscous_torque_a);
  sum->contact_N += tl_norm(p->force);
  if (at->b < 0) sum->boundary_N += p->normal_N;
  count_contact(l, at, p->depth_m, p->points, p->sliding, p->capped);
}

static inline TlVec3 lane(const TlLane x[3], int k) {
  return tl_vec3(x[0][k], x[1][k], x[2][k]);
}

/* Adds the force of lane k to the sums of its collider; a wall has no sums. */
static void add_lane(const Low *l, int k) {
  const TlForceLanes *x = &l->tally->lanes;
  const TlSlot *at = &l->tally->lane_slot[k];
  TlForceSum *sum = &l->step->low[at->a];
  TlForceWorkspace *work = l->step->work;
  TlVec3 force = lane(x->force, k), n = lane(x->n, k);
  work->slot[at->number] = (TlForceSlot){.force = force,
                                         .torque_b = lane(x->torque_b, k),
                                         .stiffness_b = {(float)x->stiff[k], (float)x->stiff_b[k]},
                                         .points = 1,
                                         .lane = 1};
  sum->force = tl_add(sum->force, force);
  sum->torque = tl_add(sum->torque, lane(x->torque_a, k));
  sum->stiffness[0] += x->stiff[k];
  sum->stiffness[1] += x->stiff_a[k];
  sum->contacts++;
  sum->elastic_J += x->elastic[k];
  sum->slip_J += x->slip[k];
  TlForceViscous *viscous = &work->viscous[at->number];
  put(viscous->force, lane(x->viscous, k));
  put(viscous->torque_b, lane(x->viscous_torque_b, k));
  add_viscous(sum, viscous, lane(x->viscous_torque_a, k));
  sum->contact_N += x->size[k];
  if (at->b < 0) sum->boundary_N += x->normal_N[k];
  count_contact(l, at, x->depth[k], 1, (int)x->sliding[k], x->depth[k] > x->cap[k]);
  if (x->law[k]->friction == 0) return;
  const TlPenaltyBody *body = l->step->body;
  TlPairRows *fresh = l->walk.fresh;
  TlSpring *spring = (TlSpring *)fresh->row + fresh->count++;
  *spring = (TlSpring){.low = body[at->a].id,
                       .high = at->b >= 0 ? body[at->b].id : -1 - at->boundary,
                       .number = 0,
                       .displacement = lane(x->s_end, k),
                       .normal = n,
                       .stiffness = x->shear[k]};
}

/* Computes the forces of the contacts that wait, which are of one stiffness. */
static TlStatus flush(const Low *l) {
  TlForceLanes *x = &l->tally->lanes;
  TlPairRows *fresh = l->walk.fresh;
  const TlPenalty *p = l->step->penalty;
  int count = x->count;
  if (count == 0) return TL_OK;
  TL_TRY(tl_pair_rows_reserve(fresh, TL_SPRINGS, fresh->count + (size_t)count));
  tl_force_lanes(tl_law(p->law), &l->tally->lane_law->stiffness, l->step->step_s, x);
  for (int k = 0; k < count; k++) add_lane(l, k);
  x->count = 0;
  return TL_OK;
}

/* ---- memory: springs and bonds are passed over once, in order ---- */

typedef struct Known {
  const TlSpring *spring;
  size_t count;
  bool bonded;
} Known;

static inline bool before(int64_t low, int64_t high, int64_t this_low, int64_t this_high) {
  return low < this_low || (low == this_low && high < this_high);
}

/* Of a pair that comes after all that were asked for so far. Springs that nobody asks for are
 * forgotten. */
static void recall(Low *l, int64_t low, int64_t high, Known *known) {
  Walk *w = &l->walk;
  const TlSpring *spring = tl_springs(w->old);
  const TlBond *bond = tl_bonds(w->old);
  size_t springs = w->old->of[TL_SPRINGS].count, bonds = w->old->of[TL_BONDS].count;
  while (w->bond < bonds && before(bond[w->bond].low, bond[w->bond].high, low, high)) w->bond++;
  while (w->spring < springs && before(spring[w->spring].low, spring[w->spring].high, low, high))
    w->spring++;
  known->bonded = w->bond < bonds && bond[w->bond].low == low && bond[w->bond].high == high;
  known->spring = spring + w->spring;
  known->count = 0;
  for (; w->spring < springs && spring[w->spring].low == low && spring[w->spring].high == high;
       w->spring++)
    known->count++;
}

/* ---- one body ---- */

static TlPenaltyContact contact_of(const TlForceStep *s, const TlSlot *at, const Known *known) {
  return (TlPenaltyContact){.colliders = s->colliders,
                            .body = s->body,
                            .penalty = s->penalty,
                            .a = at->a,
                            .b = at->b,
                            .boundary = at->boundary,
                            .step_s = s->step_s,
                            .known = known->spring,
                            .known_count = known->count};
}

/* The points that were found. */
static TlStatus points_forces(Low *l, const TlSlot *at, const Known *known) {
  const TlForceStep *s = l->step;
  TlPenaltyForce force;
  if (l->points->count == 0) return TL_OK;
  TL_TRY(flush(l));
  TlPenaltyContact contact = contact_of(s, at, known);
  contact.lanes = &l->tally->lanes; /* nothing waits there now */
  contact.law = at->b >= 0 ? pair_law(s, at->a, at->b)
                           : wall_law(s, at->a, at->boundary, l->points->point[0].p);
  if (at->b < 0 && s->boundary[at->boundary].drive) {
    contact.wall_velocity = wall_velocity;
    contact.wall = &s->boundary[at->boundary];
  }
  TL_TRY(tl_penalty_force(&contact, l->points, l->walk.fresh, &force));
  if (force.points > 0) add_contact(l, &force, at, contact.law);
  return TL_OK;
}

static inline void set(TlLane x[3], int k, TlVec3 v) {
  x[0][k] = v.x;
  x[1][k] = v.y;
  x[2][k] = v.z;
}

/* The next lane, for a sphere against another one or against `b`, what a wall is like there. */
static TlStatus wait_lane(Low *l, const TlSlot *at, const TlPenaltyBody *b, const TlPairLaw *law,
                          const Known *known) {
  TlForceTally *t = l->tally;
  TlForceLanes *x = &t->lanes;
  bool other = x->count > 0 && t->lane_law->stiffness_kind != law->stiffness_kind;
  if (other || x->count == TL_FORCE_LANES) TL_TRY(flush(l));
  const TlPenaltyBody *a = &l->step->body[at->a];
  double fraction = l->step->penalty->most_share;
  double size = at->b >= 0 ? tl_min(a->radius, b->radius) : a->radius;
  TlVec3 none = {0, 0, 0};
  int k = x->count++;
  t->lane_slot[k] = *at;
  t->lane_law = law;
  set(x->d, k, tl_sub(a->x, b->x));
  set(x->va, k, a->v);
  set(x->wa, k, a->w);
  set(x->vb, k, b->v);
  set(x->wb, k, b->w);
  x->radius_a[k] = a->radius;
  x->radius_b[k] = b->radius;
  x->curvature[k] = a->curvature + b->curvature;
  x->inverse_mass[k] = a->inverse_mass + b->inverse_mass;
  x->cap[k] = fraction > 0 ? fraction * size : INFINITY;
  x->law[k] = law;
  bool remembered = known->count > 0 && known->spring->number == 0;
  set(x->s, k, remembered ? known->spring->displacement : none);
  set(x->stiff_n, k, remembered ? tl_spring_vector(known->spring) : none);
  return TL_OK;
}

static TlStatus pair_forces(Low *l, int64_t number) {
  const TlForceStep *s = l->step;
  TlSlot at = {.number = number, .a = l->a, .b = s->scan.pairs->pair[number].b, .boundary = -1};
  const TlPenaltyBody *a = &s->body[at.a], *b = &s->body[at.b];
  s->work->slot[number].points = 0;
  double far = a->radius + b->radius;
  if (tl_norm2(tl_sub(a->x, b->x)) >= far * far) return TL_OK;
  Known known;
  recall(l, a->id, b->id, &known);
  if (known.bonded) return TL_OK; /* bonds of a net are springs, not collisions */
  l->points->pairs++;
  if (a->ball && b->ball) {
    l->points->lookups++;
    return wait_lane(l, &at, b, pair_law(s, at.a, at.b), &known);
  }
  /* what proves that no node touches says nothing of places */
  if (!s->places && tl_near_clear(s->near, s->colliders, (size_t)number)) return TL_OK;
  TL_TRY(tl_scan_pair_points(&s->scan, &at, l->points));
  return points_forces(l, &at, &known);
}

/* A standing wall with a true distance, as the point of it nearest to a sphere's centre; false: it
 * does not reach there, or not the sphere. */
static bool foot(const TlPenaltyBody *a, const TlBoundary *wall, TlPenaltyBody *b, double *phi) {
  TlVec3 n;
  *b = (TlPenaltyBody){.radius = 0};
  if (!tl_boundary_phi(wall, a->x, phi, &n)) return false;
  b->x = tl_axpy(a->x, -*phi, n);
  return *phi < a->radius;
}

static TlStatus wall_forces(Low *l, int64_t k) {
  const TlForceStep *s = l->step;
  int64_t number = (int64_t)s->scan.pairs->count + k;
  TlSlot at = {.number = number, .a = l->a, .b = -1, .boundary = s->work->plan.wall_boundary[k]};
  const TlBoundary *wall = &s->boundary[at.boundary];
  const TlPenaltyBody *a = &s->body[at.a];
  TlPenaltyBody b;
  double phi;
  Known known;
  s->work->slot[number].points = 0;
  bool alone = a->ball && wall->kind->exact && !wall->drive;
  if (alone && !foot(a, wall, &b, &phi)) return TL_OK;
  if (!alone && !tl_narrow_near(s->colliders, at.a, wall, 0)) return TL_OK;
  recall(l, a->id, -1 - at.boundary, &known);
  l->points->pairs++;
  /* a centre behind the wall has its normal from the wall alone */
  if (alone && phi > 0) return wait_lane(l, &at, &b, wall_law(s, at.a, at.boundary, b.x), &known);
  TL_TRY(tl_scan_wall_points(&s->scan, &at, l->points));
  return points_forces(l, &at, &known);
}

/* What the searches of pairs that come soon will read. */
static void fetch_search(const TlForceStep *s, int64_t number, int64_t last) {
  int64_t soon = number + SOON < last ? number + SOON : last;
  const TlBodyPair *pair = &s->scan.pairs->pair[soon];
  const TlPenaltyBody *a = &s->body[pair->a], *b = &s->body[pair->b];
  tl_near_fetch_pair(s->near, (size_t)(number + 2 * SOON < last ? number + 2 * SOON : last));
  double far = a->radius + b->radius;
  if ((a->ball && b->ball) || tl_norm2(tl_sub(a->x, b->x)) >= far * far) return;
  int32_t sphere = a->ball ? pair->a : pair->b, other = a->ball ? pair->b : pair->a;
  tl_near_fetch_nodes(s->near, (size_t)soon);
  if (a->ball || b->ball) tl_narrow_sphere_fetch(s->colliders, sphere, other, &s->scan.turn[other]);
}

static void charge(const Low *l, int64_t slot, TlPointsBefore before) {
  if (l->step->lookups) l->step->lookups[slot] = tl_points_charge(l->points, before);
}

static TlStatus collider_forces(Low *l, int64_t place) {
  static const TlForceSum none;
  const TlForcePlan *plan = &l->step->work->plan;
  l->a = plan->order[place];
  l->step->low[l->a] = none; /* copied: faster than to clear so few bytes */
  int64_t pairs = (int64_t)l->step->scan.pairs->count;
  for (int64_t k = plan->wall[place + 1]; k > plan->wall[place]; k--) {
    TlPointsBefore before = tl_points_before(l->points);
    TL_TRY(wall_forces(l, k - 1));
    charge(l, pairs + k - 1, before);
  }
  const TlBodyPair *pair = l->step->scan.pairs->pair;
  int64_t last = (int64_t)l->step->scan.pairs->count - 1;
  for (int64_t k = plan->low[place]; k < plan->low[place + 1]; k++) {
    int64_t ahead = k + AHEAD < last ? k + AHEAD : last;
    __builtin_prefetch(&l->step->body[pair[ahead].b]);
    __builtin_prefetch(&l->step->body[pair[ahead].b].w);
    __builtin_prefetch(&l->step->work->slot[ahead], 1);
    if (!plan->balls) fetch_search(l->step, k, last);
    TlPointsBefore before = tl_points_before(l->points);
    TL_TRY(pair_forces(l, k));
    charge(l, k, before);
  }
  return TL_OK;
}

/* ---- all of them ---- */

static TlStatus block_forces(void *context, int64_t begin, int64_t end, int64_t block, int thread) {
  const TlForceStep *s = context;
  const TlForcePlan *plan = &s->work->plan;
  const TlPairState *old = &s->bodies->pairs;
  TlForceTally *t = &s->work->tally[thread];
  struct TlForceBlock *mine = &s->block[block];
  Low l = {.step = s, .tally = t, .points = &s->points[thread], .walk = {old, 0, 0, &t->springs}};
  if (begin > 0) {
    int64_t id = s->colliders->id[plan->order[begin]];
    l.walk.spring = tl_pair_rows_first(&old->of[TL_SPRINGS], TL_SPRINGS, id);
    l.walk.bond = tl_pair_rows_first(&old->of[TL_BONDS], TL_BONDS, id);
  }
  *mine = (struct TlForceBlock){.thread = thread, .first = t->springs.count};
  for (int64_t r = begin; r < end; r++) TL_TRY(collider_forces(&l, r));
  TL_TRY(flush(&l));
  mine->count = t->springs.count - mine->first;
  return TL_OK;
}

static TlStatus copy_block(void *context, int64_t begin, int64_t end, int64_t block, int thread) {
  const TlForceStep *s = context;
  (void)block;
  (void)thread;
  for (int64_t k = begin; k < end; k++) {
    const struct TlForceBlock *b = &s->block[k];
    if (b->count)
      memcpy((TlSpring *)s->work->next.row + b->place,
             (const TlSpring *)s->work->tally[b->thread].springs.row + b->first,
             b->count * sizeof(TlSpring));
  }
  return TL_OK;
}

static void swap(TlPairRows *a, TlPairRows *b) {
  TlPairRows t = *a;
  *a = *b;
  *b = t;
}

/* What the blocks wrote, end to end; of one thread it lies so. */
static TlStatus join_springs(TlForceStep *s, int64_t blocks) {
  TlPairRows *next = &s->work->next;
  size_t count = 0;
  bool one = true;
  for (int64_t k = 0; k < blocks; k++) {
    s->block[k].place = count;
    count += s->block[k].count;
    one = one && s->block[k].thread == 0;
  }
  if (one) {
    swap(&s->bodies->pairs.of[TL_SPRINGS], &s->work->tally[0].springs);
    return TL_OK;
  }
  TL_TRY(tl_pair_rows_reserve(next, TL_SPRINGS, count));
  TL_TRY(tl_par_loop(blocks, 4, COPY_NS * (double)block_of(s->colliders->total), copy_block, s));
  next->count = count;
  swap(&s->bodies->pairs.of[TL_SPRINGS], next);
  return TL_OK;
}

static TlStatus reserve(TlForceStep *s, int64_t blocks) {
  TlForceWorkspace *work = s->work;
  size_t threads = (size_t)tl_par_threads(), n = (size_t)s->colliders->total;
  if (threads > work->tally_count) {
    TlForceTally *grown = tl_realloc(work->tally, work->tally_count, threads, sizeof *grown);
    if (!grown) return TL_ENOMEM;
    memset(grown + work->tally_count, 0, (threads - work->tally_count) * sizeof *grown);
    work->tally = grown;
    work->tally_count = threads;
  }
  for (size_t i = 0; i < work->tally_count; i++) {
    TlForceTally *t = &work->tally[i];
    t->springs.count = 0;
    t->lanes.count = 0;
    t->overlap_m = t->overlap_share = t->boundary_overlap_m = t->boundary_overlap_share = 0;
    t->contacts = t->touching = t->sliding = t->capped = 0;
  }
  s->body = tl_arena_push(s->arena, n, sizeof *s->body);
  s->low = tl_arena_push(s->arena, n, sizeof *s->low);
  s->block = tl_arena_push(s->arena, (size_t)blocks, sizeof *s->block);
  return s->body && s->low && s->block ? TL_OK : TL_ENOMEM;
}

/* As tl_scan_charge, of this method's slots. */
static void charge_bodies(const TlForceStep *s) {
  const TlForcePlan *plan = &s->work->plan;
  const int32_t *body = s->colliders->body;
  int64_t pairs = (int64_t)s->scan.pairs->count;
  for (int64_t k = 0; k < pairs; k++) {
    s->half_lookups[body[s->scan.pairs->pair[k].a]] += s->lookups[k];
    s->half_lookups[body[s->scan.pairs->pair[k].b]] += s->lookups[k];
  }
  for (int64_t place = 0; place < s->colliders->total; place++)
    for (int64_t k = plan->wall[place]; k < plan->wall[place + 1]; k++)
      s->half_lookups[body[plan->order[place]]] += 2 * s->lookups[pairs + k];
}

TlStatus tl_contact_forces(TlForceStep *s) {
  TlForceWorkspace *work = s->work;
  s->colliders = &s->bodies->colliders;
  int64_t n = s->colliders->total, block = block_of(n), blocks = (n + block - 1) / block;
  s->scan = (TlScan){.options = s->search,
                     .step_s = s->step_s,
                     .boundary = s->boundary,
                     .boundary_count = s->boundary_count,
                     .arena = s->arena,
                     .near = s->near,
                     .points = s->points,
                     .places = s->places,
                     .bodies = s->bodies,
                     .context = s,
                     .pair_margin = pair_margin,
                     .wall_margin = wall_margin};
  TL_TRY(reserve(s, blocks));
  TL_TRY(tl_scan_prepare(&s->scan));
  TL_TRY(make_plan(s));
  work->slots = (int64_t)s->scan.pairs->count + work->plan.wall[n];
  work->slot = tl_arena_push(s->arena, (size_t)work->slots, sizeof *work->slot);
  work->place = tl_arena_push(s->arena, (size_t)work->slots, sizeof *work->place);
  work->viscous = tl_arena_push(s->arena, (size_t)work->slots, sizeof *work->viscous);
  if (s->half_lookups)
    s->lookups = tl_arena_push(s->arena, (size_t)work->slots, sizeof *s->lookups);
  if (!work->slot || !work->place || !work->viscous || (s->half_lookups && !s->lookups))
    return TL_ENOMEM;
  work->pairs = (int64_t)s->scan.pairs->count;
  work->pair = s->scan.pairs->pair;
  work->body = s->body;
  work->boundary = s->boundary;
  work->materials = s->materials;
  TL_TRY(tl_par_loop(n, 512, FILL_NS, fill_colliders, s));
  TL_TRY(tl_par_loop(n, block, BODY_NS, block_forces, s));
  if (s->half_lookups) charge_bodies(s);
  if (s->places) TL_TRY(tl_place_commit(s->places, &s->bodies->pairs));
  return join_springs(s, blocks);
}

TlForceSum tl_contact_forces_of_collider(const TlForceStep *s, int64_t i) {
  const TlForcePlan *plan = &s->work->plan;
  TlForceSum sum = s->low[i];
  int64_t last = plan->high[s->colliders->total] - 1;
  for (int64_t k = plan->high[i]; k < plan->high[i + 1]; k++) {
    /* of the next bodies: they were written a while ago */
    int32_t ahead = plan->high_slot[k + AHEAD < last ? k + AHEAD : last];
    __builtin_prefetch(&s->work->slot[ahead]);
    __builtin_prefetch(&s->work->viscous[ahead]);
    const TlForceSlot *p = &s->work->slot[plan->high_slot[k]];
    if (p->points == 0) continue;
    const TlForceViscous *v = &s->work->viscous[plan->high_slot[k]];
    sum.viscous = tl_sub(sum.viscous, got(v->force));
    sum.viscous_torque = tl_add(sum.viscous_torque, got(v->torque_b));
    sum.force = tl_sub(sum.force, p->force);
    sum.torque = tl_add(sum.torque, p->torque_b);
    for (int c = 0; c < 2; c++) sum.stiffness[c] += (double)p->stiffness_b[c];
    sum.contacts++;
  }
  return sum;
}

TlForceSum tl_contact_forces_of_body(const TlForceStep *s, int64_t i) {
  const TlBodies *b = s->bodies;
  int64_t first = b->first[i], parts = b->parts[i];
  if (parts == 0) {
    TlForceSum sum = tl_contact_forces_of_collider(s, first);
    b->colliders.contacts[first] = (int32_t)sum.contacts;
    return sum;
  }
  TlForceSum all = {.contacts = 0};
  for (int64_t k = first; k < first + parts; k++) {
    TlForceSum one = tl_contact_forces_of_collider(s, k);
    b->colliders.contacts[k] = (int32_t)one.contacts;
    TlVec3 arm = tl_collider_arm(b, k);
    all.force = tl_add(all.force, one.force);
    all.torque = tl_add(all.torque, tl_add(one.torque, tl_cross(arm, one.force)));
    all.viscous = tl_add(all.viscous, one.viscous);
    all.viscous_torque =
        tl_add(all.viscous_torque, tl_add(one.viscous_torque, tl_cross(arm, one.viscous)));
    all.stiffness[0] += one.stiffness[0]; /* k (r + d)^2 is at most 2 k r^2 + 2 k d^2 */
    all.stiffness[1] += 2 * (one.stiffness[1] + one.stiffness[0] * tl_norm2(arm));
    all.elastic_J += one.elastic_J;
    all.slip_J += one.slip_J;
    all.wall_J += one.wall_J;
    all.contact_N += one.contact_N;
    all.boundary_N += one.boundary_N;
    all.wall_viscous_J += one.wall_viscous_J;
    all.contacts += one.contacts;
  }
  return all;
}

/* As in the lanes. */
static TlForcePlace lane_place(const TlPenaltyBody *a, const TlPenaltyBody *b,
                               const TlPairLaw *law) {
  TlVec3 d = tl_sub(a->x, b->x);
  double length = tl_norm(d), inverse = 1 / (length > 0 ? length : 1);
  TlVec3 n = tl_scale(inverse, d);
  if (!(length > 0)) n.z = 1;
  return (TlForcePlace){tl_axpy(a->x, -a->radius, n), n, a->radius + b->radius - length, law};
}

static TlForcePlace place_of(const TlForceWorkspace *work, int64_t slot, int32_t low) {
  const TlPenaltyBody *a = &work->body[low];
  TlPenaltyBody b;
  double phi;
  if (!work->slot[slot].lane) return work->place[slot];
  if (slot < work->pairs) {
    const TlPenaltyBody *other = &work->body[work->pair[slot].b];
    return lane_place(a, other, law_of(work->materials, a->material, other->material));
  }
  const TlBoundary *wall = &work->boundary[work->plan.wall_boundary[slot - work->pairs]];
  foot(a, wall, &b, &phi);
  int32_t material = tl_boundary_material(wall, b.x);
  return lane_place(a, &b, law_of(work->materials, a->material, material));
}

/* Forces are the impulse over the step, as those of the other methods. */
TlStatus tl_contact_forces_rows(const TlForceWorkspace *work, const TlColliders *b, double step_s,
                                TlContactRow **rows, int64_t *count) {
  const TlForcePlan *plan = &work->plan;
  TL_TRY(TL_NEW(*rows, (size_t)work->slots));
  *count = 0;
  for (int64_t k = 0, r = 0; k < work->slots; k++) {
    while (k >= work->pairs && plan->wall[r + 1] <= k - work->pairs) r++;
    int32_t low = k < work->pairs ? work->pair[k].a : plan->order[r];
    if (work->slot[k].points == 0 || low >= b->owned) continue;
    TlForcePlace at = place_of(work, k, low);
    int64_t high =
        k < work->pairs ? b->id[work->pair[k].b] : -1 - plan->wall_boundary[k - work->pairs];
    (*rows)[(*count)++] =
        (TlContactRow){.first = b->id[low],
                       .second = high,
                       .point_m = at.point,
                       .normal = at.normal,
                       .force_N = tl_scale(1 / step_s, tl_scale(step_s, work->slot[k].force)),
                       .gap_m = -at.depth_m,
                       .friction = at.law->friction};
  }
  return TL_OK;
}
