/* Two ranks beside two threads, and beside one: whole runs of talus-solve on one machine, by the clock.
 *
 * Ranks wait for each other, so these figures hold on two idle cores alone; what else ran meanwhile is said with
 * them. Runs of each kind in turn, the least time of each. Sends and bytes are counted by tests/ranks/cost.c.
 */
#include "judge/judge.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TURNS = 2 };
typedef enum Kind { ONE, THREADS, RANKS, KINDS } Kind;

static double clock_s(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double run_s(const char *bin, const char *study, Kind kind) {
  static const char *const options[KINDS] = {"--threads=1", "--threads=2", "--threads=1"};
  char mpirun[512] = "", command[2048];
  if (kind == RANKS) snprintf(mpirun, sizeof mpirun, "'%s/talus-mpirun' -n 2 ", bin);
  snprintf(command, sizeof command,
           "%s'%s/talus-solve' tests/ranks/%s.yaml %s --overwrite -q -o '%s' >/dev/null", mpirun,
           bin, study, options[kind], judge_path("ranks.run"));
  double start = clock_s();
  if (system(command) != 0) judge_ok(tl_fail(TL_EIO, "it failed"), command);
  return clock_s() - start;
}

/* Of what all cores could have done since the machine started, in ticks: all of it, and what they did. */
static void busy(double *all, double *done) {
  double t[8] = {0};
  FILE *file = fopen("/proc/stat", "r");
  *all = *done = 0;
  if (file && fscanf(file, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", &t[0], &t[1], &t[2], &t[3], &t[4],
                     &t[5], &t[6], &t[7]) == 8)
    for (int i = 0; i < 8; i++) *all += t[i], *done += i == 3 || i == 4 ? 0 : t[i];
  if (file) fclose(file);
}

/* Runs of each kind in turn; the fraction of cores that was busy while one thread ran: 1/cores where it is alone. */
static void times(const char *bin, const char *study, double least[KINDS]) {
  double all[2], done[2], fraction = 0;
  for (int k = 0; k < KINDS; k++) least[k] = INFINITY;
  for (int turn = 0; turn < TURNS; turn++)
    for (int k = 0; k < KINDS; k++) {
      busy(&all[0], &done[0]);
      least[k] = fmin(least[k], run_s(bin, study, (Kind)k));
      busy(&all[1], &done[1]);
      if (k == ONE && all[1] > all[0])
        fraction = fmax(fraction, (done[1] - done[0]) / (all[1] - all[0]));
    }
  judge_note("%s: one thread %.2f s, two threads %.2f, two ranks %.2f, the least of %d runs each. "
             "While one thread "
             "ran alone all cores together were busy for %.0f%% of the time at most.",
             study, least[ONE], least[THREADS], least[RANKS], TURNS, 100 * fraction);
}

int main(int argc, char **argv) {
  char bin[512];
  double s[KINDS];
  judge_open("ranks", argc, argv);
  const char *slash = strrchr(argv[0], '/');
  snprintf(bin, sizeof bin, "%.*s/../bin", slash ? (int)(slash - argv[0]) : 1,
           slash ? argv[0] : ".");
  times(bin, "pile", s);
  judge_at_most(JUDGE_GOAL, "ranks_over_threads", s[RANKS] / s[THREADS],
                "time of two ranks over two threads', 5,000 grains", 1.2);
  judge_at_most(JUDGE_GOAL, "ranks_over_one", s[RANKS] / s[ONE], "over one thread's, 5,000 grains",
                1);
  times(bin, "slide", s);
  judge_at_most(JUDGE_GOAL, "ranks_over_one_avalanche", s[RANKS] / s[ONE],
                "over one thread's, 92 grains", 1.5);
  return judge_close();
}
