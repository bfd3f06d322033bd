#include "model/place_shape.h"

#include "base/mem.h"
#include "model/elements.h"
#include "model/shapes.h"

#include <math.h>

/* Of the radius: nodes above a tangent plane of a convex shape. A grid that is coarse for a shape's corners leaves its
 * flat faces uneven by a thousandth; of the places that this makes one reads too shallow by as much at most. */
static const double CONVEX = 2e-3;

/* The node that lies farthest above another's tangent plane decides; most shapes that are not convex
 * show it at once. */
static bool is_convex(const TlPlaceShape *s, const TlShape *shape) {
  for (int32_t i = 0; i < shape->avatar->node_count; i++) {
    TlVec3 p = tl_shape_node(shape, i), n;
    tl_spline_phi(&s->spline, p, &n, NULL);
    n = tl_unit(n);
    double most = tl_dot(p, n) + CONVEX * shape->radius_m;
    for (int32_t j = 0; j < shape->avatar->node_count; j++)
      if (tl_dot(tl_shape_node(shape, j), n) > most) return false;
  }
  return true;
}

/* Edges that a grid rounds bend its field by about 1.4 over a cell and a half; grains whose least radius of
 * curvature is a cell and a half or more stay below. */
static const double SHARP = 1.2, SHARP_NODES = 0.01;

static bool is_sharp(const TlPlaceShape *s, const TlShape *shape) {
  int32_t sharp = 0;
  for (int32_t i = 0; i < shape->avatar->node_count; i++) {
    TlVec3 g;
    TlSym3 h;
    TlMat3 axes;
    double bend[3];
    tl_spline_phi(&s->spline, tl_shape_node(shape, i), &g, &h);
    tl_sym_eigen(h, bend, &axes);
    double most = tl_max(fabs(bend[0]), tl_max(fabs(bend[1]), fabs(bend[2])));
    sharp += most * s->spline.spacing_m > SHARP;
  }
  return sharp > SHARP_NODES * shape->avatar->node_count;
}

typedef struct Nearest { /* of a node: the nearest others so far, by distance and number */
  double d2[TL_PLACE_NEIGHBOURS];
  int32_t *node;
} Nearest;

static void look_below(const TlShape *shape, int32_t sphere, int32_t self, Nearest *found) {
  const TlNodeSphere *s = &shape->sphere[sphere];
  enum { LAST = TL_PLACE_NEIGHBOURS - 1 };
  TlVec3 p = tl_shape_node(shape, self);
  double beyond = tl_norm(tl_sub(p, tl_sphere_centre(s))) - s->radius;
  if (beyond > 0 && beyond * beyond > found->d2[LAST] * (1 + 1e-6)) return;
  if (!s->leaf) {
    look_below(shape, sphere + 1, self, found);
    look_below(shape, shape->sphere[sphere + 1].next, self, found);
    return;
  }
  for (int32_t i = s->first; i < s->first + s->count; i++) {
    int32_t j = shape->node_index[i];
    double d2 = tl_norm2(tl_sub(tl_shape_node(shape, j), p));
    int k = LAST;
    if (j == self || d2 > found->d2[k] || (d2 == found->d2[k] && j > found->node[k])) continue;
    for (; k > 0 && (d2 < found->d2[k - 1] || (d2 == found->d2[k - 1] && j < found->node[k - 1]));
         k--)
      found->d2[k] = found->d2[k - 1], found->node[k] = found->node[k - 1];
    found->d2[k] = d2;
    found->node[k] = j;
  }
}

static void find_neighbours(TlPlaceShape *s, const TlShape *shape) {
  for (int32_t i = 0; i < shape->avatar->node_count; i++) {
    Nearest found = {.node = s->near[i]};
    for (int k = 0; k < TL_PLACE_NEIGHBOURS; k++) found.d2[k] = INFINITY, s->near[i][k] = -1;
    look_below(shape, 0, i, &found);
  }
}

static TlStatus of_closed(TlPlaceShape *s, const TlShape *shape) {
  s->convex = true; /* but for unions, whose parts are */
  if (!shape->closed->parts) return TL_OK;
  s->part_count = shape->closed->parts(shape->size, NULL);
  TL_TRY(TL_NEW(s->part, (size_t)s->part_count));
  shape->closed->parts(shape->size, s->part);
  s->convex = s->part_count == 1;
  return TL_OK;
}

static TlStatus of_avatar(TlPlaceShape *s, const TlShape *shape) {
  TL_TRY(tl_spline_make(shape->avatar, &s->spline));
  s->slope = tl_max(1, s->spline.slope_max);
  s->spacing = shape->node_spacing;
  TlFacets facets = tl_facets_of_grid(shape->avatar);
  if (facets.plane_count > 0) {
    TL_TRY(TL_NEW(s->part, 1));
    s->part[s->part_count++] = facets;
  }
  s->convex = s->part || is_convex(s, shape);
  s->sharp = !s->part && is_sharp(s, shape);
  return TL_OK;
}

TlStatus tl_place_shape_new(TlPlaceShape **place, const TlShape *shape) {
  TlPlaceShape *s;
  TL_TRY(TL_NEW(s, 1));
  s->slope = 1;
  TlStatus status = shape->avatar ? of_avatar(s, shape) : of_closed(s, shape);
  if (status == TL_OK)
    *place = s;
  else
    tl_place_shape_free(s);
  return status;
}

TlStatus tl_place_shape_finish(TlPlaceShape *s, const TlShape *shape) {
  if (s->part) return TL_OK;
  TL_TRY(TL_NEW(s->near, (size_t)shape->avatar->node_count));
  find_neighbours(s, shape);
  return TL_OK;
}

void tl_place_shape_free(TlPlaceShape *s) {
  if (!s) return;
  tl_spline_free(&s->spline);
  tl_free(s->near);
  tl_free(s->part);
  tl_elements_free(s->elements);
  tl_free(s);
}
