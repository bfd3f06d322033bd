#include "support/placed.h"
#include "support/tltest.h"

#include "base/mem.h"
#include "base/random.h"
#include "model/bodies.h"
#include "model/boundary.h"

static TlGrainState some_state(int64_t id) {
  TlRandom r = {5, (uint64_t)id, 0};
  TlGrainState s;
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
    TlGrainState s = some_state(first + i);
    CK_OK(tl_test_add(b, &s));
  }
}

static void touch(TlBodies *b, int64_t low, int64_t high, int64_t key) {
  TlImpulse impulse = {low, high, key, tl_vec3((double)low, (double)high, (double)key)};
  CK_OK(tl_pair_state_add(&b->pairs, TL_IMPULSES, &impulse));
}

/* A row of any kind, no two of its bytes alike by rule. */
static void add_row(TlBodies *b, TlPairKind kind, TlPairKey key) {
  unsigned char row[256];
  ck_assert_uint_le(tl_pair_record[kind].bytes, sizeof row);
  for (size_t k = 0; k < sizeof row; k++) row[k] = (unsigned char)(7 * k + 31 * (size_t)kind);
  memcpy(row, &key, sizeof key);
  CK_OK(tl_pair_state_add(&b->pairs, kind, row));
}

/* Contact memory and constraints alike: those of a body go with it, whichever end it is, and belong
 * to the state's hash by the owner of the lower id. */
START_TEST(rows_of_all_kinds_go_with_their_body) {
  for (int k = 0; k < TL_PAIR_KINDS; k++) {
    TlBodies a = {0}, b = {0};
    const TlRecord *record = &tl_pair_record[k];
    TlPairKind kind = (TlPairKind)k;
    uint64_t bare, whole, mine;
    size_t size, used, n;
    fill(&a, 0, 8);
    CK_OK(tl_bodies_hash(&a, &bare));
    add_row(&a, kind, (TlPairKey){3, 7, 12});
    add_row(&a, kind, (TlPairKey){1, 3, 11});
    add_row(&a, kind, (TlPairKey){3, 7, 10});
    add_row(&a, kind, (TlPairKey){4, 6, 13});
    tl_pair_state_sort(&a.pairs);
    CK_OK(tl_bodies_hash(&a, &whole));
    ck_assert(whole != bare);
    unsigned char *bytes = tl_test_pack(&a, 3, &size);
    ck_assert_ptr_nonnull(bytes);
    CK_OK(tl_bodies_unpack(&b, bytes, size, &used));
    ck_assert_uint_eq(used, size);
    ck_assert_uint_eq(b.pairs.of[k].count, 3);
    const unsigned char *was = tl_pair_rows_find(&a.pairs.of[k], kind, 3, 7, &n);
    ck_assert_uint_eq(n, 2);
    const unsigned char *is = tl_pair_rows_find(&b.pairs.of[k], kind, 3, 7, &n);
    ck_assert_uint_eq(n, 2);
    for (size_t i = 0; i < n; i++)
      ck_assert(tl_record_hash(record, is, (int64_t)i, 1) ==
                tl_record_hash(record, was, (int64_t)i, 1));
    ck_assert_int_eq(tl_pair_key(&b.pairs.of[k], kind, 1).number, 10);
    unsigned char keep[8] = {1, 1, 1, 0, 1, 1, 1, 1};
    CK_OK(tl_bodies_keep(&a, keep));
    ck_assert_uint_eq(a.pairs.of[k].count, 4); /* each has a body here still */
    CK_OK(tl_bodies_hash(&a, &whole));
    CK_OK(tl_bodies_hash(&b, &mine));
    unsigned char none[7] = {0};
    CK_OK(tl_bodies_keep(&a, none));
    ck_assert_uint_eq(a.pairs.of[k].count, 0);
    for (size_t cut = 1; cut < size; cut += 9)
      CK_FAILS(tl_bodies_unpack(&b, bytes, size - cut, &used), TL_EINPUT, "cut short");
    tl_free(bytes);
    tl_bodies_free(&a);
    tl_bodies_free(&b);
  }
}
END_TEST

START_TEST(a_packed_body_comes_out_with_its_bits_and_touches) {
  TlBodies a = {0}, b = {0};
  fill(&a, 0, 20);
  touch(&a, 3, 7, 5);
  touch(&a, 3, -1, 2);
  touch(&a, 1, 3, 9);
  touch(&a, 4, 6, 1);
  tl_pair_state_sort(&a.pairs);
  size_t size, used;
  unsigned char *bytes = tl_test_pack(&a, 3, &size);
  ck_assert_ptr_nonnull(bytes);
  CK_OK(tl_bodies_unpack(&b, bytes, size, &used));
  ck_assert(used == size);
  TlGrainState x = tl_test_grain_state(&a, 3), y = tl_test_grain_state(&b, 0);
  ck_assert(memcmp(&x, &y, sizeof x) == 0);
  ck_assert(b.pairs.of[TL_IMPULSES].count == 3);
  size_t n;
  ck_assert(tl_pair_rows_find(&b.pairs.of[TL_IMPULSES], TL_IMPULSES, 4, 6, &n) == NULL);
  tl_pair_state_sort(&b.pairs);
  const TlImpulse *t = tl_pair_rows_find(&b.pairs.of[TL_IMPULSES], TL_IMPULSES, 3, 7, &n);
  ck_assert(t && n == 1 && t->number == 5 && t->impulse.y == 7);
  CK_FAILS(tl_bodies_unpack(&b, bytes, size - 1, &used), TL_EINPUT, "cut short");
  tl_free(bytes);
  tl_bodies_free(&a);
  tl_bodies_free(&b);
}
END_TEST

/* Half of 16,000 bodies leave, with five rows each: looking at all rows for each of them took 4 s and more. Each
 * gets what a look at all rows finds for it. */
START_TEST(bodies_that_leave_take_the_rows_along_that_a_scan_finds) {
  enum { BODIES = 16000, REACH = 5 };
  TlBodies a = {0}, b = {0};
  static int64_t leaving[BODIES / 2];
  fill(&a, 0, BODIES);
  for (int64_t i = 0; i < BODIES; i++)
    for (int64_t k = 1; k <= REACH; k++) touch(&a, i, i + k < BODIES ? i + k : -k, k);
  for (int64_t i = 0; i < BODIES / 2; i++) leaving[i] = BODIES - 1 - 2 * i;
  TlBodyMoves out = {.bodies = &a}, in = {.bodies = &b};
  TlParcels from = tl_bodies_to_own(&out), to = tl_bodies_to_own(&in);
  const TlPairRows *was = &a.pairs.of[TL_IMPULSES], *is = &b.pairs.of[TL_IMPULSES];
  CK_OK(tl_body_moves_list(&out, leaving, BODIES / 2));
  for (int64_t i = 0; i < BODIES / 2; i++) {
    unsigned char bytes[4096];
    size_t size = from.size(from.of, i), at = is->count, used;
    ck_assert_uint_le(size, sizeof bytes);
    ck_assert_ptr_eq(from.pack(from.of, i, bytes), bytes + size);
    CK_OK(to.unpack(to.of, bytes, size, &used));
    ck_assert_uint_eq(used, size);
    for (size_t k = 0; i % 400 == 0 && k < was->count; k++) {
      const TlImpulse *row = &tl_impulses(&a.pairs)[k];
      if (row->low != leaving[i] && row->high != leaving[i]) continue;
      ck_assert_uint_lt(at, is->count);
      ck_assert_mem_eq(&tl_impulses(&b.pairs)[at++], row, sizeof *row);
    }
    ck_assert(i % 400 != 0 || at == is->count);
  }
  tl_body_moves_free(&out);
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
  ck_assert(a.pairs.of[TL_IMPULSES].count == 2); /* (0,1) stays with 0 and (2,3) with 3 */
  tl_bodies_free(&a);
}
END_TEST

/* What a frame or a checkpoint gets is in the order of ids, however the bodies lie. */
START_TEST(packed_rows_are_in_the_order_of_ids_and_hold_what_the_arrays_hold) {
  static const int64_t id[] = {7, 2, 9, 4, 0};
  enum { COUNT = sizeof id / sizeof *id };
  TlBodies b = {0}, back = {0};
  TlBodyOrder order;
  unsigned char bytes[COUNT * 400], bodies[COUNT * 400], colliders[COUNT * 400];
  for (int k = 0; k < COUNT; k++) fill(&b, id[k], 1);
  for (int64_t i = 0; i < b.owned; i++) {
    b.inverse_inertia[i] = tl_vec3(1, 2, 3);
    b.flags[i] = (int32_t)id[i];
  }
  CK_OK(tl_body_order(&b, &order));
  TlRows rows = tl_frame_rows(&order), body_rows = tl_body_rows(&order),
         collider_rows = tl_collider_rows(&order);
  ck_assert(rows.count == COUNT && body_rows.count == COUNT && collider_rows.count == COUNT);
  size_t size = tl_record_packed_bytes(rows.record, rows.attributes);
  ck_assert_uint_le(size, 400);
  rows.pack(rows.of, 0, 2, bytes);
  rows.pack(rows.of, 2, COUNT - 2, bytes + 2 * size);
  int64_t before = -1;
  for (int k = 0; k < COUNT; k++) {
    TlBodyRow row;
    tl_record_unpack(rows.record, rows.attributes, &row, 0, bytes + (size_t)k * size);
    ck_assert(row.id > before && row.body == row.id);
    before = row.id;
    int64_t i = 0;
    while (b.id[i] != row.id) i++;
    TlVec3 spin = tl_bodies_spin(&b, i);
    ck_assert_mem_eq(&row.position_m, &b.position[i], sizeof row.position_m);
    ck_assert_mem_eq(&row.rotation, &b.rotation[i], sizeof row.rotation);
    ck_assert_mem_eq(&row.velocity_m_s, &b.velocity[i], sizeof row.velocity_m_s);
    ck_assert_mem_eq(&row.spin_rad_s, &spin, sizeof spin);
    ck_assert(row.avatar_id == b.colliders.avatar_id[i] && row.flags == b.flags[i]);
  }
  /* a checkpoint's rows come back as the same state */
  uint64_t was, is;
  body_rows.pack(body_rows.of, 0, COUNT, bodies);
  collider_rows.pack(collider_rows.of, 0, COUNT, colliders);
  for (int k = 0; k < COUNT; k++)
    CK_OK(tl_bodies_load(&back,
                         bodies + (size_t)k * tl_record_packed_bytes(&tl_body_record, TL_SAVE)));
  for (int k = 0; k < COUNT; k++)
    CK_OK(tl_bodies_load_collider(
        &back, k, colliders + (size_t)k * tl_record_packed_bytes(&tl_collider_record, TL_SAVE)));
  CK_OK(tl_bodies_hash(&b, &was));
  CK_OK(tl_bodies_hash(&back, &is));
  ck_assert(was == is && back.id[0] == 0 && back.colliders.owned == COUNT);
  tl_body_order_free(&order);
  tl_bodies_free(&b);
  tl_bodies_free(&back);
}
END_TEST

START_TEST(a_state_that_is_not_finite_is_refused) {
  TlBodies a = {0};
  TlGrainState s = some_state(11);
  s.velocity.y = NAN;
  CK_FAILS(tl_test_add(&a, &s), TL_EINPUT, "grain 11");
  size_t size, used;
  unsigned char *bytes = tl_test_pack(&a, 0, &size);
  TlBodies b = {0};
  ck_assert_ptr_nonnull(bytes);
  CK_FAILS(tl_bodies_unpack(&b, bytes, size, &used), TL_EINPUT, "grain 11");
  ck_assert(b.total == 0 && b.owned == 0 && b.colliders.total == 0 && b.colliders.owned == 0);
  tl_free(bytes);
  tl_bodies_free(&b);
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

/* Asked in order, out of order and from anywhere, tl_pair_rows_next finds what a search by halves does. */
START_TEST(rows_are_found_from_the_last_answer_on) {
  TlPairState pairs = {0};
  TlPairRows *rows = &pairs.of[TL_IMPULSES];
  for (uint64_t k = 0; k < 300; k++) {
    TlImpulse one = {.low = (int64_t)(40 * tl_random_uniform(1, 1, 3 * k)),
                     .number = (int64_t)(3 * tl_random_uniform(1, 1, 3 * k + 2))};
    one.high = one.low - 3 + (int64_t)(12 * tl_random_uniform(1, 1, 3 * k + 1));
    CK_OK(tl_pair_state_add(&pairs, TL_IMPULSES, &one));
  }
  tl_pair_rows_sort(rows, TL_IMPULSES);
  size_t at = 0, found = 0;
  for (uint64_t k = 0; k < 4000; k++) {
    bool in_order = k % 1000 < 500;
    int64_t low = in_order ? (int64_t)(k % 1000 / 12) : (int64_t)(42 * tl_random_uniform(2, 1, k));
    int64_t high =
        low - 3 + (in_order ? (int64_t)(k % 12) : (int64_t)(13 * tl_random_uniform(2, 2, k)));
    if (k % 7 == 0) at = (size_t)(1.1 * (double)rows->count * tl_random_uniform(2, 3, k));
    size_t one, two;
    const void *next = tl_pair_rows_next(rows, TL_IMPULSES, low, high, &at, &one);
    ck_assert_ptr_eq(next, tl_pair_rows_find(rows, TL_IMPULSES, low, high, &two));
    ck_assert_uint_eq(one, two);
    found += one;
  }
  ck_assert_uint_gt(found, 1000);
  tl_pair_state_free(&pairs);
}
END_TEST

TL_TEST_MAIN("dem bodies", rows_of_all_kinds_go_with_their_body,
             a_packed_body_comes_out_with_its_bits_and_touches,
             bodies_that_leave_take_the_rows_along_that_a_scan_finds,
             the_hash_does_not_see_the_order_of_bodies_but_sees_one_bit,
             bodies_taken_out_take_their_touches_along, a_state_that_is_not_finite_is_refused,
             packed_rows_are_in_the_order_of_ids_and_hold_what_the_arrays_hold,
             the_plane_is_found_by_name_and_measures_along_its_normal,
             rows_are_found_from_the_last_answer_on)
