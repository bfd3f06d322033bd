/* Free rotation: a brick set off about its middle axis at 0.1 rad a step turns over again and again, 1e5 steps by each
 * method. Its kinetic energy and the mean time between two flips against Euler's equations in closed form: for moments
 * a < b < c about its axes and L^2 < 2 E b, the spin about b is a Jacobi sn, zero every
 *
 *   2 K(k) sqrt(a b c/((b - a) (2 E c - L^2))),  k^2 = (c - b) (L^2 - 2 E a)/((b - a) (2 E c - L^2))
 *
 * (Landau and Lifshitz, Mechanics, 37), K the complete elliptic integral by the arithmetic-geometric mean. Moments
 * and energy are of the sizes and the spin that are written here and in the study; the solver gives attitudes and
 * spins. By the implicit midpoint rule nothing drifts, and both errors fall with the square of the step (at half the
 * step to a quarter of what they are). With the turn of a step taken at its start, or at a middle found without
 * iteration, all rows fail by far.
 */
#include "judge/judge.h"
#include "judge/study.h"

#include "base/log.h"

#include <math.h>
#include <stdio.h>

enum { METHODS = 3 };
static const char *const method[METHODS] = {"etm-level", "penalty", "nonsmooth"};
static const char *const name[METHODS] = {"impulses", "penalty", "nonsmooth"};
static const TlVec3 SIDES = {0.02, 0.03, 0.05}, SPIN = {0.5, 20, 1};

/* Over m/12. */
static TlVec3 moments(void) {
  TlVec3 s = {SIDES.x * SIDES.x, SIDES.y * SIDES.y, SIDES.z * SIDES.z};
  return tl_vec3(s.y + s.z, s.x + s.z, s.x + s.y);
}

/* Twice the energy, of a spin in the brick's frame. */
static double twice_energy(TlVec3 w) {
  TlVec3 i = moments();
  return i.x * w.x * w.x + i.y * w.y * w.y + i.z * w.z * w.z;
}

static double flip_period(void) {
  double c = moments().x, b = moments().y, a = moments().z, e2 = twice_energy(SPIN);
  double l2 = pow(c * SPIN.x, 2) + pow(b * SPIN.y, 2) + pow(a * SPIN.z, 2);
  judge_ok(a < b && b < c && l2 < b * e2 ? TL_OK : TL_EUSAGE, "the case of the closed form");
  double below = (b - a) * (c * e2 - l2), k2 = (c - b) * (l2 - a * e2) / below;
  double mean = 1, geometric = sqrt(1 - k2);
  while (fabs(mean - geometric) > 1e-15) {
    double next = 0.5 * (mean + geometric);
    geometric = sqrt(mean * geometric);
    mean = next;
  }
  return acos(-1) / mean * sqrt(a * b * c / below); /* K is half of pi/mean */
}

typedef struct Watch {
  TlMat3 start;           /* body's axes at the start, when the brick's are the world's */
  double last, worst;     /* spin about the middle axis; error of the energy */
  double first_s, last_s; /* of the flips */
  int flips;
} Watch;

static void watch(TlRun *run, void *context) {
  Watch *w = context;
  const TlBodies *b = &run->state->dem.bodies;
  double dt = run->model->setup.time.dt_s, time = (double)run->state->totals.steps * dt;
  TlVec3 spin = tl_mat_tvec(tl_quat_matrix(b->rotation[0]), tl_bodies_spin(b, 0));
  spin = tl_mat_vec(w->start, spin);
  w->worst = fmax(w->worst, fabs(twice_energy(spin) / twice_energy(SPIN) - 1));
  if (w->last * spin.y < 0) {
    w->last_s = time - dt * spin.y / (spin.y - w->last);
    if (w->flips++ == 0) w->first_s = w->last_s;
  }
  w->last = spin.y;
}

int main(int argc, char **argv) {
  judge_open("spin", argc, argv);
  tl_log_set("val_spin", TL_LOG_WARN);
  double due = flip_period();
  for (int m = 0; m < METHODS; m++) {
    TlRun run;
    char figure[48];
    judge_study_open(&run, "spin", "solver.method=%s", method[m]);
    Watch w = {.start = tl_quat_matrix(run.state->dem.bodies.rotation[0])};
    judge_study_go(&run, watch, &w);
    double period = w.flips > 100 ? (w.last_s - w.first_s) / (w.flips - 1) : INFINITY;
    snprintf(figure, sizeof figure, "spin_%s_energy", name[m]);
    judge_at_most(JUDGE_CORRECT, figure, w.worst, "of the energy, 1e5 steps", 1e-3);
    snprintf(figure, sizeof figure, "spin_%s_flip", name[m]);
    judge_at_most(JUDGE_CORRECT, figure, fabs(period / due - 1), "of the time between flips", 0.01);
    judge_note("%s: %lld steps of %g rad, %d flips, one every %.5f s; in closed form %.5f s.",
               method[m], (long long)run.state->totals.steps,
               tl_norm(SPIN) * run.model->setup.time.dt_s, w.flips, period, due);
    tl_run_close(&run);
  }
  return judge_close();
}
