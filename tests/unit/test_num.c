#include "support/tltest.h"

#include "base/random.h"
#include "num/layers.h"
#include "num/relation.h"
#include "num/vec.h"
#include "num/volume.h"

#include <math.h>

static TlQuat random_rotation(TlRandom *r) {
  TlQuat q = {tl_random_next_normal(r), tl_random_next_normal(r), tl_random_next_normal(r),
              tl_random_next_normal(r)};
  return tl_quat_unit(q);
}

START_TEST(quaternion_rotates_body_to_world) {
  TlQuat q = tl_quat_from_rotation(tl_vec3(0, 0, 1.57079632679489661923));
  TlVec3 x = tl_quat_rotate(q, tl_vec3(1, 0, 0)); /* a quarter turn about z takes x to y */
  CK_NEAR(x.x, 0, 1e-15);
  CK_NEAR(x.y, 1, 1e-15);
}
END_TEST

START_TEST(quaternion_and_matrix_agree_both_ways) {
  TlRandom r = {1, 2, 0};
  for (int i = 0; i < 1000; i++) {
    TlQuat q = random_rotation(&r), p = tl_quat_from_matrix(tl_quat_matrix(q));
    CK_NEAR(fabs(q.w * p.w + q.x * p.x + q.y * p.y + q.z * p.z), 1, 1e-14);
  }
}
END_TEST

START_TEST(eigen_rebuilds_its_matrix) {
  TlRandom r = {3, 4, 0};
  for (int i = 0; i < 1000; i++) {
    TlMat3 m = tl_quat_matrix(random_rotation(&r)), v;
    TlVec3 d = tl_vec3(tl_random_next(&r), tl_random_next(&r), tl_random_next(&r));
    TlSym3 s = tl_sym_rotated_diagonal(m, d), back;
    double values[3];
    tl_sym_eigen(s, values, &v);
    ck_assert(values[0] <= values[1] && values[1] <= values[2]);
    back = tl_sym_rotated_diagonal(v, tl_vec3(values[0], values[1], values[2]));
    CK_NEAR(back.xx, s.xx, 1e-14);
    CK_NEAR(back.xy, s.xy, 1e-14);
    CK_NEAR(back.yz, s.yz, 1e-14);
    TlVec3 a = tl_vec3(v.m[0][0], v.m[1][0], v.m[2][0]),
           b = tl_vec3(v.m[0][1], v.m[1][1], v.m[2][1]),
           c = tl_vec3(v.m[0][2], v.m[1][2], v.m[2][2]);
    CK_NEAR(tl_dot(tl_cross(a, b), c), 1, 1e-14);
  }
}
END_TEST

START_TEST(symmetric_inverse_inverts) {
  TlSym3 s = {2, 3, 4, 0.5, -0.3, 0.2}, i = tl_sym_inverse(s);
  TlVec3 x = tl_vec3(1, -2, 3), y = tl_sym_vec(i, tl_sym_vec(s, x));
  CK_NEAR(tl_norm(tl_sub(x, y)), 0, 1e-14);
}
END_TEST

START_TEST(volume_refuses_empty_and_not_finite) {
  TlVolume v, f;
  CK_FAILS(tl_volume_new(&v, TL_U8, 3, 0, 2), TL_EINPUT, "empty");
  CK_OK(tl_volume_new(&v, TL_F32, 3, 4, 5));
  v.f32[tl_volume_at(&v, 2, 1, 3)] = NAN;
  CK_FAILS(tl_volume_to_f32(&v, &f), TL_EINPUT, "(2, 1, 3)");
  v.f32[tl_volume_at(&v, 2, 1, 3)] = 7;
  CK_OK(tl_volume_to_f32(&v, &f));
  ck_assert(f.f32[tl_volume_at(&f, 2, 1, 3)] == 7);
  tl_volume_free(&v);
  tl_volume_free(&f);
}
END_TEST

START_TEST(labels_are_whole_numbers_of_any_type) {
  TlVolume v;
  TlLayers layers;
  uint32_t label[4];
  CK_OK(tl_volume_new(&v, TL_F32, 2, 1, 3));
  for (int i = 0; i < 6; i++) v.f32[i] = (float)(100000 * i);
  tl_layers_of(&v, &layers);
  CK_OK(tl_layers_labels(&layers));
  ck_assert(layers.head.type == TL_U32 && layers.head.nz == 3);
  CK_OK(tl_layers_read(&layers, 1, 2, label));
  ck_assert(label[0] == 200000 && label[3] == 500000);
  v.f32[5] = 2.5F;
  CK_FAILS(tl_layers_read(&layers, 1, 2, label), TL_EINPUT, "2.5 at voxel (1, 0, 2)");
  v.f32[5] = -1;
  CK_FAILS(tl_layers_read(&layers, 2, 1, label), TL_EINPUT, "-1");
  tl_layers_close(&layers);
  tl_volume_free(&v);
}
END_TEST

/* By hand: ranks of x are 0, 1.5, 1.5, 3, 4, of y 0, 1, 3, 2, 4. */
START_TEST(relation_is_by_ranks) {
  static const double x[] = {-1, 5, 5, 6, 1e6}, y[] = {0, 1, 3, 2, 4};
  TlRelation r;
  CK_OK(tl_relation(x, y, 5, &r));
  CK_NEAR(r.correlation, 8 / sqrt(9.5 * 10), 1e-14);
  ck_assert(r.lowest == 0 && r.highest == 4); /* a quarter of five is one */
  double falling[8], even[8] = {0};
  for (int i = 0; i < 8; i++) falling[i] = exp(-i);
  CK_OK(tl_relation((const double[]){0, 1, 2, 3, 4, 5, 6, 7}, falling, 8, &r));
  CK_NEAR(r.correlation, -1, 1e-15);
  CK_NEAR(r.lowest, 0.5 * (1 + exp(-1)), 1e-15);
  CK_NEAR(r.highest, 0.5 * (exp(-6) + exp(-7)), 1e-15);
  CK_OK(tl_relation(even, falling, 8, &r));
  ck_assert(isnan(r.correlation));
  CK_OK(tl_relation(x, y, 2, &r));
  ck_assert(isnan(r.correlation) && isnan(r.lowest) && isnan(r.highest));
  CK_OK(tl_relation(x, y, 0, &r));
  ck_assert(isnan(r.correlation) && isnan(tl_relation_by_chance(2)));
  CK_NEAR(tl_relation_by_chance(101), 0.2, 1e-15);
}
END_TEST

TL_TEST_MAIN("num", relation_is_by_ranks, quaternion_rotates_body_to_world,
             quaternion_and_matrix_agree_both_ways, eigen_rebuilds_its_matrix,
             symmetric_inverse_inverts, volume_refuses_empty_and_not_finite,
             labels_are_whole_numbers_of_any_type)
