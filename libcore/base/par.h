/* Threads. The only header that says OpenMP's runtime; loops may use `#pragma omp` themselves.
 *
 * tl_par_blocks cuts [0, n) into fixed blocks (their borders depend on n and block only, never on
 * the thread count) and runs body on each. Whoever sums stores one value a block and adds them in
 * block order: the result then has the same bits for any thread count.
 */
#ifndef TL_BASE_PAR_H
#define TL_BASE_PAR_H

#include "base/status.h"

#include <stdint.h>

void tl_par_set_threads(int threads); /* <= 0: all the machine offers */
int tl_par_threads(void);

/* body(context, begin, end, block, thread). The first failing block (lowest index) decides the
 * status and its message; the others still run. */
typedef TlStatus (*TlParBody)(void *context, int64_t begin, int64_t end, int64_t block, int thread);
TlStatus tl_par_blocks(int64_t n, int64_t block, TlParBody body, void *context);

#endif
