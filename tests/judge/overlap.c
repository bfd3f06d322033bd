#include "judge/overlap.h"

#include "base/mem.h"
#include "judge/judge.h"

#include <math.h>
#include <stdlib.h>

static const double GOAL = 0.01, MOST = 0.02; /* of the radius */

static int by_id(const void *one, const void *two) {
  int64_t a = ((const TlBodyRow *)one)->id, b = ((const TlBodyRow *)two)->id;
  return (a > b) - (a < b);
}

static int by_avatar(const void *one, const void *two) {
  int64_t a = ((const TlAvatar *)one)->id, b = ((const TlAvatar *)two)->id;
  return (a > b) - (a < b);
}

static double mean_of(const TlOverlapRows *rows) {
  double sum = 0;
  int64_t touching = 0;
  for (int64_t i = 0; i < rows->count; i++) {
    if (!(rows->row[i].depth_m > 0)) continue;
    sum += rows->row[i].fraction;
    touching++;
  }
  return touching ? sum / (double)touching : 0;
}

static TlBodyRow row_of(const TlBodies *bodies, int64_t i) {
  const TlColliders *b = &bodies->colliders;
  return (TlBodyRow){.id = b->id[i],
                     .body = b->body_id[i],
                     .avatar_id = b->avatar_id[i],
                     .scale = b->scale[i],
                     .position_m = b->position[i],
                     .rotation = b->rotation[i],
                     .flags = bodies->flags[b->body[i]]};
}

static void take_poses(JudgePoses *poses, const TlBodies *bodies, int64_t step) {
  int64_t count = bodies->colliders.owned;
  JUDGE_OK(TL_RESERVE(poses->row, poses->capacity, (size_t)count));
  for (int64_t i = 0; i < count; i++) poses->row[i] = row_of(bodies, i);
  poses->count = count;
  poses->step = step;
}

static void free_poses(JudgePoses *poses) {
  tl_free(poses->row);
  *poses = (JudgePoses){0};
}

void judge_deepest_free(JudgeDeepest *deepest) {
  free_poses(&deepest->poses);
  free_poses(&deepest->now);
  deepest->fraction = 0;
}

/* scene: without its avatars, which are borrowed from `source` by the bodies' ids. Takes the poses. */
static void open_oracle(JudgeOracle *oracle, TlScene scene, JudgePoses *poses,
                        TlAvatarSource source) {
  size_t count = (size_t)poses->count;
  TlBodyRow *rows = poses->row;
  *oracle = (JudgeOracle){.scene = scene, .poses = *poses};
  *poses = (JudgePoses){0};
  TlScene *s = &oracle->scene;
  JUDGE_OK(TL_NEW(s->avatars, count));
  for (size_t i = 0; i < count; i++) {
    const TlAvatar *a = source.get(source.ctx, rows[i].avatar_id);
    JUDGE_OK(a ? TL_OK : TL_EINPUT);
    s->avatars[i] = *a;
    s->avatars[i].id = rows[i].avatar_id;
  }
  qsort(rows, count, sizeof *rows, by_id);
  qsort(s->avatars, count, sizeof *s->avatars, by_avatar);
  for (size_t i = 0; i < count; i++)
    if (i == 0 || s->avatars[i].id != s->avatars[i - 1].id)
      s->avatars[s->avatar_count++] = s->avatars[i];
  JUDGE_OK(tl_overlap_shapes(s, &oracle->shapes));
}

void judge_oracle_close(JudgeOracle *oracle) {
  tl_overlap_shapes_free(oracle->shapes, oracle->scene.avatar_count);
  tl_free(oracle->scene.avatars);
  free_poses(&oracle->poses);
  *oracle = (JudgeOracle){.shapes = NULL};
}

TlOverlapRows judge_oracle_rows(const JudgeOracle *oracle, JudgeOverlap *sums) {
  const JudgePoses *p = &oracle->poses;
  TlFrame frame = {.step = p->step, .count = p->count, .rows = p->row};
  TlOverlapRows rows = {0};
  JudgeOverlap o;
  JUDGE_OK(tl_overlap_frame(&oracle->scene, oracle->shapes, &frame, &rows));
  JUDGE_OK(tl_overlap_sums(&rows, -1, false, &o.pairs));
  JUDGE_OK(tl_overlap_sums(&rows, -1, true, &o.ground));
  o.largest_fraction = fmax(o.pairs.largest_fraction, o.ground.largest_fraction);
  o.largest_m = fmax(o.pairs.largest_m, o.ground.largest_m);
  o.mean_fraction = mean_of(&rows);
  *sums = o;
  return rows;
}

TlOverlapBody judge_oracle_body(const JudgeOracle *oracle, int64_t id) {
  const JudgePoses *p = &oracle->poses;
  TlBodyRow wanted = {.id = id};
  const TlBodyRow *row = bsearch(&wanted, p->row, (size_t)p->count, sizeof *p->row, by_id);
  const TlAvatar *avatar = row ? tl_scene_avatar(&oracle->scene, row->avatar_id) : NULL;
  if (!avatar) JUDGE_OK(tl_fail(TL_EINPUT, "the oracle has no body %lld", (long long)id));
  return tl_overlap_body(&oracle->shapes[avatar - oracle->scene.avatars], row);
}

static void open_oracle_of_run(JudgeOracle *oracle, TlRun *run, JudgePoses *poses) {
  TlScene scene = {.study = run->model->effective,
                   .step_s = run->model->setup.time.dt_s,
                   .has_terrain = run->model->has_terrain,
                   .terrain = run->model->terrain,
                   .plane_count = run->model->setup.planes.count,
                   .planes = run->model->planes,
                   .part_count = run->model->walls.count,
                   .parts = run->model->walls.part};
  open_oracle(oracle, scene, poses, tl_avatars_source(&run->model->avatars));
}

void judge_oracle_of_run(JudgeOracle *oracle, TlRun *run) {
  JudgePoses now = {0};
  take_poses(&now, &run->state->dem.bodies, run->state->totals.steps);
  open_oracle_of_run(oracle, run, &now);
}

static JudgeOverlap measure(JudgeOracle *oracle) {
  JudgeOverlap sums;
  TlOverlapRows rows = judge_oracle_rows(oracle, &sums);
  tl_overlap_rows_free(&rows);
  judge_oracle_close(oracle);
  return sums;
}

JudgeOverlap judge_overlap_of_run(TlRun *run) {
  JudgeDeepest none = {0};
  return judge_deepest_of_run(&none, run);
}

static const TlAvatar *avatar_of(void *scene, int64_t id) {
  return ((const JudgeScene *)scene)->avatar[id - 1];
}

JudgeOverlap judge_overlap_of_scene(const JudgeScene *scene) {
  JudgeDeepest none = {0};
  return judge_deepest_of_scene(&none, scene);
}

void judge_deepest_look(JudgeDeepest *deepest, const TlBodies *bodies, int64_t step,
                        double fraction) {
  if (!deepest->now.row) take_poses(&deepest->now, bodies, step);
  if (fraction > deepest->fraction) {
    JudgePoses free_again = deepest->poses;
    deepest->fraction = fraction;
    deepest->poses = deepest->now;
    deepest->now = free_again;
  }
  take_poses(&deepest->now, bodies, step);
}

void judge_deepest_look_at_run(JudgeDeepest *deepest, const TlRun *run) {
  const TlRunTotals *t = &run->state->totals;
  judge_deepest_look(deepest, &run->state->dem.bodies, t->steps,
                     fmax(t->last.overlap_share, t->last.boundary_overlap_share));
}

int judge_deepest_stop(void *of_run) {
  JudgeDeepestOfRun *d = of_run;
  judge_deepest_look_at_run(&d->deepest, d->run);
  return 0;
}

JudgeOverlap judge_deepest_of_run(JudgeDeepest *deepest, TlRun *run) {
  JudgeOracle oracle;
  JudgePoses *poses = &deepest->poses;
  if (!poses->row) take_poses(poses, &run->state->dem.bodies, run->state->totals.steps);
  open_oracle_of_run(&oracle, run, poses);
  judge_deepest_free(deepest);
  return measure(&oracle);
}

JudgeOverlap judge_deepest_of_scene(JudgeDeepest *deepest, const JudgeScene *s) {
  JudgeOracle oracle;
  TlPlane plane[JUDGE_PLANES];
  for (int i = 0; i < s->planes; i++)
    plane[i] = (TlPlane){.point_m = s->plane[i].point, .normal = s->plane[i].normal};
  TlScene scene = {.plane_count = s->planes, .planes = plane};
  JudgePoses *poses = &deepest->poses;
  if (!poses->row) take_poses(poses, &s->bodies, 0);
  open_oracle(&oracle, scene, poses, (TlAvatarSource){(void *)(uintptr_t)s, avatar_of});
  judge_deepest_free(deepest);
  return measure(&oracle);
}

JudgeOverlap judge_overlap_worse(JudgeOverlap a, JudgeOverlap b) {
  return a.largest_fraction >= b.largest_fraction ? a : b;
}

void judge_worst_overlap(const char *figure, const JudgeOverlap *overlap) {
  judge_at_most(JUDGE_CORRECT, figure, overlap->largest_fraction, "of the radius", MOST);
}

void judge_true_overlap(const char *figure, const JudgeOverlap *o) {
  const TlOverlapSums *p = &o->pairs, *g = &o->ground;
  judge_at_most(JUDGE_GOAL, figure, o->largest_fraction, "of the radius", GOAL);
  judge_note(
      "%s: %lld pairs touch, median %.2f%%, 90%% below %.2f%%, largest %.2f%%, %lld over 2%%; "
      "nodes see %.2f%% at most. %lld contacts with the ground or walls, largest %.2f%%; "
      "nodes see %.2f%%.",
      figure, (long long)p->touching, 100 * p->median_fraction, 100 * p->p90_fraction,
      100 * p->largest_fraction, (long long)p->over_2_percent, 100 * p->nodes_largest_fraction,
      (long long)g->touching, 100 * g->largest_fraction, 100 * g->nodes_largest_fraction);
}
