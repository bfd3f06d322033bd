#include "judge/pyramid.h"

#include "judge/study.h"

#include <math.h>
#include <stdbool.h>

static const double DIAMETER = 0.02;

static bool stands(const char *method, double mu) {
  TlRun run;
  judge_study_open(&run, "repose_pyramid",
                   "solver.method=%s contact.friction=%.6f contact.boundary_friction=%.6f", method,
                   mu, mu);
  double start = run.state->dem.bodies.position[judge_study_body(&run, 3)].z;
  judge_study_go(&run, NULL, NULL);
  double fall = start - run.state->dem.bodies.position[judge_study_body(&run, 3)].z;
  tl_run_close(&run);
  return fall < 0.01 * DIAMETER;
}

double pyramid_least_friction(const char *method) {
  double low = 0.1, high = 1;
  if (stands(method, low) || !stands(method, high)) return NAN;
  while (high - low > 1e-4) {
    double middle = 0.5 * (low + high);
    *(stands(method, middle) ? &high : &low) = middle;
  }
  return high;
}
