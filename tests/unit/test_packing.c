/* Measures of a packing against closed forms. */
#include "support/tltest.h"

#include "base/mem.h"
#include "base/random.h"
#include "post/band.h"
#include "post/packing.h"
#include "post/packing_chains.h"
#include "post/packing_fabric.h"
#include "post/packing_forces.h"
#include "post/packing_stress.h"
#include "post/packing_measures.h"
#include "shape/superellipsoid.h"

static const double PI = 3.14159265358979323846;
static const double R = 0.5e-3; /* of the spheres */

/* ---- a simple cubic packing of n^3 spheres between six walls ---- */

static void add_grain(TlPacking *p, TlVec3 x) {
  p->grain[p->grain_count] = (TlPackGrain){.id = p->grain_count,
                                           .centre_m = x,
                                           .volume_m3 = 4.0 / 3 * PI * R * R * R,
                                           .mass_kg = 2650 * 4.0 / 3 * PI * R * R * R,
                                           .diameter_m = 2 * R,
                                           .scale = 1,
                                           .rotation = {1, 0, 0, 0}};
  p->grain_count++;
}

/* Force on a, normal to a. */
static void touch(TlPacking *p, int64_t a, int64_t b, TlVec3 point, TlVec3 normal, TlVec3 force) {
  p->contact[p->contact_count++] = (TlPackContact){a, b, point, normal, force, 0.5};
}

static TlPacking empty(size_t grains, size_t contacts) {
  TlPacking p = {.density_kg_m3 = 2650};
  CK_OK(TL_NEW(p.grain, grains));
  CK_OK(TL_NEW(p.contact, contacts));
  return p;
}

static TlVec3 unit_of(int axis) {
  return tl_vec3(axis == 0, axis == 1, axis == 2);
}

static const double *component(const TlVec3 *v, int axis) {
  return axis == 0 ? &v->x : axis == 1 ? &v->y : &v->z;
}

/* Lower corner at 0; columns along axis k carry force[k]. */
static TlPacking cubic(int n, TlVec3 force) {
  TlPacking p = empty((size_t)(n * n * n), (size_t)(6 * n * n * n));
  const int stride[3] = {1, n, n * n};
  for (int k = 0; k < n; k++)
    for (int j = 0; j < n; j++)
      for (int i = 0; i < n; i++)
        add_grain(&p, tl_scale(R, tl_vec3(2 * i + 1, 2 * j + 1, 2 * k + 1)));
  for (int64_t g = 0; g < p.grain_count; g++)
    for (int axis = 0; axis < 3; axis++) {
      int64_t place = g / stride[axis] % n;
      TlVec3 e = unit_of(axis), x = p.grain[g].centre_m, f = tl_scale(*component(&force, axis), e);
      if (place == 0) touch(&p, g, -1 - 2 * axis, tl_axpy(x, -R, e), e, f);
      touch(&p, g, place == n - 1 ? -2 - 2 * axis : g + stride[axis], tl_axpy(x, R, e),
            tl_scale(-1, e), tl_scale(-1, f));
    }
  CK_OK(tl_packing_pairs(&p));
  return p;
}

static TlRegion box(TlVec3 low, TlVec3 high) {
  return (TlRegion){.low = low, .high = high};
}

static void stress_is(TlSym3 s, double xx, double yy, double zz, double tolerance) {
  CK_NEAR(s.xx, xx, tolerance);
  CK_NEAR(s.yy, yy, tolerance);
  CK_NEAR(s.zz, zz, tolerance);
  CK_NEAR(s.xy, 0, tolerance);
  CK_NEAR(s.xz, 0, tolerance);
  CK_NEAR(s.yz, 0, tolerance);
}

START_TEST(stress_of_a_simple_cubic_packing_is_exact) {
  const int n = 4;
  const TlVec3 f = {1, 2, 5};
  TlPacking p = cubic(n, f);
  double L = 2 * R * n, A = 4 * R * R;
  /* between its walls: force over the area of a column, whatever is cut along the columns */
  TlRegion whole = box(tl_vec3(0, 0, 0), tl_vec3(L, L, L));
  stress_is(tl_stress_region(&p, &whole), f.x / A, f.y / A, f.z / A, 1e-9 * f.z / A);
  TlRegion part = box(tl_vec3(2 * R, 2 * R, 2 * R), tl_vec3(6 * R, 6 * R, 8 * R));
  stress_is(tl_stress_region(&p, &part), f.x / A, f.y / A, f.z / A, 1e-9 * f.z / A);
  TlRegion cut = box(tl_vec3(1.7 * R, 1.3 * R, 0.6 * R), tl_vec3(5.7 * R, 5.3 * R, 2.6 * R));
  stress_is(tl_stress_region(&p, &cut), f.x / A, f.y / A, f.z / A, 1e-9 * f.z / A);
  /* a thin cylinder about one column: its chords of the cross columns */
  double a = 0.8 * R;
  TlRegion round = {
      .round = true, .foot = {3 * R, 3 * R, 2 * R}, .axis = {0, 0, 4 * R}, .radius_m = a};
  stress_is(tl_stress_region(&p, &round), f.x / (PI * a * R), f.y / (PI * a * R),
            f.z / (PI * a * a), 1e-9 * f.z / A);
  /* each grain over its own volume: 2 R F/V_g */
  TlSym3 sigma[64];
  tl_stress_grains(&p, sigma);
  double v = 4.0 / 3 * PI * R * R * R;
  for (int i = 0; i < 64; i++)
    stress_is(sigma[i], 2 * R * f.x / v, 2 * R * f.y / v, 2 * R * f.z / v, 1e-9 * f.z / A);
  TlStress t = tl_stress_of(tl_stress_region(&p, &whole));
  CK_NEAR(t.mean_Pa, 8.0 / 3 / A, 1e-9 / A);
  CK_NEAR(t.deviatoric_Pa, sqrt(0.5 * (1 + 9 + 16)) / A, 1e-9 / A);
  CK_NEAR(t.friction_deg, asin(4.0 / 6) * 180 / PI, 1e-9);
  CK_NEAR(fabs(t.major.z), 1, 1e-12);
  tl_packing_free(&p);
}
END_TEST

/* Turned as a whole, the stress turns along; pushed and sheared from both sides it is symmetric. */
START_TEST(stress_turns_with_the_packing_and_is_positive_in_compression) {
  TlPacking p = empty(1, 2);
  TlVec3 n = tl_unit(tl_vec3(1, -2, 0.5)), f = {0.3, -0.4, 0.7};
  add_grain(&p, tl_vec3(0.1, 0.2, 0.3));
  touch(&p, 0, -1, tl_axpy(p.grain[0].centre_m, -R, n), n, f);
  touch(&p, 0, -2, tl_axpy(p.grain[0].centre_m, R, n), tl_scale(-1, n), tl_scale(-1, f));
  TlSym3 s;
  tl_stress_grains(&p, &s);
  double v = p.grain[0].volume_m3, k = 2 * R / v;
  CK_NEAR(s.xx, k * f.x * n.x, 1e-9 * k);
  CK_NEAR(s.yy, k * f.y * n.y, 1e-9 * k);
  CK_NEAR(s.yz, k * 0.5 * (f.y * n.z + f.z * n.y), 1e-9 * k);
  CK_NEAR((s.xx + s.yy + s.zz), k * tl_dot(f, n), 1e-9 * k);
  ck_assert(tl_stress_of((TlSym3){-1, -1, -1, 0, 0, 0}).friction_deg !=
            tl_stress_of((TlSym3){-1, -1, -1, 0, 0, 0}).friction_deg);
  tl_packing_free(&p);
}
END_TEST

START_TEST(shares_of_segments_have_their_closed_forms) {
  TlRegion b = box(tl_vec3(0, 0, 0), tl_vec3(1, 2, 3));
  TlRegion c = {.round = true, .foot = {1, 0, 0}, .axis = {0, 0, 2}, .radius_m = 0.5};
  CK_NEAR(tl_region_volume(&b), 6, 0);
  CK_NEAR(tl_region_volume(&c), 0.5 * PI, 1e-15);
  CK_NEAR(tl_region_fraction(&b, tl_vec3(-1, 1, 1), tl_vec3(3, 1, 1)), 0.25, 1e-15);
  CK_NEAR(tl_region_fraction(&b, tl_vec3(0.5, 1, 1), tl_vec3(0.6, 1, 2)), 1, 0);
  CK_NEAR(tl_region_fraction(&b, tl_vec3(-1, 3, 1), tl_vec3(3, 3, 1)), 0, 0);
  CK_NEAR(tl_region_fraction(&b, tl_vec3(-1, -1, 1), tl_vec3(-2, 5, 1)), 0, 0);
  CK_NEAR(tl_region_fraction(&c, tl_vec3(-1, 0.3, 1), tl_vec3(3, 0.3, 1)), 0.8 / 4, 1e-15);
  CK_NEAR(tl_region_fraction(&c, tl_vec3(1, 0, -1), tl_vec3(1, 0, 3)), 0.5, 1e-15);
  CK_NEAR(tl_region_fraction(&c, tl_vec3(1.6, 0, -1), tl_vec3(1.6, 0, 3)), 0, 0);
  CK_NEAR(tl_region_fraction(&c, tl_vec3(1, 0.6, 1), tl_vec3(2, 0.6, 1)), 0, 0);
  CK_NEAR(tl_region_depth(&c, tl_vec3(1, 0.1, 0.9)), 0.4, 1e-15);
  CK_NEAR(tl_region_depth(&b, tl_vec3(0.5, 1, 3.5)), -0.5, 1e-15);
}
END_TEST

/* ---- coordination ---- */

START_TEST(coordination_counts_points_neighbours_and_rattlers) {
  TlPacking p = cubic(3, tl_vec3(1, 1, 1));
  TlRegion all = box(tl_vec3(0, 0, 0), tl_vec3(6 * R, 6 * R, 6 * R));
  TlCoordination c;
  CK_OK(tl_coordination(&p, &all, &c));
  ck_assert_int_eq(c.bodies, 27);
  CK_NEAR(c.points, 6, 0);
  CK_NEAR(c.neighbours, 6, 0);
  CK_NEAR(c.mechanical, 6, 0);
  CK_NEAR(c.rattlers, 0, 0);
  tl_packing_free(&p);
  /* A row of three that touch in two points each, one apart, one on the end of the row:
   * neighbours 1 2 2 1 0 */
  p = empty(5, 8);
  for (int i = 0; i < 5; i++) add_grain(&p, tl_vec3(2 * R * i, 0, 0));
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 2; k++)
      touch(&p, i, i + 1, tl_vec3((2 * i + 1) * R, 0.1 * k * R, 0), tl_vec3(-1, 0, 0),
            tl_vec3(-1, 0, 0));
  CK_OK(tl_packing_pairs(&p));
  ck_assert_int_eq(p.pair_count, 3);
  CK_NEAR(p.pair[0].normal_N, 2, 0);
  all = tl_packing_bounds(&p);
  CK_OK(tl_coordination(&p, &all, &c));
  CK_NEAR(c.points, 12.0 / 5, 1e-15);
  CK_NEAR(c.neighbours, 6.0 / 5, 1e-15);
  CK_NEAR(c.mechanical, (6.0 - 2) / (5 - 1 - 2), 1e-15);
  CK_NEAR(c.rattlers, 3.0 / 5, 1e-15);
  /* grains 1 and 3 of the row as parts of one body: it touches 0 by two points and 2, by both parts,
   * by four; 4 is left alone */
  p.grain[1].part_of = p.grain[3].part_of = 1 + 1;
  p.grain[1].arm_m = tl_vec3(-2 * R, 0, 0);
  p.grain[3].arm_m = tl_vec3(2 * R, 0, 0);
  CK_OK(tl_coordination(&p, &all, &c));
  ck_assert_int_eq(c.bodies, 4);
  CK_NEAR(c.points, 12.0 / 4, 1e-15);
  CK_NEAR(c.neighbours, 4.0 / 4, 1e-15);
  CK_NEAR(c.mechanical, 2, 1e-15);
  CK_NEAR(c.rattlers, 3.0 / 4, 1e-15);
  tl_packing_free(&p);
}
END_TEST

/* ---- fabric ---- */

/* Density (1 + k (3 c^2 - 1)/2)/(4 pi), c = cos of the angle to z: c + k (c^3 - c)/2 = u. */
static double cosine_at(double k, double u) {
  double low = 0, high = 1;
  for (int i = 0; i < 60; i++) {
    double c = 0.5 * (low + high);
    if (c + 0.5 * k * (c * c * c - c) < u)
      low = c;
    else
      high = c;
  }
  return 0.5 * (low + high);
}

START_TEST(fabric_gives_back_the_density_it_was_drawn_from) {
  enum { N = 20000 };
  static TlVec3 n[N];
  const double k = 0.6, golden = 2.39996322972865332;
  TlMat3 turn = tl_quat_matrix(tl_quat_from_rotation(tl_vec3(0.4, -0.9, 0.2)));
  for (int i = 0; i < N; i++) {
    double c = cosine_at(k, (i + 0.5) / N), s = sqrt(1 - c * c);
    TlVec3 v = {s * cos(golden * i), s * sin(golden * i), i % 2 ? -c : c};
    n[i] = tl_mat_vec(turn, v);
  }
  TlFabric f = tl_fabric_of(n, N);
  CK_NEAR(f.anisotropy, 1.5 * k, 2e-3);
  CK_NEAR(f.tensor.xx + f.tensor.yy + f.tensor.zz, 1, 1e-12);
  CK_NEAR(f.deviatoric.xx + f.deviatoric.yy + f.deviatoric.zz, 0, 1e-12);
  TlVec3 major = tl_mat_vec(turn, tl_vec3(0, 0, 1));
  CK_NEAR(fabs(tl_dot(f.major, major)), 1, 1e-4);
  CK_NEAR(tl_dot(major, tl_sym_vec(f.deviatoric, major)), k, 2e-3);
  /* all the same, and evenly along three axes */
  const TlVec3 same[2] = {{0, 0, 1}, {0, 0, -1}}, even[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  CK_NEAR(tl_fabric_of(same, 2).anisotropy, 7.5, 1e-12);
  CK_NEAR(tl_fabric_of(even, 3).anisotropy, 0, 1e-12);
  ck_assert(!(tl_fabric_of(even, 0).anisotropy >= 0));
}
END_TEST

START_TEST(cells_of_the_histogram_have_equal_solid_angles) {
  enum { BANDS = 60, SECTORS = 240, N = BANDS * SECTORS };
  static TlVec3 n[N];
  int64_t cell[TL_FABRIC_BANDS * TL_FABRIC_SECTORS];
  for (int i = 0; i < N; i++) {
    double c = (i / SECTORS + 0.5) / BANDS, s = sqrt(1 - c * c),
           a = 2 * PI * (i % SECTORS + 0.5) / SECTORS;
    n[i] = tl_scale(i % 3 ? 1 : -1, tl_vec3(s * cos(a), s * sin(a), c));
  }
  tl_fabric_histogram(n, N, cell);
  for (int k = 0; k < TL_FABRIC_BANDS * TL_FABRIC_SECTORS; k++) ck_assert_int_eq(cell[k], 100);
  const TlVec3 one = {0, -1, -1e-9};
  tl_fabric_histogram(&one, 1, cell);
  ck_assert_int_eq(cell[6], 1); /* turned up it points along +y: 90 degrees */
}
END_TEST

START_TEST(directions_of_normals_branches_and_long_axes) {
  TlPacking p = cubic(3, tl_vec3(1, 1, 1));
  TlRegion all = tl_packing_bounds(&p);
  TlVec3 *d;
  int64_t n;
  CK_OK(tl_fabric_directions(&p, &all, TL_FABRIC_NORMALS, &d, &n));
  ck_assert_int_eq(n, 54);
  CK_NEAR(tl_fabric_of(d, n).anisotropy, 0, 1e-12);
  tl_free(d);
  CK_OK(tl_fabric_directions(&p, &all, TL_FABRIC_BRANCHES, &d, &n));
  ck_assert_int_eq(n, 54);
  CK_NEAR(tl_fabric_of(d, n).tensor.xx, 1.0 / 3, 1e-12);
  tl_free(d);
  CK_OK(tl_fabric_directions(&p, &all, TL_FABRIC_LONG_AXES, &d, &n));
  ck_assert_int_eq(n, 0); /* spheres */
  tl_free(d);
  tl_packing_free(&p);
}
END_TEST

/* ---- forces ---- */

/* 2N pairs in a row whose normal forces are quantiles: half of them weak as f^alpha on (0, 1),
 * half strong as exp(-beta (f - 1)) above 1; the mean is made 1 by the choice of beta. */
START_TEST(exponents_of_the_force_distribution_come_back) {
  enum { N = 4000 };
  const double alpha = 0.5, weak_mean = (alpha + 1) / (alpha + 2), beta = 1 / (1 - weak_mean);
  TlPacking p = empty(2 * N + 1, 2 * N);
  for (int i = 0; i <= 2 * N; i++) add_grain(&p, tl_vec3(2 * R * i, 0, 0));
  for (int i = 0; i < 2 * N; i++) {
    double u = (i / 2 + 0.5) / N;
    double f = i % 2 ? 1 - log(1 - u) / beta : pow(u, 1 / (alpha + 1));
    double slide = i % 4 == 0 ? 0.5 : 0.2; /* every other of the weak slides */
    touch(&p, i, i + 1, tl_vec3((2 * i + 1) * R, 0, 0), tl_vec3(-1, 0, 0),
          tl_scale(7 * f, tl_vec3(-1, slide, 0)));
  }
  CK_OK(tl_packing_pairs(&p));
  TlRegion all = box(tl_vec3(-1, -1, -1), tl_vec3(1e3, 1, 1));
  TlForces f = tl_forces_of(&p, &all);
  ck_assert_int_eq(f.pairs, 2 * N);
  CK_NEAR(f.mean_N, 7, 0.01);
  CK_NEAR(f.strong_fraction, 0.5, 0.002);
  CK_NEAR(f.beta, beta, 0.02 * beta);
  CK_NEAR(f.alpha, alpha, 0.02);
  CK_NEAR(f.sliding, 0.25, 1e-12);
  CK_NEAR(f.sliding_strong, 0, 1e-12);
  CK_NEAR(f.sliding_weak, 0.5, 0.002);
  int64_t count[TL_FORCES_BINS], sum = 0;
  tl_forces_histogram(&p, &all, count);
  for (int k = 0; k < TL_FORCES_BINS; k++) sum += count[k];
  ck_assert_int_eq(sum, 2 * N);
  CK_NEAR((double)count[0] / N, pow(0.125, 1.5), 0.01); /* of the weak: x^(alpha + 1) */
  tl_packing_free(&p);
}
END_TEST

/* ---- chains ---- */

/* Grains at the points given, each pushed against the next; weak contacts beside. */
static TlPacking path(const TlVec3 *x, int n, double force) {
  TlPacking p = empty((size_t)n + 21, (size_t)n + 21);
  for (int i = 0; i < n; i++) add_grain(&p, tl_scale(2 * R, x[i]));
  for (int i = 0; i < 20; i++) add_grain(&p, tl_scale(2 * R, tl_vec3(100 + i, 0, 0)));
  for (int i = 0; i + 1 < n; i++) {
    TlVec3 e = tl_unit(tl_sub(x[i], x[i + 1]));
    touch(&p, i, i + 1, tl_axpy(p.grain[i].centre_m, -R, e), e, tl_scale(force, e));
  }
  for (int i = 0; i < 19; i++)
    touch(&p, n + i, n + i + 1, tl_scale(2 * R, tl_vec3(100.5 + i, 0, 0)), tl_vec3(-1, 0, 0),
          tl_vec3(-0.1, 0, 0));
  CK_OK(tl_packing_pairs(&p));
  return p;
}

START_TEST(planted_chains_are_found_whole_and_end_at_sharp_bends) {
  const TlRegion all = box(tl_vec3(-1, -1, -1), tl_vec3(1, 1, 1));
  const double a = 30 * PI / 180; /* a column that leans, then goes on upright */
  const TlVec3 bent[6] = {{0, 0, 0},
                          {sin(a), 0, cos(a)},
                          {2 * sin(a), 0, 2 * cos(a)},
                          {2 * sin(a), 0, 2 * cos(a) + 1},
                          {2 * sin(a), 0, 2 * cos(a) + 2},
                          {2 * sin(a), 0, 2 * cos(a) + 3}};
  TlChains c;
  TlPacking p = path(bent, 6, 5);
  CK_OK(tl_chains_find(&p, &all, &c));
  ck_assert_int_eq(c.count, 1);
  ck_assert_int_eq(c.strong, 5);
  ck_assert_int_eq(c.chain[0].count, 6);
  CK_NEAR(c.chain[0].length_m, 10 * R, 1e-12);
  CK_NEAR(c.chain[0].force_N, 5, 1e-12);
  CK_NEAR(c.chain[0].steep_deg, 2 * 30.0 / 5, 1e-6);
  for (int i = 0; i < 6; i++) ck_assert_int_eq(c.member[i], i);
  CK_NEAR(c.link_N[4], 5, 1e-12);
  CK_NEAR(c.link_N[5], 0, 0);
  tl_chains_free(&c);
  tl_packing_free(&p);
  /* an arm that turns by 100 degrees at grain 3: both neighbours lie on one side of its
   * stress, and it takes one of them */
  const double b = 100 * PI / 180;
  TlVec3 broken[7];
  for (int i = 0; i < 7; i++)
    broken[i] = i < 4 ? tl_vec3(i, 0, 0) : tl_vec3(3 + (i - 3) * cos(b), 0, (i - 3) * sin(b));
  p = path(broken, 7, 5);
  CK_OK(tl_chains_find(&p, &all, &c));
  ck_assert_int_eq(c.count, 2);
  ck_assert_int_eq(c.chain[0].count + c.chain[1].count, 7);
  ck_assert_int_ge(c.chain[0].count, 3);
  ck_assert_int_ge(c.chain[1].count, 3);
  tl_chains_free(&c);
  tl_packing_free(&p);
}
END_TEST

START_TEST(a_ring_is_one_chain_and_a_fork_does_not_branch) {
  enum { N = 24 };
  const TlRegion all = box(tl_vec3(-1, -1, -1), tl_vec3(1, 1, 1));
  TlVec3 ring[N + 1];
  double radius = 0.5 / sin(PI / N);
  for (int i = 0; i < N; i++)
    ring[i] = tl_vec3(radius * cos(2 * PI * i / N), 0, radius * sin(2 * PI * i / N));
  TlPacking p = path(ring, N, 3);
  TlVec3 e = tl_unit(tl_sub(ring[N - 1], ring[0]));
  touch(&p, N - 1, 0, tl_axpy(p.grain[N - 1].centre_m, -R, e), e, tl_scale(3, e));
  CK_OK(tl_packing_pairs(&p));
  TlChains c;
  CK_OK(tl_chains_find(&p, &all, &c));
  ck_assert_int_eq(c.count, 1);
  ck_assert_int_eq(c.chain[0].count, N);
  tl_chains_free(&c);
  tl_packing_free(&p);
  const TlVec3 column[4] = {{0, 0, 0}, {0, 0, 1}, {0, 0, 2}, {0, 0, 3}};
  p = path(column, 4, 5);
  TlVec3 side = tl_unit(tl_vec3(0.5, 0, 1)); /* a second one on grain 3, weaker */
  add_grain(&p, tl_axpy(p.grain[3].centre_m, 2 * R, side));
  touch(&p, 3, p.grain_count - 1, tl_axpy(p.grain[3].centre_m, R, side), tl_scale(-1, side),
        tl_scale(-2, side));
  CK_OK(tl_packing_pairs(&p));
  CK_OK(tl_chains_find(&p, &all, &c));
  ck_assert_int_eq(c.count, 1);
  ck_assert_int_eq(c.chain[0].count, 5); /* on at the end */
  tl_chains_free(&c);
  tl_packing_free(&p);
}
END_TEST

/* ---- flow, balance, voids ---- */

START_TEST(inertia_number_of_an_affine_flow) {
  TlPacking p = cubic(3, tl_vec3(2, 2, 2));
  const double rate = 0.25; /* axial, volume kept, and a turn that must not count */
  for (int64_t i = 0; i < p.grain_count; i++) {
    TlVec3 x = p.grain[i].centre_m, turn = tl_cross(tl_vec3(1, -3, 2), x);
    p.grain[i].velocity_m_s =
        tl_add(turn, tl_vec3(1 + 0.5 * rate * x.x, 0.5 * rate * x.y, -rate * x.z));
  }
  TlRegion all = box(tl_vec3(0, 0, 0), tl_vec3(6 * R, 6 * R, 6 * R));
  TlFlow f = tl_flow_of(&p, &all);
  double pressure = 2 / (4 * R * R);
  CK_NEAR(f.rate_per_s, rate, 1e-9);
  CK_NEAR(f.volume_rate_per_s, 0, 1e-9);
  CK_NEAR(f.inertia, rate * 2 * R * sqrt(2650 / pressure), 1e-12);
  tl_packing_free(&p);
}
END_TEST

START_TEST(unbalanced_force_is_what_is_left_over_the_mean_contact_force) {
  TlPacking p = cubic(3, tl_vec3(1, 1, 1));
  TlRegion all = box(tl_vec3(0, 0, 0), tl_vec3(6 * R, 6 * R, 6 * R));
  double u;
  CK_OK(tl_balance(&p, &all, &u));
  CK_NEAR(u, 0, 1e-12);
  p.gravity_m_s2 = tl_vec3(0, 0, -10);
  CK_OK(tl_balance(&p, &all, &u));
  CK_NEAR(u, p.grain[0].mass_kg * 10, 1e-12);
  p.grain[0].fixed = true;
  p.grain[1].mass_kg *= 27; /* 25 + 27 of 26 */
  CK_OK(tl_balance(&p, &all, &u));
  CK_NEAR(u, p.grain[2].mass_kg * 10 * 2, 1e-12);
  tl_packing_free(&p);
}
END_TEST

START_TEST(void_ratio_of_cubic_spheres_and_of_a_cut_one) {
  TlAvatar a;
  CK_OK(tl_avatar_superellipsoid(R, R, R, 1, 1, R / 24, 200, &a));
  TlPacking p = cubic(3, tl_vec3(1, 1, 1));
  for (int64_t i = 0; i < p.grain_count; i++) p.grain[i].avatar = &a;
  double L = 6 * R;
  TlRegion whole = box(tl_vec3(0, 0, 0), tl_vec3(L, L, L)),
           half = box(tl_vec3(0, 0, 0), tl_vec3(L, L, 3 * R)),
           cap = box(tl_vec3(0, 0, 0), tl_vec3(2 * R, 2 * R, 0.5 * R));
  CK_NEAR(tl_void_solid_m3(&p, &whole) / (L * L * L), PI / 6, 1e-9);
  CK_NEAR(tl_void_solid_m3(&p, &half) / (0.5 * L * L * L), PI / 6, 2e-3);
  /* a cap of height h: pi h^2 (3 R - h)/3 */
  double h = 0.5 * R, want = PI * h * h * (3 * R - h) / 3;
  CK_NEAR(tl_void_solid_m3(&p, &cap), want, 0.01 * want);
  /* the least box about the nodes is that of the walls */
  TlRegion b = tl_packing_bounds(&p);
  CK_NEAR(b.low.x, 0, 0.02 * R);
  CK_NEAR(b.high.z, L, 0.02 * R);
  tl_packing_free(&p);
  tl_avatar_free(&a);
}
END_TEST

/* ---- rotations and the band ---- */

static double even(uint64_t stream, int i) {
  return tl_random_uniform(5, stream, (uint64_t)i);
}

/* Grains in a column 30 x 30 x 60 diameters; those within 5 of a plane at 55 degrees to the
 * horizontal turn by half a radian and more, as do some at the upper end. */
START_TEST(a_planted_band_is_found_beside_grains_that_turn_at_the_platen) {
  enum { N = 9000 };
  const double d = 2 * R, tilt = 55 * PI / 180, half = 2.5 * d;
  const TlVec3 n = {sin(tilt) * cos(0.7), sin(tilt) * sin(0.7), cos(tilt)};
  TlPacking before = empty(N, 1), now = empty(N, 1);
  int64_t planted = 0;
  for (int i = 0; i < N; i++) {
    TlVec3 x = tl_scale(d, tl_vec3(30 * even(1, i), 30 * even(2, i), 60 * even(3, i)));
    double off = tl_dot(n, tl_sub(x, tl_scale(d, tl_vec3(15, 15, 30))));
    bool band = fabs(off)<half, platen = x.z> 58 * d && even(4, i) < 0.1;
    TlVec3 axis = tl_unit(tl_vec3(even(5, i) - 0.5, even(6, i) - 0.5, even(7, i) - 0.5));
    double turn = band || platen ? 0.5 + 0.1 * even(8, i) : 0.05 * even(9, i);
    planted += band;
    add_grain(&before, x);
    add_grain(&now, x);
    before.grain[i].rotation = tl_quat_from_rotation(tl_vec3(even(10, i), even(11, i), 1));
    TlQuat by = tl_quat_from_rotation(tl_scale(turn, axis));
    now.grain[i].rotation = tl_quat_mul(by, before.grain[i].rotation);
    if (i % 2)
      now.grain[i].rotation.w *= -1, now.grain[i].rotation.x *= -1, now.grain[i].rotation.y *= -1,
          now.grain[i].rotation.z *= -1;
  }
  static double angle[N], in_place[N];
  static unsigned char in[N];
  tl_band_rotations(&before, &now, angle);
  for (int i = 0; i < N; i++) ck_assert(angle[i] <= 0.6 + 1e-9 && angle[i] >= 0);
  tl_band_rotations(&now, &now, in_place);
  for (int i = 0; i < N; i++) ck_assert(in_place[i] == 0);
  TlBand b;
  TlBandOptions o = {.tolerance_m = 1.2 * half, .dilatancy_deg = 12};
  CK_OK(tl_band_find(&now, angle, &o, &b, in));
  ck_assert(b.found);
  ck_assert_int_gt(b.chosen, planted);
  ck_assert(b.kept >= planted && b.kept <= planted + planted / 50);
  CK_NEAR(acos(fmin(1, fabs(tl_dot(b.normal, n)))) * 180 / PI, 0, 1);
  CK_NEAR(b.inclination_deg, 55, 1);
  CK_NEAR(b.thickness_m, 2 * half, 0.05 * 2 * half);
  CK_NEAR(b.thickness_d50, 5, 0.25);
  CK_NEAR(b.roscoe_deg, 51, 1e-12);
  /* the grains at the platen would have tilted or thickened it */
  TlBandOptions loose = {.tolerance_m = 1, .dilatancy_deg = NAN};
  TlBand all;
  CK_OK(tl_band_find(&now, angle, &loose, &all, NULL));
  ck_assert(all.kept == all.chosen && all.thickness_m > 1.3 * b.thickness_m);
  tl_packing_free(&before);
  tl_packing_free(&now);
}
END_TEST

START_TEST(no_band_in_a_line_or_among_few) {
  TlPacking p = empty(100, 1);
  double angle[100];
  TlBand b;
  TlBandOptions o = {.dilatancy_deg = NAN};
  for (int i = 0; i < 100; i++) {
    add_grain(&p, tl_vec3(2 * R * i, 0, 0));
    angle[i] = i % 12 == 0 ? 1 : 0.01;
  }
  angle[3] = NAN;
  o.tolerance_m = 1;
  CK_OK(tl_band_find(&p, angle, &o, &b, NULL));
  ck_assert(!b.found && b.chosen == 9);
  for (int i = 0; i < 100; i++) angle[i] = i % 30 == 0 ? 1 : 0.01;
  CK_OK(tl_band_find(&p, angle, &o, &b, NULL));
  ck_assert(!b.found && b.chosen == 4);
  tl_packing_free(&p);
}
END_TEST

/* ---- from a frame ---- */

START_TEST(nets_and_grains_that_left_are_boundaries) {
  TlAvatar a;
  CK_OK(tl_avatar_superellipsoid(2 * R, R, R, 1, 1, R / 8, 60, &a));
  a.id = 1;
  TlScene scene = {
      .avatar_count = 1, .avatars = &a, .density_kg_m3 = 2000, .gravity_m_s2 = {0, 0, -9.81}};
  const int64_t net = INT64_C(1) << 40;
  TlQuat quarter = tl_quat_from_rotation(tl_vec3(0, 0, 0.5 * PI));
  TlBodyRow row[4] = {{.id = 4, .avatar_id = 1, .scale = 2, .rotation = quarter},
                      {.id = 7, .avatar_id = 1, .scale = 1, .rotation = {1, 0, 0, 0}},
                      {.id = 9, .avatar_id = 9, .scale = 1, .flags = TL_ROW_GUIDED},
                      {.id = net, .avatar_id = 9, .scale = 1, .flags = TL_ROW_NET}};
  TlFrame frame = {.count = 4, .rows = row};
  TlVec3 e = {1, 0, 0};
  TlContactRow c[6] = {
      {.first = 2, .second = 7, .normal = e, .force_N = {5, 0, 0}},
      {.first = 2, .second = 3, .normal = e, .force_N = {5, 0, 0}},
      {.first = 4, .second = -3, .normal = e, .force_N = {1, 0, 0}},
      {.first = 4, .second = 7, .normal = e, .force_N = {2, 1, 0}, .friction = 0.5},
      {.first = 4, .second = net, .normal = e, .force_N = {3, 0, 0}},
      {.first = 7, .second = 9, .normal = e, .force_N = {4, 0, 0}}};
  TlFrameContacts contacts = {.there = true, .count = 6, .rows = c};
  TlPacking p;
  CK_OK(tl_packing_make(&scene, &frame, &contacts, &p));
  ck_assert_int_eq(p.grain_count, 2);
  ck_assert_int_eq(p.contact_count, 5);
  ck_assert(p.contact[4].a == 1 && p.contact[4].b < -1000);
  ck_assert(p.contact[0].a == 1 && p.contact[0].b < 0);
  CK_NEAR(p.contact[0].force_N.x, -5, 0);
  CK_NEAR(p.contact[0].normal.x, -1, 0);
  ck_assert(p.contact[1].a == 0 && p.contact[1].b == -3);
  ck_assert(p.contact[2].a == 0 && p.contact[2].b == 1);
  ck_assert(p.contact[3].a == 0 && p.contact[3].b < 0 && p.contact[3].b != -3);
  ck_assert_int_eq(p.pair_count, 5);
  CK_NEAR(p.pair[2].normal_N, 2, 1e-15);
  CK_NEAR(p.pair[2].tangent_N, 1, 1e-15);
  ck_assert(tl_pair_slides(&p.pair[2])); /* by the contact's friction, not by another */
  p.pair[2].friction = 0.51;
  ck_assert(!tl_pair_slides(&p.pair[2]));
  CK_NEAR(p.grain[0].mass_kg, 8 * 2000 * a.volume_m3, 1e-18);
  CK_NEAR(fabs(p.grain[0].long_axis.y), 1, 1e-6);
  CK_NEAR(fabs(p.grain[1].long_axis.x), 1, 1e-6);
  tl_packing_free(&p);
  row[1].avatar_id = 3;
  CK_FAILS(tl_packing_make(&scene, &frame, &contacts, &p), TL_EINPUT, "grain 7 uses avatar 3");
  tl_avatar_free(&a);
}
END_TEST

/* Is the unit what the name's end says? Of a name without a unit: a pure number. */
static bool unit_agrees(const TlColumn *c) {
  static const char *const ends[][2] = {{"_Pa", "Pa"}, {"_per_s", "1/s"}, {"_deg", "deg"},
                                        {"_m3", "m3"}, {"_N", "N"},       {"_m", "m"}};
  size_t length = strlen(c->name);
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
    size_t end = strlen(ends[i][0]);
    if (length > end && strcmp(c->name + length - end, ends[i][0]) == 0)
      return strcmp(c->unit, ends[i][1]) == 0;
  }
  return c->unit[0] == 0;
}

START_TEST(each_measure_fills_its_columns) {
  TlPacking p = cubic(2, tl_vec3(1, 1, 1)), none = empty(1, 1);
  TlRegion all = box(tl_vec3(0, 0, 0), tl_vec3(4 * R, 4 * R, 4 * R));
  const TlPackMeasure *m;
  CK_OK(tl_packing_pairs(&none));
  for (int k = 0; (m = tl_pack_measure(k)); k++) {
    double value[100];
    for (int i = 0; i < 100; i++) value[i] = -12345;
    CK_OK(tl_pack_values(m, &p, &all, value));
    for (int i = 0; i < m->count; i++) {
      ck_assert(value[i] != -12345);
      ck_assert(m->column[i].doc[0] != 0);
      ck_assert_msg(unit_agrees(&m->column[i]), "%s is said to be in '%s'", m->column[i].name,
                    m->column[i].unit);
    }
    ck_assert(value[m->count] == -12345);
    CK_OK(tl_pack_values(m, &none, &all, value)); /* nothing there: no values, no failure */
  }
  tl_packing_free(&p);
  tl_packing_free(&none);
}
END_TEST

/* Two spheres of different size pushed and rubbed against each other: each has the symmetric part
 * of the dyad of force and arm, over its own volume. */
START_TEST(stress_of_a_grain_is_over_its_own_volume) {
  TlPacking p = empty(2, 1);
  const TlVec3 f = {-3, 1, 0.5}, arm[2] = {{R, 0, 0}, {-0.5 * R, 0, 0}};
  TlSym3 s[2];
  add_grain(&p, tl_vec3(0, 0, 0));
  add_grain(&p, tl_vec3(1.5 * R, 0, 0));
  p.grain[1].volume_m3 /= 8;
  touch(&p, 0, 1, arm[0], tl_vec3(-1, 0, 0), f);
  tl_stress_grains(&p, s);
  for (int i = 0; i < 2; i++) {
    double w = (i ? 1 : -1) / p.grain[i].volume_m3, x = arm[i].x;
    CK_NEAR(s[i].xx, w * f.x * x, 1e-12 * fabs(w * x));
    CK_NEAR(s[i].xy, 0.5 * w * f.y * x, 1e-12 * fabs(w * x));
    CK_NEAR(s[i].xz, 0.5 * w * f.z * x, 1e-12 * fabs(w * x));
    CK_NEAR(s[i].yy, 0, 0);
    CK_NEAR(s[i].zz, 0, 0);
    CK_NEAR(s[i].yz, 0, 0);
    ck_assert_double_gt(s[i].xx, 0); /* compression */
  }
  tl_packing_free(&p);
}
END_TEST

TL_TEST_MAIN(
    "packing", stress_of_a_simple_cubic_packing_is_exact,
    stress_turns_with_the_packing_and_is_positive_in_compression,
    shares_of_segments_have_their_closed_forms, coordination_counts_points_neighbours_and_rattlers,
    fabric_gives_back_the_density_it_was_drawn_from, cells_of_the_histogram_have_equal_solid_angles,
    directions_of_normals_branches_and_long_axes, exponents_of_the_force_distribution_come_back,
    planted_chains_are_found_whole_and_end_at_sharp_bends,
    a_ring_is_one_chain_and_a_fork_does_not_branch, inertia_number_of_an_affine_flow,
    unbalanced_force_is_what_is_left_over_the_mean_contact_force,
    a_planted_band_is_found_beside_grains_that_turn_at_the_platen, no_band_in_a_line_or_among_few,
    void_ratio_of_cubic_spheres_and_of_a_cut_one, nets_and_grains_that_left_are_boundaries,
    each_measure_fills_its_columns, stress_of_a_grain_is_over_its_own_volume)
