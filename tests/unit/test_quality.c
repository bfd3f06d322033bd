/* Descriptors against closed forms, residuals and verdicts that say what is wrong. */
#include "support/tltest.h"

#include "base/mem.h"
#include "base/random.h"
#include "shape/descriptors.h"
#include "shape/quality.h"
#include "shape/superellipsoid.h"

#include <string.h>

static const double pi = 3.14159265358979323846;

START_TEST(sphere_is_round_in_every_sense) {
  TlAvatar a;
  TlDescriptors d;
  CK_OK(tl_avatar_sphere(14, 1, 600, &a));
  CK_OK(tl_descriptors(&a, &d));
  CK_NEAR(d.diameter_m, 28, 0.01);
  CK_NEAR(d.elongation, 1, 0.01);
  CK_NEAR(d.flatness, 1, 0.01);
  CK_NEAR(d.krumbein, 1, 0.01);
  CK_NEAR(d.sphericity, 1, 0.001); /* a mask's marching cubes would say 0.92 */
  CK_NEAR(d.convexity, 1, 0.002);
  CK_NEAR(d.inscribed, 1, 0.05); /* phi at the centre's nearest grid point */
  CK_NEAR(d.roundness, 1, 0.05);
  tl_avatar_free(&a);
}
END_TEST

/* Ellipsoid 20:14:10 (half axes): Knud Thomsen's area is within 1.1%. A box with sharp edges is far
 * less round. */
START_TEST(ellipsoid_and_box_have_their_forms) {
  TlAvatar a;
  TlDescriptors d, box;
  CK_OK(tl_avatar_superellipsoid(20, 14, 10, 1, 1, 1, 800, &a));
  CK_OK(tl_descriptors(&a, &d));
  CK_NEAR(d.elongation, 0.7, 0.01);
  CK_NEAR(d.flatness, 10 / 14.0, 0.015);
  CK_NEAR(d.krumbein, cbrt(14 * 10 / 400.0), 0.01);
  double p = 1.6075, area = 4 * pi * pow((pow(280, p) + pow(200, p) + pow(140, p)) / 3, 1 / p);
  CK_NEAR(d.sphericity, cbrt(pi) * pow(8 * pi * 2800, 2.0 / 3) / area, 0.012);
  CK_NEAR(d.convexity, 1, 0.002);
  CK_NEAR(d.inscribed, 20 / cbrt(8 * 2800), 0.04);
  tl_avatar_free(&a);
  CK_OK(tl_avatar_superellipsoid(12, 12, 12, 0.1, 0.1, 1, 800, &a));
  CK_OK(tl_descriptors(&a, &box));
  /* a cube has 0.806; exponents of 0.1 round its edges over a tenth of its width */
  ck_assert_msg(box.sphericity > 0.8 && box.sphericity < 0.86, "%g", box.sphericity);
  ck_assert_msg(box.roundness < d.roundness - 0.03, "box %g, ellipsoid %g", box.roundness,
                d.roundness);
  tl_avatar_free(&a);
}
END_TEST

/* The corners of a cube with a thousand points inside, in any order; a flat set has none. */
START_TEST(hull_of_a_cube_is_the_cube) {
  enum { N = 1008 };
  float p[3 * N];
  double volume;
  for (uint64_t i = 0; i < N; i++)
    for (uint64_t k = 0; k < 3; k++)
      p[3 * i + k] = i % 126 == 5 ? (float)(2 * ((i / 126) >> k & 1))
                                  : (float)(2 * tl_random_uniform(1, i, k));
  CK_OK(tl_hull_volume(p, N, &volume));
  CK_NEAR(volume, 8, 1e-3); /* points are moved by 1e-5 of the size */
  for (int i = 0; i < N; i++) p[3 * i + 2] = 1;
  CK_OK(tl_hull_volume(p, N, &volume));
  ck_assert(volume == 0);
  CK_OK(tl_hull_volume(p, 3, &volume));
  ck_assert(volume == 0);
}
END_TEST

/* A torus is half hollow to its hull: hull = disc of R + r with a half-round rim. */
START_TEST(hull_of_a_torus_closes_its_hole) {
  enum { U = 96, V = 48 };
  static float p[3 * U * V];
  double volume, R = 10, r = 4;
  for (int i = 0; i < U; i++)
    for (int j = 0; j < V; j++) {
      double u = 2 * pi * i / U, v = 2 * pi * j / V, q = R + r * cos(v);
      float *x = p + 3 * (i * V + j);
      x[0] = (float)(q * cos(u)), x[1] = (float)(q * sin(u)), x[2] = (float)(r * sin(v));
    }
  CK_OK(tl_hull_volume(p, U * V, &volume));
  double exact = 2 * r * pi * R * R + pi * pi * r * r * R + 4.0 / 3 * pi * r * r * r;
  CK_NEAR(volume / exact, 1, 0.008); /* chords of 96 and 48 corners, 1500 directions */
}
END_TEST

START_TEST(good_grain_is_good_and_spoiled_ones_are_named) {
  TlAvatar a;
  TlQuality q;
  CK_OK(tl_avatar_superellipsoid(12, 10, 9, 1, 1, 1, 500, &a));
  tl_quality_measure(&a, 0.97, &q);
  tl_quality_judge(&q);
  ck_assert_msg(q.verdict == TL_GOOD && q.reason[0] == 0, "%s", q.reason);
  ck_assert_msg(q.gradient < 0.02 && q.node < 0.01 && q.volume < 0.02, "%g %g %g", q.gradient,
                q.node, q.volume);
  q.agreement = NAN; /* no label is no fault */
  tl_quality_judge(&q);
  ck_assert(q.verdict == TL_GOOD);
  q.agreement = 0.8;
  tl_quality_judge(&q);
  ck_assert(q.verdict == TL_DOUBTFUL && strstr(q.reason, "agreement") && strstr(q.reason, "80%"));
  q.agreement = 0.97;
  q.contact = 0.69;
  tl_quality_judge(&q);
  ck_assert(q.verdict == TL_GOOD);
  q.contact = 1.6; /* half of a grain */
  tl_quality_judge(&q);
  ck_assert(q.verdict == TL_DOUBTFUL && strstr(q.reason, "part of its neighbour"));
  ck_assert(strstr(q.reason, "1.6 of a cross-section"));
  a.node_m[0] *= 1.1f;
  tl_quality_measure(&a, 0.97, &q);
  tl_quality_judge(&q);
  ck_assert_msg(q.verdict == TL_REJECTED && strstr(q.reason, "node off"), "%s", q.reason);
  a.node_m[0] /= 1.1f;
  for (int64_t i = 0; i < (int64_t)a.nx * a.ny * a.nz; i++) a.phi[i] *= 1.5f;
  tl_quality_measure(&a, 0.97, &q);
  tl_quality_judge(&q);
  ck_assert_msg(q.verdict == TL_REJECTED && strstr(q.reason, "slope"), "%s", q.reason);
  tl_avatar_free(&a);
}
END_TEST

/* Two balls of radius 12 whose centres are 23 apart share a lens: pi (4r + D)(2r - D)^2/12. */
START_TEST(overlap_of_two_balls_is_the_lens) {
  TlAvatar a;
  TlQuality q;
  double r = 12, D = 23;
  CK_OK(tl_avatar_sphere(r, 1, 2000, &a));
  TlPlaced one = tl_placed_in_scan(&a), two = one;
  two.position.x += D;
  TlOverlap o = tl_placed_overlap(&one, &two);
  CK_NEAR(o.depth_m, 2 * r - D, 0.1);
  CK_NEAR(o.volume_m3 / (pi * (4 * r + D) * (2 * r - D) * (2 * r - D) / 12), 1, 0.15);
  tl_quality_measure(&a, NAN, &q);
  tl_quality_add_overlap(&q, &a, o);
  tl_quality_judge(&q);
  ck_assert_msg(q.verdict == TL_DOUBTFUL && strstr(q.reason, "overlap"), "%s", q.reason);
  two.position.x += 1.5;
  o = tl_placed_overlap(&one, &two);
  ck_assert(o.depth_m == 0 && o.volume_m3 == 0);
  tl_avatar_free(&a);
}
END_TEST

TL_TEST_MAIN("quality", sphere_is_round_in_every_sense, ellipsoid_and_box_have_their_forms,
             hull_of_a_cube_is_the_cube, hull_of_a_torus_closes_its_hole,
             good_grain_is_good_and_spoiled_ones_are_named, overlap_of_two_balls_is_the_lens)
