/* The state has the same bits on any number of ranks, over thousands of steps of scenes in which
 * ranks share several islands at a time. The ranks are coroutines (tests/ranks/ranks.h), so that
 * four of them take no more than four times the work; tests/mpi/ has the same with MPI, and with
 * threads.
 *
 * Each scene runs on one rank, and its state is hashed every few steps; then on 3 and 4 ranks (the
 * first scene, and those of a search, on 2 as well, which tests/mpi/ has throughout), and all hashes
 * and totals must be equal. Space is cut anew every few steps, so that grains
 * migrate.
 *
 * A longer search, with scenes made up at random (not in `make check`), is set by the environment:
 *   TALUS_RANKS_SEEDS="FIRST COUNT"  scenes from these seeds, in place of the fixed ones
 *   TALUS_RANKS_STEPS=N              steps of each of them (300)
 *   TALUS_RANKS_CPU_S=S              CPU time after which the run on one rank ends, and the others
 * at its step (4) and, with either, TALUS_RANKS_LOOK=N to hash every N steps (1 names the step at
 * which states part), TALUS_RANKS_SCENE=NAME to run one scene only, TALUS_RANKS_SHOW=1 to print the
 * studies, TALUS_RANKS_VERBOSE=1 to say how each run went.
 */
#include "mpi/scene.h"

#include "base/file.h"
#include "base/par.h"
#include "ranks/machines.h"
#include "ranks/random.h"
#include "ranks/ranks.h"
#include "ranks/scene.h"
#include "run/handout.h"
#include "solve/islands.h"
#include "support/tltest.h"

static char folder[256];
static int failures;

static double setting(const char *name, double otherwise) {
  const char *text = getenv(name);
  return text ? strtod(text, NULL) : otherwise;
}

/* What a rank is given. */
typedef struct Task {
  const char *study;
  int64_t look, most_steps;
  double most_cpu_s;
  Outcome *outcome;
  int (*stop)(void *watch); /* NULL: ranks_look */
} Task;

static void run_rank(TlComm *comm, void *context) {
  const Task *task = context;
  Outcome *mine = tl_calloc(1, sizeof *mine);
  ranks_run(comm, task->study, task->look, task->most_cpu_s, task->most_steps,
            task->stop ? task->stop : ranks_look, mine);
  if (tl_comm_rank(comm) == 0) *task->outcome = *mine;
  tl_free(mine);
}

static void compare_ranks(const char *name, const char *text, int64_t look, double most_cpu_s) {
  static Outcome one, many;
  const char *only = getenv("TALUS_RANKS_SCENE");
  if (only && strcmp(only, name) != 0) return;
  if (getenv("TALUS_RANKS_SHOW")) fprintf(stderr, "%s", text);
  char *path = tl_path_join(folder, "study.yaml");
  CK_OK(tl_file_write(path, text, strlen(text), true));
  look = (int64_t)setting("TALUS_RANKS_LOOK", (double)look);
  tl_par_set_threads(1);
  /* A sanitizer looks at memory, not at bits: it need not see every step and every number of ranks.
   */
  bool sanitized = getenv("TALUS_SANITIZED");
  bool on_two = only || most_cpu_s > 0 || strcmp(name, "avalanche") == 0;
  for (int ranks = 1; ranks <= 4; ranks += sanitized || (ranks == 1 && !on_two) ? 2 : 1) {
    Layout layout = {ranks, 1};
    Task task = {.study = path,
                 .look = look,
                 .most_steps = sanitized ? 50 : 0,
                 .outcome = ranks == 1 ? &one : &many};
    if (ranks == 1)
      task.most_cpu_s = most_cpu_s;
    else if (one.status == TL_ELIMIT)
      task.most_steps = one.steps;
    double start = tl_clock_s();
    tl_ranks_run(ranks, run_rank, &task);
    ranks_say(name, &layout, task.outcome, tl_clock_s() - start);
    if (ranks > 1) failures += !ranks_same(name, &layout, look, &one, &many);
    /* whatever the grains do: no exchange within a sweep (1,013 sends and 116 collectives a rank and
     * step before islands went whole to one rank) */
    if (ranks == 2 && strcmp(name, "avalanche") == 0)
      ck_assert_msg(many.sends <= 20 && many.collectives <= 40, "%g sends, %g collectives",
                    many.sends, many.collectives);
    if (!sanitized && strncmp(name, "sleepers", 8) == 0)
      ck_assert_msg(ranks > 1 || (one.totals.sleep_J > 0 && one.status == TL_OK), "none slept");
    if (!sanitized && strstr(text, "reduction:"))
      ck_assert_msg(many.status == TL_OK && one.totals.splits > 0 &&
                        (one.totals.merges > 100 || one.totals.outside + one.totals.sunk > 0),
                    "%s: %lld splits, %lld merges, %lld left", name, (long long)one.totals.splits,
                    (long long)one.totals.merges, (long long)one.totals.outside);
    if (!sanitized && strstr(text, "sinks:"))
      ck_assert_msg(one.status == TL_OK && one.totals.sunk > 20, "%s: %lld in sinks", name,
                    (long long)one.totals.sunk);
    if (ranks > 1 && strstr(text, "joints:"))
      ck_assert_msg(many.across > (sanitized ? 20 : 50) && (sanitized || many.status == TL_OK),
                    "%s: joints lay across ranks %lld times", name, (long long)many.across);
    if (one.steps == 0) break; /* refused */
  }
  tl_free(path);
}

/* ---- fixed scenes ---- */

#define FLOOR_AND_SIDES                                                                            \
  "planes:\n- {point_m: [0, 0, 0], normal: [0, 0, 1]}\n- {point_m: [0, 0, 0], normal: [1, 0, "     \
  "0]}\n"                                                                                          \
  "- {point_m: [0.014, 0, 0], normal: [-1, 0, 0]}\n- {point_m: [0, 0, 0], normal: [0, 1, 0]}\n"    \
  "- {point_m: [0, 0.012, 0], normal: [0, -1, 0]}\n"
#define BLOCK_IN_A_BOX                                                                             \
  "grains: {shapes: [ball, egg]}\n"                                                                \
  "release: {assembly: lattice, low_m: [0.0002, 0.0002, 0.0002], high_m: [0.0138, 0.0118, 0.04], " \
  "spacing: 1.02, velocity_m_s: [0.2, 0.1, -0.5]}\n" FLOOR_AND_SIDES

/* Several islands on their way down, each with contacts on the ground; space is cut anew all the
 * time. What the collisions of one island leave must not depend on the rounds that another one
 * needs in the same group. */
static const char avalanche[] =
    "catalog: c.sqlite\n"
    "time: {dt_s: 5.0e-4, steps: 2000}\n"
    "grains: {sample: sand}\n"
    "release: {assembly: lattice, low_m: [0.01, 0.02, 0], high_m: [0.04, 0.06, 0], layers: 1, "
    "clearance_m: 5.0e-4}\n"
    "terrain: {name: slope}\n"
    "contact: {friction: 0.5, restitution: 0.2, boundary_friction: 0.6, boundary_restitution: 0.2, "
    "damping_per_s: 0.1}\n"
    "parallel: {balance_every_steps: 20, imbalance: 1}\n";

/* The same slope with nothing rough on it; who leaves it is fixed where it left, and others run
 * into those. */
static const char stopped[] =
    "catalog: c.sqlite\n"
    "outside: stop\n"
    "time: {dt_s: 5.0e-4, steps: 150}\n"
    "grains: {sample: sand}\n"
    "release: {assembly: lattice, low_m: [0.14, 0.02, 0], high_m: [0.17, 0.05, 0], layers: 2, "
    "clearance_m: 5.0e-4, velocity_m_s: [0.3, 0, 0]}\n"
    "terrain: {name: slope}\n"
    "contact: {friction: 0.3, restitution: 0.5, boundary_friction: 0.1, boundary_restitution: "
    "0.4}\n"
    "solver: {method: sqm}\n"
    "parallel: {balance_every_steps: 11, imbalance: 1}\n";

/* All contacts of an island at once, with walls that close in on some of them: islands whose
 * equations have no solution beside others in the same group. */
static const char crowd[] =
    "time: {dt_s: 5.0e-4, steps: 150}\n" RANKS_SHAPES "grains: {shapes: [brick, ball, egg]}\n"
    "release: {assembly: drawn, count: 90, low_m: [0.0005, 0.0005, 0.001], "
    "high_m: [0.0135, 0.0115, 0.020], velocity_m_s: [0.2, 0.1, -0.4]}\n"
    "planes: [{point_m: [0, 0, 0], normal: [0, 0, 1]}]\n"
    "walls:\n"
    "- {kind: box, grains: inside, size_m: [0.014, 0.012, 0.06], point_m: "
    "[0.007, 0.006, 0.029], open: [+z]}\n"
    "- {kind: box, size_m: [0.03, 0.03, 0.001], point_m: [0.007, 0.006, 0.025], velocity_m_s: "
    "[0, 0, -0.2], until_s: 0.06}\n"
    "contact: {friction: 0.4, restitution: 0.6, boundary_restitution: 0.3, tangential_restitution: "
    "0.2}\n"
    "solver: {method: smm, max_rounds: 3}\n"
    "parallel: {balance_every_steps: 9, imbalance: 1}\n";

/* A heap of mixed shapes poured over posts that never move. */
static const char heap[] =
    "time: {dt_s: 5.0e-4, steps: 250}\n" RANKS_SHAPES "grains: {shapes: [egg, ball, jack]}\n"
    "release: {assembly: poured, count: 110, low_m: [0, 0, 0.012], high_m: [0.014, 0.012, 0.02], "
    "velocity_m_s: [0, 0, -0.4]}\n"
    "bodies: [{shape: post, position_m: [0.002, 0.003, 0.001], fixed: yes, count: 4, step_m: "
    "[0.0035, "
    "0.002, 0]}]\n"
    "planes: [{point_m: [0, 0, 0], normal: [0, 0, 1]}]\n"
    "contact: {friction: 0.6, restitution: 0.3, tangential_restitution: 0.4}\n"
    "unresolved: {embedded: freeze, collisions: freeze, steps: 5, overlap_share: 0.1}\n"
    "parallel: {balance_every_steps: 17, imbalance: 1}\n";

/* Single balls on posts in a row: each pair of a ball that moves and a post that does not may lie
 * on another rank than the ball. */
static const char posts[] =
    "time: {dt_s: 5.0e-4, steps: 400}\n" RANKS_SHAPES "bodies:\n"
    "- {shape: ball, position_m: [0.0005, 0.0001, 0.006], count: 12, step_m: [0.0032, 0, 0]}\n"
    "- {shape: post, position_m: [0, 0, 0.001], fixed: yes, count: 12, step_m: [0.0032, 0, 0]}\n"
    "- {shape: ball, position_m: [0.0005, 0.0031, 0.006], count: 12, step_m: [0.0032, 0, 0]}\n"
    "- {shape: post, position_m: [0, 0.003, 0.001], fixed: yes, count: 12, step_m: [0.0032, 0, "
    "0]}\n"
    "planes: [{point_m: [0, 0, 0], normal: [0, 0, 1]}]\n"
    "contact: {friction: 0.4, restitution: 0.9, restitution_half_m_s: 0.3}\n"
    "parallel: {balance_every_steps: 7, imbalance: 1}\n";

/* Mixed sizes under a lid that comes down, turns, and is gone; energy tracking takes the resting
 * contacts, too, and gives up soon. */
static const char box[] =
    "time: {dt_s: 4.0e-4, steps: 200}\n" RANKS_SHAPES
    "grains: {shapes: [brick, ball, egg, small]}\n"
    "release: {assembly: drawn, count: 110, low_m: [0.0005, 0.0005, 0.001], "
    "high_m: [0.0135, 0.0115, "
    "0.022], velocity_m_s: [0.2, 0.1, -0.2]}\n"
    "planes: [{point_m: [0, 0, 0], normal: [0, 0, 1]}]\n"
    "walls:\n"
    "- {kind: box, grains: inside, size_m: [0.014, 0.012, 0.06], point_m: "
    "[0.007, 0.006, 0.029], open: "
    "[+z], velocity_m_s: [0.02, 0, 0]}\n"
    "- {kind: box, size_m: [0.03, 0.03, 0.001], point_m: [0.007, 0.006, "
    "0.027], velocity_m_s: [0, 0, "
    "-0.15], spin_rad_s: [0, 0, 4], until_s: 0.06}\n"
    "contact: {friction: 0.4, restitution: 0.4, damping_per_s: 1}\n"
    "solver: {rest: etm, order: plain, increments: 8, max_rounds: 3}\n"
    "unresolved: {embedded: drop, collisions: warn, steps: 10, overlap_share: 0.3}\n"
    "parallel: {balance_every_steps: 9, imbalance: 1}\n";

/* Grains that fall on a net, held at two sides, whose bonds break. */
static const char net[] =
    "time: {dt_s: 2.0e-4, steps: 50}\n" RANKS_SHAPES "grains: {shapes: [egg, ball]}\n"
    "release: {assembly: lattice, low_m: [0, 0, 0.006], high_m: [0.0139, 0.0119, 0.022], "
    "velocity_m_s: [0, 0, -0.3]}\n"
    "nets: [{corner_m: [0, 0, 0.004], along_m: [0.014, 0, 0], across_m: [0, 0.012, 0], spacing_m: "
    "1.6e-3, radius_m: 3.0e-4, mass_kg: 1.0e-6, stiffness_N_m: 0.2, tangential_stiffness_N_m: "
    "0.03, "
    "damping: 0.05, strength_N: 4.0e-4, stretch_most: 20, layers: 2, friction: 0.4, clamped: "
    "[first-row, last-column]}]\n"
    "planes: [{point_m: [0, 0, 0], normal: [0, 0, 1]}]\n"
    "contact: {friction: 0.5, restitution: 0.3}\n"
    "solver: {sides: lower}\n"
    "parallel: {balance_every_steps: 13, imbalance: 1}\n";

/* Springs in a drum that turns. */
static const char drum[] =
    "time: {dt_s: 1.0e-5, steps: 1500}\n" RANKS_SHAPES "grains: {shapes: [egg, ball, jack]}\n"
    "release: {assembly: drawn, count: 100, low_m: [0, 0, 0.003], high_m: [0.014, 0.012, 0.016], "
    "velocity_m_s: [0.2, 0, -0.4]}\n"
    "walls: [{kind: cylinder, grains: inside, axis: [0, 1, 0], radius_m: 0.011, length_m: 0.014, "
    "point_m: [0.007, 0.006, 0.009], spin_rad_s: [0, 30, 0]}]\n"
    "contact: {friction: 0.5, restitution: 0.4}\n"
    "solver: {method: penalty}\n"
    "penalty: {spread: traction, normal_N_m: 50, normal_Pa_m: 3.0e+7}\n"
    "parallel: {balance_every_steps: 50, imbalance: 1}\n";

/* Two balls on four ranks: some have none. */
static const char few[] =
    "time: {dt_s: 5.0e-4, steps: 300}\n" RANKS_SHAPES
    "bodies: [{shape: ball, position_m: [0, 0, 0.004], count: 2, step_m: [0.0021, 0, 0.0005], "
    "velocity_m_s: [0.1, 0, 0]}]\n"
    "planes: [{point_m: [0, 0, 0], normal: [0, 0, 1]}]\n"
    "parallel: {balance_every_steps: 5, imbalance: 1}\n";

/* A block of balls that falls into a box: one island of hundreds, which the ranks solve by cells. */
static const char pile[] = "time: {dt_s: 5.0e-4, steps: 60}\n" RANKS_SHAPES BLOCK_IN_A_BOX
                           "contact: {friction: 0.4, restitution: 0.3}\n"
                           "parallel: {balance_every_steps: 13, imbalance: 1}\n";

/* Two boulders on and among small balls: contacts of very different length, so several levels of
 * grids. */
static const char boulders[] =
    "time: {dt_s: 5.0e-4, steps: 50}\n"
    "shapes:\n- {name: pebble, diameter_m: 1.0e-3}\n- {name: boulder, diameter_m: 8.0e-3}\n"
    "grains: {shapes: [pebble]}\n"
    "release: {assembly: lattice, low_m: [0.0002, 0.0002, 0.0002], high_m: [0.0138, 0.0118, "
    "0.0033], "
    "spacing: 1.02, velocity_m_s: [0.1, 0, -0.3]}\n"
    "bodies: [{shape: boulder, position_m: [0.0045, 0.006, 0.0085], velocity_m_s: [0.3, 0, -1], "
    "count: "
    "2, step_m: [0.0, 0.0, 0.009]}]\n" FLOOR_AND_SIDES
    "contact: {friction: 0.4, restitution: 0.3}\n"
    "parallel: {balance_every_steps: 11, imbalance: 1}\n"
    "solver: {rest: extrapolated}\n";

/* Small islands of the nonsmooth method in a box whose wall moves: spheres that resist rolling and adhere,
 * and shapes of several points. */
static const char mill[] =
    "time: {dt_s: 2.0e-4, steps: 240}\n" RANKS_SHAPES
    "grains: {shapes: [brick, ball, egg, small]}\n"
    "release: {assembly: drawn, count: 70, low_m: [0.0005, 0.0005, 0.001], "
    "high_m: [0.0135, 0.0115, 0.020], velocity_m_s: [0.2, 0.1, -0.4]}\n"
    "planes: [{point_m: [0, 0, 0], normal: [0, 0, 1]}]\n"
    "walls:\n"
    "- {kind: box, grains: inside, size_m: [0.014, 0.012, 0.06], point_m: "
    "[0.007, 0.006, 0.029], open: [+z], velocity_m_s: [0.02, 0, 0]}\n"
    "contact: {friction: 0.4, restitution: 0.3, rolling: 0.1, twisting: 0.05, adhesion_N: 1.0e-6, "
    "adhesive_overlap_m: 2.0e-6, damping_per_s: 1}\n"
    "solver: {method: nonsmooth}\n"
    "nonsmooth: {young_Pa: 1.0e+6, overlap_share: 0.02}\n"
    "parallel: {balance_every_steps: 9, imbalance: 1}\n";

/* One island of hundreds by the nonsmooth method, which is solved by cells. */
static const char heavy[] =
    "time: {dt_s: 5.0e-4, steps: 45}\n" RANKS_SHAPES BLOCK_IN_A_BOX
    "contact: {friction: 0.4, restitution: 0.3, rolling: 0.1}\n"
    "solver: {method: nonsmooth}\n"
    "nonsmooth: {young_Pa: 1.0e+6, overlap_share: 0.02, tolerance: 1.0e-2}\n"
    "parallel: {balance_every_steps: 13, imbalance: 1}\n";

/* 300 grains by conjugate gradients, which settle in a box whose wall moves, over hundreds of steps: their dot
 * products go over the whole pile, which the ranks solve by cells of four grids. */
static const char gradients[] =
    "time: {dt_s: 5.0e-4, steps: 200}\n" RANKS_SHAPES "grains: {shapes: [ball, small]}\n"
    "release: {assembly: drawn, count: 300, low_m: [0.0005, 0.0005, 0.001], "
    "high_m: [0.0135, 0.0115, 0.036], velocity_m_s: [0.2, 0.1, -0.4]}\n"
    "planes: [{point_m: [0, 0, 0], normal: [0, 0, 1]}]\n"
    "walls:\n"
    "- {kind: box, grains: inside, size_m: [0.014, 0.012, 0.06], point_m: "
    "[0.007, 0.006, 0.029], open: [+z], velocity_m_s: [0.005, 0, 0]}\n"
    "contact: {friction: 0.4, restitution: 0.3, rolling: 0.1}\n"
    "solver: {method: nonsmooth}\n"
    "nonsmooth: {young_Pa: 1.0e+6, solver: nncg, iterations: 25, impact_iterations: 15, tolerance: "
    "1.0e-3}\n"
    "parallel: {balance_every_steps: 13, imbalance: 1}\n";

/* Machines on joints (ranks/machines.h) by every solver, and among aggregates. */
static const char machines[] = MACHINES("60", "500", "iterations: 60, impact_iterations: 30");
static const char machines_gradients[] =
    MACHINES("60", "300", "iterations: 40, impact_iterations: 20, solver: nncg");
static const char machines_merging[] =
    MACHINES("70", "400",
             "iterations: 60, impact_iterations: 30}\nreduction: {split: both, merge_in_m_s: 0.1, "
             "merge_out_m_s: 0.1, "
             "merge_tangential_m_s: 0.1, merge_rolling_rad_s: 200");

/* Grains fall on a net of two layers by implicit constraints, held at two sides, which throws them up again; in the
 * other edition its bonds break. The grains and the net are one island, of more than 256 bodies. */
#define HIT_NET(steps, strength)                                                                   \
  "time: {dt_s: 5.0e-4, steps: " steps "}\n" RANKS_SHAPES "grains: {shapes: [egg, ball, small]}\n" \
  "release: {assembly: drawn, count: 60, low_m: [0.002, 0.002, 0.0055], high_m: [0.012, 0.010, "   \
  "0.022], "                                                                                       \
  "velocity_m_s: [0.05, 0, -0.3]}\n"                                                               \
  "nets: [{corner_m: [0, 0, 0.004], along_m: [0.014, 0, 0], across_m: [0, 0.012, 0], spacing_m: "  \
  "1.2e-3, radius_m: 3.0e-4, mass_kg: 1.0e-6, stiffness_N_m: 5, tangential_stiffness_N_m: 0.5, "   \
  "damping: 0.05, strength_N: " strength ", stretch_most: 20, layers: 2, friction: 0.4, clamped: " \
  "[first-row, last-column]}]\n"                                                                   \
  "planes: [{point_m: [0, 0, 0], normal: [0, 0, 1]}]\n"                                            \
  "contact: {friction: 0.5, restitution: 0.3}\n"                                                   \
  "solver: {method: nonsmooth}\n"                                                                  \
  "nonsmooth: {young_Pa: 1.0e+6, overlap_share: 0.02, iterations: 40, impact_iterations: 20}\n"    \
  "parallel: {balance_every_steps: 13, imbalance: 1}\n"
static const char hit_net[] = HIT_NET("200", "0");
static const char torn_net[] = HIT_NET("140", "2.0e-4");

/* A cell of a triaxial test by constraints: a platen on a slider, which is loaded and then driven, a membrane under
 * pressure, whose last row the platen carries, and columns of balls. */
#define COLUMN(x, y)                                                                               \
  "- {shape: grain, position_m: [" x ", " y ", 0.0041], count: 5, step_m: [0, 0, 0.0081]}\n"
static const char cell[] =
    "time: {dt_s: 2.5e-5, duration_s: 1, frame_every_s: 0}\n"
    "gravity_m_s2: [0, 0, 0]\n"
    "shapes: [{name: grain, kind: sphere, diameter_m: 8.0e-3}]\n"
    "grains: {density_kg_m3: 2600}\n"
    "solver: {method: nonsmooth}\n"
    "nonsmooth: {dt_s: 1.0e-4, law: linear, normal_N_m: 1.0e+4, iterations: 60, impact_iterations: "
    "30}\n"
    "contact: {friction: 0.5, restitution: 0.1, boundary_friction: 0.2, boundary_restitution: 0.3, "
    "damping_per_s: 50}\n"
    "parallel: {balance_every_steps: 17, imbalance: 1}\n"
    "bodies:\n" COLUMN("-0.0081", "-0.0081") COLUMN("-0.0081", "0") COLUMN("-0.0081", "0.0081")
        COLUMN("0", "-0.0081") COLUMN("0", "0") COLUMN("0", "0.0081") COLUMN("0.0081", "-0.0081")
            COLUMN("0.0081", "0")
                COLUMN("0.0081", "0.0081") "triaxial:\n"
                                           "  radius_m: 0.016\n"
                                           "  height_m: 0.041\n"
                                           "  tilts: yes\n"
                                           "  look_every_steps: 10\n"
                                           "  membrane: {radius_m: 0.004, stiffness_N_m: 400, "
                                           "tangential_stiffness_N_m: 50, damping: 0.3, "
                                           "layers: 1}\n"
                                           "  stages:\n"
                                           "  - {kind: consolidate, pressure_Pa: 2.0e+4, ramp_s: "
                                           "2.5e-3, damping_per_s: 400, "
                                           "friction: 0.2, until_unbalanced: 0, most_s: 6.0e-3}\n"
                                           "  - {kind: shear, rate_per_s: 4, until_strain: 0.04}\n"
                                           "  - {kind: shear, rate_per_s: -4, until_strain: 0.03, "
                                           "pressure_Pa: 1.0e+4, ramp_s: 1.0e-3}\n";

/* Aggregates over several ranks: spheres, shaped grains and a body with parts in a box whose wall moves, over a post
 * that does not; others fall onto them. */
#define MERGING(iterations, release, reduction)                                                    \
  "time: {dt_s: 5.0e-4, steps: 200}\n" RANKS_SHAPES                                                \
  "grains: {shapes: [brick, ball, egg, small]}\n"                                                  \
  "release: " release "\n"                                                                         \
  "planes: [{point_m: [0, 0, 0], normal: [0, 0, 1]}]\n"                                            \
  "walls:\n"                                                                                       \
  "- {kind: box, grains: inside, size_m: [0.014, 0.012, 0.06], point_m: "                          \
  "[0.007, 0.006, 0.029], open: [+z], velocity_m_s: [0.005, 0, 0]}\n"                              \
  "bodies:\n- {shape: post, position_m: [0.006, 0.005, 0.001], fixed: yes}\n"                      \
  "- {position_m: [0.005, 0.006, 0.036], parts: [{shape: ball, position_m: [0, 0, 0]}, {shape: "   \
  "brick, position_m: [0.0015, 0, 0]}]}\n"                                                         \
  "contact: {friction: 0.5, restitution: 0.1, rolling: 0.2}\n"                                     \
  "solver: {method: nonsmooth}\n"                                                                  \
  "nonsmooth: {young_Pa: 1.0e+6, overlap_share: 0.02, iterations: " iterations                     \
  ", impact_iterations: 20}\n"                                                                     \
  "reduction: {" reduction ", merge_in_m_s: 0.02, merge_out_m_s: 0.02, merge_tangential_m_s: "     \
  "0.02, merge_rolling_rad_s: 10}\n"                                                               \
  "parallel: {balance_every_steps: 9, imbalance: 1}\n"
#define SOME                                                                                       \
  "{assembly: drawn, count: 90, low_m: [0.001, 0.0005, 0.004], high_m: [0.013, 0.0115, 0.034], "   \
  "velocity_m_s: [0, 0, -0.2]}"
#define PLATES                                                                                     \
  "{shape: plate, position_m: [-0.002, 0, 0]}, {shape: plate, position_m: [0.002, 0, 0]}"
static const char merging[] = MERGING("40", SOME, "split: both, trial_force: 0.15");
static const char anchoring[] = MERGING("40", SOME, "split: contact");
static const char loose[] =
    MERGING("40", SOME, "split: trial, trial_force: 0.15, boundaries: no, trial_velocity: yes");

/* A tray that a motor pushes along carries aggregates, and a flap at its end, on a hinge with stops, too; grains that fall
 * beside them merge on the floor. */
static const char carried[] =
    "time: {dt_s: 5.0e-4, steps: 400}\n" RANKS_SHAPES
    "- {name: plate, kind: box, size_m: [4.0e-3, 9.0e-3, 1.0e-3]}\n"
    "grains: {shapes: [ball, egg, small]}\n"
    "release: {assembly: drawn, count: 70, low_m: [0.0005, 0.0005, 0.0055], "
    "high_m: [0.0165, 0.0085, 0.019], velocity_m_s: [0, 0, -0.2]}\n"
    "planes: [{point_m: [0, 0, 0], normal: [0, 0, 1]}]\n"
    "bodies:\n"
    "- {name: tray, position_m: [0.004, 0.0045, 0.004], parts: [" PLATES "]}\n"
    "- {name: flap, position_m: [0.013, 0.0045, 0.004], parts: [" PLATES "]}\n"
    "joints:\n"
    "- {kind: slider, body: tray, point_m: [0.004, 0.0045, 0.004], axis: [1, 0, 0], "
    "motor_m_s: 0.02, motor_most_N: 1.0e-2}\n"
    "- {kind: hinge, body: flap, other: tray, point_m: [0.0085, 0.0045, 0.004], axis: [0, 1, 0], "
    "least_deg: -2, most_deg: 2}\n"
    "contact: {friction: 0.5, restitution: 0.1, rolling: 0.2}\n"
    "solver: {method: nonsmooth}\n"
    "nonsmooth: {young_Pa: 1.0e+6, overlap_share: 0.02, iterations: 40, impact_iterations: 20}\n"
    "reduction: {split: both, merge_in_m_s: 0.05, merge_out_m_s: 0.05, merge_tangential_m_s: 0.05, "
    "merge_rolling_rad_s: 40}\n"
    "parallel: {balance_every_steps: 9, imbalance: 1}\n";

/* Aggregates slide off a slope, and their grains leave one by one. */
static const char leaving[] =
    "catalog: c.sqlite\n"
    "outside: remove\n"
    "time: {dt_s: 5.0e-4, steps: 180}\n"
    "grains: {sample: sand}\n"
    "release: {assembly: lattice, low_m: [0.14, 0.02, 0], high_m: [0.17, 0.05, 0], layers: 2, "
    "clearance_m: 5.0e-4, velocity_m_s: [0.3, 0, 0]}\n"
    "terrain: {name: slope}\n"
    "contact: {friction: 0.5, restitution: 0, boundary_friction: 0.1, boundary_restitution: 0}\n"
    "solver: {method: nonsmooth}\n"
    "nonsmooth: {young_Pa: 1.0e+6, iterations: 30, impact_iterations: 20}\n"
    "reduction: {split: contact, boundaries: no, merge_in_m_s: 0.05, merge_out_m_s: 0.05, "
    "merge_tangential_m_s: 0.05, merge_rolling_rad_s: 20}\n"
    "parallel: {balance_every_steps: 11, imbalance: 1}\n";

/* Grains are poured on a belt, which carries them into a sink; those that roll off its sides leave by another. Merged
 * ones are taken out of their aggregates. */
#define BELT(belt, method)                                                                         \
  "time: {dt_s: 5.0e-4, steps: 460}\n" RANKS_SHAPES "grains: {shapes: [ball, egg, small]}\n"       \
  "release: {assembly: poured, low_m: [0.0005, 0.0005, 0.002], high_m: [0.0105, 0.0085, 0.008], "  \
  "count: 180, rate_per_s: 1000, velocity_m_s: [0, 0, -0.3]}\n"                                    \
  "walls: [" belt "]\n"                                                                            \
  "sinks:\n- {kind: box, point_m: [0.02, 0.004, 0.003], size_m: [0.01, 0.03, 0.01], "              \
  "rotation_deg: [0, 20, 0]}\n- {kind: plane, point_m: [0, -0.001, 0], normal: [0, 1, 0.1]}\n"     \
  "contact: {friction: 0.4, restitution: 0.1}\n" method                                            \
  "parallel: {balance_every_steps: 9, imbalance: 1}\n"
#define PLANE_BELT "{kind: plane, velocity_m_s: [0.15, 0, 0]}"
static const char sinks[] = BELT(PLANE_BELT, "");
static const char sinks_merging[] = BELT(
    PLANE_BELT,
    "solver: {method: nonsmooth}\n"
    "nonsmooth: {young_Pa: 1.0e+6, overlap_share: 0.02, iterations: 30, impact_iterations: 20}\n"
    "reduction: {split: contact, merge_in_m_s: 0.05, merge_out_m_s: 0.05, "
    "merge_tangential_m_s: 0.05, merge_rolling_rad_s: 40}\n");
/* The same from the end of a belt that has one. */
#define SHORT_BELT                                                                                 \
  "{kind: box, size_m: [0.016, 0.03, 0.004], point_m: [0.006, 0.004, -0.002], "                    \
  "surface_velocity_m_s: [0.15, 0, 0]}"
static const char belt_ends[] = BELT(SHORT_BELT, "");
static const char belt_ends_by_rows[] = BELT(
    SHORT_BELT, "solver: {method: nonsmooth}\nnonsmooth: {young_Pa: 1.0e+6, iterations: 30}\n");

/* Bricks in rows that lie across the ranks fall asleep; balls that come down wake some of them, one a
 * brick that lies beside a post, and a lid that comes down later the others. */
static const char sleepers[] =
    "time: {dt_s: 5.0e-4, steps: 900}\n" RANKS_SHAPES "bodies:\n"
    "- {shape: brick, position_m: [0, 0, 6.0e-4], count: 9, step_m: [2.0e-3, 0, 0]}\n"
    "- {shape: brick, position_m: [1.0e-3, 0, 1.8e-3], count: 8, step_m: [2.0e-3, 0, 0]}\n"
    "- {shape: brick, position_m: [0, 0.006, 6.0e-4], count: 5, step_m: [4.5e-3, 0, 0]}\n"
    "- {shape: post, position_m: [2.25e-3, 0.006, 1.0e-3], fixed: yes, count: 2, step_m: [4.5e-3, "
    "0, "
    "0]}\n"
    "- {shape: egg, position_m: [0, 0.012, 7.5e-4], count: 3, step_m: [2.15e-3, 0, 0]}\n"
    "- {shape: egg, position_m: [0, 0.0105, 7.5e-4], count: 3, step_m: [2.15e-3, 0, 0]}\n"
    "- {shape: ball, position_m: [0.0045, 0.0062, 0.15], velocity_m_s: [0, 0, -0.2]}\n"
    "- {shape: ball, position_m: [0.008, 0.0002, 0.3], velocity_m_s: [0, 0, -0.1]}\n"
    "planes: [{point_m: [0, 0, 0], normal: [0, 0, 1]}]\n"
    "walls: [{kind: box, size_m: [0.004, 0.01, 0.001], point_m: [0.018, 0.006, 0.021], "
    "velocity_m_s: "
    "[0, 0, -0.05], until_s: 0.388}]\n"
    "contact: {friction: 0.5, restitution: 0.2, damping_per_s: 5}\n"
    "solver: {sleep_speed: 0.01, sleep_after: 4}\n"
    "parallel: {balance_every_steps: 23, imbalance: 1}\n";

/* ---- solver.deterministic: no ---- */

enum { MOST_STEPS = 200 };
static double kinetic_J[MOST_STEPS]; /* after each step, of all ranks of the run at hand */

static int add_kinetic(void *context) {
  Watch *w = context;
  const TlBodies *b = &w->run->state->dem.bodies;
  int64_t step = w->run->state->totals.steps;
  for (int64_t i = 0; i < b->owned && step < MOST_STEPS; i++)
    kinetic_J[step] += 0.5 * (b->mass[i] * tl_dot(b->velocity[i], b->velocity[i]) +
                              tl_dot(b->momentum[i], tl_bodies_spin(b, i)));
  return ranks_look(w);
}

static Outcome faster_run(const char *path, int ranks, double kinetic[MOST_STEPS]) {
  static Outcome outcome;
  Task task = {.study = path, .look = 10, .outcome = &outcome, .stop = add_kinetic};
  memset(kinetic_J, 0, sizeof kinetic_J);
  tl_ranks_run(ranks, run_rank, &task);
  ck_assert_int_eq(outcome.status, TL_OK);
  memcpy(kinetic, kinetic_J, sizeof kinetic_J);
  return outcome;
}

static char *faster_study(const char *name, const char *scene, const char *solver) {
  char *path = tl_path_join(tl_test_folder(), name), *text = tl_format("%s%s", scene, solver);
  CK_OK(tl_file_write(path, text, strlen(text), true));
  tl_free(text);
  return path;
}

/* Blocks that fall on a floor and come apart there. */
#define DROP(shape, low, high, speed, law)                                                         \
  "time: {dt_s: 5.0e-4, steps: 60}\n" RANKS_SHAPES "grains: {shapes: [" shape "]}\n"               \
  "release: {assembly: lattice, low_m: [0, 0, " low "], high_m: " high ", spacing: 1.05, "         \
  "velocity_m_s: [0, 0, " speed "]}\nplanes: [{point_m: [0, 0, 0], normal: [0, 0, 1]}]\n"          \
  "contact: " law "\n"
static const char *const drops[] = {
    DROP("egg", "0.003", "[0.02, 0.02, 0.022]", "-0.7", "{friction: 0.5, restitution: 0.5}"),
    DROP("ball", "0.0005", "[0.018, 0.018, 0.022]", "-0.5", "{friction: 0.2, restitution: 0.2}")};

START_TEST(the_faster_mode_saves_messages_and_keeps_its_bound) {
  static Outcome one, alone, strict, fast;
  static double kinetic[MOST_STEPS], other[MOST_STEPS];
  TL_NOT_SANITIZED();
  tl_log_set("test", TL_LOG_ERROR);
  tl_par_set_threads(1);
  for (int k = 0; k < 2; k++) {
    char *yes = faster_study("yes.yaml", drops[k], "");
    char *no = faster_study("no.yaml", drops[k], "solver: {deterministic: no}\n");
    one = faster_run(yes, 1, kinetic);
    alone = faster_run(no, 1, other);
    ck_assert_mem_eq(one.hash, alone.hash, sizeof one.hash); /* on one rank nothing is cut */
    double most = 0;
    for (int i = 1; i <= one.steps; i++) most = fmax(most, kinetic[i]);
    for (int ranks = 2; ranks <= 4; ranks += 2) {
      double worst = 0;
      strict = faster_run(yes, ranks, other);
      fast = faster_run(no, ranks, other);
      for (int i = 1; i <= one.steps; i++) worst = fmax(worst, fabs(other[i] - kinetic[i]) / most);
      if (getenv("TALUS_RANKS_VERBOSE"))
        fprintf(stderr,
                "drop %d, faster, %d ranks: kinetic energy within %.4f, sends %.1f of %.1f, "
                "collectives %.1f of %.1f\n",
                k, ranks, worst, fast.sends, strict.sends, fast.collectives, strict.collectives);
      ck_assert_msg(worst < 0.02, "drop %d on %d ranks: %.4f of the kinetic energy", k, ranks,
                    worst);
      ck_assert_msg(fast.sends < 0.75 * strict.sends, "drop %d on %d ranks: %.1f of %.1f sends", k,
                    ranks, fast.sends, strict.sends);
      ck_assert_msg(fast.collectives < 0.6 * strict.collectives,
                    "drop %d on %d ranks: %.1f of %.1f collectives", k, ranks, fast.collectives,
                    strict.collectives);
      ck_assert(fast.totals.unresolved == 0 && fast.totals.overlap_share < 0.02);
    }
    tl_free(yes);
    tl_free(no);
  }
}
END_TEST

static void fixed_scenes(void) {
  compare_ranks("avalanche", avalanche, 50, 0);
  compare_ranks("stopped", stopped, 20, 0);
  compare_ranks("crowd", crowd, 10, 0);
  compare_ranks("heap", heap, 20, 0);
  compare_ranks("posts", posts, 20, 0);
  compare_ranks("box", box, 10, 0);
  compare_ranks("net", net, 20, 0);
  compare_ranks("drum", drum, 50, 0);
  compare_ranks("few", few, 20, 0);
  compare_ranks("pile", pile, 10, 0);
  compare_ranks("boulders", boulders, 10, 0);
  compare_ranks("mill", mill, 10, 0);
  compare_ranks("heavy", heavy, 5, 0);
  compare_ranks("gradients", gradients, 5, 0);
  compare_ranks("machines", machines, 5, 0);
  compare_ranks("cell", cell, 5, 0);
  compare_ranks("hit net", hit_net, 5, 0);
  compare_ranks("torn net", torn_net, 5, 0);
  compare_ranks("sleepers", sleepers, 10, 0);
  compare_ranks("merging", merging, 5, 0);
  compare_ranks("anchoring", anchoring, 5, 0);
  compare_ranks("loose", loose, 5, 0);
  compare_ranks("carried", carried, 5, 0);
  compare_ranks("leaving", leaving, 10, 0);
  compare_ranks("sinks", sinks, 10, 0);
  compare_ranks("sinks, merging", sinks_merging, 10, 0);
  compare_ranks("belt's end", belt_ends, 10, 0);
  compare_ranks("belt's end by rows", belt_ends_by_rows, 10, 0);
  /* and what goes whole to one rank, by cells */
  tl_islands_set_small(8);
  compare_ranks("sleepers by cells", sleepers, 10, 0);
  compare_ranks("stopped by cells", stopped, 20, 0);
  compare_ranks("crowd by cells", crowd, 10, 0);
  compare_ranks("box by cells", box, 10, 0);
  compare_ranks("merging by cells", merging, 10, 0);
  compare_ranks("machines by cells", machines, 5, 0);
  compare_ranks("cell by cells", cell, 5, 0);
  compare_ranks("torn net by cells", torn_net, 5, 0);
  compare_ranks("machines by gradients", machines_gradients, 5, 0);
  compare_ranks("machines, merging", machines_merging, 5, 0);
  tl_islands_set_small(0);
}

static void random_scenes(int64_t first, int64_t count) {
  static Text study;
  for (int64_t seed = first; seed < first + count; seed++) {
    char name[64];
    random_study(&study, (uint64_t)seed, (int64_t)setting("TALUS_RANKS_STEPS", 300));
    snprintf(name, sizeof name, "seed %lld", (long long)seed);
    compare_ranks(name, study.text, 10, setting("TALUS_RANKS_CPU_S", 4));
  }
}

/* ---- bodies that are handed out ---- */

typedef struct Batch {
  int64_t count, without_memory, not_finite; /* bodies, and those that fail here or on their rank */
  TlStatus said[4];
  int64_t owned;
} Batch;

static TlStatus make_one(void *context, int64_t i, TlBodies *bodies) {
  const Batch *batch = context;
  int64_t at;
  if (i == batch->without_memory) return tl_fail(TL_ENOMEM, "out of memory");
  TL_TRY(tl_bodies_add(bodies, i, 0, &at));
  bodies->rotation[at] = (TlQuat){1, 0, 0, 0};
  bodies->colliders.scale[at] = 1;
  if (i == batch->not_finite) bodies->velocity[at].x = NAN;
  return TL_OK;
}

static void hand_out_batch(TlComm *comm, void *context) {
  Batch *batch = context;
  TlBodies bodies = {0};
  int me = tl_comm_rank(comm);
  batch->said[me] = tl_hand_out(comm, me == 0 ? batch->count : 0, make_one, batch, &bodies);
  batch->owned += bodies.owned;
  tl_bodies_free(&bodies);
}

/* Whoever fails, and with whatever body, all ranks hear of it: none waits for bodies that never come. */
START_TEST(failures_of_handing_out_are_known_to_all) {
  enum { COUNT = 2900 };
  for (int ranks = 1; ranks <= 4; ranks++)
    for (int64_t bad = 100; bad < COUNT + 400; bad += 400)
      for (int there = 0; there < 2; there++) {
        Batch batch = {COUNT, there ? -1 : bad, there ? bad : -1, {TL_OK}, 0};
        if (there && bad < COUNT / ranks + 1) continue; /* rank 0's own */
        tl_ranks_run(ranks, hand_out_batch, &batch);
        for (int r = 0; r < ranks; r++)
          ck_assert_int_eq(batch.said[r], bad >= COUNT ? TL_OK : there ? TL_EINPUT : TL_ENOMEM);
        ck_assert(bad < COUNT || batch.owned == COUNT);
      }
}
END_TEST

START_TEST(the_state_does_not_depend_on_ranks) {
  long long first, count;
  snprintf(folder, sizeof folder, "%s", tl_test_folder());
  char *path = tl_path_join(folder, "c.sqlite");
  CK_OK(scene_catalog(path));
  tl_free(path);
  tl_log_set("test", TL_LOG_ERROR);
  const char *seeds = getenv("TALUS_RANKS_SEEDS");
  if (seeds && sscanf(seeds, "%lld %lld", &first, &count) == 2)
    random_scenes(first, count);
  else
    fixed_scenes();
  ck_assert_msg(failures == 0, "%d runs differ from one rank", failures);
}
END_TEST

TL_TEST_MAIN("ranks", the_state_does_not_depend_on_ranks,
             the_faster_mode_saves_messages_and_keeps_its_bound,
             failures_of_handing_out_are_known_to_all)
