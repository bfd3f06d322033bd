/* All that a run counts and writes continues after a stop as if there had been none: every total,
 * every column of history.csv, every field of the frames and of their contacts. Each scene has
 * something to forget before the stop, which does not come again after it.  ranks: 1 2 3 */
#include "mpi/same.h"
#include "mpi/mpitest.h"
#include "mpi/scene.h"

#include "base/file.h"
#include "base/log.h"
#include "support/tltest.h"

static char folder[256];

/* Until step 40 two jaws squeeze a ball: an unresolved collision, and the largest overlap at a
 * boundary. Two beads start 4% deep in one another: the largest overlap of grains. A heap rests on a slope
 * by friction. Grains are poured one by one all the time. */
static const char impulses_study[] =
    "catalog: c.sqlite\n"
    "time: {dt_s: 1.0e-3, steps: 130, frame_every_s: 0.02, history_every_s: 2.0e-3}\n"
    "gravity_m_s2: [0.8, 0.4, -9.7]\n"
    "shapes: [{name: ball, diameter_m: 0.02}, {name: bead, diameter_m: 0.01}]\n"
    "grains: {sample: sand}\n"
    "release: {assembly: poured, count: 100, rate_per_s: 200, low_m: [-0.2, -0.01, 0.02], high_m: "
    "[-0.15, 0.01, 0.04], velocity_m_s: [0.05, 0, -0.3]}\n"
    "bodies:\n"
    "- {shape: ball, position_m: [0.3, 0, 0.01]}\n"
    "- {shape: bead, position_m: [0.4, 0, 0.005], count: 2, step_m: [0.0098, 0, 0]}\n"
    "- {shape: ball, position_m: [0, 0, 0.01], count: 4, step_m: [0.0201, 0, 0]}\n"
    "- {shape: ball, position_m: [0.01005, 0, 0.0274], count: 3, step_m: [0.0201, 0, 0]}\n"
    "- {shape: ball, position_m: [0.0201, 0, 0.0448], count: 2, step_m: [0.0201, 0, 0]}\n"
    "planes: [{point_m: [0, 0, 0], normal: [0, 0, 1]}]\n"
    "walls:\n"
    "- {kind: box, size_m: [0.02, 0.04, 0.04], point_m: [0.2795, 0, 0.02], velocity_m_s: [0.05, 0, "
    "0], until_s: 0.04}\n"
    "- {kind: box, size_m: [0.02, 0.04, 0.04], point_m: [0.3205, 0, 0.02], velocity_m_s: [-0.05, "
    "0, "
    "0], until_s: 0.04}\n"
    "contact: {friction: 0.5, boundary_friction: 0.5, restitution: 0.3}\n"
    "frames: {contacts: yes}\n"
    "unresolved: {steps: 10, overlap_share: 5}\n"
    "parallel: {balance_every_steps: 7, imbalance: 1}\n";

/* Springs in shear everywhere: layers of balls under gravity that leans, between smooth walls, in
 * touch over the cuts between ranks at the stop. Something falls on them before it: the largest
 * overlap; global damping takes energy all the time. */
static const char springs_study[] =
    "time: {dt_s: 1.0e-4, steps: 240, frame_every_s: 6.0e-3, history_every_s: 1.0e-3}\n"
    "gravity_m_s2: [2, 1, -9.5]\n"
    "shapes: [{name: ball, diameter_m: 8.0e-3}]\n"
    "bodies:\n"
    "- {shape: ball, position_m: [0.004, 0.004, 0.004], count: 4, step_m: [0.00799, 0, 0]}\n"
    "- {shape: ball, position_m: [0.004, 0.012, 0.004], count: 4, step_m: [0.00799, 0, 0]}\n"
    "- {shape: ball, position_m: [0.008, 0.008, 0.00965], count: 3, step_m: [0.008, 0, 0]}\n"
    "- {shape: ball, position_m: [0.004, 0.008, 0.0165], count: 4, step_m: [0.008, 0, 0.0001], "
    "velocity_m_s: [0, 0, -0.6]}\n"
    "planes: [{point_m: [0, 0, 0], normal: [0, 0, 1]}]\n"
    "walls: [{kind: box, grains: inside, size_m: [0.033, 0.017, 0.05], point_m: [0.0162, 0.008, "
    "0.025], open: [+z, -z]}]\n"
    "contact: {friction: 0.5, restitution: 0.3, boundary_friction: 0.1, damping_per_s: 20}\n"
    "solver: {method: penalty}\n"
    "penalty: {spread: deepest, normal_N_m: 500}\n"
    "frames: {contacts: yes}\n"
    "parallel: {balance_every_steps: 50, imbalance: 1}\n";

static int count_down(void *context) {
  return --*(int64_t *)context == 0;
}

/* stop_after 0: to the end. */
static Counts go(TlComm *comm, const char *study, const char *output, bool resume,
                 int64_t stop_after) {
  TlRun run;
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
  Counts counts = counts_of(&run);
  tl_run_close(&run);
  return counts;
}

static char *in_folder(const char *name) {
  return tl_path_join(folder, name);
}

/* Runs whole, and in three parts. */
static void resumes(TlComm *comm, const char *text, int64_t first, int64_t second, Counts *stopped,
                    Counts *end) {
  char *study = in_folder("s.yaml"), *whole = in_folder("whole.run"),
       *parts = in_folder("parts.run");
  TlStatus status = TL_OK;
  if (tl_comm_rank(comm) == 0) status = tl_file_write(study, text, strlen(text), true);
  REQUIRE_OK(tl_comm_agree(comm, status));
  *end = go(comm, study, whole, false, 0);
  *stopped = go(comm, study, parts, false, first);
  go(comm, parts, NULL, true, second);
  Counts resumed = go(comm, parts, NULL, true, 0);
  REQUIRE(compare_counts(end, &resumed) == 0, "what the run counts differs after stops");
  if (tl_comm_rank(comm) == 0)
    REQUIRE(compare_frames(whole, parts) == 0 && compare_history(whole, parts, 0) == 0,
            "results differ after stops");
  tl_comm_barrier(comm);
  tl_free(study);
  tl_free(whole);
  tl_free(parts);
}

/* What was there before the stop and did not grow since: it can be forgotten. */
static void had(const Counts *stopped, const Counts *end, const char *name) {
  double then = count_of(stopped, name), now = count_of(end, name);
  REQUIRE(then > 0 && now == then, "%s was %g at the stop and is %g at the end", name, then, now);
}

static void grew(const Counts *stopped, const Counts *end, const char *name) {
  double then = count_of(stopped, name), now = count_of(end, name);
  REQUIRE(then > 0 && now > then, "%s was %g at the stop and is %g at the end", name, then, now);
}

static void body(TlComm *comm) {
  Counts stopped, end;
  if (tl_comm_rank(comm) == 0) {
    snprintf(folder, sizeof folder, "%s", tl_test_folder());
    char *path = in_folder("c.sqlite");
    scene_catalog(path);
    tl_free(path);
  }
  REQUIRE_OK(tl_comm_broadcast(comm, folder, sizeof folder, 0));
  tl_log_set("test", TL_LOG_ERROR);
  resumes(comm, impulses_study, 55, 30, &stopped, &end);
  had(&stopped, &end, "totals.unresolved");
  had(&stopped, &end, "totals.overlap_share");
  had(&stopped, &end, "totals.overlap_m");
  had(&stopped, &end, "totals.boundary_overlap_share");
  had(&stopped, &end, "totals.boundary_overlap_m");
  had(&stopped, &end, "totals.wall_work_J");
  grew(&stopped, &end, "poured");
  grew(&stopped, &end, "totals.impulses");
  resumes(comm, springs_study, 130, 50, &stopped, &end);
  had(&stopped, &end, "totals.overlap_share");
  had(&stopped, &end, "totals.overlap_m");
  grew(&stopped, &end, "totals.balance.drag_J");
  grew(&stopped, &end, "totals.balance.viscous_J");
  grew(&stopped, &end, "totals.balance.friction_J");
}

MPI_TEST_MAIN(body)
