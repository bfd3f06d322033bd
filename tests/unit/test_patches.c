/* What overlapping surfaces bear as surfaces (contact/patches.h, facet_surface.h) against oracles that
 * share no grid, spline or polygon with it: the exact surfaces cut by many lines, the faces of boxes
 * by many points, closed forms, and the derivative of the energy. */
#include "support/bearing.h"
#include "support/placed.h"
#include "support/tltest.h"

#include "base/par.h"
#include "base/random.h"
#include "contact/search.h"
#include "model/closed.h"
#include "shape/superellipsoid.h"

static const double SIZE = 0.01; /* m */
enum { ROUND = 1, SMOOTH, BOX, SHAPES, BALL };
static const TlVec3 half[SHAPES] = {{0, 0, 0}, {1, 0.85, 0.6}, {1, 0.8, 0.7}, {0.5, 0.5, 0.5}};
static const double power_e[SHAPES] = {0, 1, 0.6, 0}, power_n[SHAPES] = {0, 1, 0.8, 0};

typedef struct Scene {
  TlShapes shapes;
  TlAvatar avatar[SHAPES];
  TlBodies bodies;
  TlPoints points;
} Scene;

static void open_scene(Scene *s) {
  *s = (Scene){.shapes = {.places = true}};
  tl_par_set_threads(1);
  for (int id = ROUND; id <= SMOOTH; id++) {
    TlVec3 h = tl_scale(SIZE, half[id]);
    CK_OK(tl_avatar_superellipsoid(h.x, h.y, h.z, power_e[id], power_n[id], SIZE / 14, 250,
                                   &s->avatar[id]));
    CK_OK(tl_shapes_add(&s->shapes, id, &s->avatar[id]));
  }
  CK_OK(tl_shapes_add_closed(&s->shapes, BOX, &tl_closed_box, (double[]){SIZE, SIZE, SIZE}));
}

static void close_scene(Scene *s) {
  tl_points_free(&s->points);
  tl_bodies_free(&s->bodies);
  tl_shapes_free(&s->shapes);
  for (int id = 1; id < SHAPES; id++) tl_avatar_free(&s->avatar[id]);
}

/* ---- what the library finds ---- */

/* a and b where they are; about `middle`. */
static Bearing bearing(void *scene, TlVec3 middle) {
  Scene *s = scene;
  static const TlSearchOptions surfaces = {.edges = TL_EDGES_PLACES, .surface = true};
  TlMargin margin = {.size = 0.6 * SIZE, .travel = 1e-5};
  TlNear near = {0};
  s->points.count = 0;
  CK_OK(tl_scan_pair(&surfaces, &near, NULL, &s->bodies.colliders, 0, 1, &margin, &s->points));
  return bearing_of(&s->points, middle);
}

/* The first body, above the plane z = 0. */
static void scan_plane(Scene *s, TlSearch how) {
  const TlSearchOptions surfaces = {.edges = TL_EDGES_PLACES, .surface = true, .how = how};
  TlBoundaryPlane plane = {.normal = {0, 0, 1}};
  TlBoundary boundary = {.kind = &tl_boundary_plane, .data = &plane};
  TlNear near = {0};
  s->points.count = 0;
  CK_OK(tl_scan_boundary(&surfaces, &near, &s->bodies.colliders, 0, 0, &boundary, 1e-5, 0,
                         &s->points));
}

static void put(Scene *s, int a, int b, TlVec3 shift, TlQuat turn_a, TlQuat turn_b) {
  tl_bodies_clear(&s->bodies);
  tl_test_place(&s->bodies, &s->shapes,
                (TlGrainState){.id = 0, .avatar_id = a, .scale = 1, .rotation = turn_a}, 0);
  tl_test_place(
      &s->bodies, &s->shapes,
      (TlGrainState){.id = 1, .avatar_id = b, .scale = 1, .position = shift, .rotation = turn_b},
      0);
}

/* A random pair, led along the line of its centres until it overlaps by about `deep`. */
static void draw(Scene *s, int a, int b, uint64_t i, double deep) {
  TlVec3 along = tl_test_unit(1, i);
  double low = 0, high = 3 * SIZE;
  for (int k = 0; k < 40; k++) {
    double far = 0.5 * (low + high);
    put(s, a, b, tl_scale(far, along), tl_test_turn(2, i), tl_test_turn(3, i));
    if (bearing(s, along).points > 0)
      low = far;
    else
      high = far;
  }
  put(s, a, b, tl_scale(low - deep, along), tl_test_turn(2, i), tl_test_turn(3, i));
}

/* ---- smooth grains: lines through the exact surfaces ---- */

/* < 0 inside. */
static double formula(int id, const TlAvatar *avatar, TlVec3 x, TlQuat turn, TlVec3 p) {
  TlVec3 q = tl_quat_rotate(tl_quat_conj(turn), tl_sub(p, x));
  q = tl_scale(1 / SIZE, tl_quat_rotate(avatar->scan_rotation, q));
  double e = power_e[id], n = power_n[id];
  double across = pow(fabs(q.x / half[id].x), 2 / e) + pow(fabs(q.y / half[id].y), 2 / e);
  return pow(across, e / n) + pow(fabs(q.z / half[id].z), 2 / n) - 1;
}

/* Where along p + t n the grain's surface is, t within the reach; NAN: not there. */
static double crossing(const Scene *s, int which, int id, TlVec3 p, TlVec3 n, double reach) {
  const TlColliders *c = &s->bodies.colliders;
  double low = -reach, high = reach;
#define AT(t) formula(id, &s->avatar[id], c->position[which], c->rotation[which], tl_axpy(p, t, n))
  bool below = AT(low) < 0;
  if (below == (AT(high) < 0)) return NAN;
  for (int k = 0; k < 30; k++) {
    double t = 0.5 * (low + high);
    if ((AT(t) < 0) == below)
      low = t;
    else
      high = t;
  }
#undef AT
  return 0.5 * (low + high);
}

/* Force and energy from the thickness of the overlap along n, on lines over a square about p. */
static void cut_by_lines(const Scene *s, int a, int b, TlVec3 p, TlVec3 n, double *force,
                         double *energy) {
  enum { LINES = 60 };
  double width = 0.6 * SIZE, area = (width / LINES) * (width / LINES);
  TlVec3 u = tl_unit(tl_cross(n, fabs(n.x) < 0.6 ? tl_vec3(1, 0, 0) : tl_vec3(0, 1, 0))),
         v = tl_cross(n, u);
  *force = *energy = 0;
  for (int i = 0; i < LINES; i++)
    for (int j = 0; j < LINES; j++) {
      TlVec3 x = tl_axpy(tl_axpy(p, width * ((i + 0.5) / LINES - 0.5), u),
                         width * ((j + 0.5) / LINES - 0.5), v);
      double of_a = crossing(s, 0, a, x, n, 0.1 * SIZE), of_b = crossing(s, 1, b, x, n, 0.1 * SIZE);
      double thick = of_b - of_a;
      if (!(thick > 0)) continue;
      *force += BEARING_PA_M * area * thick;
      *energy += 0.5 * BEARING_PA_M * area * thick * thick;
    }
}

/* The force of one patch is that of the exact surfaces: within 12%, in the mean within 4%. Deeper
 * than a few percent the parabola is not the surface. */
START_TEST(a_patch_bears_what_the_exact_surfaces_do) {
  enum { PAIRS = 40 };
  Scene s;
  double mean = 0, worst = 0;
  open_scene(&s);
  for (int i = 0; i < PAIRS; i++) {
    int a = i & 1 ? SMOOTH : ROUND, b = i & 2 ? SMOOTH : ROUND;
    draw(&s, a, b, (uint64_t)i, (i % 5 ? 0.005 : 0.02) * SIZE);
    Bearing l = bearing(&s, tl_vec3(0, 0, 0));
    ck_assert_uint_eq(l.points, 1);
    double force, energy;
    cut_by_lines(&s, a, b, s.points.point[0].p, s.points.point[0].n, &force, &energy);
    double off = tl_norm(l.force) / force - 1;
    mean += fabs(off) / PAIRS;
    worst = tl_max(worst, tl_max(fabs(off), fabs(l.energy / energy - 1)));
  }
  ck_assert_msg(mean < 0.04 && worst < 0.15, "off by %g in the mean, %g at most", mean, worst);
  close_scene(&s);
}
END_TEST

/* Of the mean radius of curvature R a ball's cap on a plane bears k pi R d^2; an ellipsoid on its
 * flat side has R = a b/c there. */
START_TEST(an_ellipsoid_on_a_plane_bears_the_closed_form) {
  Scene s;
  open_scene(&s);
  TlQuat turn = s.avatar[ROUND].scan_rotation;
  for (double d = 5e-4; d < 0.02; d *= 5) {
    put(&s, ROUND, ROUND, tl_vec3(1, 0, 0), turn, turn);
    s.bodies.colliders.position[0] = tl_vec3(0, 0, (0.6 - d) * SIZE);
    scan_plane(&s, TL_SEARCH_ALL);
    ck_assert_uint_eq(s.points.count, 1);
    Bearing l = bearing_of(&s.points, tl_vec3(0, 0, 0));
    double want = BEARING_PA_M * M_PI * (0.85 / 0.6) * d * d * SIZE * SIZE * SIZE;
    ck_assert_msg(fabs(l.force.z / want - 1) < 0.05, "%g of %g at %g", l.force.z, want, d);
    ck_assert_msg(fabs(l.energy / (want * d * SIZE / 3) - 1) < 0.06, "energy %g", l.energy);
  }
  close_scene(&s);
}
END_TEST

/* ---- polyhedra: many points on the faces ---- */

/* Depth of a point within the box `which`; *n: outward normal of its nearest face. < 0: outside. */
static double within_box(const Scene *s, int which, TlVec3 p, TlVec3 *n) {
  const TlColliders *c = &s->bodies.colliders;
  TlVec3 q = tl_quat_rotate(tl_quat_conj(c->rotation[which]), tl_sub(p, c->position[which]));
  const double x[3] = {q.x, q.y, q.z};
  double least = INFINITY;
  int at = 0;
  for (int k = 0; k < 3; k++) {
    double depth = 0.5 * SIZE - fabs(x[k]);
    if (depth < least) least = depth, at = k;
  }
  double sign = x[at] > 0 ? 1 : -1;
  *n = tl_quat_rotate(c->rotation[which],
                      tl_vec3(at == 0 ? sign : 0, at == 1 ? sign : 0, at == 2 ? sign : 0));
  return least;
}

static Bearing by_points(const Scene *s, TlVec3 middle) {
  enum { ACROSS = 240 };
  const TlColliders *c = &s->bodies.colliders;
  Bearing l = {.middle = middle};
  double cell = SIZE / ACROSS, k = 0.5 * BEARING_PA_M * cell * cell;
  for (int which = 0; which < 2; which++)
    for (int face = 0; face < 6; face++)
      for (int i = 0; i < ACROSS * ACROSS; i++) {
        double x[3], u = (i % ACROSS + 0.5) * cell - 0.5 * SIZE,
                     v = (i / ACROSS + 0.5) * cell - 0.5 * SIZE;
        x[face / 2] = face & 1 ? 0.5 * SIZE : -0.5 * SIZE;
        x[(face / 2 + 1) % 3] = u;
        x[(face / 2 + 2) % 3] = v;
        TlVec3 n, p = tl_add(c->position[which],
                             tl_quat_rotate(c->rotation[which], tl_vec3(x[0], x[1], x[2])));
        double depth = within_box(s, 1 - which, p, &n);
        if (!(depth > 0)) continue;
        TlVec3 f = tl_scale(which ? -k * depth : k * depth, n);
        l.force = tl_add(l.force, f);
        l.torque = tl_add(l.torque, tl_cross(tl_sub(p, middle), f));
        l.energy += 0.5 * k * depth * depth;
      }
  return l;
}

START_TEST(boxes_bear_what_many_points_of_their_faces_do) {
  Scene s;
  open_scene(&s);
  for (int i = 0; i < 20; i++) {
    draw(&s, BOX, BOX, (uint64_t)i, 0.25 * SIZE);
    TlVec3 middle = tl_scale(0.5, s.bodies.colliders.position[1]);
    Bearing want = by_points(&s, middle), got = bearing(&s, middle);
    double size = tl_norm(want.force);
    ck_assert_msg(tl_norm(tl_sub(got.force, want.force)) < 0.01 * size,
                  "pair %d: force off by %g of %g", i, tl_norm(tl_sub(got.force, want.force)),
                  size);
    ck_assert_msg(tl_norm(tl_sub(got.torque, want.torque)) < 0.005 * size * SIZE,
                  "pair %d: torque off by %g", i, tl_norm(tl_sub(got.torque, want.torque)));
    ck_assert_msg(fabs(got.energy / want.energy - 1) < 0.01, "pair %d: energy %g of %g", i,
                  got.energy, want.energy);
  }
  close_scene(&s);
}
END_TEST

/* A face on a face bears k A d, and the four sides that dip in with it k L d^2/2 each, half a side of
 * the two. A cube on its corner in a plane: its three faces below, k d^3 sqrt(3) (closed form). */
START_TEST(a_cube_on_a_plane_bears_the_closed_forms) {
  Scene s;
  open_scene(&s);
  TlVec3 diagonal = tl_unit(tl_vec3(1, 1, 1)), axis = tl_unit(tl_cross(diagonal, tl_vec3(0, 0, 1)));
  TlQuat flat = {1, 0, 0, 0}, tip = tl_quat_from_rotation(tl_scale(acos(diagonal.z), axis));
  double d = 0.02 * SIZE;
  for (int on_tip = 0; on_tip < 2; on_tip++) {
    put(&s, BOX, BOX, tl_vec3(1, 0, 0), on_tip ? tip : flat, flat);
    double high = on_tip ? 0.5 * sqrt(3) * SIZE : 0.5 * SIZE;
    s.bodies.colliders.position[0] = tl_vec3(0, 0, high - d);
    scan_plane(&s, TL_SEARCH_NEAR);
    Bearing l = bearing_of(&s.points, s.bodies.colliders.position[0]);
    /* on the tip: legs sqrt(3) d, three triangles of area 3 d^2/2 with a mean depth of d/3 */
    double want = on_tip ? BEARING_PA_M * 1.5 * d * d * d
                         : BEARING_PA_M * (SIZE * SIZE * d + 2 * SIZE * d * d);
    ck_assert_msg(fabs(l.force.z / want - 1) < 1e-9, "%g of %g", l.force.z, want);
    ck_assert(tl_norm(l.torque) < 1e-9 * want * SIZE);
  }
  close_scene(&s);
}
END_TEST

/* How hard friction all over a face holds it against a turn follows from the mean distance of its load from the
 * middle, and against a slide while it turns nearly from the mean square. Of a square of side a these are
 * a (sqrt(2) + asinh(1))/6 and a^2/6 (closed forms), and the points that stand for a face have both. */
START_TEST(points_of_a_face_lie_as_far_out_as_the_face) {
  Scene s;
  open_scene(&s);
  TlQuat flat = {1, 0, 0, 0};
  double d = 0.02 * SIZE, load = 0, mean = 0, square = 0;
  put(&s, BOX, BOX, tl_vec3(1, 0, 0), flat, flat);
  s.bodies.colliders.position[0] = tl_vec3(0, 0, 0.5 * SIZE - d);
  scan_plane(&s, TL_SEARCH_NEAR);
  for (size_t i = 0; i < s.points.count; i++) {
    const TlPoint *p = &s.points.point[i];
    if (p->p.z > -0.99 * d) continue; /* of a side that dips in */
    double bears = p->area_m2 * p->filled * -p->gap, far = hypot(p->p.x, p->p.y);
    load += bears;
    mean += bears * far;
    square += bears * far * far;
  }
  CK_NEAR(load / (SIZE * SIZE * d), 1, 1e-9);
  CK_NEAR(mean / load / SIZE, (sqrt(2) + asinh(1)) / 6, 1e-3); /* by three points of Gauss a side */
  CK_NEAR(square / load / (SIZE * SIZE), 1.0 / 6, 1e-9);
  close_scene(&s);
}
END_TEST

/* ---- force and torque are the derivative of the energy ---- */

static double derivative_error(Scene *s, double step) {
  return bearing_derivative_error(bearing, s, &s->bodies.colliders, SIZE, step);
}

START_TEST(forces_are_the_derivative_of_the_energy) {
  Scene s;
  double smooth = 0;
  open_scene(&s);
  for (int i = 0; i < 24; i++) {
    draw(&s, BOX, BOX, (uint64_t)i, 0.05 * SIZE);
    double off = derivative_error(&s, 1e-5 * SIZE);
    ck_assert_msg(off < 1e-3, "boxes, pair %d: off by %g", i, off);
    draw(&s, SMOOTH, i & 1 ? SMOOTH : ROUND, (uint64_t)i, 0.01 * SIZE);
    off = derivative_error(&s, 1e-3 * SIZE);
    smooth = tl_max(smooth, off);
  }
  ck_assert_msg(smooth < 5e-3, "smooth grains: off by %g", smooth);
  close_scene(&s);
}
END_TEST

/* A sphere in closed form has no surface of its own here: it bears at its points, whichever way contacts
 * are sought. On an ellipsoid and on a box, 2% of its radius deep at the end of an axis. */
START_TEST(a_sphere_bears_at_its_own_point) {
  const TlSearchOptions ways[] = {{.edges = TL_EDGES_PLACES, .surface = true},
                                  {.edges = TL_EDGES_PLACES},
                                  {.edges = TL_EDGES_NODES}};
  const double radius = 0.3 * SIZE, deep = 0.02 * radius;
  const TlQuat upright = {1, 0, 0, 0};
  TlMargin margin = {.size = radius, .travel = 1e-5};
  Scene s;
  open_scene(&s);
  CK_OK(tl_shapes_add_closed(&s.shapes, BALL, &tl_closed_sphere, &radius));
  for (int other = ROUND; other <= BOX; other++)
    for (int first = 0; first < 2; first++)
      for (size_t way = 0; way < sizeof ways / sizeof *ways; way++) {
        double far = SIZE * half[other].x + radius - deep;
        TlVec3 along = other == BOX ? tl_vec3(1, 0, 0) /* an avatar has axes of its own */
                                    : tl_quat_rotate(tl_quat_conj(s.avatar[other].scan_rotation),
                                                     tl_vec3(1, 0, 0));
        TlVec3 shift = tl_scale(first ? -far : far, along);
        TlNear near = {0};
        if (first)
          put(&s, BALL, other, shift, upright, upright);
        else
          put(&s, other, BALL, shift, upright, upright);
        s.points.count = 0;
        CK_OK(tl_scan_pair(&ways[way], &near, NULL, &s.bodies.colliders, 0, 1, &margin, &s.points));
        ck_assert_uint_eq(s.points.count, 1);
        CK_NEAR(s.points.point[0].gap, -deep, 0.03 * SIZE / 14);                /* of a cell */
        CK_NEAR(tl_norm(tl_add(s.points.point[0].n, tl_unit(shift))), 0, 0.05); /* from b to a */
      }
  close_scene(&s);
}
END_TEST

TL_TEST_MAIN("patches", a_patch_bears_what_the_exact_surfaces_do,
             an_ellipsoid_on_a_plane_bears_the_closed_form,
             boxes_bear_what_many_points_of_their_faces_do,
             a_cube_on_a_plane_bears_the_closed_forms, points_of_a_face_lie_as_far_out_as_the_face,
             forces_are_the_derivative_of_the_energy, a_sphere_bears_at_its_own_point)
