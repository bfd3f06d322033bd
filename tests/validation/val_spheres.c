/* Tang 2014, Fig. 9: 540 and 1080 elastic frictionless spheres fall into a box; relative change of
 * the energy at each collision step. The collisions' own error is kinetic energy after energy
 * tracking less before, over the whole energy. The step's error is that of the synchronised energy
 * E = sum m (v + g dt/2)^2/2 + m g h: the scheme's velocities stand half a step before the places,
 * and so taken free fall keeps E to rounding; what is left is the time of impact, known to a step.
 * By energy tracking, by sequential and by simultaneous impulses, which the paper compares. Simultaneous ones
 * reverse what approaches, all at once, and hold what did not approach, or too slowly to close its gap in the step:
 * at 0, or at the approach that closes the gap. Such a contact changes the energy by 1/2 P_n (u_n0 + u_n)
 * (docs/theory/impulses.md), which is summed here from the contacts and taken off; a note tells how much it is.
 */
#include "base/par.h"
#include "judge/energy.h"
#include "judge/judge.h"
#include "judge/study.h"

#include <math.h>
#include <string.h>

typedef struct Watch {
  TlRun *run;
  bool simultaneous;
  double before, change, held;           /* of the step's collisions; held: by contacts that are */
  double gained, lost;                   /* by those in all, of the energy */
  double energy, collisions, step, fall; /* worst relative errors; fall: while nothing touches */
  double zero;                           /* height of the lowest corner of the floor */
  int64_t zero_finishes, hits;
} Watch;

static void note(void *context, TlTracePhase phase, const TlGroup *g, const TlDynamics *d) {
  Watch *w = context;
  if (phase == TL_TRACE_START) w->before = judge_kinetic(d, w->run->state->dem.bodies.total);
  if (phase != TL_TRACE_END) return;
  w->change += judge_kinetic(d, w->run->state->dem.bodies.total) - w->before;
  for (int32_t i = 0; w->simultaneous && i < g->pairs; i++) {
    const TlPair *pair = &g->pair[i];
    for (int32_t k = pair->first; k < pair->first + pair->count; k++) {
      const TlContact *c = &g->contact[k];
      if (c->start + c->allowed_speed < -1e-3) continue; /* m/s: a twentieth of g dt is 0.8e-3 */
      double work = 0.5 * tl_dot(c->n, c->impulse) * (c->start + tl_contact_un(c, d->twist));
      if (work == 0) continue;
      *(work > 0 ? &w->gained : &w->lost) += fabs(work) / w->energy;
      w->held += work;
    }
  }
}

static double energy_of(const TlRun *run, double zero) {
  TlVec3 half = {0, 0, -0.5 * 9.81 * run->model->setup.time.dt_s};
  const TlBodies *b = &run->state->dem.bodies;
  double sum = 0;
  for (int64_t i = 0; i < b->owned; i++)
    sum += b->mass[i] *
           (0.5 * tl_norm2(tl_add(b->velocity[i], half)) + 9.81 * (b->position[i].z - zero));
  return sum;
}

static void follow(TlRun *run, void *context) {
  Watch *w = context;
  double energy = energy_of(run, w->zero);
  if (w->energy > 0) {
    double *which = run->state->totals.last.impulses ? &w->step : &w->fall;
    *which = fmax(*which, fabs(energy / w->energy - 1));
  }
  w->collisions = fmax(w->collisions, fabs(w->change - w->held) / energy);
  w->hits += run->state->totals.last.impulses > 0;
  w->zero_finishes += run->state->totals.last.zero_finishes;
  w->energy = energy;
  w->change = w->held = 0;
}

/* mark: of the method, in the figures' names. */
static void fall(const char *method, const char *mark, const char *count, const char *high) {
  TlRun run;
  char spheres[16];
  Watch w = {.run = &run, .zero = -0.05, .simultaneous = strcmp(method, "smm") == 0};
  TlCollisionTrace trace = {&w, note, .ends_only = true};
  char figure[64];
  snprintf(spheres, sizeof spheres, "%s%s", mark, count);
  judge_study_open(&run, "spheres",
                   "solver.method=%s release.count=%s release.high_m=[1.02,1.13,%s]", method, count,
                   high);
  tl_workspace_trace(run.work, &trace);
  judge_study_go(&run, follow, &w);
  snprintf(figure, sizeof figure, "spheres_%s_collision_error", spheres);
  judge_at_most(JUDGE_CORRECT, figure, w.collisions, "of the energy",
                w.simultaneous ? 1e-9 : 1e-11); /* solved to 1e-6 of 1e-3 m/s; rounding */
  snprintf(figure, sizeof figure, "spheres_%s_fall_error", spheres);
  judge_at_most(JUDGE_CORRECT, figure, w.fall, "of the energy", 1e-12);
  snprintf(figure, sizeof figure, "spheres_%s_step_error", spheres);
  if (!*mark) judge_paper(figure, w.step, 8e-3, "of the energy a step", "Tang 2014, Fig. 9");
  snprintf(figure, sizeof figure, "spheres_%s_overlap", spheres);
  judge_at_most(JUDGE_CORRECT, figure,
                fmax(run.state->totals.overlap_share, run.state->totals.boundary_overlap_share),
                "of the radius", 0.02);
  judge_note("%s spheres by %s: the energy changes by %.2g of itself in a step at most; %lld steps "
             "with collisions, %lld islands finished with e = 0, %.3g s of stepping.",
             count, method, w.step, (long long)w.hits, (long long)w.zero_finishes,
             run.state->totals.cpu_s);
  if (w.simultaneous)
    judge_note("%s spheres by smm: contacts that are held, not reversed, add %.2g of the energy in "
               "all and take %.2g.",
               count, w.gained, w.lost);
  tl_run_close(&run);
}

/* What is missing of kinetic, potential and elastic energy at the end. */
static void by_penalty(void) {
  TlRun run;
  judge_study_open(&run, "spheres", "solver.method=penalty release.count=540 %s",
                   "release.high_m=[1.02,1.13,0.9]");
  judge_study_go(&run, NULL, NULL);
  const TlRunTotals *t = &run.state->totals;
  double scale = energy_of(&run, -0.05);
  judge_at_most(JUDGE_CORRECT, "spheres_penalty_540_energy_error", fabs(t->balance.error_J) / scale,
                "of the energy", 1e-3);
  judge_at_most(JUDGE_CORRECT, "spheres_penalty_540_overlap",
                fmax(t->overlap_share, t->boundary_overlap_share), "of the radius", 0.02);
  judge_note("540 spheres by penalty: %lld steps, %.3g s of stepping.", (long long)t->steps,
             t->cpu_s);
  tl_run_close(&run);
}

int main(int argc, char **argv) {
  judge_open("spheres", argc, argv);
  tl_par_set_threads(1);
  static const char *const method[3] = {"etm-level", "sqm", "smm"};
  static const char *const mark[3] = {"", "sqm_", "smm_"};
  for (int m = 0; m < 3; m++) {
    fall(method[m], mark[m], "540", "0.9");
    fall(method[m], mark[m], "1080", "1.7");
  }
  by_penalty();
  return judge_close();
}
