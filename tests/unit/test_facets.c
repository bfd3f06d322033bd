/* The exact contacts of two boxes (contact/facets.h): what the list of candidates holds never shows. */
#include "support/tltest.h"

#include "base/random.h"
#include "contact/facets.h"

#include <string.h>

enum { STEPS = 20000 };

static TlVec3 random_vector(uint64_t stream, uint64_t i) {
  return tl_vec3(2 * tl_random_uniform(7, stream, 3 * i) - 1,
                 2 * tl_random_uniform(7, stream, 3 * i + 1) - 1,
                 2 * tl_random_uniform(7, stream, 3 * i + 2) - 1);
}

static double entry_sum(const TlMat3 *a, const TlMat3 *b) {
  double sum = 0;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) sum += (a->m[i][j] - b->m[i][j]) * (a->m[i][j] - b->m[i][j]);
  return sqrt(sum);
}

/* Bars that wander about each other, apart and in overlap; the margin follows the speed of a scene, so it
 * jumps up and down. Every step the followed pair has the contacts of one that is listed anew, bit for
 * bit: ranks that met a pair at different times have different lists. */
START_TEST(a_followed_pair_has_the_bits_of_one_listed_anew) {
  TlFacets bar = tl_facets_of_box(0.2, 0.2, 1.4), brick = tl_facets_of_box(0.5, 0.4, 0.3);
  const TlFacets *pairs[3][2] = {{&bar, &bar}, {&bar, &brick}, {&brick, &brick}};
  for (int k = 0; k < 3; k++) {
    TlFacetPair kept = {0};
    double radius = 1.5, size = 0.3, swing = 0;
    TlQuat turn = {1, 0, 0, 0};
    TlVec3 x = {0.5, 0, 0};
    int lists = 0, overlaps = 0, nears = 0, edges = 0;
    for (uint64_t i = 0; i < STEPS; i++) {
      uint64_t stream = 10 + (uint64_t)k;
      swing += 2e-3;
      turn = tl_quat_unit(
          tl_quat_mul(tl_quat_from_rotation(tl_scale(1.5e-3, random_vector(stream, i))), turn));
      double away = 0.4 * (1 + sin(swing)) - tl_norm(x); /* centres move apart and together */
      x = tl_axpy(tl_axpy(x, 1e-3 * away, tl_unit(x)), 1.5e-3, random_vector(stream + 10, i));
      double margin = size * (0.05 + 1.2 * tl_random_uniform(9, stream, i / 4));
      TlMat3 r = tl_quat_matrix(turn);
      TlVec3 t = tl_mat_vec(r, x);
      TlFacetQuery q = {.facets = {pairs[k][0], pairs[k][1]},
                        .scale = {1, 1},
                        .r = r,
                        .t = t,
                        .radius = {radius, radius},
                        .skin = 0.04 * size,
                        .bias = 2e-4 * size,
                        .margin = margin};
      if (kept.made) q.motion = tl_norm(tl_sub(t, kept.t0)) + entry_sum(&r, &kept.r0) * radius;
      TlFacetContact warm[TL_FACET_CONTACTS], cold[TL_FACET_CONTACTS];
      memset(warm, 0, sizeof warm);
      memset(cold, 0, sizeof cold);
      bool listed;
      int count = tl_facets_contacts(&kept, &q, warm, &listed);
      lists += listed;
      TlFacetPair fresh = {0};
      q.motion = 0;
      ck_assert_msg(count == tl_facets_contacts(&fresh, &q, cold, &listed),
                    "bars %d, step %llu: another number of contacts", k, (unsigned long long)i);
      for (int c = 0; c < count; c++) {
        ck_assert_double_lt(warm[c].gap, margin);
        ck_assert_msg(warm[c].gap == cold[c].gap && warm[c].key == cold[c].key,
                      "bars %d, step %llu: gap %.17g key %d, listed anew %.17g key %d", k,
                      (unsigned long long)i, warm[c].gap, warm[c].key, cold[c].gap, cold[c].key);
        ck_assert_mem_eq(&warm[c].x, &cold[c].x, sizeof warm[c].x);
        ck_assert_mem_eq(&warm[c].n, &cold[c].n, sizeof warm[c].n);
      }
      overlaps += count > 0 && warm[0].gap < 0;
      nears += count > 0 && warm[0].gap >= 0;
      edges += count > 0 && (warm[0].key & TL_FACET_EDGES_KEY);
    }
    ck_assert_int_lt(lists, STEPS * 3 / 4);
    ck_assert_int_ge(overlaps, STEPS / 20);
    ck_assert_int_ge(nears, STEPS / 20);
    ck_assert_int_ge(edges, STEPS / 50);
  }
}
END_TEST

/* A cube on another, turned about the vertical and tilted by up to 0.005, so that a face or two edges may say how deep it
 * lies: about its centre there are contacts on all sides, or it could tip until the step is over. */
START_TEST(a_cube_that_lies_flat_has_contacts_about_its_face) {
  enum { CUBES = 2000 };
  TlFacets cube = tl_facets_of_box(1, 1, 1);
  int edges = 0;
  for (uint64_t i = 0; i < CUBES; i++) {
    TlVec3 tilt = tl_scale(5e-3, random_vector(31, i));
    TlQuat turn = tl_quat_mul(tl_quat_from_rotation(tl_vec3(0, 0, tl_random_uniform(7, 32, i))),
                              tl_quat_from_rotation(tl_vec3(tilt.x, tilt.y, 0)));
    TlMat3 r = tl_quat_matrix(turn); /* of the lower one, seen from the upper */
    TlFacetQuery q = {.facets = {&cube, &cube},
                      .scale = {1, 1},
                      .r = r,
                      .t = tl_mat_vec(r, tl_vec3(0, 0, 1 + 2e-3 * tilt.z)),
                      .radius = {0.87, 0.87},
                      .skin = 0.02,
                      .bias = 1e-4,
                      .margin = 0.05};
    TlFacetContact contact[TL_FACET_CONTACTS];
    TlFacetPair fresh = {0};
    bool listed;
    int count = tl_facets_contacts(&fresh, &q, contact, &listed), side[4] = {0};
    bool by_edges = count > 0 && (contact[0].key & TL_FACET_EDGES_KEY);
    for (int c = 0; c < count; c++) {
      if (by_edges) ck_assert_double_ge(contact[c].gap, contact[0].gap);
      ck_assert_double_gt(fabs(contact[c].n.z), 0.9);
      side[0] += contact[c].x.x > 0.2;
      side[1] += contact[c].x.x < -0.2;
      side[2] += contact[c].x.y > 0.2;
      side[3] += contact[c].x.y < -0.2;
    }
    edges += by_edges;
    for (int k = 0; k < 4; k++)
      ck_assert_msg(side[k] > 0, "cube %d of %d contacts, first key %d: none on side %d", (int)i,
                    count, contact[0].key, k);
  }
  ck_assert_int_ge(edges, CUBES / 20);
}
END_TEST

/* Two stones of a run: every face reads an overlap, and two edges that lie farther off than a list for
 * this margin reaches part them. A list of an earlier, larger margin had these edges. */
START_TEST(edges_beyond_the_list_part_a_pair) {
  TlFacets stone = tl_facets_of_box(0.04, 0.03, 0.03);
  TlFacetQuery q = {.facets = {&stone, &stone},
                    .scale = {1, 1},
                    .r = {{{0.62880888881578478, -0.67322385101009796, -0.38906172746415385},
                           {-0.5261583129309777, -1.9413886511783346e-07, -0.85038663543919213},
                           {0.57250049002589087, 0.73943873744286304, -0.35422244774861311}}},
                    .t = {-0.048241540111738583, -0.010271836088042798, -0.030994210572397714},
                    .radius = {0.03, 0.03},
                    .skin = 0.0013773,
                    .bias = 5.83095e-06};
  TlFacetContact contact[TL_FACET_CONTACTS];
  bool listed;
  TlFacetPair kept = {0}, fresh = {0};
  q.margin = 0.02;
  ck_assert_int_gt(tl_facets_contacts(&kept, &q, contact, &listed), 0);
  ck_assert_double_gt(contact[0].gap, 0.006);
  q.margin = 0.00262;
  ck_assert_int_eq(tl_facets_contacts(&kept, &q, contact, &listed), 0);
  ck_assert(!listed);
  ck_assert_int_eq(tl_facets_contacts(&fresh, &q, contact, &listed), 0);
}
END_TEST

/* No point of either grain moved by more than this, seen from the other, as the search by places has it. */
static double motion_of(const TlFacetQuery *q, const TlFacetPair *kept) {
  double turn = entry_sum(&q->r, &kept->r0);
  TlVec3 b = tl_mat_tvec(q->r, q->t), b0 = tl_mat_tvec(kept->r0, kept->t0);
  return tl_min(turn * q->radius[0] + tl_norm(tl_sub(q->t, kept->t0)),
                turn * q->radius[1] + tl_norm(tl_sub(b, b0)));
}

/* Bricks tumble on the faces and edges of blocks up to 27 times as large. The far corners of a block move much farther
 * over a brick's faces than any point of the brick moves past the block. Every step has the contacts of a pair that is
 * listed anew. */
START_TEST(a_brick_on_a_large_block_has_the_bits_of_one_listed_anew) {
  enum { TRIALS = 300, MOVES = 300, TURNED = 50 };
  const double travel = 1e-3, radius = 0.5 * sqrt(1 + 0.64 + 0.36), deep = 0.01;
  TlFacets brick = tl_facets_of_box(1, 0.8, 0.6);
  int overlaps = 0, lists = 0;
  for (int ratio = 3; ratio <= 27; ratio *= 3)
    for (uint64_t trial = 0; trial < TRIALS; trial++) {
      TlFacets block = tl_facets_of_box(ratio, 1.1 * ratio, 0.9 * ratio);
      TlFacetPair kept = {0};
      double half[3] = {0.5 * ratio, 0.55 * ratio, 0.45 * ratio};
      int axis = (int)(3 * tl_random_uniform(9, trial, 0));
      TlVec3 part = random_vector(41, trial), out = {0, 0, 0},
             x = {part.x * half[0], part.y * half[1], part.z * half[2]};
      (&out.x)[axis] = (&part.x)[axis] > 0 ? 1 : -1;
      (&x.x)[axis] = (&out.x)[axis] * (half[axis] + 0.35);
      double lean = trial % 3 == 0 ? 3 : trial % 3 == 1 ? 0.02 : 0.3;
      TlQuat turn = tl_quat_from_rotation(tl_scale(lean, random_vector(42, trial)));
      TlMat3 to_block =
          tl_quat_matrix(tl_quat_from_rotation(tl_scale(-0.05, random_vector(43, trial))));
      TlVec3 v, w;
      for (uint64_t i = 0; i < MOVES; i++) {
        if (i % TURNED == 0) v = random_vector(50 + i, trial), w = random_vector(51 + i, trial);
        x = tl_axpy(x, 0.5 * travel, v);
        turn = tl_quat_unit(tl_quat_mul(tl_quat_from_rotation(tl_scale(travel, w)), turn));
        TlFacetQuery q = {
            .facets = {&brick, &block},
            .scale = {1, 1},
            .r = tl_mat_mul(to_block, tl_quat_matrix(turn)),
            .t = tl_mat_vec(to_block, x),
            .radius = {radius, sqrt(half[0] * half[0] + half[1] * half[1] + half[2] * half[2])},
            .skin = 0.44 * sqrt(2 * travel * radius),
            .bias = 2e-4 * radius,
            .margin = 0.05};
        if (kept.made) q.motion = motion_of(&q, &kept);
        TlFacetContact warm[TL_FACET_CONTACTS], cold[TL_FACET_CONTACTS];
        TlFacetPair fresh = {0};
        bool listed;
        int count = tl_facets_contacts(&kept, &q, warm, &listed);
        lists += listed;
        q.motion = 0;
        int anew = tl_facets_contacts(&fresh, &q, cold, &listed);
        ck_assert_msg(count == anew, "ratio %d, trial %d, step %d: %d contacts, listed anew %d",
                      ratio, (int)trial, (int)i, count, anew);
        double gap = q.margin;
        for (int c = 0; c < count; c++) {
          ck_assert_msg(warm[c].gap == cold[c].gap && warm[c].key == cold[c].key,
                        "ratio %d, trial %d, step %d: gap %.17g, listed anew %.17g", ratio,
                        (int)trial, (int)i, warm[c].gap, cold[c].gap);
          gap = tl_min(gap, warm[c].gap);
        }
        overlaps += gap < 0;
        x = tl_axpy(x, tl_max(tl_min(-deep - gap, travel), -travel), out); /* to this depth */
      }
    }
  ck_assert_int_gt(overlaps, 3 * TRIALS * MOVES / 2);
  ck_assert_int_lt(lists, 3 * TRIALS * MOVES / 4);
}
END_TEST

TL_TEST_MAIN("facets", a_followed_pair_has_the_bits_of_one_listed_anew,
             a_cube_that_lies_flat_has_contacts_about_its_face, edges_beyond_the_list_part_a_pair,
             a_brick_on_a_large_block_has_the_bits_of_one_listed_anew)
