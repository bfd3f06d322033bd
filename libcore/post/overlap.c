#include "post/overlap.h"

#include "base/mem.h"
#include "base/par.h"
#include "num/quantile.h"
#include "post/measure.h"

#include <math.h>
#include <stdlib.h>

TlOverlapBody tl_overlap_body(const TlOverlapShape *shape, const TlBodyRow *row) {
  return (TlOverlapBody){.row = row,
                         .shape = shape,
                         .turn = tl_quat_matrix(row->rotation),
                         .radius_m = row->scale * shape->avatar->radius_m};
}

void tl_overlap_rows_free(TlOverlapRows *rows) {
  tl_free(rows->row);
  *rows = (TlOverlapRows){0};
}

/* ---- two bodies ---- */

/* The ball a in b, a ball or a polyhedron: phi of b at the centre of a is exact. */
static void ball_in(const TlOverlapBody *a, const TlOverlapBody *b, TlOverlapDepth *deepest) {
  double r = a->row->scale * a->shape->radius_m, s = b->row->scale;
  TlVec3 g, d = tl_sub(a->row->position_m, b->row->position_m);
  double phi = s * tl_overlap_shape_phi(b->shape, tl_scale(1 / s, tl_mat_tvec(b->turn, d)), &g);
  TlVec3 n = tl_mat_vec(b->turn, g);
  tl_overlap_take(deepest, r - phi, tl_axpy(a->row->position_m, -0.5 * (r + phi), n), n);
}

TlStatus tl_overlap_pair(const TlOverlapBody *a, const TlOverlapBody *b, TlOverlapDepth *deepest,
                         TlOverlapTest *test) {
  const TlOverlapForm fa = a->shape->form, fb = b->shape->form;
  const TlVec3 origin = a->row->position_m;
  *deepest = (TlOverlapDepth){0};
  if (fa != TL_OVERLAP_GRID && fb != TL_OVERLAP_GRID &&
      (fa == TL_OVERLAP_BALL || fb == TL_OVERLAP_BALL)) {
    *test = TL_OVERLAP_CLOSED;
    if (fa == TL_OVERLAP_BALL) {
      ball_in(a, b, deepest);
    } else {
      ball_in(b, a, deepest);
      deepest->normal = tl_scale(-1, deepest->normal);
    }
    return TL_OK;
  }
  if (fa == TL_OVERLAP_CONVEX && fb == TL_OVERLAP_CONVEX) {
    *test = TL_OVERLAP_AXES;
    for (int i = 0; i < a->shape->parts; i++)
      for (int j = 0; j < b->shape->parts; j++) {
        TlConvex p = tl_overlap_part(a, i, origin), q = tl_overlap_part(b, j, origin);
        TlVec3 n, at;
        double depth = tl_convex_depth(&p, &q, &n, &at);
        if (depth > 0) tl_overlap_take(deepest, depth, tl_add(origin, at), n);
      }
    return TL_OK;
  }
  *test = TL_OVERLAP_SAMPLES;
  TlOverlapAgainst in_a = tl_overlap_against_body(a), in_b = tl_overlap_against_body(b);
  TL_TRY(tl_overlap_deepest(a, &in_b, deepest));
  double before = deepest->depth_m;
  TL_TRY(tl_overlap_deepest(b, &in_a, deepest));
  if (deepest->depth_m > before) deepest->normal = tl_scale(-1, deepest->normal);
  return TL_OK;
}

/* ---- a frame ---- */

typedef struct Pair {
  int64_t a, b; /* of the frame's bodies; b < 0: boundary -1 - b */
} Pair;

typedef struct Work {
  const TlScene *scene;
  const TlOverlapBody *body;
  const TlPlacement *place;
  int64_t frame;
  Pair *pair; /* owned, as the rest */
  TlOverlapRow *row;
  int64_t count;
  size_t capacity;
} Work;

static TlStatus measure_pairs(void *context, int64_t begin, int64_t end, int64_t block,
                              int thread) {
  Work *w = context;
  (void)block, (void)thread;
  for (int64_t i = begin; i < end; i++) {
    const TlOverlapBody *a = &w->body[w->pair[i].a];
    int64_t other = w->pair[i].b;
    TlOverlapDepth deepest = {0};
    TlOverlapRow row = {.frame = w->frame, .first = a->row->id, .radius_m = tl_overlap_radius(a)};
    if (other < 0) {
      row.second = other;
      TL_TRY(tl_overlap_boundary(w->scene, w->place, -1 - other, a, &deepest, &row.test));
      row.nodes_m = tl_overlap_boundary_nodes(w->scene, w->place, -1 - other, a);
    } else {
      const TlOverlapBody *b = &w->body[other];
      row.second = b->row->id;
      row.radius_m = fmin(row.radius_m, tl_overlap_radius(b));
      TL_TRY(tl_overlap_pair(a, b, &deepest, &row.test));
      row.nodes_m =
          fmax(tl_measure_nodes_inside(a->shape->avatar, a->row, b->shape->avatar, b->row),
               tl_measure_nodes_inside(b->shape->avatar, b->row, a->shape->avatar, a->row));
    }
    row.depth_m = deepest.depth_m;
    row.fraction = deepest.depth_m / row.radius_m;
    row.point_m = deepest.point_m;
    row.normal = deepest.normal;
    w->row[i] = row;
  }
  return TL_OK;
}

static bool can_move(const TlOverlapBody *b) {
  return !(b->row->flags & (TL_ROW_FROZEN | TL_ROW_NO_GRAIN));
}

typedef struct Span {
  double left, right;
  int64_t index;
} Span;

static int by_left(const void *one, const void *two) {
  const Span *a = one, *b = two;
  if (a->left != b->left) return a->left < b->left ? -1 : 1;
  return (a->index > b->index) - (a->index < b->index);
}

static int by_index(const void *one, const void *two) {
  const Pair *a = one, *b = two;
  if (a->a != b->a) return a->a < b->a ? -1 : 1;
  return (a->b > b->b) - (a->b < b->b);
}

static TlStatus add_pair(Work *w, int64_t a, int64_t b) {
  TL_TRY(TL_RESERVE(w->pair, w->capacity, (size_t)w->count + 1));
  w->pair[w->count++] = (Pair){a, b};
  return TL_OK;
}

/* All pairs whose bounding spheres meet, by a sweep along x. */
static TlStatus find_pairs(Work *w, int64_t bodies) {
  Span *span;
  TlStatus status = TL_NEW(span, (size_t)bodies);
  for (int64_t i = 0; i < bodies && status == TL_OK; i++) {
    double x = w->body[i].row->position_m.x, r = w->body[i].radius_m;
    span[i] = (Span){x - r, x + r, i};
  }
  if (status == TL_OK) qsort(span, (size_t)bodies, sizeof *span, by_left);
  for (int64_t i = 0; i < bodies; i++)
    for (int64_t j = i + 1; j < bodies && status == TL_OK && span[j].left <= span[i].right; j++) {
      const TlOverlapBody *a = &w->body[span[i].index], *b = &w->body[span[j].index];
      double reach = a->radius_m + b->radius_m;
      if (tl_norm2(tl_sub(a->row->position_m, b->row->position_m)) > reach * reach) continue;
      if (!can_move(a) && !can_move(b)) continue;
      if (a->row->body == b->row->body) continue;   /* parts of a body may be one in another */
      bool forward = span[i].index < span[j].index; /* rows are sorted by id */
      status = add_pair(w, span[forward ? i : j].index, span[forward ? j : i].index);
    }
  tl_free(span);
  if (status == TL_OK && w->count > 1) qsort(w->pair, (size_t)w->count, sizeof *w->pair, by_index);
  for (int64_t i = 0; i < bodies; i++)
    for (int64_t k = 0; k < tl_overlap_boundaries(w->scene) && status == TL_OK; k++)
      if (can_move(&w->body[i])) status = add_pair(w, i, -1 - k);
  return status;
}

static TlStatus find_bodies(const TlScene *scene, const TlOverlapShape *shapes,
                            const TlFrame *frame, TlOverlapBody *body) {
  for (int64_t i = 0; i < frame->count; i++) {
    const TlBodyRow *row = &frame->rows[i];
    const TlAvatar *a = tl_scene_avatar(scene, row->avatar_id);
    if (!a)
      return tl_fail(TL_EINPUT, "body %lld uses avatar %lld, which is not in run.h5",
                     (long long)row->id, (long long)row->avatar_id);
    body[i] = tl_overlap_body(&shapes[a - scene->avatars], row);
  }
  return TL_OK;
}

TlStatus tl_overlap_frame(const TlScene *scene, const TlOverlapShape *shapes, const TlFrame *frame,
                          TlOverlapRows *rows) {
  enum { BLOCK = 4 };
  TlOverlapBody *body = NULL;
  TlPlacement *place = NULL;
  Work w = {.scene = scene, .frame = frame->index};
  TlStatus status = TL_NEW(body, (size_t)frame->count);
  if (status == TL_OK) status = TL_NEW(place, (size_t)scene->part_count);
  if (status == TL_OK) status = find_bodies(scene, shapes, frame, body);
  if (status == TL_OK) {
    for (int64_t i = 0; i < scene->part_count; i++)
      place[i] = tl_scene_place(scene, &scene->parts[i], frame);
    w.body = body, w.place = place;
    status = find_pairs(&w, frame->count);
  }
  if (status == TL_OK) status = TL_NEW(w.row, (size_t)w.count);
  if (status == TL_OK) status = tl_par_blocks(w.count, BLOCK, measure_pairs, &w);
  for (int64_t i = 0; i < w.count && status == TL_OK; i++) {
    if (!(w.row[i].depth_m > 0 || w.row[i].nodes_m > 0)) continue;
    status = TL_RESERVE(rows->row, rows->capacity, (size_t)rows->count + 1);
    if (status == TL_OK) rows->row[rows->count++] = w.row[i];
  }
  tl_free(w.row);
  tl_free(w.pair);
  tl_free(place);
  tl_free(body);
  return status;
}

/* ---- sums ---- */

TlStatus tl_overlap_sums(const TlOverlapRows *rows, int64_t frame, bool ground, TlOverlapSums *s) {
  double *depth = NULL, *fraction = NULL;
  *s = (TlOverlapSums){.first = -1, .second = -1};
  TlStatus status = TL_NEW(depth, (size_t)rows->count);
  if (status == TL_OK) status = TL_NEW(fraction, (size_t)rows->count);
  for (int64_t i = 0; i < rows->count && status == TL_OK; i++) {
    const TlOverlapRow *r = &rows->row[i];
    double nodes = r->nodes_m / r->radius_m;
    if ((frame >= 0 && r->frame != frame) || (r->second < 0) != ground) continue;
    if (r->nodes_m > 0) s->nodes_touching++;
    s->nodes_over_1_percent += nodes > 0.01;
    s->nodes_over_2_percent += nodes > 0.02;
    s->nodes_largest_m = fmax(s->nodes_largest_m, r->nodes_m);
    s->nodes_largest_fraction = fmax(s->nodes_largest_fraction, nodes);
    if (!(r->depth_m > 0)) continue;
    depth[s->touching] = r->depth_m;
    fraction[s->touching++] = r->fraction;
    s->over_1_percent += r->fraction > 0.01;
    s->over_2_percent += r->fraction > 0.02;
    s->largest_m = fmax(s->largest_m, r->depth_m);
    if (r->fraction <= s->largest_fraction) continue;
    s->largest_fraction = r->fraction;
    s->first = r->first;
    s->second = r->second;
  }
  if (status == TL_OK) {
    s->median_m = tl_quantile(depth, s->touching, 0.5);
    s->p90_m = tl_quantile(depth, s->touching, 0.9);
    s->p99_m = tl_quantile(depth, s->touching, 0.99);
    s->median_fraction = tl_quantile(fraction, s->touching, 0.5);
    s->p90_fraction = tl_quantile(fraction, s->touching, 0.9);
    s->p99_fraction = tl_quantile(fraction, s->touching, 0.99);
  }
  tl_free(depth);
  tl_free(fraction);
  return status;
}
