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
    for (int32_t i = 0; i < g->pairs; i++) /* none approaches */
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

/* Three masses on a floor, springs k with dashpots between them that never pull, in units of mass,
 * stiffness and speed; fourth order, step 1e-3 of sqrt(m/k), until all have parted. The dashpots'
 * fraction of the critical damping returns e of the speed of one contact: with tension cut off that
 * is exp(-x (pi - atan2(2 x, 1 - x^2))) for x = z/sqrt(1 - z^2), z < 1/sqrt(2) (Schwager and
 * Poeschel 2007). */
typedef struct Column {
  double x[3], v[3];
} Column;

static Column column_rate(const Column *s, double damping) {
  Column rate = {{s->v[0], s->v[1], s->v[2]}, {0, 0, 0}};
  for (int i = 0; i < 3; i++) { /* between i and what is below */
    double depth = (i ? s->x[i - 1] : 0) - s->x[i], un = s->v[i] - (i ? s->v[i - 1] : 0);
    double force = depth > 0 ? fmax(0, depth - 2 * damping * sqrt(i ? 0.5 : 1) * un) : 0;
    rate.v[i] += force;
    if (i) rate.v[i - 1] -= force;
  }
  return rate;
}

static Column column_after(const Column *s, double h, const Column *rate) {
  Column to = *s;
  for (int i = 0; i < 3; i++) {
    to.x[i] += h * rate->x[i];
    to.v[i] += h * rate->v[i];
  }
  return to;
}

static double damping_of(double e) {
  double low = 0, high = 1; /* of x */
  for (int k = 0; k < 100; k++) {
    double x = 0.5 * (low + high);
    if (exp(-x * (M_PI - atan2(2 * x, 1 - x * x))) > e)
      low = x;
    else
      high = x;
  }
  return low / sqrt(1 + low * low);
}

static void integrate(double e, double v[3]) {
  const double h = 1e-3;
  double damping = damping_of(e);
  Column s = {{0, 0, 0}, {-1, -1, -1}};
  for (int step = 0; step < 40000; step++) {
    Column k1 = column_rate(&s, damping), at = column_after(&s, 0.5 * h, &k1),
           k2 = column_rate(&at, damping);
    at = column_after(&s, 0.5 * h, &k2);
    Column k3 = column_rate(&at, damping);
    at = column_after(&s, h, &k3);
    Column k4 = column_rate(&at, damping);
    s = column_after(&s, h / 6, &k1);
    s = column_after(&s, h / 3, &k2);
    s = column_after(&s, h / 3, &k3);
    s = column_after(&s, h / 6, &k4);
  }
  for (int i = 0; i < 3; i++) v[i] = s.v[i];
}

/* Springs have no phases to watch: what is left, and *error, how far the velocities are from the
 * integration above. */
static double by_penalty(double e, double *error) {
  TlRun run;
  double v[3], want[3];
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
  integrate(e, want);
  *error = 0;
  for (int i = 0; i < 3; i++) *error = fmax(*error, fabs(v[i] - want[i]));
  return left;
}

int main(int argc, char **argv) {
  double error, error_elastic;
  judge_open("stack", argc, argv);
  Watch level = collide("etm-level", "stack-level.dat", 0.5);
  Watch queue = collide("etm", "stack-etm.dat", 0.5);
  Watch elastic = collide("etm", "stack-elastic.dat", 1);
  judge_at_most(JUDGE_CORRECT, "stack_energy_balance_error",
                fmax(level.leak, fmax(queue.leak, elastic.leak)) / level.start, "of the start",
                1e-14);
  judge_at_most(JUDGE_CORRECT, "stack_elastic_energy_error", fabs(elastic.left / elastic.start - 1),
                "of the start", 1e-12);
  /* An impulse of compression raises its own u_n to 0 at most and lowers its neighbours': at the end
   * of compression all three are 0, and a column that stands on the floor stands still. All of its
   * energy is stored, and W <- e^2 W gives back a quarter, whatever the order of the impulses. The
   * tolerance leaves 1e-6 of the speed in each, and 3e-12 of the energy. */
  judge_at_most(JUDGE_CORRECT, "stack_energy_left_error",
                fmax(fabs(queue.left / queue.start - 0.25), fabs(level.left / level.start - 0.25)),
                "of the start", 1e-9);
  /* Explicit steps of (omega dt)^2 = 9e-5. */
  judge_at_most(JUDGE_CORRECT, "stack_penalty_elastic_energy_error",
                fabs(by_penalty(1, &error_elastic) - 1), "of the start", 1e-4);
  judge_at_most(JUDGE_CORRECT, "stack_penalty_elastic_error", error_elastic, "of the speed", 1e-3);
  by_penalty(0.5, &error);
  judge_at_most(JUDGE_CORRECT, "stack_penalty_error", error, "of the speed", 1e-3);
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
