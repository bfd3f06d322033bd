#include "contact/smooth_facets.h"

#include "base/mem.h"
#include "contact/ball_facets.h"
#include "contact/crests.h"
#include "contact/descent.h"
#include "contact/edges.h"
#include "contact/places.h"

#include <math.h>

static const double TWINS = 0.6; /* node spacings: places of one face nearer than this are one */
static const double TOLERANCE = 1e-5; /* of the smaller radius: what a Newton step may still gain */
static const double BESIDE =
    0.02; /* of the smaller radius: a foot this far beside its face counts */
static const double NEAR_P = 0.05,
                    NEAR_N = 0.995; /* two places this near, of the smaller radius, are one */
enum { NODE_BITS = 20, ANY_NODE = (1 << NODE_BITS) - 1 };

typedef enum Kind { FACE, EDGE, CORNER, KINDS } Kind;

/* The polyhedron: a collider's, or a wall's. */
typedef struct Solid {
  const TlFacets *part;
  int parts;
  double scale, radius; /* radius: about its centre, unit scale */
} Solid;

/* Frame of the smooth grain, metres. */
typedef struct Meeting {
  const TlColliders *colliders;
  int64_t grain; /* the smooth one */
  Solid solid;
  const TlMat3 *turn; /* of the smooth grain */
  bool first;         /* it is a of the pair */
  TlMat3 m;           /* a point x of the polyhedron, scaled, is at m x + t */
  TlVec3 t;
  TlSmoothPair pair;
  double spacing, limit; /* of nodes; gaps from here on are not wanted */
  TlCrestGrain crests;
  size_t had; /* places begin here */
  TlPoints *points;
} Meeting;

bool tl_smooth_facets_serves(const TlShape *a, const TlShape *b) {
  const TlShape *smooth = a->place->part ? b : a, *solid = a->place->part ? a : b;
  return solid->place->part && smooth->avatar && !smooth->place->part && !smooth->place->sharp;
}

static TlVec3 corner_of(const Meeting *m, const TlFacets *f, int32_t corner) {
  return tl_add(tl_mat_vec(m->m, tl_scale(m->solid.scale, f->corner[corner])), m->t);
}

static TlSmooth plane_of(const Meeting *m, const TlFacets *f, int32_t face) {
  TlVec3 n = tl_mat_vec(m->m, f->normal[face]);
  return (TlSmooth){.kind = TL_SMOOTH_PLANE,
                    .normal = n,
                    .distance_m = m->solid.scale * f->distance[face] + tl_dot(n, m->t)};
}

/* Does a point of part k's surface lie within another part? */
static bool covered(const Meeting *m, int k, TlVec3 x) {
  if (m->solid.parts == 1) return false;
  TlVec3 own = tl_scale(1 / m->solid.scale, tl_mat_tvec(m->m, tl_sub(x, m->t)));
  return tl_facets_covered(m->solid.part, m->solid.parts, k, own, 1e-9 * m->solid.radius);
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
  const TlFacets *f = &m->solid.part[k];
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
  for (int k = 0; k < m->solid.parts; k++) TL_TRY(add_faces(m, k, node, x, gap));
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

static TlStatus add_edge(Meeting *m, int k, int32_t number) {
  const TlFacets *f = &m->solid.part[k];
  const TlFacetEdge *edge = &f->edge[number];
  TlVec3 from = corner_of(m, f, edge->corner[0]),
         way = tl_sub(corner_of(m, f, edge->corner[1]), from);
  TlCrest crest = {.from = from, .length = tl_norm(way)};
  TlCrestPlace place[TL_CREST_PLACES];
  crest.along = tl_scale(1 / crest.length, way);
  for (int s = 0; s < 2; s++) crest.normal[s] = tl_mat_vec(m->m, f->normal[edge->face[s]]);
  int count = tl_crest_places(&m->crests, &crest, place, m->points);
  for (int i = 0; i < count; i++) {
    const TlCrestPlace *p = &place[i];
    if (covered(m, k, p->x)) continue;
    TL_TRY(keep(m, tl_axpy(p->x, 0.5 * p->gap, p->n), p->n, p->gap,
                key_of(k, EDGE, number, p->number), NEAR_P * m->pair.size));
  }
  return TL_OK;
}

/* ---- corners ---- */

/* A node of the polyhedron already, but there by the grain's trilinear field. */
static TlStatus add_corner(Meeting *m, int k, int32_t corner) {
  const TlFacets *f = &m->solid.part[k];
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
    if (tl_dot(n, tl_unit(away)) > tl_crest_beside) return TL_OK;
  }
  return keep(m, tl_axpy(x, 0.5 * phi, n), n, phi, key_of(k, CORNER, corner, 0),
              NEAR_P * m->pair.size);
}

/* ---- all ---- */

/* Of a grain with a polyhedron whose centre, turn and radius these are. */
static Meeting meeting_of(const TlColliders *c, int64_t grain, const TlMat3 *turn,
                          const Solid *solid, TlVec3 centre, const TlMat3 *other,
                          TlPoints *points) {
  const TlPlaceShape *place = c->shape[grain]->place;
  double scale = c->scale[grain], size = tl_min(c->radius[grain], solid->scale * solid->radius);
  return (Meeting){.colliders = c,
                   .grain = grain,
                   .solid = *solid,
                   .turn = turn,
                   .first = true,
                   .m = tl_mat_tmul(*turn, *other),
                   .t = tl_mat_tvec(*turn, tl_sub(centre, c->position[grain])),
                   .pair = {.field = {tl_smooth_of(c, grain)},
                            .r = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}},
                            .size = size,
                            .cell = place->spline.spacing_m * scale,
                            .tolerance = TOLERANCE * size},
                   .spacing = place->spacing * scale,
                   .crests = tl_crest_grain(c, grain, size),
                   .had = points->count,
                   .points = points};
}

static TlStatus add_edges_and_corners(Meeting *m) {
  m->crests.limit = m->limit;
  for (int k = 0; k < m->solid.parts; k++) {
    const TlFacets *part = &m->solid.part[k];
    for (int32_t i = 0; i < part->edge_count; i++) TL_TRY(add_edge(m, k, i));
    for (int32_t i = 0; i < part->corner_count; i++) TL_TRY(add_corner(m, k, i));
  }
  return TL_OK;
}

TlStatus tl_smooth_facets(const TlColliders *c, int64_t a, int64_t b, const TlMat3 *turn_a,
                          const TlMat3 *turn_b, const TlWanted *wanted, TlPoints *points) {
  bool first = !c->shape[a]->place->part;
  int64_t grain = first ? a : b, other = first ? b : a;
  const TlShape *shape = c->shape[other];
  Solid solid = {shape->place->part, shape->place->part_count, c->scale[other], shape->radius_m};
  Meeting m = meeting_of(c, grain, first ? turn_a : turn_b, &solid, c->position[other],
                         first ? turn_b : turn_a, points);
  double reach = tl_edges_reach(c, a, b), least = INFINITY;
  for (size_t k = 0; k < points->count; k++) least = tl_min(least, points->point[k].gap);
  TlWanted seen = tl_wanted_beside(wanted, reach);
  seen.least = least;
  double limit = tl_wanted_limit(&seen);
  m.first = first;
  m.limit = tl_min(limit, wanted->margin);
  if (!c->shape[grain]->place->convex) TL_TRY(from_nodes(&m, limit));
  TL_TRY(from_deepest(&m));
  TL_TRY(add_edges_and_corners(&m));
  points->lookups += m.pair.lookups;
  if (m.pair.broken) return tl_fail(TL_EINPUT, "the distance of a grain is not a number");
  size_t kept = 0;
  for (size_t k = 0; k < points->count; k++)
    if (points->point[k].gap < wanted->margin) points->point[kept++] = points->point[k];
  points->count = kept;
  return TL_OK;
}

TlStatus tl_smooth_facets_beside(const TlColliders *c, int64_t i, const TlMat3 *turn,
                                 const TlFacets *solid, TlVec3 centre, const TlMat3 *turn_solid,
                                 double radius, double margin, TlPoints *points) {
  const Solid wall = {solid, 1, 1, radius};
  Meeting m = meeting_of(c, i, turn, &wall, centre, turn_solid, points);
  m.limit = margin;
  return add_edges_and_corners(&m);
}
