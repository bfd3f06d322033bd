/* Avatars of analytic bodies: what the solver and the imaging tests lean on. */
#include "support/tltest.h"

#include "base/random.h"
#include "shape/build.h"
#include "shape/mesh.h"
#include "shape/formula.h"
#include "shape/solids.h"
#include "shape/superellipsoid.h"

static const double pi = 3.14159265358979323846;

static double area_sum(const TlAvatar *a) {
  double sum = 0;
  for (int32_t i = 0; i < a->node_count; i++) sum += a->node_area_m2[i];
  return sum;
}

static double worst_node(const TlAvatar *a) {
  double worst = 0;
  for (int32_t i = 0; i < a->node_count; i++) {
    const float *p = a->node_m + 3 * i;
    worst = fmax(worst, fabs(tl_avatar_phi(a, tl_vec3(p[0], p[1], p[2]), NULL)));
  }
  return worst / a->spacing_m;
}

START_TEST(sphere_has_its_closed_forms) {
  TlAvatar a;
  double r = 0.01;
  CK_OK(tl_avatar_sphere(r, r / 10, 500, &a));
  CK_OK(tl_avatar_check(&a));
  CK_NEAR(a.volume_m3, 4 * pi / 3 * r * r * r, 1e-9 * r * r * r);
  CK_NEAR(a.inertia_m5.x, 8 * pi / 15 * pow(r, 5), 1e-9 * pow(r, 5));
  CK_NEAR(a.area_m2, 4 * pi * r * r, 1e-4 * r * r); /* midpoint rule */
  ck_assert_int_eq(a.node_count, 500);
  CK_NEAR(area_sum(&a), a.area_m2, 1e-6 * a.area_m2);
  ck_assert(worst_node(&a) < 0.01);
  CK_NEAR(a.gradient_max, 1, 0.1); /* one-sided differences: h/2R on each tangent axis */
  ck_assert(a.phi_error_m > 0 && a.phi_error_m < 0.05 * a.spacing_m);
  ck_assert(a.radius_m >= r * 0.99 && a.radius_m < r * 1.03);
  tl_avatar_free(&a);
}
END_TEST

/* phi is the distance everywhere in the grid: 1% of a cell near, 5% anywhere (the goals for a
 * re-distanced field). */
START_TEST(sphere_phi_is_the_distance) {
  TlAvatar a;
  double r = 10, l1 = 0, worst = 0, far = 0;
  int64_t near = 0;
  CK_OK(tl_avatar_sphere(r, 1, 200, &a));
  for (int k = 0; k < a.nz; k++)
    for (int j = 0; j < a.ny; j++)
      for (int i = 0; i < a.nx; i++) {
        TlVec3 p = tl_add(a.origin_m, tl_vec3(i, j, k));
        double d = tl_norm(p) - r, e = fabs(a.phi[(k * a.ny + j) * a.nx + i] - d);
        if (fabs(d) < 2) l1 += e, near++, worst = fmax(worst, e);
        if (tl_norm(p) > 1) far = fmax(far, e);
      }
  ck_assert_msg(l1 / (double)near < 1e-4, "L1 %g", l1 / (double)near);
  ck_assert_msg(worst < 1e-3, "Linf %g", worst);
  ck_assert_msg(far < 0.05, "far %g", far);
  tl_avatar_free(&a);
}
END_TEST

/* Slow oracle: the least distance to 400,000 points of the ellipsoid. They lie up to 0.084 cells
 * apart, so the oracle is too large by up to 0.042^2/(2 d). */
START_TEST(ellipsoid_phi_matches_brute_force) {
  TlAvatar a;
  TlRandom random = {3, 4, 0};
  double e[3] = {12, 8, 6};
  CK_OK(tl_avatar_superellipsoid(e[0], e[1], e[2], 1, 1, 1, 200, &a));
  for (int trial = 0; trial < 40; trial++) {
    int i = (int)(tl_random_next(&random) * a.nx), j = (int)(tl_random_next(&random) * a.ny),
        k = (int)(tl_random_next(&random) * a.nz);
    TlVec3 p = tl_add(a.origin_m, tl_vec3(i, j, k));
    double best = INFINITY;
    for (int u = 0; u < 450; u++)
      for (int v = 0; v < 900; v++) {
        double s = (u + 0.5) / 450 * pi, t = v / 450.0 * pi;
        TlVec3 q = tl_vec3(e[0] * cos(s), e[1] * sin(s) * cos(t), e[2] * sin(s) * sin(t));
        best = fmin(best, tl_norm2(tl_sub(p, q)));
      }
    double phi = fabs(a.phi[(k * a.ny + j) * a.nx + i]);
    double d = sqrt(best);
    if (d > 0.3) CK_NEAR(phi, d, 0.0009 / d + (d < 2 ? 0.002 : 0.02));
  }
  tl_avatar_free(&a);
}
END_TEST

START_TEST(axes_are_sorted_and_the_rotation_says_so) {
  TlAvatar a;
  CK_OK(tl_avatar_superellipsoid(0.7, 1.3, 1.0, 0.6, 1.1, 0.1, 300, &a));
  CK_OK(tl_avatar_check(&a));
  ck_assert(a.inertia_m5.x <= a.inertia_m5.y && a.inertia_m5.y <= a.inertia_m5.z);
  TlQuat q = a.scan_rotation;
  CK_NEAR(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z, 1, 1e-12);
  TlVec3 x = tl_quat_rotate(q, tl_vec3(1, 0, 0)); /* least moment: along b = 1.3 */
  CK_NEAR(fabs(x.y), 1, 1e-12);
  CK_NEAR(a.axes_m[0], 2.6, 0.1);
  CK_NEAR(a.axes_m[2], 1.4, 0.1);
  tl_avatar_free(&a);
}
END_TEST

/* Oracle of the closed forms: the triangles' own volume, at a resolution where trilinear loss
 * (0.5% at R = 10, second order) is under 0.3%. */
START_TEST(superellipsoid_volume_and_area_match_the_mesh) {
  TlAvatar a;
  TlMesh mesh;
  CK_OK(tl_avatar_superellipsoid(1.5, 1.2, 1.0, 0.7, 0.8, 0.05, 300, &a));
  CK_OK(tl_mesh_from_avatar(&a, &mesh));
  CK_NEAR(tl_mesh_volume(&mesh), a.volume_m3, 4e-3 * a.volume_m3);
  CK_NEAR(tl_mesh_area(&mesh), a.area_m2, 1e-2 * a.area_m2);
  tl_mesh_free(&mesh);
  tl_avatar_free(&a);
}
END_TEST

/* Every edge of a closed, oriented surface is walked once in each direction. */
START_TEST(mesh_is_closed_and_oriented) {
  TlAvatar a;
  TlMesh m;
  CK_OK(tl_avatar_superellipsoid(1.5, 1.0, 0.8, 0.5, 1.5, 0.1, 100, &a));
  CK_OK(tl_mesh_from_avatar(&a, &m));
  int64_t euler = (int64_t)m.vertex_count - (int64_t)m.triangle_count / 2;
  ck_assert_int_eq(m.triangle_count % 2, 0);
  ck_assert_int_eq(euler, 2); /* V - E + F with E = 3F/2 */
  TlVec3 sum = tl_vec3(0, 0, 0);
  for (size_t t = 0; t < m.triangle_count; t++) {
    const int32_t *v = m.triangle + 3 * t;
    TlVec3 p = tl_mesh_vertex(&m, v[0]);
    sum = tl_add(
        sum, tl_cross(tl_sub(tl_mesh_vertex(&m, v[1]), p), tl_sub(tl_mesh_vertex(&m, v[2]), p)));
  }
  CK_NEAR(tl_norm(sum), 0, 1e-5 * a.area_m2);
  ck_assert(tl_mesh_volume(&m) > 0);
  tl_mesh_free(&m);
  tl_avatar_free(&a);
}
END_TEST

START_TEST(box_keeps_edges_and_corners) {
  TlAvatar a;
  double h[3] = {0.5, 0.4, 0.3};
  CK_OK(tl_avatar_box(h[0], h[1], h[2], 0.05, 400, &a));
  CK_OK(tl_avatar_check(&a));
  CK_NEAR(a.volume_m3, 0.48, 1e-12);
  CK_NEAR(a.inertia_m5.x, 0.48 / 3 * (0.16 + 0.09), 1e-12);
  CK_NEAR(area_sum(&a), a.area_m2, 1e-6);
  CK_NEAR(a.node_count, 400, 60);
  int corners = 0;
  for (int32_t i = 0; i < a.node_count; i++) {
    const float *p = a.node_m + 3 * i;
    corners += fabs(fabs(p[0]) - h[0]) < 1e-6 && fabs(fabs(p[1]) - h[1]) < 1e-6 &&
               fabs(fabs(p[2]) - h[2]) < 1e-6;
  }
  ck_assert_int_eq(corners, 8);
  ck_assert(worst_node(&a) < 1e-4);
  tl_avatar_free(&a);
}
END_TEST

START_TEST(box_off_the_grid_still_passes_the_check) {
  TlAvatar a;
  CK_OK(tl_avatar_box(0.0537, 0.0441, 0.0333, 0.0047, 0, &a));
  CK_OK(tl_avatar_check(&a));
  CK_NEAR(area_sum(&a), a.area_m2, 1e-5 * a.area_m2);
  tl_avatar_free(&a);
}
END_TEST

START_TEST(nonsense_sizes_are_refused) {
  TlAvatar a;
  CK_FAILS(tl_avatar_sphere(-1, 0.1, 10, &a), TL_EUSAGE, "positive");
  CK_FAILS(tl_avatar_sphere(1, 0.6, 10, &a), TL_EUSAGE, "two cells");
  CK_FAILS(tl_avatar_superellipsoid(1, 1, 1, 0.01, 1, 0.1, 10, &a), TL_EUSAGE, "exponents");
  CK_FAILS(tl_avatar_sphere(1, 0.1, 3, &a), TL_EINPUT, "too few");
}
END_TEST

/* The bounding radius holds the whole trilinear surface, not only nodes and vertices. */
START_TEST(radius_bounds_the_surface) {
  TlAvatar a;
  TlRandom random = {7, 1, 0};
  CK_OK(tl_avatar_superellipsoid(1.2, 1.0, 0.9, 0.3, 0.3, 0.1, 150, &a));
  for (int i = 0; i < 20000; i++) {
    TlVec3 u = tl_unit(tl_vec3(tl_random_next_normal(&random), tl_random_next_normal(&random),
                               tl_random_next_normal(&random)));
    ck_assert(tl_avatar_phi(&a, tl_scale(a.radius_m, u), NULL) > 0);
  }
  tl_avatar_free(&a);
}
END_TEST

/* Oracle: random points with phi < 0 (a lattice resonates with the tetrahedron's faces). Of N
 * points in the cube about it at least 3% fall inside: 0.9% in the volume at one sigma. */
static void check_mass(const TlAvatar *a) {
  enum { N = 400000 };
  TlRandom random = {11, 2, 0};
  double v = 0, m[3] = {0}, i[3] = {0}, off[3] = {0}, side = 2 * a->radius_m;
  double cell = side * side * side / N;
  for (int k = 0; k < N; k++) {
    double x[3];
    for (int d = 0; d < 3; d++) x[d] = (tl_random_next(&random) - 0.5) * side;
    if (tl_avatar_phi(a, tl_vec3(x[0], x[1], x[2]), NULL) >= 0) continue;
    v += cell;
    for (int d = 0; d < 3; d++) {
      int e = (d + 1) % 3, f = (d + 2) % 3;
      m[d] += cell * x[d];
      i[d] += cell * (x[e] * x[e] + x[f] * x[f]);
      off[d] += cell * x[e] * x[f];
    }
  }
  double want[3] = {a->inertia_m5.x, a->inertia_m5.y, a->inertia_m5.z};
  CK_NEAR(v, a->volume_m3, 0.03 * a->volume_m3);
  for (int d = 0; d < 3; d++) {
    CK_NEAR(m[d], 0, 0.01 * v * a->radius_m);
    CK_NEAR(i[d], want[d], 0.05 * want[d]);
    CK_NEAR(off[d], 0, 0.01 * want[2]);
  }
}

static void check_solid(TlAvatar *a, int32_t nodes, double corner_m, int corners) {
  int far = 0;
  CK_OK(tl_avatar_check(a));
  ck_assert(a->inertia_m5.x <= a->inertia_m5.y && a->inertia_m5.y <= a->inertia_m5.z);
  CK_NEAR(area_sum(a), a->area_m2, 1e-5 * a->area_m2);
  CK_NEAR(a->node_count, nodes, 0.25 * nodes);
  ck_assert(worst_node(a) < 0.01);
  check_mass(a);
  for (int32_t i = 0; i < a->node_count; i++) {
    const float *p = a->node_m + 3 * i;
    far += tl_norm(tl_vec3(p[0], p[1], p[2])) > corner_m;
  }
  ck_assert_int_eq(far, corners);
  tl_avatar_free(a);
}

/* Vertices of the trilinear surface are rounded within a cell. */
START_TEST(tetrahedron_cross_and_cylinder_are_avatars) {
  TlAvatar a;
  double vertex = sqrt(3.0 / 8);                   /* of edge 1 from the middle */
  CK_OK(tl_avatar_tetrahedron(1, 0.025, 300, &a)); /* trilinear phi cuts 0.15 h^2 off an edge */
  CK_NEAR(a.volume_m3, 1 / (6 * sqrt(2)), 1e-12);
  check_solid(&a, 300, vertex - 0.06, 4);
  CK_OK(tl_avatar_cross(3, 1, 0.125, 400, &a));
  CK_NEAR(a.volume_m3, 7, 1e-12); /* seven cubes */
  CK_NEAR(a.area_m2, 30, 1e-12);
  CK_NEAR(a.inertia_m5.x, 7.0 / 6 + 4, 1e-12);
  check_solid(&a, 400, sqrt(1.5 * 1.5 + 0.5) - 0.02, 24);
  CK_OK(tl_avatar_cylinder(0.5, 3, 0.05, 500, &a));
  TlVec3 axis = tl_quat_rotate(a.scan_rotation, tl_vec3(1, 0, 0));
  CK_NEAR(axis.z, 1, 1e-12);
  check_solid(&a, 500, 10, 0);
  CK_OK(tl_avatar_cylinder(1, 0.5, 0.05, 500, &a));
  check_solid(&a, 500, 10, 0);
}
END_TEST

/* The distance by brute force: least distance to points spread over the surface's own triangles. */
START_TEST(solids_phi_is_the_distance) {
  TlAvatar a[3];
  TlRandom random = {5, 4, 0};
  CK_OK(tl_avatar_tetrahedron(1, 0.025, 100, &a[0]));
  CK_OK(tl_avatar_cross(1, 0.4, 0.025, 100, &a[1]));
  CK_OK(tl_avatar_cylinder(0.4, 0.6, 0.025, 100, &a[2]));
  for (int s = 0; s < 3; s++) {
    TlMesh m;
    CK_OK(tl_mesh_from_avatar(&a[s], &m));
    for (int trial = 0; trial < 200; trial++) {
      int i = (int)(tl_random_next(&random) * a[s].nx),
          j = (int)(tl_random_next(&random) * a[s].ny),
          k = (int)(tl_random_next(&random) * a[s].nz);
      TlVec3 p = tl_axpy(a[s].origin_m, a[s].spacing_m, tl_vec3(i, j, k));
      double best = INFINITY, phi = a[s].phi[(k * a[s].ny + j) * a[s].nx + i];
      for (size_t t = 0; t < m.triangle_count; t++) {
        const int32_t *v = m.triangle + 3 * t;
        TlVec3 c = tl_add(tl_mesh_vertex(&m, v[0]),
                          tl_add(tl_mesh_vertex(&m, v[1]), tl_mesh_vertex(&m, v[2])));
        best = fmin(best, tl_norm(tl_sub(p, tl_scale(1.0 / 3, c))));
      }
      CK_NEAR(fabs(phi), best, 0.04); /* vertices are rounded by a cell and a half */
    }
    tl_mesh_free(&m);
    tl_avatar_free(&a[s]);
  }
}
END_TEST

/* The same body, seen from other axes: same nodes' field, same extents where the sizes say. */
START_TEST(as_given_is_the_same_body_in_its_own_axes) {
  TlFormula f = {.kind = TL_FORMULA_BOX, .size_m = {0.2, 0.5, 0.3}, .nodes = 100};
  TlFormula g = {.kind = TL_FORMULA_CYLINDER, .diameter_m = 0.2, .length_m = 0.9};
  TlAvatar a, b;
  CK_OK(tl_formula_avatar(&f, &a));
  CK_OK(tl_formula_avatar_as_given(&f, &b));
  CK_OK(tl_avatar_check(&b));
  for (int i = 0; i < a.node_count; i++) {
    TlVec3 p = tl_vec3(a.node_m[3 * i] * 1.1, a.node_m[3 * i + 1] * 0.7, a.node_m[3 * i + 2] * 0.9);
    CK_NEAR(tl_avatar_phi(&a, p, NULL), tl_avatar_phi(&b, tl_quat_rotate(a.scan_rotation, p), NULL),
            1e-8);
    ck_assert(fabs(b.node_m[3 * i + 1]) < 0.2501);
    ck_assert(fabs(b.node_m[3 * i]) < 0.1001);
  }
  CK_NEAR(b.inertia_m5.y, 0.03 / 12 * (0.04 + 0.09), 1e-12);
  tl_avatar_free(&a);
  tl_avatar_free(&b);
  CK_OK(tl_formula_avatar_as_given(&g, &b));
  CK_OK(tl_avatar_check(&b));
  ck_assert(b.inertia_m5.z < b.inertia_m5.x && b.nz > b.nx);
  tl_avatar_free(&b);
}
END_TEST

START_TEST(every_formula_makes_an_avatar) {
  static const TlFormula formula[TL_FORMULA_COUNT] = {
      {.kind = TL_FORMULA_SPHERE, .diameter_m = 0.1},
      {.kind = TL_FORMULA_BOX, .size_m = {0.1, 0.2, 0.3}},
      {.kind = TL_FORMULA_CYLINDER, .diameter_m = 0.1, .length_m = 0.2},
      {.kind = TL_FORMULA_SUPERELLIPSOID, .size_m = {1, 2, 3}, .exponent_e = 0.5, .exponent_n = 1},
      {.kind = TL_FORMULA_TETRAHEDRON, .length_m = 0.1},
      {.kind = TL_FORMULA_CROSS, .length_m = 0.3, .width_m = 0.1}};
  for (int i = 0; i < TL_FORMULA_COUNT; i++) {
    TlAvatar a;
    CK_OK(tl_formula_avatar(&formula[i], &a));
    CK_OK(tl_avatar_check(&a));
    tl_avatar_free(&a);
  }
}
END_TEST

TL_TEST_MAIN("avatar", sphere_has_its_closed_forms, sphere_phi_is_the_distance,
             ellipsoid_phi_matches_brute_force, axes_are_sorted_and_the_rotation_says_so,
             superellipsoid_volume_and_area_match_the_mesh, mesh_is_closed_and_oriented,
             tetrahedron_cross_and_cylinder_are_avatars, solids_phi_is_the_distance,
             every_formula_makes_an_avatar, as_given_is_the_same_body_in_its_own_axes,
             box_keeps_edges_and_corners, box_off_the_grid_still_passes_the_check,
             nonsense_sizes_are_refused, radius_bounds_the_surface)
