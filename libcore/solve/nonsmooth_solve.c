#include "solve/nonsmooth_solve.h"

#include "solve/asking.h"
#include "solve/beyond.h"
#include "solve/sweep.h"

#include <math.h>
#include <string.h>

static const double VISIT_NS = 100;  /* of a sweep to a pair, about */
static const double PATCH_NS = 3000; /* work on a pair of an island, about */

typedef struct Walk {
  const TlNsRows *r;
  const TlGroup *group;
  int32_t first_pair, first_island; /* of the group, among those of all groups */
  bool impact;
  const double *open; /* [islands of the group] 0: left alone */
  bool compares;      /* this sweep is one of those that tell how to move on */
  TlBeyond beyond;
} Walk;

/* What a cell has, with the rows that the stage asks for; the number of the range among all. */
typedef void (*RangeVisit)(const Walk *w, const TlNsRange *range, int32_t number);

static TlTally visit_cell(const Walk *w, int32_t from, int32_t to, RangeVisit visit) {
  const int32_t *at = w->r->range_at + w->first_pair;
  for (int32_t i = at[from]; i < at[to]; i++) {
    TlNsRange range = w->r->range[i];
    if (w->open[range.island - w->first_island] == 0) continue;
    if (w->impact) range.last_bond = range.first_bond;
    visit(w, &range, i);
  }
  return (TlTally){0};
}

static void warm_range(const Walk *w, const TlNsRange *range, int32_t number) {
  (void)number;
  tl_nonsmooth_warm(&w->r->problem, range);
}
static TlTally visit_warm(const void *walk, int k, int32_t from, int32_t to) {
  (void)k;
  return visit_cell(walk, from, to, warm_range);
}

static void sweep_range(const Walk *w, const TlNsRange *range, int32_t number) {
  const TlNsProblem *q = &w->r->problem;
  if (w->compares) tl_nonsmooth_note(q, range);
  w->r->change[number] = tl_nonsmooth_sweep(q, range);
  if (!w->compares) return;
  TlNsChange change = tl_nonsmooth_compare(q, range);
  tl_beyond_compared(&w->r->product[TL_PRODUCTS * number], change.square, change.with_last);
}
static TlTally visit_sweep(const void *walk, int k, int32_t from, int32_t to) {
  (void)k;
  return visit_cell(walk, from, to, sweep_range);
}

static void further_range(const Walk *w, const TlNsRange *range, int32_t number) {
  int32_t island = range->island - w->first_island;
  double beta = w->beyond.beta[island];
  (void)number;
  if (beta > 0) tl_nonsmooth_further(&w->r->problem, range, beta, w->beyond.went[island] > 0);
}
static TlTally visit_further(const void *walk, int k, int32_t from, int32_t to) {
  (void)k;
  return visit_cell(walk, from, to, further_range);
}

static TlStatus once(const Walk *w, TlPairsVisit visit) {
  const TlGroup *g = w->group;
  if (!g->share && g->phase_start[g->phases] == 1) { /* one cell: nobody to meet */
    visit(w, 0, 0, g->pairs);
    return TL_OK;
  }
  TlNsBody *body = w->r->problem.body;
  TlSweeps sweeps = {g, body, sizeof *body, NULL, visit, w, VISIT_NS};
  TlTally tally = {0};
  return tl_sweeps_run(&sweeps, 0, 0, 1, &tally);
}

/* Of the last sweep, of the islands that are open: largest changes, negative. */
static void take_changes(const Walk *w, int32_t group, double *change) {
  const TlNsRows *r = w->r;
  for (int32_t i = 0; i < w->group->islands; i++)
    if (w->open[i] != 0) change[i] = 0;
  for (int32_t i = r->group_range[group]; i < r->group_range[group + 1]; i++) {
    int32_t island = r->range[i].island - w->first_island;
    if (w->open[island] != 0) change[island] = fmin(change[island], -sqrt(r->change[i]));
  }
}

/* How far each island moves on; not before its last two sweeps. */
static TlStatus choose_beta(Walk *w, int32_t group, int sweeps) {
  const TlNsRows *r = w->r;
  tl_beyond_clear(&w->beyond);
  for (int32_t i = r->group_range[group]; i < r->group_range[group + 1]; i++) {
    int32_t island = r->range[i].island - w->first_island;
    if (w->open[island] != 0) tl_beyond_add(&w->beyond, island, &r->product[TL_PRODUCTS * i]);
  }
  TL_TRY(tl_beyond_choose(&w->beyond, sweeps));
  for (int32_t i = 0; i < w->group->islands; i++)
    if (tl_beyond_settles(sweeps, w->open[i])) w->beyond.beta[i] = 0;
  return TL_OK;
}

/* Of the lowest threshold of what impacts: contacts below it are the continuous stage's anyway, so the impact stage need
 * not be more exact. */
static const double BLOW_FRACTION = 0.01;

/* A sweep that changes no velocity by more is the last. */
static double settled_m_s(const TlNsStage *stage, const TlNsIsland *island) {
  if (stage->tolerance < 0) return -1;
  double most = stage->tolerance * island->force_m_s;
  bool rough = stage->impact && stage->tolerance > 0;
  return rough ? tl_max(most, BLOW_FRACTION * island->threshold_m_s) : most;
}

TlStatus tl_nonsmooth_solve(const TlNsRows *r, int32_t group, const TlNsStage *stage,
                            TlNsCount *count) {
  const TlGroup *g = &r->groups.group[group];
  const TlNsIsland *island = &r->island[r->first_island[group]];
  double *open = g->scratch, *change = open + g->islands, *values = change + g->islands;
  Walk w = {.r = r,
            .group = g,
            .first_pair = (int32_t)(g->pair - r->groups.pair),
            .first_island = r->first_island[group],
            .impact = stage->impact,
            .open = open};
  bool beyond = r->problem.before.point != NULL;
  if (beyond) w.beyond = tl_beyond_start(g, r->problem.more.point != NULL);
  TlAsking asking = {.group = g, .values = values, .most = 0, .asked = -1};
  int32_t left = 0;
  for (int32_t i = 0; i < g->islands; i++) {
    int most = stage->iterations > 0 ? stage->iterations : island[i].iterations;
    bool asked = !stage->impact || island[i].impacts;
    count[i] = (TlNsCount){0};
    change[i] = values[i] = 0;
    open[i] = asked && most > 0 ? most : 0;
    left += open[i] > 0;
    if (open[i] > asking.most) asking.most = (int)open[i];
  }
  if (left == 0) return TL_OK;
  if (!stage->impact) TL_TRY(once(&w, visit_warm));
  for (int sweeps = 1; left > 0; sweeps++) {
    bool answered;
    w.compares = beyond && tl_beyond_compares(&w.beyond, sweeps);
    TL_TRY(once(&w, visit_sweep));
    take_changes(&w, group, change);
    TL_TRY(tl_asking_ask(&asking, sweeps, change, &answered));
    for (int32_t i = 0; i < g->islands; i++) {
      bool done = answered && -values[i] <= settled_m_s(stage, &island[i]);
      if (open[i] == 0 || (!done && sweeps < open[i])) continue;
      count[i] = (TlNsCount){sweeps, fabs(done ? values[i] : change[i]), !done, 0};
      open[i] = 0;
      left--;
    }
    if (!beyond || left == 0 || !tl_beyond_moves_on(&w.beyond, sweeps)) continue;
    TL_TRY(choose_beta(&w, group, sweeps));
    TL_TRY(once(&w, visit_further));
  }
  TL_TRY(tl_asking_drop(&asking));
  for (int32_t i = 0; g->share && i < g->islands; i++) change[i] = -count[i].residual_m_s;
  if (g->share) TL_TRY(tl_group_least(g, change)); /* what was not asked of all */
  for (int32_t i = 0; i < g->islands; i++) {
    double most = tl_max(0, settled_m_s(stage, &island[i]));
    if (g->share) count[i].residual_m_s = fabs(change[i]);
    count[i].unfinished &= count[i].residual_m_s > most;
    if (count[i].unfinished && island[i].force_m_s > 0)
      count[i].fraction = count[i].residual_m_s / island[i].force_m_s;
  }
  return TL_OK;
}

typedef struct All {
  const TlNsRows *r;
  const TlNsStage *stage;
  TlNsCount *count;
} All;

static TlStatus solve_one(void *context, int32_t group) {
  const All *all = context;
  return tl_nonsmooth_solve(all->r, group, all->stage, all->count + all->r->first_island[group]);
}

TlStatus tl_nonsmooth_solve_all(const TlNsRows *r, const TlNsStage *stage, TlNsCount *count) {
  All all = {r, stage, count};
  return tl_groups_run(&r->groups, PATCH_NS, solve_one, &all);
}
