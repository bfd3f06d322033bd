#include "base/comm.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/par.h"
#include "base/report.h"
#include "conf/cli.h"
#include "post/departures.h"
#include "run/forecast.h"
#include "run/plan.h"
#include "run/pour.h"
#include "shape/moving.h"
#include "store/scene_depth.h"
#include "store/trust.h"

#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct Options {
  char *catalog, *audit;
  TlTexts sets;
  bool keys, columns, resume;
} Options;

static const TlParam params[] = {
    {"catalog", TL_P_TEXT, offsetof(Options, catalog), "", "", 0, 0, NULL,
     "catalog to take grains and terrain from, in place of the study's", "FILE"},
    {"set", TL_P_TEXTS, offsetof(Options, sets), "", "", 0, 0, NULL,
     "say a key of the study anew, e.g. time.dt_s=5e-4 (no value: leave the key out); may be given "
     "again and again",
     "[SECTION.]KEY=VALUE"},
    {"resume", TL_P_FLAG, offsetof(Options, resume), "", "false", 0, 0, NULL,
     "continue a run that was stopped from its newest whole checkpoint: STUDY is the study it "
     "began with, or its results folder",
     NULL},
    {"audit", TL_P_TEXT, offsetof(Options, audit), "", "", 0, 0, NULL,
     "write what each phase of the steps cost each rank: work, seconds, messages, bytes, "
     "collectives "
     "(docs/reference/results.md)",
     "FILE", .role = TL_ROLE_REPLACES},
    {"keys", TL_P_FLAG, offsetof(Options, keys), "", "false", 0, 0, NULL,
     "print the table of the study's keys and stop", NULL},
    {"columns", TL_P_FLAG, offsetof(Options, columns), "", "false", 0, 0, NULL,
     "print the columns of the tables that a run writes and stop", NULL},
};

/* ---- signals ---- */

/* What each signal wishes. SIGUSR2 is what talus-mpirun passes on: mpirun itself kills the ranks a
 * second after it has handed them a SIGTERM. */
static const struct {
  int number;
  TlRunWish wish;
} signals[] = {{SIGTERM, TL_WISH_STOP},
               {SIGINT, TL_WISH_STOP},
               {SIGHUP, TL_WISH_STOP},
               {SIGUSR2, TL_WISH_STOP},
               {SIGUSR1, TL_WISH_SAVE}};
enum { SIGNALS = sizeof signals / sizeof *signals };

/* One request to end may arrive as several signals: SIGTERM of a batch system to every process and
 * of mpirun to its ranks a second later, SIGHUP of the terminal and of the shell. */
static const double SAME_REQUEST_S = 1.5;

/* A handler can reach nothing else. It may run on another thread, in the middle of take_wishes. */
static atomic_int wishes;
static volatile double stop_asked_s; /* when it was wished first; 0: not yet */

static void on_signal(int number) {
  int wish = 0;
  for (int i = 0; i < SIGNALS; i++)
    if (signals[i].number == number) wish = (int)signals[i].wish;
  if ((wish & TL_WISH_STOP) && stop_asked_s > 0 && tl_clock_s() - stop_asked_s > SAME_REQUEST_S) {
    signal(number, SIG_DFL); /* asked again: ends at once */
    raise(number);
    return;
  }
  if ((wish & TL_WISH_STOP) && stop_asked_s == 0) stop_asked_s = tl_clock_s();
  atomic_fetch_or(&wishes, wish);
}

/* A wish to save is granted once. */
static int take_wishes(void *unused) {
  (void)unused;
  return atomic_fetch_and(&wishes, ~TL_WISH_SAVE);
}

/* nohup's SIGHUP stays ignored. */
static void catch_signals(void) {
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART}, before;
  sigemptyset(&action.sa_mask);
  for (int i = 0; i < SIGNALS; i++) {
    sigaction(signals[i].number, NULL, &before);
    if (signals[i].number == SIGHUP && before.sa_handler == SIG_IGN) continue;
    sigaction(signals[i].number, &action, NULL);
  }
}

static TlStatus print_keys(void) {
  char *table;
  TL_TRY(tl_study_table(&tl_setup_schema, &table));
  fputs(table, stdout);
  tl_free(table);
  return TL_OK;
}

static TlStatus print_columns(void) {
  char *page = tl_columns_reference();
  if (!page) return TL_ENOMEM;
  fputs(page, stdout);
  tl_free(page);
  return TL_OK;
}

static void say_plan(const TlRun *run) {
  const TlSetup *s = &run->model->setup;
  if (run->checkpoint) return; /* said already where it continues */
  double packed = (double)tl_run_memory(run, TL_CONTACTS_PACKED),
         machine = (double)tl_mem_machine_bytes();
  char poured[64] = "";
  if (tl_pour_left(run) > 0)
    snprintf(poured, sizeof poured, ", %lld of them still to be poured,",
             (long long)tl_pour_left(run));
  tl_log_info(
      "%lld grains%s on %d rank%s of %d thread%s, %lld steps of %g s (%.4g s), frames every "
      "%g s, on the largest rank about %.0f MB while grains fall and %.0f MB where they lie "
      "packed, up to %.3g MB of results in %s",
      (long long)(tl_run_grains(run) + tl_pour_left(run)), poured, tl_comm_size(run->comm),
      tl_comm_size(run->comm) > 1 ? "s" : "", tl_par_threads(), tl_par_threads() > 1 ? "s" : "",
      (long long)tl_setup_steps(s), s->time.dt_s, (double)tl_setup_steps(s) * s->time.dt_s,
      s->time.frame_every_s, (double)tl_run_memory(run, TL_CONTACTS_LOOSE) / 1e6, packed / 1e6,
      (double)tl_run_disk(run) / 1e6, run->folder);
  if (machine > 0 && packed * tl_comm_node_size(run->comm) > machine)
    tl_log_warn("the machine has %.3g GB, and where all grains lie packed the run may need %.3g GB "
                "of it; take more machines or fewer grains",
                1e-9 * machine, 1e-9 * packed * tl_comm_node_size(run->comm));
  if (run->state->lifted_m > 1e-3 * run->model->selection.median_diameter_m)
    tl_log_info("the assembly was lifted by %.4g m to stand clear of the ground",
                run->state->lifted_m);
}

static const char *method_of(const TlRun *run) {
  return tl_method_name((TlMethod)run->model->setup.solver.method);
}

typedef struct Plan {
  char refused[512];                /* why the run would be, by what is in its folder; rank 0 */
  int64_t grains;                   /* those to be poured, too */
  int64_t disk, free_bytes, memory; /* memory: of the largest rank after the first steps */
  TlTrial trial;
} Plan;

static TlStatus report_plan(const TlRun *run, const Plan *plan, bool json) {
  TlReport r = {0};
  TlStatus status = tl_report_text(&r, "method", method_of(run));
  if (status == TL_OK) status = tl_report_int(&r, "grains", plan->grains, "");
  if (status == TL_OK) status = tl_report_int(&r, "ranks", tl_comm_size(run->comm), "");
  if (status == TL_OK) status = tl_report_int(&r, "threads_per_rank", tl_par_threads(), "");
  if (status == TL_OK) status = tl_report_int(&r, "steps", tl_setup_steps(&run->model->setup), "");
  if (status == TL_OK) status = tl_report_real(&r, "dt", run->model->setup.time.dt_s, "s");
  if (status == TL_OK)
    status = tl_report_real(&r, "grain_scale", run->model->setup.grains.grain_scale, "");
  if (status == TL_OK &&
      run->model->selection.median_diameter_m > 0) /* bodies alone: nothing selected */
    status = tl_report_real(
        &r, "median_diameter",
        run->model->setup.grains.grain_scale * run->model->selection.median_diameter_m, "m");
  if (status == TL_OK) status = tl_run_report_materials(run, &r);
  if (status == TL_OK)
    status =
        tl_report_int(&r, "memory_estimate_loose", tl_run_memory(run, TL_CONTACTS_LOOSE), "bytes");
  if (status == TL_OK)
    status = tl_report_int(&r, "memory_estimate", tl_run_memory(run, TL_CONTACTS_PACKED), "bytes");
  if (status == TL_OK) status = tl_report_int(&r, "memory_of_first_steps", plan->memory, "bytes");
  if (status == TL_OK) status = tl_report_int(&r, "disk_estimate", plan->disk, "bytes");
  if (status == TL_OK) status = tl_report_int(&r, "disk_free", plan->free_bytes, "bytes");
  if (status == TL_OK) status = tl_report_real(&r, "step_time", plan->trial.step_s, "s");
  if (status == TL_OK && plan->trial.settled)
    status = tl_report_real(&r, "time_at_this_pace", plan->trial.left_s, "s");
  if (status == TL_OK && !plan->trial.settled)
    status = tl_report_text(&r, "time", "not known: few grains touch yet");
  if (status == TL_OK && !plan->trial.settled)
    status = tl_report_real(&r, "time_at_least", plan->trial.left_s, "s");
  if (status == TL_OK) status = tl_report_text(&r, "output", run->folder);
  if (status == TL_OK && plan->refused[0]) status = tl_report_text(&r, "refused", plan->refused);
  if (status == TL_OK) status = tl_report_print(&r, json);
  tl_report_free(&r);
  return status;
}

/* A run that starts would be refused for what its folder holds; the plan itself is worth having. */
static void look_at_folder(const TlRun *run, char refused[512]) {
  refused[0] = '\0';
  if (run->options.resume || tl_comm_rank(run->comm) != 0 ||
      tl_results_check(run->folder, run->options.overwrite) == TL_OK)
    return;
  snprintf(refused, 512, "%s", tl_message());
  tl_log_warn("the run would be refused: %s", refused);
}

/* The first steps without output. Grains in flight are cheap and grains that collide are dear, so
 * what they took is a pace and no estimate. */
static TlStatus try_out(TlRun *run, int64_t free_bytes, bool json) {
  Plan plan = {.grains = tl_run_grains(run) + tl_pour_left(run),
               .disk = tl_run_disk(run),
               .free_bytes = free_bytes};
  const TlTrial *t = &plan.trial;
  char text[32];
  look_at_folder(run, plan.refused);
  TL_TRY(tl_run_trial(run, &plan.trial));
  int64_t common = tl_mem_common_bytes();
  plan.memory = tl_mem_peak_bytes() - common + common / tl_shared_ranks(run->model->shared);
  TL_TRY(tl_comm_most_int(run->comm, &plan.memory, 1));
  tl_forecast_text(text, t->left_s);
  if (t->settled)
    tl_log_info(
        "%.3g s a step after %lld steps: %s for all at this pace; steps get dearer when more "
        "grains touch",
        t->step_s, (long long)t->steps, text);
  else
    tl_log_info("%.3g s a step after %lld steps, and few grains touch yet: the time of the run "
                "is not known, at least %s",
                t->step_s, (long long)t->steps, text);
  return report_plan(run, &plan, json);
}

/* Who left, by departures.csv: the state itself holds only how many. */
static TlStatus report_departures(const TlRun *run, TlReport *r) {
  const TlRunTotals *t = &run->state->totals;
  TlDepartures d = {0};
  int64_t gone = 0;
  TL_TRY(tl_report_int(r, "grains_outside", t->outside, ""));
  if (run->model->setup.sinks.count > 0) {
    TL_TRY(tl_report_int(r, "grains_sunk", t->sunk, ""));
    TL_TRY(tl_report_real(r, "mass_sunk", t->sunk_kg, "kg"));
  }
  if (tl_comm_rank(run->comm) != 0) return TL_OK; /* rank 0 prints */
  TL_TRY(tl_departures_read(run->folder, &d));
  for (int64_t i = 0; i < d.count; i++) gone += d.row[i].removed;
  TlStatus status = tl_departures_report(&d, d.count, run->folder, r);
  if (status == TL_OK) status = tl_report_int(r, "grains_gone", gone, "");
  tl_departures_free(&d);
  return status;
}

static TlStatus report_rest(const TlRun *run, TlReport *r) {
  const TlLook *look = &run->state->totals.look;
  bool rest =
      tl_at_rest(look->moving_fraction, look->largest_pace, run->model->setup.time.rest_mass);
  if (look->bodies > 0) TL_TRY(tl_report_text(r, "at_rest", rest ? "yes" : "no"));
  TL_TRY(tl_report_real(r, "moving_mass", 100 * look->moving_fraction, "percent"));
  TL_TRY(tl_report_real(r, "mean_speed", look->mean_speed_m_s, "m/s"));
  return tl_report_real(r, "largest_speed", look->largest_speed_m_s, "m/s");
}

static TlStatus report_solves(const TlRun *run, TlReport *r) {
  const TlRunTotals *t = &run->state->totals;
  if (!tl_method(run->model->dem->method)->converges) return TL_OK;
  TL_TRY(tl_report_int(r, "unconverged_steps", t->unconverged_steps, ""));
  TL_TRY(tl_report_int(r, "inaccurate_steps", t->inaccurate_steps, ""));
  return tl_report_real(r, "largest_residual", t->unconverged_m_s, "m/s");
}

/* Of the model reduction: bodies that move as parts of aggregates at the end. */
static TlStatus report_merged(const TlRun *run, TlReport *r) {
  const TlRunTotals *t = &run->state->totals;
  char text[64];
  if (run->model->dem->nonsmooth.reduction.split == TL_SPLIT_OFF) return TL_OK;
  snprintf(text, sizeof text, "%lld of %lld", (long long)t->last.merged, (long long)t->look.bodies);
  return tl_report_text(r, "merged", text);
}

static TlStatus report_depth(const TlRun *run, TlReport *r) {
  const TlRunDepth *d = &run->state->totals.depth;
  if (!d->there) return TL_OK;
  TL_TRY(tl_report_real(r, "largest_penetration_of_radius", 100 * d->fraction, "percent"));
  TL_TRY(tl_report_int(r, "grains_deeper_than_2_percent", d->deep, ""));
  if (!run->model->has_terrain) return TL_OK;
  TL_TRY(tl_report_int(r, "grains_smaller_than_a_cell", run->state->totals.small, ""));
  return tl_report_int(r, "grains_not_over_terrain", d->unjudged, "");
}

static TlStatus report_run(const TlRun *run, uint64_t hash, bool json) {
  const TlRunTotals *t = &run->state->totals;
  double steps = t->steps > 0 ? (double)t->steps : 1;
  const struct {
    const char *name, *unit;
    double value;
  } lines[] = {
      {"grain_scale", "", run->model->setup.grains.grain_scale},
      {"time", "s", (double)t->steps * run->model->setup.time.dt_s},
      {"wall", "s", t->wall_s},
      {"cpu_per_step", "s", t->cpu_s / steps},
      {"kinetic_energy_start", "J", t->kinetic_start_J},
      {"kinetic_energy", "J", t->kinetic_J},
      {"deepest_overlap", "m", t->overlap_m},
      {"deepest_overlap_share", "", t->overlap_share},
      {"deepest_boundary_overlap_share", "", t->boundary_overlap_share},
      {"final_overlap_share", "", t->last.overlap_share},
      {"final_boundary_overlap_share", "", t->last.boundary_overlap_share},
      {"largest_travel_per_step_of_radius", "", t->travel_fraction},
  };
  const struct {
    const char *name;
    int64_t value;
  } counts[] = {{"ranks", tl_comm_size(run->comm)},
                {"threads_per_rank", tl_par_threads()},
                {"steps", t->steps},
                {"frames", t->frames},
                {"grains_embedded", t->embedded},
                {"grains_unresolved", t->unresolved},
                {"grains_asleep", t->last.asleep},
                {"contacts", t->last.contacts},
                {"islands", t->last.islands},
                {"impulses", t->impulses},
                {"islands_finished_without_restitution", t->zero_finishes},
                {"islands_unfinished", t->unfinished}};
  char state[24];
  TlReport r = {0};
  snprintf(state, sizeof state, "%016llx", (unsigned long long)hash);
  TlStatus status = tl_report_text(&r, "output", run->folder);
  if (status == TL_OK) status = tl_report_text(&r, "method", method_of(run));
  if (status == TL_OK) status = tl_report_text(&r, "state_hash", state);
  if (status == TL_OK && tl_run_ranks_matter(run))
    status = tl_report_text(&r, "repeatable_over_ranks", "no");
  if (status == TL_OK) status = tl_report_int(&r, "grains", tl_run_grains(run), "");
  if (status == TL_OK && run->model->setup.release.assembly == TL_ASSEMBLY_POURED)
    status = tl_report_int(&r, "grains_not_poured", tl_pour_left(run), "");
  if (status == TL_OK) status = report_departures(run, &r);
  for (size_t i = 0; status == TL_OK && i < sizeof counts / sizeof *counts; i++)
    status = tl_report_int(&r, counts[i].name, counts[i].value, "");
  for (size_t i = 0; status == TL_OK && i < sizeof lines / sizeof *lines; i++)
    status = tl_report_real(&r, lines[i].name, lines[i].value, lines[i].unit);
  if (status == TL_OK && run->deep.known)
    status = tl_report_int(&r, "pairs_embedded", run->deep.pairs, "");
  /* grains that are poured bring potential energy along: no change would be the run's own */
  if (status == TL_OK && run->model->setup.release.assembly != TL_ASSEMBLY_POURED)
    status =
        tl_report_real(&r, "potential_energy_change", t->potential_J - t->potential_start_J, "J");
  if (status == TL_OK) status = report_solves(run, &r);
  if (status == TL_OK) status = report_merged(run, &r);
  if (status == TL_OK) status = report_rest(run, &r);
  if (status == TL_OK) status = report_depth(run, &r);
  if (status == TL_OK) status = tl_report_print(&r, json);
  tl_report_free(&r);
  return status;
}

/* The results are whole; what was promised beside them is not. */
static TlStatus check_saved(const TlRun *run) {
  if (run->unsaved == 0) return TL_OK;
  return tl_fail(
      TL_EIO,
      "%s: the run went to its end, but %lld checkpoint%s could not be saved, the last at "
      "step %lld: %s",
      run->folder, (long long)run->unsaved, run->unsaved > 1 ? "s" : "",
      (long long)run->unsaved_step, run->unsaved_why);
}

static void warn_of_energy(const TlRunTotals *t) {
  const TlTurnover e = tl_energy_turnover(&t->balance);
  if (tl_damping_distrusted(&e))
    tl_log_warn(
        "contact damping gave %.3g J where it can only take energy, with %.3g J turned over: "
        "the step is too long or the solve too rough, and neither motion nor forces are to "
        "be trusted; a shorter time.dt_s (or more iterations) would help",
        -e.damping_J, tl_turned_over_J(&e));
  if (tl_balance_distrusted(&e))
    tl_log_warn(
        "%.3g J are missing from the energy balance, with %.3g J turned over (1%% or less is "
        "usual); a shorter time.dt_s would show by how much results depend on the step",
        fabs(e.balance_error_J), tl_turned_over_J(&e));
}

static void warn_of_overlap(const TlRun *run) {
  double deepest = run->state->totals.overlap_share;
  if (deepest > TL_OVERLAP_LIMIT)
    tl_log_warn(
        "grains overlapped by up to %.3g%% of the smaller one's radius (up to %g%% is usual); "
        "%sa shorter time.dt_s would lower it",
        100 * deepest, 100 * TL_OVERLAP_LIMIT,
        tl_method(run->model->dem->method)->bears_force
            ? "stiffer contacts (young_Pa, normal_N_m or normal_Pa_m) or "
            : "");
}

/* What an inlet did not let in, or only later than it was due. */
static void warn_of_inlet(const TlRun *run) {
  const TlReleaseSetup *r = &run->model->setup.release;
  int64_t due = tl_pour_due(run), entered = run->state->poured;
  char rate[64] = "";
  if (r->rate_per_s > 0) snprintf(rate, sizeof rate, " by release.rate_per_s of %g", r->rate_per_s);
  if (tl_inlet_distrusted(due - entered, due))
    tl_log_warn("the inlet let in %lld of the %lld grains that were due%s: for %lld there was no "
                "free place "
                "in it, because grains lie in it or do not leave it as fast; a larger inlet "
                "(release.low_m, high_m), one further from where grains pile up, a larger "
                "release.velocity_m_s or a smaller rate would help",
                (long long)entered, (long long)due, rate, (long long)(due - entered));
  else if (run->waited > 1 && tl_inlet_distrusted(run->waited, r->count))
    tl_log_warn(
        "the inlet did not keep release.rate_per_s of %g: up to %lld of %lld grains that were due "
        "waited at once for a free place in it, and came later; a larger inlet or a larger "
        "release.velocity_m_s would help",
        r->rate_per_s, (long long)run->waited, (long long)r->count);
}

/* Of a run that was to end at rest. */
static void warn_of_unrest(const TlRun *run) {
  const TlLook *look = &run->state->totals.look;
  int64_t left = tl_pour_left(run);
  if (left > 0)
    tl_log_warn(
        "the run ended before it came to rest: %lld of %lld grains have not been poured yet, %lld "
        "of them for want of a free place in the inlet and %lld that are due later; of what has, "
        "%.3g%% of the mass moves",
        (long long)left, (long long)run->model->setup.release.count,
        (long long)(tl_pour_due(run) - run->state->poured),
        (long long)(run->model->setup.release.count - tl_pour_due(run)),
        100 * look->moving_fraction);
  else
    tl_log_warn("the run ended before it came to rest: %.3g%% of the mass moves, the mean speed is "
                "%.3g m/s; a longer time.duration_s and --resume carry it on",
                100 * look->moving_fraction, look->mean_speed_m_s);
}

/* What of the summary must not be taken at its word. */
static void warn_of_result(const TlRun *run) {
  const TlRunTotals *t = &run->state->totals;
  const TlLook *look = &t->look;
  if (t->zero_finishes)
    tl_log_warn("%lld times an island was finished with restitution 0 (solver.max_rounds)",
                (long long)t->zero_finishes);
  if (tl_solves_distrusted((double)t->inaccurate_steps, (double)t->steps))
    tl_log_warn(
        "in %lld of %lld steps a solve ended at its limit of iterations far from its "
        "solution, with a residual of up to %.3g m/s: forces, friction and overlaps are not "
        "to be trusted; more nonsmooth.iterations and nonsmooth.impact_iterations (or auto) "
        "or a shorter time.dt_s would help",
        (long long)t->inaccurate_steps, (long long)t->steps, t->unconverged_m_s);
  warn_of_energy(t);
  warn_of_overlap(run);
  warn_of_inlet(run);
  if (run->model->setup.time.until_rest && !run->state->still.reached)
    warn_of_unrest(run);
  else if (run->model->has_terrain &&
           !tl_at_rest(look->moving_fraction, look->largest_pace, run->model->setup.time.rest_mass))
    tl_log_info("the grains are not at rest: %.3g%% of the mass moves, the mean speed is %.3g m/s; "
                "runout and deposit are those of a moment (time.until_rest ends a run at rest)",
                100 * look->moving_fraction, look->mean_speed_m_s);
  if (t->depth.deep > 0)
    tl_log_warn(
        "%lld of %lld grains lie deeper than %g%% of their radius in what holds them, the "
        "deepest %.3g%%%s",
        (long long)t->depth.deep, (long long)tl_run_grains(run), 100 * tl_deep_fraction,
        100 * t->depth.fraction,
        t->small ? "; with terrain.contact: band grains smaller than a cell meet a ground that is "
                   "interpolated, not the raster's own (docs/theory/terrain.md, Limits)"
                 : "");
  if (t->depth.unjudged > 0)
    tl_log_warn("%lld grains lie with no surface node over the terrain: how deep they are in it "
                "cannot be measured",
                (long long)t->depth.unjudged);
}

static TlStatus go(TlRun *run, const TlCall *call) {
  int64_t free_bytes;
  say_plan(run);
  TL_TRY(tl_run_check_disk(run, &free_bytes));
  if (call->dry_run) return try_out(run, free_bytes, call->json);
  catch_signals();
  TL_TRY(tl_run_go(run));
  warn_of_result(run);
  uint64_t hash;
  TL_TRY(tl_run_hash(run, &hash));
  TL_TRY(report_run(run, hash, call->json));
  return check_saved(run);
}

static bool in_step; /* the ranks ask each other how they fare from here on */

static TlStatus solve(const TlCall *call) {
  const Options *o = call->values;
  TlComm *comm = tl_comm_world();
  if (o->keys) return print_keys();
  if (o->columns) return print_columns();
  if (call->argc != 1) return tl_fail(TL_EUSAGE, "one study is wanted; see talus-solve --help");
  TlProvenance *p = call->provenance;
  p->ranks = tl_comm_size(comm);
  if (o->resume && call->overwrite)
    return tl_fail(TL_EUSAGE, "--resume continues results, --overwrite replaces them; choose one");
  TlStatus status =
      tl_comm_rank(comm) == 0 && !o->resume && !tl_is_folder(call->argv[0]) /* refused later */
          ? tl_provenance_input(p, call->argv[0])
          : TL_OK;
  in_step = true;
  TL_TRY(tl_comm_agree(comm, status));
  TlRunOptions options = {.study = call->argv[0],
                          .sets = &o->sets,
                          .catalog = o->catalog,
                          .output = call->output,
                          .overwrite = call->overwrite,
                          .resume = o->resume,
                          .provenance = p,
                          .audit = o->audit,
                          .stop = take_wishes};
  TlRun run;
  status = tl_run_open(&run, comm, &options);
  if (status == TL_OK) status = go(&run, call);
  tl_run_close(&run);
  return tl_comm_agree(comm, status);
}

static const TlParamTable table = TL_PARAM_TABLE(params, Options);

static const TlTool tool = {
    .name = "talus-solve",
    .purpose = "Run a study by LS-DEM: grains on a terrain, between walls or in a laboratory test",
    .arguments = "STUDY.yaml | --resume STUDY.yaml|FOLDER",
    .description =
        "Starts alone or under mpirun on any number of ranks, with the same result.\n"
        "Contacts are solved by impulses, by springs (penalty) or as constraints at long steps\n"
        "(nonsmooth): key solver.method. Grains and terrain come from the catalog that the study\n"
        "names; --keys lists all keys. Results go into a folder: run.h5, a closed frame_NNNNNN.h5\n"
        "each, and history.csv and other tables, whose columns --columns lists; without -o it is\n"
        "the study's name with .run, in the current folder.\n"
        "The state is saved there every ten minutes (study section checkpoint), at the end, and\n"
        "when SIGTERM, SIGINT or SIGHUP ends the run after the step at hand (a second one, more\n"
        "than 1.5 s later, ends it at once); SIGUSR1 saves the state after the step at hand and "
        "the\n"
        "run continues. --resume continues from the newest whole checkpoint, with the same result "
        "as\n"
        "a run that was never stopped.",
    .example = "  talus-solve --dry-run config/hopper.yaml\n"
               "  talus-mpirun -n 2 talus-solve config/hopper.yaml -o hopper.run "
               "--set time.duration_s=0.1\n"
               "  talus-mpirun -n 2 talus-solve --resume hopper.run --set time.duration_s=0.2\n"
               "  talus-solve config/avalanche.yaml --catalog=out/catalog.tals -o avalanche.run "
               "--set contact.friction=0.4",
    .least_arguments = 0,
    .most_arguments = 1,
    .takes = TL_TAKES_OUTPUT | TL_OUTPUT_FOLDER | TL_TAKES_DRY_RUN | TL_TAKES_JSON,
    .options = &table,
    .run = solve,
    .study = &tl_setup_schema,
};

int main(int argc, char **argv) {
  signal(SIGUSR1, SIG_IGN); /* there is nothing to save before the first step; helpers inherit it */
  return tl_cli_ranks_main(&tool, &in_step, argc, argv);
}
