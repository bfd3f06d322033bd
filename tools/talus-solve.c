#include "base/comm.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/par.h"
#include "base/report.h"
#include "conf/cli.h"
#include "run/forecast.h"
#include "run/plan.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct Options {
  char *catalog;
  TlTexts sets;
  bool keys, resume;
} Options;

static const TlParam params[] = {
    {"catalog", TL_P_TEXT, offsetof(Options, catalog), "", "", 0, 0, NULL,
     "catalog to take grains and terrain from, in place of the study's", "FILE"},
    {"set", TL_P_TEXTS, offsetof(Options, sets), "", "", 0, 0, NULL,
     "say a key of the study anew, e.g. time.dt_s=5e-4 (no value: leave the key out); may be given "
     "again and again",
     "[SECTION.]KEY=VALUE"},
    {"resume", TL_P_FLAG, offsetof(Options, resume), "", "false", 0, 0, NULL,
     "go on from the newest whole checkpoint of a run that was stopped: STUDY is the study it "
     "began "
     "with, or its results folder",
     NULL},
    {"keys", TL_P_FLAG, offsetof(Options, keys), "", "false", 0, 0, NULL,
     "print the table of the study's keys and stop", NULL},
};

/* A signal handler can reach nothing else. */
static volatile sig_atomic_t signalled;

static void on_signal(int number) {
  (void)number;
  signalled = 1;
}

static int asked(void *unused) {
  (void)unused;
  return signalled;
}

static TlStatus print_keys(void) {
  char *table;
  TL_TRY(tl_study_table(&tl_setup_schema, &table));
  fputs(table, stdout);
  tl_free(table);
  return TL_OK;
}

static void say_plan(const TlRun *run) {
  const TlSetup *s = &run->setup;
  if (run->checkpoint) return; /* said already where it goes on */
  tl_log_info("%lld grains on %d rank%s of %d thread%s, %lld steps of %g s (%.4g s), frames every "
              "%g s, about %.0f MB on the largest rank, up to %.3g MB of results in %s",
              (long long)run->grains, tl_comm_size(run->comm),
              tl_comm_size(run->comm) > 1 ? "s" : "", tl_par_threads(),
              tl_par_threads() > 1 ? "s" : "", (long long)tl_setup_steps(s), s->time.dt_s,
              (double)tl_setup_steps(s) * s->time.dt_s, s->time.frame_every_s,
              (double)tl_run_memory(run) / 1e6, (double)tl_run_disk(run) / 1e6, run->folder);
  if (run->lifted_m > 1e-3 * run->selection.median_diameter_m)
    tl_log_info("the assembly was lifted by %.4g m to stand clear of the ground", run->lifted_m);
}

typedef struct Plan {
  int64_t disk, free_bytes;
  double step_s, left_s; /* wall time of a step, of all that are to be done */
} Plan;

static TlStatus report_plan(const TlRun *run, const Plan *plan, bool json) {
  TlReport r = {0};
  TlStatus status = tl_report_int(&r, "grains", run->grains, "");
  if (status == TL_OK) status = tl_report_int(&r, "ranks", tl_comm_size(run->comm), "");
  if (status == TL_OK) status = tl_report_int(&r, "steps", tl_setup_steps(&run->setup), "");
  if (status == TL_OK) status = tl_report_real(&r, "dt", run->setup.time.dt_s, "s");
  if (status == TL_OK)
    status = tl_report_real(&r, "grain_scale", run->setup.grains.grain_scale, "");
  if (status == TL_OK && run->selection.median_diameter_m > 0) /* bodies alone: nothing selected */
    status = tl_report_real(&r, "median_diameter",
                            run->setup.grains.grain_scale * run->selection.median_diameter_m, "m");
  if (status == TL_OK) status = tl_report_int(&r, "memory_estimate", tl_run_memory(run), "bytes");
  if (status == TL_OK) status = tl_report_int(&r, "disk_estimate", plan->disk, "bytes");
  if (status == TL_OK) status = tl_report_int(&r, "disk_free", plan->free_bytes, "bytes");
  if (status == TL_OK) status = tl_report_real(&r, "step_time", plan->step_s, "s");
  if (status == TL_OK) status = tl_report_real(&r, "time_estimate", plan->left_s, "s");
  if (status == TL_OK) status = tl_report_text(&r, "output", run->folder);
  if (status == TL_OK) status = tl_report_print(&r, json);
  tl_report_free(&r);
  return status;
}

/* The first steps without output: grains in flight are cheap, so it is a lower guess. */
static TlStatus try_out(TlRun *run, int64_t free_bytes, bool json) {
  Plan plan = {.disk = tl_run_disk(run), .free_bytes = free_bytes};
  int64_t left = tl_setup_steps(&run->setup) - run->totals.steps;
  char text[32];
  TL_TRY(tl_run_trial(run, &plan.step_s));
  plan.left_s = plan.step_s * (double)left;
  tl_forecast_text(text, plan.left_s);
  tl_log_info("%.3g s a step in the first ones, about %s for all", plan.step_s, text);
  return report_plan(run, &plan, json);
}

typedef struct Line {
  const char *name, *unit;
  double value;
} Line;

static TlStatus report_run(const TlRun *run, uint64_t hash, bool json) {
  const TlRunTotals *t = &run->totals;
  double steps = t->steps > 0 ? (double)t->steps : 1;
  const Line lines[] = {
      {"grain_scale", "", run->setup.grains.grain_scale},
      {"time", "s", (double)t->steps * run->setup.time.dt_s},
      {"wall", "s", t->wall_s},
      {"cpu_per_step", "s", t->cpu_s / steps},
      {"kinetic_energy_start", "J", t->kinetic_start_J},
      {"kinetic_energy", "J", t->kinetic_J},
      {"potential_energy_change", "J", t->potential_J - t->potential_start_J},
      {"deepest_overlap", "m", t->overlap_m},
      {"deepest_overlap_share", "", t->overlap_share},
      {"deepest_boundary_overlap_share", "", t->boundary_overlap_share},
      {"final_overlap_share", "", t->last.overlap_share},
      {"final_boundary_overlap_share", "", t->last.boundary_overlap_share},
  };
  const struct {
    const char *name;
    int64_t value;
  } counts[] = {{"grains", run->grains},
                {"steps", t->steps},
                {"frames", t->frames},
                {"grains_outside", t->outside},
                {"grains_poor", t->poor},
                {"grains_jammed", t->jammed},
                {"contacts", t->last.contacts},
                {"islands", t->last.islands},
                {"impulses", t->impulses},
                {"islands_finished_without_restitution", t->zero_finishes},
                {"islands_unfinished", t->unfinished}};
  char state[24];
  TlReport r = {0};
  snprintf(state, sizeof state, "%016llx", (unsigned long long)hash);
  TlStatus status = tl_report_text(&r, "output", run->folder);
  if (status == TL_OK) status = tl_report_text(&r, "state_hash", state);
  for (size_t i = 0; status == TL_OK && i < sizeof counts / sizeof *counts; i++)
    status = tl_report_int(&r, counts[i].name, counts[i].value, "");
  for (size_t i = 0; status == TL_OK && i < sizeof lines / sizeof *lines; i++)
    status = tl_report_real(&r, lines[i].name, lines[i].value, lines[i].unit);
  if (status == TL_OK) status = tl_report_print(&r, json);
  tl_report_free(&r);
  return status;
}

static void catch_signals(void) {
  struct sigaction action = {.sa_handler = on_signal};
  sigemptyset(&action.sa_mask);
  sigaction(SIGTERM, &action, NULL);
  sigaction(SIGINT, &action, NULL);
}

static TlStatus go(TlRun *run, const TlCall *call) {
  int64_t free_bytes;
  say_plan(run);
  TL_TRY(tl_run_check_disk(run, &free_bytes));
  if (call->dry_run) return try_out(run, free_bytes, call->json);
  catch_signals();
  TL_TRY(tl_run_go(run));
  if (run->totals.zero_finishes)
    tl_log_warn("%lld times an island was finished with restitution 0 (solver.max_rounds)",
                (long long)run->totals.zero_finishes);
  uint64_t hash;
  TL_TRY(tl_run_hash(run, &hash));
  return report_run(run, hash, call->json);
}

/* The ranks ask each other how they fare from here on; what fails before fails on one alone, but
 * for wrong usage, which all of them see. */
static bool in_step;

static TlStatus solve(const TlCall *call) {
  const Options *o = call->values;
  TlComm *comm = tl_comm_world();
  if (o->keys) return print_keys();
  if (call->argc != 1) return tl_fail(TL_EUSAGE, "one study is wanted; see talus-solve --help");
  TlProvenance *p = call->provenance;
  p->ranks = tl_comm_size(comm);
  if (o->resume && call->overwrite)
    return tl_fail(TL_EUSAGE,
                   "--resume goes on with results, --overwrite replaces them; choose one");
  TlStatus status =
      tl_comm_rank(comm) == 0 && !o->resume ? tl_provenance_input(p, call->argv[0]) : TL_OK;
  in_step = true;
  TL_TRY(tl_comm_agree(comm, status));
  TlRunOptions options = {.study = call->argv[0],
                          .sets = &o->sets,
                          .catalog = o->catalog,
                          .output = call->output,
                          .overwrite = call->overwrite,
                          .resume = o->resume,
                          .provenance = p,
                          .stop = asked};
  TlRun run;
  status = tl_run_open(&run, comm, &options);
  if (status == TL_OK) status = go(&run, call);
  tl_run_close(&run);
  return tl_comm_agree(comm, status);
}

static const TlTool tool = {
    .name = "talus-solve",
    .purpose = "Run a study: grains of a catalog on a terrain or between planes, impulse LS-DEM",
    .arguments = "STUDY.yaml | --resume STUDY.yaml|FOLDER",
    .description =
        "Starts alone or under mpirun on any number of ranks, with the same result.\n"
        "Grains and terrain come from the catalog that the study names (docs/study.md lists\n"
        "the keys). Results go into a folder: run.h5, a closed frame_NNNNNN.h5 each, and\n"
        "history.csv (docs/results.md); without -o it is the study's name with .run,\n"
        "in the current folder.\n"
        "The state is saved there every ten minutes (study section checkpoint), at the end, and\n"
        "when SIGTERM or SIGINT ends the run after the step at hand; --resume goes on from the\n"
        "newest whole checkpoint, with the same result as a run that was never stopped.",
    .example = "  talus-solve --dry-run config/avalanche.yaml\n"
               "  talus-mpirun -n 4 talus-solve config/avalanche.yaml -o avalanche.run\n"
               "  talus-mpirun -n 4 talus-solve --resume avalanche.run\n"
               "  talus-solve drop.yaml --set time.dt_s=5e-4 --set contact.friction=0.3",
    .least_arguments = 0,
    .most_arguments = 1,
    .takes = TL_TAKES_OUTPUT | TL_OUTPUT_FOLDER | TL_TAKES_DRY_RUN | TL_TAKES_JSON,
    .params = params,
    .param_count = sizeof params / sizeof *params,
    .values_size = sizeof(Options),
    .run = solve,
};

/* Ranks of a machine share its cores, unless the user or OMP_NUM_THREADS says otherwise. */
static void share_cores(const TlComm *comm) {
  if (getenv("OMP_NUM_THREADS")) return;
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  int threads = (int)cores / tl_comm_node_size(comm);
  tl_par_set_threads(threads > 1 ? threads : 1);
}

int main(int argc, char **argv) {
  TlComm *comm = NULL;
  tl_log_set("talus-solve", TL_LOG_INFO);
  if (tl_comm_start(&comm, &argc, &argv) != TL_OK) {
    tl_log_error("%s", tl_message());
    return 1;
  }
  share_cores(comm);
  int code = tl_cli_main(&tool, argc, argv);
  if (code == 1 && !in_step) tl_comm_abort(comm);
  tl_comm_stop(comm);
  return code;
}
