/* Said at the start of a run by the penalty method: the longest step that is safe for all grains,
 * and what penalty.mass_scale makes of it. */
#ifndef TL_RUN_SAFE_STEP_H
#define TL_RUN_SAFE_STEP_H

#include "run/run.h"

/* Collective; bodies and solver must be there. *safe_s: INFINITY without grains or by impulses. */
TlStatus tl_safe_step(TlRun *run, double *safe_s);
void tl_safe_step_say(const TlRun *run, double safe_s);

#endif
