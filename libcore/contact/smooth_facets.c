#include "contact/smooth_facets.h"

#include "base/mem.h"
#include "contact/ball_facets.h"
#include "contact/descent.h"
#include "contact/edges.h"
#include "contact/places.h"

#include <math.h>

static const double TWINS = 0.6; /* node spacings: places of one face nearer than this are one */
static const double TOLERANCE = 1e-5; /* of the smaller radius: what a Newton step may still gain */
/* Of the smaller radius: a foot this far beside its face counts. Sine of the angle by which a normal at an edge
 * may pass that of a face. */
static const double BESIDE = 0.02;
static const double NEAR_P = 0.05,
                    NEAR_N = 0.995; /* two places this near, of the smaller radius, are one */
static const double SAMPLED = 0.25; /* of the smaller radius: distance of samples along an edge */
static const double FACING = 0.3;   /* least slope of phi across an edge */
enum { NARROWINGS = 12, MOST_SAMPLES = 64, NODE_BITS = 20, ANY_NODE = (1 << NODE_BITS) - 1 };

typedef enum Kind { FACE, EDGE, CORNER, KINDS } Kind;

/* Frame of the smooth grain, metres. */
typedef struct Meeting {
  const TlColliders *colliders;
  int64_t grain, solid; /* the smooth one and the polyhedron */
  const TlMat3 *turn;   /* of the smooth grain */
  bool first;           /* it is a of the pair */
  TlMat3 m;             /* a point x of the polyhedron, scaled, is at m x + t */
  TlVec3 t;
  TlSmoothPair pair;
  double spacing, limit; /* of nodes; gaps from here on are not wanted */
  double steep;          /* most slope of the grain's phi */
  size_t had;            /* places begin here */
  TlPoints *points;
} Meeting;

bool tl_smooth_facets_serves(const TlShape *a, const TlShape *b) {
  const TlShape *smooth = a->place->part ? b : a, *solid = a->place->part ? a : b;
  return solid->place->part && smooth->avatar && !smooth->place->part && !smooth->place->sharp;
}

static const TlFacets *part_of(const Meeting *m, int k) {
  return &m->colliders->shape[m->solid]->place->part[k];
}

static TlVec3 corner_of(const Meeting *m, const TlFacets *f, int32_t corner) {
  return tl_add(tl_mat_vec(m->m, tl_scale(m->colliders->scale[m->solid], f->corner[corner])), m->t);
}

static TlSmooth plane_of(const Meeting *m, const TlFacets *f, int32_t face) {
  TlVec3 n = tl_mat_vec(m->m, f->normal[face]);
  return (TlSmooth){.kind = TL_SMOOTH_PLANE,
                    .normal = n,
                    .distance_m =
                        m->colliders->scale[m->solid] * f->distance[face] + tl_dot(n, m->t)};
}

/* Does a point of part k's surface lie within another part? */
static bool covered(const Meeting *m, int k, TlVec3 x) {
  const TlShape *solid = m->colliders->shape[m->solid];
  if (solid->place->part_count == 1) return false;
  TlVec3 own = tl_scale(1 / m->colliders->scale[m->solid], tl_mat_tvec(m->m, tl_sub(x, m->t)));
  return tl_facets_covered(solid->place, k, own, 1e-9 * solid->radius_m);
}

/* Half-way at x, n from the polyhedron to the grain. Kept unless another place says the same and lies deeper. */
static TlStatus keep(const Meeting *m, TlVec3 x, TlVec3 n, double gap, int64_t key, double near) {
  TlVec3 centre = m->colliders->position[m->grain], out = tl_mat_vec(*m->turn, n);
  TlPoint point = {.p = tl_add(centre, tl_mat_vec(*m->turn, x)),
                   .n = m->first ? out : tl_scale(-1, out),
                   .gap = gap,
                   .key = key};
  for (size_t k = m->had; k < m->points->count; k++) {
    TlPoint *other = &m->points->point[k];
    if (tl_norm2(tl_sub(other->p, point.p)) > near * near || tl_dot(other->n, point.n) < NEAR_N)
      continue;
    if (tl_point_deeper(&point, other)) *other = point;
    return TL_OK;
  }
  return tl_points_add(m->points, point);
}

static int64_t key_of(int part, Kind kind, int32_t number, int64_t node) {
  int64_t feature = ((int64_t)part * KINDS + kind) * TL_FACET_EDGES + number;
  return TL_PLACE_KEY - 1 - (feature << NODE_BITS) - (node & ANY_NODE);
}

/* ---- faces ---- */

static bool in_face(const Meeting *m, const TlFacets *f, int32_t face, TlVec3 foot) {
  for (int32_t i = 0; i < f->plane_count; i++) {
    TlSmooth plane = plane_of(m, f, i);
    if (i != face && tl_dot(plane.normal, foot) - plane.distance_m > BESIDE * m->pair.size)
      return false;
  }
  return true;
}

/* From a node at x to the faces of part k that it is near to. */
static TlStatus add_faces(Meeting *m, int k, int64_t node, TlVec3 x, double gap) {
  const TlFacets *f = part_of(m, k);
  double cover = TL_NODE_COVER * m->spacing;
  for (int32_t i = 0; i < f->plane_count; i++) {
    m->pair.field[1] = plane_of(m, f, i);
    double height = tl_dot(m->pair.field[1].normal, x) - m->pair.field[1].distance_m;
    if (height >= m->limit + cover || height < gap - cover) continue;
    TlKeptPlace place = {.x = x};
    if (!tl_descend(&m->pair, &place, true, NULL) || !(place.gap < m->limit)) continue;
    TlVec3 n = m->pair.field[1].normal, foot = tl_axpy(place.x, -0.5 * place.gap, n);
    if (!in_face(m, f, i, foot) || covered(m, k, foot)) continue;
    TL_TRY(keep(m, place.x, n, place.gap, key_of(k, FACE, i, node), TWINS * m->spacing));
  }
  return TL_OK;
}

static TlStatus add_faces_of_parts(Meeting *m, int64_t node, TlVec3 x, double gap) {
  int parts = m->colliders->shape[m->solid]->place->part_count;
  for (int k = 0; k < parts; k++) TL_TRY(add_faces(m, k, node, x, gap));
  return TL_OK;
}

/* From the pair's deepest point, which may be the polyhedron's: nodes of a large grain lie far apart. */
static TlStatus from_deepest(Meeting *m) {
  const TlPoint *p = m->points->point, *deepest = &p[0];
  for (size_t k = 1; k < m->had; k++)
    if (tl_point_deeper(&p[k], deepest)) deepest = &p[k];
  TlVec3 x = tl_sub(deepest->p, m->colliders->position[m->grain]);
  return add_faces_of_parts(m, ANY_NODE, tl_mat_tvec(*m->turn, x), deepest->gap);
}

/* From nodes of the grain under the limit, by number: they come in any order. */
static TlStatus from_nodes(Meeting *m, double limit) {
  TlPoints *points = m->points;
  const TlShape *grain = m->colliders->shape[m->grain];
  TL_TRY(TL_RESERVE(points->queue, points->queue_capacity, (size_t)grain->node_count));
  int32_t *rank = points->queue;
  for (int32_t i = 0; i < grain->node_count; i++) rank[i] = -1;
  for (size_t k = 0; k < m->had; k++)
    if ((points->point[k].key & 1) != m->first && points->point[k].gap < limit)
      rank[points->point[k].key >> 1] = (int32_t)k;
  for (int32_t i = 0; i < grain->node_count; i++) {
    if (rank[i] < 0) continue;
    size_t at = (size_t)rank[i];
    if (!tl_node_lower(points->point, at, grain->place->near[i], TL_PLACE_NEIGHBOURS, rank))
      continue;
    TlVec3 x = tl_scale(m->pair.field[0].scale, tl_shape_node(grain, i));
    TL_TRY(add_faces_of_parts(m, i, x, points->point[at].gap));
  }
  return TL_OK;
}

/* ---- edges ---- */

typedef struct Edge {
  TlVec3 from, along; /* along: unit */
  double length;
} Edge;

typedef struct Spot { /* of the grain's phi along an edge */
  double at, phi, slope;
  TlVec3 x, gradient;
} Spot;

static Spot look(Meeting *m, const Edge *e, double at) {
  Spot s = {.at = at, .x = tl_axpy(e->from, at, e->along)};
  s.phi = tl_smooth_phi(&m->pair.field[0], s.x, &s.gradient, NULL);
  s.slope = tl_dot(s.gradient, e->along);
  m->points->lookups++;
  return s;
}

/* May a direction across an edge, out of the polyhedron, be a normal there? */
static bool between(const Meeting *m, const TlFacets *f, const TlFacetEdge *edge, TlVec3 along,
                    TlVec3 n) {
  TlVec3 normal[2];
  for (int s = 0; s < 2; s++) normal[s] = tl_mat_vec(m->m, f->normal[edge->face[s]]);
  for (int s = 0; s < 2; s++) { /* into the face, away from the edge: behind the other one */
    TlVec3 into = tl_cross(normal[s], along);
    if (tl_dot(into, normal[1 - s]) > 0) into = tl_scale(-1, into);
    if (tl_dot(n, into) > BESIDE) return false;
  }
  return true;
}

/* phi is least between two samples. */
static TlStatus add_crossing(Meeting *m, int k, int32_t number, const Edge *e, Spot low,
                             Spot high) {
  const TlFacets *f = part_of(m, k);
  Spot s = low;
  for (int i = 0; i < NARROWINGS && fabs(s.slope) > 1e-3; i++) {
    double fraction =
        i % 3 == 2 ? 0.5 : tl_min(tl_max(low.slope / (low.slope - high.slope), 0.05), 0.95);
    s = look(m, e, low.at + fraction * (high.at - low.at));
    *(s.slope < 0 ? &low : &high) = s;
  }
  TlVec3 out = tl_axpy(s.gradient, -tl_dot(s.gradient, e->along), e->along);
  double length = tl_norm(out);
  if (!(s.phi < m->limit) || !(length > FACING)) return TL_OK;
  TlVec3 n = tl_scale(-1 / length, out);
  if (!between(m, f, &f->edge[number], e->along, n) || covered(m, k, s.x)) return TL_OK;
  int64_t sample = (int64_t)(s.at / (SAMPLED * m->pair.size));
  return keep(m, tl_axpy(s.x, 0.5 * s.phi, n), n, s.phi, key_of(k, EDGE, number, sample),
              NEAR_P * m->pair.size);
}

static TlStatus add_edge(Meeting *m, int k, int32_t number) {
  const TlFacets *f = part_of(m, k);
  TlVec3 from = corner_of(m, f, f->edge[number].corner[0]),
         edge = tl_sub(corner_of(m, f, f->edge[number].corner[1]), from);
  Edge e = {.from = from, .length = tl_norm(edge)};
  e.along = tl_scale(1 / e.length, edge);
  double far = m->colliders->radius[m->grain] + m->limit, at = -tl_dot(from, e.along);
  double beside2 = tl_norm2(tl_axpy(from, at, e.along));
  if (!(beside2 < far * far)) return TL_OK;
  double half = sqrt(far * far - beside2), start = tl_max(at - half, 0),
         end = tl_min(at + half, e.length);
  if (!(start < end)) return TL_OK;
  double wanted = ceil((end - start) / (SAMPLED * m->pair.size));
  int n = wanted < 2 ? 2 : wanted < MOST_SAMPLES ? (int)wanted : MOST_SAMPLES;
  double step = (end - start) / n;
  Spot low = look(m, &e, start), last = look(m, &e, end);
  if (0.5 * (low.phi + last.phi - m->steep * (end - start)) >= m->limit) return TL_OK;
  for (int i = 1; i <= n; i++) {
    Spot high = i < n ? look(m, &e, start + i * step) : last;
    bool near = 0.5 * (low.phi + high.phi - m->steep * step) < m->limit;
    if (near && low.slope < 0 && high.slope >= 0) TL_TRY(add_crossing(m, k, number, &e, low, high));
    low = high;
  }
  return TL_OK;
}

/* ---- corners ---- */

/* A node of the polyhedron already, but there by the grain's trilinear field. */
static TlStatus add_corner(Meeting *m, int k, int32_t corner) {
  const TlFacets *f = part_of(m, k);
  TlVec3 x = corner_of(m, f, corner), gradient;
  double far = m->colliders->radius[m->grain] + m->limit;
  if (!(tl_norm2(x) < far * far)) return TL_OK;
  double phi = tl_smooth_phi(&m->pair.field[0], x, &gradient, NULL);
  m->points->lookups++;
  if (!(phi < m->limit) || covered(m, k, x)) return TL_OK;
  TlVec3 n = tl_scale(-1, tl_unit(gradient));
  for (int32_t i = 0; i < f->edge_count; i++) { /* no edge may rise along it */
    const int32_t *end = f->edge[i].corner;
    if (end[0] != corner && end[1] != corner) continue;
    TlVec3 away = tl_sub(corner_of(m, f, end[end[0] == corner]), x);
    if (tl_dot(n, tl_unit(away)) > BESIDE) return TL_OK;
  }
  return keep(m, tl_axpy(x, 0.5 * phi, n), n, phi, key_of(k, CORNER, corner, 0),
              NEAR_P * m->pair.size);
}

/* ---- all ---- */

static Meeting meeting_of(const TlColliders *c, int64_t a, int64_t b, const TlMat3 *turn_a,
                          const TlMat3 *turn_b, TlPoints *points) {
  bool first = !c->shape[a]->place->part;
  int64_t grain = first ? a : b, solid = first ? b : a;
  const TlMat3 *turn = first ? turn_a : turn_b, *other = first ? turn_b : turn_a;
  double size = tl_min(c->radius[a], c->radius[b]), scale = c->scale[grain];
  const TlPlaceShape *place = c->shape[grain]->place;
  return (Meeting){.colliders = c,
                   .grain = grain,
                   .solid = solid,
                   .turn = turn,
                   .first = first,
                   .m = tl_mat_tmul(*turn, *other),
                   .t = tl_mat_tvec(*turn, tl_sub(c->position[solid], c->position[grain])),
                   .pair = {.field = {tl_smooth_of(c, grain)},
                            .r = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}},
                            .size = size,
                            .cell = place->spline.spacing_m * scale,
                            .tolerance = TOLERANCE * size},
                   .spacing = place->spacing * scale,
                   .steep = sqrt(1 + place->slope * place->slope), /* beyond the grid */
                   .had = points->count,
                   .points = points};
}

TlStatus tl_smooth_facets(const TlColliders *c, int64_t a, int64_t b, const TlMat3 *turn_a,
                          const TlMat3 *turn_b, const TlWanted *wanted, TlPoints *points) {
  Meeting m = meeting_of(c, a, b, turn_a, turn_b, points);
  double reach = tl_edges_reach(c, a, b), least = INFINITY;
  for (size_t k = 0; k < points->count; k++) least = tl_min(least, points->point[k].gap);
  TlWanted seen = tl_wanted_beside(wanted, reach);
  seen.least = least;
  double limit = tl_wanted_limit(&seen);
  m.limit = tl_min(limit, wanted->margin);
  if (!c->shape[m.grain]->place->convex) TL_TRY(from_nodes(&m, limit));
  TL_TRY(from_deepest(&m));
  const TlPlaceShape *solid = c->shape[m.solid]->place;
  for (int k = 0; k < solid->part_count; k++) {
    for (int32_t i = 0; i < solid->part[k].edge_count; i++) TL_TRY(add_edge(&m, k, i));
    for (int32_t i = 0; i < solid->part[k].corner_count; i++) TL_TRY(add_corner(&m, k, i));
  }
  points->lookups += m.pair.lookups;
  if (m.pair.broken) return tl_fail(TL_EINPUT, "the distance of a grain is not a number");
  size_t kept = 0;
  for (size_t k = 0; k < points->count; k++)
    if (points->point[k].gap < wanted->margin) points->point[kept++] = points->point[k];
  points->count = kept;
  return TL_OK;
}
