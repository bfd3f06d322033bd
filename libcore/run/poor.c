#include "run/poor.h"

#include "base/log.h"
#include "base/mem.h"

#include <stdio.h>

static void name_other(const TlPoorRow *row, char *text, size_t size) {
  if (row->other >= 0)
    snprintf(text, size, "grain %lld (avatar %lld)", (long long)row->other,
             (long long)row->other_avatar);
  else
    snprintf(text, size, "boundary %lld", (long long)(-1 - row->other));
}

static TlStatus stop(const TlRun *run, int64_t step) {
  int64_t count;
  const TlPoorRow *row = tl_solver_poor(run->solver, &count);
  char other[80];
  if (count == 0) return TL_OK;
  name_other(row, other, sizeof other);
  return tl_fail(
      TL_EINPUT,
      "%s: grain %lld (avatar %lld) lies %.3g m (%.0f%% of the smaller radius) deep in %s in step "
      "%lld%s, and nothing moves it out: look at both shapes and where they start; leave "
      "one out, or poor: {action: drop} or {action: freeze}",
      run->options.study, (long long)row->grain, (long long)row->avatar, row->overlap_m,
      100 * row->share, other, (long long)step,
      row->inside ? ", the centre of one inside the other" : "");
}

static void say(const TlRun *run, int64_t step) {
  int64_t count;
  const TlPoorRow *row = tl_solver_poor(run->solver, &count);
  char other[80];
  for (int64_t i = 0; i < count; i++) {
    name_other(&row[i], other, sizeof other);
    tl_log_warn("step %lld: grain %lld (avatar %lld) cannot be brought out of %s (%.0f%% of the "
                "smaller radius): %s",
                (long long)step, (long long)row[i].grain, (long long)row[i].avatar, other,
                100 * row[i].share,
                run->setup.poor.action == TL_POOR_DROP ? "taken out" : "frozen");
  }
}

static void freeze(TlBodies *b) {
  for (int64_t i = 0; i < b->owned; i++) {
    if (!(b->flags[i] & TL_BODY_POOR)) continue;
    b->flags[i] |= TL_BODY_FROZEN;
    b->velocity[i] = b->momentum[i] = tl_vec3(0, 0, 0);
  }
}

static TlStatus take_out(TlBodies *b) {
  unsigned char *keep;
  TL_TRY(TL_NEW(keep, (size_t)b->owned));
  for (int64_t i = 0; i < b->owned; i++) keep[i] = !(b->flags[i] & TL_BODY_POOR);
  tl_bodies_drop_ghosts(b);
  TlStatus status = tl_bodies_keep(b, keep);
  tl_free(keep);
  return status;
}

TlStatus tl_run_handle_poor(TlRun *run, int64_t step) {
  int64_t found = run->totals.last.poor;
  if (found == 0) return TL_OK;
  run->totals.poor += found;
  if (run->setup.poor.action == TL_POOR_STOP) return tl_comm_agree(run->comm, stop(run, step));
  say(run, step);
  if (run->setup.poor.action == TL_POOR_DROP)
    return tl_comm_agree(run->comm, take_out(&run->bodies));
  freeze(&run->bodies);
  return TL_OK;
}
