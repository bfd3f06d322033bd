#include "dem/near.h"

#include "base/mem.h"
#include "dem/shapes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Skin over the smaller body's diameter: factor of sqrt(way), least, most; and how much farther
 * than that a pair without any near node is looked at. */
static const double SKIN = 0.44, SKIN_LEAST = 4e-3, SKIN_MOST = 0.06, FAR = 4;
static const double FAST = 0.02; /* of a diameter a step: lists do not pay any more */
/* What rounding may add to a gap: of a radius, of a world coordinate (boundaries are asked there).
 */
static const double SLACK = 1e-11, SLACK_WORLD = 1e-14;

typedef struct TlNodeGap {
  int32_t node;
  double gap;
} NodeGap;

/* By the gap at the time it was made, in bins: as long as the bodies moved little, only the first
 * ones can be near enough, and the rest are not even looked up. */
typedef struct List {
  double *row;   /* x of all, then y, then z, then the least gap then from here on, owned */
  int32_t *node; /* owned */
  int32_t count, capacity;
} List;

static void list_free(List *list) {
  tl_free(list->row);
  tl_free(list->node);
}

static TlStatus list_reserve(List *list, int32_t count) {
  if (count <= list->capacity) return TL_OK;
  int32_t capacity = (count + count / 4 + 7) & ~7;
  list_free(list);
  *list = (List){.capacity = capacity};
  TL_TRY(TL_NEW(list->row, 4 * (size_t)capacity));
  return TL_NEW(list->node, (size_t)capacity);
}

/* Those below the cutoff into bins of their gaps; first[i]: where bin i begins. */
enum { BINS = 32 };

static int bin_of(double gap, double least, double per_bin) {
  double bin = (gap - least) * per_bin;
  return bin > 0 ? bin < BINS - 1 ? (int)bin : BINS - 1 : 0;
}

static void count_bins(NodeGap *found, size_t *count, double cutoff, double least, double per_bin,
                       int32_t first[BINS + 1]) {
  size_t kept = 0;
  memset(first, 0, (BINS + 1) * sizeof *first);
  for (size_t i = 0; i < *count; i++) {
    if (!(found[i].gap < cutoff)) continue;
    first[bin_of(found[i].gap, least, per_bin) + 1]++;
    found[kept++] = found[i];
  }
  for (int i = 0; i < BINS; i++) first[i + 1] += first[i];
  *count = kept;
}

/* The found nodes with a gap below the cutoff, nearest bin first. */
static TlStatus list_fill(List *list, const TlShape *shape, NodeGap *found, size_t count,
                          double cutoff) {
  int32_t next[BINS + 1];
  double least = cutoff;
  for (size_t i = 0; i < count; i++) /* -INFINITY, no gap (walls), goes into the first bin */
    if (found[i].gap > -INFINITY) least = tl_min(least, found[i].gap);
  double per_bin = cutoff > least ? BINS / (cutoff - least) : 0;
  count_bins(found, &count, cutoff, least, per_bin, next);
  TL_TRY(list_reserve(list, (int32_t)count));
  double *x = list->row, *y = x + list->capacity, *z = y + list->capacity,
         *gap = z + list->capacity;
  list->count = (int32_t)count;
  for (size_t i = 0; i < count; i++) {
    TlVec3 p = tl_shape_node(shape, found[i].node);
    int32_t at = next[bin_of(found[i].gap, least, per_bin)]++;
    x[at] = p.x;
    y[at] = p.y;
    z[at] = p.z;
    gap[at] = found[i].gap;
    list->node[at] = found[i].node;
  }
  for (size_t i = count; i > 1; i--) gap[i - 2] = tl_min(gap[i - 2], gap[i - 1]);
  return TL_OK;
}

/* Of listed node i and all after it. */
static double gap_then(const List *list, int32_t i) {
  return list->row[3 * (size_t)list->capacity + (size_t)i];
}

static TlVec3 list_node(const List *list, int32_t i) {
  const double *p = list->row + i;
  return tl_vec3(p[0], p[list->capacity], p[2 * list->capacity]);
}

static TlStatus found_add(TlPoints *points, size_t *count, int32_t node, double gap) {
  TL_TRY(tl_gap_check(gap, node)); /* no list holds NaN */
  TL_TRY(TL_RESERVE(points->gap, points->gap_capacity, *count + 1));
  points->gap[(*count)++] = (NodeGap){node, gap};
  return TL_OK;
}

static double skin_of(double way, double size) {
  double d = 2 * size, s = SKIN * sqrt(way * d);
  return s < SKIN_LEAST * d ? SKIN_LEAST * d : s > SKIN_MOST * d ? SKIN_MOST * d : s;
}

/* |R - R0|: with singular values s, s, 0 it is the Frobenius norm over sqrt 2. */
static double turned_by(const TlMat3 *r, const TlMat3 *r0) {
  double sum = 0;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      double d = r->m[i][j] - r0->m[i][j];
      sum += d * d;
    }
  return sqrt(0.5 * sum) * (1 + 1e-9) + 1e-15;
}

/* ---- pairs ---- */

typedef struct Side {
  TlVec3 t0; /* of the map when the list was made */
  double least;
  List list;
} Side;

struct TlNearPair {
  const TlShape *shape[2];
  double scale[2];
  TlMat3 r0;     /* of the map from a to b, without the scales' ratio */
  double cutoff; /* world metres; 0: not made yet */
  bool both;
  int64_t cost;  /* lookups that made the lists */
  int64_t waste; /* and those since then that a fresh list would have spared */
  Side side[2];
};

void tl_near_pair_free(TlNearPair *pair) {
  if (!pair) return;
  for (int s = 0; s < 2; s++) list_free(&pair->side[s].list);
  tl_free(pair);
}

/* A pair at its present pose. side s: nodes of body[s] against phi of body[1 - s]. */
typedef struct Pose2 {
  const TlNearQuery *query;
  int64_t body[2];
  const TlMat3 *turn[2];
  TlMat3 r;
  TlNodeMap map[2];
  double moved[2];  /* bound of the way of side s's nodes since the list was made, world metres */
  int32_t asked[2]; /* listed nodes that were looked up */
  int sides;
} Pose2;

static void pose_of(const TlNearQuery *q, Pose2 *p) {
  p->query = q;
  p->body[0] = q->a;
  p->body[1] = q->b;
  p->turn[0] = q->turn_a;
  p->turn[1] = q->turn_b;
  p->sides = q->both ? 2 : 1;
  for (int s = 0; s < p->sides; s++)
    p->map[s] = tl_node_map(q->bodies, p->body[s], p->body[1 - s], p->turn[s], p->turn[1 - s]);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) p->r.m[i][j] = p->map[0].m.m[i][j] / p->map[0].ratio;
}

static bool is_for(const TlNearPair *n, const Pose2 *p) {
  const TlBodies *b = p->query->bodies;
  return n->cutoff > 0 && n->shape[0] == b->shape[p->body[0]] &&
         n->shape[1] == b->shape[p->body[1]] && n->scale[0] == b->scale[p->body[0]] &&
         n->scale[1] == b->scale[p->body[1]] && n->both == p->query->both;
}

static void measure_motion(const TlNearPair *n, Pose2 *p) {
  const TlBodies *b = p->query->bodies;
  double turn = turned_by(&p->r, &n->r0);
  for (int s = 0; s < p->sides; s++)
    p->moved[s] = turn * b->radius[p->body[s]] +
                  b->scale[p->body[1 - s]] * tl_norm(tl_sub(p->map[s].t, n->side[s].t0));
}

/* Nodes that had a gap of `then` or more have at least this now (where that is not negative). */
static double gap_now(const Pose2 *p, int s, double then) {
  const TlBodies *b = p->query->bodies;
  int64_t to = p->body[1 - s];
  const TlShape *shape = b->shape[to];
  double face = shape->phi_min_face * b->scale[to];
  double in = (then < face ? then : face) - shape->lipschitz * p->moved[s];
  double any = then - shape->lipschitz_out * p->moved[s];
  return (in > any ? in : any) - SLACK * (b->radius[p->body[0]] + b->radius[p->body[1]]);
}

/* Walk the tree: nodes whose gap may be below the limit; wanted->least falls on the way. */
static TlStatus collect(const Pose2 *p, int s, TlWanted *wanted, TlPoints *points, size_t *count) {
  const TlBodies *b = p->query->bodies;
  const TlShape *from = b->shape[p->body[s]], *to = b->shape[p->body[1 - s]];
  double scale = b->scale[p->body[1 - s]];
  const TlNodeMap *map = &p->map[s];
  for (int32_t i = 0; i < from->sphere_count;) {
    const TlNodeSphere *sphere = &from->sphere[i];
    TlPhiRange phi = tl_shape_phi_range(to, tl_node_mapped(map, tl_sphere_centre(sphere)),
                                        sphere->radius * map->ratio);
    points->lookups++;
    double high = phi.high * scale;
    if (high < wanted->least) wanted->least = high;
    if (phi.low * scale > tl_wanted_limit(wanted)) {
      i = sphere->next;
      continue;
    }
    for (int32_t k = 0; sphere->leaf && k < sphere->count; k++) {
      int32_t node = from->node_index[sphere->first + k];
      double gap = tl_shape_phi(to, tl_node_mapped(map, tl_shape_node(from, node)), NULL) * scale;
      points->lookups++;
      points->node_tests++;
      if (gap < wanted->least) wanted->least = gap;
      if (!(gap >= tl_wanted_limit(wanted))) TL_TRY(found_add(points, count, node, gap));
    }
    i++;
  }
  return TL_OK;
}

static void note_pose(TlNearPair *n, Pose2 *p) {
  const TlBodies *b = p->query->bodies;
  for (int s = 0; s < 2; s++) {
    n->shape[s] = b->shape[p->body[s]];
    n->scale[s] = b->scale[p->body[s]];
    if (s < p->sides) n->side[s].t0 = p->map[s].t;
    p->moved[s] = 0;
  }
  n->both = p->query->both;
  n->r0 = p->r;
}

/* Both lists anew at this pose. */
static TlStatus pair_build(TlNearPair *n, Pose2 *p, double way, const TlWanted *wanted,
                           TlPoints *points) {
  const TlBodies *b = p->query->bodies;
  double skin = skin_of(way, p->query->size);
  double band = p->query->band;
  double reach = tl_max(wanted->reach, p->query->reach);
  TlWanted wide = {tl_max(tl_max(wanted->margin, band), reach) + FAR * skin,
                   tl_max(wanted->band, band) + skin, INFINITY, reach + skin};
  size_t count = 0, first_side = 0;
  int64_t before = points->lookups;
  n->cutoff = 0; /* a failure on the way leaves no list */
  for (int s = 0; s < p->sides; s++) {
    TL_TRY(collect(p, s, &wide, points, &count));
    if (s == 0) first_side = count;
  }
  double cutoff = tl_wanted_limit(&wide);
  for (int s = 0; s < p->sides; s++) {
    NodeGap *found = points->gap + (s ? first_side : 0);
    size_t many = s ? count - first_side : first_side;
    List *list = &n->side[s].list;
    TL_TRY(list_fill(list, b->shape[p->body[s]], found, many, cutoff));
    n->side[s].least = list->count > 0 ? gap_then(list, 0) : cutoff;
  }
  note_pose(n, p);
  n->cutoff = cutoff;
  n->cost = points->lookups - before;
  n->waste = 0;
  points->lists++;
  return TL_OK;
}

/* phi of shape `to` at listed nodes [first, first + count). */
static void phi_of_list(const TlShape *to, const TlNodeMap *map, const List *l, int32_t first,
                        int32_t count, double *phi) {
  const double *x = l->row + first, *y = x + l->capacity, *z = y + l->capacity;
  if (to->avatar)
    tl_avatar_phi_nodes(to->avatar, &map->m, map->t, x, y, z, count, phi);
  else
    for (int32_t i = 0; i < count; i++)
      phi[i] = tl_shape_phi(to, tl_node_mapped(map, list_node(l, first + i)), NULL);
}

/* Gaps of the first listed nodes of a side into value, a few at a time, until no later one can be
 * wanted. Their number goes to p->asked. */
enum { FEW = 8 };
static void evaluate_side(const TlNearPair *n, Pose2 *p, int s, TlWanted *wanted, double *value) {
  const List *l = &n->side[s].list;
  double scale = p->query->bodies->scale[p->body[1 - s]];
  int32_t done = 0;
  while (done < l->count && gap_now(p, s, gap_then(l, done)) < tl_wanted_limit(wanted)) {
    int32_t count = l->count - done < FEW ? l->count - done : FEW;
    phi_of_list(n->shape[1 - s], &p->map[s], l, done, count, value + done);
    for (int32_t i = done; i < done + count; i++) {
      value[i] *= scale;
      if (value[i] < wanted->least) wanted->least = value[i];
    }
    done += count;
  }
  p->asked[s] = done;
}

/* Side 0 into points->value, side 1 behind all of side 0's list. */
static TlStatus evaluate(const TlNearPair *n, Pose2 *p, TlWanted *wanted, TlPoints *points) {
  size_t need = (size_t)n->side[0].list.count + (size_t)n->side[1].list.count;
  TL_TRY(TL_RESERVE(points->value, points->value_capacity, need));
  for (int s = 0; s < p->sides; s++) {
    evaluate_side(n, p, s, wanted, points->value + (s ? n->side[0].list.count : 0));
    points->lookups += p->asked[s];
    points->node_tests += p->asked[s];
  }
  return TL_OK;
}

static bool complete(const TlNearPair *n, const Pose2 *p, double limit) {
  for (int s = 0; s < p->sides; s++)
    if (!(gap_now(p, s, n->cutoff) >= limit)) return false;
  return true;
}

static bool apart(const TlNearPair *n, const Pose2 *p, double margin) {
  for (int s = 0; s < p->sides; s++)
    if (!(gap_now(p, s, n->side[s].least) >= margin)) return false;
  return true;
}

static TlStatus append_wanted(const TlNearPair *n, const Pose2 *p, double limit, TlPoints *points) {
  for (int s = 0; s < p->sides; s++) {
    const List *l = &n->side[s].list;
    const double *value = points->value + (s ? n->side[0].list.count : 0);
    for (int32_t i = 0; i < p->asked[s]; i++)
      if (!(value[i] >= limit))
        TL_TRY(tl_narrow_append(p->query->bodies, p->body[s], p->body[1 - s], s, &p->map[s],
                                p->turn[s], l->node[i], value[i], points));
  }
  return TL_OK;
}

/* A list that outlived a blow is complete, yet asks for many nodes at every step that follows. Once
 * it has wasted as much as a new one costs, it goes. */
static void count_waste(TlNearPair *n, const Pose2 *p, size_t wanted) {
  int64_t fresh = (int64_t)wanted + FEW * p->sides;
  int64_t asked = p->asked[0] + (p->sides > 1 ? p->asked[1] : 0);
  if (asked > fresh) n->waste += asked - fresh;
  if (n->waste > n->cost) n->cutoff = 0;
}

/* Without a list, through the tree: what moves so fast that a list would hardly outlive the step.
 * Gradients are worth it only for what is wanted in the end, so points come last. */
static TlStatus tree_points(const Pose2 *p, TlWanted *wanted, TlPoints *points) {
  size_t end[2] = {0, 0}, i = 0;
  for (int s = 0; s < p->sides; s++) {
    end[s] = s ? end[0] : 0;
    TL_TRY(collect(p, s, wanted, points, &end[s]));
  }
  double limit = tl_wanted_limit(wanted);
  for (int s = 0; s < p->sides; s++)
    for (; i < end[s]; i++)
      if (points->gap[i].gap < limit)
        TL_TRY(tl_narrow_append(p->query->bodies, p->body[s], p->body[1 - s], s, &p->map[s],
                                p->turn[s], points->gap[i].node, points->gap[i].gap, points));
  return TL_OK;
}

TlStatus tl_near_points(TlNearPair **pair, const TlNearQuery *query, TlWanted *wanted,
                        TlPoints *points) {
  if (!*pair) TL_TRY(TL_NEW(*pair, 1));
  TlNearPair *n = *pair;
  Pose2 p;
  pose_of(query, &p);
  double known = wanted->least, way = query->way;
  if (is_for(n, &p)) {
    measure_motion(n, &p);
    if (apart(n, &p, wanted->margin)) return TL_OK;
    TL_TRY(evaluate(n, &p, wanted, points));
    double limit = tl_wanted_limit(wanted);
    if (complete(n, &p, limit)) {
      size_t had = points->count;
      TL_TRY(append_wanted(n, &p, limit, points));
      count_waste(n, &p, points->count - had);
      return TL_OK;
    }
    wanted->least = known;
  }
  if (way > FAST * 2 * query->size) {
    n->cutoff = 0;
    return tree_points(&p, wanted, points);
  }
  TL_TRY(pair_build(n, &p, way, wanted, points));
  TL_TRY(evaluate(n, &p, wanted, points));
  return append_wanted(n, &p, tl_wanted_limit(wanted), points);
}

/* ---- boundaries ---- */

struct TlNearWall {
  const TlShape *shape;
  TlPose pose; /* when the list was made */
  double radius, cutoff, least;
  List list;
};

void tl_near_wall_free(TlNearWall *wall) {
  if (!wall) return;
  list_free(&wall->list);
  tl_free(wall);
}

static double wall_moved(const TlNearWall *w, const TlPose *pose) {
  return turned_by(&pose->r, &w->pose.r) * w->radius + tl_norm(tl_sub(pose->x, w->pose.x));
}

static double wall_gap_now(const TlNearWall *w, const TlBoundary *boundary, double then,
                           double moved) {
  TlVec3 x = w->pose.x;
  double slack = SLACK * w->radius + SLACK_WORLD * (fabs(x.x) + fabs(x.y) + fabs(x.z) + moved);
  return then - boundary->kind->lipschitz * moved - slack;
}

/* As collect; a node under which the boundary ends goes into the list with no gap. */
static TlStatus wall_collect(const TlShape *shape, const TlPose *pose, const TlBoundary *boundary,
                             TlWanted *wanted, TlPoints *points, size_t *count) {
  const TlBoundaryKind *kind = boundary->kind;
  for (int32_t i = 0; i < shape->sphere_count;) {
    const TlNodeSphere *s = &shape->sphere[i];
    double phi, room = kind->lipschitz * s->radius * pose->scale;
    TlVec3 n;
    bool there = tl_boundary_phi(boundary, tl_posed(pose, tl_sphere_centre(s)), &phi, &n);
    points->lookups++;
    if (there && phi - room > tl_wanted_limit(wanted)) {
      i = s->next;
      continue;
    }
    for (int32_t k = 0; s->leaf && k < s->count; k++) {
      int32_t node = shape->node_index[s->first + k];
      double gap;
      points->lookups++;
      points->node_tests++;
      if (!tl_boundary_phi(boundary, tl_posed(pose, tl_shape_node(shape, node)), &gap, &n))
        gap = -INFINITY;
      else if (gap < wanted->least)
        wanted->least = gap;
      if (!(gap >= tl_wanted_limit(wanted))) TL_TRY(found_add(points, count, node, gap));
    }
    i++;
  }
  return TL_OK;
}

static TlStatus wall_build(TlNearWall *w, const TlShape *shape, const TlPose *pose,
                           const TlBoundary *boundary, double way, const TlWanted *wanted,
                           TlPoints *points) {
  double size = shape->radius_m * pose->scale, skin = skin_of(way, size);
  TlWanted wide = {wanted->margin + FAR * skin, wanted->band + skin, INFINITY,
                   wanted->reach + skin};
  size_t count = 0;
  w->cutoff = 0;
  TL_TRY(wall_collect(shape, pose, boundary, &wide, points, &count));
  double cutoff = tl_wanted_limit(&wide);
  TL_TRY(list_fill(&w->list, shape, points->gap, count, cutoff));
  w->least = w->list.count > 0 ? gap_then(&w->list, 0) : cutoff;
  w->shape = shape;
  w->pose = *pose;
  w->radius = size;
  w->cutoff = cutoff;
  points->lists++;
  return TL_OK;
}

static TlPoint wall_point(const TlNearWall *w, const TlPose *pose, const TlBoundary *boundary,
                          int32_t i, bool *there) {
  TlPoint point = {.p = tl_posed(pose, list_node(&w->list, i)),
                   .key = 2 * (int64_t)w->list.node[i]};
  *there = tl_boundary_phi(boundary, point.p, &point.gap, &point.n);
  return point;
}

/* Listed nodes under the limit, which falls on the way: the last ones may be too many. */
static TlStatus wall_evaluate(const TlNearWall *w, const TlPose *pose, const TlBoundary *boundary,
                              TlWanted *wanted, TlPoints *points) {
  double moved = wall_moved(w, pose);
  for (int32_t i = 0; i < w->list.count; i++) {
    bool there;
    if (wall_gap_now(w, boundary, gap_then(&w->list, i), moved) >= tl_wanted_limit(wanted)) break;
    points->lookups++;
    points->node_tests++;
    TlPoint point = wall_point(w, pose, boundary, i, &there);
    if (!there || point.gap >= tl_wanted_limit(wanted)) continue;
    wanted->least = tl_min(wanted->least, point.gap);
    TL_TRY(tl_points_add(points, point));
  }
  return TL_OK;
}

static bool wall_is_for(const TlNearWall *w, const TlShape *shape, double scale) {
  return w && w->cutoff > 0 && w->shape == shape && w->pose.scale == scale;
}

TlStatus tl_near_boundary(TlNearWall **wall, const TlBodies *b, int64_t body, const TlMat3 *turn,
                          const TlBoundary *boundary, double way, TlWanted *wanted,
                          TlPoints *points) {
  if (!*wall) TL_TRY(TL_NEW(*wall, 1));
  TlNearWall *w = *wall;
  const TlShape *shape = b->shape[body];
  TlPose pose = {b->position[body], *turn, b->scale[body]};
  TlWanted start = *wanted;
  size_t count = points->count;
  if (wall_is_for(w, shape, pose.scale)) {
    double moved = wall_moved(w, &pose);
    if (wall_gap_now(w, boundary, w->least, moved) >= wanted->margin) return TL_OK;
    TL_TRY(wall_evaluate(w, &pose, boundary, wanted, points));
    if (wall_gap_now(w, boundary, w->cutoff, moved) >= tl_wanted_limit(wanted)) return TL_OK;
  }
  *wanted = start;
  points->count = count;
  TL_TRY(wall_build(w, shape, &pose, boundary, way, wanted, points));
  return wall_evaluate(w, &pose, boundary, wanted, points);
}

bool tl_near_deepest(const TlNearWall *w, const TlBodies *b, int64_t body, TlVec3 position,
                     TlQuat rotation, const TlBoundary *boundary, double margin, TlPoint *deepest) {
  TlPose pose = {position, tl_quat_matrix(rotation), b->scale[body]};
  double moved = wall_is_for(w, b->shape[body], pose.scale) ? wall_moved(w, &pose) : INFINITY;
  if (!(moved < INFINITY) || !(wall_gap_now(w, boundary, w->cutoff, moved) >= margin))
    return tl_narrow_deepest(b, body, position, rotation, boundary, margin, deepest);
  if (wall_gap_now(w, boundary, w->least, moved) >= margin) return false;
  *deepest = (TlPoint){.gap = INFINITY};
  for (int32_t i = 0; i < w->list.count; i++) {
    bool there;
    if (wall_gap_now(w, boundary, gap_then(&w->list, i), moved) > tl_min(deepest->gap, margin))
      break;
    TlPoint point = wall_point(w, &pose, boundary, i, &there);
    if (there && tl_point_deeper(&point, deepest)) *deepest = point;
  }
  return deepest->gap < margin;
}

/* ---- the places ---- */

void tl_near_free(TlNear *near) {
  for (size_t i = 0; i < near->pair_count; i++) tl_near_pair_free(near->pair[i]);
  for (int64_t i = 0; i < near->body_count * near->boundary_count; i++)
    tl_near_wall_free(near->wall[i]);
  tl_free(near->low);
  tl_free(near->high);
  tl_free(near->pair);
  tl_free(near->id);
  tl_free(near->wall);
  tl_broad_free(&near->broad);
  *near = (TlNear){0};
}

TlNearPair **tl_near_find(const TlNear *near, int64_t low, int64_t high) {
  size_t first = 0, last = near->pair_count;
  while (first < last) {
    size_t mid = first + (last - first) / 2;
    bool before = near->low[mid] < low || (near->low[mid] == low && near->high[mid] < high);
    if (before)
      first = mid + 1;
    else
      last = mid;
  }
  bool found = first < near->pair_count && near->low[first] == low && near->high[first] == high;
  return found ? &near->pair[first] : NULL;
}

TlNearWall **tl_near_wall(const TlNear *near, int64_t body, int boundary) {
  return &near->wall[(int64_t)near->broad.rank[body] * near->boundary_count + boundary];
}

/* Both tables are sorted: lists go over in one pass, the others are freed. */
static void carry_pairs(TlNear *near, const TlNear *old) {
  size_t k = 0;
  for (size_t i = 0; i < old->pair_count; i++) {
    if (!old->pair[i]) continue;
    int64_t low = old->low[i], high = old->high[i];
    while (k < near->pair_count &&
           (near->low[k] < low || (near->low[k] == low && near->high[k] < high)))
      k++;
    bool same = k < near->pair_count && near->low[k] == low && near->high[k] == high;
    if (same)
      near->pair[k] = old->pair[i];
    else
      tl_near_pair_free(old->pair[i]);
  }
}

static TlStatus new_pairs(TlNear *near, const TlBodies *b) {
  const TlBodyPairs *pairs = &near->broad.pairs;
  TlNear fresh = {.pair_count = pairs->count};
  TlStatus status = TL_NEW(fresh.low, pairs->count);
  if (status == TL_OK) status = TL_NEW(fresh.high, pairs->count);
  if (status == TL_OK) status = TL_NEW(fresh.pair, pairs->count);
  if (status != TL_OK) fresh.pair_count = 0; /* the old lists are dropped: they fit no more */
  for (size_t i = 0; i < fresh.pair_count; i++) {
    fresh.low[i] = b->id[pairs->pair[i].a];
    fresh.high[i] = b->id[pairs->pair[i].b];
  }
  carry_pairs(&fresh, near);
  tl_free(near->low);
  tl_free(near->high);
  tl_free(near->pair);
  near->pair_count = fresh.pair_count;
  near->low = fresh.low;
  near->high = fresh.high;
  near->pair = fresh.pair;
  return status;
}

static void carry_walls(TlNear *near, const TlNear *old) {
  int64_t k = 0;
  int n = old->boundary_count;
  for (int64_t i = 0; i < old->body_count; i++) {
    while (k < near->body_count && near->id[k] < old->id[i]) k++;
    bool same = k < near->body_count && near->id[k] == old->id[i] && n == near->boundary_count;
    for (int j = 0; j < n; j++) {
      TlNearWall *w = old->wall[i * n + j];
      if (same)
        near->wall[k * n + j] = w;
      else
        tl_near_wall_free(w);
    }
  }
}

static bool same_bodies(const TlNear *near, const TlBodies *b, int boundary_count) {
  if (near->body_count != b->total || near->boundary_count != boundary_count) return false;
  for (int64_t i = 0; i < b->total; i++)
    if (near->id[near->broad.rank[i]] != b->id[i]) return false;
  return true;
}

static TlStatus new_walls(TlNear *near, const TlBodies *b, int boundary_count) {
  if (same_bodies(near, b, boundary_count)) return TL_OK;
  TlNear fresh = {.body_count = b->total, .boundary_count = boundary_count};
  TlStatus status = TL_NEW(fresh.id, (size_t)b->total);
  if (status == TL_OK) status = TL_NEW(fresh.wall, (size_t)b->total * (size_t)boundary_count);
  if (status != TL_OK) fresh.body_count = 0;
  for (int64_t i = 0; i < fresh.body_count; i++) fresh.id[near->broad.rank[i]] = b->id[i];
  carry_walls(&fresh, near);
  tl_free(near->id);
  tl_free(near->wall);
  near->body_count = fresh.body_count;
  near->boundary_count = fresh.boundary_count;
  near->id = fresh.id;
  near->wall = fresh.wall;
  return status;
}

TlStatus tl_near_update(TlNear *near, const TlBodies *bodies, int boundary_count, double step_s,
                        TlArena *scratch) {
  bool built;
  TL_TRY(tl_broad_update(&near->broad, bodies, step_s, scratch, &built));
  if (!built && near->pair_count == near->broad.pairs.count && near->body_count == bodies->total)
    return TL_OK;
  TL_TRY(new_pairs(near, bodies));
  return new_walls(near, bodies, boundary_count);
}
