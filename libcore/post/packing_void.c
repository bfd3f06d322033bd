#include "post/packing_void.h"

/* Share of the grain's inner grid points that lie in the region; cells on its face count in part.
 */
static double share_of(const TlPackGrain *g, const TlRegion *region) {
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
      solid += share_of(g, region) * g->volume_m3;
  }
  return solid;
}

static TlStatus measure(const TlPacking *p, const TlRegion *region, double *v) {
  double volume = tl_region_volume(region), solid = tl_void_solid_m3(p, region);
  int64_t grains = 0;
  for (int64_t i = 0; i < p->grain_count; i++) grains += tl_packing_in(p, region, i);
  v[0] = (double)grains;
  v[1] = volume;
  v[2] = solid / volume;
  v[3] = solid > 0 ? (volume - solid) / solid : NAN;
  return TL_OK;
}

const TlPackMeasure tl_pack_void = {"grains,region_volume_m3,solid_fraction,void_ratio", 4,
                                    measure};
