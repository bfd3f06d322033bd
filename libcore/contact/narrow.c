#include "contact/narrow.h"

#include "base/lanes.h"
#include "base/mem.h"
#include "model/shapes.h"

#include <assert.h>
#include <math.h>

static const double GRID_NEAR = 2; /* cells: avatars' grids go three beyond the surface */
static const double SLACK = 1e-11; /* of a length: what rounding may add */

TlStatus tl_gap_check(double gap, int32_t node) {
  if (!isnan(gap)) return TL_OK;
  return tl_fail(TL_EINPUT, "the gap at node %d is not a number; look at the shapes' distances",
                 (int)node);
}

static inline TlStatus check_point(const TlPoint *p) {
  double sum = p->gap + p->n.x + p->n.y + p->n.z;
  return isnan(sum) ? tl_gap_check(sum, (int32_t)(p->key / 2)) : TL_OK;
}

TlStatus tl_points_add(TlPoints *points, TlPoint point) {
  TL_TRY(check_point(&point));
  TL_TRY(TL_RESERVE(points->point, points->capacity, points->count + 1));
  points->point[points->count++] = point;
  return TL_OK;
}

void tl_points_free(TlPoints *points) {
  tl_free(points->point);
  tl_free(points->hit);
  tl_free(points->queue);
  tl_free(points->asked.x);
  tl_free(points->asked.gradient);
  tl_free(points->asked.phi);
  tl_free(points->listing.at);
  tl_listed_free(&points->listed);
  *points = (TlPoints){0};
}

/* back: r is the rotation the other way. */
static void make_side(const TlColliders *b, int64_t from, int64_t to, const TlMat3 *turn_from,
                      const TlMat3 *turn_to, const TlMat3 *r, bool back, TlNarrowSide *s) {
  s->colliders = b;
  s->from = from;
  s->to = to;
  s->turn_from = turn_from;
  s->turn_to = turn_to;
  s->side = back;
  double ratio = b->scale[from] / b->scale[to];
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) s->map.m.m[i][j] = ratio * (back ? r->m[j][i] : r->m[i][j]);
  TlVec3 d = tl_sub(b->position[from], b->position[to]);
  s->map.t = tl_scale(1 / b->scale[to], tl_mat_tvec(*turn_to, d));
  s->map.ratio = ratio;
}

void tl_narrow_sides(const TlColliders *colliders, int64_t a, int64_t b, const TlMat3 *turn_a,
                     const TlMat3 *turn_b, TlMat3 *a_to_b, TlNarrowSide side[2]) {
  *a_to_b = tl_mat_tmul(*turn_b, *turn_a);
  make_side(colliders, a, b, turn_a, turn_b, a_to_b, false, &side[0]);
  make_side(colliders, b, a, turn_b, turn_a, a_to_b, true, &side[1]);
}

/* World normal of a gradient; where it vanishes, from centre to centre. */
static inline TlVec3 world_normal(const TlNarrowSide *s, TlVec3 gradient) {
  double size = tl_norm(gradient);
  TlVec3 g = size > 1e-6 ? tl_scale(1 / size, gradient) : tl_unit(s->map.t);
  if (!(size > 1e-6) && tl_norm2(g) == 0) g = tl_vec3(0, 0, 1);
  return tl_mat_vec(*s->turn_to, g);
}

/* The other body as a field in this one's frame. */
typedef struct BodyField {
  TlField field;
  const TlShape *to;
  const TlNarrowSide *side;
  TlPoints *points;
} BodyField;

static bool body_at(const TlField *field, TlVec3 p, double *gap, TlVec3 *n) {
  const BodyField *f = (const BodyField *)field;
  TlVec3 gradient;
  const TlNodeMap *map = &f->side->map;
  *gap = tl_shape_phi(f->to, tl_node_mapped(map, p), &gradient) / map->ratio;
  *n = tl_mat_tvec(*f->side->turn_from, world_normal(f->side, gradient));
  f->points->lookups++;
  return true;
}

typedef struct Starts { /* TlField */
  TlVec3 p[TL_CLOSED_STARTS];
  int count;
  double apart;
} Starts;

/* Points that follow the contact. */
static TlStatus following_points(const TlNarrowSide *s, const Starts *starts, TlWanted *wanted,
                                 TlPoints *points) {
  const TlColliders *b = s->colliders;
  int64_t from = s->from;
  const TlShape *shape = b->shape[from], *to = b->shape[s->to];
  const TlMat3 r = *s->turn_from;
  double near = to->avatar ? GRID_NEAR * to->avatar->spacing_m / s->map.ratio : 0;
  BodyField field = {{.exact = !to->avatar,
                      .near = near,
                      .at = body_at,
                      .start = starts ? starts->p : NULL,
                      .start_count = starts ? starts->count : 0,
                      .apart = starts ? starts->apart : 0,
                      .limit = INFINITY},
                     to,
                     s,
                     points};
  TlClosedPoint found[TL_CLOSED_POINTS];
  int count = shape->closed->points(shape->size, &field.field, found);
  for (int i = 0; i < count; i++) {
    double gap = found[i].gap * b->scale[from];
    if (gap >= tl_wanted_limit(wanted)) continue;
    wanted->least = tl_min(wanted->least, gap);
    TlVec3 n = tl_mat_vec(r, found[i].n), arm = tl_mat_vec(r, tl_scale(b->scale[from], found[i].p));
    TL_TRY(tl_points_add(points, (TlPoint){.p = tl_add(b->position[from], arm),
                                           .n = s->side ? tl_scale(-1, n) : n,
                                           .gap = gap,
                                           .key = 2 * (int64_t)found[i].key + s->side}));
  }
  return TL_OK;
}

void tl_narrow_phi(const TlNarrowSide *s, const TlVec3 *p, int32_t count, double *phi,
                   TlVec3 *gradient) {
  const TlShape *to = s->colliders->shape[s->to];
  if (to->avatar) {
    tl_avatar_phi_nodes(to->avatar, &s->map.m, s->map.t, p, count, phi, gradient);
    return;
  }
  for (int32_t i = 0; i < count; i++)
    phi[i] = tl_shape_phi(to, tl_node_mapped(&s->map, p[i]), gradient ? &gradient[i] : NULL);
}

/* In world coordinates, in columns of the two rotations: a node's three values share a vector. */
TL_LANES_CLONES static void place_hits(const TlNarrowSide *s, const TlNodeHit *hit, size_t count,
                                       double limit, TlPoints *points) {
  TlPoint *out = points->point + points->count;
  const TlMat3 *turn = s->turn_from;
  const TlVec3 centre = s->colliders->position[s->from];
  const double scale = s->colliders->scale[s->from];
  for (size_t i = 0; i < count; i++) {
    const TlNodeHit *h = &hit[i];
    if (h->gap >= limit) continue;
    TlVec3 n = world_normal(s, h->slope);
    *out++ = (TlPoint){.p = tl_add(centre, tl_mat_vec(*turn, tl_scale(scale, h->p))),
                       .n = s->side ? tl_scale(-1, n) : n,
                       .gap = h->gap,
                       .key = 2 * (int64_t)h->node + s->side,
                       .steeper = tl_norm(h->slope) - 1};
  }
  points->count = (size_t)(out - points->point);
}

TlStatus tl_narrow_append(const TlNarrowSide *s, const TlNodeHit *hit, size_t count, double limit,
                          TlPoints *points) {
  size_t had = points->count;
  TL_TRY(TL_RESERVE(points->point, points->capacity, had + count));
  place_hits(s, hit, count, limit, points);
  for (size_t i = had; i < points->count; i++) TL_TRY(check_point(&points->point[i]));
  return TL_OK;
}

/* turn: storage for the two rotations. */
static TlNarrowSide side_of(const TlColliders *b, int64_t from, int64_t to, int side,
                            TlMat3 turn[2]) {
  TlNarrowSide s;
  turn[0] = tl_quat_matrix(b->rotation[from]);
  turn[1] = tl_quat_matrix(b->rotation[to]);
  TlMat3 r = tl_mat_tmul(turn[1], turn[0]);
  make_side(b, from, to, &turn[0], &turn[1], &r, false, &s);
  s.side = side;
  return s;
}

/* Nodes [first, first + count) of the tree's order. */
static TlStatus node_points(const TlNarrowSide *s, TlWanted *wanted, int32_t first, int32_t count,
                            TlPoints *points) {
  const TlShape *shape = s->colliders->shape[s->from], *to = s->colliders->shape[s->to];
  for (int32_t i = first; i < first + count; i++) {
    TlNodeHit hit = {.node = shape->node_index[i]};
    hit.p = tl_shape_node(shape, hit.node);
    TlVec3 q = tl_node_mapped(&s->map, hit.p);
    hit.gap = tl_shape_phi(to, q, NULL) * s->colliders->scale[s->to];
    if (hit.gap >= tl_wanted_limit(wanted))
      continue; /* most: the gradient is worth a second lookup for the few */
    wanted->least = tl_min(wanted->least, hit.gap);
    tl_shape_phi(to, q, &hit.slope);
    points->lookups++;
    TL_TRY(tl_narrow_append(s, &hit, 1, INFINITY, points));
  }
  points->lookups += count;
  points->node_tests += count;
  return TL_OK;
}

/* Place of the centre of `from` in the body frame of `to` at unit scale. */
static TlVec3 centre_in(const TlColliders *b, int64_t from, int64_t to, const TlMat3 *turn_to) {
  TlVec3 d = tl_sub(b->position[from], b->position[to]);
  return tl_scale(1 / b->scale[to], tl_mat_tvec(*turn_to, d));
}

/* A sphere asks for phi no farther from its centre than what its radius has over GRID_NEAR cells
 * (closed_sphere.c), and bears by that much less. */
bool tl_narrow_sphere_apart(const TlColliders *b, int64_t sphere, int64_t to, const TlMat3 *turn_to,
                            const TlWanted *wanted) {
  const TlShape *other = b->shape[to];
  double r = b->radius[sphere] / b->scale[to], out = 0;
  double near = other->avatar ? GRID_NEAR * other->avatar->spacing_m : INFINITY;
  if (r > near * (1 - 1e-9)) out = r - tl_min(near, 0.9 * r);
  TlPhiRange phi = tl_shape_phi_range(other, centre_in(b, sphere, to, turn_to), out);
  double low = phi.low * (1 - SLACK) - SLACK * r; /* a look-up rounds */
  return low >= 0 && (low - (r - out)) * b->scale[to] > tl_max(tl_wanted_limit(wanted), 0);
}

void tl_narrow_sphere_fetch(const TlColliders *b, int64_t sphere, int64_t to,
                            const TlMat3 *turn_to) {
  const TlShape *other = b->shape[to];
  if (!other->avatar) return;
  TlVec3 c = centre_in(b, sphere, to, turn_to);
  double far = tl_norm(c), out = b->radius[sphere] / b->scale[to];
  if (!tl_narrow_seeks(b, sphere, to)) tl_avatar_fetch(other->avatar, c);
  if (far > out) tl_avatar_fetch(other->avatar, tl_scale(1 - out / far, c));
}

bool tl_narrow_closed_apart(const TlColliders *b, int64_t body, int64_t closed,
                            const TlMat3 *turn_closed, const TlWanted *wanted) {
  double phi = tl_shape_phi(b->shape[closed], centre_in(b, body, closed, turn_closed), NULL);
  double far = b->radius[body] + tl_max(wanted->margin, 0);
  return phi * b->scale[closed] * (1 - SLACK) > far * (1 + SLACK);
}

/* ---- a sphere that seeks ---- */

bool tl_narrow_seeks(const TlColliders *b, int64_t sphere, int64_t to) {
  const TlAvatar *grid = b->shape[to]->avatar;
  return grid && tl_shape_alone(b->shape[sphere]) &&
         b->radius[sphere] > GRID_NEAR * grid->spacing_m * b->scale[to];
}

/* A place of the surface lies no deeper under a sphere than its nearest node by more than this. */
static double between(const TlColliders *b, int64_t to) {
  return b->shape[to]->node_deficit * b->scale[to];
}

TlWanted tl_narrow_starts(const TlColliders *b, int64_t to, const TlWanted *wanted) {
  double wide = between(b, to) * (1 + 1e-9); /* what rounding may take */
  return (TlWanted){wanted->margin + wide, wide, INFINITY, 0};
}

/* Of the nodes in the sphere's frame the nearest that lies beside no start, however they are
 * ordered; false: none. */
static bool add_start(Starts *starts, const TlPoint *node, size_t count) {
  const TlPoint *best = NULL;
  for (size_t i = 0; i < count; i++)
    if ((!best || tl_point_deeper(&node[i], best)) &&
        !tl_closed_beside(node[i].p, starts->p, starts->count, starts->apart))
      best = &node[i];
  if (best) starts->p[starts->count++] = best->p;
  return best;
}

/* The found nodes in the sphere's frame at unit scale, with gaps there: the same bits from whatever
 * search. Their least gap. */
static double starts_of(const TlNarrowSide *s, TlPoint *node, size_t count) {
  const TlShape *shape = s->colliders->shape[s->to];
  double radius = s->colliders->shape[s->from]->size[0], ratio = s->map.ratio, least = INFINITY;
  for (size_t i = 0; i < count; i++) {
    TlVec3 d = tl_sub(tl_shape_node(shape, node[i].key / 2), s->map.t);
    node[i].p = tl_scale(1 / (ratio * ratio), tl_mat_tvec(s->map.m, d));
    node[i].gap = tl_norm(node[i].p) - radius;
    least = tl_min(least, node[i].gap);
  }
  return least;
}

static size_t nearer_than(double limit, TlPoint *node, size_t count) {
  size_t kept = 0;
  for (size_t i = 0; i < count; i++)
    if (node[i].gap <= limit) node[kept++] = node[i];
  return kept;
}

TlStatus tl_narrow_seek(const TlColliders *b, int64_t sphere, int64_t to, const TlMat3 *turn_to,
                        int side, size_t had, TlWanted *wanted, TlPoints *points) {
  /* how it is turned itself is no matter */
  static const TlMat3 unturned = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
  if (points->count == had && !tl_narrow_holds(b, sphere, to)) return TL_OK;
  const TlShape *shape = b->shape[to];
  TlNarrowSide s;
  TlMat3 r = tl_mat_tmul(*turn_to, unturned);
  make_side(b, sphere, to, &unturned, turn_to, &r, false, &s);
  s.side = side;
  double spacing = shape->node_spacing / s.map.ratio, radius = b->shape[sphere]->size[0];
  double near = between(b, to) / b->scale[sphere];
  /* farther than nodes of a flat face can be that come nearly as near, but where they are few */
  Starts starts = {.apart = tl_min(0.5 * radius, tl_max(2 * spacing, sqrt(spacing * radius)))};
  TlPoint *node = points->point + had;
  size_t count = points->count - had;
  double least = tl_min(starts_of(&s, node, count), wanted->margin / b->scale[sphere]);
  count = nearer_than(least + near, node, count);
  while (starts.count < TL_CLOSED_STARTS && add_start(&starts, node, count)) {
  }
  points->count = had;
  return following_points(&s, &starts, wanted, points);
}

static TlStatus seek_by(TlNarrowSearch nodes, const TlColliders *b, int64_t sphere, int64_t to,
                        int side, TlWanted *wanted, TlPoints *points) {
  TlWanted starts = tl_narrow_starts(b, to, wanted);
  TlMat3 turn = tl_quat_matrix(b->rotation[to]);
  size_t had = points->count;
  TL_TRY(nodes(b, to, sphere, 0, &starts, points));
  return tl_narrow_seek(b, sphere, to, &turn, side, had, wanted, points);
}

TlStatus tl_narrow_all_nodes(const TlColliders *b, int64_t from, int64_t to, int side,
                             TlWanted *wanted, TlPoints *points) {
  TlMat3 turn[2];
  if (tl_narrow_seeks(b, from, to))
    return seek_by(tl_narrow_all_nodes, b, from, to, side, wanted, points);
  TlNarrowSide s = side_of(b, from, to, side, turn);
  const TlShape *shape = b->shape[from];
  if (shape->node_count == 0) return following_points(&s, NULL, wanted, points);
  return node_points(&s, wanted, 0, shape->node_count, points);
}

TlStatus tl_narrow_nodes(const TlColliders *b, int64_t from, int64_t to, int side, TlWanted *wanted,
                         TlPoints *points) {
  const TlShape *shape = b->shape[from];
  TlMat3 turn[2];
  if (tl_narrow_seeks(b, from, to))
    return seek_by(tl_narrow_nodes, b, from, to, side, wanted, points);
  TlNarrowSide s = side_of(b, from, to, side, turn);
  if (shape->node_count == 0) return following_points(&s, NULL, wanted, points);
  return tl_narrow_tree(&s, wanted, points);
}

TlStatus tl_narrow_tree(const TlNarrowSide *side, TlWanted *wanted, TlPoints *points) {
  const TlColliders *b = side->colliders;
  const TlShape *shape = b->shape[side->from];
  const TlNodeMap *map = &side->map;
  int64_t to = side->to;
  for (int32_t i = 0; i < shape->sphere_count;) {
    const TlNodeSphere *s = &shape->sphere[i];
    TlPhiRange phi = tl_shape_phi_range(b->shape[to], tl_node_mapped(map, tl_sphere_centre(s)),
                                        s->radius * map->ratio);
    points->lookups++;
    /* the sphere holds a node: the least gap is no more than the range's upper end */
    wanted->least = tl_min(wanted->least, phi.high * b->scale[to]);
    if (phi.low * b->scale[to] > tl_wanted_limit(wanted)) {
      i = s->next;
      continue;
    }
    if (s->leaf) TL_TRY(node_points(side, wanted, s->first, s->count, points));
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
    double limit = tl_wanted_limit(wanted);
    if (!tl_boundary_within(boundary, point.p, limit, &point.gap, &point.n)) continue;
    if (point.gap >= limit) continue;
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
    double phi, reach = kind->lipschitz * s->radius * pose->scale;
    double far = reach + tl_wanted_limit(wanted);
    bool there = tl_boundary_within(boundary, tl_posed(pose, tl_sphere_centre(s)), far, &phi, NULL);
    if (points) points->lookups++;
    /* where the boundary ends below a sphere, its nodes may still lie over ground: look at them */
    if (there && phi >= far) {
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
  double reach; /* gaps from here on are not wanted */
} BoundaryField;

static bool boundary_at(const TlField *field, TlVec3 p, double *gap, TlVec3 *n) {
  const BoundaryField *f = (const BoundaryField *)field;
  TlVec3 normal;
  if (!tl_boundary_within(f->boundary, tl_posed(f->pose, p), f->reach, gap, &normal)) return false;
  *gap /= f->pose->scale;
  *n = tl_mat_tvec(f->pose->r, normal);
  return true;
}

/* Points that follow the contact; with deepest != NULL only the deepest is kept. */
static TlStatus following_boundary(const TlShape *shape, const TlPose *pose,
                                   const TlBoundary *boundary, TlWanted *wanted, TlPoints *points,
                                   TlPoint *deepest) {
  bool exact = boundary->kind->exact || boundary->kind->within;
  double reach = shape->radius_m * pose->scale + wanted->margin;
  double limit = exact ? tl_wanted_limit(wanted) / pose->scale : INFINITY;
  BoundaryField field = {
      {.exact = exact, .at = boundary_at, .limit = limit}, boundary, pose, reach};
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
  double phi, far = boundary->kind->lipschitz * shape->radius_m * pose->scale + margin;
  return tl_boundary_within(boundary, pose->x, far, &phi, NULL) && phi >= far;
}

bool tl_narrow_near(const TlColliders *b, int64_t body, const TlBoundary *boundary, double margin) {
  TlPose pose = {.x = b->position[body], .scale = b->scale[body]};
  return !too_far(b->shape[body], &pose, boundary, margin);
}

TlStatus tl_narrow_boundary(const TlColliders *b, int64_t body, const TlBoundary *boundary,
                            TlWanted *wanted, TlPoints *points) {
  const TlShape *shape = b->shape[body];
  TlPose pose = {b->position[body], tl_quat_matrix(b->rotation[body]), b->scale[body]};
  points->lookups++;
  if (too_far(shape, &pose, boundary, wanted->margin)) return TL_OK;
  return (shape->node_count > 0 ? boundary_points : following_boundary)(shape, &pose, boundary,
                                                                        wanted, points, NULL);
}

TlStatus tl_narrow_boundary_nodes(const TlShape *nodes, const TlPose *pose,
                                  const TlBoundary *boundary, TlWanted *wanted, TlPoints *points) {
  return boundary_points(nodes, pose, boundary, wanted, points, NULL);
}

TlStatus tl_narrow_boundary_all(const TlColliders *b, int64_t body, const TlBoundary *boundary,
                                TlWanted *wanted, TlPoints *points) {
  const TlShape *shape = b->shape[body];
  if (shape->node_count == 0) return tl_narrow_boundary(b, body, boundary, wanted, points);
  TlPose pose = {b->position[body], tl_quat_matrix(b->rotation[body]), b->scale[body]};
  return boundary_nodes(shape, &pose, boundary, 0, shape->node_count, wanted, points, NULL);
}

bool tl_narrow_deepest(const TlColliders *b, int64_t body, TlVec3 position, TlQuat rotation,
                       const TlBoundary *boundary, double margin, TlPoint *deepest) {
  const TlShape *shape = b->shape[body];
  TlPose pose = {position, tl_quat_matrix(rotation), b->scale[body]};
  if (too_far(shape, &pose, boundary, margin)) return false;
  *deepest = (TlPoint){.gap = INFINITY};
  TlWanted wanted = {margin, INFINITY, INFINITY};
  TlStatus status = (shape->node_count > 0 ? boundary_points : following_boundary)(
      shape, &pose, boundary, &wanted, NULL, deepest);
  assert(status == TL_OK); /* nothing is appended */
  (void)status;
  return deepest->gap < margin;
}
