#include "post/packing_measures.h"

/* Fraction of the grain's inner grid points that lie in the region; cells on its face count in part.
 */
static double fraction_of(const TlPackGrain *g, const TlRegion *region) {
  const TlAvatar *a = g->avatar;
  TlMat3 turn = tl_quat_matrix(g->rotation);
  double all = 0, in = 0;
  const float *phi = a->phi;
  for (int32_t k = 0; k < a->nz; k++)
    for (int32_t j = 0; j < a->ny; j++)
      for (int32_t i = 0; i < a->nx; i++, phi++) {
        if (*phi >= 0) continue;
        TlVec3 x = tl_axpy(a->origin_m, a->spacing_m, tl_vec3(i, j, k));
        TlVec3 at = tl_axpy(g->centre_m, g->scale, tl_mat_vec(turn, x));
        all++;
        in += fmin(1, fmax(0, 0.5 + tl_region_depth(region, at) / (g->scale * a->spacing_m)));
      }
  return all > 0 ? in / all : 0;
}

double tl_void_solid_m3(const TlPacking *p, const TlRegion *region) {
  double solid = 0;
  for (int64_t i = 0; i < p->grain_count; i++) {
    const TlPackGrain *g = &p->grain[i];
    double depth = tl_region_depth(region, g->centre_m);
    double reach = g->avatar ? g->scale * g->avatar->radius_m : 0;
    if (depth >= reach)
      solid += g->volume_m3;
    else if (depth > -reach)
      solid += fraction_of(g, region) * g->volume_m3;
  }
  return solid;
}

typedef struct Row {
  int64_t grains;
  double volume_m3, solid_m3;
} Row;

static TlStatus measure(const TlPacking *p, const TlRegion *region, void *of) {
  Row *row = of;
  row->volume_m3 = tl_region_volume(region);
  row->solid_m3 = tl_void_solid_m3(p, region);
  for (int64_t i = 0; i < p->grain_count; i++) row->grains += tl_packing_in(p, region, i);
  return TL_OK;
}

#define COLUMNS(C)                                                                                 \
  C(grains, "", "grains whose centres lie in the region", row->grains)                             \
  C(region_volume_m3, "m3", "volume of the region with its voids", row->volume_m3)                 \
  C(solid_fraction, "", "volume of the grains in the region over that",                            \
    row->solid_m3 / row->volume_m3)                                                                \
  C(void_ratio, "", "volume of the voids over that of the grains",                                 \
    row->solid_m3 > 0 ? (row->volume_m3 - row->solid_m3) / row->solid_m3 : NAN)
TL_PACK_MEASURE(void, COLUMNS);
