#include "run/step_problems.h"

#include "run/run.h"
#include "solve/nonsmooth_record.h"
#include "store/results_tables.h"

TlStatus tl_step_problem_write(const char *path, int64_t step, double time_s,
                               const TlNsProblem *problem) {
  TlTable table[TL_NS_LISTS];
  if (problem->joints > 0)
    return tl_fail(TL_EUSAGE,
                   "step %lld: a problem with joints cannot be written to a file: set "
                   "nonsmooth.problems_every_s to 0",
                   (long long)step);
  for (int i = 0; i < TL_NS_LISTS; i++) {
    table[i].record = &tl_ns_record[i];
    table[i].rows = tl_ns_rows(problem, (TlNsList)i, &table[i].count);
  }
  return tl_results_write_tables(path, "talus problem", step, time_s, table, TL_NS_LISTS);
}

TlStatus tl_step_problems_check(const TlRun *run) {
  const TlSetup *s = &run->model->setup;
  static const char key[] = "nonsmooth.problems_every_s";
  if (s->solver.method != TL_NONSMOOTH || !(s->nonsmooth.problems_every_s > 0)) return TL_OK;
  if (s->joints.count > 0 || tl_setup_apparatus(s))
    return tl_study_fail(&run->model->study, TL_EINPUT, key,
                         "a problem with joints%s cannot be written to a file: set it to 0",
                         s->joints.count > 0 ? "" : ", as the platen's,");
  if (tl_comm_size(run->comm) > 1)
    return tl_study_fail(&run->model->study, TL_EINPUT, key,
                         "problems of steps are written by one rank alone, and this run has %d: "
                         "set it to 0, or start one rank",
                         tl_comm_size(run->comm));
  return TL_OK;
}

/* In the middle of a step, which counts when it is over. */
static TlStatus take(void *context, const TlNsProblem *problem) {
  const TlRun *run = context;
  int64_t step = run->state->totals.steps + 1;
  if (tl_comm_size(run->comm) > 1)
    return tl_fail(TL_EUSAGE, "problems of steps are written by one rank alone: set "
                              "nonsmooth.problems_every_s to 0");
  char *path = tl_results_problem_path(run->folder, step);
  if (!path) return TL_ENOMEM;
  double dt = run->model->setup.time.dt_s;
  TlStatus status = tl_step_problem_write(path, step, (double)step * dt, problem);
  tl_free(path);
  return status;
}

void tl_step_problems_watch(TlRun *run) {
  double every = run->model->dem->nonsmooth.problems_every_s;
  int64_t step = run->state->totals.steps + 1;
  bool due =
      every > 0 && !run->options.no_output && step % tl_setup_every(&run->model->setup, every) == 0;
  tl_workspace_problems(run->work, (TlProblemSink){due ? take : NULL, run});
}
