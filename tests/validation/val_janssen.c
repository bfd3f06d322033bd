/* A silo: Janssen's law (1895). Where the wall's friction is mobilised, and the wall's pressure is K times
 * the vertical stress, the vertical force in the filling under a weight W of grains is
 *   V = Ws (1 - exp(-W/Ws)),   Ws = w R/(2 mu K),
 * with w the weight a length of silo of radius R; the wall bears the rest. Written in the weight above, it
 * needs neither the surface's height nor the density there. V is taken from the contacts with the wall
 * alone, the floor's force is its own measurement, and K comes from the normal forces on the wall in the
 * middle half, so that Ws fitted and Ws computed share no number.
 *
 * Goals, before any result. The balance is Newton's law over the window, impulses of the floor and the wall
 * against weight and change of momentum: nothing but rounding is left by springs and constraints; by
 * impulses the motion that a lift by the position rule costs has no contact force (docs/theory/step.md).
 * Janssen's K is not quite constant, above all near the floor: 5% of Ws, 10% between the two Ws.
 */
#include "judge/judge.h"
#include "judge/study.h"

#include "base/mem.h"
#include "base/log.h"
#include "base/par.h"

#include <math.h>
#include <stdlib.h>

enum { LEVELS = 24 };
static const double G = 9.81, R = 0.03, MU = 0.2, FROM_S = 0.9;

typedef struct Silo {
  double weight, window_s, dt_s;
  double begin_z, end_z; /* momentum, kg m/s */
  int64_t steps;
  double floor, wall, wall_normal; /* impulses, N s: up on the grains; on the wall */
  double level[LEVELS];            /* heights */
  double above[LEVELS];            /* weight of the grains above, mean, N */
  double borne[LEVELS];            /* by the wall above, mean, N */
  double pressed[LEVELS];          /* normal force on the wall above, mean, N */
} Silo;

static double momentum_z(const TlBodies *b) {
  double sum = 0;
  for (int64_t i = 0; i < b->owned; i++) sum += b->mass[i] * b->velocity[i].z;
  return sum;
}

static void open_window(Silo *s, const TlBodies *b) {
  double top = 0;
  for (int64_t i = 0; i < b->owned; i++) top = fmax(top, b->position[i].z);
  for (int k = 0; k < LEVELS; k++) s->level[k] = top * k / LEVELS;
  for (int64_t i = 0; i < b->owned; i++) s->weight += b->mass[i] * G;
}

static void watch(TlRun *run, void *context) {
  Silo *s = context;
  const TlBodies *b = &run->state->dem.bodies;
  double dt = run->model->setup.time.dt_s, t = (double)run->state->totals.steps * dt;
  if (t < FROM_S) {
    s->begin_z = momentum_z(b);
    return;
  }
  if (s->steps++ == 0) open_window(s, b);
  s->dt_s = dt;
  s->window_s += dt;
  s->end_z = momentum_z(b);
  TlContactRow *rows;
  int64_t count;
  JUDGE_OK(tl_step_contacts(run->model->dem, &run->state->dem, run->work, &rows, &count));
  for (int64_t i = 0; i < count; i++) {
    const TlContactRow *c = &rows[i];
    if (c->second >= 0) continue;
    if (c->normal.z > 0.5) {
      s->floor += dt * c->force_N.z;
      continue;
    }
    double normal = tl_dot(c->force_N, c->normal);
    s->wall += dt * c->force_N.z;
    s->wall_normal += dt * normal;
    for (int k = 0; k < LEVELS && c->point_m.z > s->level[k]; k++) {
      s->borne[k] += dt * c->force_N.z;
      s->pressed[k] += dt * normal;
    }
  }
  tl_free(rows);
  for (int64_t i = 0; i < b->owned; i++)
    for (int k = 0; k < LEVELS && b->position[i].z > s->level[k]; k++)
      s->above[k] += dt * b->mass[i] * G;
}

static double janssen(double above, double saturated) {
  return saturated * (1 - exp(-above / saturated));
}

/* Root of the mean square of what the law leaves of V. */
static double misfit(const Silo *s, double saturated) {
  double sum = 0;
  for (int k = 0; k < LEVELS; k++)
    sum += pow(s->above[k] - s->borne[k] - janssen(s->above[k], saturated), 2) / LEVELS;
  return sqrt(sum);
}

static double fitted(const Silo *s) {
  double best = s->weight;
  for (double w = 0.02 * s->weight; w < 5 * s->weight; w *= 1.002)
    if (misfit(s, w) < misfit(s, best)) best = w;
  return best;
}

/* Wall pressure over vertical stress, and weight a length, between a quarter and three quarters of the
 * height. */
static double computed(const Silo *s, double *k) {
  int low = LEVELS / 4, high = 3 * LEVELS / 4;
  double length = s->level[high] - s->level[low], stress = 0;
  for (int i = low; i < high; i++) { /* mean of V at both ends of a layer */
    double v = s->above[i] - s->borne[i] + s->above[i + 1] - s->borne[i + 1];
    stress += 0.5 * v / (M_PI * R * R) / (high - low);
  }
  *k = (s->pressed[low] - s->pressed[high]) / (2 * M_PI * R * length) / stress;
  return (s->above[low] - s->above[high]) / length * R / (2 * MU * *k);
}

static void silo(const char *method, const char *name, JudgeKind balance_kind, double balance_goal,
                 FILE *data) {
  TlRun run;
  Silo s = {0};
  char figure[64];
  judge_study_open(&run, "janssen", "solver.method=%s", method);
  judge_study_go(&run, watch, &s);
  double cpu_s = run.state->totals.cpu_s;
  tl_run_close(&run);
  double balance = (s.floor + s.wall - (s.end_z - s.begin_z)) / (s.weight * s.window_s) - 1;
  for (int k = 0; k < LEVELS; k++)
    s.above[k] /= s.window_s, s.borne[k] /= s.window_s, s.pressed[k] /= s.window_s;
  double k, saturated = fitted(&s), due = computed(&s, &k), floor = s.floor / s.window_s;
  for (int i = 0; i < LEVELS; i++)
    fprintf(data, "%g %g %g\n", s.above[i] / s.weight, (s.above[i] - s.borne[i]) / s.weight,
            janssen(s.above[i], saturated) / s.weight);
  fprintf(data, "\n\n");
  snprintf(figure, sizeof figure, "janssen%s_balance_error", name);
  judge_at_most(balance_kind, figure, fabs(balance), "of the weight", balance_goal);
  snprintf(figure, sizeof figure, "janssen%s_mobilised", name);
  judge_between(JUDGE_GOAL, figure, s.wall / (MU * s.wall_normal), "of friction times wall force",
                0.9, 1);
  snprintf(figure, sizeof figure, "janssen%s_fit_error", name);
  judge_at_most(JUDGE_GOAL, figure, misfit(&s, saturated) / saturated, "of Ws (rms)", 0.05);
  snprintf(figure, sizeof figure, "janssen%s_saturation_ratio", name);
  judge_between(JUDGE_GOAL, figure, saturated / due, "Ws fitted over w R/(2 mu K)", 0.9, 1.1);
  snprintf(figure, sizeof figure, "janssen%s_floor_ratio", name);
  judge_between(JUDGE_GOAL, figure, floor / janssen(s.weight, saturated),
                "floor's force over Janssen's", 0.95, 1.05);
  judge_note("By %s: the floor bears %.3f of the weight, the wall %.3f; Ws %.3f of it, K %.3f; "
             "%.3g s CPU.",
             method, floor / s.weight, s.wall / s.window_s / s.weight, saturated / s.weight, k,
             cpu_s);
}

int main(int argc, char **argv) {
  judge_open("janssen", argc, argv);
  tl_log_set("val_janssen", TL_LOG_WARN);
  tl_par_set_threads(1);
  FILE *data = judge_data("janssen.dat");
  silo("etm-level", "", JUDGE_GOAL, 1e-3, data);
  silo("penalty", "_penalty", JUDGE_CORRECT, 1e-9, data);
  silo("nonsmooth", "_nonsmooth", JUDGE_CORRECT, 1e-9, data);
  fclose(data);
  judge_gnuplot("janssen", "set xlabel 'weight above a level, of all'; set key right bottom\n"
                           "set ylabel 'vertical force there, of the weight'\n"
                           "plot x with lines dt 2 lc rgb '#888888' title 'no wall', "
                           "'janssen.dat' index 1 using 1:3 with lines lw 2 lc rgb '#888888' title "
                           "'Janssen, fitted to penalty', "
                           "'janssen.dat' index 0 with points pt 6 title 'impulses', "
                           "'janssen.dat' index 1 with points pt 8 title 'penalty', "
                           "'janssen.dat' index 2 with points pt 1 title 'nonsmooth'\n");
  return judge_close();
}
