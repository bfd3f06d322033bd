/* The dictionary step of Tan 2022, Eqs. 2.13-2.19 (Lee et al. 2007):
 *   min_D |X - D Z|^2,  |D_i|^2 <= 1,
 * by its Lagrange dual in one multiplier an atom,
 *   D(l) = tr(X X^T) - tr(B A^-1 B^T) - sum l_i,  A = Z Z^T + diag(l), B = X Z^T, l >= 0   (2.15)
 *   dD/dl_i = |B A^-1 e_i|^2 - 1                                                           (2.17)
 *   d2D/dl_i dl_j = -2 (A^-1 B^T B A^-1)_ij (A^-1)_ij                                      (2.18)
 * (the source writes X^T for X X^T in 2.15 and 2.16). It is concave; we climb it by Newton steps
 * over the multipliers that are not held at 0, shortened until D rises; then D^T = A^-1 B^T (2.19).
 */
#ifndef TL_IMAGE_SUPERRES_DUAL_H
#define TL_IMAGE_SUPERRES_DUAL_H

#include "base/status.h"

#include <stdint.h>

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
