/* What a simulated second costs against how far grains really overlap, and against where they end: the
 * outflow, a heap and a small avalanche by impulses over a factor of 64 of the step, by springs over a
 * factor of 1e4 of the stiffness, each at the longest step that is safe for it, and by the nonsmooth
 * method. All on one thread; seconds are those of the process' own CPU clock, without the looks of the
 * oracle. Tan 2024, Table 2, compares the two methods at the step of one and the stiffness of the other;
 * here they are compared where their error is the same.
 *
 * Each run writes a line into points.csv of the study's folder. A full edition that was ended continues
 * after the last line; a fresh one wants that file gone.
 */
#include "judge/judge.h"
#include "judge/outflow.h"
#include "judge/overlap.h"

#include "base/log.h"
#include "base/par.h"
#include "run/plan.h"
#include "run/run.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

enum { SCENES = 3, LOOKS = 5, SEEDS = 2, MOST_STEPS = 7 };
enum { IMPULSES, PLACES, NODES, NONSMOOTH, SURFACES, VARIANTS };
static const double GOAL_OVERLAP = 0.005; /* of the radius: where costs are compared */
static const double CHEAP_S = 4;          /* outflows up to this are repeated with another seed */
static const double RATIO = 0.9;          /* of the springs' stiffnesses, Tan 2024, Table 1 */
static const char *const variant_name[VARIANTS] = {"impulses", "penalty", "penalty_nodes",
                                                   "nonsmooth", "penalty_surfaces"};

/* ---- the scenes ---- */

typedef struct Scene {
  const char *name, *study; /* NULL: the settled grains of judge/outflow.h */
  double seconds;
  double step_s;     /* shortest of the impulses */
  double soft_N_m;   /* softest spring of a contact */
  double soft_Pa_m;  /* softest surface */
  double young_Pa;   /* nonsmooth */
  double steps_s[4]; /* nonsmooth */
} Scene;

static const Scene scene[SCENES] = {
    {"outflow", NULL, 0.5, 4e-5, 3e2, 1e9, 1e8, {2e-3, 5e-4, 1.25e-4, 3.125e-5}},
    {"heap",
     "config/validation/heap.yaml",
     1,
     1.25e-4,
     1e2,
     1e9,
     1e8,
     {2e-3, 5e-4, 1.25e-4, 3.125e-5}},
    {"avalanche",
     "config/validation/cost-avalanche.yaml",
     12,
     2.5e-4,
     2.5e6,
     1e8,
     1e10,
     {1.6e-2, 4e-3, 1e-3, 2.5e-4}}};

/* A small edition looks at the outflow's first half alone. */
static double seconds_of(int which) {
  return judge_full() ? scene[which].seconds : 0.5 * scene[which].seconds;
}

/* Where the grains are, one length of which scenes are compared: spread (root mean square of the distance
 * from the axis), height of the centre of mass, how far that has travelled down the way. */
static double place(int which, const TlBodies *b) {
  double mass = 0, sum = 0;
  for (int64_t i = 0; i < b->owned; i++) {
    TlVec3 x = b->position[i];
    double what = which == 0 ? x.x * x.x + x.y * x.y : which == 1 ? x.z : x.x;
    mass += b->mass[i];
    sum += b->mass[i] * what;
  }
  return which == 0 ? sqrt(sum / mass) : sum / mass;
}

/* ---- one run ---- */

typedef struct Point {
  int scene, variant, seed;
  double parameter; /* step, s; stiffness, N/m or Pa/m */
  double dt_s, cpu_s, seconds;
  int64_t grains, steps;
  double largest, mean;           /* true overlap over the run, of the radius */
  double rest_largest, rest_mean; /* at its end */
  double place_m, start_m, kinetic;
  double deepest; /* of any two grains in any step, as the solver sees it, of the radius */
} Point;

typedef struct Watch {
  TlRun run;
  Point *point;
  double every_s, looked_s; /* CPU of the looks */
  int looks;
} Watch;

static int look(void *context) {
  Watch *w = context;
  Point *p = w->point;
  double t = (double)w->run.state->totals.steps * p->dt_s;
  if (t < (w->looks + 1) * w->every_s - 0.5 * p->dt_s) return 0;
  double begin = judge_cpu_s();
  JudgeOverlap o = judge_overlap_of_run(&w->run);
  p->largest = fmax(p->largest, o.largest_fraction);
  p->mean += o.mean_fraction / LOOKS;
  p->rest_largest = o.largest_fraction;
  p->rest_mean = o.mean_fraction;
  w->looks++;
  w->looked_s += judge_cpu_s() - begin;
  return 0;
}

/* The keys of a variant. The step of springs: NAN until it is known. */
static void keys_of(const Point *p, char *text, size_t size) {
  const Scene *s = &scene[p->scene];
  int used = snprintf(text, size, "time.duration_s=%.17g penalty.tangential_ratio=%.17g ",
                      seconds_of(p->scene), RATIO);
  text += used, size -= (size_t)used;
  double dt = isnan(p->dt_s) ? 1e-9 : p->dt_s;
  switch (p->variant) {
  case IMPULSES:
    snprintf(text, size, "solver.method=etm-level time.dt_s=%.17g", dt);
    break;
  case NONSMOOTH:
    snprintf(text, size, "solver.method=nonsmooth nonsmooth.young_Pa=%.17g nonsmooth.dt_s=%.17g",
             s->young_Pa, dt);
    break;
  case PLACES:
    snprintf(text, size,
             "solver.method=penalty penalty.spread=deepest penalty.normal_N_m=%.17g "
             "penalty.dt_s=%.17g",
             p->parameter, dt);
    break;
  default:
    snprintf(text, size,
             "solver.method=penalty penalty.spread=traction %spenalty.normal_Pa_m=%.17g "
             "penalty.normal_N_m=1 penalty.touching_share=0.02 penalty.dt_s=%.17g",
             p->variant == NODES ? "solver.edges=nodes " : "", p->parameter, dt);
  }
}

static void open_run(TlRun *run, const Point *p, Watch *watch) {
  static char path[256];
  char text[512], seed[32], *items[16];
  TlTexts list = {items, 0};
  keys_of(p, text, sizeof text);
  for (char *at = strtok(text, " "); at; at = strtok(NULL, " ")) items[list.count++] = at;
  snprintf(seed, sizeof seed, "seed=%d", p->seed);
  items[list.count++] = seed;
  if (scene[p->scene].study) {
    snprintf(path, sizeof path, "%s", scene[p->scene].study);
  } else {
    snprintf(seed, sizeof seed, "start_seed%d.yaml", p->seed);
    snprintf(path, sizeof path, "%s", judge_path(seed));
    list.count--; /* placed bodies know no seed */
  }
  TlRunOptions options = {.study = path, .sets = &list, .no_output = true};
  if (watch) options.stop = look, options.stop_context = watch;
  JUDGE_OK(tl_run_open(run, NULL, &options));
  run->options.sets = NULL; /* ours */
}

/* The longest step that the method allows, 1% less, so that the run is a whole number of them. */
static double safe_step(const Point *p) {
  TlRun run;
  double safe;
  open_run(&run, p, NULL);
  JUDGE_OK(tl_safe_step(&run, &safe));
  tl_run_close(&run);
  double seconds = seconds_of(p->scene);
  return seconds / ceil(seconds / (0.99 * safe));
}

static void run_point(Point *p) {
  static Watch w;
  bool springs = p->variant != IMPULSES && p->variant != NONSMOOTH;
  p->dt_s = springs ? NAN : p->parameter;
  if (springs) p->dt_s = safe_step(p);
  p->seconds = seconds_of(p->scene);
  w = (Watch){.point = p, .every_s = p->seconds / LOOKS};
  open_run(&w.run, p, &w);
  p->start_m = place(p->scene, &w.run.state->dem.bodies);
  p->grains = w.run.state->dem.bodies.owned;
  double begin = judge_cpu_s();
  JUDGE_OK(tl_run_go(&w.run));
  const TlRunTotals *t = &w.run.state->totals;
  p->cpu_s = judge_cpu_s() - begin - w.looked_s;
  p->steps = t->steps;
  p->deepest = t->overlap_share;
  p->place_m = place(p->scene, &w.run.state->dem.bodies);
  p->kinetic = t->kinetic_J / (t->potential_start_J - t->potential_J);
  tl_run_close(&w.run);
}

/* ---- points that are known ---- */

static const char HEAD[] =
    "scene,variant,parameter,seed,dt_s,steps,grains,seconds,cpu_s,largest,mean,rest_largest,"
    "rest_mean,start_m,place_m,kinetic_share,deepest\n";

static void write_point(FILE *file, const Point *p) {
  fprintf(file, "%s,%s,%.6g,%d,%.6g,%lld,%lld,%g,%.5g,%.5g,%.5g,%.5g,%.5g,%.6g,%.6g,%.3g,%.5g\n",
          scene[p->scene].name, variant_name[p->variant], p->parameter, p->seed, p->dt_s,
          (long long)p->steps, (long long)p->grains, p->seconds, p->cpu_s, p->largest, p->mean,
          p->rest_largest, p->rest_mean, p->start_m, p->place_m, p->kinetic, p->deepest);
}

static bool read_point(Point *p) {
  char line[512], key[128];
  int length = snprintf(key, sizeof key, "%s,%s,%.6g,%d,", scene[p->scene].name,
                        variant_name[p->variant], p->parameter, p->seed);
  FILE *file = fopen(judge_path("points.csv"), "r");
  bool found = false;
  while (file && !found && fgets(line, sizeof line, file)) {
    long long steps, grains;
    if (strncmp(line, key, (size_t)length) != 0) continue;
    found = sscanf(line + length, "%lf,%lld,%lld,%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf", &p->dt_s,
                   &steps, &grains, &p->seconds, &p->cpu_s, &p->largest, &p->mean, &p->rest_largest,
                   &p->rest_mean, &p->start_m, &p->place_m, &p->kinetic, &p->deepest) == 13;
    p->steps = steps, p->grains = grains;
  }
  if (file) fclose(file);
  return found;
}

static Point point_of(int which, int variant, double parameter, int seed) {
  Point p = {.scene = which, .variant = variant, .parameter = parameter, .seed = seed};
  if (judge_full() && read_point(&p)) return p;
  double begin = judge_cpu_s();
  run_point(&p);
  FILE *file = fopen(judge_path("points.csv"), "a");
  if (!file) judge_ok(tl_fail(TL_EIO, "cannot write points.csv"), "point_of");
  if (ftell(file) == 0) fputs(HEAD, file);
  write_point(file, &p);
  if (fclose(file)) judge_ok(tl_fail(TL_EIO, "cannot write points.csv"), "point_of");
  fprintf(stderr,
          "%s, %s, %g, seed %d: %.3g s CPU (%.3g with the oracle), overlap %.3g (%.3g at rest), at "
          "%.4g m\n",
          scene[which].name, variant_name[variant], parameter, seed, p.cpu_s, judge_cpu_s() - begin,
          p.largest, p.rest_largest, p.place_m);
  return p;
}

/* ---- curves ---- */

typedef struct Curve {
  int count;
  Point mean[MOST_STEPS]; /* over the seeds; from cheap to dear */
  int seeds[MOST_STEPS];
} Curve;

static double cost(const Point *p) { /* CPU seconds a simulated second and grain */
  return p->cpu_s / p->seconds / (double)p->grains;
}

static void add_to_curve(Curve *c, int which, int variant, double parameter) {
  Point *m = &c->mean[c->count];
  int seeds = 0, wanted = 1;
  double sums[9] = {0};
  for (int seed = 1; seed <= wanted; seed++, seeds++) {
    Point p = point_of(which, variant, parameter, seed);
    const double each[9] = {p.cpu_s,   p.largest, p.mean,    p.rest_largest, p.rest_mean,
                            p.place_m, p.start_m, p.kinetic, p.deepest};
    for (int i = 0; i < 9; i++) sums[i] += each[i];
    if (seed == 1) *m = p;
    if (judge_full() && which == 0 && variant <= PLACES && p.cpu_s < CHEAP_S) wanted = SEEDS;
  }
  double *all[9] = {&m->cpu_s,   &m->largest, &m->mean,    &m->rest_largest, &m->rest_mean,
                    &m->place_m, &m->start_m, &m->kinetic, &m->deepest};
  for (int i = 0; i < 9; i++) *all[i] = sums[i] / seeds;
  c->seeds[c->count++] = seeds;
}

/* A full edition has each doubling of the step and a factor of 1e4 of the stiffness for the outflow; of the
 * others three steps and three or four stiffnesses about where the outflow is right to 0.5%. */
static Curve curve(int which, int variant) {
  const Scene *s = &scene[which];
  Curve c = {0};
  bool outflow = judge_full() && which == 0;
  if (variant == IMPULSES)
    for (int k = 6; k >= (judge_full() && !outflow ? 2 : 0); k -= outflow        ? 1
                                                                  : judge_full() ? 2
                                                                                 : 3)
      add_to_curve(&c, which, variant, s->step_s * (1 << k));
  if (variant == PLACES)
    for (int k = outflow ? 0 : 1; k < (judge_full() && which < 2 ? 5 : 4); k++)
      add_to_curve(&c, which, variant, s->soft_N_m * pow(10, k));
  if ((variant == NODES && outflow) || (variant == SURFACES && judge_full()))
    for (int k = 0; k < 3; k++) add_to_curve(&c, which, variant, s->soft_Pa_m * pow(10, k));
  if (variant == NONSMOOTH && judge_full())
    for (int k = 0; k < (outflow ? 3 : 2); k++) add_to_curve(&c, which, variant, s->steps_s[k]);
  return c;
}

typedef double (*Measure)(const Point *);
static double largest(const Point *p) {
  return p->largest;
}
static double mean(const Point *p) {
  return p->mean;
}
static double any_step(const Point *p) {
  return p->deepest;
}
static double rest(const Point *p) {
  return p->rest_largest;
}

/* Least cost at this error: of runs that stay below it, and of where the line between two neighbours of a curve (on
 * logarithms) crosses it. INFINITY: it stays above. */
static double cost_at(const Curve *c, Measure error, double goal) {
  double least = INFINITY;
  for (int i = 0; i < c->count; i++) {
    const Point *p = &c->mean[i];
    if (error(p) <= goal) least = fmin(least, cost(p));
    if (i == 0 || (error(p) <= goal) == (error(p - 1) <= goal)) continue;
    double part = log(goal / error(p - 1)) / log(error(p) / error(p - 1));
    least = fmin(least, cost(p - 1) * pow(cost(p) / cost(p - 1), part));
  }
  return least;
}

/* The cheapest of the springs. */
static double springs_at(const Curve *c, Measure error, double goal) {
  return fmin(fmin(cost_at(&c[PLACES], error, goal), cost_at(&c[NODES], error, goal)),
              cost_at(&c[SURFACES], error, goal));
}

static void say_scene(int which, const Curve *c) {
  const Scene *s = &scene[which];
  char figure[64];
  snprintf(figure, sizeof figure, "cost_accuracy_%s_gain", s->name);
  judge_at_least(JUDGE_GOAL, figure,
                 springs_at(c, largest, GOAL_OVERLAP) /
                     cost_at(&c[IMPULSES], largest, GOAL_OVERLAP),
                 "penalty over impulses at 0.5%", 30);
  /* Five looks of the oracle miss most blows. What the solver sees of each step is no oracle, so it is told
   * and not judged; springs on nodes see too little. */
  judge_note("%s: penalty over impulses at 0.5%% in any step, as the solver's own search by places "
             "sees it: %.1f.",
             s->name,
             cost_at(&c[PLACES], any_step, GOAL_OVERLAP) /
                 cost_at(&c[IMPULSES], any_step, GOAL_OVERLAP));
  const Point *finest = &c[IMPULSES].mean[c[IMPULSES].count - 1],
              *stiffest = &c[PLACES].mean[c[PLACES].count - 1];
  double travel = which == 2 ? finest->place_m - finest->start_m : finest->place_m;
  double other = which == 2 ? stiffest->place_m - stiffest->start_m : stiffest->place_m;
  snprintf(figure, sizeof figure, "cost_accuracy_%s_difference", s->name);
  judge_at_most(JUDGE_GOAL, figure, 100 * fabs(travel / other - 1),
                "% between shortest step and stiffest spring", 5);
  judge_note("%s, %lld grains: CPU seconds a simulated second and grain at a largest true overlap "
             "of 0.5%% over the "
             "run: impulses %.3g, penalty at places %.3g, on nodes %.3g, by surfaces %.3g, "
             "nonsmooth %.3g; "
             "ratio at "
             "a mean overlap of "
             "0.15%%: %.3g; at a largest overlap of 0.5%% at the end: %.3g.",
             s->name, (long long)finest->grains, cost_at(&c[IMPULSES], largest, GOAL_OVERLAP),
             cost_at(&c[PLACES], largest, GOAL_OVERLAP), cost_at(&c[NODES], largest, GOAL_OVERLAP),
             cost_at(&c[SURFACES], largest, GOAL_OVERLAP),
             cost_at(&c[NONSMOOTH], largest, GOAL_OVERLAP),
             springs_at(c, mean, 1.5e-3) / cost_at(&c[IMPULSES], mean, 1.5e-3),
             springs_at(c, rest, GOAL_OVERLAP) / cost_at(&c[IMPULSES], rest, GOAL_OVERLAP));
}

/* The table of the notebook, the data of the picture. */
static void write_curves(const Curve all[SCENES][VARIANTS]) {
  FILE *file = judge_data("cost_accuracy.csv");
  fprintf(file, "scene,variant,parameter,dt_s,seeds,grains,cpu_s_per_s_and_grain,largest_percent,"
                "mean_percent,"
                "end_largest_percent,end_mean_percent,place_m,kinetic_share,any_step_percent\n");
  for (int k = 0; k < SCENES; k++)
    for (int v = 0; v < VARIANTS; v++)
      for (int i = 0; i < all[k][v].count; i++) {
        const Point *p = &all[k][v].mean[i];
        fprintf(file, "%s,%s,%.4g,%.4g,%d,%lld,%.4g,%.4g,%.4g,%.4g,%.4g,%.5g,%.2g,%.4g\n",
                scene[k].name, variant_name[v], p->parameter, p->dt_s, all[k][v].seeds[i],
                (long long)p->grains, cost(p), 100 * p->largest, 100 * p->mean,
                100 * p->rest_largest, 100 * p->rest_mean,
                k == 2 ? p->place_m - p->start_m : p->place_m, p->kinetic, 100 * p->deepest);
      }
  if (fclose(file)) judge_ok(tl_fail(TL_EIO, "cannot write cost_accuracy.csv"), "write_curves");
}

/* docs/notebook/cost-accuracy.gp, in the study's folder. */
static void draw(void) {
  char root[512], script[1024];
  if (!getcwd(root, sizeof root)) judge_ok(tl_fail(TL_EIO, "no working directory"), "draw");
  snprintf(script, sizeof script,
           "data = 'cost_accuracy.csv'\nout = ''\nload '%s/docs/notebook/cost-accuracy.gp'\n",
           root);
  judge_gnuplot("cost_accuracy", script);
}

static void settle(void) {
  OutflowEdition e = {.settled_s = 0.32, .set_count = 1, .sets = {"release.count=80"}};
  for (int seed = 1; seed <= (judge_full() ? SEEDS : 1); seed++) outflow_settle(&e, seed);
}

int main(int argc, char **argv) {
  static Curve all[SCENES][VARIANTS];
  judge_open("cost_accuracy", argc, argv);
  tl_log_set("val_cost_accuracy", TL_LOG_ERROR);
  tl_par_set_threads(1);
  if (!judge_full()) remove(judge_path("points.csv"));
  settle();
  for (int k = 0; k < (judge_full() ? SCENES : 1); k++) {
    for (int v = 0; v < VARIANTS; v++) all[k][v] = curve(k, v);
    say_scene(k, all[k]);
  }
  write_curves((const Curve(*)[VARIANTS])all);
  if (judge_full()) draw();
  return judge_close();
}
