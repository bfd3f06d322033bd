/* Sparse codes by Batch-OMP (Rubinstein, Zibulevsky and Elad 2008): orthogonal matching pursuit
 * that works on inner products with the atoms and their Gram matrix, never on residuals.
 *
 * For y in R^dims: take the atom that correlates most with the residual, fit all atoms taken so far
 * by least squares, until `most` are taken or |y - D a|^2 <= limit. It stands in for the l1 problem
 * of Tan 2022 (Eqs. 2.10, 2.12): a bound on the error is what the noise gives, a weight of the l1
 * norm would have to be tuned to it; and it costs a known time.
 *
 * The code of a vector depends on nothing but the vector: same bits whatever it is coded with.
 * Single precision, no fused multiply and add.
 */
#ifndef TL_IMAGE_SUPERRES_CODES_H
#define TL_IMAGE_SUPERRES_CODES_H

#include "base/status.h"

#include <stdint.h>

enum { TL_CODE_MOST = 8, TL_CODE_AT_ONCE = 4 };

typedef struct TlCode {
  int used;
  int32_t atom[TL_CODE_MOST];
  float weight[TL_CODE_MOST];
} TlCode;

typedef struct TlCoder {
  int64_t atoms; /* multiple of 16 */
  int dims, most;
  float *table; /* atoms / 16 blocks of dims x 16. Owned */
  float *gram;  /* atoms x atoms. Owned */
} TlCoder;

/* low: atoms x dims, unit rows, borrowed for the call. most: 1 to TL_CODE_MOST. */
TlStatus tl_coder_make(int64_t atoms, int dims, int most, const float *low, TlCoder *coder);
void tl_coder_free(TlCoder *coder);
/* Floats of scratch that coding takes. */
static inline int64_t tl_coder_scratch(const TlCoder *coder) {
  return (TL_CODE_AT_ONCE + 1) * coder->atoms;
}
/* y: count x dims -> count codes. scratch: 64-byte aligned. */
void tl_coder_code(const TlCoder *coder, const float *y, int64_t count, double limit,
                   float *scratch, TlCode *codes);

/* The dictionary step of Tan 2022, Eqs. 2.13-2.19 (Lee et al. 2007):
 *   min_D |X - D Z|^2,  |D_i|^2 <= 1,
 * by its Lagrange dual in one multiplier an atom,
 *   D(l) = tr(X X^T) - tr(B A^-1 B^T) - sum l_i,  A = Z Z^T + diag(l), B = X Z^T, l >= 0   (2.15)
 *   dD/dl_i = |B A^-1 e_i|^2 - 1                                                           (2.17)
 *   d2D/dl_i dl_j = -2 (A^-1 B^T B A^-1)_ij (A^-1)_ij                                      (2.18)
 * (the source writes X^T for X X^T in 2.15 and 2.16). It is concave; we climb it by Newton steps
 * over the multipliers that are not held at 0, shortened until D rises; then D^T = A^-1 B^T (2.19).
 */

typedef struct TlDual {
  int64_t atoms, rows; /* Z has atoms rows, X has rows */
  const double *zz;    /* Z Z^T, atoms x atoms; no atom without a use. Borrowed */
  const double *zx;    /* Z X^T, atoms x rows. Borrowed */
  double *multiplier;  /* atoms; start >= 0 in, solution out. The caller's */
  double *dictionary;  /* D^T: atoms x rows, out. The caller's */
  double violation;    /* out: of | |D_i|^2 - 1 | where l_i > 0, of |D_i|^2 - 1 elsewhere */
  int steps;           /* out */
} TlDual;

/* Until violation <= 1e-6 or no step climbs. TL_ENOMEM; TL_ELIMIT when Z Z^T is no Gram matrix. */
TlStatus tl_dual_solve(TlDual *dual);

#endif
