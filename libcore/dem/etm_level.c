#include "dem/etm.h"

#include <math.h>

enum {
  PARALLEL_FROM = 192
}; /* pairs of a colour: below, waking threads costs more than it gives */

/* One round's walk over a group. */
typedef struct Walk {
  const TlEtmLaw *law;
  const TlGroup *group;
  const TlDynamics *dynamics;
  double *least; /* [islands] least key at the start of the round, <= 0; then -(largest W) */
  double share;  /* level as a share of least, 1 -> 0 */
  bool zero;     /* finish with e = 0 */
} Walk;

typedef struct Tally {
  int64_t impulses;
  int open; /* something is still under the level */
} Tally;

typedef void (*Visit)(const Walk *walk, TlContact *contact, int32_t island, Tally *tally);

/* Points of a pair: forth in even sweeps, back in odd ones, so that no corner of a flat face is
 * always first. */
static Tally visit_pair(const Walk *w, const TlPair *pair, Visit visit, int sweep) {
  Tally tally = {0};
  for (int32_t k = 0; k < pair->count; k++) {
    int32_t at = sweep % 2 ? pair->count - 1 - k : k;
    visit(w, &w->group->contact[pair->first + at], pair->island, &tally);
  }
  return tally;
}

static TlStatus sweep_group(const Walk *w, Visit visit, int sweep, Tally *tally) {
  const TlGroup *g = w->group;
  int64_t impulses = 0;
  int open = 0;
  for (int32_t colour = 0; colour < g->colours; colour++) {
    int32_t from = g->colour_start[colour], to = g->colour_start[colour + 1];
#pragma omp parallel for schedule(static) reduction(+ : impulses) reduction(| : open)              \
    if (to - from >= PARALLEL_FROM)
    for (int32_t i = from; i < to; i++) {
      Tally t = visit_pair(w, &g->pair[g->order[i]], visit, sweep);
      impulses += t.impulses;
      open |= t.open;
    }
    TL_TRY(tl_sync_forward(g->sync, w->dynamics->twist, sizeof *w->dynamics->twist));
  }
  tally->impulses += impulses;
  tally->open = open;
  return TL_OK;
}

/* A contact nobody moved since it was found quiet needs no look. */
static bool asleep(const TlContact *c, const TlTwist *twist) {
  return !c->in && twist[c->a].hit == 0 && (c->b < 0 || twist[c->b].hit == 0);
}

static void find_least(const Walk *w, TlContact *c, int32_t island, Tally *tally) {
  c->work = c->start = 0;
  const TlTwist *twist = w->dynamics->twist;
  double un = tl_contact_un(c, twist);
  if (!tl_etm_enters(c, w->law, twist, un) || un >= -w->law->tolerance_m_s) return;
  if (c->weight * un < w->least[island]) w->least[island] = c->weight * un;
  tally->open = 1;
}

/* du of one impulse: K of them carry a contact from its start to 0; a contact that starts slowly
 * beside a fast one of its island takes proportionally fewer. */
static double increment(const Walk *w, const TlContact *c, int32_t island) {
  double least = -w->least[island] / c->weight;
  double start = fmax(-c->start, 0.1 * least);
  return start / w->law->increments;
}

static void lift(const Walk *w, TlContact *c, int32_t island, Tally *tally) {
  const TlTwist *twist = w->dynamics->twist;
  if (asleep(c, twist)) return;
  double un = tl_contact_un(c, twist), target = w->share * w->least[island] / c->weight;
  if (un >= target - w->law->tolerance_m_s || !tl_etm_enters(c, w->law, twist, un)) return;
  if (un < c->start) c->start = un;
  tally->open = 1;
  double du = increment(w, c, island);
  int64_t steps = (int64_t)ceil((target - un) / du * (1 - 1e-12));
  du = (target - un) / (double)steps;
  for (int64_t i = 0; i < steps; i++) tl_etm_compress(c, w->dynamics, du);
  tally->impulses += steps;
}

static void release(const Walk *w, TlContact *c, int32_t island, Tally *tally) {
  double keep = -w->share * w->least[island];
  if (!(c->work > keep)) return;
  /* c->start is the approach of this round: the same increments out as in */
  double du = fmax(-c->start, w->law->tolerance_m_s) / w->law->increments;
  for (bool done = false; !done; tally->impulses++) done = tl_etm_release(c, w->dynamics, keep, du);
}

static TlStatus compress(Walk *w, TlEtmCount *count) {
  int levels = w->law->increments;
  Tally tally = {0};
  for (int k = 1; k <= levels; k++) {
    w->share = 1 - (double)k / levels;
    TL_TRY(sweep_group(w, lift, k, &tally));
  }
  TL_TRY(tl_sync_any(w->group->sync, &tally.open));
  for (int extra = 0; tally.open && extra < w->law->final_sweeps; extra++) {
    TL_TRY(sweep_group(w, lift, extra, &tally));
    TL_TRY(tl_sync_any(w->group->sync, &tally.open));
  }
  count->impulses += tally.impulses;
  if (tally.open) count->unfinished++;
  return TL_OK;
}

/* Largest W of each island as -W in least; false when nothing is stored anywhere. */
static TlStatus restitute(Walk *w, TlEtmCount *count, int *stored) {
  const TlGroup *g = w->group;
  for (int32_t i = 0; i < g->islands; i++) w->least[i] = 0;
  *stored = 0;
  for (int32_t i = 0; i < g->colour_start[g->colours]; i++) {
    const TlPair *pair = &g->pair[g->order[i]];
    for (int32_t k = 0; k < pair->count; k++) {
      double work = tl_etm_restitute(&g->contact[pair->first + k], w->law, w->zero, count);
      if (-work < w->least[pair->island]) w->least[pair->island] = -work;
      if (work > 0) *stored = 1;
    }
  }
  TL_TRY(tl_sync_any(g->sync, stored));
  return *stored ? tl_group_least(g, w->least) : TL_OK;
}

/* Levels of W fall as the square, so that an isolated contact leaves in equal steps of velocity. */
static TlStatus separate(Walk *w, TlEtmCount *count) {
  int levels = w->law->increments;
  Tally tally = {0};
  for (int k = 1; k <= levels; k++) {
    double x = (double)k / levels;
    w->share = 1 - x * x;
    TL_TRY(sweep_group(w, release, k, &tally));
  }
  count->impulses += tally.impulses;
  return TL_OK;
}

/* Collective. *open: some contact approaches. */
static TlStatus start_round(Walk *w, int *open) {
  const TlGroup *g = w->group;
  Tally tally = {0};
  for (int32_t i = 0; i < g->islands; i++) w->least[i] = 0;
  for (int32_t i = 0; i < g->colour_start[g->colours]; i++) {
    const TlPair *pair = &g->pair[g->order[i]];
    tally.open |= visit_pair(w, pair, find_least, 0).open; /* reads only: colours do not matter */
  }
  TL_TRY(tl_sync_any(g->sync, &tally.open));
  *open = tally.open;
  return *open ? tl_group_least(g, w->least) : TL_OK;
}

TlStatus tl_etm_level(const TlEtmLaw *law, const TlGroup *group, const TlDynamics *dynamics,
                      TlEtmCount *count) {
  Walk w = {.law = law, .group = group, .dynamics = dynamics, .least = group->scratch};
  tl_etm_reset(group);
  int64_t round = 0;
  int open, stored;
  for (;;) {
    TL_TRY(start_round(&w, &open));
    if (!open) break;
    if (round == law->max_rounds) {
      w.zero = true;
      count->zero_finishes++;
    }
    if (round > law->max_rounds) break;
    TL_TRY(compress(&w, count));
    TL_TRY(restitute(&w, count, &stored));
    if (stored) TL_TRY(separate(&w, count));
    round++;
  }
  if (round > count->rounds) count->rounds = round;
  return TL_OK;
}
