#include "base/lanes.h"
#include "solve/law.h"

#include <math.h>

/* K = 4/3 E* sqrt(r*), E* = E/(2 (1 - nu^2)) for two grains of one material (Correction 23);
 * tangentially 8 G* sqrt(r* d), G* = G/(2 (2 - nu)), G = E/(2 (1 + nu)). */
TL_LANES_CLONES static void many(const TlLawPoints *p, int count, const TlLawArrays *out) {
  const double *restrict radius = p->radius_m, *restrict depth = p->depth_m;
  double *restrict force = out->force, *restrict slope = out->slope;
  double *restrict energy = out->energy, *restrict shear = out->shear;
  const double young = p->stiffness->young_Pa, nu = p->stiffness->poisson;
  const double normal = 2 * young / (3 * (1 - nu * nu)), cross = 2 * young / ((1 + nu) * (2 - nu));
  for (int i = 0; i < count; i++) {
    double d = depth[i], root = sqrt(radius[i] * d), k = normal * root;
    force[i] = k * d;
    slope[i] = 1.5 * k;
    energy[i] = 0.4 * k * d * d;
    shear[i] = cross * root;
  }
}

/* sqrt(5/6): with damping along sqrt(m k(d)) the restitution does not depend on the speed (Antypov,
 * Elliott 2011). */
const TlNormalLaw tl_law_hertz = {.name = "hertz",
                                  .point = TL_LAW_NEEDS(young_Pa),
                                  .many = many,
                                  .damping_factor = 0.91287092917527685576};
