/* Pictures of a sheared specimen: force chains as tubes, what happened since a frame, sections. */
#include "support/tltest.h"

#include "base/mem.h"
#include "base/random.h"
#include "post/band.h"
#include "post/render.h"
#include "post/render_colour.h"
#include "post/render_values.h"
#include "shape/superellipsoid.h"

#define DEGREE 0.017453292519943295

enum { WIDTH = 120, HEIGHT = 240 };

static TlBodyRow row_at(int64_t id, double scale, TlVec3 p) {
  return (TlBodyRow){
      .id = id, .avatar_id = 1, .scale = scale, .position_m = p, .rotation = {1, 0, 0, 0}};
}

static TlVec3 random_direction(TlRandom *r) {
  TlVec3 d = {tl_random_next_normal(r), tl_random_next_normal(r), tl_random_next_normal(r)};
  return tl_unit(d);
}

static TlScene scene_with(TlAvatar *sphere, double spacing_m) {
  CK_OK(tl_avatar_sphere(1, spacing_m, 200, sphere));
  sphere->id = 1;
  return (TlScene){.title = "test", .grain_scale = 1, .avatar_count = 1, .avatars = sphere};
}

static TlScene scene_of(TlAvatar *sphere) {
  return scene_with(sphere, 0.2);
}

/* ---- tubes ---- */

/* Of the line through p along the unit direction d, from the axis of the tube: densely, then by
 * halves. */
static double miss(const TlTraceTube *tube, TlVec3 p, TlVec3 d) {
  double best = INFINITY, at = 0, step = 1.0 / 200;
  for (int pass = 0; pass < 30; pass++, step *= 0.5) {
    double middle = at;
    for (int k = pass ? -2 : 0; k <= (pass ? 2 : 200); k++) {
      double s = fmin(1, fmax(0, middle + k * step));
      TlVec3 away = tl_sub(tl_axpy(tube->from, s, tl_sub(tube->to, tube->from)), p);
      double gap = tl_norm(tl_axpy(away, -tl_dot(away, d), d));
      if (gap < best) best = gap, at = s;
    }
  }
  return best;
}

static double axis_distance(const TlTraceTube *tube, TlVec3 p) {
  TlVec3 axis = tl_sub(tube->to, tube->from);
  double s = tl_dot(tl_sub(p, tube->from), axis) / tl_norm2(axis);
  return tl_norm(tl_sub(p, tl_axpy(tube->from, fmin(1, fmax(0, s)), axis)));
}

START_TEST(tubes_are_met_on_their_surface_by_the_rays_that_pass_near_their_axis) {
  enum { N = 40 };
  TlTraceTube tube[N];
  TlRandom r = {8, 1, 0};
  for (int i = 0; i < N; i++) {
    tube[i].from = tl_scale(8 * cbrt(tl_random_next(&r)), random_direction(&r));
    tube[i].to = tl_axpy(tube[i].from, 0.5 + 2 * tl_random_next(&r), random_direction(&r));
    tube[i].radius_m = 0.05 + 0.4 * tl_random_next(&r);
  }
  TlScene scene = {0};
  TlFrame frame = {0};
  TlTracer tracer;
  const TlTraceChoice choice = {.tubes = tube, .tube_count = N};
  CK_OK(tl_tracer_make(&tracer, &scene, &frame, &choice));
  int hits = 0;
  for (int k = 0; k < 800; k++) {
    TlVec3 from = tl_scale(30, random_direction(&r)), aim = tl_scale(6, random_direction(&r));
    TlVec3 d = tl_unit(tl_sub(aim, from));
    double graze = INFINITY;
    bool met = false;
    for (int i = 0; i < N; i++) {
      double inside = tube[i].radius_m - miss(&tube[i], from, d);
      graze = fmin(graze, fabs(inside));
      met |= inside > 0;
    }
    if (graze < 2e-3) continue; /* a step may pass over what is thinner than 0.02 details */
    TlHit hit = tl_trace(&tracer, from, d, INFINITY);
    ck_assert_msg((hit.kind == TL_HIT_GRAIN) == met, "ray %d", k);
    if (!met) continue;
    hits++;
    for (int i = 0; i < N; i++) /* on the surface of one, within none */
      ck_assert(axis_distance(&tube[i], hit.point) > tube[i].radius_m - 1e-9);
    const TlTraceTube *of = &tube[tracer.bodies[hit.body].row];
    CK_NEAR(axis_distance(of, hit.point), of->radius_m, 1e-9);
    ck_assert(tl_dot(hit.normal, d) < 0);
  }
  ck_assert_msg(hits > 80, "%d hits", hits);
  tl_tracer_free(&tracer);
}
END_TEST

/* ---- a column of spheres ---- */

enum { COLUMN = 6 };

/* Spheres of radius 1 over each other on a floor: the contact under the k-th from the top bears k;
 * the floor's in two points of two thirds and a third of it. */
typedef struct Column {
  TlAvatar sphere;
  TlScene scene;
  TlBodyRow row[COLUMN];
  TlContactRow contact[COLUMN + 1];
  TlFrame frame;
  TlPacking packing;
} Column;

static void make_column(Column *c) {
  const TlVec3 up = {0, 0, 1};
  c->scene = scene_of(&c->sphere);
  c->scene.density_kg_m3 = 1;
  c->scene.gravity_m_s2[2] = -9.81;
  for (int i = 0; i < COLUMN; i++) c->row[i] = row_at(i, 1, tl_vec3(0, 0, 1 + 2 * i));
  c->contact[0] = (TlContactRow){0, -1, {0.1, 0, 0}, up, tl_scale(COLUMN / 3.0, up), 0};
  c->contact[1] = (TlContactRow){0, -1, {-0.1, 0, 0}, up, tl_scale(2 * COLUMN / 3.0, up), 0};
  for (int i = 0; i + 1 < COLUMN; i++)
    c->contact[i + 2] = (TlContactRow){
        i, i + 1, {0, 0, 2 + 2 * i}, {0, 0, -1}, tl_scale(-(COLUMN - 1.0 - i), up), 0};
  c->frame = (TlFrame){.count = COLUMN, .rows = c->row};
  TlFrameContacts contacts = {.there = true, .count = COLUMN + 1, .rows = c->contact};
  CK_OK(tl_packing_make(&c->scene, &c->frame, &contacts, &c->packing));
}

static void free_column(Column *c) {
  tl_packing_free(&c->packing);
  tl_avatar_free(&c->sphere);
}

/* Strong are the lowest two pairs (5 and 4 over a mean of 3): a chain of three grains. */
START_TEST(column_is_a_chain_at_its_foot_and_grey_above) {
  static Column c;
  TlChainDrawing d;
  double force;
  make_column(&c);
  CK_OK(tl_chain_drawing(&c.packing, 5, 0.5, &d));
  ck_assert(d.count == COLUMN && d.pairs == COLUMN - 1 && d.chains == 1);
  ck_assert(d.tube[0].to.x == -0.1 && d.tube[0].to.z == 0 && d.tube[0].from.z == 1);
  CK_NEAR(d.tube[0].radius_m, 0.25, 0); /* 6 is beyond the scale */
  for (int i = 0; i + 1 < COLUMN; i++) {
    const TlTraceTube *t = &d.tube[i + 1];
    double fraction = (COLUMN - 1.0 - i) / 5;
    TlVec3 colour = tl_colour_map(fraction);
    CK_NEAR(t->from.z, 1 + 2 * i, 0);
    CK_NEAR(t->to.z, 3 + 2 * i, 0);
    CK_NEAR(t->radius_m, 0.25 * fraction, 1e-12);
    ck_assert((tl_norm(tl_sub(t->colour, colour)) == 0) == (i < 2));
    if (i >= 2) ck_assert(fabs(t->colour.x - t->colour.z) < 0.1);
  }
  tl_chain_drawing_free(&d);
  CK_OK(tl_chain_force(&c.packing, &force));
  CK_NEAR(force, 5, 1e-12);
  CK_NEAR(tl_chain_thickness(&c.packing), 0.8, 1e-2); /* 2/5 of 2, to the grid's volume */
  c.packing.pair[3].normal_N = 0;                     /* does not press: no tube */
  CK_OK(tl_chain_drawing(&c.packing, 5, 0.5, &d));
  ck_assert(d.count == COLUMN - 1 && d.pairs == COLUMN - 2);
  tl_chain_drawing_free(&d);
  free_column(&c);
}
END_TEST

static int saturation(const uint8_t *c) {
  int high = c[0] > c[1] ? c[0] : c[1], low = c[0] < c[1] ? c[0] : c[1];
  high = c[2] > high ? c[2] : high;
  low = c[2] < low ? c[2] : low;
  return high - low;
}

/* From 60 m, square on: silhouettes are those of cylinders, chain in colour, grains not there. */
START_TEST(chain_goes_through_the_pixels_it_must) {
  static Column c;
  TlChainDrawing d;
  TlImage with, without;
  make_column(&c);
  CK_OK(tl_chain_drawing(&c.packing, 5, 1, &d));
  TlCamera camera = tl_camera_look(tl_vec3(0, -60, 6), tl_vec3(0, 0, 6), 13, WIDTH, HEIGHT);
  TlRenderOptions o = {.width = WIDTH, .height = HEIGHT, .colour = TL_COLOUR_FORCE, .high = 5};
  o.chains = &d;
  CK_OK(tl_render_frame(&c.scene, &c.frame, &camera, &o, &with));
  TlFrame empty = {0};
  o.chains = NULL;
  CK_OK(tl_render_frame(&c.scene, &empty, &camera, &o, &without));
  double scale = 0.5 * HEIGHT / tan(6.5 * DEGREE);
  for (int i = 0; i + 1 < COLUMN; i++) {
    int y = (int)(0.5 * HEIGHT - scale * (2 + 2 * i - 6) / 60), wide = 0, most = 0;
    for (int x = 0; x < WIDTH; x++) {
      const uint8_t *p = with.rgb + 3 * (y * WIDTH + x);
      if (memcmp(p, without.rgb + 3 * (y * WIDTH + x), 3) == 0) continue;
      wide++;
      most = saturation(p) > most ? saturation(p) : most;
    }
    double radius = 0.5 * (COLUMN - 1.0 - i) / 5;
    CK_NEAR(wide, 2 * scale * tan(asin(radius / 60)), 1.01);
    ck_assert_msg(i < 2 ? most > 90 : most < 50, "row %d: colours differ by %d", y, most);
  }
  tl_image_free(&with);
  tl_image_free(&without);
  tl_chain_drawing_free(&d);
  free_column(&c);
}
END_TEST

/* ---- since a frame ---- */

/* A membrane's sphere among them, a grain that was not there before. */
START_TEST(planted_rotations_come_out_in_degrees_at_their_rows) {
  enum { N = 6 };
  TlAvatar sphere;
  TlScene scene = scene_of(&sphere);
  TlBodyRow before[N], now[N];
  double *value, end;
  TlRandom r = {9, 1, 0};
  for (int i = 0; i < N; i++) {
    before[i] = row_at(10 * i, 1, tl_vec3(3 * i, 0, 0));
    before[i].rotation = tl_quat_from_rotation(tl_scale(2, random_direction(&r)));
    now[i] = before[i];
    TlQuat turn = tl_quat_from_rotation(tl_scale(25 * i * DEGREE, random_direction(&r)));
    now[i].rotation = tl_quat_mul(turn, before[i].rotation);
  }
  now[2].flags = before[2].flags = TL_ROW_NET;
  TlFrame a = {.count = N - 1, .rows = before}, b = {.count = N, .rows = now};
  CK_OK(tl_values_since(&scene, TL_VALUE_ROTATION, &a, &b, &value));
  for (int i = 0; i < N; i++) {
    ck_assert(isnan(value[i]) == (i == 2 || i == N - 1));
    if (!isnan(value[i])) CK_NEAR(value[i], 25 * i, 1e-5);
  }
  CK_OK(tl_values_end(value, N, &end));
  CK_NEAR(end, 100, 1e-5);
  /* one of fifty is passed over */
  double many[100];
  for (int i = 0; i < 100; i++) many[i] = i % 2 ? i : 99 - i;
  CK_OK(tl_values_end(many, 100, &end));
  ck_assert(end == 99 || end == 97);
  many[1] = many[0] = 1e9;
  CK_OK(tl_values_end(many, 100, &end));
  ck_assert(end < 100);
  CK_OK(tl_values_end(NULL, 0, &end));
  CK_NEAR(end, 0, 0);
  tl_free(value);
  tl_avatar_free(&sphere);
}
END_TEST

/* Shortened by l along z: h = (0, 0, ln l), of which the deviatoric measure is 2/3 |ln l|. */
START_TEST(affine_strain_is_everywhere_the_same) {
  enum { N = 64 };
  TlAvatar sphere;
  TlScene scene = scene_of(&sphere);
  TlBodyRow before[N], now[N];
  double *value;
  TlRandom r = {10, 1, 0};
  for (int i = 0; i < N; i++) {
    TlVec3 at = {2 * (i % 4), 2 * (i / 4 % 4), 2 * (i / 16)};
    before[i] = row_at(i, 1, tl_axpy(at, 0.2, random_direction(&r)));
    now[i] = before[i];
    now[i].position_m.z *= 0.8;
  }
  TlFrame a = {.count = N, .rows = before}, b = {.count = N, .rows = now};
  CK_OK(tl_values_since(&scene, TL_VALUE_STRAIN, &a, &b, &value));
  for (int i = 0; i < N; i++) CK_NEAR(value[i], -2.0 / 3 * log(0.8), 1e-12);
  tl_free(value);
  tl_avatar_free(&sphere);
}
END_TEST

/* Grains of a plane of 50 degrees turn far, the others hardly: the view lies along the plane. */
START_TEST(view_of_a_band_is_square_to_its_dip) {
  enum { SIDE = 9, N = SIDE * SIDE * SIDE };
  static TlBodyRow before[N], now[N];
  TlAvatar sphere;
  TlScene scene = scene_of(&sphere);
  TlVec3 dip = {sin(50 * DEGREE) * cos(0.4), sin(50 * DEGREE) * sin(0.4), cos(50 * DEGREE)}, view;
  TlRandom r = {11, 1, 0};
  for (int i = 0; i < N; i++) {
    TlVec3 at = {i % SIDE - SIDE / 2, i / SIDE % SIDE - SIDE / 2, i / SIDE / SIDE - SIDE / 2};
    before[i] = now[i] = row_at(i, 0.4, tl_axpy(at, 0.1, random_direction(&r)));
    double angle = fabs(tl_dot(dip, at)) < 0.5 ? 1 : 0.02 * tl_random_next(&r);
    now[i].rotation = tl_quat_from_rotation(tl_scale(angle, random_direction(&r)));
  }
  TlFrame a = {.index = 2, .count = N, .rows = before}, b = {.index = 5, .count = N, .rows = now};
  CK_OK(tl_values_band_view(&scene, &a, &b, &view));
  CK_NEAR(view.z, 0, 0);
  CK_NEAR(tl_norm(view), 1, 1e-12);
  CK_NEAR(tl_dot(view, dip), 0, 0.05);
  a.count = b.count = TL_BAND_LEAST - 1;
  CK_FAILS(tl_values_band_view(&scene, &a, &b, &view), TL_EINPUT, "between frames 2 and 5");
  tl_avatar_free(&sphere);
}
END_TEST

/* ---- sections ---- */

/* Where the ray comes into the part of the ball behind the plane; negative: it passes. */
static double into_part(const TlBodyRow *b, const TlTraceChoice *c, TlVec3 from, TlVec3 d) {
  TlVec3 away = tl_sub(from, b->position_m);
  double along = -tl_dot(away, d), half2 = b->scale * b->scale - tl_norm2(tl_axpy(away, along, d));
  if (half2 <= 0) return -1;
  double in = along - sqrt(half2), out = along + sqrt(half2), fall = tl_dot(c->cut_normal, d);
  double t = tl_dot(c->cut_normal, tl_sub(c->cut_point_m, from)) / fall;
  if (fall < 0) in = fmax(in, t);
  if (fall > 0) out = fmin(out, t);
  return in < out ? in : -1;
}

START_TEST(cut_leaves_out_what_lies_before_the_plane_and_nothing_else) {
  enum { N = 60 };
  TlAvatar sphere;
  TlScene scene = scene_with(&sphere, 0.05);
  TlBodyRow row[N];
  TlRandom r = {12, 1, 0};
  for (int i = 0; i < N; i++) {
    TlVec3 p = tl_scale(8 * cbrt(tl_random_next(&r)), random_direction(&r));
    row[i] = row_at(i, 0.5 + tl_random_next(&r), p);
    row[i].rotation = tl_quat_from_rotation(random_direction(&r));
  }
  TlFrame frame = {.count = N, .rows = row};
  TlTraceChoice choice = {
      .cut = true, .cut_point_m = {0.3, -0.2, 1}, .cut_normal = tl_unit(tl_vec3(0.6, -0.8, 0.1))};
  TlTracer tracer;
  CK_OK(tl_tracer_make(&tracer, &scene, &frame, &choice));
  int faces = 0, round = 0;
  for (int k = 0; k < 4000; k++) {
    TlVec3 from = tl_axpy(tl_scale(30, choice.cut_normal), 12, random_direction(&r));
    TlVec3 d = tl_unit(tl_sub(tl_scale(7, random_direction(&r)), from));
    double nearest = INFINITY, second = INFINITY, graze = INFINITY;
    for (int i = 0; i < N; i++) {
      double t = into_part(&row[i], &choice, from, d);
      TlVec3 away = tl_sub(row[i].position_m, from);
      graze = fmin(graze, fabs(tl_norm(tl_axpy(away, -tl_dot(away, d), d)) / row[i].scale - 1));
      if (t < 0) continue;
      second = fmin(second, fmax(t, nearest));
      nearest = fmin(nearest, t);
    }
    TlVec3 p = tl_axpy(from, isfinite(nearest) ? nearest : 0, d);
    double rim = INFINITY; /* of a face, where the grid's error decides */
    for (int i = 0; i < N; i++)
      rim = fmin(rim, fabs(tl_norm(tl_sub(p, row[i].position_m)) / row[i].scale - 1));
    bool face = fabs(tl_dot(choice.cut_normal, tl_sub(p, choice.cut_point_m))) < 1e-9;
    if (graze < 0.01 || second - nearest < 0.02 || (face && rim < 0.02)) continue;
    TlHit hit = tl_trace(&tracer, from, d, INFINITY);
    ck_assert_msg((hit.kind == TL_HIT_GRAIN) == isfinite(nearest), "ray %d", k);
    if (hit.kind != TL_HIT_GRAIN) continue;
    /* phi error h^2/8 (1/R + 1/R) = 6e-4, times the scale, over the cosine at a graze of 0.01 */
    CK_NEAR(hit.t, nearest, 7e-3);
    faces += face;
    round += !face;
    ck_assert((hit.within_m > 0) == face);
    const TlBodyRow *of = &row[tracer.bodies[hit.body].row];
    if (!face) continue;
    if (hit.within_m < 0.3 * of->scale) /* deeper the grid rounds the ball's middle off */
      CK_NEAR(hit.within_m, of->scale - tl_norm(tl_sub(hit.point, of->position_m)), 5e-3);
    if (hit.within_m > 0.15) CK_NEAR(tl_dot(hit.normal, choice.cut_normal), 1, 1e-6);
  }
  ck_assert_msg(faces > 300 && round > 300, "%d faces, %d others", faces, round);
  tl_tracer_free(&tracer);
  tl_avatar_free(&sphere);
}
END_TEST

/* Middles at -1.95, -0.95, 0.05 and 1.05; the second and the third go through the plane. */
START_TEST(cut_keeps_the_tubes_whose_middle_lies_behind) {
  TlTraceTube tube[4];
  for (int i = 0; i < 4; i++)
    tube[i] = (TlTraceTube){
        .from = {i, -3.05 + i, 0}, .to = {i, -0.85 + i, 0}, .radius_m = 0.1 + 0.01 * i};
  TlTraceChoice choice = {.tubes = tube, .tube_count = 4, .cut = true, .cut_normal = {0, 1, 0}};
  TlScene scene = {0};
  TlFrame frame = {0};
  TlTracer tracer;
  CK_OK(tl_tracer_make(&tracer, &scene, &frame, &choice));
  ck_assert_int_eq(tracer.body_count, 2);
  TlHit hit = tl_trace(&tracer, tl_vec3(1, 9, 0), tl_vec3(0, -1, 0), INFINITY);
  ck_assert(hit.kind == TL_HIT_GRAIN);
  CK_NEAR(hit.point.y, 0.15 + 0.11, 1e-9); /* whole: to its end before the plane */
  tl_tracer_free(&tracer);
  choice.cut_depth_m = 1.9;
  CK_OK(tl_tracer_make(&tracer, &scene, &frame, &choice));
  ck_assert(tracer.body_count == 1 && tracer.bodies[0].row == 1);
  tl_tracer_free(&tracer);
}
END_TEST

/* Of bodies at depths 0, 1, 2, 3 a slice of 1.5 has two, and the platen however deep. */
START_TEST(slice_ends_at_its_depth_but_for_platens) {
  TlAvatar sphere;
  TlScene scene = scene_of(&sphere);
  TlBodyRow row[4];
  for (int i = 0; i < 4; i++) row[i] = row_at(i, 0.2, tl_vec3(0, -i, 0));
  row[1].flags = TL_ROW_NET;
  TlFrame frame = {.count = 4, .rows = row};
  TlTracer tracer;
  const TlTraceChoice choice = {.cut = true, .cut_normal = {0, 1, 0}, .cut_depth_m = 1.5};
  for (int platen = 0; platen < 2; platen++) {
    row[3].flags = platen ? TL_ROW_GUIDED : 0;
    CK_OK(tl_tracer_make(&tracer, &scene, &frame, &choice));
    ck_assert_int_eq(tracer.body_count, 2 + platen);
    tl_tracer_free(&tracer);
  }
  tl_avatar_free(&sphere);
}
END_TEST

START_TEST(camera_stands_where_it_is_told_and_sees_all_grains) {
  enum { N = 30 };
  TlAvatar sphere;
  TlScene scene = scene_of(&sphere);
  TlBodyRow row[N];
  TlRandom r = {13, 1, 0};
  for (int i = 0; i < N; i++)
    row[i] = row_at(i, 0.3, tl_scale(5 * tl_random_next(&r), random_direction(&r)));
  row[0].flags = TL_ROW_NET; /* far off, and not to be in a bare picture */
  row[0].position_m = tl_vec3(0, 0, 40);
  TlFrame frame = {.count = N, .rows = row};
  double distance[2];
  for (int bare = 0; bare < 2; bare++) {
    TlRenderPath path = {.bare = bare};
    TlCamera camera;
    CK_OK(tl_render_path_add(&path, &scene, &frame));
    CK_OK(tl_camera_from_side(&scene, &path, 120, 20, 30, WIDTH, HEIGHT, &camera));
    CK_NEAR(camera.forward.x, -cos(20 * DEGREE) * cos(120 * DEGREE), 1e-12);
    CK_NEAR(camera.forward.y, -cos(20 * DEGREE) * sin(120 * DEGREE), 1e-12);
    CK_NEAR(camera.forward.z, -sin(20 * DEGREE), 1e-12);
    for (int i = bare; i < N; i++) {
      double x, y;
      ck_assert(tl_camera_project(&camera, row[i].position_m, WIDTH, HEIGHT, &x, &y));
      ck_assert(x > 0 && y > 0.1 * HEIGHT && x < WIDTH && y < 0.9 * HEIGHT);
    }
    distance[bare] = camera.focus_m;
    tl_render_path_free(&path);
  }
  ck_assert(distance[1] < 0.7 * distance[0]);
  tl_avatar_free(&sphere);
}
END_TEST

TL_TEST_MAIN("render_shear", tubes_are_met_on_their_surface_by_the_rays_that_pass_near_their_axis,
             column_is_a_chain_at_its_foot_and_grey_above, chain_goes_through_the_pixels_it_must,
             planted_rotations_come_out_in_degrees_at_their_rows,
             affine_strain_is_everywhere_the_same, view_of_a_band_is_square_to_its_dip,
             cut_leaves_out_what_lies_before_the_plane_and_nothing_else,
             cut_keeps_the_tubes_whose_middle_lies_behind, slice_ends_at_its_depth_but_for_platens,
             camera_stands_where_it_is_told_and_sees_all_grains)
