#include "judge/overlap.h"

#include "base/mem.h"
#include "judge/judge.h"

#include <math.h>
#include <stdlib.h>

static const double GOAL = 0.01; /* of the radius */

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
    sum += rows->row[i].share;
    touching++;
  }
  return touching ? sum / (double)touching : 0;
}

/* scene: without its avatars, which are borrowed from `source` by the bodies' ids. */
static JudgeOverlap measure(TlScene *scene, int64_t step, const TlBodies *bodies,
                            TlAvatarSource source, TlOverlapRows *rows) {
  const TlColliders *b = &bodies->colliders;
  JudgeOverlap o;
  TlOverlapShape *shapes;
  TlFrame frame = {.step = step, .count = b->owned};
  JUDGE_OK(TL_NEW(frame.rows, (size_t)b->owned));
  JUDGE_OK(TL_NEW(scene->avatars, (size_t)b->owned));
  for (int64_t i = 0; i < b->owned; i++) {
    const TlAvatar *a = source.get(source.ctx, b->avatar_id[i]);
    JUDGE_OK(a ? TL_OK : TL_EINPUT);
    scene->avatars[i] = *a;
    scene->avatars[i].id = b->avatar_id[i];
    frame.rows[i] = (TlBodyRow){.id = b->id[i],
                                .body = b->body_id[i],
                                .avatar_id = b->avatar_id[i],
                                .scale = b->scale[i],
                                .position_m = b->position[i],
                                .rotation = b->rotation[i],
                                .flags = bodies->flags[b->body[i]]};
  }
  qsort(frame.rows, (size_t)b->owned, sizeof *frame.rows, by_id);
  qsort(scene->avatars, (size_t)b->owned, sizeof *scene->avatars, by_avatar);
  for (int64_t i = 0; i < b->owned; i++)
    if (i == 0 || scene->avatars[i].id != scene->avatars[i - 1].id)
      scene->avatars[scene->avatar_count++] = scene->avatars[i];
  JUDGE_OK(tl_overlap_shapes(scene, &shapes));
  JUDGE_OK(tl_overlap_frame(scene, shapes, &frame, rows));
  JUDGE_OK(tl_overlap_sums(rows, -1, false, &o.pairs));
  JUDGE_OK(tl_overlap_sums(rows, -1, true, &o.ground));
  o.largest_share = fmax(o.pairs.largest_share, o.ground.largest_share);
  o.mean_share = mean_of(rows);
  tl_overlap_shapes_free(shapes, scene->avatar_count);
  tl_free(scene->avatars);
  tl_free(frame.rows);
  return o;
}

TlOverlapRows judge_overlap_rows_of_run(TlRun *run, JudgeOverlap *sums) {
  TlOverlapRows rows = {0};
  TlScene scene = {.study = run->model->effective,
                   .step_s = run->model->setup.time.dt_s,
                   .has_terrain = run->model->has_terrain,
                   .terrain = run->model->terrain,
                   .plane_count = run->model->setup.planes.count,
                   .planes = run->model->planes,
                   .part_count = run->model->walls.count,
                   .parts = run->model->walls.part};
  *sums = measure(&scene, run->state->totals.steps, &run->state->dem.bodies,
                  tl_avatars_source(&run->model->avatars), &rows);
  return rows;
}

JudgeOverlap judge_overlap_of_run(TlRun *run) {
  JudgeOverlap sums;
  TlOverlapRows rows = judge_overlap_rows_of_run(run, &sums);
  tl_overlap_rows_free(&rows);
  return sums;
}

static const TlAvatar *avatar_of(void *scene, int64_t id) {
  return ((const JudgeScene *)scene)->avatar[id - 1];
}

JudgeOverlap judge_overlap_of_scene(const JudgeScene *s) {
  TlPlane plane[JUDGE_PLANES];
  for (int i = 0; i < s->planes; i++)
    plane[i] = (TlPlane){.point_m = s->plane[i].point, .normal = s->plane[i].normal};
  TlScene scene = {.plane_count = s->planes, .planes = plane};
  TlOverlapRows rows = {0};
  JudgeOverlap sums =
      measure(&scene, 0, &s->bodies, (TlAvatarSource){(void *)(uintptr_t)s, avatar_of}, &rows);
  tl_overlap_rows_free(&rows);
  return sums;
}

JudgeOverlap judge_overlap_worse(JudgeOverlap a, JudgeOverlap b) {
  return a.largest_share >= b.largest_share ? a : b;
}

void judge_true_overlap(const char *figure, const JudgeOverlap *o) {
  const TlOverlapSums *p = &o->pairs, *g = &o->ground;
  judge_at_most(JUDGE_GOAL, figure, o->largest_share, "of the radius", GOAL);
  judge_note(
      "%s: %lld pairs touch, median %.2f%%, 90%% below %.2f%%, largest %.2f%%, %lld over 2%%; "
      "nodes see %.2f%% at most. %lld contacts with the ground or walls, largest %.2f%%; "
      "nodes see %.2f%%.",
      figure, (long long)p->touching, 100 * p->median_share, 100 * p->p90_share,
      100 * p->largest_share, (long long)p->over_2_percent, 100 * p->nodes_largest_share,
      (long long)g->touching, 100 * g->largest_share, 100 * g->nodes_largest_share);
}
