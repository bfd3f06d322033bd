/* Islands of bodies at rest sleep: no search, no sweep, no move (docs/theory/sleep.md). Of the methods by
 * impulses, where solver.sleep_speed is above 0.
 *
 * A body is at rest in a step that moves no point of it by more than v_s dt and leaves it no faster than
 * v_s = sleep_speed g dt. When each body of an island (islands.h) was at rest for sleep_after
 * sqrt(r/g), the island falls asleep: velocities become 0, and the kinetic energy is booked. Bodies of
 * nets, guided ones, those in trouble (step_problems.c), those whose friction remembers that they slid,
 * and those at a boundary that moves are never at rest; without gravity nobody is.
 *
 * So no contact joins a body that sleeps and one that does not: all that touched was one island. Bodies
 * that sleep are searched against those that are awake and against boundaries that move; the first
 * contact point, at whatever gap a contact is sought, wakes the whole island before anything is
 * solved, and the search is made again. An island also wakes when somebody gave one of its bodies a
 * velocity, and all do when what they rely on has changed (gravity, step, method, options, pair laws as
 * controls have them, densities, which boundaries are there). Who takes a body out or sets it free says so
 * (tl_sleep_wake_all). A body that wakes starts from the contact memory with which it fell asleep.
 *
 * Being asleep is state (TlBodies.asleep, the kinds TL_SLEEPING of pair_state.h, TlState.sleep_key), so
 * that a run resumes with the same bits, and any number of ranks and threads has the same.
 */
#ifndef TL_SOLVE_SLEEP_H
#define TL_SOLVE_SLEEP_H

#include "solve/stages.h"
#include "solve/step_common.h"

/* Does nothing move it or search for it, but what is awake? Rows of nets are moved while frozen. */
static inline bool tl_sleep_still(const TlBodies *b, int64_t i) {
  return b->asleep[i] != 0 || (b->flags[i] & (TL_BODY_FROZEN | TL_BODY_NET)) == TL_BODY_FROZEN;
}
/* Did somebody give a sleeping body a velocity? */
static inline bool tl_sleep_kicked(const TlBodies *b, int64_t i) {
  return b->asleep[i] != 0 && tl_norm2(b->velocity[i]) + tl_norm2(b->momentum[i]) > 0;
}

/* Has a contact of this step become a row of the kind TL_SLEEPING, its bodies having fallen asleep? */
static inline bool tl_sleep_contact(const TlBodies *b, const TlContact *c) {
  return c->rest.x > 0 && (b->asleep[c->a] != 0 || (c->b >= 0 && b->asleep[c->b] != 0));
}

/* Every body wakes, with its contact memory; each rank for itself. */
TlStatus tl_sleep_wake_all(TlBodies *bodies);

/* At the beginning of a step, boundaries being where they are: all wake where what they rely on has
 * changed, or the method knows no sleep. The same on all ranks, without an exchange. */
TlStatus tl_sleep_begin(const TlStep *step);
/* Is there nothing to solve on any rank? As the last tl_step_refresh saw the bodies. */
bool tl_sleep_whole(const TlStep *step);
/* For the search (TlScan.still): an array of the step; NULL: nobody sleeps. */
TlStatus tl_sleep_mark(const TlStep *step, const unsigned char **still);
/* Wakes the islands that a contact found has reached, and those of bodies that were kicked; *woke: some
 * did, on any rank. Collective. */
TlStatus tl_sleep_wake_touched(const TlStep *step, bool *woke);

/* Poses of the owned bodies before the step moves them; NULL where nobody may sleep. */
typedef struct TlSleepPoses {
  const TlVec3 *position;
  const TlQuat *rotation;
} TlSleepPoses;
TlStatus tl_sleep_note(const TlStep *step, TlSleepPoses *poses);
/* After the move: counts the steps at rest, and islands fall asleep. Collective. */
TlStatus tl_sleep_fall(TlStep *step, const TlIslands *islands, const TlSleepPoses *poses);
/* After tl_step_remember, which left the impulses of those that fell asleep as TL_SLEEPING rows: their
 * places follow. */
TlStatus tl_sleep_keep_places(TlPairState *pairs);

/* Numbers of contacts of the colliders that sleeping pairs bring; adds to `contacts` of all colliders. */
TlStatus tl_sleep_contacts(const TlStep *step);
/* What sleeping bodies and their contacts are for the report. */
void tl_sleep_report(const TlStep *step, TlStepReport *report);
/* Contact points of sleeping pairs, as tl_step_contacts: appended; rows has space for one a row of the
 * kind TL_SLEEPING. */
TlStatus tl_sleep_rows(const TlBodies *bodies, double step_s, TlContactRow *rows, int64_t *count);

#endif
