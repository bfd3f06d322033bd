/* Contact by places (contact/places.h) against oracles that share no node, grid or field with it:
 * spheres in closed form, convex grains by their support functions, rough grains by dense points of
 * their exact surface (oracle/star.h). Lengths of pairs are in units of the smaller grain's radius. */
#include "support/placed.h"
#include "support/tltest.h"

#include "base/par.h"
#include "base/random.h"
#include "contact/ball_facets.h"
#include "contact/near.h"
#include "contact/place_memory.h"
#include "contact/search.h"
#include "model/closed.h"
#include "oracle/star.h"
#include "post/overlap_convex.h"
#include "shape/formula.h"
#include "shape/superellipsoid.h"

static const double MISS = 3e-3; /* of the radius: what the issue of missed contacts allows */
static const double BIAS = 2e-4; /* of the radius, as in places.c */
static const double SIZE = 0.01, MARGIN = 0.01, BAND = 0.02;

/* ---- two bodies ---- */

enum { SPHERE = 1, SMOOTH, ROUND, ROUGH, BOX, GRID_BOX, TETRAHEDRON };
enum {
  CROSS = TETRAHEDRON + 1,
  EXACT_CROSS,
  TWIN,
  BLOCK,
  GLOBE,
  DISC,
  PLATEN,
  SHAPES
}; /* avatar ids */

typedef struct Scene {
  TlShapes shapes;
  TlAvatar avatar[SHAPES];
  TlStar star;
  TlBodies bodies;
  TlPoints points;
} Scene;

/* A superellipsoid in SIZE; the cells of its grid in SIZE. */
typedef struct Super {
  TlVec3 half;
  double e, n;
  int cells, nodes;
} Super;

/* The block's grid is coarse for its corners, which leaves its faces uneven by a thousandth of the radius. */
static Super super_of(int id) {
  return id == SMOOTH  ? (Super){{1, 0.8, 0.7}, 0.6, 0.8, 14, 250}
         : id == BLOCK ? (Super){{1, 0.9, 0.7}, 0.4, 0.4, 8, 300}
         : id == GLOBE ? (Super){{1, 1, 1}, 1, 1, 14, 250}
         : id == DISC  ? (Super){{1, 1, 0.15}, 1, 1, 60, 400}
                       : (Super){{1, 0.85, 0.6}, 1, 1, 14, 250};
}

static void make_super(Scene *s, int id) {
  Super x = super_of(id);
  CK_OK(tl_avatar_superellipsoid(SIZE * x.half.x, SIZE * x.half.y, SIZE * x.half.z, x.e, x.n,
                                 SIZE / x.cells, x.nodes, &s->avatar[id]));
}

/* only: bits 1 << id of the shapes that are wanted. */
static void open_scene(Scene *s, unsigned only) {
  *s = (Scene){.shapes = {.places = true}};
  tl_par_set_threads(1);
  if (only & 1 << SPHERE) CK_OK(tl_shapes_add_closed(&s->shapes, SPHERE, &tl_closed_sphere, &SIZE));
  if (only & 1 << BOX)
    CK_OK(tl_shapes_add_closed(&s->shapes, BOX, &tl_closed_box, (double[]){SIZE, SIZE, SIZE}));
  if (only & 1 << PLATEN)
    CK_OK(tl_shapes_add_closed(&s->shapes, PLATEN, &tl_closed_cylinder,
                               (double[]){3 * SIZE, 0.5 * SIZE}));
  if (only & 1 << SMOOTH) make_super(s, SMOOTH);
  if (only & 1 << ROUND) make_super(s, ROUND);
  if (only & 1 << BLOCK) make_super(s, BLOCK);
  if (only & 1 << GLOBE) make_super(s, GLOBE);
  if (only & 1 << DISC) make_super(s, DISC);
  if (only & 1 << ROUGH) {
    CK_OK(tl_star_make(TL_STAR_BUMPY, 7, &s->star));
    CK_OK(tl_star_avatar(&s->star, SIZE, 40, 800, &s->avatar[ROUGH]));
  }
  if (only & 1 << TWIN) {
    TlStar twin;
    CK_OK(tl_star_make(TL_STAR_TWIN, 1, &twin));
    CK_OK(tl_star_avatar(&twin, SIZE, 40, 800, &s->avatar[TWIN]));
    tl_star_free(&twin);
  }
  if (only & 1 << GRID_BOX) { /* its edges lie between grid points */
    TlFormula box = {.kind = TL_FORMULA_BOX, .size_m = {SIZE, 1.1 * SIZE, 1.3 * SIZE}};
    box.spacing_m = 0.0717 * SIZE;
    CK_OK(tl_formula_avatar(&box, &s->avatar[GRID_BOX]));
  }
  if (only & 1 << TETRAHEDRON) {
    TlFormula solid = {.kind = TL_FORMULA_TETRAHEDRON, .length_m = 2 * SIZE};
    CK_OK(tl_formula_avatar(&solid, &s->avatar[TETRAHEDRON]));
  }
  if (only & 1 << CROSS) {
    TlFormula solid = {.kind = TL_FORMULA_CROSS, .length_m = 2 * SIZE, .width_m = 0.6 * SIZE};
    CK_OK(tl_formula_avatar(&solid, &s->avatar[CROSS]));
  }
  if (only & 1 << EXACT_CROSS)
    CK_OK(tl_shapes_add_closed(&s->shapes, EXACT_CROSS, &tl_closed_cross,
                               (double[]){2 * SIZE, 0.6 * SIZE}));
  for (int id = 1; id < SHAPES; id++) {
    if (s->avatar[id].phi) CK_OK(tl_shapes_add(&s->shapes, id, &s->avatar[id]));
  }
}

static void close_scene(Scene *s) {
  tl_points_free(&s->points);
  tl_bodies_free(&s->bodies);
  tl_shapes_free(&s->shapes);
  for (int id = 1; id < SHAPES; id++) tl_avatar_free(&s->avatar[id]);
  tl_star_free(&s->star);
}

/* Two grains; b's pose seen from a, whose own pose is an arbitrary one. */
typedef struct Pair {
  int a, b;
  double scale_a, scale_b, size; /* size: the smaller radius, m */
  TlVec3 shift;
  TlQuat turn;
} Pair;

static const TlQuat turn_of_a = {0.5, -0.5, 0.5, 0.5};

static void put(Scene *s, const Pair *p, TlMat3 turn[2]) {
  tl_bodies_clear(&s->bodies);
  TlVec3 x = {0.3, -0.2, 0.1};
  TlGrainState a = {.id = 0, .avatar_id = p->a, .scale = p->scale_a, .position = x};
  TlGrainState b = {.id = 1, .avatar_id = p->b, .scale = p->scale_b};
  a.rotation = turn_of_a;
  b.position = tl_add(x, tl_quat_rotate(turn_of_a, p->shift));
  b.rotation = tl_quat_unit(tl_quat_mul(turn_of_a, p->turn));
  tl_test_place(&s->bodies, &s->shapes, a, 0);
  tl_test_place(&s->bodies, &s->shapes, b, 0);
  for (int i = 0; i < 2; i++) turn[i] = tl_quat_matrix(s->bodies.colliders.rotation[i]);
}

/* The deepest point, n in a's frame; gap INFINITY: none. */
static TlPoint deepest_of(const Scene *s) {
  TlPoint least = {.gap = INFINITY};
  for (size_t i = 0; i < s->points.count; i++)
    if (s->points.point[i].gap < least.gap) least = s->points.point[i];
  least.n = tl_quat_rotate(tl_quat_conj(turn_of_a), least.n);
  return least;
}

typedef struct Memory {
  TlPlacePair pair;
  TlPlaceCache *cache;
} Memory;

static TlPoint by_places(Scene *s, const Pair *p, Memory *memory, double travel) {
  TlMat3 turn[2];
  put(s, p, turn);
  TlPlaceQuery q = {.colliders = &s->bodies.colliders,
                    .a = 0,
                    .b = 1,
                    .turn_a = &turn[0],
                    .turn_b = &turn[1],
                    .margin = MARGIN * p->size,
                    .travel = travel};
  s->points.count = 0;
  CK_OK(tl_places_query(&memory->pair, &memory->cache, &q, &s->points, NULL));
  return deepest_of(s);
}

static TlPoint by_places_anew(Scene *s, const Pair *p) {
  Memory memory = {0};
  TlPoint point = by_places(s, p, &memory, 1e-3 * p->size);
  tl_place_cache_free(memory.cache);
  return point;
}

static TlPoint by_nodes(Scene *s, const Pair *p, TlNearPair **memory, double travel) {
  TlMat3 turn[2];
  put(s, p, turn);
  TlNearQuery q = {.colliders = &s->bodies.colliders,
                   .a = 0,
                   .b = 1,
                   .turn_a = &turn[0],
                   .turn_b = &turn[1],
                   .both = true,
                   .travel = travel,
                   .size = p->size,
                   .band = BAND * p->size};
  TlWanted wanted = {.margin = MARGIN * p->size, .band = BAND * p->size, .least = INFINITY};
  s->points.count = 0;
  CK_OK(tl_near_points(memory, &q, &wanted, &s->points));
  return deepest_of(s);
}

/* As a run finds the pair's points; wanted as by nodes. */
static TlPoint by_scan(Scene *s, const Pair *p, TlEdges edges) {
  TlSearchOptions options = {.edges = edges};
  TlMargin margin = {.margin = MARGIN * p->size, .size = p->size, .travel = 1e-3 * p->size};
  TlNear near = {0};
  TlMat3 turn[2];
  put(s, p, turn);
  s->points.count = 0;
  CK_OK(tl_scan_pair(&options, &near, NULL, &s->bodies.colliders, 0, 1, &margin, &s->points));
  return deepest_of(s);
}

static TlPoint by_nodes_anew(Scene *s, const Pair *p) {
  TlNearPair *memory = NULL;
  TlPoint point = by_nodes(s, p, &memory, 1e-3 * p->size);
  tl_near_pair_free(memory);
  return point;
}

/* ---- the oracle of convex grains ---- */

/* Largest extent of a grain along n (its own frame), from the norm that is dual to the one whose
 * unit ball it is: of a superellipsoid two norms in one another, with the exponents p/(p-1). */
static double support(const Scene *s, int id, TlVec3 n) {
  if (id == SPHERE) return SIZE * tl_norm(n);
  if (id == BOX) return 0.5 * SIZE * (fabs(n.x) + fabs(n.y) + fabs(n.z));
  Super x = super_of(id);
  n = tl_quat_rotate(s->avatar[id].scan_rotation, n);
  double q = 2 / (2 - x.e), p = 2 / (2 - x.n);
  double across = pow(fabs(x.half.x * n.x), q) + pow(fabs(x.half.y * n.y), q);
  return SIZE * pow(pow(across, p / q) + pow(fabs(x.half.z * n.z), p), 1 / p);
}

/* How far apart the two are along n, a unit vector of a's frame from b to a. */
static double apart(const Scene *s, const Pair *p, TlVec3 n) {
  TlVec3 in_b = tl_quat_rotate(tl_quat_conj(p->turn), n);
  return -tl_dot(n, p->shift) - p->scale_a * support(s, p->a, tl_scale(-1, n)) -
         p->scale_b * support(s, p->b, in_b);
}

/* The gap of two convex grains: most that they are apart along any direction; < 0: the length of the
 * least translation that parts them. */
static double convex_gap(const Scene *s, const Pair *p, TlVec3 *normal) {
  enum { DIRECTIONS = 300 };
  TlVec3 best = {0, 0, 1};
  double most = -INFINITY;
  for (int i = 0; i < DIRECTIONS; i++) {
    double z = 1 - (2 * i + 1.0) / DIRECTIONS, angle = i * M_PI * (3 - sqrt(5)),
           w = sqrt(1 - z * z);
    TlVec3 n = {w * cos(angle), w * sin(angle), z};
    double gap = apart(s, p, n);
    if (gap > most) most = gap, best = n;
  }
  /* across n two ways, and about the edges of a box: where a box's edge decides, most lies on a ridge */
  for (double step = 0.1; step > 1e-7; step *= 0.5)
    for (int i = 0, moves = 0; i < 10 && moves < 20; i++) {
      TlVec3 u = tl_unit(tl_cross(best, fabs(best.x) < 0.6 ? tl_vec3(1, 0, 0) : tl_vec3(0, 1, 0)));
      TlVec3 direction = i / 2 == 0 ? u : tl_cross(best, u);
      if (i >= 4) {
        TlVec3 axis = {i / 2 == 2, i / 2 == 3, i / 2 == 4};
        direction = tl_cross(p->b == BOX ? tl_quat_rotate(p->turn, axis) : axis, best);
      }
      TlVec3 n = tl_unit(tl_axpy(best, i & 1 ? -step : step, direction));
      double gap = apart(s, p, n);
      if (!(gap > most)) continue;
      most = gap, best = n;
      moves++;
      i = -1;
    }
  *normal = best;
  return most;
}

/* A random pair whose gap is `gap` of the smaller radius. */
static Pair convex_pair(const Scene *s, int a, int b, double scale_b, double gap, uint64_t i) {
  Pair p = {.a = a, .b = b, .scale_a = 1, .scale_b = scale_b, .turn = tl_test_turn(12, i)};
  double ra = tl_shapes_find(&s->shapes, a)->radius_m,
         rb = scale_b * tl_shapes_find(&s->shapes, b)->radius_m;
  TlVec3 along = tl_test_unit(11, i), n = along;
  double far = 0.85 * (ra + rb);
  p.size = tl_min(ra, rb);
  for (int k = 0; k < 6; k++) {
    p.shift = tl_scale(far, along);
    far += (gap * p.size - convex_gap(s, &p, &n)) / tl_max(-tl_dot(n, along), 0.3);
  }
  return p;
}

/* ---- tests ---- */

START_TEST(spheres_have_the_gap_of_their_centres) {
  Scene s;
  open_scene(&s, 1 << SPHERE);
  for (uint64_t i = 0; i < 200; i++) {
    Pair p = {.a = SPHERE, .b = SPHERE, .turn = tl_test_turn(1, i)};
    p.scale_a = 0.5 + tl_random_uniform(2, 0, i);
    p.scale_b = 0.2 + tl_random_uniform(2, 1, i);
    p.size = SIZE * tl_min(p.scale_a, p.scale_b);
    TlVec3 along = tl_test_unit(3, i);
    double gap = p.size * (0.009 - 0.05 * tl_random_uniform(4, 0, i));
    p.shift = tl_scale(SIZE * (p.scale_a + p.scale_b) + gap, along);
    TlPoint found = by_places_anew(&s, &p);
    CK_NEAR(found.gap, gap, 1e-12);
    CK_NEAR(tl_norm(tl_add(found.n, along)), 0, 1e-12); /* from b to a */
    TlVec3 middle = tl_scale(SIZE * p.scale_a + 0.5 * gap, along);
    middle = tl_add(s.bodies.colliders.position[0], tl_quat_rotate(turn_of_a, middle));
    CK_NEAR(tl_norm(tl_sub(found.p, middle)), 0, 1e-12);
  }
  close_scene(&s);
}
END_TEST

typedef struct Kind {
  int a, b;
  double scale_b;
} Kind;

/* Two grids of 14 cells a radius are off by 0.01% of it at most, the search stops at 0.01%; of unequal
 * grains the larger one's grid counts in radii of the smaller. The block's own grid is off by 0.1%. */
START_TEST(convex_grains_have_the_gap_of_their_support_functions) {
  static const Kind kinds[] = {{SMOOTH, SMOOTH, 1}, {SMOOTH, ROUND, 0.5}, {ROUND, SMOOTH, 0.25},
                               {SMOOTH, SPHERE, 1}, {BLOCK, BLOCK, 1},    {BLOCK, ROUND, 1}};
  enum { PAIRS = 150 };
  Scene s;
  open_scene(&s, 1 << SPHERE | 1 << SMOOTH | 1 << ROUND | 1 << BLOCK);
  ck_assert(tl_shapes_find(&s.shapes, BLOCK)->place->convex);
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
    int missed = 0, missed_by_nodes = 0;
    double worst = 0, turned = 0;
    int64_t spent = 0;
    for (uint64_t i = 0; i < PAIRS; i++) {
      double wanted = 0.008 - 0.038 * tl_random_uniform(15, k, i);
      Pair p = convex_pair(&s, kinds[k].a, kinds[k].b, kinds[k].scale_b, wanted, i);
      TlVec3 n;
      double gap = convex_gap(&s, &p, &n);
      int64_t before = s.points.lookups;
      TlPoint found = by_places_anew(&s, &p), node = found;
      spent += s.points.lookups - before;
      if (kinds[k].b != SPHERE) node = by_nodes_anew(&s, &p);
      missed += tl_min(found.gap, 0) > tl_min(gap, 0) + MISS * p.size;
      missed_by_nodes += tl_min(node.gap, 0) > tl_min(gap, 0) + MISS * p.size;
      worst = tl_max(worst, fabs(found.gap - gap) / p.size);
      turned = tl_max(turned, tl_norm(tl_sub(found.n, n)));
    }
    ck_assert_int_eq(missed, 0);
    ck_assert_msg(worst < (kinds[k].a == BLOCK ? 2e-3 : 1e-3),
                  "gaps are off by up to %g of the radius", worst);
    ck_assert_int_lt(spent, 12 * PAIRS); /* one place, from the line of centres */
    ck_assert_msg(turned < 0.05, "normals are off by up to %g rad", turned);
    if (kinds[k].b != SPHERE) /* the pairs are of the kind that nodes do not see */
      ck_assert_int_ge(missed_by_nodes, PAIRS / 10);
  }
  close_scene(&s);
}
END_TEST

/* Half-way between the centres of two discs side by side neither surface faces the other one. */
START_TEST(thin_discs_have_the_gap_of_their_support_functions) {
  enum { PAIRS = 300 };
  Scene s;
  open_scene(&s, 1 << DISC);
  ck_assert(tl_shapes_find(&s.shapes, DISC)->place->convex);
  for (uint64_t i = 0; i < PAIRS; i++) {
    Pair p = convex_pair(&s, DISC, DISC, 1, -1e-3 - 0.029 * tl_random_uniform(17, 0, i), i);
    TlVec3 n;
    double gap = convex_gap(&s, &p, &n);
    Memory memory = {.cache = NULL};
    for (int step = 0; step < 2; step++) { /* and again from what is known */
      double found = by_places(&s, &p, &memory, 1e-3 * p.size).gap;
      ck_assert_msg(fabs(found - gap) < MISS * p.size, "pair %d, step %d: gap %g of %g", (int)i,
                    step, found / p.size, gap / p.size);
    }
    tl_place_cache_free(memory.cache);
  }
  close_scene(&s);
}
END_TEST

/* No surface faces the other grain where each centre lies deep in the other one. */
START_TEST(grains_with_nearly_one_centre_overlap) {
  static const int kinds[][2] = {{SMOOTH, SMOOTH}, {SMOOTH, ROUND}, {BLOCK, BLOCK}, {ROUGH, ROUGH}};
  static const double apart[] = {0, 0.01, 0.1, 0.2};
  Scene s;
  open_scene(&s, 1 << SMOOTH | 1 << ROUND | 1 << BLOCK | 1 << ROUGH);
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
    for (size_t i = 0; i < 4; i++) {
      Pair p = {kinds[k][0],
                kinds[k][1],
                1,
                1,
                0.6 * SIZE,
                tl_scale(apart[i] * SIZE, tl_test_unit(61, k)),
                tl_test_turn(62, i)};
      Memory memory = {.cache = NULL};
      for (int step = 0; step < 2; step++) { /* and again from what is known */
        double gap = by_places(&s, &p, &memory, 0).gap;
        ck_assert_msg(gap < -0.5 * p.size, "kinds %zu, %g apart, step %d: gap %g of the radius", k,
                      apart[i], step, gap / p.size);
      }
      tl_place_cache_free(memory.cache);
    }
  close_scene(&s);
}
END_TEST

/* A smooth grain on a face, an edge or a corner. `refine` seeks the same from the nodes, dearly. */
START_TEST(smooth_grains_and_polyhedra_have_the_gap_of_their_support_functions) {
  static const Kind kinds[] = {
      {SMOOTH, BOX, 1}, {BOX, ROUND, 0.5}, {ROUND, BOX, 0.5}, {BLOCK, BOX, 1}};
  enum { PAIRS = 150 };
  Scene s;
  open_scene(&s, 1 << BOX | 1 << SMOOTH | 1 << ROUND | 1 << BLOCK);
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
    int missed_by_nodes = 0;
    int64_t refined, spent = 0, before = s.points.lookups;
    double worst = 0;
    for (uint64_t i = 0; i < PAIRS; i++) {
      double wanted = 0.008 - 0.038 * tl_random_uniform(15, k, i);
      Pair p = convex_pair(&s, kinds[k].a, kinds[k].b, kinds[k].scale_b, wanted, i);
      TlVec3 n;
      double depth = tl_min(convex_gap(&s, &p, &n), 0);
      before = s.points.lookups;
      TlPoint found = by_scan(&s, &p, TL_EDGES_PLACES);
      spent += s.points.lookups - before;
      worst = tl_max(worst, fabs(tl_min(found.gap, 0) - depth) / p.size);
      missed_by_nodes += tl_min(by_nodes_anew(&s, &p).gap, 0) > depth + MISS * p.size;
    }
    before = s.points.lookups;
    for (uint64_t i = 0; i < PAIRS; i++) {
      Pair p = convex_pair(&s, kinds[k].a, kinds[k].b, kinds[k].scale_b, -0.01, i);
      by_scan(&s, &p, TL_EDGES_REFINE);
    }
    refined = s.points.lookups - before;
    ck_assert_msg(worst < (kinds[k].a == BLOCK ? 2e-3 : 5e-4),
                  "depths are off by up to %g of the radius", worst);
    ck_assert_int_ge(missed_by_nodes, PAIRS / 10);
    ck_assert_int_lt(8 * spent, refined);
  }
  close_scene(&s);
}
END_TEST

/* Distance of x, in SIZE, to the exact star's surface: from its nearest sample on. */
static double star_distance(const TlStar *star, TlVec3 x) {
  TlVec3 best = {0, 0, 1};
  double least = INFINITY;
  for (int k = 0; k < TL_STAR_POINTS; k++) {
    double far = tl_norm2(tl_sub(x, star->point[k]));
    if (far < least) least = far, best = tl_unit(star->point[k]);
  }
  least = sqrt(least);
  for (double step = 0.01; step > 1e-5; step *= 0.5)
    for (int i = 0; i < 4; i++) {
      TlVec3 u = tl_unit(tl_cross(best, fabs(best.x) < 0.6 ? tl_vec3(1, 0, 0) : tl_vec3(0, 1, 0)));
      TlVec3 direction = i & 2 ? tl_cross(best, u) : u;
      TlVec3 to = tl_unit(tl_axpy(best, i & 1 ? -step : step, direction));
      double far = tl_norm(tl_sub(x, tl_scale(tl_star_radius(star, to), to)));
      if (!(far < least)) continue;
      least = far, best = to;
      i = -1;
    }
  return least;
}

/* How deep points of the exact star lie in the box, and points of the box's edges in the star. */
static double dense_depth(const Scene *s, const Pair *p, bool edges) {
  enum { STEPS = 40 };
  double depth = 0, half = 0.5 * SIZE * p->scale_b;
  for (int i = 0; i < TL_STAR_POINTS; i++) {
    TlVec3 y =
        tl_quat_rotate(tl_quat_conj(p->turn), tl_sub(tl_scale(SIZE, s->star.point[i]), p->shift));
    depth = tl_max(depth, half - tl_max(fabs(y.x), tl_max(fabs(y.y), fabs(y.z))));
  }
  for (int i = 0; edges && i < 12 * (STEPS + 1); i++) {
    int edge = i / (STEPS + 1), axis = edge / 4;
    double at[3] = {edge & 1 ? half : -half, edge & 2 ? half : -half,
                    half * (2.0 * (i % (STEPS + 1)) / STEPS - 1)};
    TlVec3 y = axis == 0   ? tl_vec3(at[2], at[0], at[1])
               : axis == 1 ? tl_vec3(at[0], at[2], at[1])
                           : tl_vec3(at[0], at[1], at[2]);
    TlVec3 x = tl_scale(1 / SIZE, tl_add(p->shift, tl_quat_rotate(p->turn, y)));
    if (tl_norm(x) >= tl_star_radius(&s->star, tl_unit(x))) continue;
    depth = tl_max(depth, SIZE * star_distance(&s->star, x));
  }
  return depth;
}

/* Grains with hollows have several places a face. */
START_TEST(rough_grains_on_boxes_are_as_deep_as_dense_points_of_both) {
  enum { PAIRS = 60 };
  Scene s;
  open_scene(&s, 1 << BOX | 1 << ROUGH);
  int missed_by_nodes = 0;
  double most = 0;
  for (uint64_t i = 0; i < PAIRS; i++) {
    Pair p = {.a = ROUGH, .b = BOX, .scale_a = 1, .scale_b = 1.2, .turn = tl_test_turn(12, i)};
    double low = 0, high = 3 * SIZE, wanted = SIZE * (0.001 + 0.029 * tl_random_uniform(15, 0, i));
    TlVec3 along = tl_test_unit(11, i);
    p.size = SIZE;
    for (int step = 0; step < 30; step++) {
      double far = 0.5 * (low + high);
      p.shift = tl_scale(far, along);
      *(dense_depth(&s, &p, false) > wanted ? &low : &high) = far;
    }
    double depth = dense_depth(&s, &p, true), found = -by_scan(&s, &p, TL_EDGES_PLACES).gap;
    most = tl_max(most, fabs(found - depth) / SIZE);
    missed_by_nodes += -by_nodes_anew(&s, &p).gap < depth - MISS * SIZE;
  }
  ck_assert_msg(most < 1e-3, "depths are off by up to %g of the radius", most);
  ck_assert_int_ge(missed_by_nodes, PAIRS / 4);
  close_scene(&s);
}
END_TEST

/* A ball on a grid, which is searched as a smooth grain, and the same ball in closed form: on faces, edges and
 * corners, and in the hollows of crosses. */
/* A smooth grain over the end of a cylinder of three times its size, out to the rim: the end's plane alone counts, and
 * is asked at the price of a plane. */
START_TEST(smooth_grains_on_the_end_of_a_cylinder_meet_its_plane) {
  enum { PAIRS = 100 };
  static const int grain[] = {SMOOTH, ROUND, BLOCK};
  Scene s;
  open_scene(&s, 1 << SMOOTH | 1 << ROUND | 1 << BLOCK | 1 << PLATEN);
  int64_t spent = 0, refined = 0;
  for (uint64_t i = 0; i < 6 * PAIRS; i++) {
    int id = grain[i % 3];
    bool first = i / 3 % 2; /* the grain is a */
    double gap = SIZE * (0.008 - 0.038 * tl_random_uniform(15, 0, i)), side = i % 4 < 2 ? 1 : -1;
    double far = 2 * SIZE * tl_random_uniform(15, 1, i),
           angle = 2 * M_PI * tl_random_uniform(15, 2, i);
    TlQuat turn = tl_test_turn(12, i); /* of b seen from a */
    TlVec3 axis = tl_vec3(0, 0, side),
           of_grain = tl_quat_rotate(first ? turn : tl_quat_conj(turn), axis);
    double high = 0.25 * SIZE + support(&s, id, tl_scale(-1, of_grain)) + gap;
    TlVec3 centre = {far * cos(angle), far * sin(angle), side * high};
    Pair p = {.a = first ? id : PLATEN,
              .b = first ? PLATEN : id,
              .scale_a = 1,
              .scale_b = 1,
              .size = SIZE};
    p.turn = turn;
    p.shift = first ? tl_scale(-1, tl_quat_rotate(turn, centre)) : centre;
    TlVec3 n = first ? of_grain : tl_scale(-1, axis);
    int64_t before = s.points.lookups;
    TlPoint found = by_scan(&s, &p, TL_EDGES_PLACES);
    spent += s.points.lookups - before;
    ck_assert_msg(fabs(tl_min(found.gap, 0) - tl_min(gap, 0)) < 2e-3 * SIZE, "pair %d: %g for %g",
                  (int)i, found.gap / SIZE, gap / SIZE);
    if (found.gap < 0) CK_NEAR(tl_norm(tl_sub(found.n, n)), 0, 0.01);
    before = s.points.lookups;
    by_scan(&s, &p, TL_EDGES_REFINE);
    refined += s.points.lookups - before;
  }
  ck_assert_msg(5 * spent < refined, "%ld look-ups, %ld from nodes", (long)spent, (long)refined);
  close_scene(&s);
}
END_TEST

START_TEST(a_ball_on_a_grid_touches_polyhedra_as_one_in_closed_form_does) {
  static const int solids[] = {BOX, TETRAHEDRON, EXACT_CROSS};
  enum { PAIRS = 150 };
  Scene s;
  open_scene(&s, 1 << SPHERE | 1 << GLOBE | 1 << BOX | 1 << TETRAHEDRON | 1 << EXACT_CROSS);
  for (size_t k = 0; k < sizeof solids / sizeof *solids; k++)
    for (uint64_t i = 0; i < PAIRS; i++) {
      double scale = 0.3 + 0.5 * tl_random_uniform(16, k, i), low = 0, high = 4 * SIZE;
      double wanted = SIZE * scale * (0.008 - 0.038 * tl_random_uniform(15, k, i));
      Pair p = {.a = solids[k], .b = SPHERE, .scale_a = 1, .scale_b = scale};
      TlVec3 along = tl_test_unit(11, i);
      TlPoint ball = {{0}};
      p.turn = tl_test_turn(12, i);
      p.size = scale * SIZE;
      for (int step = 0; step < 40; step++) {
        double far = 0.5 * (low + high);
        p.shift = tl_scale(far, along);
        ball = by_scan(&s, &p, TL_EDGES_PLACES);
        *(ball.gap < wanted ? &low : &high) = far;
      }
      p.b = GLOBE;
      TlPoint globe = by_scan(&s, &p, TL_EDGES_PLACES);
      ck_assert_msg(fabs(globe.gap - ball.gap) < 1e-3 * p.size, "solid %d, pair %d: gaps %g and %g",
                    solids[k], (int)i, globe.gap / p.size, ball.gap / p.size);
    }
  close_scene(&s);
}
END_TEST

static Pair rough_pair(const Scene *s, double depth, uint64_t i) {
  Pair p = {.a = ROUGH, .b = ROUGH, .scale_a = 1, .scale_b = 1, .turn = tl_test_turn(12, i)};
  TlVec3 along = tl_test_unit(11, i);
  double touch = tl_star_touch(&s->star, &s->star, along, tl_quat_matrix(p.turn));
  p.size = SIZE;
  p.shift = tl_scale(SIZE * (touch - depth), along);
  return p;
}

START_TEST(rough_grains_have_the_depth_of_their_exact_surfaces) {
  enum { PAIRS = 50 };
  Scene s;
  open_scene(&s, 1 << ROUGH);
  int missed = 0, missed_by_nodes = 0;
  double worst = 0;
  for (uint64_t i = 0; i < PAIRS; i++) {
    Pair p = rough_pair(&s, 0.001 + 0.029 * tl_random_uniform(15, 0, i), i);
    double depth =
        SIZE * tl_star_depth(&s.star, &s.star, tl_scale(1 / SIZE, p.shift), tl_quat_matrix(p.turn));
    double found = -by_places_anew(&s, &p).gap, node = -by_nodes_anew(&s, &p).gap;
    missed += tl_max(found, 0) < depth - MISS * SIZE;
    missed_by_nodes += tl_max(node, 0) < depth - MISS * SIZE;
    worst = tl_max(worst, fabs(found - depth) / SIZE);
  }
  ck_assert_int_eq(missed, 0);
  ck_assert_msg(worst < 5e-4, "depths are off by up to %g of the radius", worst);
  ck_assert_int_ge(missed_by_nodes, PAIRS / 10);
  close_scene(&s);
}
END_TEST

/* Step k of a path that wanders about the pair's pose and returns, `part` of the radius a step. */
static Pair on_the_path(const Pair *from, double part, int k, uint64_t i) {
  int phase = k % 24;
  double travel = 0.7 * part * (phase < 6 ? phase : phase < 18 ? 12 - phase : phase - 24);
  TlVec3 slide = tl_unit(tl_cross(from->shift, tl_test_unit(14, i)));
  Pair p = *from;
  p.shift = tl_axpy(from->shift, travel * from->size, slide);
  p.turn = tl_quat_unit(
      tl_quat_mul(tl_quat_from_rotation(tl_scale(travel, tl_test_unit(13, i))), from->turn));
  return p;
}

/* Field evaluations of a query, warm: machine independent. An evaluation of the spline costs a quarter
 * more than one of the trilinear grid (bench_places has the times). */
/* A ball at the waist of two balls that run into each other touches both, each with the gap of its
 * centre. */
START_TEST(a_ball_in_a_hollow_touches_on_both_sides) {
  enum { PAIRS = 100 };
  const double off = SIZE * TL_STAR_TWIN_OFF, r = SIZE * TL_STAR_TWIN_RADIUS;
  Scene s;
  open_scene(&s, 1 << TWIN | 1 << SPHERE);
  for (uint64_t i = 0; i < PAIRS; i++) {
    Pair p = {.a = TWIN, .b = SPHERE, .scale_a = 1, .turn = tl_test_turn(6, i)};
    p.scale_b = 0.3 + 0.7 * tl_random_uniform(5, 0, i);
    p.size = SIZE * p.scale_b;
    double gap[2], round = 2 * M_PI * tl_random_uniform(5, 1, i);
    for (int k = 0; k < 2; k++)
      gap[k] = p.size * (0.008 - 0.03 * tl_random_uniform(5, 2 + (uint64_t)k, i));
    double far[2] = {r + p.size + gap[0], r + p.size + gap[1]}; /* from the centres at +off, -off */
    double x = (far[1] * far[1] - far[0] * far[0]) / (4 * off);
    double across = sqrt(far[0] * far[0] - (x - off) * (x - off));
    p.shift = tl_vec3(x, across * cos(round), across * sin(round));
    by_places_anew(&s, &p);
    ck_assert_uint_eq(s.points.count, 2);
    for (int k = 0; k < 2; k++) {
      TlVec3 to = tl_unit(tl_sub(p.shift, tl_vec3(k ? -off : off, 0, 0)));
      double best = INFINITY, turned = INFINITY;
      for (size_t j = 0; j < 2; j++) {
        TlVec3 n = tl_quat_rotate(tl_quat_conj(turn_of_a), s.points.point[j].n);
        if (tl_norm(tl_add(n, to)) > turned) continue;
        turned = tl_norm(tl_add(n, to));
        best = fabs(s.points.point[j].gap - gap[k]);
      }
      CK_NEAR(best / p.size, 0, MISS);
      CK_NEAR(turned, 0, 0.02);
    }
  }
  close_scene(&s);
}
END_TEST

START_TEST(a_followed_pair_costs_a_fraction_of_the_node_search) {
  static const double part[] = {0, 0.001, 0.003, 0.01};
  static const int kind[] = {SMOOTH, ROUGH};
  static const double goal[] = {0.1, 0.3};
  enum { PAIRS = 12, STEPS = 48, WARM = 24 };
  Scene s;
  open_scene(&s, 1 << SMOOTH | 1 << ROUGH);
  for (int k = 0; k < 2; k++) {
    Pair from[PAIRS];
    for (uint64_t i = 0; i < PAIRS; i++)
      from[i] =
          kind[k] == ROUGH ? rough_pair(&s, 0.01, i) : convex_pair(&s, SMOOTH, SMOOTH, 1, -0.01, i);
    for (int m = 0; m < 4; m++) {
      int64_t looked[2] = {0, 0};
      for (uint64_t i = 0; i < PAIRS; i++) {
        Memory places = {0};
        TlNearPair *nodes = NULL;
        for (int step = 0; step < STEPS; step++) {
          Pair p = on_the_path(&from[i], part[m], step, i);
          for (int how = 0; how < 2; how++) {
            int64_t before = s.points.lookups;
            if (how == 0)
              by_nodes(&s, &p, &nodes, 1.4 * part[m] * SIZE);
            else
              by_places(&s, &p, &places, 1.4 * part[m] * SIZE);
            if (step >= WARM) looked[how] += s.points.lookups - before;
          }
        }
        tl_near_pair_free(nodes);
        tl_place_cache_free(places.cache);
      }
      if (part[m] == 0)
        ck_assert_int_eq(looked[1], 0);
      else
        ck_assert_msg((double)looked[1] < goal[k] * (double)looked[0],
                      "shape %d, %g of the radius a step: %lld evaluations, nodes %lld", kind[k],
                      part[m], (long long)looked[1], (long long)looked[0]);
    }
  }
  close_scene(&s);
}
END_TEST

/* How many of the places found anew with a gap below the limit does the memory's query not have? */
static int places_missed(const Scene *s, const TlPoint *all, size_t count, double limit,
                         int *wanted) {
  int missed = 0;
  for (size_t n = 0; n < count; n++) {
    bool there = false;
    if (!(all[n].gap < limit)) continue;
    for (size_t m = 0; m < s->points.count; m++)
      there |= tl_norm(tl_sub(all[n].p, s->points.point[m].p)) < 0.05 * SIZE;
    *wanted += 1;
    missed += !there;
  }
  return missed;
}

/* Rough grains with a wide margin, on paths of long steps: asked for what lies within `reach`, or within
 * the band beyond the nearest place, a followed pair has the nearest one, and hardly less of the others
 * than when it is asked for all below the margin, at less than 0.7 of the cost. Some basins are found from
 * far above only, which neither guarantees. */
START_TEST(places_near_the_nearest_cost_less_than_all_below_the_margin) {
  enum { PATHS = 12, STEPS = 12 };
  Scene s;
  open_scene(&s, 1 << ROUGH);
  TlPoint all[TL_PLACES_MOST];
  int64_t cost[2] = {0, 0};
  int wanted[2] = {0, 0}, missed[2] = {0, 0};
  double worst = 0;
  for (uint64_t i = 0; i < PATHS; i++) {
    Pair from = rough_pair(&s, 0.02 - 0.04 * (double)i, i);
    Memory memory[2] = {0};
    for (int k = 0; k < STEPS; k++) {
      Pair p = on_the_path(&from, 0.05, k, i);
      TlMat3 turn[2];
      put(&s, &p, turn);
      TlPlaceQuery q = {.colliders = &s.bodies.colliders,
                        .a = 0,
                        .b = 1,
                        .turn_a = &turn[0],
                        .turn_b = &turn[1],
                        .margin = p.size,
                        .travel = 0.05 * p.size};
      Memory fresh = {0};
      s.points.count = 0;
      CK_OK(tl_places_query(&fresh.pair, &fresh.cache, &q, &s.points, NULL));
      tl_place_cache_free(fresh.cache);
      size_t count = s.points.count;
      memcpy(all, s.points.point, count * sizeof *all);
      double least = deepest_of(&s).gap;
      double limit = tl_min(p.size, tl_max(tl_max(least, 0) + BAND * p.size, 0.12 * p.size));
      for (int m = 0; m < 2; m++) {
        if (m == 1) q.band = BAND * p.size, q.reach = 0.12 * p.size;
        s.points.count = 0;
        s.points.lookups = 0;
        CK_OK(tl_places_query(&memory[m].pair, &memory[m].cache, &q, &s.points, NULL));
        cost[m] += s.points.lookups;
        missed[m] += places_missed(&s, all, count, limit, &wanted[m]);
        if (m == 1 && least < p.size) worst = tl_max(worst, (deepest_of(&s).gap - least) / p.size);
      }
    }
    for (int m = 0; m < 2; m++) tl_place_cache_free(memory[m].cache);
  }
  ck_assert_int_gt(wanted[1], 100);
  ck_assert_msg(worst < 5e-4, "the nearest lies up to %g of the radius too far", worst);
  ck_assert_msg(missed[1] <= missed[0] + wanted[1] / 50, "%d of %d places missed, %d by the other",
                missed[1], wanted[1], missed[0]);
  ck_assert_msg((double)cost[1] < 0.7 * (double)cost[0], "%lld evaluations, %lld for all",
                (long long)cost[1], (long long)cost[0]);
  close_scene(&s);
}
END_TEST

/* A slide and a roll that never comes back: everything that a pair keeps grows old on the way. */
START_TEST(a_pair_followed_for_a_thousand_steps_agrees_with_a_search_from_nothing) {
  static const int kind[] = {SMOOTH, ROUGH};
  enum { STEPS = 1000 };
  Scene s;
  open_scene(&s, 1 << SMOOTH | 1 << ROUGH);
  for (int k = 0; k < 2; k++) {
    Pair p =
        kind[k] == ROUGH ? rough_pair(&s, 0.01, 3) : convex_pair(&s, SMOOTH, SMOOTH, 1, -0.01, 3);
    Memory memory = {0};
    TlQuat roll = tl_quat_from_rotation(tl_scale(2e-3, tl_test_unit(21, 0)));
    TlQuat swing = tl_quat_from_rotation(tl_scale(1e-3, tl_test_unit(22, 0)));
    double worst = 0;
    int shallower = 0, touched = 0;
    for (int step = 0; step < STEPS; step++) {
      p.turn = tl_quat_unit(tl_quat_mul(roll, p.turn));
      p.shift = tl_quat_rotate(swing, p.shift);
      TlPoint cold = by_places_anew(&s, &p);
      if (cold.gap < 1) /* kept about 1% deep */
        p.shift = tl_axpy(p.shift, 0.1 * (-0.01 * SIZE - cold.gap), tl_unit(p.shift));
      cold = by_places_anew(&s, &p);
      TlPoint warm = by_places(&s, &p, &memory, 3e-3 * SIZE);
      touched += cold.gap < 0;
      shallower += tl_min(warm.gap, 0) > tl_min(cold.gap, 0) + MISS * SIZE;
      if (cold.gap < 0) worst = tl_max(worst, fabs(warm.gap - cold.gap) / SIZE);
    }
    tl_place_cache_free(memory.cache);
    ck_assert_int_ge(touched, STEPS / 2);
    ck_assert_int_eq(shallower, 0);
    /* a basin that opens is taken up when a node in it lies 0.2% of the radius below the parabolas */
    ck_assert_msg(worst < 2.5e-3, "gaps differ by up to %g of the radius", worst);
  }
  close_scene(&s);
}
END_TEST

/* What a checkpoint relies on: the memory holds all that later steps depend on, and its rows hold all of
 * the memory; the cache is none of it. */
START_TEST(a_copied_memory_continues_with_the_same_bits) {
  static const int kind[] = {SMOOTH, ROUGH};
  Scene s;
  open_scene(&s, 1 << SMOOTH | 1 << ROUGH);
  for (int k = 0; k < 2; k++) {
    Pair from =
        kind[k] == ROUGH ? rough_pair(&s, 0.01, 5) : convex_pair(&s, SMOOTH, SMOOTH, 1, -0.01, 5);
    Memory memory = {0}, copy = {0};
    TlPlaceMemory lists = {0};
    TlPairState rows = {0};
    for (int step = 0; step < 60; step++) {
      Pair p = on_the_path(&from, 0.004, step, 5);
      if (step == 20) {
        CK_OK(tl_place_memory_start(&lists, 1));
        CK_OK(tl_place_note(&lists.tally[0], 0, 0, 1, &memory.pair));
        CK_OK(tl_place_commit(&lists, &rows));
        tl_place_recall(&rows, 0, 1, &copy.pair);
        ck_assert_int_ge(copy.pair.count, 1);
      }
      TlPoint one = by_places(&s, &p, &memory, 5e-3 * SIZE), other = one;
      if (step >= 20) other = by_places(&s, &p, &copy, 5e-3 * SIZE);
      ck_assert(memcmp(&one.gap, &other.gap, sizeof one.gap) == 0 && one.key == other.key);
    }
    tl_place_cache_free(memory.cache);
    tl_place_cache_free(copy.cache);
    tl_place_memory_free(&lists);
    tl_pair_state_free(&rows);
  }
  close_scene(&s);
}
END_TEST

/* ---- polyhedra ---- */

/* The oracle: every separating axis, from the formulas of the shapes. */
static TlConvex convex_of(const Scene *s, int id, double scale, TlVec3 shift, TlQuat turn) {
  TlConvex c;
  if (id == BOX)
    c = tl_convex_box(tl_vec3(0.5 * SIZE, 0.5 * SIZE, 0.5 * SIZE));
  else if (id == GRID_BOX)
    c = tl_convex_box(tl_vec3(0.5 * SIZE, 0.55 * SIZE, 0.65 * SIZE));
  else
    c = tl_convex_tetrahedron(2 * SIZE);
  if (id != BOX) turn = tl_quat_mul(turn, tl_quat_conj(s->avatar[id].scan_rotation));
  return tl_convex_placed(&c, scale, tl_quat_matrix(turn), shift);
}

static double depth_of_polyhedra(const Scene *s, const Pair *p, TlVec3 *normal) {
  TlConvex a = convex_of(s, p->a, p->scale_a, tl_vec3(0, 0, 0), (TlQuat){1, 0, 0, 0}),
           b = convex_of(s, p->b, p->scale_b, p->shift, p->turn);
  TlVec3 point;
  return tl_convex_depth(&a, &b, normal, &point);
}

/* 0.1 to 3% beyond where the two begin to touch; < 0: as much apart. */
static Pair polyhedra(const Scene *s, int a, int b, double scale_b, double depth, uint64_t i) {
  Pair p = {.a = a, .b = b, .scale_a = 1, .scale_b = scale_b, .turn = tl_test_turn(12, i)};
  double ra = tl_shapes_find(&s->shapes, a)->radius_m,
         rb = scale_b * tl_shapes_find(&s->shapes, b)->radius_m, low = 0, high = ra + rb;
  TlVec3 along = tl_test_unit(11, i), n;
  p.size = tl_min(ra, rb);
  for (int k = 0; k < 30; k++) {
    double middle = 0.5 * (low + high);
    p.shift = tl_scale(middle, along);
    if (depth_of_polyhedra(s, &p, &n) > 0)
      low = middle;
    else
      high = middle;
  }
  p.shift = tl_scale(low - depth * p.size, along);
  return p;
}

/* Edges give way to faces that say as much to within BIAS; planes read from a grid are off by 0.04% of the
 * radius at most. */
START_TEST(polyhedra_have_the_depth_of_their_separating_axes) {
  static const Kind kinds[] = {{BOX, BOX, 1},
                               {GRID_BOX, GRID_BOX, 1},
                               {BOX, GRID_BOX, 0.4},
                               {TETRAHEDRON, TETRAHEDRON, 1},
                               {TETRAHEDRON, BOX, 1.5}};
  enum { PAIRS = 400 };
  Scene s;
  open_scene(&s, 1 << BOX | 1 << GRID_BOX | 1 << TETRAHEDRON);
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
    int crossing = 0, missed_by_nodes = 0;
    double worst = 0, turned = 0;
    for (uint64_t i = 0; i < PAIRS; i++) {
      double wanted = 0.031 * tl_random_uniform(15, k, i) - 0.001;
      Pair p = polyhedra(&s, kinds[k].a, kinds[k].b, kinds[k].scale_b, wanted, i);
      TlVec3 n;
      double depth = depth_of_polyhedra(&s, &p, &n);
      TlPoint found = by_places_anew(&s, &p), node = by_nodes_anew(&s, &p);
      crossing += s.points.count == 1;
      missed_by_nodes += tl_max(-node.gap, 0) < depth - MISS * p.size;
      worst = tl_max(worst, fabs(tl_max(-found.gap, 0) - depth) / p.size);
      if (depth > 1e-3 * p.size && fabs(-found.gap - depth) < 1e-9 * p.size)
        turned =
            tl_max(turned, tl_norm(tl_sub(found.n, n))); /* of two equal axes either is meant */
    }
    ck_assert_int_ge(crossing, PAIRS / 10);
    ck_assert_int_ge(missed_by_nodes, PAIRS / 20);
    ck_assert_msg(turned < 1e-3, "normals are off by up to %g rad", turned);
    if (kinds[k].a == BOX && kinds[k].b == BOX) CK_NEAR(worst, 0, BIAS);
    ck_assert_msg(worst < 4e-4 + BIAS, "depths are off by up to %g of the radius", worst);
  }
  close_scene(&s);
}
END_TEST

/* Corners and edges change hands on the way. */
START_TEST(followed_polyhedra_agree_with_a_search_from_nothing) {
  static const int kind[] = {BOX, TETRAHEDRON};
  enum { STEPS = 1000 };
  Scene s;
  open_scene(&s, 1 << BOX | 1 << TETRAHEDRON);
  for (int k = 0; k < 2; k++) {
    Pair p = polyhedra(&s, kind[k], kind[k], 1, 0.01, 4);
    Memory memory = {0};
    TlQuat roll = tl_quat_from_rotation(tl_scale(2e-3, tl_test_unit(21, 0)));
    TlQuat swing = tl_quat_from_rotation(tl_scale(1e-3, tl_test_unit(22, 0)));
    int64_t listed = 0, last = -1;
    int changes = 0, touched = 0;
    for (int step = 0; step < STEPS; step++) {
      p.turn = tl_quat_unit(tl_quat_mul(roll, p.turn));
      p.shift = tl_quat_rotate(swing, p.shift);
      TlPoint cold = by_places_anew(&s, &p);
      double away = cold.gap < 1 ? 0.1 * (-0.01 * p.size - cold.gap) : -0.01 * p.size;
      p.shift = tl_axpy(p.shift, away, tl_unit(p.shift)); /* kept about 1% deep */
      cold = by_places_anew(&s, &p);
      int64_t before = s.points.lists;
      TlPoint warm = by_places(&s, &p, &memory, 3e-3 * p.size);
      listed += s.points.lists - before;
      changes += warm.key != last;
      last = warm.key;
      touched += cold.gap < 0;
      ck_assert((warm.gap < 1) == (cold.gap < 1));
      if (!(cold.gap < 1)) continue;
      CK_NEAR(warm.gap, cold.gap, 1e-12);
      CK_NEAR(tl_norm(tl_sub(warm.n, cold.n)), 0, 1e-9);
    }
    tl_place_cache_free(memory.cache);
    ck_assert_int_ge(touched, STEPS / 2);
    ck_assert_int_ge(changes, 5);
    ck_assert_int_lt(listed, STEPS / 5);
  }
  close_scene(&s);
}
END_TEST

/* ---- balls on polyhedra ---- */

/* A point somewhere in and about a box of half these sides. */
static TlVec3 somewhere(TlVec3 half, uint64_t i) {
  double x = 3 * tl_random_uniform(31, 0, i) - 1.5, y = 3 * tl_random_uniform(31, 1, i) - 1.5,
         z = 3 * tl_random_uniform(31, 2, i) - 1.5;
  return tl_vec3(x * half.x, y * half.y, z * half.z);
}

static double box_distance(TlVec3 half, TlVec3 x) {
  TlVec3 d = tl_vec3(fabs(x.x) - half.x, fabs(x.y) - half.y, fabs(x.z) - half.z);
  TlVec3 out = tl_vec3(tl_max(d.x, 0), tl_max(d.y, 0), tl_max(d.z, 0));
  return tl_norm(out) + tl_min(tl_max(d.x, tl_max(d.y, d.z)), 0);
}

START_TEST(the_nearest_point_of_a_box_has_its_closed_form) {
  const TlVec3 half = {1, 1.5, 0.7};
  TlFacets box = tl_facets_of_box(2 * half.x, 2 * half.y, 2 * half.z);
  for (uint64_t i = 0; i < 2000; i++) {
    TlVec3 x = somewhere(half, i), nearest, n;
    double far = tl_facets_nearest(&box, x, &nearest, &n);
    CK_NEAR(far, box_distance(half, x), 1e-14);
    CK_NEAR(box_distance(half, nearest), 0, 1e-14);
    CK_NEAR(tl_norm(tl_sub(tl_axpy(nearest, far, n), x)), 0, 1e-14);
    CK_NEAR(tl_norm(n), 1, 1e-14);
  }
}
END_TEST

/* Against dense points of the faces. */
START_TEST(the_nearest_point_of_a_tetrahedron_is_the_nearest_of_many) {
  enum { FINE = 120 };
  Scene s;
  open_scene(&s, 1 << TETRAHEDRON);
  const TlFacets *f = tl_shapes_find(&s.shapes, TETRAHEDRON)->place->part;
  ck_assert_int_eq(f->plane_count, 4);
  for (uint64_t i = 0; i < 60; i++) {
    TlVec3 x = tl_scale(1.5, somewhere(tl_vec3(SIZE, SIZE, SIZE), i)), nearest, n;
    double far = tl_facets_nearest(f, x, &nearest, &n), least = INFINITY, height = -INFINITY;
    for (int face = 0; face < 4; face++) {
      TlVec3 a = f->corner[f->loop[face][0]], b = f->corner[f->loop[face][1]],
             c = f->corner[f->loop[face][2]];
      height = tl_max(height, tl_dot(f->normal[face], x) - f->distance[face]);
      for (int u = 0; u <= FINE; u++)
        for (int v = 0; u + v <= FINE; v++) {
          TlVec3 p = tl_axpy(a, (double)u / FINE, tl_sub(b, a));
          least = tl_min(least, tl_norm(tl_sub(x, tl_axpy(p, (double)v / FINE, tl_sub(c, a)))));
        }
    }
    ck_assert((height > 0) == (far > 0));
    if (height <= 0) {
      CK_NEAR(far, height, 1e-14);
      continue;
    }
    ck_assert(far <= least + 1e-12); /* points miss the nearest one by half their spacing */
    ck_assert(far >= sqrt(tl_max(0, least * least - 2e-4 * SIZE * SIZE)) - 1e-12);
  }
  close_scene(&s);
}
END_TEST

/* In the inner corner of a cross both arms push. */
START_TEST(a_ball_in_the_corner_of_a_cross_touches_both_arms) {
  Scene s;
  open_scene(&s, 1 << EXACT_CROSS | 1 << SPHERE);
  const double half = 0.3 * SIZE;
  for (uint64_t i = 0; i < 40; i++) {
    Pair p = {
        .a = EXACT_CROSS, .b = SPHERE, .scale_a = 1, .scale_b = 0.4, .turn = tl_test_turn(6, i)};
    p.size = 0.4 * SIZE;
    TlMat3 turn[2];
    double deep[2] = {0.01 * p.size * tl_random_uniform(8, 0, i), 0.02 * p.size};
    double z = half * (2 * tl_random_uniform(8, 1, i) - 1);
    p.shift = tl_vec3(half + p.size - deep[0], half + p.size - deep[1], 0.5 * z);
    put(&s, &p, turn);
    s.points.count = 0;
    CK_OK(tl_ball_facets(&s.bodies.colliders, 0, 1, &turn[0], &turn[1], 0.01 * p.size, &s.points));
    ck_assert_uint_eq(s.points.count, 2);
    for (size_t k = 0; k < s.points.count; k++) {
      const TlPoint *point = &s.points.point[k];
      TlVec3 n = tl_quat_rotate(tl_quat_conj(turn_of_a), point->n);
      bool x = fabs(n.x) > fabs(n.y); /* the face x = half of one arm; y = half of the other */
      CK_NEAR(point->gap, x ? -deep[0] : -deep[1], 1e-14);
      CK_NEAR(x ? n.x : n.y, -1, 1e-14); /* from b, the ball, to a */
    }
  }
  close_scene(&s);
}
END_TEST

/* What threads and ranks rely on: which pairs a thread searched before leaves no trace in its scratch. */
START_TEST(a_search_from_nothing_depends_on_its_own_pair_alone) {
  static const int kind[] = {SMOOTH, ROUGH, BOX, TETRAHEDRON};
  enum { KINDS = 4, PAIRS = 40, MOST = TL_FACET_CONTACTS };
  Scene s;
  open_scene(&s, 1 << SMOOTH | 1 << ROUGH | 1 << BOX | 1 << TETRAHEDRON);
  static TlPoint first[PAIRS][MOST];
  size_t count[PAIRS] = {0}, several = 0;
  for (int pass = 0; pass < 2; pass++) {
    tl_points_free(&s.points);
    s.points = (TlPoints){0};
    for (int i = 0; i < PAIRS; i++) {
      int n = pass == 0 ? i : PAIRS - 1 - i, k = kind[n % KINDS];
      uint64_t stream = (uint64_t)n;
      Pair p = k == ROUGH    ? rough_pair(&s, 0.2, stream)
               : k == SMOOTH ? convex_pair(&s, k, k, 1, -0.01, stream)
                             : polyhedra(&s, k, k, 1, 0.01, stream);
      by_places_anew(&s, &p);
      if (pass == 0) {
        count[n] = s.points.count;
        several += count[n] > 1;
        ck_assert(count[n] > 0 && count[n] <= MOST);
        memcpy(first[n], s.points.point, count[n] * sizeof *first[n]);
      }
      ck_assert_uint_eq(s.points.count, count[n]);
      ck_assert_mem_eq(first[n], s.points.point, count[n] * sizeof *first[n]);
    }
  }
  ck_assert_uint_ge(several, 1);
  close_scene(&s);
}
END_TEST

START_TEST(what_is_not_served_is_refused) {
  Scene s;
  open_scene(&s, ~0u);
  const TlShape *shape[SHAPES];
  for (int id = 1; id < SHAPES; id++) shape[id] = tl_shapes_find(&s.shapes, id);
  ck_assert(tl_places_serves(shape[SPHERE], shape[ROUGH]));
  ck_assert(tl_places_serves(shape[BOX], shape[TETRAHEDRON]));
  ck_assert(!tl_places_serves(shape[BOX], shape[ROUGH]));
  ck_assert(shape[SMOOTH]->place->convex && shape[ROUND]->place->convex);
  ck_assert(!shape[ROUGH]->place->convex);
  for (int id = 1; id < SHAPES; id++) {
    const TlPlaceShape *place = shape[id]->place;
    int planes = id == BOX || id == GRID_BOX || id == EXACT_CROSS ? 6 : id == TETRAHEDRON ? 4 : 0;
    ck_assert_int_eq(place->part ? place->part->plane_count : 0, planes);
  }
  close_scene(&s);
}
END_TEST

TL_TEST_MAIN("places", spheres_have_the_gap_of_their_centres,
             convex_grains_have_the_gap_of_their_support_functions,
             thin_discs_have_the_gap_of_their_support_functions,
             smooth_grains_and_polyhedra_have_the_gap_of_their_support_functions,
             smooth_grains_on_the_end_of_a_cylinder_meet_its_plane,
             grains_with_nearly_one_centre_overlap,
             a_ball_on_a_grid_touches_polyhedra_as_one_in_closed_form_does,
             rough_grains_on_boxes_are_as_deep_as_dense_points_of_both,
             rough_grains_have_the_depth_of_their_exact_surfaces,
             a_ball_in_a_hollow_touches_on_both_sides,
             a_followed_pair_costs_a_fraction_of_the_node_search,
             places_near_the_nearest_cost_less_than_all_below_the_margin,
             a_pair_followed_for_a_thousand_steps_agrees_with_a_search_from_nothing,
             a_copied_memory_continues_with_the_same_bits,
             polyhedra_have_the_depth_of_their_separating_axes,
             followed_polyhedra_agree_with_a_search_from_nothing,
             the_nearest_point_of_a_box_has_its_closed_form,
             the_nearest_point_of_a_tetrahedron_is_the_nearest_of_many,
             a_ball_in_the_corner_of_a_cross_touches_both_arms,
             a_search_from_nothing_depends_on_its_own_pair_alone, what_is_not_served_is_refused)
