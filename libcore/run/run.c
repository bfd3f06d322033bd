#include "run/checkpoint.h"

#include "base/outfile.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "num/sort.h"
#include "run/advice.h"
#include "run/air.h"
#include "run/audit.h"
#include "run/boundary_forces.h"
#include "run/forecast.h"
#include "run/forest.h"
#include "run/history.h"
#include "run/plan.h"
#include "run/pour.h"
#include "run/refusal.h"
#include "run/sense.h"
#include "run/sinks.h"
#include "run/step_problems.h"
#include "store/trust.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static double time_of(const TlRun *run, int64_t step) {
  return (double)step * run->model->setup.time.dt_s;
}

/* ---- the start ---- */

/* NULL when this run does not write the table. */
static const TlColumns *columns_of(const TlRun *run, int table) {
  bool has = table == TL_TABLE_HISTORY || table == TL_TABLE_DEPARTURES ||
             (table == TL_TABLE_BOUNDARY && run->model->setup.time.boundary_forces) ||
             (table == TL_TABLE_CONSTRAINT && run->constraints.wanted) ||
             (table == TL_TABLE_CELLS && run->cells.wanted) ||
             (run->model->apparatus && (int)run->model->apparatus->table == table);
  return has ? tl_table_columns((TlResultsTable)table) : NULL;
}

static TlStatus scene_of(const TlRun *run, TlScene *scene) {
  const TlProvenance *p = run->options.provenance;
  *scene = (TlScene){
      .study = run->model->effective,
      .title = run->model->setup.title ? run->model->setup.title : (char *)(uintptr_t) "",
      .grain_scale = run->model->setup.grains.grain_scale,
      .ranks_matter = tl_run_ranks_matter(run),
      .density_kg_m3 = tl_setup_solver(&run->model->setup).density_kg_m3,
      .materials = run->model->materials,
      .step_s = run->model->setup.time.dt_s,
      .body_count = run->state->grains + tl_pour_left(run) + tl_nets_spheres(&run->model->nets),
      .has_terrain = run->model->has_terrain,
      .terrain = run->model->terrain,
      .plane_count = run->model->setup.planes.count,
      .planes = run->model->planes,
      .part_count = run->model->walls.count,
      .parts = run->model->walls.part};
  for (int t = 0; t < TL_TABLES; t++)
    scene->table_format[t] = columns_of(run, t) ? columns_of(run, t)->format : 0;
  for (int a = 0; a < 3; a++)
    scene->gravity_m_s2[a] =
        run->model->setup.gravity_m_s2[a] / tl_setup_choice(&run->model->setup).mass_scale;
  char *history = NULL;
  if (run->model->selection.start.provenance) /* with that of its catalog in it */
    history = tl_strdup(run->model->selection.start.provenance);
  else if (run->model->catalog)
    TL_TRY(tl_catalog_history(run->model->catalog, &history));
  else
    history = tl_strdup("[]");
  if (!history) return TL_ENOMEM;
  TlStatus status = TL_OK;
  if (p)
    status = tl_provenance_append(p, history, &scene->provenance);
  else
    scene->provenance = tl_strdup(history);
  tl_free(history);
  return status;
}

bool tl_run_ranks_matter(const TlRun *run) {
  const TlModel *m = run->model->dem;
  return m->method == TL_ETM_LEVEL && !m->impulses.deterministic;
}

TlStatus tl_run_begin_output(TlRun *run) {
  TlScene scene = {0};
  TlStatus status = TL_OK;
  if (run->options.no_output) return TL_OK;
  if (tl_comm_rank(run->comm) == 0) status = scene_of(run, &scene);
  status = tl_comm_agree(run->comm, status);
  if (status == TL_OK)
    status = tl_output_open(&run->output, run->comm, run->folder, run->options.overwrite, &scene,
                            &run->model->avatars, &run->state->dem.bodies, &run->later);
  tl_free(scene.provenance);
  TL_TRY(status);
  for (int t = 0; t < TL_TABLES; t++)
    if (columns_of(run, t))
      TL_TRY(tl_output_header(&run->output, (TlResultsTable)t, columns_of(run, t)));
  return TL_OK;
}

TlStatus tl_run_write_frame(TlRun *run, int64_t step) {
  if (run->options.no_output) return TL_OK;
  TlBodyOrder order;
  TL_TRY(tl_comm_agree(run->comm, tl_body_order(&run->state->dem.bodies, &order)));
  const TlSync *sync = run->dist->together ? tl_dist_sync(run->dist) : NULL;
  TlStatus status = TL_OK;
  if (sync) /* merges of this step may reach over ranks */
    status =
        tl_comm_agree(run->comm, tl_together(sync, &run->state->dem.bodies, NULL, order.aggregate));
  const TlFrameRows tables[] = {{&tl_frame_bodies, tl_frame_rows(&order)},
                                {&tl_frame_contacts, tl_contacts_rows(&run->contacts)}};
  if (status == TL_OK)
    status = tl_output_frame(&run->output, tables, run->model->setup.frames.contacts ? 2 : 1, step,
                             time_of(run, step));
  tl_body_order_free(&order);
  run->state->totals.frames = run->output.frames;
  return status;
}

static bool wants_checkpoints(const TlRun *run) {
  const TlCheckpointSetup *c = &run->model->setup.checkpoint;
  return !run->options.no_output && (c->every_steps > 0 || c->every_minutes > 0);
}

/* A disk that is full now may have space when the next checkpoint is due, and the older ones are
 * whole, so the run continues. The message is an error, which --quiet prints, as a file is missing. */
static TlStatus save_or_warn(TlRun *run) {
  TlStatus status = tl_run_save(run, false);
  if (status != TL_EIO) return status;
  run->unsaved++;
  run->unsaved_step = run->state->totals.steps;
  snprintf(run->unsaved_why, sizeof run->unsaved_why, "%s", tl_message());
  tl_log_error("warning: checkpoint_%012lld.tck could not be saved, and the run continues without "
               "it: %s",
               (long long)run->state->totals.steps, tl_message());
  return TL_OK;
}

/* Adds to the provenance of the results who resumes the run, and from which step. */
static TlStatus add_provenance(const TlRun *run) {
  char step[24];
  if (!run->options.provenance || tl_comm_rank(run->comm) != 0) return TL_OK;
  TlProvenance p = *run->options.provenance;
  if (p.parameters && !(p.parameters = tl_strdup(p.parameters))) return TL_ENOMEM;
  snprintf(step, sizeof step, "%lld", (long long)run->state->totals.steps);
  TlStatus status = tl_provenance_parameter(&p, "resumed_from_step", step);
  if (status == TL_OK) status = tl_results_add_run(run->folder, &p);
  tl_free(p.parameters);
  return status;
}

/* The checks of the solver before the first step, of the grains that are here and of those that will
 * be poured. */
static TlStatus check_grains(TlRun *run) {
  TlStatus status =
      tl_step_check(run->model->dem, &run->state->dem, run->work, tl_comm_size(run->comm));
  TL_TRY(tl_comm_agree(run->comm, tl_run_refuse(run, status, NULL)));
  return tl_pour_check(run);
}

static TlStatus resume(TlRun *run) {
  TL_TRY(tl_run_refresh(run));
  TL_TRY(check_grains(run));
  TL_TRY(tl_constraint_begin(run));
  if (run->model->setup.time.until_rest != (run->state->still.window_s > 0))
    TL_TRY(tl_standstill_begin(run));
  const TlColumns *columns[TL_TABLES];
  for (int t = 0; t < TL_TABLES; t++) columns[t] = columns_of(run, t);
  TL_TRY(tl_output_resume(&run->output, run->comm, run->folder, run->model->effective, columns,
                          run->state->totals.steps));
  return tl_comm_agree(run->comm, add_provenance(run));
}

TlStatus tl_run_begin(TlRun *run) {
  TlMeasure m;
  bool pours = tl_pour_left(run) > 0;
  TL_TRY(tl_sinks_warn(run));
  TL_TRY(tl_pour(run, 0));
  TL_TRY(tl_comm_agree(run->comm, tl_avatars_load(&run->model->avatars, run->model->dem,
                                                  &run->state->dem.bodies, 0)));
  TL_TRY(tl_run_refresh(run));
  if (pours && tl_pour_left(run) == 0) TL_TRY(tl_run_say_advice(run));
  TL_TRY(check_grains(run)); /* before anything older is touched */
  TL_TRY(tl_constraint_begin(run));
  TL_TRY(tl_history_measure(run, &m));
  run->state->start_centre = m.centre;
  if (run->model->setup.release.assembly == TL_ASSEMBLY_POURED) /* few are there yet, or none */
    run->state->start_centre = tl_scale(0.5, tl_add(tl_vec3_of(run->model->setup.release.low_m),
                                                    tl_vec3_of(run->model->setup.release.high_m)));
  run->state->totals.kinetic_start_J = m.kinetic;
  run->state->totals.potential_start_J = m.potential;
  return tl_standstill_begin(run);
}

static TlStatus begin(TlRun *run) {
  TL_TRY(tl_run_begin(run));
  TL_TRY(tl_run_begin_output(run));
  TL_TRY(tl_run_write_frame(run, 0));
  TL_TRY(tl_comm_agree(run->comm, tl_cells_take(run, 0)));
  TL_TRY(tl_cells_write(run, false));
  TL_TRY(tl_history_write(run, 0, 0));
  if (run->options.no_output) return TL_OK;
  TL_TRY(tl_comm_agree(run->comm, tl_output_keep(&run->output)));
  return wants_checkpoints(run) ? save_or_warn(run) : TL_OK; /* one to resume from at any time */
}

/* ---- a step ---- */

static TlStatus left_the_terrain(const TlRun *run, int64_t step) {
  const TlBodies *b = &run->state->dem.bodies;
  int64_t first = -1;
  for (int64_t i = 0; i < b->owned; i++)
    if (b->flags[i] & TL_BODY_OUTSIDE && (first < 0 || b->id[i] < b->id[first])) first = i;
  if (first < 0) return TL_OK;
  TlVec3 x = b->position[first];
  return tl_fail(
      TL_EINPUT,
      "%s: grain %lld left the %s in step %lld (%.4g s) at x = %g, y = %g m; a larger one, "
      "or outside: remove or stop",
      run->options.study, (long long)b->id[first], run->model->apparatus ? "cell" : "terrain",
      (long long)step, time_of(run, step), x.x, x.y);
}

/* A body that is frozen does not leave: it was placed there, or left before. */
static bool leaves_now(const TlBodies *b, int64_t i) {
  return (b->flags[i] & TL_BODY_OUTSIDE) && !(b->flags[i] & TL_BODY_FROZEN);
}

static TlStatus handle_outside(TlRun *run, int64_t step) {
  const TlBodies *b = &run->state->dem.bodies;
  int64_t left = 0;
  for (int64_t i = 0; i < b->owned; i++) left += leaves_now(b, i) ? tl_bodies_parts(b, i) : 0;
  TL_TRY(tl_comm_sum_int(run->comm, &left, 1));
  if (left == 0) return TL_OK;
  run->state->totals.outside += left;
  if (run->model->setup.outside == TL_OUTSIDE_ERROR)
    return tl_comm_agree(run->comm, left_the_terrain(run, step));
  TlLeaving leaving = run->model->apparatus ? TL_LEFT_CELL : TL_LEFT_TERRAIN;
  unsigned char *leaves;
  TL_TRY(tl_comm_agree(run->comm, TL_NEW(leaves, (size_t)b->owned)));
  for (int64_t i = 0; i < b->owned; i++)
    leaves[i] = leaves_now(b, i) ? (unsigned char)leaving : TL_STAYS;
  TlStatus status =
      tl_departures_take(run, leaves, run->model->setup.outside == TL_OUTSIDE_REMOVE, step);
  tl_free(leaves);
  return status;
}

static void add_up(TlRunTotals *t, const TlStepReport *r) {
  t->last = *r;
  t->steps++;
  t->overlap_m = fmax(t->overlap_m, r->overlap_m);
  t->overlap_share = fmax(t->overlap_share, r->overlap_share);
  t->boundary_overlap_m = fmax(t->boundary_overlap_m, r->boundary_overlap_m);
  t->boundary_overlap_share = fmax(t->boundary_overlap_share, r->boundary_overlap_share);
  t->wall_work_J += r->wall_work_J;
  t->sleep_J += r->sleep_J;
  tl_energy_balance_add(&t->balance, r);
  t->zero_finishes += r->zero_finishes;
  t->unfinished += r->unfinished;
  t->rest_unfinished += r->rest_unfinished;
  t->unconverged_steps += r->unconverged > 0;
  t->inaccurate_steps +=
      tl_solve_inaccurate(r->unconverged_fraction, r->unconverged_m_s, r->speed_max_m_s);
  t->unconverged_m_s = fmax(t->unconverged_m_s, r->unconverged_m_s);
  t->impulses += r->impulses;
  t->merges += r->merges;
  t->splits += r->splits;
  t->anchor_N_s[0] += r->anchor_x_N_s;
  t->anchor_N_s[1] += r->anchor_y_N_s;
  t->anchor_N_s[2] += r->anchor_z_N_s;
}

/* Releases the shapes that no body of this rank uses any more, once they are the majority. The solver
 * holds pointers to shapes, so it is made anew; contact memory lies with the bodies and stays. */
static TlStatus evict_avatars(TlRun *run) {
  int64_t *used, count;
  TL_TRY(tl_avatars_used(&run->state->dem.bodies, &used, &count));
  if ((int64_t)run->model->avatars.count > 2 * count + 16) {
    tl_run_free_solver(run);
    tl_avatars_evict(&run->model->avatars, used, count);
    TlStatus status = tl_run_new_solver(run);
    tl_free(used);
    return status;
  }
  tl_free(used);
  return TL_OK;
}

/* Bodies go to the ranks that own their places; now and then space is cut anew first, where the work
 * lies unevenly. */
static TlStatus migrate(TlRun *run, int64_t step) {
  const TlParallelSetup *p = &run->model->setup.parallel;
  double imbalance;
  bool look = tl_comm_size(run->comm) > 1 && step % p->balance_every_steps == 0;
  if (look) {
    /* Not again before the next look: of the blocks that ranks give up below most are asked for in the next step. */
    tl_shared_drop_unused(run->model->shared);
    TL_TRY(tl_shared_warn(run->model->shared, run->comm, &run->model->shared_warned));
    TL_TRY(tl_dist_imbalance(run->dist, &run->state->dem.bodies, &imbalance));
    if (imbalance > p->imbalance) {
      tl_log_debug("step %lld: the rank with most work has %.2f times the mean; space is cut anew",
                   (long long)step, imbalance);
      TL_TRY(tl_dist_cut(run->dist, &run->state->dem.bodies));
    }
  }
  TL_TRY(tl_dist_migrate(run->dist, &run->state->dem.bodies, NULL));
  return look ? tl_comm_agree(run->comm, evict_avatars(run)) : TL_OK;
}

/* The safe step before the run rests on a guess of how many points a grain touches with
 * (step_penalty.c); here the contacts are known. */
static void warn_unstable(TlRun *run, const TlStepReport *r) {
  if (run->warned_unstable || r->moving == 0 || r->stable_step_s >= run->model->setup.time.dt_s)
    return;
  run->warned_unstable = true;
  if (tl_comm_rank(run->comm) == 0)
    tl_log_warn("step %lld: contacts are stiff and many: the time step of %g s is above 2/omega = "
                "%g s of one of the grains",
                (long long)run->state->totals.steps, run->model->setup.time.dt_s, r->stable_step_s);
}

static TlStatus fresh_ghosts(TlRun *run) {
  tl_audit_enter(run->audit, TL_AUDIT_GHOSTS);
  TL_TRY(tl_comm_agree(run->comm, tl_run_refresh(run)));
  TL_TRY(tl_dist_halo(run->dist, &run->state->dem.bodies));
  return tl_comm_agree(run->comm, tl_avatars_load(&run->model->avatars, run->model->dem,
                                                  &run->state->dem.bodies,
                                                  run->state->dem.bodies.colliders.owned));
}

/* Distance that the fastest grain of this rank travels in a step, over its radius (of the sphere of
 * its volume). */
static double travel(const TlRun *run) {
  const TlBodies *b = &run->state->dem.bodies;
  double volume = 1 / (4 * M_PI / 3 * tl_setup_solver(&run->model->setup).density_kg_m3), most = 0;
  for (int64_t i = 0; i < b->owned; i++)
    if (!(b->flags[i] & (TL_BODY_FROZEN | TL_BODY_NET | TL_BODY_GUIDED)))
      most = fmax(most, tl_norm(b->velocity[i]) / cbrt(tl_run_plain_mass(run, i) * volume));
  return most * run->model->setup.time.dt_s;
}

/* A time step that is too long is the likely cause of grains that lie in others or have too many
 * neighbours: adds that to the message. */
static TlStatus explain(const TlRun *run, TlStatus status) {
  double travelled = fmax(run->travel_fraction, run->state->totals.travel_fraction);
  if (status == TL_OK || !(travelled > tl_long_travel)) return status;
  return tl_fail(
      status,
      "%s; the time step is too long, for grains move by up to %.2g of their radius in a "
      "step: time.dt_s: %g would do in place of %g",
      tl_message(), travelled, tl_sense_shorter(run->model->setup.time.dt_s, travelled),
      run->model->setup.time.dt_s);
}

TlStatus tl_run_advance(TlRun *run) {
  const TlApparatus *apparatus = run->model->apparatus;
  TlStepReport report;
  int64_t escaped = 0;
  bool pours = tl_pour_left(run) > 0;
  TL_TRY(tl_pour(run, run->state->totals.steps));
  TL_TRY(tl_comm_agree(run->comm, tl_avatars_load(&run->model->avatars, run->model->dem,
                                                  &run->state->dem.bodies, 0)));
  if (pours && tl_pour_left(run) == 0) TL_TRY(tl_run_say_advice(run)); /* all are there now */
  TL_TRY(fresh_ghosts(run));
  if (apparatus) TL_TRY(apparatus->before_step(run, &escaped));
  if (escaped > 0) { /* from the apparatus: they leave the run before the step */
    TL_TRY(handle_outside(run, run->state->totals.steps));
    TL_TRY(fresh_ghosts(run));
  }
  run->travel_fraction = travel(run);
  tl_step_problems_watch(run);
  TlStatus status = tl_step(run->model->dem, &run->state->dem, &run->controls, run->work,
                            tl_dist_sync(run->dist), &report);
  TL_TRY(tl_comm_agree(run->comm, explain(run, tl_run_refuse(run, status, NULL))));
  tl_audit_enter(run->audit, TL_AUDIT_OUTPUT);
  add_up(&run->state->totals, &report);
  tl_air_drag(run);
  tl_forest_hit(run);
  if (apparatus) TL_TRY(apparatus->after_step(run, &report));
  warn_unstable(run, &report);
  return TL_OK;
}

/* Applies the study's policies for grains that left and for those that cannot be brought apart. */
static TlStatus apply_policies(TlRun *run, int64_t step) {
  TL_TRY(tl_run_handle_problems(run, step));
  TL_TRY(handle_outside(run, step));
  return tl_sinks_take(run, step);
}

static TlStatus finish_step(TlRun *run) {
  TlRunState *s = run->state;
  s->totals.travel_fraction = fmax(s->totals.travel_fraction, run->travel_fraction);
  TL_TRY(tl_standstill_after(run, s->totals.steps));
  TL_TRY(apply_policies(run, s->totals.steps));
  return tl_dist_migrate(run->dist, &s->dem.bodies, NULL);
}

TlStatus tl_run_step(TlRun *run) {
  TL_TRY(tl_run_advance(run));
  return finish_step(run);
}

static bool frame_in_turn(const TlRun *run, int64_t step) {
  double every = run->model->setup.time.frame_every_s;
  return every > 0 && step % tl_setup_every(&run->model->setup, every) == 0;
}

static bool line_in_turn(const TlRun *run, int64_t step) {
  return step % tl_setup_every(&run->model->setup, run->model->setup.time.history_every_s) == 0;
}

static TlStatus write_line(TlRun *run, int64_t step, double cpu_s) {
  TL_TRY(tl_history_write(run, step, cpu_s));
  TL_TRY(tl_constraint_write(run));
  return run->model->setup.time.boundary_forces ? tl_boundary_write(run, step) : TL_OK;
}

/* ---- the end of a step ---- */

static void warn_travel(TlRun *run, int64_t step) {
  double dt = run->model->setup.time.dt_s, travelled = run->state->totals.travel_fraction;
  if (run->warned_travel || travelled <= tl_long_travel) return;
  run->warned_travel = true;
  if (tl_comm_rank(run->comm) == 0)
    tl_log_warn(
        "step %lld (%.4g s): a grain moved by %.2g of its radius in a step; time.dt_s of %g "
        "s is too long for its contacts to be found where they happen, %g s would do",
        (long long)step, time_of(run, step), travelled, dt, tl_sense_shorter(dt, travelled));
}

typedef struct Asked {
  bool stop; /* by a signal */
  bool save; /* it is time for a checkpoint */
} Asked;

static TlStatus ask(TlRun *run, int64_t step, Asked *asked) {
  const TlCheckpointSetup *c = &run->model->setup.checkpoint;
  bool by_time = c->every_minutes > 0 && tl_clock_s() - run->saved_s > 60 * c->every_minutes;
  bool by_steps = c->every_steps > 0 && step % c->every_steps == 0;
  const double unit = 1e-6;
  int wish = run->options.stop ? run->options.stop(run->options.stop_context) : 0;
  int64_t any[3] = {wish & TL_WISH_STOP, by_time || by_steps || wish & TL_WISH_SAVE,
                    (int64_t)ceil(fmin(run->travel_fraction / unit, 1e18))};
  TL_TRY(tl_comm_most_int(run->comm, any, 3));
  run->state->totals.travel_fraction =
      fmax(run->state->totals.travel_fraction, unit * (double)any[2]);
  warn_travel(run, step);
  asked->stop |= any[0] != 0;
  asked->save = any[1] != 0;
  if (asked->stop && run->output.writer) tl_results_hurry(run->output.writer);
  return TL_OK;
}

/* Output, grains that leave, migration. Derived fields and contacts are those of the step until
 * bodies move, and contacts know bodies by their places: they are taken before any is removed.
 * The last step gets a frame and a line also out of turn, after tl_output_keep: a run that resumes
 * from there removes them. */
static TlStatus after_step(TlRun *run, int64_t step, int64_t last, double cpu_s) {
  const TlSetup *setup = &run->model->setup;
  const bool output = !run->options.no_output;
  bool frame = frame_in_turn(run, step), line = line_in_turn(run, step);
  TL_TRY(tl_run_watch_depth(run, step == last));
  if (setup->time.boundary_forces && (line || step == last)) TL_TRY(tl_boundary_take(run));
  if (run->constraints.wanted && (line || step == last))
    TL_TRY(tl_comm_agree(run->comm, tl_constraint_take(run)));
  if (setup->frames.contacts && output && (frame || step == last))
    TL_TRY(tl_comm_agree(
        run->comm, tl_contacts_take(&run->contacts, run->model->dem, &run->state->dem, run->work)));
  TL_TRY(tl_comm_agree(run->comm, tl_cells_take(run, step)));
  TL_TRY(apply_policies(run, step));
  if (frame) TL_TRY(tl_run_write_frame(run, step));
  if (frame) TL_TRY(tl_cells_write(run, false));
  if (line) TL_TRY(write_line(run, step, cpu_s));
  if (output) TL_TRY(tl_comm_agree(run->comm, tl_output_keep(&run->output)));
  if (step == last && !frame) TL_TRY(tl_run_write_frame(run, step));
  if (step == last && !frame) TL_TRY(tl_cells_write(run, true));
  if (step == last && !line) TL_TRY(write_line(run, step, cpu_s));
  tl_audit_enter(run->audit, TL_AUDIT_MIGRATION);
  TL_TRY(migrate(run, step));
  tl_audit_enter(run->audit, TL_AUDIT_OUTPUT);
  return TL_OK;
}

static TlStatus stopped(const TlRun *run, int64_t step) {
  if (run->options.no_output)
    return tl_fail(TL_ELIMIT, "%s: stopped by a signal after step %lld (%.4g s)",
                   run->options.study, (long long)step, time_of(run, step));
  char *folder = tl_text_for_shell(run->folder);
  TlStatus status = tl_fail(
      TL_ELIMIT,
      "%s: stopped by a signal after step %lld (%.4g s); resume with: talus-solve "
      "--resume %s",
      run->options.study, (long long)step, time_of(run, step), folder ? folder : run->folder);
  tl_free(folder);
  return status;
}

static TlStatus loop(TlRun *run, TlProgress *bar) {
  int64_t steps = tl_setup_steps(&run->model->setup), last = steps;
  Asked asked = {.stop = false};
  TlForecast forecast = tl_forecast_start(run->state->totals.steps, steps, tl_clock_s());
  forecast.may_end = run->model->setup.time.until_rest;
  bar->left = forecast.left;
  for (int64_t step = run->state->totals.steps + 1; step <= last; step++) {
    double cpu = tl_clock_process_cpu_s();
    TL_TRY(tl_run_advance(run));
    cpu = tl_clock_process_cpu_s() - cpu;
    run->state->totals.cpu_s += cpu;
    TL_TRY(ask(run, step, &asked));
    TL_TRY(tl_standstill_after(run, step));
    if (asked.stop || tl_apparatus_finished(run) || run->state->still.reached) last = step;
    TL_TRY(after_step(run, step, last, cpu));
    bool save = asked.save || (step == last && wants_checkpoints(run));
    if (!run->options.no_output && (asked.stop || save))
      TL_TRY(asked.stop ? tl_run_save(run, true) : save_or_warn(run));
    tl_forecast_step(&forecast, step, run->state->totals.last.contacts >= run->state->grains / 5);
    tl_progress(bar, step);
  }
  bar->left = NULL;
  if (asked.stop && last < steps && !tl_apparatus_finished(run) && !run->state->still.reached)
    return stopped(run, last);
  if (!run->model->apparatus) return TL_OK;
  TL_TRY(fresh_ghosts(run));
  return run->model->apparatus->end(run);
}

static void say_traffic(const TlRun *run) {
  TlDistCounters c = tl_dist_counters(run->dist);
  double steps = run->state->totals.steps > 0 ? (double)run->state->totals.steps : 1;
  if (tl_comm_size(run->comm) == 1) return;
  tl_log_debug("rank 0: at most %lld own grains and %lld ghosts, %lld neighbours; a step: %.1f "
               "messages of %.0f bytes, %.1f collectives; %lld grains moved, %lld cuts",
               (long long)c.owned, (long long)c.ghosts, (long long)c.neighbours,
               (double)c.comm.messages / steps,
               (double)c.comm.message_bytes / (double)(c.comm.messages + 1),
               (double)c.comm.collectives / steps, (long long)c.moved, (long long)c.cuts);
}

/* Measures of the grains at the end of the run, for the summary. */
static TlStatus look_at_end(TlRun *run) {
  TlDeparted departed;
  TL_TRY(tl_departed_gather(run, &departed));
  run->state->totals.sunk_kg = tl_exact_value(&departed.sunk_mass);
  tl_bodies_drop_ghosts(&run->state->dem.bodies);
  TL_TRY(tl_comm_agree(run->comm, tl_avatars_load(&run->model->avatars, run->model->dem,
                                                  &run->state->dem.bodies, 0)));
  TL_TRY(tl_run_refresh(run));
  TL_TRY(tl_standstill_look(run, &run->state->totals.look));
  TL_TRY(tl_run_small(run, &run->state->totals.small));
  return tl_run_depth(run, &run->state->totals.depth);
}

/* A run that had ended before it was resumed writes nothing: what a killed process left there is cleared
 * here. */
static TlStatus look_at_ended(TlRun *run) {
  if (tl_comm_rank(run->comm) == 0) tl_outfile_clear(run->folder);
  return look_at_end(run);
}

TlStatus tl_run_go(TlRun *run) {
  int64_t steps = tl_setup_steps(&run->model->setup);
  if (run->checkpoint && run->model->setup.time.until_rest && run->state->still.reached) {
    tl_log_info("%s: finished already, at rest after step %lld; time.until_rest=no continues it",
                run->folder, (long long)run->state->totals.steps);
    return look_at_ended(run);
  }
  if (run->checkpoint && run->state->totals.steps >= steps) {
    tl_log_info("%s: finished already, with step %lld; a longer time.duration_s (or time.steps) "
                "continues it",
                run->folder, (long long)steps);
    return look_at_ended(run);
  }
  if (run->checkpoint && tl_apparatus_finished(run)) {
    tl_log_info("%s: finished already, its test ended with step %lld", run->folder,
                (long long)run->state->totals.steps);
    return look_at_ended(run);
  }
  run->started_s = tl_clock_s() - run->state->totals.wall_s;
  TL_TRY(run->checkpoint ? resume(run) : begin(run));
  run->saved_s = tl_clock_s();
  TL_TRY(tl_comm_agree(run->comm, tl_run_audit_start(run)));
  TlProgress bar = tl_progress_start("steps", tl_setup_steps(&run->model->setup));
  TlStatus status = loop(run, &bar);
  tl_progress_end(&bar);
  run->state->totals.wall_s = tl_clock_s() - run->started_s;
  TL_TRY(status);
  /* a disk of the network may refuse only now what the tables wrote */
  if (!run->options.no_output) TL_TRY(tl_comm_agree(run->comm, tl_output_sync(&run->output)));
  tl_output_view(&run->output, run->folder);
  say_traffic(run);
  TL_TRY(tl_run_audit_write(run));
  TL_TRY(tl_comm_sum(run->comm, &run->state->totals.cpu_s, 1));
  return look_at_end(run);
}

/* A window of the last steps of a trial. */
enum { TRIAL_STEPS = 40, TRIAL_COLD = 5 };
typedef struct TrialStep {
  double took_s, touching; /* contact points that bore a force in the step, over grains */
} TrialStep;

static TlStatus trial_touching(const TlRun *run, double *touching) {
  TlContactRow *row = NULL;
  int64_t rows = 0, bear = 0;
  TlStatus status = tl_step_contacts(run->model->dem, &run->state->dem, run->work, &row, &rows);
  for (int64_t i = 0; status == TL_OK && i < rows; i++) bear += tl_norm2(row[i].force_N) > 0;
  tl_free(row);
  TL_TRY(tl_comm_agree(run->comm, status));
  TL_TRY(tl_comm_sum_int(run->comm, &bear, 1));
  *touching = run->state->grains > 0 ? (double)bear / (double)run->state->grains : 0;
  return TL_OK;
}

/* Do grains touch, and no more than they did a window ago? Of poured grains a tenth must be there. */
static bool trial_settled(const TlRun *run, double touching, const TrialStep *before) {
  return run->state->grains >= tl_pour_left(run) / 9 && touching >= 0.5 &&
         touching <= 1.1 * before->touching;
}

/* Median of the window, without the first steps, which bring shapes and lists into memory. */
static double trial_median(const TrialStep *window, int64_t done) {
  double took[TRIAL_STEPS];
  int64_t cold = done > 2 * TRIAL_COLD ? TRIAL_COLD : done / 2, count = 0;
  for (int64_t i = done > TRIAL_STEPS + cold ? done - TRIAL_STEPS : cold; i < done; i++)
    took[count++] = window[i % TRIAL_STEPS].took_s;
  qsort(took, (size_t)count, sizeof *took, tl_by_real);
  return count > 0 ? took[count / 2] : 0;
}

TlStatus tl_run_trial(TlRun *run, TlTrial *trial) {
  enum { SECONDS = 10 };
  TrialStep window[TRIAL_STEPS] = {0};
  double start = tl_clock_s(), spent = 0;
  int64_t from = run->state->totals.steps, steps = tl_setup_steps(&run->model->setup);
  bool ended = from >= steps;
  *trial = (TlTrial){0};
  run->options.no_output = true;
  if (!run->checkpoint) TL_TRY(tl_run_begin(run));
  while (!ended && !(trial->steps >= TRIAL_STEPS && trial->settled) && spent < SECONDS) {
    double began = tl_clock_s(), touching;
    TL_TRY(tl_run_advance(run));
    double took = tl_clock_s();
    TL_TRY(trial_touching(run, &touching)); /* before bodies move between ranks */
    double looked = tl_clock_s();
    TL_TRY(finish_step(run));
    double times[] = {took - began + (tl_clock_s() - looked), tl_clock_s() - start};
    TL_TRY(tl_comm_most(run->comm, times, 2));
    TrialStep *step = &window[trial->steps++ % TRIAL_STEPS];
    trial->settled = trial_settled(run, touching, step);
    *step = (TrialStep){times[0], touching};
    spent = times[1];
    ended = run->state->totals.steps >= steps || run->state->still.reached ||
            tl_apparatus_finished(run);
  }
  trial->step_s = trial_median(window, trial->steps);
  trial->settled = trial->settled || ended; /* that was all of it */
  double grains = fmax(1, (double)run->state->grains);
  trial->left_s = trial->step_s * tl_pour_sum(run, from, steps) / grains;
  return TL_OK;
}

TlStatus tl_run_hash(TlRun *run, uint64_t *hash) {
  int64_t sum;
  tl_bodies_drop_ghosts(&run->state->dem.bodies);
  TL_TRY(tl_comm_agree(run->comm, tl_bodies_hash(&run->state->dem.bodies, hash)));
  sum = (int64_t)*hash;
  TL_TRY(tl_comm_sum_int(run->comm, &sum, 1));
  *hash = (uint64_t)sum;
  return TL_OK;
}
