/* The impulse laws alone, on packs of closed-form spheres with more than 10,000 contacts in one
 * island: etm-level beside the reference and beside sequential impulses, two threads beside one.
 *
 * The packs follow rules fixed before anything was measured on them (support/pack.h). Loose: random
 * loose packing of rough spheres, solid fraction 0.555, 2.3 contacts a sphere, all at 1 m/s towards
 * the floor. Jammed: a face-centred cubic block, the same fall. K = 20 increments, tolerance 1e-3
 * of the fall's speed: what a step of 2 ms takes (0.05 g dt). */
#include "base/par.h"
#include "judge/judge.h"
#include "support/pack.h"

#include <stdlib.h>

enum { CELLS = 9, SPHERES = 4800, REPEATS = 2, TEAM_REPEATS = 5 };

static TlEtmLaw law(void) {
  return (TlEtmLaw){.increments = 20,
                    .max_rounds = 40,
                    .final_sweeps = 100000,
                    .tolerance_m_s = 1e-3,
                    .similar = 0.01};
}

typedef struct Result {
  TlEtmCount count;
  double cpu_s, wall_s, kinetic, approach; /* kinetic: fraction of the start */
} Result;

/* Best of some runs: the machine is shared. */
static Result run(Pack *p, TlMethod method, double e, int repeats) {
  Result best = {.cpu_s = INFINITY, .wall_s = INFINITY};
  TlEtmLaw l = law();
  TlDynamics d = pack_dynamics(p);
  p->law->restitution = e;
  for (int i = 0; i < repeats; i++) {
    pack_rewind(p);
    best.kinetic = pack_kinetic(p);
    best.count = (TlEtmCount){0};
    double cpu = judge_thread_cpu_s(), wall = judge_wall_s();
    for (int32_t g = 0; g < p->groups.count; g++) /* one giant, a few of two or three grains */
      JUDGE_OK(tl_method(method)->collide(&l, &p->groups.group[g], &d, &best.count));
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

typedef struct Duel {
  double faster;    /* times etm-level is faster than etm */
  double different; /* of the kinetic energy left, relative */
  double approach;  /* m/s, left by either */
} Duel;

/* In turn, the best of each: a slow second of the machine must not fall on one alone. */
static Duel duel(Pack *p, const char *name, double e, int repeats) {
  Result level = run(p, TL_ETM_LEVEL, e, 1), queue = run(p, TL_ETM_PRIORITY, e, 1);
  for (int i = 1; i < repeats; i++) {
    level.cpu_s = fmin(level.cpu_s, run(p, TL_ETM_LEVEL, e, 1).cpu_s);
    queue.cpu_s = fmin(queue.cpu_s, run(p, TL_ETM_PRIORITY, e, 1).cpu_s);
  }
  say(name, p, e, "etm-level", &level);
  say(name, p, e, "etm", &queue);
  return (Duel){queue.cpu_s / level.cpu_s, fabs(level.kinetic / queue.kinetic - 1),
                fmax(level.approach, queue.approach)};
}

static void against_reference(Pack *loose, Pack *jammed) {
  static const double es[2] = {0, 0.5};
  double times[2] = {INFINITY, INFINITY}, worst = 0, approach = 0;
  for (int i = 0; i < 2; i++) {
    Duel in_loose = duel(loose, "Loose", es[i], REPEATS);
    Duel in_jammed = duel(jammed, "Jammed", es[i], REPEATS);
    times[0] = fmin(times[0], in_loose.faster);
    times[1] = fmin(times[1], in_jammed.faster);
    worst = fmax(worst, in_loose.different);
    approach = fmax(approach, fmax(in_loose.approach, in_jammed.approach));
  }
  judge_at_least(JUDGE_GOAL, "etm_level_speedup_jammed", times[1], "times", 5);
  judge_at_least(JUDGE_GOAL, "etm_level_speedup_loose", times[0], "times", 5);
  judge_at_most(JUDGE_GOAL, "etm_level_kinetic_difference", worst, "of etm's, loose", 0.01);
  judge_at_most(JUDGE_CORRECT, "etm_approach_left", approach, "m/s", law().tolerance_m_s);
  Duel bouncy = duel(loose, "Loose", 0.9, 1);
  judge_note("Loose pack, e = 0.9: kinetic energies differ by %.2f%% (not judged).",
             100 * bouncy.different);
  Result sqm = run(loose, TL_SQM, 0.5, 1);
  say("Loose", loose, 0.5, "sqm", &sqm);
}

/* Alone and together in turn, the least wall time of each: other work on the machine only adds. */
static void threads(Pack *p, const char *figure) {
  size_t n = (size_t)p->bodies.total * sizeof(TlTwist);
  TlTwist *one = malloc(n);
  if (!one) judge_ok(TL_ENOMEM, "memory");
  double alone = INFINITY, both = INFINITY;
  int other = 0;
  for (int i = 0; i < TEAM_REPEATS; i++) {
    tl_par_set_threads(1);
    alone = fmin(alone, run(p, TL_ETM_LEVEL, 0, 1).wall_s);
    memcpy(one, p->twist, n);
    tl_par_set_threads(2);
    both = fmin(both, run(p, TL_ETM_LEVEL, 0, 1).wall_s);
    other |= memcmp(one, p->twist, n) != 0;
  }
  judge_note("Threads, jammed pack, e = 0, least wall time of %d runs each in turn: %.0f ms alone, "
             "%.0f ms by two.",
             TEAM_REPEATS, 1e3 * alone, 1e3 * both);
  judge_at_least(JUDGE_GOAL, figure, alone / both, "times", 1.7);
  judge_at_most(JUDGE_CORRECT, "etm_threads_other_bits", other, "", 0);
  free(one);
}

static int32_t cells(const Pack *p) {
  return p->groups.group[0].phase_start[p->groups.group[0].phases];
}

int main(int argc, char **argv) {
  judge_open("etm", argc, argv);
  tl_par_set_threads(1);
  Pack loose, jammed;
  JUDGE_OK(pack_loose(&loose, SPHERES, 0.3, 0.5));
  JUDGE_OK(pack_jammed(&jammed, CELLS, 0.3, 0.5));
  judge_note("Bodies in the largest island: %lld of %lld in the loose pack.",
             (long long)loose.groups.largest, (long long)loose.bodies.total);
  judge_note("%d cells of four grids in the loose pack, %d in the jammed one.", cells(&loose),
             cells(&jammed));
  against_reference(&loose, &jammed);
  threads(&jammed, "etm_threads_speedup");
  pack_free(&loose);
  pack_free(&jammed);
  return judge_close();
}
