/* Grains let in during the run (release.assembly poured).
 *
 * The inlet is a lattice (run/lattice.c) in the box of the release, moved at random within it before
 * each step; grains lie at random in their cells as far as these leave them room. As many grains as
 * are due by then (all at once without rate_per_s) enter cells that no body's bounding sphere
 * reaches; those that find none wait. Ids 0, 1, ... count the grains as they come; which grain and
 * how it is turned is a function of seed and id, where the lattice lies one of seed and step, which
 * cell one of seed, id and what lies there, so nothing depends on ranks. The only state is TlRun.poured; a checkpoint keeps it.
 */
#ifndef TL_RUN_POUR_H
#define TL_RUN_POUR_H

#include "run/run.h"

/* After the bodies of the start are there: ids and avatars of those to come. Collective. */
TlStatus tl_pour_open(TlRun *run);
/* What is due after `step` steps enters. Collective; bodies may move between ranks. */
TlStatus tl_pour(TlRun *run, int64_t step);
/* Would the solver refuse one of those to come? Collective; the message is the solver's. */
TlStatus tl_pour_check(TlRun *run);
/* Sum over the steps from `first` up to `last` of the grains that are there, if none leaves; of grains that are
 * poured as fast as the inlet takes them all. */
double tl_pour_sum(const TlRun *run, int64_t first, int64_t last);
/* How many were due by the last step. */
int64_t tl_pour_due(const TlRun *run);
/* How many are still to come. */
int64_t tl_pour_left(const TlRun *run);

#endif
