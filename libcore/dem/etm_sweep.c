#include "dem/etm_sweep.h"

#include "base/par.h"

enum {
  PAIR_NS = 500,   /* a visit to a pair, about: a team meets after each colour, so one has to pay */
  COLOUR_FROM = 48 /* pairs of a colour worth sharing; smaller ones go to one thread */
};

/* What the team shares. */
typedef struct Team {
  const TlSweeps *sweeps;
  int open[2]; /* of the even and the odd sweeps */
  TlStatus status;
} Team;

static int32_t colour_size(const TlGroup *g, int32_t colour) {
  return g->colour_start[colour + 1] - g->colour_start[colour];
}

static int32_t mean_colour(const TlGroup *g) {
  return g->colours ? g->colour_start[g->colours] / g->colours : 0;
}

/* Colours [colour, result) are done before the next barrier: one large, or a run of small ones;
 * with ghosts always one, since they must hear of it. */
static int32_t stretch_end(const TlGroup *g, int32_t colour) {
  int32_t end = colour + 1;
  if (g->sync || colour_size(g, colour) >= COLOUR_FROM) return end;
  while (end < g->colours && colour_size(g, end) < COLOUR_FROM) end++;
  return end;
}

static int32_t blocks_of(int32_t pairs) {
  return (pairs + TL_SWEEP_BLOCK - 1) / TL_SWEEP_BLOCK;
}

static void visit_block(const TlSweeps *s, int k, int32_t colour, int32_t block, TlTally *mine) {
  int32_t from = s->group->colour_start[colour] + block * TL_SWEEP_BLOCK,
          to = from + TL_SWEEP_BLOCK, end = s->group->colour_start[colour + 1];
  TlTally t = s->visit(s->walk, k, from, to < end ? to : end);
  mine->impulses += t.impulses;
  mine->open |= t.open;
}

/* One sweep; every thread of the team calls it. */
static void sweep_once(Team *team, int k, TlTally *mine) {
  const TlSweeps *s = team->sweeps;
  const TlGroup *g = s->group;
  for (int32_t colour = 0, next; colour < g->colours; colour = next) {
    next = stretch_end(g, colour);
    if (next == colour + 1 && colour_size(g, colour) >= COLOUR_FROM) {
      int32_t blocks = blocks_of(colour_size(g, colour));
#pragma omp for schedule(static)
      for (int32_t b = 0; b < blocks; b++) visit_block(s, k, colour, b, mine);
    } else {
#pragma omp single
      for (int32_t c = colour; c < next; c++)
        for (int32_t b = 0; b < blocks_of(colour_size(g, c)); b++) visit_block(s, k, c, b, mine);
    }
    if (!g->sync) continue;
#pragma omp master
    {
      if (team->status == TL_OK) team->status = tl_sync_forward(g->sync, s->values, s->value_size);
      if (s->arrived) s->arrived(s->walk);
    }
#pragma omp barrier
  }
}

/* Did sweep `number` change anything, on any thread or rank? */
static int still_open(Team *team, int number, const TlTally *mine) {
  int *open = &team->open[number & 1];
#pragma omp atomic
  *open |= mine->open;
#pragma omp barrier
#pragma omp master
  {
    if (team->status == TL_OK) team->status = tl_sync_any(team->sweeps->group->sync, open);
    if (team->status != TL_OK) *open = 0; /* all threads leave */
    team->open[(number + 1) & 1] = 0;
  }
#pragma omp barrier
  return *open;
}

static void run_team(Team *team, int first, int last, int most, TlTally *sum) {
  TlTally mine = {0};
  int open = 0, number = 0;
  for (int k = first; k <= last; k++)
    for (int n = 0; n < most; n++) {
      mine.open = 0;
      sweep_once(team, k, &mine);
      open = most > 1 ? still_open(team, number++, &mine) : mine.open;
      if (!open) break;
    }
#pragma omp atomic
  sum->impulses += mine.impulses;
#pragma omp atomic
  sum->open |= open;
}

TlStatus tl_sweeps_run(const TlSweeps *s, int first, int last, int most, TlTally *tally) {
  Team team = {.sweeps = s};
  tally->open = 0;
  /* A region of its own also for a small group: it may be visited from inside another team, and
   * the loops and barriers above must not bind to that one. */
#pragma omp parallel if (tl_par_pays(mean_colour(s->group), PAIR_NS))
  run_team(&team, first, last, most, tally);
  return team.status;
}
