/* One step of the methods that resolve collisions by impulses (step.h). */
#include "solve/step_impulses.h"

#include "base/log.h"
#include "solve/nearby.h"
#include "solve/sleep.h"
#include "solve/step_guides.h"
#include "solve/step_report.h"

#include <math.h>
#include <string.h>

/* Speed that a step gives to what nothing holds. */
static double gravity_kick_m_s(const TlStep *s) {
  return tl_norm(s->model->gravity_m_s2) * s->model->step_s;
}

/* And that which their pressure gives to the spheres of a net, the most of all nets: it pushes them against
 * grains in each step and is no collision. */
static double pressure_kick_m_s(const TlStep *s) {
  const TlModel *m = s->model;
  double most = 0;
  for (int k = 0; k < m->net_count; k++) {
    double area = tl_net_row_gap(m->nets[k].spacing_m) * m->nets[k].spacing_m;
    most = tl_max(most, fabs(s->controls->pressure_Pa[k]) * area / m->nets[k].mass_kg);
  }
  return most * m->step_s;
}

static TlEtmLaw etm_law(const TlStep *s) {
  const TlImpulseOptions *c = &s->model->impulses;
  double kick = gravity_kick_m_s(s), pressed_kick = pressure_kick_m_s(s);
  TlEtmLaw law = {.increments = c->increments,
                  .max_rounds = c->max_rounds,
                  .final_sweeps = 20000, /* 208 was the most seen: compress() in etm_level.c */
                  .tolerance_m_s = c->tolerance * kick + pressed_kick + 1e-6 * s->work->speed_max,
                  .entry_m_s = 2 * (kick + pressed_kick), /* c = 2: measured */
                  .threshold_m_s = c->impact_threshold_m_s,
                  .similar = c->similar,
                  .friction_along_trial = c->friction_direction == TL_FRICTION_TANG,
                  .single_sweeps = !c->deterministic,
                  .trace = s->work->trace};
  if (c->rest == TL_REST_ETM) law.entry_m_s = law.tolerance_m_s;
  return law;
}

static const double ETM_NS = 500, REST_NS = 3000;

static TlStatus run_etm(TlStage *stage, int32_t i) {
  const TlGroup *g = &stage->groups->group[i];
  tl_etm_trace(&stage->etm, TL_TRACE_START, g, stage->dynamics);
  TL_TRY(stage->collide(&stage->etm, g, stage->dynamics, &stage->counts[i].etm));
  tl_etm_trace(&stage->etm, TL_TRACE_END, g, stage->dynamics);
  return TL_OK;
}

static TlStatus run_rest(TlStage *stage, int32_t i) {
  return tl_rest_solve(&stage->rest, &stage->groups->group[i], stage->dynamics,
                       &stage->counts[i].rest);
}

static TlStatus stage_counts(TlStage *stage, TlArena *arena) {
  size_t n = (size_t)stage->groups->count + 1;
  stage->counts = tl_arena_push(arena, n, sizeof *stage->counts);
  if (!stage->counts) return TL_ENOMEM;
  memset(stage->counts, 0, n * sizeof *stage->counts);
  return TL_OK;
}

/* Global damping (Tan 2024 Eqs. 47-49) of both velocities; drag and scars of the ground of the
 * one. */
static void kick(const TlStep *s, const TlGuides *guides, const TlDynamics *d) {
  const TlModel *m = s->model;
  const TlBodies *b = &s->state->bodies;
  double keep = 1 - s->controls->damping_per_s * m->step_s;
  for (int64_t i = 0; i < b->total; i++) {
    if (b->flags[i] & TL_BODY_FROZEN || b->asleep[i]) continue;
    TlTwist *t = &d->twist[i];
    t->v = tl_scale(keep, tl_axpy(t->v, m->step_s, m->gravity_m_s2));
    if (keep != 1) t->w = tl_scale(keep, t->w);
    if (b->drag[i] > 0) t->v = tl_scale(exp(-b->drag[i] * m->step_s), t->v);
    if (b->scar_per_m[i] > 0)
      t->v = tl_scale(1 / (1 + b->scar_per_m[i] * m->step_s * tl_norm(t->v)), t->v);
  }
  tl_guides_kick(s, guides, d);
}

static TlStatus correct_walls(TlStep *s, const TlDynamics *d) {
  const TlModel *m = s->model;
  TlWorkspace *w = s->work;
  const TlBodies *b = &s->state->bodies;
  double *work = tl_arena_push(&w->arena, (size_t)b->owned, sizeof *work);
  if (!work) return TL_ENOMEM;
  TlWallsStep step = {w->boundary, w->ahead,         m->boundary_count,
                      m->step_s,   m->impulses.slop, s->materials};
  tl_walls_correct(b, m->search.how == TL_SEARCH_NEAR ? &w->near : NULL, &step, d, work);
  for (int64_t i = 0; i < b->owned; i++)
    if (work[i] != 0) tl_exact_add(&s->sums.wall_work_J, work[i]);
  return TL_OK;
}

static TlStatus solve(TlStep *s, const TlMotion *m, const TlGuides *guides, TlStage *stage,
                      TlStepReport *r) {
  const TlModel *model = s->model;
  const TlImpulseOptions *c = &model->impulses;
  stage->dynamics = &m->real;
  stage->collide = tl_method(model->method)->collide;
  stage->etm = etm_law(s);
  stage->rest = (TlRestLaw){c->rest_tolerance * (gravity_kick_m_s(s) + pressure_kick_m_s(s)) +
                                1e-9 * s->work->speed_max,
                            c->rest_sweeps, c->rest == TL_REST_EXTRAPOLATED};
  double start = tl_clock_s();
  bool etm_only = c->rest == TL_REST_ETM;
  tl_audit_enter(s->work->audit, TL_AUDIT_COLLISIONS);
  if (etm_only) kick(s, guides, &m->real);
  stage->run = run_etm;
  stage->pair_ns = ETM_NS;
  TL_TRY(tl_stage_run(stage));
  double middle = tl_clock_s();
  r->etm_s = middle - start;
  tl_audit_enter(s->work->audit, TL_AUDIT_RESTING);
  if (!etm_only) {
    kick(s, guides, &m->real);
    stage->run = run_rest;
    stage->pair_ns = REST_NS;
    TL_TRY(tl_stage_run(stage));
  }
  tl_guides_hold(guides, &m->real);
  TL_TRY(correct_walls(s, &m->real));
  TL_TRY(tl_sync_forward(s->sync, m->real.twist, sizeof *m->real.twist));
  TlPositionLaw position = {.rate = c->position_rate,
                            .slop = c->slop,
                            .step_s = model->step_s,
                            .sweeps = c->position_sweeps,
                            .extrapolates = c->rest == TL_REST_EXTRAPOLATED,
                            .real = &m->real};
  TL_TRY(tl_stage_positions(stage->groups, &position, &m->pseudo));
  tl_guides_hold_push(guides, &m->pseudo);
  r->rest_s = tl_clock_s() - middle;
  return TL_OK;
}

/* ---- the step ---- */

double tl_step_impulse_reach(const TlModel *m, double speed_max, double radius, double speed) {
  return tl_detect_reach(m->step_s, tl_norm(m->gravity_m_s2), speed_max, radius, speed);
}

static TlStatus detect(const TlStep *s, const TlMotion *motion, const double *nearby) {
  TlWorkspace *w = s->work;
  TlBodies *b = &s->state->bodies;
  int64_t step = s->state->steps + 1;
  const unsigned char *still;
  TL_TRY(tl_step_reserve_points(w));
  TL_TRY(tl_sleep_mark(s, &still));
  TlDetect d = tl_step_detect(s);
  d.weighted = s->model->impulses.order == TL_ORDER_WEIGHTED;
  d.nearby = nearby;
  d.still = still;
  TL_TRY(tl_motion_check_poses(b, step));
  return tl_context(tl_detect(&d, b, &motion->real, &w->found), "step %lld", (long long)step);
}

/* Contacts of all that is awake; what they reach wakes, and the search is made again with it. */
static TlStatus find_contacts(const TlStep *s, TlMotion *motion, TlGuides *guides) {
  TlWorkspace *w = s->work;
  TlBodies *b = &s->state->bodies;
  for (bool woke = true; woke;) {
    const double *nearby;
    TL_TRY(tl_nearby_speeds(s, &nearby));
    TlStatus status = tl_motion_start(b, &w->arena, motion);
    if (status == TL_OK) status = tl_guides_start(s, motion, guides);
    if (status == TL_OK) status = detect(s, motion, nearby);
    woke = false;
    if (s->state->sleep_key == 0) {
      TL_TRY(status);
      continue;
    }
    TL_TRY(tl_step_together(s->sync, status));
    TL_TRY(tl_sleep_wake_touched(s, &woke));
  }
  return s->model->search.edges == TL_EDGES_PLACES ? tl_place_commit(&w->places, &b->pairs) : TL_OK;
}

/* What the solve of each pair takes, by counts; impulses that the method does not count by pairs are spread
 * evenly over those of the group. */
static void price_pairs(const TlGroups *groups, const TlStageCounts *counts, TlSolveCost *cost) {
  for (int32_t i = 0; i < groups->count; i++) {
    const TlGroup *g = &groups->group[i];
    int64_t even = counts[i].etm.impulses;
    int64_t rest_ns = counts[i].rest.sweeps * TL_WORK_NS_RESTING;
    int64_t other_ns = TL_WORK_NS_ISLANDS + rest_ns;
    cost->collisions_ns += counts[i].etm.impulses * TL_WORK_NS_COLLISIONS;
    cost->resting_ns += g->pairs * rest_ns;
    for (int32_t k = 0; k < g->pairs; k++) even -= g->impulses[k];
    for (int32_t k = 0; k < g->pairs; k++) {
      int64_t ns = (g->impulses[k] + even / g->pairs) * TL_WORK_NS_COLLISIONS + other_ns;
      g->impulses[k] = ns < INT32_MAX ? (int32_t)ns : INT32_MAX;
    }
  }
}

/* Move, then correct the nets' velocities: this order keeps grains from passing (Tan 2024 4.2). */
static TlStatus advance(TlStep *s, const TlMotion *motion, const TlIslands *islands,
                        TlStepReport *r) {
  TlWorkspace *w = s->work;
  TlBodies *b = &s->state->bodies;
  TlSleepPoses poses;
  TlVec3 *start = tl_arena_push(&w->arena, (size_t)b->total, sizeof *start);
  TlStatus status = start ? TL_OK : TL_ENOMEM;
  if (start && b->total) memcpy(start, b->position, (size_t)b->total * sizeof *start);
  if (status == TL_OK) status = tl_sleep_note(s, &poses);
  tl_step_count(s);
  if (status == TL_OK)
    status = tl_motion_finish(b, motion, w->boundary, s->model->boundary_count,
                              s->model->gravity_m_s2, s->model->step_s, s->state->steps);
  TL_TRY(tl_step_together(s->sync, status));
  TL_TRY(tl_step_recheck(s, motion, &r->rechecks));
  TL_TRY(tl_step_nets(s, start, tl_membrane_correct, r));
  s->sums.net_elastic_J = s->sums.net_elastic_end_J;
  return tl_sleep_fall(s, islands, &poses);
}

/* Everybody sleeps, and nothing reaches anybody: time goes by. */
static TlStatus sleep_on(TlStep *s, TlStepReport *r) {
  TlColliders *x = &s->state->bodies.colliders;
  s->work->found = (TlFound){0};
  s->work->problem_count = 0;
  for (int64_t k = 0; k < x->total; k++) x->contacts[k] = 0;
  TL_TRY(tl_step_together(s->sync, tl_sleep_contacts(s)));
  tl_step_count(s);
  return tl_step_report_found(s, true, r);
}

static TlStatus remember(const TlStep *s) {
  TlBodies *b = &s->state->bodies;
  TL_TRY(tl_step_remember(&s->work->found, b));
  TL_TRY(tl_sleep_contacts(s));
  return s->state->sleep_key ? tl_sleep_keep_places(&b->pairs) : TL_OK;
}

TlStatus tl_step_by_impulses(TlStep *s, TlStepReport *r) {
  TlWorkspace *w = s->work;
  TlBodies *b = &s->state->bodies;
  TlGroups groups;
  TlMotion motion;
  TlGuides guides;
  double start = tl_clock_s(), cpu = tl_clock_process_cpu_s();
  TlStatus status = tl_step_begin(s);
  if (status == TL_OK && tl_sleep_whole(s)) return sleep_on(s, r);
  if (status == TL_OK) status = find_contacts(s, &motion, &guides);
  if (status == TL_OK) status = tl_step_embedded(s);
  TL_TRY(tl_step_together(s->sync, status));
  r->detect_s = tl_clock_s() - start;
  r->detect_cpu_s = tl_clock_process_cpu_s() - cpu;
  tl_audit_enter(w->audit, TL_AUDIT_ISLANDS);
  const TlPairList found = {
      .pair = w->found.pair, .count = w->found.pairs, .contact = w->found.contact};
  TL_TRY(tl_groups_make(b, &motion.real, &found, &w->solve_mean, s->sync, &w->arena, &groups));
  TlStage stage = {.groups = &groups};
  TL_TRY(stage_counts(&stage, &w->arena));
  TL_TRY(solve(s, &motion, &guides, &stage, r));
  tl_audit_enter(w->audit, TL_AUDIT_MOVE);
  if (s->sync) price_pairs(&groups, stage.counts, &w->solve_cost);
  TL_TRY(tl_groups_home(&groups, &motion.real));
  if (s->sync) tl_step_charge(s, &groups);
  TL_TRY(tl_step_together(s->sync, tl_step_unresolved(s, &r->unresolved)));
  tl_guides_note(s, &guides, &motion, r);
  TL_TRY(advance(s, &motion, &groups.islands_found, r));
  TL_TRY(remember(s));
  if (s->materials->slips) TL_TRY(tl_step_together(s->sync, tl_step_slip(s)));
  TL_TRY(tl_step_report_impulses(s, &groups, stage.counts, r));
  r->other_s = tl_clock_s() - start - r->detect_s - r->etm_s - r->rest_s;
  return TL_OK;
}
