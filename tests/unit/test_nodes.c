/* Surface nodes: on the stored surface, evenly spread, areas that add up, on any topology. */
#include "support/tltest.h"

#include "base/mem.h"
#include "shape/build.h"
#include "shape/mesh.h"
#include "shape/superellipsoid.h"

static const double pi = 3.14159265358979323846;

/* An avatar from a distance function; unit spacing, origin in the middle. */
static void avatar_of(double (*distance)(TlVec3), int n, double volume, double area,
                      const TlNodeOptions *options, TlAvatar *a) {
  *a = (TlAvatar){.nx = n, .ny = n, .nz = n, .spacing_m = 1};
  a->origin_m = tl_vec3(-0.5 * (n - 1), -0.5 * (n - 1), -0.5 * (n - 1));
  a->phi = tl_calloc((size_t)n * (size_t)n * (size_t)n, sizeof *a->phi);
  ck_assert(a->phi != NULL);
  for (int64_t i = 0; i < (int64_t)n * n * n; i++)
    a->phi[i] = (float)distance(
        tl_add(a->origin_m, tl_vec3((double)(i % n), (double)(i / n % n), (double)(i / n / n))));
  a->volume_m3 = volume;
  a->area_m2 = area;
  a->inertia_m5 = tl_vec3(1, 1, 1);
  CK_OK(tl_nodes_place(a, options));
  CK_OK(tl_avatar_check(a));
}

static double torus(TlVec3 p) { /* ring radius 10, tube 4 */
  double q = sqrt(p.x * p.x + p.y * p.y) - 10;
  return sqrt(q * q + p.z * p.z) - 4;
}

static double plate(TlVec3 p) { /* 2.4 thick, 20 across: two sides closer than the node spacing */
  double q = fmax(0, sqrt(p.x * p.x + p.y * p.y) - 10), z = fabs(p.z + 0.1) - 1.2;
  return q > 0 || z > 0 ? sqrt(q * q + fmax(0, z) * fmax(0, z)) : fmax(z, -1.2);
}

static TlVec3 node(const TlAvatar *a, int32_t i) {
  return tl_vec3(a->node_m[3 * i], a->node_m[3 * i + 1], a->node_m[3 * i + 2]);
}

/* The farthest any point of the surface lies from its nearest node. */
static double largest_gap(const TlAvatar *a) {
  TlMesh m;
  double worst = 0;
  CK_OK(tl_mesh_from_avatar(a, &m));
  for (size_t v = 0; v < m.vertex_count; v++) {
    double best = INFINITY;
    TlVec3 p = tl_mesh_vertex(&m, (int32_t)v);
    for (int32_t i = 0; i < a->node_count; i++) best = fmin(best, tl_norm(tl_sub(p, node(a, i))));
    worst = fmax(worst, best);
  }
  tl_mesh_free(&m);
  return worst;
}

START_TEST(a_torus_gets_nodes_all_over) {
  TlAvatar a;
  TlNodeOptions options = {.spacing_m = 2.5};
  double area = 4 * pi * pi * 10 * 4;
  avatar_of(torus, 37, 2 * pi * pi * 10 * 16, area, &options, &a);
  /* hexagons of spacing s: no point farther than s/sqrt 3; half as much again for irregular ones */
  double s = sqrt(area / a.node_count / 0.8660254);
  CK_NEAR(s, 2.5, 0.05);
  ck_assert_msg(largest_gap(&a) < 1.5 * s / sqrt(3), "gap %g of spacing %g", largest_gap(&a), s);
  double sum = 0, inner = 0;
  for (int32_t i = 0; i < a.node_count; i++) {
    TlVec3 p = node(&a, i);
    ck_assert(fabs(tl_avatar_phi(&a, p, NULL)) < 0.01);
    ck_assert(a.node_area_m2[i] > 0.4 * area / a.node_count);
    ck_assert(a.node_area_m2[i] < 2.0 * area / a.node_count);
    sum += a.node_area_m2[i];
    if (hypot(p.x, p.y) < 10) inner += a.node_area_m2[i];
  }
  CK_NEAR(sum, area, 1e-5 * area);
  /* the inner half of the tube has (pi - 2 r/R)/2 pi of the area: 37.3%; a node's part is 0.4% */
  CK_NEAR(inner / area, (pi - 0.8) / (2 * pi), 0.02);
  tl_avatar_free(&a);
}
END_TEST

START_TEST(a_thin_plate_keeps_two_sides) {
  TlAvatar a;
  TlNodeOptions options = {.spacing_m = 3};
  double area = 2 * pi * 100 + 2 * pi * 10 * 2.4, up = 0, down = 0, square = 0;
  avatar_of(plate, 29, pi * 100 * 2.4, area, &options, &a);
  for (int32_t i = 0; i < a.node_count; i++) {
    TlVec3 p = node(&a, i), g;
    tl_avatar_phi(&a, p, &g);
    if (g.z > 0.7) up += a.node_area_m2[i];
    if (g.z < -0.7) down += a.node_area_m2[i];
    double part = (double)a.node_area_m2[i] * a.node_count / area - 1;
    square += part * part;
  }
  /* 12%; 25% where nodes take the samples of the other side */
  double scatter = sqrt(square / a.node_count);
  ck_assert_msg(scatter < 0.18, "areas scatter by %g", scatter);
  CK_NEAR(up / area, 0.43, 0.06); /* 314 of 779, and a share of the rim's rounding */
  CK_NEAR(down / area, 0.43, 0.06);
  tl_avatar_free(&a);
}
END_TEST

START_TEST(nodes_are_even_on_a_sphere) {
  TlAvatar a;
  double nearest_sum = 0, least = INFINITY, mean, square = 0;
  CK_OK(tl_avatar_sphere(12, 1, 300, &a));
  for (int32_t i = 0; i < a.node_count; i++) {
    double best = INFINITY;
    for (int32_t j = 0; j < a.node_count; j++)
      if (j != i) best = fmin(best, tl_norm(tl_sub(node(&a, i), node(&a, j))));
    nearest_sum += best;
    least = fmin(least, best);
    double part = (double)a.node_area_m2[i] * a.node_count / a.area_m2 - 1;
    square += part * part;
  }
  mean = nearest_sum / a.node_count;
  /* random points would have a mean of half the hexagonal spacing and near-coincident pairs */
  double hexagonal = sqrt(a.area_m2 / a.node_count / 0.8660254);
  ck_assert_msg(mean > 0.8 * hexagonal && least > 0.55 * hexagonal, "mean %g least %g of %g", mean,
                least, hexagonal);
  /* thinning alone scatters the areas by 17%, four relaxations leave 13% */
  double scatter = sqrt(square / a.node_count);
  ck_assert_msg(scatter < 0.15, "areas scatter by %g", scatter);
  tl_avatar_free(&a);
}
END_TEST

START_TEST(impossible_counts_are_refused) {
  TlAvatar a;
  CK_FAILS(tl_avatar_sphere(3, 1, 100000, &a), TL_EINPUT, "too many");
}
END_TEST

TL_TEST_MAIN("nodes", a_torus_gets_nodes_all_over, a_thin_plate_keeps_two_sides,
             nodes_are_even_on_a_sphere, impossible_counts_are_refused)
