#include "model/ground_shape.h"

#include "base/mem.h"

#include <math.h>

/* Between two nodes whose normals differ by w and that are s apart a surface of even curvature rises by
 * w s/8 above their chord, an edge of 90 degrees by w s sqrt(2)/4. */
static const double BULGE = 0.36;
static const double MOST = 0.5; /* node spacings */

static TlVec3 node_at(const TlAvatar *a, int32_t i) {
  const float *p = &a->node_m[3 * (size_t)i];
  return tl_vec3(p[0], p[1], p[2]);
}

static void nearest_nodes(const TlAvatar *a, int32_t i, int32_t *near) {
  double d2[TL_GROUND_NEIGHBOURS];
  TlVec3 p = node_at(a, i);
  for (int k = 0; k < TL_GROUND_NEIGHBOURS; k++) d2[k] = INFINITY, near[k] = -1;
  for (int32_t j = 0; j < a->node_count; j++) {
    double far2 = tl_norm2(tl_sub(node_at(a, j), p));
    int k = TL_GROUND_NEIGHBOURS - 1;
    if (j == i || far2 >= d2[k]) continue;
    for (; k > 0 && d2[k - 1] > far2; k--) d2[k] = d2[k - 1], near[k] = near[k - 1];
    d2[k] = far2;
    near[k] = j;
  }
}

TlStatus tl_ground_shape_new(TlGroundShape **shape, const TlAvatar *a) {
  TlGroundShape *g;
  TL_TRY(TL_NEW(g, 1));
  TlStatus status = tl_spline_make(a, &g->spline);
  if (status == TL_OK) status = TL_NEW(g->normal, (size_t)a->node_count);
  if (status == TL_OK) status = TL_NEW(g->near, (size_t)a->node_count);
  if (status != TL_OK) {
    tl_ground_shape_free(g);
    return status;
  }
  for (int32_t i = 0; i < a->node_count; i++) {
    tl_spline_phi(&g->spline, node_at(a, i), &g->normal[i], NULL);
    g->normal[i] = tl_unit(g->normal[i]);
    nearest_nodes(a, i, g->near[i]);
  }
  for (int32_t i = 0; i < a->node_count; i++)
    for (int k = 0; k < TL_GROUND_NEIGHBOURS && g->near[i][k] >= 0; k++) {
      int32_t j = g->near[i][k];
      double turn = tl_norm(tl_sub(g->normal[i], g->normal[j]));
      g->deficit =
          tl_max(g->deficit, BULGE * turn * tl_norm(tl_sub(node_at(a, i), node_at(a, j))));
    }
  g->deficit = tl_min(g->deficit, MOST * sqrt(a->area_m2 / a->node_count));
  *shape = g;
  return TL_OK;
}

void tl_ground_shape_free(TlGroundShape *g) {
  if (!g) return;
  tl_spline_free(&g->spline);
  tl_free(g->normal);
  tl_free(g->near);
  tl_free(g);
}
