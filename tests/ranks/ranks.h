/* Ranks without MPI, for tests that are linked with tests/ranks/comm.c in place of base/comm.c: the
 * ranks of a run are coroutines of the calling thread. Threads of OpenMP only while one rank runs.
 */
#ifndef TL_TESTS_RANKS_H
#define TL_TESTS_RANKS_H

#include "base/comm.h"

typedef void (*TlRankBody)(TlComm *comm, void *argument);

/* Call body on `ranks` ranks with a communicator of theirs; returns when all have ended. */
void tl_ranks_run(int ranks, TlRankBody body, void *argument);

#endif
