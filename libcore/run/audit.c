#include "run/audit.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/outfile.h"

#include <stdio.h>

static const struct {
  const char *name, *unit;
} phases[] = {
#define P(id, name, unit, ...) {#name, unit},
    TL_AUDIT_PHASES(P)
#undef P
};

static void spent(void *context, TlAuditCost *cost) {
  const TlRun *run = context;
  TlCommCounters c = tl_comm_counters(run->comm);
  *cost = (TlAuditCost){.seconds = tl_clock_s(),
                        .messages = c.messages,
                        .message_bytes = c.message_bytes,
                        .collectives = c.collectives,
                        .received_bytes = c.received_bytes,
                        .supersteps = c.supersteps};
}

TlStatus tl_run_audit_start(TlRun *run) {
  if (!run->options.audit) return TL_OK;
  TL_TRY(TL_NEW(run->audit, 1));
  *run->audit = (TlAudit){.spent = spent, .context = run, .now = TL_AUDIT_OUTPUT};
  spent(run, &run->audit->mark);
  run->audited_from = run->state->totals.steps;
  tl_workspace_audit(run->work, run->audit);
  return TL_OK;
}

static TlStatus write_table(const TlRun *run, const TlAuditCost *cost, int ranks, int64_t steps) {
  TlOutFile out;
  TL_TRY(tl_outfile_begin(&out, run->options.audit, run->options.overwrite));
  FILE *file = fopen(out.temp, "w");
  if (!file) {
    TlStatus status = tl_fail_errno(run->options.audit, "cannot write");
    tl_outfile_abort(&out);
    return status;
  }
  fputs("rank,phase,steps,work,work_unit,seconds,messages,message_bytes,collectives,received_bytes,"
        "supersteps\n",
        file);
  for (int r = 0; r < ranks; r++)
    for (int p = 0; p < TL_AUDIT_COUNT; p++) {
      const TlAuditCost *c = &cost[r * TL_AUDIT_COUNT + p];
      fprintf(file, "%d,%s,%lld,%lld,%s,%.6g,%lld,%lld,%lld,%lld,%lld\n", r, phases[p].name,
              (long long)steps, (long long)c->work, phases[p].unit, c->seconds,
              (long long)c->messages, (long long)c->message_bytes, (long long)c->collectives,
              (long long)c->received_bytes, (long long)c->supersteps);
    }
  bool bad = ferror(file) != 0;
  bad = fclose(file) != 0 || bad;
  if (!bad) return tl_outfile_commit(&out);
  TlStatus status = tl_fail_errno(run->options.audit, "cannot write");
  tl_outfile_abort(&out);
  return status;
}

/* Most and mean over the ranks, a step. */
static void say(const TlAuditCost *cost, int ranks, int64_t steps) {
  double n = steps > 0 ? (double)steps : 1;
  for (int p = 0; p < TL_AUDIT_COUNT; p++) {
    TlAuditCost most = {0}, sum = {0};
    for (int r = 0; r < ranks; r++) {
      const TlAuditCost *c = &cost[r * TL_AUDIT_COUNT + p];
      sum.work += c->work;
      sum.messages += c->messages;
      sum.message_bytes += c->message_bytes;
      sum.supersteps += c->supersteps;
      if (c->work > most.work) most.work = c->work;
      if (c->messages > most.messages) most.messages = c->messages;
      if (c->message_bytes > most.message_bytes) most.message_bytes = c->message_bytes;
      if (c->collectives > most.collectives) most.collectives = c->collectives;
      if (c->supersteps > most.supersteps) most.supersteps = c->supersteps;
    }
    tl_log_info("audit, a step, most of a rank (mean): %-10s %.4g (%.4g) %s, %.3g (%.3g) messages, "
                "%.4g (%.4g) bytes, %.3g collectives, %.3g (%.3g) supersteps",
                phases[p].name, (double)most.work / n, (double)sum.work / n / ranks, phases[p].unit,
                (double)most.messages / n, (double)sum.messages / n / ranks,
                (double)most.message_bytes / n, (double)sum.message_bytes / n / ranks,
                (double)most.collectives / n, (double)most.supersteps / n,
                (double)sum.supersteps / n / ranks);
  }
}

TlStatus tl_run_audit_write(TlRun *run) {
  int ranks = tl_comm_size(run->comm);
  int64_t steps = run->state->totals.steps - run->audited_from;
  TlAuditCost *all;
  if (!run->audit) return TL_OK;
  tl_audit_enter(run->audit, TL_AUDIT_OUTPUT);
  TL_TRY(tl_comm_agree(run->comm, TL_NEW(all, (size_t)(ranks * TL_AUDIT_COUNT))));
  TlStatus status = tl_comm_gather_all(run->comm, run->audit->phase, all, sizeof run->audit->phase);
  if (status == TL_OK && tl_comm_rank(run->comm) == 0) {
    status = write_table(run, all, ranks, steps);
    say(all, ranks, steps);
  }
  tl_free(all);
  return tl_comm_agree(run->comm, status);
}
