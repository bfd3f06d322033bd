#include "contact/tractions.h"

#include "base/lanes.h"
#include "base/mem.h"
#include "contact/ball_facets.h"
#include "model/elements.h"
#include "model/place_shape.h"
#include "model/shapes.h"

#include <math.h>
#include <string.h>

/* A sum over so many touching parts begins to do; over twice as many it does. */
static const double FEW = 6;
/* What the trilinear phi, by which middles were found, may be off the spline, over the cell's square and the
 * second derivatives that bound it. */
static const double OFF_VALUE = 0.25;
static const double QUARTER = 0.6; /* radius of a quarter of a part over the part's, at most */

/* The other body, in its own frame at unit scale, or a wall in the world's. */
typedef struct Other {
  double (*at)(const struct Other *other, TlVec3 x, TlVec3 *gradient);
  const void *data;
  double slope;           /* the field changes by no more a metre */
  const TlElements *bend; /* knows how much its gradient changes; NULL: nobody does, */
  bool even;              /* or it does not change at all */
  double off_value;       /* of what middles were found by */
} Other;

/* One body's surface before the other. */
typedef struct Side {
  const Other *other;
  const TlElements *elements;
  TlNodeMap map; /* from the body's frame at unit scale to the other's */
  TlMat3 turn;   /* from the other's frame to the world's */
  TlVec3 centre; /* of the other's frame, world */
  double scale;  /* of the other's frame */
  double share;  /* of the surface that bears: half of each of two */
  double few;    /* FEW elements' area */
  double from_scale;
  int side;
} Side;

/* Integrals over what touches: 1, d, d^2; d x; the gradient and d times it, with their moments. */
typedef struct Sums {
  double area, depth, square, deepest;
  TlVec3 place, slope, slope_moment, force, moment;
} Sums;

/* Elements, their quarters, quarters of these and so on. */
enum { LEVELS = 6, BITS = LEVELS - 1, ACROSS = 1 << BITS };

struct TlTractionCell { /* of a node */
  int32_t node;
  Sums level[LEVELS];
  size_t first, count; /* in TlPoints.queue: parts of the last level that may touch */
};

/* ---- integrals ---- */

static void add(Sums *s, double area, double depth, TlVec3 x, TlVec3 g) {
  double weight = area * depth;
  TlVec3 arm = tl_cross(x, g);
  s->area += area;
  s->depth += weight;
  s->square += weight * depth;
  s->deepest = tl_max(s->deepest, depth);
  s->place = tl_axpy(s->place, weight, x);
  s->slope = tl_axpy(s->slope, area, g);
  s->slope_moment = tl_axpy(s->slope_moment, area, arm);
  s->force = tl_axpy(s->force, weight, g);
  s->moment = tl_axpy(s->moment, weight, arm);
}

/* By how much the field may change within a part of an element from its middle x, where it has gradient g; size:
 * of the part, over the element. */
static double change(const Side *s, const TlElement *e, TlVec3 x, TlVec3 g, TlVec3 n, double size) {
  double radius = size * (double)e->radius_m * s->map.ratio, along = tl_dot(g, n),
         across = sqrt(tl_max(0, tl_norm2(g) - along * along));
  const TlElements *known = s->other->bend;
  double bend = s->other->even ? 0 : INFINITY;
  if (known && radius <= known->block_m) bend = tl_elements_bend(known, x);
  double most = (across + 0.5 * bend * radius) * radius +
                fabs(along) * size * size * (double)e->rise_m * s->map.ratio;
  return tl_min(s->other->slope * radius, most);
}

static TlVec3 normal_of(const Side *s, const TlElement *e) {
  TlVec3 n = tl_vec3(e->normal[0], e->normal[1], e->normal[2]);
  return tl_scale(1 / s->map.ratio, tl_mat_vec(s->map.m, n));
}

/* By number. Shell's sort with Ciura's gaps: there are some tens, each a cache line. */
static void sort(TlNodeHit *hit, size_t count) {
  static const size_t gaps[] = {301, 132, 57, 23, 10, 4, 1};
  for (size_t k = 0; k < sizeof gaps / sizeof *gaps; k++)
    for (size_t gap = gaps[k], i = gap; i < count; i++) {
      TlNodeHit moved = hit[i];
      size_t to = i;
      for (; to >= gap && hit[to - gap].node > moved.node; to -= gap) hit[to] = hit[to - gap];
      hit[to] = moved;
    }
}

/* What the field says at the middles of elements (p: the middle in the other's frame). */
static void look_at_middles(const Side *s, TlNodeHit *hit, size_t count) {
  for (size_t k = 0; k < count; k++) {
    hit[k].p = tl_node_mapped(&s->map, s->elements->middles->node[hit[k].node]);
    hit[k].gap = s->other->at(s->other, hit[k].p, &hit[k].slope);
  }
}

/* Of these the ones that touch at their middles, or with `anywhere` that may touch at all. */
static size_t keep(const Side *s, bool anywhere, TlNodeHit *hit, size_t count) {
  size_t kept = 0;
  for (size_t k = 0; k < count; k++) {
    const TlElement *e = &s->elements->element[hit[k].node];
    double limit = anywhere ? change(s, e, hit[k].p, hit[k].slope, normal_of(s, e), 1) : 0;
    if (hit[k].gap < limit) hit[kept++] = hit[k];
  }
  return kept;
}

/* A part in the queue: the element's place among the hits, and where in it. */
static int32_t part_of(size_t hit, int u, int w) {
  return (int32_t)(hit << (2 * BITS)) | u << BITS | w;
}

/* What a part with this middle bears, to a level; if it may touch anywhere it goes into the queue. */
static void take(const Side *s, const TlElement *e, TlVec3 n, double size, double area, double phi,
                 TlVec3 x, TlVec3 g, int level, struct TlTractionCell *cell, int32_t part,
                 TlPoints *points, size_t *queued) {
  if (phi < 0) add(&cell->level[level], area, -phi, x, g);
  if (phi >= change(s, e, x, g, n, size)) return;
  points->queue[(*queued)++] = part;
  cell->count++;
}

/* Elements into cells; sorted: sums must not depend on how they were found. */
static TlStatus fill_cells(const Side *s, TlNodeHit *hit, size_t count, TlPoints *points,
                           size_t *cells) {
  static const struct TlTractionCell none;
  size_t queued = 0;
  *cells = 0;
  sort(hit, count);
  TL_TRY(TL_RESERVE(points->cell, points->cell_capacity, count));
  TL_TRY(TL_RESERVE(points->queue, points->queue_capacity, count));
  for (size_t k = 0; k < count; k++) {
    const TlElement *e = &s->elements->element[hit[k].node];
    if (*cells == 0 || points->cell[*cells - 1].node != e->node) {
      points->cell[*cells] = none;
      points->cell[*cells].node = e->node;
      points->cell[(*cells)++].first = queued;
    }
    take(s, e, normal_of(s, e), 1, (double)e->area_m2, hit[k].gap, hit[k].p, hit[k].slope, 0,
         &points->cell[*cells - 1], part_of(k, 0, 0), points, &queued);
  }
  return TL_OK;
}

static TlCurved moved(const Side *s, const TlElement *e) {
  TlCurved c;
  double back = 1 / s->map.ratio;
  for (int k = 0; k < 4; k++) {
    const float *f = s->elements->corner[e->corner[k]];
    c.v[k] = tl_node_mapped(&s->map, tl_vec3(f[0], f[1], f[2]));
    c.n[k] = tl_scale(back, tl_mat_vec(s->map.m, tl_vec3(f[3], f[4], f[5])));
  }
  return c;
}

/* Middles of the quarters of a part, and their areas over the element's. */
typedef struct Quarters {
  double x[3][4], area[4];
} Quarters;

/* u, w: of the part's low corner; side: of it. */
TL_LANES_CLONES static void place_quarters(const TlCurved *c, double u, double w, double side,
                                           Quarters *out) {
  double share = 0.25 * side * side / tl_curved_stretch(c, 0.5, 0.5);
  for (int k = 0; k < 4; k++) {
    double uk = u + side * (0.25 + 0.5 * (k & 1)), wk = w + side * (0.25 + 0.5 * (k >> 1));
    TlVec3 x = tl_curved_point(c, uk, wk);
    out->x[0][k] = x.x;
    out->x[1][k] = x.y;
    out->x[2][k] = x.z;
    out->area[k] = share * tl_curved_stretch(c, uk, wk);
  }
}

/* The quarters of the cell's parts in the queue, to `level`; those of the next go behind queue[*queued]. */
static void divide_cell(const Side *s, const TlNodeHit *hit, int level, struct TlTractionCell *cell,
                        TlPoints *points, size_t *queued) {
  size_t first = cell->first, end = first + cell->count, last = SIZE_MAX;
  double side = 1.0 / (1 << (level - 1)), size = 1;
  TlCurved c;
  TlVec3 n;
  for (int k = 0; k < level; k++) size *= QUARTER;
  cell->first = *queued;
  cell->count = 0;
  for (size_t k = first; k < end; k++) {
    size_t i = (size_t)points->queue[k] >> (2 * BITS);
    int u = points->queue[k] >> BITS & (ACROSS - 1), w = points->queue[k] & (ACROSS - 1);
    const TlElement *e = &s->elements->element[hit[i].node];
    if (i != last) {
      c = moved(s, e);
      n = normal_of(s, e);
      last = i;
    }
    Quarters q;
    place_quarters(&c, u * side, w * side, side, &q);
    for (int m = 0; m < 4; m++) {
      TlVec3 g, x = tl_vec3(q.x[0][m], q.x[1][m], q.x[2][m]);
      double phi = s->other->at(s->other, x, &g);
      take(s, e, n, size, (double)e->area_m2 * q.area[m], phi, x, g, level, cell,
           part_of(i, 2 * u + (m & 1), 2 * w + (m >> 1)), points, queued);
    }
  }
  points->lookups += 4 * (int64_t)(end - first);
}

static TlStatus divide(const Side *s, const TlNodeHit *hit, int level, size_t cells,
                       TlPoints *points) {
  const struct TlTractionCell *last = &points->cell[cells - 1];
  size_t begin = points->cell[0].first, end = last->first + last->count, queued = end;
  TL_TRY(TL_RESERVE(points->queue, points->queue_capacity, end + 4 * (end - begin)));
  for (size_t i = 0; i < cells; i++) divide_cell(s, hit, level, &points->cell[i], points, &queued);
  return TL_OK;
}

/* ---- what they bear ---- */

/* U is a mean over the levels looked at, with these shares. They depend on how many parts of each level touch,
 * as (sum of d)^2 over the sum of d^2, so U's derivative has of each level `force` times d times the gradient and
 * `slope` times the gradient. */
typedef struct Mix {
  int levels;
  double share[LEVELS], force[LEVELS], slope[LEVELS];
} Mix;

typedef struct Total { /* of a level over the cells */
  double depth, square;
  double parts;    /* that touch, over FEW */
  double w, steep; /* its share of what it and all later levels have; the derivative by `parts` */
} Total;

static Total total_of(const Side *s, const struct TlTractionCell *cell, size_t count, int level) {
  Total t = {.depth = 0};
  for (size_t i = 0; i < count; i++) {
    t.depth += cell[i].level[level].depth;
    t.square += cell[i].level[level].square;
  }
  if (t.square > 0) t.parts = t.depth * t.depth / (t.square * s->few) * (1 << (2 * level));
  double x = tl_min(1, tl_max(0, t.parts - 1));
  t.w = level == LEVELS - 1 ? 1 : x * x * (3 - 2 * x);
  t.steep = level == LEVELS - 1 ? 0 : 6 * x * (1 - x);
  return t;
}

static Mix mix_of(const Total *total, int levels) {
  Mix m = {.levels = levels};
  double rest[LEVELS + 1] = {0}, left = 1; /* rest: twice U of this level and all later ones */
  for (int l = levels - 1; l >= 0; l--)
    rest[l] = total[l].w * total[l].square + (1 - total[l].w) * rest[l + 1];
  for (int l = 0; l < levels; l++) {
    const Total *t = &total[l];
    m.share[l] = left * t->w;
    double turn = left * t->steep * (t->square - rest[l + 1]) * t->parts;
    m.force[l] = m.share[l] - (t->square > 0 ? turn / t->square : 0);
    m.slope[l] = t->depth > 0 ? turn / t->depth : 0;
    left *= 1 - t->w;
  }
  return m;
}

/* The cell as a contact point; false: it bears nothing. */
static bool point_of(const Side *s, const struct TlTractionCell *cell, const Mix *m,
                     TlPoint *point) {
  double depth = 0, area = 0, square = 0, deepest = 0;
  TlVec3 x = {0, 0, 0}, force = x, moment = x;
  for (int l = 0; l < m->levels; l++) {
    const Sums *sums = &cell->level[l];
    double share = m->share[l];
    depth += share * sums->depth;
    area += share * sums->area;
    square += share * sums->square;
    if (share > 0) deepest = tl_max(deepest, sums->deepest);
    x = tl_axpy(x, share, sums->place);
    force = tl_axpy(tl_axpy(force, m->force[l], sums->force), m->slope[l], sums->slope);
    moment = tl_axpy(tl_axpy(moment, m->force[l], sums->moment), m->slope[l], sums->slope_moment);
  }
  double size = tl_norm(force);
  if (!(depth > 0 && size > 0)) return false;
  x = tl_scale(1 / depth, x);
  moment = tl_sub(moment, tl_cross(x, force));
  TlVec3 p = tl_axpy(x, 1 / (size * size), tl_cross(force, moment));
  TlVec3 n = tl_mat_vec(s->turn, tl_scale((s->side ? -1 : 1) / size, force));
  *point = (TlPoint){.p = tl_axpy(s->centre, s->scale, tl_mat_vec(s->turn, p)),
                     .n = n,
                     .gap = -deepest * s->scale,
                     .key = 2 * (int64_t)cell->node + s->side,
                     .area_m2 = s->share * area * s->from_scale * s->from_scale,
                     .steeper = size / depth - 1,
                     .twist_m = s->scale * tl_dot(moment, force) / (size * size),
                     .filled = depth / (area * deepest),
                     .filled2 = square / (area * deepest * deepest)};
  return true;
}

/* Do the middles of enough elements touch? Those of hit[0..count), in any order: a clear yes, or no. */
static bool middles_do(const Side *s, const TlNodeHit *hit, size_t count) {
  double depth = 0, square = 0;
  for (size_t k = 0; k < count; k++) {
    double d = tl_max(0, -hit[k].gap),
           weight = d * (double)s->elements->element[hit[k].node].area_m2;
    depth += weight;
    square += weight * d;
  }
  return depth * depth > (2 + 1e-9) * s->few * square;
}

/* The elements hit[0..count), into points. Those whose middles touch come first; they may be enough. */
static TlStatus bear(const Side *s, TlNodeHit *hit, size_t count, TlPoints *points) {
  size_t cells, deep = 0;
  for (size_t k = 0; k < count; k++)
    if (hit[k].p.x < 0) {
      TlNodeHit other = hit[deep];
      hit[deep++] = hit[k];
      hit[k] = other;
    }
  look_at_middles(s, hit, deep);
  bool enough = middles_do(s, hit, deep);
  if (!enough) look_at_middles(s, hit + deep, count - deep);
  points->lookups += (int64_t)(enough ? deep : count);
  count = keep(s, !enough, hit, enough ? deep : count);
  TL_TRY(fill_cells(s, hit, count, points, &cells));
  if (cells == 0) return TL_OK;
  Total total[LEVELS];
  int levels = 0;
  for (double w = 0; w < 1; w = total[levels++].w) {
    if (levels > 0) TL_TRY(divide(s, hit, levels, cells, points));
    total[levels] = total_of(s, points->cell, cells, levels);
  }
  Mix mix = mix_of(total, levels);
  for (size_t i = 0; i < cells; i++) {
    TlPoint point;
    if (point_of(s, &points->cell[i], &mix, &point)) TL_TRY(tl_points_add(points, point));
  }
  return TL_OK;
}

/* ---- elements that may touch ---- */

/* TlNearElements.judge; context: both sides. */
static void judge(const void *context, int side, TlNodeHit *hit) {
  const Side *s = (const Side *)context + side;
  const TlElement *e = &s->elements->element[hit->node];
  TlVec3 g, x = tl_node_mapped(&s->map, s->elements->middles->node[hit->node]);
  double phi = s->other->at(s->other, x, &g);
  hit->gap = s->scale * (phi - change(s, e, x, g, normal_of(s, e), 1));
  hit->p.x = s->scale * phi * (1 - 1e-6) - 1e-6 * fabs(hit->gap);
}

static TlStatus all_elements(const TlElements *elements, TlPoints *points, size_t first,
                             size_t *end) {
  *end = first + (size_t)elements->count;
  TL_TRY(TL_RESERVE(points->hit, points->hit_capacity, *end));
  for (int32_t i = 0; i < elements->count; i++)
    points->hit[first + (size_t)i] = (TlNodeHit){.p = {-1, 0, 0}, .node = i};
  return TL_OK;
}

/* ---- fields ---- */

static double spline_at(const Other *other, TlVec3 x, TlVec3 *gradient) {
  return tl_spline_phi(other->data, x, gradient, NULL);
}

static double parts_at(const Other *other, TlVec3 x, TlVec3 *gradient) {
  const TlPlaceShape *place = other->data;
  double least = INFINITY;
  for (int k = 0; k < place->part_count; k++) {
    TlVec3 nearest, n;
    double phi = tl_facets_nearest(&place->part[k], x, &nearest, &n);
    if (phi >= least) continue;
    least = phi;
    if (gradient) *gradient = n;
  }
  return least;
}

static double wall_at(const Other *other, TlVec3 x, TlVec3 *gradient) {
  double phi;
  return tl_boundary_phi(other->data, x, &phi, gradient) ? phi : INFINITY;
}

static Other other_of(const TlShape *shape) {
  const TlPlaceShape *place = shape->place;
  double cell = shape->avatar ? shape->avatar->spacing_m : 0;
  Other other = {.at = parts_at,
                 .data = place,
                 .slope = tl_max(place->slope, shape->lipschitz),
                 .off_value = cell};
  if (place->part) return other;
  other.at = spline_at;
  other.data = &place->spline;
  other.bend = place->elements;
  other.off_value = OFF_VALUE * place->elements->bend_most * cell * cell;
  return other;
}

/* ---- pairs ---- */

bool tl_tractions_serve(const TlShape *a, const TlShape *b) {
  return a->place && b->place && a->place->elements && b->place->elements;
}

/* Middles of elements that may touch have a smaller gap. A line of an element's radius from within `to` does
 * not leave its grid while phi changes by less than what it is on the grid's faces; else it may change as it
 * does out there. */
static double reach_of(const TlColliders *c, int64_t from, int64_t to) {
  const TlShape *shape = c->shape[to];
  Other other = other_of(shape);
  double far = c->shape[from]->place->elements->reach_m * c->scale[from] / c->scale[to];
  bool inside = other.slope * far < shape->phi_min_face;
  return c->scale[to] * ((inside ? other.slope : shape->lipschitz_out) * far + other.off_value);
}

static Side side_of(const TlColliders *c, const TlNarrowSide *way, const Other *other) {
  const TlElements *from = c->shape[way->from]->place->elements;
  return (Side){.other = other,
                .elements = from,
                .map = way->map,
                .turn = *way->turn_to,
                .centre = c->position[way->to],
                .scale = c->scale[way->to],
                .share = 0.5,
                .few = FEW * from->area_m2,
                .from_scale = c->scale[way->from],
                .side = way->side};
}

TlStatus tl_tractions_of_pair(const TlNearQuery *query, TlNearPair **lists, TlPoints *points) {
  const TlColliders *c = query->colliders;
  size_t end[2];
  TlMat3 a_to_b;
  TlNarrowSide way[2];
  Other other[2];
  Side side[2];
  tl_narrow_sides(c, query->a, query->b, query->turn_a, query->turn_b, &a_to_b, way);
  for (int k = 0; k < 2; k++) {
    other[k] = other_of(c->shape[way[k].to]);
    side[k] = side_of(c, &way[k], &other[k]);
  }
  if (lists) {
    TlNearElements elements = {
        .reach = tl_max(reach_of(c, query->a, query->b), reach_of(c, query->b, query->a)),
        .slope = tl_max(other[0].slope, other[1].slope),
        .judge = judge,
        .context = side};
    TlNearQuery listed = *query;
    listed.elements = &elements;
    listed.band = listed.reach = 0;
    TL_TRY(tl_near_elements(lists, &listed, points, end));
  } else {
    TL_TRY(all_elements(side[0].elements, points, 0, &end[0]));
    TL_TRY(all_elements(side[1].elements, points, end[0], &end[1]));
  }
  for (int k = 0; k < 2; k++) {
    size_t first = k ? end[0] : 0;
    if (first < end[k]) TL_TRY(bear(&side[k], points->hit + first, end[k] - first, points));
  }
  return TL_OK;
}

/* ---- walls ---- */

TlStatus tl_tractions_at_wall(const TlColliders *c, int64_t body, const TlMat3 *turn,
                              const TlBoundary *boundary, double way, TlNearWall **list,
                              TlPoints *points) {
  static const TlMat3 unturned = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
  const TlElements *elements = c->shape[body]->place->elements;
  TlPose pose = {c->position[body], *turn, c->scale[body]};
  double reach = boundary->kind->lipschitz * elements->reach_m * pose.scale;
  TlWanted wanted = {reach, reach, INFINITY, 0};
  size_t had = points->count, count = 0;
  if (list)
    TL_TRY(
        tl_near_boundary(list, c, body, elements->middles, turn, boundary, way, &wanted, points));
  else
    TL_TRY(tl_narrow_boundary_nodes(elements->middles, &pose, boundary, &wanted, points));
  TL_TRY(TL_RESERVE(points->hit, points->hit_capacity, points->count - had));
  for (size_t i = had; i < points->count; i++)
    points->hit[count++] = (TlNodeHit){.p = {points->point[i].gap, 0, 0},
                                       .node = (int32_t)(points->point[i].key >> 1)};
  points->count = had;
  Other other = {.at = wall_at,
                 .data = boundary,
                 .slope = boundary->kind->lipschitz,
                 .even = boundary->kind == &tl_boundary_plane};
  Side side = {.other = &other,
               .elements = elements,
               .map = {.t = pose.x, .ratio = pose.scale},
               .turn = unturned,
               .scale = 1,
               .share = 1,
               .few = FEW * elements->area_m2,
               .from_scale = pose.scale};
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) side.map.m.m[i][j] = pose.scale * turn->m[i][j];
  return bear(&side, points->hit, count, points);
}
