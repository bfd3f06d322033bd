/* Sequential impulses (Mirtich 1996; the method Tang 2014 compares with): each contact that
 * approaches is taken to -e u_n (and, where it sticks, to -e_t u_t) by one impulse of its own,
 * contact after contact, until none approaches. No work is kept, so the result depends on the order
 * of the contacts, and friction with e > 0 may gain energy (Newton's restitution).
 *
 * The order is that of all sweeps (grids.h): the same bits for any threads and ranks. What has
 * not ended after SWEEPS sweeps a round allowed is finished with e = 0 and counted.
 */
#include "solve/etm.h"

#include "model/ground_law.h"
#include "solve/step_impulses.h"
#include "solve/sweep.h"

#include <math.h>

enum { SWEEPS = 25 };

typedef struct Walk {
  const TlEtmLaw *law;
  const TlGroup *group;
  const TlDynamics *dynamics;
  bool zero;
} Walk;

static double restitution_of(const Walk *w, const TlContact *c, double un) {
  return w->zero || -un < w->law->threshold_m_s ? 0 : tl_restitution_at(c->law, -un);
}

static bool resolve(const void *walk, const TlPair *pair, TlContact *c, TlPairMemo *memo) {
  const Walk *w = walk;
  (void)pair;
  double un = tl_contact_un(c, w->dynamics->twist);
  if (un >= -w->law->tolerance_m_s || !tl_etm_enters(c, w->law, w->dynamics->twist, un))
    return false;
  double e = restitution_of(w, c, un);
  c->start = 0; /* each impulse is a collision of its own, with its own aim */
  tl_etm_begin(c, w->dynamics->twist, un);
  double pn = tl_etm_compress(w->law, c, w->dynamics, -(1 + e) * un);
  double work = -0.5 * un * pn / (1 + e); /* until u_n = 0, at the push's own compliance */
  memo->stored += work;
  memo->released += e * e * work;
  c->work = 0;
  return true;
}

static TlTally visit(const void *walk, int k, int32_t from, int32_t to) {
  const Walk *w = walk;
  (void)k;
  return tl_visit_contacts(w->group, w->dynamics->twist, resolve, w, from, to);
}

/* Islands in which the last sweep gave an impulse, on any rank. A pair that did is not left as it
 * is; in an island without any all pairs are. */
static TlStatus count_open(const Walk *w, int64_t *count) {
  const TlGroup *g = w->group;
  double *open = g->scratch;
  for (int32_t i = 0; i < g->islands; i++) open[i] = 0;
  for (int32_t i = 0; i < g->pairs; i++) {
    const TlPair *pair = &g->pair[i];
    if (!tl_memo_unchanged(&g->memo[i], pair, w->dynamics->twist)) open[pair->island] = -1;
  }
  TL_TRY(tl_group_least(g, open));
  *count += tl_group_count(g, open);
  return TL_OK;
}

TlStatus tl_sqm(const TlEtmLaw *law, const TlGroup *g, const TlDynamics *dynamics,
                TlEtmCount *count) {
  Walk w = {.law = law, .group = g, .dynamics = dynamics};
  TlSweeps sweeps = {g, dynamics->twist, sizeof *dynamics->twist, NULL, visit, &w, TL_VISIT_NS};
  TlTally tally = {0};
  tl_etm_reset(g);
  TL_TRY(tl_sweeps_run(&sweeps, 1, 1, 1 + SWEEPS * law->max_rounds, &tally));
  if (tally.open) {
    w.zero = true;
    TL_TRY(count_open(&w, &count->zero_finishes));
    TL_TRY(tl_group_share(g, dynamics->twist));
    tl_etm_mark_stuck(law, g, dynamics->twist, NULL);
    TL_TRY(tl_sweeps_run(&sweeps, 1, 1, 1 + law->final_sweeps, &tally));
    if (tally.open) TL_TRY(count_open(&w, &count->unfinished));
  }
  if (tally.impulses > 0 && count->rounds < 1 + w.zero) count->rounds = 1 + w.zero;
  count->impulses += tally.impulses;
  for (int32_t i = 0; i < g->pairs; i++) {
    count->stored_J += g->memo[i].stored;
    count->released_J += g->memo[i].released;
  }
  return TL_OK;
}

const TlMethodKind tl_method_sqm = {TL_BY_IMPULSES(tl_sqm)};
