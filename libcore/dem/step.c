#include "dem/step.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/par.h"
#include "dem/detect.h"
#include "dem/etm.h"
#include "dem/groups.h"
#include "dem/motion.h"
#include "dem/rest.h"
#include "dem/shapes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct TlSolver {
  TlSolverConfig config;
  TlAvatarSource source;
  const TlBoundary *boundary;
  int boundary_count;
  const TlSync *sync;
  TlShapes shapes;
  TlArena arena; /* scratch of one step; the last step's contacts stay until the next */
  TlBodyPairs body_pairs;
  TlPoints *points;
  size_t point_lists;
  double speed_max;
  int64_t steps;
  TlFound found;
};

TlSolverConfig tl_solver_defaults(void) {
  return (TlSolverConfig){.step_s = 1e-3,
                          .gravity_m_s2 = {0, 0, -9.81},
                          .density_kg_m3 = 2650,
                          .friction = 0.5,
                          .restitution = 0.5,
                          .boundary_friction = 0.5,
                          .boundary_restitution = 0.5,
                          .impact_threshold_m_s = -1,
                          .increments = 20,
                          .max_rounds = 40,
                          .similar = 0.01,
                          .tolerance = 5e-2,
                          .rest_tolerance = 1e-3,
                          .rest_sweeps = 50,
                          .position_sweeps = 10,
                          .position_rate = 0.2,
                          .slop = 1e-3};
}

static TlStatus check_value(const char *name, double value, double low, double high) {
  if (value >= low && value <= high) return TL_OK; /* NaN is in no range */
  return tl_fail(TL_EUSAGE, "%s = %g: must lie in [%g, %g]", name, value, low, high);
}

static TlStatus check_config(const TlSolverConfig *c) {
  TL_TRY(check_value("time step", c->step_s, 1e-9, 1));
  TL_TRY(check_value("gravity", tl_norm(c->gravity_m_s2), 0, 1e4));
  TL_TRY(check_value("density", c->density_kg_m3, 1e-3, 1e6));
  TL_TRY(check_value("friction", c->friction, 0, 100));
  TL_TRY(check_value("restitution", c->restitution, 0, 1));
  TL_TRY(check_value("boundary friction", c->boundary_friction, 0, 100));
  TL_TRY(check_value("boundary restitution", c->boundary_restitution, 0, 1));
  TL_TRY(check_value("damping times the step", c->damping_per_s * c->step_s, 0, 1));
  TL_TRY(check_value("increments", c->increments, 1, 10000));
  TL_TRY(check_value("rounds", c->max_rounds, 1, 100000));
  TL_TRY(check_value("similar", c->similar, 0, 0.5));
  TL_TRY(check_value("tolerance", c->tolerance, 1e-9, 1));
  TL_TRY(check_value("resting tolerance", c->rest_tolerance, 1e-12, 1));
  TL_TRY(check_value("resting sweeps", c->rest_sweeps, 1, 100000));
  TL_TRY(check_value("position sweeps", c->position_sweeps, 0, 100000));
  TL_TRY(check_value("position rate", c->position_rate, 0, 1));
  return check_value("slop", c->slop, 0, 0.1);
}

TlStatus tl_solver_new(TlSolver **solver, const TlSolverConfig *config, TlAvatarSource source,
                       const TlBoundary *boundaries, int boundary_count, const TlSync *sync) {
  TL_TRY(check_config(config));
  TlSolver *s;
  TL_TRY(TL_NEW(s, 1));
  s->config = *config;
  if (config->impact_threshold_m_s < 0)
    s->config.impact_threshold_m_s = 4 * tl_norm(config->gravity_m_s2) * config->step_s;
  s->source = source;
  s->boundary = boundaries;
  s->boundary_count = boundary_count;
  s->sync = sync;
  *solver = s;
  return TL_OK;
}

void tl_solver_free(TlSolver *s) {
  if (!s) return;
  tl_shapes_free(&s->shapes);
  tl_arena_free(&s->arena);
  tl_free(s->body_pairs.pair);
  for (size_t i = 0; i < s->point_lists; i++) tl_free(s->points[i].point);
  tl_free(s->points);
  tl_free(s);
}

TlStatus tl_solver_add_sphere(TlSolver *solver, int64_t avatar_id, double radius_m) {
  return tl_shapes_add_sphere(&solver->shapes, avatar_id, radius_m);
}

int64_t tl_solver_steps(const TlSolver *solver) {
  return solver->steps;
}
void tl_solver_set_steps(TlSolver *solver, int64_t steps) {
  solver->steps = steps;
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

static void derive(const TlSolver *s, TlBodies *b, int64_t i) {
  double scale = b->scale[i], scale3 = scale * scale * scale, density = s->config.density_kg_m3;
  const TlShape *shape = b->shape[i];
  b->mass[i] = density * shape->volume_m3 * scale3;
  b->inertia[i] = tl_scale(density * scale3 * scale * scale, shape->inertia_m5);
  b->radius[i] = scale * shape->radius_m;
  bool fixed = b->flags[i] & TL_BODY_FROZEN;
  TlVec3 m = b->inertia[i];
  b->inverse_mass[i] = fixed ? 0 : 1 / b->mass[i];
  b->inverse_inertia[i] = fixed ? (TlVec3){0, 0, 0} : tl_vec3(1 / m.x, 1 / m.y, 1 / m.z);
}

static double speed_of(const TlBodies *b, int64_t i) {
  if (b->flags[i] & TL_BODY_FROZEN) return 0;
  return tl_norm(b->velocity[i]) + tl_norm(tl_bodies_spin(b, i)) * b->radius[i];
}

TlStatus tl_solver_refresh(TlSolver *s, TlBodies *b) {
  double least = 0; /* minus the largest speed, so that one hook serves */
  TlStatus status = TL_OK;
  for (int64_t i = 0; i < b->total && status == TL_OK; i++) {
    status = shape_for(s, b->avatar_id[i], &b->shape[i]);
    if (status != TL_OK) break;
    derive(s, b, i);
    least = fmin(least, -speed_of(b, i));
  }
  int failed = status != TL_OK;
  TL_TRY(tl_sync_any(s->sync, &failed)); /* ranks leave together */
  if (status != TL_OK) return status;
  if (failed) return tl_fail(TL_EINPUT, "another rank could not load its shapes");
  TL_TRY(tl_sync_least(s->sync, &least, 1));
  s->speed_max = -least;
  for (int64_t i = 0; i < b->total; i++)
    b->reach[i] = tl_detect_reach(&s->config, s->speed_max, b->radius[i], speed_of(b, i));
  return TL_OK;
}

/* ---- the solve ---- */

static TlEtmLaw etm_law(const TlSolver *s) {
  const TlSolverConfig *c = &s->config;
  double kick = tl_norm(c->gravity_m_s2) * c->step_s;
  TlEtmLaw law = {.increments = c->increments,
                  .max_rounds = c->max_rounds,
                  .final_sweeps = 2 * c->increments,
                  .tolerance_m_s = c->tolerance * kick + 1e-6 * s->speed_max,
                  .entry_m_s = 2 * kick, /* c = 2: measured */
                  .threshold_m_s = c->impact_threshold_m_s,
                  .similar = c->similar};
  if (c->rest == TL_REST_ETM) law.entry_m_s = law.tolerance_m_s;
  return law;
}

static void add_etm(TlEtmCount *sum, const TlEtmCount *one) {
  sum->impulses += one->impulses;
  if (one->rounds > sum->rounds) sum->rounds = one->rounds;
  sum->zero_finishes += one->zero_finishes;
  sum->unfinished += one->unfinished;
  sum->stored_J += one->stored_J;
  sum->released_J += one->released_J;
}

static void add_rest(TlRestCount *sum, const TlRestCount *one) {
  if (one->sweeps > sum->sweeps) sum->sweeps = one->sweeps;
  sum->unfinished += one->unfinished;
  sum->residual_m_s = fmax(sum->residual_m_s, one->residual_m_s);
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
  TlPositionLaw position;
  TlEtmCount *etm_count; /* one a group */
  TlRestCount *rest_count;
} Stage;

enum { LARGE_GROUP = 1000 }; /* pairs */

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

static TlStatus run_stage(Stage *stage) {
  for (int32_t i = 0; i < stage->groups->count; i++)
    if (runs_alone(&stage->groups->group[i])) TL_TRY(stage->run(stage, i));
  return tl_par_blocks(stage->groups->count, 4, run_small, stage);
}

static TlStatus run_etm(Stage *stage, int32_t i) {
  const TlGroup *g = &stage->groups->group[i];
  bool level = stage->solver->config.etm == TL_ETM_LEVEL;
  return (level ? tl_etm_level : tl_etm_priority)(&stage->etm, g, stage->dynamics,
                                                  &stage->etm_count[i]);
}

static TlStatus run_rest(Stage *stage, int32_t i) {
  return tl_rest_solve(&stage->rest, &stage->groups->group[i], stage->dynamics,
                       &stage->rest_count[i]);
}

static TlStatus run_position(Stage *stage, int32_t i) {
  return tl_position_solve(&stage->position, &stage->groups->group[i], stage->dynamics);
}

static TlStatus stage_counts(Stage *stage) {
  size_t n = (size_t)stage->groups->count + 1;
  stage->etm_count = tl_arena_push(&stage->solver->arena, n, sizeof *stage->etm_count);
  stage->rest_count = tl_arena_push(&stage->solver->arena, n, sizeof *stage->rest_count);
  if (!stage->etm_count || !stage->rest_count) return TL_ENOMEM;
  memset(stage->etm_count, 0, n * sizeof *stage->etm_count);
  memset(stage->rest_count, 0, n * sizeof *stage->rest_count);
  return TL_OK;
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

static TlStatus solve(TlSolver *s, const TlBodies *b, const TlMotion *m, Stage *stage,
                      TlStepReport *r) {
  const TlSolverConfig *c = &s->config;
  stage->dynamics = &m->real;
  stage->etm = etm_law(s);
  double kick_m_s = tl_norm(c->gravity_m_s2) * c->step_s;
  stage->rest = (TlRestLaw){c->rest_tolerance * kick_m_s + 1e-9 * s->speed_max, c->rest_sweeps};
  stage->position = (TlPositionLaw){c->position_rate, c->slop, c->step_s, c->position_sweeps};
  double start = tl_clock_s();
  bool etm_only = c->rest == TL_REST_ETM;
  if (etm_only) kick(s, b, &m->real);
  stage->run = run_etm;
  TL_TRY(run_stage(stage));
  double middle = tl_clock_s();
  r->etm_s = middle - start;
  if (!etm_only) {
    kick(s, b, &m->real);
    stage->run = run_rest;
    TL_TRY(run_stage(stage));
  }
  tl_walls_correct(b, s->boundary, s->boundary_count, c->step_s, c->slop, &m->real);
  TL_TRY(tl_sync_forward(s->sync, m->real.twist, sizeof *m->real.twist));
  stage->dynamics = &m->pseudo;
  stage->run = run_position;
  TL_TRY(run_stage(stage));
  r->rest_s = tl_clock_s() - middle;
  return TL_OK;
}

/* ---- memory of contacts ---- */

static TlVec3 rest_impulse(const TlContact *c) {
  return tl_axpy(tl_axpy(tl_scale(c->rest.x, c->n), c->rest.y, c->t1), c->rest.z, c->t2);
}

static TlStatus remember(const TlFound *found, TlBodies *b) {
  TlHistory *h = &b->history;
  TL_TRY(TL_RESERVE(h->touch, h->capacity, (size_t)found->contacts));
  h->count = 0;
  for (int64_t i = 0; i < b->total; i++) b->contacts[i] = 0;
  for (int32_t i = 0; i < found->contacts; i++) {
    const TlContact *c = &found->contact[i];
    if (c->rest.x > 0 || c->touched) {
      b->contacts[c->a]++;
      if (c->b >= 0) b->contacts[c->b]++;
    }
    if (!(c->rest.x > 0)) continue;
    int64_t high = c->b >= 0 ? b->id[c->b] : -1 - c->boundary;
    h->touch[h->count++] = (TlTouch){b->id[c->a], high, c->key, rest_impulse(c)};
  }
  tl_history_sort(h);
  return TL_OK;
}

/* ---- report ---- */

static void report_contacts(const TlFound *found, const TlBodies *b, TlStepReport *r) {
  for (int32_t i = 0; i < found->pairs; i++) {
    const TlPair *p = &found->pair[i];
    if (p->a >= b->owned) continue; /* the owner of the lower id counts it */
    for (int32_t k = 0; k < p->count; k++) {
      const TlContact *c = &found->contact[p->first + k];
      double *depth = p->b < 0 ? &r->boundary_overlap_m : &r->overlap_m,
             *share = p->b < 0 ? &r->boundary_overlap_share : &r->overlap_share;
      *depth = fmax(*depth, -c->gap);
      *share = fmax(*share, -c->gap / c->size);
    }
    r->contacts += p->count;
  }
}

static void report_motion(const TlBodies *b, TlStepReport *r) {
  for (int64_t i = 0; i < b->owned; i++) {
    r->outside += b->flags[i] & TL_BODY_OUTSIDE ? 1 : 0;
    if (b->flags[i] & TL_BODY_FROZEN) continue;
    TlVec3 w = tl_bodies_spin(b, i);
    r->kinetic_J += 0.5 * b->mass[i] * tl_norm2(b->velocity[i]) + 0.5 * tl_dot(w, b->momentum[i]);
    r->speed_max_m_s = fmax(r->speed_max_m_s, speed_of(b, i));
  }
}

static TlStatus over_ranks(const TlSync *sync, TlStepReport *r) {
  int64_t *counts[] = {&r->pairs,         &r->contacts,   &r->islands,         &r->impulses,
                       &r->zero_finishes, &r->unfinished, &r->rest_unfinished, &r->outside,
                       &r->node_tests,    &r->lookups};
  enum { COUNTS = sizeof counts / sizeof *counts };
  double sums[COUNTS + 3] = {r->kinetic_J, r->work_stored_J, r->work_released_J};
  for (int i = 0; i < COUNTS; i++) sums[3 + i] = (double)*counts[i];
  TL_TRY(tl_sync_sum(sync, sums, COUNTS + 3));
  for (int i = 0; i < COUNTS; i++) *counts[i] = (int64_t)sums[3 + i];
  r->kinetic_J = sums[0];
  r->work_stored_J = sums[1];
  r->work_released_J = sums[2];
  double most[] = {-r->overlap_m,
                   -r->overlap_share,
                   -r->boundary_overlap_m,
                   -r->boundary_overlap_share,
                   -r->speed_max_m_s,
                   -r->rest_residual_m_s,
                   -(double)r->rounds,
                   -(double)r->rest_sweeps,
                   -(double)r->largest_island};
  TL_TRY(tl_sync_least(sync, most, sizeof most / sizeof *most));
  r->overlap_m = -most[0];
  r->overlap_share = -most[1];
  r->boundary_overlap_m = -most[2];
  r->boundary_overlap_share = -most[3];
  r->speed_max_m_s = -most[4];
  r->rest_residual_m_s = -most[5];
  r->rounds = (int64_t)-most[6];
  r->rest_sweeps = (int64_t)-most[7];
  r->largest_island = (int64_t)-most[8];
  return TL_OK;
}

static TlStatus report(const TlSolver *s, const TlBodies *b, const Stage *stage, TlStepReport *r) {
  TlEtmCount etm = {0};
  TlRestCount rest = {0};
  for (int32_t i = 0; i < stage->groups->count; i++) {
    add_etm(&etm, &stage->etm_count[i]);
    add_rest(&rest, &stage->rest_count[i]);
  }
  r->step = s->steps;
  r->pairs = s->found.tested;
  r->lookups = s->found.lookups;
  r->node_tests = s->found.node_tests;
  r->islands = stage->groups->islands;
  r->largest_island = stage->groups->largest;
  r->impulses = etm.impulses;
  r->rounds = etm.rounds;
  r->zero_finishes = etm.zero_finishes;
  r->unfinished = etm.unfinished;
  r->work_stored_J = etm.stored_J;
  r->work_released_J = etm.released_J;
  r->rest_sweeps = rest.sweeps;
  r->rest_unfinished = rest.unfinished;
  r->rest_residual_m_s = rest.residual_m_s;
  report_contacts(&s->found, b, r);
  report_motion(b, r);
  return over_ranks(s->sync, r);
}

/* ---- the step ---- */

static TlStatus reserve_points(TlSolver *s) {
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
  TL_TRY(reserve_points(s));
  TlDetect d = {.config = &s->config,
                .boundary = s->boundary,
                .boundary_count = s->boundary_count,
                .speed_max = s->speed_max,
                .arena = &s->arena,
                .body_pairs = &s->body_pairs,
                .points = s->points};
  return tl_detect(&d, b, &m->real, &s->found);
}

/* A failure on one rank makes all leave. */
static TlStatus together(const TlSync *sync, TlStatus status) {
  int failed = status != TL_OK;
  TL_TRY(tl_sync_any(sync, &failed));
  if (status != TL_OK || !failed) return status;
  return tl_fail(TL_ELIMIT, "another rank failed in this step");
}

TlStatus tl_solver_step(TlSolver *s, TlBodies *b, TlStepReport *out) {
  TlStepReport r = {0};
  TlGroups groups;
  TlMotion motion;
  double start = tl_clock_s();
  tl_arena_reset(&s->arena);
  TL_TRY(tl_solver_refresh(s, b));
  TlStatus status = tl_motion_start(b, &s->arena, &motion);
  if (status == TL_OK) status = detect(s, b, &motion);
  TL_TRY(together(s->sync, status));
  r.detect_s = tl_clock_s() - start;
  TL_TRY(tl_groups_make(b, s->found.pair, s->found.pairs, s->found.contact, s->sync, &s->arena,
                        &groups));
  Stage stage = {.solver = s, .groups = &groups};
  TL_TRY(stage_counts(&stage));
  TL_TRY(solve(s, b, &motion, &stage, &r));
  s->steps++;
  status = tl_motion_finish(b, &motion, s->boundary, s->boundary_count, s->config.step_s, s->steps);
  TL_TRY(together(s->sync, status));
  TL_TRY(remember(&s->found, b));
  TL_TRY(report(s, b, &stage, &r));
  r.other_s = tl_clock_s() - start - r.detect_s - r.etm_s - r.rest_s;
  if (out) *out = r;
  return TL_OK;
}

TlStatus tl_solver_contacts(const TlSolver *s, const TlBodies *b, TlContactRow **rows,
                            int64_t *count) {
  TL_TRY(TL_NEW(*rows, (size_t)s->found.contacts));
  *count = 0;
  for (int32_t i = 0; i < s->found.contacts; i++) {
    const TlContact *c = &s->found.contact[i];
    if (c->a >= b->owned || !(c->rest.x > 0 || c->touched)) continue;
    (*rows)[(*count)++] = (TlContactRow){.low = b->id[c->a],
                                         .high = c->b >= 0 ? b->id[c->b] : -1 - c->boundary,
                                         .point = c->point,
                                         .normal = c->n,
                                         .gap_m = c->gap,
                                         .impulse_N_s = tl_add(c->impulse, rest_impulse(c))};
  }
  return TL_OK;
}
