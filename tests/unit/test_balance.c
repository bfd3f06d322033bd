/* Ranks share the work of steps, by counts: what the one with most does stays near the mean, in scenes where the
 * grains that cost much lie in a sheet, in a front that runs on, far apart, or are too few for all ranks. Each
 * scene also runs with balancing switched off, and must then be as uneven as it was before there was any: a test
 * that passes either way would not notice that balancing has silently stopped. In a heap at rest it is the cells of
 * its sweeps that are cut.
 *
 * The ranks are coroutines (tests/ranks/ranks.h). TALUS_BALANCE_VERBOSE=1 says what came out,
 * TALUS_BALANCE_SCENE=NAME runs one scene only. */
#include "ranks/cost.h"

#include "base/file.h"
#include "base/par.h"
#include "dist/cells.h"
#include "support/tltest.h"

#define SHAPES                                                                                     \
  "shapes: [{name: pebble, kind: superellipsoid, size_m: [1.2e-2, 1.0e-2, 8.0e-3], exponent_e: "   \
  "0.8, exponent_n: 0.8, spacing_m: 1.0e-3, nodes: 100}]\n"                                        \
  "contact: {friction: 0.5, restitution: 0.2}\n"                                                   \
  "planes: [{point_m: [0, 0, 0], normal: [0, 0, 1]}]\n"

typedef struct Scene {
  const char *name, *text;
  int ranks;
  int64_t from, steps;
  double most,
      without; /* worst rank over the mean: at most; and at least where nothing is balanced */
} Scene;

static const Scene scenes[] = {
    /* all contacts at the bottom of a layer that falls on a floor; one island of several ranks */
    {"layer",
     "time: {dt_s: 5.0e-4, duration_s: 1}\n" SHAPES
     "grains: {shapes: [pebble]}\nrelease: {assembly: lattice, low_m: [0, 0, 0], high_m: [0.22, "
     "0.22, 0.24], spacing: "
     "1.05, velocity_m_s: [0, 0, -0.5]}\n",
     8, 25, 20, 1.3, 1.6},
    /* the same by penalty forces, whose work is in the search */
    {"layer by penalty",
     "time: {dt_s: 2.0e-5, duration_s: 1}\n" SHAPES
     "solver: {method: penalty}\npenalty: {spread: nodes, normal_N_m: 1.0e+3}\n"
     "grains: {shapes: [pebble]}\nrelease: {assembly: lattice, low_m: [0, 0, 0], high_m: [0.22, "
     "0.22, 0.24], spacing: "
     "1.05, velocity_m_s: [0, 0, -5]}\n",
     8, 45, 20, 1.25, 1.35},
    /* a block that slides into a wall: the front of impacts runs back through it */
    {"front",
     "time: {dt_s: 5.0e-4, duration_s: 1}\n" SHAPES
     "walls: [{kind: box, size_m: [0.02, 0.2, 0.4], point_m: [0.31, 0.03, 0.1]}]\n"
     "grains: {shapes: [pebble]}\nrelease: {assembly: lattice, low_m: [0, 0, 0], high_m: [0.3, "
     "0.06, 0.06], spacing: 1.1, "
     "velocity_m_s: [2, 0, -0.1]}\n",
     4, 45, 60, 1.4, 1.5},
    /* grains that each lie alone, of which only a third touch anything */
    {"sparse",
     "time: {dt_s: 5.0e-4, duration_s: 1}\n" SHAPES "bodies:\n"
     "- {shape: pebble, position_m: [0, 0, 0.005], count: 300, step_m: [0.02, 0, 0]}\n"
     "- {shape: pebble, position_m: [10, 1, 5], count: 600, step_m: [0.014, 0, 0]}\n",
     8, 45, 60, 1.3, 1.6},
};

static Cost run(const Scene *scene, const char *path, const char *set) {
  char *sets[] = {(char *)(uintptr_t) "parallel.balance_every_steps=10", (char *)(uintptr_t)set};
  Cost c = {.path = path,
            .sets = {.items = sets, .count = set ? 2 : 1},
            .from = scene->from,
            .steps = scene->steps,
            .ranks = scene->ranks};
  ck_assert_msg(cost_run(&c), "%s: %s", scene->name, tl_message());
  if (getenv("TALUS_BALANCE_VERBOSE"))
    fprintf(
        stderr,
        "%s%s: %lld grains on %d ranks, worst %.3f of the mean, waiting %.2f, %lld cuts, %lld of "
        "cells\n",
        scene->name, set ? " without" : "", (long long)c.grains, c.ranks, cost_worst(&c),
        cost_waiting(&c), (long long)c.cuts, (long long)c.cell_cuts);
  return c;
}

static char *write_study(const char *name, const char *text) {
  char *path = tl_path_join(tl_test_folder(), name);
  CK_OK(tl_file_write(path, text, strlen(text), true));
  return path;
}

static void share_work(const Scene *scene) {
  char *path = write_study("study.yaml", scene->text);
  Cost with = run(scene, path, NULL), without = run(scene, path, "parallel.imbalance=1e6");
  double worst = cost_worst(&with), worst_without = cost_worst(&without);
  ck_assert_msg(with.hash == without.hash, "%s: the state depends on the cuts", scene->name);
  ck_assert_msg(with.cuts + with.cell_cuts > without.cuts + without.cell_cuts,
                "%s: space was not cut anew", scene->name);
  ck_assert_msg(worst <= scene->most, "%s: the rank with most work has %.3f of the mean",
                scene->name, worst);
  ck_assert_msg(worst_without >= scene->without, "%s: unbalanced it is even, too: %.3f",
                scene->name, worst_without);
  cost_free(&with);
  cost_free(&without);
  tl_free(path);
}

START_TEST(work_is_shared) {
  TL_NOT_SANITIZED();
  tl_log_set("test", TL_LOG_ERROR);
  tl_par_set_threads(1);
  const char *only = getenv("TALUS_BALANCE_SCENE");
  for (size_t k = 0; k < sizeof scenes / sizeof *scenes; k++)
    if (!only || strcmp(only, scenes[k].name) == 0) share_work(&scenes[k]);
}
END_TEST

/* A heap of balls that touch in rows, columns and layers: 10 x 10 cells of the first grid in one layer. */
static void write_heap(char *text, size_t size, const char *method) {
  const double apart = 9.999e-3;
  int rows = 40, layers = 4;
  size_t at = (size_t)snprintf(text, size,
                               "time: {dt_s: 5.0e-4, duration_s: 1}\n"
                               "shapes: [{name: ball, diameter_m: 1.0e-2}]\n"
                               "contact: {friction: 0.5, restitution: 0.2}\n"
                               "planes: [{point_m: [0, 0, 0], normal: [0, 0, 1]}]\n"
                               "%s"
                               "bodies:\n",
                               method);
  for (int row = 0; row < rows * layers && at < size; row++)
    at += (size_t)snprintf(text + at, size - at,
                           "- {shape: ball, position_m: [0, %.9g, %.9g], count: %d, step_m: "
                           "[%.9g, 0, 0]}\n",
                           apart * (row % rows), apart * (0.5 + row / rows), rows, apart);
  ck_assert_uint_lt(at, size);
}

/* Where cells go by the cuts of the bodies, the rank with most of twelve has 1.24 of the mean. */
START_TEST(a_heap_at_rest) {
  TL_NOT_SANITIZED();
  static char text[32768];
  const Scene scene = {"heap", text, 12, 2, 4, 1.12, 1.2},
              by_constraints = {"heap by constraints", text, 12, 2, 4, 1.12, 1.2};
  tl_log_set("test", TL_LOG_ERROR);
  tl_par_set_threads(1);
  write_heap(text, sizeof text, "");
  share_work(&scene);
  write_heap(text, sizeof text,
             "solver: {method: nonsmooth}\nnonsmooth: {young_Pa: 1.0e+7, iterations: 10}\n");
  share_work(&by_constraints);
}
END_TEST

enum { SIDE = 9, PLANE = SIDE * SIDE, PARTS = 27, EACH = PLANE / PARTS };

static TlSweepCell cell_of_plane(int k) {
  return (TlSweepCell){.at = {4 * (k % SIDE) - 10, 4 * (k / SIDE) + 7, 2}};
}

/* Equal cells of one plane. owners: of each of them, which all ranks find alike; -1: not known yet. */
static void part_a_plane(TlComm *comm, void *owners) {
  int me = tl_comm_rank(comm), *owner = owners;
  TlDomain bodies = {0};
  TlCellCuts cuts = {0};
  TlWeight weight[EACH];
  TlSweepCell cell[EACH];
  for (int i = 0; i < EACH; i++) {
    int k = EACH * me + i;
    cell[i] = cell_of_plane(k);
    weight[i] = (TlWeight){tl_vec3(k % SIDE, k / SIDE, 0), 1, TL_WEIGHT_BODY};
  }
  CK_OK(tl_domain_cut(&bodies, comm, weight, EACH));
  CK_OK(tl_cell_cuts_make(&cuts, comm, &bodies, cell, EACH));
  for (int k = 0; k < PLANE; k++) {
    TlSweepCell here = cell_of_plane(k);
    double box[6];
    int rank = tl_cell_cuts_owner(&cuts, &here);
    tl_cell_cuts_region(&cuts, rank, box);
    for (int a = 0; a < 3; a++)
      ck_assert(box[a] <= (double)here.at[a] && (double)here.at[a] <= box[3 + a]);
    if (owner[k] < 0) owner[k] = rank;
    ck_assert_int_eq(owner[k], rank);
  }
  tl_cell_cuts_free(&cuts);
  tl_domain_free(&bodies);
}

/* 27 ranks have three of 9 x 9 cells each: no plane between them halves 81 as 13 ranks stand to 14. */
START_TEST(cells_of_a_plane) {
  int owner[PLANE], cells[PARTS] = {0};
  for (int k = 0; k < PLANE; k++) owner[k] = -1;
  tl_ranks_run(PARTS, part_a_plane, owner);
  for (int k = 0; k < PLANE; k++) cells[owner[k]]++;
  for (int r = 0; r < PARTS; r++) ck_assert_int_eq(cells[r], EACH);
}
END_TEST

/* More ranks than grains: most have none, and parts of space are thinner than contacts reach. */
static const char few[] =
    "time: {dt_s: 5.0e-4, duration_s: 1}\n" SHAPES
    "bodies:\n- {shape: pebble, position_m: [0, 0, 0.006], count: 5, step_m: [0.011, 0, 0.002]}\n";

START_TEST(ranks_without_grains) {
  const Scene scene = {"few", few, 16, 25, 40, 0, 0};
  tl_log_set("test", TL_LOG_ERROR);
  tl_par_set_threads(1);
  char *path = write_study("few.yaml", few);
  Cost c = run(&scene, path, NULL);
  int with_grains = 0;
  for (int r = 0; r < c.ranks; r++) with_grains += c.most_grains[r] > 0;
  ck_assert_msg(with_grains < c.ranks && with_grains > 1, "%d ranks ever had grains", with_grains);
  cost_free(&c);
  tl_free(path);
}
END_TEST

TL_TEST_MAIN("balance", work_is_shared, a_heap_at_rest, cells_of_a_plane, ranks_without_grains)
