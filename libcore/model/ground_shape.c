#include "model/ground_shape.h"

#include "base/mem.h"
#include "model/shapes.h"

#include <math.h>

/* Between two nodes whose normals differ by w and that are s apart a surface of even curvature rises by
 * w s/8 above their chord, an edge of 90 degrees by w s sqrt(2)/4. */
static const double BULGE = 0.36;
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

/* How far a place may lie below the nodes about it. */
static double deficit_of(const TlGroundShape *g, const TlShape *shape) {
  double deficit = 0;
  for (int32_t i = 0; i < shape->node_count; i++)
    for (int k = 0; k < TL_GROUND_NEIGHBOURS && g->near[i][k] >= 0; k++) {
      int32_t j = g->near[i][k];
      double turn = tl_norm(tl_sub(g->normal[i], g->normal[j])),
             apart = tl_norm(tl_sub(tl_shape_node(shape, i), tl_shape_node(shape, j)));
      deficit = tl_max(deficit, BULGE * turn * apart);
    }
  return tl_min(deficit, MOST * shape->node_spacing);
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
