/* What the solver refuses, told at the place in the study that it speaks of.
 *
 * The solver knows no study. Its messages begin with what they are about: a key ("reduction.split:
 * ...") or a value of a pair of materials ("adhesion_N of materials 'sand' and 'steel': ...").
 */
#ifndef TL_RUN_REFUSAL_H
#define TL_RUN_REFUSAL_H

#include "base/status.h"

struct TlRun;

/* TL_EUSAGE of the solver becomes a failure at that key, or where the study gives the pair this value;
 * of a message about neither at the key `otherwise`, or, if that is NULL, as it is. Other statuses
 * are returned. */
TlStatus tl_run_refuse(const struct TlRun *run, TlStatus status, const char *otherwise);

#endif
