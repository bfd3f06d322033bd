#include "contact/wall_facets.h"

#include "contact/ball_facets.h"
#include "contact/facets.h"
#include "contact/places.h"
#include "model/place_shape.h"

#include <math.h>

/* ---- a box ---- */

TlWallFrame tl_wall_frame(const TlBoundary *boundary) {
  const TlBoundarySolid *solid = boundary->data;
  if (!boundary->drive) return (TlWallFrame){solid->centre, solid->turn};
  return (TlWallFrame){tl_placed(&boundary->place, solid->centre),
                       tl_mat_mul(boundary->place.turn, solid->turn)};
}

static double part_of(TlVec3 x, int k) {
  return k == 0 ? x.x : k == 1 ? x.y : x.z;
}

bool tl_wall_over_face(const TlBoundary *boundary, TlVec3 centre, double radius) {
  const TlBoundarySolid *box = boundary->data;
  TlWallFrame f = tl_wall_frame(boundary);
  TlVec3 x = tl_mat_tvec(f.turn, tl_sub(centre, f.centre));
  int beyond = 0;
  for (int k = 0; k < 3; k++) beyond += fabs(part_of(x, k)) + radius > 0.5 * box->size[k];
  return beyond <= 1;
}

TlWallFacets tl_wall_facets_of(const TlColliders *c, int64_t i, const TlBoundary *boundary,
                               double margin) {
  const TlBoundarySolid *solid = boundary->data;
  const TlPlaceShape *place = c->shape[i]->place;
  if (!place || !place->part || boundary->kind != &tl_boundary_solid) return TL_WALL_FACETS_NONE;
  if (boundary->drive && boundary->place.absent) return TL_WALL_FACETS_NONE;
  if (solid->kind == &tl_closed_cylinder) return TL_WALL_FACETS_MORE;
  if (solid->kind != &tl_closed_box) return TL_WALL_FACETS_NONE;
  return tl_wall_over_face(boundary, c->position[i], c->radius[i] + margin)
             ? TL_WALL_FACETS_NONE
             : TL_WALL_FACETS_INSTEAD;
}

static TlStatus at_box(const TlColliders *c, int64_t i, const TlMat3 *turn,
                       const TlBoundary *boundary, double margin, TlPoints *points) {
  const TlPlaceShape *place = c->shape[i]->place;
  const TlBoundarySolid *solid = boundary->data;
  const double *size = solid->size;
  TlFacets box = tl_facets_of_box(size[0], size[1], size[2]);
  TlWallFrame f = tl_wall_frame(boundary);
  for (int k = 0; k < place->part_count; k++) {
    TlFacetPair none = {.made = false};
    TlFacetQuery query = {.facets = {&place->part[k], &box},
                          .scale = {c->scale[i], 1},
                          .r = tl_mat_tmul(f.turn, *turn),
                          .t = tl_mat_tvec(f.turn, tl_sub(c->position[i], f.centre)),
                          .radius = {c->radius[i], solid->kind->radius(size)},
                          .bias = 1e-9 * c->radius[i],
                          .margin = margin};
    TlFacetContact found[TL_FACET_CONTACTS];
    bool listed;
    int count = tl_facets_contacts(&none, &query, found, &listed);
    points->lookups++;
    for (int j = 0; j < count; j++)
      if (found[j].gap < margin)
        TL_TRY(tl_points_add(
            points,
            (TlPoint){.p = tl_add(c->position[i], tl_mat_vec(*turn, found[j].x)),
                      .n = tl_mat_vec(*turn, found[j].n),
                      .gap = found[j].gap,
                      .key = TL_PLACE_KEY - 1 - (int64_t)found[j].key * place->part_count - k}));
  }
  return TL_OK;
}

/* ---- a cylinder ---- */

/* The least phi along an edge, unless that is at one of its ends: a corner. */
static bool least_along(const TlBoundary *boundary, TlVec3 from, TlVec3 to, double margin,
                        TlPoint *point) {
  enum { HALVINGS = 40 };
  TlVec3 span = tl_sub(to, from);
  double length = tl_norm(span), low = 0, high = 1, phi;
  TlVec3 n, middle = tl_axpy(from, 0.5, span);
  if (!tl_boundary_phi(boundary, middle, &phi, &n) || phi - 0.5 * length > margin) return false;
  if (!tl_boundary_phi(boundary, from, &phi, &n) || tl_dot(n, span) >= 0) return false;
  if (!tl_boundary_phi(boundary, to, &phi, &n) || tl_dot(n, span) <= 0) return false;
  for (int k = 0; k < HALVINGS; k++) {
    double at = 0.5 * (low + high);
    if (!tl_boundary_phi(boundary, tl_axpy(from, at, span), &phi, &n)) return false;
    *(tl_dot(n, span) < 0 ? &low : &high) = at;
  }
  *point = (TlPoint){.p = tl_axpy(from, 0.5 * (low + high), span), .n = n, .gap = phi};
  return phi < margin;
}

static TlStatus at_cylinder(const TlColliders *c, int64_t i, const TlMat3 *turn,
                            const TlBoundary *boundary, double margin, TlPoints *points) {
  const TlShape *shape = c->shape[i];
  const TlPlaceShape *place = shape->place;
  TlPose pose = {c->position[i], *turn, c->scale[i]};
  for (int k = 0; k < place->part_count; k++) {
    const TlFacets *f = &place->part[k];
    for (int32_t e = 0; e < f->edge_count; e++) {
      TlPoint point;
      TlVec3 from = f->corner[f->edge[e].corner[0]], to = f->corner[f->edge[e].corner[1]];
      points->lookups++;
      if (!least_along(boundary, tl_posed(&pose, from), tl_posed(&pose, to), margin, &point))
        continue;
      TlVec3 local = tl_scale(1 / pose.scale, tl_mat_tvec(pose.r, tl_sub(point.p, pose.x)));
      if (tl_facets_covered(place->part, place->part_count, k, local, 1e-9 * shape->radius_m))
        continue;
      point.key = TL_PLACE_KEY - 1 - (int64_t)e * place->part_count - k;
      TL_TRY(tl_points_add(points, point));
    }
  }
  return TL_OK;
}

TlStatus tl_wall_facets(const TlColliders *c, int64_t i, const TlMat3 *turn,
                        const TlBoundary *boundary, double margin, TlPoints *points) {
  const TlBoundarySolid *solid = boundary->data;
  return solid->kind == &tl_closed_box ? at_box(c, i, turn, boundary, margin, points)
                                       : at_cylinder(c, i, turn, boundary, margin, points);
}
