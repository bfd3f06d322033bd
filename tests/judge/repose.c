#include "judge/repose.h"

#include "base/file.h"
#include "base/mem.h"
#include "judge/judge.h"
#include "judge/mass_quantile.h"
#include "run/run.h"

#include <math.h>
#include <stdio.h>

static const double SETTLED_AT = 0.4 /* friction */, G = 9.81;
/* A grain moves if faster than this, of sqrt(g d): at this speed a slope of 8.5 diameters takes 2 s
 * to change by a degree. */
static const double MOVES = 3e-3, CALM_S = 0.1;

const ReposeEdition repose_small = {.length = 0.17,
                                    .width = 0.086,
                                    .settle_s = 0.55,
                                    .flow_s = 3.5,
                                    .frictionless_s = 2.5,
                                    .run_out_s = 0.5,
                                    .grains = {400, 361, 230, 380},
                                    .high = {0.55, 0.76, 0.65, 0.6}};
const ReposeEdition repose_large = {.length = 0.3,
                                    .width = 0.15,
                                    .settle_s = 0.8,
                                    .flow_s = 7,
                                    .frictionless_s = 5,
                                    .run_out_s = 0.66,
                                    .grains = {2180, 2120, 1340, 2070},
                                    .high = {1, 1.46, 1.23, 1.08}};
const ReposeEdition repose_wide = {.length = 0.17,
                                   .width = 0.378,
                                   .strips = 35,
                                   .settle_s = 0.55,
                                   .flow_s = 3.5,
                                   .frictionless_s = 2.5,
                                   .run_out_s = 0.5,
                                   .grains = {1760, 1588, 1012, 1672},
                                   .high = {0.55, 0.76, 0.65, 0.6}};

/* ---- a run until rest ---- */

typedef struct Watch {
  JudgeDeepestOfRun of_run; /* first: where only that is watched, the context is its own */
  const ReposeEdition *e;
  double held_s;
  int64_t left;    /* grains on the floor */
  double moving;   /* fraction of them that moves */
  int64_t resting; /* steps on end */
} Watch;

/* Without spin: a sphere that spins about a contact's normal moves no slope. */
static void look(Watch *w) {
  const TlBodies *b = &w->of_run.run->state->dem.bodies;
  int64_t moving = 0;
  w->left = 0;
  for (int64_t i = 0; i < b->owned; i++) {
    TlVec3 x = b->position[i];
    if (x.z < 0 || x.x > w->e->length) continue;
    moving += tl_norm2(b->velocity[i]) > MOVES * MOVES * G * REPOSE_DIAMETER;
    w->left++;
  }
  w->moving = w->left ? (double)moving / (double)w->left : 0;
}

/* What has fallen 1.5 diameters below the floor, a cross too, reaches the heap no more: out, as
 * what leaves a terrain, for it falls ever faster and its speed widens every contact search. */
static void take_out_fallen(TlBodies *b) {
  for (int64_t i = 0; i < b->owned; i++)
    if (b->position[i].z < -1.5 * REPOSE_DIAMETER) b->flags[i] |= TL_BODY_OUTSIDE;
}

static int rests(void *context) {
  Watch *w = context;
  double dt_s = w->of_run.run->model->setup.time.dt_s;
  look(w);
  judge_deepest_stop(&w->of_run);
  take_out_fallen(&w->of_run.run->state->dem.bodies);
  bool calm = (double)w->of_run.run->state->totals.steps * dt_s > w->held_s + CALM_S &&
              w->moving <= REPOSE_MOVING_FRACTION;
  w->resting = calm ? w->resting + 1 : 0;
  return (double)w->resting * dt_s > CALM_S;
}

/* The full edition takes hours: a run that was ended resumes from its checkpoint. */
static TlStatus open_run(TlRun *run, TlRunOptions *options) {
  char *history = tl_path_join(options->output, "history.csv");
  options->resume = judge_full() && tl_file_exists(history);
  tl_free(history);
  options->overwrite = !options->resume;
  return tl_run_open(run, NULL, options);
}

/* start: of the grains, by id. */
static void put(TlRun *run, const TlGrainState *start) {
  for (int64_t i = 0; i < run->state->dem.bodies.owned; i++)
    tl_test_set_grain(&run->state->dem.bodies, i, &start[run->state->dem.bodies.id[i]]);
}

static double run_out(const TlBodies *b) {
  JudgeMass *grain;
  JUDGE_OK(TL_NEW(grain, (size_t)b->owned));
  for (int64_t i = 0; i < b->owned; i++) grain[i] = (JudgeMass){b->position[i].x, b->mass[i]};
  double x = judge_mass_quantile(grain, b->owned, 0.95);
  tl_free(grain);
  return x;
}

/* On a long floor to the study's end. */
static void go_until_rest(TlRunOptions *options, const ReposeEdition *e, const ReposeCase *c,
                          const TlGrainState *start, ReposeHeap *result) {
  TlRun run;
  Watch watch = {.of_run = {.run = &run}, .e = e, .held_s = c->held_s};
  options->stop = c->way_out == REPOSE_LONG_FLOOR ? judge_deepest_stop : rests;
  options->stop_context = &watch;
  JUDGE_OK(open_run(&run, options));
  if (!options->resume) put(&run, start);
  char *rested = tl_path_join(options->output, "rested.txt");
  if (!options->resume || !tl_file_exists(rested)) { /* else it would run on */
    TlStatus status = tl_run_go(&run);
    if ((double)watch.resting * run.model->setup.time.dt_s <= CALM_S)
      JUDGE_OK(status); /* else we did */
    else
      JUDGE_OK(tl_file_write(rested, "", 0, true));
  }
  tl_free(rested);
  look(&watch);
  result->worst = judge_deepest_of_run(&watch.of_run.deepest, &run);
  result->truth = judge_overlap_of_run(&run);
  result->moving = watch.moving;
  result->left = watch.left;
  result->run_out_m = run_out(&run.state->dem.bodies);
  const TlEnergyBalance *l = &run.state->totals.balance;
  double taken = l->friction_J + l->viscous_J;
  result->balance_error = taken > 0 ? fabs(l->error_J) / taken : 0;
  result->steps = run.state->totals.steps;
  result->end_s = (double)run.state->totals.steps * run.model->setup.time.dt_s - c->held_s;
  result->cpu_s = run.state->totals.cpu_s;
  tl_run_close(&run);
}

static void measure(const char *folder, const ReposeEdition *e, TlRepose *repose) {
  TlScene scene;
  TlFrame frame;
  int64_t *index, count;
  TlReposeOptions floor = {
      .x1_m = e->length, .y1_m = e->width, .strips = e->strips, .along = TL_REPOSE_X};
  JUDGE_OK(tl_results_read_scene(folder, &scene));
  JUDGE_OK(tl_results_frames(folder, &index, &count));
  JUDGE_OK(tl_results_read_frame(folder, index[count - 1], &frame));
  JUDGE_OK(tl_measure_repose(&scene, &frame, &floor, repose));
  tl_frame_free(&frame);
  tl_scene_free(&scene);
  tl_free(index);
}

/* ---- the study ---- */

enum { SETS = 14 + REPOSE_SETS, WIDE = 96 };
typedef struct Sets {
  char text[SETS][WIDE];
  char *item[SETS];
  TlTexts list;
} Sets;

/* wall_s: how long the right wall stands. */
static void settings(const ReposeEdition *e, const ReposeCase *c, Sets *sets, double duration_s,
                     double wall_s) {
  bool long_floor = c->way_out == REPOSE_LONG_FLOOR;
  double sill = c->way_out == REPOSE_OVER_SILL ? REPOSE_SILL : -1; /* height of its axis */
  double end = e->length + REPOSE_SILL + (long_floor ? REPOSE_FLOOR * e->length : 0);
  double half = e->width / 2;
  char(*text)[WIDE] = sets->text;
  int n = 0;
  snprintf(text[n++], WIDE, "grains.shapes=[%s]", repose_shape[c->shape]);
  snprintf(text[n++], WIDE, "contact.friction=%g", c->friction);
  snprintf(text[n++], WIDE, "contact.boundary_friction=%g", c->friction);
  snprintf(text[n++], WIDE, "time.duration_s=%g", duration_s);
  snprintf(text[n++], WIDE, "release.count=%d", e->grains[c->shape]);
  snprintf(text[n++], WIDE, "release.sizes.0.count=%d", e->grains[c->shape]);
  snprintf(text[n++], WIDE, "release.high_m=[%g, %g, %g]", e->length, e->width, e->high[c->shape]);
  snprintf(text[n++], WIDE, "walls.0.point_m=[%g, %g, -0.05]", (end - 0.1) / 2, half);
  snprintf(text[n++], WIDE, "walls.0.size_m=[%g, %g, 0.1]", end + 0.1, e->width + 0.2);
  snprintf(text[n++], WIDE, "walls.3.point_m=[0, %g, 0]", e->width);
  snprintf(text[n++], WIDE, "walls.4.point_m=[%g, %g, %g]", e->length + REPOSE_SILL, half, sill);
  snprintf(text[n++], WIDE, "walls.5.point_m=[%g, 0, 0]", e->length);
  snprintf(text[n++], WIDE, "walls.5.until_s=%g", wall_s);
  snprintf(text[n++], WIDE, "seed=%d", c->seed);
  for (int i = 0; i < REPOSE_SETS && c->sets[i]; i++) snprintf(text[n++], WIDE, "%s", c->sets[i]);
  for (int i = 0; i < n; i++) sets->item[i] = text[i];
  sets->list = (TlTexts){sets->item, n};
}

static TlRunOptions options_of(Sets *sets, const char *folder) {
  return (TlRunOptions){
      .study = "config/validation/repose.yaml", .sets = &sets->list, .output = folder};
}

TlGrainState *repose_settle(const ReposeEdition *e, ReposeShape shape, int seed,
                            ReposeStack *stack) {
  Sets sets;
  char name[64];
  TlRun run;
  TlGrainState *start;
  snprintf(name, sizeof name, "%s_%d.run", repose_shape[shape], seed);
  settings(e, &(ReposeCase){.shape = shape, .friction = SETTLED_AT, .seed = seed}, &sets,
           e->settle_s, 0);
  TlRunOptions options = options_of(&sets, judge_path(name));
  JudgeDeepestOfRun of_run = {.run = &run};
  options.stop = judge_deepest_stop;
  options.stop_context = &of_run;
  JUDGE_OK(open_run(&run, &options));
  JUDGE_OK(tl_run_go(&run));
  JUDGE_OK(TL_NEW(start, (size_t)run.state->dem.bodies.owned));
  for (int64_t i = 0; i < run.state->dem.bodies.owned; i++) {
    TlGrainState state = tl_test_grain_state(&run.state->dem.bodies, i);
    start[state.id] = state;
    stack->fill += 2 * state.position.z / (double)run.state->dem.bodies.owned;
  }
  stack->worst = judge_deepest_of_run(&of_run.deepest, &run);
  stack->truth = judge_overlap_of_run(&run);
  stack->cpu_s = run.state->totals.cpu_s;
  tl_run_close(&run);
  fprintf(stderr, "%s %d: filled to %.3f m, overlap %.3g, %.1f s CPU\n", repose_shape[shape], seed,
          stack->fill, stack->worst.largest_fraction, stack->cpu_s);
  return start;
}

void repose_flow_out(const ReposeEdition *e, const ReposeCase *c, const TlGrainState *start,
                     ReposeHeap *heap) {
  Sets sets;
  const char *folder = judge_path(c->folder);
  double flow_s = c->friction > 0 ? e->flow_s : e->frictionless_s;
  if (c->way_out == REPOSE_LONG_FLOOR) flow_s = e->run_out_s;
  settings(e, c, &sets, c->held_s + flow_s, c->held_s + 1e-6);
  TlRunOptions options = options_of(&sets, folder);
  go_until_rest(&options, e, c, start, heap);
  measure(folder, e, &heap->repose);
  const TlRepose *r = &heap->repose;
  fprintf(stderr, "%s: %.1f deg (%.1f to %.1f), run-out %.4f m, overlap %.3g, ", folder,
          r->mean_deg, r->least_deg, r->most_deg, heap->run_out_m, heap->worst.largest_fraction);
  fprintf(stderr, "%lld left, %.2g of them move, %.2f s, %.1f s CPU\n", (long long)heap->left,
          heap->moving, heap->end_s, heap->cpu_s);
}
