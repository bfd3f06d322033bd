#include "shape/avatar.h"

#include "base/mem.h"

#include <math.h>

void tl_avatar_free(TlAvatar *avatar) {
  if (!avatar->borrowed) {
    tl_free(avatar->phi);
    tl_free(avatar->node_m);
    tl_free(avatar->node_area_m2);
  }
  *avatar = (TlAvatar){0};
}

TlStatus tl_avatar_check_numbers(const TlAvatar *a, int64_t *points) {
  int64_t bytes;
  *points = 0;
  if (a->nx < 2 || a->ny < 2 || a->nz < 2 ||
      __builtin_mul_overflow((int64_t)a->nx * a->ny, (int64_t)a->nz, points) ||
      __builtin_mul_overflow(*points, (int64_t)sizeof(double), &bytes) || !(a->spacing_m > 0) ||
      !isfinite(a->spacing_m))
    return tl_fail(TL_EINPUT, "the grid (%d x %d x %d, spacing %g m) is not usable", a->nx, a->ny,
                   a->nz, a->spacing_m);
  if (a->node_count < 0 || a->node_count > INT32_MAX / 4) /* 3 n must be a number too */
    return tl_fail(TL_EINPUT, "it has %d surface nodes", a->node_count);
  if (!isfinite(a->origin_m.x + a->origin_m.y + a->origin_m.z))
    return tl_fail(TL_EINPUT, "the place of its grid is not a finite number");
  return TL_OK;
}

static TlStatus check_grid(const TlAvatar *a) {
  int64_t points;
  TL_TRY(tl_avatar_check_numbers(a, &points));
  for (int32_t k = 0; k < a->nz; k++)
    for (int32_t j = 0; j < a->ny; j++)
      for (int32_t i = 0; i < a->nx; i++) {
        double f = a->phi[((int64_t)k * a->ny + j) * a->nx + i];
        bool face =
            i == 0 || j == 0 || k == 0 || i == a->nx - 1 || j == a->ny - 1 || k == a->nz - 1;
        if (!isfinite(f))
          return tl_fail(TL_EINPUT, "phi at grid point (%d, %d, %d) is not finite", i, j, k);
        if (face && f <= 0)
          return tl_fail(TL_EINPUT, "the surface is cut by the grid's face at (%d, %d, %d)", i, j,
                         k);
      }
  return TL_OK;
}

static TlStatus check_nodes(const TlAvatar *a) {
  if (a->node_count < 4) return tl_fail(TL_EINPUT, "only %d surface nodes", a->node_count);
  for (int32_t n = 0; n < a->node_count; n++) {
    TlVec3 p = tl_vec3(a->node_m[3 * n], a->node_m[3 * n + 1], a->node_m[3 * n + 2]);
    double phi = tl_avatar_phi(a, p, NULL);
    if (!(fabs(phi) <= 0.1 * a->spacing_m))
      return tl_fail(TL_EINPUT, "node %d lies %g spacings off the surface", n, phi / a->spacing_m);
    if (tl_norm(p) > a->radius_m * (1 + 1e-6))
      return tl_fail(TL_EINPUT, "node %d lies outside the bounding radius %g m", n, a->radius_m);
  }
  return TL_OK;
}

TlStatus tl_avatar_check(const TlAvatar *a) {
  TL_TRY(check_grid(a));
  TL_TRY(check_nodes(a));
  TlVec3 i = a->inertia_m5, c = a->scan_centroid_m;
  TlQuat q = a->scan_rotation;
  if (!isfinite(a->volume_m3 + a->area_m2 + a->radius_m + a->phi_error_m + a->gradient_max) ||
      !isfinite(i.x + i.y + i.z + c.x + c.y + c.z + q.w + q.x + q.y + q.z) ||
      !isfinite(a->axes_m[0] + a->axes_m[1] + a->axes_m[2]))
    return tl_fail(TL_EINPUT, "one of its measures, or its place in the scan, is not finite");
  if (!(a->volume_m3 > 0 && i.x > 0 && i.y > 0 && i.z > 0))
    return tl_fail(TL_EINPUT, "volume %g m3, moments %g %g %g m5: they must be positive",
                   a->volume_m3, i.x, i.y, i.z);
  if (i.x + i.y < i.z * (1 - 1e-9))
    return tl_fail(TL_EINPUT, "moments %g %g %g m5 break the triangle rule", i.x, i.y, i.z);
  return TL_OK;
}

double tl_avatar_diameter_m(const TlAvatar *a) {
  return cbrt(6 * a->volume_m3 / M_PI);
}

bool tl_avatar_is_ball(const TlAvatar *a, double *radius) {
  *radius = 0.5 * tl_avatar_diameter_m(a);
  double moment = 0.4 * a->volume_m3 * *radius * *radius;
  TlVec3 i = a->inertia_m5;
  return fmax(fmax(fabs(i.x - moment), fabs(i.y - moment)), fabs(i.z - moment)) <= 1e-9 * moment;
}
