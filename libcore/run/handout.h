/* Bodies that rank 0 alone knows, handed to the ranks in equal parts. */
#ifndef TL_RUN_HANDOUT_H
#define TL_RUN_HANDOUT_H

#include "base/comm.h"
#include "model/bodies.h"

/* Collective. count and state (body i of count) are asked on rank 0 only; each rank appends its
 * part as owned bodies, in order. In blocks of bounded size. */
TlStatus tl_hand_out(TlComm *comm, int64_t count, TlGrainState (*state)(void *context, int64_t i),
                     void *context, TlBodies *bodies);

#endif
