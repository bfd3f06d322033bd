#include "support/grains.h"
#include "support/tltest.h"

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/par.h"
#include "run/bodies.h"
#include "run/pour.h"
#include "run/run.h"
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
  TlBoundaryPlane plane[4];
  TlBoundary boundaries[4];
} World;

enum { GRAINS = 7 };

static TlVec3 centroid(int i) {
  return tl_vec3(3e-3 * i, 1e-3 * (i % 3), 2e-3 * (i % 2));
}

static TlStatus grain(int i, TlAvatar *a) {
  TL_TRY(tl_avatar_superellipsoid(1e-3, 9e-4 - 5e-5 * i, 7e-4 - 5e-5 * i, 1, 1, 1e-4, 60, a));
  a->scan_centroid_m = centroid(i);
  a->scan_rotation = tl_quat_from_rotation(tl_vec3(0.1 * i, 0, 0.2));
  return TL_OK;
}

static char *make_catalog(void) {
  char *path = tl_path_join(tl_test_folder(), "c.sqlite");
  if (!tl_file_exists(path)) CK_OK(tl_test_catalog(path, GRAINS, grain, NULL));
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

static int make_boundaries(World *w, bool ridge) {
  const TlPlaneSetup *p = w->setup.planes.items;
  if (ridge)
    w->boundaries[w->setup.planes.count] =
        (TlBoundary){.kind = &tl_boundary_terrain, .data = &w->terrain};
  for (int i = 0; i < w->setup.planes.count; i++) {
    w->plane[i] = (TlBoundaryPlane){tl_vec3_of(p[i].point_m), tl_unit(tl_vec3_of(p[i].normal))};
    w->boundaries[i] = (TlBoundary){.kind = &tl_boundary_plane, .data = &w->plane[i]};
  }
  return (int)w->setup.planes.count + ridge;
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
  TL_TRY(tl_study_shapes_open(&w->shapes, &w->setup, &w->study, NULL, NULL));
  TL_TRY(tl_selection_open(&w->selection, NULL, w->catalog, &w->shapes, &w->study));
  TlPlace place = {.setup = &w->setup,
                   .study = &w->study,
                   .selection = &w->selection,
                   .terrain = ridge ? &w->terrain : NULL,
                   .shapes = &w->shapes,
                   .boundaries = w->boundaries,
                   .boundary_count = make_boundaries(w, ridge)};
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
  CK_OK(tl_catalog_grain(w->catalog, w->bodies.colliders.avatar_id[i], &row));
  return w->bodies.colliders.scale[i] * row.radius_m;
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
    other += w.bodies.colliders.avatar_id[i] != w.bodies.colliders.avatar_id[0];
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

enum { SIDE = 20 };

/* Grains of each column of a lattice of balls in cells as large, over a box of SIDE x SIDE x 3
 * cells; the sum of the layers that they lie in, from 0. */
static int64_t columns_of(const World *w, int column[SIDE][SIDE]) {
  int64_t heights = 0;
  double side = 2 * w->selection.radius_m;
  memset(column, 0, SIDE * SIDE * sizeof(int));
  for (int64_t b = 0; b < w->bodies.owned; b++) {
    TlVec3 p = w->bodies.position[b];
    column[(int)(p.y / side)][(int)(p.x / side)]++;
    heights += (int64_t)(p.z / side);
  }
  return heights;
}

static void build_counted(World *w, int count, const char *more) {
  char *text = tl_format("shapes: [{name: ball, diameter_m: 1}]\ngrains: {shapes: [ball]}\n"
                         "release:\n  assembly: lattice\n  spacing: 1\n  high_m: [20.45, 20.45, "
                         "3.07]\n  count: %d\n%s",
                         count, more);
  CK_OK(build(w, text, false));
  ck_assert_int_eq(w->bodies.owned, count);
  tl_free(text);
}

/* Of a box that a count fills partly: columns differ by one grain at most, the lowest cells are the
 * ones taken, and of the grains over whole layers every corner of the plan, of any size and at any
 * of the four corners, has its share to within 5 grains. (Grains row by row miss it by up to 100.)
 */
START_TEST(a_count_fills_a_box_evenly) {
  TL_NOT_SANITIZED();
  double worst = 0;
  for (int count = 7; count <= 1200; count += 61) {
    World w;
    int column[SIDE][SIDE], layers = count / (SIDE * SIDE), rest = count % (SIDE * SIDE);
    build_counted(&w, count, "");
    int64_t heights = columns_of(&w, column);
    int64_t lowest = rest * layers + SIDE * SIDE * (layers * (layers - 1) / 2);
    ck_assert_int_eq(heights, lowest);
    for (int corner = 0; corner < 4; corner++)
      for (int nx = 1; nx <= SIDE; nx++)
        for (int ny = 1; ny <= SIDE; ny++) {
          int there = 0;
          for (int j = 0; j < ny; j++)
            for (int i = 0; i < nx; i++) {
              int n = column[corner & 2 ? SIDE - 1 - j : j][corner & 1 ? SIDE - 1 - i : i];
              ck_assert(n == layers || n == layers + 1);
              there += n - layers;
            }
          worst = fmax(worst, fabs(there - (double)rest * nx * ny / (SIDE * SIDE)));
        }
    demolish(&w);
  }
  ck_assert_msg(worst < 5, "a part of the plan misses its share by %g grains", worst);
}
END_TEST

/* A triangle whose right angle lies at the origin, and a box with a slanting floor: the columns
 * that are there are filled alike. */
START_TEST(a_count_fills_what_there_is_evenly) {
  World w;
  int column[SIDE][SIDE], south = 0, north = 0, below[2] = {0, 0};
  build_counted(&w, 90, "  polygon: [{x_m: 0, y_m: 0}, {x_m: 20, y_m: 0}, {x_m: 0, y_m: 20}]\n");
  columns_of(&w, column);
  for (int j = 0; j < SIDE; j++)
    for (int i = 0; i < SIDE; i++) {
      ck_assert(column[j][i] <= 1 && (column[j][i] == 0 || i + j < SIDE));
      *(j > i ? &north : &south) += i != j ? column[j][i] : 0;
    }
  ck_assert_msg(abs(north - south) <= 3, "%d and %d", north, south);
  demolish(&w);
  build_counted(&w, 600, "planes: [{point_m: [0, 0, 0], normal: [-0.05, 0, 1]}]\n");
  columns_of(&w, column); /* the floor rises by 1 m along x: 2 or 1 free cells a column */
  for (int j = 0; j < SIDE; j++)
    for (int i = 0; i < SIDE; i++) below[i >= SIDE / 2] += column[j][i];
  ck_assert_msg(abs(below[0] - below[1]) <= 5, "%d and %d", below[0], below[1]);
  demolish(&w);
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
  refused("release: {rotation_deg: [0, 0, 9]}\n", false, "or a list of bodies");
}
END_TEST

START_TEST(settings_of_the_solver_are_its_own_defaults) {
  World w;
  CK_OK(build(&w, "grains: {sample: sand}\n", false));
  TlSolverConfig mine = tl_setup_solver(&w.setup), want = tl_solver_defaults();
  ck_assert_int_eq(mine.impulses.increments, want.impulses.increments);
  ck_assert_int_eq(mine.impulses.max_rounds, want.impulses.max_rounds);
  ck_assert_int_eq(mine.impulses.rest_sweeps, want.impulses.rest_sweeps);
  ck_assert_int_eq(mine.impulses.position_sweeps, want.impulses.position_sweeps);
  ck_assert(mine.method == want.method && mine.impulses.order == want.impulses.order &&
            mine.impulses.rest == want.impulses.rest && mine.search.sides == want.search.sides);
  ck_assert_double_eq(mine.impulses.similar, want.impulses.similar);
  ck_assert_double_eq(mine.impulses.tolerance, want.impulses.tolerance);
  ck_assert_double_eq(mine.impulses.rest_tolerance, want.impulses.rest_tolerance);
  ck_assert_double_eq(mine.impulses.position_rate, want.impulses.position_rate);
  ck_assert_double_eq(mine.impulses.slop, want.impulses.slop);
  ck_assert_double_eq(mine.impulses.impact_threshold_m_s, want.impulses.impact_threshold_m_s);
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
                "- {shape: brick, position_m: [0, 0, 2], turn_deg: [0, 0, 90], spin_rad_s: "
                "[3, 0, 0]}\n"
                "- {grain: 2, position_m: [0, 0, 3], scale: 2, fixed: yes}\n"
                "- {shape: block, position_m: [0, 0, 2], turn_deg: [0, 0, 90], spin_rad_s: "
                "[3, 0, 0]}\n",
                solids);
  CK_OK(build(&w, text, false));
  ck_assert_int_eq(w.selection.count, 0);
  ck_assert_int_eq(w.bodies.owned, 6);
  CK_NEAR(w.bodies.position[2].x, 0.02, 1e-17);
  ck_assert_int_eq(w.bodies.colliders.avatar_id[2], -1);
  ck_assert_int_eq(w.bodies.colliders.avatar_id[3], -2);
  ck_assert_int_eq(w.bodies.flags[4], TL_BODY_FROZEN | TL_BODY_FIXED);
  ck_assert_int_eq(w.bodies.colliders.avatar_id[4], 2);
  ck_assert_double_eq(w.bodies.colliders.scale[4], 2);
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
    int64_t id = w.bodies.colliders.avatar_id[i];
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
  shapes_refused("bodies: [{position_m: [0, 0, 0]}]\n", "either a shape, a grain");
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
  TlRunOptions options = {.study = path, .output = tl_test_results(path)};
  CK_OK(tl_file_write(path, text, sizeof text - 1, true));
  CK_OK(tl_run_open(&run, NULL, &options));
  CK_OK(tl_run_go(&run));
  CK_OK(tl_results_read_scene(run.folder, &scene));
  ck_assert_int_eq(scene.avatar_count, 2);
  ck_assert_ptr_nonnull(tl_scene_avatar(&scene, -1));
  ck_assert_ptr_nonnull(tl_scene_avatar(&scene, -3));
  CK_OK(tl_results_read_frame(run.folder, 0, &frame));
  ck_assert_int_eq(frame.rows[1].avatar_id, -3);
  CK_NEAR(run.state->dem.bodies.position[0].z, 1e-3,
          1e-6); /* the ball is round: it rests where it stood */
  tl_frame_free(&frame);
  tl_scene_free(&scene);
  tl_run_close(&run);
  tl_free(path);
}
END_TEST

/* ---- drawn ---- */

static double ball_of(const World *w, int64_t i) {
  return w->bodies.colliders.scale[i] *
         tl_study_shapes_ball(&w->shapes, w->bodies.colliders.avatar_id[i]);
}

/* Oracle of no overlap: gap of the nodes of i (a ball: its centre) to the field of j. */
static double gap_of(const World *w, TlAvatarCache *cache, int64_t i, int64_t j) {
  const TlAvatar *a = tl_avatars_get(cache, w->bodies.colliders.avatar_id[i]),
                 *b = tl_avatars_get(cache, w->bodies.colliders.avatar_id[j]);
  double si = w->bodies.colliders.scale[i], sj = w->bodies.colliders.scale[j], least = INFINITY;
  bool ball = ball_of(w, i) > 0;
  for (int32_t k = 0; k < (ball ? 1 : a->node_count); k++) {
    TlVec3 p = ball ? tl_vec3(0, 0, 0)
                    : tl_vec3(a->node_m[3 * k], a->node_m[3 * k + 1], a->node_m[3 * k + 2]);
    TlVec3 x =
        tl_axpy(w->bodies.position[i], 1, tl_quat_rotate(w->bodies.rotation[i], tl_scale(si, p)));
    TlVec3 q =
        tl_quat_rotate(tl_quat_conj(w->bodies.rotation[j]), tl_sub(x, w->bodies.position[j]));
    double phi = ball_of(w, j) > 0 ? tl_norm(q) - ball_of(w, j)
                                   : sj * tl_avatar_phi(b, tl_scale(1 / sj, q), NULL);
    least = fmin(least, phi - ball_of(w, i));
  }
  return least;
}

static double least_gap(const World *w) {
  TlAvatarCache cache = {.catalog = w->catalog, .shapes = &w->shapes};
  double least = INFINITY;
  for (int64_t i = 0; i < w->bodies.owned; i++)
    for (int64_t j = 0; j < w->bodies.owned; j++)
      if (i != j) least = fmin(least, gap_of(w, &cache, i, j));
  tl_avatars_free(&cache);
  return least;
}

static double volume_of(const World *w) {
  TlAvatarCache cache = {.catalog = w->catalog, .shapes = &w->shapes};
  double volume = 0;
  for (int64_t i = 0; i < w->bodies.owned; i++)
    volume += pow(w->bodies.colliders.scale[i], 3) *
              tl_avatars_get(&cache, w->bodies.colliders.avatar_id[i])->volume_m3;
  tl_avatars_free(&cache);
  return volume;
}

static double diameter_of(const World *w, int64_t i) {
  TlGrainRow row;
  CK_OK(tl_catalog_grain(w->catalog, w->bodies.colliders.avatar_id[i], &row));
  return w->bodies.colliders.scale[i] * cbrt(6 * row.volume_m3 / 3.14159265358979323846);
}

/* Crosses reach into each other's corners. */
START_TEST(drawn_grains_keep_clear_of_each_other_and_of_walls) {
  World w;
  char *text = tl_format("%sgrains: {shapes: [jack, ball, block], ids: [2]}\nrelease: {assembly: "
                         "drawn, count: 48, high_m: [0.014, 0.01, 0.012], clearance_m: 1e-5}\n"
                         "planes: [{point_m: [0, 0, 0.002], normal: [0, 0.2, 1]}]\n",
                         solids);
  CK_OK(build(&w, text, false));
  ck_assert_int_eq(w.bodies.owned, 48);
  double gap = least_gap(&w), fraction = volume_of(&w) / 1.68e-6;
  ck_assert_msg(gap >= 1e-5, "gap %g", gap);
  ck_assert_msg(fraction > 0.1, "fraction %g", fraction);
  TlAvatarCache cache = {.catalog = w.catalog, .shapes = &w.shapes};
  for (int64_t i = 0; i < 48; i++) {
    const TlAvatar *a = tl_avatars_get(&cache, w.bodies.colliders.avatar_id[i]);
    for (int32_t k = 0; k < a->node_count; k++) {
      TlVec3 x = tl_add(
          w.bodies.position[i],
          tl_quat_rotate(w.bodies.rotation[i],
                         tl_vec3(a->node_m[3 * k], a->node_m[3 * k + 1], a->node_m[3 * k + 2])));
      double tolerance = ball_of(&w, i) > 0 ? 2e-5 : 1e-12; /* a ball's grid is not the ball */
      ck_assert(fmin(x.x, fmin(x.y, x.z)) >= -tolerance);
      ck_assert(x.x <= 0.014 + tolerance && x.y <= 0.01 + tolerance && x.z <= 0.012 + tolerance);
      ck_assert(tl_dot(tl_sub(x, tl_vec3(0, 0, 0.002)), tl_unit(tl_vec3(0, 0.2, 1))) >=
                1e-5 - tolerance);
    }
  }
  tl_avatars_free(&cache);
  tl_free(text);
  demolish(&w);
}
END_TEST

START_TEST(sizes_say_how_many_of_which_diameter) {
  World w;
  int small = 0;
  CK_OK(build(&w,
              "grains: {sample: sand}\nrelease:\n  assembly: drawn\n  low_m: [0.01, 0, 0]\n"
              "  high_m: [0.04, 0.03, 0.03]\n"
              "  round: yes\n  resize: yes\n  sizes:\n"
              "  - {least_diameter_m: 3.0e-3, most_diameter_m: 4.0e-3, count: 10}\n"
              "  - {least_diameter_m: 1.0e-3, most_diameter_m: 1.2e-3, count: 25}\n",
              false));
  ck_assert_int_eq(w.bodies.owned, 35);
  for (int64_t i = 0; i < 35; i++) {
    double d = diameter_of(&w, i);
    bool is_small = d >= 1e-3 * (1 - 1e-12) && d <= 1.2e-3 * (1 + 1e-12);
    ck_assert(is_small || (d >= 3e-3 * (1 - 1e-12) && d <= 4e-3 * (1 + 1e-12)));
    small += is_small;
    ck_assert(hypot(w.bodies.position[i].x - 0.025, w.bodies.position[i].y - 0.015) < 0.015);
  }
  ck_assert_int_eq(small, 25);
  ck_assert(least_gap(&w) >= 0);
  demolish(&w);
  /* equal mass at diameters of 1 : 2 is eight to one in number */
  CK_OK(build(&w,
              "grains: {sample: sand}\nrelease:\n  assembly: drawn\n  high_m: [0.02, 0.02, 0.03]\n"
              "  count: 90\n  resize: yes\n  sizes:\n"
              "  - {least_diameter_m: 2.0e-3, most_diameter_m: 2.0e-3, mass_share: 0.5}\n"
              "  - {least_diameter_m: 1.0e-3, most_diameter_m: 1.0e-3, mass_share: 0.5}\n",
              false));
  small = 0;
  for (int64_t i = 0; i < 90; i++) small += diameter_of(&w, i) < 1.5e-3;
  ck_assert_int_eq(small, 80);
  demolish(&w);
  /* as they are: only those in the range */
  CK_OK(build(&w,
              "grains: {sample: sand}\nrelease:\n  assembly: drawn\n  high_m: [0.02, 0.02, 0.02]\n"
              "  sizes: [{least_diameter_m: 1.6e-3, most_diameter_m: 1.72e-3, count: 20}]\n",
              false));
  for (int64_t i = 0; i < 20; i++)
    ck_assert(diameter_of(&w, i) >= 1.6e-3 && diameter_of(&w, i) <= 1.72e-3);
  demolish(&w);
}
END_TEST

START_TEST(drawn_in_a_polygon_to_a_depth_over_ground) {
  World w;
  double phi;
  CK_OK(
      build(&w,
            "grains: {sample: sand}\nrelease:\n  assembly: drawn\n  low_m: [0.02, 0.02, 0]\n"
            "  high_m: [0.12, 0.12, 0]\n  depth_m: 0.01\n  count: 150\n"
            "  polygon: [{x_m: 0.03, y_m: 0.03}, {x_m: 0.11, y_m: 0.03}, {x_m: 0.07, y_m: 0.1}]\n",
            true));
  double high = 0;
  for (int64_t i = 0; i < w.bodies.owned; i++) {
    TlVec3 p = w.bodies.position[i];
    double ground;
    ck_assert(p.y > 0.03 && p.y < 0.1 && p.x > 0.03 && p.x < 0.11);
    ck_assert(tl_terrain_height(&w.terrain, p.x, p.y, &ground, NULL));
    ck_assert(p.z - ground <= 0.01);
    high = fmax(high, p.z - ground);
    tl_terrain_phi(&w.terrain, p, &phi, NULL);
    ck_assert_double_gt(phi, 4e-4); /* the least half axis */
  }
  ck_assert_double_gt(high, 0.009);
  ck_assert(least_gap(&w) >= 0);
  demolish(&w);
}
END_TEST

START_TEST(a_full_region_says_what_was_reached) {
  refused(
      "grains: {sample: sand}\nrelease: {assembly: drawn, high_m: [0.005, 0.005, 0.005], count: "
      "500, tries: 50}\n",
      false, "of 500 grains found a place and fill 0.");
  refused("grains: {sample: sand}\nrelease: {assembly: drawn, high_m: [1, 1, 1]}\n", false,
          "release.count: is missing");
  refused("grains: {sample: sand}\nrelease: {assembly: drawn, high_m: [1, 1, 1], sizes: "
          "[{least_diameter_m: 1, most_diameter_m: 2, count: 3}]}\n",
          false, "release.sizes.0: no grain of the selection is 1 to 2 m across");
  refused("grains: {sample: sand}\nrelease: {assembly: drawn, high_m: [1, 1, 1], sizes: "
          "[{least_diameter_m: 1, most_diameter_m: 2}]}\n",
          false, "either count or mass_share");
  refused("grains: {sample: sand}\nrelease: {assembly: drawn, high_m: [1, 1, 0], depth_m: 1, "
          "count: 1}\n",
          false, "release.depth_m: depth counts from the ground");
}
END_TEST

/* ---- during the run ---- */

static void open_run(TlRun *run, const char *name, const char *text, bool no_output) {
  char *path = tl_path_join(tl_test_folder(), name), *catalog = make_catalog();
  TlRunOptions options = {.study = path, .output = tl_test_results(path), .no_output = no_output};
  tl_log_set("test", TL_LOG_WARN);
  tl_par_set_threads(1); /* tiny runs: threads only wait for each other */
  CK_OK(tl_file_write(path, text, strlen(text), true));
  CK_OK(tl_run_open(run, NULL, &options));
  tl_free(path);
  tl_free(catalog);
}

START_TEST(grains_of_one_avatar_share_its_data) {
  TlRun run;
  open_run(&run, "share.yaml",
           "catalog: c.sqlite\ntime: {dt_s: 1e-3, steps: 2}\ngrains: {ids: [3]}\n"
           "free_fall: yes\nrelease: {assembly: lattice, high_m: [0.03, 0.03, 0.02]}\n",
           true);
  ck_assert_int_gt(run.state->grains, 400);
  CK_OK(tl_run_go(&run));
  ck_assert_uint_eq(run.model->avatars.count, 1);
  TlAvatar *a = run.model->avatars.avatar[0];
  ck_assert_int_eq(run.model->avatars.bytes,
                   (int64_t)a->nx * a->ny * a->nz * 4 + (int64_t)a->node_count * 16);
  for (int64_t i = 0; i < run.state->dem.bodies.owned; i++)
    ck_assert_ptr_eq(run.state->dem.bodies.colliders.shape[i],
                     run.state->dem.bodies.colliders.shape[0]);
  tl_run_close(&run);
}
END_TEST

/* 4 cells in the inlet, 40 grains, 0.2 m/s down: they clear their cells within 20 ms and all are in
 * after some 200; none ever overlaps another by more than contacts do. */
START_TEST(poured_grains_come_when_there_is_room) {
  TlRun run;
  open_run(&run, "pour.yaml",
           "catalog: c.sqlite\ntime: {dt_s: 1e-3, steps: 400, frame_every_s: 0}\n"
           "grains: {sample: sand}\n"
           "release: {assembly: poured, low_m: [0, 0, 0.02], high_m: [0.0042, 0.0042, "
           "0.0222], count: 40, velocity_m_s: [0, 0, -0.2]}\n"
           "planes: [{point_m: [0, 0, 0], normal: [0, 0, 1]}]\n",
           false);
  ck_assert_int_eq(tl_pour_left(&run), 40);
  CK_OK(tl_run_go(&run));
  ck_assert_int_eq(run.state->poured, 40);
  ck_assert_int_eq(run.state->dem.bodies.owned, 40);
  ck_assert_double_lt(run.state->totals.overlap_share, 0.02);
  TlScene scene;
  CK_OK(tl_results_read_scene(run.folder, &scene));
  ck_assert_int_eq(scene.body_count, 40);
  for (int64_t i = 0; i < 40; i++)
    ck_assert_ptr_nonnull(tl_scene_avatar(&scene, run.state->dem.bodies.colliders.avatar_id[i]));
  tl_scene_free(&scene);
  tl_run_close(&run);
}
END_TEST

START_TEST(a_rate_lets_them_in_one_by_one) {
  TlRun run;
  open_run(&run, "rate.yaml",
           "catalog: c.sqlite\ntime: {dt_s: 1e-3, steps: 101}\n"
           "grains: {sample: sand}\n"
           "release: {assembly: poured, low_m: [0, 0, 0.02], high_m: [0.02, 0.02, "
           "0.03], count: 1000, rate_per_s: 200}\n"
           "bodies: [{grain: 1, position_m: [0, 0, 0], fixed: yes}]\n",
           true);
  CK_OK(tl_run_go(&run));
  ck_assert_int_eq(run.state->poured, 20); /* 0.1 s at 200 a second */
  ck_assert_int_eq(run.state->dem.bodies.owned, 21);
  ck_assert_int_eq(run.state->dem.bodies.id[0], 1000); /* placed bodies follow those to come */
  tl_run_close(&run);
}
END_TEST

/* Places of grains at the moment they come, all in free fall: no two in one column, over all of the inlet, none out of
 * it or in another. In a box that the cells fill without a gap, too. */
static void pour_at_random(double wide_m, const char *shapes, double least_m) {
  enum { COUNT = 60 };
  TlRun run;
  TlVec3 came[COUNT];
  double low = 0, high = 0;
  char *text = tl_format("time: {dt_s: 1e-3, duration_s: 2}\n%s"
                         "release: {assembly: poured, low_m: [0, 0, 0.25], high_m: [%g, %g, 0.35], "
                         "rate_per_s: 100, count: %d, velocity_m_s: [0, 0, -1]}\nfree_fall: yes\n",
                         shapes, wide_m, wide_m, COUNT);
  open_run(&run, "random.yaml", text, true);
  CK_OK(tl_run_begin(&run));
  for (int64_t before = run.state->poured; before < COUNT; before = run.state->poured) {
    const TlBodies *b = &run.state->dem.bodies;
    CK_OK(tl_pour(&run, run.state->totals.steps));
    for (int64_t i = 0; i < b->owned; i++)
      if (b->id[i] >= before) came[b->id[i]] = b->position[i];
    CK_OK(tl_run_step(&run));
    for (int64_t i = 0; i < b->owned; i++)
      for (int64_t j = 0; j < i; j++)
        ck_assert_double_ge(tl_norm(tl_sub(b->position[i], b->position[j])),
                            (1 - 1e-9) * (b->radius[i] + b->radius[j]));
  }
  for (int64_t i = 0; i < COUNT; i++) {
    ck_assert(came[i].x >= least_m && came[i].x <= wide_m - least_m && came[i].y >= least_m &&
              came[i].y <= wide_m - least_m && came[i].z >= 0.25 + least_m &&
              came[i].z <= 0.35 - least_m);
    low += came[i].x < 0.5 * wide_m;
    high += came[i].y < 0.5 * wide_m;
    for (int64_t j = 0; j < i; j++)
      ck_assert_msg(hypot(came[i].x - came[j].x, came[i].y - came[j].y) > 1e-6,
                    "%lld and %lld came in one column", (long long)i, (long long)j);
  }
  /* four deviations of 60 fair coins */
  ck_assert(fabs(low - 0.5 * COUNT) < 16 && fabs(high - 0.5 * COUNT) < 16);
  tl_run_close(&run);
  tl_free(text);
}

START_TEST(poured_grains_come_at_random_places) {
  static const char one[] = "shapes: [{name: ball, diameter_m: 0.04}]\ngrains: {shapes: [ball]}\n";
  pour_at_random(0.2, one, 0.02);
  pour_at_random(4 * 1.02 * 0.04, one, 0.02);
  pour_at_random(4 * 1.02 * 0.04,
                 "shapes: [{name: ball, diameter_m: 0.04}, {name: small, diameter_m: 0.02}]\n"
                 "grains: {shapes: [ball, small]}\n",
                 0.01);
}
END_TEST

/* A fixed cube and a bar of two parts stand in the region: no grain reaches into them, and one on a lattice that does
 * is refused at the body's key. */
#define OBSTACLES                                                                                  \
  "time: {dt_s: 1e-3, steps: 1}\nfree_fall: yes\n"                                                 \
  "shapes: [{name: ball, diameter_m: 0.03}, {name: cube, kind: box, size_m: [0.2, 0.2, 0.2]}, "    \
  "{name: bar, kind: box, size_m: [0.3, 0.04, 0.04]}]\n"                                           \
  "grains: {shapes: [ball]}\n"                                                                     \
  "bodies:\n- {shape: cube, position_m: [0, 0, 0.1], fixed: yes}\n"                                \
  "- {name: boom, position_m: [0, 0.2, 0.2], turn_deg: [0, 0, 10], parts: [{shape: bar, "          \
  "position_m: [-0.15, 0, 0]}, {shape: bar, position_m: [0.15, 0, 0]}]}\n"

static double depth_in_box(TlVec3 p, TlVec3 middle, double turn, TlVec3 half, double radius) {
  TlVec3 d = tl_sub(p, middle);
  double x = fabs(cos(turn) * d.x + sin(turn) * d.y), y = fabs(cos(turn) * d.y - sin(turn) * d.x);
  return radius -
         tl_norm(tl_vec3(fmax(0, x - half.x), fmax(0, y - half.y), fmax(0, fabs(d.z) - half.z)));
}

START_TEST(grains_keep_clear_of_bodies) {
  TlRun run;
  open_run(&run, "bodies.yaml",
           OBSTACLES "release: {assembly: drawn, count: 200, low_m: [-0.3, -0.3, 0], high_m: [0.3, "
                     "0.3, 0.3]}\n",
           true);
  const TlBodies *b = &run.state->dem.bodies;
  int64_t grains = 0;
  for (int64_t i = 0; i < b->owned; i++) {
    if (b->id[i] >= 200) continue;
    grains++;
    TlVec3 p = b->position[i];
    ck_assert_double_le(depth_in_box(p, tl_vec3(0, 0, 0.1), 0, tl_vec3(0.1, 0.1, 0.1), 0.015),
                        1e-4);
    ck_assert_double_le(
        depth_in_box(p, tl_vec3(0, 0.2, 0.2), 10 * M_PI / 180, tl_vec3(0.3, 0.02, 0.02), 0.015),
        1e-4);
  }
  ck_assert_int_eq(grains, 200);
  tl_run_close(&run);
  char *path = tl_path_join(tl_test_folder(), "cells.yaml");
  static const char *const message[] = {
      "bodies.0.position_m: grain 0 of release.assembly: lattice, at x = 0.0156",
      "lies in body 1 (boom) at the start: move the body or the box"};
  static const char *const box[] = {"low_m: [0, 0, 0], high_m: [0.1, 0.1, 0.1]",
                                    "low_m: [-0.24, 0.16, 0.2], high_m: [-0.2, 0.3, 0.24]"};
  for (int k = 0; k < 2; k++) {
    char *text = tl_format(OBSTACLES "release: {assembly: lattice, %s}\n", box[k]);
    TlRunOptions options = {.study = path, .no_output = true};
    CK_OK(tl_file_write(path, text, strlen(text), true));
    TlStatus status = tl_run_open(&run, NULL, &options);
    ck_assert_msg(status == TL_EINPUT && strstr(tl_message(), message[k]), "%d: %s", (int)status,
                  tl_message());
    tl_run_close(&run);
    tl_free(text);
  }
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
             a_count_fills_a_box_evenly, a_count_fills_what_there_is_evenly,
             the_median_is_the_middle_grain, what_cannot_be_placed_is_refused_at_its_key,
             settings_of_the_solver_are_its_own_defaults, placed_bodies_stand_as_their_study_says,
             a_lattice_draws_from_shapes_and_catalog,
             shapes_and_bodies_that_make_no_sense_are_refused,
             drawn_grains_keep_clear_of_each_other_and_of_walls,
             sizes_say_how_many_of_which_diameter, drawn_in_a_polygon_to_a_depth_over_ground,
             a_full_region_says_what_was_reached, grains_of_one_avatar_share_its_data,
             poured_grains_come_when_there_is_room, a_rate_lets_them_in_one_by_one,
             poured_grains_come_at_random_places, grains_keep_clear_of_bodies,
             results_hold_the_shapes, any_allocation_may_fail)
