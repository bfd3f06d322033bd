#include "dem/narrow.h"

#include "base/mem.h"
#include "dem/shapes.h"

#include <math.h>

TlStatus tl_gap_check(double gap, int32_t node) {
  if (!isnan(gap)) return TL_OK;
  return tl_fail(TL_EINPUT, "the gap at node %d is not a number; look at the shapes' distances",
                 (int)node);
}

TlStatus tl_points_add(TlPoints *points, TlPoint point) {
  TL_TRY(tl_gap_check(point.gap + point.n.x + point.n.y + point.n.z, (int32_t)(point.key / 2)));
  TL_TRY(TL_RESERVE(points->point, points->capacity, points->count + 1));
  points->point[points->count++] = point;
  return TL_OK;
}

void tl_points_free(TlPoints *points) {
  tl_free(points->point);
  tl_free(points->gap);
  tl_free(points->value);
  *points = (TlPoints){0};
}

TlNodeMap tl_node_map(const TlBodies *b, int64_t from, int64_t to, const TlMat3 *turn_from,
                      const TlMat3 *turn_to) {
  TlNodeMap map = {.to_world = *turn_to, .ratio = b->scale[from] / b->scale[to]};
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      double sum = 0;
      for (int k = 0; k < 3; k++) sum += turn_to->m[k][i] * turn_from->m[k][j];
      map.m.m[i][j] = map.ratio * sum;
    }
  TlVec3 d = tl_sub(b->position[from], b->position[to]);
  map.t = tl_scale(1 / b->scale[to], tl_mat_tvec(map.to_world, d));
  return map;
}

/* World normal of a gradient; where it vanishes, from centre to centre. */
static TlVec3 world_normal(const TlNodeMap *map, TlVec3 gradient) {
  double size = tl_norm(gradient);
  TlVec3 g = size > 1e-6 ? tl_scale(1 / size, gradient) : tl_unit(map->t);
  if (tl_norm2(g) == 0) g = tl_vec3(0, 0, 1);
  return tl_mat_vec(map->to_world, g);
}

/* The other body as a field in this one's frame. */
typedef struct BodyField {
  TlField field;
  const TlShape *to;
  const TlNodeMap *map;
  TlMat3 from_world; /* rotation of `from` */
  TlPoints *points;
} BodyField;

static bool body_at(const TlField *field, TlVec3 p, double *gap, TlVec3 *n) {
  const BodyField *f = (const BodyField *)field;
  TlVec3 gradient;
  *gap = tl_shape_phi(f->to, tl_node_mapped(f->map, p), &gradient) / f->map->ratio;
  *n = tl_mat_tvec(f->from_world, world_normal(f->map, gradient));
  f->points->lookups++;
  return true;
}

/* Points that follow the contact. */
static TlStatus following_points(const TlBodies *b, int64_t from, int64_t to, int side,
                                 TlWanted *wanted, const TlNodeMap *map, TlPoints *points) {
  const TlShape *shape = b->shape[from];
  TlMat3 r = tl_quat_matrix(b->rotation[from]);
  BodyField field = {{!b->shape[to]->avatar, body_at}, b->shape[to], map, r, points};
  TlClosedPoint found[TL_CLOSED_POINTS];
  int count = shape->closed->points(shape->size, &field.field, found);
  for (int i = 0; i < count; i++) {
    double gap = found[i].gap * b->scale[from];
    if (gap >= tl_wanted_limit(wanted)) continue;
    wanted->least = tl_min(wanted->least, gap);
    TlVec3 n = tl_mat_vec(r, found[i].n), arm = tl_mat_vec(r, tl_scale(b->scale[from], found[i].p));
    TL_TRY(tl_points_add(points, (TlPoint){.p = tl_add(b->position[from], arm),
                                           .n = side ? tl_scale(-1, n) : n,
                                           .gap = gap,
                                           .key = 2 * (int64_t)found[i].key + side}));
  }
  return TL_OK;
}

TlStatus tl_narrow_append(const TlBodies *b, int64_t from, int64_t to, int side,
                          const TlNodeMap *map, const TlMat3 *turn_from, int32_t node, double gap,
                          TlPoints *points) {
  TlVec3 p = tl_shape_node(b->shape[from], node), gradient;
  tl_shape_phi(b->shape[to], tl_node_mapped(map, p), &gradient);
  TlVec3 n = world_normal(map, gradient), arm = tl_mat_vec(*turn_from, tl_scale(b->scale[from], p));
  TlPoint point = {.p = tl_add(b->position[from], arm),
                   .n = side ? tl_scale(-1, n) : n,
                   .gap = gap,
                   .key = 2 * (int64_t)node + side};
  points->lookups++;
  return tl_points_add(points, point);
}

/* Nodes [first, first + count) of the tree's order. */
static TlStatus node_points(const TlBodies *b, int64_t from, int64_t to, int side, TlWanted *wanted,
                            const TlNodeMap *map, const TlMat3 *turn_from, int32_t first,
                            int32_t count, TlPoints *points) {
  const TlShape *shape = b->shape[from];
  for (int32_t i = first; i < first + count; i++) {
    int32_t node = shape->node_index[i];
    TlVec3 q = tl_node_mapped(map, tl_shape_node(shape, node));
    double gap = tl_shape_phi(b->shape[to], q, NULL) * b->scale[to];
    if (gap >= tl_wanted_limit(wanted))
      continue; /* most: the gradient is worth a second lookup for the few */
    wanted->least = tl_min(wanted->least, gap);
    TL_TRY(tl_narrow_append(b, from, to, side, map, turn_from, node, gap, points));
  }
  points->lookups += count;
  points->node_tests += count;
  return TL_OK;
}

TlStatus tl_narrow_all_nodes(const TlBodies *b, int64_t from, int64_t to, int side,
                             TlWanted *wanted, TlPoints *points) {
  TlMat3 rf = tl_quat_matrix(b->rotation[from]), rt = tl_quat_matrix(b->rotation[to]);
  TlNodeMap map = tl_node_map(b, from, to, &rf, &rt);
  const TlShape *shape = b->shape[from];
  if (shape->node_count == 0) return following_points(b, from, to, side, wanted, &map, points);
  return node_points(b, from, to, side, wanted, &map, &rf, 0, shape->node_count, points);
}

TlStatus tl_narrow_nodes(const TlBodies *b, int64_t from, int64_t to, int side, TlWanted *wanted,
                         TlPoints *points) {
  const TlShape *shape = b->shape[from];
  TlMat3 rf = tl_quat_matrix(b->rotation[from]), rt = tl_quat_matrix(b->rotation[to]);
  TlNodeMap map = tl_node_map(b, from, to, &rf, &rt);
  if (shape->node_count == 0) return following_points(b, from, to, side, wanted, &map, points);
  for (int32_t i = 0; i < shape->sphere_count;) {
    const TlNodeSphere *s = &shape->sphere[i];
    TlPhiRange phi = tl_shape_phi_range(b->shape[to], tl_node_mapped(&map, tl_sphere_centre(s)),
                                        s->radius * map.ratio);
    points->lookups++;
    /* the sphere holds a node: the least gap is no more than the range's upper end */
    wanted->least = tl_min(wanted->least, phi.high * b->scale[to]);
    if (phi.low * b->scale[to] > tl_wanted_limit(wanted)) {
      i = s->next;
      continue;
    }
    if (s->leaf)
      TL_TRY(node_points(b, from, to, side, wanted, &map, &rf, s->first, s->count, points));
    i++;
  }
  return TL_OK;
}

/* ---- boundaries ---- */

static TlStatus boundary_nodes(const TlShape *shape, const TlPose *pose, const TlBoundary *boundary,
                               int32_t first, int32_t count, TlWanted *wanted, TlPoints *points,
                               TlPoint *deepest) {
  if (points) points->lookups += count;
  if (points) points->node_tests += count;
  for (int32_t k = first; k < first + count; k++) {
    int32_t node = shape->node_index[k];
    TlPoint point = {.p = tl_posed(pose, tl_shape_node(shape, node)), .key = 2 * (int64_t)node};
    if (!tl_boundary_phi(boundary, point.p, &point.gap, &point.n)) continue;
    if (point.gap >= tl_wanted_limit(wanted)) continue;
    wanted->least = tl_min(wanted->least, point.gap);
    if (points) TL_TRY(tl_points_add(points, point));
    if (deepest && tl_point_deeper(&point, deepest)) *deepest = point;
  }
  return TL_OK;
}

/* Points are collected, or with deepest != NULL only the deepest is kept. */
static TlStatus boundary_points(const TlShape *shape, const TlPose *pose,
                                const TlBoundary *boundary, TlWanted *wanted, TlPoints *points,
                                TlPoint *deepest) {
  const TlBoundaryKind *kind = boundary->kind;
  for (int32_t i = 0; i < shape->sphere_count;) {
    const TlNodeSphere *s = &shape->sphere[i];
    double phi, room = kind->lipschitz * s->radius * pose->scale;
    TlVec3 n;
    bool there = tl_boundary_phi(boundary, tl_posed(pose, tl_sphere_centre(s)), &phi, &n);
    if (points) points->lookups++;
    /* where the boundary ends below a sphere, its nodes may still lie over ground: look at them */
    if (there && phi - room > tl_wanted_limit(wanted)) {
      i = s->next;
      continue;
    }
    if (s->leaf)
      TL_TRY(boundary_nodes(shape, pose, boundary, s->first, s->count, wanted, points, deepest));
    i++;
  }
  return TL_OK;
}

typedef struct BoundaryField {
  TlField field;
  const TlBoundary *boundary;
  const TlPose *pose;
} BoundaryField;

static bool boundary_at(const TlField *field, TlVec3 p, double *gap, TlVec3 *n) {
  const BoundaryField *f = (const BoundaryField *)field;
  TlVec3 normal;
  if (!tl_boundary_phi(f->boundary, tl_posed(f->pose, p), gap, &normal)) return false;
  *gap /= f->pose->scale;
  *n = tl_mat_tvec(f->pose->r, normal);
  return true;
}

/* Points that follow the contact; with deepest != NULL only the deepest is kept. */
static TlStatus following_boundary(const TlShape *shape, const TlPose *pose,
                                   const TlBoundary *boundary, TlWanted *wanted, TlPoints *points,
                                   TlPoint *deepest) {
  BoundaryField field = {{boundary->kind->exact, boundary_at}, boundary, pose};
  TlClosedPoint found[TL_CLOSED_POINTS];
  int count = shape->closed->points(shape->size, &field.field, found);
  for (int i = 0; i < count; i++) {
    TlPoint point = {.p = tl_posed(pose, found[i].p),
                     .n = tl_mat_vec(pose->r, found[i].n),
                     .gap = found[i].gap * pose->scale,
                     .key = 2 * (int64_t)found[i].key};
    if (point.gap >= tl_wanted_limit(wanted)) continue;
    wanted->least = tl_min(wanted->least, point.gap);
    if (points) TL_TRY(tl_points_add(points, point));
    if (deepest && point.gap < deepest->gap) *deepest = point;
  }
  return TL_OK;
}

static bool too_far(const TlShape *shape, const TlPose *pose, const TlBoundary *boundary,
                    double margin) {
  double phi;
  TlVec3 n;
  return tl_boundary_phi(boundary, pose->x, &phi, &n) &&
         phi > boundary->kind->lipschitz * shape->radius_m * pose->scale + margin;
}

bool tl_narrow_near(const TlBodies *b, int64_t body, const TlBoundary *boundary, double margin) {
  TlPose pose = {.x = b->position[body], .scale = b->scale[body]};
  return !too_far(b->shape[body], &pose, boundary, margin);
}

TlStatus tl_narrow_boundary(const TlBodies *b, int64_t body, const TlBoundary *boundary,
                            TlWanted *wanted, TlPoints *points) {
  const TlShape *shape = b->shape[body];
  TlPose pose = {b->position[body], tl_quat_matrix(b->rotation[body]), b->scale[body]};
  points->lookups++;
  if (too_far(shape, &pose, boundary, wanted->margin)) return TL_OK;
  return (shape->node_count > 0 ? boundary_points : following_boundary)(shape, &pose, boundary,
                                                                        wanted, points, NULL);
}

TlStatus tl_narrow_boundary_all(const TlBodies *b, int64_t body, const TlBoundary *boundary,
                                TlWanted *wanted, TlPoints *points) {
  const TlShape *shape = b->shape[body];
  if (shape->node_count == 0) return tl_narrow_boundary(b, body, boundary, wanted, points);
  TlPose pose = {b->position[body], tl_quat_matrix(b->rotation[body]), b->scale[body]};
  return boundary_nodes(shape, &pose, boundary, 0, shape->node_count, wanted, points, NULL);
}

bool tl_narrow_deepest(const TlBodies *b, int64_t body, TlVec3 position, TlQuat rotation,
                       const TlBoundary *boundary, double margin, TlPoint *deepest) {
  const TlShape *shape = b->shape[body];
  TlPose pose = {position, tl_quat_matrix(rotation), b->scale[body]};
  if (too_far(shape, &pose, boundary, margin)) return false;
  *deepest = (TlPoint){.gap = INFINITY};
  TlWanted wanted = {margin, INFINITY, INFINITY};
  /* cannot fail: nothing is appended */
  (shape->node_count > 0 ? boundary_points : following_boundary)(shape, &pose, boundary, &wanted,
                                                                 NULL, deepest);
  return deepest->gap < margin;
}
