/* The spline through an avatar's grid (shape/spline.h) against closed forms. The grids are filled
 * here with exact distances, so that only interpolation is measured. */
#include "support/tltest.h"

#include "base/mem.h"
#include "base/random.h"
#include "shape/spline.h"
#include "shape/superellipsoid.h"

#include <stdio.h>
#include <string.h>

enum { PLACES = 20000 };

typedef double (*Distance)(TlVec3 p);

static double sphere(TlVec3 p) {
  return tl_norm(p) - 1;
}

static const TlVec3 half = {1, 0.9, 0.8};

/* The foot of p on an ellipsoid is p_k a_k^2 / (a_k^2 + mu); mu by bisection. Deep inside, where it
 * does not matter, about the distance. */
static double ellipsoid(TlVec3 p) {
  TlVec3 foot = p;
  double size = tl_norm(tl_vec3(p.x / half.x, p.y / half.y, p.z / half.z));
  if (size < 0.7) return 0.8 * (size - 1);
  double low = -0.4, high = 1;
  for (int i = 0; i < 32; i++) {
    double mu = 0.5 * (low + high), sum = 0;
    for (int k = 0; k < 3; k++) {
      double a2 = (&half.x)[k] * (&half.x)[k];
      (&foot.x)[k] = (&p.x)[k] * a2 / (a2 + mu);
      sum += (&foot.x)[k] * (&foot.x)[k] / a2;
    }
    if (sum > 1)
      low = mu;
    else
      high = mu;
  }
  return copysign(tl_norm(tl_sub(p, foot)), low + high);
}

/* A ring, for a saddle's curvature. */
static double torus(TlVec3 p) {
  return hypot(hypot(p.x, p.y) - 0.65, p.z) - 0.35;
}

/* Box [-1.3, 1.3]^3, with exact distances. The avatar holds no more than a spline needs. */
static TlAvatar grid_of(Distance f, int32_t cells, double shift) {
  TlAvatar a = {.nx = cells + 1, .ny = cells + 1, .nz = cells + 1, .spacing_m = 2.6 / cells};
  a.origin_m = tl_vec3(-1.3 + shift * a.spacing_m, -1.3 + 0.7 * shift * a.spacing_m, -1.3);
  CK_OK(TL_NEW(a.phi, (size_t)(a.nx * a.ny * a.nz)));
  for (int32_t k = 0; k < a.nz; k++)
    for (int32_t j = 0; j < a.ny; j++)
      for (int32_t i = 0; i < a.nx; i++) {
        TlVec3 p = tl_axpy(a.origin_m, a.spacing_m, tl_vec3(i, j, k));

        a.phi[(k * a.ny + j) * a.nx + i] = (float)f(p);
      }
  return a;
}

/* A place within a spacing of the surface. */
static bool place(Distance f, double h, uint64_t i, TlVec3 *p) {
  for (int k = 0; k < 3; k++) (&p->x)[k] = 2.3 * tl_random_uniform(5, (uint64_t)k, i) - 1.15;
  return fabs(f(*p)) < h;
}

typedef struct Errors {
  double value, linear, gradient, bound, rms;
} Errors;

static Errors errors_of(Distance f, int32_t cells) {
  TlAvatar a = grid_of(f, cells, 0.3);
  TlSpline s;
  Errors e = {0};
  double sum = 0;
  int count = 0;
  CK_OK(tl_spline_make(&a, &s));
  for (uint64_t i = 0; i < PLACES; i++) {
    TlVec3 p, g;
    if (!place(f, a.spacing_m, i, &p)) continue;
    double truth = f(p), d = 1e-4, phi = tl_spline_phi(&s, p, &g, NULL);
    TlVec3 slope =
        tl_scale(0.5 / d, tl_vec3(f(tl_add(p, tl_vec3(d, 0, 0))) - f(tl_sub(p, tl_vec3(d, 0, 0))),
                                  f(tl_add(p, tl_vec3(0, d, 0))) - f(tl_sub(p, tl_vec3(0, d, 0))),
                                  f(tl_add(p, tl_vec3(0, 0, d))) - f(tl_sub(p, tl_vec3(0, 0, d)))));
    e.value = fmax(e.value, fabs(phi - truth));
    e.linear = fmax(e.linear, fabs(tl_avatar_phi(&a, p, NULL) - truth));
    e.gradient = fmax(e.gradient, tl_norm(tl_sub(g, slope)));
    sum += (phi - truth) * (phi - truth);
    count++;
  }
  e.rms = sqrt(sum / count);
  e.bound = s.error_m;
  ck_assert_int_gt(count, PLACES / 40);
  tl_spline_free(&s);
  tl_free(a.phi);
  return e;
}

START_TEST(grid_values_are_taken_and_quadratics_reproduced) {
  TlAvatar a = grid_of(sphere, 11, 0);
  for (int32_t i = 0; i < a.nx * a.ny * a.nz; i++) {
    double x = i % a.nx, y = i / a.nx % a.ny, z = i / (a.nx * a.ny);
    a.phi[i] = (float)(0.02 * x * x - 0.03 * x * y + 0.01 * z * z + 0.05 * y * z - 0.2 * y + 0.1);
  }
  TlSpline s;
  CK_OK(tl_spline_make(&a, &s));
  for (uint64_t i = 0; i < 500; i++) {
    double x = 11 * tl_random_uniform(1, 0, i), y = 11 * tl_random_uniform(1, 1, i),
           z = 11 * tl_random_uniform(1, 2, i), h = a.spacing_m;
    TlVec3 g;
    TlSym3 b;
    double phi = tl_spline_phi(&s, tl_axpy(a.origin_m, h, tl_vec3(x, y, z)), &g, &b);
    CK_NEAR(phi, 0.02 * x * x - 0.03 * x * y + 0.01 * z * z + 0.05 * y * z - 0.2 * y + 0.1, 2e-5);
    CK_NEAR(h * g.x, 0.04 * x - 0.03 * y, 2e-5);
    CK_NEAR(h * g.y, -0.03 * x + 0.05 * z - 0.2, 2e-5);
    CK_NEAR(h * g.z, 0.02 * z + 0.05 * y, 2e-5);
    CK_NEAR(h * h * b.xx, 0.04, 5e-5);
    CK_NEAR(h * h * b.yy, 0, 5e-5);
    CK_NEAR(h * h * b.zz, 0.02, 5e-5);
    CK_NEAR(h * h * b.xy, -0.03, 5e-5);
    CK_NEAR(h * h * b.xz, 0, 5e-5);
    CK_NEAR(h * h * b.yz, 0.05, 5e-5);
  }
  for (int32_t i = 0; i < a.nx * a.ny * a.nz; i++) {
    TlVec3 p =
        tl_axpy(a.origin_m, a.spacing_m, tl_vec3(i % a.nx, i / a.nx % a.ny, i / (a.nx * a.ny)));
    CK_NEAR(tl_spline_phi(&s, p, NULL, NULL), (double)a.phi[i], 4e-6);
  }
  tl_spline_free(&s);
  tl_free(a.phi);
}
END_TEST

/* Twice as fine a grid: the value's error falls by 2^3, the gradient's by 2^2. */
static void converges(Distance f, const char *name) {
  Errors e[3];
  int32_t cells[3] = {32, 64, 128};
  for (int i = 0; i < 3; i++) {
    e[i] = errors_of(f, cells[i]);
    ck_assert_msg(e[i].value <= e[i].bound, "%s, %d cells: error %g over its bound %g", name,
                  (int)cells[i], e[i].value, e[i].bound);
    /* the coarsest grid meets the middle of the shape within the bound's differences */
    ck_assert_msg(i == 0 || e[i].bound < e[i].linear,
                  "%s, %d cells: the bound %g says nothing (trilinear: %g)", name, (int)cells[i],
                  e[i].bound, e[i].linear);
    printf("%s, %d cells: error %.2e of 1 at most (rms %.2e; bound %.2e; trilinear %.2e), gradient "
           "%.2e\n",
           name, (int)cells[i], e[i].value, e[i].rms, e[i].bound, e[i].linear, e[i].gradient);
  }
  ck_assert_msg(log2(e[1].value / e[2].value) > 2.6, "%s: order %g", name,
                log2(e[1].value / e[2].value));
  ck_assert_msg(log2(e[1].gradient / e[2].gradient) > 1.7, "%s: order of the gradient %g", name,
                log2(e[1].gradient / e[2].gradient));
}

START_TEST(error_falls_with_the_cube_of_the_spacing) {
  converges(sphere, "sphere");
  converges(ellipsoid, "ellipsoid");
  converges(torus, "ring");
}
END_TEST

/* On a superellipsoid whose distances were found by the library: values on the true surface. */
START_TEST(surface_of_a_superellipsoid_is_met) {
  static const double a = 0.010, b = 0.008, c = 0.007, ee = 0.6, en = 0.8;
  TlAvatar avatar;
  TlSpline s;
  double spline = 0, linear = 0, worst = 0;
  CK_OK(tl_avatar_superellipsoid(a, b, c, ee, en, 0.0007, 250, &avatar));
  CK_OK(tl_spline_make(&avatar, &s));
  for (uint64_t i = 0; i < PLACES; i++) {
    TlVec3 u = {tl_random_normal(6, 0, i), tl_random_normal(6, 1, i), tl_random_normal(6, 2, i)};
    double across = pow(fabs(u.x) / a, 2 / ee) + pow(fabs(u.y) / b, 2 / ee),
           size = pow(pow(across, ee / en) + pow(fabs(u.z) / c, 2 / en), en / 2);
    TlQuat q = avatar.scan_rotation; /* body -> the given axes */
    TlVec3 p = tl_mat_tvec(tl_quat_matrix(q), tl_scale(1 / size, u));
    double phi = tl_spline_phi(&s, p, NULL, NULL), old = tl_avatar_phi(&avatar, p, NULL);
    spline += phi * phi / PLACES;
    linear += old * old / PLACES;
    worst = fmax(worst, fabs(phi));
  }
  printf("superellipsoid, 28 cells: rms %.4f%% of the half axis (most %.3f%%), trilinear %.4f%%\n",
         100 * sqrt(spline) / a, 100 * worst / a, 100 * sqrt(linear) / a);
  ck_assert_msg(sqrt(spline) < 1e-4 * a, "rms %g", sqrt(spline) / a);
  ck_assert_msg(sqrt(spline) < 0.1 * sqrt(linear), "rms %g, trilinear %g", sqrt(spline),
                sqrt(linear));
  ck_assert_msg(worst <= s.error_m, "%g over the bound %g", worst, s.error_m);
  tl_spline_free(&s);
  tl_avatar_free(&avatar);
}
END_TEST

/* The curvatures of a sphere: 1/r across, 0 along the normal. */
START_TEST(second_derivatives_are_the_curvature) {
  TlAvatar a = grid_of(sphere, 52, 0.3);
  TlSpline s;
  double worst = 0;
  CK_OK(tl_spline_make(&a, &s));
  for (uint64_t i = 0; i < PLACES; i++) {
    TlVec3 p, g;
    TlSym3 b;
    if (!place(sphere, a.spacing_m, i, &p)) continue;
    tl_spline_phi(&s, p, &g, &b);
    TlVec3 u = tl_unit(p), across = tl_unit(tl_cross(u, tl_vec3(0.3, -0.5, 0.8)));
    worst = fmax(worst, fabs(tl_dot(across, tl_sym_vec(b, across)) - 1 / tl_norm(p)));
    worst = fmax(worst, fabs(tl_dot(u, tl_sym_vec(b, u))));
  }
  ck_assert_msg(worst < 0.06, "off by %g of the curvature", worst);
  tl_spline_free(&s);
  tl_free(a.phi);
}
END_TEST

/* The gradient has no jumps: across the face between two cells it changes by no more than its own
 * slope allows. */
START_TEST(gradient_is_continuous) {
  TlAvatar a = grid_of(ellipsoid, 26, 0.3);
  TlSpline s;
  CK_OK(tl_spline_make(&a, &s));
  double tiny = 1e-6 * a.spacing_m;
  for (int32_t i = 4; i < 22; i++)
    for (int part = 0; part < 3; part++) {
      TlVec3 p = tl_axpy(a.origin_m, a.spacing_m, tl_vec3(12.3, 4.7, 9.1)), before, after;
      double face = a.spacing_m * (i + 0.5);
      if (part == 0) p.x = a.origin_m.x + face;
      if (part == 1) p.y = a.origin_m.y + face;
      if (part == 2) p.z = a.origin_m.z + face;
      tl_spline_phi(&s, tl_sub(p, tl_vec3(tiny, tiny, tiny)), &before, NULL);
      tl_spline_phi(&s, tl_add(p, tl_vec3(tiny, tiny, tiny)), &after, NULL);
      ck_assert_msg(tl_norm(tl_sub(after, before)) < 3e-5, "jump of %g",
                    tl_norm(tl_sub(after, before)));
    }
  tl_spline_free(&s);
  tl_free(a.phi);
}
END_TEST

/* Creases, anywhere between grid points and in any direction. */
START_TEST(bound_holds_at_creases) {
  double tightest = INFINITY;
  for (uint64_t n = 0; n < 40; n++) {
    TlVec3 u = tl_unit(tl_vec3(tl_random_normal(9, 0, n), tl_random_normal(9, 1, n),
                               tl_random_normal(9, 2, n))),
           v = tl_unit(
               tl_cross(u, tl_vec3(tl_random_normal(9, 3, n), tl_random_normal(9, 4, n), 1)));
    if (n < 8) u = tl_vec3(1, 0, 0), v = tl_vec3(0, 1, 0);
    double at = 0.125 * (double)(n % 8), worst = 0;
    TlAvatar a = {.nx = 15, .ny = 15, .nz = 15, .spacing_m = 1, .origin_m = {-7, -7, -7}};
    CK_OK(TL_NEW(a.phi, 15 * 15 * 15));
    for (int32_t i = 0; i < 15 * 15 * 15; i++) {
      TlVec3 p = {i % 15 - 7, i / 15 % 15 - 7, i / 225 - 7};
      a.phi[i] = (float)fmax(tl_dot(u, p) - at, tl_dot(v, p) - 0.3);
    }
    TlSpline s;
    CK_OK(tl_spline_make(&a, &s));
    for (uint64_t i = 0; i < 3000; i++) {
      TlVec3 p = {6 * tl_random_uniform(9, 5, i) - 3, 6 * tl_random_uniform(9, 6, i) - 3,
                  6 * tl_random_uniform(9, 7, i) - 3};
      double truth = fmax(tl_dot(u, p) - at, tl_dot(v, p) - 0.3);
      if (fabs(truth) < 1) worst = fmax(worst, fabs(tl_spline_phi(&s, p, NULL, NULL) - truth));
    }
    ck_assert_msg(worst <= s.error_m, "crease %d: error %g over its bound %g", (int)n, worst,
                  s.error_m);
    tightest = fmin(tightest, s.error_m / worst);
    tl_spline_free(&s);
    tl_free(a.phi);
  }
  printf("creases: the bound is %.2f times the error or more\n", tightest);
}
END_TEST

START_TEST(outside_the_grid_the_distance_to_it_is_added) {
  TlAvatar a = grid_of(sphere, 26, 0);
  TlSpline s;
  TlVec3 g, corner = tl_axpy(a.origin_m, a.spacing_m * 26, tl_vec3(1, 1, 1));
  CK_OK(tl_spline_make(&a, &s));
  double there = tl_spline_phi(&s, corner, NULL, NULL);
  CK_NEAR(tl_spline_phi(&s, tl_add(corner, tl_vec3(0.3, 0.4, 0)), &g, NULL), there + 0.5, 1e-6);
  CK_NEAR(g.x, 0.6, 1e-6);
  CK_NEAR(g.y, 0.8, 1e-6);
  ck_assert(g.z > 0.4); /* along the box's edge phi still grows */
  tl_spline_free(&s);
  a.nz = 2;
  CK_FAILS(tl_spline_make(&a, &s), TL_EINPUT, "too small for a spline");
  tl_free(a.phi);
}
END_TEST

/* Also beyond the grid, and whatever number is asked at once. */
START_TEST(many_at_once_are_what_each_is_alone) {
  enum { MANY = 997 };
  static TlVec3 p[MANY], gradient[MANY];
  static double phi[MANY];
  TlAvatar a = grid_of(torus, 26, 0.3);
  TlSpline s;
  TlRandom random = {5, 1, 0};
  CK_OK(tl_spline_make(&a, &s));
  for (int i = 0; i < MANY; i++)
    p[i] = tl_vec3(3.2 * tl_random_next(&random) - 1.6, 3.2 * tl_random_next(&random) - 1.6,
                   3.2 * tl_random_next(&random) - 1.6);
  for (size_t first = 0, some = 1; first < MANY; first += some, some++) {
    size_t count = first + some < MANY ? some : MANY - first;
    tl_spline_many(&s, p + first, count, phi + first, gradient + first);
  }
  for (int i = 0; i < MANY; i++) {
    TlVec3 g;
    double alone = tl_spline_phi(&s, p[i], &g, NULL);
    ck_assert_msg(!memcmp(&alone, &phi[i], sizeof alone) && !memcmp(&g, &gradient[i], sizeof g),
                  "point %d: %.17g, alone %.17g", i, phi[i], alone);
  }
  tl_spline_free(&s);
  tl_free(a.phi);
}
END_TEST

TL_TEST_MAIN("spline", grid_values_are_taken_and_quadratics_reproduced,
             error_falls_with_the_cube_of_the_spacing, surface_of_a_superellipsoid_is_met,
             second_derivatives_are_the_curvature, gradient_is_continuous, bound_holds_at_creases,
             outside_the_grid_the_distance_to_it_is_added, many_at_once_are_what_each_is_alone)
