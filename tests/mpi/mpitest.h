/* Tests over ranks: a failed check says rank, file and line and ends every rank with exit 1 (a
 * plain Check assertion would leave the others waiting). */
#ifndef TL_TESTS_MPI_MPITEST_H
#define TL_TESTS_MPI_MPITEST_H

#include "base/comm.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REQUIRE(condition, ...)                                                                    \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      int rank_ = 0;                                                                               \
      MPI_Comm_rank(MPI_COMM_WORLD, &rank_);                                                       \
      fprintf(stderr, "%s:%d: rank %d: %s does not hold: ", __FILE__, __LINE__, rank_,             \
              #condition);                                                                         \
      fprintf(stderr, __VA_ARGS__);                                                                \
      fprintf(stderr, "\n");                                                                       \
      MPI_Abort(MPI_COMM_WORLD, 1);                                                                \
    }                                                                                              \
  } while (0)

#define REQUIRE_OK(call)                                                                           \
  do {                                                                                             \
    TlStatus require_status_ = (call);                                                             \
    REQUIRE(require_status_ == TL_OK, "%s: %s", #call, tl_message());                              \
  } while (0)

/* int main: starts the ranks, runs body(comm), ends them. */
#define MPI_TEST_MAIN(body)                                                                        \
  int main(int argc, char **argv) {                                                                \
    TlComm *comm;                                                                                  \
    if (tl_comm_start(&comm, &argc, &argv) != TL_OK) return 1;                                     \
    body(comm);                                                                                    \
    tl_comm_stop(comm);                                                                            \
    return 0;                                                                                      \
  }

#endif
