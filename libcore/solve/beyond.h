/* Steps beyond what sweeps do.
 *
 * Near the answer a sweep multiplies what is left by much the same, so what two sweeps changed, f_k after f_{k-1},
 * tells how far all further ones would go (Anderson 1965 with one sweep before; Walker and Ni 2011): the impulses move
 * on by
 *
 *   beta m, beta = max(0, f_k.(f_{k-1} - f_k)/|f_k - f_{k-1}|^2),
 *
 * where |f_k + beta (f_k - f_{k-1})| is least, with each row weighed by its own stiffness. m is f_k; of conjugate
 * gradients also what the step before has gone beyond its sweep. The solver keeps f and moves its impulses; here is
 * when, and how far, from the products of f that it hands in. Each island of a group has its own beta, the same bits
 * for any number of threads and ranks.
 */
#ifndef TL_SOLVE_BEYOND_H
#define TL_SOLVE_BEYOND_H

#include "solve/contact.h"

#include <stdbool.h>
#include <stdint.h>

/* Of some rows: squares of what the last two noted sweeps changed, and their product; energies. */
enum { TL_SQUARE_BEFORE, TL_SQUARE, TL_BOTH, TL_PRODUCTS };

typedef struct TlBeyond {
  const TlGroup *group;
  bool each;    /* conjugate gradients: a step after each sweep; else after every fourth */
  double *beta; /* [islands] how far to move on */
  double *went; /* [islands] 1: the step before moved on, too (conjugate gradients) */
  double *sum;  /* [TL_PRODUCTS * islands]; scratch between tl_beyond_choose and tl_beyond_clear */
  TlExact *exact; /* likewise, of large groups */
} TlBeyond;

/* In the scratch of the group, whose islands have not moved on yet. */
TlBeyond tl_beyond_start(const TlGroup *group, bool each);

/* Sweeps are counted from 1. Is sweep k compared with the one before? Do impulses move on after it, where an island
 * makes at most `most` sweeps? Not before its last two, which settle what that has shaken. */
bool tl_beyond_compares(const TlBeyond *beyond, int k);
bool tl_beyond_moves_on(const TlBeyond *beyond, int k);
bool tl_beyond_settles(int k, double most);

/* What a sweep that is compared changed: of rows of this square and product with what the sweep noted before it
 * changed, to their products. */
static inline void tl_beyond_compared(double *product, double square, double with_last) {
  product[TL_SQUARE_BEFORE] = product[TL_SQUARE];
  product[TL_SQUARE] = square;
  product[TL_BOTH] = with_last;
}

/* Products of all rows of the islands that are open, in an order of their own: of a large group the sums are exact, for
 * its rows lie on other ranks with each number of them. Then beta of all islands, collective when the group is shared;
 * the caller sets it to 0 where an island shall not move on. */
void tl_beyond_clear(TlBeyond *beyond);
void tl_beyond_add(TlBeyond *beyond, int32_t island, const double *product);
TlStatus tl_beyond_choose(TlBeyond *beyond, int k);

#endif
