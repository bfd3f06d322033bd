/* Rows of pairs to the ranks that have bodies of theirs, when a run resumes: who read a row knows by
 * the ids' ranges whose the high one is.
 */
#ifndef TL_RUN_PAIR_HOMES_H
#define TL_RUN_PAIR_HOMES_H

#include "base/comm.h"
#include "model/pair_state.h"

/* Collective. Each rank has the ids from `from` up to the next rank's (rising with the ranks), and in
 * pairs the rows whose low id is one of these. Rows whose high id is another rank's are added there;
 * tl_pair_state_sort is to follow. */
TlStatus tl_pair_homes(TlComm *comm, int64_t from, TlPairState *pairs);

#endif
