#include "solve/sweep.h"

#include "base/mem.h"
#include "base/par.h"

enum { COLOUR_FROM = 48 }; /* pairs of a colour worth sharing; smaller ones go to one thread */

/* Of one thread; a cache line of its own. */
typedef struct Mine {
  _Alignas(64) TlTally tally;
} Mine;

/* Where the sweeps are: sweep n of step k, at a colour. */
typedef struct Sweeping {
  const TlSweeps *sweeps;
  int last, most;
  int k, n;
  int32_t colour;
  bool team;
  int threads;
  int open;
  TlStatus status;
  Mine *mine; /* [threads] */
} Sweeping;

static int32_t colour_size(const TlGroup *g, int32_t colour) {
  return g->colour_start[colour + 1] - g->colour_start[colour];
}

static int32_t mean_colour(const TlGroup *g) {
  return g->colours ? g->colour_start[g->colours] / g->colours : 0;
}

static int32_t blocks_of(int32_t pairs) {
  return (pairs + TL_SWEEP_BLOCK - 1) / TL_SWEEP_BLOCK;
}

static void visit_block(void *context, int64_t block, int thread) {
  const Sweeping *w = context;
  const TlSweeps *s = w->sweeps;
  TlTally *mine = &w->mine[thread].tally;
  int32_t from = s->group->colour_start[w->colour] + (int32_t)block * TL_SWEEP_BLOCK,
          to = from + TL_SWEEP_BLOCK, end = s->group->colour_start[w->colour + 1];
  TlTally t = s->visit(s->walk, w->k, from, to < end ? to : end);
  mine->impulses += t.impulses;
  mine->open |= t.open;
  mine->most = tl_max(mine->most, t.most);
}

static void forward(Sweeping *w) {
  const TlSweeps *s = w->sweeps;
  if (!s->group->sync) return;
  w->status = tl_sync_forward(s->group->sync, s->values, s->value_size);
  if (s->arrived) s->arrived(s->walk);
}

/* To the start of the next sweep; false: there is none. */
static bool next_sweep(Sweeping *w) {
  w->open = 0;
  for (int i = 0; i < w->threads; i++) {
    w->open |= w->mine[i].tally.open;
    w->mine[i].tally.open = 0;
  }
  if (w->most > 1 && w->status == TL_OK) w->status = tl_sync_any(w->sweeps->group->sync, &w->open);
  if (w->status != TL_OK) return false;
  w->colour = 0;
  if (w->open && ++w->n < w->most) return true;
  w->n = 0;
  return ++w->k <= w->last;
}

/* From a colour that was visited to the next one; false: the sweeps are over. */
static bool step_on(Sweeping *w) {
  if (w->colour >= 0) forward(w);
  w->colour++;
  while (w->status == TL_OK && w->colour >= w->sweeps->group->colours)
    if (!next_sweep(w)) return false;
  return w->status == TL_OK;
}

/* On to the next colour that the team shares; those before it are done here. */
static int64_t next_colour(void *context) {
  Sweeping *w = context;
  const TlGroup *g = w->sweeps->group;
  while (step_on(w)) {
    int32_t pairs = colour_size(g, w->colour), blocks = blocks_of(pairs);
    if (w->team && pairs >= COLOUR_FROM) return blocks;
    for (int32_t b = 0; b < blocks; b++) visit_block(w, b, 0);
  }
  return 0;
}

TlStatus tl_sweeps_run(const TlSweeps *s, int first, int last, int most, TlTally *tally) {
  Mine one = {.tally = {0}}, *mine = &one;
  Sweeping w = {.sweeps = s, .k = first, .last = last, .most = most, .colour = -1, .threads = 1};
  tally->open = 0;
  w.team = tl_par_pays(mean_colour(s->group), s->pair_ns);
  if (w.team) {
    w.threads = tl_par_threads();
    TL_TRY(TL_NEW(mine, (size_t)w.threads));
  }
  w.mine = mine;
  TlParChain chain = {next_colour, visit_block, &w, s->group->sync != NULL};
  TlStatus status = tl_par_chain(&chain, w.team);
  for (int i = 0; i < w.threads; i++) {
    tally->impulses += mine[i].tally.impulses;
    tally->most = tl_max(tally->most, mine[i].tally.most);
  }
  tally->open = w.open;
  if (mine != &one) tl_free(mine);
  return status == TL_OK ? w.status : status;
}
