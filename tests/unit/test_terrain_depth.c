/* How deep grains lie below the raster's own bilinear surface, against closed forms on a tilted
 * plane and one bilinear patch, and against a dense brute search on rough ground. */
#include "support/tltest.h"

#include "base/random.h"
#include "shape/superellipsoid.h"
#include "shape/terrain_build.h"
#include "shape/terrain_depth.h"

enum { N = 9 };

/* A terrain of n x n samples every `cell` metres; its local frame begins south-west of sample 0. */
static void build(TlTerrain *t, int n, double cell, const double *height) {
  TlTerrainSource source = {.name = "ground",
                            .crs = "",
                            .nx = n,
                            .ny = n,
                            .cell_m = cell,
                            .east_m = 1000,
                            .north_m = 2000,
                            .height_m = height};
  *t = (TlTerrain){0};
  CK_OK(tl_terrain_build(t, &source, &(TlTerrainOptions){3, 1, false}));
}

/* Local place of the raster's (u, v), in cells from its first sample, at this height of the raster.
 */
static TlVec3 at(const TlTerrain *t, double u, double v, double height) {
  return tl_vec3(t->x0_m + u * t->cell_m, t->y0_m + v * t->cell_m, height - t->origin[2]);
}

START_TEST(depth_below_a_tilted_plane_is_its_closed_form) {
  double height[N * N];
  for (int k = 0; k < N * N; k++) height[k] = 100 + 0.75 * (k % N) - 1.25 * (k / N);
  TlTerrain t;
  build(&t, N, 2, height); /* slopes 0.375 and -0.625 */
  TlVec3 normal = tl_unit(tl_vec3(-0.375, 0.625, 1)),
         foot = at(&t, 4.3, 3.8, 100 + 0.75 * 4.3 - 1.25 * 3.8);
  for (int k = -3; k <= 12; k++) { /* along the normal, so the vertical distance is larger */
    double depth = 0.1 * k;
    CK_NEAR(tl_terrain_depth(&t, tl_axpy(foot, -depth, normal), 0), fmax(depth, 0), 1e-6);
  }
  ck_assert(tl_terrain_depth(&t, tl_axpy(foot, -0.5, normal), 0.6) == 0); /* no deeper than 0.6 */
  TlAvatar ball;
  CK_OK(tl_avatar_sphere(0.1, 0.01, 800, &ball));
  for (int k = 0; k < 8; k++) { /* of radius 0.3 m, its centre below the ground, too */
    double sunk = 0.3 * k / 4.0;
    TlSunk s =
        tl_terrain_sunk(&t, &ball, 3, tl_axpy(foot, 0.3 - sunk, normal), (TlQuat){1, 0, 0, 0});
    ck_assert_int_eq(s.judged, s.nodes);
    CK_NEAR(s.depth_m, sunk, 1e-6); /* between its nodes, too */
  }
  tl_avatar_free(&ball);
  tl_terrain_free(&t);
}
END_TEST

/* One patch z = c (x - 1/2)(y - 1/2) in cells. From the point h below its saddle the nearest point
 * is the saddle while c h <= 1; beyond that the branches x - 1/2 = -(y - 1/2) that come down are
 * nearer: d^2 = (2 c h - 1)/c^2. */
START_TEST(depth_below_the_saddle_of_one_patch_is_its_closed_form) {
  const double c = 3;
  const double height[4] = {c / 4, -c / 4, -c / 4, c / 4};
  TlTerrain t;
  build(&t, 2, 1, height);
  for (int k = 1; k <= 6; k++) {
    double h = 0.1 * k, closed = c * h <= 1 ? h : sqrt(2 * c * h - 1) / c;
    CK_NEAR(tl_terrain_depth(&t, at(&t, 0.5, 0.5, -h), 0), closed, 1e-6);
  }
  ck_assert(tl_terrain_depth(&t, at(&t, 0.5, 0.5, 0.1), 0) == 0);
  tl_terrain_free(&t);
}
END_TEST

/* The oracle: the ground's height by its own bilinear formula; every patch on a lattice of 41 x 41
 * points, then shrinking searches about the best of each patch. */
static double height_at(const double *z, double x, double y) {
  int i = (int)fmin(x, N - 2), j = (int)fmin(y, N - 2);
  double u = x - i, v = y - j;
  return (1 - u) * (1 - v) * z[j * N + i] + u * (1 - v) * z[j * N + i + 1] +
         (1 - u) * v * z[(j + 1) * N + i] + u * v * z[(j + 1) * N + i + 1];
}

static double squared_to(const double *z, TlVec3 p, double x, double y) {
  double d = height_at(z, x, y) - p.z;
  return (x - p.x) * (x - p.x) + (y - p.y) * (y - p.y) + d * d;
}

static double shrink(const double *z, TlVec3 p, int i, int j, double x, double y, double best) {
  for (double step = 0.025; step > 1e-10;) {
    double bx = x, by = y;
    for (int m = 0; m < 9; m++) {
      double a = fmin(fmax(x + step * (m % 3 - 1), i), i + 1),
             b = fmin(fmax(y + step * (m / 3 - 1), j), j + 1);
      double d2 = squared_to(z, p, a, b);
      if (d2 < best) best = d2, bx = a, by = b;
    }
    if (bx == x && by == y) step *= 0.5;
    x = bx, y = by;
  }
  return best;
}

static double brute_depth(const double *z, TlVec3 p) {
  double best = INFINITY;
  if (p.z >= height_at(z, p.x, p.y)) return 0;
  for (int j = 0; j < N - 1; j++)
    for (int i = 0; i < N - 1; i++) {
      double least = INFINITY, x = i, y = j;
      for (int m = 0; m < 41 * 41; m++) {
        double a = i + m % 41 / 40.0, b = j + m / 41 / 40.0, d2 = squared_to(z, p, a, b);
        if (d2 < least) least = d2, x = a, y = b;
      }
      best = fmin(best, shrink(z, p, i, j, x, y, least));
    }
  return sqrt(best);
}

START_TEST(planted_grains_lie_as_deep_as_a_dense_search_says) {
  TlAvatar grain;
  CK_OK(tl_avatar_superellipsoid(0.5, 0.4, 0.3, 0.7, 0.9, 0.05, 60, &grain));
  double worst = 0, deepest = 0;
  for (uint64_t ground = 0; ground < 3; ground++) {
    double z[N * N], height[N * N];
    for (int k = 0; k < N * N; k++) {
      z[k] = (float)(pow(3, (double)ground) / 3 * tl_random_uniform(3, ground, (uint64_t)k));
      height[k] = z[k];
    }
    TlTerrain t;
    build(&t, N, 1, height);
    for (uint64_t g = 0; g < 8; g++) {
      double scale = 0.3 + tl_random_uniform(4, ground, 10 * g),
             x = 2 + 4 * tl_random_uniform(4, ground, 10 * g + 1),
             y = 2 + 4 * tl_random_uniform(4, ground, 10 * g + 2);
      TlVec3 centre =
          tl_vec3(x, y, height_at(z, x, y) + 0.6 * tl_random_uniform(4, ground, 10 * g + 3) - 0.3);
      TlQuat q = tl_quat_from_rotation(tl_vec3((double)g, 1, -2));
      double brute = 0;
      for (int n = 0; n < grain.node_count; n++) {
        const float *m = grain.node_m + 3 * n;
        TlVec3 p = tl_axpy(centre, scale, tl_mat_vec(tl_quat_matrix(q), tl_vec3(m[0], m[1], m[2])));
        brute = fmax(brute, brute_depth(z, p));
      }
      TlSunk s = tl_terrain_sunk(&t, &grain, scale, at(&t, centre.x, centre.y, centre.z), q);
      ck_assert_int_eq(s.judged, grain.node_count);
      worst = fmax(worst, fabs(s.depth_m - brute));
      deepest = fmax(deepest, s.depth_m);
    }
    tl_terrain_free(&t);
  }
  CK_NEAR(worst, 0, 2e-6);
  ck_assert_msg(deepest > 0.2, "no grain lay deep: %g", deepest);
  tl_avatar_free(&grain);
}
END_TEST

/* Places below rough ground that the solver's band, which interpolates distances between its own
 * samples, takes for free: there the two must disagree, or this measure would judge nothing. */
START_TEST(what_the_solvers_interpolation_rounds_off_is_seen) {
  double height[N * N], deepest = 0;
  for (int k = 0; k < N * N; k++) height[k] = (float)(3 * tl_random_uniform(6, 0, (uint64_t)k));
  TlTerrain t;
  build(&t, N, 1, height);
  for (uint64_t k = 0; k < 20000; k++) {
    TlVec3 p = at(&t, 1 + 6 * tl_random_uniform(6, 1, k), 1 + 6 * tl_random_uniform(6, 2, k),
                  3 * tl_random_uniform(6, 3, k));
    double phi, depth = tl_terrain_depth(&t, p, 0);
    if (tl_terrain_phi(&t, p, &phi, NULL) == TL_TERRAIN_BAND && phi >= 0)
      deepest = fmax(deepest, depth);
  }
  ck_assert_msg(deepest > 0.1, "free by the band, and at most %g below the ground", deepest);
  tl_terrain_free(&t);
}
END_TEST

START_TEST(nodes_without_ground_are_counted_and_not_guessed) {
  double height[N * N] = {0};
  TlTerrain t;
  build(&t, N, 1, height);
  TlAvatar ball;
  CK_OK(tl_avatar_sphere(0.1, 0.01, 400, &ball));
  TlQuat q = {1, 0, 0, 0};
  TlSunk half = tl_terrain_sunk(&t, &ball, 5, at(&t, N - 1, 4, 0), q); /* on the outline */
  TlSunk off = tl_terrain_sunk(&t, &ball, 5, at(&t, N + 1, 4, -1), q);
  ck_assert_msg(half.judged > 150 && half.judged < 250, "%d of %d", (int)half.judged,
                (int)half.nodes);
  ck_assert(half.depth_m > 0.3); /* to the rim of the surface, too */
  ck_assert_int_eq(off.judged, 0);
  ck_assert(isnan(tl_terrain_depth(&t, at(&t, N, 4, -1), 0)));
  tl_avatar_free(&ball);
  tl_terrain_free(&t);
}
END_TEST

/* What the measure rests on: the catalog keeps a raster of floats exactly, and one of doubles to
 * half a unit of the last place of a float of the local height (3e-5 m at 1000 m). */
START_TEST(heights_are_those_of_the_raster) {
  double single[N * N], wide[N * N];
  for (int k = 0; k < N * N; k++) {
    wide[k] = 2137.1 + 900 * tl_random_uniform(5, 0, (uint64_t)k);
    single[k] = (float)wide[k];
  }
  TlTerrain t;
  build(&t, N, 5, single);
  for (int k = 0; k < N * N; k++) ck_assert((double)t.height_m[k] + t.origin[2] == single[k]);
  tl_terrain_free(&t);
  build(&t, N, 5, wide);
  for (int k = 0; k < N * N; k++)
    CK_NEAR((double)t.height_m[k] + t.origin[2], wide[k],
            ldexp((double)t.height_m[k], -24) + 5e-13);
  tl_terrain_free(&t);
}
END_TEST

TL_TEST_MAIN("terrain_depth", depth_below_a_tilted_plane_is_its_closed_form,
             depth_below_the_saddle_of_one_patch_is_its_closed_form,
             planted_grains_lie_as_deep_as_a_dense_search_says,
             what_the_solvers_interpolation_rounds_off_is_seen,
             nodes_without_ground_are_counted_and_not_guessed, heights_are_those_of_the_raster)
