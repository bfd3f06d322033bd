/* Model reduction of the nonsmooth method: the tests of Servin and Wang 2015 in small, with and without; in the full
 * edition at the paper's sizes, by all of its variants and both readings of the radius of rolling. */
#include "judge/cases.h"
#include "judge/judge.h"
#include "judge/servin.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The paper's angle at 150 iterations, that of the prototypes' two readings of the rolling radius, and what it
 * reached with reduction. */
typedef struct Case {
  ServinTest test;
  const char *name;
  TlSplit split;
  double paper, low, high; /* deg; between the readings, or within 4 of the paper */
  double change;           /* deg, at most, from the run without reduction */
  double level, paper_level;
} Case;

static const Case cases[] = {
    {SERVIN_CONVEYOR, "conveyor", TL_SPLIT_CONTACT, 40.6, 36.6, 45.5, 3, 0.7, 0.85},
    {SERVIN_COLLAPSE, "collapse", TL_SPLIT_TRIAL, 30, 26, 34, 4, 0.7, 0.75},
    {SERVIN_DRUM, "drum", TL_SPLIT_TRIAL, 43, 39, 47, 3, 0.4, 0.4},
};

/* Angle and reduction level over time as Figs. 10 to 13 of the paper show them; paper_deg, paper_level: its means, drawn
 * dashed, NAN: none. */
static void plot(const char *name, double paper_deg, double paper_level) {
  char script[1600], picture[80], angle[160] = "", level[160] = "";
  if (!isnan(paper_deg)) {
    snprintf(angle, sizeof angle,
             ", %g with lines dt 2 lw 2 lc rgb '#c04040' title 'Servin and Wang 2015'", paper_deg);
    snprintf(level, sizeof level, ", %g with lines dt 2 lw 2 lc rgb '#c04040' notitle",
             paper_level);
  }
  snprintf(
      script, sizeof script,
      "set datafile missing '?'; set key above horizontal; set lmargin 9\n"
      "set offsets 0, 0, graph 0.1, graph 0.1\n"
      "set multiplot layout 2,1\nset ylabel 'angle of the surface, degrees'\n"
      "plot 'reduction_%s.dat' index 0 using 1:3 with lines lw 2 lc rgb '#888888' title "
      "'without reduction', '' index 1 using 1:3 with lines lw 2 lc rgb '#2060c0' title "
      "'with reduction'%s\n"
      "set xlabel 'time, s'; set ylabel 'reduction level'; unset offsets; set yrange [0:1.05]\n"
      "plot 'reduction_%s.dat' index 1 using 1:2 with lines lw 2 lc rgb '#2060c0' notitle%s\n"
      "unset multiplot\n",
      name, angle, name, level);
  snprintf(picture, sizeof picture, "reduction_%s", name);
  judge_gnuplot(picture, script);
}

static FILE *series_of(const char *name) {
  char file[80];
  snprintf(file, sizeof file, "reduction_%s.dat", name);
  return judge_data(file);
}

/* ---- small ---- */

enum { DRAWS = 3, SMALL_TESTS = 4 };

typedef struct Draw { /* from one settled start: without reduction, and with it */
  ServinResult of[2];
} Draw;

static const char *name_of(ServinTest test) {
  return test == SERVIN_SHAPES ? "shapes" : cases[test].name;
}

/* Case test * DRAWS + draw of the small edition. */
static void run_draw(int which, void *result, void *context) {
  ServinTest test = (ServinTest)(which / DRAWS);
  int draw = which % DRAWS;
  bool shapes = test == SERVIN_SHAPES;
  FILE *series = draw == 0 ? series_of(name_of(test)) : NULL;
  (void)context;
  servin_run(&(ServinScene){test, false, !shapes, SERVIN_SEED + (uint64_t)draw},
             (ServinVariant[]){{TL_SPLIT_OFF}, {shapes ? TL_SPLIT_TRIAL : cases[test].split}}, 2,
             series, ((Draw *)result)->of);
  if (series) fclose(series);
}

/* Means over draws of the grains' places, for one run fixes an angle to some 3 degrees and a front to 15% only; sums of
 * what is counted. */
static void mean_of(const Draw *all, ServinTest test, ServinResult mean[2]) {
  const Draw *draw = &all[test * DRAWS];
  for (int i = 0; i < DRAWS; i++) {
    const ServinResult *both = draw[i].of;
    if (test == SERVIN_SHAPES)
      judge_note("%s, draw %d: front %.1f mm whole and %.1f reduced, %.2f and %.2f mJ given up.",
                 name_of(test), i + 1, 1e3 * both[0].front_m, 1e3 * both[1].front_m,
                 1e3 * both[0].fall_J, 1e3 * both[1].fall_J);
    else
      judge_note("%s, draw %d: angle %.1f deg whole and %.1f reduced.", name_of(test), i + 1,
                 both[0].angle_deg, both[1].angle_deg);
    for (int k = 0; k < 2; k++) {
      ServinResult *m = &mean[k];
      const ServinResult *r = &both[k];
      if (i == 0) {
        *m = *r;
        m->angle_deg = m->level = m->settled_level = m->front_m = m->fall_J = 0;
      } else {
        m->merges += r->merges;
        m->splits += r->splits;
        m->error_J += r->error_J;
        m->losses_J += r->losses_J;
        m->overlap_share = fmax(m->overlap_share, r->overlap_share);
      }
      m->angle_deg += r->angle_deg / DRAWS;
      m->level += r->level / DRAWS;
      m->settled_level += r->settled_level / DRAWS;
      m->front_m += r->front_m / DRAWS;
      m->fall_J += r->fall_J / DRAWS;
    }
  }
}

/* A collapse of shaped grains: no paper has one. Goals were set before the first run. */
static void judge_shapes(const Draw *draw) {
  ServinResult both[2], *whole = &both[0], *reduced = &both[1];
  mean_of(draw, SERVIN_SHAPES, both);
  plot("shapes", NAN, NAN);
  judge_at_least(JUDGE_GOAL, "reduction_shapes_settled", reduced->settled_level,
                 "reduction level when the wall goes", 0.9);
  judge_at_least(JUDGE_GOAL, "reduction_shapes_level", reduced->level, "mean reduction level", 0.6);
  judge_at_most(JUDGE_GOAL, "reduction_shapes_front", fabs(reduced->front_m / whole->front_m - 1),
                "way of the front, from the run without reduction", 0.1);
  judge_at_most(JUDGE_GOAL, "reduction_shapes_fall", fabs(reduced->fall_J / whole->fall_J - 1),
                "potential energy given up, from the run without reduction", 0.1);
  judge_at_most(JUDGE_CORRECT, "reduction_shapes_balance",
                fabs(reduced->error_J - whole->error_J) / reduced->losses_J,
                "balance error beyond the whole run's, over losses", 1e-5);
  judge_note(
      "shapes: %d cubes and irregular grains, %lld steps; front %.1f mm whole and %.1f "
      "reduced, %.2f and %.2f mJ given up, the mean of %d draws; %lld merges, %lld splits in all, "
      "deepest overlap %.3f of the radius whole and %.3f reduced.",
      reduced->grains, (long long)reduced->steps, 1e3 * whole->front_m, 1e3 * reduced->front_m,
      1e3 * whole->fall_J, 1e3 * reduced->fall_J, DRAWS, (long long)reduced->merges,
      (long long)reduced->splits, whole->overlap_share, reduced->overlap_share);
}

static void judge_small(void) {
  const Draw *draw =
      judge_cases(&(JudgeCases){SMALL_TESTS * DRAWS, sizeof(Draw), run_draw, NULL, NULL, NULL});
  for (int i = 0; i < 3; i++) {
    const Case *c = &cases[i];
    char figure[80];
    ServinResult both[2], *whole = &both[0], *reduced = &both[1];
    mean_of(draw, c->test, both);
    plot(c->name, c->paper, c->paper_level);
#define NAME(what) (snprintf(figure, sizeof figure, "reduction_%s_%s", c->name, what), figure)
    judge_between(JUDGE_GOAL, NAME("angle"), reduced->angle_deg, "deg", c->low, c->high);
    judge_at_most(JUDGE_GOAL, NAME("change"), fabs(reduced->angle_deg - whole->angle_deg),
                  "deg from the run without reduction", c->change);
    judge_at_least(JUDGE_GOAL, NAME("level"), reduced->level, "mean reduction level", c->level);
    judge_at_most(JUDGE_CORRECT, NAME("balance"),
                  fabs(reduced->error_J - whole->error_J) / reduced->losses_J,
                  "balance error beyond the whole run's, over losses", 1e-8);
    judge_paper(NAME("angle"), whole->angle_deg, c->paper, "deg, without reduction",
                "Servin 2015, Table 3");
    judge_paper(NAME("level"), reduced->level, c->paper_level, "mean reduction level",
                "Servin 2015, Table 3");
    judge_note(
        "%s: %d spheres, %lld steps; angle %.1f deg whole and %.1f reduced, the mean of %d draws; "
        "%lld merges, %lld splits in all, deepest overlap %.3f of the radius whole and %.3f "
        "reduced.",
        c->name, reduced->grains, (long long)reduced->steps, whole->angle_deg, reduced->angle_deg,
        DRAWS, (long long)reduced->merges, (long long)reduced->splits, whole->overlap_share,
        reduced->overlap_share);
  }
  judge_shapes(draw);
}

/* ---- at the paper's sizes ---- */

enum { VARIANTS = 5, TESTS = 3 };

typedef struct Variant {
  const char *name; /* as the paper calls it; NULL: none */
  ServinVariant of;
  double paper_deg, paper_level; /* NAN: not told */
} Variant;

typedef struct Large {
  const char *name;
  double change, level,
      speed_up; /* goals of the variant whose split is by trial alone, on the belt by contacts */
  int judged;   /* that variant */
  Variant variant[VARIANTS]; /* the first one is without reduction */
} Large;

static const Large large[TESTS] = {
    [SERVIN_CONVEYOR] = {"conveyor",
                         3,
                         0.7,
                         4,
                         2,
                         {{"ref-150", {TL_SPLIT_OFF}, 40.6, 0},
                          {"ref-500", {.iterations = 500}, 41.5, 0},
                          {"cs", {TL_SPLIT_CONTACT}, 40.3, 0.85}}},
    [SERVIN_COLLAPSE] = {"collapse",
                         4,
                         0.7,
                         2,
                         2,
                         {{"ref-150", {TL_SPLIT_OFF}, 29.9, 0},
                          {"ref-500", {.iterations = 500}, 36.2, 0},
                          {"tr-f", {TL_SPLIT_TRIAL}, 37.5, 0.75},
                          {"tr-fv", {TL_SPLIT_TRIAL, .velocity = true}, 34, 0.75},
                          {"ctr-fv", {TL_SPLIT_BOTH, .velocity = true}, NAN, NAN}}},
    [SERVIN_DRUM] = {"drum",
                     3,
                     0.4,
                     1.5,
                     1,
                     {{"ref-150", {TL_SPLIT_OFF}, 43, 0},
                      {"tr-f", {TL_SPLIT_TRIAL}, 44, 0.4},
                      {"tr-fv", {TL_SPLIT_TRIAL, .velocity = true}, 45, 0.4},
                      {"cs", {TL_SPLIT_CONTACT, .sensor = true}, 49, 0.7}}},
};

typedef struct LargeResult {
  ServinResult of[VARIANTS];
} LargeResult;

static int variants_of(const Large *l) {
  int n = 0;
  while (n < VARIANTS && l->variant[n].name) n++;
  return n;
}

/* The tests by the sphere's radius of rolling, and then, without reduction, by the reduced one. */
static void run_large(int which, void *result, void *context) {
  int test = which % TESTS;
  bool double_radius = which < TESTS;
  const Large *l = &large[test];
  ServinVariant variant[VARIANTS];
  FILE *series = NULL;
  char name[80];
  (void)context;
  for (int k = 0; k < variants_of(l); k++) variant[k] = l->variant[k].of;
  snprintf(name, sizeof name, "large_%s", l->name);
  if (double_radius) series = series_of(name);
  servin_run(&(ServinScene){(ServinTest)test, true, double_radius, SERVIN_SEED}, variant,
             double_radius ? variants_of(l) : 1, series, ((LargeResult *)result)->of);
  if (series) fclose(series);
}

static void plot_large(const Large *l) {
  char script[2400], picture[80], titles[160] = "";
  for (int k = 0; k < variants_of(l); k++) {
    strcat(titles, k ? " " : "");
    strcat(titles, l->variant[k].name);
  }
  snprintf(
      script, sizeof script,
      "set datafile missing '?'; set key outside top center horizontal; set lmargin 9\n"
      "names = '%s'; set offsets 0, 0, graph 0.1, graph 0.1\n"
      "set multiplot layout 2,1\nset ylabel 'angle of the surface, degrees'\n"
      "plot for [i=0:%d] 'reduction_large_%s.dat' index i using 1:3 with lines lw 2 title "
      "word(names, i+1)\n"
      "set xlabel 'time, s'; set ylabel 'reduction level'; unset offsets; set yrange [0:1.05]\n"
      "plot for [i=0:%d] 'reduction_large_%s.dat' index i using 1:2 with lines lw 2 notitle\n"
      "unset multiplot\n",
      titles, variants_of(l) - 1, l->name, variants_of(l) - 1, l->name);
  snprintf(picture, sizeof picture, "reduction_large_%s", l->name);
  judge_gnuplot(picture, script);
}

static void judge_large_test(const Large *l, const LargeResult *doubled,
                             const LargeResult *reduced) {
  const ServinResult *whole = &doubled->of[0], *judged = &doubled->of[l->judged];
  double one = whole->angle_deg, other = reduced->of[0].angle_deg, paper = l->variant[0].paper_deg;
  double off = fmax(0, fmax(fmin(one, other) - paper, paper - fmax(one, other)));
  char figure[80];
#define LARGE(what)                                                                                \
  (snprintf(figure, sizeof figure, "reduction_large_%s_%s", l->name, what), figure)
  judge_at_most(JUDGE_GOAL, LARGE("angle"), off, "deg, the paper's from between the two readings",
                4);
  judge_at_most(JUDGE_GOAL, LARGE("change"), fabs(judged->angle_deg - whole->angle_deg),
                "deg from the run without reduction", l->change);
  judge_at_least(JUDGE_GOAL, LARGE("level"), judged->level, "mean reduction level", l->level);
  judge_at_least(JUDGE_GOAL, LARGE("speed_up"), whole->cpu_s / judged->cpu_s,
                 "CPU without over with, equal iterations", l->speed_up);
  for (int k = 0; k < variants_of(l); k++) {
    const Variant *v = &l->variant[k];
    const ServinResult *r = &doubled->of[k];
    char what[80];
    snprintf(what, sizeof what, "angle_%s", v->name);
    if (!isnan(v->paper_deg))
      judge_paper(LARGE(what), r->angle_deg, v->paper_deg, "deg", "Servin 2015, Table 3, Fig. 9");
    snprintf(what, sizeof what, "level_%s", v->name);
    if (v->paper_level > 0)
      judge_paper(LARGE(what), r->level, v->paper_level, "mean reduction level",
                  "Servin 2015, Table 3");
    judge_note("%s of %d spheres, %s: angle %.1f deg, mean reduction level %.2f, 1/(1 - level) "
               "%.1f, %.1f ms CPU a step (%.1f to merge and split), %.1f times faster than "
               "ref-150; %lld merges, %lld splits, deepest overlap %.3f of the radius.",
               l->name, r->grains, v->name, r->angle_deg, r->level, 1 / (1 - r->level),
               1e3 * r->cpu_s / (double)r->steps, 1e3 * r->reduction_s / (double)r->steps,
               whole->cpu_s / r->cpu_s, (long long)r->merges, (long long)r->splits,
               r->overlap_share);
  }
  judge_note("%s: angle %.1f deg with the sphere's radius of rolling, %.1f with the reduced one.",
             l->name, one, other);
  plot_large(l);
}

static void judge_large(void) {
  static const int order[2 * TESTS] = {
      SERVIN_DRUM,         SERVIN_COLLAPSE,         SERVIN_CONVEYOR,
      TESTS + SERVIN_DRUM, TESTS + SERVIN_COLLAPSE, TESTS};
  const LargeResult *r =
      judge_cases(&(JudgeCases){2 * TESTS, sizeof(LargeResult), run_large, NULL, order, NULL});
  for (int i = 0; i < TESTS; i++) judge_large_test(&large[i], &r[i], &r[TESTS + i]);
}

int main(int argc, char **argv) {
  judge_open("reduction", argc, argv);
  if (judge_full())
    judge_large();
  else
    judge_small();
  return judge_close();
}
