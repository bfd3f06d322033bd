/* Coloured sweeps over the pairs of a group.
 *
 * Pairs of one colour share no movable body, so threads may visit them at once; the colours follow
 * each other. One team of threads lives through all sweeps of a call: a fork for each colour costs
 * more than the colour. A run of small colours is left to one thread, with one barrier after it.
 * What a pair reads and writes does not depend on who visits it: the same bits for any number of
 * threads. With sync, velocities go from owners to ghosts after each colour.
 */
#ifndef TL_DEM_ETM_SWEEP_H
#define TL_DEM_ETM_SWEEP_H

#include "dem/contact.h"

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
  int open; /* the last sweep changed something */
} TlTally;

/* Visit the pair at group->order[at] in sweep k. */
typedef TlTally (*TlPairVisit)(const void *walk, int k, int32_t at);

typedef struct TlSweeps {
  const TlGroup *group;
  TlTwist *twist;
  TlPairVisit visit;
  const void *walk;
} TlSweeps;

/* Sweeps k = 1 .. levels, then more with k = levels until one changes nothing, at most `extra`.
 * Adds to tally->impulses and sets tally->open, over all ranks when extra > 0. Collective with
 * sync. */
TlStatus tl_sweeps_run(const TlSweeps *sweeps, int levels, int extra, TlTally *tally);

#endif
