/* What the rules of a study's method say of its step and iterations (solve/methods.h: advise), from the bodies of all
 * ranks, the walls and motors that move them, and the grains that are still to be poured. The numbers do not
 * depend on ranks.
 */
#ifndef TL_RUN_ADVICE_H
#define TL_RUN_ADVICE_H

#include "run/run.h"

/* What the rules are computed from; derived fields must be filled (tl_run_refresh). Collective. */
TlStatus tl_run_scene(const TlRun *run, TlMethodScene *scene);
/* Log what the rules say, of a method that has such rules (nonsmooth), with a warning where the study's step or its
 * iterations are not as they ask. While grains are to be poured nothing is said of iterations: tl_run_advance
 * says it again when all are there. Collective; bodies and solver must be there. */
TlStatus tl_run_say_advice(TlRun *run);

#endif
