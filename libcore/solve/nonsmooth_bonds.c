#include "solve/nonsmooth_bonds.h"

void tl_ns_bond_rows(const TlNsProblem *q, const TlNsSheetBond *sheet, double h, TlNsBond *bond) {
  const TlNetBond *from = &sheet->bond;
  const TlBondLaw *law = &sheet->law;
  double k = law->normal_N_m, kt = law->tangential_N_m;
  double stiff = k * h + law->normal_N_s_m, stiff_t = kt * h + law->tangential_N_s_m;
  bond->sigma_n = 1 / (h * stiff);
  bond->rhs = tl_scale(-k * from->stretch / stiff, bond->n);
  bond->lambda = tl_scale(-h * k * from->stretch, bond->n);
  bond->sigma_t = bond->inverse_t = 0;
  if (stiff_t > 0) {
    bond->sigma_t = 1 / (h * stiff_t);
    bond->inverse_t = 1;
    bond->rhs = tl_axpy(bond->rhs, -kt / stiff_t, from->displacement);
    bond->lambda = tl_axpy(bond->lambda, -h * kt, from->displacement);
  }
  tl_nonsmooth_prepare_bond(q, bond);
}

TlConstraintRow tl_ns_bond_note(const TlNetBond *from, TlVec3 lambda, TlVec3 at, double h) {
  TlVec3 force = tl_scale(1 / h, lambda);
  return (TlConstraintRow){.kind = TL_BONDS,
                           .key = from->key,
                           .point_m = at,
                           .force_N = force,
                           .moment_N_m = tl_scale(-0.5 * from->length, tl_cross(from->n, force))};
}
