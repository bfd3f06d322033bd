/* Sliding into rolling: u = u0 - mu g t until 2 u0/(7 mu g), then 5 u0/7; rolling down an incline
 * with v = 5/7 g sin(angle) t, where friction suffices (tan(angle) < 3.5 mu). */
#include "judge/judge.h"
#include "judge/study.h"

#include <math.h>

static const double R = 0.01, G = 9.81, MU = 0.3;

typedef struct Slide {
  double rolls_s, worst; /* first step without slip; worst error of u while sliding */
} Slide;

static void follow(TlRun *run, void *context) {
  Slide *s = context;
  double t = (double)run->totals.steps * run->setup.time.dt_s;
  double u = run->bodies.velocity[0].x, slip = u - tl_bodies_spin(&run->bodies, 0).y * R;
  if (s->rolls_s > 0) return;
  if (fabs(slip) < 1e-6)
    s->rolls_s = t;
  else
    s->worst = fmax(s->worst, fabs(u - (1 - MU * G * t)));
}

static void sliding(void) {
  TlRun run;
  Slide s = {0};
  judge_study_open(&run, "roll", "%s", "");
  judge_study_go(&run, follow, &s);
  double want = 2 / (7 * MU * G), dt = run.setup.time.dt_s;
  judge_at_most(JUDGE_CORRECT, "roll_speed_error", fabs(run.bodies.velocity[0].x / (5.0 / 7) - 1),
                "of 5 u0/7", 1e-6);
  judge_at_most(JUDGE_CORRECT, "roll_sliding_speed_error", s.worst, "of u0", 1e-6);
  judge_at_most(JUDGE_CORRECT, "roll_time_error", fabs(s.rolls_s - want) / dt, "steps", 1);
  judge_note("Rolls from %.4f s; 2 u0/(7 mu g) = %.4f s; the step is %g s.", s.rolls_s, want, dt);
  tl_run_close(&run);
}

/* Symplectic Euler adds velocity g dt at each step: v after n steps belongs to t = n dt. */
static void incline(void) {
  TlRun run;
  judge_study_open(&run, "roll-incline", "%s", "");
  judge_study_go(&run, NULL, NULL);
  double angle = 20 * acos(-1) / 180, t = (double)run.totals.steps * run.setup.time.dt_s;
  double v = tl_norm(run.bodies.velocity[0]), want = 5.0 / 7 * G * sin(angle) * t;
  judge_at_most(JUDGE_CORRECT, "roll_incline_speed_error", fabs(v / want - 1), "of v", 5e-3);
  judge_at_most(JUDGE_CORRECT, "roll_incline_slip",
                fabs(tl_norm(tl_bodies_spin(&run.bodies, 0)) * R / v - 1), "of v", 1e-3);
  tl_run_close(&run);
}

int main(int argc, char **argv) {
  judge_open("roll", argc, argv);
  sliding();
  incline();
  return judge_close();
}
