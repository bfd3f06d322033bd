#include "judge/agreement.h"

#include "base/mem.h"
#include "judge/cases.h"
#include "judge/judge.h"

#include <math.h>
#include <stdio.h>

enum { RUN_OUT_SEEDS = 2, STACKS = REPOSE_SHAPES * AGREE_SEEDS };
static const char *const method_name[AGREE_METHODS] = {"impulses", "penalty", "rigid", "nonsmooth"};
static const char *const method_said[AGREE_METHODS] = {"impulses", "penalty, ks 2/7 of kn",
                                                       "penalty, ks as kn", "the nonsmooth method"};
static const char *const shape_said[REPOSE_SHAPES] = {"spheres", "cubes", "crosses", "stones"};
static const char *const method_sets[AGREE_METHODS][2] = {
    {"solver.method=etm-level", NULL},
    {"solver.method=penalty", NULL},
    {"solver.method=penalty", "penalty.tangential_ratio=1"},
    {"solver.method=nonsmooth", NULL}};

/* A quarter of the study's step: in that one grains by impulses run out 1 to 3% less far. */
static const char finer_step[] = "time.dt_s=3.3333333333333333e-4";

typedef struct Stack { /* what judge_cases gives: one shape and seed */
  ReposeStack settled;
  ReposeHeap heap[AGREE_METHODS], run_out[AGREE_METHODS]; /* no steps: was not run */
} Stack;

static void flow_out(const Agreement *agreement, int s, int seed, int m, const TlGrainState *start,
                     Stack *stack) {
  char name[64];
  bool springs = m == AGREE_PENALTY || m == AGREE_RIGID;
  ReposeCase c = {.folder = name,
                  .shape = (ReposeShape)s,
                  .friction = 0.4,
                  .seed = seed,
                  .held_s = springs ? agreement->held_s : 0};
  for (int i = 0; i < 2; i++) c.sets[i] = method_sets[m][i];
  snprintf(name, sizeof name, "%s_%s_%d.run", repose_shape[s], method_name[m], seed);
  if (seed <= agreement->seeds[s][m])
    repose_flow_out(agreement->edition, &c, start, &stack->heap[m]);
  if (seed > RUN_OUT_SEEDS) return;
  c.way_out = REPOSE_LONG_FLOOR;
  if (m == AGREE_IMPULSES) c.sets[1] = finer_step;
  snprintf(name, sizeof name, "%s_%s_%d_out.run", repose_shape[s], method_name[m], seed);
  repose_flow_out(agreement->edition, &c, start, &stack->run_out[m]);
}

static void run_stack(int which, void *result, void *context) {
  const Agreement *agreement = context;
  Stack *stack = result;
  int s = which / AGREE_SEEDS, seed = which % AGREE_SEEDS + 1;
  if (agreement->seeds[s][AGREE_IMPULSES] == 0) return;
  TlGrainState *start = repose_settle(agreement->edition, (ReposeShape)s, seed, &stack->settled);
  for (int m = 0; m < AGREE_METHODS; m++)
    if (agreement->seeds[s][m] > 0) flow_out(agreement, s, seed, m, start, stack);
  tl_free(start);
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

static Mean mean_of(const Stack *stack, int s, int m, bool out, Figure figure) {
  Mean mean = {0};
  for (int i = s * AGREE_SEEDS; i < (s + 1) * AGREE_SEEDS; i++)
    add(&mean, out ? &stack[i].run_out[m] : &stack[i].heap[m], figure);
  mean.value /= fmax(1, mean.seeds);
  mean.cpu_s /= fmax(1, mean.seeds);
  return mean;
}

/* Distance of the means over the larger range of the two; a method of one seed has no range. */
static double apart(const Mean *a, const Mean *b) {
  return fabs(a->value - b->value) / fmax(a->most - a->least, b->most - b->least);
}

static void judge_figure(const char *study, const Stack *stack, const char *what, const char *said,
                         const char *unit, bool out, Figure figure) {
  for (int s = 0; s < REPOSE_SHAPES; s++) {
    Mean by[AGREE_METHODS];
    for (int m = 0; m < AGREE_METHODS; m++) {
      char name[64];
      by[m] = mean_of(stack, s, m, out, figure);
      if (by[m].seeds == 0) continue;
      judge_note("%s of %s by %s: %.1f %s (%d seeds, %.1f to %.1f), %.3g s CPU.", said,
                 shape_said[s], method_said[m], by[m].value, unit, by[m].seeds, by[m].least,
                 by[m].most, by[m].cpu_s);
      if (m == 0) continue;
      snprintf(name, sizeof name, "%s_%s_%s_%s", study, what, repose_shape[s], method_name[m]);
      judge_at_most(JUDGE_GOAL, name, apart(&by[m], &by[AGREE_IMPULSES]), "of the seeds' range", 1);
    }
  }
}

static void judge_overlaps(const char *study, const Stack *stack) {
  for (int s = 0; s < REPOSE_SHAPES; s++)
    for (int m = 0; m < AGREE_METHODS; m++) {
      char name[64];
      JudgeOverlap worst = {0};
      bool run = false;
      for (int i = s * AGREE_SEEDS; i < (s + 1) * AGREE_SEEDS; i++) {
        const ReposeHeap *two[] = {&stack[i].heap[m], &stack[i].run_out[m]};
        for (int k = 0; k < 2; k++) {
          if (two[k]->steps == 0) continue;
          worst = judge_overlap_worse(worst, two[k]->truth);
          run = true;
        }
      }
      snprintf(name, sizeof name, "%s_%s_%s_true_overlap", study, repose_shape[s], method_name[m]);
      if (run) judge_true_overlap(name, &worst);
    }
}

/* By penalty, which books all that takes energy. */
static void judge_energy(const char *study, const Stack *stack) {
  char name[64];
  double balance_error = 0;
  for (int i = 0; i < STACKS; i++)
    for (int m = AGREE_PENALTY; m <= AGREE_RIGID; m++)
      balance_error = fmax(balance_error,
                           fmax(stack[i].heap[m].balance_error, stack[i].run_out[m].balance_error));
  snprintf(name, sizeof name, "%s_penalty_energy_defect", study);
  judge_at_most(JUDGE_CORRECT, name, balance_error, "of what was lost", 0.01);
}

void agreement_judge(const Agreement *agreement) {
  const char *study = agreement->study;
  Agreement given = *agreement;
  int order[STACKS];
  for (int k = 0; k < STACKS; k++) order[k] = STACKS - 1 - k; /* spheres take least */
  const Stack *stack =
      judge_cases(&(JudgeCases){STACKS, sizeof(Stack), run_stack, &given, order, NULL});
  judge_figure(study, stack, "angle", "Angle", "degrees", false, angle);
  judge_figure(study, stack, "left", "Grains left", "grains", false, left);
  judge_figure(study, stack, "out", "Run-out", "mm", true, run_out);
  judge_overlaps(study, stack);
  judge_energy(study, stack);
}
