/* Runs that end at rest (time.until_rest): the same end on any ranks and after a stop.  ranks: 1 2
 * 4 */
#include "mpi/mpitest.h"
#include "mpi/scene.h"

#include "base/file.h"
#include "base/log.h"
#include "run/run.h"
#include "support/tltest.h"

#include <stdio.h>

static char folder[256];

/* 18 smooth grains fall into a box; they rock on each other for some 1.6 s (at 1 ms a step for good). */
static const char box_study[] =
    "catalog: c.sqlite\n"
    "time: {dt_s: 2.5e-4, duration_s: 3, until_rest: yes, frame_every_s: 0.2, history_every_s: "
    "0.05}\n"
    "grains: {sample: sand}\n"
    "release: {assembly: lattice, low_m: [0, 0, 0.002], high_m: [0.0095, 0.0095, 0.0085]}\n"
    "planes:\n"
    "- {point_m: [0, 0, 0], normal: [0, 0, 1]}\n"
    "- {point_m: [0, 0, 0], normal: [1, 0, 0]}\n"
    "- {point_m: [0, 0, 0], normal: [0, 1, 0]}\n"
    "- {point_m: [0.0095, 0, 0], normal: [-1, 0, 0]}\n"
    "- {point_m: [0, 0.0095, 0], normal: [0, -1, 0]}\n"
    "contact: {friction: 0.4, restitution: 0.3, damping_per_s: 4}\n"
    "parallel: {balance_every_steps: 7, imbalance: 1}\n";

static int count_down(void *context) {
  return --*(int64_t *)context == 0;
}

typedef struct Job {
  const char *study, *output, *set;
  bool resume;
  int64_t stop_after; /* 0: to the end */
} Job;

typedef struct End {
  uint64_t state;
  int64_t steps, limit, frames;
  double time_s;
  bool reached;
  TlLook look;
} End;

static End go(TlComm *comm, const Job *job) {
  TlRun run;
  End end = {0};
  int64_t left = job->stop_after;
  char *item = (char *)(uintptr_t)job->set;
  TlTexts sets = {.items = &item, .count = job->set != NULL};
  TlRunOptions options = {.study = job->study,
                          .sets = &sets,
                          .output = job->output,
                          .resume = job->resume,
                          .overwrite = !job->resume,
                          .no_output = job->output == NULL && !job->resume,
                          .stop = job->stop_after ? count_down : NULL,
                          .stop_context = &left};
  REQUIRE_OK(tl_run_open(&run, comm, &options));
  TlStatus status = tl_run_go(&run);
  REQUIRE(status == (job->stop_after ? TL_ELIMIT : TL_OK), "%s", tl_message());
  REQUIRE_OK(tl_run_hash(&run, &end.state));
  end.steps = run.state->totals.steps;
  end.limit = tl_setup_steps(&run.model->setup);
  end.frames = run.state->totals.frames;
  end.time_s = (double)run.state->totals.steps * run.model->setup.time.dt_s;
  end.reached = run.state->still.reached;
  end.look = run.state->totals.look;
  tl_run_close(&run);
  return end;
}

static void a_run_ends_at_rest_on_any_ranks_and_after_stops(TlComm *comm) {
  char *study = write_text(comm, folder, "rest.yaml", box_study),
       *whole = tl_path_join(folder, "whole.run"), *parts = tl_path_join(folder, "parts.run");
  End all = go(comm, &(Job){.study = study, .output = whole});
  REQUIRE(all.reached && all.steps > 200 && all.steps < all.limit, "step %lld of %lld",
          (long long)all.steps, (long long)all.limit);
  REQUIRE(all.look.moving_fraction <= 0.05 && all.look.largest_pace <= 0.1,
          "%g of the mass, pace %g", all.look.moving_fraction, all.look.largest_pace);
  /* the second stop falls between the first look that found rest and the end of the window */
  go(comm, &(Job){.study = study, .output = parts, .stop_after = 101});
  go(comm, &(Job){.study = parts, .resume = true, .stop_after = all.steps - 101 - 60});
  End resumed = go(comm, &(Job){.study = parts, .resume = true});
  REQUIRE(resumed.reached && resumed.steps == all.steps && resumed.state == all.state,
          "step %lld, not %lld", (long long)resumed.steps, (long long)all.steps);
  REQUIRE(resumed.frames == all.frames, "%lld frames", (long long)resumed.frames);
  if (tl_comm_rank(comm) == 0 && tl_comm_size(comm) > 1) {
    End one = go(NULL, &(Job){.study = study});
    REQUIRE(one.steps == all.steps && one.state == all.state, "step %lld on one rank, not %lld",
            (long long)one.steps, (long long)all.steps);
    REQUIRE(memcmp(&one.look, &all.look, sizeof one.look) == 0, "%g", one.look.mean_speed_m_s);
  }
  tl_comm_barrier(comm);
  End again = go(comm, &(Job){.study = parts, .resume = true}); /* finished: nothing is done */
  REQUIRE(again.steps == all.steps && again.state == all.state, "step %lld",
          (long long)again.steps);
  REQUIRE(memcmp(&again.look, &all.look, sizeof again.look) == 0, "%g", again.look.mean_speed_m_s);
  tl_free(study);
  tl_free(whole);
  tl_free(parts);
}

/* Carried on without until_rest, and back with it: the run ends again, a window later. */
static void rest_may_be_switched_when_a_run_resumes(TlComm *comm) {
  char *parts = tl_path_join(folder, "parts.run");
  End rest = go(comm, &(Job){.study = parts, .resume = true});
  go(comm, &(Job){.study = parts, .resume = true, .set = "time.until_rest=no", .stop_after = 40});
  End back = go(comm, &(Job){.study = parts, .resume = true, .set = "time.until_rest=yes"});
  REQUIRE(back.reached && back.steps > rest.steps + 40 && back.steps < back.limit, "step %lld",
          (long long)back.steps);
  tl_free(parts);
}

#define BALL                                                                                       \
  "shapes: [{name: ball, diameter_m: 2.0e-3}]\n"                                                   \
  "planes: [{point_m: [0, 0, 0], normal: [0, 0, 1]}]\n"

/* d = 2 mm: a window of 0.1428 s. */
static void the_end_awaits_what_is_still_to_come(TlComm *comm) {
  static const char lying[] = BALL "bodies: [{shape: ball, position_m: [0, 0, 1.0e-3]}]\n"
                                   "time: {dt_s: 5.0e-4, duration_s: 2, until_rest: yes}\n";
  static const char wall[] = BALL "bodies: [{shape: ball, position_m: [0, 0, 1.0e-3]}]\n"
                                  "time: {dt_s: 5.0e-4, duration_s: 2, until_rest: yes}\n"
                                  "walls: [{kind: box, size_m: [0.01, 0.01, 0.01], point_m: [1, 0, "
                                  "0.005], from_s: 0.5}]\n";
  static const char poured[] = BALL "grains: {shapes: [ball]}\n"
                                    "release: {assembly: poured, count: 3, rate_per_s: 5, low_m: "
                                    "[0, 0, 1.0e-3], high_m: [0.02, 0.02, 4.0e-3]}\n"
                                    "time: {dt_s: 5.0e-4, duration_s: 5, until_rest: yes}\n"
                                    "contact: {damping_per_s: 20}\n";
  static const char thrown[] =
      BALL "bodies: [{shape: ball, position_m: [0, 0, 1.0e-3], velocity_m_s: [0, 0, 2]}]\n"
           "time: {dt_s: 5.0e-4, duration_s: 0.3, until_rest: yes}\n";
  const struct {
    const char *text;
    double least_s, most_s;
    bool reached;
  } cases[] = {{lying, 0.142, 0.18, true},
               {wall, 0.64, 0.68, true},
               {poured, 0.74, 2, true},    /* the third comes at 0.6 s */
               {thrown, 0.3, 0.3, false}}; /* at the top of its flight after 0.2 s */
  for (int k = 0; k < 4; k++) {
    char *study = write_text(comm, folder, "awaits.yaml", cases[k].text);
    End end = go(comm, &(Job){.study = study});
    REQUIRE(end.reached == cases[k].reached && end.time_s > cases[k].least_s - 1e-9 &&
                end.time_s < cases[k].most_s + 1e-9,
            "case %d ended after %g s, %s", k, end.time_s, end.reached ? "at rest" : "moving");
    tl_free(study);
  }
}

static void until_rest_is_refused_where_it_means_nothing(TlComm *comm) {
  char *study =
      write_text(comm, folder, "weightless.yaml",
                 "shapes: [{name: ball, diameter_m: 2.0e-3}]\n"
                 "bodies: [{shape: ball, position_m: [0, 0, 0]}]\ngravity_m_s2: [0, 0, 0]\n"
                 "time: {dt_s: 5.0e-4, steps: 10, until_rest: yes}\n");
  TlRun run;
  TlRunOptions options = {.study = study, .no_output = true};
  TlStatus status = tl_run_open(&run, comm, &options);
  REQUIRE(status == TL_EINPUT && strstr(tl_message(), "time.rest_for_s"), "%s", tl_message());
  tl_run_close(&run);
  tl_free(study);
}

static void body(TlComm *comm) {
  if (tl_comm_rank(comm) == 0) {
    snprintf(folder, sizeof folder, "%s", tl_test_folder());
    char *path = tl_path_join(folder, "c.sqlite");
    scene_catalog(path);
    tl_free(path);
  }
  REQUIRE_OK(tl_comm_broadcast(comm, folder, sizeof folder, 0));
  tl_log_set("test", TL_LOG_WARN);
  a_run_ends_at_rest_on_any_ranks_and_after_stops(comm);
  rest_may_be_switched_when_a_run_resumes(comm);
  the_end_awaits_what_is_still_to_come(comm);
  until_rest_is_refused_where_it_means_nothing(comm);
}

int main(int argc, char **argv) {
  TlComm *comm;
  if (tl_comm_start(&comm, &argc, &argv) != TL_OK) return 1;
  body(comm);
  tl_comm_stop(comm);
  return 0;
}
