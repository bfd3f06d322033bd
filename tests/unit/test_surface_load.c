/* What the judge says that overlapping surfaces bear (judge/surface_load.h) against closed forms. */
#include "support/tltest.h"

#include "base/mem.h"
#include "judge/surface_load.h"
#include "shape/superellipsoid.h"

#include <math.h>

static const double SIZE = 0.01;
static const TlVec3 up = {0, 0, 1}, origin = {0, 0, 0};

static TlBodyRow row_at(TlVec3 x, TlQuat turn) {
  return (TlBodyRow){.scale = 1, .position_m = x, .rotation = turn};
}

static double on_plane(const TlOverlapShape *shape, const TlBodyRow *row, double depth) {
  JudgeLoad load;
  TlOverlapBody a = tl_overlap_body(shape, row);
  judge_load_open(&load, &a, NULL, origin, up, depth);
  TlVec3 f = judge_load_force(&load, origin);
  CK_NEAR(hypot(f.x, f.y), 0, 1e-3 * f.z);
  judge_load_close(&load);
  return f.z;
}

/* Its face: L^2 d, and four sides that dip in with it, L d^2/2 each. Its corner: 3/2 d^3. */
START_TEST(a_cube_on_a_plane) {
  static const TlAvatar avatar = {.radius_m = 1};
  TlOverlapShape cube = {.avatar = &avatar, .form = TL_OVERLAP_CONVEX, .parts = 1};
  cube.part[0] = tl_convex_box(tl_vec3(0.5 * SIZE, 0.5 * SIZE, 0.5 * SIZE));
  TlVec3 diagonal = tl_unit(tl_vec3(1, 1, 1));
  TlQuat flat = {1, 0, 0, 0},
         tip = tl_quat_from_rotation(tl_scale(acos(diagonal.z), tl_unit(tl_cross(diagonal, up))));
  for (double d = 1e-4 * SIZE; d < 0.05 * SIZE; d *= 5) {
    TlBodyRow row = row_at(tl_vec3(0, 0, 0.5 * SIZE - d), flat);
    CK_NEAR(on_plane(&cube, &row, d) / (SIZE * SIZE * d + 2 * SIZE * d * d), 1, 1e-9);
    row = row_at(tl_vec3(0, 0, 0.5 * sqrt(3) * SIZE - d), tip);
    CK_NEAR(on_plane(&cube, &row, d) / (1.5 * d * d * d), 1, 1e-9);
  }
}
END_TEST

/* So deep that the bars that lie flat reach in by e: what of their faces is in the upright one is no surface. */
START_TEST(a_cross_deep_in_a_plane) {
  static const TlAvatar avatar = {.radius_m = 1};
  double l = SIZE, w = 0.4 * SIZE, e = 0.05 * SIZE, d = 0.5 * (l - w) + e;
  TlOverlapShape cross = {.avatar = &avatar, .form = TL_OVERLAP_CONVEX, .parts = 3};
  for (int k = 0; k < 3; k++)
    cross.part[k] =
        tl_convex_box(tl_scale(0.5, tl_vec3(k == 0 ? l : w, k == 1 ? l : w, k == 2 ? l : w)));
  TlBodyRow row = row_at(tl_vec3(0, 0, 0.5 * l - d), (TlQuat){1, 0, 0, 0});
  double want = w * w * d + 2 * w * (d * d - e * e) + 2 * w * (l - w) * e + 2 * l * e * e;
  CK_NEAR(on_plane(&cross, &row, d) / want, 1, 1e-9);
}
END_TEST

/* Face on face, one cube half as far across. The small one's face and sides bear as on a plane; of the large one's face
 * what is nearer to the small one's sides bears sideways, and these parts cancel. Of the two each counts for half. */
START_TEST(a_cube_on_a_cube) {
  static const TlAvatar avatar = {.radius_m = 1};
  TlOverlapShape large = {.avatar = &avatar, .form = TL_OVERLAP_CONVEX, .parts = 1}, small = large;
  double half = 0.5 * SIZE, side = half, d = 1e-3 * SIZE;
  large.part[0] = tl_convex_box(tl_vec3(half, half, half));
  small.part[0] = tl_convex_box(tl_vec3(0.5 * half, 0.5 * half, 0.5 * half));
  TlQuat flat = {1, 0, 0, 0};
  TlBodyRow low = row_at(origin, flat), high = row_at(tl_vec3(0, 0, 1.5 * half - d), flat);
  TlOverlapBody a = tl_overlap_body(&small, &high), b = tl_overlap_body(&large, &low);
  JudgeLoad load;
  judge_load_open(&load, &a, &b, origin, up, d);
  double own = side * side * d + 2 * side * d * d, face = (side - 2 * d) * (side - 2 * d) * d;
  TlVec3 f = judge_load_force(&load, origin);
  CK_NEAR(f.z / (0.5 * (own + face)), 1, 1e-9);
  CK_NEAR(judge_load_shift(&load, up, d, up, f.z) / d, 0, 2e-3);
  CK_NEAR(judge_load_shift(&load, up, d, up, 0.5 * f.z) / d, 0.5, 5e-3);
  judge_load_close(&load);
}
END_TEST

/* A cap of a ball of radius R on a plane bears pi R d^2, between two balls half of it; on twelve cells a radius the oracle's
 * surface is off by some 1e-5 R. */
START_TEST(balls_on_a_grid) {
  TlAvatar ball;
  TlOverlapShape shape;
  CK_OK(tl_avatar_sphere(SIZE, SIZE / 12, 300, &ball));
  CK_OK(tl_overlap_shape_of_grid(&ball, &shape));
  TlQuat turn = tl_quat_from_rotation(tl_vec3(0.3, -0.2, 0.5));
  for (double d = 1e-3 * SIZE; d < 0.02 * SIZE; d *= 4) {
    TlBodyRow row = row_at(tl_vec3(0, 0, SIZE - d), turn),
              low = row_at(tl_vec3(0, 0, -SIZE), (TlQuat){1, 0, 0, 0});
    double want = M_PI * SIZE * d * d;
    CK_NEAR(on_plane(&shape, &row, d) / want, 1, 0.04);
    TlOverlapBody a = tl_overlap_body(&shape, &row), b = tl_overlap_body(&shape, &low);
    JudgeLoad load;
    judge_load_open(&load, &a, &b, origin, up, d);
    CK_NEAR(judge_load_force(&load, origin).z / (0.5 * want), 1, 0.04);
    CK_NEAR(judge_load_shift(&load, up, d, up, 0.5 * want * 1.44) / d, -0.2, 0.03);
    CK_NEAR(judge_load_shift(&load, up, d, up, 0.5 * want * 0.64) / d, 0.2, 0.03);
    judge_load_close(&load);
  }
  tl_free(shape.cell);
  tl_avatar_free(&ball);
}
END_TEST

TL_TEST_MAIN("surface_load", a_cube_on_a_plane, a_cross_deep_in_a_plane, a_cube_on_a_cube,
             balls_on_a_grid)
