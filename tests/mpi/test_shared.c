/* Ranks of a machine hold shapes in common: each is made once a machine, and the bits are those of ranks that make
 * their own. Two ranks are taken for a machine, so several machines are tried.  ranks: 1 2 4 */
#include "mpi/mpitest.h"
#include "mpi/scene.h"

#include "base/file.h"
#include "base/log.h"
#include "model/elements.h"
#include "model/place_shape.h"
#include "run/run.h"
#include "support/tltest.h"

static char folder[256];

/* ---- blocks ---- */

enum { BLOCKS = 40, PART = 3 };

static void fill(unsigned char *block, int64_t id, size_t bytes) {
  for (size_t i = 0; i < bytes; i++) block[i] = (unsigned char)(i * 7 + (size_t)id);
}

static size_t bytes_of(int64_t id) {
  return 5000 + 300 * (size_t)(id + BLOCKS);
}

/* Ask for all, make what is to be made. Numbers of blocks that were had in common. */
static int take_all(TlShared *shared, bool wait) {
  int had = 0;
  for (int64_t id = -BLOCKS / 2; id < BLOCKS / 2; id++) {
    const void *block;
    TlSharedAnswer answer = tl_shared_ask(shared, id, PART, wait, &block);
    if (answer == TL_SHARED_MAKE) {
      unsigned char *made = tl_shared_reserve(shared, id, PART, bytes_of(id));
      if (!made) continue;
      fill(made, id, bytes_of(id));
      block = tl_shared_publish(shared, id, PART);
      answer = TL_SHARED_THERE;
    }
    if (answer != TL_SHARED_THERE) continue;
    unsigned char *wanted = tl_calloc(bytes_of(id), 1);
    REQUIRE(wanted, "memory");
    fill(wanted, id, bytes_of(id));
    REQUIRE(memcmp(wanted, block, bytes_of(id)) == 0, "block %lld", (long long)id);
    tl_free(wanted);
    had++;
  }
  return had;
}

static void release_all(TlShared *shared) {
  for (int64_t id = -BLOCKS / 2; id < BLOCKS / 2; id++) tl_shared_release(shared, id, PART);
}

/* Sums over the ranks of this machine. */
static int64_t sum_here(TlComm *comm, int64_t mine) {
  int64_t all[64], sum = 0;
  REQUIRE_OK(tl_comm_gather_node(comm, &mine, all, sizeof mine));
  for (int r = 0; r < tl_comm_node_size(comm); r++) sum += all[r];
  return sum;
}

static void blocks_are_made_once(TlComm *comm) {
  TlShared *shared;
  REQUIRE_OK(tl_shared_open(&shared, comm, BLOCKS));
  if (tl_comm_size(comm) == 1) REQUIRE(!shared, "one rank alone has nobody to share with");
  if (tl_comm_size(comm) == 1) return;
  REQUIRE(shared && tl_shared_ranks(shared) == tl_comm_node_size(comm), "machines of two ranks");
  REQUIRE(tl_shared_ranks(shared) == 2, "%d ranks", tl_shared_ranks(shared));
  take_all(shared, false); /* some are the other's; taken once more below */
  int had = take_all(shared, true);
  REQUIRE(had == BLOCKS, "%d blocks", had);
  REQUIRE(sum_here(comm, tl_shared_counters(shared).made) == BLOCKS, "not made once");
  int64_t held = tl_shared_counters(shared).held_bytes;
  REQUIRE(held >= BLOCKS * 5000 && held < BLOCKS * 32000, "%lld bytes", (long long)held);
  tl_shared_close(shared);
}

static void blocks_go_when_nobody_uses_them(TlComm *comm) {
  TlShared *shared;
  if (tl_comm_size(comm) == 1) return;
  REQUIRE_OK(tl_shared_open(&shared, comm, BLOCKS));
  REQUIRE(take_all(shared, true) == BLOCKS, "blocks");
  tl_comm_barrier(comm);
  if (tl_shared_rank(shared) == 0) release_all(shared);
  tl_comm_barrier(comm);
  tl_shared_drop_unused(shared);
  tl_comm_barrier(comm);
  REQUIRE(tl_shared_counters(shared).held_bytes > 0, "the other rank uses them");
  tl_comm_barrier(comm);
  if (tl_shared_rank(shared) == 1) release_all(shared);
  tl_comm_barrier(comm);
  tl_shared_drop_unused(shared);
  tl_comm_barrier(comm);
  REQUIRE(tl_shared_counters(shared).held_bytes == 0, "nobody uses them");
  tl_comm_barrier(comm);
  REQUIRE(take_all(shared, true) == BLOCKS, "made again");
  tl_comm_barrier(comm);
  REQUIRE(sum_here(comm, tl_shared_counters(shared).made) == 2 * BLOCKS, "not made once more");
  tl_shared_close(shared);
}

static void blocks_that_find_no_place_are_refused(TlComm *comm) {
  TlShared *shared;
  bool warned = false;
  if (tl_comm_size(comm) == 1) return;
  tl_log_set("test", TL_LOG_ERROR);
  tl_shared_limit(BLOCKS * 5000);
  REQUIRE_OK(tl_shared_open(&shared, comm, BLOCKS));
  int had = take_all(shared, true);
  REQUIRE(had > 0 && had < BLOCKS, "%d blocks", had);
  tl_comm_barrier(comm);
  REQUIRE_OK(tl_shared_warn(shared, comm, &warned));
  REQUIRE(warned, "the memory is full, and nobody says so");
  tl_shared_close(shared);
  tl_shared_limit(0);
  REQUIRE_OK(tl_shared_open(&shared, comm, BLOCKS));
  REQUIRE(!shared, "there is none");
  tl_shared_limit(-1);
  tl_log_set("test", TL_LOG_WARN);
}

/* ---- runs ---- */

/* Shapes of the study on grids and shapes of the catalog, some not convex; all have elements. */
static const char traction_study[] =
    "catalog: c.sqlite\n"
    "time: {dt_s: 1.0e-5, steps: 60}\n"
    "shapes:\n"
    "- {name: jack, kind: cross, length_m: 3.0e-3, width_m: 1.0e-3, gridded: yes}\n"
    "- {name: nut, kind: superellipsoid, size_m: [3.0e-3, 2.0e-3, 2.4e-3], exponent_e: 0.6, "
    "exponent_n: 0.5}\n"
    "grains: {sample: sand, shapes: [jack, nut]}\n"
    "release: {assembly: lattice, low_m: [0, 0, 0], high_m: [0.012, 0.012, 0.009], velocity_m_s: "
    "[0.3, 0.15, -0.4]}\n"
    "planes: [{point_m: [0, 0, 0], normal: [0, 0, 1]}]\n"
    "solver: {method: penalty}\n"
    "penalty: {spread: traction, normal_Pa_m: 2.0e+8, normal_N_m: 150}\n"
    "parallel: {balance_every_steps: 7, imbalance: 1}\n";

/* On ground, by impulses, with fewer nodes; grains leave it, so that shapes go. */
static const char slope_study[] = "catalog: c.sqlite\n"
                                  "time: {dt_s: 1.0e-3, steps: 35}\n" SCENE_SLOPE_RELEASE
                                  "parallel: {balance_every_steps: 7, imbalance: 1}\n";

/* Bytes of the large arrays that a rank holds of its own, in a run that shares or not. */
static int64_t own_bytes(const TlRun *run) {
  const TlShapes *shapes = run->model->dem->shapes;
  int64_t bytes = 0;
  for (size_t i = 0; i < run->model->avatars.count; i++) {
    const TlAvatar *a = run->model->avatars.avatar[i];
    if (!a->borrowed) bytes += (int64_t)a->nx * a->ny * a->nz * 4;
  }
  for (int64_t i = 0; i < run->model->shapes.count; i++) {
    const TlAvatar *a = &run->model->shapes.avatar[i];
    if (!a->borrowed) bytes += (int64_t)a->nx * a->ny * a->nz * 4;
  }
  for (size_t i = 0; i < shapes->count; i++) {
    const TlShape *s = shapes->shape[i];
    if (!s->avatar) continue;
    if (!s->borrowed) bytes += (int64_t)s->sphere_count * (int64_t)sizeof *s->sphere;
    if (s->place && s->place->elements && !s->place->elements->borrowed)
      bytes += s->place->elements->count * (int64_t)sizeof *s->place->elements->element;
  }
  return bytes;
}

typedef struct Outcome {
  uint64_t hash;
  int64_t own_bytes, made, most; /* blocks made on this machine; as many as there can be */
} Outcome;

static Outcome run_on(TlComm *comm, const char *study) {
  TlRun run;
  Outcome o;
  TlRunOptions options = {.study = study, .no_output = true};
  REQUIRE_OK(tl_run_open(&run, comm, &options));
  REQUIRE_OK(tl_run_go(&run));
  REQUIRE_OK(tl_run_hash(&run, &o.hash));
  const TlModel *dem = run.model->dem;
  o.own_bytes = own_bytes(&run);
  o.made = sum_here(comm, tl_shared_counters(run.model->shared).made);
  o.most = 8 * (dem->search.elements ? 3 : 2) + run.model->setup.shapes.count * 3;
  if (run.model->shared) REQUIRE(tl_shared_counters(run.model->shared).held_bytes > 0, "none held");
  tl_run_close(&run);
  return o;
}

/* `again`: shapes that were dropped may be made once more. */
static void shapes_are_shared(TlComm *comm, const char *name, const char *text, bool again) {
  char *path = write_text(comm, folder, name, text);
  Outcome shared = run_on(comm, path), alone = shared;
  if (tl_comm_size(comm) == 1) {
    REQUIRE(shared.made == 0 && shared.own_bytes > 0, "one rank alone shares nothing");
    tl_free(path);
    return;
  }
  REQUIRE(shared.own_bytes == 0, "%lld bytes of its own", (long long)shared.own_bytes);
  REQUIRE(shared.made > 0 && (again || shared.made <= shared.most), "%lld blocks made for %lld",
          (long long)shared.made, (long long)shared.most);
  tl_log_set("test", TL_LOG_ERROR); /* that nothing is shared is a warning */
  tl_shared_limit(0);
  alone = run_on(comm, path);
  REQUIRE(alone.made == 0 && alone.own_bytes > 0, "%lld made", (long long)alone.made);
  REQUIRE(alone.hash == shared.hash, "%s: the state differs where shapes are shared", name);
  tl_shared_limit(200000);
  Outcome some = run_on(comm, path);
  REQUIRE(some.made > 0, "none had in common");
  REQUIRE(some.own_bytes > 0, "all had in common");
  REQUIRE(some.hash == shared.hash, "%s: the state differs where some are shared", name);
  tl_shared_limit(-1);
  tl_log_set("test", TL_LOG_WARN);
  if (tl_comm_rank(comm) == 0)
    REQUIRE(run_on(NULL, path).hash == shared.hash, "%s: the state differs from one rank's", name);
  tl_comm_barrier(comm);
  tl_free(path);
}

static void body(TlComm *comm) {
  if (tl_comm_rank(comm) == 0) {
    snprintf(folder, sizeof folder, "%s", tl_test_folder());
    char *path = tl_path_join(folder, "c.sqlite");
    REQUIRE_OK(scene_catalog(path));
    tl_free(path);
  }
  REQUIRE_OK(tl_comm_broadcast(comm, folder, sizeof folder, 0));
  tl_log_set("test", TL_LOG_WARN);
  blocks_are_made_once(comm);
  blocks_go_when_nobody_uses_them(comm);
  blocks_that_find_no_place_are_refused(comm);
  shapes_are_shared(comm, "traction.yaml", traction_study, false);
  shapes_are_shared(comm, "slope.yaml", slope_study, true);
}

int main(int argc, char **argv) {
  TlComm *comm;
  setenv("TALUS_NODE_RANKS", "2", 1);
  if (tl_comm_start(&comm, &argc, &argv) != TL_OK) return 1;
  body(comm);
  tl_comm_stop(comm);
  return 0;
}
