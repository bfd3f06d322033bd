/* One step of the penalty method (Tan 2022 ch. 3): forces of all contacts at the poses of the
 * moment, then a leap of velocities and momenta and a move with the new ones.
 *
 *   v' = ((1 - xi dt/2) v + dt (F/m + g))/(1 + xi dt/2), L' likewise with the torque,
 *   x' = x + dt v', rotation by the spin at mid-step, iterated (motion.h: centred).
 *
 * v and L of the state are those of half a step before x; at the very first step they are of the
 * same moment, and the kick is half as long. Sums run over the contacts in order of ids, whoever
 * owns the bodies: the same bits for any number of threads and ranks. Bonds and pressure of nets
 * (membrane.h) act in the same kick.
 */
#include "dem/contact.h"
#include "dem/shapes.h"
#include "dem/step_impl.h"

#include "base/log.h"
#include "base/par.h"
#include "num/exact.h"

#include <math.h>
#include <string.h>

/* Added exactly: neither ranks nor the order of contacts move a bit of them. */
typedef struct Sums {
  TlExact elastic, slip, viscous, wall, kinetic, potential, drag, resultant, contact, guide,
      boundary, net_damping, net_pressure, net_held, net_elastic;
} Sums;
enum { SUM_LIMBS = sizeof(Sums) / sizeof(int64_t) };

typedef struct Forces {
  TlSolver *solver;
  TlBodies *bodies;
  const TlMotion *motion;
  TlScan scan;
  TlPressSlot *slot;
  TlVec3 *force, *torque; /* of each body */
  double *stiffness;      /* two a body: for v, for w */
  TlNetLoad net;
  double *net_omega2; /* of each net's own springs, at most */
  double damping, boundary_damping;
  Sums *sums;
} Forces;

/* Only what touches: no contact is speculative. */
static TlMargin touching_margin(const Forces *f, double size, double speed) {
  double way = speed * f->solver->config.step_s;
  return (TlMargin){.size = size, .way = way};
}
static TlMargin pair_margin(const void *context, int64_t a, int64_t b) {
  const Forces *f = context;
  const TlTwist *t = f->motion->real.twist;
  const double *r = f->bodies->radius;
  double spins = tl_norm(t[a].w) * r[a] + tl_norm(t[b].w) * r[b];
  return touching_margin(f, tl_min(r[a], r[b]), tl_norm(tl_sub(t[a].v, t[b].v)) + spins);
}
static TlMargin wall_margin(const void *context, int64_t a, const TlBoundary *wall) {
  const Forces *f = context;
  const TlTwist *t = &f->motion->real.twist[a];
  TlVec3 v = tl_sub(t->v, tl_boundary_velocity(wall, f->bodies->position[a]));
  double r = f->bodies->radius[a];
  return touching_margin(f, r, tl_norm(v) + tl_norm(t->w) * r);
}

static TlVec3 wall_velocity(const void *wall, TlVec3 point) {
  return tl_boundary_velocity(wall, point);
}

static const TlGuide *guide_in(const Forces *f, const TlSlot *slot) {
  const TlBodies *b = f->bodies;
  int32_t body = b->flags[slot->a] & TL_BODY_GUIDED                   ? slot->a
                 : slot->b >= 0 && b->flags[slot->b] & TL_BODY_GUIDED ? slot->b
                                                                      : -1;
  return body < 0 ? NULL : tl_guide_of(f->solver->guides, f->solver->guide_count, b->id[body]);
}

/* A boundary's classes are asked at one point: the first. */
static TlRub rub_of(const Forces *f, const TlSlot *slot, const TlPoints *points) {
  const TlSolverConfig *c = &f->solver->config;
  const TlBodies *b = f->bodies;
  TlRub rub = {c->friction, c->restitution};
  if (slot->b < 0)
    rub = tl_boundary_rub(&f->solver->boundary[slot->boundary], points->point[0].p,
                          (TlRub){c->boundary_friction, c->boundary_restitution});
  const TlNet *net = NULL;
  const TlGuide *guide = guide_in(f, slot);
  if (guide) rub = (TlRub){guide->friction, guide->restitution};
  if (b->flags[slot->a] & TL_BODY_NET)
    net = tl_net_of(f->solver->nets, f->solver->net_count, b->id[slot->a]);
  else if (slot->b >= 0 && b->flags[slot->b] & TL_BODY_NET)
    net = tl_net_of(f->solver->nets, f->solver->net_count, b->id[slot->b]);
  return net ? (TlRub){net->friction, net->restitution} : rub;
}

/* Grain on grain and on plain boundaries it is known; classes and nets are seldom met. */
static double damping_of(const Forces *f, double restitution) {
  const TlSolverConfig *c = &f->solver->config;
  if (restitution == c->restitution) return f->damping;
  if (restitution == c->boundary_restitution) return f->boundary_damping;
  return tl_law_damping(restitution);
}

static TlStatus take(void *context, const TlSlot *slot, TlPoints *points, int thread) {
  Forces *f = context;
  TlSolver *s = f->solver;
  TlBodies *b = f->bodies;
  if (points->count == 0) return TL_OK;
  TlHistory *touches = &s->pressed[thread];
  TlPressSlot *out = &f->slot[slot->number];
  TlRub rub = rub_of(f, slot, points);
  TlPress press = {.bodies = b,
                   .twist = f->motion->real.twist,
                   .penalty = &s->config.penalty,
                   .a = slot->a,
                   .b = slot->b,
                   .boundary = slot->boundary,
                   .friction = rub.friction,
                   .damping = damping_of(f, rub.restitution),
                   .step_s = s->config.step_s};
  if (slot->b < 0) {
    press.wall_velocity = wall_velocity;
    press.wall = &s->boundary[slot->boundary];
  }
  int64_t high = slot->b >= 0 ? b->id[slot->b] : -1 - slot->boundary;
  press.known = tl_history_find(&b->history, b->id[slot->a], high, &press.known_count);
  *out = (TlPressSlot){.slot = *slot, .thread = thread, .first = touches->count};
  TL_TRY(tl_press(&press, points, touches, &out->pressed));
  out->touches = touches->count - out->first;
  return TL_OK;
}

static TlStatus reserve_threads(TlSolver *s) {
  TL_TRY(tl_step_reserve_points(s));
  size_t threads = (size_t)tl_par_threads(), old = s->pressed_count;
  for (size_t i = 0; i < old; i++) s->pressed[i].count = 0;
  if (threads <= old) return TL_OK;
  TlHistory *grown = tl_realloc(s->pressed, old, threads, sizeof *grown);
  if (!grown) return TL_ENOMEM;
  memset(grown + old, 0, (threads - old) * sizeof *grown);
  s->pressed = grown;
  s->pressed_count = threads;
  return TL_OK;
}

static TlStatus press_all(Forces *f) {
  TlSolver *s = f->solver;
  TL_TRY(reserve_threads(s));
  TL_TRY(tl_motion_check_poses(f->bodies, s->steps + 1));
  f->scan = (TlScan){.config = &s->config,
                     .boundary = s->boundary,
                     .boundary_count = s->boundary_count,
                     .arena = &s->arena,
                     .near = &s->near,
                     .points = s->points,
                     .bodies = f->bodies,
                     .context = f,
                     .pair_margin = pair_margin,
                     .wall_margin = wall_margin,
                     .take = take};
  TL_TRY(tl_scan_start(&f->scan));
  f->slot = tl_arena_push(&s->arena, (size_t)f->scan.slots, sizeof *f->slot);
  if (!f->slot) return TL_ENOMEM;
  memset(f->slot, 0, (size_t)f->scan.slots * sizeof *f->slot);
  s->press = f->slot;
  s->presses = f->scan.slots;
  return tl_context(tl_scan_run(&f->scan), "step %lld", (long long)s->steps + 1);
}

static void add_body(Forces *f, int32_t i, TlVec3 force, TlVec3 torque, const double stiffness[2]) {
  f->force[i] = tl_add(f->force[i], force);
  f->torque[i] = tl_add(f->torque[i], torque);
  f->stiffness[2 * i] += stiffness[0];
  f->stiffness[2 * i + 1] += stiffness[1];
}

static TlStatus sum_forces(Forces *f, TlStepReport *r) {
  TlArena *arena = &f->solver->arena;
  TlBodies *b = f->bodies;
  size_t n = (size_t)b->total;
  f->force = tl_arena_push(arena, n, sizeof *f->force);
  f->torque = tl_arena_push(arena, n, sizeof *f->torque);
  f->stiffness = tl_arena_push(arena, 2 * n, sizeof *f->stiffness);
  if (!f->force || !f->torque || !f->stiffness) return TL_ENOMEM;
  memset(f->force, 0, n * sizeof *f->force);
  memset(f->torque, 0, n * sizeof *f->torque);
  memset(f->stiffness, 0, 2 * n * sizeof *f->stiffness);
  for (int64_t i = 0; i < b->total; i++) b->contacts[i] = 0;
  for (int64_t k = 0; k < f->scan.slots; k++) {
    const TlPressSlot *s = &f->slot[k];
    const TlPressed *p = &s->pressed;
    if (p->points == 0) continue;
    add_body(f, s->slot.a, p->force, p->torque_a, p->stiffness_a);
    b->contacts[s->slot.a] += p->points;
    double size = b->radius[s->slot.a];
    if (s->slot.b >= 0) {
      add_body(f, s->slot.b, tl_scale(-1, p->force), p->torque_b, p->stiffness_b);
      b->contacts[s->slot.b] += p->points;
      size = tl_min(size, b->radius[s->slot.b]);
    }
    if (s->slot.a >= b->owned) continue; /* the owner of the lower id counts it */
    double *depth = s->slot.b < 0 ? &r->boundary_overlap_m : &r->overlap_m,
           *share = s->slot.b < 0 ? &r->boundary_overlap_share : &r->overlap_share;
    *depth = tl_max(*depth, p->depth_m);
    *share = tl_max(*share, p->depth_m / size);
    r->contacts++;
    r->touching += p->points;
    r->sliding += p->sliding;
    r->capped += p->capped;
    tl_exact_add(&f->sums->elastic, p->elastic_J);
    tl_exact_add(&f->sums->slip, p->slip_J);
    tl_exact_add(&f->sums->viscous, p->viscous_J);
    tl_exact_add(&f->sums->contact, tl_norm(p->force));
    tl_exact_add(&f->sums->wall, p->wall_work_J);
    if (s->slot.b < 0) tl_exact_add(&f->sums->boundary, p->normal_N);
  }
  return TL_OK;
}

/* A row that is carried is its holder's to hold against what pulls at it; what the pressure does on
 * it, the holder takes. */
static void book_held(const Forces *f, int64_t i) {
  const TlBodies *b = f->bodies;
  TlVec3 pull = tl_sub(f->force[i], f->net.press[i]);
  tl_exact_add(&f->sums->net_held, -f->solver->config.step_s * tl_dot(pull, b->velocity[i]));
}

/* Forces of the nets beside those of contacts. */
static TlStatus add_nets(Forces *f) {
  TlSolver *s = f->solver;
  TlBodies *b = f->bodies;
  TL_TRY(tl_membrane_load(s->nets, s->net_count, b, &s->arena, &f->net));
  f->sums->net_elastic = f->net.elastic;
  f->net_omega2 = tl_arena_push(&s->arena, (size_t)s->net_count + 1, sizeof *f->net_omega2);
  if (!f->net_omega2) return TL_ENOMEM;
  for (int k = 0; k < s->net_count; k++) {
    double stable = tl_net_stable_step(&s->nets[k]);
    f->net_omega2[k] = 4 / (stable * stable);
  }
  for (int64_t i = 0; s->net_count && i < b->total; i++) {
    if (!(b->flags[i] & TL_BODY_NET)) continue;
    f->force[i] = tl_add(f->force[i], f->net.force[i]);
    f->torque[i] = tl_add(f->torque[i], f->net.torque[i]);
    if (i < b->owned && b->flags[i] & TL_BODY_FROZEN) book_held(f, i);
  }
  return TL_OK;
}

/* What the kick changes kinetic energy by, to the last digit: force times mean velocity. */
static void book_net(const Forces *f, int64_t i, TlVec3 v, TlVec3 w) {
  double step = f->solver->config.step_s;
  double drag = tl_dot(f->net.drag[i], v) + tl_dot(f->net.drag_torque[i], w);
  tl_exact_add(&f->sums->net_damping, -step * drag);
  tl_exact_add(&f->sums->net_pressure, step * tl_dot(f->net.press[i], v));
}

/* Of the springs that hold it, beside its contacts. */
static double net_omega2(const Forces *f, int64_t i) {
  const TlSolver *s = f->solver;
  for (int k = 0; k < s->net_count; k++)
    if (tl_net_of(&s->nets[k], 1, f->bodies->id[i])) return f->net_omega2[k];
  return 0;
}

/* Stable while dt < 2/omega, omega^2 <= 2 sum k (1/m + r^2/I) over the body's own points (half of a
 * pair's motion may be the other's: the factor 2; PHYSICS note 17). */
static void kick_body(const Forces *f, int64_t i, double dt, TlStepReport *r) {
  const TlSolverConfig *c = &f->solver->config;
  const TlBodies *b = f->bodies;
  TlTwist *t = &f->motion->real.twist[i], before = *t;
  double half = 0.5 * c->damping_per_s * dt, m = b->mass[i];
  TlVec3 force = tl_axpy(f->force[i], m, c->gravity_m_s2);
  TlVec3 turn = tl_sym_vec(f->motion->real.inverse_inertia[i], f->torque[i]);
  const TlGuide *guide = tl_guide_of(f->solver->guides, f->solver->guide_count, b->id[i]);
  t->v = tl_scale(1 / (1 + half), tl_axpy(tl_scale(1 - half, t->v), dt / m, force));
  t->w = tl_scale(1 / (1 + half), tl_axpy(tl_scale(1 - half, t->w), dt, turn));
  if (guide) *t = tl_guided(guide, *t, dt / m / (1 + half));
  if (i >= b->owned) return;
  if (guide) {
    tl_exact_add(&f->sums->wall, tl_guide_work(guide, f->force[i], before.v, t->v, c->step_s));
    tl_exact_add(&f->sums->guide, tl_dot(f->force[i], guide->axis));
  }
  if (guide && guide->driven) return; /* held by its ram: no part of the balance */
  TlVec3 v = before.v, w = before.w;  /* of x's moment: at the first step they are that */
  if (f->solver->steps > 0) {
    v = tl_scale(0.5, tl_add(v, t->v));
    w = tl_scale(0.5, tl_add(w, t->w));
  }
  TlSym3 inertia = tl_bodies_rotated(b, i, b->inertia[i]);
  double kinetic = 0.5 * m * tl_norm2(v) + 0.5 * tl_dot(w, tl_sym_vec(inertia, w));
  tl_exact_add(&f->sums->kinetic, kinetic);
  tl_exact_add(&f->sums->drag, 2 * c->damping_per_s * dt * kinetic);
  if (b->flags[i] & TL_BODY_NET) book_net(f, i, v, w);
  tl_exact_add(&f->sums->potential, -m * tl_dot(c->gravity_m_s2, b->position[i]));
  if (!guide) {
    tl_exact_add(&f->sums->resultant, tl_norm(force));
    r->moving++;
  }
  TlVec3 I = b->inertia[i];
  double omega2 =
      2 * (f->stiffness[2 * i] / m + f->stiffness[2 * i + 1] / tl_min(I.x, tl_min(I.y, I.z)));
  if (b->flags[i] & TL_BODY_NET) omega2 += net_omega2(f, i);
  if (omega2 > 0) r->stable_step_s = tl_min(r->stable_step_s, 2 / sqrt(omega2));
}

static TlStatus kick(const Forces *f, TlStepReport *r) {
  const TlSolver *s = f->solver;
  double dt = s->steps == 0 ? 0.5 * s->config.step_s : s->config.step_s;
  r->stable_step_s = INFINITY;
  for (int64_t i = 0; i < f->bodies->total; i++)
    if (!(f->bodies->flags[i] & TL_BODY_FROZEN)) kick_body(f, i, dt, r);
  return tl_sync_forward(s->sync, f->motion->real.twist, sizeof *f->motion->real.twist);
}

/* ---- memory ---- */

typedef struct Fresh {
  TlTouch *touch;
  size_t count;
  bool sorted;
} Fresh;

static void append(const Forces *f, int64_t slot, Fresh *fresh) {
  const TlPressSlot *s = &f->slot[slot];
  const TlTouch *from = f->solver->pressed[s->thread].touch + s->first;
  if (s->touches == 0) return;
  if (fresh->count && tl_touch_order(&fresh->touch[fresh->count - 1], from) >= 0)
    fresh->sorted = false;
  memcpy(fresh->touch + fresh->count, from, s->touches * sizeof *from);
  fresh->count += s->touches;
}

/* By (low, high) as far as the bodies lie in order of id: a body's boundaries, the last one first,
 * then its pairs. */
static void collect(const Forces *f, Fresh *fresh) {
  const int64_t *id = f->bodies->id;
  int64_t pair = 0, pairs = (int64_t)f->scan.pairs->count, wall = pairs;
  while (pair < pairs || wall < f->scan.slots) {
    int64_t low = pair < pairs ? id[f->scan.pairs->pair[pair].a] : INT64_MAX;
    if (wall == f->scan.slots || id[tl_scan_slot(&f->scan, wall).a] > low) {
      append(f, pair++, fresh);
      continue;
    }
    int32_t body = tl_scan_slot(&f->scan, wall).a;
    int64_t end = wall;
    while (end < f->scan.slots && tl_scan_slot(&f->scan, end).a == body) end++;
    for (int64_t k = end; k > wall; k--) append(f, k - 1, fresh);
    wall = end;
  }
}

/* The touches of all slots become the history; bonds stay. Two sorted lists, from their ends. */
static TlStatus remember(const Forces *f) {
  TlHistory *h = &f->bodies->history;
  size_t kept = 0, added = 0;
  for (size_t i = 0; i < h->count; i++)
    if (h->touch[i].key == TL_TOUCH_BOND) h->touch[kept++] = h->touch[i];
  for (int64_t k = 0; k < f->scan.slots; k++) added += f->slot[k].touches;
  Fresh fresh = {tl_arena_push(&f->solver->arena, added, sizeof *fresh.touch), 0, true};
  if (!fresh.touch) return TL_ENOMEM;
  collect(f, &fresh);
  TL_TRY(TL_RESERVE(h->touch, h->capacity, kept + added));
  h->count = kept + added;
  for (size_t to = h->count, n = added; n > 0;) {
    bool bond = kept > 0 && tl_touch_order(&h->touch[kept - 1], &fresh.touch[n - 1]) > 0;
    h->touch[--to] = bond ? h->touch[--kept] : fresh.touch[--n];
  }
  if (!fresh.sorted) tl_history_sort(h);
  return TL_OK;
}

/* Over the ranks; after the others' sums. */
static TlStatus report_sums(const Forces *f, TlStepReport *r) {
  Sums *s = f->sums;
  TL_TRY(tl_sync_sum_int(f->solver->sync, s->elastic.limb, SUM_LIMBS));
  r->elastic_J = tl_exact_value(&s->elastic);
  r->slip_J = tl_exact_value(&s->slip);
  r->viscous_J = tl_exact_value(&s->viscous);
  r->wall_work_J = tl_exact_value(&s->wall);
  r->kinetic_J = tl_exact_value(&s->kinetic);
  r->potential_J = tl_exact_value(&s->potential);
  r->drag_J = tl_exact_value(&s->drag);
  r->resultant_N = tl_exact_value(&s->resultant);
  r->contact_N = tl_exact_value(&s->contact);
  r->guide_N = tl_exact_value(&s->guide);
  r->boundary_N = tl_exact_value(&s->boundary);
  r->net_damping_J = tl_exact_value(&s->net_damping);
  r->net_pressure_J = tl_exact_value(&s->net_pressure);
  r->net_held_J = tl_exact_value(&s->net_held);
  r->net_elastic_J = tl_exact_value(&s->net_elastic);
  return TL_OK;
}

static void report(const Forces *f, TlStepReport *r) {
  const TlSolver *s = f->solver;
  TlStepReport moved = {0};
  tl_step_report_motion(f->bodies, &moved);
  r->speed_max_m_s = moved.speed_max_m_s;
  r->outside = moved.outside;
  r->poor = moved.poor;
  r->step = s->steps;
  for (int t = 0; t < tl_par_threads(); t++) {
    r->pairs += s->points[t].pairs;
    r->lookups += s->points[t].lookups;
    r->node_tests += s->points[t].node_tests;
    r->node_lists += s->points[t].lists;
  }
}

/* ---- the step's length ---- */

/* Stiffness of one point of a body's contacts (of all its surface, with traction). */
static double point_stiffness(const TlSolverConfig *c, const TlStiffness *k, const TlBodies *b,
                              int64_t i) {
  const TlShape *shape = b->shape[i];
  double scale = b->scale[i], depth = 0.01 * b->radius[i];
  if (c->penalty.spread == TL_SPREAD_TRACTION && shape->avatar)
    return k->normal_Pa_m * scale * scale * shape->avatar->area_m2;
  TlLawPoint point = {.stiffness = *k, .radius_m = b->radius[i]};
  return tl_law(c->penalty.law)->slope(&point, depth);
}

/* 0.1 sqrt(m/k) of a point is safe to some 60 touching ones (PHYSICS note 17; Tan 2024 Eq. 50 is
 * upside down). With traction k is that of the whole surface: where a fifth of it touches, 0.4
 * keeps as far away. Hertz: at a depth of 1% of the radius. */
static double stable_step(const TlSolverConfig *c, const TlBodies *b, int64_t i) {
  double most = tl_max(point_stiffness(c, &c->penalty.grain, b, i),
                       point_stiffness(c, &c->penalty.boundary, b, i));
  bool surface = c->penalty.spread == TL_SPREAD_TRACTION && b->shape[i]->avatar;
  double share = c->penalty.touching_share > 0 ? c->penalty.touching_share : 0.2;
  return (surface ? 0.4 * sqrt(0.2 / share) : 0.1) * sqrt(b->mass[i] / most);
}

static bool has_step(const TlBodies *b, int64_t i) {
  return !(b->flags[i] & (TL_BODY_FROZEN | TL_BODY_NET | TL_BODY_GUIDED));
}

double tl_solver_safe_step(const TlSolver *s, const TlBodies *b) {
  double least = INFINITY;
  for (int64_t i = 0; i < b->owned; i++)
    if (has_step(b, i)) least = tl_min(least, stable_step(&s->config, b, i));
  return least;
}

/* In each step, for grains come in during a run. */
static TlStatus check_step(const TlSolver *s, const TlBodies *b) {
  const TlSolverConfig *c = &s->config;
  for (int64_t i = 0; i < b->owned; i++) {
    if (!has_step(b, i)) continue;
    bool points = c->penalty.spread != TL_SPREAD_TRACTION || !b->shape[i]->avatar;
    if (points && tl_law(c->penalty.law) == &tl_law_linear && !(c->penalty.grain.normal_N_m > 0))
      return tl_fail(
          TL_EUSAGE,
          "grain %lld is no avatar: traction needs the area of nodes; give the stiffness "
          "of a point, too",
          (long long)b->id[i]);
    double stable = stable_step(c, b, i);
    if (!(c->step_s <= stable))
      return tl_fail(TL_EUSAGE,
                     "a time step of %g s is above the %g s that are safe for grain %lld (mass %g "
                     "kg): a shorter step, a softer contact, or more mass",
                     c->step_s, stable, (long long)b->id[i], b->mass[i]);
  }
  return TL_OK;
}

TlStatus tl_step_penalty(TlSolver *s, TlBodies *b, TlStepReport *r) {
  TlMotion motion;
  Sums sums = {0};
  Forces f = {.solver = s,
              .sums = &sums,
              .bodies = b,
              .motion = &motion,
              .damping = tl_law_damping(s->config.restitution),
              .boundary_damping = tl_law_damping(s->config.boundary_restitution)};
  double start = tl_clock_s(), cpu = tl_clock_process_cpu_s();
  TL_TRY(tl_solver_refresh(s, b));
  TlStatus status = tl_motion_start(b, &s->arena, &motion);
  motion.centred = true;
  if (status == TL_OK) status = check_step(s, b);
  if (status == TL_OK) status = press_all(&f);
  if (status == TL_OK) status = sum_forces(&f, r);
  if (status == TL_OK) status = add_nets(&f);
  TL_TRY(tl_step_together(s->sync, status));
  r->detect_s = tl_clock_s() - start;
  r->detect_cpu_s = tl_clock_process_cpu_s() - cpu;
  TL_TRY(kick(&f, r));
  TL_TRY(tl_step_advance(s, b, &motion, false, r));
  TL_TRY(remember(&f));
  report(&f, r);
  TL_TRY(tl_step_report_ranks(s->sync, r));
  TL_TRY(report_sums(&f, r));
  r->other_s = tl_clock_s() - start - r->detect_s;
  return TL_OK;
}

TlStatus tl_press_contacts(const TlSolver *s, const TlBodies *b, TlContactRow **rows,
                           int64_t *count) {
  TL_TRY(TL_NEW(*rows, (size_t)s->presses));
  *count = 0;
  for (int64_t i = 0; i < s->presses; i++) {
    const TlPressSlot *k = &s->press[i];
    if (k->pressed.points == 0 || k->slot.a >= b->owned) continue;
    (*rows)[(*count)++] =
        (TlContactRow){.low = b->id[k->slot.a],
                       .high = k->slot.b >= 0 ? b->id[k->slot.b] : -1 - k->slot.boundary,
                       .point = k->pressed.point,
                       .normal = k->pressed.normal,
                       .gap_m = -k->pressed.depth_m,
                       .impulse_N_s = tl_scale(s->config.step_s, k->pressed.force)};
  }
  return TL_OK;
}
