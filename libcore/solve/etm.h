/* The energy tracking method on a given list of contacts (Tang 2014; Tan 2024 Alg. 1), with the
 * corrections of docs/theory/impulses.md: fixed increments of the start velocity, velocities fresh
 * before each impulse, friction in each increment, a signed energy balance, W <- e^2 W, gradual
 * release.
 *
 * Two orders of the same impulses, and beside them sequential impulses (sqm.c) and
 * simultaneous ones (smm.c):
 *   level     a level T rises from an island's least key to 0 in K equal steps; sweeps (sweep.h)
 *             lift what lies under it; release by levels of W. Same bits for any threads, ranks.
 *   priority  always the contact with the least u_n (largest W) and those within beta of it: the
 *             reference. One rank only, cost grows with the square of the island.
 * Rounds of compression, restitution and release repeat until no contact approaches faster than
 * the tolerance; after max_rounds the rest is finished with e = 0 and counted. An island whose
 * compression meets the cap of sweeps has no end to come to (a grain between two walls that close):
 * it is left there with e = 0, since each further round would meet the cap again.
 */
#ifndef TL_SOLVE_ETM_H
#define TL_SOLVE_ETM_H

#include "solve/contact.h"
#include "solve/methods.h"

typedef struct TlEtmLaw {
  int increments, max_rounds;
  int final_sweeps;     /* most sweeps after the last level in a round: a guard, > 0 */
  double tolerance_m_s; /* approach speed taken as none */
  double entry_m_s;     /* a contact no impulse has reached enters above allowed_speed + this */
  double threshold_m_s; /* restitution is 0 for start speeds below */
  double similar;       /* beta */
  bool single_sweeps;   /* islands that ranks solve together: etm_tail.h */
  bool friction_along_trial; /* direction of sliding friction: that of the trial impulse (push.h) */
  const TlCollisionTrace *trace; /* NULL: nobody watches */
} TlEtmLaw;

typedef struct TlEtmCount {
  int64_t impulses, rounds;
  int64_t zero_finishes, unfinished; /* islands that are this rank's to count */
  double stored_J, released_J;
} TlEtmCount;

/* Solve a group; contacts must be prepared and have weight, law and allowed_speed; in, touched,
 * impulse and work are reset. count is added to (rounds: the most). */
TlStatus tl_etm_level(const TlEtmLaw *law, const TlGroup *group, const TlDynamics *dynamics,
                      TlEtmCount *count);
TlStatus tl_etm_priority(const TlEtmLaw *law, const TlGroup *group, const TlDynamics *dynamics,
                         TlEtmCount *count);
TlStatus tl_sqm(const TlEtmLaw *law, const TlGroup *group, const TlDynamics *dynamics,
                TlEtmCount *count);
TlStatus tl_smm(const TlEtmLaw *law, const TlGroup *group, const TlDynamics *dynamics,
                TlEtmCount *count);

/* ---- the impulses themselves, shared by both orders ---- */

/* Before an impulse of compression: notes the start of the round, u_n and what the tangential
 * velocity aims at. */
void tl_etm_begin(TlContact *contact, const TlTwist *twist, double un);
/* Raise u_n by du > 0 (push.h): aim at zero tangential velocity (at -e_t u_t(start) with tangential
 * restitution), stick inside the Coulomb cone, else slide. Books the normal work into c->work.
 * Returns P.n. */
double tl_etm_compress(const TlEtmLaw *law, TlContact *contact, const TlDynamics *dynamics,
                       double du);
/* Give back elastic energy down to `keep` (Tang Eqs. 49, 66 with friction: Correction 6), but
 * raise u_n by no more than du_step. Returns true when work has reached keep. */
bool tl_etm_release(const TlEtmLaw *law, TlContact *contact, const TlDynamics *dynamics,
                    double keep, double du_step);
/* The same for points without friction that are equally urgent, all at once and in proportion: what
 * is symmetric stays so to rounding. Work is that of the changes they really see, together, so the
 * energy balance stays exact. False: they hinder each other too much, nothing was done. */
enum { TL_ETM_TOGETHER = 16 }; /* most points */
bool tl_etm_compress_together(TlContact **contact, int count, const TlDynamics *dynamics,
                              const double *du);
bool tl_etm_release_together(TlContact **contact, int count, const TlDynamics *dynamics,
                             const double *du_step);
/* Does the contact take part: was in already, or approaches too fast? Updates contact->in. */
bool tl_etm_enters(TlContact *contact, const TlEtmLaw *law, const TlTwist *twist, double un);
/* W <- e^2 W with e = 0 for slow starts; returns W after; adds to the count's work. */
double tl_etm_restitute(TlContact *contact, const TlEtmLaw *law, bool zero, TlEtmCount *count);
void tl_etm_reset(const TlGroup *group);
/* Does the pair at this place of the order approach still? With velocities that all pairs share. */
bool tl_etm_approaches(const TlEtmLaw *law, const TlGroup *group, int32_t at, const TlTwist *twist);
/* Note in pair->stuck the pairs that approach still, for which an end has to be made: those of
 * islands with open[island] < 0 (NULL: of all). With velocities that all pairs share. */
void tl_etm_mark_stuck(const TlEtmLaw *law, const TlGroup *group, const TlTwist *twist,
                       const double *open);
/* Does somebody watch each impulse? */
static inline bool tl_etm_watched(const TlEtmLaw *law) {
  return law->trace && !law->trace->ends_only;
}
static inline void tl_etm_trace(const TlEtmLaw *law, TlTracePhase phase, const TlGroup *group,
                                const TlDynamics *dynamics) {
  bool end = phase == TL_TRACE_START || phase == TL_TRACE_END;
  if (end ? law->trace != NULL : tl_etm_watched(law))
    law->trace->note(law->trace->context, phase, group, dynamics);
}

#endif
