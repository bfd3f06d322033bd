/* The sweeps after the last level of a round of compression: nearly all impulses of a large island
 * (99% on a loose pack of 11,243 contacts) are made there, by a stop that travels through it.
 *
 * They work on copies laid out for them. What a look at a contact reads is two cache lines of its
 * own and one a body; an impulse reads two more and the bodies' inertia. Velocities are added
 * without compensation here (few increments are left), and what levels kept as lost is let go.
 *
 * First come TL_TAIL_STEPS steps of the level under the last one, each 0.7 of the one before and
 * swept until quiet, but at most 32 times: as by priority, the faster approach is stopped first.
 * That takes a third off the impulses. Then sweeps with no level, until nothing approaches.
 *
 * Between ranks a sweep costs four exchanges, and quiet is asked for. With single_sweeps an island that
 * ranks solve together is swept once at each of these levels: another order of impulses than on one
 * rank, with the same end, for half the messages. In drops of 500 to 1,300 grains the kinetic energies
 * of the two differed by up to 1.1% of the largest one (docs/notebook/performance.md); 2% is tested.
 *
 * A pair is passed over while no impulse reached its bodies and its level has not come; `hits`
 * holds the counts of impulses for that, close together. Who passes over does not change a bit.
 */
#ifndef TL_SOLVE_ETM_TAIL_H
#define TL_SOLVE_ETM_TAIL_H

#include "solve/etm.h"
#include "solve/sweep.h"

enum { TL_TAIL_STEPS = 16, TL_TAIL_CUT_VISITS = 64 };

/* Of one pair: is there anything to do? Sixteen bytes, read for every pair in every sweep. */
typedef struct TlGlance {
  int32_t a, b;  /* numbers of its bodies in the tail; without a second one b = a */
  uint32_t seen; /* hits of both when it was last left */
  float least;   /* least key left above the level then, <= 0, rounded down */
} TlGlance;

/* Of one pair: what its points are. */
typedef struct TlTailPair {
  int32_t first, count, island;
  bool ordinary;      /* to be lifted as in the levels: points that rise together, rebound */
  int32_t cut_visits; /* visits that ended before it was quiet */
} TlTailPair;

typedef struct TlTailBody TlTailBody;
typedef struct TlTailInertia TlTailInertia;
typedef struct TlTailLook TlTailLook;
typedef struct TlTailPush TlTailPush;

typedef struct TlTail {
  const TlEtmLaw *law;
  const TlGroup *group;
  const TlDynamics *dynamics;
  const double *least; /* [islands] of the round */
  int32_t bodies, points;
  int32_t *body; /* [bodies] local index; -1: the still one behind boundaries */
  TlTailBody *moving;
  TlTailInertia *inertia;
  TlTailLook *look; /* [points], in the order of the sweeps */
  TlTailPush *push;
  TlContact **contact; /* [points] the group's own */
  TlGlance *glance;    /* [pairs], in the order of the sweeps */
  TlTailPair *pair;    /* [pairs] */
  uint32_t *hits;      /* [bodies] */
  /* lifts a pair on the group's own contacts and twists; returns the impulses, and the least key
   * left */
  int64_t (*lift)(const void *walk, int32_t at, double level, double *left);
  const void *walk;
  double fraction[TL_TAIL_STEPS + 2]; /* level of each step over the island's least key */
} TlTail;

/* Copies of what does not change in a call. tl_tail_free also after an error. */
TlStatus tl_tail_make(TlTail *tail);
void tl_tail_free(TlTail *tail);
/* Collective with share. *open: it was stopped before it was quiet; a pair whose own points find no
 * end in TL_TAIL_CUT_VISITS visits (a ball between walls that close: the boundaries of a body are one
 * pair) is left, and the others continue. */
TlStatus tl_tail_run(TlTail *tail, int64_t *impulses, int *open);

#endif
