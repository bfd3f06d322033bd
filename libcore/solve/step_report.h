/* The report of a step (step.h): this rank's part of it, and all of it over the ranks. */
#ifndef TL_SOLVE_STEP_REPORT_H
#define TL_SOLVE_STEP_REPORT_H

#include "solve/step_impulses.h"

/* Of a step by impulses, over all ranks; collective. */
TlStatus tl_step_report_impulses(TlStep *step, const TlGroups *groups, const TlStageCounts *counts,
                                 TlStepReport *report);
/* What follows from the contacts found and from the bodies, and all of it over the ranks; collective.
 * kinetic: with the energy that they have now. */
TlStatus tl_step_report_found(TlStep *step, bool kinetic, TlStepReport *report);
/* Of a report of this rank whose exact sums are the step's: notes its work for the audit, and makes it
 * that of all ranks. Collective. */
TlStatus tl_step_report_audited(TlStep *step, TlStepReport *report);
/* A rank's report and exact sums become those of all ranks, by the attributes of the fields.
 * Collective, two exchanges. */
TlStatus tl_step_report_ranks(const TlSync *sync, const TlStepSums *sums, TlStepReport *report);

#endif
