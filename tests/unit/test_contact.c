/* The contact search against brute force, its manifolds, and colours against their rules. */
#include "support/placed.h"
#include "support/tltest.h"

#include "base/mem.h"
#include "base/random.h"
#include "contact/broad.h"
#include "solve/stages.h"
#include "contact/near.h"
#include "model/shapes.h"
#include "shape/superellipsoid.h"

typedef struct Rig {
  TlAvatar avatar[2];
  TlShapes shapes;
  TlBodies bodies;
  TlArena arena;
} Rig;

static TlQuat random_rotation(TlRandom *r) {
  return tl_quat_unit((TlQuat){tl_random_next_normal(r), tl_random_next_normal(r),
                               tl_random_next_normal(r), tl_random_next_normal(r)});
}

static void rig_open(Rig *rig) {
  memset(rig, 0, sizeof *rig);
  CK_OK(tl_avatar_superellipsoid(0.012, 0.008, 0.006, 0.6, 0.9, 0.001, 500, &rig->avatar[0]));
  CK_OK(tl_avatar_box(0.01, 0.008, 0.006, 0.001, 600, &rig->avatar[1]));
  CK_OK(tl_shapes_add(&rig->shapes, 10, &rig->avatar[0]));
  CK_OK(tl_shapes_add(&rig->shapes, 11, &rig->avatar[1]));
  CK_OK(tl_shapes_add_closed(&rig->shapes, 12, &tl_closed_sphere, (double[]){0.009}));
}

static void rig_close(Rig *rig) {
  tl_bodies_free(&rig->bodies);
  tl_shapes_free(&rig->shapes);
  tl_arena_free(&rig->arena);
  for (int i = 0; i < 2; i++) tl_avatar_free(&rig->avatar[i]);
}

static void place(Rig *rig, int64_t shape, TlVec3 x, TlQuat q, double scale, double reach) {
  tl_test_place(&rig->bodies, &rig->shapes,
                (TlGrainState){.id = 100 + rig->bodies.total,
                               .avatar_id = shape,
                               .scale = scale,
                               .position = x,
                               .rotation = q},
                reach);
}

static int by_key(const void *a, const void *b) {
  const TlPoint *x = a, *y = b;
  return x->key < y->key ? -1 : x->key > y->key;
}

/* Every node of `from` against `to`, straight from tl_avatar_phi. */
static int64_t brute_force(const Rig *rig, int64_t from, int64_t to, double margin, TlPoint *out) {
  const TlBodies *b = &rig->bodies;
  const TlAvatar *f = b->colliders.shape[from]->avatar, *t = b->colliders.shape[to]->avatar;
  int64_t found = 0;
  for (int32_t i = 0; i < f->node_count; i++) {
    TlVec3 p = {f->node_m[3 * i], f->node_m[3 * i + 1], f->node_m[3 * i + 2]}, gradient;
    TlVec3 world = tl_add(b->position[from],
                          tl_quat_rotate(b->rotation[from], tl_scale(b->colliders.scale[from], p)));
    TlVec3 body =
        tl_scale(1 / b->colliders.scale[to],
                 tl_quat_rotate(tl_quat_conj(b->rotation[to]), tl_sub(world, b->position[to])));
    double gap = b->colliders.scale[to] * tl_avatar_phi(t, body, &gradient);
    if (gap >= margin) continue;
    out[found++] = (TlPoint){.p = world,
                             .gap = gap,
                             .key = 2 * i,
                             .n = tl_quat_rotate(b->rotation[to], tl_unit(gradient))};
  }
  return found;
}

START_TEST(the_tree_finds_what_testing_every_node_finds) {
  Rig rig;
  rig_open(&rig);
  TlRandom r = {31, 0, 0};
  TlPoints points = {0};
  TlPoint *oracle = tl_calloc(1000, sizeof *oracle);
  int64_t compared = 0;
  for (int trial = 0; trial < 400; trial++) {
    tl_bodies_clear(&rig.bodies);
    double s = 0.5 + tl_random_next(&r), far = 0.006 + 0.022 * tl_random_next(&r);
    TlVec3 d = tl_unit(
        tl_vec3(tl_random_next_normal(&r), tl_random_next_normal(&r), tl_random_next_normal(&r)));
    place(&rig, 10 + trial % 2, tl_vec3(5, -3, 2), random_rotation(&r), 1, 0);
    place(&rig, 10 + trial / 2 % 2, tl_axpy(tl_vec3(5, -3, 2), far, d), random_rotation(&r), s, 0);
    double margin = trial % 3 ? 0.003 * tl_random_next(&r) : 0;
    points.count = 0;
    TlWanted wanted = {margin, INFINITY, INFINITY};
    CK_OK(tl_narrow_nodes(&rig.bodies.colliders, 0, 1, 0, &wanted, &points));
    int64_t n = brute_force(&rig, 0, 1, margin, oracle);
    ck_assert_msg((int64_t)points.count == n, "trial %d: %zu points, brute force %lld", trial,
                  points.count, (long long)n);
    qsort(points.point, points.count, sizeof *points.point, by_key);
    for (int64_t i = 0; i < n; i++) {
      ck_assert(points.point[i].key == oracle[i].key);
      CK_NEAR(points.point[i].gap, oracle[i].gap, 1e-14);
      CK_NEAR(tl_norm(tl_sub(points.point[i].n, oracle[i].n)), 0, 1e-9);
      CK_NEAR(tl_norm(tl_sub(points.point[i].p, oracle[i].p)), 0, 1e-14);
    }
    compared += n;
  }
  ck_assert(compared > 5000);
  ck_assert(points.node_tests < 400 * 550 / 2); /* it prunes */
  tl_free(points.point);
  tl_free(oracle);
  rig_close(&rig);
}
END_TEST

START_TEST(a_band_keeps_all_points_within_it_of_the_deepest) {
  Rig rig;
  rig_open(&rig);
  TlRandom r = {34, 0, 0};
  TlPoints points = {0};
  TlPoint *oracle = tl_calloc(1000, sizeof *oracle);
  int64_t before = 0, compared = 0;
  for (int trial = 0; trial < 300; trial++) {
    tl_bodies_clear(&rig.bodies);
    TlVec3 d = tl_unit(tl_vec3(tl_random_next_normal(&r), tl_random_next_normal(&r), 0.3));
    place(&rig, 10, tl_vec3(0, 0, 0), random_rotation(&r), 1, 0);
    place(&rig, 11, tl_scale(0.01 + 0.012 * tl_random_next(&r), d), random_rotation(&r), 0.8, 0);
    double band = 3e-4 * tl_random_next(&r), least = INFINITY;
    TlWanted wanted = {4e-3, band, INFINITY};
    points.count = 0;
    CK_OK(tl_narrow_nodes(&rig.bodies.colliders, 0, 1, 0, &wanted, &points));
    int64_t n = brute_force(&rig, 0, 1, 4e-3, oracle), inside = 0, found = 0;
    for (int64_t i = 0; i < n; i++) least = fmin(least, oracle[i].gap);
    for (int64_t i = 0; i < n; i++) inside += oracle[i].gap < fmax(least, 0) + band;
    for (size_t i = 0; i < points.count; i++) found += points.point[i].gap < fmax(least, 0) + band;
    ck_assert_msg(found == inside, "trial %d: %lld of %lld", trial, (long long)found,
                  (long long)inside);
    compared += inside;
    before += n;
  }
  ck_assert(compared > 500 && before > 2 * compared);
  tl_free(points.point);
  tl_free(oracle);
  rig_close(&rig);
}
END_TEST

/* Closed-form spheres: gap and normal exact, from either side. */
START_TEST(spheres_touch_in_closed_form) {
  Rig rig;
  rig_open(&rig);
  TlPoints points = {0};
  TlVec3 d = tl_unit(tl_vec3(1, 2, 2));
  place(&rig, 12, tl_vec3(1, 1, 1), (TlQuat){1, 0, 0, 0}, 1, 0);
  place(&rig, 12, tl_axpy(tl_vec3(1, 1, 1), 0.02, d), (TlQuat){0, 1, 0, 0}, 1.5, 0);
  TlWanted wanted = {0.001, INFINITY, INFINITY};
  CK_OK(tl_narrow_nodes(&rig.bodies.colliders, 0, 1, 0, &wanted, &points));
  ck_assert_int_eq((int)points.count, 1);
  CK_NEAR(points.point[0].gap, 0.02 - 2.5 * 0.009, 1e-15);
  CK_NEAR(tl_norm(tl_add(points.point[0].n, d)), 0, 1e-13);
  TlBoundaryPlane plane = {tl_vec3(0, 0, 0.995), tl_vec3(0, 0, 1)};
  TlBoundary boundary = {&tl_boundary_plane, &plane};
  points.count = 0;
  wanted.least = INFINITY;
  CK_OK(tl_narrow_boundary(&rig.bodies.colliders, 0, &boundary, &wanted, &points));
  CK_NEAR(points.point[0].gap, 0.005 - 0.009, 1e-15);
  tl_free(points.point);
  rig_close(&rig);
}
END_TEST

static int compare_pair(const void *a, const void *b) {
  const TlBodyPair *x = a, *y = b;
  if (x->a != y->a) return x->a < y->a ? -1 : 1;
  return x->b < y->b ? -1 : x->b > y->b;
}

START_TEST(the_cells_find_every_pair_once_at_any_size_ratio) {
  Rig rig;
  rig_open(&rig);
  TlRandom r = {32, 0, 0};
  TlBodyPairs pairs = {0};
  for (int i = 0; i < 400; i++) {
    TlVec3 x = {0.2 * tl_random_next(&r) - 0.1, 0.2 * tl_random_next(&r) - 0.2,
                0.2 * tl_random_next(&r)};
    place(&rig, 12, x, (TlQuat){1, 0, 0, 0}, exp(3 * tl_random_next(&r) - 2), 0.002);
  }
  rig.bodies.owned = rig.bodies.colliders.owned = 300; /* the rest are ghosts */
  CK_OK(tl_broad_pairs(&rig.bodies, &rig.arena, &pairs));
  qsort(pairs.pair, pairs.count, sizeof *pairs.pair, compare_pair);
  size_t at = 0;
  for (int32_t i = 0; i < 300; i++)
    for (int32_t j = i + 1; j < 400; j++) {
      TlVec3 d = tl_sub(rig.bodies.position[i], rig.bodies.position[j]);
      if (!(tl_norm(d) < rig.bodies.colliders.reach[i] + rig.bodies.colliders.reach[j])) continue;
      ck_assert(at < pairs.count && pairs.pair[at].a == i && pairs.pair[at].b == j);
      at++;
    }
  ck_assert_msg(at == pairs.count && at > 300, "%zu pairs of %zu", pairs.count, at);
  tl_free(pairs.pair);
  rig_close(&rig);
}
END_TEST

/* A box flat on a plane: of all the face's nodes four corners stay; remembered ones are kept. */
START_TEST(a_face_is_kept_by_its_corners) {
  Rig rig;
  rig_open(&rig);
  TlPoints points = {0};
  TlPoint kept[TL_MANIFOLD_POINTS];
  place(&rig, 11, tl_vec3(0, 0, 0), (TlQuat){1, 0, 0, 0}, 1, 0);
  /* body axes go with ascending moments: ask the nodes which way is thin */
  double low = 0;
  for (int32_t i = 0; i < rig.avatar[1].node_count; i++)
    low = fmin(low, rig.avatar[1].node_m[3 * i + 2]);
  TlBoundaryPlane plane = {tl_vec3(0, 0, low), tl_vec3(0, 0, 1)};
  TlBoundary boundary = {&tl_boundary_plane, &plane};
  TlWanted wanted = {1e-6, INFINITY, INFINITY};
  CK_OK(tl_narrow_boundary(&rig.bodies.colliders, 0, &boundary, &wanted, &points));
  ck_assert(points.count > 50);
  int n = tl_manifold(points.point, points.count, 1e-5, 1e-3, NULL, 0, kept);
  ck_assert_int_eq(n, 4);
  double area = 0;
  for (int i = 0; i < 4; i++) area = fmax(area, fabs(kept[i].p.x * kept[i].p.y));
  for (int i = 0; i < 4; i++) CK_NEAR(fabs(kept[i].p.x * kept[i].p.y), area, 0.1 * area);
  tl_free(points.point);
  rig_close(&rig);
}
END_TEST

START_TEST(points_of_two_faces_stay_in_two_clusters) {
  TlPoint c[40], kept[TL_MANIFOLD_POINTS];
  for (int i = 0; i < 40; i++) {
    bool wall = i % 2;
    double u = 0.1 * (i / 2 % 5), v = 0.1 * (i / 10);
    c[i] = (TlPoint){.p = wall ? tl_vec3(0, u, v) : tl_vec3(u, v, 0),
                     .n = wall ? tl_vec3(1, 0, 0) : tl_vec3(0, 0, 1),
                     .gap = -1e-3 * (1 + 0.01 * i),
                     .key = i};
  }
  int n = tl_manifold(c, 40, 1, 0.01, NULL, 0, kept), walls = 0;
  for (int i = 0; i < n; i++) walls += kept[i].n.x == 1;
  ck_assert_int_eq(n, 8);
  ck_assert_int_eq(walls, 4);
  CK_NEAR(kept[0].gap, -1.39e-3, 1e-12); /* the deepest comes first */
}
END_TEST

/* A node of either grain, one beside the other: the one that carried load stays beside the deeper.
 */
START_TEST(a_loaded_point_beside_the_deepest_stays) {
  const TlVec3 p[6] = {{1, 1, 0}, {1, -1, 0}, {-1, 1, 0}, {-1, -1, 0}, {0, 0, 0}, {1e-3, 0, 0}};
  const double gap[6] = {0, 0, 0, 0, -1e-4, -9e-5};
  const TlImpulse known[2] = {{.number = 5}, {.number = 99}}; /* 99: no longer a candidate */
  for (size_t with = 0; with <= 2; with++) {
    TlPoint c[6], kept[TL_MANIFOLD_POINTS];
    for (int i = 0; i < 6; i++)
      c[i] = (TlPoint){.p = p[i], .n = {0, 0, 1}, .gap = gap[i], .key = i};
    int n = tl_manifold(c, 6, 1, 0.01, known, with, kept);
    ck_assert_int_eq(n, with > 0 ? 5 : 4);
    ck_assert_int_eq(kept[0].key, 4);
    if (with > 0) ck_assert_int_eq(kept[4].key, 5);
  }
}
END_TEST

/* Six faces of two points each: none is left out while they fit. */
START_TEST(every_cluster_keeps_its_deepest_point) {
  const TlVec3 axis[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  TlPoint c[12], kept[TL_MANIFOLD_POINTS];
  for (int i = 0; i < 12; i++) {
    TlVec3 n = tl_scale(i % 2 ? -1 : 1, axis[i / 2 % 3]);
    TlVec3 aside = tl_scale(i < 6 ? 0 : 0.3, axis[(i / 2 + 1) % 3]);
    c[i] = (TlPoint){.p = tl_add(n, aside), .n = n, .gap = -1e-3 * (i < 6 ? 2 : 1), .key = i};
  }
  ck_assert_int_eq(tl_manifold(c, 12, 1, 0.01, NULL, 0, kept), 12);
  for (int i = 0; i < 12; i += 2) CK_NEAR(kept[i].gap, -2e-3, 0);
}
END_TEST

/* ---- islands ---- */

enum { BODIES = 300, PAIRS = 900 };

static void random_graph(Rig *rig, TlPair *pairs) {
  TlRandom r = {33, 0, 0};
  for (int i = 0; i < BODIES; i++) place(rig, 12, tl_vec3(i, 0, 0), (TlQuat){1, 0, 0, 0}, 1, 0);
  rig->bodies.flags[7] = TL_BODY_FROZEN;
  for (int i = 0; i < PAIRS; i++) {
    int32_t half = i % 2 ? 0 : BODIES / 2; /* two halves that only the fixed body 7 joins */
    int32_t a = half + (int32_t)(tl_random_next(&r) * (BODIES / 2 - 1));
    int32_t b = a + 1 + (int32_t)(tl_random_next(&r) * (half + BODIES / 2 - 1 - a));
    if (i % 50 == 0) b = 7;
    if (i % 10 == 1) b = -1;
    if (b >= 0 && b < a) {
      int32_t swap = a;
      a = b;
      b = swap;
    }
    pairs[i] = (TlPair){.low = 100 + a, .high = b < 0 ? -1 : 100 + b, .a = a, .b = b, .count = 1};
  }
}

START_TEST(a_fixed_body_joins_no_islands) {
  Rig rig;
  rig_open(&rig);
  static TlPair pairs[PAIRS];
  random_graph(&rig, pairs);
  TlGroups groups;
  double inverse_mass[BODIES];
  for (int i = 0; i < BODIES; i++) inverse_mass[i] = i == 7 ? 0 : 1;
  TlDynamics dynamics = {.inverse_mass = inverse_mass};
  TlContact *contacts = tl_calloc(PAIRS, sizeof *contacts);
  const TlPairList found = {.pair = pairs, .count = PAIRS, .contact = contacts};
  CK_OK(tl_groups_make(&rig.bodies, &dynamics, &found, NULL, NULL, &rig.arena, &groups));
  ck_assert(groups.islands >= 2 && groups.islands == groups.count);
  ck_assert(groups.largest <= BODIES / 2);
  int64_t listed = 0;
  int32_t group_of[BODIES];
  for (int i = 0; i < BODIES; i++) group_of[i] = -1;
  for (int32_t g = 0; g < groups.count; g++)
    for (int32_t i = 0; i < groups.group[g].pairs; i++, listed++) {
      const TlPair *p = &groups.group[g].pair[i];
      int32_t end[2] = {p->a, p->b};
      for (int k = 0; k < 2; k++) {
        if (end[k] < 0 || end[k] == 7) continue;
        ck_assert(group_of[end[k]] < 0 || group_of[end[k]] == g);
        group_of[end[k]] = g;
      }
    }
  int64_t of_fixed = 0; /* which nobody solves */
  for (int i = 0; i < PAIRS; i++)
    of_fixed += pairs[i].a == 7 && (pairs[i].b < 0 || pairs[i].b == 7);
  ck_assert(of_fixed > 0 && listed == PAIRS - of_fixed);
  tl_free(contacts);
  rig_close(&rig);
}
END_TEST

TL_TEST_MAIN("contact search", the_tree_finds_what_testing_every_node_finds,
             a_band_keeps_all_points_within_it_of_the_deepest, spheres_touch_in_closed_form,
             the_cells_find_every_pair_once_at_any_size_ratio, a_face_is_kept_by_its_corners,
             points_of_two_faces_stay_in_two_clusters, a_loaded_point_beside_the_deepest_stays,
             every_cluster_keeps_its_deepest_point, a_fixed_body_joins_no_islands)
