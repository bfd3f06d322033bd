/* The joints of a study become constraints of the state. */
#ifndef TL_RUN_JOINTS_H
#define TL_RUN_JOINTS_H

#include "run/run.h"

/* Between the bodies that tl_placed_make has made, whose ids begin with first_placed. Collective. */
TlStatus tl_joints_make(TlRun *run, int64_t first_placed);

#endif
