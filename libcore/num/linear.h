/* Dense linear algebra for the training of dictionaries, the one door to LAPACKE and OpenBLAS.
 *
 * OpenBLAS because the matrices are 512 x 512 and factorised some hundred times in a training:
 * its blocked kernels are well kept, and Debian has them for every processor.
 * Matrices are row-major doubles. One thread: results do not depend on how many the machine has
 * (they may differ in the last bits between processors, whose kernels differ).
 */
#ifndef TL_NUM_LINEAR_H
#define TL_NUM_LINEAR_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

/* c (m x n) = op(a) op(b); op(a) is m x k, op(b) k x n; stored transposed where said. */
void tl_linear_product(bool a_transposed, bool b_transposed, int64_t m, int64_t n, int64_t k,
                       const double *a, const double *b, double *c);
/* a (n x n), symmetric and positive definite (the upper triangle is read) -> its inverse, both
 * triangles. TL_ELIMIT when it is not definite. */
TlStatus tl_linear_invert(int64_t n, double *a);
/* Solves a x = b for count right sides: row r of b (count x n) is one, replaced by its solution. a
 * is destroyed. TL_ELIMIT as above. */
TlStatus tl_linear_solve(int64_t n, double *a, int64_t count, double *b);
/* Symmetric a (n x n) -> row i is the eigenvector of value[i], ascending. TL_ELIB. */
TlStatus tl_linear_eigen(int64_t n, double *a, double *value);

#endif
