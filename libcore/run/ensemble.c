#include "run/ensemble.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/par.h"
#include "run/bodies.h"
#include "run/history.h"
#include "run/materials.h"
#include "run/refusal.h"
#include "shape/moving.h"

#include <math.h>
#include <stdatomic.h>

double tl_block_runout(const TlBlockRecord *r) {
  return hypot(r->end.position.x - r->start.x, r->end.position.y - r->start.y);
}

int64_t tl_ensemble_cells(const TlEnsemble *e, int64_t release) {
  int64_t sum = 0;
  for (int64_t k = 0; k < e->together; k++) sum += e->record[release * e->together + k].cells;
  return sum;
}

/* ---- one release ---- */

/* A release on its way. */
typedef struct Release {
  TlEnsemble *e;
  TlRun *run;
  int64_t number, first; /* of the release, and of its first block */
  size_t *capacity;      /* of each block: poses that there is memory for */
  int64_t *since;        /* of each block: as TlStandstill.since */
  unsigned char *leaves; /* of each body: TlLeaving, in this step */
  int64_t net_bonds;     /* of its nets, at the start */
} Release;

static bool is_block(const TlBodies *b, int64_t i) {
  return !(b->flags[i] & TL_BODY_NET);
}

static TlBlockPose pose_of(const TlBodies *b, int64_t i) {
  return (TlBlockPose){b->position[i], b->rotation[i], b->velocity[i], b->momentum[i], b->flags[i]};
}

/* Which of the release's blocks is body i of its state, which is no net's? Ids rise with the blocks. */
static int64_t block_of(const Release *r, int64_t i) {
  const int64_t *id = r->e->start.id + r->first;
  int64_t wanted = r->run->state->dem.bodies.id[i] + id[0], low = 0, high = r->e->together - 1;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (id[middle] < wanted)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static TlBlockRecord *record_of(const Release *r, int64_t i) {
  return &r->e->record[r->first + block_of(r, i)];
}

static bool is_gone(const TlBlockRecord *record) {
  return record->leaving != TL_STAYS;
}

/* A block that is still under way, at rest, or frozen as unresolved.* says. */
static bool is_there(const Release *r, int64_t i) {
  return is_block(&r->run->state->dem.bodies, i) && !is_gone(record_of(r, i));
}

static void take_maxima(const Release *r, int64_t i) {
  TlBodyMotion m = tl_body_motion(r->run, i);
  TlBlockRecord *record = record_of(r, i);
  record->speed_m_s = fmax(record->speed_m_s, m.speed_m_s);
  record->energy_J = fmax(record->energy_J, m.translational_J + m.rotational_J);
  record->jump_m = fmax(record->jump_m, m.jump_m);
}

static TlStatus keep_poses(const Release *r) {
  const TlBodies *b = &r->run->state->dem.bodies;
  for (int64_t i = 0; i < b->owned; i++) {
    if (!is_there(r, i)) continue;
    int64_t k = block_of(r, i), number = r->first + k;
    TlBlockRecord *record = &r->e->record[number];
    TL_TRY(TL_RESERVE(r->e->pose[number], r->capacity[k], (size_t)record->moments + 1));
    r->e->pose[number][record->moments++] = pose_of(b, i);
  }
  return TL_OK;
}

/* Where the blocks are after the step, and what their nets bear. */
static void take_step(const Release *r, int64_t step) {
  const TlBodies *b = &r->run->state->dem.bodies;
  const TlStepReport *last = &r->run->state->totals.last;
  for (int64_t k = 0; k < r->e->together; k++) {
    TlBlockRecord *record = &r->e->record[r->first + k];
    record->net_broken = r->net_bonds - last->net_bonds;
    record->net_energy_J = fmax(record->net_energy_J, last->net_elastic_end_J);
  }
  for (int64_t i = 0; i < b->owned; i++) {
    if (!is_there(r, i)) continue;
    TlBlockRecord *record = record_of(r, i);
    take_maxima(r, i);
    record->steps = step;
    record->end = pose_of(b, i);
    tl_standstill_body(r->run, step, i, &r->since[block_of(r, i)]);
  }
}

/* Blocks that unresolved.* takes out are missing afterwards, those that it freezes are frozen. */
static TlStatus handle_problems(const Release *r, int64_t step) {
  const TlBodies *b = &r->run->state->dem.bodies;
  const TlStepReport *last = &r->run->state->totals.last;
  if (last->embedded + last->unresolved == 0) return TL_OK;
  for (int64_t i = 0; i < b->owned; i++) {
    if (!is_there(r, i) || b->flags[i] & TL_BODY_FROZEN) continue;
    TlBlockRecord *record = record_of(r, i);
    record->leaving = b->flags[i] & TL_BODY_EMBEDDED ? TL_EMBEDDED_OUT : TL_UNRESOLVED_OUT;
    record->fate = TL_FATE_UNRESOLVED;
  }
  TL_TRY(tl_run_handle_problems(r->run, step));
  for (int64_t i = 0; i < b->owned; i++) {
    TlBlockRecord *record = is_block(b, i) ? record_of(r, i) : NULL;
    if (!record || record->leaving == TL_LEFT_TERRAIN) continue;
    record->leaving = TL_STAYS;
    if (!(b->flags[i] & TL_BODY_FROZEN)) record->fate = TL_FATE_MOVING;
  }
  return TL_OK;
}

/* Blocks that left the terrain are taken out or stay frozen, as in a run. */
static TlStatus handle_outside(const Release *r, int64_t step) {
  const TlBodies *b = &r->run->state->dem.bodies;
  const TlSetup *setup = &r->run->model->setup;
  int64_t left = 0;
  for (int64_t i = 0; i < b->owned; i++) {
    TlBlockRecord *record = is_block(b, i) ? record_of(r, i) : NULL;
    bool leaves = b->flags[i] & TL_BODY_OUTSIDE && !(b->flags[i] & TL_BODY_FROZEN);
    TlVec3 x = b->position[i];
    r->leaves[i] = leaves ? TL_LEFT_TERRAIN : TL_STAYS;
    if (!leaves) continue;
    if (setup->outside == TL_OUTSIDE_ERROR)
      return tl_fail(TL_EINPUT,
                     "%s %lld left the terrain in step %lld (%.4g s) at x = %g, y = %g m; a "
                     "larger one, or outside: remove or stop",
                     record ? "block" : "sphere of a net",
                     (long long)(record ? record->id : b->id[i]), (long long)step,
                     (double)step * setup->time.dt_s, x.x, x.y);
    left++;
    if (!record) continue;
    record->fate = TL_FATE_LEFT;
    record->leaving = TL_LEFT_TERRAIN;
  }
  if (left == 0) return TL_OK;
  return tl_departures_take(r->run, r->leaves, setup->outside == TL_OUTSIDE_REMOVE, step);
}

static int64_t blocks_under_way(const Release *r) {
  int64_t sum = 0;
  for (int64_t k = 0; k < r->e->together; k++)
    sum += r->e->record[r->first + k].fate == TL_FATE_MOVING;
  return sum;
}

/* Those whose fate is open when their release has ended. */
static void judge(const Release *r) {
  const TlBodies *b = &r->run->state->dem.bodies;
  for (int64_t i = 0; i < b->owned; i++) {
    TlBlockRecord *record = is_block(b, i) ? record_of(r, i) : NULL;
    if (!record || record->fate != TL_FATE_MOVING) continue;
    int64_t since = r->since[block_of(r, i)];
    if (!r->run->state->still.reached && tl_standstill_pace(r->run, i) > tl_moving_pace) continue;
    record->fate = tl_never_started(record->start, record->end.position, record->volume_m3)
                       ? TL_FATE_NOT_STARTED
                       : TL_FATE_STOPPED;
    record->rests = since >= 0 ? since : record->steps;
    record->end.velocity = record->end.momentum = tl_vec3(0, 0, 0);
  }
}

/* Steps until the blocks rest or have left, or time is over. */
static TlStatus follow(const Release *r) {
  TlRun *run = r->run;
  TlRunState *s = run->state;
  TL_TRY(keep_poses(r));
  for (int64_t step = 1; step <= r->e->steps; step++) {
    TL_TRY(tl_run_advance(run));
    s->totals.travel_fraction = fmax(s->totals.travel_fraction, run->travel_fraction);
    TL_TRY(tl_standstill_after(run, step));
    take_step(r, step);
    TL_TRY(tl_cells_take(run, step));
    TL_TRY(handle_problems(r, step));
    TL_TRY(handle_outside(r, step));
    if (blocks_under_way(r) == 0 || s->still.reached) break;
    if (r->e->frame_steps > 0 && step % r->e->frame_steps == 0) TL_TRY(keep_poses(r));
  }
  judge(r);
  return TL_OK;
}

/* Copies of the blocks as they start, with the ids of the release's run alone, and its own nets. */
static TlStatus place_bodies(Release *r) {
  TlBodies *b = &r->run->state->dem.bodies;
  TlColliders *c = &b->colliders;
  for (int64_t k = 0; k < r->e->together; k++)
    TL_TRY(tl_bodies_add_copy(b, &r->e->start, r->first + k));
  r->run->first_id = b->id[0];
  for (int64_t i = 0; i < b->owned; i++) b->id[i] -= r->run->first_id;
  for (int64_t k = 0; c->posed && k < c->owned; k++) {
    c->id[k] -= r->run->first_id;
    c->body_id[k] -= r->run->first_id;
  }
  r->run->state->grains = c->owned;
  TL_TRY(tl_nets_make(&r->run->model->nets, r->run->comm, b));
  r->net_bonds = (int64_t)b->pairs.of[TL_BONDS].count;
  return TL_OK;
}

/* As tl_run_begin does it, without what belongs to all grains of a run. */
static TlStatus begin_release(Release *r) {
  TlRun *run = r->run;
  const TlBodies *b = &run->state->dem.bodies;
  tl_workspace_reset(run->work);
  TL_TRY(place_bodies(r));
  TL_TRY(tl_avatars_load(&run->model->avatars, run->model->dem, b, 0));
  TL_TRY(tl_run_refresh(run));
  TL_TRY(tl_run_refuse(run, tl_step_check(run->model->dem, &run->state->dem, run->work, 1), NULL));
  TL_TRY(tl_standstill_start(run));
  for (int64_t i = 0; i < b->owned; i++) {
    if (!is_block(b, i)) continue;
    TlBlockRecord *record = record_of(r, i);
    *record = (TlBlockRecord){.id = r->first + block_of(r, i),
                              .fate = TL_FATE_MOVING,
                              .rests = -1,
                              .volume_m3 = tl_run_volume(run, i),
                              .mass_kg = b->mass[i],
                              .start = b->position[i],
                              .end = pose_of(b, i)};
    take_maxima(r, i);
    r->since[block_of(r, i)] = -1;
  }
  tl_cells_clear(&run->cells);
  return tl_cells_take(run, 0);
}

static TlStatus judge_trust(const Release *r, TlReleaseTrust *trust) {
  TlRun *run = r->run;
  const TlRunTotals *t = &run->state->totals;
  const TlTurnover turnover = tl_energy_turnover(&t->balance);
  bool solves = tl_method(run->model->dem->method)->converges, balances = t->balance.moving != 0;
  TlRunDepth depth;
  TL_TRY(tl_run_refresh(run)); /* bodies may have been taken out */
  TL_TRY(tl_run_depth(run, &depth));
  *trust = (TlReleaseTrust){
      .travel = t->travel_fraction,
      .overlap_share = t->overlap_share,
      .depth_share = depth.fraction,
      .deep = depth.deep,
      .inaccurate_share = solves ? (double)t->inaccurate_steps / fmax(1, (double)t->steps) : NAN,
      .made_up_share = balances ? tl_made_up_share(&turnover) : NAN,
      .missing_share = balances ? tl_missing_share(&turnover) : NAN};
  return TL_OK;
}

/* What the release's state has in memory when it has ended: cells, sorted by block, and whether it is to
 * be trusted, which its blocks have in common. */
static TlStatus end_release(const Release *r) {
  TlEnsemble *e = r->e;
  TlCellRow **cell = &e->cell[r->number];
  TlReleaseTrust trust;
  TL_TRY(judge_trust(r, &trust));
  TL_TRY(tl_cells_sorted(&r->run->cells, cell));
  for (int64_t k = 0, at = 0; k < e->together; k++) {
    TlBlockRecord *record = &e->record[r->first + k];
    int64_t from = at;
    while (at < r->run->cells.count && (*cell)[at].id == e->start.id[r->first + k]) at++;
    record->cells = at - from;
    record->trust = trust;
  }
  return TL_OK;
}

static bool varies(const TlEnsemble *e) {
  const TlEnsembleSetup *s = &e->run.model->setup.ensemble;
  return s->ranges.count > 0 || s->grounds > 1;
}

/* The worker's setup, ground and pair laws as this release has them: those of its run alone. */
static TlStatus vary(const TlEnsemble *e, TlRun *worker, int64_t release) {
  TlRunModel *m = worker->model;
  if (!varies(e)) return TL_OK;
  tl_materials_free(&m->materials);
  tl_setup_free(&m->setup);
  m->terrain = *tl_run_ground(&e->run, tl_ensemble_ground(&e->run.model->setup, release));
  TL_TRY(tl_ensemble_setup_of(&e->run.model->setup, release, &m->setup));
  TL_TRY(tl_setup_materials(&m->setup, &m->materials));
  TlSolverConfig config = tl_setup_solver(&m->setup);
  config.materials = &m->materials;
  return tl_model_variant_materials(m->dem, &config);
}

typedef enum ReleaseGoal { TO_ITS_END, TO_ITS_START } ReleaseGoal;

static TlStatus run_release(TlEnsemble *e, TlRun *run, int64_t number, ReleaseGoal goal) {
  const char *what = e->together > 1 ? "release" : "block";
  size_t n = (size_t)e->together, bodies = n + (size_t)tl_nets_spheres(&e->run.model->nets);
  Release r = {.e = e, .run = run, .number = number, .first = number * e->together};
  TL_TRY(tl_context(vary(e, run, number), "%s %lld", what, (long long)number));
  TL_TRY(TL_NEW(run->state, 1));
  TlStatus status = TL_NEW(r.capacity, n);
  if (status == TL_OK) status = TL_NEW(r.since, n);
  if (status == TL_OK) status = TL_NEW(r.leaves, bodies);
  if (status == TL_OK) status = begin_release(&r);
  if (status == TL_OK && goal == TO_ITS_END) status = follow(&r);
  if (status == TL_OK && goal == TO_ITS_END) status = end_release(&r);
  tl_free(r.capacity);
  tl_free(r.since);
  tl_free(r.leaves);
  tl_run_state_free(run->state);
  run->state = NULL;
  return tl_context(status, "%s %lld", what, (long long)number);
}

/* ---- all of them ---- */

typedef struct Work {
  TlEnsemble *e;
  TlProgress bar;
  const unsigned char *mine;  /* parts that this rank runs */
  atomic_int_least64_t *left; /* releases of each part that are still to come */
  atomic_int_least64_t finished;
  atomic_bool failed;
} Work;

static TlStatus do_release(void *context, int64_t begin, int64_t end, int64_t block, int thread) {
  Work *w = context;
  int64_t part = begin / tl_ensemble_part_releases(w->e);
  (void)end;
  (void)block;
  if (!w->mine[part] || atomic_load(&w->failed)) return TL_OK;
  tl_par_stay();
  TlStatus status = run_release(w->e, &w->e->worker[thread], begin, TO_ITS_END);
  if (status == TL_OK && atomic_fetch_sub(&w->left[part], 1) == 1) {
    status = tl_ensemble_save_part(w->e, part);
    if (status == TL_OK) tl_ensemble_free_cells(w->e, part);
  }
  if (status != TL_OK) atomic_store(&w->failed, true);
  int64_t finished = atomic_fetch_add(&w->finished, 1) + 1;
  if (thread == 0) tl_progress(&w->bar, finished * w->e->together);
  return status;
}

static int64_t releases_of(const TlEnsemble *e, int64_t part) {
  return tl_ensemble_part_end(e, part) - tl_ensemble_part_first(e, part);
}

static TlStatus do_blocks(TlEnsemble *e, const unsigned char *mine) {
  int64_t parts = tl_ensemble_parts(e), releases = 0;
  Work w = {.e = e, .mine = mine};
  TL_TRY(TL_NEW(w.left, (size_t)parts));
  for (int64_t p = 0; p < parts; p++) {
    atomic_init(&w.left[p], releases_of(e, p));
    if (mine[p]) releases += releases_of(e, p);
  }
  atomic_init(&w.finished, 0);
  atomic_init(&w.failed, false);
  w.bar = tl_progress_start(tl_comm_size(e->comm) > 1 ? "blocks of rank 0" : "blocks",
                            releases * e->together);
  TlStatus status = tl_par_blocks(e->releases, 1, do_release, &w);
  tl_progress_end(&w.bar);
  tl_free(w.left);
  return status;
}

/* Those that are not done, to the ranks in turn. */
static void deal(TlEnsemble *e, const unsigned char *done, unsigned char *mine) {
  int64_t next = 0;
  for (int64_t p = 0; p < tl_ensemble_parts(e); p++) {
    if (done[p])
      e->resumed += releases_of(e, p) * e->together;
    else
      mine[p] = next++ % tl_comm_size(e->comm) == tl_comm_rank(e->comm);
  }
  if (e->resumed > 0)
    tl_log_info("%lld of %lld blocks are there already", (long long)e->resumed,
                (long long)e->count);
}

/* Rank 0 takes the parts that others ran. */
static TlStatus collect(TlEnsemble *e, unsigned char *done, const unsigned char *mine) {
  int64_t parts = tl_ensemble_parts(e);
  for (int64_t p = 0; p < parts; p++) done[p] = done[p] || mine[p];
  TL_TRY(tl_ensemble_load_parts(e, done));
  for (int64_t p = 0; p < parts; p++)
    if (!done[p])
      return tl_fail(TL_EIO,
                     "%s/blocks: part %lld, which another rank ran, is not there: the results "
                     "folder must lie on a disk that all ranks see",
                     e->run.folder, (long long)p);
  return TL_OK;
}

/* ---- workers ---- */

/* Where something varies: a model whose setup and materials are the worker's, whose terrain is one of
 * the run's, release by release, and all else the run's. */
static TlStatus vary_model(const TlEnsemble *e, TlRun *worker) {
  TlRunModel *m;
  if (!varies(e)) return TL_OK;
  TL_TRY(TL_NEW(m, 1));
  *m = *e->run.model;
  m->setup = (TlSetup){0};
  m->materials = (TlMaterials){0};
  TlStatus status = tl_model_variant(&m->dem, e->run.model->dem);
  if (status != TL_OK) {
    tl_free(m);
    return status;
  }
  worker->model = m;
  tl_model_variant_boundary(m->dem, 0, &m->terrain); /* terrain comes first (run_open.c) */
  return tl_ensemble_setup_of(&e->run.model->setup, 0, &m->setup);
}

static void close_worker(const TlEnsemble *e, TlRun *worker) {
  TlRunModel *own = worker->model != e->run.model ? worker->model : NULL;
  worker->model = NULL;
  tl_run_close(worker);
  if (!own) return;
  tl_model_variant_free(own->dem);
  tl_materials_free(&own->materials);
  tl_setup_free(&own->setup);
  tl_free(own);
}

static TlStatus open_worker(const TlEnsemble *e, TlRun *worker) {
  const TlRun *from = &e->run;
  *worker = (TlRun){.options = {.no_output = true, .study = from->options.study},
                    .model = from->model,
                    .warned_unstable = true};
  TL_TRY(vary_model(e, worker));
  tl_cells_open(worker);
  TL_TRY(tl_dist_new(&worker->dist, NULL));
  TL_TRY(tl_controls_new(&worker->controls, worker->model->dem));
  return tl_workspace_new(&worker->work, worker->model->dem);
}

static TlStatus open_workers(TlEnsemble *e) {
  e->threads = tl_par_threads();
  TL_TRY(TL_NEW(e->worker, (size_t)e->threads));
  for (int t = 0; t < e->threads; t++) TL_TRY(open_worker(e, &e->worker[t]));
  return TL_OK;
}

/* Blocks of further draws of the ground stand on it, as they do when their release runs alone. */
static TlStatus stand_on_ground(TlEnsemble *e, int64_t release) {
  int64_t draw = tl_ensemble_ground(&e->run.model->setup, release);
  TlPlace place = tl_run_place(&e->run);
  TlBodies bodies = {0};
  TlSetup one = {0};
  if (draw == 0 || e->run.model->rough_count == 0) return TL_OK;
  TlStatus status = tl_ensemble_setup_of(&e->run.model->setup, release, &one);
  place.setup = &one;
  place.terrain = tl_run_ground(&e->run, draw);
  if (status == TL_OK) status = tl_placed_make(&place, 0, &bodies);
  for (int64_t k = 0; status == TL_OK && k < bodies.owned; k++)
    e->start.position[release * e->together + k] = bodies.position[k];
  tl_bodies_free(&bodies);
  tl_setup_free(&one);
  return status;
}

/* The run's bodies may lie in another order. Ids of nets come last. */
static TlStatus take_starts(TlEnsemble *e) {
  TlBodyOrder order;
  TL_TRY(tl_body_order(&e->run.state->dem.bodies, &order));
  TlStatus status = tl_bodies_reserve(&e->start, e->count);
  for (int64_t i = 0; status == TL_OK && i < e->count; i++)
    status = tl_bodies_add_copy(&e->start, order.bodies, order.body[i]);
  tl_body_order_free(&order);
  for (int64_t r = 0; status == TL_OK && r < e->releases; r++) status = stand_on_ground(e, r);
  return status;
}

static TlStatus open_run(TlEnsemble *e, const TlRunOptions *options) {
  TL_TRY(tl_run_open(&e->run, NULL, options));
  const TlSetup *setup = &e->run.model->setup;
  e->count = setup->bodies.count;
  e->together = setup->ensemble.blocks_together;
  e->releases = setup->ensemble.count;
  e->steps = tl_setup_steps(setup);
  if (setup->time.frame_every_s > 0)
    e->frame_steps = tl_setup_every(setup, setup->time.frame_every_s);
  TL_TRY(tl_ensemble_inputs(e));
  TL_TRY(take_starts(e));
  TL_TRY(TL_NEW(e->record, (size_t)e->count));
  TL_TRY(TL_NEW(e->cell, (size_t)e->releases));
  return TL_NEW(e->pose, (size_t)e->count);
}

TlStatus tl_ensemble_open(TlEnsemble *e, TlComm *comm, const TlRunOptions *options) {
  *e = (TlEnsemble){.comm = comm};
  return tl_comm_agree(comm, open_run(e, options));
}

/* done: zero, as mine. */
static TlStatus run_parts(TlEnsemble *e, unsigned char *done, unsigned char *mine) {
  bool first = tl_comm_rank(e->comm) == 0;
  TlStatus status = open_workers(e);
  /* What the solver refuses, it refuses of the first release as a rule: before there are results. */
  if (status == TL_OK) status = run_release(e, &e->worker[0], 0, TO_ITS_START);
  if (status == TL_OK && first && e->run.options.resume) status = tl_ensemble_load_parts(e, done);
  if (status == TL_OK && first) status = tl_ensemble_begin_results(e);
  TL_TRY(tl_comm_agree(e->comm, status));
  TL_TRY(tl_comm_broadcast(e->comm, done, (size_t)tl_ensemble_parts(e), 0));
  deal(e, done, mine);
  TL_TRY(tl_comm_agree(e->comm, do_blocks(e, mine)));
  return first ? collect(e, done, mine) : TL_OK;
}

TlStatus tl_ensemble_go(TlEnsemble *e) {
  unsigned char *parts = NULL; /* done, mine */
  double started = tl_clock_s();
  size_t count = (size_t)tl_ensemble_parts(e);
  TL_TRY(tl_comm_agree(e->comm, TL_NEW(parts, 2 * count)));
  TlStatus status = run_parts(e, parts, parts + count);
  tl_free(parts);
  e->wall_s = tl_clock_s() - started;
  if (status == TL_OK && tl_comm_rank(e->comm) == 0) {
    status = tl_ensemble_write(e);
    if (status == TL_OK) status = tl_ensemble_drop_parts(e);
  }
  return tl_comm_agree(e->comm, status);
}

TlStatus tl_ensemble_trial(TlEnsemble *e, double *block_s) {
  enum { MOST = 32 };
  static const double ENOUGH_S = 2;
  double started = tl_clock_s();
  int64_t n = 0;
  TL_TRY(open_workers(e));
  tl_par_set_threads(1); /* as many as a release of the ensemble has */
  TlStatus status;
  do status = run_release(e, &e->worker[0], n++, TO_ITS_END);
  while (status == TL_OK && n < e->releases && n < MOST && tl_clock_s() - started < ENOUGH_S);
  tl_par_set_threads(e->threads);
  *block_s = (tl_clock_s() - started) / (double)(n * e->together);
  return status;
}

void tl_ensemble_close(TlEnsemble *e) {
  for (int t = 0; e->worker && t < e->threads; t++) close_worker(e, &e->worker[t]);
  for (int64_t i = 0; e->pose && i < e->count; i++) tl_free(e->pose[i]);
  for (int64_t i = 0; e->cell && i < e->releases; i++) tl_free(e->cell[i]);
  tl_free((void *)e->cell);
  tl_free(e->worker);
  tl_free(e->pose);
  tl_free(e->record);
  tl_bodies_free(&e->start);
  tl_run_close(&e->run);
  *e = (TlEnsemble){0};
}
