#include "base/comm.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/par.h"
#include "conf/cli.h"
#include "run/ensemble.h"
#include "run/plan.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct Options {
  char *catalog;
  TlTexts sets;
  int64_t block;
  bool resume;
} Options;

static const TlParam params[] = {
    {"catalog", TL_P_TEXT, offsetof(Options, catalog), "", "", 0, 0, NULL,
     "catalog to take terrain and shapes from, in place of the study's", "FILE"},
    {"set", TL_P_TEXTS, offsetof(Options, sets), "", "", 0, 0, NULL,
     "say a key of the study anew, e.g. ensemble.count=1000 (no value: leave the key out); may be "
     "given again and again",
     "[SECTION.]KEY=VALUE"},
    {"resume", TL_P_FLAG, offsetof(Options, resume), "", "false", 0, 0, NULL,
     "continue an ensemble that was stopped, with the same study and -o: blocks that are finished "
     "are not run again",
     NULL},
    {"block", TL_P_INT, offsetof(Options, block), "", "-1", -1, 1e15, NULL,
     "print the study of this block's release alone, for talus-solve, and stop; -1: run them all",
     NULL},
};

static bool in_step; /* the ranks ask each other how they fare from here on */

static TlStatus print_block(const TlRun *run, int64_t block) {
  char *study;
  TL_TRY(tl_ensemble_alone(run, block, &study));
  fputs(study, stdout);
  tl_free(study);
  return TL_OK;
}

static void say_plan(const TlEnsemble *e) {
  const TlSetup *s = &e->run.model->setup;
  int ranks = tl_comm_size(e->comm), threads = tl_par_threads();
  char together[64] = "";
  if (e->together > 1)
    snprintf(together, sizeof together, " in %lld releases of %lld", (long long)e->releases,
             (long long)e->together);
  tl_log_info("%lld blocks%s on %d rank%s of %d thread%s, each for at most %lld steps of %g s "
              "(%.4g s), frames every %g s, results in %s",
              (long long)e->count, together, ranks, ranks > 1 ? "s" : "", threads,
              threads > 1 ? "s" : "", (long long)e->steps, s->time.dt_s,
              (double)e->steps * s->time.dt_s, s->time.frame_every_s, e->run.folder);
}

/* ---- signals ---- */

/* A handler can reach nothing else, and call little more than write. */
static char last_words[512];

static void on_signal(int number) {
  ssize_t written = write(STDERR_FILENO, last_words, strlen(last_words));
  (void)written;
  signal(number, SIG_DFL);
  raise(number);
}

/* Who stops it is told that nothing which is finished is lost; it ends at once all the same. */
static void say_when_stopped(const TlEnsemble *e) {
  static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
  struct sigaction action = {.sa_handler = on_signal}, before;
  if (tl_comm_rank(e->comm) > 0) return;
  snprintf(last_words, sizeof last_words,
           "\ntalus-ensemble: stopped by a signal; parts of blocks that are finished stay in "
           "%.200s/blocks, and --resume with the same study and -o continues from them\n",
           e->run.folder);
  sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    sigaction(numbers[i], NULL, &before);
    if (before.sa_handler != SIG_IGN) sigaction(numbers[i], &action, NULL);
  }
}

/* By the first blocks; the releases take turns on the threads of all ranks. */
static TlStatus report_plan(TlEnsemble *e, bool json) {
  TlReport r = {0};
  double block_s;
  if (tl_comm_rank(e->comm) > 0) return TL_OK;
  TL_TRY(tl_ensemble_trial(e, &block_s));
  double side_by_side = fmin((double)e->threads * tl_comm_size(e->comm), (double)e->releases);
  double all_s = block_s * (double)e->count / side_by_side;
  int64_t frames = e->frame_steps > 0 ? e->steps / e->frame_steps + 2 : 2;
  TlStatus status = tl_report_text(&r, "output", e->run.folder);
  if (status == TL_OK && e->together > 1) status = tl_report_int(&r, "releases", e->releases, "");
  if (status == TL_OK) status = tl_report_int(&r, "blocks", e->count, "");
  if (status == TL_OK) status = tl_report_int(&r, "ranks", tl_comm_size(e->comm), "");
  if (status == TL_OK) status = tl_report_int(&r, "threads_per_rank", tl_par_threads(), "");
  if (status == TL_OK) status = tl_report_int(&r, "steps_of_a_block_at_most", e->steps, "");
  if (status == TL_OK) status = tl_report_int(&r, "frames_at_most", frames, "");
  if (status == TL_OK)
    status = tl_report_int(&r, "memory_of_paths_at_most",
                           frames * e->count * (int64_t)sizeof(TlBlockPose), "bytes");
  if (status == TL_OK) status = tl_report_real(&r, "time_of_a_block", block_s, "s");
  if (status == TL_OK) status = tl_report_real(&r, "time_about", all_s, "s");
  if (status == TL_OK) status = tl_report_print(&r, json);
  tl_report_free(&r);
  return status;
}

static TlStatus go(TlEnsemble *e, const TlCall *call) {
  TlReport r = {0};
  int64_t free_bytes;
  say_plan(e);
  TL_TRY(tl_run_check_disk(&e->run, &free_bytes));
  if (call->dry_run) return report_plan(e, call->json);
  say_when_stopped(e);
  TL_TRY(tl_ensemble_go(e));
  if (tl_comm_rank(e->comm) > 0) return TL_OK; /* rank 0 has the blocks of all */
  tl_ensemble_warn(e);
  TlStatus status = tl_ensemble_report(e, &r);
  if (status == TL_OK) status = tl_report_print(&r, call->json);
  tl_report_free(&r);
  return status;
}

static TlStatus ensemble(const TlCall *call) {
  const Options *o = call->values;
  TlComm *comm = tl_comm_world();
  TlEnsemble e;
  if (o->resume && call->overwrite)
    return tl_fail(TL_EUSAGE, "--resume continues results, --overwrite replaces them; choose one");
  if (!call->output && o->block < 0)
    return tl_fail(TL_EUSAGE, "-o says where the results go; see talus-ensemble --help");
  call->provenance->ranks = tl_comm_size(comm);
  TlStatus status = tl_comm_rank(comm) == 0 && !tl_is_folder(call->argv[0]) /* refused later */
                        ? tl_provenance_input(call->provenance, call->argv[0])
                        : TL_OK;
  in_step = true;
  TL_TRY(tl_comm_agree(comm, status));
  TlRunOptions options = {.study = call->argv[0],
                          .sets = &o->sets,
                          .catalog = o->catalog,
                          .output = call->output,
                          .overwrite = call->overwrite,
                          .ensemble = true,
                          .provenance = call->provenance};
  status = tl_ensemble_open(&e, comm, &options);
  e.run.options.resume = o->resume; /* of blocks, not of a run */
  if (status == TL_OK) status = o->block >= 0 ? print_block(&e.run, o->block) : go(&e, call);
  tl_ensemble_close(&e);
  return tl_comm_agree(comm, status);
}

static const TlParamTable table = TL_PARAM_TABLE(params, Options);

static const TlTool tool = {
    .name = "talus-ensemble",
    .purpose = "Release blocks, one by one or some together, each release alone: rockfall",
    .arguments = "STUDY.yaml",
    .description =
        "The study's section ensemble says how many releases there are and what varies from one "
        "to\n"
        "the next: place in the release area, orientation, volume, shape, velocity, density,\n"
        "ground (talus-solve --keys). A release is one block, or blocks_together of them,\n"
        "which hit each other; blocks of two releases never meet. A release runs until its blocks\n"
        "rest or have left the terrain, or the study's time is over. What it does follows from "
        "the\n"
        "seed and its number alone, for any number of releases, threads and ranks: the tool "
        "starts\n"
        "alone or under mpirun, with the results folder on a disk that all ranks see.\n"
        "Results go into one folder: those of a run whose body i is block i, for talus-measure,\n"
        "talus-report and talus-render, and blocks.csv with a line a block. Printed are counts,\n"
        "and the runout's mean and quantiles with their standard errors (of quantiles from the\n"
        "order of the values), over the blocks that started; of each number that is drawn from a\n"
        "range, how runout and energy depend on it.\n"
        "--dry-run runs some blocks, keeps nothing of them, and says how long all will take.\n"
        "An ensemble that was killed leaves its finished releases, from which --resume "
        "continues,\n"
        "on any number of ranks.",
    .example =
        "  talus-ensemble config/rockfall.yaml --catalog=out/catalog.tals --set ensemble.count=5 "
        "-o blocks.run\n"
        "  talus-ensemble --dry-run config/rockfall.yaml --catalog=out/catalog.tals -o dry.run\n"
        "  talus-ensemble config/rockfall.yaml --catalog=out/catalog.tals --block=7 > block-7.yaml",
    .least_arguments = 1,
    .most_arguments = 1,
    .takes = TL_TAKES_OUTPUT | TL_OUTPUT_FOLDER | TL_TAKES_DRY_RUN | TL_TAKES_JSON,
    .options = &table,
    .run = ensemble,
    .study = &tl_setup_schema,
};

int main(int argc, char **argv) {
  return tl_cli_ranks_main(&tool, &in_step, argc, argv);
}
