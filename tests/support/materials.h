/* Grains, boundaries and a third material with friction and restitution of its own, whatever it
 * touches; as stiff as grains are, or boundaries where it touches one. */
#ifndef TL_TESTS_MATERIALS_H
#define TL_TESTS_MATERIALS_H

#include "dem/step.h"

enum { TL_TEST_MATERIAL = TL_MATERIAL_FIRST_OWN };

/* For a solver of this configuration; good until the next call. */
static inline const TlMaterials *tl_test_materials(const TlSolverConfig *c, double friction,
                                                   double restitution) {
  static TlPairLaw law[9];
  static TlMaterials materials = {3, law};
  TlPairLaw grain = {
      c->friction, c->restitution, c->tangential_restitution, c->penalty.grain, 0, 0};
  TlPairLaw boundary = {c->boundary_friction,
                        c->boundary_restitution,
                        c->boundary_tangential_restitution,
                        c->penalty.boundary,
                        0,
                        0};
  TlPairLaw own = {friction, restitution, 0, c->penalty.grain, 0, 0}, ground = own;
  ground.stiffness = c->penalty.boundary;
  tl_materials_set(&materials, 0, 0, &grain);
  tl_materials_set(&materials, 0, 1, &boundary);
  tl_materials_set(&materials, 1, 1, &boundary);
  tl_materials_set(&materials, 0, 2, &own);
  tl_materials_set(&materials, 1, 2, &ground);
  tl_materials_set(&materials, 2, 2, &own);
  return &materials;
}

#endif
