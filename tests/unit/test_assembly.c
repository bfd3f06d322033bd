#include "support/tltest.h"

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "run/bodies.h"
#include "run/run.h"
#include "shape/superellipsoid.h"
#include "shape/terrain_build.h"

/* A catalog with grains of growing size in a row, and a ridge of a terrain beside it. */
typedef struct World {
  TlCatalog *catalog;
  TlTerrain terrain;
  TlStudy study;
  TlSetup setup;
  TlStudyShapes shapes;
  TlSelection selection;
  TlBodies bodies;
  double lifted_m;
} World;

enum { GRAINS = 7 };

static TlVec3 centroid(int i) {
  return tl_vec3(3e-3 * i, 1e-3 * (i % 3), 2e-3 * (i % 2));
}

static char *make_catalog(void) {
  char *path = tl_path_join(tl_test_folder(), "c.sqlite");
  TlCatalog *catalog;
  TlProvenance p;
  int64_t sample, id;
  char *argv[] = {(char *)(uintptr_t) "t", NULL};
  if (tl_file_exists(path)) return path;
  tl_provenance_begin(&p, "t", 1, argv);
  CK_OK(tl_catalog_open(&catalog, path, TL_CATALOG_CREATE));
  CK_OK(tl_catalog_begin(catalog, &p, NULL));
  CK_OK(tl_catalog_sample(catalog, "sand", false, (double[]){1e-4, 1e-4, 1e-4}, &sample));
  for (int i = 0; i < GRAINS; i++) {
    TlAvatar a;
    CK_OK(tl_avatar_superellipsoid(1e-3, 9e-4 - 5e-5 * i, 7e-4 - 5e-5 * i, 1, 1, 1e-4, 60, &a));
    a.scan_centroid_m = centroid(i);
    a.scan_rotation = tl_quat_from_rotation(tl_vec3(0.1 * i, 0, 0.2));
    CK_OK(tl_catalog_add_avatar(catalog, sample, &a, &id));
    tl_avatar_free(&a);
  }
  CK_OK(tl_catalog_commit(catalog));
  tl_catalog_close(catalog);
  tl_provenance_free(&p);
  return path;
}

/* 16 x 16 cells of 10 mm: a ridge along y at x = 75 mm, 40 degrees to both sides. */
static void make_ridge(TlTerrain *terrain) {
  enum { N = 16 };
  double height[N * N];
  for (int k = 0; k < N * N; k++) height[k] = 1 - 0.84 * 0.01 * fabs(k % N - 7.5);
  TlTerrainSource source = {"ridge", "", N, N, 0.01, 0, 0, height};
  CK_OK(tl_terrain_build(terrain, &source, &(TlTerrainOptions){.band_cells = 3, .refine = 1}));
}

static TlStatus build(World *w, const char *text, bool ridge) {
  char *path = make_catalog(), *full = tl_format("catalog: c\ntime: {dt_s: 1e-3, steps: 1}\n%s%s",
                                                 ridge ? "terrain: {name: ridge}\n" : "", text);
  *w = (World){0};
  CK_OK(tl_catalog_open(&w->catalog, path, TL_CATALOG_READ));
  if (ridge) make_ridge(&w->terrain);
  CK_OK(tl_study_parse(&w->study, "s.yaml", full, strlen(full)));
  tl_free(path);
  tl_free(full);
  TL_TRY(tl_setup_fill(&w->setup, &w->study));
  TL_TRY(tl_study_shapes_open(&w->shapes, &w->setup, &w->study));
  TL_TRY(tl_selection_open(&w->selection, NULL, w->catalog, &w->shapes, &w->study));
  TlPlace place = {NULL,      &w->setup, &w->study, &w->selection, ridge ? &w->terrain : NULL,
                   &w->shapes};
  TL_TRY(tl_assembly_make(&place, &w->bodies, &w->lifted_m));
  return tl_placed_make(&place, w->bodies.owned, &w->bodies);
}

static void demolish(World *w) {
  tl_bodies_free(&w->bodies);
  tl_selection_free(&w->selection);
  tl_study_shapes_free(&w->shapes);
  tl_setup_free(&w->setup);
  tl_study_free(&w->study);
  tl_terrain_free(&w->terrain);
  tl_catalog_close(w->catalog);
}

static void refused(const char *text, bool ridge, const char *message) {
  World w;
  CK_FAILS(build(&w, text, ridge), TL_EINPUT, message);
  demolish(&w);
}

static double radius_of(const World *w, int64_t i) {
  TlGrainRow row;
  CK_OK(tl_catalog_grain(w->catalog, w->bodies.avatar_id[i], &row));
  return w->bodies.scale[i] * row.radius_m;
}

START_TEST(scanned_grains_keep_their_poses_times_the_scale) {
  World w;
  CK_OK(build(&w,
              "grains: {sample: sand, grain_scale: 3}\nrelease: {position_m: [1, 2, 3], "
              "rotation_deg: [0, 0, 90]}\n",
              false));
  ck_assert_int_eq(w.bodies.owned, GRAINS);
  for (int i = 1; i < GRAINS; i++) { /* a quarter turn about z takes (x, y) to (-y, x) */
    TlVec3 d = tl_sub(centroid(i), centroid(0)),
           e = tl_sub(w.bodies.position[i], w.bodies.position[0]);
    CK_NEAR(e.x, -3 * d.y, 1e-15);
    CK_NEAR(e.y, 3 * d.x, 1e-15);
    CK_NEAR(e.z, 3 * d.z, 1e-15);
    TlVec3 a = tl_quat_rotate(w.bodies.rotation[i], tl_vec3(1, 2, 3));
    TlVec3 b = tl_quat_rotate(tl_quat_from_rotation(tl_vec3(0.1 * i, 0, 0.2)), tl_vec3(1, 2, 3));
    CK_NEAR(a.x, -b.y, 1e-14);
    CK_NEAR(a.y, b.x, 1e-14);
    CK_NEAR(a.z, b.z, 1e-14);
  }
  double low = INFINITY;
  for (int64_t i = 0; i < GRAINS; i++) low = fmin(low, w.bodies.position[i].z - radius_of(&w, i));
  CK_NEAR(low, 3, 1e-15); /* the foot stands at position_m */
  demolish(&w);
}
END_TEST

START_TEST(scanned_grains_are_lifted_clear_of_the_ground) {
  World w;
  double phi, least = INFINITY;
  CK_OK(build(&w,
              "grains: {sample: sand}\nrelease: {position_m: [0.06, 0.05, -0.02], clearance_m: "
              "1e-4}\n",
              true));
  ck_assert_double_gt(w.lifted_m, 0.02);
  for (int64_t i = 0; i < w.bodies.owned; i++) {
    tl_terrain_phi(&w.terrain, w.bodies.position[i], &phi, NULL);
    least = fmin(least, phi - radius_of(&w, i) - 1e-4);
  }
  ck_assert_double_ge(least, -1e-12);
  ck_assert_double_le(least, 2e-5); /* and no higher than it must */
  demolish(&w);
}
END_TEST

START_TEST(lattice_grains_cannot_overlap_and_stay_in_their_box) {
  World w;
  CK_OK(build(&w,
              "grains: {sample: sand}\nrelease: {assembly: lattice, low_m: [-0.01, 0, 0.1], "
              "high_m: [0, 0.01, 0.11]}\n",
              false));
  double side = 2 * w.selection.radius_m * 1.02;
  ck_assert_int_eq(w.bodies.owned, (int64_t)pow(floor(0.01 / side), 3));
  int64_t other = 0;
  for (int64_t i = 0; i < w.bodies.owned; i++) {
    TlVec3 p = w.bodies.position[i];
    ck_assert(p.x > -0.01 && p.x < 0 && p.y > 0 && p.y < 0.01 && p.z > 0.1 && p.z < 0.11);
    ck_assert_int_eq(w.bodies.id[i], i);
    other += w.bodies.avatar_id[i] != w.bodies.avatar_id[0];
    for (int64_t j = 0; j < i; j++)
      ck_assert_double_ge(tl_norm(tl_sub(p, w.bodies.position[j])), 2 * w.selection.radius_m);
  }
  ck_assert_int_gt(other, 0);
  demolish(&w);
}
END_TEST

START_TEST(layers_follow_the_ground_inside_the_polygon) {
  World w;
  double phi;
  CK_OK(
      build(&w,
            "grains: {sample: sand}\nrelease:\n  assembly: lattice\n  low_m: [0.02, 0.02, 0]\n"
            "  high_m: [0.12, 0.12, 0]\n  layers: 2\n  clearance_m: 1e-3\n"
            "  polygon: [{x_m: 0.03, y_m: 0.03}, {x_m: 0.11, y_m: 0.03}, {x_m: 0.07, y_m: 0.1}]\n",
            true));
  ck_assert_int_gt(w.bodies.owned, 100);
  for (int64_t i = 0; i < w.bodies.owned; i++) {
    TlVec3 p = w.bodies.position[i];
    tl_terrain_phi(&w.terrain, p, &phi, NULL);
    ck_assert_double_ge(phi, w.selection.radius_m + 1e-3 - 1e-12);
    ck_assert(p.y > 0.03 && p.y < 0.1 && p.x > 0.03 && p.x < 0.11);
    for (int64_t j = 0; j < i; j++)
      ck_assert_double_ge(tl_norm(tl_sub(p, w.bodies.position[j])), 2 * w.selection.radius_m);
  }
  demolish(&w);
}
END_TEST

START_TEST(the_seed_decides_the_lattice) {
  World a, b;
  const char *text = "seed: %d\ngrains: {sample: sand}\nrelease: {assembly: lattice, low_m: [0, 0, "
                     "0], high_m: [0.01, 0.01, 0.01], count: 20}\n";
  for (int seed = 1; seed <= 2; seed++) {
    char *one = tl_format(text, 1), *two = tl_format(text, seed);
    uint64_t hash[2];
    CK_OK(build(&a, one, false));
    CK_OK(build(&b, two, false));
    ck_assert_int_eq(a.bodies.owned, 20);
    CK_OK(tl_bodies_hash(&a.bodies, &hash[0]));
    CK_OK(tl_bodies_hash(&b.bodies, &hash[1]));
    ck_assert_int_eq(hash[0] == hash[1], seed == 1);
    demolish(&a);
    demolish(&b);
    tl_free(one);
    tl_free(two);
  }
}
END_TEST

START_TEST(the_median_is_the_middle_grain) {
  World w;
  CK_OK(build(&w, "grains: {ids: [7, 1, 3, 3]}\nrelease: {position_m: [0, 0, 0]}\n", false));
  ck_assert_int_eq(w.selection.count, 3);
  TlGrainRow row;
  CK_OK(tl_catalog_grain(w.catalog, 3, &row));
  CK_NEAR(w.selection.median_diameter_m, cbrt(6 * row.volume_m3 / 3.14159265358979323846), 1e-11);
  demolish(&w);
}
END_TEST

START_TEST(what_cannot_be_placed_is_refused_at_its_key) {
  refused("grains: {sample: sand}\nrelease: {position_m: [0.06, 0.9, 0]}\n", true,
          "s.yaml:5:11: release.position_m: there is no terrain at x = 0.06 m, y = 0.9");
  refused("grains: {sample: sand, grain_scale: 20}\nrelease: {position_m: [0.1, 0.05, 0]}\n", true,
          "grains have no terrain below them");
  refused("grains: {sample: sand}\nplanes: [{point_m: [0, 0, 1], normal: [0, 0, 2]}]\n", false,
          "release.position_m: 7 of 7 grains lie behind a plane");
  refused("grains: {sample: sand}\nrelease: {assembly: lattice, low_m: [0, 0, 0], high_m: [1e-3, "
          "1, 1]}\n",
          false, "release.high_m: no cell of");
  refused("grains: {sample: sand}\nrelease: {assembly: lattice, high_m: [0.01, 0.01, 0.01], count: "
          "99}\n",
          false, "release.count: 99 grains do not fit");
  refused("grains: {sample: sand}\nrelease: {assembly: lattice, high_m: [1e6, 1e6, 1e6]}\n", false,
          "are the units right");
  refused("grains: {sample: sand}\nrelease: {assembly: lattice}\n", false, "must lie above low_m");
  refused("grains: {sample: sand}\nrelease: {layers: 2}\n", false, "has no terrain");
  refused("release: {rotation_deg: [0, 0, 9]}\n", false, "wants the name of a sample");
}
END_TEST

START_TEST(settings_of_the_solver_are_its_own_defaults) {
  World w;
  CK_OK(build(&w, "grains: {sample: sand}\n", false));
  TlSolverConfig mine = tl_setup_solver(&w.setup), want = tl_solver_defaults();
  ck_assert_int_eq(mine.increments, want.increments);
  ck_assert_int_eq(mine.max_rounds, want.max_rounds);
  ck_assert_int_eq(mine.rest_sweeps, want.rest_sweeps);
  ck_assert_int_eq(mine.position_sweeps, want.position_sweeps);
  ck_assert(mine.etm == want.etm && mine.order == want.order && mine.rest == want.rest &&
            mine.sides == want.sides);
  ck_assert_double_eq(mine.similar, want.similar);
  ck_assert_double_eq(mine.tolerance, want.tolerance);
  ck_assert_double_eq(mine.rest_tolerance, want.rest_tolerance);
  ck_assert_double_eq(mine.position_rate, want.position_rate);
  ck_assert_double_eq(mine.slop, want.slop);
  ck_assert_double_eq(mine.impact_threshold_m_s, want.impact_threshold_m_s);
  demolish(&w);
}
END_TEST

static const char solids[] =
    "shapes:\n"
    "- {name: ball, kind: sphere, diameter_m: 2e-3}\n"
    "- {name: brick, kind: box, size_m: [1e-3, 3e-3, 2e-3]}\n"
    "- {name: jack, kind: cross, length_m: 3e-3, width_m: 1e-3}\n"
    "- {name: block, kind: box, size_m: [1e-3, 3e-3, 2e-3], gridded: yes}\n";

START_TEST(placed_bodies_stand_as_their_study_says) {
  World w;
  char *text =
      tl_format("%sgrains: {density_kg_m3: 1000}\nbodies:\n"
                "- {shape: ball, position_m: [0, 0, 1], count: 3, step_m: [0.01, 0, 0], "
                "velocity_m_s: [0, 0, -2], spin_rad_s: [0, 7, 0]}\n"
                "- {shape: brick, position_m: [0, 0, 2], turn_deg: [0, 0, 90], fixed: "
                "yes, spin_rad_s: [3, 0, 0]}\n"
                "- {grain: 2, position_m: [0, 0, 3], scale: 2}\n"
                "- {shape: block, position_m: [0, 0, 2], turn_deg: [0, 0, 90], spin_rad_s: "
                "[3, 0, 0]}\n",
                solids);
  CK_OK(build(&w, text, false));
  ck_assert_int_eq(w.selection.count, 0);
  ck_assert_int_eq(w.bodies.owned, 6);
  CK_NEAR(w.bodies.position[2].x, 0.02, 1e-17);
  ck_assert_int_eq(w.bodies.avatar_id[2], -1);
  ck_assert_int_eq(w.bodies.avatar_id[3], -2);
  ck_assert_int_eq(w.bodies.flags[3], TL_BODY_FROZEN);
  ck_assert_int_eq(w.bodies.avatar_id[4], 2);
  ck_assert_double_eq(w.bodies.scale[4], 2);
  for (int64_t i = 0; i < 6; i++) ck_assert_int_eq(w.bodies.id[i], i);
  double m = 1000 * 4.0 / 3 * 3.14159265358979323846 * 1e-9; /* L = 2/5 m r^2 omega */
  CK_NEAR(w.bodies.momentum[0].y, 0.4 * m * 1e-6 * 7, 1e-9 * m * 1e-6);
  /* the brick's long edge lies along -x; about x it turns as a 2 x 1 section does, on its grid,
   * whose axes go with the moments, as in closed form */
  TlVec3 longest = tl_quat_rotate(w.bodies.rotation[3], tl_vec3(0, 1, 0));
  CK_NEAR(fabs(longest.x), 1, 1e-12);
  for (int i = 3; i < 6; i += 2)
    CK_NEAR(w.bodies.momentum[i].x, 1000 * 6e-9 / 12 * (1e-6 + 4e-6) * 3, 1e-20);
  longest = tl_quat_rotate(w.bodies.rotation[5], tl_vec3(1, 0, 0));
  CK_NEAR(fabs(longest.x), 1, 1e-12);
  tl_free(text);
  demolish(&w);
}
END_TEST

START_TEST(a_lattice_draws_from_shapes_and_catalog) {
  World w;
  int seen[3] = {0};
  char *text = tl_format("%sgrains: {shapes: [jack, ball], ids: [4]}\nrelease: {assembly: lattice, "
                         "high_m: [0.03, 0.03, 0.02]}\n",
                         solids);
  CK_OK(build(&w, text, false));
  ck_assert_int_eq(w.selection.count, 3);
  for (int64_t i = 0; i < w.bodies.owned; i++) {
    int64_t id = w.bodies.avatar_id[i];
    ck_assert(id == 4 || id == -1 || id == -3);
    seen[id == 4 ? 0 : id == -1 ? 1 : 2]++;
  }
  for (int k = 0; k < 3; k++) ck_assert_int_gt(seen[k], (int)w.bodies.owned / 6);
  tl_free(text);
  demolish(&w);
}
END_TEST

static void shapes_refused(const char *text, const char *message) {
  char *full = tl_format("%s%s", solids, text);
  refused(full, false, message);
  tl_free(full);
}

START_TEST(shapes_and_bodies_that_make_no_sense_are_refused) {
  shapes_refused("bodies: [{shape: bell, position_m: [0, 0, 0]}]\n",
                 "bodies.0.shape: there is no 'bell' in the list of shapes");
  shapes_refused("bodies: [{position_m: [0, 0, 0]}]\n", "either a shape or a grain");
  shapes_refused("bodies: [{grain: 99, position_m: [0, 0, 0]}]\n", "bodies.0.grain: ");
  shapes_refused("grains: {shapes: [ball, cube]}\nrelease: {assembly: lattice, high_m: [1, 1, "
                 "1]}\n",
                 "grains.shapes.1: there is no 'cube'");
  shapes_refused("grains: {shapes: [ball]}\n", "shapes have no pose in a scan");
  shapes_refused("- {name: ball, diameter_m: 1}\nbodies: [{shape: ball, position_m: [0, 0, 0]}]\n",
                 "shapes.4.name: 'ball' comes twice");
  shapes_refused(
      "- {name: b, diameter_m: 1, width_m: 3}\nbodies: [{shape: ball, position_m: [0, 0, "
      "0]}]\n",
      "s.yaml:8:3: shapes.4: 'b': a sphere has no width_m");
  shapes_refused("- {name: b, kind: cross, length_m: 3}\nbodies: [{shape: ball, position_m: [0, 0, "
                 "0]}]\n",
                 "a cross wants width_m above 0");
}
END_TEST

/* A study without a catalog runs, and its results hold the shapes it used. */
START_TEST(results_hold_the_shapes) {
  static const char text[] =
      "time: {dt_s: 1e-3, steps: 3}\nshapes:\n- {name: ball, diameter_m: 2e-3}\n"
      "- {name: other, kind: box, size_m: [1e-3, 1e-3, 1e-3]}\n"
      "- {name: jack, kind: cross, length_m: 3e-3, width_m: 1e-3}\n"
      "bodies:\n- {shape: ball, position_m: [0, 0, 1e-3]}\n"
      "- {shape: jack, position_m: [1, 0, 2e-3]}\n"
      "planes: [{point_m: [0, 0, 0], normal: [0, 0, 1]}]\n";
  char *path = tl_path_join(tl_test_folder(), "b.yaml");
  TlRun run;
  TlScene scene;
  TlFrame frame;
  TlRunOptions options = {.study = path};
  CK_OK(tl_file_write(path, text, sizeof text - 1, true));
  CK_OK(tl_run_open(&run, NULL, &options));
  CK_OK(tl_run_go(&run));
  CK_OK(tl_results_read_scene(run.folder, &scene));
  ck_assert_int_eq(scene.avatar_count, 2);
  ck_assert_ptr_nonnull(tl_scene_avatar(&scene, -1));
  ck_assert_ptr_nonnull(tl_scene_avatar(&scene, -3));
  CK_OK(tl_results_read_frame(run.folder, 0, &frame));
  ck_assert_int_eq(frame.rows[1].avatar_id, -3);
  CK_NEAR(run.bodies.position[0].z, 1e-3, 1e-6); /* the ball is round: it rests where it stood */
  tl_frame_free(&frame);
  tl_scene_free(&scene);
  tl_run_close(&run);
  tl_free(path);
}
END_TEST

/* From the study to two steps done: whichever allocation fails, the run ends with a message and
 * without a crash; under the sanitizers also without a leak. */
START_TEST(any_allocation_may_fail) {
  static const char text[] =
      "catalog: c.sqlite\ntime: {dt_s: 1e-3, steps: 2}\ngrains: {sample: sand}\n"
      "release: {assembly: lattice, high_m: [0.005, 0.005, 0.003]}\n"
      "planes: [{point_m: [0, 0, 0], normal: [0, 0, 1]}]\n";
  char *path = tl_path_join(tl_test_folder(), "s.yaml"), *catalog = make_catalog();
  CK_OK(tl_file_write(path, text, sizeof text - 1, true));
  TlStatus status = TL_ENOMEM;
  int64_t k = 1;
  tl_log_set("test", TL_LOG_WARN);
  for (; status != TL_OK && k < 3000; k += 1 + k / 40) {
    TlRun run;
    TlRunOptions options = {.study = path, .no_output = true};
    tl_mem_fail_at(k);
    status = tl_run_open(&run, NULL, &options);
    if (status == TL_OK) status = tl_run_go(&run);
    tl_mem_fail_at(0);
    if (status != TL_OK)
      ck_assert_msg(strstr(tl_message(), "out of memory"), "k = %lld: %s", (long long)k,
                    tl_message());
    tl_run_close(&run);
  }
  ck_assert_msg(status == TL_OK && k > 100, "k = %lld: %s", (long long)k, tl_message());
  tl_free(path);
  tl_free(catalog);
}
END_TEST

TL_TEST_MAIN("assembly", scanned_grains_keep_their_poses_times_the_scale,
             scanned_grains_are_lifted_clear_of_the_ground,
             lattice_grains_cannot_overlap_and_stay_in_their_box,
             layers_follow_the_ground_inside_the_polygon, the_seed_decides_the_lattice,
             the_median_is_the_middle_grain, what_cannot_be_placed_is_refused_at_its_key,
             settings_of_the_solver_are_its_own_defaults, placed_bodies_stand_as_their_study_says,
             a_lattice_draws_from_shapes_and_catalog,
             shapes_and_bodies_that_make_no_sense_are_refused, results_hold_the_shapes,
             any_allocation_may_fail)
