/* What the methods give for Newton's cradle of 2 to 5 balls, e = 1. Momentum and energy do not
 * determine it beyond two balls; real balls of Hertz contact nearly pass the last one all of it:
 * those of penalty are such balls (penalty.law hertz). */
#include "judge/judge.h"
#include "judge/study.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Worst {
  double momentum, energy, two_balls;
  double row; /* all but the first at 2/n, that one slower by 1: each pair's velocity at once */
} Worst;

static void swing(Worst *w, const char *method, int balls) {
  TlRun run;
  char text[256] = "";
  double momentum = 0, energy = 0;
  judge_study_open(&run, "cradle", "solver.method=%s bodies.1.count=%d", method, balls - 1);
  judge_study_go(&run, NULL, NULL);
  for (int64_t id = 0; id < balls; id++) {
    double v = run.state->dem.bodies.velocity[judge_study_body(&run, id)].x;
    momentum += v;
    energy += v * v;
    size_t at = strlen(text);
    snprintf(text + at, sizeof text - at, "%s%.3f", id ? ", " : "", fabs(v) < 5e-4 ? 0 : v);
    w->row = fmax(w->row, fabs(v - 2.0 / balls + (id == 0 ? 1 : 0)));
    if (balls == 2) w->two_balls = fmax(w->two_balls, fabs(v - (double)id));
  }
  w->momentum = fmax(w->momentum, fabs(momentum - 1));
  w->energy = fmax(w->energy, fabs(energy - 1));
  judge_note("%d balls by %s: %s m/s (an ideal cradle: the last alone moves, at 1).", balls, method,
             text);
  tl_run_close(&run);
}

/* Five balls half a millimetre apart: at 1 m/s no more than one gap closes in a step below 0.5 ms, so
 * that all collisions are those of two balls and the last one alone moves in the end. In longer steps
 * they collide together, as if they touched. Returns the error of the former. */
static double apart(const char *method) {
  static const char *const dt[] = {"1e-4", "2e-4", "5e-4", "1e-3", "2e-3"};
  char text[256] = "";
  double error = 0;
  for (int k = 0; k < 5; k++) {
    TlRun run;
    judge_study_open(&run, "cradle",
                     "solver.method=%s bodies.1.position_m=[0.0205,0,0] "
                     "bodies.1.step_m=[0.0205,0,0] time.dt_s=%s",
                     method, dt[k]);
    judge_study_go(&run, NULL, NULL);
    for (int64_t id = 0; id < 5 && k < 2; id++)
      error = fmax(error, fabs(run.state->dem.bodies.velocity[judge_study_body(&run, id)].x -
                               (id == 4 ? 1 : 0)));
    size_t at = strlen(text);
    snprintf(text + at, sizeof text - at, "%s%.3f at %g ms", k ? ", " : "",
             run.state->dem.bodies.velocity[judge_study_body(&run, 4)].x,
             1e3 * strtod(dt[k], NULL));
    tl_run_close(&run);
  }
  judge_note("The last of 5 balls 0.5 mm apart by %s, m/s: %s.", method, text);
  return error;
}

int main(int argc, char **argv) {
  static const char *const methods[4] = {"etm-level", "etm", "sqm", "smm"};
  Worst w = {0}, together = {0}, springs = {0};
  judge_open("cradle", argc, argv);
  for (int balls = 2; balls <= 5; balls++) {
    for (int m = 0; m < 3; m++) swing(&w, methods[m], balls);
    swing(&together, "smm", balls);
    swing(&springs, "penalty", balls);
  }
  judge_at_most(JUDGE_CORRECT, "cradle_two_balls_error", w.two_balls, "m/s", 1e-12);
  judge_at_most(JUDGE_CORRECT, "cradle_momentum_error", w.momentum, "of the start", 1e-12);
  judge_at_most(JUDGE_CORRECT, "cradle_energy_error", w.energy, "of the start", 1e-12);
  /* Solved to 1e-6 of the tolerance for approach, which is 1e-6 of the speed. */
  judge_at_most(JUDGE_CORRECT, "cradle_smm_error", together.row, "m/s", 1e-9);
  judge_at_most(JUDGE_CORRECT, "cradle_penalty_two_balls_error", springs.two_balls, "m/s", 1e-5);
  judge_at_most(JUDGE_CORRECT, "cradle_penalty_momentum_error", springs.momentum, "of the start",
                1e-12);
  judge_at_most(JUDGE_CORRECT, "cradle_penalty_energy_error", springs.energy, "of the start", 1e-5);
  double error = 0;
  for (int m = 0; m < 4; m++) error = fmax(error, apart(methods[m]));
  judge_at_most(JUDGE_CORRECT, "cradle_apart_error", error, "m/s", 1e-9);
  return judge_close();
}
