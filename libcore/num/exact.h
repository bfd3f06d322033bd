/* Sums of doubles that do not depend on the order of the terms.
 *
 * The sum is kept exactly, as an integer of 32-bit limbs over the whole range of a double
 * (Kulisch's long accumulator), so adding in any order, or over any number of ranks limb by limb
 * (tl_comm_sum_int on limb), gives the same limbs; only the value taken at the end is rounded, to
 * within one unit of the last digit. Up to 2^29 terms in all. A term that is not finite makes the
 * value NaN.
 */
#ifndef TL_NUM_EXACT_H
#define TL_NUM_EXACT_H

#include <stdint.h>

/* 66 limbs from 2^-1088 hold 2^1024; three more take the carries, the last counts terms that are
 * not finite. */
enum { TL_EXACT_LIMBS = 70 };

typedef struct TlExact {
  int64_t limb[TL_EXACT_LIMBS]; /* limb i weighs 2^(32 i - 1088) */
} TlExact;                      /* zeroed: the empty sum */

void tl_exact_add(TlExact *sum, double term);
/* sum += times * other, with times 1 or -1; exact as well. */
void tl_exact_add_sum(TlExact *sum, int times, const TlExact *other);
double tl_exact_value(const TlExact *sum);

#endif
