/* Specimens: grains cut from a scan, taken from an earlier run, drawn into a cylinder, and spheres
 * in their place. */
#include "support/placed.h"
#include "support/grains.h"
#include "support/tltest.h"

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/par.h"
#include "run/run.h"

enum { GRAINS = 27 };
static const double PI = 3.14159265358979323846;

/* Grain i of the scan at (i % 3, i / 3 % 3, i / 9) times 3 mm. */
static TlVec3 centroid(int64_t i) {
  return tl_scale(3e-3, tl_vec3((double)(i % 3), (double)(i / 3 % 3), (double)(i / 9)));
}

static double longest_m; /* half axis of the grains */

static TlStatus grain(int i, TlAvatar *a) {
  TL_TRY(tl_avatar_superellipsoid(longest_m, 1e-3, 7e-4, 1, 1, 2.5e-4, 40, a));
  a->scan_centroid_m = centroid(i);
  a->scan_rotation = tl_quat_from_rotation(tl_vec3(0.1 * i, 0, 0.2));
  return TL_OK;
}

static void make_catalog(const char *name, double longest) {
  char *path = tl_path_join(tl_test_folder(), name);
  longest_m = longest;
  CK_OK(tl_test_catalog(path, GRAINS, grain, NULL));
  tl_free(path);
}

static TlStatus try_open(TlRun *run, const char *name, const char *text, bool no_output) {
  char *path = tl_path_join(tl_test_folder(), name), *grains;
  TlRunOptions options = {
      .study = path, .output = tl_test_results(path), .no_output = no_output, .overwrite = true};
  tl_log_set("test", TL_LOG_WARN);
  tl_par_set_threads(1);
  grains = tl_path_join(tl_test_folder(), "c.sqlite");
  if (!tl_file_exists(grains)) make_catalog("c.sqlite", 1.3e-3);
  char *whole = tl_format("%sfree_fall: yes\n", text); /* most have no ground */
  CK_OK(tl_file_write(path, whole, strlen(whole), true));
  tl_free(whole);
  TlStatus status = tl_run_open(run, NULL, &options);
  tl_free(grains);
  tl_free(path);
  return status;
}

static void open_run(TlRun *run, const char *name, const char *text) {
  CK_OK(try_open(run, name, text, true));
}

static void refused(const char *text, const char *message) {
  TlRun run;
  CK_FAILS(try_open(&run, "wrong.yaml", text, true), TL_EINPUT, message);
  tl_run_close(&run);
}

/* Run it with results beside the study, NAME.run; the frame that it ended with. */
static TlFrame done(const char *name, const char *text) {
  TlRun run;
  TlFrame frame;
  CK_OK(try_open(&run, name, text, false));
  CK_OK(tl_run_go(&run));
  CK_OK(tl_results_read_frame(run.folder, run.state->totals.frames - 1, &frame));
  tl_run_close(&run);
  return frame;
}

/* ---- cut ---- */

#define SCAN "catalog: c.sqlite\ntime: {dt_s: 1e-3, steps: 1}\ngrains: {sample: sand}\n"

/* The middle column of three, and the ends of what the grain scale makes of it. */
START_TEST(a_cylinder_cut_from_the_scan_stands_on_its_foot) {
  TlRun run;
  open_run(&run, "cut.yaml",
           "catalog: c.sqlite\ntime: {dt_s: 1e-3, steps: 1}\n"
           "grains: {sample: sand, grain_scale: 2}\n"
           "release: {position_m: [1, 2, 3], cut: {kind: cylinder, foot_m: [3e-3, 3e-3, -1e-3], "
           "radius_m: 2e-3, height_m: 5e-3}}\n");
  ck_assert_int_eq(run.state->dem.bodies.owned, 2);
  for (int64_t i = 0; i < 2; i++) {
    ck_assert_int_eq(run.state->dem.bodies.id[i], i);
    ck_assert_int_eq(run.state->dem.bodies.colliders.avatar_id[i], 5 + 9 * i);
    CK_NEAR(run.state->dem.bodies.position[i].x, 1, 1e-15);
    CK_NEAR(run.state->dem.bodies.position[i].y, 2, 1e-15);
    CK_NEAR(run.state->dem.bodies.position[i].z, 3 + 2 * (1e-3 + 3e-3 * (double)i), 1e-15);
  }
  tl_run_close(&run);
}
END_TEST

static int64_t left_of(const char *cut) {
  TlRun run;
  char *text = tl_format(SCAN "release: {cut: {%s}}\n", cut);
  open_run(&run, "left.yaml", text);
  int64_t left = run.state->dem.bodies.owned;
  tl_free(text);
  tl_run_close(&run);
  return left;
}

START_TEST(a_cut_keeps_what_lies_within) {
  ck_assert_int_eq(left_of("kind: none"), GRAINS);
  ck_assert_int_eq(left_of("kind: box, low_m: [-1e-3, 2e-3, -1], high_m: [4e-3, 1, 1e-3]"), 4);
  /* along x: the four grains about (y, z) = (1.5, 1.5) mm and the one in the corner out */
  ck_assert_int_eq(left_of("kind: cylinder, foot_m: [-1e-3, 1.5e-3, 1.5e-3], axis: [2, 0, 0], "
                           "radius_m: 2.2e-3, height_m: 5e-3"),
                   8);
  /* bounding spheres of 1.3 mm */
  ck_assert_int_eq(left_of("kind: box, low_m: [-1.4e-3, -1, -1], high_m: [4e-3, 1, 1]"), 18);
  ck_assert_int_eq(left_of("kind: box, whole: yes, low_m: [-1.4e-3, -1, -1], high_m: [4e-3, 1, 1]"),
                   9);
  ck_assert_int_eq(left_of("kind: cylinder, whole: yes, foot_m: [3e-3, 3e-3, -1.2e-3], radius_m: "
                           "1.4e-3, height_m: 9e-3"),
                   2);
  refused(SCAN "release: {cut: {kind: box, low_m: [1, 1, 1], high_m: [2, 2, 2]}}\n",
          "release.cut: none of 27 grains lies in it");
  refused(SCAN "release: {cut: {kind: cylinder, radius_m: 1}}\n", "release.cut.height_m");
  refused(SCAN "release: {cut: {kind: cylinder, height_m: 1}}\n", "release.cut.radius_m");
  refused(SCAN "release: {cut: {kind: box}}\n", "release.cut.high_m: must lie above low_m");
  refused(SCAN "release: {assembly: lattice, high_m: [1, 1, 1], cut: {kind: box, high_m: [1, 1, "
               "1]}}\n",
          "release.cut: is for as-scanned and from-run");
}
END_TEST

/* ---- from a run ---- */

#define SHAPES                                                                                     \
  "shapes:\n- {name: ball, diameter_m: 2e-3, nodes: 40}\n"                                         \
  "- {name: brick, kind: box, size_m: [1e-3, 3e-3, 2e-3], nodes: 40}\n"                            \
  "- {name: egg, kind: box, gridded: yes, size_m: [3e-3, 2e-3, 2e-3], spacing_m: 5e-4, nodes: "    \
  "40}\n"
#define FLOOR "planes: [{point_m: [0, 0, 0], normal: [0, 0, 1]}]\n"

static const char first_study[] =
    "catalog: c.sqlite\ntime: {dt_s: 5e-4, steps: 60, frame_every_s: 0.01}\n" SHAPES
    "grains: {ids: [7, 9], shapes: [ball, egg]}\n"
    "bodies: [{shape: brick, position_m: [0.02, 0, 0.001], fixed: yes}, {shape: brick, position_m: "
    "[0.03, 0, 0.01], spin_rad_s: [9, 0, 3]}]\n"
    "release: {assembly: drawn, count: 20, high_m: [0.01, 0.01, 0.02], velocity_m_s: [0.1, 0, "
    "0]}\n" FLOOR;

/* The same shapes in another order, and others. */
#define SECOND                                                                                     \
  "catalog: c.sqlite\ntime: {dt_s: 5e-4, steps: 1}\n"                                              \
  "shapes:\n- {name: brick, kind: box, size_m: [1e-3, 3e-3, 2e-3], nodes: 40}\n"                   \
  "- {name: jack, kind: box, size_m: [1, 1, 1]}\n"                                                 \
  "- {name: egg, kind: box, gridded: yes, size_m: [3e-3, 2e-3, 2e-3], spacing_m: 5e-4, nodes: "    \
  "40}\n"                                                                                          \
  "- {name: ball, diameter_m: 2e-3, nodes: 40}\n"

static int64_t renamed(int64_t there) {
  static const int64_t here[] = {-4, -1, -3};
  return there > 0 ? there : here[-1 - there];
}

START_TEST(grains_stand_as_the_frame_says) {
  TlFrame f = done("first.yaml", first_study);
  TlRun run;
  int64_t k = 0;
  ck_assert_int_eq(f.count, 22);
  open_run(&run, "second.yaml", SECOND "release: {assembly: from-run, run: first.run}\n");
  ck_assert_int_eq(run.state->dem.bodies.owned, 21); /* without the fixed one */
  for (int64_t i = 0; i < f.count; i++) {
    const TlBodyRow *g = &f.rows[i];
    TlGrainState s = tl_test_grain_state(&run.state->dem.bodies, k);
    if (g->flags & TL_ROW_FROZEN) continue;
    ck_assert_int_eq(s.id, k);
    ck_assert_int_eq(s.avatar_id, renamed(g->avatar_id));
    ck_assert_double_eq(s.scale, g->scale);
    CK_NEAR(tl_norm(tl_sub(s.position, g->position_m)), 0, 1e-16);
    CK_NEAR(tl_quat_mul(tl_quat_conj(s.rotation), g->rotation).w, 1, 1e-15);
    ck_assert_double_eq(tl_norm(s.velocity) + tl_norm(s.momentum), 0);
    k++;
  }
  tl_run_close(&run);
  tl_frame_free(&f);
}
END_TEST

static double spread(TlVec3 a, TlVec3 b) {
  return tl_norm(tl_sub(a, b));
}

START_TEST(velocities_are_kept_turned_and_grown_where_asked) {
  TlFrame last = done("first.yaml", first_study), f;
  char *folder = tl_path_join(tl_test_folder(), "first.run");
  TlRun run;
  CK_OK(tl_results_read_frame(folder, 1, &f));
  ck_assert(f.count == last.count && f.step < last.step);
  open_run(&run, "third.yaml",
           SECOND "grains: {grain_scale: 3}\nrelease: {assembly: from-run, run: first.run, frame: "
                  "1, keep_velocities: yes, rotation_deg: [0, 0, 90], position_m: [0, 0, 5]}\n");
  CK_OK(tl_run_refresh(&run));
  for (int64_t i = 0, k = 0; i < f.count; i++) {
    const TlBodyRow *g = &f.rows[i];
    TlVec3 x = g->position_m, v = g->velocity_m_s, w = g->spin_rad_s;
    if (g->flags & TL_ROW_FROZEN) continue;
    TlVec3 at = tl_vec3(-3 * x.y, 3 * x.x, 5 + 3 * x.z),
           spin = tl_bodies_spin(&run.state->dem.bodies, k);
    CK_NEAR(spread(run.state->dem.bodies.position[k], at), 0, 1e-14);
    CK_NEAR(spread(run.state->dem.bodies.velocity[k], tl_vec3(-v.y, v.x, v.z)), 0, 1e-15);
    CK_NEAR(spread(spin, tl_vec3(-w.y, w.x, w.z)), 0, 1e-9);
    CK_NEAR(run.state->dem.bodies.colliders.scale[k], 3 * g->scale, 1e-15);
    k++;
  }
  ck_assert_double_gt(run.model->selection.median_diameter_m, 1.5e-3); /* as in the earlier run */
  ck_assert_double_lt(run.model->selection.median_diameter_m, 2.5e-3);
  tl_run_close(&run);
  tl_frame_free(&f);
  tl_frame_free(&last);
  tl_free(folder);
}
END_TEST

START_TEST(a_run_that_does_not_fit_is_refused_by_name) {
  TlFrame f = done("first.yaml", first_study);
  const char *again = "release: {assembly: from-run, run: first.run}\n";
  char *text = tl_format(SECOND "%s", again), *at;
  tl_frame_free(&f);
  refused(SECOND "release: {assembly: from-run}\n", "release.run: is missing");
  refused(SECOND "release: {assembly: from-run, run: none.run}\n", "release.run: ");
  refused(SECOND "release: {assembly: from-run, run: first.run, frame: 99}\n", "release.frame: ");
  refused(SECOND "release: {assembly: from-run, run: first.run, position_m: [0, 0, -1]}\n" FLOOR,
          "release.position_m: 21 of 21 grains lie behind a plane");
  refused(SECOND "grains: {shapes: [ball]}\nrelease: {assembly: from-run, run: first.run}\n",
          "grains: the grains are those of release.run");
  refused(SCAN "release: {run: first.run}\n", "release.run: is for assembly: from-run");
  at = strstr(text, "name: egg");
  memcpy(at, "name: ego", 9);
  refused(text, "the shape 'egg', which is not in this study's list");
  memcpy(at, "name: egg", 9);
  at = strstr(text, "[3e-3, 2e-3, 2e-3]");
  memcpy(at, "[4e-3, 2e-3, 2e-3]", 18);
  refused(text, "shapes.2: 'egg' is another shape in");
  memcpy(at, "[3e-3, 2e-3, 2e-3]", 18);
  memcpy(text, "title:   ", 9);
  refused(text, "catalog: is missing: ");
  make_catalog("d.sqlite", 1.31e-3);
  memcpy(text, "catalog: d", 10);
  refused(text, " is another shape in");
  tl_free(text);
}
END_TEST

/* ---- in a cylinder ---- */

/* The cells of the box that hold a whole grain of the largest radius. */
START_TEST(a_lattice_fills_the_inscribed_cylinder) {
  const char *text = SCAN "release: {assembly: lattice, low_m: [1, 1, 0], high_m: [1.028, 1.027, "
                          "0.01], spacing: 1%s}\n";
  char *box = tl_format(text, ""), *round = tl_format(text, ", round: yes");
  TlRun run;
  int64_t want = 0;
  open_run(&run, "box.yaml", box);
  for (int64_t i = 0; i < run.state->dem.bodies.owned; i++)
    want += hypot(run.state->dem.bodies.position[i].x - 1.014,
                  run.state->dem.bodies.position[i].y - 1.0135) +
                run.model->selection.radius_m <=
            0.0135;
  ck_assert(want > 100 && want < run.state->dem.bodies.owned);
  tl_run_close(&run);
  open_run(&run, "round.yaml", round);
  ck_assert_int_eq(run.state->dem.bodies.owned, want);
  for (int64_t i = 0; i < want; i++)
    ck_assert(hypot(run.state->dem.bodies.position[i].x - 1.014,
                    run.state->dem.bodies.position[i].y - 1.0135) +
                  run.model->selection.radius_m <=
              0.0135);
  tl_run_close(&run);
  tl_free(box);
  tl_free(round);
}
END_TEST

/* ---- spheres in their place ---- */

#define DRAWN                                                                                      \
  "catalog: c.sqlite\ntime: {dt_s: 5e-4, steps: 40}\n" SHAPES                                      \
  "bodies: [{shape: egg, position_m: [0.03, 0, 0.001]}]\n"                                         \
  "release: {assembly: %s, count: 25, high_m: [0.02, 0.02, 0.03]}\n" FLOOR                         \
  "grains: {ids: [7, 9], shapes: [brick, egg]%s}\n"

/* Of all bodies, by the avatars that results show. */
static double volume_of(TlRun *run) {
  double v = 0;
  for (int64_t i = 0; i < run->state->dem.bodies.owned; i++)
    v += pow(run->state->dem.bodies.colliders.scale[i], 3) *
         tl_avatars_get(&run->model->avatars, run->state->dem.bodies.colliders.avatar_id[i])
             ->volume_m3;
  return v;
}

static double mass_of(TlRun *run) {
  double m = 0;
  CK_OK(tl_run_refresh(run));
  for (int64_t i = 0; i < run->state->dem.bodies.owned; i++) m += run->state->dem.bodies.mass[i];
  return m;
}

START_TEST(spheres_stand_for_the_grains_of_every_assembly) {
  const char *assemblies[] = {"drawn", "lattice"};
  for (int k = 0; k < 2; k++) {
    TlRun run, balls;
    char *text = tl_format(DRAWN, assemblies[k], ""),
         *round = tl_format(DRAWN, assemblies[k], ", as_spheres: yes");
    open_run(&run, "grains.yaml", text);
    open_run(&balls, "balls.yaml", round);
    ck_assert_int_eq(balls.state->dem.bodies.owned, 26);
    ck_assert_int_eq(run.state->dem.bodies.owned, 26);
    CK_NEAR(mass_of(&balls) / mass_of(&run), 1, 1e-6);
    CK_NEAR(volume_of(&balls) / volume_of(&run), 1, 1e-3); /* gridded pictures of spheres */
    for (int64_t i = 0; i < 25; i++) {
      ck_assert_int_eq(balls.state->dem.bodies.colliders.avatar_id[i], TL_BALL_ID);
      double r = 0.5 * balls.state->dem.bodies.colliders.scale[i];
      CK_NEAR(balls.state->dem.bodies.mass[i], 2650 * 4 * PI / 3 * r * r * r, 1e-12);
      CK_NEAR(balls.state->dem.bodies.radius[i], r, 1e-15);
      if (k == 0) continue; /* drawn: the largest spheres are others than the largest grains */
      CK_NEAR(balls.state->dem.bodies.mass[i] / run.state->dem.bodies.mass[i], 1, 1e-6);
      CK_NEAR(spread(balls.state->dem.bodies.position[i], run.state->dem.bodies.position[i]), 0,
              1e-15);
    }
    ck_assert_int_eq(balls.state->dem.bodies.colliders.avatar_id[25],
                     -3); /* placed bodies stay what they are */
    CK_OK(tl_run_go(&balls));
    ck_assert_double_lt(balls.state->totals.overlap_share, 0.05);
    tl_run_close(&run);
    tl_run_close(&balls);
    tl_free(text);
    tl_free(round);
  }
}
END_TEST

START_TEST(spheres_of_scanned_grains_and_of_a_run) {
  TlRun run, balls;
  open_run(&run, "grains.yaml", SCAN);
  open_run(&balls, "balls.yaml",
           "catalog: c.sqlite\ntime: {dt_s: 1e-3, steps: 1}\ngrains: {sample: sand, as_spheres: "
           "yes}\n");
  ck_assert_int_eq(balls.state->dem.bodies.owned, GRAINS);
  CK_NEAR(mass_of(&balls) / mass_of(&run), 1, 1e-12);
  for (int64_t i = 0; i < GRAINS; i++)
    CK_NEAR(spread(balls.state->dem.bodies.position[i], run.state->dem.bodies.position[i]), 0,
            1e-15);
  tl_run_close(&run);
  tl_run_close(&balls);
  /* and once more from results that hold spheres already, which need no catalog */
  char *text = tl_format(DRAWN, "drawn", ", as_spheres: yes");
  TlFrame f = done("balls.yaml", text);
  open_run(&run, "again.yaml",
           "time: {dt_s: 1e-3, steps: 1}\n" SHAPES
           "grains: {as_spheres: yes}\nrelease: {assembly: from-run, run: balls.run}\n");
  ck_assert_int_eq(run.state->dem.bodies.owned, 26);
  for (int64_t i = 0; i < 25; i++)
    ck_assert_double_eq(run.state->dem.bodies.colliders.scale[i], f.rows[i].scale);
  CK_NEAR(run.state->dem.bodies.colliders.scale[25],
          cbrt(6 * run.model->shapes.avatar[2].volume_m3 / PI), 1e-15);
  ck_assert_int_eq(run.state->dem.bodies.colliders.avatar_id[25],
                   TL_BALL_ID); /* here it is one of the assembly */
  tl_run_close(&run);
  tl_frame_free(&f);
  tl_free(text);
}
END_TEST

START_TEST(poured_spheres_come_as_spheres) {
  TlRun run;
  char *text = tl_format(DRAWN, "poured", ", as_spheres: yes");
  open_run(&run, "pour.yaml", text);
  CK_OK(tl_run_go(&run));
  ck_assert_int_gt(run.state->poured, 10);
  for (int64_t i = 0; i < run.state->dem.bodies.owned; i++)
    ck_assert_int_eq(run.state->dem.bodies.colliders.avatar_id[i],
                     run.state->dem.bodies.id[i] == 25 ? -3 : TL_BALL_ID);
  tl_run_close(&run);
  tl_free(text);
}
END_TEST

START_TEST(any_allocation_may_fail) {
  TlFrame f = done("first.yaml", first_study);
  const char text[] =
      SECOND "grains: {as_spheres: yes}\nrelease: {assembly: from-run, run: "
             "first.run, cut: {kind: box, high_m: [0.005, 1, 1]}}\nfree_fall: yes\n";
  TlStatus status = TL_ENOMEM;
  int64_t k = 1;
  tl_frame_free(&f);
  for (; status != TL_OK && k < 20000; k += 1 + k / 3) {
    TlRun run;
    char *path = tl_path_join(tl_test_folder(), "wrong.yaml");
    CK_OK(tl_file_write(path, text, sizeof text - 1, true));
    TlRunOptions options = {.study = path, .no_output = true};
    tl_mem_fail_at(k);
    status = tl_run_open(&run, NULL, &options);
    tl_mem_fail_at(0);
    if (status != TL_OK)
      ck_assert_msg(strstr(tl_message(), "out of memory"), "k = %lld: %s", (long long)k,
                    tl_message());
    tl_run_close(&run);
    tl_free(path);
  }
  ck_assert_msg(status == TL_OK && k > 100, "k = %lld: %s", (long long)k, tl_message());
}
END_TEST

TL_TEST_MAIN("specimen", a_cylinder_cut_from_the_scan_stands_on_its_foot,
             a_cut_keeps_what_lies_within, grains_stand_as_the_frame_says,
             velocities_are_kept_turned_and_grown_where_asked,
             a_run_that_does_not_fit_is_refused_by_name, a_lattice_fills_the_inscribed_cylinder,
             spheres_stand_for_the_grains_of_every_assembly, spheres_of_scanned_grains_and_of_a_run,
             poured_spheres_come_as_spheres, any_allocation_may_fail)
