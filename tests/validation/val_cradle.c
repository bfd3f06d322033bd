/* What the methods give for Newton's cradle of 2 to 5 balls, e = 1. Momentum and energy do not
 * determine it beyond two balls; real balls of Hertz contact nearly pass the last one all of it:
 * those of penalty are such balls (penalty.law hertz). */
#include "judge/judge.h"
#include "judge/study.h"

#include <math.h>
#include <string.h>

typedef struct Worst {
  double momentum, energy, two_balls;
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
    if (balls == 2) w->two_balls = fmax(w->two_balls, fabs(v - (double)id));
  }
  w->momentum = fmax(w->momentum, fabs(momentum - 1));
  w->energy = fmax(w->energy, fabs(energy - 1));
  judge_note("%d balls by %s: %s m/s (an ideal cradle: the last alone moves, at 1).", balls, method,
             text);
  tl_run_close(&run);
}

int main(int argc, char **argv) {
  static const char *const methods[3] = {"etm-level", "etm", "sqm"};
  Worst w = {0}, springs = {0};
  judge_open("cradle", argc, argv);
  for (int balls = 2; balls <= 5; balls++) {
    for (int m = 0; m < 3; m++) swing(&w, methods[m], balls);
    swing(&springs, "penalty", balls);
  }
  judge_at_most(JUDGE_CORRECT, "cradle_two_balls_error", w.two_balls, "m/s", 1e-12);
  judge_at_most(JUDGE_CORRECT, "cradle_momentum_error", w.momentum, "of the start", 1e-12);
  judge_at_most(JUDGE_CORRECT, "cradle_energy_error", w.energy, "of the start", 1e-9);
  judge_at_most(JUDGE_CORRECT, "cradle_penalty_two_balls_error", springs.two_balls, "m/s", 1e-4);
  judge_at_most(JUDGE_CORRECT, "cradle_penalty_momentum_error", springs.momentum, "of the start",
                1e-12);
  judge_at_most(JUDGE_CORRECT, "cradle_penalty_energy_error", springs.energy, "of the start", 1e-4);
  return judge_close();
}
