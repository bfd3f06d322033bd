/* Walls as studies say them, from the file to the grains. */
#include "support/tltest.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/par.h"
#include "base/random.h"
#include "run/run.h"
#include "shape/terrain_build.h"
#include "store/catalog.h"

static char *put_file(const char *name, const char *text) {
  char *path = tl_path_join(tl_test_folder(), name);
  CK_OK(tl_file_write(path, text, strlen(text), true));
  return path;
}

static const char head[] = "time: {dt_s: 1.0e-3, duration_s: 1}\n"
                           "shapes:\n"
                           "  - {name: ball, kind: sphere, diameter_m: 0.02}\n"
                           "  - {name: block, kind: box, size_m: [0.02, 0.02, 0.02]}\n"
                           "contact: {boundary_friction: 0.4, boundary_restitution: 0}\n";

/* Runs a study of these bodies and walls; the run stays open. */
static TlStatus run_study(TlRun *run, const char *rest) {
  char *text = tl_format("%s%s", head, rest), *path = put_file("walls.yaml", text);
  TlRunOptions options = {.study = path, .no_output = true};
  tl_par_set_threads(1);
  TlStatus status = tl_run_open(run, NULL, &options);
  if (status == TL_OK) status = tl_run_go(run);
  tl_free(text);
  tl_free(path);
  return status;
}

static void fails(const char *rest, const char *message) {
  TlRun run;
  CK_FAILS(run_study(&run, rest), TL_EINPUT, message);
  tl_run_close(&run);
}

#define BALL "bodies: [{shape: ball, position_m: [0, 0, 0.05]}]\n"

/* Thrown against every side of a box open at the top, of slabs and of planes: all stay inside. */
START_TEST(a_container_holds_what_is_thrown_in_it) {
  const char *const walls[4] = {
      "walls: [{kind: box, grains: inside, size_m: [0.2, 0.2, 0.1], point_m: [0, 0, 0.05],"
      " thickness_m: 0.01, open: [+z]}]\n",
      "walls: [{kind: box, grains: inside, size_m: [0.2, 0.2, 0.1], point_m: [0, 0, 0.05],"
      " open: [+z]}]\n",
      "walls: [{kind: cylinder, grains: inside, radius_m: 0.1, length_m: 0.1,"
      " point_m: [0, 0, 0.05], thickness_m: 0.01, open: [+z]}]\n",
      "walls: [{kind: cylinder, grains: inside, radius_m: 0.1, length_m: 0.1,"
      " point_m: [0, 0, 0.05], open: [+z]}]\n"};
  const int parts[4] = {5, 5, 2, 2};
  for (int i = 0; i < 4; i++) {
    TlRun run;
    char *text =
        tl_format("bodies:\n"
                  "  - {shape: ball, position_m: [0, 0, 0.02], velocity_m_s: [2, 0.3, 0]}\n"
                  "  - {shape: ball, position_m: [0, 0.03, 0.02], velocity_m_s: [-0.2, 2, 0]}\n"
                  "  - {shape: block, position_m: [0, -0.03, 0.02], velocity_m_s: [-2, -2, 0]}\n%s",
                  walls[i]);
    CK_OK(run_study(&run, text));
    ck_assert_int_eq(run.model->boundary_count, parts[i]);
    for (int64_t k = 0; k < run.state->dem.bodies.owned; k++) {
      TlVec3 x = run.state->dem.bodies.position[k];
      ck_assert_msg(fabs(x.x) < 0.0905 && fabs(x.y) < 0.0905 && x.z > 0.0095 && x.z < 0.03,
                    "walls %d: body %lld at %g %g %g", i, (long long)k, x.x, x.y, x.z);
    }
    ck_assert(run.state->totals.boundary_overlap_share < 0.02);
    tl_run_close(&run);
    tl_free(text);
  }
}
END_TEST

/* A lift that waits, goes up 0.1 m and waits again, by a table with a byte order mark; its work is the weight's. */
START_TEST(a_table_moves_a_wall) {
  TlRun run;
  tl_free(put_file("lift.csv", "\xEF\xBB\xBFtime_s,x_m,y_m,z_m\n0.2,0,0,0\n0.7,0.02,0,0.1\r\n"));
  CK_OK(run_study(&run, "bodies: [{shape: block, position_m: [0, 0, 0.01]}]\n"
                        "walls: [{kind: plane, table: lift.csv}]\n"));
  double m = run.state->dem.bodies.mass[0];
  CK_NEAR(run.state->dem.bodies.position[0].z, 0.11, 1e-4);
  CK_NEAR(run.state->dem.bodies.position[0].x, 0.02,
          2e-3); /* slides while it is set in motion and stopped */
  CK_NEAR(run.state->totals.wall_work_J / (m * 9.81 * 0.1), 1, 0.06); /* and m v^2, v = 0.2 m/s */
  tl_run_close(&run);
}
END_TEST

START_TEST(a_wall_has_its_own_friction_and_its_time) {
  TlRun run;
  CK_OK(run_study(&run, "bodies:\n"
                        "  - {shape: block, position_m: [0, 0, 0.01], velocity_m_s: [0.5, 0, 0]}\n"
                        "walls:\n"
                        "  - {kind: plane, friction: 0, until_s: 0.5}\n"
                        "  - {kind: plane, point_m: [0, 0, -0.1], from_s: 2}\n"));
  CK_NEAR(run.state->dem.bodies.velocity[0].x, 0.5, 1e-9);
  /* what the resting solve leaves at the moment the floor goes: its tolerance, 1e-3 g dt */
  CK_NEAR(run.state->dem.bodies.velocity[0].z, -9.81 * 0.5, 1e-3 * 9.81 * 1e-3);
  tl_run_close(&run);
}
END_TEST

START_TEST(a_study_of_walls_that_make_no_sense_is_refused_in_its_place) {
  fails(BALL "walls: [{kind: box}]\n", "size_m: a box wants three positive sides");
  fails(BALL "walls: [{kind: cylinder, radius_m: 1}]\n", "length_m");
  fails(BALL "walls: [{kind: plane, normal: [0, 0, 0]}]\n", "normal: is the zero vector");
  fails(BALL "walls: [{kind: box, size_m: [1, 1, 1], open: [+z]}]\n", "only a container");
  fails(BALL "walls: [{kind: cylinder, grains: inside, radius_m: 1, length_m: 1, open: [+x]}]\n",
        "faces are");
  fails(BALL "walls: [{kind: plane, from_s: 2, until_s: 1}]\n", "must vanish after it appears");
  fails(BALL
        "walls: [{kind: cylinder, radius_m: 1, length_m: 1, surface_velocity_m_s: [1, 0, 0]}]\n",
        "walls.0.surface_velocity_m_s: the surface of a cylinder moves by a spin_rad_s");
  fails(BALL "walls: [{kind: cone}]\n", "walls.0.kind");
}
END_TEST

START_TEST(a_fixed_body_that_is_to_move_is_refused) {
  fails("bodies: [{shape: ball, position_m: [0, 0, 0], fixed: true, velocity_m_s: [0, 0, 1]}]\n",
        "bodies.0.velocity_m_s: a fixed body never moves");
  fails("bodies: [{shape: ball, position_m: [0, 0, 0], fixed: true, spin_rad_s: [0, 0, 1]}]\n",
        "bodies.0.spin_rad_s: a fixed body never moves");
}
END_TEST

START_TEST(a_wrong_table_is_refused_by_file_and_line) {
  const char *const texts[5] = {"t,x,y,z\n0,0,0,0\n", "time_s,x_m,y_m,z_m\n0,0,0\n",
                                "time_s,x_m,y_m,z_m\n0,0,0,0\n1,0,nan,0\n",
                                "time_s,x_m,y_m,z_m\n1,0,0,0\n1,0,0,0\n", "time_s,x_m,y_m,z_m\n"};
  const char *const messages[5] = {"bad.csv:1: the header", "bad.csv:2: four numbers",
                                   "bad.csv:3: four numbers", "bad.csv:3: times must ascend",
                                   "bad.csv: holds no rows"};
  for (int i = 0; i < 5; i++) {
    tl_free(put_file("bad.csv", texts[i]));
    fails(BALL "walls: [{kind: plane, table: bad.csv}]\n", messages[i]);
  }
  fails(BALL "walls: [{kind: plane, table: none.csv}]\n", "none.csv");
}
END_TEST

/* What readers of the results take for the distance to a wall is the solver's, part by part, of all
 * kinds, moved and turned; a wall that is gone is far. */
START_TEST(walls_in_the_results_have_the_distance_of_the_solvers) {
  TlRun run;
  TlRandom random = {11, 1, 0};
  int compared = 0;
  tl_free(put_file("way.csv", "time_s,x_m,y_m,z_m\n0,0,0,0\n1,0.2,0,0.1\n"));
  CK_OK(run_study(
      &run, BALL
      "walls:\n"
      "  - {kind: plane, normal: [1, 2, 2], point_m: [0, 0, -9], table: way.csv}\n"
      "  - {kind: box, size_m: [1, 2, 3], point_m: [5, 0, 0], rotation_deg: [20, 30, 40], "
      "spin_rad_s: [1, 0, 2]}\n"
      "  - {kind: cylinder, radius_m: 0.5, length_m: 2, axis: [1, 1, 0], point_m: [-5, 0, 0]}\n"
      "  - {kind: box, grains: inside, size_m: [4, 3, 2], rotation_deg: [0, 0, 45]}\n"
      "  - {kind: box, grains: inside, size_m: [4, 3, 2], rotation_deg: [0, 20, 0], "
      "thickness_m: 0.1, spin_rad_s: [0, 0.01, 0]}\n"
      "  - {kind: cylinder, grains: inside, radius_m: 2, length_m: 3, axis: [0, 1, 0]}\n"
      "  - {kind: cylinder, grains: inside, radius_m: 2, length_m: 3, axis: [0, 1, 1], "
      "thickness_m: 0.2}\n"
      "  - {kind: plane, point_m: [0, 0, -3], until_s: 0.4}\n"));
  ck_assert_int_eq(run.model->walls.count, 1 + 1 + 1 + 6 + 6 + 3 + 3 + 1);
  for (int i = 0; i < run.model->walls.count; i++) {
    const TlWallPart *part = &run.model->walls.part[i];
    TlBoundary b = run.model->walls.boundary[i];
    TlPlacement place = tl_drive_place(&part->drive, 700, 700, 1e-3);
    ck_assert(place.absent == (part->wall == 7));
    if (b.drive) b.place = tl_drive_place(b.drive, 700, 700, 1e-3);
    for (int k = 0; k < 200; k++) {
      double x = tl_random_next(&random), y = tl_random_next(&random), z = tl_random_next(&random);
      TlVec3 n, p = {16 * x - 8, 8 * y - 4, 8 * z - 4};
      double want;
      ck_assert(tl_boundary_phi(&b, p, &want, &n));
      if (place.absent)
        ck_assert(isinf(tl_part_phi(part, &place, p)));
      else
        CK_NEAR(tl_part_phi(part, &place, p), want, 1e-12);
      compared++;
    }
    /* a container's parts face its middle */
    TlVec3 in = tl_part_direction_back(part, &place, tl_vec3(0, 0, 1));
    if (part->inside && part->kind != TL_PART_TUBE && part->kind != TL_PART_RING)
      ck_assert_msg(tl_dot(in, tl_sub(part->centre, tl_vec3(0, 0, 0))) < 0, "part %d", i);
  }
  ck_assert_int_eq(compared, 22 * 200);
  tl_run_close(&run);
}
END_TEST

/* Embedded, by the wall's own fault: named by its key, the plane's too; a moving wall is asked where it
 * is, not where it was at rest (there the centre would not be inside). */
START_TEST(a_wall_that_comes_upon_grains_is_named) {
  fails(BALL "walls: [{kind: plane}, {kind: plane, point_m: [0, 0, 0.1], from_s: 0.02}]\n",
        "walls.1.from_s: grain 0 (shape 'ball') lies");
  fails(BALL "walls: [{kind: box, size_m: [1, 1, 0.2]}]\n",
        "walls.0.point_m: grain 0 (shape 'ball') lies");
  tl_free(put_file("jump.csv", "time_s,x_m,y_m,z_m\n0,0,0,9.04\n"));
  fails(BALL "walls: [{kind: box, size_m: [1, 1, 0.2], point_m: [0, 0, -9], table: jump.csv, "
             "from_s: 0.02}]\n",
        "its centre too, in this wall in step");
  fails(BALL "planes: [{point_m: [0, 0, -9], normal: [0, 0, 1]}, {point_m: [0, 0, 0.1], normal: "
             "[0, 0, 1]}]\n",
        "the plane planes.1");
}
END_TEST

/* ---- classes of the ground ---- */

static const double slope = 0.45; /* tan; 24 degrees */

/* Rises with x; the southern half of class 3, the northern of class 7. */
static void store_slope(const char *catalog_name, bool classes) {
  enum { N = 24 };
  double height[N * N];
  TlTerrain terrain = {0};
  TlCatalog *catalog;
  TlProvenance p;
  int64_t id;
  char *argv[] = {(char *)(uintptr_t) "t", NULL},
       *path = tl_path_join(tl_test_folder(), catalog_name);
  for (int k = 0; k < N * N; k++) height[k] = slope * 0.1 * (k % N);
  TlTerrainSource source = {"slope", "", N, N, 0.1, 0, 0, height};
  CK_OK(tl_terrain_build(&terrain, &source, &(TlTerrainOptions){.band_cells = 3, .refine = 1}));
  if (classes) CK_OK(TL_NEW(terrain.class_id, N * N));
  for (int k = 0; classes && k < N * N; k++) terrain.class_id[k] = k / N < N / 2 ? 3 : 7;
  tl_provenance_begin(&p, "t", 1, argv);
  CK_OK(tl_catalog_open(&catalog, path, TL_CATALOG_CREATE));
  CK_OK(tl_catalog_begin(catalog, &p, NULL));
  CK_OK(tl_catalog_add_terrain(catalog, &terrain, true, &id));
  CK_OK(tl_catalog_commit(catalog));
  tl_catalog_close(catalog);
  tl_provenance_free(&p);
  tl_terrain_free(&terrain);
  tl_free(path);
}

#define SLOPE_BLOCKS                                                                               \
  "time: {dt_s: 1.0e-3, duration_s: 0.4}\n"                                                        \
  "shapes: [{name: block, kind: box, size_m: [0.04, 0.04, 0.04]}]\n"                               \
  "bodies:\n"                                                                                      \
  "  - {shape: block, position_m: [1.5, 0.6, 0.698], turn_deg: [0, -24.2277, 0]}\n"                \
  "  - {shape: block, position_m: [1.5, 1.8, 0.698], turn_deg: [0, -24.2277, 0]}\n"                \
  "contact: {boundary_friction: 0.3, boundary_restitution: 0}\n"

static TlStatus run_slope(TlRun *run, const char *catalog, const char *classes) {
  char *text = tl_format("catalog: %s\nterrain: {name: slope%s}\n" SLOPE_BLOCKS, catalog, classes);
  char *path = put_file("slope.yaml", text);
  TlRunOptions options = {.study = path, .no_output = true};
  tl_par_set_threads(1);
  TlStatus status = tl_run_open(run, NULL, &options);
  if (status == TL_OK) status = tl_run_go(run);
  tl_free(text);
  tl_free(path);
  return status;
}

/* One block stays where mu > tan, the other slides with v = g t (sin - mu cos); the terrain's local
 * origin is its south-west sample's. */
START_TEST(a_block_stops_on_one_half_of_a_slope_and_slides_on_the_other) {
  TlRun run;
  store_slope("classes.tals", true);
  CK_OK(run_slope(&run, "classes.tals",
                  ", classes: [{id: 7, name: ice, friction: 0.1}, {id: 3, name: turf, friction: "
                  "0.8}]"));
  double angle = atan(slope);
  double want = 9.81 * 0.4 * (sin(angle) - 0.1 * cos(angle));
  ck_assert_msg(tl_norm(run.state->dem.bodies.velocity[0]) < 1e-3, "turf: %g m/s",
                tl_norm(run.state->dem.bodies.velocity[0]));
  ck_assert_msg(fabs(tl_norm(run.state->dem.bodies.velocity[1]) / want - 1) < 0.01,
                "ice: %g m/s, not %g", tl_norm(run.state->dem.bodies.velocity[1]), want);
  tl_run_close(&run);
}
END_TEST

START_TEST(classes_that_do_not_fit_the_terrain_are_refused_by_name) {
  const char *const classes[3] = {", classes: [{id: 3}]", ", classes: [{id: 3}, {id: 3}, {id: 7}]",
                                  ", classes: [{id: 3}, {id: 7}]"};
  const char *const messages[3] = {"ground of class 7", "class 3 comes twice", "has no classes"};
  store_slope("classes.tals", true);
  store_slope("plain.tals", false);
  for (int i = 0; i < 3; i++) {
    TlRun run;
    CK_FAILS(run_slope(&run, i < 2 ? "classes.tals" : "plain.tals", classes[i]), TL_EINPUT,
             messages[i]);
    tl_run_close(&run);
  }
  fails("terrain: {classes: [{id: 1}]}\n" BALL, "names no terrain");
}
END_TEST

TL_TEST_MAIN("walls of studies", a_fixed_body_that_is_to_move_is_refused,
             a_wall_that_comes_upon_grains_is_named,
             walls_in_the_results_have_the_distance_of_the_solvers,
             a_container_holds_what_is_thrown_in_it, a_table_moves_a_wall,
             a_wall_has_its_own_friction_and_its_time,
             a_study_of_walls_that_make_no_sense_is_refused_in_its_place,
             a_wrong_table_is_refused_by_file_and_line,
             a_block_stops_on_one_half_of_a_slope_and_slides_on_the_other,
             classes_that_do_not_fit_the_terrain_are_refused_by_name)
