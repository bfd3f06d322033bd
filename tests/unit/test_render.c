#include "support/tltest.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/par.h"
#include "base/random.h"
#include "post/ink.h"
#include "post/net_bonds.h"
#include "post/render.h"
#include "post/render_plots.h"
#include "post/render_trace.h"
#include "shape/superellipsoid.h"
#include "phantom/valley.h"

#include <png.h>
#include <stdio.h>

enum { WIDTH = 160, HEIGHT = 100 };

static TlBodyRow row_at(int64_t id, int64_t avatar, double scale, TlVec3 p) {
  return (TlBodyRow){
      .id = id, .avatar_id = avatar, .scale = scale, .position_m = p, .rotation = {1, 0, 0, 0}};
}

/* One avatar (id 1), borrowed by the scene. */
static TlScene scene_of(TlAvatar *avatar) {
  avatar->id = 1;
  return (TlScene){.title = "test", .grain_scale = 1, .avatar_count = 1, .avatars = avatar};
}

static TlRenderOptions plain_options(int width, int height) {
  return (TlRenderOptions){.width = width, .height = height, .low = 0, .high = 1};
}

static void add_ground(TlScene *scene, bool outline) {
  TlValleyOptions o = tl_valley_defaults();
  o.nx = 60;
  o.ny = 80;
  o.outline = outline;
  o.roughness = 0.3;
  TlValley v;
  CK_OK(tl_valley_make(&o, &v));
  TlTerrain *t = &scene->terrain;
  *t = (TlTerrain){.nx = 60, .ny = 80, .cell_m = 1, .x0_m = -3, .y0_m = 5};
  CK_OK(TL_NEW(t->height_m, 60 * 80));
  for (int i = 0; i < 60 * 80; i++) t->height_m[i] = (float)(v.height_m[i] - 1100);
  scene->has_terrain = true;
  tl_valley_free(&v);
}

/* ---- grains ---- */

START_TEST(sphere_has_its_analytic_silhouette) {
  TlAvatar sphere;
  CK_OK(tl_avatar_sphere(1, 0.1, 200, &sphere));
  TlScene scene = scene_of(&sphere);
  TlBodyRow row = row_at(1, 1, 2.5, tl_vec3(4, 20, 1));
  TlFrame with = {.count = 1, .rows = &row}, without = {0};
  TlCamera camera = tl_camera_look(tl_vec3(4, 0, 1), tl_vec3(4, 20, 1), 30, WIDTH, HEIGHT);
  TlRenderOptions o = plain_options(WIDTH, HEIGHT);
  TlImage a, b;
  CK_OK(tl_render_frame(&scene, &with, &camera, &o, &a));
  CK_OK(tl_render_frame(&scene, &without, &camera, &o, &b));
  int area = 0, left = WIDTH, right = -1;
  for (int i = 0; i < WIDTH * HEIGHT; i++) {
    if (memcmp(a.rgb + 3 * i, b.rgb + 3 * i, 3) == 0) continue;
    area++;
    if (i % WIDTH < left) left = i % WIDTH;
    if (i % WIDTH > right) right = i % WIDTH;
  }
  double r = 0.5 * HEIGHT * tan(asin(2.5 / 20)) / tan(15 * 0.017453292519943295);
  CK_NEAR(sqrt(area / 3.141592653589793), r, 0.5);
  CK_NEAR(0.5 * (right - left + 1), r, 1);
  CK_NEAR(0.5 * (right + left + 1), 0.5 * WIDTH, 0.51);
  tl_image_free(&a);
  tl_image_free(&b);
  tl_avatar_free(&sphere);
}
END_TEST

static TlVec3 random_direction(TlRandom *r) {
  TlVec3 d = {tl_random_next_normal(r), tl_random_next_normal(r), tl_random_next_normal(r)};
  return tl_unit(d);
}

START_TEST(tree_finds_the_nearest_of_many_spheres) {
  enum { N = 80 };
  TlAvatar sphere;
  CK_OK(tl_avatar_sphere(1, 0.05, 200, &sphere));
  TlScene scene = scene_of(&sphere);
  TlBodyRow rows[N];
  TlRandom r = {3, 1, 0};
  for (int i = 0; i < N; i++) {
    TlVec3 p = tl_scale(12 * cbrt(tl_random_next(&r)), random_direction(&r));
    rows[i] = row_at(i + 1, 1, 0.3 + tl_random_next(&r), p);
  }
  TlFrame frame = {.count = N, .rows = rows};
  TlTracer tracer;
  CK_OK(tl_tracer_make(&tracer, &scene, &frame, NULL));
  int hits = 0;
  for (int k = 0; k < 3000; k++) {
    TlVec3 from = tl_scale(30, random_direction(&r)), aim = tl_scale(8, random_direction(&r));
    TlVec3 d = tl_unit(tl_sub(aim, from));
    double nearest = INFINITY, graze = INFINITY;
    for (int i = 0; i < N; i++) {
      TlVec3 away = tl_sub(rows[i].position_m, from);
      double along = tl_dot(away, d), miss = tl_norm(tl_axpy(away, -along, d)), s = rows[i].scale;
      graze = fmin(graze, fabs(miss - s) / s);
      if (miss < s) nearest = fmin(nearest, along - sqrt(s * s - miss * miss));
    }
    if (graze < 0.01) continue; /* where the grid's 0.05^2/8 error decides */
    TlHit hit = tl_trace(&tracer, from, d, INFINITY);
    ck_assert_msg((hit.kind == TL_HIT_GRAIN) == isfinite(nearest), "ray %d", k);
    if (hit.kind != TL_HIT_GRAIN) continue;
    hits++;
    /* phi error h^2/8 (1/R + 1/R) = 6e-4 over the cosine (> 0.14 at a graze of 0.01), times 1.3
     */
    CK_NEAR(hit.t, nearest, 6e-3);
    TlVec3 n = tl_unit(tl_sub(hit.point, rows[hit.body].position_m));
    ck_assert(tl_dot(n, hit.normal) > 0.995);
  }
  ck_assert_msg(hits > 500, "%d hits", hits);
  tl_tracer_free(&tracer);
  tl_avatar_free(&sphere);
}
END_TEST

START_TEST(turned_body_is_met_on_its_zero_surface) {
  TlAvatar body;
  CK_OK(tl_avatar_superellipsoid(1.0, 0.7, 0.4, 0.5, 0.7, 0.05, 200, &body));
  TlScene scene = scene_of(&body);
  TlBodyRow row = row_at(1, 1, 1.7, tl_vec3(1, 2, 3));
  row.rotation = tl_quat_from_rotation(tl_vec3(0.4, -1.1, 0.6));
  TlFrame frame = {.count = 1, .rows = &row};
  TlTracer tracer;
  CK_OK(tl_tracer_make(&tracer, &scene, &frame, NULL));
  TlRandom r = {4, 1, 0};
  int hits = 0;
  for (int k = 0; k < 2000; k++) {
    TlVec3 from = tl_axpy(row.position_m, 6, random_direction(&r));
    TlVec3 aim = tl_axpy(row.position_m, 1.0, random_direction(&r)), d = tl_unit(tl_sub(aim, from));
    TlHit hit = tl_trace(&tracer, from, d, INFINITY);
    double last = hit.kind == TL_HIT_GRAIN ? hit.t - 1e-3 : 12;
    hits += hit.kind == TL_HIT_GRAIN;
    TlMat3 m = tl_quat_matrix(row.rotation);
    for (double t = 0; t < last; t += 0.01) { /* the slow way: nothing inside before the hit */
      TlVec3 q = tl_sub(tl_axpy(from, t, d), row.position_m);
      double phi = tl_avatar_phi(&body, tl_scale(1 / 1.7, tl_mat_tvec(m, q)), NULL);
      ck_assert_msg(phi > -1e-3, "ray %d passes phi = %g", k, phi);
    }
    if (hit.kind != TL_HIT_GRAIN) continue;
    TlVec3 q = tl_scale(1 / 1.7, tl_mat_tvec(m, tl_sub(hit.point, row.position_m)));
    CK_NEAR(tl_avatar_phi(&body, q, NULL), 0, 1e-9);
    ck_assert(tl_dot(hit.normal, d) < 0.2);
  }
  ck_assert_msg(hits > 800, "%d hits", hits);
  tl_tracer_free(&tracer);
  tl_avatar_free(&body);
}
END_TEST

/* ---- ground ---- */

static double gap_above(const TlTerrain *t, TlVec3 p) {
  double z;
  return tl_terrain_height(t, p.x, p.y, &z, NULL) ? p.z - z : INFINITY;
}

/* Compares one ray with small steps; 1 when it met the ground, 2 a wall, 0 nothing. */
static int check_ground_ray(const TlGroundTracer *g, TlVec3 from, TlVec3 d) {
  TlGroundHit hit = {0};
  bool met = tl_ground_trace(g, from, d, 300, &hit);
  double last = met ? hit.t - 1e-6 : 300;
  for (double t = 0; t < last; t += 0.02) {
    TlVec3 p = tl_axpy(from, t, d);
    if (p.z < g->base_m) break;
    double gap = gap_above(g->terrain, p);
    ck_assert_msg(gap > -1e-6, "%g m under the ground before the hit", -gap);
  }
  if (!met) return 0;
  TlVec3 p = tl_axpy(from, hit.t, d);
  CK_NEAR(tl_norm(hit.normal), 1, 1e-12);
  if (!hit.wall) {
    CK_NEAR(gap_above(g->terrain, p), 0, 1e-6);
    return 1;
  }
  ck_assert(gap_above(g->terrain, tl_axpy(p, 1e-6, d)) < 0); /* just inside the block */
  ck_assert(!isfinite(gap_above(g->terrain, tl_axpy(p, -1e-6, d))));
  return 2;
}

START_TEST(ground_is_met_where_small_steps_meet_it) {
  TL_NOT_SANITIZED();
  for (int outline = 0; outline < 2; outline++) {
    TlScene scene = {0};
    TlGroundTracer g;
    add_ground(&scene, outline);
    CK_OK(tl_ground_tracer_make(&g, &scene.terrain));
    TlRandom r = {5, 1, 0};
    int seen[3] = {0, 0, 0};
    for (int k = 0; k < 400; k++) {
      TlVec3 from = {26 + 90 * (tl_random_next(&r) - 0.5), 45 + 120 * (tl_random_next(&r) - 0.5),
                     10 + 60 * tl_random_next(&r)};
      if (gap_above(&scene.terrain, from) < 0.1) continue;
      TlVec3 aim = {60 * tl_random_next(&r) - 3, 80 * tl_random_next(&r) + 5,
                    40 * tl_random_next(&r)};
      TlVec3 d = tl_unit(tl_sub(aim, from));
      if (k % 20 == 0) d = tl_vec3(0, 0, -1); /* along the axes too */
      if (k % 20 == 1) d = tl_unit(tl_vec3(0, 1, -0.3));
      seen[check_ground_ray(&g, from, d)]++;
    }
    ck_assert_msg(seen[0] > 20 && seen[1] > 60 && seen[2] > 20, "%d %d %d", seen[0], seen[1],
                  seen[2]);
    tl_ground_tracer_free(&g);
    tl_terrain_free(&scene.terrain);
  }
}
END_TEST

/* Heights 0 1 1 0: along the diagonal z = 2 u (1 - u), which a level ray meets twice. */
START_TEST(first_of_two_meetings_with_a_saddle_counts) {
  float heights[4] = {0, 1, 1, 0};
  TlTerrain t = {.nx = 2, .ny = 2, .cell_m = 1, .height_m = heights};
  TlGroundTracer g;
  CK_OK(tl_ground_tracer_make(&g, &t));
  TlVec3 d = tl_unit(tl_vec3(1, 1, 0));
  TlGroundHit hit;
  for (int k = 0; k < 2; k++) {
    double side = k ? 1 : -1;
    TlVec3 from = tl_axpy(tl_vec3(0.5, 0.5, 0.3), 3 * side, d);
    ck_assert(tl_ground_trace(&g, from, tl_scale(-side, d), 100, &hit));
    ck_assert(!hit.wall);
    CK_NEAR(hit.t, 3 - sqrt(2) * 0.5 * sqrt(1 - 2 * 0.3), 1e-12);
  }
  ck_assert(!tl_ground_trace(&g, tl_vec3(-2, -2, 0.51), d, 100, &hit));
  tl_ground_tracer_free(&g);
}
END_TEST

START_TEST(sphere_shades_what_lies_behind_it_from_the_sun) {
  TlAvatar sphere;
  CK_OK(tl_avatar_sphere(1, 0.1, 200, &sphere));
  TlScene scene = scene_of(&sphere);
  TlBodyRow row = row_at(1, 1, 1, tl_vec3(0, 0, 5));
  TlFrame frame = {.count = 1, .rows = &row};
  TlTracer tracer;
  CK_OK(tl_tracer_make(&tracer, &scene, &frame, NULL));
  TlVec3 sun = tl_unit(tl_vec3(0.3, 0, 1)), shade = tl_axpy(row.position_m, -5, sun);
  CK_NEAR(tl_trace_light(&tracer, shade, sun, 0.03), 0, 0);
  CK_NEAR(tl_trace_light(&tracer, tl_add(shade, tl_vec3(0, 1.4, 0)), sun, 0.03), 1, 0);
  double edge = tl_trace_light(&tracer, tl_add(shade, tl_vec3(0, 1.05, 0)), sun, 0.03);
  ck_assert_msg(edge > 0.02 && edge < 0.98, "light %g at the edge of the shadow", edge);
  CK_NEAR(tl_trace_grain_distance(&tracer, tl_vec3(1.5, 0, 5), 10), 0.5, 0.01);
  CK_NEAR(tl_trace_grain_distance(&tracer, tl_vec3(9, 0, 5), 3), 3, 0);
  tl_tracer_free(&tracer);
  tl_avatar_free(&sphere);
}
END_TEST

START_TEST(plane_is_seen_from_its_front_only) {
  TlAvatar sphere;
  CK_OK(tl_avatar_sphere(1, 0.1, 200, &sphere));
  TlScene scene = scene_of(&sphere);
  TlPlane plane = {{0, 0, -1}, {0, 0, 1}};
  scene.planes = &plane;
  scene.plane_count = 1;
  TlBodyRow row = row_at(1, 1, 1, tl_vec3(0, 0, 0));
  TlFrame frame = {.count = 1, .rows = &row};
  TlTracer tracer;
  CK_OK(tl_tracer_make(&tracer, &scene, &frame, NULL));
  TlHit hit = tl_trace(&tracer, tl_vec3(1.5, 0, 4), tl_vec3(0, 0, -1), INFINITY);
  ck_assert(hit.kind == TL_HIT_PLANE);
  CK_NEAR(hit.t, 5, 1e-12);
  hit = tl_trace(&tracer, tl_vec3(0, 0, -6), tl_vec3(0, 0, 1), INFINITY);
  ck_assert(hit.kind == TL_HIT_GRAIN);
  CK_NEAR(hit.t, 5, 0.01);
  tl_tracer_free(&tracer);
  tl_avatar_free(&sphere);
}
END_TEST

/* A box that stands in the way is met, one of the same size that has vanished is not; a container's
 * side is passed from without, leaves a veil, and is met from within, where it has moved to. */
START_TEST(walls_are_met_where_they_are_at_the_frame_and_containers_show_what_they_hold) {
  TlAvatar sphere;
  CK_OK(tl_avatar_sphere(1, 0.1, 200, &sphere));
  TlScene scene = scene_of(&sphere);
  scene.step_s = 1e-3;
  TlMat3 still = tl_quat_matrix((TlQuat){1, 0, 0, 0});
  TlWallPart part[3] = {
      {.kind = TL_PART_BOX, .turn = still, .size_m = {1, 1, 2}, .centre = {-20, 0, 0}},
      {.kind = TL_PART_BOX,
       .turn = still,
       .size_m = {9, 9, 9},
       .centre = {-20, 0, 0},
       .drive = {.until_s = 1}},
      {.kind = TL_PART_TUBE,
       .inside = 1,
       .turn = still,
       .size_m = {4, 6},
       .drive = {.velocity_m_s = {0, 1, 0}}}};
  scene.parts = part;
  scene.part_count = 3;
  TlBodyRow row = row_at(1, 1, 1, tl_vec3(0, 2, 0));
  TlFrame frame = {.step = 2000, .count = 1, .rows = &row};
  TlTracer tracer;
  CK_OK(tl_tracer_make(&tracer, &scene, &frame, NULL));
  const TlVec3 ahead = {1, 0, 0}, back = {-1, 0, 0};
  TlHit hit = tl_trace(&tracer, tl_vec3(-30, 0, 0), ahead, INFINITY); /* the box */
  ck_assert(hit.kind == TL_HIT_PART && hit.part == 0 && hit.normal.x == -1);
  CK_NEAR(hit.t, 9.5, 1e-12);
  CK_NEAR(tl_trace_light(&tracer, tl_vec3(-30, 0, 0), ahead, 0.03), 0, 0);
  hit = tl_trace(&tracer, tl_vec3(-30, 2, 0), ahead, INFINITY); /* through the tube, to the grain */
  ck_assert(hit.kind == TL_HIT_GRAIN);
  CK_NEAR(hit.t, 29, 0.01);
  ck_assert(tl_wall_veil(&tracer.walls, tl_vec3(-30, 2, 0), ahead, hit.t, 1e-3) < 0.95);
  CK_NEAR(tl_wall_veil(&tracer.walls, tl_vec3(-30, 2, 0), ahead, 25, 1e-3), 1, 0);
  hit = tl_trace(&tracer, tl_vec3(2, 2, 0), ahead, INFINITY); /* from within, its axis at y = 2 */
  ck_assert(hit.kind == TL_HIT_PART && hit.part == 2);
  CK_NEAR(hit.t, 2, 1e-12);
  CK_NEAR(hit.normal.x, -1, 1e-12);
  hit = tl_trace(&tracer, tl_vec3(2, 2, 3.01), ahead, INFINITY); /* above its end */
  ck_assert(hit.kind == TL_HIT_NONE);
  hit = tl_trace(&tracer, tl_vec3(30, 7, 0), back, INFINITY); /* beside it */
  ck_assert(hit.kind == TL_HIT_NONE);
  tl_tracer_free(&tracer);
  tl_avatar_free(&sphere);
}
END_TEST

/* The floor of a container is met from above, where it is, and veils what is seen through it from
 * below. */
START_TEST(floor_of_a_container_is_met_from_inside) {
  TlAvatar sphere;
  CK_OK(tl_avatar_sphere(1, 0.1, 200, &sphere));
  TlScene scene = scene_of(&sphere);
  TlMat3 still = tl_quat_matrix((TlQuat){1, 0, 0, 0});
  TlWallPart floor = {
      .kind = TL_PART_PLANE, .inside = 1, .turn = still, .size_m = {4, 2, 0}, .centre = {0, 0, -3}};
  scene.parts = &floor;
  scene.part_count = 1;
  TlBodyRow row = row_at(1, 1, 1, tl_vec3(0, 0, 9));
  TlFrame frame = {.count = 1, .rows = &row};
  TlTracer tracer;
  CK_OK(tl_tracer_make(&tracer, &scene, &frame, NULL));
  const TlVec3 down = {0, 0, -1}, up = {0, 0, 1};
  TlHit hit = tl_trace(&tracer, tl_vec3(1.9, 0.9, 2), down, INFINITY);
  ck_assert(hit.kind == TL_HIT_PART && hit.part == 0 && hit.normal.z == 1);
  CK_NEAR(hit.t, 5, 1e-12);
  ck_assert(tl_trace(&tracer, tl_vec3(1.9, 1.1, 2), down, INFINITY).kind == TL_HIT_NONE);
  ck_assert(tl_trace(&tracer, tl_vec3(0, 0, -4), down, INFINITY).kind == TL_HIT_NONE);
  ck_assert(tl_trace(&tracer, tl_vec3(0, 0, -4), up, INFINITY).kind == TL_HIT_GRAIN);
  ck_assert(tl_wall_veil(&tracer.walls, tl_vec3(0, 0, -4), up, 12, 1e-3) < 1);
  CK_NEAR(tl_wall_veil(&tracer.walls, tl_vec3(0, 0, -2), up, 12, 1e-3), 1, 0);
  tl_tracer_free(&tracer);
  tl_avatar_free(&sphere);
}
END_TEST

/* ---- whole pictures ---- */

static void valley_scene(TlScene *scene, TlAvatar *sphere, TlBodyRow rows[20], TlFrame *frame) {
  CK_OK(tl_avatar_sphere(1, 0.1, 200, sphere));
  *scene = scene_of(sphere);
  scene->grain_scale = 2000;
  add_ground(scene, true);
  TlRandom r = {6, 1, 0};
  for (int i = 0; i < 20; i++) {
    TlVec3 p = {20 + 14 * tl_random_next(&r), 30 + 20 * tl_random_next(&r), 0};
    ck_assert(tl_terrain_height(&scene->terrain, p.x, p.y, &p.z, NULL));
    p.z += 0.6;
    rows[i] = row_at(i + 1, 1, 0.4 + 0.4 * tl_random_next(&r), p);
    rows[i].velocity_m_s = tl_vec3(0, -5 * tl_random_next(&r), 0);
  }
  *frame = (TlFrame){.index = 3, .step = 30, .time_s = 1.5, .count = 20, .rows = rows};
}

START_TEST(picture_has_the_same_bytes_for_any_thread_count_and_is_a_png) {
  TlScene scene;
  TlAvatar sphere;
  TlBodyRow rows[20];
  TlFrame frame;
  valley_scene(&scene, &sphere, rows, &frame);
  TlRenderPath path = {0};
  CK_OK(tl_render_path_add(&path, &scene, &frame));
  TlCamera camera;
  CK_OK(tl_camera_automatic(&scene, &path, false, 32, WIDTH, HEIGHT, &camera));
  TlRenderOptions o = plain_options(WIDTH, HEIGHT);
  o.smooth = o.captions = true;
  tl_render_range(&path, &scene, &o);
  ck_assert(o.high >= path.speed_max_m_s && o.high < 2 * path.speed_max_m_s);
  TlImage a, b;
  tl_par_set_threads(1);
  CK_OK(tl_render_frame(&scene, &frame, &camera, &o, &a));
  tl_par_set_threads(3);
  CK_OK(tl_render_frame(&scene, &frame, &camera, &o, &b));
  tl_par_set_threads(0);
  ck_assert(memcmp(a.rgb, b.rgb, 3 * WIDTH * HEIGHT) == 0);
  char *file = tl_path_join(tl_test_folder(), "picture.png");
  CK_OK(tl_image_write_png(&a, file, false));
  CK_FAILS(tl_image_write_png(&a, file, false), TL_EUSAGE, "picture.png");
  png_image png;
  memset(&png, 0, sizeof png);
  png.version = PNG_IMAGE_VERSION;
  ck_assert(png_image_begin_read_from_file(&png, file));
  ck_assert(png.width == WIDTH && png.height == HEIGHT);
  png.format = PNG_FORMAT_RGB;
  uint8_t *back = tl_calloc(PNG_IMAGE_SIZE(png), 1);
  ck_assert(png_image_finish_read(&png, NULL, back, 0, NULL));
  ck_assert(memcmp(back, a.rgb, 3 * WIDTH * HEIGHT) == 0);
  tl_free(back);
  tl_free(file);
  tl_image_free(&a);
  tl_image_free(&b);
  tl_render_path_free(&path);
  tl_terrain_free(&scene.terrain);
  tl_avatar_free(&sphere);
}
END_TEST

START_TEST(automatic_camera_has_every_grain_in_the_frame_and_in_sight) {
  TlScene scene;
  TlAvatar sphere;
  TlBodyRow rows[20];
  TlFrame frame;
  valley_scene(&scene, &sphere, rows, &frame);
  for (int close = 0; close < 2; close++) {
    TlRenderPath path = {0};
    CK_OK(tl_render_path_add(&path, &scene, &frame));
    TlCamera camera;
    CK_OK(tl_camera_automatic(&scene, &path, close, 32, WIDTH, HEIGHT, &camera));
    TlTracer tracer;
    CK_OK(tl_tracer_make(&tracer, &scene, &frame, NULL));
    double least = 1e9, most = -1e9;
    for (int i = 0; i < 20; i++) {
      double x, y;
      ck_assert(tl_camera_project(&camera, rows[i].position_m, WIDTH, HEIGHT, &x, &y));
      ck_assert_msg(x > 0 && y > 0.1 * HEIGHT && x < WIDTH && y < 0.9 * HEIGHT, "%g %g", x, y);
      TlVec3 d = tl_sub(rows[i].position_m, camera.from),
             back = tl_camera_ray(&camera, x, y, WIDTH, HEIGHT);
      CK_NEAR(tl_dot(tl_unit(d), back), 1, 1e-12);
      ck_assert(tl_trace(&tracer, camera.from, tl_unit(d), INFINITY).kind == TL_HIT_GRAIN);
      least = fmin(least, fmin(x / WIDTH, y / HEIGHT));
      most = fmax(most, fmax(x / WIDTH, y / HEIGHT));
    }
    if (close) ck_assert_msg(most - least > 0.4, "the grains fill %g of the frame", most - least);
    tl_tracer_free(&tracer);
    tl_render_path_free(&path);
  }
  tl_terrain_free(&scene.terrain);
  tl_avatar_free(&sphere);
}
END_TEST

/* A ray that meets a membrane's sphere meets the grain behind it when the picture is bare. */
START_TEST(apparatus_can_be_left_out) {
  TlScene scene;
  TlAvatar sphere;
  TlBodyRow rows[20];
  TlFrame frame;
  valley_scene(&scene, &sphere, rows, &frame);
  rows[1] = rows[0];
  rows[1].id = 1;
  rows[1].flags = TL_ROW_NET;
  rows[1].position_m.z += 4 * rows[0].scale * sphere.radius_m;
  TlVec3 from = rows[1].position_m, down = tl_vec3(0, 0, -1);
  from.z += 4 * rows[0].scale * sphere.radius_m;
  for (int bare = 0; bare < 2; bare++) {
    TlTracer tracer;
    const TlTraceChoice choice = {.hidden = bare ? TL_ROW_NO_GRAIN : 0};
    CK_OK(tl_tracer_make(&tracer, &scene, &frame, &choice));
    TlHit hit = tl_trace(&tracer, from, down, INFINITY);
    ck_assert_int_eq(hit.kind, TL_HIT_GRAIN);
    ck_assert_int_eq(tracer.bodies[hit.body].row, bare ? 0 : 1);
    tl_tracer_free(&tracer);
  }
  tl_terrain_free(&scene.terrain);
  tl_avatar_free(&sphere);
}
END_TEST

/* A hexagonal sheet of 3 rows of 4 knots a metre apart: 9 bonds along the rows and 2 * 7 across them. A
 * knot that is gone takes its bonds along, one that is torn away breaks them, and a membrane, whose
 * spheres nearly touch, shows none. A picture shows a bond where there is no knot. */
START_TEST(nets_are_drawn_with_their_bonds) {
  TlAvatar sphere;
  CK_OK(tl_avatar_sphere(0.1, 0.01, 200, &sphere));
  TlScene scene = scene_of(&sphere);
  TlBodyRow rows[13];
  for (int i = 0; i < 12; i++) {
    int row = i / 4;
    rows[i] = row_at(100 + i, 1, 1, tl_vec3(i % 4 + 0.5 * (row % 2), 0.5 * sqrt(3) * row, 0));
    rows[i].flags = TL_ROW_NET;
  }
  rows[12] = row_at(200, 1, 1, tl_vec3(0.5, 0, 3)); /* a grain, which has no bonds */
  TlFrame frame = {.count = 13, .rows = rows};
  TlSheet sheet;
  CK_OK(tl_sheet_open(&frame, &sheet));
  ck_assert_int_eq(sheet.spheres, 12);
  ck_assert_int_eq(sheet.bonds, 9 + 14);
  TlTraceTube *tube = NULL;
  size_t capacity = 0;
  int64_t count = 0;
  TlVec3 red = {1, 0, 0};
  CK_OK(tl_sheet_tubes(&sheet, &scene, &frame, 0.5, red, &tube, &capacity, &count));
  ck_assert_int_eq(count, 23);
  CK_NEAR(tube[0].radius_m, 0.05, 1e-3);
  TlCamera camera = tl_camera_look(tl_vec3(0.5, 0, 9), tl_vec3(0.5, 0, 0), 10, WIDTH, HEIGHT);
  TlRenderOptions o = plain_options(WIDTH, HEIGHT);
  TlImage with, without;
  frame.count = 12;
  CK_OK(tl_render_frame(&scene, &frame, &camera, &o, &without));
  o.tube = tube;
  o.tubes = count;
  CK_OK(tl_render_frame(&scene, &frame, &camera, &o, &with));
  size_t middle = 3 * (size_t)(HEIGHT / 2 * WIDTH + WIDTH / 2);
  ck_assert(memcmp(with.rgb + middle, without.rgb + middle, 3) != 0);
  ck_assert_int_gt(with.rgb[middle], 2 * with.rgb[middle + 2]);
  tl_image_free(&with);
  tl_image_free(&without);
  count = 0;
  rows[5].position_m.z = 5; /* an inner knot, of six bonds */
  CK_OK(tl_sheet_tubes(&sheet, &scene, &frame, 0.5, red, &tube, &capacity, &count));
  ck_assert_int_eq(count, 17);
  count = 0;
  frame.rows = rows + 1; /* a corner, of two */
  frame.count = 11;
  CK_OK(tl_sheet_tubes(&sheet, &scene, &frame, 0.5, red, &tube, &capacity, &count));
  ck_assert_int_eq(count, 15);
  count = 0;
  for (int i = 0; i < 12; i++) rows[i].scale = 4.5;
  CK_OK(tl_sheet_tubes(&sheet, &scene, &frame, 0.5, red, &tube, &capacity, &count));
  ck_assert_int_eq(count, 0);
  tl_free(tube);
  tl_sheet_free(&sheet);
  tl_avatar_free(&sphere);
}
END_TEST

/* Spheres of radius 1 over the plane z = 0: one touches it, one lies 5% and one 3% of its radius deep,
 * a frozen one deeper, and a net's sphere deeper still; one has left, and one is unresolved. */
START_TEST(caption_says_what_a_reader_must_not_overlook) {
  TlAvatar sphere;
  CK_OK(tl_avatar_sphere(1, 0.1, 2000, &sphere));
  TlScene scene = scene_of(&sphere);
  TlPlane floor = {{0, 0, 0}, {0, 0, 1}};
  scene.planes = &floor;
  scene.plane_count = 1;
  scene.density_kg_m3 = 2650;
  scene.gravity_m_s2[2] = -9.81;
  TlBodyRow rows[5];
  for (int i = 0; i < 5; i++) rows[i] = row_at(i + 1, 1, 1, tl_vec3(3 * i, 0, 1));
  TlFrame frame = {.step = 10, .count = 5, .rows = rows};
  TlRenderOptions o = plain_options(WIDTH, HEIGHT);
  char text[TL_RENDER_DESCRIPTION];
  CK_OK(tl_render_describe(&scene, &frame, &o, text));
  ck_assert_str_eq(text, "5 grains, at rest (mean 0 m/s)");
  rows[1].position_m.z = 1 - 0.05;
  rows[2].position_m.z = 2 * (1 - 0.03);
  rows[2].scale = 2;
  rows[3].position_m.z = 0.9;
  rows[3].flags = TL_ROW_FROZEN;
  rows[4].position_m.z = 0.8;
  rows[4].flags = TL_ROW_NET;
  rows[0].flags = TL_ROW_UNRESOLVED;
  rows[0].velocity_m_s.x = 3;
  TlDeparture left = {.step = 4, .removed = true};
  const TlDepartures departures = {.count = 1, .row = &left, .there = true};
  o.departures = &departures;
  CK_OK(tl_render_describe(&scene, &frame, &o, text));
  ck_assert_str_eq(text,
                   "4 grains, 1 gone, 1 unresolved, 2 with penetration up to 5% of the radius, "
                   "10% of the mass moves, mean 1 m/s");
  TlFrame mechanism = {.step = 10, .count = 1, .rows = &rows[0]};
  rows[0].flags = TL_ROW_GUIDED;
  o.departures = NULL;
  scene.study = (char *)(uintptr_t) "oedometer: {radius_m: 1}\njoints: []\n";
  CK_OK(tl_render_describe(&scene, &mechanism, &o, text));
  ck_assert_str_eq(text, "0 grains"); /* a piston */
  scene.study = (char *)(uintptr_t) "joints:\n- {kind: hinge}\n";
  CK_OK(tl_render_describe(&scene, &mechanism, &o, text));
  ck_assert_str_eq(text, "0 grains, 100% of the mass moves, mean 3 m/s");
  rows[0].flags = TL_ROW_FROZEN | TL_ROW_GUIDED;
  CK_OK(tl_render_describe(&scene, &mechanism, &o, text));
  ck_assert_str_eq(text, "0 grains");
  rows[0].flags = TL_ROW_UNRESOLVED;
  scene.ranks_matter = true;
  CK_OK(tl_render_describe(&scene, &frame, &o, text));
  ck_assert_ptr_nonnull(strstr(text, ", not repeatable over ranks, "));
  tl_avatar_free(&sphere);
}
END_TEST

START_TEST(body_of_an_unknown_avatar_is_refused) {
  TlScene scene = {0};
  TlBodyRow row = row_at(7, 99, 1, tl_vec3(0, 0, 0));
  TlFrame frame = {.index = 4, .count = 1, .rows = &row};
  TlTracer tracer;
  TlRenderPath path = {0};
  CK_FAILS(tl_tracer_make(&tracer, &scene, &frame, NULL), TL_EINPUT, "avatar 99");
  CK_FAILS(tl_render_path_add(&path, &scene, &frame), TL_EINPUT, "body 7");
}
END_TEST

/* ---- ink and plots ---- */

START_TEST(every_letter_leaves_ink_and_stays_in_its_line) {
  TlImage image;
  CK_OK(tl_image_new(&image, 40, 40));
  for (int c = 33; c < 127; c++) {
    char text[2] = {(char)c, 0};
    memset(image.rgb, 0, 3 * 40 * 40);
    tl_ink_text(&image, 10, 10, 12, text, (TlInk){255, 255, 255, 1});
    double width = tl_ink_text_width(text, 12);
    int bright = 0;
    for (int i = 0; i < 40 * 40; i++) {
      if (image.rgb[3 * i] < 128) continue;
      bright++;
      ck_assert_msg(i % 40 >= 8 && i % 40 <= 10 + width && i / 40 >= 8 && i / 40 <= 28, "'%c'", c);
    }
    ck_assert_msg(bright > 0, "'%c' is blank", c);
  }
  tl_image_free(&image);
}
END_TEST

/* The slash goes from (0, 6) to (4, 0) units of the font; a pixel's ink is what a stroke of 0.85
 * units leaves at its distance from that line. */
START_TEST(strokes_lie_along_their_lines) {
  TlImage image;
  double unit = 3, x0 = 10, y0 = 10 + 6 * unit, length = unit * sqrt(4 * 4 + 6 * 6);
  TlVec3 direction = tl_unit(tl_vec3(4, -6, 0));
  CK_OK(tl_image_new(&image, 40, 40));
  tl_ink_text(&image, x0, 10, 6 * unit, "/", (TlInk){255, 255, 255, 1});
  for (int i = 0; i < 40 * 40; i++) {
    TlVec3 p = tl_vec3(i % 40 + 0.5 - x0, i / 40 + 0.5 - y0, 0);
    double along = tl_dot(p, direction), across = tl_norm(tl_axpy(p, -along, direction));
    double beyond = fmax(0, fmax(-along, along - length)), d = hypot(across, beyond);
    CK_NEAR(image.rgb[3 * i], 255 * fmin(1, fmax(0, 0.5 * 0.85 * unit + 0.5 - d)), 1);
  }
  tl_image_free(&image);
}
END_TEST

START_TEST(round_numbers_and_lengths_read_well) {
  const double in[] = {0.99, 1, 1.9, 2, 4.99, 5, 9.99, 10, 1000, 0.02, 0.07};
  const double out[] = {0.5, 1, 1, 2, 2, 5, 5, 10, 1000, 0.02, 0.05};
  for (int i = 0; i < 11; i++) CK_NEAR(tl_ink_nice(in[i]), out[i], 1e-12 * out[i]);
  char text[32];
  tl_ink_length(50, text);
  ck_assert_str_eq(text, "50 m");
  tl_ink_length(0.002, text);
  ck_assert_str_eq(text, "2 mm");
  tl_ink_length(5e-5, text);
  ck_assert_str_eq(text, "50 um");
  tl_ink_length(20000, text);
  ck_assert_str_eq(text, "20 km");
}
END_TEST

START_TEST(column_names_become_labels_with_units) {
  char label[96];
  tl_plot_label("kinetic_energy_J", label);
  ck_assert_str_eq(label, "kinetic energy [J]");
  tl_plot_label("speed_max_m_s", label);
  ck_assert_str_eq(label, "speed max [m/s]");
  tl_plot_label("contacts", label);
  ck_assert_str_eq(label, "contacts");
}
END_TEST

static void write_history(const char *folder, const char *text) {
  char *file = tl_path_join(folder, "history.csv");
  CK_OK(tl_dir_make(folder));
  CK_OK(tl_file_write(file, text, strlen(text), true));
  tl_free(file);
}

START_TEST(plots_refuse_tables_that_are_not_over_time) {
  char *folder = tl_path_join(tl_test_folder(), "plots"), *out = tl_path_join(folder, "out");
  write_history(folder, "x_m,y_m\n1,2\n3,4\n");
  CK_FAILS(tl_render_plots(folder, NULL, out, false), TL_EINPUT, "time_s");
  write_history(folder, "time_s,y_m\n1,2\n");
  CK_FAILS(tl_render_plots(folder, NULL, out, false), TL_EINPUT, "1 rows");
  write_history(folder, "time_s\n1\n2\n");
  CK_FAILS(tl_render_plots(folder, NULL, out, false), TL_EINPUT, "besides");
  CK_FAILS(tl_render_plots("/nonexistent", NULL, out, false), TL_EIO, "history.csv");
  tl_free(out);
  tl_free(folder);
}
END_TEST

TL_TEST_MAIN("render", walls_are_met_where_they_are_at_the_frame_and_containers_show_what_they_hold,
             floor_of_a_container_is_met_from_inside, sphere_has_its_analytic_silhouette,
             tree_finds_the_nearest_of_many_spheres, turned_body_is_met_on_its_zero_surface,
             ground_is_met_where_small_steps_meet_it, first_of_two_meetings_with_a_saddle_counts,
             sphere_shades_what_lies_behind_it_from_the_sun, plane_is_seen_from_its_front_only,
             picture_has_the_same_bytes_for_any_thread_count_and_is_a_png,
             automatic_camera_has_every_grain_in_the_frame_and_in_sight, apparatus_can_be_left_out,
             caption_says_what_a_reader_must_not_overlook, nets_are_drawn_with_their_bonds,
             body_of_an_unknown_avatar_is_refused, every_letter_leaves_ink_and_stays_in_its_line,
             strokes_lie_along_their_lines, round_numbers_and_lengths_read_well,
             column_names_become_labels_with_units, plots_refuse_tables_that_are_not_over_time)
