#include "solve/etm.h"
#include "solve/step_impulses.h"
#include "solve/etm_tail.h"

#include "base/par.h"

#include <math.h>

/* One round's walk over a group. */
typedef struct Walk {
  const TlEtmLaw *law;
  const TlGroup *group;
  const TlDynamics *dynamics;
  double *least; /* [islands] least key at the start of the round, <= 0; then -(largest W) */
  double *done;  /* [islands] 1: no more rounds. Nothing was stored, so another would only lift
                    further; or given up */
  bool zero;     /* finish with e = 0 */
  TlTail tail;
  bool tail_made;
} Walk;

static int32_t pair_count(const Walk *w) {
  return w->group->pairs;
}
static const TlPair *pair_at(const Walk *w, int32_t at) {
  return &w->group->pair[at];
}

/* A contact nobody moved since it was found quiet needs no look. */
static bool asleep(const TlContact *c, const TlTwist *twist) {
  return !c->in && twist[c->a].hit == 0 && (c->b < 0 || twist[c->b].hit == 0);
}

/* ---- the start of a round ---- */

static void look(const Walk *w, int32_t at) {
  const TlTwist *twist = w->dynamics->twist;
  const TlPair *pair = pair_at(w, at);
  double least = 0;
  for (int32_t k = 0; k < pair->count; k++) {
    TlContact *c = &w->group->contact[pair->first + k];
    c->work = c->start = 0;
    double un = tl_contact_un(c, twist);
    if (!tl_etm_enters(c, w->law, twist, un) || un >= -w->law->tolerance_m_s) continue;
    least = fmin(least, c->weight * un);
  }
  if (w->done[pair->island] > 0) least = 0; /* left alone, whatever others in the group do */
  tl_memo_leave(&w->group->memo[at], pair, twist, least);
}

/* Some island's value is < 0. */
static int any_open(const double *value, int32_t islands) {
  int open = 0;
  for (int32_t i = 0; i < islands; i++) open |= value[i] < 0;
  return open;
}

/* Collective. *open: some contact approaches. Reads velocities only: in any order. */
static TlStatus start_round(Walk *w, bool first, int *open) {
  const TlGroup *g = w->group;
  int32_t pairs = pair_count(w);
  if (!first) TL_TRY(tl_group_share(g, w->dynamics->twist));
#pragma omp parallel for schedule(static) if (tl_par_pays(pairs, TL_LOOK_NS))
  for (int32_t i = 0; i < pairs; i++) look(w, i);
  for (int32_t i = 0; i < g->islands; i++) w->least[i] = 0;
  for (int32_t i = 0; i < pairs; i++) {
    int32_t island = pair_at(w, i)->island;
    if (g->memo[i].least < 0) w->least[island] = fmin(w->least[island], g->memo[i].least);
  }
  TL_TRY(tl_group_least(g, w->least));
  *open = any_open(w->least, g->islands);
  return TL_OK;
}

/* ---- compression ---- */

/* du of one impulse: a step of the level. K of them carry the island's fastest contact from its
 * start to 0; one that starts slowly takes proportionally fewer. Steps cut to the slow contacts'
 * own starts need three times the impulses and change nothing that is physics. */
static double increment(const Walk *w, const TlContact *c, double least) {
  return fmax(-c->start, -least / c->weight) / w->law->increments;
}

/* The point of a pair that lies deepest under the level; NULL when none does: then *left is the
 * least key above it. */
static TlContact *worst_point(const Walk *w, const TlPair *pair, double level, double *un,
                              double *left) {
  const TlTwist *twist = w->dynamics->twist;
  TlContact *worst = NULL;
  double least = level;
  *left = 0;
  for (int32_t k = 0; k < pair->count; k++) {
    TlContact *c = &w->group->contact[pair->first + k];
    if (asleep(c, twist)) continue;
    double u = tl_contact_un(c, twist);
    if (u >= -w->law->tolerance_m_s) continue;
    double key = c->weight * u;
    if (key >= level) *left = fmin(*left, key);
    if (key >= least || !tl_etm_enters(c, w->law, twist, u)) continue;
    worst = c;
    least = key;
    *un = u;
  }
  return worst;
}

/* Points without friction that approach as fast as the worst, within beta, rise at once; returns
 * how many did, 0: none. */
static int lift_similar(const Walk *w, const TlPair *pair, const TlContact *worst, double key,
                        double least) {
  const TlTwist *twist = w->dynamics->twist;
  TlContact *set[TL_ETM_TOGETHER];
  double du[TL_ETM_TOGETHER], bound = key * (1 - w->law->similar);
  int count = 0;
  if (worst->law->friction > 0 || pair->count == 1) return 0;
  for (int32_t k = 0; k < pair->count && count < TL_ETM_TOGETHER; k++) {
    TlContact *c = &w->group->contact[pair->first + k];
    double un = tl_contact_un(c, twist);
    if (c->law->friction > 0 || c->weight * un > bound || !tl_etm_enters(c, w->law, twist, un))
      continue;
    tl_etm_begin(c, twist, un);
    c->step = increment(w, c, least);
    du[count] = fmin(c->step, -un);
    set[count++] = c;
  }
  return count > 1 && tl_etm_compress_together(set, count, w->dynamics, du) ? count : 0;
}

/* A sweep of a large island waits for memory most of its time: have what a pair of the same sweep
 * a few places on needs on its way. */
enum { AHEAD = 4 };
static void fetch_ahead(const Walk *w, int32_t at) {
  if (at + AHEAD >= pair_count(w)) return;
  const TlPair *pair = pair_at(w, at + AHEAD);
  const char *contact = (const char *)&w->group->contact[pair->first];
  for (int line = 0; line < 6; line++) __builtin_prefetch(contact + 64 * line);
  __builtin_prefetch(&w->dynamics->twist[pair->a]);
  if (pair->b >= 0) __builtin_prefetch(&w->dynamics->twist[pair->b]);
}

/* Inside a pair the points take turns by priority, each by one increment: the corners of a face
 * rise together. Lifting them to the level one after the other leaves a flat-landing cube a spin
 * of 0.027 rad/s at K = 20 (by turns 0.0018). *left: least key above the level. */
static int64_t lift_pair(const void *walk, int32_t at, double level, double *left) {
  const Walk *w = walk;
  const TlPair *pair = pair_at(w, at);
  double least = w->least[pair->island], un = 0;
  int64_t impulses = 0, most = 16 * (int64_t)w->law->increments * pair->count;
  for (; impulses < most; impulses++) {
    TlContact *c = worst_point(w, pair, level, &un, left);
    if (!c) return impulses;
    int similar = lift_similar(w, pair, c, c->weight * un, least);
    if (similar > 0) {
      impulses += similar - 1;
      tl_etm_trace(w->law, TL_TRACE_COMPRESS, w->group, w->dynamics);
      continue;
    }
    tl_etm_begin(c, w->dynamics->twist, un);
    c->step = increment(w, c, least);
    tl_etm_compress(w->law, c, w->dynamics, fmin(c->step, -un)); /* Tang 2014 Eq. 63 */
    tl_etm_trace(w->law, TL_TRACE_COMPRESS, w->group, w->dynamics);
    if (pair->count == 1 && c->step >= -un) return impulses + 1; /* at 0: no need to look again */
  }
  *left = -INFINITY; /* an unresolved pair continues next sweep */
  return impulses;
}

static TlTally lift(const void *walk, int k, int32_t from, int32_t to) {
  const Walk *w = walk;
  TlTally tally = {0};
  double fraction = 1 - (double)k / w->law->increments;
  for (int32_t at = from; at < to; at++) {
    const TlPair *pair = pair_at(w, at);
    TlPairMemo *memo = &w->group->memo[at];
    double left, level = fraction * w->least[pair->island];
    if (memo->least >= level && tl_memo_unchanged(memo, pair, w->dynamics->twist)) continue;
    fetch_ahead(w, at);
    int64_t impulses = lift_pair(w, at, level, &left);
    tally.impulses += impulses;
    tl_group_count_impulses(w->group, at, impulses);
    tl_memo_leave(memo, pair, w->dynamics->twist, left);
  }
  return tally;
}

/* Islands of the round that approach still after all sweeps: no further rounds, and what they hold
 * is lost. Others of a shared group, done or quiet, are left alone. */
static TlStatus give_up(Walk *w, TlEtmCount *count) {
  const TlGroup *g = w->group;
  TL_TRY(tl_group_share(g, w->dynamics->twist));
  for (int32_t i = 0; i < pair_count(w); i++) {
    double *least = &w->least[pair_at(w, i)->island];
    if (!(*least < 0) || !tl_etm_approaches(w->law, g, i, w->dynamics->twist)) continue;
    g->pair[i].stuck = true;
    *least = -INFINITY;
  }
  for (int32_t i = 0; i < g->islands; i++) w->least[i] = w->least[i] == -INFINITY ? -1 : 0;
  TL_TRY(tl_group_least(g, w->least));
  count->unfinished += tl_group_count(g, w->least);
  for (int32_t i = 0; i < g->islands; i++)
    if (w->least[i] < 0) w->done[i] = 1;
  return TL_OK;
}

/* The levels but the last; what is left is the tail's (etm_tail.h). It ends: a full impulse from u
 * < -T takes at least m_eff T^2/2 out of the motion. How many sweeps it takes grows with the square
 * of the island's width. */
static TlStatus compress(Walk *w, TlEtmCount *count) {
  TlSweeps sweeps = {w->group, w->dynamics->twist, sizeof *w->dynamics->twist, NULL, lift,
                     w,        TL_VISIT_NS};
  TlTally tally = {0};
  int open;
  TL_TRY(tl_sweeps_run(&sweeps, 1, w->law->increments - 1, 1, &tally));
  count->impulses += tally.impulses;
  TL_TRY(tl_tail_run(&w->tail, &count->impulses, &open));
  return open ? give_up(w, count) : TL_OK;
}

/* ---- restitution ---- */

static void restitute_pair(const Walk *w, int32_t at) {
  const TlPair *pair = pair_at(w, at);
  TlPairMemo *memo = &w->group->memo[at];
  TlEtmCount count = {0};
  bool zero = w->zero || w->done[pair->island] > 0;
  memo->work = 0;
  for (int32_t k = 0; k < pair->count; k++)
    memo->work = fmax(memo->work,
                      tl_etm_restitute(&w->group->contact[pair->first + k], w->law, zero, &count));
  memo->stored = count.stored_J;
  memo->released = count.released_J;
}

/* Largest W of each island as -W in least; *stored: there is some. */
static TlStatus restitute(Walk *w, TlEtmCount *count, int *stored) {
  const TlGroup *g = w->group;
  int32_t pairs = pair_count(w);
#pragma omp parallel for schedule(static) if (tl_par_pays(pairs, TL_LOOK_NS))
  for (int32_t i = 0; i < pairs; i++) restitute_pair(w, i);
  for (int32_t i = 0; i < g->islands; i++) w->least[i] = 0;
  for (int32_t i = 0; i < pairs; i++) { /* in order: sums keep their bits */
    const TlPairMemo *memo = &g->memo[i];
    const TlPair *pair = pair_at(w, i);
    count->stored_J += memo->stored;
    count->released_J += memo->released;
    if (memo->work > 0) w->least[pair->island] = fmin(w->least[pair->island], -memo->work);
  }
  TL_TRY(tl_group_least(g, w->least));
  *stored = any_open(w->least, g->islands);
  for (int32_t i = 0; i < g->islands; i++)
    if (w->least[i] == 0) w->done[i] = 1;
  return TL_OK;
}

/* ---- separation ---- */

static TlContact *fullest_point(const Walk *w, const TlPair *pair, double *work) {
  TlContact *fullest = NULL;
  *work = 0;
  for (int32_t k = 0; k < pair->count; k++) {
    TlContact *c = &w->group->contact[pair->first + k];
    if (!(c->work > *work)) continue; /* NaN too: the step reports it */
    fullest = c;
    *work = c->work;
  }
  return fullest;
}

/* As lift_similar: those whose W is as large, within beta. */
static int release_similar(const Walk *w, const TlPair *pair, double work) {
  TlContact *set[TL_ETM_TOGETHER];
  double du[TL_ETM_TOGETHER];
  int count = 0;
  if (pair->count == 1) return 0;
  for (int32_t k = 0; k < pair->count && count < TL_ETM_TOGETHER; k++) {
    TlContact *c = &w->group->contact[pair->first + k];
    if (c->law->friction > 0 || !(c->work >= work * (1 - w->law->similar))) continue;
    du[count] = c->step;
    set[count++] = c;
  }
  return count > 1 && tl_etm_release_together(set, count, w->dynamics, du) ? count : 0;
}

/* Levels of W fall as the square, so that an isolated contact leaves in equal steps of velocity:
 * the same increments out as in. */
static int64_t release_pair(const Walk *w, int32_t at, double level) {
  const TlPair *pair = pair_at(w, at);
  TlPairMemo *memo = &w->group->memo[at];
  int64_t impulses = 0;
  while (memo->work > level) {
    TlContact *c = fullest_point(w, pair, &memo->work);
    if (!(memo->work > level)) break;
    int similar = release_similar(w, pair, memo->work);
    if (similar > 0)
      impulses += similar - 1;
    else
      tl_etm_release(w->law, c, w->dynamics, 0, c->step);
    tl_etm_trace(w->law, TL_TRACE_RELEASE, w->group, w->dynamics);
    impulses++;
  }
  return impulses;
}

static TlTally release(const void *walk, int k, int32_t from, int32_t to) {
  const Walk *w = walk;
  double x = (double)k / w->law->increments;
  TlTally tally = {0};
  for (int32_t at = from; at < to; at++) {
    const TlPair *pair = pair_at(w, at);
    int64_t impulses = release_pair(w, at, -(1 - x * x) * w->least[pair->island]);
    tally.impulses += impulses;
    tl_group_count_impulses(w->group, at, impulses);
  }
  return tally;
}

static TlStatus separate(Walk *w, TlEtmCount *count) {
  TlSweeps sweeps = {w->group, w->dynamics->twist, sizeof *w->dynamics->twist, NULL, release,
                     w,        TL_VISIT_NS};
  TlTally tally = {0};
  TL_TRY(tl_sweeps_run(&sweeps, 1, w->law->increments, 1, &tally));
  count->impulses += tally.impulses;
  return TL_OK;
}

/* Only where something approaches at all: most groups of a step are quiet. */
static TlStatus make_tail(Walk *w) {
  if (w->tail_made) return TL_OK;
  w->tail = (TlTail){.law = w->law,
                     .group = w->group,
                     .dynamics = w->dynamics,
                     .least = w->least,
                     .lift = lift_pair,
                     .walk = w};
  w->tail_made = true;
  return tl_tail_make(&w->tail);
}

static TlStatus run_rounds(Walk *w, TlEtmCount *count) {
  int64_t round = 0;
  int open, stored;
  for (;; round++) {
    TL_TRY(start_round(w, round == 0, &open));
    if (!open || round > w->law->max_rounds) break;
    if (round == w->law->max_rounds) {
      w->zero = true;
      count->zero_finishes += tl_group_count(w->group, w->least);
      tl_etm_mark_stuck(w->law, w->group, w->dynamics->twist, w->least);
    }
    TL_TRY(make_tail(w));
    TL_TRY(compress(w, count));
    TL_TRY(restitute(w, count, &stored));
    if (stored) TL_TRY(separate(w, count));
  }
  if (round > count->rounds) count->rounds = round;
  return TL_OK;
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
  TlStatus status = run_rounds(&w, count);
  tl_tail_free(&w.tail);
  return status;
}

const TlMethodKind tl_method_etm_level = {TL_BY_IMPULSES(tl_etm_level)};
