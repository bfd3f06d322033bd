#include "run/ensemble.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/par.h"
#include "run/history.h"
#include "run/materials.h"

#include <math.h>
#include <stdatomic.h>

const char *const tl_fate_names[TL_FATES] = {"stopped", "moving", "left", "not started"};

double tl_block_runout(const TlBlockRecord *r) {
  return hypot(r->end.position.x - r->start.x, r->end.position.y - r->start.y);
}

/* ---- one block ---- */

static TlBlockPose pose_of(const TlBodies *b) {
  return (TlBlockPose){b->position[0], b->rotation[0], b->velocity[0], b->momentum[0], b->flags[0]};
}

static void take_maxima(const TlRun *run, TlBlockRecord *r) {
  TlBodyMotion m = tl_body_motion(run, 0);
  r->speed_m_s = fmax(r->speed_m_s, m.speed_m_s);
  r->energy_J = fmax(r->energy_J, m.translational_J + m.rotational_J);
  r->jump_m = fmax(r->jump_m, m.jump_m);
}

static TlStatus keep_pose(TlEnsemble *e, TlBlockRecord *r, const TlBodies *b, size_t *room) {
  TL_TRY(TL_RESERVE(e->pose[r->id], *room, (size_t)r->moments + 1));
  e->pose[r->id][r->moments++] = pose_of(b);
  return TL_OK;
}

static void leave(TlBlockRecord *r, int64_t step, TlLeaving leaving) {
  r->fate = TL_FATE_LEFT;
  r->leaving = leaving;
  r->steps = step;
}

/* Steps until the block rests, leaves or time is over. r: its start. */
static TlStatus follow(TlEnsemble *e, TlRun *run, TlBlockRecord *r) {
  const TlSetup *setup = &run->model->setup;
  TlRunState *s = run->state;
  TlBodies *b = &s->dem.bodies;
  size_t room = 0;
  TL_TRY(keep_pose(e, r, b, &room));
  r->fate = TL_FATE_MOVING;
  for (int64_t step = 1; step <= e->steps; step++) {
    TL_TRY(tl_run_advance(run));
    s->totals.travel_share = fmax(s->totals.travel_share, run->travel_share);
    TL_TRY(tl_standstill_after(run, step));
    take_maxima(run, r);
    TL_TRY(tl_cells_take(run, step));
    r->steps = step;
    r->end = pose_of(b);
    TL_TRY(tl_run_handle_problems(run, step));
    if (b->owned == 0) { /* as unresolved.* says */
      leave(r, step, TL_UNRESOLVED_OUT);
      return TL_OK;
    }
    if (b->flags[0] & TL_BODY_OUTSIDE && !(b->flags[0] & TL_BODY_FROZEN)) {
      TlVec3 x = r->end.position;
      if (setup->outside == TL_OUTSIDE_ERROR)
        return tl_fail(TL_EINPUT,
                       "left the terrain in step %lld (%.4g s) at x = %g, y = %g m; a larger one, "
                       "or outside: remove or stop",
                       (long long)step, (double)step * setup->time.dt_s, x.x, x.y);
      leave(r, step, TL_LEFT_TERRAIN);
      return TL_OK;
    }
    if (s->still.reached) break;
    if (e->frame_steps > 0 && step % e->frame_steps == 0) TL_TRY(keep_pose(e, r, b, &room));
  }
  TlLook look;
  TL_TRY(tl_standstill_look(run, &look));
  if (!s->still.reached && look.moving_share > 0) return TL_OK;
  r->fate =
      tl_block_runout(r) < cbrt(6 * r->volume_m3 / M_PI) ? TL_FATE_NOT_STARTED : TL_FATE_STOPPED;
  r->rests = s->still.since >= 0 ? s->still.since : r->steps;
  r->end.velocity = r->end.momentum = tl_vec3(0, 0, 0);
  return TL_OK;
}

/* As tl_run_begin does it, without what belongs to all grains of a run. */
static TlStatus begin_block(TlEnsemble *e, TlRun *run, TlBlockRecord *r) {
  tl_workspace_reset(run->work);
  TL_TRY(tl_bodies_add_copy(&run->state->dem.bodies, &e->start, r->id));
  run->state->grains = 1;
  TL_TRY(tl_avatars_load(&run->model->avatars, &run->state->dem.bodies, 0));
  TL_TRY(tl_run_refresh(run));
  TL_TRY(tl_step_check(run->model->dem, &run->state->dem, run->work, 1));
  TL_TRY(tl_standstill_start(run));
  r->start = run->state->dem.bodies.position[0];
  r->volume_m3 = tl_run_volume(run, 0);
  r->mass_kg = run->state->dem.bodies.mass[0];
  r->end = pose_of(&run->state->dem.bodies);
  take_maxima(run, r);
  tl_cells_clear(&run->cells);
  return tl_cells_take(run, 0);
}

static bool varies(const TlEnsemble *e) {
  return e->run.model->setup.ensemble.ranges.count > 0;
}

/* The worker's setup and pair laws as this block has them: those of its run alone. */
static TlStatus vary(const TlEnsemble *e, TlRun *worker, int64_t id) {
  TlRunModel *m = worker->model;
  if (!varies(e)) return TL_OK;
  tl_materials_free(&m->materials);
  tl_setup_free(&m->setup);
  TL_TRY(tl_ensemble_setup_of(&e->run.model->setup, id, &m->setup));
  TL_TRY(tl_setup_materials(&m->setup, &m->materials));
  TlSolverConfig config = tl_setup_solver(&m->setup);
  config.materials = &m->materials;
  return tl_model_variant_materials(m->dem, &config);
}

static TlStatus run_block(TlEnsemble *e, TlRun *run, int64_t id) {
  TlBlockRecord *r = &e->record[id];
  *r = (TlBlockRecord){.id = id, .rests = -1};
  TL_TRY(tl_context(vary(e, run, id), "block %lld", (long long)id));
  TL_TRY(TL_NEW(run->state, 1));
  TlStatus status = begin_block(e, run, r);
  if (status == TL_OK) status = follow(e, run, r);
  if (status == TL_OK) status = tl_cells_sorted(&run->cells, &e->cell[id]);
  r->cells = run->cells.count;
  r->travel = run->state->totals.travel_share;
  tl_run_state_free(run->state);
  run->state = NULL;
  return tl_context(status, "block %lld", (long long)id);
}

/* ---- all of them ---- */

typedef struct Work {
  TlEnsemble *e;
  TlProgress bar;
  const unsigned char *mine;  /* parts that this rank runs */
  atomic_int_least64_t *left; /* blocks of each part that are still to come */
  atomic_int_least64_t finished;
  atomic_bool failed;
} Work;

static TlStatus do_block(void *context, int64_t begin, int64_t end, int64_t block, int thread) {
  Work *w = context;
  int64_t part = begin / tl_ensemble_part_blocks(w->e->count);
  (void)end;
  (void)block;
  if (!w->mine[part] || atomic_load(&w->failed)) return TL_OK;
  tl_par_stay();
  TlStatus status = run_block(w->e, &w->e->worker[thread], begin);
  if (status == TL_OK && atomic_fetch_sub(&w->left[part], 1) == 1) {
    status = tl_ensemble_save_part(w->e, part);
    if (status == TL_OK) tl_ensemble_free_cells(w->e, part);
  }
  if (status != TL_OK) atomic_store(&w->failed, true);
  int64_t finished = atomic_fetch_add(&w->finished, 1) + 1;
  if (thread == 0) tl_progress(&w->bar, finished);
  return status;
}

static int64_t blocks_of(const TlEnsemble *e, int64_t part) {
  int64_t blocks = tl_ensemble_part_blocks(e->count), left = e->count - part * blocks;
  return left < blocks ? left : blocks;
}

static TlStatus do_blocks(TlEnsemble *e, const unsigned char *mine) {
  int64_t parts = tl_ensemble_parts(e->count), blocks = 0;
  Work w = {.e = e, .mine = mine};
  TL_TRY(TL_NEW(w.left, (size_t)parts));
  for (int64_t p = 0; p < parts; p++) {
    atomic_init(&w.left[p], blocks_of(e, p));
    if (mine[p]) blocks += blocks_of(e, p);
  }
  atomic_init(&w.finished, 0);
  atomic_init(&w.failed, false);
  w.bar = tl_progress_start(tl_comm_size(e->comm) > 1 ? "blocks of rank 0" : "blocks", blocks);
  TlStatus status = tl_par_blocks(e->count, 1, do_block, &w);
  tl_progress_end(&w.bar);
  tl_free(w.left);
  return status;
}

/* Those that are not done, to the ranks in turn. */
static void deal(TlEnsemble *e, const unsigned char *done, unsigned char *mine) {
  int64_t next = 0;
  for (int64_t p = 0; p < tl_ensemble_parts(e->count); p++) {
    if (done[p])
      e->resumed += blocks_of(e, p);
    else
      mine[p] = next++ % tl_comm_size(e->comm) == tl_comm_rank(e->comm);
  }
  if (e->resumed > 0)
    tl_log_info("%lld of %lld blocks are there already", (long long)e->resumed,
                (long long)e->count);
}

/* Rank 0 takes the parts that others ran. */
static TlStatus collect(TlEnsemble *e, unsigned char *done, const unsigned char *mine) {
  int64_t parts = tl_ensemble_parts(e->count);
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

/* Where something varies: a model whose setup and materials are the worker's, and all else the
 * run's. */
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

/* The run's bodies may lie in another order. */
static TlStatus take_starts(TlEnsemble *e) {
  TlBodyOrder order;
  TL_TRY(tl_body_order(&e->run.state->dem.bodies, &order));
  TlStatus status = tl_bodies_reserve(&e->start, e->count);
  for (int64_t i = 0; status == TL_OK && i < e->count; i++)
    status = tl_bodies_add_copy(&e->start, order.bodies, order.body[i]);
  tl_body_order_free(&order);
  return status;
}

static TlStatus open_run(TlEnsemble *e, const TlRunOptions *options) {
  TL_TRY(tl_run_open(&e->run, NULL, options));
  const TlSetup *setup = &e->run.model->setup;
  e->count = e->run.state->dem.bodies.owned;
  e->steps = tl_setup_steps(setup);
  if (setup->time.frame_every_s > 0)
    e->frame_steps = tl_setup_every(setup, setup->time.frame_every_s);
  TL_TRY(tl_ensemble_inputs(e));
  TL_TRY(take_starts(e));
  TL_TRY(TL_NEW(e->record, (size_t)e->count));
  TL_TRY(TL_NEW(e->cell, (size_t)e->count));
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
  if (status == TL_OK && first && e->run.options.resume) status = tl_ensemble_load_parts(e, done);
  if (status == TL_OK && first) status = tl_ensemble_begin_results(e);
  TL_TRY(tl_comm_agree(e->comm, status));
  TL_TRY(tl_comm_broadcast(e->comm, done, (size_t)tl_ensemble_parts(e->count), 0));
  deal(e, done, mine);
  TL_TRY(tl_comm_agree(e->comm, do_blocks(e, mine)));
  return first ? collect(e, done, mine) : TL_OK;
}

TlStatus tl_ensemble_go(TlEnsemble *e) {
  unsigned char *parts = NULL; /* done, mine */
  double started = tl_clock_s();
  size_t count = (size_t)tl_ensemble_parts(e->count);
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
  do {
    TL_TRY(run_block(e, &e->worker[0], n));
    n++;
  } while (n < e->count && n < MOST && tl_clock_s() - started < ENOUGH_S);
  *block_s = (tl_clock_s() - started) / (double)n;
  return TL_OK;
}

void tl_ensemble_close(TlEnsemble *e) {
  for (int t = 0; e->worker && t < e->threads; t++) close_worker(e, &e->worker[t]);
  for (int64_t i = 0; e->pose && i < e->count; i++) tl_free(e->pose[i]);
  for (int64_t i = 0; e->cell && i < e->count; i++) tl_free(e->cell[i]);
  tl_free((void *)e->cell);
  tl_free(e->worker);
  tl_free(e->pose);
  tl_free(e->record);
  tl_bodies_free(&e->start);
  tl_run_close(&e->run);
  *e = (TlEnsemble){0};
}
