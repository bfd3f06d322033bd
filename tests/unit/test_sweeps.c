/* The order of a sweep (solve/grids.h) against a brute one: all pairs sorted by grid, cell and hash,
 * visited one after the other. */
#include "support/tltest.h"

#include "base/mem.h"
#include "base/par.h"
#include "base/random.h"
#include "solve/grids.h"
#include "solve/sweep.h"
#include "support/pack.h"

/* ---- grids ---- */

static TlVec3 somewhere(TlRandom *r, double side) {
  double x = tl_random_next(r) - 0.5, y = tl_random_next(r) - 0.5, z = tl_random_next(r) - 0.5;
  return tl_vec3(side * x, side * y, side * z);
}

static const double shift[4] = {0, 0.5, 0.25, 0.75};

static bool share_cell(TlVec3 a, TlVec3 b, double side, double by) {
  return floor(a.x / side + by) == floor(b.x / side + by) &&
         floor(a.y / side + by) == floor(b.y / side + by) &&
         floor(a.z / side + by) == floor(b.z / side + by);
}

START_TEST(a_contact_shares_a_cell_in_one_of_four_grids_and_gets_the_first) {
  TlRandom r = {5, 1, 0};
  TlLengths lengths = {0};
  for (int i = 0; i < 1000; i++) tl_lengths_add(&lengths, 1 + tl_random_next(&r));
  tl_lengths_add(&lengths, 2);
  TlGrids grids = tl_grids(&lengths);
  ck_assert_int_eq(grids.levels, 1);
  CK_NEAR(grids.side[0], 8, 1e-4);
  int used[4] = {0};
  for (int i = 0; i < 200000; i++) {
    TlVec3 a = somewhere(&r, 1000), direction = somewhere(&r, 2);
    TlVec3 b = tl_axpy(a, 2 * (i % 3 ? 1 : tl_random_next(&r)),
                       tl_unit(direction)); /* often the longest */
    TlCell cell = tl_grids_cell(&grids, a, b);
    ck_assert(cell.phase >= 0 && cell.phase < 4);
    for (int g = 0; g < cell.phase; g++) ck_assert(!share_cell(a, b, grids.side[0], shift[g]));
    ck_assert(share_cell(a, b, grids.side[0], shift[cell.phase]));
    ck_assert(share_cell(a, cell.centre, grids.side[0], shift[cell.phase]));
    used[cell.phase]++;
  }
  ck_assert(used[0] > used[1] && used[1] > used[2] && used[2] > used[3] && used[3] > 0);
}
END_TEST

START_TEST(a_few_long_contacts_have_grids_of_their_own) {
  TlLengths lengths = {0}, parts[2] = {{0}, {0}};
  for (int i = 0; i < 1000; i++) {
    double length = i % 50 == 7 ? 40 + i % 9 : 1 + 1e-3 * i;
    tl_lengths_add(&lengths, length);
    tl_lengths_add(&parts[i % 3 == 0], length);
  }
  tl_lengths_merge(&parts[0], &parts[1]);
  ck_assert(memcmp(&parts[0], &lengths, sizeof lengths) == 0); /* in any order, from any part */
  TlGrids grids = tl_grids(&lengths);
  ck_assert(grids.levels >= 2 && grids.length[0] <= 2 && grids.length[grids.levels - 1] >= 48);
  for (int k = 1; k < grids.levels; k++) ck_assert(grids.length[k] <= 4 * grids.length[k - 1]);
  TlVec3 a = {1, 2, 3};
  ck_assert(tl_grids_cell(&grids, a, tl_vec3(2, 2, 3)).phase < 4);
  ck_assert(tl_grids_cell(&grids, a, tl_vec3(41, 2, 3)).phase >= 4);
  /* half of them long: one level */
  for (int i = 0; i < 1000; i++) tl_lengths_add(&lengths, 45);
  ck_assert_int_eq(tl_grids(&lengths).levels, 1);
}
END_TEST

/* ---- the order ---- */

typedef struct Trace {
  const TlGroup *group;
  uint64_t *value; /* of each body: what all visits so far have made of it */
} Trace;

/* Neither commutes nor forgets: two pairs of a body in another order give another value. */
static void touch(uint64_t *value, const TlPair *p) {
  uint64_t a = value[p->a], b = p->b >= 0 ? value[p->b] : 17;
  uint64_t h = tl_random_mix(a ^ tl_random_mix(b + (uint64_t)p->low) ^ (uint64_t)p->high);
  value[p->a] = h;
  if (p->b >= 0) value[p->b] = tl_random_mix(h + 3 * b);
}

static TlTally visit(const void *walk, int k, int32_t from, int32_t to) {
  const Trace *t = walk;
  (void)k;
  for (int32_t i = from; i < to; i++) touch(t->value, &t->group->pair[i]);
  return (TlTally){.impulses = to - from, .open = 1};
}

typedef struct Place {
  int grid;
  double x, y, z;
  uint64_t hash;
  const TlPair *pair;
} Place;

static int by_place(const void *one, const void *two) {
  const Place *a = one, *b = two;
  if (a->grid != b->grid) return a->grid - b->grid;
  if (a->x != b->x) return a->x < b->x ? -1 : 1;
  if (a->y != b->y) return a->y < b->y ? -1 : 1;
  if (a->z != b->z) return a->z < b->z ? -1 : 1;
  return a->hash < b->hash ? -1 : a->hash > b->hash;
}

/* Cells from one corner to the other, where the solver takes them in the order of a hash. */
static void brute_order(const Pack *p, const TlGroup *g, Place *place) {
  double longest = 0;
  const TlVec3 *x = p->bodies.position;
  for (int32_t i = 0; i < g->pairs; i++)
    if (g->pair[i].b >= 0)
      longest = fmax(longest, tl_norm(tl_sub(x[g->pair[i].a], x[g->pair[i].b])));
  double side = 4 * longest * (1 + 1e-6);
  for (int32_t i = 0; i < g->pairs; i++) {
    const TlPair *pair = &g->pair[i];
    TlVec3 a = x[pair->a], b = pair->b >= 0 ? x[pair->b] : a;
    int k = 0;
    while (!share_cell(a, b, side, shift[k])) k++;
    uint64_t h = tl_random_mix((uint64_t)pair->low + 0x9e3779b97f4a7c15u);
    h = tl_random_mix(h ^ ((uint64_t)pair->high * 0xc2b2ae3d27d4eb4fu));
    place[i] = (Place){k,
                       floor(a.x / side + shift[k]),
                       floor(a.y / side + shift[k]),
                       floor(a.z / side + shift[k]),
                       h,
                       pair};
  }
  qsort(place, (size_t)g->pairs, sizeof *place, by_place);
}

enum { SWEEPS = 3 };

static const TlGroup *largest_group(const Pack *p) {
  const TlGroup *most = &p->groups.group[0];
  for (int32_t g = 1; g < p->groups.count; g++)
    if (p->groups.group[g].pairs > most->pairs) most = &p->groups.group[g];
  return most;
}

static void same_as_brute(const Pack *p, int threads) {
  const TlGroup *g = largest_group(p);
  size_t n = (size_t)p->bodies.total;
  uint64_t *brute = tl_calloc(n, sizeof *brute), *swept = tl_calloc(n, sizeof *swept);
  Place *place = tl_calloc((size_t)g->pairs, sizeof *place);
  ck_assert(g->large && g->phases >= 3); /* few contacts need the fourth grid */
  brute_order(p, g, place);
  for (int s = 0; s < SWEEPS; s++)
    for (int32_t i = 0; i < g->pairs; i++) touch(brute, place[i].pair);
  Trace trace = {g, swept};
  TlSweeps sweeps = {g, NULL, 0, NULL, visit, &trace, 1e5}; /* worth a team */
  TlTally tally = {0};
  tl_par_set_threads(threads);
  CK_OK(tl_sweeps_run(&sweeps, 1, 1, SWEEPS, &tally));
  ck_assert_int_eq((int)tally.impulses, SWEEPS * g->pairs);
  ck_assert(memcmp(brute, swept, n * sizeof *brute) == 0);
  tl_free(brute);
  tl_free(swept);
  tl_free(place);
}

START_TEST(sweeps_visit_as_a_brute_serial_sweep_does) {
  static const int threads[] = {1, 2, 4};
  Pack loose, jammed;
  CK_OK(pack_loose(&loose, 1000, 0.3, 0.5));
  CK_OK(pack_jammed(&jammed, 6, 0.3, 0.5));
  for (int k = 0; k < 3; k++) {
    same_as_brute(&loose, threads[k]);
    same_as_brute(&jammed, threads[k]);
  }
  pack_free(&loose);
  pack_free(&jammed);
}
END_TEST

/* ---- steps beyond sweeps ---- */

typedef struct Solved {
  TlTwist *twist;
  int64_t sweeps; /* of the resting solve */
  double residual;
} Solved;

/* From no impulse: the resting solve of spheres that fall at 1, or the position rule of spheres that overlap. */
static Solved solve_from_nothing(Pack *p, bool position, int sweeps, bool extrapolates) {
  size_t n = (size_t)p->bodies.total;
  TlDynamics d = pack_dynamics(p);
  TlRestLaw rest = {1e-11, sweeps, extrapolates};
  TlPositionLaw push = {
      .rate = 1, .slop = 1e-9, .step_s = 1, .sweeps = sweeps, .extrapolates = extrapolates};
  TlRestCount count = {0};
  Solved s = {.twist = tl_calloc(n, sizeof *s.twist)};
  pack_rewind(p);
  if (position) memset(p->twist, 0, n * sizeof *p->twist);
  for (int32_t i = 0; i < p->pairs; i++) {
    p->contact[i].rest = tl_vec3(0, 0, 0);
    p->contact[i].size = 1;
    p->contact[i].gap = position ? -0.01 * tl_random_uniform(7, 1, (uint64_t)i) : 0;
  }
  for (int32_t g = 0; g < p->groups.count; g++)
    CK_OK(position ? tl_position_solve(&push, &p->groups.group[g], &d)
                   : tl_rest_solve(&rest, &p->groups.group[g], &d, &count));
  memcpy(s.twist, p->twist, n * sizeof *s.twist);
  s.sweeps = count.sweeps;
  s.residual = count.residual_m_s;
  return s;
}

static double apart(const Pack *p, const Solved *a, const Solved *b) {
  double most = 0;
  for (int64_t i = 0; i < p->bodies.total; i++)
    most = fmax(most, tl_norm(tl_sub(a->twist[i].v, b->twist[i].v)));
  return most;
}

/* Without friction velocities are unique, so the slow twin judges: sweeps until nothing changes. */
static void nearer_than_sweeps(Pack *p, bool position) {
  enum { FEW = 40, ALL = 100000 };
  Solved twin = solve_from_nothing(p, position, ALL, false);
  Solved plain = solve_from_nothing(p, position, FEW, false);
  Solved beyond = solve_from_nothing(p, position, FEW, true);
  Solved end = solve_from_nothing(p, position, ALL, true);
  double few = apart(p, &beyond, &twin), by_sweeps = apart(p, &plain, &twin);
  CK_NEAR(apart(p, &end, &twin), 0, 1e-7);
  ck_assert(twin.sweeps < ALL);
  ck_assert_msg(position || 2 * end.sweeps < twin.sweeps, "%lld sweeps, twin %lld",
                (long long)end.sweeps, (long long)twin.sweeps);
  ck_assert_msg(few < (position ? 0.9 : 0.5) * by_sweeps, "%d sweeps: %g off, without steps %g",
                FEW, few, by_sweeps);
  tl_free(twin.twist);
  tl_free(plain.twist);
  tl_free(beyond.twist);
  tl_free(end.twist);
}

START_TEST(steps_beyond_sweeps_come_to_the_same_velocities_in_fewer) {
  Pack loose, jammed;
  tl_par_set_threads(1);
  CK_OK(pack_loose(&loose, 1000, 0, 0));
  CK_OK(pack_jammed(&jammed, 5, 0, 0));
  for (int position = 0; position < 2; position++) {
    nearer_than_sweeps(&loose, position);
    nearer_than_sweeps(&jammed, position);
  }
  pack_free(&loose);
  pack_free(&jammed);
}
END_TEST

/* With friction many forces bear the same load, so no twin judges: friction keeps within its cone, and what a sweep
 * would still change is less. */
START_TEST(steps_beyond_sweeps_keep_friction_within_its_cone) {
  enum { FEW = 60 };
  const double mu = 0.3;
  Pack pack;
  double left[2];
  tl_par_set_threads(1);
  CK_OK(pack_loose(&pack, 1000, mu, 0));
  for (int beyond = 0; beyond < 2; beyond++) {
    Solved s = solve_from_nothing(&pack, false, FEW, beyond);
    int slide = 0;
    left[beyond] = s.residual;
    for (int32_t i = 0; i < pack.groups.contacts; i++) {
      TlVec3 l = pack.groups.contact[i].rest;
      double size = sqrt(l.y * l.y + l.z * l.z);
      ck_assert(l.x >= 0 && size <= mu * l.x * (1 + 1e-12));
      slide += l.x > 0 && size >= mu * l.x * (1 - 1e-12);
    }
    ck_assert_int_gt(slide, 10);
    tl_free(s.twist);
  }
  ck_assert_msg(left[1] < 0.5 * left[0], "%g, by sweeps %g", left[1], left[0]);
  pack_free(&pack);
}
END_TEST

/* ---- bits ---- */

static void solve_all(Pack *p, TlMethod method, bool extrapolates, TlTwist *out) {
  TlDynamics d = pack_dynamics(p);
  TlEtmLaw law = {.increments = 20,
                  .max_rounds = 20,
                  .final_sweeps = 100000,
                  .tolerance_m_s = 1e-3,
                  .similar = 0.01};
  TlEtmCount count = {0};
  TlRestLaw rest = {1e-6, 40, extrapolates}; /* so far from the answer that such steps are made */
  TlRestCount rested = {0};
  pack_rewind(p);
  for (int32_t i = 0; i < p->pairs; i++) p->contact[i].rest = tl_vec3(0, 0, 0);
  for (int32_t g = 0; g < p->groups.count; g++) {
    CK_OK(tl_method(method)->collide(&law, &p->groups.group[g], &d, &count));
    CK_OK(tl_rest_solve(&rest, &p->groups.group[g], &d, &rested));
  }
  memcpy(out, p->twist, (size_t)p->bodies.total * sizeof *out);
}

START_TEST(threads_change_no_bit) {
  static const TlMethod methods[] = {TL_ETM_LEVEL, TL_SQM, TL_SMM};
  Pack pack;
  CK_OK(pack_shaken(&pack, 10, 2.3, 0.3, 0.5));
  TlTwist *one = tl_calloc((size_t)pack.bodies.total, sizeof *one);
  TlTwist *many = tl_calloc((size_t)pack.bodies.total, sizeof *many);
  for (int k = 0; k < 6; k++) {
    TlMethod method = methods[k % 3];
    tl_par_set_threads(1);
    solve_all(&pack, method, k < 3, one);
    for (int threads = 2; threads <= 4; threads += 2) {
      tl_par_set_threads(threads);
      solve_all(&pack, method, k < 3, many);
      ck_assert_msg(memcmp(one, many, (size_t)pack.bodies.total * sizeof *one) == 0,
                    "method %s, %d threads", tl_method_name(method), threads);
    }
  }
  tl_free(one);
  tl_free(many);
  pack_free(&pack);
}
END_TEST

TL_TEST_MAIN("sweeps", a_contact_shares_a_cell_in_one_of_four_grids_and_gets_the_first,
             a_few_long_contacts_have_grids_of_their_own, sweeps_visit_as_a_brute_serial_sweep_does,
             steps_beyond_sweeps_come_to_the_same_velocities_in_fewer,
             steps_beyond_sweeps_keep_friction_within_its_cone, threads_change_no_bit)
