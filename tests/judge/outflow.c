#include "judge/outflow.h"

#include "base/file.h"
#include "base/mem.h"
#include "solve/contact.h"
#include "solve/methods.h"
#include "model/shapes.h"
#include "judge/judge.h"
#include "judge/mass_quantile.h"
#include "num/quantile.h"
#include "post/measure.h"
#include "run/run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char STUDY[] = "config/validation/outflow.yaml";

static const OutflowEdition small = {.seeds = OUTFLOW_SEEDS, .settled_s = 0.32, .out_s = 0.5};
static const OutflowEdition full = {
    .seeds = 1,
    .settled_s = 0.5,
    .out_s = 1.2,
    .set_count = 21,
    .sets = {"release.count=1600", "release.low_m=[-0.052,-0.052,0]",
             "release.high_m=[0.052,0.052,0.29]", "shapes.0.nodes=2561", "shapes.0.spacing_m=4e-4",
             "shapes.1.nodes=2561", "shapes.1.spacing_m=4e-4", "shapes.2.nodes=2561",
             "shapes.2.spacing_m=4e-4", "shapes.3.nodes=2561", "shapes.3.spacing_m=4e-4",
             "walls.0.point_m=[-0.052,0,0]", "walls.0.until_s=0.5", "walls.1.point_m=[0.052,0,0]",
             "walls.1.until_s=0.5", "walls.2.point_m=[0,-0.052,0]", "walls.2.until_s=0.5",
             "walls.3.point_m=[0,0.052,0]", "walls.3.until_s=0.5",
             /* by penalty: the same stiffness of the surface, by more nodes; the paper's step */
             "penalty.normal_N_m=1140", "penalty.dt_s=3.991e-5"}};

const OutflowEdition *outflow_edition(void) {
  return judge_full() ? &full : &small;
}

/* ---- the container ---- */

/* A section of the study that the start has not: what it is drawn from, and its walls. */
static bool dropped(const char *line) {
  static const char *const keys[] = {"grains:", "release:", "walls:"};
  for (int i = 0; i < 3; i++)
    if (strncmp(line, keys[i], strlen(keys[i])) == 0) return true;
  return false;
}

static void copy_study(FILE *out, const char *path) {
  char line[512];
  bool drop = false;
  FILE *in = fopen(path, "r");
  if (!in) judge_ok(tl_fail(TL_EIO, "cannot read %s", path), "copy_study");
  while (fgets(line, sizeof line, in)) {
    if (!strchr(" -#\n", line[0])) drop = dropped(line);
    if (!drop && line[0] != '#') fputs(line, out);
  }
  fclose(in);
}

/* Axis times angle, degrees. */
static TlVec3 turn_of(TlQuat q) {
  TlVec3 v = tl_vec3(q.x, q.y, q.z);
  double sine = tl_norm(v), angle = 2 * atan2(sine, q.w);
  return tl_scale(sine > 0 ? angle / sine * 180 / 3.14159265358979323846 : 0, v);
}

static void write_body(FILE *out, const TlRun *run, int64_t i) {
  const TlBodies *b = &run->state->dem.bodies;
  const TlShapeSetup *shapes = run->model->setup.shapes.items;
  int64_t shape = -1 - b->colliders.avatar_id[i];
  TlQuat scan = tl_study_shapes_row(&run->model->shapes, shape).scan_rotation;
  TlVec3 x = b->position[i], turn = turn_of(tl_quat_mul(b->rotation[i], tl_quat_conj(scan)));
  fprintf(out,
          "- {shape: %s, position_m: [%.17g, %.17g, %.17g], turn_deg: [%.17g, %.17g, %.17g], "
          "scale: %.17g}\n",
          shapes[shape].name, x.x, x.y, x.z, turn.x, turn.y, turn.z, b->colliders.scale[i]);
}

static const char *start_of(int seed) {
  static char name[32];
  snprintf(name, sizeof name, "start_seed%d.yaml", seed);
  return name;
}

JudgeOverlap outflow_settle(const OutflowEdition *e, int seed) {
  char text[2][64], *sets[32];
  TlRun run;
  TlTexts list = {sets, 0};
  for (; list.count < e->set_count; list.count++)
    sets[list.count] = (char *)(uintptr_t)e->sets[list.count];
  snprintf(text[0], sizeof *text, "seed=%d", seed);
  snprintf(text[1], sizeof *text, "time.duration_s=%g", e->settled_s);
  for (int i = 0; i < 2; i++) sets[list.count++] = text[i];
  JudgeDeepestOfRun of_run = {.run = &run};
  TlRunOptions options = {.study = STUDY,
                          .sets = &list,
                          .no_output = true,
                          .stop = judge_deepest_stop,
                          .stop_context = &of_run};
  JUDGE_OK(tl_run_open(&run, NULL, &options));
  JUDGE_OK(tl_run_go(&run));
  FILE *out = judge_data(start_of(seed));
  copy_study(out, STUDY);
  fprintf(out, "bodies:\n");
  for (int64_t i = 0; i < run.state->dem.bodies.owned; i++) write_body(out, &run, i);
  if (fclose(out)) judge_ok(tl_fail(TL_EIO, "cannot write the start"), "outflow_settle");
  JudgeOverlap worst = judge_deepest_of_run(&of_run.deepest, &run);
  tl_run_close(&run);
  return worst;
}

/* ---- out of it ---- */

static void note(void *context, TlTracePhase phase, const TlGroup *g, const TlDynamics *d) {
  OutflowIslands *islands = context;
  (void)d;
  if (phase == TL_TRACE_START) islands->start_s = judge_thread_cpu_s();
  if (phase != TL_TRACE_END) return;
  double took = judge_thread_cpu_s() - islands->start_s;
  int64_t contacts = 0;
  for (int32_t i = 0; i < g->pairs; i++) contacts += g->pair[i].count;
  int bin = contacts > 0 ? (int)fmin(log2((double)contacts), OUTFLOW_BINS - 1) : 0;
  islands->time_s[bin] += took;
  islands->contacts[bin] += (double)contacts;
  islands->count[bin]++;
}

static void measure(const TlBodies *b, OutflowMound *mound) {
  int64_t count = 0, n = 0;
  JudgeMass *point;
  double *height;
  for (int64_t i = 0; i < b->owned; i++) count += b->colliders.shape[i]->node_count;
  JUDGE_OK(TL_NEW(point, (size_t)count));
  JUDGE_OK(TL_NEW(height, (size_t)count));
  for (int64_t i = 0; i < b->owned; i++) {
    TlMat3 r = tl_quat_matrix(b->rotation[i]);
    int32_t nodes = b->colliders.shape[i]->node_count;
    for (int32_t k = 0; k < nodes; k++, n++) {
      TlVec3 p = tl_mat_vec(r, tl_shape_node(b->colliders.shape[i], k));
      p = tl_axpy(b->position[i], b->colliders.scale[i], p);
      height[n] = p.z;
      point[n] = (JudgeMass){hypot(p.x, p.y), b->mass[i] / nodes};
    }
  }
  mound->spread_m = judge_mass_quantile(point, n, 0.95);
  mound->height_m = tl_quantile(height, n, 0.99);
  tl_free(point);
  tl_free(height);
}

/* What a run's steps took, kept beside it: one that had ended and is gone on from makes no step. */
typedef struct Times {
  double part_s[OUTFLOW_PARTS]; /* sums */
  OutflowIslands islands;
} Times;

static void keep_times(Times *times, const char *run) {
  char name[80];
  double sum = 0;
  for (int p = 0; p < OUTFLOW_PARTS; p++) sum += times->part_s[p];
  snprintf(name, sizeof name, "times_%s.bin", run);
  FILE *file = fopen(judge_path(name), sum > 0 ? "wb" : "rb");
  bool good = file && (sum > 0 ? fwrite(times, sizeof *times, 1, file)
                               : fread(times, sizeof *times, 1, file)) == 1;
  if (file && fclose(file)) good = false;
  if (!good) judge_ok(tl_fail(TL_EIO, "cannot keep %s", name), "keep_times");
}

static void add_islands(OutflowIslands *sum, const OutflowIslands *one) {
  for (int i = 0; i < OUTFLOW_BINS; i++) {
    sum->time_s[i] += one->time_s[i];
    sum->contacts[i] += one->contacts[i];
    sum->count[i] += one->count[i];
  }
}

/* The papers' size takes hours: a run that was ended resumes from its checkpoint. */
static TlStatus open_run(TlRun *run, TlRunOptions *options) {
  char *newest = tl_path_join(options->output, "history.csv");
  options->resume = judge_full() && tl_file_exists(newest);
  tl_free(newest);
  options->overwrite = !options->resume;
  return tl_run_open(run, NULL, options);
}

/* The parts are told by the wall clock, which other work on the machine stretches: CPU a step,
 * divided as they are. */
static void share_cpu(OutflowMound *m, const Times *times) {
  double sum = 0;
  for (int p = 0; p < OUTFLOW_PARTS; p++) sum += times->part_s[p];
  for (int p = 0; p < OUTFLOW_PARTS; p++) m->part_s[p] = m->cpu_step_s * times->part_s[p] / sum;
}

typedef struct Watch {
  const TlRun *run;
  double *part_s; /* sums */
  JudgeDeepest deepest;
} Watch;

static int watch_step(void *context) {
  Watch *w = context;
  const TlStepReport *r = &w->run->state->totals.last;
  const double part[OUTFLOW_PARTS] = {r->detect_s, r->etm_s, r->rest_s, r->other_s};
  for (int p = 0; p < OUTFLOW_PARTS; p++) w->part_s[p] += part[p];
  judge_deepest_look_at_run(&w->deepest, w->run);
  return 0;
}

/* Those of the container's that a study of settled grains still has. */
static bool still_said(const char *set) {
  return strncmp(set, "shapes.", 7) == 0 || strncmp(set, "penalty.", 8) == 0;
}

OutflowMound outflow_run(const OutflowEdition *e, const char *set, const char *name, int seed,
                         OutflowIslands *islands) {
  char text[2][64], folder[64], *sets[32] = {text[0], text[1]};
  TlTexts list = {sets, 2};
  TlRun run;
  OutflowMound mound = {0};
  Times times = {0};
  Watch watch = {.run = &run, .part_s = times.part_s};
  TlCollisionTrace trace = {&times.islands, note, .ends_only = true};
  snprintf(text[0], sizeof *text, "%s", set);
  snprintf(text[1], sizeof *text, "time.duration_s=%g", e->out_s);
  snprintf(folder, sizeof folder, "%s_seed%d.run", name, seed);
  for (int i = 0; i < e->set_count; i++)
    if (still_said(e->sets[i])) sets[list.count++] = (char *)(uintptr_t)e->sets[i];
  TlRunOptions options = {.study = judge_path(start_of(seed)),
                          .sets = &list,
                          .output = judge_path(folder),
                          .stop = watch_step,
                          .stop_context = &watch};
  JUDGE_OK(open_run(&run, &options));
  if (islands) tl_workspace_trace(run.work, &trace);
  JUDGE_OK(tl_run_go(&run));
  const TlRunTotals *t = &run.state->totals;
  mound.grains = run.state->dem.bodies.owned;
  mound.cpu_s = t->cpu_s;
  mound.cpu_step_s = t->cpu_s / (double)t->steps;
  folder[strlen(folder) - 4] = '\0';
  keep_times(&times, folder);
  share_cpu(&mound, &times);
  if (islands) add_islands(islands, &times.islands);
  mound.kinetic_fraction = t->kinetic_J / (t->potential_start_J - t->potential_J);
  mound.balance_error = fabs(t->balance.error_J) / (t->potential_start_J - t->potential_J);
  JUDGE_OK(tl_run_refresh(&run)); /* a finished run made no step */
  measure(&run.state->dem.bodies, &mound);
  mound.worst = judge_deepest_of_run(&watch.deepest, &run);
  if (seed == 1) mound.truth = judge_overlap_of_run(&run);
  tl_run_close(&run);
  fprintf(stderr,
          "%s: spread %.4f m, height %.4f m, overlap %.3g, moving %.2g, %.3g s a step, %.1f s\n",
          folder, mound.spread_m, mound.height_m, mound.worst.largest_fraction,
          mound.kinetic_fraction, mound.cpu_step_s, mound.cpu_s);
  return mound;
}

OutflowMean outflow_mean(const OutflowMound *m, int count) {
  OutflowMean r = {0};
  for (int i = 0; i < count; i++) {
    r.spread_m += m[i].spread_m / count;
    r.height_m += m[i].height_m / count;
    r.worst = i == 0 ? m[0].worst : judge_overlap_worse(r.worst, m[i].worst);
    r.cpu_s += m[i].cpu_s / count;
    r.kinetic_fraction += m[i].kinetic_fraction / count;
    r.cpu_step_s += m[i].cpu_step_s / count;
    for (int p = 0; p < OUTFLOW_PARTS; p++) r.part_s[p] += m[i].part_s[p] / count;
  }
  for (int i = 0; i < count; i++) {
    r.spread_sd += pow(m[i].spread_m - r.spread_m, 2) / fmax(count - 1, 1);
    r.height_sd += pow(m[i].height_m - r.height_m, 2) / fmax(count - 1, 1);
  }
  r.spread_sd = sqrt(r.spread_sd);
  r.height_sd = sqrt(r.height_sd);
  return r;
}
