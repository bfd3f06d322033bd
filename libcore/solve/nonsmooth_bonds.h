/* Bonds of nets (membrane.h) as rows of the nonsmooth method (nonsmooth.h): the spring of stiffness k with
 * a damper c bears what it will bear at the end of the step,
 *   l = -h (k (g + h u+) + c u+),  so  u+ + l/(h (k h + c)) = -k g/(k h + c),
 * with g its stretch or its displacement across. That is implicit Euler: stable at any step, and no step
 * makes energy, where SPOOK's row of the same compliance does so once k h^2 exceeds the mass. An impact
 * leaves bonds alone: within its moment a spring bears nothing.
 */
#ifndef TL_SOLVE_NONSMOOTH_BONDS_H
#define TL_SOLVE_NONSMOOTH_BONDS_H

#include "solve/membrane.h"
#include "solve/nonsmooth.h"

/* What the solver of a bond has to know (contact.h: TlLink); what it gives back is `lambda`. */
typedef struct TlNsSheetBond {
  TlNetBond bond; /* its law is not valid: the copy is */
  TlBondLaw law;
} TlNsSheetBond;

/* Row of a bond for the continuous stage; it starts from what the spring bears as it stands. */
void tl_ns_bond_rows(const TlNsProblem *problem, const TlNsSheetBond *from, double step_s,
                     TlNsBond *bond);
/* What it did to its lower sphere in the step, for measures; at: that one's centre. */
TlConstraintRow tl_ns_bond_note(const TlNetBond *from, TlVec3 lambda, TlVec3 at, double step_s);

#endif
