/* What the methods give for Newton's cradle of 2 to 5 balls, e = 1. Momentum and energy do not
 * determine it beyond two balls; real balls of Hertz contact nearly pass the last one all of it. */
#include "judge/judge.h"
#include "judge/study.h"

#include <math.h>
#include <string.h>

static double worst_momentum, worst_energy, two_balls;

static void swing(const char *method, int balls) {
  TlRun run;
  char text[256] = "";
  double momentum = 0, energy = 0;
  judge_study_open(&run, "cradle", "solver.method=%s bodies.1.count=%d", method, balls - 1);
  judge_study_go(&run, NULL, NULL);
  for (int64_t id = 0; id < balls; id++) {
    double v = run.bodies.velocity[judge_study_body(&run, id)].x;
    momentum += v;
    energy += v * v;
    size_t at = strlen(text);
    snprintf(text + at, sizeof text - at, "%s%.3f", id ? ", " : "", fabs(v) < 5e-4 ? 0 : v);
    if (balls == 2) two_balls = fmax(two_balls, fabs(v - (double)id));
  }
  worst_momentum = fmax(worst_momentum, fabs(momentum - 1));
  worst_energy = fmax(worst_energy, fabs(energy - 1));
  judge_note("%d balls by %s: %s m/s (an ideal cradle: the last alone moves, at 1).", balls, method,
             text);
  tl_run_close(&run);
}

int main(int argc, char **argv) {
  static const char *const methods[3] = {"etm-level", "etm", "sqm"};
  judge_open("cradle", argc, argv);
  for (int m = 0; m < 3; m++)
    for (int balls = 2; balls <= 5; balls++) swing(methods[m], balls);
  judge_at_most(JUDGE_CORRECT, "cradle_two_balls_error", two_balls, "m/s", 1e-12);
  judge_at_most(JUDGE_CORRECT, "cradle_momentum_error", worst_momentum, "of the start", 1e-12);
  judge_at_most(JUDGE_CORRECT, "cradle_energy_error", worst_energy, "of the start", 1e-9);
  return judge_close();
}
