/* Contacts between nodes (edges.h): cubes that meet edge on edge, half an interval of nodes from
 * the nearest node. */
#include "support/stepper.h"
#include "support/materials.h"
#include "support/placed.h"
#include "support/tltest.h"

#include "base/par.h"
#include "base/random.h"
#include "solve/step.h"
#include "shape/superellipsoid.h"

enum { CLOSED = 1, GRID = 2 };
static const double SIDE = 0.02;

static TlAvatar cube; /* with nodes as far apart as the closed form's: six intervals an edge */
static const TlAvatar *get_avatar(void *ctx, int64_t id) {
  (void)ctx;
  return id == GRID ? &cube : NULL;
}

typedef struct Fall {
  TlVec3 momentum, turning; /* changes, over the start's momentum (times the side) */
  double energy;            /* relative change */
  double deepest;           /* of any step, over the side */
  double away;              /* end velocity of the upper cube over the start's */
  uint64_t hash;
} Fall;

static Stepper *solver;
static TlBodies bodies;

static TlVec3 momentum(void) {
  TlVec3 sum = {0, 0, 0};
  for (int i = 0; i < 2; i++) sum = tl_axpy(sum, bodies.mass[i], bodies.velocity[i]);
  return sum;
}

static TlVec3 turning(void) {
  TlVec3 sum = {0, 0, 0};
  for (int i = 0; i < 2; i++)
    sum = tl_add(
        sum, tl_add(bodies.momentum[i],
                    tl_scale(bodies.mass[i], tl_cross(bodies.position[i], bodies.velocity[i]))));
  return sum;
}

static double energy(void) {
  double sum = 0;
  for (int i = 0; i < 2; i++)
    sum += 0.5 * (bodies.mass[i] * tl_norm2(bodies.velocity[i]) +
                  tl_dot(bodies.momentum[i], tl_bodies_spin(&bodies, i)));
  return sum;
}

/* Overlap of the two middle edges: while the cubes have not turned the height tells it. */
static double depth(void) {
  return SIDE * sqrt(2) - (bodies.position[1].z - bodies.position[0].z);
}

/* Cubes of SIDE / scale. */
static void solver_open(const TlSolverConfig *config, double scale) {
  double side = SIDE / scale;
  CK_OK(tl_avatar_box(0.5 * side, 0.5 * side, 0.5 * side, 0.001 / scale, 218, &cube));
  CK_OK(stepper_new(&solver, config, (TlAvatarSource){NULL, get_avatar}, NULL, 0, NULL));
  CK_OK(stepper_add_closed(solver, CLOSED, tl_closed_kind("box"), (double[]){side, side, side}));
}

/* The upper cube comes down on the lower one without gravity, e = 1, no friction; edges along x and
 * y, the crossing half an interval off the middle of either edge. */
static Fall fall(int64_t shape, TlEdges edges, double scale, int threads) {
  TlSolverConfig config = tl_test_config();
  config.search.edges = edges;
  config.gravity_m_s2 = tl_vec3(0, 0, 0);
  TL_TEST_SET(&config, TL_TEST_GRAIN, restitution, 1);
  TL_TEST_SET(&config, TL_TEST_GRAIN, friction, 0);
  config.step_s = 2e-4;
  config.impulses.impact_threshold_m_s = 0;
  tl_par_set_threads(threads);
  solver_open(&config, scale);
  bodies = (TlBodies){0};
  TlVec3 v = {0, 0, -0.2};
  tl_test_put(&bodies, shape, tl_vec3(SIDE / 12, 0, 0),
              tl_quat_from_rotation(tl_vec3(M_PI / 4, 0, 0)), tl_vec3(0, 0, 0));
  tl_test_put(&bodies, shape, tl_vec3(0, SIDE / 12, SIDE * (sqrt(2) + 0.002)),
              tl_quat_from_rotation(tl_vec3(0, M_PI / 4, 0)), v);
  bodies.colliders.scale[0] = bodies.colliders.scale[1] = scale;
  CK_OK(stepper_refresh(solver, &bodies));
  TlVec3 p = momentum(), l = turning();
  double start = energy(), size = tl_norm(p);
  Fall f = {.deepest = -1};
  for (int i = 0; i < 30; i++) {
    CK_OK(stepper_step(solver, &bodies, NULL));
    f.deepest = fmax(f.deepest, depth() / SIDE);
  }
  f.momentum = tl_scale(1 / size, tl_sub(momentum(), p));
  f.turning = tl_scale(1 / (size * SIDE), tl_sub(turning(), l));
  f.energy = energy() / start - 1;
  f.away = bodies.velocity[1].z / v.z;
  CK_OK(tl_bodies_hash(&bodies, &f.hash));
  stepper_free(solver);
  tl_bodies_free(&bodies);
  tl_avatar_free(&cube);
  return f;
}

START_TEST(nodes_alone_let_crossing_edges_sink_in) {
  for (int64_t shape = CLOSED; shape <= GRID; shape++) {
    Fall f = fall(shape, TL_EDGES_NODES, 1, 1);
    /* the nearest node meets a face that falls by 1 in 1: one twelfth of the side */
    ck_assert_msg(f.deepest > 0.04, "deepest %g of the side", f.deepest);
  }
}
END_TEST

/* Found before they touch, so no step ends with an overlap beyond the slop (1e-3 r = 8.7e-4 of the
 * side) and what a grid's normals are off. */
START_TEST(refined_edges_meet_where_they_cross) {
  for (int64_t shape = CLOSED; shape <= GRID; shape++) {
    Fall f = fall(shape, TL_EDGES_REFINE, 1, 1);
    ck_assert_msg(f.deepest < 2e-3, "deepest %g of the side", f.deepest);
    ck_assert_msg(f.away < 0.95, "not pushed back: %g", f.away);
    CK_NEAR(f.energy, 0, 1e-9);
    CK_NEAR(tl_norm(f.momentum), 0, 1e-12);
    CK_NEAR(tl_norm(f.turning), 0, 1e-10);
  }
}
END_TEST

START_TEST(refined_edges_give_the_same_bits_for_any_threads) {
  Fall one = fall(GRID, TL_EDGES_REFINE, 1, 1), three = fall(GRID, TL_EDGES_REFINE, 1, 3);
  ck_assert(one.hash == three.hash);
  ck_assert(one.hash != fall(GRID, TL_EDGES_NODES, 1, 1).hash);
}
END_TEST

/* Small shapes drawn large, and the other way round, move as those that need no scale. */
START_TEST(refined_edges_follow_the_scale) {
  for (int64_t shape = CLOSED; shape <= GRID; shape++) {
    Fall plain = fall(shape, TL_EDGES_REFINE, 1, 1);
    for (double scale = 0.25; scale <= 4; scale *= 16) { /* powers of two: nothing is rounded */
      Fall scaled = fall(shape, TL_EDGES_REFINE, scale, 1);
      CK_NEAR(scaled.deepest, plain.deepest, 1e-12);
      CK_NEAR(scaled.away, plain.away, 1e-9);
    }
  }
}
END_TEST

/* Depth of two cubes in closed form, by the fifteen axes that can part boxes; < 0: apart. */
static double cubes_depth(void) {
  TlMat3 m[2] = {tl_quat_matrix(bodies.rotation[0]), tl_quat_matrix(bodies.rotation[1])};
  TlVec3 edge[2][3], axis[15], apart = tl_sub(bodies.position[1], bodies.position[0]);
  int count = 0;
  for (int i = 0; i < 2; i++)
    for (int k = 0; k < 3; k++)
      axis[count++] = edge[i][k] = tl_vec3(m[i].m[0][k], m[i].m[1][k], m[i].m[2][k]);
  for (int k = 0; k < 9; k++) {
    TlVec3 n = tl_cross(edge[0][k / 3], edge[1][k % 3]);
    if (tl_norm(n) > 1e-3) axis[count++] = tl_unit(n);
  }
  double least = INFINITY;
  for (int k = 0; k < count; k++) {
    double reach = 0;
    for (int e = 0; e < 6; e++) reach += 0.5 * SIDE * fabs(tl_dot(axis[k], edge[e / 3][e % 3]));
    least = fmin(least, reach - fabs(tl_dot(axis[k], apart)));
  }
  return least;
}

static TlVec3 random_vec(TlRandom *r, double size) {
  return tl_scale(
      size, tl_vec3(tl_random_next_normal(r), tl_random_next_normal(r), tl_random_next_normal(r)));
}

/* One step in which the upper cube, turning by 0.5 to 1.2, comes from a place apart to one where,
 * not stopped, its edge would cross the lower one's half an interval from the nearest node, 5% of r
 * deep: depth at the end, over r; INFINITY: it does not come from apart. */
static double swing(int64_t shape, double step_s, TlRandom *r) {
  TlVec3 turn = tl_scale(0.5 + 0.7 * tl_random_next(r), tl_unit(random_vec(r, 1)));
  TlVec3 v = random_vec(r, 0.3), end = {0, SIDE / 12, SIDE * (sqrt(2) - 0.05 * sqrt(0.75))};
  TlQuat back = tl_quat_from_rotation(tl_scale(-1, turn));
  bodies = (TlBodies){0};
  tl_test_put(&bodies, shape, tl_vec3(SIDE / 12, 0, 0),
              tl_quat_from_rotation(tl_vec3(M_PI / 4, 0, 0)), tl_vec3(0, 0, 0));
  tl_test_put(&bodies, shape, tl_axpy(end, -step_s, v),
              tl_quat_mul(back, tl_quat_from_rotation(tl_vec3(0, M_PI / 4, 0))), v);
  CK_OK(stepper_refresh(solver, &bodies));
  tl_bodies_set_spin(&bodies, 1, tl_scale(1 / step_s, turn));
  double depth = INFINITY;
  if (cubes_depth() < 0) {
    CK_OK(stepper_step(solver, &bodies, NULL));
    depth = cubes_depth() / bodies.radius[0];
  }
  tl_bodies_free(&bodies);
  return depth;
}

enum { SWINGS = 2500 };
static double deepest_swing(int64_t shape, TlEdges edges, int *from_apart) {
  TlSolverConfig config = tl_test_config();
  TlRandom r = {9, 0, 0};
  config.search.edges = edges;
  config.gravity_m_s2 = tl_vec3(0, 0, 0);
  config.step_s = 1e-3;
  solver_open(&config, 1);
  double deepest = -INFINITY;
  *from_apart = 0;
  for (int i = 0; i < SWINGS; i++) {
    double depth = swing(shape, config.step_s, &r);
    if (depth == INFINITY) continue;
    deepest = fmax(deepest, depth);
    ++*from_apart;
  }
  stepper_free(solver);
  tl_avatar_free(&cube);
  return deepest;
}

/* The step's contacts, those of its start, are not where the edges come to cross, and there no node
 * lies inside: the look at the end poses has to see it. It lets 5 slops be, 5e-3 r, and the grid is
 * off by 1e-3 of the diameter at edges; without the look, or with nodes alone, they end deeper. */
START_TEST(edges_that_turn_fast_do_not_end_inside_each_other) {
  const double most = 5e-3 + 2e-3;
  int swings;
  for (int64_t shape = CLOSED; shape <= GRID; shape++) {
    double deepest = deepest_swing(shape, TL_EDGES_REFINE, &swings);
    ck_assert_msg(deepest < most, "deepest %g of the radius", deepest);
    ck_assert_msg(swings > SWINGS / 10, "%d swings", swings);
  }
  double alone = deepest_swing(GRID, TL_EDGES_NODES, &swings);
  ck_assert_msg(alone > most, "nodes alone: %g of the radius", alone);
}
END_TEST

TL_TEST_MAIN("edges", nodes_alone_let_crossing_edges_sink_in, refined_edges_meet_where_they_cross,
             refined_edges_give_the_same_bits_for_any_threads, refined_edges_follow_the_scale,
             edges_that_turn_fast_do_not_end_inside_each_other)
