#include "base/lanes.h"
#include "solve/law.h"

TL_LANES_CLONES static void many(const TlLawPoints *p, int count, const TlLawArrays *out) {
  const double *restrict area = p->area_m2, *restrict depth = p->depth_m;
  double *restrict force = out->force, *restrict slope = out->slope;
  double *restrict energy = out->energy, *restrict shear = out->shear;
  const double point = p->stiffness->normal_N_m, surface = p->stiffness->normal_Pa_m,
               ratio = p->stiffness->tangential_ratio;
  for (int i = 0; i < count; i++) {
    double k = area[i] > 0 ? area[i] * surface : point;
    force[i] = k * depth[i];
    slope[i] = k;
    energy[i] = 0.5 * k * depth[i] * depth[i];
    shear[i] = ratio * k;
  }
}

const TlNormalLaw tl_law_linear = {.name = "linear",
                                   .point = TL_LAW_NEEDS(normal_N_m),
                                   .surface = TL_LAW_NEEDS(normal_Pa_m),
                                   .many = many,
                                   .damping_factor = 1};
