#include "dem/narrow.h"

#include "base/mem.h"
#include "dem/shapes.h"

#include <math.h>

static TlStatus append(TlPoints *points, TlPoint point) {
  TL_TRY(TL_RESERVE(points->point, points->capacity, points->count + 1));
  points->point[points->count++] = point;
  return TL_OK;
}

static double limit_of(const TlWanted *w) {
  return fmin(w->margin, fmax(w->least, 0) + w->band);
}

/* Body frame of `from` at unit scale -> body frame of `to` at unit scale: q = m p + t. */
typedef struct Map {
  TlMat3 m, to_world; /* to_world: rotation of `to` */
  TlVec3 t;
  double ratio; /* scale_from/scale_to */
} Map;

static Map map_between(const TlBodies *b, int64_t from, int64_t to) {
  Map map;
  TlMat3 rf = tl_quat_matrix(b->rotation[from]);
  map.to_world = tl_quat_matrix(b->rotation[to]);
  map.ratio = b->scale[from] / b->scale[to];
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      double sum = 0;
      for (int k = 0; k < 3; k++) sum += map.to_world.m[k][i] * rf.m[k][j];
      map.m.m[i][j] = map.ratio * sum;
    }
  TlVec3 d = tl_sub(b->position[from], b->position[to]);
  map.t = tl_scale(1 / b->scale[to], tl_mat_tvec(map.to_world, d));
  return map;
}

static TlVec3 mapped(const Map *map, TlVec3 p) {
  return tl_add(tl_mat_vec(map->m, p), map->t);
}

/* World normal of a gradient; where it vanishes, from centre to centre. */
static TlVec3 world_normal(const Map *map, TlVec3 gradient) {
  double size = tl_norm(gradient);
  TlVec3 g = size > 1e-6 ? tl_scale(1 / size, gradient) : tl_unit(map->t);
  if (tl_norm2(g) == 0) g = tl_vec3(0, 0, 1);
  return tl_mat_vec(map->to_world, g);
}

static TlStatus sphere_point(const TlBodies *b, int64_t from, int64_t to, int side,
                             TlWanted *wanted, const Map *map, TlPoints *points) {
  double radius = b->shape[from]->radius_m * b->scale[from];
  TlVec3 gradient;
  double gap = tl_shape_phi(b->shape[to], map->t, &gradient) * b->scale[to] - radius;
  points->lookups++;
  if (gap >= limit_of(wanted)) return TL_OK;
  wanted->least = fmin(wanted->least, gap);
  TlVec3 n = world_normal(map, gradient);
  TlPoint point = {.p = tl_axpy(b->position[from], -radius, n), .gap = gap, .key = side};
  point.n = side ? tl_scale(-1, n) : n;
  return append(points, point);
}

static TlStatus leaf_points(const TlBodies *b, int64_t from, int64_t to, int side, TlWanted *wanted,
                            const Map *map, const TlNodeSphere *leaf, TlPoints *points) {
  const TlShape *shape = b->shape[from];
  for (int32_t i = leaf->first; i < leaf->first + leaf->count; i++) {
    TlVec3 gradient, q = mapped(map, shape->node[i]);
    double gap = tl_shape_phi(b->shape[to], q, NULL) * b->scale[to];
    if (gap >= limit_of(wanted))
      continue; /* most: the gradient is worth a second lookup for the few */
    wanted->least = fmin(wanted->least, gap);
    tl_shape_phi(b->shape[to], q, &gradient);
    TlVec3 n = world_normal(map, gradient),
           arm = tl_quat_rotate(b->rotation[from], tl_scale(b->scale[from], shape->node[i]));
    TlPoint point = {.p = tl_add(b->position[from], arm),
                     .n = side ? tl_scale(-1, n) : n,
                     .gap = gap,
                     .key = 2 * (int64_t)shape->node_index[i] + side};
    TL_TRY(append(points, point));
  }
  points->lookups += leaf->count;
  points->node_tests += leaf->count;
  return TL_OK;
}

TlStatus tl_narrow_nodes(const TlBodies *b, int64_t from, int64_t to, int side, TlWanted *wanted,
                         TlPoints *points) {
  const TlShape *shape = b->shape[from];
  Map map = map_between(b, from, to);
  if (!shape->avatar) return sphere_point(b, from, to, side, wanted, &map, points);
  for (int32_t i = 0; i < shape->sphere_count;) {
    const TlNodeSphere *s = &shape->sphere[i];
    TlPhiRange phi =
        tl_shape_phi_range(b->shape[to], mapped(&map, s->centre), s->radius * map.ratio);
    points->lookups++;
    /* the sphere holds a node: the least gap is no more than the range's upper end */
    wanted->least = fmin(wanted->least, phi.high * b->scale[to]);
    if (phi.low * b->scale[to] > limit_of(wanted)) {
      i = s->next;
      continue;
    }
    if (s->leaf) TL_TRY(leaf_points(b, from, to, side, wanted, &map, s, points));
    i++;
  }
  return TL_OK;
}

/* ---- boundaries ---- */

typedef struct Pose {
  TlVec3 x;
  TlMat3 r;
  double scale;
} Pose;

static TlVec3 posed(const Pose *pose, TlVec3 p) {
  return tl_add(pose->x, tl_mat_vec(pose->r, tl_scale(pose->scale, p)));
}

static TlStatus boundary_leaf(const TlShape *shape, const Pose *pose, const TlBoundary *boundary,
                              const TlNodeSphere *leaf, TlWanted *wanted, TlPoints *points,
                              TlPoint *deepest) {
  for (int32_t k = leaf->first; k < leaf->first + leaf->count; k++) {
    TlPoint point = {.p = posed(pose, shape->node[k]), .key = 2 * (int64_t)shape->node_index[k]};
    if (!boundary->kind->phi(boundary->data, point.p, &point.gap, &point.n)) continue;
    if (point.gap >= limit_of(wanted)) continue;
    wanted->least = fmin(wanted->least, point.gap);
    if (points) TL_TRY(append(points, point));
    if (deepest &&
        (point.gap < deepest->gap || (point.gap == deepest->gap && point.key < deepest->key)))
      *deepest = point;
  }
  return TL_OK;
}

/* Points are collected, or with deepest != NULL only the deepest is kept. */
static TlStatus boundary_points(const TlShape *shape, const Pose *pose, const TlBoundary *boundary,
                                TlWanted *wanted, TlPoints *points, TlPoint *deepest) {
  const TlBoundaryKind *kind = boundary->kind;
  for (int32_t i = 0; i < shape->sphere_count;) {
    const TlNodeSphere *s = &shape->sphere[i];
    double phi, room = kind->lipschitz * s->radius * pose->scale;
    TlVec3 n;
    bool there = kind->phi(boundary->data, posed(pose, s->centre), &phi, &n);
    if (points) points->lookups++;
    /* where the boundary ends below a sphere, its nodes may still lie over ground: look at them */
    if (there && phi - room > limit_of(wanted)) {
      i = s->next;
      continue;
    }
    if (s->leaf) TL_TRY(boundary_leaf(shape, pose, boundary, s, wanted, points, deepest));
    i++;
  }
  return TL_OK;
}

/* A closed-form sphere touches by its centre's distance. */
static bool sphere_on_boundary(const TlShape *shape, const Pose *pose, const TlBoundary *boundary,
                               double margin, TlPoint *point) {
  double radius = shape->radius_m * pose->scale;
  *point = (TlPoint){0};
  if (!boundary->kind->phi(boundary->data, pose->x, &point->gap, &point->n)) return false;
  point->gap -= radius;
  point->p = tl_axpy(pose->x, -radius, point->n);
  return point->gap < margin;
}

static bool too_far(const TlShape *shape, const Pose *pose, const TlBoundary *boundary,
                    double margin) {
  double phi;
  TlVec3 n;
  return boundary->kind->phi(boundary->data, pose->x, &phi, &n) &&
         phi > boundary->kind->lipschitz * shape->radius_m * pose->scale + margin;
}

bool tl_narrow_near(const TlBodies *b, int64_t body, const TlBoundary *boundary, double margin) {
  Pose pose = {.x = b->position[body], .scale = b->scale[body]};
  return !too_far(b->shape[body], &pose, boundary, margin);
}

TlStatus tl_narrow_boundary(const TlBodies *b, int64_t body, const TlBoundary *boundary,
                            TlWanted *wanted, TlPoints *points) {
  const TlShape *shape = b->shape[body];
  Pose pose = {b->position[body], tl_quat_matrix(b->rotation[body]), b->scale[body]};
  points->lookups++;
  if (too_far(shape, &pose, boundary, wanted->margin)) return TL_OK;
  if (shape->avatar) return boundary_points(shape, &pose, boundary, wanted, points, NULL);
  TlPoint point;
  return sphere_on_boundary(shape, &pose, boundary, wanted->margin, &point) ? append(points, point)
                                                                            : TL_OK;
}

bool tl_narrow_deepest(const TlBodies *b, int64_t body, TlVec3 position, TlQuat rotation,
                       const TlBoundary *boundary, double margin, TlPoint *deepest) {
  const TlShape *shape = b->shape[body];
  Pose pose = {position, tl_quat_matrix(rotation), b->scale[body]};
  if (too_far(shape, &pose, boundary, margin)) return false;
  if (!shape->avatar) return sphere_on_boundary(shape, &pose, boundary, margin, deepest);
  *deepest = (TlPoint){.gap = INFINITY};
  TlWanted wanted = {margin, INFINITY, INFINITY};
  /* cannot fail: nothing is appended */
  return boundary_points(shape, &pose, boundary, &wanted, NULL, deepest) == TL_OK &&
         deepest->gap < margin;
}
