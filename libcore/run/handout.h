/* Bodies that rank 0 alone knows go to the ranks in equal parts, in blocks of bounded size. */
#ifndef TL_RUN_HANDOUT_H
#define TL_RUN_HANDOUT_H

#include "base/comm.h"
#include "model/bodies.h"

/* Collective. count and make are asked on rank 0 only, which appends body i of count; each rank gets
 * its part of them as owned bodies, in order. */
TlStatus tl_hand_out(TlComm *comm, int64_t count,
                     TlStatus (*make)(void *context, int64_t i, TlBodies *bodies), void *context,
                     TlBodies *bodies);

#endif
