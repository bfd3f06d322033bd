/* Sliding into rolling: u = u0 - mu g t until 2 u0/(7 mu g), then 5 u0/7; rolling down an incline
 * with v = 5/7 g sin(angle) t, where friction suffices (tan(angle) < 3.5 mu). By
 * impulses and by penalty, whose velocities stand half a step before the time and whose slip dies
 * away over the contact's own time. */
#include "judge/judge.h"
#include "judge/study.h"

#include <math.h>

static const double R = 0.01, G = 9.81, MU = 0.3;

typedef struct Method {
  const char *sets, *mark; /* of the figures */
  double late, slip;       /* steps; m/s: less is rolling */
  double error;            /* goal of the speed while it slides, exact by impulses */
} Method;
static const Method methods[2] = {{"", "", 0, 1e-6, 1e-9},
                                  {"solver.method=penalty", "penalty_", 0.5, 1e-3, 5e-3}};
/* The angular momentum about the line of contact is kept whatever friction does, or grows by gravity alone: the speed
 * of rolling is that of the closed form to rounding, of 1e3 to 1e4 steps, by either method. */
static const double EXACT = 1e-9;

static void judge(const Method *m, const char *what, double value, const char *unit, double goal) {
  char figure[64];
  snprintf(figure, sizeof figure, "roll_%s%s", m->mark, what);
  judge_at_most(JUDGE_CORRECT, figure, value, unit, goal);
}

typedef struct Slide {
  const Method *method;
  double rolls_s, worst; /* first step without slip; worst error of u while sliding */
} Slide;

static void follow(TlRun *run, void *context) {
  Slide *s = context;
  double t = ((double)run->state->totals.steps - s->method->late) * run->model->setup.time.dt_s;
  double u = run->state->dem.bodies.velocity[0].x,
         slip = u - tl_bodies_spin(&run->state->dem.bodies, 0).y * R;
  if (s->rolls_s > 0) return;
  if (fabs(slip) < s->method->slip)
    s->rolls_s = t;
  else
    s->worst = fmax(s->worst, fabs(u - (1 - MU * G * t)));
}

static void sliding(const Method *m) {
  TlRun run;
  Slide s = {.method = m};
  judge_study_open(&run, "roll", "%s", m->sets);
  judge_study_go(&run, follow, &s);
  double want = 2 / (7 * MU * G), dt = run.model->setup.time.dt_s;
  judge(m, "speed_error", fabs(run.state->dem.bodies.velocity[0].x / (5.0 / 7) - 1), "of 5 u0/7",
        EXACT);
  judge(m, "sliding_speed_error", s.worst, "of u0", m->error);
  if (m->late > 0)
    judge(m, "time_error", fabs(s.rolls_s / want - 1), "of the time", 0.01);
  else
    judge(m, "time_error", fabs(s.rolls_s - want) / dt, "steps", 1);
  judge_note("%s: rolls from %.4f s; 2 u0/(7 mu g) = %.4f s; the step is %g s.",
             m->late > 0 ? "Penalty" : "Impulses", s.rolls_s, want, dt);
  tl_run_close(&run);
}

/* Symplectic Euler adds velocity g dt at each step: v after n steps belongs to t = n dt. */
static void incline(const Method *m) {
  TlRun run;
  judge_study_open(&run, "roll-incline", "%s", m->sets);
  judge_study_go(&run, NULL, NULL);
  double angle = 20 * acos(-1) / 180;
  double t = ((double)run.state->totals.steps - m->late) * run.model->setup.time.dt_s;
  double v = tl_norm(run.state->dem.bodies.velocity[0]), want = 5.0 / 7 * G * sin(angle) * t;
  judge(m, "incline_speed_error", fabs(v / want - 1), "of v", EXACT);
  judge(m, "incline_slip", fabs(tl_norm(tl_bodies_spin(&run.state->dem.bodies, 0)) * R / v - 1),
        "of v", EXACT);
  tl_run_close(&run);
}

int main(int argc, char **argv) {
  judge_open("roll", argc, argv);
  for (int k = 0; k < 2; k++) {
    sliding(&methods[k]);
    incline(&methods[k]);
  }
  return judge_close();
}
