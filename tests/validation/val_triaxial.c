/* The triaxial laboratory. A membrane's tube under pressure and the stress of a simple cubic
 * packing against their closed forms; then small specimens of angular grains sheared in the
 * cell: by penalty with a tangential stiffness of 2/7 of the normal one and as large as it, by the
 * nonsmooth method and by impulses, four seeds of the specimen; and the first one with
 * another friction, and with spheres in the grains' places (Tan 2022 4.5-4.6). What a test of
 * laboratory size gives is in docs/notebook/triaxial.md.
 *
 * The full edition shears four specimens of some 475 grains of the default phantom, as
 * pipeline/triaxial.mk scans and settles them (config/triaxial.yaml), to 15% strain, by penalty and the nonsmooth method,
 * and the first one by impulses. */
#include "judge/cases.h"
#include "judge/judge.h"
#include "judge/study.h"
#include "validation/pictures.h"

#include "base/log.h"
#include "base/mem.h"
#include "post/packing_stress.h"
#include "post/triaxial.h"
#include "run/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- a tube ---- */

typedef struct Tube {
  const TlRun *run;
  const TlNet *net;
  int64_t *at; /* body of each sphere */
} Tube;

static TlVec3 from_axis(const Tube *t, TlVec3 x) {
  TlVec3 d = tl_sub(x, t->net->corner);
  return tl_axpy(d, -tl_dot(d, t->net->across), t->net->across);
}

/* Sum over bonds between two rows of pull times length, both round the tube; of those along either
 * of the two rows half. */
static double round_pull(const Tube *t, int64_t low, int64_t high) {
  const TlNet *net = t->net;
  double sum = 0;
  for (int64_t i = low * net->columns; i < (high + 1) * net->columns; i++) {
    int64_t other[TL_NET_NEIGHBOURS];
    int count = tl_net_neighbours(net, i, other);
    for (int k = 0; k < count; k++) {
      int64_t j = other[k], row = i / net->columns;
      if (j < i || j / net->columns > high) continue;
      TlVec3 a = t->run->state->dem.bodies.position[t->at[i]],
             b = t->run->state->dem.bodies.position[t->at[j]];
      TlVec3 d = tl_sub(b, a), out = from_axis(t, tl_scale(0.5, tl_add(a, b)));
      double length = tl_norm(d), round = tl_dot(d, tl_unit(tl_cross(net->across, out)));
      bool edge = j / net->columns == row && (row == low || row == high);
      sum += (edge ? 0.5 : 1) * net->normal_N_m * (length - tl_net_rest_length(net, i, j)) * round *
             round / length;
    }
  }
  return sum;
}

/* Its rows are clamped, so nothing stretches along the axis: hoop tension T = p R, and of the
 * lattice's E t = 2 k/sqrt(3), nu = 1/3: R grows by p R^2 (1 - nu^2)/(E t). */
static void tube(void) {
  TlRun run;
  judge_study_open(&run, "tube", "%s", "");
  judge_study_go(&run, NULL, NULL);
  Tube t = {&run, &run.model->nets.net[0], NULL};
  const TlNet *net = t.net;
  int64_t n = tl_net_spheres(net), low = net->rows / 3, high = net->rows - 1 - low;
  JUDGE_OK(TL_NEW(t.at, (size_t)n));
  for (int64_t i = 0; i < run.state->dem.bodies.owned; i++)
    t.at[run.state->dem.bodies.id[i] - net->first_id] = i;
  double radius = 0, pressure = -net->pressure_Pa;
  for (int64_t i = low * net->columns; i < (high + 1) * net->columns; i++)
    radius += tl_norm(from_axis(&t, run.state->dem.bodies.position[t.at[i]])) /
              (double)((high + 1 - low) * net->columns);
  double tall = tl_dot(tl_sub(run.state->dem.bodies.position[t.at[high * net->columns]],
                              run.state->dem.bodies.position[t.at[low * net->columns]]),
                       net->across);
  double tension = round_pull(&t, low, high) / (2 * M_PI * radius * tall);
  double grown = pressure * net->tube_radius_m * (8.0 / 9) / (2 / sqrt(3) * net->normal_N_m);
  judge_at_most(JUDGE_CORRECT, "triaxial_hoop_error", fabs(tension / (pressure * radius) - 1),
                "of p R", 0.02);
  judge_at_most(JUDGE_GOAL, "triaxial_tube_growth_error",
                fabs((radius / net->tube_radius_m - 1) / grown - 1), "of the growth", 0.02);
  judge_note("A tube of %d rows of %d spheres grows by %.3f%% of its radius under %g Pa.",
             net->rows, net->columns, 100 * (radius / net->tube_radius_m - 1), pressure);
  tl_free(t.at);
  tl_run_close(&run);
}

/* ---- a simple cubic packing ---- */

/* Spheres pressed k u into each other along an axis, over the area of a column. */
static void cubic(void) {
  const double diameter = 1e-2, pitch[3] = {9.9e-3, 9.85e-3, 9.8e-3}, k = 1e5;
  double volume = pitch[0] * pitch[1] * pitch[2], error = 0, of = 0;
  TlRun run;
  TlScene scene;
  TlFrame frame;
  TlPacking p;
  TlRunOptions options = {.study = "config/validation/cubic.yaml",
                          .output = judge_path("cubic.run"),
                          .overwrite = true};
  JUDGE_OK(tl_run_open(&run, NULL, &options));
  JUDGE_OK(tl_run_go(&run));
  JUDGE_OK(tl_results_read_scene(run.folder, &scene));
  JUDGE_OK(tl_packing_read(run.folder, &scene, 1, &frame, &p));
  /* the inner eight's cells */
  TlRegion inner = {.low = {0.5 * pitch[0], 0.5 * pitch[1], 0.5 * pitch[2]},
                    .high = {2.5 * pitch[0], 2.5 * pitch[1], 2.5 * pitch[2]}};
  TlSym3 s = tl_stress_region(&p, &inner);
  const double ours[6] = {s.xx, s.yy, s.zz, s.xy, s.xz, s.yz};
  for (int i = 0; i < 6; i++) {
    double right = i < 3 ? k * (diameter - pitch[i]) * pitch[i] / volume : 0;
    error = fmax(error, fabs(ours[i] - right));
    of = fmax(of, right);
  }
  judge_at_most(JUDGE_CORRECT, "triaxial_cubic_stress_error", error / of, "of the largest", 1e-9);
  tl_packing_free(&p);
  tl_frame_free(&frame);
  tl_scene_free(&scene);
  tl_run_close(&run);
}

/* ---- the cell ---- */

enum { DENSE, RIGID, NONSMOOTH, IMPULSES, METHODS, SLIPPERY = METHODS, SPHERES, CASES };
static const char *const set[CASES] = {"seed=1",
                                       "penalty.tangential_ratio=1",
                                       "solver.method=nonsmooth",
                                       "solver.method=etm-level",
                                       "contact.friction=0.2",
                                       "grains.as_spheres=yes"};
static const char *const name[CASES] = {"dense",    "rigid",    "nonsmooth",
                                        "impulses", "slippery", "spheres"};
enum { SEEDS = 4, FIRST_SEED = 5 };

static const char *folder_of(const char *what, int seed) {
  char run[64];
  snprintf(run, sizeof run, "%s_%d.run", what, FIRST_SEED + seed);
  return judge_path(run);
}

typedef struct Test {
  double peak_deg, peak_strain, end_deg, contraction, end_volume, voids, inertia, balance_error,
      escaped;
  double mean_q_Pa; /* over strains from 2% to the end */
  double cpu_s;
} Test;

/* Of the stress by strain, however the lines of the table lie. */
static double mean_deviator(const TlTxTest *test) {
  const double *strain = test->x[TL_TX_AXIAL_STRAIN], *q = test->x[TL_TX_Q];
  double sum = 0, of = 0;
  for (int64_t k = 1; k < test->count; k++) {
    if (test->kind[k - 1] != TL_TX_SHEAR || strain[k - 1] < 0.02) continue;
    sum += 0.5 * (q[k] + q[k - 1]) * (strain[k] - strain[k - 1]);
    of += strain[k] - strain[k - 1];
  }
  return sum / of;
}

static void read_test(const char *folder, Test *t) {
  TlTxTest test;
  TlTxOptions options = {0};
  TlFigures f = {0};
  JUDGE_OK(tl_tx_read(folder, &options, &test));
  JUDGE_OK(tl_tx_measure(&test, &options, &f));
  t->peak_deg = tl_figures_get(&f, "peak_friction_angle");
  t->peak_strain = tl_figures_get(&f, "peak_friction_strain");
  t->end_deg = tl_figures_get(&f, "critical_friction_angle");
  t->contraction = tl_figures_get(&f, "largest_contraction");
  t->end_volume = test.x[TL_TX_VOLUME_STRAIN][test.count - 1];
  t->voids = tl_figures_get(&f, "void_ratio_before_shear");
  t->inertia = tl_figures_get(&f, "largest_inertia_number");
  t->balance_error = tl_figures_get(&f, "energy_balance_error_share");
  t->escaped = tl_figures_get(&f, "grains_escaped");
  t->mean_q_Pa = mean_deviator(&test);
  tl_figures_free(&f);
  tl_tx_free(&test);
}

static const char *scan(const char *file) {
  char path[64];
  snprintf(path, sizeof path, "scan/%s", file);
  return judge_path(path);
}

static double go(const char *study, const char *folder, const char *const *sets, int count) {
  TlRun run;
  TlTexts list = {(char **)(uintptr_t)sets, count};
  TlRunOptions options = {.study = study,
                          .sets = &list,
                          .catalog = judge_full() ? scan("catalog.tals") : NULL,
                          .output = folder,
                          .overwrite = true};
  JUDGE_OK(tl_run_open(&run, NULL, &options));
  JUDGE_OK(tl_run_go(&run));
  double cpu_s = run.state->totals.cpu_s;
  tl_run_close(&run);
  return cpu_s;
}

typedef struct Settled {
  double cpu_s, top_m; /* of the highest grain */
} Settled;

/* A grain that came to lie on top of the others must not reach into the platen: it would be shot
 * out of it, with an energy that nobody put in. */
static double top_of(const char *folder) {
  TlScene scene;
  TlFrame frame = {0};
  int64_t *index, count;
  double top = 0;
  JUDGE_OK(tl_results_read_scene(folder, &scene));
  JUDGE_OK(tl_results_frames(folder, &index, &count));
  JUDGE_OK(tl_results_read_frame(folder, index[count - 1], &frame));
  for (int64_t i = 0; i < frame.count; i++) {
    const TlBodyRow *row = &frame.rows[i];
    const TlAvatar *a = tl_scene_avatar(&scene, row->avatar_id);
    for (int32_t k = 0; k < a->node_count; k++) {
      TlVec3 node = {a->node_m[3 * k], a->node_m[3 * k + 1], a->node_m[3 * k + 2]};
      top = fmax(top, row->position_m.z + row->scale * tl_quat_rotate(row->rotation, node).z);
    }
  }
  tl_free(index);
  tl_frame_free(&frame);
  tl_scene_free(&scene);
  return top;
}

enum { SIZES = 3, SIZE_WIDE = 64 };

/* Scale and sizes of the scan's grains, as keys. */
static void read_sizes(char size[SIZES][SIZE_WIDE]) {
  FILE *file = fopen(scan("sizes.txt"), "r");
  for (int i = 0; i < SIZES; i++) {
    JUDGE_OK(file && fgets(size[i], SIZE_WIDE, file) ? TL_OK : tl_fail(TL_EIO, "no sizes.txt"));
    size[i][strcspn(size[i], "\n")] = 0;
  }
  fclose(file);
}

static void make_scan(void) {
  char command[1200], *sizes = strdup(scan("sizes.txt"));
  snprintf(command, sizeof command, "make -s -f pipeline/triaxial.mk OUT='%s' THREADS=1 '%s' >&2",
           judge_path("scan"), sizes);
  JUDGE_OK(system(command) == 0 ? TL_OK : tl_fail(TL_EIO, "failed: %s", command));
  free(sizes);
}

static void settle(int which, void *result, void *context) {
  Settled *s = result;
  char seed[32], size[SIZES][SIZE_WIDE];
  const char *const sets[] = {seed, size[0], size[1], size[2]};
  (void)context;
  snprintf(seed, sizeof seed, "seed=%d", FIRST_SEED + which);
  if (judge_full()) read_sizes(size);
  s->cpu_s =
      go(judge_full() ? "config/triaxial-specimen.yaml" : "config/validation/cell_specimen.yaml",
         folder_of("specimen", which), sets, judge_full() ? 1 + SIZES : 1);
  s->top_m = judge_full() ? 0 : top_of(folder_of("specimen", which));
}

/* The full edition compares the methods whose friction is rigid. A test by penalty takes half an hour of CPU time, one by
 * impulses half of that. */
static bool is_run(int seed, int k) {
  if (judge_full()) return k == RIGID || k == NONSMOOTH || (k == IMPULSES && seed == 0);
  return seed == 0 || k < METHODS;
}

/* Case by case of each seed; the last two of the first one alone. */
static void shear(int which, void *result, void *context) {
  Test *t = result;
  int seed = which / CASES, k = which % CASES;
  if (!is_run(seed, k)) return;
  char from[512], height[64], size[SIZES][SIZE_WIDE],
      *path = realpath(folder_of("specimen", seed), NULL);
  const Settled *settled = (const Settled *)context + seed;
  JUDGE_OK(path ? TL_OK : tl_fail(TL_EIO, "no specimen.run"));
  snprintf(from, sizeof from, "release.run=%s", path);
  free(path);
  snprintf(height, sizeof height, "triaxial.height_m=%.4f", settled->top_m + 5e-5);
  const char *folder = folder_of(name[k], seed);
  if (judge_full()) {
    read_sizes(size);
    const char *const sets[] = {from, size[0], set[k], "triaxial.stages.1.until_strain=0.15"};
    t->cpu_s = go("config/triaxial.yaml", folder, sets, 4);
  } else {
    const char *const sets[] = {from, height, set[k]};
    t->cpu_s = go("config/validation/cell.yaml", folder, sets, 3);
  }
  read_test(folder, t);
}

typedef struct Mean { /* over seeds */
  double q_Pa, least_Pa, most_Pa, peak_deg, cpu_s;
  int seeds;
} Mean;

/* Over the seeds that were run by this method and by the one that it is held against. */
static Mean mean_of(const Test *t, int method, int beside) {
  Mean m = {.least_Pa = INFINITY, .most_Pa = -INFINITY};
  for (int s = 0; s < SEEDS; s++) {
    const Test *one = &t[s * CASES + method];
    if (!is_run(s, method) || !is_run(s, beside)) continue;
    m.q_Pa += one->mean_q_Pa;
    m.peak_deg += one->peak_deg;
    m.cpu_s += one->cpu_s;
    m.least_Pa = fmin(m.least_Pa, one->mean_q_Pa);
    m.most_Pa = fmax(m.most_Pa, one->mean_q_Pa);
    m.seeds++;
  }
  double fraction = 1.0 / m.seeds;
  m.q_Pa *= fraction, m.peak_deg *= fraction, m.cpu_s *= fraction;
  return m;
}

/* Means of the deviator from 2% strain on, beside that of penalty whose friction is as stiff as its
 * normal force: the nonsmooth method's and the impulses' is rigid. */
static void judge_methods(const Test *t) {
  Mean rigid = mean_of(t, RIGID, RIGID), nonsmooth = mean_of(t, NONSMOOTH, RIGID),
       impulses = mean_of(t, IMPULSES, RIGID), beside = mean_of(t, RIGID, IMPULSES), dense = {0};
  double range = fmax(rigid.most_Pa - rigid.least_Pa, impulses.most_Pa - impulses.least_Pa);
  if (is_run(0, DENSE)) dense = mean_of(t, DENSE, RIGID);
  judge_at_most(JUDGE_GOAL, "triaxial_nonsmooth_deviator", fabs(nonsmooth.q_Pa / rigid.q_Pa - 1),
                "of penalty's, from 2% on", 0.05);
  judge_at_most(JUDGE_GOAL, "triaxial_nonsmooth_cpu", nonsmooth.cpu_s / rigid.cpu_s,
                "of penalty's CPU time", 0.1);
  judge_at_most(JUDGE_GOAL, "triaxial_impulses_deviator", fabs(impulses.q_Pa / beside.q_Pa - 1),
                "of penalty's, from 2% on", 0.05);
  judge_at_most(JUDGE_GOAL, "triaxial_impulses_apart", fabs(impulses.q_Pa - beside.q_Pa) / range,
                "of the seeds' range", 1);
  if (is_run(0, DENSE))
    judge_at_most(JUDGE_GOAL, "triaxial_tangential_stiffness", fabs(dense.q_Pa / rigid.q_Pa - 1),
                  "of the deviator, 2/7 or 1", 0.05);
  const Mean *const by[METHODS] = {&dense, &rigid, &nonsmooth, &impulses};
  static const char *const said[METHODS] = {"penalty, ks 2/7 of kn", "penalty, ks as kn",
                                            "the nonsmooth method", "impulses"};
  for (int i = 0; i < METHODS; i++)
    if (is_run(0, i))
      judge_note(
          "Deviator from 2%% on by %s: %.0f kPa (%d seeds, %.0f to %.0f), peak %.1f degrees; "
          "%.0f s CPU.",
          said[i], 1e-3 * by[i]->q_Pa, by[i]->seeds, 1e-3 * by[i]->least_Pa, 1e-3 * by[i]->most_Pa,
          by[i]->peak_deg, by[i]->cpu_s);
}

static void judge_runs(const Test *t) {
  double balance_error = 0, inertia = 0, escaped = 0;
  for (int i = 0; i < SEEDS * CASES; i++) {
    if (!is_run(i / CASES, i % CASES)) continue;
    if (i % CASES != IMPULSES)
      balance_error = fmax(balance_error, 0.01 * t[i].balance_error); /* which book no losses */
    inertia = fmax(inertia, t[i].inertia);
    escaped += t[i].escaped;
  }
  judge_at_most(JUDGE_CORRECT, "triaxial_energy_defect", balance_error, "of the work", 0.01);
  judge_at_most(JUDGE_CORRECT, "triaxial_escaped", escaped, "grains", 0);
  judge_at_most(JUDGE_GOAL, "triaxial_inertia", inertia, "1", 1e-3);
}

/* The small cell's own. */
static void judge_cell(const Test *t) {
  const Test *dense = &t[DENSE], *slippery = &t[SLIPPERY], *spheres = &t[SPHERES];
  judge_at_least(JUDGE_GOAL, "triaxial_contraction", dense->contraction, "volume strain", 1e-3);
  judge_at_most(JUDGE_GOAL, "triaxial_dilation", dense->end_volume, "volume strain", -0.01);
  judge_at_least(JUDGE_GOAL, "triaxial_softening", dense->peak_deg - dense->end_deg, "deg", 1);
  judge_at_least(JUDGE_GOAL, "triaxial_friction_rise", dense->peak_deg - slippery->peak_deg, "deg",
                 3);
  /* Spheres roll where angular grains lock; by how much follows from no rule. */
  judge_note("Angular grains reach %.1f degrees more than spheres of their volumes.",
             dense->peak_deg - spheres->peak_deg);
}

static void say(const char *what, const Test *t) {
  judge_note("%s: peak %.1f degrees at %.1f%% strain, %.1f over the last fifth; void ratio %.3f "
             "before shear; contraction %.2f%%, volume at the end %+.1f%%; %.0f s CPU.",
             what, t->peak_deg, 100 * t->peak_strain, t->end_deg, t->voids, 100 * t->contraction,
             -100 * t->end_volume, t->cpu_s);
}

static void plot(void) {
  char list[64] = "";
  for (int i = 0; i < CASES; i++) {
    if (!is_run(0, i)) continue;
    sprintf(list + strlen(list), " %d", i);
    TlTxTest test;
    TlTxOptions options = {0};
    char data[32];
    snprintf(data, sizeof data, "curve%d.dat", i);
    FILE *file = judge_data(data);
    JUDGE_OK(tl_tx_read(folder_of(name[i], 0), &options, &test));
    for (int64_t k = 0; k < test.count; k++)
      if (test.kind[k] == TL_TX_SHEAR)
        fprintf(file, "%g %g %g\n", 100 * test.x[TL_TX_AXIAL_STRAIN][k], 1e-3 * test.x[TL_TX_Q][k],
                -100 * test.x[TL_TX_VOLUME_STRAIN][k]);
    fclose(file);
    tl_tx_free(&test);
  }
  char script[1200];
  snprintf(
      script, sizeof script,
      "set multiplot layout 2,1; set key outside top center horizontal; set xrange [0:%d]\n"
      "set lmargin 10; set yrange [0:*]\n"
      "names = \"'penalty, ks 2/7' 'penalty, ks = kn' 'nonsmooth' 'impulses' 'friction 0.2' "
      "'spheres'\"\n"
      "set ylabel 'deviatoric stress, kPa'\n"
      "plot for [i in '%s'] 'curve'.i.'.dat' using 1:2 with lines lw 2 title word(names, i+1)\n"
      "set yrange [*:*]; set xlabel 'axial strain, %%'; set ylabel 'volume, %%'\n"
      "plot for [i in '%s'] 'curve'.i.'.dat' using 1:3 with lines lw 2 notitle\n"
      "unset multiplot\n",
      judge_full() ? 15 : 10, list, list);
  judge_gnuplot(judge_full() ? "triaxial_scan" : "triaxial_cell", script);
}

int main(int argc, char **argv) {
  static const char *const said[CASES] = {"Angular grains, friction 0.5",
                                          "Tangential stiffness as large as the normal one",
                                          "By the nonsmooth method",
                                          "By impulses",
                                          "Friction 0.2",
                                          "Spheres of their volumes"};
  judge_open("triaxial", argc, argv);
  tl_log_set("val_triaxial", TL_LOG_WARN);
  if (judge_full()) make_scan();
  Settled *settled = judge_cases(&(JudgeCases){SEEDS, sizeof(Settled), settle, NULL, NULL});
  const Test *t = judge_cases(
      &(JudgeCases){SEEDS * CASES, sizeof(Test), shear, settled, NULL, .named = "shear_"});
  judge_runs(t);
  judge_methods(t);
  if (!judge_full()) {
    tube();
    cubic();
    judge_cell(t);
    judge_note(
        "165 grains, 5 across, settle by impulses in %.0f s CPU; the highest reaches to %.1f mm, "
        "where the platen begins.",
        settled->cpu_s, 1e3 * settled->top_m);
  }
  for (int i = 0; i < CASES; i++)
    if (is_run(0, i)) say(said[i], &t[i]);
  plot();
  return judge_close();
}
