/* Grains at walls that are boxes, cylinders and pipes. Polyhedra, against separating axes and against many points of
 * their surface: edges that cross an edge of the wall, or lie on its round, are seen. Balls on a grid, whose depth is
 * their radius less the exact distance of the centre: edges, corners and rims are seen, and posts thinner than they. */
#include "support/placed.h"
#include "support/tltest.h"

#include "base/par.h"
#include "contact/ball_facets.h"
#include "contact/search.h"
#include "contact/wall_facets.h"
#include "post/overlap_convex.h"
#include "shape/superellipsoid.h"

enum { BOX = 1, CROSS, BALL, POSES = 300 };
static const double SIDE[3] = {0.01, 0.008, 0.006}, ARM[2] = {0.016, 0.005},
                    WALL[3] = {0.03, 0.02, 0.05}, RADIUS = 0.01;

typedef struct Scene {
  TlShapes shapes;
  TlBodies bodies;
  TlPoints points;
  TlBoundarySolid solid;
  TlDrive drive;
  TlBoundary wall;
  TlAvatar ball; /* on a grid; of no size until add_ball */
} Scene;

static void open_scene(Scene *s, const TlClosedKind *kind, const double *size) {
  *s = (Scene){.shapes = {.places = true}, .solid = {.kind = kind, .centre = {0.1, -0.2, 0.3}}};
  tl_par_set_threads(1);
  CK_OK(tl_shapes_add_closed(&s->shapes, BOX, &tl_closed_box, SIDE));
  CK_OK(tl_shapes_add_closed(&s->shapes, CROSS, &tl_closed_cross, ARM));
  for (int k = 0; k < TL_CLOSED_SIZES; k++) s->solid.size[k] = size[k];
  s->solid.turn = tl_quat_matrix(tl_test_turn(3, 1));
  s->wall = (TlBoundary){.kind = &tl_boundary_solid, .data = &s->solid};
}

static void close_scene(Scene *s) {
  tl_points_free(&s->points);
  tl_bodies_free(&s->bodies);
  tl_shapes_free(&s->shapes);
  tl_avatar_free(&s->ball);
}

/* A wall that has turned by a radian about a pivot and gone on, for the wall at rest that stands there. */
static void drive(Scene *s) {
  s->drive = (TlDrive){
      .pivot_m = {0.05, 0, 0.1}, .spin_rad_s = {1, 0.5, -2}, .velocity_m_s = {0.3, -0.1, 0.2}};
  s->wall.drive = &s->drive;
  s->wall.place = tl_drive_place(&s->drive, 500, 500, 1e-3);
}

static void put(Scene *s, int shape, TlVec3 x, TlQuat q) {
  s->bodies.total = s->bodies.owned = 0;
  s->bodies.colliders.total = s->bodies.colliders.owned = 0;
  tl_test_place(
      &s->bodies, &s->shapes,
      (TlGrainState){.id = 0, .avatar_id = shape, .scale = 1, .position = x, .rotation = q}, 1e-3);
  tl_bodies_place_colliders(&s->bodies);
}

/* Least gap below the margin; INFINITY: none. */
static double gap_of(Scene *s, TlEdges edges, double margin, TlPoint *deepest) {
  TlSearchOptions how = {.edges = edges, .sides = TL_SIDES_BOTH, .how = TL_SEARCH_TREE};
  TlNear near = {0};
  double least = INFINITY;
  s->points.count = 0;
  CK_OK(tl_scan_boundary(&how, &near, &s->bodies.colliders, 0, 0, &s->wall, 0, margin, &s->points));
  for (size_t k = 0; k < s->points.count; k++) {
    if (!(s->points.point[k].gap < least)) continue;
    least = s->points.point[k].gap;
    *deepest = s->points.point[k];
  }
  return least;
}

/* Of the wall's frame, as it stands. */
static TlVec3 in_world(const Scene *s, TlVec3 x) {
  x = tl_add(s->solid.centre, tl_mat_vec(s->solid.turn, x));
  return s->wall.drive ? tl_placed(&s->wall.place, x) : x;
}

static double depth_in_box(const Scene *s, TlVec3 x, TlQuat q) {
  TlConvex a = tl_convex_box(tl_vec3(0.5 * SIDE[0], 0.5 * SIDE[1], 0.5 * SIDE[2])),
           b = tl_convex_box(tl_vec3(0.5 * WALL[0], 0.5 * WALL[1], 0.5 * WALL[2]));
  TlMat3 turn = s->wall.drive ? tl_mat_mul(s->wall.place.turn, s->solid.turn) : s->solid.turn;
  TlVec3 n, point;
  a = tl_convex_placed(&a, 1, tl_quat_matrix(q), x);
  b = tl_convex_placed(&b, 1, turn, in_world(s, tl_vec3(0, 0, 0)));
  return tl_convex_depth(&a, &b, &n, &point);
}

/* From a point of an edge of the wall, that is 0.1 to 3% of the radius into it. */
static TlVec3 at_an_edge(const Scene *s, TlQuat q, uint64_t i) {
  double along = tl_random_uniform(5, 0, i) - 0.5, a = 0.5 * M_PI * tl_random_uniform(5, 1, i);
  TlVec3 edge = tl_vec3(0.5 * WALL[0], 0.5 * WALL[1], along * WALL[2]), out = {cos(a), sin(a), 0};
  double low = 0, high = 0.02, depth = 1e-4 + 2e-4 * tl_random_uniform(5, 2, i);
  for (int k = 0; k < 50; k++) {
    double middle = 0.5 * (low + high);
    bool deep = depth_in_box(s, in_world(s, tl_axpy(edge, middle, out)), q) > depth;
    *(deep ? &low : &high) = middle;
  }
  return in_world(s, tl_axpy(edge, low, out));
}

START_TEST(a_box_at_the_edge_of_a_box_has_the_depth_of_their_separating_axes) {
  Scene s;
  open_scene(&s, &tl_closed_box, WALL);
  for (int moved = 0; moved < 2; moved++) {
    int unseen = 0;
    if (moved) drive(&s);
    for (uint64_t i = 0; i < POSES; i++) {
      TlQuat q = tl_test_turn(4, i);
      TlVec3 x = at_an_edge(&s, q, i);
      TlPoint found;
      double depth = depth_in_box(&s, x, q);
      put(&s, BOX, x, q);
      double nodes = gap_of(&s, TL_EDGES_NODES, 1e-3, &found);
      unseen += -nodes < 0.5 * depth;
      double gap = gap_of(&s, TL_EDGES_PLACES, 1e-3, &found);
      ck_assert_msg(fabs(-gap - depth) < 1e-6 * SIDE[0], "pose %d: %g of %g", (int)i, -gap, depth);
      /* moved out along its normal it is free */
      ck_assert_double_eq(depth_in_box(&s, tl_axpy(x, depth + 1e-9, found.n), q), 0);
    }
    ck_assert_int_gt(unseen, POSES / 5);
  }
  close_scene(&s);
}
END_TEST

/* Over the middle of a face nodes see all, and tell it. */
START_TEST(over_a_face_nodes_are_asked) {
  Scene s;
  open_scene(&s, &tl_closed_box, WALL);
  put(&s, BOX, in_world(&s, tl_vec3(0.5 * WALL[0] + 0.004, 0, 0)), tl_test_turn(4, 1));
  ck_assert_int_eq(tl_wall_facets_of(&s.bodies.colliders, 0, &s.wall, 0), TL_WALL_FACETS_NONE);
  put(&s, BOX, in_world(&s, tl_vec3(0.5 * WALL[0] + 0.004, 0.5 * WALL[1], 0)), tl_test_turn(4, 1));
  ck_assert_int_eq(tl_wall_facets_of(&s.bodies.colliders, 0, &s.wall, 0), TL_WALL_FACETS_INSTEAD);
  close_scene(&s);
}
END_TEST

/* ---- a cylinder ---- */

/* Least phi over points of the surface of a box of these sides, shifted by `off` in the body's frame. */
static double least_on_box(const Scene *s, const double side[3], TlVec3 x, TlQuat q) {
  enum { FINE = 400 };
  double least = INFINITY, phi;
  TlVec3 n;
  for (int face = 0; face < 6; face++)
    for (int i = 0; i <= FINE; i++)
      for (int j = 0; j <= FINE;
           j += i == 0 || i == FINE ? 1 : FINE) { /* edges alone hold the least */
        double at[3], u = (double)i / FINE - 0.5, v = (double)j / FINE - 0.5;
        at[face / 2] = face % 2 ? 0.5 : -0.5;
        at[(face / 2 + 1) % 3] = u;
        at[(face / 2 + 2) % 3] = v;
        TlVec3 p = {at[0] * side[0], at[1] * side[1], at[2] * side[2]};
        if (tl_boundary_phi(&s->wall, tl_add(x, tl_quat_rotate(q, p)), &phi, &n))
          least = tl_min(least, phi);
      }
  return least;
}

static double least_on(const Scene *s, int shape, TlVec3 x, TlQuat q) {
  double least = shape == BOX ? least_on_box(s, SIDE, x, q) : INFINITY;
  for (int k = 0; shape == CROSS && k < 3; k++) {
    double bar[3] = {ARM[1], ARM[1], ARM[1]};
    bar[k] = ARM[0];
    least = tl_min(least, least_on_box(s, bar, x, q));
  }
  return least;
}

START_TEST(edges_on_a_cylinder_are_as_deep_as_the_deepest_of_their_points) {
  static const double size[TL_CLOSED_SIZES] = {0.006, 0.08};
  Scene s;
  open_scene(&s, &tl_closed_cylinder, size);
  for (int shape = BOX; shape <= CROSS; shape++) {
    int unseen = 0;
    for (uint64_t i = 0; i < POSES / 3; i++) {
      double a = 2 * M_PI * tl_random_uniform(6, 0, i);
      TlQuat q = tl_test_turn(7, i);
      TlVec3 out = tl_vec3(cos(a), sin(a), 0),
             from = tl_vec3(0, 0, 0.02 * tl_random_uniform(6, 1, i));
      double low = 0.006, high = 0.03, wanted = -1e-4 * (0.2 + tl_random_uniform(6, 2, i));
      for (int k = 0; k < 30; k++) {
        double middle = 0.5 * (low + high);
        bool deep = least_on(&s, shape, in_world(&s, tl_axpy(from, middle, out)), q) < wanted;
        *(deep ? &low : &high) = middle;
      }
      TlVec3 x = in_world(&s, tl_axpy(from, high, out));
      TlPoint found;
      double truth = least_on(&s, shape, x, q);
      put(&s, shape, x, q);
      unseen += gap_of(&s, TL_EDGES_NODES, 1e-3, &found) > 0.9 * truth;
      double gap = gap_of(&s, TL_EDGES_PLACES, 1e-3, &found);
      /* between two points of the oracle an edge may come lower by what its round rises there */
      ck_assert_msg(gap < truth + 1e-12 && gap > truth - 2e-7, "shape %d, pose %d: %g of %g", shape,
                    (int)i, gap, truth);
    }
    ck_assert_int_gt(unseen, POSES / 30);
  }
  close_scene(&s);
}
END_TEST

/* ---- rims ---- */

/* Least of the box's distance on rims of these radii, not far from an angle, and of the wall's at the box's corners. */
static double least_on_rims(const Scene *s, const double *radius, int rims, double half,
                            double around, TlVec3 x, TlQuat q) {
  enum { POINTS = 2000 };
  TlFacets box = tl_facets_of_box(SIDE[0], SIDE[1], SIDE[2]);
  double least = INFINITY, phi;
  TlVec3 nearest, n;
  for (int r = 0; r < rims; r++)
    for (int k = 0; k < POINTS; k++) {
      double arc = tl_min(2 * M_PI, 0.03 / radius[r]), a = around + arc * (k - POINTS / 2) / POINTS;
      TlVec3 p = in_world(s, tl_vec3(radius[r] * cos(a), radius[r] * sin(a), half));
      TlVec3 own = tl_quat_rotate(tl_quat_conj(q), tl_sub(p, x));
      least = tl_min(least, tl_facets_nearest(&box, own, &nearest, &n));
    }
  for (int k = 0; k < 8; k++) {
    TlVec3 p = {(k & 1 ? 0.5 : -0.5) * SIDE[0], (k & 2 ? 0.5 : -0.5) * SIDE[1],
                (k & 4 ? 0.5 : -0.5) * SIDE[2]};
    if (tl_boundary_phi(&s->wall, tl_add(x, tl_quat_rotate(q, p)), &phi, &n))
      least = tl_min(least, phi);
  }
  return least;
}

/* The wall's least distance on points of the box's edges. */
static double least_on_edges(const Scene *s, TlVec3 x, TlQuat q) {
  enum { POINTS = 100 };
  TlFacets box = tl_facets_of_box(SIDE[0], SIDE[1], SIDE[2]);
  double least = INFINITY, phi;
  TlVec3 n;
  for (int e = 0; e < box.edge_count; e++)
    for (int k = 0; k <= POINTS; k++) {
      TlVec3 from = box.corner[box.edge[e].corner[0]], to = box.corner[box.edge[e].corner[1]];
      TlVec3 p = tl_axpy(from, (double)k / POINTS, tl_sub(to, from));
      if (tl_boundary_phi(&s->wall, tl_add(x, tl_quat_rotate(q, p)), &phi, &n))
        least = tl_min(least, phi);
    }
  return least;
}

/* Boxes that lie on rims, flat, leaning, or as they come. Of the depth of the rims' points and their own corners what
 * is told falls short by over 0.3% of the box's half diagonal in `missed` of the poses at most; edges that cross a rim
 * lie deeper than either says, by a half at most. */
static void check_boxes(Scene *s, const double *radius, int rims, double length, double missed) {
  const double size = 0.5 * sqrt(SIDE[0] * SIDE[0] + SIDE[1] * SIDE[1] + SIDE[2] * SIDE[2]),
               lean[3] = {0.01, 0.3, 6};
  int under = 0;
  for (uint64_t i = 0; i < POSES / 2; i++) {
    double u[6], depth = 1e-3 + 0.029 * tl_random_uniform(13, 6, i);
    for (uint64_t k = 0; k < 6; k++) u[k] = tl_random_uniform(13, k, i) - 0.5;
    TlQuat q = tl_quat_mul(tl_quat_from_rotation(tl_scale(lean[i % 3], tl_vec3(u[0], u[1], 0))),
                           tl_quat_from_rotation(tl_vec3(0, 0, 6 * u[2])));
    double off = rims > 1 ? 0.5 * (radius[0] + radius[1]) : 0.4 * size * u[3], a = 2 * M_PI * u[4],
           low = 0.5 * length - size, high = 0.5 * length + 2 * size, truth = 0;
    TlQuat turn = tl_quat_unit(tl_quat_mul(tl_test_turn(3, 1), q));
    TlVec3 x = {0, 0, 0};
    for (int k = 0; k < 25; k++) {
      double middle = 0.5 * (low + high);
      x = in_world(s, tl_vec3(off * cos(a), off * sin(a), middle));
      truth = least_on_rims(s, radius, rims, 0.5 * length, a, x, turn);
      *(truth < -depth * size ? &low : &high) = middle;
    }
    TlPoint found = {.gap = INFINITY};
    put(s, BOX, x, turn);
    double gap = gap_of(s, TL_EDGES_PLACES, 1e-3 * size, &found);
    under += !(gap < truth + 3e-3 * size);
    ck_assert_double_gt(gap, 1.5 * tl_min(truth, least_on_edges(s, x, turn)) - 1e-3 * size);
  }
  ck_assert_int_le(under, (int)(missed * POSES / 2));
}

START_TEST(a_box_on_rims_of_posts_and_pipes_is_as_deep_as_they_lie_in_it) {
  static const double radius[] = {0.007, 0.002, 0.0007};
  Scene s;
  for (int k = 0; k < 3; k++) {
    open_scene(&s, &tl_closed_cylinder, (double[TL_CLOSED_SIZES]){radius[k], 0.06});
    check_boxes(&s, &radius[k], 1, 0.06, 0.01);
    close_scene(&s);
  }
  const double pipe[2] = {0.021, 0.0225};
  open_scene(&s, &tl_closed_cylinder, (double[TL_CLOSED_SIZES]){0.01, 0.01});
  const TlBoundaryRing ring = {s.solid.centre, tl_mat_vec(s.solid.turn, tl_vec3(0, 0, 1)), pipe[0],
                               0.06, pipe[1] - pipe[0]};
  s.wall = (TlBoundary){.kind = &tl_boundary_ring, .data = &ring};
  check_boxes(&s, pipe, 2, 0.06, 0.1);
  close_scene(&s);
}
END_TEST

/* ---- balls on a grid ---- */

/* A point of the wall in its own frame, and a direction out of it there. */
typedef struct Spot {
  TlVec3 on, out;
} Spot;

typedef Spot SpotOf(const double *size, double u, double v);

static Spot box_edge(const double *size, double u, double v) {
  return (Spot){tl_vec3(0.5 * size[0], 0.5 * size[1], (v - 0.5) * size[2]),
                tl_vec3(cos(0.5 * M_PI * u), sin(0.5 * M_PI * u), 0)};
}

static Spot box_corner(const double *size, double u, double v) {
  return (Spot){tl_vec3(0.5 * size[0], 0.5 * size[1], 0.5 * size[2]),
                tl_unit(tl_vec3(u, v, 1 - 0.5 * (u + v)))};
}

static Spot post(const double *size, double u, double v) {
  TlVec3 out = tl_vec3(cos(2 * M_PI * u), sin(2 * M_PI * u), 0);
  return (Spot){tl_axpy(tl_vec3(0, 0, (v - 0.5) * size[1]), size[0], out), out};
}

static Spot rim(const double *size, double u, double v) {
  Spot s = post(size, u, v);
  s.on.z = 0.5 * size[1];
  s.out = tl_axpy(tl_scale(sin(0.5 * M_PI * v), s.out), cos(0.5 * M_PI * v), tl_vec3(0, 0, 1));
  return s;
}

/* Of a pipe: inner radius, length, thickness. */
static Spot inner_rim(const double *size, double u, double v) {
  Spot s = rim(size, u, v);
  s.out = tl_vec3(-s.out.x, -s.out.y, s.out.z);
  return s;
}

static Spot outer_rim(const double *size, double u, double v) {
  const double outside[2] = {size[0] + size[2], size[1]};
  return rim(outside, u, v);
}

/* As deep as its centre says, 0.1 to 3% of the radius. Unseen: the fraction that nodes miss at least. */
static void check_balls(Scene *s, const double *size, SpotOf *spot_of, double unseen) {
  int missed = 0;
  for (uint64_t i = 0; i < POSES; i++) {
    Spot spot = spot_of(size, tl_random_uniform(8, 0, i), tl_random_uniform(8, 1, i));
    double phi, depth = RADIUS * (1e-3 + 0.029 * tl_random_uniform(8, 2, i));
    TlVec3 n, x = in_world(s, tl_axpy(spot.on, RADIUS - depth, spot.out));
    TlPoint found = {.gap = INFINITY};
    ck_assert(tl_boundary_phi(&s->wall, x, &phi, &n));
    put(s, BALL, x, tl_test_turn(9, i));
    missed += !(gap_of(s, TL_EDGES_NODES, 1e-3 * RADIUS, &found) < 0);
    double gap = gap_of(s, TL_EDGES_PLACES, 1e-3 * RADIUS, &found);
    ck_assert_msg(fabs(gap - (phi - RADIUS)) < 5e-4 * RADIUS, "pose %d: %g of %g", (int)i, -gap,
                  RADIUS - phi);
    ck_assert_double_gt(tl_dot(found.n, n), 0.998);
  }
  ck_assert_int_ge(missed, (int)(unseen * POSES));
}

static void add_ball(Scene *s) {
  CK_OK(tl_avatar_superellipsoid(RADIUS, RADIUS, RADIUS, 1, 1, RADIUS / 14, 300, &s->ball));
  CK_OK(tl_shapes_add(&s->shapes, BALL, &s->ball));
}

START_TEST(a_ball_on_edges_and_corners_of_a_box_is_as_deep_as_its_centre_says) {
  static const double plate[3] = {0.04, 0.002, 0.05};
  for (int thin = 0; thin < 2; thin++) {
    const double *size = thin ? plate : WALL;
    Scene s;
    open_scene(&s, &tl_closed_box, size);
    add_ball(&s);
    check_balls(&s, size, box_edge, 0.5);
    check_balls(&s, size, box_corner, 0.5);
    drive(&s);
    check_balls(&s, size, box_edge, 0.5);
    close_scene(&s);
  }
}
END_TEST

START_TEST(a_ball_on_posts_and_their_rims_is_as_deep_as_its_centre_says) {
  static const double radius[] = {1, 0.3, 0.1}; /* of the ball's */
  for (int k = 0; k < 3; k++) {
    const double size[TL_CLOSED_SIZES] = {radius[k] * RADIUS, 0.08};
    Scene s;
    open_scene(&s, &tl_closed_cylinder, size);
    add_ball(&s);
    check_balls(&s, size, post, 0.1);
    check_balls(&s, size, rim, 0.5);
    drive(&s);
    check_balls(&s, size, rim, 0.5);
    close_scene(&s);
  }
}
END_TEST

START_TEST(a_ball_on_the_rims_of_a_pipe_is_as_deep_as_its_centre_says) {
  const TlBoundaryRing ring = {{0.1, -0.2, 0.3}, {0.6, 0, 0.8}, 0.03, 0.05, 0.004};
  const double size[3] = {ring.radius_m, ring.length_m, ring.thickness_m};
  Scene s;
  open_scene(&s, &tl_closed_cylinder, (double[TL_CLOSED_SIZES]){0.01, 0.01});
  s.solid.turn = (TlMat3){{{0.8, 0, 0.6}, {0, 1, 0}, {-0.6, 0, 0.8}}}; /* z to the pipe's axis */
  s.wall = (TlBoundary){.kind = &tl_boundary_ring, .data = &ring};
  add_ball(&s);
  for (int moved = 0; moved < 2; moved++) {
    if (moved) drive(&s);
    check_balls(&s, size, inner_rim, 0.5);
    check_balls(&s, size, outer_rim, 0.5);
  }
  close_scene(&s);
}
END_TEST

/* ---- over surfaces ---- */

/* Of the penalty method: over the stiffness. */
static TlVec3 borne(Scene *s) {
  TlSearchOptions how = {.edges = TL_EDGES_PLACES,
                         .sides = TL_SIDES_BOTH,
                         .how = TL_SEARCH_ALL,
                         .surface = true,
                         .elements = true};
  TlNear near = {0};
  TlVec3 force = {0, 0, 0};
  s->points.count = 0;
  CK_OK(tl_scan_boundary(&how, &near, &s->bodies.colliders, 0, 0, &s->wall, 0, 0, &s->points));
  for (size_t k = 0; k < s->points.count; k++) {
    const TlPoint *p = &s->points.point[k];
    double depth = -p->gap * (p->filled > 0 ? p->filled : 1);
    force = tl_axpy(force, p->area_m2 * depth * (1 + p->steeper), p->n);
  }
  return force;
}

/* From many points of the ball's cap on the side of the wall. */
static TlVec3 borne_by_points(const Scene *s, TlVec3 x, TlVec3 out) {
  enum { POINTS = 40000 };
  const double high = 0.6;
  TlVec3 u, v, force = {0, 0, 0}, n;
  tl_tangents(out, &u, &v);
  for (int k = 0; k < POINTS; k++) {
    double z = 1 - high * (k + 0.5) / POINTS, a = 2.399963229728653 * k, r = sqrt(1 - z * z), phi;
    TlVec3 d = tl_axpy(tl_axpy(tl_scale(-z, out), r * cos(a), u), r * sin(a), v);
    if (tl_boundary_phi(&s->wall, tl_axpy(x, RADIUS, d), &phi, &n) && phi < 0)
      force = tl_axpy(force, -phi * 2 * M_PI * high * RADIUS * RADIUS / POINTS, n);
  }
  return force;
}

/* Of a ball on an edge, what its surface has below the wall; a patch, which takes the wall for flat, bears several times
 * as much. The elements' samples lie as far apart as the part below is wide where the ball is 2% deep. */
START_TEST(on_an_edge_a_ball_bears_what_its_surface_has_below_the_wall) {
  static const double deep[2] = {0.02, 0.05}, most[2] = {0.5, 0.2};
  enum { BALLS = 40 };
  Scene s;
  open_scene(&s, &tl_closed_box, WALL);
  s.shapes.surface = s.shapes.edged = true;
  add_ball(&s);
  for (int d = 0; d < 2; d++) {
    double error = 0;
    for (uint64_t i = 0; i < BALLS; i++) {
      Spot spot = box_edge(WALL, tl_random_uniform(8, 0, i), tl_random_uniform(8, 1, i));
      TlVec3 x = in_world(&s, tl_axpy(spot.on, (1 - deep[d]) * RADIUS, spot.out));
      put(&s, BALL, x, tl_test_turn(9, i));
      TlVec3 truth = borne_by_points(&s, x, tl_mat_vec(s.solid.turn, spot.out));
      error += tl_norm(tl_sub(borne(&s), truth)) / tl_norm(truth) / BALLS;
    }
    ck_assert_double_lt(error, most[d]);
  }
  close_scene(&s);
}
END_TEST

TL_TEST_MAIN("wall facets", a_box_at_the_edge_of_a_box_has_the_depth_of_their_separating_axes,
             over_a_face_nodes_are_asked,
             edges_on_a_cylinder_are_as_deep_as_the_deepest_of_their_points,
             a_box_on_rims_of_posts_and_pipes_is_as_deep_as_they_lie_in_it,
             a_ball_on_edges_and_corners_of_a_box_is_as_deep_as_its_centre_says,
             a_ball_on_posts_and_their_rims_is_as_deep_as_its_centre_says,
             a_ball_on_the_rims_of_a_pipe_is_as_deep_as_its_centre_says,
             on_an_edge_a_ball_bears_what_its_surface_has_below_the_wall)
