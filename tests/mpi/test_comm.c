/* What ranks say to each other.  ranks: 1 2 4 */
#include "mpi/mpitest.h"

#include "base/mem.h"

static void sums_are_in_rank_order(TlComm *comm) {
  int ranks = tl_comm_size(comm), me = tl_comm_rank(comm);
  double x[2] = {1.0 / (me + 3), 1e16 * (me % 2 ? -1 : 1)}, want[2] = {0, 0};
  for (int r = 0; r < ranks; r++) {
    want[0] = r ? want[0] + 1.0 / (r + 3) : 1.0 / 3;
    want[1] += 1e16 * (r % 2 ? -1 : 1);
  }
  REQUIRE_OK(tl_comm_sum(comm, x, 2));
  REQUIRE(x[0] == want[0] && x[1] == want[1], "%.17g %.17g", x[0], x[1]);
}

static void least_most_and_counts(TlComm *comm) {
  int ranks = tl_comm_size(comm), me = tl_comm_rank(comm);
  double low = me, high = me;
  int64_t sum = me + 1, to[64], from[64];
  REQUIRE_OK(tl_comm_least(comm, &low, 1));
  REQUIRE_OK(tl_comm_most(comm, &high, 1));
  REQUIRE_OK(tl_comm_sum_int(comm, &sum, 1));
  REQUIRE(low == 0 && high == ranks - 1, "%g %g", low, high);
  REQUIRE(sum == (int64_t)ranks * (ranks + 1) / 2, "%lld", (long long)sum);
  for (int r = 0; r < ranks; r++) to[r] = 100 * me + r;
  REQUIRE_OK(tl_comm_swap_counts(comm, to, from));
  for (int r = 0; r < ranks; r++)
    REQUIRE(from[r] == 100 * r + me, "from %d: %lld", r, (long long)from[r]);
}

static void all_leave_with_the_first_failing_rank(TlComm *comm) {
  int ranks = tl_comm_size(comm), me = tl_comm_rank(comm);
  REQUIRE_OK(tl_comm_agree(comm, TL_OK));
  TlStatus mine = me >= ranks / 2 ? tl_fail(TL_EIO, "grain %d is broken", me) : TL_OK;
  char want[64];
  REQUIRE(tl_comm_agree(comm, mine) == TL_EIO, "%s", tl_message());
  if (ranks / 2 == 0)
    snprintf(want, sizeof want, "grain 0 is broken");
  else
    snprintf(want, sizeof want, "rank %d: grain %d is broken", ranks / 2, ranks / 2);
  REQUIRE(strcmp(tl_message(), want) == 0, "'%s'", tl_message());
}

/* As when a step fails for want of memory on the last rank and the others are told to leave it. */
static void a_failure_that_is_only_known_of_is_told_last(TlComm *comm) {
  int ranks = tl_comm_size(comm), me = tl_comm_rank(comm);
  TlStatus mine = me == ranks - 1 ? tl_fail(TL_ENOMEM, "memory is out")
                                  : tl_fail(TL_EOTHER, "another rank failed in this step");
  REQUIRE(tl_comm_agree(comm, mine) == TL_ENOMEM, "%s", tl_message());
  REQUIRE(strstr(tl_message(), "memory is out") != NULL, "'%s'", tl_message());
}

static void messages_arrive_whole(TlComm *comm) {
  int ranks = tl_comm_size(comm), me = tl_comm_rank(comm);
  enum { N = 100000 };
  int64_t *out, *in;
  TlCommBatch batch = {0};
  REQUIRE_OK(TL_NEW(out, N));
  REQUIRE_OK(TL_NEW(in, N));
  for (int i = 0; i < N; i++) out[i] = (int64_t)me * N + i;
  int before = (me + ranks - 1) % ranks, next = (me + 1) % ranks;
  REQUIRE_OK(tl_comm_receive(comm, &batch, before, 9, in, N * sizeof *in));
  REQUIRE_OK(tl_comm_send(comm, &batch, next, 9, out, N * sizeof *out));
  REQUIRE_OK(tl_comm_wait(comm, &batch));
  for (int i = 0; i < N; i++) REQUIRE(in[i] == (int64_t)before * N + i, "element %d", i);
  REQUIRE(tl_comm_counters(comm).largest_message_bytes == N * 8, "counted wrongly");
  tl_comm_batch_free(&batch);
  tl_free(out);
  tl_free(in);
}

static void body(TlComm *comm) {
  sums_are_in_rank_order(comm);
  least_most_and_counts(comm);
  all_leave_with_the_first_failing_rank(comm);
  a_failure_that_is_only_known_of_is_told_last(comm);
  messages_arrive_whole(comm);
}
MPI_TEST_MAIN(body)
