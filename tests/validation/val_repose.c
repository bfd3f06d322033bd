/* Angle of repose of spheres, cubes and crosses against friction (Tang 2014, section 7.4, Figs. 12
 * to 15): they settle in a box, the right wall goes, a line is fitted in each of eight strips.
 *
 * Tang tells no numbers of grains, sizes, frictions or angles, nor what holds the lowest layer.
 * Here the floor ends in a low sill where the right wall stood: what flows over it falls away, and
 * the slope that stays runs from the back wall to the sill. A stack of each shape and seed settles
 * once, at friction 0.4; each friction's heap begins with it, at the instant the wall goes. A run
 * ends when what is left on the floor rests, or at its study's end. There is no damping. Stacks run
 * side by side as processes of one thread. The same stacks by other methods: val_three_methods.c.
 *
 * Beside it the closed form that decides whether spheres can stand at all without rolling
 * resistance: one sphere on three that touch. The line between two touching points of a lower
 * sphere makes half the angle a between the upper contact's normal and the vertical with that
 * normal, and both forces lie along it; so mu >= tan(a/2), sin a = 1/sqrt(3): sqrt(3) - sqrt(2).
 */
#include "judge/repose.h"
#include "validation/pictures.h"

#include "base/log.h"
#include "base/mem.h"
#include "judge/cases.h"
#include "judge/judge.h"
#include "judge/overlap.h"
#include "judge/pyramid.h"

#include <math.h>
#include <stdio.h>

enum { SHAPES = 3, FRICTIONS = 4, SEEDS = 4, STACKS = SHAPES * SEEDS };
static const double friction[FRICTIONS] = {0, 0.2, 0.4, 0.6};

/* In the full edition cubes without friction fall from twice the height. With the study's 60 sweeps three seeds reached
 * 2.01, 1.93 and 2.02% of the radius into each other, with these 1.12, 0.62 and 1.99%. */
static const char more_sweeps[] = "solver.rest_sweeps=120";

typedef struct Stack { /* what judge_cases gives: one shape and seed */
  ReposeStack settled;
  ReposeHeap heap[FRICTIONS];
  ReposeHeap bare; /* spheres, seed 1: without friction nor sill */
} Stack;

typedef struct Angle { /* over the strips of all seeds */
  double mean_deg, least_deg, most_deg, error_deg, moving, end_s;
  double left; /* grains, mean of the seeds */
} Angle;

/* ---- the cases ---- */

static const char *folder_of(int s, int m, int seed) {
  static char name[64];
  snprintf(name, sizeof name, "%s_%g_%d.run", repose_shape[s], friction[m], seed);
  return name;
}

static void run_stack(int which, void *result, void *context) {
  const ReposeEdition *e = context;
  Stack *stack = result;
  int s = which / SEEDS, seed = which % SEEDS + 1;
  TlGrainState *start = repose_settle(e, (ReposeShape)s, seed, &stack->settled);
  ReposeCase c = {.shape = (ReposeShape)s, .seed = seed};
  for (int m = 0; m < FRICTIONS; m++) {
    c.friction = friction[m];
    c.folder = folder_of(s, m, seed);
    c.sets[0] = judge_full() && s == REPOSE_CUBE && !(friction[m] > 0) ? more_sweeps : NULL;
    repose_flow_out(e, &c, start, &stack->heap[m]);
  }
  if (s == 0 && seed == 1)
    repose_flow_out(e, &(ReposeCase){.folder = "bare.run", .seed = 1, .way_out = REPOSE_BARE},
                    start, &stack->bare);
  tl_free(start);
}

/* Spheres take least. */
static const Stack *run_stacks(ReposeEdition *e) {
  int order[STACKS];
  for (int k = 0; k < STACKS; k++) order[k] = STACKS - 1 - k;
  return judge_cases(&(JudgeCases){STACKS, sizeof(Stack), run_stack, e, order});
}

/* ---- angles ---- */

/* Standard error of the mean: strips are narrower than a grain, so one counts for each diameter of
 * width; but the strips of one heap may err together, so the seeds' own scatter where it is more.
 */
static double error_of(const ReposeEdition *e, const Stack *stack, int m, double mean_deg) {
  double strips = 0, seeds = 0;
  for (int i = 0; i < SEEDS; i++) {
    const TlRepose *r = &stack[i].heap[m].repose;
    double off = r->mean_deg - mean_deg;
    strips += (r->sd_deg * r->sd_deg + off * off) / SEEDS;
    seeds += off * off / (SEEDS - 1);
  }
  return sqrt(fmax(strips / (SEEDS * e->width / REPOSE_DIAMETER), seeds / SEEDS));
}

/* stack: of one shape, seed after seed. */
static Angle angle_of(const ReposeEdition *e, const Stack *stack, int m) {
  Angle a = {.least_deg = INFINITY, .most_deg = -INFINITY};
  for (int i = 0; i < SEEDS; i++) {
    const ReposeHeap *h = &stack[i].heap[m];
    a.mean_deg += h->repose.mean_deg / SEEDS;
    a.left += (double)h->left / SEEDS;
    a.least_deg = fmin(a.least_deg, h->repose.least_deg);
    a.most_deg = fmax(a.most_deg, h->repose.most_deg);
    a.moving = fmax(a.moving, h->moving);
    a.end_s = fmax(a.end_s, h->end_s);
  }
  a.error_deg = error_of(e, stack, m, a.mean_deg);
  return a;
}

static void plot(Angle a[SHAPES][FRICTIONS]) {
  FILE *file = judge_data("repose.dat");
  for (int s = 0; s < SHAPES; s++) {
    for (int m = 0; m < FRICTIONS; m++)
      fprintf(file, "%g %g %g %g\n", friction[m], a[s][m].mean_deg, a[s][m].least_deg,
              a[s][m].most_deg);
    fprintf(file, "\n\n");
  }
  fclose(file);
  judge_gnuplot(judge_full() ? "repose_full" : "repose",
                "set xlabel 'friction'; set ylabel 'angle of repose, degrees'\n"
                "set title 'mean, least and largest slope of the strips of four seeds'\n"
                "set key left top; set xrange [-0.05:0.65]; set xtics 0.2\n"
                "set yrange [0:*]\n"
                "plot for [i=0:2] 'repose.dat' index i using "
                "($1+0.008*(i-1)):2:3:4 with yerrorlines lw 2 pt 7 title "
                "word('spheres cubes crosses', i+1)\n");
}

/* From no friction to the most, less two standard errors; and the least step between neighbouring
 * frictions, plus two: no fall is certain. */
static void judge_rise(Angle a[SHAPES][FRICTIONS]) {
  static const char *const rise[SHAPES] = {"repose_rise_sphere", "repose_rise_cube",
                                           "repose_rise_cross"};
  static const char *const step[SHAPES] = {"repose_step_sphere", "repose_step_cube",
                                           "repose_step_cross"};
  for (int s = 0; s < SHAPES; s++) {
    const Angle *first = a[s], *last = &a[s][FRICTIONS - 1];
    double least = INFINITY;
    for (int m = 1; m < FRICTIONS; m++)
      least = fmin(least, a[s][m].mean_deg - a[s][m - 1].mean_deg +
                              2 * hypot(a[s][m].error_deg, a[s][m - 1].error_deg));
    judge_at_least(JUDGE_GOAL, rise[s],
                   last->mean_deg - first->mean_deg - 2 * hypot(first->error_deg, last->error_deg),
                   "deg", 0);
    judge_at_least(JUDGE_GOAL, step[s], least, "deg", 0);
  }
}

static void judge_order(Angle a[SHAPES][FRICTIONS]) {
  static const char *const figure[FRICTIONS - 1][SHAPES - 1] = {
      {"repose_cube_over_sphere_0.2", "repose_cross_over_cube_0.2"},
      {"repose_cube_over_sphere_0.4", "repose_cross_over_cube_0.4"},
      {"repose_cube_over_sphere_0.6", "repose_cross_over_cube_0.6"}};
  for (int m = 1; m < FRICTIONS; m++)
    for (int s = 1; s < SHAPES; s++)
      judge_at_least(JUDGE_GOAL, figure[m - 1][s - 1], a[s][m].mean_deg - a[s - 1][m].mean_deg,
                     "deg", 0);
}

/* Tang's text gives how far the strips' largest and least slopes lie from their mean, no angles. */
static void compare(const Stack *stack) {
  static const double tang[SHAPES] = {0.8, 3.17, 12.89};
  static const char *const figure[SHAPES] = {"repose_spread_sphere", "repose_spread_cube",
                                             "repose_spread_cross"};
  for (int s = 0; s < SHAPES; s++) {
    double most = 0;
    for (int i = 0; i < FRICTIONS * SEEDS; i++) {
      const TlRepose *r = &stack[s * SEEDS + i / FRICTIONS].heap[i % FRICTIONS].repose;
      most = fmax(most, 0.5 * (r->most_deg - r->least_deg));
    }
    judge_paper(figure[s], most, tang[s], "deg", "Tang 2014, 7.4, largest");
  }
}

static void say(int s, int m, const Angle *a) {
  judge_note("%ss, friction %g: %.1f +- %.1f degrees, strips from %.1f to %.1f; %.0f grains left, "
             "%s %.2f s.",
             s == 2 ? "crosse" : repose_shape[s], friction[m], a->mean_deg, a->error_deg,
             a->least_deg, a->most_deg, a->left,
             a->moving <= REPOSE_MOVING_FRACTION ? "at rest by" : "still moving at", a->end_s);
}

/* Without friction: less than a line makes of one layer that covers half the floor; and without
 * the sill less than a layer is left, which nothing pushes. */
static void judge_frictionless(const ReposeEdition *e, const Angle *a, const ReposeHeap *bare) {
  double layer = e->length * e->width / (REPOSE_DIAMETER * REPOSE_DIAMETER);
  judge_at_most(JUDGE_GOAL, "repose_frictionless_sphere", a->mean_deg, "deg",
                atan(1.5 * REPOSE_DIAMETER / e->length) * 180 / 3.14159265358979323846);
  judge_at_most(JUDGE_GOAL, "repose_frictionless_bare", (double)bare->left / layer, "layers", 1);
  judge_paper("repose_frictionless", a->mean_deg, 5.76, "deg",
              "Peyneau and Roux 2008, large packs of spheres");
  judge_note("Without sill and friction %lld of %lld spheres are left at %.2f s.",
             (long long)bare->left, (long long)e->grains[0], bare->end_s);
}

/* ---- pictures ---- */

static void picture(const ReposeEdition *e, int s, int m, const char *name) {
  static const double last[] = {1};
  double size = e->length / repose_small.length;
  char file[64];
  const char *named = file;
  snprintf(file, sizeof file, "repose_%s%s.png", judge_full() ? "full_" : "", name);
  Gallery g = {.folder = judge_path(folder_of(s, m, 1)),
               .from = {0.12 * size, -0.44 * size, 0.16 * size},
               .at = {0.09 * size, 0.5 * e->width, 0.08 * size},
               .colour = TL_COLOUR_ID,
               .width = 600,
               .height = 400};
  pictures(&g, 1, last, &named);
}

/* All boxes are filled to 1.3 of the floor's length within a tenth: less would cut steep slopes off
 * (tan 52 deg = 1.3), and what falls must not depend on the shape. */
static void judge_stacks(const ReposeEdition *e, const Stack *stack) {
  double least = INFINITY, most = 0, cpu_s = 0;
  JudgeOverlap deepest = stack[0].bare.worst;
  for (int i = 0; i < STACKS; i++) {
    least = fmin(least, stack[i].settled.fill);
    most = fmax(most, stack[i].settled.fill);
    cpu_s += stack[i].settled.cpu_s + stack[i].bare.cpu_s;
    deepest = judge_overlap_worse(deepest, stack[i].settled.worst);
    for (int m = 0; m < FRICTIONS; m++) {
      cpu_s += stack[i].heap[m].cpu_s;
      deepest = judge_overlap_worse(deepest, stack[i].heap[m].worst);
    }
  }
  judge_note("%d spheres, %d cubes, %d crosses; %d seeds, %.0f s CPU in all.", e->grains[0],
             e->grains[1], e->grains[2], SEEDS, cpu_s);
  judge_at_least(JUDGE_GOAL, "repose_fill_least", least / e->length, "of the floor", 1.17);
  judge_at_most(JUDGE_GOAL, "repose_fill_most", most / e->length, "of the floor", 1.43);
  judge_worst_overlap("repose_worst_overlap", &deepest);
  for (int s = 0; s < SHAPES; s++) {
    char name[64];
    JudgeOverlap worst = stack[s * SEEDS].settled.truth;
    for (int i = s * SEEDS; i < (s + 1) * SEEDS; i++) {
      worst = judge_overlap_worse(worst, stack[i].settled.truth);
      for (int m = 0; m < FRICTIONS; m++)
        worst = judge_overlap_worse(worst, stack[i].heap[m].truth);
    }
    snprintf(name, sizeof name, "repose_%s_true_overlap", repose_shape[s]);
    judge_true_overlap(name, &worst);
  }
}

int main(int argc, char **argv) {
  static Angle a[SHAPES][FRICTIONS];
  judge_open("repose", argc, argv);
  tl_log_set("val_repose", TL_LOG_WARN);
  ReposeEdition e = judge_full() ? repose_large : repose_small;
  if (!judge_full()) e.flow_s = 6;     /* one heap of spheres still slid after 3.5 s */
  const Stack *stack = run_stacks(&e); /* forks: before anything that threads or ranks do */
  double moving = 0;
  for (int s = 0; s < SHAPES; s++)
    for (int m = 0; m < FRICTIONS; m++) {
      a[s][m] = angle_of(&e, &stack[s * SEEDS], m);
      if (friction[m] > 0) moving = fmax(moving, a[s][m].moving);
      say(s, m, &a[s][m]);
    }
  judge_rise(a);
  judge_order(a);
  judge_frictionless(&e, &a[0][0], &stack[0].bare);
  judge_stacks(&e, stack);
  judge_at_most(JUDGE_GOAL, "repose_rest", moving, "of the grains", REPOSE_MOVING_FRACTION);
  judge_at_most(JUDGE_CORRECT, "repose_pyramid_error",
                fabs(pyramid_least_friction("etm-level") - (sqrt(3) - sqrt(2))), "friction", 0.001);
  compare(stack);
  plot(a);
  picture(&e, 0, 0, "sphere_frictionless");
  picture(&e, 0, 3, "sphere");
  picture(&e, 1, 3, "cube");
  picture(&e, 2, 3, "cross");
  return judge_close();
}
