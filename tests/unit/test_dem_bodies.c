#include "support/tltest.h"

#include "base/mem.h"
#include "base/random.h"
#include "dem/bodies.h"
#include "dem/boundary.h"

static TlBodyState some_state(int64_t id) {
  TlRandom r = {5, (uint64_t)id, 0};
  TlBodyState s;
  memset(&s, 0, sizeof s);
  s.id = id;
  s.avatar_id = 3 * id;
  s.scale = 1 + tl_random_next(&r);
  s.position = tl_vec3(tl_random_next(&r), tl_random_next(&r), tl_random_next(&r));
  s.rotation = tl_quat_unit((TlQuat){tl_random_next(&r), tl_random_next(&r), 0.1, 0.2});
  s.velocity = tl_vec3(tl_random_next(&r), 0, 1);
  s.momentum = tl_vec3(0, tl_random_next(&r), 2);
  return s;
}

static void fill(TlBodies *b, int64_t first, int64_t count) {
  for (int64_t i = 0; i < count; i++) {
    TlBodyState s = some_state(first + i);
    CK_OK(tl_bodies_add(b, &s));
  }
}

static void touch(TlBodies *b, int64_t low, int64_t high, int64_t key) {
  CK_OK(TL_RESERVE(b->history.touch, b->history.capacity, b->history.count + 1));
  b->history.touch[b->history.count++] =
      (TlTouch){.low = low,
                .high = high,
                .key = key,
                .impulse = tl_vec3((double)low, (double)high, (double)key),
                .normal = tl_vec3((double)key, (double)low, 1)};
}

START_TEST(a_packed_body_comes_out_with_its_bits_and_touches) {
  TlBodies a = {0}, b = {0};
  fill(&a, 0, 20);
  touch(&a, 3, 7, 5);
  touch(&a, 3, -1, 2);
  touch(&a, 1, 3, 9);
  touch(&a, 4, 6, 1);
  tl_history_sort(&a.history);
  size_t size = tl_bodies_packed_size(&a, 3), used;
  unsigned char *bytes = tl_calloc(size, 1);
  tl_bodies_pack(&a, 3, bytes);
  CK_OK(tl_bodies_unpack(&b, bytes, size, &used));
  ck_assert(used == size);
  TlBodyState x = tl_bodies_get(&a, 3), y = tl_bodies_get(&b, 0);
  ck_assert(memcmp(&x, &y, sizeof x) == 0);
  ck_assert(b.history.count == 3);
  size_t n;
  ck_assert(tl_history_find(&b.history, 4, 6, &n) == NULL);
  tl_history_sort(&b.history);
  const TlTouch *t = tl_history_find(&b.history, 3, 7, &n);
  ck_assert(t && n == 1 && t->key == 5 && t->impulse.y == 7);
  CK_FAILS(tl_bodies_unpack(&b, bytes, size - 1, &used), TL_EINPUT, "cut short");
  tl_free(bytes);
  tl_bodies_free(&a);
  tl_bodies_free(&b);
}
END_TEST

START_TEST(the_hash_does_not_see_the_order_of_bodies_but_sees_one_bit) {
  TlBodies a = {0}, b = {0};
  fill(&a, 0, 5);
  for (int64_t i = 4; i >= 0; i--) fill(&b, i, 1);
  uint64_t ha, hb;
  CK_OK(tl_bodies_hash(&a, &ha));
  CK_OK(tl_bodies_hash(&b, &hb));
  ck_assert(ha == hb);
  b.velocity[2].x = nextafter(b.velocity[2].x, 9);
  CK_OK(tl_bodies_hash(&b, &hb));
  ck_assert(ha != hb);
  touch(&a, 3, 7, 5);
  uint64_t with;
  CK_OK(tl_bodies_hash(&a, &with));
  ck_assert(with != ha);
  tl_bodies_free(&a);
  tl_bodies_free(&b);
}
END_TEST

START_TEST(bodies_taken_out_take_their_touches_along) {
  TlBodies a = {0};
  fill(&a, 0, 6);
  touch(&a, 0, 1, 5);
  touch(&a, 2, 3, 5);
  touch(&a, 1, 2, 5);
  unsigned char keep[6] = {1, 0, 0, 1, 1, 1};
  CK_OK(tl_bodies_keep(&a, keep));
  ck_assert(a.owned == 4 && a.id[1] == 3);
  ck_assert(a.history.count == 2); /* (0,1) stays with 0 and (2,3) with 3 */
  tl_bodies_free(&a);
}
END_TEST

START_TEST(a_state_that_is_not_finite_is_refused) {
  TlBodies a = {0};
  TlBodyState s = some_state(11);
  s.velocity.y = NAN;
  CK_FAILS(tl_bodies_add(&a, &s), TL_EINPUT, "grain 11");
  ck_assert(a.total == 0);
  tl_bodies_free(&a);
}
END_TEST

START_TEST(the_plane_is_found_by_name_and_measures_along_its_normal) {
  const TlBoundaryKind *kind = tl_boundary_kind("plane");
  ck_assert(kind == &tl_boundary_plane);
  ck_assert(tl_boundary_kind("sphere") == NULL);
  TlBoundaryPlane plane = {tl_vec3(0, 0, 2), tl_vec3(0, 0.6, 0.8)};
  double phi;
  TlVec3 n;
  ck_assert(kind->phi(&plane, tl_vec3(9, 0, 3), &phi, &n));
  CK_NEAR(phi, 0.8, 1e-15);
}
END_TEST

TL_TEST_MAIN("dem bodies", a_packed_body_comes_out_with_its_bits_and_touches,
             the_hash_does_not_see_the_order_of_bodies_but_sees_one_bit,
             bodies_taken_out_take_their_touches_along, a_state_that_is_not_finite_is_refused,
             the_plane_is_found_by_name_and_measures_along_its_normal)
