/* Materials and pairs as studies say them: numbers, laws that are listed and combined, densities,
 * the old forms, errors. */
#include "support/tltest.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/par.h"
#include "post/measure.h"
#include "run/materials.h"
#include "run/run.h"

#include <math.h>

static TlStatus open_study(TlRun *run, const char *text) {
  char *path = tl_path_join(tl_test_folder(), "materials.yaml");
  CK_OK(tl_file_write(path, text, strlen(text), true));
  TlRunOptions options = {.study = path, .no_output = true};
  tl_par_set_threads(1);
  TlStatus status = tl_run_open(run, NULL, &options);
  tl_free(path);
  return status;
}

static TlStatus run_study(TlRun *run, const char *text) {
  TlStatus status = open_study(run, text);
  return status == TL_OK ? tl_run_go(run) : status;
}

static const TlPairLaw *law_of(const TlRun *run, const char *one, const char *two) {
  const TlMaterials *m = &run->model->materials;
  int32_t a = tl_material_named(&run->model->setup, one),
          b = tl_material_named(&run->model->setup, two);
  ck_assert_int_ge(a, 0);
  ck_assert_int_ge(b, 0);
  ck_assert_str_eq(m->material[a].name, one);
  ck_assert_str_eq(m->material[b].name, two);
  return &m->law[tl_pair_law(m, a, b)];
}

/* ---- one study, said both ways ---- */

#define BODIES                                                                                     \
  "time: {dt_s: 2.0e-4, duration_s: 0.08}\n"                                                       \
  "solver: {method: %s}\n"                                                                         \
  "penalty: {dt_s: 1.0e-4, normal_N_m: 1.0e4, normal_Pa_m: 1.0e7, boundary_normal_Pa_m: 3.0e7}\n"  \
  "shapes:\n"                                                                                      \
  "- {name: ball, diameter_m: 0.02}\n"                                                             \
  "- {name: block, kind: box, size_m: [0.02, 0.02, 0.02], gridded: yes}\n"                         \
  "bodies:\n"                                                                                      \
  "- {shape: block, position_m: [0, 0, 0.0101], velocity_m_s: [0.4, 0.1, 0]}\n"                    \
  "- {shape: ball, position_m: [0.03, 0.002, 0.0101], velocity_m_s: [-0.4, 0, 0], count: 3,"       \
  " step_m: [0.021, 0, 0]}\n"                                                                      \
  "- {shape: block, position_m: [0.001, 0.03, 0.03], velocity_m_s: [-0.5, -0.2, 0]}\n"

static uint64_t hash_of(const char *format, const char *method) {
  TlRun run;
  uint64_t hash;
  char *text = tl_format(format, method);
  CK_OK(run_study(&run, text));
  CK_OK(tl_run_hash(&run, &hash));
  tl_run_close(&run);
  tl_free(text);
  return hash;
}

START_TEST(old_keys_and_the_new_form_give_the_same_bits) {
  static const char *const methods[] = {"etm-level", "penalty"};
  for (int k = 0; k < 2; k++) {
    uint64_t old =
        hash_of(BODIES "planes: [{point_m: [0, 0, 0], normal: [0, 0, 1]}]\n"
                       "walls: [{kind: plane, point_m: [-0.03, 0, 0], normal: [1, 0, 0],"
                       " friction: 0.3, restitution: 0.6}]\n"
                       "contact: {friction: 0.5, restitution: 0.3, boundary_friction: 0.4,"
                       " boundary_restitution: 0.5}\n",
                methods[k]);
    uint64_t is =
        hash_of(BODIES "planes: [{point_m: [0, 0, 0], normal: [0, 0, 1], material: rock}]\n"
                       "walls: [{kind: plane, point_m: [-0.03, 0, 0], normal: [1, 0, 0],"
                       " material: glass}]\n"
                       "grains: {material: sand}\n"
                       "materials: [{name: rock}, {name: sand}, {name: glass}]\n"
                       "pairs:\n"
                       "- {between: [sand, sand], friction: 0.5, restitution: 0.3}\n"
                       "- {between: [sand, rock], friction: 0.4, restitution: 0.5,"
                       " normal_Pa_m: 3.0e7}\n"
                       "- {between: [glass, sand], friction: 0.3, restitution: 0.6,"
                       " normal_Pa_m: 3.0e7}\n",
                methods[k]);
    uint64_t other = hash_of(BODIES "planes: [{point_m: [0, 0, 0], normal: [0, 0, 1]}]\n"
                                    "walls: [{kind: plane, point_m: [-0.03, 0, 0], normal: [1, 0, "
                                    "0], friction: 0.3, restitution: 0.55}]\n"
                                    "contact: {friction: 0.5, restitution: 0.3, boundary_friction: "
                                    "0.4, boundary_restitution: 0.5}\n",
                             methods[k]);
    ck_assert_uint_eq(old, is);
    ck_assert_uint_ne(old, other);
  }
}
END_TEST

/* ---- steel and sand, ice and rock ---- */

/* Blocks slide on slabs: each stops after v^2/(2 mu g) with the friction of its own pair; the pair
 * of sand and ice is not listed, and takes the lesser friction of the two. */
START_TEST(each_block_stops_by_the_friction_of_its_own_pair) {
  static const char text[] =
      "time: {dt_s: 2.0e-4, duration_s: 1.2}\n"
      "shapes:\n"
      "- {name: steel block, kind: box, size_m: [0.04, 0.04, 0.02], material: steel}\n"
      "- {name: block, kind: box, size_m: [0.04, 0.04, 0.02]}\n"
      "bodies:\n"
      "- {shape: steel block, position_m: [0, 0, 0.01], velocity_m_s: [1, 0, 0]}\n"
      "- {shape: block, position_m: [0, 0.1, 0.01], velocity_m_s: [1, 0, 0]}\n"
      "- {shape: steel block, position_m: [0, 1, 0.01], velocity_m_s: [1, 0, 0]}\n"
      "- {shape: block, position_m: [0, 1.1, 0.01], velocity_m_s: [1, 0, 0]}\n"
      "- {shape: block, material: steel, position_m: [0, 1.2, 0.01], velocity_m_s: [1, 0, 0]}\n"
      "grains: {material: sand}\n"
      "walls:\n"
      "- {kind: box, point_m: [0, 0, -0.1], size_m: [3, 0.5, 0.2], material: rock}\n"
      "- {kind: box, point_m: [0, 1, -0.1], size_m: [3, 0.5, 0.2], material: ice}\n"
      "materials:\n"
      "- {name: steel, density_kg_m3: 7850}\n"
      "- {name: sand}\n"
      "- {name: rock}\n"
      "- {name: ice}\n"
      "pairs:\n"
      "- {between: [steel, rock], friction: 0.3, restitution: 0}\n"
      "- {between: [rock, sand], friction: 0.6, restitution: 0}\n"
      "- {between: [steel, ice], friction: 0.1, restitution: 0}\n"
      "- {between: [ice, ice], friction: 0.2, restitution: 0}\n"
      "- {between: [sand, sand], friction: 0.5}\n";
  const double mu[5] = {0.3, 0.6, 0.1, 0.2, 0.1};
  TlRun run;
  CK_OK(run_study(&run, text));
  for (int64_t i = 0; i < 5; i++) {
    int64_t id = run.state->dem.bodies.id[i];
    double distance = 1 / (2 * mu[id] * 9.81);
    CK_NEAR(run.state->dem.bodies.position[i].x, distance, 0.01 * distance);
    double density = id == 1 || id == 3 ? 2650 : 7850;
    CK_NEAR(run.state->dem.bodies.mass[i], density * 0.04 * 0.04 * 0.02, 1e-12);
    CK_NEAR(run.state->dem.bodies.inertia[i].z,
            run.state->dem.bodies.mass[i] / 12 * 2 * 0.04 * 0.04, 1e-12);
  }
  tl_run_close(&run);
}
END_TEST

/* Head-on: momentum stays, and the pair's own restitution is what is left of the approach. */
START_TEST(steel_meets_sand_with_the_masses_of_both) {
  static const char text[] =
      "time: {dt_s: 1.0e-3, steps: 60}\n"
      "gravity_m_s2: [0, 0, 0]\n"
      "shapes: [{name: ball, diameter_m: 0.02}]\n"
      "bodies:\n"
      "- {shape: ball, material: steel, position_m: [0, 0, 0], velocity_m_s: [1, 0, 0]}\n"
      "- {shape: ball, position_m: [0.04, 0, 0], spin_rad_s: [1, 0, 0]}\n"
      "grains: {density_kg_m3: 2000}\n"
      "contact: {impact_threshold_m_s: 0}\n"
      "materials: [{name: steel, density_kg_m3: 8000}]\n"
      "pairs: [{between: [grain, steel], friction: 0, restitution: 0.75}]\n";
  TlRun run;
  CK_OK(run_study(&run, text));
  const TlBodies *b = &run.state->dem.bodies;
  CK_NEAR(b->mass[0] / b->mass[1], 4, 1e-12);
  /* the common velocity 0.8, and then -+ e of what was relative to it */
  CK_NEAR(b->velocity[0].x, 0.8 - 0.75 * 0.2, 1e-9);
  CK_NEAR(b->velocity[1].x, 0.8 + 0.75 * 0.8, 1e-9);
  CK_NEAR(tl_bodies_spin(b, 1).x, 1, 1e-12); /* its momentum was made with its density */
  tl_run_close(&run);
}
END_TEST

/* What the results say of it: materials by name, bodies' numbers, the pair's friction in each
 * contact, and masses in the measures. */
START_TEST(results_hold_materials_and_pairs) {
  static const char text[] =
      "time: {dt_s: 1.0e-3, steps: 20, frame_every_s: 0.02}\n"
      "frames: {contacts: yes}\n"
      "shapes: [{name: block, kind: box, size_m: [0.04, 0.04, 0.02], gridded: yes,"
      " spacing_m: 0.002}]\n"
      "bodies:\n"
      "- {shape: block, position_m: [0, 0, 0.01], velocity_m_s: [1, 0, 0], material: steel}\n"
      "- {shape: block, position_m: [0, 0.2, 0.01], velocity_m_s: [1, 0, 0]}\n"
      "planes: [{point_m: [0, 0, 0], normal: [0, 0, 1], material: rock}]\n"
      "materials:\n"
      "- {name: rock}\n"
      "- {name: steel, density_kg_m3: 7850, young_Pa: 2.0e11, poisson: 0.3}\n"
      "pairs:\n"
      "- {between: [steel, rock], friction: 0.3, restitution: 0}\n"
      "- {between: [grain, rock], friction: 0.6, restitution: 0}\n";
  char *study = tl_path_join(tl_test_folder(), "stored.yaml"),
       *folder = tl_path_join(tl_test_folder(), "stored");
  CK_OK(tl_file_write(study, text, strlen(text), true));
  TlRun run;
  TlRunOptions options = {.study = study, .output = folder};
  CK_OK(tl_run_open(&run, NULL, &options));
  CK_OK(tl_run_go(&run));
  double translational = 0;
  for (int64_t i = 0; i < run.state->dem.bodies.owned; i++)
    translational +=
        0.5 * run.state->dem.bodies.mass[i] * tl_norm2(run.state->dem.bodies.velocity[i]);
  tl_run_close(&run);

  TlScene scene;
  TlFrame first, frame;
  TlFrameContacts contacts;
  CK_OK(tl_results_read_scene(folder, &scene));
  CK_OK(tl_results_read_frame(folder, 0, &first));
  CK_OK(tl_results_read_frame(folder, 1, &frame));
  CK_OK(tl_results_read_contacts(folder, 1, &contacts));
  const TlMaterials *m = &scene.materials;
  ck_assert_int_eq(m->count, 4);
  const char *const names[] = {"grain", "boundary", "rock", "steel"};
  for (int i = 0; i < 4; i++) ck_assert_str_eq(m->material[i].name, names[i]);
  CK_NEAR(m->material[3].density_kg_m3, 7850, 0);
  CK_NEAR(m->material[3].young_Pa, 2e11, 0);
  CK_NEAR(m->material[3].poisson, 0.3, 0);
  CK_NEAR(m->law[tl_pair_law(m, 2, 3)].friction, 0.3, 0);
  CK_NEAR(m->law[tl_pair_law(m, 2, 0)].friction, 0.6, 0);
  ck_assert_int_eq(frame.count, 2);
  ck_assert_int_eq(frame.rows[0].material, 3);
  ck_assert_int_eq(frame.rows[1].material, 0);
  int seen[2] = {0};
  for (int64_t i = 0; i < contacts.count; i++) {
    CK_NEAR(contacts.rows[i].friction, contacts.rows[i].first == 0 ? 0.3 : 0.6, 0);
    seen[contacts.rows[i].first]++;
  }
  ck_assert(seen[0] > 0 && seen[1] > 0);
  TlMeasure measure;
  TlMeasureOptions all = {0};
  CK_OK(tl_measure_run(folder, &scene, &all, &measure));
  CK_NEAR(measure.frame[1].translational_J, translational, 1e-3 * translational);
  tl_measure_free(&measure);
  frame.rows[0].material = 4;
  double density;
  CK_FAILS(tl_scene_density(&scene, &frame.rows[0], &density), TL_EINPUT,
           "body 0 is of material 4, which is not in run.h5");
  tl_frame_contacts_free(&contacts);
  tl_frame_free(&frame);
  tl_frame_free(&first);
  tl_scene_free(&scene);
  tl_free(folder);
  tl_free(study);
}
END_TEST

/* ---- laws that are not listed ---- */

START_TEST(what_no_pair_says_is_combined) {
  static const char text[] =
      "time: {dt_s: 1.0e-6, steps: 1}\n"
      "solver: {method: penalty}\n"
      "penalty: {law: hertz, spread: deepest, young_Pa: 1.0e9, boundary_young_Pa: 5.0e9}\n"
      "shapes: [{name: ball, diameter_m: 0.02}]\n"
      "bodies:\n"
      "- {shape: ball, position_m: [0, 0, 1]}\n"
      "- {shape: ball, position_m: [1, 0, 1], material: steel}\n"
      "- {shape: ball, position_m: [2, 0, 1], material: rubber}\n"
      "planes: [{point_m: [0, 0, 0], normal: [0, 0, 1]}, {point_m: [-9, 0, 0], normal: [1, 0, 0],"
      " material: glass}]\n"
      "contact: {friction: 0.7, restitution: 0.3, boundary_friction: 0.25, boundary_restitution: "
      "0.4}\n"
      "materials:\n"
      "- {name: steel, young_Pa: 2.0e11, poisson: 0.3}\n"
      "- {name: rubber, young_Pa: 1.0e7, poisson: 0.49}\n"
      "- {name: glass}\n"
      "- {name: boundary, poisson: 0.2}\n"
      "pairs:\n"
      "- {between: [steel, steel], friction: 0.4, restitution: 0.8}\n"
      "- {between: [rubber, steel], restitution: 0.05}\n";
  TlRun run;
  CK_OK(open_study(&run, text));
  const struct {
    const char *one, *two;
    double friction, restitution;
  } want[] = {{"grain", "grain", 0.7, 0.3},     {"grain", "boundary", 0.25, 0.4},
              {"steel", "boundary", 0.25, 0.4}, {"steel", "grain", 0.4, 0.3},
              {"rubber", "rubber", 0.7, 0.3},   {"rubber", "steel", 0.4, 0.05},
              {"glass", "grain", 0.25, 0.3},    {"glass", "steel", 0.25, 0.4},
              {"steel", "steel", 0.4, 0.8},     {"boundary", "rubber", 0.25, 0.4}};
  for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
    const TlPairLaw *law = law_of(&run, want[i].one, want[i].two);
    CK_NEAR(law->friction, want[i].friction, 0);
    CK_NEAR(law->restitution, want[i].restitution, 0);
  }
  /* of Hertz: E* and G* of both, where one law has the same values on either side */
  const double e1 = 2e11, n1 = 0.3, e2 = 1e7, n2 = 0.49;
  const TlStiffness *k = &law_of(&run, "steel", "rubber")->stiffness;
  CK_NEAR(k->young_Pa / (2 * (1 - k->poisson * k->poisson)) *
              ((1 - n1 * n1) / e1 + (1 - n2 * n2) / e2),
          1, 1e-12);
  double g1 = e1 / (2 * (1 + n1)), g2 = e2 / (2 * (1 + n2)),
         g = k->young_Pa / (2 * (1 + k->poisson));
  CK_NEAR(g / (2 * (2 - k->poisson)) * ((2 - n1) / g1 + (2 - n2) / g2), 1, 1e-12);
  k = &law_of(&run, "grain", "grain")->stiffness;
  CK_NEAR(k->young_Pa, 1e9, 0);
  CK_NEAR(k->poisson, 0.25, 0);
  k = &law_of(&run, "steel", "steel")->stiffness;
  CK_NEAR(k->young_Pa, 2e11, 0);
  CK_NEAR(k->poisson, 0.3, 0);
  k = &law_of(&run, "glass", "grain")->stiffness;
  CK_NEAR(k->young_Pa, 5e9, 0);
  CK_NEAR(run.model->materials.material[TL_MATERIAL_BOUNDARY].poisson, 0.2, 0);
  ck_assert(tl_materials_meet(&run.model->setup, 0, 1) &&
            !tl_materials_meet(&run.model->setup, 1, 1));
  tl_run_close(&run);
}
END_TEST

/* Grains of shapes of two materials, drawn together: each has its shape's in every assembly, as
 * spheres too. */
START_TEST(drawn_grains_are_of_the_material_of_their_shape) {
  static const char *const assembly[] = {"lattice", "drawn", "poured, rate_per_s: 0"};
  static const char format[] =
      "time: {dt_s: 1.0e-3, steps: 2}\n"
      "shapes: [{name: sand, kind: superellipsoid, size_m: [0.02, 0.02, 0.02]},"
      " {name: steel ball, kind: superellipsoid, size_m: [0.03, 0.03, 0.03], material: steel}]\n"
      "grains: {shapes: [sand, steel ball], as_spheres: %s}\n"
      "release: {assembly: %s, count: 40, low_m: [-0.2, -0.2, 0], high_m: [0.2, 0.2, 0.3]}\n"
      "free_fall: yes\n"
      "materials: [{name: steel, density_kg_m3: 7800}]\n";
  for (int k = 0; k < 6; k++) {
    TlRun run;
    char *text = tl_format(format, k % 2 ? "yes" : "no", assembly[k / 2]);
    int count[2] = {0};
    CK_OK(run_study(&run, text));
    ck_assert_int_eq(run.state->dem.bodies.owned, 40);
    for (int64_t i = 0; i < run.state->dem.bodies.owned; i++) {
      bool steel = run.state->dem.bodies.colliders.material[i] ==
                   tl_material_named(&run.model->setup, "steel");
      double d = steel ? 0.03 : 0.02, mass = (steel ? 7800 : 2650) * M_PI / 6 * d * d * d;
      CK_NEAR(run.state->dem.bodies.mass[i], mass, 0.02 * mass);
      count[steel]++;
    }
    ck_assert(count[0] > 5 && count[1] > 5);
    tl_run_close(&run);
    tl_free(text);
  }
}
END_TEST

/* ---- errors ---- */

#define HEAD                                                                                       \
  "time: {dt_s: 1.0e-3, steps: 1}\n"                                                               \
  "shapes: [{name: ball, diameter_m: 0.02}]\n"                                                     \
  "bodies: [{shape: ball, position_m: [0, 0, 1]}]\n"

START_TEST(errors_name_the_place) {
  const struct {
    const char *rest, *words;
  } cases[] = {
      {"planes:\n- {point_m: [0, 0, 0], normal: [0, 0, 1], material: stele}\n"
       "materials: [{name: steel}]\n",
       "materials.yaml:5:43: planes.0.material: there is no material 'stele' in the list of "
       "materials; it has steel"},
      {"walls: [{kind: plane, material: ice}]\n",
       "materials.yaml:4:23: walls.0.material: there is no material 'ice' in the list of "
       "materials, which is empty"},
      {"grains: {material: sand}\n", "materials.yaml:4:10: grains.material: there is no material"},
      {"materials: [{name: ice}, {name: ice}]\n",
       "materials.yaml:4:27: materials.1.name: there is already a material 'ice'"},
      {"materials: [{density_kg_m3: 900}]\n", "materials.0.name: is missing"},
      {"materials: [{name: ice, poisson: 0.7}]\n", "materials.yaml:4:34: materials.0.poisson"},
      {"materials: [{name: ice, poisson: -0.995}]\n",
       "materials.yaml:4:25: materials.0.poisson: -0.995 is below -0.99"},
      {"pairs: [{between: [grain, grain], friction: 11}]\n",
       "materials.yaml:4:45: pairs.0.friction"},
      {"pairs: [{between: [grain, ice], friction: 1}]\n",
       "materials.yaml:4:27: pairs.0.between.1: there is no material 'ice'"},
      {"pairs: [{between: [grain], friction: 1}]\n",
       "materials.yaml:4:10: pairs.0.between: has 1 names; [one, other] is wanted"},
      {"pairs: [{between: [grain, boundary]}, {between: [boundary, grain]}]\n",
       "materials.yaml:4:40: pairs.1.between: the pair boundary and grain is entry 0 already"},
      {"materials: [{name: ice}]\n"
       "walls: [{kind: plane, material: ice, friction: 0.1}]\n",
       "materials.yaml:5:38: walls.0.friction: the material 'ice' says it"},
      {"materials: [{name: ice}]\n" /* also where it is the default */
       "walls: [{kind: plane, material: ice, restitution: -1}]\n",
       "materials.yaml:5:38: walls.0.restitution: the material 'ice' says it"},
      {"contact: {rolling: 0.1}\nfree_fall: yes\n",
       "materials.yaml:4:11: contact.rolling: rolling of materials 'grain' and 'grain': method "
       "etm-level has none"},
      {"materials: [{name: ice}]\npairs: [{between: [grain, grain]}, {between: [grain, ice], "
       "adhesion_N: 0.1}]\nfree_fall: yes\n",
       "materials.yaml:5:60: pairs.1.adhesion_N: adhesion_N of materials 'ice' and 'grain': "},
      {"contact: {boundary_twisting: 0.1}\nfree_fall: yes\n",
       "contact.boundary_twisting: twisting of materials "},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    TlRun run;
    char *text = tl_format("%s%s", HEAD, cases[i].rest);
    CK_FAILS(open_study(&run, text), TL_EINPUT, cases[i].words);
    tl_run_close(&run);
    tl_free(text);
  }
}
END_TEST

/* Of the nonsmooth method. */
START_TEST(adhesion_that_cannot_pull_is_refused_in_its_place) {
  const struct {
    const char *rest, *words;
  } cases[] = {
      {"contact: {adhesive_overlap_m: 1.0e-5}\n",
       "materials.yaml:4:11: contact.adhesive_overlap_m: no contact pulls within this overlap: "
       "give its adhesion_N, too"},
      {"pairs: [{between: [grain, boundary], adhesive_overlap_m: 1.0e-5}]\n"
       "contact: {adhesion_N: 0.1, adhesive_overlap_m: 1.0e-4}\n",
       "materials.yaml:4:38: pairs.0.adhesive_overlap_m: no contact pulls"},
      {"contact: {adhesion_N: 0.1}\n",
       "materials.yaml:4:11: contact.adhesion_N: adhesion_N of materials 'grain' and 'grain': "
       "wants an adhesive_overlap_m above 0, too"},
      {"contact: {adhesion_N: 0.1, adhesive_overlap_m: 0.5}\n",
       "materials.yaml:4:28: contact.adhesive_overlap_m: adhesive_overlap_m of materials 'grain' "
       "and 'grain': 0.5 m is more than the radius of grain 0, 0.01 m"},
      {"pairs: [{between: [grain, grain], adhesion_N: 1.0e+4, adhesive_overlap_m: 1.0e-5}]\n",
       "materials.yaml:4:55: pairs.0.adhesive_overlap_m: adhesive_overlap_m of materials 'grain' "
       "and 'grain': an overlap of 1e-05 m holds grain 0 by 0.0159 N at most"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    TlRun run;
    char *text = tl_format(HEAD "%ssolver: {method: nonsmooth}\nnonsmooth: {young_Pa: 1.0e+7}\n"
                                "free_fall: yes\n",
                           cases[i].rest);
    TlStatus status = open_study(&run, text);
    if (status == TL_OK) status = tl_run_go(&run);
    CK_FAILS(status, TL_EINPUT, cases[i].words);
    tl_run_close(&run);
    tl_free(text);
  }
}
END_TEST

/* What is stored with the results, and what a run is resumed from. */
START_TEST(the_effective_study_reads_back) {
  TlRun run, again;
  CK_OK(open_study(&run,
                   HEAD "materials: [{name: ice}]\n"
                        "walls: [{kind: plane, material: ice}, {kind: plane, friction: 0.3}]\n"));
  CK_OK(open_study(&again, run.model->effective));
  ck_assert_str_eq(again.model->effective, run.model->effective);
  ck_assert_int_eq(again.model->materials.count, 4); /* grain, boundary, ice, the second wall's */
  ck_assert_double_eq(law_of(&again, "ice", "ice")->friction, law_of(&run, "ice", "ice")->friction);
  tl_run_close(&again);
  tl_run_close(&run);
}
END_TEST

TL_TEST_MAIN("materials of studies", old_keys_and_the_new_form_give_the_same_bits,
             each_block_stops_by_the_friction_of_its_own_pair,
             steel_meets_sand_with_the_masses_of_both, results_hold_materials_and_pairs,
             what_no_pair_says_is_combined, drawn_grains_are_of_the_material_of_their_shape,
             errors_name_the_place, adhesion_that_cannot_pull_is_refused_in_its_place,
             the_effective_study_reads_back)
