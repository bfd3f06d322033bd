/* Runs that are stopped and resumed against runs that are not.  ranks: 1 2 4
 * With arguments `FOLDER FOLDER [COLUMNS]` the program only compares the results in two folders bit
 * by bit (for tests/cli/test_resume.sh): each frame by id, of history.csv the first COLUMNS columns
 * or all but the last, cpu_s, and departures.csv. */
#include "mpi/mpitest.h"
#include "mpi/same.h"
#include "mpi/scene.h"

#include "base/file.h"
#include "base/log.h"
#include "io/csv_table.h"
#include "post/departures.h"
#include "base/par.h"
#include "ranks/machines.h"
#include "run/run.h"
#include "support/tltest.h"

/* ---- runs ---- */

static char folder[256];

/* Grains run into each other, off the edge, and are moved between ranks while they do. */
static const char slope_study[] =
    "catalog: c.sqlite\n"
    "time: {dt_s: 1.0e-3, steps: 40, frame_every_s: 7.0e-3, history_every_s: "
    "2.0e-3}\n" SCENE_SLOPE_RELEASE "checkpoint: {every_steps: 11}\n";

typedef struct Job {
  const char *study, *output;
  bool resume;
  int64_t stop_after; /* 0: to the end */
} Job;

static int count_down(void *context) {
  return --*(int64_t *)context == 0;
}

typedef struct End {
  uint64_t state;
  double cuts; /* where space is cut, added up */
  int64_t outside, sunk;
  double sunk_kg;
} End;

static End go(TlComm *comm, const Job *job) {
  TlRun run;
  End end = {0};
  int64_t left = job->stop_after;
  TlRunOptions options = {.study = job->study,
                          .output = job->output,
                          .resume = job->resume,
                          .overwrite = !job->resume,
                          .stop = job->stop_after ? count_down : NULL,
                          .stop_context = &left};
  REQUIRE_OK(tl_run_open(&run, comm, &options));
  TlStatus status = tl_run_go(&run);
  if (job->stop_after)
    REQUIRE(status == TL_ELIMIT && strstr(tl_message(), "--resume"), "%s", tl_message());
  else
    REQUIRE(status == TL_OK, "%s", tl_message());
  REQUIRE_OK(tl_run_hash(&run, &end.state));
  for (int i = 1; i < run.dist->domain.ranks; i++) end.cuts += run.dist->domain.cut[i].at;
  end.outside = run.state->totals.outside;
  end.sunk = run.state->totals.sunk;
  end.sunk_kg = run.state->totals.sunk_kg;
  REQUIRE(run.state->totals.outside > 0 || job->stop_after || !run.model->has_terrain,
          "nobody left the terrain");
  tl_run_close(&run);
  return end;
}

static char *in_folder(const char *name) {
  return tl_path_join(folder, name);
}

static void same_results(TlComm *comm, const char *a, const char *b, int columns) {
  if (tl_comm_rank(comm) == 0)
    REQUIRE(compare_frames(a, b) == 0 && compare_history(a, b, columns) == 0, "%s and %s", a, b);
  tl_comm_barrier(comm);
}

/* Each grain that left has one line, is in the frames before, and in those from then on only where
 * it was frozen. */
static void departures_agree_with_frames(const char *results, int64_t outside, bool removed) {
  TlDepartures d;
  int64_t *index, frames;
  REQUIRE_OK(tl_departures_read(results, &d));
  REQUIRE_OK(tl_results_frames(results, &index, &frames));
  REQUIRE(d.there && d.count == outside, "%lld lines, %lld left", (long long)d.count,
          (long long)outside);
  for (int64_t f = 0; f < frames; f++) {
    TlFrame frame;
    REQUIRE_OK(tl_results_read_frame(results, index[f], &frame));
    for (int64_t i = 0; i < d.count; i++) {
      const TlDeparture *row = &d.row[i];
      const TlBodyRow *there = NULL;
      for (int64_t k = 0; k < frame.count; k++)
        if (frame.rows[k].id == row->id) there = &frame.rows[k];
      bool left = frame.step >= row->step;
      REQUIRE((there != NULL) == !(left && removed), "grain %lld in frame %lld", (long long)row->id,
              (long long)f);
      REQUIRE(row->removed == removed && tl_departure_outside(row), "grain %lld",
              (long long)row->id);
      if (there && left)
        REQUIRE(memcmp(&there->position_m, &row->position_m, sizeof(TlVec3)) == 0, "%g m",
                there->position_m.x);
    }
    tl_frame_free(&frame);
  }
  tl_departures_free(&d);
  tl_free(index);
}

/* Grains slide down the slope: the front goes forward and never comes back from where one left. */
static void the_front_does_not_come_back(const char *results) {
  TlTable t;
  int column;
  double front, farthest = 0;
  char *path = tl_path_join(results, "history.csv");
  REQUIRE_OK(tl_table_read(path, &t));
  REQUIRE_OK(tl_table_need(&t, "front_m", &column));
  for (int64_t i = 0; i < t.rows; i++) {
    REQUIRE_OK(tl_table_number(&t, i, column, &front));
    REQUIRE(front >= farthest, "%s: %g m after %g m", path, front, farthest);
    farthest = front;
  }
  tl_table_free(&t);
  tl_free(path);
}

/* Stopped twice, after steps that fall on no frame and no checkpoint; once grains were moved
 * between ranks, once the first six had left (step 32). Then rank 0 resumes alone from where all
 * were: the same state, and of history.csv the sums; how islands lie on ranks (from column 12 on)
 * is another matter. */
static void a_stopped_run_resumes(TlComm *comm, const char *outside, int balance) {
  char text[2048];
  snprintf(text, sizeof text, "%soutside: %s\nparallel: {balance_every_steps: %d, imbalance: 1}\n",
           slope_study, outside, balance);
  char *study = in_folder("r.yaml"), *whole = in_folder("whole.run"),
       *parts = in_folder("parts.run"), *alone = in_folder("alone.run");
  TlStatus status = TL_OK;
  if (tl_comm_rank(comm) == 0) status = tl_file_write(study, text, strlen(text), true);
  REQUIRE_OK(tl_comm_agree(comm, status));
  End all = go(comm, &(Job){.study = study, .output = whole});
  go(comm, &(Job){.study = study, .output = parts, .stop_after = 17});
  go(comm, &(Job){.study = study, .output = parts, .resume = true, .stop_after = 17});
  End resumed = go(comm, &(Job){.study = parts, .resume = true});
  REQUIRE(resumed.state == all.state, "%s: the state differs", outside);
  REQUIRE(resumed.cuts == all.cuts, "%g m and %g m", resumed.cuts, all.cuts);
  same_results(comm, whole, parts, ALL_BUT_THE_LAST);
  if (tl_comm_rank(comm) == 0) {
    the_front_does_not_come_back(parts);
    departures_agree_with_frames(parts, resumed.outside, strcmp(outside, "remove") == 0);
  }
  go(comm, &(Job){.study = study, .output = alone, .stop_after = 35});
  if (tl_comm_rank(comm) == 0) {
    resumed = go(NULL, &(Job){.study = alone, .resume = true});
    REQUIRE(resumed.state == all.state, "%s: the state differs on one rank", outside);
  }
  tl_comm_barrier(comm);
  same_results(comm, whole, alone, 11);
  tl_free(study);
  tl_free(whole);
  tl_free(parts);
  tl_free(alone);
}

static const char pour_study[] =
    "catalog: c.sqlite\ntime: {dt_s: 1.0e-3, steps: 30, frame_every_s: 0.01}\n"
    "grains: {sample: sand}\n"
    "release: {assembly: poured, count: 40, low_m: [0, 0, 0.009], high_m: [0.009, 0.009, 0.018], "
    "velocity_m_s: [0.05, 0, -0.3]}\n"
    "planes: [{point_m: [0, 0, 0], normal: [0, 0, 1]}]\n";

/* Springs that were stretched at the stop, and the energy balance. */
static const char penalty_study[] =
    "catalog: c.sqlite\ntime: {dt_s: 1.0e-4, steps: 80, frame_every_s: 2.0e-3}\n"
    "grains: {sample: sand}\n"
    "release: {assembly: poured, count: 40, low_m: [0, 0, 0], high_m: [0.009, 0.009, 0.006], "
    "velocity_m_s: [0.3, 0, -1]}\n"
    "planes: [{point_m: [0, 0, 0], normal: [0, 0, 1]}]\n"
    "solver: {method: penalty}\n"
    "penalty: {normal_Pa_m: 8.0e+6}\n"
    "parallel: {balance_every_steps: 7, imbalance: 1}\n";

/* A belt carries what is poured on it into a sink. */
static const char sink_study[] =
    "catalog: c.sqlite\ntime: {dt_s: 1.0e-3, steps: 80, frame_every_s: 0.01, history_every_s: "
    "1.0e-3}\n"
    "grains: {sample: sand}\n"
    "release: {assembly: poured, count: 60, rate_per_s: 1000, low_m: [0, 0, 0.003], "
    "high_m: [0.012, 0.009, 0.009], velocity_m_s: [0.3, 0, -0.3]}\n"
    "walls: [{kind: plane, velocity_m_s: [0.4, 0, 0]}]\n"
    "sinks: [{kind: plane, point_m: [0.014, 0, 0], normal: [-1, 0, 0]}]\n"
    "solver: {method: nonsmooth}\nnonsmooth: {young_Pa: 1.0e+6, iterations: 30}\n"
    "parallel: {balance_every_steps: 7, imbalance: 1}\n";

/* The inlet's state comes back with the checkpoint: stopped half way through the pour. */
static void a_stopped_pour_resumes(TlComm *comm, const char *text, int64_t stop_after) {
  char *study = in_folder("p.yaml"), *whole = in_folder("pw.run"), *parts = in_folder("pp.run");
  TlStatus status = TL_OK;
  if (tl_comm_rank(comm) == 0) status = tl_file_write(study, text, strlen(text), true);
  REQUIRE_OK(tl_comm_agree(comm, status));
  End all = go(comm, &(Job){.study = study, .output = whole});
  End stopped = go(comm, &(Job){.study = study, .output = parts, .stop_after = stop_after});
  End resumed = go(comm, &(Job){.study = parts, .resume = true});
  REQUIRE(resumed.state == all.state, "the state of a pour differs");
  REQUIRE(resumed.sunk == all.sunk && resumed.sunk_kg == all.sunk_kg, "%lld in sinks, not %lld",
          (long long)resumed.sunk, (long long)all.sunk);
  REQUIRE(!strstr(text, "sinks:") || (stopped.sunk > 5 && stopped.sunk < all.sunk - 5),
          "%lld in sinks, %lld when it was stopped", (long long)all.sunk, (long long)stopped.sunk);
  same_results(comm, whole, parts, ALL_BUT_THE_LAST);
  tl_free(study);
  tl_free(whole);
  tl_free(parts);
}

/* Joints between ranks, with their motors and limits: stopped on all ranks, and taken up by rank 0 alone with two
 * threads; and stopped on rank 0 and taken up by all. */
static const char machines_study[] =
    MACHINES("40", "200, frame_every_s: 8.0e-3, history_every_s: 2.0e-3",
             "iterations: 60, impact_iterations: 30") "frames: {contacts: yes}\n";

static void same_machines(TlComm *comm, const char *a, const char *b) {
  same_results(comm, a, b, 11);
  if (tl_comm_rank(comm) == 0)
    REQUIRE(compare_table(a, b, "constraint.csv", 0) == 0, "forces of joints differ");
}

static void machines_resume(TlComm *comm) {
  char *study = in_folder("m.yaml"), *whole = in_folder("mw.run"), *fewer = in_folder("mf.run"),
       *more = in_folder("mm.run");
  TlStatus status = TL_OK;
  int threads = tl_par_threads();
  if (tl_comm_rank(comm) == 0)
    status = tl_file_write(study, machines_study, strlen(machines_study), true);
  REQUIRE_OK(tl_comm_agree(comm, status));
  End all = go(comm, &(Job){.study = study, .output = whole});
  go(comm, &(Job){.study = study, .output = fewer, .stop_after = 103});
  if (tl_comm_rank(comm) == 0) {
    tl_par_set_threads(2);
    End end = go(NULL, &(Job){.study = fewer, .resume = true});
    REQUIRE(end.state == all.state, "the state of machines differs on one rank");
    go(NULL, &(Job){.study = study, .output = more, .stop_after = 97});
    tl_par_set_threads(threads);
  }
  tl_comm_barrier(comm);
  End end = go(comm, &(Job){.study = more, .resume = true});
  REQUIRE(end.state == all.state, "the state of machines differs on more ranks");
  same_machines(comm, whole, fewer);
  same_machines(comm, whole, more);
  tl_free(study);
  tl_free(whole);
  tl_free(fewer);
  tl_free(more);
}

static void body(TlComm *comm) {
  if (tl_comm_rank(comm) == 0) {
    snprintf(folder, sizeof folder, "%s", tl_test_folder());
    char *path = in_folder("c.sqlite");
    REQUIRE_OK(scene_catalog(path));
    tl_free(path);
  }
  REQUIRE_OK(tl_comm_broadcast(comm, folder, sizeof folder, 0));
  tl_log_set("test", TL_LOG_WARN);
  a_stopped_run_resumes(comm, "remove", 7);
  a_stopped_run_resumes(comm, "stop", 1000);
  a_stopped_pour_resumes(comm, pour_study, 8);
  a_stopped_pour_resumes(comm, penalty_study, 47);
  a_stopped_pour_resumes(comm, sink_study, 53);
  machines_resume(comm);
}

int main(int argc, char **argv) {
  TlComm *comm;
  int bad = 0;
  if (tl_comm_start(&comm, &argc, &argv) != TL_OK) return 1;
  if (argc > 2)
    bad = compare_frames(argv[1], argv[2]) ||
          compare_history(argv[1], argv[2], argc > 3 ? atoi(argv[3]) : ALL_BUT_THE_LAST);
  else
    body(comm);
  tl_comm_stop(comm);
  return bad;
}
