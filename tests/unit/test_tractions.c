/* What overlapping surfaces bear where no patch serves (contact/tractions.h), against integrals over many points
 * of the exact surfaces before the oracle's tricubic field or a box's faces, and against the derivative of the
 * energy. The grain is a star with hollows: r(u) = R (1 + bumps). */
#include "support/bearing.h"
#include "support/loop.h"
#include "support/placed.h"
#include "support/tltest.h"

#include "base/mem.h"
#include "base/par.h"
#include "contact/search.h"
#include "contact/tractions.h"
#include "model/elements.h"
#include "model/place_shape.h"
#include "post/overlap_shape.h"
#include "shape/build.h"

static const double SIZE = 0.01; /* m */
enum { STAR = 1, BOX, CROSS, SHAPES, CELLS = 12 };

typedef struct Scene {
  TlShapes shapes;
  TlAvatar star;
  TlOverlapShape truth;
  TlBodies bodies;
  TlPoints points;
  double scale; /* of b */
  bool finer;
  TlTerrain terrain; /* heights borrowed from the test */
} Scene;

/* ---- the star ---- */

static double radius_of(TlVec3 u, TlVec3 *slope) {
  double x = u.x, y = u.y, z = u.z;
  /* of r along u, without its part along u */
  *slope = tl_vec3(0.3 * (2 * x * y + y * z) - 0.1 * x, 0.3 * (x * x - 3 * y * y + x * z),
                   0.3 * x * y + 0.36 * z * z * z);
  *slope = tl_axpy(*slope, -tl_dot(*slope, u), u);
  return 0.8 + 0.3 * (x * x * y - y * y * y + x * y * z) - 0.05 * x * x + 0.09 * z * z * z * z;
}

static TlStatus make_star(TlAvatar *star) {
  int32_t n = (int32_t)(2 * 1.3 * CELLS) + 8;
  TlPhiGrid grid = {n, n, n, NULL};
  TlBuildOptions options = {.nodes = {.count = 300}};
  double middle = 0.5 * (n - 1);
  TL_TRY(TL_NEW(grid.phi, (size_t)tl_grid_count(&grid)));
  for (int64_t k = 0; k < n; k++)
    for (int64_t j = 0; j < n; j++)
      for (int64_t i = 0; i < n; i++) {
        TlVec3 slope, p = tl_vec3((double)i - middle, (double)j - middle, (double)k - middle);
        double far = tl_norm(p);
        TlVec3 u = far > 0 ? tl_scale(1 / far, p) : tl_vec3(0, 0, 1);
        grid.phi[tl_grid_at(&grid, i, j, k)] = (float)(far - CELLS * radius_of(u, &slope));
      }
  TlStatus status =
      tl_avatar_build_from_phi(&grid, (int64_t[]){0, 0, 0}, SIZE / CELLS, 1, false, &options, star);
  tl_free(grid.phi);
  return status;
}

/* Point number i of `count` of the surface in the body's frame, its outward normal, and its area. */
static TlVec3 star_point(const TlAvatar *star, int64_t i, int64_t count, TlVec3 *n, double *area) {
  double z = 1 - (2 * (double)i + 1) / (double)count, across = sqrt(1 - z * z),
         turn = (double)i * M_PI * (3 - sqrt(5));
  TlVec3 slope, u = tl_vec3(across * cos(turn), across * sin(turn), z);
  double r = SIZE * radius_of(u, &slope);
  TlVec3 out = tl_axpy(u, -SIZE / r, slope); /* normal times 1/cos */
  *area = 4 * M_PI / (double)count * r * r * tl_norm(out);
  int32_t cells = (int32_t)(2 * 1.3 * CELLS) + 8;
  double middle = 0.5 * (cells - 1) * SIZE / CELLS;
  TlVec3 scan = tl_sub(tl_axpy(tl_vec3(middle, middle, middle), r, u), star->scan_centroid_m);
  *n = tl_quat_rotate(tl_quat_conj(star->scan_rotation), tl_unit(out));
  return tl_quat_rotate(tl_quat_conj(star->scan_rotation), scan);
}

static void open_scene(Scene *s) {
  *s = (Scene){.shapes = {.places = true, .surface = true}, .scale = 1};
  tl_par_set_threads(1);
  CK_OK(make_star(&s->star));
  CK_OK(tl_shapes_add(&s->shapes, STAR, &s->star));
  CK_OK(tl_shapes_add_closed(&s->shapes, BOX, &tl_closed_box, (double[]){SIZE, SIZE, SIZE}));
  CK_OK(tl_overlap_shape_of_grid(&s->star, &s->truth));
}

static void close_scene(Scene *s) {
  tl_points_free(&s->points);
  tl_bodies_free(&s->bodies);
  tl_shapes_free(&s->shapes);
  tl_free(s->truth.cell);
  tl_avatar_free(&s->star);
}

/* ---- what the library finds ---- */

static void find(Scene *s, TlSearch how, TlNear *near) {
  const TlSearchOptions surfaces = {
      .edges = TL_EDGES_PLACES, .surface = true, .elements = true, .finer = s->finer, .how = how};
  TlMargin margin = {.size = 0.6 * SIZE, .travel = 1e-5 * SIZE};
  s->points.count = 0;
  CK_OK(tl_scan_pair(&surfaces, near, NULL, &s->bodies.colliders, 0, 1, &margin, &s->points));
}

static Bearing bearing(void *scene, TlVec3 middle) {
  Scene *s = scene;
  TlNear near = {0};
  find(s, TL_SEARCH_NEAR, &near);
  return bearing_of(&s->points, middle);
}

/* ---- and what many points do ---- */

/* Depth of a point in the body `which`, 0: it is outside; *g: the field's gradient there. */
static double depth_in(const Scene *s, int which, TlVec3 p, TlVec3 *g) {
  const TlColliders *c = &s->bodies.colliders;
  TlVec3 q = tl_quat_rotate(tl_quat_conj(c->rotation[which]), tl_sub(p, c->position[which]));
  double depth, scale = c->scale[which];
  q = tl_scale(1 / scale, q);
  if (c->shape[which]->avatar) {
    if (tl_norm2(q) > s->star.radius_m * s->star.radius_m) return 0;
    depth = -tl_overlap_shape_phi(&s->truth, q, g);
  } else {
    double in[3] = {0.5 * SIZE - fabs(q.x), 0.5 * SIZE - fabs(q.y), 0.5 * SIZE - fabs(q.z)};
    int k = in[0] < in[1] ? (in[0] < in[2] ? 0 : 2) : in[1] < in[2] ? 1 : 2;
    depth = in[k];
    *g = tl_vec3(0, 0, 0);
    (&g->x)[k] = (&q.x)[k] > 0 ? 1 : -1;
  }
  *g = tl_quat_rotate(c->rotation[which], *g);
  return depth > 0 ? depth * scale : 0;
}

/* Point number i of a body's surface; false: it has no more. */
static bool surface_point(const Scene *s, int which, int64_t i, TlVec3 *p, double *area) {
  const TlColliders *c = &s->bodies.colliders;
  /* corners, and a grain beside a much larger one, touch over little of its surface */
  bool little = !(c->shape[0]->avatar && c->shape[1]->avatar) || s->scale > 1;
  const int64_t many = little ? 1500000 : 300000, across = 600;
  TlVec3 n;
  if (c->shape[which]->avatar) {
    if (i == many) return false;
    *p = star_point(&s->star, i, many, &n, area);
  } else {
    if (i == 6 * across * across) return false;
    int face = (int)(i % 6);
    double x[3], cell = SIZE / (double)across;
    x[face / 2] = face & 1 ? 0.5 * SIZE : -0.5 * SIZE;
    x[(face / 2 + 1) % 3] = ((double)(i / 6 % across) + 0.5) * cell - 0.5 * SIZE;
    x[(face / 2 + 2) % 3] = ((double)(i / 6 / across) + 0.5) * cell - 0.5 * SIZE;
    *p = tl_vec3(x[0], x[1], x[2]);
    *area = cell * cell;
  }
  *area *= c->scale[which] * c->scale[which];
  *p =
      tl_add(c->position[which], tl_quat_rotate(c->rotation[which], tl_scale(c->scale[which], *p)));
  return true;
}

/* The points of a face lie half a cell from its corners. */
static double deepest_corner(const Scene *s, int which) {
  const TlColliders *c = &s->bodies.colliders;
  double deepest = 0, far = 0.5 * SIZE * c->scale[which];
  TlVec3 g;
  for (int k = 0; k < 8 && !c->shape[which]->avatar; k++) {
    TlVec3 corner = tl_vec3(k & 1 ? far : -far, k & 2 ? far : -far, k & 4 ? far : -far);
    TlVec3 p = tl_add(c->position[which], tl_quat_rotate(c->rotation[which], corner));
    deepest = tl_max(deepest, depth_in(s, 1 - which, p, &g));
  }
  return deepest;
}

static Bearing by_many_points(const Scene *s, TlVec3 middle) {
  Bearing l = {.middle = middle};
  TlVec3 p, g;
  double area;
  for (int which = 0; which < 2; which++)
    for (int64_t i = 0; surface_point(s, which, i, &p, &area); i++) {
      double depth = depth_in(s, 1 - which, p, &g), k = 0.5 * BEARING_PA_M * area;
      if (!(depth > 0)) continue;
      TlVec3 f = tl_scale((which ? -k : k) * depth, g);
      l.force = tl_add(l.force, f);
      l.torque = tl_add(l.torque, tl_cross(tl_sub(p, middle), f));
      l.energy += 0.5 * k * depth * depth;
      l.deepest = tl_max(l.deepest, depth);
      l.points++;
    }
  l.deepest = tl_max(l.deepest, tl_max(deepest_corner(s, 0), deepest_corner(s, 1)));
  return l;
}

static void put(Scene *s, int a, int b, TlVec3 shift, uint64_t i) {
  tl_bodies_clear(&s->bodies);
  tl_test_place(&s->bodies, &s->shapes,
                (TlGrainState){.id = 0, .avatar_id = a, .scale = 1, .rotation = tl_test_turn(2, i)},
                0);
  tl_test_place(
      &s->bodies, &s->shapes,
      (TlGrainState){
          .id = 1, .avatar_id = b, .scale = 1, .position = shift, .rotation = tl_test_turn(3, i)},
      0);
}

/* A random pair, led along the line of its centres until it overlaps by about `deep`. */
static void draw(Scene *s, int a, int b, uint64_t i, double deep) {
  TlVec3 along = tl_test_unit(1, i);
  double low = 0, high = 1.5 * (1 + s->scale) * SIZE;
  for (int k = 0; k < 40; k++) {
    double far = 0.5 * (low + high);
    put(s, a, b, tl_scale(far, along), i);
    if (bearing(s, along).points > 0)
      low = far;
    else
      high = far;
  }
  put(s, a, b, tl_scale(low - deep, along), i);
}

/* ---- ground ---- */

enum { N = 12 };

static TlBoundary ground_of(const Scene *s) {
  return (TlBoundary){.kind = &tl_boundary_terrain, .data = &s->terrain};
}

/* Rough ground on a slope about the origin, `cell` a cell. */
static void make_ground(Scene *s, float height[N * N], double cell, uint64_t seed) {
  TlRandom r = {.seed = seed};
  double slope = tl_random_next(&r) - 0.5, x0 = -0.5 * (N - 1) * cell;
  s->terrain =
      (TlTerrain){.nx = N, .ny = N, .cell_m = cell, .x0_m = x0, .y0_m = x0, .height_m = height};
  for (int i = 0; i < N * N; i++)
    height[i] =
        (float)(cell * (0.4 * (tl_random_next(&r) - 0.5) + slope * (i % N - 0.5 * (N - 1))));
}

/* The force of grain 1 on the ground, as the first of a pair feels it (support/bearing.h). */
static Bearing bearing_of_ground(void *scene, TlVec3 middle) {
  static const TlSearchOptions surfaces = {
      .edges = TL_EDGES_PLACES, .surface = true, .elements = true, .how = TL_SEARCH_ALL};
  Scene *s = scene;
  TlBoundary ground = ground_of(s);
  TlNear near = {0};
  s->points.count = 0;
  CK_OK(
      tl_scan_boundary(&surfaces, &near, &s->bodies.colliders, 1, 0, &ground, 1e-5, 0, &s->points));
  for (size_t k = 0; k < s->points.count; k++)
    s->points.point[k].n = tl_scale(-1, s->points.point[k].n);
  return bearing_of(&s->points, middle);
}

/* A star on the ground, `deep` in it. */
static void draw_on_ground(Scene *s, uint64_t i, double deep) {
  double low = -1.5 * SIZE, high = 3 * SIZE;
  put(s, STAR, STAR, tl_vec3(0.3 * SIZE, 0.2 * SIZE, 0), i);
  TlVec3 *x = &s->bodies.colliders.position[1];
  for (int k = 0; k < 40; k++) {
    x->z = 0.5 * (low + high);
    *(bearing_of_ground(s, *x).points > 0 ? &low : &high) = x->z;
  }
  x->z = low - deep;
}

/* ---- elements ---- */

static const TlElements *elements_of(const Scene *s, int64_t id) {
  return tl_shapes_find(&s->shapes, id)->place->elements;
}

static TlVec3 between(const TlElements *e, int32_t element, double u, double w) {
  double a[3], b[3];
  TlVec3 x = {0, 0, 0};
  tl_element_weights(u, a);
  tl_element_weights(w, b);
  for (int k = 0; k < TL_ELEMENT_POINTS; k++)
    x = tl_axpy(x, a[k % 3] * b[k / 3], tl_element_point(e, e->element[element].point[k]));
  return x;
}

START_TEST(elements_lie_on_the_surface_and_are_all_of_it) {
  Scene s;
  open_scene(&s);
  CK_OK(tl_shapes_add_closed(&s.shapes, CROSS, &tl_closed_cross, (double[]){SIZE, 0.4 * SIZE}));
  const double areas[] = {0, s.star.area_m2, 6 * SIZE * SIZE,
                          6 * (0.16 + 4 * 0.4 * 0.3) * SIZE * SIZE};
  for (int64_t id = STAR; id < SHAPES; id++) {
    const TlElements *e = elements_of(&s, id);
    const TlShape *shape = tl_shapes_find(&s.shapes, id);
    double off = 0, mean = 0, places = 0;
    for (int32_t i = 0; i < e->count; i++) {
      for (int k = 0; k < TL_ELEMENT_POINTS; k++) {
        TlVec3 x = tl_element_point(e, e->element[i].point[k]);
        if (shape->avatar) off = tl_max(off, fabs(tl_overlap_shape_phi(&s.truth, x, NULL)));
        ck_assert(tl_norm(tl_sub(x, e->middles->node[i])) <= (double)e->element[i].radius_m);
      }
      for (int k = 0; k < 64; k++) {
        if (!(e->element[i].bare >> k & 1)) continue;
        TlVec3 x = between(e, i, tl_element_place(k % 8), tl_element_place(k / 8));
        mean += fabs(shape->avatar ? tl_overlap_shape_phi(&s.truth, x, NULL)
                                   : tl_shape_phi(shape, x, NULL));
        places++;
      }
      if (i > 0) ck_assert_int_le(e->element[i - 1].node, e->element[i].node);
    }
    mean /= places;
    ck_assert_msg(fabs(e->area_m2 / areas[id] - 1) < 0.01, "shape %d: area %g of %g", (int)id,
                  e->area_m2, areas[id]);
    ck_assert_msg(off < 1e-3 * e->size_m && mean < 5e-5 * e->size_m,
                  "shape %d: off by %g of the radius, %g in the mean", (int)id, off / e->size_m,
                  mean / e->size_m);
  }
  close_scene(&s);
}
END_TEST

/* ---- what they bear ---- */

static void judge_pairs(Scene *s, int a, int b, double deep, double force, double energy) {
  enum { PAIRS = 6 };
  double mean[2] = {0, 0};
  for (int i = 0; i < PAIRS; i++) {
    draw(s, a, b, (uint64_t)i, deep * SIZE);
    TlVec3 middle = tl_scale(0.5, s->bodies.colliders.position[1]);
    Bearing got = bearing(s, middle), want = by_many_points(s, middle);
    double size = tl_norm(want.force);
    mean[0] += tl_norm(tl_sub(got.force, want.force)) / size / PAIRS;
    mean[1] += fabs(got.energy / want.energy - 1) / PAIRS;
    double torque = tl_norm(tl_sub(got.torque, want.torque)) / (size * SIZE);
    ck_assert_msg(torque < force, "pair %d, %g deep: torque off by %g", i, deep, torque);
    ck_assert_msg(fabs(got.deepest / want.deepest - 1) < 0.05, "pair %d: %g deep of %g", i,
                  got.deepest, want.deepest);
  }
  ck_assert_msg(mean[0] < force && mean[1] < energy,
                "%d on %d, %g deep: force off by %g, energy %g", a, b, deep, mean[0], mean[1]);
}

START_TEST(forces_are_those_of_many_points) {
  TL_NOT_SANITIZED();
  Scene s;
  open_scene(&s);
  judge_pairs(&s, STAR, STAR, 0.002, 0.05, 0.08);
  judge_pairs(&s, STAR, STAR, 0.01, 0.03, 0.03);
  judge_pairs(&s, STAR, STAR, 0.03, 0.01, 0.01);
  judge_pairs(&s, STAR, STAR, 0.07, 0.01, 0.01);
  s.scale = 5;
  judge_pairs(&s, STAR, STAR, 0.01, 0.05, 0.05);
  s.scale = 1;
  judge_pairs(&s, STAR, BOX, 0.015, 0.1, 0.1); /* a corner touches with few parts */
  judge_pairs(&s, STAR, BOX, 0.03, 0.1, 0.1);
  s.finer = true;
  judge_pairs(&s, STAR, STAR, 0.002, 0.05, 0.08);
  judge_pairs(&s, STAR, STAR, 0.03, 0.03, 0.03);
  judge_pairs(&s, STAR, BOX, 0.03, 0.1, 0.1); /* both, since one is a polyhedron */
  s.scale = 5;
  judge_pairs(&s, STAR, STAR, 0.01, 0.05, 0.05);
  close_scene(&s);
}
END_TEST

/* ---- force and torque are the derivative of the energy ---- */

/* At depths where one sum gives way to the next, too. */
START_TEST(forces_are_the_derivative_of_the_energy) {
  Scene s;
  open_scene(&s);
  for (int i = 0; i < 24; i++) {
    s.finer = i % 4 == 1;
    draw(&s, STAR, i % 3 ? STAR : BOX, (uint64_t)i, (0.002 + 0.001 * i) * SIZE);
    double off = bearing_derivative_error(bearing, &s, &s.bodies.colliders, SIZE, 1e-5 * SIZE);
    ck_assert_msg(off < (i % 3 ? 0.01 : 0.03), "pair %d: off by %g", i, off);
  }
  close_scene(&s);
}
END_TEST

/* At nodes and features of the ground, which bore before, a slab that slid down a raster gained 3.7% of the energy set
 * free. */
START_TEST(on_ground_forces_are_the_derivative_of_the_energy) {
  static const double cells[] = {0.6, 1, 3, 12};
  Scene s;
  float height[N * N];
  open_scene(&s);
  for (uint64_t i = 0; i < 24; i++) {
    make_ground(&s, height, cells[i % 4] * SIZE, i);
    draw_on_ground(&s, i, (0.002 + 0.001 * (double)i) * SIZE);
    double off =
        bearing_derivative_error(bearing_of_ground, &s, &s.bodies.colliders, SIZE, 1e-5 * SIZE);
    ck_assert_msg(off < 0.01, "star %d: off by %g", (int)i, off);
  }
  close_scene(&s);
}
END_TEST

/* Each point of the surface in the ground bears along the way out. */
START_TEST(a_star_on_ground_bears_what_its_points_do) {
  static const double cells[] = {0.6, 1, 3, 12};
  Scene s;
  float height[N * N];
  open_scene(&s);
  for (uint64_t i = 0; i < 16; i++) {
    TlVec3 p, force = {0, 0, 0};
    double area, energy = 0, phi;
    make_ground(&s, height, cells[i % 4] * SIZE, i);
    draw_on_ground(&s, i, i & 4 ? 0.01 * SIZE : 0.04 * SIZE);
    for (int64_t k = 0; surface_point(&s, 1, k, &p, &area); k++) {
      TlVec3 n;
      if (!tl_terrain_surface(&s.terrain, p, INFINITY, &phi, &n) || !(phi < 0)) continue;
      force = tl_axpy(force, BEARING_PA_M * area * phi, n);
      energy += 0.5 * BEARING_PA_M * area * phi * phi;
    }
    Bearing got = bearing_of_ground(&s, s.bodies.colliders.position[1]);
    double off = tl_norm(tl_sub(got.force, force)) / tl_norm(force);
    ck_assert_msg(off < 0.05, "star %d: off by %g of the force", (int)i, off);
    ck_assert_msg(fabs(got.energy / energy - 1) < 0.1, "star %d: energy %g of %g", (int)i,
                  got.energy, energy);
  }
  close_scene(&s);
}
END_TEST

START_TEST(a_closed_loop_does_no_work) {
  TL_NOT_SANITIZED();
  enum { LOOPS = 24 };
  TlAvatar star;
  double work[LOOP_HOWS][LOOPS];
  CK_OK(make_star(&star));
  CK_OK(loop_works(&star, LOOPS, (double *[]){work[0], NULL, work[2]}));
  ck_assert_msg(work[0][LOOPS / 2] < 5e-4 && work[0][LOOPS - 1] < 5e-3,
                "%g in the median, %g at most", work[0][LOOPS / 2], work[0][LOOPS - 1]);
  ck_assert_msg(work[LOOP_UNIT][LOOPS / 2] > 2e-3, "gradients of length 1: %g",
                work[LOOP_UNIT][LOOPS / 2]);
  tl_avatar_free(&star);
}
END_TEST

/* ---- lists ---- */

/* Along a path on which they touch and part, with a list that is kept and with a look at every element. */
START_TEST(lists_find_what_looking_at_all_finds) {
  Scene s;
  open_scene(&s);
  size_t most = 0;
  for (int pass = 0; pass < 3; pass++) {
    int other = pass == 1 ? BOX : STAR;
    s.finer = pass == 2;
    TlNearPair *list = NULL;
    int64_t low = 0, high = 1;
    TlNear kept = {.pair_count = 1, .pair = &list, .low = &low, .high = &high}, none = {0};
    draw(&s, STAR, other, 3, 0.01 * SIZE);
    for (uint64_t i = 0; i < 60; i++) {
      TlPoint seen[400];
      bearing_move(&s.bodies.colliders, 1,
                   tl_scale(0.004 * SIZE * tl_random_normal(9, 1, i), tl_test_unit(6, i)),
                   tl_scale(0.01 * tl_random_normal(9, 2, i), tl_test_unit(8, i)));
      find(&s, TL_SEARCH_ALL, &none);
      size_t count = s.points.count;
      ck_assert_uint_le(count, 400);
      memcpy(seen, s.points.point, count * sizeof *seen);
      find(&s, TL_SEARCH_NEAR, &kept);
      ck_assert_uint_eq(s.points.count, count);
      for (size_t k = 0; k < count; k++) {
        const TlPoint *p = &s.points.point[k], *q = &seen[k];
        ck_assert(p->key == q->key && p->gap == q->gap && p->area_m2 == q->area_m2);
        ck_assert(tl_norm(tl_sub(p->p, q->p)) == 0 && tl_norm(tl_sub(p->n, q->n)) == 0);
        ck_assert(p->filled == q->filled && p->twist_m == q->twist_m);
      }
      most = count > most ? count : most;
    }
    tl_near_pair_free(list);
  }
  ck_assert_uint_gt(most, 3);
  close_scene(&s);
}
END_TEST

/* ---- walls ---- */

/* Rolled and hopped over a wall: by a list that is kept, by the tree and with a look at every element. */
static void judge_lists_at(Scene *s, const TlBoundary *boundary, size_t apart, int64_t lists) {
  TlNearWall *list = NULL;
  TlPoints *points = &s->points;
  size_t most = 0, none = 0;
  points->lists = 0;
  put(s, STAR, STAR, tl_vec3(5 * SIZE, 0, 0), 3);
  TlColliders *c = &s->bodies.colliders;
  c->position[0] = tl_vec3(0, 0, 0.8 * SIZE);
  for (uint64_t i = 0; i < 300; i++) {
    double sway = 0.06 * SIZE * sin(0.21 * (double)i) - (c->position[0].z - 0.8 * SIZE);
    bearing_move(c, 0, tl_vec3(0, 0, sway), tl_scale(0.004, tl_test_unit(8, i / 40)));
    TlMat3 turn = tl_quat_matrix(c->rotation[0]);
    points->count = 0;
    for (int how = 0; how < 3; how++)
      CK_OK(tl_tractions_at_wall(c, 0, &turn, boundary, 1e-3 * SIZE, how == 0,
                                 how == 1 ? &list : NULL, points));
    size_t n = points->count / 3;
    ck_assert_uint_eq(points->count, 3 * n);
    for (size_t k = 0; k < 2 * n; k++) {
      const TlPoint *p = &points->point[k], *q = &points->point[k + n];
      ck_assert(p->key == q->key && p->gap == q->gap && p->area_m2 == q->area_m2);
      ck_assert(tl_norm(tl_sub(p->p, q->p)) == 0 && p->filled == q->filled);
    }
    most = n > most ? n : most;
    none += n == 0;
  }
  ck_assert_uint_gt(most, 3);
  ck_assert_uint_ge(none, apart);         /* steps without a touch */
  ck_assert_int_lt(points->lists, lists); /* it was kept */
  tl_near_wall_free(list);
}

START_TEST(lists_at_walls_find_what_looking_at_all_finds) {
  TlBoundaryPlane plane = {.normal = {0, 0, 1}};
  TlBoundary boundary = {.kind = &tl_boundary_plane, .data = &plane};
  float height[N * N];
  Scene s;
  open_scene(&s);
  judge_lists_at(&s, &boundary, 20, 100);
  make_ground(&s, height, 0.5 * SIZE, 4); /* always in touch */
  boundary = ground_of(&s);
  judge_lists_at(&s, &boundary, 0, 100);
  close_scene(&s);
}
END_TEST

/* On a plane: each point of the surface below it bears. */
START_TEST(a_star_on_a_plane_bears_what_its_points_do) {
  static const TlSearchOptions surfaces = {
      .edges = TL_EDGES_PLACES, .surface = true, .elements = true};
  TlBoundaryPlane plane = {.normal = {0, 0, 1}};
  TlBoundary boundary = {.kind = &tl_boundary_plane, .data = &plane};
  Scene s;
  open_scene(&s);
  for (uint64_t i = 0; i < 8; i++) {
    put(&s, STAR, STAR, tl_vec3(5 * SIZE, 0, 0), i);
    TlVec3 p, *x = &s.bodies.colliders.position[0];
    double area, low = INFINITY, force = 0, energy = 0;
    for (int64_t k = 0; surface_point(&s, 0, k, &p, &area); k++) low = tl_min(low, p.z);
    x->z -= low + (i & 1 ? 0.003 : 0.03) * SIZE;
    for (int64_t k = 0; surface_point(&s, 0, k, &p, &area); k++) {
      if (p.z >= 0) continue;
      force -= BEARING_PA_M * area * p.z;
      energy += 0.5 * BEARING_PA_M * area * p.z * p.z;
    }
    for (int driven = 0; driven < 2; driven++) {
      TlSearchOptions how = surfaces;
      how.how = driven ? TL_SEARCH_TREE : TL_SEARCH_ALL;
      TlNear near = {0};
      s.points.count = 0;
      CK_OK(
          tl_scan_boundary(&how, &near, &s.bodies.colliders, 0, 0, &boundary, 1e-5, 0, &s.points));
      Bearing got = bearing_of(&s.points, *x);
      ck_assert_msg(fabs(got.force.z / force - 1) < 0.05, "%g of %g", got.force.z, force);
      ck_assert_msg(fabs(got.energy / energy - 1) < 0.1, "energy %g of %g", got.energy, energy);
      ck_assert(hypot(got.force.x, got.force.y) < 1e-9 * force);
    }
  }
  close_scene(&s);
}
END_TEST

TL_TEST_MAIN("tractions", elements_lie_on_the_surface_and_are_all_of_it,
             forces_are_those_of_many_points, forces_are_the_derivative_of_the_energy,
             on_ground_forces_are_the_derivative_of_the_energy,
             a_star_on_ground_bears_what_its_points_do, a_closed_loop_does_no_work,
             lists_find_what_looking_at_all_finds, lists_at_walls_find_what_looking_at_all_finds,
             a_star_on_a_plane_bears_what_its_points_do)
