#include "contact/ball_facets.h"

#include "contact/places.h"

#include <math.h>

/* Of a face that x lies above: is x over it? Else the nearest point of its edges. */
static bool over_face(const TlFacets *f, int32_t face, TlVec3 x, TlVec3 *nearest) {
  TlVec3 n = f->normal[face];
  TlVec3 foot = tl_axpy(x, f->distance[face] - tl_dot(n, x), n);
  double least = INFINITY;
  bool inside = true;
  for (int k = 0; k < f->loop_count[face]; k++) {
    int next = k + 1 < f->loop_count[face] ? k + 1 : 0;
    TlVec3 from = f->corner[f->loop[face][k]], to = f->corner[f->loop[face][next]];
    TlVec3 along = tl_sub(to, from), off = tl_sub(foot, from);
    if (tl_dot(n, tl_cross(along, off)) >= 0) continue;
    inside = false;
    double part = tl_min(1, tl_max(0, tl_dot(along, off) / tl_norm2(along)));
    TlVec3 point = tl_axpy(from, part, along);
    double far = tl_norm2(tl_sub(x, point));
    if (far < least) least = far, *nearest = point;
  }
  if (inside) *nearest = foot;
  return inside;
}

double tl_facets_nearest(const TlFacets *f, TlVec3 x, TlVec3 *nearest, TlVec3 *n) {
  double height = -INFINITY, least = INFINITY;
  int32_t top = 0;
  for (int32_t i = 0; i < f->plane_count; i++) {
    double above = tl_dot(f->normal[i], x) - f->distance[i];
    if (above > height) height = above, top = i;
  }
  *n = f->normal[top];
  *nearest = tl_axpy(x, -height, *n);
  if (height <= 0) return height;
  for (int32_t i = 0; i < f->plane_count; i++) {
    TlVec3 point;
    if (!(tl_dot(f->normal[i], x) > f->distance[i])) continue;
    bool over = over_face(f, i, x, &point);
    double far = tl_norm(tl_sub(x, point));
    if (far < least) {
      least = far;
      *nearest = point;
      *n = over ? f->normal[i] : tl_scale(1 / far, tl_sub(x, point));
    }
    if (over) break; /* convex: no other point is nearer */
  }
  return least;
}

bool tl_ball_facets_serves(const TlShape *a, const TlShape *b) {
  return (tl_shape_alone(a) && b->place->part) || (tl_shape_alone(b) && a->place->part);
}

bool tl_facets_covered(const TlFacets *part, int parts, int k, TlVec3 point, double near) {
  for (int j = 0; j < parts; j++) {
    TlVec3 there, n;
    if (j == k) continue;
    double far = tl_facets_nearest(&part[j], point, &there, &n);
    if (far < -near || (j < k && far < near)) return true;
  }
  return false;
}

TlStatus tl_ball_facets(const TlColliders *x, int64_t a, int64_t b, const TlMat3 *turn_a,
                        const TlMat3 *turn_b, double margin, TlPoints *points) {
  bool first = tl_shape_alone(x->shape[a]);
  int64_t ball = first ? a : b, other = first ? b : a;
  const TlMat3 *turn = first ? turn_b : turn_a;
  const TlPlaceShape *solid = x->shape[other]->place;
  double scale = x->scale[other], radius = x->radius[ball];
  TlVec3 centre =
      tl_scale(1 / scale, tl_mat_tvec(*turn, tl_sub(x->position[ball], x->position[other])));
  for (int k = 0; k < solid->part_count; k++) {
    TlVec3 nearest, n;
    double far = tl_facets_nearest(&solid->part[k], centre, &nearest, &n);
    double gap = scale * far - radius;
    points->lookups++;
    if (!(gap < margin) || tl_facets_covered(solid->part, solid->part_count, k, nearest,
                                             1e-9 * x->shape[other]->radius_m))
      continue;
    TlVec3 out = tl_mat_vec(*turn, n); /* from the solid to the ball */
    TlVec3 middle = tl_axpy(x->position[ball], -(radius + 0.5 * gap), out);
    TL_TRY(tl_points_add(points, (TlPoint){.p = middle,
                                           .n = first ? out : tl_scale(-1, out),
                                           .gap = gap,
                                           .key = TL_PLACE_KEY - 1 - k}));
  }
  return TL_OK;
}
