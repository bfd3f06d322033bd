#include "model/ground_shape.h"

#include "base/mem.h"
#include "model/shapes.h"

#include <math.h>

static const double SAFE = 2;   /* a place may lie amid three nodes, and beside the middle */
static const double MOST = 0.5; /* node spacings */

static void nearest_nodes(const TlShape *shape, int32_t i, int32_t *near) {
  double d2[TL_GROUND_NEIGHBOURS];
  TlVec3 p = tl_shape_node(shape, i);
  for (int k = 0; k < TL_GROUND_NEIGHBOURS; k++) d2[k] = INFINITY, near[k] = -1;
  for (int32_t j = 0; j < shape->node_count; j++) {
    double far2 = tl_norm2(tl_sub(tl_shape_node(shape, j), p));
    int k = TL_GROUND_NEIGHBOURS - 1;
    if (j == i || far2 >= d2[k]) continue;
    for (; k > 0 && d2[k - 1] > far2; k--) d2[k] = d2[k - 1], near[k] = near[k - 1];
    d2[k] = far2;
    near[k] = j;
  }
}

static void list_nodes(TlGroundShape *g, const TlShape *shape) {
  for (int32_t i = 0; i < g->count; i++) {
    int32_t at = i < shape->node_count ? i : shape->node_count - 1;
    TlVec3 p = tl_shape_node(shape, shape->node_index[at]);
    g->x[i] = (float)p.x;
    g->y[i] = (float)p.y;
    g->z[i] = (float)p.z;
  }
}

/* How far a place may lie below the nodes about it: the surface between two neighbours, along the mean of
 * their normals, over the higher of the two. */
static double deficit_of(const TlGroundShape *g, const TlShape *shape) {
  enum { ROUNDS = 3 };
  double deficit = 0;
  for (int32_t i = 0; i < shape->node_count; i++)
    for (int k = 0; k < TL_GROUND_NEIGHBOURS && g->near[i][k] >= 0; k++) {
      int32_t j = g->near[i][k];
      TlVec3 a = tl_shape_node(shape, i), b = tl_shape_node(shape, j), slope;
      TlVec3 n = tl_unit(tl_add(g->normal[i], g->normal[j])), p = tl_scale(0.5, tl_add(a, b));
      for (int m = 0; m < ROUNDS; m++) { /* onto the surface */
        double phi = tl_spline_phi(&g->spline, p, &slope, NULL), steep = tl_norm2(slope);
        if (steep > 0.01) p = tl_axpy(p, -phi / steep, slope);
      }
      double high = tl_max(tl_dot(tl_sub(a, p), n), tl_dot(tl_sub(b, p), n));
      deficit = tl_max(deficit, -high);
    }
  return tl_min(SAFE * deficit, MOST * shape->node_spacing);
}

static TlStatus fill(TlGroundShape *g, const TlShape *shape) {
  size_t nodes = (size_t)shape->node_count, count;
  g->count = (shape->node_count + TL_GROUND_BLOCK - 1) / TL_GROUND_BLOCK * TL_GROUND_BLOCK;
  count = (size_t)g->count;
  TL_TRY(TL_NEW(g->x, count));
  TL_TRY(TL_NEW(g->y, count));
  TL_TRY(TL_NEW(g->z, count));
  list_nodes(g, shape);
  if (!shape->avatar) return TL_OK;
  TL_TRY(tl_spline_make(shape->avatar, &g->spline));
  TL_TRY(TL_NEW(g->normal, nodes));
  TL_TRY(TL_NEW(g->near, nodes));
  for (int32_t i = 0; i < shape->node_count; i++) {
    tl_spline_phi(&g->spline, tl_shape_node(shape, i), &g->normal[i], NULL);
    g->normal[i] = tl_unit(g->normal[i]);
    nearest_nodes(shape, i, g->near[i]);
  }
  g->deficit = deficit_of(g, shape);
  return TL_OK;
}

TlStatus tl_ground_shape_new(TlGroundShape **ground, const TlShape *shape) {
  TlGroundShape *g;
  TL_TRY(TL_NEW(g, 1));
  TlStatus status = fill(g, shape);
  if (status == TL_OK)
    *ground = g;
  else
    tl_ground_shape_free(g);
  return status;
}

void tl_ground_shape_free(TlGroundShape *g) {
  if (!g) return;
  tl_spline_free(&g->spline);
  tl_free(g->x);
  tl_free(g->y);
  tl_free(g->z);
  tl_free(g->normal);
  tl_free(g->near);
  tl_free(g);
}
