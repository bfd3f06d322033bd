/* Tan 2024, Fig. 2: kinetic and elastic energy of three stacked spheres, e = 0.5, over the impulses
 * of one collision. The sum may fall only where restitution takes its share, between the phases. */
#include "judge/energy.h"
#include "judge/judge.h"
#include "judge/study.h"

#include <math.h>

typedef struct Watch {
  FILE *data;
  double start, last, leak, left, taken; /* energies, J; leak: worst change of the sum in a phase */
  TlTracePhase phase;
  int impulses;
  bool ended;
} Watch;

static void note(void *context, TlTracePhase phase, const TlGroup *g, const TlDynamics *d) {
  Watch *w = context;
  if (w->ended) return; /* the first collision is the case */
  double kinetic = judge_kinetic(d, 3), elastic = judge_elastic(g), sum = kinetic + elastic;
  if (phase == TL_TRACE_START) {
    w->start = w->last = kinetic;
    fprintf(w->data, "0 %g 0\n", kinetic);
  } else if (phase == TL_TRACE_END) {
    w->left = kinetic;
    w->ended = true;
    for (int32_t i = 0; i < g->colour_start[g->colours]; i++) /* none approaches */
      if (tl_contact_un(&g->contact[i], d->twist) < -1e-6) w->left = NAN;
    return;
  } else if (phase == TL_TRACE_COMPRESS && w->phase == TL_TRACE_RELEASE) {
    w->taken += w->last - sum; /* a new round forgets rests of W: 0 */
  } else if (phase == w->phase) {
    w->leak = fmax(w->leak, fabs(sum - w->last));
  } else {
    w->taken += w->last - sum; /* W <- e^2 W */
  }
  w->last = sum;
  w->phase = phase;
  if (phase != TL_TRACE_START) fprintf(w->data, "%d %g %g\n", ++w->impulses, kinetic, elastic);
}

static Watch collide(const char *method, const char *data, double e) {
  TlRun run;
  Watch w = {.data = judge_data(data)};
  TlCollisionTrace trace = {&w, note};
  judge_study_open(&run, "stack",
                   "solver.method=%s contact.restitution=%g contact.boundary_restitution=%g "
                   "contact.friction=0 contact.boundary_friction=0",
                   method, e, e);
  tl_workspace_trace(run.work, &trace);
  judge_study_go(&run, NULL, NULL);
  for (int64_t id = 0; id < 3; id++)
    judge_note("%s, e = %g: sphere %lld leaves with %.4f m/s.", method, e, (long long)id,
               run.state->dem.bodies.velocity[judge_study_body(&run, id)].z);
  fclose(w.data);
  tl_run_close(&run);
  return w;
}

/* Springs have no phases to watch: only what is left, and that none runs into another. */
static double by_penalty(double e) {
  TlRun run;
  double v[3];
  judge_study_open(&run, "stack",
                   "solver.method=penalty contact.restitution=%g contact.boundary_restitution=%g "
                   "contact.friction=0 contact.boundary_friction=0",
                   e, e);
  judge_study_go(&run, NULL, NULL);
  for (int64_t id = 0; id < 3; id++)
    v[id] = run.state->dem.bodies.velocity[judge_study_body(&run, id)].z;
  double left = run.state->totals.kinetic_J / run.state->totals.kinetic_start_J;
  judge_note("penalty, e = %g: the spheres leave with %.4f, %.4f and %.4f m/s; kinetic energy left "
             "%.4f of the start.",
             e, v[0], v[1], v[2], left);
  tl_run_close(&run);
  return v[0] <= v[1] && v[1] <= v[2] ? left : NAN;
}

int main(int argc, char **argv) {
  judge_open("stack", argc, argv);
  Watch level = collide("etm-level", "stack-level.dat", 0.5);
  Watch queue = collide("etm", "stack-etm.dat", 0.5);
  Watch elastic = collide("etm", "stack-elastic.dat", 1);
  judge_at_most(JUDGE_CORRECT, "stack_energy_balance_error",
                fmax(level.leak, fmax(queue.leak, elastic.leak)) / level.start, "of the start",
                1e-14);
  judge_at_most(JUDGE_CORRECT, "stack_elastic_energy_error", fabs(elastic.left / elastic.start - 1),
                "of the start", 1e-12);
  judge_between(JUDGE_CORRECT, "stack_energy_left", queue.left / queue.start, "of the start", 0.01,
                0.999);
  judge_at_most(JUDGE_CORRECT, "stack_penalty_elastic_energy_error", fabs(by_penalty(1) - 1),
                "of the start", 1e-4);
  judge_between(JUDGE_CORRECT, "stack_penalty_energy_left", by_penalty(0.5), "of the start", 0.01,
                0.999);
  judge_note("Kinetic energy left at e = 0.5: %.4f of the start by etm, %.4f by etm-level; the "
             "spheres of a stack touch each other, where the order of the impulses is part of the "
             "model.",
             queue.left / queue.start, level.left / level.start);
  judge_gnuplot("stack",
                "set xlabel 'impulse'; set ylabel 'energy, J'; set key center right\n"
                "plot 'stack-etm.dat' using 1:2 with lines lw 2 title 'kinetic, etm', "
                "'stack-etm.dat' using 1:3 with lines lw 2 title 'elastic, etm', "
                "'stack-etm.dat' using 1:($2+$3) with lines title 'sum, etm', "
                "'stack-level.dat' using 1:2 with lines dt 2 title 'kinetic, etm-level', "
                "'stack-level.dat' using 1:3 with lines dt 2 title 'elastic, etm-level'\n");
  return judge_close();
}
