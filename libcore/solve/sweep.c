#include "solve/sweep.h"

#include "base/mem.h"
#include "base/par.h"
#include "solve/share.h"

enum { PHASE_FROM = 48 }; /* pairs of a phase worth sharing; smaller ones go to one thread */
/* Ranks ask whether a sweep changed nothing after the first one, then after every ASK_EVERY-th, and
 * have the answer ASK_LATE sweeps later. */
enum { ASK_EVERY = 4, ASK_LATE = 2 };

/* Of one thread; a cache line of its own. */
typedef struct Mine {
  _Alignas(64) TlTally tally;
} Mine;

/* Where the sweeps are: n of step k are done, and the next one is at a phase. */
typedef struct Sweeping {
  const TlSweeps *sweeps;
  int last, most;
  int k, n, asked; /* asked: after that sweep; 0: no question is under way */
  int32_t phase;
  bool team;
  int threads;
  int open;
  TlStatus status;
  Mine *mine; /* [threads] */
} Sweeping;

static int32_t cells_of(const TlGroup *g, int32_t phase) {
  return g->phase_start[phase + 1] - g->phase_start[phase];
}

static int32_t pairs_of(const TlGroup *g, int32_t phase) {
  return g->cell_start[g->phase_start[phase + 1]] - g->cell_start[g->phase_start[phase]];
}

static int32_t largest_phase(const TlGroup *g) {
  int32_t most = 0;
  for (int32_t p = 0; p < g->phases; p++)
    if (cells_of(g, p) > 1 && pairs_of(g, p) > most) most = pairs_of(g, p);
  return most;
}

static void visit_cell(void *context, int64_t cell, int thread) {
  const Sweeping *w = context;
  const TlSweeps *s = w->sweeps;
  const TlGroup *g = s->group;
  TlTally *mine = &w->mine[thread].tally;
  const int32_t *start = &g->cell_start[g->phase_start[w->phase] + cell];
  TlTally t = s->visit(s->walk, w->k, start[0], start[1]);
  mine->impulses += t.impulses;
  mine->open |= t.open;
  mine->most = tl_max(mine->most, t.most);
}

static void hand_on(Sweeping *w) {
  const TlSweeps *s = w->sweeps;
  if (!s->group->share || !s->values) return;
  w->status =
      tl_share_hand_on(s->group->share, w->phase, s->values, s->value_size, s->arrived, s->walk);
}

/* Did the last sweep change nothing, as far as is known by now? Alone that is known at once. */
static bool known_quiet(Sweeping *w) {
  const TlGroup *g = w->sweeps->group;
  if (w->most == 1 || !g->share) return !w->open;
  const TlSync *sync = tl_share_sync(g->share);
  double flag = 0;
  if (w->asked > 0 && w->n == w->asked + ASK_LATE) {
    w->asked = 0;
    w->status = tl_sync_least_end(sync, &flag, 1);
    if (w->status != TL_OK || flag == 0) return w->open = 0, true;
  }
  if (w->n == w->most) {
    if (w->asked > 0) w->status = tl_sync_least_end(sync, &flag, 1);
    w->asked = 0;
    if (w->status == TL_OK) w->status = tl_sync_any(sync, &w->open);
  } else if ((w->n - 1) % ASK_EVERY == 0) {
    flag = w->open ? -1 : 0;
    w->asked = w->n;
    w->status = tl_sync_least_begin(sync, &flag, 1);
  }
  return w->status != TL_OK;
}

/* To the start of the next sweep; false: there is none. */
static bool next_sweep(Sweeping *w) {
  w->open = 0;
  for (int i = 0; i < w->threads; i++) {
    w->open |= w->mine[i].tally.open;
    w->mine[i].tally.open = 0;
  }
  w->phase = 0;
  w->n++;
  bool quiet = known_quiet(w);
  if (w->status != TL_OK) return false;
  if (!quiet && w->n < w->most) return true;
  w->n = 0;
  return ++w->k <= w->last;
}

/* From a phase that was visited to the next one; false: the sweeps are over. */
static bool step_on(Sweeping *w) {
  if (w->phase >= 0) hand_on(w);
  w->phase++;
  while (w->status == TL_OK && w->phase >= w->sweeps->group->phases)
    if (!next_sweep(w)) return false;
  return w->status == TL_OK;
}

/* On to the next phase that the team shares; those before it are done here. */
static int64_t next_phase(void *context) {
  Sweeping *w = context;
  const TlGroup *g = w->sweeps->group;
  while (step_on(w)) {
    int32_t cells = cells_of(g, w->phase);
    if (w->team && cells > 1 && pairs_of(g, w->phase) >= PHASE_FROM) return cells;
    for (int32_t c = 0; c < cells; c++) visit_cell(w, c, 0);
  }
  return 0;
}

TlStatus tl_sweeps_run(const TlSweeps *s, int first, int last, int most, TlTally *tally) {
  Mine one = {.tally = {0}}, *mine = &one;
  Sweeping w = {.sweeps = s, .k = first, .last = last, .most = most, .phase = -1, .threads = 1};
  tally->open = 0;
  if (s->group->phases == 0) return TL_OK;
  w.team = tl_par_pays(largest_phase(s->group), s->pair_ns);
  if (w.team) {
    w.threads = tl_par_threads();
    TL_TRY(TL_NEW(mine, (size_t)w.threads));
  }
  w.mine = mine;
  TlParChain chain = {next_phase, visit_cell, &w, s->group->share != NULL};
  TlStatus status = tl_par_chain(&chain, w.team);
  for (int i = 0; i < w.threads; i++) {
    tally->impulses += mine[i].tally.impulses;
    tally->most = tl_max(tally->most, mine[i].tally.most);
  }
  tally->open = w.open;
  if (mine != &one) tl_free(mine);
  return status == TL_OK ? w.status : status;
}
