/* The materials of tests: grains and boundaries, with values that a test sets in its configuration, and
 * a third material of its own. */
#ifndef TL_TESTS_MATERIALS_H
#define TL_TESTS_MATERIALS_H

#include "solve/model.h"
#include "solve/penalty_setup.h"
#include "solve/solver_setup.h"

#include <assert.h>

enum { TL_TEST_MATERIAL = TL_MATERIAL_FIRST_OWN };
/* Of grains on grains, of boundaries with whatever touches them. */
enum { TL_TEST_GRAIN = 1, TL_TEST_BOUNDARY = 2, TL_TEST_BOTH = 3 };

/* Grains and boundaries by these laws. A test uses few tables: the last ones stay. */
static inline TlMaterials *tl_test_plain(const TlPairLaw *grain, const TlPairLaw *boundary) {
  enum { STAY = 1024 };
  static TlPairLaw law[STAY][4];
  static TlMaterials table[STAY];
  static int made;
  int next = made++ % STAY;
  table[next] = (TlMaterials){.count = 2, .law = law[next]};
  tl_materials_set(&table[next], TL_MATERIAL_GRAIN, TL_MATERIAL_GRAIN, grain);
  tl_materials_set(&table[next], TL_MATERIAL_GRAIN, TL_MATERIAL_BOUNDARY, boundary);
  tl_materials_set(&table[next], TL_MATERIAL_BOUNDARY, TL_MATERIAL_BOUNDARY, boundary);
  return &table[next];
}

/* tl_solver_defaults with grains and boundaries as in a study that says nothing of contacts. */
static inline TlSolverConfig tl_test_config(void) {
  TlSolverConfig config = tl_solver_defaults();
  TlContactSetup contact;
  TlPenaltySetup penalty;
  TlStatus status = tl_params_defaults(tl_contact_params, TL_CONTACT_PARAMS, &contact);
  if (status == TL_OK) status = tl_params_defaults(tl_penalty_params, TL_PENALTY_PARAMS, &penalty);
  assert(status == TL_OK);
  TlMethodChoice choice = tl_penalty_choose(&penalty);
  TlPairLaw grain = {.stiffness = choice.grain}, boundary = {.stiffness = choice.boundary};
  tl_contact_laws(&contact, &grain, &boundary);
  config.materials = tl_test_plain(&grain, &boundary);
  return config;
}

/* The same for method nonsmooth, with the defaults of its section. */
static inline TlSolverConfig tl_test_nonsmooth(void) {
  TlSolverConfig config = tl_test_config();
  TlNonsmoothSetup setup;
  TlStatus status = tl_params_defaults(tl_nonsmooth_params, TL_NONSMOOTH_PARAMS, &setup);
  assert(status == TL_OK);
  (void)status;
  config.method = TL_NONSMOOTH;
  tl_nonsmooth_configure(&setup, &config);
  return config;
}

/* Values of the configuration as it is. */
static inline const TlPairLaw *tl_test_grain(const TlSolverConfig *config) {
  return &config->materials->law[0];
}
static inline const TlPairLaw *tl_test_boundary(const TlSolverConfig *config) {
  return &config->materials->law[1];
}

/* TL_TEST_SET(&config, TL_TEST_BOTH, friction, 0.3): in a table of its own, so that copies of the
 * configuration keep what they have. */
#define TL_TEST_SET(config, where, member, ...)                                                    \
  do {                                                                                             \
    TlPairLaw grain_ = *tl_test_grain(config), boundary_ = *tl_test_boundary(config);              \
    if ((where)&TL_TEST_GRAIN) grain_.member = (__VA_ARGS__);                                      \
    if ((where)&TL_TEST_BOUNDARY) boundary_.member = (__VA_ARGS__);                                \
    (config)->materials = tl_test_plain(&grain_, &boundary_);                                      \
  } while (0)

/* With a third material of this friction and restitution, whatever it touches; as stiff as grains
 * are, or boundaries where it touches one. Good until the next call. */
static inline const TlMaterials *tl_test_materials(const TlSolverConfig *c, double friction,
                                                   double restitution) {
  static TlPairLaw law[9];
  static TlMaterials materials = {.count = 3, .law = law};
  TlPairLaw grain = *tl_test_grain(c), boundary = *tl_test_boundary(c);
  TlPairLaw own = {.friction = friction, .restitution = restitution, .stiffness = grain.stiffness};
  TlPairLaw ground = own;
  ground.stiffness = boundary.stiffness;
  tl_materials_set(&materials, 0, 0, &grain);
  tl_materials_set(&materials, 0, 1, &boundary);
  tl_materials_set(&materials, 1, 1, &boundary);
  tl_materials_set(&materials, 0, 2, &own);
  tl_materials_set(&materials, 1, 2, &ground);
  tl_materials_set(&materials, 2, 2, &own);
  return &materials;
}

#endif
