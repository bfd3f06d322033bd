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
  double
      *done; /* [islands] 1 when nothing was stored in a round: another would only go on lifting */
  double share; /* level as a share of least, 1 -> 0 */
  bool zero;    /* finish with e = 0 */
} Walk;

typedef struct Tally {
  int64_t impulses;
  int open; /* something is still under the level */
} Tally;

typedef Tally (*Visit)(const Walk *walk, const TlPair *pair);

static TlStatus sweep_group(const Walk *w, Visit visit, Tally *tally) {
  const TlGroup *g = w->group;
  int64_t impulses = 0;
  int open = 0;
  for (int32_t colour = 0; colour < g->colours; colour++) {
    int32_t from = g->colour_start[colour], to = g->colour_start[colour + 1];
#pragma omp parallel for schedule(static) reduction(+ : impulses) reduction(| : open)              \
    if (to - from >= PARALLEL_FROM)
    for (int32_t i = from; i < to; i++) {
      Tally t = visit(w, &g->pair[g->order[i]]);
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

static Tally find_least(const Walk *w, const TlPair *pair) {
  const TlTwist *twist = w->dynamics->twist;
  Tally tally = {0};
  if (w->done[pair->island] > 0) return tally;
  for (int32_t k = 0; k < pair->count; k++) {
    TlContact *c = &w->group->contact[pair->first + k];
    c->work = c->start = 0;
    double un = tl_contact_un(c, twist);
    if (!tl_etm_enters(c, w->law, twist, un) || un >= -w->law->tolerance_m_s) continue;
    w->least[pair->island] = fmin(w->least[pair->island], c->weight * un);
    tally.open = 1;
  }
  return tally;
}

/* du of one impulse: K of them carry a contact from its start to 0; a contact that starts slowly
 * beside a fast one of its island takes proportionally fewer. */
static double increment(const Walk *w, const TlContact *c, double least) {
  return fmax(-c->start, -0.1 * least / c->weight) / w->law->increments;
}

/* The point of a pair that lies deepest under the level; NULL when none does. */
static TlContact *worst_point(const Walk *w, const TlPair *pair, double level, double *un) {
  const TlTwist *twist = w->dynamics->twist;
  TlContact *worst = NULL;
  double least = level;
  for (int32_t k = 0; k < pair->count; k++) {
    TlContact *c = &w->group->contact[pair->first + k];
    if (asleep(c, twist)) continue;
    double u = tl_contact_un(c, twist);
    if (u >= -w->law->tolerance_m_s || c->weight * u >= least) continue;
    if (!tl_etm_enters(c, w->law, twist, u)) continue;
    worst = c;
    least = c->weight * u;
    *un = u;
  }
  return worst;
}

/* Inside a pair the points take turns by priority, each by one increment: the corners of a face
 * rise together. Lifting them to the level one after the other leaves a flat-landing cube a spin
 * of 0.027 rad/s at K = 20 (by turns 0.0018). */
static Tally lift(const Walk *w, const TlPair *pair) {
  double least = w->least[pair->island], level = w->share * least, un = 0;
  Tally tally = {0};
  int32_t most = 16 * w->law->increments * pair->count; /* a jammed pair goes on next sweep */
  for (int32_t i = 0; i < most; i++) {
    TlContact *c = worst_point(w, pair, level, &un);
    if (!c) break;
    if (un < c->start) c->start = un;
    tl_etm_compress(c, w->dynamics, fmin(increment(w, c, least), -un)); /* Tang 2014 Eq. 63 */
    tally.impulses++;
    tally.open = 1;
  }
  return tally;
}

static TlContact *fullest_point(const Walk *w, const TlPair *pair, double level) {
  TlContact *fullest = NULL;
  for (int32_t k = 0; k < pair->count; k++) {
    TlContact *c = &w->group->contact[pair->first + k];
    if (!(c->work > level)) continue; /* NaN too: the step reports it */
    fullest = c;
    level = c->work;
  }
  return fullest;
}

/* The same increments out as in: c->start is the approach of this round. */
static Tally release(const Walk *w, const TlPair *pair) {
  double level = -w->share * w->least[pair->island];
  Tally tally = {0};
  for (TlContact *c; (c = fullest_point(w, pair, level)); tally.impulses++)
    tl_etm_release(c, w->dynamics, 0, fmax(-c->start, w->law->tolerance_m_s) / w->law->increments);
  return tally;
}

static TlStatus compress(Walk *w, TlEtmCount *count) {
  int levels = w->law->increments;
  Tally tally = {0};
  for (int k = 1; k <= levels; k++) {
    w->share = 1 - (double)k / levels;
    TL_TRY(sweep_group(w, lift, &tally));
  }
  TL_TRY(tl_sync_any(w->group->sync, &tally.open));
  for (int extra = 0; tally.open && extra < w->law->final_sweeps; extra++) {
    TL_TRY(sweep_group(w, lift, &tally));
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
  TL_TRY(tl_group_least(g, w->least));
  for (int32_t i = 0; i < g->islands; i++)
    if (w->least[i] == 0) w->done[i] = 1;
  return TL_OK;
}

/* Levels of W fall as the square, so that an isolated contact leaves in equal steps of velocity. */
static TlStatus separate(Walk *w, TlEtmCount *count) {
  int levels = w->law->increments;
  Tally tally = {0};
  for (int k = 1; k <= levels; k++) {
    double x = (double)k / levels;
    w->share = 1 - x * x;
    TL_TRY(sweep_group(w, release, &tally));
  }
  count->impulses += tally.impulses;
  return TL_OK;
}

/* Collective. *open: some contact approaches. */
static TlStatus start_round(Walk *w, int *open) {
  const TlGroup *g = w->group;
  Tally tally = {0};
  for (int32_t i = 0; i < g->islands; i++) w->least[i] = 0;
  for (int32_t i = 0; i < g->colour_start[g->colours]; i++)
    tally.open |= find_least(w, &g->pair[g->order[i]]).open; /* reads only: no colours */
  TL_TRY(tl_sync_any(g->sync, &tally.open));
  *open = tally.open;
  return *open ? tl_group_least(g, w->least) : TL_OK;
}

TlStatus tl_etm_level(const TlEtmLaw *law, const TlGroup *group, const TlDynamics *dynamics,
                      TlEtmCount *count) {
  Walk w = {.law = law,
            .group = group,
            .dynamics = dynamics,
            .least = group->scratch,
            .done = group->scratch + group->islands};
  tl_etm_reset(group);
  for (int32_t i = 0; i < group->islands; i++) w.done[i] = 0;
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
