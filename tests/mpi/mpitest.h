/* Tests over ranks: a failed check says rank, file and line and ends every rank with exit 1 (a
 * plain Check assertion would leave the others waiting). */
#ifndef TL_TESTS_MPI_MPITEST_H
#define TL_TESTS_MPI_MPITEST_H

#include "base/comm.h"
#include "base/file.h"

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

/* A file of this text, in a folder that all ranks know: written by rank 0, there for all on return. Its path. */
static inline char *write_text(TlComm *comm, const char *folder, const char *name,
                               const char *text) {
  char *path = tl_path_join(folder, name);
  TlStatus status = TL_OK;
  if (tl_comm_rank(comm) == 0) status = tl_file_write(path, text, strlen(text), true);
  REQUIRE_OK(tl_comm_agree(comm, status));
  return path;
}

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
