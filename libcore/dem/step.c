#include "dem/step.h"

#include "base/log.h"
#include "base/par.h"
#include "dem/step_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- driven boundaries ---- */

void tl_step_place_boundaries(TlSolver *s) {
  for (int i = 0; i < s->boundary_count; i++) {
    const TlDrive *drive = s->boundary[i].drive;
    if (!drive) continue;
    s->boundary[i].place = tl_drive_place(drive, s->steps, s->steps, s->config.step_s);
    s->ahead[i].place = tl_drive_place(drive, s->steps + 1, s->steps, s->config.step_s);
  }
}

/* Grains that a boundary throws meet others in the same step. */
static double driven_speed(const TlSolver *s, TlVec3 position) {
  double most = 0;
  for (int i = 0; i < s->boundary_count; i++)
    most = fmax(most, tl_norm(tl_boundary_velocity(&s->boundary[i], position)));
  return most;
}

/* ---- derived fields ---- */

static TlStatus shape_for(TlSolver *s, int64_t id, const TlShape **shape) {
  *shape = tl_shapes_find(&s->shapes, id);
  if (*shape) return TL_OK;
  if (!s->source.get) return tl_fail(TL_EINPUT, "avatar %lld is not known", (long long)id);
  const TlAvatar *avatar = s->source.get(s->source.ctx, id);
  if (!avatar) return TL_EINPUT;
  TL_TRY(tl_shapes_add(&s->shapes, id, avatar));
  *shape = tl_shapes_find(&s->shapes, id);
  return TL_OK;
}

/* Mass and moments of inertia of one collider. */
static double collider_mass(const TlSolver *s, const TlColliders *c, int64_t k, TlVec3 *inertia) {
  double scale = c->scale[k], scale3 = scale * scale * scale;
  double density = s->materials.material[c->material[k]].density_kg_m3;
  *inertia = tl_scale(density * scale3 * scale * scale, c->shape[k]->inertia_m5);
  return density * c->shape[k]->volume_m3 * scale3;
}

/* The sums over its colliders; its frame must lie at their centre of mass along the principal axes
 * (tl_bodies_frame). */
static TlStatus derive_parts(const TlSolver *s, TlBodies *b, int64_t i) {
  static const double ROUNDING = 1e-9; /* of the radius; of the largest moment of inertia */
  TlColliders *c = &b->colliders;
  TlSym3 sum = {0};
  TlVec3 moment = {0, 0, 0}, one;
  double mass = 0, radius = 0;
  for (int64_t k = b->first[i]; k < b->first[i] + b->parts[i]; k++) {
    double m = collider_mass(s, c, k, &one);
    TlSym3 part = tl_collider_inertia(c->offset[k], c->turn[k], m, one);
    c->radius[k] = c->scale[k] * c->shape[k]->radius_m;
    radius = fmax(radius, tl_norm(c->offset[k]) + c->radius[k]);
    mass += m;
    moment = tl_axpy(moment, m, c->offset[k]);
    sum = (TlSym3){sum.xx + part.xx, sum.yy + part.yy, sum.zz + part.zz,
                   sum.xy + part.xy, sum.xz + part.xz, sum.yz + part.yz};
  }
  double off = fmax(fabs(sum.xy), fmax(fabs(sum.xz), fabs(sum.yz)));
  if (!(tl_norm(moment) <= ROUNDING * mass * radius) ||
      !(off <= ROUNDING * (sum.xx + sum.yy + sum.zz)))
    return tl_fail(TL_EINPUT,
                   "body %lld: its frame does not lie at the centre of mass of its %d parts along "
                   "their principal axes",
                   (long long)b->id[i], b->parts[i]);
  b->mass[i] = mass;
  b->inertia[i] = tl_vec3(sum.xx, sum.yy, sum.zz);
  b->radius[i] = radius;
  return TL_OK;
}

static void derive_grain(const TlSolver *s, TlBodies *b, int64_t i) {
  TlColliders *c = &b->colliders;
  int64_t k = b->first[i];
  b->mass[i] = collider_mass(s, c, k, &b->inertia[i]);
  b->radius[i] = c->scale[k] * c->shape[k]->radius_m;
  c->radius[k] = b->radius[i];
  const TlNet *net = b->flags[i] & TL_BODY_NET ? tl_net_of(s->nets, s->net_count, b->id[i]) : NULL;
  if (net) { /* its density is its own */
    b->inertia[i] = tl_scale(net->mass_kg / b->mass[i], b->inertia[i]);
    b->mass[i] = net->mass_kg;
  }
}

static TlStatus derive(const TlSolver *s, TlBodies *b, int64_t i) {
  if (b->parts[i] > 0)
    TL_TRY(derive_parts(s, b, i));
  else
    derive_grain(s, b, i);
  bool fixed = b->flags[i] & TL_BODY_FROZEN;
  TlVec3 m = b->inertia[i];
  b->inverse_mass[i] = fixed ? 0 : 1 / b->mass[i];
  b->inverse_inertia[i] = fixed ? (TlVec3){0, 0, 0} : tl_vec3(1 / m.x, 1 / m.y, 1 / m.z);
  return TL_OK;
}

double tl_step_speed(const TlBodies *b, int64_t i) {
  bool carried = b->flags[i] & TL_BODY_NET; /* perhaps: a net's row (membrane.h) */
  if (b->flags[i] & TL_BODY_FROZEN && !carried) return 0;
  return tl_norm(b->velocity[i]) + tl_norm(tl_bodies_spin(b, i)) * b->radius[i];
}

/* Half the longest bond allowed, so that bonded spheres see each other across ranks. */
static double half_bond(const TlSolver *s, int64_t id) {
  const TlNet *net = tl_net_of(s->nets, s->net_count, id);
  if (!net) return 0;
  return 0.5 * (1 + net->stretch_most) * tl_net_longest_bond(net);
}

/* Are the derived fields of the body those of the shape and scale it has? Of a body with parts
 * nobody asks: there are few. */
static bool derived(const TlSolver *s, const TlBodies *b, int64_t i) {
  const TlColliders *c = &b->colliders;
  int64_t k = b->first[i];
  const TlKnownShape *known = &s->known[k];
  const TlShape *shape = known->shape;
  if (!shape || known->avatar_id != c->avatar_id[k] || c->shape[k] != shape) return false;
  double scale = c->scale[k], scale3 = scale * scale * scale;
  bool fixed = b->flags[i] & TL_BODY_FROZEN;
  return !(b->flags[i] & TL_BODY_NET) && b->parts[i] == 0 &&
         c->radius[k] == scale * shape->radius_m && b->radius[i] == c->radius[k] &&
         b->mass[i] ==
             s->materials.material[c->material[k]].density_kg_m3 * shape->volume_m3 * scale3 &&
         (b->inverse_mass[i] == 0) == fixed;
}

static TlStatus find_shapes(TlSolver *s, TlBodies *b, int64_t i) {
  TlColliders *c = &b->colliders;
  for (int64_t k = b->first[i]; k < b->first[i] + tl_bodies_parts(b, i); k++) {
    TL_TRY(shape_for(s, c->avatar_id[k], &c->shape[k]));
    s->known[k] = (TlKnownShape){c->avatar_id[k], c->shape[k]};
  }
  return TL_OK;
}

static TlStatus derive_all(TlSolver *s, TlBodies *b) {
  const TlColliders *c = &b->colliders;
  size_t had = s->known_capacity;
  TL_TRY(TL_RESERVE(s->known, s->known_capacity, (size_t)c->total));
  for (size_t i = had; i < s->known_capacity; i++) s->known[i] = (TlKnownShape){0, NULL};
  for (int64_t k = 0; k < c->total; k++)
    if (c->material[k] < 0 || c->material[k] >= s->materials.count)
      return tl_fail(TL_EUSAGE, "body %lld: there is no material %d", (long long)c->body_id[k],
                     c->material[k]);
  for (int64_t i = 0; i < b->total; i++) {
    if (derived(s, b, i)) continue;
    double mass = b->mass[i];
    TL_TRY(find_shapes(s, b, i));
    TL_TRY(derive(s, b, i));
    if (!(b->flags[i] & TL_BODY_NET) && (b->parts[i] == 0 || b->mass[i] != mass)) s->unchecked++;
  }
  tl_bodies_place_colliders(b);
  return TL_OK;
}

static double largest_speed(const TlSolver *s, const TlBodies *b) {
  double most = 0;
  for (int64_t i = 0; i < b->total; i++)
    most = fmax(most, fmax(tl_step_speed(b, i), driven_speed(s, b->position[i])));
  return most;
}

/* How far bodies [first, total) look for contacts, by the largest speed of all ranks. */
static void set_reach(const TlSolver *s, TlBodies *b, int64_t first) {
  const TlMethodKind *method = tl_method(s->config.method);
  TlColliders *c = &b->colliders;
  for (int64_t i = first; i < b->total; i++) {
    double speed = method->reach ? tl_step_speed(b, i) : 0;
    b->halo[i] = 0;
    for (int64_t k = b->first[i]; k < b->first[i] + tl_bodies_parts(b, i); k++) {
      c->reach[k] = c->radius[k];
      if (method->reach) c->reach[k] = method->reach(&s->config, s->speed_max, c->radius[k], speed);
      double far = c->reach[k];
      if (b->parts[i] > 0) far += tl_norm(c->offset[k]);
      b->halo[i] = fmax(b->halo[i], far);
    }
    if (b->flags[i] & TL_BODY_NET) b->halo[i] = fmax(b->halo[i], half_bond(s, b->id[i]));
  }
}

TlStatus tl_solver_refresh(TlSolver *s, TlBodies *b) {
  TlStatus status = derive_all(s, b);
  bool wanted = status == TL_OK && tl_method(s->config.method)->reach;
  /* One exchange for both: minus the largest speed, and -1 where a rank failed, for all ranks must
   * leave together. */
  double least[2] = {wanted ? -largest_speed(s, b) : 0, status == TL_OK ? 0 : -1};
  TL_TRY(tl_sync_least(s->sync, least, 2));
  if (status != TL_OK) return status;
  if (least[1] < 0) return tl_fail(TL_EINPUT, "another rank could not load its shapes");
  s->speed_max = -least[0];
  set_reach(s, b, 0);
  return TL_OK;
}

/* Each constraint must be of a kind that the method solves. */
static TlStatus check_constraints(const TlSolver *s, const TlBodies *b) {
  const TlMethodKind *method = tl_method(s->config.method);
  for (int k = TL_FIRST_CONSTRAINT; k < TL_PAIR_KINDS; k++) {
    if (b->pairs.of[k].count == 0 || method->solves & TL_KIND_BIT(k)) continue;
    TlPairKey key = tl_pair_key(&b->pairs.of[k], (TlPairKind)k, 0);
    return tl_fail(TL_EUSAGE,
                   "the method %s does not solve constraints of the kind '%s' (number %lld, bodies "
                   "%lld and %lld); remove them, or choose a method that does",
                   tl_method_name(s->config.method), tl_pair_kind_name[k], (long long)key.number,
                   (long long)key.low, (long long)key.high);
  }
  return TL_OK;
}

TlStatus tl_step_begin(TlSolver *s, TlBodies *b) {
  TL_TRY(check_constraints(s, b));
  for (int k = 0; k < TL_FIRST_CONSTRAINT; k++) /* another method's memory means nothing here */
    if (k != (int)tl_method(s->config.method)->memory) b->pairs.of[k].count = 0;
  if (!s->sync) return tl_solver_refresh(s, b); /* which exchanges nothing on one rank */
  TL_TRY(derive_all(s, b));
  set_reach(s, b, b->owned);
  return TL_OK;
}

double tl_solver_safe_step(const TlSolver *s, const TlBodies *b) {
  const TlMethodKind *method = tl_method(s->config.method);
  return method->safe_step ? method->safe_step(s, b) : INFINITY;
}

TlStatus tl_solver_check(TlSolver *s, TlBodies *b) {
  const TlMethodKind *method = tl_method(s->config.method);
  TL_TRY(derive_all(s, b));
  TL_TRY(check_constraints(s, b));
  return method->check_bodies ? method->check_bodies(s, b) : TL_OK;
}

/* ---- the solve ---- */

static TlEtmLaw etm_law(const TlSolver *s) {
  const TlSolverConfig *c = &s->config;
  double kick = tl_norm(c->gravity_m_s2) * c->step_s;
  TlEtmLaw law = {.increments = c->increments,
                  .max_rounds = c->max_rounds,
                  .final_sweeps = 20000, /* 208 was the most seen: compress() in etm_level.c */
                  .tolerance_m_s = c->tolerance * kick + 1e-6 * s->speed_max,
                  .entry_m_s = 2 * kick, /* c = 2: measured */
                  .threshold_m_s = c->impact_threshold_m_s,
                  .similar = c->similar,
                  .trace = s->trace};
  if (c->rest == TL_REST_ETM) law.entry_m_s = law.tolerance_m_s;
  return law;
}

/* One stage over all groups. The shared one runs first and in lockstep; large ones use threads
 * inside; the small ones share the threads among them. */
typedef struct Stage {
  TlSolver *solver;
  const TlGroups *groups;
  const TlDynamics *dynamics;
  TlStatus (*run)(struct Stage *stage, int32_t group);
  TlEtmLaw etm;
  TlRestLaw rest;
  const TlPositionLaw *position;
  double pair_ns;        /* work on a pair of a small group, about */
  TlStageCounts *counts; /* one a group */
} Stage;

enum { LARGE_GROUP = 1000 }; /* pairs */
static const double ETM_NS = 500, REST_NS = 3000, POSITION_NS = 500;

static bool runs_alone(const TlGroup *g) {
  return g->sync || g->colour_start[g->colours] >= LARGE_GROUP;
}

static TlStatus run_small(void *context, int64_t begin, int64_t end, int64_t block, int thread) {
  Stage *stage = context;
  (void)block;
  (void)thread;
  for (int64_t i = begin; i < end; i++)
    if (!runs_alone(&stage->groups->group[i])) TL_TRY(stage->run(stage, (int32_t)i));
  return TL_OK;
}

/* Pairs of small groups that others can take while one thread has the largest of them. */
static double shared_pairs(const TlGroups *groups) {
  int64_t sum = 0, most = 0;
  for (int32_t i = 0; i < groups->count; i++) {
    const TlGroup *g = &groups->group[i];
    if (runs_alone(g)) continue;
    int64_t pairs = g->colour_start[g->colours];
    sum += pairs;
    if (pairs > most) most = pairs;
  }
  return (double)(sum - most);
}

static TlStatus run_stage(Stage *stage) {
  for (int32_t i = 0; i < stage->groups->count; i++)
    if (runs_alone(&stage->groups->group[i])) TL_TRY(stage->run(stage, i));
  return tl_par_loop(stage->groups->count, 4,
                     stage->pair_ns * shared_pairs(stage->groups) / (stage->groups->count + 1),
                     run_small, stage);
}

static TlStatus run_etm(Stage *stage, int32_t i) {
  const TlGroup *g = &stage->groups->group[i];
  tl_etm_trace(&stage->etm, TL_TRACE_START, g, stage->dynamics);
  TL_TRY(tl_method(stage->solver->config.method)
             ->collide(&stage->etm, g, stage->dynamics, &stage->counts[i].etm));
  tl_etm_trace(&stage->etm, TL_TRACE_END, g, stage->dynamics);
  return TL_OK;
}

static TlStatus run_rest(Stage *stage, int32_t i) {
  return tl_rest_solve(&stage->rest, &stage->groups->group[i], stage->dynamics,
                       &stage->counts[i].rest);
}

static TlStatus run_position(Stage *stage, int32_t i) {
  return tl_position_solve(stage->position, &stage->groups->group[i], stage->dynamics);
}

static TlStatus stage_counts(Stage *stage) {
  size_t n = (size_t)stage->groups->count + 1;
  stage->counts = tl_arena_push(&stage->solver->arena, n, sizeof *stage->counts);
  if (!stage->counts) return TL_ENOMEM;
  memset(stage->counts, 0, n * sizeof *stage->counts);
  return TL_OK;
}

TlStatus tl_step_positions(TlSolver *s, const TlGroups *groups, const TlPositionLaw *law,
                           const TlDynamics *pseudo) {
  Stage stage = {.solver = s,
                 .groups = groups,
                 .dynamics = pseudo,
                 .run = run_position,
                 .pair_ns = POSITION_NS,
                 .position = law};
  return run_stage(&stage);
}

static void kick(const TlSolver *s, const TlBodies *b, const TlDynamics *d) {
  const TlSolverConfig *c = &s->config;
  double keep = 1 - c->damping_per_s * c->step_s; /* Tan 2024 Eqs. 47-49 */
  for (int64_t i = 0; i < b->total; i++) {
    if (b->flags[i] & TL_BODY_FROZEN) continue;
    TlTwist *t = &d->twist[i];
    t->v = tl_scale(keep, tl_axpy(t->v, c->step_s, c->gravity_m_s2));
    if (keep != 1) t->w = tl_scale(keep, t->w);
  }
}

static TlStatus correct_walls(TlSolver *s, const TlBodies *b, const TlDynamics *d) {
  double *work = tl_arena_push(&s->arena, (size_t)b->owned, sizeof *work);
  if (!work) return TL_ENOMEM;
  TlWallsStep step = {s->boundary,      s->ahead,       s->boundary_count,
                      s->config.step_s, s->config.slop, &s->materials};
  tl_walls_correct(b, s->config.search == TL_SEARCH_NEAR ? &s->near : NULL, &step, d, work);
  for (int64_t i = 0; i < b->owned; i++)
    if (work[i] != 0) tl_exact_add(&s->sums.wall_work_J, work[i]);
  return TL_OK;
}

static TlStatus solve(TlSolver *s, const TlBodies *b, const TlMotion *m, Stage *stage,
                      TlStepReport *r) {
  const TlSolverConfig *c = &s->config;
  stage->dynamics = &m->real;
  stage->etm = etm_law(s);
  double kick_m_s = tl_norm(c->gravity_m_s2) * c->step_s;
  stage->rest = (TlRestLaw){c->rest_tolerance * kick_m_s + 1e-9 * s->speed_max, c->rest_sweeps};
  double start = tl_clock_s();
  bool etm_only = c->rest == TL_REST_ETM;
  if (etm_only) kick(s, b, &m->real);
  stage->run = run_etm;
  stage->pair_ns = ETM_NS;
  TL_TRY(run_stage(stage));
  double middle = tl_clock_s();
  r->etm_s = middle - start;
  if (!etm_only) {
    kick(s, b, &m->real);
    stage->run = run_rest;
    stage->pair_ns = REST_NS;
    TL_TRY(run_stage(stage));
  }
  TL_TRY(correct_walls(s, b, &m->real));
  TL_TRY(tl_sync_forward(s->sync, m->real.twist, sizeof *m->real.twist));
  TlPositionLaw position = {.rate = c->position_rate,
                            .slop = c->slop,
                            .step_s = c->step_s,
                            .sweeps = c->position_sweeps,
                            .real = &m->real};
  TL_TRY(tl_step_positions(s, stage->groups, &position, &m->pseudo));
  r->rest_s = tl_clock_s() - middle;
  return TL_OK;
}

/* ---- the step ---- */

TlStatus tl_step_reserve_points(TlSolver *s) {
  size_t threads = (size_t)tl_par_threads(), old = s->point_lists;
  if (threads <= old) return TL_OK;
  TlPoints *grown = tl_realloc(s->points, old, threads, sizeof *grown);
  if (!grown) return TL_ENOMEM;
  memset(grown + old, 0, (threads - old) * sizeof *grown);
  s->points = grown;
  s->point_lists = threads;
  return TL_OK;
}

static TlStatus detect(TlSolver *s, const TlBodies *b, const TlMotion *m) {
  TL_TRY(tl_step_reserve_points(s));
  TlDetect d = {.config = &s->config,
                .materials = &s->materials,
                .boundary = s->boundary,
                .boundary_count = s->boundary_count,
                .speed_max = s->speed_max,
                .arena = &s->arena,
                .near = &s->near,
                .points = s->points};
  TL_TRY(tl_motion_check_poses(b, s->steps + 1));
  return tl_context(tl_detect(&d, b, &m->real, &s->found), "step %lld", (long long)s->steps + 1);
}

TlStatus tl_step_together(const TlSync *sync, TlStatus status) {
  int failed = status != TL_OK;
  TL_TRY(tl_sync_any(sync, &failed));
  if (status != TL_OK || !failed) return status;
  return tl_fail(TL_ELIMIT, "another rank failed in this step");
}

TlStatus tl_step_nets(TlSolver *s, TlBodies *b, const TlVec3 *start, TlMembraneMove move,
                      TlStepReport *r) {
  TlNetCount net;
  TlStatus status = move(s->nets, s->net_count, b, start, s->config.step_s, s->sync, s->net_memo,
                         &s->arena, &net);
  r->net_bonds = net.bonds;
  r->net_broken = net.broken;
  s->sums.net_elastic_end_J = net.elastic;
  if (s->net_count == 0) return status;
  return tl_step_together(s->sync, tl_context(status, "step %lld", (long long)s->steps));
}

/* Move, then correct the nets' velocities: this order keeps grains from passing (Tan 2024 4.2). */
TlStatus tl_step_advance(TlSolver *s, TlBodies *b, const TlMotion *motion, TlStepReport *r) {
  TlVec3 *start = tl_arena_push(&s->arena, (size_t)b->total, sizeof *start);
  TlStatus status = start ? TL_OK : TL_ENOMEM;
  if (start && b->total) memcpy(start, b->position, (size_t)b->total * sizeof *start);
  s->steps++;
  tl_step_place_boundaries(s);
  if (status == TL_OK)
    status =
        tl_motion_finish(b, motion, s->boundary, s->boundary_count, s->config.step_s, s->steps);
  TL_TRY(tl_step_together(s->sync, status));
  TL_TRY(tl_step_recheck(s, b, motion, &r->rechecks));
  TL_TRY(tl_step_nets(s, b, start, tl_membrane_correct, r));
  s->sums.net_elastic_J = s->sums.net_elastic_end_J;
  return TL_OK;
}

TlStatus tl_step_by_impulses(TlSolver *s, TlBodies *b, TlStepReport *r) {
  TlGroups groups;
  TlMotion motion;
  double start = tl_clock_s(), cpu = tl_clock_process_cpu_s();
  TlStatus status = tl_step_begin(s, b);
  if (status == TL_OK) status = tl_motion_start(b, &s->arena, &motion);
  if (status == TL_OK) status = detect(s, b, &motion);
  if (status == TL_OK) status = tl_step_poor(s, b);
  TL_TRY(tl_step_together(s->sync, status));
  r->detect_s = tl_clock_s() - start;
  r->detect_cpu_s = tl_clock_process_cpu_s() - cpu;
  TL_TRY(tl_groups_make(b, s->found.pair, s->found.pairs, s->found.contact, s->sync, &s->arena,
                        &groups));
  Stage stage = {.solver = s, .groups = &groups};
  TL_TRY(stage_counts(&stage));
  TL_TRY(solve(s, b, &motion, &stage, r));
  TL_TRY(tl_step_together(s->sync, tl_step_jammed(s, b, &groups, stage.counts, &r->jammed)));
  TL_TRY(tl_step_advance(s, b, &motion, r));
  TL_TRY(tl_step_remember(&s->found, b));
  TL_TRY(tl_step_report(s, b, &groups, stage.counts, r));
  r->other_s = tl_clock_s() - start - r->detect_s - r->etm_s - r->rest_s;
  return TL_OK;
}

TlStatus tl_solver_step(TlSolver *s, TlBodies *b, TlStepReport *out) {
  TlStepReport r = {0};
  s->sums = (TlStepSums){0};
  tl_arena_reset(&s->arena);
  TL_TRY(tl_method(s->config.method)->step(s, b, &r));
  tl_bodies_place_colliders(b);
  if (out) *out = r;
  return TL_OK;
}
