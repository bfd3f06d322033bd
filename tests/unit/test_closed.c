/* Closed-form grains: distances, masses and motion against their formulas. */
#include "support/stepper.h"
#include "support/materials.h"
#include "support/placed.h"
#include "support/tltest.h"

#include "base/mem.h"
#include "base/par.h"
#include "base/random.h"
#include "contact/narrow.h"
#include "model/shapes.h"
#include "solve/step.h"
#include "shape/solids.h"
#include "shape/superellipsoid.h"
#include "shape/nodes.h"

#include <string.h>

enum { BOX = 1, CYLINDER = 2, SPHERE = 3, GRID_BOX = 4, CROSS = 5, TETRAHEDRON = 6 };
static const double G = 9.81, PI = 3.14159265358979323846;
static const double box_size[3] = {0.02, 0.03, 0.04}, cylinder_size[2] = {0.01, 0.05};
static const TlQuat UPRIGHT = {1, 0, 0, 0};
static const TlVec3 NONE = {0, 0, 0};

static double within(double x, double half) {
  return x < -half ? -half : x > half ? half : x;
}

/* Distance from the nearest of the six faces, each a rectangle of its own. */
static double box_oracle(const double *s, TlVec3 p) {
  const double x[3] = {p.x, p.y, p.z};
  double least = INFINITY;
  bool inside = true;
  for (int a = 0; a < 3; a++) {
    inside &= fabs(x[a]) <= 0.5 * s[a];
    for (int side = -1; side <= 1; side += 2) {
      double sum = 0;
      for (int b = 0; b < 3; b++) {
        double d = x[b] - (b == a ? side * 0.5 * s[a] : within(x[b], 0.5 * s[b]));
        sum += d * d;
      }
      least = fmin(least, sqrt(sum));
    }
  }
  return inside ? -least : least;
}

/* Nearest of the side (a tube) and the two discs. */
static double cylinder_oracle(const double *s, TlVec3 p) {
  double rho = sqrt(p.x * p.x + p.y * p.y), half = 0.5 * s[1];
  double dz = p.z - within(p.z, half), least = sqrt((rho - s[0]) * (rho - s[0]) + dz * dz);
  for (int side = -1; side <= 1; side += 2) {
    double z = p.z - side * half, out = fmax(rho - s[0], 0);
    least = fmin(least, sqrt(z * z + out * out));
  }
  return rho <= s[0] && fabs(p.z) <= half ? -least : least;
}

static double sphere_oracle(const double *s, TlVec3 p) {
  return sqrt(p.x * p.x + p.y * p.y + p.z * p.z) - s[0];
}

typedef struct Case {
  const TlClosedKind *kind;
  const double *size;
  double (*oracle)(const double *size, TlVec3 p);
  double area;
} Case;
static const double sphere_size[1] = {0.012};
static const Case cases[3] = {
    {&tl_closed_sphere, sphere_size, sphere_oracle, 4 * 0.012 * 0.012 * M_PI},
    {&tl_closed_box, box_size, box_oracle, 2 * (0.02 * 0.03 + 0.03 * 0.04 + 0.04 * 0.02)},
    {&tl_closed_cylinder, cylinder_size, cylinder_oracle,
     2 * 0.01 * 0.01 * M_PI + 2 * 0.01 * 0.05 * M_PI}};

static TlVec3 random_point(TlRandom *r, double half) {
  return tl_vec3(half * (2 * tl_random_next(r) - 1), half * (2 * tl_random_next(r) - 1),
                 half * (2 * tl_random_next(r) - 1));
}

START_TEST(phi_is_the_distance_from_the_nearest_face) {
  TlRandom r = {51, 0, 0};
  for (int c = 0; c < 3; c++)
    for (int i = 0; i < 20000; i++) {
      const Case *k = &cases[c];
      TlVec3 p = random_point(&r, 0.04), g;
      double phi = k->kind->phi(k->size, p, &g), h = 1e-7;
      CK_NEAR(phi, k->oracle(k->size, p), 1e-16);
      CK_NEAR(tl_norm(g), 1, 1e-14);
      /* walking down the gradient by phi ends on the surface */
      CK_NEAR(k->oracle(k->size, tl_axpy(p, -phi, g)), 0, 1e-15);
      /* and phi grows along it by the distance gone, but where an inner ridge is crossed */
      double ahead = k->kind->phi(k->size, tl_axpy(p, h, g), NULL);
      ck_assert(ahead - phi <= h * (1 + 1e-6) && (phi < 0 || ahead - phi > h * (1 - 1e-6)));
    }
}
END_TEST

/* Midpoint sums over n^3 cells; their error is that of the cells the surface cuts. */
START_TEST(mass_and_moments_are_those_of_the_body) {
  enum { N = 120 };
  for (int c = 0; c < 3; c++) {
    const Case *k = &cases[c];
    TlClosedMass m = k->kind->mass(k->size);
    double half = k->kind->radius(k->size), h = 2 * half / N, v = 0, most = 0;
    TlVec3 i = {0, 0, 0};
    for (int n = 0; n < N * N * N; n++) {
      TlVec3 p = {h * (n % N + 0.5) - half, h * (n / N % N + 0.5) - half,
                  h * (n / N / N + 0.5) - half};
      double fraction = fmin(fmax(0.5 - k->kind->phi(k->size, p, NULL) / h, 0), 1) * h * h * h;
      v += fraction;
      if (fraction > 0.5 * h * h * h) most = fmax(most, tl_norm(p));
      i = tl_add(i, tl_scale(fraction, tl_vec3(p.y * p.y + p.z * p.z, p.x * p.x + p.z * p.z,
                                               p.x * p.x + p.y * p.y)));
    }
    CK_NEAR(m.area_m2 / k->area, 1, 1e-12);
    CK_NEAR(v / m.volume_m3, 1, 2e-3);
    CK_NEAR(i.x / m.inertia_m5.x, 1, 4e-3);
    CK_NEAR(i.y / m.inertia_m5.y, 1, 4e-3);
    CK_NEAR(i.z / m.inertia_m5.z, 1, 4e-3);
    ck_assert(most <= half && most > half - 2 * h);
  }
}
END_TEST

START_TEST(nodes_of_a_box_lie_on_it_and_hold_its_corners) {
  const double plate[3] = {1, 1, 0.01}, needle[3] = {0.01, 1, 0.01};
  const double *const sizes[3] = {box_size, plate, needle};
  for (int c = 0; c < 3; c++) {
    const double *s = sizes[c];
    TlShapes shapes = {0};
    CK_OK(tl_shapes_add_closed(&shapes, 1, &tl_closed_box, s));
    const TlShape *shape = tl_shapes_find(&shapes, 1);
    int corners = 0;
    ck_assert(shape->node_count >= 100 && shape->node_count < 400);
    for (int32_t i = 0; i < shape->node_count; i++) {
      TlVec3 p = tl_shape_node(shape, shape->node_index[i]);
      ck_assert(memcmp(&p, &shape->node[shape->node_index[i]], sizeof p) == 0);
      CK_NEAR(box_oracle(s, p), 0, 1e-16);
      corners += fabs(p.x) == 0.5 * s[0] && fabs(p.y) == 0.5 * s[1] && fabs(p.z) == 0.5 * s[2];
    }
    ck_assert_int_eq(corners, 8);
    tl_shapes_free(&shapes);
  }
}
END_TEST

START_TEST(sizes_that_make_no_sense_are_refused_by_name) {
  TlShapes shapes = {0};
  const double bad[3] = {1, 0, 1}, nan[3] = {1, NAN, 1};
  CK_FAILS(tl_shapes_add_closed(&shapes, 7, &tl_closed_box, bad), TL_EINPUT, "side_y_m = 0");
  CK_FAILS(tl_shapes_add_closed(&shapes, 7, &tl_closed_cylinder, nan), TL_EINPUT, "length_m");
  CK_OK(tl_shapes_add_closed(&shapes, 7, &tl_closed_sphere, sphere_size));
  CK_FAILS(tl_shapes_add_closed(&shapes, 7, &tl_closed_sphere, sphere_size), TL_EINPUT, "avatar 7");
  ck_assert(tl_closed_kind("cylinder") == &tl_closed_cylinder && !tl_closed_kind("cone"));
  tl_shapes_free(&shapes);
}
END_TEST

/* ---- in motion ---- */

typedef struct Lab {
  TlSolverConfig config;
  TlBoundaryPlane plane[2];
  TlBoundary boundary[2];
  int planes;
  Stepper *solver;
  TlBodies bodies;
  TlStepReport report;
} Lab;

static void lab_open(Lab *lab, double angle) {
  memset(lab, 0, sizeof *lab);
  tl_par_set_threads(1);
  lab->config = tl_test_config();
  lab->plane[0] = (TlBoundaryPlane){NONE, tl_vec3(sin(angle), 0, cos(angle))};
  lab->boundary[0] = (TlBoundary){&tl_boundary_plane, &lab->plane[0]};
  lab->planes = 1;
}

static void lab_start(Lab *lab) {
  CK_OK(stepper_new(&lab->solver, &lab->config, (TlAvatarSource){0}, lab->boundary, lab->planes,
                    NULL));
  CK_OK(stepper_add_closed(lab->solver, BOX, &tl_closed_box, box_size));
  CK_OK(stepper_add_closed(lab->solver, CYLINDER, &tl_closed_cylinder, cylinder_size));
  CK_OK(stepper_add_closed(lab->solver, SPHERE, &tl_closed_sphere, sphere_size));
}

static void lab_close(Lab *lab) {
  stepper_free(lab->solver);
  tl_bodies_free(&lab->bodies);
}

static void run(Lab *lab, int steps) {
  for (int i = 0; i < steps; i++) CK_OK(stepper_step(lab->solver, &lab->bodies, &lab->report));
}

/* v^2 = 2 g s (sin - mu cos); s of symplectic steps is long by v dt/2. */
START_TEST(a_box_slides_down_an_incline_by_energy_balance) {
  const double mus[3] = {0, 0.2, 0.4};
  for (int i = 0; i < 3; i++) {
    Lab lab;
    double angle = 0.6, dt = 1e-3;
    lab_open(&lab, angle);
    TL_TEST_SET(&lab.config, TL_TEST_BOUNDARY, friction, mus[i]);
    lab_start(&lab);
    TlVec3 n = lab.plane[0].normal, start = tl_scale(0.5 * box_size[2], n);
    tl_test_put(&lab.bodies, BOX, start, tl_quat_from_rotation(tl_vec3(0, angle, 0)), NONE);
    run(&lab, 500);
    double v = tl_norm(lab.bodies.velocity[0]);
    double s = tl_norm(tl_sub(lab.bodies.position[0], start)) - 0.5 * v * dt;
    CK_NEAR(v * v / (2 * G * s * (sin(angle) - mus[i] * cos(angle))), 1, 1e-5);
    CK_NEAR(tl_norm(tl_bodies_spin(&lab.bodies, 0)), 0, 1e-5);
    lab_close(&lab);
  }
}
END_TEST

/* Coming down flat and fast, with half a millimetre of a step's travel left: all four corners strike
 * at once and no other node does. Without friction nothing turns it; with friction the corners take
 * turns of one increment each, 1/K of the 0.5 m/s, and what is left falls with 1/K. */
START_TEST(a_box_that_lands_flat_does_not_tip) {
  static const int increments[3] = {20, 20, 160};
  for (int i = 0; i < 3; i++) {
    Lab lab;
    lab_open(&lab, 0);
    double least = 0.5 / increments[i];
    lab.config.impulses.increments = increments[i];
    TL_TEST_SET(&lab.config, TL_TEST_BOUNDARY, friction, i ? 0.4 : 0);
    TL_TEST_SET(&lab.config, TL_TEST_BOUNDARY, restitution, 0);
    lab_start(&lab);
    tl_test_put(&lab.bodies, BOX, tl_vec3(0, 0, 0.5 * box_size[2] + 5e-4), UPRIGHT,
                tl_vec3(0.5, 0, -4.43));
    run(&lab, 1);
    CK_NEAR(tl_norm(tl_bodies_spin(&lab.bodies, 0)), 0, i ? 1.5 * least / box_size[0] : 1e-9);
    CK_NEAR(lab.bodies.velocity[0].y, 0, i ? least : 1e-12);
    CK_NEAR(lab.bodies.velocity[0].x, i ? 0 : 0.5, i ? least : 1e-12);
    lab_close(&lab);
  }
}
END_TEST

/* Lying across the incline plane's x: about the line of contact angular momentum is kept, so that
 * u = 2/3 u0 whatever the friction; rolling starts at t = u0/(3 mu g) and loses nothing after. */
START_TEST(a_sliding_cylinder_ends_rolling_at_two_thirds) {
  Lab lab;
  lab_open(&lab, 0);
  TL_TEST_SET(&lab.config, TL_TEST_BOUNDARY, friction, 0.3);
  lab_start(&lab);
  double u0 = 0.9, r = cylinder_size[0], when = u0 / (3 * 0.3 * G);
  tl_test_put(&lab.bodies, CYLINDER, tl_vec3(0, 0, r), tl_quat_from_rotation(tl_vec3(PI / 2, 0, 0)),
              tl_vec3(u0, 0, 0));
  run(&lab, (int)(0.98 * when / lab.config.step_s));
  ck_assert(lab.bodies.velocity[0].x > 2.01 / 3 * u0);
  run(&lab, (int)(0.04 * when / lab.config.step_s) + 1);
  for (int i = 0; i < 20; i++) {
    CK_NEAR(lab.bodies.velocity[0].x, 2.0 / 3 * u0, 1e-9);
    CK_NEAR(tl_bodies_spin(&lab.bodies, 0).y * r, 2.0 / 3 * u0, 1e-9);
    CK_NEAR(lab.bodies.position[0].z, r, 2e-3 * r);
    run(&lab, 100); /* several turns a block */
  }
  lab_close(&lab);
}
END_TEST

/* Dropped askew, grains of each kind come to rest and stay. */
START_TEST(dropped_boxes_and_cylinders_come_to_rest) {
  for (int64_t shape = BOX; shape <= CYLINDER; shape++)
    for (int k = 0; k < 3; k++) {
      Lab lab;
      lab_open(&lab, 0);
      lab_start(&lab);
      tl_test_put(&lab.bodies, shape, tl_vec3(0, 0, 0.05),
                  tl_quat_from_rotation(tl_vec3(0.3 * k, 0.2, 0.1)), NONE);
      run(&lab, 3000);
      double speed = lab.report.speed_max_m_s, z = lab.bodies.position[0].z;
      if (shape == BOX) ck_assert_msg(speed < 1e-6, "box %d: %g m/s", k, speed);
      if (shape == CYLINDER) /* may roll on, free of loss, on its side */
        ck_assert_msg(speed < 1e-6 || fabs(z - cylinder_size[0]) < 2e-5, "cylinder %d: %g m/s", k,
                      speed);
      ck_assert(lab.report.boundary_overlap_m < 2e-5);
      lab_close(&lab);
    }
}
END_TEST

START_TEST(a_standing_cylinder_stands) {
  Lab lab;
  lab_open(&lab, 0);
  lab_start(&lab);
  tl_test_put(&lab.bodies, CYLINDER, tl_vec3(0, 0, 0.5 * cylinder_size[1]),
              tl_quat_from_rotation(tl_vec3(0, 0, 0.4)), NONE);
  run(&lab, 2000);
  CK_NEAR(lab.bodies.position[0].z, 0.5 * cylinder_size[1], 1e-5);
  ck_assert(lab.report.speed_max_m_s < 1e-9);
  ck_assert(lab.report.contacts >= 3);
  lab_close(&lab);
}
END_TEST

/* ---- pairs ---- */

typedef struct Rig {
  TlShapes shapes;
  TlAvatar grid, cross, tetrahedron;
  TlBodies bodies;
} Rig;

static void rig_open(Rig *rig) {
  memset(rig, 0, sizeof *rig);
  CK_OK(tl_avatar_box(0.02, 0.015, 0.01, 0.001, 600, &rig->grid));
  CK_OK(tl_shapes_add(&rig->shapes, GRID_BOX, &rig->grid));
  CK_OK(tl_avatar_cross(0.15, 0.05, 0.0025, 600, &rig->cross));
  CK_OK(tl_shapes_add(&rig->shapes, CROSS, &rig->cross));
  CK_OK(tl_avatar_tetrahedron(0.16, 0.0025, 600, &rig->tetrahedron));
  CK_OK(tl_shapes_add(&rig->shapes, TETRAHEDRON, &rig->tetrahedron));
  /* the avatar's body axes go with ascending moments: its sides are 0.04, 0.03, 0.02 */
  CK_OK(tl_shapes_add_closed(&rig->shapes, BOX, &tl_closed_box, (double[]){0.04, 0.03, 0.02}));
  CK_OK(tl_shapes_add_closed(&rig->shapes, CYLINDER, &tl_closed_cylinder, cylinder_size));
  CK_OK(tl_shapes_add_closed(&rig->shapes, SPHERE, &tl_closed_sphere, sphere_size));
}

static void rig_close(Rig *rig) {
  tl_bodies_free(&rig->bodies);
  tl_shapes_free(&rig->shapes);
  tl_avatar_free(&rig->grid);
  tl_avatar_free(&rig->cross);
  tl_avatar_free(&rig->tetrahedron);
}

static void place(Rig *rig, int64_t shape, TlVec3 x, TlQuat q) {
  tl_test_place(
      &rig->bodies, &rig->shapes,
      (TlGrainState){
          .id = rig->bodies.total, .avatar_id = shape, .scale = 1, .position = x, .rotation = q},
      0);
}

/* The deepest of the points of body 0 in body 1. */
static TlPoint deepest_within(double margin, Rig *rig, TlPoints *points) {
  TlWanted wanted = {margin, INFINITY, INFINITY, 0};
  TlPoint least = {.gap = INFINITY};
  points->count = 0;
  CK_OK(tl_narrow_nodes(&rig->bodies.colliders, 0, 1, 0, &wanted, points));
  for (size_t i = 0; i < points->count; i++)
    if (points->point[i].gap < least.gap) least = points->point[i];
  return least;
}

static TlPoint deepest(Rig *rig, TlPoints *points) {
  return deepest_within(0.01, rig, points);
}

static TlQuat random_rotation(TlRandom *r) {
  return tl_quat_unit((TlQuat){tl_random_next_normal(r), tl_random_next_normal(r),
                               tl_random_next_normal(r), tl_random_next_normal(r)});
}

static size_t count_points(const TlBodies *b, double margin) {
  TlWanted wanted = {margin, margin, INFINITY, 0};
  TlPoints points = {0};
  CK_OK(tl_narrow_all_nodes(&b->colliders, 0, 1, 0, &wanted, &points));
  if (b->colliders.avatar_id[0] != SPHERE)
    CK_OK(tl_narrow_all_nodes(&b->colliders, 1, 0, 1, &wanted, &points));
  size_t count = points.count;
  tl_points_free(&points);
  return count;
}

/* A sphere or a cylinder, of a scale, somewhere at another body. */
static void meet(Rig *rig, TlRandom *r, int trial, int64_t to) {
  double x = tl_random_next_normal(r), y = tl_random_next_normal(r), z = tl_random_next_normal(r);
  TlBodies *b = &rig->bodies;
  tl_bodies_free(b);
  place(rig, trial % 2 ? SPHERE : CYLINDER, tl_vec3(1, 2, 3), random_rotation(r));
  b->colliders.scale[0] = trial % 3 ? 1 : 0.2 + 2 * tl_random_next(r);
  b->radius[0] *= b->colliders.scale[0];
  place(rig, to, tl_vec3(1, 2, 3), random_rotation(r));
  double far = tl_random_next(r) * (b->radius[0] + b->radius[1]);
  b->position[1] = tl_axpy(b->position[0], far, tl_unit(tl_vec3(x, y, z)));
}

/* One lookup: never where testing all finds a point, mostly where it finds none. */
START_TEST(what_is_told_apart_has_no_point) {
  static const int64_t other[] = {GRID_BOX, CROSS, TETRAHEDRON, BOX, CYLINDER, SPHERE};
  Rig rig;
  TlRandom r = {78, 0, 0};
  rig_open(&rig);
  int touch = 0, told = 0, could = 0;
  for (int trial = 0; trial < 2400; trial++) {
    int64_t to = other[trial / 2 % 6];
    bool sphere = trial % 2, closed = to == BOX || to == CYLINDER || to == SPHERE;
    double margin = trial % 5 ? 0 : 1e-3;
    meet(&rig, &r, trial, to);
    TlMat3 turn = tl_quat_matrix(rig.bodies.rotation[1]);
    TlWanted wanted = {margin, margin, INFINITY, 0};
    if (!sphere && !closed) continue;
    bool says = (sphere ? tl_narrow_sphere_apart : tl_narrow_closed_apart)(&rig.bodies.colliders, 0,
                                                                           1, &turn, &wanted);
    size_t points = count_points(&rig.bodies, margin);
    ck_assert_msg(!says || points == 0, "trial %d: %zu points", trial, points);
    touch += points > 0;
    could += points == 0;
    told += says;
  }
  ck_assert_msg(touch > 300 && 3 * told > could, "%d touch, %d of %d told", touch, told, could);
  rig_close(&rig);
}
END_TEST

/* On faces to rounding; two cells out phi is trilinear between distances from an edge or corner,
 * wrong by up to h^2/8 (1/2h) an axis: 1/8 of a cell of 1 mm in the plane across an edge, 1/4 at a
 * corner, where a sphere's normal may turn by about sqrt(2 cell/r). */
START_TEST(a_box_meets_grains_as_its_gridded_avatar_does) {
  Rig rig;
  TlPoints points = {0};
  TlRandom r = {52, 0, 0};
  int faces = 0;
  rig_open(&rig);
  for (int i = 0; i < 4000; i++) {
    TlVec3 d = tl_unit(random_point(&r, 1));
    TlQuat q = random_rotation(&r);
    double far = 0.021 + 0.017 * tl_random_next(&r);
    TlPoint p[2];
    for (int k = 0; k < 2; k++) {
      tl_bodies_clear(&rig.bodies);
      place(&rig, SPHERE, tl_scale(far, d), UPRIGHT);
      place(&rig, k ? GRID_BOX : BOX, NONE, q);
      p[k] = deepest(&rig, &points);
    }
    if (!(fabs(p[0].gap) < 1e-3)) continue; /* deep overlaps are another matter */
    CK_NEAR(p[1].gap, p[0].gap, 0.25e-3);
    TlVec3 n = tl_mat_tvec(tl_quat_matrix(q), p[0].n);
    if (fmax(fmax(fabs(n.x), fabs(n.y)), fabs(n.z)) > 1 - 1e-12) {
      faces++;
      CK_NEAR(p[1].gap, p[0].gap, 1e-5 * sphere_size[0]);
      ck_assert(tl_dot(p[0].n, p[1].n) > 1 - 1e-6);
    }
    ck_assert_msg(tl_dot(p[0].n, p[1].n) > 0.8, "trial %d: normals differ by %g rad", i,
                  acos(tl_dot(p[0].n, p[1].n)));
  }
  ck_assert_msg(faces > 200, "%d faces", faces);
  tl_free(points.point);
  rig_close(&rig);
}
END_TEST

/* Rolled in small steps round gridded grains with sharp edges, in touch with them: the gap changes
 * by no more than the step. A search for the nearest point of the surface itself jumped by 9% of the
 * radius there, and a net shook the crosses that lay on it. */
START_TEST(the_gap_of_a_sphere_does_not_jump_at_sharp_edges) {
  enum { WAYS = 300, STEPS = 60 };
  Rig rig;
  TlPoints points = {0};
  TlRandom r = {54, 0, 0};
  rig_open(&rig);
  double radius = sphere_size[0], step = 0.01 * radius, most = 0;
  for (int i = 0; i < WAYS; i++) {
    const TlAvatar *grain = i % 2 ? &rig.cross : &rig.tetrahedron;
    tl_bodies_clear(&rig.bodies);
    int64_t node = (int64_t)(tl_random_next(&r) * grain->node_count);
    const float *x = &grain->node_m[3 * node];
    place(&rig, SPHERE, tl_vec3(x[0], x[1], x[2]), UPRIGHT);
    place(&rig, i % 2 ? CROSS : TETRAHEDRON, NONE, UPRIGHT);
    TlVec3 *at = &rig.bodies.position[0], direction = tl_unit(random_point(&r, 1));
    double before = NAN;
    *at = tl_axpy(*at, radius, tl_unit(*at)); /* off the node; then into touch */
    for (int k = 0; k < STEPS; k++) {
      TlPoint p = deepest(&rig, &points);
      if (points.count == 0 || !(fabs(p.gap) < 0.1 * radius)) break;
      most = fmax(most, k > 0 ? fabs(p.gap - before) - step : 0);
      *at = tl_axpy(*at, -p.gap, p.n);
      before = deepest(&rig, &points).gap;
      *at = tl_axpy(*at, step, tl_unit(tl_axpy(direction, -tl_dot(direction, p.n), p.n)));
    }
  }
  ck_assert_msg(most < 0.004 * radius, "%g of the radius", most / radius);
  tl_free(points.point);
  rig_close(&rig);
}
END_TEST

/* ---- a sphere that seeks its place ---- */

/* The least phi of body 1 on the smaller sphere of closed_sphere.c, of very many places. */
static double least_of_all(const Rig *rig, double near, TlVec3 *best) {
  enum { ALL = 6000, ABOUT = 2000 };
  const TlBodies *b = &rig->bodies;
  double length = b->radius[0] - near, least = INFINITY;
  TlRandom r = {91, 0, 0};
  for (int k = 0; k < ALL + ABOUT; k++) {
    double z = 1 - (2 * k + 1.0) / ALL, turn = PI * (3 - sqrt(5)) * k,
           flat = sqrt(fmax(0, 1 - z * z));
    TlVec3 direction = tl_vec3(flat * cos(turn), flat * sin(turn), z);
    /* then about the best of them, nearer and nearer */
    if (k >= ALL)
      direction =
          tl_unit(tl_axpy(*best, 0.05 * pow(10, -3.0 * (k - ALL) / ABOUT), random_point(&r, 1)));
    double phi =
        tl_shape_phi(b->colliders.shape[1], tl_axpy(b->position[0], length, direction), NULL);
    if (phi < least) {
      least = phi;
      *best = direction;
    }
  }
  return least - near;
}

/* At some place of a line through the grain's middle, 0.4 cell deep by the oracle. */
static double sink(Rig *rig, double near, double spacing, TlVec3 direction) {
  double close = 0, far = rig->bodies.radius[0] + rig->bodies.radius[1];
  TlVec3 best;
  while (far - close > 0.1 * spacing) {
    double middle = 0.5 * (close + far);
    rig->bodies.position[0] = tl_scale(middle, direction);
    *(least_of_all(rig, near, &best) > -0.4 * spacing ? &far : &close) = middle;
  }
  return least_of_all(rig, near, &best);
}

/* Thinned nodes: a tip may lie well off all of them, and a ball of any size finds it as it touches;
 * and deep inside a grain, where no node is near, it is pushed out. */
START_TEST(a_sphere_misses_no_place_between_nodes) {
  Rig rig;
  TlPoints points = {0};
  TlRandom r = {93, 0, 0};
  TlAvatar thin;
  rig_open(&rig);
  CK_OK(tl_avatar_thin(&rig.tetrahedron, 6, &thin));
  CK_OK(tl_shapes_add(&rig.shapes, 60, &thin));
  for (int i = 0; i < 60; i++) {
    tl_bodies_clear(&rig.bodies);
    place(&rig, SPHERE, NONE, UPRIGHT);
    place(&rig, 60, NONE, UPRIGHT);
    double least = sink(&rig, 2 * thin.spacing_m, thin.spacing_m, tl_unit(random_point(&r, 1)));
    ck_assert(least < 0);
    CK_NEAR(deepest_within(0, &rig, &points).gap, least, 0.1 * thin.spacing_m);
  }
  rig.bodies.position[0] = tl_vec3(1e-4, 2e-4, 3e-4);
  rig.bodies.radius[0] *= 0.5;
  rig.bodies.colliders.scale[0] *= 0.5;
  TlPoint p = deepest_within(0, &rig, &points);
  ck_assert_msg(p.gap < -rig.bodies.radius[0], "gap %g m in the middle", p.gap);
  tl_free(points.point);
  rig_close(&rig);
  tl_avatar_free(&thin);
}
END_TEST

/* A ball of 5, 14, 48 cells, a little into a grain with edges and arms: it bears on the deepest
 * place of all. Sought from the one place that its centre is pushed to, a third were on another,
 * and some touched nowhere. What is left, mostly on edges, is descent from cell to cell of the
 * grid. */
START_TEST(a_sphere_finds_the_deepest_of_all_places) {
  enum { POSES = 240 };
  static const double scale[] = {1, 3, 10};
  Rig rig;
  TlPoints points = {0};
  TlRandom r = {92, 0, 0};
  rig_open(&rig);
  int missed = 0;
  for (int i = 0; i < POSES; i++) {
    const TlAvatar *grain = i % 2 ? &rig.cross : &rig.tetrahedron;
    tl_bodies_clear(&rig.bodies);
    place(&rig, SPHERE, NONE, UPRIGHT);
    place(&rig, i % 2 ? CROSS : TETRAHEDRON, NONE, UPRIGHT);
    rig.bodies.colliders.scale[0] = scale[i / 2 % 3];
    rig.bodies.radius[0] = rig.bodies.colliders.scale[0] * sphere_size[0];
    double cell = grain->spacing_m;
    double least = sink(&rig, 2 * cell, cell, tl_unit(random_point(&r, 1)));
    double above = (deepest(&rig, &points).gap - least) / cell;
    ck_assert_msg(above < 0.1, "pose %d: %g cells above the deepest place", i, above);
    missed += above > 0.02;
  }
  ck_assert_msg(missed < POSES / 8, "%d missed", missed);
  tl_free(points.point);
  rig_close(&rig);
}
END_TEST

/* Two cylinders, crossed or side by side: the gap is the distance of the axes less both radii. */
START_TEST(cylinders_meet_by_their_sides) {
  Rig rig;
  TlPoints points = {0};
  rig_open(&rig);
  double r = cylinder_size[0];
  for (int k = 0; k < 2; k++) {
    tl_bodies_clear(&rig.bodies);
    place(&rig, CYLINDER, tl_vec3(0, 0, 2 * r - 1e-4),
          tl_quat_from_rotation(tl_vec3(k * PI / 2, 0, 0)));
    place(&rig, CYLINDER, NONE, tl_quat_from_rotation(tl_vec3(0, PI / 2, 0)));
    if (!k) rig.bodies.rotation[0] = rig.bodies.rotation[1];
    TlPoint p = deepest(&rig, &points);
    CK_NEAR(p.gap, -1e-4, 1e-12);
    CK_NEAR(tl_norm(tl_sub(p.n, tl_vec3(0, 0, 1))), 0, 1e-6); /* bisection: l/2^24/r */
  }
  tl_free(points.point);
  rig_close(&rig);
}
END_TEST

/* Its lowest place, of 4000 points of the rims, put 1e-4 into the top of a box: the points that
 * follow the contact miss no more of it than the fan's sagitta. */
START_TEST(points_of_a_cylinder_find_its_deepest_place) {
  TlRandom r = {53, 0, 0};
  Rig rig;
  TlPoints points = {0};
  rig_open(&rig);
  for (int trial = 0; trial < 200; trial++) {
    TlQuat q = random_rotation(&r);
    TlVec3 low = {0, 0, INFINITY};
    for (int i = 0; i < 4000; i++) {
      double a = 2 * PI * (i / 2) / 2000, z = (i % 2 ? 0.5 : -0.5) * cylinder_size[1];
      TlVec3 p =
          tl_quat_rotate(q, tl_vec3(cylinder_size[0] * cos(a), cylinder_size[0] * sin(a), z));
      if (p.z < low.z) low = p;
    }
    tl_bodies_clear(&rig.bodies);
    place(&rig, CYLINDER, tl_sub(tl_vec3(0, 0, 0.01 - 1e-4), low), q);
    place(&rig, BOX, NONE, UPRIGHT);
    CK_NEAR(deepest(&rig, &points).gap, -1e-4, 6e-4 * cylinder_size[0] + 1e-8);
  }
  tl_free(points.point);
  rig_close(&rig);
}
END_TEST

/* Two planes, one of them tilted, that meet in a valley or a crest: exact, and not convex. */
typedef struct Wedge {
  TlField field;
  TlVec3 n[2];
  double h[2];
  bool crest;
} Wedge;

static bool wedge_at(const TlField *field, TlVec3 p, double *gap, TlVec3 *n) {
  const Wedge *w = (const Wedge *)field;
  double one = tl_dot(w->n[0], p) - w->h[0], two = tl_dot(w->n[1], p) - w->h[1];
  int k = w->crest == (one < two);
  *gap = k ? two : one;
  *n = w->n[k];
  return true;
}

/* Points beyond the limit are not sought; the others are those of a search without a limit. */
START_TEST(a_limit_leaves_out_points_beyond_it_only) {
  TlRandom random = {.seed = 12, .stream = 5};
  int64_t all = 0, near = 0;
  for (int k = 0; k < 4000; k++) {
    Wedge w = {{.exact = true, .at = wedge_at, .limit = INFINITY}, .crest = k % 2};
    for (int i = 0; i < 2; i++) {
      w.n[i] = tl_unit(tl_vec3(tl_random_next(&random) - 0.5, tl_random_next(&random) - 0.5,
                               tl_random_next(&random) - 0.5));
      w.h[i] = -0.03 * tl_random_next(&random);
    }
    TlClosedPoint whole[TL_CLOSED_POINTS], found[TL_CLOSED_POINTS];
    int count = tl_closed_cylinder.points(cylinder_size, &w.field, whole), at = 0;
    w.field.limit = 0.004 * (tl_random_next(&random) - 0.3);
    int left = tl_closed_cylinder.points(cylinder_size, &w.field, found);
    for (int i = 0; i < count; i++) {
      if (whole[i].gap >= w.field.limit) continue;
      while (at < left && found[at].gap >= w.field.limit) at++;
      ck_assert_msg(at < left && whole[i].key == found[at].key &&
                        memcmp(&whole[i], &found[at], offsetof(TlClosedPoint, key)) == 0,
                    "case %d, point %d", k, i);
      at++;
      near++;
    }
    all += count;
  }
  ck_assert_int_gt(near, 1000);
  ck_assert_int_gt(all, 2 * near);
}
END_TEST

TL_TEST_MAIN("closed-form grains", what_is_told_apart_has_no_point,
             phi_is_the_distance_from_the_nearest_face, mass_and_moments_are_those_of_the_body,
             nodes_of_a_box_lie_on_it_and_hold_its_corners,
             sizes_that_make_no_sense_are_refused_by_name,
             a_box_slides_down_an_incline_by_energy_balance, a_box_that_lands_flat_does_not_tip,
             a_sliding_cylinder_ends_rolling_at_two_thirds,
             dropped_boxes_and_cylinders_come_to_rest, a_standing_cylinder_stands,
             a_box_meets_grains_as_its_gridded_avatar_does,
             a_sphere_finds_the_deepest_of_all_places, a_sphere_misses_no_place_between_nodes,
             the_gap_of_a_sphere_does_not_jump_at_sharp_edges, cylinders_meet_by_their_sides,
             points_of_a_cylinder_find_its_deepest_place, a_limit_leaves_out_points_beyond_it_only)
