/* Exact distances to the bilinear ground against a brute search, and the local search. */
#include "support/tltest.h"

#include "base/random.h"
#include "shape/heightfield.h"

enum { N = 9 };

static void rough(float z[N * N], uint64_t seed, double relief) {
  for (int i = 0; i < N * N; i++) z[i] = (float)(relief * tl_random_uniform(seed, 1, (uint64_t)i));
}

/* The oracle: all patches on a 9 x 9 lattice each, the best then by shrinking searches from the
 * best lattice points. */
static double brute_distance(const TlHeightfield *f, TlVec3 p) {
  double best = INFINITY;
  TlPatch q;
  for (int j = 0; j < N - 1; j++)
    for (int i = 0; i < N - 1; i++) {
      if (!tl_heightfield_patch(f, i, j, &q)) continue;
      for (int start = 0; start < 81; start += 4) {
        double u = start % 9 / 8.0, v = start / 9 / 8.0, step = 0.125, least = INFINITY;
        while (step > 1e-9) {
          double bu = u, bv = v;
          for (int m = 0; m < 9; m++) {
            double a = fmin(fmax(u + step * (m % 3 - 1), 0), 1);
            double b = fmin(fmax(v + step * (m / 3 - 1), 0), 1);
            double e = q.a + q.b * a + q.c * b + q.d * a * b - p.z;
            double d2 = (i + a - p.x) * (i + a - p.x) + (j + b - p.y) * (j + b - p.y) + e * e;
            if (d2 < least) least = d2, bu = a, bv = b;
          }
          if (bu == u && bv == v) step *= 0.5;
          u = bu;
          v = bv;
        }
        best = fmin(best, least);
      }
    }
  return sqrt(best);
}

START_TEST(distance_to_rough_ground_is_the_closest_point) {
  float z[N * N];
  const double relief[] = {0.3, 1, 3};
  double worst = 0;
  for (int r = 0; r < 3; r++) {
    rough(z, 7 + (uint64_t)r, relief[r]);
    z[3 * N + 4] = NAN; /* an outline inside */
    TlHeightfield f = {N, N, z, 1};
    for (uint64_t m = 0; m < 60; m++) {
      TlVec3 p = tl_vec3(8 * tl_random_uniform(9, m, 0), 8 * tl_random_uniform(9, m, 1),
                         (relief[r] + 4) * tl_random_uniform(9, m, 2) - 2);
      double d = tl_heightfield_distance(&f, p, 10), brute = brute_distance(&f, p);
      worst = fmax(worst, fabs(d - brute));
    }
  }
  CK_NEAR(worst, 0, 1e-6);
}
END_TEST

START_TEST(distance_knows_its_reach) {
  const float z[4] = {0, 0, 0, 0};
  TlHeightfield f = {2, 2, z, 1};
  CK_NEAR(tl_heightfield_distance(&f, tl_vec3(0.5, 0.5, 2), 3), 2, 1e-15);
  CK_NEAR(tl_heightfield_distance(&f, tl_vec3(-3, 0.5, 4), 6), 5, 1e-15);
  ck_assert(isinf(tl_heightfield_distance(&f, tl_vec3(0.5, 0.5, 2), 1.9)));
}
END_TEST

/* From the closest point of a place 0.7 cells off, as the terrain's band has it: never less than
 * the distance, and on ground of gentle relief nearly always equal to it. */
START_TEST(descent_ends_at_a_closest_point_from_near_it) {
  float z[N * N];
  int missed = 0, tried = 0;
  for (uint64_t r = 0; r < 20; r++) {
    rough(z, 100 + r, 0.3);
    TlHeightfield f = {N, N, z, 1};
    for (uint64_t m = 0; m < 40; m++) {
      TlVec3 p = tl_vec3(2.5 + 3 * tl_random_uniform(r, m, 0), 2.5 + 3 * tl_random_uniform(r, m, 1),
                         3 * tl_random_uniform(r, m, 2) - 1);
      double x = p.x + 0.7 * cos((double)m), y = p.y + 0.7 * sin((double)m);
      double d = tl_heightfield_descend(&f, p, &x, &y), best = tl_heightfield_distance(&f, p, 10);
      ck_assert_msg(d > best - 1e-6, "%g is less than the distance %g", d, best);
      TlPatch q;
      double u, v;
      ck_assert(tl_heightfield_locate(&f, x, y, &q, &u, &v));
      double e = q.a + q.b * u + q.c * v + q.d * u * v - p.z;
      CK_NEAR(sqrt((x - p.x) * (x - p.x) + (y - p.y) * (y - p.y) + e * e), d, 1e-9);
      missed += d > best + 1e-3;
      tried++;
    }
  }
  ck_assert_msg(missed < tried / 20, "%d of %d ended in another basin", missed, tried);
}
END_TEST

START_TEST(descent_into_missing_ground_says_so) {
  float z[N * N];
  rough(z, 3, 0.1);
  z[4 * N + 4] = NAN;
  TlHeightfield f = {N, N, z, 1};
  double x = 4.5, y = 4.5;
  ck_assert(isinf(tl_heightfield_descend(&f, tl_vec3(4.5, 4.5, 1), &x, &y)));
  ck_assert(x == 4.5 && y == 4.5);
  x = 6.5, y = 6.5; /* its way leads off the edge */
  ck_assert(isinf(tl_heightfield_descend(&f, tl_vec3(12, 6.5, 0), &x, &y)));
}
END_TEST

/* Rough and steep ground with holes, points close to it, far off and beyond its edges. */
START_TEST(distances_side_by_side_are_those_one_by_one) {
  enum { POINTS = 203 };
  float z[N * N];
  int inside = 0, none = 0;
  for (uint64_t r = 0; r < 60; r++) {
    rough(z, 300 + r, 0.05 * (double)(r % 30));
    if (r % 3 == 0) z[(r % N) * N + 4] = NAN;
    TlHeightfield f = {N, N, z, 1};
    TlVec3 p[POINTS], n[POINTS], alone;
    double phi[POINTS], one;
    for (uint64_t m = 0; m < POINTS; m++) {
      TlPatch q;
      double u, v, off = (m % 4 ? 0.05 : 3) * (2 * tl_random_uniform(r, m, 2) - 1);
      p[m] = tl_vec3(-0.3 + (N - 0.4) * tl_random_uniform(r, m, 0),
                     -0.3 + (N - 0.4) * tl_random_uniform(r, m, 1), off);
      if (tl_heightfield_locate(&f, p[m].x, p[m].y, &q, &u, &v))
        p[m].z += q.a + q.b * u + q.c * v + q.d * u * v;
    }
    tl_heightfield_signed_many(&f, p, POINTS, phi, n);
    for (int m = 0; m < POINTS; m++) {
      bool there = tl_heightfield_signed(&f, p[m], INFINITY, &one, &alone);
      ck_assert_msg(phi[m] == one, "ground %d: %.17g, alone %.17g", (int)r, phi[m], one);
      if (!there) ck_assert(tl_norm2(n[m]) == 0 && isinf(phi[m]));
      if (there) ck_assert(tl_norm2(tl_sub(n[m], alone)) == 0);
      if (there) CK_NEAR(fabs(one), tl_heightfield_distance(&f, p[m], 10), 1e-6);
      inside += there;
      none += !there;
    }
  }
  ck_assert_int_gt(inside, 5000);
  ck_assert_int_gt(none, 100);
}
END_TEST

/* Lanes against one by one, over rough ground with holes, places beyond its edges among them. */
START_TEST(descents_side_by_side_are_those_one_by_one) {
  float z[N * N];
  int settled = 0, lost = 0;
  for (uint64_t r = 0; r < 60; r++) {
    rough(z, 200 + r, 0.05 * (double)(r % 12));
    if (r % 3 == 0) z[(r % N) * N + 4] = NAN;
    TlHeightfield f = {N, N, z, 1};
    for (uint64_t m = 0; m < 50; m++) {
      double p[3][TL_HEIGHTFIELD_LANES], x[TL_HEIGHTFIELD_LANES], y[TL_HEIGHTFIELD_LANES];
      double d[TL_HEIGHTFIELD_LANES], at_x[TL_HEIGHTFIELD_LANES], at_y[TL_HEIGHTFIELD_LANES];
      for (uint64_t l = 0; l < TL_HEIGHTFIELD_LANES; l++) {
        uint64_t at = TL_HEIGHTFIELD_LANES * m + l;
        p[0][l] = -0.5 + N * tl_random_uniform(r, at, 0);
        p[1][l] = -0.5 + N * tl_random_uniform(r, at, 1);
        p[2][l] = 4 * tl_random_uniform(r, at, 2) - 2;
        at_x[l] = x[l] = p[0][l] + 0.3 * cos((double)at);
        at_y[l] = y[l] = p[1][l] + 0.3 * sin((double)at);
      }
      tl_heightfield_descend_lanes(&f, p, x, y, d);
      for (int l = 0; l < TL_HEIGHTFIELD_LANES; l++) {
        double one =
            tl_heightfield_descend(&f, tl_vec3(p[0][l], p[1][l], p[2][l]), &at_x[l], &at_y[l]);
        ck_assert_msg(d[l] == one && x[l] == at_x[l] && y[l] == at_y[l],
                      "ground %d: %.17g at %.17g, %.17g, alone %.17g at %.17g, %.17g", (int)r, d[l],
                      x[l], y[l], one, at_x[l], at_y[l]);
        settled += d[l] < INFINITY;
        lost += isinf(d[l]);
      }
    }
  }
  ck_assert_int_gt(settled, 5000);
  ck_assert_int_gt(lost, 500);
}
END_TEST

TL_TEST_MAIN("heightfield", distance_to_rough_ground_is_the_closest_point, distance_knows_its_reach,
             descent_ends_at_a_closest_point_from_near_it, descent_into_missing_ground_says_so,
             descents_side_by_side_are_those_one_by_one,
             distances_side_by_side_are_those_one_by_one)
