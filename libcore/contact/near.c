#include "contact/near.h"

#include "base/mem.h"
#include "model/elements.h"
#include "model/place_shape.h"
#include "model/shapes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Skin over the smaller body's diameter: factor of sqrt(travel), least, most; and how much farther
 * than that a pair without any near node is looked at. */
static const double SKIN = 0.44, SKIN_LEAST = 4e-3, SKIN_MOST = 0.06, FAR = 4;
/* Skin of a list of elements picked from a wide one, over that of nodes. */
static const double FINE = 0.3;
static const double FAST = 0.02; /* of a diameter a step: lists do not pay any more */
/* What rounding may add to a gap: of a radius, of a world coordinate (boundaries are asked there).
 */
static const double SLACK = 1e-11, SLACK_WORLD = 1e-14;
static const double SLACK_PATCH =
    3e-7; /* of a cell: error of distances to patches (heightfield.h) */

/* A listed node: an avatar's own floats (a closed form keeps doubles: TlShape.node), and the least
 * gap then from this one on, rounded down. */
typedef struct ListNode {
  float x, y, z, gap;
  int32_t node;
} ListNode;

/* By the gap at the time it was made, in bins: as long as the bodies moved little, only the first
 * ones can be near enough, and the rest are not even looked up. */
typedef struct List {
  ListNode *node; /* owned */
  int32_t count, capacity;
} List;

static void list_free(List *list) {
  tl_free(list->node);
}

static TlStatus list_reserve(List *list, int32_t count) {
  if (count <= list->capacity) return TL_OK;
  list_free(list);
  *list = (List){.capacity = count + count / 4};
  return TL_NEW(list->node, (size_t)list->capacity);
}

/* The elements that were listed, as the sums want them. */
static TlStatus list_elements(const List *list, const TlElements *elements, TlListed *listed,
                              TlPoints *points) {
  TL_TRY(TL_RESERVE(points->queue, points->queue_capacity, (size_t)list->count));
  for (int32_t i = 0; i < list->count; i++) points->queue[i] = list->node[i].node;
  TL_TRY(tl_listed_make(listed, elements, points->queue, list->count, &points->listing));
  tl_listed_sort(listed);
  return TL_OK;
}

/* Those below the cutoff into bins of their gaps; first[i]: where bin i begins. */
enum { BINS = 32 };

static int bin_of(double gap, double least, double per_bin) {
  double bin = (gap - least) * per_bin;
  return bin > 0 ? bin < BINS - 1 ? (int)bin : BINS - 1 : 0;
}

static void count_bins(TlNodeHit *found, size_t *count, double cutoff, double least, double per_bin,
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

static float rounded_down(double x) {
  float f = (float)x;
  return (double)f > x ? nextafterf(f, -INFINITY) : f;
}

/* The found nodes with a gap below the cutoff, nearest bin first. */
static TlStatus list_fill(List *list, TlNodeHit *found, size_t count, double cutoff) {
  int32_t next[BINS + 1];
  double least = cutoff;
  for (size_t i = 0; i < count; i++) /* -INFINITY, no gap (walls), goes into the first bin */
    if (found[i].gap > -INFINITY) least = tl_min(least, found[i].gap);
  double per_bin = cutoff > least ? BINS / (cutoff - least) : 0;
  count_bins(found, &count, cutoff, least, per_bin, next);
  TL_TRY(list_reserve(list, (int32_t)count));
  ListNode *l = list->node;
  list->count = (int32_t)count;
  for (size_t i = 0; i < count; i++) {
    const TlNodeHit *f = &found[i];
    l[next[bin_of(f->gap, least, per_bin)]++] =
        (ListNode){(float)f->p.x, (float)f->p.y, (float)f->p.z, rounded_down(f->gap), f->node};
  }
  for (size_t i = count; i > 1; i--)
    if (l[i - 1].gap < l[i - 2].gap) l[i - 2].gap = l[i - 1].gap;
  return TL_OK;
}

static TlVec3 list_node(const TlShape *shape, const ListNode *l) {
  return shape->avatar ? tl_vec3(l->x, l->y, l->z) : shape->node[l->node];
}

static TlStatus found_add(TlPoints *points, size_t *count, const TlNodeHit *hit) {
  TL_TRY(tl_gap_check(hit->gap, hit->node)); /* no list holds NaN */
  TL_TRY(TL_RESERVE(points->hit, points->hit_capacity, *count + 1));
  points->hit[(*count)++] = *hit;
  return TL_OK;
}

double tl_near_skin(double travel, double size) {
  double d = 2 * size, s = SKIN * sqrt(travel * d);
  return s < SKIN_LEAST * d ? SKIN_LEAST * d : s > SKIN_MOST * d ? SKIN_MOST * d : s;
}

/* ---- pairs ---- */

typedef struct Side {
  TlVec3 t0; /* of the map when the list was made */
  double least;
  List list;
  TlListed listed; /* where the list is of elements that the sums take; owned */
} Side;

struct TlNearPair {
  const TlShape *shape[2];
  double scale[2];
  TlMat3 r0;     /* of the map from a to b, without the scales' ratio */
  double cutoff; /* world metres; 0: not made yet */
  bool both;
  int64_t builds;  /* of the broad phase, when */
  double clear_to; /* as long as the two have gone no farther than that nothing touches */
  int64_t cost;    /* lookups that made the lists */
  int64_t waste;   /* and those since then that a fresh list would have spared */
  Side side[2];
  TlPlaceCache *places; /* owned */
  TlNearPair *wide; /* of elements: those that this list was picked from. Owned, NULL: none yet */
};

TlStatus tl_near_place_cache(TlNearPair **pair, TlPlaceCache ***cache) {
  if (!*pair) TL_TRY(TL_NEW(*pair, 1));
  *cache = &(*pair)->places;
  return TL_OK;
}

void tl_near_pair_free(TlNearPair *pair) {
  if (!pair) return;
  tl_near_pair_free(pair->wide);
  tl_place_cache_free(pair->places);
  for (int s = 0; s < 2; s++) {
    list_free(&pair->side[s].list);
    tl_listed_free(&pair->side[s].listed);
  }
  tl_free(pair);
}

/* A pair at its present pose. side s: nodes of body[s] against phi of body[1 - s]. */
typedef struct Pose2 {
  const TlNearQuery *query;
  int sides;
  TlMat3 r;             /* a to b */
  TlNarrowSide side[2]; /* both always, whatever `sides` */
  /* where a side's nodes may be, having moved since the list was made, world metres */
  struct {
    double face;    /* least phi on the grid's faces */
    double in, any; /* the displacement, times the slopes of phi in the grid and anywhere */
    int32_t asked;  /* listed nodes that were looked up */
  } listed[2];
  double slack;
} Pose2;

static const TlElements *surface_of(const Pose2 *p, int s) {
  return p->query->colliders->shape[p->side[s].from]->place->elements;
}

static const TlShape *from_shape(const Pose2 *p, int s) {
  return p->query->elements ? surface_of(p, s)->middles
                            : p->query->colliders->shape[p->side[s].from];
}

static const TlShape *to_shape(const Pose2 *p, int s) {
  return p->query->colliders->shape[p->side[s].to];
}

static double to_scale(const Pose2 *p, int s) {
  return p->query->colliders->scale[p->side[s].to];
}

static void pose_of(const TlNearQuery *q, Pose2 *p) {
  const TlColliders *b = q->colliders;
  p->query = q;
  p->sides = q->both ? 2 : 1;
  p->slack = SLACK * (b->radius[q->a] + b->radius[q->b]);
  tl_narrow_sides(b, q->a, q->b, q->turn_a, q->turn_b, &p->r, p->side);
}

static bool of_these(const TlNearPair *n, const TlColliders *b, int64_t i, int64_t j) {
  return n->shape[0] == b->shape[i] && n->shape[1] == b->shape[j] && n->scale[0] == b->scale[i] &&
         n->scale[1] == b->scale[j];
}

static bool is_for(const TlNearPair *n, const Pose2 *p) {
  const TlNearQuery *q = p->query;
  return n->cutoff > 0 && n->both == q->both && of_these(n, q->colliders, q->a, q->b);
}

/* A gap changes by no more a metre that the two move. */
static double steepest(const Pose2 *p, int s) {
  const TlNearElements *elements = p->query->elements;
  return tl_max(elements ? elements->slope : 0, to_shape(p, s)->lipschitz_out);
}

static void set_listed(Pose2 *p, int s, double moved) {
  const TlShape *to = to_shape(p, s);
  p->listed[s].face = to->phi_min_face * to_scale(p, s);
  double slope = p->query->elements ? p->query->elements->slope : to->lipschitz;
  p->listed[s].in = slope * moved;
  p->listed[s].any = steepest(p, s) * moved;
}

static void measure_motion(const TlNearPair *n, Pose2 *p) {
  double turn = tl_turned_by(&p->r, &n->r0);
  for (int s = 0; s < p->sides; s++)
    set_listed(p, s,
               turn * p->query->colliders->radius[p->side[s].from] +
                   to_scale(p, s) * tl_norm(tl_sub(p->side[s].map.t, n->side[s].t0)));
}

/* Nodes that had a gap of `then` or more have at least this now (where that is not negative). */
static double gap_now(const Pose2 *p, int s, double then) {
  double face = p->listed[s].face, in = (then < face ? then : face) - p->listed[s].in;
  double any = then - p->listed[s].any;
  return (in > any ? in : any) - p->slack;
}

/* The leaf's nodes whose gap may be below the limit. */
static TlStatus collect_leaf(const Pose2 *p, int s, const TlNodeSphere *leaf, TlWanted *wanted,
                             TlPoints *points, size_t *count) {
  const TlShape *from = from_shape(p, s);
  double scale = to_scale(p, s), phi[TL_NODE_FEW];
  TlVec3 at[TL_NODE_FEW];
  for (int32_t k = 0; k < leaf->count; k++)
    at[k] = tl_shape_node(from, from->node_index[leaf->first + k]);
  tl_narrow_phi(&p->side[s], at, leaf->count, phi, NULL);
  points->lookups += leaf->count;
  points->node_tests += leaf->count;
  for (int32_t k = 0; k < leaf->count; k++) {
    TlNodeHit hit = {.p = at[k], .gap = phi[k] * scale, .node = from->node_index[leaf->first + k]};
    if (hit.gap < wanted->least) wanted->least = hit.gap;
    if (!(hit.gap >= tl_wanted_limit(wanted))) TL_TRY(found_add(points, count, &hit));
  }
  return TL_OK;
}

/* Ranges of phi over a few spheres of the tree; wanted->least falls to what they promise. */
static void few_ranges(const Pose2 *p, int s, const int32_t *sphere, int32_t few, TlWanted *wanted,
                       double *low) {
  const TlShape *from = from_shape(p, s), *to = to_shape(p, s);
  double scale = to_scale(p, s), phi[TL_NODE_FEW];
  const TlNodeMap *map = &p->side[s].map;
  TlVec3 centre[TL_NODE_FEW];
  for (int32_t k = 0; k < few; k++) centre[k] = tl_sphere_centre(&from->sphere[sphere[k]]);
  tl_narrow_phi(&p->side[s], centre, few, phi, NULL);
  for (int32_t k = 0; k < few; k++) {
    TlPhiRange range = tl_shape_range_of(to, tl_node_mapped(map, centre[k]), phi[k],
                                         from->sphere[sphere[k]].radius * map->ratio);
    wanted->least = tl_min(range.high * scale, wanted->least);
    low[k] = range.low * scale;
  }
}

/* Walk the tree, a few spheres at once: nodes whose gap may be below the limit. The last ones found
 * come first, so the walk goes down before it continues, and wanted->least falls early. */
static TlStatus collect(const Pose2 *p, int s, TlWanted *wanted, TlPoints *points, size_t *count) {
  const TlShape *from = from_shape(p, s);
  TL_TRY(TL_RESERVE(points->queue, points->queue_capacity, (size_t)from->sphere_count + 1));
  int32_t *queue = points->queue, end = 1;
  queue[0] = 0;
  while (end > 0) {
    int32_t few = end < TL_NODE_FEW ? end : TL_NODE_FEW, at[TL_NODE_FEW];
    double low[TL_NODE_FEW];
    end -= few;
    memcpy(at, queue + end, (size_t)few * sizeof *at);
    few_ranges(p, s, at, few, wanted, low);
    points->lookups += few;
    for (int32_t k = 0; k < few; k++) {
      const TlNodeSphere *sphere = &from->sphere[at[k]];
      if (low[k] > tl_wanted_limit(wanted)) continue;
      if (sphere->leaf) {
        TL_TRY(collect_leaf(p, s, sphere, wanted, points, count));
      } else { /* its two halves */
        queue[end++] = at[k] + 1;
        queue[end++] = from->sphere[at[k] + 1].next;
      }
    }
  }
  return TL_OK;
}

static void note_pose(TlNearPair *n, Pose2 *p) {
  const TlColliders *b = p->query->colliders;
  for (int s = 0; s < 2; s++) {
    n->shape[s] = b->shape[p->side[s].from];
    n->scale[s] = b->scale[p->side[s].from];
    n->side[s].t0 = p->side[s].map.t;
    set_listed(p, s, 0);
  }
  n->both = p->query->both;
  n->r0 = p->r;
}

static bool asks(const Pose2 *p, int s) {
  const TlNearElements *elements = p->query->elements;
  return !elements || !elements->only[1 - s];
}

/* Both lists anew at this pose. */
static TlStatus pair_build(TlNearPair *n, Pose2 *p, double travel, const TlWanted *wanted,
                           TlPoints *points) {
  const TlNearElements *elements = p->query->elements;
  double far = FAR * tl_near_skin(travel, p->query->size), skin = elements ? far : far / FAR;
  double band = p->query->band;
  double reach = tl_max(wanted->reach, p->query->reach);
  TlWanted wide = {tl_max(tl_max(wanted->margin, band), reach) + far,
                   tl_max(wanted->band, band) + skin, INFINITY, reach + skin};
  size_t count = 0, first_side = 0;
  int64_t before = points->lookups;
  n->cutoff = 0; /* a failure on the way leaves no list */
  for (int s = 0; s < p->sides; s++) {
    if (asks(p, s)) TL_TRY(collect(p, s, &wide, points, &count));
    if (s == 0) first_side = count;
  }
  double cutoff = tl_wanted_limit(&wide);
  if (elements) cutoff -= elements->reach;
  for (int s = 0; s < p->sides; s++) {
    TlNodeHit *found = points->hit + (s ? first_side : 0);
    List *list = &n->side[s].list;
    size_t some = s ? count - first_side : first_side;
    if (elements && some > 0)
      TL_TRY(elements->judge(elements->context, s, cutoff, found, &some, points));
    TL_TRY(list_fill(list, found, some, cutoff));
    n->side[s].least = list->count > 0 ? (double)list->node[0].gap : asks(p, s) ? cutoff : INFINITY;
  }
  note_pose(n, p);
  n->cutoff = cutoff;
  points->first_lists += n->cost == 0;
  n->cost = points->lookups - before;
  n->waste = 0;
  points->lists++;
  return TL_OK;
}

/* The first listed nodes of a side into hit, a few at a time, until no later one can be wanted.
 * Their number goes to p->listed[s].asked. */
static void evaluate_side(const TlNearPair *n, Pose2 *p, int s, TlWanted *wanted, TlNodeHit *hit) {
  const List *l = &n->side[s].list;
  const TlShape *from = from_shape(p, s);
  double scale = to_scale(p, s);
  int32_t done = 0;
  while (done < l->count && gap_now(p, s, l->node[done].gap) < tl_wanted_limit(wanted)) {
    int32_t count = l->count - done < TL_NODE_FEW ? l->count - done : TL_NODE_FEW;
    TlVec3 at[TL_NODE_FEW], slope[TL_NODE_FEW];
    double phi[TL_NODE_FEW];
    for (int32_t i = 0; i < count; i++) at[i] = list_node(from, &l->node[done + i]);
    tl_narrow_phi(&p->side[s], at, count, phi, slope);
    for (int32_t i = 0; i < count; i++) {
      double gap = phi[i] * scale;
      hit[done + i] = (TlNodeHit){at[i], slope[i], gap, l->node[done + i].node};
      if (gap < wanted->least) wanted->least = gap;
    }
    done += count;
  }
  p->listed[s].asked = done;
}

/* Side 0 into points->hit, side 1 behind all of side 0's list. */
static TlStatus evaluate(const TlNearPair *n, Pose2 *p, TlWanted *wanted, TlPoints *points) {
  size_t need = (size_t)n->side[0].list.count + (size_t)n->side[1].list.count;
  TL_TRY(TL_RESERVE(points->hit, points->hit_capacity, need));
  for (int s = 0; s < p->sides; s++) {
    evaluate_side(n, p, s, wanted, points->hit + (s ? n->side[0].list.count : 0));
    points->lookups += p->listed[s].asked;
    points->node_tests += p->listed[s].asked;
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

/* How far a node of the one may have gone, seen from the other. As long as the pairs of the broad
 * phase hold no two centres are farther apart than twice their radii (reach: the radius; its skins:
 * broad.c), so that a body's turn takes it no farther than that turn times three times those. */
static double path_of(const TlNear *near, const TlColliders *b, int64_t i, int64_t j) {
  const TlNearPath *p = &near->path[i], *q = &near->path[j];
  double arm = 3 * (b->radius[i] + b->radius[j]);
  return (p->gone + q->gone + arm * (p->turned + q->turned)) * (1 + 1e-9);
}

/* Called where nothing is near. */
static void note_clear(TlNearPair *n, const Pose2 *p) {
  const TlNearQuery *q = p->query;
  double clear = INFINITY;
  if (!q->near) return;
  for (int s = 0; s < p->sides; s++)
    clear = tl_min(clear, (gap_now(p, s, n->side[s].least) - q->above) / steepest(p, s));
  n->builds = q->near->broad.builds;
  n->clear_to = path_of(q->near, q->colliders, q->a, q->b) + clear * (1 - 1e-9) - p->slack;
}

bool tl_near_clear(const TlNear *near, const TlColliders *colliders, size_t number) {
  const TlNearPair *n = near->pair[number];
  const TlBodyPair *pair = &near->broad.pairs.pair[number];
  bool these =
      n && (of_these(n, colliders, pair->a, pair->b) || of_these(n, colliders, pair->b, pair->a));
  return these && n->builds == near->broad.builds &&
         path_of(near, colliders, pair->a, pair->b) < n->clear_to;
}

void tl_near_fetch_pair(const TlNear *near, size_t number) {
  const char *n = (const char *)near->pair[number];
  for (size_t at = 0; n && at < sizeof(TlNearPair); at += 64) __builtin_prefetch(n + at);
}

void tl_near_fetch_nodes(const TlNear *near, size_t number) {
  const TlNearPair *n = near->pair[number];
  for (int s = 0; n && s < 2; s++) {
    __builtin_prefetch(n->side[s].list.node);
    __builtin_prefetch((const char *)n->side[s].list.node + 64);
    for (size_t at = 0; at < 512; at += 64) {
      __builtin_prefetch((const char *)n->side[s].listed.element + at);
      __builtin_prefetch((const char *)n->side[s].listed.point + at);
    }
  }
}

static TlStatus append_wanted(const TlNearPair *n, const Pose2 *p, double limit, TlPoints *points) {
  for (int s = 0; s < p->sides; s++)
    TL_TRY(tl_narrow_append(&p->side[s], points->hit + (s ? n->side[0].list.count : 0),
                            (size_t)p->listed[s].asked, limit, points));
  return TL_OK;
}

/* A list that outlived a blow is complete, yet asks for many nodes at every step that follows. Once
 * it has wasted as much as a new one costs, it goes. */
static void count_waste(TlNearPair *n, const Pose2 *p, size_t wanted) {
  int64_t fresh = (int64_t)wanted + TL_NODE_FEW * p->sides;
  int64_t asked = p->listed[0].asked + (p->sides > 1 ? p->listed[1].asked : 0);
  if (asked > fresh) n->waste += asked - fresh;
  if (n->waste > n->cost) n->cutoff = 0;
}

/* Gradients of what is wanted among hits: the others' are not worth it. */
static TlStatus append_found(const TlNarrowSide *side, TlNodeHit *hit, size_t count, double limit,
                             TlPoints *points) {
  size_t kept = 0;
  for (size_t i = 0; i < count; i++)
    if (hit[i].gap < limit) hit[kept++] = hit[i];
  for (size_t i = 0; i < kept; i += TL_NODE_FEW) {
    int32_t few = kept - i < TL_NODE_FEW ? (int32_t)(kept - i) : TL_NODE_FEW;
    TlVec3 at[TL_NODE_FEW], slope[TL_NODE_FEW];
    double phi[TL_NODE_FEW];
    for (int32_t k = 0; k < few; k++) at[k] = hit[i + (size_t)k].p;
    tl_narrow_phi(side, at, few, phi, slope);
    for (int32_t k = 0; k < few; k++) hit[i + (size_t)k].slope = slope[k];
  }
  points->lookups += (int64_t)kept;
  return tl_narrow_append(side, hit, kept, limit, points);
}

/* Without a list, through the tree: what moves so fast that a list would hardly outlive the step.
 */
static TlStatus tree_points(const Pose2 *p, TlWanted *wanted, TlPoints *points) {
  size_t end[2] = {0, 0};
  for (int s = 0; s < p->sides; s++) {
    end[s] = s ? end[0] : 0;
    TL_TRY(collect(p, s, wanted, points, &end[s]));
  }
  double limit = tl_wanted_limit(wanted);
  for (int s = 0; s < p->sides; s++) {
    size_t first = s ? end[0] : 0;
    TL_TRY(append_found(&p->side[s], points->hit + first, end[s] - first, limit, points));
  }
  return TL_OK;
}

TlStatus tl_near_points(TlNearPair **pair, const TlNearQuery *query, TlWanted *wanted,
                        TlPoints *points) {
  if (!*pair) TL_TRY(TL_NEW(*pair, 1));
  TlNearPair *n = *pair;
  Pose2 p;
  pose_of(query, &p);
  n->clear_to = -1;
  double known = wanted->least, travel = query->travel;
  if (is_for(n, &p)) {
    measure_motion(n, &p);
    if (apart(n, &p, wanted->margin)) {
      note_clear(n, &p);
      return TL_OK;
    }
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
  if (travel > FAST * 2 * query->size) {
    n->cutoff = 0;
    return tree_points(&p, wanted, points);
  }
  TL_TRY(pair_build(n, &p, travel, wanted, points));
  TL_TRY(evaluate(n, &p, wanted, points));
  return append_wanted(n, &p, tl_wanted_limit(wanted), points);
}

/* How many listed elements of a side may have a gap below the limit now: the first ones. */
static int32_t near_elements(const TlNearPair *n, const Pose2 *p, int s, double limit) {
  const List *l = &n->side[s].list;
  int32_t i = 0;
  while (i < l->count && gap_now(p, s, (double)l->node[i].gap) < limit) i++;
  return i;
}

/* Of the first elements of a wide list those that may have a gap below the cutoff, into points->hit; how many. */
static TlStatus judge_listed(const TlNearElements *elements, int side, const List *wide,
                             double cutoff, size_t *count, TlPoints *points) {
  TL_TRY(TL_RESERVE(points->hit, points->hit_capacity, *count));
  for (size_t i = 0; i < *count; i++)
    points->hit[i] = (TlNodeHit){.gap = -INFINITY, .node = wide->node[i].node};
  if (*count == 0) return TL_OK;
  return elements->judge(elements->context, side, cutoff, points->hit, count, points);
}

/* The wide list, made again where it does not hold all that may have a gap below the limit. */
static TlStatus wide_list(TlNearPair *n, Pose2 *p, double limit, TlPoints *points) {
  const TlNearElements *elements = p->query->elements;
  if (!n->wide) TL_TRY(TL_NEW(n->wide, 1));
  if (is_for(n->wide, p)) {
    measure_motion(n->wide, p);
    if (complete(n->wide, p, limit)) return TL_OK;
  }
  TlWanted wanted = {elements->reach, elements->reach, INFINITY, 0};
  return pair_build(n->wide, p, p->query->travel, &wanted, points);
}

/* The list anew out of the wide one. */
static TlStatus fine_list(TlNearPair *n, Pose2 *p, TlPoints *points) {
  const TlNearElements *elements = p->query->elements;
  double cutoff = FINE * tl_near_skin(p->query->travel, p->query->size);
  n->cutoff = 0;
  TL_TRY(wide_list(n, p, cutoff, points));
  double clear = INFINITY; /* where nothing is near, as far as that is known */
  for (int s = 0; s < 2; s++) clear = tl_min(clear, gap_now(p, s, n->wide->side[s].least));
  cutoff = tl_max(cutoff, clear);
  for (int s = 0; s < 2; s++) {
    Side *side = &n->side[s];
    size_t some = (size_t)near_elements(n->wide, p, s, cutoff);
    TL_TRY(judge_listed(elements, s, &n->wide->side[s].list, cutoff, &some, points));
    TL_TRY(list_fill(&side->list, points->hit, some, cutoff));
    TL_TRY(list_elements(&side->list, surface_of(p, s), &side->listed, points));
    side->least = side->list.count > 0 ? (double)side->list.node[0].gap
                  : asks(p, s)         ? cutoff
                                       : INFINITY;
  }
  note_pose(n, p);
  n->cutoff = cutoff;
  return TL_OK;
}

TlStatus tl_near_elements(TlNearPair **pair, const TlNearQuery *query, TlPoints *points,
                          TlListedPart found[2]) {
  if (!*pair) TL_TRY(TL_NEW(*pair, 1));
  TlNearPair *n = *pair;
  Pose2 p;
  pose_of(query, &p);
  n->clear_to = -1;
  bool serves = is_for(n, &p);
  if (serves) {
    measure_motion(n, &p);
    serves = complete(n, &p, 0);
  }
  if (!serves) TL_TRY(fine_list(n, &p, points));
  bool none = apart(n, &p, 0);
  for (int s = 0; s < 2; s++)
    found[s] = (TlListedPart){&n->side[s].listed, none ? 0 : near_elements(n, &p, s, 0)};
  if (none) note_clear(n, &p);
  return TL_OK;
}

/* ---- boundaries ---- */

struct TlNearWall {
  const TlShape *shape;
  TlPose pose; /* when the list was made */
  double radius, cutoff, least;
  List list;
  TlListed listed;  /* where it is of elements; owned */
  TlNearWall *wide; /* of elements: those that this list was picked from. Owned, NULL: none yet */
};

void tl_near_wall_free(TlNearWall *wall) {
  if (!wall) return;
  tl_near_wall_free(wall->wide);
  list_free(&wall->list);
  tl_listed_free(&wall->listed);
  tl_free(wall);
}

static double wall_moved(const TlNearWall *w, const TlPose *pose) {
  return tl_turned_by(&pose->r, &w->pose.r) * w->radius + tl_norm(tl_sub(pose->x, w->pose.x));
}

/* slope: what a gap changes by a metre of motion, at most. */
static double wall_gap_after(const TlNearWall *w, const TlBoundary *boundary, double slope,
                             double then, double moved) {
  TlVec3 x = w->pose.x;
  double slack = SLACK * w->radius + SLACK_WORLD * (fabs(x.x) + fabs(x.y) + fabs(x.z) + moved);
  if (boundary->kind->relief) slack += SLACK_PATCH * boundary->kind->relief(boundary->data).cell_m;
  return then - slope * moved - slack;
}

static double wall_gap_now(const TlNearWall *w, const TlBoundary *boundary, double then,
                           double moved) {
  return wall_gap_after(w, boundary, boundary->kind->lipschitz, then, moved);
}

/* As collect; a node under which the boundary ends goes into the list with no gap. */
static TlStatus wall_collect(const TlShape *shape, const TlPose *pose, const TlBoundary *boundary,
                             TlWanted *wanted, TlPoints *points, size_t *count) {
  const TlBoundaryKind *kind = boundary->kind;
  for (int32_t i = 0; i < shape->sphere_count;) {
    const TlNodeSphere *s = &shape->sphere[i];
    double phi, far = kind->lipschitz * s->radius * pose->scale + tl_wanted_limit(wanted);
    TlVec3 n;
    bool there = tl_boundary_within(boundary, tl_posed(pose, tl_sphere_centre(s)), far, &phi, NULL);
    points->lookups++;
    if (there && phi >= far) {
      i = s->next;
      continue;
    }
    for (int32_t k = 0; s->leaf && k < s->count; k++) {
      TlNodeHit hit = {.node = shape->node_index[s->first + k]};
      hit.p = tl_shape_node(shape, hit.node);
      points->lookups++;
      points->node_tests++;
      double limit = tl_wanted_limit(wanted);
      if (!tl_boundary_within(boundary, tl_posed(pose, hit.p), limit, &hit.gap, &n))
        hit.gap = -INFINITY;
      else if (hit.gap < wanted->least)
        wanted->least = hit.gap;
      if (!(hit.gap >= tl_wanted_limit(wanted))) TL_TRY(found_add(points, count, &hit));
    }
    i++;
  }
  return TL_OK;
}

/* Of what was found, points->hit[0..count). */
static TlStatus wall_list(TlNearWall *w, const TlShape *shape, const TlPose *pose, size_t count,
                          double cutoff, TlPoints *points) {
  TL_TRY(list_fill(&w->list, points->hit, count, cutoff));
  w->least = w->list.count > 0 ? (double)w->list.node[0].gap : cutoff;
  w->shape = shape;
  w->pose = *pose;
  w->radius = shape->radius_m * pose->scale;
  w->cutoff = cutoff;
  return TL_OK;
}

/* One that the tree is walked for. */
static void count_list(const TlNearWall *w, TlPoints *points) {
  points->first_lists += w->shape == NULL;
  points->lists++;
}

static TlStatus wall_build(TlNearWall *w, const TlShape *shape, const TlPose *pose,
                           const TlBoundary *boundary, double travel, const TlWanted *wanted,
                           TlPoints *points) {
  double skin = tl_near_skin(travel, shape->radius_m * pose->scale);
  TlWanted wide = {wanted->margin + FAR * skin, wanted->band + skin, INFINITY,
                   wanted->reach + skin};
  size_t count = 0;
  w->cutoff = 0;
  TL_TRY(wall_collect(shape, pose, boundary, &wide, points, &count));
  count_list(w, points);
  return wall_list(w, shape, pose, count, tl_wanted_limit(&wide), points);
}

static TlPoint wall_point(const TlNearWall *w, const TlPose *pose, const TlBoundary *boundary,
                          int32_t i, double limit, bool *there) {
  const ListNode *l = &w->list.node[i];
  TlPoint point = {.p = tl_posed(pose, list_node(w->shape, l)), .key = 2 * (int64_t)l->node};
  *there = tl_boundary_within(boundary, point.p, limit, &point.gap, &point.n);
  return point;
}

/* Listed nodes under the limit. The limit falls on the way, so that some nodes found early lie beyond it in the end.
 * They are dropped: else the result would depend on the order of the list, and so on when the list was made. */
static TlStatus wall_evaluate(const TlNearWall *w, const TlPose *pose, const TlBoundary *boundary,
                              TlWanted *wanted, TlPoints *points) {
  double moved = wall_moved(w, pose);
  size_t had = points->count;
  for (int32_t i = 0; i < w->list.count; i++) {
    bool there;
    double limit = tl_wanted_limit(wanted);
    if (wall_gap_now(w, boundary, w->list.node[i].gap, moved) >= limit) break;
    points->lookups++;
    points->node_tests++;
    TlPoint point = wall_point(w, pose, boundary, i, limit, &there);
    if (!there || point.gap >= limit) continue;
    wanted->least = tl_min(wanted->least, point.gap);
    TL_TRY(tl_points_add(points, point));
  }
  double limit = tl_wanted_limit(wanted);
  size_t kept = had;
  for (size_t i = had; i < points->count; i++)
    if (points->point[i].gap < limit) points->point[kept++] = points->point[i];
  points->count = kept;
  return TL_OK;
}

static bool wall_is_for(const TlNearWall *w, const TlShape *shape, double scale) {
  return w && w->cutoff > 0 && w->shape == shape && w->pose.scale == scale;
}

TlStatus tl_near_boundary(TlNearWall **wall, const TlColliders *b, int64_t body, const TlMat3 *turn,
                          const TlBoundary *boundary, double travel, TlWanted *wanted,
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
  TL_TRY(wall_build(w, shape, &pose, boundary, travel, wanted, points));
  return wall_evaluate(w, &pose, boundary, wanted, points);
}

/* How many listed elements may have a gap below the limit now: the first ones. */
static int32_t wall_elements_near(const TlNearWall *w, const TlBoundary *boundary, double slope,
                                  double moved, double limit) {
  int32_t i = 0;
  while (i < w->list.count &&
         wall_gap_after(w, boundary, slope, (double)w->list.node[i].gap, moved) < limit)
    i++;
  return i;
}

/* Elements of a body at a boundary, at a pose. */
typedef struct WallElements {
  const TlShape *shape;
  TlPose pose;
  const TlBoundary *boundary;
  double skin;
  const TlNearElements *elements;
} WallElements;

/* The wide list, made again where it does not hold all that may have a gap below the limit. */
static TlStatus wall_wide_list(TlNearWall *w, const WallElements *q, double limit,
                               TlPoints *points) {
  const TlNearElements *elements = q->elements;
  double far = elements->reach + FAR * q->skin, cutoff = FAR * q->skin;
  TlWanted wanted = {far, far, INFINITY, 0};
  size_t count = 0;
  if (wall_is_for(w, q->shape, q->pose.scale) &&
      wall_gap_after(w, q->boundary, elements->slope, w->cutoff, wall_moved(w, &q->pose)) >= limit)
    return TL_OK;
  w->cutoff = 0;
  TL_TRY(wall_collect(q->shape->place->elements->middles, &q->pose, q->boundary, &wanted, points,
                      &count));
  count_list(w, points);
  if (count > 0) TL_TRY(elements->judge(elements->context, 0, cutoff, points->hit, &count, points));
  return wall_list(w, q->shape, &q->pose, count, cutoff, points);
}

/* The elements that may touch, nearest first, anew out of the wide list. */
static TlStatus wall_fine_list(TlNearWall *w, const WallElements *q, TlPoints *points) {
  double slope = q->elements->slope, cutoff = FINE * q->skin;
  w->cutoff = 0;
  if (!w->wide) TL_TRY(TL_NEW(w->wide, 1));
  TL_TRY(wall_wide_list(w->wide, q, cutoff, points));
  double moved = wall_moved(w->wide, &q->pose);
  cutoff = tl_max(cutoff, wall_gap_after(w->wide, q->boundary, slope, w->wide->least, moved));
  size_t count = (size_t)wall_elements_near(w->wide, q->boundary, slope, moved, cutoff);
  TL_TRY(judge_listed(q->elements, 0, &w->wide->list, cutoff, &count, points));
  TL_TRY(wall_list(w, q->shape, &q->pose, count, cutoff, points));
  return list_elements(&w->list, q->shape->place->elements, &w->listed, points);
}

TlStatus tl_near_boundary_elements(TlNearWall **wall, const TlColliders *b, int64_t body,
                                   const TlMat3 *turn, const TlBoundary *boundary, double travel,
                                   const TlNearElements *elements, TlPoints *points,
                                   TlListedPart *found) {
  if (!*wall) TL_TRY(TL_NEW(*wall, 1));
  TlNearWall *w = *wall;
  const TlShape *shape = b->shape[body];
  WallElements query = {.shape = shape,
                        .pose = {b->position[body], *turn, b->scale[body]},
                        .boundary = boundary,
                        .skin = tl_near_skin(travel, shape->radius_m * b->scale[body]),
                        .elements = elements};
  double moved = wall_is_for(w, shape, query.pose.scale) ? wall_moved(w, &query.pose) : INFINITY;
  if (!(moved < INFINITY) ||
      !(wall_gap_after(w, boundary, elements->slope, w->cutoff, moved) >= 0)) {
    TL_TRY(wall_fine_list(w, &query, points));
    moved = 0;
  }
  *found = (TlListedPart){&w->listed, wall_elements_near(w, boundary, elements->slope, moved, 0)};
  return TL_OK;
}

TlStatus tl_near_note_apart(TlNearWall **wall, const TlColliders *b, int64_t body,
                            const TlMat3 *turn, double least) {
  if (!*wall) TL_TRY(TL_NEW(*wall, 1));
  TlNearWall *w = *wall;
  w->shape = b->shape[body];
  w->pose = (TlPose){b->position[body], *turn, b->scale[body]};
  w->radius = b->shape[body]->radius_m * b->scale[body];
  w->cutoff = w->least = least;
  w->list.count = 0;
  return TL_OK;
}

bool tl_near_apart(const TlNearWall *w, const TlColliders *b, int64_t body, const TlMat3 *turn,
                   const TlBoundary *boundary, double margin) {
  TlPose pose = {b->position[body], *turn, b->scale[body]};
  return wall_is_for(w, b->shape[body], pose.scale) &&
         wall_gap_now(w, boundary, w->least, wall_moved(w, &pose)) >= margin;
}

bool tl_near_deepest(const TlNearWall *w, const TlColliders *b, int64_t body, TlVec3 position,
                     TlQuat rotation, const TlBoundary *boundary, double margin, TlPoint *deepest) {
  TlPose pose = {position, tl_quat_matrix(rotation), b->scale[body]};
  double moved = wall_is_for(w, b->shape[body], pose.scale) ? wall_moved(w, &pose) : INFINITY;
  if (!(moved < INFINITY) || !(wall_gap_now(w, boundary, w->cutoff, moved) >= margin))
    return tl_narrow_deepest(b, body, position, rotation, boundary, margin, deepest);
  if (wall_gap_now(w, boundary, w->least, moved) >= margin) return false;
  *deepest = (TlPoint){.gap = INFINITY};
  for (int32_t i = 0; i < w->list.count; i++) {
    bool there;
    double limit = tl_min(deepest->gap, margin);
    if (wall_gap_now(w, boundary, w->list.node[i].gap, moved) > limit) break;
    /* an equally deep one of a lower number counts */
    double reach = limit + 1e-12 * (fabs(limit) + w->radius);
    TlPoint point = wall_point(w, &pose, boundary, i, reach, &there);
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
  tl_free(near->path);
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

static TlStatus new_pairs(TlNear *near, const TlColliders *b) {
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

static bool same_bodies(const TlNear *near, const TlColliders *b, int boundary_count) {
  if (near->body_count != b->total || near->boundary_count != boundary_count) return false;
  for (int64_t i = 0; i < b->total; i++)
    if (near->id[near->broad.rank[i]] != b->id[i]) return false;
  return true;
}

static TlStatus new_walls(TlNear *near, const TlColliders *b, int boundary_count) {
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

static void start_path(const TlColliders *b, int64_t i, TlNearPath *p) {
  *p = (TlNearPath){.x = b->position[i], .q = b->rotation[i]};
}

/* |R - R0| is no more than twice |q - q0|. */
static void lengthen_path(const TlColliders *b, int64_t i, TlNearPath *p) {
  TlQuat q = b->rotation[i], o = p->q;
  p->gone += tl_norm(tl_sub(b->position[i], p->x));
  p->x = b->position[i];
  if (tl_shape_alone(b->shape[i])) return; /* seen from its centre its turn is none */
  double w = q.w - o.w, x = q.x - o.x, y = q.y - o.y, z = q.z - o.z;
  p->turned += 2 * sqrt(w * w + x * x + y * y + z * z);
  p->q = q;
}

/* Lists are of nodes: where no body has any nobody asks. */
static bool any_nodes(const TlColliders *b) {
  for (int64_t i = 0; i < b->total; i++)
    if (b->shape[i]->node_count > 0) return true;
  return false;
}

static TlStatus note_paths(TlNear *near, const TlColliders *b, bool built) {
  TL_TRY(TL_RESERVE(near->path, near->path_capacity, (size_t)b->total));
  if (!any_nodes(b)) return TL_OK;
  for (int64_t i = 0; i < b->total; i++) {
    (built ? start_path : lengthen_path)(b, i, &near->path[i]);
  }
  return TL_OK;
}

TlStatus tl_near_update(TlNear *near, const TlBodies *bodies, int boundary_count, double step_s,
                        TlArena *scratch) {
  const TlColliders *colliders = &bodies->colliders;
  bool built;
  TL_TRY(tl_broad_update(&near->broad, bodies, step_s, scratch, &built));
  TL_TRY(note_paths(near, colliders, built));
  if (!built && near->pair_count == near->broad.pairs.count && near->body_count == colliders->total)
    return TL_OK;
  TL_TRY(new_pairs(near, colliders));
  return new_walls(near, colliders, boundary_count);
}
