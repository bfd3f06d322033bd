#include "contact/wall_crests.h"

#include "contact/ball_facets.h"
#include "contact/crests.h"
#include "contact/places.h"
#include "contact/smooth_facets.h"
#include "contact/wall_facets.h"
#include "contact/wall_places.h"

/* Of the grain's radius: a node or a place of a face this near to one on an edge, and no deeper by LESS, says the same
 * with a normal that is less sure: beside an edge the wall's normals fan out. */
static const double NEAR = 0.05, LESS = 1e-3;
enum { NUMBER_BITS = 20, RIMS_KEY = 1 << 12 /* above the keys of edges (wall_facets.h) */ };

/* A grain, and a wall that is round about an axis. */
typedef struct Rims {
  const TlColliders *colliders;
  int64_t grain;
  const TlMat3 *turn;
  TlVec3 centre, axis, across; /* of the wall, in the grain's frame */
  double half, margin;         /* half: of the wall's length */
  TlPoints *points;
} Rims;

static Rims rims_of(const TlColliders *c, int64_t i, const TlMat3 *turn, TlVec3 centre, TlVec3 axis,
                    double length, double margin, TlPoints *points) {
  Rims r = {.colliders = c,
            .grain = i,
            .turn = turn,
            .centre = tl_mat_tvec(*turn, tl_sub(centre, c->position[i])),
            .axis = tl_mat_tvec(*turn, axis),
            .half = 0.5 * length,
            .margin = margin,
            .points = points};
  TlVec3 u, v;
  tl_tangents(axis, &u, &v); /* of the world: where angles begin does not turn with the grain */
  r.across = tl_mat_tvec(*turn, u);
  return r;
}

static TlStatus add_rim(const Rims *r, const TlCrestGrain *grain, const TlCrest *rim, int part,
                        int64_t first) {
  const TlColliders *c = r->colliders;
  const TlPlaceShape *place = c->shape[r->grain]->place;
  TlCrestPlace found[TL_CREST_PLACES];
  int count = tl_crest_places(grain, rim, found, r->points);
  for (int k = 0; k < count; k++) {
    TlVec3 local = tl_scale(1 / c->scale[r->grain], found[k].x);
    if (place->part_count > 1 && tl_facets_covered(place->part, place->part_count, part, local,
                                                   1e-9 * c->shape[r->grain]->radius_m))
      continue;
    TlVec3 x = tl_axpy(found[k].x, 0.5 * found[k].gap, found[k].n);
    TL_TRY(tl_points_add(r->points,
                         (TlPoint){.p = tl_add(c->position[r->grain], tl_mat_vec(*r->turn, x)),
                                   .n = tl_mat_vec(*r->turn, found[k].n),
                                   .gap = found[k].gap,
                                   .key = first - found[k].number}));
  }
  return TL_OK;
}

/* Both rims of this radius; side: 1, the round face looks away from the axis; -1: to it. */
static TlStatus add_rims(const Rims *r, double radius, double side, int64_t number) {
  const TlColliders *c = r->colliders;
  const TlPlaceShape *place = c->shape[r->grain]->place;
  double size = tl_min(c->radius[r->grain], radius);
  for (int end = 0; end < 2; end++) {
    TlVec3 out = tl_scale(end ? 1 : -1, r->axis);
    TlCrest rim = {.from = tl_axpy(r->centre, r->half, out),
                   .along = r->axis,
                   .radius = radius,
                   .across = r->across,
                   .normal = {out},
                   .side = side};
    for (int k = 0; k == 0 || k < place->part_count; k++) {
      TlCrestGrain grain =
          place->part ? tl_crest_part(c, r->grain, k, size) : tl_crest_grain(c, r->grain, size);
      int64_t rims = RIMS_KEY + (number + end) * TL_FACET_PARTS + k;
      grain.limit = r->margin;
      TL_TRY(add_rim(r, &grain, &rim, k, TL_PLACE_KEY - 1 - (rims << NUMBER_BITS)));
    }
  }
  return TL_OK;
}

static TlStatus at_pipe(const TlColliders *c, int64_t i, const TlMat3 *turn,
                        const TlBoundary *boundary, double margin, TlPoints *points) {
  const TlBoundaryRing *g = boundary->data;
  TlVec3 centre = g->centre, axis = g->axis;
  if (boundary->drive) {
    centre = tl_placed(&boundary->place, centre);
    axis = tl_mat_vec(boundary->place.turn, axis);
  }
  Rims r = rims_of(c, i, turn, centre, axis, g->length_m, margin, points);
  TL_TRY(add_rims(&r, g->radius_m, -1, 0));
  return add_rims(&r, g->radius_m + g->thickness_m, 1, 2);
}

static TlStatus at_cylinder(const TlColliders *c, int64_t i, const TlMat3 *turn,
                            const TlBoundary *boundary, double margin, TlPoints *points) {
  const double *size = ((const TlBoundarySolid *)boundary->data)->size;
  TlWallFrame f = tl_wall_frame(boundary);
  TlVec3 axis = tl_mat_vec(f.turn, tl_vec3(0, 0, 1));
  Rims r = rims_of(c, i, turn, f.centre, axis, size[1], margin, points);
  return add_rims(&r, size[0], 1, 0);
}

static TlStatus at_box(const TlColliders *c, int64_t i, const TlMat3 *turn,
                       const TlBoundary *boundary, double margin, TlPoints *points) {
  const TlBoundarySolid *solid = boundary->data;
  const double *size = solid->size;
  if (tl_wall_over_face(boundary, c->position[i], c->radius[i] + margin)) return TL_OK;
  TlFacets box = tl_facets_of_box(size[0], size[1], size[2]);
  TlWallFrame f = tl_wall_frame(boundary);
  double radius = solid->kind->radius(size);
  return tl_smooth_facets_beside(c, i, turn, &box, f.centre, &f.turn, radius, margin, points);
}

static TlStatus add_crests(const TlColliders *c, int64_t i, const TlMat3 *turn,
                           const TlBoundary *boundary, double margin, TlPoints *points) {
  if (boundary->kind == &tl_boundary_ring) return at_pipe(c, i, turn, boundary, margin, points);
  const TlBoundarySolid *solid = boundary->data;
  if (solid->kind == &tl_closed_box && c->shape[i]->place->part) return TL_OK;
  if (solid->kind == &tl_closed_box) return at_box(c, i, turn, boundary, margin, points);
  if (solid->kind != &tl_closed_cylinder) return TL_OK;
  return at_cylinder(c, i, turn, boundary, margin, points);
}

/* Points from `had` on, before the first on an edge, that one of those speaks for. */
static void drop_beside(size_t had, size_t first, double radius, TlPoints *points) {
  double near = NEAR * radius;
  TlPoint *p = points->point;
  size_t kept = had;
  for (size_t k = had; k < points->count; k++) {
    bool spoken = false;
    for (size_t e = first; k < first && e < points->count && !spoken; e++)
      spoken =
          tl_norm2(tl_sub(p[k].p, p[e].p)) < near * near && p[k].gap > p[e].gap - LESS * radius;
    if (!spoken) p[kept++] = p[k];
  }
  points->count = kept;
}

TlStatus tl_wall_crests(const TlColliders *c, int64_t i, const TlMat3 *turn,
                        const TlBoundary *boundary, double margin, size_t had, TlPoints *points) {
  const TlShape *shape = c->shape[i];
  size_t first = points->count;
  bool faces = shape->place && shape->place->part;
  if (!boundary->kind->edged || !(faces || tl_wall_places_serves(shape))) return TL_OK;
  if (boundary->drive && boundary->place.absent) return TL_OK;
  TL_TRY(add_crests(c, i, turn, boundary, margin, points));
  if (!faces) drop_beside(had, first, c->radius[i], points);
  return TL_OK;
}
