#include "dem/law.h"

static double slope(const TlLawPoint *p, double d) {
  (void)d;
  return p->area_m2 > 0 ? p->area_m2 * p->stiffness.normal_Pa_m : p->stiffness.normal_N_m;
}
static double force(const TlLawPoint *p, double d) {
  return slope(p, d) * d;
}
static double energy(const TlLawPoint *p, double d) {
  return 0.5 * slope(p, d) * d * d;
}
static double shear(const TlLawPoint *p, double d) {
  return p->stiffness.ratio * slope(p, d);
}

const TlNormalLaw tl_law_linear = {"linear", false, force, slope, energy, shear, 1};
