/* Walls as studies say them, from the file to the grains. */
#include "support/tltest.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/par.h"
#include "run/run.h"

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
    ck_assert_int_eq(run.boundary_count, parts[i]);
    for (int64_t k = 0; k < run.bodies.owned; k++) {
      TlVec3 x = run.bodies.position[k];
      ck_assert_msg(fabs(x.x) < 0.0905 && fabs(x.y) < 0.0905 && x.z > 0.0095 && x.z < 0.03,
                    "walls %d: body %lld at %g %g %g", i, (long long)k, x.x, x.y, x.z);
    }
    ck_assert(run.totals.boundary_overlap_share < 0.02);
    tl_run_close(&run);
    tl_free(text);
  }
}
END_TEST

/* A lift that waits, goes up 0.1 m and waits again; its work is the weight's. */
START_TEST(a_table_moves_a_wall) {
  TlRun run;
  tl_free(put_file("lift.csv", "time_s,x_m,y_m,z_m\n0.2,0,0,0\n0.7,0.02,0,0.1\r\n"));
  CK_OK(run_study(&run, "bodies: [{shape: block, position_m: [0, 0, 0.01]}]\n"
                        "walls: [{kind: plane, table: lift.csv}]\n"));
  double m = run.bodies.mass[0];
  CK_NEAR(run.bodies.position[0].z, 0.11, 1e-4);
  CK_NEAR(run.bodies.position[0].x, 0.02, 2e-3); /* slides while it is set in motion and stopped */
  CK_NEAR(run.totals.wall_work_J / (m * 9.81 * 0.1), 1, 0.06); /* and m v^2, v = 0.2 m/s */
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
  CK_NEAR(run.bodies.velocity[0].x, 0.5, 1e-9);
  CK_NEAR(run.bodies.velocity[0].z, -9.81 * 0.5, 1e-9);
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
  fails(BALL "walls: [{kind: cone}]\n", "walls.0.kind");
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

TL_TEST_MAIN("walls of studies", a_container_holds_what_is_thrown_in_it, a_table_moves_a_wall,
             a_wall_has_its_own_friction_and_its_time,
             a_study_of_walls_that_make_no_sense_is_refused_in_its_place,
             a_wrong_table_is_refused_by_file_and_line)
