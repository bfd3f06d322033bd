#include "base/par.h"

#include <omp.h>
#include <stdio.h>
#include <string.h>

void tl_par_set_threads(int threads) {
  omp_set_num_threads(threads > 0 ? threads : omp_get_num_procs());
}

int tl_par_threads(void) {
  return omp_get_max_threads();
}

TlStatus tl_par_blocks(int64_t n, int64_t block, TlParBody body, void *context) {
  int64_t blocks = (n + block - 1) / block;
  TlStatus first = TL_OK;
  int64_t first_block = INT64_MAX;
  char text[2048] = "";
#pragma omp parallel for schedule(dynamic, 1) if (blocks > 1)
  for (int64_t b = 0; b < blocks; b++) {
    int64_t end = (b + 1) * block < n ? (b + 1) * block : n;
    TlStatus status = body(context, b * block, end, b, omp_get_thread_num());
    if (status == TL_OK) continue;
#pragma omp critical(tl_par_failure)
    if (b < first_block) {
      first_block = b;
      first = status;
      snprintf(text, sizeof text, "%s", tl_message());
    }
  }
  return first == TL_OK ? TL_OK : tl_fail(first, "%s", text);
}
