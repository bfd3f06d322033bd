/* The impulse laws alone, on packs of closed-form spheres with more than 10,000 contacts in one
 * island: etm-level beside the reference and beside sequential impulses, two threads beside one. */
#include "base/par.h"
#include "judge/judge.h"
#include "support/pack.h"

#include <stdlib.h>

enum { CELLS = 9, SIDE = 20, REPEATS = 5 };

static TlEtmLaw law(void) {
  return (TlEtmLaw){.increments = 20,
                    .max_rounds = 40,
                    .final_sweeps = 100000,
                    .tolerance_m_s = 1e-3,
                    .similar = 0.01};
}

typedef struct Result {
  TlEtmCount count;
  double cpu_s, wall_s, kinetic, approach; /* kinetic: share of the start */
} Result;

/* Best of some runs: the machine is shared. */
static Result run(Pack *p, TlCollisionMethod method, double e, int repeats) {
  Result best = {.cpu_s = INFINITY, .wall_s = INFINITY};
  TlEtmLaw l = law();
  TlDynamics d = pack_dynamics(p);
  for (int32_t i = 0; i < p->pairs; i++) p->contact[i].restitution = e;
  for (int i = 0; i < repeats; i++) {
    pack_rewind(p);
    best.kinetic = pack_kinetic(p);
    best.count = (TlEtmCount){0};
    double cpu = judge_thread_cpu_s(), wall = judge_wall_s();
    for (int32_t g = 0; g < p->groups.count; g++) /* one giant, a few of two or three grains */
      JUDGE_OK(tl_collision_solver(method)(&l, &p->groups.group[g], &d, &best.count));
    best.cpu_s = fmin(best.cpu_s, judge_thread_cpu_s() - cpu);
    best.wall_s = fmin(best.wall_s, judge_wall_s() - wall);
  }
  best.kinetic = pack_kinetic(p) / best.kinetic;
  best.approach = pack_approach(p);
  return best;
}

static void say(const char *pack, const Pack *p, double e, const char *method, const Result *r) {
  judge_note("%s pack, %d contacts, e = %g, %s: %.1f impulses a contact, %.0f ms, %lld rounds, "
             "kinetic energy %.4f of the start.",
             pack, p->pairs, e, method, (double)r->count.impulses / p->pairs, 1e3 * r->cpu_s,
             (long long)r->count.rounds, r->kinetic);
}

static void against_reference(Pack *loose, Pack *jammed) {
  static const double es[2] = {0, 0.5};
  Pack *packs[2] = {loose, jammed};
  const char *name[2] = {"Loose", "Jammed"};
  double least[2] = {INFINITY, INFINITY}, worst = 0, approach = 0;
  for (int k = 0; k < 2; k++)
    for (int i = 0; i < 2; i++) {
      Result level = run(packs[k], TL_ETM_LEVEL, es[i], 2);
      Result queue = run(packs[k], TL_ETM_PRIORITY, es[i], 1);
      say(name[k], packs[k], es[i], "etm-level", &level);
      say(name[k], packs[k], es[i], "etm", &queue);
      least[k] = fmin(least[k], queue.cpu_s / level.cpu_s);
      approach = fmax(approach, fmax(level.approach, queue.approach));
      if (k == 0) worst = fmax(worst, fabs(level.kinetic / queue.kinetic - 1));
    }
  judge_at_least(JUDGE_GOAL, "etm_level_speedup_jammed", least[1], "times", 5);
  judge_at_least(JUDGE_GOAL, "etm_level_speedup_loose", least[0], "times", 5);
  judge_at_most(JUDGE_GOAL, "etm_level_kinetic_difference", worst, "of etm's, loose", 0.01);
  judge_at_most(JUDGE_CORRECT, "etm_approach_left", approach, "m/s", law().tolerance_m_s);
  Result sqm = run(loose, TL_SQM, 0.5, 1);
  say("Loose", loose, 0.5, "sqm", &sqm);
}

static void threads(Pack *p, const char *figure) {
  size_t n = (size_t)p->bodies.total * sizeof(TlTwist);
  TlTwist *one = malloc(n);
  if (!one) judge_ok(TL_ENOMEM, "memory");
  tl_par_set_threads(1);
  Result alone = run(p, TL_ETM_LEVEL, 0.5, REPEATS);
  memcpy(one, p->twist, n);
  tl_par_set_threads(2);
  Result both = run(p, TL_ETM_LEVEL, 0.5, REPEATS);
  judge_at_least(JUDGE_GOAL, figure, alone.wall_s / both.wall_s, "times", 1.7);
  judge_at_most(JUDGE_CORRECT, "etm_threads_other_bits", memcmp(one, p->twist, n) != 0, "", 0);
  free(one);
}

int main(int argc, char **argv) {
  judge_open("etm", argc, argv);
  tl_par_set_threads(1);
  Pack loose, jammed;
  JUDGE_OK(pack_loose(&loose, SIDE, 2.1, 0.3, 0.5));
  JUDGE_OK(pack_jammed(&jammed, CELLS, 0.3, 0.5));
  judge_note("Bodies in the largest island: %lld of %lld in the loose pack.",
             (long long)loose.groups.largest, (long long)loose.bodies.total);
  judge_note("%d colours in the loose pack, %d in the jammed one.", loose.groups.group[0].colours,
             jammed.groups.group[0].colours);
  against_reference(&loose, &jammed);
  threads(&jammed, "etm_threads_speedup");
  pack_free(&loose);
  pack_free(&jammed);
  return judge_close();
}
