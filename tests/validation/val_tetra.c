/* Tang 2014, Fig. 6 and Eq. 69: the collision of two tetrahedra, e = 1, mu = 0. Tang prints no
 * sizes; velocities and increments are his, the edge is 1 m. */
#include "contact/narrow.h"
#include "judge/energy.h"
#include "judge/judge.h"
#include "judge/study.h"

#include "base/mem.h"

#include <math.h>

typedef struct Hit {
  double before, worst, reversal; /* energy; relative errors */
  double un[TL_MANIFOLD_POINTS];
  int collisions, points;
} Hit;

static void note(void *context, TlTracePhase phase, const TlGroup *g, const TlDynamics *d) {
  Hit *h = context;
  const TlPair *p = &g->pair[0];
  if (h->collisions > 0) return; /* the first one is the case */
  if (phase == TL_TRACE_START) {
    h->before = judge_kinetic(d, 2);
    for (int32_t k = 0; k < p->count; k++)
      h->un[k] = tl_contact_un(&g->contact[p->first + k], d->twist);
  }
  if (phase != TL_TRACE_END) return;
  int touched = 0;
  for (int32_t k = 0; k < p->count; k++) {
    const TlContact *c = &g->contact[p->first + k];
    if (!c->touched) continue;
    touched++;
    h->reversal = fmax(h->reversal, fabs(tl_contact_un(c, d->twist) / h->un[k] + 1));
  }
  if (!touched) return;
  h->collisions++;
  h->points = touched;
  h->worst = fmax(h->worst, fabs(judge_kinetic(d, 2) / h->before - 1));
}

/* By springs: twists are constant before and after (equal moments, no gravity), so u_n is asked at
 * the point and along the normal of the deepest moment. */
typedef struct Blow {
  TlTwist before[2], after[2];
  double deepest, kinetic[2]; /* before, after */
  TlVec3 arm[2], normal;
  int blows;
  bool touching;
} Blow;

static TlTwist twist_of(const TlRun *run, int64_t id) {
  int64_t i = judge_study_body(run, id);
  return (TlTwist){run->state->dem.bodies.velocity[i], tl_bodies_spin(&run->state->dem.bodies, i)};
}

static double kinetic_of(const TlRun *run) {
  const TlBodies *b = &run->state->dem.bodies;
  double sum = 0;
  for (int64_t i = 0; i < b->owned; i++)
    sum += 0.5 * b->mass[i] * tl_norm2(b->velocity[i]) +
           0.5 * tl_dot(tl_bodies_spin(b, i), b->momentum[i]);
  return sum;
}

static void watch(TlRun *run, void *context) {
  Blow *b = context;
  TlContactRow *rows;
  int64_t count;
  JUDGE_OK(tl_step_contacts(run->model->dem, &run->state->dem, run->work, &rows, &count));
  bool ended = b->blows > 0 && !b->touching; /* the first one is the case */
  if (!ended) {
    b->blows += count > 0 && !b->touching;
    b->touching = count > 0;
    for (int k = 0; k < 2; k++) *(b->blows == 0 ? &b->before[k] : &b->after[k]) = twist_of(run, k);
    b->kinetic[b->blows] = kinetic_of(run);
  }
  if (!ended && count > 0 && -rows[0].gap_m > b->deepest) {
    b->deepest = -rows[0].gap_m;
    b->normal = rows[0].normal;
    for (int k = 0; k < 2; k++)
      b->arm[k] =
          tl_sub(rows[0].point_m, run->state->dem.bodies.position[judge_study_body(run, k)]);
  }
  tl_free(rows);
}

static double approach(const Blow *b, const TlTwist *t) {
  TlVec3 one = tl_add(t[0].v, tl_cross(t[0].w, b->arm[0]));
  TlVec3 two = tl_add(t[1].v, tl_cross(t[1].w, b->arm[1]));
  return tl_dot(b->normal, tl_sub(one, two));
}

static void by_penalty(void) {
  TlRun run;
  Blow b = {0};
  judge_study_open(&run, "tetra", "solver.method=penalty");
  judge_study_go(&run, watch, &b);
  judge_between(JUDGE_CORRECT, "tetra_penalty_collisions", b.blows, "a run", 1, 1);
  judge_at_most(JUDGE_CORRECT, "tetra_penalty_energy_error", fabs(b.kinetic[1] / b.kinetic[0] - 1),
                "of the kinetic energy", 1e-3);
  judge_at_most(JUDGE_CORRECT, "tetra_penalty_reversal_error",
                fabs(approach(&b, b.after) / approach(&b, b.before) + 1), "of u_n", 5e-3);
  judge_note("By penalty the tetrahedra press %.2g m into each other, of edges of 1 m.", b.deepest);
  tl_run_close(&run);
}

int main(int argc, char **argv) {
  static const int increments[6] = {1, 5, 10, 100, 200, 500};
  static const double tang[6] = {1.73e-16, 6.94e-16, 1.21e-15, 1.73e-16, 1.51e-14, 1.42e-14};
  judge_open("tetra", argc, argv);
  double energy = 0, reversal = 0;
  int points = 0, collisions = 0;
  for (int k = 0; k < 6; k++) {
    TlRun run;
    Hit hit = {0};
    TlCollisionTrace trace = {&hit, note};
    judge_study_open(&run, "tetra", "solver.increments=%d", increments[k]);
    tl_workspace_trace(run.work, &trace);
    judge_study_go(&run, NULL, NULL);
    char figure[48];
    snprintf(figure, sizeof figure, "tetra_energy_error_%d", increments[k]);
    judge_paper(figure, hit.worst, tang[k], "of the kinetic energy", "Tang 2014, Eq. 69");
    energy = fmax(energy, hit.worst);
    reversal = fmax(reversal, hit.reversal);
    points = hit.points > points ? hit.points : points;
    collisions += hit.collisions;
    tl_run_close(&run);
  }
  judge_between(JUDGE_CORRECT, "tetra_collisions", collisions / 6.0, "a run", 1, 1);
  judge_at_most(JUDGE_CORRECT, "tetra_energy_error", energy, "of the kinetic energy", 2e-14);
  judge_at_most(JUDGE_CORRECT, "tetra_reversal_error", reversal, "of u_n", 1e-12);
  judge_note("The collision has %d contact point%s; 1 to 500 increments.", points,
             points == 1 ? "" : "s");
  by_penalty();
  return judge_close();
}
