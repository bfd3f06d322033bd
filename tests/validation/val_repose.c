/* Angle of repose of spheres, cubes and crosses against friction (Tang 2014, section 7.4, Figs. 12
 * to 15): they settle in a box, the right wall goes, a line is fitted in each of eight strips.
 *
 * Tang tells no numbers of grains, sizes, frictions or angles, nor what holds the lowest layer.
 * Here the floor ends in a low sill where the right wall stood: what flows over it falls away, and
 * the slope that stays runs from the back wall to the sill. A run ends when what is left on the
 * floor rests, or at its study's end. There is no damping. Each case runs for several seeds; the
 * cases run side by side as processes of one thread.
 *
 * Beside it the closed form that decides whether spheres can stand at all without rolling
 * resistance: one sphere on three that touch. The line between two touching points of a lower
 * sphere makes half the angle a between the upper contact's normal and the vertical with that
 * normal, and both forces lie along it; so mu >= tan(a/2), sin a = 1/sqrt(3): sqrt(3) - sqrt(2).
 */
#include "validation/pictures.h"

#include "base/file.h"
#include "base/log.h"
#include "judge/cases.h"
#include "judge/study.h"
#include "post/measure_repose.h"

#include <math.h>
#include <stdio.h>

enum { SHAPES = 3, FRICTIONS = 4, SEEDS = 4, PILES = SHAPES * FRICTIONS * SEEDS };
enum { BARE = PILES, CASES }; /* BARE: spheres without friction nor sill, seed 1 */
static const char *const shape[SHAPES] = {"sphere", "cube", "cross"};
static const double friction[FRICTIONS] = {0, 0.2, 0.4, 0.6};
static const double DIAMETER = 0.02, G = 9.81, SILL = 0.006 /* its radius, m */;
/* A grain moves if faster than this, of sqrt(g d): at this speed a slope of 9 diameters takes 2 s
 * to change by a degree. A heap rests when no larger share of its grains moves for CALM_S. */
static const double MOVES = 3e-3, MOVING_SHARE = 0.05, CALM_S = 0.1;

typedef struct Edition {
  double length, width, open_s, duration_s; /* of the box */
  int grains[SHAPES];                       /* fill it to the same height */
  double high[SHAPES];                      /* they are drawn up to here */
} Edition;

static const Edition small = {0.18, 0.06, 0.55, 4.2, {316, 278, 168}, {0.59, 0.79, 0.65}};
static const Edition full = {0.3, 0.12, 0.8, 8, {1760, 1540, 930}, {1, 1.35, 1.1}};

typedef struct Case {
  TlRepose repose;
  double overlap, fill, moving, end_s, cpu_s; /* fill, moving: as in Watch */
  int64_t left;
} Case;

typedef struct Angle { /* over the strips of all seeds */
  double mean_deg, least_deg, most_deg, error_deg, overlap, moving, end_s, cpu_s;
  double left, fill; /* means of the seeds */
} Angle;

/* ---- a run until rest ---- */

typedef struct Watch {
  TlRun *run;
  const Edition *e;
  int64_t left;    /* grains on the floor */
  double moving;   /* share of them that moves */
  double fill;     /* height of the fill before the wall goes: twice its grains' mean */
  int64_t resting; /* steps on end */
} Watch;

/* Without spin: a sphere that spins about a contact's normal moves no slope. */
static void look(Watch *w) {
  const TlBodies *b = &w->run->bodies;
  int64_t moving = 0;
  w->left = 0;
  for (int64_t i = 0; i < b->owned; i++) {
    TlVec3 x = b->position[i];
    if (x.z < 0 || x.x > w->e->length) continue;
    moving += tl_norm2(b->velocity[i]) > MOVES * MOVES * G * DIAMETER;
    w->left++;
  }
  w->moving = w->left ? (double)moving / (double)w->left : 0;
}

static double fill_of(const TlBodies *b) {
  double sum = 0;
  for (int64_t i = 0; i < b->owned; i++) sum += b->position[i].z;
  return 2 * sum / (double)b->owned;
}

/* What has fallen 1.5 diameters below the floor, a cross too, reaches the heap no more: out, as
 * what leaves a terrain, for it falls ever faster and its speed widens every contact search. */
static void take_out_fallen(TlBodies *b) {
  for (int64_t i = 0; i < b->owned; i++)
    if (b->position[i].z < -1.5 * DIAMETER) b->flags[i] |= TL_BODY_OUTSIDE;
}

static int rests(void *context) {
  Watch *w = context;
  double dt_s = w->run->setup.time.dt_s, now_s = (double)w->run->totals.steps * dt_s;
  look(w);
  take_out_fallen(&w->run->bodies);
  if (now_s < w->e->open_s) w->fill = fill_of(&w->run->bodies);
  bool calm = now_s > w->e->open_s && w->moving <= MOVING_SHARE;
  w->resting = calm ? w->resting + 1 : 0;
  return (double)w->resting * dt_s > CALM_S;
}

/* The full edition takes hours: a run that was ended goes on from its checkpoint. */
static TlStatus open_run(TlRun *run, TlRunOptions *options) {
  char *history = tl_path_join(options->output, "history.csv");
  options->resume = judge_full() && tl_file_exists(history);
  tl_free(history);
  options->overwrite = !options->resume;
  return tl_run_open(run, NULL, options);
}

static void go_until_rest(TlRunOptions *options, const Edition *e, Case *result) {
  TlRun run;
  Watch watch = {.run = &run, .e = e};
  options->stop = rests;
  options->stop_context = &watch;
  JUDGE_OK(open_run(&run, options));
  TlStatus status = tl_run_go(&run);
  if ((double)watch.resting * run.setup.time.dt_s <= CALM_S) JUDGE_OK(status); /* else we did */
  look(&watch);
  const TlRunTotals *t = &run.totals;
  result->overlap = fmax(t->overlap_share, t->boundary_overlap_share);
  result->fill = watch.fill;
  result->moving = watch.moving;
  result->left = watch.left;
  result->end_s = (double)t->steps * run.setup.time.dt_s;
  result->cpu_s = t->cpu_s;
  tl_run_close(&run);
}

static void measure(const char *folder, const Edition *e, TlRepose *repose) {
  TlScene scene;
  TlFrame frame;
  int64_t *index, count;
  TlReposeOptions floor = {.x1_m = e->length, .y1_m = e->width};
  JUDGE_OK(tl_results_read_scene(folder, &scene));
  JUDGE_OK(tl_results_frames(folder, &index, &count));
  JUDGE_OK(tl_results_read_frame(folder, index[count - 1], &frame));
  JUDGE_OK(tl_measure_repose(&scene, &frame, &floor, repose));
  tl_frame_free(&frame);
  tl_scene_free(&scene);
  tl_free(index);
}

/* ---- the cases ---- */

static const char *folder_of(int s, int m, int seed) {
  static char name[64];
  snprintf(name, sizeof name, "%s_%g_%d.run", shape[s], friction[m], seed);
  return judge_path(name);
}

enum { SETS = 14, WIDE = 96 };

/* bare: the sill lies a metre below. */
static void settings(const Edition *e, int s, int m, int seed, bool bare, char text[SETS][WIDE]) {
  double end = e->length + SILL, half = e->width / 2;
  int n = 0;
  snprintf(text[n++], WIDE, "grains.shapes=[%s]", shape[s]);
  snprintf(text[n++], WIDE, "contact.friction=%g", friction[m]);
  snprintf(text[n++], WIDE, "contact.boundary_friction=%g", friction[m]);
  snprintf(text[n++], WIDE, "time.duration_s=%g", e->duration_s);
  snprintf(text[n++], WIDE, "release.count=%d", e->grains[s]);
  snprintf(text[n++], WIDE, "release.sizes.0.count=%d", e->grains[s]);
  snprintf(text[n++], WIDE, "release.high_m=[%g, %g, %g]", e->length, e->width, e->high[s]);
  snprintf(text[n++], WIDE, "walls.0.point_m=[%g, %g, -0.05]", (end - 0.1) / 2, half);
  snprintf(text[n++], WIDE, "walls.0.size_m=[%g, %g, 0.1]", end + 0.1, e->width + 0.2);
  snprintf(text[n++], WIDE, "walls.3.point_m=[0, %g, 0]", e->width);
  snprintf(text[n++], WIDE, "walls.4.point_m=[%g, %g, %g]", end, half, bare ? -1 : SILL);
  snprintf(text[n++], WIDE, "walls.5.point_m=[%g, 0, 0]", e->length);
  snprintf(text[n++], WIDE, "walls.5.until_s=%g", e->open_s);
  snprintf(text[n++], WIDE, "seed=%d", seed);
}

static void pile(const Edition *e, int s, int m, int seed, bool bare, Case *result) {
  char text[SETS][WIDE], *sets[SETS];
  const char *folder = bare ? judge_path("bare.run") : folder_of(s, m, seed);
  settings(e, s, m, seed, bare, text);
  for (int i = 0; i < SETS; i++) sets[i] = text[i];
  TlTexts list = {sets, SETS};
  TlRunOptions options = {
      .study = "config/validation/repose.yaml", .sets = &list, .output = folder};
  go_until_rest(&options, e, result);
  measure(folder, e, &result->repose);
  const TlRepose *r = &result->repose;
  fprintf(stderr, "%s: filled to %.3f m, %.1f deg (%.1f to %.1f), overlap %.3g, ", folder,
          result->fill, r->mean_deg, r->least_deg, r->most_deg, result->overlap);
  fprintf(stderr, "%lld left, %.2g of them move, %.2f s, %.1f s CPU\n", (long long)result->left,
          result->moving, result->end_s, result->cpu_s);
}

static void run_case(int i, void *result, void *context) {
  const Edition *e = context;
  if (i == BARE)
    pile(e, 0, 0, 1, true, result);
  else
    pile(e, i / (FRICTIONS * SEEDS), i / SEEDS % FRICTIONS, i % SEEDS + 1, false, result);
}

/* Crosses take longest. */
static const Case *run_cases(Edition *e) {
  int order[CASES];
  for (int k = 0; k < CASES; k++) order[k] = CASES - 1 - k;
  return judge_cases(&(JudgeCases){CASES, sizeof(Case), run_case, e, order});
}

/* ---- angles ---- */

/* Standard error of the mean: strips are narrower than a grain, so one counts for each diameter of
 * width; but the strips of one heap may err together, so the seeds' own scatter where it is more.
 */
static double error_of(const Edition *e, const Case *c, double mean_deg) {
  double strips = 0, seeds = 0;
  for (int i = 0; i < SEEDS; i++) {
    double off = c[i].repose.mean_deg - mean_deg;
    strips += (c[i].repose.sd_deg * c[i].repose.sd_deg + off * off) / SEEDS;
    seeds += off * off / (SEEDS - 1);
  }
  return sqrt(fmax(strips / (SEEDS * e->width / DIAMETER), seeds / SEEDS));
}

static Angle angle_of(const Edition *e, const Case *c) {
  Angle a = {.least_deg = INFINITY, .most_deg = -INFINITY};
  for (int i = 0; i < SEEDS; i++) {
    const TlRepose *r = &c[i].repose;
    a.mean_deg += r->mean_deg / SEEDS;
    a.left += (double)c[i].left / SEEDS;
    a.least_deg = fmin(a.least_deg, r->least_deg);
    a.most_deg = fmax(a.most_deg, r->most_deg);
    a.overlap = fmax(a.overlap, c[i].overlap);
    a.moving = fmax(a.moving, c[i].moving);
    a.fill += c[i].fill / SEEDS;
    a.end_s = fmax(a.end_s, c[i].end_s);
    a.cpu_s += c[i].cpu_s;
  }
  a.error_deg = error_of(e, c, a.mean_deg);
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
  judge_gnuplot("repose", "set xlabel 'friction'; set ylabel 'angle of repose, degrees'\n"
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
static void compare(const Case *c) {
  static const double tang[SHAPES] = {0.8, 3.17, 12.89};
  static const char *const figure[SHAPES] = {"repose_spread_sphere", "repose_spread_cube",
                                             "repose_spread_cross"};
  for (int s = 0; s < SHAPES; s++) {
    double most = 0;
    for (int i = 0; i < FRICTIONS * SEEDS; i++) {
      const TlRepose *r = &c[s * FRICTIONS * SEEDS + i].repose;
      most = fmax(most, 0.5 * (r->most_deg - r->least_deg));
    }
    judge_paper(figure[s], most, tang[s], "deg", "Tang 2014, 7.4, largest");
  }
}

static void say(int s, int m, const Angle *a) {
  judge_note("%ss, friction %g: %.1f +- %.1f degrees, strips from %.1f to %.1f; filled to %.0f mm, "
             "%.0f grains left, %s %.2f s.",
             s == 2 ? "crosse" : shape[s], friction[m], a->mean_deg, a->error_deg, a->least_deg,
             a->most_deg, 1e3 * a->fill, a->left,
             a->moving <= MOVING_SHARE ? "at rest by" : "still moving at", a->end_s);
}

/* Without friction: less than a line makes of one layer that covers half the floor; and without
 * the sill less than a layer is left, which nothing pushes. */
static void judge_frictionless(const Edition *e, const Angle *a, const Case *bare) {
  double layer = e->length * e->width / (DIAMETER * DIAMETER);
  judge_at_most(JUDGE_GOAL, "repose_frictionless_sphere", a->mean_deg, "deg",
                atan(1.5 * DIAMETER / e->length) * 180 / 3.14159265358979323846);
  judge_at_most(JUDGE_GOAL, "repose_frictionless_bare", (double)bare->left / layer, "layers", 1);
  judge_paper("repose_frictionless", a->mean_deg, 5.76, "deg",
              "Peyneau and Roux 2008, large packs of spheres");
  judge_note("Without sill and friction %lld of %lld spheres are left at %.2f s.",
             (long long)bare->left, (long long)e->grains[0], bare->end_s);
}

/* ---- four spheres ---- */

static bool stands(double mu) {
  TlRun run;
  judge_study_open(&run, "repose_pyramid", "contact.friction=%.6f contact.boundary_friction=%.6f",
                   mu, mu);
  double start = run.bodies.position[judge_study_body(&run, 3)].z;
  judge_study_go(&run, NULL, NULL);
  double fall = start - run.bodies.position[judge_study_body(&run, 3)].z;
  tl_run_close(&run);
  return fall < 0.01 * DIAMETER;
}

/* Least friction at which they stand, by halving. */
static double least_friction(void) {
  double low = 0.1, high = 1;
  if (stands(low) || !stands(high)) return NAN;
  while (high - low > 1e-4) {
    double middle = 0.5 * (low + high);
    *(stands(middle) ? &high : &low) = middle;
  }
  return high;
}

/* ---- pictures ---- */

static void picture(const Edition *e, int s, int m, const char *name) {
  static const double last[] = {1};
  double size = e->length / small.length;
  Gallery g = {.folder = folder_of(s, m, 1),
               .from = {0.12 * size, -0.44 * size, 0.16 * size},
               .at = {0.09 * size, 0.5 * e->width, 0.08 * size},
               .colour = TL_COLOUR_ID,
               .width = 600,
               .height = 400};
  pictures(&g, 1, last, &name);
}

/* All boxes are filled to 1.3 of the floor's length within a tenth: less would cut steep slopes off
 * (tan 52 deg = 1.3), and what falls must not depend on the shape. */
static void judge_fill(const Edition *e, const Case *c) {
  double least = INFINITY, most = 0;
  for (int i = 0; i < PILES; i++) {
    least = fmin(least, c[i].fill);
    most = fmax(most, c[i].fill);
  }
  judge_at_least(JUDGE_GOAL, "repose_fill_least", least / e->length, "of the floor", 1.17);
  judge_at_most(JUDGE_GOAL, "repose_fill_most", most / e->length, "of the floor", 1.43);
}

int main(int argc, char **argv) {
  static Angle a[SHAPES][FRICTIONS];
  judge_open("repose", argc, argv);
  tl_log_set("val_repose", TL_LOG_WARN);
  Edition e = judge_full() ? full : small;
  const Case *result = run_cases(&e); /* forks: before anything that threads or ranks do */
  double overlap = 0, moving = 0, cpu_s = 0;
  for (int s = 0; s < SHAPES; s++)
    for (int m = 0; m < FRICTIONS; m++) {
      a[s][m] = angle_of(&e, &result[(s * FRICTIONS + m) * SEEDS]);
      overlap = fmax(overlap, a[s][m].overlap);
      moving = fmax(moving, a[s][m].moving);
      cpu_s += a[s][m].cpu_s;
      say(s, m, &a[s][m]);
    }
  judge_note("%d spheres, %d cubes, %d crosses; %d seeds, %.0f s CPU in all.", e.grains[0],
             e.grains[1], e.grains[2], SEEDS, cpu_s);
  judge_rise(a);
  judge_order(a);
  judge_frictionless(&e, &a[0][0], &result[BARE]);
  judge_fill(&e, result);
  judge_at_most(JUDGE_GOAL, "repose_rest", moving, "of the grains", MOVING_SHARE);
  judge_at_most(JUDGE_CORRECT, "repose_pyramid_error", fabs(least_friction() - (sqrt(3) - sqrt(2))),
                "friction", 0.001);
  judge_at_most(JUDGE_CORRECT, "repose_overlap", overlap, "of the radius", 0.02);
  compare(result);
  plot(a);
  picture(&e, 0, 0, "repose_sphere_frictionless.png");
  picture(&e, 0, 3, "repose_sphere.png");
  picture(&e, 1, 3, "repose_cube.png");
  picture(&e, 2, 3, "repose_cross.png");
  return judge_close();
}
