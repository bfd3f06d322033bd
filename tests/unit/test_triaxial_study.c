/* Section triaxial of a study: what makes no sense is said at its key, and what it adds. */
#include "support/tltest.h"

#include "base/file.h"
#include "run/apparatus.h"
#include "run/materials.h"

#define CELL                                                                                       \
  "time: {dt_s: 1.0e-5, duration_s: 1}\n"                                                          \
  "shapes: [{name: ball, diameter_m: 0.01}]\n"                                                     \
  "bodies: [{shape: ball, position_m: [0, 0, 0.01]}]\n"                                            \
  "penalty: {spread: deepest, normal_N_m: 1.0e+4}\n"
#define METHOD "solver: {method: penalty}\n"
#define SIZE "triaxial:\n  radius_m: 0.02\n  height_m: 0.08\n"
#define SKIN "  membrane: {radius_m: 0.0025, stiffness_N_m: 500}\n"

static TlStatus fill(const char *text, TlStudy *study, TlSetup *setup) {
  *setup = (TlSetup){0};
  TlStatus status = tl_study_parse(study, "cell.yaml", text, strlen(text));
  return status == TL_OK ? tl_setup_fill(setup, study) : status;
}

static void refused(const char *text, const char *message) {
  TlStudy study;
  TlSetup setup;
  CK_FAILS(fill(text, &study, &setup), TL_EINPUT, message);
  tl_setup_free(&setup);
  tl_study_free(&study);
}

START_TEST(what_makes_no_sense_is_said_at_its_key) {
  refused(CELL "solver: {method: penalty}\ntriaxial: {stages: [{kind: hold, least_s: 1}]}\n",
          "triaxial.radius_m: is missing");
  refused(CELL METHOD SIZE "  membrane: {radius_m: 0.0025}\n"
                           "  stages: [{kind: hold, least_s: 1, pressure_Pa: 10}]\n",
          "triaxial.membrane.stiffness_N_m: is missing");
  refused(CELL METHOD SIZE SKIN, "triaxial.stages: are missing");
  refused(CELL METHOD SIZE SKIN "  stages: [{kind: shear, pressure_Pa: 10, until_strain: 0.1}]\n",
          "triaxial.stages.0.rate_per_s: is missing");
  refused(CELL METHOD SIZE SKIN "  stages: [{kind: shear, pressure_Pa: 10, rate_per_s: 1}]\n",
          "triaxial.stages.0.until_strain: or until_deviatoric_Pa is missing");
  refused(CELL METHOD SIZE SKIN "  stages:\n  - {kind: consolidate, pressure_Pa: 10}\n"
                                "  - {kind: hold}\n",
          "triaxial.stages.1.least_s: is missing");
  refused(CELL METHOD SIZE SKIN "  stages: [{kind: consolidate}]\n",
          "triaxial.stages.0.pressure_Pa: is missing");
  refused(CELL METHOD SIZE SKIN
          "  stages: [{kind: consolidate, pressure_Pa: 10, least_s: 2, most_s: 1}]\n",
          "triaxial.stages.0.most_s: is less than least_s");
  refused(CELL METHOD SIZE SKIN
          "  stages: [{kind: consolidate, pressure_Pa: 10, void_ratio: 0.5}]\n",
          "triaxial.stages.0.friction: is missing");
  refused(CELL METHOD SIZE SKIN
          "  stages: [{kind: consolidate, pressure_Pa: 10, void_ratio: 0.5, friction: 0}]\n",
          "triaxial.stages.0.ramp_s: is missing");
  refused(CELL METHOD SIZE SKIN "  stages: [{kind: consolidate, pressure_Pa: 10, ramp_s: 1, "
                                "void_ratio: 0.5, friction: 2}]\n",
          "triaxial.stages.0.friction: is no lower than contact.friction");
  refused(CELL METHOD SIZE SKIN
          "  stages: [{kind: hold, pressure_Pa: 10, least_s: 1, void_ratio: 0.5}]\n",
          "triaxial.stages.0.void_ratio: is a consolidate stage's");
  refused(CELL METHOD SIZE SKIN "  stages: [{kind: squeeze}]\n", "consolidate|shear|hold");
}
END_TEST

/* A target that lies behind the platen is refused where it is known; unloading and what depends on the run
 * pass. */
START_TEST(a_strain_that_the_rate_leads_away_from_is_refused) {
#define STAGES(text) CELL METHOD SIZE SKIN "  stages:\n  - {kind: shear, pressure_Pa: 10, " text
#define TO(rate, strain) "rate_per_s: " rate ", until_strain: " strain "}\n"
#define NEXT(rate, strain) "  - {kind: shear, " TO(rate, strain)
  static const char *const passes[] = {
      STAGES(TO("1", "0.06") NEXT("-1", "0.03") NEXT("1", "0.05")),
      STAGES(TO("-1", "-0.06")),
      STAGES("until_deviatoric_Pa: 5, rate_per_s: 1}\n" NEXT("-1", "0.03")),
      STAGES("most_s: 1, " TO("1", "0.06") NEXT("1", "0.05")),
      STAGES(TO("1", "0.06") "  - {kind: consolidate}\n" NEXT("1", "0.05")),
  };
  TlStudy study;
  TlSetup setup;
  refused(STAGES(TO("1.5", "-0.06")), "triaxial.stages.0.until_strain: is -0.06 and the stage "
                                      "begins at 0: rate_per_s 1.5 leads away");
  refused(STAGES(TO("-1", "0.06")), "triaxial.stages.0.until_strain: is 0.06");
  refused(STAGES(TO("1", "0.06") "  - {kind: hold, least_s: 1}\n" NEXT("1", "0.03")),
          "triaxial.stages.2.until_strain: is 0.03 and the stage begins at 0.06");
  for (size_t i = 0; i < sizeof passes / sizeof *passes; i++) {
    CK_OK(fill(passes[i], &study, &setup));
    tl_setup_free(&setup);
    tl_study_free(&study);
  }
}
END_TEST

/* A plane below, a platen above, a membrane whose rows fill the height and whose spheres' inner
 * sides lie on the specimen. */
START_TEST(the_cell_s_parts_join_the_study_s) {
  TlStudy study;
  TlSetup setup;
  TlNet net;
  CK_OK(fill(CELL METHOD SIZE SKIN "  base_m: [0.1, 0.2, 0.3]\n"
                                   "  stages: [{kind: consolidate, pressure_Pa: 10}]\n",
             &study, &setup));
  CK_OK(tl_apparatus_expand(&setup));
  ck_assert_int_eq(setup.planes.count, 1);
  ck_assert_int_eq(setup.shapes.count, 2);
  ck_assert_int_eq(setup.bodies.count, 2);
  ck_assert_int_eq(setup.nets.count, 1);
  const TlBodySetup *platen = (const TlBodySetup *)setup.bodies.items + 1;
  CK_NEAR(platen->position_m[2], 0.3 + 0.08 + 0.5 * 0.2 * 0.02, 1e-15);
  CK_OK(tl_net_setup_make(&setup.nets, 0, 1e-5, 1, &study, &net));
  CK_NEAR(net.tube_radius_m, 0.0225, 1e-15);
  ck_assert_int_eq(net.columns, 28);
  ck_assert_int_eq(net.clamped, TL_NET_FIRST_ROW);
  double last = tl_net_point(&net, tl_net_spheres(&net) - 1).z - 0.3,
         first = tl_net_point(&net, 0).z - 0.3;
  CK_NEAR(first + last, 0.08, 1e-12);
  ck_assert(first >= 0 && first < 0.5 * sqrt(0.75) * net.spacing_m);
  tl_setup_free(&setup);
  tl_study_free(&study);
}
END_TEST

/* Platens and membrane of materials in the list: both platens have the same law with grains, and a
 * stage that relaxes the specimen starts from the friction that the pair of grains lists. */
START_TEST(platens_and_membrane_have_materials) {
#define LISTED                                                                                     \
  "grains: {material: sand}\n"                                                                     \
  "materials: [{name: sand}, {name: steel}, {name: latex}]\n"                                      \
  "pairs:\n- {between: [sand, sand], friction: 0.3}\n"                                             \
  "- {between: [steel, sand], friction: 0.15, restitution: 0.4}\n"                                 \
  "- {between: [sand, latex], friction: 0}\n"
  TlStudy study;
  TlSetup setup;
  TlMaterials m;
  CK_OK(fill(CELL METHOD LISTED SIZE
             "  membrane: {radius_m: 0.0025, stiffness_N_m: 500, material: latex}\n"
             "  platen_material: steel\n  stages: [{kind: consolidate, pressure_Pa: 10}]\n",
             &study, &setup));
  CK_OK(tl_apparatus_expand(&setup));
  CK_OK(tl_setup_materials(&setup, &m));
  ck_assert_int_eq(m.count, 4); /* sand, boundary, steel, latex */
  int32_t steel = tl_material_named(&setup, "steel"), latex = tl_material_named(&setup, "latex");
  ck_assert_int_eq(tl_material_of_platen(&setup), steel);
  ck_assert_int_eq(tl_material_of_plane(&setup, 0), steel);
  ck_assert_int_eq(tl_material_of_net(&setup, 0), latex);
  CK_NEAR(m.law[tl_pair_law(&m, 0, steel)].friction, 0.15, 0);
  CK_NEAR(m.law[tl_pair_law(&m, 0, latex)].friction, 0, 0);
  CK_NEAR(m.law[tl_pair_law(&m, 0, 0)].friction, 0.3, 0);
  CK_NEAR(tl_grain_friction(&setup), 0.3, 0);
  tl_materials_free(&m);
  tl_setup_free(&setup);
  tl_study_free(&study);
  refused(CELL METHOD LISTED SIZE SKIN "  stages: [{kind: consolidate, pressure_Pa: 10, ramp_s: 1, "
                                       "void_ratio: 0.5, friction: 0.4}]\n",
          "triaxial.stages.0.friction: is no lower than contact.friction (or the listed pair's)");
  refused(CELL METHOD SIZE "  membrane: {radius_m: 0.0025, stiffness_N_m: 500, material: latex}\n"
                           "  stages: [{kind: consolidate, pressure_Pa: 10}]\n",
          "triaxial.membrane.material: there is no material 'latex'");
  refused(CELL METHOD SIZE SKIN "  platen_material: steel\n"
                                "  stages: [{kind: consolidate, pressure_Pa: 10}]\n",
          "triaxial.platen_material: there is no material 'steel'");
}
END_TEST

TL_TEST_MAIN("triaxial section", what_makes_no_sense_is_said_at_its_key,
             a_strain_that_the_rate_leads_away_from_is_refused, the_cell_s_parts_join_the_study_s,
             platens_and_membrane_have_materials)
