/* Node lists that outlive a step find what testing every node finds, bit for bit, along
 * trajectories: against other grains and against boundaries. */
#include "support/stepper.h"
#include "support/materials.h"
#include "support/placed.h"
#include "support/tltest.h"

#include "base/mem.h"
#include "base/random.h"
#include "contact/near.h"
#include "contact/search.h"
#include "model/shapes.h"
#include "solve/step.h"
#include "shape/build.h"
#include "phantom/phantom_shape.h"
#include "shape/superellipsoid.h"
#include "shape/terrain_build.h"

/* Six shapes about 20 mm across: smooth, sharp-edged, concave, as scanned. */
enum { SMOOTH = 0, BOX, CROSS, LOBES, ANGULAR, AVATARS, CLOSED_BOX = AVATARS, SHAPES };

static const TlVec3 NONE = {0, 0, 0};
static TlAvatar avatar[AVATARS];
static TlShapes shapes;

typedef double (*Field)(const void *context, TlVec3 p);

static double bar(TlVec3 p, double x, double y, double z) {
  TlVec3 q = {fabs(p.x) - x, fabs(p.y) - y, fabs(p.z) - z};
  double in = fmin(0, fmax(q.x, fmax(q.y, q.z)));
  return in + tl_norm(tl_vec3(fmax(q.x, 0), fmax(q.y, 0), fmax(q.z, 0)));
}

static double cross_field(const void *context, TlVec3 p) {
  (void)context;
  return fmin(bar(p, 8.5, 2.5, 2.5), fmin(bar(p, 2.5, 8.5, 2.5), bar(p, 2.5, 2.5, 8.5)));
}

static double phantom_field(const void *context, TlVec3 p) {
  float x = (float)p.x, y = (float)p.y, z = (float)p.z, phi;
  tl_phantom_shape_phi(context, 1, &x, &y, &z, &phi);
  return phi;
}

/* As from a scan of 1 mm voxels. */
static void scanned(Field field, const void *context, int32_t nodes, TlAvatar *out) {
  enum { N = 26 };
  TlPhiGrid g = {N, N, N, tl_calloc((size_t)N * N * N, sizeof(float))};
  for (int64_t k = 0; k < N; k++)
    for (int64_t j = 0; j < N; j++)
      for (int64_t i = 0; i < N; i++)
        g.phi[tl_grid_at(&g, i, j, k)] =
            (float)field(context, tl_vec3((double)i - 12.6, (double)j - 12.3, (double)k - 12.4));
  TlBuildOptions options = {.nodes = {.count = nodes}};
  int64_t corner[3] = {0, 0, 0};
  CK_OK(tl_avatar_build_from_phi(&g, corner, 1e-3, 1, false, &options, out));
  tl_free(g.phi);
}

static void shapes_open(void) {
  TlRandom r = {77, 0, 0};
  TlPhantomShape phantom;
  CK_OK(tl_avatar_superellipsoid(0.01, 0.008, 0.007, 0.6, 0.8, 0.0007, 800, &avatar[SMOOTH]));
  CK_OK(tl_avatar_box(0.009, 0.007, 0.005, 0.001, 600, &avatar[BOX]));
  scanned(cross_field, NULL, 700, &avatar[CROSS]);
  tl_phantom_shape_make(&phantom, TL_GRAIN_CONCAVE, 14, &r);
  scanned(phantom_field, &phantom, 700, &avatar[LOBES]);
  tl_phantom_shape_make(&phantom, TL_GRAIN_ANGULAR, 14, &r);
  scanned(phantom_field, &phantom, 500, &avatar[ANGULAR]);
  for (int i = 0; i < AVATARS; i++) CK_OK(tl_shapes_add(&shapes, i, &avatar[i]));
  double sides[3] = {0.016, 0.012, 0.014};
  CK_OK(tl_shapes_add_closed(&shapes, CLOSED_BOX, tl_closed_kind("box"), sides));
}

static void shapes_close(void) {
  tl_shapes_free(&shapes);
  for (int i = 0; i < AVATARS; i++) tl_avatar_free(&avatar[i]);
}

static TlVec3 random_vec(TlRandom *r, double size) {
  return tl_scale(
      size, tl_vec3(tl_random_next_normal(r), tl_random_next_normal(r), tl_random_next_normal(r)));
}

static TlQuat random_rotation(TlRandom *r) {
  return tl_quat_unit((TlQuat){tl_random_next_normal(r), tl_random_next_normal(r),
                               tl_random_next_normal(r), tl_random_next_normal(r)});
}

static void place(TlBodies *b, int64_t shape, TlVec3 x, TlQuat q, double scale) {
  tl_test_place(
      b, &shapes,
      (TlGrainState){
          .id = 100 + b->total, .avatar_id = shape, .scale = scale, .position = x, .rotation = q},
      0);
}

static void turn(TlBodies *b, int64_t i, TlVec3 by) {
  b->rotation[i] = tl_quat_unit(tl_quat_mul(tl_quat_from_rotation(by), b->rotation[i]));
}

static int by_key(const void *a, const void *b) {
  const TlPoint *x = a, *y = b;
  return x->key < y->key ? -1 : x->key > y->key;
}

/* Those within the band of the deepest, by key. */
static void canonical(TlPoints *p, const TlWanted *w) {
  double least = INFINITY;
  for (size_t i = 0; i < p->count; i++) least = fmin(least, p->point[i].gap);
  TlWanted last = {w->margin, w->band, least};
  size_t kept = 0;
  for (size_t i = 0; i < p->count; i++)
    if (p->point[i].gap < tl_wanted_limit(&last)) p->point[kept++] = p->point[i];
  p->count = kept;
  qsort(p->point, kept, sizeof *p->point, by_key);
}

static bool same_point(const TlPoint *x, const TlPoint *y) {
  return x->key == y->key && x->gap == y->gap && memcmp(&x->p, &y->p, sizeof x->p) == 0 &&
         memcmp(&x->n, &y->n, sizeof x->n) == 0;
}

/* An assertion that holds still writes to a file: with one a point that took half of the time. */
static void same_points(TlPoints *near, TlPoints *all, const TlWanted *w, int trial, int step) {
  canonical(near, w);
  canonical(all, w);
  if (near->count != all->count)
    ck_abort_msg("trial %d step %d: %zu points, every node gives %zu", trial, step, near->count,
                 all->count);
  for (size_t i = 0; i < all->count; i++) {
    const TlPoint *x = &near->point[i], *y = &all->point[i];
    if (!same_point(x, y))
      ck_abort_msg("trial %d step %d: node %lld, gap %.17g against node %lld, %.17g", trial, step,
                   (long long)x->key, x->gap, (long long)y->key, y->gap);
  }
}

/* Wanders about a touching pose; jumps now and then; margin and band as a solver's. */
typedef struct Walk {
  double speed;
  TlVec3 v, w;
  TlWanted wanted;
} Walk;

static void walk(Walk *k, TlBodies *b, int64_t i, double touch, TlRandom *r) {
  k->v = tl_add(tl_scale(0.9, k->v), random_vec(r, 0.3 * k->speed));
  k->w = tl_add(tl_scale(0.9, k->w), random_vec(r, 0.3 * k->speed / 0.01));
  TlVec3 d = tl_sub(b->position[i], b->position[0]);
  double pull = 0.02 * (tl_norm(d) - touch);
  b->position[i] = tl_add(b->position[i], tl_axpy(k->v, -pull, tl_unit(d)));
  turn(b, i, k->w);
  if (tl_random_next(r) < 0.003) {
    b->position[i] = tl_axpy(b->position[0], touch, tl_unit(random_vec(r, 1)));
    b->rotation[i] = random_rotation(r);
  }
  double travel = tl_norm(k->v) + 0.012 * tl_norm(k->w);
  k->wanted = (TlWanted){2e-4 + 2 * travel + (tl_random_next(r) < 0.1 ? 2e-3 : 0),
                         2 * travel + 2e-4 * tl_random_next(r), INFINITY};
}

START_TEST(kept_lists_find_what_testing_every_node_finds) {
  shapes_open();
  TlRandom r = {41, 0, 0};
  TlPoints near = {0}, all = {0};
  int64_t compared = 0, steps = 0;
  for (int trial = 0; trial < 60; trial++) {
    TlBodies b = {0};
    TlNearPair *pair = NULL;
    double touch = 0.009 + 0.01 * tl_random_next(&r), far = trial % 7 ? 0 : 800;
    TlVec3 x = tl_vec3(far, -2 * far, 0.5 * far);
    place(&b, trial % SHAPES, x, random_rotation(&r), 1);
    place(&b, trial / SHAPES % SHAPES, tl_axpy(x, touch, tl_unit(random_vec(&r, 1))),
          random_rotation(&r), trial % 3 ? 1 : 0.6 + 0.8 * tl_random_next(&r));
    Walk k = {.speed = 0.02 * pow(10, -2 - 3 * tl_random_next(&r))};
    bool both = trial % 4 != 0;
    for (int step = 0; step < 120; step++, steps++) {
      walk(&k, &b, 1, touch, &r);
      TlMat3 ta = tl_quat_matrix(b.rotation[0]), tb = tl_quat_matrix(b.rotation[1]);
      TlNearQuery q = {&b.colliders, 0, 1, &ta, &tb, both, k.speed, 0.01, 1e-4};
      TlWanted w = k.wanted, v = k.wanted;
      near.count = all.count = 0;
      CK_OK(tl_near_points(&pair, &q, &w, &near));
      CK_OK(tl_narrow_all_nodes(&b.colliders, 0, 1, 0, &v, &all));
      if (both) CK_OK(tl_narrow_all_nodes(&b.colliders, 1, 0, 1, &v, &all));
      same_points(&near, &all, &k.wanted, trial, step);
      compared += (int64_t)all.count;
    }
    tl_near_pair_free(pair);
    tl_bodies_free(&b);
  }
  ck_assert_msg(compared > 20000, "%lld points", (long long)compared);
  /* the lists were used, and spared nodes */
  ck_assert_msg(near.lists < steps / 3 && near.lists > 200, "%lld lists", (long long)near.lists);
  ck_assert_msg(all.lookups > 2 * near.lookups, "%lld lookups, every node %lld",
                (long long)near.lookups, (long long)all.lookups);
  tl_points_free(&near);
  tl_points_free(&all);
  shapes_close();
}
END_TEST

/* One step of a pair as a method of forces searches it; *clear: a few loads told that nothing
 * touches. Points that touch. */
static size_t touching(TlNear *near, const TlBodies *b, bool both, double travel, bool *clear) {
  TlArena arena = {0};
  TlPoints found = {0}, all = {0};
  TlWanted w = {0, 0, INFINITY, 0}, v = w;
  TlMat3 ta = tl_quat_matrix(b->rotation[0]), tb = tl_quat_matrix(b->rotation[1]);
  TlNearQuery q = {&b->colliders, 0, 1, &ta, &tb, both, travel, 0.01, 0, 0, near};
  CK_OK(tl_near_update(near, b, 0, 1e-5, &arena));
  *clear = near->pair_count == 1 && tl_near_clear(near, &b->colliders, 0);
  if (near->pair_count == 1 && !*clear) CK_OK(tl_near_points(&near->pair[0], &q, &w, &found));
  CK_OK(tl_narrow_all_nodes(&b->colliders, 0, 1, 0, &v, &all));
  if (both) CK_OK(tl_narrow_all_nodes(&b->colliders, 1, 0, 1, &v, &all));
  size_t count = all.count;
  ck_assert_uint_eq(found.count, *clear ? 0 : count);
  tl_points_free(&found);
  tl_points_free(&all);
  tl_arena_free(&arena);
  return count;
}

START_TEST(what_a_path_tells_clear_touches_nowhere) {
  shapes_open();
  TlRandom r = {43, 0, 0};
  int touched = 0, told = 0, apart = 0;
  for (int trial = 0; trial < 80; trial++) {
    TlBodies b = {0};
    TlNear near = {0};
    double touch = 0.011 + 0.01 * tl_random_next(&r);
    place(&b, trial % SHAPES, tl_vec3(3, 2, 1), random_rotation(&r), 1);
    place(&b, trial / SHAPES % SHAPES, tl_axpy(tl_vec3(3, 2, 1), touch, tl_unit(random_vec(&r, 1))),
          random_rotation(&r), trial % 3 ? 1 : 0.6 + 0.8 * tl_random_next(&r));
    for (int i = 0; i < 2; i++) b.colliders.reach[i] = b.radius[i];
    Walk k = {.speed = 0.02 * pow(10, -2 - 2 * tl_random_next(&r))};
    for (int step = 0; step < 150; step++) {
      bool clear;
      walk(&k, &b, 1, touch, &r);
      turn(&b, 0, k.w);
      size_t count = touching(&near, &b, trial % 4 != 0, k.speed, &clear);
      ck_assert_msg(!clear || count == 0, "trial %d step %d: %zu points", trial, step, count);
      touched += count > 0;
      apart += near.pair_count == 1 && count == 0;
      told += clear;
    }
    tl_near_free(&near);
    tl_bodies_free(&b);
  }
  ck_assert_msg(touched > 1000 && told > 1000 && apart > told, "%d touch, %d of %d told", touched,
                told, apart);
  shapes_close();
}
END_TEST

static TlMargin margin_of(const void *context, int64_t a, int64_t b) {
  (void)a;
  (void)b;
  return *(const TlMargin *)context;
}

/* One step of a sphere of ten cells and a grain, the one or the other first, as the solver's search
 * asks: by lists, through the tree, by every node. */
static size_t sought_all_ways(TlNear *near, const TlBodies *b, const TlMargin *m, TlPoints *found) {
  static const TlSearch how[] = {TL_SEARCH_NEAR, TL_SEARCH_TREE, TL_SEARCH_ALL};
  TlArena arena = {0};
  CK_OK(tl_near_update(near, b, 0, 1e-5, &arena));
  tl_arena_free(&arena);
  if (near->pair_count == 0) return 0;
  bool clear = m->margin == 0 && tl_near_clear(near, &b->colliders, 0);
  TlMat3 turn[2] = {tl_quat_matrix(b->rotation[0]), tl_quat_matrix(b->rotation[1])};
  TlPoint first = {.key = -1};
  size_t count = 0;
  for (int k = 0; k < 3; k++) {
    TlSearchOptions options = {.how = how[k], .sides = TL_SIDES_BOTH};
    TlScan scan = {.options = &options,
                   .near = near,
                   .bodies = b,
                   .turn = turn,
                   .pairs = &near->broad.pairs,
                   .pair_margin = margin_of,
                   .context = (void *)(uintptr_t)m};
    TlSlot slot = tl_scan_slot(&scan, 0);
    CK_OK(tl_scan_pair_points(&scan, &slot, found));
    ck_assert_uint_le(found->count, 1);
    if (k == 0) count = found->count;
    if (k == 0 && count == 1) first = found->point[0];
    ck_assert_uint_eq(found->count, count);
    if (count == 1) ck_assert(same_point(&first, &found->point[0]));
  }
  ck_assert(!clear || count == 0);
  return count + (clear ? 2 : 0);
}

START_TEST(a_sphere_seeks_the_same_point_by_lists_tree_and_every_node) {
  shapes_open();
  double one = 0.01;
  CK_OK(tl_shapes_add_closed(&shapes, 50, tl_closed_kind("sphere"), &one));
  TlRandom r = {47, 0, 0};
  TlPoints found = {0};
  int touched = 0, told = 0, steps = 0;
  for (int trial = 0; trial < 60; trial++, steps += 100) {
    TlBodies b = {0};
    TlNear near = {0};
    double touch = 0.017 + 0.005 * tl_random_next(&r);
    int64_t grain = trial / 2 % AVATARS;
    place(&b, trial % 2 ? 50 : grain, tl_vec3(3, 2, 1), random_rotation(&r), 1);
    place(&b, trial % 2 ? grain : 50, tl_axpy(tl_vec3(3, 2, 1), touch, tl_unit(random_vec(&r, 1))),
          random_rotation(&r), 1);
    for (int i = 0; i < 2; i++) b.colliders.reach[i] = b.radius[i] + 0.003;
    Walk k = {.speed = 0.02 * pow(10, -2 - 2 * tl_random_next(&r))};
    for (int step = 0; step < 100; step++) {
      walk(&k, &b, 1, touch, &r);
      turn(&b, 0, k.w);
      TlMargin m = {.travel = k.speed, .size = 0.01};
      if (trial % 3 == 0) m.margin = m.band = tl_min(k.wanted.margin, 2e-3);
      size_t said = sought_all_ways(&near, &b, &m, &found);
      touched += said == 1;
      told += said == 2;
    }
    tl_near_free(&near);
    tl_bodies_free(&b);
  }
  ck_assert_msg(touched > 1200 && told > 1000, "%d touch, %d told clear, of %d", touched, told,
                steps);
  ck_assert_msg(found.lists < steps / 3 && found.lists > 100, "%lld lists", (long long)found.lists);
  tl_points_free(&found);
  shapes_close();
}
END_TEST

/* Where nodes of a symmetric grain are equally far the order in which a search finds them must not
 * show: on its axes and diagonals, by a list just made and by an older one. */
START_TEST(a_sphere_seeks_the_same_point_where_nodes_tie) {
  shapes_open();
  double one = 0.01;
  CK_OK(tl_shapes_add_closed(&shapes, 50, tl_closed_kind("sphere"), &one));
  TlPoints found = {0};
  TlMargin m = {.travel = 1e-5, .size = 0.01};
  int touched = 0;
  for (int i = 0; i < 27; i++) {
    TlVec3 direction = tl_vec3(i % 3 - 1, i / 3 % 3 - 1, i / 9 - 1);
    TlBodies b = {0};
    TlNear near = {0};
    if (tl_norm2(direction) == 0) continue;
    place(&b, BOX, NONE, (TlQuat){1, 0, 0, 0}, 1);
    place(&b, 50, NONE, (TlQuat){1, 0, 0, 0}, 1);
    for (int k = 0; k < 2; k++) b.colliders.reach[k] = b.radius[k] + 0.003;
    for (int step = 0; step < 40; step++) {
      b.position[1] = tl_scale(0.0225 - 1.5e-4 * step, tl_unit(direction));
      touched += sought_all_ways(&near, &b, &m, &found) == 1;
    }
    tl_near_free(&near);
    tl_bodies_free(&b);
  }
  ck_assert_msg(touched > 300, "%d touch", touched);
  tl_points_free(&found);
  shapes_close();
}
END_TEST

START_TEST(kept_lists_serve_boundaries_and_the_deepest_node_of_a_coming_pose) {
  shapes_open();
  TlRandom r = {42, 0, 0};
  TlPoints near = {0}, all = {0};
  int64_t compared = 0, deep = 0, steps = 0;
  for (int trial = 0; trial < 60; trial++) {
    TlBodies b = {0};
    TlNearWall *wall = NULL;
    TlVec3 n = tl_unit(random_vec(&r, 1)), x = random_vec(&r, trial % 5 ? 0.1 : 3000);
    double touch = 0.007 + 0.003 * tl_random_next(&r);
    TlBoundaryPlane plane = {tl_axpy(x, -touch, n), n};
    TlBoundary boundary = {.kind = &tl_boundary_plane, .data = &plane};
    place(&b, trial % SHAPES, x, random_rotation(&r), trial % 3 ? 1 : 0.9);
    Walk k = {.speed = 0.02 * pow(10, -2 - 3 * tl_random_next(&r))};
    for (int step = 0; step < 120; step++, steps++) {
      TlVec3 away = tl_sub(b.position[0], x);
      b.position[0] = tl_axpy(b.position[0], -0.02, away);
      k.v = tl_add(tl_scale(0.9, k.v), random_vec(&r, 0.3 * k.speed));
      k.w = tl_add(tl_scale(0.9, k.w), random_vec(&r, 30 * k.speed));
      b.position[0] = tl_add(b.position[0], k.v);
      turn(&b, 0, k.w);
      double travel = tl_norm(k.v) + 0.012 * tl_norm(k.w);
      TlWanted w = {2e-4 + 2 * travel, 2e-4 + 2 * travel, INFINITY}, v = w, wanted = w;
      TlMat3 t = tl_quat_matrix(b.rotation[0]);
      near.count = all.count = 0;
      CK_OK(tl_near_boundary(&wall, &b.colliders, 0, &t, &boundary, k.speed, &w, &near));
      CK_OK(tl_narrow_boundary_all(&b.colliders, 0, &boundary, &v, &all));
      same_points(&near, &all, &wanted, trial, step);
      compared += (int64_t)all.count;
      TlVec3 to = tl_add(b.position[0], tl_add(k.v, random_vec(&r, 0.2 * k.speed)));
      TlQuat q = tl_quat_unit(tl_quat_mul(tl_quat_from_rotation(k.w), b.rotation[0]));
      TlPoint one, other;
      bool found = tl_near_deepest(wall, &b.colliders, 0, to, q, &boundary, 0, &one);
      bool wanted_one = tl_narrow_deepest(&b.colliders, 0, to, q, &boundary, 0, &other);
      if (found != wanted_one || (found && (one.key != other.key || one.gap != other.gap)))
        ck_abort_msg("trial %d step %d: another deepest node", trial, step);
      deep += found;
    }
    tl_near_wall_free(wall);
    tl_bodies_free(&b);
  }
  ck_assert_msg(compared > 10000 && deep > 1000, "%lld points, %lld deepest", (long long)compared,
                (long long)deep);
  ck_assert_msg(near.lists < steps / 3 && near.lists > 100, "%lld lists", (long long)near.lists);
  tl_points_free(&near);
  tl_points_free(&all);
  shapes_close();
}
END_TEST

/* Waves of 2 cm on cells of 4 mm, and an end: beyond it there is no ground under a node. */
static void make_ground(TlTerrain *terrain) {
  enum { N = 24 };
  static double z[N * N];
  for (int j = 0; j < N; j++)
    for (int i = 0; i < N; i++) z[j * N + i] = 0.003 * sin(0.8 * i) * cos(0.6 * j) - 4e-4 * i;
  TlTerrainSource source = {
      .name = "waves", .crs = "", .nx = N, .ny = N, .cell_m = 0.004, .height_m = z};
  TlTerrainOptions options = {.band_cells = 3, .refine = 1};
  memset(terrain, 0, sizeof *terrain);
  CK_OK(tl_terrain_build(terrain, &source, &options));
}

/* Heights above the ground at a place, by halving. */
static double ground_at(const TlBoundary *ground, double x, double y) {
  double low = -0.05, high = 0.05, phi;
  TlVec3 n;
  for (int i = 0; i < 40; i++) {
    double z = 0.5 * (low + high);
    bool there = tl_boundary_phi(ground, tl_vec3(x, y, z), &phi, &n);
    *(there && phi > 0 ? &high : &low) = z;
  }
  return high;
}

START_TEST(kept_lists_find_what_testing_every_node_finds_over_terrain_and_its_edge) {
  shapes_open();
  TlTerrain terrain;
  make_ground(&terrain);
  TlBoundary ground = {.kind = &tl_boundary_terrain, .data = &terrain};
  TlRandom r = {45, 0, 0};
  TlPoints near = {0}, all = {0};
  int64_t compared = 0, steps = 0, over_edge = 0;
  for (int trial = 0; trial < 40; trial++) {
    TlBodies b = {0};
    TlNearWall *wall = NULL;
    bool edge = trial % 5 < 2;
    double x = edge ? 0.004 : 0.02 + 0.05 * tl_random_next(&r), y = 0.046;
    TlVec3 home = {x, y, ground_at(&ground, x, y) + 0.008 + 0.003 * tl_random_next(&r)};
    place(&b, trial % SHAPES, home, random_rotation(&r), trial % 3 ? 1 : 0.9);
    Walk k = {.speed = 0.02 * pow(10, -2 - 3 * tl_random_next(&r))};
    for (int step = 0; step < 100; step++, steps++) {
      k.v = tl_add(tl_scale(0.9, k.v), random_vec(&r, 0.3 * k.speed));
      k.w = tl_add(tl_scale(0.9, k.w), random_vec(&r, 30 * k.speed));
      b.position[0] = tl_add(tl_axpy(b.position[0], -0.02, tl_sub(b.position[0], home)), k.v);
      turn(&b, 0, k.w);
      double travel = tl_norm(k.v) + 0.012 * tl_norm(k.w);
      TlWanted w = {2e-4 + 2 * travel, 2e-4 + 2 * travel, INFINITY}, v = w, wanted = w;
      TlMat3 t = tl_quat_matrix(b.rotation[0]);
      near.count = all.count = 0;
      CK_OK(tl_near_boundary(&wall, &b.colliders, 0, &t, &ground, k.speed, &w, &near));
      CK_OK(tl_narrow_boundary_all(&b.colliders, 0, &ground, &v, &all));
      same_points(&near, &all, &wanted, trial, step);
      compared += (int64_t)all.count;
      over_edge += all.count > 0 && b.position[0].x - b.radius[0] < 0;
    }
    tl_near_wall_free(wall);
    tl_bodies_free(&b);
  }
  ck_assert_msg(compared > 4000 && over_edge > 300, "%lld points, %lld steps at the edge",
                (long long)compared, (long long)over_edge);
  ck_assert_msg(near.lists < steps / 3 && near.lists > 60, "%lld lists", (long long)near.lists);
  tl_points_free(&near);
  tl_points_free(&all);
  tl_terrain_free(&terrain);
  shapes_close();
}
END_TEST

/* ---- the places of the lists ---- */

static int compare_pair(const void *a, const void *b) {
  const TlBodyPair *x = a, *y = b;
  if (x->a != y->a) return x->a < y->a ? -1 : 1;
  return x->b < y->b ? -1 : x->b > y->b;
}

static bool among(const TlBodyPairs *kept, const TlBodies *b, TlBodyPair wanted) {
  for (size_t i = 0; i < kept->count; i++) {
    TlBodyPair p = kept->pair[i];
    if (b->id[p.a] == b->id[wanted.a] && b->id[p.b] == b->id[wanted.b]) return true;
  }
  return false;
}

/* Diameters 1:10 and 1:30 in one scene, in motion; a body freezes, bodies change places. */
START_TEST(kept_pairs_hold_every_pair_within_reach_at_any_size_ratio) {
  double one = 0.01;
  CK_OK(tl_shapes_add_closed(&shapes, 50, tl_closed_kind("sphere"), &one));
  TlRandom r = {43, 0, 0};
  TlBodies b = {0};
  TlArena arena = {0};
  TlNear near = {0};
  TlBodyPairs exact = {0};
  enum { BODIES = 300, STEPS = 80 };
  for (int i = 0; i < BODIES; i++) {
    double scale = i < 4 ? 3 : i < 20 ? 1 : i % 2 ? 0.3 : 0.1;
    double width = i < 20 ? 0.12 : 0.07;
    TlVec3 x = {width * tl_random_next(&r), width * tl_random_next(&r), width * tl_random_next(&r)};
    place(&b, 50, x, (TlQuat){1, 0, 0, 0}, scale);
    b.velocity[i] = random_vec(&r, 0.02);
  }
  b.owned = b.colliders.owned = 250;
  int64_t pairs = 0;
  for (int step = 0; step < STEPS; step++) {
    double dt = 2e-3, more = 1e-4 * tl_random_next(&r);
    for (int64_t i = 0; i < b.total; i++) {
      b.position[i] = tl_axpy(b.position[i], dt, b.velocity[i]);
      b.colliders.reach[i] = b.radius[i] * 1.02 + more;
    }
    if (step == 40) b.flags[7] |= TL_BODY_FROZEN;
    if (step == 50) { /* two bodies change places in the arrays */
      TlGrainState s = tl_test_grain_state(&b, 30), t = tl_test_grain_state(&b, 31);
      tl_test_set_grain(&b, 30, &t);
      tl_test_set_grain(&b, 31, &s);
      double swap = b.colliders.reach[30];
      b.colliders.reach[30] = b.colliders.reach[31];
      b.colliders.reach[31] = swap;
      swap = b.radius[30];
      b.radius[30] = b.radius[31];
      b.radius[31] = swap;
    }
    tl_arena_reset(&arena);
    CK_OK(tl_near_update(&near, &b, 2, dt, &arena));
    CK_OK(tl_broad_pairs(&b, &arena, &exact));
    size_t at = 0;
    for (int32_t i = 0; i < 250; i++)
      for (int32_t j = i + 1; j < BODIES; j++) {
        double reach = b.colliders.reach[i] + b.colliders.reach[j];
        if (!(tl_norm(tl_sub(b.position[i], b.position[j])) < reach)) continue;
        TlBodyPair p = b.id[i] < b.id[j] ? (TlBodyPair){i, j} : (TlBodyPair){j, i};
        if (!among(&near.broad.pairs, &b, p)) ck_abort_msg("step %d: %d and %d", step, i, j);
        at++;
      }
    ck_assert_msg(at == exact.count, "step %d: %zu pairs of %zu", step, exact.count, at);
    for (size_t k = 1; k < near.pair_count; k++)
      if (!(near.low[k - 1] < near.low[k] ||
            (near.low[k - 1] == near.low[k] && near.high[k - 1] < near.high[k])))
        ck_abort_msg("step %d: pair %zu is out of order", step, k);
    qsort(exact.pair, exact.count, sizeof *exact.pair, compare_pair);
    pairs += (int64_t)exact.count;
  }
  ck_assert_msg(pairs > 50 * STEPS, "%lld pairs", (long long)pairs);
  ck_assert_msg(near.broad.builds >= 3 && near.broad.builds < STEPS / 2, "%lld builds",
                (long long)near.broad.builds);
  tl_free(exact.pair);
  tl_near_free(&near);
  tl_arena_free(&arena);
  tl_bodies_free(&b);
  tl_shapes_free(&shapes);
}
END_TEST

/* ---- the whole step ---- */

static const TlAvatar *get_avatar(void *ctx, int64_t id) {
  (void)ctx;
  return &avatar[id];
}

/* A few grains of all shapes fall into a corner; the state after each way of searching. With a
 * second solver half-way the lists are lost: that must not show either. */
static uint64_t drop(TlSearch search, TlEdges edges, bool forget, int64_t *lookups) {
  TlBoundaryPlane plane[3] = {{tl_vec3(0, 0, 0), tl_vec3(0, 0, 1)},
                              {tl_vec3(0, 0, 0), tl_vec3(1, 0, 0)},
                              {tl_vec3(0, 0, 0), tl_vec3(0, 1, 0)}};
  TlBoundary boundary[3];
  for (int i = 0; i < 3; i++)
    boundary[i] = (TlBoundary){.kind = &tl_boundary_plane, .data = &plane[i]};
  TlSolverConfig config = tl_test_config();
  config.search.how = search;
  config.search.edges = edges;
  Stepper *solver = NULL;
  TlBodies b = {0};
  TlRandom r = {44, 0, 0};
  for (int i = 0; i < 20; i++)
    place(&b, i % AVATARS,
          tl_vec3(0.012 + 0.02 * (i % 2), 0.012 + 0.02 * (i / 2 % 2), 0.013 + 0.021 * (i / 4)),
          random_rotation(&r), 0.9);
  TlStepReport report;
  *lookups = 0;
  for (int step = 0; step < (edges ? 90 : 160); step++) {
    if (step == 0 || (forget && step % 50 == 49)) {
      stepper_free(solver);
      CK_OK(stepper_new(&solver, &config, (TlAvatarSource){NULL, get_avatar}, boundary, 3, NULL));
    }
    CK_OK(stepper_step(solver, &b, &report));
    *lookups += report.lookups;
  }
  uint64_t hash;
  CK_OK(tl_bodies_hash(&b, &hash));
  ck_assert(report.contacts > (edges ? 25 : 40)); /* the refined runs end earlier */
  stepper_free(solver);
  tl_bodies_free(&b);
  return hash;
}

START_TEST(the_way_of_searching_never_shows_in_the_state) {
  TL_NOT_SANITIZED();
  shapes_open();
  int64_t near, tree, all, some;
  TlEdges nodes = TL_EDGES_NODES, refine = TL_EDGES_REFINE;
  uint64_t refined = drop(TL_SEARCH_NEAR, refine, false, &near);
  ck_assert(refined == drop(TL_SEARCH_TREE, refine, false, &tree));
  ck_assert(refined == drop(TL_SEARCH_ALL, refine, true, &all));
  ck_assert(refined == drop(TL_SEARCH_NEAR, refine, true, &some));
  uint64_t hash = drop(TL_SEARCH_NEAR, nodes, false, &near);
  ck_assert(hash == drop(TL_SEARCH_TREE, nodes, false, &tree));
  ck_assert(hash == drop(TL_SEARCH_ALL, nodes, false, &all));
  ck_assert(hash == drop(TL_SEARCH_NEAR, nodes, true, &some));
  ck_assert_msg(4 * near < all && 4 * tree < all, "lookups %lld, tree %lld, all %lld",
                (long long)near, (long long)tree, (long long)all);
  shapes_close();
}
END_TEST

/* ---- what pruning trusts ---- */

START_TEST(phi_that_is_no_distance_is_refused_and_a_steep_one_only_slows_the_search) {
  TlAvatar a;
  CK_OK(tl_avatar_superellipsoid(0.01, 0.008, 0.007, 0.8, 0.8, 0.001, 300, &a));
  int64_t count = (int64_t)a.nx * a.ny * a.nz;
  TlShapes s = {0};
  a.gradient_max = 0.5; /* what the avatar says of itself is not believed */
  CK_OK(tl_shapes_add(&s, 1, &a));
  ck_assert(tl_shapes_find(&s, 1)->lipschitz >= 1);
  for (int64_t i = 0; i < count; i++) a.phi[i] *= 2;
  CK_FAILS(tl_shapes_add(&s, 2, &a), TL_EINPUT, "no signed distance");
  for (int64_t i = 0; i < count; i++) a.phi[i] *= 0.6f;
  CK_OK(tl_shapes_add(&s, 3, &a));
  ck_assert(tl_shapes_find(&s, 3)->lipschitz > 1.15);
  tl_shapes_free(&s);
  tl_avatar_free(&a);
}
END_TEST

TL_TEST_MAIN("near", what_a_path_tells_clear_touches_nowhere,
             a_sphere_seeks_the_same_point_by_lists_tree_and_every_node,
             a_sphere_seeks_the_same_point_where_nodes_tie,
             kept_lists_find_what_testing_every_node_finds,
             kept_lists_serve_boundaries_and_the_deepest_node_of_a_coming_pose,
             kept_lists_find_what_testing_every_node_finds_over_terrain_and_its_edge,
             kept_pairs_hold_every_pair_within_reach_at_any_size_ratio,
             the_way_of_searching_never_shows_in_the_state,
             phi_that_is_no_distance_is_refused_and_a_steep_one_only_slows_the_search)
