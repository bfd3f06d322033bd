#include "base/par.h"

#include <omp.h>
#include <stdio.h>
#include <string.h>

static const double WORTH_NS = 5e4;

void tl_par_set_threads(int threads) {
  omp_set_num_threads(threads > 0 ? threads : omp_get_num_procs());
}

int tl_par_threads(void) {
  return omp_get_max_threads();
}

/* The first block that failed. */
typedef struct Failure {
  int64_t block;
  TlStatus status;
  char text[2048];
} Failure;

static void note_failure(Failure *failure, int64_t block, TlStatus status) {
  if (block >= failure->block) return;
  failure->block = block;
  failure->status = status;
  snprintf(failure->text, sizeof failure->text, "%s", tl_message());
}

static TlStatus run(int64_t n, int64_t block, bool team, TlParBody body, void *context) {
  int64_t blocks = (n + block - 1) / block;
  Failure failure = {.block = INT64_MAX, .status = TL_OK};
  if (team && blocks > 1) {
#pragma omp parallel for schedule(dynamic, 1)
    for (int64_t b = 0; b < blocks; b++) {
      int64_t end = (b + 1) * block < n ? (b + 1) * block : n;
      TlStatus status = body(context, b * block, end, b, omp_get_thread_num());
      if (status == TL_OK) continue;
#pragma omp critical(tl_par_failure)
      note_failure(&failure, b, status);
    }
  } else { /* no region: one of one thread costs half a microsecond, too */
    for (int64_t b = 0; b < blocks; b++) {
      int64_t end = (b + 1) * block < n ? (b + 1) * block : n;
      TlStatus status = body(context, b * block, end, b, 0);
      if (status != TL_OK) note_failure(&failure, b, status);
    }
  }
  return failure.status == TL_OK ? TL_OK : tl_fail(failure.status, "%s", failure.text);
}

TlStatus tl_par_blocks(int64_t n, int64_t block, TlParBody body, void *context) {
  return run(n, block, tl_par_threads() > 1, body, context);
}

bool tl_par_pays(int64_t n, double each_ns) {
  return (double)n * each_ns >= WORTH_NS && tl_par_threads() > 1 && !omp_in_parallel();
}

TlStatus tl_par_loop(int64_t n, int64_t block, double each_ns, TlParBody body, void *context) {
  return run(n, block, tl_par_pays(n, each_ns), body, context);
}
