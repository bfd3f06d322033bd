#include "dem/law.h"

#include <math.h>

/* 4/3 E* sqrt(r*), with E* = E/(2 (1 - nu^2)) for two grains of one material (PHYSICS note 23). */
static double stiffness(const TlLawPoint *p) {
  double nu = p->stiffness.poisson;
  return 4.0 / 3 * p->stiffness.young_Pa / (2 * (1 - nu * nu)) * sqrt(p->radius_m);
}

static double force(const TlLawPoint *p, double d) {
  return stiffness(p) * d * sqrt(d);
}
static double slope(const TlLawPoint *p, double d) {
  return 1.5 * stiffness(p) * sqrt(d);
}
static double energy(const TlLawPoint *p, double d) {
  return 0.4 * stiffness(p) * d * d * sqrt(d);
}
/* 8 G* sqrt(r* d), G* = G/(2 (2 - nu)), G = E/(2 (1 + nu)). */
static double shear(const TlLawPoint *p, double d) {
  double nu = p->stiffness.poisson, g = p->stiffness.young_Pa / (2 * (1 + nu));
  return 8 * g / (2 * (2 - nu)) * sqrt(p->radius_m * d);
}

/* sqrt(5/6): with damping along sqrt(m k(d)) the restitution does not depend on the speed (Antypov,
 * Elliott 2011). */
const TlNormalLaw tl_law_hertz = {
    "hertz", true, force, slope, energy, shear, 0.91287092917527685576};
