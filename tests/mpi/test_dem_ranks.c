/* The step gives the same bits on any number of ranks: state and contact memory of a collapsing
 * pile against the same pile on one rank.
 * ranks: 2 3 4 */
#include "mpi/mpitest.h"

#include "base/random.h"
#include "solve/step.h"
#include "dist/dist.h"
#include "support/stepper.h"
#include "support/materials.h"
#include "support/grain_state.h"
#include "shape/superellipsoid.h"

enum { GRAINS = 48, STEPS = 30, NET_SHAPE = -5 };

static TlAvatar avatar;
static const TlAvatar *get_avatar(void *ctx, int64_t id) {
  (void)ctx;
  (void)id;
  return &avatar;
}

/* A loose block thrown against a wall: impacts, sliding, one island over all ranks, single grains.
 */
static void add_grains(TlBodies *bodies, int me, int ranks) {
  TlRandom x = {41, 0, 0};
  for (int i = 0; i < GRAINS; i++) {
    TlGrainState s;
    memset(&s, 0, sizeof s);
    s.id = (i * 29) % GRAINS;
    s.avatar_id = 3;
    s.scale = 0.7 + 0.6 * tl_random_next(&x);
    s.rotation = tl_quat_unit((TlQuat){tl_random_next_normal(&x), tl_random_next_normal(&x),
                                       tl_random_next_normal(&x), tl_random_next_normal(&x)});
    s.position = tl_vec3((i % 4) * 0.024 + 0.002 * tl_random_next(&x), (i / 4 % 4) * 0.024,
                         0.014 + (i / 16) * 0.024);
    s.velocity = tl_vec3(-1.5, 0.2 * tl_random_next_normal(&x), -0.5);
    s.momentum = tl_scale(1e-6, tl_vec3(tl_random_next_normal(&x), 1, 0));
    if (i % ranks == me) REQUIRE_OK(tl_test_add(bodies, &s));
  }
}

/* Two layers under the block: what falls stretches them, and some bonds break. */
static const TlNet net = {.first_id = 1000,
                          .shape_id = NET_SHAPE,
                          .rows = 7,
                          .columns = 6,
                          .layers = 2,
                          .corner = {-0.01, -0.01, 0.001},
                          .along = {1, 0, 0},
                          .across = {0, 1, 0},
                          .radius_m = 0.003,
                          .spacing_m = 0.016,
                          .layer_gap_m = 0.006,
                          .mass_kg = 1e-3,
                          .normal_N_m = 20,
                          .tangential_N_m = 2,
                          .damping = 0.02,
                          .strength_N = 0.03,
                          .stretch_most = 2,
                          .pressure_Pa = 30,
                          .material = TL_TEST_MATERIAL,
                          .clamped = TL_NET_FIRST_ROW | TL_NET_LAST_COLUMN};
static int with_net;

static void add_net(TlBodies *bodies, int me, int ranks) {
  int64_t n = tl_net_spheres(&net);
  REQUIRE_OK(tl_net_add(&net, bodies, n * me / ranks, n * (me + 1) / ranks));
  tl_pair_state_sort(&bodies->pairs);
}

static const TlBoundaryPlane planes[2] = {{{0, 0, 0}, {0, 0, 1}}, {{-0.02, 0, 0}, {1, 0, 0}}};

static uint64_t run(TlComm *comm, TlDist *dist, const TlSolverConfig *config, TlStepReport *last,
                    int64_t *shared_steps) {
  TlSolverConfig with_materials = *config;
  with_materials.materials = tl_test_materials(config, 0.4, 0);
  TlBoundary boundary[2] = {{&tl_boundary_plane, &planes[0]}, {&tl_boundary_plane, &planes[1]}};
  Stepper *solver;
  TlBodies bodies = {0};
  REQUIRE_OK(stepper_new(&solver, &with_materials, (TlAvatarSource){NULL, get_avatar}, boundary, 2,
                         dist ? tl_dist_sync(dist) : NULL));
  add_grains(&bodies, dist ? tl_comm_rank(comm) : 0, dist ? tl_comm_size(comm) : 1);
  if (with_net) {
    REQUIRE_OK(stepper_set_nets(solver, &net, 1));
    add_net(&bodies, dist ? tl_comm_rank(comm) : 0, dist ? tl_comm_size(comm) : 1);
  }
  for (int i = 0; i < (with_net ? 18 : STEPS); i++) {
    if (dist) {
      if (i % 10 == 0) REQUIRE_OK(tl_dist_cut(dist, &bodies));
      REQUIRE_OK(tl_dist_migrate(dist, &bodies, NULL));
      REQUIRE_OK(stepper_refresh(solver, &bodies));
      REQUIRE_OK(tl_dist_halo(dist, &bodies));
    }
    REQUIRE_OK(stepper_step(solver, &bodies, last));
    *shared_steps += bodies.total > bodies.owned;
    if (dist) tl_bodies_drop_ghosts(&bodies);
  }
  uint64_t hash;
  REQUIRE_OK(tl_bodies_hash(&bodies, &hash));
  tl_bodies_free(&bodies);
  stepper_free(solver);
  return hash;
}

static void compare(TlComm *comm, const TlSolverConfig *config) {
  TlStepReport one, many;
  int64_t shared = 0, none = 0, sum;
  uint64_t alone = run(comm, NULL, config, &one, &none), mine;
  TlDist *dist;
  REQUIRE_OK(tl_dist_new(&dist, comm));
  mine = run(comm, dist, config, &many, &shared);
  memcpy(&sum, &mine, sizeof sum);
  REQUIRE_OK(tl_comm_sum_int(comm, &sum, 1));
  memcpy(&mine, &sum, sizeof mine);
  REQUIRE(shared > STEPS / 2, "only %lld steps had ghosts", (long long)shared);
  REQUIRE(one.contacts == many.contacts && one.islands == many.islands &&
              one.rest_sweeps == many.rest_sweeps && one.rounds == many.rounds,
          "contacts %lld %lld, islands %lld %lld, sweeps %lld %lld", (long long)one.contacts,
          (long long)many.contacts, (long long)one.islands, (long long)many.islands,
          (long long)one.rest_sweeps, (long long)many.rest_sweeps);
  int64_t neighbour[TL_NET_NEIGHBOURS], all = 0;
  for (int64_t i = 0; i < tl_net_spheres(&net); i++) all += tl_net_neighbours(&net, i, neighbour);
  REQUIRE(one.net_bonds == many.net_bonds &&
              (!with_net || (one.net_bonds > 50 && one.net_bonds < all / 2)),
          "bonds %lld %lld of %lld", (long long)one.net_bonds, (long long)many.net_bonds,
          (long long)all / 2);
  REQUIRE(mine == alone, "hash %016llx, on one rank %016llx", (unsigned long long)mine,
          (unsigned long long)alone);
  tl_dist_free(dist);
}

static void same_bits_on_any_rank_count(TlComm *comm) {
  REQUIRE_OK(tl_avatar_superellipsoid(0.012, 0.009, 0.008, 0.8, 0.9, 0.001, 300, &avatar));
  TlSolverConfig config = tl_test_config();
  config.step_s = 2e-3;
  compare(comm, &config);
  config.impulses.rest = TL_REST_ETM;
  config.impulses.order = TL_ORDER_PLAIN;
  config.damping_per_s = 1;
  compare(comm, &config);
  config = tl_test_config();
  config.step_s = 2e-3;
  config.search.edges = TL_EDGES_REFINE;
  compare(comm, &config);
  config = tl_test_config();
  config.step_s = 1e-3;
  with_net = 1;
  compare(comm, &config);
  tl_avatar_free(&avatar);
}

static int64_t collectives(const TlComm *comm) {
  return tl_comm_counters(comm).collectives;
}

/* The derived fields cost one exchange a step, before the ghosts are chosen; a step of the penalty
 * method has two agreements on failure, and two exchanges for its report. */
static void few_exchanges_a_step(TlComm *comm) {
  REQUIRE_OK(tl_avatar_superellipsoid(0.012, 0.009, 0.008, 0.8, 0.9, 0.001, 300, &avatar));
  TlSolverConfig config = tl_test_config();
  config.step_s = 1e-6;
  config.method = TL_PENALTY;
  config.search.sides = TL_SIDES_LOWER;
  config.penalty.spread = TL_SPREAD_DEEPEST;
  TL_TEST_SET(&config, TL_TEST_BOTH, stiffness.normal_N_m, 1e3);
  TlBoundary boundary[2] = {{&tl_boundary_plane, &planes[0]}, {&tl_boundary_plane, &planes[1]}};
  Stepper *solver;
  TlDist *dist;
  TlBodies bodies = {0};
  REQUIRE_OK(tl_dist_new(&dist, comm));
  REQUIRE_OK(stepper_new(&solver, &config, (TlAvatarSource){NULL, get_avatar}, boundary, 2,
                         tl_dist_sync(dist)));
  add_grains(&bodies, tl_comm_rank(comm), tl_comm_size(comm));
  for (int i = 0; i < 3; i++) {
    if (i == 0) REQUIRE_OK(tl_dist_cut(dist, &bodies));
    REQUIRE_OK(tl_dist_migrate(dist, &bodies, NULL));
    int64_t start = collectives(comm);
    REQUIRE_OK(stepper_refresh(solver, &bodies));
    REQUIRE(collectives(comm) - start == 1, "the derived fields took %lld exchanges",
            (long long)(collectives(comm) - start));
    REQUIRE_OK(tl_dist_halo(dist, &bodies));
    start = collectives(comm);
    REQUIRE_OK(stepper_step(solver, &bodies, NULL));
    REQUIRE(collectives(comm) - start == 4, "the step took %lld exchanges",
            (long long)(collectives(comm) - start));
    for (int64_t g = bodies.owned; g < bodies.total; g++)
      REQUIRE(bodies.colliders.shape[g] && bodies.mass[g] > 0, "ghost %lld has no mass",
              (long long)g);
  }
  tl_bodies_free(&bodies);
  stepper_free(solver);
  tl_dist_free(dist);
  tl_avatar_free(&avatar);
}

static void all(TlComm *comm) {
  same_bits_on_any_rank_count(comm);
  few_exchanges_a_step(comm);
}

MPI_TEST_MAIN(all)
