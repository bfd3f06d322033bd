/* A triaxial cell as a study has it: the same bits on any number of ranks and after a stop, and
 * what must hold of its figures.  ranks: 1 2 */
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "mpi/mpitest.h"
#include "mpi/same.h"
#include "run/run.h"
#include "support/tltest.h"

#include <math.h>

static char folder[256];

#define SPRINGS "solver: {method: penalty}\npenalty: {spread: deepest, normal_N_m: 1.0e+4}\n"
#define CONSTRAINTS                                                                                \
  "solver: {method: nonsmooth}\n"                                                                  \
  "nonsmooth: {dt_s: 1.0e-4, law: linear, normal_N_m: 1.0e+4, iterations: 100, "                   \
  "impact_iterations: 30}\n"
/* 45 balls in columns, squeezed. */
#define CELL(STEP, SOLVER)                                                                         \
  "time: {dt_s: 2.5e-5, duration_s: 1, frame_every_s: 0, history_every_s: 5.0e-4, "                \
  "constraint_forces: all}\n"                                                                      \
  "gravity_m_s2: [0, 0, 0]\n"                                                                      \
  "shapes: [{name: ball, kind: sphere, diameter_m: 8.0e-3}]\n"                                     \
  "bodies:\n"                                                                                      \
  "- {shape: ball, position_m: [-0.0081, -0.0081, 0.0041], count: 5, step_m: " STEP "}\n"          \
  "- {shape: ball, position_m: [-0.0081, 0, 0.0041], count: 5, step_m: " STEP "}\n"                \
  "- {shape: ball, position_m: [-0.0081, 0.0081, 0.0041], count: 5, step_m: " STEP "}\n"           \
  "- {shape: ball, position_m: [0, -0.0081, 0.0041], count: 5, step_m: " STEP "}\n"                \
  "- {shape: ball, position_m: [0, 0, 0.0041], count: 5, step_m: " STEP "}\n"                      \
  "- {shape: ball, position_m: [0, 0.0081, 0.0041], count: 5, step_m: " STEP "}\n"                 \
  "- {shape: ball, position_m: [0.0081, -0.0081, 0.0041], count: 5, step_m: " STEP "}\n"           \
  "- {shape: ball, position_m: [0.0081, 0, 0.0041], count: 5, step_m: " STEP "}\n"                 \
  "- {shape: ball, position_m: [0.0081, 0.0081, 0.0041], count: 5, step_m: " STEP "}\n" SOLVER     \
  "contact: {friction: 0.5, restitution: 0.1, boundary_friction: 0.2, damping_per_s: 50}\n"        \
  "parallel: {balance_every_steps: 97, imbalance: 1}\n"                                            \
  "triaxial:\n"                                                                                    \
  "  radius_m: 0.016\n"                                                                            \
  "  height_m: 0.041\n"                                                                            \
  "  tilts: yes\n"                                                                                 \
  "  membrane: {radius_m: 0.004, stiffness_N_m: 400, tangential_stiffness_N_m: 50, damping: "      \
  "0.3}\n"                                                                                         \
  "  stages:\n"                                                                                    \
  "  - {kind: consolidate, pressure_Pa: 2.0e+4, ramp_s: 1.2e-2, damping_per_s: 400, "              \
  "until_unbalanced: 1.0e-3, until_kinetic_share: 1.0e-3, most_s: 0.06, "

/* A simple cubic packing sheared: up, back by a stress, held. */
static const char cell_study[] = CELL(
    "[0, 0, 0.0081]", SPRINGS) "friction: 0.2}\n"
                               "  - {kind: shear, rate_per_s: 1, until_strain: 6.0e-3}\n"
                               "  - {kind: shear, rate_per_s: -1, until_deviatoric_Pa: 1.0e+3}\n"
                               "  - {kind: hold, least_s: 1.0e-3}\n";

/* The same by constraints, in larger steps. */
static const char constraints_study[] =
    CELL("[0, 0, 0.0081]", CONSTRAINTS) "friction: 0.2}\n"
                                        "  - {kind: shear, rate_per_s: 1, until_strain: 6.0e-3}\n"
                                        "  - {kind: hold, least_s: 1.0e-3}\n";

/* Columns that lean stand at 0.796 with their friction, go down to 0.54 without, and shall stop in
 * between. */
#define LEANING CELL("[8.0e-4, 4.0e-4, 0.0081]", SPRINGS)
static const char relaxed_study[] = LEANING "friction: 0, void_ratio: 0.74}\n"
                                            "  - {kind: hold, least_s: 1.0e-3}\n";
static const char denser_study[] = LEANING "friction: 0, void_ratio: 0.9}\n";
static const char looser_study[] = LEANING "friction: 0.45, void_ratio: 0.6}\n";

static int count_down(void *context) {
  return --*(int64_t *)context == 0;
}

/* The state's hash at the end, and what was counted. stop_after 0: to the end. */
static uint64_t go(TlComm *comm, const char *study, const char *output, bool resume,
                   int64_t stop_after, Counts *counts) {
  TlRun run;
  uint64_t hash;
  TlRunOptions options = {.study = study,
                          .output = output,
                          .resume = resume,
                          .overwrite = !resume,
                          .stop = stop_after ? count_down : NULL,
                          .stop_context = &stop_after};
  bool stops = stop_after > 0;
  REQUIRE_OK(tl_run_open(&run, comm, &options));
  TlStatus status = tl_run_go(&run);
  REQUIRE(status == (stops ? TL_ELIMIT : TL_OK), "%s", tl_message());
  REQUIRE(stops || tl_apparatus_finished(&run), "step %lld", (long long)run.state->totals.steps);
  REQUIRE(run.state->totals.outside == 0, "%lld are out", (long long)run.state->totals.outside);
  REQUIRE_OK(tl_run_hash(&run, &hash));
  *counts = counts_of(&run);
  tl_run_close(&run);
  return hash;
}

static char *in_folder(const char *name) {
  return tl_path_join(folder, name);
}

/* Every column of the tables but the last (CPU time, kind of the stage or constraint), every field of
 * the frames. */
static void same_results(const char *a, const char *b) {
  REQUIRE(compare_table(a, b, "triaxial.csv", 0) == 0 &&
              compare_table(a, b, "constraint.csv", 0) == 0 && compare_history(a, b, 0) == 0 &&
              compare_frames(a, b) == 0,
          "%s and %s differ", a, b);
}

/* ---- what the figures say ---- */

typedef struct Line { /* of triaxial.csv, in its order */
  double time_s, step, stage, height, volume, axial_strain, volume_strain, axial, radial, q, p, phi,
      void_ratio, inertia, unbalanced, kinetic, platen, base, tilt, grains, escaped, solid,
      membrane, piston, pressure, elastic, friction, viscous, drag, net, net_damping, balance_error;
} Line;
enum { VALUES = sizeof(Line) / sizeof(double) };

static Line line_of(const char *text) {
  double value[VALUES];
  char *at;
  for (int i = 0; i < VALUES; i++) {
    value[i] = strtod(text, &at);
    text = at + 1;
  }
  Line line;
  memcpy(&line, value, sizeof line);
  return line;
}

/* The first line of this stage, or the last before it. */
static Line find(const char *results, int stage, bool before) {
  char *path = tl_path_join(results, "triaxial.csv"), *text;
  size_t size;
  Line found = {0};
  REQUIRE_OK(tl_file_read(path, &text, &size));
  char *row = strchr(text, '\n') + 1;
  for (; *row; row = strchr(row, '\n') + 1) {
    Line line = line_of(row);
    if (line.stage >= stage && !before) found = line;
    if (line.stage >= stage) break;
    if (before) found = line;
  }
  tl_free(text);
  tl_free(path);
  return found;
}

static void figures(const char *results) {
  const double R = 0.016, r = 0.004, ball = M_PI * 0.008 * 0.008 * 0.008 / 6;
  Line first = find(results, 1, false), squeezed = find(results, 2, true),
       sheared = find(results, 3, true), back = find(results, 4, true),
       end = find(results, 5, true);
  /* at the start: the prisms' volume, its cylinder less the spheres' radius */
  REQUIRE(fabs(first.height / 0.041 - 1) < 1e-12, "%.17g", first.height);
  REQUIRE(fabs(first.solid / (45 * ball) - 1) < 1e-12, "%g", first.solid);
  REQUIRE(fabs(first.volume / (M_PI * R * R * 0.041) - 1) < 0.08, "%g", first.volume);
  REQUIRE(first.membrane < M_PI * (R + r) * (R + r) * 0.041, "%g", first.membrane);
  REQUIRE(fabs(first.void_ratio - (first.volume / first.solid - 1)) < 1e-12, "%g",
          first.void_ratio);
  /* squeezed: the platen bears the cell's pressure, the base what the platen bears; no friction on
   * the membrane and no weight */
  REQUIRE(fabs(squeezed.axial / 2e4 - 1) < 0.03, "%g Pa", squeezed.axial);
  REQUIRE(fabs(squeezed.radial / 2e4 - 1) < 0.1, "%g Pa", squeezed.radial);
  REQUIRE(fabs(squeezed.base / squeezed.platen - 1) < 0.03, "%g %g", squeezed.base,
          squeezed.platen);
  REQUIRE(squeezed.axial_strain == 0 && squeezed.volume_strain == 0, "%g", squeezed.axial_strain);
  /* sheared: as far as told, stiffer than nothing; energy is kept to 0.2% of what the piston did, and
   * of all that was put in (the balls were thrown together to begin with) */
  REQUIRE(fabs(sheared.axial_strain - 6e-3) < 1e-3, "%g", sheared.axial_strain);
  REQUIRE(sheared.q > squeezed.q + 2e3, "%g Pa", sheared.q);
  REQUIRE(fabs(sheared.q - (sheared.axial - sheared.radial)) < 1e-6, "%g", sheared.q);
  REQUIRE(sheared.inertia > 0, "%g", sheared.inertia);
  double work = fabs(end.pressure) + fabs(end.piston), piston = sheared.piston - squeezed.piston;
  REQUIRE(fabs(end.balance_error) < 0.002 * work, "balance_error %g J of %g", end.balance_error,
          work);
  REQUIRE(piston > 0 && fabs(sheared.balance_error - squeezed.balance_error) < 0.002 * piston,
          "%g J of %g", sheared.balance_error - squeezed.balance_error, piston);
  REQUIRE(back.axial_strain < sheared.axial_strain, "%g", back.axial_strain);
  REQUIRE(back.q < sheared.q, "%g %g", back.q, sheared.q);
  REQUIRE(fabs(end.height / back.height - 1) < 2e-3, "%g %g", end.height, back.height);
  REQUIRE(end.grains == 45 && end.escaped == 0, "%g", end.grains);
}

/* Whole; stopped twice; on one rank. */
static void same_bits(TlComm *comm, const char *text, int64_t first_stop, int64_t second_stop,
                      void (*check)(const char *results)) {
  char *study = in_folder("cell.yaml"), *whole = in_folder("whole.run"),
       *parts = in_folder("parts.run"), *one = in_folder("one.run");
  TlStatus status = TL_OK;
  if (tl_comm_rank(comm) == 0) status = tl_file_write(study, text, strlen(text), true);
  REQUIRE_OK(tl_comm_agree(comm, status));
  Counts counts, others;
  uint64_t hash = go(comm, study, whole, false, 0, &counts);
  if (tl_comm_size(comm) < 4) {
    go(comm, study, parts, false, first_stop, &others);
    go(comm, parts, NULL, true, second_stop, &others);
    REQUIRE(go(comm, parts, NULL, true, 0, &others) == hash, "the state differs after stops");
    REQUIRE(go(comm, parts, NULL, true, 0, &others) == hash, "a finished test is run further");
    REQUIRE(compare_counts(&counts, &others) == 0, "what the run counts differs after stops");
    if (tl_comm_rank(comm) == 0) same_results(whole, parts);
  }
  if (tl_comm_rank(comm) == 0 && tl_comm_size(comm) > 1) {
    REQUIRE(go(NULL, study, one, false, 0, &others) == hash, "the state differs on one rank");
    same_results(whole, one);
  }
  if (tl_comm_rank(comm) == 0) check(whole);
  tl_comm_barrier(comm);
  tl_free(study);
  tl_free(whole);
  tl_free(parts);
  tl_free(one);
}

static void relaxed(const char *results) {
  Line squeezed = find(results, 2, true);
  REQUIRE(fabs(squeezed.void_ratio - 0.74) < 0.02, "%g", squeezed.void_ratio);
  REQUIRE(squeezed.time_s < 0.055, "%g s", squeezed.time_s); /* at rest, not by most_s */
}

static void squeezed_by_constraints(const char *results) {
  Line squeezed = find(results, 2, true), sheared = find(results, 3, true);
  REQUIRE(fabs(squeezed.axial / 2e4 - 1) < 0.05, "%g Pa", squeezed.axial);
  REQUIRE(fabs(sheared.axial_strain - 6e-3) < 1e-3, "%g", sheared.axial_strain);
  REQUIRE(sheared.q > squeezed.q + 2e3, "%g Pa", sheared.q);
}

static void another_void_ratio(TlComm *comm, const char *text, const char *message) {
  char *study = in_folder("other.yaml"), *output = in_folder("other.run");
  TlRun run;
  TlRunOptions options = {.study = study, .output = output, .overwrite = true};
  TlStatus status = TL_OK;
  if (tl_comm_rank(comm) == 0) status = tl_file_write(study, text, strlen(text), true);
  REQUIRE_OK(tl_comm_agree(comm, status));
  REQUIRE_OK(tl_run_open(&run, comm, &options));
  status = tl_run_go(&run);
  REQUIRE(status == TL_EINPUT && strstr(tl_message(), message), "%s", tl_message());
  tl_run_close(&run);
  tl_free(study);
  tl_free(output);
}

static void body(TlComm *comm) {
  if (tl_comm_rank(comm) == 0) snprintf(folder, sizeof folder, "%s", tl_test_folder());
  REQUIRE_OK(tl_comm_broadcast(comm, folder, sizeof folder, 0));
  tl_log_set("test", TL_LOG_ERROR);
  same_bits(comm, cell_study, 130, 330, figures);
  same_bits(comm, relaxed_study, 900, 500, relaxed);
  same_bits(comm, constraints_study, 120, 90, squeezed_by_constraints);
  another_void_ratio(comm, denser_study, "below the 0.9000 of triaxial.stages.0.void_ratio");
  another_void_ratio(comm, looser_study, "above the 0.6000 of triaxial.stages.0.void_ratio");
}

MPI_TEST_MAIN(body)
