/* Tan 2024, 6.1 and Fig. 10: v^2 = 2 g s (sin 30 - tan(phi) cos 30) for phi = 20 and 25 degrees. */
#include "judge/judge.h"
#include "judge/study.h"

#include <math.h>

typedef struct Slide {
  TlVec3 start;
  double factor, worst; /* v^2 = factor s; largest relative error beyond 1 cm */
  FILE *data;
} Slide;

static void follow(TlRun *run, void *context) {
  Slide *s = context;
  double distance = tl_norm(tl_sub(run->state->dem.bodies.position[0], s->start));
  /* velocities stand half a step before the places: s at the time of v */
  double v = tl_norm(run->state->dem.bodies.velocity[0]),
         at = distance - 0.5 * v * run->model->setup.time.dt_s;
  if (at > 0.01) s->worst = fmax(s->worst, fabs(v * v / (s->factor * at) - 1));
  if (run->state->totals.steps % (int64_t)lround(0.02 / run->model->setup.time.dt_s) == 0)
    fprintf(s->data, "%g %g %g\n", at, v, sqrt(s->factor * at));
}

static double slide(const char *method, const char *rest, int degrees) {
  TlRun run;
  char name[64];
  double one = acos(-1) / 180, mu = tan(degrees * one);
  snprintf(name, sizeof name, "block-%s-%s-%d.dat", method, rest, degrees);
  judge_study_open(&run, "block", "solver.method=%s solver.rest=%s contact.boundary_friction=%.17g",
                   method, rest, mu);
  Slide s = {.start = run.state->dem.bodies.position[0],
             .factor = 2 * 9.81 * (sin(30 * one) - mu * cos(30 * one)),
             .data = judge_data(name)};
  judge_study_go(&run, follow, &s);
  fclose(s.data);
  judge_note("Friction angle %d degrees, %s, resting contacts by %s: the block slid %.2f m; "
             "largest boundary overlap %.2g of "
             "its radius.",
             degrees, method, rest, tl_norm(tl_sub(run.state->dem.bodies.position[0], s.start)),
             run.state->totals.boundary_overlap_share);
  tl_run_close(&run);
  return s.worst;
}

int main(int argc, char **argv) {
  judge_open("block", argc, argv);
  judge_at_most(JUDGE_CORRECT, "block_20_degrees_error", slide("etm-level", "gauss-seidel", 20),
                "of v^2", 5e-3);
  judge_at_most(JUDGE_CORRECT, "block_25_degrees_error", slide("etm-level", "gauss-seidel", 25),
                "of v^2", 5e-3);
  judge_at_most(JUDGE_CORRECT, "block_etm_at_rest_20_degrees_error", slide("etm-level", "etm", 20),
                "of v^2", 1e-2);
  judge_at_most(JUDGE_CORRECT, "block_etm_at_rest_25_degrees_error", slide("etm-level", "etm", 25),
                "of v^2", 1e-2);
  judge_at_most(JUDGE_CORRECT, "block_penalty_20_degrees_error",
                slide("penalty", "gauss-seidel", 20), "of v^2", 5e-3);
  judge_at_most(JUDGE_CORRECT, "block_penalty_25_degrees_error",
                slide("penalty", "gauss-seidel", 25), "of v^2", 5e-3);
  judge_gnuplot(
      "block",
      "set xlabel 'way, m'; set ylabel 'speed, m/s'; set key left top\n"
      "plot 'block-etm-level-gauss-seidel-20.dat' using 1:3 with lines title 'closed form, 20 "
      "degrees', "
      "'block-etm-level-gauss-seidel-20.dat' using 1:2 with points title 'Talus, 20 degrees', "
      "'block-etm-level-gauss-seidel-25.dat' using 1:3 with lines title 'closed form, 25 degrees', "
      "'block-etm-level-gauss-seidel-25.dat' using 1:2 with points title 'Talus, 25 degrees'\n");
  return judge_close();
}
