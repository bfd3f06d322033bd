/* Cuts, migration and halo of moving points against what every rank can work out by itself.
 * ranks: 1 2 3 4 8 */
#include "mpi/mpitest.h"
#include "support/grain_state.h"

#include "base/mem.h"
#include "base/random.h"
#include "dist/dist.h"

enum { BODIES = 1000, STEPS = 6 };

/* The oracle: body i at step t, a pure function. A cloud that drifts, turns inside out, and has a
 * few far flyers; sizes 1:8. */
static TlVec3 where(int64_t id, int step) {
  uint64_t i = (uint64_t)id;
  double t = 0.3 * step, spread = id % 100 == 7 ? 5 : 1;
  TlVec3 x = {tl_random_normal(5, 1, i), tl_random_normal(5, 2, i), tl_random_normal(5, 3, i)};
  TlVec3 v = {tl_random_normal(5, 4, i), tl_random_normal(5, 5, i), tl_random_normal(5, 6, i)};
  TlVec3 p = tl_axpy(tl_scale(spread, x), t, v);
  return tl_vec3(p.x + 3 * t, p.y, 0.3 * p.z);
}
static double reach_of(int64_t id) {
  return 0.02 + 0.14 * pow(tl_random_uniform(5, 7, (uint64_t)id), 4);
}

/* Every 20th body is joined to one that lies anywhere; several kinds, and one row to the world. */
enum { JOINED = 20 };
static int64_t partner(int64_t id) {
  return (id + BODIES / 2 + 7 * (id / JOINED)) % BODIES;
}

static void join(TlBodies *bodies, int64_t first, int64_t end) {
  for (int64_t id = 0; id < BODIES; id += JOINED) {
    int64_t other = partner(id), low = id < other ? id : other, high = id < other ? other : id;
    bool here = (low >= first && low < end) || (high >= first && high < end);
    TlWeld weld = {.low = low, .high = high, .number = id, .turn = {1, 0, 0, 0}};
    TlDistance distance = {.low = low, .high = high, .number = id, .most = 100};
    TlHinge world = {.low = low, .high = -1, .number = id, .axis_low = {0, 0, 1}};
    if (here && id % (2 * JOINED)) REQUIRE_OK(tl_pair_state_add(&bodies->pairs, TL_WELDS, &weld));
    if (here) REQUIRE_OK(tl_pair_state_add(&bodies->pairs, TL_DISTANCES, &distance));
    if (low >= first && low < end) REQUIRE_OK(tl_pair_state_add(&bodies->pairs, TL_HINGES, &world));
  }
}

/* Whoever owns one end has the constraint, and the other end among its bodies; the owners of the
 * low ids count each once. */
static void joined_bodies_know_each_other(TlComm *comm, const TlBodies *b) {
  static unsigned char here[BODIES]; /* 1: a ghost, 2: owned */
  int64_t counted = 0, wanted = 0;
  size_t count;
  memset(here, 0, sizeof here);
  for (int64_t i = 0; i < b->total; i++) here[b->id[i]] = i < b->owned ? 2 : 1;
  for (int64_t id = 0; id < BODIES; id += JOINED, wanted++) {
    int64_t other = partner(id), low = id < other ? id : other, high = id < other ? other : id;
    const TlDistance *d =
        tl_pair_rows_find(&b->pairs.of[TL_DISTANCES], TL_DISTANCES, low, high, &count);
    bool ours = here[low] == 2 || here[high] == 2;
    REQUIRE((d != NULL) == ours, "constraint %lld", (long long)id);
    if (!ours) continue;
    REQUIRE(d->most == 100 && here[low] && here[high], "bodies %lld and %lld", (long long)low,
            (long long)high);
    counted += here[low] == 2;
  }
  REQUIRE_OK(tl_comm_sum_int(comm, &counted, 1));
  REQUIRE(counted == wanted, "%lld of %lld", (long long)counted, (long long)wanted);
}

static void start(TlBodies *bodies, int me, int ranks) {
  for (int64_t id = me * BODIES / ranks; id < (me + 1) * BODIES / ranks; id++) {
    TlGrainState s = {
        .id = id, .avatar_id = id % 7, .scale = 1 + (double)id, .rotation = {1, 0, 0, 0}};
    s.position = where(id, 0);
    s.momentum = tl_vec3((double)id, 0, 0);
    REQUIRE_OK(tl_test_add(bodies, &s));
  }
  /* each body remembers a boundary, and its elder neighbour */
  for (int64_t i = 0; i < bodies->owned; i++) {
    int64_t id = bodies->id[i];
    TlImpulse wall = {id, -1, 1, {(double)id, 0, 0}}, elder = {id - 1, id, 2, {0, (double)id, 0}};
    TlImpulse younger = {id, id + 1, 2, {0, (double)id + 1, 0}};
    REQUIRE_OK(tl_pair_state_add(&bodies->pairs, TL_IMPULSES, &wall));
    if (id > 0) REQUIRE_OK(tl_pair_state_add(&bodies->pairs, TL_IMPULSES, &elder));
    if (id + 1 < BODIES) REQUIRE_OK(tl_pair_state_add(&bodies->pairs, TL_IMPULSES, &younger));
  }
  join(bodies, me * BODIES / ranks, (me + 1) * BODIES / ranks);
  tl_pair_state_sort(&bodies->pairs);
}

static uint64_t hash_all(TlComm *comm, const TlBodies *bodies) {
  uint64_t hash;
  REQUIRE_OK(tl_bodies_hash(bodies, &hash));
  int64_t sum;
  memcpy(&sum, &hash, 8); /* adds modulo 2^64 on every machine Open MPI runs on */
  REQUIRE_OK(tl_comm_sum_int(comm, &sum, 1));
  memcpy(&hash, &sum, 8);
  return hash;
}

static void each_body_is_owned_once(TlDist *dist, const TlBodies *b) {
  int64_t sums[3] = {b->owned, 0, 0};
  for (int64_t i = 0; i < b->owned; i++) {
    REQUIRE(tl_domain_owner(&dist->domain, b->position[i]) == tl_comm_rank(dist->comm),
            "body %lld is not at home", (long long)b->id[i]);
    sums[1] += b->id[i];
    sums[2] += b->id[i] * b->id[i];
    REQUIRE(b->colliders.scale[i] == 1 + (double)b->id[i], "body %lld changed",
            (long long)b->id[i]);
  }
  REQUIRE_OK(tl_comm_sum_int(dist->comm, sums, 3));
  int64_t n = BODIES;
  REQUIRE(sums[0] == n && sums[1] == n * (n - 1) / 2 && sums[2] == n * (n - 1) * (2 * n - 1) / 6,
          "%lld bodies", (long long)sums[0]);
}

static void touches_came_along(const TlBodies *b) {
  for (int64_t i = 0; i < b->owned; i++) {
    size_t count;
    int64_t id = b->id[i];
    const TlImpulse *t = tl_pair_rows_find(&b->pairs.of[TL_IMPULSES], TL_IMPULSES, id, -1, &count);
    REQUIRE(count == 1 && t->impulse.x == (double)id, "body %lld, %zu", (long long)id, count);
    if (id == 0) continue;
    t = tl_pair_rows_find(&b->pairs.of[TL_IMPULSES], TL_IMPULSES, id - 1, id, &count);
    REQUIRE(count == 1 && t->impulse.y == (double)id, "pair %lld, %zu", (long long)id, count);
  }
}

static void ghosts_are_all_there(TlComm *comm, const TlBodies *b, int step) {
  static unsigned char here[BODIES]; /* the oracle may know all bodies */
  static TlVec3 all[BODIES];
  memset(here, 0, sizeof here);
  for (int64_t id = 0; id < BODIES; id++) all[id] = where(id, step);
  for (int64_t i = 0; i < b->total; i++) {
    TlVec3 p = all[b->id[i]];
    REQUIRE(!here[b->id[i]], "body %lld is here twice", (long long)b->id[i]);
    here[b->id[i]] = 1;
    REQUIRE(memcmp(&p, &b->position[i], sizeof p) == 0, "body %lld", (long long)b->id[i]);
    REQUIRE(b->momentum[i].x == (double)b->id[i], "body %lld", (long long)b->id[i]);
  }
  for (int64_t i = 0; i < b->owned; i++)
    for (int64_t id = 0; id < BODIES; id++) {
      double reach = reach_of(b->id[i]) + reach_of(id);
      if (tl_norm2(tl_sub(b->position[i], all[id])) <= reach * reach)
        REQUIRE(here[id], "body %lld misses %lld", (long long)b->id[i], (long long)id);
    }
  REQUIRE(tl_comm_size(comm) > 1 || b->total == BODIES, "%lld", (long long)b->total);
}

static void forwarded_values_are_the_owners(const TlDist *dist, const TlBodies *b) {
  const TlSync *sync = tl_dist_sync(dist);
  TlVec3 *field;
  int32_t *small;
  REQUIRE_OK(TL_NEW(field, (size_t)b->total));
  REQUIRE_OK(TL_NEW(small, (size_t)b->total));
  for (int64_t i = 0; i < b->owned; i++) {
    field[i] = tl_scale(2, b->position[i]);
    small[i] = (int32_t)(3 * b->id[i]);
  }
  REQUIRE_OK(tl_sync_forward(sync, field, sizeof *field));
  REQUIRE_OK(tl_sync_forward(sync, small, sizeof *small));
  for (int64_t i = 0; i < b->total; i++) {
    REQUIRE(field[i].y == 2 * b->position[i].y, "body %lld", (long long)b->id[i]);
    REQUIRE(small[i] == (int32_t)(3 * b->id[i]), "body %lld", (long long)b->id[i]);
  }
  tl_free(field);
  tl_free(small);
}

static void hooks_reduce(const TlDist *dist) {
  int me = tl_comm_rank(dist->comm), ranks = tl_comm_size(dist->comm), flag = me == ranks - 1;
  double v[2] = {-me, me};
  const TlSync *sync = tl_dist_sync(dist);
  REQUIRE_OK(tl_sync_any(sync, &flag));
  REQUIRE(flag == 1, "%d", flag);
  REQUIRE_OK(tl_sync_least(sync, v, 2));
  REQUIRE(v[0] == 1 - ranks && v[1] == 0, "%g %g", v[0], v[1]);
  v[0] = 1;
  REQUIRE_OK(tl_sync_sum(sync, v, 1));
  REQUIRE(v[0] == ranks, "%g", v[0]);
}

/* No array as long as all bodies, no collective that could carry one number a body. */
static void memory_is_this_ranks_share(const TlDist *dist) {
  TlDistCounters c = tl_dist_counters(dist);
  if (tl_comm_size(dist->comm) < 8) return;
  REQUIRE(c.largest_array < BODIES, "an array has %lld elements", (long long)c.largest_array);
  REQUIRE(c.comm.largest_collective_bytes < BODIES * 8, "a collective of %lld bytes",
          (long long)c.comm.largest_collective_bytes);
}

static void body(TlComm *comm) {
  TlDist *dist;
  TlBodies b = {0};
  double ratio;
  REQUIRE_OK(tl_dist_new(&dist, comm));
  start(&b, tl_comm_rank(comm), tl_comm_size(comm));
  for (int step = 0; step < STEPS; step++) {
    for (int64_t i = 0; i < b.owned; i++) b.position[i] = where(b.id[i], step);
    tl_bodies_drop_ghosts(&b);
    uint64_t before = hash_all(comm, &b);
    if (step % 3 == 0) REQUIRE_OK(tl_dist_cut(dist, &b));
    REQUIRE_OK(tl_dist_migrate(dist, &b, NULL));
    REQUIRE(hash_all(comm, &b) == before, "state changed on the way in step %d", step);
    REQUIRE_OK(tl_dist_imbalance(dist, &b, &ratio));
    REQUIRE(step % 3 != 0 || ratio < 1.03, "imbalance %g", ratio);
    for (int64_t i = 0; i < b.owned; i++) b.halo[i] = reach_of(b.id[i]);
    REQUIRE_OK(tl_dist_halo(dist, &b));
    each_body_is_owned_once(dist, &b);
    touches_came_along(&b);
    ghosts_are_all_there(comm, &b, step);
    joined_bodies_know_each_other(comm, &b);
    forwarded_values_are_the_owners(dist, &b);
  }
  hooks_reduce(dist);
  memory_is_this_ranks_share(dist);
  tl_bodies_free(&b);
  tl_dist_free(dist);
}
MPI_TEST_MAIN(body)
