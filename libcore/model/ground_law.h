/* Laws of the ground under blocks of a rockfall beside friction that rises with the distance slid
 * (model/material.h), a function each; docs/theory/ground.md has the sources.
 */
#ifndef TL_MODEL_GROUND_LAW_H
#define TL_MODEL_GROUND_LAW_H

#include "model/material.h"

/* Restitution of a contact that is approached at this speed, >= 0: e/(1 + (v/v_half)^power). */
static inline double tl_restitution_at(const TlPairLaw *law, double approach_m_s) {
  if (!(law->restitution_half_m_s > 0 && approach_m_s > 0)) return law->restitution;
  return law->restitution /
         (1 + pow(approach_m_s / law->restitution_half_m_s, law->restitution_power));
}

/* Depth of the scar of a block that hits the ground with this normal velocity (Lu and others 2019):
 * 0.1 m^(1/3) M_E^-0.4 v^0.8 with M_E in kPa. */
static inline double tl_scar_depth(const TlPairLaw *law, double mass_kg, double normal_m_s) {
  return 0.1 * cbrt(mass_kg) * pow(law->scar_modulus_Pa / 1000, -0.4) * pow(normal_m_s, 0.8);
}

/* Section, across its direction of travel, of a sphere of this volume that lies so deep in the ground. */
static inline double tl_scar_section(double volume_m3, double depth_m) {
  double r = cbrt(3 * volume_m3 / (4 * M_PI)), d = depth_m < 2 * r ? depth_m : 2 * r;
  return r * r * acos((r - d) / r) - (r - d) * sqrt(d * (2 * r - d));
}

/* The force of the scar is (1 + C) rho A v^2/2: what it takes of v^2, over mass and distance; 1/m. */
static inline double tl_scar_per_m(const TlPairLaw *law, double mass_kg, double volume_m3,
                                   double normal_m_s) {
  double section = tl_scar_section(volume_m3, tl_scar_depth(law, mass_kg, normal_m_s));
  return 0.5 * (1 + law->scar_coefficient) * law->scar_density_kg_m3 * section / mass_kg;
}

#endif
