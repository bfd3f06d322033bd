#include "num/exact.h"

#include <math.h>
#include <string.h>

enum { LOWEST = 1088, NOT_FINITE = TL_EXACT_LIMBS - 1, LIMBS = TL_EXACT_LIMBS - 1 };

void tl_exact_add(TlExact *sum, double term) {
  uint64_t bits;
  memcpy(&bits, &term, sizeof bits);
  unsigned exponent = (unsigned)(bits >> 52 & 0x7ff);
  uint64_t mantissa = bits & 0xfffffffffffffu;
  if (exponent == 0x7ff) {
    sum->limb[NOT_FINITE]++;
    return;
  }
  mantissa |= (uint64_t)(exponent > 0) << 52;
  exponent += exponent == 0;
  unsigned place = exponent - 1075 + LOWEST, shift = place % 32; /* of the mantissa's lowest bit */
  uint64_t low = mantissa << shift, high = mantissa >> 1 >> (63 - shift);
  int64_t *limb = &sum->limb[place / 32], negative = -(int64_t)(bits >> 63); /* or 0 */
  limb[0] += ((int64_t)(low & 0xffffffffu) ^ negative) - negative;
  limb[1] += ((int64_t)(low >> 32) ^ negative) - negative;
  limb[2] += ((int64_t)high ^ negative) - negative;
}

void tl_exact_add_sum(TlExact *sum, int times, const TlExact *other) {
  for (int i = 0; i < LIMBS; i++) sum->limb[i] += times * other->limb[i];
  sum->limb[NOT_FINITE] += other->limb[NOT_FINITE];
}

/* Each limb but the last into [0, 2^32); the last one keeps the sign. */
static void carry(int64_t limb[LIMBS]) {
  for (int i = 0; i + 1 < LIMBS; i++) {
    int64_t low = limb[i] & 0xffffffff;
    limb[i + 1] += (limb[i] - low) / ((int64_t)1 << 32);
    limb[i] = low;
  }
}

double tl_exact_value(const TlExact *sum) {
  int64_t limb[LIMBS];
  if (sum->limb[NOT_FINITE]) return NAN;
  memcpy(limb, sum->limb, sizeof limb);
  carry(limb);
  double sign = limb[LIMBS - 1] < 0 ? -1 : 1;
  if (sign < 0) {
    for (int i = 0; i < LIMBS; i++) limb[i] = -limb[i];
    carry(limb);
  }
  int top = LIMBS - 1;
  while (top > 0 && limb[top] == 0) top--;
  /* Three limbs hold at least 65 bits; the order of these additions is fixed. */
  double value = 0;
  for (int i = top >= 2 ? top - 2 : 0; i <= top; i++)
    value += ldexp((double)limb[i], 32 * i - LOWEST);
  return sign * value;
}
