/* Saving a run and resuming from what was saved.
 *
 * State is what the next step's bits depend on: the bodies (TL_BODY_FIELDS), their contact memory
 * and constraints (model/pair_state.h), the number of steps, and the cuts of space among the ranks
 * (for the sums in history.csv that say how islands lie on ranks; on another number of ranks space
 * is cut anew). Everything else in the solver is scratch or rebuilt from these. Beside it lie the
 * totals of the run, and how much of history.csv and of the frames belongs to it, so that what came
 * after the checkpoint can be taken away. A new kind of state is a new section: one line of the
 * table in checkpoint.c.
 */
#ifndef TL_RUN_CHECKPOINT_H
#define TL_RUN_CHECKPOINT_H

#include "run/run.h"

/* Collective. The state after run->state->totals.steps, between steps; then all but the newest
 * checkpoint.keep are removed. TL_EIO leaves the older ones alone. hurry: this process may be
 * killed soon, so the checkpoint gets its name before the disk is waited for. */
TlStatus tl_run_save(TlRun *run, bool hurry);

/* Resuming, in this order; collective, but for study and check. */

/* Open the newest whole checkpoint in run->folder; damaged ones are named in a warning. TL_EINPUT
 * when there is none. */
TlStatus tl_resume_find(TlRun *run);
/* The study as it was saved, in place of a study file. */
TlStatus tl_resume_study(TlRun *run);
/* The study may say other things than when it was saved only in keys that move no bit of what is
 * done already. TL_EINPUT names the key. */
TlStatus tl_resume_check(TlRun *run);
/* Totals, bodies and cuts; run->dist is made. */
TlStatus tl_resume_state(TlRun *run);
/* Shapes are loaded: are they those the run began with? TL_EINPUT names one that is not. Each rank
 * for itself. */
TlStatus tl_resume_shapes(TlRun *run);

#endif
