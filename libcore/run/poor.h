/* Policy for poor avatars and unresolved ones (solve/step_poor.c): stop, freeze, drop, and for the
 * unresolved a warning alone, as the study says. Collective. */
#ifndef TL_RUN_POOR_H
#define TL_RUN_POOR_H

#include "run/run.h"

/* After a step, before bodies move between ranks. TL_EINPUT names both grains, their avatars, the
 * overlap and the step when the study says stop. */
TlStatus tl_run_handle_poor(TlRun *run, int64_t step);

#endif
