#include "num/linear.h"

#include <cblas.h>
#include <lapacke.h>

/* Called before each use: the number is the process', and someone may have set it. */
static void one_thread(void) {
  openblas_set_num_threads(1);
}

void tl_linear_product(bool a_transposed, bool b_transposed, int64_t m, int64_t n, int64_t k,
                       const double *a, const double *b, double *c) {
  one_thread();
  cblas_dgemm(CblasRowMajor, a_transposed ? CblasTrans : CblasNoTrans,
              b_transposed ? CblasTrans : CblasNoTrans, (int)m, (int)n, (int)k, 1.0, a,
              (int)(a_transposed ? m : k), b, (int)(b_transposed ? k : n), 0.0, c, (int)n);
}

static TlStatus judged(lapack_int info, const char *what) {
  if (info == 0) return TL_OK;
  if (info > 0) return tl_fail(TL_ELIMIT, "a matrix of %s is not positive definite", what);
  return tl_fail(TL_ELIB, "LAPACK refuses argument %d of %s", -(int)info, what);
}

/* Row-major upper is column-major lower: the calls below are told so, which saves copies. */
TlStatus tl_linear_invert(int64_t n, double *a) {
  one_thread();
  TL_TRY(judged(LAPACKE_dpotrf(LAPACK_COL_MAJOR, 'L', (int)n, a, (int)n), "an inverse"));
  TL_TRY(judged(LAPACKE_dpotri(LAPACK_COL_MAJOR, 'L', (int)n, a, (int)n), "an inverse"));
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < i; j++) a[i * n + j] = a[j * n + i];
  return TL_OK;
}

TlStatus tl_linear_solve(int64_t n, double *a, int64_t count, double *b) {
  one_thread();
  return judged(LAPACKE_dposv(LAPACK_COL_MAJOR, 'L', (int)n, (int)count, a, (int)n, b, (int)n),
                "equations");
}

TlStatus tl_linear_eigen(int64_t n, double *a, double *value) {
  one_thread();
  lapack_int info = LAPACKE_dsyevd(LAPACK_COL_MAJOR, 'V', 'L', (int)n, a, (int)n, value);
  return info == 0 ? TL_OK : tl_fail(TL_ELIB, "LAPACK finds no eigenvectors (%d)", (int)info);
}
