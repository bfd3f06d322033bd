/* Sweeps over the pairs of a group: impacts, rest and the position rule.
 *
 * Cells of one phase share no movable body (grids.h), so threads may visit them at once; the phases
 * follow each other. One team of threads lives through all sweeps of a call (tl_par_chain): a fork
 * for each phase costs more than the phase. Small phases are left to one thread.
 * What a cell reads and writes does not depend on who visits it: the same bits for any number of
 * threads. Over ranks each body's velocity goes from the rank that wrote it last to the one that uses
 * it next, after each phase (share.h).
 */
#ifndef TL_SOLVE_SWEEP_H
#define TL_SOLVE_SWEEP_H

#include "solve/contact.h"

/* ---- a pair is passed over while no impulse reaches its bodies ---- */
static inline double tl_memo_hits(const TlTwist *twist, int32_t body) {
  return body >= 0 ? twist[body].hit : 0;
}
static inline void tl_memo_leave(TlPairMemo *memo, const TlPair *pair, const TlTwist *twist,
                                 double least) {
  memo->hits_a = tl_memo_hits(twist, pair->a);
  memo->hits_b = tl_memo_hits(twist, pair->b);
  memo->least = least;
}
static inline bool tl_memo_unchanged(const TlPairMemo *memo, const TlPair *pair,
                                     const TlTwist *twist) {
  return memo->hits_a == tl_memo_hits(twist, pair->a) &&
         memo->hits_b == tl_memo_hits(twist, pair->b);
}

typedef struct TlTally {
  int64_t impulses;
  int open;    /* the last sweep changed something */
  double most; /* largest change of all sweeps, in the visitor's unit */
} TlTally;

/* Visit the pairs [from, to) of the group in sweep k: they are one cell, and each reads what the ones
 * before it have written. */
typedef TlTally (*TlPairsVisit)(const void *walk, int k, int32_t from, int32_t to);

/* An impulse at one contact; false: none. */
typedef bool (*TlContactVisit)(const void *walk, const TlPair *pair, TlContact *contact,
                               TlPairMemo *memo);

/* Visit pairs contact by contact; a pair without an impulse is passed over until its bodies are hit. */
static inline TlTally tl_visit_contacts(const TlGroup *g, const TlTwist *twist,
                                        TlContactVisit visit, const void *walk, int32_t from,
                                        int32_t to) {
  TlTally tally = {0};
  for (int32_t at = from; at < to; at++) {
    const TlPair *pair = &g->pair[at];
    TlPairMemo *memo = &g->memo[at];
    int impulses = 0;
    if (tl_memo_unchanged(memo, pair, twist)) continue;
    for (int32_t i = 0; i < pair->count; i++)
      impulses += visit(walk, pair, &g->contact[pair->first + i], memo);
    if (impulses == 0) tl_memo_leave(memo, pair, twist, 0);
    tally.open |= impulses > 0;
    tally.impulses += impulses;
    tl_group_count_impulses(g, at, impulses);
  }
  return tally;
}

typedef struct TlSweeps {
  const TlGroup *group;
  void *values; /* what travels between ranks: over the local bodies; NULL: nothing */
  size_t value_size;
  void (*arrived)(const void *walk, int32_t body); /* called for each that came; may be NULL */
  TlPairsVisit visit;
  const void *walk;
  double pair_ns; /* a visit to a pair, about: a team meets after each phase, so one has to pay */
} TlSweeps;

/* Work on a pair of ETM, about, for tl_par_pays: a visit with impulses; a look or a copy. */
enum { TL_VISIT_NS = 500, TL_LOOK_NS = 50 };

/* For each k = first .. last: sweeps until one changes nothing, at most `most` of them; with most =
 * 1 nobody asks. Ranks that share the group learn late that nothing has changed, and make one or two
 * more sweeps that change nothing. Adds to tally->impulses, raises tally->most (on this rank) and sets tally->open:
 * the last sweep changed something (on any rank when most > 1). Collective with share. */
TlStatus tl_sweeps_run(const TlSweeps *sweeps, int first, int last, int most, TlTally *tally);

#endif
