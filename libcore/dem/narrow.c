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

/* The other body as a field in this one's frame. */
typedef struct BodyField {
  TlField field;
  const TlShape *to;
  const Map *map;
  TlMat3 from_world; /* rotation of `from` */
  TlPoints *points;
} BodyField;

static bool body_at(const TlField *field, TlVec3 p, double *gap, TlVec3 *n) {
  const BodyField *f = (const BodyField *)field;
  TlVec3 gradient;
  *gap = tl_shape_phi(f->to, mapped(f->map, p), &gradient) / f->map->ratio;
  *n = tl_mat_tvec(f->from_world, world_normal(f->map, gradient));
  f->points->lookups++;
  return true;
}

/* Points that follow the contact. */
static TlStatus following_points(const TlBodies *b, int64_t from, int64_t to, int side,
                                 TlWanted *wanted, const Map *map, TlPoints *points) {
  const TlShape *shape = b->shape[from];
  TlMat3 r = tl_quat_matrix(b->rotation[from]);
  BodyField field = {{!b->shape[to]->avatar, body_at}, b->shape[to], map, r, points};
  TlClosedPoint found[TL_CLOSED_POINTS];
  int count = shape->closed->points(shape->size, &field.field, found);
  for (int i = 0; i < count; i++) {
    double gap = found[i].gap * b->scale[from];
    if (gap >= limit_of(wanted)) continue;
    wanted->least = fmin(wanted->least, gap);
    TlVec3 n = tl_mat_vec(r, found[i].n), arm = tl_mat_vec(r, tl_scale(b->scale[from], found[i].p));
    TL_TRY(append(points, (TlPoint){.p = tl_add(b->position[from], arm),
                                    .n = side ? tl_scale(-1, n) : n,
                                    .gap = gap,
                                    .key = 2 * (int64_t)found[i].key + side}));
  }
  return TL_OK;
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
  if (shape->node_count == 0) return following_points(b, from, to, side, wanted, &map, points);
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

typedef struct BoundaryField {
  TlField field;
  const TlBoundary *boundary;
  const Pose *pose;
} BoundaryField;

static bool boundary_at(const TlField *field, TlVec3 p, double *gap, TlVec3 *n) {
  const BoundaryField *f = (const BoundaryField *)field;
  TlVec3 normal;
  if (!f->boundary->kind->phi(f->boundary->data, posed(f->pose, p), gap, &normal)) return false;
  *gap /= f->pose->scale;
  *n = tl_mat_tvec(f->pose->r, normal);
  return true;
}

/* Points that follow the contact; with deepest != NULL only the deepest is kept. */
static TlStatus following_boundary(const TlShape *shape, const Pose *pose,
                                   const TlBoundary *boundary, TlWanted *wanted, TlPoints *points,
                                   TlPoint *deepest) {
  BoundaryField field = {{boundary->kind->exact, boundary_at}, boundary, pose};
  TlClosedPoint found[TL_CLOSED_POINTS];
  int count = shape->closed->points(shape->size, &field.field, found);
  for (int i = 0; i < count; i++) {
    TlPoint point = {.p = posed(pose, found[i].p),
                     .n = tl_mat_vec(pose->r, found[i].n),
                     .gap = found[i].gap * pose->scale,
                     .key = 2 * (int64_t)found[i].key};
    if (point.gap >= limit_of(wanted)) continue;
    wanted->least = fmin(wanted->least, point.gap);
    if (points) TL_TRY(append(points, point));
    if (deepest && point.gap < deepest->gap) *deepest = point;
  }
  return TL_OK;
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
  return (shape->node_count > 0 ? boundary_points : following_boundary)(shape, &pose, boundary,
                                                                        wanted, points, NULL);
}

bool tl_narrow_deepest(const TlBodies *b, int64_t body, TlVec3 position, TlQuat rotation,
                       const TlBoundary *boundary, double margin, TlPoint *deepest) {
  const TlShape *shape = b->shape[body];
  Pose pose = {position, tl_quat_matrix(rotation), b->scale[body]};
  if (too_far(shape, &pose, boundary, margin)) return false;
  *deepest = (TlPoint){.gap = INFINITY};
  TlWanted wanted = {margin, INFINITY, INFINITY};
  /* cannot fail: nothing is appended */
  (shape->node_count > 0 ? boundary_points : following_boundary)(shape, &pose, boundary, &wanted,
                                                                 NULL, deepest);
  return deepest->gap < margin;
}
