#include "post/measure.h"

#include "base/mem.h"
#include "post/overlap_shape.h"

#include <math.h>
#include <stdlib.h>

/* Grains sorted by the left end of their bounding spheres; a sweep along x meets every pair whose
 * spheres touch. Cost n k nodes lookups, k grains side by side along x within a diameter. */
typedef struct Ball {
  double left, right, radius; /* of the sphere that holds it, which of a ball is its surface */
  bool is_ball;
  const TlBodyRow *row;
  const TlAvatar *avatar;
} Ball;

static int by_left(const void *one, const void *two) {
  const Ball *a = one, *b = two;
  if (a->left != b->left) return a->left < b->left ? -1 : 1;
  return (a->row->id > b->row->id) - (a->row->id < b->row->id);
}

double tl_measure_nodes_inside(const TlAvatar *a, const TlBodyRow *row_a, const TlAvatar *b,
                               const TlBodyRow *row_b) {
  TlMat3 turn_a = tl_quat_matrix(row_a->rotation), turn_b = tl_quat_matrix(row_b->rotation);
  double sa = row_a->scale, sb = row_b->scale, radius = sb * b->radius_m, deepest = 0;
  for (int32_t n = 0; n < a->node_count; n++) {
    const float *x = a->node_m + 3 * (size_t)n;
    TlVec3 p = tl_axpy(row_a->position_m, sa, tl_mat_vec(turn_a, tl_vec3(x[0], x[1], x[2])));
    TlVec3 d = tl_sub(p, row_b->position_m);
    if (tl_norm2(d) > radius * radius) continue;
    double phi = sb * tl_avatar_phi(b, tl_scale(1 / sb, tl_mat_tvec(turn_b, d)), NULL);
    deepest = fmax(deepest, -phi);
  }
  return deepest;
}

static void judge_pair(const Ball *a, const Ball *b, TlMeasure *m) {
  if (a->row->body == b->row->body) return; /* parts of a body may be one in another */
  TlVec3 d = tl_sub(a->row->position_m, b->row->position_m);
  double reach = a->radius + b->radius;
  if (tl_norm2(d) > reach * reach) return;
  double depth = a->is_ball && b->is_ball
                     ? reach - tl_norm(d)
                     : fmax(tl_measure_nodes_inside(a->avatar, a->row, b->avatar, b->row),
                            tl_measure_nodes_inside(b->avatar, b->row, a->avatar, a->row));
  double radius = 0.5 * fmin(a->row->scale * tl_avatar_diameter_m(a->avatar),
                             b->row->scale * tl_avatar_diameter_m(b->avatar));
  m->overlapping_pairs += depth > 0;
  m->largest_overlap_m = fmax(m->largest_overlap_m, depth);
  m->largest_overlap_fraction = fmax(m->largest_overlap_fraction, depth / radius);
}

TlStatus tl_measure_overlap(const TlScene *scene, const TlFrame *frame, TlMeasure *m) {
  Ball *ball;
  TL_TRY(TL_NEW(ball, (size_t)frame->count));
  for (int64_t i = 0; i < frame->count; i++) {
    const TlBodyRow *row = &frame->rows[i];
    const TlAvatar *a = tl_scene_avatar(scene, row->avatar_id);
    double radius, x = row->position_m.x;
    bool is_ball = tl_avatar_is_ball(a, &radius);
    double r = row->scale * (is_ball ? radius : a->radius_m);
    ball[i] = (Ball){x - r, x + r, r, is_ball, row, a};
  }
  qsort(ball, (size_t)frame->count, sizeof *ball, by_left);
  for (int64_t i = 0; i < frame->count; i++)
    for (int64_t j = i + 1; j < frame->count && ball[j].left <= ball[i].right; j++)
      judge_pair(&ball[i], &ball[j], m);
  tl_free(ball);
  return TL_OK;
}
