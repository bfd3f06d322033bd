/* Three methods, one truth: the same settled grains by impulses, by penalty forces with a tangential
 * stiffness of 2/7 of the normal one and as large as it, and by the nonsmooth method, the study's keys
 * of the methods alone being different (config/validation/repose.yaml).
 *
 * Spheres, cubes, crosses and stones with hollows settle in a box, at friction 0.4; then its right wall
 * goes. Over a low sill: angle of repose, four seeds. On a long floor: run-out after half a second,
 * two seeds. Overlaps are those of the oracle (judge/overlap.h).
 *
 * Two methods agree when the means over their seeds lie no farther apart than the seeds of the two
 * scatter: the larger of the two ranges. A pile has no more than a few hundred grains in the small
 * edition, so a method that is off by less than that is not found there. The full edition has 1,012 to
 * 1,760 grains in a box that is wider; cubes, crosses and stones by penalty would take hours a pile of that
 * size, so that these are run, and judged beside the impulses, in the small edition's box (40 minutes a pile).
 */
#include "judge/repose.h"
#include "validation/pictures.h"

#include "base/log.h"
#include "base/mem.h"
#include "judge/cases.h"
#include "judge/judge.h"

#include <math.h>
#include <stdio.h>

enum { SEEDS = 4, RUN_OUT_SEEDS = 2, STACKS = REPOSE_SHAPES * SEEDS };
typedef enum Method { IMPULSES, PENALTY, RIGID, NONSMOOTH, METHODS } Method;
static const char *const method_name[METHODS] = {"impulses", "penalty", "rigid", "nonsmooth"};
static const char *const method_said[METHODS] = {"impulses", "penalty, ks 2/7 of kn",
                                                 "penalty, ks as kn", "the nonsmooth method"};
static const char *const shape_said[REPOSE_SHAPES] = {"spheres", "cubes", "crosses", "stones"};
static const char *const method_sets[METHODS][2] = {
    {"solver.method=etm-level", NULL},
    {"solver.method=penalty", NULL},
    {"solver.method=penalty", "penalty.tangential_ratio=1"},
    {"solver.method=nonsmooth", NULL}};

/* A quarter of the study's, in which grains by impulses run out 1 to 3% less far. */
static const char finer_step[] = "time.dt_s=3.3333333333333333e-4";

typedef struct Stack { /* what judge_cases gives: one shape and seed */
  ReposeStack settled;
  ReposeHeap heap[METHODS], run_out[METHODS]; /* no steps: was not run */
} Stack;

/* Piles that are judged among themselves, and what of them was run. */
typedef struct Group {
  const ReposeEdition *edition;
  const char *named;      /* what names of results begin with */
  bool shaped_by_penalty; /* no spheres, and only impulses and the stiffer penalty */
  const Stack *stack;
} Group;

static bool is_run(const Group *g, int s, Method m) {
  bool springs = m == PENALTY || m == RIGID;
  if (g->shaped_by_penalty) return s != REPOSE_SPHERE && (m == IMPULSES || m == RIGID);
  return !springs || s == REPOSE_SPHERE;
}

/* A heap of shaped grains takes 40 minutes by penalty, its run-out ten. */
static int heap_seeds(const Group *g, Method m) {
  return g->shaped_by_penalty && m == RIGID ? 1 : SEEDS;
}

static void flow_out(const Group *g, int s, int seed, Method m, const TlGrainState *start,
                     Stack *stack) {
  char name[64];
  ReposeCase c = {.folder = name, .shape = (ReposeShape)s, .friction = 0.4, .seed = seed};
  for (int i = 0; i < 2; i++) c.sets[i] = method_sets[m][i];
  snprintf(name, sizeof name, "%s%s_%s_%d.run", g->named, repose_shape[s], method_name[m], seed);
  if (seed <= heap_seeds(g, m)) repose_flow_out(g->edition, &c, start, &stack->heap[m]);
  if (seed > RUN_OUT_SEEDS) return;
  c.way_out = REPOSE_LONG_FLOOR;
  if (m == IMPULSES) c.sets[1] = finer_step;
  snprintf(name, sizeof name, "%s%s_%s_%d_out.run", g->named, repose_shape[s], method_name[m],
           seed);
  repose_flow_out(g->edition, &c, start, &stack->run_out[m]);
}

static void run_stack(int which, void *result, void *context) {
  const Group *g = context;
  Stack *stack = result;
  int s = which / SEEDS, seed = which % SEEDS + 1;
  if (!is_run(g, s, IMPULSES)) return;
  TlGrainState *start = repose_settle(g->edition, g->named, (ReposeShape)s, seed, &stack->settled);
  for (int m = 0; m < METHODS; m++)
    if (is_run(g, s, (Method)m)) flow_out(g, s, seed, (Method)m, start, stack);
  tl_free(start);
}

static void run_group(Group *g) {
  int order[STACKS];
  for (int k = 0; k < STACKS; k++) order[k] = STACKS - 1 - k; /* spheres take least */
  g->stack = judge_cases(&(JudgeCases){STACKS, sizeof(Stack), run_stack, g, order, g->named});
}

/* ---- judging ---- */

typedef struct Mean { /* over the seeds that were run */
  double value, least, most, cpu_s;
  int seeds;
} Mean;

typedef double (*Figure)(const ReposeHeap *heap);

static double angle(const ReposeHeap *heap) {
  return heap->repose.mean_deg;
}

static double left(const ReposeHeap *heap) {
  return (double)heap->left;
}

static double run_out(const ReposeHeap *heap) {
  return 1e3 * heap->run_out_m;
}

static void add(Mean *mean, const ReposeHeap *heap, Figure figure) {
  if (heap->steps == 0) return;
  double x = figure(heap);
  mean->least = mean->seeds ? fmin(mean->least, x) : x;
  mean->most = mean->seeds ? fmax(mean->most, x) : x;
  mean->value += x;
  mean->cpu_s += heap->cpu_s;
  mean->seeds++;
}

static Mean mean_of(const Stack *stack, int s, Method m, bool out, Figure figure) {
  Mean mean = {0};
  for (int i = s * SEEDS; i < (s + 1) * SEEDS; i++)
    add(&mean, out ? &stack[i].run_out[m] : &stack[i].heap[m], figure);
  mean.value /= fmax(1, mean.seeds);
  mean.cpu_s /= fmax(1, mean.seeds);
  return mean;
}

/* Distance of the means over the larger range of the two; a method of one seed has no range. */
static double apart(const Mean *a, const Mean *b) {
  return fabs(a->value - b->value) / fmax(a->most - a->least, b->most - b->least);
}

static void judge_figure(const Stack *stack, const char *what, const char *said, const char *unit,
                         bool out, Figure figure) {
  for (int s = 0; s < REPOSE_SHAPES; s++) {
    Mean by[METHODS];
    for (int m = 0; m < METHODS; m++) {
      char name[64];
      by[m] = mean_of(stack, s, (Method)m, out, figure);
      if (by[m].seeds == 0) continue;
      judge_note("%s of %s by %s: %.1f %s (%d seeds, %.1f to %.1f), %.3g s CPU.", said,
                 shape_said[s], method_said[m], by[m].value, unit, by[m].seeds, by[m].least,
                 by[m].most, by[m].cpu_s);
      if (m == 0) continue;
      snprintf(name, sizeof name, "three_methods_%s_%s_%s", what, repose_shape[s], method_name[m]);
      judge_at_most(JUDGE_GOAL, name, apart(&by[m], &by[IMPULSES]), "of the seeds' range", 1);
    }
  }
}

/* By penalty, which books all that takes energy. */
static void judge_energy(const Group *group, int groups) {
  double defect = 0;
  for (const Group *g = group; g < group + groups; g++)
    for (int i = 0; i < STACKS; i++)
      for (int m = PENALTY; m <= RIGID; m++)
        defect = fmax(defect, fmax(g->stack[i].heap[m].defect, g->stack[i].run_out[m].defect));
  judge_at_most(JUDGE_CORRECT, "three_methods_penalty_energy_defect", defect, "of what was lost",
                0.01);
}

static void judge_overlaps(const Group *g) {
  const Stack *stack = g->stack;
  for (int s = 0; s < REPOSE_SHAPES; s++)
    for (int m = 0; m < METHODS; m++) {
      char name[64];
      JudgeOverlap worst = {0};
      if (!is_run(g, s, (Method)m) || (g->shaped_by_penalty && m == IMPULSES)) continue;
      for (int i = s * SEEDS; i < (s + 1) * SEEDS; i++) {
        if (stack[i].heap[m].steps) worst = judge_overlap_worse(worst, stack[i].heap[m].truth);
        if (stack[i].run_out[m].steps)
          worst = judge_overlap_worse(worst, stack[i].run_out[m].truth);
      }
      snprintf(name, sizeof name, "three_methods_%s_%s_true_overlap", repose_shape[s],
               method_name[m]);
      judge_true_overlap(name, &worst);
    }
}

int main(int argc, char **argv) {
  judge_open("three_methods", argc, argv);
  tl_log_set("val_three_methods", TL_LOG_WARN);
  Group group[] = {{.edition = judge_full() ? &repose_wide : &repose_small, .named = ""},
                   {.edition = &repose_small, .named = "small_", .shaped_by_penalty = true}};
  int groups = judge_full() ? 2 : 1;
  for (int i = 0; i < groups; i++) {
    run_group(&group[i]);
    judge_figure(group[i].stack, "angle", "Angle", "degrees", false, angle);
    judge_figure(group[i].stack, "left", "Grains left", "grains", false, left);
    judge_figure(group[i].stack, "out", "Run-out", "mm", true, run_out);
    judge_overlaps(&group[i]);
  }
  judge_energy(group, groups);
  return judge_close();
}
